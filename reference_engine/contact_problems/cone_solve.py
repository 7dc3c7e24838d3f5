"""Contact impulses with friction in space: which solver, and the check of what it returns."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from reference_engine.array_types import Array
from reference_engine.contact_problems import lemke
from reference_engine.contact_problems.cone_newton import interior, newton
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.contact_problems.cone_sweeps import sweep_blocks
from reference_engine.dense import mul
from reference_engine.errors import ContactForceError

Method = Literal["default", "gauss-seidel", "newton", "interior", "lemke"]

SPELLS = (60, 1.0), (200, 1.0), (400, 0.7), (800, 0.5)  # sweeps and their share, each before Newton's method may finish
BATCH = 400  # sweeps, after which they should have helped
MANY_SWEEPS = 20_000
ROUNDS = 25  # of Newton's method
FEW_ROUNDS, PATIENCE = 6, 1  # of it, where sweeps are cheaper
HANDED_OVER = 1e-3, 1e-4, 1e-5, 1e-7, 1e-9  # residuals at which the interior point method asks Newton's to finish
FINISHING = 5  # rounds of that
PIVOTED = 60  # contacts, times (edges + 2) / 6: pyramids that Lemke's method is asked for


@dataclass(frozen=True, kw_only=True)
class ConeSolution:
    """impulse, speed (m, 3) along normal and tangents, N s and m/s; residual of problem.scale; which methods ran."""

    impulse: Array
    speed: Array
    residual: float
    method: str
    iterations: int  # of the last of the methods: sweeps, rounds, pivots


def solve_cones(
    problem: ConeProblem, *, method: Method = "default", tolerance: float = 1e-10, enough: float = 0.0,
    start: Array | None = None,
) -> ConeSolution:  # fmt: skip
    """Impulses that meet Coulomb's law at every contact to `tolerance` of problem.scale, whichever way.

    Default: sweeps of Gauss-Seidel from `start` and Newton's method by turns, then sweeps while they help; where
    that does not end, the interior point method and Newton's again; of small pyramids Lemke's; Newton's from nothing;
    at last many sweeps.
    `enough`: what is taken, too, where those came no nearer; redundant contacts at the edges of their cones, at rest,
    are such: Newton's method converges slowly there. Before the many sweeps, which would not help.
    Raises ContactForceError, with the residual, if none of them gets there; ValueError for an unknown method.
    """
    begin = np.zeros_like(problem.b) if start is None else np.array(start, np.float64)
    if begin.shape != problem.b.shape:
        raise ValueError(f"start: shape {begin.shape}; {problem.b.shape}")
    if not np.isfinite(begin).all():
        raise ValueError(f"start: {begin[~np.isfinite(begin)][0]}; finite numbers")
    if not 0.0 < tolerance < np.inf:
        raise ValueError(f"tolerance: {tolerance}; positive")
    plan = {
        "default": (sweeps_and_newton, while_it_helps, interior_then_newton, calmly, pivoted, afresh, patiently),
        "gauss-seidel": (lambda p, x, t: gauss_seidel(p, x, t, MANY_SWEEPS),),
        "newton": (lambda p, x, t: ("newton", *newton(p, x, t, 4 * ROUNDS)),),
        "interior": (interior_then_newton,),
        "lemke": (lambda p, x, t: ("lemke", *by_lemke(p)),),
    }
    if method not in plan:
        raise ValueError(f"method: {method!r}; {', '.join(plan)}")
    ran, least = [], np.inf
    for attempt in plan[method]:
        if least <= (enough if attempt is patiently else tolerance):
            break
        name, impulse, residual, iterations = attempt(problem, begin, tolerance)
        if not name:
            continue
        ran.append(name)
        if residual < least:
            begin, least, last = impulse, residual, iterations
    if least <= max(tolerance, enough):
        return ConeSolution(
            impulse=begin, speed=problem.speeds(begin), residual=least, method=" + ".join(ran), iterations=last
        )
    raise ContactForceError(
        f"{len(problem.b)} contacts: {', '.join(ran)} ended with a residual of {least:.3g}; allowed: {tolerance:.3g}",
        residual=least,
    )


Attempt = tuple[str, Array, float, int]


def gauss_seidel(problem: ConeProblem, start: Array, tolerance: float, sweeps: int, share: float = 1.0) -> Attempt:
    impulse = start.copy()
    first, column, block, own = problem.rows
    done, missed = sweep_blocks(
        first, column, block, problem.b, own, problem.friction, problem.polygon, impulse, np.zeros(len(impulse)),
        sweeps, tolerance * problem.scale, share,
    )  # fmt: skip
    return "gauss-seidel", impulse, float(missed) / problem.scale, int(done)


def sweeps_and_newton(problem: ConeProblem, start: Array, tolerance: float) -> Attempt:
    """By turns, until either gets there; a few rounds of Newton's method show whether the active set is right."""
    best, begin = ("gauss-seidel", start, np.inf, 0), start
    for sweeps, share in SPELLS:
        swept = gauss_seidel(problem, begin, tolerance, sweeps, share)
        best, begin = min(best, swept, key=lambda attempt: attempt[2]), swept[1]
        if swept[2] <= tolerance:
            return swept
        impulse, residual, rounds = newton(problem, begin, tolerance, FEW_ROUNDS, PATIENCE)
        if residual <= tolerance:
            return "gauss-seidel + newton", impulse, residual, rounds
    return best


def while_it_helps(problem: ConeProblem, start: Array, tolerance: float) -> Attempt:
    """More sweeps, as long as each batch of them halves the residual."""
    total, best = 0, ("gauss-seidel", start, problem.residual(start), 0)
    while True:
        _, impulse, residual, done = gauss_seidel(problem, best[1], tolerance, BATCH)
        total += done
        helps = residual <= 0.5 * best[2] and residual < np.inf
        if residual <= best[2]:
            best = "gauss-seidel", impulse, residual, total
        if residual <= tolerance or not helps:
            return best


def interior_then_newton(problem: ConeProblem, start: Array, tolerance: float, calm: float = 0.0) -> Attempt:
    least = "interior", start, np.inf, 0
    targets = (*(target for target in HANDED_OVER if target > tolerance), tolerance)
    for impulse, residual, rounds in interior(problem, targets, calm=calm or (0.1 if problem.edges else 0.01)):
        if residual <= tolerance:
            return "interior", impulse, residual, rounds
        finished, finer, _ = newton(problem, impulse, tolerance, FINISHING)
        for p, r in ((impulse, residual), (finished, finer)):
            if r < least[2]:
                least = "interior", p, r, rounds
        if least[2] <= tolerance:
            break
    return least


calmly = partial(interior_then_newton, calm=0.3)


def pivoted(problem: ConeProblem, start: Array, tolerance: float) -> Attempt:
    if not problem.edges or len(problem.b) * (problem.edges + 2) > 6 * PIVOTED:
        return "", start, np.inf, 0
    impulse, residual, pivots = by_lemke(problem)
    if tolerance < residual < np.inf:
        impulse, residual, _ = newton(problem, impulse, tolerance, ROUNDS)
    return "lemke", impulse, residual, pivots


def afresh(problem: ConeProblem, start: Array, tolerance: float) -> Attempt:
    """Newton's method from nothing: what others found may lie where two contacts share what either could carry."""
    impulse, residual, rounds = newton(problem, np.zeros_like(start), tolerance, 4 * ROUNDS)
    return "newton", impulse, residual, rounds


def patiently(problem: ConeProblem, start: Array, tolerance: float) -> Attempt:
    """Many sweeps, Newton's method now and then, from the best so far; a pyramid from the cone's answer too."""
    best = "gauss-seidel + newton", start, np.inf, 0
    begin = start
    if problem.edges:
        round_one = ConeProblem(problem.W, problem.b, problem.friction)
        begin = interior_then_newton(round_one, start, tolerance)[1]
    for sweeps in (100, 300, 1000, 3000, 10_000):
        swept = gauss_seidel(problem, begin, tolerance, sweeps)
        begin = swept[1]
        impulse, residual, rounds = newton(problem, begin, tolerance, ROUNDS)
        if residual <= tolerance:
            return "gauss-seidel + newton", impulse, residual, rounds
        best = min(best, swept, key=lambda attempt: attempt[2])
    return best


class PyramidLCP(NamedTuple):
    """The friction pyramid as 0 <= x perp A x + b >= 0; impulses (3 m,) = spread x. All lambda, all beta, all gamma.

    Anitescu & Potra 1997 (Nonlinear Dynamics 14), with the torque of friction; x = (lambda, beta, gamma):

      0 <= lambda  perp  u_n,    0 <= beta_j  perp  gamma + d_j . u_t,    0 <= gamma  perp  mu lambda - sum of beta

    u = W p + b, p = (lambda, sum of beta_j d_j). Its matrix is copositive: where no gap is asked for that impulses
    cannot give, Lemke's method always ends with a solution.
    """

    A: sparse.csr_array
    b: Array
    spread: sparse.csr_array


def pyramid_lcp(problem: ConeProblem) -> PyramidLCP:
    """gamma is in units of impulses: W's mean is multiplied in, so that all rows have one size."""
    count, corners = len(problem.friction), problem.edges
    if not corners:
        raise ValueError("edges: 0; Coulomb's cone is no linear complementarity problem, a pyramid from 4 edges on is")
    k, size = np.arange(count), float(problem.own.mean())
    rows = np.concatenate([3 * k, *(np.repeat(3 * k + i, corners) for i in (1, 2))])
    columns = np.concatenate([k, np.tile(count + corners * k[:, None] + np.arange(corners), (2, 1, 1)).ravel()])
    values = np.concatenate(
        [np.ones(count), np.tile(problem.polygon[:, 0], count), np.tile(problem.polygon[:, 1], count)]
    )
    spread = sparse.csr_array((values, (rows, columns)), shape=(3 * count, count * (corners + 1)))
    ones = sparse.kron(sparse.eye_array(count), np.ones((corners, 1)))
    to_gamma = sparse.vstack([sparse.csr_array((count, count)), ones])
    of_gamma = sparse.hstack([sparse.diags_array(problem.friction), -ones.T])
    A = sparse.block_array([[mul(mul(spread.T, problem.W), spread), size * to_gamma], [size * of_gamma, None]]).tocsr()
    b = np.concatenate([mul(spread.T, problem.b.ravel()), np.zeros(count)])
    wide = sparse.hstack([spread, sparse.csr_array((3 * count, count))]).tocsr()
    return PyramidLCP(A, b, wide)


def by_lemke(problem: ConeProblem) -> tuple[Array, float, int]:
    """(impulses (m, 3), residual, pivots); cubic in the number of contacts."""
    lcp = pyramid_lcp(problem)
    n = len(lcp.b)
    scale = 1.0 / problem.own.mean()
    b, A = lcp.b / problem.scale, lcp.A.toarray() * scale
    outcome, pivots, _, table, basic, _ = lemke.pivoted(b, A, np.ones(n), lemke.STILL)
    x = np.zeros(2 * n + 1)
    x[basic] = table[:, 0]
    p = (mul(lcp.spread, np.maximum(0.0, x[n : 2 * n]))).reshape(-1, 3) * problem.scale * scale
    return p, problem.residual(p) if outcome == lemke.SOLVED else np.inf, int(pivots)
