"""Random planar shapes and poses from a seed."""

import numpy as np

from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane, Polygon, planar_shapes

BOX = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))


def convex_polygon(rng, size=1.0):
    """Points on an ellipse, so convex without a hull."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 9)))
    while np.diff(angle, append=angle[0] + 2 * np.pi).max() > 3.0 or np.diff(angle).min() < 0.05:
        angle = np.sort(rng.uniform(0, 2 * np.pi, len(angle)))
    points = size * np.column_stack([np.cos(angle), rng.uniform(0.3, 1) * np.sin(angle)])
    return Polygon(points if rng.random() < 0.5 else points[::-1])


def star(rng, size=1.0):
    """Concave as a rule: radii at growing angles are always a simple polygon about the origin."""
    n = rng.integers(4, 10)
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 0.7, n)) / n
    return Polygon(size * rng.uniform(0.3, 1, n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


def random_shape(rng, size=1.0):
    kind = rng.integers(0, 4)
    if kind == 0:
        return Disc(size * rng.uniform(0.2, 1))
    if kind == 1:
        return Polygon(size * rng.uniform(0.3, 1, 2) * BOX)
    return convex_polygon(rng, size)


def random_boundary(rng):
    if rng.random() < 0.5:
        return Bowl(rng.uniform(2, 4))
    return HalfPlane(rng.normal(size=2), rng.normal(size=2))


def random_pose(rng, spread=1.5):
    return np.array([*rng.uniform(-spread, spread, 2), rng.uniform(-7, 7)])


def proximity(p, pose_p, q, pose_q, cutoff=np.inf):
    """The one row for two bodies; the unbounded one is static."""
    still = [isinstance(shape, HalfPlane | Bowl) for shape in (p, q)]
    near = planar_proximities(planar_shapes([p, q], still), [pose_p, pose_q], cutoff, points=1)
    assert len(near) == 1
    return near


def gap(p, pose_p, q, pose_q):
    return float(proximity(p, pose_p, q, pose_q).gap[0])
