"""The ends of scripts that show what bodies do in one another, and away from one another."""

from typing import Any

import numpy as np

from reference_engine.dense import norm
from scenarios import mass
from scenarios.scene import PlanarScene
from validation.metrics.passage import THROUGH
from validation.tools.fuzzing.scripts.closing import HISTORY, Closing, Find, finished, rest_scale
from validation.tools.fuzzing.scripts.parts import ScriptError, numbers, one_line
from validation.tools.fuzzing.scripts.shapes import gap_below, shapes_source
from validation.tools.fuzzing.scripts.walls import ROUND


def through(find: Find) -> Closing:
    """Of two: a body and a boundary, also the wall around it, or two bodies."""
    scene, names = find.scene, find.violation.bodies
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    boundaries = {boundary.name: boundary for boundary in scene.boundaries}
    if len(names) != 2 or not all(name in index or name in boundaries for name in names):
        raise ScriptError(f"a script shows {find.violation.oracle!r} of two, not of {', '.join(names) or 'none'}")
    which = [index[name] for name in names if name in index]
    width = min(mass.width(scene.bodies[i].shape) for i in which)
    after = f"after {{most * {find.dt!r}:.4g}} s"
    other: Any = None
    if len(which) == 1:
        (i,), (other,) = which, [boundaries[name] for name in names if name in boundaries]
        first, second = one_line(scene.bodies[i].name), one_line(other.name)
        measured = gap_below(i, other)
        where = (
            "its furthest point is {deep[most]:.4g} m outside the wall of"
            if _is_round(other)
            else ("its lowest point is {deep[most]:.4g} m below")
        )
        words = f"{first}: {where} {second} {after}; "
        words += f"it is {width:.4g} m thick; at the end its centre is at {{position[-1, {i}].round(3).tolist()}} m"
    else:
        a, b = which
        first, second = one_line(scene.bodies[a].name), one_line(scene.bodies[b].name)
        measured = f"overlap(k, {a}, {b})"
        words = f"{first} and {second} overlap by {{deep[most]:.4g}} m {after}; "
        words += f"the thinner of them is {width:.4g} m thick"
    kinds = {"pairs": other is None, "planes": other is not None and not _is_round(other), "walls": _is_round(other)}
    table, functions = shapes_source(find, which, **kinds)
    text = (
        f"deep = [{measured} for k in range(len(states))]\n"
        f'most = int(np.argmax(deep))\nprint(f"{words}")\n' + finished(f"deep[most] > {THROUGH * width:.4g}")
    )
    return Closing(text=HISTORY + table + text, functions=functions)


def _is_round(boundary: Any) -> bool:
    return boundary is not None and boundary.kind in ROUND


def hangs(find: Find) -> Closing:
    scene = find.scene
    i = find.bodies[0]
    others = [k for k in range(len(scene.bodies)) if k != i]
    near = [f"overlap(k, {i}, {other})" for other in others]
    near += [gap_below(i, boundary) for boundary in scene.boundaries]
    width, g = mass.width(scene.bodies[i].shape), float(norm(np.array(scene.gravity)))
    name = one_line(scene.bodies[i].name)
    walls = any(_is_round(boundary) for boundary in scene.boundaries)
    planes = any(not _is_round(boundary) for boundary in scene.boundaries)
    table, functions = shapes_source(find, [i, *others], pairs=bool(others), planes=planes, walls=walls)
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
    falls = f"missed > 0.5 * fall and fall > {0.5 * width:.4g}"
    if walls or any(scene.bodies[i].name in (joint.a, joint.b) for joint in scene.joints):
        return Closing(text=HISTORY + table + text + finished(falls), functions=functions)
    text += _standing(find, i, others, width)
    functions = (*functions, LEVEL_IN_PLANE if isinstance(scene, PlanarScene) else LEVEL_IN_SPACE, SUPPORT)
    tips = f"still and stands and beside > {0.02 * width:.4g}"
    return Closing(text=HISTORY + table + text + finished(f"({falls}) or ({tips})"), functions=functions)


LEVEL_IN_PLANE = """
def level_directions(up):
    return np.array([[up[1], -up[0]], [-up[1], up[0]]])
"""
LEVEL_IN_SPACE = '''
def level_directions(up):
    """Unit vectors, all around."""
    first = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    first /= np.linalg.norm(first)
    around = np.arange(0, 2 * np.pi, np.pi / 180)
    return np.outer(np.cos(around), first) + np.outer(np.sin(around), np.cross(up, first))
'''
SUPPORT = '''
def support(a, d, level):
    """m, how far a body's points that are furthest along d get along level directions, from its centre, at the end."""
    small, R = 1e-6, matrix(turn[-1, a])
    return (extent[a]((d + small * level) @ R) - extent[a](np.array([d]) @ R)) / small


def way_to(a, b):
    """The direction from a to b along which they overlap least, at the end."""
    A, B = matrix(turn[-1, a]), matrix(turn[-1, b])
    d = np.concatenate([directions, A.T, -A.T, B.T, -B.T])
    return d[np.argmin(extent[a](d @ A) + extent[b](-d @ B) - d @ (position[-1, b] - position[-1, a]))]
'''


def _standing(find: Find, i: int, others: list[int], width: float) -> str:
    """Whether a body at rest at the end stands on something, and by how much all of that is beside its centre."""
    scene, near = find.scene, find.contact_tolerance + 0.01 * width
    limit, long = rest_scale(scene)
    radius = mass.bounding_radius(scene.bodies[i].shape)
    steps = max(2, round(long / find.dt))
    spin = "np.abs(spin[-{0}:, {1}])" if isinstance(scene, PlanarScene) else "np.linalg.norm(spin[-{0}:, {1}], axis=1)"
    lines = [
        "# At the end: is it at rest, and does all that it stands on lie to one side of its centre of mass?",
        f"speed = np.linalg.norm(velocity[-{steps}:, {i}], axis=1) + {radius!r} * {spin.format(steps, i)}",
        f"still, up = speed.max() < {limit:.4g}, -gravity / np.linalg.norm(gravity)",
        "level, touched, far = level_directions(up), [], []",
    ]
    for boundary in scene.boundaries:
        normal = np.array(boundary.normal) / norm(np.array(boundary.normal))  # type: ignore[union-attr]
        lines += [
            f"if {gap_below(i, boundary).replace('(k,', '(-1,')} > -{near:.3g}:",
            f"    touched.append(-np.array({numbers(normal)}))",
            f"    far.append(support({i}, touched[-1], level))",
        ]
    for other in others:
        lines += [
            f"if overlap(-1, {i}, {other}) > -{near:.3g}:",
            f"    touched.append(way_to({i}, {other}))",
            f"    beyond = level @ (position[-1, {other}] - position[-1, {i}])",
            f"    far.append(np.minimum(support({i}, touched[-1], level), "
            f"support({other}, -touched[-1], level) + beyond))",
        ]
    name = one_line(scene.bodies[i].name)
    lines += [
        "stands = bool(touched) and all(d @ up < -0.99 for d in touched)  # and nothing leans on it, or lies on it",
        "beside = -np.max(far, axis=0).min() if stands else 0.0",
        "if still and stands:",
        f'    print(f"{name}: at the end it is at rest, and all that it stands on is to one side of its centre, "',
        '          f"at least {beside:.3g} m beside it" if beside > 0.0 else "it stands on what is below its centre")',
    ]
    return "\n".join(lines) + "\n"
