"""How finely the located mode works, and which impact law holds."""

import math
from dataclasses import dataclass

from reference_engine.errors import WorldError

IMPACT_LAWS = ("newton", "poisson")
IMPACT_ORDERS = ("simultaneous", "sequential")
FINEST_TOLERANCE = 1e-14  # below it round-off decides which steps are taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of `simulate`; raises WorldError for a value that is not allowed.

    impact_law, with Coulomb's law between the impulses and the slip after the impact (Moreau 1988):
    newton         a contact leaves with e times the speed of its approach. With friction it may gain energy at one
                   contact (Kane 1984); where several are struck at once and energy would grow, e is lowered until it
                   does not, by one factor for all
    poisson        e times the impulse that stops the approach is given back (Glocker & Pfeiffer 1995)
    impact_order, where several contacts are struck at once:
    simultaneous   one complementarity problem over all of them; contacts that rest do not bounce
    sequential    one contact after the other, the fastest approach first, each with its own e, until none approaches:
                   the limit of small gaps (Newton's cradle: the last ball leaves)
    """

    tolerance: float = 1e-13  # local error of a step: relative, and absolute in m, m/s, rad, rad/s
    impact_law: str = "newton"
    impact_order: str = "simultaneous"
    accumulation_cutoff: float = 4e-6  # s; bounces that are shorter are the end of an accumulation, and summed up
    max_events: int = 100_000

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and FINEST_TOLERANCE <= self.tolerance <= 1e-2):
            raise WorldError(f"tolerance: {self.tolerance!r} is not in [{FINEST_TOLERANCE}, 0.01]")
        for name, allowed in (("impact_law", IMPACT_LAWS), ("impact_order", IMPACT_ORDERS)):
            if getattr(self, name) not in allowed:
                raise WorldError(f"{name}: {getattr(self, name)!r} is not one of {allowed}")
        if not (math.isfinite(self.accumulation_cutoff) and 1e-12 <= self.accumulation_cutoff <= 1e-3):
            raise WorldError(f"accumulation_cutoff: {self.accumulation_cutoff!r} s is not in [1e-12, 1e-3]")
        if self.max_events < 1:
            raise WorldError(f"max_events: {self.max_events!r} is not a positive number")
