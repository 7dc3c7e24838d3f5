"""What `run`, `check` and those that run as they do were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from validation.running.progress import Progress

if TYPE_CHECKING:  # every command reads words, few run anything
    from validation.review.lineage import Lineage
    from validation.running.runner import Limits

DEFAULT_DB = "upright.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    scenarios: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    profile: str | None = None
    dt: float | None = None
    alias: str = ""
    ensemble: int = 0  # perturbed starts of each chaotic case
    ensemble_as_accepted: bool = False  # as many as the accepted result has, of the cases that move otherwise now
    order: bool = False  # also with smaller time steps; likewise
    limits: Limits
    quiet: bool = False  # nothing on standard output but JSON
    progress: Progress = field(default_factory=Progress)  # silent
    database: str = DEFAULT_DB  # as given
    branch: str = ""  # that the run is of, where git does not know it
    default_branch: str = ""  # of the repository, where the CI server names it
    lineage: Lineage | None = None  # of a change that is compared with what was accepted at its merge base
    labels: Mapping[str, str] = field(default_factory=dict)  # of the run
