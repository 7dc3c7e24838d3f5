"""A scene written as MJCF: bodies in generalised coordinates, contacts with the law of each pair.

Numbers are written with all their digits. MuJoCo takes a mesh for its convex hull, in single precision, and has no
concave shape: a bowl or hollow sphere is as many planes. MuJoCo itself is not imported.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from reference_engine.array_types import Array
from scenarios.contact import contact_radius, margin, widest_margin
from scenarios.given_motion import given_bodies
from scenarios.scene import (
    ForceMotor,
    PlanarScene,
    PositionMotor,
    Scene,
    VelocityMotor,
    colliding_pairs,
    masses,
)
from validation.engines.engine import Settings
from validation.engines.shared import embedding
from validation.engines.shared.joint_tree import (
    RODS,
    ROPES,
    Joint,
    Link,
    frame_at_zero,
    is_effective,
    joint_forest,
    non_colliding_pairs,
)
from validation.engines.shared.linear_contact import bounce, linear_contact
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.spatial_pieces import spatial_pieces

HEAVY = 1e4  # times the largest mass or moment: of a body whose motion is given, which is set at every step
MEMORY = 2**28  # bytes for contacts and constraints; only what is used is touched
# Releases before 3.2.4 have not the last two.
OPTIONS = (
    "impratio", "iterations", "tolerance", "noslip_iterations", "cone", "jacobian", "ls_iterations", "ccd_tolerance",
)  # fmt: skip
AS_WRITTEN = {"euler": "Euler", "rk4": "RK4", "newton": "Newton", "cg": "CG", "pgs": "PGS"}
PLANE_SIZE = "0 0 1"  # no end in x and y


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What a release of MuJoCo has, and how it is out of the box."""

    connects_sites: bool  # from 3.2.5 on
    has_autoreset: bool  # before 3.2 a diverged state starts again, and warns
    has_islands: bool  # from 3.0 on
    islands_by_default: bool  # from 3.3.6 on
    multiccd_by_default: bool  # from version 4 on


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A model as MJCF, and what of the scene is in it."""

    root: ElementTree.Element
    links: tuple[Link, ...]
    geoms: list[int]  # the member of each geom, bodies first, in the order of their names
    ties: list[Joint]  # joints that are no links


def write_model(scene: Scene, dt: float, settings: Settings, release: Release) -> Written:
    """A planar body has three joints, x, y and the angle, and so cannot leave the plane. A link hangs on its parent by
    a hinge or ball, whose anchors cannot part; ropes, rods and joints that close a loop are soft constraints.
    """
    root = ElementTree.Element("mujoco")
    _add_options(root, scene, dt, settings, release)
    default = _add(root, "default")
    world, asset, contact, tendon, equality = (
        _add(root, part) for part in ("worldbody", "asset", "contact", "tendon", "equality")
    )
    links, loops = joint_forest(scene)
    nodes = _add_bodies(world, scene, links, settings)
    if any(getattr(link.joint, "motor", None) is not None for link in links):
        _add_motors(_add(root, "actuator"), links)
    laws = _ContactLaws(default, contact, scene, dt, settings)
    bodies: tuple[Any, ...] = scene.bodies
    for i, body in enumerate(bodies):
        laws.add_geoms(nodes[i], i, _body_geoms(asset, body.shape, f"b{i}"))
    for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
        laws.add_geoms(world, j, _boundary_geoms(boundary, settings))
    laws.close()
    ties = [*loops, *(j for j in scene.joints if isinstance(j, RODS + ROPES) and is_effective(scene, j))]
    _add_ties(tendon, equality, scene, ties, [*nodes, world], settings)
    return Written(root=root, links=links, geoms=laws.geoms, ties=ties)


def _add(parent: Any, tag: str, **given: Any) -> Any:
    """An element with these attributes, in MuJoCo's text."""
    return ElementTree.SubElement(parent, tag, {name: _text(value) for name, value in given.items()})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(map(repr, np.ravel(value).tolist()))


# --- options ------------------------------------------------------------------------------------------


def _add_options(root: Any, scene: Scene, dt: float, settings: Settings, release: Release) -> None:
    _add(root, "compiler", angle="radian", **({"usethread": "false"} if release.connects_sites else {}))
    _add(root, "size", memory=MEMORY)
    option = _add(
        root,
        "option",
        timestep=dt,
        gravity=embedding.vector_in_space(scene.gravity),
        **{name: AS_WRITTEN.get(str(settings[name]), settings[name]) for name in ("integrator", "solver")},
        **{name: settings[name] for name in OPTIONS if name in settings},
    )
    # Without these a body at rest on its parent passes through it, and a diverged state starts again from zero.
    flags = {"filterparent": "disable"} | ({"autoreset": "disable"} if release.has_autoreset else {})
    if settings["multiccd"] != release.multiccd_by_default:
        flags["multiccd"] = "enable" if settings["multiccd"] else "disable"
    if release.has_islands and settings["islands"] != release.islands_by_default:
        flags["island"] = "enable" if settings["islands"] else "disable"
    _add(option, "flag", **flags)


def _softness(settings: Settings) -> tuple[list[float], list[float]]:
    """solref and solimp, of contacts and of all other constraints alike."""
    solref = [float(settings["solref_timeconst"]), float(settings["solref_dampratio"])]
    solimp = [float(settings[f"solimp_{name}"]) for name in ("dmin", "dmax", "width")]
    return solref, [*solimp, 0.5, 2.0]


# --- bodies and boundaries ----------------------------------------------------------------------------


def _add_bodies(world: Any, scene: Scene, links: tuple[Link, ...], settings: Settings) -> list[Any]:
    """Model bodies in the order of the scene's; fixed ones hang on the world without a joint."""
    position, orientation, _, _ = embedding.start_in_space(scene)
    inertia, mass = embedding.inertias_in_space(scene, out_of_plane=1.0), masses(scene)
    planar = isinstance(scene, PlanarScene)
    heavy, heavy_turn = (HEAVY * float(np.max(part, initial=0.0, where=np.isfinite(part))) for part in (mass, inertia))
    nodes: list[Any] = [None] * len(scene.bodies)
    for i, body in enumerate(scene.bodies):
        if body.motion is not None:
            nodes[i] = _add(world, "body", name=f"b{i}")
            _add_freedom(nodes[i], planar)
            _add(nodes[i], "inertial", pos=np.zeros(3), mass=heavy, diaginertia=(heavy_turn,) * 3)
        elif body.fixed:
            nodes[i] = _add(world, "body", name=f"b{i}", pos=position[i], quat=orientation[i])
    for link in links:
        i = link.body
        parent = world if link.parent is None else nodes[link.parent]
        if link.joint is None:
            node = _add(parent, "body", name=f"b{i}")
            _add_freedom(node, planar)
        else:
            turned = frame_at_zero(scene, link, orientation)
            assert link.anchor is not None and link.parent_anchor is not None
            pos = link.parent_anchor - embedding.rotation_matrix(turned) @ link.anchor
            node = _add(parent, "body", name=f"b{i}", pos=pos, quat=turned)
            if link.axis is None and not link.is_fixed:
                _add(node, "joint", type="ball", pos=link.anchor)
            elif link.slides:
                _add(node, "joint", type="slide", axis=link.axis, **_along(link, settings))
            elif not link.is_fixed:
                _add(node, "joint", type="hinge", pos=link.anchor, axis=link.axis, **_along(link, settings))
        _add(node, "inertial", pos=np.zeros(3), mass=mass[i], diaginertia=inertia[i])
        nodes[i] = node
    return nodes


def _add_freedom(node: Any, planar: bool) -> None:
    """A planar body's x, y and angle; in space a free joint."""
    if not planar:
        _add(node, "joint", type="free")
        return
    for axis in np.eye(3)[:2]:
        _add(node, "joint", type="slide", axis=axis)
    _add(node, "joint", type="hinge", axis=(0.0, 0.0, 1.0))


def _along(link: Link, settings: Settings) -> dict[str, Any]:
    """What acts along a hinge or slider but its motor; friction and limits are as soft as all other constraints."""
    joint: Any = link.joint
    if not getattr(joint, "is_driven", False):
        return {}
    solref, solimp = _softness(settings)
    given: dict[str, Any] = {"name": f"j{link.body}"}
    if joint.spring is not None:
        given |= {"stiffness": joint.spring.stiffness, "springref": link.at(joint.spring.rest)}
    if joint.damping:
        given["damping"] = joint.damping
    if joint.friction:
        given |= {"frictionloss": joint.friction, "solreffriction": solref, "solimpfriction": solimp}
    if joint.limits is not None:
        ends = sorted(map(link.at, (joint.limits.low, joint.limits.high)))
        given |= {"limited": "true", "range": ends, "solreflimit": solref, "solimplimit": solimp}
    return given


def _add_motors(actuator: Any, links: tuple[Link, ...]) -> None:
    """force = gain control + bias . (1, position, velocity), clamped, in the order of the links."""
    for link in links:
        motor: Any = getattr(link.joint, "motor", None)
        match motor:
            case PositionMotor():
                gain, bias = motor.stiffness, (0.0, -motor.stiffness, -motor.damping)
            case VelocityMotor():
                gain, bias = motor.damping, (0.0, 0.0, -motor.damping)
            case ForceMotor():
                gain, bias = 1.0, (0.0, 0.0, 0.0)
            case _:
                continue
        most = {} if motor.most is None else {"forcelimited": "true", "forcerange": (-motor.most, motor.most)}
        _add(
            actuator, "general", joint=f"j{link.body}", gaintype="fixed", gainprm=gain, biastype="affine",
            biasprm=bias, **most,
        )  # fmt: skip


def _body_geoms(asset: Any, shape: Any, name: str) -> Iterator[dict[str, Any]]:
    """Of a body's shape."""
    for k, piece in enumerate(spatial_pieces(shape, None)):
        if piece.kind == "hull":
            _add(asset, "mesh", name=f"{name}m{k}", vertex=piece.points)
            yield {"type": "mesh", "mesh": f"{name}m{k}"}
        else:
            size = (*piece.size, 0.0, 0.0)[:3]
            yield {"type": piece.kind, "size": size, "pos": piece.center, "quat": piece.quaternion}


def _boundary_geoms(boundary: Any, settings: Settings) -> Iterator[dict[str, Any]]:
    """A boundary as planes, whose free side is that of their z axis.

    Those of a bowl or hollow sphere do not reach beyond its wall, so that no body is let through it by them.
    """

    def plane(point: Array, normal: Array) -> dict[str, Any]:
        return {"type": "plane", "size": PLANE_SIZE, "pos": point, "quat": embedding.from_z_to(normal)}

    match boundary.kind:
        case "half-plane" | "half-space":
            yield plane(embedding.vector_in_space(boundary.point), embedding.vector_in_space(boundary.normal))
        case "bowl":
            count = int(settings["bowl_segments"])
            center, near = embedding.vector_in_space(boundary.center), boundary.radius * math.cos(math.pi / count)
            for angle in 2 * np.pi * np.arange(count) / count:
                outward = np.array([math.cos(angle), math.sin(angle), 0.0])
                yield plane(center + near * outward, -outward)
        case "hollow-sphere":
            directions, triangles = embedding.icosphere(int(settings["sphere_subdivisions"]))
            # Three planes meet in a corner above the middle of a triangle of their directions.
            a, b, c = (directions[triangles[:, k]] for k in range(3))
            middle = np.cross(b - a, c - a)
            cosine = np.abs((middle * a).sum(axis=1)) / np.linalg.norm(middle, axis=1)
            near = boundary.radius * cosine.min()
            center = embedding.vector_in_space(boundary.center)
            for outward in directions:
                yield plane(center + near * outward, -outward)
        case _:
            raise TypeError(boundary)


# --- contact laws -------------------------------------------------------------------------------------


class _ContactLaws:
    """Gives every pair its friction.

    MuJoCo takes the larger value of two geoms. Where no values per body give every pair its own, the pairs are
    listed one by one. A frictionless pair has one contact dimension: MuJoCo knows no friction below 1e-5. Where
    contact is compliant, some pairs have another restitution than others, or bodies have margins (whose sum counts from
    3.5.0 on, and the larger before), every pair is listed, with a law of its own.
    """

    def __init__(self, default: Any, contact: Any, scene: Scene, dt: float, settings: Settings) -> None:
        self.geoms: list[int] = []  # the member of each geom, in the order they were added
        self._contact, self._scene = contact, scene
        self._laws = PairLaws(scene)
        compliant = scene.contact.compliant is not None
        restitutions = self._laws.restitutions
        alike = not compliant and len(restitutions) <= 1 and widest_margin(scene) == 0.0
        self._friction = self._laws.shape_values("friction", "max") if alike else None
        self._stiffest = 1.0 / (2.0 * dt) ** 2
        self._settings, self._dt = settings, dt
        self._solref, self._solimp = self._bouncing(max(restitutions, default=0.0) if alike else 0.0)
        meets = int(self._friction is not None)
        _add(default, "geom", solref=self._solref, solimp=self._solimp, contype=meets, conaffinity=meets)

    def _bouncing(self, restitution: float) -> tuple[list[float], list[float]]:
        """solref and solimp of a pair. One that bounces has a spring and a damper, given as they are, and an impedance
        that is the same at every depth, which leaves them so.
        """
        solref, solimp = _softness(self._settings)
        if restitution == 0.0:
            return solref, solimp
        K, D = bounce(restitution, int(self._settings["impact_steps"]) * self._dt)
        return [-K, -D], [solimp[1], *solimp[1:]]

    def add_geoms(self, node: Any, member: int, shapes: Iterable[dict[str, Any]]) -> None:
        mu = 0.0 if self._friction is None else self._friction[member]
        condim, friction = _text(_dimensions(mu)), _text([mu, 0.0, 0.0])
        for shape in shapes:
            _add(node, "geom", name=f"g{len(self.geoms)}", **shape, condim=condim, friction=friction)
            self.geoms.append(member)

    def close(self) -> None:
        """List the pairs where that is needed, or else those that do not meet."""
        if self._friction is None:
            self._list_pairs()
        else:
            for i, j in non_colliding_pairs(self._scene):
                _add(self._contact, "exclude", body1=f"b{i}", body2=f"b{j}")
            self._exclude_given()

    def _exclude_given(self) -> None:
        """What has a given motion passes through what is fixed, which to MuJoCo it is not."""
        given = given_bodies(self._scene)
        others = [f"b{i}" for i, body in enumerate(self._scene.bodies) if body.fixed]
        for i in given:
            for other in ["world", *others]:
                if other != f"b{i}" and (other == "world" or int(other[1:]) not in given or int(other[1:]) > i):
                    _add(self._contact, "exclude", body1=f"b{i}", body2=other)

    def _list_pairs(self) -> None:
        members = (*self._scene.bodies, *self._scene.boundaries)
        index = {member.name: i for i, member in enumerate(members)}
        of: dict[int, list[str]] = {}
        for k, member in enumerate(self.geoms):
            of.setdefault(member, []).append(f"g{k}")
        for a, b in colliding_pairs(self._scene):
            law = self._pair(members[index[a]], members[index[b]], *self._laws.of(index[a], index[b]))
            if (apart := margin(members[index[a]], members[index[b]])) > 0.0:
                law["margin"] = apart
            for first in of[index[a]]:
                for second in of[index[b]]:
                    _add(self._contact, "pair", geom1=first, geom2=second, **law)

    def _pair(self, a: Any, b: Any, mu: float, e: float) -> dict[str, Any]:
        """Rolling resistance is a length to MuJoCo; stiffness and damping are those of a unit mass, minus them where
        they are meant themselves.
        """
        given = self._scene.contact.compliant
        if given is None:
            solref, solimp = self._bouncing(e)
            return {
                "condim": _dimensions(mu), "friction": [mu, mu, 0.0, 0.0, 0.0], "solref": solref, "solimp": solimp
            }  # fmt: skip
        K, D, m = linear_contact(self._scene, a, b)
        softer = min(1.0, self._stiffest / (K / m))
        solref = [-softer * K / m, -math.sqrt(softer) * D / m]
        rolling = given.law(a, b).rolling_resistance * contact_radius(a, b)
        return {
            "condim": 6 if rolling > 0.0 else _dimensions(mu), "friction": [mu, mu, rolling, rolling, rolling],
            "solref": solref, "solimp": self._solimp,
        }  # fmt: skip


def _dimensions(friction: float) -> int:
    return 3 if friction > 0.0 else 1


# --- joints that are no links ---------------------------------------------------------------------------


def _add_ties(
    tendon: Any, equality: Any, scene: Scene, ties: list[Joint], nodes: list[Any], settings: Settings
) -> None:
    """Ropes are tendons with a limit, rods tendons of constant length, loops are closed at a site of each side.

    `nodes`: of the bodies, then of the world.
    """
    solref, solimp = _softness(settings)
    index = {None: -1} | {body.name: i for i, body in enumerate(scene.bodies)}
    tendons = 0
    for number, joint in enumerate(ties):
        sites = []
        for end, name, anchor in (("a", joint.a, joint.anchor_a), ("b", joint.b, joint.anchor_b)):
            sites.append(f"s{number}{end}")
            _add(nodes[index[name]], "site", name=sites[-1], pos=embedding.vector_in_space(anchor))
        if not isinstance(joint, RODS + ROPES):
            _add(equality, "connect", site1=sites[0], site2=sites[1], solref=solref, solimp=solimp)
            continue
        name, limit = f"tendon{tendons}", {}
        if isinstance(joint, ROPES):
            limit = {"limited": "true", "range": (0.0, joint.length)}
        else:
            _add(equality, "tendon", name=f"rod{tendons}", tendon1=name, solref=solref, solimp=solimp)
        made = _add(tendon, "spatial", name=name, solreflimit=solref, solimplimit=solimp, **limit)
        for site in sites:
            _add(made, "site", site=site)
        tendons += 1
