"""Two writers and one reader on one SQLite file: is any measurement lost or doubled, does anyone see an error?

    python -P ci/benchmarks/concurrent_store.py [--seconds 300] [--db PATH]

Each writer stores run after run as `upright check` does: the plan, results with motions in several transactions,
verdicts, the end; it accepts and marks now and then. The reader asks meanwhile what a dashboard asks, and every answer
has to be whole: of a run that is finished every measurement once, with the value that was written. In the end all that
the writers say they wrote is counted. Any exception anywhere is an error.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from validation.records.case import Case, Result
from validation.running.provenance import describe_run
from validation.store import Store, open_store

sys.path.append(str(Path(__file__).parents[2]))
from tests.validation.store import made

CASES, METRICS, AT_ONCE = 12, 20, 4  # of a run; results of a transaction
WRITERS = 2
ACCEPT_EVERY, MARK_EVERY = 5, 3  # runs
START_LIMIT = 120.0  # s


def case(number: int) -> Case:
    return made.case(f"scene {number}", parameters={})


def value_of(writer: int, turn: int, number: int, metric: int) -> float:
    """Distinguished from all others, and worse from turn to turn."""
    return 1e6 * (writer + 1) + 1e3 * turn + number + metric / 100.0


def result(writer: int, turn: int, number: int) -> Result:
    pose = np.random.default_rng([writer, turn, number]).normal(size=(60, 2, 3))
    values = (made.measurement(f"m{metric}", value_of(writer, turn, number, metric)) for metric in range(METRICS))
    return made.result(case(number), *values, trajectory=replace(made.falling(samples=60), pose=pose))


def write(until: float, where: str, writer: int) -> dict[int, int]:
    """Run -> turn, of all that was written."""
    written: dict[int, int] = {}
    info = describe_run(f"writer {writer}")
    with open_store(where) as store:
        while time.monotonic() < until:
            turn = len(written)
            run = store.begin_run(info, [case(number) for number in range(CASES)])
            results = [result(writer, turn, number) for number in range(CASES)]
            for first in range(0, CASES, AT_ONCE):
                store.save_results(run, results[first : first + AT_ONCE])
            baselines = store.baselines(info.branch)
            found = store.results(run)
            store.save_verdicts(run, [made.judged(baselines.get(r.case.identity.key), r) for r in found])
            store.finish_run(run)
            if turn % ACCEPT_EVERY == 0:
                store.accept(run, who=f"writer {writer}", reason="so")
            elif turn % MARK_EVERY == 0:
                store.mark("acknowledge", [found[0].number], who=f"writer {writer}", reason="so", scope="one")
            written[run] = turn
    return written


def read(until: float, where: str) -> int:
    """How many times all that a page asks was answered, and whole."""
    rounds = 0
    with open_store(where) as store:
        while time.monotonic() < until:
            run = store.latest_run()
            if run is None:
                continue
            whole(store, run)
            store.verdicts(run)
            store.groups(run, closed=rounds % 10 == 0)
            store.entries(limit=20)
            store.runs(limit=50)
            points = store.history(case(0).identity.key, "m0")
            assert len({point.case for point in points}) == len(points), "a point of the history stands twice"
            rounds += 1
    return rounds


def whole(store: Store, run: int, written: tuple[int, int] | None = None) -> None:
    """Every case and metric of a finished run once, with the value that belongs there."""
    results = store.results(run)
    assert len(results) == CASES, f"run {run} has {len(results)} results of {CASES}"
    first = round(results[0].measurements[0].value)
    writer, turn = written or (first // 1_000_000 - 1, first % 1_000_000 // 1000)
    for number, one in enumerate(results):
        values = [m.value for m in one.measurements]
        right = [value_of(writer, turn, number, m) for m in range(METRICS)]
        assert values == right, f"run {run}, case {number}: {values}"


def wait_for(barrier: Any) -> None:
    """Keeps it for `together`, in each process."""
    global START
    START = barrier


def together(work: Callable[..., Any], seconds: float, *arguments: Any) -> Any:
    START.wait(START_LIMIT)  # imports take seconds, and not the same
    return work(time.monotonic() + seconds, *arguments)


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("--seconds", type=float, default=300.0)
    words.add_argument("--db", default="")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return measured(given.db or str(Path(folder) / "upright.db"), given.seconds)


def measured(where: str, seconds: float) -> int:
    context = multiprocessing.get_context("spawn")
    jobs: list[tuple[Any, ...]] = [(write, seconds, where, writer) for writer in range(WRITERS)]
    jobs.append((read, seconds, where))
    barrier, errors, answers = context.Barrier(len(jobs)), 0, []
    with ProcessPoolExecutor(len(jobs), context, wait_for, (barrier,)) as pool:
        for running in [pool.submit(together, *job) for job in jobs]:
            try:
                answers.append(running.result())
            except Exception:  # of any kind, and a process that ends without a word
                errors += 1
                answers.append({})
                traceback.print_exc()
    with open_store(where) as store:
        there = {run.number for run in store.runs()}
        lost = 0
        for writer, written in enumerate(answers[:WRITERS]):
            lost += len(set(written) - there)
            for run, turn in written.items():
                try:
                    whole(store, run, (writer, turn))
                except AssertionError as error:
                    lost += 1
                    print(error, file=sys.stderr)
        runs = sum(len(written) for written in answers[:WRITERS])
        doubled = len(there) - runs
    count = runs * CASES * METRICS
    for what, figure in (("runs written", runs), ("measurements", count), ("answers to the reader", answers[-1] or 0)):
        print(f"{what:34}{figure:10}")
    print(
        f"{errors} errors, {lost} runs lost or not whole, {doubled} too many, in {seconds:g} s with {WRITERS} writers "
        "and a reader (target: 0, 0, 0)"
    )
    return int(bool(errors or lost or doubled or not runs or not answers[-1]))


if __name__ == "__main__":
    sys.exit(main())
