"""Motion with events: bounces and dips whose times have closed forms."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from reference_engine.events import Segment, doubled, first_fall, first_zero, follow

G, E, HEIGHT = 9.81, 0.5, 1.0


class Ball:
    """Dropped from HEIGHT on the ground, and back up by E, in steps of 0.3 s."""

    def __init__(self):
        self.time, self.state, self.impacts, self.states = 0.0, np.array([HEIGHT, 0.0]), [], []

    def segment(self, end):
        start, (x, v) = self.time, self.state
        return Segment(end, lambda time: np.array([x + v * (t := time - start) - 0.5 * G * t * t, v - G * t]))

    def begin(self):
        return self.segment(0.0)

    def step(self, until):
        segment = self.segment(self.time + 0.3)
        start, before = self.time, self.state
        event = first_fall(lambda _, state: state[:1], start, before, segment, 1e-14)
        self.time, self.state = segment.end, segment.at(segment.end)
        return segment._replace(event=event)

    def resolve(self, time, state):
        self.impacts.append(time)
        self.time, self.state = time, np.array([0.0, -E * state[1]])
        return self.segment(time)

    def sample(self, time, state):
        self.states.append(state)


def test_a_ball_bounces_at_the_times_of_the_closed_form():
    ball, fall = Ball(), math.sqrt(2.0 * HEIGHT / G)
    follow(ball, [0.0, 0.1, 1.2])
    exact = [fall, fall * (1.0 + 2.0 * E), fall * (1.0 + 2.0 * E + 2.0 * E * E)]
    assert ball.impacts == pytest.approx(exact, abs=1e-14)
    assert ball.states[1] == pytest.approx([HEIGHT - 0.005 * G, -0.1 * G], abs=1e-15)
    late, up = 1.2 - exact[-1], E**3 * G * fall
    assert ball.states[2] == pytest.approx([up * late - 0.5 * G * late**2, up - G * late], abs=1e-13)


def test_samples_move_no_impact():
    few, many = Ball(), Ball()
    follow(few, [1.2])
    follow(many, np.linspace(0.0, 1.2, 100))
    assert few.impacts == many.impacts


def test_an_event_at_a_sample_is_behind_it():
    fall = Ball()
    follow(fall, [1.0])
    ball = Ball()
    follow(ball, [fall.impacts[0]])
    (state,) = ball.states
    assert state[1] == pytest.approx(E * math.sqrt(2.0 * G * HEIGHT), rel=1e-14)


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6])
def test_what_falls_below_0_for_a_small_part_of_a_step_is_found(depth):
    """(t - 0.37)^2 - depth^2 is below 0 for 2 depth of a step of 1, between all five nodes."""
    segment = Segment(1.0, lambda time: np.array([time]))
    found = first_fall(lambda _, state: (state - 0.37) ** 2 - depth**2, 0.0, np.zeros(1), segment, 0.0)
    assert found == pytest.approx(0.37 - depth, abs=1e-15 / depth)


def test_what_stays_above_0_is_no_event():
    segment = Segment(1.0, lambda time: np.array([time]))
    assert first_fall(lambda _, state: (state - 0.37) ** 2 + 1e-6, 0.0, np.zeros(1), segment, 0.0) is None


def test_the_first_of_several_guards_is_the_event():
    segment = Segment(1.0, lambda time: np.array([time]))
    found = first_fall(lambda _, state: np.append(0.9 - state, 0.4 - state), 0.0, np.zeros(1), segment, 0.0)
    assert found == pytest.approx(0.4, abs=1e-15)


@pytest.mark.parametrize(("gap", "rate", "falls"), [(1.0, 0.0, G), (0.2, 3.0, G), (0.2, -3.0, G), (0.5, -2.0, 0.0)])
def test_a_body_thrown_up_or_down_comes_to_the_ground_at_the_root_of_its_parabola(gap, rate, falls):
    time = first_zero(gap, rate, falls)
    assert time > 0.0
    assert gap + rate * time - 0.5 * falls * time**2 == pytest.approx(0.0, abs=1e-14)


def test_a_gap_that_opens_without_a_force_never_closes():
    assert first_zero(0.1, 0.0, 0.0) == first_zero(0.1, 1.0, 0.0) == math.inf


def test_a_log_that_grows_keeps_what_is_in_it():
    @dataclass
    class Log:
        grid: np.ndarray
        impulse: np.ndarray

    more = doubled(Log(np.arange(3.0), np.arange(6.0).reshape(3, 2)), "grid")
    assert more.grid.tolist() == [0.0, 1.0, 2.0]
    assert more.impulse.shape == (6, 2)
    assert more.impulse[:3].tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
