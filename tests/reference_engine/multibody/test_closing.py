"""One-sided joints and ropes: when they close, how bounces end, what several of them hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from reference_engine import Link, Mechanism, SingularJointsError, simulate_mechanism
from reference_engine.multibody.joints import Coupling, Distance
from tests.effort import few

G = 9.81
HOLDS = ("accelerations", "impulses")


@pytest.mark.parametrize(("hold",), few(1, [(hold,) for hold in HOLDS]))
def test_bounces_without_end_add_up_and_the_point_rests(hold):
    """A fall of half a metre, e = 0.5: every flight takes half the time of the last one, three falls altogether."""
    floor = Coupling(first=-1, second=0, linear=1, angular=1, axis=(1.0, 0.0), one_sided=True, restitution=0.5)
    point = Link(position=(0.3, 0.5), velocity=(1.0, 0.0))
    found = simulate_mechanism(Mechanism(links=(point,), joints=(floor,)), [0.0, 1.5], hold=hold)
    fall = math.sqrt(1.0 / G)
    impacts = [event.time for event in found.events if event.kind == "impact"]
    assert impacts[:5] == pytest.approx([fall * (3.0 - 2.0 * 0.5**k) for k in range(5)], abs=1e-13)
    assert found.events[-1].kind == "holds" and found.events[-1].time == pytest.approx(3.0 * fall, abs=1e-12)
    assert found.position[-1, 0] == pytest.approx([1.8, 0.0], abs=1e-12)


@pytest.mark.parametrize("hold", HOLDS)
def test_a_point_that_falls_between_two_ropes_hangs_in_both(hold):
    ropes = [Distance(first=-1, second=0, length=math.sqrt(2.0), first_point=(x, 0.0), rope=True) for x in (-1.0, 1.0)]
    point = Link(position=(0.2, -0.3), mass=2.0)
    found = simulate_mechanism(Mechanism(links=(point,), joints=tuple(ropes)), [0.0, 1.0], hold=hold)
    assert found.position[-1, 0] == pytest.approx([0.0, -1.0], abs=1e-12)
    assert np.abs(found.reaction[-1]) == pytest.approx([G * math.sqrt(2.0)] * 2, rel=1e-9)


@pytest.mark.parametrize("hold", HOLDS)
def test_a_rod_that_falls_on_two_points_lies_on_both_whenever_it_is_looked_at(hold):
    ends = [
        Coupling(first=-1, second=0, linear=1, angular=1, axis=(1.0, 0.0), second_point=(x, 0.0), one_sided=True)
        for x in (0.5, -0.5)
    ]
    rod = Link(position=(0.0, 0.5), orientation=0.3, inertia=1.0 / 12.0, spin=0.5)
    found = simulate_mechanism(Mechanism(links=(rod,), joints=tuple(ends)), [0.0, 0.3, 0.6, 1.0], hold=hold)
    assert np.abs(found.position[-2:, 0, 1]).max() < 1e-12 and np.abs(found.orientation[-2:, 0]).max() < 1e-12
    assert found.reaction[-1] == pytest.approx([0.5 * G] * 2, rel=1e-9)


@pytest.mark.parametrize("over", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("velocity", [(0.4, 3.0), (-0.138, 4.69)])
def test_a_rope_that_gets_taut_for_a_moment_is_not_missed(velocity, over):
    """Thrown so that without the rope the point would be longer than it by `over` (m), at the most, for a moment."""

    def distance(t: float) -> float:
        return math.hypot(0.2 + velocity[0] * t, -0.3 + velocity[1] * t - 0.5 * G * t * t)

    times = np.linspace(0.15, velocity[1] / G + 0.1, 4001)
    furthest = times[np.argmax([distance(t) for t in times])]
    length = distance(furthest) - over
    taut = brentq(lambda t: distance(t) - length, 0.1, furthest, xtol=1e-15)
    point = Link(position=(0.2, -0.3), velocity=velocity)
    rope = Distance(first=-1, second=0, length=length, rope=True)
    found = simulate_mechanism(Mechanism(links=(point,), joints=(rope,)), [0.0, furthest + 0.01])
    assert found.events[0].kind == "impact" and found.joint_gap.max() < 1e-12
    assert found.events[0].time == pytest.approx(taut, abs=1e-11 / math.sqrt(over))


@pytest.mark.parametrize(("hold",), few(1, [(hold,) for hold in HOLDS]))
def test_bounces_of_a_rope_add_up_too(hold):
    """Let go inside, the point falls down to the arc of its rope; it ends as a pendulum, and turns back at its height.

    Between bounces it loses energy, and while it swings none.
    """
    rope = Distance(first=-1, second=0, length=0.5, rope=True, restitution=0.3)
    point = Link(position=(0.3, -0.2))
    times = [0.0, 0.8, 1.2, 1.6, 2.0]
    found = simulate_mechanism(Mechanism(links=(point,), joints=(rope,)), times, hold=hold)
    assert found.events[-1].kind == "holds" and found.events[-1].time < 0.8
    assert np.hypot(*found.position[1:, 0].T) == pytest.approx([0.5] * 4, abs=1e-12)
    assert np.ptp(found.energy[1:]) < 1e-12 and found.energy[1] < found.energy[0] - 0.01


def test_free_bodies_on_a_rope_are_held_however_far_they_fall():
    """A tether that falls: round-off of its ends' places grows with them."""
    ends = (Link(position=(0.0, 0.0)), Link(position=(0.3, 0.0), velocity=(0.0, 1.0)))
    rope = Distance(first=0, second=1, length=0.5, rope=True, restitution=0.3)
    found = simulate_mechanism(Mechanism(links=ends, joints=(rope,)), [0.0, 6.0])
    assert found.events[-1].kind == "holds"
    assert found.position[-1].mean(axis=0) == pytest.approx([0.15, 3.0 - 18.0 * G], abs=1e-10)


def test_a_point_between_two_rods_in_one_line_sags_by_nothing_which_no_force_can_do():
    """Two rods of a metre whose far ends are two metres apart: each can only pull along the line, gravity is across it.

    One by 1e-8 longer sags by the root of that, and swings.
    """
    point = Link(position=(1.0, 0.0))
    rods = [Distance(first=-1, second=0, length=1.0, first_point=(x, 0.0)) for x in (0.0, 2.0)]
    with pytest.raises(SingularJointsError, match=r"joints\[\d\] is open by .* no small move closes it") as caught:
        simulate_mechanism(Mechanism(links=(point,), joints=tuple(rods)), [0.0, 0.1])
    assert 0.0 < caught.value.time < 0.1 and caught.value.gap > 0.0 and not caught.value.proven
    slack = [Distance(first=-1, second=0, length=1.0 + 1e-8, first_point=(x, 0.0)) for x in (0.0, 2.0)]
    sagged = Link(position=(1.0, -math.sqrt((1.0 + 1e-8) ** 2 - 1.0)))
    found = simulate_mechanism(Mechanism(links=(sagged,), joints=tuple(slack)), [0.0, 0.1])
    assert found.position[-1, 0] == pytest.approx(sagged.position, abs=1e-12)


@pytest.mark.parametrize("up", [1e-11, 1e-9, 1e-7, 1e-5])
def test_a_point_that_leaves_its_rope_by_less_than_round_off_hangs(up):
    """Found by fuzzing: at `up` (m/s) it comes back from up^2 / 2 g, a 1e-17 m; beside it one swings fast."""
    hanging, swinging = Link(position=(0.0, -1.0), velocity=(0.0, up)), Link(position=(3.0, 0.0))
    ropes = [Distance(first=-1, second=i, length=1.0, first_point=(2.0 * i, 0.0), rope=True) for i in (0, 1)]
    found = simulate_mechanism(Mechanism(links=(hanging, swinging), joints=tuple(ropes)), [0.0, 0.1, 1.0])
    assert found.position[1:, 0] == pytest.approx(np.array([[0.0, -1.0]] * 2), abs=2.0 * up**2 + 1e-12)
    assert found.reaction[-1, 0] == pytest.approx(-G, rel=1e-9) or found.reaction[-1, 0] == pytest.approx(G, rel=1e-9)
