"""Scenes in three dimensions, for engines that have no others: x and y as they are, z out of the plane.

A polygon becomes a prism 1 m deep, half of it on either side of the plane; a disc becomes a sphere, whose contact
lies in the plane to the last digit where a cylinder's would have to be found at its rims. Bowl and hollow sphere
become facets that touch them from outside.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Indices
from scenarios.forces import planar_wrenches, spatial_wrenches
from scenarios.given_motion import given_state
from scenarios.scene import PlanarScene, Scene, inertias, planar_start, spatial_start

DEPTH = 1.0  # m, of a prism


def start_in_space(scene: Scene) -> tuple[Array, Array, Array, Array]:
    """Position (B, 3), orientation (B, 4) as w-x-y-z, velocity (B, 3) and spin (B, 3) at time 0."""
    if not isinstance(scene, PlanarScene):
        position, orientation, velocity, spin = spatial_start(scene)
        return position, orientation, velocity, spin
    return state_in_space(*planar_start(scene))


def state_in_space(pose: Array, twist: Array) -> tuple[Array, Array, Array, Array]:
    """Position, orientation, velocity and spin of planar poses and twists, (B, 3) each."""
    position, orientation = np.zeros((len(pose), 3)), np.zeros((len(pose), 4))
    velocity, spin = np.zeros_like(position), np.zeros_like(position)
    position[:, :2], velocity[:, :2], spin[:, 2] = pose[:, :2], twist[:, :2], twist[:, 2]
    orientation[:, 0], orientation[:, 3] = np.cos(pose[:, 2] / 2), np.sin(pose[:, 2] / 2)
    return position, orientation, velocity, spin


def vector_in_space(v: Sequence[float]) -> Array:
    """A planar or spatial vector as a spatial one."""
    return np.array((*v, 0.0) if len(v) == 2 else v)


def inertias_in_space(scene: Scene, out_of_plane: float) -> Array:
    """(B, 3) principal moments, kg m^2; a planar body gets its own about z and `out_of_plane` times that across."""
    moments = inertias(scene)
    return moments if moments.ndim == 2 else moments[:, None] * np.array([out_of_plane, out_of_plane, 1.0])


def wrenches_in_space(scene: Scene, time: float, *state: Array) -> tuple[Array, Array]:
    """Force and torque (B, 3) of the scene's springs, thrusters and damping at a time, s, and a state of the scene."""
    if not isinstance(scene, PlanarScene):
        return spatial_wrenches(scene, time, *state)
    wrench = planar_wrenches(scene, time, *state)
    force, torque = np.zeros((len(wrench), 3)), np.zeros((len(wrench), 3))
    force[:, :2], torque[:, 2] = wrench[:, :2], wrench[:, 2]
    return force, torque


def rotation_matrix(q: Sequence[float] | Array) -> Array:
    """(3, 3) of a unit quaternion w-x-y-z; columns are the body's axes in the world."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def conjugate(q: Array) -> Array:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def quaternion_product(p: Array, q: Array) -> Array:
    """p q of quaternions w-x-y-z: first the turn q, then p."""
    (a, b, c), (d, e, f) = p[1:].tolist(), q[1:].tolist()  # numpy's cross takes ten times as long
    cross = np.array([b * f - c * e, c * d - a * f, a * e - b * d])
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + cross)])


def turned_about_z(angle: float) -> list[float]:
    """The unit quaternion w-x-y-z of a turn by an angle, rad."""
    return [math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)]


def from_z_to(normal: Sequence[float] | Array) -> Array:
    """The unit quaternion w-x-y-z of the shortest turn that carries z to a unit vector."""
    x, y, z = normal
    if z < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + z, -y, x, 0.0])
    return q / np.linalg.norm(q)


def given_in_space(body: Any, time: float) -> tuple[Array, Array, Array, Array]:
    """Position, orientation, velocity and spin in space, at this time, s, of a body whose motion is given."""
    state = [part[None] for part in given_state(body, time)]
    position, orientation, velocity, spin = state_in_space(*state) if len(state) == 2 else state
    return position[0], orientation[0], velocity[0], spin[0]


def rectangle(vertices: Sequence[Sequence[float]] | Array) -> tuple[Array, Array, float] | None:
    """Centre (2,), edge lengths (2,) and angle of the first edge, where the polygon is a rectangle; else None.

    Engines have better contacts for boxes than for meshes. Right to 1e-12 of the longer edge.
    """
    v = np.asarray(vertices, dtype=np.float64)
    if len(v) != 4:
        return None
    a, b = v[1] - v[0], v[3] - v[0]
    longest = max(np.hypot(*a), np.hypot(*b))
    is_parallelogram = np.hypot(*(v[0] + v[2] - v[1] - v[3])) <= 1e-12 * longest
    if not is_parallelogram or abs(a @ b) > 1e-12 * longest**2:
        return None
    return v.mean(axis=0), np.array([np.hypot(*a), np.hypot(*b)]), math.atan2(a[1], a[0])


def prism(vertices: Sequence[Sequence[float]] | Array) -> Array:
    """(2 n, 3) corners of a convex polygon of n vertices, extruded."""
    v = np.asarray(vertices, dtype=np.float64)
    return np.concatenate([np.column_stack([v, np.full(len(v), z)]) for z in (-DEPTH / 2, DEPTH / 2)])


def icosphere(subdivisions: int) -> tuple[Array, Indices]:
    """Unit directions (10 * 4^n + 2, 3), evenly spread, and the triangles (20 * 4^n, 3) between them."""
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    points = [(s, t * golden, 0.0) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    v = np.array([np.roll(p, k) for k in range(3) for p in points])
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    edge = 2.0 / math.sqrt(1.0 + golden**2)
    near = np.abs(np.linalg.norm(v[:, None] - v[None], axis=2) - edge) < 1e-9
    triangles = np.array(
        [
            (i, j, k)
            for i in range(12)
            for j in range(i + 1, 12)
            for k in range(j + 1, 12)
            if near[i, j] and near[j, k] and near[i, k]
        ]
    )
    for _ in range(subdivisions):
        edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        unique, which = np.unique(edges[:, 0] * len(v) + edges[:, 1], return_inverse=True)
        middle = v[unique // len(v)] + v[unique % len(v)]
        m = len(v) + which.reshape(3, -1)
        v = np.concatenate([v, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        a, b, c = triangles.T
        triangles = np.concatenate(
            [np.stack(t, axis=1) for t in ((a, m[0], m[2]), (b, m[1], m[0]), (c, m[2], m[1]), (m[0], m[1], m[2]))]
        )
    return v, triangles
