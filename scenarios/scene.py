"""A scene is data: bodies, boundaries, joints, forces and contact laws, and how long to simulate.

All SI. A body frame has its origin at the centre of mass; planar poses are (x, y, angle), spatial ones
(position, unit quaternion w-x-y-z, body to world). Gravity is a vector. Immutable and checked when built;
JSON both ways (`read_scene`, `write_scene`), JSON Schema by `schema.scene_schema()`, identity by `content_hash`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from scenarios import mass
from scenarios.scene_error import SceneError, explain

FORMAT: Final = 1
MAX_BODIES = 20_000
MAX_FILE_BYTES = 64 * 2**20
MAX_LENGTH = 1e6  # m; beyond it a double resolves no better than 1e-10 m, and no engine makes sense
MIN_SIZE = 1e-9  # m; below it squares and fourth powers leave the double's range
MAX_RATE = 1e9  # m/s, rad/s, m/s^2; far beyond any scene, and its square is finite
CENTROID_TOLERANCE = 1e-9  # of the shape's size

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Length = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_LENGTH, le=MAX_LENGTH)]
Size = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=MIN_SIZE, le=MAX_LENGTH)]
Rate = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_RATE, le=MAX_RATE)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1e12)]
NonNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e12)]
Restitution = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
Friction = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e3)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=80, pattern=r"^[\w .:+/#\-]+$")]
Vector2 = tuple[Number, Number]
Rate2 = tuple[Rate, Rate]
Rate3 = tuple[Rate, Rate, Rate]
Vector3 = tuple[Number, Number, Number]
Point2 = tuple[Length, Length]
Point3 = tuple[Length, Length, Length]
Quaternion = tuple[Number, Number, Number, Number]

CombinationRule = Literal["geometric-mean", "product", "mean", "min", "max"]
COMBINE: dict[str, Callable[[float, float], float]] = {
    "geometric-mean": lambda p, q: math.sqrt(p * q),
    "product": lambda p, q: p * q,
    "mean": lambda p, q: 0.5 * (p + q),
    "min": min,
    "max": max,
}


class Data(BaseModel):
    """Immutable, refuses unknown fields; a default is part of the format."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


# --- shapes, in the body frame ------------------------------------------------------------------


SIMPLE = "distinct corners, counter-clockwise, no edge meeting another"


class Polygon(Data):
    """Simple polygon, convex or concave, counter-clockwise."""

    kind: Literal["polygon"] = "polygon"
    vertices: Annotated[tuple[Point2, ...], Field(min_length=3, max_length=1000)]

    @model_validator(mode="after")
    def _is_simple(self) -> Self:
        if fault := mass.polygon_fault(self.vertices):
            raise ValueError(f"vertices: {fault}; allowed: {SIMPLE}")
        if mass.reach(self) < MIN_SIZE:
            raise ValueError(f"vertices: all within {MIN_SIZE:g} m of the origin; allowed: a larger polygon")
        return self

    @cached_property
    def is_convex(self) -> bool:
        return mass.is_convex(self.vertices)


class Disc(Data):
    kind: Literal["disc"] = "disc"
    radius: Size


class ArcPolygon(Data):
    """Polygon whose edge i, from vertex i to i + 1, is an arc: bulge = tan(included angle / 4).

    Positive bulges point outward for the counter-clockwise order, 0 is a straight edge.
    """

    kind: Literal["arc-polygon"] = "arc-polygon"
    vertices: Annotated[tuple[Point2, ...], Field(min_length=2, max_length=1000)]
    bulges: tuple[Annotated[float, Field(strict=True, ge=-1, le=1, allow_inf_nan=False)], ...]

    @model_validator(mode="after")
    def _is_closed(self) -> Self:
        if len(self.bulges) != len(self.vertices):
            raise ValueError(
                f"bulges: {len(self.bulges)} given for {len(self.vertices)} edges; give one for each vertex"
            )
        if fault := mass.arc_polygon_fault(self.vertices, self.bulges):
            raise ValueError(f"vertices: {fault}; allowed: {SIMPLE}")
        return self


class Sphere(Data):
    kind: Literal["sphere"] = "sphere"
    radius: Size


class Box(Data):
    kind: Literal["box"] = "box"
    size: tuple[Size, Size, Size]
    """Full edge lengths, m."""


class Capsule(Data):
    """Axis along body z; `length` is that of the cylindrical part."""

    kind: Literal["capsule"] = "capsule"
    radius: Size
    length: Size


class Cylinder(Data):
    """Axis along body z."""

    kind: Literal["cylinder"] = "cylinder"
    radius: Size
    length: Size


class Ellipsoid(Data):
    kind: Literal["ellipsoid"] = "ellipsoid"
    semi_axes: tuple[Size, Size, Size]


class ConvexMesh(Data):
    """The convex hull of its points."""

    kind: Literal["convex-mesh"] = "convex-mesh"
    points: Annotated[tuple[Point3, ...], Field(min_length=4, max_length=1000)]

    @model_validator(mode="after")
    def _spans_space(self) -> Self:
        if fault := mass.mesh_fault(self.points):
            raise ValueError(f"points: {fault}")
        return self


PlanarShape = Annotated[Polygon | Disc | ArcPolygon, Field(discriminator="kind")]
SpatialShape = Annotated[Sphere | Box | Capsule | Cylinder | Ellipsoid | ConvexMesh, Field(discriminator="kind")]


# --- bodies -------------------------------------------------------------------------------------


class _Body(Data):
    name: Name
    fixed: bool = False
    mass: Positive | None = None
    friction: Friction = 0.0
    restitution: Restitution = 0.0
    group: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)] = 0
    """Bodies of the same group, other than 0, pass through one another."""

    @model_validator(mode="after")
    def _is_free_or_fixed(self) -> Self:
        if self.fixed:
            for field in ("mass", "inertia"):
                if getattr(self, field) is not None:
                    raise ValueError(f"{field}: {getattr(self, field)} given for a fixed body; leave it out")
            for field in ("velocity", "spin"):
                if np.any(getattr(self, field)):
                    raise ValueError(f"{field}: {getattr(self, field)} given for a fixed body; allowed: 0")
        elif self.mass is None:
            raise ValueError("mass: missing; give a positive mass in kg, or fixed=true for an immovable body")
        return self


def _check_centroid(centroid: NDArray[np.float64], size: float) -> None:
    if np.linalg.norm(centroid) > CENTROID_TOLERANCE * size:
        raise ValueError(
            f"shape: its centroid lies at {tuple(float(c) for c in np.round(centroid, 12))}, not at the "
            "origin of the body frame; centre the shape, or give the inertia about the origin, which is "
            "the centre of mass"
        )


class PlanarBody(_Body):
    shape: PlanarShape
    inertia: Positive | None = None
    """kg m^2 about the centre of mass; of uniform density where it is left out."""
    position: Point2 = (0.0, 0.0)
    angle: Number = 0.0
    velocity: Rate2 = (0.0, 0.0)
    spin: Rate = 0.0

    @model_validator(mode="after")
    def _has_inertia(self) -> Self:
        if not self.fixed and self.inertia is None:
            _check_centroid(mass.planar_mass(self.shape).centroid, mass.reach(self.shape))
        return self


class SpatialBody(_Body):
    shape: SpatialShape
    inertia: tuple[Positive, Positive, Positive] | None = None
    """Principal moments, kg m^2, about the body axes; of uniform density where left out."""
    position: Point3 = (0.0, 0.0, 0.0)
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    velocity: Rate3 = (0.0, 0.0, 0.0)
    spin: Rate3 = (0.0, 0.0, 0.0)
    """Angular velocity in world axes, rad/s."""

    @model_validator(mode="after")
    def _has_inertia(self) -> Self:
        if abs(math.hypot(*self.orientation) - 1.0) > 1e-9:
            raise ValueError(
                f"orientation: {self.orientation} has norm {math.hypot(*self.orientation):.9g}; allowed: a unit "
                "quaternion (w, x, y, z) to 1e-9"
            )
        if self.inertia is not None:
            a, b, c = sorted(self.inertia)
            if c > (a + b) * (1 + 1e-12):
                raise ValueError(
                    f"inertia: {self.inertia} violates the triangle inequality; allowed: no moment larger than "
                    "the sum of the other two"
                )
        elif not self.fixed:
            uniform = mass.spatial_mass(self.shape)
            _check_centroid(uniform.centroid, mass.reach(self.shape))
            inertia = uniform.inertia
            off_axis = float(np.max(np.abs(inertia - np.diag(np.diag(inertia)))))
            if off_axis > CENTROID_TOLERANCE * float(np.trace(inertia)):
                raise ValueError(
                    "shape: the body axes are not its principal axes; rotate the shape, or give the inertia"
                )
        return self


# --- boundaries: immovable, without end -----------------------------------------------------------


class _Boundary(Data):
    name: Name
    friction: Friction = 0.0
    restitution: Restitution = 0.0


class HalfPlane(_Boundary):
    """Solid on the side away from `normal`."""

    kind: Literal["half-plane"] = "half-plane"
    point: Point2 = (0.0, 0.0)
    normal: Vector2 = (0.0, 1.0)


class Bowl(_Boundary):
    """Solid outside a circle."""

    kind: Literal["bowl"] = "bowl"
    center: Point2 = (0.0, 0.0)
    radius: Size


class HalfSpace(_Boundary):
    """Solid on the side away from `normal`."""

    kind: Literal["half-space"] = "half-space"
    point: Point3 = (0.0, 0.0, 0.0)
    normal: Vector3 = (0.0, 0.0, 1.0)


class HollowSphere(_Boundary):
    """Solid outside a sphere."""

    kind: Literal["hollow-sphere"] = "hollow-sphere"
    center: Point3 = (0.0, 0.0, 0.0)
    radius: Size


PlanarBoundary = Annotated[HalfPlane | Bowl, Field(discriminator="kind")]
SpatialBoundary = Annotated[HalfSpace | HollowSphere, Field(discriminator="kind")]


# --- joints: anchors in the frame of each body; b = null is the world -----------------------------


class _Joint(Data):
    name: Name
    a: Name
    b: Name | None = None
    collide: bool = False
    """Whether the joined bodies may touch each other."""


class Revolute(_Joint):
    """The two anchors coincide."""

    kind: Literal["revolute"] = "revolute"
    anchor_a: Point2
    anchor_b: Point2


class Rod(_Joint):
    """The anchors stay `length` apart."""

    kind: Literal["rod"] = "rod"
    anchor_a: Point2
    anchor_b: Point2
    length: Size


class Rope(_Joint):
    """The anchors stay at most `length` apart."""

    kind: Literal["rope"] = "rope"
    anchor_a: Point2
    anchor_b: Point2
    length: Size


class Ball(_Joint):
    """The two anchors coincide; all rotations are free."""

    kind: Literal["ball"] = "ball"
    anchor_a: Point3
    anchor_b: Point3


class Hinge(_Joint):
    """The two anchors coincide; rotation about `axis` (in a's frame) only."""

    kind: Literal["hinge"] = "hinge"
    anchor_a: Point3
    anchor_b: Point3
    axis: Vector3

    @model_validator(mode="after")
    def _has_axis(self) -> Self:
        if not math.isfinite(math.hypot(*self.axis)) or math.hypot(*self.axis) < 1e-9:
            raise ValueError(f"axis: {self.axis} has no direction; allowed: a vector that is not zero")
        return self


PlanarJoint = Annotated[Revolute | Rod | Rope, Field(discriminator="kind")]
SpatialJoint = Annotated[Ball | Hinge, Field(discriminator="kind")]


# --- forces ---------------------------------------------------------------------------------------


class Damping(Data):
    """Force -linear v and torque -angular w on every free body."""

    linear: NonNegative = 0.0
    """kg/s"""
    angular: NonNegative = 0.0
    """kg m^2/s"""


class Spring(Data):
    """Pulls with stiffness (length - rest_length); `b` = null ends at a world point."""

    a: Name
    b: Name | None = None
    anchor_a: tuple[Length, ...]
    anchor_b: tuple[Length, ...]
    stiffness: Positive
    rest_length: NonNegative = 0.0
    damping: NonNegative = 0.0
    tension_only: bool = False
    """A rubber band: no force while it is shorter than its rest length."""


class Thruster(Data):
    """Force fixed in body axes at a body point, scaled over time by linear interpolation of `profile`."""

    body: Name
    anchor: tuple[Length, ...]
    force: tuple[Number, ...]
    profile: Annotated[tuple[tuple[NonNegative, Number], ...], Field(min_length=1)] = ((0.0, 1.0),)
    """(time in s, factor), times not decreasing; constant before the first and after the last."""

    @model_validator(mode="after")
    def _times_ascend(self) -> Self:
        times = [time for time, _ in self.profile]
        if times != sorted(times):
            raise ValueError(f"profile: times {times} decrease; list them in ascending order")
        return self


class PairLaw(Data):
    """Friction and restitution of one pair, whatever the combination rule says."""

    a: Name
    b: Name
    friction: Friction | None = None
    restitution: Restitution | None = None


class ContactLaw(Data):
    """How the pair values follow from those of the two sides. Every engine gets the pair's value."""

    friction_rule: CombinationRule = "geometric-mean"
    restitution_rule: CombinationRule = "max"
    pairs: tuple[PairLaw, ...] = ()

    @cached_property
    def laws(self) -> dict[frozenset[str], PairLaw]:
        """Names of a pair -> its own law. Kept here, so that a copied scene with another contact law has that one's."""
        return {frozenset((pair.a, pair.b)): pair for pair in self.pairs}


# --- scenes ---------------------------------------------------------------------------------------


class _Scene(Data):
    """What planar and spatial scenes share; bodies, boundaries and joints are theirs."""

    format: Literal[1] = FORMAT
    title: Annotated[str, Field(max_length=200)] = ""
    duration: Annotated[float, Field(strict=True, gt=0, le=1e4, allow_inf_nan=False)]
    damping: Damping = Damping()
    springs: tuple[Spring, ...] = ()
    thrusters: tuple[Thruster, ...] = ()
    contact: ContactLaw = ContactLaw()

    @model_validator(mode="after")
    def _references_exist(self) -> Self:
        dimension: int = len(self.gravity)  # type: ignore[attr-defined]
        bodies: tuple[_Body, ...] = self.bodies  # type: ignore[attr-defined]
        boundaries: tuple[_Boundary, ...] = self.boundaries  # type: ignore[attr-defined]
        if all(body.fixed for body in bodies):
            raise ValueError(f"bodies: none of the {len(bodies)} can move; a scene needs one free body")
        seen: dict[str, str] = {}
        members: list[tuple[str, _Body | _Boundary]] = [(f"bodies[{i}]", body) for i, body in enumerate(bodies)]
        members += [(f"boundaries[{i}]", boundary) for i, boundary in enumerate(boundaries)]
        for path, member in members:
            if taken := seen.get(member.name):
                raise ValueError(f"{path}.name: {member.name!r} is taken by {taken}; give each a name of its own")
            seen[member.name] = path
        names = {body.name for body in bodies}

        def refer(path: str, name: str | None, known: set[str]) -> None:
            if name is not None and name not in known:
                raise ValueError(
                    f"{path}: {name!r} is no {'body' if known is names else 'body or boundary'} of "
                    f"this scene; known: {', '.join(sorted(known)[:8])}"
                )

        for i, boundary in enumerate(boundaries):
            if hasattr(boundary, "normal") and abs(math.hypot(*boundary.normal) - 1.0) > 1e-9:
                raise ValueError(
                    f"boundaries[{i}].normal: {boundary.normal} has length {math.hypot(*boundary.normal):.9g}; "
                    "allowed: a unit vector to 1e-9"
                )
        tied: dict[str, int] = {}
        for i, joint in enumerate(self.joints):  # type: ignore[attr-defined]
            if tied.setdefault(joint.name, i) != i:
                raise ValueError(
                    f"joints[{i}].name: {joint.name!r} is taken by joints[{tied[joint.name]}]; give another"
                )
            refer(f"joints[{i}].a", joint.a, names)
            refer(f"joints[{i}].b", joint.b, names)
            if joint.a == joint.b:
                raise ValueError(f"joints[{i}].b: {joint.b!r} is also a; a joint ties two bodies, or one to the world")
        for i, spring in enumerate(self.springs):
            refer(f"springs[{i}].a", spring.a, names)
            refer(f"springs[{i}].b", spring.b, names)
            for end in ("anchor_a", "anchor_b"):
                if len(getattr(spring, end)) != dimension:
                    raise ValueError(
                        f"springs[{i}].{end}: {getattr(spring, end)} has {len(getattr(spring, end))} "
                        f"coordinates; allowed: {dimension}"
                    )
        for i, thruster in enumerate(self.thrusters):
            refer(f"thrusters[{i}].body", thruster.body, names)
            for end in ("anchor", "force"):
                if len(getattr(thruster, end)) != dimension:
                    raise ValueError(
                        f"thrusters[{i}].{end}: {getattr(thruster, end)} has "
                        f"{len(getattr(thruster, end))} coordinates; allowed: {dimension}"
                    )
        given: dict[frozenset[str], int] = {}
        for i, pair in enumerate(self.contact.pairs):
            refer(f"contact.pairs[{i}].a", pair.a, set(seen))
            refer(f"contact.pairs[{i}].b", pair.b, set(seen))
            if pair.a == pair.b:
                raise ValueError(f"contact.pairs[{i}].b: {pair.b!r} is also a; a pair needs two")
            first = given.setdefault(frozenset((pair.a, pair.b)), i)
            if first != i:
                raise ValueError(f"contact.pairs[{i}]: {pair.a!r} and {pair.b!r} stand in pairs[{first}] already; once")
        return self

    def pair_law(self, a: _Body | _Boundary, b: _Body | _Boundary) -> tuple[float, float]:
        """(friction, restitution) of a pair of this scene's bodies or boundaries."""
        friction = COMBINE[self.contact.friction_rule](a.friction, b.friction)
        restitution = COMBINE[self.contact.restitution_rule](a.restitution, b.restitution)
        pair = self.contact.laws.get(frozenset((a.name, b.name)))
        if pair is not None:
            friction = friction if pair.friction is None else pair.friction
            restitution = restitution if pair.restitution is None else pair.restitution
        return friction, restitution


class PlanarScene(_Scene):
    """x to the right, y up."""

    dimension: Literal[2] = 2
    gravity: Rate2 = (0.0, -9.81)
    bodies: Annotated[tuple[PlanarBody, ...], Field(min_length=1, max_length=MAX_BODIES)]
    boundaries: tuple[PlanarBoundary, ...] = ()
    joints: tuple[PlanarJoint, ...] = ()


class SpatialScene(_Scene):
    """z up."""

    dimension: Literal[3] = 3
    gravity: Rate3 = (0.0, 0.0, -9.81)
    bodies: Annotated[tuple[SpatialBody, ...], Field(min_length=1, max_length=MAX_BODIES)]
    boundaries: tuple[SpatialBoundary, ...] = ()
    joints: tuple[SpatialJoint, ...] = ()


Scene = PlanarScene | SpatialScene
SCENE: TypeAdapter[Scene] = TypeAdapter(Annotated[Scene, Field(discriminator="dimension")])


# --- JSON -----------------------------------------------------------------------------------------


def parse_scene(data: Any, where: str = "scene") -> Scene:
    """The scene that JSON data (dicts, lists, numbers) describe. Raises SceneError: one line, field, value, rule."""
    if not isinstance(data, dict):
        raise SceneError(f"{where}: a {type(data).__name__} is not a scene; allowed: a JSON object")
    found = data.get("format", FORMAT)
    if isinstance(found, int) and found > FORMAT:
        raise SceneError(f"{where}: format {found} is newer than this Upright reads ({FORMAT}); upgrade Upright")
    try:
        return SCENE.validate_python(data)
    except ValidationError as error:
        raise SceneError(f"{where}: {explain(error, SCENE)}") from None


def read_scene(path: Path) -> Scene:
    """The scene in a JSON file. Raises SceneError for whatever is wrong with it."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise SceneError(f"{path}: {size} bytes are too large for a scene; allowed: {MAX_FILE_BYTES}")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror}); give the path of a scene file") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{path}: byte {error.start} is not UTF-8; a scene is JSON text") from None

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for i, (key, value) in enumerate(pairs):
            if any(key == earlier for earlier, _ in pairs[:i]):
                raise SceneError(f"{path}: field {key!r} stands twice, again with {value!r:.40}; allowed: once")
        return dict(pairs)

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise SceneError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON ({error.msg}); mend the file"
        ) from None
    except RecursionError:
        raise SceneError(f"{path}: nested too deeply for a scene; mend the file") from None
    except SceneError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise SceneError(f"{path}: a number cannot be read ({error}); mend the file") from None
    return parse_scene(data, where=str(path))


def write_scene(scene: Scene, *, indent: int | None = 1) -> str:
    """JSON text; `parse_scene` of it gives an equal scene, to the last bit."""
    return json.dumps(scene.model_dump(mode="json"), indent=indent, allow_nan=False)


def content_hash(scene: Scene) -> str:
    """SHA-256 of the canonical JSON: the scene's identity. The title is for people and does not count."""
    data = scene.model_dump(mode="json", exclude={"title"})
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# --- what a scene asks of an engine -----------------------------------------------------------------


def features(scene: Scene) -> frozenset[str]:
    """Words for what an engine must represent: shape, boundary and joint kinds, laws, forces.

    Among them: "planar" | "spatial"; each `kind`; "concave-polygon"; "friction", "restitution" (some pair has
    them above 0); "damping", "springs", "thrusters"; "groups".
    """
    found = {"planar" if isinstance(scene, PlanarScene) else "spatial"}
    found |= {body.shape.kind for body in scene.bodies}
    found |= {boundary.kind for boundary in scene.boundaries} | {joint.kind for joint in scene.joints}
    if any(isinstance(body.shape, Polygon) and not body.shape.is_convex for body in scene.bodies):
        found.add("concave-polygon")
    members = (*scene.bodies, *scene.boundaries)
    laws = (
        [scene.pair_law(a, b) for a, b in _colliding_pairs(scene)]
        if len(members) <= 200
        else [
            (max(m.friction for m in members), max(m.restitution for m in members)),
            *((p.friction or 0.0, p.restitution or 0.0) for p in scene.contact.pairs),
        ]
    )
    found |= {"friction"} if any(mu > 0 for mu, _ in laws) else set()
    found |= {"restitution"} if any(e > 0 for _, e in laws) else set()
    found |= {"damping"} if scene.damping != Damping() else set()
    found |= {"springs"} if scene.springs else set()
    found |= {"thrusters"} if scene.thrusters else set()
    found |= {"groups"} if any(body.group for body in scene.bodies) else set()
    return frozenset(found)


def _colliding_pairs(scene: Scene) -> list[tuple[Any, Any]]:
    apart = {frozenset((joint.a, joint.b)) for joint in scene.joints if joint.b and not joint.collide}
    pairs = []
    for i, a in enumerate(scene.bodies):
        for b in (*scene.bodies[i + 1 :], *scene.boundaries):
            static = a.fixed and getattr(b, "fixed", True)
            together = a.group and a.group == getattr(b, "group", 0)
            if not static and not together and frozenset((a.name, b.name)) not in apart:
                pairs.append((a, b))
    return pairs


def colliding_pairs(scene: Scene) -> list[tuple[str, str]]:
    """Names of every pair that may touch: not both immovable, not of one group, not joined without `collide`."""
    return [(a.name, b.name) for a, b in _colliding_pairs(scene)]


# --- as arrays, in the order of `bodies` --------------------------------------------------------------


def masses(scene: Scene) -> NDArray[np.float64]:
    """(B,) kg; infinite for fixed bodies."""
    return np.array([math.inf if body.fixed else body.mass for body in scene.bodies])


def inertias(scene: Scene) -> NDArray[np.float64]:
    """(B,) kg m^2 about the centre of mass, or (B, 3) principal moments in body axes; infinite if fixed."""
    planar = isinstance(scene, PlanarScene)
    rows: list[Any] = []
    for body in scene.bodies:
        if body.fixed:
            rows.append(math.inf if planar else (math.inf,) * 3)
        elif body.inertia is not None:
            rows.append(body.inertia)
        elif planar:
            rows.append((body.mass or math.nan) * mass.planar_mass(body.shape).inertia)
        else:
            rows.append((body.mass or math.nan) * np.diag(mass.spatial_mass(body.shape).inertia))
    return np.array(rows, dtype=np.float64)


def planar_start(scene: PlanarScene) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pose (B, 3) as (x, y, angle) and twist (B, 3) as (vx, vy, spin) at time 0."""
    pose = np.array([(*body.position, body.angle) for body in scene.bodies])
    twist = np.array([(*body.velocity, body.spin) for body in scene.bodies])
    return pose, twist


def spatial_start(scene: SpatialScene) -> tuple[NDArray[np.float64], ...]:
    """Position (B, 3), orientation (B, 4), velocity (B, 3), spin (B, 3) at time 0."""
    return (
        np.array([body.position for body in scene.bodies]),
        np.array([body.orientation for body in scene.bodies]),
        np.array([body.velocity for body in scene.bodies]),
        np.array([body.spin for body in scene.bodies]),
    )
