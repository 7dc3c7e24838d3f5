"""Laws of impact without friction. u_minus, u_plus: rates of the gaps before and after; u_plus - u_minus = A j.

Newton's law at one place: u_plus = -e u_minus. Where an impact strikes several touching places the law has to say
more; `LocatedSettings.impact_law` names which of the two below.
"""

import numpy as np
from numpy.typing import NDArray

from reference_engine.complementarity.contact_forces import required_forces
from reference_engine.complementarity.errors import ContactForceError

Array = NDArray[np.float64]

ROUND_OFF = 1e-13  # of the work of an impulse: an elastic impact keeps the energy to so much
HALVINGS = 30  # of the interval in which the factor of e is looked for


def impulses(law: str, A: Array, rate: Array, restitution: Array, still: Array) -> Array:
    """(N,) [N s] along the normals of all touching places; `still` (N,) [m/s]: slower is at rest.

    One impact; should it make a place approach, that is the next impact at the same instant.
    """
    if law == "simultaneous":
        return simultaneous(A, rate, restitution, still)
    return propagating(A, rate, restitution, still)


def simultaneous(A: Array, rate: Array, restitution: Array, still: Array) -> Array:
    """0 <= j  perp  A j + (1 + e) u >= 0; e where bodies approach, 0 where they are at rest or part.

    An approaching place leaves with at least e times its speed, no other approaches. The kinetic energy changes by
    sum j_k (u_plus_k + u_minus_k) / 2 = sum j_k (1 - e_k) u_minus_k / 2, to which a place that parts may add. Where
    the sum is positive, all e are reduced by the largest common factor that does not gain energy; there is one:
    with e = 0 the change is -j A j / 2 (Moreau 1988: a projection in the metric of the masses).
    """
    e = np.where(rate < -still, restitution, 0.0)
    j = required_forces(A, (1.0 + e) * rate)
    if not gains(A, rate, j):
        return j
    low, high = 0.0, 1.0
    j = required_forces(A, rate)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        trial = required_forces(A, (1.0 + middle * e) * rate)
        if gains(A, rate, trial):
            high = middle
        else:
            low, j = middle, trial
    return j


def gains(A: Array, rate: Array, j: Array) -> bool:
    """Does the kinetic energy grow, by more than round-off?"""
    return bool(j @ (2.0 * rate + A @ j) > ROUND_OFF * (j @ np.abs(rate)))


def propagating(A: Array, rate: Array, restitution: Array, still: Array) -> Array:
    """j_k += -(1 + e_k) u_k / A_kk where the approach is fastest, until none is left; each place keeps its e.

    Raises ContactForceError where the sequence does not end (e = 0 in a row of equal balls: it converges but
    never ends; the simultaneous law is its limit there).
    """
    u, j = rate.copy(), np.zeros(len(rate))
    for _ in range(1000 * (len(rate) + 1)):
        k = int(np.argmin(u))
        if u[k] >= -still[k]:
            return j
        step = -(1.0 + restitution[k]) * u[k] / A[k, k]
        j[k] += step
        u += A[:, k] * step
    raise ContactForceError(
        f"propagating impulses at {len(rate)} places do not end: approach {-u.min():.3e} m/s is left; "
        "use impact_law='simultaneous'",
        residual=float(-u.min()),
    )
