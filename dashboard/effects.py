"""What the judge found of a case of a group, as a row shows it."""

from __future__ import annotations

from dashboard import reading
from validation.report import effect
from validation.report.effect import Effect
from validation.report.sentences import worst_meaning
from validation.review.groups import Member


def effect_of(member: Member) -> Effect | None:
    """None where no metric moved, and no law is broken."""
    return effect.effect_of(member.verdict, reading.result(member.number), reading.baseline(member.verdict.baseline))


def meaning_of(member: Member) -> str:
    """What it means for the bodies; "" where nothing moved."""
    found = effect_of(member)
    return found.means if found else worst_meaning(member.verdict)
