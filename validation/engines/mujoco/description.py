"""What MuJoCo has loaded, described as a scene: bodies, shapes, masses and joints, read from mjModel.

Bodies without a joint between them are one body of the scene, named as the one that moves; of the world each body is
one that is fixed. A body has its centre of mass at the origin and principal axes, as every scene's. Geoms that collide
with nothing are left out; a mesh is the convex hull that MuJoCo collides with. A body that collides with nothing has
the box of its inertia for a shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul
from scenarios import frames, mass
from scenarios.native import Model
from scenarios.scene import SpatialScene, parse_scene
from scenarios.shapes import MOST_CORNERS
from validation.engines.engine import ModelError
from validation.engines.mujoco.geoms import corners_of, friction_of, pair_laws, piece_of
from validation.engines.mujoco.loading import load, started
from validation.engines.mujoco.probes import is_free, position_servos, set_up
from validation.engines.mujoco.unmeasured import connected_ends, connections, forces_of
from validation.engines.shared.description import (
    SAME_POINT,
    BodyFrame,
    Names,
    inertia_box,
    principal,
    shape_of,
    welded_inertia,
    with_overlaps,
)

GEOM, JOINT, DISABLED, ENABLED = mujoco.mjtGeom, mujoco.mjtJoint, mujoco.mjtDisableBit, mujoco.mjtEnableBit
NO_LIMITS = DISABLED.mjDSBL_LIMIT | DISABLED.mjDSBL_CONSTRAINT
SHORT = {"joint": "jnt", "equality": "eq"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A scene, and where its bodies are in the model."""

    scene: SpatialScene
    model: Any
    data: Any  # at the start
    body: Indices  # (B,) the model's body of each of the scene's
    centre: Array  # (B, 3) m, of mass, in the frame of the model's body
    axes: Array  # (B, 4) unit quaternion, of the scene's axes in the frame of the model's body
    member: Indices  # (G,) the scene's body or boundary of each geom; -1 where it is not measured
    joints: Mapping[str, int]  # the model's joint of each hinge and slider of the scene


@dataclass(slots=True)
class _Member:
    """One of the scene's, while it is gathered."""

    name: str
    body: int  # of the model
    fixed: bool
    geoms: list[int] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)  # welded together


def describe(given: Model, duration: float, title: str) -> Described:
    """Raises ModelError, SceneError."""
    model = load(given)
    data = started(model, given)
    if given.probe is not None:
        members, _ = _Describer(model, data)._gathered()
        set_up(model, data, given.probe, {one.name: one.body for one in members})
    return _Describer(model, data).described(given, duration, title)


class _Describer:
    def __init__(self, model: Any, data: Any) -> None:
        self.model, self.data = model, data
        mujoco.mj_kinematics(model, data)
        self.names = Names()
        self.unmeasured: list[str] = []
        self.limits: list[dict[str, Any]] = []
        self.single: dict[str, int] = {}
        self.hidden = False  # whether something that is not measured may hold bodies
        contacts = not model.opt.disableflags & (DISABLED.mjDSBL_CONTACT | DISABLED.mjDSBL_CONSTRAINT)
        self.paired = list(zip(model.pair_geom1.tolist(), model.pair_geom2.tolist())) if contacts else []
        listed = {geom for pair in self.paired for geom in pair}
        self.bits = np.stack([model.geom_contype, model.geom_conaffinity], axis=1).astype(np.int64) * contacts
        self.collides = [bool(self.bits[g].any()) or g in listed for g in range(model.ngeom)]

    def described(self, given: Model, duration: float, title: str) -> Described:
        model = self.model
        members, planes = self._gathered()
        if all(one.fixed for one in members):
            raise ModelError("no body of it can move; a model needs a joint")
        made = [self._body(one) for one in members]
        boundaries = [self._plane(geom) for geom in planes]
        pieces = [geom for one in members for geom in one.geoms or [-1]] + planes
        filters = [[self._filter(one, geom) for geom in one.geoms or [-1]] for one in members]
        filters += [[self._filter(None, geom)] for geom in planes]
        forces = forces_of(model)
        named = {geom: body for one, (body, _, _) in zip(members, made) for geom in one.geoms}
        named |= dict(zip(planes, boundaries))
        number = {body: k for k, one in enumerate(members) for body in one.bodies}
        acting = set(number) if self.hidden else forces.bodies
        acted_on = {number[body] for body in acting if body in number and not members[number[body]].fixed}
        scene = parse_scene(
            {
                "dimension": 3,
                "title": title,
                "duration": duration,
                "gravity": self._gravity(),
                "bodies": [body for body, _, _ in made],
                "boundaries": boundaries,
                "joints": [
                    *self._joints(members, made, number, acted_on),
                    *self._connections([body for body, _, _ in made], number),
                ],
                "contact": {"friction_rule": "max", "pairs": pair_laws(model, self.paired, named)},
                "native": {
                    "model": given.without_data().model_dump(),
                    "step": float(model.opt.timestep),
                    "filters": filters,
                    "apart": self._apart(),
                    "paired": [[pieces.index(a), pieces.index(b)] for a, b in self.paired if {a, b} <= {*pieces}],
                    "limits": self.limits,
                    "acted_on": [members[k].name for k in sorted(acted_on)],
                    "conserves": forces.conserves,
                    "sums": forces.sums,
                    "free": [one.name for one in members if not one.fixed and is_free(model, one.body)],
                    "controls": [
                        model.actuator_ctrlrange[k].tolist() if model.actuator_ctrllimited[k] else [-1.0, 1.0]
                        for k in range(model.nu)
                    ],
                    "rates": model.nv,
                    "servos": [self._title("actuator", k) for k in position_servos(model)],
                    "unmeasured": [text[:500] for text in dict.fromkeys([*self.unmeasured, *forces.unmeasured])],
                },
            },
            where="the model",
        )
        assert isinstance(scene, SpatialScene)
        member = np.full(model.ngeom, -1, np.int64)
        for k, one in enumerate([*(one.geoms for one in members), *([geom] for geom in planes)]):
            member[one] = k
        return Described(
            scene=with_overlaps(scene, self._overlaps(member)),
            model=model,
            data=self.data,
            body=np.array([one.body for one in members], np.int64),
            centre=np.array([centre for _, centre, _ in made]),
            axes=np.array([axes for _, _, axes in made]),
            member=member,
            joints=self.single,
        )

    # --- bodies -------------------------------------------------------------------------------------------

    def _gathered(self) -> tuple[list[_Member], list[int]]:
        """Bodies of the scene, and the geoms that are planes."""
        model = self.model
        weld, found = model.body_weldid, dict[int, _Member]()
        for body in range(model.nbody):
            root = int(weld[body]) or body
            if root not in found:
                found[root] = _Member("", root, fixed=not weld[body] or bool(model.body_mocapid[root] >= 0))
            found[root].bodies.append(body)
        planes: list[int] = []
        for geom in range(model.ngeom):
            if not self.collides[geom]:
                continue
            if model.geom_type[geom] == GEOM.mjGEOM_PLANE:
                planes.append(geom)
            elif why := self._not_measured(geom):
                self.unmeasured.append(f"geom {self._title('geom', geom)}: {why}; its gaps are not measured")
                self.hidden = True
            else:
                body = int(model.geom_bodyid[geom])
                found[int(weld[body]) or body].geoms.append(geom)
        members = [one for one in found.values() if one.geoms or not one.fixed]
        for one in members:
            one.name = self.names.name(self._title("body", one.body))
        return members, planes

    def _not_measured(self, geom: int) -> str:
        kind = self.model.geom_type[geom]
        if kind == GEOM.mjGEOM_HFIELD:
            return "a height field"
        if kind == getattr(GEOM, "mjGEOM_SDF", -1):
            return "a signed distance field"
        if kind == GEOM.mjGEOM_MESH:
            corners = corners_of(self.model, geom)
            if len(corners) > MOST_CORNERS:
                return f"a hull of {len(corners)} corners, more than {MOST_CORNERS}"
            if mass.mesh_fault(corners):
                return "a flat mesh"
        return ""

    def _body(self, one: _Member) -> tuple[dict[str, Any], Array, Array]:
        """As a scene has it; its centre of mass and axes in the frame of the model's body."""
        model, data = self.model, self.data
        origin, R = data.xpos[one.body], data.xmat[one.body].reshape(3, 3)
        if one.fixed:
            centre, axes, total, moments = np.zeros(3), np.eye(3), 0.0, np.zeros(3)
        else:
            total, centre, tensor = self._inertia(one, origin, R)
            moments, axes = principal(tensor)
        turn = np.array(frames.quaternion_of(axes))
        position = origin + mul(R, centre)
        orientation = np.array(frames.quaternion_product(data.xquat[one.body], turn))
        pieces = [piece_of(self.model, self.data, geom, position, mul(R, axes)) for geom in one.geoms]
        body: dict[str, Any] = {
            "name": one.name,
            "shape": shape_of(pieces) if pieces else inertia_box(total, moments),
            "friction": max((friction_of(model, geom) for geom in one.geoms), default=0.0),
            "position": position.tolist(),
            "orientation": orientation.tolist(),
        }
        if one.fixed:
            return {**body, "fixed": True}, centre, turn
        spin, velocity = self._twist(one.body, position)
        body |= {"mass": total, "inertia": moments.tolist(), "velocity": velocity.tolist(), "spin": spin.tolist()}
        return body, centre, turn

    def _inertia(self, one: _Member, origin: Array, R: Array) -> tuple[float, Array, Array]:
        """Mass, centre of mass and inertia about it of bodies that are welded together, in the frame of the first."""
        model, data = self.model, self.data
        if len(one.bodies) == 1:
            centres, turns = model.body_ipos[one.bodies], [mass.rotation_matrix(model.body_iquat[one.body])]
        else:
            centres = mul(data.xipos[one.bodies] - origin, R)
            turns = [mul(R.T, data.ximat[body].reshape(3, 3)) for body in one.bodies]
        return welded_inertia(model.body_mass[one.bodies], centres, turns, model.body_inertia[one.bodies])

    def _twist(self, body: int, point: Array) -> tuple[Array, Array]:
        """Spin, and velocity of a point of the body, at the start."""
        model, data = self.model, self.data
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        spin, v = data.cvel[body, :3].copy(), data.cvel[body, 3:]
        return spin, v + np.cross(spin, point - data.subtree_com[model.body_rootid[body]])

    # --- shapes -------------------------------------------------------------------------------------------

    def _plane(self, geom: int) -> dict[str, Any]:
        data = self.data
        return {
            "kind": "half-space",
            "name": self.names.name(self._title("geom", geom)),
            "point": data.geom_xpos[geom].tolist(),
            "normal": data.geom_xmat[geom].reshape(3, 3)[:, 2].tolist(),
            "friction": friction_of(self.model, geom),
        }

    # --- which pieces collide -----------------------------------------------------------------------------

    def _filter(self, one: _Member | None, geom: int) -> list[int]:
        if geom < 0:
            assert one is not None
            return [0, 0, one.body]
        kind, meets = self.bits[geom].tolist()
        return [kind, meets, int(self.model.geom_bodyid[geom])]

    def _apart(self) -> list[list[int]]:
        """Bodies that the model excludes, and those that hang on one another where MuJoCo passes these over."""
        model = self.model
        found = {(int(one) >> 16, int(one) & 0xFFFF) for one in model.exclude_signature}
        if not model.opt.disableflags & DISABLED.mjDSBL_FILTERPARENT:
            weld = model.body_weldid
            welded = defaultdict(list)
            for body in range(model.nbody):
                welded[int(weld[body])].append(body)
            for child in set(weld.tolist()) - {0}:
                parent = int(weld[model.body_parentid[child]])
                if parent:
                    found |= {(a, b) for a in welded[parent] for b in welded[child]}
        return [list(pair) for pair in sorted(found)]

    def _overlaps(self, member: Indices) -> dict[tuple[int, int], float]:
        """Of members that start in one another, by how much, m, as MuJoCo finds it."""
        model, data = self.model, mujoco.MjData(self.model)
        data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = self.data.qpos, self.data.mocap_pos, self.data.mocap_quat
        mujoco.mj_fwdPosition(model, data)
        found: dict[tuple[int, int], float] = {}
        contact = data.contact
        for one, other, gap in zip(contact.geom1.tolist(), contact.geom2.tolist(), contact.dist.tolist()):
            if gap < 0.0 <= min(one, other) and min(member[one], member[other]) >= 0:
                pair = int(member[one]), int(member[other])
                found[pair] = max(-gap, found.get(pair, 0.0))
        return found

    # --- joints -------------------------------------------------------------------------------------------

    def _joints(
        self, members: list[_Member], made: list[Any], number: dict[int, int], acted_on: set[int]
    ) -> Iterator[dict[str, Any]]:
        model = self.model
        for k, one in enumerate(members):
            first, count = int(model.body_jntadr[one.body]), int(model.body_jntnum[one.body])
            joints = range(first, first + count)
            if one.fixed or all(model.jnt_type[j] == JOINT.mjJNT_FREE for j in joints):
                continue
            parent = number.get(int(model.body_weldid[model.body_parentid[one.body]]))
            if parent is not None and members[parent].fixed:
                parent = None
            kind = self._kind([*joints])
            if kind is None:
                names = ", ".join(self._title("joint", j) for j in joints)
                self.unmeasured.append(f"joints {names}: several that move one body; how far they open is not measured")
                acted_on |= {k} if parent is None else {k, parent}
                continue
            anchor, axis = self.data.xanchor[first], self.data.xaxis[first]
            own, (body, _, _) = BodyFrame(made[k][0]), made[k]
            found = {
                "kind": kind,
                "name": self.names.name(self._title("joint", first)),
                "a": body["name"],
                "b": None if parent is None else members[parent].name,
                "anchor_a": own.point(anchor),
                "anchor_b": anchor.tolist() if parent is None else BodyFrame(made[parent][0]).point(anchor),
            }
            if kind != "ball" and model.jnt_limited[first] and not model.opt.disableflags & NO_LIMITS:
                low, high = model.jnt_range[first].tolist()
                start = float(self.data.qpos[model.jnt_qposadr[first]])
                self.limits.append({"joint": found["name"], "low": low, "high": high, "start": start})
            if kind == "ball":
                yield found
                continue
            self.single[found["name"]] = first
            yield {**found, "axis": own.vector(axis)}

    def _connections(self, bodies: list[dict[str, Any]], number: dict[int, int]) -> Iterator[dict[str, Any]]:
        """Equalities that make two points one: each a ball, whose anchors part as the engine lets them."""
        for k in connections(self.model):
            ends = connected_ends(self.model, self.data, k)
            known = [(number.get(body), point) for body, point in ends]
            free = [(i, point) for i, point in known if i is not None and not bodies[i].get("fixed")]
            if not free or known[0][0] == known[1][0]:
                continue
            i, anchor = free[0]
            j, other = known[1] if known[0][0] == i else known[0]
            fixed = j is None or bodies[j].get("fixed")
            yield {
                "kind": "ball",
                "name": self.names.name(self._title("equality", k)),
                "a": bodies[i]["name"],
                "b": None if j is None or fixed else bodies[j]["name"],
                "anchor_a": BodyFrame(bodies[i]).point(anchor),
                "anchor_b": other.tolist() if j is None or fixed else BodyFrame(bodies[j]).point(other),
            }

    def _kind(self, joints: list[int]) -> str | None:
        """What a scene has for the joints of one body; hinges at one point are a ball that turns less freely."""
        model = self.model
        kinds = {int(model.jnt_type[j]) for j in joints}
        if len(joints) == 1:
            return {int(JOINT.mjJNT_HINGE): "hinge", int(JOINT.mjJNT_SLIDE): "slider"}.get(min(kinds), "ball")
        at = self.data.xanchor[joints]
        together = float(np.abs(at - at[0]).max()) <= SAME_POINT
        return "ball" if kinds == {int(JOINT.mjJNT_HINGE)} and together else None

    # --- names ----------------------------------------------------------------------------------------------

    def _gravity(self) -> list[float]:
        model = self.model
        off = model.opt.disableflags & DISABLED.mjDSBL_GRAVITY
        return [0.0, 0.0, 0.0] if off else model.opt.gravity.tolist()

    def _title(self, kind: str, number: int) -> str:
        return getattr(self.model, SHORT.get(kind, kind))(number).name or f"{kind} {number}"
