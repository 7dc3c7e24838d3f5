"""A similar scene is the scene in other axes and units: back again it is itself, and gaps are as many times as wide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.catalogue import scenario_of
from scenarios.scene import ArcPolygon, PlanarBody, PlanarScene, Scene, Spring, Thruster, Track, same_scene
from scenarios.similarity import inverse, similar, similarity
from scenarios.strategies import planar_scenes, spatial_scenes
from tests.scenarios.start_gaps import start_gaps
from validation.tools.fuzzing.twins import FACTOR, SHIFT, TURN

CHANGES: dict[str, dict[str, Any]] = {
    "turned": {"turn": TURN},
    "mirrored": {"mirrors": True},
    "turned and mirrored": {"turn": TURN, "mirrors": True},
    "moved": {"shift": SHIFT},
    "in other units": {"length": FACTOR, "time": 3.0, "mass": 5.0},
    "all of it": {"turn": TURN, "mirrors": True, "shift": SHIFT, "boost": (1.0, 2.0, 3.0), "length": 3.0, "time": 0.5},
}
NEAR = 1e-3  # m
changes = st.sampled_from(sorted(CHANGES))


@given(scene=planar_scenes() | spatial_scenes(), change=changes)
def test_back_again_a_scene_is_itself(scene: Scene, change: str) -> None:
    by = similarity(scene.dimension, **CHANGES[change])
    assert same_scene(similar(similar(scene, by), inverse(by)), scene)


@given(scene=planar_scenes() | spatial_scenes(), change=changes)
def test_every_gap_is_as_many_times_as_wide(scene: Scene, change: str) -> None:
    """By the geometry that measures engines, which knows nothing of all this."""
    by = similarity(scene.dimension, **CHANGES[change])
    before, after = start_gaps(scene), start_gaps(similar(scene, by))
    close = {pair for pair, gap in before.items() if gap < NEAR}  # further ones may be near in one of both
    assert close <= after.keys()
    for pair in before.keys() & after.keys():
        assert after[pair] == pytest.approx(by.length * before[pair], abs=1e-9 * by.length)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("word", ["slider-crank", "double-pendulum", "sphere-in-sphere", "free-tumble"])
def test_scenes_with_joints_and_walls_come_back_too(word: str, change: str) -> None:
    scene = scenario_of(word).scene
    by = similarity(scene.dimension, **CHANGES[change])
    assert same_scene(similar(similar(scene, by), inverse(by)), scene)


def test_arcs_bulge_outward_and_tracks_turn_the_other_way_in_a_mirror() -> None:
    half_moon = ArcPolygon(vertices=((-1.0, 0.0), (0.0, -1.0), (1.0, 0.0), (0.0, 1.0)), bulges=(0.3, 0.1, -0.2, 0.0))
    body = PlanarBody(name="moon", shape=half_moon, mass=1.0, inertia=1.0)
    track = Track(name="rail", a="moon", anchor_a=(0.0, 0.0), points=((0.0, 0.0), (1.0, 1.0)), bulges=(0.25,))
    scene = PlanarScene(duration=1.0, bodies=(body,), joints=(track,))
    mirrored = similar(scene, similarity(2, mirrors=True))
    assert mirrored.bodies[0].shape.vertices == ((0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0))
    assert mirrored.bodies[0].shape.bulges == (-0.2, 0.1, 0.3, 0.0)
    assert mirrored.joints[0].points == ((0.0, 0.0), (-1.0, 1.0)) and mirrored.joints[0].bulges == (-0.25,)
    assert same_scene(similar(mirrored, similarity(2, mirrors=True)), scene)


def test_forces_are_those_of_the_other_units() -> None:
    """Newton's second law in both: k x / m, d v / m, F / m and c |v| v / m scale as an acceleration does."""
    square = PlanarBody.model_validate({"name": "box", "shape": {"kind": "disc", "radius": 0.5}, "mass": 2.0})
    spring = Spring(a="box", anchor_a=(0.0, 0.0), anchor_b=(1.0, 0.0), stiffness=7.0, damping=0.3)
    thruster = Thruster(body="box", anchor=(0.1, 0.0), force=(3.0, 0.0), profile=((0.0, 1.0), (1.0, 2.0)))
    scene = PlanarScene(
        duration=1.0, bodies=(square,), springs=(spring,), thrusters=(thruster,),
        damping={"linear": 0.2, "angular": 0.4, "quadratic": 0.6},
    )  # fmt: skip
    by = similarity(2, length=3.0, time=5.0, mass=7.0)
    other, acceleration, rate = similar(scene, by), 3.0 / 5.0**2, 1.0 / 5.0**2
    m, M = square.mass, other.bodies[0].mass
    assert other.springs[0].stiffness * 3.0 / M == pytest.approx(acceleration * 7.0 / m)
    assert other.springs[0].damping * by.speed / M == pytest.approx(acceleration * 0.3 / m)
    assert other.thrusters[0].force[0] / M == pytest.approx(acceleration * 3.0 / m)
    assert other.thrusters[0].profile[1] == (5.0, 2.0)
    assert other.damping.linear * by.speed / M == pytest.approx(acceleration * 0.2 / m)
    assert other.damping.quadratic * by.speed**2 / M == pytest.approx(acceleration * 0.6 / m)
    assert other.damping.angular / 5.0 / (M * 3.0**2) == pytest.approx(rate * 0.4 / m)
    assert np.allclose(other.gravity, acceleration * np.array(scene.gravity), rtol=1e-15)
