"""Many writers on one PostgreSQL server: is any measurement lost or doubled, and how many are stored a second?

    python -P ci/benchmarks/writers.py [--writers 16] [--measurements 1000000] [--url postgresql://...]

Each writer stores run after run as `upright run` does: the plan, then 16 results of 20 metrics in a transaction, each
with a motion, and the end. In the end every measurement is counted, and compared with what its writer says it wrote.
Without --url the server is the benchmark's own, with its defaults.
"""

import argparse
import contextlib
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
import sqlalchemy as sa

from tests.validation.store import made
from tests.validation.store.postgresql import own_server
from validation.running.provenance import describe_run
from validation.store import open_store

CASES, METRICS, AT_ONCE = 160, 20, 16  # of a run; of a case; results of a transaction
EVERY = (
    "SELECT c.run_id, m.metric, m.value FROM measurements m JOIN cases c ON c.id = m.case_id ORDER BY c.run_id, c.id"
)


def value_of(writer: int, turn: int, n: int, metric: int) -> float:
    """Distinguished from all others."""
    return 1e9 * writer + 1e4 * turn + n + metric / 100.0


def write(url: str, writer: int, runs: int) -> list[int]:
    """The runs' numbers."""
    info, numbers = describe_run(f"writer {writer}"), []
    with open_store(url) as store:
        for turn in range(runs):
            cases = [made.case(parameters={"n": n}) for n in range(CASES)]
            run = store.begin_run(info, cases)
            for first in range(0, CASES, AT_ONCE):
                store.save_results(
                    run,
                    [
                        made.result(
                            cases[n],
                            *(made.measurement(f"m{k}", value_of(writer, turn, n, k)) for k in range(METRICS)),
                            trajectory=made.falling(samples=30 + n),
                        )
                        for n in range(first, first + AT_ONCE)
                    ],
                )
            store.finish_run(run)
            numbers.append(run)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--measurements", type=int, default=1_000_000)
    parser.add_argument("--url", default="", help="an empty database")
    given = parser.parse_args()
    runs = -(-given.measurements // (given.writers * CASES * METRICS))
    with contextlib.ExitStack() as stack:
        url = given.url
        if not url:
            server = stack.enter_context(own_server())
            server.psql("CREATE DATABASE written")
            url = server.url("written")
        open_store(url).close()
        pool = stack.enter_context(ProcessPoolExecutor(given.writers, multiprocessing.get_context("spawn")))
        list(pool.map(time.sleep, [0.5] * given.writers))
        began = time.perf_counter()
        written = list(pool.map(write, [url] * given.writers, range(given.writers), [runs] * given.writers))
        took = time.perf_counter() - began
        owner = {run: (writer, turn) for writer, numbers in enumerate(written) for turn, run in enumerate(numbers)}
        right = {run: [value_of(*of, n, k) for n in range(CASES) for k in range(METRICS)] for run, of in owner.items()}
        found: dict[int, list[float]] = {}
        engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.connect() as connection:
            for run, _, value in connection.execution_options(yield_per=10_000).exec_driver_sql(EVERY):
                found.setdefault(run, []).append(value)
        engine.dispose()
    count = sum(map(len, found.values()))
    wrong = [run for run in owner.keys() | found.keys() if sorted(found.get(run, [])) != sorted(right.get(run, []))]
    print(
        f"{count} measurements, {len(owner)} runs, {given.writers} writers: {took:.0f} s, {count / took:.0f} a second"
    )
    print(f"{len(wrong)} runs lost, doubled or not whole (target: 0)")
    raise SystemExit(1 if wrong or count < given.measurements else 0)


if __name__ == "__main__":
    main()
