"""Steps from the same states on two sides: how far apart, of which body, in which phase of its motion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from scenarios.scene import PlanarScene, Revolute
from tests.validation.metrics.motions import DT, GROUND, G, ball, block, disc, planar, plane, scenario, space, spatial
from validation.judging.evidence.replay import (
    PHASES,
    Replay,
    chosen,
    compare,
    distance,
    locate,
    own_distance,
    taken,
)
from validation.records.trajectory import PlanarTrajectory, with_samples

ON_GROUND = plane(block(), boundaries=(GROUND,))
ROLLER = plane(disc(), boundaries=(GROUND,))


def step(pose: Any, twist: Any, twist_after: Any) -> tuple[PlanarTrajectory, PlanarTrajectory]:
    """A state and what became of it: moved with the later velocity."""
    after = np.array(pose) + DT * np.array(twist_after)
    return planar([0.0], [pose], [twist]), planar([0.0], [after], [twist_after])


def phase_of(scene: PlanarScene, *state: Any) -> tuple[str, str]:
    found = locate(scenario(scene), *step(*state))
    partner = int(found.partner[0, 0])
    return PHASES[found.phase[0, 0]], found.names[partner] if partner >= 0 else ""


@pytest.mark.parametrize(
    ("phase", "scene", "state"),
    [
        ("rest", ON_GROUND, ((0.0, 0.5, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))),
        ("sliding", ON_GROUND, ((0.0, 0.5, 0.0), (2.0, 0.0, 0.0), (1.98, 0.0, 0.0))),
        ("rolling", ROLLER, ((0.0, 0.5, 0.0), (2.0, 0.0, -4.0), (2.0, 0.0, -4.0))),
        ("sliding", ROLLER, ((0.0, 0.5, 0.0), (2.0, 0.0, 0.0), (1.98, 0.0, -0.04))),
        ("impact", ROLLER, ((0.0, 0.501, 0.0), (0.0, -3.0, 0.0), (0.0, 1.5, 0.0))),
    ],
)
def test_a_body_in_contact_rests_rolls_slides_or_collides_by_how_the_contact_moves(
    phase: str, scene: PlanarScene, state: Any
) -> None:
    assert phase_of(scene, *state) == (phase, "ground")


@pytest.mark.parametrize("height", [0.5001, 5.0])
def test_a_body_that_gravity_alone_moves_is_in_flight_however_near_the_ground(height: float) -> None:
    assert phase_of(ROLLER, (0.0, height, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0 - G * DT, 0.0)) == ("flight", "")


def test_a_pendulum_hangs_on_its_joint() -> None:
    hinge = Revolute(name="hinge", a="block", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0))
    hung = plane(block(), joints=(hinge,))
    assert phase_of(hung, (0.0, -0.5, 0.0), (1.0, 0.0, 2.0), (1.0, 0.0, 2.0)) == ("on joints", "")


def test_the_liveliest_contact_of_a_body_counts_and_names_its_partner() -> None:
    """A block slides on the ground into another."""
    scene = plane(block("one"), block("two"), boundaries=(GROUND,))
    pose, twist = [(0.0, 0.5, 0.0), (1.005, 0.5, 0.0)], [(3.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    states, after = planar([0.0], [pose], [twist]), planar([0.0], [pose], [[(1.5, 0.0, 0.0)] * 2])
    found = locate(scenario(scene), states, after)
    assert [PHASES[k] for k in found.phase[0]] == ["impact", "impact"]
    assert [found.names[k] for k in found.partner[0]] == ["two", "one"]


def test_a_distance_is_that_of_the_fastest_point() -> None:
    """0.3 m/s, and 2 rad/s at 0.5 m; poses that differ by 1 cm in a step are 2.4 m/s apart."""
    one = planar([0.0], [(0.0, 1.0, 0.0)], [(0.0, 0.0, 0.0)])
    other = planar([0.0], [(0.0, 1.0, 0.0)], [(0.3, 0.0, 2.0)])
    moved = planar([0.0], [(0.01, 1.0, 0.0)], [(0.0, 0.0, 0.0)])
    assert distance(one, other, ROLLER) == pytest.approx(np.array([[1.3]]))
    assert distance(one, moved, ROLLER) == pytest.approx(np.array([[0.01 / DT]]))


def test_a_quaternion_and_its_opposite_are_one_orientation_and_what_is_not_finite_is_infinitely_far() -> None:
    scene, at = space(ball()), np.zeros((1, 3))
    q = np.array([[math.cos(0.3), 0.0, math.sin(0.3), 0.0]])
    one, opposite = (spatial([0.0], at, at, orientation=sign * q) for sign in (1.0, -1.0))
    lost = spatial([0.0], at, at + np.nan, orientation=q)
    assert distance(one, opposite, scene) == 0.0
    assert distance(one, lost, scene) == np.inf


def falling(duration: float = 1.0) -> PlanarTrajectory:
    """Every fourth step is recorded, and now and then the next."""
    step = np.sort(np.concatenate([np.arange(0, 241, 4), np.arange(1, 241, 40)]))
    t = step * DT
    zero = np.zeros_like(t)
    pose = np.stack([zero, 10.0 - 0.5 * G * t**2, zero], axis=1)
    return planar(t, pose, np.stack([zero, -G * t, zero], axis=1))


def one_step_later(states: PlanarTrajectory) -> PlanarTrajectory:
    t = states.time + DT
    pose, twist = states.pose.copy(), states.twist.copy()
    pose[:, 0, 1], twist[:, 0, 1] = 10.0 - 0.5 * G * t**2, -G * t
    return with_samples(states, states.time, {"pose": pose, "twist": twist})  # type: ignore[return-value]


def test_a_replay_is_held_against_the_motion_only_where_the_next_step_was_recorded() -> None:
    motion = falling()
    states = chosen(motion, 1000)
    exact = one_step_later(states)  # type: ignore[arg-type]
    assert states.time[-1] == motion.time[-2]  # the last sample has no step left to go
    assert own_distance(motion, states, exact, ROLLER) < 1e-9
    pose = exact.twist.copy()
    pose[0] += 0.25  # from 0 to 1, both recorded
    pose[1] += 7.0  # from 1 to 2, which was not
    assert own_distance(motion, states, with_samples(exact, exact.time, {"twist": pose}), ROLLER) == pytest.approx(
        0.25 * math.sqrt(2.0) + 0.5 * 0.25
    )
    apart = taken(states, np.array([2, 3]))
    assert math.isnan(own_distance(motion, apart, taken(exact, np.array([2, 3])), ROLLER))


def test_a_planted_difference_is_found_with_its_sample_body_and_phase() -> None:
    motion = falling()
    states = chosen(motion, 20)
    one = one_step_later(states)  # type: ignore[arg-type]
    twist = one.twist.copy()
    twist[7, 0, 0] += 1e-9
    twist[11, 0, 0] += 0.5
    found = compare(scenario(ROLLER), states, one, with_samples(one, one.time, {"twist": twist}))
    assert (found.states, found.apart) == (20, 2)
    assert found.first is not None and (found.first.sample, found.first.size) == (7, pytest.approx(1e-9))
    assert found.greatest is not None
    assert (found.greatest.sample, found.greatest.body, found.greatest.phase) == (11, "ball", "flight")
    [share] = found.shares
    assert (share.phase, share.steps, share.apart, share.greatest) == ("flight", 20, 2, pytest.approx(0.5))


@pytest.mark.parametrize(("own", "claimed"), [(0.037, False), (0.4, True), (math.nan, True)])
def test_no_size_is_claimed_below_what_an_engine_carries_on_beside_the_state(own: float, claimed: bool) -> None:
    motion = falling()
    states = chosen(motion, 5)
    one = one_step_later(states)  # type: ignore[arg-type]
    twist = one.twist + np.array([0.037 if not claimed else 0.5, 0.0, 0.0])
    found = compare(scenario(ROLLER), states, one, with_samples(one, one.time, {"twist": twist}))
    assert Replay(states=5, greatest=found.greatest, own=own).claimed == claimed
    assert not compare(scenario(ROLLER), states, one, one).claimed
