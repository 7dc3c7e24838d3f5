"""Impacts: how many, and when, in the motions of exact, half-step and soft engines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from reference_engine import simulate
from scenarios.scene import Bowl, Spring
from scenarios.truth import Event
from tests.reference_engine.planar.worlds import rocking
from tests.validation.metrics.motions import (
    DT,
    FLOOR,
    GROUND,
    G,
    block,
    box,
    columns,
    disc,
    euler,
    measured,
    planar,
    plane,
    scenario,
    space,
    spatial,
    still,
    times,
    truth,
    values,
)
from tests.validation.metrics.test_energy import matrix
from validation.metrics.gap_rates import gap_rates
from validation.metrics.impact import gap_and_rate, hermite_root, impacts
from validation.metrics.observation import Observation

BALL = plane(disc(), boundaries=(GROUND,))
BLOCK = plane(block(), boundaries=(GROUND,))
HEIGHT, E = 1.0, 0.7


def impact_times(count: int) -> np.ndarray:
    """Of a ball dropped from HEIGHT that returns E of its speed each time."""
    first = math.sqrt(2.0 * HEIGHT / G)
    return first * (1.0 + 2.0 * np.cumsum(np.concatenate([[0.0], E ** np.arange(1, count)])))


def bounce(t: np.ndarray, rest: float = 0.5):
    """Height of the centre and velocity of that ball, exact; `t` may hold an impact twice, before and after."""
    hits = impact_times(12)
    number = np.searchsorted(hits, t, side="left")
    repeated = np.flatnonzero(np.diff(t) == 0.0) + 1
    number[repeated] += 1
    since = t - np.where(number > 0, hits[number - 1], 0.0)
    launch = np.where(number > 0, math.sqrt(2.0 * G * HEIGHT) * E**number, 0.0)
    start = np.where(number > 0, 0.0, HEIGHT)
    return rest + start + launch * since - 0.5 * G * since**2, launch - G * since


def events(count: int, shift: float = 0.0):
    hits = impact_times(count)
    return truth(events=tuple(Event(a="ball", b="ground", number=k + 1, time=t + shift) for k, t in enumerate(hits)))


def test_every_impact_of_a_bouncing_ball_is_found_to_round_off_where_the_motion_is_exact():
    t = times(2.0)
    y, v = bounce(t)
    found = measured(BALL, planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0)), events(4))
    assert found["impact_count"].value == 4.0  # the fifth would be at 2.05 s
    assert found["truth_error_event_time"].value < 1e-12
    assert found["truth_error_event_time"].resolution == pytest.approx(DT)


def test_of_an_engine_that_samples_before_and_after_an_impact_it_is_exact_and_resolved():
    t = np.sort(np.concatenate([np.arange(0.0, 2.0, 0.02), impact_times(5), impact_times(5)]))
    y, v = bounce(t)
    found = measured(BALL, planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0), dt=0.02), events(5))
    assert found["truth_error_event_time"].value < 1e-12
    assert found["truth_error_event_time"].resolution == 0.0


@pytest.mark.parametrize("poses_first", [True, False])
def test_in_half_step_integrators_the_first_impact_is_the_one_of_their_own_parabola(poses_first):
    """Their parabola starts with g dt/2 too much or too little, which shifts the impact by dt/2."""
    turned = euler(
        (0.0, 1.5), (0.0, 0.0), 200, poses_first=poses_first,
        bounce=lambda x, v: np.array([0.0, -E * v[1]]) if x[1] <= 0.5 and v[1] < 0.0 else None,
    )  # fmt: skip
    shift = DT / 2.0 if poses_first else -DT / 2.0
    first = measured(BALL, turned, events(1, shift))["truth_error_event_time"]
    higher = G * DT**2 / 8.0  # the top of that parabola, half a step away, above the start
    assert first.value == pytest.approx(higher / math.sqrt(2.0 * G * HEIGHT), rel=1e-2)
    assert values(BALL, turned)["impact_count"] == 1.0


def test_an_engine_that_turns_the_ball_round_above_the_ground_is_timed_where_it_turns():
    skin = 0.015
    t = times(0.6)
    hit = t[100]  # the velocity jumps at a sample's pose, as in semi-implicit Euler
    y = 0.5 + skin + np.abs(t - hit) * 2.0
    v = np.where(t <= hit, -2.0, 2.0)
    turned = planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0), lag=-DT / 2.0)
    found = measured(plane(disc(), boundaries=(GROUND,), gravity=(0.0, 0.0)), turned,
                     truth(events=(Event(a="ground", b="ball", number=1, time=hit),)))  # fmt: skip
    assert found["impact_count"].value == 1.0
    assert found["truth_error_event_time"].value < 1e-12


def test_a_soft_contact_that_takes_eight_steps_is_one_impact_timed_where_it_begins():
    t = times(1.0)
    hit = 0.3 + 0.4 * DT
    depth = 3.0 * 8 * DT / math.pi  # of a half sine at 3 m/s over eight steps
    phase = np.clip((t - hit) / (8 * DT), 0.0, 1.0) * math.pi
    y = np.where(t < hit, 3.0 * (hit - t), np.where(phase < math.pi, -depth * np.sin(phase), 3.0 * (t - hit - 8 * DT)))
    v = -3.0 * np.cos(phase)
    scene = plane(disc(), boundaries=(GROUND,), gravity=(0.0, 0.0))
    soft = planar(t, columns(0.0, 0.5 + y, 0.0), columns(0.0, v, 0.0))
    found = measured(scene, soft, truth(events=(Event(a="ball", b="ground", number=1, time=hit),)))
    assert found["impact_count"].value == 1.0
    assert found["truth_error_event_time"].value < 0.1 * DT


def test_an_impact_that_does_not_happen_is_not_a_number_never_a_good_value():
    assert math.isnan(values(BALL, still((0.0, 0.5, 0.0)), events(1))["truth_error_event_time"])
    t = times(1.0)
    y, v = bounce(t)
    motion = planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0))
    assert values(BALL, motion, events(1))["truth_error_event_time"] < 1e-12
    assert math.isnan(values(BALL, motion, events(2))["truth_error_event_time"])  # at 1.08 s


def test_a_missed_impact_shifts_the_numbers_of_those_after_it():
    t = times(2.0)
    y, v = bounce(t)
    second_only = truth(events=(Event(a="ball", b="ground", number=1, time=float(impact_times(2)[1])),))
    found = values(BALL, planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0)), second_only)
    assert found["truth_error_event_time"] == pytest.approx(np.diff(impact_times(2))[0], rel=1e-9)


# --- what is one impact and what is none ----------------------------------------------------------------------------


def test_a_block_that_lands_flat_on_two_corners_has_one_impact():
    t = times(1.0)
    y, v = bounce(t)
    found = values(BLOCK, planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0)))
    assert found["impact_count"] == np.sum(impact_times(12) < 1.0)


def test_every_impact_of_a_block_that_rattles_from_corner_to_corner_is_found():
    """Samples just before and just after each: those of more than the floor of 1 mm/s, and no others."""
    motion = simulate(rocking(), 20.0, DT)
    scene = plane(block(height=3.0), boundaries=(GROUND,), gravity=(0.0, -5.0))
    rock = planar(motion.time, motion.pose[:, 1], motion.twist[:, 1])
    found = impacts(Observation(scenario=scenario(scene), trajectory=rock))
    fast, slow = (np.unique(motion.impacts.time[motion.impacts.speed < -speed]) for speed in (1.1e-3, 1e-3))
    assert len(fast) > 50 and np.isin(fast, motion.time[found.interval]).all()
    assert np.isin(motion.time[found.interval], slow).all()


def test_a_block_that_is_braked_smoothly_has_no_impact():
    """From 0.05 rad/s, within 25 ms, as extra acceleration does it."""
    t, h = times(20.0), 0.025
    turned = 0.05 * h * (1.0 - np.exp(-t / h))
    scene = plane(block(height=3.0), boundaries=(GROUND,), gravity=(0.0, -5.0))
    found = values(scene, planar(t, columns(0.0, 1.507, turned), columns(0.0, 0.0, 0.05 * np.exp(-t / h))))
    assert found["impact_count"] == 0.0
    assert found["jitter_velocity"] <= 1e-9


def test_one_corner_swinging_down_beside_one_at_rest_is_an_impact_in_the_plane_and_in_space():
    """Pivot about the left corner until flat at t = 0.5, then stand."""
    t = times(1.0)
    rate = 0.8
    angle = rate * np.maximum(0.5 - t, 0.0)
    spin = np.where(t < 0.5 - 1e-9, -rate, 0.0)
    c, s = np.cos(angle), np.sin(angle)
    x, y = -0.5 + 0.5 * c - 0.5 * s, 0.5 * s + 0.5 * c
    vx, vy = spin * -y, spin * (x + 0.5)
    flat = planar(t, columns(x, y, angle), columns(vx, vy, spin))
    assert values(BLOCK, flat)["impact_count"] == 1.0
    q = columns(np.cos(angle / 2.0), 0.0, -np.sin(angle / 2.0), 0.0)
    in_space = spatial(t, columns(x, 0.0, y), columns(vx, 0.0, vy), q, columns(0.0, -spin, 0.0))
    assert values(space(box(), boundaries=(FLOOR,)), in_space)["impact_count"] == 1.0


@pytest.mark.parametrize("spin", [2.0, -2.0])
@pytest.mark.parametrize("ground_first", [True, False])
def test_a_corner_that_turns_down_onto_the_ground_is_timed_by_spin_alone(spin, ground_first):
    """A unit block whose centre stays at 0.65; at angle a its lowest corner is sin(a + pi/4) / sqrt(2) below."""
    t = times(0.5)
    hit = (math.asin(0.65 * math.sqrt(2.0)) - math.pi / 4.0) / abs(spin)
    angle = spin * np.minimum(t, 2.0 * hit - t)
    pose, twist = columns(0.0, 0.65, angle), columns(0.0, 0.0, np.where(t < hit, spin, -spin))
    ground = block("ground", width=40.0, height=2.0, fixed=True, position=(0.0, -1.0))
    still_pose, still_twist = columns(0.0 * t, -1.0, 0.0), columns(0.0 * t, 0.0, 0.0)
    order = slice(None, None, 1 if ground_first else -1)
    scene = plane(*(ground, block())[order], gravity=(0.0, 0.0))
    motion = planar(t, np.stack((still_pose, pose)[order], axis=1), np.stack((still_twist, twist)[order], axis=1))
    found = measured(scene, motion, truth(events=(Event(a="block", b="ground", number=1, time=hit),)))
    assert found["impact_count"].value == 1.0
    assert found["truth_error_event_time"].value < 1e-9


def test_a_spinning_block_in_flight_past_the_ground_has_none():
    t = times(0.6)
    w = 12.0
    y = 1.2 - 0.5 * G * (t - 0.3) ** 2 + 0.3 * G * 0.0
    tumbling = planar(t, columns(0.0, y, w * t), columns(0.0, -G * (t - 0.3), w))
    assert values(BLOCK, tumbling)["impact_count"] == 0.0


def test_a_box_that_tumbles_freely_past_the_floor_has_none_though_its_spin_changes():
    """Torque-free, with moments 1, 2, 3: integrated by Euler's equations in body axes, 1e-10."""
    moments = np.array([1.0, 2.0, 3.0]) * 0.05

    def rates(t, state):
        q, w = state[:4], state[4:]
        turn = 0.5 * np.array(
            [
                -q[1] * w[0] - q[2] * w[1] - q[3] * w[2],
                q[0] * w[0] + q[2] * w[2] - q[3] * w[1],
                q[0] * w[1] + q[3] * w[0] - q[1] * w[2],
                q[0] * w[2] + q[1] * w[1] - q[2] * w[0],
            ]
        )
        return np.concatenate([turn, -np.cross(w, moments * w) / moments])

    t = times(0.8)
    start = [1.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0]
    state = solve_ivp(rates, (0.0, 0.8), start, t_eval=t, rtol=1e-10, atol=1e-10).y.T
    spin = np.array([matrix(q) @ w for q, w in zip(state[:, :4], state[:, 4:])])
    y = 0.95 - 0.3 * t  # drifts down past the floor's skin: corners come as near as a centimetre, none touches
    motion = spatial(t, columns(0.0 * t, 0.0, y), columns(0.0 * t, 0.0, -0.3), state[:, :4], spin)
    scene = space(box(inertia=tuple(moments)), boundaries=(FLOOR,), gravity=(0.0, 0.0, 0.0))
    assert values(scene, motion)["impact_count"] == 0.0


def test_a_spring_that_pulls_two_bodies_apart_before_they_meet_is_no_impact():
    """Closed form: x = 1.2 + 0.19 cos(w t) between the centres of two discs of diameter 1."""
    t = times(1.0)
    k, w = 800.0, 40.0  # reduced mass 1/2
    x, v = 1.2 + 0.19 * np.cos(w * t), -0.19 * w * np.sin(w * t)
    pose = np.stack([columns(-x / 2.0, 0.0, 0.0), columns(x / 2.0, 0.0, 0.0)], axis=1)
    twist = np.stack([columns(-v / 2.0, 0.0, 0.0), columns(v / 2.0, 0.0, 0.0)], axis=1)
    spring = Spring(a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=k, rest_length=1.2)
    scene = plane(disc("a"), disc("b"), gravity=(0.0, 0.0), springs=(spring,))
    assert values(scene, planar(t, pose, twist))["impact_count"] == 0.0


SWING = 0.3  # rad
HELD = 0.63  # m: at the end of a swing the lower corner is 4.8 mm above the ground
STRENGTH = 66.7  # N/m, of two springs from 0.5 to 1.0 m beside the centre
TURNING = 2.0 * STRENGTH * 0.5 * 1.0 * 6.0  # rad/s^2, with a moment of inertia of 1/6 kg m^2


def turned_by_springs(lag: float = 0.0):
    """A unit block that two opposed springs turn to and fro above the ground, its corners down to 4.8 mm."""
    springs = tuple(
        Spring(a="block", anchor_a=(side, 0.0), anchor_b=(2.0 * side, HELD), stiffness=STRENGTH, rest_length=0.0)
        for side in (0.5, -0.5)
    )
    t = times(1.0)
    path = solve_ivp(
        lambda _, y: [y[1], -TURNING * math.sin(y[0])],
        (-DT, 1.1),
        [SWING, 0.0],
        rtol=1e-11,
        atol=1e-11,
        dense_output=True,
    ).sol
    pose = columns(0.0, HELD, path(t)[0])
    twist = columns(0.0, 0.0, path(t + lag)[1])
    return plane(block(), boundaries=(GROUND,), gravity=(0.0, 0.0), springs=springs), planar(t, pose, twist, lag=lag)


def test_nor_is_one_that_turns_a_corner_back_before_it_meets_the_ground():
    scene, motion = turned_by_springs()
    found = values(scene, motion)
    assert found["penetration_max"] == 0.0
    assert found["impact_count"] == 0.0


@pytest.mark.parametrize("lag", [0.0, DT / 2.0, -DT / 2.0])
def test_the_rate_of_a_gap_is_that_at_the_pose_also_where_springs_turn_the_corner_that_nears(lag):
    """0.5 (cos + sin of the angle) below the centre; half a step of the springs' torque is 0.1 m/s."""
    scene, motion = turned_by_springs(lag)
    o = Observation(scenario=scenario(scene), trajectory=motion)
    checked = 0
    for k in range(1, len(motion.time) - 1):
        angle, before, after = abs(motion.angle[k, 0]), *(motion.angle[[k - 1, k + 1], 0])
        near = gap_and_rate(o, 0, 1, k)
        if near is None or angle < 0.2:
            continue
        swing = (abs(after) - abs(before)) / (2.0 * DT)
        assert near[1] == pytest.approx(0.5 * (math.sin(angle) - math.cos(angle)) * swing, abs=0.003)
        checked += 1
    assert checked > 20


def test_an_engine_that_keeps_every_eighth_step_still_shows_a_fast_impact():
    t = times(1.0)[::8]
    y = np.abs(20.0 * (t - 0.5167))
    fast = planar(t, columns(0.0, 0.5 + y, 0.0), columns(0.0, np.where(t < 0.5167, -20.0, 20.0), 0.0))
    assert values(plane(disc(), boundaries=(GROUND,), gravity=(0.0, 0.0)), fast)["impact_count"] == 1.0


@pytest.mark.parametrize("lag", [0.0, DT / 2.0, -DT / 2.0])
@pytest.mark.parametrize("stride", [1, 5])
def test_a_ball_that_rolls_in_a_bowl_has_none(lag, stride):
    """Its velocity turns with the wall: read along the normal of one sample, that of the next approaches."""
    R, r, w = 2.0, 0.25, 2.5
    t = times(4.0)[::stride]
    phi, ahead = np.sin(w * t), np.sin(w * (t + lag))
    rate = w * np.cos(w * (t + lag))
    L = R - r
    x, y = L * np.sin(phi), -L * np.cos(phi)
    vx, vy = L * rate * np.cos(ahead), L * rate * np.sin(ahead)
    rolling = planar(t, columns(x, y, -L / r * phi), columns(vx, vy, -L / r * rate), lag=lag)
    scene = plane(disc(radius=r), boundaries=(Bowl(name="bowl", radius=R),))
    assert values(scene, rolling)["impact_count"] == 0.0


@pytest.mark.parametrize("lag", [0.0, DT / 2.0, -DT / 2.0])
@pytest.mark.parametrize("stride", [1, 5])
def test_nor_has_one_that_circles_in_it_without_gravity(lag, stride):
    R, r, w = 2.0, 0.25, 3.5
    t = times(4.0)[::stride]
    L = R - r
    x, y = L * np.sin(w * t), -L * np.cos(w * t)
    vx, vy = L * w * np.cos(w * (t + lag)), L * w * np.sin(w * (t + lag))
    circling = planar(t, columns(x, y, -L / r * w * t), columns(vx, vy, -L / r * w), lag=lag)
    scene = plane(disc(radius=r), boundaries=(Bowl(name="bowl", radius=R),), gravity=(0.0, 0.0))
    assert values(scene, circling)["impact_count"] == 0.0


def test_a_glancing_blow_whose_normal_turns_by_half_a_right_angle_in_a_step_is_an_impact():
    """Discs of 2 cm, 10 m/s, 3.6 cm off the line of centres; without restitution it goes on along the tangent."""
    t = times(0.1)
    hit = t[12] + 0.5 * DT
    n = np.array([math.sqrt(1.0 - 0.9**2), -0.9])
    v = np.array([10.0, 0.0])
    after = v - (v @ n) * n
    contact = -0.04 * n
    gone = (t > hit)[:, None]
    x = contact + np.where(gone, after, v) * (t - hit)[:, None]
    pose = np.stack([columns(x[:, 0], x[:, 1], 0.0), np.zeros((len(t), 3))], axis=1)
    twist = np.stack([columns(*np.where(gone, after, v).T, 0.0), np.zeros((len(t), 3))], axis=1)
    scene = plane(disc("a", radius=0.02), disc("b", radius=0.02, mass=None, fixed=True), gravity=(0.0, 0.0))
    assert values(scene, planar(t, pose, twist))["impact_count"] == 1.0


def test_a_small_fast_ball_is_timed_as_well_as_a_big_slow_one():
    t = times(0.2)
    hit = 0.1234
    fast = planar(
        t, columns(0.0, 0.05 + 15.0 * np.abs(t - hit), 0.0), columns(0.0, np.where(t < hit, -15.0, 15.0), 0.0)
    )
    scene = plane(disc(radius=0.05), boundaries=(GROUND,), gravity=(0.0, 0.0))
    expected = truth(events=(Event(a="ball", b="ground", number=1, time=hit),))
    assert values(scene, fast, expected)["truth_error_event_time"] < 1e-12


def test_a_contact_that_shivers_by_the_velocity_of_one_step_has_none():
    """Free for one step, held in the next: g dt of approach, again and again."""
    t = times(1.0)
    v = np.where(np.arange(len(t)) % 2 == 1, -G * DT, 0.0)
    y = 0.5 - 0.5 * G * DT**2 * (np.arange(len(t)) % 2)
    assert values(BLOCK, planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0)))["impact_count"] == 0.0


def test_pushed_out_of_an_overlap_is_no_impact():
    t = times(1.0)
    y = 0.5 - 0.05 * np.exp(-10.0 * t)
    v = 0.5 * np.exp(-10.0 * t) * (t > 0.0)
    assert values(BLOCK, planar(t, columns(0.0, y, 0.0), columns(0.0, v, 0.0)))["impact_count"] == 0.0


def test_each_pair_is_counted_for_itself():
    """A ball strikes the first of two in a row, which strikes the last; the clocks of both are exact."""
    t = times(1.0)
    first, second = 0.2, 0.5
    speed = 1.0
    x = [
        np.minimum(t, first) * speed - 1.2,
        np.clip(t - first, 0.0, second - first) * speed,
        0.3 + 1.0 + np.maximum(t - second, 0.0) * speed,
    ]
    moving = [t <= first, (t > first) & (t <= second), t > second]
    pose = np.stack([columns(p, 0.0, 0.0) for p in x], axis=1)
    twist = np.stack([columns(speed * m, 0.0, 0.0) for m in moving], axis=1)
    scene = plane(disc("a"), disc("b"), disc("c"), gravity=(0.0, 0.0))
    chain = truth(events=(Event(a="b", b="a", number=1, time=first), Event(a="b", b="c", number=1, time=second)))
    found = measured(scene, planar(t, pose, twist), chain)
    assert found["impact_count"].value == 2.0
    assert found["truth_error_event_time"].value < 1e-9


# --- pieces ---------------------------------------------------------------------------------------------------------


def test_a_cubic_is_followed_beyond_its_two_points():
    def cubic(t):
        return (t - 0.1) * (t - 2.0) * (t + 3.0), (t - 2.0) * (t + 3.0) + (t - 0.1) * (t + 3.0) + (t - 0.1) * (t - 2.0)

    assert hermite_root(0.5, 1.0, cubic(0.5), cubic(1.0)) == pytest.approx(2.0)
    assert hermite_root(2.5, 3.0, cubic(2.5), cubic(3.0)) is None
    assert hermite_root(0.0, 1.0, (1.0, -4.0), (-3.0, -4.0)) == pytest.approx(0.25)  # a straight line


def test_one_kernel_serves_the_plane_and_space():
    t = times(0.1)
    values(BLOCK, still((0.0, 0.5, 0.0)))
    values(space(box(), boundaries=(FLOOR,)), spatial(t, columns(0.0 * t, 0.0, 0.5), np.zeros((len(t), 3))))
    if hasattr(gap_rates, "signatures"):
        assert len(gap_rates.signatures) == 1
