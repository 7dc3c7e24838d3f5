"""The second computation agrees with what we measure with, and sees what is wrong with either."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene
from scenarios.strategies import EXAMPLES, forced, planar_scenes, spatial_scenes
from validation.engines.engine import resolve_settings
from validation.engines.reference.adapter import Reference
from validation.metrics import measure, proximity
from validation.records.trajectory import Contacts, Impacts, PlanarTrajectory, Trajectory
from validation.tools.fuzzing.drawing import draw
from validation.tools.fuzzing.independent import laws, shapes
from validation.tools.fuzzing.scattered import Scattered

STEP = 1.0 / 240.0
SCENES = 12


def drawn(strategy: Any, seed: int = 1) -> list[Scene]:
    found: list[Scene] = []
    draw(strategy, seed, lambda scene, dt: found.append(scene), SCENES)
    return found


def values(scene: Scene, motion: Trajectory) -> dict[str, float]:
    return {m.metric: m.value for m in measure(scenario_from_scene("fuzzed", scene), motion)}


def faults(scene: Scene, motion: Trajectory, engine: str, measured: dict[str, float] | None = None) -> set[str]:
    own = values(scene, motion) if measured is None else measured
    return {oracle for oracle, _, _ in laws.own_faults(scene, motion, engine, own)}


@functools.cache
def motions() -> list[tuple[Scene, PlanarTrajectory]]:
    """Of the reference engine in the plane."""
    engine, found = Reference(), []
    for scene in drawn(planar_scenes()):
        motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
        assert isinstance(motion, PlanarTrajectory)
        found.append((scene, motion))
    return found


def found_in_motions(change: Callable[[PlanarTrajectory], PlanarTrajectory]) -> set[str]:
    return {oracle for scene, motion in motions() for oracle in faults(scene, change(motion), "reference", {})}


@pytest.mark.parametrize("strategy", [planar_scenes(), spatial_scenes(), forced.outlines()])
def test_what_is_measured_of_scattered_bodies_is_what_is_worked_out_a_second_time(strategy: Any) -> None:
    engine = Scattered()
    for scene in drawn(strategy):
        motion = engine.simulate(scene, STEP, {})
        assert faults(scene, motion, laws.SCATTERED) == set()
        assert faults(scene, motion, laws.SCATTERED, values(scene, motion) | {"energy_gain": -1.0}) == {
            "measured wrong"
        }


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_shape_weighs_what_its_points_do(kind: str) -> None:
    """Points at random in its bounding box, those outside left out: the mean of their squares, to 2 per cent."""
    shape = EXAMPLES[kind]
    radius = shapes.bounding_radius(shape)
    points = np.random.default_rng(1).uniform(-radius, radius, (400_000, 3))
    inside = points[shapes.outside(shape, points) == 0.0]
    assert (inside**2).mean(axis=0) == pytest.approx(shapes.second_moments(shape), rel=0.02)


def test_a_cone_a_lag_and_a_truth_that_are_measured_otherwise_are_seen() -> None:
    """Scattered bodies have contacts that explain their last step, and some motions are flights with a lag."""
    seen = set()
    for scene in drawn(planar_scenes(), 3):
        motion = Scattered().simulate(scene, STEP, {})
        own = values(scene, motion)
        name = "energy_drift" if motion.velocity_lag else "cone_violation"
        if name in own:
            seen.add(name)
            changed = own | {name: own[name] + 1e-6 * (1.0 + own[name])}
            assert faults(scene, motion, laws.SCATTERED, changed) == {"measured wrong"}
    assert seen == {"energy_drift", "cone_violation"}


def test_springs_thrusters_and_damping_are_worked_out_as_the_reference_engine_has_them() -> None:
    """Springs of half the stiffness are seen in most scenes: between two samples stiff ones leave much in doubt."""
    engine, seen, moving = Reference(), 0, 0
    for scene in drawn(forced.sprung(planar=True)):
        motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
        assert faults(scene, motion, "reference") == set()
        half = {"springs": tuple(s.model_copy(update={"stiffness": 0.5 * s.stiffness}) for s in scene.springs)}
        weaker = scene.model_copy(update=half)
        moving += not np.allclose(motion.velocity, motion.velocity[0])
        seen += bool(faults(weaker, motion, "reference") & {"forces off balance", "energy gained", "energy lost"})
    assert seen >= moving / 2 > 0


def test_a_gap_that_is_off_by_a_hundred_millionth_or_a_pair_that_is_missing_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = proximity.proximities
    scene, motion = motions()[0]

    def changed(change: Callable[[Any], Any]) -> set[str]:
        monkeypatch.setattr(proximity, "proximities", lambda o: change(whole(o)))
        return faults(scene, motion, "reference", {})

    assert changed(lambda near: near) == set()
    assert "measured wrong" in changed(lambda near: dataclasses.replace(near, gap=near.gap + 1e-8))
    assert "measured wrong" in changed(without_first_pair)


def without_first_pair(near: Any) -> Any:
    others = (near.a != near.a[0]) | (near.b != near.b[0])
    return type(near)(**{field.name: getattr(near, field.name)[others] for field in dataclasses.fields(near)})


def test_the_reference_engine_obeys_every_law() -> None:
    assert found_in_motions(lambda motion: motion) == set()


def test_reported_forces_and_impulses_that_are_a_tenth_off_are_seen() -> None:
    def lighter(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.contacts is not None
        contacts: Contacts = dataclasses.replace(motion.contacts, impulse=0.9 * motion.contacts.impulse)
        return dataclasses.replace(motion, contacts=contacts)

    def weaker(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.impacts is not None
        impacts: Impacts = dataclasses.replace(motion.impacts, impulse=0.9 * motion.impacts.impulse)
        return dataclasses.replace(motion, impacts=impacts)

    assert "forces off balance" in found_in_motions(lighter)
    assert "impulses off balance" in found_in_motions(weaker)


def test_a_normal_that_is_stale_by_a_hundredth_of_a_radian_is_seen() -> None:
    def stale(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.contacts is not None
        c, s = np.cos(0.01), np.sin(0.01)
        turned = motion.contacts.normal @ np.array(((c, s), (-s, c)))
        return dataclasses.replace(motion, contacts=dataclasses.replace(motion.contacts, normal=turned))

    assert "against the contact law" in found_in_motions(stale)


def test_a_millionth_of_the_energy_that_comes_from_nowhere_is_seen() -> None:
    def faster(motion: PlanarTrajectory) -> PlanarTrajectory:
        twist = motion.twist * np.linspace(1.0, 1.0 + 1e-5, len(motion.time))[:, None, None]
        return dataclasses.replace(motion, twist=twist)

    assert "energy gained" in found_in_motions(faster)
