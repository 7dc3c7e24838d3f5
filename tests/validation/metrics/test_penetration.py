"""Penetration and gap, by our own geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference_engine.geometry import planar_proximity, spatial_proximity
from scenarios.scene import ArcPolygon, Bowl, HalfPlane, HollowSphere, Revolute
from tests.validation.metrics.motions import (
    FLOOR,
    GROUND,
    G,
    ball,
    block,
    box,
    columns,
    disc,
    planar,
    plane,
    space,
    spatial,
    still,
    times,
    truth,
    values,
)

ON_GROUND = plane(block(), boundaries=(GROUND,))


def sinking(t: np.ndarray, speed: float = 0.01):
    return planar(t, columns(0.0, 0.5 - speed * t, 0.0), columns(0.0 * t, -speed, 0.0))


def test_of_a_lens_on_its_round_side_the_lowest_point_counts_however_it_is_turned():
    """Two arcs with a sagitta of 25 cm over a chord of 1 m: radius 62.5 cm, its centre 37.5 cm above the middle."""
    lens = plane(block(shape=ArcPolygon(vertices=((-0.5, 0.0), (0.5, 0.0)), bulges=(0.5, 0.5))), boundaries=(GROUND,))
    for angle in (0.0, 0.4, -0.6, math.pi):
        height = 0.625 - 0.375 * abs(math.cos(angle)) - 0.01
        found = values(lens, still((3.0, height, angle)))
        assert found["penetration_max"] == pytest.approx(0.01, abs=1e-15)
        assert found["gap_final"] == pytest.approx(-0.01, abs=1e-15)


def test_a_block_that_sinks_at_a_steady_pace_is_deepest_at_the_end_and_half_as_deep_on_average():
    found = values(ON_GROUND, sinking(times(4.0)))
    assert found["penetration_max"] == pytest.approx(0.04)
    assert found["penetration_final"] == pytest.approx(0.04)
    assert found["penetration_mean"] == pytest.approx(0.02)
    assert found["gap_final"] == pytest.approx(-0.04)


def test_the_mean_is_over_time_not_over_samples():
    often_at_the_end = np.concatenate([np.linspace(0.0, 3.9, 40), np.linspace(3.9, 4.0, 400)])
    assert values(ON_GROUND, sinking(often_at_the_end))["penetration_mean"] == pytest.approx(0.02)


def test_a_block_above_the_ground_has_a_gap_and_no_penetration():
    found = values(ON_GROUND, still((0.3, 0.504, 0.0)))
    assert found["gap_final"] == pytest.approx(0.004)
    assert [found[f"penetration_{when}"] for when in ("max", "mean", "final")] == [0.0, 0.0, 0.0]


def test_where_nothing_is_near_at_the_end_there_is_no_final_gap():
    assert math.isnan(values(ON_GROUND, still((0.0, 2.0, 0.0)))["gap_final"])


def test_the_deepest_pair_counts():
    scene = plane(block("low"), block("high"), boundaries=(GROUND,))
    found = values(scene, still([(0.0, 0.499, 0.0), (0.0, 1.492, 0.0)]))
    assert found["penetration_max"] == pytest.approx(0.007)


def test_bodies_that_may_not_touch_do_not_penetrate():
    apart = plane(block("a", group=1), block("b", group=1))
    joined = plane(
        block("a"), block("b"), joints=(Revolute(name="pin", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0)),)
    )
    for scene in (apart, joined, plane(block("a"))):
        bodies = len(scene.bodies)
        assert "penetration_max" not in values(scene, still(np.zeros((bodies, 3))))
    assert values(plane(block("a"), block("b")), still(np.zeros((2, 3))))["penetration_max"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("scene", "pose", "depth"),
    [
        (plane(disc(), boundaries=(HalfPlane(name="roof", point=(0.0, 3.0), normal=(0.0, -1.0)),)), (7, 2.6, 1), 0.1),
        (plane(disc(), boundaries=(Bowl(name="bowl", center=(1.0, 2.0), radius=2.0),)), (1.0, 0.45, 0.0), 0.05),
        (plane(disc(), boundaries=(HalfPlane(name="slope", normal=(0.6, 0.8)),)), (0.27, 0.36, 0.0), 0.05),
    ],
)
def test_boundaries_stand_where_the_scene_has_them(scene, pose, depth):
    assert values(scene, still(pose))["penetration_max"] == pytest.approx(depth)


@pytest.mark.parametrize(
    ("scene", "center", "depth"),
    [
        (space(box(), boundaries=(FLOOR,)), (3.0, 4.0, 0.48), 0.02),
        (space(ball(), boundaries=(FLOOR,)), (3.0, 4.0, 0.48), 0.02),
        (space(ball(), boundaries=(HollowSphere(name="s", center=(1.0, 0.0, 0.0), radius=2.0),)), (2.6, 0, 0), 0.1),
    ],
)
def test_in_space_too(scene, center, depth):
    t = times(1.0)
    motion = spatial(t, np.tile(center, (len(t), 1)), np.zeros((len(t), 3)))
    assert values(scene, motion)["penetration_max"] == pytest.approx(depth)


def test_a_fixed_box_is_ground_too():
    scene = space(box(), box("ground", size=(40.0, 40.0, 2.0), fixed=True, position=(0.0, 0.0, -1.0)))
    t = times(0.1)
    rest = np.zeros((len(t), 2, 3))
    position = rest + np.array([(0.0, 0.0, 0.49), (0.0, 0.0, -1.0)])
    motion = spatial(t, np.zeros((len(t), 3)), np.zeros((len(t), 3)))
    motion = type(motion)(
        time=motion.time, position=position, orientation=np.repeat(motion.orientation, 2, axis=1),
        velocity=rest, spin=rest, dt=motion.dt, velocity_lag=0.0,
    )  # fmt: skip
    assert values(scene, motion)["penetration_final"] == pytest.approx(0.01)


# --- a fault planted in the narrow phase turns metrics red, not only a unit test --------------------------------------


def with_the_sign_of_the_gap_turned(sweep):
    def faulty(*arguments):
        total = sweep(*arguments)
        arguments[-1][:total, 0] *= -1.0
        return total

    return faulty


def with_the_normal_turned(sweep, dimension):
    def faulty(*arguments):
        total = sweep(*arguments)
        arguments[-1][:total, 1 : 1 + dimension] *= -1.0
        return total

    return faulty


def test_with_a_wrong_sign_in_the_planar_narrow_phase_a_resting_block_is_seen_to_penetrate(monkeypatch):
    resting = still((0.0, 0.505, 0.0))
    law = 1e-3
    assert values(ON_GROUND, resting)["penetration_max"] <= law
    monkeypatch.setattr(planar_proximity, "sweep", with_the_sign_of_the_gap_turned(planar_proximity.sweep))
    found = values(ON_GROUND, resting)
    assert min(found["penetration_max"], found["penetration_mean"], found["penetration_final"]) > law


def test_with_a_wrong_sign_in_the_spatial_narrow_phase_too(monkeypatch):
    scene, t = space(box(), boundaries=(FLOOR,)), times(0.1)
    resting = spatial(t, columns(0.0 * t, 0.0, 0.505), np.zeros((len(t), 3)))
    assert values(scene, resting)["penetration_max"] == 0.0
    monkeypatch.setattr(spatial_proximity, "sweep", with_the_sign_of_the_gap_turned(spatial_proximity.sweep))
    assert values(scene, resting)["penetration_max"] == pytest.approx(0.005)


def test_with_a_wrong_normal_no_impact_is_found_where_the_truth_has_one(monkeypatch):
    from scenarios.truth import Event

    t = times(1.0)
    hit = np.sqrt(2.0 / G)
    v = -G * t + 2.0 * G * hit * (t > hit)
    y = np.where(t > hit, G * hit * (t - hit) - 0.5 * G * (t - hit) ** 2, 1.0 - 0.5 * G * t**2)
    bouncing = planar(t, columns(0.0, 0.5 + y, 0.0), columns(0.0, v, 0.0))
    scene = plane(disc(), boundaries=(GROUND,))
    expected = truth(events=(Event(a="ball", b="ground", number=1, time=float(hit)),))
    assert values(scene, bouncing, expected)["truth_error_event_time"] < 1e-9
    monkeypatch.setattr(planar_proximity, "sweep", with_the_normal_turned(planar_proximity.sweep, 2))
    assert math.isnan(values(scene, bouncing, expected)["truth_error_event_time"])
