"""A world of ellipsoids, simulated from its start."""

from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul
from reference_engine.elementary import squared
from reference_engine.errors import SpatialWorldError
from reference_engine.heaps.stepper import Stepper
from reference_engine.heaps.world import EllipsoidWorld, SpatialSettings, scalar
from reference_engine.rotation import matrices


@dataclass(frozen=True, slots=True, kw_only=True)
class EllipsoidMotion:
    """S samples of B bodies, SI, world axes; and how the steps went."""

    time: Array  # (S,) s
    position: Array  # (S, B, 3) m
    orientation: Array  # (S, B, 4) unit quaternion w x y z, body to world
    velocity: Array  # (S, B, 3) m/s
    spin: Array  # (S, B, 3) rad/s
    contacts: int  # looked at, of all steps
    repeats: int  # of the gaps' linearisation, of all steps; one a step is the least
    most_repeats: int  # in one step
    sweeps: int  # of Gauss-Seidel
    halvings: int  # of steps that were too long
    unlocated: int  # rests of steps in which bodies struck whose time was to be found and was not
    reduced_bounces: int  # impacts that would have gained energy, and were given less of a bounce
    residual: float  # m/s, the worst by which contacts miss Coulomb's law
    gap_error: float  # m, the worst by which gaps are off their aim, see StepReport


def simulate_ellipsoids(
    world: EllipsoidWorld, duration: float, dt: float, *, sample_every: int = 1, settings: SpatialSettings | None = None
) -> EllipsoidMotion:
    """From 0 to the last whole step that ends by `duration`, s; a sample at the start and every so many steps of dt, s.

    Raises SpatialWorldError for what cannot be simulated, UnresolvedStepError where a step does not come to within its
    tolerances: no answer is returned that does not keep them.
    """
    if not (np.isfinite(scalar("duration", duration)) and duration >= 0.0):
        raise SpatialWorldError(f"duration: {duration} s; at least 0 and finite")
    if type(sample_every) is not int or sample_every < 1:
        raise SpatialWorldError(f"sample_every: {sample_every}; at least 1")
    stepper = Stepper(world, dt, settings)
    steps = int(np.floor(duration / dt * (1.0 + 1e-12)))
    samples, bodies = steps // sample_every + 1, len(world.position)
    time, position = np.zeros(samples), np.empty((samples, bodies, 3))
    orientation, twist = np.empty((samples, bodies, 4)), np.empty((samples, bodies, 6))
    reports = []
    for k in range(steps + 1):
        if k % sample_every == 0:
            i, now = k // sample_every, (stepper.position, stepper.orientation, stepper.twist)
            time[i], (position[i], orientation[i], twist[i]) = k * dt, now
        if k < steps:
            reports.append(stepper.step())
    summed = ("contacts", "repeats", "sweeps", "halvings", "unlocated", "reduced_bounces")
    return EllipsoidMotion(
        time=time, position=position, orientation=orientation,
        velocity=twist[..., :3].copy(), spin=twist[..., 3:].copy(),
        **{name: sum(getattr(report, name) for report in reports) for name in summed},
        most_repeats=max((report.repeats for report in reports), default=0),
        residual=max((report.residual for report in reports), default=0.0),
        gap_error=max((report.gap_error for report in reports), default=0.0),
    )  # fmt: skip


def ellipsoid_energy(world: EllipsoidWorld, motion: EllipsoidMotion) -> Array:
    """(S,) J: kinetic and of gravity's potential, 0 at the origin, of all bodies that move."""
    moving = ~world.fixed
    own = np.einsum("sbij,sbi->sbj", matrices(motion.orientation), motion.spin)
    per_body = 0.5 * world.mass * (squared(motion.velocity)).sum(axis=2)
    per_body += 0.5 * (world.inertia * squared(own)).sum(axis=2)
    per_body -= world.mass * (mul(motion.position, world.gravity))
    return (per_body * moving).sum(axis=1)
