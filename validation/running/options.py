"""What a command asks a run for, how that is shown on the way, and how it can end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from scenarios.native import ProbeKind
from validation.store.errors import LostFileError, StoreError

if TYPE_CHECKING:  # every command reads words, few run anything
    from validation.records.stored import Baseline, StoredRun
    from validation.review.lineage import Lineage
    from validation.running.processes.executor import Executor
    from validation.running.runner import Limits
    from validation.store import Store

DEFAULT_DB = "upright.db"
LOCAL = "local"  # executor: processes of this machine


class RunError(RuntimeError):
    """Nothing could be run, or there is nothing to resume; one line."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C while cases ran: what was done is stored."""

    def __init__(self, run: StoredRun) -> None:
        super().__init__()
        self.run = run


class UnstoredError(RunError):
    """The database failed, or what runs cases, while they ran; what was done before is stored."""

    def __init__(self, error: StoreError | RunError, run: int, stored: int, planned: int) -> None:
        super().__init__(f"{error}. {stored} of {planned} cases are stored as run {run}")
        self.saved = error.saved if isinstance(error, LostFileError) else None  # another database that has them


class Bar(Protocol):
    def advance(self, what: str = "") -> None: ...


class Progress:
    """Silent; `validation/cli/progress.py` has one that shows."""

    def bar(self, title: str, total: int) -> AbstractContextManager[Bar]:
        """So many things, each advanced with its name."""
        return nullcontext(_Silent())

    def step(self, title: str) -> AbstractContextManager[None]:
        """One thing that takes a while."""
        return nullcontext()

    def activity(self, title: str) -> AbstractContextManager[Callable[[str], None]]:
        """Work without a known end, and what is being done."""
        return nullcontext(lambda words: None)


class _Silent:
    def advance(self, what: str = "") -> None:
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How models of a user's own are run."""

    starts: tuple[str, ...] = ()  # each a keyframe, a file of states, or a folder of such files
    probes: tuple[ProbeKind, ...] = ()  # run in place of the model as it is
    duration: float | None = None  # s
    root: str = ""  # the folder below which their files are
    together: bool = False  # whether the files of a folder are one ensemble, where they are enough for one

    @property
    def given(self) -> list[str]:
        """Which are given, as they are typed."""
        named = (("--from", self.starts), ("--duration", self.duration), ("--root", self.root))
        return [name for name, value in named if value]


AS_IT_IS = ModelOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    scenarios: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    profile: str | None = None
    dt: float | None = None
    model: ModelOptions = AS_IT_IS
    alias: str = ""
    ensemble: int = 0  # perturbed initial states of each chaotic case
    ensemble_as_accepted: bool = False  # as many as the accepted result has, of the cases that move otherwise now
    order: bool = False  # also with smaller time steps; likewise
    fresh: bool = False  # all is simulated, also what the store has
    limits: Limits
    quiet: bool = False  # nothing on standard output but JSON
    progress: Progress = field(default_factory=Progress)  # silent
    database: str = DEFAULT_DB  # as given
    executor: str = LOCAL  # or the address of a Dask scheduler
    branch: str = ""  # that the run is of, where git does not know it
    default_branch: str = ""  # of the repository, where the CI server names it
    lineage: Lineage | None = None  # of a change that is compared with what was accepted at its merge base
    labels: Mapping[str, str] = field(default_factory=dict)  # of the run


@dataclass(frozen=True)
class OpenRun:
    """A run that goes on: where its results are stored, what simulates its cases, and how it was asked for."""

    store: Store
    pool: Executor
    number: int
    options: Options
    stored: set[str] = field(default_factory=set)  # keys of the cases that this session has stored

    @cached_property
    def baselines(self) -> dict[str, Baseline]:
        """By identity, what was accepted when its cases were done: evidence and verdicts are of the same ones."""
        return self.store.baselines_of(self.number)
