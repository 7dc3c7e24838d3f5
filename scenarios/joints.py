"""Joints: anchors in the frame of each body; b = null is the world."""

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from scenarios.fields import Data, Name, Point2, Point3, Size, Vector2, Vector3


def _directed(axis: tuple[float, ...]) -> tuple[float, ...]:
    if not 1e-9 <= math.hypot(*axis) < math.inf:
        raise PydanticCustomError("no_direction", "no direction; allowed: a vector that is not zero")
    return axis


Axis2 = Annotated[Vector2, AfterValidator(_directed)]
Axis3 = Annotated[Vector3, AfterValidator(_directed)]


class AnyJoint(Data):
    name: Name
    a: Name
    b: Name | None = None
    collide: bool = False
    """Whether the joined bodies may touch each other."""


class Revolute(AnyJoint):
    """The two anchors coincide."""

    kind: Literal["revolute"] = "revolute"
    anchor_a: Point2
    anchor_b: Point2


class Prismatic(AnyJoint):
    """b's anchor stays on the line through a's along `axis` (in a's frame); neither turns against the other."""

    kind: Literal["prismatic"] = "prismatic"
    anchor_a: Point2
    anchor_b: Point2
    axis: Axis2


class Rod(AnyJoint):
    """The anchors stay `length` apart."""

    kind: Literal["rod"] = "rod"
    anchor_a: Point2
    anchor_b: Point2
    length: Size


class Rope(AnyJoint):
    """The anchors stay at most `length` apart."""

    kind: Literal["rope"] = "rope"
    anchor_a: Point2
    anchor_b: Point2
    length: Size


class Ball(AnyJoint):
    """The two anchors coincide; all rotations are free."""

    kind: Literal["ball"] = "ball"
    anchor_a: Point3
    anchor_b: Point3


class Hinge(AnyJoint):
    """The two anchors coincide; rotation about `axis` (in a's frame) only."""

    kind: Literal["hinge"] = "hinge"
    anchor_a: Point3
    anchor_b: Point3
    axis: Axis3


class Slider(AnyJoint):
    """b's anchor stays on the line through a's along `axis` (in a's frame); neither turns against the other."""

    kind: Literal["slider"] = "slider"
    anchor_a: Point3
    anchor_b: Point3
    axis: Axis3


PlanarJoint = Annotated[Revolute | Prismatic | Rod | Rope, Field(discriminator="kind")]
SpatialJoint = Annotated[Ball | Hinge | Slider, Field(discriminator="kind")]
