"""Bodies tied by joints: chains and ropes of links, closed loops, a cart on a rail, robots of a torso with limbs; hung
from the world, afloat, standing on the ground or falling onto it.

Anchors meet to round-off at the start, and velocities are those of a rigid turn, so no joint has anything to correct.
Shrinking goes towards two links at rest, of 1 kg each, straight down.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Body, Space, rectangle
from scenarios.joints import Ball, Fixed, Hinge, Prismatic, Revolute, Rod, Rope, Slider, SpatialRod, SpatialRope
from scenarios.scene import Box, Capsule, Disc, PlanarBody, Scene, Sphere
from scenarios.strategies.allowed import Allowed, body_at, plane, scene_of
from scenarios.strategies.values import DURATIONS, GRID, MASSES

Draw = Callable[[st.SearchStrategy[Any]], Any]
Point = tuple[float, float]  # x, up
PINS = ("revolute", "hinge", "ball")
TIES = ("rod", "rope")
RAILS = ("prismatic", "slider")
LENGTHS = (1.0, 0.25)  # m, of a link
BENDS = (0.0, 0.1, 0.5, math.pi / 2.0, 0.001, -0.5)  # rad, of a link against the one before
MANY_BENDS = 4 * BENDS[1:]  # held straight by both ends, a chain is in a singular position: rarely
LEANS = (0.0, 0.5, math.pi / 2.0, 3.0)  # rad, of the first link from straight down
TURNING = (0.0, 2.0, 10.0)  # rad/s
LOOPS = (5, 3, 6)  # links: four of one length fold flat, where they are free to move in two ways
THIN = 8  # length of a link by its thickness
CLEAR = (0, 1, 64, 512)  # in 1/1024 m, above the ground
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
RATES = (2.0, 10.0)  # rad/s, of a spring or motor of a joint
ANGLES = (0.0, 0.5, 1.5)  # rad


@st.composite
def chains(draw: Draw, allowed: Allowed) -> Scene:
    """Links end to end, hung from the world by one end or by both, or free; the last may be heavy."""
    kind = draw(st.sampled_from([kind for kind in PINS if kind in allowed.joints]))
    length, hung = draw(st.sampled_from(LENGTHS)), draw(st.sampled_from(("one end", "both ends", "free")))
    count = draw(st.integers(2, 6))
    angle = draw(st.sampled_from(LEANS))
    bend = draw(st.sampled_from((*MANY_BENDS, 0.0) if hung == "both ends" else BENDS))
    angles = [angle + i * bend for i in range(count)]
    ends = _ends((0.0, 0.0), angles, length)
    masses = [1.0] * (count - 1) + [draw(st.sampled_from(MASSES))]
    turning = 0.0 if hung == "both ends" else draw(st.sampled_from(TURNING))
    pivot = ends[0] if hung == "one end" else _middle(ends, masses)
    bodies = [
        _link(allowed, f"link {i + 1}", ends[i], ends[i + 1], mass, turning, pivot) for i, mass in enumerate(masses)
    ]
    half = length / 2.0
    joints = [_pin(kind, f"pin {i}", f"link {i}", f"link {i + 1}", (0.0, -half), (0.0, half)) for i in range(1, count)]
    if hung != "free":
        joints.append(_pin(kind, "first end", "link 1", None, (0.0, half), ends[0]))
    if hung == "both ends":
        joints.append(_pin(kind, "last end", f"link {count}", None, (0.0, -half), ends[-1]))
    return scene_of(allowed.space, bodies, [], draw(st.sampled_from(DURATIONS)), joints=tuple(joints))


@st.composite
def loops(draw: Draw, allowed: Allowed) -> Scene:
    """A regular polygon of links, every joint of a closed loop; afloat and turning, or hung by a corner."""
    kind = draw(st.sampled_from([kind for kind in PINS if kind in allowed.joints]))
    count, length = draw(st.sampled_from(LOOPS)), draw(st.sampled_from(LENGTHS))
    hung, turning = draw(st.booleans()), draw(st.sampled_from(TURNING))
    turn = 2.0 * math.pi / count
    ends = _ends((0.0, 0.0), [turn * i for i in range(count)], length)
    ends[-1] = ends[0]
    masses = [draw(st.sampled_from((1.0, 10.0, 0.1)))] + [1.0] * (count - 1)
    pivot = ends[0] if hung else _middle(ends, masses)
    bodies = [
        _link(allowed, f"link {i + 1}", ends[i], ends[i + 1], mass, turning, pivot) for i, mass in enumerate(masses)
    ]
    half, names = length / 2.0, [body.name for body in bodies]
    joints = [
        _pin(kind, f"pin {i + 1}", names[i], names[(i + 1) % count], (0.0, -half), (0.0, half)) for i in range(count)
    ]
    if hung:
        joints.append(_pin(kind, "hook", names[0], None, (0.0, half), ends[0]))
    g = {} if hung else {"g": 0.0}
    return scene_of(allowed.space, bodies, [], draw(st.sampled_from(DURATIONS)), joints=tuple(joints), **g)


@st.composite
def ropes(draw: Draw, allowed: Allowed) -> Scene:
    """Balls on a string of rods or ropes, taut or slack, hung from the world; the last may be heavy."""
    kind = draw(st.sampled_from([kind for kind in TIES if kind in allowed.joints]))
    count, length = draw(st.integers(1, 6)), draw(st.sampled_from(LENGTHS))
    angle, bend, slack = draw(st.sampled_from(LEANS)), draw(st.sampled_from(BENDS)), draw(st.booleans())
    ends = _ends((0.0, 0.0), [angle + i * bend for i in range(count)], length)
    masses = [1.0] * (count - 1) + [draw(st.sampled_from(MASSES))]
    planar = allowed.space == "planar"
    shape = Disc(radius=length / THIN) if planar else Sphere(radius=length / THIN)
    bodies = [body_at(f"bead {i + 1}", shape, *ends[i + 1], mass=mass, group=1) for i, mass in enumerate(masses)]
    make: Any = {"rod": Rod if planar else SpatialRod, "rope": Rope if planar else SpatialRope}[kind]
    joints = []
    for i, body in enumerate(bodies):
        a, b = (body.name, f"bead {i}" if i else None)
        at = (0.0, 0.0) if planar else (0.0, 0.0, 0.0)
        distance = math.dist(ends[i], ends[i + 1]) + (length / 4.0 if slack and kind == "rope" else 0.0)
        joints.append(make(name=f"tie {i + 1}", a=a, b=b, anchor_a=at, anchor_b=at, length=distance))
    return scene_of(allowed.space, bodies, [], draw(st.sampled_from(DURATIONS)), joints=tuple(joints))


@st.composite
def carts(draw: Draw, allowed: Allowed) -> Scene:
    """A block on a rail of the world, level or aslant, which may carry a pendulum."""
    tilt, mass = draw(st.sampled_from((0.0, 0.5, math.pi / 2.0))), draw(st.sampled_from(MASSES))
    axis: Any = (float(elementary.cos(tilt)), float(elementary.sin(tilt)))
    bodies = [body_at("cart", _slab(allowed.space), 0.0, 0.0, group=1)]
    make: Any = Prismatic
    at: Any = (0.0, 0.0)
    if allowed.space == "spatial":
        make, at, axis = Slider, (0.0, 0.0, 0.0), (axis[0], 0.0, axis[1])
    joints = [make(name="rail", a="cart", anchor_a=at, anchor_b=at, axis=axis)]
    pins = [kind for kind in PINS if kind in allowed.joints]
    if pins and draw(st.booleans()):
        ends = _ends((0.0, 0.0), [draw(st.sampled_from(LEANS))], 1.0)
        bodies.append(_link(allowed, "pendulum", ends[0], ends[1], mass, 0.0, ends[0]))
        joints.append(_pin(draw(st.sampled_from(pins)), "pin", "cart", "pendulum", (0.0, 0.0), (0.0, 0.5)))
    return scene_of(allowed.space, bodies, [], draw(st.sampled_from(DURATIONS)), joints=tuple(joints))


@st.composite
def robots(draw: Draw, allowed: Allowed) -> Scene:
    """A torso on two or four legs of one or two links by pins; it stands on the ground, or is a little above it."""
    kind = draw(st.sampled_from([kind for kind in PINS if kind in allowed.joints]))
    links, length = draw(st.integers(1, 2)), draw(st.sampled_from((0.5, 0.25)))
    splay, torso, limb = draw(st.sampled_from((0.0, 0.3))), draw(st.sampled_from(MASSES)), draw(st.sampled_from(MASSES))
    surface, clear = draw(allowed.surfaces), draw(st.sampled_from(CLEAR)) / GRID
    fall = draw(st.sampled_from((0.0, -2.0, -5.0)))
    sides = [(x, y) for x in (-0.5, 0.5) for y in ((0.0,) if allowed.space == "planar" else (-0.25, 0.25))]
    radius = length / THIN / 2.0
    foot = links * (length * float(elementary.cos(splay))) + _below(allowed, radius, splay)
    up = foot + clear  # of the hips, which are on the lower face of the torso
    more: dict[str, Any] = {"group": 1, "velocity": (0.0, fall), **surface}
    bodies = [body_at("torso", _slab(allowed.space), 0.0, up + 0.125, mass=torso, **more)]
    joints = []
    for k, (x, y) in enumerate(sides):
        side = math.copysign(1.0, x)
        ends = _ends((x, up), [side * splay] * links, length)
        parent, anchor = "torso", (x, y, -0.125)
        for i in range(links):
            name = f"limb {k + 1}.{i + 1}"
            link = _link(allowed, name, ends[i], ends[i + 1], limb, 0.0, ends[0], across=y)
            bodies.append(_updated(link, fall, surface))
            joints.append(
                _pin(kind, f"of {name}", parent, name, (anchor[0], anchor[2]), (0.0, length / 2.0), anchor[1])
            )
            parent, anchor = name, (0.0, 0.0, -length / 2.0)
    ground = plane(allowed.space, "ground", surface)
    return scene_of(allowed.space, bodies, [ground], draw(st.sampled_from(DURATIONS)), joints=tuple(joints))


@st.composite
def arms(draw: Draw, allowed: Allowed) -> Scene:
    """One to four links on hinges, the first on the world; on each hinge acts something, and a tool may be fixed to the
    last. What acts is small enough for a step of 1/30 s."""
    count, length, axis = draw(st.integers(1, 4)), draw(st.sampled_from(LENGTHS)), draw(st.sampled_from((Y, Z)))
    angle, bend = draw(st.sampled_from(LEANS)), draw(st.sampled_from(BENDS))
    ends = _ends((0.0, 0.0), [angle + i * bend for i in range(count)], length)
    bodies = [_link(allowed, f"link {i + 1}", ends[i], ends[i + 1], 1.0, 0.0, ends[0]) for i in range(count)]
    half, joints = length / 2.0, []
    for i, body in enumerate(bodies):
        b, at = (f"link {i}", (0.0, 0.0, -half)) if i else (None, (0.0, 0.0, 0.0))
        acts = draw(_along(allowed, length * length / 3.0, i))
        made = Hinge(name=f"hinge {i + 1}", a=body.name, b=b, anchor_a=(0.0, 0.0, half), anchor_b=at, axis=axis, **acts)
        joints.append(made)
    if "fixed" in allowed.joints and allowed.block and draw(st.booleans()):
        last: Any = bodies[-1]
        tool = last.model_copy(update={"name": "tool", "shape": Box(size=(0.25, 0.25, 0.25)), "inertia": None})
        bodies.append(tool)
        none = (0.0, 0.0, 0.0)
        joints.append(Fixed(name="flange", a="tool", b=last.name, anchor_a=none, anchor_b=none))  # type: ignore[arg-type]
    return scene_of(allowed.space, bodies, [], draw(st.sampled_from(DURATIONS)), joints=tuple(joints))


def _along(allowed: Allowed, moment: float, number: int) -> st.SearchStrategy[dict[str, Any]]:
    """Fields of a hinge about which this much turns, kg m^2: on the first one at least one of what is allowed."""
    pulls, sizes = [moment * squared(rate) for rate in RATES], st.sampled_from(ANGLES)
    brakes = [2.0 * ratio * rate * moment for ratio in (0.1, 1.0) for rate in RATES]
    ramp = sizes.map(lambda to: ((0.0, 0.0), (0.5, to)))
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "spring": st.fixed_dictionaries({"stiffness": st.sampled_from(pulls), "rest": sizes}),
        "damping": st.sampled_from(brakes),
        "friction": st.sampled_from([moment, 10.0 * moment]),
        "limits": st.sampled_from([{"low": -size, "high": 2.0 * size} for size in ANGLES if size > 0.0]),
        "motor": st.one_of(
            st.fixed_dictionaries(
                {"kind": st.just("position-motor"), "stiffness": st.sampled_from(pulls), "target": ramp}
                | {"damping": st.sampled_from(brakes), "most": st.sampled_from((None, 10.0 * moment))}
            ),
            st.fixed_dictionaries(
                {"kind": st.just("velocity-motor"), "damping": st.sampled_from(brakes), "target": ramp}
            ),
            st.fixed_dictionaries({"kind": st.just("force-motor"), "target": ramp}),
        ),
    }
    names = sorted(allowed.along)
    some = st.lists(st.sampled_from(names), min_size=0 if number else 1, max_size=3, unique=True)
    return some.flatmap(lambda chosen: st.fixed_dictionaries({name: kinds[name] for name in chosen}))


# --- of what they are made --------------------------------------------------------------------------------------------


def _ends(start: Point, angles: Sequence[float], length: float) -> list[Point]:
    """Of links end to end, each so many radians from straight down towards x."""
    ends = [start]
    for angle in angles:
        x, up = ends[-1]
        ends.append((x + length * float(elementary.sin(angle)), up - length * float(elementary.cos(angle))))
    return ends


def _middle(ends: Sequence[Point], masses: Sequence[float]) -> Point:
    """Centre of mass of the links."""
    centres = [((a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0) for a, b in itertools.pairwise(ends)]
    total = math.fsum(masses)
    x, up = (math.fsum(m * centre[k] for m, centre in zip(masses, centres)) / total for k in (0, 1))
    return x, up


def _link(
    allowed: Allowed, name: str, a: Point, b: Point, mass: float, turning: float, pivot: Point, across: float = 0.0
) -> Body:
    """From a to b, its own upper end at a; it turns with `turning`, rad/s from x towards up, about the pivot."""
    x, up, length = (a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0, math.dist(a, b)
    angle = float(elementary.atan2(b[0] - a[0], a[1] - b[1]))  # from straight down towards x
    velocity = (-turning * (up - pivot[1]), turning * (x - pivot[0]))
    shape, more = _of_link(allowed.space, length), dict[str, Any](mass=mass, group=1, velocity=velocity)
    if allowed.space == "planar":
        return body_at(name, shape, x, up, angle=angle, spin=turning, **more)
    half = angle / 2.0
    turned = (float(elementary.cos(half)), 0.0, -float(elementary.sin(half)), 0.0)
    return body_at(name, shape, x, up, across, orientation=turned, spin=(0.0, 0.0 - turning, 0.0), **more)


def _of_link(space: Space, length: float) -> Any:
    if space == "planar":
        return rectangle(length / THIN, length)
    return Capsule(radius=length / THIN / 2.0, length=length * (1.0 - 1.0 / THIN))


def _slab(space: Space) -> Any:
    """Of a torso or a cart."""
    return rectangle(1.0, 0.25) if space == "planar" else Box(size=(1.0, 0.5, 0.25))


def _below(allowed: Allowed, radius: float, splay: float) -> float:
    """m, of a limb's lowest point below its end."""
    return (
        radius * float(elementary.sin(splay))
        if allowed.space == "planar"
        else radius * (1.0 - float(elementary.cos(splay)))
    )


def _updated(link: Body, fall: float, surface: dict[str, Any]) -> Body:
    velocity = (0.0, fall) if isinstance(link, PlanarBody) else (0.0, 0.0, fall)
    return link.model_copy(update=surface | {"velocity": velocity})


def _pin(kind: str, name: str, a: str, b: str | None, on_a: Point, on_b: Point, across: float = 0.0) -> Any:
    """At (x, up) of either body, in a's frame as far across."""
    if kind == "revolute":
        return Revolute(name=name, a=a, b=b, anchor_a=on_a, anchor_b=on_b)
    anchors: dict[str, Any] = {"anchor_a": (on_a[0], across, on_a[1]), "anchor_b": (on_b[0], 0.0, on_b[1])}
    return Hinge(name=name, a=a, b=b, axis=Y, **anchors) if kind == "hinge" else Ball(name=name, a=a, b=b, **anchors)


def arrangements(allowed: Allowed) -> dict[str, st.SearchStrategy[Scene]]:
    """By name, those for which all that they need is allowed."""
    found: dict[str, st.SearchStrategy[Scene]] = {}
    link = "polygon" if allowed.space == "planar" else "capsule"
    if link in allowed.shapes and allowed.joints & {*PINS}:
        found |= {"chain": chains(allowed), "loop": loops(allowed)}
        if allowed.block and {"half-plane", "half-space"} & allowed.boundaries:
            found["robot"] = robots(allowed)
    if link in allowed.shapes and "hinge" in allowed.joints and allowed.along:
        found["arm"] = arms(allowed)
    if allowed.round and allowed.joints & {*TIES}:
        found["rope"] = ropes(allowed)
    if allowed.block and link in allowed.shapes and allowed.joints & {*RAILS}:
        found["cart"] = carts(allowed)
    return found
