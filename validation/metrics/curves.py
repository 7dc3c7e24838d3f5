"""What people look at beside a motion: energy and the smallest gap over time, and where bodies touch."""

from __future__ import annotations

import numpy as np

from reference_engine.geometry.proximities import Proximities
from scenarios.catalogue.scene_file import scenario_from_scene
from scenarios.scene import Scene
from validation.metrics.energy import energy
from validation.metrics.observation import Array, Observation
from validation.metrics.proximity import proximities
from validation.records.trajectory import Trajectory

Curves = dict[str, tuple[Array, Array]]


def curves(scene: Scene, trajectory: Trajectory) -> tuple[Curves, Proximities]:
    """Name and unit -> (times, values): energy above its start; the smallest gap where a pair is near. And all near
    pairs of all samples."""
    o = Observation(scenario=scenario_from_scene("shown", scene), trajectory=trajectory)
    E = energy(o)
    found = proximities(o)
    least = np.full(len(o.time), np.inf)
    np.minimum.at(least, found.sample, found.gap)
    near = np.isfinite(least)
    shown = {"energy above start (J)": (o.time, E - E[0])}
    if near.any():
        shown["smallest gap (m)"] = (o.time[near], least[near])
    return shown, found
