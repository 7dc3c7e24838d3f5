"""Bouncing in closed form against exact rational sums and against an integration that locates its impacts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from scenarios.catalogue.bouncing import (
    apex_after_first_impact,
    bounce_height,
    bouncing_ball,
    bouncing_block,
    impact_time,
    rest_time,
)

coefficients = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.01, 1.0), st.floats(0.0, 1e-12).map(lambda d: 1 - d))
heights = st.floats(0.01, 100.0)


def test_zenos_sum_ends_when_it_should():
    assert rest_time(2.0, 0.8) == pytest.approx(5.746957711326908, rel=1e-15)


@given(e=coefficients, h=heights, k=st.integers(1, 40))
def test_impact_times_are_the_sum_of_the_flights(e, h, k):
    """t1 (1 + 2 e + 2 e^2 + ...), summed in exact rational arithmetic."""
    flights = 1 + 2 * sum((Fraction(e) ** i for i in range(1, k)), Fraction(0))
    assert float(impact_time(np.array(k), h, e)) == pytest.approx(math.sqrt(2.0 * h / 9.81) * float(flights), rel=1e-13)


@given(e=coefficients, h=heights, t=st.floats(0.0, 50.0))
def test_height_is_that_of_the_flight_since_the_last_impact(e, h, t):
    """Walked through flight by flight; round-off grows with the number of impacts passed."""
    t1 = math.sqrt(2.0 * h / 9.81)
    start, up = t1, e * 9.81 * t1
    if t < t1:
        expected = h - 0.5 * 9.81 * t**2
    elif t >= rest_time(h, e):
        expected = 0.0
    else:
        for _ in range(3000):
            if t < start + 2.0 * up / 9.81:
                break
            start, up = start + 2.0 * up / 9.81, e * up
        since = t - start
        expected = max(0.0, up * since - 0.5 * 9.81 * since**2)
    assert float(bounce_height(np.array([t]), h, e)[0]) == pytest.approx(expected, abs=1e-11 * max(1.0, h))


def test_an_integration_that_locates_its_impacts_finds_the_same_motion():
    def fall(t, state):
        return state[1], -9.81

    def ground(t, state):
        return state[0]

    ground.terminal, ground.direction = True, -1
    time, state, e = 0.0, (1.0, 0.0), 0.9
    for k in range(1, 9):
        flight = solve_ivp(fall, (time, 9.0), state, method="DOP853", events=ground, dense_output=True, max_step=0.1)
        landing = float(flight.t_events[0][0])
        assert landing == pytest.approx(float(impact_time(np.array(k), 1.0, e)), abs=1e-12)
        between = np.linspace(time, landing, 7)[1:-1]
        assert bounce_height(between, 1.0, e) == pytest.approx(flight.sol(between)[0], abs=1e-12)
        time, state = landing, (1e-15, -e * flight.y_events[0][0][1])


@pytest.mark.parametrize("family", [bouncing_ball, bouncing_block])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9, 1.0])
def test_events_are_impacts_that_engines_can_tell_apart(family, e):
    """The pose touches the ground at each, at a tenth of a second or more from the one before."""
    scenario = family(restitution=e)
    times = np.array([event.time for event in scenario.truth.events])
    assert scenario.truth.pose(times)[:, 0, 1] == pytest.approx(0.5, abs=1e-12)
    assert np.all(np.diff(times) >= 0.1)
    assert [event.number for event in scenario.truth.events] == list(range(1, len(times) + 1))
    assert len(times) == {0.0: 1, 0.5: 4, 0.9: 10, 1.0: 10}[e]


@pytest.mark.parametrize(("e", "apex"), [(0.0, 0.0), (0.5, 0.25), (0.9, 0.81), (1.0, 1.0)])
def test_the_goal_is_the_first_apex(e, apex):
    assert bouncing_ball(restitution=e).truth.goal.value == pytest.approx(apex, rel=1e-15)
    assert bouncing_block(restitution=e).truth.goal.value == pytest.approx(apex, rel=1e-15)


# --- reading the apex off an engine's motion -------------------------------------------------------


def sampled(e: float, *, end: float = 2.0, rate: float = 50.0) -> tuple[np.ndarray, np.ndarray]:
    time = np.arange(round(end * rate) + 1) / rate
    return time, bounce_height(time, 1.0, e)


@given(e=st.floats(0.3, 1.0), rate=st.floats(30.0, 300.0))
def test_the_apex_between_samples_is_that_of_the_parabola(e, rate):
    assert apex_after_first_impact(*sampled(e, rate=rate), 1.0) == pytest.approx(e**2, abs=1e-9)


def test_a_ball_that_hangs_in_the_air_or_is_still_rising_has_no_apex():
    time = np.arange(101) / 50.0
    assert math.isnan(apex_after_first_impact(time, np.ones(101), 1.0))
    assert math.isnan(apex_after_first_impact(*sampled(1.0, end=0.6), 1.0))


def test_a_ball_that_does_not_bounce_at_all_has_its_apex_on_the_ground():
    assert apex_after_first_impact(*sampled(0.0), 1.0) == pytest.approx(0.0, abs=1e-12)


def test_a_ball_that_starts_with_a_step_at_rest_and_repeats_the_time_of_impact_is_read_all_the_same():
    """Chipmunk moves before it accelerates; an event-driven engine samples before and after an impact."""
    time, height = sampled(0.9, rate=60.0)
    t1 = float(impact_time(np.array(1), 1.0, 0.9))
    i = int(np.searchsorted(time, t1))
    time, height = np.insert(time, i, [t1, t1]), np.insert(height, i, [0.0, 0.0])
    height[1] = height[0]
    assert apex_after_first_impact(time, height, 1.0) == pytest.approx(0.81, abs=1e-9)
