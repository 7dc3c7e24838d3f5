"""A thread wound on a drum, in the plane: yo-yos, spools, pulleys that turn.

With D from the drum's centre to the thread's far end, l = sqrt(D^2 - r^2) the free length, e along it and m from the
centre to where it leaves the drum, D = r m + l e, and sigma = m x e (1 where turning counter-clockwise pays out):

    e = (l D + sigma r z x D) / D^2,   m = (r D - sigma l z x D) / D^2
    g = L - l - sigma r (angle of m - angle of the drum)
    g' = -e . D' + sigma r omega,   D'' aside   g'' = ... - (m . D')^2 / l

The thread does not slip on the drum, so that it goes along e as the drum's rim does there.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul
from reference_engine.elementary import squared
from reference_engine.errors import JointError, MechanismError
from reference_engine.multibody.links import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Winding(Connection):
    """A massless thread from a point of the first link to a drum on the second, that winds on and off, in the plane.

    It is straight and taut from the start on and never goes slack: whether it would have to push is not asked, and
    known by its reaction, the tension [N]. Two on one drum are a rope over a pulley that does not let it slip.
    """

    radius: float  # m, of the drum, whose centre is second_point
    pays_out: int  # 1: turning the drum counter-clockwise pays out; -1: clockwise

    def __post_init__(self) -> None:
        what = self._checked("winding", lengths=(2,))
        if not (math.isfinite(self.radius) and self.radius > 0.0):
            raise MechanismError(f"{what}: radius {self.radius!r} m is not positive and finite")
        if self.pays_out not in (1, -1):
            raise MechanismError(f"{what}: pays_out {self.pays_out!r}; 1 or -1")


@dataclass(frozen=True, slots=True)
class Wound:
    """Its row at one pose."""

    gap: float  # m, the length that is too much
    e: Array  # (3,)
    m: Array  # (3,)
    free: float  # m
    arm_a: Array  # m, to its end
    arm_b: Array  # m, to the drum's centre


class WindingRow:
    """One row. Points are in the frames of what the rows take the links for."""

    def __init__(
        self, joint: Winding, a: int, b: int, point_a: Array, point_b: Array, position: Array, rotation: Array
    ) -> None:
        """position (F + 1, 3), rotation (F + 1, 3, 3) at the start, the world last."""
        self.a, self.b, self._points = a, b, (point_a, point_b)
        self._radius, self._sign, self._name = joint.radius, float(joint.pays_out), joint.name
        self._length = 0.0
        self._length = -self.evaluate(position, rotation, 0.0).gap

    def evaluate(self, position: Array, rotation: Array, time: float) -> Wound:
        """Raises JointError where the end is at the drum."""
        arm_a, arm_b = mul(rotation[self.a], self._points[0]), mul(rotation[self.b], self._points[1])
        D = position[self.a] + arm_a - position[self.b] - arm_b
        square, r, sign = float(mul(D, D)), self._radius, self._sign
        if square <= r * r:
            raise JointError(
                f"t = {time:.9g} s: the end of winding {self._name!r} is {math.sqrt(square):.6g} m from the centre of "
                f"its drum of {r:g} m"
            )
        free, across = math.sqrt(square - r * r), np.array([-D[1], D[0], 0.0])
        e, m = (free * D + sign * r * across) / square, (r * D - sign * free * across) / square
        R = rotation[self.b]
        turned = elementary.atan2(m[1], m[0]) - elementary.atan2(R[1, 0], R[0, 0])
        gap = self._length - free - sign * r * turned
        turn = 2.0 * math.pi * r
        gap -= turn * round(gap / turn)  # angles are known but for turns, and the gap is small
        return Wound(gap, e, m, free, arm_a, arm_b)

    def jacobian(self, at: Wound) -> tuple[Array, Array]:
        """(6,) of the first and of the second link."""
        on_rim = at.arm_b + self._radius * at.m
        return np.concatenate([-at.e, -np.cross(at.arm_a, at.e)]), np.concatenate([at.e, np.cross(on_rim, at.e)])

    def drift(self, at: Wound) -> float:
        return 0.0

    def bias(self, at: Wound, velocity: Array, spin: Array) -> float:
        """g'' without accelerations of links."""
        of_a, of_b = spin[self.a], spin[self.b]
        whirl_a, whirl_b = np.cross(of_a, at.arm_a), np.cross(of_b, at.arm_b)
        rate = velocity[self.a] + whirl_a - velocity[self.b] - whirl_b
        inward = np.cross(of_a, whirl_a) - np.cross(of_b, whirl_b)
        return -float(mul(at.e, inward)) - squared(float(mul(at.m, rate))) / at.free
