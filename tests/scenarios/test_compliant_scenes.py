"""Truths of compliant scenes: the motion of spheres by scipy, which knows nothing of the engine, and its figures."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.compliant_spheres import ERROR, CompliantSpheres, rubber
from scenarios.contact import stiffness
from scenarios.scenario import ParameterError
from scenarios.scene import ContactLaw, Material, MaterialPair, SpatialScene, inertias, masses

TIMES = np.linspace(0.0, 0.24, 13)


def rolling_scene():
    return scenario_of("rolling-balls:rolling_resistance=0.02").scene.model_copy(update={"duration": 0.24})


def energies(scene, motion):
    """(S, 4) J: kinetic, of gravity, elastic, dissipated; their sum is constant."""
    x, v, spin = np.moveaxis(motion.state(TIMES), 2, 0)
    mass, law, radius = masses(scene), scene.contact.compliant, scene.bodies[0].shape.radius
    kinetic = 0.5 * (v**2).sum(axis=2) @ mass + 0.5 * (spin**2).sum(axis=2) @ inertias(scene)[:, 0]
    struck, (floor,) = scene.bodies[1], scene.boundaries
    depth = np.maximum(0.0, radius - x[:, :, 2]) ** 2.5
    between = np.maximum(0.0, 2.0 * radius - np.linalg.norm(x[:, 1] - x[:, 0], axis=1)) ** 2.5
    elastic = 0.4 * (stiffness(law, struck, floor) * depth.sum(axis=1) + stiffness(law, *scene.bodies) * between)
    return np.stack([kinetic, 9.81 * x[:, :, 2] @ mass, elastic, motion.dissipated(TIMES)], axis=1)


@pytest.fixture(scope="module")
def rolling():
    """Slides, meets the other ball after a tenth of a second, and both slide and roll on."""
    scene = rolling_scene()
    return {t: CompliantSpheres(scene, t) for t in (1e-12, 1e-11)}


def test_two_balls_that_collide_and_roll_keep_the_sum_of_four_energies(rolling):
    motion = rolling[1e-12]
    each = energies(rolling_scene(), motion)
    assert len(motion.edges) == 4 and each[-1, 3] > 0.1  # two balls meet and part
    assert each.sum(axis=1) == pytest.approx(each[0].sum(), abs=1e-9)
    assert (np.diff(each[:, 3]) >= 0.0).all()


def test_the_error_that_a_truth_states_is_more_than_a_coarser_run_is_off(rolling):
    fine, coarse = (motion.state(TIMES) for motion in rolling.values())
    assert 0.0 < np.abs(fine - coarse)[:, :, 0].max() < 0.1 * ERROR


@pytest.mark.parametrize("restitution", [0.1, 0.7, 1.0])
def test_a_rebound_by_the_equation_of_motion_is_that_of_lamberts_function(restitution):
    scenario = scenario_of(f"compliant-bounce:restitution={restitution}")
    assert isinstance(scenario.scene, SpatialScene)
    motion = CompliantSpheres(scenario.scene)
    assert motion.state(np.array([scenario.scene.duration]))[0, 0, 1, 2] == pytest.approx(
        0.5 * scenario.truth.goal.value, abs=1e-11
    )


def test_a_ball_at_rest_is_as_deep_as_its_weight_presses_it():
    scenario = scenario_of("compliant-rest")
    scene = scenario.scene
    depth, c = scenario.truth.goal.value, stiffness(scene.contact.compliant, scene.bodies[0], scene.boundaries[0])
    assert c * depth**1.5 == pytest.approx(9.81, rel=1e-14)
    settled = CompliantSpheres(scene.model_copy(update={"duration": 1.5})).state(np.array([1.5]))[0, 0]
    assert settled[0] == pytest.approx([0.0, 0.0, 0.1 - depth], abs=1e-12)


def test_the_law_on_depth_is_what_energy_can_press_beside_a_tenth_of_the_ball():
    """A softer ball may be pressed deeper: the same energy at a hundredth of the modulus, 100^0.4 times."""
    soft, hard = (scenario_of(f"compliant-bounce:young_modulus={E}").laws["penetration_max"] for E in (1e5, 1e7))
    tenth = scenario_of("newtons-cradle:space=spatial").laws["penetration_max"] / 5.0  # of balls five times as large
    assert (soft - tenth) / (hard - tenth) == pytest.approx(100.0**0.4, rel=1e-12)


def test_two_materials_meet_by_the_law_of_their_pair():
    law = rubber(1e5, 0.5).model_copy(
        update={
            "materials": (Material(name="rubber", young_modulus=1e5), Material(name="felt", young_modulus=2e5)),
            "pairs": (MaterialPair(a="felt", b="rubber", restitution=1.0),),
        }
    )
    scene = scenario_of("compliant-bounce").scene
    scene = scene.model_copy(
        update={
            "contact": ContactLaw(compliant=law),
            "boundaries": (scene.boundaries[0].model_copy(update={"material": "felt"}),),
        }
    )
    assert CompliantSpheres(scene).state(np.array([scene.duration]))[0, 0, 1, 2] == pytest.approx(0.5, abs=1e-11)


def test_balls_that_would_be_pressed_centre_on_centre_are_refused():
    """10 m/s, balls of 10 cm: by 20 cm at 20 kPa, as the balance of energy says, by 11 at 100."""
    with pytest.raises(ParameterError, match=r"speed 10 m/s would press balls of radius 0\.1 m by 0\.205 m; allowed"):
        scenario_of("compliant-cradle:speed=10,young_modulus=2e4")
    assert scenario_of("compliant-cradle:speed=10,young_modulus=1e5")
