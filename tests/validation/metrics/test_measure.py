"""The table of metrics, and what `measure` makes of it."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from scenarios.scene import Rod
from tests.validation.metrics.motions import (
    GROUND,
    ball,
    block,
    columns,
    measured,
    planar,
    plane,
    scenario,
    space,
    spatial,
    still,
    times,
)
from validation.metrics import METRICS, measure, step_time
from validation.metrics.observation import MismatchError, Observation, of_scenario
from validation.running.warm_up import standing_still

ON_GROUND = plane(block(), boundaries=(GROUND,))
RESTING = still((0.0, 0.5, 0.0))


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_every_metric_is_documented_and_says_its_unit(metric):
    first_sentence = (inspect.getdoc(metric.measure) or "").split("\n\n")[0]
    assert first_sentence.endswith(".")
    assert metric.unit and metric.measure.__name__ == metric.name


def test_measurements_come_in_the_order_of_the_table_with_the_noise_class_that_the_scenario_gives():
    given = scenario(ON_GROUND, noise={"penetration_mean": "chaotic"})
    found = measure(given, RESTING)
    names = [m.metric for m in found]
    assert names == [name for name in METRICS if name in names]
    assert {m.metric: m.noise for m in found}["penetration_mean"] == "chaotic"
    assert {m.metric: m.noise for m in found}["penetration_max"] == METRICS["penetration_max"].noise


def test_what_the_scenario_calls_meaningless_is_left_out_and_nan_is_kept():
    falling = still((0.0, 5.0, 0.0))
    names = set(measured(ON_GROUND, falling))
    assert math.isnan(measured(ON_GROUND, falling)["gap_final"].value)
    assert set(measured(ON_GROUND, falling, meaningless=frozenset({"gap_final"}))) == names - {"gap_final"}


@pytest.mark.parametrize("speed", [1e160, 1e200, 1e300])
@pytest.mark.parametrize("place", [0.0, 1e160, -1e300])
def test_of_finite_numbers_however_large_what_always_happens_is_a_number_or_infinite_and_its_resolution_is_finite(
    speed, place
):
    t = times(0.1)
    pose = np.stack([columns(0.0 * t, 0.5, 0.0), columns(3.0, 0.5, 0.0 * t)], axis=1)
    twist = np.zeros_like(pose)
    pose[12:, 1, :2] += place
    twist[12:, 1] = (speed, -speed, speed)
    joint = Rod(name="rod", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=3.0)
    for more in ({"boundaries": (GROUND,)}, {"gravity": (0.0, 0.0), "joints": (joint,)}):
        scene = plane(block("a"), block("b", position=(3.0, 0.5)), **more)
        found = measured(scene, planar(t, pose, twist, lag=-1.0 / 480.0))
        for name, measurement in found.items():
            assert METRICS[name].happens == "perhaps" or not math.isnan(measurement.value), name
            assert measurement.resolution is None or math.isfinite(measurement.resolution), name
        assert found["energy_gain"].value == math.inf


def test_a_motion_is_measured_the_same_twice():
    assert measure(scenario(ON_GROUND), RESTING) == measure(scenario(ON_GROUND), RESTING)


def test_measuring_changes_nothing_in_the_motion():
    t = times(0.5)
    motion = planar(t, columns(0.0, 0.5 + t, 0.3), columns(0.0 * t, 1.0, 0.0), lag=0.1)
    before = motion.pose.copy(), motion.twist.copy()
    measure(scenario(ON_GROUND), motion)
    assert np.array_equal(motion.pose, before[0]) and np.array_equal(motion.twist, before[1])


def test_a_motion_of_another_scene_is_refused():
    with pytest.raises(MismatchError, match="1 planar bodies; the scene has 2 planar ones"):
        measure(scenario(plane(block("a"), block("b"))), RESTING)
    with pytest.raises(MismatchError, match="1 planar bodies; the scene has 1 spatial ones"):
        measure(scenario(space(ball())), RESTING)


def test_a_single_sample_can_be_measured():
    for scene, motion in (
        (ON_GROUND, planar([0.0], [(0.0, 0.49, 0.0)], [(0.0, 0.0, 0.0)], lag=0.002)),
        (space(ball()), spatial([0.0], [(0.0, 0.0, 1.0)], [(0.0, 0.0, 0.0)])),
    ):
        found = measured(scene, motion)
        assert found["energy_gain"].value == 0.0
        assert found.get("penetration_mean", None) is None or found["penetration_mean"].value == pytest.approx(0.01)


def test_a_scene_far_from_the_origin_measures_as_at_it():
    far = 1e4
    t = times(1.0)
    here, there = (
        {m.metric: m.value for m in measure(scenario(plane(block())), motion)}
        for motion in (
            planar(t, columns(x + t, x - 0.5 * 9.81 * t**2, 0.0), columns(1.0, -9.81 * t, 0.0)) for x in (0.0, far)
        )
    )
    assert there["energy_drift"] == pytest.approx(here["energy_drift"], abs=1e-10)


def test_the_time_of_a_step_is_the_mean_over_the_simulation():
    assert step_time(np.array([1e-5, 3e-5, 2e-5])) == pytest.approx(2e-5)
    assert math.isnan(step_time(np.zeros(0)))


def test_what_a_scenario_implies_is_worked_out_once_where_motions_of_several_come_in_turn() -> None:
    asked: list[str] = []

    @of_scenario
    def title(o: Observation) -> str:
        asked.append(o.scene.title)
        return o.scene.title

    scenarios = [scenario_of("bouncing-ball"), scenario_of("upright-block")]
    for one in scenarios * 3:
        motion = standing_still(one.scene)
        assert title(Observation(scenario=one, trajectory=motion)) == one.scene.title
    assert asked == [scenario.scene.title for scenario in scenarios]
