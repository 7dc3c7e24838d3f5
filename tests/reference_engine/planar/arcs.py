"""Bodies with circular edges that the tests of the located mode share."""

import itertools
import math

from reference_engine import Body, Edge, Outline

Point = tuple[float, float]


def half_disc(radius: float, mass: float = 1.0) -> tuple[Outline, float, float]:
    """(shape, depth of the centre of mass below the flat, inertia): flat side up, of even density.

    Steiner: m r^2/2 about the middle of the flat, 4 r/(3 pi) above the centre of mass.
    """
    depth = 4.0 * radius / (3.0 * math.pi)
    left, right = (-radius, 0.0), (radius, 0.0)
    edges = [Edge(start=left, end=right, centre=(0.0, 0.0)), Edge(start=right, end=left)]
    return Outline(edges, centre_of_mass=(0.0, -depth)), depth, mass * (radius**2 / 2.0 - depth**2)


def loaded_disc(radius: float, depth: float) -> Outline:
    """A whole circle about the origin, the centre of mass below it."""
    rim = Edge(start=(radius, 0.0), end=(radius, 0.0), centre=(0.0, 0.0))
    return Outline([rim], centre_of_mass=(0.0, -depth))


def stadium(half: float, radius: float, **more: object) -> Outline:
    """Two half discs at +-half on the x axis, and what is between them."""
    corners = [(-half, -radius), (half, -radius), (half, radius), (-half, radius)]
    edges = [
        Edge(start=corners[0], end=corners[1]),
        Edge(start=corners[1], end=corners[2], centre=(half, 0.0)),
        Edge(start=corners[2], end=corners[3]),
        Edge(start=corners[3], end=corners[0], centre=(-half, 0.0)),
    ]
    return Outline(edges, **more)  # type: ignore[arg-type]  # any of Outline's fields


def lens(radius: float, offset: float) -> Outline:
    """What two discs about (0, +-offset) share."""
    tip = math.sqrt(radius**2 - offset**2)
    below = Edge(start=(-tip, 0.0), end=(tip, 0.0), centre=(0.0, offset))
    above = Edge(start=(tip, 0.0), end=(-tip, 0.0), centre=(0.0, -offset))
    return Outline([below, above])


def trough(radius: float, rim: float = 0.5, **more: object) -> Outline:
    """A block with a half circle about the origin taken out of its top."""
    side, floor = radius + rim, -radius - rim
    points = [(-radius, 0.0), (-side, 0.0), (-side, floor), (side, floor), (side, 0.0), (radius, 0.0)]
    straight = [Edge(start=p, end=q) for p, q in itertools.pairwise(points)]
    bowl_radius = Edge(start=points[-1], end=points[0], centre=(0.0, 0.0), clockwise=True)
    return Outline([*straight, bowl_radius], **more)  # type: ignore[arg-type]  # any of Outline's fields


def rolled(shape: Outline, radius: float, depth: float, angle: float, **state: object) -> Body:
    """Turned by an angle from its lowest position; it touches the ground with an arc of this radius below the origin.

    `depth`: of the centre of mass below the arc's centre.
    """
    position = (depth * math.sin(angle), radius - depth * math.cos(angle))
    return Body(shape=shape, position=position, angle=angle, **state)  # type: ignore[arg-type]  # any of Body's fields
