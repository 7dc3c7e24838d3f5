"""Bodies: a shape with its mass properties, surface, pose and twist; fixed or free.

In a scene the origin of the body frame is the centre of mass, and its axes are the principal ones. A body may be given
in another frame: `frames` moves it when the scene is built, and the body says so (`frame`).
"""

from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from scenarios import fields
from scenarios.given_motion import PlanarGivenMotion, SpatialGivenMotion
from scenarios.shapes import PlanarShape, SpatialShape


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
    margin: Annotated[fields.Size | None, Field(exclude_if=fields.not_stated)] = None
    """m, by which it stands off: two are in contact from as far apart on as the sum of theirs, and rest so."""

    if TYPE_CHECKING:  # fields of either kind of body, each with its own types

        @property
        def shape(self) -> Any: ...
        @property
        def inertia(self) -> Any: ...
        @property
        def center_of_mass(self) -> Any: ...
        @property
        def frame(self) -> Any: ...
        @property
        def motion(self) -> Any: ...

    @model_validator(mode="after")
    def _is_free_or_fixed(self) -> Self:
        if self.fixed:
            for field in ("mass", "inertia", "center_of_mass", "frame"):
                if getattr(self, field) is not None:
                    raise ValueError(f"{field}: {getattr(self, field)} given for a fixed body; leave it out")
            for field in ("velocity", "spin"):
                if np.any(getattr(self, field)):
                    raise ValueError(f"{field}: {getattr(self, field)} given for a fixed body; allowed: 0")
        elif self.motion is not None:
            raise ValueError("motion: given for a free body; allowed: with fixed=true, for nothing pushes it")
        elif self.mass is None and not self._weighs_by_density():
            raise ValueError("mass: missing; give a positive mass in kg, or fixed=true for an immovable body")
        elif self.center_of_mass is not None and self.inertia is None:
            raise ValueError("inertia: missing; give it beside center_of_mass, about that point")
        elif self.frame is not None and (self.inertia is None or self.center_of_mass is not None):
            raise ValueError("frame: given; it is set when a scene moves a body, beside mass and inertia: leave it out")
        return self

    def _weighs_by_density(self) -> bool:
        pieces = self.shape.pieces if self.shape.kind == "compound" else ()
        return bool(pieces) and all(piece.density is not None for piece in pieces)


class PlanarFrame(fields.Data):
    position: fields.Point2


class SpatialFrame(fields.Data):
    position: fields.Point3
    orientation: fields.Quaternion = (1.0, 0.0, 0.0, 0.0)


class PlanarBody(AnyBody):
    shape: PlanarShape
    inertia: fields.Positive | None = None
    """kg m^2 about the centre of mass; where it is left out that of the shape at uniform density, of a compound of its
    pieces'."""
    center_of_mass: Annotated[fields.Point2 | None, Field(exclude_if=fields.not_stated)] = None
    """Where it is not that of the shape: a point of the frame that the body is given in."""
    frame: Annotated[PlanarFrame | None, Field(exclude_if=fields.not_stated)] = None
    """Where the frame that the body was given in is, in the body's own; set when a scene moves it."""
    position: fields.Point2 = (0.0, 0.0)
    angle: fields.Number = 0.0
    velocity: fields.Rate2 = (0.0, 0.0)
    spin: fields.Rate = 0.0
    motion: Annotated[PlanarGivenMotion | None, Field(exclude_if=fields.not_stated)] = None
    """Of a fixed body: where it is at every time. Its own velocity and spin are then 0 in the scene."""


class SpatialBody(AnyBody):
    shape: SpatialShape
    inertia: tuple[fields.Positive, fields.Positive, fields.Positive] | None = None
    """Principal moments, kg m^2, about the body axes; where left out those of the shape at uniform density, of a
    compound of its pieces'."""
    center_of_mass: Annotated[fields.Point3 | None, Field(exclude_if=fields.not_stated)] = None
    """Where it is not that of the shape: a point of the frame that the body is given in."""
    frame: Annotated[SpatialFrame | None, Field(exclude_if=fields.not_stated)] = None
    """Where the frame that the body was given in is, in the body's own; set when a scene moves it."""
    position: fields.Point3 = (0.0, 0.0, 0.0)
    orientation: fields.Quaternion = (1.0, 0.0, 0.0, 0.0)
    velocity: fields.Rate3 = (0.0, 0.0, 0.0)
    spin: fields.Rate3 = (0.0, 0.0, 0.0)
    """Angular velocity in world axes, rad/s."""
    motion: Annotated[SpatialGivenMotion | None, Field(exclude_if=fields.not_stated)] = None
    """Of a fixed body: where it is at every time. Its own velocity and spin are then 0 in the scene."""

    @model_validator(mode="after")
    def _has_possible_inertia(self) -> Self:
        fields.check_unit_quaternion(self.orientation)
        if self.inertia is not None:
            a, b, c = sorted(self.inertia)
            if c > (a + b) * (1 + 1e-12):
                raise ValueError(
                    f"inertia: {self.inertia} violates the triangle inequality; allowed: no moment larger than "
                    "the sum of the other two"
                )
        return self
