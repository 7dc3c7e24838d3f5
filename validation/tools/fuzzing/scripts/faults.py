"""The end of a script: the value that shows a fault, in words, and the exit status that it decides.

A few lines of numpy from positions, velocities, masses and shapes, apart from all that Upright measures with. An
overlap is the least of those along many directions, each from how far the two bodies extend along it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference_engine.dense import norm
from scenarios import mass
from scenarios.scene import PlanarScene, Scene, inertias, masses
from validation.metrics.facts import FALLEN, MOVED, NEARLY, axes_of_revolution
from validation.metrics.passage import THROUGH
from validation.metrics.rest import REST_SPEED
from validation.tools.fuzzing.oracles import (
    Violation,
    conserved_axes,
    momentum_allowed,
)
from validation.tools.fuzzing.scripts.parts import EngineCode, ScriptError, numbers, one_line, rows

LIMIT = 10  # s of wall-clock time, after which a script that hangs ends
LARGEST = 1e10  # m: what is further away has no number that means anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """What a script shows, and of what."""

    scene: Scene
    dt: float  # s
    violation: Violation
    engine: EngineCode
    contact_tolerance: float = 0.0  # m, of the engine
    energy_allowed: float = 0.0  # J that may come from nowhere

    @property
    def bodies(self) -> list[int]:
        """Those of which the law is broken, or all."""
        named = [i for i, body in enumerate(self.scene.bodies) if body.name in self.violation.bodies]
        return named or list(range(len(self.scene.bodies)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What comes after the steps, and the functions that it calls."""

    text: str
    functions: tuple[str, ...] = ()


def closing_of(find: Find) -> Closing:
    """Raises ScriptError for a fault that a script does not show."""
    closing = CLOSINGS.get(find.violation.oracle)
    if closing is None:
        known = ", ".join(CLOSINGS)
        raise ScriptError(f"a script does not show {find.violation.oracle!r}; what it shows: {known}")
    return closing(find)


HISTORY = "position, turn, velocity, spin = (np.array(part) for part in zip(*states))\n\n"
MATRIX_IN_SPACE = '''
def matrix(q):
    """Rotation matrix of a quaternion w-x-y-z."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
'''
MATRIX_IN_PLANE = '''
def matrix(angle):
    """Rotation matrix."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
'''


def _matrix(find: Find) -> str:
    return MATRIX_IN_PLANE if isinstance(find.scene, PlanarScene) else MATRIX_IN_SPACE


def _finished(condition: str) -> str:
    return f"sys.exit(1 if {condition} else 0)\n"


# --- energy and momentum ----------------------------------------------------------------------------------------------


def _energy(find: Find) -> Closing:
    scene, lag = find.scene, find.engine.lag
    moments = inertias(scene)
    functions: tuple[str, ...] = ()
    lines = [
        "# Total energy at each step",
        f"time = {find.dt!r} * np.arange(len(states))",
        f"mass, gravity = np.array({numbers(masses(scene))}), np.array({numbers(scene.gravity)})",
    ]
    if lag and any(scene.gravity):
        side = "behind" if lag < 0.0 else "ahead of"
        lines.append(
            f"velocity[1:] -= {numbers(lag)} * gravity  # which the engine has {abs(lag):.3g} s {side} the positions"
        )
    if isinstance(scene, PlanarScene):
        lines += [
            f"inertia = np.array({numbers(moments)})",
            "energy = 0.5 * mass * (velocity**2).sum(axis=2) + 0.5 * inertia * spin**2 - mass * (position @ gravity)",
        ]
    else:
        lines.append(f"inertia = np.array({rows(moments)})  # about the body's axes")
        if not find.engine.spin_of_body:
            functions = (_matrix(find),)
            lines.append(
                "spin = np.array([[matrix(q).T @ w for q, w in zip(*now)] for now in zip(turn, spin)])  # in those axes"
            )
        lines += [
            "energy = 0.5 * mass * (velocity**2).sum(axis=2) + 0.5 * (inertia * spin**2).sum(axis=2)",
            "energy -= mass * (position @ gravity)",
        ]
    text = (
        "\n".join(lines)
        + """
total = np.nan_to_num(energy.sum(axis=1), nan=np.inf)
rise = total - np.minimum.accumulate(total)
high = int(np.argmax(rise))
low = int(np.argmin(total[: high + 1]))
print(f"total energy: {total[0]:.4g} J at the start, {total.max():.4g} J at most; it rises from "
      f"{total[low]:.4g} J at {time[low]:.4g} s to {total[high]:.4g} J at {time[high]:.4g} s; nothing drives it")
"""
    )
    return Closing(text=HISTORY + text + _finished(f"rise[high] > {find.energy_allowed:.4g}"), functions=functions)


def _momentum(find: Find) -> Closing:
    scene = find.scene
    axes = conserved_axes(scene)
    words = ", ".join("xyz"[axis] for axis in axes)
    text = f"""# Momentum along {words}, where nothing outside pushes; gravity's share is taken off
time = {find.dt!r} * np.arange(len(states))
mass, gravity = np.array({numbers(masses(scene))}), np.array({numbers(scene.gravity)})
momentum = (mass[:, None] * velocity).sum(axis=1) - mass.sum() * gravity * time[:, None]
momentum = np.nan_to_num(momentum[:, {axes}], nan=np.inf)
change = np.abs(momentum - momentum[0]).max(axis=1)
most = int(np.argmax(change))
print(f"momentum along {words}: {{momentum[0].round(6).tolist()}} kg m/s at the start, "
      f"{{momentum[most].round(6).tolist()}} kg m/s after {{time[most]:.4g}} s")
"""
    return Closing(text=HISTORY + text + _finished(f"change[most] > {momentum_allowed(scene):.4g}"))


# --- shapes -----------------------------------------------------------------------------------------------------------


def _extent(shape: Any) -> str:
    """Source of a function: how far a shape extends along directions (K, D) in its own axes, from its centre."""
    match shape.kind:
        case "sphere" | "disc":
            return f"lambda d: np.full(len(d), {shape.radius!r})"
        case "box":
            return f"lambda d: np.abs(d) @ {numbers(np.array(shape.size) / 2.0)}"
        case "capsule":
            return f"lambda d: {shape.radius!r} + {shape.length / 2.0!r} * np.abs(d[:, 2])"
        case "cylinder":
            return f"lambda d: {shape.radius!r} * np.hypot(d[:, 0], d[:, 1]) + {shape.length / 2.0!r} * np.abs(d[:, 2])"
        case "ellipsoid":
            return f"lambda d: np.linalg.norm(d * {numbers(shape.semi_axes)}, axis=1)"
        case "convex-mesh":
            return f"lambda d: (d @ np.array({rows(shape.points)}).T).max(axis=1)"
        case "polygon":
            return f"lambda d: (d @ np.array({rows(shape.vertices)}).T).max(axis=1)"
    raise ScriptError(f"a script does not measure the shape {shape.kind!r}")


DIRECTIONS_IN_SPACE = """
# Directions, spread evenly over the sphere, along which overlaps are measured
k = np.arange(2000)
z = (2 * k + 1) / len(k) - 1
around = np.pi * (3 - np.sqrt(5)) * k
directions = np.stack([np.sqrt(1 - z * z) * np.cos(around), np.sqrt(1 - z * z) * np.sin(around), z], axis=1)
directions = np.concatenate([directions, np.eye(3), -np.eye(3)])
"""
DIRECTIONS_IN_PLANE = """
# Directions along which overlaps are measured
around = np.arange(0, 2 * np.pi, np.pi / 360)
directions = np.stack([np.cos(around), np.sin(around)], axis=1)
"""
OVERLAP = '''
def overlap(k, a, b):
    """m, of two bodies at step k: the least along any direction, and along the axes of either; below 0 a gap."""
    A, B = matrix(turn[k, a]), matrix(turn[k, b])
    d = np.concatenate([directions, A.T, -A.T, B.T, -B.T])
    return (extent[a](d @ A) + extent[b](-d @ B) - d @ (position[k, b] - position[k, a])).min()


'''
DEPTH = '''
def depth(k, a, normal, point):
    """m, of a body's lowest point below a plane at step k; below 0 a gap."""
    lowest = extent[a](-np.array([normal]) @ matrix(turn[k, a]))[0]
    return lowest - (position[k, a] - np.array(point)) @ np.array(normal)


'''


def _shapes(find: Find, which: list[int], *, pairs: bool, planes: bool) -> tuple[str, tuple[str, ...]]:
    """Tables for measuring overlaps of these bodies, and the functions that do."""
    directions = DIRECTIONS_IN_PLANE if isinstance(find.scene, PlanarScene) else DIRECTIONS_IN_SPACE
    bodies = [(i, find.scene.bodies[i]) for i in which]
    extents = [f"    {i}: {_extent(body.shape)},  # {one_line(body.name)}" for i, body in bodies]
    table = [
        *([directions] if pairs else []),
        "# How far each body extends from its centre, along directions in its own axes",
        "extent = {",
        *extents,
        "}",
    ]
    functions = (_matrix(find), *([OVERLAP] if pairs else []), *([DEPTH] if planes else []))
    return "\n".join(table) + "\n\n", functions


def _plane(boundary: Any) -> str:
    normal = np.array(boundary.normal) / norm(np.array(boundary.normal))
    return f"{numbers(normal)}, {numbers(boundary.point)}"


def _through(find: Find) -> Closing:
    scene, names = find.scene, find.violation.bodies
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    planes = {boundary.name: boundary for boundary in scene.boundaries}
    if len(names) != 2 or not all(name in index or name in planes for name in names):
        raise ScriptError(f"a script shows 'went through' of two, not of {', '.join(names) or 'none'}")
    which = [index[name] for name in names if name in index]
    width = min(mass.width(scene.bodies[i].shape) for i in which)
    on_plane = len(which) == 1
    if on_plane:
        (i,), (other,) = which, [planes[name] for name in names if name in planes]
        first, second = one_line(scene.bodies[i].name), one_line(other.name)
        measured = f"depth(k, {i}, {_plane(other)})"
        words = f"{first}: its lowest point is {{deep[most]:.4g}} m below {second} after {{most * {find.dt!r}:.4g}} s; "
        words += f"it is {width:.4g} m thick; at the end its centre is at {{position[-1, {i}].round(3).tolist()}} m"
    else:
        a, b = which
        first, second = one_line(scene.bodies[a].name), one_line(scene.bodies[b].name)
        measured = f"overlap(k, {a}, {b})"
        words = f"{first} and {second} overlap by {{deep[most]:.4g}} m after {{most * {find.dt!r}:.4g}} s; "
        words += f"the thinner of them is {width:.4g} m thick"
    table, functions = _shapes(find, which, pairs=not on_plane, planes=on_plane)
    text = (
        f"deep = [{measured} for k in range(len(states))]\n"
        f'most = int(np.argmax(deep))\nprint(f"{words}")\n' + _finished(f"deep[most] > {THROUGH * width:.4g}")
    )
    return Closing(text=HISTORY + table + text, functions=functions)


def _hangs(find: Find) -> Closing:
    scene = find.scene
    i = find.bodies[0]
    others = [k for k in range(len(scene.bodies)) if k != i]
    near = [f"overlap(k, {i}, {other})" for other in others]
    near += [f"depth(k, {i}, {_plane(boundary)})" for boundary in scene.boundaries]
    width, g = mass.width(scene.bodies[i].shape), float(norm(np.array(scene.gravity)))
    name = one_line(scene.bodies[i].name)
    table, functions = _shapes(find, [i, *others], pairs=bool(others), planes=bool(scene.boundaries))
    text = f"""# The longest time in which {name} is in contact with nothing
gap = np.array([-max([{", ".join(near)}], default=-np.inf) for k in range(len(states))])
free = np.flatnonzero(gap > {find.contact_tolerance + 0.01 * width:.3g})
runs = [run for run in np.split(free, np.flatnonzero(np.diff(free) > 1) + 1) if len(run)] or [np.zeros(1, int)]
longest = max(runs, key=len)
first, last = longest[0], longest[-1]
lasted, gravity = (last - first) * {find.dt!r}, np.array({numbers(scene.gravity)})
flown = position[first, {i}] + lasted * (velocity[first, {i}] - {numbers(find.engine.lag)} * gravity)
fall, missed = 0.5 * {g!r} * lasted**2, np.linalg.norm(position[last, {i}] - flown - 0.5 * lasted**2 * gravity)
print(f"{name}: from {{first * {find.dt!r}:.4g}} s for {{lasted:.4g}} s it is in contact with nothing, up to "
      f"{{gap[first:last + 1].max():.4g}} m away; it should fall by {{fall:.4g}} m and misses that by {{missed:.4g}} m")
"""
    ending = _finished(f"missed > 0.5 * fall and fall > {0.5 * width:.4g}")
    return Closing(text=HISTORY + table + text + ending, functions=functions)


# --- rest -------------------------------------------------------------------------------------------------------------


def _speeds(find: Find) -> str:
    radii = [mass.bounding_radius(body.shape) for body in find.scene.bodies]
    spin = "np.abs(spin)" if isinstance(find.scene, PlanarScene) else "np.linalg.norm(spin, axis=2)"
    return (
        HISTORY
        + "# How fast any point of a body may be: speed of its centre, and spin times its radius\n"
        + f"speed = np.linalg.norm(velocity, axis=2) + np.array({numbers(radii)}) * {spin}\n"
    )


def _rest_scale(scene: Scene) -> tuple[float, float]:
    """Speed below which a scene is at rest, m/s, and for how long it has to be, s."""
    g = float(norm(np.array(scene.gravity)))
    size = 2.0 * min(mass.bounding_radius(body.shape) for body in scene.bodies)
    return REST_SPEED * math.sqrt(g * size), math.sqrt(size / g)


def _never_rested(find: Find) -> Closing:
    limit, long = (NEARLY * _rest_scale(find.scene)[0], _rest_scale(find.scene)[1] / NEARLY)
    steps = max(1, round(long / find.dt))
    text = f"""last = speed[-{steps}:]
print(f"it starts in equilibrium; in the last {steps * find.dt:.3g} s the largest speed is {{last.max():.4g}} m/s, "
      f"and at the end {{last[-1].max():.4g}} m/s")
"""
    return Closing(text=_speeds(find) + text + _finished(f"last.max() > {limit:.4g}"))


def _never_slows(find: Find) -> Closing:
    limit, _ = _rest_scale(find.scene)
    names = ", ".join(one_line(find.scene.bodies[i].name) for i in find.bodies)
    text = f"""speed = speed[:, {find.bodies}]
quarter = len(states) // 4
before, after = speed[-2 * quarter:-quarter].mean(axis=0).max(), speed[-quarter:].mean(axis=0).max()
print(f"{names}: mean speed {{before:.4g}} m/s in the third quarter of the time, {{after:.4g}} m/s in the last, "
      f"though friction should stop it")
"""
    return Closing(text=_speeds(find) + text + _finished(f"after > {limit:.4g}"))


TURNED_IN_PLANE = "turned = np.abs(turn - turn[0]).max(axis=0)\n"
TURNED_IN_SPACE = """cosine = np.abs((turn * turn[0]).sum(axis=2)) / np.linalg.norm(turn, axis=2)
turned = 2.0 * np.arccos(np.minimum(1.0, cosine)).max(axis=0)
"""


def _moved(find: Find) -> Closing:
    text = """# How far each body gets from where it starts
gone = np.linalg.norm(position - position[0], axis=2).max(axis=0)
"""
    text += TURNED_IN_PLANE if isinstance(find.scene, PlanarScene) else TURNED_IN_SPACE
    conditions = []
    for i in find.bodies:
        body = find.scene.bodies[i]
        radius = mass.bounding_radius(body.shape)
        text += (
            f'print(f"{one_line(body.name)}: it starts at rest in equilibrium, its centre moves by {{gone[{i}]:.4g}} m '
            f'and it turns by {{np.degrees(turned[{i}]):.4g}} degrees; it is {2.0 * radius:.4g} m across")\n'
        )
        conditions.append(f"gone[{i}] + {radius:.4g} * min(2.0, turned[{i}]) > {MOVED * 2.0 * radius:.4g}")
    return Closing(text=HISTORY + text + _finished(" or ".join(conditions)))


def _fell_over(find: Find) -> Closing:
    i = find.bodies[0]
    name = one_line(find.scene.bodies[i].name)
    up = f"up = np.array({numbers(np.array(find.scene.gravity) / -norm(np.array(find.scene.gravity)))})\n"
    functions: tuple[str, ...] = (_matrix(find),)
    if isinstance(find.scene, PlanarScene):
        lean, functions = f"lean = abs(turn[-1, {i}] - turn[0, {i}])\n", ()
    elif (axis := axes_of_revolution(find.scene).get(i)) is None:
        upright = f"(matrix(turn[0, {i}]).T @ up) @ (matrix(turn[-1, {i}]).T @ up)"
        lean = f"{up}lean = np.arccos(np.clip({upright}, -1.0, 1.0))\n"
    else:
        along = f"abs(matrix(turn[k, {i}])[:, {axis}] @ up)"
        lean = f"{up}first, last = (np.arccos(min(1.0, {along})) for k in (0, -1))\n"
        lean += "lean = abs(last - first)  # of its axis\n"
    text = f"""print(f"{name}: it starts upright, at rest in equilibrium; at the end it is {{np.degrees(lean):.4g}} "
      f"degrees aslant")
"""
    return Closing(text=HISTORY + lean + text + _finished(f"lean > {FALLEN:.4g}"), functions=functions)


# --- what does not end, or ends without numbers -----------------------------------------------------------------------


def _broken(find: Find) -> Closing:
    text = f"""faulthandler.cancel_dump_traceback_later()
{HISTORY}# The first step with a number that means nothing any more, or the last one
largest = [np.nan_to_num(np.abs(part), nan=np.inf).reshape(len(states), -1).max(axis=1)
           for part in (position, velocity, spin)]
beyond = np.flatnonzero(np.max(largest, axis=0) > {LARGEST:g})
k = beyond[0] if beyond.size else len(states) - 1
warned = {find.engine.warned}
print(f"after {{k * {find.dt!r}:.4g}} s the largest coordinate is {{largest[0][k]:.4g}} m, "
      f"speed {{largest[1][k]:.4g}} m/s, spin {{largest[2][k]:.4g}} rad/s",
      f"; the engine {{warned}}" if warned else "", sep="")
"""
    return Closing(text=text + _finished("beyond.size or warned"))


CLOSINGS: dict[str, Callable[[Find], Closing]] = {
    "broken": _broken,
    "went through": _through,
    "blew up": _energy,
    "hangs": _hangs,
    "keeps moving": _never_slows,
    "moved": _moved,
    "fell over": _fell_over,
    "never rested": _never_rested,
    "energy gained": _energy,
    "momentum not kept": _momentum,
}
