"""Rest: when it begins, how still it is; and what only looks like rest is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.validation.metrics.motions import (
    FLOOR,
    GROUND,
    G,
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
    values,
)

ON_GROUND = plane(block(), boundaries=(GROUND,))
OF_REST = ("rest_time", "rest_drift", "jitter_velocity", "jitter_position")
REACH = math.sqrt(0.5)


def sliding_to_rest(t: np.ndarray, stop: float = 1.0):
    """Slows down evenly from 2 m/s and stands from `stop` on."""
    v = 2.0 * np.maximum(1.0 - t / stop, 0.0)
    x = 2.0 * (np.minimum(t, stop) - np.minimum(t, stop) ** 2 / (2.0 * stop))
    return planar(t, columns(x, 0.5, 0.0), columns(v, 0.0, 0.0))


def test_a_sliding_block_rests_from_when_it_is_slower_than_a_hundredth_of_sqrt_g_l():
    found = values(ON_GROUND, sliding_to_rest(times(4.0)))
    slow = 0.01 * math.sqrt(G * 2.0 * REACH)
    assert found["rest_time"] == pytest.approx(1.0 - slow / 2.0, abs=1.0 / 240.0)
    assert [found[name] for name in OF_REST[1:]] == [0.0, 0.0, 0.0]


def test_a_spinning_disc_does_not_rest_though_its_centre_does():
    t = times(4.0)
    spinning = planar(t, columns(0.0 * t, 0.5, t), columns(0.0 * t, 0.0, 1.0))
    assert math.isnan(values(plane(disc(), boundaries=(GROUND,)), spinning)["rest_time"])


def test_the_top_of_a_flight_at_the_end_is_no_rest():
    t = times(1.0)
    rising = planar(t, columns(0.0, 1.0 + G * (t - 0.5 * t**2), 0.0), columns(0.0, G * (1.0 - t), 0.0))
    found = values(ON_GROUND, rising)
    assert all(math.isnan(found[name]) for name in OF_REST)


def test_a_swing_that_never_ends_never_rests_and_has_no_jitter():
    t = times(4.0)
    swinging = planar(t, columns(np.sin(3.0 * t), 0.5, 0.0), columns(3.0 * np.cos(3.0 * t), 0.0, 0.0))
    found = values(ON_GROUND, swinging)
    assert all(math.isnan(found[name]) for name in OF_REST)


def test_jitter_is_the_root_mean_square_of_speed_and_of_the_way_from_the_mean():
    t, A, w = times(8.0), 1e-5, 40.0 * math.pi  # 80 whole periods in the window of 4 s
    shaking = planar(t, columns(A * np.sin(w * t), 0.5, 0.0), columns(A * w * np.cos(w * t), 0.0, 0.0))
    found = values(ON_GROUND, shaking)
    assert found["jitter_velocity"] == pytest.approx(A * w / math.sqrt(2.0), rel=1e-6)
    assert found["jitter_position"] == pytest.approx(A / math.sqrt(2.0), rel=1e-6)
    assert found["rest_drift"] < 1e-15


def test_turning_counts_at_the_furthest_point():
    t, A, w = times(8.0), 1e-5, 40.0 * math.pi
    shaking = planar(t, columns(0.0, 0.5, A * np.sin(w * t)), columns(0.0, 0.0, A * w * np.cos(w * t)))
    found = values(ON_GROUND, shaking)
    assert found["jitter_velocity"] == pytest.approx(REACH * A * w / math.sqrt(2.0), rel=1e-6)
    assert found["jitter_position"] == pytest.approx(REACH * A / math.sqrt(2.0), rel=1e-6)


def test_a_creeping_block_drifts_nine_tenths_of_its_way_in_the_window():
    t, creep = times(8.0), 1e-3
    creeping = planar(t, columns(creep * t, 0.5, 0.0), columns(creep + 0.0 * t, 0.0, 0.0))
    assert values(ON_GROUND, creeping)["rest_drift"] == pytest.approx(0.9 * creep * 4.0, rel=5e-3)


def test_the_body_that_creeps_most_counts():
    t = times(8.0)
    pose = np.stack([columns(0.0 * t, 0.5, 0.0), columns(5.0 + 1e-3 * t, 0.5, 0.0)], axis=1)
    twist = np.stack([columns(0.0 * t, 0.0, 0.0), columns(1e-3 + 0.0 * t, 0.0, 0.0)], axis=1)
    scene = plane(block("a"), block("b"), boundaries=(GROUND,))
    assert values(scene, planar(t, pose, twist))["rest_drift"] == pytest.approx(3.6e-3, rel=5e-3)


def test_more_samples_in_a_noisy_moment_do_not_change_the_jitter():
    """The first half of the window shakes and is sampled ten times as often."""
    t = np.concatenate([np.arange(0.0, 4.0, 0.02), np.arange(4.0, 6.0, 0.002), np.arange(6.0, 8.01, 0.02)])
    v = np.where((t >= 4.0) & (t < 6.0), 1e-3, 0.0)
    shaking = planar(t, columns(0.0 * t, 0.5, 0.0), columns(v, 0.0, 0.0))
    assert values(ON_GROUND, shaking)["jitter_velocity"] == pytest.approx(1e-3 * math.sqrt(0.5), rel=0.01)


def test_without_gravity_or_anything_to_rest_on_there_is_no_rest_to_speak_of():
    for scene in (plane(block(), boundaries=(GROUND,), gravity=(0.0, 0.0)), plane(block())):
        assert not set(OF_REST) & set(values(scene, still((0.0, 0.5, 0.0))))


def test_a_box_that_turns_slowly_in_space_drifts_by_angle_times_reach():
    t, w = times(8.0), 1e-3
    q = columns(np.cos(w * t / 2.0), 0.0, 0.0, np.sin(w * t / 2.0))
    turning = spatial(t, columns(0.0 * t, 0.0, 0.5), np.zeros((len(t), 3)), q, columns(0.0 * t, 0.0, w))
    scene = space(box(), boundaries=(FLOOR,))
    found = values(scene, turning)
    reach = math.sqrt(0.75)
    assert found["rest_drift"] == pytest.approx(0.9 * w * 4.0 * reach, rel=5e-3)
    assert found["jitter_velocity"] == pytest.approx(w * reach)
