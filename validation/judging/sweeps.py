"""What a query sweep counts: wrong answers by query, pair of shapes, kind and class of pose, and the gravest of each.

Pure: answers and bounds in, counts out.
"""

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.geometry.bounds import Bounds, Extents
from scenarios.geometry import SHAPES
from validation.judging.queries import KINDS, Judged
from validation.judging.verdict import Weight
from validation.records.queries import Answers, Poses

USUAL = "usual sizes"
T = TypeVar("T", Answers, Bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Two shapes of scenes, and where they are."""

    kinds: tuple[str, str]
    sizes: str  # class of sizes
    shapes: tuple[Any, Any]
    poses: Poses
    classes: tuple[str, ...]  # of each pose

    @property
    def geometries(self) -> list[Any]:
        """The shapes as `reference_engine` has them."""
        return [SHAPES[shape.kind](shape) for shape in self.shapes]

    @property
    def thickness(self) -> float:
        """m, of the thinner body."""
        return 2.0 * min(Extents(one).inner for one in self.geometries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """One wrong answer, the gravest of its pair, kind and class of poses."""

    query: str
    question: Question
    row: int  # of the question's poses
    kind: str  # of KINDS, or how the process ended
    error: float  # m; infinite where there is no number
    weight: Weight
    answers: Answers | None  # of this pose; None where there is none
    bounds: Bounds  # of this pose
    reason: str = ""  # of one that ended the process

    @property
    def pose(self) -> Poses:
        return self.question.poses[self.row : self.row + 1]

    @property
    def class_of_pose(self) -> str:
        return self.question.classes[self.row]

    @property
    def share(self) -> float:
        """The error, of the thinner body."""
        return self.error / self.question.thickness


@dataclass(slots=True, kw_only=True)
class Count:
    """Of the poses of one query, pair and kind of wrongness."""

    wrong: int = 0
    gross: int = 0
    worst: float = 0.0  # of the thinner body
    classes: dict[str, int] = field(default_factory=dict)  # class of poses -> wrong ones
    sizes: dict[str, int] = field(default_factory=dict)
    find: Find | None = None


@dataclass(slots=True, kw_only=True)
class Swept:
    """What became of one query on one pair of shapes."""

    query: str
    kinds: tuple[str, str]
    asked: int = 0
    answered: int = 0
    slight: int = 0  # outside the bounds, but by less than anybody sees
    documented: int = 0
    found: dict[str, Count] = field(default_factory=dict)
    declined: str = ""


def taken(found: Swept, question: Question, answers: Answers, bounds: Bounds, result: Judged, answered: Flags) -> None:
    """Count the answers to a question, of those poses that were answered."""
    wrong = (result.kind >= 0) & answered
    found.documented += int((wrong & result.documented).sum())
    found.slight += int((wrong & ~result.documented & (result.weight == Weight.NEGLIGIBLE)).sum())
    for k in range(len(KINDS)):
        rows = np.flatnonzero(result.is_find & answered & (result.kind == k))
        if len(rows):
            worst = int(rows[np.argmax(result.error[rows])])
            one = find_of(found.query, question, answers, bounds, result, worst)
            counted(found, one, rows, result.error[rows], result.weight[rows])


def find_of(query: str, question: Question, answers: Answers, bounds: Bounds, result: Judged, row: int) -> Find:
    """Of one pose that is answered wrongly."""
    return Find(
        query=query, question=question, row=row, kind=KINDS[result.kind[row]], error=float(result.error[row]),
        weight=Weight(int(result.weight[row])), bounds=row_of(bounds, row), answers=row_of(answers, row),
    )  # fmt: skip


def counted(found: Swept, one: Find, rows: Indices, errors: Array, weights: Indices) -> None:
    """The find of a kind is the gravest, of usual sizes before others."""
    count = found.found.setdefault(one.kind, Count())
    count.wrong += len(rows)
    count.gross += int((weights == Weight.GROSS).sum())
    count.worst = max(count.worst, float(errors.max() / one.question.thickness))
    count.sizes[one.question.sizes] = count.sizes.get(one.question.sizes, 0) + len(rows)
    for row in rows:
        of = one.question.classes[row]
        count.classes[of] = count.classes.get(of, 0) + 1
    if count.find is None or _rank(one) > _rank(count.find):
        count.find = one


def _rank(find: Find) -> tuple[bool, float]:
    return find.question.sizes == USUAL, find.share


def row_of(arrays: T, row: int) -> T:
    """One row of a dataclass of arrays (N, ...)."""
    names = arrays.__dataclass_fields__
    return type(arrays)(**{name: getattr(arrays, name)[row : row + 1] for name in names})
