"""Springs, thrusters and damping of a scene as wrenches on its bodies, the same for every engine.

Gravity is not among them: every engine has its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import cross, mul, norm
from reference_engine.elementary import squared
from scenarios.fields import Data, Length, Name, NonNegative, Number, Positive, not_stated

if TYPE_CHECKING:
    from scenarios.scene import PlanarScene, Scene, SpatialScene


class Damping(Data):
    """Force -linear v - quadratic |v| v and torque -angular w on every free body."""

    linear: NonNegative = 0.0
    """kg/s"""
    angular: NonNegative = 0.0
    """kg m^2/s"""
    quadratic: NonNegative = 0.0
    """kg/m"""


class Spring(Data):
    """Pulls with stiffness (length - rest_length); `b` = null ends at a world point, which may move along a path."""

    a: Name
    b: Name | None = None
    anchor_a: tuple[Length, ...]
    anchor_b: tuple[Length, ...]
    anchor_path: Annotated[
        tuple[tuple[NonNegative, tuple[Length, ...]], ...] | None,
        Field(min_length=2, max_length=100_000, exclude_if=not_stated),
    ] = None
    """(time in s, point in m), times ascending: where the end in the world is, linearly from one to the next, the first
    being anchor_b. The spring acts from the first time to before the last, and not outside of them."""
    stiffness: Positive
    rest_length: NonNegative = 0.0
    damping: NonNegative = 0.0
    tension_only: bool = False
    """A rubber band: no force while it is shorter than its rest length."""

    @model_validator(mode="after")
    def _path_is_of_the_world(self) -> Self:
        if self.anchor_path is None:
            return self
        if self.b is not None:
            raise ValueError(f"anchor_path: given, and b is {self.b!r}; allowed: a path where b is null, the world")
        for k, (before, after) in enumerate(pairwise(self.path_times), start=1):
            if after <= before:
                raise ValueError(f"anchor_path[{k}]: time {after:g} s is not after {before:g} s; list them in order")
        if self.anchor_b != self.anchor_path[0][1]:
            first = self.anchor_path[0][1]
            raise ValueError(f"anchor_b: {self.anchor_b} is not where anchor_path begins, {first}; give the same point")
        return self

    @cached_property
    def path_times(self) -> tuple[float, ...]:
        return tuple(time for time, _ in self.anchor_path or ())

    def acts(self, time: float) -> bool:
        return self.anchor_path is None or self.path_times[0] <= time < self.path_times[-1]

    def world_end(self, time: float) -> tuple[Array, Array]:
        """Where the end in the world is (m) and how fast it moves (m/s) while the spring acts."""
        if self.anchor_path is None:
            return np.array(self.anchor_b), np.zeros(len(self.anchor_b))
        k = min(max(bisect_right(self.path_times, time), 1), len(self.path_times) - 1)
        (t, start), (end, point) = self.anchor_path[k - 1 : k + 1]
        velocity = (np.array(point) - np.array(start)) / (end - t)
        return np.array(start) + velocity * (time - t), velocity


class Thruster(Data):
    """Force fixed in body axes at a body point, scaled over time by linear interpolation of `profile`."""

    body: Name
    anchor: tuple[Length, ...]
    force: tuple[Number, ...]
    profile: Annotated[tuple[tuple[NonNegative, Number], ...], Field(min_length=1)] = ((0.0, 1.0),)
    """(time in s, factor), times not decreasing; constant before the first and after the last."""

    @model_validator(mode="after")
    def _times_ascend(self) -> Self:
        times = [time for time, _ in self.profile]
        if times != sorted(times):
            raise ValueError(f"profile: times {times} decrease; list them in ascending order")
        return self


def is_driven(scene: Any) -> bool:
    """Whether something that moves by a plan does work on the scene, more than poses at its samples tell; or forces of
    a model that the scene has not."""
    native = getattr(scene, "native", None)
    if native is not None and not native.conserves:
        return True
    return any(spring.anchor_path is not None for spring in scene.springs)


def jointed(scene: Scene) -> frozenset[str]:
    """Names of the bodies that joints tie, or that forces of a model act on which the scene does not have."""
    return _of_the_model(scene).union(name for joint in scene.joints for name in (joint.a, joint.b) if name is not None)


def applied_to(scene: Scene) -> frozenset[str]:
    """Names of the bodies that springs, thrusters or forces of a model act on."""
    ends = {name for spring in scene.springs for name in (spring.a, spring.b) if name is not None}
    return _of_the_model(scene) | ends | {thruster.body for thruster in scene.thrusters}


def acted_on(scene: Scene) -> frozenset[str]:
    """Names of the bodies that something but gravity, contacts and damping acts on."""
    return jointed(scene) | applied_to(scene)


def _of_the_model(scene: Scene) -> frozenset[str]:
    native = getattr(scene, "native", None)
    return frozenset(native.acted_on if native is not None else ())


def has_applied_forces(scene: Scene) -> bool:
    return bool(scene.springs or scene.thrusters or scene.damping != Damping())


def planar_wrenches(scene: PlanarScene, time: float, pose: Array, twist: Array) -> Array:
    """(B, 3): force in world axes (N) and torque about the centre of mass (N m) on each body."""
    wrench = np.zeros_like(pose)
    free = np.array([not body.fixed for body in scene.bodies])
    wrench[free, :2] -= _drag(scene, twist[free, :2])
    wrench[free, 2] -= scene.damping.angular * twist[free, 2]

    def turn(i: int, v: Array) -> Array:
        return _turn(pose[i, 2], v)

    def moving(i: int, arm: Array) -> tuple[Array, Array]:
        return pose[i, :2] + arm, twist[i, :2] + twist[i, 2] * np.array([-arm[1], arm[0]])

    def apply(i: int, arm: Array, force: Array) -> None:
        wrench[i, :2] += force
        wrench[i, 2] += arm[0] * force[1] - arm[1] * force[0]

    _apply_all(scene, time, turn, moving, apply)
    wrench[~free] = 0.0
    return wrench


def spatial_wrenches(
    scene: SpatialScene, time: float, position: Array, orientation: Array, velocity: Array, spin: Array
) -> tuple[Array, Array]:
    """Force (B, 3) and torque about the centre of mass (B, 3), world axes."""
    free = np.array([not body.fixed for body in scene.bodies])
    force = np.where(free[:, None], -_drag(scene, velocity), 0.0)
    torque = np.where(free[:, None], -scene.damping.angular * spin, 0.0)

    def turn(i: int, v: Array) -> Array:
        return _rotate(orientation[i], v)

    def moving(i: int, arm: Array) -> tuple[Array, Array]:
        return position[i] + arm, velocity[i] + cross(spin[i], arm)

    def apply(i: int, arm: Array, f: Array) -> None:
        force[i] += f
        torque[i] += cross(arm, f)

    _apply_all(scene, time, turn, moving, apply)
    force[~free] = 0.0
    torque[~free] = 0.0
    return force, torque


def _apply_all(
    scene: Scene,
    time: float,
    turn: Callable[[int, Array], Array],
    moving: Callable[[int, Array], tuple[Array, Array]],
    apply: Callable[[int, Array, Array], None],
) -> None:
    """What springs and thrusters do: `apply(i, arm, force)` for each force on body i, all in world axes.

    turn(i, v) is the vector v of body i's frame; moving(i, arm) where its point at this arm is and how fast it moves.
    """
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    for spring in scene.springs:
        if not spring.acts(time):
            continue
        ends: list[tuple[int | None, Array, Array, Array]] = []
        for name, anchor in ((spring.a, spring.anchor_a), (spring.b, spring.anchor_b)):
            local = np.array(anchor)
            if name is None:
                ends.append((None, np.zeros_like(local), *spring.world_end(time)))
            else:
                arm = turn(index[name], local)
                ends.append((index[name], arm, *moving(index[name], arm)))
        (a, arm_a, point_a, velocity_a), (b, arm_b, point_b, velocity_b) = ends
        force = _spring_force(spring, point_b - point_a, velocity_b - velocity_a)
        if a is not None:
            apply(a, arm_a, force)
        if b is not None:
            apply(b, arm_b, -force)
    for thruster in scene.thrusters:
        i = index[thruster.body]
        times, factors = zip(*thruster.profile)
        factor = float(np.interp(time, times, factors))
        apply(i, turn(i, np.array(thruster.anchor)), factor * turn(i, np.array(thruster.force)))


def spring_energy(scene: Scene, time: float, *pose: Array) -> float:
    """J, of all springs that act at this time; `pose` is (B, 3) planar, or position (B, 3) and orientation (B, 4)."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    total = 0.0
    for spring in scene.springs:
        if not spring.acts(time):
            continue
        points = []
        for name, anchor in ((spring.a, spring.anchor_a), (spring.b, spring.anchor_b)):
            local = np.array(anchor)
            if name is None:
                points.append(spring.world_end(time)[0])
            elif scene.dimension == 2:
                points.append(pose[0][index[name], :2] + _turn(pose[0][index[name], 2], local))
            else:
                points.append(pose[0][index[name]] + _rotate(pose[1][index[name]], local))
        stretch = float(norm(points[1] - points[0])) - spring.rest_length
        if not (spring.tension_only and stretch < 0.0):
            total += 0.5 * spring.stiffness * squared(stretch)
    return total


def _spring_force(spring: Spring, along: Array, closing: Array) -> Array:
    """On end a, towards b: stiffness (length - rest) + damping * d(length)/dt; a rubber band only pulls."""
    length = float(norm(along))
    if length == 0.0:
        return np.zeros_like(along)
    direction = along / length
    stretch = length - spring.rest_length
    if spring.tension_only and stretch < 0.0:
        return np.zeros_like(along)
    return (spring.stiffness * stretch + spring.damping * float(mul(closing, direction))) * direction


def _drag(scene: Scene, velocity: Array) -> Array:
    """(B, 2 or 3) N, against the velocities."""
    damping = scene.damping
    if damping.quadratic == 0.0:
        return damping.linear * velocity
    return (damping.linear + damping.quadratic * np.linalg.norm(velocity, axis=1, keepdims=True)) * velocity


def _turn(angle: float, v: Array) -> Array:
    s, c = elementary.sine_cosine(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def _rotate(q: Array, v: Array) -> Any:
    """q v q*, with q = (w, u): v + 2 u x (u x v + w v)."""
    u = q[1:]
    return v + 2.0 * cross(u, cross(u, v) + q[0] * v)
