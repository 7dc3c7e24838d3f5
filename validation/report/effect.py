"""What the judge found of one case, as every report shows it: metric, now and accepted, by how much, and what it means.

One home for the row of a summary, of a comment on a pull request and of a page.
"""

import math
from dataclasses import dataclass

from validation.judging.changes import allowed_move
from validation.judging.verdict import Change, Defect, Verdict
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.names import metric_name
from validation.records.quantities import contrast, quantity
from validation.records.stored import Baseline
from validation.report.sentences import (
    NOT_MEASURED,
    describe_allowed,
    describe_evidence,
    describe_happening,
    meaning,
    times,
)

Band = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    name: str  # the metric's own; "" of what happened
    metric: str  # as people call it in this case
    now: str
    accepted: str
    ratio: str  # 8 times; "" where that means nothing
    summary: str  # 12 tolerances; the evidence of ensembles
    means: str  # for the bodies: the stack of 10 sinks 3.1 mm ..., 0.4 mm before; allowed up to 0.44 mm
    band: Band | None  # what the accepted value allows


def effect_of(verdict: Verdict, result: Result | None, baseline: Baseline | None) -> Effect | None:
    """Of what happened on one side only, else of the law that is newly broken, of the gravest change, of a law that was
    broken already; else None.

    `result` is the case's, `baseline` what it was compared with.
    """
    fresh = [defect for defect in verdict.defects if not defect.standing]
    if verdict.grounds.now or verdict.grounds.before:
        return _of_outcomes(verdict)
    if verdict.word == "defect" and fresh:
        return _of_law(fresh[0], verdict, result, baseline)
    if verdict.changes and verdict.word != "pass":
        return _of_change(verdict.changes[0], verdict, result, baseline)
    return _of_law(verdict.standing[0], verdict, result, baseline) if verdict.standing else None


def _of_outcomes(verdict: Verdict) -> Effect:
    now, before = ([describe_happening(one) for one in side] for side in (verdict.grounds.now, verdict.grounds.before))
    return Effect(
        name="",
        metric="what happened",
        now="; ".join(now) or "nothing of the kind",
        accepted="; ".join(before) or "nothing of the kind",
        ratio="",
        summary="",
        means="; ".join(now) if now else f"no longer: {'; '.join(before)}",
        band=None,
    )


def _of_law(defect: Defect, verdict: Verdict, result: Result | None, baseline: Baseline | None) -> Effect:
    now, limit = contrast(defect.value, defect.limit, defect.unit, (_resolution(result, defect.metric), None))
    size = abs(defect.value / defect.limit) if defect.limit else math.inf
    was = _measured(baseline.result if baseline else None, defect.metric)
    accepted = f"at most {limit}"
    if was is not None and math.isfinite(was.value):
        beside = (defect.value, defect.limit)
        accepted = f"{quantity(was.value, was.unit, resolution=was.resolution, beside=beside)}, {accepted}"
    return Effect(
        name=defect.metric,
        metric=metric_name(defect.metric, verdict.case),
        now=now,
        accepted=accepted,
        ratio=f"{times(size)} the limit" if math.isfinite(size) else "",
        summary=f"{times(size)} what physics allows" if math.isfinite(size) else "beyond what physics allows",
        means=meaning(defect, verdict.case),
        band=(-abs(defect.limit), abs(defect.limit)),
    )


def _of_change(change: Change, verdict: Verdict, result: Result | None, baseline: Baseline | None) -> Effect:
    before = baseline.result if baseline else None
    allowed, band = "", None
    if change.allowed is None:
        now, accepted = (NOT_MEASURED if math.isnan(x) else quantity(x, change.unit) for x in (change.new, change.old))
        ratio, described = "", "measured on one side only"
    else:
        # Medians of ensembles are known better than one run resolves: its resolution is not theirs.
        known = (None, None) if change.evidence else (result, before)
        resolutions = (_resolution(known[0], change.metric), _resolution(known[1], change.metric))
        now, accepted = contrast(change.new, change.old, change.unit, resolutions)
        ratio = times(change.ratio) if change.ratio and change.new * change.old > 0.0 else ""
        described = describe_evidence(change) or f"allowed {describe_allowed(change)}"
        tolerance = None if change.evidence else _allowed(before, result, change.metric)
        if tolerance and math.isfinite(change.old):
            band = band_of(*tolerance)
            if math.isfinite(change.new):
                by = abs(change.new - change.old) / tolerance[1]
                far = f"{by:.0f}" if 10.0 <= by < 1e5 else f"{by:.2g}"
                described = f"{far} times the move that is allowed"
                allowed = _most(change, tolerance[0], band)
    return Effect(
        name=change.metric,
        metric=metric_name(change.metric, verdict.case),
        now=now,
        accepted=accepted,
        ratio=ratio,
        summary=described,
        means=meaning(change, verdict.case, allowed=allowed),
        band=band,
    )


def band_of(was: Measurement, allowed: float) -> Band:
    """What an accepted value allows; that of a size, of which less is better, does not go below 0."""
    low = was.value - allowed
    return max(0.0, low) if was.better == "lower" and was.value >= 0.0 else low, was.value + allowed


def _most(change: Change, was: Measurement, band: Band) -> str:
    """The nearest value that would have been allowed: up to 0.44 mm, down to 2.3 s."""
    if change.move == "improved":
        return ""
    up = change.new > change.old
    edge = quantity(band[1] if up else band[0], was.unit, beside=(change.new, change.old))
    return f"up to {edge}" if up else f"down to {edge}"


def _allowed(before: Result | None, result: Result | None, metric: str) -> tuple[Measurement, float] | None:
    """What was accepted, and by how much the metric may differ from it, in its unit."""
    was, now = _measured(before, metric), _measured(result, metric)
    if was is None or now is None or "timing" in (was.noise, now.noise):
        return None
    allowed = allowed_move(was, now)
    return (was, allowed) if math.isfinite(allowed) and allowed > 0.0 else None


def _measured(result: Result | None, metric: str) -> Measurement | None:
    return next((m for m in result.measurements if m.metric == metric), None) if result else None


def _resolution(result: Result | None, metric: str) -> float | None:
    found = _measured(result, metric)
    return found.resolution if found else None
