"""Ellipsoids and a thrown sphere: their exact motions, each by a way that the scenario does not go."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.catalogue.ellipsoid_drop import ELLIPSE, first_impact
from scenarios.catalogue.ellipsoid_heaps import upright_moment
from scenarios.catalogue.rising_egg import DURATION, SPAN, TURN, axis_of, rising
from scenarios.catalogue.rocking_ellipsoid import FRICTION, Ellipse, rocking
from scenarios.scene import spatial_start
from tests.validation.engines.spatial_scenes import in_space
from validation.engines.reference.adapter import Reference

G = 9.81


@pytest.mark.parametrize(
    ("a", "rolling", "small", "period"),
    [
        (0.3, True, 16.17405329532458, 0.7628247763241492),
        (0.2, True, 12.13053997149344, 0.7414431898899729),
        (0.3, False, 19.80908882306301, 0.6432928073036056),
        (0.2, False, 17.15517414659496, 0.5445027590136434),
    ],
)
def test_periods_of_an_ellipsoid_that_rocks(a, rolling, small, period):
    """For small tilts in closed form; for half a radian figures found apart, by adaptive quadrature."""
    ellipse = Ellipse(a, 0.1, rolling)
    inertia = ellipse.inertia + (0.1**2 if rolling else 0.0)
    assert math.sqrt(9.81 * (a**2 / 0.1 - 0.1) / inertia) == approx(small, rel=1e-14)
    assert ellipse.period(0.5) == approx(period, rel=1e-14)
    assert ellipse.period(1e-4) == approx(2.0 * math.pi / small, rel=1e-7)
    assert rocking(ellipse, 0.5).at(ellipse.period(0.5) / 2.0)[:2] == approx([-0.5, 0.0], abs=1e-12)


def test_the_rolling_ellipsoid_does_not_slip_and_needs_less_friction_than_it_has():
    """Velocity of the point of touch, and forces, from the poses by central differences."""
    truth, h = scenario_of("rocking-ellipsoid").truth, 1e-4
    time = np.linspace(0.05, 0.7, 50)
    before, now, after = (truth.pose(time + d)[:, 0] for d in (-h, 0.0, h))
    velocity, acceleration = (after - before) / (2.0 * h), (after - 2.0 * now + before) / h**2
    tilt, turn = rocking(Ellipse(0.3, 0.1), 0.5)(time)[:2]
    height, aside, _ = Ellipse(0.3, 0.1).height(tilt)
    assert velocity[:, 0] + turn * height == approx(0.0, abs=1e-5)
    assert velocity[:, 2] - turn * aside == approx(0.0, abs=1e-5)
    needed = np.abs(acceleration[:, 0]) / (G + acceleration[:, 2])
    assert needed.max() < 0.6957 < FRICTION


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_an_impact_keeps_the_moment_of_momentum_about_its_point_and_gives_back_e_of_the_approach(e):
    bounce = first_impact(0.3, 0.3, e)
    arrival = G * bounce.time
    _, slope, _ = (float(part[0]) for part in ELLIPSE.height(np.array([0.3])))
    # the centre is h' aside of the point of touch
    assert ELLIPSE.inertia * bounce.rate + slope * (bounce.speed + arrival) == approx(0.0, abs=1e-15)
    assert bounce.speed - slope * bounce.rate == approx(e * arrival, abs=1e-14)


def test_the_billiard_ball_has_the_figures_of_the_closed_form():
    """mu = 0.2, R = 0.03, v0 = (2, 1), spin (10, -40, 60): it rolls from 0.503 s on, from there, and so fast."""
    scenario = scenario_of("thrown-sphere")
    at = 0.5029828466337715
    early, late = scenario.truth.pose(np.array([at, at + 0.1]))[:, 0, :2]
    assert early == approx([0.7760306776635331, 0.4095717465446425], rel=1e-13)
    assert (late - early) / 0.1 == approx([1.085714285714286, 0.6285714285714286], rel=1e-12)
    assert scenario.truth.goal.value == approx(math.hypot(1.085714285714286, 0.6285714285714286), rel=1e-14)


@pytest.mark.parametrize("friction", [0.02, 0.1, 0.2])
def test_the_egg_slips_for_as_long_as_its_truth_says_and_rises(friction):
    motion = rising(TURN, friction)
    assert SPAN <= motion.end <= DURATION
    rise = axis_of(motion(np.array([0.0, SPAN]))[7:11])[2]
    assert rise[0] == approx(math.cos(1.2)) and rise[1] > rise[0] + 0.4 * friction


def test_the_reference_engine_comes_to_the_egg_with_the_square_of_its_step():
    """Impulses, quaternions and gaps there; one equation for the pressing force here."""
    scenario = scenario_of("rising-egg")
    worst = []
    for dt in (1.0 / 200.0, 1.0 / 400.0):
        motion = in_space(Reference(), scenario.scene, dt=dt)
        known = motion.time <= SPAN
        worst.append(np.abs(motion.position - scenario.truth.pose(motion.time)[..., :3])[known].max())
    assert worst[1] < 1e-3
    assert worst[0] / worst[1] == approx(4.0, abs=0.4)


def test_what_a_frictionless_sphere_cannot_change_is_read_off_the_motion():
    """At the start, with a spin added: m (x v_y - y v_x) + (R I R^T omega)_z."""
    scenario = scenario_of("ellipsoids-in-sphere:friction=0")
    x, q, v, spin = spatial_start(scenario.scene)
    state = {"position": x[None], "orientation": q[None], "velocity": v[None], "spin": spin[None]}
    assert upright_moment(scenario.scene, SimpleNamespace(**state)) == approx(scenario.truth.goal.value, rel=1e-14)
    state["spin"] = np.tile((0.0, 0.0, 2.0), (1, 2, 1))
    spun = upright_moment(scenario.scene, SimpleNamespace(**state)) - scenario.truth.goal.value
    assert 0.0 < spun < 2.0 * sum(body.mass * 0.4 * 0.2**2 for body in scenario.scene.bodies)


def test_lattices_grow_in_layers_or_as_cubes():
    cube, layers = scenario_of("ellipsoid-lattice").scene, scenario_of("ellipsoid-lattice:n=64,heap=layers").scene
    heights = [len({body.position[2] for body in scene.bodies}) for scene in (cube, layers)]
    assert heights == [3, 4]
