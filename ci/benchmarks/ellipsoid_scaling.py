"""How the time of ellipsoids that fall grows with their number: the table of Oltman & Hur 2017, and heaps to 10,000.

    python -P ci/benchmarks/ellipsoid_scaling.py [--largest 10000] [--steps 100]

First their lattice: N = 1 to 66 ellipsoids in a cube over a plane, random speeds, friction with four edges, dt 0.01;
a collision is a contact that one step looks at, and beside it stands how many they report. They needed 12.48 s for
18,463. Gaps are kept to 0.3 mm and slip to 2 cm/s, of first order. Then N = 100, 1000, 3000, 10,000 (to `--largest`) in
four layers, and in a cube, whose depth grows: the exponent p of time against contacts. Times of the processor, one
thread; memory is the most that the process ever had, Python and all. Exits 1 unless a collision takes a hundredth of
theirs, there are within a factor of ten as many at each N, and p is at most 1.15 for heaps of equal depth.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, layered, options

from reference_engine import EllipsoidWorld, HalfSpace, SpatialSettings, Stepper

# Of Oltman & Hur 2017, section 7.3: N, collisions in all. A laptop of 2015 needed 12.4849 s for the last
COLLISIONS = {
    1: 92, 6: 905, 11: 1888, 16: 3414, 21: 4545, 26: 6222, 31: 7256, 36: 8989, 41: 10754, 46: 12448, 51: 14119,
    56: 15139, 61: 16913, 66: 18463,
}  # fmt: skip
THEIRS = 12.4849 / COLLISIONS[66]  # s a collision
SHAPE = (0.1, 0.08, 0.06)


def fall(count: int, layers: int, edges: int, dt: float, steps: int) -> tuple[int, float, int]:
    """(contacts, s, sweeps) of `steps` steps."""
    rng = np.random.default_rng(count)
    world = EllipsoidWorld(
        np.tile(SHAPE, (count, 1)), layered(count, layers), orientation=rng.normal(size=(count, 4)),
        velocity=rng.uniform(-0.3, 0.3, (count, 3)), containers=(HalfSpace(),), friction=0.4,
    )  # fmt: skip
    settings = SpatialSettings(order=1, edges=edges, gap_tolerance=3e-4, speed_tolerance=2e-2)
    stepper, contacts, sweeps = Stepper(world, dt, settings), 0, 0
    began = time.process_time()
    for _ in range(steps):
        report = stepper.step()
        contacts, sweeps = contacts + report.contacts, sweeps + report.sweeps
    return contacts, time.process_time() - began, sweeps


def main() -> int:
    chosen = options(largest=10_000, steps=100)
    fall(2, 1, 4, 0.01, 20)
    fall(2, 1, 0, 0.01, 20)
    us_each = f"us each (theirs {1e6 * THEIRS:.0f}):>10.1f"
    table = Table("N:>6", "collisions:>12", "theirs:>9", "ratio:>7.2f", "s:>9.3f", us_each)
    contacts, spent, alike = 0, 0.0, True
    for count, theirs in COLLISIONS.items():
        here, seconds, _ = fall(count, round(count ** (1 / 3)), 4, 0.01, 100)
        table.row(count, here, theirs, here / theirs, seconds, 1e6 * seconds / max(1, here))
        contacts, spent, alike = contacts + here, spent + seconds, alike and 0.1 <= here / theirs <= 10.0
    ratio = THEIRS / (spent / contacts)
    print(f"collisions of the same order, a tenth to ten times theirs at each N: {'yes' if alike else 'MISSED'}")
    print(f"a collision takes 1/{ratio:.0f} of theirs, wanted 1/100{'' if ratio >= 100.0 else ': MISSED'}")
    sizes = [n for n in (100, 1000, 3000, 10_000) if n <= chosen.largest]
    slopes = {}
    for name, depth in (("four layers", lambda n: 4), ("a cube", lambda n: round(n ** (1 / 3)))):
        rows = [(*fall(n, depth(n), 0, 0.005, chosen.steps), n) for n in sizes]
        for here, seconds, sweeps, n in rows:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name:<12}{n:6d}{here:10d} contacts{seconds:9.2f} s{sweeps / chosen.steps:8.1f} sweeps a step"
                  f"{memory:8.0f} MiB", flush=True)  # fmt: skip
        slopes[name] = np.polyfit(np.log([row[0] for row in rows]), np.log([row[1] for row in rows]), 1)[0]
        print(f"{name}: time grows as contacts^{slopes[name]:.2f}")
    p = slopes["four layers"]
    print(
        f"p = {p:.2f} in heaps of equal depth to N = {sizes[-1]}, wanted at most 1.15{'' if p <= 1.15 else ': MISSED'}"
    )
    return not (ratio >= 100.0 and alike and p <= 1.15)


if __name__ == "__main__":
    sys.exit(main())
