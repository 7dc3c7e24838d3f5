"""Back onto the constraints: the least changes, in the metric of the masses, that close gaps and stop rates.

The change x of M^(1/2) y with L x = right, L = J M^(-1/2), by Gram and Schmidt's method on the rows of L, each made
orthogonal twice (Golub & Van Loan 1996, sec. 5.2; Giraud, Langou & Rozloznik 2005). Not by M = J M^-1 J^T, whose
condition is the square of that of L: two corners to either side of a pin, 1e-7 m apart, would be one to it.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.elimination import DEPENDENT, eliminate, substitute
from reference_engine.planar import layout as col
from reference_engine.planar import rows
from reference_engine.planar.islands import divide

RATE_ROUND_OFF = 1e-12  # m/s, times 1 + the greatest speed: round-off of a rate
GAP_ROUND_OFF = 2e-13  # m, times 1 + the extent of the scene: round-off of a gap
CLOSED_GAP = 1e-12  # m, times the same: a gap that counts as closed when an event is resolved
DEPENDS = 1e-13  # of a row: what it has of its own, beside those before it
NEARLY = 1e-4  # the same: it is not obeyed where it keeps overlaps apart, and else only where it is off by more than
NOTHING = 0.25  # of the round-off above; else that would be blown up by one over what it has of its own. A contact
# may keep what counts as closed


@kernel
def extent(model, y):
    """The greatest coordinate of a body that moves [m]."""
    most = 0.0
    for i in range(model.inv_mass.shape[0]):
        if model.inv_mass[i] > 0.0:
            most = max(most, abs(y[3 * i]), abs(y[3 * i + 1]))
    return most


@kernel
def still_of(y):
    """A rate that is none [m/s]."""
    most = 0.0
    for c in range(y.shape[0] // 2, y.shape[0]):
        most = max(most, abs(y[c]))
    return RATE_ROUND_OFF * (1.0 + most)


@kernel
def kinetic_energy(model, y, less, other):
    """Of the twists in y without `less` times those of the other [J]."""
    R, total = model.inv_mass.shape[0], 0.0
    for i in range(R):
        for c in range(3):
            inverse = model.inv_mass[i] if c < 2 else model.inv_inertia[i]
            if inverse > 0.0:
                total += 0.5 * (y[3 * R + 3 * i + c] - less * other[3 * R + 3 * i + c]) ** 2 / inverse
    return total


@kernel
def write_row(model, contacts, k, row, column, size, out):
    """A row of J over the square roots of the masses, for the bodies of an island; returns the square of its length."""
    for c in range(size):
        out[c] = 0.0
    total = 0.0
    for side in range(2):
        i, sign = contacts.id[k, col.BODY_J if side else col.BODY_I], -1.0 if side else 1.0
        sqrt_inv_mass, sqrt_inv_inertia = sign * np.sqrt(model.inv_mass[i]), sign * np.sqrt(model.inv_inertia[i])
        at = 3 * column[i]
        if at >= 0:
            out[at] += sqrt_inv_mass * row[col.ROW_X]
            out[at + 1] += sqrt_inv_mass * row[col.ROW_Y]
            out[at + 2] += sqrt_inv_inertia * row[col.ROW_I + side]
    for c in range(size):
        total += out[c] * out[c]
    return total


@kernel
def take_out(Q, r, skipped, x, size):
    """Row r of Q without what the rows before it have of it, and x[r] likewise; returns the square of its length."""
    for _ in range(2):
        for c in range(r):
            if skipped[c] == 0:
                component = 0.0
                for i in range(size):
                    component += Q[r, i] * Q[c, i]
                x[r] -= component * x[c]
                for i in range(size):
                    Q[r, i] -= component * Q[c, i]
    own = 0.0
    for i in range(size):
        own += Q[r, i] * Q[r, i]
    return own


@kernel
def least_change(model, contacts, s, m, unit, left_out, work, offset, y):
    """y[offset:] += M^(-1/2) x for the m gathered rows of island s and work.right.

    A row that depends on those before it is left out: where redundant rows contradict each other, those of the lower
    rank are the ones that are not obeyed. unit: round-off of what is to be changed; left_out: of the square of a
    contact's row, what it has of its own where it is not obeyed.
    """
    Q, x, skipped, first = work.M, work.x, work.skipped, work.first_member[s]
    bodies = work.first_member[s + 1] - first
    size = 3 * bodies
    for r in range(m):
        whole = write_row(model, contacts, work.of[r], work.across[r], work.column, size, Q[r])
        x[r] = work.right[r]
        own = take_out(Q, r, skipped, x, size)
        skipped[r] = 0
        joint = contacts.id[work.of[r], col.ROLE] == col.JOINT
        nothing = NOTHING * unit if joint or offset > 0 else (CLOSED_GAP / GAP_ROUND_OFF) * unit
        blown_up = own <= NEARLY**2 * whole and abs(x[r]) <= nothing
        if own <= DEPENDS**2 * whole or blown_up or (not joint and own <= left_out * whole):
            skipped[r] = 1
            continue
        x[r] /= np.sqrt(own)
        for i in range(size):
            Q[r, i] /= np.sqrt(own)
    for r in range(m):
        if skipped[r] == 0:
            for c in range(bodies):
                i = work.member[first + c]
                sqrt_inv_mass, sqrt_inv_inertia = np.sqrt(model.inv_mass[i]), np.sqrt(model.inv_inertia[i])
                y[offset + 3 * i] += sqrt_inv_mass * x[r] * Q[r, 3 * c]
                y[offset + 3 * i + 1] += sqrt_inv_mass * x[r] * Q[r, 3 * c + 1]
                y[offset + 3 * i + 2] += sqrt_inv_inertia * x[r] * Q[r, 3 * c + 2]


@kernel
def close_gaps(model, y, contacts, n, work, apart):
    """Gaps of the first n contacts to zero; if `apart`, only negative ones and those of joints. Was any not?"""
    off = False
    for k in range(n):
        rows.measure(model, y, contacts, k, work.geometry)
        gap = work.geometry[k, col.GAP]
        off = off or gap < 0.0 or (gap > 0.0 and not (apart and contacts.id[k, col.ROLE] != col.JOINT))
    if not off:
        return False
    unit = GAP_ROUND_OFF * (1.0 + extent(model, y))
    for s in range(divide(model, contacts, n, work)):
        m = rows.gather(contacts, s, rows.NORMALS, work)
        for r in range(m):
            k = work.of[r]
            work.right[r] = -work.geometry[k, col.GAP]
            if apart and contacts.id[k, col.ROLE] != col.JOINT:
                work.right[r] = max(0.0, work.right[r])
        least_change(model, contacts, s, m, unit, NEARLY**2 if apart else 0.0, work, 0, y)
    return True


@kernel
def aim_at_rest(work, m):
    """The right sides that stop the rates and slips of the gathered rows."""
    for r in range(m):
        work.right[r] = -work.geometry[work.of[r], col.SLIP if work.tangent[r] == rows.TANGENT else col.RATE]


@kernel
def stop_rates(model, y, contacts, n, left_out, work):
    """Rates of the first n contacts, and slips of those that stick, to zero; left_out: as in `least_change`."""
    for k in range(n):
        rows.measure(model, y, contacts, k, work.geometry)
    unit = still_of(y)
    for s in range(divide(model, contacts, n, work)):
        m = rows.gather(contacts, s, rows.WITH_STICKING, work)
        aim_at_rest(work, m)
        least_change(model, contacts, s, m, unit, left_out, work, 3 * model.inv_mass.shape[0], y)


@kernel
def stop_by_impulses(model, y, contacts, n, work):
    """The same by impulses that bring their friction with them."""
    for k in range(n):
        rows.measure(model, y, contacts, k, work.geometry)
    for s in range(divide(model, contacts, n, work)):
        m = rows.build(model, contacts, s, rows.AS_FORCES, work)
        aim_at_rest(work, m)
        eliminate(work.M, m, work.pivot, work.skipped, work.size)
        substitute(work.M, m, work.pivot, work.skipped, work.right, work.x)
        rows.apply_forces(model, contacts, m, work.of, work.along, work.x, 3 * model.inv_mass.shape[0], y)


@kernel
def project(model, y, contacts, n, work):
    """Gaps of the first n contacts, then their rates and the slip of those that stick, to zero.

    But for rates of contacts that no force holds (`rate`): where an arm all but vanishes one opens, or closes further,
    and that is an event (`margin`).
    """
    if n > 0:
        close_gaps(model, y, contacts, n, work, False)
        stop_rates(model, y, contacts, n, DEPENDENT, work)


@kernel
def separate(model, y, contacts, n, work):
    """Gaps of the first n contacts that are negative, by round-off, and those of joints, to zero. Was any not?"""
    return n > 0 and close_gaps(model, y, contacts, n, work, True)
