"""Bouncing in air: the closed form against an integration, and the drag that engines are given."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from scenarios.catalogue import scenario_of
from scenarios.catalogue.ball_with_drag import Flights
from scenarios.forces import planar_wrenches, spatial_wrenches
from scenarios.scene import Damping, PlanarScene, content_hash, features


def test_a_flight_between_two_impacts_obeys_its_equation():
    flights = Flights(2.0, 0.8, 0.1)
    start, speed = flights.impacts[0], flights.speeds[0]
    times = np.linspace(start, flights.impacts[1], 9)
    found = solve_ivp(lambda _, y: (y[1], -9.81 - 0.1 * abs(y[1]) * y[1]), (start, times[-1]), (0.0, speed),
                      "DOP853", rtol=1e-12, atol=1e-13, t_eval=times)  # fmt: skip
    assert flights.height(times) == pytest.approx(found.y[0], abs=1e-10)
    assert flights.impacts[:4] == pytest.approx([0.660033385509601, 1.543617291214608, 2.200187661319427,
                                                 2.703915598786138], abs=1e-14)  # fmt: skip
    assert flights.rest == pytest.approx(4.621460995784965, abs=1e-13)


def test_weak_drag_is_none():
    assert Flights(1.0, 0.5, 1e-9).rest == pytest.approx(3.0 * np.sqrt(2.0 / 9.81), rel=1e-8)


def test_drag_grows_with_the_square_of_the_speed_in_the_plane_and_in_space():
    flat = scenario_of("ball-with-drag:drag=0.5").scene
    wrench = planar_wrenches(flat, 0.0, np.zeros((1, 3)), np.array([[3.0, -4.0, 1.0]]))
    assert wrench == pytest.approx(np.array([[-7.5, 10.0, 0.0]]))
    solid = scenario_of("ball-with-drag:drag=0.5,space=spatial").scene
    force, torque = spatial_wrenches(
        solid, 0.0, np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.array([[3.0, 0.0, -4.0]]), np.ones((1, 3))
    )
    assert force == pytest.approx(np.array([[-7.5, 0.0, 10.0]])) and not torque.any()


def test_a_scene_without_drag_keeps_its_identity():
    scene = scenario_of("bouncing-ball").scene
    assert "quadratic" in scene.model_dump()["damping"] and "damping" not in features(scene)
    older = scene.model_dump(mode="json")
    del older["damping"]["quadratic"]
    assert content_hash(PlanarScene.model_validate(older, strict=False)) == content_hash(scene)
    assert content_hash(scene.model_copy(update={"damping": Damping(quadratic=0.1)})) != content_hash(scene)
