"""Reads the state of a pybullet world: some numbers of each body a step, turned into poses a block of steps at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pybullet as pb
from numpy.typing import NDArray

from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.engines.pybullet.world import BASE, X_Y_ANGLE, Built

Array = NDArray[np.float64]


class StateReader:
    """Free bodies are read; others are where they started.

    A body that stands alone has its numbers in the joints that hold it in the plane, or in its base. Those of a body
    that hangs on another are its link's, brought up to date for it: a step leaves them behind.
    """

    def __init__(self, world: Built, scene: Scene) -> None:
        self._client = world.client
        self._planar = isinstance(scene, PlanarScene)
        self._start: list[Array] = list(planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene))
        free = [(i, *address) for i, address in enumerate(world.addresses) if not scene.bodies[i].fixed]
        self._trees: dict[int, list[tuple[int, int]]] = {}  # multibody -> (body, link), of those that are links
        for i, number, link in free:
            if link != BASE:
                self._trees.setdefault(number, []).append((i, link))
        # (body, multibody) of those that stand alone
        if self._planar:
            self._alone = [
                (i, number)
                for i, number, link in free
                if world.hinges[i] == [X_Y_ANGLE[-1]] and len(self._trees[number]) == 1
            ]
            for _, number in self._alone:
                del self._trees[number]
            self._hinges, self._turn = world.hinges, world.turn
            self._joints = {n: range(pb.getNumJoints(n, physicsClientId=self._client)) for n in self._trees}
        else:
            self._alone = [(i, number) for i, number, link in free if link == BASE]
        hung = [i for links in self._trees.values() for i, _ in links]
        self._order = np.array([*(i for i, _ in self._alone), *hung], np.int64)
        self._last = self._start[1][self._order]  # spatial: orientations, for the sign of the next

    def raw(self) -> bytes:
        """Planar: x, y, angle, vx, vy, spin of each body; spatial: position, quaternion x-y-z-w, velocity, spin."""
        numbers = array("d")
        client = self._client
        if self._planar:
            for _, number in self._alone:
                x, y, angle = pb.getJointStates(number, X_Y_ANGLE, physicsClientId=client)
                numbers.extend((x[0], y[0], angle[0], x[1], y[1], angle[1]))
            for number, links in self._trees.items():
                turned = [row[0] for row in pb.getJointStates(number, self._joints[number], physicsClientId=client)]
                for i, row in self._links_of(number, links):
                    (x, y, _), (vx, vy, _), (_, _, spin) = row[0], row[6], row[7]
                    angle = self._turn[i] + sum(turned[k] for k in self._hinges[i])
                    numbers.extend((x, y, angle, vx, vy, spin))
        else:
            for _, number in self._alone:
                position, orientation = pb.getBasePositionAndOrientation(number, physicsClientId=client)
                velocity, spin = pb.getBaseVelocity(number, physicsClientId=client)
                numbers.extend((*position, *orientation, *velocity, *spin))
            for number, links in self._trees.items():
                for _, row in self._links_of(number, links):
                    numbers.extend((*row[0], *row[1], *row[6], *row[7]))
        return numbers.tobytes()

    def turned_by(self, orientation: Array) -> None:
        """The signs of the next quaternions go on from these, (B, 4)."""
        self._last = orientation[self._order]

    def _links_of(self, number: int, links: list[tuple[int, int]]) -> Iterator[tuple[int, Any]]:
        """(body, pybullet's state of the link) with its frame and velocity brought up to date."""
        states = pb.getLinkStates(number, [k for _, k in links], 1, 1, physicsClientId=self._client)
        return zip((i for i, _ in links), states)

    def state(self) -> list[Array]:
        """(pose, twist) or (position, orientation, velocity, spin) now; the sign of a quaternion is by chance."""
        return [part[0] for part in self._parts(self.raw(), 1)]

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        """The parts of so many `raw` that follow those of the last call; a quaternion goes on with its sign."""
        parts = self._parts(raw, steps)
        if not self._planar:
            given = parts[1][:, self._order]
            before = np.concatenate([self._last[None], given])
            turned = np.einsum("sbi,sbi->sb", before[1:], before[:-1]) < 0.0
            given *= np.cumprod(np.where(turned, -1.0, 1.0), axis=0)[..., None]
            parts[1][:, self._order] = given
            self._last = given[-1]
        return parts

    def _parts(self, raw: bytes, steps: int) -> list[Array]:
        numbers = np.frombuffer(raw, np.float64).reshape(steps, self._order.size, -1)
        parts = [np.tile(part, (steps, 1, 1)) for part in self._start]
        ends = (0, 3, 6) if self._planar else (0, 3, 7, 10, 13)
        for part, begin, end in zip(parts, ends, ends[1:], strict=False):
            part[:, self._order] = numbers[..., begin:end]
        if not self._planar:
            parts[1][:, self._order] = numbers[..., [6, 3, 4, 5]]
        return parts
