"""Turning bodies: quaternions advanced on the unit sphere, angular momentum kept.

q (w, x, y, z) turns body axes into world axes; R(q) is its matrix; the inertia in world axes is R diag(I) R^T.
A free body keeps L = R I R^T omega. Over a step h the spin is taken at the middle,

    omega = R_m I^-1 R_m^T L,   q_m = exp(h omega / 2) q,   q_new = exp(h omega) q

(the implicit midpoint rule on the rotation group; Simo & Wong 1991, Int. J. Num. Meth. Eng. 31): second order, and L is
kept to round-off. The gyroscopic term omega x I omega needs no place of its own.
"""

import numpy as np

from reference_engine.geometry.kernels import entry, kernel

ROUNDS = 50  # of the middle's search; it contracts by h |omega| / 2
SETTLED = 1e-15


@kernel
def turned(w, x, y, z, ox, oy, oz):
    """exp(o) q for the rotation vector o in world axes, of unit length to round-off."""
    square = 0.25 * (ox * ox + oy * oy + oz * oz)
    if square < 1e-8:
        c = 1.0 - square * (0.5 - square / 24.0)
        s = 0.5 * (1.0 - square * (1.0 / 6.0 - square / 120.0))
    else:
        half = np.sqrt(square)
        c, s = np.cos(half), 0.5 * np.sin(half) / half
    a, b, d = s * ox, s * oy, s * oz
    u = c * w - a * x - b * y - d * z
    v = c * x + a * w + b * z - d * y
    p = c * y + b * w + d * x - a * z
    q = c * z + d * w + a * y - b * x
    scale = 1.0 / np.sqrt(u * u + v * v + p * p + q * q)
    return u * scale, v * scale, p * scale, q * scale


@kernel
def in_world(w, x, y, z, a, b, c):
    """R diag(a, b, c) R^T as xx, yy, zz, xy, xz, yz, of a unit quaternion."""
    if a == b and b == c:
        return a, a, a, 0.0, 0.0, 0.0
    r00, r01, r02 = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    r10, r11, r12 = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    r20, r21, r22 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    return (
        a * r00 * r00 + b * r01 * r01 + c * r02 * r02,
        a * r10 * r10 + b * r11 * r11 + c * r12 * r12,
        a * r20 * r20 + b * r21 * r21 + c * r22 * r22,
        a * r00 * r10 + b * r01 * r11 + c * r02 * r12,
        a * r00 * r20 + b * r01 * r21 + c * r02 * r22,
        a * r10 * r20 + b * r11 * r21 + c * r12 * r22,
    )


@kernel
def times(m, x, y, z):
    return m[0] * x + m[3] * y + m[4] * z, m[3] * x + m[1] * y + m[5] * z, m[4] * x + m[5] * y + m[2] * z


@entry
def free_spins(orientation, momentum, inertia, inverse_inertia, h, middle, inverse_world, free):
    """The spin that each free body has in the middle of a step h, its pose there, and its inverse inertia there.

    orientation, middle (B, 4); momentum (B, 3) L; inertia and its inverse (B, 3), both 0 for what does not move;
    inverse_world (B + 1, 6); free (B + 1, 6): columns 3 to 5.
    """
    for i in range(orientation.shape[0]):
        q = (orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3])
        a, b, c = inverse_inertia[i, 0], inverse_inertia[i, 1], inverse_inertia[i, 2]
        x, y, z = momentum[i, 0], momentum[i, 1], momentum[i, 2]
        m = in_world(q[0], q[1], q[2], q[3], a, b, c)
        ox, oy, oz = times(m, x, y, z)
        mid = turned(q[0], q[1], q[2], q[3], 0.5 * h * ox, 0.5 * h * oy, 0.5 * h * oz)
        if a != b or b != c:
            for _ in range(ROUNDS):
                m = in_world(mid[0], mid[1], mid[2], mid[3], a, b, c)
                px, py, pz = times(m, x, y, z)
                moved = abs(px - ox) + abs(py - oy) + abs(pz - oz)
                ox, oy, oz = px, py, pz
                mid = turned(q[0], q[1], q[2], q[3], 0.5 * h * ox, 0.5 * h * oy, 0.5 * h * oz)
                if moved <= SETTLED * (abs(ox) + abs(oy) + abs(oz)):
                    break
        for k in range(4):
            middle[i, k] = mid[k]
        for k in range(6):
            inverse_world[i, k] = m[k]
        free[i, 3], free[i, 4], free[i, 5] = ox, oy, oz


@entry
def move(position, orientation, twist, h, new_position, new_orientation):
    """Every body by h times its twist, from one set of poses to another."""
    for i in range(position.shape[0]):
        for k in range(3):
            new_position[i, k] = position[i, k] + h * twist[i, k]
        turn = turned(
            orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3],
            h * twist[i, 3], h * twist[i, 4], h * twist[i, 5],
        )  # fmt: skip
        for k in range(4):
            new_orientation[i, k] = turn[k]


@entry
def momenta(orientation, inertia, twist, momentum):
    """(B, 3) L = R I R^T omega."""
    for i in range(orientation.shape[0]):
        m = in_world(
            orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3],
            inertia[i, 0], inertia[i, 1], inertia[i, 2],
        )  # fmt: skip
        momentum[i, 0], momentum[i, 1], momentum[i, 2] = times(m, twist[i, 3], twist[i, 4], twist[i, 5])


@entry
def end_spins(orientation, momentum, inverse_inertia, inverse_world, free):
    """Inverse inertia and spin at the end of a step, of the momentum: columns 3 to 5 of free."""
    for i in range(orientation.shape[0]):
        m = in_world(
            orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3],
            inverse_inertia[i, 0], inverse_inertia[i, 1], inverse_inertia[i, 2],
        )  # fmt: skip
        for k in range(6):
            inverse_world[i, k] = m[k]
        free[i, 3], free[i, 4], free[i, 5] = times(m, momentum[i, 0], momentum[i, 1], momentum[i, 2])
