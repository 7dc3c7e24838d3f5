"""What accuracy costs: worst position error of a run against its wall time, located mode beside pymunk and Box2D.

    python -P ci/benchmarks/work_precision.py

Four scenes of the catalogue whose motion is known exactly, sampled 60 times a second. Peers run with their "fair"
settings at dt = 1/120 to 1/1920 s, the located mode at tolerances 1e-6 to 1e-13. Each is timed as a whole, from the
scene to the last sample: its world is built, its samples are copied out, the located mode logs its events and checks
every pose for overlap. Each time is the least of several runs in turn. The figure: at the time that pymunk takes
at 1/240 s, pymunk's error over that of the located mode, along its curve in the log-log plane; least of the scenes.
Exits 1 where it falls short.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from validation.running.kernel_cache import use_kernel_cache

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

Array = NDArray[np.float64]

SCENES = ("thrown-box", "bouncing-ball", "rocking-block", "slide-to-roll")
TARGET = 1e4
RATE = 60  # samples a second; 60 divides the rate of every step
STEPS = (120, 240, 480, 960, 1920)  # a second
PYMUNK = ("pymunk", "dt 1/240")
TOLERANCES = tuple(10.0**-k for k in range(6, 14))
REPEATS = 15
ROUND_OFF = 1e-16  # m; an error below it counts as this much


class Point(NamedTuple):
    wall: float  # s
    error: float  # m


Run = Callable[[], tuple[float, Array]]
"""-> wall time (s), positions (S, B, 2) at the common samples."""


def peer_run(engine_name: str, scenario: Scenario, rate: int) -> Run:
    """A peer at dt = 1/rate, in this process; the clock runs while its world is built, steps and is copied out."""
    from validation.engines import engine_of, load_engine
    from validation.engines.engine import resolve_settings

    scene, dt = scenario.scene, 1.0 / rate
    engine = load_engine(engine_of(engine_name))
    settings = resolve_settings(engine, "fair", {}, scene, dt)

    def once() -> tuple[float, Array]:
        started = time.perf_counter()
        world: Any = engine.build(scene, dt, settings)
        raw = [world.read()]
        for _ in range(round(scene.duration * RATE)):
            for _ in range(rate // RATE):
                world.step(watched=False)
            raw.append(world.read())
        wall = time.perf_counter() - started
        position = np.array(world.decode(b"".join(raw), len(raw))[0][..., :2], np.float64)
        assert all(slab.holds(scene, position) for slab in world.slabs), "a body left the ground"
        return wall, position

    return once


def located_run(scenario: Scenario, tolerance: float) -> Run:
    from reference_engine import Settings, simulate
    from validation.engines.reference.world import world_of

    settings = Settings(tolerance=tolerance)
    count = len(scenario.scene.bodies)

    def once() -> tuple[float, Array]:
        started = time.perf_counter()
        motion = simulate(world_of(scenario.scene), scenario.scene.duration, 1.0 / RATE, settings)
        wall = time.perf_counter() - started
        grid = np.arange(round(scenario.scene.duration * RATE) + 1) / RATE
        rows = np.searchsorted(motion.time, grid - 1e-9)
        return wall, motion.pose[rows, :count, :2]

    return once


def measure(scenario: Scenario, runs: dict[tuple[str, str], Run]) -> dict[tuple[str, str], Point]:
    grid = np.arange(round(scenario.scene.duration * RATE) + 1) / RATE
    exact = scenario.truth.pose(grid)[..., :2]
    points: dict[tuple[str, str], Point] = {}
    for _ in range(REPEATS):
        for name, run in runs.items():
            wall, position = run()
            miss = np.hypot(*np.moveaxis(position - exact, -1, 0))
            known = points.get(name, Point(math.inf, 0.0))
            points[name] = Point(min(wall, known.wall), max(float(miss.max()), ROUND_OFF))
    return points


def error_at(wall: float, curve: list[Point]) -> float:
    """The error that a time buys: between the points of the lower envelope linear in log-log; infinite before it."""
    envelope: list[Point] = []
    for point in sorted(curve):
        if not envelope or point.error < envelope[-1].error:
            envelope.append(point)
    if wall < envelope[0].wall:
        return math.inf
    return math.exp(np.interp(math.log(wall), *(np.log([[p[k] for p in envelope] for k in (0, 1)]))))


def main() -> int:
    use_kernel_cache()
    from scenarios.catalogue import scenario_of

    worst = math.inf
    for name in SCENES:
        scenario = scenario_of(name)
        runs = {
            (engine, f"dt 1/{rate}"): peer_run(engine, scenario, rate)
            for engine in ("pymunk", "box2d")
            for rate in STEPS
        }
        runs |= {
            ("located", f"tolerance {tolerance:.0e}"): located_run(scenario, tolerance) for tolerance in TOLERANCES
        }
        points = measure(scenario, runs)
        print(
            f"\n{name}, {scenario.scene.duration:g} s\n{'engine':10}{'setting':18}{'wall ms':>10}{'worst error m':>15}"
        )
        for (engine, setting), point in points.items():
            print(f"{engine:10}{setting:18}{1e3 * point.wall:10.2f}{point.error:15.2e}")
        peer = points[PYMUNK]
        mine = error_at(peer.wall, [point for key, point in points.items() if key[0] == "located"])
        ratio = peer.error / mine
        print(
            f"in {1e3 * peer.wall:.2f} ms: pymunk {peer.error:.2e} m, located {mine:.2e} m, ratio {ratio:.1e}",
            flush=True,
        )
        worst = min(worst, ratio)
    print(f"\nleast ratio of errors at pymunk's wall time: {worst:.1e} (target {TARGET:g})")
    return int(worst < TARGET)


if __name__ == "__main__":
    sys.exit(main())
