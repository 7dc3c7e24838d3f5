"""What an engine does wrong and has always done: said in a few lines, for no check fails for it."""

from __future__ import annotations

from collections.abc import Iterable

from validation.judging.verdict import Verdict, standing
from validation.records.names import engine_name
from validation.report.sentences import describe_defect
from validation.report.table import one_line

MOST = 3


def standing_lines(verdicts: Iterable[Verdict], *, most: int = MOST, more: str = "") -> list[str]:
    """None where there are none. `more` is the command that lists the others."""
    found = standing(verdicts)
    if not found:
        return []
    several = len(found) > 1
    lines = [
        f"{len(found)} standing defect{'s' if several else ''}: {'these break' if several else 'this breaks'} a law of "
        "physics, as accepted or before anything is, and fail" + ("" if several else "s") + " no check"
    ]
    for verdict in found[:most]:
        broken = "; ".join(describe_defect(defect, verdict.case) for defect in verdict.standing)
        lines.append(
            "  " + one_line(f"{verdict.case.label} \N{MULTIPLICATION SIGN} {engine_name(verdict.case)}: {broken}")
        )
    if len(found) > most:
        lines.append(f"  and {len(found) - most} more" + (f": {more}" if more else ""))
    return lines
