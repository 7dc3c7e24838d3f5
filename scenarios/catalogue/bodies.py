"""Blocks and balls of the catalogue, in the plane or in space, and exact poses of motions in the plane.

A planar scene's x and y are a spatial scene's x and z; a planar angle turns x towards up, which in space is a
rotation about -y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from scenarios.catalogue.ground import Ground, Space
from scenarios.scene import (
    Box,
    Disc,
    PlanarBody,
    PlanarScene,
    Polygon,
    Scene,
    SpatialBody,
    SpatialScene,
    Sphere,
    planar_start,
    spatial_start,
)

Array = NDArray[np.float64]
Body = PlanarBody | SpatialBody

G = 9.81  # m/s^2
UNIT = (1.0, 1.0)


def block(
    space: Space,
    name: str,
    *,
    size: tuple[float, float] = UNIT,
    x: float = 0.0,
    y: float,
    angle: float = 0.0,
    velocity: tuple[float, float] = (0.0, 0.0),
    spin: float = 0.0,
    mass: float = 1.0,
    depth: float = 1.0,
    across: float = 0.0,
    friction: float = 0.0,
    restitution: float = 0.0,
) -> Body:
    """A rectangle of width x height, centre at (x, y); in space a box, `depth` deep, centre at (x, across, y)."""
    a, b = size[0] / 2.0, size[1] / 2.0
    if space == "planar":
        shape = Polygon(vertices=((-a, -b), (a, -b), (a, b), (-a, b)))
        return PlanarBody(
            name=name,
            shape=shape,
            mass=mass,
            position=(x, y),
            angle=angle,
            velocity=velocity,
            spin=spin,
            friction=friction,
            restitution=restitution,
        )
    return SpatialBody(
        name=name,
        shape=Box(size=(size[0], depth, size[1])),
        mass=mass,
        position=(x, across, y),
        orientation=(float(elementary.cos(angle / 2.0)), 0.0, 0.0 - float(elementary.sin(angle / 2.0)), 0.0),
        velocity=(velocity[0], 0.0, velocity[1]),
        spin=(0.0, 0.0 - spin, 0.0),
        friction=friction,
        restitution=restitution,
    )


def ball(
    space: Space,
    name: str,
    *,
    radius: float,
    x: float = 0.0,
    y: float,
    velocity: tuple[float, float] = (0.0, 0.0),
    spin: float = 0.0,
    mass: float = 1.0,
    inertia: float | None = None,
    friction: float = 0.0,
    restitution: float = 0.0,
) -> Body:
    """A disc, in space a sphere, centre at (x, y). `inertia`: kg m^2; solid where left out."""
    if space == "planar":
        return PlanarBody(
            name=name,
            shape=Disc(radius=radius),
            mass=mass,
            inertia=inertia,
            position=(x, y),
            velocity=velocity,
            spin=spin,
            friction=friction,
            restitution=restitution,
        )
    return SpatialBody(
        name=name,
        shape=Sphere(radius=radius),
        mass=mass,
        inertia=None if inertia is None else (inertia,) * 3,
        position=(x, 0.0, y),
        velocity=(velocity[0], 0.0, velocity[1]),
        spin=(0.0, 0.0 - spin, 0.0),
        friction=friction,
        restitution=restitution,
    )


def scene_of(
    space: Space,
    bodies: tuple[Body, ...],
    ground: Ground | None = None,
    *,
    title: str,
    duration: float,
    g: float = G,
    lean: float = 0.0,
    **more: Any,
) -> Scene:
    """The scene of these bodies, the free ones first, with gravity g, `lean` rad from straight down towards x.

    `more`: joints, contact, damping.
    """
    along, down = g * elementary.sin(lean), -g * elementary.cos(lean)
    below = ground or Ground((), ())
    common = {
        "title": title,
        "duration": duration,
        "bodies": (*bodies, *below.bodies),
        "boundaries": below.boundaries,
        **more,
    }
    if space == "planar":
        return PlanarScene(gravity=(along, down), **common)
    return SpatialScene(gravity=(along, 0.0, down), **common)


def poses_in_plane(scene: Scene, motion: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A truth's `pose` from a planar motion (S,) -> (S, M, 3) of the scene's first M bodies; the others stay put.

    In space the plane is that of x and z, each body in its own: y stays, and the orientation is the planar angle's.
    """

    def pose(time: Array) -> Array:
        planar = motion(np.asarray(time, dtype=np.float64))
        S, M = planar.shape[:2]
        poses = np.tile(np.hstack(start_pose(scene)), (S, 1, 1))
        if isinstance(scene, PlanarScene):
            poses[:, :M] = planar
            return poses
        x, up, half = planar[..., 0], planar[..., 1], planar[..., 2] / 2.0
        poses[:, :M, 0], poses[:, :M, 2] = x, up
        turn = np.zeros((S, M, 4))
        turn[..., 0], turn[..., 2] = elementary.cos(half), 0.0 - elementary.sin(half)
        turn[np.isnan(half)] = np.nan
        poses[:, :M, 3:] = turn
        return poses

    return pose


def start_pose(scene: Scene) -> tuple[Array, ...]:
    """((B, 3),) planar, or position (B, 3) and orientation (B, 4), at time 0."""
    return planar_start(scene)[:1] if isinstance(scene, PlanarScene) else spatial_start(scene)[:2]


def at_rest(scene: Scene) -> Callable[[Array], Array]:
    """A truth's `pose` of a scene in which nothing moves."""
    return poses_in_plane(scene, lambda time: np.zeros((len(time), 0, 3)))
