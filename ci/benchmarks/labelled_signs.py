"""Does `upright compare` give changes of known sign their sign, both ways?

    python -P ci/benchmarks/labelled_signs.py [--only WORD]

Every pair of `data/labelled_changes.py`: each side is what an engine is asked to do, measured as the scene that was
meant. Chaotic ones are run from perturbed initial states too, as the command does.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "data")]
from labelled_changes import PAIRS, Given, Pair
from measuring import given_scene

from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from validation.engines import engine_of
from validation.judging.comparison import compare, is_chaotic
from validation.judging.ensembles import compare as compare_ensembles
from validation.judging.ensembles import settled
from validation.running.ensembles import Starts, run_ensembles
from validation.running.options import Progress
from validation.running.planning import Plan, Request, plan_cases
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, results_of

OPPOSITE = {"worse": "better", "better": "worse"}
POWER = 0.95


def plan_of(pool: Pool, pair: Pair, given: Given) -> Plan:
    scenario = scenario_from_scene(pair.name, pair.scene()) if pair.scene else scenario_of(pair.case)
    (plan,) = plan_cases(pool, [Request(scenario=scenario, engine=engine_of(given.engine))])
    if plan.declined:
        raise SystemExit(f"{pair.name}: {plan.declined}")
    return given_scene(plan, given.plant(scenario.scene)) if given.plant else plan


def signs(pool: Pool, pair: Pair) -> tuple[str, str]:
    """From the old side to the new one, and back."""
    plans = [plan_of(pool, pair, given) for given in (pair.old, pair.new)]
    meant = scenario_from_scene(pair.name, pair.scene()) if pair.scene else scenario_of(pair.case)
    limits, both = Limits(time_limit=120.0), []
    found = results_of(pool, plans, limits, Progress(), pair.name)
    rough = is_chaotic(compare(meant, *found))
    made = list(run_ensembles(pool, [(plan, Starts()) for plan in plans], limits)) if rough else []
    for order in ((0, 1), (1, 0)):
        evidence = settled({0: compare_ensembles(*(made[i] for i in order))}) if made else {}
        both.append(compare(meant, *(found[i] for i in order), evidence.get(0)).sign)
    return both[0], both[1]


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("--only", default="", help="pairs in whose name or case this is")
    only = words.parse_args().only
    met, opposite, count = Counter[str](), 0, Counter[str]()
    with Pool() as pool:
        for pair in (p for p in PAIRS if only in f"{p.name} {p.case}"):
            there, back = signs(pool, pair)
            wanted = pair.sign, OPPOSITE.get(pair.sign, pair.sign)
            right = (there, back) == wanted
            count[pair.sign] += 1
            met[pair.sign] += right
            opposite += OPPOSITE.get(there) == wanted[0] or OPPOSITE.get(back) == wanted[1]
            mark = "" if right else f"  {pair.sign.upper()}: {pair.because}"
            print(f"{pair.name:52}{there:10}{back:10}{mark}", flush=True)
    by_sign = ", ".join(f"{sign} {met[sign]} of {count[sign]}" for sign in count)
    print(f"both ways as labelled: {met.total()} of {count.total()} ({by_sign}); with the opposite sign: {opposite}")
    return int(opposite > 0 or met.total() < POWER * count.total())


if __name__ == "__main__":
    sys.exit(main())
