"""Where and of what a run is made: the commit checked out, the machine, the packages that decide results."""

import importlib.metadata
import platform
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from validation.records.case import RunInfo, platform_class
from validation.review.lineage import current_branch, git

PACKAGES = ("numpy", "numba", "scipy", "pymunk", "Box2D", "pybullet", "mujoco", "upright")


def machine() -> str:
    return f"{platform.node()} ({platform.processor() or platform.machine()})"


def describe_run(
    command: str, *, timing: bool = False, branch: str = "", labels: Mapping[str, str] | None = None
) -> RunInfo:
    """In the current folder. `branch` is what a CI server knows and a checkout of a bare commit does not."""
    versions = {}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return RunInfo(
        started=datetime.now(UTC),
        commit=git(None, "rev-parse", "HEAD"),
        branch=branch or current_branch(),
        dirty=bool(git(None, "status", "--porcelain", "--untracked-files=no")),
        machine=machine(),
        platform=platform_class(),
        python=platform.python_version(),
        packages=versions,
        command=command,
        timing=timing,
        labels=labels or {},
    )
