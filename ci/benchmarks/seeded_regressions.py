"""Are planted changes found, by the right name, and is nothing found where nothing was planted?

    python -P ci/benchmarks/seeded_regressions.py [--only WORD] [--seeds N] [--no-pairs] [--json OUT]

Every row changes one thing in one engine: a setting, or the scene that it is given (another gravity, friction, order of
bodies ...) while it is measured as the scene that was meant. Asked is

- of the first divergence: that it names the sample and the body that a second search over the samples finds, and where
  physics says when and whom the change touches first, those;
- of the comparison, both ways: the sign that the change is labelled with (`data/labelled_changes.py`);
- of 200 and more pairs of ensembles of one and the same code with different seeds, half of them of scenes in which
  round-off decides what happens (`data/knife_edges.py`): that none is anything but *same*.

pybullet and the reference engine are judged by single runs: their ensembles take minutes, and rows with another order
of bodies too.
"""

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "data")]
from knife_edges import EDGES
from labelled_changes import SEEDED
from measuring import accepted, given_scene
from seeded_changes import PLANTED, Planted

from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from validation.engines import engine_of, present_engines
from validation.judging.comparison import compare as compare_results
from validation.judging.ensembles import Ensemble, EnsembleEvidence, compare, settled
from validation.judging.evidence.divergence import Divergence, first_divergence
from validation.judging.judge import judge
from validation.judging.policy import ENSEMBLE_JUDGES
from validation.judging.verdict import Verdict
from validation.metrics import measure_with_outcomes
from validation.records.case import Result
from validation.records.trajectory import PlanarTrajectory, Trajectory
from validation.report.sentences import describe_difference
from validation.running.ensembles import Starts, run_ensembles
from validation.running.options import Progress
from validation.running.planning import Plan, Request, plan_cases
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, execute, measure_motions, results_of

OPPOSITE = {"worse": "better", "better": "worse"}
POWER = 0.95  # of the labels
ACCEPTED, SECOND = 1, 77  # seeds
ENSEMBLES = ("pymunk", "box2d", "mujoco")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One case as one engine does it."""

    plan: Plan
    result: Result
    motion: Trajectory
    ensemble: Ensemble | None
    second: Ensemble | None


def plan_of(pool: Pool, planted: Planted, *, changed: bool) -> Plan:
    word = planted.engine + (f":{planted.override}" if changed and planted.override else "")
    (plain,) = plan_cases(pool, [Request(scenario=scenario_of(planted.case), engine=engine_of(planted.engine))])
    (plan,) = plan_cases(pool, [Request(scenario=scenario_of(planted.case), engine=engine_of(word))])
    if plan.declined:
        raise SystemExit(f"{planted.name}: {plan.declined}")
    if not changed:
        return plain
    scene = planted.plant(plain.scenario.scene) if planted.plant else plain.scenario.scene
    identity = replace(plan.case.identity, dt=plan.case.identity.dt * planted.dt)
    return replace(given_scene(plan, scene), case=replace(plan.case, identity=identity))


def side_of(pool: Pool, plan: Plan, planted: Planted, order: Sequence[int] | None) -> Side:
    found: list[Result] = []
    execute(pool, [plan], Limits(time_limit=120.0), found.append)
    result, motion = found[0], found[0].trajectory
    if motion is None:
        raise SystemExit(f"{planted.name}: {result.outcome} ({result.reason})")
    if order is not None:
        motion = reordered(motion, order)
        (measured,) = measure_motions(pool, [(plan, motion)], Limits())
        happened = measure_with_outcomes(plan.scenario, motion)[1]
        result = replace(result, measurements=measured, outcomes=happened, trajectory=motion)
    ensembles: list[Ensemble | None] = [None, None]
    rough = any(m.noise in ENSEMBLE_JUDGES for m in result.measurements)
    if planted.engine in ENSEMBLES and order is None and not planted.reorders and rough:
        ensembles = [ensemble_of(pool, plan, seed) for seed in (ACCEPTED, SECOND)]
    return Side(plan=plan, result=result, motion=motion, ensemble=ensembles[0], second=ensembles[1])


def ensemble_of(pool: Pool, plan: Plan, seed: int) -> Ensemble:
    return next(run_ensembles(pool, [(plan, Starts(seed=seed))], Limits(time_limit=120.0)))


def reordered(motion: Trajectory, order: Sequence[int]) -> Trajectory:
    """Body i of the motion that is handed back is body order[i] of this one."""
    names = (
        ("pose", "twist") if isinstance(motion, PlanarTrajectory) else ("position", "orientation", "velocity", "spin")
    )
    parts = {name: np.ascontiguousarray(getattr(motion, name)[:, list(order)]) for name in names}
    return replace(motion, **parts, contacts=None, impacts=None, state_hash="")


# --- what the judge says -----------------------------------------------------------------------------------------


def judged(old: Side, new: Side) -> Verdict:
    """With the bits left out."""
    before = replace(old.result, trajectory=old.motion)
    result = replace(new.result, trajectory_hash="", trajectory=new.motion)
    return judge(accepted(before), result, new.plan.scenario, evidence_of(old, new))


def evidence_of(old: Side, new: Side) -> EnsembleEvidence | None:
    if old.ensemble is None or new.ensemble is None:
        return None
    return settled({0: compare(old.ensemble, new.ensemble)}).get(0)


def signs(old: Side, new: Side) -> tuple[str, str]:
    """What `upright compare` says from the old side to the new one, and back."""
    meant = old.plan.scenario
    there = compare_results(meant, old.result, new.result, evidence_of(old, new)).sign
    return there, compare_results(meant, new.result, old.result, evidence_of(new, old)).sign


def named(verdict: Verdict) -> list[str]:
    """Metrics by which it is worse, in the order in which it reports them."""
    fresh = [defect.metric for defect in verdict.defects if not defect.standing]
    return fresh + [change.metric for change in verdict.changes if change.move == "regressed"]


# --- where they part, looked for a second time --------------------------------------------------------------------


def divergence_at(old: Trajectory, new: Trajectory, names: Sequence[str]) -> tuple[float, str] | None:
    """Time and body, sample by sample: of poses the body that is furthest off (m or rad), else of velocities."""
    before, after = states(old), states(new)
    pending: dict[float, list[int]] = {}
    for i, time in enumerate(old.time.tolist()):
        pending.setdefault(time, []).append(i)
    for j, time in enumerate(new.time.tolist()):
        if not pending.get(time):
            continue
        i = pending[time].pop(0)
        for a, b in zip(before, after):
            apart = np.abs(a[i] - b[j]).max(axis=1)
            if apart.max() > 0.0:
                return time, names[int(np.argmax(apart))]
    return None


def states(motion: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """(S, B, 3 or 7) poses and (S, B, 3 or 6) velocities."""
    if isinstance(motion, PlanarTrajectory):
        return motion.pose, motion.twist
    pairs = (motion.position, motion.orientation), (motion.velocity, motion.spin)
    poses, velocities = (np.concatenate(pair, axis=2) for pair in pairs)
    return poses, velocities


def divergence_is_right(planted: Planted, old: Side, new: Side, found: Divergence) -> str:
    """ "" where it is; else what is wrong."""
    scene = old.plan.scenario.scene
    names = [body.name for body in scene.bodies]
    seen = divergence_at(old.motion, new.motion, names)
    if found.first is None or seen is None:
        return "" if found.first is None and seen is None and planted.touches is None else "no divergence"
    if found.first.time != seen[0]:
        return f"t = {found.first.time:.6g} s, the search says {seen[0]:.6g}"
    spatial = not isinstance(old.motion, PlanarTrajectory)
    if found.first.body != seen[1] and not spatial:  # in space angles are no differences of quaternions
        return f"{found.first.body}, the search says {seen[1]}"
    if planted.touches is not None:
        low, high, bodies = planted.touches
        if not low <= found.first.time <= high:
            return f"t = {found.first.time:.6g} s, physics says {low:.6g} to {high:.6g}"
        if bodies and found.first.body not in bodies:
            return f"{found.first.body}, physics says {' or '.join(bodies)}"
    return ""


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("--only", default="", help="rows in whose name, engine or case this is")
    words.add_argument("--seeds", type=int, default=6)
    words.add_argument("--no-pairs", action="store_true")
    words.add_argument("--json", type=Path, help="a file for the rows and the pairs, as ci/record.py reads them")
    given = words.parse_args()
    rows = [p for p in PLANTED if p.engine in present_engines() and given.only in f"{p.name} {p.engine} {p.case}"]
    before: dict[Key, Side] = {}
    placed = met = opposite = 0
    lines: list[dict[str, object]] = []
    with Pool() as pool:
        print(f"{'engine':10}{'planted':34}{'case':28}{'verdict':10} the sentence; first divergence")
        for planted in rows:
            key = (planted.engine, planted.case)
            if key not in before:
                before[key] = side_of(pool, plan_of(pool, planted, changed=False), planted, None)
            old = before[key]
            plan = plan_of(pool, planted, changed=True)
            new = side_of(pool, plan, planted, planted.order(old.plan.scenario.scene))
            scene = old.plan.scenario.scene
            members = [member.name for member in (*scene.bodies, *scene.boundaries)]
            divergence = first_divergence(old.motion, new.motion, members)
            wrong = divergence_is_right(planted, old, new, divergence)
            placed += not wrong
            verdict = judged(old, new)
            described = named(verdict)
            where = describe_difference(divergence.first) if divergence.first else "none"
            sign, back = signs(old, new)
            label = SEEDED[planted.engine, planted.name, planted.case].sign
            met += (sign, back) == (label, OPPOSITE.get(label, label))
            opposite += OPPOSITE.get(sign) == label or OPPOSITE.get(back) == OPPOSITE.get(label, "")
            mark = "" if sign == label else f"compare says {sign} and {back}, labelled {label}; "
            row = f"{planted.engine:10}{planted.name:34}{planted.case:28}{verdict.word:10}"
            print(
                f"{row} {mark}{described[0] if described else '-'}; {f'WRONG, {wrong}' if wrong else where}", flush=True
            )
            first = asdict(divergence.first) if divergence.first else None
            lines.append(
                {"engine": planted.engine, "planted": planted.name, "case": planted.case}
                | {"label": label, "sign": sign, "back": back}
                | {"verdict": verdict.word, "metrics": described, "first": first, "wrong": wrong}
            )
        quiet = [] if given.no_pairs else [*before.values(), *edges(pool, given.only)]
        flags, pairs = quiet_pairs(pool, quiet, given.seeds)
    if given.json:
        given.json.write_text(json.dumps({"rows": lines, "pairs": pairs, "flags": flags}, indent=1) + "\n")
    print(
        f"first divergence right in {placed} of {len(rows)} (target: all); {flags} of {pairs} A/A pairs raise a flag "
        "(target: none)"
    )
    print(f"{met} of {len(rows)} have the sign of their label both ways, {opposite} the opposite (target: 95 %, 0)")
    missed = placed < len(rows) or opposite or met < POWER * len(rows) or flags
    return int(bool(missed) or (not given.only and (len(rows) < 24 or (pairs < 200 and not given.no_pairs))))


def edges(pool: Pool, only: str) -> list[Side]:
    """Of scenes in which round-off decides what happens."""
    found = []
    for engine, scene in EDGES:
        if engine in present_engines() and only in f"{engine} {scene.__name__}":
            scenario = scenario_from_scene(scene.__name__.replace("_", "-"), scene())
            (plan,) = plan_cases(pool, [Request(scenario=scenario, engine=engine_of(engine))])
            ensembles = [ensemble_of(pool, plan, seed) for seed in (ACCEPTED, SECOND)]
            ((result, motion),) = [(r, r.trajectory) for r in results_of(pool, [plan], Limits(), Progress(), "edge")]
            assert motion is not None
            found.append(Side(plan=plan, result=result, motion=motion, ensemble=ensembles[0], second=ensembles[1]))
    return found


def quiet_pairs(pool: Pool, sides: Sequence[Side], count: int) -> tuple[int, int]:
    """(Flags, pairs) of ensembles of the same code with different seeds: a flag is any sign but *same*."""
    flags: Counter[str] = Counter()
    pairs = 0
    for side in sides:
        if side.ensemble is None or side.second is None:
            continue
        more = [ensemble_of(pool, side.plan, seed) for seed in range(2, count)]
        for a, b in itertools.combinations([side.ensemble, *more, side.second], 2):
            found = compare(a, b)
            pairs += bool(found)
            sign = compare_results(side.plan.scenario, side.result, side.result, settled({0: found}).get(0)).sign
            if sign != "same":
                flags[f"{side.plan.case.label} x {side.plan.case.engine_label}: {sign}"] += 1
    for what, times in flags.most_common():
        print(f"  flag: {what}, {times} pairs")
    return flags.total(), pairs


if __name__ == "__main__":
    sys.exit(main())
