"""Arrangements that are exact by construction: valid, in contact, never overlapping, simple once shrunk."""

import json
import math
from random import Random

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from scenarios.boundaries import HalfPlane, HalfSpace
from scenarios.mass import bounding_radius
from scenarios.scene import Scene, content_hash, parse_scene, write_scene
from scenarios.strategies.allowed import Allowed
from scenarios.strategies.probes import arrangements
from tests.scenarios.arranged import ROUND_OFF, SEARCH, SMALL, drawn
from tests.scenarios.start_gaps import start_gaps

PLANE = Allowed(space="planar", shapes=frozenset({"polygon", "disc"}), boundaries=frozenset({"half-plane", "bowl"}))
SPACE = Allowed(
    space="spatial",
    shapes=frozenset({"box", "sphere", "capsule", "cylinder", "convex-mesh", "ellipsoid"}),
    boundaries=frozenset({"half-space", "hollow-sphere"}),
)
NAMES = ("tower", "incline", "row", "walls", "pyramid", "poised", "container")
EACH = [pytest.param(allowed, name, id=f"{allowed.space} {name}") for allowed in (PLANE, SPACE) for name in NAMES]


@pytest.mark.parametrize(("allowed", "name"), EACH)
@SMALL
@given(data=st.data())
def test_every_one_comes_back_from_its_json_and_starts_without_overlap(allowed, name, data):
    scene = data.draw(drawn(allowed, name))
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == content_hash(scene)
    assert min(start_gaps(scene).values(), default=0.0) >= -ROUND_OFF


@pytest.mark.parametrize(("allowed", "name"), EACH)
def test_shrinks_to_unit_masses_at_rest_without_friction_and_restitution(allowed, name):
    scene = hypothesis.find(drawn(allowed, name), lambda scene: True, settings=SEARCH, random=Random(1))
    assert not any(np.any(body.velocity) or np.any(body.spin) for body in scene.bodies)
    assert {body.mass for body in scene.bodies} <= {1.0, 10.0}, "a base weighs 10 kg"
    assert {(body.friction, body.restitution) for body in scene.bodies} == {(0.0, 0.0)}
    assert any(abs(gap) <= ROUND_OFF for gap in start_gaps(scene).values()), "something is in contact"


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
def test_of_what_is_not_allowed_nothing_is_drawn(allowed):
    balls = Allowed(space=allowed.space, shapes=allowed.shapes & {"disc", "sphere"}, boundaries=allowed.boundaries)
    for strategy in arrangements(balls).values():
        scene = hypothesis.find(strategy, lambda scene: True, settings=SEARCH, random=Random(1))
        assert {body.shape.kind for body in scene.bodies} <= balls.shapes
    bare = Allowed(space=allowed.space, shapes=allowed.shapes)
    assert arrangements(bare) == {}


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
def test_on_an_incline_a_body_just_slides_or_just_stays(allowed):
    """Friction is 0, 0.9, 1.1 or 2 of the tangent; the lowest body is in contact with the incline."""
    for share in (0.9, 1.1):

        def is_near(scene: Scene, share: float = share) -> bool:
            (slope,) = scene.boundaries
            assert isinstance(slope, (HalfPlane, HalfSpace))
            tangent = abs(slope.normal[0] / slope.normal[-1])
            return math.isclose(slope.friction, share * tangent, rel_tol=1e-12)

        assert hypothesis.find(drawn(allowed, "incline"), is_near, settings=SEARCH, random=Random(1))


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
def test_towers_have_narrow_on_wide_wide_on_narrow_heavy_on_light_and_edges_beyond_edges(allowed):
    def pair(scene: Scene, condition) -> bool:
        return len(scene.bodies) > 1 and condition(*scene.bodies[:2])

    wanted = {
        "wide on narrow": lambda a, b: bounding_radius(b.shape) > 1.9 * bounding_radius(a.shape),
        "narrow on wide": lambda a, b: bounding_radius(b.shape) < 0.6 * bounding_radius(a.shape),
        "heavy on light": lambda a, b: b.mass >= 9.9 * a.mass,
        "beyond the edge": lambda a, b: b.position[0] != a.position[0],
    }
    for condition in wanted.values():
        assert hypothesis.find(
            drawn(allowed, "tower"),
            lambda scene, condition=condition: pair(scene, condition),
            settings=SEARCH,
            random=Random(1),
        )


@SMALL
@given(scene=drawn(SPACE, "poised"))
def test_what_is_poised_has_its_centre_above_its_only_point_or_edge(scene):
    """It stands as high as its furthest point is from its centre."""
    body = scene.bodies[1] if scene.bodies[0].name == "base" else scene.bodies[0]
    base = scene.bodies[0].shape.size[2] if body is not scene.bodies[0] else 0.0
    height = body.position[2] - base
    size = body.shape.size if body.shape.kind == "box" else (2.0 * body.shape.radius, 0.0, body.shape.length)
    heights = (0.5 * math.hypot(*size), 0.5 * math.hypot(size[0], size[2]))
    assert any(height == approx(found, rel=1e-12) for found in heights)
