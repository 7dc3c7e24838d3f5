"""Every number that a verdict depends on; `docs/judging.md` and `docs/noise.md` say what they rest on."""

from dataclasses import dataclass

from scenarios.scenario import Noise
from validation.judging.verdict import FLOOR
from validation.metrics.metric import Scale

# --- one run against one accepted run -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Allowance:
    """How far a metric may move: until the larger is `factor` times the smaller, and in any case by the floor.

    The floor is FLOOR, or the resolution that comes with the measurements where that is more.
    """

    factor: float  # 1.1: ten per cent
    least: float = 0.0  # values below count as this one


ALLOWANCES: dict[Noise, Allowance] = {
    "exact": Allowance(1.0 + 1e-9),
    "tolerance": Allowance(1.1),
    # The resolution is what free fall does within a time step: whether a body that touches is held from the first step
    # on or only after falling through it is decided by 1e-12 m.
    "step": Allowance(2.0),
    # The round-off of something at rest varies in size by more than a factor of ten only with a cause.
    "round-off": Allowance(10.0, least=FLOOR),
    # Beyond it a chaotic metric is different, never worse.
    "chaotic": Allowance(10.0),
}

# --- a metric over many runs ----------------------------------------------------------------------------------------

WINDOW = 400  # runs that are looked back on at once
EVIDENCE = 4.8
"""Standard deviations of a sum of normal scores, at the best of all splits of the window: a 5 % step on 3 % noise is
seen within 15 runs in 92 cases of 100, and quiet noise seems to step once in 165,000 values
(`ci/benchmarks/synthetic_histories.py`)."""
BEFORE, AFTER = 8, 4  # runs on either side of a step, at least: with fewer the score stays below EVIDENCE anyway
CONSTANT = 5  # equal values in a row, after which another value is a step at once
RELATIVE = 0.02  # of the level: a smaller step or drift is none, however certain
"""The time of a step moves by so much with the place of the code in memory."""

# --- ensembles of starts against each other -------------------------------------------------------------------------

PERTURBATION = 1e-6  # of a body's size: far above round-off, far below what any metric resolves
STARTS = 20  # a side: 20 against 20 can reach p = 1.5e-11, however many metrics are compared at once
LEAST_STARTS = 10  # a side, completed; fewer cannot say much: 10 against 10 reach 1.1e-5, 5 against 5 only 0.008
FALSE_DISCOVERIES = 0.001  # of what is reported, at most; where nothing has changed, the chance of any report
EFFECT = 0.8  # chance that a start of now is worse than one of the accepted, at least; 0.5 is a draw
MEDIANS = 1.1  # factor between the medians, at least
ENSEMBLE_JUDGES: frozenset[Noise] = frozenset(("chaotic", "step", "round-off"))
"""Metrics that one run measures only roughly."""
PREDICTABLE = 0.01
"""Of the smallest body: what the starts become apart by until the motion counts as unpredictable."""
HORIZONS = (1.0, 0.5, 0.25, 0.125)
"""Of the duration: up to which of these the metrics are measured; both sides up to the same."""

# --- how grave a value is -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares of a scale of the scene (`severity.scales_of`)."""

    visible: float
    gross: float


LENGTH = Limits(1e-4, 0.1)
"""0.1 mm of a body of 1 m is less than a pixel of a picture of it; a tenth of its width is what laws allow at most."""
SEVERITY: dict[Scale, Limits] = {
    "width": LENGTH,
    "link": Limits(1e-4, 0.05),  # a joint holds; a twentieth of the shortest arm is the law of its gap
    "angle": LENGTH,
    "speed": LENGTH,
    "spin": LENGTH,
    "energy": Limits(1e-3, 0.05),  # it goes with the square of speeds; a twentieth is lost in a step at an impact
    "time": Limits(0.01, 1.0),  # a step of 1/240 s is a hundredth of the fall from 1 m
    "momentum": Limits(1e-4, 0.05),
    "angular momentum": Limits(1e-4, 0.05),
    "share": Limits(0.01, 0.5),
}
TWOFOLD = 2.0 * (1.0 - RELATIVE)
"""A change counts from this factor on: less is a matter of taste."""
ROUND_OFF, EXACT = 1e-9, 100.0
"""A truth error below the first, in SI units, that grows by the second: an exact engine is no longer exact."""

# --- two versions ---------------------------------------------------------------------------------------------------

SPEED = 1.1
"""A factor that the median of all cases and a rerun, alone on a core, both reach: less may be the place of the code in
memory."""
SHARED = 0.8  # of the scenarios that have something move otherwise, and at most a fifth of the others
