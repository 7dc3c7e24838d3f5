"""What holds of every scenario of the catalogue: above all, its exact motion measured as if an engine had made it."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import get_args, get_origin, get_type_hints

import numpy as np
import pytest

from scenarios.catalogue import FAMILIES
from scenarios.joint_forces import JointWorks, driven_joints
from scenarios.scenario import Family, ParameterError, Scenario, Value
from scenarios.scene import PlanarScene, SpatialScene, planar_start, spatial_start
from tests.effort import few
from tests.suite import SUITE
from validation.metrics import METRICS, measure
from validation.records.trajectory import Internals, PlanarTrajectory, SpatialTrajectory, Trajectory, first_not_finite

OUTSIDE = [family.scenario() for family in FAMILIES.values() if not family.canonical]
ALL = SUITE + OUTSIDE
KNOWN = [s for s in ALL if s.truth.pose is not None]
SPREAD = [(known,) for i in (0, 2, 1, 3) for known in KNOWN[i::4]]
LONGEST = 4.0  # s of each exact motion that is measured
SAMPLES = 240  # per second: the canonical step
H = 1e-6  # s, of the central difference that gives exact poses their velocities


def exact_motion(scenario: Scenario, longest: float) -> Trajectory:
    """The truth's own poses, with their velocities by central differences: what an engine without error would do."""
    pose = scenario.truth.pose
    assert pose is not None
    start, end = scenario.truth.span
    count = round(min(longest, end - start) * SAMPLES)
    time = start + np.arange(count + 1) / SAMPLES
    earlier, later = np.maximum(time - H, start), time + H
    at, rate = pose(time), (pose(later) - pose(earlier)) / (later - earlier)[:, None, None]
    if time[-1] + H > end:  # backward, of the same order: beyond the span nothing is known
        last = time[-1] - H * np.arange(3)
        rate[-1] = np.tensordot([1.5, -2.0, 0.5], pose(last), axes=1) / H
    rate[0] = start_rate(scenario) if start == 0.0 else rate[0]
    common = {"time": time, "dt": 1.0 / SAMPLES, "velocity_lag": 0.0}
    if isinstance(scenario.scene, PlanarScene):
        return PlanarTrajectory(pose=at, twist=rate, **common)
    q, rate_q = at[..., 3:], rate[..., 3:]
    spin = 2.0 * product(rate_q, q * np.array([1.0, -1.0, -1.0, -1.0]))[..., 1:]  # q' = w q / 2
    if start == 0.0:
        spin[0] = spatial_start(scenario.scene)[3]
    state = {
        "position": at[..., :3],
        "orientation": q,
        "velocity": np.ascontiguousarray(rate[..., :3]),
        "spin": spin,
    }
    return SpatialTrajectory(**state, internals=works_at_joints(scenario.scene, time, state), **common)


def works_at_joints(scene: SpatialScene, time: np.ndarray, state: dict[str, np.ndarray]) -> Internals | None:
    """What motors, damping and friction of joints do, as the process of an engine sums it."""
    if not driven_joints(scene):
        return None
    works = JointWorks(scene, 0.0)
    given, lost = np.cumsum([works.until(*row) for row in zip(time.tolist(), *state.values())], axis=0).T
    return Internals(actuators=given.copy(), passive=lost.copy())


def start_rate(scenario: Scenario) -> np.ndarray:
    if isinstance(scenario.scene, PlanarScene):
        return planar_start(scenario.scene)[1]
    _, _, velocity, _ = spatial_start(scenario.scene)
    return np.hstack([velocity, np.zeros((len(velocity), 4))])


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Of quaternions (..., 4), w first."""
    a, u, b, v = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    return np.concatenate([a * b - (u * v).sum(-1, keepdims=True), a * v + b * u + np.cross(u, v)], axis=-1)


def scale(scenario: Scenario) -> float:
    """J"""
    return max(1.0, scenario.laws.get("energy_gain", 0.0))


@pytest.mark.parametrize(("scenario",), few(len(KNOWN[::4]), SPREAD), ids=lambda s: s.label)
def test_the_exact_motion_has_no_error_gains_nothing_and_overlaps_nowhere(scenario):
    """Tolerances are those of central differences, 1e-9 of the speeds and 1e-8 of the energies, and of bodies that
    touch in floating point."""
    motion = exact_motion(scenario, LONGEST)
    found = {m.metric: m.value for m in measure(scenario, motion)}
    if first_not_finite(motion):  # a truth that leaves a spin open knows no energy and no angular momentum
        for metric in ("energy_gain", "energy_drift", "angular_momentum_drift"):
            found.pop(metric, None)
    assert found["truth_error_position"] <= 1e-12
    assert found.get("truth_error_angle", 0.0) <= 1e-7
    if "energy_gain" in found:
        assert found["energy_gain"] <= 1e-7 * scale(scenario)
    if "energy" in scenario.truth.invariants and "energy_drift" in found:
        assert found["energy_drift"] <= 1e-7 * scale(scenario)
    if "penetration_max" in found and scenario.scene.contact.compliant is None:
        assert found["penetration_max"] <= 1e-9
    for metric in ("momentum_drift", "angular_momentum_drift"):
        assert found.get(metric, 0.0) <= 1e-6 * max(1.0, sum(b.mass or 0.0 for b in scenario.scene.bodies))
    for metric, most in scenario.laws.items():
        assert found.get(metric, 0.0) <= most


@pytest.mark.parametrize(
    "scenario", [s for s in KNOWN if s.truth.goal and s.truth.span[0] == 0.0], ids=lambda s: s.label
)
def test_the_exact_motion_reaches_its_goal(scenario):
    """Read off samples 1/240 s apart: 1e-6 is far below what any engine achieves."""
    goal = scenario.truth.goal
    assert goal.measure(exact_motion(scenario, scenario.truth.span[1])) == pytest.approx(goal.value, abs=1e-6)


def ends(family: Family) -> Iterator[dict[str, Value]]:
    """Each parameter at each end of what is allowed, or at each choice, the others at their defaults."""
    for name, hint in get_type_hints(family.build, include_extras=True).items():
        match get_origin(hint):
            case typing.Literal:
                yield from ({name: choice} for choice in get_args(hint))
            case typing.Annotated:
                kind, *rules = get_args(hint)
                yield from ({name: kind(end)} for rule in rules for end in (rule.low, rule.high))


WITH_GOALS_FAR_OFF = ("ball-with-drag", "newtons-cradle", "pendulum", "andrews")
EVERY_END = [
    pytest.param(family, given, id=f"{family.name} {given}", marks=() if quick else pytest.mark.slow)
    for family in FAMILIES.values()
    for quick in [family.name in WITH_GOALS_FAR_OFF]
    for given in ends(family)
]


@pytest.mark.parametrize("family, given", EVERY_END)
def test_a_goal_is_reached_within_the_scene_whatever_the_parameters(family, given):
    try:
        scenario = family.scenario(given)
    except ParameterError:  # not with the others' defaults
        return
    goal, pose = scenario.truth.goal, scenario.truth.pose
    if goal is not None and pose is not None and scenario.truth.span[0] == 0.0:
        reached = goal.measure(exact_motion(scenario, scenario.truth.span[1]))
        assert reached == pytest.approx(goal.value, rel=1e-5, abs=1e-5)


# What takes no time is one test, not one a scenario.


def test_a_truth_begins_where_its_scene_begins():
    for scenario in (s for s in KNOWN if s.truth.span[0] == 0.0):
        at = scenario.truth.pose(np.array([0.0]))[0]
        if isinstance(scenario.scene, PlanarScene):
            start, _ = planar_start(scenario.scene)
        else:
            start = np.hstack(spatial_start(scenario.scene)[:2])
        known = ~np.isnan(at)
        assert at.shape == start.shape, scenario.label
        assert at[known] == pytest.approx(start[known], abs=1e-12), scenario.label


def test_what_a_scenario_says_of_metrics_names_metrics():
    for scenario in ALL:
        named = {scenario.headline, *scenario.laws, *scenario.noise, *scenario.meaningless}
        assert named - set(METRICS) == set(), scenario.label
        assert scenario.headline not in scenario.meaningless, scenario.label
        assert all(type(most) is float and most > 0.0 for most in scenario.laws.values()), scenario.label


def test_a_truth_stands_within_its_scene():
    """Span inside the duration; events in order inside the span, of bodies that there are; a source in words."""
    for scenario in ALL:
        truth, scene = scenario.truth, scenario.scene
        assert 0.0 <= truth.span[0] < truth.span[1] <= scene.duration, scenario.label
        names = {member.name for member in (*scene.bodies, *scene.boundaries)}
        times = [event.time for event in truth.events]
        assert times == sorted(times), scenario.label
        assert all(truth.span[0] <= t <= truth.span[1] for t in times), scenario.label
        assert {name for event in truth.events for name in (event.a, event.b)} <= names, scenario.label
        assert len(truth.source) > 5, scenario.label
        assert (truth.kind == "invariants") == (truth.pose is None and truth.goal is None), scenario.label


def test_the_suite_names_every_scenario_once_but_compliant_ones_and_those_that_the_reference_declines():
    labels = [scenario.label for scenario in ALL]
    assert len(labels) == len(set(labels))
    assert {scenario.name for scenario in ALL} == set(FAMILIES)
    assert OUTSIDE
    assert {scenario.name for scenario in OUTSIDE if not scenario.scene.contact.compliant} == {
        "incline-throw",
        "roller-coaster",
        "walkers",
    }


def test_every_family_has_a_title_and_says_what_its_parameters_may_be():
    for family in FAMILIES.values():
        assert len(family.summary) > 10, family.name
        assert set(family.allowed) == set(family.defaults), family.name
        for given in family.canonical:
            assert set(given) <= set(family.defaults), family.name


def test_a_family_in_space_with_a_ground_runs_on_a_box_too():
    """Half of the contact faults of real engines are invisible on a plane."""
    for family in FAMILIES.values():
        if {"ground", "space"} <= set(family.defaults):
            spatial = [s for s in SUITE if s.name == family.name and s.parameters["space"] == "spatial"]
            assert "box" in {s.parameters["ground"] for s in spatial}, family.name
