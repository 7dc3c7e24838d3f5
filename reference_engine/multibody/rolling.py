"""Rolling, and sliding by Coulomb's law: a ball, ellipsoid, disc or point on a plane, a ball in a hollow sphere.

The link's point at the contact has the velocity of what it rolls on: three rows of velocities beside that of the gap,

    u = v + omega x rho - Omega x (x + rho - p) = 0,      u' = v' + omega' x rho + omega x rho' - Omega x (v + rho')

with rho from the centre of mass to the contact, p a point of the axis about which the plane turns with Omega. On a
plane with normal n, A = R diag(semi-axes^2) R^T and h = sqrt(n . A n) give rho = -A n / h, and

    rho' = -(omega x (A n) - A (omega x n)) / h - rho h' / h,      h' = n . (omega x (A n)) / h.

In a hollow sphere n points from the centre of the ball to that of the sphere, rho = -r n. An ellipsoid whose centre is
at R c has rho + R c instead, and axes that are turned in the link stand in R.

What slides keeps the first row alone; its friction, -mu N u/|u|, is in `friction.py`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from reference_engine.errors import MechanismError
from reference_engine.multibody.links import GROUND, check_ends, vector
from reference_engine.rotation import matrices_by_direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """A link that rolls on the world, in space. It never leaves, and whether a contact could pull so is not asked.

    semi_axes: one radius, or three along the link's axes, one of which may be 0 (a disc), about `centre` and turned by
    `turned`. The plane goes through `point` with `normal` towards the link, and turns about it there with `turning`.
    With `inner_radius` a ball rolls inside the sphere about `point`.

    With `friction` it slides by Coulomb's law, friction against the slip, until that ends, which is found on the
    solution; then it rolls. Where the force that this takes leaves the cone, or a contact would have to pull, a run
    ends in an error with the time. semi_axes 0 is a point, which slides or sticks.
    """

    link: int
    semi_axes: ArrayLike  # m
    point: ArrayLike = (0.0, 0.0, 0.0)  # m
    normal: ArrayLike = (0.0, 0.0, 1.0)  # of any length
    turning: float = 0.0  # rad/s
    inner_radius: float | None = None  # m
    friction: float | None = None  # coefficient [it never slips]
    centre: ArrayLike = (0.0, 0.0, 0.0)  # m, of the ellipsoid in the link's frame
    turned: ArrayLike = (1.0, 0.0, 0.0, 0.0)  # quaternion w x y z of any length: its axes in the link's frame
    name: str = ""
    first = property(lambda self: GROUND)
    second = property(lambda self: self.link)
    first_point = property(lambda self: None)
    second_point = property(lambda self: None)

    def __post_init__(self) -> None:
        what = f"rolling {self.name!r}" if self.name else "rolling"
        check_ends(what, GROUND, self.link)
        axes = vector(what, "semi_axes", self.semi_axes, (0, 3))
        axes = np.repeat(axes, 3) if axes.ndim == 0 else axes
        if self.friction is not None and not (math.isfinite(self.friction) and self.friction >= 0.0):
            raise MechanismError(f"{what}: friction {self.friction!r}; finite and at least 0, or None: it never slips")
        point = self.friction is not None and not axes.any()
        if not ((axes >= 0.0).all() and (np.count_nonzero(axes) >= 2 or point)):
            raise MechanismError(
                f"{what}: semi_axes {axes.tolist()} m; positive, of a disc one of them 0, of a point with friction all"
            )
        centre = vector(what, "centre", self.centre, (3,))
        turned = vector(what, "turned", self.turned, (4,))
        if not turned.any():
            raise MechanismError(f"{what}: turned (0, 0, 0, 0) is no rotation; a quaternion w x y z")
        normal = vector(what, "normal", self.normal, (3,))
        if not normal.any():
            raise MechanismError(f"{what}: normal (0, 0, 0) has no direction")
        if self.inner_radius is not None:
            if not (math.isfinite(self.inner_radius) and self.inner_radius > axes.max()):
                raise MechanismError(
                    f"{what}: inner_radius {self.inner_radius!r} m; finite and more than the ball's {axes.max():g}"
                )
            if axes.min() < axes.max() or not axes.any() or self.turning or centre.any():
                raise MechanismError(
                    f"{what}: inside a hollow sphere, which does not turn, rolls a ball alone, about its centre of mass"
                )
        object.__setattr__(self, "semi_axes", axes)
        object.__setattr__(self, "normal", normal / norm(normal))
        object.__setattr__(self, "point", vector(what, "point", self.point, (3,)))
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "turned", turned / norm(turned))


class RollingRows:
    """The rows of one rolling link: the gap, then u along x, y and z."""

    def __init__(self, joint: Rolling, link: int) -> None:
        self.link, self._point, self._inner_radius = link, np.asarray(joint.point), joint.inner_radius
        self._squares, self._normal = squared(np.asarray(joint.semi_axes)), np.asarray(joint.normal)
        self._radius = float(np.max(joint.semi_axes))
        self._turn = joint.turning * self._normal
        self.friction = joint.friction
        self._centre, self._axes = np.asarray(joint.centre), matrices_by_direction(np.asarray(joint.turned)[None])[0]

    def evaluate(self, position: Array, rotation: Array) -> tuple[Array, Array, float]:
        """rho (3,), n (3,) and the gap, of a pose of all links."""
        x = position[self.link]
        if self._inner_radius is not None:
            inward = self._point - x
            far = float(norm(inward))
            n = inward / far if far > 0.0 else self._normal
            return -self._radius * n, n, self._inner_radius - self._radius - far
        R = rotation[self.link]
        Q, at = mul(R, self._axes), mul(R, self._centre)
        on = mul(Q, self._squares * (mul(Q.T, self._normal)))  # A n
        h = math.sqrt(float(mul(on, self._normal)))
        rho = at - on / h if h > 0.0 else at
        return rho, self._normal, float(mul(self._normal, x + at - self._point)) - h

    def jacobian(self, placed: tuple[Array, Array, float]) -> Array:
        """(4, 6) for (v, omega): e . u for e = n, x, y, z."""
        rho, n, _ = placed
        J = np.zeros((4, 6))
        J[0, :3], J[1:, :3] = n, np.eye(3)
        J[0, 3:] = np.cross(rho, n)  # e . (omega x rho) = omega . (rho x e)
        J[1:, 3:] = np.cross(rho, np.eye(3))
        return J

    def drift(self, placed: tuple[Array, Array, float], position: Array) -> Array:
        """(4,) m/s: what u is at rest, because the plane turns."""
        rho, n, _ = placed
        of_plane = np.cross(self._turn, position[self.link] + rho - self._point)
        return -np.array([mul(n, of_plane), *of_plane])

    def bias(self, placed: tuple[Array, Array, float], rotation: Array, velocity: Array, spin: Array) -> Array:
        """gamma (4,): u' without accelerations."""
        rho, n, gap = placed
        v, w = velocity[self.link], spin[self.link]
        if self._inner_radius is not None:
            far = self._inner_radius - self._radius - gap
            n_rate = (n * float(mul(n, v)) - v) / far
            rate = -self._radius * n_rate
            return np.array([mul(n, np.cross(w, rate)) + mul(n_rate, v + np.cross(w, rho)), *np.cross(w, rate)])
        R = rotation[self.link]
        Q, at = mul(R, self._axes), mul(R, self._centre)
        rate = np.cross(w, at)
        if self._squares.any():
            on = mul(Q, self._squares * (mul(Q.T, n)))
            h = math.sqrt(float(mul(on, n)))
            moved = np.cross(w, on)
            rate -= (moved - mul(Q, self._squares * (mul(Q.T, np.cross(w, n))))) / h + (rho - at) * float(
                mul(n, moved)
            ) / squared(h)
        gamma = np.cross(w, rate) - np.cross(self._turn, v + rate)
        return np.array([mul(n, gamma), *gamma])
