"""Boundaries: immovable and without end. The ground, a wall, the inside of a bowl or of a sphere."""

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from scenarios.fields import Data, Friction, Name, Point2, Point3, Restitution, Size, Vector2, Vector3, not_stated


class AnyBoundary(Data):
    name: Name
    friction: Friction = 0.0
    restitution: Restitution = 0.0
    material: Annotated[Name | None, Field(exclude_if=not_stated)] = None
    """Of `contact.compliant`, where contact is compliant."""
    margin: Annotated[Size | None, Field(exclude_if=not_stated)] = None
    """m, by which it stands off: two are in contact from as far apart on as the sum of theirs, and rest so."""


def _unit(normal: tuple[float, ...]) -> tuple[float, ...]:
    length = math.hypot(*normal)
    if abs(length - 1.0) > 1e-9:
        raise PydanticCustomError(
            "no_unit", "length {length}; allowed: a unit vector to 1e-9", {"length": f"{length:.9g}"}
        )
    return normal


Unit2 = Annotated[Vector2, AfterValidator(_unit)]
Unit3 = Annotated[Vector3, AfterValidator(_unit)]


class HalfPlane(AnyBoundary):
    """Solid on the side away from `normal`."""

    kind: Literal["half-plane"] = "half-plane"
    point: Point2 = (0.0, 0.0)
    normal: Unit2 = (0.0, 1.0)


class Bowl(AnyBoundary):
    """Solid outside a circle."""

    kind: Literal["bowl"] = "bowl"
    center: Point2 = (0.0, 0.0)
    radius: Size


class HalfSpace(AnyBoundary):
    """Solid on the side away from `normal`."""

    kind: Literal["half-space"] = "half-space"
    point: Point3 = (0.0, 0.0, 0.0)
    normal: Unit3 = (0.0, 0.0, 1.0)


class HollowSphere(AnyBoundary):
    """Solid outside a sphere."""

    kind: Literal["hollow-sphere"] = "hollow-sphere"
    center: Point3 = (0.0, 0.0, 0.0)
    radius: Size


PlanarBoundary = Annotated[HalfPlane | Bowl, Field(discriminator="kind")]
SpatialBoundary = Annotated[HalfSpace | HollowSphere, Field(discriminator="kind")]
