"""Which bodies went through which: by a deep overlap, between two samples, or out by the far side."""

from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Indices
from reference_engine.dense import mul
from scenarios import mass
from validation.metrics.axes import to_body_axes
from validation.metrics.flight import velocity_at_pose
from validation.metrics.observation import Array, Flags, Observation, bounding_radius, free, length, shared
from validation.metrics.proximity import pairs, proximities
from validation.metrics.statics import width
from validation.records.trajectory import PlanarTrajectory

THROUGH = 0.5  # of the width of the thinner
OUT = 0.1  # of that: what rests overlaps a little
BACK = 0.5  # cosine of 60 degrees: bodies part where they met within that, on the far side beyond 180 - 60
STRAIGHT = 0.87  # cosine of 30 degrees: within that of their way, bodies flew it straight
MOST_POINTS = 10_000  # on a way through a body
MOST_WAYS = 20_000  # of one body through another: in larger heaps nobody looks for a body between two samples


def passages(o: Observation) -> dict[tuple[int, int], int]:
    """Pairs of which one went through the other -> the sample at which that is seen first, in order of these."""
    found, at_first = dict(overlaps(o)[0]), overlaps(o)[1]
    for pair, sample in crossings(o).items():
        if pair not in at_first:
            found[pair] = min(sample, found.get(pair, sample))
    if getattr(o.scene, "native", None) is not None:
        found = {pair: sample for pair, sample in found.items() if pair not in start_in_one_another(o)}
    return dict(sorted(found.items(), key=lambda one: one[1]))


def across(o: Observation) -> Array:
    """`width`, m; of a line of a model that of what meets it: only whose centre of mass crosses it has gone through."""
    native = getattr(o.scene, "native", None)
    lines = native.lines if native is not None else ()
    return np.where([member.name in lines for member in (*o.scene.bodies, *o.scene.boundaries)], np.inf, width(o))


def start_in_one_another(o: Observation) -> set[tuple[int, int]]:
    """Pairs of a model that has them overlap: links of robots do so where they meet; the engine has no part in it."""
    near = proximities(o)
    rows = (near.sample == 0) & (near.gap < -OUT * THROUGH * np.minimum(across(o)[near.a], across(o)[near.b]))
    return set(zip(near.a[rows].tolist(), near.b[rows].tolist()))


@shared
def overlaps(o: Observation) -> tuple[dict[tuple[int, int], int], set[tuple[int, int]]]:
    """Pairs that come to overlap by THROUGH and do not part where they met -> the first such sample; and the pairs that
    the scene starts so.

    Of the latter the sample is the one at which they part on the far side: against the shortest way out at the start.
    """
    near = proximities(o)
    deepest = o.scenario.laws.get("penetration_max", 0.0) if o.scene.contact.compliant else 0.0
    limit = np.maximum(THROUGH * np.minimum(across(o)[near.a], across(o)[near.b]), deepest)
    deep, out = near.gap < -limit, near.gap >= -OUT * limit
    found: dict[tuple[int, int], int] = {}
    ways: dict[tuple[int, int], Array] = {}  # from a to b as they met, seen from what turns less
    entered: dict[tuple[int, int], int] = {}  # pairs that are deep in one another, since which sample
    still = np.concatenate([np.where(free(o), bounding_radius(o), np.inf), np.full(len(o.scene.boundaries), np.inf)])
    code = near.a * (1 + len(width(o))) + near.b
    rows = np.flatnonzero(np.isin(code, code[deep]))
    rows = rows[np.argsort(near.sample[rows], kind="stable")]
    for row in (_deepest(o, rows) if has_compounds(o) else rows).tolist():
        pair, sample = (int(near.a[row]), int(near.b[row])), int(near.sample[row])
        if pair in found:
            continue
        way = seen_from(o, pair[int(np.argmax(still[list(pair)]))], sample, near.normal[row])
        if deep[row]:
            entered.setdefault(pair, sample)
            ways.setdefault(pair, way)
        elif pair not in entered:
            ways[pair] = way
        elif out[row]:
            cosine, since = float((ways.pop(pair) * way).sum()), entered.pop(pair)
            if cosine < (BACK if since else -BACK):
                found[pair] = since or sample
    found |= {pair: since for pair, since in entered.items() if since}
    at_first = near.sample[deep] == 0
    return found, set(zip(near.a[deep][at_first].tolist(), near.b[deep][at_first].tolist()))


def has_compounds(o: Observation) -> bool:
    return any(body.shape.kind == "compound" for body in o.scene.bodies)


def _deepest(o: Observation, rows: Indices) -> Indices:
    """Of rows of `proximities` the deepest of each pair at each sample: the pieces of one pair have normals of their
    own, and not all of them overlap."""
    near = proximities(o)
    rows = rows[np.lexsort((near.gap[rows], near.b[rows], near.a[rows], near.sample[rows]))]
    key = np.stack([near.sample[rows], near.a[rows], near.b[rows]])
    return rows[np.append(True, (np.diff(key) != 0).any(axis=0))] if len(rows) else rows


@shared
def crossings(o: Observation) -> dict[tuple[int, int], int]:
    """Pairs of bodies of which one centre of mass went through the other between two samples -> the sample after it.

    Asked of steps longer than half the width of what is crossed; shorter ones leave an overlap at some sample.
    """
    found: dict[tuple[int, int], int] = {}
    step = length(np.diff(o.trajectory.position, axis=0))  # (S - 1, B)
    longest = step.max(axis=0, initial=0.0)
    both = np.array(pairs(o), np.int64).reshape(-1, 2)
    both = both[both[:, 1] < len(longest)]  # whoever is behind a boundary stays in it
    ways = np.concatenate([both, both[:, ::-1]])
    ways = ways[longest[ways].sum(axis=1) > THROUGH * width(o)[ways[:, 1]]]
    for a, b in ways.tolist() if len(ways) <= MOST_WAYS else ():
        distance = length(o.trajectory.position[:, a] - o.trajectory.position[:, b])
        both_steps = step[:, a] + step[:, b]
        passed = np.minimum(distance[1:], distance[:-1]) < both_steps + bounding_radius(o)[b]
        for k in np.flatnonzero((both_steps > THROUGH * width(o)[b]) & passed).tolist():
            if went_through(o, a, b, k):
                pair = (min(a, b), max(a, b))
                found[pair] = min(found.get(pair, k + 1), k + 1)
                break
    return found


def went_through(o: Observation, a: int, b: int, k: int) -> bool:
    """Whether a's centre, outside b at sample k and in it before the next, is on another side of b where it is outside
    again. What never leaves b is an overlap, and what leaves it where it went in has bounced. So has what flew another
    way at either sample than the one between them."""
    shape, way = o.scene.bodies[b].shape, way_between(o, a, b, k)
    if inside(shape, way[:1])[0] or not inside(shape, way).any():
        return False
    for sample in range(k + 1, len(o.time)):
        now = seen_from(o, b, sample, apart(o.trajectory.position, a, b, sample))
        if not inside(shape, now[None])[0]:
            return flew_straight(o, a, b, k) if sample == k + 1 else leads_through(o, b, way[0], now)
    return False


def flew_straight(o: Observation, a: int, b: int, k: int) -> bool:
    """Whether their velocities at sample k and at the next lead along the way from one to the other."""
    x, v = o.trajectory.position, velocity_at_pose(o)
    way = apart(x, a, b, k + 1) - apart(x, a, b, k)
    return all(
        float((way * now).sum()) >= STRAIGHT * float(length(way) * length(now))
        for now in (apart(v, a, b, k), apart(v, a, b, k + 1))
    )


def way_between(o: Observation, a: int, b: int, k: int) -> Array:
    """(N, D) of a's centre of mass seen from b, from sample k to the next: both go straight, and b turns evenly."""
    t = o.trajectory
    start, end = (apart(t.position, a, b, sample) for sample in (k, k + 1))
    share = _shares(o, b, float(length(end - start)))
    between = start + share * (end - start)
    if isinstance(t, PlanarTrajectory):
        s, c = elementary.sine_cosine(t.angle[k, b] + share[:, 0] * (t.angle[k + 1, b] - t.angle[k, b]))
        return np.stack([c * between[:, 0] + s * between[:, 1], c * between[:, 1] - s * between[:, 0]], axis=1)
    p, q = t.orientation[k, b], t.orientation[k + 1, b]
    turning = p + share * (np.where((p * q).sum() < 0.0, -q, q) - p)  # a chord for the arc: as close as a step is short
    return to_body_axes(turning / length(turning)[:, None], between)


def leads_through(o: Observation, b: int, start: Array, end: Array) -> bool:
    """Whether the straight way between two points in the frame of b leads through b."""
    points = start + _shares(o, b, float(length(end - start))) * (end - start)
    return bool(inside(o.scene.bodies[b].shape, points).any())


def _shares(o: Observation, b: int, way: float) -> Array:
    """(N, 1) of a way, m, in parts that see the width of b."""
    steps = int(min(MOST_POINTS, 1 + 4.0 * way / width(o)[b]))
    return np.linspace(0.0, 1.0, steps + 1)[:, None]


def apart(part: Array, a: int, b: int, sample: int) -> Array:
    """(D,) of a less that of b."""
    return np.asarray(part[sample, a] - part[sample, b])


def seen_from(o: Observation, body: int, sample: int, vector: Array) -> Array:
    """(D,) of a vector of the world: in the body's axes; boundaries do not turn."""
    t = o.trajectory
    if body >= len(o.scene.bodies):
        return vector
    if isinstance(t, PlanarTrajectory):
        s, c = elementary.sine_cosine(t.angle[sample, body])
        return np.array([c * vector[0] + s * vector[1], c * vector[1] - s * vector[0]])
    return to_body_axes(t.orientation[sample, body], vector)


def _in_piece(piece: Any, points: Array) -> Array:
    """Points (N, D) of the body's frame, in the frame of a piece."""
    origin, axes = mass.piece_frame(piece)
    seen: Array = mul(points - origin, axes)
    return seen


def inside(shape: Any, points: Array) -> Flags:
    """(N,) of points (N, D) in the body's frame."""
    size = np.abs(points)
    match shape.kind:
        case "compound":
            return np.logical_or.reduce([inside(piece.shape, _in_piece(piece, points)) for piece in shape.pieces])
        case "disc" | "sphere":
            return length(points) < shape.radius
        case "box":
            return np.asarray((size < 0.5 * np.array(shape.size)).all(axis=1))
        case "ellipsoid":
            return length(points / np.array(shape.semi_axes)) < 1.0
        case "cylinder":
            return (length(points[:, :2]) < shape.radius) & (size[:, 2] < 0.5 * shape.length)
        case "capsule":
            beyond = np.maximum(size[:, 2] - 0.5 * shape.length, 0.0)
            return elementary.hypot(length(points[:, :2]), beyond) < shape.radius
        case "convex-mesh":
            from scipy.spatial import ConvexHull  # takes long to import

            faces = ConvexHull(shape.points).equations
            return np.asarray((np.einsum("nd,fd->nf", points, faces[:, :3]) + faces[:, 3] < 0.0).all(axis=1))
    corners = (
        mass.arc_outline(shape.vertices, shape.bulges) if shape.kind == "arc-polygon" else np.array(shape.vertices)
    )
    following, x, y = np.roll(corners, -1, axis=0), points[:, :1], points[:, 1:]
    crosses = (corners[:, 1] > y) != (following[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (y - corners[:, 1]) / (following[:, 1] - corners[:, 1])
    times: Array = (crosses & (x < corners[:, 0] + share * (following[:, 0] - corners[:, 0]))).sum(axis=1)
    return np.asarray(times % 2 == 1)
