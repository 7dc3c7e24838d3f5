"""Compiles every kernel that the canonical suite needs, once, into the cache: `python -P -m validation.warm_up`.

One scene for each set of features is measured over three samples, and the reference engine warms itself up. Kernels
compile by the types of their arguments, not by the scene's size.
"""

from __future__ import annotations

from scenarios.catalogue import canonical_suite
from scenarios.scene import features
from validation.engines.reference import Reference
from validation.metrics import measure
from validation.standing_still import standing_still


def main() -> None:
    Reference().warm_up()
    seen: set[frozenset[str]] = set()
    for scenario in canonical_suite():
        found = features(scenario.scene)
        if found in seen:
            continue
        seen.add(found)
        measure(scenario, standing_still(scenario.scene))


if __name__ == "__main__":
    main()
