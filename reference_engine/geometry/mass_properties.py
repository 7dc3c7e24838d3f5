"""Area or volume, centroid and second moments of uniform bodies.

`second_moments` is the mean of (r - centroid)(r - centroid)^T over the body [m^2]: what a unit mass
has.  The inertia of a unit mass follows: its trace in the plane, trace * 1 - second_moments in space.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import gauss_legendre, mul
from reference_engine.elementary import cubed, squared


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarMass:
    area: float  # m^2
    centroid: Array  # (2,) m
    second_moments: Array  # (2, 2) m^2, about the centroid, per unit mass

    @property
    def inertia(self) -> float:
        """Polar moment about the centroid per unit mass [m^2]."""
        return float(np.trace(self.second_moments))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialMass:
    volume: float  # m^3
    centroid: Array  # (3,) m
    second_moments: Array  # (3, 3) m^2, about the centroid, per unit mass

    @property
    def inertia(self) -> Array:
        """(3, 3) inertia tensor about the centroid per unit mass [m^2]."""
        return np.trace(self.second_moments) * np.eye(3) - self.second_moments


# Gauss-Legendre nodes for arcs: the integrands are trigonometric polynomials of degree four over less
# than a turn, for which 24 nodes leave round-off.  The closed form loses digits as the arc becomes flat.
ARC_NODES, ARC_WEIGHTS = gauss_legendre(24)


def disc_mass(radius: float) -> PlanarMass:
    return PlanarMass(
        area=np.pi * squared(radius), centroid=np.zeros(2), second_moments=np.eye(2) * (squared(radius) / 4.0)
    )


def polygon_mass(vertices: ArrayLike) -> PlanarMass:
    """Of a simple polygon in either orientation."""
    v = np.asarray(vertices, dtype=np.float64)
    return arc_polygon_mass(v, np.zeros(len(v)))


def arc_polygon_mass(vertices: ArrayLike, bulges: ArrayLike) -> PlanarMass:
    """Of straight and circular edges; bulge[i] = tan(included angle / 4) of the edge from vertex i to i + 1.

    Positive bulges outward for counter-clockwise order.  The sum over the triangles (v_0, v_i, v_i+1)
    plus, for each arc, the segment between it and its chord; signed, so that concave shapes come out right.
    """
    v = np.asarray(vertices, dtype=np.float64)
    origin = v[0]
    p = v - origin
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    area = float(cross.sum()) / 2.0
    first = mul(cross, p + q) / 6.0
    second = mul(p.T * cross, p) + mul(q.T * cross, q) + mul((p + q).T * cross, p + q)
    second = second / 24.0
    for a, b, bulge in zip(p, q, np.asarray(bulges, dtype=np.float64), strict=True):
        if bulge != 0.0:
            segment_area, segment_first, segment_second = circular_segment(a, b, float(bulge))
            area, first, second = area + segment_area, first + segment_first, second + segment_second
    centroid = first / area
    return PlanarMass(
        area=abs(area), centroid=origin + centroid, second_moments=second / area - np.outer(centroid, centroid)
    )


def circular_segment(a: Array, b: Array, bulge: float) -> tuple[float, Array, Array]:
    """Integrals of 1, r, r r^T over the segment between the chord a-b and its arc.

    Along the chord x = R sin(phi), height h = 2 R sin((alpha + phi)/2) sin((alpha - phi)/2),
    |phi| <= alpha = 2 atan(bulge), R = chord / (2 sin alpha) = chord (bulge + 1/bulge) / 4.
    Green's theorem in the chord's frame:
    of 1, x, h, xx, xh, hh the integrals are those of h, x h, h^2/2, x^2 h, x h^2/2, h^3/3 over dx.
    """
    chord = b - a
    length = float(elementary.hypot(*chord))
    along = chord / length
    outward = np.array([along[1], -along[0]])
    middle = (a + b) / 2.0
    alpha = 2.0 * elementary.atan(bulge)
    R = length * (bulge + 1.0 / bulge) / 4.0
    phi = alpha * ARC_NODES
    h = 2.0 * R * elementary.sin((alpha + phi) / 2.0) * elementary.sin((alpha - phi) / 2.0)
    x = R * elementary.sin(phi)
    dx = R * elementary.cos(phi) * alpha * ARC_WEIGHTS
    area = float(mul(h, dx))
    height = float(mul(squared(h), dx)) / 2.0
    local = np.array(
        [[mul(squared(x) * h, dx), 0.0], [0.0, mul(cubed(h), dx) / 3.0]]
    )  # odd in x: no first, no mixed moment
    axes = np.column_stack([along, outward])
    first = area * middle + height * outward
    shift = height * np.outer(outward, middle)
    second = mul(mul(axes, local), axes.T) + shift + shift.T + area * np.outer(middle, middle)
    return area, first, second


def diagonal(volume: float, xx: float, yy: float, zz: float) -> SpatialMass:
    return SpatialMass(volume=volume, centroid=np.zeros(3), second_moments=np.diag([xx, yy, zz]))


def sphere_mass(radius: float) -> SpatialMass:
    return ellipsoid_mass((radius, radius, radius))


def ellipsoid_mass(semi_axes: ArrayLike) -> SpatialMass:
    a, b, c = (float(x) for x in np.asarray(semi_axes, dtype=np.float64))
    return diagonal(4.0 / 3.0 * np.pi * a * b * c, a * a / 5.0, b * b / 5.0, c * c / 5.0)


def box_mass(half_extents: ArrayLike) -> SpatialMass:
    a, b, c = (float(x) for x in np.asarray(half_extents, dtype=np.float64))
    return diagonal(8.0 * a * b * c, a * a / 3.0, b * b / 3.0, c * c / 3.0)


def cylinder_mass(radius: float, half_length: float) -> SpatialMass:
    """Axis z."""
    across = squared(radius) / 4.0
    return diagonal(2.0 * np.pi * squared(radius) * half_length, across, across, squared(half_length) / 3.0)


def cone_mass(radius: float, height: float) -> SpatialMass:
    """Axis z; about the centroid, a quarter of the height above the flat end."""
    across = 3.0 * squared(radius) / 20.0
    return diagonal(np.pi * squared(radius) * height / 3.0, across, across, 3.0 * squared(height) / 80.0)


def capsule_mass(radius: float, half_length: float) -> SpatialMass:
    """Axis z; `half_length` is that of the straight part, so the whole is 2 (half_length + radius) long.

    Two half balls: mean height 3 r / 8 above the rim, mean square r^2 / 5 in every direction.
    """
    r, h = radius, half_length
    tube, ball = 2.0 * np.pi * r * r * h, 4.0 / 3.0 * np.pi * cubed(r)
    volume = tube + ball
    across = (tube * r * r / 4.0 + ball * r * r / 5.0) / volume
    along = (tube * h * h / 3.0 + ball * (h * h + 0.75 * h * r + r * r / 5.0)) / volume
    return diagonal(volume, across, across, along)


def convex_mesh_mass(points: ArrayLike) -> SpatialMass:
    """Of the hull of the points: the sum over the tetrahedra between an inner point and each triangle.

    Over a tetrahedron (0, a, b, c) of volume V: integral of r = V (a + b + c) / 4, of r r^T =
    V/20 (a a^T + b b^T + c c^T + s s^T), s = a + b + c.  Tonon 2004 (J. Math. Stat. 1) in this form.
    """
    from scipy.spatial import ConvexHull  # here: it takes longer to import than all else that a scene needs

    p = np.asarray(points, dtype=np.float64)
    hull = ConvexHull(p)
    origin = p[hull.vertices].mean(axis=0)
    corners = p[hull.simplices] - origin  # (F, 3, 3), outward winding not needed: every V is positive
    V = np.abs(np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0
    s = corners.sum(axis=1)
    volume = float(V.sum())
    centroid = mul(V, s) / (4.0 * volume)
    second = np.einsum("f,fki,fkj->ij", V, corners, corners) + np.einsum("f,fi,fj->ij", V, s, s)
    return SpatialMass(
        volume=volume,
        centroid=origin + centroid,
        second_moments=second / (20.0 * volume) - np.outer(centroid, centroid),
    )
