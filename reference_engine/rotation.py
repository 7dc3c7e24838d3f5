"""Rotations: quaternions and their matrices, tangent frames, and, compiled, bodies that turn.

A unit quaternion q = (w, x, y, z) turns body axes into world axes; R(q) is its matrix; the inertia in world axes is
R diag(I) R^T. A free body keeps L = R I R^T omega. Over a step h the spin is taken at the middle,

    omega = R_m I^-1 R_m^T L,   q_m = exp(h omega / 2) q,   q_new = exp(h omega) q

(the implicit midpoint rule on the rotation group; Simo & Wong 1991, Int. J. Num. Meth. Eng. 31): second order, and L is
kept to round-off. The gyroscopic term omega x I omega needs no place of its own.
"""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.compiler.kernels import kernel
from reference_engine.elementary_kernels import cosine_and_sine, cosines_and_sines


def matrices(q: Array, scale: float | Array = 2.0) -> Array:
    """R (..., 3, 3) of unit quaternions (..., 4); of others by their directions with scale (...) = 2 / |q|^2."""
    w, x, y, z = np.moveaxis(np.asarray(q, np.float64), -1, 0)
    R = np.empty((*np.shape(w), 3, 3))
    R[..., 0, 0], R[..., 0, 1] = 1.0 - scale * (y * y + z * z), scale * (x * y - w * z)
    R[..., 1, 0], R[..., 1, 1] = scale * (x * y + w * z), 1.0 - scale * (x * x + z * z)
    R[..., 2, 0], R[..., 2, 1] = scale * (x * z - w * y), scale * (y * z + w * x)
    R[..., 0, 2], R[..., 1, 2] = scale * (x * z + w * y), scale * (y * z - w * x)
    R[..., 2, 2] = 1.0 - scale * (x * x + y * y)
    return R


def matrices_by_direction(q: Array) -> Array:
    """R (N, 3, 3) of quaternions (N, 4) of any length but zero."""
    return matrices(q, 2.0 / np.einsum("ij,ij->i", q, q))


def product(p: Array, q: Array) -> Array:
    """p q (..., 4): the rotation q, then p."""
    a, b, c, d = np.moveaxis(p, -1, 0)
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )


def tangents(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors (..., 3) across unit vectors n and each other: t_1 across the axis least along n, n x t_1."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=-1)])
    first /= np.sqrt(np.einsum("...i,...i->...", first, first))[..., None]
    return first, np.cross(normal, first)


ROUNDS = 50  # of the middle's search; four or five are needed
SETTLED = 2e-16


def exponential(turn: Array) -> Array:
    """Quaternions (N, 4) of rotation vectors (N, 3) [rad]."""
    half = 0.5 * np.sqrt(np.einsum("ij,ij->i", turn, turn))
    q = np.empty((len(turn), 4))
    q[:, 0], sine = cosines_and_sines(half)
    q[:, 1:] = 0.5 * np.where(half > 0.0, sine / np.where(half > 0.0, half, 1.0), 1.0)[:, None] * turn
    return q


@kernel
def turned(w, x, y, z, ox, oy, oz):
    """exp(o) q for the rotation vector o in world axes, of unit length to round-off."""
    square = 0.25 * (ox * ox + oy * oy + oz * oz)
    if square < 1e-8:
        c = 1.0 - square * (0.5 - square / 24.0)
        s = 0.5 * (1.0 - square * (1.0 / 6.0 - square / 120.0))
    else:
        half = np.sqrt(square)
        c, s = cosine_and_sine(half)
        s = 0.5 * s / half
    a, b, d = s * ox, s * oy, s * oz
    u = c * w - a * x - b * y - d * z
    v = c * x + a * w + b * z - d * y
    p = c * y + b * w + d * x - a * z
    q = c * z + d * w + a * y - b * x
    scale = 1.0 / np.sqrt(u * u + v * v + p * p + q * q)
    return u * scale, v * scale, p * scale, q * scale


@kernel
def matrix(w, x, y, z, scale):
    """Rows of R of a unit quaternion with scale 2, of any other with 2 / |q|^2."""
    return (
        (1.0 - scale * (y * y + z * z), scale * (x * y - w * z), scale * (x * z + w * y)),
        (scale * (x * y + w * z), 1.0 - scale * (x * x + z * z), scale * (y * z - w * x)),
        (scale * (x * z - w * y), scale * (y * z + w * x), 1.0 - scale * (x * x + y * y)),
    )


@kernel
def in_world(w, x, y, z, a, b, c):
    """R diag(a, b, c) R^T as xx, yy, zz, xy, xz, yz, of a unit quaternion."""
    if a == b and b == c:
        return a, a, a, 0.0, 0.0, 0.0
    (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = matrix(w, x, y, z, 2.0)
    return (
        a * r00 * r00 + b * r01 * r01 + c * r02 * r02,
        a * r10 * r10 + b * r11 * r11 + c * r12 * r12,
        a * r20 * r20 + b * r21 * r21 + c * r22 * r22,
        a * r00 * r10 + b * r01 * r11 + c * r02 * r12,
        a * r00 * r20 + b * r01 * r21 + c * r02 * r22,
        a * r10 * r20 + b * r11 * r21 + c * r12 * r22,
    )


@kernel
def inertia_in_world(orientation, moments, i):
    """`in_world` of body i, of unit quaternions (B, 4) and principal moments (B, 3)."""
    w, x, y, z = orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3]
    return in_world(w, x, y, z, moments[i, 0], moments[i, 1], moments[i, 2])


@kernel
def times(m, x, y, z):
    return m[0] * x + m[3] * y + m[4] * z, m[3] * x + m[1] * y + m[5] * z, m[4] * x + m[5] * y + m[2] * z


@kernel
def turned_back(x, y, z, u, v, w):
    """exp(-o) L of vectors o = (x, y, z) and L = (u, v, w)."""
    square = x * x + y * y + z * z
    if square < 0.01:
        s = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)))
        c = 0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0 * (1.0 - square / 90.0)))
    else:
        angle = np.sqrt(square)
        c, s = cosine_and_sine(angle)
        s, c = s / angle, (1.0 - c) / square
    a, b, d = y * w - z * v, z * u - x * w, x * v - y * u
    return (u - s * a + c * (y * d - z * b), v - s * b + c * (z * a - x * d), w - s * d + c * (x * b - y * a))


@kernel
def middle_spin(u, v, w, a, b, c, h):
    """omega with I omega = exp(-h/2 omega) L, body axes, of L = (u, v, w) and the principal moments 1/a, 1/b, 1/c.

    Newton's method with exp(-h/2 omega) L for linear in its turn: the rest is h/2 |omega| smaller each round.
    """
    x, y, z = a * u, b * v, c * w
    for _ in range(ROUNDS):
        p, q, r = turned_back(0.5 * h * x, 0.5 * h * y, 0.5 * h * z, u, v, w)
        # (I - h/2 [p]) d = p - I omega;  (D + [k])^-1 = (cofactors of D + k k^T - [D k]) / (det D + k . D k)
        k, m, n = -0.5 * h * p, -0.5 * h * q, -0.5 * h * r
        p, q, r = p - x / a, q - y / b, r - z / c
        along = k * p + m * q + n * r
        e, f, g = k / a, m / b, n / c
        over = 1.0 / (1.0 / (a * b * c) + k * e + m * f + n * g)
        d_x = (p / (b * c) + k * along - (f * r - g * q)) * over
        d_y = (q / (a * c) + m * along - (g * p - e * r)) * over
        d_z = (r / (a * b) + n * along - (e * q - f * p)) * over
        x, y, z = x + d_x, y + d_y, z + d_z
        size = abs(x) + abs(y) + abs(z)
        if (abs(d_x) + abs(d_y) + abs(d_z)) * min(1.0, h * size) <= SETTLED * size:
            break
    return x, y, z


@kernel
def free_spin(orientation, momentum, inverse_inertia, i, h, middle, inverse_world, free):
    """The spin that free body i has in the middle of a step h, its pose there, and its inverse inertia there.

    orientation, middle (B, 4); momentum (B, 3) L; inverse_inertia (B, 3), 0 for what does not move;
    inverse_world (B + 1, 6); free (B + 1, 6): columns 3 to 5.
    """
    w, x, y, z = orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3]
    a, b, c = inverse_inertia[i, 0], inverse_inertia[i, 1], inverse_inertia[i, 2]
    u, v, t = momentum[i, 0], momentum[i, 1], momentum[i, 2]
    m = in_world(w, x, y, z, a, b, c)
    o = times(m, u, v, t)
    if (a != b or b != c) and (u != 0.0 or v != 0.0 or t != 0.0):
        r, s, d = matrix(w, x, y, z, 2.0)
        p, q, n = middle_spin(
            r[0] * u + s[0] * v + d[0] * t, r[1] * u + s[1] * v + d[1] * t, r[2] * u + s[2] * v + d[2] * t, a, b, c, h
        )
        o = (r[0] * p + r[1] * q + r[2] * n, s[0] * p + s[1] * q + s[2] * n, d[0] * p + d[1] * q + d[2] * n)
    mid = turned(w, x, y, z, 0.5 * h * o[0], 0.5 * h * o[1], 0.5 * h * o[2])
    if a != b or b != c:
        m = in_world(mid[0], mid[1], mid[2], mid[3], a, b, c)
        o = times(m, u, v, t)  # of this very middle, so that L is kept to round-off
    for k in range(4):
        middle[i, k] = mid[k]
    for k in range(6):
        inverse_world[i, k] = m[k]
    for k in range(3):
        free[i, 3 + k] = o[k]


@kernel
def move(position, orientation, twist, i, h, new_position, new_orientation):
    """Body i by h times its twist, from one pose to another."""
    for k in range(3):
        new_position[i, k] = position[i, k] + h * twist[i, k]
    turn = turned(
        orientation[i, 0], orientation[i, 1], orientation[i, 2], orientation[i, 3],
        h * twist[i, 3], h * twist[i, 4], h * twist[i, 5],
    )  # fmt: skip
    for k in range(4):
        new_orientation[i, k] = turn[k]


@kernel
def momentum_of(orientation, inertia, twist, i, momentum):
    """(B, 3) L = R I R^T omega of body i."""
    m = inertia_in_world(orientation, inertia, i)
    momentum[i, 0], momentum[i, 1], momentum[i, 2] = times(m, twist[i, 3], twist[i, 4], twist[i, 5])


@kernel
def end_spin(orientation, momentum, inverse_inertia, i, inverse_world, free):
    """Inverse inertia and spin of body i at the end of a step, of its momentum: columns 3 to 5 of free."""
    m = inertia_in_world(orientation, inverse_inertia, i)
    for k in range(6):
        inverse_world[i, k] = m[k]
    free[i, 3], free[i, 4], free[i, 5] = times(m, momentum[i, 0], momentum[i, 1], momentum[i, 2])
