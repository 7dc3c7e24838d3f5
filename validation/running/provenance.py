"""Where and of what a run is made: the commit checked out, the machine, the packages that decide results."""

import importlib.metadata
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from validation.records.case import RunInfo, platform_class
from validation.review.lineage import current_branch, git

LONGEST_MESSAGE, LONGEST_NAME = 4000, 200  # characters
PACKAGES = ("numpy", "numba", "scipy", "pymunk", "Box2D", "pybullet", "mujoco", "upright")


def machine() -> str:
    return f"{platform.node()} ({platform.processor() or platform.machine()})"


def describe_commit() -> tuple[str, str, datetime | None]:
    """Message, author and date of what is checked out; empty outside a repository."""
    author, _, rest = git(None, "show", "--no-patch", "--format=%an%n%aI%n%B", "HEAD").partition("\n")
    day, _, message = rest.partition("\n")
    with suppress(ValueError):
        return message.strip()[:LONGEST_MESSAGE], author[:LONGEST_NAME], datetime.fromisoformat(day).astimezone(UTC)
    return "", "", None


def web_address(remote: str) -> str:
    """Where a browser finds a repository that git reaches so, without the name and password in it; "" for what is not
    on the web. git@example.org:a/b.git -> https://example.org/a/b
    """
    short = re.fullmatch(r"(?:[\w.-]+@)([\w.-]+):(?!//)/?(.+)", remote)
    if short:
        host, path, scheme = short[1], short[2], "https"
    else:
        parts = urlsplit(remote)
        if parts.scheme not in ("http", "https", "ssh", "git") or not parts.hostname:
            return ""
        scheme = parts.scheme if parts.scheme == "http" else "https"
        own_port = parts.scheme in ("http", "https") and parts.port
        host, path = f"{parts.hostname}{f':{parts.port}' if own_port else ''}", parts.path
    path = path.strip("/").removesuffix(".git")
    return f"{scheme}://{host}/{path}" if path else ""


def describe_run(
    command: str, *, timing: bool = False, branch: str = "", labels: Mapping[str, str] | None = None
) -> RunInfo:
    """In the current folder. `branch` is what a CI server knows and a checkout of a bare commit does not."""
    versions = {}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    message, author, authored = describe_commit()
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
        message=message,
        author=author,
        authored=authored,
        remote=web_address(git(None, "remote", "get-url", "origin")),
    )
