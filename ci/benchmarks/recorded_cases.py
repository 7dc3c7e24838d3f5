"""Recorded cases in a folder, solved again: one line for what is compared, hit or miss, and what the exit status says.

No file ends the run: what cannot be read, solved or compared is a miss with its reason in one line, and the next file
follows. A figure that is absent, not finite or of another shape is a miss too, and so is a case of which nothing was
compared.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine.array_types import Array

Case = dict[str, Any]


class CaseError(ValueError):
    """A file that says nothing that we can solve, or compare with; one line that names the field."""


@dataclass(frozen=True)
class Compared:
    """One line: a figure by its scale, its limit, and why it is a miss where that is not the difference."""

    what: str
    difference: float
    limit: float
    reason: str = ""

    @property
    def hit(self) -> bool:
        return not self.reason and bool(self.difference <= self.limit)


Comparison = Callable[[], Iterator[Compared | str]]  # what is compared; a str is a note
Comparisons = Callable[[Case], Mapping[str, Comparison]]


def compare(what: str, wanted: Any, have: Any, scale: float | Array, limit: float) -> Compared:
    """A figure of a file against ours, number by number; scale is what a difference, or each, is counted in."""
    nan = float("nan")
    if wanted is None:
        return Compared(what, nan, limit, "null in the file")
    try:
        expected = np.array(wanted, np.float64)
    except (TypeError, ValueError):
        return Compared(what, nan, limit, f"{short(wanted)} in the file is not made of numbers")
    if have is None:
        return Compared(what, nan, limit, "there is none here")
    ours = np.asarray(have, np.float64)
    if expected.shape != ours.shape:
        return Compared(what, nan, limit, f"shape {expected.shape} in the file; here {ours.shape}")
    for where, numbers in (("in the file", expected), ("here", ours)):
        if not np.isfinite(numbers).all():
            return Compared(what, nan, limit, f"not finite {where}")
    return Compared(what, float((np.abs(expected - ours) / scale).max(initial=0.0)), limit)


def numbers(inputs: Case, key: str, shape: tuple[int, ...] | None = None, within: str = "inputs.") -> Array:
    """A field that must be there, finite, and of this shape if one is given. Raises CaseError."""
    if key not in inputs:
        raise CaseError(f"{within}{key}: it is not there; given: {', '.join(inputs) or 'nothing'}")
    value = finite(f"{within}{key}", inputs[key])
    if shape is not None and value.shape != shape:
        raise CaseError(f"{within}{key}: its shape is {value.shape}; allowed: {shape or 'one number'}")
    return value


def finite(where: str, given: Any) -> Array:
    """Raises CaseError for what is not made of finite numbers."""
    try:
        value = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise CaseError(f"{where}: {short(given)} is not made of numbers") from None
    if not np.isfinite(value).all():
        raise CaseError(f"{where}: {short(given)} is not finite")
    return value


def section(data: Case, key: str) -> Case:
    """An object in the file that must be there and not empty. Raises CaseError."""
    found = data.get(key)
    if not isinstance(found, dict) or not found:
        decisions = "is not there" if key not in data else f"{short(found)} is no object with entries"
        raise CaseError(f"{key}: {decisions}")
    return found


def short(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."


def read(file: Path) -> Case:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise CaseError(f"it is not JSON: {error}") from None
    except UnicodeDecodeError as error:
        raise CaseError(f"it is not text in UTF-8: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise CaseError(f"it cannot be read: {error.strerror}") from None
    if not isinstance(data, dict):
        raise CaseError(f"it holds {short(data)} and no object")
    return data


def solve_folder(arguments: list[str], usage: str, comparisons: Comparisons, own: Path) -> int:
    """Makes every comparison of every JSON file of the folder. 0: all hit; 1: a miss; 2: no folder, or none in it."""
    folder = Path(arguments[0]) if arguments else own
    if len(arguments) > 1 or not folder.is_dir():
        print(f"{usage}: {' '.join(arguments)!r} is no folder", file=sys.stderr)
        return 2
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json")
    if not files:
        print(f"{folder}: it holds no JSON file", file=sys.stderr)
        return 2
    hits = misses = 0
    print(f"{'case':44} {'solved by':22} {'figure':26} {'off by':>9} {'limit':>8}")
    for file in files:
        try:
            solved = comparisons(read(file))
        except Exception as error:  # of any kind: the files are anybody's, and the next one follows
            misses += 1
            print(line(file.stem, "", Compared("", float("nan"), float("nan"), reason_of(error))), flush=True)
            continue
        for name, comparison in solved.items():
            good, bad = run_comparison(file.stem, name, comparison)
            hits, misses = hits + good, misses + bad
    print(f"{hits} of {hits + misses} hit in {len(files)} files")
    return 1 if misses else 0


def run_comparison(case: str, name: str, comparison: Comparison) -> tuple[int, int]:
    """(hits, misses) of one comparison, printed as they come."""
    started = time.perf_counter()
    count = [0, 0]
    try:
        for found in comparison():
            if isinstance(found, str):
                print(f"    {found}")
                continue
            count[not found.hit] += 1
            print(line(case, name, found), flush=True)
        if not sum(count):
            raise CaseError("nothing to compare with")
    except Exception as error:  # of any kind, as above
        count[1] += 1
        print(line(case, name, Compared("", float("nan"), float("nan"), reason_of(error))), flush=True)
    if (took := time.perf_counter() - started) > 0.1:
        print(f"    {took:.1f} s")
    return count[0], count[1]


def line(case: str, name: str, found: Compared) -> str:
    off, limit = (f"{x:.1e}" if x == x else "" for x in (found.difference, found.limit))
    return f"{case:44} {name:22} {found.what:26} {off:>9} {limit:>8}  " + (
        "hit" if found.hit else f"MISS  {found.reason}".rstrip()
    )


def reason_of(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError | RuntimeError) and text else f"{type(error).__name__}: {text}"
