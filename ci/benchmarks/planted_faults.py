"""Are faults that are planted in our engines and in our measuring found by fuzzing, and nothing where there are none?

    python -P ci/benchmarks/planted_faults.py [--only WORD] [--minutes M] [--seed N] [--json OUT]
    python -P ci/benchmarks/planted_faults.py --true-minutes 60
    python -P ci/benchmarks/planted_faults.py --plant FILE OLD NEW

The packages are copied into a temporary folder. Each fault of `data/faults_to_plant.py` is planted there alone, and the
search of `upright fuzz` goes over our own engines in turns until one breaks a law: without catalogue and corpus. The
time is that of the search alone, up to the shrunk scene; compiling the kernels of a copy takes a minute or two more.
A find that the engine as it is has, too, is none of the planted fault: it is told apart, and the search goes on. So it
does with `--true-minutes`, to the end of the time.
`--plant` plants a fault that is not in the table: in FILE, where OLD stands once, NEW.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent / "data"))
from faults_to_plant import FAULTS, Planted

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("reference_engine", "scenarios", "validation")
ENGINES = (
    ("reference", "fair"),
    ("reference", "default"),
    ("validation.tools.fuzzing.scattered.Scattered", "default"),
    ("contactsim", "fair"),
)
"""With their profiles: of the reference engine "fair" has Poisson's law of impact, "default" Newton's."""
SLICE = 30.0  # s of one engine before the next
BY_THE_BOOK = ("reference", "fair"), ENGINES[2]
"""What others may break is documented: by Newton's law friction may make energy, and ContactSim gains energy and gives
up as the original does. Of these counts what only our own engines are asked."""


class PlantError(ValueError):
    """A fault that cannot be planted; one line."""


@contextmanager
def planted(copy: Path, fault: Planted) -> Iterator[None]:
    """In here the copy has the fault. Raises PlantError where the file has not `old` exactly once."""
    path = copy / fault.file
    if not path.is_file():
        raise PlantError(f"{fault.name}: {fault.file} is no file; name one of {', '.join(PACKAGES)}")
    text = path.read_text(encoding="utf-8")
    if (count := text.count(fault.old)) != 1:
        raise PlantError(f"{fault.name}: {fault.file} has {fault.old!r} {count} times; it has to be there once")
    written = path.stat().st_mtime_ns
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(written, written))  # kernels of what is as it was are not compiled again


def searched(copy: Path, minutes: float, seed: int, *more: str) -> dict[str, Any]:
    """What a search of this copy finds, in a process of its own that imports the copy."""
    environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "cache")}
    words = [sys.executable, "-P", __file__, "--search", str(minutes), "--seed", str(seed), *more]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return {"error": f"the search ended with status {done.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def search(minutes: float, seed: int, *, of_copy: bool) -> dict[str, Any]:
    """Of the packages that this process imports: the first fault that is found, or none; what else is found "beside".

    of_copy: a planted fault is looked for, and what the packages of this checkout break as well is beside. Else all is.
    """
    started = time.monotonic()
    warm = subprocess.run([sys.executable, "-P", "-m", "validation.running.warm_up"], capture_output=True, text=True)
    if warm.returncode != 0:  # a fault that no kernel survives is found, too
        last = (warm.stderr.strip().splitlines() or ["killed"])[-1]
        return {"seconds": 0.0, "engine": "reference", "oracle": "broken", "message": last, "bodies": 0, "beside": []}
    from validation.engines import engine_of
    from validation.running.processes.pool import Pool
    from validation.tools.fuzzing.comparing import with_settings
    from validation.tools.fuzzing.independent.laws import ORACLES
    from validation.tools.fuzzing.search import Fuzzer

    class Search(Fuzzer):
        def _take(self, trial: Any, simulation: Any, measured: Any) -> None:
            super()._take(trial, simulation, measured)
            if (key := next(reversed(self._verdicts), None)) is None:
                return
            newton = dict(trial[2]).get("impact_law") == "newton"
            every = (self.engine.name, self.profile) in BY_THE_BOOK and not newton
            counted = {law: one for law, one in self._verdicts[key].items() if every or law in ORACLES}
            # On a busy machine what takes long says nothing.
            self._verdicts[key] = {} if simulation.outcome == "timed_out" else counted

    spent, turn, beside = 0.0, 0, list[dict[str, Any]]()
    with Pool() as pool:
        fuzzers = [Search(pool, engine_of(word), profile, SLICE) for word, profile in ENGINES]
        common = {"compiling": time.monotonic() - started, "beside": beside}
        while spent < 60.0 * minutes:
            fuzzer = fuzzers[turn % len(fuzzers)]
            fuzzer.seconds = min(SLICE, 60.0 * minutes - spent)
            done = fuzzer.run(seed + 1000 * turn, enough=1)
            spent, turn = spent + done.wall, turn + 1
            if done.faults:
                fault = done.faults.pop()
                label = with_settings(fuzzer.engine, dict(fault.options)).label
                found = described(fault, label, fuzzer.profile or "")
                if of_copy and fault.oracle not in broken_as_it_is(found):
                    return common | {"seconds": spent} | found
                print(f"{spent:.0f} s: {found['oracle']}: {found['message']}", file=sys.stderr, flush=True)
                beside.append(found)
                fuzzer.known = [*fuzzer.known, fault]
    counts = {name: sum(getattr(one.search, name) for one in fuzzers) for name in ("tried", "declined", "given_up")}
    return common | {"seconds": spent} | counts


def described(fault: Any, engine: str, profile: str) -> dict[str, Any]:
    from scenarios.scene import write_scene

    return {
        "engine": engine,
        "profile": profile,
        "oracle": fault.oracle,
        "message": fault.message,
        "bodies": len(fault.scene.bodies),
        "scene": write_scene(fault.scene, indent=None),
        "dt": fault.dt,
    }


def broken_as_it_is(found: Mapping[str, Any]) -> list[str]:
    """The laws that the packages of this checkout break in that scene."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    words = [sys.executable, "-P", __file__, "--judge"]
    done = subprocess.run(words, env=environment, input=json.dumps(found), stdout=subprocess.PIPE, text=True)
    laws: list[str] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else []
    return laws


def judge(found: Mapping[str, Any]) -> list[str]:
    from datetime import UTC, datetime

    from scenarios.scene import parse_scene
    from validation.records.stored import StoredFind
    from validation.tools.fuzzing.finds import replay_finds

    fields = {name: found[name] for name in ("engine", "profile", "oracle", "message", "dt")}
    scene = parse_scene(json.loads(found["scene"]))
    find = StoredFind(number=1, when=datetime.now(UTC), engine_version="", seed=1, scene=scene, **fields)
    return list(replay_finds([find])[0].broken)


def row(name: str, found: Mapping[str, Any]) -> str:
    if "error" in found:
        return f"{name:34}ERROR     {found['error']}"
    named = [f"{one['oracle']}: {one['message']}" for one in found["beside"]]
    beside = f"; beside: {'; '.join(named)}" if named else ""
    if "oracle" not in found:
        counts = f"{found['tried']} scenes, {found['declined']} declined ({found['given_up']} given up)"
        what = f"{len(named)} beside" if named else "nothing"
        return f"{name:34}{what:9} {found['seconds']:6.0f} s, {counts}{beside}"
    bodies = "1 body" if found["bodies"] == 1 else f"{found['bodies']} bodies"
    engine, law = (
        found["engine"].replace("validation.tools.fuzzing.scattered.", ""),
        f"{found['oracle']}: {found['message']}",
    )
    return f"{name:34}found     {found['seconds']:6.1f} s  {bodies:9} {engine:11} {law}{beside}"


def copied(folder: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def tried_all(faults: Sequence[Planted], minutes: float, seed: int) -> dict[str, dict[str, Any]]:
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copy = copied(Path(folder))
        for fault in faults:
            with planted(copy, fault):
                results[fault.name] = searched(copy, minutes, seed)
            print(row(fault.name, results[fault.name]), flush=True)
    return results


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("--only", default="", help="faults with this in their name or file")
    words.add_argument("--minutes", type=float, default=10.0, help="for each fault")
    words.add_argument("--true-minutes", type=float, default=0.0, help="of search of the copy as it is, and no faults")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--json", type=Path)
    words.add_argument("--plant", nargs=3, metavar=("FILE", "OLD", "NEW"))
    words.add_argument("--search", type=float, metavar="MINUTES", help=argparse.SUPPRESS)
    words.add_argument("--as-it-is", action="store_true", help=argparse.SUPPRESS)
    words.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.search:
        print(json.dumps(search(given.search, given.seed, of_copy=not given.as_it_is)))
        return 0
    if given.judge:
        print(json.dumps(judge(json.load(sys.stdin))))
        return 0
    if given.true_minutes:
        with tempfile.TemporaryDirectory(prefix="planted-") as folder:
            found = searched(copied(Path(folder)), given.true_minutes, given.seed, "--as-it-is")
        results = {"as it is": found}
        print(row("as it is", found))
        wrong = "error" in found or bool(found["beside"])
    else:
        faults = [one for one in FAULTS if given.only in f"{one.name} {one.file}"]
        if given.plant:
            file, old, new = given.plant
            faults = [Planted(name="given", file=file, old=old, new=new)]
        try:
            results = tried_all(faults, given.minutes, given.seed)
        except PlantError as error:
            raise SystemExit(str(error)) from None
        missed = [name for name, found in results.items() if "oracle" not in found]
        print(f"{len(results) - len(missed)} of {len(results)} found (target: all)")
        wrong = bool(missed)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
