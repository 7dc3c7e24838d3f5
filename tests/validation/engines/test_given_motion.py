"""Bodies of given motion in engines: where they are, what they take along, the work that is counted of it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.given_motion import given_state
from scenarios.scene import HalfPlane, PlanarBody, PlanarGivenMotion, PlanarScene
from tests.validation.engines.planar_scenes import DT, G, ball, box, rectangle, simulated
from validation.engines import OURS
from validation.engines.engine import resolve_settings
from validation.engines.shared.replay import one_step
from validation.metrics import measure

CLASSES = {"pymunk": "Pymunk", "box2d": "Box2D", "mujoco": "MuJoCo", "rapier": "Rapier", "reference": "Reference"}
STEPPING = [name for name in CLASSES if name != "reference"]
OFF = {"pymunk": 0.006, "box2d": 0.016, "mujoco": 0.02, "rapier": 0.004}  # m: Box2D's skin; MuJoCo's stiff contacts hop


def engine_of(name: str) -> Any:
    if name != "reference":
        pytest.importorskip(OURS[name][0])
    return getattr(importlib.import_module(f"validation.engines.{name}.adapter"), CLASSES[name])()


def motion_by(name: str, word: str, dt: float = DT) -> tuple[Any, Any]:
    engine, scenario = engine_of(name), scenario_of(word)
    assert engine.declines(scenario.scene) is None
    settings = resolve_settings(engine, "fair", {}, scenario.scene, dt)
    return scenario, engine.simulate(scenario.scene, dt, settings)


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize("word", ["moving-plate", "moving-plate:moved=shaken"])
def test_the_plate_is_where_it_is_given_and_the_block_where_friction_takes_it(name: str, word: str) -> None:
    scenario, motion = motion_by(name, word, 1 / 960 if name == "mujoco" else DT)
    exact = scenario.truth.pose(motion.time)
    assert motion.pose[:, 1] == approx(exact[:, 1], abs=2e-6)  # single precision
    assert np.abs(motion.pose[:, 0, :2] - exact[:, 0, :2]).max() < OFF[name]
    rate = [given_state(scenario.scene.bodies[1], t)[1][0] for t in (motion.time + motion.velocity_lag).tolist()]
    assert motion.velocity[1:, 1, 0] == approx(np.array(rate[1:]), abs=0.5 * 5.0 * DT)  # Rapier's is of mid-step


@pytest.mark.parametrize("name", ["mujoco", "rapier"])
def test_so_it_is_in_space(name: str) -> None:
    scenario, motion = motion_by(name, "moving-plate:moved=shaken,space=spatial", 1 / 960)
    exact = scenario.truth.pose(motion.time)
    assert motion.position[:, 1] == approx(exact[:, 1, :3], abs=2e-6)
    assert np.abs(motion.position[:, 0] - exact[:, 0, :3]).max() < 0.02


@pytest.mark.parametrize("moved", ["belt", "set-off"])
@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_reference_takes_what_is_steady_to_round_off(moved: str, space: str) -> None:
    scenario, motion = motion_by("reference", f"moving-plate:moved={moved},space={space}")
    exact = scenario.truth.pose(motion.time)
    assert motion.position == approx(exact[..., : motion.position.shape[2]], abs=1e-13)
    assert motion.contacts is not None and len(motion.contacts.sample)


def test_what_is_not_steady_or_not_alone_it_declines_in_words() -> None:
    reference = engine_of("reference")
    assert "where it is steady" in str(reference.declines(scenario_of("moving-plate:moved=shaken").scene))
    belt = scenario_of("moving-plate").scene
    ground = HalfPlane(name="ground", point=(0.0, -5.0))
    assert "nothing else is fixed" in str(reference.declines(belt.model_copy(update={"boundaries": (ground,)})))


@pytest.mark.parametrize("name", STEPPING)
def test_the_work_of_a_belt_is_what_the_block_gains_and_what_slip_loses(name: str) -> None:
    """m u^2: one half is the block's energy, the other heat."""
    scenario, motion = motion_by(name, "moving-plate")
    assert motion.internals.given[-1] == approx(2.25, rel=0.02)
    found = {m.metric: m.value for m in measure(scenario, motion)}
    assert found["given_work"] == motion.internals.given[-1]
    if name in ("pymunk", "rapier"):
        assert found["energy_gain"] < 1e-8


def test_where_something_else_acts_too_the_energy_is_not_judged() -> None:
    plate = PlanarBody(name="plate", shape=rectangle(4.0, 0.5), fixed=True, position=(0.0, -0.25),
                       motion=PlanarGivenMotion(velocity=(1.0, 0.0)))  # fmt: skip
    thrown = ball(position=(0.0, 0.6))
    given = PlanarScene(bodies=(thrown, plate), boundaries=(HalfPlane(name="far", point=(0.0, -9.0)),), duration=0.2)
    motion = simulated(engine_of("pymunk"), given)
    assert motion.internals is None


@pytest.mark.parametrize("name", STEPPING)
def test_it_turns_and_passes_through_what_is_fixed(name: str) -> None:
    turning = PlanarBody(name="turning", shape=rectangle(4.0, 0.5), fixed=True, position=(0.0, 5.0),
                         motion=PlanarGivenMotion(spin=2.0, velocity=(0.0, -3.0)))  # fmt: skip
    post = PlanarBody(name="post", shape=rectangle(0.5, 0.5), fixed=True, position=(0.0, 4.0))
    falling = box(position=(20.0, 9.0))
    given = PlanarScene(bodies=(falling, turning, post), boundaries=(HalfPlane(name="ground"),), duration=1.0)
    motion = simulated(engine_of(name), given)
    assert motion.pose[-1, 1] == approx([0.0, 2.0, 2.0], abs=1e-5)
    assert motion.pose[-1, 2] == approx([0.0, 4.0, 0.0], abs=1e-12)
    assert motion.position[-1, 0, 1] == approx(9.0 - 0.5 * G, abs=0.03)


@pytest.mark.parametrize("name", STEPPING)
def test_a_step_from_a_recorded_state_is_the_step_that_was_made(name: str) -> None:
    """On the swinging plate, from where it is at that time."""
    scenario, motion = motion_by(name, "moving-plate:moved=shaken")
    engine = engine_of(name)
    settings = resolve_settings(engine, "fair", {}, scenario.scene, DT)
    after = one_step(engine, scenario.scene, DT, settings, motion)
    pairs = np.flatnonzero(np.isclose(np.diff(motion.time), DT))
    assert len(pairs) > 10
    assert after.pose[pairs, 1] == approx(motion.pose[pairs + 1, 1], abs=4e-6)
    assert after.pose[pairs, 0] == approx(motion.pose[pairs + 1, 0], abs=0.01)


@pytest.mark.parametrize("name", ["pybullet", "dart", "physx"])
def test_others_decline_it_by_name(name: str) -> None:
    pytest.importorskip(OURS[name][0])
    module = importlib.import_module(f"validation.engines.{name}.adapter")
    engine = next(one for one in vars(module).values() if getattr(one, "name", None) == name)()
    reason = str(engine.declines(scenario_of("moving-plate:space=spatial").scene))
    assert "motion" in reason or "velocity" in reason
