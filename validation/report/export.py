"""Every measurement of runs as a table for other programs: CSV or Parquet, one row per measurement.

A case without measurements has one row, in which `metric` is empty; a value that did not happen is empty too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from validation.records.case import Result
from validation.records.stored import StoredRun
from validation.store.store import Store

TEXT, NUMBER, WHOLE = pa.string(), pa.float64(), pa.int64()
COLUMNS = pa.schema(
    [
        ("run", WHOLE),
        ("started", pa.timestamp("us", tz="UTC")),
        ("commit", TEXT),
        ("branch", TEXT),
        ("case", WHOLE),
        ("scenario", TEXT),
        ("parameters", TEXT),
        ("label", TEXT),
        ("engine", TEXT),
        ("engine_label", TEXT),
        ("engine_version", TEXT),
        ("profile", TEXT),
        ("dt", NUMBER),
        ("settings", TEXT),
        ("platform", TEXT),
        ("alias", TEXT),
        ("outcome", TEXT),
        ("reason", TEXT),
        ("metric", TEXT),
        ("value", NUMBER),
        ("unit", TEXT),
        ("better", TEXT),
        ("noise", TEXT),
        ("resolution", NUMBER),
        ("trajectory_hash", TEXT),
        ("wall_time", NUMBER),
        ("stepping_time", NUMBER),
        ("step_count", WHOLE),
        ("peak_memory", WHOLE),
    ]
)


def export_results(store: Store, path: Path, runs: Iterable[int] | None = None) -> int:
    """Write the measurements of these runs, or of all, oldest first; how many. The ending decides: .csv or .parquet."""
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"path: {path.name!r} ends in {path.suffix!r}; allowed: .csv or .parquet")
    chosen = sorted(store.runs(), key=lambda run: run.number) if runs is None else [store.run(n) for n in runs]
    count = 0
    part = path.with_name(path.name + ".part")  # nobody reads half a file
    try:
        with _writer(part, path.suffix) as writer:
            for run in chosen:
                rows = [row for result in store.results(run.number) for row in _rows(run, result)]
                count += sum(row["metric"] is not None for row in rows)
                writer.write_table(pa.Table.from_pylist(rows, schema=COLUMNS))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return count


def _writer(path: Path, ending: str) -> Any:
    if ending == ".csv":
        return pyarrow.csv.CSVWriter(str(path), COLUMNS)
    return pyarrow.parquet.ParquetWriter(str(path), COLUMNS)


def _rows(run: StoredRun, result: Result) -> Iterator[dict[str, Any]]:
    case = result.case
    common: dict[str, Any] = {
        "run": run.number,
        "started": run.info.started,
        "commit": run.info.commit,
        "branch": run.info.branch,
        "case": result.number,
        "scenario": case.identity.scenario,
        "parameters": case.parameters,
        "label": case.label,
        "engine": case.identity.engine,
        "engine_label": case.engine_label,
        "engine_version": case.engine_version,
        "profile": case.identity.profile,
        "dt": case.identity.dt,
        "settings": json.dumps(dict(case.settings), sort_keys=True),
        "platform": case.identity.platform,
        "alias": case.identity.alias,
        "outcome": result.outcome,
        "reason": result.reason,
        "trajectory_hash": result.trajectory_hash,
        "wall_time": result.wall_time,
        "stepping_time": result.stepping_time,
        "step_count": result.step_count,
        "peak_memory": result.peak_memory,
    }
    for m in result.measurements:
        value = None if math.isnan(m.value) else m.value
        yield common | {
            "metric": m.metric,
            "value": value,
            "unit": m.unit,
            "better": m.better,
            "noise": m.noise,
            "resolution": m.resolution,
        }
    if not result.measurements:
        yield common | dict.fromkeys(("metric", "value", "unit", "better", "noise", "resolution"))
