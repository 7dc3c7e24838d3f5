"""A case: one scenario on one engine. Its identity is what baselines hang on; the rest is provenance."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache, lru_cache

from validation.records.measurement import Measurement
from validation.records.outcome import Outcome
from validation.records.simulation import Simulation, Status
from validation.records.trajectory import Trajectory

Value = str | int | float | bool

KEY_VERSION = 2  # 1: of all parameters, those at their defaults too


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What makes two cases comparable over time."""

    scenario: str  # family name, or the path-free name of a scene file
    given: str  # the parameters that differ from their defaults, as canonical JSON; of a scene file: its content hash
    engine: str
    profile: str
    dt: float
    platform: str  # class of machine: system and architecture
    alias: str = ""  # --as NAME makes a case of its own

    @property
    def key(self) -> str:
        """The version and 64 hex digits, the same in every process; a new parameter with a default changes none.

        A change of what is in it needs a new version and a migration, which works out the keys of stored cases anew.
        """
        return _key_of(self)


@lru_cache(maxsize=10_000)  # it is asked for a dozen times a case
def _key_of(identity: Identity) -> str:
    return f"{KEY_VERSION}-{hashlib.sha256(json.dumps(asdict(identity), sort_keys=True).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    identity: Identity
    label: str  # the scenario as typed: stack:n=20
    engine_label: str  # the engine as typed, without its profile: pymunk:iterations=5
    scene_hash: str
    engine_version: str
    settings: Mapping[str, Value]  # complete, as resolved
    parameters: str = "{}"  # complete, as canonical JSON; of a scene file: its content hash
    processor: str = ""
    """What an engine's bits depend on beside its code (`running.processes.processor`); "": nothing, or not known."""
    cache_key: str = ""
    """Digest of all that decides its result (`running.result_cache.key_of`); "": not known, or given up."""
    key: str = field(init=False, repr=False, compare=False)
    """What it is called within a run: its identity, and its settings and engine version.

    The same identity may run twice in one run, with an override and without: both are stored.
    """

    def __post_init__(self) -> None:
        settings = tuple((name, one.__class__, one) for name, one in self.settings.items())  # 1, 1.0 and True differ
        object.__setattr__(self, "key", f"{self.identity.key}-{_provenance(self.engine_version, settings)}")


@lru_cache(maxsize=10_000)  # likewise
def _provenance(engine_version: str, settings: tuple[tuple[str, type, Value], ...]) -> str:
    text = json.dumps([engine_version, {name: value for name, _, value in settings}], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A case and what became of it, from a run or from the store."""

    case: Case
    outcome: Status
    reason: str = ""
    trace: str = ""  # where an engine broke: its traceback, or the last that it printed
    measurements: tuple[Measurement, ...] = ()
    outcomes: tuple[Outcome, ...] | None = None  # what happened; None: not known, for instance without a motion
    headline: str = ""  # the metric that stands for the scenario in a single cell
    trajectory_hash: str = ""  # over the engine's own state: equal means the same motion, bit for bit; "" without one
    trajectory_key: str = ""
    """Of the stored samples, contacts included: what `Store.trajectory` takes; "" without one. Of a case that broke
    they end early, are there to be shown, and have no hash: nothing is compared by them."""
    wall_time: float = 0.0  # s, of the whole process
    peak_memory: int = 0  # bytes, resident
    step_count: int = 0
    stepping_time: float = 0.0  # s of CPU time, the sum over the engine's own steps: who waits for a core does not step
    taken_from: int = 0  # run whose result this is; 0: simulated for this case
    run: int = 0  # 0: not stored
    number: int = 0  # of the case in the database; 0: not stored
    trajectory: Trajectory | None = field(default=None, repr=False, compare=False)
    """Of a run that goes on; what comes from the store is fetched by its key."""
    encoded: bytes = field(default=b"", repr=False, compare=False)  # as `Simulation` has it

    @property
    def key(self) -> str:
        return self.case.key

    @classmethod
    def of(
        cls,
        *,
        case: Case,
        simulation: Simulation,
        measurements: tuple[Measurement, ...] = (),
        outcomes: tuple[Outcome, ...] | None = None,
        headline: str = "",
    ) -> Result:
        times, trajectory = simulation.step_times, simulation.trajectory
        return cls(
            case=case,
            outcome=simulation.outcome,
            reason=simulation.reason,
            trace=simulation.trace,
            measurements=measurements,
            outcomes=outcomes,
            headline=headline,
            trajectory_hash="" if trajectory is None else trajectory.state_hash,
            wall_time=simulation.wall_time,
            peak_memory=simulation.peak_memory,
            step_count=0 if times is None else len(times),
            stepping_time=0.0 if times is None else float(times.sum()) * simulation.cpu_share,
            trajectory=trajectory,
            encoded=simulation.encoded,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Where and of what a run was made."""

    started: datetime
    commit: str  # of the project in the current folder; "" outside a repository
    branch: str
    dirty: bool
    machine: str
    platform: str
    python: str
    packages: Mapping[str, str]
    command: str = ""
    timing: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    message: str = ""  # of the commit, as its author wrote it; "": not known
    author: str = ""
    authored: datetime | None = None
    remote: str = ""  # http(s) address of the repository; "": it has none on the web
    default_branch: str = ""  # whose acceptances count where the branch has none; "": main or master, if any


@cache
def platform_class() -> str:
    return f"{platform.system().lower()}-{platform.machine().lower()}"
