"""What comes out of the store: light, frozen, free of SQL. Trajectories are fetched apart, by their key."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from scenarios.scene import Scene
from validation.records.case import Result, RunInfo
from validation.records.passport import Row
from validation.records.simulation import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    number: int
    info: RunInfo
    finished: datetime | None  # None: it runs, or was stopped
    planned: int  # cases
    done: int

    @property
    def branch(self) -> str:
        return self.info.branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An accepted result of an identity on a branch: who, when, why, for which selection, until when."""

    number: int
    result: Result
    branch: str
    who: str
    when: datetime
    reason: str
    scope: str  # the selection that it was part of, in words
    until: datetime | None = None  # None: for good

    @property
    def run(self) -> int:
        return self.result.run


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value of a metric in the history of an identity."""

    run: int
    case: int
    started: datetime
    commit: str
    message: str = ""
    author: str = ""
    branch: str
    machine: str
    engine_label: str
    engine_version: str
    outcome: Status
    value: float  # NaN where there is none
    unit: str
    trajectory_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFind:
    """A scene in which fuzzing saw an engine break a law."""

    number: int
    when: datetime
    engine: str  # as typed, overrides and all
    engine_version: str
    profile: str
    seed: int
    dt: float  # s
    oracle: str  # which law
    message: str  # with values
    scene: Scene
    bodies: tuple[str, ...] = ()  # and boundaries, of which it is broken; (): of the scene as a whole
    known: str = ""  # why it fails no check; "": nobody has marked it as known
    known_by: str = ""
    link: str = ""  # of the issue, of what is known
    fixed_in: str = ""  # engine version that broke the law no more; "": it is broken, as far as is known
    trajectory_key: str = ""  # of its motion; "": none is stored
    script: str = ""  # in the engine's own API; "": there is none, or nobody has asked for it yet
    issue: str = ""  # Markdown, likewise
    lacks: str = ""  # why there is no script, or no issue
    since: str = ""  # the first version of the engine that breaks the law; "": nobody has asked yet
    not_in: str = ""  # the last before it that does not; "": there is no earlier one that could be run

    @property
    def cause(self) -> str:
        """went through: box, half-space"""
        return cause_of(self.oracle, self.scene, self.bodies)


def involved(scene: Scene, bodies: Collection[str]) -> Counter[str]:
    """Kinds of the shapes and boundaries that are named, and of joints at them; of all bodies where none is named."""
    kinds = {one.name: one.shape.kind for one in scene.bodies}
    named = kinds | {one.name: one.kind for one in scene.boundaries}
    joints = [one.kind for one in scene.joints if not bodies or {one.a, one.b} & set(bodies)]
    return Counter([*([named[name] for name in bodies if name in named] or kinds.values()), *joints])


def cause_of(oracle: str, scene: Scene, bodies: Collection[str]) -> str:
    """What names a cause: the law, and what it is broken by."""
    kinds = [f"{count} {kind}" if count > 1 else kind for kind, count in sorted(involved(scene, bodies).items())]
    return f"{oracle}: {', '.join(kinds)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassport:
    """What `upright passport` found."""

    number: int
    when: datetime
    command: str
    machine: str
    engine: str
    engine_version: str
    profile: str
    platform: str
    processor: str
    rows: tuple[Row, ...]
    declined: Mapping[str, str]  # label of a scene -> why there is no motion to compare with


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredComparison:
    """What `upright compare` found; of each scenario see `Store.comparison_lines`."""

    number: int
    when: datetime
    command: str
    machine: str
    names: tuple[str, str]  # of the sides, with the versions that ran
    packages: Mapping[str, tuple[str, str]]  # that differ beside the engines
    counts: Mapping[str, int]  # worse, better, different, same, declined -> how many scenarios
