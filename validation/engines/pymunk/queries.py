"""What pymunk says of two shapes in given poses: Space.shape_query.

Shape.shapes_collide, which has the same contacts, raises an AssertionError of two that are apart (pymunk 7.3.1).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validation.engines.queries import Query
from validation.records.queries import Answers, Poses, no_answers

QUERIES: Mapping[str, Query] = {
    "contacts": Query(
        call="Space.shape_query",
        shapes=frozenset({"disc", "polygon"}),
        answers=frozenset({"contact", "depth", "normal"}),
        cannot="distances of two shapes: pymunk has those of a point alone",
    )
}


def collisions(space: Any, bodies: Sequence[Any], poses: Poses) -> Answers:
    """Of the shapes of two bodies in a space; of several points the deepest."""
    found = no_answers(len(poses), 2)
    first, second = (next(iter(body.shapes)) for body in bodies)
    for k in range(len(poses)):
        for body, (x, y), angle in zip(bodies, poses.position[k], poses.orientation[k]):
            body.position, body.angle = (float(x), float(y)), float(angle)
            space.reindex_shapes_for_body(body)
        for given in space.shape_query(first):
            if given.shape is second and given.contact_point_set.points:
                found.contact[k] = True
                found.gap[k] = min(point.distance for point in given.contact_point_set.points)
                found.normal[k] = np.array(given.contact_point_set.normal)
    return found
