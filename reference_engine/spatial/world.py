"""A world of rigid bodies in space, and its features as arrays."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul, norm
from reference_engine.errors import SpatialWorldError
from reference_engine.geometry.spatial_shapes import Box, Capsule, ConvexMesh, Cylinder, HalfSpace, Sphere
from reference_engine.rotation import matrices, tangents
from reference_engine.spatial import layout as col
from reference_engine.spatial.layout import Model

FLAT = 1e-9  # of a hull's size: its triangles whose planes differ by less are one face
UNIT = 1e-6  # by which the length of a quaternion may be off


@dataclass(frozen=True, slots=True)
class Points:
    """A body that touches by exactly these points of it."""

    points: ArrayLike  # (n, 3) m


Simple = Sphere | Capsule | Box | Cylinder | ConvexMesh | Points


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A shape of a compound, with its pose in the frame of the body."""

    shape: Simple
    position: ArrayLike = (0.0, 0.0, 0.0)  # (3,) m
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0)  # (4,) unit quaternion w x y z, piece to body


@dataclass(frozen=True, slots=True)
class Compound:
    """Several shapes that move as one."""

    pieces: tuple[Piece, ...]


Shape = Simple | Compound | HalfSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMotion:
    """How the velocity of a fixed body changes by a plan: by a + knots' slope + d/dt of A w cos(w t + phi).

    Its velocity and spin are those at the start; the spin stays, in world axes.
    """

    acceleration: ArrayLike = (0.0, 0.0, 0.0)  # (3,) m/s^2
    amplitude: ArrayLike = (0.0, 0.0, 0.0)  # (3,) m
    frequency: float = 0.0  # rad/s
    phase: float = 0.0  # rad
    knots: tuple[tuple[float, float, float, float], ...] = ()
    """Time, s, and the acceleration from then on up to the next, m/s^2, beside the others"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialBody:
    """A rigid body; its frame has the centre of mass as origin, and principal axes."""

    shape: Shape
    mass: float = math.inf  # kg; infinite: it does not move
    inertia: ArrayLike = (math.inf, math.inf, math.inf)  # (3,) kg m^2
    position: ArrayLike = (0.0, 0.0, 0.0)  # (3,) m
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0)  # (4,) unit quaternion w x y z, body to world
    velocity: ArrayLike = (0.0, 0.0, 0.0)  # (3,) m/s
    spin: ArrayLike = (0.0, 0.0, 0.0)  # (3,) rad/s, world axes
    name: str = ""
    motion: GivenMotion | None = None  # of a fixed body

    @property
    def fixed(self) -> bool:
        return self.mass == math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class BallJoint:
    """A point of one body that stays at a point of another, or of the world."""

    body: int
    anchor: ArrayLike  # (3,) m, body axes
    other: int | None = None  # None: the world
    other_anchor: ArrayLike = (0.0, 0.0, 0.0)  # (3,) m, axes of the other body, or the world's


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialWorld:
    """Bodies in space. Raises SpatialWorldError: which field, which value, what is allowed."""

    bodies: tuple[SpatialBody, ...]
    joints: tuple[BallJoint, ...] = ()
    gravity: ArrayLike = (0.0, 0.0, -9.81)  # (3,) m/s^2
    friction: float = 0.0
    restitution: float = 0.0
    pairs: Mapping[tuple[int, int], tuple[float, float] | None] = field(default_factory=dict)
    """Friction and restitution of two bodies, the lower number first; None: they pass through one another."""

    def __post_init__(self) -> None:
        for i, one in enumerate(self.bodies):
            _check_body(f"bodies[{i}]", one)
        _vector("gravity", self.gravity, 3)
        for name, number, most in (("friction", self.friction, math.inf), ("restitution", self.restitution, 1.0)):
            if not 0.0 <= number <= most or not math.isfinite(number):
                raise SpatialWorldError(f"{name}: {number!r}; {'0 to 1' if most == 1.0 else '0 or more'}")
        for k, joint in enumerate(self.joints):
            for body in (joint.body, joint.other):
                if body is not None and not 0 <= body < len(self.bodies):
                    raise SpatialWorldError(f"joints[{k}]: body {body}; 0 to {len(self.bodies) - 1}")
            _vector(f"joints[{k}].anchor", joint.anchor, 3)
            _vector(f"joints[{k}].other_anchor", joint.other_anchor, 3)

    def body_name(self, i: int) -> str:
        return "the world" if i == len(self.bodies) else self.bodies[i].name or f"number {i}"

    def radius_of(self, i: int) -> float:
        """m, of the furthest point of body i from its centre of mass; infinite of a half-space."""
        features = _Features()
        features.add(f"bodies[{i}]", self.bodies[i].shape)
        return features.radius[0]

    def coefficients(self, i: int, j: int) -> tuple[float, float] | None:
        return self.pairs.get((min(i, j), max(i, j)), (self.friction, self.restitution))


def _vector(name: str, given: ArrayLike, size: int) -> Array:
    found = np.array(given, np.float64)
    if found.shape != (size,) or not np.isfinite(found).all():
        raise SpatialWorldError(f"{name}: {given!r}; {size} finite numbers")
    return found


def _check_body(where: str, body: SpatialBody) -> None:
    for name, size in (("position", 3), ("velocity", 3), ("spin", 3), ("orientation", 4)):
        found = _vector(f"{where}.{name}", getattr(body, name), size)
        if name == "orientation" and abs(norm(found) - 1.0) > UNIT:
            raise SpatialWorldError(f"{where}.orientation: its length is {norm(found):.9g}; 1")
    if body.motion is not None:
        _check_motion(f"{where}.motion", body)
    if body.fixed:
        return
    if isinstance(body.shape, HalfSpace):
        raise SpatialWorldError(f"{where}.shape: a half-space that moves; it must be fixed, with no mass given")
    if not 0.0 < body.mass < math.inf:
        raise SpatialWorldError(f"{where}.mass: {body.mass!r}; positive")
    inertia = _vector(f"{where}.inertia", body.inertia, 3)
    if not (inertia > 0.0).all():
        raise SpatialWorldError(f"{where}.inertia: {inertia.tolist()}; three positive numbers")


def _check_motion(where: str, body: SpatialBody) -> None:
    given = body.motion
    assert given is not None
    if not body.fixed:
        raise SpatialWorldError(f"{where}: of a body with a mass of {body.mass:g} kg; give none")
    if isinstance(body.shape, HalfSpace):
        raise SpatialWorldError(f"{where}: of a half-space; it stays where it is")
    _vector(f"{where}.acceleration", given.acceleration, 3)
    _vector(f"{where}.amplitude", given.amplitude, 3)
    for knot in given.knots:
        _vector(f"{where}.knots", knot, 4)
    times = [knot[0] for knot in given.knots]
    if any(later <= time for time, later in pairwise(times)):
        raise SpatialWorldError(f"{where}.knots: times {times[:20]}; each after the one before")
    if not (math.isfinite(given.frequency) and math.isfinite(given.phase)):
        raise SpatialWorldError(f"{where}: frequency {given.frequency!r}, phase {given.phase!r}; finite numbers")


# --- features ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Own:
    """Numbers of the vertices, edges, faces and rims of one piece, and its margin."""

    vertices: range
    edges: range
    faces: range
    rims: range
    margin: float  # m
    support: int  # of the first rim its first; three a rim


def on_rim(rim: Array, way: Array) -> Array:
    """(3, 3) m: three points of a rim (7,), a third of a turn from one another, the first one this way (3,) from its
    centre."""
    side = np.cross(rim[3:6], way)
    half, third = -0.5, math.sqrt(0.75)
    return np.asarray(rim[:3] + rim[6] * np.array([way, half * way + third * side, half * way - third * side]))


@dataclass(slots=True)
class _Features:
    """Of all bodies, as they come."""

    vertex: list[Array] = field(default_factory=list)
    edge: list[tuple[int, int]] = field(default_factory=list)
    outward: list[Array] = field(default_factory=list)
    inward: list[Array] = field(default_factory=list)
    face: list[Array] = field(default_factory=list)
    loops: list[list[int]] = field(default_factory=list)
    rim: list[Array] = field(default_factory=list)
    support: list[int] = field(default_factory=list)
    of: list[list[_Own]] = field(default_factory=list)  # of each body its pieces
    radius: list[float] = field(default_factory=list)

    def add(self, where: str, shape: Shape) -> None:
        pieces = shape.pieces if isinstance(shape, Compound) else (shape,)
        self.of.append([self._add(where, piece) for piece in pieces])
        self.radius.append(math.inf if isinstance(shape, HalfSpace) else max(map(self._furthest, self.of[-1])))

    def _add(self, where: str, piece: Piece | Simple | HalfSpace) -> _Own:
        before = self._counts()
        margin = self._write(where, piece.shape if isinstance(piece, Piece) else piece)
        v, e, f, r = map(range, before, self._counts())
        own = _Own(v, e, f, r, margin, len(self.vertex))
        if isinstance(piece, Piece):
            self._move(own, np.array(piece.position, np.float64), matrices(np.array(piece.orientation, np.float64)))
        for k in own.rims:
            self.support.append(len(self.vertex))
            self.vertex += list(on_rim(self.rim[k], tangents(self.rim[k][3:6])[0]))
        return own

    def _counts(self) -> tuple[int, int, int, int]:
        return len(self.vertex), len(self.edge), len(self.face), len(self.rim)

    def _furthest(self, own: _Own) -> float:
        far = [norm(self.vertex[k]) for k in own.vertices]
        far += [norm(self.rim[k][:3]) + self.rim[k][6] for k in own.rims]
        return max(far) + own.margin

    def _move(self, own: _Own, x: Array, R: Array) -> None:
        """From the frame of a piece to that of its body."""
        for k in own.vertices:
            self.vertex[k] = x + mul(R, self.vertex[k])
        for k in own.edges:
            self.outward[k] = mul(R, self.outward[k])
            self.inward[k] = mul(R, self.inward[k].reshape(2, 3).T).T.ravel()
        for k in own.faces:
            n = mul(R, self.face[k][:3])
            self.face[k] = np.append(n, self.face[k][3] + float(mul(n, x)))
        for k in own.rims:
            rim = self.rim[k]
            self.rim[k] = np.concatenate([x + mul(R, rim[:3]), mul(R, rim[3:6]), rim[6:]])

    def _write(self, where: str, shape: Simple | HalfSpace) -> float:
        """The features of a shape; its margin."""
        match shape:
            case Sphere(radius):
                self.vertex.append(np.zeros(3))
                return float(radius)
            case Capsule(radius, half):
                start = len(self.vertex)
                self.vertex += [np.array((0.0, 0.0, -half)), np.array((0.0, 0.0, half))]
                self.edge.append((start, start + 1))
                self.outward.append(np.zeros(3))
                self.inward.append(np.zeros(6))
                return float(radius)
            case Box(half):
                signs = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
                self._write_polyhedron(where, signs * np.asarray(half, np.float64))
            case ConvexMesh(points):
                self._write_polyhedron(where, np.array(points, np.float64))
            case Points(points):
                self.vertex += list(np.array(points, np.float64).reshape(-1, 3))
            case Cylinder(radius, half):
                for z in (-half, half) if half > 0.0 else (0.0,):
                    self.rim.append(np.array((0.0, 0.0, z, 0.0, 0.0, 1.0, radius)))
            case HalfSpace(point, normal):
                n = np.array(normal, np.float64) / norm(normal)
                self.face.append(np.append(n, float(mul(n, np.array(point, np.float64)))))
                self.loops.append([])
        return 0.0

    def _write_polyhedron(self, where: str, points: Array) -> None:
        try:
            own = _polyhedron(points.tobytes())
        except (QhullError, ValueError) as error:
            raise SpatialWorldError(
                f"{where}.shape: no convex hull of its points: {str(error).split(chr(10))[0]}"
            ) from None
        start = len(self.vertex)
        self.vertex += own.vertex
        self.face += own.face
        self.loops += [[start + k for k in loop] for loop in own.loops]
        self.edge += [(start + first, start + second) for first, second in own.edge]
        self.outward += own.outward
        self.inward += own.inward


@lru_cache(maxsize=1024)
def _polyhedron(given: bytes) -> _Features:
    """Vertices, edges and faces of the convex hull of points, as bytes; only to be read. Islands that meet and part ask
    for the same ones again and again."""
    points, own = np.frombuffer(given).reshape(-1, 3), _Features()
    hull = ConvexHull(points)
    used = {int(k): n for n, k in enumerate(sorted(hull.vertices))}
    own.vertex += [points[k] for k in used]
    size = float(np.abs(points).max())
    planes: list[tuple[Array, set[int]]] = []
    for plane, corners in zip(hull.equations, hull.simplices):
        for known, members in planes:
            if norm(known[:3] - plane[:3]) <= FLAT and abs(known[3] - plane[3]) <= FLAT * size:
                members.update(int(k) for k in corners)
                break
        else:
            planes.append((plane, {int(k) for k in corners}))
    normal_of: dict[tuple[int, int], Array] = {}
    for plane, members in planes:
        loop = _in_order(points, sorted(members), plane[:3])
        a, b, c = (points[k] for k in loop[:3])
        n = np.cross(b - a, c - b)
        n /= norm(n)
        own.face.append(np.append(n, float(np.mean([float(mul(n, points[k])) for k in loop]))))
        own.loops.append([used[k] for k in loop])
        for first, second in zip(loop, loop[1:] + loop[:1]):
            if (second, first) in normal_of:
                own.edge.append((used[second], used[first]))
                other = normal_of[second, first]
                own.outward.append((n + other) / norm(n + other))
                along = (points[second] - points[first]) / norm(points[second] - points[first])
                own.inward.append(np.concatenate([np.cross(n, along), np.cross(along, other)]))
            normal_of[first, second] = n
    return own


def _in_order(points: Array, members: list[int], normal: Array) -> list[int]:
    """Counterclockwise, seen from outside."""
    middle = np.mean(points[members], axis=0)
    first = points[members[0]] - middle
    first = first / norm(first)
    second = np.cross(normal, first)
    angle = [
        elementary.atan2(float(mul(points[k] - middle, second)), float(mul(points[k] - middle, first))) for k in members
    ]
    return [k for _, k in sorted(zip(angle, members))]


def _candidates(
    first: tuple[int, _Own], second: tuple[int, _Own], plane: bool
) -> Iterator[tuple[tuple[int, ...], float, float]]:
    """Kind, first body, feature, second body, feature, remote; and both margins: of what of two pieces may meet.

    plane: the second is a half-space.
    """
    (i, a), (j, b) = first, second
    if (a.rims and not plane) or b.rims:
        raise SpatialWorldError(
            f"bodies {i} and {j}: a cylinder meets half-spaces alone so far; let the two pass through one another"
        )
    bare = int(a.margin + b.margin == 0.0)
    found = [(int(col.VERTEX_FACE), i, v, j, f, 0) for v in a.vertices for f in b.faces]
    for n, f in product(range(len(a.rims)), b.faces):
        found.append((int(col.RIM_FACE), i, a.rims[n], j, f, 0))
        found += [(int(col.VERTEX_FACE), i, a.support + 3 * n + v, j, f, 2) for v in range(3)]
    found += [(int(col.EDGE_EDGE), i, e, j, g, 0) for e in a.edges for g in b.edges]
    found += [(int(col.VERTEX_EDGE), i, v, j, e, bare) for v in a.vertices for e in b.edges]
    found += [(int(col.VERTEX_VERTEX), i, v, j, w, bare) for v in a.vertices for w in b.vertices]
    yield from ((one, a.margin, b.margin) for one in found)
    found = [(int(col.VERTEX_FACE), j, v, i, f, 0) for v in b.vertices for f in a.faces]
    found += [(int(col.VERTEX_EDGE), j, v, i, e, bare) for v in b.vertices for e in a.edges]
    yield from ((one, b.margin, a.margin) for one in found)


def refuse_pairs(world: SpatialWorld) -> None:
    """Raises SpatialWorldError for two bodies that may not meet, of shapes that the engine cannot part."""
    known = set[tuple[object, ...]]()
    kinds = [
        (body.fixed, *(type(one.shape) for one in body.shape.pieces))
        if isinstance(body.shape, Compound)
        else (body.fixed, type(body.shape))
        for body in world.bodies
    ]
    for a in range(len(world.bodies)):
        for b in range(a):
            pair = (kinds[a], kinds[b])
            if pair in known or (kinds[a][0] and kinds[b][0]) or world.coefficients(a, b) is None:
                continue
            known.add(pair)
            i, j = (a, b) if isinstance(world.bodies[b].shape, HalfSpace) else (b, a)
            features = _Features()
            for k in (i, j):
                features.add(f"bodies[{k}]", world.bodies[k].shape)
            for mine, yours in product(*features.of):
                next(_candidates((i, mine), (j, yours), isinstance(world.bodies[j].shape, HalfSpace)), None)


def _ways(features: _Features) -> tuple[Indices, Array]:
    """Of `Model.way_first` and `Model.way`."""
    found: list[list[Array]] = [[] for _ in features.vertex]
    for first, last in features.edge:
        along = features.vertex[last] - features.vertex[first]
        found[first].append(np.append(along / norm(along), norm(along)))
        found[last].append(np.append(-along / norm(along), norm(along)))
    counts = np.cumsum([0, *map(len, found)]).astype(np.int64)
    return counts, np.array([one for ways in found for one in ways]).reshape(-1, 4)


def model_of(world: SpatialWorld) -> Model:
    """The world as arrays. Raises SpatialWorldError."""
    features, bodies = _Features(), world.bodies
    for i, body in enumerate(bodies):
        features.add(f"bodies[{i}]", body.shape)
    features.radius.append(0.0)
    ids: list[tuple[int, ...]] = []
    values: list[tuple[float, float, float, float]] = []
    pairs: list[tuple[int, ...]] = []
    for a in range(len(bodies)):
        for b in range(a):
            i, j = (a, b) if isinstance(bodies[b].shape, HalfSpace) else (b, a)
            law = world.coefficients(i, j)
            if law is None or (bodies[i].fixed and bodies[j].fixed):
                continue
            for mine, yours in product(features.of[i], features.of[j]):
                start = len(ids)
                for row, first, second in _candidates((i, mine), (j, yours), isinstance(bodies[j].shape, HalfSpace)):
                    ids.append((*row, start))
                    values.append((*law, first, second))
                corners = mine.vertices.start, mine.vertices.stop, yours.vertices.start, yours.vertices.stop
                pairs.append((i, j, start, len(ids), *corners))
    for joint in world.joints:
        ends = []
        for anchor in (joint.anchor, joint.other_anchor):
            ends.append(len(features.vertex))
            features.vertex.append(np.array(anchor, np.float64))
        other = len(bodies) if joint.other is None else joint.other
        ids.append((int(col.JOINT), joint.body, ends[0], other, ends[1], 0, len(ids)))
        values.append((0.0, 0.0, 0.0, 0.0))
    inverse_mass = np.array([0.0 if body.fixed else 1.0 / body.mass for body in bodies] + [0.0])
    inertia = np.array(
        [(0.0,) * 3 if body.fixed else tuple(np.asarray(body.inertia)) for body in bodies] + [(0.0,) * 3]
    )
    moves = [i for i, body in enumerate(bodies) if not body.fixed or body.motion is not None]
    free = [np.arange(col.BODY) + col.BODY * i for i in moves]
    given, knot = _given(world)
    loop_first = np.cumsum([0, *map(len, features.loops)])
    way_first, way = _ways(features)
    return Model(
        inverse_mass=inverse_mass,
        inertia=inertia,
        inverse_inertia=np.where(inertia > 0.0, 1.0 / np.where(inertia > 0.0, inertia, 1.0), 0.0),
        radius=np.array(features.radius),
        gravity=np.array(world.gravity, np.float64),
        given=given,
        knot=knot,
        free=np.concatenate(free).astype(np.int64) if free else np.zeros(0, np.int64),
        vertex=np.array(features.vertex).reshape(-1, 3),
        edge=np.array(features.edge, np.int64).reshape(-1, 2),
        outward=np.array(features.outward).reshape(-1, 3),
        inward=np.array(features.inward).reshape(-1, 6),
        way_first=way_first,
        way=way,
        face=np.array(features.face).reshape(-1, 4),
        loop_first=loop_first.astype(np.int64),
        loop=np.array([k for loop in features.loops for k in loop], np.int64),
        rim=np.array(features.rim).reshape(-1, 7),
        support=np.array(features.support, np.int64),
        stands=np.zeros(len(features.rim), np.int64),
        candidate=np.array(ids, np.int64).reshape(-1, col.IDS),
        value=np.array(values).reshape(-1, col.VALUES),
        pair=np.array(pairs, np.int64).reshape(-1, col.PAIR),
    )


def _given(world: SpatialWorld) -> tuple[Array, Array]:
    """Of `Model.given` and `Model.knot`."""
    given, knots = np.zeros((len(world.bodies) + 1, int(col.GIVEN))), list[Array]()
    for i, body in enumerate(world.bodies):
        if (motion := body.motion) is None:
            continue
        row, w, before = given[i], float(motion.frequency), np.zeros(3)
        row[col.MOVES], row[col.RATE], row[col.PHASE] = 1.0, w, motion.phase
        row[col.SWING : col.RATE] = w * w * np.array(motion.amplitude, np.float64)
        row[col.STEADY :] = motion.acceleration
        for time, *slope in motion.knots:
            knots.append(np.array([time, i, *(np.array(slope) - before)]))
            before = np.array(slope)
    return given, np.array(sorted(knots, key=lambda one: (one[0], one[1]))).reshape(-1, 5)


def start_of(world: SpatialWorld) -> Array:
    """The state of the world as it is given, flat."""
    y = np.zeros((len(world.bodies) + 1, int(col.BODY)))
    y[:, int(col.Q)] = 1.0
    for row, body in zip(y, world.bodies):
        q = np.array(body.orientation, np.float64)
        row[:3], row[col.Q : col.V] = body.position, q / norm(q)
        if not body.fixed or body.motion is not None:
            row[col.V : col.W], row[col.W :] = body.velocity, body.spin
    return y.ravel()
