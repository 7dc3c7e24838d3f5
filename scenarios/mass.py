"""Mass properties of the scene's shapes at uniform density: from the scene's words to the geometry's functions."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import eigh, mul, svd
from reference_engine.geometry import mass_properties as geometry
from reference_engine.geometry import polygon

UNIFORM: dict[str, Callable[[Any], Any]] = {
    "disc": lambda shape: geometry.disc_mass(shape.radius),
    "polygon": lambda shape: geometry.polygon_mass(shape.vertices),
    "arc-polygon": lambda shape: geometry.arc_polygon_mass(shape.vertices, shape.bulges),
    "sphere": lambda shape: geometry.sphere_mass(shape.radius),
    "box": lambda shape: geometry.box_mass([edge / 2 for edge in shape.size]),
    "capsule": lambda shape: geometry.capsule_mass(shape.radius, shape.length / 2),
    "cylinder": lambda shape: geometry.cylinder_mass(shape.radius, shape.length / 2),
    "ellipsoid": lambda shape: geometry.ellipsoid_mass(shape.semi_axes),
    "convex-mesh": lambda shape: geometry.convex_mesh_mass(shape.points),
    "compound": lambda shape: _compound_mass(shape),
}
BOUNDING_RADIUS: dict[str, Callable[[Any], float]] = {
    "disc": lambda shape: shape.radius,
    "sphere": lambda shape: shape.radius,
    "box": lambda shape: math.hypot(*shape.size) / 2,
    "capsule": lambda shape: shape.length / 2 + shape.radius,
    "cylinder": lambda shape: math.hypot(shape.length / 2, shape.radius),
    "ellipsoid": lambda shape: max(shape.semi_axes),
    "polygon": lambda shape: max(math.hypot(*v) for v in shape.vertices),
    "convex-mesh": lambda shape: max(math.hypot(*p) for p in shape.points),
    "compound": lambda shape: max(map(_furthest_of_piece, shape.pieces)),
    "arc-polygon": lambda shape: max(map(_furthest_of_edge, shape.vertices, _following(shape.vertices), shape.bulges)),
}


def planar_mass(shape: Any) -> geometry.PlanarMass:
    """Area, centroid and second moments of a planar shape, body frame."""
    found: geometry.PlanarMass = UNIFORM[shape.kind](shape)
    return found


def spatial_mass(shape: Any) -> geometry.SpatialMass:
    """Volume, centroid and second moments of a spatial shape, body frame."""
    found: geometry.SpatialMass = UNIFORM[shape.kind](shape)
    return found


def bounding_radius(shape: Any) -> float:
    """Largest distance of a point of the shape from the origin of the body frame, m; of a compound a bound on it."""
    return BOUNDING_RADIUS[shape.kind](shape)


def width(shape: Any) -> float:
    """m: the least width of a shape, that of the rectangle with the same smallest second moment, w^2 / 12."""
    return float(np.sqrt(12.0 * eigh(UNIFORM[shape.kind](shape).second_moments)[0][0]))


def measure(shape: Any) -> float:
    """m^2 or m^3: area or volume."""
    found = UNIFORM[shape.kind](shape)
    return float(found.area if isinstance(found, geometry.PlanarMass) else found.volume)


# --- compounds ----------------------------------------------------------------------------------------


def density_mass(shape: Any) -> float | None:
    """kg: of a compound by its densities; None where not every piece has one, and of other shapes."""
    pieces = shape.pieces if shape.kind == "compound" else ()
    if not pieces or any(piece.density is None for piece in pieces):
        return None
    return sum(piece.density * measure(piece.shape) for piece in pieces)


def piece_frame(piece: Any) -> tuple[Array, Array]:
    """(D,) m, where a piece has its origin, and (D, D), its axes in the columns: in the frame of the body."""
    if hasattr(piece, "angle"):
        s, c = elementary.sine_cosine(piece.angle)
        return np.array(piece.position), np.array(((c, -s), (s, c)))
    return np.array(piece.position), rotation_matrix(piece.orientation)


def rotation_matrix(q: Any) -> Array:
    """(3, 3) of a unit quaternion w-x-y-z, body to world."""
    w, x, y, z = q
    return np.array(
        (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
            (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
            (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
        )
    )


def _compound_mass(shape: Any) -> geometry.PlanarMass | geometry.SpatialMass:
    """The sum over its pieces, by their densities; centre and second moments by the parallel-axis theorem."""
    found = [UNIFORM[piece.shape.kind](piece.shape) for piece in shape.pieces]
    sizes = [one.area if isinstance(one, geometry.PlanarMass) else one.volume for one in found]
    weight = np.array([(piece.density or 1.0) * size for piece, size in zip(shape.pieces, sizes)])
    weight = weight / weight.sum()
    frames = [piece_frame(piece) for piece in shape.pieces]
    centres = np.array([x + mul(R, one.centroid) for (x, R), one in zip(frames, found)])
    centroid = mul(weight, centres)
    moments: Array = np.zeros((len(centroid), len(centroid)))
    for w, (_, R), one, centre in zip(weight.tolist(), frames, found, centres):
        arm = centre - centroid
        moments = moments + w * (mul(mul(R, one.second_moments), R.T) + np.outer(arm, arm))
    kind = geometry.PlanarMass if len(centroid) == 2 else geometry.SpatialMass
    field = "area" if len(centroid) == 2 else "volume"
    return kind(**{field: float(sum(sizes))}, centroid=centroid, second_moments=moments)


def _furthest_of_piece(piece: Any) -> float:
    """m, from the origin of the body: of the piece's furthest point; of an ellipsoid no less
    than that."""
    shape, (x, R) = piece.shape, piece_frame(piece)
    match shape.kind:
        case "polygon":
            corners = np.array(shape.vertices)
        case "convex-mesh":
            corners = np.array(shape.points)
        case "box":
            corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * np.array(shape.size)
        case "capsule" | "cylinder":
            half, axis = 0.5 * shape.length, R[:, 2]
            ends = [x + half * axis, x - half * axis]
            if shape.kind == "capsule":
                return max(math.hypot(*end) for end in ends) + float(shape.radius)
            along = [float(mul(end, axis)) for end in ends]
            return max(math.hypot(a, math.hypot(*(end - a * axis)) + shape.radius) for end, a in zip(ends, along))
        case _:
            return math.hypot(*x) + bounding_radius(shape)
    return max(math.hypot(*point) for point in (x + mul(corners, R.T)).tolist())


def _following(vertices: Any) -> Any:
    return vertices[1:] + vertices[:1]


def _furthest_of_edge(v: Any, w: Any, bulge: float) -> float:
    """m, from the origin: an end, or the point of an outward arc that is furthest beyond its centre.

    No inner point of an inward arc is the furthest of the shape: the tangent there runs in the shape.
    """
    ends = max(math.hypot(*v), math.hypot(*w))
    if bulge <= 0.0:
        return ends
    chord = w[0] - v[0], w[1] - v[1]
    back = (1.0 - bulge * bulge) / (4.0 * bulge)  # of the chord, from its middle inward to the centre
    centre = 0.5 * (v[0] + w[0]) - back * chord[1], 0.5 * (v[1] + w[1]) + back * chord[0]
    away, radius = math.hypot(*centre), math.hypot(*chord) * (1.0 + bulge * bulge) / (4.0 * bulge)
    if away == 0.0:
        return max(ends, radius)
    top = [c * (1.0 + radius / away) for c in centre]
    outside = chord[0] * (top[1] - v[1]) - chord[1] * (top[0] - v[0]) < 0.0
    return max(ends, away + radius) if outside else ends


def polygon_fault(vertices: Any) -> str | None:
    """What makes these vertices no counter-clockwise simple polygon, in words; None where nothing does."""
    if faults := polygon.polygon_faults(vertices):
        return faults[0].text
    if polygon.exact_area_sign(vertices) < 0:
        return "polygon is clockwise"
    return None


def arc_polygon_fault(vertices: Any, bulges: Any) -> str | None:
    """Likewise for arcs; arcs that cross other edges are found by sampling each arc at 16 points."""
    if fault := polygon_fault(arc_outline(vertices, bulges)):
        return f"with its arcs sampled, {fault}"
    return None


def arc_outline(vertices: Any, bulges: Any, points_per_arc: int = 16) -> Array:
    """(n, 2): the outline with each arc as a polyline."""
    v = np.asarray(vertices, dtype=np.float64)
    outline: list[Array] = []
    for a, b, bulge in zip(v, np.roll(v, -1, axis=0), bulges):
        outline.append(a)
        if bulge != 0.0:
            outline.extend(_arc_points(a, b, float(bulge), points_per_arc))
    return np.array(outline)


def _arc_points(a: Array, b: Array, bulge: float, count: int) -> list[Array]:
    """Inner points of the arc from a to b, included angle 4 atan(bulge), bulging to the right of a-b if positive."""
    alpha = 2.0 * elementary.atan(bulge)
    chord = b - a
    outward = np.array([chord[1], -chord[0]]) / elementary.hypot(*chord)
    radius = float(elementary.hypot(*chord)) / (2.0 * elementary.sin(alpha))
    center = (a + b) / 2 - outward * radius * elementary.cos(alpha)
    first = a - center
    points = []
    for i in range(1, count):
        turn = 2.0 * alpha * i / count
        c, s = elementary.cos(turn), elementary.sin(turn)
        points.append(center + np.array([c * first[0] - s * first[1], s * first[0] + c * first[1]]))
    return points


def mesh_fault(points: Any) -> str | None:
    """What keeps these points from spanning a body."""
    p = np.asarray(points, dtype=np.float64)
    singular = svd(p - p.mean(axis=0))[1]
    if singular[0] == 0.0 or singular[2] < 1e-9 * singular[0]:
        return "the points lie in a plane; give points that span a body"
    return None
