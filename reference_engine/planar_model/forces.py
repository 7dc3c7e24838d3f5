"""Forces besides gravity and damping.

A Python callable (time, pose (B, 3), twist (B, 3)) -> (B, 3) of force [N] and torque [N m] is a force too; time [s],
poses [m, m, rad] and twists [m/s, m/s, rad/s] are copies. It is called at every evaluation of the right-hand side, also
ahead of the time that a step then accepts, so it may depend on nothing but its arguments.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reference_engine.array_types import Array
from reference_engine.errors import WorldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Attraction:
    """Between every two free bodies: strength m1 m2 / r^2."""

    strength: float  # N m^2 / kg^2

    def __post_init__(self) -> None:
        check_finite("attraction", self.strength)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantForce:
    """Force and torque on one body at a point of it, in world axes or turning with the body."""

    body: int
    point: tuple[float, float] = (0.0, 0.0)  # m, body frame
    force: tuple[float, float] = (0.0, 0.0)  # N
    torque: float = 0.0  # N m
    turns: bool = True  # with the body

    def __post_init__(self) -> None:
        check_finite("constant force", *self.point, *self.force, self.torque)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spring:
    """Between points of two bodies (-1: the background): stiffness times stretch, and a damping along it.

    With `pulls_only`, a rubber band: it does nothing while it is shorter than its length. A point of the background
    may move, at a constant velocity from time 0, or along a path: linearly from one (time [s], point [m]) to the next.
    A spring with a path acts from its first time to before its last.
    """

    first: int
    second: int
    first_point: tuple[float, float]  # m, body frame
    second_point: tuple[float, float]  # m, body frame
    length: float  # m, at rest
    stiffness: float  # N/m
    damping: float = 0.0  # kg/s, along the spring
    pulls_only: bool = False
    first_velocity: tuple[float, float] = (0.0, 0.0)  # m/s, if the first body is the background
    first_path: tuple[tuple[float, tuple[float, float]], ...] = ()  # likewise

    def __post_init__(self) -> None:
        check_finite("spring", *self.first_point, *self.second_point, self.length, self.stiffness, self.damping)
        if self.first == self.second or min(self.first, self.second) < -1:
            raise WorldError(f"spring: bodies {self.first} and {self.second}; it needs two, -1 being the background")
        check_finite("spring", *self.first_velocity)
        if self.first >= 0 and any(self.first_velocity):
            raise WorldError(f"spring: first_velocity is for a point of the background, not of body {self.first}")
        if not self.first_path:
            return
        times = [time for time, _ in self.first_path]
        check_finite("spring", *times, *(c for _, point in self.first_path for c in point))
        if self.first >= 0 or any(self.first_velocity):
            raise WorldError("spring: first_path is for a point of the background, and without first_velocity")
        if len(times) < 2 or any(b <= a for a, b in pairwise(times)):
            raise WorldError(f"spring: times {times} of first_path must be two or more, each after the one before")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thruster:
    """A force that turns with its body, times a factor that is a function of time.

    The factor is linear between the points (time [s], factor) of the profile, constant before and after them.
    With a `turn_rate` the force also turns in the frame of its body; at time 0 it is as stated. Without `turns` its
    axes are those of the world.
    """

    body: int
    point: tuple[float, float]  # m, body frame
    force: tuple[float, float]  # N, body frame
    profile: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    turn_rate: float = 0.0  # rad/s
    turns: bool = True  # with the body

    def __post_init__(self) -> None:
        numbers = (x for point in self.profile for x in point)
        check_finite("thruster", *self.point, *self.force, self.turn_rate, *numbers)
        times = [time for time, _ in self.profile]
        if not times or times != sorted(times):
            raise WorldError(f"thruster: times {times} of the profile must be there and in ascending order")

    def factor(self, time: float) -> float:
        times, factors = zip(*self.profile)
        return float(np.interp(time, times, factors))


ForceFunction = Callable[[float, Array, Array], Array]
Force = Attraction | ConstantForce | Spring | Thruster | ForceFunction


def check_finite(what: str, *numbers: float) -> None:
    if not all(math.isfinite(x) for x in numbers):
        raise WorldError(f"{what}: every number must be finite, not {numbers}")
