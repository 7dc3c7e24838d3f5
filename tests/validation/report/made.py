"""A run as the reports get it: results with the verdicts on them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.validation.store.made import case, judged, measurement
from validation.judging.verdict import Verdict
from validation.records.case import Case, Result
from validation.store import Baseline

HOSTILE = "<b>&\"'|`@someone\x1b[31m\x00\ud800 ]]> --> $x$\n# heading #12 [a](b) 球"


def stored(of: Case | None = None, value: float | None = 4e-4, **given: Any) -> Result:
    known: dict[str, Any] = {
        "case": of or case(),
        "outcome": "completed",
        "measurements": () if value is None else (measurement(value=value, noise="tolerance"),),
        "headline": "penetration_mean",
        "trajectory_hash": f"{value}",
        "wall_time": 0.25,
    }
    return Result(**known | given)


def broken(of: Case | None = None, outcome: str = "crashed", reason: str = "SIGSEGV after 1.3 s") -> Result:
    return stored(of, None, outcome=outcome, reason=reason, trajectory_hash="")


def baseline(result: Result) -> Baseline:
    when = datetime(2026, 11, 3, tzinfo=UTC)
    return Baseline(number=1, result=result, branch="main", who="R.", when=when, reason="x", scope="x")


def pair(now: Result, before: Result | None = None, laws: dict[str, float] | None = None) -> tuple[Result, Verdict]:
    return now, judged(None if before is None else baseline(before), now, laws)


def every_kind() -> list[tuple[Result, Verdict]]:
    """A case of each verdict, each on a scenario of its own name."""

    def on(name: str) -> Case:
        return case(name, parameters={})

    return [
        pair(stored(on("passing")), stored(on("passing"))),
        pair(stored(on("improving"), 1e-5), stored(on("improving"), 1e-2)),
        pair(
            stored(
                on("differing"), measurements=(measurement("gap_final", 0.1, better="neither"),), trajectory_hash="y"
            ),
            stored(on("differing"), measurements=(measurement("gap_final", 0.2, better="neither"),)),
        ),
        pair(stored(on("regressing"), 3.2e-3), stored(on("regressing"), 0.4e-3)),
        pair(stored(on("defective"), 2e-3), stored(on("defective"), 0.9e-3), {"penetration_mean": 1e-3}),
        pair(broken(on("breaking")), stored(on("breaking"))),
        pair(broken(on("standing")), broken(on("standing"))),
        pair(broken(on("missing"), "declined", "no e"), stored(on("missing"))),
        pair(stored(on("new"))),
        pair(broken(on("declined"), "declined", "no e"), broken(on("declined"), "declined", "no e")),
    ]
