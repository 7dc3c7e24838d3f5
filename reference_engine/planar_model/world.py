"""What is simulated: bodies, forces, what holds them together, restitution and friction."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array
from reference_engine.errors import WorldError
from reference_engine.planar_model.connectors import Connector, Joint
from reference_engine.planar_model.forces import Force
from reference_engine.planar_model.shape import (
    Bowl,
    Disc,
    HalfPlane,
    Outline,
    Polygon,
    Shape,
    centre_of_mass,
    check_shape,
    uniform_inertia,
)

SHAPES = (Polygon, Disc, HalfPlane, Outline, Bowl)
FRICTION_LIMIT = 1e6  # beyond it a contact is as good as glued


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """One rigid body. SI; the pose is that of the centre of mass; an angle is counter-clockwise.

    Without `inertia` the density is even. A fixed body has infinite mass and stays where it is.
    """

    shape: Shape | Outline | Bowl
    position: tuple[float, float] = (0.0, 0.0)  # m
    angle: float = 0.0  # rad
    velocity: tuple[float, float] = (0.0, 0.0)  # m/s
    spin: float = 0.0  # rad/s
    mass: float = 1.0  # kg
    inertia: float | None = None  # kg m^2, about the centre of mass
    fixed: bool = False
    group: int = 0  # bodies of the same group, other than 0, pass through one another
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.shape, SHAPES):
            raise WorldError(f"shape: {self.shape!r} is not a Polygon, Disc, HalfPlane, Outline or Bowl")
        check_shape(self.shape)
        numbers = (*self.position, self.angle, *self.velocity, self.spin)
        if not all(map(math.isfinite, numbers)):
            raise WorldError(f"body {self.name!r}: pose and twist must be finite, not {numbers}")
        if self.fixed:
            if any(self.velocity) or self.spin:
                raise WorldError(f"body {self.name!r}: a fixed body cannot have a velocity or spin")
            return
        if isinstance(self.shape, (HalfPlane, Bowl)):
            what = "half-plane" if isinstance(self.shape, HalfPlane) else "bowl"
            raise WorldError(f"body {self.name!r}: a {what} has no mass; use fixed=True")
        if not (math.isfinite(self.mass) and self.mass > 0.0):
            raise WorldError(f"body {self.name!r}: mass {self.mass!r} kg is not positive and finite; use fixed=True")
        if self.inertia is None:
            if isinstance(self.shape, Outline):
                raise WorldError(f"body {self.name!r}: the inertia of an outline must be given")
            object.__setattr__(self, "inertia", uniform_inertia(self.shape, self.mass))
        elif not (math.isfinite(self.inertia) and self.inertia > 0.0):
            raise WorldError(f"body {self.name!r}: inertia {self.inertia!r} kg m^2 is not positive and finite")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """Bodies, forces, restitution and friction.

    Damping is force -damping v - quadratic_damping |v| v and torque -rotational_damping omega; in the original k, 0 and
    0.15 k.
    `restitution` and `friction` are one number for every pair or a symmetric matrix (B, B). Coulomb: contacts that
    slide have `friction`, those that stick stay so up to `static_friction` (None: the same, else no less). The
    faithful mode has no friction.
    """

    bodies: tuple[Body, ...]
    gravity: tuple[float, float] = (0.0, -9.81)  # m/s^2
    damping: float = 0.0  # kg/s
    rotational_damping: float = 0.0  # kg m^2/s
    quadratic_damping: float = 0.0  # kg/m, the drag of air on the centre of mass
    restitution: ArrayLike = 0.8
    forces: tuple[Force, ...] = ()
    connectors: tuple[Connector, ...] = ()
    passing: tuple[tuple[int, int], ...] = ()  # pairs of bodies that pass through one another
    passing_edges: tuple[tuple[int, int, int, int], ...] = ()  # body, another, first and last of its edges: it passes
    friction: ArrayLike = 0.0
    static_friction: ArrayLike | None = None
    pair_restitution: Array = field(init=False)  # (B, B)
    pair_friction: Array = field(init=False)  # (B, B)
    pair_static_friction: Array = field(init=False)  # (B, B)

    def __post_init__(self) -> None:
        bodies = tuple(self.bodies)
        if not bodies:
            raise WorldError("bodies: a world needs at least one body")
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "forces", tuple(self.forces))
        object.__setattr__(self, "connectors", tuple(self.connectors))
        object.__setattr__(self, "passing", tuple((int(a), int(b)) for a, b in self.passing))
        for what, index in named_bodies(self):
            if not -1 <= index < len(bodies):
                raise WorldError(f"{what}: there is no body {index} among {len(bodies)}")
        if not all(map(math.isfinite, self.gravity)) or len(self.gravity) != 2:
            raise WorldError(f"gravity: {self.gravity!r} is not a finite vector of two components")
        for name in ("damping", "rotational_damping", "quadratic_damping"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise WorldError(f"{name}: {value!r} is not a finite number >= 0")
        count = len(bodies)
        object.__setattr__(self, "pair_restitution", pair_values("restitution", self.restitution, count, 1.0))
        object.__setattr__(self, "pair_friction", pair_values("friction", self.friction, count, FRICTION_LIMIT))
        static = self.pair_friction
        if self.static_friction is not None:
            static = pair_values("static_friction", self.static_friction, count, FRICTION_LIMIT)
            if (static < self.pair_friction).any():
                raise WorldError("static_friction: what sticks must hold at least as well as what slides (friction)")
        object.__setattr__(self, "pair_static_friction", static)

    def arm(self, body: int, point: tuple[float, float]) -> tuple[float, float]:
        """From the centre of mass of a body to a point in its frame [m]; the background's is the origin."""
        x, y = centre_of_mass(self.bodies[body].shape) if body >= 0 else (0.0, 0.0)
        return point[0] - x, point[1] - y

    def body_name(self, index: int) -> str:
        return self.bodies[index].name or f"bodies[{index}]"


def pair_values(name: str, given: ArrayLike, count: int, most: float) -> Array:
    """One number, or a symmetric matrix (B, B), as a matrix whose values lie in [0, most]."""
    if isinstance(given, float) and 0.0 <= given <= most:  # as nearly always
        values = np.full((count, count), given)
        values.setflags(write=False)
        return values
    values = np.asarray(given, dtype=np.float64)
    if values.shape not in ((), (count, count)):
        raise WorldError(f"{name}: shape {values.shape} is neither one number nor ({count}, {count})")
    values = np.array(np.broadcast_to(values, (count, count)))
    if not ((values >= 0.0) & (values <= most)).all():
        raise WorldError(f"{name}: every value must lie in [0, {most:g}]")
    if not (values == values.T).all():
        raise WorldError(f"{name}: the matrix must be symmetric: a pair has one value")
    values.setflags(write=False)
    return values


def passing_pairs(world: World) -> set[tuple[int, int]]:
    """Bodies i < j that pass through one another: as the world says, of one group, or joined."""
    groups = [body.group for body in world.bodies]
    pairs = set()
    if any(groups):
        pairs = {(i, j) for j in range(len(groups)) for i in range(j) if groups[i] and groups[i] == groups[j]}
    named = [*world.passing, *((c.first, c.second) for c in world.connectors if isinstance(c, Joint))]
    return pairs | {(min(pair), max(pair)) for pair in named if min(pair) >= 0}


def named_bodies(world: World) -> Iterator[tuple[str, int]]:
    """The bodies that forces, connectors and passing pairs name, each with what names it."""
    for force in world.forces:
        for name in ("body", "first", "second"):
            if hasattr(force, name):
                yield f"forces: {type(force).__name__}", getattr(force, name)
    for connector in world.connectors:
        yield from (("connectors", connector.first), ("connectors", connector.second))
    for pair in (*world.passing, *(row[:2] for row in world.passing_edges)):
        yield from (("passing", index) for index in pair)
