"""Engines that have a linear spring and damper for Hertz's law: what they are given, and what comes of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.contact import stiffness
from scenarios.scene import CompliantContact, ContactLaw, Material, MaterialPair, SpatialScene
from tests.validation.engines.spatial_scenes import DT, every_engine, in_space
from tests.validation.metrics.motions import values
from validation.engines.mujoco.adapter import MuJoCo
from validation.engines.shared.linear_contact import body_values, bounce, damping_ratio, linear_contact


def scene_of(word: str) -> SpatialScene:
    scene = scenario_of(word).scene
    assert isinstance(scene, SpatialScene)
    return scene


def returned(zeta: float) -> float:
    """Share of its speed that a unit mass keeps of a contact that pushes and never pulls, by its equation of motion.

    x = exp(-zeta t) sin(s t) / s while it lasts, x'' >= 0 at its end: the push, -x - 2 zeta x', is 0 there.
    """
    s = np.emath.sqrt(1.0 - zeta * zeta)  # imaginary beyond 1
    time = np.linspace(1e-9, math.pi / min(max(abs(s), 0.2), 1.0), 2_000_001)
    depth = np.real(np.exp(-zeta * time) * np.sin(s * time) / s)
    rate = np.real(np.exp(-zeta * time) * (np.cos(s * time) - zeta / s * np.sin(s * time)))
    return float(-rate[np.argmax(depth + 2.0 * zeta * rate < 0.0)])


@pytest.mark.parametrize("zeta", [0.05, 0.4, 0.8])
def test_a_damper_returns_the_speed_that_it_was_chosen_for(zeta: float) -> None:
    assert damping_ratio(returned(zeta)) == approx(zeta, abs=1e-5)


@pytest.mark.parametrize("e", [0.95, 0.5, 0.2, 0.08, 0.03])
def test_a_bounce_of_any_restitution_has_the_damper_that_returns_it_and_the_spring_of_its_time(e: float) -> None:
    K, D = bounce(e, 0.04)
    assert math.pi / math.sqrt(K) == approx(0.04)
    assert returned(0.5 * D / math.sqrt(K)) == approx(e, abs=2e-5)


def test_without_loss_a_bounce_has_no_damper() -> None:
    assert bounce(1.0, 0.04)[1] == 0.0


def test_no_loss_takes_no_damper_and_a_great_loss_a_critical_one() -> None:
    assert damping_ratio(1.0) == approx(0.0, abs=1e-12) and damping_ratio(0.1) == 1.0


def test_the_spring_has_hertzs_force_under_the_weight_and_hertzs_energy_without_one() -> None:
    resting, thrown = scene_of("compliant-rest"), scene_of("compliant-bounce:restitution=1")
    K, D, m = linear_contact(resting, resting.bodies[0], resting.boundaries[0])
    depth = scenario_of("compliant-rest").truth.goal
    assert depth and K * depth.value == approx(9.81, rel=1e-12) and approx(2.0 * math.sqrt(K)) == D and m == 1.0
    K, D, _ = linear_contact(thrown, thrown.bodies[0], thrown.boundaries[0])
    assert thrown.contact.compliant
    c = stiffness(thrown.contact.compliant, thrown.bodies[0], thrown.boundaries[0])
    deepest = (2.5 * 0.125 / c) ** 0.4
    assert 0.5 * K * deepest**2 == approx(0.125, rel=1e-12) and approx(0.0, abs=1e-9) == D


def test_springs_of_bodies_in_series_give_every_pair_its_own() -> None:
    scene = scene_of("rolling-balls")
    found = body_values(scene)
    assert found is not None
    (k, d), members = found, (*scene.bodies, *scene.boundaries)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        contact = linear_contact(scene, members[i], members[j])
        assert 1.0 / (1.0 / k[i] + 1.0 / k[j]) == approx(contact.stiffness, rel=1e-9)
        assert d[i] + d[j] == approx(contact.damping, rel=1e-9)


@every_engine
def test_a_ball_at_rest_is_as_deep_as_its_weight_presses_it(engine: Any) -> None:
    """The one depth at which a linear spring agrees with Hertz's; MuJoCo's impedance of 1e-4 leaves so much open."""
    scenario = scenario_of("compliant-rest")
    found = values(scenario.scene, in_space(engine, scene_of("compliant-rest")), scenario.truth)
    assert found["truth_error_goal"] < 1.1e-4 * 0.00564


@every_engine
def test_materials_that_never_meet_need_no_law(engine: Any) -> None:
    """One ball of rubber on a floor of felt: no law of rubber with rubber."""
    scene, felt = scene_of("compliant-rest"), Material(name="felt", young_modulus=1e9)
    given = scene.contact.compliant
    assert given
    law = CompliantContact(
        materials=(*given.materials, felt), pairs=(MaterialPair(a="rubber", b="felt", restitution=0.5),)
    )
    floor = scene.boundaries[0].model_copy(update={"material": "felt"})
    scene = scene.model_copy(update={"boundaries": (floor,), "contact": ContactLaw(compliant=law), "duration": 0.1})
    assert values(scene, in_space(engine, scene))["penetration_max"] > 1e-3


@every_engine
def test_what_rebounds_without_loss_does_so_the_more_exactly_the_finer_the_step(engine: Any) -> None:
    scenario = scenario_of("compliant-bounce:restitution=1,young_modulus=2e4")
    coarse, fine = (
        abs(1.0 - in_space(engine, scene_of(scenario.label), dt=dt).velocity[-1, 0, 2] / 0.5) for dt in (DT, DT / 4)
    )
    assert fine < 0.4 * coarse < 0.1 or coarse < 1e-5  # MuJoCo's RK4 has no more to gain


def test_mujoco_gets_no_spring_that_its_step_does_not_resolve() -> None:
    """Steel at 1/240 s: it sinks in 1 / 4 of what a step moves and more, and comes back with its nominal ratio."""
    scenario = scenario_of("compliant-bounce:young_modulus=2e11")
    found = values(scenario.scene, in_space(MuJoCo(), scene_of(scenario.label)), scenario.truth)
    assert 1e-3 < found["penetration_max"] < 5e-3 and found["truth_error_goal"] < 0.05 and found["energy_gain"] == 0.0
