"""The members of a scene, bodies then boundaries, as the pieces that our own geometry has.

A compound is several pieces, each at its pose in the body; any other member is one, at the member's own pose, bit for
bit. What is found of pieces is a member's again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Flags, Indices
from reference_engine.dense import mul
from reference_engine.geometry import planar_shapes as planar
from reference_engine.geometry import spatial_shapes as spatial
from scenarios import mass
from scenarios.geometry import solid
from scenarios.shapes import Disc, Polygon

if TYPE_CHECKING:
    from reference_engine.geometry.proximities import Proximities


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """P pieces of M members, in the order of the members; D = 2 or 3."""

    shapes: Any  # PlanarShapes or SpatialShapes of the P pieces
    owner: Indices  # (P,) the member of each, ascending
    placed: Indices  # (Q,) pieces of compounds, which have a pose in their body
    position: Array  # (Q, D) m, of those, in the frame of the body
    orientation: Array  # (Q,) rad in the plane, or (Q, 4) unit quaternions
    ignore: Indices  # (K, 2) pairs of pieces that cannot touch, beside static ones

    @classmethod
    def of(
        cls,
        members: Sequence[Any],
        static: Sequence[bool],
        pairs: Sequence[tuple[int, int]],
        *,
        planar_ones: bool,
        meets: Flags | None = None,
    ) -> Pieces:
        """`pairs`: of members that may touch, a < b. `meets`: (P, P), which of their pieces may, where not all."""
        rows = [(i, *piece) for i, member in enumerate(members) for piece in _pieces(member)]
        owner = np.array([i for i, _, _ in rows], np.int64)
        placed = [k for k, (_, _, pose) in enumerate(rows) if pose is not None]
        wanted = np.zeros((len(members), len(members)), bool)
        wanted[tuple(np.array(pairs, np.int64).reshape(-1, 2).T)] = True
        of_pieces = wanted if not placed else wanted[owner[:, None], owner]
        if meets is not None:
            of_pieces = of_pieces & meets
        shapes: list[Any] = [shape for _, shape, _ in rows]
        fixed = [bool(static[i]) for i in owner.tolist()]
        poses: list[Any] = [rows[k][2] for k in placed]
        return cls(
            shapes=planar.planar_shapes(shapes, fixed) if planar_ones else spatial.spatial_shapes(shapes, fixed),
            owner=owner,
            placed=np.array(placed, np.int64),
            position=np.array([position for position, _ in poses], np.float64).reshape(-1, 2 if planar_ones else 3),
            orientation=np.array([turn for _, turn in poses], np.float64),
            ignore=np.argwhere(~of_pieces & np.triu(np.ones_like(of_pieces), 1)),
        )

    def planar_poses(self, pose: Array) -> Array:
        """(S, P, 3) of pieces, from (S, M, 3) of members."""
        if not len(self.placed):
            return pose
        found = pose[:, self.owner]
        at = found[:, self.placed]
        s, c = elementary.sine_cosine(at[..., 2])
        x, y = self.position.T
        found[:, self.placed] = np.stack(
            [at[..., 0] + c * x - s * y, at[..., 1] + s * x + c * y, at[..., 2] + self.orientation], axis=-1
        )
        return found

    def spatial_poses(self, position: Array, orientation: Array) -> tuple[Array, Array]:
        """(S, P, 3) and (S, P, 4) of pieces, from (S, M, 3) and (S, M, 4) of members, body to world."""
        if not len(self.placed):
            return position, orientation
        from reference_engine.rotation import product  # who reads scenes needs no compiler

        x, q = position[:, self.owner], orientation[:, self.owner]
        turn = q[:, self.placed]
        w, u = turn[..., :1], turn[..., 1:]
        across = np.cross(u, np.broadcast_to(self.position, u.shape))
        x[:, self.placed] += 2.0 * (w * across + np.cross(u, across))
        x[:, self.placed] += self.position
        q[:, self.placed] = product(turn, np.broadcast_to(self.orientation, turn.shape))
        return x, q

    def as_members(self, found: Proximities) -> Proximities:
        """What is near, of members instead of pieces: by sample, then a, then b; rows of one pair are its pieces'."""
        if not len(self.placed):
            return found
        a, b = self.owner[found.a], self.owner[found.b]
        order = np.lexsort((b, a, found.sample))
        columns = {field.name: getattr(found, field.name)[order] for field in fields(found)}
        return type(found)(**(columns | {"a": a[order], "b": b[order]}))


def _pieces(member: Any) -> Iterator[tuple[Any, tuple[Any, Any] | None]]:
    """Each with its pose in the body, of a compound. A hull's origin becomes its centroid: the search for a depth needs
    a point inside, and the bounding sphere is the smaller."""
    shape = getattr(member, "shape", member)
    if shape.kind != "compound":
        yield solid(member), None
        return
    for piece in shape.pieces:
        x, turn = piece.position, piece.angle if hasattr(piece, "angle") else piece.orientation
        if piece.shape.kind != "convex-mesh":
            yield solid(piece), (x, turn)
            continue
        centroid = mass.spatial_mass(piece.shape).centroid
        there = np.array(x) + mul(mass.rotation_matrix(turn), centroid)
        yield spatial.ConvexMesh(np.array(piece.shape.points) - centroid), (there, turn)


def planar_pieces(shape: Any) -> Iterator[tuple[Disc | Polygon, tuple[float, float]]]:
    """Of a planar shape its pieces in the frame of the body: discs with where their centres are, polygons whose
    vertices are there already. An arc polygon has none."""
    if shape.kind != "compound":
        yield shape, (0.0, 0.0)
        return
    for piece in shape.pieces:
        if isinstance(piece.shape, Disc):
            yield piece.shape, piece.position
            continue
        origin, axes = mass.piece_frame(piece)
        corners = (origin + mul(np.array(piece.shape.vertices), axes.T)).tolist()
        yield Polygon(vertices=tuple(map(tuple, corners))), (0.0, 0.0)
