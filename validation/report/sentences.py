"""What a change of a metric means for the bodies: the stack of 10 sinks 3.1 mm on average, 0.4 mm before; allowed up to
0.44 mm. Filled into the templates that the metrics carry."""

from __future__ import annotations

import math

from validation.judging.convergence import ORDER
from validation.judging.ensembles import COMPLETED
from validation.judging.verdict import NOT_MEASURED, Change, Defect, Verdict
from validation.metrics import METRICS
from validation.metrics.metric import Sentence
from validation.records.case import Case
from validation.records.names import metric_name, subject_of
from validation.records.quantities import contrast

BESIDE = {
    COMPLETED: Sentence("{new} of the perturbed starts complete"),
    ORDER: Sentence("errors shrink with the power {new} of the time step"),
    "step_time": Sentence("a step takes {new}"),
}
"""Of what is measured beside the metrics of a motion."""


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
        return f"{_sentence(change.metric).never or f'{metric_name(change.metric, case)} is no number'} any more"
    now = _means(change.metric, change.new, new, case)
    if math.isnan(change.old):
        return f"{now}; before, {_sentence(change.metric).never or 'it was no number'}"
    return f"{now}, {old} before" + (f"; allowed {allowed}" if allowed else "")


def worst_meaning(verdict: Verdict) -> str:
    """Of the law that is newly broken, else of the change that is told first; "" where nothing moved."""
    fresh = [defect for defect in verdict.defects if not defect.standing]
    described: tuple[Change | Defect, ...] = (*fresh, *verdict.changes)
    return meaning(described[0], verdict.case) if described else ""


def _means(metric: str, value: float, text: str, case: Case) -> str:
    sentence = _sentence(metric)
    if math.isnan(value):
        return sentence.never or f"{metric_name(metric, case)} is no number"
    name = metric_name(metric, case).removeprefix("truth error of ")
    subject = subject_of(case)
    template = (subject and sentence.of_subject) or sentence.of_bodies
    return template.format(name=name, new=text, subject=subject)


def _sentence(metric: str) -> Sentence:
    return METRICS[metric].sentence if metric in METRICS else BESIDE.get(metric, Sentence())
