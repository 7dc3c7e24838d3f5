"""How large a database of 10,000,000 measurements is, how long its queries take, and how many jobs it takes an hour.

    python -P ci/benchmarks/sizes.py [--database FILE] [--scenarios 250] [--url postgresql://...]

The history is that of `dashboard.py`, made in a SQLite file (one that is there is used as it is) and copied row by row
to an empty database of a PostgreSQL server: the benchmark's own, with its defaults, or that of --url, whose role has to
be an administrator. Of each query the least time of several is printed: of the processor for SQLite, in whose process
it is all done, and of the clock for a server. A job is what `check` stores: a run of all cases with their verdicts, in
batches of 16, of motions that are stored already.
"""

import argparse
import contextlib
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))
import psycopg

from tests.validation.store.postgresql import own_server
from validation.running.provenance import describe_run
from validation.store import Store, models, open_store

SCENARIOS, AT_ONCE, TIMES, JOBS = 250, 16, 5, 3
METRIC = "penetration_mean"


def history(path: Path, scenarios: int) -> None:
    from importlib import util

    spec = util.spec_from_file_location("dashboard_benchmark", Path(__file__).with_name("dashboard.py"))
    assert spec is not None and spec.loader is not None
    made = util.module_from_spec(spec)  # by its path: the package of the dashboard has its name
    spec.loader.exec_module(made)
    made.of_size(scenarios)
    made.build(path)


def copy(path: Path, url: str) -> None:
    """Every row, with the numbers that it has."""
    open_store(url).close()
    with contextlib.closing(sqlite3.connect(path)) as source, psycopg.connect(url) as target, target.cursor() as cursor:
        cursor.execute("SET timezone = 'UTC'")
        cursor.execute("SET session_replication_role = 'replica'")  # nothing refers to what is not there
        for table in models.Base.metadata.sorted_tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as rows:  # type: ignore[arg-type]
                for row in source.execute(f"SELECT {names} FROM {table.name}"):
                    rows.write_row(row)
            if "id" in table.columns:
                latest = f"SELECT COALESCE(MAX(id), 1) FROM {table.name}"
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), ({latest}))")  # type: ignore[arg-type]
    with psycopg.connect(url, autocommit=True) as target:
        target.execute("VACUUM ANALYZE")


def queries(store: Store) -> dict[str, Callable[[], Any]]:
    run = store.latest_run()
    assert run is not None
    identity = store.cases(run)[0].identity.key
    return {
        "verdict groups of a branch, also closed ones": lambda: store.groups(run, closed=True),
        "what is accepted": lambda: store.baselines("main"),
        "all runs, with how many cases are done": store.runs,
        "results of a run": lambda: store.results(run),
        "history of a metric": lambda: store.history(identity, METRIC),
        "prune, counting": lambda: store.removable(days=90.0),
    }


def least(what: Callable[[], Any], clock: Callable[[], float]) -> float:
    """Seconds, of several times after a first one."""
    found = []
    for _ in range(TIMES + 1):
        began = clock()
        what()
        found.append(clock() - began)
    return min(found[1:])


def job(store: Store, clock: Callable[[], float]) -> None:
    """What the latest run has, stored as another one."""
    latest = store.latest_run()
    assert latest is not None
    results, verdicts = store.results(latest), store.verdicts(latest)
    began = clock()
    run = store.begin_run(replace(describe_run("a job"), branch="main"), [one.case for one in results])
    for first in range(0, len(results), AT_ONCE):
        store.save_results(run, results[first : first + AT_ONCE])
    store.baselines_of(run)
    store.save_verdicts(run, verdicts)
    store.finish_run(run)
    store.carry_over(run)
    took = clock() - began
    print(f"  a job of {len(results)} cases is stored in {took:.2f} s: {3600 / took:.0f} an hour, one after the other")


def report(name: str, where: str, clock: Callable[[], float]) -> None:
    with open_store(where) as store:
        total, _ = store.size()
        print(f"{name}: {total / 1e9:.2f} GB")
        times = {what: least(query, clock) for what, query in queries(store).items()}
        for what, took in times.items():
            print(f"  {what:46}{took:8.2f} s")
        slowest = max((what for what in times if not what.startswith("prune")), key=times.__getitem__)
        print(f"  the slowest that a page waits for: {slowest}, {times[slowest]:.2f} s")
        for _ in range(JOBS):
            job(store, clock)


def table_sizes(url: str) -> None:
    query = (
        "SELECT relname, pg_total_relation_size(relid), pg_indexes_size(relid) FROM pg_stat_user_tables "
        "ORDER BY 2 DESC LIMIT 4"
    )
    with psycopg.connect(url) as connection:
        for table, size, indexes in connection.execute(query):
            print(f"  {table:20}{size / 1e6:8.0f} MB, of it indexes {indexes / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=Path, help="a SQLite file with the history, or where to make it")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS, help="each on two engines, ten metrics, 2000 runs")
    parser.add_argument("--url", default="", help="an empty database of a server")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = given.database or folder / "history.db"
        if not path.exists():
            history(path, given.scenarios)
        url = given.url
        if not url:
            server = stack.enter_context(own_server())
            server.psql("CREATE DATABASE sizes")
            url = server.url("sizes")
        began = time.perf_counter()
        copy(path, url)
        print(f"copied to PostgreSQL in {time.perf_counter() - began:.0f} s")
        report("PostgreSQL, by the clock", url, time.perf_counter)
        table_sizes(url)
        shutil.copy(path, folder / "jobs.db")
        report("SQLite, of the processor", str(folder / "jobs.db"), time.process_time)


if __name__ == "__main__":
    main()
