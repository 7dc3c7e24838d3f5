"""Poses as numbers: (x, y, angle) of each link in the plane, (position, quaternion w x y z) in space.

Twists are (velocity, spin) in world axes, 3 or 6 numbers. A pose is moved along a twist on the rotation group itself:
an angle adds up, a quaternion is turned by the exponential. All arrays have the F moving links first; where the world
is added as link F, it is at the origin, not turned.
"""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.elementary_kernels import cosines_and_sines
from reference_engine.rotation import exponential, matrices_by_direction, product

FIRST, SECOND = np.array([1, 2, 0]), np.array([2, 0, 1])


class PlanarPoses:
    """Three numbers a link for pose and twist, two of them of the position."""

    pose, twist, linear = 3, 3, 2
    columns = (0, 1, 5)  # of the six of space

    def __init__(self, links: int) -> None:
        self.links = links

    def placed(self, q: Array) -> tuple[Array, Array]:
        """Position (F + 1, 3) and rotation (F + 1, 3, 3) of poses (F, 3)."""
        position, rotation = np.zeros((self.links + 1, 3)), np.zeros((self.links + 1, 3, 3))
        position[:-1, :2] = q[:, :2]
        c, s = cosines_and_sines(q[:, 2])
        rotation[:-1, 0, 0] = rotation[:-1, 1, 1] = c
        rotation[:-1, 0, 1], rotation[:-1, 1, 0] = -s, s
        rotation[-1, 0, 0] = rotation[-1, 1, 1] = 1.0
        rotation[:, 2, 2] = 1.0
        return position, rotation

    def moving(self, v: Array) -> tuple[Array, Array]:
        """Velocity and spin (F + 1, 3) of twists (F, 3)."""
        velocity, spin = np.zeros((self.links + 1, 3)), np.zeros((self.links + 1, 3))
        velocity[:-1, :2], spin[:-1, 2] = v[:, :2], v[:, 2]
        return velocity, spin

    def rate(self, q: Array, v: Array) -> Array:
        return v

    def moved(self, q: Array, by: Array) -> Array:
        return q + by

    def tidy(self, q: Array) -> Array:
        return q


class SpatialPoses:
    """Seven numbers a link for the pose, six for the twist."""

    pose, twist, linear = 7, 6, 3
    columns = (0, 1, 2, 3, 4, 5)

    def __init__(self, links: int) -> None:
        self.links = links

    def placed(self, q: Array) -> tuple[Array, Array]:
        position, rotation = np.zeros((self.links + 1, 3)), np.empty((self.links + 1, 3, 3))
        position[:-1] = q[:, :3]
        rotation[:-1] = matrices_by_direction(q[:, 3:])
        rotation[-1] = np.eye(3)
        return position, rotation

    def moving(self, v: Array) -> tuple[Array, Array]:
        velocity, spin = np.zeros((self.links + 1, 3)), np.zeros((self.links + 1, 3))
        velocity[:-1], spin[:-1] = v[:, :3], v[:, 3:]
        return velocity, spin

    def rate(self, q: Array, v: Array) -> Array:
        """q' = (v, 1/2 omega q)."""
        rate = np.empty_like(q)
        rate[:, :3] = v[:, :3]
        o = np.zeros((self.links, 4))
        o[:, 1:] = 0.5 * v[:, 3:]
        rate[:, 3:] = product(o, q[:, 3:])
        return rate

    def moved(self, q: Array, by: Array) -> Array:
        new = np.empty_like(q)
        new[:, :3] = q[:, :3] + by[:, :3]
        new[:, 3:] = product(exponential(by[:, 3:]), q[:, 3:])
        return new

    def tidy(self, q: Array) -> Array:
        """Quaternions of unit length, which integration of the rate leaves by its error."""
        new = q.copy()
        new[:, 3:] /= np.sqrt(np.einsum("ij,ij->i", q[:, 3:], q[:, 3:]))[:, None]
        return new


Poses = PlanarPoses | SpatialPoses


def turned_freely(q: Array, own: Array, inertia: Array, inverse: Array, h: float) -> tuple[Array, Array]:
    """Quaternions (F, 4) and own spins (F, 3) after turning for h without torque, to order 2 and symmetric.

    L / I_1 about the momentum commutes with all else and is exact; what the other two moments differ by turns about the
    own axes 2 and 3: half, whole, half.
    """
    momentum = inertia * own  # own axes
    more_2, more_3 = inverse[:, 1] - inverse[:, 0], inverse[:, 2] - inverse[:, 0]
    L = momentum
    turned = rotated(q, momentum)
    turn = np.zeros_like(own)
    for axis, more, fraction in ((1, more_2, 0.5), (2, more_3, 1.0), (1, more_2, 0.5)):
        if not more.any():
            continue
        turn[:] = 0.0
        turn[:, axis] = fraction * h * more * L[:, axis]
        by = exponential(turn)
        q = product(q, by)
        by[:, 1:] *= -1.0
        L = rotated(by, L)
    q = product(exponential(h * inverse[:, :1] * turned), q)
    return q, inverse * L


def rotated(q: Array, v: Array) -> Array:
    """Vectors (F, 3) turned by quaternions (F, 4)."""
    t = 2.0 * cross(q[:, 1:], v)
    return v + q[:, :1] * t + cross(q[:, 1:], t)


def cross(a: Array, b: Array) -> Array:
    """Of (N, 3) by (N, 3): numpy's takes five times as long for a few."""
    return a.take(FIRST, 1) * b.take(SECOND, 1) - a.take(SECOND, 1) * b.take(FIRST, 1)
