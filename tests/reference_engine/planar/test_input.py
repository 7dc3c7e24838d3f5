"""Shapes, bodies and worlds that cannot be are refused with the field, the value and what is allowed."""

import math

import pytest

from reference_engine import Body, Disc, HalfPlane, Polygon, World, WorldError, box
from tests.reference_engine.planar.worlds import ground

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.mark.parametrize(
    "build, said",
    [
        (lambda: Polygon([(0, 0), (1, 0)]), r"\(V, 2\) with V >= 3"),
        (lambda: Polygon(SQUARE[::-1]), "counter-clockwise"),
        (lambda: Polygon([(0, 0), (2, 0), (1, 0.1), (1, 2)]), "does not turn left at vertex 2"),
        (lambda: Polygon([(math.nan, 0), (1, 0), (1, 1)]), "finite"),
        (lambda: Polygon([(math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)) for k in range(5)]), "once"),
        (lambda: Body(shape=Disc(0.0)), "radius: 0.0 m"),
        (lambda: Body(shape=Polygon(SQUARE)), r"centroid is \(0.5, 0.5\)"),
        (lambda: Body(shape=box(1, 1), mass=-1.0, name="crate"), "'crate': mass -1.0 kg"),
        (lambda: Body(shape=box(1, 1), inertia=0.0), "inertia 0.0"),
        (lambda: Body(shape=HalfPlane()), "half-plane has no mass"),
        (lambda: Body(shape=box(1, 1), fixed=True, spin=1.0), "fixed body"),
        (lambda: World(bodies=()), "at least one"),
        (lambda: World(bodies=(ground(),), restitution=1.5), r"\[0, 1\]"),
        (lambda: World(bodies=(ground(), ground()), restitution=[[0, 1], [0, 0]]), "symmetric"),
        (lambda: World(bodies=(ground(),), friction=0.5, static_friction=0.4), "static_friction: what sticks"),
    ],
)
def test_what_cannot_be_is_refused(build, said):
    with pytest.raises(WorldError, match=said):
        build()
