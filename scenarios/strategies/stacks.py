"""Arrangements whose contacts are exact by construction: towers, rows, pyramids, what is poised on a corner, an edge or
a rim; and such things in a container, between walls and on an incline.

Where it can be, contact is to the last bit, else to round-off. Shrinking goes towards one upright unit block at rest,
without friction and restitution.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from reference_engine import elementary
from scenarios.boundaries import Bowl, HollowSphere
from scenarios.catalogue.shared.bodies import Body, Space, rectangle, turned
from scenarios.scene import Box, Capsule, Cylinder, Disc, Ellipsoid, Scene, SpatialBody, Sphere
from scenarios.strategies.allowed import UPRIGHT, Allowed, body_at, plane, scene_of
from scenarios.strategies.spatial import Quaternion, prism
from scenarios.strategies.values import DURATIONS, GRID, MASSES

Draw = Callable[[st.SearchStrategy[Any]], Any]
FLAT = ("polygon", "box", "cylinder", "convex-mesh")
"""Shapes that others stand on."""
WIDTHS = (1.0, 0.25, 4.0)  # m
LEANEST, WIDEST = 1.0 / 16.0, 4.0  # m, of what gets narrower or wider from level to level
LIGHTEST, HEAVIEST = min(MASSES), max(MASSES)
GROWTH = (1.0, 0.5, 2.0, 0.75)  # of the width from a level to the next
HEAVIER = (1.0, 0.1, 10.0)  # of the mass, likewise
PROPORTIONS = (1.0, 0.25, 1.0 / 32.0, 3.0)  # height by width: a cube, a brick, a plate, a column
OFFSETS = (0.0, 0.125, 0.25, 0.375, 0.5)  # of the width of what is below; at 0.5 over its edge
TURNS = (0.0, math.pi / 4.0, 0.1, 0.001)  # rad about the vertical, of every other level
ALMOST = (0, 0, 1)  # in 1/1024 m, the gap
SPEEDS = (0.0, 1.0, 5.0)  # m/s
CORNERS = (6, 4, 3, 32, 64)  # of a prism
TILTS = (0.1, 0.3, math.pi / 6.0, math.pi / 4.0, 1.0)  # rad, of an incline
BY_TANGENT = (0.0, 0.9, 1.1, 2.0)  # friction by the tangent of the incline: slides, just slides, just stays, stays
SHARES = (0.125, 0.5, 0.25, 0.75)  # radius of what is in a container, by the container's
RADII = (4.0, 1.0)  # m, of containers


class Level(NamedTuple):
    shape: Any
    mass: float
    width: float  # m
    height: float  # m
    x: float  # m, of the centre
    up: float  # m, of the centre above the foot of the tower
    turn: float  # rad about the vertical


@st.composite
def towers(draw: Draw, allowed: Allowed) -> Scene:
    """Each on the one below: aligned or offset, wider or narrower, heavier or lighter; the top may be round."""
    levels = draw(_levels(allowed, most=6))
    bodies = [_standing(allowed.space, i, level) for i, level in enumerate(levels)]
    return _on_ground(draw, allowed, bodies)


@st.composite
def rows(draw: Draw, allowed: Allowed) -> Scene:
    """Equal balls or blocks side by side in contact, on the ground or afloat; one end may be thrown at the others, from
    where it is or from a little apart, and be heavier."""
    kind = draw(st.sampled_from([kind for kind in (allowed.block, allowed.round) if kind]))
    count, width = draw(st.integers(2, 5)), draw(st.sampled_from(WIDTHS))
    gap, speed = draw(st.sampled_from((0, 1, 64))) / GRID, draw(st.sampled_from(SPEEDS))
    first = draw(st.sampled_from(HEAVIER))
    shape = upright(kind, width, width)
    bodies = [body_at("body 1", shape, -gap, width / 2.0, mass=first, velocity=(speed, 0.0))]
    bodies += [body_at(f"body {i + 1}", shape, width * i, width / 2.0) for i in range(1, count)]
    return _on_ground(draw, allowed, bodies, afloat=draw(st.booleans()))


@st.composite
def pyramids(draw: Draw, allowed: Allowed) -> Scene:
    """Balls of one radius, each in the hollow between those below."""
    r, top = draw(st.sampled_from(WIDTHS)) / 2.0, draw(st.sampled_from(HEAVIER))
    if allowed.space == "planar":
        base = draw(st.integers(2, 4))
        centres = [((2 * i + k) * r, r + k * math.sqrt(3.0) * r, 0.0) for k in range(base) for i in range(base - k)]
    else:
        count = draw(st.integers(3, 4))
        away, height = (2.0 / math.sqrt(3.0), math.sqrt(8.0 / 3.0)) if count == 3 else (math.sqrt(2.0),) * 2
        turns = [2.0 * math.pi * i / count for i in range(count)]
        centres = [(away * r * _cos(turn), r, away * r * _sin(turn)) for turn in turns]
        centres.append((0.0, r + height * r, 0.0))
    shape = upright(str(allowed.round), 2.0 * r, 2.0 * r)
    bodies = [body_at(f"body {i + 1}", shape, x, up, across) for i, (x, up, across) in enumerate(centres)]
    bodies[-1] = bodies[-1].model_copy(update={"mass": top})
    return _on_ground(draw, allowed, bodies)


@st.composite
def poised(draw: Draw, allowed: Allowed) -> Scene:
    """On a corner, an edge or a rim, the centre of mass above it; on the ground, on a block, or on others that stand
    so: corner on corner, edge on edge or across it."""
    proportion, width = draw(st.sampled_from(PROPORTIONS[:2])), draw(st.sampled_from(WIDTHS))
    size = (width, width, proportion * width)
    if allowed.space == "planar":
        shape: Any = rectangle(size[0], size[2])
        furthest: tuple[float, ...] = (size[0] / 2.0, 0.0, size[2] / 2.0)
    else:
        kind = draw(st.sampled_from([kind for kind in ("box", "cylinder") if kind in allowed.shapes]))
        shape = upright(kind, width, size[2])
        on_corner = kind == "box" and draw(st.booleans())
        furthest = (size[0] / 2.0, size[1] / 2.0 if on_corner else 0.0, size[2] / 2.0)
    half, base = math.hypot(*furthest), 0.0
    bodies: list[Body] = []
    if allowed.block and draw(st.booleans()):
        base = width
        bodies.append(body_at("base", upright(allowed.block, 2.0 * width, base), 0.0, base / 2.0, mass=10.0))
    crossed = draw(st.booleans())
    for i in range(draw(st.integers(1, 3))):
        more: dict[str, Any] = {"mass": draw(st.sampled_from(HEAVIER))}
        if allowed.space == "planar":
            more["angle"] = float(elementary.atan2(furthest[0], furthest[2]))
        else:
            more["orientation"] = _product(about_vertical(math.pi / 2.0 * (crossed and i % 2)), _raised(furthest))
        bodies.append(body_at(f"body {i + 1}", shape, 0.0, base + (2 * i + 1) * half, **more))
    return _on_ground(draw, allowed, bodies)


@st.composite
def contained(draw: Draw, allowed: Allowed) -> Scene:
    """In a bowl or a hollow sphere: one at the bottom, more on it.

    None that fills it: many engines have containers of facets, and it would be in contact with each of them.
    """
    R = draw(st.sampled_from(RADII))
    kind = draw(st.sampled_from([kind for kind in (allowed.round, allowed.block) if kind]))
    width, speed = 2.0 * R * draw(st.sampled_from(SHARES)), draw(st.sampled_from(SPEEDS))
    spread = width / 2.0 * (1.0 if allowed.space == "planar" else math.sqrt(2.0))
    if kind == allowed.round:
        bottom, height = -R, width
    else:
        width *= 0.5  # a block's corners are further away than half its width
        bottom, height = -math.sqrt((R - spread / 2.0) * (R + spread / 2.0)), width
    most = int((R - width - bottom) // height)  # the topmost stays below the middle, or is alone
    count = draw(st.integers(1, max(1, min(3, most))))
    shape = upright(kind, width, height)
    bodies = [
        body_at(f"body {i + 1}", shape, 0.0, bottom + (i + 0.5) * height, velocity=(0.0 if i else speed, 0.0))
        for i in range(count)
    ]
    surface = draw(allowed.surfaces)
    bodies = [body.model_copy(update=surface) for body in bodies]
    container = Bowl if allowed.space == "planar" else HollowSphere
    boundary = container(name="container", radius=R, **surface)
    return scene_of(allowed.space, bodies, [boundary], draw(st.sampled_from(DURATIONS)))


@st.composite
def walled(draw: Draw, allowed: Allowed) -> Scene:
    """A column between two walls, in a corner of ground and wall, or one body in a groove; in contact with all of it.

    In a shaft without ground there is no friction: with it, whether the walls squeeze is nobody's to know.
    """
    kind = draw(st.sampled_from([kind for kind in (allowed.block, allowed.round) if kind]))
    width, where = draw(st.sampled_from(WIDTHS)), draw(st.sampled_from(("corner", "walls", "shaft", "groove")))
    shape, surface, gap = upright(kind, width, width), draw(allowed.surfaces), draw(st.sampled_from(ALMOST)) / GRID
    half, space = width / 2.0, allowed.space
    if where == "shaft":
        surface = surface | {"friction": 0.0}
    if where == "groove":
        up = half * (math.sqrt(2.0) if kind == allowed.round else 1.0)
        turn = 0.0 if kind == allowed.round else math.pi / 4.0
        up *= 1.0 if kind == allowed.round else math.sqrt(2.0)
        bodies = [_turned(body_at("body 1", shape, 0.0, up), turn)]
        s = math.sqrt(0.5)
        boundaries = [plane(space, "left", surface, (s, s)), plane(space, "right", surface, (-s, s))]
    else:
        count = draw(st.integers(1, 3))
        masses = [draw(st.sampled_from(HEAVIER)) for _ in range(count)]
        bodies = [body_at(f"body {i + 1}", shape, 0.0, (i + 0.5) * width, mass=m) for i, m in enumerate(masses)]
        boundaries = [plane(space, "left", surface, (1.0, 0.0), (-half - gap, 0.0))]
        if where != "corner":
            boundaries.append(plane(space, "right", surface, (-1.0, 0.0), (half + gap, 0.0)))
        if where != "shaft":
            boundaries.append(plane(space, "ground", surface))
    return scene_of(
        space, [one.model_copy(update=surface) for one in bodies], boundaries, draw(st.sampled_from(DURATIONS))
    )


@st.composite
def inclined(draw: Draw, allowed: Allowed) -> Scene:
    """A tower or a ball on an incline, whose friction is above or below its tangent."""
    tilt = draw(st.sampled_from(TILTS)) * draw(st.sampled_from((1.0, -1.0)))
    levels = draw(_levels(allowed, most=3))
    surface, s, c = draw(allowed.surfaces), _sin(tilt), _cos(tilt)
    if allowed.friction:
        surface = surface | {"friction": draw(st.sampled_from(BY_TANGENT)) * abs(s / c)}
    bodies = []
    for i, level in enumerate(levels):
        body = _standing(allowed.space, i, level)
        x, up = body.position[0], body.position[-1]
        along, height = c * x - s * up, s * x + c * up
        at = (along, height) if allowed.space == "planar" else (along, 0.0, height)
        bodies.append(_turned(body.model_copy(update=surface | {"position": at}), tilt))
    slope = plane(allowed.space, "incline", surface, (0.0 - s, c))
    return scene_of(allowed.space, bodies, [slope], draw(st.sampled_from(DURATIONS)))


# --- of what they are made --------------------------------------------------------------------------------------------


@st.composite
def _levels(draw: Draw, allowed: Allowed, most: int) -> list[Level]:
    count = draw(st.integers(1, most))
    width, growth = draw(st.sampled_from(WIDTHS)), draw(st.sampled_from(GROWTH))
    mass, heavier = draw(st.sampled_from(MASSES)), draw(st.sampled_from(HEAVIER))
    proportion, offset = draw(st.sampled_from(PROPORTIONS)), draw(st.sampled_from(OFFSETS))
    zigzag, turn = draw(st.booleans()), draw(st.sampled_from(TURNS)) if allowed.space == "spatial" else 0.0
    flat, every = [[kind for kind in kinds if kind in allowed.shapes] for kinds in (FLAT, STANDING)]
    levels: list[Level] = []
    x = top = 0.0
    for i in range(count):
        kind = draw(st.sampled_from(every if i == count - 1 else flat or every))
        height = width if kind in ("disc", "sphere") else proportion * width
        if kind == "capsule":
            height += width / 2.0
        gap = draw(st.sampled_from(ALMOST)) / GRID
        corners = draw(st.sampled_from(CORNERS)) if kind == "convex-mesh" else 0
        levels.append(
            Level(
                upright(kind, width, height, corners), mass, width, height, x, top + gap + height / 2.0, turn * (i % 2)
            )
        )
        top += gap + height
        x += offset * width * (-1.0 if zigzag and i % 2 else 1.0)
        width = min(WIDEST, max(LEANEST, width * growth))
        mass = min(HEAVIEST, max(LIGHTEST, mass * heavier))
        if kind not in FLAT:
            break
    return levels


STANDING = (*FLAT, "disc", "sphere", "capsule", "ellipsoid")


def upright(kind: str, width: float, height: float, corners: int = 6) -> Any:
    """Upright, of this width and height; balls are as high as wide."""
    match kind:
        case "polygon":
            return rectangle(width, height)
        case "disc":
            return Disc(radius=width / 2.0)
        case "sphere":
            return Sphere(radius=width / 2.0)
        case "box":
            return Box(size=(width, width, height))
        case "cylinder":
            return Cylinder(radius=width / 2.0, length=height)
        case "capsule":
            return Capsule(radius=width / 4.0, length=height - width / 2.0)
        case "ellipsoid":
            return Ellipsoid(semi_axes=(width / 2.0, width / 2.0, height / 2.0))
        case _:
            return prism(corners, width / 2.0, height)


def _standing(space: Space, i: int, level: Level) -> Body:
    more: dict[str, Any] = {} if space == "planar" else {"orientation": about_vertical(level.turn)}
    return body_at(f"body {i + 1}", level.shape, level.x, level.up, mass=level.mass, **more)


def _on_ground(draw: Draw, allowed: Allowed, bodies: Sequence[Body], afloat: bool = False) -> Scene:
    surface = draw(allowed.surfaces)
    bodies = [body.model_copy(update=surface) for body in bodies]
    ground = [] if afloat else [plane(allowed.space, "ground", surface)]
    return scene_of(allowed.space, bodies, ground, draw(st.sampled_from(DURATIONS)), **({"g": 0.0} if afloat else {}))


def _turned(body: Body, angle: float) -> Body:
    """By an angle, rad, from x towards up."""
    if isinstance(body, SpatialBody):
        return body.model_copy(update={"orientation": _product(turned(angle), body.orientation)})
    return body.model_copy(update={"angle": angle})


def _raised(v: Sequence[float]) -> Quaternion:
    """The shortest turn that carries v to straight up; v has a positive last component."""
    x, y, z = v
    parts = (math.hypot(x, y, z) + z, y, -x, 0.0)
    size = math.hypot(*parts)
    return parts[0] / size, parts[1] / size, parts[2] / size, 0.0


def about_vertical(angle: float) -> Quaternion:
    return (_cos(angle / 2.0), 0.0, 0.0, _sin(angle / 2.0)) if angle else UPRIGHT


def _product(p: Quaternion, q: Quaternion) -> Quaternion:
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def _cos(angle: float) -> float:
    return float(elementary.cos(angle))


def _sin(angle: float) -> float:
    return float(elementary.sin(angle))


def arrangements(allowed: Allowed) -> dict[str, st.SearchStrategy[Scene]]:
    """By name, those for which all that they need is allowed."""
    found: dict[str, st.SearchStrategy[Scene]] = {}
    ground = {"half-plane", "half-space"} & allowed.boundaries
    if ground and any(kind in allowed.shapes for kind in STANDING):
        found |= {"tower": towers(allowed), "incline": inclined(allowed)}
    if ground and (allowed.block or allowed.round):
        found |= {"row": rows(allowed), "walls": walled(allowed)}
    if ground and allowed.round:
        found["pyramid"] = pyramids(allowed)
    if ground and {"polygon", "box", "cylinder"} & allowed.shapes:
        found["poised"] = poised(allowed)
    if {"bowl", "hollow-sphere"} & allowed.boundaries and (allowed.block or allowed.round):
        found["container"] = contained(allowed)
    return found
