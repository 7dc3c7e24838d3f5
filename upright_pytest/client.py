"""The client's side: one process of ours for a session, asked in JSON. Nothing of ours is imported here."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HOME = Path(__file__).resolve().parent.parent
SERVER = [sys.executable, "-P", "-m", "validation.cli.pytest_session"]
DATABASE = "upright.db"


class ClientError(RuntimeError):
    """A word that names nothing, or an engine that does not start; one line."""


class Wanted(NamedTuple):
    scenario: str
    engine: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """What became of one scenario on one engine. Metrics are in SI units; None where a value is not finite."""

    scenario: str  # as it was asked for
    engine: str
    outcome: str  # completed, declined, crashed, timed_out, out_of_memory, not_finite
    verdict: str  # pass, improved, different, regressed, defect, broken, missing, new, declined
    reason: str  # the verdict's sentence
    told: str  # scenario, engine, verdict and sentence in one line
    fails: bool
    accepted: bool  # by --upright-accept, just now
    metrics: Mapping[str, float | None]
    files: Sequence[str]  # the motion of a case that fails, to look at
    again: str  # the command that repeats it

    def check(self) -> None:
        """Fails the test if the case got worse than what is accepted, or breaks a law that nobody has accepted."""
        __tracebackhide__ = True
        if self.fails:
            look = [f"  motion: {file}" for file in self.files]
            right = f"  or say why it is right: pytest -k '{self.scenario}' --upright-accept \"...\""
            pytest.fail("\n".join([self.told, *look, f"  again: {self.again}", right]), pytrace=False)


@dataclass(kw_only=True)
class Client:
    """The cases of a session: run at once, then looked up."""

    root: Path
    database: str
    profile: str | None
    reports: Path
    accept: str | None
    error: str = ""
    summary: str = ""
    number: int = 0
    _cases: dict[Wanted, Case] = field(default_factory=dict)
    _canonical: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database = self.database or DATABASE

    def canonical(self) -> list[str]:
        """Labels of the canonical suite. Raises ClientError."""
        if not self._canonical:
            self._canonical = self._ask({"list": True})["scenarios"]
        return self._canonical

    def run(self, wanted: Sequence[Wanted], answer: Path) -> None:
        """All of them, unless another worker has: `answer` is what they share. An error is kept in `error`."""
        request = {
            "scenarios": list(dict.fromkeys(one.scenario for one in wanted)),
            "engines": list(dict.fromkeys(one.engine for one in wanted)),
            "profile": self.profile,
            "database": self.database,
            "reports": str(self.reports),
            "accept": self.accept,
        }
        with answer.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if answer.exists():
                found = json.loads(answer.read_text(encoding="utf-8"))
            else:
                try:
                    found = self._ask(request)
                except ClientError as error:
                    found = {"error": str(error)}
                answer.write_text(json.dumps(found), encoding="utf-8")
        self.error = found.get("error", "")
        if not self.error:
            self.summary, self.number = found["summary"], found["run"]
            self._cases = {Wanted(row["scenario"], row["engine"]): Case(**row) for row in found["cases"]}

    def case(self, wanted: Wanted) -> Case:
        return self._cases[wanted]

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        done = subprocess.run(
            SERVER, cwd=self.root, env=environment(), input=json.dumps(request), stdout=subprocess.PIPE, text=True
        )
        try:
            found: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise ClientError(f"the process that runs the scenarios ended with status {done.returncode}") from None
        if "error" in found:
            raise ClientError(found["error"])
        return found


def environment() -> dict[str, str]:
    """In which `validation` is ours: the user's folders come last on the path, whatever PYTHONPATH says."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYTHONHOME"))}
    if HOME.name not in ("site-packages", "dist-packages"):  # run from its sources
        given["PYTHONPATH"] = str(HOME)
    installed = [Path(prefix, "lib").resolve() for prefix in (sys.base_prefix, sys.prefix)]
    entries = [Path(entry).resolve() for entry in sys.path]
    theirs = [str(entry) for entry in entries if entry != HOME and not any(lib in entry.parents for lib in installed)]
    before = os.environ.get("UPRIGHT_ENGINE_PATH")
    return given | {"UPRIGHT_ENGINE_PATH": os.pathsep.join([*theirs, *([before] if before else [])])}


def at_root(word: str, config: pytest.Config) -> str:
    """A path that was typed in another folder than the root, as it is from the root."""
    path, mark, rest = _path_and_rest(word)
    if not path or config.invocation_params.dir == config.rootpath:
        return word
    moved = os.path.relpath(Path(config.invocation_params.dir, path), config.rootpath)
    return os.path.join(os.curdir, moved) + mark + rest  # noqa: PTH118  "./" is what makes it a path


def _path_and_rest(word: str) -> tuple[str, str, str]:
    """The path in a word, what ends it, and the rest; no path where the word is a name."""
    end = min((i for i in map(word.find, "=@:") if i >= 0), default=len(word))
    path = word[:end]
    return (path, word[end : end + 1], word[end + 1 :]) if "/" in path or path.endswith(".json") else ("", "", "")
