"""Newton's cradle in touch: momentum, energy and restitution by either order, and the scene that names it."""

import json
from fractions import Fraction

import pytest
from numpy.testing import assert_allclose

from reference_engine import multiple_impact
from scenarios.catalogue.newtons_cradle import cradle_in_contact, speeds_after
from scenarios.scene import content_hash, parse_scene, write_scene
from scenarios.scene_error import SceneError
from tests.reference_engine.contact_problems.test_multiple_impact import cradle


def test_a_toy_s_last_ball_leaves_alone_and_by_one_problem_all_leave():
    assert speeds_after(5, Fraction(1), Fraction(1), "sequential") == [0, 0, 0, 0, 1]
    assert speeds_after(5, Fraction(1), Fraction(1), "simultaneous") == [Fraction(-3, 5), *[Fraction(2, 5)] * 4]


@pytest.mark.parametrize("order", ["sequential", "simultaneous"])
@pytest.mark.parametrize("e", [Fraction(1), Fraction(1, 2), Fraction(9, 10)])
def test_momentum_stays_nobody_catches_up_and_energy_stays_or_falls(order, e):
    v = speeds_after(4, Fraction(3), e, order)
    assert sum(v) == 3
    assert v == sorted(v)
    energy = sum(u * u for u in v)
    assert energy == 9 if e == 1 else energy < 9


@pytest.mark.parametrize("order", ["sequential", "simultaneous"])
@pytest.mark.parametrize("e", [1.0, 0.5])
def test_it_is_what_the_law_of_several_places_says(order, e):
    K, u, turn = cradle([1.0, 0.0, 0.0, 0.0])
    found = multiple_impact(K, u, friction=0.0, restitution=e, order=order)
    after = [float(v) for v in speeds_after(4, Fraction(1), Fraction(e), order)]
    assert_allclose([1.0, 0.0, 0.0, 0.0] + turn @ found.impulse.ravel(), after, rtol=0.0, atol=1e-13)


def test_the_law_is_part_of_the_scene_and_a_scene_that_names_none_keeps_its_identity():
    one, other = cradle_in_contact().scene, cradle_in_contact(order="simultaneous").scene
    assert content_hash(one) != content_hash(other)
    assert parse_scene(json.loads(write_scene(one))) == one
    silent = one.model_copy(update={"contact": one.contact.model_copy(update={"impact_order": None})})
    assert "impact" not in write_scene(silent)


def test_an_unknown_law_is_an_error_in_one_line():
    data = cradle_in_contact().scene.model_dump(mode="json")
    data["contact"]["impact_law"] = "hertz"
    with pytest.raises(SceneError, match=r"contact\.impact_law.*'hertz'"):
        parse_scene(data)
