"""Contact problems on which solvers have failed: from clusters, thrown spheres and heaps that settle.

`ci/benchmarks/ellipsoid_solvers.py --keep FILE` found them among 2,464: Newton's method on the minimum map does not
solve them, or the default needed its interior point method.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from reference_engine import ConeProblem, ContactForceError, solve_cones

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


def test_newtons_method_on_the_minimum_map_fails_on_the_sphere_that_fell_through_the_plane():
    one = next(problem(i) for i in range(len(FILE["edges"])) if len(FILE[f"friction{i}"]) == 1)
    with pytest.raises(ContactForceError, match="minimum-map"):
        solve_cones(one, method="minimum-map")
