"""Robots of many limbs that fall over one another: each is a tree of joints, and its limbs strike one another, other
robots, the ground and what lies on it.

The contacts tie branches of a tree, and trees, that nothing else ties: long chains of unknowns depend on one another,
so the matrices of a solver have many patterns. Shrinking goes towards one robot of two limbs, at rest, of 1 kg each.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import cross, mul, norm
from reference_engine.rotation import matrices
from scenarios.catalogue.shared.bodies import Body, rectangle
from scenarios.joints import Ball, Hinge, Revolute
from scenarios.scene import Box, Capsule, Disc, PlanarBody, Scene, SpatialBody, Sphere
from scenarios.strategies.allowed import Allowed, body_at, plane, scene_of
from scenarios.strategies.spatial import ORIENTATIONS
from scenarios.strategies.values import GRID, MASSES

Draw = Callable[[st.SearchStrategy[Any]], Any]
PINS = ("revolute", "hinge", "ball")
MOST = 24  # limbs of a scene, in all
LENGTHS = (0.5, 0.25)  # m, of a link
THIN = 8  # length of a link by its thickness
LIMBS = (2, 4, 3, 6, 5, 8)  # of a robot
APART = (0, 1, 16)  # in 1/1024 m, of parallel limbs
BENDS = (0.0, 0.4, 1.2)  # rad, of a link against the one before
CLEAR = (1, 0, 64)  # in 1/1024 m, of a robot above what is below
SHIFTS = (0.0, 0.125, -0.25)  # m, to a side
TURNING = (0.0, 2.0)  # rad/s
FALL = (0.0, -2.0)  # m/s
DURATIONS = (0.5, 0.25)  # s
BLOCK = 0.5  # m, of what lies on the ground
ANGLES = (0.0, math.pi / 2.0, math.pi, 0.1, -0.7)  # rad, of a robot in the plane
AXES = (
    (0.0, 1.0, 0.0),
    (1.0, 0.0, 0.0),
    (1.0, 2.0, 0.0),
    (0.0, 1.0, 1.0),
)  # of hinges, in the frame of what bears them
DOWN = (0.0, 0.0, -1.0)
SIDES = np.array((DOWN, (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)), np.float64)
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / math.sqrt(3.0)


class Limb(NamedTuple):
    """In the frame of the torso."""

    root: Array  # (3,) m
    along: Array  # (3,) unit vector
    bend: Array  # (3,) unit vector across it, towards which each further link is bent


class Kind(NamedTuple):
    """Of the robots of one scene."""

    pin: str
    axis: tuple[float, float, float]
    links: int  # of a limb
    length: float  # m, of a link
    bend: float  # rad
    torso: float  # kg
    limb: float  # kg, of a link

    @property
    def radius(self) -> float:
        return self.length / THIN / 2.0


@st.composite
def robots(draw: Draw, allowed: Allowed) -> Scene:
    """One to three robots over one another; limbs in all directions or side by side, which strike one another or pass
    through their own robot; on the ground, or on a block that lies there."""
    kind = draw(_kinds(allowed))
    limbs = draw(
        st.sampled_from([n for n in LIMBS if n * kind.links <= MOST and (n <= 6 or allowed.space == "spatial")])
    )
    count = draw(st.integers(1, min(3, MOST // (limbs * kind.links))))
    surface, collide = draw(allowed.surfaces), draw(st.sampled_from((True, True, True, False)))
    bodies: list[Body] = []
    joints: list[Any] = []
    top = 0.0
    if draw(st.booleans()):
        bodies, top = [_block(allowed, surface)], BLOCK
    for i in range(count):
        torso, layout = _round(allowed, kind, limbs) if draw(st.booleans()) else _comb(draw, allowed, kind, limbs)
        turn, shift = draw(_turns(allowed)), draw(st.sampled_from(SHIFTS))
        clear, fall, spin = draw(st.sampled_from(CLEAR)) / GRID, draw(st.sampled_from(FALL)), draw(_spins(allowed))
        made = _robot(allowed, kind, f"robot {i + 1}", torso, layout, turn)
        at = np.array((shift, 0.0, top + clear - made.low))
        more = surface | {"group": 0 if collide else i + 1}
        bodies += [member.at(allowed, at, np.array((0.0, 0.0, fall)), spin, more) for member in made.members]
        joints += made.joints
        top += clear + made.high - made.low
    ground = plane(allowed.space, "ground", surface)
    return scene_of(allowed.space, bodies, [ground], draw(st.sampled_from(DURATIONS)), joints=tuple(joints))


def _kinds(allowed: Allowed) -> st.SearchStrategy[Kind]:
    return st.builds(
        Kind,
        pin=st.sampled_from([pin for pin in PINS if pin in allowed.joints]),
        axis=st.sampled_from(AXES),
        links=st.integers(1, 2),
        length=st.sampled_from(LENGTHS),
        bend=st.sampled_from(BENDS),
        torso=st.sampled_from(MASSES),
        limb=st.sampled_from(MASSES),
    )


def _turns(allowed: Allowed) -> st.SearchStrategy[Any]:
    """Of a robot: an angle in the plane, a quaternion in space."""
    return st.sampled_from(ANGLES if allowed.space == "planar" else ORIENTATIONS)


def _spins(allowed: Allowed) -> st.SearchStrategy[Array]:
    """(3,) rad/s; in the plane about y only, from up towards x."""
    speeds = st.sampled_from(TURNING)
    level = st.just(0.0) if allowed.space == "planar" else speeds
    return st.tuples(level, speeds, level).map(np.array)


def _block(allowed: Allowed, surface: dict[str, Any]) -> Body:
    shape = rectangle(2.0 * BLOCK, BLOCK) if allowed.space == "planar" else Box(size=(2.0 * BLOCK, BLOCK, BLOCK))
    return body_at("block", shape, 0.0, BLOCK / 2.0, **surface)


# --- where limbs are --------------------------------------------------------------------------------------------------


def _round(allowed: Allowed, kind: Kind, limbs: int) -> tuple[Any, list[Limb]]:
    """In all directions, from a ball."""
    if allowed.space == "planar":
        turns = [2.0 * math.pi * k / limbs for k in range(limbs)]
        ways = np.array([(float(elementary.sin(a)), 0.0, -float(elementary.cos(a))) for a in turns])
    else:
        ways = (SIDES if limbs <= len(SIDES) else CORNERS)[:limbs]
    radius = kind.length / 2.0
    torso: Any = Disc(radius=radius) if allowed.space == "planar" else Sphere(radius=radius)
    return torso, [Limb(radius * way, way, _across(way)) for way in ways]


def _across(along: Array) -> Array:
    """In the plane in it."""
    y = np.array((0.0, 1.0, 0.0))
    found = cross(y, along) if abs(along[1]) < 0.9 else np.array((1.0, 0.0, 0.0))
    return found / norm(found)


def _comb(draw: Draw, allowed: Allowed, kind: Kind, limbs: int) -> tuple[Any, list[Limb]]:
    """Side by side, in contact or nearly so, from a bar: like the fingers of a hand. They are listed in any order,
    which is that of the unknowns of a solver."""
    narrower = float(elementary.cos((kind.links - 1) * kind.bend)) if allowed.space == "planar" else 1.0
    pitch = 2.0 * kind.radius / narrower + draw(st.sampled_from(APART)) / GRID  # of those that are bent, too
    size = (limbs * pitch, 4.0 * kind.radius)
    torso: Any = rectangle(*size) if allowed.space == "planar" else Box(size=(size[0], size[1], size[1]))
    bend = np.array((1.0 if allowed.space == "planar" else 0.0, 0.0 if allowed.space == "planar" else 1.0, 0.0))
    order = draw(st.permutations(range(limbs)))
    roots = [np.array((pitch * (k - (limbs - 1) / 2.0), 0.0, -size[1] / 2.0)) for k in order]
    return torso, [Limb(root, np.array(DOWN), bend) for root in roots]


# --- of what a robot is made -----------------------------------------------------------------------------------------


class Member(NamedTuple):
    """A body of a robot whose torso is at the origin, turned as in the scene."""

    name: str
    shape: Any
    mass: float
    position: Array  # (3,) m; in the plane y is 0
    turn: Any  # rad in the plane, a quaternion in space

    def at(self, allowed: Allowed, origin: Array, velocity: Array, spin: Array, more: dict[str, Any]) -> Body:
        """As a body of a robot that turns as one about its torso, at the origin."""
        x, y, z = (float(p) for p in origin + self.position)
        vx, vy, vz = (float(v) + 0.0 for v in velocity + cross(spin, self.position))
        fields = {"name": self.name, "shape": self.shape, "mass": self.mass, **more}
        if allowed.space == "planar":
            return PlanarBody(position=(x, z), velocity=(vx, vz), angle=self.turn, spin=0.0 - float(spin[1]), **fields)
        return SpatialBody(
            position=(x, y, z), velocity=(vx, vy, vz), orientation=self.turn, spin=tuple(spin.tolist()), **fields
        )


class Robot(NamedTuple):
    members: list[Member]
    joints: list[Any]
    low: float  # m, of its lowest and highest point above the origin
    high: float


def _robot(allowed: Allowed, kind: Kind, name: str, torso: Any, limbs: list[Limb], turn: Any) -> Robot:
    R = _matrix(turn)
    members = [Member(name, torso, kind.torso, np.zeros(3), turn)]
    joints = []
    heights = [_half_height(torso, R), -_half_height(torso, R)]
    for k, limb in enumerate(limbs):
        start, bearer, anchor = limb.root, name, limb.root
        for i in range(kind.links):
            own, angle = f"limb {k + 1}.{i + 1} of {name}", i * kind.bend
            along = mul(R, float(elementary.cos(angle)) * limb.along + float(elementary.sin(angle)) * limb.bend)
            first = mul(R, start) if i == 0 else start
            end = first + kind.length * along
            shape = _link(allowed, kind)
            member = Member(own, shape, kind.limb, (first + end) / 2.0, _turned(allowed, along))
            members.append(member)
            joints.append(_pin(kind, bearer, own, anchor, np.array((0.0, 0.0, kind.length / 2.0))))
            half = _half_height(shape, _matrix(member.turn))
            heights += [member.position[2] + half, member.position[2] - half]
            start, bearer, anchor = end, own, np.array((0.0, 0.0, -kind.length / 2.0))
    return Robot(members, joints, float(min(heights)), float(max(heights)))


def _link(allowed: Allowed, kind: Kind) -> Any:
    if allowed.space == "planar":
        return rectangle(2.0 * kind.radius, kind.length)
    return Capsule(radius=kind.radius, length=kind.length - 2.0 * kind.radius)


def _pin(kind: Kind, a: str, b: str, on_a: Array, on_b: Array) -> Any:
    (x, y, z), (_, _, up) = (tuple(map(float, anchor)) for anchor in (on_a, on_b))
    if kind.pin == "revolute":
        return Revolute(name=f"pin of {b}", a=a, b=b, anchor_a=(x, z), anchor_b=(0.0, up))
    ends: dict[str, Any] = {"a": a, "b": b, "anchor_a": (x, y, z), "anchor_b": (0.0, 0.0, up)}
    return (
        Hinge(name=f"pin of {b}", axis=kind.axis, **ends) if kind.pin == "hinge" else Ball(name=f"pin of {b}", **ends)
    )


def _turned(allowed: Allowed, along: Array) -> Any:
    """That carries a link, which points down, to where it points."""
    x, y, z = (float(member) for member in along)
    if allowed.space == "planar":
        return float(elementary.atan2(x, -z))
    q = np.array((1.0 - z, y, -x, 0.0))  # the shortest turn
    size = float(norm(q))
    return tuple((q / size).tolist()) if size > 1e-6 else (0.0, 1.0, 0.0, 0.0)


def _matrix(turn: Any) -> Array:
    if isinstance(turn, tuple):
        return matrices(np.array(turn))
    c, s = float(elementary.cos(turn)), float(elementary.sin(turn))
    return np.array(((c, 0.0, -s), (0.0, 1.0, 0.0), (s, 0.0, c)))


def _half_height(shape: Any, R: Array) -> float:
    """m, of what is turned by R."""
    up = np.abs(R[2])
    match shape:
        case Disc(radius=radius) | Sphere(radius=radius):
            return float(radius)
        case Capsule(radius=radius, length=length):
            return float(radius + up[2] * length / 2.0)
        case Box(size=size):
            return float(mul(up, np.array(size)) / 2.0)
    (width, height) = np.abs(np.array(shape.vertices)).max(axis=0)
    return float(up[0] * width + up[2] * height)


def arrangements(allowed: Allowed) -> dict[str, st.SearchStrategy[Scene]]:
    """By name, those for which all that they need is allowed."""
    link = "polygon" if allowed.space == "planar" else "capsule"
    needed = {link, allowed.round, allowed.block}
    grounded = {"half-plane", "half-space"} & allowed.boundaries
    return {"robots": robots(allowed)} if needed <= allowed.shapes and grounded and allowed.joints & {*PINS} else {}
