"""Newton's cradle: the exact history of impacts, and the scenario that carries it."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue.newtons_cradle import RADIUS, impacts, newtons_cradle


def test_without_loss_the_speed_is_handed_on_from_ball_to_ball():
    history = impacts(5, Fraction(1, 100), Fraction(1), Fraction(1))
    assert [impact.time for impact in history] == [
        Fraction(1, 100),
        Fraction(2, 100),
        Fraction(3, 100),
        Fraction(4, 100),
    ]
    assert history[-1].speeds == (0, 0, 0, 0, 1)


def test_at_nine_tenths_the_first_ball_catches_up_again_and_five_balls_meet_ten_times():
    history = impacts(5, Fraction(1, 100), Fraction(1), Fraction(9, 10))
    assert len(history) == 10
    assert float(history[-1].time) == approx(4.239724896312926, rel=1e-15)
    expected = ("0.04352508203125", "0.04537296484375", "0.047296640625", "0.0492990625", "0.81450625")
    assert history[-1].speeds == tuple(Fraction(v) for v in expected)


def test_at_one_half():
    three = impacts(3, Fraction(1, 100), Fraction(1), Fraction(1, 2))
    assert [impact.time for impact in three] == [Fraction(1, 100), Fraction(7, 300), Fraction(13, 100)]
    assert three[-1].speeds == (Fraction(13, 64), Fraction(15, 64), Fraction(9, 16))
    five = impacts(5, Fraction(1, 100), Fraction(1), Fraction(1, 2))
    assert len(five) == 10
    assert float(five[-1].time) == approx(0.2312844036697248, rel=1e-15)
    expected = ("0.15386962890625", "0.16717529296875", "0.177978515625", "0.1845703125", "0.31640625")
    assert five[-1].speeds == tuple(Fraction(v) for v in expected)


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("e", [Fraction(7, 20), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
def test_every_impact_keeps_momentum_returns_e_of_the_approach_and_leaves_the_rest_alone(n, e):
    """Momentum, Newton's law and order in the row, checked on the history and not on the rule that made it."""
    before = (Fraction(3), *[Fraction(0)] * (n - 1))
    time, x = Fraction(0), [Fraction(1, 50) * i for i in range(n)]
    history = impacts(n, Fraction(1, 50), Fraction(3), e)
    for impact in history:
        x = [p + u * (impact.time - time) for p, u in zip(x, before)]
        i = impact.i
        assert x[i] == x[i + 1]
        assert all(p <= q for p, q in pairwise(x))  # nobody passes through anybody
        assert sum(impact.speeds) == 3
        assert impact.speeds[i + 1] - impact.speeds[i] == e * (before[i] - before[i + 1])
        assert [u for k, u in enumerate(impact.speeds) if k not in (i, i + 1)] == [
            u for k, u in enumerate(before) if k not in (i, i + 1)
        ]
        time, before = impact.time, impact.speeds
    assert list(before) == sorted(before)  # so they never meet again


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_exact_motion_touches_at_each_event_and_runs_at_constant_speed_between(space):
    scenario = newtons_cradle(space=space, restitution=0.5, gap=0.01)
    truth = scenario.truth
    times = np.array([event.time for event in truth.events])
    pose = truth.pose(times)
    names = [body.name for body in scenario.scene.bodies]
    for k, event in enumerate(truth.events):
        distance = pose[k, names.index(event.b), 0] - pose[k, names.index(event.a), 0]
        assert distance == approx(2.0 * RADIUS, abs=1e-14)
    # Slopes of the poses after the last event are the final speeds; the last of them is the goal.
    end = truth.pose(np.array([times[-1] + 0.01, times[-1] + 0.02]))
    speeds = (end[1, :, 0] - end[0, :, 0]) / 0.01
    assert speeds[-1] == approx(truth.goal.value, abs=1e-12)
    assert speeds.sum() == approx(1.0, abs=1e-11)


def test_impacts_of_one_pair_are_numbered_in_order_of_time():
    events = newtons_cradle(restitution=0.5, gap=0.01).truth.events
    assert len(events) == 10
    for pair in {(event.a, event.b) for event in events}:
        own = [event for event in events if (event.a, event.b) == pair]
        assert [event.number for event in own] == list(range(1, len(own) + 1))
    assert [event.time for event in events] == sorted(event.time for event in events)


def test_impacts_too_slow_to_be_told_from_touching_are_no_events():
    """At nine tenths the sixth to tenth close at less than a hundredth of the throw."""
    events = newtons_cradle(restitution=0.9, gap=0.01).truth.events
    assert [event.time for event in events] == approx([0.01, 0.020526315789, 0.031606648199, 0.043270156])


def test_energy_is_kept_only_without_loss():
    assert "energy" in newtons_cradle().truth.invariants
    lossy = newtons_cradle(restitution=0.9).truth.invariants
    assert "energy" not in lossy and "energy-not-gained" in lossy


def test_close_to_no_loss_the_motion_is_cut_where_the_last_impacts_are_minutes_away():
    scenario = newtons_cradle(restitution=0.99)
    assert scenario.scene.duration == 5.0
    assert all(event.time < 5.0 for event in scenario.truth.events)
