"""Newton's methods for the cone problem of contacts: one that finishes what is nearly solved, one from anywhere.

`newton`, on the natural map of Coulomb's law: Alart & Curnier 1991 (Comput. Methods Appl. Mech. Eng. 92). With
y = p - u / w, w the contact's own normal entry of W:

    F_n = p_n - max(0, y_n),     F_t = p_t - (nearest point to y_t of max(0, p_n) mu D).

Each round takes F for linear: open where y_n <= 0, sticking where y_t is inside, slipping else. Few rounds where the
active set is identified; no promise far away, where its steps may be anything.

`interior`, for heaps, where Gauss-Seidel's sweeps grow without end: De Saxce & Feng 1998 (Math. Comput. Model. 28).
With u^ = u + mu |u_t| n Coulomb's law is one complementarity on the friction cone K:  p in K, u^ in its dual cone,
p . u^ = 0. Newton's method follows

    p, u^ strictly inside,   p o u^ = sigma   as sigma goes to 0,   u^ = W p + b + mu s n,   s = |u_t| made smooth

with the derivative of s in its matrix: left out, s lags behind and most heaps take hundreds of rounds. Cone: Nesterov &
Todd's scaling, steps by Mehrotra's prediction and correction (Vandenberghe 2010, "The CVXOPT linear and quadratic cone
program solvers"). The pyramid is the linear complementarity problem of Anitescu & Potra 1997 (Nonlinear Dynamics 14).
Either way a round solves (H + (1 + ds) W) dp = r with H block diagonal. Some 10 to 25 rounds, whatever the heap.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from reference_engine.array_types import Array, Flags
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.dense import inverse, mul, norm, solve
from reference_engine.elementary import cubed, squared

REGULAR = 1e-11  # of a contact's own W, added: redundant contacts share as they come
DENSE = 40  # contacts, up to which the matrices are full
HALVINGS = 4
PIVOT = 0.01  # of the column's largest entry, from which on the diagonal one is taken


def factors(A: sparse.csr_array) -> Callable[[Array], Array]:
    """Solves with a matrix whose pattern is symmetric: half the fill and time of any pattern's."""
    transposed = sparse.csc_array((A.data, A.indices, A.indptr), shape=A.shape)
    of = splu(transposed, "MMD_AT_PLUS_A", diag_pivot_thresh=PIVOT, options={"SymmetricMode": True})
    return lambda right: of.solve(right, "T")


def friction_share(problem: ConeProblem, y: Array, p: Array) -> tuple[Flags, Array, Array, Array]:
    """Who slips; then for all: the nearest point to y_t, its derivative by y_t (m, 2, 2), that by p_n (m, 2)."""
    mu, radius = problem.friction, problem.friction * np.maximum(0.0, p[:, 0])
    polygon = problem.polygon
    if len(polygon) == 0:
        length = np.linalg.norm(y[:, 1:], axis=1)
        slips = length > radius
        out = y[:, 1:] / np.maximum(length, 1e-300)[:, None]
        across = np.eye(2) - out[:, :, None] * out[:, None, :]
        turn = (radius / np.maximum(length, 1e-300))[:, None, None] * across
        return slips, radius[:, None] * out, turn, mu[:, None] * out
    middle = 0.5 * (polygon + np.roll(polygon, -1, axis=0))
    half = 0.5 * (np.roll(polygon, -1, axis=0) - polygon)
    at = np.argmax(mul(y[:, 1:], middle.T), axis=1)
    e, f = middle[at], half[at]
    slips = np.einsum("ki,ki->k", y[:, 1:], e) > radius * (squared(e)).sum(axis=1)
    along = np.einsum("ki,ki->k", y[:, 1:], f) / (squared(f)).sum(axis=1)
    free = np.abs(along) < radius
    along = np.clip(along, -radius, radius)
    turn = np.where(free[:, None, None], f[:, :, None] * f[:, None, :] / (squared(f)).sum(axis=1)[:, None, None], 0.0)
    corner = np.where(free, 0.0, np.sign(along))
    return slips, radius[:, None] * e + along[:, None] * f, turn, mu[:, None] * (e + corner[:, None] * f)


def newton_step(problem: ConeProblem, p: Array, u: Array) -> Array:
    count, w = len(p), problem.own[:, None]
    y = p - u / w
    open_ = y[:, 0] <= 0.0
    slips, nearest, turn, lift = friction_share(problem, y, p)
    slips &= ~open_
    of_p, of_u, miss = np.zeros((count, 3, 3)), np.zeros((count, 3, 3)), u.copy()
    of_u[~open_] = np.eye(3)
    # What slips: own W times F_t, so that its rows have the size of speeds
    of_p[slips, 1:, 1:] = (w[:, :, None] * (np.eye(2) - turn))[slips]
    of_p[slips, 1:, 0] = -(w * lift)[slips]
    of_u[slips, 1:, 1:] = turn[slips]
    miss[slips, 1:] = (w * (p[:, 1:] - nearest))[slips]
    change = np.where(open_[:, None], -p, 0.0)
    closed = np.flatnonzero(~open_)
    if len(closed):
        change_of_u = (mul(problem.W, change.ravel())).reshape(-1, 3)
        right = -(miss + np.einsum("kij,kj->ki", of_u, change_of_u))[closed].ravel()
        A = closed_block(problem, of_p, of_u, ~open_)
        step = solve(A.toarray(), right) if len(closed) <= DENSE else factors(A.tocsr())(right)
        change[closed] = step.reshape(-1, 3)
    return change


def closed_block(problem: ConeProblem, of_p: Array, of_u: Array, closed: Flags) -> sparse.bsr_array:
    """of_p + of_u W, made a little regular, without the rows and columns of what is open."""
    row, column, block = problem.entries
    within = np.flatnonzero(closed[row] & closed[column])
    row, column = row[within], column[within]
    entry = mul(of_u[row], block[within])
    own = of_p + (REGULAR * problem.own)[:, None, None] * of_u
    entry[row == column] += own[closed]
    number = np.cumsum(closed) - 1
    begins = np.append(0, np.cumsum(np.bincount(number[row], minlength=int(number[-1]) + 1)))
    return sparse.bsr_array((entry, number[column], begins), shape=(3 * len(begins) - 3,) * 2)


def newton(
    problem: ConeProblem, start: Array, tolerance: float, rounds: int, patience: int = 1000
) -> tuple[Array, float, int]:
    """(impulses (m, 3), their residual, rounds); ends where it is solved or a step does not help.

    And after `patience` rounds that have not halved the misses: a round costs as much as a hundred sweeps.
    """
    p, u = start, problem.speeds(start)
    missed = problem.misses(p, u)
    for done in range(rounds):
        if missed.max(initial=0.0) <= tolerance * problem.scale:
            return p, float(missed.max(initial=0.0) / problem.scale), done
        try:
            step = newton_step(problem, p, u)
        except (RuntimeError, np.linalg.LinAlgError):  # exactly singular
            break
        fraction, merit, best = 1.0, float(norm(missed)), np.inf
        for _ in range(HALVINGS):
            tried = p + fraction * step
            speed = problem.speeds(tried)
            off = problem.misses(tried, speed)
            size = float(norm(off))
            if size < best:
                best, following = size, (tried, speed, off)
            if size <= (1.0 - 0.1 * fraction) * merit:
                break
            fraction *= 0.5
        if not best < np.inf or (done >= 2 and best > 100.0 * merit):
            break
        p, u, missed = following
        patience -= best > 0.5 * merit
        if patience < 0:
            break
    return p, float(missed.max(initial=0.0) / problem.scale), rounds


Rounds = Iterator[tuple[Array, float, int]]

LEAST_FRICTION = 1e-3  # a cone has an inside; what is nearer to none is finished by Newton's method
SIGNS = np.array([1.0, -1.0, -1.0])
STAY_INSIDE = 0.99  # of the way to the cone's surface
NEAR_FACE = 0.3  # the last step was shorter: then the next one leads away from the surface
CENTRING = 0.8
STALLED = 0.02  # steps shorter than this lead nowhere


def interior(problem: ConeProblem, targets: tuple[float, ...], rounds: int = 60, calm: float = 0.01) -> Rounds:
    """(impulses (m, 3), residual, rounds), the best found, each time that the residual falls below the next target;
    once more at the end, where the steps get stuck.

    calm: the least share of sigma that is kept in a round; more is slower and surer.
    """
    mu = np.maximum(problem.friction, LEAST_FRICTION)
    cone = Pyramid(problem, mu) if problem.edges else Disc(problem, mu)
    best, least, short, ahead = cone.impulse, np.inf, 0, list(targets)
    for done in range(rounds):
        p = cone.impulse
        residual = problem.residual(p)
        if residual < least:
            best, least = p, residual
        if ahead and least <= ahead[0]:
            while ahead and least <= ahead[0]:
                ahead.pop(0)
            yield best, least, done
        if short >= 3 or not ahead:
            break
        try:
            with np.errstate(all="ignore"):  # what is not finite ends it
                taken = cone.advance(calm)
        except (RuntimeError, np.linalg.LinAlgError):
            break
        if not np.isfinite(taken):
            break
        short = short + 1 if taken < STALLED else 0
    if ahead:
        yield best, least, done


class Disc:
    """Coulomb's cone, as Lorentz's: x = (mu p_n, p_t), y = (u_n^ / mu, u_t)."""

    def __init__(self, problem: ConeProblem, mu: Array) -> None:
        count = len(mu)
        self.problem, self.mu, self.count = problem, mu, count
        self.by = np.stack([1.0 / mu, np.ones(count), np.ones(count)], axis=1)  # p = by x, y's rows = by u
        row, column, block = problem.entries
        self.block, self.b = block * self.by[row][:, :, None] * self.by[column][:, None, :], self.by * problem.b
        self.weight = float(np.median(problem.own))
        self.x, self.y = np.zeros((count, 3)), np.zeros((count, 3))
        self.x[:, 0], self.y[:, 0] = problem.scale / self.weight, problem.scale
        self.taken = 1.0

    @property
    def impulse(self) -> Array:
        return self.by * self.x

    def advance(self, calm: float) -> float:
        x, y, count = self.x, self.y, self.count
        u = self.by * self.problem.speeds(self.impulse)
        sigma = (x * y).sum() / count
        smooth = 1e-3 * np.sqrt(max(sigma, 0.0) * self.weight)
        s = np.sqrt((squared(u[:, 1:])).sum(axis=1) + squared(smooth))
        missing = u - y
        missing[:, 0] += s
        slope = np.tile(np.eye(3), (count, 1, 1))
        slope[:, 0, 1:] = u[:, 1:] / np.maximum(s, 1e-300)[:, None]
        length_x, length_y = np.sqrt(lorentz(x, x)), np.sqrt(lorentz(y, y))
        unit_x, unit_y = x / length_x[:, None], y / length_y[:, None]
        middle = unit_y + SIGNS * unit_x
        middle /= 2.0 * np.sqrt(0.5 * (1.0 + (unit_x * unit_y).sum(axis=1)))[:, None]
        size = (length_y / length_x)[:, None, None]
        H = size * (2.0 * middle[:, :, None] * middle[:, None, :] - np.diag(SIGNS))
        v = middle.copy()
        v[:, 0] += 1.0
        v /= np.sqrt(2.0 * v[:, 0])[:, None]
        F = np.sqrt(size) * (2.0 * v[:, :, None] * v[:, None, :] - np.diag(SIGNS))
        v = v * SIGNS
        back = (2.0 * v[:, :, None] * v[:, None, :] - np.diag(SIGNS)) / np.sqrt(size)
        level = times(F, x)
        solve = solver(self.problem, mul(slope[self.problem.entries[0]], self.block), H)

        def direction(right: Array) -> tuple[Array, Array]:
            wanted = times(F, divided(level, right))
            dx = solve((wanted - missing).ravel()).reshape(-1, 3)
            return dx, wanted - times(H, dx)

        dx, dy = direction(-product(level, level))
        length = min(1.0, to_surface(x, dx), to_surface(y, dy))
        left = ((x + length * dx) * (y + length * dy)).sum() / count / sigma
        share = max(calm if self.taken >= NEAR_FACE else NEAR_FACE, cubed(min(1.0, left)))
        right = -product(level, level) - product(times(F, dx), times(back, dy))
        right[:, 0] += share * sigma
        dx, dy = direction(right)
        self.taken = min(1.0, STAY_INSIDE * min(to_surface(x, dx), to_surface(y, dy)))
        self.x, self.y = x + self.taken * dx, y + self.taken * dy
        return self.taken


class Pyramid:
    """The friction pyramid, as Anitescu & Potra have it, d_j the corners of the polygon:

    lambda >= 0 perp u_n,   beta_j >= 0 perp gamma + d_j . u_t,   gamma >= 0 perp mu lambda - sum of beta.
    """

    def __init__(self, problem: ConeProblem, mu: Array) -> None:
        count, corners = len(mu), len(problem.polygon)
        self.problem, self.mu, self.count, self.polygon = problem, mu, count, problem.polygon
        self.x = np.full((count, corners + 2), problem.scale / float(np.median(problem.own)))  # lambda, beta, gamma
        self.w = np.full((count, corners + 2), problem.scale)
        self.x[:, 1:-1] *= 0.5 * mu[:, None] / corners
        self.x[:, -1] = problem.scale
        self.w[:, -1] = 0.5 * mu * self.x[:, 0]
        self.taken = 1.0

    @property
    def impulse(self) -> Array:
        return np.concatenate([self.x[:, :1], mul(self.x[:, 1:-1], self.polygon)], axis=1)

    def demands(self, u: Array, x: Array) -> Array:
        """(m, corners + 2): what w is to be."""
        beside = x[:, -1:] + mul(u[:, 1:], self.polygon.T)
        left = self.mu * x[:, 0] - x[:, 1:-1].sum(axis=1)
        return np.concatenate([u[:, :1], beside, left[:, None]], axis=1)

    def advance(self, calm: float) -> float:
        x, w, D, mu, count = self.x, self.w, self.polygon, self.mu, self.count
        missing = self.demands(self.problem.speeds(self.impulse), x) - w
        sigma = (x * w).mean()
        r = x / w
        a, r_beta, g = r[:, 0], r[:, 1:-1], r[:, -1]
        rho = mul(r_beta, D)
        share = g / (1.0 + g * r_beta.sum(axis=1))
        N = np.zeros((count, 3, 3))  # dp = known - N du
        N[:, 0, 0] = a
        N[:, 1:, 0] = rho * (share * mu * a)[:, None]
        N[:, 1:, 1:] = (
            np.einsum("kj,ji,jl->kil", r_beta, D, D) - share[:, None, None] * rho[:, :, None] * rho[:, None, :]
        )
        H: Array = inverse(N)
        solve = solver(self.problem, self.problem.entries[2].copy(), H)

        def direction(right: Array) -> tuple[Array, Array]:
            """Of x dw + w dx = right, dw = demands(du, dx) + missing."""
            known = right / w - r * missing
            c, total = known[:, 1:-1], known[:, 1:-1].sum(axis=1)
            fixed = (known[:, -1] + g * total - g * mu * known[:, 0]) / (1.0 + g * r_beta.sum(axis=1))
            first = np.concatenate([known[:, :1], mul(c, D) - rho * fixed[:, None]], axis=1)
            dp = solve(times(H, first).ravel()).reshape(-1, 3)
            du = (mul(self.problem.W, dp.ravel())).reshape(-1, 3)
            dx = np.empty_like(x)
            dx[:, 0] = known[:, 0] - a * du[:, 0]
            dx[:, -1] = fixed + share * (mu * a * du[:, 0] - (rho * du[:, 1:]).sum(axis=1))
            dx[:, 1:-1] = c - r_beta * (dx[:, -1:] + mul(du[:, 1:], D.T))
            return dx, self.demands(du, dx) + missing

        dx, dw = direction(-x * w)
        length = min(1.0, to_zero(x, dx), to_zero(w, dw))
        left = ((x + length * dx) * (w + length * dw)).mean() / sigma
        if self.taken < NEAR_FACE:  # to the middle first
            dx, dw = direction(CENTRING * sigma - x * w)
        else:
            dx, dw = direction(max(calm, cubed(min(1.0, left))) * sigma - x * w - dx * dw)
        self.taken = min(1.0, STAY_INSIDE * min(to_zero(x, dx), to_zero(w, dw)))
        self.x, self.w = x + self.taken * dx, w + self.taken * dw
        return self.taken


def solver(problem: ConeProblem, block: Array, H: Array) -> Callable[[Array], Array]:
    """Of the matrix of a round, its blocks where W has them and H added on the diagonal."""
    row, column, _ = problem.entries
    block[row == column] += H
    A = sparse.bsr_array((block, column, problem.rows[0]), shape=problem.W.shape)
    if len(H) > DENSE:
        return factors(A.tocsr())
    full = inverse(A.toarray())
    return lambda right: np.asarray(mul(full, right))


def times(A: Array, x: Array) -> Array:
    return np.einsum("kij,kj->ki", A, x)


def lorentz(a: Array, b: Array) -> Array:
    return np.maximum(a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1] - a[:, 2] * b[:, 2], 1e-300)


def product(a: Array, b: Array) -> Array:
    """Jordan's product of the Lorentz cone."""
    first = (a * b).sum(axis=1, keepdims=True)
    return np.concatenate([first, a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:]], axis=1)


def divided(a: Array, b: Array) -> Array:
    """x with product(a, x) = b."""
    first = (a * SIGNS * b).sum(axis=1, keepdims=True) / lorentz(a, a)[:, None]
    return np.concatenate([first, (b[:, 1:] - a[:, 1:] * first) / a[:, :1]], axis=1)


def to_surface(x: Array, dx: Array) -> float:
    """The largest t with all x + t dx in the Lorentz cone."""
    a = squared(dx[:, 0]) - (squared(dx[:, 1:])).sum(axis=1)
    b = x[:, 0] * dx[:, 0] - (x[:, 1:] * dx[:, 1:]).sum(axis=1)
    c = lorentz(x, x)
    inner = b * b - a * c
    with np.errstate(all="ignore"):
        q = -(b + np.where(b >= 0.0, 1.0, -1.0) * np.sqrt(np.maximum(inner, 0.0)))
        roots = np.stack([q / a, c / q])
        tip = -x[:, 0] / dx[:, 0]
    roots = np.where((inner >= 0.0) & np.isfinite(roots) & (roots > 0.0), roots, np.inf)
    tip = np.where((dx[:, 0] < 0.0) & np.isfinite(tip), tip, np.inf)
    return float(min(roots.min(initial=np.inf), tip.min(initial=np.inf)))


def to_zero(x: Array, dx: Array) -> float:
    falling = dx < 0.0
    return float((-x[falling] / dx[falling]).min(initial=np.inf))
