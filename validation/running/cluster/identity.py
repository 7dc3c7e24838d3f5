"""What has to be the same here and in every worker, or a case could get other bits there than here."""

import hashlib
import importlib.metadata
import sys
from collections.abc import Mapping
from typing import Any

from validation.engines import EngineChoice, code_files, engine_of, installed_version
from validation.records.case import platform_class
from validation.running.environments import environment_of, is_here
from validation.running.result_cache import MEASURED_BY, code_of, our_code
from validation.version import __version__

SHOWN = 8  # characters of a digest

Identity = Mapping[str, str]
"""Name of what it is, for a message -> its version or digest."""


def our_identity() -> dict[str, str]:
    """Of what simulates and measures, without an engine."""
    found = {"Upright": __version__, "platform": platform_class(), "Python": " ".join(sys.version.split())}
    found |= {name: importlib.metadata.version(name) for name in MEASURED_BY}
    return found | {"digest of Upright's sources": our_code()[:SHOWN]}


def engine_identity(choice: EngineChoice) -> dict[str, str]:
    """Of an engine in the version asked for; one that is not installed gets an environment. Raises BuildError."""
    if not is_here(choice):
        packages = environment_of(choice).packages
        return {f"{choice.word} with {name}": version for name, version in sorted(packages.items())}
    code = code_of(choice, None)
    digest = hashlib.sha256(code.digest.encode()).hexdigest() if code.released else code_digest(choice)
    return {choice.word: f"{installed_version(choice) or 'code'} ({digest[:SHOWN]})"}


def is_released(word: str) -> bool:
    """Whether its code is sure to be the same as long as its identity is. Raises EngineNameError."""
    choice = engine_of(word)
    return not is_here(choice) or code_of(choice, None).released


def code_digest(choice: EngineChoice) -> str:
    digest = hashlib.sha256()
    for file in code_files(choice):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def compared(hello: Mapping[str, Any]) -> dict[str, str]:
    """Of what an engine's server says, what has to be the same on all workers."""
    return {name: str(hello.get(name, "")) for name in ("version", "processor")}


def differing(here: Identity, there: Identity, where: str = "here") -> str:
    """The first thing that is other there; "" where nothing is."""
    for name in dict.fromkeys((*here, *there)):
        if here.get(name) != there.get(name):
            return f"{name}: {there.get(name, 'none')} there, {here.get(name, 'none')} {where}"
    return ""
