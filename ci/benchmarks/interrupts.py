"""Commands stopped at random times by Ctrl-C or a signal to end: is what was done stored, and the exit status right?

    python -P ci/benchmarks/interrupts.py [--count N] [--seed N]

Each of `run`, `check`, `compare` and `fuzz` is first run whole, and then again and again in a fresh folder, stopped at
a random moment of that time. Asked is after each: exit status 130 or 143 (of `compare`, which judges what it has, also
1 or 2), or that of a command that was all but done (of `fuzz` 0 or 1: how much it finds in its time varies); plain
lines on standard error; no process left; a database that is whole (`PRAGMA integrity_check`), in which every case that
is done has its measurements and its motion; and of `run` and `check` that `--resume` completes the run with the values
of the one that was not stopped.
"""

import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
import psutil
from measuring import Table, options

COMMAND = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]
ENGINES = ["--engine", "pymunk", "--engine", "box2d"]
CASES = ["stack:n=3", "bouncing-ball", "pendulum", "stack:n=2", "stack:n=5"]
COMMANDS = {
    "run": ["run", *CASES, *ENGINES, "--fresh"],
    "check": ["check", *CASES, *ENGINES, "--fresh"],
    "compare": ["compare", "pymunk:iterations=2", "pymunk", "stack:n=3", "--ensemble", "10"],
    "fuzz": ["fuzz", "--engine", "pymunk", "--minutes", "0.1", "--seed", "1"],
}
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
OTHERWISE = {"compare": {1, 2}, "fuzz": {0, 1}}
"""Statuses that are right besides: of what it has, and by what a search of the same time finds on a busy machine."""
VALUES = "SELECT c.key, m.metric, m.value FROM measurements m JOIN cases c ON c.id = m.case_id WHERE c.run_id = ?"


def start(folder: Path, words: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, *words], cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def stored(folder: Path, run: int) -> dict[tuple[str, str], float]:
    with sqlite3.connect(folder / "upright.db") as connection:
        return {(key, metric): value for key, metric, value in connection.execute(VALUES, [run])}


def faults_of(folder: Path, words: list[str], whole: dict[tuple[str, str], float]) -> list[str]:
    """What is wrong with what is stored."""
    file = folder / "upright.db"
    if not file.exists():
        return []
    with sqlite3.connect(file) as connection:
        if connection.execute("SELECT name FROM sqlite_master WHERE name = 'cases'").fetchone() is None:
            return []
        found = [] if connection.execute("PRAGMA integrity_check").fetchone() == ("ok",) else ["damaged"]
        bare = connection.execute(
            "SELECT count(*) FROM cases c WHERE outcome = 'completed' AND (trajectory_key IS NULL OR NOT EXISTS "
            "(SELECT 1 FROM measurements m WHERE m.case_id = c.id))"
        ).fetchone()[0]
        found += [f"{bare} done without values"] if bare else []
        owed = connection.execute("SELECT max(id) FROM runs WHERE finished IS NULL").fetchone()[0]
    if words[0] in ("run", "check") and owed is not None:
        process = start(folder, ["run", "--resume"])
        _, errors = process.communicate(timeout=300)
        found += [f"--resume: exit {process.returncode}: {errors.strip()[-200:]}"] if process.returncode else []
        found += [] if stored(folder, owed) == whole else ["resumed to other values"]
    return found


def main() -> None:
    asked = options(count=100, seed=1)
    chance = random.Random(asked.seed)
    table = Table("command:<9s", "stopped:>8d", "by then done:>13d", "wrong:>6d")
    failed = 0
    for name, words in COMMANDS.items():
        with tempfile.TemporaryDirectory() as made:
            began = time.monotonic()
            first = start(Path(made), words)
            first.communicate(timeout=600)
            lasts = time.monotonic() - began
            usual = first.returncode
            whole = stored(Path(made), 1) if name in ("run", "check") else {}
        ends, wrong = Counter[bool](), []
        for _ in range(asked.count // len(COMMANDS)):
            number = chance.choice((signal.SIGINT, signal.SIGTERM))
            with tempfile.TemporaryDirectory() as made:
                process = start(Path(made), words)
                after = chance.uniform(0.3, lasts)
                time.sleep(after)
                family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
                process.send_signal(number)
                _, errors = process.communicate(timeout=120)
                ends[process.returncode == usual] += 1
                right = {usual, STATUS[number], -number} | OTHERWISE.get(name, set())
                faults = [] if process.returncode in right else [f"exit {process.returncode}"]
                faults += ["a traceback"] if "Traceback" in errors else []
                _, left = psutil.wait_procs(family, timeout=5)
                faults += [f"{len(left)} processes left"] if left else []
                faults += faults_of(Path(made), words, whole)
                if faults:
                    printed = errors.strip()[-300:]
                    wrong.append(f"{signal.Signals(number).name} after {after:.2f} s: {', '.join(faults)}: {printed}")
        table.row(name, ends[False], ends[True], len(wrong))
        for line in wrong:
            print("  ", line)
        failed += len(wrong)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
