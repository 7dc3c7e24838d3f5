"""Ellipsoids that another mobility moves: a viscous fluid's, a matrix, a function; and the friction of Oltman & Hur."""

import numpy as np
import pytest
from pytest import approx
from scipy import sparse

from reference_engine import (
    EllipsoidWorld,
    HalfSpace,
    MobilityStepper,
    SpatialWorldError,
    SphereInterior,
    simulate_ellipsoids,
)
from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities

G = 9.81
VISCOSITY, RADIUS = 2.0, 0.1
DRAG = 1.0 / (6.0 * np.pi * VISCOSITY * RADIUS), 1.0 / (8.0 * np.pi * VISCOSITY * RADIUS**3)


def rotne_prager(position, orientation=None):
    """(6 B, 6 B) of equal spheres apart (Rotne & Prager 1969, J. Chem. Phys. 50); spins by their own drag alone."""
    count = len(position)
    M = np.zeros((6 * count, 6 * count))
    for i in range(count):
        for j in range(count):
            block = DRAG[0] * np.eye(3)
            if i != j:
                d = position[j] - position[i]
                r = np.linalg.norm(d)
                dd, s = np.outer(d, d) / r**2, (RADIUS / r) ** 2
                block = DRAG[0] * 0.75 * RADIUS / r * ((1 + 2 / 3 * s) * np.eye(3) + (1 - 2 * s) * dd)
            M[6 * i : 6 * i + 3, 6 * j : 6 * j + 3] = block
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = DRAG[1] * np.eye(3)
    return M


def balls(position, **given):
    return EllipsoidWorld(np.full((len(position), 3), RADIUS), position, **given)


def ran(stepper, steps):
    for _ in range(steps):
        stepper.step()
    return stepper


def test_two_spheres_side_by_side_sink_in_a_viscous_fluid_at_the_speed_of_rotne_and_prager():
    apart = 0.5
    world = balls([(0.0, 0.0, 0.0), (apart, 0.0, 0.0)])
    speed = G * DRAG[0] * (1.0 + 0.75 * RADIUS / apart * (1.0 + 2.0 / 3.0 * (RADIUS / apart) ** 2))
    for mobility in (rotne_prager, lambda x, q: sparse.csr_array(rotne_prager(x)), lambda x, q: rotne_prager(x).dot):
        stepper = ran(MobilityStepper(world, 0.01, mobility, of="forces"), 20)
        assert stepper.position == approx(np.array([(0.0, 0.0, -0.2 * speed), (apart, 0.0, -0.2 * speed)]), abs=1e-13)


def test_matrix_sparse_matrix_and_function_move_a_heap_alike_and_the_plane_bears_it():
    """Three spheres sink onto a plane and lean on one another; what the plane bears is their weight."""
    place = [(0.0, 0.0, 0.13), (0.21, 0.0, 0.15), (0.1, 0.05, 0.35)]
    world = balls(place, containers=(HalfSpace(),), friction=0.3)
    ends = [
        ran(MobilityStepper(world, 0.01, mobility, of="forces"), 59)
        for mobility in (rotne_prager, lambda x, q: sparse.csr_array(rotne_prager(x)), lambda x, q: rotne_prager(x).dot)
    ]
    M = rotne_prager(ends[0].position)
    for end in ends:
        end.step()
    for other in ends[1:]:
        assert other.position == approx(ends[0].position, abs=1e-9)
    assert ends[0].position[:, 2].min() >= RADIUS
    by_fluid = np.linalg.solve(M, ends[0].twist.ravel()).reshape(3, 6)[:, :3].sum(axis=0)  # against what still moves
    borne = ends[0].impulse[ends[0].body[:, 1] == 3].sum(axis=0) / 0.01
    assert borne + by_fluid == approx([0.0, 0.0, -3.0 * G], abs=1e-9)


def test_a_constant_matrix_is_a_mass_that_the_fluid_adds():
    """Half a ball's mass is added in each direction: it falls at 2/3 g."""
    M = np.diag([1 / 1.5] * 3 + [1 / (0.4 * RADIUS**2)] * 3)
    stepper = ran(MobilityStepper(balls([(0.0, 0.0, 0.0)]), 0.01, M), 100)
    assert stepper.twist[0, :3] == approx([0.0, 0.0, -G / 1.5], rel=1e-12)


@pytest.mark.parametrize(("torque", "last"), [(True, 5.0 / 7.0), (False, 0.0)])
def test_a_thrown_sphere_rolls_where_friction_has_a_moment_and_stops_dead_where_it_has_none(torque, last):
    """Without: Oltman & Hur 2017, (50) to (53)."""
    world = balls([(0.0, 0.0, RADIUS)], velocity=[(2.0, 0.0, 0.0)], containers=(HalfSpace(),), friction=0.5)
    stepper = ran(MobilityStepper(world, 0.01, friction_torque=torque), 50)
    assert stepper.twist[0, :3] == approx([2.0 * last, 0.0, 0.0], abs=1e-8)
    assert stepper.twist[0, 4] == approx(2.0 * last / RADIUS, abs=1e-7)


def test_linearised_once_a_gap_ends_below_its_aim_and_again_it_does_not():
    """A tilted ellipsoid that turns on a plane: the error of the linear gap, of order h^2, is left as in the source."""
    tilt = 0.3
    q = (np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0)
    height = np.hypot(0.3 * np.sin(tilt), 0.1 * np.cos(tilt))
    world = EllipsoidWorld([(0.3, 0.2, 0.1)], [(0.0, 0.0, height)], orientation=[q], containers=(HalfSpace(),))
    lowest = {}
    for once in (True, False):
        stepper, lowest[once] = MobilityStepper(world, 0.01, once=once, gap_tolerance=1e-8), np.inf
        for _ in range(30):
            stepper.step()
            gap = world.containers[0].proximities(world.semi_axes, stepper.position, stepper.orientation).gap[0]
            lowest[once] = min(lowest[once], gap)
    assert lowest[True] < -1e-5 and lowest[False] >= 0.0


def test_rigid_bodies_own_mobility_is_the_default():
    """A ball inside a hollow sphere moves as with the stepper of rigid bodies, but with order 1."""
    world = balls([(0.4, 0.0, -0.79)], containers=(SphereInterior(1.0),))
    exact = simulate_ellipsoids(world, 0.2, 1e-3).position[-1, 0]
    coarse, fine = (ran(MobilityStepper(world, dt), round(0.2 / dt)).position[0] - exact for dt in (4e-3, 2e-3))
    assert np.abs(coarse).max() < 2e-3
    assert coarse == approx(2.0 * fine, abs=2e-5)


def nearest(world, stepper):
    pairs = np.stack(np.triu_indices(len(world.position), 1), axis=1)
    return ellipsoid_proximities(world.semi_axes, stepper.position, stepper.orientation, pairs).gap.min()


def test_what_a_contact_throws_at_a_body_far_away_is_held_by_it_within_the_step():
    """Two heavy spheres squeeze a light one out: 14 m/s that no body had, towards another 3 cm away."""
    heavy, light, apart = 1.0, 0.05, 1.045
    height = np.sqrt((heavy + light) ** 2 - apart**2) + 1e-3
    place = [(-apart, 0.0, 0.0), (apart, 0.0, 0.0), (0.0, 0.0, height), (0.0, 0.0, height + 2.0 * light + 0.03)]
    speed = [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    world = EllipsoidWorld(
        [(heavy,) * 3] * 2 + [(light,) * 3] * 2, place, velocity=speed,
        mass=[1e6, 1e6, 1.0, 1.0], gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    for dt in (0.0025, 0.01):  # the second has to be halved
        stepper = MobilityStepper(world, dt)
        for _ in range(3):
            stepper.step()
            assert nearest(world, stepper) >= 0.0
        assert stepper.twist[3, 2] >= stepper.twist[2, 2] - 1e-6 > 10.0


def test_both_ends_of_a_long_body_are_held_by_a_hollow_sphere_as_soon_as_they_get_there():
    """It drops on one end and tips: the other end's point is none of the sphere's until it is level."""
    tilt = 0.4
    q = (np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0)
    world = EllipsoidWorld([(0.6, 0.1, 0.2)], [(0.0, 0.0, -0.3)], orientation=[q], containers=(SphereInterior(0.9),))
    stepper, ends = MobilityStepper(world, 0.01), 0
    for _ in range(150):
        stepper.step()
        rows = world.containers[0].proximities(world.semi_axes, stepper.position, stepper.orientation)
        assert rows.gap.min() >= 0.0
        ends = max(ends, int((stepper.impulse[:, 2] != 0.0).sum()))
    assert ends == 2


def test_a_fixed_body_may_stand_in_the_ground_and_bodies_may_not_start_inside_others():
    post = balls([(0.0, 0.0, 0.0), (0.0, 0.0, 0.25)], fixed=[True, False], containers=(HalfSpace(),))
    stepper = ran(MobilityStepper(post, 0.01), 100)
    assert stepper.position[1, 2] == approx(0.2, abs=1e-4)
    with pytest.raises(SpatialWorldError, match=r"body 0 and body 1 overlap by 0\.08 m at the start; at most 1e-05 m"):
        MobilityStepper(balls([(0.0, 0.0, 0.0), (0.0, 0.0, 0.12)]), 0.01)
    with pytest.raises(SpatialWorldError, match=r"body 0 and a container overlap by 0\.05 m"):
        MobilityStepper(balls([(0.0, 0.0, 0.05)], containers=(HalfSpace(),)), 0.01)


def test_a_mobility_of_another_size_is_refused():
    world = balls([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    with pytest.raises(SpatialWorldError, match=r"mobility: \(6, 6\); \(12, 12\) for 2 bodies"):
        MobilityStepper(world, 0.01, np.eye(6))
    with pytest.raises(SpatialWorldError, match=r"speeds of shape \(3,\) at t = 0 s; \(12,\)"):
        MobilityStepper(world, 0.01, lambda x, q: lambda loads: loads[:3]).step()
    with pytest.raises(SpatialWorldError, match="mobility: float"):
        MobilityStepper(world, 0.01, 3.0)
    with pytest.raises(SpatialWorldError, match="of: 'moments'"):
        MobilityStepper(world, 0.01, of="moments")
    with pytest.raises(SpatialWorldError, match="mobility: None of forces"):
        MobilityStepper(world, 0.01, of="forces")
