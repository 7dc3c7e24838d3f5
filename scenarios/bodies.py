"""Bodies: a shape with its mass properties, surface, pose and twist; fixed or free.

The origin of the body frame is the centre of mass. A shape whose centroid is elsewhere needs its inertia stated: an
offset centre of mass is never an accident.
"""

import math
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from reference_engine.dense import norm
from scenarios import fields, mass
from scenarios.shapes import PlanarShape, SpatialShape

CENTROID_TOLERANCE = 1e-9  # of the shape's size


class AnyBody(fields.Data):
    name: fields.Name
    fixed: bool = False
    mass: fields.Positive | None = None
    friction: fields.Friction = 0.0
    restitution: fields.Restitution = 0.0
    group: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)] = 0
    """Bodies of the same group, other than 0, pass through one another."""
    material: Annotated[fields.Name | None, Field(exclude_if=fields.not_stated)] = None
    """Of `contact.compliant`, where contact is compliant; friction and restitution are then the material's."""
    contact_radius: Annotated[fields.Size | None, Field(exclude_if=fields.not_stated)] = None
    """m, that its contact stiffness is worked out with, in place of the shape's own; two flat bodies need one."""

    @model_validator(mode="after")
    def _is_free_or_fixed(self) -> Self:
        if self.fixed:
            for field in ("mass", "inertia"):
                if getattr(self, field) is not None:
                    raise ValueError(f"{field}: {getattr(self, field)} given for a fixed body; leave it out")
            for field in ("velocity", "spin"):
                if np.any(getattr(self, field)):
                    raise ValueError(f"{field}: {getattr(self, field)} given for a fixed body; allowed: 0")
        elif self.mass is None:
            raise ValueError("mass: missing; give a positive mass in kg, or fixed=true for an immovable body")
        return self


def _check_centroid(centroid: NDArray[np.float64], size: float) -> None:
    if norm(centroid) > CENTROID_TOLERANCE * size:
        raise ValueError(
            f"shape: its centroid lies at {tuple(float(c) for c in np.round(centroid, 12))}, not at the "
            "origin of the body frame; centre the shape, or give the inertia about the origin, which is "
            "the centre of mass"
        )


class PlanarBody(AnyBody):
    shape: PlanarShape
    inertia: fields.Positive | None = None
    """kg m^2 about the centre of mass; of uniform density where it is left out."""
    position: fields.Point2 = (0.0, 0.0)
    angle: fields.Number = 0.0
    velocity: fields.Rate2 = (0.0, 0.0)
    spin: fields.Rate = 0.0

    @model_validator(mode="after")
    def _has_inertia(self) -> Self:
        if not self.fixed and self.inertia is None:
            _check_centroid(mass.planar_mass(self.shape).centroid, mass.bounding_radius(self.shape))
        return self


class SpatialBody(AnyBody):
    shape: SpatialShape
    inertia: tuple[fields.Positive, fields.Positive, fields.Positive] | None = None
    """Principal moments, kg m^2, about the body axes; of uniform density where left out."""
    position: fields.Point3 = (0.0, 0.0, 0.0)
    orientation: fields.Quaternion = (1.0, 0.0, 0.0, 0.0)
    velocity: fields.Rate3 = (0.0, 0.0, 0.0)
    spin: fields.Rate3 = (0.0, 0.0, 0.0)
    """Angular velocity in world axes, rad/s."""

    @model_validator(mode="after")
    def _has_inertia(self) -> Self:
        if abs(math.hypot(*self.orientation) - 1.0) > 1e-9:
            raise ValueError(
                f"orientation: {self.orientation} has norm {math.hypot(*self.orientation):.9g}; allowed: a unit "
                "quaternion (w, x, y, z) to 1e-9"
            )
        if self.inertia is not None:
            a, b, c = sorted(self.inertia)
            if c > (a + b) * (1 + 1e-12):
                raise ValueError(
                    f"inertia: {self.inertia} violates the triangle inequality; allowed: no moment larger than "
                    "the sum of the other two"
                )
        elif not self.fixed:
            uniform = mass.spatial_mass(self.shape)
            _check_centroid(uniform.centroid, mass.bounding_radius(self.shape))
            inertia = uniform.inertia
            off_axis = float(np.max(np.abs(inertia - np.diag(np.diag(inertia)))))
            if off_axis > CENTROID_TOLERANCE * float(np.trace(inertia)):
                raise ValueError(
                    "shape: the body axes are not its principal axes; rotate the shape, or give the inertia"
                )
        return self
