"""Two ways to take a step agree as far as the precision of the engine and the condition of the step let them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.validation.metrics.motions import DT, G, block, disc, planar, plane, scenario
from validation.engines.engine import DOUBLE, SINGLE
from validation.engines.relations import Relation
from validation.judging.relations import Agreed, Related, agreed, limits, perturbed
from validation.records.trajectory import PlanarTrajectory, with_samples

SCENE = plane(disc(), block("floor", fixed=True))
STATES = planar(
    [0.0, DT],
    [[(0.0, 2.0, 0.0), (0.0, -1.0, 0.0)], [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0)]],
    [[(1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]] * 2,
)
LAW = Relation(name="both ways agree", one={}, other={"way": 2}, agree="round-off", promise="a test")


def stepped(states: PlanarTrajectory, factor: float = 1.0) -> PlanarTrajectory:
    """A step that multiplies what the state's velocity changes by."""
    twist = states.twist.copy()
    twist[:, 0, 0] = 1.0 + factor * (states.twist[:, 0, 0] - 1.0)
    return with_samples(states, states.time, {"twist": twist})  # type: ignore[return-value]


@pytest.mark.parametrize("round_off", [DOUBLE, SINGLE])
def test_a_state_is_perturbed_by_the_root_of_the_round_off_of_its_size_and_what_is_fixed_stays(
    round_off: float,
) -> None:
    moved = perturbed(STATES, SCENE, round_off)
    size = np.sqrt(round_off)
    for name, most in (
        ("pose", 2.5),
        ("twist", 2.1),
    ):  # the furthest point is at 2.5 m; a radius of 0.5 m doubles spins
        change = np.abs(getattr(moved, name) - getattr(STATES, name))
        assert 0.0 < change[:, 0].max() <= most * size
        assert change[:, 1].max() == 0.0


@pytest.mark.parametrize("factor", [1.0, 1e3, 1e6])
def test_the_limit_grows_with_the_condition_of_the_step(factor: float) -> None:
    """A step that makes a thousand times as much of a change may show a thousand times the round-off."""
    moved = perturbed(STATES, SCENE, DOUBLE)
    limit = limits(STATES, stepped(STATES, factor), stepped(moved, factor), SCENE, "round-off", DOUBLE)
    change = np.abs(moved.twist - STATES.twist)[:, 0, 0] / np.sqrt(DOUBLE)
    assert (limit >= 12 * DOUBLE * factor * change).all()  # of two bodies with six numbers
    assert (limit <= 12 * DOUBLE * (factor * change + 1.0 + G * DT + 2e3)).all()


def test_the_minimum_of_a_function_is_known_to_the_root_of_its_round_off_only_and_bits_have_no_limit() -> None:
    moved = perturbed(STATES, SCENE, DOUBLE)
    sums, minimum, bits = (
        limits(STATES, stepped(STATES), stepped(moved), SCENE, agree, DOUBLE)
        for agree in ("round-off", "minimum", "bits")
    )
    assert (minimum > 1e4 * sums).all() and (sums > 0.0).all() and (bits == 0.0).all()


def test_a_difference_above_the_limit_of_its_own_state_breaks_the_relation_and_says_where() -> None:
    one = stepped(STATES)
    twist = one.twist.copy()
    twist[0, 0, 0] += 1e-3  # where 1 is allowed
    twist[1, 0, 0] += 1e-6  # where 1e-9 is
    found = agreed(scenario(SCENE), STATES, one, with_samples(one, one.time, {"twist": twist}), np.array([1.0, 1e-9]))
    assert not found.met
    assert (found.size, found.limit) == (pytest.approx(1e-6), 1e-9)
    assert found.where is not None and (found.where.sample, found.where.body) == (1, "ball")
    assert agreed(scenario(SCENE), STATES, one, one, np.zeros(2)) == Agreed(met=True, size=0.0, limit=0.0)


@pytest.mark.parametrize(
    ("before", "after", "sign"),
    [(True, False, "worse"), (False, True, "better"), (True, True, "same"), (False, False, "same")],
)
def test_what_held_and_does_not_any_more_is_worse_and_its_mirror_image_better(
    before: bool, after: bool, sign: str
) -> None:
    sides = [Agreed(met=met, size=1.0, limit=1.0) for met in (before, after)]
    assert Related(relation=LAW, states=2, sides=(sides[0], sides[1])).sign == sign
