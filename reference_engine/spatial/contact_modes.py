"""Which contacts carry force, and which of them slide: accelerations under Coulomb's law with its exact cone.

0 <= f_n  perp  a_n >= 0; what slides has its friction against the slip, what does not any within the cone, and what
begins to slide now has it against its acceleration. Contacts in turn are given the force that solves the law there, the
others fixed (Gauss and Seidel; Jean 1999, Comput. Methods Appl. Mech. Eng. 177).
"""

import numpy as np

from reference_engine.compiler.kernels import entry
from reference_engine.contact_problems.cone_law import disc_slip


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
