"""The gaps of all candidates, looked at only where they may matter: elsewhere a lower bound is carried along.

No gap shrinks by more than the furthest that points of the two bodies have got; so the gap of a moment, or what is
known to be below it, less the two bodies' travel, is a lower bound at the next.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.geometry.ellipsoid_containers import MOST_POINTS, half_space_gap, sphere_interior_gap
from reference_engine.geometry.ellipsoid_gap import ellipsoid_pair
from reference_engine.geometry.ellipsoid_support import centre
from reference_engine.geometry.layout import GAP, NORMAL, ON_P, A
from reference_engine.geometry.support import from_origin
from reference_engine.heaps import layout as col
from reference_engine.vectors import dot, three

TIE = 1e-12  # of a hollow sphere's radius: points that are equally far from its centre
NEAR = 1.5  # barriers: gaps up to which bodies count as touching: a little more than what the first line leaves


@kernel
def settle_rows(table, i, rows, found):
    """Of the rows of a body in a hollow sphere, found (4, 11), those that stand for no point are far away.

    Two are put in the order in which the body has them along its longest axis: so a row is one end from step to step.
    """
    for k in range(rows, found.shape[0]):
        found[k, GAP] = np.inf
    if rows == 2:
        best, along = 0.0, 0
        for k in range(3):
            size = table[i, A + k] ** 2 + table[i, A + 3 + k] ** 2 + table[i, A + 6 + k] ** 2
            if size > best:
                best, along = size, k
        lead = 0.0
        for k in range(3):
            lead += table[i, A + 3 * k + along] * (found[1, ON_P + k] - found[0, ON_P + k])
        if lead > 0.0:
            for k in range(found.shape[1]):
                found[0, k], found[1, k] = found[1, k], found[0, k]


@kernel
def alike(one, other):
    """How alike the normals of two rows are, 1 to -1; -1 too where only the other is there, 0 where it is not."""
    if other[GAP] == np.inf:
        return 0.0
    return dot(three(one, NORMAL), three(other, NORMAL)) if one[GAP] < np.inf else -1.0


@kernel
def follow_rows(before, found):
    """Of one or two points, found (4, 11), each goes on in the row in which it was before."""
    if before[2, GAP] < np.inf or found[2, GAP] < np.inf:  # four, of what is round
        return
    crossed = alike(found[0], before[1]) + alike(found[1], before[0])
    if crossed > alike(found[0], before[0]) + alike(found[1], before[1]):
        for k in range(found.shape[1]):
            found[0, k], found[1, k] = found[1, k], found[0, k]


@kernel
def query_pair(scene, candidates, poses, k, cutoff):
    """The gap of pair k, sharp unless it is above the cutoff."""
    a, b = candidates.body[k, 0], candidates.body[k, 1]
    if ellipsoid_pair(poses.table, a, b, candidates.normal[k], cutoff, scene.stack, poses.found[k]):
        poses.sharp[k] = 1
        from_origin(poses.found[k], centre(poses.table, a))
    else:
        poses.sharp[k] = 0


@kernel
def query_rows(scene, poses, c, i, k, rows):
    """The gaps of body i with container c: candidates k to k + rows - 1, always sharp; a fixed body touches none."""
    found = poses.found[k : k + rows]
    if scene.inverse_inertia[i, 0] == 0.0:
        for row in range(rows):
            found[row, GAP] = np.inf
    elif scene.container[c] == col.HALF_SPACE:
        half_space_gap(poses.table, i, scene.point[c], scene.normal[c], found[0])
    else:
        middle, radius = scene.point[c], scene.radius[c]
        _, points = sphere_interior_gap(
            scene.semi_axes, poses.table, i, middle, radius, TIE * radius, scene.scratch, found
        )
        settle_rows(poses.table, i, points, found)
    for row in range(k, k + rows):
        poses.sharp[row] = 1


@kernel
def query_now(scene, rules, candidates, poses, point_speed, everything):
    """Sharpen what may matter in a step from these poses: approached within a step and a half, or chosen."""
    pairs, near = candidates.normal.shape[0], max(rules.margin, NEAR * rules.barrier)
    for k in range(pairs):
        if poses.sharp[k] == 0:
            far = near + 1.5 * rules.h * (point_speed[candidates.body[k, 0]] + point_speed[candidates.body[k, 1]])
            if candidates.chosen[k] > 0 or everything:
                query_pair(scene, candidates, poses, k, np.inf)
            elif poses.found[k, GAP] <= far:
                query_pair(scene, candidates, poses, k, far + rules.skin)
    k = pairs
    for c in range(scene.container.shape[0]):
        rows = 1 if scene.container[c] == col.HALF_SPACE else MOST_POINTS
        for i in range(scene.semi_axes.shape[0]):
            far = near + 1.5 * rules.h * point_speed[i]
            wanted, least = everything, np.inf
            for row in range(k, k + rows):
                wanted = wanted or (candidates.chosen[row] > 0 and poses.sharp[row] == 0)
                if poses.sharp[row] == 0:
                    least = min(least, poses.found[row, GAP])
            if wanted or least <= far:
                query_rows(scene, poses, c, i, k, rows)
            k += rows


@kernel
def query_ahead(scene, rules, candidates, now, ahead, travel):
    """At the poses ahead: the gaps of contacts, and of what may have got below the floor; of others a bound."""
    pairs = candidates.normal.shape[0]
    for k in range(pairs):
        least = now.found[k, GAP] - travel[candidates.body[k, 0]] - travel[candidates.body[k, 1]]
        if candidates.chosen[k] > 0:
            query_pair(scene, candidates, ahead, k, np.inf)
        elif least < rules.floor:
            query_pair(scene, candidates, ahead, k, rules.margin + rules.skin)
        else:
            ahead.found[k, GAP] = least
            ahead.sharp[k] = 0
    k = pairs
    for c in range(scene.container.shape[0]):
        rows = 1 if scene.container[c] == col.HALF_SPACE else MOST_POINTS
        for i in range(scene.semi_axes.shape[0]):
            wanted, least = False, np.inf
            for row in range(k, k + rows):
                wanted = wanted or candidates.chosen[row] > 0
                least = min(least, now.found[row, GAP] - travel[i])
            if wanted or least < rules.floor:
                query_rows(scene, ahead, c, i, k, rows)
                if rows > 1:
                    if now.sharp[k] == 0:
                        query_rows(scene, now, c, i, k, rows)
                    follow_rows(now.found[k : k + rows], ahead.found[k : k + rows])
            else:
                for row in range(k, k + rows):
                    ahead.found[row, GAP], ahead.sharp[row] = least, 0
            k += rows
