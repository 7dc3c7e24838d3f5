"""Does `upright compare` give the right sign to what released engines changed?

    python -P ci/benchmarks/released_faults.py [--only WORD] [--json OUT]

Every entry of `data/released_changes.json` has two versions, a scene and the sign that physics gives the change. From
the new version to the old one *worse* and *better* should change places. It needs wheels of every version.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from measuring import Table

from validation.running.comparing import compare_engines
from validation.running.options import Progress, RunError
from validation.running.package_index import BuildError
from validation.running.runner import Limits

DATA = Path(__file__).parent / "data"
TARGET = 0.8  # of the entries
MIRROR = {"worse": "better", "better": "worse"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change of an engine, and what is right to say of it."""

    id: str
    engine: str
    old: str
    new: str
    scene: str  # a file of DATA / "released", or a scenario of the catalogue
    profile: str
    options: str  # settings of the engine, k=v,k=v
    sign: str
    because: str
    maintainers: str  # what they say of it
    sources: Sequence[str]
    by: str  # "maintainers" or "measurement": what the sign follows from
    section: str = ""  # of the first source
    note: str = ""
    pairs: Sequence[str] = ()  # kinds of bodies of which the faulty code makes contacts, "box-cylinder"; none: of any
    switch: str = ""  # a setting, k=v, that leaves the faulty code
    law: str = ""  # of the search, that only the faulty code can break

    def word(self, version: str) -> str:
        """The engine on the command line."""
        return f"{self.engine}=={version}@{self.profile}" + (f":{self.options}" if self.options else "")

    @property
    def scenario(self) -> str:
        return str(DATA / "released" / self.scene) if self.scene.endswith(".json") else self.scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The sign from old to new and back; none where it was not reproduced."""

    entry: Entry
    forth: str = ""
    back: str = ""
    reason: str = ""  # why not

    @property
    def met(self) -> bool:
        return self.forth == self.entry.sign

    @property
    def opposite(self) -> bool:
        return self.forth == MIRROR.get(self.entry.sign)

    @property
    def mirrored(self) -> bool:
        return self.back == MIRROR.get(self.forth, self.forth)


def entries() -> list[Entry]:
    return [Entry(**given) for given in json.loads((DATA / "released_changes.json").read_text("utf-8"))["entries"]]


def outcome_of(entry: Entry) -> Outcome:
    old, new = entry.word(entry.old), entry.word(entry.new)
    try:
        forth, back = (sign_of(sides, entry.scenario) for sides in ((old, new), (new, old)))
        return Outcome(entry=entry, forth=forth, back=back)
    except BuildError as error:
        return Outcome(entry=entry, reason=str(error))
    except RunError as error:  # the wheel is there, and we cannot run it
        return Outcome(entry=entry, forth="not run", back="not run", reason=str(error))


def sign_of(sides: tuple[str, str], scenario: str) -> str:
    done = compare_engines(sides, [scenario], profile=None, dt=None, limits=Limits(), progress=Progress())
    return done.comparisons[0].sign


def summary(outcomes: Sequence[Outcome]) -> tuple[str, bool]:
    ran = [outcome for outcome in outcomes if outcome.forth]
    met, opposite, mirrored = (sum(getattr(o, what) for o in ran) for what in ("met", "opposite", "mirrored"))
    counts = f"{met} of {len(ran)} as labelled, {opposite} opposite, {mirrored} mirror images"
    return f"{counts}, {len(outcomes) - len(ran)} not reproduced", met >= TARGET * len(ran) > 0 and not opposite


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", metavar="WORD", help="entries with this in their number, engine or scene")
    parser.add_argument("--json", type=Path, metavar="OUT")
    given = parser.parse_args()
    table = Table("entry:5", "engine:7", "old:7", "new:7", "scene:28", "label:9", "A to B:9", "B to A:9", ":24")
    outcomes = []
    for entry in entries():
        if given.only in f"{entry.id} {entry.engine} {entry.scene}":
            outcomes.append(o := outcome_of(entry))
            remark = o.reason or ("OPPOSITE" if o.opposite else "" if o.met else "not met")
            signs = (entry.sign, o.forth, o.back)
            table.row(entry.id, entry.engine, entry.old, entry.new, entry.scene[:28], *signs, remark)
    for by in ("maintainers", "measurement"):
        print(f"by {by}: {summary([outcome for outcome in outcomes if outcome.entry.by == by])[0]}")
    words, well = summary(outcomes)
    print(f"all: {words} (targets: {TARGET:.0%} as labelled, none opposite)")
    if given.json:
        given.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1), encoding="utf-8")
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
