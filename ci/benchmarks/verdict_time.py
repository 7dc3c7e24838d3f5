"""How long a verdict takes: `upright check` of the canonical suite where nothing has changed, and after one line of one
engine was changed.

    python -P ci/benchmarks/verdict_time.py [--engines pymunk box2d mujoco] [--scenarios stack:n=3 ...]

In a folder of its own: engines of a user, each an adapter under another name, are run and accepted with all that are
here. Then the peers are checked as they are; and with each of the user's engines, after a line of it was changed: it is
simulated again, and the peers are taken from the store. Times are those of the second such command. CPU time is of the
command and of all processes that it started, and for each simulated case what is beside the engines' own steps, which
count in CPU time too (`stepping_time`): on a busy machine their wall-clock time is a multiple of it.
"""

import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from measuring import Table, options

from validation.engines import default_engines

COMMAND = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]
CLASSES = {"pymunk": "Pymunk", "box2d": "Box2D", "mujoco": "MuJoCo"}
LINES = {"pymunk": "'iterations': 51", "box2d": "'velocity_iterations': 51", "mujoco": "'noslip_iterations': 1"}


def own_engine(folder: Path, name: str, line: str = "") -> str:
    """Writes a user's engine; the word by which it is run."""
    base = CLASSES[name]
    made = f"from validation.engines.{name}.adapter import {base}\n\n\nclass Engine({base}):\n    name = 'own-{name}'\n"
    (folder / f"own_{name}.py").write_text(made + line)
    return f"own_{name}.Engine"


class Command:
    """One that was run: its times, s, and what it had to simulate."""

    def __init__(self, folder: Path, *words: str) -> None:
        before, started = _children(), time.perf_counter()
        done = subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True)
        self.wall, self.cpu = time.perf_counter() - started, _children() - before
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        found = re.search(r"(\d+) cases? simulated in", done.stdout)
        self.simulated = int(found[1]) if found else 0
        self.taken = int(found[1]) if (found := re.search(r"(\d+) cases? taken", done.stdout)) else 0

    def beside_steps(self, folder: Path) -> float | None:
        """CPU ms for each simulated case, in the latest run."""
        query = "SELECT sum(stepping_time) FROM cases WHERE run_id = (SELECT max(id) FROM runs)"
        with sqlite3.connect(folder / "upright.db") as connection:
            stepping = float(connection.execute(query).fetchone()[0] or 0.0)
        return 1e3 * (self.cpu - stepping) / self.simulated if self.simulated else None


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    asked = options(engines=list(CLASSES), scenarios=[""])
    suite = [scenario for scenario in asked.scenarios if scenario]
    peers = [*suite, *(word for engine in default_engines() for word in ("--engine", engine))]
    table = Table("command:<36s", "wall s:>8.1f", "CPU s:>8.1f", "simulated:>10d", "taken:>7d", "CPU ms a case:>14.1f")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = {engine: own_engine(folder, engine) for engine in asked.engines}

        def report(what: str, done: Command) -> None:
            table.row(what, done.wall, done.cpu, done.simulated, done.taken, done.beside_steps(folder))

        everything = [*peers, *(word for engine in own.values() for word in ("--engine", engine))]
        report("run, everything", Command(folder, "run", "--time-limit", "600", *everything))
        Command(folder, "accept", "--run", "1", "--reason", "first look")
        Command(folder, "check", *peers)
        report("check, nothing changed", Command(folder, "check", *peers))
        for engine, word in own.items():
            Command(folder, "check", *peers, "--engine", word)
            own_engine(folder, engine, f"    fair = {{{LINES[engine]}}}\n")
            report(f"check, a line of {word}", Command(folder, "check", *peers, "--engine", word))


if __name__ == "__main__":
    main()
