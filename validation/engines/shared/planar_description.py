"""What a planar engine's world has, described as a scene: shapes of lines and rounded corners in pieces, members, ties.

A stadium is a rectangle and two discs, a rounded polygon a polygon, a rectangle for each edge and a disc for each
corner: together they are exactly what the engine has. A line without thickness is a rectangle of 2e-5 of its length.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scenarios import mass
from scenarios.fields import MIN_SIZE
from scenarios.native import Model
from scenarios.scene import PlanarScene, Scene, parse_scene
from validation.engines.engine import ModelError
from validation.engines.shared.description import MOST_FRICTION, SAME_POINT, UNNAMED, GatheredWorld, Names, otherwise

THIN = 1e-5  # of its length: half the thickness of a line
INFINITE = 1e12  # kg m^2, of a body that does not turn
Point = tuple[float, float]
Piece = dict[str, Any]
Bits = tuple[int, int]  # of its kind, and of the kinds that it collides with


def disc(center: Point, radius: float) -> Piece:
    return {"shape": {"kind": "disc", "radius": radius}, "position": list(center)}


def polygon(vertices: Sequence[Point]) -> Piece:
    return {"shape": {"kind": "polygon", "vertices": [list(v) for v in vertices]}}


def line(a: Point, b: Point, radius: float) -> list[Piece]:
    """A segment with this radius."""
    length = math.dist(a, b)
    half = radius if radius > 0.0 else max(THIN * length, MIN_SIZE)
    ends = [disc(a, radius), disc(b, radius)] if radius > 0.0 else []
    if length <= MIN_SIZE:
        return ends[:1]
    nx, ny = half * (a[1] - b[1]) / length, half * (b[0] - a[0]) / length
    corners = (a[0] - nx, a[1] - ny), (b[0] - nx, b[1] - ny), (b[0] + nx, b[1] + ny), (a[0] + nx, a[1] + ny)
    return [polygon(corners), *ends]


def rounded(vertices: Sequence[Point], radius: float) -> list[Piece]:
    """A convex polygon with what is within `radius` of it."""
    if radius <= 0.0:
        return [polygon(vertices)]
    edges = zip(vertices, [*vertices[1:], vertices[0]])
    sides = itertools.chain.from_iterable(line(a, b, radius)[:2] for a, b in edges)
    return [polygon(vertices), *sides]


@dataclass(slots=True, kw_only=True)
class Member:
    """A body of the scene, its origin at its centre of mass."""

    title: str
    position: Point
    angle: float
    fixed: bool = False
    is_line: bool = False
    mass: float = 0.0
    moment: float = 0.0
    velocity: Point = (0.0, 0.0)
    spin: float = 0.0
    friction: float = 0.0
    restitution: float = 0.0
    pieces: list[Piece] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)  # of each piece, the number of its shape in the world
    bits: list[Bits] = field(default_factory=list)  # likewise


@dataclass(slots=True)
class Gathered(GatheredWorld[Member]):
    """Of one world."""

    joints: list[dict[str, Any]] = field(default_factory=list)  # "a", "b": numbers of members, or None
    apart: set[tuple[int, int]] = field(default_factory=set)  # shapes
    paired: list[tuple[int, int]] = field(default_factory=list)  # shapes

    def add_shape(
        self, member: Member, shape: int, pieces: Sequence[Piece], bits: Bits, friction: float, restitution: float
    ) -> None:
        """Raises ModelError for numbers that are none."""
        if fault := next((one for piece in pieces if (one := _fault(piece))), None):
            self.leave_out(f"shape {shape} of {member.title}: {fault}")
            return
        member.pieces += pieces
        member.owners += [shape] * len(pieces)
        member.bits += [bits] * len(pieces)
        member.friction = max(member.friction, min(friction, MOST_FRICTION))
        member.restitution = max(member.restitution, min(restitution, 1.0))

    def scene(
        self, given: Model, duration: float, title: str, step: float, gravity: Point, rules: Piece
    ) -> PlanarScene:
        """Raises ModelError, SceneError. `rules`: by which friction and restitution of two combine."""
        if all(one.fixed for one in self.members):
            raise ModelError(f"{given.function}: no body of it can move; a world needs a dynamic body with mass")
        if not self.conserves:
            self.unmeasured["energy: some of these forces, or connections, add or store it"] = None
        names = Names()
        titles = [names.name(UNNAMED.sub("_", one.title) or "body") for one in self.members]
        pieces = [shape for one in self.members for shape in one.owners or [-1]]
        at = {
            shape: [k for k, one in enumerate(pieces) if one == shape] for shape in {s for p in self.paired for s in p}
        }
        paired = [pair for a, b in self.paired for pair in itertools.product(at[a], at[b])]
        scene = parse_scene(
            {
                "dimension": 2,
                "title": title,
                "duration": duration,
                "gravity": list(gravity),
                "bodies": [_body(one, name) for one, name in zip(self.members, titles)],
                "joints": [
                    {**one, "name": names.name(one["name"]), "a": titles[one["a"]],
                     "b": None if one["b"] is None else titles[one["b"]]}
                    for one in self.joints
                ],
                "contact": rules,
                "native": {
                    "model": given.without_data().model_dump(),
                    "step": step,
                    "filters": [
                        [[*bits, owner] for bits, owner in zip(one.bits, one.owners)] or [[0, 0, -1]]
                        for one in self.members
                    ],
                    "both": True,
                    "apart": sorted(self.apart),
                    "paired": paired,
                    "acted_on": [titles[k] for k in sorted(self.acted_on)],
                    "conserves": self.conserves,
                    "free": [titles[k] for k in self.free()],
                    "lines": [name for one, name in zip(self.members, titles) if one.is_line],
                    "unmeasured": [text[:500] for text in self.unmeasured],
                },
            },
            where=given.function or given.file,
        )  # fmt: skip
        assert isinstance(scene, PlanarScene)
        return scene


def _body(one: Member, name: str) -> dict[str, Any]:
    moment = min(one.moment, INFINITE)
    radius = max(math.sqrt(2.0 * moment / one.mass), MIN_SIZE) if one.mass and moment < INFINITE else 1.0
    alone = len(one.pieces) == 1 and one.pieces[0]["shape"]["kind"] == "disc"
    if not one.pieces:  # the disc of its inertia, for its size alone
        shape: dict[str, Any] = {"kind": "disc", "radius": radius}
    elif alone and math.hypot(*one.pieces[0]["position"]) <= SAME_POINT:
        shape = one.pieces[0]["shape"]
    else:
        shape = {"kind": "compound", "pieces": one.pieces}
    body = {
        "name": name,
        "shape": shape,
        "friction": one.friction,
        "restitution": one.restitution,
        "position": list(one.position),
        "angle": one.angle,
    }
    if one.fixed:
        return {**body, "fixed": True}
    return {**body, "mass": one.mass, "inertia": moment, "velocity": list(one.velocity), "spin": one.spin}


def _fault(piece: Piece) -> str | None:
    if piece["shape"]["kind"] == "disc":
        return None if piece["shape"]["radius"] >= MIN_SIZE else f"a disc of radius {piece['shape']['radius']:g}"
    vertices = np.array(piece["shape"]["vertices"])
    if not np.isfinite(vertices).all():
        raise ModelError("a shape has corners that are not finite; mend the function")
    return mass.polygon_fault(piece["shape"]["vertices"])


def as_described(given: Scene, found: PlanarScene, engine: str) -> None:
    """Raises ModelError where a function builds another world than the one that was described."""
    assert isinstance(given, PlanarScene) and given.native is not None
    fault = otherwise(given, found)
    if not fault and given.native.model.perturbation is None:
        for one, other in zip(given.bodies, found.bodies):
            if any(getattr(one, name) != getattr(other, name) for name in ("position", "angle", "velocity", "spin")):
                fault = f"where {one.name!r} starts"
    if fault:
        name = given.native.model.function
        raise ModelError(f"{name} builds another world for {engine} each time: {fault}; seed its random numbers")


def shifts(given: Model, count: int, tied: Iterable[tuple[int, int]], still: Iterable[int]) -> list[Point]:
    """m: of each of `count` dynamic bodies for the start of an ensemble; tied ones are shifted together, and none that
    hangs on something that does not move."""
    if given.perturbation is None:
        return [(0.0, 0.0)] * count
    root = list(range(count))
    for a, b in tied:
        root = [root[a] if one == root[b] else one for one in root]
    random = np.random.default_rng([given.perturbation.seed, given.perturbation.number])
    drawn = given.perturbation.size * random.uniform(-1.0, 1.0, (count, 2))
    immovable = {root[k] for k in still}
    return [(0.0, 0.0) if one in immovable else (float(drawn[one, 0]), float(drawn[one, 1])) for one in root]
