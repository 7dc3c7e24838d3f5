"""The warm canonical suite on every engine present: wall-clock time, and what of it was not an engine's stepping.

    python -P ci/benchmarks/suite_time.py

Run twice into a fresh database; the second run is warm and counts. Targets hold for two cores.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from validation.running.kernel_cache import use_kernel_cache
from validation.running.options import Options
from validation.running.runner import Limits
from validation.running.session import run_session
from validation.store import open_store

WALL_TARGET = 45.0  # s
OVERHEAD_TARGET = 20.0  # ms a simulated case


def main() -> int:
    use_kernel_cache()
    options = Options(limits=Limits(workers=2))
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "suite.db") as store:
        cold = run_session(store, options, "suite_time").totals
        session = run_session(store, options, "suite_time")
    warm = session.totals
    by_engine: dict[str, list[float]] = {}
    for result in session.results:
        if result.step_count:
            by_engine.setdefault(result.case.engine_label, []).append(result.stepping_time)
    print(f"{'engine':12} {'simulated':>9} {'stepping s':>10}")
    for engine, seconds in by_engine.items():
        print(f"{engine:12} {len(seconds):9} {sum(seconds):10.1f}")
    print(f"first run {cold.wall:.1f} s; slowest case {warm.slowest[0]}, {warm.slowest[1]:.2f} s")
    overhead = 1e3 * warm.overhead
    print(
        f"warm suite {warm.wall:.1f} s (target {WALL_TARGET:g} s), overhead {overhead:.1f} ms a case "
        f"(target {OVERHEAD_TARGET:g} ms), {warm.simulated} cases on {warm.workers} workers"
    )
    return int(warm.wall > WALL_TARGET or overhead > OVERHEAD_TARGET)


if __name__ == "__main__":
    sys.exit(main())
