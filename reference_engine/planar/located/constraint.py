"""Contacts that hold: their geometry, A and b, the forces that keep them, and the projection onto them.

d_i'' = sum_j A_ij f_j + b_i with A = J M^-1 J^T (Baraff 1994, app. C and D). Between events the set of contacts
that hold is fixed, so that the forces solve the equality A f = -b and the motion is smooth.
"""

import numpy as np

from reference_engine.geometry.kernels import entry, kernel
from reference_engine.planar.located.layout import (
    ACROSS,
    ALONG,
    ALONG_PREVIOUS,
    GAP,
    LINE,
    NX,
    NY,
    RATE,
    SPAN,
    U1X,
    U1Y,
    U2X,
    U2Y,
)

POSES = np.int64(0)  # where they begin in the state; a plain literal would be a signature of its own
DEPENDENT = 1e-11  # times A_kk: below it a contact adds nothing to those before it (round-off: 1e-14)


@kernel
def external_acceleration(solids, law, y, rate_out):
    """Gravity, and damping: force -k v, torque -k_r omega. Fills rate_out with (twist, acceleration)."""
    B = solids.kind.shape[0]
    for i in range(B):
        t = 3 * B + 3 * i
        for c in range(3):
            rate_out[3 * i + c] = y[t + c]
            rate_out[t + c] = 0.0
        if solids.inv_mass[i] > 0.0:
            rate_out[t] = law.gravity_x - law.damping * solids.inv_mass[i] * y[t]
            rate_out[t + 1] = law.gravity_y - law.damping * solids.inv_mass[i] * y[t + 1]
            rate_out[t + 2] = -law.rotational_damping * solids.inv_inertia[i] * y[t + 2]


@kernel
def measure(solids, y, places, k, geometry):
    """Row k of the geometry, from the bodies and features of place k.

    c1: corner or disc centre of the primary body, with radius r1 (0 for a corner); arm U1 to it.
    LINE    gap = n . (c1 - x_j) - offset - r1;           arm U2 to the foot of c1 on the edge
    RADIAL  gap = |c1 - c2| - r1 - r2, n = (c1 - c2)/|.|; arm U2 to c2
    rate    = n . (c1' - c2');  across = t . (c1' - c2'), t = (-n_y, n_x);  span = n . (c1 - c2)
    along, along_previous: of c1 past the start of the edge (RADIAL: of both edges that meet in the corner).
    """
    B = solids.kind.shape[0]
    i, j = places.body[k, 0], places.body[k, 1]
    p, q = places.feature[k, 0], places.feature[k, 1]
    xi, yi, xj, yj = y[3 * i], y[3 * i + 1], y[3 * j], y[3 * j + 1]
    cj, sj = np.cos(y[3 * j + 2]), np.sin(y[3 * j + 2])
    u1x = u1y = 0.0
    r1 = solids.radius[i]
    if p >= 0:
        ci, si = np.cos(y[3 * i + 2]), np.sin(y[3 * i + 2])
        r1, u1x = 0.0, ci * solids.vertices[p, 0] - si * solids.vertices[p, 1]
        u1y = si * solids.vertices[p, 0] + ci * solids.vertices[p, 1]
    dx, dy = xi + u1x - xj, yi + u1y - yj  # c1 from the centre of j
    along, along_previous = 0.0, 0.0
    if places.kind[k] == LINE:
        nx = cj * solids.normals[q, 0] - sj * solids.normals[q, 1]
        ny = sj * solids.normals[q, 0] + cj * solids.normals[q, 1]
        span = nx * dx + ny * dy - solids.offsets[q]
        gap = span - r1
        u2x, u2y = dx - span * nx, dy - span * ny
        start_x = cj * solids.vertices[q, 0] - sj * solids.vertices[q, 1]
        start_y = sj * solids.vertices[q, 0] + cj * solids.vertices[q, 1]
        along = -ny * (dx - start_x) + nx * (dy - start_y)
    else:
        r2, u2x, u2y = solids.radius[j], 0.0, 0.0
        if q >= 0:
            r2, u2x = 0.0, cj * solids.vertices[q, 0] - sj * solids.vertices[q, 1]
            u2y = sj * solids.vertices[q, 0] + cj * solids.vertices[q, 1]
        dx, dy = dx - u2x, dy - u2y
        span = np.sqrt(dx * dx + dy * dy)
        nx, ny = dx / span, dy / span
        gap = span - r1 - r2
        if q >= 0:
            previous = q - 1 if q > solids.first[j] else solids.first[j + 1] - 1
            bx, by = cj * dx + sj * dy, -sj * dx + cj * dy  # body axes of j
            along = -solids.normals[q, 1] * bx + solids.normals[q, 0] * by
            along_previous = -solids.normals[previous, 1] * bx + solids.normals[previous, 0] * by
    ti, tj = 3 * B + 3 * i, 3 * B + 3 * j
    wi, wj = y[ti + 2], y[tj + 2]
    vx = y[ti] - wi * u1y - y[tj] + wj * u2y
    vy = y[ti + 1] + wi * u1x - y[tj + 1] - wj * u2x
    geometry[k, GAP], geometry[k, RATE], geometry[k, SPAN] = gap, nx * vx + ny * vy, span
    geometry[k, NX], geometry[k, NY], geometry[k, ACROSS] = nx, ny, -ny * vx + nx * vy
    geometry[k, U1X], geometry[k, U1Y], geometry[k, U2X], geometry[k, U2Y] = u1x, u1y, u2x, u2y
    geometry[k, ALONG], geometry[k, ALONG_PREVIOUS] = along, along_previous


@kernel
def contact_matrix(solids, places, n, geometry, A):
    """A_ij: acceleration (or, for impulses, velocity) of gap i for a unit force (impulse) at contact j.

    Row i of J is n_i on the primary body and -n_i on the normal body, each with its moment U x n_i. At round
    edges the arm U goes to the centre of the circle: the same moment.
    """
    for i in range(n):
        nix, niy = geometry[i, NX], geometry[i, NY]
        for j in range(i, n):
            njx, njy = geometry[j, NX], geometry[j, NY]
            total = 0.0
            for side_i in range(2):
                body = places.body[i, side_i]
                moment_i = geometry[i, U1X + 2 * side_i] * niy - geometry[i, U1Y + 2 * side_i] * nix
                for side_j in range(2):
                    if body == places.body[j, side_j]:
                        moment_j = geometry[j, U1X + 2 * side_j] * njy - geometry[j, U1Y + 2 * side_j] * njx
                        term = solids.inv_mass[body] * (nix * njx + niy * njy)
                        term += solids.inv_inertia[body] * moment_i * moment_j
                        total += term if side_i == side_j else -term
            A[i, j] = A[j, i] = total


@kernel
def contact_vector(y, rate, places, n, B, geometry, b):
    """b_i: acceleration of gap i with the accelerations in `rate`, without contact forces.

    c'' = v' + w' x U - w^2 U                                  of the point c at arm U on either body
    LINE    b = n . (c1'' - c2'') + 2 w2 across - w2^2 span    (the turning of the edge)
    RADIAL  b = n . (c1'' - c2'') + across^2 / span            (the turning of the line of centres)
    """
    for k in range(n):
        i, j = places.body[k, 0], places.body[k, 1]
        ti, tj = 3 * B + 3 * i, 3 * B + 3 * j
        u1x, u1y, u2x, u2y = geometry[k, U1X], geometry[k, U1Y], geometry[k, U2X], geometry[k, U2Y]
        w1, w2 = y[ti + 2], y[tj + 2]
        ax = rate[ti] - rate[ti + 2] * u1y - w1 * w1 * u1x - (rate[tj] - rate[tj + 2] * u2y - w2 * w2 * u2x)
        ay = rate[ti + 1] + rate[ti + 2] * u1x - w1 * w1 * u1y - (rate[tj + 1] + rate[tj + 2] * u2x - w2 * w2 * u2y)
        b[k] = geometry[k, NX] * ax + geometry[k, NY] * ay
        if places.kind[k] == LINE:
            b[k] += 2.0 * w2 * geometry[k, ACROSS] - w2 * w2 * geometry[k, SPAN]
        else:
            b[k] += geometry[k, ACROSS] * geometry[k, ACROSS] / geometry[k, SPAN]


@kernel
def factorise(A, n, factor, skipped):
    """Cholesky of A; a contact that depends on those before it is skipped: its force is 0, its gap holds by itself."""
    for row in range(n):
        skipped[row] = 0
        for column in range(row + 1):
            rest = A[row, column]
            for k in range(column):
                rest -= factor[row, k] * factor[column, k]
            if column < row:
                factor[row, column] = 0.0 if skipped[column] == 1 else rest / factor[column, column]
            elif rest > DEPENDENT * A[row, row]:
                factor[row, row] = np.sqrt(rest)
            else:
                skipped[row] = 1
                factor[row, row] = 1.0
                for k in range(row):
                    factor[row, k] = 0.0


@kernel
def solve(n, factor, skipped, right, x):
    """x with A x = right over the contacts that are not skipped, and 0 there."""
    for row in range(n):
        total = 0.0 if skipped[row] == 1 else right[row]
        for k in range(row):
            total -= factor[row, k] * x[k]
        x[row] = total / factor[row, row]
    for row in range(n - 1, -1, -1):
        total = x[row]
        for k in range(row + 1, n):
            total -= factor[k, row] * x[k]
        x[row] = total / factor[row, row]


@kernel
def push(solids, places, n, geometry, amount, offset, change):
    """change += M^-1 J^T amount, to the poses (offset 0) or the twists and their rates (offset 3 B)."""
    for k in range(n):
        nx, ny = geometry[k, NX], geometry[k, NY]
        for side in range(2):
            i = places.body[k, side]
            signed = amount[k] if side == 0 else -amount[k]
            moment = geometry[k, U1X + 2 * side] * ny - geometry[k, U1Y + 2 * side] * nx
            change[offset + 3 * i] += solids.inv_mass[i] * signed * nx
            change[offset + 3 * i + 1] += solids.inv_mass[i] * signed * ny
            change[offset + 3 * i + 2] += solids.inv_inertia[i] * signed * moment


@kernel
def held_rate(solids, law, y, places, n, work, rate_out):
    """(twist, acceleration) with the first n places held; leaves their forces in work.force.

    Refined once on the accelerations themselves: large forces that balance on a light body leave it their round-off.
    """
    external_acceleration(solids, law, y, rate_out)
    if n == 0:
        return
    B = solids.kind.shape[0]
    for k in range(n):
        measure(solids, y, places, k, work.geometry)
    contact_matrix(solids, places, n, work.geometry, work.A)
    contact_vector(y, rate_out, places, n, B, work.geometry, work.b)
    for k in range(n):
        work.b[k] = -work.b[k]
    factorise(work.A, n, work.factor, work.skipped)
    solve(n, work.factor, work.skipped, work.b, work.force)
    push(solids, places, n, work.geometry, work.force, 3 * B, rate_out)
    contact_vector(y, rate_out, places, n, B, work.geometry, work.b)
    for k in range(n):
        work.b[k] = -work.b[k]
    solve(n, work.factor, work.skipped, work.b, work.change)
    push(solids, places, n, work.geometry, work.change, 3 * B, rate_out)
    for k in range(n):
        work.force[k] += work.change[k]


@entry
def free_rate(solids, law, y, rate_out):
    """(twist, acceleration) where nothing is in touch."""
    external_acceleration(solids, law, y, rate_out)


@entry
def survey(solids, y, rate, places, n, work):
    """Geometry of the first n places, A, and b: the accelerations of the gaps with the accelerations in `rate`."""
    for k in range(n):
        measure(solids, y, places, k, work.geometry)
    contact_matrix(solids, places, n, work.geometry, work.A)
    contact_vector(y, rate, places, n, solids.kind.shape[0], work.geometry, work.b)


@entry
def forces(solids, law, y, places, n, work):
    """Geometry and forces of the first n places, which hold."""
    held_rate(solids, law, y, places, n, work, work.rate)


@entry
def strike(solids, y, places, n, work, impulse):
    """y += M^-1 J^T impulse on the twists, with the geometry of the last survey."""
    push(solids, places, n, work.geometry, impulse, 3 * solids.kind.shape[0], y)


@entry
def project(solids, y, places, n, work):
    """Gaps and rates of the first n places to zero, by the least change in the metric of the masses.

    The largest speed that is taken away is returned [m/s].
    """
    offset, taken = 3 * solids.kind.shape[0], 0.0
    for quantity in range(2):
        for k in range(n):
            measure(solids, y, places, k, work.geometry)
        contact_matrix(solids, places, n, work.geometry, work.A)
        factorise(work.A, n, work.factor, work.skipped)
        for k in range(n):
            work.b[k] = -work.geometry[k, GAP if quantity == 0 else RATE]
            if quantity == 1:
                taken = max(taken, abs(work.b[k]))
        solve(n, work.factor, work.skipped, work.b, work.force)
        push(solids, places, n, work.geometry, work.force, POSES if quantity == 0 else offset, y)
    return taken


@entry
def separate(solids, y, places, n, work):
    """Gaps of the first n places that are negative, by round-off, to zero; the others stay as they are."""
    deepest = 0.0
    for k in range(n):
        measure(solids, y, places, k, work.geometry)
        work.b[k] = max(0.0, -work.geometry[k, GAP])
        deepest = max(deepest, work.b[k])
    if deepest > 0.0:
        contact_matrix(solids, places, n, work.geometry, work.A)
        factorise(work.A, n, work.factor, work.skipped)
        solve(n, work.factor, work.skipped, work.b, work.force)
        push(solids, places, n, work.geometry, work.force, POSES, y)
