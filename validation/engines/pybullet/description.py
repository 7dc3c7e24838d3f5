"""What pybullet has loaded, described as a scene: read through its own functions, as nothing else of it can be.

Links that fixed joints tie are one body of the scene, named as the first of them. A link without mass is none: the
joints before and after it tie the bodies that have some.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios import frames, mass
from scenarios.native import Model
from scenarios.scene import SpatialScene, parse_scene
from validation.engines.engine import ModelError
from validation.engines.pybullet.controls import moves_joints, ranges
from validation.engines.pybullet.links import Address, Link, Links
from validation.engines.pybullet.loading import MOVABLE, STEP, Loaded, is_fixed
from validation.engines.pybullet.trees import BASE
from validation.engines.shared.description import (
    MOST_FRICTION,
    SAME_POINT,
    BodyFrame,
    Names,
    inertia_box,
    principal,
    shape_of,
    welded_inertia,
    with_overlaps,
)

MOST_NAMES = 8  # in one line
SMALLEST = 1e-12  # m^2, of an inertia for each kg
POSSIBLE = 1.0 + 1e-6  # how far a moment may exceed the sum of the others by round-off


@dataclass(slots=True)
class _Group:
    """Links that move as one."""

    links: list[Link]
    fixed: bool

    @property
    def first(self) -> Link:
        return self.links[0]

    @property
    def mass(self) -> float:
        return float(sum(one.dynamics[0] for one in self.links))


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A scene, and where its bodies are in pybullet."""

    scene: SpatialScene
    address: tuple[Address, ...]  # of each body of the scene
    centre: Array  # (B, 3) m, of mass, in the inertial frame of that link
    axes: Array  # (B, 4) unit quaternion, of the scene's axes in that frame
    member: Mapping[Address, int]  # the scene's body or boundary of each link that is measured
    margin: float  # m, around hulls
    links: tuple[Link, ...]  # at the start
    body_of: Mapping[Address, int]  # of each link of a body of the scene that moves, or has shapes
    still: Mapping[Address, bool]  # whether a link does not move
    joints: Mapping[str, Link]  # of each hinge and slider of the scene


def described(loaded: Loaded, given: Model, duration: float, title: str) -> Described:
    """Raises ModelError, SceneError. Nothing of what pybullet has loaded is changed."""
    return _Describer(loaded, given).described(duration, title)


def overlapping(loaded: Loaded, found: Described) -> SpatialScene:
    """The scene, which says how deep its members start in one another; the client is asked for contacts."""
    loaded.call(pb.performCollisionDetection)
    deepest: dict[tuple[int, int], float] = {}
    for row in loaded.call(pb.getContactPoints) or ():
        a, b = found.member.get((row[1], row[3]), -1), found.member.get((row[2], row[4]), -1)
        if min(a, b) >= 0 and a != b and row[8] < 0.0:
            pair = min(a, b), max(a, b)
            deepest[pair] = max(-row[8], deepest.get(pair, 0.0))
    return with_overlaps(found.scene, deepest)


class _Describer:
    def __init__(self, loaded: Loaded, given: Model) -> None:
        self.loaded, self.given = loaded, given
        self.names, self.read = Names(), Links(loaded, given)
        self.limits: list[dict[str, Any]] = []
        self.single: dict[str, Link] = {}
        self.possible = True  # whether every inertia is that of a body
        self.links, self.unmeasured = self.read.all, self.read.unmeasured
        self.by_address = {one.address: one for one in self.links}

    def described(self, duration: float, title: str) -> Described:
        groups = self._groups()
        if all(one.fixed for one in groups.values()):
            raise ModelError("no body of it can move; a model needs a joint, or a base with mass that is not fixed")
        of_link = {link.address: group for group in groups.values() for link in group.links}
        members = [one for one in groups.values() if self._is_member(one)]
        if not any(not one.fixed for one in members):
            raise ModelError("nothing of it that can move has a mass")
        made = [self._body(one) for one in members]
        planes = [(link, normal) for one in groups.values() for link in one.links for normal in link.planes]
        boundaries = [self._plane(link, normal) for link, normal in planes]
        number = {id(one): k for k, one in enumerate(members)}
        joints = [*self._joints(members, [body for body, _, _ in made], of_link, number)]
        free = [body["name"] for (body, _, _), one in zip(made, members) if not one.fixed]
        self._name_forces()
        filters = [[[1, 1, link.number] for link in one.links for _ in link.pieces] or [[0, 0, -1]] for one in members]
        filters += [[[1, 1, link.number]] for link, _ in planes]
        if self.loaded.ground is not None:
            boundaries.append({"kind": "half-space", "name": self.names.name("ground"), "friction": 1.0})
            filters.append([[1, 1, len(self.links)]])
        scene = parse_scene(
            {
                "dimension": 3,
                "title": title,
                "duration": duration,
                "gravity": [0.0, 0.0, float(self.loaded.settings["gravity"])],
                "bodies": [body for body, _, _ in made],
                "boundaries": boundaries,
                "joints": joints,
                "contact": {"friction_rule": "product", "restitution_rule": "product"},
                "native": {
                    "model": self.given.without_data().model_dump(),
                    "step": STEP,
                    "filters": filters,
                    "apart": self._apart(),
                    "limits": self.limits,
                    "acted_on": free,  # by the damping of motion
                    "free": [body["name"] for (body, _, _), one in zip(made, members) if self._is_free_base(one)],
                    "conserves": self.possible and not moves_joints(self.given),
                    "servos": [one.title for one in self.links if one.joint is not None and one.joint[2] in MOVABLE],
                    "controls": ranges(self.loaded, self.loaded.settings),
                    "unmeasured": [text[:500] for text in self.unmeasured],
                },
            },
            where="the model",
        )
        assert isinstance(scene, SpatialScene)
        member = {link.address: k for k, one in enumerate(members) for link in one.links if link.pieces}
        member |= {link.address: len(members) + k for k, (link, _) in enumerate(planes)}
        if self.loaded.ground is not None:
            member[self.loaded.ground, BASE] = len(members) + len(planes)
        return Described(
            scene=scene,
            address=tuple(one.first.address for one in members),
            centre=np.array([centre for _, centre, _ in made]),
            axes=np.array([axes for _, _, axes in made]),
            member=member,
            margin=self.read.margin,
            links=tuple(self.links),
            body_of={link.address: k for k, one in enumerate(members) for link in one.links},
            still={address: group.fixed for address, group in of_link.items()},
            joints=self.single,
        )

    def _is_free_base(self, one: _Group) -> bool:
        body, link = one.first.address
        return link == BASE and not one.fixed and not is_fixed(self.loaded, body)

    # --- bodies -------------------------------------------------------------------------------------------

    def _groups(self) -> dict[Address, _Group]:
        """By the first link of each."""
        root: dict[Address, Address] = {}
        found: dict[Address, _Group] = {}
        for link in self.links:
            body, number = link.address
            if link.joint is not None and link.joint[2] == pb.JOINT_FIXED:
                root[link.address] = root[body, link.joint[16]]
                found[root[link.address]].links.append(link)
            else:
                root[link.address] = link.address
                found[link.address] = _Group([link], fixed=number == BASE and is_fixed(self.loaded, body))
        return found

    def _is_member(self, group: _Group) -> bool:
        has_shape = any(link.pieces for link in group.links)
        if group.fixed:
            return has_shape
        if group.mass > 0.0:
            return True
        if has_shape:
            for link in group.links:
                if link.pieces:
                    self.read.leave_out(link, "shapes without mass")
        return False

    def _body(self, one: _Group) -> tuple[dict[str, Any], Array, Array]:
        """As a scene has it; its centre of mass and axes in the inertial frame of its first link."""
        first = one.first
        R = mass.rotation_matrix(first.turn)
        if one.fixed:
            centre, axes, total, moments = np.zeros(3), np.eye(3), 0.0, np.zeros(3)
        else:
            total, centre, moments, axes = self._inertia(one, R)
        turn = np.array(frames.quaternion_of(axes))
        position = first.at + mul(R, centre)
        orientation = np.array(frames.quaternion_product(first.turn, turn))
        pieces = [_in_frame(piece, link, position, mul(R, axes)) for link in one.links for piece in link.pieces]
        solid = [link.dynamics for link in one.links if link.pieces]
        body: dict[str, Any] = {
            "name": self.names.name(first.name),
            "shape": shape_of(pieces) if pieces else inertia_box(total, moments),
            "friction": min(max((float(one[1]) for one in solid), default=0.0), MOST_FRICTION),
            "restitution": min(max((float(one[5]) for one in solid), default=0.0), 1.0),
            "position": position.tolist(),
            "orientation": orientation.tolist(),
        }
        if one.fixed:
            return {**body, "fixed": True}, centre, turn
        velocity = first.velocity + np.cross(first.spin, mul(R, centre))
        body |= {"mass": total, "inertia": moments.tolist(), "velocity": velocity.tolist(), "spin": first.spin.tolist()}
        return body, centre, turn

    def _inertia(self, one: _Group, R: Array) -> tuple[float, Array, Array, Array]:
        """Mass, centre of mass, moments and axes."""
        masses = np.array([link.dynamics[0] for link in one.links])
        centres = np.array([mul(R.T, link.at - one.first.at) for link in one.links])
        turns = [mul(R.T, mass.rotation_matrix(link.turn)) for link in one.links]
        if len(one.links) == 1:
            turns = [np.eye(3)]
        moments_of = [self._moments(link) for link in one.links]
        total, centre, tensor = welded_inertia(masses, centres, turns, moments_of)
        values, axes = principal(tensor)
        return total, centre, values, axes

    def _moments(self, link: Link) -> Array:
        """Those of a body; pybullet sets some that are not to 0, and turns the link without any."""
        own = np.array(link.dynamics[2], np.float64)
        low, middle, high = np.sort(own).tolist()
        if link.dynamics[0] == 0.0 or (low > 0.0 and high <= POSSIBLE * (low + middle)):
            return own
        self.possible = False
        self.unmeasured[f"energy and spin of link {link.name}: its inertia {link.dynamics[2]} is that of no body"] = (
            None
        )
        return np.maximum(own, SMALLEST * float(link.dynamics[0]))

    def _plane(self, link: Link, normal: Array) -> dict[str, Any]:
        return {
            "kind": "half-space",
            "name": self.names.name(link.name),
            "point": link.at.tolist(),
            "normal": mul(mass.rotation_matrix(link.turn), normal).tolist(),
            "friction": min(float(link.dynamics[1]), MOST_FRICTION),
            "restitution": min(float(link.dynamics[5]), 1.0),
        }

    # --- which collide ------------------------------------------------------------------------------------

    def _apart(self) -> list[list[int]]:
        """Links of one body that pass through one another, by their numbers."""
        mode, found = self.loaded.settings["self_collision"], list[list[int]]()
        solid = [link for link in self.links if link.pieces]
        for one, other in itertools.combinations(solid, 2):
            if one.address[0] != other.address[0]:
                continue
            above = other.address[1] in self._above(one) or one.address[1] in self._above(other)
            parent = other.address[1] in self._above(one)[:1] or one.address[1] in self._above(other)[:1]
            if mode == "none" or (mode == "no-parents" and parent) or (mode == "no-ancestors" and above):
                found.append([one.number, other.number])
        return found

    def _above(self, link: Link) -> list[int]:
        """Numbers of its parent, and on up to the base."""
        found: list[int] = []
        while link.joint is not None:
            found.append(link.joint[16])
            link = self.by_address[link.address[0], link.joint[16]]
        return found

    # --- joints -------------------------------------------------------------------------------------------

    def _joints(
        self, members: list[_Group], bodies: list[dict[str, Any]], of_link: Mapping[Address, _Group],
        number: Mapping[int, int],
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        for k, one in enumerate(members):
            chain = self._chain(one, of_link, number)
            if not chain:
                continue
            last = of_link[chain[-1].address[0], chain[-1].joint[16]]
            parent = None if last.fixed else number[id(last)]
            kind = self._kind(chain)
            titles = [link.title for link in chain]
            if kind is None:
                names = ", ".join(titles)
                self.unmeasured[f"joints {names}: how far they open is not measured"] = None
                continue
            anchor, own = chain[0].origin, BodyFrame(bodies[k])
            found = {
                "kind": kind,
                "name": self.names.name(titles[0]),
                "a": bodies[k]["name"],
                "b": None if parent is None else bodies[parent]["name"],
                "anchor_a": own.point(anchor),
                "anchor_b": anchor.tolist() if parent is None else BodyFrame(bodies[parent]).point(anchor),
            }
            if kind == "ball":
                yield found
                continue
            joint = chain[0].joint
            self.single[found["name"]] = chain[0]
            if joint[8] <= joint[9]:
                start = float(self.loaded.call(pb.getJointState, *chain[0].address)[0])
                limit = {"low": float(joint[8]), "high": float(joint[9]), "start": start}
                self.limits.append({"joint": found["name"], **limit})
            yield {**found, "axis": own.vector(mul(chain[0].axes, np.array(joint[13])))}

    def _chain(self, one: _Group, of_link: Mapping[Address, _Group], number: Mapping[int, int]) -> list[Link]:
        """The links whose joints hold it, from its own up to the nearest body that has mass, or is fixed."""
        found: list[Link] = []
        while one.first.joint is not None:
            found.append(one.first)
            one = of_link[one.first.address[0], one.first.joint[16]]
            if one.fixed or id(one) in number:
                break
        else:
            return []
        return found

    def _kind(self, chain: list[Link]) -> str | None:
        """What a scene has for the joints of one body; hinges at one point are a ball that turns less freely."""
        kinds = {link.joint[2] for link in chain}
        if len(chain) == 1:
            known = {pb.JOINT_REVOLUTE: "hinge", pb.JOINT_PRISMATIC: "slider", pb.JOINT_SPHERICAL: "ball"}
            return known.get(min(kinds))
        together = all(np.abs(link.origin - chain[0].origin).max() <= SAME_POINT for link in chain)
        return "ball" if together and kinds <= {pb.JOINT_REVOLUTE, pb.JOINT_SPHERICAL} else None

    # --- what is not measured -----------------------------------------------------------------------------

    def _name_forces(self) -> None:
        moving = [link for link in self.links if link.joint is not None and link.joint[2] != pb.JOINT_FIXED]
        if self.loaded.settings["motors"]:
            self._named("motors, at rest, that pybullet gives every joint", [link.title for link in moving])
        if moves_joints(self.given):
            self.unmeasured["energy: the motors that move joints add and store some"] = None
        for column, what in ((6, "damping of joints"), (7, "friction of joints")):
            self._named(what, [link.title for link in moving if link.joint[column]])
        for column, what in ((6, "rolling friction of links"), (7, "spinning friction of links")):
            self._named(what, [link.name for link in self.links if link.pieces and link.dynamics[column]])
        springs = [link.name for link in self.links if link.pieces and max(link.dynamics[8:10]) >= 0.0]
        self._named("stiffness and damping of contacts of links", springs)
        self.unmeasured["damping of motion, by default 0.04 1/s, which pybullet does not give"] = None
        if self.read.margin:
            line = f"the margin of {self.read.margin:g} m around hulls, which rest that far apart"
            self.unmeasured[line] = None

    def _named(self, what: str, names: list[str]) -> None:
        if names:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            self.unmeasured[f"{what}: {', '.join(names[:MOST_NAMES])}{more}"] = None


def _in_frame(piece: dict[str, Any], link: Link, position: Array, axes: Array) -> dict[str, Any]:
    """A piece of a link as one of the body that is at `position` and has these axes, in the world."""
    R = mass.rotation_matrix(link.turn)
    at = link.at + mul(R, np.array(piece["position"]))
    turned = mul(R, mass.rotation_matrix(np.array(piece["orientation"])))
    orientation = frames.quaternion_of(mul(axes.T, turned))
    return {**piece, "position": mul(at - position, axes).tolist(), "orientation": list(orientation)}
