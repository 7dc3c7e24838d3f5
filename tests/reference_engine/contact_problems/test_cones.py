"""Contacts with friction in space: every solver against Coulomb's law itself, written out anew here."""

import numpy as np
import pytest
from scipy import sparse

from reference_engine import ContactForceError
from reference_engine.contact_problems.cone_problem import ConeProblem, corners
from reference_engine.contact_problems.cone_solve import solve_cones
from tests.effort import few, tries
from tests.reference_engine.contact_problems.clusters import cluster, thrown_sphere
from tests.reference_engine.contact_problems.minimum_map import by_minimum_map


def off_coulomb(problem, p):
    """m/s: the worst of p_n >= 0, u_n >= 0, p_n u_n = 0, |p_t| <= mu p_n, and slip's friction being most against it."""
    u = (problem.W @ p.ravel()).reshape(-1, 3) + problem.b
    w, mu = problem.W.diagonal()[::3], problem.friction
    worst = max((-p[:, 0] * w).max(), (-u[:, 0]).max(), np.minimum(np.abs(p[:, 0]) * w, np.abs(u[:, 0])).max())
    against = np.linalg.norm(u[:, 1:], axis=1)
    size = np.linalg.norm(p[:, 1:], axis=1)
    if problem.edges:
        d = corners(problem.edges)
        against = (-u[:, 1:] @ d.T).max(axis=1)
        middle = np.cos(np.pi / problem.edges)
        out = np.roll(d, -1, axis=0) + d
        size = (p[:, 1:] @ (out / np.linalg.norm(out, axis=1)[:, None]).T).max(axis=1) / middle
    worst = max(worst, ((size - mu * p[:, 0]) * w).max())
    slips = against > 1e-7 * problem.scale
    done = -(p[:, 1:] * u[:, 1:]).sum(axis=1)  # power against the slip
    missing = (mu * p[:, 0] * against - done)[slips] * w[slips] / against[slips]
    return max(worst, np.abs(missing).max(initial=0.0))


@pytest.mark.parametrize("edges", [0, 4, 8, 16])
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_impulses_meet_coulombs_law(mu, edges):
    rng = np.random.default_rng(edges)
    for contacts in (1, 3, 10, 50)[: tries(4, 3)]:
        problem = cluster(rng, contacts, mu, edges)
        solution = solve_cones(problem)
        assert solution.residual <= 1e-10
        assert off_coulomb(problem, solution.impulse) <= 1e-6 * problem.scale
        assert problem.residual(solution.impulse) == solution.residual or solution.residual < 1e-10


@pytest.mark.parametrize("method", ["gauss-seidel", "interior"])
def test_solvers_that_share_no_line_agree(method):
    """Ten contacts of independent rows: one solution at this friction."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        problem = cluster(rng, 6, 0.2)
        first, second = solve_cones(problem), solve_cones(problem, method=method)
        assert second.impulse == pytest.approx(first.impulse, abs=1e-8)


def test_lemke_and_the_interior_point_method_agree_on_a_pyramid():
    rng = np.random.default_rng(6)
    for _ in range(5):
        problem = cluster(rng, 6, 0.2, 6)
        first, second = solve_cones(problem, method="lemke", tolerance=1e-9), solve_cones(problem, method="interior")
        assert second.impulse == pytest.approx(first.impulse, abs=1e-7)


# Two spheres, m 1 and 2, r .1 and .2, n = (2, 2, 1)/3, e = .8: J_n = (1 + e) M |v_n|, J_t = min(2/7 M |u_t|, mu J_n).
V = np.array([2.0, 1.0, 0.0]), np.array([-1.0, 0.0, 0.0])
W0 = np.array([0.0, 5.0, 10.0]), np.array([3.0, 0.0, -2.0])
STUCK = (
    (-0.321693121693122, -1.02328042328042, -0.91005291005291),
    (0.160846560846561, 1.01164021164021, 0.455026455026455),
)
SLID = (-0.245556770036, -1.06776458379919, -0.973357292329618), (0.122778385018, 1.0338822918996, 0.486678646164809)


@pytest.mark.parametrize("mu,after", [(0.05, SLID), (0.2, STUCK)])
def test_two_spheres_that_meet_slide_on_or_stick(mu, after):
    n = np.array([2.0, 2.0, 1.0]) / 3.0
    t = np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)
    frame = np.stack([n, t, np.cross(n, t)])
    m, r = (1.0, 2.0), (0.1, 0.2)
    arms = r[0] * n, -r[1] * n
    J = np.hstack([s * np.hstack([frame, np.cross(arm, frame)]) for s, arm in zip((-1.0, 1.0), arms)])
    M = np.diag(np.concatenate([np.r_[np.full(3, 1 / a), np.full(3, 2.5 / a / b**2)] for a, b in zip(m, r)]))
    before = np.concatenate([V[0], W0[0], V[1], W0[1]])
    b = J @ before
    b[0] *= 1.0 + 0.8
    p = solve_cones(ConeProblem(sparse.csr_array(J @ M @ J.T), b[None], np.array([mu]))).impulse[0]
    assert p[0] == pytest.approx(3.2, abs=1e-12)
    twist = before + M @ J.T @ p
    assert twist[:3] == pytest.approx(after[0], abs=1e-12)
    assert twist[6:9] == pytest.approx(after[1], abs=1e-12)


def test_a_pyramid_of_many_edges_is_nearly_the_cone():
    """The polygon's corners are on the circle: it misses by 1 - cos(pi / edges) of the friction at most."""
    problem = cluster(np.random.default_rng(2), 8, 0.3)
    cone = solve_cones(problem).impulse
    many = solve_cones(ConeProblem(problem.W, problem.b, problem.friction, 64)).impulse
    assert many == pytest.approx(cone, abs=0.02 * np.abs(cone).max())


def test_what_cannot_be_is_an_error_and_not_an_answer():
    """A body between two walls that both want it to come away at 1 m/s."""
    W = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))
    problem = ConeProblem(sparse.csr_array(W), np.array([[-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]), np.zeros(2))
    with pytest.raises(ContactForceError, match="residual"):
        solve_cones(problem)


def test_input_is_looked_at():
    good = thrown_sphere(1.0, 0.3, 0.01, 0)
    with pytest.raises(ValueError, match="edges: 5"):
        ConeProblem(good.W, good.b, good.friction, 5)
    with pytest.raises(ValueError, match="W, b, friction"):
        ConeProblem(good.W, good.b[:, :2], good.friction)
    with pytest.raises(ValueError, match="method: 'jacobi'"):
        solve_cones(good, method="jacobi")
    with pytest.raises(ValueError, match="edges: 0"):
        solve_cones(good, method="lemke")


@pytest.mark.parametrize(("torque",), few(1, [(True,), (False,)]))
def test_newtons_method_on_the_minimum_map_fails_on_one_thrown_sphere_and_the_default_does_not(torque):
    """The bug that Oltman & Hur 2017 report (section 6.1), kept: the problems are fine, 16 edges make the map singular.

    In the first round all corners that oppose the slip and the normal force are free: nine columns of rank three.
    """
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(60):
        problem = thrown_sphere(
            rng.uniform(0.0, 5.0), rng.uniform(0.05, 1.0), 10.0 ** rng.uniform(-3, -1), 16, torque=torque
        )
        p = solve_cones(problem).impulse[0]
        assert p[0] == pytest.approx(-problem.b[0, 0], rel=1e-12)  # it does not fall through
        failed += by_minimum_map(problem)[1] > 1e-10
    assert failed > 0
