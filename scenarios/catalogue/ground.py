"""The ground of the catalogue: endless, or a thick box as a second scene; its top passes through the origin.

Half of the contact faults of real engines are invisible on a plane: pairs of shapes have code of their own.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from reference_engine import elementary
from scenarios.scene import (
    Box,
    HalfPlane,
    HalfSpace,
    PlanarBody,
    PlanarBoundary,
    Polygon,
    SpatialBody,
    SpatialBoundary,
)

Space = Literal["planar", "spatial"]
GroundKind = Literal["plane", "box"]

WIDTH = 40.0  # m, of a ground box
THICKNESS = 2.0  # m


class Ground(NamedTuple):
    """Splice into a scene, bodies last: `bodies=(*free, *ground.bodies), boundaries=ground.boundaries`."""

    bodies: tuple[PlanarBody | SpatialBody, ...]
    boundaries: tuple[PlanarBoundary | SpatialBoundary, ...]


def ground(
    space: Space,
    kind: GroundKind,
    friction: float = 0.0,
    restitution: float = 0.0,
    *,
    tilt: float = 0.0,
    width: float = WIDTH,
) -> Ground:
    """A fixed ground named "ground", its top face at height 0, turned by `tilt` (rad, x towards up) at the origin.

    plane: half-plane or half-space. box: a fixed rectangle or box, `width` (m) wide and deep, 2 m thick.
    """
    s, c = elementary.sin(tilt), elementary.cos(tilt)
    if kind == "plane":
        if space == "planar":
            return Ground(
                (), (HalfPlane(name="ground", normal=(0.0 - s, c), friction=friction, restitution=restitution),)
            )
        return Ground(
            (), (HalfSpace(name="ground", normal=(0.0 - s, 0.0, c), friction=friction, restitution=restitution),)
        )
    x, up = s * THICKNESS / 2.0, -c * THICKNESS / 2.0
    if space == "planar":
        a, b = width / 2.0, THICKNESS / 2.0
        rectangle = PlanarBody(
            name="ground",
            shape=Polygon(vertices=((-a, -b), (a, -b), (a, b), (-a, b))),
            fixed=True,
            position=(x, up),
            angle=tilt,
            friction=friction,
            restitution=restitution,
        )
        return Ground((rectangle,), ())
    box = SpatialBody(
        name="ground",
        shape=Box(size=(width, width, THICKNESS)),
        fixed=True,
        position=(x, 0.0, up),
        orientation=(elementary.cos(tilt / 2.0), 0.0, 0.0 - elementary.sin(tilt / 2.0), 0.0),  # x towards z: about -y
        friction=friction,
        restitution=restitution,
    )
    return Ground((box,), ())
