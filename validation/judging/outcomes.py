"""What happened on two sides, and which sign that gives a change, before any number."""

from collections import Counter
from typing import Literal

from validation.records.case import Result
from validation.records.outcome import OPPOSITE


def of_outcomes(old: Result, new: Result) -> Literal["worse", "better", "mixed", "different"] | None:
    """By what went wrong, before any number: each kind counted; None where both sides have as much of each."""
    wrong = [
        Counter(one.kind for one in side.outcomes for _ in one.bodies or ("",) if one.right is False)
        for side in (old, new)
    ]
    more = {kind for kind in wrong[1] if wrong[1][kind] > wrong[0][kind]}
    fewer = {kind for kind in wrong[0] if wrong[0][kind] > wrong[1][kind]}
    if more or fewer:
        return "mixed" if more and fewer else "worse" if more else "better"
    unknown = [
        {(one.kind, name) for one in side.outcomes for name in one.bodies or ("",) if one.right is None}
        for side in (old, new)
    ]
    turned = {(OPPOSITE[kind], name) for kind, name in unknown[0]} & unknown[1]
    return "different" if turned else None
