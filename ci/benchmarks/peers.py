"""Figures of four engines beside an earlier, independent measurement of the same engines; docs/peers.md explains them.

    python -P ci/benchmarks/peers.py

The table is peers.json beside this file. The earlier measurement (2026, same versions, dt = 1/240 s, settings like
"fair") did not keep its scene parameters: expect the same sign and the same size within a factor of two. A figure that
is off has a reason, found by experiment, and the size that goes with it: another size is off again. Where nothing was
measured earlier the exact figure stands in its place.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from scenarios.catalogue import scenario_of
from scenarios.scenario import Scenario
from validation.engines import engine_of, present_engines
from validation.metrics.energy import energy
from validation.metrics.observation import Observation
from validation.records.case import Result
from validation.running.options import Progress
from validation.running.planning import Request, plan_cases
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, execute
from validation.running.session import warm_kernels

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_suffix(".json")
FACTOR = 2.0
WEIGHT = 9.81  # N, of the bouncing balls: 1 kg
DROP = 1.0  # m, of the bouncing balls
FALLEN = 0.5  # m: half a box
OFF = "OFF, without a reason that fits"

Cell = tuple[str, str]  # scene word, engine word
Read = Callable[[Observation, dict[str, float]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number: the engine, what was measured earlier, the scenes whose readings are summed."""

    engine: str
    earlier: float
    scenes: tuple[str, ...]
    reason: str = ""  # why sign or size differ; "" where they do not
    found: float = math.nan  # what the reason is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A row of the table: name, unit, how it is read from motion and metrics, what is as good as 0."""

    name: str
    unit: str
    reading: str  # of READINGS
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


def hop(o: Observation, metrics: dict[str, float]) -> float:
    """m: how far above its start the first body gets."""
    height = o.trajectory.position[:, 0, -1]
    return float(height.max() - height[0])


def goal(o: Observation) -> tuple[float, float]:
    """(in this motion, exact)."""
    assert o.truth.goal is not None
    # A goal measures trajectories; its protocol knows no type of ours.
    return float(o.truth.goal.measure(o.trajectory)), o.truth.goal.value  # type: ignore[arg-type]


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


def percent(read: Read) -> Read:
    return lambda o, metrics: 100.0 * read(o, metrics)


READINGS: dict[str, Read] = {
    "depth": depth,
    "fallen": fallen,
    "hop": hop,
    "goal_value": goal_value,
    "goal_error": goal_error,
    "goal_error_percent": percent(goal_error),
    "energy_left": energy_left,
    "energy_change_percent": percent(energy_change),
    "worst_energy": worst_energy,
    "worst_speed": worst_speed,
    "jitter_velocity": metric("jitter_velocity"),
    "joint_gap": metric("joint_gap"),
}


def read_table(path: Path = TABLE) -> list[Quantity]:
    return TypeAdapter(list[Quantity]).validate_json(path.read_bytes())


# --- running -------------------------------------------------------------------------------------------------------


def agrees(ours: float, earlier: float, none: float) -> bool:
    """Same sign and within a factor of two, or both as good as none."""
    if abs(ours) <= none and abs(earlier) <= none:
        return True
    return earlier != 0.0 and 1.0 / FACTOR <= ours / earlier <= FACTOR


def scenario(scene: str) -> Scenario:
    """Of a catalogue word, or of a scene file given from the root of the project."""
    return scenario_of(str(ROOT / scene) if scene.endswith(".json") else scene)


def simulate(cells: list[Cell]) -> dict[Cell, Result]:
    """Each scene on each engine, once. Of an engine that cannot be loaded there is no result."""
    warm_kernels(Progress())
    results: dict[Cell, Result] = {}
    with Pool() as pool:
        requests = [Request(scenario=scenario(scene), engine=engine_of(word)) for scene, word in cells]
        plans = plan_cases(pool, requests)
        cell_of = {id(plan.case): cell for plan, cell in zip(plans, cells)}

        def on_result(result: Result) -> None:
            results[cell_of[id(result.case)]] = result

        execute(pool, [plan for plan in plans if plan.unavailable is None], Limits(), on_result)
    return results


def reading(quantity: Quantity, scene: str, result: Result) -> float:
    """NaN where the engine did not complete the scene."""
    if result.trajectory is None:
        return math.nan
    observation = Observation(scenario=scenario(scene), trajectory=result.trajectory)
    return READINGS[quantity.reading](observation, {m.metric: m.value for m in result.measurements})


def compare(quantity: Quantity, figure: Figure, results: list[Result]) -> tuple[str, str, str]:
    """(ours as text, ratio as text, "ok" or the reason or "OFF")."""
    outcomes = {result.outcome for result in results}
    if outcomes != {"completed"}:
        return ", ".join(sorted(outcomes)), "", OFF
    ours = sum(reading(quantity, scene, result) for scene, result in zip(figure.scenes, results))
    ratio = f"{ours / figure.earlier:.2f}" if figure.earlier else ""
    if agrees(ours, figure.earlier, quantity.none):
        return f"{ours:.3g}", ratio, "ok"
    return f"{ours:.3g}", ratio, figure.reason if agrees(ours, figure.found, quantity.none) else OFF


def main() -> int:
    quantities = read_table()
    cells = list({(scene, f.engine): None for q in quantities for f in q.figures for scene in f.scenes})
    present = present_engines()
    results = simulate([cell for cell in cells if engine_of(cell[1]).name in present])
    count = agreeing = off = 0
    for quantity in quantities:
        print(f"\n{quantity.name}" + (f" ({quantity.unit})" if quantity.unit else ""))
        for figure in quantity.figures:
            found = [results[scene, figure.engine] for scene in figure.scenes if (scene, figure.engine) in results]
            if not found:
                print(f"  {figure.engine} is not here")
                continue
            ours, ratio, decisions = compare(quantity, figure, found)
            earlier = f"{figure.earlier:.3g}"
            print(f"  {figure.engine.partition(':')[0]:8} {ours:>10} {earlier:>10} {ratio:>6}  {decisions}")
            count, agreeing, off = count + 1, agreeing + (decisions == "ok"), off + (decisions == OFF)
    rest = f"have a stated reason, but for {off}" if off else "have a stated reason"
    print(f"\n{agreeing} of {count} figures have the same sign and size within a factor of two; the others {rest}")
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())
