"""Shapes and boundaries of a scene as the solids and meshes that most spatial engines take.

A concave polygon is as many prisms as it has convex parts, a compound as many pieces as it has. An ellipsoid has no
exact solid here: it is the hull of points on its surface, and nothing lies beyond it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.geometry.polygon import convex_pieces
from scenarios.mass import piece_frame
from scenarios.pieces import planar_pieces
from validation.engines.engine import Setting, Settings
from validation.engines.shared.embedding import DEPTH, icosphere, prism, rectangle, turned_about_z, vector_in_space


def facet_settings(ellipsoid: int) -> dict[str, Setting]:
    """How finely what is round is cut, for engines without such shapes; of an ellipsoid the default."""
    corners = "an ellipsoid is the hull of 10 * 4^n + 2 of its points"
    return {
        "bowl_segments": Setting(default=256, low=16, high=65_536, fuzzed="none", doc="facets of a bowl"),
        "sphere_subdivisions": Setting(
            default=5, low=0, high=6, fuzzed="none", doc="a hollow sphere is 20 * 4^n triangles"
        ),
        "ellipsoid_subdivisions": Setting(default=ellipsoid, low=0, high=ellipsoid + 1, fuzzed="none", doc=corners),
    }


UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A convex solid in its body's frame; capsule and cylinder stand along its z axis."""

    kind: str
    size: tuple[float, ...] = ()
    """m; sphere: radius; box: half edges; capsule, cylinder: radius, half the length of its axis; ellipsoid: semi-axes;
    hull: none, and its points are where they are in the body's frame
    """
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m
    angle: float = 0.0  # rad, about z, of a piece of a planar shape
    orientation: tuple[float, float, float, float] = UPRIGHT  # w-x-y-z, of a piece of a spatial one
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (K, 3) m, of a hull

    @property
    def quaternion(self) -> Sequence[float]:
        """w-x-y-z of how it is turned in the body's frame."""
        return turned_about_z(self.angle) if self.angle else self.orientation

    @property
    def is_turned(self) -> bool:
        return self.orientation != UPRIGHT


def spatial_pieces(shape: Any, ellipsoid_subdivisions: int | None) -> Iterator[Piece]:
    """The pieces of a body's shape; for an engine with ellipsoids (None) one is a piece, for others a hull."""
    match shape.kind:
        case "sphere" | "disc":
            yield Piece(kind="sphere", size=(shape.radius,))
        case "box":
            yield Piece(kind="box", size=tuple(edge / 2 for edge in shape.size))
        case "capsule" | "cylinder":
            yield Piece(kind=shape.kind, size=(shape.radius, shape.length / 2))
        case "ellipsoid":
            if ellipsoid_subdivisions is None:
                yield Piece(kind="ellipsoid", size=shape.semi_axes)
            else:
                directions, _ = icosphere(ellipsoid_subdivisions)
                yield Piece(kind="hull", points=directions * np.array(shape.semi_axes))
        case "convex-mesh":
            yield Piece(kind="hull", points=np.array(shape.points, dtype=np.float64))
        case "polygon":
            for part in convex_pieces(shape.vertices):
                if (box := rectangle(part)) is None:
                    yield Piece(kind="hull", points=prism(part))
                else:
                    (x, y), (width, height), angle = box
                    size = (width / 2, height / 2, DEPTH / 2)
                    yield Piece(kind="box", size=size, center=(float(x), float(y), 0.0), angle=angle)
        case "compound" if hasattr(shape.pieces[0], "angle"):
            for flat, (x, y) in planar_pieces(shape):
                for one in spatial_pieces(flat, ellipsoid_subdivisions):
                    yield replace(one, center=(x, y, 0.0)) if one.kind == "sphere" else one
        case "compound":
            for part in shape.pieces:
                yield from _in_body(part, ellipsoid_subdivisions)
        case _:
            raise TypeError(shape)


def _in_body(part: Any, ellipsoid_subdivisions: int | None) -> Iterator[Piece]:
    """The pieces of a compound's piece, in the frame of the body."""
    origin, axes = piece_frame(part)
    for one in spatial_pieces(part.shape, ellipsoid_subdivisions):
        if one.kind == "hull":
            yield replace(one, points=origin + one.points @ axes.T)
        else:
            turned = part.orientation if one.kind != "sphere" else UPRIGHT
            yield replace(one, center=part.position, orientation=turned)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """A boundary: a half-space, or a mesh about its centre whose triangles face inwards."""

    origin: Array  # (3,) m
    normal: Array | None = None  # (3,) unit, of a half-space
    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))  # (K, 3) m
    triangles: Indices = field(default_factory=lambda: np.zeros((0, 3), np.int64))


def wall_of(boundary: Any, settings: Settings) -> Wall:
    """With the settings of `facet_settings`."""
    if boundary.kind in ("half-plane", "half-space"):
        normal = vector_in_space(boundary.normal)
        return Wall(origin=vector_in_space(boundary.point), normal=normal / np.linalg.norm(normal))
    vertices, triangles = _mesh(boundary, int(settings["bowl_segments"]), int(settings["sphere_subdivisions"]))
    return Wall(origin=vector_in_space(boundary.center), vertices=vertices, triangles=triangles)


def _mesh(boundary: Any, bowl_segments: int, sphere_subdivisions: int) -> tuple[Array, Indices]:
    """Vertices (K, 3) in m about the centre of a bowl or hollow sphere, and triangles (T, 3) that face inwards.

    The vertices lie on the wall, so that the free space is that of the scene at them and narrower between.
    """
    if boundary.kind == "hollow-sphere":
        directions, triangles = icosphere(sphere_subdivisions)
        a, b, c = (directions[triangles[:, k]] for k in range(3))
        outward = (np.cross(b - a, c - a) * a).sum(axis=1) > 0.0
        triangles[outward] = triangles[outward][:, ::-1]
        return boundary.radius * directions, triangles
    turn = 2 * math.pi * np.arange(bowl_segments) / bowl_segments
    rim = boundary.radius * np.column_stack([np.cos(turn), np.sin(turn)])
    vertices = np.concatenate([np.column_stack([rim, np.full(bowl_segments, z)]) for z in (-DEPTH, DEPTH)])
    i, n = np.arange(bowl_segments), bowl_segments
    j = (i + 1) % n
    return vertices, np.concatenate([np.column_stack([i, j + n, j]), np.column_stack([i, i + n, j + n])])
