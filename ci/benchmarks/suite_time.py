"""The warm canonical suite on every engine present: wall-clock time, and what of it was not an engine's stepping.

    python -P ci/benchmarks/suite_time.py

Run twice into a fresh database; the second run is warm and counts. Targets hold for two cores.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from measuring import Table

from validation.running.options import Options
from validation.running.runner import Limits
from validation.running.session import run_session
from validation.store import open_store

WALL_TARGET = 45.0  # s
OVERHEAD_TARGET = 20.0  # ms a simulated case


def main() -> int:
    options = Options(limits=Limits(workers=2))
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "suite.db") as store:
        cold = run_session(store, options, "suite_time").totals
        session = run_session(store, options, "suite_time")
    warm = session.totals
    table = Table("engine:12", "simulated:>9", "stepping s:>10.1f")
    stepped = [result for result in session.results if result.step_count]
    for engine in dict.fromkeys(result.case.engine_label for result in stepped):
        seconds = [result.stepping_time for result in stepped if result.case.engine_label == engine]
        table.row(engine, len(seconds), sum(seconds))
    print(f"first run {cold.wall:.1f} s; slowest case {warm.slowest[0]}, {warm.slowest[1]:.2f} s")
    overhead = 1e3 * warm.overhead
    print(
        f"warm suite {warm.wall:.1f} s (target {WALL_TARGET:g} s), overhead {overhead:.1f} ms a case "
        f"(target {OVERHEAD_TARGET:g} ms), {warm.simulated} cases on {warm.workers} workers"
    )
    return int(warm.wall > WALL_TARGET or overhead > OVERHEAD_TARGET)


if __name__ == "__main__":
    sys.exit(main())
