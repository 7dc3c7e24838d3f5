"""The hammers and the overhang: their truths against integrations that share no line with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from scenarios.catalogue import scenario_of
from scenarios.catalogue.compounds import LONGEST_ARM
from scenarios.scene import PlanarScene

G = 9.81


def bars_of(*bars: tuple[float, float, float, float, float]) -> tuple[float, np.ndarray, float]:
    """Mass, centre and moment about the origin of rectangles (width, height, x, y, density)."""
    m = np.array([w * h * rho for w, h, _, _, rho in bars])
    at = np.array([(x, y) for _, _, x, y, _ in bars])
    own = np.array([(w * w + h * h) / 12.0 for w, h, *_ in bars])
    return float(m.sum()), m @ at / m.sum(), float(m @ (own + (at * at).sum(axis=1)))


HAMMER = ((0.04, 0.6, 0.0, -0.3, 0.7), (0.2, 0.1, 0.06, -0.65, 7.8))


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_hammer_swings_as_its_bars_do_about_the_pin(space):
    """Moments about the pin itself, with no centre of mass or parallel axes in between; scipy's DOP853."""
    scenario = scenario_of(f"hammer-swing:space={space}")
    m, (cx, cy), about_pin = bars_of(*HAMMER)

    def rate(t, state):
        angle, spin = state
        arm = np.cos(angle) * cx - np.sin(angle) * cy  # of the weight, sideways
        return spin, -m * G * arm / about_pin

    t = np.linspace(0.0, 4.0, 9)
    angle = solve_ivp(rate, (0.0, 4.0), (1.2, 0.0), "DOP853", t_eval=t, rtol=1e-12, atol=1e-13).y[0]
    x, y = np.cos(angle) * cx - np.sin(angle) * cy, np.sin(angle) * cx + np.cos(angle) * cy
    pose = scenario.truth.pose(t)[:, 0]
    height = 1 if isinstance(scenario.scene, PlanarScene) else 2
    assert pose[:, 0] == pytest.approx(x, abs=1e-9)
    assert pose[:, height] == pytest.approx(y, abs=1e-9)
    crossings = np.flatnonzero(np.diff(np.sign(np.interp(np.linspace(0, 4, 40001), t, x))) != 0)
    assert len(crossings) >= 2
    assert scenario.truth.goal is not None
    swing = solve_ivp(rate, (0.0, 4.0), (1.2, 0.0), "DOP853", rtol=1e-12, atol=1e-13, events=lambda t, s: s[1])
    assert scenario.truth.goal.exact == pytest.approx(swing.t_events[0][-1] - swing.t_events[0][-3], abs=1e-8)


def test_the_hammer_flies_as_its_material_points_do():
    """Newton's law of a cloud of points: L about the centre is kept, and R follows from it, by matrices."""
    scenario = scenario_of("hammer-flight")
    (body,) = scenario.scene.bodies
    w, *v = body.orientation
    R0 = Rotation.from_quat([*v, w]).as_matrix()
    own = np.array(body.inertia)
    L = R0 @ (own * (R0.T @ np.array(body.spin)))

    def rate(t, flat):
        R = flat.reshape(3, 3)
        spin = R @ ((R.T @ L) / own)
        return np.cross(spin, R.T).T.ravel()

    t = np.linspace(0.0, 2.0, 5)
    found = solve_ivp(rate, (0.0, 2.0), R0.ravel(), "DOP853", t_eval=t, rtol=1e-12, atol=1e-13).y.T.reshape(-1, 3, 3)
    pose = scenario.truth.pose(t)[:, 0]
    truth = Rotation.from_quat(pose[:, [4, 5, 6, 3]]).as_matrix()
    assert np.abs(truth - found).max() < 1e-9
    at = body.position + np.outer(t, body.velocity) - 0.5 * np.outer(t * t, (0.0, 0.0, G))
    assert pose[:, :3] == pytest.approx(at, abs=1e-12)


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_overhang_tips_as_its_bars_do_about_the_edge_of_the_foot(space):
    scenario = scenario_of(f"overhang:arm=3,space={space}")
    bars = ((1.0, 0.5, -0.5, 0.25, 1.0), (3.0, 0.5, 0.5, 0.75, 1.0))  # seen from the edge
    m, (cx, cy), about_edge = bars_of(*bars)

    def rate(t, state):
        angle, spin = state
        return spin, -m * G * (np.cos(angle) * cx - np.sin(angle) * cy) / about_edge

    end = scenario.truth.span[1]
    t = np.linspace(0.0, end, 5)
    angle = solve_ivp(rate, (0.0, end), (0.0, 0.0), "DOP853", t_eval=t, rtol=1e-12, atol=1e-13).y[0]
    assert angle[-1] == pytest.approx(-0.2, abs=1e-9)
    pose = scenario.truth.pose(t)[:, 0]
    assert pose[:, 0] == pytest.approx(0.5 + np.cos(angle) * cx - np.sin(angle) * cy, abs=1e-9)


def test_the_overhang_stands_as_long_as_its_centre_of_mass_is_above_its_foot():
    """arm (arm - 1) / 2 = (1 + arm) / 2 at 1 + sqrt(2)."""
    for arm, stands in ((LONGEST_ARM - 1e-6, True), (LONGEST_ARM + 1e-6, False)):
        scenario = scenario_of(f"overhang:arm={arm!r}")
        assert (scenario.scene.bodies[0].position[0] < 0.5) is stands
        assert ("stood", "block") in scenario.expected if stands else not scenario.expected


def test_friction_holds_the_edge_of_a_block_that_tips():
    """The force at the edge, by Newton's law from the truth's own path, stays in the cone of friction 1."""
    scenario = scenario_of("overhang:arm=3")
    end, h = scenario.truth.span[1], 1e-4
    t = np.linspace(2 * h, end - 2 * h, 50)
    x = [scenario.truth.pose(t + shift)[:, 0, :2] for shift in (-h, 0.0, h)]
    force = (x[0] - 2.0 * x[1] + x[2]) / h**2 + (0.0, G)
    assert (np.abs(force[:, 0]) < 0.5 * force[:, 1]).all() and (force[:, 1] > 0.0).all()
