"""A box thrown across an incline: the closed form against its equation, and where it stops."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from scenarios.catalogue import scenario_of
from scenarios.catalogue.incline_throw import Throw

G = 9.81


@pytest.mark.parametrize("friction", [0.4, math.tan(0.5), 0.6, 0.05])
def test_the_path_is_that_of_its_equation(friction):
    """v' = g sin b along the fall - mu g cos b v / |v|, integrated otherwise."""

    def rate(t, y):
        brake = friction * G * math.cos(0.5) / math.hypot(y[2], y[3])
        return [y[2], y[3], G * math.sin(0.5) - brake * y[2], -brake * y[3]]

    end = solve_ivp(rate, (0.0, 1.0), (0.0, 0.0, 0.0, 3.0), method="DOP853", rtol=1e-13, atol=1e-13).y[:2, -1]
    assert Throw(0.5, friction, 3.0).ways(np.array([1.0]))[0] == pytest.approx(end, abs=1e-11)


def test_with_more_friction_than_slope_it_stops_and_with_less_it_passes_half_a_radian_from_the_fall():
    stops = Throw(0.5, 0.8, 3.0)
    assert stops.stop == pytest.approx(0.8161977541334117, rel=1e-13)
    for time in (stops.stop, 2.0):
        assert stops.ways(np.array([time]))[0] == pytest.approx([0.4180226862074932, 0.7396029190458365], abs=1e-13)
    passes = Throw(0.5, 0.4, 3.0)
    s = passes.at(np.array([0.692455120657268]))
    assert 2.0 * math.atan(math.exp(s[0])) == pytest.approx(0.5, abs=1e-12)
    assert passes.ways(np.array([0.692455120657268]))[0] == pytest.approx([0.8255841571634198, 1.342183567950714])


def test_the_scenario_says_where_the_box_is_and_how_far_across_it_gets():
    scenario = scenario_of("incline-throw:friction=0.8")
    pose = scenario.truth.pose(np.array([0.0, 1.0]))[:, 0]
    moved = pose[1, :3] - pose[0, :3]
    assert moved @ (math.cos(0.5), 0.0, -math.sin(0.5)) == pytest.approx(0.4180226862074932, abs=1e-12)
    assert moved @ (math.sin(0.5), 0.0, math.cos(0.5)) == pytest.approx(0.0, abs=1e-15)
    assert scenario.truth.goal.value == pytest.approx(0.7396029190458365, abs=1e-12)
