"""Energy as seen in axes that go with the one body whose motion is given: there it does no work.

What acts besides is m (g - a), where the axes' origin c has the acceleration a, and where they turn at W the
centrifugal force, which has the potential -(m |W x r|^2 + W . I W) / 2, r = x - c; Coriolis' does no work. So

    sum of m |u|^2 / 2 + (w - W) . I (w - W) / 2 - (m |W x r|^2 + W . I W) / 2 - integral of m (g - a) . u dt,
    u = v - c' - W x r,

changes by friction and impacts alone. The integral is taken between samples, and between knots, by Gauss' rule, on the
cubic that has the positions and velocities of both samples; a is known at all times. An acceleration that jumps between
them by A leaves u off by h A / 4, and the integral by no more than that, h, m and what the force changes by.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from reference_engine.array_types import Array
from validation.tools.fuzzing.independent.motion import Motion, in_space

POINTS = 4  # of a stretch
OFF = 0.25  # of the way: by so much is a velocity off whose acceleration jumps


class Seen(NamedTuple):
    """Over S samples."""

    energy: Array  # (S,) J, less the work of inertial forces
    kinetic: Array  # (S, B) J
    doubt: Array  # (S - 1,) J


def only_moved(scene: Any) -> Any:
    """The body of given motion where nothing else is fixed, or tied to the world; else None."""
    fixed = [body for body in scene.bodies if body.fixed]
    to_world = any(tie.b is None or tie.a is None for tie in (*scene.joints, *scene.springs))
    if len(fixed) != 1 or fixed[0].motion is None or scene.boundaries or to_world:
        return None
    return fixed[0]


def seen_in_moving_axes(motion: Motion, body: Any) -> Seen:
    given, t = body.motion, motion.time
    start, W = in_space(np.array(body.position)), turning(given)
    m = motion.mass

    def seen(time: Array, x: Array, v: Array) -> tuple[Array, Array]:
        """Positions (T, B, 3) from the origin of the axes, and velocities in them."""
        r = x - (start + in_space(given.travel(time)))[:, None]
        return r, v - in_space(given.rate(time))[:, None] - np.cross(W, r)

    r, u = seen(t, motion.x, motion.v)
    spin = motion.w - W
    own = np.einsum("sbij,bj,sbkj->sbik", motion.R, motion.inertia, motion.R)  # kg m^2, world axes
    kinetic = 0.5 * m * (u**2).sum(axis=2) + 0.5 * np.einsum("sbi,sbij,sbj->sb", spin, own, spin)
    outwards = 0.5 * m * (np.cross(W, r) ** 2).sum(axis=2) + 0.5 * np.einsum("i,sbij,j->sb", W, own, W)
    held = sum(motion.in_spring(spring) for spring in motion.scene.springs)
    work, doubt = np.zeros(len(t) - 1), np.zeros(len(t) - 1)
    knots = [knot[0] for knot in given.knots]
    for k in np.flatnonzero(np.diff(t) > 0.0).tolist():
        ends = [t[k], *(knot for knot in knots if t[k] < knot < t[k + 1]), t[k + 1]]
        pulls = []
        for low, high in itertools.pairwise(ends):
            time, weight = _gauss(low, high)
            x, v = _between(motion, k, time)
            pull = motion.gravity - in_space(given.acceleration_at(time))
            _, along = seen(time, x, v)
            work[k] += np.einsum("p,b,pi,pbi->", weight, m, pull, along)
            pulls.append(pull)
        doubt[k] = _doubt(motion, k, np.concatenate(pulls), float(np.linalg.norm(W)))
    energy = kinetic.sum(axis=1) - outwards.sum(axis=1) + held
    energy[1:] -= np.cumsum(work)
    return Seen(energy, kinetic, doubt)


def turning(given: Any) -> Array:
    """(3,) rad/s"""
    return np.array([0.0, 0.0, given.spin]) if np.ndim(given.spin) == 0 else np.array(given.spin)


def _gauss(low: float, high: float) -> tuple[Array, Array]:
    nodes, weights = leggauss(POINTS)
    return 0.5 * (low + high) + 0.5 * (high - low) * nodes, 0.5 * (high - low) * weights


def _between(motion: Motion, k: int, time: Array) -> tuple[Array, Array]:
    """(P, B, 3) positions and velocities of the cubic between samples k and k + 1 (Hermite)."""
    h = motion.time[k + 1] - motion.time[k]
    s = ((time - motion.time[k]) / h)[:, None, None]
    a, b, va, vb = motion.x[k], motion.x[k + 1], h * motion.v[k], h * motion.v[k + 1]
    x = a + s * va + s**2 * (3.0 * (b - a) - 2.0 * va - vb) + s**3 * (2.0 * (a - b) + va + vb)
    v = va + 2.0 * s * (3.0 * (b - a) - 2.0 * va - vb) + 3.0 * s**2 * (2.0 * (a - b) + va + vb)
    return x, v / h


def _doubt(motion: Motion, k: int, pull: Array, turns: float) -> float:
    """J between samples k and k + 1, of which `pull` (P, 3), m/s^2, is the inertial force of a unit of mass."""
    t, first, last = motion.time, max(0, k - 1), min(len(motion.time) - 1, k + 2)
    h = t[k + 1] - t[k]
    speeds = motion.v[first : last + 1]
    jumps = np.linalg.norm(np.diff(speeds, axis=0), axis=2).max(axis=0) / h + np.linalg.norm(pull, axis=1).max()
    changes = float(np.linalg.norm(np.ptp(pull, axis=0))) + turns * h * float(np.linalg.norm(pull, axis=1).max())
    return float(OFF * h * h * changes * (motion.mass * jumps).sum())
