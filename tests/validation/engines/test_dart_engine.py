"""DART, where it is installed (make engines-extra)."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import Disc, Polygon, Revolute
from scenarios.scene import PlanarBody as Body
from tests.validation.engines.planar_scenes import box, ground, scene
from tests.validation.engines.spatial_laws import SpatialLaws
from tests.validation.engines.spatial_scenes import DT, G, in_plane, momentum_imbalance

pytest.importorskip("dartpy", reason="DART (dartpy) is not installed: make engines-extra")
from validation.engines.dart.adapter import Dart

pytestmark = pytest.mark.slow
ENGINE = Dart()


class TestDart(SpatialLaws):
    engine = ENGINE
    round_off = 1e-12
    stack_depth = 5e-6
    joint_gap = 1e-12


def test_impulses_with_friction_balance_to_round_off() -> None:
    sliding = scene(
        box(position=(0.0, 0.5), velocity=(5.0, 0.0), friction=0.3), ground=ground(friction=0.3), duration=1.0
    )
    assert momentum_imbalance(sliding, in_plane(ENGINE, sliding)) < 1e-12


def test_by_default_one_contact_is_found_of_a_box_on_a_plane() -> None:
    """FCL's detector finds one contact of a box on a plane, ODE's, which fair has, all four."""
    sliding = scene(
        box(position=(0.0, 0.5), velocity=(5.0, 0.0), friction=0.3), ground=ground(friction=0.3), duration=0.5
    )
    contacts = [in_plane(ENGINE, sliding, profile).contacts for profile in ("default", "fair")]
    most = [max(np.bincount(found.sample)) for found in contacts if found is not None]
    assert most == [1, 4]


def test_a_loop_is_closed_by_a_constraint() -> None:
    """A four-bar linkage of equal rods: a parallelogram, whose coupler does not turn."""
    rod = box("left", width=1.0, height=0.1, position=(0.0, 0.5), angle=np.pi / 2)
    bars = (
        rod,
        box("coupler", width=1.0, height=0.1, position=(0.5, 1.0)),
        box("right", width=1.0, height=0.1, position=(1.0, 0.5), angle=np.pi / 2),
    )
    joints = (
        Revolute(name="a", a="left", anchor_a=(-0.5, 0.0), anchor_b=(0.0, 0.0)),
        Revolute(name="b", a="left", b="coupler", anchor_a=(0.5, 0.0), anchor_b=(-0.5, 0.0)),
        Revolute(name="c", a="coupler", b="right", anchor_a=(0.5, 0.0), anchor_b=(0.5, 0.0)),
        Revolute(name="d", a="right", anchor_a=(-0.5, 0.0), anchor_b=(1.0, 0.0)),
    )
    motion = in_plane(ENGINE, scene(*bars, joints=joints, gravity=(1.0, -G), duration=0.4))
    assert motion.position[-1, 1, 0] > 0.55
    assert np.abs(motion.pose[:, 1, 2]).max() < 1e-2
    assert motion.angle[:, 0] == approx(motion.angle[:, 2], abs=1e-2)


def test_links_go_on_from_the_state_that_they_are_given() -> None:
    """A double pendulum, set to where another one is after half a second, goes where that goes."""
    arm, tip = (box(name, height=0.2, position=(x, 0.0)) for name, x in (("arm", 0.5), ("tip", 1.5)))
    joints = (
        Revolute(name="shoulder", a="arm", anchor_a=(-0.5, 0.0), anchor_b=(0.0, 0.0)),
        Revolute(name="elbow", a="arm", b="tip", anchor_a=(0.5, 0.0), anchor_b=(-0.5, 0.0)),
    )
    swing = scene(arm, tip, joints=joints, duration=1.0)
    settings = {name: one.default for name, one in ENGINE.settings.items()} | ENGINE.profile("fair", swing, DT)
    first, second = (ENGINE.build(swing, DT, settings) for _ in range(2))
    first.read()
    for _ in range(120):
        first.step(watched=False)
        state = [part[0] for part in first.decode(first.read(), 1)]
    second.set_state(*state, time=120 * DT)
    for world in (first, second):
        for _ in range(60):
            world.step(watched=False)
    for one, other in zip(first.decode(first.read(), 1), second.decode(second.read(), 1)):
        assert one == approx(other, abs=1e-9)


def test_polygons_that_are_no_rectangles_are_declined() -> None:
    triangle = Body(name="wedge", shape=Polygon(vertices=((-1.0, -0.5), (1.0, -0.5), (0.0, 1.0))), mass=1.0)
    assert "rectangles" in str(ENGINE.declines(scene(triangle, duration=1.0)))
    assert ENGINE.declines(scene(Body(name="disc", shape=Disc(radius=1.0), mass=1.0), duration=1.0)) is None
