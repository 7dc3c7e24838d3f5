"""Compiles every kernel that the canonical suite needs, once, into the cache: `python -P -m validation.warm_up`.

The reference engine warms itself up; beside it another process measures one scene for each set of features over three
samples, on a core of its own. Kernels compile by the types of their arguments, not by the scene's size. What both
need, the geometry that certifies a motion, the engine needs last, and finds it compiled.
"""

from __future__ import annotations

import gc
import subprocess
import sys

from scenarios.catalogue import canonical_suite
from scenarios.scene import features
from validation.engines.reference import Reference
from validation.metrics import measure
from validation.standing_still import standing_still

METRICS = "metrics"


def main() -> None:
    gc.disable()  # a compiler's garbage is little, and looking for it takes a thirtieth of the time
    if sys.argv[1:] == [METRICS]:
        measure_every_kind()
        return
    with subprocess.Popen([sys.executable, "-P", "-m", "validation.warm_up", METRICS]) as beside:
        Reference().warm_up()
    if beside.returncode != 0:
        raise SystemExit(beside.returncode)


def measure_every_kind() -> None:
    seen: set[frozenset[str]] = set()
    for scenario in canonical_suite():
        found = features(scenario.scene)
        if found in seen:
            continue
        seen.add(found)
        measure(scenario, standing_still(scenario.scene))


if __name__ == "__main__":
    main()
