"""How often the judge raises a false alarm, and whether it hears a true one.

    python -P ci/benchmarks/noise.py

False alarms: every canonical case below WEIGHT on four engines, from starts that differ by round-off alone, each start
judged against each other one. Detections: changes seeded one at a time, in an engine's settings or, for the laws, in
the scene that the engine is given (it is measured as the scene that was meant), judged against the unchanged run.

Left out: pybullet's and the tallest stacks' perturbed starts, which take minutes. The starts are other ones than those
that the noise classes were decided on.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "data")]
from measuring import Table, accepted, given_scene
from seeded_changes import gravity

from scenarios.catalogue import canonical_suite
from scenarios.scenario import Scenario
from scenarios.scene import Scene
from validation.engines import engine_of, present_engines
from validation.judging.judge import judge
from validation.judging.verdict import Verdict, worst_first
from validation.records.case import Result
from validation.report.sentences import describe_change, reason_of
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, Plan, Request, execute, plan_cases

FALSE_ALARM_TARGET = 0.01  # of the pairs
STARTS = (101, 102, 103)  # seeds; 0 is the start as it stands
ROUND_OFF = {"box2d": 1e-7}  # m; single precision
ROUND_OFF_ELSE = 1e-12  # m
WEIGHT = 100.0  # body seconds: bodies times duration

Results = dict[str, Result]  # by the scenario's label


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    what: str
    engine: str
    override: str = ""
    change: Callable[[Scene], Scene] | None = None


def scaled(name: str, factor: float = 1.0, less: float = 0.0) -> Callable[[Scene], Scene]:
    """A material property of every body, boundary and pair."""

    def changed(member: Any) -> Any:
        value = getattr(member, name, None)
        return member if value is None else member.model_copy(update={name: max(0.0, factor * value - less)})

    def change(scene: Scene) -> Scene:
        pairs = tuple(map(changed, scene.contact.pairs))
        bodies, boundaries = tuple(map(changed, scene.bodies)), tuple(map(changed, scene.boundaries))
        contact = scene.contact.model_copy(update={"pairs": pairs})
        return scene.model_copy(update={"bodies": bodies, "boundaries": boundaries, "contact": contact})

    return change


SEEDED = (
    Seeded(what="iterations 50 -> 2", engine="pymunk", override="iterations=2"),
    Seeded(what="iterations 50 -> 10", engine="pymunk", override="iterations=10"),
    Seeded(what="collision_slop x 10", engine="pymunk", override="collision_slop=0.01"),
    Seeded(what="friction x 1.05", engine="pymunk", change=scaled("friction", 1.05)),
    Seeded(what="restitution - 0.05", engine="pymunk", change=scaled("restitution", less=0.05)),
    Seeded(what="gravity x 1.01", engine="pymunk", change=gravity(1.01)),
    Seeded(what="velocity_iterations 50 -> 10", engine="box2d", override="velocity_iterations=10"),
    Seeded(what="solref x 4", engine="mujoco", override="solref_timeconst=0.0333333333"),
    Seeded(what="iterations 200 -> 20", engine="pybullet", override="iterations=20"),
)
PERTURBED = ("reference", "pymunk", "box2d", "mujoco")


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
    present = set(present_engines())
    suite = [s for s in canonical_suite() if s.scene.duration * len(s.scene.bodies) <= WEIGHT]
    laws = {scenario.label: scenario.laws for scenario in suite}
    alarms: list[Verdict] = []
    unheard: list[str] = []
    pairs = 0
    with Pool() as pool:
        unchanged: dict[str, Results] = {}
        table = Table("engine:12", "cases:>6", "pairs:>6", "worse:>6", "different:>10")
        for engine in sorted({*PERTURBED, *(s.engine for s in SEEDED)} & present):
            plans = planned(pool, suite, engine)
            unchanged[engine] = run(pool, plans)
            if engine in PERTURBED:
                size = ROUND_OFF.get(engine, ROUND_OFF_ELSE)
                starts = [unchanged[engine]]
                for seed in STARTS:
                    moved = [given_scene(plan, perturbed(plan.scenario.scene, size, seed)) for plan in plans]
                    starts.append(run(pool, moved))
                verdicts = [
                    judge(accepted(before[label]), after[label], laws[label])
                    for before, after in itertools.permutations(starts, 2)
                    for label in before
                ]
                pairs += len(verdicts)
                alarms += [verdict for verdict in verdicts if verdict.worse]
                words = Counter("worse" if verdict.worse else verdict.word for verdict in verdicts)
                table.row(engine, len(plans), len(verdicts), words["worse"], words["different"])
        for (label, engine, metric), count in Counter(map(described, alarms)).most_common(10):
            print(f"  false alarm: {label} × {engine}: {metric or 'outcome'}, {count} pairs")

        print()
        table = Table("seeded change:42", "worse:>5", "different:>9", "  the worst change:1")
        for seeded in SEEDED:
            if seeded.engine not in present:
                continue
            word = seeded.engine + (f":{seeded.override}" if seeded.override else "")
            plans = planned(pool, suite, word)
            if seeded.change:
                change = seeded.change
                plans = [given_scene(plan, change(plan.scenario.scene)) for plan in plans]
            base = unchanged[seeded.engine]
            judged = [
                (result, judge(accepted(base[label]), result, laws[label]))
                for label, result in run(pool, plans).items()
                if label in base
            ]
            worse = sum(verdict.worse for _, verdict in judged)
            different = sum(verdict.word == "different" for _, verdict in judged)
            if not worse:
                unheard.append(seeded.what)
            table.row(f"{seeded.engine} {seeded.what}", worse, different, "  " + worst_change(judged))
    rate = len(alarms) / max(1, pairs)
    heard = f"{len(SEEDED) - len(unheard)} of {len(SEEDED)} seeded changes found (target: all)"
    print(f"false alarms {100 * rate:.2f} % of {pairs} pairs (target {100 * FALSE_ALARM_TARGET:g} %), {heard}")
    return int(rate > FALSE_ALARM_TARGET or bool(unheard) or not pairs)


def planned(pool: Pool, suite: Sequence[Scenario], engine: str) -> list[Plan]:
    choice = engine_of(engine)
    plans = plan_cases(pool, [Request(scenario=scenario, engine=choice) for scenario in suite])
    return [plan for plan in plans if plan.declined is None]


def run(pool: Pool, plans: Sequence[Plan]) -> Results:
    results: Results = {}
    execute(pool, plans, Limits(), lambda result: results.update({result.case.label: result}))
    return results


def described(verdict: Verdict) -> tuple[str, str, str]:
    defect = verdict.defects[0].metric if verdict.word == "defect" else ""
    return verdict.case.label, verdict.case.engine_label, verdict.metric or defect


def worst_change(judged: Sequence[tuple[Result, Verdict]]) -> str:
    """Of the worst case the metric that changed most."""
    verdict = worst_first(judged)[0][1]
    moved = describe_change(verdict.changes[0], verdict.case) if verdict.changes else reason_of(verdict)
    return f"{verdict.case.label}: {moved}"


if __name__ == "__main__":
    sys.exit(main())
