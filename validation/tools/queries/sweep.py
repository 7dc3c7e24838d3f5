"""An engine is asked about every pair of shapes, in questions of some hundred poses each, and its answers are judged.

A question is answered in a process of its own. Where that crashes or hangs it is asked again in halves, until the pose
is known that ends it; the others are answered all the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from reference_engine.array_types import Flags, Indices
from reference_engine.geometry.bounds import Bounds, pair_bounds
from scenarios.geometry import SHAPES
from validation.engines.queries import Query
from validation.judging.queries import judged
from validation.judging.sweeps import Find, Question, Swept, counted, row_of, taken
from validation.judging.verdict import Weight
from validation.records.queries import Answers, no_answers
from validation.running.options import RunError
from validation.tools.queries.asking import Asker, scene_of
from validation.tools.queries.poses import poses_of
from validation.tools.queries.shapes import PLANAR_KINDS, SPATIAL_KINDS, pair_of, sizes_of
from validation.tools.queries.simpler import simplified

QUESTION = 250  # poses
MOST_BROKEN = 3  # poses of a question that end the engine's process are singled out; the rest counts as not answered


def questions_of(kinds: tuple[str, str], poses: int, seed: int) -> Iterator[Question]:
    """So many poses in all; the same for every engine and query."""
    order = (*SPATIAL_KINDS, *PLANAR_KINDS)
    count = -(-poses // QUESTION)
    for k, sizes in enumerate(sizes_of(count)):
        rng = np.random.default_rng([seed, order.index(kinds[0]), order.index(kinds[1]), k])
        shapes = pair_of(kinds, sizes, rng)
        geometries = [SHAPES[shape.kind](shape) for shape in shapes]
        drawn, classes = poses_of(geometries, min(QUESTION, poses - k * QUESTION), rng)
        yield Question(kinds=kinds, sizes=sizes, shapes=shapes, poses=drawn, classes=classes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What one engine is asked."""

    asker: Asker
    queries: Mapping[str, Query]
    round_off: float  # unit, of the engine's numbers

    def of_pair(self, kinds: tuple[str, str], poses: int, seed: int) -> list[Swept]:
        """So many poses of one pair of shapes, by each query that can be asked about it."""
        found = [Swept(query=name, kinds=kinds) for name, query in self.queries.items() if query.shapes >= set(kinds)]
        for question in questions_of(kinds, poses, seed):
            bounds = pair_bounds(question.geometries, question.poses.position, question.poses.orientation)
            for one in found:
                _asked(self.asker, one, self.queries[one.query], self.round_off, question, bounds)
        return found

    def simplified(self, found: Sequence[Swept]) -> Iterator[Find]:
        """The find of each kind of wrong answer, of rounder numbers where these show it."""
        for one in found:
            for count in one.found.values():
                if count.find is not None:
                    yield simplified(self.asker, self.queries[one.query], self.round_off, count.find)


def queries_of(hello: Mapping[str, Any], names: Sequence[str] = ()) -> dict[str, Query]:
    """What an engine can be asked, of what its server says of it: those of these names, or all. Raises RunError."""
    known = {
        name: Query(**{**given, "shapes": frozenset(given["shapes"]), "answers": frozenset(given["answers"])})
        for name, given in hello["queries"].items()
    }
    for name in names:
        if name not in known:
            raise RunError(
                f"query {name!r}: {hello['name']} has none of that name; it has: {', '.join(known) or 'none'}"
            )
    if not known:
        raise RunError(f"{hello['name']} {hello['version']} answers no queries that Upright knows of")
    return {name: query for name, query in known.items() if not names or name in names}


def pairs_of(queries: Mapping[str, Query], only: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The pairs of kinds of shapes that can be asked about by any of the queries; `only`: these, as box,cylinder.

    Raises RunError.
    """
    every = [pair for kinds in (SPATIAL_KINDS, PLANAR_KINDS) for pair in combinations_with_replacement(kinds, 2)]
    able = [pair for pair in every if any(query.shapes >= set(pair) for query in queries.values())]
    if not only:
        return able
    chosen = [tuple(sorted(text.split(","))) for text in only]
    for text, wanted in zip(only, chosen):
        if wanted not in [tuple(sorted(pair)) for pair in able]:
            kinds = sorted({kind for pair in able for kind in pair})
            raise RunError(
                f"shapes {text!r}: not two that can be asked about, as box,box; there are: {', '.join(kinds)}"
            )
    return [pair for pair in able if tuple(sorted(pair)) in chosen]


def _asked(asker: Asker, found: Swept, query: Query, round_off: float, question: Question, bounds: Bounds) -> None:
    drawn, name = question.poses, found.query
    broken: list[tuple[int, str, str]] = []
    answers = no_answers(len(drawn), drawn.position.shape[2])
    answered = np.zeros(len(drawn), np.bool_)
    _ask_in_halves(asker, name, question, np.arange(len(drawn)), answers, answered, broken)
    if broken and broken[0][1] == "declined":
        found.declined = broken[0][2]
        return
    found.asked += len(drawn)
    found.answered += int(answered.sum())
    for row, outcome, reason in broken:
        one = Find(query=name, question=question, row=row, kind=outcome.replace("_", " "), error=np.inf,
                   weight=Weight.GROSS, answers=None, bounds=row_of(bounds, row), reason=reason)  # fmt: skip
        counted(found, one, np.array([row]), np.array([np.inf]), np.array([int(Weight.GROSS)]))
    result = judged(query, round_off, question.geometries, question.kinds, drawn, answers, bounds)
    taken(found, question, answers, bounds, result, answered)


def _ask_in_halves(
    asker: Asker, name: str, question: Question, rows: Indices, answers: Answers, answered: Flags,
    broken: list[tuple[int, str, str]],
) -> None:  # fmt: skip
    if len(broken) >= MOST_BROKEN:
        return
    outcome, reason, some = asker.ask(name, scene_of(question.shapes), question.poses[rows])
    if some is not None:
        answers.contact[rows], answers.gap[rows], answers.normal[rows] = some.contact, some.gap, some.normal
        answered[rows] = True
    elif outcome == "declined" or len(rows) == 1:
        broken.append((int(rows[0]), outcome, reason))
    else:
        for half in np.array_split(rows, 2):
            _ask_in_halves(asker, name, question, half, answers, answered, broken)
