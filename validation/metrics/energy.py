"""Energy: kinetic, in gravity, in springs and in compliant contacts, with the velocities at the time of the poses.

Forces of a model that a scene does not have are summed by the engine's process at every step, beside the motion
(`Internals`): what springs and rotors store is part of the energy, and the work of actuators, damping, friction, limits
and equalities is taken off, so that what is left keeps its value but for contacts.

So are the works of motors, damping and friction at the joints of a scene, by the scene's own laws, and that of a given
motion; springs there are part of the energy.

A steady couple in the plane, thrusters whose forces on a body sum to 0, has an energy too: minus its torque times the
angle that the body has turned by.
"""

from typing import NamedTuple, cast

import numpy as np

from reference_engine.dense import mul
from reference_engine.elementary import squared
from reference_engine.geometry.spatial_shapes import SpatialShape, corners_and_rims, gaps_over_plane
from scenarios.boundaries import HalfSpace
from scenarios.contact import stiffness
from scenarios.forces import is_driven, spring_energy
from scenarios.geometry import solid
from scenarios.given_motion import given_bodies
from scenarios.joint_forces import driven_joints, joint_energy
from validation.metrics.axes import to_body_axes
from validation.metrics.flight import energy_doubt, spin_at_pose, velocity_at_pose
from validation.metrics.joint_limits import value_of
from validation.metrics.metric import Metric, Reading, Sentence
from validation.metrics.observation import Array, Observation, free, free_inertia, free_mass, length, shared
from validation.metrics.proximity import proximities
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory

ROUND_OFF = 1e-12  # of the forces of a couple
WORK_SHARE = 0.05
"""of the work that forces of a model do: where a limit acts from one step to the next it is as uncertain at common
steps"""


@shared
def energy(o: Observation) -> Array:
    """(S,) J: sum over free bodies of m v^2 / 2 + w I w / 2 - m g . (x - x(0)), plus what springs and contacts hold.

    Less the work of couples, and of the forces of a model. Heights and angles count from the start: a scene far from
    the origin loses no digits.
    """
    summed = sums_of_model(o)
    m, position = free_mass(o), o.trajectory.position
    v = velocity_at_pose(o) if summed is None else o.trajectory.velocity
    lift = mul(position - position[0], -o.gravity)
    total = mul(0.5 * np.einsum("sbi,sbi->sb", v, v) + lift, m) + kinetic_energy_of_spin(o)
    if o.scene.springs:
        total = total + np.array([spring_energy(o.scene, t, *pose) for t, pose in zip(o.time.tolist(), _poses(o))])
    if o.scene.contact.compliant is not None:
        total = total + elastic_energy(o)
    total = total + energy_of_joints(o)
    if (given := work_of_given_motion(o)) is not None:
        total = total - given
    driven = couples(o)
    if driven is not None and isinstance(o.trajectory, PlanarTrajectory):
        total = total - mul(o.trajectory.angle - o.trajectory.angle[0], driven)
    return total if summed is None else total + summed.stored - summed.given


@shared
def energy_of_joints(o: Observation) -> Array:
    """(S,) J: in the springs of joints, less the work that motors, damping and friction there have done."""
    joints = driven_joints(o.scene)
    if not joints:
        return np.zeros(len(o.time))
    value = np.stack([np.broadcast_to(value_of(o, joint, joint.start), o.time.shape) for joint in joints], axis=-1)
    work = work_at_joints(o)
    return np.asarray(joint_energy(joints, value) - (0.0 if work is None else work))


def work_at_joints(o: Observation) -> Array | None:
    """(S,) J, of motors, damping and friction since the start; None where the engine's process has not summed it."""
    internals = o.trajectory.internals
    if internals is None or internals.actuators is None or internals.passive is None or not driven_joints(o.scene):
        return None
    return internals.actuators + internals.passive


def work_of_given_motion(o: Observation) -> Array | None:
    """(S,) J on the free bodies since the start; None where nothing has one, or it was not summed."""
    internals = o.trajectory.internals
    return None if internals is None else internals.given


def turned_over_at_joints(o: Observation) -> Array:
    """(S,) J: the work of motors, damping and friction at joints since the start, whatever its sign."""
    internals = o.trajectory.internals
    if work_at_joints(o) is None or internals is None:
        return np.zeros(len(o.time))
    ways = np.abs(np.diff(np.array([internals.actuators, internals.passive]), axis=1)).sum(axis=0)
    return np.concatenate([[0.0], np.cumsum(ways)])


class SumsOfModel(NamedTuple):
    """(S,) J each."""

    stored: Array
    given: Array  # work done by forces that a scene does not have
    turned_over: Array  # the work of all of these and the change of what is stored, whatever its sign, since the start


@shared
def sums_of_model(o: Observation) -> SumsOfModel | None:
    """None where the scene is of no model, or has all forces of it."""
    native, internals = getattr(o.scene, "native", None), o.trajectory.internals
    if native is None or not native.sums or internals is None:
        return None
    stored, works = internals.stored, (internals.actuators, internals.passive, internals.constraints)
    if stored is None or any(work is None for work in works):
        return None
    table = np.array([stored, *works])
    ways = np.abs(np.diff(table, axis=1)).sum(axis=0)
    return SumsOfModel(stored, table[1:].sum(axis=0), np.concatenate([[0.0], np.cumsum(ways)]))


@shared
def couples(o: Observation) -> Array | None:
    """(B,) N m: of the thrusters of a planar scene; None where a force is left over, or grows and fades with time.

    What these do depends on more than the poses at the samples. In space a couple fixed in the body has no energy.
    """
    if not o.scene.thrusters or not o.is_planar:
        return None
    index = {body.name: i for i, body in enumerate(o.scene.bodies)}
    force, torque, size = np.zeros((len(index), 2)), np.zeros(len(index)), np.zeros(len(index))
    for thruster in o.scene.thrusters:
        i, (x, y) = index[thruster.body], thruster.anchor
        factors = {factor for _, factor in thruster.profile}
        if len(factors) > 1:
            return None
        push = factors.pop() * np.array(thruster.force)
        force[i] += push
        torque[i] += x * push[1] - y * push[0]
        size[i] += length(push)
    pushed = length(force) > ROUND_OFF * size
    return None if (pushed & free(o)).any() else np.where(free(o), torque, 0.0)


def is_worked_on(o: Observation) -> bool:
    """Whether thrusters, a spring's moving end or forces of a model do work that neither the poses at the samples tell
    nor the engine's process."""
    native = getattr(o.scene, "native", None)
    if native is not None and native.sums and sums_of_model(o) is None:
        return True
    if given_bodies(o.scene) and work_of_given_motion(o) is None:
        return True
    worked = any(joint.motor or joint.damping or joint.friction for joint in driven_joints(o.scene))
    if worked and work_at_joints(o) is None:
        return True
    return is_driven(o.scene) or (bool(o.scene.thrusters) and couples(o) is None)


def open_energy(o: Observation) -> Array:
    """(S,) J, in doubt: what the lag leaves open, and while a compliant contact lasts what it holds.

    An engine with a law of its own holds another energy at the same depth; before and after a contact laws agree.
    """
    if sums_of_model(o) is not None:  # which have the lag in what is stored
        return np.zeros(len(o.time))
    return energy_doubt(o) + (elastic_energy(o) if o.scene.contact.compliant else energy_in_bounces(o))


@shared
def energy_in_bounces(o: Observation) -> Array:
    """(S,) J that contacts may hold of impacts, of an engine whose impacts last: what is missing of the largest energy
    since they began. They go on while two that bounce overlap, of which some have begun to within that time.
    """
    lasts, held = o.trajectory.impact_time * (1.0 + 1e-9), np.zeros(len(o.time))
    if lasts == 0.0:
        return held
    E, near, members = energy(o), proximities(o), (*o.scene.bodies, *o.scene.boundaries)
    overlapped, begun = np.zeros(len(held), bool), np.zeros(len(held), bool)
    deep = near.gap < 0.0
    for a, b in set(zip(near.a[deep].tolist(), near.b[deep].tolist())):
        if o.scene.pair_law(members[a], members[b])[1] > 0.0:
            rows = np.zeros(len(held), bool)
            rows[near.sample[deep & (near.a == a) & (near.b == b)]] = True
            overlapped |= rows
            begun |= rows & ~np.concatenate([[False], rows[:-1]])
    since, before = -1, -np.inf  # the sample at which those that go on began, and the time of the last that did
    for sample in np.flatnonzero(overlapped).tolist():
        if begun[sample]:
            since, before = (since if overlapped[sample - 1] and since >= 0 else max(0, sample - 1)), o.time[sample]
        if o.time[sample] > before + lasts:
            since = -1
        elif since >= 0:
            held[sample] = E[since : sample + 1].max() - E[sample]
    return held


@shared
def elastic_energy(o: Observation) -> Array:
    """(S,) J: 2/5 c depth^2.5 of every contact, by the scene's own law and our own gaps (Hertz 1882).

    A pair has one contact; over a half-space one for each corner, end and rim that is in it.
    """
    given, near, held = o.scene.contact.compliant, proximities(o), np.zeros(len(o.time))
    assert given is not None
    members = (*o.scene.bodies, *o.scene.boundaries)
    assert isinstance(o.trajectory, SpatialTrajectory)
    deep = np.flatnonzero(near.gap < 0.0)
    for a, b in set(zip(near.a[deep].tolist(), near.b[deep].tolist())):
        rows = deep[(near.a[deep] == a) & (near.b[deep] == b)]
        sample, gap, ground = near.sample[rows], near.gap[rows, None], members[b]
        shape = cast(SpatialShape, solid(members[a]))
        if isinstance(ground, HalfSpace) and len(corners_and_rims(shape)):
            pose = o.trajectory.position[sample, a], o.trajectory.orientation[sample, a]
            gap = gaps_over_plane(shape, *pose, ground.point, ground.normal)
        c = stiffness(given, members[a], ground)
        np.add.at(held, sample, 0.4 * c * (squared(gap) * np.sqrt(np.maximum(0.0, -gap))).sum(axis=1))
    return held


def kinetic_energy_of_spin(o: Observation) -> Array:
    """(S,) J; spatial: with the spin in body axes, where the inertia is diagonal."""
    inertia, spin = free_inertia(o), spin_at_pose(o)
    if isinstance(o.trajectory, PlanarTrajectory):
        return mul(0.5 * squared(spin), inertia)
    body_spin = to_body_axes(o.trajectory.orientation, spin)
    return 0.5 * np.einsum("sbi,bi->s", squared(body_spin), inertia)


def energy_drift(o: Observation) -> Reading | None:
    """Largest |E(t) - E(0)| over all samples, less what the velocity lag and compliant contacts leave in doubt.

    The largest, not the last: an error that comes and goes is one. Lower is better where the truth says that energy
    keeps its value; elsewhere friction and impacts take some, and the value is only reported. Scenes with thrusters,
    or with springs of which an end is moved, have no energy to keep, but for steady couples in the plane, whose work
    follows from the angle.
    """
    if is_worked_on(o):
        return None
    E, doubt = energy(o), open_energy(o)
    drift = (np.abs(E - E[0]) - doubt - doubt[0]).max()
    return Reading(value=float(np.maximum(drift, 0.0)), better="lower" if "energy" in o.truth.invariants else "neither")


def energy_gain(o: Observation) -> float | None:
    """Largest E(t) - E(s) over s <= t, E less the work of couples: what nothing gives, however much is lost before.

    A step from flight into contact or back is not judged: each energy counts at the end of its doubt that is kinder
    to the engine. Scenes with thrusters are left out, but for steady couples in the plane. Of a model a share of the
    work that its forces have done until then is not judged either.
    """
    return None if is_worked_on(o) else float(np.maximum(gained(o).max(), 0.0))


def gained(o: Observation) -> Array:
    """(S,) J: E(t) - E(s) at its largest over s <= t, as `energy_gain` judges it."""
    E, doubt, summed = energy(o), open_energy(o), sums_of_model(o)
    allowed = 0.0 if summed is None else WORK_SHARE * summed.turned_over
    return np.asarray(E - doubt - np.minimum.accumulate(E + doubt) - allowed)


def _poses(o: Observation) -> list[tuple[Array, ...]]:
    if isinstance(o.trajectory, SpatialTrajectory):
        return list(zip(o.trajectory.position, o.trajectory.orientation))
    return [(pose,) for pose in o.trajectory.pose]


METRICS = (
    Metric(
        energy_drift,
        "J",
        "tolerance",
        law="energy kept",
        sentence=Sentence(
            "the energy departs by {new} from what it was",
            of_subject="the energy of {subject} departs by {new} from what it was",
        ),
    ),
    Metric(
        energy_gain,
        "J",
        "tolerance",
        law="energy not gained",
        sentence=Sentence(
            "{new} of energy come from nowhere", of_subject="{subject} gains {new} of energy from nowhere"
        ),
    ),
)
