"""Discs that slide until they roll, and then roll: on the level, on inclines, in a bowl. k = I/(m r^2)."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk

from reference_engine import Body, Disc, HalfPlane, Settings, World, box, energy, simulate
from reference_engine.planar_model.shape import Bowl
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, at, downhill, ground, on_grid

DISC, HOOP, BALL = 0.5, 1.0, 0.4


def disc(radius: float, k: float, **state: object) -> Body:
    return Body(
        shape=Disc(radius),
        inertia=k * radius**2,
        position=(0.0, radius),
        **state,  # type: ignore[arg-type]  # any of Body's fields
    )


@pytest.mark.parametrize(("k", "time"), [(DISC, 0.8494733265375467), (HOOP, 1.27420998980632)], ids=["disc", "hoop"])
def test_a_sliding_disc_rolls_after_k_v_over_one_plus_k_mu_g(k, time):
    """It keeps v/(1 + k), and friction is 0 from then on: the angular momentum about the ground is kept."""
    v, mu, r = 5.0, 0.2, 0.5
    world = World(bodies=(ground(), disc(r, k, velocity=(v, 0.0))), friction=mu, restitution=0.0)
    motion = simulate(world, 3.0, 0.125)
    roll = k * v / ((1.0 + k) * mu * GRAVITY)
    assert roll == pytest.approx(time, rel=1e-14)
    assert motion.events.times("stick") == pytest.approx([roll], abs=1e-11)
    t, after = np.minimum(motion.time, roll), np.maximum(motion.time - roll, 0.0)
    x = v * t - 0.5 * mu * GRAVITY * t * t + v / (1.0 + k) * after
    assert motion.pose[:, 1, 0] == pytest.approx(x, abs=1e-11)
    turned = 0.5 * mu * GRAVITY / (k * r) * t * t + v / (1.0 + k) / r * after
    assert -motion.pose[:, 1, 2] == pytest.approx(turned, abs=1e-11)
    rolling = motion.time > roll
    assert np.abs(motion.twist[rolling, 1, 0] + r * motion.twist[rolling, 1, 2]).max() <= 1e-12
    assert np.abs(motion.contacts_at(-1).friction).max() <= 1e-12
    assert motion.pose[:, 1, 1] == pytest.approx(r, abs=ROUND_OFF_OF_GAPS)


def test_backspin_turns_the_disc_round_and_friction_ends_where_it_rolls():
    """v = 1, spin 10 backwards, r = 0.3: it comes back at 1/3."""
    world = World(bodies=(ground(), disc(0.3, DISC, velocity=(1.0, 0.0), spin=10.0)), friction=0.2, restitution=0.0)
    motion = simulate(world, 2.0, 0.125)
    roll = 4.0 / (3.0 * 0.2 * GRAVITY)
    assert motion.events.times("stick") == pytest.approx([roll], abs=1e-11)
    x = (roll - 0.1 * GRAVITY * roll**2) - (2.0 - roll) / 3.0
    assert motion.pose[-1, 1, 0] == pytest.approx(x, abs=1e-12)
    assert motion.twist[-1, 1] == pytest.approx([-1.0 / 3.0, 0.0, 1.0 / 0.9], abs=1e-12)


@pytest.mark.parametrize("mu", [0.1822, 0.5])
def test_a_disc_rolls_down_an_incline_with_g_sin_over_one_plus_k_where_mu_is_a_third_of_the_slope(mu):
    """mu at least tan(slope)/(1 + 1/k) = 0.18210; friction is k/(1 + k) m g sin(slope)."""
    slope, r = 0.5, 0.3
    world = World(bodies=(ground(), disc(r, DISC)), gravity=downhill(slope), friction=mu, restitution=0.0)
    motion = simulate(world, 2.0, 0.25)
    a = GRAVITY * math.sin(slope) / 1.5
    assert a == pytest.approx(3.135443022471488, rel=1e-14)
    assert motion.pose[:, 1, 0] == pytest.approx(0.5 * a * motion.time**2, abs=1e-11)
    assert motion.pose[:, 1, 2] == pytest.approx(-0.5 * a / r * motion.time**2, abs=1e-11)
    assert np.abs(motion.contacts_at(-1).friction) == pytest.approx([a / 2.0], rel=1e-12)


def test_a_disc_slips_down_an_incline_that_is_too_steep_for_it():
    slope, mu, r = 0.5, 0.1, 0.3
    world = World(bodies=(ground(), disc(r, DISC)), gravity=downhill(slope), friction=mu, restitution=0.0)
    motion = simulate(world, 2.0, 0.25)
    assert motion.pose[:, 1, 0] == pytest.approx(0.5 * 3.842256040492776 * motion.time**2, abs=1e-11)
    assert motion.pose[:, 1, 2] == pytest.approx(-0.5 * 5.739389954763038 * motion.time**2, abs=1e-11)
    assert len(motion.events.times("stick")) == 0


R_BOWL, R_DISC = 2.0, 0.25
PATH = R_BOWL - R_DISC  # radius of the circle on which the centre goes


def in_bowl(k: float, mu: float, phi: float = 1.0) -> World:
    bowl = Body(shape=Bowl(R_BOWL), fixed=True)
    ball = Body(shape=Disc(R_DISC), inertia=k * R_DISC**2, position=(PATH * math.sin(phi), -PATH * math.cos(phi)))
    return World(bodies=(bowl, ball), friction=mu, restitution=0.0)


def bowl_angle(motion) -> np.ndarray:
    return np.arctan2(motion.pose[:, 1, 0], -motion.pose[:, 1, 1])


@pytest.mark.parametrize(
    ("k", "mu", "period"),
    [(0.0, 0.0, 2.829813055612857), (DISC, 0.6, 3.465799026858808), (BALL, 0.5, 3.348279961652514)],
    ids=["frictionless", "disc", "ball"],
)
def test_a_disc_in_a_bowl_swings_with_the_period_of_a_pendulum_that_carries_its_spin(k, mu, period):
    """T = 4 sqrt((1 + k) L/g) K(sin^2(phi_0/2)), L = R - r; it turns by L (phi - phi_0)/r against phi."""
    p = math.sqrt(GRAVITY / ((1.0 + k) * PATH))
    assert 4.0 / p * ellipk(math.sin(0.5) ** 2) == pytest.approx(period, rel=1e-14)
    world = in_bowl(k or DISC, mu)
    motion = simulate(world, 2.0 * period, period / 8.0)
    phi = truths.pendulum(motion.time, 1.0, p)
    assert bowl_angle(motion) == pytest.approx(phi, abs=1e-10)
    turned = -PATH / R_DISC * (phi - 1.0) if k else 0.0 * phi
    assert motion.pose[:, 1, 2] == pytest.approx(turned, abs=1e-9)
    assert np.hypot(*motion.pose[:, 1, :2].T) == pytest.approx(PATH, abs=ROUND_OFF_OF_GAPS)
    total = energy(world, motion)
    assert np.abs(total - total[0]).max() <= 1e-12 * GRAVITY * PATH


def test_a_disc_in_a_bowl_that_is_too_smooth_slides_first_and_rolls_where_its_rim_stops():
    """mu = 0.3 < tan(1)/3. Sliding: L phi'' = mu N - g sin(phi), N = g cos(phi) + L phi'^2; spin' = mu N/(k r)."""
    mu = 0.3
    motion = simulate(in_bowl(DISC, mu), 0.75, 0.0625)
    rate = truths.sliding_in_bowl_rate(PATH, R_DISC, DISC, mu)

    def slip(t, y):  # backwards, towards the bottom, at the start 0 and falling
        return -(PATH * y[2] + R_DISC * y[3]) if t > 0.01 else 1.0

    at_times = np.arange(1, 4) * 0.0625
    states, roll, _ = truths.integrate(rate, (1.0, 0.0, 0.0, 0.0), 2.0, at_times, until=slip)
    assert motion.events.times("stick")[0] == pytest.approx(roll, abs=1e-10)
    rows = [at(motion, t) for t in at_times]
    assert bowl_angle(motion)[rows] == pytest.approx(states[:, 0], abs=1e-10)
    assert motion.pose[rows, 1, 2] == pytest.approx(states[:, 1], abs=1e-10)


def test_a_rolling_disc_goes_over_the_seam_of_two_boxes_as_over_a_plane():
    """Two fixed boxes end to end: 3 m at 2 m/s, without an impact."""
    left = Body(shape=box(2.0, 1.0), fixed=True, position=(-1.0, -0.5))
    right = Body(shape=box(2.0, 1.0), fixed=True, position=(1.0, -0.5))
    roller = Body(shape=Disc(0.3), position=(-1.5, 0.3), velocity=(2.0, 0.0), spin=-2.0 / 0.3)
    world = World(bodies=(left, right, roller), friction=0.4, restitution=0.0)
    motion = simulate(world, 1.5, 0.125)
    rows = on_grid(motion, 0.125, 1.5)
    assert motion.pose[rows, 2, 0] == pytest.approx(-1.5 + 2.0 * motion.time[rows], abs=1e-11)
    assert motion.pose[rows, 2, 1] == pytest.approx(0.3, abs=ROUND_OFF_OF_GAPS)
    assert motion.twist[-1, 2, 2] == pytest.approx(-2.0 / 0.3, rel=1e-12)


def test_a_disc_rolls_off_another_slips_where_it_gets_light_and_leaves_it():
    """From 0.2 rad beside the top, mu = 0.5. Rolling: p^2 = g/(3/2 L), L = R + r, f = m g sin(theta)/3,

    N = m g (7 cos theta - 4 cos theta_0)/3. Slipping: L theta'' = g sin(theta) - mu N, N = g cos(theta) - L theta'^2.
    """
    mu, r, path, start = 0.5, 0.25, 1.25, 0.2
    below = Body(shape=Disc(1.0), fixed=True)
    upper = Body(shape=Disc(r), position=(path * math.sin(start), path * math.cos(start)))
    motion = simulate(World(bodies=(below, upper), friction=mu, restitution=0.0), 1.25, 0.03125)
    p = math.sqrt(GRAVITY / (1.5 * path))
    theta = brentq(lambda th: math.sin(th) - mu * (7.0 * math.cos(th) - 4.0 * math.cos(start)), 0.2, 1.2, xtol=1e-15)
    slip = truths.toppling_time(theta, start, p)
    assert motion.events.times("slip") == pytest.approx([slip], abs=1e-10)
    spin = p * math.sqrt(2.0 * (math.cos(start) - math.cos(theta)))

    def rate(t, y):
        normal = GRAVITY * math.cos(y[0]) - path * y[1] ** 2
        return y[1], (GRAVITY * math.sin(y[0]) - mu * normal) / path, mu * normal / (DISC * r)

    _, leaves, end = truths.integrate(
        rate, (theta, spin, path / r * spin), 1.0, until=lambda t, y: GRAVITY * math.cos(y[0]) - path * y[1] ** 2
    )
    assert motion.events.times("broken") == pytest.approx([slip + leaves], abs=1e-9)
    flying = motion.time > slip + leaves
    t, (th, w, turning) = motion.time[flying] - slip - leaves, end
    assert motion.pose[flying, 1, 0] == pytest.approx(path * (math.sin(th) + w * math.cos(th) * t), abs=1e-9)
    assert motion.twist[flying, 1, 2] == pytest.approx(-turning, abs=1e-9)


def test_a_disc_that_spins_in_a_groove_stops_by_the_friction_of_both_sides():
    """At 45 degrees to either side its centre stays, and N_1 + N_2 = sqrt(2) m g/(1 + mu^2): one carries more."""
    mu, r, spin = 0.3, 0.2, 20.0
    sides = [Body(shape=HalfPlane(), fixed=True, angle=angle) for angle in (-math.pi / 4.0, math.pi / 4.0)]
    disc_there = Body(shape=Disc(r), position=(0.0, math.sqrt(2.0) * r), spin=spin)
    motion = simulate(World(bodies=(*sides, disc_there), friction=mu, restitution=0.0), 1.0, 0.125)
    brake = 2.0 * math.sqrt(2.0) * mu * GRAVITY / (r * (1.0 + mu * mu))
    first = motion.contacts_at(0)
    carried = math.sqrt(0.5) * GRAVITY / (1.0 + mu * mu)
    assert np.sort(first.force) == pytest.approx([carried * (1.0 - mu), carried * (1.0 + mu)], rel=1e-12)
    assert motion.events.times("stick") == pytest.approx([spin / brake], abs=1e-11)
    t = np.minimum(motion.time, spin / brake)
    assert motion.pose[:, 2, 2] == pytest.approx(spin * t - 0.5 * brake * t * t, abs=1e-11)
    assert motion.pose[:, 2, :2] == pytest.approx(np.tile(motion.pose[0, 2, :2], (len(t), 1)), abs=ROUND_OFF_OF_GAPS)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_however_a_spinning_disc_bounces_it_ends_rolling_at_what_its_angular_momentum_leaves(impact_law, e):
    """Friction acts at the ground: v - k r w is kept, so v = (v_0 - k r w_0)/(1 + k) in the end."""
    r, v, spin = 0.2, 1.0, 30.0
    dropped = dataclasses.replace(disc(r, DISC, velocity=(v, 0.0), spin=spin), position=(0.0, r + 0.3))
    motion = simulate(
        World(bodies=(ground(), dropped), friction=0.3, restitution=e), 6.0, 1.0, Settings(impact_law=impact_law)
    )
    end = (v - DISC * r * spin) / (1.0 + DISC)
    assert motion.twist[-1, 1] == pytest.approx([end, 0.0, -end / r], abs=1e-10)
    cached = motion.twist[:, 1, 0] - DISC * r * motion.twist[:, 1, 2]
    assert cached == pytest.approx(v - DISC * r * spin, abs=1e-12)
