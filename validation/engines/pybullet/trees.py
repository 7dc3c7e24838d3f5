"""A scene's bodies as Bullet's multibodies: trees of links in reduced coordinates. pybullet itself is not imported."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reference_engine.array_types import Array
from scenarios.scene import PlanarScene, Scene, masses
from validation.engines.shared import embedding
from validation.engines.shared.joint_tree import Link, frame_at_zero, start_turn

X_Y_ANGLE = (1, 2, 3)  # the joints of a free planar body
OUT_OF_PLANE = 1e6  # mass of the slide along z, in masses of what it carries
BASE = -1  # pybullet's number of a multibody's base
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
Z = np.array([0.0, 0.0, 1.0])
Kind = Literal["prismatic", "revolute", "spherical", "fixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A link as pybullet wants it: its frame has its origin at its joint; `center` is its centre of mass there."""

    kind: Kind
    axis: Array
    parent: int
    mass: float = 0.0
    body: int | None = None  # of the scene, whose shape it has
    position: Array = field(default_factory=lambda: np.zeros(3))  # of the joint, in the parent's frame
    orientation: Array = field(default_factory=lambda: UPRIGHT)
    center: Array = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A multibody: its base is a free body in space; in the plane, or where the tree hangs on the world, a fixed point.

    A free planar body slides on that along x and y by links without mass or shape, and turns about z. Below them is a
    slide along z, too heavy to be moved: without any freedom along z the friction that a contact has in that direction
    makes the solver's residual 0/0, and its early exit is lost.
    """

    base: int | None  # the scene's body that is the base
    links: tuple[Link, ...]  # as pybullet numbers them
    segments: tuple[Segment, ...]
    segment_of: dict[int, int]  # body -> its segment; BASE where it is the base
    hinges: dict[int, list[int]]  # body -> the hinges whose angles sum to its own, in the plane,
    turn: dict[int, float]  # rad: but for what links that slide are turned

    @property
    def first(self) -> int:
        """The body that it begins with."""
        return self.links[0].body

    @property
    def is_alone(self) -> bool:
        """Whether it is one body that hangs on nothing."""
        return len(self.links) == 1 and self.links[0].joint is None


def trees_of(scene: Scene, links: Sequence[Link]) -> Iterator[int | Tree]:
    """What pybullet is given, in the scene's order, which decides how piles fall: fixed bodies by their number, and
    trees where the first of their bodies stands. `links` are those of `joint_forest`."""
    mass = masses(scene)
    _, orientation, _, _ = embedding.start_in_space(scene)
    trees: dict[int, list[Link]] = {}
    root: dict[int, int] = {}
    for link in links:
        root[link.body] = link.body if link.parent is None else root[link.parent]
        trees.setdefault(root[link.body], []).append(link)
    for i, body in enumerate(scene.bodies):
        if body.fixed:
            yield i
        elif i in trees:
            yield tree_of(scene, depth_first(trees[i]), mass, orientation)


def tree_of(scene: Scene, links: list[Link], mass: Array, orientation: Array) -> Tree:
    """`mass` (B,) kg and `orientation` (B, 4) at the start are of all bodies."""
    planar = isinstance(scene, PlanarScene)
    floats, first = links[0].joint is None, links[0].body
    segments: list[Segment] = []
    segment_of: dict[int, int] = {}
    root = BASE  # the segment that stands for the world
    if planar:
        heavy = OUT_OF_PLANE * float(sum(mass[link.body] for link in links))
        segments.append(Segment(kind="prismatic", axis=Z, parent=BASE, mass=heavy))
        root = 0
    if floats and planar:
        segments += [Segment(kind="prismatic", axis=axis, parent=k) for k, axis in enumerate(np.eye(3)[:2])]
        segments.append(_segment(scene, links[0], 2, np.zeros(3), mass, orientation))
        segment_of[first] = X_Y_ANGLE[-1]
    elif floats:
        segment_of[first] = BASE
    for link in links[1:] if floats else links:
        parent = root if link.parent is None else segment_of[link.parent]
        # A link's frame has its origin at its joint, the base's at its centre of mass.
        origin = np.zeros(3) if parent == BASE else segments[parent].center
        segment_of[link.body] = len(segments)
        at = _given(link.parent_anchor) + origin
        segments.append(_segment(scene, link, parent, at, mass, orientation))
    hinges: dict[int, list[int]] = {}
    turn: dict[int, float] = {}
    for link in links:
        above, turned = ([], 0.0) if link.parent is None else (hinges[link.parent], turn[link.parent])
        hinges[link.body] = above if link.slides else [*above, segment_of[link.body]]
        turn[link.body] = turned + start_turn(scene, link) if link.slides and planar else turned
    return Tree(
        base=first if floats and not planar else None,
        links=tuple(links),
        segments=tuple(segments),
        segment_of=segment_of,
        hinges=hinges,
        turn=turn,
    )


def _segment(scene: Scene, link: Link, parent: int, position: Array, mass: Array, orientation: Array) -> Segment:
    ball = link.axis is None and not isinstance(scene, PlanarScene)
    turns: Kind = "fixed" if link.is_fixed else "spherical" if ball else "revolute"
    return Segment(
        mass=float(mass[link.body]),
        body=link.body,
        kind="prismatic" if link.slides else turns,
        axis=Z if link.axis is None else link.axis,
        parent=parent,
        position=position,
        orientation=frame_at_zero(scene, link, orientation),
        center=np.zeros(3) if link.anchor is None else -link.anchor,
    )


def depth_first(tree: list[Link]) -> list[Link]:
    """The links of a tree as pybullet numbers them, whatever order they are given in."""
    ordered: list[Link] = []

    def visit(parent: int | None) -> None:
        for link in tree:
            if link.parent == parent:
                ordered.append(link)
                visit(link.body)

    visit(None)
    return ordered


def _given(anchor: Array | None) -> Array:
    assert anchor is not None, "a link that hangs on a joint has anchors"
    return anchor


def xyzw(q: Array | Sequence[float]) -> list[float]:
    """pybullet's order."""
    return [float(q[1]), float(q[2]), float(q[3]), float(q[0])]
