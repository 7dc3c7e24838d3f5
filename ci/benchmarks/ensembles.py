"""How often two ensembles of one and the same code raise a flag, and what they hear of a planted change.

    python -P ci/benchmarks/ensembles.py [--seeds N]

A/A: every case is run as N ensembles (6) of 20 starts, perturbed by other seeds, and each is judged against each later
one as if it had been accepted: a flag is any change of any metric. Planted: settings of an engine are changed one at a
time; how many of the cases with that engine are told to be otherwise by ensembles, and by one run against one.
pybullet is left out: its perturbed starts take minutes.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from datetime import UTC, datetime

from scenarios.catalogue import scenario_of
from validation.engines import engine_of, present_engines
from validation.judging.ensembles import Ensemble, compare, settled
from validation.judging.judge import judge
from validation.judging.verdict import Verdict
from validation.records.stored import Baseline, StoredResult
from validation.running.ensembles import Starts, run_ensembles
from validation.running.kernel_cache import use_kernel_cache
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, Plan, Request, execute, plan_cases

TARGET = 1 / 200  # of the A/A pairs
CASES = {
    "pymunk": ("stack:n=3", "stack:n=5,mass_ratio=100", "stack:n=5,friction=0", "dominoes", "pile", "overlapped-start"),
    "box2d": ("stack:n=3", "stack:n=5,mass_ratio=100", "stack:n=5,friction=0", "dominoes", "pile", "overlapped-start"),
    "mujoco": ("stack:n=3", "stack:n=5,mass_ratio=100", "dominoes", "overlapped-start"),
}
PLANTED = (
    ("pymunk", "iterations=25", "iterations 50 -> 25"),
    ("pymunk", "iterations=10", "iterations 50 -> 10"),
    ("pymunk", "collision_slop=0.002", "collision_slop x 2"),
    ("box2d", "velocity_iterations=25", "velocity_iterations 50 -> 25"),
    ("mujoco", "solref_timeconst=0.0166666667", "solref x 2"),
)


def plans_of(pool: Pool, engine: str, override: str = "") -> list[Plan]:
    choice = engine_of(f"{engine}:{override}" if override else engine)
    requests = [Request(scenario=scenario_of(word), engine=choice) for word in CASES[engine]]
    return [plan for plan in plan_cases(pool, requests) if plan.declined is None]


def ensembles(pool: Pool, plans: list[Plan], seed: int) -> list[Ensemble]:
    found: list[Ensemble] = []
    run_ensembles(pool, [(plan, Starts(seed=seed)) for plan in plans], Limits(), lambda _, e: found.append(e))
    return found


def once(pool: Pool, plans: list[Plan]) -> list[StoredResult]:
    found: dict[str, StoredResult] = {}
    execute(pool, plans, Limits(), lambda result: found.update({result.case.label: StoredResult.of(result)}))
    return [found[plan.case.label] for plan in plans]


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seeds", type=int, default=6)
    seeds = range(1, arguments.parse_args().seeds + 1)
    use_kernel_cache()
    present = [engine for engine in CASES if engine in present_engines()]
    flags: Counter[str] = Counter()
    pairs = compared = 0
    first: dict[str, list[Ensemble]] = {}
    with Pool() as pool:
        print(f"{'engine':10} {'case':28} {'agree for':>9} {'pairs':>6} {'flags':>6}")
        for engine in present:
            plans = plans_of(pool, engine)
            by_seed = [ensembles(pool, plans, seed) for seed in seeds]
            first[engine] = by_seed[0]
            for i, plan in enumerate(plans):
                own: Counter[str] = Counter()
                made = 0
                for a, b in itertools.combinations(by_seed, 2):
                    found = compare(a[i], b[i])
                    compared += len(found)
                    made += bool(found)
                    of_pair = settled({0: found}).get(0)
                    own.update([change.metric for change in of_pair.changes[:1]] if of_pair else [])
                pairs += made
                flags.update({f"{plan.case.label} x {engine}: {metric}": count for metric, count in own.items()})
                agree = sum(e[i].horizon for e in by_seed) / len(by_seed)
                print(f"{engine:10} {plan.case.label:28} {agree:9.0%} {made:6} {own.total():6}")
        for what, count in flags.most_common():
            print(f"  flag: {what}, {count} pairs")
        print(f"\n{'planted':42} {'cases':>5} {'ensembles':>10} {'one run':>8}   the surest of the ensembles")
        heard = 0
        planted = [row for row in PLANTED if row[0] in present]
        for engine, override, what in planted:
            plans, plain = plans_of(pool, engine, override), plans_of(pool, engine)
            now = ensembles(pool, plans, seeds[0])
            evidence = settled({i: compare(first[engine][i], now[i]) for i in range(len(plans))})
            described = {i: e.changes for i, e in evidence.items() if e.changes}
            single = [judged(*pair) for pair in zip(once(pool, plain), once(pool, plans))]
            by_one = sum(verdict.word != "pass" for verdict in single)
            surest = max(((len(c), i) for i, c in described.items()), default=None)
            words = ""
            if surest is not None:
                i = surest[1]
                words = f"{plans[i].case.label}: {described[i][0].describe(plans[i].case)}"
            heard += bool(described)
            print(f"{engine + ' ' + what:42} {len(plans):5} {len(described):10} {by_one:8}   {words}")
    rate = flags.total() / max(1, pairs)
    print(
        f"{flags.total()} of {pairs} A/A pairs raise a flag, in {compared} comparisons (target: at most 1 of 200); "
        f"{heard} of {len(planted)} planted changes heard (target: all)"
    )
    return int(rate > TARGET or not pairs or heard < len(planted))


def judged(before: StoredResult, after: StoredResult) -> Verdict:
    """One run against one run."""
    accepted = Baseline(
        number=1, result=before, branch="", who="", when=datetime.now(UTC), reason="benchmark", scope="benchmark"
    )
    return judge(accepted, after)


if __name__ == "__main__":
    sys.exit(main())
