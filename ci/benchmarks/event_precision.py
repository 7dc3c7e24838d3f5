"""What exact events cost: errors in their times against processor time, of this engine and of scipy's event location.

    python -P ci/benchmarks/event_precision.py

Two planar scenes. A ball that bounces in air with quadratic drag (e = 0.8): 40 times of impact in closed form. A block
1 x 0.5 m that falls on a corner (e = 0.5, no friction) and comes to rest through two accumulations of impacts; there
the reference is this engine at its finest tolerance, and scipy's finest run, whose equations and impact law are in
tests/reference_engine/planar/tumbling_oracle.py, has to agree with its time of rest to 1e-6 s.

scipy: solve_ivp with a terminal event an impact, restarted, by each of its explicit methods and by Radau; at each
accuracy the fastest counts (BDF is slower than Radau, LSODA fails on the brackets of its events). This engine: from the
world's parts to the result, `World(...)` and `simulate_at`, compiled before. Least of several runs, ours and scipy's in
turn; times are those of the processor, one thread, so that other work on the machine counts little. Exits 1 unless this
engine is 50 times as fast as scipy at every accuracy that scipy reaches. The peers on these scenes: `upright run
ball-with-drag tumbling-block --timing --dt 1/1920`.
"""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(Path(__file__).parent))
from measuring import Array, least

from reference_engine import Body, Disc, HalfPlane, LocatedMotion, Settings, World, box, simulate_at
from scenarios.catalogue.ball_with_drag import Flights
from tests.reference_engine.planar.tumbling_oracle import BACK, FALL, HIGH, TILT, WIDE, rest_times

G = 9.81
FASTER = 50.0
TOLERANCES = tuple(10.0**-k for k in range(2, 14))
SCIPY = {  # those that an explicit method of this order is not done at in a second are left out
    "RK23": tuple(10.0**-k for k in range(4, 10)),
    "RK45": tuple(10.0**-k for k in range(4, 14)),
    "DOP853": tuple(10.0**-k for k in range(4, 14)),
    "Radau": (1e-4, 1e-7),
}
ROUNDS, REPEATS = 5, 60  # of scipy's runs, one in each; of ours in all
LEAST_ERROR = 1e-16
DRAG, BOUNCE, DROP, RADIUS, IMPACTS = 0.1, 0.8, 2.0, 0.5, 40
REST_BY = 2.0  # s: the block lies still
AGREE = 1e-6  # s, of the two times of rest


class Point(NamedTuple):
    wall: float  # s
    error: float  # s


# --- scipy ----------------------------------------------------------------------------------------


def scipy_ball(rtol: float, method: str) -> Array:
    """Times of the first impacts."""

    def rate(_: float, y: Array) -> tuple[float, float]:
        return y[1], -G - DRAG * abs(y[1]) * y[1]

    def ground(_: float, y: Array) -> float:
        return y[0]

    ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]  # as solve_ivp wants it
    now, y, times = 0.0, [DROP, 0.0], []
    while len(times) < IMPACTS:
        found = solve_ivp(rate, (now, now + 10.0), y, method, rtol=rtol, atol=rtol, events=ground)
        now, y = found.t[-1], [0.0, -BOUNCE * found.y[1, -1]]
        times.append(now)
    return np.array(times)


# --- ours -----------------------------------------------------------------------------------------


def ball_world() -> World:
    ball, ground = Body(shape=Disc(RADIUS), position=(0.0, DROP + RADIUS)), Body(shape=HalfPlane(), fixed=True)
    return World(bodies=(ball, ground), gravity=(0.0, -G), restitution=BOUNCE, quadratic_damping=DRAG)


def block_world() -> World:
    block = Body(shape=box(WIDE, HIGH), position=(0.0, FALL), angle=TILT)
    return World(bodies=(block, Body(shape=HalfPlane(), fixed=True)), gravity=(0.0, -G), restitution=BACK)


def located(world: Callable[[], World], times: Array, tolerance: float) -> LocatedMotion:
    return simulate_at(world(), times, Settings(tolerance=tolerance))


def block_times(motion: LocatedMotion) -> Array:
    return motion.events.times("accumulation")


# --- the table ------------------------------------------------------------------------------------


def wall_for(error: float, curve: list[Point]) -> float:
    """The least time in which an error no greater has been had; infinite where none has."""
    return min((point.wall for point in curve if point.error <= error), default=math.inf)


def line(engine: str, setting: str, point: Point) -> None:
    print(f"  {engine:10}{setting:20}{1e3 * point.wall:10.2f} ms{point.error:12.1e} s", flush=True)


def events_table(
    world: Callable[[], World],
    until: float,
    read: Callable[[Any], Array],
    exact: Array,
    scipy_run: Callable[[float, str], Array],
) -> float:
    """Prints the times of events; returns by how many times this engine is faster where it is as accurate, at least."""
    mine: dict[float, Point] = {}
    scipys: dict[tuple[str, float], Point] = {}
    ends = np.array([0.0, until])
    for _ in range(ROUNDS):
        for tolerance in TOLERANCES:
            wall, motion = least(REPEATS // ROUNDS, located, world, ends, tolerance, clock=time.thread_time)
            point = Point(wall, error_of(read(motion), exact))
            mine[tolerance] = min(point, mine.get(tolerance, point))
        for method, rtols in SCIPY.items():
            for rtol in rtols:
                wall, found = least(1, scipy_run, rtol, method, clock=time.thread_time)
                point = Point(wall, error_of(found, exact))
                scipys[method, rtol] = min(point, scipys.get((method, rtol), point))
    for tolerance, point in mine.items():
        line("this", f"tolerance {tolerance:.0e}", point)
    for (method, rtol), point in scipys.items():
        line("scipy", f"{method} rtol {rtol:.0e}", point)
    ours, theirs, ratios = [*mine.values()], [*scipys.values()], []
    for point in sorted(theirs, key=lambda p: -p.error):
        if point.wall == wall_for(point.error, theirs):  # none of scipy's runs is as accurate in less time
            ratios.append(point.wall / wall_for(point.error, ours))
            print(f"  at {point.error:.1e} s {ratios[-1]:.0f} times as fast as scipy's fastest", flush=True)
    return min(ratios)


def error_of(found: Array, exact: Array) -> float:
    """The greatest; infinite where not all events are there."""
    return max(float(np.abs(found - exact).max()), LEAST_ERROR) if found.shape == exact.shape else math.inf


def main() -> int:
    flights = Flights(DROP, BOUNCE, DRAG)
    print(f"ball with drag: the times of {IMPACTS} impacts")
    last, exact = float(flights.impacts[IMPACTS]) - 1e-5, flights.impacts[:IMPACTS]
    faster = [events_table(ball_world, last, lambda motion: motion.impacts.time[:IMPACTS], exact, scipy_ball)]

    finest = located(block_world, np.array([0.0, REST_BY]), 1e-14)
    rest = block_times(finest)
    off = float(np.abs(rest_times(1e-13) - rest).max())
    print(f"tumbling block: at rest at {rest[1]:.9f} s, after a first accumulation at {rest[0]:.9f} s")
    print(f"  scipy's finest run is {off:.1e} s off; deepest overlap {finest.penetration:.1e} m")
    faster.append(events_table(block_world, REST_BY, block_times, rest, rest_times))
    met = min(faster) >= FASTER and off <= AGREE and finest.penetration <= 1e-12
    aim = f"(target {FASTER:g}): {'met' if met else 'MISSED'}"
    print(f"\nat equal accuracy {min(faster):.0f} times as fast as scipy {aim}")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
