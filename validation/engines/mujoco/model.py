"""A scene as a MuJoCo model: bodies in generalised coordinates, contacts with the law of each pair."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from mujoco import mjtEq, mjtJoint, mjtObj
from numpy.typing import NDArray

from scenarios.contact import contact_radius
from scenarios.scene import PlanarScene, Revolute, Rod, Rope, Scene, colliding_pairs, masses
from validation.engines.engine import Settings
from validation.engines.mujoco.mjcf import HAS_SPEC, MjcfSpec
from validation.engines.mujoco.shapes import body_geoms, boundary_geoms
from validation.engines.shared.embedding import inertias_in_space, rotation_matrix, start_in_space, vector_in_space
from validation.engines.shared.joint_tree import Joint, Link, holds_something, joint_forest, kept_apart, sliding_rate
from validation.engines.shared.linear_contact import linear_contact
from validation.engines.shared.pair_laws import PairLaws

Array = NDArray[np.float64]

MULTICCD_BY_DEFAULT = hasattr(mujoco.mjtDisableBit, "mjDSBL_MULTICCD")  # from version 4 on
HAS_AUTORESET = hasattr(mujoco.mjtDisableBit, "mjDSBL_AUTORESET")  # before 3.2 a diverged state starts again, and warns
MEMORY = 2**28  # bytes for contacts and constraints; only what is used is touched


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where the scene's bodies are in the model."""

    roots: NDArray[np.int64]  # (R,) scene bodies that hang on nothing
    root_q: NDArray[np.int64]  # (R, 3 planar or 7) into qpos
    root_v: NDArray[np.int64]  # (R, 3 planar or 6) into qvel
    links: tuple[Link, ...]  # those that hang on a joint, parents first
    link_q: tuple[int, ...]  # first coordinate of each link
    body_id: dict[int, int]  # free scene body -> model body
    member: NDArray[np.int64]  # (G,) the scene's body or boundary of each geom, bodies first


def build_model(scene: Scene, dt: float, settings: Settings) -> tuple[Any, Any, Layout]:
    """Model, data at the start, and layout.

    A planar body has three joints, x, y and the angle, and so cannot leave the plane. A link hangs on its parent by
    a hinge or ball, whose anchors cannot part; ropes, rods and joints that close a loop are soft constraints.
    """
    spec = mujoco.MjSpec() if HAS_SPEC else MjcfSpec()
    _set_options(spec, scene, dt, settings)
    links, loops = joint_forest(scene)
    nodes = _add_bodies(spec, scene, links)
    laws = _ContactLaws(spec, scene, dt, settings)
    bodies: tuple[Any, ...] = scene.bodies
    for i, body in enumerate(bodies):
        for shape in body_geoms(spec, body.shape, f"b{i}"):
            laws.add_geom(nodes[i], i, shape)
    for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
        for shape in boundary_geoms(boundary, settings):
            laws.add_geom(spec.worldbody, j, shape)
    laws.close()
    ties = [*loops, *(j for j in scene.joints if isinstance(j, (Rod, Rope)) and holds_something(scene, j))]
    _add_ties(spec, scene, ties, nodes, settings)
    model = spec.compile()
    for k, rod in enumerate(joint for joint in ties if isinstance(joint, (Rod, Rope))):
        if isinstance(rod, Rod):  # the equality holds length0 + data[0], and length0 is that of the model at zero
            model.eq_data[model.equality(f"rod{k}").id, 0] = rod.length - model.tendon_length0[k]
    data = mujoco.MjData(model)
    layout = _lay_out(model, scene, links, laws.geoms)
    _set_start(model, data, scene, layout)
    return model, data, layout


# --- options ------------------------------------------------------------------------------------------


def _set_options(spec: Any, scene: Scene, dt: float, settings: Settings) -> None:
    spec.compiler.usethread = False
    spec.memory = MEMORY
    option = spec.option
    option.timestep = dt
    option.gravity = vector_in_space(scene.gravity)
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{str(settings['integrator']).upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{str(settings['cone']).upper()}")
    option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{str(settings['solver']).upper()}")
    option.jacobian = getattr(mujoco.mjtJacobian, f"mjJAC_{str(settings['jacobian']).upper()}")
    for name in ("impratio", "iterations", "tolerance", "ls_iterations", "noslip_iterations", "ccd_tolerance"):
        if name in settings:  # releases before 3.2.4 have not all
            setattr(option, name, settings[name])
    # Without these a body at rest on its parent passes through it, and a diverged state starts again from zero.
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    if HAS_AUTORESET:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    if not MULTICCD_BY_DEFAULT and settings["multiccd"]:
        option.enableflags |= mujoco.mjtEnableBit.mjENBL_MULTICCD
    if MULTICCD_BY_DEFAULT and not settings["multiccd"]:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_MULTICCD


def _softness(settings: Settings) -> tuple[list[float], list[float]]:
    """solref and solimp, of contacts and of all other constraints alike."""
    solref = [float(settings["solref_timeconst"]), float(settings["solref_dampratio"])]
    solimp = [float(settings[f"solimp_{name}"]) for name in ("dmin", "dmax", "width")]
    return solref, [*solimp, 0.5, 2.0]


# --- bodies -------------------------------------------------------------------------------------------


def _add_bodies(spec: Any, scene: Scene, links: tuple[Link, ...]) -> list[Any]:
    """Model bodies in the order of the scene's; fixed ones hang on the world without a joint."""
    position, orientation, _, _ = start_in_space(scene)
    inertia, mass = inertias_in_space(scene, out_of_plane=1.0), masses(scene)
    planar = isinstance(scene, PlanarScene)
    nodes: list[Any] = [None] * len(scene.bodies)
    for i, body in enumerate(scene.bodies):
        if body.fixed:
            nodes[i] = spec.worldbody.add_body(name=f"b{i}", pos=position[i], quat=orientation[i])
    for link in links:
        i = link.body
        parent = spec.worldbody if link.parent is None else nodes[link.parent]
        if link.joint is None:
            node = parent.add_body(name=f"b{i}")
            if planar:
                for axis in np.eye(3)[:2]:
                    node.add_joint(type=mjtJoint.mjJNT_SLIDE, axis=axis)
                node.add_joint(type=mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
            else:
                node.add_joint(type=mjtJoint.mjJNT_FREE)
        else:
            # The link's frame at angle zero: turned as the parent's if planar and it may turn, else as at the start.
            turned = np.array([1.0, 0.0, 0.0, 0.0])
            if not planar or link.slides:
                mujoco.mju_copy(turned, orientation[i])
                if link.parent is not None:
                    inverse = np.zeros(4)
                    mujoco.mju_negQuat(inverse, orientation[link.parent])
                    mujoco.mju_mulQuat(turned, inverse, orientation[i])
            assert link.anchor is not None and link.parent_anchor is not None
            pos = link.parent_anchor - rotation_matrix(turned) @ link.anchor
            node = parent.add_body(name=f"b{i}", pos=pos, quat=turned)
            if link.axis is None:
                node.add_joint(type=mjtJoint.mjJNT_BALL, pos=link.anchor)
            elif link.slides:
                node.add_joint(type=mjtJoint.mjJNT_SLIDE, axis=link.axis)
            else:
                node.add_joint(type=mjtJoint.mjJNT_HINGE, pos=link.anchor, axis=link.axis)
        node.explicitinertial = True
        node.ipos, node.mass, node.inertia = [0.0, 0.0, 0.0], mass[i], inertia[i]
        nodes[i] = node
    return nodes


# --- contact laws -------------------------------------------------------------------------------------


class _ContactLaws:
    """Gives every pair its friction.

    MuJoCo takes the larger value of two geoms. Where no values per body give every pair its own, the pairs are
    listed one by one. A frictionless pair has one contact dimension: MuJoCo knows no friction below 1e-5. Where
    contact is compliant every pair is listed, with a spring and damper of its own.
    """

    def __init__(self, spec: Any, scene: Scene, dt: float, settings: Settings) -> None:
        self.geoms: list[int] = []  # the member of each geom, in the order they were added
        self._names: list[str] = []
        self._spec, self._scene = spec, scene
        self._laws = PairLaws(scene)
        compliant = scene.contact.compliant is not None
        self._friction = None if compliant else self._laws.shape_values("friction", "max")
        self._stiffest = 1.0 / (2.0 * dt) ** 2
        self._solref, self._solimp = _softness(settings)

    def add_geom(self, node: Any, member: int, shape: dict[str, Any]) -> None:
        name = f"g{len(self.geoms)}"
        mu = 0.0 if self._friction is None else self._friction[member]
        node.add_geom(
            name=name,
            **shape,
            condim=_dimensions(mu),
            friction=[mu, 0.0, 0.0],
            solref=self._solref,
            solimp=self._solimp,
            contype=int(self._friction is not None),
            conaffinity=int(self._friction is not None),
        )
        self.geoms.append(member)
        self._names.append(name)

    def close(self) -> None:
        """List the pairs where that is needed, or else those that do not meet."""
        if self._friction is None:
            self._list_pairs()
        else:
            for i, j in kept_apart(self._scene):
                self._spec.add_exclude(bodyname1=f"b{i}", bodyname2=f"b{j}")

    def _list_pairs(self) -> None:
        members = (*self._scene.bodies, *self._scene.boundaries)
        index = {member.name: i for i, member in enumerate(members)}
        of: dict[int, list[str]] = {}
        for name, member in zip(self._names, self.geoms):
            of.setdefault(member, []).append(name)
        for a, b in colliding_pairs(self._scene):
            law = self._pair(members[index[a]], members[index[b]], self._laws.of(index[a], index[b])[0])
            for first in of[index[a]]:
                for second in of[index[b]]:
                    self._spec.add_pair(
                        geomname1=first,
                        geomname2=second,
                        solimp=self._solimp,
                        **law,
                    )

    def _pair(self, a: Any, b: Any, mu: float) -> dict[str, Any]:
        """Rolling resistance is a length to MuJoCo; stiffness and damping are those of a unit mass, minus them where
        they are meant themselves.
        """
        given = self._scene.contact.compliant
        if given is None:
            return {"condim": _dimensions(mu), "friction": [mu, mu, 0.0, 0.0, 0.0], "solref": self._solref}
        K, D, m = linear_contact(self._scene, a, b)
        softer = min(1.0, self._stiffest / (K / m))
        solref = [-softer * K / m, -math.sqrt(softer) * D / m]
        rolling = given.law(a, b).rolling_resistance * contact_radius(a, b)
        return {
            "condim": 6 if rolling > 0.0 else _dimensions(mu), "friction": [mu, mu, rolling, rolling, rolling],
            "solref": solref,
        }  # fmt: skip


def _dimensions(friction: float) -> int:
    return 3 if friction > 0.0 else 1


# --- joints that are no links ---------------------------------------------------------------------------


def _add_ties(spec: Any, scene: Scene, ties: list[Joint], nodes: list[Any], settings: Settings) -> None:
    """Ropes are tendons with a limit, rods tendons of constant length, loops are closed at a site of each side."""
    solref, solimp = _softness(settings)
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    tendons = 0
    for number, joint in enumerate(ties):
        sites = []
        for end, name, anchor in (("a", joint.a, joint.anchor_a), ("b", joint.b, joint.anchor_b)):
            node = spec.worldbody if name is None else nodes[index[name]]
            node.add_site(name=f"s{number}{end}", pos=vector_in_space(anchor))
            sites.append(f"s{number}{end}")
        if isinstance(joint, (Rod, Rope)):
            tendon = spec.add_tendon(name=f"tendon{tendons}", solref_limit=solref, solimp_limit=solimp)
            for site in sites:
                tendon.wrap_site(site)
            if isinstance(joint, Rope):
                tendon.limited, tendon.range = mujoco.mjtLimited.mjLIMITED_TRUE, [0.0, joint.length]
            else:
                spec.add_equality(
                    name=f"rod{tendons}",
                    type=mjtEq.mjEQ_TENDON,
                    objtype=mjtObj.mjOBJ_TENDON,
                    name1=f"tendon{tendons}",
                    solref=solref,
                    solimp=solimp,
                )
            tendons += 1
        else:
            spec.add_equality(
                type=mjtEq.mjEQ_CONNECT,
                objtype=mjtObj.mjOBJ_SITE,
                name1=sites[0],
                name2=sites[1],
                solref=solref,
                solimp=solimp,
            )


# --- layout and start -----------------------------------------------------------------------------------


def _lay_out(model: Any, scene: Scene, links: tuple[Link, ...], geoms: list[int]) -> Layout:
    planar = isinstance(scene, PlanarScene)
    body_id = {link.body: model.body(f"b{link.body}").id for link in links}
    first_joint = {i: int(model.body_jntadr[body_id[i]]) for i in body_id}
    roots = np.array([link.body for link in links if link.joint is None], dtype=np.int64)
    first_q = np.array([model.jnt_qposadr[first_joint[i]] for i in roots], dtype=np.int64)
    first_v = np.array([model.jnt_dofadr[first_joint[i]] for i in roots], dtype=np.int64)
    hung = tuple(link for link in links if link.joint is not None)
    member = np.full(model.ngeom, -1, dtype=np.int64)
    for k, owner in enumerate(geoms):
        member[model.geom(f"g{k}").id] = owner
    return Layout(
        roots=roots,
        root_q=first_q[:, None] + np.arange(3 if planar else 7),
        root_v=first_v[:, None] + np.arange(3 if planar else 6),
        links=hung,
        link_q=tuple(int(model.jnt_qposadr[first_joint[link.body]]) for link in hung),
        body_id=body_id,
        member=member,
    )


def _set_start(model: Any, data: Any, scene: Scene, layout: Layout) -> None:
    """qpos and qvel at time 0; a free joint's angular velocity is in body axes."""
    position, orientation, velocity, spin = start_in_space(scene)
    planar = isinstance(scene, PlanarScene)
    for i, q, v in zip(layout.roots, layout.root_q, layout.root_v):
        body: Any = scene.bodies[i]
        if planar:
            data.qpos[q], data.qvel[v] = (*body.position, body.angle), (*body.velocity, body.spin)
        else:
            data.qpos[q] = (*position[i], *orientation[i])
            data.qvel[v] = (*velocity[i], *(rotation_matrix(orientation[i]).T @ spin[i]))
    for link, q in zip(layout.links, layout.link_q):
        v = int(model.jnt_dofadr[model.body_jntadr[layout.body_id[link.body]]])
        if link.slides:
            data.qvel[v] = sliding_rate(scene, link)
            continue
        relative = spin[link.body] - (0.0 if link.parent is None else spin[link.parent])
        own: Array = rotation_matrix(orientation[link.body]).T @ relative
        if link.axis is None:  # a ball: the quaternion of the model at zero is that of the start
            data.qvel[v : v + 3] = own
        else:
            data.qvel[v] = own @ link.axis
            if isinstance(link.joint, Revolute):
                parent: Any = None if link.parent is None else scene.bodies[link.parent]
                # Revolute joints are the plane's, where bodies have an angle.
                data.qpos[q] = scene.bodies[link.body].angle - (0.0 if parent is None else parent.angle)  # type: ignore[union-attr]
