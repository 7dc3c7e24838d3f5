"""Coulomb's law at several contacts in space at once, by Newton's method, as friction grows from none.

With friction a problem may have several answers, and sweeps over the contacts in turn find one that depends on their
order: two dominoes' corners that slide alike come to carry unlike loads. Without friction accelerations are unique
(the matrix is symmetric, without negative eigenvalues). So that answer is taken which leads over from there as all
coefficients grow together from 0: it is the same in all axes, mirrored, and in any order of contacts, unless the path
ends or divides on its way.

0 <= f_n  perp  a_n >= 0; what slides has its friction against the slip, what does not any within the cone, and what
begins to slide now has it against its acceleration: Newton's method on the projections of f_n - r a_n and f_t - r a_t
on to the cone (Alart & Curnier 1991, Comput. Methods Appl. Mech. Eng. 92), by least squares where forces are redundant.
It does not mind masses of many sizes.
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contact_problems.cone_law import disc_slip
from reference_engine.contact_problems.least_squares import solve_least
from reference_engine.dense import mul

MOST_NEWTON, FEW_NEWTON, POLISH = 60, 3, 2  # from anywhere; along the path; behind sweeps at once
"""Steps of Newton's method: many of them leave what is symmetric, so that few are made where it matters."""
MOST_HALVINGS = 12
SHARE = 1.5  # of the way to its own force a contact goes in a sweep at once, over what couples it
AT_ONCE = (200, POLISH), (2000, POLISH), (1, MOST_NEWTON)  # sweeps, and steps of Newton's method after them
FEW_SWEEPS = 100
CONVERGED = 1e-14  # of the largest acceleration
NOTHING = 1e-13  # of the largest acceleration
REFINED = 1e-12  # of the largest acceleration: by no more are the laws missed
SOFTEST, STIFFEST, STIFFENS = 10.0, 1e-12, 0.25  # of what moves a contact, how far it yields at first; last; each time
LONGEST, SHORTEST = 0.25, 0.25 / 16.0  # steps of friction, of all of it


def impartial_forces(
    A: Array, b: Array, friction: Array, slides: Array, fine: float, *, in_turn: int = 0
) -> tuple[Array, float, int]:
    """Forces (n, 3) along normal and tangents; by how much they miss the laws, m/s^2, which is more than `fine`
    if none were found; the contact that is jammed (`seek_forces`), or -1.

    A (3 n, 3 n) 1/kg; b (n, 3) m/s^2; slides (n, 2): unit slip along the tangents, 0 of what does not slide. Or
    impulses, with b and `fine` in m/s. Where the path ends contacts are tried that yield, ever less; then they are
    swept, all at once, and Newton's method goes on. At last, where that is asked for, they are swept in turn, so often,
    which prefers some of them.
    """
    n, scratch = len(friction), scratch_for(len(friction))
    force = np.zeros((n, 3))
    missed = float(grow(A, b, friction, slides, force, fine, *scratch))
    if missed <= fine:
        return force, missed, -1
    tried, missed = stiffened(A, b, friction, slides, fine)
    if missed <= fine:
        return tried, missed, -1
    size = np.abs(A)
    share, others = SHARE / float((size.sum(axis=1) / A.diagonal()).max()), np.zeros((n, 3))
    plan = [(others, share, sweeps, most) for sweeps, most in AT_ONCE]
    plan += [(force, 1.0, sweeps, MOST_NEWTON) for sweeps in (FEW_SWEEPS, in_turn) if in_turn]
    jammed, best, least = -1, force, np.inf
    for others, part, sweeps, most in plan:
        if others is force:
            force[:] = 0.0
        _, _, jammed = seek_forces(A, b, friction, slides, force, others, part, sweeps, CONVERGED)
        if jammed >= 0:
            break
        tried = force.copy()
        _, missed = refine_forces(A, b, friction, slides, tried, most, *scratch)
        if missed < least:
            best, least = tried, float(missed)
        if missed <= fine:
            break
    return best, least, int(jammed)


def forces_without_one(A: Array, b: Array, friction: Array, slides: Array, fine: float) -> Array | None:
    """Forces (n, 3) that obey the laws with one contact open, as of `impartial_forces`; None without any.

    Where pressing harder makes a sliding contact go in faster while all others stay, no path leads on: another one has
    to let go. Of several solutions the one with the least normal forces.
    """
    n, best, least = len(friction), None, np.inf
    for open_one in range(n if n > 1 else 0):
        kept = np.delete(np.arange(n), open_one)
        rows = (3 * kept[:, None] + np.arange(3)).ravel()
        found, missed, jammed = impartial_forces(A[np.ix_(rows, rows)], b[kept], friction[kept], slides[kept], fine)
        if jammed >= 0 or missed > fine:
            continue
        force = np.zeros((n, 3))
        force[kept] = found
        opens = float(b[open_one, 0] + mul(A[3 * open_one], force.ravel())) >= -fine
        if opens and (total := float(force[:, 0].sum())) < least:
            best, least = force, total
    return best


def scratch_for(n: int) -> tuple[Array, Array, Indices]:
    """That of `grow` and `refine_forces`, for n contacts."""
    m = 3 * n
    return np.zeros((m, m + 1)), np.zeros((6, m)), np.zeros(m, np.int64)


def stiffened(A: Array, b: Array, friction: Array, slides: Array, fine: float) -> tuple[Array, float]:
    """(forces (n, 3); by how much they miss the laws, m/s^2), as contacts that yield to their forces do so ever less.

    Those that yield much hardly mind the others, and redundant forces are unique, the least of them: that is A with
    something on its diagonal, and Newton's method leads from each to the next.
    """
    n, yielding, scratch = len(friction), SOFTEST, scratch_for(len(friction))
    own = np.repeat(A.diagonal().reshape(n, 3).mean(axis=1), 3)
    force = np.zeros((n, 3))
    while yielding > STIFFEST:
        tried = force.copy()
        _, missed = refine_forces(A + np.diag(yielding * own), b, friction, slides, tried, MOST_NEWTON, *scratch)
        if missed > fine:
            break
        force, yielding = tried, STIFFENS * yielding
    _, missed = refine_forces(A, b, friction, slides, force, MOST_NEWTON, *scratch)
    return force, float(missed)


@entry
def grow(A, b, friction, slides, force, fine, M, vectors, order):
    """m/s^2 by which the laws are missed by the forces, which are written; infinite where the path ends, which is as
    far as these go. Scratch as of `refine_forces`, two vectors more."""
    n, most = friction.shape[0], 0.0
    tried, growing = vectors[4].reshape(n, 3), vectors[5, :n]
    for k in range(friction.shape[0]):
        growing[k] = 0.0
        most = max(most, friction[k])
    _, worst = refine(A, b, growing, slides, force, FEW_NEWTON, M, vectors, order)
    if worst > fine:
        for k in range(friction.shape[0]):
            for c in range(3):
                force[k, c] = 0.0
        return np.inf
    share, step = 0.0, LONGEST
    while share < 1.0 and most > 0.0:
        following = min(1.0, share + step)
        for k in range(friction.shape[0]):
            growing[k] = following * friction[k]
            for c in range(3):
                tried[k, c] = force[k, c]
        _, missed = refine(A, b, growing, slides, tried, FEW_NEWTON, M, vectors, order)
        if missed <= fine:
            share, step, worst = following, min(LONGEST, 2.0 * step), missed
            for k in range(friction.shape[0]):
                for c in range(3):
                    force[k, c] = tried[k, c]
        else:
            step *= 0.5
            if step < SHORTEST:
                return np.inf
    return worst


@entry
def refine_forces(A, b, friction, slides, force, most, M, vectors, order):
    """`refine`, from outside."""
    return refine(A, b, friction, slides, force, most, M, vectors, order)


@kernel
def refine(A, b, friction, slides, force, most, M, vectors, order):
    """(steps, m/s^2 by which the laws are missed), from the forces that are there.

    Scratch: M (3 n, 3 n + 1), vectors (4, 3 n), order (3 n,).
    """
    n = friction.shape[0]
    m = 3 * n
    x, weight, tried, off = vectors[0], vectors[1], vectors[2].reshape(n, 3), vectors[3].reshape(n, 3)
    for i in range(m):
        weight[i] = 1.0
    scale = 0.0
    for k in range(n):
        for c in range(3):
            scale = max(scale, abs(b[k, c]))
    nothing = NOTHING * scale
    size, worst = misses(A, b, friction, slides, force, off, M, nothing)
    steps = 0
    while steps < most and worst > REFINED * scale:
        steps += 1
        for i in range(m):
            M[i, m] = -off[i // 3, i % 3]
        solve_least(M, x, weight, order, m)
        share, found, best = 1.0, np.inf, 1.0
        for _ in range(MOST_HALVINGS):
            for i in range(m):
                tried[i // 3, i % 3] = force[i // 3, i % 3] + share * x[i]
            now, _ = misses(A, b, friction, slides, tried, off, M, nothing)
            if now < found:
                found, best = now, share
            if now < size:
                break
            share *= 0.5
        for i in range(m):
            force[i // 3, i % 3] += best * x[i]
        size, worst = misses(A, b, friction, slides, force, off, M, nothing)
    return steps, worst


@kernel
def misses(A, b, friction, slides, force, off, M, nothing):
    """(sum of squares, the greatest) of what the laws are missed by, m/s^2; that is in off, its derivatives in M.

    Where that decides between two modes accelerations below `nothing` are none: of contacts alike all have the same.
    """
    n = friction.shape[0]
    total, worst = 0.0, 0.0
    for k in range(n):
        i = 3 * k
        r = 3.0 / (A[i, i] + A[i + 1, i + 1] + A[i + 2, i + 2])
        a0, a1, a2 = b[k, 0], b[k, 1], b[k, 2]
        for j in range(3 * n):
            f = force[j // 3, j % 3]
            a0 += A[i, j] * f
            a1 += A[i + 1, j] * f
            a2 += A[i + 2, j] * f
            M[i, j] = M[i + 1, j] = M[i + 2, j] = 0.0
        mu, d1, d2 = friction[k], slides[k, 0], slides[k, 1]
        f0, f1, f2 = force[k, 0], force[k, 1], force[k, 2]
        pressing = f0 - r * a0
        M[i, i], M[i + 1, i + 1], M[i + 2, i + 2] = 1.0 / r, 1.0 / r, 1.0 / r
        if pressing > -r * nothing:
            off[k, 0], M[i, i] = a0, 0.0
            for j in range(3 * n):
                M[i, j] = A[i, j]
        else:
            off[k, 0] = f0 / r
        if mu == 0.0 or d1 != 0.0 or d2 != 0.0:
            off[k, 1], off[k, 2] = (f1 + mu * d1 * f0) / r, (f2 + mu * d2 * f0) / r
            M[i + 1, i], M[i + 2, i] = mu * d1 / r, mu * d2 / r
        elif pressing <= -r * nothing:
            off[k, 1], off[k, 2] = f1 / r, f2 / r
        else:
            z1, z2, cone = f1 - r * a1, f2 - r * a2, mu * max(pressing, 0.0)
            length = np.sqrt(z1 * z1 + z2 * z2)
            if length <= cone + r * nothing:
                off[k, 1], off[k, 2] = a1, a2
                for j in range(3 * n):
                    M[i + 1, j], M[i + 2, j] = A[i + 1, j], A[i + 2, j]
            else:
                e1, e2, share = z1 / length, z2 / length, cone / length
                off[k, 1], off[k, 2] = (f1 - cone * e1) / r, (f2 - cone * e2) / r
                for j in range(3 * n):
                    across = -e2 * A[i + 1, j] + e1 * A[i + 2, j]
                    M[i + 1, j] = mu * e1 * A[i, j] - share * e2 * across
                    M[i + 2, j] = mu * e2 * A[i, j] + share * e1 * across
                M[i + 1, i] -= mu * e1 / r
                M[i + 2, i] -= mu * e2 / r
                M[i + 1, i + 1] += (1.0 - share * e2 * e2) / r
                M[i + 1, i + 2] += share * e2 * e1 / r
                M[i + 2, i + 1] += share * e1 * e2 / r
                M[i + 2, i + 2] += (1.0 - share * e1 * e1) / r
        for c in range(3):
            total += off[k, c] * off[k, c]
            worst = max(worst, abs(off[k, c]))
    return total, worst


@entry
def seek_forces(A, b, friction, slides, force, others, share, most_sweeps, tolerance):
    """(sweeps, the last change, contact): forces (n, 3) along normal and tangents, from those that are there.

    Each contact is given that share of the way to the force that solves the law there, the others fixed. `others` is
    `force` itself: in turn (Gauss and Seidel; Jean 1999, Comput. Methods Appl. Mech. Eng. 177); an array of its own:
    all at once (Jacobi). contact: -1, or the first at which a force of its own would only accelerate the approach
    (Painleve 1895).
    """
    n = friction.shape[0]
    scale = 0.0
    for k in range(n):
        for c in range(3):
            scale = max(scale, abs(b[k, c]))
    change = np.inf
    for sweep in range(most_sweeps):
        change = 0.0
        for k in range(n):
            for c in range(3):
                others[k, c] = force[k, c]
        for k in range(n):
            i = 3 * k
            q0, q1, q2 = b[k, 0], b[k, 1], b[k, 2]
            for m in range(n):
                if m != k:
                    for c in range(3):
                        f = others[m, c]
                        q0 += A[i, 3 * m + c] * f
                        q1 += A[i + 1, 3 * m + c] * f
                        q2 += A[i + 2, 3 * m + c] * f
            given = own_force(A, i, friction[k], slides[k, 0], slides[k, 1], (q0, q1, q2))
            if given[0] < 0.0:
                return sweep, change, k
            for c in range(3):
                following = share * given[c] + (1.0 - share) * others[k, c]
                change = max(change, abs(following - force[k, c]) * A[i, i])
                force[k, c] = following
        if change <= tolerance * scale:
            return sweep + 1, change, -1
    return most_sweeps, change, -1


@kernel
def own_force(A, i, mu, d1, d2, q):
    """(3,) N that solves the law at one contact, of rows from i on, with accelerations q of no force there; its slip is
    (d1, d2), 0 of what does not slide. A normal one of -1 where pressing harder only accelerates the approach."""
    if q[0] >= 0.0:
        return 0.0, 0.0, 0.0
    nn, n1, n2 = A[i, i], A[i, i + 1], A[i, i + 2]
    if mu == 0.0 or d1 != 0.0 or d2 != 0.0:
        inner = nn - mu * (n1 * d1 + n2 * d2)
        if inner <= 1e-12 * nn:
            return -1.0, 0.0, 0.0
        f0 = -q[0] / inner
        return f0, -mu * f0 * d1, -mu * f0 * d2
    s11, s12 = A[i + 1, i + 1] - n1 * n1 / nn, A[i + 1, i + 2] - n1 * n2 / nn
    s22 = A[i + 2, i + 2] - n2 * n2 / nn
    c1, c2 = -(q[1] - n1 * q[0] / nn), -(q[2] - n2 * q[0] / nn)
    det = s11 * s22 - s12 * s12
    f1, f2 = (s22 * c1 - s12 * c2) / det, (s11 * c2 - s12 * c1) / det
    f0 = -(q[0] + n1 * f1 + n2 * f2) / nn
    if f0 < 0.0 or f1 * f1 + f2 * f2 > mu * mu * f0 * f0:
        f0, f1, f2, _ = disc_slip(nn, n1, n2, s11, s12, s22, q[0], c1, c2, mu, 0.0, 0.0)
        f0 = max(f0, 0.0)
    return f0, f1, f2
