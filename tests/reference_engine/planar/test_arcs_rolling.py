"""Bodies that roll on their arcs: half discs, loaded discs, lenses, rounded boxes. Reduced to the angle alone."""

import math

import numpy as np
import pytest

from reference_engine import Body, Edge, Outline, World, box, energy, simulate
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.arcs import half_disc, lens, loaded_disc, rolled, stadium
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, ground

ROUGH = 100.0  # friction that never slips here


def rolling_rate(radius: float, depth: float, inertia: float) -> truths.Rate:
    """Of (angle, spin), m = 1: K = I + r^2 + d^2 - 2 r d cos about the contact; K w^2/2 - g d cos is kept."""

    def rate(t: float, y: truths.Array) -> tuple[float, float]:
        angle, w = y
        K = inertia + radius**2 + depth**2 - 2.0 * radius * depth * math.cos(angle)
        return w, -(GRAVITY + radius * w * w) * depth * math.sin(angle) / K

    return rate


def rolls(body: Body, radius: float, depth: float, duration: float) -> None:
    world = World(bodies=(ground(), body), friction=ROUGH, restitution=0.0)
    motion = simulate(world, duration, 0.125)
    rate = rolling_rate(radius, depth, float(body.inertia or 0.0))
    angle = truths.integrate(rate, (body.angle, body.spin), duration, motion.time)[0][:, 0]
    assert motion.pose[:, 1, 2] == pytest.approx(angle, abs=1e-9)
    assert motion.pose[:, 1, 1] == pytest.approx(radius - depth * np.cos(angle), abs=1e-9)
    x = depth * np.sin(angle) - radius * (angle - body.angle)
    assert motion.pose[:, 1, 0] == pytest.approx(x, abs=1e-9)
    scale = GRAVITY * (radius + depth)
    assert np.abs(energy(world, motion) - energy(world, motion)[0]).max() <= 3e-13 * scale
    assert motion.penetration <= ROUND_OFF_OF_GAPS
    assert not len(motion.events.times("impact"))


def test_a_half_disc_rocks_on_its_round_side_as_its_inertia_about_the_contact_says():
    shape, depth, inertia = half_disc(1.0)
    rolls(rolled(shape, 1.0, depth, 1.0, inertia=inertia), 1.0, depth, 3.0)


def test_a_loaded_disc_rolls_over_the_top_with_the_speed_that_its_energy_allows():
    """K w^2/2 - g d cos is kept: at the top K = I + (r + d)^2, at the bottom I + (r - d)^2."""
    shape, spin = loaded_disc(0.5, 0.2), 12.0
    velocity = (-(0.5 - 0.2) * spin, 0.0)
    body = rolled(shape, 0.5, 0.2, 0.0, inertia=0.08, spin=spin, velocity=velocity)
    rolls(body, 0.5, 0.2, 2.0)
    assert truths.integrate(rolling_rate(0.5, 0.2, 0.08), (0.0, spin), 2.0)[2][0] > 2.0 * math.pi


def test_a_lens_rocks_on_one_arc_as_a_disc_does_whose_centre_is_above_it():
    """The centre of mass, here 0.6 below that of the lower arc, may be anywhere in a body: loaded discs all."""
    body = rolled(lens(1.0, 0.6), 1.0, 0.6, 0.5, inertia=0.1)
    rolls(body, 1.0, 0.6, 3.0)


def test_on_smooth_ground_the_centre_of_mass_of_a_half_disc_goes_up_and_down_alone():
    """(I + d^2 sin^2) w^2/2 - g d cos is kept."""
    shape, depth, inertia = half_disc(1.0)
    body = rolled(shape, 1.0, depth, 1.2, inertia=inertia)
    world = World(bodies=(ground(), body), restitution=0.0)
    motion = simulate(world, 3.0, 0.125)

    def rate(t, y):
        sine, cosine = math.sin(y[0]), math.cos(y[0])
        return y[1], -depth * sine * (GRAVITY + depth * cosine * y[1] ** 2) / (inertia + (depth * sine) ** 2)

    angle = truths.integrate(rate, (1.2, 0.0), 3.0, motion.time)[0][:, 0]
    assert motion.pose[:, 1, 2] == pytest.approx(angle, abs=1e-9)
    assert motion.pose[:, 1, 0] == pytest.approx(body.position[0], abs=1e-12)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_rounded_box_rolls_over_its_corner_until_its_side_lies_down():
    """Upright on an arc that joins its sides: it rolls over, and the side's far end hits with w times its length."""
    half, radius, tilt = 0.5, 0.2, -0.1
    body = Body(shape=stadium(half, radius), inertia=0.2, angle=math.pi / 2.0 + tilt,
                position=(-half * math.sin(tilt), radius + half * math.cos(tilt)))  # fmt: skip
    world = World(bodies=(ground(), body), friction=ROUGH, restitution=0.0)
    motion = simulate(world, 2.0, 0.125)
    rate = rolling_rate(radius, -half, 0.2)  # the centre of mass above that of the arc
    _, lies, end = truths.integrate(rate, (tilt, 0.0), 2.0, until=lambda t, y: y[0] + math.pi / 2.0)
    assert motion.events.times("impact")[0] == pytest.approx(lies, abs=1e-10)
    before = motion.time <= lies
    angle = truths.integrate(rate, (tilt, 0.0), lies, motion.time[before])[0][:, 0]
    assert motion.pose[before, 1, 2] - math.pi / 2.0 == pytest.approx(angle, abs=1e-10)
    assert np.abs(motion.impacts.speed[0]) == pytest.approx(2.0 * half * -end[1], abs=1e-9)
    assert motion.pose[-1, 1, 1] == pytest.approx(radius, abs=ROUND_OFF_OF_GAPS)
    assert motion.contacts_at(-1).force == pytest.approx([0.5 * GRAVITY] * 2, abs=1e-10)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_oval_hands_over_from_arc_to_arc_without_an_impact(side):
    """Arcs of radius 0.4 and 1 that join smoothly, rolled over both ways: energy is kept and the gap stays closed."""
    small, large, offset = 0.4, 1.0, 0.2  # centres (+-offset, 0) and (0, +-rise) in line with the joints
    rise = math.sqrt((large - small) ** 2 - offset**2)
    joint = (offset * large / (large - small), rise * large / (large - small) - rise)
    corners = [(-joint[0], -joint[1]), (joint[0], -joint[1]), joint, (-joint[0], joint[1])]
    centres = [(0.0, rise), (offset, 0.0), (0.0, -rise), (-offset, 0.0)]
    edges = [Edge(start=corners[k], end=corners[(k + 1) % 4], centre=centres[k]) for k in range(4)]
    start = 4.0 * side  # enough to roll over its small ends
    body = Body(shape=Outline(edges), inertia=0.15, angle=0.0, spin=start,
                position=(0.0, large - rise), velocity=(-start * (large - rise), 0.0))  # fmt: skip
    world = World(bodies=(ground(), body), friction=ROUGH, restitution=0.0)
    motion = simulate(world, 4.0, 0.0625)
    assert not len(motion.events.times("impact"))
    assert len(motion.events.times("broken")) >= 4
    assert np.ptp(energy(world, motion)) <= 1e-11
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_block_rocks_on_a_round_dome_if_it_is_less_high_than_the_dome_is_round():
    """Contact R theta along its base: T = (I + (R theta)^2 + (b/2)^2) w^2/2, V = g ((R + b/2) cos + R theta sin)."""
    R, a, b, spin = 1.0, 1.2, 0.5, 1.0
    inertia = (a * a + b * b) / 12.0
    dome = Body(shape=half_disc(R)[0], fixed=True, angle=math.pi, position=(0.0, half_disc(R)[1]))
    block = Body(shape=box(a, b), position=(0.0, R + b / 2.0), spin=spin, velocity=(-spin * b / 2.0, 0.0))
    world = World(bodies=(dome, block), friction=ROUGH, restitution=0.0)
    motion = simulate(world, 4.0, 0.125)

    def rate(t, y):
        angle, w = y
        K = inertia + (R * angle) ** 2 + b * b / 4.0
        force = GRAVITY * (b / 2.0 * math.sin(angle) - R * angle * math.cos(angle))
        return w, (force - R * R * angle * w * w) / K

    angle = truths.integrate(rate, (0.0, spin), 4.0, motion.time)[0][:, 0]
    assert motion.pose[:, 1, 2] == pytest.approx(angle, abs=1e-9)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_loaded_disc_that_rolls_over_the_end_of_a_block_goes_round_the_corner_that_it_has_reached():
    """With the upright side under it both corners of that side lie the same way: the upper one is the nearer."""
    block = Body(shape=box(1.0, 1.0), fixed=True, position=(0.0, -0.5))
    disc = Body(shape=loaded_disc(0.3, 0.0), inertia=0.045, position=(0.0, 0.3), velocity=(0.5, 0.0), spin=-0.5 / 0.3)
    motion = simulate(World(bodies=(block, disc), friction=ROUGH, restitution=0.0), 1.2, 0.05)
    over = motion.events.times("broken")[0]
    assert over == pytest.approx(1.0, abs=1e-10)
    after = motion.time > over
    assert np.hypot(motion.pose[after, 1, 0] - 0.5, motion.pose[after, 1, 1]) == pytest.approx(0.3, abs=1e-10)
