"""The independent oracle of spatial gaps: support functions and memberships as formulas, hulls by qhull."""

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
    SphereInterior,
)


def rotation(q):
    return Rotation.from_quat(q, scalar_first=True).as_matrix()


def support_function(shape, n):
    """h(n) = max of n . x over the body, own axes, for rows n."""
    n = np.atleast_2d(n)
    across = np.hypot(n[:, 0], n[:, 1])
    match shape:
        case Sphere(r):
            return r * np.linalg.norm(n, axis=1)
        case Capsule(r, h):
            return h * abs(n[:, 2]) + r * np.linalg.norm(n, axis=1)
        case Box(half):
            return abs(n) @ half
        case Cylinder(r, h):
            return r * across + h * abs(n[:, 2])
        case Cone(r, h):
            return np.maximum(0.75 * h * n[:, 2], r * across - 0.25 * h * n[:, 2])
        case Ellipsoid(axes):
            return np.linalg.norm(n * axes, axis=1)
        case ConvexMesh(points):
            return (n @ np.transpose(points)).max(axis=1)


def outside_by(shape, x):
    """How far x is outside, zero or below inside; own axes.  Of first order in the distance."""
    x = np.asarray(x)
    match shape:
        case Sphere(r):
            return np.linalg.norm(x) - r
        case Capsule(r, h):
            return np.linalg.norm(x - [0, 0, np.clip(x[2], -h, h)]) - r
        case Box(half):
            return (abs(x) - half).max()
        case Cylinder(r, h):
            return max(np.hypot(x[0], x[1]) - r, abs(x[2]) - h)
        case Cone(r, h):
            beside = (h * np.hypot(x[0], x[1]) + r * (x[2] - 0.75 * h)) / np.hypot(r, h)
            return max(beside, -0.25 * h - x[2])
        case Ellipsoid(axes):
            return (np.linalg.norm(x / axes) - 1.0) * min(axes)
        case ConvexMesh(points):
            equations = ConvexHull(points).equations
            return (equations[:, :3] @ x + equations[:, 3]).max()
        case HalfSpace(point, normal):
            return (x - point) @ normal / np.linalg.norm(normal)
        case SphereInterior(r):
            return r - np.linalg.norm(x)


def parted_by(p, q, d, R_p, R_q, n):
    """Width of the slab across n between p and q at d: a lower bound of the gap for every unit n."""
    n = np.atleast_2d(n)
    return n @ d - support_function(p, n @ R_p) - support_function(q, -n @ R_q)


def least_depth(p, q, d, R_p, R_q, rng, directions=2000, refined=6):
    """Smallest depth over sampled directions, the best of them refined without derivatives."""
    n = rng.normal(size=(directions, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    depth = -parted_by(p, q, d, R_p, R_q, n)
    best = depth.min()
    for k in np.argsort(depth)[:refined]:
        result = minimize(
            lambda x: -parted_by(p, q, d, R_p, R_q, x / np.linalg.norm(x))[0],
            n[k], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-13, "maxiter": 400},
        )  # fmt: skip
        best = min(best, result.fun)
    return best


def corners(shape):
    match shape:
        case Box(half):
            return np.asarray(half) * [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        case ConvexMesh(points):
            return np.asarray(points)
        case Capsule(_, h):
            return np.array([[0, 0, h], [0, 0, -h]])
        case Sphere():
            return np.zeros((1, 3))
    return None


def polytope_gap(p, q, d, R_p, R_q):
    """Exact, of boxes, meshes and what has a segment for a core: the hull of all differences of corners."""
    difference = (d + corners(q) @ R_q.T)[:, None, :] - (corners(p) @ R_p.T)[None, :, :]
    points = difference.reshape(-1, 3)
    hull = ConvexHull(points)
    margin = sum(shape.radius for shape in (p, q) if isinstance(shape, Sphere | Capsule))
    outside = hull.equations[:, 3].max()
    if outside <= 0.0:
        return outside - margin
    return np.sqrt(squared_distances(points[hull.simplices]).min()) - margin


def squared_distances(triangles):
    """Of the origin from each triangle: feet of perpendiculars on planes and sides, by least squares."""
    best = np.full(len(triangles), np.inf)
    for k in range(3):
        a, b = triangles[:, k], triangles[:, k - 1]
        t = np.clip(-np.einsum("ij,ij->i", a, b - a) / np.einsum("ij,ij->i", b - a, b - a), 0, 1)
        best = np.minimum(best, ((a + t[:, None] * (b - a)) ** 2).sum(axis=1))
    for k, (a, b, c) in enumerate(triangles):
        (s, t), *_ = np.linalg.lstsq(np.column_stack([b - a, c - a]), -a, rcond=None)
        if s >= 0 and t >= 0 and s + t <= 1:
            best[k] = min(best[k], ((a + s * (b - a) + t * (c - a)) ** 2).sum())
    return best
