"""The pytest plug-in's cases: run at once in a process of ours, then looked up."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import pytest

from upright.asking import DATABASE, UprightError, ask
from upright.results import Case


class Wanted(NamedTuple):
    scenario: str
    engine: str


class TestedCase(Case):
    """One that a test asks for."""

    __test__ = False  # it is no test itself

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
    _cases: dict[Wanted, TestedCase] = field(default_factory=dict)
    _canonical: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database = self.database or DATABASE

    def canonical(self) -> list[str]:
        """Labels of the canonical suite. Raises UprightError."""
        if not self._canonical:
            self._canonical = ask({"do": "scenarios"}, folder=self.root)["scenarios"]
        return self._canonical

    def run(self, wanted: Sequence[Wanted], answer: Path) -> None:
        """All of them, unless another worker has: `answer` is what they share. An error is kept in `error`."""
        request = {
            "do": "test",
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
                    found = ask(request, folder=self.root)
                except UprightError as error:
                    found = {"error": str(error)}
                answer.write_text(json.dumps(found), encoding="utf-8")
        self.error = found.get("error", "")
        if not self.error:
            self.summary, self.number = found["summary"], found["run"]
            cases = [TestedCase(**row) for row in found["cases"]]
            self._cases = {
                Wanted(scenario, engine): replace(cases[i], scenario=scenario, engine=engine)
                for scenario, engine, i in found["cells"]
            }

    def case(self, wanted: Wanted) -> TestedCase:
        return self._cases[wanted]


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
