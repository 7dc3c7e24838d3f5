"""Impacts: u+ = -e u- where bodies meet, all at once or one after the other in the seeded order.

simultaneous  one problem 0 <= j  perp  A j + (1 + e) u >= 0; e = 0 where two bodies are at rest on one another
serial        one approaching contact at a time until none approaches; `grouped` takes the joints along that it can be
              reached by, and stops them (e = 0); `separate` lets joints bounce like the rest
hybrid        grouped, and with every other approaching contact of either body
lastpass      a plastic pass (e = 0) over everything at the end
In serial order contacts keep their e.
"""

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim.collision import AMOUNT, BILATERAL, NORMAL, PRIMARY, SPEED, is_contact
from reference_engine.contactsim.contact import apply_contact, entry_of_matrix, note_moved
from reference_engine.contactsim.pivoting import permutation, solve

NO_IMPULSE = 1e-12  # N s
SLOW_ENOUGH = 1e-5  # m/s, an approach that is left; doubled every 20 n impulses
MOST = 100000  # impulses in one impact
SIMULTANEOUS, HYBRID, SEPARATE, SEPARATE_LASTPASS, GROUPED, GROUPED_LASTPASS = range(6)


@kernel
def approaches(ids, u, k, slow):
    return abs(u[k]) > slow if ids[k, BILATERAL] == 1 else u[k] < -slow


@kernel
def share_body(ids, k, m):
    i, j, p, q = ids[k, PRIMARY], ids[k, NORMAL], ids[m, PRIMARY], ids[m, NORMAL]
    return p in (i, j) or q in (i, j)


@kernel
def gather(o, ids, count, focus, hybrid, slow, work):
    """taken = 1 for the focus, with `hybrid` its approaching neighbours, and the joints that hang on them."""
    for k in range(count):
        work.taken[k] = 0
    for body in range(work.moved.shape[0]):
        work.moved[body] = 0
    work.taken[focus] = 1
    note_moved(o, ids, focus, work)
    if hybrid:
        for k in range(count):
            if k != focus and ids[k, BILATERAL] == 0 and work.u[k] < -slow and share_body(ids, k, focus):
                work.taken[k] = 1
                work.moved[ids[k, PRIMARY]] = work.moved[ids[k, NORMAL]] = 1  # fixed bodies too, as in the original
    grows = True
    while grows:
        grows = False
        for k in range(count):
            near = work.moved[ids[k, PRIMARY]] == 1 or work.moved[ids[k, NORMAL]] == 1
            if work.taken[k] == 0 and ids[k, BILATERAL] == 1 and near:
                work.taken[k] = 1
                grows = True
                note_moved(o, ids, k, work)


@kernel
def solve_taken(ids, count, plastic, seed, work):
    """Impulses at the rows that are taken, added to j, and what they do to every speed; the worst violation."""
    n = 0
    for k in range(count):
        if work.taken[k] == 1:
            work.member[n] = k
            n += 1
    for i in range(n):
        k = work.member[i]
        work.bilateral[i] = ids[k, BILATERAL]
        work.b[i] = work.u[k] * (1.0 if plastic else 1.0 + work.e[k])
        for m in range(n):
            work.A[i, m] = work.A_all[k, work.member[m]]
    _, worst = solve(n, seed, work)
    for i in range(n):
        work.impulse[work.member[i]] += work.f[i]
    for k in range(count):
        for i in range(n):
            work.u[k] += work.A_all[k, work.member[i]] * work.f[i]
    return worst


@kernel
def one_after_the_other(o, ids, count, handling, seed, work):
    """(impulses calculated, worst violation); -1 impulses if it does not end."""
    slow, limit, worst = SLOW_ENOUGH, 20 * count, 0.0
    last_pass = handling in (HYBRID, SEPARATE_LASTPASS, GROUPED_LASTPASS)
    grouped = handling in (HYBRID, GROUPED, GROUPED_LASTPASS)
    for loop in range(1, MOST):
        if loop > limit:
            slow *= 2.0
            limit += 20 * count
        permutation(seed, count, work.order)
        focus = col.NONE
        for k in range(count):
            if approaches(ids, work.u, work.order[k], slow):
                focus = work.order[k]
                break
        if focus < 0 and not last_pass:
            return loop - 1, worst
        if focus >= 0 and grouped:
            gather(o, ids, count, focus, handling == HYBRID, slow, work)
        else:
            for k in range(count):
                work.taken[k] = 1 if focus < 0 or k == focus else 0
        worst = max(worst, solve_taken(ids, count, focus < 0, seed, work))
        if focus < 0:
            return loop, worst
    return -1, worst


@entry
def apply_impacts(o, rules, pose, twist, ids, values, count, handling, seed, work):
    """Impulses at all rows, applied to the twist and noted as the rows' amount.

    Returns (impulses calculated or -1, worst violation [m/s], greatest impulse [N s], least where none may pull).
    """
    grouped = handling in (HYBRID, GROUPED, GROUPED_LASTPASS)
    for k in range(count):
        e = o.restitution[ids[k, PRIMARY], ids[k, NORMAL]]
        if handling == SIMULTANEOUS:
            e = 0.0 if is_contact(rules, ids, values, k) else e
        elif grouped and ids[k, BILATERAL] == 1:
            e = 0.0
        work.e[k], work.u[k], work.impulse[k], work.taken[k] = e, values[k, SPEED], 0.0, 1
        for m in range(count):
            work.A_all[k, m] = entry_of_matrix(o, pose, ids, values, k, m, True)
    if handling == SIMULTANEOUS:
        worst, done = solve_taken(ids, count, False, seed, work), 1
    else:
        done, worst = one_after_the_other(o, ids, count, handling, seed, work)
    greatest, least = 0.0, 0.0
    for k in range(count):
        amount = work.impulse[k]
        greatest = max(greatest, amount)
        if ids[k, BILATERAL] == 0 and amount < 0.0:
            least = min(least, amount)
            amount = 0.0
        values[k, AMOUNT] = amount
        if amount != 0.0:
            apply_contact(o, pose, ids, values, k, amount, True, twist)
    return done, worst, greatest, least
