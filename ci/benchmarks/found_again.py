"""Does fuzzing find again what released engines had wrong, without the scenes in which it is known?

    python -P ci/benchmarks/found_again.py [--only M01 M14 M26 ...] [--minutes 10] [--seed 1]

Of each entry of `data/released_changes.json` the version that is worse is searched, with nothing but what is drawn.
What is found there is simulated again with the version that is better: a fault of that release alone breaks no law
there. It is the known one where its bodies have the shapes of the known scene. It needs wheels of every version.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from measuring import Table, options
from released_faults import Entry, entries

from scenarios.catalogue import scenario_of
from validation.engines import engine_of
from validation.records.stored import StoredFind
from validation.store import open_store
from validation.tools.fuzzing.finds import fuzz_engine, replay_finds

TARGET = 5  # faults of those that are searched for
ONLY = ["M01", "M10", "M11", "M14", "M24", "M26", "M34"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A release that has it and one that has not."""

    entry: Entry
    worse: str
    better: str

    @property
    def shapes(self) -> set[str]:
        return {body.shape.kind for body in scenario_of(self.entry.scenario).scene.bodies}

    def version(self, which: str) -> str:
        return f"{self.entry.engine}=={which}"


def faults() -> Iterator[Fault]:
    for entry in entries():
        if entry.sign in ("worse", "better"):
            worse, better = (entry.new, entry.old) if entry.sign == "worse" else (entry.old, entry.new)
            yield Fault(entry=entry, worse=worse, better=better)


def of_release(fault: Fault, finds: list[StoredFind]) -> list[StoredFind]:
    """Those whose law is not broken in the better version."""
    elsewhere = [
        replace(find, engine=find.engine.replace(fault.version(fault.worse), fault.version(fault.better)))
        for find in finds
    ]
    replayed = replay_finds(elsewhere) if elsewhere else []
    simulated = {one.find.number for one in replayed if one.simulation is not None and not one.broken}
    return [find for find in finds if find.number in simulated]


def is_known(fault: Fault, find: StoredFind) -> bool:
    return {body.shape.kind for body in find.scene.bodies} <= fault.shapes


def main() -> int:
    asked = options(only=ONLY, minutes=10.0, seed=1)
    table = Table(
        "entry:5", "version:16s", "scenes:>7d", "finds:>6d", "of it:>6d", "known:>6d", "wall (s):>8.0f", ":60s"
    )
    again = 0
    for fault in faults():
        if fault.entry.id not in asked.only:
            continue
        with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "finds.db")) as store:
            choice = engine_of(fault.version(fault.worse))
            search, _, finds = fuzz_engine(store, choice, None, 60.0 * asked.minutes, asked.seed, lambda words: None)
            own = of_release(fault, finds)
            known = [find for find in own if is_known(fault, find)]
        again += bool(known)
        shown = (known or own or [None])[0]
        words = f"{shown.cause}: {shown.message}"[:100] if shown else ""
        row = fault.entry.id, choice.label, search.tried, len(finds), len(own), len(known)
        table.row(*row, search.wall, words)
    print(f"{again} found again (target: {TARGET})")
    return int(again < TARGET)


if __name__ == "__main__":
    sys.exit(main())
