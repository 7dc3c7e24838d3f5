"""Joints: anchors in the frame of each body; b = null is the world."""

import math
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from scenarios.fields import MIN_SIZE, Data, Name, Point2, Point3, Size, Vector2, Vector3
from scenarios.track import SMOOTH, Curve


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


class Track(AnyJoint):
    """a's anchor stays on a smooth curve in the world, which can push and pull it: through `points`, piece i, from
    point i to i + 1, an arc of `bulges[i]` = tan(included angle / 4), 0 straight, positive to the right. Ahead of the
    first point and beyond the last one it goes on straight."""

    kind: Literal["track"] = "track"
    b: None = None
    anchor_a: Point2
    points: Annotated[tuple[Point2, ...], Field(min_length=2, max_length=1000)]
    bulges: tuple[Annotated[float, Field(strict=True, ge=-1, le=1, allow_inf_nan=False)], ...]

    @model_validator(mode="after")
    def _is_smooth(self) -> Self:
        if len(self.bulges) != len(self.points) - 1:
            raise ValueError(f"bulges: {len(self.bulges)} given for {len(self.points) - 1} pieces; give one for each")
        for i, (here, there) in enumerate(zip(self.points, self.points[1:])):
            if not math.dist(here, there) >= MIN_SIZE:
                raise ValueError(
                    f"points[{i + 1}]: {there} is where points[{i}] is; allowed: at least {MIN_SIZE:g} m away"
                )
        for i, turn in enumerate(self.curve.kinks.tolist()):
            if abs(turn) > SMOOTH:
                wanted = f"allowed: {SMOOTH:g} rad; choose bulges that meet smoothly"
                raise ValueError(f"points[{i + 1}]: the curve turns there by {turn:.3g} rad at once; {wanted}")
        return self

    @cached_property
    def curve(self) -> Curve:
        return Curve.of(self.points, self.bulges)


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


PlanarJoint = Annotated[Revolute | Prismatic | Rod | Rope | Track, Field(discriminator="kind")]
SpatialJoint = Annotated[Ball | Hinge | Slider, Field(discriminator="kind")]
