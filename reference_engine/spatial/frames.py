"""Contacts at one state, along their normals and tangents, and what couples them."""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from reference_engine.rotation import matrices, tangents
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import survey_entry
from reference_engine.spatial.layout import Run

DEPENDS = 1e-7  # of its length: what a row of joints has of its own, beside those before it; less is none
GIVES = 1e-12  # of the inverse mass without joints: what is left of it at least
SEARCHED = 1e-3  # of the way that forces may take
IMMOBILE = 1e-10  # of the inverse mass along a normal without joints: what is none with them


def surveyed(run: Run, y: Array, candidates: list[int]) -> Array:
    """(n, ROW) as of `Work.row`."""
    rows = np.zeros((len(candidates), int(col.ROW)))
    survey_entry(run, y, np.array(candidates, np.int64), rows)
    return rows


def rates_of(rows: Array) -> Array:
    """(n,) m/s, of the gaps."""
    return np.asarray(np.einsum("ki,ki->k", rows[:, col.N : col.RATE_P1], rows[:, col.U : col.FREE]))


def orthonormal(rows: Array, values: Array) -> tuple[Array, Array]:
    """(basis (r, k), x (r,)): orthonormal rows, and the shortest of the vectors that have these values along the rows
    given is basis^T x. By Gram and Schmidt's method, each row made orthogonal twice (Giraud, Langou & Rozloznik 2005).
    """
    basis, x, r = np.zeros_like(rows), np.zeros(len(rows)), 0
    for row, value in zip(rows, values):
        length = norm(row)
        for _ in range(2):
            share = mul(basis[:r], row)
            row, value = row - mul(share, basis[:r]), value - mul(share, x[:r])
        own = norm(row)
        if own > DEPENDS * length:
            basis[r], x[r] = row / own, value / own
            r += 1
    return basis[:r], x[:r]


def deepest(force: Array, way: Array, friction: Array) -> float:
    """From 0 to 1: how far along `way` (n, 3) forces (n, 3), the normal first, use the least share of their cones.

    The largest share is quasi-convex, so that thirds of an interval are left out in turn.
    """

    def share(step: float) -> float:
        moved = force + step * way
        if (moved[:, 0] <= 0.0).any():
            return np.inf
        return float((np.sqrt(squared(moved[:, 1:]).sum(axis=1)) / (friction * moved[:, 0])).max())

    low, high = 0.0, 1.0
    while high - low > SEARCHED:
        first, second = low + (high - low) / 3.0, high - (high - low) / 3.0
        if share(first) <= share(second):
            high = second
        else:
            low = first
    return low


class Frames:
    """Contacts at one state: frames (rows: normal, two tangents), what couples them, joints taken into account."""

    def __init__(self, run: Run, y: Array, contacts: list[int], joints: list[int]) -> None:
        model, candidates = run.model, [*contacts, *joints]
        rows = surveyed(run, y, candidates)
        n, bodies = len(contacts), len(model.inverse_mass)
        self.normal = rows[:n, col.N : col.RATE_P1]
        self.point = rows[:n, col.C1 : col.C2]
        u, free = rows[:, col.U : col.FREE], rows[:, col.FREE :]
        self.Q = np.tile(np.eye(3), (len(candidates), 1, 1))
        if n:
            self.Q[:n] = np.stack([self.normal, *tangents(self.normal)], axis=1)
        J = np.zeros((len(candidates), 3, bodies, 6))
        x = y.reshape(bodies, -1)[:, :3]
        ids = model.candidate[np.array(candidates, np.int64)]
        every = np.arange(len(candidates))
        for i, sign, at in ((ids[:, col.FIRST], 1.0, col.C1), (ids[:, col.SECOND], -1.0, col.C2)):
            r, Q = rows[:, at : at + 3] - x[i], self.Q
            J[every, :, i, :3] += sign * Q
            for c, d, e in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                J[every, :, i, 3 + c] += sign * (r[:, d, None] * Q[:, :, e] - r[:, e, None] * Q[:, :, d])
        R = matrices(y.reshape(bodies, -1)[:, col.Q : col.V])
        half = np.zeros((bodies, 6, 6))  # with its transpose, the inverse masses
        half[:, :3, :3] = np.sqrt(model.inverse_mass)[:, None, None] * np.eye(3)
        half[:, 3:, 3:] = R * np.sqrt(model.inverse_inertia)[:, None, :]
        L = np.einsum("bpq,aibp->aibq", half, J).reshape(3 * len(candidates), 6 * bodies)
        self.u = np.einsum("aij,aj->ai", self.Q[:n], u[:n])
        b = np.einsum("aij,aj->ai", self.Q, free)
        b[:n, 0] += np.einsum("ai,ai->a", rows[:n, col.RATE_N : col.INSIDE], u[:n])
        m = 3 * n
        L, joined = L[:m], L[m:]
        whole = np.einsum("ik,ik->i", L, L)
        if joints:
            # What the joints leave: L (1 - P), P onto their rows; its square has no negative eigenvalue.
            basis, closing = orthonormal(joined, b[n:].ravel())
            b = b[:n] - mul(mul(L, basis.T), closing).reshape(n, 3)
            for _ in range(2):
                L = L - mul(mul(L, basis.T), basis)
        A = mul(L, L.T)
        self._column = np.einsum("bpq,abq->abp", half, L.reshape(m, bodies, 6))
        self.A, self.b, self.n = A, b[:n], n
        self.L = L  # (3 n, 6 bodies), A = L L^T
        self.immobile = A.diagonal()[::3] <= IMMOBILE * whole[::3]  # by joints: no force there moves anything
        A[np.diag_indices(m)] = np.maximum(A.diagonal(), GIVES * whole)

    def give(self, run: Run, y: Array, impulse: Array) -> None:
        """Impulses (n, 3) along the frames, with those of joints, change the velocities."""
        change = self.moved(impulse)
        y.reshape(len(change), -1)[:, col.V :] += change

    def moved(self, impulse: Array) -> Array:
        """(bodies, 6) m/s and rad/s, by impulses (n, 3) along the frames, with those of joints."""
        return np.asarray(np.einsum("a,abp->bp", impulse.ravel(), self._column))
