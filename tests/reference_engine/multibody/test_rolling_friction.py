"""Coulomb's friction in space: what slides, until it rolls or stops, against closed forms and other equations."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from reference_engine.errors import JointError, MechanismError
from reference_engine.multibody.joints import Distance, Rolling
from reference_engine.multibody.links import Link
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.simulate import simulate_mechanism
from reference_engine.rotation import matrices_by_direction
from tests.reference_engine.planar import truths

G = 9.81


def one(link: Link, **joint) -> Mechanism:
    return Mechanism(links=(link,), joints=(Rolling(link=0, **joint),))


@pytest.mark.slow
def test_a_billiard_ball_slides_along_a_parabola_until_two_sevenths_of_its_slip_are_lost():
    """The slip keeps its direction and is gone after 2|u|/(7 mu g); the spin about the vertical does not matter."""
    r, mu, v, w = 0.03, 0.2, np.array([2.0, 1.0, 0.0]), np.array([10.0, -40.0, 60.0])
    slip = v + np.cross(w, (0.0, 0.0, -r))
    end, way = 2.0 * np.linalg.norm(slip) / (7.0 * mu * G), slip / np.linalg.norm(slip)
    mechanism = one(Link(position=(0.0, 0.0, r), velocity=v, spin=w, inertia=0.4 * r * r), semi_axes=r, friction=mu)
    motion = simulate_mechanism(mechanism, [end, end + 0.02], tolerance=1e-13)
    assert [(event.kind, event.joint) for event in motion.events] == [("sticks", 0)]
    # friction turns within the step that crosses the end: which steps are taken is round-off, and 4e-12 s with it
    assert motion.events[0].time == pytest.approx(end, abs=1e-11)
    there = v * end - 0.5 * mu * G * way * end**2
    assert motion.position[0, 0, :2] == pytest.approx(there[:2], abs=1e-11)
    assert there[:2] == pytest.approx([0.7760306776635331, 0.4095717465446425], abs=1e-13)
    rolls = v - 2.0 / 7.0 * slip
    assert motion.velocity[1, 0] == pytest.approx(rolls, abs=1e-12)
    assert motion.position[1, 0, :2] == pytest.approx((there + 0.02 * rolls)[:2], abs=1e-11)
    assert motion.spin[1, 0, 2] == pytest.approx(60.0, abs=1e-11)
    assert motion.reaction[1] == pytest.approx([G, 0.0, 0.0, 0.0], abs=1e-11)


def thrown(slope: float, mu: float, speed: float) -> Mechanism:
    """A point thrown level across an incline, which falls along x."""
    return one(Link(position=(0.0, 0.0, 0.0), velocity=(0.0, speed, 0.0)), semi_axes=0.0, friction=mu,
               normal=(math.sin(slope), 0.0, math.cos(slope)))  # fmt: skip


def across_incline(slope: float, kappa: float, speed: float, phi: float) -> tuple[float, float, float, float]:
    """Speed, time, way downhill and across where the path makes phi with the line of fall, by its hodograph.

    v' = g sin(slope) (cos phi - kappa), v phi' = -g sin(slope) sin phi give v = speed tan(phi/2)^kappa / sin phi; with
    w = tan(phi/2), v = speed (w^(kappa-1) + w^(kappa+1)) / 2 and dt = -v dw / (g sin(slope) w), all powers of w.
    """
    pull, w = G * math.sin(slope), math.tan(phi / 2.0)

    def power(n):
        return (1.0 - w**n) / n

    time = 0.5 * speed / pull * (power(kappa - 1.0) + power(kappa + 1.0))
    down = 0.25 * speed**2 / pull * (power(2.0 * kappa - 2.0) - power(2.0 * kappa + 2.0))
    across = 0.5 * speed**2 / pull * (power(2.0 * kappa - 1.0) + power(2.0 * kappa + 1.0))
    return 0.5 * speed * (w ** (kappa - 1.0) + w ** (kappa + 1.0)), time, down, across


def test_what_is_thrown_across_an_incline_is_where_its_hodograph_has_it():
    """At half a radian from the line of fall, friction less than the slope: it goes on, ever faster."""
    kappa = 0.4 / math.tan(0.5)
    speed, time, down, across = across_incline(0.5, kappa, 3.0, 0.5)
    assert [speed, time, down, across] == pytest.approx(
        [2.30302058194474, 0.692455120657268, 0.8255841571634198, 1.342183567950714], rel=1e-13
    )
    motion = simulate_mechanism(thrown(0.5, 0.4, 3.0), [time])
    x, v = motion.position[0, 0], motion.velocity[0, 0]
    fall = np.array([math.cos(0.5), 0.0, -math.sin(0.5)])
    assert [x @ fall, x[1], np.linalg.norm(v)] == pytest.approx([down, across, speed], abs=1e-11)
    assert math.atan2(v[1], v @ fall) == pytest.approx(0.5, abs=1e-11)


@pytest.mark.slow
def test_with_more_friction_than_slope_it_stops_and_stays():
    """kappa = mu / tan(slope) > 1: after kappa v / (g sin(slope) (kappa^2 - 1)); friction is against the slip, so that
    a pyramid of it, component by component, would stop it elsewhere."""
    kappa = 0.8 / math.tan(0.5)
    _, stop, down, across = across_incline(0.5, kappa, 3.0, 0.0)
    assert stop == pytest.approx(kappa * 3.0 / (G * math.sin(0.5) * (kappa**2 - 1.0)), rel=1e-14)
    motion = simulate_mechanism(thrown(0.5, 0.8, 3.0), [stop + 1.0])
    (event,) = motion.events
    assert event.kind == "sticks"
    assert event.time == pytest.approx(stop, abs=1e-12)
    x = motion.position[0, 0]
    assert [x[0] / math.cos(0.5), x[1]] == pytest.approx([down, across], abs=1e-10)
    assert [down, across] == pytest.approx([0.4180226862074932, 0.7396029190458365], abs=1e-12)
    assert motion.velocity[0, 0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.slow
def test_at_the_angle_of_friction_half_the_speed_is_left_in_the_end():
    """v (1 + cos phi) is kept where mu = tan(slope)."""
    motion = simulate_mechanism(thrown(0.5, math.tan(0.5), 3.0), [6.0], tolerance=1e-11)
    assert np.linalg.norm(motion.velocity[0, 0]) == pytest.approx(1.5, abs=1e-9)


def test_a_ball_in_a_hollow_sphere_too_smooth_for_it_slides_first_and_rolls_where_its_slip_ends():
    """Let go at rest 1 rad up, mu 0.3: rolling would take 2/7 tan(1) = 0.445. In a plane, by its two equations."""
    r, mu, out = 0.25, 0.3, np.array([math.sin(1.0), 0.0, -math.cos(1.0)])
    mechanism = one(Link(position=1.75 * out, inertia=0.4 * r * r), semi_axes=r, inner_radius=2.0, friction=mu)
    rate = truths.sliding_in_bowl_rate(1.75, r, 0.4, mu)
    _, time, state = truths.integrate(
        rate, (1.0, 0.0, 0.0, 0.0), 0.8, until=lambda t, y: -1.75 * y[2] - r * y[3] + (t == 0)
    )
    motion = simulate_mechanism(mechanism, [time])
    assert motion.events[0].time == pytest.approx(time, abs=1e-11)
    assert math.atan2(motion.position[0, 0, 0], -motion.position[0, 0, 2]) == pytest.approx(state[0], abs=1e-11)
    assert motion.velocity[0, 0, 1] == pytest.approx(0.0, abs=1e-15)


def on_turntable(friction: float | None) -> Mechanism:
    r, turning, v = 0.1, 3.0, np.array([0.0, 0.4, 0.0])
    speed = v - np.cross((0.0, 0.0, turning), (0.5, 0.0, 0.0))
    link = Link(position=(0.5, 0.0, r), velocity=v, inertia=0.4 * r * r, spin=np.cross((0.0, 0.0, 1.0), speed) / r)
    return one(link, semi_axes=r, turning=turning, friction=friction)


@pytest.mark.slow
def test_on_a_turntable_a_ball_keeps_its_circle_down_to_the_friction_that_its_acceleration_takes():
    """Radius 7/15 m about (1/30, 0) at 6/7 rad/s: mu g is at least 7/15 (6/7)^2."""
    least = 7.0 / 15.0 * (6.0 / 7.0) ** 2 / G
    assert least == pytest.approx(0.03494975972040192, rel=1e-12)
    rolls = simulate_mechanism(on_turntable(1.0001 * least), [0.0, 2.0], tolerance=1e-12)
    assert rolls.position[1, 0, :2] == pytest.approx([-0.03339883586148631, 0.4618707561345833], abs=1e-12)
    assert np.linalg.norm(rolls.reaction[0, 1:]) == pytest.approx(least * G, rel=1e-12)
    slides = simulate_mechanism(on_turntable(0.5 * least), [0.01], tolerance=1e-9)
    assert np.linalg.norm(slides.reaction[0, 1:]) == pytest.approx(0.5 * least * G, rel=1e-9)


@pytest.mark.slow
def test_a_rattleback_reverses_its_spin_as_the_equations_about_its_contact_have_it():
    """An ellipsoid whose axes are turned from the principal axes of its inertia; the moment of momentum about the
    contact, in the body's frame, with r to the contact, is the other way."""
    axes, turn = np.array([0.2, 0.05, 0.03]), math.radians(-30.0)
    inertia, heading = np.array([6e-4, 4e-3, 4.2e-3]), (math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2))
    Q = matrices_by_direction(np.array([heading]))[0]
    D = Q @ np.diag(axes**2) @ Q.T
    start = np.array([3.0, 0.0, -2.0])

    def arm(n):
        return -D @ n / math.sqrt(n @ D @ n)

    def rate(t, y):
        n, w = y[:3], y[3:]
        n_rate, h = np.cross(n, w), math.sqrt(n @ D @ n)
        r, r_rate = arm(n), -D @ n_rate / h + D @ n * float(n @ D @ n_rate) / h**3
        # velocity of the centre v = -w x r in the body's frame; force F = v' + w x v + g n, torque r x F
        known = -np.cross(w, r_rate) - np.cross(w, np.cross(w, r)) + G * n
        cross = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        return np.append(n_rate, np.linalg.solve(np.diag(inertia) - cross @ cross,
                                                 np.cross(r, known) - np.cross(w, inertia * w)))  # fmt: skip

    up = np.array([0.0, 0.0, 1.0])
    exact = solve_ivp(rate, (0.0, 0.25), np.append(up, start), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    link = Link(position=-arm(up), inertia=inertia, spin=start, velocity=-np.cross(start, arm(up)))
    motion = simulate_mechanism(one(link, semi_axes=axes, turned=heading), [0.0, 0.25], tolerance=1e-11)
    R = matrices_by_direction(motion.orientation[1])[0]
    assert R.T @ up == pytest.approx(exact[:3], abs=1e-9)
    assert R.T @ motion.spin[1, 0] == pytest.approx(exact[3:], abs=1e-8)
    assert np.ptp(motion.energy) < 1e-10
    assert motion.spin[1, 0, 2] > 0.0 > start[2]


def test_a_loaded_ball_that_slides_loses_energy_and_keeps_jelletts_integral():
    """Its moment of momentum along the line to the contact, however friction acts there (Jellett 1872)."""
    r, off = 0.02, (0.0, 0.0, 0.005)
    tilt = 0.3
    q = (math.cos(tilt / 2), math.sin(tilt / 2), 0.0, 0.0)
    R = matrices_by_direction(np.array([q]))[0]
    spin = 150.0 * R[:, 2]
    inertia = np.array([2.0, 2.0, 1.8]) * 0.2 * r * r
    height = r - (R @ off)[2]
    v = np.array([0.1, 0.0, 0.0])
    v[2] = -np.cross(spin, R @ off - [0.0, 0.0, r])[2]
    link = Link(position=(0.0, 0.0, height), orientation=q, spin=spin, inertia=inertia, velocity=v)
    motion = simulate_mechanism(one(link, semi_axes=r, centre=off, friction=0.3), [0.0, 0.1], tolerance=1e-11)
    kept = []
    for q, w in zip(motion.orientation[:, 0], motion.spin[:, 0]):
        R = matrices_by_direction(q[None])[0]
        kept.append((R @ off - [0.0, 0.0, r]) @ (R @ (inertia * (R.T @ w))))
    assert kept[1] == pytest.approx(kept[0], rel=1e-9)
    assert motion.energy[1] < motion.energy[0] - 1e-3


def test_what_would_slip_or_pull_ends_with_the_time():
    """A ball pushed by a force that grows: it rolls up to 7/2 mu m g."""

    def push(time, position, orientation, twist):
        return np.array([[20.0 * time, 0.0, 0.0, 0.0, 0.0, 0.0]])

    ball = Link(position=(0.0, 0.0, 0.1), inertia=0.4 * 0.01)
    joints = (Rolling(link=0, semi_axes=0.1, friction=0.2),)
    with pytest.raises(JointError, match=rf"t = {3.5 * 0.2 * G / 20.0:.5f}\d* s: joints\[0\] slips"):
        simulate_mechanism(Mechanism(links=(ball,), joints=joints, load=push), [1.0])
    with pytest.raises(JointError, match=r"joints\[0\] would have to pull"):
        simulate_mechanism(Mechanism(links=(ball,), joints=joints, gravity=(0.0, 0.0, 1.0)), [1.0])


def test_friction_that_cannot_be_is_refused():
    for wrong, words in [
        (lambda: Rolling(link=0, semi_axes=1.0, friction=-0.1), "friction -0.1; finite and at least 0"),
        (lambda: Rolling(link=0, semi_axes=0.0), "of a point with friction all"),
        (lambda: Rolling(link=0, semi_axes=1.0, turned=(0.0, 0.0, 0.0, 0.0)), "is no rotation"),
        (lambda: Rolling(link=0, semi_axes=1.0, inner_radius=3.0, centre=(0.1, 0.0, 0.0)), "about its centre of mass"),
        (
            lambda: Mechanism(
                links=(Link(position=(0.0, 0.0, 0.0)),),
                joints=(
                    Rolling(link=0, semi_axes=0.0, friction=0.1),
                    Distance(first=-1, second=0, length=1, rope=True),
                ),
            ),
            r"joints\[0\].friction: joints\[1\] is one-sided",
        ),
    ]:
        with pytest.raises(MechanismError, match=words):
            wrong()
