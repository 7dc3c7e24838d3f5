"""Contacts at one state, along their normals and tangents, and what couples them."""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, pinv
from reference_engine.rotation import matrices, tangents
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import survey_entry
from reference_engine.spatial.layout import Run

GIVES = 1e-12  # of the inverse mass without joints: what is left of it at least
IMMOBILE = 1e-10  # of the inverse mass along a normal without joints: what is none with them


def surveyed(run: Run, y: Array, candidates: list[int]) -> Array:
    """(n, ROW) as of `Work.row`."""
    rows = np.zeros((len(candidates), int(col.ROW)))
    survey_entry(run, y, np.array(candidates, np.int64), rows)
    return rows


def rates_of(rows: Array) -> Array:
    """(n,) m/s, of the gaps."""
    return np.asarray(np.einsum("ki,ki->k", rows[:, col.N : col.RATE_P1], rows[:, col.U : col.FREE]))


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
        mobility = np.zeros((bodies, 6, 6))
        mobility[:, :3, :3] = model.inverse_mass[:, None, None] * np.eye(3)
        mobility[:, 3:, 3:] = np.einsum("bij,bj,bkj->bik", R, model.inverse_inertia, R)
        self.column = np.einsum("bpq,aibq->aibp", mobility, J)
        A = np.einsum("aibp,cjbp->aicj", J, self.column).reshape(3 * len(candidates), 3 * len(candidates))
        self.u = np.einsum("aij,aj->ai", self.Q[:n], u[:n])
        b = np.einsum("aij,aj->ai", self.Q, free)
        b[:n, 0] += np.einsum("ai,ai->a", rows[:n, col.RATE_N : col.INSIDE], u[:n])
        m = 3 * n
        self._by_joints = np.zeros((3 * len(joints), m))
        self._own = np.zeros(0)
        whole = A.diagonal()[:m].copy()
        if joints:
            inner = pinv(A[m:, m:], rcond=1e-12)
            self._by_joints = -mul(inner, A[m:, :m])
            self._own = -mul(inner, b[n:].ravel())
            b = b[:n] + mul(A[:m, m:], self._own).reshape(n, 3)
            A = A[:m, :m] + mul(A[:m, m:], self._by_joints)
        self.A, self.b, self.n = A, b[:n], n
        self.immobile = A.diagonal()[::3] <= IMMOBILE * whole[::3]  # by joints: no force there moves anything
        A[np.diag_indices(m)] = np.maximum(A.diagonal(), GIVES * whole)

    def give(self, run: Run, y: Array, impulse: Array) -> None:
        """Impulses (n, 3) along the frames, with those of joints, change the velocities."""
        every = np.concatenate([impulse.ravel(), mul(self._by_joints, impulse.ravel())]).reshape(-1, 3)
        change = np.einsum("ai,aibp->bp", every, self.column)
        y.reshape(len(change), -1)[:, col.V :] += change
