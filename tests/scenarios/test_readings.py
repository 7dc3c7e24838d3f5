"""Values and crossings read off samples 20 ms apart, as a trajectory has them."""

import math

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue.shared.readings import BEFORE, crossings, value_at

TIME = np.arange(0.0, 5.0, 1.0 / 48.0)


def test_a_value_between_samples_is_read_to_the_sixth_order_of_their_distance():
    """At most 225/64 h^6 x^(6) / 720 = 4e-9 for sin 2t amid samples; a chord would be off by 2e-4."""
    for at in (0.06, 2.3456, 4.9):
        assert value_at(TIME, np.sin(2.0 * TIME), at) == approx(math.sin(2.0 * at), abs=4e-9)
    for at in (0.0, 0.013, 4.97):
        assert value_at(TIME, np.sin(2.0 * TIME), at) == approx(math.sin(2.0 * at), abs=4e-8)


def test_a_value_beyond_the_samples_is_not_known():
    assert math.isnan(value_at(TIME, TIME, 5.5))
    assert math.isnan(value_at(TIME[:2], TIME[:2], 0.01))


def test_crossings_of_a_sine_are_found_each_way():
    wave = np.sin(2.0 * TIME)
    assert crossings(TIME, wave, 0.0, rising=False) == approx([math.pi / 2, 3 * math.pi / 2], abs=1e-8)
    assert crossings(TIME, wave, 0.5, rising=True)[0] == approx(math.pi / 12, abs=1e-7)


def test_a_crossing_at_an_impact_is_read_from_the_motion_before_it():
    """After the kink the speed is another; the chord across it would be late."""
    time = np.arange(0.0, 1.0, 0.01)
    kink = 0.4567
    value = np.where(time < kink, 1.0 - (time / kink) ** 2, -0.2 * (time - kink))
    assert crossings(time, value, 0.0, rising=False, nodes=BEFORE) == approx([kink], abs=1e-12)
    assert abs(crossings(time, value, 0.0, rising=False)[0] - kink) > 1e-4


def test_two_samples_at_one_time_about_an_impact_are_one_pose():
    time = np.array([0.0, 0.1, 0.2, 0.25, 0.25, 0.3, 0.4])
    value = np.array([1.0, 0.6, 0.2, 0.0, 0.0, -0.1, -0.3])
    assert crossings(time, value, 0.0, rising=False, nodes=BEFORE) == approx([0.25])


@pytest.mark.parametrize("rising", [True, False])
def test_a_motion_that_does_not_reach_the_level_has_no_crossing(rising):
    assert crossings(TIME, np.sin(TIME), 2.0, rising=rising) == []
