"""Random contacts with friction: what can be solved is solved, what cannot is not, and impacts lose energy.

The nearest points tries all modes by least squares and judges forces by the laws alone; it shares no line with the
solver.
"""

import numpy as np
import pytest

from reference_engine.contact_problems.friction import GUESS, SOLVED, friction_forces, new_friction_work, solve_friction
from reference_engine.contact_problems.friction_modes import CLOSED, STICKING, FrictionProblem
from tests.reference_engine.contact_problems.contact_points import G, breach, jacobian, random_places, solvable_by_trial

KINDS = ["sticking", "smooth", "joint", "sliding+", "sliding-"]
TOLERANCE = 1e-9


def coefficients(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """mu from none to two, often the same at all contacts, and mu_s, sometimes larger."""
    mu = rng.choice([0.0, 0.2, 0.5, 1.0, 2.0], n) if rng.uniform() < 0.5 else rng.uniform(0.0, 1.2, n)
    return mu, mu * rng.choice([1.0, 1.0, 1.3])


def matrix(J: np.ndarray, mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    return (J / np.stack([mass, mass, inertia], 1).ravel()) @ J.T


def solved_if_solvable(rng: np.random.Generator) -> bool:
    """One to four sticking, smooth, jointed and sliding contacts on up to three bodies. Returns whether it was

    solved.
    """
    n = int(rng.integers(1, 5))
    J, mass, inertia = random_places(rng, n, int(rng.integers(1, 4)))
    A = matrix(J, mass, inertia)
    b = 10.0 * (J @ rng.normal(size=J.shape[1]) if rng.uniform() < 0.7 else rng.normal(size=2 * n))
    mixture = [[1.0, 0, 0, 0, 0], [0.4, 0.1, 0.1, 0.2, 0.2], [0.0, 0.0, 0.0, 0.5, 0.5]][rng.integers(3)]
    kind = [str(name) for name in rng.choice(KINDS, n, p=mixture)]
    mu, mu_s = coefficients(rng, n)
    base = np.where(rng.uniform(size=n) < 0.3, rng.uniform(0.0, 3.0, n), 0.0) * rng.integers(2)
    allowed = TOLERANCE * np.abs(b).max()
    solution = friction_forces(A, b, kind, mu, mu_s, base)
    if solution.outcome == "solved":
        assert breach(A, b, kind, mu, mu_s, base, solution.force.ravel()) <= 1.001 * allowed
        assert solution.violation <= allowed
    else:
        assert not solvable_by_trial(A, b, kind, mu, mu_s, base, allowed)
    return solution.outcome == "solved"


@pytest.mark.parametrize("seed", range(4))
def test_up_to_four_places_are_solved_if_and_only_if_some_modes_solve_them(seed):
    """Past Painleve's case and over-determined as well."""
    rng = np.random.default_rng([1, seed])
    assert 100 < sum(solved_if_solvable(rng) for _ in range(150)) < 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_twenty_thousand_problems_are_solved_if_and_only_if_some_modes_solve_them(seed):
    rng = np.random.default_rng([3, seed])
    assert 1800 < sum(solved_if_solvable(rng) for _ in range(2000)) < 2000


@pytest.mark.parametrize(("cases", "most"), [(850, 6), (120, 20), (30, 50)])
def test_a_plastic_impact_with_friction_always_has_a_solution_and_never_gains_energy(cases, most):
    """b = J v. Energy changes by (b + a) . f / 2; normal impulses lose it or keep it, and so does friction."""
    rng = np.random.default_rng([2, most])
    for _ in range(cases):
        n = int(rng.integers(1, most))
        J, mass, inertia = random_places(rng, n, int(rng.integers(1, max(2, n))))
        A, b = matrix(J, mass, inertia), J @ rng.normal(size=J.shape[1])
        mu, mu_s = coefficients(rng, n)
        solution = friction_forces(A, b, "sticking", mu, mu_s)
        assert solution.outcome == "solved"
        f = solution.force.ravel()
        assert breach(A, b, ["sticking"] * n, mu, mu_s, np.zeros(n), f) <= 1.001 * TOLERANCE * np.abs(b).max()
        size = np.abs(f) @ np.abs(b) + np.abs(b).max() ** 2 / A.diagonal().max()
        assert 0.5 * f @ (A @ f + 2.0 * b) <= 1e-8 * size


def test_a_heap_of_discs_that_fall_between_walls_never_gains_energy_and_its_last_modes_are_mostly_right():
    """Impulses of each step, v + M^-1 J^T f, from the modes and impulses of the one before (Moreau's time stepping)."""
    rng, h, mu = np.random.default_rng(6), 1.0 / 240.0, np.full(60, 0.3)
    r = rng.uniform(0.4, 0.5, 12)
    q = np.array([[1.0 + 1.05 * (i % 4) + rng.uniform(-0.1, 0.1), 0.6 + 1.1 * (i // 4), 0.0] for i in range(12)])
    v, mass = np.zeros((12, 3)), np.pi * r**2
    inverse = 1.0 / np.stack([mass, mass, 0.5 * mass * r**2], 1).ravel()
    answer, work, workspace = new_friction_work(60)
    last: dict[tuple[int, int], tuple[int, float, float]] = {}
    right, wrong = 0, 0
    for _ in range(180):
        v[:, 1] -= G * h
        contacts, names = [], []
        for i in range(12):
            walls = [((0.0, 1.0), q[i, 1]), ((1.0, 0.0), q[i, 0]), ((-1.0, 0.0), 5.2 - q[i, 0])]
            touching = [(-1 - w, normal, gap - r[i]) for w, (normal, gap) in enumerate(walls)]
            for j in range(i):
                apart = q[i, :2] - q[j, :2]
                distance = np.hypot(*apart)
                touching.append((j, tuple(apart / distance), distance - r[i] - r[j]))
            for other, normal, gap in touching:
                if gap < 1e-3:
                    arm = np.array(normal)
                    contacts.append((max(other, -1), i, tuple(arm * r[other]), tuple(-arm * r[i]), normal))
                    names.append((other, i))
        n = len(contacts)
        if n:
            J = jacobian(12, contacts)
            A, b = (J * inverse) @ J.T, J @ v.ravel()
            given = FrictionProblem(A, b, np.full(n, STICKING), mu, mu, np.zeros(n))
            for k, name in enumerate(names):
                answer.mode[k], answer.f[2 * k], answer.f[2 * k + 1] = last.get(name, (CLOSED, 0.0, 0.0))
            outcome, _, _ = solve_friction(given, np.int64(n), 1e-9 * np.abs(b).max(), answer, work, workspace)
            f = answer.f[: 2 * n].copy()
            assert outcome == SOLVED and f @ (A @ f + 2.0 * b) <= 1e-12
            right, wrong = right + (work.state[0] == GUESS), wrong + (work.state[0] != GUESS)
            last = {name: (answer.mode[k], f[2 * k], f[2 * k + 1]) for k, name in enumerate(names)}
            v += (inverse * (J.T @ f)).reshape(12, 3)
        q += h * v
    assert right > max(100, 5 * wrong)
