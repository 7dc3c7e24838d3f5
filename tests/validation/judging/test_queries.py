"""Right answers pass; each kind of wrong answer is found, with its size; what documents allow is set apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference_engine.geometry.bounds import pair_bounds
from reference_engine.geometry.spatial_shapes import Box
from validation.engines.engine import DOUBLE
from validation.engines.queries import Query
from validation.judging.queries import KINDS, Judged, judged
from validation.judging.verdict import Weight
from validation.records.queries import Answers, Poses

BOX = Box((0.5, 0.5, 0.5))
APART, DEEP = 0, 1
UPRIGHT = np.tile((1.0, 0.0, 0.0, 0.0), (2, 2, 1))
POSES = Poses(position=np.array([[(0.0,) * 3, (1.2, 0.0, 0.0)], [(0.0,) * 3, (0.8, 0.1, 0.0)]]), orientation=UPRIGHT)
"""Two cubes of 1 m: 0.2 m apart along x; 0.2 m deep in one another along x, 0.9 m along y."""
RIGHT = {"contact": [False, True], "gap": [0.2, -0.2], "normal": [(1.0, 0.0, 0.0)] * 2}
EVERY = Query(call="a call", shapes=frozenset({"box"}), answers=frozenset({"contact", "gap", "normal"}))
OVERLAPS = Query(call="a call", shapes=frozenset({"box"}), answers=frozenset({"contact"}))


def of(query: Query = EVERY, **changed: Any) -> Judged:
    given = {name: np.array(changed.get(name, value)) for name, value in RIGHT.items()}
    bounds = pair_bounds((BOX, BOX), POSES.position, POSES.orientation)
    return judged(query, DOUBLE, (BOX, BOX), ("box", "box"), POSES, Answers(**given), bounds)


@pytest.mark.parametrize("query", [EVERY, OVERLAPS])
def test_right_answers_are_right(query: Query) -> None:
    assert of(query).kind.tolist() == [-1, -1]
    assert not of(query).is_find.any()


WRONG = [
    ("not finite", APART, {"gap": [np.nan, -0.2]}, np.inf),
    ("not finite", DEEP, {"gap": [0.2, np.inf]}, np.inf),
    ("overlap without contact", DEEP, {"gap": [0.2, 0.1], "contact": [False, False]}, 0.2),
    ("contact without overlap", APART, {"gap": [-0.1, -0.2], "contact": [True, True]}, 0.2),
    ("normal on the wrong side", DEEP, {"normal": [(1, 0, 0), (-1.0, 0, 0)]}, 1.6),
    ("normal on the wrong side", APART, {"normal": [(-1.0, 0, 0), (1, 0, 0)]}, 2.4),
    ("depth too small", DEEP, {"gap": [0.2, -0.15]}, 0.05),
    ("depth too large", DEEP, {"gap": [0.2, -0.25]}, 0.05),
    ("distance too large", APART, {"gap": [0.21, -0.2]}, 0.01),
    ("distance too small", APART, {"gap": [0.15, -0.2]}, 0.05),
    ("not the shortest way out", DEEP, {"normal": [(1, 0, 0), (0.0, 1, 0)], "gap": [0.2, -0.9]}, 0.7),
    ("normal does not separate", APART, {"normal": [(0.8, 0.6, 0), (1, 0, 0)]}, 0.2 - (0.8 * 1.2 - 1.4)),
]


@pytest.mark.parametrize(("kind", "row", "changed", "error"), WRONG)
def test_each_kind_of_wrong_answer_is_found_with_its_size(kind: Any, row: int, changed: Any, error: float) -> None:
    found = of(**changed)
    assert KINDS[found.kind[row]] == kind
    assert found.kind[1 - row] == -1  # the other pose is right
    assert found.error[row] == pytest.approx(error, rel=1e-9)
    assert found.is_find.tolist() == [row == APART, row == DEEP]


def test_every_kind_is_planted() -> None:
    assert {kind for kind, *_ in WRONG} == set(KINDS)


def test_an_overlap_query_is_judged_by_contact_alone() -> None:
    found = of(OVERLAPS, contact=[True, False], gap=[np.nan] * 2, normal=[(np.nan,) * 3] * 2)
    assert [KINDS[k] for k in found.kind] == ["contact without overlap", "overlap without contact"]


def test_the_weight_is_by_the_thinner_body() -> None:
    assert of(gap=[0.2, -0.2 - 5e-5]).weight[DEEP] == Weight.NEGLIGIBLE
    assert not of(gap=[0.2, -0.2 - 5e-5]).is_find.any()
    assert of(gap=[0.2, -0.2 - 5e-3]).weight[DEEP] == Weight.VISIBLE
    assert of(gap=[0.2, -0.2 - 0.15]).weight[DEEP] == Weight.GROSS


def test_what_documents_allow_is_no_find() -> None:
    query = Query(call="a call", shapes=EVERY.shapes, answers=EVERY.answers, tolerance=0.01)
    assert of(query, gap=[0.2, -0.205]).documented.tolist() == [False, True]
    assert not of(query, gap=[0.2, -0.205]).is_find.any()
    assert of(query, gap=[0.2, -0.22]).is_find.tolist() == [False, True]
    rounded = Query(call="a call", shapes=EVERY.shapes, answers=EVERY.answers, rounding={"box": 0.04})
    assert not of(rounded, gap=[0.25, -0.2]).is_find.any()  # corners of both inside by up to 0.73 of 0.04 m
    assert of(rounded, gap=[0.27, -0.2]).is_find.any()


def test_contacts_up_to_a_margin_are_no_overlaps() -> None:
    query = Query(call="a call", shapes=EVERY.shapes, answers=frozenset({"contact"}), margin=0.25)
    assert not of(query, contact=[True, True]).is_find.any()
