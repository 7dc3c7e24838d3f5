"""Blocks, balls and the ground of the catalogue, in the plane or in space.

A planar scene's x and y are a spatial scene's x and z; a planar angle turns x towards up, which in space is a
rotation about -y.
"""

from typing import Any, Literal

from reference_engine import elementary
from reference_engine.array_types import Array as Array  # subjects have it from here
from reference_engine.elementary import squared
from scenarios.boundaries import HalfPlane, HalfSpace
from scenarios.joints import Hinge, Revolute
from scenarios.scene import PlanarBody, PlanarScene, Scene, SpatialBody, SpatialScene
from scenarios.shapes import Box, Disc, Polygon, Sphere

Body = PlanarBody | SpatialBody
Space = Literal["planar", "spatial"]
GroundKind = Literal["plane", "box"]

G = 9.81  # m/s^2
UNIT = (1.0, 1.0)
WIDTH, THICKNESS = 40.0, 2.0  # m, of a ground box


def rectangle(width: float, height: float) -> Polygon:
    a, b = width / 2.0, height / 2.0
    return Polygon(vertices=((-a, -b), (a, -b), (a, b), (-a, b)))


def turned(angle: float) -> tuple[float, float, float, float]:
    """The orientation in space of a planar angle, rad."""
    return elementary.cos(angle / 2.0), 0.0, 0.0 - elementary.sin(angle / 2.0), 0.0


def in_plane(
    space: Space,
    name: str,
    shape: Any,
    x: float = 0.0,
    y: float = 0.0,
    angle: float = 0.0,
    velocity: tuple[float, float] = (0.0, 0.0),
    spin: float = 0.0,
    across: float = 0.0,
    **more: Any,
) -> Body:
    """A body of this shape, which is one of that space, at (x, y), in space at (x, across, y), moving in the plane.

    `more`: mass, inertia, friction, restitution, fixed.
    """
    if space == "planar":
        return PlanarBody(name=name, shape=shape, position=(x, y), angle=angle, velocity=velocity, spin=spin, **more)
    return SpatialBody(
        name=name, shape=shape, position=(x, across, y), orientation=turned(angle),
        velocity=(velocity[0], 0.0, velocity[1]), spin=(0.0, 0.0 - spin, 0.0), **more,
    )  # fmt: skip


def block(space: Space, name: str, *, size: tuple[float, float] = UNIT, depth: float = 1.0, **more: Any) -> Body:
    """A rectangle of width x height, in space a box, `depth` deep; of 1 kg, placed and moving as `in_plane` says."""
    shape = rectangle(*size) if space == "planar" else Box(size=(size[0], depth, size[1]))
    return in_plane(space, name, shape, **{"mass": 1.0} | more)


def rod(space: Space, name: str, *, length: float, thickness: float, mass: float, **more: Any) -> Body:
    """A slender rod along its x axis; `thickness` (m) is for the eye: its inertia is that of a line."""
    slender = mass * squared(length) / 12.0
    inertia = slender if space == "planar" else (mass * squared(thickness) / 6.0, slender, slender)
    return block(space, name, size=(length, thickness), depth=thickness, mass=mass, inertia=inertia, **more)


def ball(space: Space, name: str, *, radius: float, inertia: float | None = None, **more: Any) -> Body:
    """A disc, in space a sphere; likewise. `inertia`: kg m^2; solid where left out."""
    moments = inertia if inertia is None or space == "planar" else (inertia,) * 3
    shape = Disc(radius=radius) if space == "planar" else Sphere(radius=radius)
    return in_plane(space, name, shape, inertia=moments, **{"mass": 1.0} | more)


def pin(
    space: Space, name: str, a: str, b: str | None, on_a: tuple[float, float], on_b: tuple[float, float]
) -> Revolute | Hinge:
    """Of bodies that move in the plane, at (x, y) of each, b = None the world; in space a hinge."""
    if space == "planar":
        return Revolute(name=name, a=a, b=b, anchor_a=on_a, anchor_b=on_b)
    anchors = [(x, 0.0, z) for x, z in (on_a, on_b)]
    return Hinge(name=name, a=a, b=b, anchor_a=anchors[0], anchor_b=anchors[1], axis=(0.0, 1.0, 0.0))


def lay_ground(
    space: Space,
    kind: GroundKind = "plane",
    friction: float = 0.0,
    restitution: float = 0.0,
    *,
    tilt: float = 0.0,
    width: float = WIDTH,
) -> Body | HalfPlane | HalfSpace:
    """A fixed ground named "ground", its top face at height 0, turned by `tilt` (rad, x towards up) at the origin.

    plane: half-plane or half-space. box: a fixed rectangle or box, `width` (m) wide and deep, 2 m thick: half of the
    contact faults of real engines are invisible on a plane, for pairs of shapes have code of their own.
    """
    s, c = elementary.sin(tilt), elementary.cos(tilt)
    surface: dict[str, Any] = {"friction": friction, "restitution": restitution}
    if kind == "box":
        x, up = s * THICKNESS / 2.0, -c * THICKNESS / 2.0
        return block(
            space,
            "ground",
            size=(width, THICKNESS),
            depth=width,
            x=x,
            y=up,
            angle=tilt,
            fixed=True,
            mass=None,
            **surface,
        )
    if space == "planar":
        return HalfPlane(name="ground", normal=(0.0 - s, c), **surface)
    return HalfSpace(name="ground", normal=(0.0 - s, 0.0, c), **surface)


def scene_of(
    space: Space,
    bodies: tuple[Body, ...],
    ground: Body | HalfPlane | HalfSpace | None = None,
    *,
    walls: tuple[Any, ...] = (),
    title: str,
    duration: float,
    g: float = G,
    lean: float = 0.0,
    **more: Any,
) -> Scene:
    """The scene of these bodies, the free ones first, with gravity g, `lean` rad from straight down towards x.

    `walls`: boundaries beside the ground; `more`: joints, contact, damping.
    """
    along, down = g * elementary.sin(lean), -g * elementary.cos(lean)
    if isinstance(ground, PlanarBody | SpatialBody):
        bodies = (*bodies, ground)
    elif ground is not None:
        walls = (ground, *walls)
    common = {"title": title, "duration": duration, "bodies": bodies, "boundaries": walls, **more}
    if space == "planar":
        return PlanarScene(gravity=(along, down), **common)
    return SpatialScene(gravity=(along, 0.0, down), **common)
