"""Whether an engine keeps the protocol (docs/protocol.md): small scenes whose motion everybody knows, and its answers.

Free flight shows order, start, axes, angles, sampling and the velocity lag apart from any contact law; a disc at rest
shows which way reported normals and impulses point. Then friction, restitution, a stack and each kind of joint, and the
abilities that the engine says it has. How good the physics is, is the scenarios' affair.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reference_engine.array_types import Array, Flags
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene
from validation.engines import EngineChoice
from validation.records.simulation import Simulation
from validation.records.trajectory import Contacts, PlanarTrajectory, SpatialTrajectory, Trajectory
from validation.running.planning import Request, hello_of
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, simulate_unplanned
from validation.tools.known_motions import BOX, DURATION, G, Known, known_motions, planar, spatial

Status = Literal["ok", "fails", "note", "declined"]

DT = 1.0 / 240.0  # s
UNDECLARED = 1e-3  # m, of bodies of 1 m: a larger gap between what rests is declared
RESUMED = 125  # steps, on a whole number of the recorder's strides
STEADY = 60  # steps: the first body turns by 2.5 rad meanwhile
SPIN = 10.0  # rad/s: more than a turn, so that a wrapped angle is seen
SLOWEST = 1.0 / 40.0  # s between samples: 60 a second, on whole steps
LAG_ALLOWED = 0.1  # of a step; single precision is off by a hundredth
PATIENCE = 20.0  # s for one of these scenes
DISC = {"kind": "disc", "radius": 0.5}
SPHERE = {"kind": "sphere", "radius": 0.5}
QUARTER = [math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]  # a quarter turn about x

SCENES: Mapping[str, Scene] = {
    "flight": planar(
        [
            {"name": "thrown", "shape": DISC, "mass": 1.0, "position": [0, 10], "velocity": [1, 2], "spin": SPIN},
            {"name": "post", "shape": DISC, "fixed": True, "position": [-5, 3], "angle": 0.5},
            {"name": "dropped", "shape": DISC, "mass": 7.0, "position": [5, 12]},
        ]
    ),
    "rest": planar(
        [{"name": "disc", "shape": DISC, "mass": 2.0, "position": [0, 0.5]}],
        [{"kind": "half-plane", "name": "ground"}],
    ),
    "landing": planar(
        [{"name": f"box {i}", "shape": BOX, "mass": 1.0, "position": [0, 0.55 + 1.05 * i]} for i in range(2)],
        [{"kind": "half-plane", "name": "ground"}],
    ),
    "flight in space": spatial(
        [
            {"name": "thrown", "shape": SPHERE, "mass": 1.0, "position": [0, 1, 10], "orientation": QUARTER}
            | {"velocity": [1, 0, 2], "spin": [0, 0, SPIN]},
            {"name": "dropped", "shape": SPHERE, "mass": 7.0, "position": [5, 0, 12]},
        ]
    ),
}


@dataclass(frozen=True, slots=True)
class Check:
    about: str  # start, the name of a scene or of an ability, repeats
    status: Status
    summary: str  # what was found, and what was expected where it fails


def conformance(choice: EngineChoice, commands: Mapping[str, list[str]] | None = None) -> list[Check]:
    """Every check of one engine, in the order in which they were made; `commands` are those of a pool."""
    with Pool(commands) as pool:
        hello = hello_of(pool, choice)
        if "error" in hello:
            return [Check("start", "fails", hello["error"])]
        settings = len(hello["settings"])
        summary = f"{hello['name']} {hello['version']}, profiles {', '.join(hello['profiles'])}, {settings} settings"
        checks = [Check("start", "ok", summary)]
        if hello["version"] == "unknown":
            checks.append(Check("start", "note", "says no version: --version prints one line, exits 0"))
        own = hello["profiles"]
        profile = choice.profile or ("fair" if "fair" in own else own[0])  # out of the box some slow what flies

        def run(scene: Scene, exercise: dict[str, Any] | None = None) -> Simulation:
            request = Request(scenario=scenario_from_scene("conformance", scene), engine=choice, dt=DT)
            return simulate_unplanned(pool, request, profile, Limits(time_limit=PATIENCE), exercise)

        found = {name: run(scene) for name, scene in SCENES.items()}
        again = run(SCENES["flight"])
        known = known_motions(DT)
        motions = {name: run(one.scene) for name, one in known.items()}
        of = (_ability(ability, run, found, motions) for ability in hello.get("abilities", ()))
        abilities = [check for checked in of for check in checked]
    for name, simulation in found.items():
        checks += _of(name, simulation)
    for name, simulation in motions.items():
        checks.append(_as_known(name, known[name], simulation))
    if all(simulation.outcome == "declined" for simulation in found.values()):
        checks.append(Check("start", "fails", "declines every scene of this test: nothing was tested"))
    return checks + abilities + _repeats(found["flight"], again)


def counts(checks: Sequence[Check]) -> str:
    """8 ok, 0 failed, 14 not tested (declined)"""
    of = Counter(check.status for check in checks)
    described = [f"{of['ok']} ok", f"{of['fails']} failed"]
    described += [f"{of['note']} to note"] if of["note"] else []
    described += [f"{of['declined']} not tested (declined)"] if of["declined"] else []
    return ", ".join(described)


def _of(name: str, simulation: Simulation) -> Iterator[Check]:
    if simulation.outcome == "declined":
        yield Check(name, "declined", simulation.reason)
        return
    motion = simulation.trajectory
    if motion is None:
        yield Check(name, "fails", f"{simulation.outcome.replace('_', ' ')}: {simulation.reason}")
        return
    scene: Any = SCENES[name]
    bodies, kind = motion.velocity.shape[1], SpatialTrajectory if scene.dimension == 3 else PlanarTrajectory
    if bodies != len(scene.bodies) or not isinstance(motion, kind):
        expected = f"{len(scene.bodies)} bodies in {'space' if scene.dimension == 3 else 'the plane'}"
        yield Check(name, "fails", f"{bodies} bodies in a {type(motion).__name__}; expected: {expected}")
        return
    if name == "landing":
        height = motion.position[-1, :, 1]
        yield _apart(name, max(height[0] - 0.5, height[1] - height[0] - 1.0), motion)
        return
    yield from (_in_flight(name, scene, motion) if name != "rest" else _at_rest(name, motion))


def _decisions(about: str, what: str, error: float, allowed: float, unit: str, remedy: str) -> Check:
    """Of one quantity: by how much it is off, and what that usually means."""
    unit = f" {unit}" if unit else ""
    if error <= allowed:
        return Check(about, "ok", f"{what}: off by {error:.2g}{unit}")
    off = f"{what}: off by {error:.3g}{unit} (allowed {allowed:.2g}); {remedy}"
    return Check(about, "fails", off)


# --- free flight ----------------------------------------------------------------------------------------------------


def _in_flight(about: str, scene: Any, motion: Trajectory) -> Iterator[Check]:
    """Closed form: x(0) + v(0) t + g t^2 / 2, to within what a method of first order makes of it."""
    time, dt = motion.time[:, None, None], motion.dt
    free = np.array([not body.fixed for body in scene.bodies])
    start = np.array([body.position for body in scene.bodies])
    speed = np.array([body.velocity for body in scene.bodies])
    pull = np.array(scene.gravity) * free[:, None]
    exact = start + speed * time + 0.5 * pull * time**2
    allowed = 1e-6 + 1.1 * G * DURATION * dt
    order = "are the bodies in the scene's order, and does the motion begin at the start?"
    yield _decisions(about, "start", _most(motion.position[0] - start), 1e-5, "m", order)
    off = _most((motion.position - exact)[:, free])
    yield _decisions(about, "positions", off, allowed, "m", "is gravity the scene's vector?")
    if not free.all():
        moved = _most(motion.position[:, ~free] - start[~free]) + _most(motion.velocity[:, ~free])
        yield _decisions(about, "fixed bodies", moved, 1e-9, "m", "they have their constant pose and no velocity")
    yield _turned(about, motion)
    yield _sampled(about, motion)
    yield _lag(about, motion, pull, free)


def _turned(about: str, motion: Trajectory) -> Check:
    """The first body turns by SPIN t: about the plane's normal, or about the world's z from a quarter turn about x."""
    allowed = 1e-6 + 2.0 * SPIN * motion.dt
    if isinstance(motion, PlanarTrajectory):
        off = _most(motion.angle[:, 0] - SPIN * motion.time)
        return _decisions(about, "angle", off, allowed, "rad", "it is unwrapped: it does not jump at pi")
    half = 0.5 * SPIN * motion.time
    c, s, q = np.cos(half), np.sin(half), QUARTER
    exact = np.stack([c * q[0], c * q[1], s * q[1], s * q[0]], axis=1)  # (c, 0, 0, s) times the quarter turn
    off = 2.0 * np.arccos(np.clip(np.abs(np.sum(motion.orientation[:, 0] * exact, axis=1)), 0.0, 1.0)).max()
    remedy = "(w, x, y, z), body to world, and the spin is in world axes"
    if (norm := _most(np.linalg.norm(motion.orientation, axis=2) - 1.0)) > 1e-6:
        return _decisions(about, "orientation's length", norm, 1e-6, "", "it is a unit quaternion")
    return _decisions(about, "orientation", float(off), allowed, "rad", remedy)


def _sampled(about: str, motion: Trajectory) -> Check:
    widest = float(np.diff(motion.time).max()) if len(motion.time) > 1 else math.inf
    allowed = max(SLOWEST, 1.001 * motion.dt)
    summary = f"samples: up to {widest:.3g} s apart"
    if widest <= allowed:
        return Check(about, "ok", summary)
    return Check(about, "fails", f"{summary} (allowed {allowed:.3g}); keep 60 a second")


def _lag(about: str, motion: Trajectory, pull: Array, free: Flags) -> Check:
    """In flight v = x' + g lag, with x' that of the parabola through the poses."""
    up = int(np.argmax(np.abs(pull).max(axis=0)))
    found = []
    for i in np.flatnonzero(free):
        twice_c, b = 2.0 * (fit := np.polyfit(motion.time, motion.position[:, i, up], 2))[0], fit[1]
        found.append((motion.velocity[:, i, up] - b - twice_c * motion.time) / pull[i, up])
    lag = float(np.median(found))
    summary = f"velocity lag: declared {motion.velocity_lag:.3g} s, found {lag:.3g} s"
    if abs(lag - motion.velocity_lag) <= LAG_ALLOWED * motion.dt:
        return Check(about, "ok", summary)
    remedy = "it is the time of the velocities minus that of the poses, -dt/2 for semi-implicit Euler"
    return Check(about, "fails", f"{summary}; {remedy}")


# --- rest -----------------------------------------------------------------------------------------------------------


def _at_rest(about: str, motion: Trajectory) -> Iterator[Check]:
    yield _apart(about, motion.position[-1, 0, 1] - 0.5, motion)
    contacts = motion.contacts
    if contacts is None or not len(contacts.a):
        yield Check(about, "note", "reports no contacts; what they would tell is not tested")
        return
    yield _pair(about, contacts)
    down = np.where(contacts.a == 0, 1.0, -1.0)  # from the disc to the ground, or from the ground to the disc
    off = _most(contacts.normal[:, 1] * -down - 1.0)
    yield _decisions(about, "contact normal", off, 1e-3, "", "it points from a to b")
    late = (motion.time[contacts.sample] > 0.5 * DURATION) & np.isfinite(contacts.impulse[:, 1])
    if not late.any():
        yield Check(about, "note", "reports no impulses while the disc rests")
        return
    samples = len(np.unique(contacts.sample[late]))
    weight = 2.0 * G * motion.dt
    carried = float((contacts.impulse[late, 1] * -down[late]).sum()) / samples
    remedy = "it acts on b, over the step that ends at the sample"
    summary = f"contact impulse ({carried:.3g} N s, the weight's is {weight:.3g})"
    yield _decisions(about, summary, abs(carried - weight), 0.2 * weight, "N s", remedy)


def _apart(about: str, gap: float, motion: Trajectory) -> Check:
    """Of bodies that have come to rest on one another: the largest gap, which the engine has to declare."""
    summary = f"rests at a gap of {gap:+.2g} m; declared contact tolerance {motion.contact_tolerance:.2g} m"
    if gap <= motion.contact_tolerance + UNDECLARED:
        return Check(about, "ok", summary)
    return Check(about, "fails", f"{summary}; it is the largest gap at which the engine holds bodies at rest")


def _pair(about: str, contacts: Contacts) -> Check:
    pairs = {tuple(sorted(pair)) for pair in zip(contacts.a.tolist(), contacts.b.tolist())}
    if pairs == {(0, 1)}:
        return Check(about, "ok", "contacts are of the disc, 0, and the ground, 1")
    summary = f"contacts are of {sorted(pairs)}; expected (0, 1): bodies are counted first, then boundaries"
    return Check(about, "fails", summary)


# --- motions that are known -----------------------------------------------------------------------------------------


def _as_known(about: str, known: Known, simulation: Simulation) -> Check:
    if (motion := simulation.trajectory) is None:
        if simulation.outcome == "declined":
            return Check(about, "declined", simulation.reason)
        return Check(about, "fails", f"{simulation.outcome.replace('_', ' ')}: {simulation.reason}")
    off = float(np.linalg.norm(motion.position[-1, -1] - np.array(known.end)))
    if not math.isfinite(off) or motion.position.shape[1] != len(known.scene.bodies):
        return Check(about, "fails", "not every body of the scene has a place at the end")
    return _decisions(about, "end", off, known.allowed, "m", known.remedy)


# --- abilities ------------------------------------------------------------------------------------------------------

Run = Callable[[Scene, "dict[str, Any] | None"], Simulation]


def _ability(
    ability: str, run: Run, found: Mapping[str, Simulation], motions: Mapping[str, Simulation]
) -> Iterator[Check]:
    if ability == "options":
        simulation = run(SCENES["flight"], {"ability": "options"})
        summary = simulation.reason or "they are data, and have the values of the settings"
        statuses: dict[str, Status] = {"completed": "ok", "declined": "declined"}
        yield Check("options", statuses.get(simulation.outcome, "fails"), summary)
        return
    scenes: dict[str, Scene] = {**SCENES, **{name: one.scene for name, one in known_motions(DT).items()}}
    flights = [name for name in ("flight", "flight in space") if found[name].trajectory is not None]
    if ability == "set_state":
        hinges = [name for name in ("revolute", "hinge", "ball", "slider", "prismatic") if motions[name].trajectory]
        for name in flights + hinges:
            again = run(scenes[name], {"ability": "set_state", "step": RESUMED})
            allowed = 1e-4 if name in flights else 1e-2
            yield _resumed(name, {**found, **motions}[name], again, allowed)
    if ability == "apply_force":
        for name in flights:
            yield from _forced(name, scenes[name], found[name], run)


def _resumed(name: str, whole: Simulation, again: Simulation, allowed: float) -> Check:
    """The part of a motion from step RESUMED on, against that from the state then in a world built anew."""
    about, first, second = "set_state", whole.trajectory, again.trajectory
    if first is None or second is None:
        return Check(about, "fails", f"{name}: {again.outcome.replace('_', ' ')}: {again.reason}")
    wanted = {round(t / DT): i for i, t in enumerate(first.time)}
    rows = [(wanted[k], i) for i, t in enumerate(second.time) if (k := round(t / DT) + RESUMED) in wanted]
    old, new = (list(part) for part in zip(*rows))
    fields = ("position", "velocity", "spin", *(("angle",) if hasattr(first, "angle") else ("orientation",)))
    off = max(_most(getattr(first, field)[old] - getattr(second, field)[new]) for field in fields)
    if off == 0.0:
        return Check(about, "ok", f"{name}: goes on from its own state bit for bit")
    remedy = "positions, orientations, velocities and spins of every body are set, as they were read"
    return _decisions(about, f"{name}: goes on from its own state", off, allowed, "m, m/s or rad/s", remedy)


def _forced(name: str, scene: Any, free: Simulation, run: Run) -> Iterator[Check]:
    """m v and I w of the first body after pushes, against those without: force times time, arm times that."""
    body, width = scene.bodies[0], len(scene.gravity)
    force = np.array([3.0, -1.0, 2.0][:width])
    start = np.array(body.position)
    arm = np.array([0.0, 0.2, 0.1][:width])
    for where, steps, point, scale in (
        ("the centre", STEADY, None, 1.0),
        ("a point", 1, (start + arm).tolist(), 50.0),
    ):
        exercise = {"ability": "apply_force", "body": 0, "force": (scale * force).tolist(), "point": point}
        forced = run(scene, exercise | {"steps": steps})
        if forced.trajectory is None or free.trajectory is None:
            summary = f"{name}: {forced.outcome.replace('_', ' ')}: {forced.reason}"
            yield Check("apply_force", "fails", summary)
            return
        impulse = scale * force * steps * DT
        moved = body.mass * (forced.trajectory.velocity[-1, 0] - free.trajectory.velocity[-1, 0])
        remedy = "the force is in world axes, N, and acts over each step that it is given for"
        off, allowed = _most(moved - impulse), 0.01 * float(np.linalg.norm(impulse))
        yield _decisions("apply_force", f"{name}: momentum by a force at {where}", off, allowed, "N s", remedy)
        moment = np.cross(np.array([*arm, 0.0][:3]), np.array([*impulse, 0.0][:3])) * (point is not None)
        inertia = (0.5 if width == 2 else 0.4) * body.mass * body.shape.radius**2
        turned = inertia * (forced.trajectory.spin[-1, 0] - free.trajectory.spin[-1, 0])
        wanted = moment[2] if width == 2 else moment
        off, allowed = _most(turned - wanted), 0.02 * float(np.linalg.norm(impulse)) * 0.2
        remedy = "the point is in the world, m, and the moment is taken about the centre of mass"
        yield _decisions("apply_force", f"{name}: spin by a force at {where}", off, allowed, "N m s", remedy)


# --- twice ----------------------------------------------------------------------------------------------------------


def _repeats(first: Simulation, second: Simulation) -> list[Check]:
    if first.trajectory is None or second.trajectory is None:
        return []
    if first.trajectory.state_hash == second.trajectory.state_hash:
        return [Check("repeats", "ok", "the same scene gives the same bits")]
    summary = "the same scene gives other bits: verdicts will rest on tolerances alone"
    return [Check("repeats", "note", summary)]


def _most(values: Any) -> float:
    return float(np.abs(values).max()) if np.size(values) else 0.0
