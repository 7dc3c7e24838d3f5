"""Annotations of a commit as GitHub's runners read them from standard output: the worst, ten at most.

Workflow commands: docs.github.com, "Workflow commands for GitHub Actions". A page shows ten of a kind and step.
"""

from __future__ import annotations

from collections.abc import Sequence

from validation.judging.verdict import Verdict, fails, worst_first
from validation.records.case import Result
from validation.records.names import engine_name
from validation.report.sentences import reason_of

MOST = 10
LONGEST = 400  # characters of a reason
KINDS = {"missing": "warning", "broken": "warning", "improved": "notice"}
"""Of verdicts that fail nothing and are told."""


def commit_annotations(pairs: Sequence[tuple[Result, Verdict]], *, strict: bool = False) -> list[str]:
    """A line each; where there are more than ten the tenth says how many."""
    described = []
    for _, verdict in worst_first(pairs):
        kind = "error" if fails(verdict, strict=strict) else KINDS.get(verdict.word)
        if kind is not None:
            what = f"{verdict.case.label} on {engine_name(verdict.case)}"
            described.append(_line(kind, f"Upright: {what}", f"{verdict.word}: {reason_of(verdict)}"))
    if len(described) <= MOST:
        return described
    rest = len(described) - MOST + 1
    return [*described[: MOST - 1], _line("notice", "Upright", f"{rest} more stand in the job's summary")]


def _line(kind: str, title: str, text: str) -> str:
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return f"::{kind} title={_escaped(title, ':,')}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """Nothing in it ends the line or the property."""
    text = "".join(character if character.isprintable() else " " for character in text)
    for character in f"%{more}":  # % first
        text = text.replace(character, f"%{ord(character):02X}")
    return text
