"""What comes out of the store: light, frozen, free of SQL. Trajectories are fetched apart, by their key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from scenarios.scene import Scene
from validation.records.case import Case, CaseResult, RunInfo
from validation.records.measurement import Measurement
from validation.records.simulation import Outcome


def case_key(case: Case) -> str:
    """What a case is called within a run: its identity, and its settings and engine version.

    The same identity may run twice in one run, with an override and without: both are kept.
    """
    provenance = json.dumps([case.engine_version, dict(case.settings)], sort_keys=True)
    return f"{case.identity.key}-{hashlib.sha256(provenance.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """A case and what became of it, without its trajectory."""

    case: Case
    outcome: Outcome
    reason: str = ""
    measurements: tuple[Measurement, ...] = ()
    headline: str = ""  # the metric that stands for the scenario in a single cell
    trajectory_hash: str = ""  # over the engine's own state: equal means the same motion, bit for bit; "" without one
    trajectory_key: str = ""  # of the stored samples, contacts included: what `Store.trajectory` takes; "" without one
    wall_time: float = 0.0  # s, of the whole process
    peak_memory: int = 0  # bytes, resident
    step_count: int = 0
    stepping_time: float = 0.0  # s, the sum over the engine's own steps
    run: int = 0  # 0: not stored
    number: int = 0  # of the case in the database; 0: not stored

    @property
    def key(self) -> str:
        return case_key(self.case)

    @classmethod
    def of(cls, result: CaseResult | StoredResult) -> StoredResult:
        """The same result, flat; what is stored already stays as it is."""
        if isinstance(result, StoredResult):
            return result
        simulation = result.simulation
        times = simulation.step_times
        return cls(
            case=result.case,
            outcome=simulation.outcome,
            reason=simulation.reason,
            measurements=result.measurements,
            headline=result.headline,
            trajectory_hash="" if simulation.trajectory is None else simulation.trajectory.state_hash,
            wall_time=simulation.wall_time,
            peak_memory=simulation.peak_memory,
            step_count=0 if times is None else len(times),
            stepping_time=0.0 if times is None else float(times.sum()),
        )


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
    result: StoredResult
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
    branch: str
    machine: str
    engine_label: str
    engine_version: str
    outcome: Outcome
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
    message: str  # with figures
    scene: Scene


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
