"""The reference engine behind the interface, in space: boxes, balls, capsules and compounds, every event located."""

import numpy as np
import pytest
from pytest import approx

from scenarios.joints import Hinge
from scenarios.scene import Box, Cylinder, Ellipsoid, HalfSpace, SpatialScene, Sphere, Spring
from scenarios.shapes import SpatialCompound, SpatialPiece
from tests.validation.engines.spatial_scenes import in_space, solid, space
from tests.validation.metrics.motions import values
from validation.engines.reference.adapter import Reference

G = 9.81
FLOOR = HalfSpace(name="floor", friction=0.25)
EGG = Ellipsoid(semi_axes=(0.1, 0.2, 0.3))
BRICK = Box(size=(0.4, 0.2, 0.1))


def test_a_sliding_brick_is_borne_by_its_weight_and_slowed_by_friction() -> None:
    """Reported impulses: on the floor m g dt downwards, and mu m g dt along the slip, at every sample."""
    brick = solid(BRICK, mass=2.0, position=(0.0, 0.0, 0.05), velocity=(1.0, 0.0, 0.0), friction=0.25)
    motion = in_space(Reference(), space(brick, floor=FLOOR, duration=0.3))
    contacts = motion.contacts
    assert contacts is not None and set(contacts.a) == {0} and set(contacts.b) == {1}
    assert contacts.normal == approx(np.tile((0.0, 0.0, -1.0), (len(contacts.a), 1)))
    weight, last = 2.0 * G * motion.dt, len(motion.time) - 1
    for sample in range(last + 1):
        total = contacts.impulse[contacts.sample == sample].sum(axis=0)
        assert total == approx((0.25 * weight, 0.0, -weight), rel=1e-9, abs=1e-12)


def test_samples_stand_before_and_after_an_impact() -> None:
    """A ball dropped from 0.5 m with e = 0.5: at the time of the fall once with the speed of it, once with half."""
    ball = solid(Sphere(radius=0.1), position=(0.0, 0.0, 0.6), restitution=0.5)
    motion = in_space(Reference(), space(ball, floor=HalfSpace(name="floor"), duration=0.5))
    (row,) = np.flatnonzero(np.diff(motion.time) == 0.0)[:1]
    fall = np.sqrt(2.0 * 0.5 / G)
    assert motion.time[row] == approx(fall, abs=1e-14)
    assert motion.velocity[row : row + 2, 0, 2] == approx((-G * fall, 0.5 * G * fall), abs=1e-12)
    assert motion.impacts is not None and motion.impacts.impulse[0] == approx((0.0, 0.0, -1.5 * G * fall), abs=1e-12)


def test_bodies_of_one_group_pass_through_one_another() -> None:
    low = solid(BRICK, "low", position=(0.0, 0.0, 0.05), group=1)
    high = solid(BRICK, "high", position=(0.0, 0.0, 0.5), group=1)
    motion = in_space(Reference(), space(low, high, floor=FLOOR, duration=1.0))
    assert motion.position[-1, :, 2] == approx((0.05, 0.05), abs=1e-12)


def test_a_hinged_brick_falls_on_to_the_floor_and_lies() -> None:
    """A hatch: it turns about its edge by a quarter until it is level, and its hinge stays closed."""
    stands = (np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0)  # a quarter turn about -y: its length points up
    hatch = solid(
        BRICK, "hatch", position=(0.05, 0.0, 0.2), orientation=stands, friction=0.25,
        velocity=(0.8, 0.0, 0.2), spin=(0.0, 4.0, 0.0),
    )  # fmt: skip
    hinge = Hinge(name="hinge", a="hatch", anchor_a=(-0.2, 0.0, -0.05), anchor_b=(0.1, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    scene = space(hatch, floor=FLOOR, joints=(hinge,), duration=1.5)
    motion = in_space(Reference(), scene)
    found = values(scene, motion)
    assert found["joint_gap"] < 1e-12 and found["penetration_max"] < 1e-12
    assert motion.position[-1, 0] == approx((0.3, 0.0, 0.05), abs=1e-11)
    assert np.abs(motion.spin[-1]).max() < 1e-12


def test_a_compound_stands_while_its_centre_of_mass_is_above_its_base() -> None:
    """A slab on a foot, whose arm carries no load beyond the foot's edge; poses are the piece's to round-off."""
    foot = SpatialPiece(shape=Box(size=(0.2, 0.2, 0.2)), position=(0.0, 0.0, -0.1))
    arm = SpatialPiece(shape=Box(size=(0.35, 0.2, 0.05)), position=(0.1, 0.0, 0.025))
    table = solid(SpatialCompound(pieces=(foot, arm)), "table", mass=3.0, position=(0.0, 0.0, 0.2), friction=0.5)
    scene = space(table, floor=HalfSpace(name="floor", friction=0.5), duration=1.0)
    motion = in_space(Reference(), scene)
    assert np.abs(motion.position - motion.position[0]).max() < 1e-12
    assert values(scene, motion)["penetration_max"] < 1e-12


@pytest.mark.parametrize(
    ("scene", "named"),
    [
        (
            space(solid(BRICK, "a", position=(0, 0, 1)), floor=FLOOR, duration=1.0,
                  springs=(Spring(a="a", anchor_a=(0, 0, 0), anchor_b=(0, 0, 2), stiffness=1.0),)),
            "no springs",
        ),
        (
            space(solid(BRICK, "a"), solid(EGG, "b", position=(0, 0, 1)), duration=1.0),
            "box",
        ),
        (
            space(solid(BRICK, "a"), solid(Cylinder(radius=0.1, length=0.2), "b", position=(0, 0, 1)), duration=1.0),
            "a cylinder meets half-spaces alone",
        ),
        (space(solid(BRICK, position=(0, 0, 0.02)), floor=FLOOR, duration=1.0), "overlap at the start"),
    ],
)  # fmt: skip
def test_what_it_cannot_follow_is_declined_by_name(scene: SpatialScene, named: str) -> None:
    assert named in str(Reference().declines(scene))
