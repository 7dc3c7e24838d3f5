"""ContactSim as an engine: the original's recorded runs from scenes, what it reports, what it declines."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from tests.reference_engine.contactsim import replay
from tests.reference_engine.contactsim.recorded import settings_of
from tests.validation.engines.contactsim_scenes import NoScene, scene_of
from tests.validation.engines.planar_scenes import ball, box, ground, scene, simulated
from validation.engines.contactsim.adapter import Engine, RecordedSim
from validation.metrics import measure

FOLDER = Path(__file__).parents[2] / "reference_engine" / "contactsim" / "data" / "contactsim_runs"
RUNS = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
NO_SCENE = {
    "CircleCircleTest.concave_circle_and_ball": "centre of mass",
    "CircleStraightTest.ball_block_attract": "centre of mass",
    "CircleStraightTest.wedged_ball__phase2": "starts in the middle",
    "DoNothingTest.do_nothing_variable_test": "RotatingTestForce",
    "JointTest.pendulum_1_joint_1": "a joint along one direction alone",
    "MiscellanyTest.clock_with_gears": "centre of mass",
    "PileTest.pile_config_1_test__phase2": "starts in the middle",
    "StraightStraightTest.acute_corners": "centre of mass",
    "StraightStraightTest.diamonds": "Gravity2Law",
    "StraightStraightTest.ngon_block": "centre of mass",
}
WALLS_FIRST = "MultipleCollisionTest.test8_0"  # a scene has its walls last, and random numbers go by order
AS_SCENE = [name for name in RUNS if name not in NO_SCENE and name != WALLS_FIRST]
SLOW = ("elastic_balls", "three_body", "six_blocks_settle")
GROWN = {
    "SpeedTest.ball_vs_wall_1": 1e-5,
    "MiscellanyTest.three_body_spin_test3A": 1e-9,
    "MiscellanyTest.three_body_spin_test3B": 1e-8,
}
"""Round-off of a wall that is a half-plane, or of a pin's two directions, and what the motion makes of it."""
BY_ENERGY = "MiscellanyTest.three_body_spin_test3A"  # cuts its steps until the energy itself stays


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if any(s in n for s in SLOW) else ()) for n in AS_SCENE]
)
def test_a_recorded_run_of_the_original_is_repeated_from_a_scene(name: str) -> None:
    """The same end, to round-off where walls are half-planes, and each of the original's counts."""
    run = json.loads(RUNS[name].read_text())
    setup, given, engine = run["setup"], scene_of(run), Engine()
    assert engine.declines(given) is None
    settings = replace(settings_of(setup), adaptive_second_difference=name != BY_ENERGY)
    world = engine.build(given, setup["time_step"], asdict(settings))
    while world.sim.time < run["final"]["t"] - setup["time_step"] / 2.0:
        world.step()
    pose, twist = world.read()
    for i, body in enumerate(given.bodies):
        if body.name in run["final"]["bodies"]:
            wanted = approx(run["final"]["bodies"][body.name], rel=0.0, abs=GROWN.get(name, 1e-11))
            assert [*pose[i], *twist[i]] == wanted, body.name
    assert {key: getattr(world.sim.totals, key) for key in run["totals"]} == run["totals"]


@pytest.mark.parametrize("name, reason", NO_SCENE.items())
def test_a_run_that_no_scene_can_say_is_named(name: str, reason: str) -> None:
    with pytest.raises(NoScene, match=reason):
        scene_of(json.loads(RUNS[name].read_text()))


@pytest.mark.parametrize("name", (*NO_SCENE, WALLS_FIRST))
def test_a_run_that_no_scene_can_say_is_repeated_by_what_the_engine_steps(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the original's own setup, to the last bit and with each of its counts: noting impacts changes nothing."""
    monkeypatch.setattr(replay, "ContactSim", RecordedSim)
    run = json.loads(RUNS[name].read_text())
    outcome = replay.repeat(run)
    assert outcome.hit and outcome.difference == 0.0
    assert {key: getattr(outcome.totals, key) for key in run["totals"]} == run["totals"]


# --- what extra acceleration is for -------------------------------------------------------------------------

ROCK = scenario_of("upright-block:start=rock")


def measured(**settings: Any) -> tuple[dict[str, Any], int]:
    """The metrics, and at how many times the engine says that it struck."""
    motion = simulated(Engine(), ROCK.scene, **settings)
    return {m.metric: m.value for m in measure(ROCK, motion)}, len(np.unique(motion.impacts.time))


def test_with_extra_acceleration_a_rocking_block_settles_without_an_impact() -> None:
    found, times = measured()
    assert (found["impact_count"], times) == (0.0, 0) and found["energy_gain"] == 0.0


def test_without_it_the_block_rattles_and_gains_energy_and_the_metric_counts_what_the_engine_did() -> None:
    """In the original's step with its seed 77 impacts are on record. How many there are depends on both."""
    for dt, seed, least in ((0.025, 99999, 70), (1.0 / 240.0, 0, 50)):
        found, times = measured(time_step=dt, extra_acceleration="none", random_seed=seed)
        assert times >= least and found["energy_gain"] > 0.01
    assert found["impact_count"] == times


@pytest.mark.parametrize("hump", [0.8, 1.2])
def test_a_ball_on_a_track_comes_to_the_exact_solution_as_steps_get_shorter(hump: float) -> None:
    """Over the hump, or back from it; where an arc begins the force jumps within a step."""
    coaster = scenario_of(f"roller-coaster:hump={hump}")
    for step, error, gap in ((0.02, 0.2, 5e-3), (0.002, 2e-4, 5e-5)):
        motion = simulated(Engine(), coaster.scene, time_step=step)
        found = {m.metric: m.value for m in measure(coaster, motion)}
        assert found["truth_error_position"] < error and found["joint_gap"] < gap
        assert found["truth_error_angle"] == 0.0


def test_a_ball_that_is_off_its_track_at_the_start_is_declined_by_name() -> None:
    given = scenario_of("roller-coaster").scene
    off = given.model_copy(update={"bodies": (given.bodies[0].model_copy(update={"position": (0.0, 3.1)}),)})
    reason = Engine().declines(off)
    assert reason == "joint 'track': its anchor is 0.0707 m from the track; move it there"


# --- what it reports ----------------------------------------------------------------------------------------


def test_an_impact_at_the_end_of_a_step_comes_before_the_sample_there() -> None:
    """Else its approach would be read after its rebound, and the ball would gain what it lost: 0.8 J."""
    ball_scene = scenario_of("bouncing-ball")
    motion = simulated(Engine(), ball_scene.scene)
    gain = next(m.value for m in measure(ball_scene, motion) if m.metric == "energy_gain")
    assert gain is not None and gain < 0.01
    speed = motion.twist[:, 0, 1]
    jumps = np.flatnonzero((np.diff(motion.time) == 0.0) & (np.diff(speed) != 0.0))
    assert len(jumps) == len(np.unique(motion.impacts.time)) > 10
    assert (speed[jumps] < 0.0).all() and (speed[jumps + 1] > 0.0).all()


def test_an_impact_in_the_last_round_off_of_a_step_is_at_the_time_of_its_samples() -> None:
    """A step goes on by `estimate - time` and by what is left, which may end 1e-18 s beyond it; two of them strike."""
    discs = (
        ball("low", radius=1.25, mass=1.0, position=(0.0, 2.197265625), velocity=(20.0, 0.0)),
        ball("high", radius=0.734375, mass=30.0, position=(1.15625, 4.1826171875), velocity=(-20.0, 0.0), spin=-10.0),
    )
    motion = simulated(Engine(), scene(*discs, box("top", mass=1.0, position=(-0.5, 5.4169921875)), duration=0.1))
    jumps = motion.time[:-1][(np.diff(motion.time) == 0.0) & (np.diff(motion.twist, axis=0) != 0.0).any(axis=(1, 2))]
    assert len(jumps) and set(motion.impacts.time) == set(jumps)


def test_contact_forces_carry_the_weight() -> None:
    resting = scene(box(mass=2.0, position=(0.0, 0.505)), duration=0.5, ground=ground())
    motion = simulated(Engine(), resting)
    rows = motion.contacts.sample == motion.contacts.sample[-1]
    push = np.abs(motion.contacts.impulse[rows, 1]).sum() / motion.dt
    assert push == approx(2.0 * 9.81, rel=1e-9) and rows.sum() == 2
    assert motion.contacts.gap[rows] == approx(0.005, abs=1e-9)
    assert motion.contact_tolerance == 0.01


# --- what it declines ---------------------------------------------------------------------------------------


def test_what_it_declines_is_named() -> None:
    rough = scene(box(friction=0.5, position=(0.0, 2.0)), duration=0.5, ground=ground(friction=0.5))
    assert Engine().declines(rough) == "ContactSim has no friction"
    in_contact = scene(box("one"), box("two", position=(1.0, 0.0)), duration=0.5)
    assert "'one'" in (reason := Engine().declines(in_contact) or "") and "starts with bodies apart" in reason
    for gap in (0.0, -0.1):
        near = scene(ball("one"), ball("two", position=(1.0 + gap, 0.0)), duration=0.5)
        assert "starts with bodies apart: 'one' and 'two'" in (Engine().declines(near) or "")
    apart = scene(ball("one"), ball("two", position=(1.01, 0.0)), duration=0.5)
    assert Engine().declines(apart) is None
    for length, ropes in ((1.0, "starts with ropes slack: joint 'rope'"), (1.1, None)):
        tied = {"kind": "rope", "name": "rope", "a": "ball", "anchor_a": (0.0, 0.0), "anchor_b": (0.0, 1.0)}
        reason = Engine().declines(scene(ball(), joints=(tied | {"length": length},), duration=0.5))
        assert reason is None if ropes is None else ropes in (reason or "")
    spatial = scenario_of("upright-block:space=spatial").scene
    assert Engine().declines(spatial) == "ContactSim is planar"
