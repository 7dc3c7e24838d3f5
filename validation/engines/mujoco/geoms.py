"""Geoms of a model as the shapes that a scene has."""

from typing import Any

import mujoco
import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios import frames
from validation.engines.shared.description import MOST_FRICTION

GEOM = mujoco.mjtGeom


def corners_of(model: Any, geom: int) -> Array:
    """(n, 3) m: the corners of the hull of a mesh, in the frame of the geom."""
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    corners = model.mesh_vert[first : first + count].astype(np.float64)
    graph = int(model.mesh_graphadr[mesh])
    if graph >= 0:  # number of corners, of faces, addresses of the edges, then which vertices the corners are
        number = int(model.mesh_graph[graph])
        corners = corners[model.mesh_graph[graph + 2 + number : graph + 2 + 2 * number]]
    return np.unique(corners, axis=0)


def piece_of(model: Any, data: Any, geom: int, position: Array, axes: Array) -> dict[str, Any]:
    """A geom as a piece of the body that is at `position` and has these axes, in the world."""
    at = mul(data.geom_xpos[geom] - position, axes)
    orientation = frames.quaternion_of(mul(axes.T, data.geom_xmat[geom].reshape(3, 3)))
    size = model.geom_size[geom].tolist()
    shape: dict[str, Any]
    match model.geom_type[geom]:
        case GEOM.mjGEOM_SPHERE:
            shape = {"kind": "sphere", "radius": size[0]}
        case GEOM.mjGEOM_CAPSULE:
            shape = {"kind": "capsule", "radius": size[0], "length": 2.0 * size[1]}
        case GEOM.mjGEOM_CYLINDER:
            shape = {"kind": "cylinder", "radius": size[0], "length": 2.0 * size[1]}
        case GEOM.mjGEOM_ELLIPSOID:
            shape = {"kind": "ellipsoid", "semi_axes": size}
        case GEOM.mjGEOM_BOX:
            shape = {"kind": "box", "size": [2.0 * half for half in size]}
        case _:
            shape = {"kind": "convex-mesh", "points": corners_of(model, geom).tolist()}
    return {"shape": shape, "position": at.tolist(), "orientation": list(orientation)}


def friction_of(model: Any, geom: int) -> float:
    """Coefficient of sliding of a geom; of two that meet MuJoCo takes the larger, or that of the higher priority."""
    overridden = model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    values = model.opt.o_friction if overridden else model.geom_friction[geom]
    return min(float(values[0]), MOST_FRICTION)


def pair_laws(model: Any, paired: list[tuple[int, int]], named: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Of members with geoms that the model pairs: no less friction than any of their geoms may have. `named`: of each
    geom the member that it is of."""
    found: dict[tuple[str, str], float] = {}
    for k, (one, other) in enumerate(paired):
        if one in named and other in named and named[one]["name"] != named[other]["name"]:
            a, b = sorted((named[one], named[other]), key=lambda member: str(member["name"]))
            own = max(a["friction"], b["friction"], min(float(model.pair_friction[k, 0]), MOST_FRICTION))
            found[a["name"], b["name"]] = max(own, found.get((a["name"], b["name"]), 0.0))
    return [{"a": a, "b": b, "friction": friction} for (a, b), friction in found.items()]
