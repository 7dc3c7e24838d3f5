"""What moves: rigid bodies, planar or spatial by the length of their positions."""

import math
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array
from reference_engine.dense import norm
from reference_engine.errors import MechanismError

GROUND = -1  # the link that is the world


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A rigid body. Its frame has the origin at the centre of mass and, in space, the principal axes.

    In the plane: position (2,) m, orientation an angle [rad], inertia one number, spin one number.
    In space: position (3,), orientation a quaternion w x y z of any length but zero, body to world, inertia (3,), spin
    (3,) in world axes. A link of inertia 0 is a point mass, which nothing turns and joints hold at its centre.
    """

    position: ArrayLike
    mass: float = 1.0  # kg
    inertia: ArrayLike = 0.0  # kg m^2 about the centre of mass
    orientation: ArrayLike | None = None  # [not turned]
    velocity: ArrayLike | None = None  # m/s [at rest]
    spin: ArrayLike | None = None  # rad/s [at rest]
    fixed: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        what = f"link {self.name!r}" if self.name else "link"
        position = vector(what, "position", self.position, (2, 3))
        planar = len(position) == 2
        set_ = object.__setattr__
        set_(self, "position", position)
        speed = np.zeros(len(position)) if self.velocity is None else self.velocity
        set_(self, "velocity", vector(what, "velocity", speed, (len(position),)))
        turned = (0.0 if planar else (1.0, 0.0, 0.0, 0.0)) if self.orientation is None else self.orientation
        turned = vector(what, "orientation", turned, (0,) if planar else (4,))
        if not planar:
            if not turned.any():
                raise MechanismError(f"{what}: orientation (0, 0, 0, 0) is no rotation; a quaternion w x y z")
            turned = turned / norm(turned)
        set_(self, "orientation", turned)
        spin = vector(
            what, "spin", (0.0 if planar else np.zeros(3)) if self.spin is None else self.spin, (0,) if planar else (3,)
        )
        set_(self, "spin", spin)
        inertia = np.asarray(self.inertia, np.float64)
        if not planar and inertia.ndim == 0:
            inertia = np.repeat(inertia, 3)
        inertia = vector(what, "inertia", inertia, (0,) if planar else (3,))
        set_(self, "inertia", inertia)
        if self.fixed:
            return
        if not (math.isfinite(self.mass) and self.mass > 0.0):
            raise MechanismError(f"{what}: mass {self.mass!r} kg is not positive and finite")
        if not ((inertia > 0.0).all() or (inertia == 0.0).all()):
            raise MechanismError(f"{what}: inertia {inertia.tolist()} kg m^2; positive, or 0 throughout for a point")
        if not planar and 2.0 * inertia.max() - inertia.sum() > 1e-9 * inertia.max():
            raise MechanismError(
                f"{what}: inertia {inertia.tolist()} kg m^2; none of three is more than the sum of the others"
            )
        if not inertia.any() and spin.any():
            raise MechanismError(f"{what}: spin {spin.tolist()} rad/s of a point mass (inertia 0); it has none")


def numbers(value: ArrayLike | None) -> Array:
    """(n,) of what a field holds, one number as one of a kind."""
    return np.atleast_1d(np.asarray(value, np.float64))


def check_ends(what: str, first: int, second: int) -> None:
    """Raises MechanismError where these are not the numbers of two links."""
    if not (isinstance(first, Integral) and isinstance(second, Integral)):
        raise MechanismError(f"{what}: links {first!r} and {second!r}; whole numbers, -1 being the world")
    if first == second or min(first, second) < GROUND:
        raise MechanismError(f"{what}: links {first} and {second}; it needs two, -1 being the world")


def vector(what: str, field: str, value: ArrayLike, lengths: tuple[int, ...]) -> Array:
    """An array of finite numbers whose length is one of these; 0 stands for one number. Raises MechanismError."""
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise MechanismError(f"{what}: {field} {value!r} is not made of numbers") from None
    found = 0 if array.ndim == 0 else len(array) if array.ndim == 1 else -1
    if found not in lengths:
        allowed = " or ".join("one number" if n == 0 else f"{n} numbers" for n in lengths)
        raise MechanismError(f"{what}: {field} {value!r} is of another shape; allowed: {allowed}")
    if not np.isfinite(array).all():
        raise MechanismError(f"{what}: {field} {value!r} is not finite")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """What joins two links. Points and axes are in the frame of the link that they are of; link -1 is the world."""

    first: int
    second: int
    first_point: ArrayLike | None = None  # m [the centre of mass]
    second_point: ArrayLike | None = None  # m [the centre of mass]
    name: str = ""

    def _checked(self, kind: str, *axes: str, lengths: tuple[int, ...] = (2, 3)) -> str:
        """What it is called, of its kind; its points and these axes are arrays from here on. Raises MechanismError."""
        what = f"{kind} {self.name!r}" if self.name else kind
        check_ends(what, self.first, self.second)
        for field in ("first_point", "second_point", *axes):
            if (value := getattr(self, field)) is not None:
                object.__setattr__(self, field, vector(what, field, value, lengths))
        return what
