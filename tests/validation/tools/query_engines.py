"""Engines of spheres that are asked in tests: one that is right, and some that are wrong in a known way."""

from __future__ import annotations

import os
import time
from typing import ClassVar

import numpy as np

from validation.engines.engine import SteppingEngine
from validation.engines.queries import Answered, Query
from validation.engines.takes import SPATIAL
from validation.records.queries import Answers

ANSWERS: frozenset[Answered] = frozenset({"contact", "gap", "normal"})
FAR = 50.0  # m, of one pose of the first 60 of seed 0


class Spheres(SteppingEngine):
    name, version = "spheres", "1.0"
    takes = SPATIAL
    queries: ClassVar = {"distance": Query(call="by hand", shapes=frozenset({"sphere"}), answers=ANSWERS)}

    def answer(self, query, scene, settings, poses):  # type: ignore[no-untyped-def]
        apart = poses.position[:, 1] - poses.position[:, 0]
        length = np.linalg.norm(apart, axis=1)
        gap = length - sum(body.shape.radius for body in scene.bodies)
        with np.errstate(invalid="ignore"):
            normal = np.where(length[:, None] > 0.0, apart / length[:, None], (0.0, 0.0, 1.0))
        return self.changed(Answers(contact=gap <= 0.0, gap=gap, normal=normal), poses)

    def changed(self, answers, poses):  # type: ignore[no-untyped-def]
        return answers


class Flipped(Spheres):
    name = "flipped"

    def changed(self, answers, poses):  # type: ignore[no-untyped-def]
        return Answers(contact=answers.contact, gap=answers.gap, normal=-answers.normal)


class Shallow(Spheres):
    name = "shallow"

    def changed(self, answers, poses):  # type: ignore[no-untyped-def]
        return Answers(contact=answers.contact, gap=np.maximum(answers.gap, -0.01), normal=answers.normal)


class Aborting(Spheres):
    """Where a body is far away its process ends."""

    name = "aborting"

    def changed(self, answers, poses):  # type: ignore[no-untyped-def]
        if (np.abs(poses.position) > FAR).any():
            os.abort()
        return answers


class Hanging(Spheres):
    name = "hanging"

    def changed(self, answers, poses):  # type: ignore[no-untyped-def]
        if (np.abs(poses.position) > FAR).any():
            time.sleep(60.0)
        return answers


class Silent(SteppingEngine):
    name, version = "silent", "1.0"
    takes = SPATIAL
