"""Springs, dampers, motors, limits and dry friction of joints, ropes and fixed joints in space, on each engine.

Engines of first order are off by a step's change of the speed, so the bound falls with the step; the reference is
exact to the tolerance of its integrator.
"""

from __future__ import annotations

import math

import pytest

from scenarios.catalogue import scenario_of
from scenarios.joint_forces import AxialCoordinates
from scenarios.scene import ForceMotor, JointLimits
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.engine import resolve_settings
from validation.metrics import measure

STEPPING = [
    pytest.param(name, marks=() if name in ("mujoco", "pybullet", "rapier") else pytest.mark.slow)
    for name in ("mujoco", "pybullet", "rapier", "dart", "physx")
]
LINEAR = [f"driven-joint:motor={motor}" for motor in ("none", "position", "velocity", "force")]
STEP = 1.0 / 240.0


def measured(name: str, word: str, dt: float) -> dict[str, float]:
    if name not in present_engines():
        pytest.skip(f"{name} is not installed")
    scenario, engine = scenario_of(word), load_engine(engine_of(name))
    assert engine.declines(scenario.scene) is None
    settings = resolve_settings(engine, "fair", {}, scenario.scene, dt)
    return {m.metric: m.value for m in measure(scenario, engine.simulate(scenario.scene, dt, settings))}


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize("word", LINEAR)
def test_a_joint_follows_its_equation_of_motion_to_the_order_of_the_step(name, word):
    """4 dt: as much as a change of the acceleration by 4 m/s^2 makes in a second; DART damps by 7 mm more."""
    for joint in ("hinge", "slider"):
        found = measured(name, f"{word},joint={joint}", STEP)
        assert found["truth_error_position"] < 4.0 * STEP
        assert found["joint_gap"] < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("word", LINEAR)
def test_the_reference_follows_it_to_ten_digits_and_the_work_of_motor_and_damper_balances_the_energy(word):
    found = measured("reference", word, STEP)
    assert found["truth_error_position"] < 1e-10
    assert found["energy_drift"] < 1e-8  # of 0.5 J that go round: the rule by which work is summed is of fourth order


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize("joint", ["hinge", "slider"])
def test_a_limit_stops_a_joint_and_keeps_it(name, joint):
    """No further than a step of its speed there, 1 rad/s or m/s."""
    found = measured(name, f"joint-stop:joint={joint}", STEP)
    beyond = found["limit_excess_angle" if joint == "hinge" else "limit_excess_travel"]
    assert beyond < STEP
    assert found["truth_error_position"] < 2.0 * STEP


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize("stop", [2.5, 7.0])
def test_a_limit_holds_however_far_or_the_engine_declines_it(name, stop):
    """Beyond half a turn from the start Rapier and PhysX would turn on past it: they decline, by the joint's name."""
    scenario = scenario_of("joint-stop")
    (joint,) = scenario.scene.joints
    more = {"limits": JointLimits(low=-1.0, high=stop), "motor": ForceMotor(target=((0.0, 4.0),))}
    scene = scenario.scene.model_copy(update={"joints": (joint.model_copy(update=more),)})
    if name not in present_engines():
        pytest.skip(f"{name} is not installed")
    engine = load_engine(engine_of(name))
    if name in ("rapier", "physx") and stop > math.pi:
        assert "hinge 'hinge' has limits" in str(engine.declines(scene))
        return
    motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
    coordinates = AxialCoordinates(scene, scene.joints)
    angles = [coordinates.values(*pose)[0] for pose in zip(motion.position, motion.orientation)]
    fastest = math.sqrt(2.0 * 4.0 * stop / 0.334)  # rad/s, at the limit: pybullet stays a step's way beyond
    assert max(angles) < stop + 1.1 * fastest * STEP
    assert angles[-1] == pytest.approx(stop, abs=fastest * STEP)


@pytest.mark.parametrize("name", [one for one in STEPPING if one.values[0] in ("mujoco", "pybullet", "dart")])
def test_dry_friction_stops_a_joint_and_keeps_it_against_less_than_itself(name):
    for load in ("0", "0.9"):
        assert measured(name, f"joint-brake:load={load}", STEP)["truth_error_position"] < 2.0 * STEP


@pytest.mark.parametrize("name", [one for one in STEPPING if one.values[0] in ("mujoco", "rapier", "physx")])
def test_a_ball_on_a_rope_goes_round(name):
    found = measured(name, "conical-pendulum", STEP)
    assert found["truth_error_position"] < 4.0 * STEP
    assert found["joint_gap"] < 1e-3


@pytest.mark.parametrize("name", STEPPING)
def test_two_cubes_that_are_fixed_to_one_another_fly_as_one(name):
    """Semi-implicit methods fall g t dt / 2 further: 2 cm in a second."""
    found = measured(name, "fixed-flight", STEP)
    assert found["truth_error_position"] < 0.6 * 9.81 * STEP
    assert found["truth_error_angle"] < 0.01
    assert found["joint_gap"] < 1e-5


@pytest.mark.parametrize(
    ("name", "word", "why"),
    [
        ("reference", "joint-stop", "the reference engine has no limits of hinges and sliders in space"),
        ("reference", "joint-brake", "the reference engine has no dry friction of hinges and sliders in space"),
        ("rapier", "joint-brake", "Rapier has no dry friction of joints"),
        ("pybullet", "conical-pendulum", "Bullet has no joint that limits a distance"),
        ("pymunk", "driven-joint", "pymunk is planar"),
    ],
)
def test_what_an_engine_does_not_have_it_declines_by_name(name, word, why):
    if name == "pybullet":
        pytest.importorskip("pybullet", reason="no wheel for this Python")
    found = load_engine(engine_of(name)).declines(scenario_of(word).scene)
    assert found is not None and why in found
