"""What is done to a world of a function at its start to try it (`scenarios.native.Probe`).

Up is against gravity, sideways the first axis of the world, or the second where gravity is along the first. A push is
sideways; a body is tipped in the plane, or about the sideways axis.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from reference_engine.array_types import Array
from scenarios import frames
from scenarios.native import Probe
from scenarios.scene import PlanarScene, SpatialScene
from validation.engines.engine import ModelError

S = TypeVar("S", PlanarScene, SpatialScene)
ALONG = 0.9  # cosine: gravity is along an axis


def set_up(scene: S, set_body: Callable[[int, Any], None]) -> S:
    """The scene as its model's probe begins; `set_body` brings the engine's body of a number to the start that the
    scene's body has. Raises ModelError where the probe's body is no free one of the world."""
    assert scene.native is not None
    probe = scene.native.model.probe
    if probe is None:
        return scene
    bodies = list(scene.bodies)
    for k, fields in _changes(scene, probe).items():
        bodies[k] = bodies[k].model_copy(update=dict(fields))
        set_body(k, bodies[k])
    return scene.model_copy(update={"bodies": tuple(bodies)})


def _changes(scene: PlanarScene | SpatialScene, probe: Probe) -> dict[int, Mapping[str, Any]]:
    """Of bodies that start otherwise, by their numbers: fields of the scene's body."""
    assert scene.native is not None
    free = {body.name: k for k, body in enumerate(scene.bodies) if body.name in scene.native.free}
    if probe.kind == "settle":
        return {}
    if probe.kind == "drop":
        return {k: _moved(scene, k, probe.size) for k in free.values()}
    if probe.body not in free:
        raise ModelError(f"probe: {probe.body!r:.80} is no free body of the world")
    k = free[probe.body]
    body = scene.bodies[k]
    match probe.kind:
        case "push":
            way = _sideways(scene) * (probe.size / float(body.mass or math.inf))
            return {k: {"velocity": tuple((np.array(body.velocity) + way).tolist())}}
        case "separation":
            way = probe.first * np.array(probe.direction)[: scene.dimension]
            return {k: {"position": tuple((np.array(body.position) + way).tolist())}}
        case "tip":
            return {k: {**_moved(scene, k, probe.lift), **_turned(scene, k, probe.size)}}
    raise ModelError(f"probe: {probe.kind} is of models with position servos")


def _up(scene: PlanarScene | SpatialScene) -> Array:
    gravity = np.array(scene.gravity, np.float64)
    size = float(np.sqrt((gravity * gravity).sum()))
    return -gravity / size if size > 0.0 else np.eye(len(gravity))[-1]


def _sideways(scene: PlanarScene | SpatialScene) -> Array:
    up = _up(scene)
    way = np.eye(len(up))[0 if abs(up[0]) < ALONG else 1]
    across: Array = way - float((way * up).sum()) * up
    return across / np.sqrt((across * across).sum())


def _moved(scene: PlanarScene | SpatialScene, k: int, height: float) -> Mapping[str, Any]:
    return {"position": tuple((np.array(scene.bodies[k].position) + height * _up(scene)).tolist())}


def _turned(scene: PlanarScene | SpatialScene, k: int, angle: float) -> Mapping[str, Any]:
    """About the centre of mass."""
    if isinstance(scene, PlanarScene):
        return {"angle": scene.bodies[k].angle + angle}
    turn = math.cos(0.5 * angle), *(math.sin(0.5 * angle) * _sideways(scene)).tolist()
    return {"orientation": tuple(frames.quaternion_product(turn, scene.bodies[k].orientation))}
