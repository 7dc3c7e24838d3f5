"""Arrangements on a fixed body: valid, in contact with it where they stood on the plane; what is sunk is near its way
out."""

import json
from random import Random

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.scene import Scene, content_hash, parse_scene, write_scene
from scenarios.strategies.allowed import Allowed
from scenarios.strategies.probes import allowed_by, arrangements, probes, swarm
from scenarios.strategies.spatial import SHAPES
from tests.scenarios.arranged import ROUND_OFF, SEARCH, SMALL, drawn
from tests.scenarios.start_gaps import start_gaps

PLANE, SPACE = (allowed_by([*probes()], space) for space in ("planar", "spatial"))
ON_BODIES = [(SPACE, "lying"), (SPACE, "on a body"), (SPACE, "sunk"), (PLANE, "on a body"), (PLANE, "sunk")]
EACH = [pytest.param(allowed, name, id=f"{allowed.space} {name}") for allowed, name in ON_BODIES]


@pytest.mark.parametrize(("allowed", "name"), EACH)
@SMALL
@given(data=st.data())
def test_every_one_is_a_valid_scene_and_comes_back_from_its_json(allowed, name, data):
    scene = data.draw(drawn(allowed, name))
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == content_hash(scene)


@SMALL
@given(scene=drawn(SPACE, "lying"))
def test_rods_lie_in_layers_without_overlap(scene):
    assert min(start_gaps(scene).values(), default=0.0) >= -ROUND_OFF
    assert all(abs(body.position[2]) >= 0.125 for body in scene.bodies)


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
@SMALL
@given(data=st.data())
def test_the_fixed_body_has_its_face_where_the_ground_was(allowed, data):
    scene = data.draw(drawn(allowed, "on a body"))
    ground, *others = scene.bodies
    assert ground.fixed and not any(body.fixed for body in others) and not scene.boundaries
    points = getattr(ground.shape, "points", None) or getattr(ground.shape, "vertices", None)
    half = max(point[-1] for point in points) if points else _half_height(ground.shape)
    assert ground.position[-1] + half == pytest.approx(0.0, abs=ROUND_OFF)


def _half_height(shape):
    return (shape.size[2] if shape.kind == "box" else shape.length) / 2.0


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
@SMALL
@given(data=st.data())
def test_what_is_sunk_is_in_the_block_and_its_upper_face_is_the_nearest(allowed, data):
    scene = data.draw(drawn(allowed, "sunk"))
    ground, body = scene.bodies
    assert min(start_gaps(scene).values()) < 0.0
    below, middle = -float(body.position[-1]), -float(ground.position[-1])
    assert ground.fixed and below < middle, "nearer to the upper face than to the lower"


@pytest.mark.parametrize("kind", ["box", "cylinder", "convex-mesh"])
def test_a_body_at_rest_stands_in_the_middle_of_a_fixed_one_of_every_kind(kind):
    def is_one(scene: Scene) -> bool:
        ground, *others = scene.bodies
        centred = any(body.position[:2] == (0.0, 0.0) and not np.any(body.velocity) for body in others)
        return ground.shape.kind == kind and centred

    assert hypothesis.find(drawn(SPACE, "on a body"), is_one, settings=SEARCH, random=Random(1))


def test_where_no_body_may_be_fixed_none_is_drawn():
    bare = Allowed(space="spatial", shapes=SPACE.shapes, boundaries=SPACE.boundaries)
    assert not {"on a body", "sunk"} & {*arrangements(bare)}


def test_half_of_the_heaps_are_of_one_kind_or_two_and_each_pair_is_as_frequent():
    found = swarm({"box", "cylinder", "sphere"})
    few = [kinds for kinds in found if len(kinds) < 3]
    assert len(few) * 2 == len(found)
    assert sorted(few) == [
        ("box",), ("box", "cylinder"), ("box", "sphere"), ("cylinder",), ("sphere",), ("sphere", "cylinder")
    ]  # fmt: skip
    assert swarm({"box"}) == [("box",), ("box",)] and set(found[0]) <= set(SHAPES)
