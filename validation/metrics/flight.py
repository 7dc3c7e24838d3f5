"""Which bodies fly, and the velocities at the time of the poses.

Many integrators hold velocities half a step away from the poses: by `velocity_lag` = -dt/2 (semi-implicit Euler) or
+dt/2 (poses first). In flight the two are brought together exactly, v(pose) = v - a velocity_lag, where a is gravity
and the applied forces' acceleration. A body that something else pushes keeps its v: the shift would invent motion at
rest. Where flight begins or ends within a step neither is right, and the energy is in doubt by the difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenarios import forces
from scenarios.scene import PlanarScene, SpatialScene
from validation.metrics.observation import Array, Flags, Observation, free, free_mass, length, shared
from validation.trajectory import PlanarTrajectory, SpatialTrajectory

SAME_ACCELERATION = 0.01  # a contact force below one per cent of the weight is not told from none
ROUND_OFF = 1e-6  # of the speed: single precision, several operations


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


@shared
def outer_acceleration(o: Observation) -> Array:
    """(S, B, D) or broadcast to it, m/s^2: gravity, springs, thrusters and damping on each free body."""
    gravity, scene, trajectory = o.gravity, o.scene, o.trajectory
    if not forces.has_applied_forces(scene):
        return np.where(free(o)[:, None], gravity, 0.0)[None]
    force = np.zeros_like(trajectory.velocity)
    for k, t in enumerate(trajectory.time):
        if isinstance(scene, PlanarScene) and isinstance(trajectory, PlanarTrajectory):
            force[k] = forces.planar_wrenches(scene, t, trajectory.pose[k], trajectory.twist[k])[:, :2]
        elif isinstance(scene, SpatialScene) and isinstance(trajectory, SpatialTrajectory):
            state = (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.spin)
            force[k] = forces.spatial_wrenches(scene, t, *(part[k] for part in state))[0]
    m = free_mass(o)[:, None]
    return np.where(free(o)[:, None], gravity + force / np.where(m > 0.0, m, 1.0), 0.0)


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
    speed = length(velocity)
    allowed = SAME_ACCELERATION * length(fall) + ROUND_OFF * np.maximum(speed[1:], speed[:-1])
    if len(a) > 1:  # an integrator takes the force at either end of the step
        allowed += 0.5 * (1.0 + SAME_ACCELERATION) * length(np.diff(a, axis=0)) * o.interval[:, None]
    alone = (miss <= allowed) & free(o)
    names = [body.name for body in o.scene.bodies]
    for joint in o.scene.joints:
        for name in (joint.a, joint.b):
            if name is not None:
                alone[:, names.index(name)] = False
    return Flight(np.concatenate([alone[:1], alone]), np.concatenate([alone, alone[-1:]]))


@shared
def velocity_at_pose(o: Observation) -> Array:
    """(S, B, D) m/s: of the centres of mass at the time of the poses, where a body flies; else as recorded."""
    lag, velocity = o.trajectory.velocity_lag, o.trajectory.velocity
    if lag == 0.0:
        return velocity
    return velocity - flight(o).flying[..., None] * outer_acceleration(o) * lag


@shared
def energy_doubt(o: Observation) -> Array:
    """(S,) J: how far the lag leaves the kinetic energy open, summed over the bodies in transition."""
    lag = o.trajectory.velocity_lag
    if lag == 0.0:
        return np.zeros(len(o.time))
    v, shift = o.trajectory.velocity, outer_acceleration(o) * lag
    work = np.abs(np.einsum("sbi,sbi->sb", v, np.broadcast_to(shift, v.shape)))
    return (work + 0.5 * length(shift) ** 2) * flight(o).in_transition @ free_mass(o)
