"""What Box2D says of two shapes in given poses: b2Distance, without the skins of polygons.

A disc is a point to it: its radius is taken off, as the manual says (`useRadii` takes off the skins of polygons too).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from Box2D import b2Distance, b2Transform

from validation.engines.queries import Query
from validation.records.queries import Answers, Poses, no_answers

QUERIES: Mapping[str, Query] = {
    "distance": Query(
        call="b2Distance(useRadii=False), less the radii of discs",
        shapes=frozenset({"disc", "polygon"}),
        answers=frozenset({"contact", "distance", "normal"}),
        tolerance=0.005,
        sizes=(0.1, 10.0),
        documented="shapes are to be 0.1 to 10 m; the slop of lengths is 0.005 m; manual, units; b2Settings.h",
        cannot="depths: contacts of polygons are of their skins, 0.01 m, in which a step keeps them apart",
    )
}


def distances(bodies: Sequence[Any], poses: Poses) -> Answers:
    """Of the first fixtures of two bodies."""
    found = no_answers(len(poses), 2)
    shapes = [body.fixtures[0].shape for body in bodies]
    radii = sum(float(shape.radius) for shape in shapes if type(shape).__name__ == "b2CircleShape")
    transforms = [b2Transform(), b2Transform()]
    for k in range(len(poses)):
        for transform, (x, y), angle in zip(transforms, poses.position[k], poses.orientation[k]):
            transform.Set((float(x), float(y)), float(angle))
        given = b2Distance(
            shapeA=shapes[0], shapeB=shapes[1], transformA=transforms[0], transformB=transforms[1], useRadii=False
        )
        gap = given.distance - radii
        found.contact[k], found.gap[k] = gap <= 0.0, gap
        if given.distance > 0.0:
            found.normal[k] = (np.array(given.pointB) - np.array(given.pointA)) / given.distance
    return found
