"""The cone problem of contacts, as data: u = W p + b with Coulomb's law at each contact.

W = J M J^T: J the contacts' Jacobian, three rows a contact along its normal and two tangents; M the mobility.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import entry
from reference_engine.contact_problems.cone_law import off_law
from reference_engine.contact_problems.cone_sweeps import ARM, BIAS, FRAME, FRICTION, GIVE, NN, Bodies, Contacts
from reference_engine.dense import mul


@entry
def misses(impulse, speed, own, friction, edges, missed):
    """missed (m,): by how much each contact misses the law, m/s."""
    for k in range(friction.shape[0]):
        p, u = impulse[k], speed[k]
        missed[k] = off_law(p[0], p[1], p[2], u[0], u[1], u[2], own[k], friction[k], edges)


def corners(edges: int) -> Array:
    """(edges, 2) unit vectors: the polygon of a friction pyramid; 0 edges: none, for the disc."""
    angle = 2.0 * np.pi * np.arange(edges) / max(1, edges)
    return np.ascontiguousarray(np.stack([elementary.cos(angle), elementary.sin(angle)], axis=1))


@dataclass(frozen=True, eq=False)
class ConeProblem:
    """Of m contacts: W, b and friction, with a pyramid of `edges` edges or, 0, Coulomb's cone."""

    W: sparse.csr_array  # (3 m, 3 m) 1/kg, symmetric, no negative eigenvalue; rows n, t1, t2 of each contact
    b: Array  # (m, 3) m/s, speeds without impulses, the gap's share among them
    friction: Array  # (m,)
    edges: int = 0

    def __post_init__(self) -> None:
        if not sparse.issparse(self.W) or self.W.dtype != np.float64:
            raise ValueError(f"W: {type(self.W).__name__}; a sparse array of float64")
        for name in ("b", "friction"):
            if not isinstance(x := getattr(self, name), np.ndarray) or x.dtype != np.float64:
                raise ValueError(f"{name}: {type(x).__name__}; an array of float64")
        count = len(self.friction)
        if self.W.shape != (3 * count, 3 * count) or self.b.shape != (count, 3):
            raise ValueError(
                f"W, b, friction: {self.W.shape}, {self.b.shape}, {self.friction.shape}; (3 m, 3 m), (m, 3), (m,)"
            )
        if self.edges and (self.edges < 4 or self.edges % 2):
            raise ValueError(f"edges: {self.edges}; 0, or an even number from 4 on")
        if not (np.isfinite(self.W.data).all() and np.isfinite(self.b).all() and (self.friction >= 0.0).all()):
            raise ValueError("W, b, friction: not all finite, or friction below 0")
        if not (self.W.diagonal() > 0.0).all():
            raise ValueError("W: a diagonal entry that is not positive; each contact needs a body that can move")

    @cached_property
    def scale(self) -> float:
        """m/s: the largest speed without impulses, to which residuals are compared."""
        return float(np.abs(self.b).max(initial=0.0)) or 1.0

    @cached_property
    def own(self) -> Array:
        """(m,) 1/kg, the normal entry of each contact's own block of W."""
        return np.ascontiguousarray(self.W.diagonal()[::3])

    @cached_property
    def rows(self) -> tuple[Indices, Indices, Array, Array]:
        """W in rows of 3 by 3 blocks: where each begins (m + 1,), columns, blocks; and NN to S22 of cone_sweeps."""
        W = self.W.tobsr((3, 3))
        W.sum_duplicates()
        first, column, block = W.indptr.astype(np.int64), W.indices.astype(np.int64), np.ascontiguousarray(W.data)
        at = np.flatnonzero(column == np.repeat(np.arange(len(self.b)), np.diff(first)))
        nn, n1, n2 = block[at, 0, 0], block[at, 0, 1], block[at, 0, 2]
        s11, s12, s22 = block[at, 1, 1] - n1 * n1 / nn, block[at, 1, 2] - n1 * n2 / nn, block[at, 2, 2] - n2 * n2 / nn
        return first, column, block, np.ascontiguousarray(np.stack([nn, n1, n2, s11, s12, s22], axis=1))

    @cached_property
    def entries(self) -> tuple[Indices, Indices, Array]:
        """The blocks of W, row by row: row (N,), column (N,), block (N, 3, 3)."""
        first, column, block, _ = self.rows
        return np.repeat(np.arange(len(self.b)), np.diff(first)), column, block

    @cached_property
    def polygon(self) -> Array:
        return corners(self.edges)

    def speeds(self, impulse: Array) -> Array:
        """(m, 3) u = W p + b."""
        return (mul(self.W, impulse.ravel())).reshape(-1, 3) + self.b

    def misses(self, impulse: Array, speed: Array | None = None) -> Array:
        """(m,) m/s by which each contact misses the law: the natural map, times its own W."""
        u = self.speeds(impulse) if speed is None else speed
        missed = np.empty(len(self.b))
        misses(np.ascontiguousarray(impulse), np.ascontiguousarray(u), self.own, self.friction, self.polygon, missed)
        return missed

    def residual(self, impulse: Array) -> float:
        """The worst miss, over `scale`."""
        worst = self.misses(impulse).max(initial=0.0)
        return float(worst / self.scale) if np.isfinite(worst) else np.inf


def contact_jacobian(
    frame: Array, arm: Array, body: Indices, bodies: int, *, slip_turns: bool = True
) -> sparse.csr_array:
    """(3 m, 6 B): speeds of m contacts along their frames (m, 3, 3), of arms (m, 2, 3), for the twists of the bodies.

    body (m, 2): from number `bodies` on, what does not move. Without slip_turns tangents know no spin.
    """
    count = len(body)
    turn = np.cross(arm[:, :, None], frame[:, None])  # (m, 2, 3, 3): r x e
    if not slip_turns:
        turn[:, :, 1:] = 0.0
    blocks = np.concatenate([np.broadcast_to(frame[:, None], turn.shape), turn], axis=3)
    blocks = blocks * np.array([-1.0, 1.0])[:, None, None]
    rows = np.broadcast_to(3 * np.arange(count)[:, None, None, None] + np.arange(3)[:, None], blocks.shape)
    columns = np.broadcast_to(6 * body[:, :, None, None] + np.arange(6), blocks.shape)
    moves = np.broadcast_to((body < bodies)[:, :, None, None], blocks.shape)
    made = sparse.coo_array((blocks[moves], (rows[moves], columns[moves])), shape=(3 * count, 6 * bodies))
    return made.tocsr()


def rigid_mobility(inverse_mass: Array, inverse_inertia: Array) -> sparse.csr_array:
    """(6 B, 6 B) 1/m (B,) and I^-1 (B, 3, 3) of each body, world axes."""
    count = len(inverse_mass)
    blocks = np.zeros((count, 6, 6))
    blocks[:, (0, 1, 2), (0, 1, 2)] = inverse_mass[:, None]
    blocks[:, 3:, 3:] = inverse_inertia
    return sparse.bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(6 * count, 6 * count)).tocsr()


def cone_problem(contacts: Contacts, bodies: Bodies, free: Array, count: int, edges: int = 0) -> ConeProblem:
    """The problem of the first `count` contacts; free (B + 1, 6) twists without impulses."""
    row = contacts.row[:count]
    frame, arm = row[:, FRAME:ARM].reshape(-1, 3, 3), row[:, ARM:NN].reshape(-1, 2, 3)
    J = contact_jacobian(frame, arm, contacts.body[:count], len(bodies.inverse_mass) - 1)
    b = (mul(J, free[:-1].ravel())).reshape(-1, 3)
    b += row[:, BIAS:GIVE]
    give = np.zeros((count, 3))
    give[:, 0] = row[:, GIVE]
    xx, yy, zz, xy, xz, yz = bodies.inverse_inertia[:-1].T
    inverse_inertia = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)
    W = mul(mul(J, rigid_mobility(bodies.inverse_mass[:-1], inverse_inertia)), J.T) + sparse.diags_array(give.ravel())
    return ConeProblem(W.tocsr(), b, row[:, FRICTION].copy(), edges)
