"""Which contacts carry force, and which of them slide: accelerations under Coulomb's law with its exact cone.

0 <= f_n  perp  a_n >= 0; what slides has its friction against the slip, what does not any within the cone, and what
begins to slide now has it against its acceleration. Contacts in turn are given the force that solves the law there, the
others fixed (Gauss and Seidel; Jean 1999, Comput. Methods Appl. Mech. Eng. 177). What that leaves is taken off by
Newton's method on the projections of f_n - r a_n and f_t - r a_t on to the cone (Alart & Curnier 1991, Comput. Methods
Appl. Mech. Eng. 92), which does not mind masses of many sizes.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contact_problems.cone_law import disc_slip
from reference_engine.spatial.least_squares import solve_least

MOST_NEWTON, MOST_HALVINGS = 60, 12
REFINED = 1e-12  # of the largest acceleration: by no more are the laws missed


@entry
def seek_forces(A, b, friction, slides, force, most_sweeps, tolerance):
    """(sweeps, the last change, contact): forces (n, 3) along normal and tangents, from those that are there.

    A (3 n, 3 n) 1/kg; b (n, 3) m/s^2; slides (n, 2): unit slip along the tangents, 0 of what does not slide.
    contact: -1, or the first at which a force of its own would only accelerate the approach (Painleve 1895).
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
            i = 3 * k
            q0, q1, q2 = b[k, 0], b[k, 1], b[k, 2]
            for m in range(n):
                if m != k:
                    for c in range(3):
                        f = force[m, c]
                        q0 += A[i, 3 * m + c] * f
                        q1 += A[i + 1, 3 * m + c] * f
                        q2 += A[i + 2, 3 * m + c] * f
            nn, n1, n2 = A[i, i], A[i, i + 1], A[i, i + 2]
            a11, a12, a22 = A[i + 1, i + 1], A[i + 1, i + 2], A[i + 2, i + 2]
            mu, d1, d2 = friction[k], slides[k, 0], slides[k, 1]
            f0, f1, f2 = 0.0, 0.0, 0.0
            if mu == 0.0 or d1 != 0.0 or d2 != 0.0:
                inner = nn - mu * (n1 * d1 + n2 * d2)
                if q0 < 0.0:
                    if inner <= 1e-12 * nn:
                        return sweep, change, k
                    f0 = -q0 / inner
                    f1, f2 = -mu * f0 * d1, -mu * f0 * d2
            elif q0 < 0.0:
                s11, s12, s22 = a11 - n1 * n1 / nn, a12 - n1 * n2 / nn, a22 - n2 * n2 / nn
                c1, c2 = -(q1 - n1 * q0 / nn), -(q2 - n2 * q0 / nn)
                det = s11 * s22 - s12 * s12
                f1, f2 = (s22 * c1 - s12 * c2) / det, (s11 * c2 - s12 * c1) / det
                f0 = -(q0 + n1 * f1 + n2 * f2) / nn
                if f0 < 0.0 or f1 * f1 + f2 * f2 > mu * mu * f0 * f0:
                    f0, f1, f2, _ = disc_slip(nn, n1, n2, s11, s12, s22, q0, c1, c2, mu, 0.0, 0.0)
                    f0 = max(f0, 0.0)
            for c in range(3):
                given = f0 if c == 0 else f1 if c == 1 else f2
                change = max(change, abs(given - force[k, c]) * nn)
                force[k, c] = given
        if change <= tolerance * scale:
            return sweep + 1, change, -1
    return most_sweeps, change, -1


@entry
def refine_forces(A, b, friction, slides, force, M, vectors, pivot):
    """(steps, m/s^2 by which the laws are missed); the first arguments are those of `seek_forces`.

    Scratch: M (3 n, 3 n + 1), vectors (4, 3 n), pivot (3 n, 2).
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
    size, worst = misses(A, b, friction, slides, force, off, M)
    steps = 0
    while steps < MOST_NEWTON and worst > REFINED * scale:
        steps += 1
        for i in range(m):
            M[i, m] = -off[i // 3, i % 3]
        solve_least(M, x, weight, pivot, m)
        share, found, best = 1.0, np.inf, 1.0
        for _ in range(MOST_HALVINGS):
            for i in range(m):
                tried[i // 3, i % 3] = force[i // 3, i % 3] + share * x[i]
            now, _ = misses(A, b, friction, slides, tried, off, M)
            if now < found:
                found, best = now, share
            if now < size:
                break
            share *= 0.5
        for i in range(m):
            force[i // 3, i % 3] += best * x[i]
        size, worst = misses(A, b, friction, slides, force, off, M)
    return steps, worst


@kernel
def misses(A, b, friction, slides, force, off, M):
    """(sum of squares, the greatest) of what the laws are missed by, m/s^2; that is in off, its derivatives in M."""
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
        if pressing > 0.0:
            off[k, 0], M[i, i] = a0, 0.0
            for j in range(3 * n):
                M[i, j] = A[i, j]
        else:
            off[k, 0] = f0 / r
        if mu == 0.0 or d1 != 0.0 or d2 != 0.0:
            off[k, 1], off[k, 2] = (f1 + mu * d1 * f0) / r, (f2 + mu * d2 * f0) / r
            M[i + 1, i], M[i + 2, i] = mu * d1 / r, mu * d2 / r
        elif pressing <= 0.0:
            off[k, 1], off[k, 2] = f1 / r, f2 / r
        else:
            z1, z2, cone = f1 - r * a1, f2 - r * a2, mu * pressing
            length = np.sqrt(z1 * z1 + z2 * z2)
            if length <= cone:
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
