"""The reference engine behind the interface, in space: ellipsoids, spheres, planes and hollow spheres."""

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import (
    Ball,
    Box,
    ContactLaw,
    Damping,
    Ellipsoid,
    HalfSpace,
    HollowSphere,
    PairLaw,
    SpatialBody,
    SpatialScene,
    Sphere,
    Thruster,
)
from tests.validation.engines.spatial_scenes import in_space, solid, space
from tests.validation.metrics.motions import values
from validation.engines.reference.adapter import Reference
from validation.engines.reference.ellipsoids import world_of

EGG = Ellipsoid(semi_axes=(0.3, 0.2, 0.1))
G = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)


def declined(scene: SpatialScene) -> str:
    return str(Reference().declines(scene))


def test_what_has_no_place_in_it_is_declined_in_words():
    floor = HalfSpace(name="floor")
    box = solid(Box(size=(1.0, 1.0, 1.0)), "box", position=(0.0, 0.0, 5.0))
    egg = solid(EGG, "egg", position=(0.0, 0.0, 1.0))
    assert declined(space(box, egg, floor=floor, duration=1.0)).endswith("spheres and ellipsoids; this scene has box")
    eggs = [solid(EGG, name, position=(x, 0.0, 0.2), group=1) for name, x in (("a", 0.0), ("b", 1.0))]
    assert "of one group" in declined(space(*eggs, floor=floor, duration=1.0))
    ball = Ball(name="pin", a="a", anchor_a=(0.0, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.2))
    pinned = solid(EGG, "a", position=(0.0, 0.0, 0.2))
    assert declined(space(pinned, floor=floor, joints=(ball,), duration=1.0)).endswith("this scene has ball")
    low = solid(EGG, position=(0.0, 0.0, 0.09))
    assert "overlap by 0.01 m at the start" in declined(space(low, floor=floor, duration=1.0))


def test_what_meets_nothing_may_have_any_shape():
    """A box in flight: a parabola, to the last digits."""
    thrown = solid(Box(size=(1.0, 2.0, 3.0)), velocity=(1.0, 0.0, 5.0), spin=(1.0, 2.0, 3.0))
    motion = in_space(Reference(), space(thrown, duration=1.0))
    assert motion.position[-1, 0] == approx([1.0, 0.0, 5.0 - 0.5 * G], abs=1e-12)


def test_an_ellipsoid_at_rest_is_borne_by_what_it_touches():
    """Reported impulses are its weight times the step; no metric finds an overlap, a gap, or motion."""
    egg = solid(EGG, mass=2.0, position=(0.0, 0.0, 0.1), friction=0.5)
    scene = space(egg, floor=HalfSpace(name="floor", friction=0.5), duration=1.0)
    motion = in_space(Reference(), scene)
    contacts = motion.contacts
    assert contacts is not None and set(contacts.a) == {0} and set(contacts.b) == {1}
    borne = np.array([contacts.impulse[contacts.sample == k].sum(axis=0) for k in np.unique(contacts.sample)])
    assert borne == approx(np.tile((0.0, 0.0, -2.0 * G * motion.dt), (len(borne), 1)), abs=1e-8)
    found = values(scene, motion)
    assert found["penetration_max"] == 0.0 and 0.0 <= found["gap_final"] <= 2e-9
    assert found["jitter_velocity"] < 1e-6 and found["rest_drift"] < 1e-9


def test_of_two_boundaries_each_is_named_for_what_it_bears():
    """A ball in the corner of a floor and a wall that leans over it by gravity's slant."""
    ball = solid(Sphere(radius=0.5), position=(0.5, 0.0, 0.5))
    walls = (
        HalfSpace(name="floor"),
        HalfSpace(name="wall", normal=(1.0, 0.0, 0.0)),
        HollowSphere(name="far", radius=9.0),
    )
    motion = in_space(Reference(), space(ball, boundaries=walls, gravity=(-3.0, 0.0, -4.0), duration=0.5))
    contacts = motion.contacts
    assert contacts is not None
    last = contacts.sample == contacts.sample.max()
    by = {b: contacts.impulse[last & (contacts.b == b)].sum(axis=0) / motion.dt for b in (1, 2)}
    assert set(contacts.b) == {1, 2}
    assert by[1] == approx([0.0, 0.0, -4.0], abs=1e-6) and by[2] == approx([-3.0, 0.0, 0.0], abs=1e-6)


def test_damping_and_thrusters_act_to_second_order():
    """v' = (F - c v) / m, in closed form."""
    body = SpatialBody(name="egg", shape=EGG, mass=2.0, velocity=(3.0, 0.0, 0.0))
    push = Thruster(body="egg", anchor=(0.0, 0.0, 0.0), force=(0.0, 4.0, 0.0))
    far = HalfSpace(name="far", point=(0.0, 0.0, -9.0))  # what can touch nothing goes another way, without steps
    scene = space(body, floor=far, duration=1.0, gravity=WEIGHTLESS, damping=Damping(linear=1.5), thrusters=(push,))
    k = 1.5 / 2.0
    exact = [3.0 / k * (1.0 - np.exp(-k)), 2.0 / k * (1.0 - (1.0 - np.exp(-k)) / k), 0.0]
    errors = [
        np.abs(in_space(Reference(), scene, dt=dt).position[-1, 0] - exact).max() for dt in (1.0 / 60.0, 1.0 / 120.0)
    ]
    assert errors[1] < 3e-5
    assert errors[0] / errors[1] == approx(4.0, abs=0.1)


def test_each_pair_has_its_own_friction_and_restitution():
    bodies = [
        solid(Sphere(radius=0.1), name, position=(x, 0.0, 1.0), friction=0.3, restitution=0.2)
        for name, x in (("a", 0.0), ("b", 1.0), ("c", 2.0))
    ]
    coefficients = ContactLaw(pairs=(PairLaw(a="b", b="floor", friction=0.9),))
    floor = HalfSpace(name="floor", friction=0.1, restitution=0.6)
    world = world_of(space(*bodies, floor=floor, contact=coefficients, duration=1.0))
    assert world.coefficients_with(0)[:, 0] == approx([np.sqrt(0.03), 0.9, np.sqrt(0.03)])
    assert world.coefficients_with(0)[:, 1] == approx(0.6)
    assert world.coefficients_of(np.array([(0, 1), (0, 2)])) == approx(np.array([(0.3, 0.2), (0.3, 0.2)]))


@pytest.mark.parametrize("edges", [0, 8])
def test_the_pyramid_is_a_setting(edges):
    """Across its corners a pyramid holds less: a ball thrown there slows down less than by mu g."""
    v = np.array((np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0)) * 2.0
    ball = solid(Ellipsoid(semi_axes=(0.1, 0.1, 0.1)), position=(0.0, 0.0, 0.1), velocity=tuple(v), friction=0.5)
    scene = space(ball, floor=HalfSpace(name="floor", friction=0.5), duration=0.1)
    motion = in_space(Reference(), scene, edges=edges)
    slowed = (2.0 - np.linalg.norm(motion.velocity[-1, 0])) / (0.5 * G * 0.1)
    assert slowed == approx(1.0 if edges == 0 else np.cos(np.pi / 8), abs=1e-3)
