"""How long each page of the dashboard takes from SQLite with a long history: 2,000 runs, 2,000,000 measurements.

    python -P ci/benchmarks/dashboard.py [--database FILE] [--scenarios 50]    a FILE that is there is used as it is

With 250 scenarios it is 10,000,000 measurements.

A hundred cases with ten metrics each over 2,000 commits: noise of 3 %, exact constants, steps of 5 % at known commits;
what a step makes worse is reported for 40 runs and then accepted, the last ones are open. The motions are real, of one
stack on two engines. Pages are run as Streamlit runs them, without a browser: once, which loads what they need, then
with all that they remember of the database forgotten (Streamlit's cache emptied), five times. What draws charts is
there already, as the server imports it a moment after its start. The least counts: what else the machine does only
adds.
"""

import argparse
import json
import logging
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
RUNS, SCENARIOS, METRICS = 2000, 50, 10
ENGINES = ("pymunk", "box2d")
NOISE, STEP, REPORTED, FAULTS = 0.03, 0.05, 40, 24
OPEN = (30, 14, 6, 1)  # runs before the end: the faults that are still reported
TARGET = 1.0  # s
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


# --- the history --------------------------------------------------------------------------------------------------


def of_size(scenarios: int) -> None:
    """What is built, and asked for, from now on."""
    global SCENARIOS
    SCENARIOS = scenarios


def build(path: Path) -> None:
    """Two real results, and rows made from theirs."""
    from validation.records.case import Identity
    from validation.running.options import Options
    from validation.running.runner import Limits
    from validation.running.session import run_session
    from validation.store import open_store

    options = Options(scenarios=("stack:n=5",), engines=ENGINES, limits=Limits(), quiet=True, database=str(path))
    with open_store(path) as store:
        session = run_session(store, options, "upright run")
        store.accept(session.run, who="R.", reason="first look")
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous=OFF")
    (run,) = rows_of(database, "runs")
    first = {row["engine"]: row for row in rows_of(database, "cases")}
    (entry,) = rows_of(database, "ledger")
    for table in ("verdicts", "ledger_cases", "measurements", "ledger", "cases", "runs"):
        database.execute(f"DELETE FROM {table}")
    random = np.random.default_rng(20261121)
    old = random.choice(np.arange(60, RUNS - 60), FAULTS - len(OPEN), replace=False)
    faults = [*sorted(old.tolist()), *(RUNS - before for before in OPEN)]
    histories = [History(random, k, faults) for k in range(SCENARIOS * len(ENGINES))]
    for h in histories:
        known = {field.name: first[h.engine][field.name] for field in fields(Identity)}
        h.identity = Identity(**known | {"given": h.parameters}).key
    write(database, "runs", (run_row(run, number) for number in range(1, RUNS + 1)))
    write(database, "cases", case_rows(first, histories))
    write(database, "measurements", measurement_rows(histories))
    write(database, "ledger", (entry | {"id": n + 1, "reason": f"accepted {n}"} for n in range(FAULTS + 1)))
    write(database, "ledger_cases", entry_case_rows(histories))
    write(database, "verdicts", verdict_rows(histories))
    write(database, "verdict_groups", group_rows(histories))
    write(database, "group_members", member_rows(histories))
    database.execute("ANALYZE")
    database.commit()
    database.close()


class History:
    """One case over the runs: its values, and at which runs its first metric became worse."""

    def __init__(self, random: np.random.Generator, number: int, faults: list[int]) -> None:
        self.number = number
        self.engine = ENGINES[number % len(ENGINES)]
        self.scenario = f"stack:n={number // len(ENGINES) + 2}"
        self.parameters = json.dumps({"n": number // len(ENGINES) + 2})
        self.identity = ""  # known when the real case is
        self.faults = [(k, run) for k, run in enumerate(faults) if random.random() < 0.15 or (k + number) % 40 == 0]
        self.values = np.exp(NOISE * random.standard_normal((RUNS, METRICS))) * 1e-3
        self.values[:, METRICS // 2 :] = 1e-3  # half of them are exact
        for _, run in self.faults:
            self.values[run:, 0] *= 1.0 + STEP
            self.values[run:, METRICS // 2] *= 1.0 + STEP

    def case(self, run: int) -> int:
        """Its number in the database; runs are counted from 0."""
        return run * SCENARIOS * len(ENGINES) + self.number + 1

    def worse(self, run: int) -> int | None:
        """The fault that is reported in this run."""
        return next((fault for _, fault in reversed(self.faults) if fault <= run < fault + REPORTED), None)


def rows_of(database: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    cursor = database.execute(f"SELECT * FROM {table}")
    return [dict(zip([column[0] for column in cursor.description], row)) for row in cursor]


def write(database: sqlite3.Connection, table: str, rows: Iterator[dict[str, Any]]) -> None:
    first = next(rows)
    names = ", ".join(f'"{name}"' for name in first)
    marks = ", ".join("?" for _ in first)
    statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
    database.execute(statement, tuple(first.values()))
    database.executemany(statement, (tuple(row.values()) for row in rows))


def moment(run: int) -> str:
    return (BEGIN + timedelta(hours=4 * run)).strftime("%Y-%m-%d %H:%M:%S.%f")


def run_row(run: dict[str, Any], number: int) -> dict[str, Any]:
    commit = f"{number * 2654435761 % 2**32:08x}" + "0" * 32
    when = moment(number)
    return run | {"id": number, "rank": number, "started": when, "finished": when, "commit": commit, "branch": "main"}


def case_rows(first: dict[str, dict[str, Any]], histories: list[History]) -> Iterator[dict[str, Any]]:
    for run in range(RUNS):
        for h in histories:
            row = first[h.engine] | {"id": h.case(run), "run_id": run + 1, "trajectory_hash": f"{run}"}
            row |= {"key": f"{h.identity}-0", "identity_key": h.identity, "label": h.scenario}
            yield row | {"given": h.parameters, "parameters": h.parameters, "headline": "penetration_mean"}


NAMES = (
    *("step_time", "penetration_mean", "truth_error_position", "energy_drift", "jitter_position"),
    *("penetration_max", "penetration_final", "energy_gain", "rest_drift", "gap_final"),
)


def measurement_rows(histories: list[History]) -> Iterator[dict[str, Any]]:
    for run in range(RUNS):
        for h in histories:
            for k, value in enumerate(h.values[run].tolist()):
                row = {"case_id": h.case(run), "metric": NAMES[k], "position": k, "value": value, "resolution": None}
                unit, noise = ("m", "tolerance") if k else ("s", "timing")
                yield row | {"unit": unit, "better": "lower", "noise": noise}


def acceptances(histories: list[History]) -> Iterator[tuple[int, History, int, int]]:
    """(number, case's history, run accepted, entry): all at the first run, then what became worse."""
    number = 0
    for h in histories:
        number += 1
        yield number, h, 0, 1
    for h in histories:
        for k, fault in h.faults:
            if fault + REPORTED < RUNS:
                number += 1
                yield number, h, fault + REPORTED - 1, k + 2


def entry_case_rows(histories: list[History]) -> Iterator[dict[str, Any]]:
    for number, h, run, entry in acceptances(histories):
        yield {"id": number, "entry_id": entry, "case_id": h.case(run)}


def verdict_rows(histories: list[History]) -> Iterator[dict[str, Any]]:
    from validation.judging.verdict import Change, to_json

    accepted = {h.number: sorted((run, n) for n, of, run, _ in acceptances(histories) if of is h) for h in histories}
    for run in range(RUNS):
        for h in histories:
            fault = h.worse(run)
            baseline = max(n for since, n in accepted[h.number] if since <= run)
            old, new = 1e-3, float(h.values[run, METRICS // 2])
            change = Change(metric="penetration_max", old=old, new=new, unit="m", move="regressed", allowed="3 %")
            yield {
                "case_id": h.case(run),
                "baseline_id": baseline,
                "word": "pass" if fault is None else "regressed",
                "worse": fault is not None,
                "reason": "as accepted" if fault is None else "penetration_max 1.05 mm, was 1 mm (+5 %, allowed 3 %)",
                "changes": to_json([] if fault is None else [change]),
                "defects": "[]",
                "divergence": "",
            }


def group_rows(histories: list[History]) -> Iterator[dict[str, Any]]:
    faults = sorted({(fault, h.engine) for h in histories for _, fault in h.faults})
    for number, (fault, engine) in enumerate(faults, 1):
        cause = {"branch": "main", "engine_label": engine, "word": "regressed"}
        yield cause | {"id": number, "key": f"{fault}-{engine}", "since_run": fault + 1, "good_run": fault}


def member_rows(histories: list[History]) -> Iterator[dict[str, Any]]:
    numbers = {(row["good_run"], row["engine_label"]): row["id"] for row in group_rows(histories)}
    for run in range(RUNS):
        for h in histories:
            fault = h.worse(run)
            if fault is not None:
                yield {"case_id": h.case(run), "group_id": numbers[fault, h.engine]}


# --- the pages ----------------------------------------------------------------------------------------------------


def pages() -> dict[str, dict[str, str]]:
    return {
        "inbox": {},
        "review": {"run": str(RUNS)},
        "case": {"case": str(RUNS * SCENARIOS * len(ENGINES))},
        "compare": {"a": str(RUNS - 400), "b": str(RUNS)},
        "engines": {"run": str(RUNS)},
        "baselines": {},
        "runs": {},
    }


TIMES = 5


def seconds(page: str, query: dict[str, str]) -> tuple[float, float]:
    """Of the first run of a page, and the least of later ones that read the database anew."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    def once() -> float:
        app = AppTest.from_string(f"from dashboard import {page}_page\n{page}_page.show()", default_timeout=120)
        for name, value in query.items():
            app.query_params[name] = value
        begin = time.perf_counter()
        app.run()
        took = time.perf_counter() - begin
        if app.exception:
            raise RuntimeError(f"{page}: {app.exception[0].message}")
        return took

    first = once()
    later = []
    for _ in range(TIMES):
        st.cache_data.clear()
        later.append(once())
    return first, min(later)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=Path, help="where the history is kept")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS, help="each on two engines, of ten metrics")
    given = parser.parse_args()
    of_size(given.scenarios)
    sys.path.append(str(ROOT))
    from validation.running.options import Progress
    from validation.running.session import warm_kernels

    warm_kernels(Progress())
    import altair  # noqa: F401  as the server does by itself, beside its first page

    logging.disable(logging.WARNING)  # Streamlit's, of a script without a browser
    with tempfile.TemporaryDirectory() as folder:
        path = given.database or Path(folder) / "history.db"
        if not path.exists():
            begin = time.perf_counter()
            build(path)
            print(f"made in {time.perf_counter() - begin:.0f} s: {path.stat().st_size / 1e6:.0f} MB")
        os.environ["UPRIGHT_DB"] = str(path)
        print(f"{'page':12}{'first':>10}{'then':>10}   s")
        worst = ("", 0.0)
        for page, query in pages().items():
            first, later = seconds(page, query)
            print(f"{page:12}{first:10.2f}{later:10.2f}")
            worst = max(worst, (page, later), key=lambda one: one[1])
    short = "" if worst[1] < TARGET else "; short"
    print(f"slowest page, {worst[0]}: {worst[1]:.2f} s (target: below {TARGET:g} s){short}")
    return int(worst[1] >= TARGET)


if __name__ == "__main__":
    sys.exit(main())
