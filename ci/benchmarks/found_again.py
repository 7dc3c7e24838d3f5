"""Does fuzzing find again what released engines had wrong, without the scenes in which it is known?

    python -P ci/benchmarks/found_again.py [--only M01 M14 M26 ...] [--minutes 10] [--seed 1]

Of each entry of `data/released_changes.json` the release that has the fault is searched, with nothing but what is
drawn, for what the other release of the entry has not (`upright fuzz --not-in`). A find is the known fault by these
pieces of evidence (`is_known`), all of which it needs:

- Its law is broken in the one release and not in the other, and not by chance: the scene is simulated with other masses
  and gravity, by 0.1 %, so that every body starts at the same bits, and Fisher's exact test tells the releases apart.
- It runs through the code that the entry names: bodies of kinds that this code makes contacts of, and no others; or
  the entry's `law` is about that code; and, where a setting leaves that code (`switch`), the law is not broken with it.

The shapes alone are no evidence: the fault of a collider shows in all pairs that it handles. A release alone is
none, either: it changes more than one thing. A search ends with the first such find. It needs wheels of every version.
"""

import math
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from measuring import Table, options
from released_faults import Entry, entries
from scipy.stats import fisher_exact

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, colliding_pairs
from validation.engines import EngineChoice, engine_of
from validation.records.stored import cause_of
from validation.running.environments import environment_of, is_here
from validation.running.executors import executor_at
from validation.running.options import LOCAL
from validation.running.planning import Request
from validation.running.processes.executor import Executor
from validation.running.runner import Limits, simulate_unplanned
from validation.tools.fuzzing.comparing import Tried, broken_by, with_settings
from validation.tools.fuzzing.fault import Fault as Found
from validation.tools.fuzzing.search import SCENE_LIMIT, Fuzzer, Search, is_broken
from validation.tools.fuzzing.twins import nearby

TARGET = 5  # faults of those that are searched for
ONLY = ["M01", "M03", "M14", "M24", "M26", "M30", "M31"]
NEARBY = 8  # scenes
SHARE = 1e-3  # of masses and gravity
LEVEL = 0.01  # of the test


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A release that has it and one that has not."""

    entry: Entry
    worse: EngineChoice
    better: EngineChoice


def faults() -> Iterator[Fault]:
    for entry in entries():
        if entry.sign in ("worse", "better"):
            worse, better = (entry.new, entry.old) if entry.sign == "worse" else (entry.old, entry.new)
            choices = (engine_of(f"{entry.engine}=={version}") for version in (worse, better))
            yield Fault(entry=entry, worse=next(choices), better=next(choices))


def is_known(pool: Executor, fault: Fault, found: Found) -> bool:
    worse, better = (with_settings(choice, dict(found.options)) for choice in (fault.worse, fault.better))
    if not runs_through(fault.entry, found):
        return False
    if fault.entry.switch and not fault.entry.law:
        left = with_settings(worse, dict([fault.entry.switch.split("=")]))
        if broken(pool, fault, left, found, found.scene):
            return False
    same = [nearby(found.scene, SHARE, 0.0, 0.0, seed) for seed in range(NEARBY)]
    scenes = [found.scene, *(scene for scene in same if scene is not None)]
    times = [sum(broken(pool, fault, choice, found, one) for one in scenes) for choice in (worse, better)]
    table = [[count, len(scenes) - count] for count in times]
    return bool(fisher_exact(table, alternative="greater").pvalue < LEVEL)


def runs_through(entry: Entry, found: Found) -> bool:
    """Whether only the code that the entry names can be what breaks the law."""
    if entry.law:
        return found.oracle == entry.law
    kinds = {body.name: body.shape.kind for body in found.scene.bodies}
    pairs = ["-".join(sorted((kinds[a], kinds[b]))) for a, b in colliding_pairs(found.scene) if {a, b} <= {*kinds}]
    handled = [not entry.pairs or pair in entry.pairs for pair in pairs]
    if entry.switch:  # what leaves the code shows that it is needed
        return not entry.pairs or any(handled)
    return bool(handled) and all(handled)


def broken(pool: Executor, fault: Fault, engine: EngineChoice, found: Found, scene: Scene) -> bool:
    """Whether its law is, in this scene."""
    profile = fault.entry.profile
    request = Request(scenario=scenario_from_scene("fuzzed", scene), engine=engine, profile=profile, dt=found.dt)
    simulation = simulate_unplanned(pool, request, profile, Limits(time_limit=SCENE_LIMIT))
    tried = Tried(scene=scene, dt=found.dt, engine=engine, profile=profile, oracle=found.oracle)
    return is_broken(found, broken_by(pool, tried, simulation))


def search_for(fault: Fault, minutes: float, seed: int) -> tuple[Search, Found | None, float]:
    """What the search did, the find that is the fault, if any, and after how many seconds."""
    choices = (fault.worse, fault.better)
    commands = {one.word: environment_of(one, print).command for one in choices if not is_here(one)}
    known: list[Found] = []
    with executor_at(LOCAL, commands) as pool:
        fuzzer = Fuzzer(pool, fault.worse, fault.entry.profile, 60.0 * minutes, without=fault.better)
        started = time.monotonic()
        seen: list[Found] = []

        def see(search: Search) -> None:
            for found in search.faults[len(seen) :]:
                seen.append(found)
                if is_known(pool, fault, found):
                    known.append(found)
                    fuzzer.deadline = -math.inf  # it is over

        fuzzer.run(seed, see)
        return fuzzer.search, next(iter(known), None), time.monotonic() - started


def cpu() -> float:
    """s, of this process and of all that it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> int:
    asked = options(only=ONLY, minutes=10.0, seed=1)
    table = Table(
        "entry:5",
        "version:16s",
        "scenes:>7d",
        "finds:>6d",
        "again:6s",
        "wall (s):>8.0f",
        "cpu (s):>8.0f",
        "load:>5.1f",
        ":60s",
    )
    again = 0
    for fault in faults():
        if fault.entry.id not in asked.only:
            continue
        before = cpu()
        search, found, seconds = search_for(fault, asked.minutes, asked.seed)
        again += found is not None
        shown = found or next(iter(search.faults), None)
        label = with_settings(fault.worse, dict(shown.options)).label if shown else ""
        words = f"{label} {cause_of(shown.oracle, shown.scene, shown.bodies)}: {shown.message}"[:160] if shown else ""
        row = fault.entry.id, fault.worse.label, search.tried, len(search.faults), "yes" if found else "no"
        table.row(*row, seconds, cpu() - before, os.getloadavg()[1], words)
    print(f"{again} found again (target: {TARGET})")
    return int(again < TARGET)


if __name__ == "__main__":
    sys.exit(main())
