"""What a recorded mechanism is given by: names, words, numbers and units, as people write them."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from recorded_cases import Case, CaseError, finite, short

from reference_engine.array_types import Array
from reference_engine.multibody.mechanism import Mechanism, MechanismMotion

Read = Callable[[MechanismMotion, str], Array]
STATE = 1e-9
WAYS = ("accelerations", "impulses")
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
REMARKS = {"order", "start", "rods", "note", "source", "units", "t_end", "t", "name", "conventions", "start_words"}


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A mechanism of a file; `read` gives a column (S,) by its name."""

    mechanism: Mechanism
    read: Read
    columns: tuple[str, ...]  # of rows that say no names
    vectors: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of tables by other names than y
    turning: bool = False  # whether its angles are counted over whole turns
    limit: float = STATE
    ways: tuple[str, ...] = WAYS
    swing: str = ""  # the column of an angle from the lowest point, which a period is measured by
    height: str = ""  # the column of a rate that changes its sign twice in a period
    falls: str = ""  # the column that is 0 where the fall ends
    moment: float = 1.0  # s, short in the motion
    either_sense: bool = False  # a start that does not say which way the angle counts
    notes: tuple[str, ...] = ()


class Inputs:
    """The inputs of a file, and which of them were asked for."""

    def __init__(self, data: Case) -> None:
        given = data.get("inputs")
        if given is not None and not isinstance(given, dict):
            raise CaseError(f"inputs: {short(given)} is no object with entries")
        self.name = re.sub(r"[\W_]+", " ", str(data.get("name", ""))).lower()
        self.given: Case = {**(given or {})}
        if "rods" in data:
            self.given.setdefault("rods", data["rods"])
        self.asked: set[str] = set()
        self.start = str(self.given.get("start", "")) if not isinstance(self.given.get("start"), list) else ""
        self.order = str(self.given.get("order", data.get("order", "")))

    def any(self, *names: str) -> str | None:
        """The first of these names that is there."""
        found = next((name for name in names if self.given.get(name) is not None), None)
        if found:
            self.asked.add(found)
        return found

    def numbers(self, *names: str) -> Array | None:
        """What is given by one of the names, or by all of name1, name2, ...: (n,), or None."""
        if name := self.any(*names):
            return row_of(name, self.given[name])
        for name in names:
            if (each := self.numbered(name)) is not None:
                return each
        return None

    def numbered(self, name: str, suffix: str = "") -> Array | None:
        """name1, name2, ... with the suffix: (n,), or None."""
        for form in ("{}{}{}", "{}_{}{}"):
            each = []
            while (key := form.format(name, len(each) + 1, suffix)) in self.given:
                self.asked.add(key)
                each.append(row_of(key, self.given[key])[0])
            if each:
                return np.array(each)
        return None

    def named(self, name: str, parts: tuple[str, ...]) -> list[float] | None:
        """name_part of each of the parts, by any of the words of each (a|b): floats, or None."""
        keys = [[f"{name}_{word}" for word in part.split("|")] for part in parts]
        if not all(any(key in self.given for key in each) for each in keys):
            return None
        return [self.number(*each) for each in keys]

    def number(self, *names: str, otherwise: float | None = None) -> float:
        found = self.numbers(*names)
        if found is None:
            if otherwise is None:
                given = ", ".join(self.given) or "nothing"
                raise CaseError(f"inputs: none of {', '.join(names)} is there; given: {given}")
            return otherwise
        if len(found) != 1:
            raise CaseError(f"inputs.{names[0]}: {len(found)} numbers; allowed: one")
        return float(found[0])

    def angles(self, *names: str) -> Array | None:
        """Radians, of a name, or of it with _rad or _deg."""
        for name in names:
            for suffix, unit in (("", 1.0), ("_rad", 1.0), ("_deg", math.pi / 180.0)):
                if (found := self.numbers(name + suffix)) is not None:
                    return found * unit
                if suffix and (found := self.numbered(name, suffix)) is not None:
                    return found * unit
        return None

    def exactly(self, what: str, n: int, *names: str) -> list[float]:
        found = self.numbers(*names)
        if found is None or len(found) != n:
            decisions = "not there" if found is None else f"{len(found)} numbers"
            raise CaseError(
                f"inputs.{names[0]}: {decisions}; a {what} has {n}; given: {', '.join(self.given) or 'nothing'}"
            )
        return found.tolist()

    def gravity(self) -> float:
        return self.number("g", "gravity", otherwise=9.81)

    def words(self) -> dict[str, float]:
        """Numbers in the text of the start: "x=-1, y=0", "theta = 1.2 rad", "amplitude 30 deg"."""
        found = {}
        for name, value, unit in re.findall(rf"([A-Za-z]\w*)\s*[=: ]\s*({NUMBER})\s*(deg|°)?", self.start):
            found[name.lower()] = float(value) * (math.pi / 180.0 if unit else 1.0)
        if not found and (alone := re.search(rf"({NUMBER})\s*(deg|°|rad)", self.start)):
            found["theta"] = float(alone[1]) * (1.0 if alone[2] == "rad" else math.pi / 180.0)
        return found

    def unasked(self) -> tuple[str, ...]:
        rest = [name for name in self.given if name not in self.asked | REMARKS]
        return (f"inputs not used: {', '.join(rest)}",) if rest else ()


def row_of(name: str, value: Any) -> Array:
    found = np.atleast_1d(finite(f"inputs.{name}", value))
    if found.ndim != 1 or not len(found):
        raise CaseError(f"inputs.{name}: {short(value)}; allowed: a number, or a row of them")
    return found


TH = ("th", "theta", "angle", "phi", "q", "theta0", "th0", "angle0", "phi0", "q0", "amplitude", "amp", "a0")
W = ("w", "omega", "w0", "omega0", "spin", "thdot", "thetadot", "qdot", "dth", "qd")


def order_of(inputs: Inputs, n: int) -> tuple[str, ...]:
    """Names of the columns, th1 ... w1 ..."""
    if inputs.order:
        names = re.sub(r"\s+(from|in|of)\s.*", "", inputs.order)
        return tuple(word for word in re.split(r"[\s,;]+", names) if word)
    return (*(f"th{i}" for i in range(1, n + 1)), *(f"w{i}" for i in range(1, n + 1)))


def known_column(known: dict[str, Array], column: str, names: str = "") -> Array:
    """Of those that are known, which the names describe where they are not enough. Raises CaseError."""
    if column not in known:
        raise CaseError(f"column {column!r}: known are {names or ', '.join(known)}")
    return known[column]


def split(column: str, n: int) -> tuple[str, int]:
    """("th", 0) of th1: the kind and the link, the last where none is said."""
    found = re.fullmatch(r"(theta|th|phi|q|omega|w|thetadot|x|y|vx|vy)_?(\d*)", column.lower())
    if not found or (found[2] and not 1 <= int(found[2]) <= n):
        raise CaseError(f"column {column!r}: known are th, w, x, y with a number from 1 to {n}")
    kind = {"theta": "th", "phi": "th", "q": "th", "omega": "w", "thetadot": "w"}.get(found[1], found[1])
    return kind, int(found[2]) - 1 if found[2] else n - 1


def start_of(inputs: Inputs, columns: tuple[str, ...], n: int) -> tuple[list[float], list[float], bool]:
    """Angles and spins of n links; and whether it is said which way they count."""
    names = ("y0", "state0", "initial", "initial_state", *(("start",) if not inputs.start else ()))
    row = inputs.numbers(*names)
    if row is not None:
        if len(row) not in (n, 2 * n):
            raise CaseError(f"inputs.y0: {len(row)} numbers; allowed: {2 * n}, those of {', '.join(columns)}")
        given = {split(name, n): value for name, value in zip(columns, row)}
        return [given.get(("th", i), 0.0) for i in range(n)], [given.get(("w", i), 0.0) for i in range(n)], True
    angles = inputs.angles(*TH) if inputs.start == "" or inputs.any(*TH) or n > 1 else None
    spins = inputs.numbers(*W)
    if angles is not None:
        if len(angles) != n or (spins is not None and len(spins) != n):
            raise CaseError(f"inputs: {len(angles)} angles, of {n} links")
        return angles.tolist(), [0.0] * n if spins is None else spins.tolist(), True
    words = inputs.words()
    angle = next((words[name] for name in TH if name in words), None)
    decisions = angle is not None
    if angle is None and {"x", "y"} <= set(words):
        angle = math.atan2(words["x"], -words["y"])
    if angle is None and "horizontal" in inputs.start:
        angle = 0.5 * math.pi
    if angle is None or n != 1:
        raise CaseError(f"inputs.start: {inputs.start!r} with neither y0 nor angles gives no start of {n} links")
    return [angle], [next((words[name] for name in W if name in words), 0.0)], decisions
