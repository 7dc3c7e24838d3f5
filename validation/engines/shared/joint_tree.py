"""Joints as a forest, for engines whose links hang on one another without a gap.

Every body hangs on the world (through a joint or freely) or on another body; a joint that would close a loop is
left over. Fixed bodies are part of the world.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reference_engine.array_types import Array
from scenarios import mass
from scenarios.given_motion import given_bodies
from scenarios.joints import AnyJoint
from scenarios.scene import (
    Ball,
    Fixed,
    Hinge,
    PlanarScene,
    Prismatic,
    Revolute,
    Rod,
    Rope,
    Scene,
    Slider,
    SpatialRod,
    SpatialRope,
)
from validation.engines.shared import embedding
from validation.engines.shared.embedding import rotation_matrix, start_in_space, vector_in_space

TreeJoint = Revolute | Prismatic | Ball | Hinge | Slider | Fixed
RODS, ROPES = (Rod, SpatialRod), (Rope, SpatialRope)
Joint = TreeJoint | Rod | Rope | SpatialRod | SpatialRope

START_TOLERANCE = 1e-9  # of the bodies' size, and of the speeds at the anchors: what links cannot represent


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A free body and what it hangs on."""

    body: int  # index into scene.bodies
    parent: int | None = None  # index of a free body; None: the world
    joint: TreeJoint | None = None  # None: the body floats freely
    anchor: Array | None = None  # (3,) m, in the body's frame
    parent_anchor: Array | None = None  # (3,) m, where that is at the start, in the parent's frame, or in the world
    axis: Array | None = None  # (3,) in the body's frame; None: a ball joint, or a fixed one
    start: Array | None = None  # (4,) unit quaternion of the body against the parent, or the world, at the start
    sign: float = 1.0  # of the joint's coordinate, which is a's against b: -1 where the body is b

    @property
    def slides(self) -> bool:
        """Along the axis, and does not turn; else it turns about it."""
        return isinstance(self.joint, (Prismatic, Slider))

    @property
    def is_fixed(self) -> bool:
        """It neither slides nor turns."""
        return isinstance(self.joint, Fixed)

    def at(self, coordinate: float) -> float:
        """Where the link is, counted from 0 at the start, for a coordinate of its joint."""
        return self.sign * (coordinate - getattr(self.joint, "start", 0.0))


def joint_forest(scene: Scene) -> tuple[tuple[Link, ...], tuple[TreeJoint, ...]]:
    """Links, parents first and otherwise in the scene's order, and the joints that close loops.

    Rods and ropes tie nothing here: a link cannot keep a distance. A joint between immovable things is no joint.
    Where there is a choice, pins and balls are left over: engines can close loops with these.
    """
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    position, orientation, _, _ = start_in_space(scene)
    turned = [rotation_matrix(q) for q in orientation]
    free = [not body.fixed for body in scene.bodies]
    hung: dict[int, Link] = {}

    def end_of(name: str | None) -> int | None:
        i = None if name is None else index[name]
        return None if i is None or not free[i] else i

    left = [joint for joint in scene.joints if isinstance(joint, TreeJoint) and is_effective(scene, joint)]
    left.sort(key=lambda joint: isinstance(joint, (Revolute, Ball)))

    def hang(joint: TreeJoint, child_is_a: bool) -> Link:
        child_name, parent_name = (joint.a, joint.b) if child_is_a else (joint.b, joint.a)
        anchors = [vector_in_space(joint.anchor_a), vector_in_space(joint.anchor_b)]
        own, other = anchors if child_is_a else anchors[::-1]
        assert child_name is not None
        child, parent = index[child_name], end_of(parent_name)
        if parent is None and parent_name is not None:  # a fixed body: its anchor as a point of the world
            i = index[parent_name]
            other = position[i] + turned[i] @ other
        axis = None
        if isinstance(joint, (Hinge, Slider, Prismatic)):
            axis = turned[child].T @ (turned[index[joint.a]] @ vector_in_space(joint.axis))
        elif isinstance(joint, Revolute):
            axis = np.array([0.0, 0.0, 1.0])
        if axis is not None:
            axis = axis / np.linalg.norm(axis)
        if isinstance(joint, (Slider, Prismatic)):  # anywhere on the line
            at = position[child] + turned[child] @ own
            other = at if parent is None else turned[parent].T @ (at - position[parent])
        start = _against_parent(child, parent, orientation)
        return Link(
            body=child,
            parent=parent,
            joint=joint,
            anchor=own,
            parent_anchor=other,
            axis=axis,
            start=start,
            sign=1.0 if child_is_a else -1.0,
        )

    def grow() -> bool:
        """Hang one more body on the world or on a body that hangs already."""
        for joint in left:
            a, b = end_of(joint.a), end_of(joint.b)
            for child, parent in ((a, b), (b, a)):
                if child is not None and child not in hung and (parent is None or parent in hung):
                    hung[child] = hang(joint, child_is_a=child == a)
                    left.remove(joint)
                    return True
        return False

    while grow():
        pass
    for i in range(len(scene.bodies)):
        if free[i] and i not in hung:
            hung[i] = Link(body=i)
            while grow():
                pass
    return tuple(hung.values()), tuple(left)


def frame_at_zero(scene: Scene, link: Link, orientation: Array) -> Array:
    """The unit quaternion of a link's frame against its parent's at coordinate 0, for the bodies' orientations at the
    start, (B, 4): as at the start, but in the plane, where a hinge is at the difference of the bodies' angles.
    """
    if isinstance(scene, PlanarScene) and not link.slides:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return _against_parent(link.body, link.parent, orientation)


def _against_parent(body: int, parent: int | None, orientation: Array) -> Array:
    """The unit quaternion of a body against its parent, or against the world."""
    own = orientation[body]
    return own if parent is None else embedding.quaternion_product(embedding.conjugate(orientation[parent]), own)


def start_turn(scene: Scene, link: Link) -> float:
    """rad, of a planar scene's link against its parent at the start."""
    assert isinstance(scene, PlanarScene)
    return scene.bodies[link.body].angle - (0.0 if link.parent is None else scene.bodies[link.parent].angle)


def _slid(link: Link, position: Array, orientation: Array, velocity: Array, spin: Array) -> tuple[float, float]:
    """(m, m/s) of a link that slides, along its axis and against its parent."""
    assert link.axis is not None and link.anchor is not None and link.parent_anchor is not None
    turned = rotation_matrix(orientation[link.body])
    at = position[link.body] + turned @ link.anchor
    rate = velocity[link.body] + np.cross(spin[link.body], turned @ link.anchor)
    origin = link.parent_anchor
    if (above := link.parent) is not None:
        origin = position[above] + rotation_matrix(orientation[above]) @ link.parent_anchor
        arm = position[link.body] + turned @ link.anchor - position[above]
        rate = rate - velocity[above] - np.cross(spin[above], arm)
    axis = turned @ link.axis
    return float((at - origin) @ axis), float(rate @ axis)


def link_state(scene: Scene, link: Link, *state: Array) -> tuple[Array, Array]:
    """Coordinate and rate of a link that hangs on a joint, of a state of the scene: pose and twist, or position,
    orientation, velocity and spin.

    One number each, m and m/s or rad and rad/s; none of a fixed one; of a ball the quaternion (w, x, y, z) from the
    start and the spin against the parent, rad/s in the link's axes. A planar hinge is at the difference of the bodies'
    angles; all others are at 0 at the start, exactly.
    """
    planar, parent = isinstance(scene, PlanarScene), link.parent
    in_space = embedding.state_in_space(*state) if planar else state
    _, orientation, _, spin = in_space
    if link.is_fixed:
        return np.zeros(0), np.zeros(0)
    if link.slides:
        coordinates, speed = _slid(link, *in_space)
        return np.array([coordinates - _slid(link, *start_in_space(scene))[0]]), np.array([speed])
    rate = rotation_matrix(orientation[link.body]).T @ (spin[link.body] - (0.0 if parent is None else spin[parent]))
    if planar:  # whole turns are lost in space
        return state[0][link.body, 2:] - (0.0 if parent is None else state[0][parent, 2:]), rate[2:]
    assert link.start is not None
    now = _against_parent(link.body, parent, orientation)
    turned = embedding.quaternion_product(embedding.conjugate(link.start), now)
    if link.axis is None:
        return turned / np.linalg.norm(turned), rate
    return np.array([2.0 * math.atan2(turned[1:] @ link.axis, turned[0])]), np.array([rate @ link.axis])


def non_colliding_pairs(scene: Scene) -> list[tuple[int, int]]:
    """Pairs of bodies that pass through each other: joined by a joint without `collide`, or of one group."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    pairs = {(index[j.a], index[j.b]) for j in scene.joints if j.b is not None and not j.collide}
    groups: dict[int, list[int]] = {}
    for i, body in enumerate(scene.bodies):
        if body.group:
            groups.setdefault(body.group, []).append(i)
    pairs |= {pair for members in groups.values() for pair in combinations(members, 2)}
    return sorted({(min(pair), max(pair)) for pair in pairs})


def is_effective(scene: Scene, joint: AnyJoint) -> bool:
    """Whether one end of the joint can move."""
    return any(body.name in (joint.a, joint.b) and not body.fixed for body in scene.bodies)


def loop_fault(engine: str, scene: Scene, among: str = "") -> str | None:
    """Which joint closes a loop that the engine cannot close, in words: all can with a pin or a ball; or None."""
    _, loops = joint_forest(scene)
    if other := next((joint for joint in loops if not isinstance(joint, (Revolute, Ball))), None):
        return f"joint {other.name!r} closes a loop, and {engine} has no {other.kind} that does{among}"
    return None


def given_fault(engine: str, scene: Scene) -> str | None:
    """Which joint ties a body of given motion, in words, for an engine whose joints hang on what stays; or None."""
    given = {scene.bodies[i].name for i in given_bodies(scene)}
    tied = next((joint for joint in scene.joints if given & {joint.a, joint.b}), None)
    return (
        None if tied is None else f"joint {tied.name!r} ties a body of given motion, on which nothing hangs in {engine}"
    )


def start_fault(scene: Scene) -> str | None:
    """How the start breaks a joint that a link can be, in words, for links cannot start apart; or None."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    position, orientation, velocity, spin = start_in_space(scene)
    for joint in scene.joints:
        if not isinstance(joint, TreeJoint) or not is_effective(scene, joint):
            continue
        ends = []
        for name, anchor in ((joint.a, joint.anchor_a), (joint.b, joint.anchor_b)):
            point, move, turn, size = vector_in_space(anchor), np.zeros(3), np.zeros(3), 0.0
            if name is not None:
                i = index[name]
                arm = rotation_matrix(orientation[i]) @ point
                point, move, turn = position[i] + arm, velocity[i] + np.cross(spin[i], arm), spin[i]
                size = mass.bounding_radius(scene.bodies[i].shape)
            ends.append((point, move, turn, size))
        (point_a, move_a, turn_a, size_a), (point_b, move_b, turn_b, size_b) = ends
        size = max(size_a, size_b)
        ahead, parting, across = point_b - point_a, move_b - move_a, np.zeros(3)
        if isinstance(joint, Fixed):
            across = turn_b - turn_a
        if isinstance(joint, (Hinge, Slider, Prismatic)):
            axis = rotation_matrix(orientation[index[joint.a]]) @ vector_in_space(joint.axis)
            axis /= np.linalg.norm(axis)
            across = turn_b - turn_a
            if isinstance(joint, Hinge):
                across = across - axis * (axis @ across)
            else:  # what moves along the line is free; the line itself turns with a
                size += float(np.linalg.norm(ahead))
                parting = parting - np.cross(turn_a, ahead)
                ahead, parting = ahead - axis * (axis @ ahead), parting - axis * (axis @ parting)
        if (apart := float(np.linalg.norm(ahead))) > START_TOLERANCE * size:
            return f"joint {joint.name!r} starts {apart:.3g} m apart; a link cannot"
        speed = max(float(np.linalg.norm(move_a)), size * float(np.linalg.norm(turn_a - turn_b)), 1.0)
        if (pull := float(np.linalg.norm(parting))) > START_TOLERANCE * speed:
            return f"joint {joint.name!r} starts with its anchors parting at {pull:.3g} m/s; a link cannot"
        if size * (twist := float(np.linalg.norm(across))) > START_TOLERANCE * speed:
            how, what = ("across its axis", "hinge") if isinstance(joint, Hinge) else ("against itself", "slider")
            what = "fixed joint" if isinstance(joint, Fixed) else what
            return f"joint {joint.name!r} starts turning at {twist:.3g} rad/s {how}; a {what} cannot"
    return None
