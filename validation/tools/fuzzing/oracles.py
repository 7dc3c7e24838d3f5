"""Laws that every engine owes every passive scene, whatever its contacts do: judged without a reference.

What a person would call broken from the picture (`validation.metrics.outcomes`); energy is not gained; an isolated
system keeps its momentum; contact forces that explain the motion stay in the friction cone; a simulation ends, in time
and with finite numbers.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from reference_engine.rotation import tangents
from scenarios import mass
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.contact import may_gain_energy
from scenarios.scene import (
    Bowl,
    HalfPlane,
    HalfSpace,
    HollowSphere,
    Scene,
    colliding_pairs,
    masses,
    parse_scene,
    write_scene,
)
from validation.metrics import measure_with_outcomes
from validation.metrics.equilibrium import BOUNCY, CONTACT, at_start, starts_in_equilibrium
from validation.metrics.observation import MismatchError, length
from validation.metrics.proximity import proximities
from validation.records.outcome import OPPOSITE, Outcome
from validation.records.simulation import BROKEN, Simulation
from validation.records.trajectory import Trajectory
from validation.report.sentences import describe_happening
from validation.running.planning import STEP
from validation.tools.fuzzing.independent import laws

FAULTS = ("went through", "left", "came apart", "blew up", "hangs", "keeps moving", "stopped", "bounced")
UNMEASURED = "not measured"
GIVES_UP = "gives up too often"
ORACLES = (
    *(
        "broken",
        GIVES_UP,
        UNMEASURED,
        *FAULTS,
        *OPPOSITE,
        "energy gained",
        "momentum not kept",
        "outside the friction cone",
    ),
    *laws.ORACLES,
)
"""What a person would see first, first; `UNMEASURED` is a fault of Upright's own; then what only our engines are
asked."""
ENERGY_SHARE = 0.05  # of the energy in play: discretised engines gain a little by pushing overlaps apart
BOUNCES = 2.0  # in turn, of which nobody has to answer for the energy
SLOW = 0.1  # m/s: it is no fault to push what touched at the start apart as slowly as this
MOMENTUM_SHARE = 1e-3  # of the momentum scale
SPEED_TOLERANCE = 1e-6  # m/s of the whole: where nothing moved, single precision
RESOLVING = (STEP, 1.0 / 1000.0)  # s, where a step does not resolve the motion
WAY = 0.5  # of the width of the thinnest body, in a step
TURN = 0.1  # rad, in a step
SKIN = 0.05  # of the width of the thinnest body: who moves so far has moved
OF_GAPS = ("hangs", "keeps moving", *OPPOSITE)
"""What an engine cannot be told by that holds bodies at a gap as large as what would be seen, or that has facets in
place of a container."""
SETTLING = 1.0  # s: until then nobody can say that it never comes to rest
OF_DEPTH = ("blew up", "energy gained")
"""What a start deep in one another excuses: bodies have to part, and no law says with how much energy."""
FINER = 4  # times as many steps: what an error of the first order has made a quarter of by then is no fault
DOCUMENTED: Mapping[str, Mapping[str, str]] = {"mujoco": {"integrator": "implicit"}}
"""By engine, what its documents say to do beside taking finer steps where a simulation diverges: MuJoCo, "Divergence":
a more stable integrator; explicit gyroscopic forces (its default) gain energy."""
THROWN = "OffTheSlabError: "
"""How a planar adapter's message begins where a body got further than all the energy of the scene could carry it:
nothing crashed, the engine made energy."""
OWN_SLAB = re.compile(r", which this engine has for [^:]*")
WITHOUT_FACES = ("disc", "sphere", "ellipsoid", "capsule")  # what is beside its contact there rests on nothing
BESIDE = 0.01  # of a body's bounding radius; the balance of moments is exact to 0.002 of it
SAME_DEPTH = 1e-9  # m
CONE_SHARE = 0.5  # of the impulses: the corner of a friction pyramid is 0.41 of them outside the cone


def is_resolved(scene: Scene, dt: float) -> bool:
    """Whether no body gets so far in a step that an engine may overlook a contact, or turns so far that a method of
    first order may make energy of it: as they start, and after falling through the height of the scene.

    No engine claims more where it detects collisions at the poses of its steps.
    """
    free = [body for body in scene.bodies if not body.fixed]
    radii = np.array([mass.bounding_radius(body.shape) for body in free])
    up = -np.array(scene.gravity)
    g = float(norm(up))
    fall = 0.0
    if g > 0.0:
        height = mul(np.array([body.position for body in scene.bodies]), up) / g
        fall = float(np.ptp(height) + (height.max() if scene.boundaries else 0.0) + 2.0 * radii.max())
    spins = np.array([_size(body.spin) for body in free])
    speeds = (
        np.array([_size(body.velocity) for body in free]) + radii * spins + float(np.sqrt(2.0 * g * max(fall, 0.0)))
    )
    tied = np.array([body.name in _tied(scene) for body in free])
    turning = np.where(tied, speeds / radii, spins)  # what falls about a joint turns
    thinnest = min(mass.width(body.shape) for body in scene.bodies)
    return bool(speeds.max() * dt <= WAY * thinnest and turning.max() * dt <= TURN)


def resolving(scene: Scene, dt: float) -> float:
    """This step, s, or a finer one that resolves the motion, if one of `RESOLVING` does."""
    return next((step for step in (dt, *RESOLVING) if step <= dt and is_resolved(scene, step)), dt)


def _tied(scene: Scene) -> set[str | None]:
    return {name for joint in scene.joints for name in (joint.a, joint.b)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A law that a motion breaks."""

    oracle: str  # one of ORACLES
    message: str  # with values
    bodies: tuple[str, ...] = ()  # and boundaries, of which it is broken; (): of the scene as a whole
    size: float = 1.0  # of what is tolerated, where that is a number
    begun: Scene | None = None  # of a single step that is wrong: the scene from the state that it is taken from


def is_of_the_step(violation: Violation) -> bool:
    """Whether a time step that is too long may be all that is wrong: not where the simulation does not end, nor where a
    promise is broken, or a law to the tolerance of our own integrators."""
    if violation.oracle == "broken":
        return violation.message.startswith("not_finite")
    return violation.oracle in (*FAULTS, *OPPOSITE, "energy gained", "momentum not kept", "outside the friction cone")


def judge_scene(scene: Scene, dt: float, simulation: Simulation, engine: str = "") -> dict[str, Violation]:
    """By oracle, the laws that this simulation breaks; the motion is measured here. engine: its name."""
    if simulation.trajectory is None:
        return judged(scene, dt, simulation, {}, (), engine)
    try:
        found, outcomes = measure_with_outcomes(scenario_from_scene("fuzzed", scene), simulation.trajectory)
    except MismatchError as error:
        return of_violations([Violation(oracle="broken", message=str(error))])
    except Exception as error:
        return of_violations([unmeasured(f"{type(error).__name__}: {error}")])
    return judged(scene, dt, simulation, {m.metric: m.value for m in found}, outcomes, engine)


def unmeasured(message: str) -> Violation:
    """`message`: of the exception that ended the measuring."""
    return Violation(oracle=UNMEASURED, message=f"Upright, not the engine: the motion could not be measured: {message}")


def judged(
    scene: Scene,
    dt: float,
    simulation: Simulation,
    measured: Mapping[str, float],
    outcomes: Sequence[Outcome],
    engine: str = "",
) -> dict[str, Violation]:
    """Likewise, of what was `measured` of the motion (value by metric) and what happened in it.

    Of a scene that the step, s, does not resolve only that it is simulated at all; our own engines are asked for more.
    """
    if simulation.limit:
        return {}  # how many may end so is for the search
    if simulation.outcome == "crashed" and (thrown := simulation.reason.partition(THROWN)[2]):
        found = [Violation(oracle="blew up", message=OWN_SLAB.sub("", thrown))]
        return of_violations(found if is_resolved(scene, dt) and not is_excused(scene) else [])
    if simulation.outcome in (*BROKEN, "adapter_failed"):
        return of_violations([Violation(oracle="broken", message=f"{simulation.outcome}: {simulation.reason}")])
    motion = simulation.trajectory
    if motion is None:  # declined
        return {}
    own = [Violation(oracle=o, message=m, bodies=b) for o, m, b in laws.own_faults(scene, motion, engine, measured)]
    found = _found(scene, motion, measured, outcomes) if is_resolved(scene, dt) and not laws.is_made_up(engine) else []
    return of_violations([*found, *own])


def _found(
    scene: Scene, motion: Trajectory, measured: Mapping[str, float], outcomes: Sequence[Outcome]
) -> list[Violation]:
    """What any engine may break."""
    clear = _is_clear(scene, motion)
    shown = [one for one in outcomes if one.right is False and (clear or one.kind not in OF_GAPS)]
    gained, allowed = measured.get("energy_gain"), energy_allowed(scene, motion)
    shown = [one for one in shown if one.kind != "blew up" or (one.value or 0.0) > allowed]  # afloat at rest: round-off
    if any(one.kind in OPPOSITE for one in shown) and not stands_well(scene):
        shown = [one for one in shown if one.kind not in OPPOSITE]
    words = [describe_happening(one).removesuffix(" (wrong)") for one in shown]  # as all are that a search finds
    found = [Violation(oracle=one.kind, message=text, bodies=one.bodies) for one, text in zip(shown, words)]
    if gained is not None and gained > allowed and not may_gain_energy(scene):
        message = f"energy rose by {gained:.3g} J without a source; tolerated: {allowed:.3g} J"
        found.append(Violation(oracle="energy gained", message=message, size=_times(gained, allowed)))
    if axes := conserved_axes(scene):
        drift, allowed = _momentum_drift(scene, motion, axes), momentum_allowed(scene)
        if not drift <= allowed:  # also where it overflows and is no number
            message = f"momentum changed by {drift:.3g} kg m/s without an outer force; tolerated: {allowed:.3g} kg m/s"
            found.append(Violation(oracle="momentum not kept", message=message, size=_times(drift, allowed)))
    beyond = min(measured.get("cone_violation", 0.0), cone_excess(scene, motion))
    if beyond > CONE_SHARE:
        message = (
            f"the contact forces of a pair are outside the friction cone by {beyond:.3g} of them over all reported "
            f"steps; tolerated: {CONE_SHARE}"
        )
        found.append(Violation(oracle="outside the friction cone", message=message, size=_times(beyond, CONE_SHARE)))
    if any(one.oracle in OF_DEPTH for one in found) and is_excused(scene):
        found = [one for one in found if one.oracle not in OF_DEPTH]
    return found


def stands_well(scene: Scene) -> bool:
    """Whether the scene starts in equilibrium also where any one body with a face is a little to a side, along the
    ground: a thin plate whose centre is just above an edge is balanced, to the tolerance of the statics, and may tip.
    What would start in something there is not asked."""
    data, deep = json.loads(write_scene(scene, indent=None)), depth_at_start(scene)
    for i, body in enumerate(scene.bodies):
        if body.fixed or body.shape.kind in WITHOUT_FACES:
            continue
        aside = BESIDE * mass.bounding_radius(body.shape)
        for way in _along_the_ground(scene):
            position = (np.array(data["bodies"][i]["position"]) + aside * way).tolist()
            moved = parse_scene(data | {"bodies": _with_position(data["bodies"], i, position)})
            is_met = depth_at_start(moved) <= deep + SAME_DEPTH
            if is_met and not starts_in_equilibrium(scenario_from_scene("fuzzed", moved)):
                return False
    return True


def _along_the_ground(scene: Scene) -> list[Array]:
    """Unit vectors both ways along the plane that bears most of a weight, or level where there is none."""
    up = -np.array(scene.gravity)
    normals = [np.array(one.normal) for one in scene.boundaries if isinstance(one, (HalfPlane, HalfSpace))]
    normal = max(normals, key=lambda one: float(mul(one, up)) / float(norm(one)), default=up)
    normal = normal / float(norm(normal))
    sides = [np.array((-normal[1], normal[0]))] if len(normal) == 2 else [*tangents(normal)]
    return [way for side in sides for way in (side, -side)]


def _with_position(bodies: list[dict[str, Any]], i: int, position: list[float]) -> list[dict[str, Any]]:
    return [one | {"position": position} if k == i else one for k, one in enumerate(bodies)]


def _times(value: float, allowed: float) -> float:
    return value / allowed if allowed > 0.0 and math.isfinite(value) else math.inf


def is_excused(scene: Scene) -> bool:
    """Whether its start may give energy."""
    return _is_contained(scene) or starts_deep(scene)


def starts_deep(scene: Scene) -> bool:
    """Whether two of its bodies or boundaries start in one another by more than what is in contact."""
    return depth_at_start(scene) > CONTACT * min(mass.width(body.shape) for body in scene.bodies)


def depth_at_start(scene: Scene) -> float:
    """m: how deep two of its bodies and boundaries start in one another; 0 where none do."""
    gap = proximities(at_start(scenario_from_scene("fuzzed", scene))).gap
    return max(0.0, -float(gap.min(initial=0.0)))


def _is_clear(scene: Scene, motion: Trajectory) -> bool:
    """Whether the gap at which the engine holds what is in contact, m, is too small to be taken for a motion, and
    there is time to come to rest, and no container, which many engines have as facets. What bounces back nearly as fast
    as it comes rests by chance only."""
    bouncy = any(one.restitution > BOUNCY for one in (*scene.bodies, *scene.boundaries))
    small = motion.contact_tolerance < SKIN * min(mass.width(body.shape) for body in scene.bodies)
    return small and scene.duration >= SETTLING and not _is_contained(scene) and not bouncy


def _is_contained(scene: Scene) -> bool:
    """In a wall that many engines have as facets: what starts on it may start deep in one of them."""
    return any(isinstance(one, (Bowl, HollowSphere)) for one in scene.boundaries)


def of_violations(found: Sequence[Violation]) -> dict[str, Violation]:
    """The first of each oracle, in the order of `ORACLES`."""
    first: dict[str, Violation] = {}
    for one in found:
        first.setdefault(one.oracle, one)
    return {oracle: first[oracle] for oracle in ORACLES if oracle in first}


def energy_allowed(scene: Scene, motion: Trajectory) -> float:
    """J that an engine may gain: a share of what is in play, all bodies lifted by the gap at which it holds what is in
    contact, and pushed apart slowly; where they bounce, also what BOUNCES of a speed that is late by a step of gravity
    give, m v g dt each."""
    g, kinetic = float(norm(np.array(scene.gravity))), _most_kinetic(scene, motion)
    free = sum(body.mass for body in scene.bodies if body.mass is not None)
    bouncing = any(one.restitution > 0.0 for one in (*scene.bodies, *scene.boundaries))
    late = BOUNCES * g * motion.dt * math.sqrt(2.0 * free * kinetic) if bouncing else 0.0
    in_play = max(energy_scale(scene), kinetic)
    return ENERGY_SHARE * in_play + late + free * (g * motion.contact_tolerance + 0.5 * squared(SLOW))


def _most_kinetic(scene: Scene, motion: Trajectory) -> float:
    """J of all bodies at once, 0 where that overflows: what falls has more than it starts with, and what comes from
    nowhere is no small share of it."""
    m = np.where(np.isinf(masses(scene)), 0.0, masses(scene))
    spin = motion.spin if motion.spin.ndim == 3 else motion.spin[..., None]
    size = np.array([mass.bounding_radius(body.shape) for body in scene.bodies])
    with np.errstate(over="ignore"):
        fast = np.sum(squared(motion.velocity), axis=2) + squared(size) * np.sum(squared(spin), axis=2)
        most = float(mul(fast, 0.5 * m).max())
    return most if math.isfinite(most) else 0.0


def cone_excess(scene: Scene, motion: Trajectory) -> float:
    """By how much the impulses of a pair, added up over all that are reported, are outside its cone: the largest of
    (sum |j_t| - mu sum j_n) / sum |j|.

    In one step a solver may clamp friction by the normal impulse of its last iteration; that is no fault of the motion.
    """
    contacts, members = motion.contacts, (*scene.bodies, *scene.boundaries)
    if contacts is None or not len(contacts.a):
        return 0.0
    pairs, which = np.unique(contacts.a * len(members) + contacts.b, return_inverse=True)
    mu = np.array([scene.pair_law(*(members[k] for k in divmod(pair, len(members))))[0] for pair in pairs.tolist()])
    along = np.sum(contacts.impulse * contacts.normal, axis=1)
    across = length(contacts.impulse - along[:, None] * contacts.normal)
    summed = [np.bincount(which.ravel(), part) for part in (along, across, length(contacts.impulse))]
    share = (summed[1] - mu * np.maximum(summed[0], 0.0)) / np.where(summed[2] > 0.0, summed[2], 1.0)
    return float(np.nan_to_num(share).max())


def energy_scale(scene: Scene) -> float:
    """J: what the bodies have at the start, and what lifting each by its own size would take; of what joints tie, by
    how far the bodies are spread, too."""
    g, tied = float(norm(np.array(scene.gravity))), _tied(scene)
    spread = float(norm(np.ptp(np.array([body.position for body in scene.bodies]), axis=0)))
    total = 0.0
    for body in scene.bodies:
        if body.mass is not None:
            size = mass.bounding_radius(body.shape)
            square = squared(_size(body.velocity)) + squared(size * _size(body.spin))
            total += 0.5 * body.mass * square
            total += body.mass * g * (size + (spread if body.name in tied else 0.0))
    return total


def _momentum_drift(scene: Scene, motion: Trajectory, axes: list[int]) -> float:
    m = np.where(np.isinf(masses(scene)), 0.0, masses(scene))
    momentum = np.einsum("b,sbi->si", m, motion.velocity)
    gained = momentum - momentum[0] - m.sum() * np.array(scene.gravity) * motion.time[:, None]
    return float(np.abs(gained)[:, axes].max())


def momentum_allowed(scene: Scene) -> float:
    """kg m/s: of the speeds at the start and of a fall through each body's size."""
    g, total, free = float(norm(np.array(scene.gravity))), 0.0, 0.0
    for body in scene.bodies:
        if body.mass is not None:
            fall = float(np.sqrt(2.0 * g * mass.bounding_radius(body.shape)))
            total += body.mass * (_size(body.velocity) + fall)
            free += body.mass
    return MOMENTUM_SHARE * total + SPEED_TOLERANCE * free


def conserved_axes(scene: Scene) -> list[int]:
    """Axes along which nothing outside pushes: all of a scene of free bodies, the level ones over frictionless
    ground."""
    if scene.damping.linear or scene.springs or scene.thrusters or scene.joints:
        return []
    native = getattr(scene, "native", None)
    if any(body.fixed for body in scene.bodies) or (native is not None and native.acted_on):
        return []
    level = list(range(len(scene.gravity) - 1))
    if not scene.boundaries:
        return [*level, len(level)]
    grounds = [one for one in scene.boundaries if isinstance(one, (HalfPlane, HalfSpace))]
    flat = all(abs(one.normal[axis]) < 1e-12 for one in grounds for axis in level)
    by_name = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    names = {boundary.name for boundary in scene.boundaries}
    smooth = all(scene.pair_law(by_name[a], by_name[b])[0] == 0.0 for a, b in colliding_pairs(scene) if b in names)
    falls_straight = not any(scene.gravity[axis] for axis in level)
    return level if len(grounds) == len(scene.boundaries) and flat and smooth and falls_straight else []


def _size(part: float | Sequence[float]) -> float:
    return float(norm(np.atleast_1d(part)))
