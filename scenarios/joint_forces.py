"""What acts along the hinges and sliders of a scene in space, and the work that it does.

`AxialCoordinates` says where joints are and how fast they go; `force_along` what springs, damping and motors do there;
`JointWrenches` the same as forces and torques on the bodies, for engines that do not have it themselves. Dry friction
and limits are no function of the state: only an engine has them.
"""

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from scenarios.joints import AxialJoint, ForceMotor, Motor, PositionMotor, Slider
from scenarios.scene import Scene, SpatialScene, spatial_start

Element = Literal["spring", "damping", "motor"]
ELEMENTS: frozenset[Element] = frozenset({"spring", "damping", "motor"})
STAGES = 100  # calls of a few steps, behind which time does not go back


def driven_joints(scene: Scene) -> tuple[AxialJoint, ...]:
    """Those along which something acts, in the scene's order."""
    return tuple(joint for joint in scene.joints if isinstance(joint, AxialJoint) and joint.is_driven)


Vector = Sequence[float]
UPRIGHT, NOTHING = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


class AxialCoordinates:
    """J hinges and sliders of a scene. Angles are counted on from call to call, which may be half a turn apart.

    Numbers one by one: of a few joints numpy's calls would cost ten times as much.
    """

    def __init__(self, scene: SpatialScene, joints: Sequence[AxialJoint]) -> None:
        index: dict[str | None, int] = {body.name: i for i, body in enumerate(scene.bodies)}
        index[None] = len(index)  # the row that stands for the world
        self._bodies = len(scene.bodies)
        self._joints = [_Axial(joint, index[joint.a], index[joint.b]) for joint in joints]
        position, orientation, _, _ = spatial_start(scene)
        at, turned = _rows(position, NOTHING), _rows(orientation, UPRIGHT)
        self._still = [_turn(turned[one.a], turned[one.b]) for one in self._joints]
        self._along = [one.slid(at, turned) if one.slides else 0.0 for one in self._joints]
        self.restart()

    def restart(self, values: Sequence[float] | None = None) -> None:
        """Angles are counted on from these again, or from the scene's start."""
        self._last = [one.start for one in self._joints] if values is None else list(values)

    def values(self, position: Array, orientation: Array) -> list[float]:
        """(J,) rad or m, of a state of all bodies: (B, 3) m and (B, 4) unit quaternions w-x-y-z."""
        at, turned = _rows(position, NOTHING), _rows(orientation, UPRIGHT)
        for k, (one, still, along) in enumerate(zip(self._joints, self._still, self._along)):
            if one.slides:
                self._last[k] = one.start + one.slid(at, turned) - along
            else:
                w, *u = _product(_conjugate(still), _turn(turned[one.a], turned[one.b]))
                angle = one.start + 2.0 * elementary.atan2(_dot(u, one.axis), w)
                turns = (self._last[k] - angle) / (2.0 * math.pi)
                self._last[k] = angle + 2.0 * math.pi * round(turns) if math.isfinite(turns) else angle
        return list(self._last)

    def rates(self, position: Array, orientation: Array, velocity: Array, spin: Array) -> list[float]:
        """(J,) rad/s or m/s; velocity and spin (B, 3), of the centres of mass, world axes."""
        at, turned = _rows(position, NOTHING), _rows(orientation, UPRIGHT)
        moving, turning = _rows(velocity, NOTHING), _rows(spin, NOTHING)
        found = []
        for one in self._joints:
            axis, spin_a, spin_b = _rotated(turned[one.a], one.axis), turning[one.a], turning[one.b]
            if not one.slides:
                found.append(_dot(spin_a, axis) - _dot(spin_b, axis))
                continue
            arm_a, arm_b = _rotated(turned[one.a], one.anchor_a), _rotated(turned[one.b], one.anchor_b)
            ahead = [x + p - y - q for x, p, y, q in zip(at[one.a], arm_a, at[one.b], arm_b)]
            parting = [
                v + p - w - q
                for v, p, w, q in zip(moving[one.a], _cross(spin_a, arm_a), moving[one.b], _cross(spin_b, arm_b))
            ]
            found.append(_dot(parting, axis) + _dot(ahead, _cross(spin_a, axis)))
        return found

    def wrenches(self, along: Sequence[float], position: Array, orientation: Array) -> tuple[Array, Array]:
        """Force (B, 3) and torque (B, 3) about the centres of mass, world axes, of what acts along the joints, (J,).

        A slider's force acts on both bodies along one line, through a's anchor.
        """
        at, turned = _rows(position, NOTHING), _rows(orientation, UPRIGHT)
        force, torque = np.zeros((self._bodies + 1, 3)), np.zeros((self._bodies + 1, 3))
        for one, size in zip(self._joints, along):
            acts = [size * x for x in _rotated(turned[one.a], one.axis)]
            if not one.slides:
                torque[one.a] += acts
                torque[one.b] -= acts
                continue
            arm_a = _rotated(turned[one.a], one.anchor_a)
            arm_b = [x + p - y for x, p, y in zip(at[one.a], arm_a, at[one.b])]
            force[one.a] += acts
            force[one.b] -= acts
            torque[one.a] += _cross(arm_a, acts)
            torque[one.b] -= _cross(arm_b, acts)
        return force[:-1], torque[:-1]


class _Axial:
    """A joint, by the rows of its bodies."""

    def __init__(self, joint: AxialJoint, a: int, b: int) -> None:
        self.a, self.b, self.start = a, b, joint.start
        self.slides = isinstance(joint, Slider)
        size = math.hypot(*joint.axis)
        self.axis = [x / size for x in joint.axis]  # in a's frame
        self.anchor_a, self.anchor_b = joint.anchor_a, joint.anchor_b

    def slid(self, at: Sequence[Vector], turned: Sequence[Vector]) -> float:
        arms = _rotated(turned[self.a], self.anchor_a), _rotated(turned[self.b], self.anchor_b)
        ahead = [x + p - y - q for x, p, y, q in zip(at[self.a], arms[0], at[self.b], arms[1])]
        return _dot(ahead, _rotated(turned[self.a], self.axis))


def _rows(of_bodies: Array, of_world: Vector) -> list[Vector]:
    return [*of_bodies.tolist(), of_world]


def _dot(u: Vector, v: Vector) -> float:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _cross(u: Vector, v: Vector) -> list[float]:
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def _conjugate(q: Vector) -> Vector:
    return q[0], -q[1], -q[2], -q[3]


def _turn(q_a: Vector, q_b: Vector) -> Vector:
    """Of a, seen from b."""
    return _product(_conjugate(q_b), q_a)


def _product(p: Vector, q: Vector) -> list[float]:
    (a, *u), (b, *v) = p, q
    return [a * b - _dot(u, v), *(a * y + b * x + z for x, y, z in zip(u, v, _cross(u, v)))]


def _rotated(q: Vector, v: Vector) -> list[float]:
    """q v q*"""
    w, *u = q
    inner = [c + w * x for c, x in zip(_cross(u, v), v)]
    return [x + 2.0 * c for x, c in zip(v, _cross(u, inner))]


# --- what acts ----------------------------------------------------------------------------------------


def target_of(motor: Motor, time: float) -> float:
    """Of two values at one time the later one holds from there on."""
    profile = motor.target
    k = bisect_right(profile, time, key=lambda row: row[0])
    if k in (0, len(profile)):
        return profile[max(k - 1, 0)][1]
    (since, value), (until, after) = profile[k - 1 : k + 1]
    return value + (after - value) * ((time - since) / (until - since))


def motor_force(motor: Motor, value: float, rate: float, time: float) -> float:
    """N m or N."""
    target = target_of(motor, time)
    if isinstance(motor, PositionMotor):
        force = motor.stiffness * (target - value) - motor.damping * rate
    else:
        force = target if isinstance(motor, ForceMotor) else motor.damping * (target - rate)
    return force if motor.most is None else min(max(force, -motor.most), motor.most)


def force_along(
    joint: AxialJoint, value: float, rate: float, time: float, elements: Collection[Element] = ELEMENTS
) -> float:
    """N m or N, of these elements of a joint."""
    found = 0.0
    if joint.spring is not None and "spring" in elements:
        found += joint.spring.stiffness * (joint.spring.rest - value)
    if "damping" in elements:
        found -= joint.damping * rate
    if joint.motor is not None and "motor" in elements:
        found += motor_force(joint.motor, value, rate, time)
    return found


def joint_energy(joints: Sequence[AxialJoint], value: Array) -> Any:
    """J, in the springs of joints that are at (..., J)."""
    total: Any = np.zeros(value.shape[:-1])
    for k, joint in enumerate(joints):
        if joint.spring is not None:
            stretch = value[..., k] - joint.spring.rest
            total = total + 0.5 * joint.spring.stiffness * stretch * stretch
    return total


Chosen = Callable[[AxialJoint], Collection[Element]]


def all_elements(joint: AxialJoint) -> Collection[Element]:
    return ELEMENTS


class JointWrenches:
    """Springs, damping and motors of joints as wrenches on bodies, for one run of a scene; of each those chosen.

    Time may go back, as where a step that went too far is made again: angles are counted on from before it.
    """

    def __init__(self, scene: SpatialScene, chosen: Chosen = all_elements) -> None:
        self.joints = tuple(joint for joint in driven_joints(scene) if has_any(joint, chosen(joint)))
        self._elements = [chosen(joint) for joint in self.joints]
        self.coordinates = AxialCoordinates(scene, self.joints)
        self._known: deque[tuple[float, list[float]]] = deque(maxlen=STAGES)

    def __call__(self, time: float, *state: Array) -> tuple[Array, Array]:
        """Force (B, 3) and torque (B, 3) at a state: position, orientation, velocity, spin."""
        if self._known and self._known[-1][0] >= time:
            while self._known and self._known[-1][0] >= time:
                self._known.pop()
            self.coordinates.restart(self._known[-1][1] if self._known else None)
        values, rates = self.coordinates.values(*state[:2]), self.coordinates.rates(*state)
        along = [
            force_along(joint, value, rate, time, elements)
            for joint, value, rate, elements in zip(self.joints, values, rates, self._elements)
        ]
        self._known.append((time, values))
        return self.coordinates.wrenches(along, *state[:2])


def has_any(joint: AxialJoint, elements: Collection[Element]) -> bool:
    return any(bool(getattr(joint, element)) for element in elements)


# --- work ---------------------------------------------------------------------------------------------


class JointWorks:
    """The work that motors have done, and damping and friction, from one state to the next.

    Between two states a step apart: by the rule of Simpson, the middle by cubic interpolation, where the velocities
    are those of the poses; else by the midpoint, at the mean rate. A motor's law is the scene's own, at each time.
    """

    def __init__(self, scene: SpatialScene, lag: float) -> None:
        self.joints = driven_joints(scene)
        self._coordinates, self._lagging = AxialCoordinates(scene, self.joints), lag != 0.0
        self._last: tuple[float, list[float], list[float]] | None = None

    def restart(self) -> None:
        self._coordinates.restart()
        self._last = None

    def until(self, time: float, *state: Array) -> tuple[float, float]:
        """J of motors, and of damping and friction, since the state before; 0 of the first."""
        values, rates = self._coordinates.values(*state[:2]), self._coordinates.rates(*state)
        last, self._last = self._last, (time, values, rates)
        if last is None or time <= last[0]:
            return 0.0, 0.0
        since, step = last[0], time - last[0]
        motors = losses = 0.0
        for joint, before, value, rate_before, rate in zip(self.joints, last[1], values, last[2], rates):
            middle, mean = 0.5 * (before + value), (value - before) / step
            if self._lagging:
                power = _powers(joint, middle, mean, since + 0.5 * step)
            else:
                ends = _powers(joint, before, rate_before, since), _powers(joint, value, rate, time)
                middle += 0.125 * step * (rate_before - rate)
                between = _powers(joint, middle, 1.5 * mean - 0.25 * (rate_before + rate), since + 0.5 * step)
                power = tuple((p + 4.0 * m + q) / 6.0 for p, m, q in zip(ends[0], between, ends[1]))
            motors, losses = motors + step * power[0], losses + step * power[1]
        return motors, losses


def _powers(joint: AxialJoint, value: float, rate: float, time: float) -> tuple[float, ...]:
    """W, of the motor, and of damping and friction."""
    given = 0.0 if joint.motor is None else motor_force(joint.motor, value, rate, time) * rate
    return given, -(joint.damping * rate * rate + joint.friction * abs(rate))
