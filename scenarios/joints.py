"""Joints: anchors in the frame of each body; b = null is the world."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from scenarios.fields import Data, Name, Point2, Point3, Size, Vector2, Vector3


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
    axis: Vector2

    @model_validator(mode="after")
    def _has_axis(self) -> Self:
        _check_axis(self.axis)
        return self


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
    axis: Vector3

    @model_validator(mode="after")
    def _has_axis(self) -> Self:
        _check_axis(self.axis)
        return self


class Slider(AnyJoint):
    """b's anchor stays on the line through a's along `axis` (in a's frame); neither turns against the other."""

    kind: Literal["slider"] = "slider"
    anchor_a: Point3
    anchor_b: Point3
    axis: Vector3

    @model_validator(mode="after")
    def _has_axis(self) -> Self:
        _check_axis(self.axis)
        return self


def _check_axis(axis: tuple[float, ...]) -> None:
    if not math.isfinite(math.hypot(*axis)) or math.hypot(*axis) < 1e-9:
        raise ValueError(f"axis: {axis} has no direction; allowed: a vector that is not zero")


PlanarJoint = Annotated[Revolute | Prismatic | Rod | Rope, Field(discriminator="kind")]
SpatialJoint = Annotated[Ball | Hinge | Slider, Field(discriminator="kind")]
