"""Many ellipsoids in contact: nothing overlaps, momentum is balanced, energy is never gained."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from reference_engine import EllipsoidWorld, HalfSpace, SpatialSettings, SphereInterior, Stepper, ellipsoid_energy
from reference_engine.geometry.ellipsoid_proximity import (
    ellipsoid_proximities,
    half_space_proximities,
    sphere_interior_proximities,
)
from reference_engine.heaps.simulate import simulate_ellipsoids


def layers(count, friction=0.4, seed=0, **given):
    """A cubic lattice of ellipsoids, turned at random, in layers of nine above a plane."""
    rng = np.random.default_rng(seed)
    i = np.arange(count)
    place = np.stack([i % 3, i // 3 % 3, i // 9], axis=1) * 0.23 + [0.0, 0.0, 0.12]
    return EllipsoidWorld(
        np.tile((0.1, 0.08, 0.06), (count, 1)), place + rng.uniform(-0.01, 0.01, (count, 3)),
        orientation=rng.normal(size=(count, 4)), containers=(HalfSpace(),), friction=friction, **given,
    )  # fmt: skip


@pytest.mark.parametrize("edges", [0, 6])
def test_falling_layers_never_overlap_and_never_gain_energy(edges):
    """By the geometry itself, all pairs, whatever the stepper had on its list."""
    world = layers(27)
    motion = simulate_ellipsoids(world, 0.5, 0.005, sample_every=4, settings=SpatialSettings(edges=edges))
    pairs = np.array([(a, b) for a in range(27) for b in range(a)])
    for x, q in zip(motion.position, motion.orientation):
        assert ellipsoid_proximities(world.semi_axes, x, q, pairs, cutoff=1.0).gap.min() >= 0.0
        assert half_space_proximities(world.semi_axes, x, q, point=(0, 0, 0), normal=(0, 0, 1)).gap.min() >= 0.0
    energy = ellipsoid_energy(world, motion)
    assert (np.diff(energy) <= 1e-6 * energy[0]).all()
    assert energy[-1] < 0.8 * energy[0]


def test_a_pile_in_free_space_keeps_momentum_and_angular_momentum():
    """Two clouds that meet: impulses between bodies cancel, at their points too."""
    rng = np.random.default_rng(1)
    count = 12
    x = np.concatenate([rng.permutation(27)[:count], rng.permutation(27)[:count]])
    place = np.stack([x % 3, x // 3 % 3, x // 9], axis=1) * 0.25
    place[:count, 0] -= 0.9
    velocity = np.zeros((2 * count, 3))
    velocity[:count, 0] = 4.0
    world = EllipsoidWorld(
        np.tile((0.1, 0.08, 0.06), (2 * count, 1)), place, orientation=rng.normal(size=(2 * count, 4)),
        velocity=velocity, gravity=(0.0, 0.0, 0.0), friction=0.5,
    )  # fmt: skip
    stepper = Stepper(world, 0.005)
    before, contacts = momenta(stepper), 0
    for _ in range(60):
        contacts += stepper.step().contacts
    assert contacts > 100
    assert momenta(stepper) == pytest.approx(before, abs=1e-12)


def momenta(stepper):
    """(6,) momentum and angular momentum about the origin."""
    world, p = stepper.world, stepper.world.mass[:, None] * stepper.twist[:, :3]
    own = Rotation.from_quat(stepper.orientation, scalar_first=True)
    spin = own.apply(world.inertia * own.inv().apply(stepper.twist[:, 3:]))
    return np.concatenate([p.sum(axis=0), (np.cross(stepper.position, p) + spin).sum(axis=0)])


def test_weights_of_what_rests_are_borne_by_the_ground():
    """Three on the ground, one upon them: the normal impulses of a step add up to m g dt."""
    r, dt = 0.1, 0.005
    around = 2.02 * r / np.sqrt(3.0)
    place = [[around * np.cos(a), around * np.sin(a), r] for a in (0.0, 2.0944, 4.1888)]
    place.append([0.0, 0.0, r + np.sqrt(4.01 * r * r - around**2)])
    world = EllipsoidWorld(np.full((4, 3), r), place, containers=(HalfSpace(),), friction=0.6)
    stepper = Stepper(world, dt, SpatialSettings(gap_tolerance=1e-9, speed_tolerance=1e-12))
    for _ in range(100):
        report = stepper.step()
    assert np.abs(stepper.twist).max() < 1e-9
    borne = stepper.broad_phase.warm_start.sum(axis=0)[stepper.broad_phase.body[:, 1] == 4].sum(axis=0)
    assert borne == pytest.approx([0.0, 0.0, -4.0 * 9.81 * dt], abs=1e-9)
    assert report.residual <= 1e-12


def test_a_heap_falls_together_in_a_hollow_sphere_and_stays_inside():
    """To the furthest points of the bodies, at every step. At rest: test_rest.py."""
    rng = np.random.default_rng(4)
    i = np.arange(18)
    place = (np.stack([i % 3, i // 3 % 3, i // 9], axis=1) - (1.0, 1.0, 1.0)) * 0.22
    world = EllipsoidWorld(
        np.tile((0.1, 0.08, 0.06), (18, 1)), place, orientation=rng.normal(size=(18, 4)),
        containers=(SphereInterior(0.6),), friction=0.4,
    )  # fmt: skip
    motion = simulate_ellipsoids(world, 1.5, 0.005)
    for x, q in zip(motion.position, motion.orientation):
        assert sphere_interior_proximities(world.semi_axes, x, q, radius=0.6).near.gap.min() >= 0.0
    energy = ellipsoid_energy(world, motion)
    assert (np.diff(energy) <= 1e-6 * 18 * 9.81 * 0.6).all()
    assert energy[-1] < energy[0] - 18 * 9.81 * 0.2  # they lie 0.2 m lower
