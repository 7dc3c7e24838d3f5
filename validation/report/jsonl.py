"""One JSON object per case, one case per line: the contract of `--json`. Non-finite values are null.

    {"format": 1, "run", "case", "scenario", "parameters", "engine", "engine_version", "profile", "dt", "settings",
     "outcome", "reason", "metrics": {name: {"value", "unit"}}, "trajectory_hash", "verdict"}

`case` is the same for the same case in every run; `reason` tells why the outcome, or else the verdict, is what it is;
`verdict` is its word, null where nothing was judged.
"""

from __future__ import annotations

import json
import math
from typing import Any

from validation.case import CaseResult
from validation.store.records import StoredResult
from validation.verdict import Verdict

FORMAT = 1


def case_line(run: int, result: CaseResult | StoredResult, verdict: Verdict | None = None) -> str:
    """One line, without its end."""
    found = StoredResult.of(result)
    case = found.case
    line = {
        "format": FORMAT,
        "run": run,
        "case": found.key,
        "scenario": case.identity.scenario,
        "parameters": parameters_of(case.identity.parameters),
        "engine": case.identity.engine,
        "engine_version": case.engine_version,
        "profile": case.identity.profile,
        "dt": case.identity.dt,
        "settings": dict(case.settings),
        "outcome": found.outcome,
        "reason": found.reason or (verdict.reason if verdict else ""),
        "metrics": {m.metric: {"value": m.value, "unit": m.unit} for m in found.measurements},
        "trajectory_hash": found.trajectory_hash or None,
        "verdict": verdict.word if verdict else None,
    }
    return json.dumps(finite(line), allow_nan=False)


def parameters_of(text: str) -> dict[str, Any]:
    """Those of a catalogue scenario; of a scene file its content hash."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    return data if isinstance(data, dict) else {"scene": text}


def finite(data: Any) -> Any:
    """The same with None for NaN and infinity: JSON has neither."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    return [finite(value) for value in data] if isinstance(data, (list, tuple)) else data
