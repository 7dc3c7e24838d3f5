"""A scene is data: bodies, boundaries, joints, forces and contact laws, and how long to simulate.

All SI. A body frame has its origin at the centre of mass (`frames` moves a body that is given in another); planar poses
are (x, y, angle), spatial ones (position, unit quaternion w-x-y-z, body to world). Gravity is a vector. Immutable and
checked when built; JSON both ways (`read_scene`, `write_scene`), JSON Schema by `schema.scene_schema()`, identity by
`content_hash`.
"""

import hashlib
import json
import math
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from scenarios import contact, frames, mass
from scenarios.bodies import AnyBody, PlanarBody, SpatialBody
from scenarios.boundaries import AnyBoundary, Bowl, HalfPlane, HalfSpace, HollowSphere, PlanarBoundary, SpatialBoundary
from scenarios.contact import (
    COMBINE,
    CombinationRule,
    CompliantContact,
    ContactLaw,
    ImpactLaw,
    ImpactOrder,
    Material,
    MaterialPair,
    PairLaw,
    widest_margin,
)
from scenarios.fields import Data, Rate2, Rate3, not_stated
from scenarios.forces import Damping, Spring, Thruster, is_driven
from scenarios.given_motion import PlanarGivenMotion, SpatialGivenMotion, given_bodies, given_state
from scenarios.joints import (
    AnyJoint,
    AxialJoint,
    Ball,
    Fixed,
    ForceMotor,
    Hinge,
    JointLimits,
    JointSpring,
    PlanarJoint,
    PositionMotor,
    Prismatic,
    Revolute,
    Rod,
    Rope,
    Slider,
    SpatialJoint,
    SpatialRod,
    SpatialRope,
    Track,
    VelocityMotor,
)
from scenarios.native import Native, lean
from scenarios.scene_error import SceneError, explain
from scenarios.shapes import (
    ArcPolygon,
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Disc,
    Ellipsoid,
    PlanarCompound,
    PlanarPiece,
    PlanarShape,
    Polygon,
    SpatialCompound,
    SpatialPiece,
    SpatialShape,
    Sphere,
    simple_shapes,
)

# fmt: off
__all__ = [  # noqa: RUF022, for this is the order in which one would teach them
    "Scene", "PlanarScene", "SpatialScene", "FORMAT", "SCENE",
    "PlanarBody", "SpatialBody", "PlanarGivenMotion", "SpatialGivenMotion", "PlanarShape", "SpatialShape",
    "Polygon", "Disc", "ArcPolygon", "Sphere", "Box", "Capsule", "Cylinder", "Ellipsoid", "ConvexMesh",
    "PlanarCompound", "PlanarPiece", "SpatialCompound", "SpatialPiece",
    "PlanarBoundary", "SpatialBoundary", "HalfPlane", "Bowl", "HalfSpace", "HollowSphere",
    "PlanarJoint", "SpatialJoint", "Revolute", "Prismatic", "Rod", "Rope", "Track", "Ball", "Hinge", "Slider",
    "Fixed", "SpatialRod", "SpatialRope", "JointSpring", "JointLimits", "PositionMotor", "VelocityMotor", "ForceMotor",
    "Damping", "Spring", "Thruster", "ContactLaw", "PairLaw", "CombinationRule", "ImpactLaw", "ImpactOrder",
    "CompliantContact", "Material", "MaterialPair",
    "parse_scene", "read_scene", "write_scene", "content_hash", "same_scene", "features", "colliding_pairs",
    "masses", "inertias", "planar_start", "spatial_start",
]
# fmt: on

FORMAT: Final = 2
MAX_BODIES = 20_000
MAX_FILE_BYTES = 64 * 2**20
NEW_JOINTS = (Track, Fixed, SpatialRod, SpatialRope)  # of format 2

# --- scenes ---------------------------------------------------------------------------------------


def _refer(path: str, name: str | None, known: set[str], kind: str) -> None:
    if name is not None and name not in known:
        raise ValueError(f"{path}: {name!r} is no {kind} of this scene; known: {', '.join(sorted(known)[:8])}")


class _Scene(Data):
    """What planar and spatial scenes share; bodies, boundaries and joints are theirs."""

    format: Literal[1, 2] = 1
    """2 where a body is a compound, was moved into its own frame, has a given motion or a margin, where a spring has a
    path, or a joint is a track, fixed, a rod or rope in space, or has something that acts along it, whatever is given:
    a scene without these keeps the identity that it had in format 1."""
    title: Annotated[str, Field(max_length=200)] = ""
    duration: Annotated[float, Field(strict=True, gt=0, le=1e4, allow_inf_nan=False)]
    damping: Damping = Damping()
    springs: tuple[Spring, ...] = ()
    thrusters: tuple[Thruster, ...] = ()
    contact: ContactLaw = ContactLaw()

    if TYPE_CHECKING:  # fields of either kind of scene, each with its own types

        @property
        def gravity(self) -> tuple[float, ...]: ...
        @property
        def bodies(self) -> tuple[AnyBody, ...]: ...
        @property
        def boundaries(self) -> tuple[AnyBoundary, ...]: ...
        @property
        def joints(self) -> tuple[AnyJoint, ...]: ...
        @property
        def native(self) -> Native | None: ...

    @model_validator(mode="after")
    def _has_bodies_in_their_own_frames(self) -> Self:
        for field, value in frames.moved(self).items():
            object.__setattr__(self, field, value)  # frozen, and made only now
        return self

    @model_validator(mode="after")
    def _has_the_format_that_it_needs(self) -> Self:
        has_more = is_driven(self) or any(isinstance(joint, NEW_JOINTS) for joint in self.joints)
        has_more |= any(isinstance(joint, AxialJoint) and (joint.is_driven or joint.start) for joint in self.joints)
        has_more |= getattr(self, "native", None) is not None
        has_more |= any(body.frame is not None or body.shape.kind == "compound" for body in self.bodies)
        has_more |= any(body.motion is not None for body in self.bodies)
        has_more |= widest_margin(self) > 0.0
        object.__setattr__(self, "format", FORMAT if has_more else 1)  # frozen, and made only now
        return self

    @model_validator(mode="after")
    def _something_moves(self) -> Self:
        if all(body.fixed for body in self.bodies):
            raise ValueError(f"bodies: none of the {len(self.bodies)} can move; a scene needs one free body")
        return self

    @model_validator(mode="after")
    def _names_are_distinct(self) -> Self:
        taken: dict[str, str] = {}
        members: list[tuple[str, AnyBody | AnyBoundary]] = [(f"bodies[{i}]", b) for i, b in enumerate(self.bodies)]
        members += [(f"boundaries[{i}]", boundary) for i, boundary in enumerate(self.boundaries)]
        for path, member in members:
            first = taken.setdefault(member.name, path)
            if first != path:
                raise ValueError(f"{path}.name: {member.name!r} is taken by {first}; give each a name of its own")
        return self

    @model_validator(mode="after")
    def _joints_tie_two(self) -> Self:
        names = {body.name for body in self.bodies}
        taken: dict[str, int] = {}
        for i, joint in enumerate(self.joints):
            first = taken.setdefault(joint.name, i)
            if first != i:
                raise ValueError(f"joints[{i}].name: {joint.name!r} is taken by joints[{first}]; give another")
            _refer(f"joints[{i}].a", joint.a, names, "body")
            _refer(f"joints[{i}].b", joint.b, names, "body")
            if joint.a == joint.b:
                raise ValueError(f"joints[{i}].b: {joint.b!r} is also a; a joint ties two bodies, or one to the world")
        return self

    @model_validator(mode="after")
    def _forces_act_on_bodies(self) -> Self:
        names = {body.name for body in self.bodies}
        for i, spring in enumerate(self.springs):
            _refer(f"springs[{i}].a", spring.a, names, "body")
            _refer(f"springs[{i}].b", spring.b, names, "body")
            self._check_dimension(f"springs[{i}].anchor_a", spring.anchor_a)
            self._check_dimension(f"springs[{i}].anchor_b", spring.anchor_b)
            for k, (_, point) in enumerate(spring.anchor_path or ()):
                self._check_dimension(f"springs[{i}].anchor_path[{k}]", point)
        for i, thruster in enumerate(self.thrusters):
            _refer(f"thrusters[{i}].body", thruster.body, names, "body")
            self._check_dimension(f"thrusters[{i}].anchor", thruster.anchor)
            self._check_dimension(f"thrusters[{i}].force", thruster.force)
        return self

    @model_validator(mode="after")
    def _describes_every_piece(self) -> Self:
        if self.native is not None:
            counts = [len(simple_shapes(body.shape)) for body in self.bodies] + [1] * len(self.boundaries)
            given = [len(one) for one in self.native.filters]
            if given != counts:
                raise ValueError(f"native.filters: for {sum(given)} pieces; allowed: one for each of the {sum(counts)}")
            known, most = {body.name for body in self.bodies}, sum(counts)
            for name in self.native.acted_on:
                _refer("native.acted_on", name, known, "body")
            if any(not 0 <= piece < most for pair in self.native.paired for piece in pair):
                raise ValueError(f"native.paired: beyond the pieces; allowed: 0 to {most - 1}")
        return self

    def _check_dimension(self, path: str, vector: tuple[float, ...]) -> None:
        if len(vector) != len(self.gravity):
            raise ValueError(f"{path}: {vector} has {len(vector)} coordinates; allowed: {len(self.gravity)}")

    @model_validator(mode="after")
    def _pair_laws_are_of_two(self) -> Self:
        names = {body.name for body in self.bodies} | {boundary.name for boundary in self.boundaries}
        given: dict[frozenset[str], int] = {}
        for i, pair in enumerate(self.contact.pairs):
            _refer(f"contact.pairs[{i}].a", pair.a, names, "body or boundary")
            _refer(f"contact.pairs[{i}].b", pair.b, names, "body or boundary")
            if pair.a == pair.b:
                raise ValueError(f"contact.pairs[{i}].b: {pair.b!r} is also a; a pair needs two")
            first = given.setdefault(frozenset((pair.a, pair.b)), i)
            if first != i:
                raise ValueError(f"contact.pairs[{i}]: {pair.a!r} and {pair.b!r} stand in pairs[{first}] already; once")
        return self

    @model_validator(mode="after")
    def _materials_meet_by_a_law(self) -> Self:
        if fault := contact.fault(self):
            raise ValueError(fault)
        return self

    def pair_law(self, a: AnyBody | AnyBoundary, b: AnyBody | AnyBoundary) -> tuple[float, float]:
        """(friction, restitution) of a pair of this scene's bodies or boundaries; where compliant, their materials'."""
        if self.contact.compliant is not None:
            law = self.contact.compliant.laws.get(frozenset((str(a.material), str(b.material))))
            return (law.sliding_friction, law.restitution) if law else (0.0, 0.0)  # none: the two never meet
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
    native: Annotated[Native | None, Field(exclude_if=not_stated)] = None
    """Of a scene that describes what a function has built in an engine, which that engine alone runs."""


class SpatialScene(_Scene):
    """z up."""

    dimension: Literal[3] = 3
    gravity: Rate3 = (0.0, 0.0, -9.81)
    bodies: Annotated[tuple[SpatialBody, ...], Field(min_length=1, max_length=MAX_BODIES)]
    boundaries: tuple[SpatialBoundary, ...] = ()
    joints: tuple[SpatialJoint, ...] = ()
    native: Annotated[Native | None, Field(exclude_if=not_stated)] = None
    """Of a scene that describes a model in an engine's own language, which that engine alone runs."""


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
    bodies = data.get("bodies")
    if isinstance(bodies, (list, tuple)) and len(bodies) > MAX_BODIES:  # each is not looked at before that is known
        raise SceneError(f"{where}: bodies: {len(bodies)} entries; allowed: at most {MAX_BODIES}")
    try:
        return SCENE.validate_python(data)
    except ValidationError as error:
        raise SceneError(f"{where}: {explain(error, SCENE)}") from None


def read_scene(path: Path) -> Scene:
    """The scene in a JSON file. Raises SceneError for whatever is wrong with it."""
    try:
        found = path.stat()
        size = found.st_size
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):  # a pipe may wait for ever
            raise SceneError(f"{path}: a device or a pipe, not a file; give the path of a scene file")
        if size > MAX_FILE_BYTES:
            raise SceneError(f"{path}: {size} bytes are too large for a scene; allowed: {MAX_FILE_BYTES}")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror}); give the path of a scene file") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{path}: byte {error.start} is not UTF-8; a scene is JSON text") from None

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise SceneError(f"{path}: field {key!r:.60} stands twice, again with {value!r:.40}; allowed: once")
            found[key] = value
        return found

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
    data = lean(scene).model_dump(mode="json", exclude={"title"})
    if scene.damping.quadratic == 0.0:  # younger than the format: scenes without it keep their identity
        del data["damping"]["quadratic"]
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


SAME_WITHIN = 1e-9
"""Relative: scenes are built with the C library's sines, whose last digits differ between processors."""


def same_scene(one: Scene, other: Scene) -> bool:
    """Whether they are the same but for the title and for round-off."""
    return same_data(*(lean(scene).model_dump(mode="json", exclude={"title"}) for scene in (one, other)))


def same_data(a: Any, b: Any) -> bool:
    """Likewise, of JSON data."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_data(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_data, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=SAME_WITHIN, abs_tol=SAME_WITHIN * 1e-3)
    return bool(a == b)


# --- what a scene asks of an engine -----------------------------------------------------------------


def features(scene: Scene) -> frozenset[str]:
    """Words for what an engine must represent: shape, boundary and joint kinds, laws, forces.

    Among them: "planar" | "spatial"; each `kind`; "concave-polygon"; "friction", "restitution" (some pair has
    them above 0); "damping", "springs", "thrusters"; "groups". A compliant law of contact is "compliant" and, where
    some pair has it, "rolling-resistance"; its coefficient of restitution is a part of it, and no "restitution".
    """
    found = {"planar" if isinstance(scene, PlanarScene) else "spatial"}
    simple = {shape for body in scene.bodies for shape in simple_shapes(body.shape)}
    found |= {body.shape.kind for body in scene.bodies} | {shape.kind for shape in simple}
    found |= {boundary.kind for boundary in scene.boundaries} | {joint.kind for joint in scene.joints}
    members, given = (*scene.bodies, *scene.boundaries), scene.contact.compliant
    if given:
        laws = [(pair.sliding_friction, 0.0) for pair in given.pairs]
    elif len(members) <= 200:
        laws = [scene.pair_law(a, b) for a, b in _colliding_pairs(scene)]
    else:
        laws = [(p.friction or 0.0, p.restitution or 0.0) for p in (*members, *scene.contact.pairs)]
    there = {
        "concave-polygon": any(isinstance(shape, Polygon) and not shape.is_convex for shape in simple),
        "friction": any(mu > 0 for mu, _ in laws),
        "restitution": any(e > 0 for _, e in laws),
        "compliant": given,
        "rolling-resistance": given and any(pair.rolling_resistance > 0 for pair in given.pairs),
        "damping": scene.damping != Damping(),
        "springs": scene.springs,
        "thrusters": scene.thrusters,
        "groups": any(body.group for body in scene.bodies),
    }
    return frozenset(found | {name for name, it_is in there.items() if it_is})


def _colliding_pairs(scene: Scene) -> list[tuple[Any, Any]]:
    native: Native | None = getattr(scene, "native", None)
    if native is not None:
        members = (*scene.bodies, *scene.boundaries)
        return [(members[a], members[b]) for a, b in native.pairs([getattr(one, "fixed", True) for one in members])]
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
    for i in given_bodies(scene):
        twist[i] = given_state(scene.bodies[i], 0.0)[1]
    return pose, twist


def spatial_start(scene: SpatialScene) -> tuple[NDArray[np.float64], ...]:
    """Position (B, 3), orientation (B, 4), velocity (B, 3), spin (B, 3) at time 0."""
    velocity = np.array([body.velocity for body in scene.bodies])
    spin = np.array([body.spin for body in scene.bodies])
    for i in given_bodies(scene):
        velocity[i], spin[i] = given_state(scene.bodies[i], 0.0)[2:]
    position = np.array([body.position for body in scene.bodies])
    return position, np.array([body.orientation for body in scene.bodies]), velocity, spin
