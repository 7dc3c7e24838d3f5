"""Joints: anchors in the frame of each body; b = null is the world.

A hinge or a slider in space has a coordinate q, rad or m: how far a has turned or gone against b, about or along its
axis, counted on over full turns from `start` at time 0. Along it acts, in N m or N, what the joint has of

    spring    stiffness (rest - q)
    damping   -damping q'
    friction  dry: as much against q' as `friction` at most, and at rest what keeps it there, if that is enough
    limits    stops at `low` and `high`, without restitution
    motor     a law of its own (`PositionMotor`, `VelocityMotor`, `ForceMotor`)

on a, and the opposite on b. `scenarios.joint_forces` works it out.
"""

import math
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from scenarios.fields import (
    MIN_SIZE,
    Data,
    Name,
    NonNegative,
    Number,
    Point2,
    Point3,
    Positive,
    Size,
    Vector2,
    Vector3,
    not_stated,
)
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


# --- what acts along hinges and sliders in space ----------------------------------------------------


def _is_zero(value: object) -> bool:
    return value == 0.0


def _ascending(profile: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    times = [time for time, _ in profile]
    if times != sorted(times):
        raise ValueError(f"times {times} decrease; list them in ascending order")
    return profile


Profile = Annotated[
    tuple[tuple[NonNegative, Number], ...], Field(min_length=1, max_length=100_000), AfterValidator(_ascending)
]
"""(time in s, value), times not decreasing; linear between two, constant before the first and after the last."""


class JointSpring(Data):
    stiffness: Positive
    """N m/rad or N/m"""
    rest: Number = 0.0
    """rad or m: the coordinate without force."""


class JointLimits(Data):
    """rad or m."""

    low: Number
    high: Number

    @model_validator(mode="after")
    def _are_two(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"high: {self.high:g} is not above low, {self.low:g}; a joint without freedom is `fixed`")
        return self


class _Motor(Data):
    most: Annotated[Positive | None, Field(exclude_if=not_stated)] = None
    """N m or N: no more than this to either side; without it as much as the law says."""


class PositionMotor(_Motor):
    """stiffness (target - q) - damping q'"""

    kind: Literal["position-motor"] = "position-motor"
    stiffness: Positive
    damping: NonNegative = 0.0
    target: Profile
    """rad or m"""


class VelocityMotor(_Motor):
    """damping (target - q')"""

    kind: Literal["velocity-motor"] = "velocity-motor"
    damping: Positive
    target: Profile
    """rad/s or m/s"""


class ForceMotor(_Motor):
    """The target itself."""

    kind: Literal["force-motor"] = "force-motor"
    target: Profile
    """N m or N"""


Motor = Annotated[PositionMotor | VelocityMotor | ForceMotor, Field(discriminator="kind")]


class AxialJoint(AnyJoint):
    """What hinges and sliders in space have, by which a joint with nothing else keeps the identity it had."""

    anchor_a: Point3
    anchor_b: Point3
    axis: Axis3
    start: Annotated[Number, Field(exclude_if=_is_zero)] = 0.0
    """rad or m: the coordinate at time 0."""
    spring: Annotated[JointSpring | None, Field(exclude_if=not_stated)] = None
    damping: Annotated[NonNegative, Field(exclude_if=_is_zero)] = 0.0
    """N m s/rad or N s/m"""
    friction: Annotated[NonNegative, Field(exclude_if=_is_zero)] = 0.0
    """N m or N"""
    limits: Annotated[JointLimits | None, Field(exclude_if=not_stated)] = None
    motor: Annotated[Motor | None, Field(exclude_if=not_stated)] = None

    @model_validator(mode="after")
    def _starts_within_its_limits(self) -> Self:
        if self.limits is not None and not self.limits.low <= self.start <= self.limits.high:
            allowed = f"{self.limits.low:g} to {self.limits.high:g}"
            raise ValueError(f"start: {self.start:g} is beyond the limits of joint {self.name!r}; allowed: {allowed}")
        return self

    @property
    def is_driven(self) -> bool:
        """Whether anything acts along it."""
        return bool(self.spring or self.damping or self.friction or self.limits or self.motor)


class Hinge(AxialJoint):
    """The two anchors coincide; rotation about `axis` (in a's frame) only."""

    kind: Literal["hinge"] = "hinge"


class Slider(AxialJoint):
    """b's anchor stays on the line through a's along `axis` (in a's frame); neither turns against the other."""

    kind: Literal["slider"] = "slider"


class Fixed(AnyJoint):
    """The two anchors coincide, and neither body turns against the other."""

    kind: Literal["fixed"] = "fixed"
    anchor_a: Point3
    anchor_b: Point3


class SpatialRod(AnyJoint):
    """In space: the anchors stay `length` apart."""

    kind: Literal["rod"] = "rod"
    anchor_a: Point3
    anchor_b: Point3
    length: Size


class SpatialRope(AnyJoint):
    """In space: the anchors stay at most `length` apart."""

    kind: Literal["rope"] = "rope"
    anchor_a: Point3
    anchor_b: Point3
    length: Size


PlanarJoint = Annotated[Revolute | Prismatic | Rod | Rope | Track, Field(discriminator="kind")]
SpatialJoint = Annotated[Ball | Hinge | Slider | Fixed | SpatialRod | SpatialRope, Field(discriminator="kind")]
