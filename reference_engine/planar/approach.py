"""For how long pieces with arcs are certain to stay apart; the bounds are those of `advancement`.

An arc keeps off a line at least as long as its whole circle does, g'' then being that of the circle's centre; and as
long as the direction of the line is not among the arc's own, its ends are what comes nearest: no sooner than that
direction, which turns by at most the difference of the spins, has reached them.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.events import first_zero
from reference_engine.planar import features
from reference_engine.planar import layout as col
from reference_engine.planar.convex_pieces import BOWL
from reference_engine.planar.layout import arm_of
from reference_engine.planar.narrow_phase import RADIUS_TOLERANCE

root = kernel(first_zero)  # for g > 0: the greatest s with g + rate s - M s^2/2 >= 0

STALLED = 1e-12  # s, an advance that is a touch: what is left is closed by Newton's method


@kernel
def approach_of_centres(run, i, j, nx, ny):
    """The greatest of -n . D'' over the step, n fixed; D from j to i."""
    model, bernstein, h = run.model, run.work.bernstein, run.loop.now[col.DENSE]
    B, i, j = model.inv_mass.shape[0], model.row[i], model.row[j]
    ti, tj, most = 3 * B + 3 * i, 3 * B + 3 * j, -np.inf
    for r in range(1, 8):
        ax = bernstein[r, ti] - bernstein[r, tj] - bernstein[r - 1, ti] + bernstein[r - 1, tj]
        ay = bernstein[r, ti + 1] - bernstein[r, tj + 1] - bernstein[r - 1, ti + 1] + bernstein[r - 1, tj + 1]
        most = max(most, -(nx * ax + ny * ay) * 7.0 / h)
    return most


@kernel
def lead_bound(run, i, j, nx, ny, owner):
    """Of -g'' without the corner's part: lines of body `owner`, which is j or i; exact to sign where it is fixed."""
    model, bounds = run.model, run.work.pair[col.BOUNDS]
    if model.inv_mass[model.row[j]] == 0.0:
        return max(1e-9, approach_of_centres(run, i, j, nx, ny))
    w, a = bounds[col.SPIN_I + owner], bounds[col.SPIN_RATE_I + owner]
    return max(1e-9, bounds[col.ACCELERATION] + 2.0 * w * bounds[col.SPEED] + (a + w * w) * bounds[col.DISTANCE])


@kernel
def active_with(model, contacts, n, feature, owner, kind):
    """Is this feature, or an arc that ends there, held at that of the other body (ROUND: or at an arc ending there)?"""
    for k in range(n):
        p, q = contacts.id[k, col.P], contacts.id[k, col.Q]
        if contacts.id[k, col.KIND] != kind or contacts.id[k, col.ROLE] != col.CONTACT:
            continue
        if kind == col.LINE:
            if q == owner and is_end(model, feature, p):
                return True
        elif (is_end(model, feature, p) and is_end(model, owner, q)) or (
            is_end(model, feature, q) and is_end(model, owner, p)
        ):
            return True
    return False


@kernel
def is_end(model, feature, active):
    """Is a feature the one that is held, or a corner at an end of it?"""
    if feature == active:
        return True
    return (
        active >= 0
        and 0 <= feature < model.arcs.shape[0]
        and (model.arcs[feature, col.BEFORE] == active or model.arcs[feature, col.AFTER] == active)
    )


@kernel
def safe_over_line(run, n, i, j, mx, my, offset, feature, kind, owner):
    """Seconds for which piece i keeps off the line m . p = offset in axes of j, beyond which nothing of j is.

    What a contact of this kind holds at this feature of j is left out, and with an arc its ends. owner: of the pair, j.
    """
    model, contacts, pair, allowance = run.model, run.active, run.work.pair, run.loop.now[col.ALLOWANCE]
    state_i, state_j, bounds = pair[1 - owner], pair[owner], pair[col.BOUNDS]
    cj, sj = cosine_and_sine(state_j[col.ANGLE])
    ci, si = cosine_and_sine(state_i[col.ANGLE])
    nx, ny = cj * mx - sj * my, sj * mx + cj * my
    dx, dy = state_i[col.X] - state_j[col.X], state_i[col.Y] - state_j[col.Y]
    vx, vy = state_i[col.VX] - state_j[col.VX], state_i[col.VY] - state_j[col.VY]
    wi, wj = state_i[col.SPIN], state_j[col.SPIN]
    turning = bounds[col.RELATIVE_SPIN_RATE] + bounds[col.RELATIVE_SPIN] * bounds[col.RELATIVE_SPIN]
    lead, shortest = lead_bound(run, i, j, nx, ny, owner), np.inf
    corners = model.first[i + 1] - model.first[i]
    for k in range(corners + model.arc_first[i + 1] - model.arc_first[i]):
        p = model.first[i] + k if k < corners else model.arc_first[i] + k - corners
        if n > 0 and active_with(model, contacts, n, p, feature, kind):
            continue
        rx, ry = arm_of(model, p, ci, si)
        g = nx * (dx + rx) + ny * (dy + ry) - offset + allowance
        outside = 0.0
        if k >= corners:
            g -= model.lengths[p]
            outside = -features.arc_margin(model, p, -(ci * nx + si * ny), si * nx - ci * ny) / model.lengths[p]
        s = 0.0
        if g > 0.0:
            rate = nx * (vx - wi * ry) + ny * (vy + wi * rx) + wj * (-ny * (dx + rx) + nx * (dy + ry))
            s = root(g, rate, lead + np.sqrt(rx * rx + ry * ry) * turning)
        if outside > 0.0:
            s = max(s, outside / bounds[col.RELATIVE_SPIN])
        if s <= 0.0:
            return 0.0
        shortest = min(shortest, s)
    return shortest


@kernel
def safe_rounded(run, n, i, j):
    """Seconds for which two convex pieces, one with arcs, are certain to stay apart, by the best line."""
    model, state_i, state_j, longest = run.model, run.work.pair[col.OF_I], run.work.pair[col.OF_J], 0.0
    x, y, c, s = features.relative_pose(
        state_i[col.X], state_i[col.Y], state_i[col.ANGLE], state_j[col.X], state_j[col.Y], state_j[col.ANGLE]
    )
    for k in range(features.lines(model, i, j)):
        which, p, q, mx, my = features.line(model, i, j, x, y, c, s, k)
        if which == features.NO_LINE:
            continue
        if which == features.EDGE_OF_I:
            nx, ny = model.normals[p, 0], model.normals[p, 1]
            seconds = safe_over_line(run, n, j, i, nx, ny, -features.lowest(model, i, -nx, -ny), p, col.LINE, col.OF_I)
        else:
            kind, few = col.LINE if which == features.EDGE_OF_J else col.ROUND, n
            if kind == col.ROUND and not active_with(model, run.active, n, p, q, col.ROUND):
                few = 0  # other lines hold nothing off
            seconds = safe_over_line(run, few, i, j, mx, my, -features.lowest(model, j, -mx, -my), q, kind, col.OF_J)
        longest = max(longest, seconds)
    return longest


@kernel
def safe_inside(radius, cx, cy, vx, vy, fastest, most):
    """Seconds for which a point c stays within a circle of this radius about the origin (allowance included).

    g = radius - |c|: g' >= -fastest, and where |c| >= radius / 2, g'' >= -fastest^2 / (radius / 2) - most.
    """
    distance = np.sqrt(cx * cx + cy * cy)
    g = radius - distance
    if g <= 0.0:
        return 0.0
    slow = g / max(1e-300, fastest)
    if distance <= 0.5 * radius:
        return slow
    outside = (distance - 0.5 * radius) / max(1e-300, fastest)
    rate = -(cx * vx + cy * vy) / distance
    return max(slow, min(outside, root(g, rate, max(1e-9, 2.0 * fastest * fastest / radius + most))))


@kernel
def safe_in_concave_arc(run, n, i, j):
    """Of a bowl or concave arc j: the least of the corners and arcs of i that it does not hold."""
    model, contacts, pair, allowance = run.model, run.active, run.work.pair, run.loop.now[col.ALLOWANCE]
    state_i, state_j, bounds = pair[col.OF_I], pair[col.OF_J], pair[col.BOUNDS]
    ci, si = cosine_and_sine(state_i[col.ANGLE])
    cj, sj = cosine_and_sine(state_j[col.ANGLE])
    arc, shortest = model.arc_first[j], np.inf
    wx, wy = arm_of(model, arc, cj, sj)
    centre_distance = np.sqrt(model.vertices[arc, 0] ** 2 + model.vertices[arc, 1] ** 2)
    corners = model.first[i + 1] - model.first[i]
    for k in range(corners + model.arc_first[i + 1] - model.arc_first[i]):
        p = model.first[i] + k if k < corners else model.arc_first[i] + k - corners
        own = model.lengths[p] if k >= corners else 0.0
        if own >= model.lengths[arc] * (1.0 - RADIUS_TOLERANCE) and model.kind[j] != BOWL:
            continue
        q = np.int64(-1) if model.kind[j] == BOWL else arc
        if n > 0 and active_with(model, contacts, n, p, q, col.ROUND):
            continue
        rx, ry = arm_of(model, p, ci, si)
        arm = np.sqrt(rx * rx + ry * ry)
        vx = state_i[col.VX] - state_i[col.SPIN] * ry - state_j[col.VX] + state_j[col.SPIN] * wy
        vy = state_i[col.VY] + state_i[col.SPIN] * rx - state_j[col.VY] - state_j[col.SPIN] * wx
        fastest = bounds[col.SPEED] + arm * bounds[col.SPIN_I] + centre_distance * bounds[col.SPIN_J]
        most = (
            bounds[col.ACCELERATION]
            + arm * (bounds[col.SPIN_RATE_I] + bounds[col.SPIN_I] ** 2)
            + centre_distance * (bounds[col.SPIN_RATE_J] + bounds[col.SPIN_J] ** 2)
        )
        cx, cy = state_i[col.X] + rx - state_j[col.X] - wx, state_i[col.Y] + ry - state_j[col.Y] - wy
        s = safe_inside(model.lengths[arc] - own + allowance, cx, cy, vx, vy, fastest, most)
        bx, by, ux, uy = cj * cx + sj * cy, cj * cy - sj * cx, ci * cx + si * cy, ci * cy - si * cx
        if k >= corners or model.kind[j] != BOWL:  # a corner and a bowl have no ends, and nothing is beyond
            s = max(s, seconds_to_ends(run, arc, p, own, np.sqrt(cx * cx + cy * cy), bx, by, ux, uy, fastest))
        shortest = min(shortest, s)
    return shortest


@kernel
def seconds_to_ends(run, arc, p, own, distance, bx, by, ux, uy, fastest):
    """Seconds before a point or arc p, from the centre of a concave arc at c, can be where both have points to touch;

    c is b in axes of the concave arc's body and u in those of the other one.

    Beyond its circle, by the distance to that; what is only just beyond has come from the front. Else by the angle that
    the direction of c, or that of an arc p, lies outside the ends: while c is further off than half of what it is now,
    it turns by at most fastest / half.
    """
    model, radius, allowance = run.model, run.model.lengths[arc], run.loop.now[col.ALLOWANCE]
    beyond = (distance - own - radius - allowance) / max(1e-300, fastest) - 4.0 * STALLED
    outside = -features.arc_margin(model, arc, bx, by) / radius
    seconds = 0.5 * distance / max(1e-300, fastest) * min(1.0, max(0.0, outside))
    if features.is_arc(model, p):
        outside = -features.arc_margin(model, p, ux, uy) / own
        spread = run.work.pair[col.BOUNDS, col.RELATIVE_SPIN] + fastest / max(1e-300, 0.5 * distance)
        seconds = max(seconds, min(0.5 * distance / max(1e-300, fastest), max(0.0, outside) / spread))
    return max(seconds, beyond)
