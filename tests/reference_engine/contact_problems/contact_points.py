"""Planar bodies that touch: A = J M^-1 J^T and b = J a_free, and what forces at their places must fulfil."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

G = 9.81


def rows(arm: tuple[float, float], normal: tuple[float, float]) -> Array:
    """(2, 3) speeds of a point of a body along the normal and the tangent (-n_y, n_x), from (vx, vy, spin)."""
    (x, y), (n_x, n_y) = arm, normal
    return np.array([[n_x, n_y, x * n_y - y * n_x], [-n_y, n_x, x * n_x + y * n_y]])


def jacobian(bodies: int, contacts: list[tuple[int, int, tuple, tuple, tuple]]) -> Array:
    """(2 N, 3 B); a contact is (a, b, arm on a, arm on b, normal from a to b); body -1 is the ground."""
    J = np.zeros((2 * len(contacts), 3 * bodies))
    for k, (a, b, arm_a, arm_b, normal) in enumerate(contacts):
        for body, arm, sign in ((a, arm_a, -1.0), (b, arm_b, 1.0)):
            if body >= 0:
                J[2 * k : 2 * k + 2, 3 * body : 3 * body + 3] += sign * rows(arm, normal)
    return J


def on_the_ground(*corners: tuple[float, float], normal: tuple[float, float] = (0.0, 1.0)) -> Array:
    """(2 N, 3) of one body whose corners touch fixed ground."""
    return jacobian(1, [(-1, 0, (0.0, 0.0), corner, normal) for corner in corners])


def problem(J: Array, mass: Array, inertia: Array, free: Array) -> tuple[Array, Array]:
    """A (2 N, 2 N) and b (2 N,) from masses (B,), inertias (B,) and free accelerations (3 B,)."""
    inverse = 1.0 / np.stack([mass, mass, inertia], 1).ravel()
    return (J * inverse) @ J.T, J @ free


def box_inertia(mass: Array, w: float, h: float) -> Array:
    return mass * (w * w + h * h) / 12.0


def stack(mass: Array, w: float = 1.0, h: float = 1.0, slope: float = 0.0) -> tuple[Array, Array]:
    """Boxes on one another, each on its two lower corners; the x axis runs down the slope."""
    n, corners = len(mass), (-0.5 * w, 0.5 * w)
    contacts = [(i - 1, i, (x, 0.5 * h), (x, -0.5 * h), (0.0, 1.0)) for i in range(n) for x in corners]
    free = np.tile([G * np.sin(slope), -G * np.cos(slope), 0.0], n)
    return problem(jacobian(n, contacts), mass, box_inertia(mass, w, h), free)


def random_places(rng: np.random.Generator, n: int, bodies: int) -> tuple[Array, Array, Array]:
    """J, masses and inertias: bodies against each other and the ground, at any angle or squarely, arms that repeat."""
    mass = 10.0 ** rng.uniform(-1.0, 1.0, bodies)
    contacts = []
    for _ in range(n):
        a, b = (int(i) for i in rng.integers(-1, bodies, 2))
        if a == b:
            a, b = -1, int(rng.integers(bodies))
        angle = rng.choice([0.0, np.pi / 2.0, np.pi / 4.0]) if rng.uniform() < 0.3 else rng.uniform(0.0, 2.0 * np.pi)
        squarely = rng.uniform() < 0.4
        arms = [tuple(rng.choice([-0.5, 0.5], 2) if squarely else rng.uniform(-1.0, 1.0, 2)) for _ in range(2)]
        contacts.append((a, b, arms[0], arms[1], (np.cos(angle), np.sin(angle))))
    return jacobian(bodies, contacts), mass, mass * 10.0 ** rng.uniform(-1.5, 0.5, bodies)


def breach(A: Array, b: Array, kind: list[str], mu: Array, mu_s: Array, base: Array, f: Array) -> float:
    """The worst breach of a condition by forces (2 N,), in units of b; what friction may be is judged from f and a."""
    a, worst = A @ f + b, 0.0
    for k, name in enumerate(kind):
        (f_n, f_t), (a_n, a_t) = f[2 * k : 2 * k + 2], a[2 * k : 2 * k + 2]
        A_nn, A_tt, pressed = A[2 * k, 2 * k], A[2 * k + 1, 2 * k + 1], f_n + base[k]
        if name == "joint":
            worst = max(worst, abs(a_n), abs(f_t))
            continue
        worst = max(worst, -a_n, -f_n * A_nn, min(abs(a_n), abs(f_n) * A_nn))
        slips = {s: abs(f_t + s * mu[k] * pressed) * A_tt for s in (1, -1)}
        if name == "smooth":
            worst = max(worst, abs(f_t))
        elif name == "sticking":
            sticks = max(abs(a_t), (abs(f_t) - mu_s[k] * pressed) * A_tt)
            worst = max(worst, min(sticks, *(max(off, -s * a_t) for s, off in slips.items())))
        else:
            worst = max(worst, slips[1 if name == "sliding+" else -1])
    return worst


def choices(name: str, mu: float, mu_s: float, base: float) -> list[tuple[bool, float | None]]:
    """Modes of a contact: whether its normal pushes, and f_t / (f_n + base), None where it sticks."""
    if name in ("joint", "smooth"):
        return [(True, 0.0)] if name == "joint" else [(True, 0.0), (False, 0.0)]
    if name != "sticking":
        slope = -mu if name == "sliding+" else mu
        return [(True, slope), (False, slope)]
    tangents = [None, *sorted({mu, -mu, mu_s, -mu_s})]
    return [(True, t) for t in tangents] + ([(False, t) for t in tangents] if base > 0.0 else [(False, 0.0)])


def solvable_by_trial(A: Array, b: Array, kind: list[str], mu: Array, mu_s: Array, base: Array, allowed: float) -> bool:
    """Whether any choice of modes, each solved by least squares, fulfils all conditions."""
    n = len(kind)
    for modes in product(*(choices(kind[k], mu[k], mu_s[k], base[k]) for k in range(n))):
        known, columns, equations = np.zeros(2 * n), [], []
        for k, (pushes, slope) in enumerate(modes):
            unit = np.zeros(2 * n)
            unit[2 * k], unit[2 * k + 1] = 1.0, slope or 0.0
            known[2 * k + 1] = (slope or 0.0) * base[k]
            if pushes:
                columns.append(unit)
                equations.append(2 * k)
            if slope is None:
                columns.append(np.eye(2 * n)[2 * k + 1])
                equations.append(2 * k + 1)
        f = known
        if columns:
            basis = np.array(columns).T
            right = -(A @ known + b)[equations]
            f = known + basis @ np.linalg.lstsq((A @ basis)[equations], right, rcond=1e-12)[0]
        if breach(A, b, kind, mu, mu_s, base, f) <= allowed:
            return True
    return False
