"""PhysX by way of SAPIEN, where it is installed (make engines-extra)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import Box, ContactLaw, Hinge, PairLaw, Rod, Rope
from tests.validation.engines.planar_scenes import ball, box, ground, scene
from tests.validation.engines.spatial_laws import SpatialLaws
from tests.validation.engines.spatial_scenes import in_plane, in_space, solid, space

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("sapien", reason="PhysX (sapien) is not installed: make engines-extra")
from validation.engines.physx.adapter import PhysX

pytestmark = pytest.mark.slow
ENGINE = PhysX()


class TestPhysX(SpatialLaws):
    engine = ENGINE
    round_off = 2e-6
    stack_depth = 5e-6
    reports_friction = False


def test_by_default_an_impact_below_two_metres_a_second_has_no_restitution() -> None:
    """From 10 cm, at 1.4 m/s."""
    dropped = scene(ball(position=(0.0, 0.6), restitution=0.9), ground=ground(restitution=0.9), duration=0.3)
    assert in_plane(ENGINE, dropped, "default").velocity[:, 0, 1].max() < 0.2
    assert in_plane(ENGINE, dropped).velocity[:, 0, 1].max() == approx(0.9 * 1.4, rel=0.05)


@pytest.mark.parametrize("kind, shortest", [(Rod, 1.0), (Rope, 0.6)])
def test_a_rod_keeps_its_length_and_a_rope_holds_at_its_own(kind: Any, shortest: float) -> None:
    joint = kind(name="tie", a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=1.0)
    hung = scene(ball(radius=0.1, position=(0.6, 0.8)), joints=(joint,), duration=2.0)
    distance = np.linalg.norm(in_plane(ENGINE, hung).position[:, 0], axis=1)
    assert distance.max() == approx(1.0, abs=1e-3) and distance.min() == approx(shortest, abs=0.01)


def test_laws_that_no_mean_of_two_values_gives_are_declined() -> None:
    pairs = (PairLaw(a="top", b="box", friction=0.9), PairLaw(a="box", b="ground", friction=0.1))
    bodies = (box(friction=0.5), box("top", position=(0.0, 1.0), friction=0.5), box("side", position=(3.0, 0.0)))
    reason = ENGINE.declines(scene(*bodies, ground=ground(), contact=ContactLaw(pairs=pairs), duration=1.0))
    assert reason is not None and reason.startswith("PhysX takes the mean of two bodies' friction")


def test_joined_bodies_that_may_touch_are_declined() -> None:
    rod = Rod(name="rod", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=2.0, collide=True)
    reason = ENGINE.declines(scene(ball("a"), ball("b", position=(2.0, 0.0)), joints=(rod,), duration=1.0))
    assert reason is not None and "joined by a joint" in reason


def test_a_bar_on_an_upright_hinge_stays_level() -> None:
    """A drive across the axis let it hang by 1 mrad."""
    hinge = Hinge(name="hinge", a="bar", anchor_a=(-0.5, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    bar = solid(
        Box(size=(1.0, 0.1, 0.1)), "bar", position=(0.5, 0.0, 0.0), velocity=(0.0, 0.5, 0.0), spin=(0.0, 0.0, 1.0)
    )
    level = space(bar, joints=(hinge,), gravity=(0.0, 0.0, -9.81), duration=1.0)
    assert np.abs(in_space(ENGINE, level).position[:, 0, 2]).max() < 1e-5
