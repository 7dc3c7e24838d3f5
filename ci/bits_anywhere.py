"""Whether the reference engine's bits hang on the processor, on BLAS, on the C library or on the compiler of kernels.

    python -P ci/bits_anywhere.py [SCENARIO]...                  without one the canonical suite, and what is in none
    python -P ci/bits_anywhere.py --compilers [SCENARIO]...      our compiler, and numba's own pipeline

Runs the scenarios on the engine `reference` as the machine is, and again with the kernels that OpenBLAS has for other
processors, with the C library's functions for processors without AVX2 and FMA, and with numpy's for the least
processor that it runs on; or once with each value of UPRIGHT_COMPILER (docs/compiler.md). Prints each case whose
outcome, hash of states, stored samples with their contacts, or metrics differ, and exits 1 if one does. What this
processor cannot run is left out by name.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from reference_engine.compiler import COMPILERS, VARIABLE
from scenarios.catalogue import FAMILIES, canonical_suite
from validation.records.case import Result
from validation.store import open_store

FLAGS = Path("/proc/cpuinfo")
CORES = {"Haswell": "avx2", "Zen": "avx2", "Prescott": "sse3", "SkylakeX": "avx512f"}  # OpenBLAS's name, what it needs
COMMAND = "from validation.cli import main; main()"
WITHOUT_FMA = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"
TIME_LIMIT = "3600"  # s: what is stopped could not be compared
Bits = dict[str, str]


def environments() -> dict[str, dict[str, str]]:
    """Name -> variables; the first is the machine as it is."""
    flags = set(FLAGS.read_text().split()) if FLAGS.exists() else set()
    found: dict[str, dict[str, str]] = {"as it is": {}}
    for core, needed in CORES.items():
        if needed in flags or (needed == "sse3" and "pni" in flags):
            found[f"OpenBLAS for {core}"] = {"OPENBLAS_CORETYPE": core}
        else:
            print(f"left out: OpenBLAS for {core}, this processor has no {needed}")
    found["C library without AVX2 and FMA"] = {"GLIBC_TUNABLES": WITHOUT_FMA}
    umath = np._core._multiarray_umath  # type: ignore[attr-defined]  # numpy names what it dispatches on only here
    chosen = [feature for feature in umath.__cpu_dispatch__ if umath.__cpu_features__[feature]]
    if chosen:
        found["numpy without " + ", ".join(chosen)] = {"NPY_DISABLE_CPU_FEATURES": " ".join(chosen)}
    return found


def run(variables: dict[str, str], scenarios: list[str]) -> dict[str, Bits]:
    """What each case computed, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-c", COMMAND, "run", *scenarios, "--engine", "reference"]
        command += ["--db", f"{folder}/bits.db", "--time-limit", TIME_LIMIT]
        subprocess.run(command, env={**os.environ, **variables}, check=True, stdout=subprocess.DEVNULL)
        with open_store(f"{folder}/bits.db") as store:
            number = store.latest_run()
            assert number is not None
            return {f"{one.case.label} ({one.case.identity.profile})": bits(one) for one in store.results(number)}


def bits(result: Result) -> Bits:
    found = {
        "outcome": f"{result.outcome} {result.reason}",
        "states": result.trajectory_hash,
        "samples": result.trajectory_key,
    }
    return found | {one.metric: float(one.value).hex() for one in result.measurements}


def differences(first: dict[str, Bits], second: dict[str, Bits]) -> list[str]:
    lines = []
    for name in sorted({*first, *second}):
        a, b = first.get(name, {}), second.get(name, {})
        if moved := [f"{key} {a.get(key)}, {b.get(key)}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)]:
            lines.append(f"  {name}: {'; '.join(moved)}")
    return lines


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--compilers", action="store_true", help="compare the compilers of kernels")
    given = parser.parse_args(arguments)
    compilers = {f"compiled by {name}": {VARIABLE: name} for name in COMPILERS}
    unsuited = [name for name, family in FAMILIES.items() if not family.canonical]
    wanted = given.scenarios or [*(scenario.label for scenario in canonical_suite()), *unsuited]
    total, first = 0, {}
    for name, variables in (compilers if given.compilers else environments()).items():
        found = run(variables, wanted)
        if not first:
            first = found
            moved = sum(bool(case["samples"]) for case in first.values())
            metrics = sum(len(case) - 3 for case in first.values())
            print(f"{name}: {len(first)} cases, {moved} motions and {metrics} metrics")
            continue
        lines = differences(first, found)
        print("\n".join([f"{name}: {len(lines)} of {len(first)} cases differ", *lines]), flush=True)
        total += len(lines)
    return 1 if total or not first or not moved else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
