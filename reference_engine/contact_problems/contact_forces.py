"""Public: a problem in, forces with their proof out, or why there are none."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Flags
from reference_engine.contact_problems import dantzig
from reference_engine.contact_problems.dantzig import INFEASIBLE
from reference_engine.contact_problems.infeasibility import best_certificate, farkas, least_violation
from reference_engine.contact_problems.lemke import lemke, unit_rows
from reference_engine.dense import eigh, mul, svd
from reference_engine.errors import ContactForceError

METHODS = ("dantzig", "lemke")
ASYMMETRY = 1e-9  # of the largest entry: what round-off leaves between A_ij and A_ji
NUDGES = {"dantzig": (0, 1, 1, 1), "lemke": (0, 0, 0, 1, 1, 1)}  # the attempts of a method; in which b is nudged
TOLERANCES = ((1e-11, 1e-9), (1e-13, 1e-12), (1e-9, 1e-7))  # of Lemke's table, and among joints
POLISHES = 10  # active sets that are tried
CUTS = (1e-9, 1e-11, 1e-13)  # of the largest singular value: combinations of active rows below it are left alone
FORCE_LIMIT = 1e6  # times max(1, |b|) / max |A|: larger forces do not count as forces


Attempt = tuple[Array, Array | None, int]  # force, certificate, pivots


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Contact forces, or the proof that there are none. N contacts and joints."""

    force: Array  # (N,) N along the normals; of an infeasible problem those with the least violation
    acceleration: Array  # (N,) m/s^2 of the gaps, A f + b
    outcome: Literal["solved", "infeasible"]
    violation: float  # the worst breach of a >= 0, f >= 0, a f = 0 (joints: a = 0); if infeasible, of a and f alone
    proven: float  # m/s^2, what no forces below `force_limit` can undercut; 0 if solved
    certificate: Array | None  # (N,) y >= 0 (joints: any sign), sum |y| = 1, with A^T y about 0 and y . b < 0
    force_limit: float  # N, of the proof
    pivots: int
    method: str  # which found it: "dantzig" or "lemke"


def scale_of(b: Array) -> float:
    return max(1.0, float(np.abs(b).max(initial=0.0)))


def violation(A: Array, b: Array, joint: Flags, f: Array, *, strictly: bool = True) -> float:
    """The worst of -a, -f (joints: |a|) and |a f|, in the units of the problem.

    Not strictly: without |a f| where a is no more than round-off.
    """
    if not np.isfinite(f).all():
        return np.inf
    a = mul(A, f) + b
    product = np.abs(a * f)
    if not strictly:
        terms = mul(np.abs(A), np.abs(f)) + np.abs(b)
        product[np.abs(a) <= 4.0 * np.finfo(float).eps * terms] = 0.0
    worst = max(float(-a[~joint].min(initial=0.0)), float(-f[~joint].min(initial=0.0)))
    return max(worst, float(np.abs(a[joint]).max(initial=0.0)), float(product.max(initial=0.0)))


def polished(A: Array, b: Array, joint: Flags, f: Array, allowed: float) -> Array:
    """The best of a few forces near f, each with a = 0 on its active set by least squares.

    The active set is joints and contacts that push; from one to the next those that pull leave, and those join that
    are violated by more than is allowed (a Newton iteration on min(f, a) = 0).
    """
    size, best, least = unit_rows(A), f, violation(A, b, joint, f)
    active = joint | (f > 0.0)
    for _ in range(POLISHES):
        rows = np.flatnonzero(active)
        if not len(rows):
            break
        left, values, right = svd(A[np.ix_(rows, rows)] * size[rows, None] * size[rows])
        tried = f
        for cut in CUTS:  # the sooner, the smaller are the forces that nearly redundant rows work against each other
            kept = values > cut * values[0]
            tried = np.zeros_like(b)
            for _ in range(3):
                step = (mul(left.T[kept], -(mul(A, tried) + b)[rows] * size[rows])) / values[kept]
                tried[rows] += size[rows] * (mul(right.T[:, kept], step))
            pressing_force = np.where(joint, tried, np.maximum(0.0, tried))
            if (now := violation(A, b, joint, pressing_force)) < least:
                best, least = pressing_force, now
            if least <= allowed:
                return best
        following = joint | (tried > 0.0) | (mul(A, pressing_force) + b < -0.5 * allowed)
        if (following == active).all():
            break
        active = following
    return best


def by_dantzig(A: Array, b: Array, joint: Flags, tolerance: float) -> tuple[int, Array, Array | None, int]:
    """(outcome, force, certificate, pivots)."""
    n = len(b)
    f, a, direction = np.zeros(n), np.zeros(n), np.zeros(n)
    clamped, status = np.zeros(n, np.int64), np.where(joint, dantzig.BILATERAL, dantzig.FREE).astype(np.int64)
    outcome, _, count, driven, pivots = dantzig.solve_with_bilateral(
        A, b, n, tolerance, np.zeros((n, n)), direction, clamped, status, a, f
    )
    if outcome == dantzig.INDEFINITE:
        raise ValueError("A: not positive semi-definite; the A of frictionless contacts is, others need method='lemke'")
    y = None
    if outcome == INFEASIBLE:
        y = np.zeros(n)
        y[clamped[:count]] = direction[:count]
        y[driven] = 1.0
        y *= -np.sign(a[driven])
        y[~joint] = np.maximum(0.0, y[~joint])
    return outcome, f, y, pivots


def attempt_at(A: Array, b: Array, joint: Flags, method: str, attempt: int, tolerance: float) -> Attempt:
    """One run of a method: (force, certificate or None, pivots).

    The first ones are at the problem as it stands. In later ones b is nudged by less than the tolerance, upward at
    contacts: off the edge between solvable and not, where redundant contacts contradict each other by round-off. Which
    contacts push is then taken over, and their forces are found anew for b itself.
    """
    allowed = tolerance * scale_of(b)
    chance = np.random.default_rng(attempt).uniform(0.0, 1.0, len(b))
    nudged = b + allowed * NUDGES[method][attempt] * np.where(joint, 0.0, chance)
    if method == "dantzig":
        outcome, f, y, pivots = by_dantzig(A, nudged, joint, tolerance)
    else:
        outcome, f, y, pivots = lemke(
            A, nudged, joint, np.ones(len(b)) if attempt == 0 else 0.1 + chance, *TOLERANCES[attempt % len(TOLERANCES)]
        )
    if outcome != INFEASIBLE and not violation(A, b, joint, f) <= allowed:
        f = polished(A, b, joint, f, allowed)
    return f, y, pivots


def attempts(A: Array, method: str) -> Iterator[tuple[str, int]]:
    """The method as often as it is tried, then the other one if it is for such an A."""
    for name in sorted(METHODS, key=lambda name: name != method):
        if name == method or name == "lemke" or fit_for_dantzig(A):
            for attempt in range(len(NUDGES[name])):
                yield name, attempt


def checked_system(A: ArrayLike, b: ArrayLike, *, symmetric: bool, otherwise: str = "") -> tuple[Array, Array]:
    """A (n, n), of its own and in C order, and b (n,), of finite numbers. Raises ValueError."""
    A, b = np.array(A, np.float64, order="C"), np.array(b, np.float64)
    n = len(b)
    if A.shape != (n, n):
        raise ValueError(f"A: shape {A.shape} does not fit b of length {n}; ({n}, {n}) is wanted")
    for name, array in (("A", A), ("b", b)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: {array[~np.isfinite(array)][0]} is not a finite number")
    if symmetric and np.abs(A - A.T).max(initial=0.0) > ASYMMETRY * np.abs(A).max(initial=0.0):
        i, j = np.unravel_index(np.abs(A - A.T).argmax(), A.shape)
        raise ValueError(f"A: not symmetric, A[{i}, {j}] = {A[i, j]:.9g} and A[{j}, {i}] = {A[j, i]:.9g}{otherwise}")
    return A, b


def one_per_contact(name: str, given: ArrayLike, n: int, *, least: ArrayLike = 0.0, most: float = np.inf) -> Array:
    """(n,) of a number, or of n of them, finite and within these limits. Raises ValueError."""
    array = np.array(given, np.float64)
    array = np.full(n, array) if array.ndim == 0 else array
    if array.shape != (n,):
        raise ValueError(f"{name}: shape {array.shape} is not that of one number or ({n},)")
    least = np.broadcast_to(least, n)
    if len(wrong := np.flatnonzero(~((least <= array) & (array <= most) & (array < np.inf)))):
        k = wrong[0]
        above = f"to {most:g}" if most < np.inf else "up"
        raise ValueError(f"{name}[{k}]: {array[k]:g} is not a finite number from {least[k]:g} {above}")
    return array


def checked(A: ArrayLike, b: ArrayLike, joint: ArrayLike | None, method: str) -> tuple[Array, Array, Flags]:
    if np.ndim(b) != 1:
        raise ValueError(f"b: shape {np.shape(b)} is not that of a vector (N,)")
    if method not in METHODS:
        raise ValueError(f"method: {method!r} is not one of {', '.join(METHODS)}")
    A, b = checked_system(A, b, symmetric=method == "dantzig", otherwise="; method='lemke'")
    flags = np.zeros(len(b), bool) if joint is None else np.ascontiguousarray(joint, bool)
    if flags.shape != b.shape:
        raise ValueError(f"joint: shape {flags.shape} does not fit b of length {len(b)}; ({len(b)},) is wanted")
    return A, b, flags


def contact_forces(
    A: ArrayLike, b: ArrayLike, joint: ArrayLike | None = None, *, method: str = "dantzig", tolerance: float = 1e-9
) -> Solution:
    """Forces f with 0 <= f  perp  a = A f + b >= 0, and a = 0 with f of either sign at joints.

    A (N, N) [1/kg]: acceleration of gap i for a unit of force at contact j; b (N,) [m/s^2]: without contact forces;
    joint (N,): which rows are bilateral. The same problem with impulses has b in m/s and f in N s.

    method "dantzig" is Baraff's, for symmetric positive semi-definite A = J M^-1 J^T: the quick one. The engines have
    their own, for friction and for ContactSim's bits. "lemke" takes any A, as friction makes it, and shares no line
    with it: the independent oracle. Where one of them ends without a solution, the other is tried, and
    `Solution.method` says which it was.

    "solved" means a >= -t, f >= -t, |a f| <= t, and |a| <= t at joints, with t = tolerance max(1, max |b|); a product
    a f above t is let pass where a is no more than the round-off of computing it. Forces of redundant contacts are not
    unique; accelerations of a symmetric A are. "infeasible" means that no forces below 1e6 max(1, max |b|) / max |A|
    come within t, with the certificate that proves it and the forces that come nearest.

    Raises ValueError for arrays that do not fit, are not finite, or are not what the method is for, and
    ContactForceError if neither a solution nor a proof is found.
    Baraff 1994 (SIGGRAPH 94), sec. 4; Lemke 1965; Cottle, Pang & Stone 1992, "The Linear Complementarity Problem".
    """
    A, b, flags = checked(A, b, joint, method)
    tolerance = float(tolerance)
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance: {tolerance:g} is not between 0 and 1")
    allowed = tolerance * scale_of(b)
    limit = FORCE_LIMIT * scale_of(b) / (float(np.abs(A).max(initial=0.0)) or 1.0)
    total, missed, heavy, proven = 0, np.inf, None, -1.0
    for used, attempt in attempts(A, method):
        f, y, pivots = attempt_at(A, b, flags, used, attempt, tolerance)
        total += pivots
        if (missing := violation(A, b, flags, f)) <= allowed:
            return solved(A, b, flags, f, limit, total, used)
        if heavy is None and violation(A, b, flags, f, strictly=False) <= allowed:
            heavy = f, used
        missed = min(missed, missing)
        if proven < 0.0 and heavy is None and (y is not None or attempt == NUDGES[used].index(1) - 1):
            f, least, from_programme = least_violation(A, b, flags, limit)
            certificate, proven = None, 0.0
            if least > allowed:
                candidates = [given for given in (y, farkas(A, b, flags), from_programme) if given is not None]
                certificate, proven = best_certificate(A, b, flags, candidates, limit)
            if proven > allowed:
                return Solution(
                    force=f, acceleration=mul(A, f) + b, outcome="infeasible", violation=least, proven=proven,
                    certificate=certificate, force_limit=limit, pivots=total, method=used,
                )  # fmt: skip
    if heavy is not None:
        return solved(A, b, flags, heavy[0], limit, total, heavy[1])
    raise ContactForceError(
        f"no forces found for {len(b)} contacts: violation {missed:.3e}; {max(0.0, proven):.1e} of it could be proven, "
        f"{allowed:.1e} is allowed", residual=missed,
    )  # fmt: skip


def fit_for_dantzig(A: Array) -> bool:
    """Symmetric and positive semi-definite, but for round-off."""
    largest = float(np.abs(A).max(initial=0.0))
    if np.abs(A - A.T).max(initial=0.0) > ASYMMETRY * largest:
        return False
    return not len(A) or bool(eigh(A)[0][0] >= -1e-12 * len(A) * largest)


def required_forces(A: ArrayLike, b: ArrayLike, joint: ArrayLike | None = None) -> Array:
    """The forces (N,) of `contact_forces`. Raises ContactForceError, with the proof, where there are none."""
    solution = contact_forces(A, b, joint)
    if solution.outcome == "infeasible":
        raise ContactForceError(
            f"no forces exist: none below {solution.force_limit:.1e} N violate less than {solution.proven:.3e} m/s^2",
            residual=solution.violation,
            certificate=solution.certificate,
        )
    return solution.force


def solved(A: Array, b: Array, joint: Flags, f: Array, limit: float, pivots: int, method: str) -> Solution:
    return Solution(
        force=f, acceleration=mul(A, f) + b, outcome="solved", violation=violation(A, b, joint, f), proven=0.0,
        certificate=None, force_limit=limit, pivots=pivots, method=method,
    )  # fmt: skip
