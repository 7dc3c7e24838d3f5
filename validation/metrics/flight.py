"""Which bodies fly, and the velocities at the time of the poses.

Many integrators hold velocities half a step away from the poses: by `velocity_lag` = -dt/2 (semi-implicit Euler) or
+dt/2 (poses first). In flight the two are brought together exactly,

    v(pose) = v - a velocity_lag,   w(pose) = w - I^-1 torque velocity_lag

where a is gravity and the applied forces' acceleration. A body that something else pushes keeps its v and w: the shift
would invent motion at rest. Where flight begins or ends within a step neither is right, and the energy is in doubt by
the difference.

The gyroscopic torque -w x I w is not among the torques. It does no work, so a spin that it has turned for half a step
more or less has the same energy to first order; and only engines that carry over the spin or the spin in body axes
have it behind the pose, not those that carry over the angular momentum, or leave that torque out.
"""

from typing import NamedTuple

import numpy as np

from reference_engine.dense import mul
from reference_engine.elementary import squared
from scenarios import forces
from scenarios.scene import PlanarScene, SpatialScene
from validation.metrics.axes import to_body_axes, to_world_axes
from validation.metrics.observation import (
    Array,
    Flags,
    Observation,
    free,
    free_inertia,
    free_mass,
    length,
    point_speed,
    shared,
)
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory

SAME_ACCELERATION = 0.01  # a contact force below one per cent of the weight cannot be distinguished from none
SPEED_TOLERANCE = 1e-6  # of the speed: single precision, several operations


class Flight(NamedTuple):
    """(S, B) each; a body is in flight before a sample if nothing but gravity and applied forces moved it there."""

    before: Flags
    after: Flags

    @property
    def flying(self) -> Flags:
        return self.before & self.after

    @property
    def in_transition(self) -> Flags:
        return self.before ^ self.after


class Wrenches(NamedTuple):
    """Of springs, thrusters and damping, world axes, with the velocities as recorded."""

    force: Array  # (S, B, D) N
    torque: Array  # (S, B, 1 or 3) N m, about the centre of mass


@shared
def applied_wrenches(o: Observation) -> Wrenches | None:
    """At every sample; None where nothing is applied."""
    scene, trajectory = o.scene, o.trajectory
    if not forces.has_applied_forces(scene):
        return None
    force = np.zeros_like(trajectory.velocity)
    torque = np.zeros((*force.shape[:2], 1 if o.is_planar else 3))
    for k, t in enumerate(trajectory.time):
        if isinstance(scene, PlanarScene) and isinstance(trajectory, PlanarTrajectory):
            wrench = forces.planar_wrenches(scene, t, trajectory.pose[k], trajectory.twist[k])
            force[k], torque[k] = wrench[:, :2], wrench[:, 2:]
        elif isinstance(scene, SpatialScene) and isinstance(trajectory, SpatialTrajectory):
            state = (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.spin)
            force[k], torque[k] = forces.spatial_wrenches(scene, t, *(part[k] for part in state))
    return Wrenches(force, torque)


@shared
def outer_acceleration(o: Observation) -> Array:
    """(S, B, D) or broadcast to it, m/s^2: gravity, springs, thrusters and damping on each free body."""
    applied = applied_wrenches(o)
    if applied is None:
        return np.where(free(o)[:, None], o.gravity, 0.0)[None]
    m = free_mass(o)[:, None]
    return np.where(free(o)[:, None], o.gravity + applied.force / np.where(m > 0.0, m, 1.0), 0.0)


@shared
def outer_spin_rate(o: Observation) -> Array:
    """(S, B, 1 or 3) or broadcast to it, rad/s^2: I^-1 torque of springs, thrusters and damping on each free body."""
    applied = applied_wrenches(o)
    if applied is None:
        return np.zeros((1, len(o.scene.bodies), 1 if o.is_planar else 3))
    inertia = free_inertia(o)
    weighed = np.where(inertia > 0.0, inertia, np.inf)
    if not isinstance(o.trajectory, SpatialTrajectory):
        return applied.torque / weighed[:, None]
    q = o.trajectory.orientation
    return to_world_axes(q, to_body_axes(q, applied.torque) / weighed)


@shared
def flight(o: Observation) -> Flight:
    """In flight between two samples: the velocity changed as gravity and applied forces alone would change it.

    This asks no geometry, so an engine that rests bodies on a skin above one another is seen to hold them. A body
    with a joint is never in flight. At the ends of the record the one interval there speaks for both sides.
    """
    velocity = o.trajectory.velocity
    samples, bodies = velocity.shape[:2]
    if samples == 1:
        none = np.zeros((samples, bodies), bool)
        return Flight(none, none)
    a = outer_acceleration(o)
    fall = 0.5 * (a[1:] + a[:-1] if len(a) > 1 else 2.0 * a) * o.interval[:, None, None]
    miss = length(np.diff(velocity, axis=0) - fall)
    speed = point_speed(o)  # a spin's round-off too: opposed springs cancel only that far
    allowed = SAME_ACCELERATION * length(fall) + SPEED_TOLERANCE * np.maximum(speed[1:], speed[:-1])
    if len(a) > 1:  # an integrator takes the force at either end of the step
        allowed += 0.5 * (1.0 + SAME_ACCELERATION) * length(np.diff(a, axis=0)) * o.interval[:, None]
    alone = (miss <= allowed) & free(o)
    names = [body.name for body in o.scene.bodies]
    tied = forces.jointed(o.scene)
    alone[:, [name in tied for name in names]] = False
    return Flight(np.concatenate([alone[:1], alone]), np.concatenate([alone, alone[-1:]]))


@shared
def velocity_at_pose(o: Observation) -> Array:
    """(S, B, D) m/s: of the centres of mass at the time of the poses, where a body flies; else as recorded."""
    lag, velocity = o.trajectory.velocity_lag, o.trajectory.velocity
    if lag == 0.0:
        return velocity
    return velocity - flight(o).flying[..., None] * outer_acceleration(o) * lag


@shared
def spin_at_pose(o: Observation) -> Array:
    """(S, B) planar, (S, B, 3) spatial, rad/s: at the time of the poses, where a body flies; else as recorded."""
    lag, spin = o.trajectory.velocity_lag, o.trajectory.spin
    if lag == 0.0 or applied_wrenches(o) is None:
        return spin
    shift = flight(o).flying[..., None] * outer_spin_rate(o) * lag
    return spin - (shift[..., 0] if o.is_planar else shift)


@shared
def energy_doubt(o: Observation) -> Array:
    """(S,) J: how far the lag leaves the kinetic energy open, summed over the bodies in transition."""
    lag = o.trajectory.velocity_lag
    if lag == 0.0:
        return np.zeros(len(o.time))
    v, shift = o.trajectory.velocity, outer_acceleration(o) * lag
    work = np.abs(np.einsum("sbi,sbi->sb", v, np.broadcast_to(shift, v.shape)))
    undecided = flight(o).in_transition
    doubt = mul((work + 0.5 * squared(length(shift))) * undecided, free_mass(o))
    applied = applied_wrenches(o)
    if applied is not None:
        spin = o.trajectory.spin[..., None] if o.is_planar else o.trajectory.spin
        turn = applied.torque * lag
        work = np.abs(np.einsum("sbi,sbi->sb", spin, turn))
        work += 0.5 * np.einsum("sbi,sbi->sb", outer_spin_rate(o) * lag, turn)
        doubt = doubt + (work * undecided).sum(axis=1)
    return doubt
