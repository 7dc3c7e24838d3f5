"""A smooth curve in the plane of straight lines and arcs, by its length: where it is, how steep, what is nearest to it.

On a piece of curvature k that begins at x_0 with the heading h_0, at the length u along it,

    x = x_0 + (sin(h_0 + k u) - sin h_0, cos h_0 - cos(h_0 + k u)) / k,   heading h_0 + k u

and on a straight one x = x_0 + u (cos h_0, sin h_0). Ahead of its start and beyond its end it goes on straight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.elementary import hypot

Point = tuple[float, float]
SMOOTH = 1e-6  # rad, by which pieces that follow one another may differ in direction


class Piece(NamedTuple):
    first: float  # m, length of the curve at its start; -inf before the first
    length: float  # m; inf after the last
    start: Array  # (2,) m; of the piece before the first its end
    heading: float  # rad, there
    curvature: float  # 1/m, positive to the left

    def at(self, u: Array) -> tuple[Array, Array]:
        """(S, 2) m and (S,) rad: points and headings so far along it, m."""
        ahead = self.heading + self.curvature * u
        c, s = elementary.cos(self.heading), elementary.sin(self.heading)
        if self.curvature == 0.0:
            return self.start + np.multiply.outer(u, np.array([c, s])), ahead
        across = np.stack([elementary.sin(ahead) - s, c - elementary.cos(ahead)], axis=-1)
        return self.start + across / self.curvature, ahead

    def nearest(self, points: Array) -> Array:
        """(S,) m along it, at its ends where what is nearest is beyond them."""
        c, s = elementary.cos(self.heading), elementary.sin(self.heading)
        apart = points - self.start
        along, left = apart[:, 0] * c + apart[:, 1] * s, apart[:, 1] * c - apart[:, 0] * s
        if self.curvature == 0.0:
            low = -np.inf if self.first == -np.inf else 0.0
            return np.clip(along, low, self.length)
        # Seen from its centre, from where it starts; what is behind its start is nearer to it than to its end.
        k = self.curvature
        u = elementary.atan2(k * along, 1.0 - k * left) / k
        whole = 2.0 * np.pi / abs(self.curvature)
        u = np.where(u < -0.5 * (whole - self.length), u + whole, u)
        return np.clip(u, 0.0, self.length)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    pieces: tuple[Piece, ...]  # the straight ones before and after included
    length: float  # m, without these

    @classmethod
    def of(cls, points: Sequence[Point], bulges: Sequence[float]) -> Self:
        """Through these points, bulge = tan(angle / 4) of each piece positive to the right, as `ArcPolygon` has it."""
        made: list[Piece] = []
        far = 0.0
        for (x, y), (x_end, y_end), bulge in zip(points, points[1:], bulges):
            chord, half = elementary.hypot(x_end - x, y_end - y), 2.0 * elementary.atan(bulge)
            heading = elementary.atan2(y_end - y, x_end - x) - half
            curvature = 2.0 * elementary.sin(half) / chord
            length = 2.0 * half / curvature if bulge else chord
            made.append(Piece(far, float(length), np.array([x, y]), float(heading), float(curvature)))
            far += float(length)
        last = made[-1]
        end, heading = last.at(np.array([last.length]))
        before = made[0]._replace(first=-np.inf, length=0.0, curvature=0.0)
        return cls((before, *made, Piece(far, np.inf, end[0], float(heading[0]), 0.0)), far)

    @property
    def kinks(self) -> Array:
        """(P - 1,) rad, between each piece and the next, in [-pi, pi]."""
        own = self.pieces[1:-1]
        turns = np.array([b.heading - a.heading - a.curvature * a.length for a, b in pairwise(own)])
        return np.asarray(turns - 2.0 * np.pi * np.round(turns / (2.0 * np.pi)))

    def at(self, far: Array) -> tuple[Array, Array]:
        """(S, 2) m and (S,) rad: points and headings at these lengths (S,), m."""
        point, heading = np.empty((len(far), 2)), np.empty(len(far))
        which = np.searchsorted([piece.first for piece in self.pieces[1:]], far, side="right")
        for k, piece in enumerate(self.pieces):
            own = which == k
            point[own], heading[own] = piece.at(far[own] - (0.0 if piece.first == -np.inf else piece.first))
        return point, heading

    def nearest(self, points: Array) -> tuple[Array, Array]:
        """(S,) m each: length at what is nearest to points (S, 2), and how far that is from them."""
        best, distance = np.zeros(len(points)), np.full(len(points), np.inf)
        for piece in self.pieces:
            u = piece.nearest(points)
            off = points - piece.at(u)[0]
            apart = hypot(off[:, 0], off[:, 1])
            nearer = apart < distance
            distance[nearer] = apart[nearer]
            best[nearer] = u[nearer] + (0.0 if piece.first == -np.inf else piece.first)
        return best, distance
