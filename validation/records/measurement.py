"""A number that we measured: name, value, unit, which way is better."""

from dataclasses import dataclass
from typing import Literal

from scenarios.scenario import Noise

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    metric: str
    value: float  # NaN: what it is about has not happened
    unit: str
    better: Better
    noise: Noise
    resolution: float | None = None  # in the same unit, where the sampling limits it
