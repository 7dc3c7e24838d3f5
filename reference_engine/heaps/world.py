"""Ellipsoids, planes and hollow spheres: what is simulated, checked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.elementary import squared
from reference_engine.errors import SpatialWorldError, UnresolvedStepError
from reference_engine.geometry import ellipsoid_proximity as ellipsoids
from reference_engine.geometry.ellipsoid_containers import MOST_POINTS
from reference_engine.geometry.proximities import Proximities
from reference_engine.heaps.layout import HALF_SPACE, SPHERE_INTERIOR

MISS = 0.2  # of the gap tolerance, by which a gap may end a step off its aim: so that none is below 0
FLOOR = 0.4  # of the gap tolerance: gaps below it are opened again
MOST_HALVINGS = 12  # of a step

Force = Callable[[float, Array, Array, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Solid on the side away from `normal`, (3,) of any length, through `point`, (3,) m."""

    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)
    radius: ClassVar[float] = 0.0
    kind: ClassVar[int] = HALF_SPACE
    rows: ClassVar[int] = 1  # points at most at which a body touches it

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "normal", ellipsoids.direction("HalfSpace.normal", self.normal))
        except ValueError as error:
            raise SpatialWorldError(str(error)) from None
        object.__setattr__(self, "point", vector("HalfSpace.point", self.point))

    def proximities(self, semi_axes: Array, position: Array, orientation: Array) -> Proximities:
        return ellipsoids.half_space_proximities(semi_axes, position, orientation, point=self.point, normal=self.normal)


@dataclass(frozen=True, eq=False)
class SphereInterior:
    """Solid outside a sphere: radius m, centre (3,) m."""

    radius: float
    centre: ArrayLike = (0.0, 0.0, 0.0)
    normal: ClassVar[ArrayLike] = (0.0, 0.0, 0.0)
    kind: ClassVar[int] = SPHERE_INTERIOR
    rows: ClassVar[int] = MOST_POINTS
    point = property(lambda self: self.centre)

    def __post_init__(self) -> None:
        if not 0.0 < scalar("SphereInterior.radius", self.radius) <= ellipsoids.MOST_AXIS:
            raise SpatialWorldError(f"SphereInterior.radius: {self.radius} m; positive, at most {ellipsoids.MOST_AXIS}")
        object.__setattr__(self, "radius", float(self.radius))
        object.__setattr__(self, "centre", vector("SphereInterior.centre", self.centre))

    def proximities(self, semi_axes: Array, position: Array, orientation: Array) -> Proximities:
        return ellipsoids.sphere_interior_proximities(
            semi_axes, position, orientation, radius=self.radius, centre=self.centre
        ).near


class EllipsoidWorld:
    """B ellipsoids among themselves and with containers. SI, world axes, arrays that are not changed afterwards."""

    def __init__(
        self,
        semi_axes: ArrayLike,
        position: ArrayLike,
        *,
        orientation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        spin: ArrayLike | None = None,
        mass: ArrayLike = 1.0,
        inertia: ArrayLike | None = None,
        fixed: ArrayLike = False,
        containers: tuple[HalfSpace | SphereInterior, ...] = (),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        friction: ArrayLike = 0.0,
        restitution: ArrayLike = 0.0,
        material: ArrayLike | None = None,
        force: Force | None = None,
    ) -> None:
        """semi_axes, position (B, 3) m; orientation (B, 4) w x y z, body to world, of any length but zero [upright];
        velocity (B, 3) m/s [0] and spin (B, 3) rad/s [0]; mass (B,) kg; inertia (B, 3) kg m^2, principal, about the
        body axes [uniform density]; fixed (B,).

        friction, restitution: of all pairs, or (G, G) by `material` (B + containers,), numbers 0 ... G - 1.
        force(t, position, orientation, twist) gives (B, 6) N, N m beside gravity, at the start and end of steps.

        Raises SpatialWorldError, naming what is wrong.
        """
        try:
            given_position = ellipsoids.numbers("position", position)
            count = len(np.atleast_1d(given_position))
            if count == 0:
                raise SpatialWorldError("position: no bodies; at least one")
            upright = np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))
            given = upright if orientation is None else ellipsoids.numbers("orientation", orientation)
            axes, _ = ellipsoids.placed(semi_axes, given_position, given)
        except ValueError as error:
            raise SpatialWorldError(str(error)) from None
        self.semi_axes, self.position = axes.copy(), given_position.copy()
        self.orientation = np.ascontiguousarray(given / np.linalg.norm(given, axis=1, keepdims=True))
        self.velocity = table("velocity", np.zeros((count, 3)) if velocity is None else velocity, (count, 3))
        self.spin = table("spin", np.zeros((count, 3)) if spin is None else spin, (count, 3))
        if np.asarray(fixed).dtype != bool or np.shape(fixed) not in ((), (count,)):
            raise SpatialWorldError(f"fixed: {fixed!r:.60}; True or False, or ({count},) of them")
        self.fixed = np.broadcast_to(np.asarray(fixed), (count,)).copy()
        self.mass = table("mass", mass, (count,))
        a, b, c = squared(self.semi_axes.T)
        uniform = 0.2 * self.mass[:, None] * np.stack([b + c, a + c, a + b], axis=1)
        self.inertia = table("inertia", uniform if inertia is None else inertia, (count, 3))
        for name, value in (("mass", self.mass), ("inertia", self.inertia)):
            wrong = np.argwhere(~(value > 0.0))
            if wrong.size:
                raise SpatialWorldError(f"{name}[{wrong[0][0]}]: {value[tuple(wrong[0])]}; positive")
        most = 2.0 * self.inertia.max(axis=1) - self.inertia.sum(axis=1)
        if (more := np.flatnonzero(most > 1e-9 * self.inertia.max(axis=1))).size:
            k = more[0]
            raise SpatialWorldError(
                f"inertia[{k}]: {self.inertia[k].tolist()}; none of three is more than the sum of the others"
            )
        for name, value in (("velocity", self.velocity), ("spin", self.spin)):
            if (moving := np.flatnonzero(self.fixed & value.any(axis=1))).size:
                raise SpatialWorldError(f"{name}[{moving[0]}]: {value[moving[0]].tolist()} of a fixed body; 0")
        if not isinstance(containers, tuple | list) or not all(
            isinstance(c, HalfSpace | SphereInterior) for c in containers
        ):
            raise SpatialWorldError(f"containers: {containers!r:.80}; a tuple of HalfSpace and SphereInterior")
        self.containers = tuple(containers)
        self.gravity = vector("gravity", gravity)
        members = count + len(self.containers)
        if material is not None and np.asarray(material).dtype.kind not in "iu":
            raise SpatialWorldError(f"material: {material!r:.60}; whole numbers")
        self.material = np.zeros(members, np.int64) if material is None else np.array(material, np.int64)
        self.friction, self.restitution = square("friction", friction), square("restitution", restitution)
        groups = max(len(self.friction), len(self.restitution))
        if self.material.shape != (members,) or self.material.min() < 0 or self.material.max() >= groups:
            raise SpatialWorldError(
                f"material: shape {self.material.shape}, numbers to {self.material.max(initial=0)}; "
                f"({members},) for bodies and containers, 0 to {groups - 1}"
            )
        if (self.restitution > 1.0).any():
            raise SpatialWorldError(f"restitution: {self.restitution.max()}; 0 to 1")
        self.friction, self.restitution = (
            np.broadcast_to(x, (groups, groups)) if len(x) == 1 else x for x in (self.friction, self.restitution)
        )
        if len(self.friction) != len(self.restitution):
            raise SpatialWorldError(f"friction, restitution: {len(self.friction)} and {groups} materials; one number")
        if force is not None and not callable(force):
            raise SpatialWorldError(f"force: {force!r:.60}; a function or None")
        self.force = force

    def applied_loads(self, time: float, position: Array, orientation: Array, twist: Array) -> Array | None:
        """(B, 6) N, N m of `force`, if there is one."""
        if self.force is None:
            return None
        loads = np.asarray(self.force(time, position, orientation, twist), np.float64)
        if loads.shape != twist.shape or not np.isfinite(loads).all():
            raise SpatialWorldError(f"force: shape {loads.shape} at t = {time:.6g} s; ({len(twist)}, 6), finite")
        return loads

    def coefficients_of(self, pairs: Indices) -> Array:
        """(P, 2) friction and restitution of pairs of bodies."""
        a, b = self.material[pairs[:, 0]], self.material[pairs[:, 1]]
        return np.stack([self.friction[a, b], self.restitution[a, b]], axis=1)

    def coefficients_with(self, container: int) -> Array:
        """(B, 2) friction and restitution of every body with a container."""
        bodies = len(self.position)
        a, b = self.material[:bodies], self.material[bodies + container]
        return np.stack([self.friction[a, b], self.restitution[a, b]], axis=1)


class TurnedTooFarError(UnresolvedStepError):
    """Of a step in which a body turns by more than can be followed."""


class HalvedSteps:
    """A world in motion, by steps of dt or of halves of it: what its two steppers share."""

    def __init__(self, world: EllipsoidWorld, dt: float, gap_tolerance: float | None) -> None:
        if not 0.0 < scalar("dt", dt) < np.inf:
            raise SpatialWorldError(f"dt: {dt} s; positive and finite")
        self.world, self.dt, self.time = world, float(dt), 0.0
        self.gap_tolerance = 1e-4 * float(world.semi_axes.min()) if gap_tolerance is None else float(gap_tolerance)

    def _check_start(self, body: Indices, gap: Array) -> None:
        """Raises SpatialWorldError where bodies (N, 2) overlap by more than the gap tolerance."""
        if len(gap) and gap.min() < -self.gap_tolerance:
            deep = int(np.argmin(gap))
            a, b = body[deep]
            other = "a container" if b >= len(self.world.position) else f"body {b}"
            raise SpatialWorldError(
                f"position: body {a} and {other} overlap by {-gap[deep]:.3g} m at the start; "
                f"at most {self.gap_tolerance:.3g} m"
            )

    def _take(self, h: float) -> None:
        """On by h, or nothing happens but an UnresolvedStepError."""
        raise NotImplementedError

    def _longest(self) -> float:
        """s: of a step whose turns can be followed."""
        return np.inf

    def _advance(self, h: float, halvings: int = MOST_HALVINGS) -> None:
        """On by h, in halves where that is too long, and in halves of these, halved so often at most, where a step
        does not come to within its tolerances."""
        if h <= self._longest():
            try:
                self._take(h)
                return
            except TurnedTooFarError:
                pass  # in shorter steps bodies turn less: that ends, however often it is
            except UnresolvedStepError:
                if not halvings:
                    raise
                halvings -= 1
        self._advance(0.5 * h, halvings)
        self._advance(0.5 * h, halvings)


def vector(name: str, given: ArrayLike) -> Array:
    return table(name, given, (3,))


def table(name: str, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    x = array(name, given)
    if x.ndim == 0 and len(shape) == 1 and name == "mass":
        x = np.full(shape, float(x))
    if x.shape != shape:
        raise SpatialWorldError(f"{name}: shape {x.shape}; {shape}")
    if not np.isfinite(x).all():
        raise SpatialWorldError(f"{name}: {x[~np.isfinite(x)][0]}; finite numbers")
    return np.array(x, order="C")


def array(name: str, given: ArrayLike) -> Array:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise SpatialWorldError(f"{name}: {given!r:.60}; numbers") from None


def scalar(name: str, given: float) -> float:
    try:
        return ellipsoids.number(name, given)
    except ValueError as error:
        raise SpatialWorldError(str(error)) from None


def square(name: str, given: ArrayLike) -> Array:
    x = np.array(np.atleast_2d(array(name, given)))
    if x.ndim != 2 or x.shape[0] != x.shape[1] or not (np.isfinite(x) & (x >= 0.0)).all() or (x != x.T).any():
        raise SpatialWorldError(
            f"{name}: {np.asarray(given).tolist()!r:.60}; a number or a symmetric table, at least 0"
        )
    return x


@dataclass(frozen=True, kw_only=True)
class SpatialSettings:
    """Tolerances are kept or the step fails; None: of the bodies' size and the step."""

    order: int = 2
    """Of the method between events: 2, two solves a step; 1, one solve, as in Oltman & Hur 2017."""
    edges: int = 0
    """Of the friction pyramid, 2 l, even and at least 4; 0: Coulomb's cone."""
    gap_tolerance: float | None = None
    """m: no gap ends a step below 0, none of a pressing contact above twice this; 1e-4 of the shortest semi-axis."""
    speed_tolerance: float | None = None
    """m/s by which contacts may miss Coulomb's law; what moves a body by a fiftieth of gap_tolerance in a step."""
    most_sweeps: int = 5000
    """Of Gauss-Seidel before the solver for large heaps takes over."""
    most_repeats: int = 30
    """Of the linearisation of the gaps in one step."""
    skin: float | None = None
    """m around bodies for which candidate pairs stay listed, at least what counts as near; 0.4 of the mean shortest
    semi-axis."""
    bounce_speed: float | None = None
    """m/s of approach below which nothing bounces; what gravity gives in two steps."""

    located: bool = False
    """Impacts are found at their own time, inside steps: for few bodies, as each costs some ten steps."""

    def __post_init__(self) -> None:
        for name in ("order", "edges", "most_sweeps", "most_repeats"):
            if type(getattr(self, name)) is not int:
                raise SpatialWorldError(f"{name}: {getattr(self, name)!r:.60}; a whole number")
        if type(self.located) is not bool:
            raise SpatialWorldError(f"located: {self.located!r:.60}; True or False")
        if self.order not in (1, 2):
            raise SpatialWorldError(f"order: {self.order}; 1 or 2")
        if self.edges and (self.edges < 4 or self.edges % 2):
            raise SpatialWorldError(f"edges: {self.edges}; 0, or an even number from 4 on")
        for name in ("gap_tolerance", "speed_tolerance", "skin", "bounce_speed"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, float | int | np.floating):
                raise SpatialWorldError(f"{name}: {value!r:.60}; a number")
            if value is not None and not 0.0 < value < np.inf and not (name == "bounce_speed" and value == 0.0):
                raise SpatialWorldError(f"{name}: {value}; positive and finite")
        for name in ("most_sweeps", "most_repeats"):
            if getattr(self, name) < 1:
                raise SpatialWorldError(f"{name}: {getattr(self, name)}; at least 1")
