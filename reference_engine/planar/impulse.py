"""Impacts without friction: Newton's law u_plus = -e u_minus at every touching place, and what order means.

simultaneous   one complementarity problem: 0 <= j  perp  A j + (1 + e) u >= 0, with e = 0 where two
               bodies were at rest against each other
serial         one approaching place at a time, in the seeded random order, until none approaches; places at
               rest keep their e. `separate` and `grouped` differ only in which joints a place takes with it;
               there are no joints yet.
lastpass       a plastic pass (e = 0) over all places at the end, which takes away what the serial order left
Source: the public myPhysicsLab engine, as documented and measured.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reference_engine.complementarity.dantzig import INFEASIBLE, SOLVED, solve_complementarity
from reference_engine.planar.dynamics import contact_matrix, push
from reference_engine.planar.errors import ContactForceError
from reference_engine.planar.layout import Bodies, Contacts, Scratch

Array = NDArray[np.float64]

SLOW_ENOUGH = 1e-5  # m/s, an approach that serial handling leaves alone; doubled every 20 n impulses


@njit(cache=True)
def random_order(state, n, order):
    """A permutation of 0..n-1; state' = (1664525 state + 1013904223) mod 2^32, one draw for each place."""
    for k in range(n):
        order[k] = -1
    for place in range(n):
        state[0] = (1664525 * state[0] + 1013904223) % 4294967296
        skip = int(state[0] / 4294967296.0 * (n - place))
        for value in range(n):
            taken = False
            for earlier in range(place):
                taken = taken or order[earlier] == value
            if not taken:
                if skip == 0:
                    order[place] = value
                    break
                skip -= 1


@njit(cache=True)
def serial_impulses(A, n, e, slow_enough, random_state, order, speed, impulse):
    """impulse_k += -(1 + e_k) u_k / A_kk at one approaching place after another; returns how many."""
    for done in range(2000 * (n + 1)):
        random_order(random_state, n, order)
        focus = -1
        for k in range(n):
            if speed[order[k]] < -slow_enough:
                focus = order[k]
                break
        if focus < 0:
            return done
        amount = -(1.0 + e[focus]) * speed[focus] / A[focus, focus]
        impulse[focus] += amount
        for k in range(n):
            speed[k] += A[k, focus] * amount
        if (done + 1) % (20 * n) == 0:
            slow_enough *= 2.0
    return -1


def impact_impulses(
    bodies: Bodies, contacts: Contacts, n: int, *, handling: str, restitution: Array, resting: NDArray[np.bool_],
    random_state: NDArray[np.int64], scratch: Scratch,
) -> Array:  # fmt: skip
    """Impulses (n,) [N s] along the normals of the first n contacts; restitution (n,)."""
    contact_matrix(bodies, contacts, n, scratch.A)
    speed, impulse = contacts.speed[:n].copy(), np.zeros(n)
    if handling == "simultaneous":
        return complementary_impulses((1.0 + np.where(resting, 0.0, restitution)) * speed, n, scratch)
    order = np.zeros(n, np.int64)
    if serial_impulses(scratch.A, n, restitution, SLOW_ENOUGH, random_state, order, speed, impulse) < 0:
        raise ContactForceError(f"serial impulses at {n} places did not end", residual=float(-speed.min()))
    if handling.endswith("lastpass") or not impulse.any():  # all slower than SLOW_ENOUGH, and yet penetrating next
        impulse += complementary_impulses(speed, n, scratch)
    return impulse


def complementary_impulses(b: Array, n: int, scratch: Scratch) -> Array:
    """0 <= j  perp  A j + b >= 0 with the A in scratch."""
    scratch.b[:n] = b
    j = np.zeros(len(scratch.a))
    outcome, residual, _, _ = solve_complementarity(
        scratch.A, scratch.b, n, scratch.factor, scratch.direction, scratch.clamped, scratch.status, scratch.a, j
    )
    if outcome != SOLVED:
        why = "no impulses exist" if outcome == INFEASIBLE else "no impulses found"
        raise ContactForceError(f"{why} at {n} places: violation {residual:.3e} m/s", residual=residual)
    return j[:n]


def apply_impulses(bodies: Bodies, contacts: Contacts, n: int, impulse: Array, twist: Array) -> None:
    """twist += M^-1 J^T impulse."""
    push(bodies, contacts, n, impulse, twist)
