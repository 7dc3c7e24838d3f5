"""What Rapier says of two colliders in given poses: QueryPipeline.intersect_shape, and the contacts of a step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import rapier3d as rapier

from reference_engine.array_types import Array
from scenarios.scene import Scene
from validation.engines.queries import CONTACTS, Query
from validation.engines.shared.spatial_pieces import Piece, spatial_pieces
from validation.records.queries import Answers, Poses, no_answers

SHAPES = frozenset({"sphere", "box", "capsule", "cylinder", "convex-mesh"})
CANNOT = "ellipsoids: Rapier has none; distances: the Python package has no such call"
QUERIES: Mapping[str, Query] = {
    "contacts": Query(call="PhysicsWorld.step, then contact_pairs", shapes=SHAPES, answers=CONTACTS, cannot=CANNOT),
    "overlap": Query(
        call="QueryPipeline.intersect_shape", shapes=SHAPES, answers=frozenset({"contact"}), cannot=CANNOT
    ),
}
Y_TO_Z = (0.5**0.5, 0.5**0.5, 0.0, 0.0)  # w, x, y, z: Rapier's cylinders stand along y


def overlaps(scene: Scene, poses: Poses) -> Answers:
    """The second body's shape against a world that has the first as a collider."""
    found = no_answers(len(poses), 3)
    first, second = (next(spatial_pieces(body.shape, None)) for body in scene.bodies)
    of_first, of_second = _shape(first), _shape(second)
    for k in range(len(poses)):
        (at_a, at_b), (turn_a, turn_b) = poses.position[k], poses.orientation[k]
        world = rapier.PhysicsWorld(gravity=(0.0, 0.0, 0.0))
        world.set_num_threads(1)
        world.add_collider(rapier.Collider.new(of_first).position(_pose(first, at_a, turn_a)))
        world.update_query_pipeline()
        hits: list[Any] = []
        pose = _pose(second, at_b, turn_b)
        world.query_pipeline.intersect_shape(pose, of_second, hits.append, rapier.QueryFilter())
        found.contact[k] = bool(hits)
    return found


def _shape(piece: Piece) -> Any:
    match piece.kind:
        case "sphere":
            return rapier.SharedShape.ball(*piece.size)
        case "box":
            return rapier.SharedShape.cuboid(*piece.size)
        case "capsule":
            return rapier.SharedShape.capsule_z(piece.size[1], piece.size[0])
        case "cylinder":
            return rapier.SharedShape.cylinder(piece.size[1], piece.size[0])
        case "hull":
            return rapier.SharedShape.convex_hull(piece.points.astype(np.float32))
    raise TypeError(piece)


def _pose(piece: Piece, position: Array, orientation: Array) -> Any:
    w, x, y, z = orientation
    if piece.kind == "cylinder":
        c, s, *_ = Y_TO_Z
        w, x, y, z = w * c - x * s, w * s + x * c, y * c + z * s, z * c - y * s
    size = np.sqrt(w * w + x * x + y * y + z * z)
    turned = rapier.Rotation3(*(float(part / size) for part in (w, x, y, z)))
    return rapier.Isometry3(tuple(position.tolist()), turned)
