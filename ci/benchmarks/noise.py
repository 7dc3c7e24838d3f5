"""How often the judge raises a false alarm, from starts that differ by round-off alone.

    python -P ci/benchmarks/noise.py

Every canonical case below WEIGHT on four engines; each start is judged against each other one. Left out: pybullet's and
the tallest stacks' perturbed initial states, which take minutes. The starts are other ones than those that the noise
classes were decided on. Whether true alarms are heard is asked by `seeded_regressions.py`.
"""

import itertools
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, accepted, given_scene

from scenarios.catalogue import canonical_suite
from scenarios.scene import Scene
from validation.engines import engine_of, present_engines
from validation.judging.judge import judge
from validation.judging.verdict import Verdict
from validation.records.case import Result
from validation.running.planning import Plan, Request, plan_cases
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, execute

FALSE_ALARM_TARGET = 0.01  # of the pairs
STARTS = (101, 102, 103)  # seeds; 0 is the start as it stands
ENGINES = ("reference", "pymunk", "box2d", "mujoco")
SHIFT = {"box2d": 1e-7}  # m; single precision
SHIFT_ELSE = 1e-12  # m
WEIGHT = 100.0  # body seconds: bodies times duration


def perturbed(scene: Scene, size: float, seed: int) -> Scene:
    """Every free body moved by less than `size` (m) along each axis."""
    random = np.random.default_rng(seed)
    bodies = tuple(
        body
        if body.fixed
        else body.model_copy(update={"position": tuple(x + size * random.uniform(-1.0, 1.0) for x in body.position)})
        for body in scene.bodies
    )
    return scene.model_copy(update={"bodies": bodies})


def main() -> int:
    suite = [s for s in canonical_suite() if s.scene.duration * len(s.scene.bodies) <= WEIGHT]
    scenarios = {scenario.label: scenario for scenario in suite}
    alarms: list[Verdict] = []
    pairs = 0
    table = Table("engine:12", "cases:>6", "pairs:>6", "worse:>6", "different:>10")
    with Pool() as pool:
        for engine in sorted({*ENGINES} & {*present_engines()}):
            choice, size = engine_of(engine), SHIFT.get(engine, SHIFT_ELSE)
            plans = plan_cases(pool, [Request(scenario=scenario, engine=choice) for scenario in suite])
            plans = [plan for plan in plans if plan.declined is None]
            starts = [run(pool, plans)]
            for seed in STARTS:
                moved = [given_scene(plan, perturbed(plan.scenario.scene, size, seed)) for plan in plans]
                starts.append(run(pool, moved))
            verdicts = [
                judge(accepted(before[label]), after[label], scenarios[label])
                for before, after in itertools.permutations(starts, 2)
                for label in before
            ]
            pairs += len(verdicts)
            alarms += [verdict for verdict in verdicts if verdict.worse]
            words = Counter("worse" if verdict.worse else verdict.word for verdict in verdicts)
            table.row(engine, len(plans), len(verdicts), words["worse"], words["different"])
    for (label, engine, metric), count in Counter(map(described, alarms)).most_common(10):
        print(f"  false alarm: {label} × {engine}: {metric or 'outcome'}, {count} pairs")
    rate = len(alarms) / max(1, pairs)
    print(f"false alarms {100 * rate:.2f} % of {pairs} pairs (target {100 * FALSE_ALARM_TARGET:g} %)")
    return int(rate > FALSE_ALARM_TARGET or not pairs)


def run(pool: Pool, plans: Sequence[Plan]) -> dict[str, Result]:
    """Scenario's label -> result."""
    results: dict[str, Result] = {}
    execute(pool, plans, Limits(), lambda result: results.update({result.case.label: result}))
    return results


def described(verdict: Verdict) -> tuple[str, str, str]:
    defect = verdict.defects[0].metric if verdict.word == "defect" else ""
    return verdict.case.label, verdict.case.engine_label, verdict.metric or defect


if __name__ == "__main__":
    sys.exit(main())
