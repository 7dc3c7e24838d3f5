"""Given motion of a body: where it is at every time, whatever pushes it; a belt, a plate that is shaken, a turntable.

    x(t) = x(0) + v t + a t^2 / 2 + A (sin(w t + phi) - sin phi),   turned by `spin` t

about the origin of its frame.
"""

import math
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios import fields


class AnyGivenMotion(fields.Data):
    frequency: Annotated[fields.Rate, Field(ge=0)] = 0.0
    """w, rad/s"""
    phase: fields.Number = 0.0
    """phi, rad"""

    if TYPE_CHECKING:  # fields of either kind, each with its own types

        @property
        def velocity(self) -> Any: ...
        @property
        def acceleration(self) -> Any: ...
        @property
        def amplitude(self) -> Any: ...
        @property
        def spin(self) -> Any: ...

    @model_validator(mode="after")
    def _swings_at_a_frequency(self) -> Self:
        if np.any(self.amplitude) != (self.frequency > 0.0):
            raise ValueError(
                f"frequency: {self.frequency:g} with an amplitude of {self.amplitude}; give both, or neither"
            )
        return self

    @property
    def is_steady(self) -> bool:
        """Whether it neither swings nor turns: its acceleration is the same at all times."""
        return self.frequency == 0.0 and not np.any(self.spin)

    def travel(self, time: Any) -> Array:
        """(..., D) m from the start, at times (...), s."""
        t = np.asarray(time, np.float64)[..., None]
        sine, _ = elementary.sine_cosine(self.frequency * t + self.phase)
        swing = np.array(self.amplitude) * (sine - elementary.sine_cosine(float(self.phase))[0])
        moved: Array = np.array(self.velocity) * t + 0.5 * np.array(self.acceleration) * t * t + swing
        return moved

    def rate(self, time: Any) -> Array:
        """(..., D) m/s"""
        t = np.asarray(time, np.float64)[..., None]
        _, cosine = elementary.sine_cosine(self.frequency * t + self.phase)
        found: Array = np.array(self.velocity) + np.array(self.acceleration) * t
        return found + self.frequency * np.array(self.amplitude) * cosine


class PlanarGivenMotion(AnyGivenMotion):
    velocity: fields.Rate2 = (0.0, 0.0)
    acceleration: fields.Rate2 = (0.0, 0.0)
    amplitude: fields.Point2 = (0.0, 0.0)
    spin: fields.Rate = 0.0
    """rad/s, the same at all times"""


class SpatialGivenMotion(AnyGivenMotion):
    velocity: fields.Rate3 = (0.0, 0.0, 0.0)
    acceleration: fields.Rate3 = (0.0, 0.0, 0.0)
    amplitude: fields.Point3 = (0.0, 0.0, 0.0)
    spin: fields.Rate3 = (0.0, 0.0, 0.0)
    """rad/s, world axes, the same at all times"""


def given_bodies(scene: Any) -> list[int]:
    """Those whose motion is given, in the scene's order."""
    return [i for i, body in enumerate(scene.bodies) if body.motion is not None]


def motion_of(body: Any) -> AnyGivenMotion:
    """Of a body that has one."""
    assert isinstance(body.motion, AnyGivenMotion)
    return body.motion


def given_state(body: Any, time: float) -> tuple[Array, ...]:
    """Pose (3,) and twist (3,) in the plane; in space position, orientation w-x-y-z, velocity and spin."""
    motion = motion_of(body)
    position, velocity = np.array(body.position) + motion.travel(time), motion.rate(time)
    if isinstance(motion, PlanarGivenMotion):
        return np.array([*position, body.angle + motion.spin * time]), np.array([*velocity, motion.spin])
    spin = np.array(motion.spin)
    rate = math.sqrt(float(mul(spin, spin)))
    sine, cosine = elementary.sine_cosine(0.5 * rate * time)
    w, (x, y, z) = cosine, (sine / rate * spin if rate else spin).tolist()
    a, b, c, d = body.orientation
    turned = [w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c,
              w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a]  # fmt: skip
    return position, np.array(turned), velocity, spin


def begun_later(body: Any, time: float) -> Any:
    """The body of a scene that begins at this time of the motion."""
    motion = motion_of(body)
    if isinstance(motion, PlanarGivenMotion):
        (x, y, angle), _ = (part.tolist() for part in given_state(body, time))
        pose: dict[str, Any] = {"position": (x, y), "angle": angle}
    else:
        position, turned, *_ = given_state(body, time)
        pose = {"position": tuple(position.tolist()), "orientation": tuple(turned.tolist())}
    velocity = np.array(motion.velocity) + np.array(motion.acceleration) * time
    later = {"velocity": tuple(velocity.tolist()), "phase": motion.phase + motion.frequency * time}
    return body.model_copy(update={**pose, "motion": motion.model_copy(update=later)})
