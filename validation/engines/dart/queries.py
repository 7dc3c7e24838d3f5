"""What DART says of two bodies in given poses: CollisionGroup.distance of FCL, and the contacts of a step."""

from collections.abc import Mapping
from typing import Any

import dartpy
import numpy as np

from scenarios.scene import Scene
from validation.engines.queries import CONTACTS, Query
from validation.engines.shared.embedding import rotation_matrix
from validation.engines.shared.spatial_pieces import Piece, spatial_pieces
from validation.records.queries import Answers, Poses, no_answers

SHAPES = frozenset({"sphere", "box", "cylinder"})
CANNOT = (
    "capsules: in place of one DART gives FCL a sphere of 0.1 m, and prints an error; ellipsoids, hulls: dartpy makes "
    "meshes from files alone; depths by the distance query: FCL has none"
)
QUERIES: Mapping[str, Query] = {
    "contacts": Query(call="World.step, then getLastCollisionResult", shapes=SHAPES, answers=CONTACTS, cannot=CANNOT),
    "distance": Query(
        call="CollisionGroup.distance of FCLCollisionDetector with its primitive shapes",
        shapes=SHAPES,
        answers=frozenset({"contact", "distance", "normal"}),
        tolerance=1e-6,
        documented="the distance search of FCL stops at 1e-6 m; DistanceRequest, distance_tolerance",
        cannot=CANNOT,
    ),
}


def distances(scene: Scene, poses: Poses) -> Answers:
    """Of two simple frames; the normal is that of the nearest points."""
    found = no_answers(len(poses), 3)
    detector = dartpy.collision.FCLCollisionDetector()
    detector.setPrimitiveShapeType(dartpy.collision.FCLCollisionDetector.PRIMITIVE)
    frames = []
    for body in scene.bodies:
        frame = dartpy.dynamics.SimpleFrame()
        frame.setName(body.name)
        frame.setShape(shape_of(next(spatial_pieces(body.shape, None))))
        frames.append(frame)
    group = detector.createCollisionGroup()
    for frame in frames:
        group.addShapeFrame(frame)
    option = dartpy.collision.DistanceOption(True)
    for k in range(len(poses)):
        for frame, position, orientation in zip(frames, poses.position[k], poses.orientation[k]):
            pose = dartpy.math.Isometry3()
            pose.set_translation(position)
            pose.set_rotation(rotation_matrix(orientation / np.sqrt((orientation**2).sum())))
            frame.setRelativeTransform(pose)
        result = dartpy.collision.DistanceResult()
        gap = group.distance(option, result)
        found.contact[k], found.gap[k] = gap <= 0.0, gap
        if gap > 0.0 and result.found():
            ends: list[Any] = [result.nearestPoint1, result.nearestPoint2]
            found.normal[k] = (np.array(ends[1]) - np.array(ends[0])) / gap
            if result.shapeFrame1.getName() == scene.bodies[1].name:
                found.normal[k] *= -1.0
    return found


def shape_of(piece: Piece) -> Any:
    match piece.kind:
        case "sphere":
            return dartpy.dynamics.SphereShape(*piece.size)
        case "box":
            return dartpy.dynamics.BoxShape([2.0 * half for half in piece.size])
        case "cylinder":
            return dartpy.dynamics.CylinderShape(piece.size[0], 2.0 * piece.size[1])
    raise TypeError(piece)
