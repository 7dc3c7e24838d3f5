"""How a world of ellipsoids is stepped."""

from dataclasses import dataclass

import numpy as np

from reference_engine.errors import SpatialWorldError


@dataclass(frozen=True, kw_only=True)
class SpatialSettings:
    """Tolerances are kept or the step fails; None: of the bodies' size and the step."""

    order: int = 2
    """Of the method between events: 2, two solves a step; 1, one solve, as in Oltman & Hur 2017."""
    edges: int = 0
    """Of the friction pyramid, 2 l, even and at least 4; 0: Coulomb's cone."""
    gap_tolerance: float | None = None
    """m: no gap ends a step below 0, none of a pressing contact above twice this; 1e-4 of the shortest semi-axis."""
    speed_tolerance: float | None = None
    """m/s by which contacts may miss Coulomb's law; what moves a body by a fiftieth of gap_tolerance in a step."""
    most_sweeps: int = 5000
    """Of Gauss-Seidel before the solver for large heaps takes over."""
    most_repeats: int = 30
    """Of the linearisation of the gaps in one step."""
    skin: float | None = None
    """m around bodies for which candidate pairs stay listed, at least what counts as near; 0.4 of the mean shortest
    semi-axis."""
    bounce_speed: float | None = None
    """m/s of approach below which nothing bounces; what gravity gives in two steps."""

    located: bool = False
    """Impacts are found at their own time, inside steps: for few bodies, as each costs some ten steps."""

    def __post_init__(self) -> None:
        for name in ("order", "edges", "most_sweeps", "most_repeats"):
            if type(getattr(self, name)) is not int:
                raise SpatialWorldError(f"{name}: {getattr(self, name)!r:.60}; a whole number")
        if type(self.located) is not bool:
            raise SpatialWorldError(f"located: {self.located!r:.60}; True or False")
        if self.order not in (1, 2):
            raise SpatialWorldError(f"order: {self.order}; 1 or 2")
        if self.edges and (self.edges < 4 or self.edges % 2):
            raise SpatialWorldError(f"edges: {self.edges}; 0, or an even number from 4 on")
        for name in ("gap_tolerance", "speed_tolerance", "skin", "bounce_speed"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, float | int | np.floating):
                raise SpatialWorldError(f"{name}: {value!r:.60}; a number")
            if value is not None and not 0.0 < value < np.inf and not (name == "bounce_speed" and value == 0.0):
                raise SpatialWorldError(f"{name}: {value}; positive and finite")
        for name in ("most_sweeps", "most_repeats"):
            if getattr(self, name) < 1:
                raise SpatialWorldError(f"{name}: {getattr(self, name)}; at least 1")
