"""How far joints come apart."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios.scene import Ball, Revolute, Rod, Rope
from tests.validation.metrics.motions import (
    ball,
    block,
    box,
    columns,
    disc,
    planar,
    plane,
    space,
    spatial,
    times,
    values,
)

T = times(2.0)


def swinging(stretch: float):
    """A rod of half length 0.5 about the origin, its centre `stretch` t too far out."""
    phi, rate = np.sin(3.0 * T), 3.0 * np.cos(3.0 * T)
    L = 0.5 + stretch * T
    return planar(T, columns(L * np.sin(phi), -L * np.cos(phi), phi), columns(L * rate * np.cos(phi), 0.0 * T, rate))


def test_a_pendulum_that_slips_off_its_pin_shows_how_far():
    pin = Revolute(name="pin", a="rod", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0))
    scene = plane(block("rod", width=0.1), joints=(pin,))
    assert values(scene, swinging(0.0))["joint_gap"] < 1e-15
    assert values(scene, swinging(0.01))["joint_gap"] == pytest.approx(0.02)


def test_a_rod_is_apart_when_longer_or_shorter_and_a_rope_only_when_longer():
    for kind, stretch, apart in ((Rod, 0.01, 0.02), (Rod, -0.01, 0.02), (Rope, 0.01, 0.02), (Rope, -0.01, 0.0)):
        tie = kind(name="tie", a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=0.5)
        assert values(plane(disc(), joints=(tie,)), swinging(stretch))["joint_gap"] == pytest.approx(apart, abs=1e-15)


def test_the_worst_joint_counts_and_a_scene_without_joints_has_no_figure():
    near = Revolute(name="near", a="rod", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0))
    far = Revolute(name="far", a="rod", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.3))
    assert values(plane(block("rod"), joints=(near, far)), swinging(0.0))["joint_gap"] == pytest.approx(0.3)
    assert "joint_gap" not in values(plane(block("rod")), swinging(0.0))


def test_in_space_an_anchor_turns_with_its_body():
    """Turned by 90 degrees about y, the anchor (0, 0, 0.5) points along x."""
    tie = Ball(name="tie", a="box", anchor_a=(0.0, 0.0, 0.5), anchor_b=(0.5, 0.0, 0.02))
    q = np.tile([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0], (len(T), 1))
    motion = spatial(T, np.zeros((len(T), 3)), np.zeros((len(T), 3)), q)
    assert values(space(box(), joints=(tie,)), motion)["joint_gap"] == pytest.approx(0.02)


def test_a_joint_between_two_bodies():
    tie = Revolute(name="tie", a="a", b="b", anchor_a=(0.5, 0.0), anchor_b=(-0.5, 0.0))
    scene = plane(block("a"), block("b"), joints=(tie,))
    pose = np.stack([columns(0.0 * T, 0.0, 0.0), columns(1.03 + 0.0 * T, 0.0, 0.0)], axis=1)
    assert values(scene, planar(T, pose, np.zeros_like(pose)))["joint_gap"] == pytest.approx(0.03)
    assert ball().name == "ball"
