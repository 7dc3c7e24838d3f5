"""The links of what pybullet has loaded, with their shapes: what its own functions give of each.

Shapes for the eye are not loaded. A mesh is the convex hulls that pybullet makes of it, a cylinder the hull of its 64
corners.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios import mass
from scenarios.fields import MIN_SIZE
from scenarios.native import Model
from scenarios.shapes import MOST_CORNERS
from validation.engines.engine import ModelError
from validation.engines.pybullet.loading import Loaded, is_fixed
from validation.engines.pybullet.trees import BASE

Address = tuple[int, int]  # pybullet's numbers of a multibody and of a link


@dataclass(slots=True)
class Link:
    address: Address
    number: int  # of all links of all bodies
    name: str
    joint: Any  # of getJointInfo; None of a base
    dynamics: Any  # of getDynamicsInfo
    at: Array  # m, centre of mass in the world
    turn: Array  # unit quaternion of its inertial frame, w first
    origin: Array  # m, of the joint's frame in the world
    axes: Array  # of that frame
    velocity: Array
    spin: Array
    pieces: list[dict[str, Any]] = field(default_factory=list)  # in the inertial frame
    planes: list[Array] = field(default_factory=list)  # normals, likewise

    @property
    def title(self) -> str:
        return str(self.joint[1].decode("utf-8", "replace"))


class Links:
    """Reads them one after the other. Raises ModelError for numbers that are none."""

    def __init__(self, loaded: Loaded, given: Model) -> None:
        self.loaded = loaded
        self.unmeasured: dict[str, None] = {}  # each thing, by name
        self.hidden = False  # whether something that is not measured may carry bodies
        self.margin = 0.0  # m, around hulls
        self._filtered = _filtered_links(given)
        numbers = itertools.count()
        self.all = [self.read(body, link, next(numbers)) for body in loaded.bodies for link in loaded.links(body)]

    def read(self, body: int, link: int, number: int) -> Link:
        call, dynamics = self.loaded.call, self.loaded.call(pb.getDynamicsInfo, body, link)
        local = np.array(dynamics[3]), w_first(dynamics[4])
        if link == BASE:
            at, turn = call(pb.getBasePositionAndOrientation, body)
            velocity, spin = call(pb.getBaseVelocity, body)
            name, robot = (text.decode("utf-8", "replace") for text in call(pb.getBodyInfo, body))
            joint, name = None, name or robot or f"body {body}"
        else:
            joint = self.loaded.joint(body, link)
            name = joint[12].decode("utf-8", "replace") or f"link {link}"
            state = call(pb.getLinkState, body, link, computeLinkVelocity=1, computeForwardKinematics=1)
            at, turn, velocity, spin = state[0], state[1], state[6], state[7]
        R = mass.rotation_matrix(unit(w_first(turn))) @ mass.rotation_matrix(local[1]).T  # pybullet's is in single
        found = Link(
            address=(body, link),
            number=number,
            name=name,
            joint=joint,
            dynamics=dynamics,
            at=np.array(at),
            turn=unit(w_first(turn)),
            origin=np.array(at) - R @ local[0],
            axes=R,
            velocity=np.array(velocity),
            spin=np.array(spin),
        )
        if not np.isfinite([*found.at, *found.turn, *dynamics[:3][0:2], *dynamics[2]]).all():
            raise ModelError(f"link {name!r:.60}: its pose, mass or inertia is not finite; mend the file")
        self._read_shapes(found)
        return found

    def _read_shapes(self, link: Link) -> None:
        call, (body, number) = self.loaded.call, link.address
        shapes = call(pb.getCollisionShapeData, body, number)
        if shapes and link.name in self._filtered:
            self.leave_out(link, "collision groups or masks of its own, which pybullet does not give")
            return
        corners: Array = np.zeros((0, 3))
        if any(shape[2] == pb.GEOM_MESH for shape in shapes):
            corners = np.array(call(pb.getMeshData, body, number, -1)[1], np.float64).reshape(-1, 3)
        convex = [self._convex(shape) if shape[2] == pb.GEOM_MESH else [] for shape in shapes]
        known = sum(itertools.chain.from_iterable(convex))
        if known != len(corners):
            convex = self._by_difference(link, convex, len(corners))
        first = 0
        for shape, counts in zip(shapes, convex):
            kind, size, at, turn = shape[2], shape[3], list(shape[5]), unit(w_first(shape[6])).tolist()
            given: dict[str, Any] | None = None
            if kind == pb.GEOM_SPHERE:
                given = {"kind": "sphere", "radius": size[0]}
            elif kind == pb.GEOM_BOX:
                given = {"kind": "box", "size": list(size)}
            elif kind in (pb.GEOM_CAPSULE, pb.GEOM_CYLINDER):
                given = {
                    "kind": "capsule" if kind == pb.GEOM_CAPSULE else "cylinder",
                    "length": size[0],
                    "radius": size[1],
                }
            elif kind == pb.GEOM_PLANE and self._is_still(link):
                link.planes.append(mass.rotation_matrix(unit(w_first(shape[6]))) @ np.array(size))
                continue
            elif kind == pb.GEOM_MESH and counts:
                for count in counts:
                    self._add_mesh(link, corners[first : first + count])
                    first += count
                continue
            extents = [float(n) for name, n in (given or {}).items() if name in ("radius", "length")]
            if given is not None and min([*extents, *given.get("size", ())]) < MIN_SIZE:
                self.leave_out(link, f"a {given['kind']} without extent")
                continue
            if given is None:
                what = "a triangle mesh" if kind == pb.GEOM_MESH else f"a shape of kind {kind}"
                self.leave_out(link, what)
                continue
            link.pieces.append({"shape": given, "position": at, "orientation": turn})

    def _convex(self, shape: Any) -> list[int]:
        name, scale = shape[4].decode("utf-8", "replace"), tuple(shape[3])
        return self.loaded.corners.get((name, scale), [])

    def _by_difference(self, link: Link, convex: list[list[int]], corners: int) -> list[list[int]]:
        """Those of which no file is known, as cylinders, one by one; none where they do not add up."""
        body, number = link.address
        shapes = self.loaded.call(pb.getCollisionShapeData, body, number)
        for k, shape in enumerate(shapes):
            if shape[2] == pb.GEOM_MESH and not convex[k]:
                count = self.loaded.call(pb.getMeshData, body, number, k)[0]
                convex[k] = [count] if count else []
        if sum(itertools.chain.from_iterable(convex)) == corners:
            return convex
        return [[] for _ in convex]

    def _add_mesh(self, link: Link, corners: Array) -> None:
        corners = np.unique(corners, axis=0)
        if len(corners) > MOST_CORNERS:
            self.leave_out(link, f"a hull of {len(corners)} corners, more than {MOST_CORNERS}")
        elif len(corners) < 4 or mass.mesh_fault(corners):
            self.leave_out(link, "a flat mesh")
        else:
            self.margin = max(self.margin, float(link.dynamics[11]))
            shape = {"kind": "convex-mesh", "points": corners.tolist()}
            link.pieces.append({"shape": shape, "position": [0.0] * 3, "orientation": [1.0, 0.0, 0.0, 0.0]})

    def leave_out(self, link: Link, why: str) -> None:
        self.hidden = True
        self.unmeasured[f"link {link.name}: {why}; its gaps are not measured"] = None

    def _is_still(self, link: Link) -> bool:
        return link.address[1] == BASE and is_fixed(self.loaded, link.address[0])


def w_first(q: Any) -> Array:
    return np.array((q[3], q[0], q[1], q[2]), np.float64)


def unit(q: Array) -> Array:
    return q / np.linalg.norm(q)


def _filtered_links(model: Model) -> set[str]:
    """Of a URDF file, links with collision shapes that name their groups or masks."""
    content = next(one.content() for one in model.files if one.path == model.file)
    try:
        links = ElementTree.fromstring(content).iter("link")
    except ElementTree.ParseError:
        return set()
    own = {"group", "mask"}
    return {link.get("name", "") for link in links if any(own & one.attrib.keys() for one in link.iter("collision"))}
