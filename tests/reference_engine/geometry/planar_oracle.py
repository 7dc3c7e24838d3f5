"""The independent oracle of planar gaps: shapely for what is apart, a hull of differences for what is not."""

import numpy as np
import shapely
from scipy.spatial import ConvexHull, QhullError

from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane, Polygon


def turned(points, pose):
    x, y, angle = pose
    z = (np.asarray(points, float) @ (1.0, 1.0j)) * np.exp(1j * angle) + complex(x, y)
    return np.column_stack([z.real, z.imag])


def direction(vector, angle):
    z = complex(*vector) * np.exp(1j * angle)
    return np.array([z.real, z.imag]) / abs(z)


def depth_of_differences(p, q):
    """Least translation that parts two convex point sets: the hull of all p_i - q_j, by qhull."""
    hull = ConvexHull((p[:, None, :] - q[None, :, :]).reshape(-1, p.shape[1]))
    return -hull.equations[:, -1].max()


def witness_gap(p, pose_p, q, pose_q):
    """Signed distance, in whatever order; None where the nearest points does not know (overlapping concave)."""
    if isinstance(p, HalfPlane | Bowl) or (isinstance(p, Disc) and isinstance(q, Polygon)):
        return witness_gap(q, pose_q, p, pose_p)
    points = turned(p.vertices, pose_p) if isinstance(p, Polygon) else np.array([pose_p[:2]], float)
    margin = p.radius if isinstance(p, Disc) else 0.0
    if isinstance(q, HalfPlane):
        on_line = turned([q.point], pose_q)[0]
        return min((points - on_line) @ direction(q.normal, pose_q[2])) - margin
    if isinstance(q, Bowl):
        return q.radius - max(np.linalg.norm(points - pose_q[:2], axis=1)) - margin
    if isinstance(q, Disc):
        centre = shapely.Point(pose_q[:2])
        shape = shapely.Polygon(points) if isinstance(p, Polygon) else shapely.Point(points[0])
        if isinstance(p, Polygon) and shape.contains(centre):
            return -shape.exterior.distance(centre) - margin - q.radius
        return shape.distance(centre) - margin - q.radius
    others = turned(q.vertices, pose_q)
    one, other = shapely.Polygon(points), shapely.Polygon(others)
    distance = one.distance(other)
    if distance > 0.0:
        return distance
    convex = all(abs(s.convex_hull.area - s.area) < 1e-9 * s.area for s in (one, other))
    try:
        return -depth_of_differences(points, others) if convex else None
    except QhullError:
        return None
