"""What a world of an engine in space has, described as a scene; and the world itself, stepped and read as it is.

An engine gathers its bodies in their own frames: a `Member` each. The scene's have their centre of mass at the origin
and principal axes, so a body's own frame and the scene's differ by `Frames`, the same at all times.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul
from scenarios import frames, mass
from scenarios.native import Model
from scenarios.scene import SpatialScene, parse_scene
from validation.engines.engine import DeclinedError, ModelError, NotFiniteError
from validation.engines.shared import recorder
from validation.engines.shared.description import (
    MOST_FRICTION,
    UNNAMED,
    BodyFrame,
    GatheredWorld,
    Names,
    inertia_box,
    otherwise,
    principal,
    shape_of,
    with_overlaps,
)
from validation.engines.shared.probes import set_up
from validation.engines.shared.quaternions import continued, product, rotated

WIDTH = 13  # numbers of a body: position, quaternion, velocity, spin
ALL_BITS = 2**31 - 1
STATE = ("position", "orientation", "velocity", "spin")
BACK = np.array([1.0, -1.0, -1.0, -1.0])  # times a unit quaternion: the other way round
Piece = dict[str, Any]
Frame = tuple[Array, Array]
"""Position, m, and axes as columns."""
BodyState = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]
"""Position, quaternion w-x-y-z, velocity of the centre of mass and spin, world axes."""
MemberState = tuple[Array, Array, Array, Array]
"""Likewise."""
SetBody = Callable[[int, Array, Array, Array, Array], None]
"""Of the member of a number."""


def frame_of(position: Iterable[float], quaternion: Sequence[float]) -> Frame:
    """`quaternion`: w-x-y-z, to the engine's precision."""
    q = np.array(quaternion, np.float64)
    return np.array([*position], np.float64), mass.rotation_matrix((q / np.linalg.norm(q)).tolist())


def placed(outer: Frame, inner: Frame) -> Frame:
    """A frame that is given in another, in the world."""
    return outer[0] + mul(outer[1], inner[0]), mul(outer[1], inner[1])


@dataclass(slots=True, kw_only=True)
class Member:
    """A body of the world in its own frame; m, kg, m/s, rad/s."""

    title: str
    frame: Frame  # in the world, at the start
    fixed: bool = False
    mass: float = 0.0
    centre: Array = field(default_factory=lambda: np.zeros(3))
    tensor: Array = field(default_factory=lambda: np.zeros((3, 3)))  # about the centre of mass
    velocity: Array = field(default_factory=lambda: np.zeros(3))  # of the centre of mass
    spin: Array = field(default_factory=lambda: np.zeros(3))
    friction: float = 0.0
    restitution: float = 0.0
    pieces: list[tuple[dict[str, Any], Frame]] = field(default_factory=list)  # shape, and where it is in the body
    filters: list[tuple[int, int, int]] = field(default_factory=list)  # of each, as `Native.filters`


@dataclass(slots=True, kw_only=True)
class Tie:
    """A joint; points and axis in the world, each as its own body has it at the start."""

    kind: str
    title: str
    a: int  # a member
    b: int | None
    on_a: Array
    on_b: Array
    axis: Array | None = None


@dataclass(frozen=True, slots=True)
class Frames:
    """The scene's frame of each body in the engine's, of those that move: they come first."""

    centre: Array  # (F, 3) m
    axes: Array  # (F, 4) unit quaternions


@dataclass(slots=True)
class Gathered(GatheredWorld[Member]):
    """Of one world. Members that move come first."""

    function: str
    planes: list[dict[str, Any]] = field(default_factory=list)  # boundaries
    plane_filters: list[tuple[int, int, int]] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)
    apart: set[tuple[int, int]] = field(default_factory=set)  # owners of filters
    both: bool = False

    def check(self, member: Member) -> None:
        """Raises ModelError for numbers that no body has."""
        numbers = np.concatenate([member.frame[0], member.velocity, member.spin, [member.mass], member.tensor.ravel()])
        if not np.isfinite(numbers).all():
            raise ModelError(f"{self.function}: numbers of {member.title!r} are not finite; mend the function")
        if not member.fixed and (member.mass <= 0.0 or not (np.diag(member.tensor) > 0.0).all()):
            raise ModelError(f"{self.function}: {member.title!r} moves and has no mass or inertia; give it both")

    def add(
        self, member: int, shape: dict[str, Any], frame: Frame, law: tuple[float, float], bits: tuple[int, int, int]
    ) -> None:
        """`frame`: in that of the member. `law`: friction and restitution."""
        one = self.members[member]
        one.pieces.append((shape, frame))
        one.filters.append(bits)
        one.friction = max(one.friction, min(law[0], MOST_FRICTION))
        one.restitution = max(one.restitution, min(law[1], 1.0))

    def add_plane(self, title: str, point: Array, normal: Array, law: tuple[float, float], bits: Any) -> None:
        self.planes.append(
            {
                "kind": "half-space",
                "name": title,
                "point": point.tolist(),
                "normal": (normal / np.linalg.norm(normal)).tolist(),
                "friction": min(law[0], MOST_FRICTION),
                "restitution": min(law[1], 1.0),
            }
        )
        self.plane_filters.append(bits)

    def scene(
        self, given: Model, duration: float, title: str, step: float, gravity: Sequence[float], rules: dict[str, str]
    ) -> tuple[SpatialScene, Frames]:
        """Raises ModelError, SceneError. `rules`: by which friction and restitution of two combine."""
        if all(one.fixed for one in self.members):
            raise ModelError(f"{given.function}: no body of it can move; a world needs a dynamic body with mass")
        if not self.conserves:
            self.unmeasured["energy: some of these forces, or connections, add or store it"] = None
        names = Names()
        made = [self._body(one, names.name(UNNAMED.sub("_", one.title) or "body")) for one in self.members]
        bodies = [body for body, _, _ in made]
        scene = parse_scene(
            {
                "dimension": 3,
                "title": title,
                "duration": duration,
                "gravity": [float(c) for c in gravity],
                "bodies": bodies,
                "boundaries": [{**one, "name": names.name(one["name"])} for one in self.planes],
                "joints": [_joint(tie, names.name(tie.title), bodies) for tie in self.ties],
                "contact": rules,
                "native": {
                    "model": given.without_data().model_dump(),
                    "step": step,
                    "filters": [
                        *([list(bits) for bits in one.filters] or [[0, 0, -1]] for one in self.members),
                        *([list(bits)] for bits in self.plane_filters),
                    ],
                    "both": self.both,
                    "apart": sorted(self.apart),
                    "acted_on": [bodies[k]["name"] for k in sorted(self.acted_on)],
                    "conserves": self.conserves,
                    "free": [bodies[k]["name"] for k in self.free()],
                    "sweeps": not self.tied,
                    "unmeasured": [text[:500] for text in self.unmeasured],
                },
            },
            where=given.function or given.file,
        )
        assert isinstance(scene, SpatialScene)
        moving = [k for k, one in enumerate(self.members) if not one.fixed]
        centre = np.array([self.members[k].centre for k in moving])
        return scene, Frames(centre, np.array([made[k][2] for k in moving]))

    def _body(self, one: Member, name: str) -> tuple[dict[str, Any], Array, Array]:
        """As a scene has it; its principal axes, and as a quaternion, in the engine's frame of it."""
        moments, axes = (np.zeros(3), np.eye(3)) if one.fixed else principal(one.tensor)
        turn = np.array(frames.quaternion_of(axes))
        centre = np.zeros(3) if one.fixed else one.centre
        position, turned = placed(one.frame, (centre, axes))
        pieces = [
            {
                "shape": shape,
                "position": mul(at - centre, axes).tolist(),
                "orientation": list(frames.quaternion_of(mul(axes.T, R))),
            }
            for shape, (at, R) in one.pieces
        ]
        if not pieces:
            shape = {"kind": "sphere", "radius": 1e-3} if one.fixed else inertia_box(one.mass, moments)
        else:
            shape = shape_of(pieces)
        body: dict[str, Any] = {
            "name": name,
            "shape": shape,
            "friction": one.friction,
            "restitution": one.restitution,
            "position": position.tolist(),
            "orientation": list(frames.quaternion_of(turned)),
        }
        if one.fixed:
            return {**body, "fixed": True}, axes, turn
        body |= {"mass": one.mass, "inertia": moments.tolist()}
        return {**body, "velocity": one.velocity.tolist(), "spin": one.spin.tolist()}, axes, turn


def _joint(tie: Tie, name: str, bodies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    own = BodyFrame(bodies[tie.a])
    found: dict[str, Any] = {
        "kind": tie.kind,
        "name": name,
        "a": bodies[tie.a]["name"],
        "b": None if tie.b is None else bodies[tie.b]["name"],
        "anchor_a": own.point(tie.on_a),
        "anchor_b": tie.on_b.tolist() if tie.b is None else BodyFrame(bodies[tie.b]).point(tie.on_b),
    }
    return found if tie.axis is None else {**found, "axis": own.vector(tie.axis)}


def set_up_in(scene: SpatialScene, its: Frames, set_body: SetBody) -> SpatialScene:
    """The scene as its model's probe begins, and the engine's bodies with it; `set_body` is of a member's own frame."""

    def begin(k: int, body: Any) -> None:
        state = (np.array(getattr(body, name), np.float64) for name in STATE)
        set_body(k, *own_state(its, k, *state))

    return set_up(scene, begin)


def own_state(its: Frames, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> MemberState:
    """Of a body of the scene that moves, in the engine's frame of it; the velocity stays that of the centre of mass."""
    own = product(orientation[None], its.axes[k : k + 1] * BACK)
    return position - rotated(own, its.centre[k : k + 1])[0], own[0], velocity, spin


class FunctionWorld(recorder.World):
    """A world that a function has built. Raises ModelError where it builds another than the one that was described."""

    def __init__(self, scene: SpatialScene, dt: float, found: SpatialScene, its: Frames) -> None:
        assert scene.native is not None
        self.scene, self.dt, self._its = scene, dt, its
        if fault := otherwise(scene, found) or _starts_otherwise(scene, found):
            name = scene.native.model.function
            raise ModelError(f"{name} builds another world each time: {fault}; seed its random numbers")
        self._free = slice(0, len(its.centre))
        self._start = [np.array([getattr(body, name) for body in found.bodies], np.float64) for name in STATE]
        self._last = self._start[1][self._free]
        self._can_be_set = not scene.joints

    # --- what an engine says ---

    def advance(self) -> None:
        """One step."""
        raise NotImplementedError

    def body_states(self) -> Iterator[BodyState]:
        """Of those that move, in the order of the members."""
        raise NotImplementedError

    def set_body_state(self, k: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        """Of the member k, in its own frame."""
        raise NotImplementedError

    def push(self, k: int, force: Array, point: Array | None) -> None:
        """N, in the next step, at a point of the world, m, or at the centre of mass."""
        raise NotImplementedError

    # --- the protocol ---

    def step(self, *, watched: bool) -> None:
        self.advance()

    def read(self) -> bytes:
        numbers = array("d")
        for position, quaternion, velocity, spin in self.body_states():
            numbers.extend((*position, *quaternion, *velocity, *spin))
        return numbers.tobytes()

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        rows = np.frombuffer(raw, np.float64).reshape(steps, len(self._its.centre), WIDTH)
        if not np.isfinite(rows).all():
            raise NotFiniteError("the state of the world is not finite")
        at, q, velocity, spin = np.split(rows, [3, 7, 10], axis=2)
        q = q / np.linalg.norm(q, axis=2, keepdims=True)
        position = at + rotated(q, np.broadcast_to(self._its.centre, at.shape))
        axes = np.broadcast_to(self._its.axes, q.shape)
        orientation = continued(self._last, product(q.reshape(-1, 4), axes.reshape(-1, 4)).reshape(q.shape))
        self._last = orientation[-1]
        state = [np.repeat(part[None], steps, axis=0) for part in self._start]
        for part, now in zip(state, (position, orientation, velocity, spin)):
            part[:, self._free] = now
        return state

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        if not self._can_be_set:
            raise DeclinedError("the state of a world with joints is not worked out of poses")
        position, orientation, velocity, spin = (np.asarray(part, np.float64) for part in state)
        for k in range(len(self._its.centre)):
            self.set_body_state(k, *own_state(self._its, k, position[k], orientation[k], velocity[k], spin[k]))
        self._last = orientation[self._free]

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        if body < len(self._its.centre):
            self.push(body, np.array(force, np.float64), None if point is None else np.array(point, np.float64))


def _starts_otherwise(given: SpatialScene, found: SpatialScene) -> str:
    assert given.native is not None
    if given.native.model.perturbation is not None:
        return ""
    for one, other in zip(given.bodies, found.bodies):
        if any(getattr(one, name) != getattr(other, name) for name in STATE):
            return f"where {one.name!r} starts"
    return ""


def shifts(given: Model, count: int, tied: Iterable[tuple[int, int]], still: Iterable[int]) -> Array:
    """(count, 3) m, of each member that moves for the start of an ensemble; tied ones are shifted together, and none
    that hangs on something that does not move."""
    found = np.zeros((count, 3))
    if given.perturbation is None:
        return found
    root = list(range(count))
    for a, b in tied:
        root = [root[a] if one == root[b] else one for one in root]
    random = np.random.default_rng([given.perturbation.seed, given.perturbation.number])
    drawn = given.perturbation.size * random.uniform(-1.0, 1.0, (count, 3))
    immovable = {root[k] for k in still}
    for k, one in enumerate(root):
        if one not in immovable:
            found[k] = drawn[one]
    return found


def deep(scene: SpatialScene, rows: Iterable[tuple[int, int, float]]) -> SpatialScene:
    """The scene, which says how deep its members start in one another. `rows`: pairs of members and gaps, m."""
    found: dict[tuple[int, int], float] = {}
    for a, b, gap in rows:
        if gap < 0.0 and a != b and math.isfinite(gap):
            pair = (min(a, b), max(a, b))
            found[pair] = max(-gap, found.get(pair, 0.0))
    return with_overlaps(scene, found)


def pairs_among(owners: Iterable[int]) -> Iterator[tuple[int, int]]:
    yield from itertools.combinations(sorted(set(owners)), 2)
