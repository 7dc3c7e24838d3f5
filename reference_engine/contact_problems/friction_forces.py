"""Contact forces with Coulomb friction: a problem in, forces out, or why there are none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.contact_problems import friction_modes as modes
from reference_engine.contact_problems.friction import (
    INDETERMINATE,
    PAINLEVE,
    SOLVED,
    new_friction_work,
    solve_friction,
)
from reference_engine.contact_problems.friction_modes import FrictionProblem

ASYMMETRY = 1e-9  # of the largest entry: what round-off leaves between A_ij and A_ji
KINDS = {
    "joint": modes.BILATERAL, "smooth": modes.SMOOTH, "sticking": modes.STICKING,
    "sliding+": modes.SLIDING_PLUS, "sliding-": modes.SLIDING_MINUS,
}  # fmt: skip
MODES = {
    modes.OPEN: "open", modes.CLOSED: "held", modes.STICKS: "sticks", modes.SLIPS_PLUS: "slips+",
    modes.SLIPS_MINUS: "slips-",
    modes.FULL_PLUS: "full+", modes.FULL_MINUS: "full-",
}  # fmt: skip
MODES |= {modes.SEPARATING + mode: f"parts, {MODES[mode]}" for mode in range(modes.STICKS, modes.FULL_MINUS + 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionSolution:
    """Forces at N contact points, or that there are none."""

    force: Array  # (N, 2) N: along the normal, along the tangent; nan where there are none
    acceleration: Array  # (N, 2) m/s^2; 0 along tangents of smooth contacts and joints
    mode: tuple[str, ...]  # of `MODES`; empty where there are none
    outcome: Literal["solved", "none"]
    violation: float  # m/s^2, the worst breach of a condition; of f_n times A_nn, of the friction cone times A_tt
    p: Array  # (N,) 1/kg, a_n per f_n of the contact alone: A_nn - s mu A_nt where it slides
    painleve: tuple[int, ...]  # sliding contacts with p <= 0
    indeterminate: tuple[int, ...]  # of those: the contact open and the contact pressing both solve the problem
    contact: int | None  # where there are none: the sliding contact with the least p / A_nn


def checked_matrix(A: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    A, b = np.array(A, np.float64, order="C"), np.array(b, np.float64)
    if b.ndim != 1 or len(b) % 2:
        raise ValueError(f"b: shape {b.shape} is not (2 N,), a normal and a tangent for each contact")
    if A.shape != (len(b), len(b)):
        raise ValueError(f"A: shape {A.shape} does not fit b of length {len(b)}; ({len(b)}, {len(b)}) is wanted")
    for name, array in (("A", A), ("b", b)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: {array[~np.isfinite(array)][0]} is not a finite number")
    if np.abs(A - A.T).max(initial=0.0) > ASYMMETRY * np.abs(A).max(initial=0.0):
        i, j = np.unravel_index(np.abs(A - A.T).argmax(), A.shape)
        raise ValueError(f"A: not symmetric, A[{i}, {j}] = {A[i, j]:.9g} and A[{j}, {i}] = {A[j, i]:.9g}")
    if (A.diagonal() < 0.0).any():
        raise ValueError(f"A: {A.diagonal().min():g} on the diagonal is negative; J M^-1 J^T has none")
    return A, b


def checked_numbers(name: str, given: ArrayLike, n: int, least: Array) -> Array:
    array = np.array(given, np.float64)
    array = np.full(n, array) if array.ndim == 0 else array
    if array.shape != (n,):
        raise ValueError(f"{name}: shape {array.shape} is not that of one number or ({n},)")
    if wrong := [k for k in range(n) if not least[k] <= array[k] < np.inf]:
        raise ValueError(f"{name}[{wrong[0]}]: {array[wrong[0]]:g} is not a finite number from {least[wrong[0]]:g} up")
    return array


def codes(name: str, labels: ArrayLike, table: dict[str, int], n: int) -> Indices:
    given = [str(label) for label in np.atleast_1d(np.asarray(labels))]
    given = given * n if np.ndim(labels) == 0 else given
    if len(given) != n:
        raise ValueError(f"{name}: {len(given)} of them do not fit {n} contacts")
    if unknown := [label for label in given if label not in table]:
        raise ValueError(f"{name}: {unknown[0]!r} is not one of {', '.join(table)}")
    return np.array([table[label] for label in given], np.int64)


def friction_forces(
    A: ArrayLike,
    b: ArrayLike,
    kind: ArrayLike,
    friction: ArrayLike,
    static_friction: ArrayLike | None = None,
    base: ArrayLike = 0.0,
    *,
    guess: ArrayLike | None = None,
    tolerance: float = 1e-9,
    scale: float | None = None,
) -> FrictionSolution:
    """Forces at N contact points at one time, with Coulomb friction; or impulses, with speeds for accelerations.

    A (2 N, 2 N) [1/kg] = J M^-1 J^T and b (2 N,) [m/s^2], without these forces: rows 2 k along the normal of contact k,
    2 k + 1 along its tangent. kind (N,), or one for all:
      "joint"                  a_n = 0, f_n of either sign, no friction
      "smooth"                 0 <= f_n  perp  a_n >= 0, no friction
      "sticking"               does not slide now: a_t = 0 with |f_t| <= mu_s (f_n + base), or begins to slip
      "sliding+", "sliding-"   slides along or against the tangent, s = 1, -1: f_t = -s mu (f_n + base)
    friction mu and static_friction mu_s >= mu (mu if left out): numbers or (N,). base (N,) [N] >= 0: normal force that
    is there already, which friction counts too. guess (N,): modes to begin with, as `FrictionSolution.mode` has them.

    Every condition is met to tolerance * scale [m/s^2], which is max |b| if left out; f_n >= 0 and the cone as far as
    such a force matters at its own contact, f_n A_nn. Where several solutions exist (redundant contacts, mu_s > mu) one
    is given, and what may stick does so in preference. Sliding contacts with p <= 0 (Painleve) are named. outcome
    "none": no modes were found that meet the conditions; for up to six sticking contacts all were tried.

    Raises ValueError for arrays that do not fit or are not finite, and for unknown words.
    Stewart & Trinkle 1996 (Int. J. Num. Meth. Eng. 39); Anitescu & Potra 1997 (Nonlinear Dynamics 14); for p, Genot &
    Brogliato 1999 (Eur. J. Mech. A 18).
    """
    A, b = checked_matrix(A, b)
    n = len(b) // 2
    kinds = codes("kind", kind, KINDS, n)
    mu = checked_numbers("friction", friction, n, np.zeros(n))
    mu_s = mu if static_friction is None else checked_numbers("static_friction", static_friction, n, mu)
    problem = FrictionProblem(A, b, kinds, mu, mu_s, checked_numbers("base", base, n, np.zeros(n)))
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance: {tolerance:g} is not between 0 and 1")
    if scale is not None and not 0.0 < scale < np.inf:
        raise ValueError(f"scale: {scale:g} is not a positive finite number of m/s^2")
    allowed = float(tolerance) * float(scale if scale is not None else np.abs(b).max(initial=0.0) or 1.0)
    answer, work, lemke_work = new_friction_work(n)
    if guess is None:
        slope = mu * ((kinds == modes.SLIDING_MINUS).astype(float) - (kinds == modes.SLIDING_PLUS))
        p = A.diagonal()[::2] + slope * A.diagonal(1)[::2]
        answer.mode[:] = np.where((p > 0.0) | (slope == 0.0), modes.CLOSED, modes.OPEN)
    else:
        answer.mode[:] = codes("guess", guess, {label: mode for mode, label in MODES.items()}, n)
    outcome, violation, contact = solve_friction(problem, n, allowed, answer, work, lemke_work)
    solved = outcome == SOLVED
    return FrictionSolution(
        force=answer.f.reshape(n, 2) if solved else np.full((n, 2), np.nan),
        acceleration=answer.a.reshape(n, 2) if solved else np.full((n, 2), np.nan),
        mode=tuple(MODES[mode] for mode in answer.mode) if solved else (),
        outcome="solved" if solved else "none",
        violation=violation if solved else np.inf,
        p=answer.p,
        painleve=tuple(int(k) for k in np.flatnonzero(answer.doubt >= PAINLEVE)),
        indeterminate=tuple(int(k) for k in np.flatnonzero(answer.doubt == INDETERMINATE)),
        contact=None if solved or contact < 0 else int(contact),
    )
