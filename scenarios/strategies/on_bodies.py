"""Arrangements on a fixed body in place of a plane: a block, a plate, a drum, a prism; rods that lie side by side and
across one another; what starts wholly in a thick block.

Engines have other code for a plane than for two bodies, and most of what is known against them is of two bodies.
Contact is to the last bit where it is on the plane. Shrinking goes towards a wide, thick block.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from reference_engine.dense import norm
from scenarios import mass
from scenarios.boundaries import HalfPlane, HalfSpace
from scenarios.catalogue.shared.bodies import Body, rectangle
from scenarios.scene import Box, Capsule, Cylinder, PlanarGivenMotion, Scene, SpatialBody, SpatialGivenMotion
from scenarios.strategies.allowed import Allowed, G, body_at, plane, scene_of
from scenarios.strategies.spatial import ORIENTATIONS, prism
from scenarios.strategies.stacks import upright
from scenarios.strategies.values import GRID, MASSES

Draw = Callable[[st.SearchStrategy[Any]], Any]
BASES = ("box", "cylinder", "convex-mesh", "polygon")
WIDER = (
    2.0,
    1.0,
    0.5,
)  # half width of a base by that of the scene: at 0.5 what is outermost is beside it
THICKNESS = (0.5, 0.125, 1.0 / 32.0)  # of a base by its half width
CORNERS = (4, 6, 16, 64)  # of a prism
RODS = ("box", "capsule", "cylinder")
RADII = (0.125, 0.5)  # m, of rods
SLENDER = (4.0, 2.0, 16.0)  # length of a rod by its radius
SPACED = (2.0, 3.0, 8.0)  # distance of the middles of two rods side by side, by their radius
ABOVE = (0, 0, 1, 64)  # in 1/1024 m
ALONG_Y, ALONG_X = ORIENTATIONS[1], ORIENTATIONS[2]  # of what is long along z
THICK = 4.0  # depth of the block in which a body starts, by how deep that is: it is nearest to the upper face
RESTING = (1.0, 2.0, 4.0)  # s: what creeps or rocks in place of resting takes its time
LONG = (1.0, 2.0)  # s: to fall through that block takes most of a second
SIDE = (0.25, 0.5, 0.125)  # m, of these
MARGINS = (0.0625, 0.015625)  # of a body's side
PACES = (1.0, 0.25, 4.0)  # m/s or m/s^2, of a base that moves
SWINGS = (4.0, 8.0, 16.0)  # rad/s
TURNS = (0.25, 1.0, -2.0)  # rad/s
SUNK = (0.5, 1.0, 2.0, 3.0)  # of their sides, below the surface


def stands_on_a_plane(scene: Scene) -> bool:
    """On the level one through the origin, and on nothing else."""
    if len(scene.boundaries) != 1 or scene.joints:
        return False
    ground = scene.boundaries[0]
    level = isinstance(ground, (HalfPlane, HalfSpace)) and ground.normal[-1] == 1.0
    return level and not any(body.fixed for body in scene.bodies) and not any(scene.gravity[:-1])


@st.composite
def on_a_body(draw: Draw, allowed: Allowed, scenes: st.SearchStrategy[Scene]) -> Scene:
    """One of the scenes, on a fixed body whose face is where the plane was."""
    scene = draw(scenes.filter(stands_on_a_plane))
    ground = scene.boundaries[0]
    spread = max(_beside(body) + mass.bounding_radius(body.shape) for body in scene.bodies)
    half = draw(st.sampled_from(WIDER)) * spread
    kind = draw(st.sampled_from([kind for kind in BASES if kind in allowed.shapes]))
    thickness = draw(st.sampled_from(THICKNESS)) * half
    base = _base(kind, half, thickness, draw(st.sampled_from(CORNERS)))
    surface = {"friction": ground.friction, "restitution": ground.restitution}
    more: dict[str, Any] = {"bodies": (_fixed(base, thickness, surface), *scene.bodies), "boundaries": ()}
    if not any(np.any(body.velocity) or np.any(body.spin) for body in scene.bodies):
        more["duration"] = draw(st.sampled_from(RESTING))
    return scene.model_copy(update=more)


@st.composite
def carried(draw: Draw, allowed: Allowed, scenes: st.SearchStrategy[Scene]) -> Scene:
    """On a block that moves by a plan: steadily, ever faster, to and fro, by knots, along the level or up and down; one
    in four turns as well."""
    scene = draw(on_a_body(allowed, scenes))
    ground, *others = scene.bodies
    axis = draw(st.sampled_from((0, 0, len(scene.gravity) - 1)))

    def along(size: float) -> tuple[float, ...]:
        return tuple(size if k == axis else 0.0 for k in range(len(scene.gravity)))

    kind = draw(st.sampled_from(("steady", "faster", "swings", "knots")))
    given: dict[str, Any] = {}
    if kind == "steady":
        given["velocity"] = along(draw(st.sampled_from(PACES)))
    elif kind == "faster":
        given["acceleration"] = along(draw(st.sampled_from(PACES)))
    elif kind == "knots":
        speeds = (0.0, draw(st.sampled_from(PACES)), draw(st.sampled_from(PACES)), 0.0)
        times = itertools.accumulate(draw(st.sampled_from((0.1, 0.25, 0.5))) for _ in speeds)
        given["knots"] = tuple((time, *along(speed)) for time, speed in zip(times, speeds))
    else:
        frequency = draw(st.sampled_from(SWINGS))
        share = draw(st.sampled_from((0.25, 0.5, 2.0 if axis == 0 else 0.75)))  # of g; beyond it nothing stays
        given = {"frequency": frequency, "amplitude": along(share * G / (frequency * frequency))}
        given["phase"] = draw(st.sampled_from((0.5 * math.pi, 0.0)))
    if draw(st.sampled_from((False, False, False, True))):
        spin = draw(st.sampled_from(TURNS))
        about = draw(st.sampled_from(((0.0, spin, 0.0), (0.0, 0.0, spin))))
        given["spin"] = spin if scene.dimension == 2 else about
    motion = (PlanarGivenMotion if scene.dimension == 2 else SpatialGivenMotion)(**given)
    data = {"bodies": (ground.model_copy(update={"motion": motion}), *others), "format": 2}
    return scene.model_copy(update=data)


@st.composite
def standing_off(draw: Draw, allowed: Allowed) -> Scene:
    """Blocks or balls one above the other, that stand off one another and their ground; let go there, or dropped."""
    kind = draw(st.sampled_from([kind for kind in (allowed.block, allowed.round) if kind]))
    side, surface = draw(st.sampled_from(SIDE)), draw(allowed.surfaces)
    margin = draw(st.sampled_from(MARGINS)) * side
    bodies: list[Body] = []
    top = 0.0
    for i in range(draw(st.integers(1, 3))):
        top += 2.0 * margin + draw(st.sampled_from((0.0, 0.0, 0.25))) * side
        mass_of = draw(st.sampled_from(MASSES))
        shape = upright(kind, side, side)
        bodies.append(body_at(f"body {i + 1}", shape, 0.0, top + 0.5 * side, mass=mass_of, margin=margin, **surface))
        top += side
    ground = plane(allowed.space, "ground", surface).model_copy(update={"margin": margin})
    return scene_of(allowed.space, bodies, [ground], draw(st.sampled_from(RESTING)))


@st.composite
def lying(draw: Draw, allowed: Allowed) -> Scene:
    """Layers of equal rods side by side, in contact or apart, each layer across the one below or along it; thrown
    along, or at rest."""
    kind = draw(st.sampled_from([kind for kind in RODS if kind in allowed.shapes]))
    radius = draw(st.sampled_from(RADII))
    length = draw(st.sampled_from(SLENDER)) * radius
    pitch = draw(st.sampled_from(SPACED)) * radius
    across, surface = draw(st.booleans()), draw(allowed.surfaces)
    speed = draw(st.sampled_from((0.0, 0.0, 1.0)))
    bodies: list[Body] = []
    top = 0.0
    for layer in range(draw(st.integers(1, 3))):
        top += draw(st.sampled_from(ABOVE)) / GRID
        along_x = across and layer % 2 == 1
        count, kilograms = draw(st.integers(1, 3)), draw(st.sampled_from(MASSES))
        for i in range(count):
            off = pitch * (i - (count - 1) / 2.0)
            bodies.append(
                SpatialBody(
                    name=f"rod {len(bodies) + 1}",
                    shape=_rod(kind, radius, length),
                    mass=kilograms,
                    position=(0.0, off, top + radius) if along_x else (off, 0.0, top + radius),
                    orientation=ALONG_X if along_x else ALONG_Y,
                    velocity=(0.0, speed, 0.0) if layer == 0 else (0.0, 0.0, 0.0),
                    **surface,
                )
            )
        top += 2.0 * radius
    ground = plane(allowed.space, "ground", surface)
    return scene_of(allowed.space, bodies, [ground], draw(st.sampled_from(RESTING)))


@st.composite
def sunk(draw: Draw, allowed: Allowed) -> Scene:
    """One body that starts partly or wholly in a thick fixed block, near its upper face: that is the short way out."""
    side, depth = draw(st.sampled_from(SIDE)), draw(st.sampled_from(SUNK))
    kind = draw(st.sampled_from([kind for kind in (*BASES, "sphere", "disc") if kind in allowed.shapes]))
    surface = draw(allowed.surfaces)
    x, up = draw(st.sampled_from((0.0, 0.5))) * side, (0.5 - depth) * side
    shape = upright(kind, side, side)
    body = body_at("body", shape, x, up, mass=draw(st.sampled_from(MASSES)), **surface)
    if isinstance(body, SpatialBody):
        body = body.model_copy(update={"orientation": draw(st.sampled_from(ORIENTATIONS))})
    thick = THICK * max(side, -up)
    base = _fixed(_base(str(allowed.block), thick, thick, 4), thick, surface)
    return scene_of(allowed.space, [base, body], [], draw(st.sampled_from(LONG)))


def _beside(body: Body) -> float:
    """m: how far the middle of a body is from the origin, seen from above."""
    return float(norm(np.array(body.position[:-1])))


def _base(kind: str, half: float, thickness: float, corners: int) -> Any:
    """So thick, and reaching so far to all sides, m."""
    match kind:
        case "box":
            return Box(size=(2.0 * half, 2.0 * half, thickness))
        case "cylinder":
            return Cylinder(radius=half, length=thickness)
        case "convex-mesh":
            return prism(corners, half, thickness)
        case _:
            return rectangle(2.0 * half, thickness)


def _fixed(shape: Any, thickness: float, surface: Mapping[str, float]) -> Body:
    """Its upper face at the height 0."""
    return body_at("ground", shape, 0.0, -thickness / 2.0, mass=None, fixed=True, **surface)


def _rod(kind: str, radius: float, length: float) -> Any:
    """Long along z."""
    match kind:
        case "box":
            return Box(size=(2.0 * radius, 2.0 * radius, length))
        case "capsule":
            return Capsule(radius=radius, length=length)
        case _:
            return Cylinder(radius=radius, length=length)


def arrangements(
    allowed: Allowed, standing: Sequence[st.SearchStrategy[Scene]], deep: Sequence[st.SearchStrategy[Scene]]
) -> dict[str, st.SearchStrategy[Scene]]:
    """By name, those for which all that they need is allowed. `standing`: scenes on a plane; `deep`: those that start
    in it."""
    found: dict[str, st.SearchStrategy[Scene]] = {}
    if allowed.space == "spatial" and "half-space" in allowed.boundaries and allowed.shapes & {*RODS}:
        found["lying"] = lying(allowed)
        standing = [*standing, found["lying"]]
    if allowed.fixed and allowed.shapes & {*BASES}:
        on_plane = {"on a body": standing, "deep start on a body": deep}
        found |= {name: on_a_body(allowed, st.one_of(scenes)) for name, scenes in on_plane.items() if scenes}
        if allowed.moved and standing:
            found["carried"] = carried(allowed, st.one_of(standing))
    if allowed.margins and (allowed.block or allowed.round):
        found["standing off"] = standing_off(allowed)
    if allowed.fixed and allowed.block:
        found["sunk"] = sunk(allowed)
    return found
