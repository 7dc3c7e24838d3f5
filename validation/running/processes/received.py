"""What comes from a process in which others' code runs is checked before anybody relies on it."""

from collections.abc import Mapping
from typing import Any, get_args

from validation.engines.answers import MOST_BYTES
from validation.records.simulation import Status
from validation.records.text import LONGEST, one_line
from validation.running.processes.frames import GarbledError

MOST_ANSWER = MOST_BYTES + 64 * 2**20  # with the times of its steps
OUTCOMES = (*get_args(Status), "ended")  # the latter of one that runs on request
NUMBER = (int, float)
REPLY: Mapping[str, Any] = {
    "id": int,
    "outcome": str,
    "reason": str,
    "trace": str,
    "limit": str,
    "wall_time": NUMBER,
    "peak_memory": NUMBER,
    "cpu_share": NUMBER,
    "trajectory_bytes": int,
    "plans": list,
    "more": bool,
}
HELLO: Mapping[str, Any] = {
    "error": str,
    "outcome": str,
    "name": str,
    "version": str,
    "profiles": list,
    "settings": list,
    "processor": str,
    "abilities": list,
    "choices": dict,
    "table": dict,
    "steps": bool,
    "relations": list,
    "round_off": NUMBER,
    "queries": dict,
}
PLAN: Mapping[str, Any] = {
    "settings": dict,
    "declined": (str, type(None)),
    "error": str,
    "unavailable": str,
    "outcome": str,
}


def reply_of(header: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
    """A reply, with its reason on one line. Raises GarbledError."""
    _check(header, REPLY)
    if not 0 <= header.get("trajectory_bytes", 0) <= len(body):
        raise GarbledError(f"trajectory_bytes is {header['trajectory_bytes']}; it has {len(body)}")
    for one in header.get("plans", ()):
        if not isinstance(one, dict):
            raise GarbledError(f"a plan is {one!r:.60}")
        _check(one, PLAN)
    return header


def hello_of(header: dict[str, Any]) -> dict[str, Any]:
    """What a server of an engine says of it first. Raises GarbledError."""
    _check(header, HELLO)
    if header and "error" not in header and not (HELLO.keys() - {"error", "outcome"} <= header.keys()):
        raise GarbledError("it is no hello")
    return header


def _check(header: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for name, value in header.items():
        kind = fields.get(name)
        if kind is None:
            continue
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise GarbledError(f"its {name} is {value!r:.60}")
    if header.get("outcome", "crashed") not in OUTCOMES:
        raise GarbledError(f"its outcome is {header['outcome']!r:.60}")
    for name in ("reason", "declined", "unavailable", "error"):
        if text := header.get(name):
            header[name] = text if text.isascii() and text.isprintable() and len(text) < LONGEST else _line(text)


def _line(text: str) -> str:
    return one_line(text, LONGEST)
