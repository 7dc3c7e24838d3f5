"""What is simulated: solid bodies in space under gravity, what they are made of, what holds between two materials."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

import numpy as np
from scipy.spatial import QhullError

from reference_engine.array_types import Array
from reference_engine.elementary import power, squared
from reference_engine.errors import CompliantError, MechanismError
from reference_engine.geometry import mass_properties
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    check_thickness,
    spatial_shapes,
)
from reference_engine.multibody.joints import Coupling, Distance, check_axes

Vector = tuple[float, float, float]
INERTIA_TOLERANCE = 1e-12  # of moments of inertia
Shape = Sphere | Capsule | Box | Cylinder | Cone | Ellipsoid | ConvexMesh | HalfSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """An elastic solid."""

    young_modulus: float  # Pa
    poisson_ratio: float = 0.3

    def __post_init__(self) -> None:
        check("young_modulus", self.young_modulus, 0.0, math.inf, "Pa, above 0")
        check("poisson_ratio", self.poisson_ratio, -1.0, 0.5, "between -1 and 0.5")

    @property
    def plane_modulus(self) -> float:
        """E / (1 - nu^2) [Pa]."""
        return self.young_modulus / (1.0 - squared(self.poisson_ratio))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLaw:
    """Of two materials in contact.

    Friction and rolling resistance are regularised: below `v_small` and `w_small` they fade to 0 smoothly. An approach
    no faster than `v_small` counts as one with restitution 0.
    """

    restitution: float  # 0 to 1, nominal: see contacts.py
    sliding_friction: float = 0.0
    rolling_resistance: float = 0.0  # its torque is this times the contact radius times the normal force
    v_small: float = 0.01  # m/s
    w_small: float = 0.01  # rad/s

    def __post_init__(self) -> None:
        for name, most in (("restitution", 1.0), ("sliding_friction", 1e6), ("rolling_resistance", 1e6)):
            value = getattr(self, name)
            if not (is_number(value) and 0.0 <= value <= most):
                raise CompliantError(f"{name}: {value!r}; 0 to {most:g}")
        check("v_small", self.v_small, 0.0, math.inf, "m/s, above 0")
        check("w_small", self.w_small, 0.0, math.inf, "rad/s, above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """By name; and the laws by pairs of names, in either order."""

    materials: Mapping[str, Material]
    pairs: Mapping[tuple[str, str], PairLaw]
    laws: dict[frozenset[str], PairLaw] = field(init=False)

    def __post_init__(self) -> None:
        laws: dict[frozenset[str], PairLaw] = {}
        for (a, b), law in self.pairs.items():
            for name in (a, b):
                if name not in self.materials:
                    raise CompliantError(f"pairs: material {name!r} is not one of {sorted(self.materials)}")
            if laws.setdefault(frozenset((a, b)), law) != law:
                raise CompliantError(f"pairs: {a!r} with {b!r} has two laws; give one")
        object.__setattr__(self, "laws", laws)

    def material(self, name: str) -> Material:
        if name not in self.materials:
            raise CompliantError(f"material: {name!r} is not one of {sorted(self.materials)}")
        return self.materials[name]

    def law(self, a: str, b: str) -> PairLaw:
        law = self.laws.get(frozenset((a, b)))
        if law is None:
            known = ", ".join(" with ".join(sorted(pair) * (3 - len(pair))) for pair in self.laws) or "none"
            raise CompliantError(f"pairs: no law for {a!r} with {b!r}; there are: {known}")
        return law


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def are_numbers(values: Any, count: int | None = None) -> bool:
    """Whether they are so many finite numbers, in a row."""
    if np.ndim(values) != 1 or (count is not None and len(values) != count):
        return False
    return all(is_number(value) and math.isfinite(value) for value in values)


def check(name: str, value: float, low: float, high: float, allowed: str) -> None:
    """Strictly between the two."""
    if not (is_number(value) and low < value < high):
        raise CompliantError(f"{name}: {value!r}; {allowed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompliantBody:
    """One body, its centre of mass at the origin of its frame; world axes unless said.

    Without `inertia` (principal, about the body's axes) the density is even. `contact_radius` is the radius of
    curvature that Hertz's law is given; without it that of a sphere or capsule, the radius of a cylinder, a quarter of
    a cone's, the geometric mean of an ellipsoid's semi-axes; boxes, meshes and half-spaces are flat. A fixed body stays
    where it is. Raises CompliantError, naming what is wrong.
    """

    shape: Shape
    material: str
    position: Vector = (0.0, 0.0, 0.0)  # m
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # w x y z, body to world
    velocity: Vector = (0.0, 0.0, 0.0)  # m/s
    spin: Vector = (0.0, 0.0, 0.0)  # rad/s
    mass: float = 1.0  # kg
    inertia: Vector | None = None  # kg m^2
    contact_radius: float | None = None  # m
    fixed: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        def refuse(what: str) -> CompliantError:
            return CompliantError(f"body {self.name!r}: {what}")

        if not isinstance(self.shape, Shape):
            raise refuse(f"shape: {self.shape!r}; one of {', '.join(kind.__name__ for kind in Shape.__args__)}")
        if not isinstance(self.shape, HalfSpace | ConvexMesh):
            for each in fields(self.shape):
                size = getattr(self.shape, each.name)
                if not are_numbers(np.ravel(size).tolist()) or np.min(size) < 0.0:
                    raise refuse(f"shape: {each.name}: {size!r}; m, above 0")
        for name, length in (("position", 3), ("orientation", 4), ("velocity", 3), ("spin", 3)):
            value = getattr(self, name)
            if not are_numbers(value, length):
                raise refuse(f"{name}: {value!r}; {length} finite numbers")
        if not any(self.orientation):
            raise refuse("orientation: a quaternion of length 0; any other")
        if isinstance(self.shape, HalfSpace) and not self.fixed:
            raise refuse("a half-space has no mass; use fixed=True")
        if self.fixed and (any(self.velocity) or any(self.spin)):
            raise refuse("a fixed body has no velocity and no spin")
        if not (are_numbers([self.mass]) and self.mass > 0.0):
            raise refuse(f"mass: {self.mass!r} kg; above 0 and finite")
        if self.inertia is not None:
            if not are_numbers(self.inertia, 3) or min(self.inertia) <= 0.0:
                raise refuse(f"inertia: {self.inertia!r} kg m^2; three numbers above 0")
            if max(self.inertia) > (0.5 + INERTIA_TOLERANCE) * sum(self.inertia):
                raise refuse(f"inertia: {self.inertia!r} kg m^2; none above the sum of the two others")
        if self.contact_radius is not None and not (is_number(self.contact_radius) and self.contact_radius > 0.0):
            raise refuse(f"contact_radius: {self.contact_radius!r} m; above 0, inf for a flat one")
        try:
            check_thickness(spatial_shapes([self.shape], [True]))
        except ValueError as error:
            raise refuse(str(error)) from None
        except QhullError as error:  # of points in one plane: a page long
            raise refuse(f"shape: points without a hull of some volume ({str(error).splitlines()[0]})") from None

    def principal_inertia(self) -> Array:
        """(3,) kg m^2, about the body's axes."""
        if self.inertia is not None:
            return np.array(self.inertia, np.float64)
        moments = {
            Sphere: lambda s: mass_properties.sphere_mass(s.radius),
            Capsule: lambda s: mass_properties.capsule_mass(s.radius, s.half_length),
            Box: lambda s: mass_properties.box_mass(s.half_extents),
            Cylinder: lambda s: mass_properties.cylinder_mass(s.radius, s.half_length),
            Cone: lambda s: mass_properties.cone_mass(s.radius, s.height),
            Ellipsoid: lambda s: mass_properties.ellipsoid_mass(s.semi_axes),
            ConvexMesh: lambda s: mass_properties.convex_mesh_mass(s.points),
        }
        properties = moments[type(self.shape)](self.shape)
        bounding_radius = np.sqrt(np.trace(properties.second_moments))
        mixed = properties.second_moments - np.diag(np.diag(properties.second_moments))
        if np.abs(properties.centroid).max() > 1e-9 * bounding_radius or np.abs(mixed).max() > 1e-9 * squared(
            bounding_radius
        ):
            raise CompliantError(
                f"body {self.name!r}: not about its centroid in its principal axes; move the mesh, or give inertia"
            )
        xx, yy, zz = np.diag(properties.second_moments)
        return self.mass * np.array([yy + zz, xx + zz, xx + yy])

    def radius_of_contact(self) -> float:
        """m; infinite where it is flat."""
        if self.contact_radius is not None:
            return self.contact_radius
        match self.shape:
            case Sphere(r) | Capsule(r, _) | Cylinder(r, _):
                return float(r)
            case Cone(r, _):
                return float(r) / 4.0
            case Ellipsoid(axes):
                return float(power(np.prod(np.asarray(axes)), 1.0 / 3.0))
        return math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class CompliantWorld:
    """Bodies, what holds between their materials, joints, gravity.

    A joint couples two bodies, by their numbers, or with -1 one body to the world; its points and axes are in the
    frames of the bodies. Two bodies that a joint couples pass through one another. The start must have closed joints,
    and velocities that keep them closed.

    `most_damping` bounds the damping coefficient of a contact, which grows without limit as its approach gets slow.
    """

    bodies: tuple[CompliantBody, ...]
    materials: Materials
    joints: tuple[Coupling | Distance, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)  # m/s^2
    most_damping: float = 2000.0  # s/m

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", tuple(self.bodies))
        if not self.bodies:
            raise CompliantError("bodies: none; at least one")
        if not are_numbers(self.gravity, 3):
            raise CompliantError(f"gravity: {self.gravity!r}; three finite numbers, m/s^2")
        if not (are_numbers([self.most_damping]) and self.most_damping > 0.0):
            raise CompliantError(f"most_damping: {self.most_damping!r} s/m; above 0 and finite")
        for body in self.bodies:
            self.materials.material(body.material)
        object.__setattr__(self, "joints", tuple(self.joints))
        for k, joint in enumerate(self.joints):
            self._check_joint(f"joints[{k}]", joint)

    def _check_joint(self, path: str, joint: Coupling | Distance) -> None:
        if not isinstance(joint, Coupling | Distance):
            raise CompliantError(f"{path}: {joint!r}; a Coupling or a Distance")
        ends = joint.first, joint.second
        if max(ends) >= len(self.bodies):
            raise CompliantError(f"{path}: body {max(ends)}; -1, the world, to {len(self.bodies) - 1}")
        if all(i < 0 or self.bodies[i].fixed for i in ends):
            raise CompliantError(f"{path}: neither of bodies {ends[0]} and {ends[1]} can move; one must")
        if getattr(joint, "one_sided", False) or getattr(joint, "rope", False):
            raise CompliantError(f"{path}: one-sided; beside elastic contact joints hold from both sides")
        for name in ("first_point", "second_point", "axis", "turn_axis", "second_axis"):
            value = getattr(joint, name, None)
            if value is not None and len(value) != 3:
                raise CompliantError(f"{path}.{name}: {value.tolist()}; three numbers")
        if isinstance(joint, Coupling):
            try:
                check_axes(path, joint, planar=False)
            except MechanismError as error:
                raise CompliantError(str(error)) from None

    def body_name(self, index: int) -> str:
        return self.bodies[index].name or f"bodies[{index}]"
