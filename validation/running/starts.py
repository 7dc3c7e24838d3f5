"""Starts of one scene that differ by less than anything that is measured in it, and up to when their motions agree."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul, norm, pinv
from scenarios import mass
from scenarios.native import Perturbation
from scenarios.scene import PlanarBody, PlanarScene, Scene, masses
from validation.engines.shared.embedding import rotation_matrix, start_in_space, vector_in_space
from validation.judging.evidence.ensembles import predictable_until
from validation.judging.policy import PERTURBATION, PREDICTABLE
from validation.judging.verdict import FLOOR
from validation.records.trajectory import PlanarTrajectory, Trajectory, first_samples

TAUT = 1e-9  # of its length: a rope that is shorter by more holds nothing


def perturbed(scene: Scene, seed: int, number: int) -> Scene:
    """The start of this number: every free body moved along each axis by less than PERTURBATION of its diameter.

    Bodies that are joined move together. What is joined to something that does not move stays where it is and starts
    with another spin, by less than PERTURBATION rad/s, as far as its joints let it: they would open otherwise. Starts
    of one seed are the same every time. A model with recorded starts has those.
    """
    native = getattr(scene, "native", None)
    if native is not None and native.model.others:
        every = (native.model.start, *native.model.others)
        model = native.model.model_copy(update={"start": every[number], "others": ()})
        return scene.model_copy(update={"native": native.model_copy(update={"model": model})})
    if native is not None:  # in the model's own coordinates, of which the engine knows which may change
        of = Perturbation(seed=seed, number=number, size=PERTURBATION)
        model = native.model.model_copy(update={"perturbation": of})
        return scene.model_copy(update={"native": native.model_copy(update={"model": model})})
    random = np.random.default_rng([seed, number])
    groups = _joined(scene)
    immovable = {name for joint in scene.joints if joint.b is None for name in groups[joint.a]}
    immovable |= {name for body in scene.bodies if body.fixed for name in groups[body.name]}
    drawn: dict[str, Array] = {}  # by the group's first body
    spins: dict[str, Array] = {}  # rad/s, of those that are immovable
    bodies: list[Any] = []
    for body in scene.bodies:
        first = min(groups[body.name])
        shift = drawn.setdefault(first, random.uniform(-1.0, 1.0, len(scene.gravity)))
        turn = random.uniform(-1.0, 1.0, 1 if isinstance(scene, PlanarScene) else 3)
        if body.fixed:
            bodies.append(body)
        elif body.name in immovable:
            spins[body.name] = PERTURBATION * turn
            bodies.append(body)
        else:
            least = min(2.0 * mass.bounding_radius(b.shape) for b in scene.bodies if b.name in groups[body.name])
            position = np.array(body.position) + PERTURBATION * least * shift
            bodies.append(body.model_copy(update={"position": tuple(position.tolist())}))
    if spins:
        twists = let_by_joints(scene, spins)
        bodies = [_faster(body, *twists[body.name]) if body.name in twists else body for body in bodies]
    return scene.model_copy(update={"bodies": tuple(bodies)})


def recorded_starts(scene: Scene) -> int:
    """How many a model has; 0 of what has one start."""
    native = getattr(scene, "native", None)
    return 0 if native is None or not native.model.others else 1 + len(native.model.others)


def _faster(body: Any, velocity: Array, spin: Array) -> Any:
    """The body with these, (3,) each, added to its velocity and spin."""
    moving = tuple((np.array(body.velocity) + velocity[: len(body.velocity)]).tolist())
    if isinstance(body, PlanarBody):
        return body.model_copy(update={"velocity": moving, "spin": body.spin + float(spin[2])})
    turning = tuple((np.array(body.spin) + spin).tolist())
    return body.model_copy(update={"velocity": moving, "spin": turning})


def _joined(scene: Scene) -> dict[str, frozenset[str]]:
    """Body -> all that hang together with it, itself included."""
    groups = {body.name: frozenset([body.name]) for body in scene.bodies}
    for joint in scene.joints:
        if joint.b is not None:
            both = groups[joint.a] | groups[joint.b]
            groups |= dict.fromkeys(both, both)
    return groups


# --- which velocities and spins of bodies the joints let be ---------------------------------------------------------


def let_by_joints(scene: Scene, spins: Mapping[str, Array]) -> dict[str, tuple[Array, Array]]:
    """Velocities and spins (3,) nearest to these spins alone that open no joint between these bodies, or with others.

    Other bodies do not move. spins: (1,) in the plane or (3,), of bodies by name. In the plane vectors have z = 0,
    spins x = y = 0. Nearest: by the sum of squares, lengths in metres.
    """
    names = list(spins)
    column = {name: 6 * k for k, name in enumerate(names)}
    wished = np.zeros(6 * len(names))
    for name, spin in spins.items():
        wished[column[name] + 6 - len(spin) : column[name] + 6] = spin
    free = np.ones(len(wished), bool)
    if isinstance(scene, PlanarScene):
        free = np.tile([True, True, False, False, False, True], len(names))
    rows = [row for joint in scene.joints for row in rates_of(scene, joint, column, len(wished))]
    found = wished
    if rows:
        J = np.array(rows)[:, free]
        found = np.zeros(len(wished))
        found[free] = wished[free] - mul(pinv(J, rcond=1e-9), mul(J, wished[free]))
    return {name: (found[k : k + 3], found[k + 3 : k + 6]) for name, k in column.items()}


def rates_of(scene: Scene, joint: Any, column: Mapping[str, int], width: int) -> list[Array]:
    """Rows (width,) whose products with velocities and spins are the rates at which the joint opens."""
    if joint.a not in column and joint.b not in column:
        return []
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    position, orientation, _, _ = start_in_space(scene)

    def anchor_point(name: str | None, anchor: Any) -> Array:
        point = vector_in_space(anchor)
        return point if name is None else position[index[name]] + mul(rotation_matrix(orientation[index[name]]), point)

    at_a = at_b = anchor_point(joint.a, joint.anchor_a)
    if joint.kind != "track":
        at_b = anchor_point(joint.b, joint.anchor_b)

    def parting(direction: Array, on_a: Array) -> Array:
        """Of b's anchor against the point of a, along the direction."""
        row = np.zeros(width)
        for name, point, sign in ((joint.a, on_a, -1.0), (joint.b, at_b, 1.0)):
            if name in column:
                k, arm = column[name], point - position[index[name]]
                row[k : k + 3] += sign * direction
                row[k + 3 : k + 6] += sign * np.cross(arm, direction)
        return row

    def turning(direction: Array) -> Array:
        row = np.zeros(width)
        for name, sign in ((joint.a, -1.0), (joint.b, 1.0)):
            if name in column:
                row[column[name] + 3 : column[name] + 6] += sign * direction
        return row

    if joint.kind == "track":
        _, heading = joint.curve.at(joint.curve.nearest(at_a[None, :2])[0])
        return [parting(np.array([-math.sin(heading[0]), math.cos(heading[0]), 0.0]), at_a)]
    axes = list(np.eye(3))
    if joint.kind in ("rod", "rope"):
        apart = at_b - at_a
        far = math.hypot(*apart)
        slack = joint.kind == "rope" and far < joint.length * (1.0 - TAUT)
        return [] if slack or far == 0.0 else [parting(apart / far, at_a)]
    if joint.kind == "fixed":
        return [parting(axis, at_a) for axis in axes] + [turning(axis) for axis in axes]
    if joint.kind in ("revolute", "ball"):
        return [parting(axis, at_a) for axis in axes]
    along = mul(rotation_matrix(orientation[index[joint.a]]), vector_in_space(joint.axis))
    along = along / norm(along)
    across = [axis - along * (mul(along, axis)) for axis in axes]
    if joint.kind == "hinge":
        return [parting(axis, at_a) for axis in axes] + [turning(axis) for axis in across]
    return [parting(axis, at_b) for axis in across] + [turning(axis) for axis in axes]  # a's point is where b's is now


# --- what is noise, and up to when motions agree ---------------------------------------------------------------------


def floors(scene: Scene) -> dict[str, float]:
    """By unit, what the perturbation itself amounts to: nothing is said about less. Units that are not named: FLOOR.

    For bodies of mass M, the smallest of diameter L and the largest moved by d:  d (m),  2 d / L (rad),  d w (m/s),
    M g d (J),  M d w (kg m/s),  M d w L (kg m^2/s),  d w / g (s),  with w = sqrt(g / L), the rate at which they fall.
    """
    free = [body for body in scene.bodies if not body.fixed]
    sizes = [2.0 * mass.bounding_radius(body.shape) for body in free]
    M = float(masses(scene)[[not body.fixed for body in scene.bodies]].sum())
    L, d, g = min(sizes), PERTURBATION * max(sizes), float(norm(scene.gravity))
    w = math.sqrt(g / L)
    by_unit = {
        "m": d,
        "rad": 2.0 * d / L,
        "m/s": d * w,
        "J": M * g * d,
        "kg m/s": M * d * w,
        "kg m^2/s": M * d * w * L,
        "s": d * w / g if g else 0.0,
        "1": PERTURBATION,
    }
    return {unit: max(FLOOR, floor) for unit, floor in by_unit.items()}


def horizon(scene: Scene, motions: Sequence[Trajectory]) -> float:
    """Share of the duration up to which the motions of several starts agree, to PREDICTABLE of the smallest body."""
    free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
    bounding_radius = np.array([mass.bounding_radius(scene.bodies[i].shape) for i in free])
    shared = set(motions[0].time.tolist()).intersection(*(motion.time.tolist() for motion in motions[1:]))
    time = np.array(sorted(shared))
    points = np.stack([_points(motion, time, free, bounding_radius) for motion in motions])
    return predictable_until(time, points, PREDICTABLE * 2.0 * float(bounding_radius.min())) / float(time[-1])


def _points(motion: Trajectory, time: Array, free: Sequence[int], bounding_radius: Array) -> Array:
    """(T, P, D) m: of each free body the centre, and the points that its axes reach furthest from it."""
    at = np.searchsorted(motion.time, time, side="right") - 1
    centre = motion.position[at][:, free]
    if isinstance(motion, PlanarTrajectory):
        angle = motion.angle[at][:, free]
        ends = [centre + bounding_radius[:, None] * np.stack([elementary.cos(angle), elementary.sin(angle)], axis=-1)]
    else:
        from reference_engine import rotation  # numba's, which a command does without otherwise

        turned = rotation.matrices(motion.orientation[at][:, free])
        ends = [centre + bounding_radius[:, None] * turned[..., axis] for axis in (0, 1)]  # along the body's x and y
    return np.concatenate([centre, *ends], axis=1)


def until(motion: Trajectory, end: float) -> Trajectory:
    """The motion up to and including this time (s), with the contacts reported in it."""
    count = int(np.searchsorted(motion.time, end * (1.0 + 1e-12), side="right"))
    return replace(first_samples(motion, count), impacts=None)
