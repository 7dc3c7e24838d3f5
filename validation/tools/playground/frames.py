"""Frames of a motion as the browser draws them: poses, forces, contacts, energies, the smallest gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios.forces import spring_energy
from scenarios.scenario import Scenario
from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.metrics.energy import kinetic_energy_of_spin
from validation.metrics.flight import velocity_at_pose
from validation.metrics.observation import Observation, free_mass, size
from validation.metrics.proximity import proximities
from validation.records.trajectory import PlanarTrajectory, Trajectory, with_samples
from validation.report import motion

CONTACT_GAP = 1e-3  # of the smallest free body's diameter: a smaller gap is drawn as a contact


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """N of them, the first being number `first`."""

    first: int
    poses: Array  # (N, B, 3 or 7)
    twists: Array  # (N, B, 3 or 6)
    forces: Sequence[Any]
    contacts: Sequence[Any]
    kinetic: Array  # (N,) J
    potential: Array  # (N,) J, above that of the start
    gap: Array  # (N,) m; infinite where no pair is near

    def message(self) -> tuple[dict[str, Any], bytes]:
        """A header for JSON, and poses then twists as little-endian float32."""
        header = {
            "first": self.first,
            "count": len(self.poses),
            "forces": self.forces,
            "contacts": self.contacts,
            "kinetic": _numbers(self.kinetic),
            "potential": _numbers(self.potential),
            "gap": _numbers(self.gap),
        }
        return header, np.nan_to_num(self.poses).astype("<f4").tobytes() + np.nan_to_num(self.twists).astype(
            "<f4"
        ).tobytes()


def frames_of(scenario: Scenario, trajectory: Trajectory, first: int, times: Array) -> Frames:
    """The frames at these times, s, of a motion that covers them."""
    shown = _samples_near(scenario.scene, trajectory, float(times[0]), float(times[-1]))
    observation = Observation(scenario=scenario, trajectory=shown)
    kinetic, potential = energies(observation)
    near = proximities(observation)
    least = np.full(len(shown.time), np.inf)
    np.minimum.at(least, near.sample, near.gap)
    sample = np.clip(np.searchsorted(shown.time, times + 1e-9, side="right") - 1, 0, None)
    close = np.flatnonzero(near.gap <= CONTACT_GAP * size(observation))
    contacts: list[list[list[float]]] = []
    for k in sample:
        rows = close[near.sample[close] == k]
        contacts.append(
            [
                [int(near.a[r]), int(near.b[r]), float(f"{near.gap[r]:.3g}"), *np.round(near.point_b[r], 5).tolist()]
                for r in rows
            ]
        )
    return Frames(
        first=first,
        poses=motion.poses_at(trajectory, times),
        twists=_twists(trajectory)[np.clip(np.searchsorted(trajectory.time, times + 1e-9, side="right") - 1, 0, None)],
        forces=[np.round(f, 5).tolist() for f in motion.forces_at(scenario.scene, trajectory, times)],
        contacts=contacts,
        kinetic=np.interp(times, shown.time, kinetic),
        potential=np.interp(times, shown.time, potential),
        gap=least[sample],
    )


def energies(o: Observation) -> tuple[Array, Array]:
    """(S,) J each: of motion; of height above the first sample, and of springs."""
    m, position, v = free_mass(o), o.trajectory.position, velocity_at_pose(o)
    kinetic = mul(0.5 * np.einsum("sbi,sbi->sb", v, v), m) + kinetic_energy_of_spin(o)
    potential = mul(mul(position - position[0], -o.gravity), m)
    if o.scene.springs:
        parts = list(o.trajectory.STATE)[: 1 if o.is_planar else 2]
        poses = zip(*(getattr(o.trajectory, name) for name in parts))
        held = [spring_energy(o.scene, t, *pose) for t, pose in zip(o.time.tolist(), poses)]
        potential = potential + np.array(held)
    return kinetic, potential


def _samples_near(scene: Scene, trajectory: Trajectory, first: float, last: float) -> Trajectory:
    """The start, which heights count from, then the samples from one before `first` to one after `last`."""
    time = trajectory.time
    begin = max(0, int(np.searchsorted(time, first - 1e-9)) - 1)
    end = min(len(time), int(np.searchsorted(time, last + 1e-9, side="right")) + 1)
    start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
    chosen = slice(begin, end)
    state = {
        name: np.concatenate([part[None], getattr(trajectory, name)[chosen]])
        for name, part in zip(trajectory.STATE, start)
    }
    return with_samples(trajectory, np.concatenate([[min(0.0, first)], time[chosen]]), state)


def _twists(trajectory: Trajectory) -> Array:
    if isinstance(trajectory, PlanarTrajectory):
        return trajectory.twist
    return np.concatenate([trajectory.velocity, trajectory.spin], axis=2)


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]
