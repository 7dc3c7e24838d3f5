"""Mutations: valid scenes that differ a little from those that are given."""

import json
from random import Random

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from scenarios.catalogue import scenario_of
from scenarios.scene import content_hash, parse_scene, write_scene
from scenarios.strategies.mutations import LONGEST, is_mutable, mutated
from tests.effort import few, tries

WORDS = (
    *("stack:n=3", "chain", "four-bar", "rocking-block", "newtons-cradle"),
    *("bouncing-ball", "bouncing-ball:space=spatial"),
)
SCENES = [scenario_of(word).scene for word in WORDS]
SMALL = settings(max_examples=tries(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEARCH = settings(max_examples=2000, deadline=None, phases=(Phase.generate, Phase.shrink), database=None)


@SMALL
@given(pair=mutated(SCENES))
def test_a_mutated_scene_is_valid_and_not_longer_than_two_seconds(pair):
    base, scene = pair
    assert base in SCENES
    assert scene == base or scene.duration <= LONGEST
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == content_hash(scene)
    assert {joint.a for joint in scene.joints} <= {body.name for body in scene.bodies}


def total(scene) -> float:
    return sum(body.mass for body in scene.bodies if body.mass)


CHANGES = {
    "without a body": lambda base, scene: len(scene.bodies) == len(base.bodies) - 1,
    "doubled": lambda base, scene: len(scene.bodies) == len(base.bodies) + 1,
    "ten times as heavy": lambda base, scene: (
        len(scene.bodies) == len(base.bodies) and total(scene) > total(base) + 5.0 * base.bodies[0].mass
    ),
    "gravity turned": lambda base, scene: scene.gravity[0] != base.gravity[0],
    "moved by a grid": lambda base, scene: (
        len(scene.bodies) == len(base.bodies)
        and 0.0 < abs(scene.bodies[0].position[0] - base.bodies[0].position[0]) < 0.002
    ),
    "larger": lambda base, scene: scene.bodies[0].shape != base.bodies[0].shape and len(scene.bodies) > 1,
    "faster": lambda base, scene: scene.bodies[0].velocity != base.bodies[0].velocity,
    "rougher": lambda base, scene: (
        any(body.friction for body in base.bodies) and scene.bodies[0].friction != base.bodies[0].friction
    ),
}


@pytest.mark.parametrize(("change",), few(3, [(change,) for change in CHANGES.values()]), ids=CHANGES)
def test_every_change_is_drawn(change):
    assert hypothesis.find(mutated(SCENES), lambda pair: change(*pair), settings=SEARCH, random=Random(1))


def test_shrinks_to_one_small_move_in_the_first_scene():
    base, scene = hypothesis.find(
        mutated(SCENES), lambda pair: pair[0].bodies[0] != pair[1].bodies[0], settings=SEARCH, random=Random(1)
    )
    assert base == SCENES[0] and len(scene.bodies) == len(base.bodies)
    moved = [i for i, (one, other) in enumerate(zip(base.bodies, scene.bodies)) if one != other]
    assert moved == [0] and scene.bodies[0].mass == base.bodies[0].mass


@pytest.mark.parametrize("word", ["walkers", "towed-body", "cradle-in-touch", "stack:n=20"])
def test_driven_large_and_scenes_of_a_stated_law_are_not_mutated(word):
    assert not is_mutable(scenario_of(word).scene)


def test_what_is_mutated_here_may_be():
    assert all(map(is_mutable, SCENES))
