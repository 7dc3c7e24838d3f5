"""What is said to be proved of whole regions of directions holds at every direction tried in them."""

import numpy as np
import pytest

from reference_engine.compiler.kernels import entry
from reference_engine.geometry.ellipsoid_depth import is_nowhere_above, proven_radius
from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities, placed
from reference_engine.geometry.ellipsoid_support import centre
from reference_engine.geometry.ellipsoid_support import slab as widths
from reference_engine.vectors import minus, row
from tests.reference_engine.geometry.ellipsoid_oracle import across, climb, pair, slab, sphere_points, unit
from tests.reference_engine.geometry.ellipsoid_scenes import facing, random_bodies, twos


@entry
def radii(body, n, depth, radius):
    for k in range(n.shape[0]):
        radius[k] = proven_radius(body, 2 * k, 2 * k + 1, row(n, k), depth[k])


@entry
def claims(body, n, r, level, claimed):
    for k in range(n.shape[0]):
        p, q = 2 * k, 2 * k + 1
        w, _, on_p, _, on_q, _ = widths(body, p, q, minus(centre(body, q), centre(body, p)), row(n, k))
        claimed[k] = is_nowhere_above(body, p, q, w, on_p, on_q, row(n, k), r[k], level[k])


def deep_pairs(rng, count, aspect):
    axes, turned = random_bodies(rng, count, aspect)
    position, n = facing(rng, axes, turned, -axes.reshape(-1, 6).min(axis=1) * rng.uniform(0.1, 1.9, count))
    return axes, turned, position, n


@pytest.mark.parametrize("aspect", [2.0, 10.0, 100.0])
def test_nothing_is_better_within_the_proven_radius_of_a_local_maximum(aspect):
    """Also of maxima that are not the greatest; where the radius is infinite, nowhere on the sphere."""
    rng = np.random.default_rng([1, int(aspect)])
    axes, turned, position, n = deep_pairs(rng, 300, aspect)
    pairs = pair(axes, position, turned, float)
    n, width = climb(pairs, n + 0.01 * rng.normal(size=n.shape), 40)  # n itself is stationary, perhaps a saddle
    inside = width < -1e-6
    radius = np.zeros(300)
    radii(placed(axes, position, turned)[1], n, -np.minimum(width, -1e-6), radius)
    infinite = inside & np.isinf(radius)
    assert 0.3 < infinite[inside].mean() < 1.0 and (radius[inside & ~infinite] > 0.0).mean() > 0.9
    for m in sphere_points(300):
        there, _ = slab(pairs, np.broadcast_to(m, n.shape))
        assert (there[infinite] <= width[infinite] + 1e-12).all()
    u, v = across(n)
    reached = np.where(np.isinf(radius), 0.0, radius)[:, None]
    for turn in np.linspace(0.0, 2 * np.pi, 24, endpoint=False):
        for piece in (0.1, 0.5, 1.0):
            there, _ = slab(pairs, unit(n + piece * reached * (np.cos(turn) * u + np.sin(turn) * v)))
            assert (there[inside] <= width[inside] + 1e-12).all()


@pytest.mark.parametrize("aspect", [2.0, 10.0, 100.0])
def test_a_region_that_is_said_to_lie_below_a_level_does(aspect):
    rng = np.random.default_rng([2, int(aspect)])
    axes, turned, position, _ = deep_pairs(rng, 2000, aspect)
    pairs = pair(axes, position, turned, float)
    gap = ellipsoid_proximities(axes, position, turned, twos(2000)).gap
    n = unit(rng.normal(size=(2000, 3)))
    r, claimed = 10.0 ** rng.uniform(-4.0, 0.0, 2000), np.zeros(2000, np.bool_)
    level = np.minimum(slab(pairs, n)[0] + 10.0 ** rng.uniform(-6.0, -1.0, 2000), -1e-3)
    claims(placed(axes, position, turned)[1], n, r, level, claimed)
    assert 0.05 < claimed.mean() < 0.95 and (gap < 0.0).any()
    u, v = across(n)
    for turn in np.linspace(0.0, 2 * np.pi, 24, endpoint=False):
        for piece in (0.05, 0.5, 1.0):
            there, _ = slab(pairs, unit(n + piece * r[:, None] * (np.cos(turn) * u + np.sin(turn) * v)))
            assert (there[claimed] <= level[claimed] + 1e-12).all()
