"""Concave arcs, of bodies that may move: what rolls, slides, rests and is thrown into them. A bowl is the measure."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Edge, Outline, World, box, energy, simulate
from reference_engine.planar_model.shape import Bowl
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.arcs import lens, stadium, trough
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, ground

RADIUS = 2.0


def both(body: Body, duration: float, **impact_law: float):
    """The motion of a body in a trough, and in a bowl of the same radius."""
    contacts = Body(shape=trough(RADIUS), fixed=True), Body(shape=Bowl(RADIUS), fixed=True)
    return [simulate(World(bodies=(contact, body), **impact_law), duration, 0.125) for contact in contacts]


@pytest.mark.parametrize("mu", [0.0, 0.1, 10.0])
def test_a_disc_rolls_in_a_concave_arc_as_in_a_bowl(mu):
    r, start = 0.25, 1.2
    disc = Body(shape=Disc(r), position=((RADIUS - r) * math.sin(start), (r - RADIUS) * math.cos(start)))
    one, other = both(disc, 3.0, friction=mu, restitution=0.0)
    assert one.pose[:, 1] == pytest.approx(other.pose[:, 1], abs=1e-9)
    assert one.penetration <= ROUND_OFF_OF_GAPS
    if mu == 0.0:
        angle = np.arctan2(one.pose[:, 1, 0], -one.pose[:, 1, 1])
        assert angle == pytest.approx(truths.pendulum(one.time, start, math.sqrt(GRAVITY / (RADIUS - r))), abs=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.6])
@pytest.mark.parametrize("shape", [box(1.0, 0.5), lens(0.6, 0.3), stadium(0.4, 0.2)], ids=["box", "lens", "bar"])
def test_a_body_dropped_into_a_concave_arc_moves_as_in_a_bowl(shape, e):
    body = Body(shape=shape, inertia=0.1, position=(0.3, -0.5), angle=0.2)
    one, other = both(body, 1.0, friction=0.2, restitution=e)
    assert len(one.events.times("impact")) == len(other.events.times("impact")) > 0
    assert one.pose[-1, 1] == pytest.approx(other.pose[-1, 1], abs=1e-8)
    assert one.penetration <= ROUND_OFF_OF_GAPS


def test_a_trough_on_smooth_ground_and_the_disc_in_it_swing_against_one_another():
    """Masses M and m, way L = R - r: x of their centre stays, L (1 - m sin^2/(M + m)...) by the energy of the angle."""
    r, M, start = 0.25, 3.0, 1.0
    L = RADIUS - r
    carrier = Body(shape=trough(RADIUS), mass=M, inertia=5.0, position=(0.0, RADIUS + 0.5))
    disc = Body(shape=Disc(r), position=(L * math.sin(start), RADIUS + 0.5 - L * math.cos(start)))
    world = World(bodies=(ground(), carrier, disc), restitution=0.0)
    motion = simulate(world, 3.0, 0.125)

    def rate(t, y):
        s, c, share = math.sin(y[0]), math.cos(y[0]), 1.0 / (1.0 + M)
        return y[1], -(GRAVITY / L * s + share * s * c * y[1] ** 2) / (1.0 - share * c * c)

    angle = truths.integrate(rate, (start, 0.0), 3.0, motion.time)[0][:, 0]
    apart = motion.pose[:, 2, :2] - motion.pose[:, 1, :2]
    assert apart == pytest.approx(L * np.stack([np.sin(angle), -np.cos(angle)], axis=1), abs=1e-9)
    assert M * motion.pose[:, 1, 0] + motion.pose[:, 2, 0] == pytest.approx(L * math.sin(start), abs=1e-11)
    assert np.ptp(energy(world, motion)) <= 1e-12 * GRAVITY * (1.0 + M) * RADIUS
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_disc_is_carried_over_the_rim_and_falls_beside():
    """Out of the trough with speed: the hollow ends at its rim, and nothing holds the disc beyond."""
    r, speed = 0.25, 8.0
    disc = Body(shape=Disc(r), position=(0.0, r - RADIUS), velocity=(speed, 0.0))
    world = World(bodies=(Body(shape=trough(RADIUS), fixed=True), disc), restitution=0.5)
    motion = simulate(world, 0.6, 0.05)
    (over,) = motion.events.times("broken")
    rise = math.sqrt(speed**2 - 2.0 * GRAVITY * (RADIUS - r))
    after = motion.time > over
    t = motion.time[after] - over
    assert motion.pose[after, 1, 0] == pytest.approx(RADIUS - r, abs=1e-9)
    assert motion.pose[after, 1, 1] == pytest.approx(rise * t - 0.5 * GRAVITY * t * t, abs=1e-9)


@pytest.mark.parametrize("angle", [0.3, 1.4, 2.5])
def test_a_shot_at_100_metres_a_second_does_not_pass_a_thin_hollow(angle):
    """Of a shell 5 mm thick it hits the inside, and stays there however it bounces."""
    half, shell = 1.2, 5e-3

    def point(radius: float, side: float) -> tuple[float, float]:
        return side * radius * math.sin(half), -radius * math.cos(half)

    edges = [
        Edge(start=point(1.0 + shell, -1.0), end=point(1.0 + shell, 1.0), centre=(0.0, 0.0)),
        Edge(start=point(1.0 + shell, 1.0), end=point(1.0, 1.0)),
        Edge(start=point(1.0, 1.0), end=point(1.0, -1.0), centre=(0.0, 0.0), clockwise=True),
        Edge(start=point(1.0, -1.0), end=point(1.0 + shell, -1.0)),
    ]
    for shape in (Disc(0.05), box(0.1, 0.05), lens(0.1, 0.05)):
        shot = Body(shape=shape, inertia=1e-3, velocity=(30.0, -100.0), angle=angle, spin=20.0)
        world = World(bodies=(Body(shape=Outline(edges), fixed=True), shot), gravity=(0.0, 0.0), restitution=0.5)
        motion = simulate(world, 0.1, 0.01)
        assert len(motion.events.times("impact"))
        assert np.hypot(*motion.pose[motion.pose[:, 1, 1] < -0.5, 1, :2].T).max() < 1.0
        assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_crescent_falls_and_comes_to_rest_on_its_outer_arc():
    """It rocks to and fro and ends where its centre of mass is lowest, its own weight beneath it."""
    outer = Edge(start=(-1.0, 0.0), end=(1.0, 0.0), centre=(0.0, 0.0))
    inner = Edge(start=(1.0, 0.0), end=(-1.0, 0.0), centre=(0.0, 0.75), clockwise=True)
    shape = Outline([outer, inner], centre_of_mass=(0.0, -0.6))
    body = Body(shape=shape, inertia=0.3, position=(0.6 * math.sin(0.4), 1.0 - 0.6 * math.cos(0.4)), angle=0.4)
    world = World(bodies=(ground(), body), friction=10.0, restitution=0.0)
    motion = simulate(world, 2.0, 0.125)

    def rate(t, y):
        K = 0.3 + 1.36 - 1.2 * math.cos(y[0])
        return y[1], -(GRAVITY + y[1] ** 2) * 0.6 * math.sin(y[0]) / K

    angle = truths.integrate(rate, (0.4, 0.0), 2.0, motion.time)[0][:, 0]
    assert motion.pose[:, 1, 2] == pytest.approx(angle, abs=1e-9)
    assert motion.penetration <= ROUND_OFF_OF_GAPS
