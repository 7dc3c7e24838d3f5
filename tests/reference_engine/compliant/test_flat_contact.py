"""Bodies on a half-space by corners and rims: weight shared out, forces in samples; where normals jump or turn."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference_engine import (
    CompliantBody,
    CompliantError,
    CompliantSettings,
    CompliantWorld,
    Material,
    Materials,
    PairLaw,
    simulate_compliant,
)
from reference_engine.geometry.spatial_proximity import spatial_proximities
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    corners_and_rims,
    gaps_over_plane,
    spatial_shapes,
)
from tests.reference_engine.compliant.test_compliant import FLOOR, MASS, TETRAHEDRON, of_steel, stiffness, world

LYING = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
G = 9.81


def laid(shape, z, **more):
    inertia = (0.02, 0.03, 0.04) if isinstance(shape, ConvexMesh) else None
    return CompliantBody(
        shape=shape, material="steel", mass=MASS, position=(0.0, 0.0, z), contact_radius=0.05, inertia=inertia, **more
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "height", "candidates"),
    [
        (laid(Box((0.1, 0.15, 0.2)), 0.21), 0.2, 4),
        (laid(Capsule(0.1, 0.2), 0.11, orientation=LYING), 0.1, 2),
        (laid(Cylinder(0.1, 0.2), 0.11, orientation=LYING), 0.1, 2),
        (laid(ConvexMesh([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]), 0.11), 0.1, 4),
        (laid(Sphere(0.1), 0.11), 0.1, 1),
    ],
    ids=["box", "capsule", "cylinder", "mesh", "sphere"],
)
def test_what_lies_flat_is_as_deep_as_its_weight_shared_out_presses_its_corners(body, height, candidates):
    motion = simulate_compliant(world(body, FLOOR), [0.0, 1.0, 1.2])
    depth = (MASS * G / candidates / stiffness(0.05)) ** (2.0 / 3.0)
    assert height - motion.position[1:, 0, 2] == pytest.approx(depth, abs=1e-10)
    last = slice(*motion.first_contact[-2:])
    assert len(motion.contacts.force[last]) == candidates == len(set(motion.contacts.candidate[last]))
    assert_allclose(
        motion.contacts.force[last], [(0.0, 0.0, -MASS * G / candidates)] * candidates, atol=1e-9
    )  # on the floor
    assert_allclose(motion.imbalance, 0.0, atol=1e-11)


@pytest.mark.parametrize(
    "shape",
    [Box((0.1, 0.15, 0.2)), ConvexMesh(TETRAHEDRON), Capsule(0.1, 0.2), Cylinder(0.1, 0.2), Cone(0.1, 0.3)],
    ids=lambda shape: type(shape).__name__,
)
def test_what_falls_tumbling_keeps_the_sum_of_its_energies_until_it_lies(shape):
    soft = of_steel(0.5, 0.3, 0.01)
    body = laid(shape, 0.35, spin=(1.0, 2.0, 3.0))
    motion = simulate_compliant(world(body, FLOOR, materials=soft), np.linspace(0.0, 0.8, 9))
    assert_allclose(motion.imbalance, 0.0, atol=1e-10)
    assert len(motion.events.time) > 4 and (np.diff(motion.dissipated) >= 0.0).all()
    assert motion.events.pair.tolist() == [[0, 1]] * len(motion.events.time)


def test_forces_in_samples_are_what_moves_the_bodies():
    """A block slides; its change of velocity against Simpson's sum of the forces on it."""
    sliding = world(laid(Box((0.1, 0.15, 0.2)), 0.1999, velocity=(1.0, 0.2, 0.0)), FLOOR, materials=of_steel(0.5, 0.3))
    motion = simulate_compliant(sliding, [0.0, 0.1, 0.1001, 0.1002])
    force = np.array([motion.contacts.force[slice(*motion.first_contact[k : k + 2])].sum(axis=0) for k in (1, 2, 3)])
    pushed = -2e-4 / 6.0 * (force[0] + 4.0 * force[1] + force[2]) + 2e-4 * MASS * np.array([0.0, 0.0, -G])
    assert_allclose(MASS * (motion.velocity[3, 0] - motion.velocity[1, 0]), pushed, atol=1e-9)
    assert np.hypot(*force[0, :2]) == pytest.approx(-0.3 * force[0, 2], rel=1e-9)


def test_a_cylinder_on_its_end_is_refused_at_once():
    standing = laid(Cylinder(0.1, 0.2), 0.25, name="can")
    with pytest.raises(CompliantError, match=r"can and floor: flat on a rim at 0\.10\d+ s"):
        simulate_compliant(world(standing, FLOOR), [0.0, 1.0])


def test_corners_and_rims_are_as_far_above_a_plane_as_the_whole_body():
    rng = np.random.default_rng(5)
    shapes = [
        Box((0.1, 0.2, 0.3)), Capsule(0.1, 0.2), Cylinder(0.2, 0.1), Cone(0.1, 0.3), Sphere(0.2),
        ConvexMesh(TETRAHEDRON),
    ]  # fmt: skip
    for shape in shapes:
        plane = HalfSpace(rng.normal(size=3), rng.normal(size=3))
        position, orientation = 3.0 * rng.normal(size=(20, 3)), rng.normal(size=(20, 4))
        gaps = gaps_over_plane(shape, position, orientation, plane.point, plane.normal)
        assert gaps.shape == (20, len(corners_and_rims(shape)))
        poses = np.stack([position, np.zeros((20, 3))], axis=1), np.stack([orientation, [(1.0, 0, 0, 0)] * 20], axis=1)
        near = spatial_proximities(spatial_shapes([shape, plane], [False, True]), *poses, np.inf)
        assert_allclose(gaps.min(axis=1), near.gap, atol=1e-14)
    assert corners_and_rims(Ellipsoid((0.1, 0.2, 0.3))).shape == (0, 4)


def met(shape, mass, position, velocity, orientation, spin):
    return CompliantBody(
        shape=shape, material="rubber", contact_radius=0.1, inertia=(0.02, 0.03, 0.04), mass=mass, position=position,
        velocity=velocity, orientation=orientation, spin=spin,
    )  # fmt: skip


def meeting(*bodies):
    soft = Materials(
        materials={"rubber": Material(young_modulus=1e7)},
        pairs={("rubber", "rubber"): PairLaw(restitution=0.6, sliding_friction=0.3, rolling_resistance=0.01)},
    )
    return simulate_compliant(
        CompliantWorld(bodies=bodies, materials=soft, gravity=(0.0, 0.0, 0.0)),
        np.linspace(0.0, 0.6, 13), CompliantSettings(max_steps=3000),
    )  # fmt: skip


def test_where_another_side_becomes_the_nearest_way_out_the_jump_of_energy_is_told():
    box = Box((0.1, 0.15, 0.2))
    motion = meeting(
        met(box, 1.0, (0.265, 0.355, 0.232), (-1.058, -1.422, -0.927), (0.945, 0.569, -1.595, 1.54),
            (0.806, -3.738, 1.702)),
        met(box, 2.0, (-0.293, -0.384, -0.201), (0.529, 0.711, 0.463), (2.292, -0.769, 0.056, 1.397),
            (5.622, 3.591, 2.973)),
    )  # fmt: skip
    assert list(motion.events.kind) == ["contact", "jump", "separation"]
    assert motion.events.jumped[1] == motion.jumped[-1] == pytest.approx(0.094, abs=0.001)
    assert_allclose(motion.imbalance, 0.0, atol=1e-10)
    without = motion.kinetic + motion.elastic + motion.dissipated
    assert without[-1] - without[0] == pytest.approx(motion.jumped[-1], abs=1e-10)


CYLINDER, CONE, MESH = Cylinder(0.1, 0.15), Cone(0.1, 0.3), ConvexMesh(TETRAHEDRON)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (
            (CYLINDER, 1.0, (-0.11, 0.46, 0.17), (0.45, -1.83, -0.68), (0.14, -0.44, 1.02, -1.31),
             (-2.41, -4.51, 0.27)),
            (CONE, 2.0, (0.11, -0.48, -0.21), (-0.22, 0.91, 0.34), (-0.41, 1.83, -0.14, 1.34), (1.12, 2.18, -5.48)),
        ),
        (
            (CYLINDER, 1.0, (0.1, 0.16, 0.46), (-0.41, -0.63, -1.85), (-0.49, -0.8, 0.57, -0.64), (2.62, 2.86, 1.95)),
            (MESH, 2.0, (-0.07, -0.22, -0.51), (0.21, 0.32, 0.93), (0.84, -1.19, 0.02, -0.86), (0.97, 6.78, -3.68)),
        ),
        (
            (CYLINDER, 1.0, (0.2, -0.29, 0.36), (-0.82, 1.15, -1.42), (0.81, -0.58, -0.61, -0.59), (-0.44, 2.36, 2.28)),
            (CYLINDER, 2.0, (-0.25, 0.32, -0.3), (0.41, -0.57, 0.71), (1.26, 0.03, -0.76, -1.02), (2.96, 0.14, 4.96)),
        ),
        (
            (CONE, 1.0, (-0.256, -0.3646, 0.227), (1.0242, 1.4584, -0.9079), (2.5288, -0.1096, -0.0599, 0.4417),
             (1.3971, 2.1778, 4.2255)),
            (CONE, 2.0, (0.2166, 0.4641, -0.2396), (-0.5121, -0.7292, 0.454), (-0.2576, -0.6455, 0.0718, 0.9048),
             (-4.0897, -1.4762, -1.3359)),
        ),
    ],
    ids=["cylinder-cone", "cylinder-mesh", "cylinder-cylinder", "cone-cone"],
)  # fmt: skip
def test_where_rims_and_slants_take_turns_time_does_not_crawl(p, q):
    """Each took more than 3000 steps while the normal was that of a simplex with a corner too many or too few."""
    motion = meeting(met(*p), met(*q))
    assert "separation" in motion.events.kind and "jump" not in motion.events.kind
    assert_allclose(motion.imbalance, 0.0, atol=1e-10)
