"""The metrics: every trajectory is measured with our own geometry and mechanics, whatever engine made it.

    measure(scenario, trajectory) -> (Measurement, ...)

One file a noun; each metric is a pure function of an `Observation` in the table below. `step_time` is measured where
the steps are timed.
"""

from __future__ import annotations

from scenarios.scenario import Scenario
from validation.metrics.cone import cone_violation
from validation.metrics.energy import energy_drift, energy_gain
from validation.metrics.impact import impact_count
from validation.metrics.joint_gap import joint_gap
from validation.metrics.metric import Metric
from validation.metrics.momentum import angular_momentum_drift, momentum_drift
from validation.metrics.observation import Observation
from validation.metrics.penetration import gap_final, penetration_final, penetration_max, penetration_mean
from validation.metrics.rest import jitter_position, jitter_velocity, rest_drift, rest_time
from validation.metrics.step_time import step_time
from validation.metrics.truth_error import (
    truth_error_angle,
    truth_error_event_time,
    truth_error_goal,
    truth_error_position,
)
from validation.records.measurement import Measurement
from validation.records.trajectory import Trajectory

__all__ = ["METRICS", "measure", "step_time"]

METRICS: dict[str, Metric] = {
    # Words of a row are str to mypy, literals to Metric.
    name: Metric(name=name, measure=function, unit=unit, better=better, noise=noise, happens=happens)  # type: ignore[arg-type]
    for name, function, unit, better, noise, happens in (
        ("truth_error_goal", truth_error_goal, "1", "lower", "tolerance", "perhaps"),
        ("truth_error_position", truth_error_position, "m", "lower", "tolerance", "perhaps"),
        ("truth_error_angle", truth_error_angle, "rad", "lower", "tolerance", "perhaps"),
        ("truth_error_event_time", truth_error_event_time, "s", "lower", "tolerance", "perhaps"),
        ("energy_drift", energy_drift, "J", "lower", "tolerance", "always"),
        ("energy_gain", energy_gain, "J", "lower", "tolerance", "always"),
        ("momentum_drift", momentum_drift, "kg m/s", "lower", "round-off", "always"),
        ("angular_momentum_drift", angular_momentum_drift, "kg m^2/s", "lower", "tolerance", "always"),
        ("penetration_mean", penetration_mean, "m", "lower", "step", "always"),
        ("penetration_max", penetration_max, "m", "lower", "step", "always"),
        ("penetration_final", penetration_final, "m", "lower", "step", "always"),
        ("gap_final", gap_final, "m", "neither", "step", "perhaps"),
        ("rest_time", rest_time, "s", "neither", "step", "perhaps"),
        ("rest_drift", rest_drift, "m", "lower", "round-off", "perhaps"),
        ("jitter_velocity", jitter_velocity, "m/s", "lower", "round-off", "perhaps"),
        ("jitter_position", jitter_position, "m", "lower", "round-off", "perhaps"),
        ("impact_count", impact_count, "1", "neither", "exact", "always"),
        ("cone_violation", cone_violation, "1", "lower", "round-off", "perhaps"),
        ("joint_gap", joint_gap, "m", "lower", "tolerance", "always"),
    )
}


def measure(scenario: Scenario, trajectory: Trajectory) -> tuple[Measurement, ...]:
    """Every metric that says something about this scenario, in the order of the table; NaN: it has not happened.

    Raises MismatchError where the trajectory is not one of this scene.
    """
    observation = Observation(scenario=scenario, trajectory=trajectory)
    found = (metric.of(observation) for name, metric in METRICS.items() if name not in scenario.meaningless)
    return tuple(measurement for measurement in found if measurement is not None)
