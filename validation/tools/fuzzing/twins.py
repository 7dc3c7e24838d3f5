"""Twins: another simulation that has to give the same motion, once that is changed back.

The changed scene of each `validation.engines.relations.Change`: in other axes and units, in another order, with a body
that is far from all others, from its own state halfway, at half the step; or the same scene again. What a scene cannot
be changed by, it has no twin for: nothing fixed can be boosted, and there is no far away within a hollow sphere.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from scenarios import mass
from scenarios.given_motion import begun_later, given_bodies
from scenarios.joint_forces import driven_joints
from scenarios.native import Perturbation
from scenarios.scene import Damping, HalfPlane, HalfSpace, Scene, colliding_pairs, parse_scene, write_scene
from scenarios.scene_error import SceneError
from scenarios.similarity import Similarity, inverse, orientations, points, similar, similarity, spins, vectors
from validation.engines.relations import Change
from validation.metrics.observation import length
from validation.records.trajectory import PlanarTrajectory, Trajectory, with_samples

Data = dict[str, Any]
TURN = (0.9393727128473789, 0.11429926915181711, 0.22859853830363422, 0.22859853830363422)
"""0.7 rad about (1, 2, 2), a unit quaternion: no multiple of anything; 0.478 rad in the plane."""
SHIFT = (7.3, -3.1, 5.7)  # m
SPEED = 1.7  # m/s
FACTOR = 2.0  # of units: a power of two rounds nothing
FAR = 512.0  # m
AGO = 0.25  # s, of what the process simulates before
SAME_TIME = 1e-6  # of a step


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What is simulated, and how its motion is the scene's."""

    scene: Scene
    dt: float  # s
    by: Similarity  # of the scene: what its twin is
    bodies: Indices  # (B,) of the twin, in the order of the scene's
    start: float = 0.0  # s, of the scene's time
    before: Scene | None = None  # simulated first, in the same process


def twin_of(change: Change | None, scene: Scene, dt: float, motion: Trajectory) -> Twin | None:
    """`motion`: the scene's. None: the same scene, for settings that differ. None where a scene has no such twin."""
    try:
        return TWINS[change](scene, dt, motion)
    except SceneError:  # a number would leave its range
        return None


def changed_back(twin: Twin, motion: Trajectory) -> Trajectory:
    """The motion of a twin, (S, B) of the scene's bodies, at the scene's times, s."""
    back = inverse(twin.by)
    time = back.time * motion.time
    state: dict[str, Array] = {}
    position, velocity = motion.position[:, twin.bodies], motion.velocity[:, twin.bodies]
    x, v = points(back, position, time), vectors(back, velocity, back.speed) + back.boost
    if isinstance(motion, PlanarTrajectory):
        angle, spin = orientations(back, motion.angle[:, twin.bodies]), spins(back, motion.spin[:, twin.bodies])
        state = {
            "pose": np.concatenate([x, angle[..., None]], axis=2),
            "twist": np.concatenate([v, spin[..., None]], axis=2),
        }
    else:
        state = {
            "position": x,
            "orientation": orientations(back, motion.orientation[:, twin.bodies]),
            "velocity": v,
            "spin": spins(back, motion.spin[:, twin.bodies]),
        }
    return with_samples(motion, time + twin.start, state)


def sampled_steps(motion: Trajectory, dt: float) -> tuple[Indices, Indices]:
    """Rows of a motion that stand at the end of a step of dt, s, and the numbers of these steps. An impact then, which
    has samples before and after, is left out."""
    step = np.rint(motion.time / dt)
    regular = np.abs(motion.time - step * dt) <= SAME_TIME * dt
    steps, first, count = np.unique(step[regular].astype(np.int64), return_index=True, return_counts=True)
    return np.flatnonzero(regular)[first[count == 1]], steps[count == 1]


# --- the changes ----------------------------------------------------------------------------------------------------


def _same(scene: Scene, dt: float, motion: Trajectory | None = None) -> Twin:
    return Twin(scene=scene, dt=dt, by=similarity(scene.dimension), bodies=np.arange(len(scene.bodies)))


def _after_another(scene: Scene, dt: float, motion: Trajectory) -> Twin:
    """After its bodies the other way round, mirrored, for a while; a model after itself."""
    if is_native(scene):
        first = scene.model_copy(update={"duration": min(AGO, scene.duration)})
        return replace(_same(scene, dt), before=first)
    reversed_scene = _reordered(scene, dt, motion).scene
    other = similar(reversed_scene, similarity(scene.dimension, mirrors=True))
    short = other.model_copy(update={"duration": min(AGO, scene.duration)})
    return Twin(scene=scene, dt=dt, by=similarity(scene.dimension), bodies=np.arange(len(scene.bodies)), before=short)


def _similar(**changes: Any) -> Callable[[Scene, float, Trajectory], Twin]:
    def changed(scene: Scene, dt: float, motion: Trajectory) -> Twin:
        by = similarity(scene.dimension, **changes)
        return Twin(scene=similar(scene, by), dt=dt * by.time, by=by, bodies=np.arange(len(scene.bodies)))

    return changed


def _boosted(scene: Scene, dt: float, motion: Trajectory) -> Twin | None:
    """Along the first axis along which what is fixed is the same everywhere: none, or the level of smooth ground."""
    if scene.damping != Damping() or any(body.fixed for body in scene.bodies):
        return None
    if any(tie.b is None for tie in (*scene.joints, *scene.springs)):
        return None
    by_name = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    names = {boundary.name for boundary in scene.boundaries}
    rough = any(scene.pair_law(by_name[a], by_name[b])[0] > 0.0 for a, b in colliding_pairs(scene) if b in names)
    grounds = [one for one in scene.boundaries if isinstance(one, (HalfPlane, HalfSpace))]
    if rough or len(grounds) < len(scene.boundaries):
        return None
    for axis in np.eye(scene.dimension):
        if all(mul(np.array(one.normal), axis) == 0.0 for one in grounds):
            return _similar(boost=tuple(SPEED * axis))(scene, dt, motion)
    return None


def _reordered(scene: Scene, dt: float, motion: Trajectory) -> Twin:
    data = _data(scene)
    backwards = {what: data[what][::-1] for what in ("bodies", "boundaries", "joints", "springs")}
    order = np.arange(len(scene.bodies))[::-1].copy()
    return Twin(scene=parse_scene(data | backwards), dt=dt, by=similarity(scene.dimension), bodies=order)


def _with_a_body_far_away(scene: Scene, dt: float, motion: Trajectory) -> Twin | None:
    """A copy of the first free one, at rest, where it meets nothing."""
    grounds = [one for one in scene.boundaries if isinstance(one, (HalfPlane, HalfSpace))]
    if len(grounds) < len(scene.boundaries):
        return None
    body = next(one for one in scene.bodies if not one.fixed)
    fall = 0.5 * squared(scene.duration) * np.array(scene.gravity)
    axes = np.eye(scene.dimension)
    for axis in (*axes[::-1], *-axes):
        position = np.array(body.position) + FAR * axis
        heights = [
            (mul(np.array(one.normal), at - np.array(one.point)))
            for one in grounds
            for at in (position, position + fall)
        ]
        if min(heights, default=FAR) > 0.25 * FAR:
            still = {"velocity": [0.0] * scene.dimension, "spin": [0.0] * 3 if scene.dimension == 3 else 0.0}
            data, name = _data(scene), "far away"
            while any(name == one.name for one in (*scene.bodies, *scene.boundaries)):
                name += " it"
            own = data["bodies"][scene.bodies.index(body)]
            data["bodies"] = [*data["bodies"], own | still | {"name": name, "position": position.tolist()}]
            bodies = np.arange(len(scene.bodies))
            return Twin(scene=parse_scene(data), dt=dt, by=similarity(scene.dimension), bodies=bodies)
    return None


def _split(scene: Scene, dt: float, motion: Trajectory) -> Twin | None:
    """From the motion's own state, near the middle of its time."""
    if scene.thrusters or any(spring.anchor_path for spring in scene.springs) or driven_joints(scene):
        return None  # they go by the time, or by where joints were at the start
    rows, steps = sampled_steps(motion, dt)
    inner = np.flatnonzero((steps > 0) & (steps < steps.max(initial=0)))
    if not len(inner):
        return None
    chosen = inner[np.abs(steps[inner] - 0.5 * steps.max()).argmin()]
    start = float(steps[chosen] * dt)
    later, same = scene_from(scene, motion, int(rows[chosen]), scene.duration - start), _same(scene, dt)
    return Twin(scene=later, dt=dt, by=same.by, bodies=same.bodies, start=start)


def scene_from(scene: Scene, motion: Trajectory, row: int, duration: float) -> Scene:
    """The scene from the state in this row of its motion, for so many seconds. Raises SceneError where a number is out
    of its range."""
    data = _data(scene) | {"duration": duration}
    data["bodies"] = [own if own["fixed"] else own | _state(motion, row, i) for i, own in enumerate(data["bodies"])]
    for i in given_bodies(scene):
        data["bodies"][i] = begun_later(scene.bodies[i], float(motion.time[row])).model_dump(mode="json")
    return parse_scene(data)


def _at_half_the_step(scene: Scene, dt: float, motion: Trajectory) -> Twin:
    return _same(scene, 0.5 * dt)


TWINS: dict[Change | None, Callable[[Scene, float, Trajectory], Twin | None]] = {
    None: _same,
    "run again": _same,
    "run after another scene": _after_another,
    "turned": _similar(turn=TURN),
    "mirrored": _similar(mirrors=True),
    "moved": _similar(shift=SHIFT),
    "reordered": _reordered,
    "scaled in length": _similar(length=FACTOR),
    "scaled in time": _similar(time=FACTOR),
    "scaled in mass": _similar(mass=FACTOR),
    "boosted": _boosted,
    "joined by a body far away": _with_a_body_far_away,
    "split in two": _split,
    "run at half the step": _at_half_the_step,
}


def _data(scene: Scene) -> Data:
    data: Data = json.loads(write_scene(scene, indent=None))
    return data


def _state(motion: Trajectory, row: int, body: int) -> Data:
    """As a scene has it."""
    state: Data = {"position": motion.position[row, body].tolist(), "velocity": motion.velocity[row, body].tolist()}
    if isinstance(motion, PlanarTrajectory):
        return state | {"angle": float(motion.angle[row, body]), "spin": float(motion.spin[row, body])}
    q = motion.orientation[row, body]
    return state | {"orientation": (q / norm(q)).tolist(), "spin": motion.spin[row, body].tolist()}


def is_native(scene: Scene) -> bool:
    """Whether it describes a model of a user's own."""
    return getattr(scene, "native", None) is not None


# --- nearby starts --------------------------------------------------------------------------------------------------


def nearby(scene: Scene, share: float, size: float, speed: float, seed: int) -> Scene | None:
    """The scene from a start that differs at random by a share of the largest coordinate, m, and speed, m/s.

    What joints tie is moved as one, to be tied as before; masses and gravity differ by that share, too. With a size of
    0 nothing stands elsewhere. None where a number would leave its range.
    """
    random = np.random.default_rng(seed)

    def off(count: int, scale: float) -> Array:
        return share * scale * random.uniform(-1.0, 1.0, count)

    data, dimension = _data(scene), scene.dimension
    group, at_world = _tied_groups(data)
    shifts: dict[str, Array] = {}
    drifts: dict[str, Array] = {}
    for body, shape in zip(data["bodies"], (one.shape for one in scene.bodies)):
        name, radius = group[body["name"]], mass.bounding_radius(shape)
        shift = shifts.setdefault(name, off(dimension, 0.0 if name in at_world else size))
        drift = drifts.setdefault(name, off(dimension, 0.0 if name in at_world else speed))
        if body["fixed"]:
            continue
        body["position"] = (np.array(body["position"]) + shift).tolist()
        body["velocity"] = (np.array(body["velocity"]) + drift).tolist()
        body["mass"] *= 1.0 + float(off(1, 1.0)[0])
        if name == body["name"]:  # tied to nothing
            _turn_a_little(body, off, 1.0 if size else 0.0, speed / radius)
    data["gravity"] = [g * (1.0 + float(off(1, 1.0)[0])) for g in data["gravity"]]
    try:
        return parse_scene(data)
    except SceneError:
        return None


def nearby_model(scene: Scene, size: float, seed: int) -> Scene:
    """A model whose coordinates start elsewhere by less than `size`, m or rad: each by that in a direction of its own
    or, where they are moved already, as they are and by that more or less."""
    assert scene.native is not None
    model = scene.native.model
    moved = model.perturbation or Perturbation(seed=seed, number=0, size=size)
    if model.perturbation is not None:
        moved = moved.model_copy(update={"size": moved.size + (1.0 - 2.0 * (seed % 2)) * size / (1 + seed // 2)})
    native = scene.native.model_copy(update={"model": model.model_copy(update={"perturbation": moved})})
    return scene.model_copy(update={"native": native})


def _turn_a_little(body: Data, off: Callable[[int, float], Array], turn: float, spin: float) -> None:
    if "angle" in body:
        body["angle"] += float(off(1, turn)[0])
        body["spin"] += float(off(1, spin)[0])
        return
    q = np.array(body["orientation"]) + off(4, turn)
    body["orientation"] = (q / norm(q)).tolist()
    body["spin"] = (np.array(body["spin"]) + off(3, spin)).tolist()


def _tied_groups(data: Data) -> tuple[dict[str, str], set[str]]:
    """Of each body the name of its group of those that joints tie to one another, its own where it is tied to nothing;
    and the groups that are tied to the world or to what is fixed, which cannot be moved."""
    fixed = {body["name"] for body in data["bodies"] if body["fixed"]}
    group = {body["name"]: body["name"] for body in data["bodies"]}
    tied = [(joint["a"], joint.get("b")) for joint in data["joints"]]
    for a, b in tied:
        if b is not None:
            old, new = group[a], group[b]
            group = {name: new if one == old else one for name, one in group.items()}
    members = {a for a, _ in tied} | {b for _, b in tied if b is not None}
    named = {name: f"group of {one}" if name in members else name for name, one in group.items()}
    at_world = {named[a] for a, b in tied if b is None} | {named[name] for name in fixed}
    return named, at_world


def largest(motion: Trajectory, scene: Scene, bodies: Indices) -> tuple[Array, Array]:
    """(S,) m and (S,) m/s: of these, the largest coordinate and the fastest point so far, and what gravity adds in a
    step."""
    radius = np.array([mass.bounding_radius(scene.bodies[i].shape) for i in bodies])
    spin = (np.abs(motion.spin) if isinstance(motion, PlanarTrajectory) else length(motion.spin))[:, bodies]
    size = (length(motion.position[:, bodies]) + radius).max(axis=1)
    fastest = (length(motion.velocity[:, bodies]) + radius * spin).max(axis=1)
    speed = fastest + float(norm(np.array(scene.gravity))) * motion.dt
    return np.maximum.accumulate(size), np.maximum.accumulate(speed)
