"""Random contact problems A = J M^-1 J^T whose answer is known: solvable from a solution, infeasible from a proof."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Problem(NamedTuple):
    A: Array  # (N, N)
    b: Array  # (N,)
    joint: NDArray[np.bool_]  # (N,)
    a: Array  # (N,) of a solvable problem: its accelerations, which are unique
    y: Array | None = None  # (N,) of an infeasible one: y >= 0 (joints: any sign), A y = 0, b . y < 0


def jacobian(rng: np.random.Generator, n: int) -> Array:
    """(n, D) rows of contacts: between two bodies of three freedoms, dense, or small whole numbers that repeat."""
    kind = rng.integers(3)
    if kind == 0:
        bodies = int(rng.integers(1, max(2, n) + 1))
        J = np.zeros((n, 3 * bodies))
        for row in J:
            first, second = rng.integers(bodies + 1, size=2)  # the last one is the ground
            angle, arm = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-1.0, 1.0, 2)
            for body, sign, lever in ((first, 1.0, arm[0]), (second, -1.0, arm[1])):
                if body < bodies and first != second:
                    row[3 * body : 3 * body + 3] = sign * np.array([np.cos(angle), np.sin(angle), lever])
        still = ~J.any(axis=1)
        J[still, 1] = 1.0
        return J
    freedoms = int(rng.integers(1, 2 * n + 1))
    if kind == 1:
        return rng.normal(size=(n, freedoms))
    J = rng.integers(-2, 3, size=(n, freedoms)).astype(float)
    J[~J.any(axis=1), 0] = 1.0
    return J


def with_redundant_rows(rng: np.random.Generator, J: Array) -> Array:
    """Some rows become copies of others, or sums of them, or copies off by a little: 1e-10 to 1e-2."""
    J = J.copy()
    for i in range(1, len(J)):
        chance = rng.uniform()
        if chance < 0.1:
            J[i] = J[rng.integers(i)]
        elif chance < 0.2:
            J[i] = rng.uniform(0.1, 1.0, 2) @ J[rng.integers(i, size=2)]
        elif chance < 0.35:
            J[i] = J[rng.integers(i)] + 10.0 ** rng.uniform(-10.0, -2.0) * rng.normal(size=J.shape[1])
        if not J[i].any():
            J[i, 0] = 1.0
    return J


def matrix(rng: np.random.Generator, J: Array) -> Array:
    """J M^-1 J^T, masses from 1e-2 to 1e2 kg; some bodies much heavier than others."""
    decades = rng.choice([0.0, 1.0, 2.0])
    A = (J * 10.0 ** rng.uniform(-decades, decades, J.shape[1])) @ J.T
    return 0.5 * (A + A.T)


def solution(rng: np.random.Generator, joint: NDArray[np.bool_]) -> tuple[Array, Array]:
    """(f, a): half or so of the contacts push, some of the others are just in contact (f = a = 0)."""
    n = len(joint)
    f = np.where(rng.uniform(size=n) < rng.uniform(0.2, 0.9), rng.uniform(0.0, 10.0, n), 0.0)
    a = np.where((f > 0.0) | joint | (rng.uniform(size=n) < 0.2), 0.0, rng.uniform(0.0, 10.0, n))
    return np.where(joint, rng.normal(size=n) * 5.0, f), a


def solvable(rng: np.random.Generator, n: int) -> Problem:
    A = matrix(rng, with_redundant_rows(rng, jacobian(rng, n)))
    joint = rng.uniform(size=n) < rng.choice([0.0, 0.0, 0.3])
    f, a = solution(rng, joint)
    return Problem(A, a - A @ f, joint, a)


def infeasible(rng: np.random.Generator, n: int) -> Problem:
    """A solvable problem in which some contacts squeeze: a combination y of their rows is 0, and y . b < 0.

    By so much that the violation cannot be less than 1e-8 times the largest |b|.
    """
    J = with_redundant_rows(rng, jacobian(rng, n))
    joint = rng.uniform(size=n) < rng.choice([0.0, 0.0, 0.3])
    squeezed = rng.choice(n, size=int(rng.integers(1, min(n, 8) + 1)), replace=False)
    last = squeezed[-1]
    y = np.zeros(n)
    y[squeezed] = np.where(joint[squeezed], rng.choice([-1.0, 1.0], len(squeezed)), 1.0) * rng.uniform(
        0.2, 1.0, len(squeezed)
    )
    y[last] = abs(y[last])
    J[last] = -(y[squeezed[:-1]] @ J[squeezed[:-1]]) / y[last]
    A = matrix(rng, J)
    f, a = solution(rng, joint)
    a[squeezed] = 0.0
    b = a - A @ f
    b[last] -= 10.0 ** rng.uniform(-6.0, 0.0) * max(1.0, np.abs(b).max())
    return Problem(A, b, joint, a, y)
