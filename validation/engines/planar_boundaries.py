"""Half-planes and bowls, for planar engines that know finite convex shapes only.

A half-plane becomes a slab: a rectangle whose one face lies in the plane's surface and is longer than anything can
travel. A rectangle rather than a segment, because it is solid: what is pushed into it is pushed out on its own side.
A bowl becomes a closed polygon of facets that touch its circle from outside in their middles, so that a disc on a
facet's middle rests where it should, and by (R - r)(1/cos(pi/N) - 1) too low in a corner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenarios import mass
from scenarios.scene import Bowl, HalfPlane, PlanarScene, planar_start

Array = NDArray[np.float64]

SPARE = 10.0  # m
SPARE_FACTOR = 2.0


class OffTheSlabError(RuntimeError):
    """A body got further along a half-plane than the slab that stands for it; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slab:
    """The rectangle |x| <= half_length, -half_length <= y <= 0 in its own frame."""

    name: str
    origin: tuple[float, float]  # m, on the surface, below the middle of the bodies at the start
    angle: float  # rad, of the surface; 0 where the normal is (0, 1)
    half_length: float  # m

    @property
    def vertices(self) -> tuple[tuple[float, float], ...]:
        h = self.half_length
        return (-h, -h), (h, -h), (h, 0.0), (-h, 0.0)

    def check(self, scene: PlanarScene, positions: Array) -> None:
        """Raises OffTheSlabError where a free body's centre, (S, B, 2), got off the end."""
        along = (positions - np.array(self.origin)) @ np.array([math.cos(self.angle), math.sin(self.angle)])
        for i, body in enumerate(scene.bodies):
            furthest = float(np.abs(along[:, i]).max())
            if not body.fixed and furthest > self.half_length:
                raise OffTheSlabError(
                    f"body {body.name!r} moved {furthest:.3g} m along half-plane {self.name!r}, which this engine "
                    f"has for {self.half_length:.3g} m; shorten the duration"
                )


def slab(scene: PlanarScene, plane: HalfPlane) -> Slab:
    """Twice as long as a body can get by its start speed, by gravity along the plane and by what it can fall."""
    pose, twist = planar_start(scene)
    free = np.array([not body.fixed for body in scene.bodies])
    reaches = np.array([mass.reach(body.shape) for body in scene.bodies])
    normal, point, gravity = np.array(plane.normal), np.array(plane.point), np.array(scene.gravity)
    tangent = np.array([normal[1], -normal[0]])
    offset = (pose[:, :2] - point) @ tangent
    middle = 0.5 * (offset[free].min() + offset[free].max())
    origin = point + middle * tangent
    height = np.abs((pose[:, :2] - point) @ normal)[free].max() + reaches[free].max()
    speed = (np.hypot(twist[:, 0], twist[:, 1]) + np.abs(twist[:, 2]) * reaches)[free].max()
    speed += math.sqrt(2.0 * float(np.hypot(*gravity)) * height)
    duration = scene.duration
    travel = speed * duration + 0.5 * abs(float(gravity @ tangent)) * duration**2
    extent = (np.abs(offset - middle) + reaches)[free].max()
    return Slab(
        name=plane.name,
        origin=(float(origin[0]), float(origin[1])),
        angle=math.atan2(-plane.normal[0], plane.normal[1]),
        half_length=float(SPARE_FACTOR * (extent + travel) + SPARE),
    )


def bowl_facets(bowl: Bowl, count: int) -> Array:
    """(count, 2) m, corners of the facets in the world, counter-clockwise."""
    angle = 2.0 * math.pi * (np.arange(count) + 0.5) / count
    outer = bowl.radius / math.cos(math.pi / count)
    return np.array(bowl.center) + outer * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def inset(vertices: Sequence[tuple[float, float]], depth: float) -> list[tuple[float, float]] | None:
    """A convex polygon with every edge moved inward by `depth` (m); None where nothing of it is left."""
    v = np.asarray(vertices, dtype=np.float64)
    edge = np.roll(v, -1, axis=0) - v
    outward = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.hypot(edge[:, 0], edge[:, 1])[:, None]
    before = np.roll(outward, 1, axis=0)
    # The edges n . x = c and m . x = d that meet in v meet, both moved, in v - depth (n + m) / (1 + n . m).
    corners = v - depth * (before + outward) / (1.0 + np.einsum("ij,ij->i", before, outward))[:, None]
    moved = np.roll(corners, -1, axis=0) - corners
    if np.any(np.einsum("ij,ij->i", moved, edge) <= 0.0):
        return None
    return [(float(x), float(y)) for x, y in corners]
