"""Pendulum, four-bar linkage and heavy top: what their exact motions keep, and that the scenes start in them."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

from scenarios.catalogue import four_bar, heavy_top, pendulum, scenario_of
from scenarios.scene import PlanarScene, planar_start, spatial_start

G = 9.81


@pytest.mark.parametrize("amplitude", [0.1, 1.2, 3.0])
def test_the_pendulum_is_back_where_it_was_after_its_period(amplitude):
    period = pendulum.period(amplitude)
    assert period == pytest.approx(4.0 / math.sqrt(1.5 * G) * float(ellipk(math.sin(0.5 * amplitude) ** 2)), rel=1e-14)
    if period < pendulum.duration(amplitude):
        assert pendulum.motion(amplitude).at(period) == pytest.approx([amplitude, 0.0], abs=1e-12)


def test_the_rods_of_the_linkage_stay_together_and_keep_their_energy():
    time = np.linspace(0.0, four_bar.DURATION, 50)
    state = four_bar.motion(6.0)(time)
    t, u, v = state[:3]
    loop = [
        four_bar.CRANK * f(t) + four_bar.COUPLER * f(u) - four_bar.ROCKER * f(v) - d
        for f, d in ((np.cos, four_bar.GROUND), (np.sin, 0.0))
    ]
    assert np.abs(loop).max() < 1e-12
    h = 1e-5
    inner = np.clip(time, h, time[-1] - h)
    before, middle, after = (four_bar.FOUR_BAR.centres(four_bar.motion(6.0)(inner + d)[:3]) for d in (-h, 0.0, h))
    speed = (after - before) / (2.0 * h)
    length = np.array([length for _, length in four_bar.RODS])
    energy = (0.5 * length * (speed[..., 0] ** 2 + speed[..., 1] ** 2 + length**2 / 12.0 * speed[..., 2] ** 2)).sum(1)
    energy += G * (length * middle[..., 1]).sum(axis=1)
    assert np.ptp(energy) < 1e-6


def test_the_top_comes_back_up_to_where_it_was_let_go_and_no_higher():
    """E, L_z and w3 give u' = 0 at the start's u = cos 0.6 and at the root of its quadratic."""
    exact = heavy_top.motion(0.6, 40.0)
    height = heavy_top.poses(exact(np.linspace(0.0, 2.0, 2001)))[:, 0, 2] / heavy_top.ARM
    u0, A = math.cos(0.6), heavy_top.ACROSS + heavy_top.MASS * heavy_top.ARM**2
    a = (heavy_top.ALONG * 40.0) ** 2 / (2.0 * A * heavy_top.MASS * G * heavy_top.ARM)
    # Cusped: (1 - u^2) = a (u0 - u), the root below u0.
    low = 0.5 * (a - math.sqrt(a * a - 4.0 * (a * u0 - 1.0)))
    assert height.max() == pytest.approx(u0, abs=1e-9)
    assert height.min() == pytest.approx(low, abs=1e-5)


@pytest.mark.parametrize(
    "word", ["pendulum", "pendulum:space=spatial", "four-bar", "four-bar:space=spatial", "heavy-top"]
)
def test_the_scene_starts_in_its_exact_motion(word):
    scenario = scenario_of(word)
    h = 1e-6
    now, later = scenario.truth.pose(np.array([0.0, h]))
    if isinstance(scenario.scene, PlanarScene):
        pose, twist = planar_start(scenario.scene)
        assert pose == pytest.approx(now, abs=1e-14)
        assert later - now == pytest.approx(h * twist, abs=1e-10)
    else:
        position, orientation, velocity, _ = spatial_start(scenario.scene)
        assert np.hstack([position, orientation]) == pytest.approx(now, abs=1e-14)
        assert (later - now)[:, :3] == pytest.approx(h * velocity, abs=1e-10)
