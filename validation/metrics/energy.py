"""Energy: kinetic, in gravity, in springs and in compliant contacts, with the velocities at the time of the poses."""

from __future__ import annotations

import numpy as np

from scenarios.forces import spring_energy
from scenarios.materials import stiffness
from validation.metrics.axes import to_body_axes
from validation.metrics.flight import energy_doubt, spin_at_pose, velocity_at_pose
from validation.metrics.metric import Reading
from validation.metrics.observation import Array, Observation, free_inertia, free_mass, shared
from validation.metrics.proximity import proximities
from validation.trajectory import PlanarTrajectory, SpatialTrajectory


@shared
def energy(o: Observation) -> Array:
    """(S,) J: sum over free bodies of m v^2 / 2 + w I w / 2 - m g . (x - x(0)), plus what springs and contacts hold.

    Heights count from the start, so that a scene far from the origin loses no digits.
    """
    m, position, v = free_mass(o), o.trajectory.position, velocity_at_pose(o)
    lift = (position - position[0]) @ -o.gravity
    total = (0.5 * np.einsum("sbi,sbi->sb", v, v) + lift) @ m + kinetic_energy_of_spin(o)
    if o.scene.springs:
        total = total + np.array([spring_energy(o.scene, *pose) for pose in _poses(o)])
    if o.scene.contact.compliant is not None:
        total = total + elastic_energy(o)
    return total


def open_energy(o: Observation) -> Array:
    """(S,) J, in doubt: what the lag leaves open, and while a compliant contact lasts what it holds.

    An engine with a law of its own holds another energy at the same depth; before and after a contact laws agree.
    """
    return energy_doubt(o) + (elastic_energy(o) if o.scene.contact.compliant else 0.0)


@shared
def elastic_energy(o: Observation) -> Array:
    """(S,) J: 2/5 c depth^2.5 of every pair in touch, by the scene's own law and our own gaps (Hertz 1882)."""
    given, near, held = o.scene.contact.compliant, proximities(o), np.zeros(len(o.time))
    assert given is not None
    members = (*o.scene.bodies, *o.scene.boundaries)
    deep = np.flatnonzero(near.gap < 0.0)
    c = {(a, b): stiffness(given, members[a], members[b]) for a, b in set(zip(near.a[deep], near.b[deep]))}
    each = np.array([c[pair] for pair in zip(near.a[deep], near.b[deep])])
    np.add.at(held, near.sample[deep], 0.4 * each * (-near.gap[deep]) ** 2.5)
    return held


def kinetic_energy_of_spin(o: Observation) -> Array:
    """(S,) J; spatial: with the spin in body axes, where the inertia is diagonal."""
    inertia, spin = free_inertia(o), spin_at_pose(o)
    if isinstance(o.trajectory, PlanarTrajectory):
        return 0.5 * spin**2 @ inertia
    body_spin = to_body_axes(o.trajectory.orientation, spin)
    return 0.5 * np.einsum("sbi,bi->s", body_spin**2, inertia)


def energy_drift(o: Observation) -> Reading | None:
    """Largest |E(t) - E(0)| over all samples, less what the velocity lag and compliant contacts leave in doubt.

    The largest, not the last: an error that comes and goes is one. Lower is better where the truth says that energy
    keeps its value; elsewhere friction and impacts take some, and the figure is only told. Scenes with thrusters have
    no energy to keep.
    """
    if o.scene.thrusters:
        return None
    E, doubt = energy(o), open_energy(o)
    drift = (np.abs(E - E[0]) - doubt - doubt[0]).max()
    return Reading(value=float(np.maximum(drift, 0.0)), better="lower" if "energy" in o.truth.invariants else "neither")


def energy_gain(o: Observation) -> float | None:
    """Largest E(t) - E(s) over s <= t: what a scene without motors never does, however much it loses before.

    A step from flight into contact or back is not judged: each energy counts at the end of its doubt that is kinder
    to the engine. Scenes with thrusters are left out.
    """
    if o.scene.thrusters:
        return None
    E, doubt = energy(o), open_energy(o)
    return float(np.maximum((E - doubt - np.minimum.accumulate(E + doubt)).max(), 0.0))


def _poses(o: Observation) -> list[tuple[Array, ...]]:
    if isinstance(o.trajectory, SpatialTrajectory):
        return list(zip(o.trajectory.position, o.trajectory.orientation))
    return [(pose,) for pose in o.trajectory.pose]
