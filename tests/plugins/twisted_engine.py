"""The exact engine, and pymunk, with a fault of your choice that one relation of a scene to its twin shows, and no law
does. It adds to every body's way, against gravity,

    share * length * (t / T)^2

of a size of its own, times a factor that the change of the scene changes: the mass, the number of bodies, the height of
the world's axes, what the process has simulated before.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from scenarios.mass import bounding_radius
from scenarios.scene import masses
from validation.engines.engine import Setting
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.reference.adapter import Reference
from validation.engines.relations import NAMES, Relation, repeats, unchanged_when

SHARE = 1e-3
FAULT = Setting(default="none", choices=("none", *NAMES), doc="which change of a scene it sees")
before = [0]


def seen(fault: str, scene: Any, dt: float, motion: Any) -> Any:
    """(S, B) or less: the factor, by the change that has it be another; 0 without a fault."""
    t, T = motion.time[:, None], scene.duration
    radius = np.array([bounding_radius(body.shape) for body in scene.bodies])
    speed = np.linalg.norm(motion.velocity, axis=2)
    axis = motion.position[0]
    before[0] += 1
    return {
        "none": 0.0,
        "run again": np.random.default_rng().random(),
        "run after another scene": float(before[0]),
        "turned": axis[:, 0] > axis[:, 1],
        "mirrored": np.sign(motion.spin),
        "moved": np.abs(axis[:, 0]),
        "reordered": np.arange(len(radius)),
        "scaled in length": 1.0 / radius,
        "scaled in time": T,
        "scaled in mass": masses(scene),
        "boosted": speed / (radius / T + speed),
        "joined by a body far away": len(radius),
        "split in two": (t / T) ** 2,
        "run at half the step": T / dt / 100.0,
    }[fault]


def twisted(fault: str, scene: Any, dt: float, motion: Any) -> Any:
    gravity = np.array(scene.gravity)
    up = -gravity / (np.linalg.norm(gravity) or 1.0)
    radius = np.array([bounding_radius(body.shape) for body in scene.bodies])
    way = SHARE * radius * seen(fault, scene, dt, motion) * (motion.time[:, None] / scene.duration) ** 2
    way = np.where([body.fixed for body in scene.bodies], 0.0, way)
    pose = np.array(motion.pose)
    pose[..., :2] += way[..., None] * up
    return dataclasses.replace(motion, pose=pose, state_hash="")


class Twisted(Reference):
    name = "twisted"
    relations = (
        *Reference.relations,
        *unchanged_when(
            *(change for change in NAMES if change not in {one.change for one in Reference.relations}),
            agree="round-off",
            promise="its manual",
        ),
    )
    settings: ClassVar = {**Reference.settings, "fault": FAULT}

    def declines(self, scene: Any) -> str | None:
        return "it is planar" if scene.dimension == 3 else super().declines(scene)

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        return twisted(settings["fault"], scene, dt, super().simulate(scene, dt, settings))


class TwistedPymunk(Pymunk):
    """Promises that the fault "moved" changes nothing."""

    name = "twisted-pymunk"
    settings: ClassVar = {**Pymunk.settings, "fault": FAULT}
    relations = (*repeats("its manual"), *unchanged_when("moved", agree="minimum", promise="its manual"))

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        return twisted(settings["fault"], scene, dt, super().simulate(scene, dt, settings))


class TwoWays(TwistedPymunk):
    """Promises that the fault "scaled in mass" is none."""

    name = "two-ways"
    relations = (
        Relation(
            name="it is as if there was a fault or not",
            one={"fault": "none"},
            other={"fault": "scaled in mass"},
            agree="round-off",
            promise="its manual",
        ),
    )
