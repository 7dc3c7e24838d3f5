"""Momentum that nothing outside the scene explains.

Isolated: no boundary, no fixed body, no joint or spring to the world, no damping, no thruster. There both metrics are
measured; elsewhere only as far as the truth says that momentum is kept. Velocities are taken as recorded: all bodies
of an isolated scene fall alike, so a lag between velocities and poses shifts every sample by the same amount.
"""

from __future__ import annotations

import numpy as np

from scenarios.scene import Damping, Scene
from validation.metrics.energy import cross, to_body_axes
from validation.metrics.observation import Array, Observation, free, free_inertia, free_mass, length, shared
from validation.trajectory import PlanarTrajectory


def is_isolated(scene: Scene) -> bool:
    """Whether gravity is all that acts on it from outside."""
    tied = [tie.b is None for tie in (*scene.joints, *scene.springs)]
    moved = scene.boundaries or scene.thrusters or any(body.fixed for body in scene.bodies)
    return not (moved or any(tied) or scene.damping != Damping())


def momentum_drift(o: Observation) -> float | None:
    """Largest |P(t) - P(0) - M g t|; of the x component alone where the truth keeps only that one."""
    if is_isolated(o.scene) or "momentum" in o.truth.invariants:
        axes = slice(None)
    elif "momentum-x" in o.truth.invariants:
        axes = slice(0, 1)
    else:
        return None
    m, v = free_mass(o), o.trajectory.velocity
    gained = np.einsum("b,sbi->si", m, v - v[0])
    gained -= m.sum() * o.gravity * (o.time - o.time[0])[:, None]
    return float(length(gained[:, axes]).max())


def angular_momentum_drift(o: Observation) -> float | None:
    """Largest |L(t) - L(0)|, L about the common centre of mass of all free bodies, their spins included."""
    if not (is_isolated(o.scene) or "angular-momentum" in o.truth.invariants):
        return None
    L = angular_momentum(o)
    return float(length(L - L[0]).max())


@shared
def angular_momentum(o: Observation) -> Array:
    """(S, 1 or 3) kg m^2/s: sum of m (x - X) x (v - V) + I w."""
    m, moving = free_mass(o), free(o)
    x, v = (
        part - np.einsum("b,sbi->si", m / m.sum(), part)[:, None]
        for part in (o.trajectory.position, o.trajectory.velocity)
    )
    inertia = free_inertia(o)[moving]
    if isinstance(o.trajectory, PlanarTrajectory):
        orbital = x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]
        return (orbital @ m + o.trajectory.spin[:, moving] @ inertia)[:, None]
    q, spin = o.trajectory.orientation[:, moving], o.trajectory.spin[:, moving]
    inverse = q * np.array([1.0, -1.0, -1.0, -1.0])
    own = to_body_axes(inverse, inertia * to_body_axes(q, spin))
    return np.einsum("b,sbi->si", m, cross(x, v)) + own.sum(axis=1)
