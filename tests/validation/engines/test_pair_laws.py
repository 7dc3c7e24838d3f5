"""Values of shapes from laws of pairs: exact where there are any, and none claimed where there are not."""

from __future__ import annotations

import math
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from scenarios.scene import CombinationRule, ContactLaw, PairLaw, PlanarScene, colliding_pairs
from tests.effort import tries
from tests.validation.engines.planar_scenes import ball, ground, scene
from validation.engines.shared.pair_laws import PairLaws

COMBINE = {"product": lambda p, q: p * q, "geometric-mean": lambda p, q: math.sqrt(p * q), "max": max}
values = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])


@st.composite
def scenes(draw: Any) -> PlanarScene:
    """Up to five balls over a ground; some pairs have a law of their own."""
    count = draw(st.integers(1, 5))
    bodies = [ball(f"ball {i}", friction=draw(values), restitution=draw(values)) for i in range(count)]
    names = [*(body.name for body in bodies), "ground"]
    two = st.tuples(*[st.sampled_from(names)] * 2).filter(lambda p: p[0] != p[1])
    named = draw(st.lists(two, max_size=3, unique_by=frozenset))
    laws = [PairLaw(a=a, b=b, friction=draw(values), restitution=draw(st.none() | values)) for a, b in named]
    contact = ContactLaw(
        friction_rule=draw(st.sampled_from(get_args(CombinationRule))),
        restitution_rule=draw(st.sampled_from(get_args(CombinationRule))),
        pairs=tuple(laws),
    )
    plane = ground(friction=draw(values), restitution=draw(values))
    return scene(*bodies, ground=plane, contact=contact, duration=1.0)


@settings(max_examples=tries(200))
@given(given_scene=scenes(), rule=st.sampled_from(sorted(COMBINE)), column=st.sampled_from([0, 1]))
def test_shape_values_combine_to_the_law_of_every_pair_that_can_meet(
    given_scene: PlanarScene, rule: Any, column: int
) -> None:
    laws = PairLaws(given_scene)
    members = {member.name: (i, member) for i, member in enumerate((*given_scene.bodies, *given_scene.boundaries))}
    found = laws.shape_values("friction" if column == 0 else "restitution", rule)
    for a, b in colliding_pairs(given_scene):
        (i, p), (j, q) = members[a], members[b]
        law = given_scene.pair_law(p, q)
        assert laws.of(i, j) == laws.of(j, i) == law
        if found is not None:
            assert COMBINE[rule](found[i], found[j]) == approx(law[column], rel=1e-12, abs=0.0)


@pytest.mark.parametrize(
    "scene_rule, engine_rule",
    [("geometric-mean", "product"), ("product", "product"), ("geometric-mean", "geometric-mean"), ("max", "max")],
)
def test_rules_that_an_engine_can_follow_need_no_callback(scene_rule: Any, engine_rule: Any) -> None:
    """However many materials there are, some of them frictionless."""
    coefficients = (0.0, 0.1, 0.4, 0.4, 1.0)
    bodies = [ball(f"ball {i}", friction=mu, restitution=mu) for i, mu in enumerate(coefficients)]
    laws = ContactLaw(friction_rule=scene_rule, restitution_rule=scene_rule)
    found = PairLaws(
        scene(*bodies, ground=ground(friction=0.7, restitution=0.7), contact=laws, duration=1.0)
    ).shape_values("restitution", engine_rule)
    assert found is not None


def test_one_law_for_all_needs_no_callback_under_any_rule() -> None:
    """What the ground would do to the ground does not matter: it never meets itself."""
    bodies = [ball(f"ball {i}", friction=0.2) for i in range(3)]
    laws = PairLaws(scene(*bodies, ground=ground(friction=0.9), contact=ContactLaw(friction_rule="min"), duration=1.0))
    assert laws.shape_values("friction", "product") == approx([math.sqrt(0.2)] * 4)
    assert laws.shape_values("friction", "geometric-mean") == approx([0.2] * 4)
    assert laws.shape_values("friction", "max") == [0.2] * 4
