"""Dense solutions of differential equations against closed forms and against scipy's integrator."""

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from scenarios.catalogue.shared.chebyshev import DenseSolution, NotSmoothError


def test_a_harmonic_oscillator_is_cosine_and_sine_to_round_off():
    solution = DenseSolution(lambda t, y: np.array([y[1], -9.0 * y[0]]), np.array([1.0, 0.0]), 0.0, 20.0)
    time = np.linspace(0.0, 20.0, 777)
    assert solution(time)[0] == approx(np.cos(3.0 * time), abs=2e-13)
    assert solution(time)[1] == approx(-3.0 * np.sin(3.0 * time), abs=6e-13)


def test_a_rate_that_depends_on_time_is_integrated():
    solution = DenseSolution(lambda t, y: np.cos(t)[None], np.array([0.0]), 1.0, 7.0)
    time = np.linspace(1.0, 7.0, 50)
    assert solution(time)[0] == approx(np.sin(time) - np.sin(1.0), abs=1e-14)


def test_a_pendulum_passes_the_bottom_after_a_quarter_of_the_elliptic_period():
    """T = 4 sqrt(L/g) K(sin^2(amplitude / 2))."""
    solution = DenseSolution(
        lambda t, y: np.array([y[1], -9.81 * np.sin(y[0])]), np.array([2.5, 0.0]), 0.0, 2.0, stop=lambda t, y: y[0]
    )
    quarter = ellipk(np.sin(1.25) ** 2) / np.sqrt(9.81)
    assert solution.end == approx(quarter, rel=1e-14)
    assert np.isnan(solution.at(1.01 * quarter)).all()


def test_it_agrees_with_a_runge_kutta_method_on_a_stiffening_nonlinear_system():
    def rate(t, y):
        return np.array([y[1], 3.0 * (1.0 - y[0] ** 2) * y[1] - y[0]])

    ours = DenseSolution(rate, np.array([0.5, 0.0]), 0.0, 5.0)
    time = np.linspace(0.0, 5.0, 40)
    theirs = solve_ivp(rate, (0.0, 5.0), [0.5, 0.0], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=time)
    assert ours(time) == approx(theirs.y, abs=1e-10)


def test_outside_its_span_a_solution_is_not_known():
    solution = DenseSolution(lambda t, y: -y, np.array([1.0]), 0.0, 1.0)
    assert np.isnan(solution(np.array([-0.1, 0.5, 1.1]))).tolist() == [[True, False, True]]


def test_a_stop_that_does_not_come_leaves_the_end_as_it_was():
    solution = DenseSolution(lambda t, y: -y, np.array([1.0]), 0.0, 1.0, stop=lambda t, y: y[0])
    assert solution.end == 1.0


def test_a_solution_that_runs_to_infinity_says_so():
    solution = DenseSolution(lambda t, y: y**2, np.array([1.0]), 0.0, 2.0)  # 1 / (1 - t)
    with pytest.raises(NotSmoothError, match="at t = "):
        solution.at(1.5)
