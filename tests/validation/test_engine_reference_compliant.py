"""The reference engine behind the seam, in compliant contact: truths, the log of touches, and what it declines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest import approx

from reference_engine import simulate_compliant
from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.contact import stiffness
from scenarios.scene import Box, Capsule, Cylinder, Damping, Ellipsoid, HollowSphere, SpatialBody, SpatialScene, Sphere
from tests.validation.engines.spatial_scenes import in_space
from tests.validation.metrics.motions import values
from validation.engines.reference.adapter import Reference
from validation.engines.reference.compliant import world_of
from validation.metrics import measure
from validation.metrics.energy import elastic_energy
from validation.metrics.observation import Observation
from validation.records.trajectory import from_bytes, to_bytes

BOUNCE = scenario_of("compliant-bounce").scene


def given(word: str) -> SpatialScene:
    scene = scenario_of(word).scene
    assert isinstance(scene, SpatialScene)
    return scene


@pytest.mark.parametrize("restitution", [0.1, 0.5, 0.98])
def test_a_rebound_has_the_ratio_and_the_poses_of_its_truth(restitution: float) -> None:
    scenario = scenario_of(f"compliant-bounce:restitution={restitution},young_modulus=1e8")
    found = {m.metric: m for m in measure(scenario, in_space(Reference(), given(scenario.label)))}
    assert found["truth_error_goal"].value < 1e-10 and found["truth_error_position"].value < 1e-11
    assert found["truth_error_event_time"].value < 1e-12 and found["energy_gain"].value < 1e-12
    assert found["penetration_max"].better == "neither"


def test_a_ball_at_rest_is_as_deep_as_its_weight_presses_it() -> None:
    scenario = scenario_of("compliant-rest")
    found = values(scenario.scene, in_space(Reference(), given("compliant-rest")), scenario.truth)
    assert found["truth_error_goal"] < 1e-12 and found["truth_error_position"] < 1e-12
    assert found["penetration_final"] == approx(scenario.truth.goal.value if scenario.truth.goal else 0.0, abs=1e-12)


def test_a_row_of_balls_and_two_that_roll_move_as_another_integrator_has_it() -> None:
    for word in ("compliant-cradle:n=3", "rolling-balls"):
        scenario = scenario_of(word)
        found = values(scenario.scene, in_space(Reference(), given(word)), scenario.truth)
        assert found["truth_error_position"] < 1e-9, word
        assert found["energy_gain"] < 1e-10 and found.get("momentum_drift", 0.0) < 1e-12


def test_every_touch_is_in_the_log_with_its_law() -> None:
    motion = in_space(Reference(), given("compliant-cradle:n=3,restitution=0.7"))
    log = motion.impacts
    assert log is not None and log.normal is not None and log.approach is not None
    assert log.gap is not None and log.restitution is not None
    assert list(zip(log.a, log.b))[:2] == [(0, 1), (1, 2)] and log.time[0] == approx(1e-3, abs=1e-12)
    assert log.normal[:2] == approx(np.array([[1.0, 0.0, 0.0]] * 2)) and log.approach[0] == approx(1.0, abs=1e-12)
    assert np.abs(log.gap).max() <= 3e-13 and set(log.restitution) <= {0.0, 0.7}
    assert log.point[0] == approx([0.101, 0.0, 0.0], abs=1e-12) and np.isnan(log.impulse).all()
    assert log.parting is not None and sorted(log.parting[:4]) == [0, 0, 1, 1]
    assert (log.approach[log.parting == 0] > 0.0).all() and (log.approach[log.parting == 1] < 0.0).all()
    again = from_bytes(to_bytes(motion)).impacts
    assert again is not None and again.approach is not None and again.approach.tobytes() == log.approach.tobytes()
    assert again.parting is not None and again.parting.tolist() == log.parting.tolist()


def laid(shape: object, z: float, **more: object) -> SpatialScene:
    """Alone on the rubber floor."""
    body = SpatialBody(name="body", shape=shape, mass=2.0, material="rubber", position=(0.0, 0.0, z), **more)
    given = {"bodies": (body,), "gravity": (0.0, 0.0, -9.81), "duration": 1.0}
    return BOUNCE.model_copy(update=given)


def test_contacts_are_reported_with_what_they_gave_in_the_step() -> None:
    """A box comes to rest on four corners; its impulses balance, so that the cone is judged by them."""
    scene = laid(Box(size=(0.4, 0.3, 0.2)), 0.12, contact_radius=0.05)
    motion = in_space(Reference(), scene)
    assert motion.contacts is not None
    last = motion.contacts.sample == motion.contacts.sample[-1]
    assert last.sum() == 4 and motion.time[motion.contacts.sample[-1]] > 0.8
    assert motion.contacts.impulse[last] == approx(np.array([[0.0, 0.0, -0.25 * 2.0 * 9.81 * motion.dt]] * 4), rel=1e-4)
    found = values(scene, motion)
    assert found["cone_violation"] < 1e-9 and found["energy_gain"] < 1e-9


def test_what_four_corners_hold_is_in_the_energy() -> None:
    scene = laid(
        Box(size=(0.4, 0.3, 0.2)), 0.1, contact_radius=0.05, orientation=(math.cos(0.02), math.sin(0.02), 0.0, 0.0)
    )
    motion = simulate_compliant(world_of(scene), np.linspace(0.0, 1.0, 241))
    o = Observation(scenario=scenario_from_scene("laid.json", scene), trajectory=in_space(Reference(), scene))
    shared = np.isin(motion.time.round(9), o.time.round(9)), np.isin(o.time.round(9), motion.time.round(9))
    assert elastic_energy(o)[shared[1]] == approx(motion.elastic[shared[0]], rel=1e-9, abs=1e-12)
    assert motion.elastic.max() > 0.01


@pytest.mark.parametrize(
    ("shape", "radius"),
    [
        (Sphere(radius=0.2), None),
        (Capsule(radius=0.2, length=0.3), None),
        (Cylinder(radius=0.2, length=0.4), None),
        (Ellipsoid(semi_axes=(0.3, 0.25, 0.2)), None),
        (Box(size=(0.4, 0.4, 0.4)), 0.05),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_the_stiffness_that_metrics_and_peers_are_told_is_that_of_the_engine(
    shape: object, radius: float | None
) -> None:
    """By the elastic energy of a start 1 mm deep, 2/5 c depth^2.5 of every place in touch."""
    body = SpatialBody(
        name="body", shape=shape, mass=1.0, material="rubber", position=(0.0, 0.0, 0.199), contact_radius=radius
    )
    on_its_side = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    lying, places = {
        "capsule": (on_its_side, 2), "cylinder": (on_its_side, 2), "box": (body.orientation, 4)
    }.get(body.shape.kind, (body.orientation, 1))  # fmt: skip
    body = body.model_copy(update={"orientation": lying})
    scene = BOUNCE.model_copy(update={"bodies": (body,)})
    elastic = simulate_compliant(world_of(scene), [0.0]).elastic[0]
    assert scene.contact.compliant
    c = stiffness(scene.contact.compliant, body, scene.boundaries[0])
    assert elastic == approx(places * 0.4 * c * 1e-3**2.5, rel=1e-6)


def test_what_it_does_not_know_beside_materials_is_declined_in_words() -> None:
    def declined(**changed: object) -> str:
        return str(Reference().declines(BOUNCE.model_copy(update=changed)))

    assert declined(damping=Damping(linear=1.0)).endswith("under gravity alone; this scene has damping")
    shell = HollowSphere(name="shell", radius=3.0, material="rubber")
    assert "the inside of a sphere" in declined(boundaries=(*BOUNCE.boundaries, shell))
    grouped = tuple(body.model_copy(update={"group": 1}) for body in BOUNCE.bodies)
    assert "of one group" in declined(bodies=grouped)
    twice = (*BOUNCE.bodies, BOUNCE.bodies[0].model_copy(update={"name": "twin"}))
    assert "one centre" in declined(bodies=twice)


def test_a_scene_of_ones_own_is_judged_by_what_its_energy_can_press() -> None:
    mine = scenario_from_scene("mine.json", BOUNCE)
    assert "elastic-depth" in mine.truth.invariants and "no-overlap" not in mine.truth.invariants
    found = values(BOUNCE, in_space(Reference(), given("compliant-bounce")))
    assert 0.005 < found["penetration_max"] < mine.laws["penetration_max"] < 0.05
