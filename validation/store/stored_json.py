"""JSON of columns, read back. What is not as it was written raises one of `errors.UNREADABLE`."""

import json
from functools import lru_cache
from typing import Any

from validation.judging.outcomes import Counts, What


def object_of(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{text[:60]!r} is no JSON object")
    return found


@lru_cache(maxsize=8192)
def checked_object(text: str) -> str:
    """The text itself, of an object: the same ones are in run after run."""
    object_of(text)
    return text


def texts_of(text: str) -> dict[str, str]:
    """By name."""
    found = object_of(text)
    if not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"{text[:60]!r} is no JSON object of texts")
    return found


def names_of(text: str) -> list[str]:
    found = json.loads(text)
    if not (isinstance(found, list) and all(isinstance(name, str) for name in found)):
        raise ValueError(f"{text[:60]!r} is no JSON list of texts")
    return found


def counts_of(text: str) -> dict[str, int]:
    """By name."""
    return {name: int(count) for name, count in object_of(text).items()}


def pairs_of(text: str) -> dict[str, tuple[str, str]]:
    """By name."""
    return {name: (str(old), str(new)) for name, (old, new) in object_of(text).items()}


def lines_of(text: str) -> list[str]:
    """One JSON object each."""
    for line in text.splitlines():
        object_of(line)
    return text.splitlines()


def numbers_of(text: str) -> tuple[float, ...]:
    """JSON has a text where one is not finite."""
    return tuple(float(value) for value in json.loads(text))


def happened_of(text: str | None) -> tuple[Counts, ...] | None:
    """None: not known."""
    if text is None:
        return None
    return tuple(Counts(what=What(*what), counts=tuple(counts)) for *what, counts in json.loads(text))
