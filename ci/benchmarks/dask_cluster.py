"""Cases on a Dask cluster of this machine: the same bits, how much longer, and what is lost when its processes die.

    python -P ci/benchmarks/dask_cluster.py [--nth 1] [--workers 1 2 4] [--pairs 2] [--kills 20] [--every S]

The suite is every --nth scenario of the canonical one, on every engine present but the reference engine, whose heaps
take minutes.

1. It is run by local processes and on clusters of so many worker processes; every value and every motion is compared.
2. By local processes and on two workers in turn, so many pairs: the ratio of their wall times, the least of each, has
   to be at most 1.2.
3. A part of it is run on two workers, of which one is killed at random about every --every seconds (half of what local
   processes take for it, where none are given), and every fifth time the scheduler in its place, again and again until
   there were so many kills. Each run has to complete by itself
   with every case once, its measurements, its motion, and the bits of local processes; the database has to be whole,
   and no process left over.
"""

import contextlib
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
import psutil
from measuring import Table, options

from scenarios.catalogue import canonical_suite
from tests.validation.cluster import Cluster, cluster
from tests.validation.command import start
from validation.engines import default_engines

ENGINES = [word for name in default_engines() if name != "reference" for word in ("--engine", name)]
RUN = ["run", *ENGINES, "--fresh", "--time-limit", "600"]
RATIO = 1.2  # of wall times, two workers to local processes
SCHEDULER_EVERY = 5  # kills
SOME = ["stack:n=3", "bouncing-ball", "pendulum", "dominoes", "free-tumble", "incline-slide", "newtons-cradle"]
VALUES = (
    "SELECT c.key, c.outcome, c.trajectory_hash, m.metric, m.value FROM cases c "
    "LEFT JOIN measurements m ON m.case_id = c.id ORDER BY 1, 4"
)
BARE = (
    "SELECT count(*) FROM cases c WHERE outcome = 'completed' AND (trajectory_key IS NULL OR NOT EXISTS "
    "(SELECT 1 FROM measurements m WHERE m.case_id = c.id))"
)
Values = list[tuple[object, ...]]


def run(folder: Path, words: list[str], executor: str) -> tuple[float, Values]:
    """Wall time (s), and all that is stored."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        began = time.monotonic()
        process = start(words, Path(made), UPRIGHT_EXECUTOR=executor)
        _, errors = process.communicate(timeout=3600)
        if process.returncode:
            raise SystemExit(f"{executor}: exit {process.returncode}: {errors.strip()[-300:]}")
        return time.monotonic() - began, stored(Path(made) / "upright.db")


def stored(database: Path) -> Values:
    with sqlite3.connect(database) as connection:
        return list(connection.execute(VALUES))


def faults_of(database: Path, whole: Values) -> list[str]:
    with sqlite3.connect(database) as connection:
        found = [] if connection.execute("PRAGMA integrity_check").fetchone() == ("ok",) else ["damaged"]
        bare = connection.execute(BARE).fetchone()[0]
        twice = connection.execute("SELECT count(*) - count(DISTINCT key) FROM cases").fetchone()[0]
        crashed = connection.execute("SELECT reason FROM cases WHERE reason LIKE '%workers died%'").fetchall()
    found += [f"{bare} half written"] if bare else []
    found += [f"{twice} twice"] if twice else []
    found += [f"{len(crashed)} given up: {crashed[0][0]}"] if crashed else []
    return found + ([] if stored(database) == whole else ["other values"])


def bits(folder: Path, counts: list[int], words: list[str]) -> tuple[bool, Values]:
    """Whether they are the same on as many workers, and what they are."""
    table = Table("where:<20s", "cases:>6d", "wall (s):>8.1f", "same bits:>10s")
    wall, here = run(folder, words, "local")
    cases = len({row[0] for row in here})
    table.row("local processes", cases, wall, None)
    same = True
    for count in counts:
        with tempfile.TemporaryDirectory(dir=folder) as made, cluster(Path(made), count) as there:
            wall, found = run(folder, words, there.address)
        same &= found == here
        table.row(f"{count} workers", cases, wall, "yes" if found == here else "no")
    return same, here


def ratio(folder: Path, pairs: int, words: list[str]) -> float:
    """Of the least wall times; the cluster's servers are warm, as they are for all but its first command."""
    walls: dict[str, list[float]] = {"local": [], "cluster": []}
    with tempfile.TemporaryDirectory(dir=folder) as made, cluster(Path(made), 2) as there:
        run(folder, ["run", "bouncing-ball", *ENGINES, "--fresh"], there.address)
        for _ in range(pairs):
            walls["local"].append(run(folder, words, "local")[0])
            walls["cluster"].append(run(folder, words, there.address)[0])
    found = min(walls["cluster"]) / min(walls["local"])
    shown = {name: ", ".join(f"{wall:.1f}" for wall in of) for name, of in walls.items()}
    print(f"wall time: local {shown['local']} s; 2 workers {shown['cluster']} s; ratio {found:.2f}, at most {RATIO}")
    return found


def kill_one(there: Cluster, number: int, chance: random.Random) -> None:
    name = "scheduler" if number % SCHEDULER_EVERY == 0 else chance.choice(there.workers())
    there.kill(name)


def killed(folder: Path, kills: int, every: float, seed: int) -> int:
    """How many runs had a fault."""
    words, chance, done, failed, turn = [RUN[0], *SOME, *RUN[1:]], random.Random(seed), 0, 0, 0
    wall, whole = run(folder, words, "local")
    every = every or 0.5 * wall
    table = Table("run:>4d", "kills:>6d", "wall (s):>8.1f", "faults:<20s")
    while done < kills:
        turn += 1
        with tempfile.TemporaryDirectory(dir=folder) as made, cluster(Path(made), 2) as there:
            began, before = time.monotonic(), done
            process = start(words, Path(made), UPRIGHT_EXECUTOR=there.address)
            watched = [psutil.Process(process.pid)]
            while process.poll() is None and time.monotonic() - began < 1800.0:
                time.sleep(chance.uniform(0.5, 1.5) * every)
                if process.poll() is None:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        watched += there.servers()
                    done += 1
                    kill_one(there, done, chance)
            _, errors = process.communicate()
            faults = [f"exit {process.returncode}: {errors.strip()[-200:]}"] if process.returncode else []
            faults += faults_of(Path(made) / "upright.db", whole)
            watched += there.servers()
            there.end()
            _, left = psutil.wait_procs(set(watched), timeout=10)
            faults += [f"{len(left)} processes left over"] if left else []
            table.row(turn, done - before, time.monotonic() - began, ", ".join(faults) or "none")
            failed += bool(faults)
    return failed


def main() -> None:
    asked = options(nth=1, workers=[1, 2, 4], pairs=2, kills=20, every=0.0, seed=1)
    missed = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        words = [RUN[0], *(scenario.label for scenario in canonical_suite()[:: asked.nth]), *RUN[1:]]
        print(f"every {asked.nth}. scenario of the canonical suite: {len(words) - len(RUN)}", flush=True)
        same, _ = bits(folder, asked.workers, words)
        missed += [] if same else ["the same bits"]
        if asked.pairs and ratio(folder, asked.pairs, words) > RATIO:
            missed.append(f"at most {RATIO} of the wall time")
        if failed := killed(folder, asked.kills, asked.every, asked.seed) if asked.kills else 0:
            missed.append(f"{failed} runs with faults where workers and schedulers die")
    print(f"missed: {'; '.join(missed)}" if missed else "all targets are met")
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
