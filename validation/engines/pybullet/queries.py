"""What pybullet says of two bodies in given poses: getClosestPoints.

The contacts of a step are those of the same collision functions, 30 ms each in a client of its own: not asked.
"""

from collections.abc import Mapping
from typing import Any

import pybullet as pb

from scenarios import mass
from scenarios.scene import Scene
from validation.engines.pybullet.trees import xyzw
from validation.engines.queries import Query, fill
from validation.records.queries import Answers, Poses, no_answers

SHAPES = frozenset({"sphere", "box", "capsule", "cylinder", "convex-mesh"})
FURTHEST = 1e4  # of the two bounding radii
MARGIN = 0.04  # m, Bullet's default collision margin
DOCUMENTED = (
    "edges of boxes and cylinders are round by the collision margin, 0.04 m, in the general convex algorithm, "
    "and sizes are to be 0.05 to 10 m; Bullet User Manual, collision margin, static and moving objects"
)
CANNOT = "ellipsoids: Bullet has none; contacts of a step: by the same functions, and slow"
SIZES = (0.05, 10.0)
ROUNDING = {"box": MARGIN, "cylinder": MARGIN}

QUERIES: Mapping[str, Query] = {
    "distance": Query(
        call="getClosestPoints",
        shapes=SHAPES,
        answers=frozenset({"contact", "gap", "normal"}),
        rounding=ROUNDING,
        sizes=SIZES,
        documented=DOCUMENTED,
        cannot=CANNOT,
    ),
}


def closest_points(client: int, bodies: tuple[int, int], scene: Scene, poses: Poses) -> Answers:
    """Of the multibodies of the two bodies; of several points the nearest."""
    found = no_answers(len(poses), 3)
    limit = FURTHEST * sum(mass.bounding_radius(body.shape) for body in scene.bodies)
    for k in range(len(poses)):
        for body, position, orientation in zip(bodies, poses.position[k].tolist(), poses.orientation[k]):
            pb.resetBasePositionAndOrientation(body, position, xyzw(orientation), physicsClientId=client)
        rows: Any = pb.getClosestPoints(*bodies, limit, physicsClientId=client)
        if rows:  # pybullet's normal is from b to a
            sides = [0] * len(rows), [1] * len(rows), [None] * len(rows)
            fill(found, k, (*sides, [[-x for x in row[7]] for row in rows], [row[8] for row in rows]))
            found.contact[k] = found.gap[k] <= 0.0
    return found
