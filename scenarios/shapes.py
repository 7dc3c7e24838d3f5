"""The shapes of bodies, in the body frame: what describes each, and what makes one a shape at all.

Planar: polygon, disc, polygon with arcs for edges. Spatial: sphere, box, capsule, cylinder, ellipsoid, convex mesh.
Either: a compound of several of them. SI. In a scene the origin is the centre of mass: `frames` moves what is not so.
"""

from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from reference_engine.geometry.polygon import is_convex
from scenarios import mass
from scenarios.fields import (
    MIN_SIZE,
    Data,
    Number,
    Point2,
    Point3,
    Positive,
    Quaternion,
    Size,
    check_unit_quaternion,
    not_stated,
)

MOST_PIECES = 1000
MOST_CORNERS = 10_000  # of a hull: those that models ship have some thousands
SIMPLE = "distinct corners, counter-clockwise, no edge meeting another"


class Polygon(Data):
    """Simple polygon, convex or concave, counter-clockwise."""

    kind: Literal["polygon"] = "polygon"
    vertices: Annotated[tuple[Point2, ...], Field(min_length=3, max_length=1000)]

    @model_validator(mode="after")
    def _is_simple(self) -> Self:
        if fault := mass.polygon_fault(self.vertices):
            raise ValueError(f"vertices: {fault}; allowed: {SIMPLE}")
        if mass.bounding_radius(self) < MIN_SIZE:
            raise ValueError(f"vertices: all within {MIN_SIZE:g} m of the origin; allowed: a larger polygon")
        return self

    @cached_property
    def is_convex(self) -> bool:
        return is_convex(self.vertices)


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
    points: Annotated[tuple[Point3, ...], Field(min_length=4, max_length=MOST_CORNERS)]

    @model_validator(mode="after")
    def _spans_space(self) -> Self:
        if fault := mass.mesh_fault(self.points):
            raise ValueError(f"points: {fault}")
        return self


class PlanarPiece(Data):
    """A shape of a compound, with its pose in the frame of the body."""

    shape: Annotated[Polygon | Disc, Field(discriminator="kind")]
    position: Point2 = (0.0, 0.0)
    angle: Number = 0.0
    density: Annotated[Positive | None, Field(exclude_if=not_stated)] = None
    """kg/m^2; of a body whose mass is given only the ratio to other pieces counts, where it is left out 1."""


class PlanarCompound(Data):
    """Several shapes that move as one. Where they overlap their mass counts twice."""

    kind: Literal["compound"] = "compound"
    pieces: Annotated[tuple[PlanarPiece, ...], Field(min_length=1, max_length=MOST_PIECES)]


class SpatialPiece(Data):
    """A shape of a compound, with its pose in the frame of the body."""

    shape: Annotated[Sphere | Box | Capsule | Cylinder | Ellipsoid | ConvexMesh, Field(discriminator="kind")]
    position: Point3 = (0.0, 0.0, 0.0)
    orientation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    density: Annotated[Positive | None, Field(exclude_if=not_stated)] = None
    """kg/m^3; of a body whose mass is given only the ratio to other pieces counts, where it is left out 1."""

    @model_validator(mode="after")
    def _is_turned(self) -> Self:
        check_unit_quaternion(self.orientation)
        return self


class SpatialCompound(Data):
    """Several shapes that move as one. Where they overlap their mass counts twice."""

    kind: Literal["compound"] = "compound"
    pieces: Annotated[tuple[SpatialPiece, ...], Field(min_length=1, max_length=MOST_PIECES)]


PlanarShape = Annotated[Polygon | Disc | ArcPolygon | PlanarCompound, Field(discriminator="kind")]
SpatialShape = Annotated[
    Sphere | Box | Capsule | Cylinder | Ellipsoid | ConvexMesh | SpatialCompound, Field(discriminator="kind")
]


def simple_shapes(shape: Any) -> tuple[Any, ...]:
    """The shapes of a compound's pieces; of any other shape, itself."""
    return tuple(piece.shape for piece in shape.pieces) if shape.kind == "compound" else (shape,)
