"""What drawn scenes may have, by what the engine takes that is to be tried; and of what arrangements are made."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from scenarios.boundaries import HalfPlane, HalfSpace
from scenarios.catalogue.shared.bodies import Body, Space
from scenarios.scene import PlanarBody, PlanarScene, Scene, SpatialBody, SpatialScene
from scenarios.strategies import values

G = 9.81  # m/s^2
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Kinds of shapes, boundaries and joints of one space; whether pairs may have friction and restitution, and bodies
    be fixed, have a given motion, or margins."""

    space: Space
    shapes: frozenset[str]
    boundaries: frozenset[str] = field(default_factory=frozenset)
    joints: frozenset[str] = field(default_factory=frozenset)
    along: frozenset[str] = field(default_factory=frozenset)
    """What may act along hinges and sliders: spring, damping, friction, limits, motor."""
    friction: bool = True
    restitution: bool = True
    fixed: bool = False
    moved: bool = False
    margins: bool = False

    @property
    def round(self) -> str | None:
        """The kind of a ball, if one is allowed."""
        kind = "disc" if self.space == "planar" else "sphere"
        return kind if kind in self.shapes else None

    @property
    def block(self) -> str | None:
        """The kind of a block, likewise."""
        kind = "polygon" if self.space == "planar" else "box"
        return kind if kind in self.shapes else None

    @property
    def surfaces(self) -> st.SearchStrategy[dict[str, Any]]:
        """Friction and restitution of all bodies and boundaries of a scene."""
        return st.fixed_dictionaries(
            {
                "friction": values.frictions(wanted=self.friction),
                "restitution": values.restitutions(wanted=self.restitution),
            }
        )


def body_at(name: str, shape: Any, x: float, up: float, across: float = 0.0, **more: Any) -> Body:
    """At (x, up) in the plane, at (x, across, up) in space, as the shape is of one or the other; of 1 kg.

    `more`: fields of the body; `velocity` is (along x, up).
    """
    vx, vz = more.pop("velocity", (0.0, 0.0))
    more = {"mass": 1.0} | more
    if shape.kind in ("polygon", "disc", "arc-polygon"):
        return PlanarBody(name=name, shape=shape, position=(x, up), velocity=(vx, vz), **more)
    return SpatialBody(name=name, shape=shape, position=(x, across, up), velocity=(vx, 0.0, vz), **more)


def plane(
    space: Space,
    name: str,
    surface: dict[str, Any],
    normal: Sequence[float] = (0.0, 1.0),
    at: Sequence[float] = (0, 0),
) -> HalfPlane | HalfSpace:
    """Through (x, up), with the normal (x, up); in space it goes on across."""
    (x, up), (nx, nz) = at, normal
    if space == "planar":
        return HalfPlane(name=name, point=(x, up), normal=(nx, nz), **surface)
    return HalfSpace(name=name, point=(x, 0.0, up), normal=(nx, 0.0, nz), **surface)


def scene_of(
    space: Space, bodies: Sequence[Body], boundaries: Sequence[Any], duration: float, g: float = G, **more: Any
) -> Scene:
    common = {"duration": duration, "bodies": tuple(bodies), "boundaries": tuple(boundaries), **more}
    if space == "planar":
        return PlanarScene(gravity=(0.0, 0.0 - g), **common)
    return SpatialScene(gravity=(0.0, 0.0, 0.0 - g), **common)
