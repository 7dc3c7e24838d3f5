"""Whether the reference engine's bits hang on the processor, on BLAS or on the C library.

    python -P ci/bits_anywhere.py [SCENARIO]...          without one the canonical suite

Runs the scenarios on the engine `reference` as the machine is, and again with the kernels that OpenBLAS has for other
processors, with the C library's functions for processors without AVX2 and FMA, and with numpy's for the least
processor that it runs on. Prints each case whose hash or whose metrics differ, and exits 1 if one does. What this
processor cannot run is left out by name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = Path("/proc/cpuinfo")
CORES = {"Haswell": "avx2", "Zen": "avx2", "Prescott": "sse3", "SkylakeX": "avx512f"}  # OpenBLAS's name, what it needs
COMMAND = "from validation.cli import main; main()"
WITHOUT_FMA = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"
Cases = dict[str, dict[str, Any]]


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


def run(variables: dict[str, str], scenarios: list[str]) -> Cases:
    """Case -> its hash and its metrics' values."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-c", COMMAND, "run", *scenarios, "--engine", "reference", "--json"]
        command += ["--db", f"{folder}/bits.db", "--time-limit", "600"]
        done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"upright run under {variables} ended with exit status {done.returncode}")
    found = {}
    for line in done.stdout.splitlines():
        case = json.loads(line)
        name = f"{case['scenario']} {json.dumps(case['parameters'], sort_keys=True)}"
        values = {metric: value["value"] for metric, value in case["metrics"].items()}
        found[name] = {"outcome": case["outcome"], "hash": case["trajectory_hash"], **values}
    return found


def differences(first: Cases, second: Cases) -> list[str]:
    lines = []
    for name in sorted({*first, *second}):
        a, b = first.get(name, {}), second.get(name, {})
        # NaN is the same as NaN here
        moved = [key for key in sorted({*a, *b}) if json.dumps(a.get(key)) != json.dumps(b.get(key))]
        if moved:
            shown = (key if key == "hash" else f"{key} {a.get(key)!r}, {b.get(key)!r}" for key in moved)
            lines.append(f"  {name}: {'; '.join(shown)}")
    return lines


def main(scenarios: list[str]) -> int:
    total, given = 0, environments()
    first: Cases = {}
    for name, variables in given.items():
        found = run(variables, scenarios)
        if not first:
            first = found
            print(f"{name}: {len(first)} cases")
            continue
        lines = differences(first, found)
        print("\n".join([f"{name}: {len(lines)} of {len(first)} cases differ", *lines]), flush=True)
        total += len(lines)
    return 1 if total or not first else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
