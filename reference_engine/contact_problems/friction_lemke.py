"""Modes of contact by Lemke's method, where the walk from mode to mode does not end.

Stewart & Trinkle 1996 (Int. J. Num. Meth. Eng. 39) and Anitescu & Potra 1997 (Nonlinear Dynamics 14), in the plane.
Friction of a sticking contact is split in f_t = f_plus - f_minus, and lambda is the speed at which it begins to slip:

  0 <= f_n      perp  a_n >= 0
  0 <= f_plus   perp  lambda + a_t >= 0
  0 <= f_minus  perp  lambda - a_t >= 0
  0 <= lambda   perp  mu (f_n + base) - f_plus - f_minus >= 0

Its matrix is copositive: at impacts, b = J v, Lemke's method always ends with a solution. A sliding contact has the
known f_t = -s mu (f_n + base), one row and a column n - s mu t, and no such promise. Joints are eliminated beforehand.
Only the modes are taken from here; the forces come from them by elimination, with A and b as given.

In round-off the promise is not kept where many contacts are redundant, or where slip is 1e9 times what approaches. Then
another covering vector, and so another path, finds what one has missed; and slip that nothing here can stop is taken
as known.
"""

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.contact_problems import friction_modes as modes
from reference_engine.contact_problems.friction_modes import edge
from reference_engine.contact_problems.lemke import SOLVED, STILL, lemke_pivots

DEPENDENT = 1e-11  # of A_jj: a joint with less of its own left adds nothing to the others
CANCELLED = 1e-13  # of sqrt(A_ii A_jj): what the joints leave of it below that is round-off
CERTAIN = 1e3  # times the greatest b_n: a slip that is faster than that goes on
UNEVEN = 0.1  # the least entry of a covering vector, where they differ
LEVELS = 1024
ENTRIES = elementary.power(UNEVEN, np.arange(LEVELS) / LEVELS)  # from 1 down to it, each by the same factor
LAMBDA = -1


class LemkeWork(Structure):
    """Scratch; untouched unless Lemke's method is wanted."""

    kind: Indices = of_shape("R")
    G: Array = of_shape("2 R", "2 R")
    q: Array = of_shape("2 R")
    table: Array = of_shape("4 R", "4 R + 2")
    contact: Indices = of_shape("4 R")  # of each unknown: its contact, row of A, and sign
    row: Indices = of_shape("4 R")
    sign: Array = of_shape("4 R")
    basic: Indices = of_shape("4 R")
    nonbasic: Indices = of_shape("4 R + 1")
    where: Indices = of_shape("8 R + 1")


@kernel
def without_joints(problem, n, G, q):
    """G, q: A and b as they are while all joints hold (Schur's complement); rows of joints are left as they fall."""
    for i in range(2 * n):
        q[i] = problem.b[i]
        for j in range(2 * n):
            G[i, j] = problem.A[i, j]
    for k in range(n):
        if problem.kind[k] < modes.STICKING:
            i = 2 * k + 1
            q[i] = 0.0
            for j in range(2 * n):
                G[i, j] = G[j, i] = 0.0
    for _ in range(n):
        pivot, most = -1, DEPENDENT
        for k in range(n):
            if problem.kind[k] == modes.BILATERAL and G[2 * k, 2 * k] > most * problem.A[2 * k, 2 * k]:
                pivot, most = 2 * k, G[2 * k, 2 * k] / problem.A[2 * k, 2 * k]
        if pivot < 0:
            return
        for i in range(2 * n):
            factor = G[i, pivot] / G[pivot, pivot]
            if i == pivot or factor == 0.0:
                continue
            q[i] -= factor * q[pivot]
            for j in range(2 * n):
                G[i, j] -= factor * G[pivot, j]
                if abs(G[i, j]) <= CANCELLED * np.sqrt(problem.A[i, i] * problem.A[j, j]):
                    G[i, j] = 0.0
        for i in range(2 * n):
            G[i, pivot] = G[pivot, i] = 0.0


@kernel
def kinds(problem, n, certain, kind):
    """Those of the contacts; if `certain`, what sticks but slips fast is taken for sliding."""
    most = 0.0
    for k in range(n):
        most = max(most, abs(problem.b[2 * k]))
    for k in range(n):
        kind[k], slip = problem.kind[k], problem.b[2 * k + 1]
        if certain and kind[k] == modes.STICKING and abs(slip) > CERTAIN * most:
            kind[k] = modes.SLIDING_PLUS if slip > 0.0 else modes.SLIDING_MINUS


@kernel
def variables(n, lemke_work):
    """Which unknowns there are: (contact, row of A or LAMBDA, sign of the force along it). Returns the count."""
    kind, contact, row, sign, count = lemke_work.kind, lemke_work.contact, lemke_work.row, lemke_work.sign, 0
    for k in range(n):
        if kind[k] == modes.BILATERAL:
            continue
        for which in range(4 if kind[k] == modes.STICKING else 1):
            contact[count] = k
            row[count] = LAMBDA if which == 3 else 2 * k + (which > 0)
            sign[count] = -1.0 if which == 2 else 1.0
            count += 1
    return count


@kernel
def fill(problem, n, count, nudge, uneven, work, lemke_work):
    """The table (q, M, d) of  w = M z + q + d z0,  rows scaled so that a contact's own entry is about 1."""
    G, q, contact, table = lemke_work.G, lemke_work.q, lemke_work.contact, lemke_work.table
    row, sign = lemke_work.row, lemke_work.sign
    for k in range(n):
        kind, A_nn = lemke_work.kind[k], problem.A[2 * k, 2 * k]
        own = max(A_nn, problem.A[2 * k + 1, 2 * k + 1]) if kind >= modes.STICKING else A_nn
        work.excess[k] = 1.0 / np.sqrt(own) if own > 0.0 else 1.0
        work.slope[k] = 0.0
        if kind >= modes.SLIDING_PLUS:
            work.slope[k] = -problem.friction[k] if kind == modes.SLIDING_PLUS else problem.friction[k]
    largest = 0.0
    for r in range(count):
        k, scale = contact[r], work.excess[contact[r]]
        cone = problem.friction[k] if work.kinetic[k] == 1 else problem.static_friction[k]
        for c in range(count):
            other = contact[c]
            if row[r] == LAMBDA:
                entry = 0.0
                if other == k and row[c] != LAMBDA:
                    entry = -1.0 if row[c] & 1 else cone
            elif row[c] == LAMBDA:
                entry = 1.0 if other == k and row[r] & 1 else 0.0
            else:
                entry = G[row[r], row[c]]
                if row[c] & 1 == 0 and work.slope[other] != 0.0:
                    entry += work.slope[other] * G[row[r], row[c] + 1]
                entry *= sign[r] * sign[c] * scale * work.excess[other]
            table[r, 1 + c] = entry
        if row[r] == LAMBDA:
            known = cone * problem.base[k] / scale
        else:
            known = q[row[r]]
            for other in range(n):
                if work.slope[other] != 0.0 and problem.base[other] > 0.0:
                    known += G[row[r], 2 * other + 1] * work.slope[other] * problem.base[other]
            if row[r] & 1 == 0:
                known += nudge * ((0.618033988749895 * (r + 1)) % 1.0)
            known *= sign[r] * scale
        table[r, 0] = known
        table[r, count + 1] = (
            1.0 if uneven == 0 else ENTRIES[int(LEVELS * ((0.618033988749895 * uneven * (r + 1)) % 1.0))]
        )
        largest = max(largest, abs(known))
    for r in range(count):
        table[r, 0] /= largest if largest > 0.0 else 1.0


@kernel
def modes_by_lemke(problem, n, nudge, uneven, certain, answer, work, lemke_work):
    """Modes of a solution, and in f which forces are at work in it. Returns Lemke's outcome.

    Friction of sticking contacts is mu where `kinetic`, mu_s elsewhere. nudge [of a]: b_n is raised by up to that, off
    the edge between solvable and not. uneven: number of the covering vector, 0 that of ones. certain: fast slip goes
    on.
    """
    kind, where = lemke_work.kind, lemke_work.where
    kinds(problem, n, certain, kind)
    without_joints(problem, n, lemke_work.G, lemke_work.q)
    count = variables(n, lemke_work)
    fill(problem, n, count, nudge, uneven, work, lemke_work)
    outcome, _, _ = lemke_pivots(lemke_work.table, lemke_work.basic, lemke_work.nonbasic, where, STILL, count)
    if outcome != SOLVED:
        return outcome
    c = 0
    for k in range(n):
        answer.mode[k], answer.f[2 * k], answer.f[2 * k + 1] = modes.CLOSED, 0.0, 0.0
        if problem.kind[k] == modes.BILATERAL:
            continue
        presses = where[count + c] < 0
        answer.f[2 * k] = 1.0 if presses else 0.0
        answer.mode[k] = modes.CLOSED if presses else modes.OPEN
        if kind[k] > modes.STICKING == problem.kind[k] and (presses or problem.base[k] > 0.0):
            statically = work.kinetic[k] == 0 and problem.static_friction[k] > problem.friction[k]
            answer.mode[k] = edge(1.0 if kind[k] == modes.SLIDING_PLUS else -1.0, statically) + (
                0 if presses else modes.SEPARATING
            )
        if kind[k] == modes.STICKING:
            plus, minus, slips = where[count + c + 1] < 0, where[count + c + 2] < 0, where[count + c + 3] < 0
            tangent = modes.STICKS
            if slips and plus != minus:
                statically = work.kinetic[k] == 0 and problem.static_friction[k] > problem.friction[k]
                tangent = edge(-1.0 if plus else 1.0, statically)
            if presses or problem.base[k] > 0.0:
                answer.mode[k] = tangent if presses else modes.SEPARATING + tangent
                answer.f[2 * k + 1] = 1.0 if plus or minus else 0.0
            c += 3
        c += 1
    return outcome
