"""A motion in three dimensions, planar ones at z = 0: poses as matrices, momenta, energies, gaps of joints."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Flags
from scenarios.scene import PlanarScene, Scene
from validation.records.trajectory import Contacts, PlanarTrajectory, Trajectory
from validation.tools.fuzzing.independent import shapes

Z = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Motion:
    """S samples of B bodies."""

    scene: Scene
    trajectory: Trajectory

    @property
    def time(self) -> Array:
        return self.trajectory.time

    @cached_property
    def names(self) -> dict[str, int]:
        return {member.name: i for i, member in enumerate((*self.scene.bodies, *self.scene.boundaries))}

    @cached_property
    def free(self) -> Flags:
        return np.array([not body.fixed for body in self.scene.bodies])

    @cached_property
    def mass(self) -> Array:
        """(B,) kg; 0 of a fixed body, as is its inertia: it takes part in no sum."""
        return np.array([0.0 if body.fixed else float(body.mass or np.nan) for body in self.scene.bodies])

    @cached_property
    def inertia(self) -> Array:
        """(B, 3) kg m^2 about the body axes."""
        return np.array([np.zeros(3) if body.fixed else shapes.inertia_of(body) for body in self.scene.bodies])

    @cached_property
    def radius(self) -> Array:
        """(B,) m, of each body's furthest point."""
        return np.array([shapes.bounding_radius(body.shape) for body in self.scene.bodies])

    @cached_property
    def gravity(self) -> Array:
        return in_space(np.array(self.scene.gravity))

    @cached_property
    def x(self) -> Array:
        """(S, B, 3) m"""
        return in_space(self.trajectory.position)

    @cached_property
    def v(self) -> Array:
        """(S, B, 3) m/s"""
        return in_space(self.trajectory.velocity)

    @cached_property
    def fastest(self) -> float:
        """m/s: more than the speed of any point."""
        speeds = np.linalg.norm(self.v, axis=2) + self.radius * np.linalg.norm(self.w, axis=2)
        return 1.0 + float(speeds.max())

    @cached_property
    def w(self) -> Array:
        """(S, B, 3) rad/s, world axes"""
        if isinstance(self.trajectory, PlanarTrajectory):
            return self.trajectory.spin[..., None] * Z
        return self.trajectory.spin

    @cached_property
    def R(self) -> Array:
        """(S, B, 3, 3), body to world"""
        if isinstance(self.trajectory, PlanarTrajectory):
            c, s = np.cos(self.trajectory.angle), np.sin(self.trajectory.angle)
            zero, one = np.zeros_like(c), np.ones_like(c)
            return np.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=-1).reshape(*c.shape, 3, 3)
        q = self.trajectory.orientation
        columns = [rotated(q, axis) for axis in np.eye(3)]
        return np.stack(columns, axis=-1)

    # --- momenta and energies -----------------------------------------------------------------------------------

    @cached_property
    def spin_momentum(self) -> Array:
        """(S, B, 3) kg m^2/s, of each body about its own centre, world axes"""
        local = np.einsum("sbji,sbj->sbi", self.R, self.w)
        return np.einsum("sbij,sbj->sbi", self.R, self.inertia * local)

    def momentum(self, which: Flags) -> Array:
        """(S, 3) kg m/s, of these bodies"""
        return np.einsum("b,sbi->si", self.mass * which, self.v)

    def moment_of_momentum(self, which: Flags) -> Array:
        """(S, 3) kg m^2/s, of these bodies about their common centre of mass"""
        m = self.mass * which
        centre, drift = (np.einsum("b,sbi->si", m, part) / m.sum() for part in (self.x, self.v))
        orbital = np.cross(self.x - centre[:, None], self.v - drift[:, None])
        return np.einsum("b,sbi->si", m, orbital) + (self.spin_momentum * which[:, None]).sum(axis=1)

    @cached_property
    def kinetic(self) -> Array:
        """(S, B) J"""
        return 0.5 * self.mass * (self.v**2).sum(axis=2) + 0.5 * (self.w * self.spin_momentum).sum(axis=2)

    @cached_property
    def energy(self) -> Array:
        """(S,) J: kinetic and in gravity, heights from the start, and of springs"""
        lifted = -((self.x - self.x[0]) @ self.gravity) @ self.mass
        return self.kinetic.sum(axis=1) + lifted + sum(self.in_spring(spring) for spring in self.scene.springs)

    def in_spring(self, spring: Any) -> Array:
        ends = self.point(spring.a, spring.anchor_a), self.point(spring.b, spring.anchor_b)
        stretch = np.linalg.norm(ends[1] - ends[0], axis=1) - spring.rest_length
        if spring.tension_only:
            stretch = np.maximum(stretch, 0.0)
        found: Array = 0.5 * spring.stiffness * stretch**2
        return found

    # --- applied forces -----------------------------------------------------------------------------------------

    @cached_property
    def applied(self) -> tuple[Array, Array]:
        """(S, B, 3) N and N m about the centres of mass: of springs, thrusters and damping, paths left out."""
        scene, w = self.scene, self.w
        speed = np.linalg.norm(self.v, axis=2)[..., None]
        force = -(scene.damping.linear + scene.damping.quadratic * speed) * self.v * self.free[:, None]
        torque = -scene.damping.angular * w * self.free[:, None]

        def act(name: str | None, point: Array, f: Array) -> None:
            if name is not None and self.free[i := self.names[name]]:
                force[:, i] += f
                torque[:, i] += np.cross(point - self.x[:, i], f)

        for spring in scene.springs:
            a, b = self.point(spring.a, spring.anchor_a), self.point(spring.b, spring.anchor_b)
            length = np.linalg.norm(b - a, axis=1)
            along = (b - a) / np.where(length > 0.0, length, 1.0)[:, None]
            parting = self.point_velocity(spring.b, b) - self.point_velocity(spring.a, a)
            pull = spring.stiffness * (length - spring.rest_length) + spring.damping * (parting * along).sum(axis=1)
            if spring.tension_only:
                pull = np.where(length > spring.rest_length, pull, 0.0)
            act(spring.a, a, pull[:, None] * along)
            act(spring.b, b, -pull[:, None] * along)
        for thruster in scene.thrusters:
            times, factors = zip(*thruster.profile)
            factor = np.interp(self.time, times, factors)[:, None]
            at = self.point(thruster.body, thruster.anchor)
            act(thruster.body, at, factor * self.direction(thruster.body, thruster.force))
        return force, torque

    def point_velocity(self, body: str | None, point: Array) -> Array:
        """(S, 3) m/s, of the material point of a body that is there, or of the world."""
        if body is None:
            return np.zeros_like(point)
        i = self.names[body]
        return self.v[:, i] + np.cross(self.w[:, i], point - self.x[:, i])

    # --- joints -------------------------------------------------------------------------------------------------

    def point(self, body: str | None, local: Any) -> Array:
        """(S, 3) m: of a body, or of the world, over time."""
        at = in_space(np.array(local, np.float64))
        if body is None:
            return np.tile(at, (len(self.time), 1))
        i = self.names[body]
        return self.x[:, i] + self.R[:, i] @ at

    def direction(self, body: str | None, local: Any) -> Array:
        """(S, 3), likewise, without the position."""
        along = in_space(np.array(local, np.float64))
        return np.tile(along, (len(self.time), 1)) if body is None else self.R[:, self.names[body]] @ along

    def joint_gap(self, joint: Any) -> Array:
        """(S,) m, by which a joint is not met; of a track only an upper bound (nearest of many points)."""
        if joint.kind == "track":
            return np.zeros(len(self.time))
        apart = self.point(joint.b, joint.anchor_b) - self.point(joint.a, joint.anchor_a)
        distance = np.linalg.norm(apart, axis=1)
        if joint.kind in ("revolute", "ball", "hinge", "fixed"):
            return distance
        if joint.kind in ("rod", "rope"):
            stretched = distance - joint.length
            return np.abs(stretched) if joint.kind == "rod" else np.maximum(stretched, 0.0)
        axis = self.direction(joint.a, joint.axis)
        return np.linalg.norm(np.cross(apart, axis), axis=1) / np.linalg.norm(axis, axis=1)

    def joint_turn(self, joint: Any) -> Array:
        """(S,) rad, less than a quarter: how far two bodies have turned against each other as their joint forbids."""
        if joint.kind in ("prismatic", "slider", "fixed"):
            a, b = (np.eye(3) if name is None else self.R[:, self.names[name]] for name in (joint.a, joint.b))
            relative = np.broadcast_to(np.swapaxes(a, -1, -2) @ b, (len(self.time), 3, 3))
            turn = np.einsum("ij,skj->sik", relative[0].T, np.swapaxes(relative, 1, 2))
            return np.linalg.norm(turn - np.eye(3), axis=(1, 2)) / np.sqrt(2.0)
        if joint.kind == "hinge":
            axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
            on_a = self.direction(joint.a, axis)
            on_b = on_a[0] if joint.b is None else self.R[0, self.names[joint.b]].T @ on_a[0]
            return np.linalg.norm(np.cross(on_a, self.direction(joint.b, on_b)), axis=1)
        return np.zeros(len(self.time))

    @cached_property
    def contacts(self) -> Contacts | None:
        return self.trajectory.contacts


def in_space(vector: Array) -> Array:
    """(..., 3) of (..., 2 or 3)."""
    if vector.shape[-1] == 3:
        return vector
    return np.concatenate([vector, np.zeros((*vector.shape[:-1], 1))], axis=-1)


def rotated(q: Array, vector: Array) -> Array:
    """(..., 3): q v q*, of unit quaternions (w, x, y, z), by two products of quaternions."""
    pure = np.concatenate([np.zeros((*q.shape[:-1], 1)), np.broadcast_to(vector, (*q.shape[:-1], 3))], axis=-1)
    return hamilton(hamilton(q, pure), q * (1.0, -1.0, -1.0, -1.0))[..., 1:]


def hamilton(p: Array, q: Array) -> Array:
    """p q (..., 4): scalar p q - u . v, vector p v + q u + u x v (Hamilton 1844)."""
    scalar = p[..., :1] * q[..., :1] - (p[..., 1:] * q[..., 1:]).sum(axis=-1, keepdims=True)
    vector = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


def is_planar(motion: Motion) -> bool:
    return isinstance(motion.scene, PlanarScene)
