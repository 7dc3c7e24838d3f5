"""The metrics: every trajectory is measured with our own geometry and mechanics, whatever engine made it.

    measure(scenario, trajectory) -> (Measurement, ...)

One file a noun, with its METRICS at the end: pure functions of an `Observation`, each with its unit, the law that it
measures and the template of its sentence. The order of the files below is that of reports.
"""

import numpy as np
from numpy.typing import NDArray

from scenarios.scenario import Scenario
from validation.metrics import (
    cone,
    energy,
    impact,
    internals,
    joint_gap,
    joint_limits,
    momentum,
    penetration,
    rest,
    truth_error,
)
from validation.metrics.internals import SWEPT, is_swept
from validation.metrics.metric import Metric
from validation.metrics.observation import Observation
from validation.metrics.outcomes import outcomes_of
from validation.records.measurement import Measurement
from validation.records.outcome import Outcome
from validation.records.trajectory import Trajectory

__all__ = ["METRICS", "measure", "step_time"]

METRICS: dict[str, Metric] = {
    metric.name: metric
    for module in (truth_error, energy, momentum, penetration, rest, impact, cone, joint_gap, joint_limits, internals)
    for metric in module.METRICS
}


def measure(scenario: Scenario, trajectory: Trajectory) -> tuple[Measurement, ...]:
    """Every metric that says something about this scenario, in the order of the table; NaN: it has not happened.

    Raises MismatchError where the trajectory is not one of this scene.
    """
    return measure_with_outcomes(scenario, trajectory)[0]


def measure_with_outcomes(
    scenario: Scenario, trajectory: Trajectory
) -> tuple[tuple[Measurement, ...], tuple[Outcome, ...]]:
    """Likewise, and what happened."""
    observation = Observation(scenario=scenario, trajectory=trajectory)
    happened = _happened(observation)
    chosen = SWEPT if is_swept(observation) else [name for name in METRICS if name not in scenario.meaningless]
    found = (METRICS[name].of(observation) for name in chosen)
    return tuple(measurement for measurement in found if measurement is not None), happened


def happened_in(scenario: Scenario, trajectory: Trajectory) -> tuple[Outcome, ...]:
    """What happened alone. Raises MismatchError, as `measure` does."""
    return _happened(Observation(scenario=scenario, trajectory=trajectory))


def _happened(observation: Observation) -> tuple[Outcome, ...]:
    if is_swept(observation):
        return ()
    with np.errstate(over="ignore", invalid="ignore"):  # as in `Metric.of`
        return outcomes_of(observation)


def step_time(step_times: NDArray[np.float64]) -> float:
    """s: mean wall time of the (N,) steps of a simulation, s each; NaN without steps. Take the least of several."""
    return float(np.mean(step_times)) if len(step_times) else float("nan")
