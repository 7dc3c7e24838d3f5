"""Do our compiler and numba's own pipeline give the same bits? The reference engine's canonical cases under both.

    python -P ci/compilers_agree.py [SCENARIO ...]

Runs `upright run --engine reference` once with each value of UPRIGHT_COMPILER (docs/compiler.md), in processes of their
own, and compares every case: its outcome, the engine's hash of its states, the stored samples with their contacts, and
every metric. Exits 1 on a difference, naming it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from reference_engine.compiler import COMPILERS, VARIABLE
from validation.records.case import Result
from validation.store import open_store

Bits = dict[str, str]


def cases(compiler: str, scenarios: list[str], database: Path) -> dict[str, Bits]:
    """What each case computed, by its key."""
    program = "from validation.cli import main; main()"
    command = [sys.executable, "-P", "-c", program, "run", *scenarios, "--engine", "reference", "--db", str(database)]
    command += ["--time-limit", "3600"]  # what is stopped could not be compared
    subprocess.run(command, env={**os.environ, VARIABLE: compiler}, check=True, stdout=subprocess.DEVNULL)
    with open_store(database) as store:
        run = store.latest_run()
        assert run is not None
        return {result.key: bits(result) for result in store.results(run)}


def bits(result: Result) -> Bits:
    found = {
        "case": f"{result.case.label} ({result.case.identity.profile})",
        "outcome": f"{result.outcome} {result.reason}",
        "states": result.trajectory_hash,
        "samples": result.trajectory_key,
    }
    return found | {one.metric: float(one.value).hex() for one in result.measurements}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        ours, numbas = (cases(name, sys.argv[1:], Path(folder) / f"{name}.db") for name in COMPILERS)
    differences = [f"{key}: only one of them has it" for key in ours.keys() ^ numbas.keys()]
    for key in ours.keys() & numbas.keys():
        a, b = ours[key], numbas[key]
        differences += [
            f"{a['case']}: {what} {a.get(what)}, by numba's own pipeline {b.get(what)}"
            for what in sorted(a.keys() | b.keys())
            if a.get(what) != b.get(what)
        ]
    print("\n".join(differences))
    moved = sum(bool(found["samples"]) for found in ours.values())
    values = sum(len(found) - 4 for found in ours.values())
    print(f"{len(ours)} cases, {moved} motions and {values} metrics compared: {len(differences)} differences")
    return 1 if differences or not moved else 0


if __name__ == "__main__":
    sys.exit(main())
