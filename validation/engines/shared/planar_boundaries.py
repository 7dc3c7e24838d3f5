"""Half-planes and bowls, for planar engines that know finite convex shapes only.

A half-plane becomes a slab: a rectangle whose one face lies in the plane's surface. A rectangle rather than a segment,
because it is solid: what is pushed into it is pushed out on its own side. It is as long as bodies are likely to travel,
not longer, because single precision cuts a long edge at places that are off by 1e-7 of its length. Where a body leaves
it the scene is simulated again on longer slabs, up to what the energy could carry a body: a light body under a heavy
one gets much of the heavy one's energy.
A bowl becomes a closed polygon of facets that touch its circle from outside in their middles, so that a disc on a
facet's middle rests where it should, and by (R - r)(1/cos(pi/N) - 1) too low in a corner.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine.array_types import Array
from scenarios import mass
from scenarios.forces import spring_energy
from scenarios.scene import Bowl, HalfPlane, PlanarScene, inertias, masses, planar_start
from validation.engines.engine import Settings
from validation.engines.shared.recorder import SceneWorld
from validation.records.trajectory import PlanarTrajectory, Trajectory

Point = tuple[float, float]

SPARE = 10.0  # m
SPARE_FACTOR = 2.0


LONGER = 4.0  # times, at each attempt


class OffTheSlabError(RuntimeError):
    """A body got further along a half-plane than its energy could carry it; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slab:
    """The rectangle |x| <= half_length, -half_length <= y <= 0 in its own frame."""

    name: str
    origin: tuple[float, float]  # m, on the surface, below the middle of the bodies at the start
    angle: float  # rad, of the surface; 0 where the normal is (0, 1)
    half_length: float  # m
    longest: bool  # as far as energy can carry a body, and twice that

    @property
    def vertices(self) -> tuple[tuple[float, float], ...]:
        h = self.half_length
        return (-h, -h), (h, -h), (h, 0.0), (-h, 0.0)

    def spans(self, scene: PlanarScene, positions: Array) -> bool:
        """Whether every free body's centre, (S, B, 2), stayed above it. Raises OffTheSlabError where one left the
        longest. What is not finite is nowhere, and found to be that by whoever looks at the motion.
        """
        along = (positions - np.array(self.origin)) @ np.array([math.cos(self.angle), math.sin(self.angle)])
        for i, body in enumerate(scene.bodies):
            furthest = float(np.abs(along[:, i]).max())
            if not body.fixed and self.half_length < furthest < math.inf:
                if not self.longest:
                    return False
                raise OffTheSlabError(
                    f"body {body.name!r} moved {furthest:.3g} m along half-plane {self.name!r}, which this engine "
                    f"has for {self.half_length:.3g} m: twice as far as all the energy of the scene could carry it"
                )
        return True


class SlabWorld(SceneWorld):
    """A planar scene on slabs. A subclass is built by scene, step, settings and how many times longer slabs are."""

    scene: PlanarScene

    def __init__(self, scene: PlanarScene, dt: float, settings: Settings, lengthening: float) -> None:
        super().__init__(scene, dt)
        self.settings = settings
        self.slabs: list[Slab] = []
        self._lengthening = lengthening

    def slab_of(self, plane: HalfPlane) -> Slab:
        self.slabs.append(slab(self.scene, plane, self._lengthening))
        return self.slabs[-1]

    def state(self) -> NDArray[Any]:
        """(B, 6): x, y, angle, vx, vy, spin."""
        raw = self.read()
        assert isinstance(raw, bytes)
        return np.concatenate(self.decode(raw, 1), axis=2)[0]

    def finish(self, motion: Trajectory) -> "SlabWorld | None":
        """Longer slabs where a body left one: so results do not depend on how long the longest would be.

        Raises OffTheSlabError where a body gets further along a half-plane than its energy could carry it.
        """
        assert isinstance(motion, PlanarTrajectory)
        if all(one.spans(self.scene, motion.position) for one in self.slabs):
            return None
        return type(self)(self.scene, self.dt, self.settings, LONGER * self._lengthening)


def in_order(a: int, b: int, point: Point, normal: Point, gap: float, impulse: Point) -> tuple[Any, ...]:
    """A contact with the lower member first: normal and impulse, which are of b, change sides with it."""
    if a < b:
        return a, b, point, normal, gap, impulse
    return b, a, point, (-normal[0], -normal[1]), gap, (-impulse[0], -impulse[1])


def slab(scene: PlanarScene, plane: HalfPlane, lengthening: float = 1.0) -> Slab:
    """Twice as long as a body gets by its own start speed, by gravity along the plane and by what it can fall; so many
    times that, but no longer than twice as far as the energy of all bodies could carry one.
    """
    pose, twist = planar_start(scene)
    free = np.array([not body.fixed for body in scene.bodies])
    radii = np.array([mass.bounding_radius(body.shape) for body in scene.bodies])
    normal, point, gravity = np.array(plane.normal), np.array(plane.point), np.array(scene.gravity)
    tangent = np.array([normal[1], -normal[0]])
    offset = (pose[:, :2] - point) @ tangent
    middle = 0.5 * (offset[free].min() + offset[free].max())
    origin = point + middle * tangent
    height = np.abs((pose[:, :2] - point) @ normal)[free].max() + radii[free].max()
    speed = (np.hypot(twist[:, 0], twist[:, 1]) + np.abs(twist[:, 2]) * radii)[free].max()
    speed += math.sqrt(2.0 * float(np.hypot(*gravity)) * height)
    duration = scene.duration
    travel = speed * duration + 0.5 * abs(float(gravity @ tangent)) * duration**2
    extent = (np.abs(offset - middle) + radii)[free].max()
    likely = SPARE_FACTOR * (extent + travel) + SPARE
    longest = max(likely, SPARE_FACTOR * (extent + furthest_travel(scene)) + SPARE)
    return Slab(
        name=plane.name,
        origin=(float(origin[0]), float(origin[1])),
        angle=math.atan2(-plane.normal[0], plane.normal[1]),
        half_length=float(min(lengthening * likely, longest)),
        longest=lengthening * likely >= longest,
    )


def furthest_travel(scene: PlanarScene) -> float:
    """m: the longest way that any free body can go in the scene's duration T, whatever the bodies do to one another.

    No body of mass m is faster than s / sqrt(m), s = sqrt(2 E), E the energy of all. Above a half-plane

        s(t) <= s_0 + p t,   s_0^2 = sum of m v^2 + I w^2 + 2 m g_n h, and twice what springs hold,
        p = g_t sqrt(M) + sum of F sqrt(1/m + r^2 / I)

    with g_n the part of gravity that presses onto the plane and h the heights above it, g_t the other part and M the
    mass of all, F the largest force of a thruster and r its arm: by d(s^2/2)/dt = sum of m g_t.v + sum of F.u and
    Cauchy's inequality for each sum. It holds for every half-plane of the scene, so the least counts.
    """
    pose, twist = planar_start(scene)
    free = np.array([not body.fixed for body in scene.bodies])
    m, inertia = masses(scene)[free], inertias(scene)[free]
    v, spin, gravity = twist[free, :2], twist[free, 2], np.array(scene.gravity)
    moving = float(m @ (v**2).sum(axis=1) + inertia @ spin**2) + 2.0 * spring_energy(scene, 0.0, pose)
    applied = 0.0
    for thruster in scene.thrusters:
        i = [body.name for body in scene.bodies].index(thruster.body)
        if free[i]:
            strongest = math.hypot(*thruster.force) * max(abs(factor) for _, factor in thruster.profile)
            arm = math.hypot(*thruster.anchor)
            applied += strongest * math.sqrt(1.0 / masses(scene)[i] + arm**2 / inertias(scene)[i])
    T, found = scene.duration, math.inf
    for plane in scene.boundaries:
        if isinstance(plane, HalfPlane):
            normal = np.array(plane.normal)
            pressing = max(0.0, -float(gravity @ normal))
            heights = np.maximum((pose[free, :2] - np.array(plane.point)) @ normal, 0.0)
            s_0 = math.sqrt(moving + 2.0 * pressing * float(m @ heights))
            p = float(np.hypot(*(gravity + pressing * normal))) * math.sqrt(m.sum()) + applied
            found = min(found, s_0 * T + 0.5 * p * T**2)
    return found / math.sqrt(m.min())


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
