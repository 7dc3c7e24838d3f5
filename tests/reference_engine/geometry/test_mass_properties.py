"""Area, volume, centroid, second moments: against quadrature that knows no formula of the shape."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull, Delaunay

from reference_engine.geometry.mass_properties import (
    arc_polygon_mass,
    box_mass,
    capsule_mass,
    convex_mesh_mass,
    cylinder_mass,
    disc_mass,
    ellipsoid_mass,
    polygon_mass,
    sphere_mass,
)
from reference_engine.geometry.polygon import convex_pieces
from tests.reference_engine.geometry.planar_oracle import turned
from tests.reference_engine.geometry.planar_scenes import star

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def simplex_quadrature(simplices):
    """Weights and points, exact to second degree: the vertices and the middle of each simplex.

    A simplex of dimension D: each vertex 1 / ((D + 1)(D + 2)), the centroid (D + 1) / (D + 2).
    """
    simplices = np.asarray(simplices)
    dimension = simplices.shape[2]
    measure = np.abs(np.linalg.det(simplices[:, 1:] - simplices[:, :1])) / (2.0 if dimension == 2 else 6.0)
    weights = [measure / ((dimension + 1) * (dimension + 2))] * (dimension + 1)
    points = [simplices[:, k] for k in range(dimension + 1)]
    weights.append(measure * (dimension + 1) / (dimension + 2))
    points.append(simplices.mean(axis=1))
    return np.concatenate(weights), np.concatenate(points)


def moments(weights, points):
    centroid = weights @ points / weights.sum()
    r = points - centroid
    return weights.sum(), centroid, (r.T * weights) @ r / weights.sum()


def revolution_quadrature(radius_at, half_length):
    """Solid of revolution about z, by slices that are discs: points on four spokes carry a disc's moments."""
    z = half_length * NODES
    r = radius_at(z)
    slice_volume = np.pi * r**2 * half_length * WEIGHTS
    spokes = [
        np.column_stack([x * r / np.sqrt(2.0), y * r / np.sqrt(2.0), z]) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))
    ]
    return np.tile(slice_volume / 4.0, 4), np.concatenate(spokes)


def assert_same(mass, size, expected, rel=1e-12):
    measure, centroid, second = expected
    assert size == pytest.approx(measure, rel=rel)
    assert_allclose(mass.centroid, centroid, atol=rel * 10)
    assert_allclose(mass.second_moments, second, atol=rel * 10)


@pytest.mark.parametrize("seed", range(20))
def test_a_polygon_is_the_sum_of_the_triangles_of_its_convex_parts(seed):
    vertices = np.asarray(star(np.random.default_rng(seed)).vertices) + np.array([3.0, -2.0])
    triangles = [piece[[0, k, k + 1]] for piece in convex_pieces(vertices) for k in range(1, len(piece) - 1)]
    mass = polygon_mass(vertices)
    assert_same(mass, mass.area, moments(*simplex_quadrature(triangles)))
    assert_same(polygon_mass(vertices[::-1]), mass.area, (mass.area, mass.centroid, mass.second_moments))
    assert mass.inertia == pytest.approx(np.trace(mass.second_moments))


@pytest.mark.parametrize("bulge", [1e-9, 1e-4, 0.1, 0.5, 1.0, 3.0, 50.0])
def test_a_segment_and_its_chord_make_the_circle(bulge):
    """Two arcs over one chord, bulges b and 1/b, are a whole circle; closed form, no quadrature."""
    radius = (1.0 + bulge**2) / (4.0 * bulge)  # chord of length 1
    mass = arc_polygon_mass([[0, 0], [1, 0]], [bulge, 1.0 / bulge])
    disc = disc_mass(radius)
    centre = [0.5, (1.0 / bulge - bulge) / 4.0]
    assert mass.area == pytest.approx(disc.area, rel=1e-12)
    assert_allclose(mass.centroid, centre, rtol=1e-11, atol=1e-11 * radius)
    assert_allclose(mass.second_moments, disc.second_moments, atol=1e-10 * radius**2)


@pytest.mark.parametrize("seed", range(10))
def test_an_arc_edged_polygon_is_the_limit_of_polygons_along_its_arcs(seed):
    """Inscribed polygons converge with the square of the division: Richardson takes two more orders."""
    rng = np.random.default_rng(seed)
    vertices, bulges = np.array([[0, 0], [2, 0], [2.5, 1.5], [0.3, 2]]), rng.uniform(-0.3, 1.2, 4)
    bulges[0] = 1e-6

    def polygon(division):
        points = []
        for i, bulge in enumerate(bulges):
            a, b = vertices[i] @ (1, 1j), vertices[(i + 1) % 4] @ (1, 1j)
            centre = (a + b) / 2.0 + 1j * (b - a) / 4.0 * (1.0 / bulge - bulge)
            points += [centre + (a - centre) * np.exp(4j * np.arctan(bulge) * k / division) for k in range(division)]
        m = polygon_mass(np.column_stack([np.real(points), np.imag(points)]))
        return np.concatenate(
            [[m.area], m.area * m.centroid, m.area * (m.second_moments + np.outer(m.centroid, m.centroid)).ravel()]
        )

    p1, p2, p4 = polygon(100), polygon(200), polygon(400)
    fine, coarse = (4 * p4 - p2) / 3.0, (4 * p2 - p1) / 3.0
    limit = (16 * fine - coarse) / 15.0
    area, centroid = limit[0], limit[1:3] / limit[0]
    second = limit[3:].reshape(2, 2) / area - np.outer(centroid, centroid)
    mass = arc_polygon_mass(vertices, bulges)
    assert_same(mass, mass.area, (area, centroid, second), rel=1e-10)


def test_solids_of_revolution_agree_with_slices():
    r, h = 0.7, 1.3
    for mass, radius_at, half_length in (
        (sphere_mass(r), lambda z: np.sqrt(r * r - z * z), r),
        (ellipsoid_mass((r, r, h)), lambda z: r * np.sqrt(1.0 - (z / h) ** 2), h),
        (cylinder_mass(r, h), lambda z: np.full_like(z, r), h),
    ):
        assert_same(mass, mass.volume, moments(*revolution_quadrature(radius_at, half_length)))
    tube_w, tube_p = revolution_quadrature(lambda z: np.full_like(z, r), h)
    ball_w, _ = revolution_quadrature(lambda z: np.sqrt(r * r - z * z), r)
    # the caps: an even integrand of degree two in |z| needs its slices split at the middle
    half = r * (NODES + 1.0) / 2.0
    cap_w, cap_p = np.pi * (r * r - half**2) * r / 2.0 * WEIGHTS, half
    weights, points = [tube_w], [tube_p]
    for sign in (1, -1):
        for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            weights.append(cap_w / 4.0)
            spoke = np.sqrt((r * r - half**2) / 2.0)
            points.append(np.column_stack([x * spoke, y * spoke, sign * (h + cap_p)]))
    mass = capsule_mass(r, h)
    assert_same(mass, mass.volume, moments(np.concatenate(weights), np.concatenate(points)))
    assert ball_w.sum() + tube_w.sum() == pytest.approx(mass.volume)


@pytest.mark.parametrize("seed", range(10))
def test_a_convex_mesh_is_the_sum_of_delaunay_tetrahedra(seed):
    points = np.random.default_rng(seed).normal(size=(20, 3)) + np.array([5.0, 0, -3.0])
    hull = points[ConvexHull(points).vertices]
    mass = convex_mesh_mass(points)
    assert_same(mass, mass.volume, moments(*simplex_quadrature(hull[Delaunay(hull).simplices])), rel=1e-11)


def test_a_box_as_a_mesh_is_the_box():
    half = np.array([0.5, 1.0, 2.0])
    corners = half * [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    box, mesh = box_mass(half), convex_mesh_mass(corners)
    assert_same(mesh, mesh.volume, (box.volume, np.zeros(3), box.second_moments))
    assert_allclose(np.diag(box.inertia), [(1 + 4) / 3, (0.25 + 4) / 3, (0.25 + 1) / 3])


def test_the_second_moments_turn_with_the_body():
    vertices = np.asarray(star(np.random.default_rng(3)).vertices)
    R = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    before, after = polygon_mass(vertices), polygon_mass(turned(vertices, (1e3, 2e3, 0.4)))
    assert_allclose(after.second_moments, R @ before.second_moments @ R.T, atol=1e-11)
    assert after.inertia == pytest.approx(before.inertia, rel=1e-11)
