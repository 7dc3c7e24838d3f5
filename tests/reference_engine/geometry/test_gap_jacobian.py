"""Rows of the gap's Jacobian against central differences of the gap itself."""

import numpy as np
import pytest

from reference_engine.geometry.ellipsoid_proximity import (
    ellipsoid_proximities,
    half_space_proximities,
    sphere_interior_proximities,
)
from tests.reference_engine.geometry.ellipsoid_scenes import facing, random_bodies, twos

COUNT = 10_000
STEP = 2e-4  # m, rad: fourth-order differences, round-off 1e-12


def product(p, q):
    """Of quaternions w x y z."""
    w = p[..., :1] * q[..., :1] - (p[..., 1:] * q[..., 1:]).sum(axis=-1, keepdims=True)
    return np.concatenate(
        [w, p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])], axis=-1
    )


def moved(position, orientation, which, direction, by):
    """Bodies `which` moved along (0 to 2) or turned about (3 to 5) a world axis."""
    r, q = position.copy(), orientation.copy()
    axis = np.eye(3)[direction % 3]
    if direction < 3:
        r[which] += by * axis
    else:
        q[which] = product(np.array([np.cos(by / 2), *(np.sin(by / 2) * axis)]), q[which])
    return r, q


def differences(gap, position, orientation, bodies):
    """(K, 6 len(bodies)) fourth-order central differences of gap(position, orientation)."""
    columns = []
    for which in bodies:
        for direction in range(6):
            at = [gap(*moved(position, orientation, which, direction, k * STEP)) for k in (-2, -1, 1, 2)]
            columns.append((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * STEP))
    return np.stack(columns, axis=1)


def gap_jacobian(n, p, q, c, d):
    """(K, 12): d gap / dt = J . (v_a, omega_a, v_b, omega_b) of the nearest points p, q and centres c, d (K, 3).

    The envelope theorem: the gap is an extremum over directions of a smooth function of the poses, so its derivative is
    that function's at fixed n and at points fixed in the bodies, n . (velocity of q - velocity of p).
    """
    return np.concatenate([-n, -np.cross(p - c, n), n, np.cross(q - d, n)], axis=1)


def worst(J, measured):
    return (np.linalg.norm(J - measured, axis=1) / np.linalg.norm(measured, axis=1)).max()


@pytest.mark.parametrize("kind", ["apart", "touching", "overlapping"])
def test_two_ellipsoids(kind):
    rng = np.random.default_rng([1, len(kind)])
    axes, turned = random_bodies(rng, COUNT, 3.0)
    thin = axes.reshape(-1, 6).min(axis=1)
    gap = {"apart": rng.uniform(0.05, 1.0, COUNT), "touching": 1e-9 * thin, "overlapping": -0.2 * thin}[kind]
    position, _ = facing(rng, axes, turned, gap)
    near = ellipsoid_proximities(axes, position, turned, twos(COUNT))
    J = gap_jacobian(near.normal, near.point_a, near.point_b, position[::2], position[1::2])
    measured = differences(
        lambda r, q: ellipsoid_proximities(axes, r, q, twos(COUNT)).gap, position, turned, (np.s_[::2], np.s_[1::2])
    )
    assert worst(J, measured) <= 1e-7


def test_a_plane():
    rng = np.random.default_rng(2)
    axes, turned = random_bodies(rng, COUNT // 2, 3.0)
    position = rng.normal(size=(COUNT, 3))
    plane = {"point": rng.normal(size=3), "normal": rng.normal(size=3)}
    near = half_space_proximities(axes, position, turned, **plane)
    J = gap_jacobian(near.normal, near.point_a, near.point_b, position, np.zeros_like(position))
    measured = differences(
        lambda r, q: half_space_proximities(axes, r, q, **plane).gap, position, turned, (np.s_[:],)
    )  # fmt: skip
    assert worst(J[:, :6], measured) <= 1e-7


def test_the_inside_of_a_sphere():
    """Centres well off the sphere's: near it one furthest point gives way to another, and there is no derivative."""
    rng = np.random.default_rng(3)
    axes, turned = random_bodies(rng, COUNT // 2, 3.0)
    position = rng.normal(size=(COUNT, 3))
    position *= rng.uniform(4.0, 6.0, (COUNT, 1)) / np.linalg.norm(position, axis=1)[:, None]

    def furthest(r, q):
        found = sphere_interior_proximities(axes, r, q, radius=8.0).near
        return found, np.searchsorted(found.a, np.arange(COUNT))

    near, first = furthest(position, turned)
    J = gap_jacobian(
        near.normal[first], near.point_a[first], near.point_b[first], position, np.zeros_like(position)
    )  # fmt: skip

    def gap(r, q):
        found, rows = furthest(r, q)
        return found.gap[rows]

    assert worst(J[:, :6], differences(gap, position, turned, (np.s_[:],))) <= 1e-7
