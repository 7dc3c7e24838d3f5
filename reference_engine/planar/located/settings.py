"""How finely the located mode works, and which law holds where several places are struck at once."""

import math
from dataclasses import dataclass

from reference_engine.planar.errors import WorldError

IMPACT_LAWS = ("simultaneous", "propagating")
FINEST_TOLERANCE = 1e-14  # below it round-off decides which steps are taken


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedSettings:
    """Settings of `locate`; raises WorldError for a value that is not allowed.

    impact_law, where one impact strikes several touching places:
    simultaneous   one complementarity problem 0 <= j  perp  A j + (1 + e) u >= 0; e of the pair where bodies
                   approach, 0 where they are at rest against each other (Baraff 1994; ContactSim)
    propagating    one place after the other, the fastest approach first, each with its own e, until none
                   approaches: the limit of small gaps (Newton's cradle: the last ball leaves)
    """

    tolerance: float = 1e-13  # local error of a step: relative, and absolute in m, m/s, rad, rad/s
    impact_law: str = "simultaneous"
    accumulation_cutoff: float = 1e-6  # s; bounces that are shorter are the end of an accumulation, and summed up
    max_events: int = 100_000

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and FINEST_TOLERANCE <= self.tolerance <= 1e-2):
            raise WorldError(f"tolerance: {self.tolerance!r} is not in [{FINEST_TOLERANCE}, 0.01]")
        if self.impact_law not in IMPACT_LAWS:
            raise WorldError(f"impact_law: {self.impact_law!r} is not one of {IMPACT_LAWS}")
        if not (math.isfinite(self.accumulation_cutoff) and 1e-12 <= self.accumulation_cutoff <= 1e-3):
            raise WorldError(f"accumulation_cutoff: {self.accumulation_cutoff!r} s is not in [1e-12, 1e-3]")
        if self.max_events < 1:
            raise WorldError(f"max_events: {self.max_events!r} is not a positive number")
