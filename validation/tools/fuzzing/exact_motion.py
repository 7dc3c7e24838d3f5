"""A scene that has one motion by mechanics, and how far that of an engine is from it.

Nothing is to be chosen where one body meets one other without restitution, or joints alone tie bodies: no law of
impact, no share of a load but where a body slides and spins on a face (the reference engine says from when on), and
with friction up to 1 no paradox of Painlevé's, which takes 4/3 at a slender rod (Génot
& Brogliato 1999). There the reference engine has the motion to its bound. A method of first order may be off by two
steps of way and g dt t, by a skin that it declares, and by what that grows to: several times what its own motions at
half and a quarter of the step differ by, and what starts differ by that are a little faster, in other gravity, with
other friction. Where it is further off, and by more than half a body's thickness, finer steps do not bring it
to the motion that it must be.
"""

import json
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import norm
from scenarios import mass
from scenarios.forces import is_driven
from scenarios.scene import Scene, colliding_pairs, parse_scene, write_scene
from scenarios.scene_error import SceneError
from validation.engines.relations import Relation
from validation.judging.evidence.replay import taken
from validation.judging.relations import first_order_limits
from validation.metrics.observation import length
from validation.records.quantities import counted, quantity, time_step
from validation.records.simulation import Simulation
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory, determined_section
from validation.tools.fuzzing.comparison import Asked, Compared, Comparison, Must, oracle_of
from validation.tools.fuzzing.oracles import Violation
from validation.tools.fuzzing.twins import largest, nearby, sampled_steps

EXACT = "reference"
EXACT_MOTION = Relation(
    name="bodies move as they must",
    agree="first order",
    promise="nothing bounces, and one body meets one other, or joints alone tie bodies: no choice is left",
)
STARTS, FINER, SAFETY = 6, (2, 4), 4.0
SHARE = 0.01  # of speeds, gravity and friction, by which starts differ
MOST_FRICTION = 1.0


def has_one_motion(scene: Scene) -> bool:
    free = [body for body in scene.bodies if not body.fixed]
    members = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    laws = [scene.pair_law(members[a], members[b]) for a, b in colliding_pairs(scene)]
    stated = scene.contact.compliant or scene.contact.impact_law or scene.contact.impact_order
    if stated or scene.thrusters or is_driven(scene) or any(e for _, e in laws):
        return False
    single = len(laws) == 1 or not any(mu for mu, _ in laws)
    return not laws or (len(free) == 1 and single and all(mu <= MOST_FRICTION for mu, _ in laws))


def compare_with_exact(relation: Relation, scene: Scene, dt: float, simulation: Simulation) -> Comparison:
    """`simulation`: of an engine. None where the exact engine has no motion, or none of those that start nearby."""
    motion = simulation.trajectory
    if motion is None:
        return None
    (reply,) = yield [Asked(scene=scene, dt=dt, settings={}, engine=EXACT)]
    exact = determined_section(reply.trajectory) if reply.trajectory is not None else None
    if exact is None:
        return None
    steps, (one, must_be) = _in_common([(motion, dt), (exact, dt)], dt)
    limit, seen = _first_order(scene, must_be, steps, dt) + motion.contact_tolerance, _seen(scene)
    if not (way(one, must_be, scene) > np.maximum(limit[:, None], seen)).any():
        return Compared(relation=relation) if len(steps) else None
    starts = [start for seed in range(STARTS) if (start := _start(scene, must_be, dt, seed)) is not None]
    replies = yield [
        *(Asked(scene=scene, dt=dt / times, settings={}) for times in FINER),
        *(Asked(scene=start, dt=dt, settings={}, engine=EXACT) for start in starts),
    ]
    found = [reply.trajectory for reply in replies if reply.trajectory is not None]
    if len(found) < len(FINER) + STARTS:
        return None
    own_steps = [dt / times for times in FINER] + STARTS * [dt]
    steps, (one, must_be, *others) = _in_common([(motion, dt), (exact, dt), *zip(found, own_steps)], dt)
    if not len(steps):
        return None
    finer, nearby_ones = others[: len(FINER)], others[len(FINER) :]
    pairs = [*pairwise([one, *finer]), *((start, must_be) for start in nearby_ones)]
    spread = np.max([way(*pair, scene).max(axis=1) for pair in pairs], axis=0)
    limit = _first_order(scene, must_be, steps, dt) + motion.contact_tolerance
    limit = limit + SAFETY * np.maximum.accumulate(spread)
    apart = way(one, must_be, scene)
    far = apart > np.maximum(limit[:, None], seen)
    if not far.any():
        return Compared(relation=relation)
    k = int(far.any(axis=1).argmax())
    worst = int(np.where(far[k], apart[k] / seen, 0.0).argmax())
    name, allowed = scene.bodies[worst].name, float(max(limit[k], seen[worst]))
    after = f"{counted(int(steps[k]), 'step')} of {time_step(dt)}"
    by = f"by {quantity(float(apart[k, worst]), 'm')}, {quantity(allowed, 'm')} is allowed"
    message = f"{name} is elsewhere than it must be after {after}: {by}"
    violation = Violation(oracle=oracle_of(relation), message=message, bodies=(name,))
    must = Must(body=name, step=int(steps[k]), pose=_pose(must_be, k, worst), allowed=allowed)
    return Compared(relation=relation, in_a_step=k > 0, in_the_run=False, violation=violation, must=must)


def way(one: Trajectory, other: Trajectory, scene: Scene) -> Array:
    """(S, B) m: how far the furthest point of a body is from where it is in the other motion."""
    radius = np.array([mass.bounding_radius(body.shape) for body in scene.bodies])
    shift = length(one.position - other.position)
    if isinstance(one, PlanarTrajectory):
        assert isinstance(other, PlanarTrajectory)
        turn = np.abs(one.angle - other.angle)
    else:
        assert isinstance(other, SpatialTrajectory)
        turn = 2.0 * np.arccos(np.minimum(1.0, np.abs((one.orientation * other.orientation).sum(axis=2))))
    return np.asarray(shift + radius * np.minimum(2.0, turn))


def _pose(motion: Trajectory, k: int, body: int) -> tuple[float, ...]:
    turn = motion.angle if isinstance(motion, PlanarTrajectory) else motion.orientation
    return (*motion.position[k, body].tolist(), *np.ravel(turn[k, body]).tolist())


def _in_common(motions: Sequence[tuple[Trajectory, float]], dt: float) -> tuple[Indices, list[Trajectory]]:
    """Motions, each with its own step, s, at the ends of those steps of dt, s, of which all have samples."""
    samples = []
    for motion, own in motions:
        rows, steps = sampled_steps(motion, own)
        times = round(dt / own)
        whole = steps % times == 0
        samples.append((rows[whole], steps[whole] // times))
    common = reduce(np.intersect1d, (steps for _, steps in samples))
    chosen = [rows[np.searchsorted(steps, common)] for rows, steps in samples]
    return common, [taken(motion, rows) for (motion, _), rows in zip(motions, chosen)]


def _first_order(scene: Scene, motion: Trajectory, steps: Indices, dt: float) -> Array:
    """(S,) m"""
    speed = largest(motion, scene, np.arange(len(scene.bodies)))[1]
    return np.asarray(dt * first_order_limits(steps, speed, float(norm(np.array(scene.gravity))), dt))


def _seen(scene: Scene) -> Array:
    """(B,) m: by how much a person sees that a body is elsewhere."""
    return np.array([0.5 * mass.width(body.shape) for body in scene.bodies])


def _start(scene: Scene, motion: Trajectory, dt: float, seed: int) -> Scene | None:
    """The scene, but for a share of its speed and what it falls in a step, of gravity, which leans, and of friction."""
    fastest = float(largest(motion, scene, np.arange(len(scene.bodies)))[1].max(initial=0.0))
    g = float(norm(np.array(scene.gravity)))
    speed = max(fastest, g * dt / SHARE)
    start = nearby(scene, SHARE, 0.0, speed, seed)
    if start is None:
        return None
    data, random = json.loads(write_scene(start, indent=None)), np.random.default_rng([seed, 1])
    data["gravity"] = (np.array(data["gravity"]) + SHARE * g * random.uniform(-1.0, 1.0, scene.dimension)).tolist()
    for member in (*data["bodies"], *data["boundaries"]):
        if member["friction"]:
            member["friction"] *= 1.0 + SHARE * float(random.uniform(-1.0, 1.0))
    try:
        return parse_scene(data)
    except SceneError:
        return None
