"""What MuJoCo says of two geoms in given poses: mj_geomDistance, and the contacts of mj_fwdPosition.

Both run the same collision functions. Distances are asked for up to `FURTHEST` sizes: beyond, MuJoCo answers with that
limit. The general convex collision stops at `ccd_tolerance` (XML reference, option); other pairs have functions of
their own.
"""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from scenarios import mass
from scenarios.scene import Scene
from validation.engines.queries import CONTACTS, Query
from validation.engines.queries import fill as fill_contacts
from validation.records.queries import Answers, Poses, no_answers

SHAPES = frozenset({"sphere", "box", "capsule", "cylinder", "ellipsoid", "convex-mesh"})
STOPS = "the general convex collision stops at ccd_tolerance, 1e-6 m; XML reference, option"
FURTHEST = 1e4  # of the two bounding radii
IN_SINGLE = "; a mesh is in single precision"
TOLERANCE = 1e-6  # m, MuJoCo's own ccd_tolerance

QUERIES: Mapping[str, Query] = {
    "contacts": Query(
        call="mj_fwdPosition, then data.contact",
        shapes=SHAPES,
        answers=CONTACTS,
        tolerance=TOLERANCE,
        documented=STOPS + IN_SINGLE,
    ),
}
if hasattr(mujoco, "mj_geomDistance"):  # from 3.1.5 on
    QUERIES = {
        "distance": Query(
            call="mj_geomDistance",
            shapes=SHAPES,
            answers=frozenset({"contact", "gap", "normal"}),
            tolerance=TOLERANCE,
            documented=STOPS + IN_SINGLE,
        ),
        **QUERIES,
    }


def answers(query: str, world: Any, scene: Scene, poses: Poses) -> Answers:
    """Of the model and data of `world`, which has the two bodies."""
    found = no_answers(len(poses), 3)
    model, data = world.model, world.data
    first, second = (int(np.flatnonzero(world.layout.member == i)[0]) for i in (0, 1))
    limit = FURTHEST * sum(mass.bounding_radius(body.shape) for body in scene.bodies)
    segment, still = np.zeros(6), np.zeros((2, 3))
    for k in range(len(poses)):
        world.set_state(poses.position[k], poses.orientation[k], still, still)
        if query == "contacts":
            mujoco.mj_fwdPosition(model, data)
            fill_contacts(found, k, world.contacts_found())
            continue
        mujoco.mj_kinematics(model, data)
        gap = mujoco.mj_geomDistance(model, data, first, second, limit, segment)
        found.contact[k], found.gap[k] = gap <= 0.0, gap
        if gap:
            found.normal[k] = (segment[3:] - segment[:3]) / gap
    length = np.sqrt((found.normal**2).sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        found.normal[:] /= length
    return found
