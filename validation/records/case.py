"""A case: one scenario on one engine. Its identity is what baselines hang on; the rest is provenance."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from validation.records.measurement import Measurement
from validation.records.simulation import Simulation

Value = str | int | float | bool

KEY_VERSION = 2  # 1: of all parameters, those at their defaults too
PACKAGES = ("numpy", "numba", "scipy", "pymunk", "Box2D", "pybullet", "mujoco", "upright")


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
        return f"{KEY_VERSION}-{hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    identity: Identity
    label: str  # the scenario as typed: stack:n=20
    engine_label: str  # the engine as typed, without its profile: pymunk:iterations=5
    scene_hash: str
    engine_version: str
    settings: Mapping[str, Value]  # complete, as resolved
    parameters: str = "{}"  # complete, as canonical JSON; of a scene file: its content hash
    processor: str = ""  # what an engine's bits depend on beside its code: `running.processes.processor`; "": not known


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    case: Case
    simulation: Simulation
    measurements: tuple[Measurement, ...] = ()
    headline: str = ""  # the metric that stands for this scenario in a single cell


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
    default_branch: str = ""  # whose acceptances count where the branch has none; "": main or master, if any


@cache
def platform_class() -> str:
    return f"{platform.system().lower()}-{platform.machine().lower()}"


def describe_run(
    command: str,
    *,
    timing: bool = False,
    folder: Path | None = None,
    branch: str = "",
    labels: Mapping[str, str] | None = None,
) -> RunInfo:
    """The commit checked out in `folder` (the current one), this machine and the packages that decide results.

    `branch` is what a CI server knows and a checkout of a bare commit does not.
    """

    def git(*arguments: str) -> str:
        try:
            done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return RunInfo(
        started=datetime.now(UTC),
        commit=git("rev-parse", "HEAD"),
        branch=branch or git("rev-parse", "--abbrev-ref", "HEAD"),
        dirty=bool(git("status", "--porcelain", "--untracked-files=no")),
        machine=f"{platform.node()} ({platform.processor() or platform.machine()})",
        platform=platform_class(),
        python=platform.python_version(),
        packages=versions,
        command=command,
        timing=timing,
        labels=labels or {},
    )
