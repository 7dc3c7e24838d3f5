"""Hostile engines and programs beside honest ones: has each the outcome that it should, and the honest ones their bits?

    python -P ci/benchmarks/hostile_engines.py [--group misbehaving meddling answering programs] [--time-limit 8]
        [--most 64] [--only NAME ...]

At most so many of a group of `tests/plugins/hostile` are in one run of the command, of two scenes, one in the plane
and one in space; the honest engines are run alone first. Printed is a line an engine and scene: outcome expected and
got, wall time, reason. Asked is besides: the same bits of the honest ones as alone; the exit status; a database that is
whole, with every case, which other commands read; and that nothing is left over, neither a process nor a file in the
folder for temporary ones or in that of the run. Ends with 1 where any is wrong.
"""

import contextlib
import importlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
import psutil
from measuring import ROOT, Table, options

PLUGINS = ROOT / "tests" / "plugins" / "hostile"
COMMAND = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]
HONEST = ("pymunk", "box2d", "mujoco", "reference", "honest.Honest")
MARK = "UPRIGHT_HOSTILE_RUN"
MEMORY = 400  # MiB
ALLOWED = 15.0  # s of a case beside the time limit, and of the whole run a case: machines are busy
START = 120.0  # s that an import may take
FLIGHT = {"duration": 0.5, "boundaries": []}
THROWN = {"mass": 1.0, "friction": 0.0, "restitution": 0.0}
SCENES: dict[str, Any] = {
    "plane.json": FLIGHT
    | {
        "dimension": 2,
        "bodies": [
            THROWN
            | {"name": name, "shape": {"kind": "disc", "radius": 0.1}, "position": [x, 0.0], "velocity": [0.0, x]}
            for name, x in (("one", 1.0), ("two", 3.0))
        ],
    },
    "space.json": FLIGHT
    | {
        "dimension": 3,
        "bodies": [
            THROWN
            | {"name": name, "shape": {"kind": "sphere", "radius": 0.1}, "position": [x, 0, 0], "velocity": [0, 0, x]}
            for name, x in (("one", 1.0), ("two", 3.0))
        ],
    },
}
DIMENSION = {"plane.json": 2, "space.json": 3}
VALUES = (
    "SELECT c.scenario, c.engine, c.trajectory_hash, m.metric, m.value FROM cases c JOIN measurements m "
    "ON m.case_id = c.id WHERE m.noise <> 'timing'"
)
CASES = "SELECT scenario, engine, outcome, reason, wall_time FROM cases"


def engines_of(group: str, folder: Path) -> dict[str, Any]:
    """Word on the command line -> what a run should report."""
    sys.path.append(str(PLUGINS))
    if group != "programs":
        module = importlib.import_module(group)
        return {f"{group}.{name}": expected for name, expected in module.ENGINES[group].items()}
    module, found = importlib.import_module("programs"), {}
    for name, program in module.PROGRAMS.items():
        (folder / name).write_bytes(program.source.encode("latin-1"))
        (folder / name).chmod(0o755)
        found[f"./{name}"] = program
    if compiler := shutil.which("cc") or shutil.which("gcc"):
        for name, program in module.C_PROGRAMS.items():
            given = [compiler, "-O0", "-w", "-x", "c", "-o", str(folder / name), "-"]
            subprocess.run(given, input=program.source, text=True, check=True)
            found[f"./{name}"] = program
        falling = str(ROOT / "docs" / "protocol" / "falling.c")
        subprocess.run([compiler, "-O2", "-o", str(folder / "falling"), falling], check=True)
    return found


def run(folder: Path, words: list[str], mark: str, temporary: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    environment = os.environ | {"UPRIGHT_ENGINE_PATH": str(PLUGINS), MARK: mark, "TMPDIR": str(temporary)}
    began = time.monotonic()
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=1800, check=False
    )
    return done, time.monotonic() - began


def left_over(mark: str) -> list[psutil.Process]:
    """Processes that began in a run of this mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def in_memory() -> set[Path]:
    """Of this user: others have servers."""
    folder, ours = Path("/dev/shm"), set[Path]()
    for path in folder.iterdir() if folder.exists() else ():
        with contextlib.suppress(FileNotFoundError):
            ours |= {path} if path.stat().st_uid == os.getuid() else set()
    return ours


def values_of(file: Path, engines: tuple[str, ...]) -> dict[Any, Any]:
    with sqlite3.connect(file) as connection:
        rows = connection.execute(VALUES).fetchall()
    return {(s, e, metric): (hashed, value) for s, e, hashed, metric, value in rows if e in engines}


def cases_of(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    with sqlite3.connect(file) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(CASES)]


def faults_of_store(folder: Path, cases: int, mark: str, temporary: Path) -> list[str]:
    with sqlite3.connect(folder / "hostile.db") as connection:
        found = [] if connection.execute("PRAGMA integrity_check").fetchone() == ("ok",) else ["database damaged"]
        found += ["references dangle"] if connection.execute("PRAGMA foreign_key_check").fetchall() else []
        stored = connection.execute("SELECT count(*) FROM cases WHERE outcome IS NOT NULL").fetchone()[0]
        found += [] if stored == cases else [f"{stored} of {cases} cases stored"]
        bare = connection.execute("SELECT count(*) FROM runs WHERE finished IS NULL").fetchone()[0]
        found += ["the run is not finished"] if bare else []
    for words in (["regressions"], ["results", "export", "results.csv"], ["check", "plane.json", "--engine", "pymunk"]):
        done, _ = run(folder, [*words, "--db", "hostile.db"], mark, temporary)
        if done.returncode not in (0, 1) or "Traceback" in done.stderr or "\x1b" in done.stdout:
            found.append(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-200:]}")
    return found


def main() -> None:
    asked = options(group=["misbehaving", "meddling", "answering", "programs"], time_limit=8.0, most=64, only=[""])
    wrong: list[str] = []
    count = 0
    for group in asked.group:
        first, more = 0, True
        while more:
            with tempfile.TemporaryDirectory() as made:
                done, more = one_run(group, Path(made), asked, first, wrong)
            first, count = first + asked.most, count + done
    print(f"{count} hostile engines, {len(wrong)} wrong")
    for line in wrong:
        print("  ", line)
    raise SystemExit(1 if wrong else 0)


def one_run(group: str, made: Path, asked: Any, first: int, wrong: list[str]) -> tuple[int, bool]:
    """How many engines, and whether there are more of the group."""
    limit = asked.time_limit
    folder, temporary = made / "run", made / "temporary"
    folder.mkdir()
    temporary.mkdir()
    for name, scene in SCENES.items():
        (folder / name).write_text(json.dumps(scene))
    every = engines_of(group, folder)
    every = {word: one for word, one in every.items() if asked.only == [""] or any(name in word for name in asked.only)}
    expected = dict(list(every.items())[first : first + asked.most])
    honest = HONEST + (("./falling",) if (folder / "falling").exists() else ())
    given = [*SCENES, "--fresh", "--json", "--time-limit", str(limit), "--memory-limit", str(MEMORY)]
    mark = uuid.uuid4().hex
    alone, _ = run(folder, ["run", *given, "--db", "alone.db", *engine_options(honest)], mark, temporary)
    if alone.returncode:
        raise SystemExit(f"the honest engines alone: {alone.stderr}")
    files = {path.name for path in folder.iterdir()}
    shared = in_memory()
    words = [*list(expected)[::2], *honest, *list(expected)[1::2]]
    done, wall = run(folder, ["run", *given, "--db", "hostile.db", *engine_options(words)], mark, temporary)
    counts = f"{len(expected)} hostile engines beside {len(honest)} honest ones"
    print(f"\n{group}: {counts}, {wall:.0f} s, exit {done.returncode}")
    wrong += [f"{group}: {process.pid} {process.cmdline()} is left over" for process in left_over(mark)]
    wrong += [f"{group}: exit {done.returncode}: {done.stderr.strip()[-2000:]}"] if done.returncode else []
    cases = cases_of(folder / "hostile.db")
    compared(group, expected, cases, limit, wrong)
    if values_of(folder / "alone.db", honest) != values_of(folder / "hostile.db", honest):
        wrong.append(f"{group}: the honest engines have other values than alone")
    most = len(cases) * (limit + ALLOWED) / 2 + START
    wrong += [f"{group}: took {wall:.0f} s, more than {most:.0f}"] if wall > most else []
    wrong += [f"{group}: {path} is left in the temporary folder" for path in temporary.iterdir()]
    databases = {f"{name}.db{more}" for name in ("alone", "hostile") for more in ("", "-wal", "-shm")}
    new = {path.name for path in folder.iterdir()} - files - databases
    wrong += [f"{group}: {name} is left in the folder" for name in new]
    wrong += [f"{group}: {path} is left" for path in in_memory() - shared]
    planned = len(SCENES) * len(words)
    wrong += [f"{group}: {fault}" for fault in faults_of_store(folder, planned, mark, temporary)]
    return len(expected), first + asked.most < len(every)


def engine_options(words: Any) -> list[str]:
    return [part for word in words for part in ("--engine", word)]


def compared(group: str, expected: dict[str, Any], cases: list[Any], limit: float, wrong: list[str]) -> None:
    table = Table("engine:<34s", "scene:<6s", "expected:<13s", "got:<13s", "s:>6.2f", " :<1s", "reason:<90s")
    got = {(case["engine"], case["scenario"]): case for case in cases}
    for word, one in expected.items():
        for scene, dimension in DIMENSION.items():
            case = next((c for (e, s), c in got.items() if e == word and s.startswith(scene[:5])), None)
            outcome, reason = (one.outcome, one.reason) if one.only in (0, dimension) else ("completed", "")
            if case is None:
                wrong.append(f"{group}: {word} in {scene} is not reported")
                continue
            right = case["outcome"] == outcome and reason in case["reason"] and case["wall_time"] < limit + ALLOWED
            right = right and len(case["reason"]) <= 2000 and case["reason"].isprintable()
            table.row(
                word, scene[:5], outcome, case["outcome"], case["wall_time"], "" if right else "!", case["reason"]
            )
            if not right:
                found = f"{case['outcome']} {case['reason'][:300]!r}"
                wrong.append(f"{word} ({one.what}) in {scene}: {outcome} {reason!r}, got {found}")


if __name__ == "__main__":
    main()
