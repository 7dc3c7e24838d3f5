"""Given motion of a body: where it is at every time, whatever pushes it; a belt, a plate that is shaken, a turntable.

    x(t) = x(0) + v t + a t^2 / 2 + A (sin(w t + phi) - sin phi) + integral of k from 0 to t,   turned by `spin` t

about the origin of its frame; k is linear between the velocities at `knots`, and stays before and after them.
"""

import itertools
import math
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios import fields

MOST_KNOTS = 10_000
OF_KNOTS = Field(max_length=MOST_KNOTS, exclude_if=lambda knots: not knots)


class AnyGivenMotion(fields.Data):
    frequency: Annotated[fields.Rate, Field(ge=0)] = 0.0
    """w, rad/s"""
    phase: fields.Number = 0.0
    """phi, rad"""
    knots: tuple[tuple[float, ...], ...] = ()
    """Time, s, ascending from 0 on, and a velocity, m/s, that is added: linear between two, else constant"""

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

    @model_validator(mode="after")
    def _knots_ascend(self) -> Self:
        times = [knot[0] for knot in self.knots]
        if any(later <= time for time, later in itertools.pairwise(times)):
            raise ValueError(f"knots: their times {times[:20]} do not ascend; list each time once, in order")
        return self

    @property
    def is_steady(self) -> bool:
        """Whether it neither swings nor turns: its acceleration is the same at all times."""
        return self.frequency == 0.0 and not np.any(self.spin) and len({knot[1:] for knot in self.knots}) < 2

    def travel(self, time: Any) -> Array:
        """(..., D) m from the start, at times (...), s."""
        t = np.asarray(time, np.float64)[..., None]
        sine, _ = elementary.sine_cosine(self.frequency * t + self.phase)
        swing = np.array(self.amplitude) * (sine - elementary.sine_cosine(float(self.phase))[0])
        moved: Array = np.array(self.velocity) * t + 0.5 * np.array(self.acceleration) * t * t + swing
        return moved + self._by_knots(t)[0] if self.knots else moved

    def rate(self, time: Any) -> Array:
        """(..., D) m/s"""
        t = np.asarray(time, np.float64)[..., None]
        _, cosine = elementary.sine_cosine(self.frequency * t + self.phase)
        found: Array = np.array(self.velocity) + np.array(self.acceleration) * t
        found = found + self.frequency * np.array(self.amplitude) * cosine
        return found + self._by_knots(t)[1] if self.knots else found

    def acceleration_at(self, time: Any) -> Array:
        """(..., D) m/s^2; at a knot that of the time after it."""
        t = np.asarray(time, np.float64)[..., None]
        sine, _ = elementary.sine_cosine(self.frequency * t + self.phase)
        found: Array = np.array(self.acceleration) - self.frequency * self.frequency * np.array(self.amplitude) * sine
        return found + self._by_knots(t)[2] if self.knots else found

    def _by_knots(self, t: Array) -> tuple[Array, Array, Array]:
        """(..., D): way since 0, velocity and its rate, at times (..., 1)."""
        times, speeds = np.array([knot[0] for knot in self.knots]), np.array([knot[1:] for knot in self.knots])
        spans = np.diff(times)[:, None]
        slopes = np.vstack([np.zeros_like(speeds[:1]), np.diff(speeds, axis=0) / spans, np.zeros_like(speeds[:1])])
        ways = np.cumsum(0.5 * spans * (speeds[1:] + speeds[:-1]), axis=0)
        begun = np.vstack([np.zeros_like(speeds[:1]), np.zeros_like(speeds[:1]), ways])  # from the first knot on
        known = np.vstack([speeds[:1], speeds])
        since = np.concatenate([times[:1], times])
        now = np.searchsorted(times, t[..., 0], side="right")
        h = t - since[now][..., None]
        rate = known[now] + slopes[now] * h
        return begun[now] + 0.5 * h * (known[now] + rate) + times[0] * speeds[0], rate, slopes[now]

    def knots_from(self, time: float) -> tuple[tuple[float, ...], ...]:
        """Those of the motion that begins at this time of it."""
        if not self.knots:
            return ()
        now = self._by_knots(np.array([time]))[1].tolist()
        return (0.0, *now), *((knot[0] - time, *knot[1:]) for knot in self.knots if knot[0] > time)


class PlanarGivenMotion(AnyGivenMotion):
    velocity: fields.Rate2 = (0.0, 0.0)
    acceleration: fields.Rate2 = (0.0, 0.0)
    amplitude: fields.Point2 = (0.0, 0.0)
    spin: fields.Rate = 0.0
    """rad/s, the same at all times"""
    knots: Annotated[tuple[tuple[fields.NonNegative, fields.Rate, fields.Rate], ...], OF_KNOTS] = ()


class SpatialGivenMotion(AnyGivenMotion):
    velocity: fields.Rate3 = (0.0, 0.0, 0.0)
    acceleration: fields.Rate3 = (0.0, 0.0, 0.0)
    amplitude: fields.Point3 = (0.0, 0.0, 0.0)
    spin: fields.Rate3 = (0.0, 0.0, 0.0)
    """rad/s, world axes, the same at all times"""
    knots: Annotated[tuple[tuple[fields.NonNegative, fields.Rate, fields.Rate, fields.Rate], ...], OF_KNOTS] = ()


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
    later["knots"] = motion.knots_from(time)
    return body.model_copy(update={**pose, "motion": motion.model_copy(update=later)})
