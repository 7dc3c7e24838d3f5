"""How the time of the spatial engine grows with the number of bodies.

    python -P ci/benchmarks/space_scaling.py [--boxes 10 100 1000] [--stacks 3 10 30]

Boxes 3 m apart that are thrown, tumble, and bounce at different times, 1 s of it: each is an island with its own time,
so twice as many should take twice as long. Stacks of equal blocks at rest on the floor, 1 s of it: one island, with one
system of equations; what it takes is stated. CPU times of this process, best of two for the small ones, kernels warm;
between two sizes n and m the exponent of growth is log(t_m / t_n) / log(m / n). Exits 1 where that of the boxes is
above 1.15.
"""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, least, options

from reference_engine import LocatedSettings, SpatialBody, SpatialWorld, simulate_spatial
from reference_engine.geometry.spatial_shapes import Box, HalfSpace

MOST_GROWTH = 1.15
FLOOR = SpatialBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), name="floor")


def thrown(count: int) -> SpatialWorld:
    """Ten boxes, again and again: so all sizes have as much to do for each."""
    side, boxes = math.ceil(math.sqrt(count)), []
    for k in range(count):
        random = np.random.default_rng(k % 10)
        half, attitude = random.uniform(0.1, 0.25, 3), random.normal(size=4)
        inertia = (half @ half - half**2) / 3.0
        boxes.append(
            SpatialBody(
                shape=Box(tuple(half)), mass=1.0, inertia=tuple(inertia),
                position=(3.0 * (k % side), 3.0 * (k // side), random.uniform(0.6, 1.2)),
                orientation=tuple(attitude / np.linalg.norm(attitude)),
                velocity=tuple(0.5 * random.normal(size=3)), spin=tuple(3.0 * random.normal(size=3)),
            )
        )  # fmt: skip
    return SpatialWorld(bodies=(*boxes, FLOOR), friction=0.4, restitution=0.5)


def stack(count: int) -> SpatialWorld:
    half = (0.2, 0.15, 0.1)
    inertia = tuple((np.dot(half, half) - np.square(half)) / 3.0)
    blocks = (
        SpatialBody(shape=Box(half), mass=1.0, inertia=inertia, position=(0.0, 0.0, 0.1 + 0.2 * k))
        for k in range(count)
    )
    return SpatialWorld(bodies=(*blocks, FLOOR), friction=0.5)


def events_of(world: SpatialWorld) -> int:
    return len(simulate_spatial(world, np.linspace(0.0, 1.0, 61), LocatedSettings(max_events=1_000_000)).events)


def measured(name: str, sizes: list[int], world_of: Callable[[int], SpatialWorld]) -> list[float]:
    """Prints a row for each size; returns the exponents."""
    table = Table(f"{name}:>18", "CPU s:>8.2f", "events:>8", "exponent:>9.2f")
    times: list[float] = []
    exponents: list[float | None] = [None]
    for k, size in enumerate(sizes):
        taken, events = least(1 if size > 100 else 2, events_of, world_of(size), clock=time.process_time)
        if k > 0:
            exponents.append(math.log(taken / times[-1]) / math.log(size / sizes[k - 1]))
        times.append(taken)
        table.row(size, taken, events, exponents[-1])
    return [one for one in exponents if one is not None]


def main() -> None:
    given = options(boxes=[10, 100, 1000], stacks=[3, 10, 30])
    events_of(thrown(1))
    growth = measured("boxes apart", given.boxes, thrown)
    print()
    measured("blocks in a stack", given.stacks, stack)
    if any(exponent > MOST_GROWTH for exponent in growth):
        sys.exit(f"boxes apart: their time grows by more than n^{MOST_GROWTH}")


if __name__ == "__main__":
    main()
