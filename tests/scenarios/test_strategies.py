"""Random scenes: always valid, never overlapping unless asked, simple once shrunk."""

import itertools
import json
from random import Random

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pytest import approx

from scenarios.mass import bounding_radius, width
from scenarios.scene import PlanarScene, SpatialScene, content_hash, parse_scene, write_scene
from scenarios.strategies import SHAPES, TIME_STEPS, planar_scenes, spatial_scenes, time_steps
from tests.effort import few, tries
from tests.scenarios.start_gaps import start_gaps

SMALL = settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEARCH = settings(max_examples=3000, deadline=None, phases=(Phase.generate, Phase.shrink), database=None)
FIRST = settings(SEARCH, phases=(Phase.generate,))


@SMALL
@given(scene=planar_scenes())
def test_no_gap_is_negative(scene):
    assert min(start_gaps(scene).values(), default=0.0) >= 0.0


@SMALL
@given(scene=planar_scenes(overlapped=True))
def test_an_overlapped_scene_starts_in_the_ground_but_not_deep(scene):
    """At most a sixteenth of the smallest body, 1/4 m."""
    gaps = start_gaps(scene)
    assert gaps[(scene.bodies[0].name, "ground")] < 0.0
    assert min(gaps.values()) >= -0.25 / 16.0


@SMALL
@given(scene=planar_scenes(max_bodies=4))
def test_a_drawn_scene_is_small_and_comes_back_from_its_json_to_the_last_bit(scene):
    assert isinstance(scene, PlanarScene) and 1 <= len(scene.bodies) <= 4
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == content_hash(scene)


@SMALL
@given(scene=planar_scenes(friction=False, restitution=False))
def test_an_engine_that_knows_neither_friction_nor_restitution_gets_scenes_without(scene):
    assert all(member.friction == member.restitution == 0.0 for member in (*scene.bodies, *scene.boundaries))


@SMALL
@given(scene=planar_scenes())
def test_without_ground_there_is_no_gravity_so_that_momentum_is_kept(scene):
    assert bool(scene.boundaries) == (scene.gravity != (0.0, 0.0))


@SMALL
@given(scene=spatial_scenes())
def test_in_space_nothing_starts_in_another_body_or_in_the_ground(scene):
    """Straight bodies touch to the last bit; the gap of two curved ones is found to 1e-9 m."""
    assert min(start_gaps(scene).values(), default=0.0) >= -1e-9


@SMALL
@given(scene=spatial_scenes(max_bodies=3, kinds=("capsule", "convex-mesh"), friction=False, restitution=False))
def test_in_space_an_engine_gets_only_shapes_and_laws_that_it_takes(scene):
    assert isinstance(scene, SpatialScene) and 1 <= len(scene.bodies) <= 3
    assert {body.shape.kind for body in scene.bodies} <= {"capsule", "convex-mesh"} < set(SHAPES)
    assert all(member.friction == member.restitution == 0.0 for member in (*scene.bodies, *scene.boundaries))
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == content_hash(scene)


def test_in_space_the_simplest_scene_is_an_upright_unit_box_at_rest_on_the_ground():
    scene = hypothesis.find(spatial_scenes(), lambda scene: True, settings=SEARCH, random=Random(1))
    (body,) = scene.bodies
    assert (body.position, body.orientation, body.spin) == ((0.0, 0.0, 0.5), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert (body.shape.kind, body.shape.size, len(scene.boundaries)) == ("box", (1.0, 1.0, 1.0), 1)


@SMALL
@given(dt=time_steps())
def test_the_steps_are_those_that_people_use(dt):
    assert dt in TIME_STEPS


def find(condition, how=SEARCH):
    """The same scene every time: the random numbers are seeded."""
    return hypothesis.find(planar_scenes(), condition, settings=how, random=Random(1))


def test_the_simplest_scene_is_an_upright_unit_box_at_rest_on_the_ground():
    scene = find(lambda scene: True)
    (body,) = scene.bodies
    assert (body.position, body.angle, body.velocity, body.spin) == ((0.0, 0.5), 0.0, (0.0, 0.0), 0.0)
    assert (body.shape.kind, body.mass, body.friction, body.restitution) == ("polygon", 1.0, 0.0, 0.0)
    assert len(scene.boundaries) == 1 and scene.duration == 0.5


def test_a_fault_of_two_moving_bodies_shrinks_to_two_of_which_one_moves():
    scene = find(lambda scene: len(scene.bodies) >= 2 and any(body.velocity[0] > 1.0 for body in scene.bodies))
    assert len(scene.bodies) == 2
    assert sorted(body.velocity[0] for body in scene.bodies) == [0.0, approx(1.125)]


def gaps_between_bodies(scene):
    return [gap for pair, gap in start_gaps(scene).items() if "ground" not in pair]


KINDS = {
    "mixed": lambda scene: {body.shape.kind for body in scene.bodies} == {"polygon", "disc"},
    "tilted, rough": lambda scene: (
        any(body.angle not in (0.0, -0.0) for body in scene.bodies) and scene.bodies[0].friction > 0.0
    ),
    "touching": lambda scene: any(gap == 0.0 for gap in gaps_between_bodies(scene)),
    "nearly touching": lambda scene: any(0.0 < gap < 2e-3 for gap in gaps_between_bodies(scene)),
    "mass 1:1000": lambda scene: any(a.mass >= 900.0 * b.mass for a, b in itertools.permutations(scene.bodies, 2)),
    "size 1:10": lambda scene: any(
        bounding_radius(a.shape) >= 9.0 * bounding_radius(b.shape) for a, b in itertools.permutations(scene.bodies, 2)
    ),
    "six, lossless": lambda scene: len(scene.bodies) == 6 and scene.bodies[0].restitution == 1.0,
}


@pytest.mark.parametrize(("condition",), few(3, [(condition,) for condition in KINDS.values()]), ids=KINDS)
def test_every_kind_of_scene_is_among_the_first_few_thousand(condition):
    assert find(condition, FIRST)


@SMALL
@given(scene=spatial_scenes(overlapped=True, kinds=("box", "sphere", "capsule", "cylinder", "ellipsoid")))
def test_in_space_an_overlapped_scene_starts_in_the_ground_but_not_deeper_than_a_quarter_of_the_thinner(scene):
    """A body that is turned anyhow may be above the ground by the rounding of its height, 1/1024 m, all the same."""
    first = scene.bodies[0]
    deepest = {pair: 0.25 * min(widths[name] for name in pair if name in widths) for pair, widths in pairs_of(scene)}
    gaps = start_gaps(scene)
    assert gaps[(first.name, "ground")] < 1.0 / 1024.0
    for pair, gap in gaps.items():
        assert gap >= -deepest[pair] - 1e-9


def pairs_of(scene):
    widths = {body.name: width(body.shape) for body in scene.bodies}
    return [(pair, widths) for pair in start_gaps(scene)]


def test_in_space_bodies_are_sunk_into_others():
    def is_sunk(scene):
        return any(gap < -0.01 for pair, gap in start_gaps(scene).items() if "ground" not in pair)

    assert hypothesis.find(spatial_scenes(overlapped=True), is_sunk, settings=FIRST, random=Random(1))
