"""What a change of a metric means for the bodies: the stack of 10 sinks 3.1 mm on average, 0.4 mm before; allowed up to
0.44 mm."""

from __future__ import annotations

import math

from validation.judging.verdict import NOT_MEASURED, Change, Defect, Verdict
from validation.records.case import Case
from validation.records.names import metric_name, parameters_of
from validation.records.quantities import contrast

MEANS = {
    "truth_error_goal": "{name} is off by {new}",
    "truth_error_position": "bodies are up to {new} from where they have to be",
    "truth_error_angle": "bodies are turned by up to {new} from how they have to be",
    "truth_error_event_time": "impacts are up to {new} too early or too late",
    "energy_drift": "the energy departs by {new} from what it was",
    "energy_gain": "{new} of energy come from nowhere",
    "momentum_drift": "momentum changes by {new} without a cause",
    "angular_momentum_drift": "angular momentum changes by {new} without a cause",
    "penetration_mean": "bodies sink {new} into one another on average",
    "penetration_max": "bodies sink up to {new} into one another",
    "penetration_final": "at the end bodies are {new} deep in one another",
    "gap_final": "at the end the smallest gap is {new}",
    "rest_time": "bodies come to rest after {new}",
    "rest_drift": "bodies at rest creep by {new}",
    "jitter_velocity": "bodies at rest tremble at {new}",
    "jitter_position": "bodies at rest tremble by {new}",
    "impact_count": "{new} impacts happen",
    "cone_violation": "reported contact forces leave the friction cone by {new} of their size",
    "joint_gap": "joints come apart by {new}",
    "completed_starts": "{new} of the perturbed starts complete",
    "convergence_order": "errors shrink with the power {new} of the time step",
    "step_time": "a step takes {new}",
}
"""By metric; the value with its unit takes the place of {new}."""
SUBJECTS = {
    "upright-block": "the upright block",
    "stack": "the stack of {n}",
    "bouncing-ball": "the ball",
    "bouncing-block": "the block",
    "free-tumble": "the tumbling body",
    "tumbling-block": "the tumbling block",
    "compliant-bounce": "the ball",
    "compliant-rest": "the ball",
    "compliant-cradle": "the row of {n} balls",
    "incline-slide": "the block on the incline",
    "thrown-box": "the thrown box",
    "slide-to-roll": "the ball",
    "newtons-cradle": "the row of {n} balls",
    "rocking-block": "the rocking block",
    "overlapped-start": "the overlapped pair",
    "pair-at-rest": "the pair at rest",
    "block-against-wall": "the block at the wall",
    "double-pendulum": "the double pendulum",
    "sphere-in-sphere": "the rolling ball",
    "break": "the rack of balls",
    "dominoes": "the row of dominoes",
    "pile": "the pile of {n}",
}
"""What a scene of the catalogue is of, by its name; its parameters take their places. Of others: bodies."""
OF_SUBJECT = {
    "truth_error_position": "{subject} is up to {new} from where it has to be",
    "truth_error_angle": "{subject} is turned by up to {new} from how it has to be",
    "energy_drift": "the energy of {subject} departs by {new} from what it was",
    "energy_gain": "{subject} gains {new} of energy from nowhere",
    "penetration_mean": "{subject} sinks {new} on average",
    "penetration_max": "{subject} sinks by up to {new}",
    "penetration_final": "at the end {subject} has sunk by {new}",
    "rest_time": "{subject} comes to rest after {new}",
    "rest_drift": "{subject} creeps by {new} at rest",
    "jitter_velocity": "{subject} trembles at {new} when at rest",
    "jitter_position": "{subject} trembles by {new} when at rest",
    "joint_gap": "{subject} comes apart by {new} at its joints",
}
"""As MEANS, where it is known what the scene is of."""
NEVER = {
    "rest_time": "bodies do not come to rest",
    "rest_drift": "bodies do not come to rest",
    "jitter_velocity": "bodies do not come to rest",
    "jitter_position": "bodies do not come to rest",
    "truth_error_event_time": "an impact that has to happen does not",
    "truth_error_goal": "what the scene is about does not happen",
    "gap_final": "at the end no two bodies are near one another",
}
"""Where it is not a number."""


def meaning(change: Change | Defect, case: Case, *, allowed: str = "") -> str:
    """One sentence without its stop; both values, with the digits that it takes to tell them apart. `allowed` is the
    value that would have been, in words."""
    if isinstance(change, Defect):
        value, limit = contrast(change.value, change.limit, change.unit)
        return f"{_means(change.metric, change.value, value, case)}; physics allows {limit}"
    if change.allowed == NOT_MEASURED:
        return f"{metric_name(change.metric, case)} can no longer be measured"
    new, old = contrast(change.new, change.old, change.unit)
    if math.isnan(change.new):
        return f"{NEVER.get(change.metric, f'{metric_name(change.metric, case)} is no number')} any more"
    now = _means(change.metric, change.new, new, case)
    if math.isnan(change.old):
        return f"{now}; before, {NEVER.get(change.metric, 'it was no number')}"
    return f"{now}, {old} before" + (f"; allowed {allowed}" if allowed else "")


def worst_meaning(verdict: Verdict) -> str:
    """Of the law that is newly broken, else of the change that is told first; "" where nothing moved."""
    fresh = [defect for defect in verdict.defects if not defect.standing]
    described: tuple[Change | Defect, ...] = (*fresh, *verdict.changes)
    return meaning(described[0], verdict.case) if described else ""


def _means(metric: str, value: float, text: str, case: Case) -> str:
    if math.isnan(value):
        return NEVER.get(metric, f"{metric_name(metric, case)} is no number")
    name = metric_name(metric, case).removeprefix("truth error of ")
    subject = _subject(case)
    means = OF_SUBJECT[metric] if subject and metric in OF_SUBJECT else MEANS.get(metric, "{name} is {new}")
    return means.format(name=name, new=text, subject=subject)


def _subject(case: Case) -> str:
    """ "" where the scene is a user's own, or a parameter is not known."""
    try:
        return SUBJECTS.get(case.identity.scenario, "").format_map(parameters_of(case.parameters))
    except KeyError:
        return ""
