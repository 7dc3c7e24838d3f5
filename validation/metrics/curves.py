"""Curves over time for people to look at: energy and the smallest gap."""

from __future__ import annotations

import numpy as np

from scenarios.catalogue.scene_file import scenario_from_scene
from scenarios.scene import Scene
from validation.metrics.energy import energy
from validation.metrics.observation import Array, Observation
from validation.metrics.proximity import proximities
from validation.trajectory import Trajectory


def curves(scene: Scene, trajectory: Trajectory) -> dict[str, tuple[Array, Array]]:
    """Name and unit -> (times, values): energy above its start; the smallest gap where a pair is near."""
    o = Observation(scenario=scenario_from_scene("shown", scene), trajectory=trajectory)
    E = energy(o)
    found = proximities(o)
    least = np.full(len(o.time), np.inf)
    np.minimum.at(least, found.sample, found.gap)
    near = np.isfinite(least)
    shown = {"energy above start (J)": (o.time, E - E[0])}
    if near.any():
        shown["smallest gap (m)"] = (o.time[near], least[near])
    return shown
