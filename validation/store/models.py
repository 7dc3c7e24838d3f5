"""The tables: one model per noun of the architecture. `validation.records` says what each field means.

A change here needs a migration in `migrations/versions`, with its way back (`set_aside`), and a new `HEAD` in
`revision`; a test compares the two. Jobs of an older Upright go on writing after a migration, where the tables take
what they write: one that changes what a row means has to make them refuse it (a column without a default).
"""

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, TypeVar, get_args

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from scenarios.scenario import Noise
from validation.judging.verdict import Word
from validation.records.measurement import Better
from validation.records.simulation import Status
from validation.review.ledger import Act
from validation.store.column_types import Blob, Flag, Instant, Measured, Number, OneOf, Real, Whole, Words, set_required


class Base(DeclarativeBase):
    type_annotation_map: ClassVar = {
        str: Words,
        int: Whole,
        bool: Flag,
        float: Real,
        datetime: Instant,
        bytes: Blob,
    }


Record = TypeVar("Record")


def row_of(table: type[Base], record: Any, **more: Any) -> dict[str, Any]:
    """What the record has by the names of the table's columns, and what is given."""
    names = _columns_of(table, record.__class__)
    return {name: getattr(record, name) for name in names if name not in more} | more


@cache
def _columns_of(table: type[Base], kind: Any) -> list[str]:
    """The table's columns that records of this kind have."""
    own = {*dir(kind), *(field.name for field in fields(kind))}
    return [column.name for column in table.__table__.columns if column.name in own]


def record_of(kind: Callable[..., Record], row: Any, **more: Any) -> Record:
    """A dataclass of the row's columns by the names of its fields, and of what is given."""
    return kind(**{name: row[k] for name, k in _both(kind, row._fields, tuple(more))}, **more)


@cache
def _both(kind: Any, columns: tuple[str, ...], given: tuple[str, ...]) -> list[tuple[str, int]]:
    """Names that fields and columns share, and which column it is."""
    names = [field.name for field in fields(kind) if field.init and field.name not in given]
    return [(name, columns.index(name)) for name in names if name in columns]


class Scene(Base):
    __tablename__ = "scenes"
    hash: Mapped[str] = mapped_column(primary_key=True)  # scenarios.scene.content_hash
    json: Mapped[str]


class Run(Base):
    __tablename__ = "runs"
    id: Mapped[int] = mapped_column(primary_key=True)
    started: Mapped[datetime]
    finished: Mapped[datetime | None]
    commit: Mapped[str]
    branch: Mapped[str]
    dirty: Mapped[bool]
    machine: Mapped[str]
    platform: Mapped[str]
    python: Mapped[str]
    packages: Mapped[str]  # JSON: name -> version
    command: Mapped[str]
    timing: Mapped[bool]
    labels: Mapped[str]  # JSON: name -> text
    base: Mapped[str] = mapped_column(server_default="")  # branch that the change is for; "": compared with none
    merge_base: Mapped[str] = mapped_column(server_default="")
    default_branch: Mapped[str] = mapped_column(server_default="")
    asked: Mapped[str] = mapped_column(server_default="{}")  # JSON: what a resumed run has to know of how it was begun
    message: Mapped[str] = mapped_column(server_default="")  # of the commit
    author: Mapped[str] = mapped_column(server_default="")
    authored: Mapped[datetime | None]
    remote: Mapped[str] = mapped_column(server_default="")
    rank: Mapped[int] = mapped_column(server_default="0")  # in the order of commits, from 1


class Commit(Base):
    """Of runs and merge bases, where the whole history was there to look at."""

    __tablename__ = "commits"
    hash: Mapped[str] = mapped_column(primary_key=True)
    generation: Mapped[int]  # longest way from a first commit: more than that of any commit before it
    parents: Mapped[str]  # JSON: the nearest before it that are in this table


class Trajectory(Base):
    __tablename__ = "trajectories"
    key: Mapped[str] = mapped_column(primary_key=True)  # SHA-256 of the trajectory's bytes before packing
    data: Mapped[bytes]  # as packed by `compression`


class Case(Base):
    __tablename__ = "cases"
    __table_args__ = (
        UniqueConstraint("run_id", "key", name="uq_cases_run_id_key"),
        Index("ix_cases_identity_key", "identity_key"),
        Index("ix_cases_cache_key", "cache_key"),
        Index("ix_cases_trajectory_key", "trajectory_key"),
        Index("ix_cases_run_id_outcome", "run_id", "outcome"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    key: Mapped[str]  # records.case_key
    # identity
    identity_key: Mapped[str]
    scenario: Mapped[str]
    given: Mapped[str] = mapped_column(server_default="{}")  # JSON
    engine: Mapped[str]
    profile: Mapped[str]
    dt: Mapped[float]
    platform: Mapped[str]
    alias: Mapped[str]
    # provenance
    label: Mapped[str]
    engine_label: Mapped[str]
    scene_hash: Mapped[str]
    engine_version: Mapped[str]
    settings: Mapped[str]  # JSON
    parameters: Mapped[str]  # JSON
    processor: Mapped[str] = mapped_column(server_default="")
    cache_key: Mapped[str] = mapped_column(server_default="")
    # what became of it; outcome NULL: planned, not done
    outcome: Mapped[str | None] = mapped_column(OneOf(*get_args(Status)))
    reason: Mapped[str]
    headline: Mapped[str]
    trajectory_hash: Mapped[str]
    trajectory_key: Mapped[str | None] = mapped_column(ForeignKey("trajectories.key"))  # NULL also: was removed since
    wall_time: Mapped[float] = mapped_column(Measured)
    peak_memory: Mapped[float] = mapped_column(Measured)  # bytes; a double holds them exactly up to 2^53
    step_count: Mapped[int]
    stepping_time: Mapped[float] = mapped_column(Measured)
    happened: Mapped[str | None]  # JSON: outcomes; NULL: not known
    taken_from: Mapped[int] = mapped_column(server_default="0")  # run; 0: simulated
    trace: Mapped[str] = mapped_column(server_default="")


class Measurement(Base):
    __tablename__ = "measurements"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]  # in the order of the report
    value: Mapped[float] = mapped_column(Number, nullable=True)  # NULL: NaN
    unit: Mapped[str]
    better: Mapped[str] = mapped_column(OneOf(*get_args(Better)))
    noise: Mapped[str] = mapped_column(OneOf(*get_args(Noise)))
    resolution: Mapped[float | None]


class Ensemble(Base):
    """Perturbed initial states of a case, beside the case itself."""

    __tablename__ = "ensembles"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    starts: Mapped[int]
    seed: Mapped[int]
    completed: Mapped[int]
    horizon: Mapped[float]  # share of the duration
    happened: Mapped[str | None]  # JSON; NULL: not known


class EnsembleSeries(Base):
    __tablename__ = "ensemble_series"
    case_id: Mapped[int] = mapped_column(ForeignKey("ensembles.case_id"), primary_key=True)
    until: Mapped[float] = mapped_column(primary_key=True)  # share of the duration
    metric: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    unit: Mapped[str]
    better: Mapped[str] = mapped_column(OneOf(*get_args(Better)))
    noise: Mapped[str] = mapped_column(OneOf(*get_args(Noise)))
    floor: Mapped[float]
    values: Mapped[str]  # JSON: a number for each start that completed; "nan", "inf" where it is none


class Entry(Base):
    """Of the ledger; append-only."""

    __tablename__ = "ledger"
    id: Mapped[int] = mapped_column(primary_key=True)
    made: Mapped[datetime]
    act: Mapped[str] = mapped_column(OneOf(*get_args(Act)))
    who: Mapped[str]
    reason: Mapped[str]
    scope: Mapped[str]
    branch: Mapped[str]
    until: Mapped[datetime | None]
    owner: Mapped[str]
    link: Mapped[str]
    refers_to: Mapped[int | None] = mapped_column(ForeignKey("ledger.id"))


class EntryCase(Base):
    """A case that an entry of the ledger was said of. Of an acceptance it is a baseline: never changed; a later one
    supersedes it, or its entry is undone."""

    __tablename__ = "ledger_cases"
    __table_args__ = (UniqueConstraint("entry_id", "case_id", name="uq_ledger_cases_entry_id_case_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("ledger.id"))
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), index=True)


class Verdict(Base):
    """Never changed after its run."""

    __tablename__ = "verdicts"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    baseline_id: Mapped[int | None] = mapped_column(ForeignKey("ledger_cases.id"))
    word: Mapped[str] = mapped_column(OneOf(*get_args(Word)))
    worse: Mapped[bool]
    reason: Mapped[str]  # the sentence, of before the grounds were stored
    grounds: Mapped[str] = mapped_column(server_default="")  # JSON
    changes: Mapped[str]  # JSON, the worst first
    defects: Mapped[str]  # JSON
    divergence: Mapped[str]  # JSON; "" where the bits are the same, or one of the motions is not stored


class Group(Base):
    """Verdicts of one cause (review.groups), as found when they were judged; a run of an earlier commit may find a
    better first one later."""

    __tablename__ = "verdict_groups"
    __table_args__ = (UniqueConstraint("key", name="uq_verdict_groups_key"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str]  # review.groups.group_key
    branch: Mapped[str] = mapped_column(index=True)
    engine_label: Mapped[str]
    word: Mapped[str] = mapped_column(OneOf(*get_args(Word)))
    since_run: Mapped[int] = mapped_column(ForeignKey("runs.id"))  # of the first bad commit
    good_run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))  # the latest before, without it


class GroupMember(Base):
    """A case whose verdict is of a group."""

    __tablename__ = "group_members"
    case_id: Mapped[int] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("verdict_groups.id"), index=True)


class Find(Base):
    __tablename__ = "finds"
    __table_args__ = (UniqueConstraint("engine", "oracle", "scene_hash", name="uq_finds_engine_oracle_scene_hash"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    found: Mapped[datetime]
    engine: Mapped[str]
    engine_version: Mapped[str]
    profile: Mapped[str]
    seed: Mapped[str]  # an integer of any size
    dt: Mapped[float]
    oracle: Mapped[str]
    message: Mapped[str]
    scene_hash: Mapped[str] = mapped_column(ForeignKey("scenes.hash"))
    bodies: Mapped[str] = mapped_column(server_default="[]")  # JSON: names
    known: Mapped[str] = mapped_column(server_default="")
    known_by: Mapped[str] = mapped_column(server_default="")
    link: Mapped[str] = mapped_column(server_default="")
    fixed_in: Mapped[str] = mapped_column(server_default="")
    trajectory_key: Mapped[str] = mapped_column(server_default="")  # "": none is stored
    script: Mapped[str] = mapped_column(server_default="")
    issue: Mapped[str] = mapped_column(server_default="")
    lacks: Mapped[str] = mapped_column(server_default="")  # why there is no script, or no issue
    since: Mapped[str] = mapped_column(server_default="")
    not_in: Mapped[str] = mapped_column(server_default="")


class Comparison(Base):
    __tablename__ = "comparisons"
    id: Mapped[int] = mapped_column(primary_key=True)
    made: Mapped[datetime]
    command: Mapped[str]
    machine: Mapped[str]
    old: Mapped[str]  # names of the sides
    new: Mapped[str]
    packages: Mapped[str]  # JSON: name -> [old, new], those that differ beside the engines
    counts: Mapped[str]  # JSON: sign -> how many scenarios
    lines: Mapped[str]  # a JSON object a line


class Passport(Base):
    """What an engine's bits depended on, on one machine."""

    __tablename__ = "passports"
    id: Mapped[int] = mapped_column(primary_key=True)
    made: Mapped[datetime]
    command: Mapped[str]
    machine: Mapped[str]
    engine: Mapped[str]
    engine_version: Mapped[str]
    profile: Mapped[str]
    platform: Mapped[str]
    processor: Mapped[str]
    ways: Mapped[str]  # JSON: a list of rows, `records.passport.rows_from_json`
    declined: Mapped[str]  # JSON: label of a scene -> why there is no motion to compare with


set_required(Base.metadata)
