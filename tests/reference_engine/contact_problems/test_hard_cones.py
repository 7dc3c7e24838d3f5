"""Contact problems on which solvers have failed: from clusters, thrown spheres and heaps that settle.

`ci/benchmarks/ellipsoid_solvers.py --keep FILE` found them among 2,464: Newton's method on the minimum map does not
solve them, or the default needed its interior point method. Fuzzing robots and boxes in space found the last two:
corners at rest whose forces, of those that the equations leave open, are at the edges of their cones.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from reference_engine import ConeProblem, solve_cones
from reference_engine.errors import ContactForceError
from tests.reference_engine.contact_problems.minimum_map import by_minimum_map

FILE = np.load(Path(__file__).parent / "data" / "hard_cones.npz")


def problem(i):
    count = len(FILE[f"friction{i}"])
    W = sparse.coo_array((FILE[f"entry{i}"], (FILE[f"row{i}"], FILE[f"column{i}"])), shape=(3 * count, 3 * count))
    return ConeProblem(W.tocsr(), FILE[f"b{i}"], FILE[f"friction{i}"], int(FILE["edges"][i]))


@pytest.mark.parametrize("i", range(len(FILE["edges"])))
def test_the_default_solves_what_others_have_failed_on(i):
    asked = problem(i)
    solution = solve_cones(asked)
    assert asked.residual(solution.impulse) <= 1e-10
    assert (solution.impulse[:, 0] >= -1e-12).all()


def test_what_is_enough_is_taken_where_no_method_comes_nearer():
    asked = problem(len(FILE["edges"]) - 1)
    with pytest.raises(ContactForceError, match=r"allowed: 1e-15"):
        solve_cones(asked, tolerance=1e-15)
    solution = solve_cones(asked, tolerance=1e-15, enough=1e-10)
    assert 1e-15 < solution.residual <= 1e-10
    assert solution.residual == asked.residual(solution.impulse)


@pytest.mark.slow
def test_newtons_method_on_the_minimum_map_fails_on_the_sphere_that_fell_through_the_plane():
    """The map is singular there: which of its neighbours it fails on is round-off, a third of 64."""
    one = next(problem(i) for i in range(len(FILE["edges"])) if len(FILE[f"friction{i}"]) == 1)
    rng, failed = np.random.default_rng(0), 0
    for _ in range(64):
        near = ConeProblem(one.W, one.b * rng.uniform(0.999, 1.001, one.b.shape), one.friction, one.edges)
        assert near.residual(solve_cones(near).impulse) <= 1e-10
        failed += by_minimum_map(near)[1] > 1e-10
    assert failed >= 4
