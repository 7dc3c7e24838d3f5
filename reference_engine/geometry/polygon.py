"""What a list of vertices is: its faults, its orientation, its convex pieces.  Every sign is exact."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array
from reference_engine.dense import mul

Point = Sequence[float]

# Shewchuk 1997 (Discrete Comput. Geom. 18), sec. 4.1, error bound A of the planar orientation test.
ORIENTATION_ERROR = (3.0 + 16.0 * 2.0**-53) * 2.0**-53


def orientation(a: Point, b: Point, c: Point) -> int:
    """+1 if a, b, c turn left, -1 if they turn right, 0 if they lie on one line; exact."""
    left = (a[0] - c[0]) * (b[1] - c[1])
    right = (a[1] - c[1]) * (b[0] - c[0])
    determinant, bound = left - right, ORIENTATION_ERROR * (abs(left) + abs(right))
    if abs(determinant) > bound:
        return 1 if determinant > 0.0 else -1
    (ax, ay), (bx, by), (cx, cy) = (tuple(map(Fraction, map(float, p))) for p in (a, b, c))
    exact = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)
    return (exact > 0) - (exact < 0)


def within_box(p: Point, a: Point, b: Point) -> bool:
    """For p on the line through a and b: is it on the closed segment?"""
    return min(a[0], b[0]) <= p[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= p[1] <= max(a[1], b[1])


def segments_meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Do the closed segments ab and cd share a point?  Exact, collinear overlap included."""
    turn_c, turn_d = orientation(a, b, c), orientation(a, b, d)
    turn_a, turn_b = orientation(c, d, a), orientation(c, d, b)
    if turn_c * turn_d < 0 and turn_a * turn_b < 0:
        return True
    return (
        (turn_c == 0 and within_box(c, a, b))
        or (turn_d == 0 and within_box(d, a, b))
        or (turn_a == 0 and within_box(a, c, d))
        or (turn_b == 0 and within_box(b, c, d))
    )


class PolygonFault(NamedTuple):
    kind: str  # shape, not_finite, too_few, repeated, self_intersecting, zero_area
    vertex: int | None  # index of the vertex to look at
    text: str  # "polygon ..." as it can stand behind the path of a field


def polygon_faults(vertices: ArrayLike) -> tuple[PolygonFault, ...]:
    """Why the vertices bound no simple polygon; empty if they do.  Either orientation is accepted."""
    v = np.asarray(vertices, dtype=np.float64)
    if v.ndim != 2 or v.shape[1] != 2:
        return (PolygonFault("shape", None, f"polygon needs an (n, 2) list of vertices, not shape {v.shape}"),)
    if not np.isfinite(v).all():
        at = int(np.flatnonzero(~np.isfinite(v).all(axis=1))[0])
        return (PolygonFault("not_finite", at, f"polygon has a coordinate that is not finite at vertex {at}"),)
    if len(v) < 3:
        return (PolygonFault("too_few", None, f"polygon needs at least 3 vertices, not {len(v)}"),)
    faults = repeated_vertices(v)
    if not faults:
        faults = self_intersections(v)
    if not faults and exact_area_sign(v) == 0:
        faults = [PolygonFault("zero_area", None, "polygon has zero area")]
    return tuple(faults)


def repeated_vertices(v: Array) -> list[PolygonFault]:
    seen: dict[tuple[float, float], int] = {}
    faults = []
    for i, (x, y) in enumerate(v.tolist()):
        first = seen.setdefault((x, y), i)
        if first != i:
            faults.append(PolygonFault("repeated", i, f"polygon repeats vertex {first} at vertex {i}"))
    return faults


def self_intersections(v: Array) -> list[PolygonFault]:
    """Every edge that meets an earlier one anywhere but in the vertex they share."""
    n = len(v)
    points, following = v.tolist(), np.roll(v, -1, axis=0)
    low, high = np.minimum(v, following), np.maximum(v, following)
    faults = {}
    for k in range(n):
        before, here, after = points[k - 1], points[k], points[(k + 1) % n]
        if orientation(before, here, after) == 0 and mul(v[k - 1] - v[k], following[k] - v[k]) > 0.0:
            faults[k] = f"polygon turns back on itself at vertex {k}"
    for i in range(n):
        boxes_meet = (low[i + 1 :] <= high[i]).all(axis=1) & (high[i + 1 :] >= low[i]).all(axis=1)
        for j in (np.flatnonzero(boxes_meet) + i + 1).tolist():
            neighbours = j == i + 1 or (i == 0 and j == n - 1)
            if not neighbours and segments_meet(points[i], points[(i + 1) % n], points[j], points[(j + 1) % n]):
                faults.setdefault(
                    j,
                    f"polygon is self-intersecting at vertex {j}: edge {j}-{(j + 1) % n} meets edge {i}-{(i + 1) % n}",
                )
    return [PolygonFault("self_intersecting", k, faults[k]) for k in sorted(faults)]


def exact_area_sign(vertices: ArrayLike) -> int:
    """+1 counter-clockwise, -1 clockwise, 0 no area; exact."""
    points = np.asarray(vertices, dtype=np.float64).tolist()
    ox, oy = points[0]
    d = [(x - ox, y - oy) for x, y in points[1:]]  # triangles about the first vertex
    twice_area = size = 0.0
    for (ax, ay), (bx, by) in pairwise(d):
        plus, minus = ax * by, ay * bx
        twice_area += plus - minus
        size += abs(plus) + abs(minus)
    if abs(twice_area) > 1e-15 * (len(points) + 4) * size:
        return 1 if twice_area > 0.0 else -1
    x, y = ([Fraction(c) for c in column] for column in zip(*points))
    exact = sum(x[i - 1] * y[i] - x[i] * y[i - 1] for i in range(len(points)))
    return (exact > 0) - (exact < 0)


def counter_clockwise(vertices: ArrayLike) -> Array:
    """The same polygon, listed counter-clockwise, from the same first vertex."""
    v = np.ascontiguousarray(vertices, dtype=np.float64)
    return v if exact_area_sign(v) >= 0 else np.ascontiguousarray(np.roll(v[::-1], 1, axis=0))


def is_convex(vertices: ArrayLike) -> bool:
    """Of a simple polygon in either orientation; vertices on a straight side are allowed."""
    return turns_left(counter_clockwise(vertices).tolist())


def turns_left(points: list[list[float]]) -> bool:
    """Or goes straight on, at every point; exact."""
    return all(orientation(points[k - 2], points[k - 1], points[k]) >= 0 for k in range(len(points)))


def convex_pieces(vertices: ArrayLike) -> list[Array]:
    """A simple polygon as convex polygons, counter-clockwise, that share only edges and use no new vertex.

    Ears are cut off (Meisters 1975, Amer. Math. Monthly 82), then diagonals that no convex angle
    needs are taken out again (Hertel & Mehlhorn 1983): at most four times the fewest possible parts.
    """
    v = np.ascontiguousarray(vertices, dtype=np.float64)
    if turns_left(v.tolist()):  # which makes it counter-clockwise
        return [v]
    v = counter_clockwise(v)
    points = v.tolist()
    if turns_left(points):
        return [v]
    pieces, diagonals = ears(points)
    for a, b in diagonals:
        left = next(k for k, piece in enumerate(pieces) if follows(piece, a, b))
        right = next(k for k, piece in enumerate(pieces) if follows(piece, b, a))
        joined = merged(pieces[left], pieces[right], a, b)
        if all(orientation(*(points[joined[k - i]] for i in (2, 1, 0))) >= 0 for k in range(len(joined))):
            pieces = [piece for k, piece in enumerate(pieces) if k not in (left, right)] + [joined]
    return [np.ascontiguousarray(v[piece]) for piece in pieces]


def ears(points: list[list[float]]) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Triangles (indices, counter-clockwise) and the diagonals between them."""
    remaining = list(range(len(points)))
    triangles, diagonals = [], []
    while len(remaining) > 3:
        for k in range(len(remaining)):
            a, b, c = remaining[k - 1], remaining[k], remaining[(k + 1) % len(remaining)]
            if is_ear(points, remaining, a, b, c):
                triangles.append([a, b, c])
                diagonals.append((c, a))
                del remaining[k]
                break
        else:
            raise ValueError("polygon has no ear: it is not simple; polygon_faults names the vertex")
    return [*triangles, remaining], diagonals


def is_ear(points: list[list[float]], remaining: list[int], a: int, b: int, c: int) -> bool:
    """The corner b turns left, and no other vertex lies in the closed triangle a, b, c."""
    if orientation(points[a], points[b], points[c]) <= 0:
        return False
    sides = ((points[a], points[b]), (points[b], points[c]), (points[c], points[a]))
    return not any(all(orientation(p, q, points[k]) >= 0 for p, q in sides) for k in remaining if k not in (a, b, c))


def follows(piece: list[int], a: int, b: int) -> bool:
    return any(piece[k - 1] == a and piece[k] == b for k in range(len(piece)))


def merged(left: list[int], right: list[int], a: int, b: int) -> list[int]:
    """Two loops with the edge a-b of the left, b-a of the right, as one loop without it."""
    i, j = left.index(b), right.index(a)
    around_left = left[i:] + left[:i]  # b ... a
    around_right = right[j:] + right[:j]  # a ... b
    return around_left[:-1] + around_right[:-1]
