"""Random spatial shapes and poses from a seed."""

import numpy as np

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
    SphereInterior,
    spatial_shapes,
)

BOUNDED = ("sphere", "capsule", "box", "cylinder", "ellipsoid", "mesh", "cone")


def shape_of(name, rng, size=1.0):
    a, b, c = size * rng.uniform(0.2, 0.8, 3)
    match name:
        case "sphere":
            return Sphere(a)
        case "capsule":
            return Capsule(a, b)
        case "box":
            return Box((a, b, c))
        case "cylinder":
            return Cylinder(a, b)
        case "cone":
            return Cone(a, b + c)
        case "ellipsoid":
            return Ellipsoid((a, b, c))
        case "mesh":
            points = rng.normal(size=(rng.integers(6, 14), 3))
            return ConvexMesh(points * (a, b, c) / np.linalg.norm(points, axis=1)[:, None])
        case "plane":
            return HalfSpace(rng.normal(size=3), rng.normal(size=3))
        case "hollow":
            return SphereInterior(rng.uniform(1.5, 3))


def attitude(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def proximity(p, q, d, q_p, q_q, cutoff=np.inf):
    """The one row for p at the origin and q at d."""
    still = [isinstance(shape, HalfSpace | SphereInterior) for shape in (p, q)]
    near = spatial_proximities(spatial_shapes([p, q], still), [np.zeros(3), d], [q_p, q_q], cutoff)
    assert len(near) == 1
    return near


def gap(p, q, d, q_p, q_q):
    return float(proximity(p, q, d, q_p, q_q).gap[0])
