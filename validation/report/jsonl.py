"""One JSON object per case, one case per line: the contract of `--json`. Non-finite values are null.

    {"format": 2, "run", "case", "scenario", "parameters", "engine", "engine_version", "profile", "dt", "settings",
     "outcome", "reason", "happened": [{"kind", "bodies", "right", "time", "value", "unit"}],
     "metrics": {name: {"value", "unit"}}, "trajectory_hash", "taken_from", "verdict", "worse",
     "changes": [{"metric", "old", "new", "unit", "move", "weight"}], "divergence"}

A metric has a "resolution" too, in its unit, where something limits it: the samples around an impact, single precision,
the fall of a time step. `case` is the same for the same case in every run; `reason` is that of the outcome, or else of
the verdict; `verdict` is its kind, null where nothing was judged, and `worse` whether a check fails for it. `happened`
is what happened in the motion, null where that is not known, with `right` null where nothing says whether it should.
`changes` are metrics that moved by more than their noise, what the verdict rests on first; their weight is negligible,
visible or gross, null for less than twofold. Format 1 had neither of the three.
`taken_from` is the run that simulated it, where nothing has changed since that decides the result; null: this one did.
`divergence` is where the motion first differs from the accepted one, {"first": {"sample", "time", "body",
"coordinate", "size", "unit", "others"}, "last", "contact"}; null where it does not, or where one of the two is not
stored.
"""

import json
import math
from dataclasses import asdict
from typing import Any

from validation.judging.verdict import Change, Verdict
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.names import parameters_of
from validation.report.sentences import reason_of

FORMAT = 2


def case_line(run: int, result: Result, verdict: Verdict | None = None) -> str:
    """One line, without its end."""
    case = result.case
    return json_line(
        run=run,
        case=result.key,
        scenario=case.identity.scenario,
        parameters=parameters_of(case.parameters),
        engine=case.identity.engine,
        engine_version=case.engine_version,
        profile=case.identity.profile,
        dt=case.identity.dt,
        settings=dict(case.settings),
        outcome=result.outcome,
        reason=result.reason or (reason_of(verdict) if verdict else ""),
        happened=None if result.outcomes is None else [asdict(one) for one in result.outcomes],
        metrics={m.metric: _metric(m) for m in result.measurements},
        trajectory_hash=result.trajectory_hash or None,
        taken_from=result.taken_from or None,
        verdict=verdict.word if verdict else None,
        worse=verdict.worse if verdict else None,
        changes=[_change(change) for change in verdict.changes] if verdict else [],
        divergence=asdict(verdict.divergence) if verdict and verdict.divergence else None,
    )


def _metric(measured: Measurement) -> dict[str, Any]:
    known: dict[str, Any] = {"value": measured.value, "unit": measured.unit}
    return known if measured.resolution is None else known | {"resolution": measured.resolution}


def _change(change: Change) -> dict[str, Any]:
    weight = None if change.weight is None else change.weight.name.lower()
    known = {"metric": change.metric, "old": change.old, "new": change.new, "unit": change.unit}
    return known | {"move": change.move, "weight": weight}


def json_line(**given: Any) -> str:
    """An object with the number of the format, on one line without its end."""
    return json.dumps(finite({"format": FORMAT, **given}), allow_nan=False)


def finite(data: Any) -> Any:
    """The same with None for NaN and infinity: JSON has neither."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    return [finite(value) for value in data] if isinstance(data, (list, tuple)) else data
