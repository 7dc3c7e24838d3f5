"""How a gap changes as its two bodies move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def gap_jacobian(
    normal: ArrayLike, point_a: ArrayLike, point_b: ArrayLike, centre_a: ArrayLike, centre_b: ArrayLike
) -> Array:
    """(K, 12): d gap / dt = J . (v_a, omega_a, v_b, omega_b), world axes; [1] for v, [m] for omega.

    normal, point_a, point_b: (K, 3) as in `Proximities`; centre_a, centre_b: (K, 3), the points whose velocities v_a
    and v_b are. A body that does not move: leave its six columns out.

        J = (-n, -(p_a - c_a) x n, n, (p_b - c_b) x n)

    Proof: the gap is an extremum, over directions or surface points, of a smooth function of the poses, so its
    derivative is that function's at fixed points of the bodies and fixed n (envelope theorem):
    n . (velocity of p_b - velocity of p_a). It holds wherever the extremum is at one place: apart, touching and
    overlapping, for planes and hollow spheres too. The force of a contact acts along the same row, transposed.

    Raises ValueError if the arrays are not of one shape (K, 3), or not finite.
    """
    n, p, q, c, d = (np.asarray(x, np.float64) for x in (normal, point_a, point_b, centre_a, centre_b))
    for name, x in (("normal", n), ("point_a", p), ("point_b", q), ("centre_a", c), ("centre_b", d)):
        if x.ndim != 2 or x.shape != (len(n), 3):
            raise ValueError(f"{name}: shape {x.shape}; one (K, 3) for all five")
        if not np.isfinite(x).all():
            raise ValueError(f"{name}: {x[~np.isfinite(x)][0]}; finite numbers")
    return np.concatenate([-n, -np.cross(p - c, n), n, np.cross(q - d, n)], axis=1)
