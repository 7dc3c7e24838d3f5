"""Rapier: what it is by default, what fair has instead, and what only it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import ContactLaw, PairLaw, Rod, Rope
from tests.validation.engines.planar_scenes import ball, box, ground, scene
from tests.validation.engines.spatial_laws import SpatialLaws
from tests.validation.engines.spatial_scenes import DT, G, in_plane
from validation.engines.engine import NotFiniteError

pytest.importorskip("rapier3d", reason="Rapier is not installed")
from validation.engines.rapier.adapter import Rapier

ENGINE = Rapier()


class TestRapier(SpatialLaws):
    engine = ENGINE
    lag = -1.0 / 16.0  # of eight sub-steps
    round_off = 2e-6
    stack_depth = 2e-5


def test_by_default_a_stack_of_ten_sinks_by_millimetres() -> None:
    boxes = [box(f"box {i}", position=(0.0, 0.5 + i), friction=0.5) for i in range(10)]
    motion = in_plane(ENGINE, scene(*boxes, ground=ground(friction=0.5), duration=2.0), "default")
    assert 9.5 - motion.position[-1, 9, 1] == approx(0.016, rel=0.2)


def test_the_lag_is_half_a_sub_step() -> None:
    flight = scene(ball(), duration=0.5)
    for steps in (1, 4):
        motion = in_plane(ENGINE, flight, num_solver_iterations=steps)
        true = -np.sqrt(-2.0 * G * motion.position[-1, 0, 1])
        assert motion.velocity_lag == -DT / (2 * steps)
        assert motion.velocity[-1, 0, 1] - true == approx(-G * motion.velocity_lag, rel=0.05)


def test_by_default_fast_rotation_is_cut_off() -> None:
    spinning = scene(ball(spin=1000.0), gravity=(0.0, 0.0), duration=0.1)
    assert in_plane(ENGINE, spinning, "default").angle[-1, 0] < 30.0


def test_laws_that_no_two_values_multiply_to_are_set_contact_by_contact() -> None:
    """Three boxes in a row, of which each pair has its own friction, and all another with the ground."""
    pairs = (
        PairLaw(a="top", b="box", friction=0.9),
        PairLaw(a="box", b="ground", friction=0.1),
        PairLaw(a="top", b="ground", friction=0.0),
    )
    low, high = box(position=(0.0, 0.5)), box("top", position=(0.0, 1.5))
    pulled = scene(low, high, ground=ground(), contact=ContactLaw(pairs=pairs), gravity=(2.0, -G), duration=1.0)
    motion = in_plane(ENGINE, pulled)
    assert motion.velocity[-1, :, 0] == approx(2.0 - 0.1 * G, rel=0.02)  # together: the upper one sticks


def test_a_rope_holds_at_its_length_and_a_rod_is_declined() -> None:
    ends: dict[str, Any] = {"a": "ball", "anchor_a": (0.0, 0.0), "anchor_b": (0.0, 0.0), "length": 1.0}
    hung = scene(ball(radius=0.1, position=(0.6, -0.8)), joints=(Rope(name="rope", **ends),), duration=2.0)
    motion = in_plane(ENGINE, hung)
    assert np.linalg.norm(motion.position[:, 0], axis=1).max() == approx(1.0, abs=1e-3)
    assert np.ptp(motion.position[:, 0, 0]) > 1.0
    reason = ENGINE.declines(scene(ball(), joints=(Rod(name="rod", **ends),), duration=1.0))
    assert reason == "Rapier has no joint that keeps a distance"


def test_a_body_that_is_lost_is_an_error_and_no_body_at_rest() -> None:
    """Rapier puts back and switches off what is not finite."""
    flight = scene(ball(), duration=1.0)
    world = ENGINE.build(flight, DT, {name: one.default for name, one in ENGINE.settings.items()})
    world.apply_wrench(0, np.array([np.inf, 0.0, 0.0]), np.zeros(3))
    world.advance()
    with pytest.raises(NotFiniteError, match="not finite"):
        world.read()


def test_planar_bodies_stay_in_the_plane() -> None:
    bodies = [box(f"box {i}", position=(0.3 * i, 0.6 + 1.1 * i), angle=0.3 * i, friction=0.5) for i in range(5)]
    heap = scene(*bodies, ground=ground(friction=0.5), duration=2.0)
    settings = {name: one.default for name, one in ENGINE.settings.items()} | ENGINE.profile("fair", heap, DT)
    world = ENGINE.build(heap, DT, settings)
    world.read()
    for _ in range(480):
        world.step(watched=False)
    assert max(abs(position[2]) for position, *_ in world.body_states()) < 1e-8
