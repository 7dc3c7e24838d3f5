"""Figures of four engines beside an earlier, independent measurement of the same engines; docs/peers.md explains them.

    python -P ci/benchmarks/peers.py

The earlier measurement (2026, same versions, dt = 1/240 s, settings like "fair") did not keep its scene parameters:
expect the same sign and the same size within a factor of two. A figure that is off has a reason, found by experiment.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenarios.catalogue import scenario_of
from validation.case import CaseResult
from validation.cli.session import warm_kernels
from validation.engines import engine_of, present_engines
from validation.metrics.energy import energy
from validation.metrics.observation import Observation
from validation.processes.pool import Pool
from validation.runner import Limits, Request, execute, plan_cases

ROOT = Path(__file__).parents[2]
FACTOR = 2.0
WEIGHT = 9.81  # N, of the bouncing balls: 1 kg
DROP = 1.0  # m, of the bouncing balls
FALLEN = 0.5  # m: half a box

Cell = tuple[str, str]  # scene word, engine word
Read = Callable[[Observation, dict[str, float]], float]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: the engine, what was measured earlier (None: declined), the scenes whose readings are summed."""

    engine: str
    earlier: float | None
    scenes: tuple[str, ...]
    reason: str = ""  # why sign or size differ; "" where they do not


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """What is compared: its name and unit, how it is read from motion and metrics, and what is as good as 0."""

    name: str
    unit: str
    read: Read
    none: float
    figures: tuple[Figure, ...]


# --- how a figure is read: the size is a metric of `--json`, the sign comes from the motion ------------------------


def depth(o: Observation, metrics: dict[str, float]) -> float:
    """m: penetration of the deepest pair at the end, negative for a gap."""
    return -metrics["gap_final"]


def fallen(o: Observation, metrics: dict[str, float]) -> float:
    """1 where the top box (the last free body) ended half a box lower than it began."""
    top = max(i for i, body in enumerate(o.scene.bodies) if not body.fixed)
    height = o.trajectory.position[:, top, -1]
    return float(height[0] - height[-1] > FALLEN)


def goal(o: Observation) -> tuple[float, float]:
    """(in this motion, exact)."""
    assert o.truth.goal is not None
    return float(o.truth.goal.measure(o.trajectory)), o.truth.goal.exact  # type: ignore[arg-type]


def goal_error(o: Observation, metrics: dict[str, float]) -> float:
    """Relative; of a goal that is 0 the goal itself."""
    found, exact = goal(o)
    return (found - exact) / (exact or 1.0)


def goal_value(o: Observation, metrics: dict[str, float]) -> float:
    return goal(o)[0]


def energy_left(o: Observation, metrics: dict[str, float]) -> float:
    """At the end, over that before the drop."""
    E = energy(o)
    return 1.0 + float(E[-1] - E[0]) / (WEIGHT * DROP)


def energy_change(o: Observation, metrics: dict[str, float]) -> float:
    """(end - start) / start, of a scene without gravity."""
    E = energy(o)
    return float(E[-1] / E[0] - 1.0)


def worst_energy(o: Observation, metrics: dict[str, float]) -> float:
    """J: the change since the start that is largest in size."""
    E = energy(o)
    change = E - E[0]
    return float(change[np.argmax(np.abs(change))])


def worst_speed(o: Observation, metrics: dict[str, float]) -> float:
    """Largest error of a final speed, over that of the throw: with e = 1 the last ball alone should have it all."""
    speed = o.trajectory.velocity[:, :, 0]
    exact = np.zeros(speed.shape[1])
    exact[-1] = speed[0, 0]
    return float(np.abs(speed[-1] - exact).max() / speed[0, 0])


def metric(name: str) -> Read:
    return lambda o, metrics: metrics[name]


# --- the figures ---------------------------------------------------------------------------------------------------

STILL = ("upright-block:start=drop",)
STILL_3D = ("upright-block:start=drop,space=spatial",)
TEN, TEN_3D = ("stack",), ("stack:space=spatial",)
HEIGHTS = (3, 5, 10, 20)
TALL = tuple(f"stack:n={n},mass_ratio=1000,duration=14" for n in HEIGHTS)
SHORT = tuple(f"stack:n={n},mass_ratio=1000,duration=6" for n in HEIGHTS)
TALL_3D = tuple(f"{word},space=spatial" for word in TALL)
LEVEL, LEVEL_3D = ("incline-slide:tilted=gravity",), ("incline-slide:tilted=gravity,space=spatial",)
RUN_UP, DULL = ("docs/peers/cradle_run_up.json",), ("docs/peers/cradle_without_restitution.json",)
SMALL = ("docs/peers/small_bouncing_ball.json",)
AS_EARLIER = "pybullet:contact_breaking_threshold=0.02,contact_erp=0.08"  # of scenes with restitution


def four(scenes: tuple[str, ...], *earlier: float | None) -> tuple[Figure, ...]:
    return tuple(Figure(e, x, scenes) for e, x in zip(("pymunk", "box2d", "pybullet", "mujoco"), earlier, strict=True))


def two_and_two(planar: tuple[str, ...], spatial: tuple[str, ...], *earlier: float) -> tuple[Figure, ...]:
    """Planar engines in the plane, spatial ones free in space, as they were earlier."""
    return four(planar, *earlier)[:2] + four(spatial, *earlier)[2:]


QUANTITIES = (
    Quantity(
        name="block at rest: penetration",
        unit="m",
        read=depth,
        none=1e-9,
        figures=(
            *two_and_two(STILL, STILL_3D, 2.6e-5, -1.5e-2, 1.0e-5, 1.7e-6),
            Figure(
                "pymunk",
                2.6e-5,
                ("upright-block",),
                "a start in exact touch that counts as contact from the first step never sinks; dropped by 1 mm it does",
            ),
        ),
    ),
    Quantity(
        name="10-stack: penetration at the end",
        unit="m",
        read=depth,
        none=1e-9,
        figures=(
            *two_and_two(TEN, TEN_3D, 9.7e-5, -7.8e-3, 3.2e-5, 3.1e-5),
            Figure("box2d:allow_sleep=true", -7.8e-3, TEN),
        ),
    ),
    Quantity(
        name="10-stack: rms speed at rest",
        unit="m/s",
        read=metric("jitter_velocity"),
        none=1e-9,
        figures=(
            *(f for f in two_and_two(TEN, TEN_3D, 8.0e-5, 0.0, 2.1e-5, 9e-14) if f.engine != "box2d"),
            Figure("box2d", 0.0, TEN, "awake, boxes keep the round-off of single precision; asleep they stop for good"),
            Figure("box2d:allow_sleep=true", 0.0, TEN),
        ),
    ),
    Quantity(
        name="stacks of 1:1000 fallen, of four",
        unit="",
        read=fallen,
        none=0.0,
        figures=(
            *two_and_two(TALL, TALL_3D, 3, 3, 2, 0),
            Figure("pymunk", 3, SHORT, "they creep before they fall: the heights 20, 10 and 5 at 8, 10 and 13 s"),
        ),
    ),
    Quantity(
        name="incline at the friction angle: creep in 3 s",
        unit="m",
        read=goal_error,
        none=1e-4,
        figures=(
            *two_and_two(LEVEL, LEVEL_3D, 0.0, 0.0, 0.0387, 0.0134),
            Figure("pybullet:cone_friction=false", 0.0387, LEVEL_3D),
            Figure(
                "pymunk",
                0.0,
                ("incline-slide",),
                "the tilted corners are a round-off above the ground: no contact in the first step, and the speed of "
                "that fall stays, for at this angle nothing slows it down",
            ),
        ),
    ),
    Quantity(
        name="thrown box: error of the distance",
        unit="%",
        read=lambda o, metrics: 100.0 * goal_error(o, metrics),
        none=1e-7,
        figures=four(("thrown-box",), 0.41, -0.41, -0.39, -0.41),
    ),
    Quantity(
        name="slide to roll: relative error of the speed",
        unit="",
        read=goal_error,
        none=1e-12,
        figures=four(("slide-to-roll",), 8e-15, -3.4e-3, 7e-15, -4.0e-4),
    ),
    Quantity(
        name="e = 0.9: first apex",
        unit="m",
        read=goal_value,
        none=0.0,
        figures=(
            *four(("bouncing-ball",), 0.810, 0.825, 0.845, None),
            Figure("pybullet:contact_erp=0.08", 0.845, ("bouncing-ball",)),
        ),
    ),
    Quantity(
        name="e = 1: energy after 10 s over that at the start",
        unit="",
        read=energy_left,
        none=0.0,
        figures=(
            *four(("bouncing-ball:restitution=1",), 1.00, 1.22, 1.22, None),
            Figure(AS_EARLIER, 0.27, SMALL),
            Figure(
                AS_EARLIER,
                0.27,
                ("bouncing-ball:restitution=1",),
                "the threshold grows with the ball: one of 0.5 m has no first rebound",
            ),
            Figure("pybullet:contact_erp=0.08", 2.71, ("bouncing-ball:restitution=1",)),
        ),
    ),
    Quantity(
        name="cradle of five at 1 m/s: worst error of a speed, over that of the throw",
        unit="",
        read=worst_speed,
        none=1e-9,
        figures=(
            Figure("pymunk", 1e-16, RUN_UP),
            Figure("box2d", 0.80, RUN_UP),
            Figure(AS_EARLIER, 0.098, RUN_UP),
            Figure("pybullet", 0.098, RUN_UP, "the error is the push of contact_erp, which fair leaves out of impacts"),
            Figure("mujoco", 0.785, DULL),
        ),
    ),
    Quantity(
        name="cradle of five at 5 m/s: worst error of a speed, over that of the throw",
        unit="",
        read=worst_speed,
        none=1e-6,
        figures=(Figure("box2d", 0.0, ("newtons-cradle:speed=5",)),),
    ),
    Quantity(
        name="break: change of the kinetic energy",
        unit="%",
        read=lambda o, metrics: 100.0 * energy_change(o, metrics),
        none=1e-9,
        figures=(
            *four(("break",), 0.0, -6.2, 38.9, None)[:2],
            Figure(AS_EARLIER, 38.9, ("break",)),
            Figure(
                "pybullet", 38.9, ("break",), "the gain is the push of contact_erp, which fair leaves out of impacts"
            ),
            Figure("mujoco", -84.3, ("break:restitution=0",)),
        ),
    ),
    Quantity(
        name="rocking block: error of the quarter period",
        unit="%",
        read=lambda o, metrics: 100.0 * goal_error(o, metrics),
        none=0.0,
        figures=four(("rocking-block",), 0.50, -3.5, -0.48, -0.46),
    ),
    Quantity(
        name="double pendulum, 10 s: worst change of the energy",
        unit="J",
        read=worst_energy,
        none=0.0,
        figures=four(("double-pendulum:start=level",), -4.0, -6.1, -2.8, -2.8),
    ),
    Quantity(
        name="double pendulum, 10 s: joint gap",
        unit="m",
        read=metric("joint_gap"),
        none=1e-12,
        figures=four(("double-pendulum:start=level",), 1.35e-2, 7.6e-4, 1e-15, 1e-16),
    ),
)


# --- running -------------------------------------------------------------------------------------------------------


def agrees(ours: float, earlier: float, none: float) -> bool:
    """Same sign and within a factor of two, or both as good as none."""
    if abs(ours) <= none and abs(earlier) <= none:
        return True
    return earlier != 0.0 and 1.0 / FACTOR <= ours / earlier <= FACTOR


def simulate(cells: list[Cell]) -> dict[Cell, CaseResult]:
    """Each scene on each engine, once; without those of engines that are not here. Scene files are ours."""
    warm_kernels()
    results: dict[Cell, CaseResult] = {}
    with Pool() as pool:
        requests = [
            Request(
                scenario=scenario_of(str(ROOT / scene) if scene.endswith(".json") else scene), engine=engine_of(word)
            )
            for scene, word in cells
        ]
        plans = plan_cases(pool, requests)
        cell_of = {id(plan.case): cell for plan, cell in zip(plans, cells)}

        def on_result(result: CaseResult) -> None:
            results[cell_of[id(result.case)]] = result

        execute(pool, [plan for plan in plans if plan.unavailable is None], Limits(), on_result)
    return results


def reading(quantity: Quantity, scene: str, result: CaseResult) -> float:
    """NaN where the engine did not complete the scene."""
    if result.simulation.trajectory is None:
        return math.nan
    word = str(ROOT / scene) if scene.endswith(".json") else scene
    observation = Observation(scenario=scenario_of(word), trajectory=result.simulation.trajectory)
    return quantity.read(observation, {m.metric: m.value for m in result.measurements})


def compare(quantity: Quantity, figure: Figure, results: list[CaseResult]) -> tuple[str, str, bool]:
    """(ours as text, ratio as text, whether it agrees with the earlier one)."""
    outcomes = {result.simulation.outcome for result in results}
    if figure.earlier is None or outcomes != {"completed"}:
        return ", ".join(sorted(outcomes)), "", figure.earlier is None and outcomes == {"declined"}
    ours = sum(reading(quantity, scene, result) for scene, result in zip(figure.scenes, results))
    ratio = f"{ours / figure.earlier:.2f}" if figure.earlier else ""
    return f"{ours:.3g}", ratio, agrees(ours, figure.earlier, quantity.none)


def main() -> int:
    cells = list({(scene, f.engine): None for q in QUANTITIES for f in q.figures for scene in f.scenes})
    present = present_engines()
    results = simulate([cell for cell in cells if engine_of(cell[1]).name in present])
    count = agreeing = unexplained = 0
    for quantity in QUANTITIES:
        print(f"\n{quantity.name}" + (f" ({quantity.unit})" if quantity.unit else ""))
        for figure in quantity.figures:
            if engine_of(figure.engine).name not in present:
                print(f"  {figure.engine:24} is not here")
                continue
            found = [results[scene, figure.engine] for scene in figure.scenes]
            ours, ratio, same = compare(quantity, figure, found)
            earlier = "declined" if figure.earlier is None else f"{figure.earlier:.3g}"
            said = "ok" if same else figure.reason or "OFF, and no reason is stated"
            print(f"  {figure.engine.partition(':')[0]:8} {ours:>10} {earlier:>10} {ratio:>6}  {said}")
            count, agreeing = count + 1, agreeing + same
            unexplained += not same and not figure.reason
    rest = "have a stated reason" if not unexplained else f"have a stated reason, but for {unexplained}"
    print(f"\n{agreeing} of {count} figures have the same sign and size within a factor of two; the others {rest}")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
