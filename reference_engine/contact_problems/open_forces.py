"""Whether other contact forces obey all laws as well, and move the bodies otherwise.

Of a box that slides on four corners any share of one diagonal's normal forces can be on the other's: it stays on the
plane. Friction goes with it, from corner to corner, where it has another direction if the box spins, too; so the box
goes another way. With all modes given, forces are linear in what they leave open, the normal force of what slides and
all of what sticks: f = E p. What keeps the accelerations that the modes fix differs by the null space of the rows that
say so; what of it does not vanish under the transposed rows moves bodies.
"""

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.dense import mul, norm, svd
from reference_engine.elementary import cos, sin

FREE = 1e-9  # of the largest singular value: what counts as none
SPREAD = 1e-9  # of what all contact forces do: a difference that counts
SIDES = 16  # of a polygon within a friction cone
MOST = 1e3  # times the largest force: where wedged bodies press on one another without a limit


def open_forces(rows: Array, friction: Array, slides: Array, force: Array, closed: Flags) -> tuple[Array, Array] | None:
    """Two sets of forces (n, 3) that obey the same laws as these, as far apart in what they do as was found, or None.

    rows (3 n, m): of each contact's normal and two tangents, so that forces f accelerate the contacts by
    rows rows^T f, and the bodies, in the norm of kinetic energy, by rows^T f; friction (n,); slides (n, 2): unit
    vectors, or 0 where a contact does not slide; force (n, 3), a set that obeys them; closed (n,): whose gaps are 0 and
    do not open. Cones are taken as polygons within them: the two may be farther apart.
    """
    n, sliding = len(force), slides.any(axis=1)
    sticking = closed & ~sliding & (friction > 0.0)
    if not (closed & sliding & (friction > 0.0)).any():
        return None
    normal = 3 * np.flatnonzero(closed)
    across = np.sort(np.concatenate([3 * np.flatnonzero(sticking) + 1, 3 * np.flatnonzero(sticking) + 2]))
    E = np.zeros((3 * n, len(normal) + len(across)))
    E[normal, np.arange(len(normal))] = 1.0
    for c in (0, 1):
        E[normal + 1 + c, np.arange(len(normal))] = -friction[closed] * slides[closed, c]
    E[across, len(normal) + np.arange(len(across))] = 1.0
    given = force.ravel()[np.concatenate([normal, across])]
    K = mul(rows.T, E)
    N = _null_space(mul(rows[np.concatenate([normal, across])], K))
    _, moves, ways = svd(mul(K, N))
    least = SPREAD * norm(mul(rows.T, force.ravel()))
    largest = float(np.abs(force).max())
    limits = _admissible(E, N, given, friction, closed, sticking)
    for size, way in zip(moves, ways):
        if size * MOST * largest <= least:
            break
        one, other = (_furthest(sign * way, limits, MOST * largest) for sign in (1.0, -1.0))
        if size * float(mul(way, one - other)) > least:
            return tuple(mul(E, given + mul(N, z)).reshape(n, 3) for z in (one, other))
    return None


def _null_space(C: Array) -> Array:
    """(p, d) of C (r, p): orthonormal columns."""
    rows, columns = C.shape
    _, values, V = svd(np.vstack([C, np.zeros((max(0, columns - rows), columns))]))
    return np.asarray(V[values <= FREE * values.max(initial=0.0)].T)


def _admissible(
    E: Array, N: Array, given: Array, friction: Array, closed: Flags, sticking: Flags
) -> tuple[Array, Array]:
    """(A, b): forces E (given + N z) press and are within polygons in their cones where A z <= b."""
    changes, force = mul(E, N), mul(E, given)
    normal = 3 * np.flatnonzero(closed)
    left, right = [-changes[normal]], [force[normal]]
    first, bound = 3 * np.flatnonzero(sticking), friction[sticking] * cos(np.pi / SIDES)
    for side in range(SIDES):
        angle = 2.0 * np.pi * side / SIDES
        x, y = float(cos(angle)), float(sin(angle))
        left.append(x * changes[first + 1] + y * changes[first + 2] - bound[:, None] * changes[first])
        right.append(bound * force[first] - x * force[first + 1] - y * force[first + 2])
    return np.vstack(left), np.maximum(np.concatenate(right), 0.0)  # what is at an edge stays admissible


def _furthest(way: Array, limits: tuple[Array, Array], most: float) -> Array:
    """The z with A z <= b that is furthest that way, |z| at most that."""
    from scipy.optimize import linprog  # slow to import, and only wanted here

    A, b = limits
    found = linprog(-way, A_ub=A, b_ub=b / most, bounds=(-1.0, 1.0), method="highs")
    return np.asarray(most * found.x) if found.status == 0 else np.zeros_like(way)
