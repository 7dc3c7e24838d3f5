"""Tracks: smooth curves of lines and arcs, by their length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue.roller_coaster import track_of
from scenarios.scene import PlanarScene, SceneError, content_hash, parse_scene
from scenarios.track import Curve
from tests.validation.engines.planar_scenes import ball, scene

HALF = math.tan(math.pi / 4.0)  # the bulge of half a circle


def test_half_a_circle_to_the_left_goes_from_east_to_west() -> None:
    curve = Curve.of([(0.0, 0.0), (0.0, 4.0)], [HALF])
    assert curve.length == approx(2.0 * math.pi)
    point, heading = curve.at(np.array([0.0, math.pi, 2.0 * math.pi]))
    assert point == approx(np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 4.0]]), abs=1e-15)
    assert heading == approx(np.array([0.0, 0.5, 1.0]) * math.pi)


@pytest.mark.parametrize("hump", [0.75, 2.0, 4.5])
def test_what_is_off_to_one_side_is_nearest_to_where_it_was_set_off(hump: float) -> None:
    """On arcs to the left and to the right, on lines, and ahead and beyond where it goes on straight."""
    curve = Curve.of(*track_of(hump))
    assert abs(curve.kinks).max() < 1e-15
    far = np.linspace(-2.0, curve.length + 2.0, 501)
    point, heading = curve.at(far)
    left = np.column_stack([-np.sin(heading), np.cos(heading)])
    for off in (-0.3, 0.0, 0.3):
        along, distance = curve.nearest(point + off * left)
        assert along == approx(far, abs=1e-12) and distance == approx(np.full(501, abs(off)), abs=1e-12)


def test_steps_along_a_track_are_as_long_as_its_length_says() -> None:
    curve = Curve.of(*track_of(2.0))
    point, _ = curve.at(np.linspace(0.0, curve.length, 100_001))
    assert np.linalg.norm(np.diff(point, axis=0), axis=1).sum() == approx(curve.length, rel=1e-9)


def with_track(**given: Any) -> PlanarScene:
    track = {"kind": "track", "name": "t", "a": "ball", "anchor_a": (0.0, 0.0)}
    track |= {"points": ((0.0, 0.0), (1.0, 0.0), (2.0, 1.0)), "bulges": (0.0, math.tan(math.pi / 8.0))}
    return parse_scene(scene(ball(), duration=1.0).model_dump(mode="json") | {"joints": [track | given]})


def test_a_scene_with_a_track_is_of_format_2_and_comes_back_from_its_json() -> None:
    made = with_track()
    assert made.format == 2 and scene(ball(), duration=1.0).format == 1
    again = parse_scene(made.model_dump(mode="json"))
    assert again == made and content_hash(again) == content_hash(made)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bulges": (0.0,)}, "bulges: 1 given for 2 pieces; give one for each"),
        ({"points": ((0.0, 0.0), (0.0, 0.0), (1.0, 0.0))}, "points[1]: (0.0, 0.0) is where points[0] is"),
        ({"bulges": (0.0, 0.0)}, "points[1]: the curve turns there by 0.785 rad at once; allowed: 1e-06 rad"),
        ({"bulges": (0.0, 1.5)}, "bulges[1]"),
        ({"b": "ball"}, "b"),
        ({"points": ((0.0, 0.0),), "bulges": ()}, "points"),
    ],
)
def test_what_is_no_track_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SceneError) as failed:
        with_track(**given)
    assert said in str(failed.value)
