"""Perturbed initial states differ by less than anything measured, open no joint, and are the same every time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from scenarios.scene import PlanarScene, Rope, Scene
from tests.validation.engines.planar_scenes import box
from tests.validation.engines.planar_scenes import scene as planar_scene
from tests.validation.store.made import falling, tumbling
from validation.engines.reference.adapter import Reference
from validation.engines.shared.joint_tree import start_fault
from validation.judging.policy import PERTURBATION
from validation.records.trajectory import PlanarTrajectory
from validation.running.starts import floors, horizon, let_by_joints, perturbed, until


def scene_of(word: str) -> Scene:
    return scenario_of(word).scene


def moved(before: Scene, after: Scene) -> Any:
    return np.array([np.subtract(b.position, a.position) for a, b in zip(before.bodies, after.bodies)])


@pytest.mark.parametrize("word", ["stack:n=5", "stack:n=5,space=spatial", "pile"])
def test_every_free_body_moves_by_less_than_a_millionth_of_its_size(word: str) -> None:
    scene = scene_of(word)
    shift = moved(scene, perturbed(scene, 1, 0))
    free = np.array([not body.fixed for body in scene.bodies])
    assert (shift[~free] == 0.0).all() and (shift[free] != 0.0).all()
    assert np.abs(shift).max() < 3.0 * PERTURBATION, "bodies of about a metre"
    assert len(np.unique(shift[free][:, 0])) == free.sum(), "each by its own"


def test_a_start_is_known_by_its_seed_and_number() -> None:
    scene = scene_of("stack:n=3")
    assert perturbed(scene, 1, 4) == perturbed(scene, 1, 4)
    others = [perturbed(scene, seed, number) for seed, number in ((1, 4), (1, 5), (2, 4))]
    assert len({str(other.bodies) for other in others}) == 3


def test_what_hangs_together_moves_together_and_what_hangs_on_the_world_turns() -> None:
    held = scene_of("double-pendulum:start=level")
    turned = perturbed(held, 1, 0)
    assert (moved(held, turned) == 0.0).all()
    spins = [b.spin - a.spin for a, b in zip(held.bodies, turned.bodies)]
    assert all(0.0 < abs(spin) <= PERTURBATION for spin in spins)
    free = held.model_copy(update={"joints": tuple(j for j in held.joints if j.b is not None)})
    shift = moved(free, perturbed(free, 1, 0))
    assert (shift[0] == shift[1]).all() and (shift != 0.0).all()


@pytest.mark.parametrize(
    "word",
    [
        "double-pendulum",
        "pendulum:space=spatial",
        "four-bar",
        "slider-crank",
        "slider-crank:space=spatial",
        "heavy-top",
    ],
)
def test_a_start_of_what_joints_hold_is_one_that_its_joints_let_be(word: str) -> None:
    """Links and the reference engine in space refuse a start whose anchors part by 1e-9 of their speed."""
    scene = scene_of(word)
    start = perturbed(scene, 1, 3)
    assert start != scene
    assert start_fault(start) is None
    assert Reference().declines(start) is None


def test_a_rope_that_is_slack_and_a_hinge_let_be_what_they_must() -> None:
    rope = Rope(name="rope", a="box", anchor_a=(0.0, 0.5), anchor_b=(0.0, 2.0), length=1.5)
    taut = scene_with(rope)
    (velocity, spin), *_ = let_by_joints(taut, {"box": np.array([1.0])}).values()
    assert velocity == pytest.approx(np.zeros(3), abs=1e-15) and spin == pytest.approx((0.0, 0.0, 1.0))
    leaning = scene_with(rope.model_copy(update={"anchor_b": (1.5, 0.5)}))
    (velocity, spin), *_ = let_by_joints(leaning, {"box": np.array([1.0])}).values()
    assert velocity[0] - 0.5 * spin[2] == pytest.approx(0.0, abs=1e-15) and 0.0 < spin[2] < 1.0
    slack = scene_with(rope.model_copy(update={"anchor_b": (1.4, 0.5)}))
    (velocity, spin), *_ = let_by_joints(slack, {"box": np.array([1.0])}).values()
    assert velocity == pytest.approx(np.zeros(3), abs=1e-15) and spin[2] == pytest.approx(1.0)


def scene_with(joint: Rope) -> PlanarScene:
    return planar_scene(box("box"), joints=(joint,), duration=1.0)


def apart(motion: PlanarTrajectory, by: float, after: int) -> PlanarTrajectory:
    pose = motion.pose.copy()
    pose[after:, 1, 0] += by
    return replace(motion, pose=pose, state_hash="")


def test_the_horizon_is_the_share_of_the_motion_in_which_the_starts_agree() -> None:
    scene = scene_of("stack:n=3").model_copy(update={"bodies": scene_of("stack:n=3").bodies[:2]})
    motions = [apart(falling(samples=41), by, 20) for by in np.linspace(-1.0, 1.0, 10)]
    assert horizon(scene, motions) == pytest.approx(20 / 40)
    assert horizon(scene, [apart(falling(samples=41), 1e-6 * i, 20) for i in range(10)]) == 1.0


def test_turning_counts_as_moving() -> None:
    scene = scene_of("stack:n=3").model_copy(update={"bodies": scene_of("stack:n=3").bodies[:2]})
    motions = []
    for angle in np.linspace(-1.0, 1.0, 8):
        pose = falling(samples=41).pose.copy()
        pose[10:, 0, 2] += angle
        motions.append(replace(falling(samples=41), pose=pose, state_hash=""))
    assert horizon(scene, motions) == pytest.approx(10 / 40)
    spatial = scene_of("stack:n=5,space=spatial")
    spatial = spatial.model_copy(update={"bodies": tuple(b for b in spatial.bodies if not b.fixed)[:2]})
    assert horizon(spatial, [tumbling(seed=seed) for seed in range(3)]) == 0.0
    assert horizon(spatial, [tumbling(), tumbling()]) == 1.0


@pytest.mark.parametrize("motion", [falling(contact_impulse=1.0), tumbling()])
def test_a_part_of_a_motion_ends_at_its_time(motion: Any) -> None:
    part = until(motion, 10 / 60)
    assert part.time.tolist() == motion.time[:11].tolist()
    assert (part.velocity == motion.velocity[:11]).all() and (part.position == motion.position[:11]).all()
    assert part.state_hash != motion.state_hash
    if motion.contacts is not None:
        assert part.contacts.sample.tolist() == [3] and until(motion, 2 / 60).contacts.sample.tolist() == []


def test_floors_are_what_the_perturbation_amounts_to() -> None:
    """Three unit squares of 1 kg, each within a millionth of its diagonal."""
    found = floors(scene_of("stack:n=3"))
    d = PERTURBATION * 2**0.5
    assert found["m"] == pytest.approx(d) and found["rad"] == pytest.approx(2 * PERTURBATION)
    assert found["J"] == pytest.approx(3 * 9.81 * d, rel=1e-3)
    assert found["m/s"] == pytest.approx(d * (9.81 / 2**0.5) ** 0.5, rel=1e-3)
