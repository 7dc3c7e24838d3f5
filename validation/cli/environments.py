"""Engine words that ask for another version: their environments, made where they are not, with what is being done."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from contextlib import suppress

from validation.cli.progress import activity
from validation.engines import EngineChoice
from validation.running.environments import Environment, environment_of, is_here


def environments_of(choices: Iterable[EngineChoice]) -> dict[str, Environment]:
    """By word, of those that this Python has not. Raises BuildError."""
    found: dict[str, Environment] = {}
    for choice in choices:
        if choice.word not in found and not is_here(choice):
            with activity(f"environment of {choice.word}") as tell:
                found[choice.word] = environment_of(choice, tell)
    return found


def commands_of(environments: Mapping[str, Environment]) -> dict[str, list[str]]:
    """What a pool starts for each word."""
    return {word: environment.command for word, environment in environments.items()}


def packages_apart(
    sides: tuple[Environment | None, Environment | None], engines: set[str]
) -> dict[str, tuple[str, str]]:
    """Packages that both sides have in different versions, the engines' own left out; a side without an environment is
    this Python.
    """
    names = dict.fromkeys(name for side in sides if side for name in side.packages)
    apart = {}
    for name in names:
        old, new = (_version(side, name) for side in sides)
        if old and new and old != new and name.casefold() not in engines:
            apart[name] = (old, new)
    return apart


def _version(side: Environment | None, name: str) -> str | None:
    if side is not None and name in side.packages:
        return side.packages[name]
    with suppress(importlib.metadata.PackageNotFoundError):  # lent
        return importlib.metadata.version(name)
    return None
