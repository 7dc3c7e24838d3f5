"""The inverse effective mass K [1/kg] at a contact point: an impulse j there changes the velocity by K j."""

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array
from reference_engine.dense import eigh, inverse, mul, pinv, solve

REDUNDANT = 1e-12  # of the greatest singular value: rows that others say already


def inverse_mass(mass: float, inertia: ArrayLike, arm: ArrayLike) -> Array:
    """Of one body at the point `arm` [m] from its centre of mass: (2, 2) in the plane, (3, 3) in space [1/kg].

    K = 1/m - [r] I^-1 [r], with [r] a = r x a: positive definite. inertia: about the centre of mass, in the axes of
    the arm [kg m^2], a number in the plane, (3, 3) in space. Bodies that an impulse pushes apart add up; one that
    nothing moves has mass and inertia infinite.

    Raises ValueError where mass or inertia is not positive, or shapes do not fit.
    """
    r, about = np.asarray(arm, np.float64), np.asarray(inertia, np.float64)
    if not mass > 0.0:
        raise ValueError(f"mass: {mass:g} kg is not positive")
    if r.shape == (2,) and about.shape == ():
        if not about > 0.0:
            raise ValueError(f"inertia: {float(about):g} kg m^2 is not positive")
        across = np.array([-r[1], r[0]])
        return np.eye(2) / mass + np.outer(across, across) / float(about)
    if r.shape != (3,) or about.shape != (3, 3):
        raise ValueError(
            f"arm, inertia: shapes {r.shape} and {about.shape}; allowed: (2,) and one number, or (3,) and (3, 3)"
        )
    if np.isinf(about).any():
        return np.eye(3) / mass
    if (
        not np.allclose(about, about.T, rtol=0.0, atol=1e-12 * float(np.abs(about).max()))
        or not eigh(about)[0][0] > 0.0
    ):
        raise ValueError("inertia: it is not symmetric and positive definite")
    cross = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    return np.eye(3) / mass - mul(cross, solve(about, cross))


def inverse_mass_through_joints(mass_matrix: ArrayLike, jacobian: ArrayLike, joints: ArrayLike | None = None) -> Array:
    """K = J M^-1 J^T [1/kg] of contacts whose velocities are J q' in the generalised velocities q'.

    mass_matrix (Q, Q). jacobian (n D, Q), D = 2 in the plane, 3 in space, contacts one after the other. joints (R, Q):
    rows G with G q' = 0, which hold through the impact, redundant ones too; M^-1 - M^-1 G^T (G M^-1 G^T)^+ G M^-1 then
    takes the place of M^-1. The impulses change q' by that, times J^T j.

    Raises ValueError where shapes do not fit or the mass matrix is not symmetric and positive definite.
    """
    M, J = np.asarray(mass_matrix, np.float64), np.asarray(jacobian, np.float64)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or J.ndim != 2 or J.shape[1] != len(M):
        raise ValueError(f"mass_matrix, jacobian: shapes {M.shape} and {J.shape}; they must be (Q, Q) and (n D, Q)")
    if not np.allclose(M, M.T, rtol=1e-9, atol=1e-12 * float(np.abs(M).max())) or not eigh(M)[0][0] > 0.0:
        raise ValueError("mass_matrix: it is not symmetric and positive definite")
    mobile = inverse(M)
    if joints is not None:
        G = np.asarray(joints, np.float64)
        if G.ndim != 2 or G.shape[1] != len(M):
            raise ValueError(f"joints: shape {G.shape}; with this mass matrix it is (R, {len(M)})")
        half = mul(mobile, G.T)
        mobile = mobile - mul(mul(half, pinv(mul(G, half), rcond=REDUNDANT)), half.T)
    K = mul(mul(J, mobile), J.T)
    return 0.5 * (K + K.T)
