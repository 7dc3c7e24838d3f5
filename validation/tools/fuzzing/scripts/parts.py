"""What the scripts of all engines are made of: the engine's own part, and how numbers and names are written."""

import inspect
import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenarios.joint_forces import driven_joints
from scenarios.scene import Scene
from validation.engines.engine import Value
from validation.engines.shared.embedding import icosphere
from validation.running.options import RunError


class ScriptError(RunError):
    """A script cannot express this scene, or show this fault; one line that names what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCode:
    """The code that simulates a scene in an engine's own API.

    `state` is the body of a function without arguments, which returns four arrays with a row for each body that is not
    fixed: positions, orientations, velocities and spins. In space orientations are quaternions w-x-y-z; in the plane
    the second and fourth are angles and spins, (F,).
    """

    title: str  # the engine's name, as its authors write it
    imports: tuple[str, ...]  # one line each
    build: str
    step: str
    state: str
    lag: float  # s, time of the velocities minus time of the poses
    spin_of_body: bool = False  # whether spins are in body axes, not in those of the world
    warned: str = '""'  # what the engine says of its state, a Python expression for some words, or none
    forces: str = ""
    """Statements that apply `force` (F, D), N, and `torque`, N m, to those bodies for the next step, in world axes."""
    time: str = "k * {dt}"  # s: of the step to come, an expression; k steps are done
    ahead: float = 0.0  # s: forces are taken at the poses that bodies have so much later at their speed
    contacts: str = ""
    """Body of a function that returns the contacts of the last step: a, b, force (D,) N on b, unit normal from a to b.
    a and b are as the scene numbers bodies and, after them, boundaries. "": there is none."""
    watch: str = ""  # statements before the first step, where contacts are read


Settings = dict[str, Value]


def refuse_what_no_script_has(scene: Scene) -> None:
    """Raises ScriptError for what no engine's part expresses in this version."""
    given: list[tuple[str, Any]] = [("a model of an engine's own", getattr(scene, "native", None) is not None)]
    given += [(f"the track {joint.name!r}", joint.kind == "track") for joint in scene.joints]  # the first one is named
    given += [
        (f"the spring at {spring.a!r}, which is pulled along a path", spring.anchor_path is not None)
        for spring in scene.springs
    ]
    given += [
        (f"the {joint.kind} {joint.name!r} in space", scene.dimension == 3 and joint.kind in ("fixed", "rod", "rope"))
        for joint in scene.joints
    ]
    given += [(f"the given motion of {body.name!r}", body.motion is not None) for body in scene.bodies]
    members = (*scene.bodies, *scene.boundaries)
    given += [(f"the margin of {member.name!r}", member.margin is not None) for member in members]
    given += [(f"what acts along the joint {joint.name!r}", True) for joint in driven_joints(scene)]
    given.append(("compliant contacts", scene.contact.compliant))
    for what, there in given:
        if there:
            raise ScriptError(
                f"a script cannot express {what}; what it can: bodies, joints, boundaries, springs, thrusters, "
                "damping, gravity"
            )


def free_bodies(scene: Scene) -> list[int]:
    return [i for i, body in enumerate(scene.bodies) if not body.fixed]


def numbers(given: float | Iterable[float] | np.ndarray[Any, Any]) -> str:
    """With all their digits: 0.5, or (0.0, 0.0, -9.81)."""
    if isinstance(given, (int, float)):
        return repr(float(given))
    parts = [repr(float(part)) for part in np.ravel(np.asarray(given, dtype=np.float64))]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def rows(given: Sequence[Sequence[float]] | np.ndarray[Any, Any], indent: str = "    ") -> str:
    """A list of points, some in a line."""
    points = [numbers(row) for row in np.asarray(given, dtype=np.float64)]
    lines, line = [], indent
    for point in points:
        if len(line) + len(point) > 110 and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += f"{point}, "
    return "[\n" + "\n".join([*lines, line.rstrip()]) + "\n]"


def variables(names: Iterable[str]) -> list[str]:
    """A Python name for each: body 1 -> body_1; no two alike."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "body"
        plain = plain if plain.isidentifier() and plain[0] != "_" else f"body_{plain}"
        while plain in found or plain in TAKEN:
            plain += "_"
        found.append(plain)
    return found


TAKEN = frozenset({
    *keyword.kwlist, "space", "world", "pb", "np", "sys", "math", "model", "data", "state", "states", "shape", "bodies",
    "matrix", "extent", "mass", "up", "fixed", "moving", "start", "free", "tree", "wall", "joint", "force",
    "torque", "made", "ground", "link", "corners", "vertices", "triangles", "around", "contacts", "apart", "step",
    "time", "gravity", "position", "turn", "velocity", "spin", "damping", "ties", "tie", "turned", "rim", "facets",
    "facet", "apply_forces", "acting",
    "pull", "thrust", "arm", "mujoco", "pymunk", "rapier", "parameters", "icosphere", "body_in_plane", "print",
    "range", "len", "zip",
})  # fmt: skip


def icosphere_source() -> str:
    """The function by which an ellipsoid is cut, without our types: it gives the same points to the bit."""
    source = inspect.getsource(icosphere)
    return re.sub(r"\) -> [^:]*:", "):", source, count=1)


def described(body: Any) -> str:
    """body 1: a box of 2 kg"""
    kind = body.shape.kind.replace("convex-mesh", "convex hull").replace("disc", "circle")
    if body.fixed:
        return f"{one_line(body.name)}: a fixed {kind}"
    return f"{one_line(body.name)}: {'an' if kind[0] in 'aeiou' else 'a'} {kind} of {body.mass:g} kg"


def vertices_of(shape: Any, piece: Any, settings: Settings) -> str:
    """Source of the points (K, 3) of a hull: a list, or an ellipsoid's by the function that cuts it."""
    if shape.kind == "ellipsoid":
        return f"icosphere({int(settings['ellipsoid_subdivisions'])})[0] * {numbers(shape.semi_axes)}"
    return rows(piece.points)


def one_line(text: str) -> str:
    """Of a name or message, for a comment or a string."""
    return re.sub(r"[^\x20-\x7e]|[\"'\\{}]", "?", text)
