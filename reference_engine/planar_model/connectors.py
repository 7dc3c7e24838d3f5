"""What holds bodies together: joints (bilateral), ropes, rods and paths.

Body -1 is the fixed background, whose frame is the world's.
"""

import math
from dataclasses import dataclass

from reference_engine.errors import WorldError
from reference_engine.planar_model.path import Path

BACKGROUND = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Keeps two points at one place along a normal; two joints with crossed normals are a pin.

    The normal turns with the second body, or stays as it is in the world.
    """

    first: int
    second: int
    first_point: tuple[float, float]  # m, body frame of the first
    second_point: tuple[float, float]  # m, body frame of the second
    normal: tuple[float, float]  # unit
    normal_turns: bool = True  # with the second body

    def __post_init__(self) -> None:
        if abs(math.hypot(*self.normal) - 1.0) > 1e-9:
            raise WorldError(f"joint: normal {self.normal!r} is not of unit length")
        check_ends("joint", self.first, self.second, (*self.first_point, *self.second_point))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """Keeps two points no further apart than its length; with `rod`, neither further nor nearer."""

    first: int
    second: int
    first_point: tuple[float, float]  # m, body frame of the first
    second_point: tuple[float, float]  # m, body frame of the second
    length: float  # m
    rod: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.length) and self.length > 0.0):
            raise WorldError(f"rope: length {self.length!r} m is not positive and finite")
        check_ends("rope", self.first, self.second, (*self.first_point, *self.second_point))


@dataclass(frozen=True, slots=True, kw_only=True)
class PathJoint:
    """Keeps a point of a body on a path of the background, to which it can push and pull."""

    body: int
    point: tuple[float, float]  # m, body frame
    path: Path
    first = property(lambda self: self.body)
    second = property(lambda self: BACKGROUND)

    def __post_init__(self) -> None:
        check_ends("path joint", self.body, BACKGROUND, self.point)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathEnd:
    """Stops a point of a body at `limit` along a path that it is held on: it comes no further, or with `lower` back."""

    body: int
    point: tuple[float, float]  # m, body frame
    path: Path
    limit: float  # m, along the path
    lower: bool = False
    first = property(lambda self: self.body)
    second = property(lambda self: BACKGROUND)

    def __post_init__(self) -> None:
        check_ends("path end", self.body, BACKGROUND, (*self.point, self.limit))


Connector = Joint | Rope | PathJoint | PathEnd


def check_ends(what: str, first: int, second: int, numbers: tuple[float, ...]) -> None:
    if first == second:
        raise WorldError(f"{what}: both ends are on body {first}; they must be on two")
    if min(first, second) < BACKGROUND:
        raise WorldError(f"{what}: bodies {first} and {second}; a body is an index, or -1 for the background")
    if not all(math.isfinite(x) for x in numbers):
        raise WorldError(f"{what}: its points must be finite, not {numbers}")
