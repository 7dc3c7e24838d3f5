"""A and b: the second derivative of every gap, against finite differences of the gap itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import Body, Disc, HalfPlane, Settings, World, box
from reference_engine.planar.dynamics import contact_matrix, contact_vector, push
from reference_engine.planar.layout import pack_bodies, pack_law, room_for_contacts, room_to_work
from reference_engine.planar.narrow_phase import find_contacts, measure, place_shapes

REACH = 0.01
numbers = st.floats(-2.0, 2.0)

PAIRS = {
    "corner on a ground": (HalfPlane(), box(1.0, 0.6), (0.0, 0.0, 0.0), (0.1, 0.478, 0.4)),
    "corner on an edge": (box(2.0, 1.0), box(1.0, 0.6), (0.0, 0.0, 0.0), (0.1, 0.978, 0.4)),
    "edge on a corner": (box(1.0, 0.6), box(2.0, 1.0), (0.1, 0.978, 0.4), (0.0, 0.0, 0.0)),
    "disc on a ground": (HalfPlane(), Disc(0.4), (0.0, 0.0, 0.0), (0.0, 0.405, 0.0)),
    "disc on an edge": (box(2.0, 1.0), Disc(0.4), (0.0, 0.0, 0.0), (0.2, 0.905, 0.0)),
    "disc on a corner": (box(2.0, 1.0), Disc(0.4), (0.0, 0.0, 0.0), (1.0 + 0.243, 0.5 + 0.324, 0.0)),
    "disc on a disc": (Disc(0.7), Disc(0.4), (0.0, 0.0, 0.0), (0.66 * 1.005, 0.88 * 1.005, 0.0)),
    "corner on a corner": (box(2.0, 1.0), box(2.0, 1.0), (0.0, 0.0, 0.0), (2.003, 1.004, 0.0)),
}


def contacts_of(name, twists, forces=None):
    """The contacts of a pair in a given motion, its A and b, and gap'' of every contact by finite differences."""
    first, second, pose_1, pose_2 = PAIRS[name]
    bodies_ = [
        Body(shape=shape, position=pose[:2], angle=pose[2], fixed=isinstance(shape, HalfPlane), mass=mass)
        for shape, pose, mass in ((first, pose_1, 2.0), (second, pose_2, 0.7))
    ]
    world = World(bodies=tuple(bodies_), gravity=(1.0, -9.0))
    bodies, law = pack_bodies(world), pack_law(world, Settings(extra_acceleration="none"))
    pose = np.array([pose_1, pose_2])
    twist = np.array(twists, float).reshape(2, 3)
    if bodies_[0].fixed:
        twist[0] = 0.0
    scratch, contacts = room_to_work(bodies, 16), room_for_contacts(16)
    n = find_contacts(bodies, pose, twist, REACH, 0.0, scratch.vertices, scratch.normals, contacts)
    acceleration = np.zeros((2, 3))
    for i, body in enumerate(bodies_):
        if not body.fixed:
            acceleration[i] = (1.0, -9.0, 0.3)
    contact_vector(law, twist, acceleration, contacts, n, scratch.b)
    contact_matrix(bodies, contacts, n, scratch.A)
    if forces is not None:
        push(bodies, contacts, n, np.resize(np.array(forces, float), n), acceleration)

    def gaps(t):
        moved = room_for_contacts(16)
        for field, value in zip(moved, contacts, strict=True):
            field[:] = value
        there = pose + twist * t + 0.5 * acceleration * t * t
        place_shapes(bodies, there, scratch.vertices, scratch.normals)
        for k in range(n):
            measure(bodies, there, twist, scratch.vertices, scratch.normals, moved, k)
        return moved.gap[:n].copy()

    fastest = np.abs(contacts.speed[:n]).max() + np.abs(twist).max() * 4.0 + 1.0
    h = min(1e-4, 1e-3 * contacts.span[:n].min() / fastest)
    second_difference = (gaps(h) - 2.0 * gaps(0.0) + gaps(-h)) / h**2
    first_difference = (gaps(h) - gaps(-h)) / (2.0 * h)
    return contacts, n, scratch.A[:n, :n], scratch.b[:n], first_difference, second_difference, h


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=25, deadline=None)
@given(twists=st.lists(numbers, min_size=6, max_size=6))
def test_b_is_the_second_derivative_of_the_gap_without_contact_forces(name, twists):
    """Rotating normal and centripetal terms included. The step h of the differences is at most 1e-3 span / v:

    1e-6 of b is lost to the fourth derivative (v^4 / span^3), and 1e-15 / h^2 to round-off of the gap.
    """
    contacts, n, _, b, speed, acceleration, h = contacts_of(name, twists)
    assert n >= 1
    assert contacts.speed[:n] == pytest.approx(speed, abs=1e-5)
    assert b == pytest.approx(acceleration, rel=1e-5, abs=1e-4 + 4e-15 / h**2)


@pytest.mark.parametrize("name", PAIRS)
def test_a_contact_force_changes_the_gap_acceleration_by_a_column_of_A(name):
    forces = [3.0, 1.0]
    _, n, A, b, _, acceleration, _ = contacts_of(name, [0.0] * 6, forces)
    assert A @ np.resize(np.array(forces), n) + b == pytest.approx(acceleration, abs=1e-4)
    assert np.linalg.eigvalsh(A).min() >= -1e-12
