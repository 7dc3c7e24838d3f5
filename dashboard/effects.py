"""What the judge found, as a row shows it: metric, now and accepted, by how much of what is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dashboard import reading
from validation.groups import Member
from validation.judge import allowed_move
from validation.measurement import Measurement
from validation.report.meaning import worst_meaning
from validation.report.names import metric_name
from validation.report.quantity import contrast, quantity
from validation.store import StoredResult
from validation.verdict import NOT_MEASURED, Verdict, times


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    name: str  # the metric's own
    metric: str  # as people call it in this case
    now: str
    accepted: str
    told: str  # 12 tolerances; 406 times; the evidence of ensembles
    band: tuple[float, float] | None  # what the accepted value allows


def meaning_of(verdict: Verdict) -> str:
    return worst_meaning(verdict)


def effect_of(member: Member) -> Effect | None:
    """Of the law that is newly broken, else of the change that is told first; None where no metric moved."""
    verdict = member.verdict
    fresh = [defect for defect in verdict.defects if not defect.standing]
    if verdict.word == "defect" and fresh:
        defect = fresh[0]
        now, limit = contrast(defect.value, defect.limit, defect.unit)
        size = abs(defect.value / defect.limit) if defect.limit else math.inf
        return Effect(
            name=defect.metric,
            metric=metric_name(defect.metric, verdict.case),
            now=now,
            accepted=f"at most {limit}",
            told=f"{times(size)} what physics allows" if math.isfinite(size) else "beyond what physics allows",
            band=(-abs(defect.limit), abs(defect.limit)),
        )
    if not verdict.changes:
        return None
    change = verdict.changes[0]
    if change.allowed == NOT_MEASURED:
        return Effect(
            name=change.metric,
            metric=metric_name(change.metric, verdict.case),
            now=NOT_MEASURED,
            accepted=quantity(change.old, change.unit),
            told="no longer measured",
            band=None,
        )
    now, accepted = contrast(change.new, change.old, change.unit)
    allowed = None if change.evidence else _allowed(member, change.metric)
    told = change.evidence or f"allowed {change.allowed}"
    band = None
    if allowed and math.isfinite(change.old):
        band = band_of(*allowed)
        if math.isfinite(change.new):
            told = f"{_figure(abs(change.new - change.old) / allowed[1])} tolerances"
    return Effect(
        name=change.metric,
        metric=metric_name(change.metric, verdict.case),
        now=now,
        accepted=accepted,
        told=told,
        band=band,
    )


def band_of(was: Measurement, allowed: float) -> tuple[float, float]:
    """What an accepted value allows; that of a size, of which less is better, does not go below 0."""
    low = was.value - allowed
    return max(0.0, low) if was.better == "lower" and was.value >= 0.0 else low, was.value + allowed


def _allowed(member: Member, metric: str) -> tuple[Measurement, float] | None:
    """What was accepted, and by how much the metric may differ from it, in its unit."""
    baseline = reading.baseline(member.verdict.baseline)
    if baseline is None:
        return None
    was, now = (_measured(result, metric) for result in (baseline.result, reading.result(member.number)))
    if was is None or now is None or "timing" in (was.noise, now.noise):
        return None
    allowed = allowed_move(was, now)
    return (was, allowed) if math.isfinite(allowed) and allowed > 0.0 else None


def _measured(result: StoredResult, metric: str) -> Measurement | None:
    return next((m for m in result.measurements if m.metric == metric), None)


def _figure(value: float) -> str:
    return f"{value:.0f}" if 10.0 <= value < 1e5 else f"{value:.2g}"
