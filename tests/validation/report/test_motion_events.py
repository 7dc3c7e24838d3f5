"""What the player jumps to: what happened, broken laws, and where two motions differ; with times and bodies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, parse_scene
from tests.validation.store.made import case, falling, measurement, result, tumbling
from validation.judging.verdict import Defect
from validation.metrics.observation import Observation
from validation.records.outcome import Outcome
from validation.records.trajectory import PlanarTrajectory
from validation.report.motion_events import differences, distances, happened, one_of_many, passed_limits

BALLS = [
    {"name": name, "shape": {"kind": "disc", "radius": 0.5}, "mass": 1.0, "position": [x, 0.5]}
    for name, x in (("left", 0.0), ("right", 2.0))
]
SCENE: Scene = parse_scene(
    {"dimension": 2, "duration": 0.5, "bodies": BALLS, "boundaries": [{"kind": "half-plane", "name": "ground"}]}
)


def still() -> PlanarTrajectory:
    motion = falling(bodies=2)
    pose = np.zeros_like(motion.pose)
    pose[..., 1] = 0.5
    pose[:, 1, 0] = 2.0
    return dataclasses.replace(motion, pose=pose, twist=np.zeros_like(pose), state_hash="")


def with_pose(sample: int, body: int, coordinate: int, value: float) -> PlanarTrajectory:
    """From this sample on it is more by so much."""
    motion = still()
    pose = motion.pose.copy()
    pose[sample:, body, coordinate] += value
    return dataclasses.replace(motion, pose=pose, state_hash="")


def test_what_happened_is_an_event_where_its_time_is_known() -> None:
    known = Outcome(kind="went through", bodies=("right", "ground"), time=0.25, value=3.0, unit="m")
    (event,) = happened([known, Outcome(kind="never rested")], SCENE)
    assert (event.time, event.kind, event.bodies) == (0.25, "outcome", (1,))
    assert event.text == "right went through ground, 3 m from there at the end", "the time stands before it"
    assert happened(None, SCENE) == []


def test_from_when_on_a_motion_is_one_of_many_is_an_event() -> None:
    (event,) = one_of_many(dataclasses.replace(still(), left_open_from=0.25))
    assert event.time == 0.25
    assert "one of many" in event.text
    assert one_of_many(still()) == []


DEEP = "penetration max passes 100 mm, which physics allows (left and ground); at most 200 mm"


@pytest.mark.parametrize(
    ("metric", "unit", "text", "bodies"),
    [
        ("penetration_max", "m", DEEP, (0,)),
        ("energy_gain", "J", "energy gain passes 100 mJ, which physics allows; at most 200 mJ", ()),
    ],
)
def test_a_law_is_broken_when_its_limit_is_first_passed(
    metric: str, unit: str, text: str, bodies: tuple[int, ...]
) -> None:
    """The left one is 0.05 m deep in the ground from sample 4 on and 0.2 m from sample 7 on; or gains energy then."""
    motion = with_pose(4, 0, 1, -0.05)
    if metric == "energy_gain":
        twist = motion.twist.copy()
        twist[7:, 0, 0] = 2.0
        motion = dataclasses.replace(motion, twist=twist)
    else:
        motion.pose[7:, 0, 1] -= 0.15
    o = Observation(scenario=scenario_from_scene("shown", SCENE), trajectory=motion)
    defect = Defect(metric=metric, value=0.2, limit=0.1, unit=unit, standing=False)
    (event,) = passed_limits(o, [defect], result(case(), measurement()))
    assert (event.time, event.kind, event.bodies) == (pytest.approx(7 / 60), "law", bodies)
    assert event.text == text


def test_of_one_engine_the_first_bit_that_differs_and_then_what_is_seen() -> None:
    """A hundredth of the smallest body, 10 mm, is seen."""
    motion = with_pose(5, 1, 0, 1e-9)
    motion.pose[20:, 1, 0] += 0.02
    found = differences(SCENE, motion, still(), "accepted", same_engine=True)
    assert [(round(60 * event.time), event.bodies) for event in found] == [(5, (1,)), (20, (1,))]
    assert found[0].text == "first difference from accepted: right, x, by 1 nm"
    assert found[1].text == "differs from accepted: right is more than 10 mm away"


def test_two_engines_differ_in_bits_from_the_start_so_only_what_is_seen_counts() -> None:
    assert differences(SCENE, with_pose(5, 1, 0, 1e-9), still(), "pymunk", same_engine=False) == []


def test_a_body_that_turns_is_elsewhere_by_its_radius_times_the_angle() -> None:
    """In space by a quaternion and its negative, which are one orientation, by nothing."""
    _, apart = distances(SCENE, with_pose(3, 0, 2, 0.1), still())
    np.testing.assert_allclose(apart[[2, 3], 0], [0.0, 0.05])
    space = parse_scene(
        {
            "dimension": 3,
            "duration": 0.5,
            "bodies": [
                {"name": n, "shape": {"kind": "sphere", "radius": 0.5}, "mass": 1.0, "position": [x, 0.0, 0.0]}
                for n, x in (("p", 0.0), ("q", 2.0))
            ],
        }
    )
    motion = tumbling()
    mirrored = dataclasses.replace(motion, orientation=-motion.orientation)
    assert distances(space, mirrored, motion)[1].max() < 1e-12
