"""A motor: it moves a link against another as a function of time has it, along an axis or about one.

With d from the first's point to the second's, n fixed in the first, and s(t) the function,

    along    g = n . d - s                     g' = n . d' + (omega_A x n) . d - s'
    about    g = L u . w,  u = R(n, s) u_0     g' = L ((omega_B - omega_A) . (w x u) + s' (n x u) . w)

where u, w stand on n, u in the first and turned by s, w in the second and a quarter turn ahead of u at the start. L is
the mechanism's length, so that g is in metres.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.errors import MechanismError
from reference_engine.multibody.links import Connection
from reference_engine.rotation import tangents

Course = Callable[[float], tuple[float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive(Connection):
    """Moves the second link's point along `axis` of the first, or turns the second about it, by a function of time.

    `course(time)` gives displacement, rate and acceleration: m from the first's point to the second's along the axis,
    or with `turns` rad, of which those at the start are the angle that the links have there. It may be asked ahead of
    the time, and has two continuous derivatives. It holds one row; other joints hold the rest, such as a slider or a
    hinge. In the plane `turns` takes no axis. The mechanism's energy changes by the motor's work.
    """

    course: Course
    axis: ArrayLike | None = None  # in the first's frame, of any length
    turns: bool = False

    def __post_init__(self) -> None:
        what = self._checked("drive", "axis")
        if not callable(self.course):
            raise MechanismError(
                f"{what}: course {self.course!r}; a function of time: displacement, rate, acceleration"
            )
        if self.axis is None:
            if not self.turns:
                raise MechanismError(f"{what}: axis None; along which it moves")
            return
        length = float(norm(self.axis))
        if length < 1e-9:
            raise MechanismError(f"{what}: axis {np.asarray(self.axis).tolist()} has no direction")
        object.__setattr__(self, "axis", np.asarray(self.axis) / length)


@dataclass(frozen=True, slots=True)
class Driven:
    """A drive's row at one pose and time, world axes."""

    gap: float  # m
    rate: float  # m/s or rad/s, of the course
    acceleration: float
    n: Array  # (3,)
    arm_a: Array  # m; u of an angle
    arm_b: Array  # m; w of an angle
    d: Array  # m


class DriveRow:
    """One row. Points and axes are in the frames of what the rows take the links for."""

    def __init__(
        self, joint: Drive, a: int, b: int, axis: Array, point_a: Array, point_b: Array, rotation: Array, size: float
    ) -> None:
        """rotation (F + 1, 3, 3) at the start; size m, what an angle of 1 rad counts for."""
        self.a, self.b, self._axis, self._points = a, b, axis, (point_a, point_b)
        self._course, self._size, self._name = joint.course, size, joint.name
        self._turns = joint.turns
        self._u, _ = tangents(axis)
        ahead = np.cross(axis, self._turned(self._at(0.0)[0]))
        self._w = mul(mul(rotation[b].T, rotation[a]), ahead)

    def _at(self, time: float) -> tuple[float, float, float]:
        given = np.asarray(self._course(time), np.float64)
        if given.shape != (3,) or not np.isfinite(given).all():
            raise MechanismError(
                f"drive {self._name!r}: at t = {time:.9g} s its course gave {given.tolist()!r:.60}; "
                "displacement, rate and acceleration, all finite"
            )
        return float(given[0]), float(given[1]), float(given[2])

    def _turned(self, angle: float) -> Array:
        """u in the first's frame."""
        return elementary.cos(angle) * self._u + elementary.sin(angle) * np.cross(self._axis, self._u)

    def evaluate(self, position: Array, rotation: Array, time: float) -> Driven:
        s, rate, acceleration = self._at(time)
        A, B = rotation[self.a], rotation[self.b]
        n = mul(A, self._axis)
        if self._turns:
            u, w = mul(A, self._turned(s)), mul(B, self._w)
            return Driven(self._size * float(mul(u, w)), rate, acceleration, n, u, w, np.zeros(3))
        arm_a, arm_b = mul(A, self._points[0]), mul(B, self._points[1])
        d = position[self.b] + arm_b - position[self.a] - arm_a
        return Driven(float(mul(n, d)) - s, rate, acceleration, n, arm_a, arm_b, d)

    def jacobian(self, at: Driven) -> tuple[Array, Array]:
        """(6,) of the first and of the second link."""
        if self._turns:
            turn = self._size * np.cross(at.arm_b, at.arm_a)
            return np.concatenate([np.zeros(3), -turn]), np.concatenate([np.zeros(3), turn])
        of_a, of_b = np.cross(at.arm_a + at.d, at.n), np.cross(at.arm_b, at.n)
        return np.concatenate([-at.n, -of_a]), np.concatenate([at.n, of_b])

    def drift(self, at: Driven) -> float:
        """g' at rest."""
        if self._turns:
            return self._size * at.rate * float(mul(np.cross(at.n, at.arm_a), at.arm_b))
        return -at.rate

    def bias(self, at: Driven, velocity: Array, spin: Array) -> float:
        """g'' without accelerations of links."""
        of_a, of_b = spin[self.a], spin[self.b]
        if self._turns:
            u, w = at.arm_a, at.arm_b
            whole = of_a + at.rate * at.n
            own = at.acceleration * at.n + at.rate * np.cross(of_a, at.n)
            u_rate, w_rate = np.cross(whole, u), np.cross(of_b, w)
            u_second = np.cross(own, u) + np.cross(whole, u_rate)
            return self._size * float(mul(u_second, w) + mul(2.0 * u_rate, w_rate) + mul(u, np.cross(of_b, w_rate)))
        whirl_a, whirl_b = np.cross(of_a, at.arm_a), np.cross(of_b, at.arm_b)
        d_rate = velocity[self.b] + whirl_b - velocity[self.a] - whirl_a
        n_rate = np.cross(of_a, at.n)
        inward = np.cross(of_b, whirl_b) - np.cross(of_a, whirl_a)
        return (
            float(mul(at.n, inward) + mul(2.0 * n_rate, d_rate) + mul(np.cross(of_a, n_rate), at.d)) - at.acceleration
        )
