"""Small scenes whose motion everybody knows, for the conformance test: a stroke of mechanics each.

Contact: a box that slides to rest, one that lies, a ball that bounces, a stack. Joints: one of each kind that swings
as a pendulum or slides down a line, and one with each thing that may act along it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.integrate import solve_ivp

from scenarios.scene import Scene, parse_scene

G = 9.81  # m/s^2
DURATION = 1.0  # s
SPEED, FRICTION = 2.0, 0.4  # of the box that slides: m/s, to rest within DURATION
FALL_SPEED, RESTITUTION = 4.0, 0.5  # of the ball that bounces, m/s
LENGTH, RADIUS = 1.0, 0.2  # m, of a pendulum and of its bob
SLOPE = 0.5  # rad, of what slides on a joint
BOX = {"kind": "polygon", "vertices": [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]}
BOB: dict[str, Any] = {"name": "bob", "shape": {"kind": "sphere", "radius": RADIUS}, "mass": 2.0}
GROUND = {"kind": "half-plane", "name": "ground", "friction": FRICTION}


@dataclass(frozen=True, slots=True)
class Known:
    """A scene, and where its last body is at the end; how far from there an engine may be, and the usual reason."""

    scene: Scene
    end: tuple[float, ...]  # m
    allowed: float  # m
    remedy: str


def known_motions(dt: float) -> dict[str, Known]:
    """By name. `dt`: a method of first order may be off by 1.1 g DURATION dt."""
    order = 1.1 * G * DURATION * dt + 1e-6
    box: dict[str, Any] = {"shape": BOX, "mass": 1.0, "friction": FRICTION}
    slid = SPEED**2 / (2.0 * FRICTION * G)
    ball = {"shape": {"kind": "disc", "radius": 0.5}, "mass": 1.0, "restitution": RESTITUTION}
    met = 1.0 / FALL_SPEED
    found = {
        "friction": Known(
            planar([box | {"name": "box", "position": [0, 0.5], "velocity": [SPEED, 0]}], [GROUND]),
            (slid, 0.5),
            0.1 * slid,
            "friction is the law of the pair, by the scene's rule: sliding, it is friction times the normal force",
        ),
        "box": Known(
            planar([box | {"name": "box", "position": [0, 0.5]}], [GROUND]),
            (0.0, 0.5),
            0.03,
            "a polygon's corners are in its own frame, m, and half-planes are solid away from their normal",
        ),
        "stack": Known(
            planar([box | {"name": f"box {i}", "position": [0, 0.5 + i]} for i in range(3)], [GROUND]),
            (0.0, 2.5),
            0.08,
            "bodies collide with one another too, and boxes that stand stay",
        ),
        "bounce": Known(
            planar(
                [ball | {"name": "ball", "position": [0, 1.5], "velocity": [0, -FALL_SPEED]}],
                [{**GROUND, "friction": 0.0}],
                gravity=(0, 0),
            ),
            (0.0, 0.5 + RESTITUTION * FALL_SPEED * (DURATION - met)),
            2.0 * FALL_SPEED * dt + 0.01,
            "restitution is the larger of the two values, unless the scene has another rule",
        ),
    }
    for name, scene_of in (("margin", planar), ("margin in space", spatial)):
        level, kind = ([0], "half-plane") if scene_of is planar else ([0, 0], "half-space")
        shape = BOX if scene_of is planar else {"kind": "box", "size": [1, 1, 1]}
        stands_off = {"name": "box", "shape": shape, "mass": 1.0, "margin": 0.03, "position": [*level, 0.55]}
        scene = scene_of([stands_off], boundaries=[GROUND | {"kind": kind, "margin": 0.02}])
        remedy = "two rest as far apart as the sum of their margins"
        found[name] = Known(scene, (*level, 0.55), 0.005, remedy)
    for name, scene in (("carried along", _belt(planar)), ("carried along in space", _belt(spatial))):
        pull, speed = FRICTION * G, 1.0
        slips = speed / pull
        far = speed * DURATION - 0.5 * speed * slips if slips < DURATION else 0.5 * pull * DURATION**2
        at = scene.bodies[-1].position
        remedy = "a body with `motion` is where that says at every time, and takes along by friction what is on it"
        found[name] = Known(scene, (far, *at[1:]), order, remedy)
    for name, scene in (("compound", _stool(planar)), ("compound in space", _stool(spatial))):
        remedy = "each piece has its own position and turn in the frame of the body"
        found[name] = Known(scene, scene.bodies[-1].position, 0.03, remedy)
    down = 0.5 * G * math.sin(SLOPE) * DURATION**2
    for kind in ("revolute", "rod", "rope", "prismatic", "ball", "hinge", "slider"):
        in_plane = kind in ("revolute", "rod", "rope", "prismatic")
        slides, tied = kind in ("prismatic", "slider"), kind in ("rod", "rope")
        axis = (math.cos(SLOPE), -math.sin(SLOPE))
        x, height = (down * axis[0], down * axis[1]) if slides else _swung(0.0 if tied else _turning(in_plane))
        remedy = "anchors are points of each body's own frame, m, and of the world where b is null"
        found[kind] = Known(
            _jointed(kind, in_plane, axis), (x, height) if in_plane else (x, 0.0, height), order, remedy
        )
    found |= _in_space(order)
    return found


def _in_space(order: float) -> dict[str, Known]:
    """Rods, ropes and fixed joints, and what acts along hinges and sliders, in space."""
    found: dict[str, Known] = {}
    slider: dict[str, Any] = {"kind": "slider", "name": "slider", "a": "bob", "axis": [1.0, 0.0, 0.0]}
    slider |= {"anchor_a": [0, 0, 0], "anchor_b": [0, 0, 0]}
    x, height = _swung(0.0)
    for kind in ("rod", "rope"):
        tie = {"kind": kind, "name": kind, "a": "bob", "anchor_a": [0, 0, 0], "anchor_b": [0, 0, 0], "length": LENGTH}
        scene = spatial([BOB | {"position": [LENGTH, 0, 0]}], joints=[tie])
        found[f"{kind} in space"] = Known(scene, (x, 0.0, height), order, "its length is between the two anchors, m")
    fixed = {"kind": "fixed", "name": "fixed", "a": "bob", "anchor_a": [-LENGTH, 0, 0], "anchor_b": [0, 0, 0]}
    scene = spatial([BOB | {"position": [LENGTH, 0, 0]}], joints=[fixed])
    found["fixed"] = Known(scene, (LENGTH, 0.0, 0.0), 0.01, "a fixed joint lets nothing turn")
    w, push = 4.0, 2.0  # rad/s; m/s^2
    spring: dict[str, Any] = {"spring": {"stiffness": 2.0 * w * w, "rest": 0.5}}
    motor: dict[str, Any] = {"motor": {"kind": "force-motor", "target": [[0.0, 2.0 * push]]}}
    servo: dict[str, Any] = {"motor": {"kind": "velocity-motor", "damping": 2.0 * w, "target": [[0.0, 1.0]]}}
    acts: dict[str, tuple[dict[str, Any], float]] = {
        "spring of a slider": (spring, 0.5 - 0.5 * math.cos(w * DURATION)),
        "damping of a slider": ({"damping": 2.0 * w, **motor}, push / w * (DURATION - (1.0 - math.exp(-w)) / w)),
        "force motor": (motor, 0.5 * push * DURATION**2),
        "velocity motor": (servo, DURATION - (1.0 - math.exp(-w)) / w),
        "limits of a slider": ({"limits": {"low": -0.2, "high": 0.4}, **motor}, 0.4),
        "friction of a slider": ({"friction": 2.0 * push, "motor": {**motor["motor"], "target": [[0, push]]}}, 0.0),
    }
    for name, (along, far) in acts.items():
        scene = spatial([BOB], joints=[slider | along])
        remedy = "the coordinate is how far a has gone against b along the axis, and what acts on b is the opposite"
        found[name] = Known(scene, (far, 0.0, 0.0), order, remedy)
    return found


def _belt(scene_of: Callable[..., Scene]) -> Scene:
    """A block on a long plate that moves at 1 m/s."""
    in_plane = scene_of is planar

    def at(height: float) -> list[float]:
        return [0.0, height] if in_plane else [0.0, 0.0, height]

    def slab(width: float, height: float) -> dict[str, Any]:
        if not in_plane:
            return {"kind": "box", "size": [width, min(width, 2.0), height]}
        corners = [
            [-width / 2, -height / 2],
            [width / 2, -height / 2],
            [width / 2, height / 2],
            [-width / 2, height / 2],
        ]
        return {"kind": "polygon", "vertices": corners}

    velocity = [1.0, 0.0] if in_plane else [1.0, 0.0, 0.0]
    block = {"name": "block", "shape": slab(0.5, 0.2), "mass": 2.0, "position": at(0.1), "friction": FRICTION}
    plate = {"name": "plate", "shape": slab(10.0, 0.5), "fixed": True, "position": at(-0.25), "friction": FRICTION}
    return scene_of([plate | {"motion": {"velocity": velocity}}, block])


def _stool(scene_of: Callable[..., Scene]) -> Scene:
    """A seat on legs that are bars turned upright: it stands where it is, and its legs alone hold it up."""
    seat: dict[str, Any]
    leg: dict[str, Any]
    if scene_of is planar:
        seat, leg = (
            {"kind": "polygon", "vertices": [[-w, -0.05], [w, -0.05], [w, 0.05], [-w, 0.05]]} for w in (0.5, 0.45)
        )
        legs = [{"shape": leg, "position": [x, 0.45], "angle": 0.5 * math.pi} for x in (-0.4, 0.4)]
        pieces, ground = [{"shape": seat, "position": [0, 0.95]}, *legs], GROUND
    else:
        seat, leg = {"kind": "box", "size": [1.0, 1.0, 0.1]}, {"kind": "box", "size": [0.9, 0.1, 0.1]}
        turned = [math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]  # about y
        feet = [(x, y) for x in (-0.4, 0.4) for y in (-0.4, 0.4)]
        legs = [{"shape": leg, "position": [x, y, 0.45], "orientation": turned} for x, y in feet]
        pieces, ground = [{"shape": seat, "position": [0, 0, 0.95]}, *legs], GROUND | {"kind": "half-space"}
    body = {"name": "stool", "shape": {"kind": "compound", "pieces": pieces}, "mass": 2.0, "friction": FRICTION}
    return scene_of([body], boundaries=[ground])


def _turning(planar: bool) -> float:
    """I / (m LENGTH^2) of a disc or a sphere."""
    return (0.5 if planar else 0.4) * RADIUS**2 / LENGTH**2


def _swung(turning: float) -> tuple[float, float]:
    """m: where a bob is after DURATION that was let go beside its pivot."""
    pull = G / (LENGTH * (1.0 + turning))
    motion = solve_ivp(
        lambda t, s: (s[1], -pull * math.sin(s[0])), (0.0, DURATION), (0.5 * math.pi, 0.0), rtol=1e-10, atol=1e-12
    )
    angle = float(motion.y[0, -1])
    return LENGTH * math.sin(angle), -LENGTH * math.cos(angle)


def _jointed(kind: str, in_plane: bool, axis: tuple[float, float]) -> Scene:
    """A bob to the right of a pivot at the origin of the world, or at it on a line downhill."""
    slides, tied = kind in ("prismatic", "slider"), kind in ("rod", "rope")

    def point(x: float, y: float) -> list[float]:
        return [x, y] if in_plane else [x, 0.0, y]

    at = point(0.0, 0.0) if slides else point(LENGTH, 0.0)
    # Of a slider the axis and anchor_a are the bob's, b is the world; the bob slides along its own axis.
    anchor = point(0.0, 0.0) if slides or tied else point(-LENGTH, 0.0)
    joint: dict[str, Any] = {"kind": kind, "name": kind, "a": "bob", "anchor_a": anchor, "anchor_b": point(0.0, 0.0)}
    if slides:
        joint["axis"] = point(*axis)
    elif tied:
        joint["length"] = LENGTH
    elif kind == "hinge":
        joint["axis"] = [0.0, 1.0, 0.0]
    shape = {"kind": "disc" if in_plane else "sphere", "radius": RADIUS}
    bob = {"name": "bob", "shape": shape, "mass": 2.0, "position": at}
    return (planar if in_plane else spatial)([bob], joints=[joint])


def planar(bodies: Sequence[Any], boundaries: Sequence[Any] = (), **more: Any) -> Scene:
    return _scene(2, {"gravity": (0, -G), "bodies": bodies, "boundaries": boundaries, **more})


def spatial(bodies: Sequence[Any], **more: Any) -> Scene:
    return _scene(3, {"gravity": (0, 0, -G), "bodies": bodies, **more})


def _scene(dimension: int, given: Mapping[str, Any]) -> Scene:
    return parse_scene({"dimension": dimension, "duration": DURATION, **given})
