"""Momentum that nothing outside the scene explains.

Isolated: no boundary, no fixed body, no joint or spring to the world, no damping, no thruster. There both metrics are
measured; elsewhere only as far as the truth says that momentum is kept. Velocities are taken as recorded: all bodies
of an isolated scene fall alike, so a lag between velocities and poses shifts every sample by the same amount; and
forces between its bodies shift momenta in opposite ways, angular momenta too.

In space a lag leaves open at which orientation a spin is meant. An engine that carries over the spin, or the spin in
body axes, has it half a step away from the pose, where the body is turned by w velocity_lag; one that carries over the
angular momentum makes the spin of it at the pose. With the wrong one L seems to precess by |w x L| velocity_lag. The
record does not say which it was, so the angular momentum is read both ways.
"""

import numpy as np

from reference_engine.dense import cross, mul
from scenarios.scene import Damping, Scene
from validation.metrics.axes import moment, to_body_axes, to_world_axes, turned
from validation.metrics.metric import Metric, Sentence
from validation.metrics.observation import Array, Observation, free, free_inertia, free_mass, length
from validation.records.trajectory import PlanarTrajectory


def is_isolated(scene: Scene) -> bool:
    """Whether gravity is all that acts on it from outside."""
    tied = [tie.b is None for tie in (*scene.joints, *scene.springs)]
    moved = scene.boundaries or scene.thrusters or any(body.fixed for body in scene.bodies)
    native = getattr(scene, "native", None)
    return not (moved or any(tied) or scene.damping != Damping() or (native and native.acted_on))


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
    """Largest |L(t) - L(0)|, L about the common centre of mass of all free bodies, their spins included.

    In space with a velocity lag the smaller of two: spins at the poses, and with the bodies turned to their spins.
    """
    if not (is_isolated(o.scene) or "angular-momentum" in o.truth.invariants):
        return None
    lags = (0.0,) if o.is_planar else (0.0, o.trajectory.velocity_lag)
    readings = [angular_momentum(o, lag) for lag in lags]
    return float(np.min([length(L - L[0]).max() for L in readings]))


def angular_momentum(o: Observation, lag: float = 0.0) -> Array:
    """(S, 1 or 3) kg m^2/s: sum of m (x - X) x (v - V) + I w, with I of each body turned on by w lag (s)."""
    m, moving = free_mass(o), free(o)
    x, v = (
        part - np.einsum("b,sbi->si", m / m.sum(), part)[:, None]
        for part in (o.trajectory.position, o.trajectory.velocity)
    )
    inertia = free_inertia(o)[moving]
    if isinstance(o.trajectory, PlanarTrajectory):
        return (mul(moment(x, v)[..., 0], m) + mul(o.trajectory.spin[:, moving], inertia))[:, None]
    q, spin = o.trajectory.orientation[:, moving], o.trajectory.spin[:, moving]
    own = to_world_axes(q, inertia * to_body_axes(q, spin))
    if lag != 0.0:  # a turn about w leaves w: R I R^T w is turned as the body is
        own = turned(own, spin * lag)
    return np.einsum("b,sbi->si", m, cross(x, v)) + own.sum(axis=1)


METRICS = (
    Metric(
        momentum_drift,
        "kg m/s",
        "round-off",
        law="momentum kept",
        sentence=Sentence("momentum changes by {new} without a cause"),
    ),
    Metric(
        angular_momentum_drift,
        "kg m^2/s",
        "tolerance",
        law="momentum kept",
        sentence=Sentence("angular momentum changes by {new} without a cause"),
    ),
)
