"""Contacts of convex arcs with arcs, edges and corners: what slides off, what rests, what hits."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Edge, Outline, Polygon, World, WorldError, box, energy, simulate
from tests.reference_engine.planar.arcs import half_disc, lens, loaded_disc, stadium
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, ground


def dome(radius: float) -> Body:
    """A half disc, round side up, about the origin."""
    shape, depth, _ = half_disc(radius)
    return Body(shape=shape, fixed=True, angle=math.pi, position=(0.0, depth))


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_what_slides_without_friction_off_a_dome_leaves_where_the_cosine_says(speed):
    """From the top with v: cos = (2 + v^2/(g L))/3, L the way from centre to centre; two thirds from rest."""
    R, r = 1.0, 0.25
    L = R + r
    ball = Body(shape=Disc(r), position=(0.0, L), velocity=(speed, 0.0))
    world = World(bodies=(dome(R), ball), restitution=0.0)
    motion = simulate(world, 1.5, 0.125)
    (leaves,) = motion.events.times("broken")
    at = motion.events.point[motion.events.kind == "broken"][0]
    cosine = (2.0 + speed**2 / (GRAVITY * L)) / 3.0
    assert at == pytest.approx([R * math.sqrt(1.0 - cosine**2), R * cosine], abs=1e-9)
    assert np.ptp(energy(world, motion)) <= 1e-11
    assert np.hypot(*motion.pose[motion.time <= leaves, 1, :2].T) == pytest.approx(L, abs=1e-12)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_flat_goes_over_into_an_arc_without_an_impact(speed):
    """A disc slides on the top of a fixed stadium and then round its end, and leaves as from a dome."""
    R, r = 1.0, 0.25
    table = Body(shape=stadium(1.0, R), fixed=True)
    ball = Body(shape=Disc(r), position=(0.0, R + r), velocity=(speed, 0.0))
    world = World(bodies=(table, ball), restitution=0.0)
    motion = simulate(world, 1.0 / speed + 1.0, 0.125)
    assert not len(motion.events.times("impact"))
    assert len(motion.events.times("broken")) == 2
    assert motion.events.times("broken")[0] == pytest.approx(1.0 / speed, abs=1e-10)
    cosine = (2.0 + speed**2 / (GRAVITY * (R + r))) / 3.0
    at = motion.events.point[motion.events.kind == "broken"][1]
    assert at == pytest.approx([1.0 + R * math.sqrt(1.0 - cosine**2), R * cosine], abs=1e-9)
    assert np.ptp(energy(world, motion)) <= 1e-11
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_stadium_that_lies_flat_rests_on_both_ends_of_its_side_and_slides_as_a_box_does():
    """Stop after v/(mu g); forces m g/2 -+ mu m g h/L at the ends while it slides, m g/2 at rest."""
    half, radius, v, mu = 1.0, 0.5, 2.0, 0.5
    body = Body(shape=stadium(half, radius), inertia=1.0, position=(0.0, radius), velocity=(v, 0.0))
    motion = simulate(World(bodies=(ground(), body), friction=mu, restitution=0.0), 1.0, 0.125)
    assert set(np.round(motion.events.times("stick"), 11)) == {round(v / (mu * GRAVITY), 11)}
    assert motion.pose[-1, 1] == pytest.approx([v * v / (2.0 * mu * GRAVITY), radius, 0.0], abs=1e-11)
    lean = mu * GRAVITY * radius / (2.0 * half)
    assert sorted(motion.contacts_at(0).force) == pytest.approx([0.5 * GRAVITY - lean, 0.5 * GRAVITY + lean], abs=1e-11)
    assert motion.contacts_at(-1).force == pytest.approx([0.5 * GRAVITY] * 2, abs=1e-11)


def test_stadiums_lie_on_one_another_and_nothing_moves():
    bodies = [Body(shape=stadium(1.0, 0.25), inertia=1.0, position=(0.1 * (-1) ** k, 0.25 + 0.5 * k)) for k in range(4)]
    motion = simulate(World(bodies=(ground(), *bodies), friction=0.3, restitution=0.0), 5.0, 1.0)
    assert np.abs(motion.pose - motion.pose[0]).max() <= ROUND_OFF_OF_GAPS
    under = motion.contacts_at(-1).pair[:, 0] == 0
    assert motion.contacts_at(-1).force[under].sum() == pytest.approx(4.0 * GRAVITY, rel=1e-12)


@pytest.mark.parametrize(
    "shape", [lens(0.5, 0.3), loaded_disc(0.4, 0.1), stadium(0.3, 0.2)], ids=["lens", "disc", "stadium"]
)
@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_two_bodies_that_meet_keep_their_momenta_and_part_with_e_of_their_approach(shape, e):
    a = Body(shape=shape, inertia=0.1, velocity=(3.0, 0.0), spin=-1.0)
    b = Body(shape=shape, inertia=0.3, mass=2.0, position=(1.5, 0.2), angle=2.0, spin=0.7)
    world = World(bodies=(a, b), gravity=(0.0, 0.0), restitution=e)
    motion = simulate(world, 0.75, 0.125)
    hit = motion.impacts
    first, last = (int(np.searchsorted(motion.time, hit.time[0], side=side)) for side in ("left", "right"))
    before, after = motion.twist[first], motion.twist[last - 1]
    mass = np.array([[1.0], [2.0]])
    assert (mass * after[:, :2]).sum(axis=0) == pytest.approx((mass * before[:, :2]).sum(axis=0), abs=1e-12)
    arm = hit.point[0] - motion.pose[first, :, :2]
    rate = lambda twist: hit.normal[0] @ (  # noqa: E731  of the gap, where it is used
        twist[1, :2] + twist[1, 2] * np.array([-arm[1, 1], arm[1, 0]])
        - twist[0, :2] - twist[0, 2] * np.array([-arm[0, 1], arm[0, 0]])
    )  # fmt: skip
    assert abs(rate(after)) == pytest.approx(e * abs(rate(before)), abs=1e-11)
    assert abs(hit.gap[0]) <= ROUND_OFF_OF_GAPS
    assert motion.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize("angle", np.linspace(0.0, 3.0, 7))
def test_at_100_metres_a_second_nothing_passes_a_thin_lens(angle):
    """A lens 4 mm thick stands across the way of another and of a corner; both come back."""
    shield = Body(shape=lens(10.0, 9.998), fixed=True, angle=math.pi / 2.0)
    shots = (lens(0.1, 0.05), Polygon([(0.1, 0.0), (-0.05, 0.05), (-0.05, -0.05)]), stadium(0.05, 0.02))
    for shape in shots:
        shot = Body(shape=shape, inertia=1e-3, position=(-5.003, 0.013), angle=angle, velocity=(100.0, 0.0), spin=30.0)
        motion = simulate(World(bodies=(shield, shot), gravity=(0.0, 0.0), restitution=1.0), 0.1, 0.01)
        assert len(motion.events.times("impact"))
        assert motion.pose[:, 1, 0].max() < 0.0
        assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_the_frame_of_an_outline_does_not_matter():
    """The same body, its edges given from another origin: the same motion, bit for bit but for round-off."""

    def described(x: float, y: float) -> Body:
        shift = lambda p: (p[0] + x, p[1] + y)  # noqa: E731  of every point
        edges = [Edge(start=shift(e.start), end=shift(e.end), centre=shift(e.centre)) for e in lens(1.0, 0.6).edges]
        return Body(shape=Outline(edges, centre_of_mass=(x, y)), inertia=0.1, position=(0.0, 1.5), angle=0.7, spin=1.0)

    one, other = (
        simulate(World(bodies=(ground(), described(*at)), friction=0.3), 1.0, 0.25) for at in ((0.0, 0.0), (3.0, -2.0))
    )
    assert one.pose[-1] == pytest.approx(other.pose[-1], abs=1e-10)


def test_a_ball_rests_on_two_whole_circles():
    """Each carries m g/2 over the cosine of its normal."""
    rim = Outline([Edge(start=(1.0, 0.0), end=(1.0, 0.0), centre=(0.0, 0.0))])
    pillars = [Body(shape=rim, fixed=True, position=(x, 0.0)) for x in (-1.2, 1.2)]
    high = math.sqrt(1.5**2 - 1.2**2)
    ball = Body(shape=Disc(0.5), position=(0.0, high))
    motion = simulate(World(bodies=(*pillars, ball), friction=0.0, restitution=0.0), 2.0, 0.5)
    assert motion.contacts_at(-1).force == pytest.approx([0.5 * GRAVITY * 1.5 / high] * 2, rel=1e-12)


def test_bodies_with_arcs_that_overlap_at_the_start_are_named():
    lying = Body(shape=lens(1.0, 0.6), position=(0.0, 0.3), inertia=0.1, name="lens")
    on = Body(shape=box(1.0, 1.0), fixed=True, position=(0.0, -0.5), name="table")
    with pytest.raises(WorldError, match="overlap at the start"):
        simulate(World(bodies=(lying, on)), 0.1, 0.1)
