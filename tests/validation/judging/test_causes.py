"""Rows of a comparison that say the same are one cause, and what scenarios that move otherwise have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from scenarios.scenario import Scenario
from tests.validation.store.made import case, measurement
from validation.judging.causes import causes_of, findings_of, pair_of, shapes_of, shared_by
from validation.judging.comparison import Comparison, compare
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.outcome import Outcome
from validation.records.simulation import Simulation
from validation.records.trajectory import Contacts
from validation.running.warm_up import standing_still

FALLEN = Outcome(kind="went through", bodies=("box 2", "ground"), right=False, time=0.3, value=96.0, unit="m")


def side(
    scenario: Scenario,
    *measurements: Measurement,
    bits: str,
    outcomes: Sequence[Outcome] = (),
    contacts: Sequence[tuple[int, int]] | None = (),
    **of: Any,
) -> Result:
    """A motion that stands still, with these bits, in which these members of the scene are in contact."""
    reported = None
    if contacts is not None:
        a, b = np.array(contacts, dtype=np.int64).reshape(-1, 2).T
        flat = np.zeros((len(a), 2))
        reported = Contacts(sample=0 * a, a=a, b=b, point=flat, normal=flat, gap=flat[:, 0], impulse=flat)
    still = replace(standing_still(scenario.scene), state_hash=bits, contacts=reported)
    given: dict[str, Any] = {"scenario": scenario.name, **of}
    return Result.of(
        case=case(**given),
        simulation=Simulation(outcome="completed", trajectory=still),
        measurements=measurements or (measurement(value=1e-3),),
        outcomes=tuple(outcomes),
        headline="penetration_mean",
    )


def moved(word: str, old: float, new: float, **of: Any) -> Comparison:
    scenario = scenario_of(word)
    sides = [side(scenario, measurement(value=value), bits=bits, **of) for value, bits in ((old, "a"), (new, "b"))]
    return compare(scenario, *sides)


def test_the_same_change_in_several_scenarios_is_one_cause_whose_worst_comes_first() -> None:
    found = [moved("stack:n=3", 1e-3, 3e-3), moved("stack:n=5", 1e-3, 0.5), moved("stack:n=10", 1e-3, 1e-3)]
    (cause,) = causes_of(found)
    assert cause.worst.sign == "worse" and cause.worst.what == "no overlap"
    assert cause.scenarios == ["stack", "stack:n=5", "stack:n=3"][1:]


def test_what_gets_worse_comes_before_what_gets_better_and_what_happens_before_numbers() -> None:
    scenario = scenario_of("stack:n=3")
    falls = compare(scenario, side(scenario, bits="a"), side(scenario, bits="b", outcomes=[FALLEN]))
    found = [moved("stack:n=5", 0.5, 1e-3), moved("stack:n=5", 1e-3, 0.5), falls]
    assert [(c.worst.sign, c.worst.kind) for c in causes_of(found)] == [
        ("worse", "happened"),
        ("worse", "moved"),
        ("better", "moved"),
    ]


def test_a_body_that_falls_through_on_both_sides_is_no_cause_and_ten_that_fall_are_one() -> None:
    scenario = scenario_of("stack:n=3")
    others = [replace(FALLEN, bodies=(f"box {i}", "ground"), value=float(i)) for i in (1, 3)]
    old, new = side(scenario, bits="a", outcomes=[FALLEN]), side(scenario, bits="b", outcomes=[FALLEN, *others])
    (finding,) = findings_of(compare(scenario, old, new))
    assert finding.outcome == others[1], "the one that fell furthest"
    assert finding.among == "a box and a plane"


def test_nothing_is_said_of_what_stayed_the_same() -> None:
    assert findings_of(moved("stack:n=3", 1e-3, 1e-3)) == []


@pytest.mark.parametrize(
    ("word", "pair"),
    [("stack:n=3", "two boxes"), ("newtons-cradle", "two discs"), ("stack:n=3,space=spatial", "two boxes")],
)
def test_bodies_are_called_by_their_shapes_and_a_rectangle_is_a_box(word: str, pair: str) -> None:
    scenario = scenario_of(word)
    first, second = (body.name for body in scenario.scene.bodies[:2])
    assert pair_of(scenario, (first, second)) == pair
    assert {"plane"} >= {shapes_of(scenario)[boundary.name] for boundary in scenario.scene.boundaries}


def test_what_moved_scenarios_share_and_others_lack_is_named_with_how_many() -> None:
    """Blocks 0 and 1 of the stack are in contact in three scenarios, of which all move otherwise; in the others block 0
    is on the ground, which is member 3."""
    scenario = scenario_of("stack:n=3")
    rows = []
    for i, (contacts, bits) in enumerate([([(0, 1)], "b"), ([(0, 1), (0, 3)], "b"), ([(0, 1)], "b")]):
        pair = [side(scenario, bits=f"{one}", contacts=contacts) for one in ("a", bits)]
        rows.append(compare(replace(scenario, parameters={"n": i}), *pair))
    for i in range(4):
        pair = [side(scenario, bits="a", contacts=[(0, 3)]) for _ in "ab"]
        rows.append(compare(replace(scenario, parameters={"n": 10 + i}), *pair))
    (shared,) = shared_by(rows)
    assert shared.what == "contact of two boxes"
    assert (shared.moved, shared.having, shared.moved_beside, shared.beside) == (3, 3, 0, 4)


def test_nothing_is_shared_where_scenarios_with_and_without_a_contact_move_otherwise() -> None:
    scenario = scenario_of("stack:n=3")
    rows = []
    for i in range(8):
        pair = [side(scenario, bits=bits, contacts=[(0, 1 + 2 * (i % 2))]) for bits in "ab"]
        rows.append(compare(replace(scenario, parameters={"n": i}), *pair))
    assert shared_by(rows) == []
