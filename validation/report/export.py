"""Every measurement of runs as a table for other programs: CSV or Parquet, one row per measurement.

A case without measurements has one row, in which `metric` is empty; a value that did not happen is empty too.
"""

import json
import math
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.stored import StoredRun
from validation.store.store import Store

TEXT, NUMBER, WHOLE = pa.string(), pa.float64(), pa.int64()
SOURCES = (
    ("run", WHOLE, "run.number"),
    ("started", pa.timestamp("us", tz="UTC"), "run.info.started"),
    ("commit", TEXT, "run.info.commit"),
    ("branch", TEXT, "run.info.branch"),
    ("case", WHOLE, "result.number"),
    ("scenario", TEXT, "result.case.identity.scenario"),
    ("parameters", TEXT, "result.case.parameters"),
    ("label", TEXT, "result.case.label"),
    ("engine", TEXT, "result.case.identity.engine"),
    ("engine_label", TEXT, "result.case.engine_label"),
    ("engine_version", TEXT, "result.case.engine_version"),
    ("profile", TEXT, "result.case.identity.profile"),
    ("dt", NUMBER, "result.case.identity.dt"),
    ("settings", TEXT, "settings"),
    ("platform", TEXT, "result.case.identity.platform"),
    ("alias", TEXT, "result.case.identity.alias"),
    ("outcome", TEXT, "result.outcome"),
    ("reason", TEXT, "result.reason"),
    ("metric", TEXT, "measured.metric"),
    ("value", NUMBER, "value"),
    ("unit", TEXT, "measured.unit"),
    ("better", TEXT, "measured.better"),
    ("noise", TEXT, "measured.noise"),
    ("resolution", NUMBER, "measured.resolution"),
    ("trajectory_hash", TEXT, "result.trajectory_hash"),
    ("wall_time", NUMBER, "result.wall_time"),
    ("stepping_time", NUMBER, "result.stepping_time"),
    ("step_count", WHOLE, "result.step_count"),
    ("peak_memory", WHOLE, "result.peak_memory"),
)
"""Column, its type, and the attribute of a `Row`."""
COLUMNS = pa.schema([(name, kind) for name, kind, _ in SOURCES])
OF_CASE = [(name, attrgetter(path)) for name, _, path in SOURCES if path.startswith(("run.", "result.", "settings"))]
OF_MEASUREMENT = [(name, attrgetter(path)) for name, _, path in SOURCES if path.startswith(("measured.", "value"))]


class Row(NamedTuple):
    run: StoredRun
    result: Result
    measured: Measurement | None = None

    @property
    def settings(self) -> str:
        return json.dumps(dict(self.result.case.settings), sort_keys=True)

    @property
    def value(self) -> float | None:
        return None if self.measured is None or math.isnan(self.measured.value) else self.measured.value


def export_results(store: Store, path: Path, runs: Iterable[int] | None = None) -> int:
    """Write the measurements of these runs, or of all, oldest first; how many. The ending decides: .csv or .parquet."""
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"path: {path.name!r} ends in {path.suffix!r}; allowed: .csv or .parquet")
    chosen = sorted(store.runs(), key=lambda run: run.number) if runs is None else [store.run(n) for n in runs]
    count = 0
    part = path.with_name(path.name + ".part")  # nobody reads half a file
    writer_of = pyarrow.csv.CSVWriter if path.suffix == ".csv" else pyarrow.parquet.ParquetWriter
    try:
        with writer_of(str(part), COLUMNS) as writer:
            for run in chosen:
                rows = [row for result in store.results(run.number) for row in _rows(run, result)]
                count += sum(row["metric"] is not None for row in rows)
                writer.write_table(pa.Table.from_pylist(rows, schema=COLUMNS))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return count


def _rows(run: StoredRun, result: Result) -> Iterator[dict[str, Any]]:
    common = {name: of(Row(run, result)) for name, of in OF_CASE}
    for measured in result.measurements:
        row = Row(run, result, measured)
        yield common | {name: of(row) for name, of in OF_MEASUREMENT}
    if not result.measurements:
        yield common | dict.fromkeys(name for name, _ in OF_MEASUREMENT)
