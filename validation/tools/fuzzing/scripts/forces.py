"""Springs, thrusters and damping of a scene as source: forces and torques at the state that a step starts from.

The operations are those of `scenarios.forces`, in the same order, so that they have the same bits; but for the sine and
cosine of an angle in the plane, which are numpy's here, and differ from ours in the last bit of one angle in 700.
"""

import textwrap
from typing import Any

import numpy as np

from scenarios.forces import has_applied_forces
from scenarios.scene import PlanarScene, Scene, inertias, masses
from validation.tools.fuzzing.scripts.parts import EngineCode, ScriptError, free_bodies, numbers, rows

PULL = '''
def pull(spring, along, closing):
    """N, on the first end of a spring, towards the second."""
    stiffness, rest_length, damping, tension_only = spring
    length = math.sqrt(np.einsum("i,i->", along, along))
    if length == 0.0 or (tension_only and length < rest_length):
        return np.zeros_like(along)
    direction = along / length
    return (stiffness * (length - rest_length) + damping * np.einsum("i,i->", closing, direction)) * direction
'''
TURNED_IN_SPACE = '''
def turned(q, v):
    """A vector of a body's axes in those of the world."""
    return v + 2.0 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)
'''
TURNED_IN_PLANE = '''
def turned(angle, v):
    """A vector of a body's axes in those of the world."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])
'''


def is_timed(scene: Scene) -> bool:
    """Whether `apply_forces` is called with the time, s: a thruster grows or fades."""
    return any(len({factor for _, factor in thruster.profile}) > 1 for thruster in scene.thrusters)


def force_source(scene: Scene, engine: EngineCode) -> str:
    """Source of the function `apply_forces`, which is called before each step, and of those that it calls; "" where
    nothing but gravity acts. Among them is `acting`: forces and torques (B, ...) at a state, in world axes."""
    if not has_applied_forces(scene):
        return ""
    planar, time = isinstance(scene, PlanarScene), "time" if is_timed(scene) else ""
    acting = [*_damped(scene), *(line for spring in scene.springs for line in _spring(scene, spring))]
    acting += [line for thruster in scene.thrusters for line in _thruster(scene, thruster)]
    acting.append("return force, torque")
    lines = ["position, turn, velocity, spin = (part.copy() for part in state())"]
    if engine.ahead:
        lines.append(f"position += {numbers(engine.ahead)} * velocity  # where they will be when the force acts")
        lines += [f"turn += {numbers(engine.ahead)} * spin"] if planar else []
    state = ", ".join(filter(None, ("position, turn, velocity, spin", time)))
    free = free_bodies(scene)
    lines += [f"force, torque = (part[{free}] for part in acting({state}))", engine.forces.strip("\n")]
    turned = TURNED_IN_PLANE if planar else TURNED_IN_SPACE
    functions = [
        *([PULL.strip("\n") + "\n"] if scene.springs else []),
        *([turned.strip("\n") + "\n"] if any("turned(" in line for line in acting) else []),
        _function(f"acting({state})", "Force, N, and torque, N m, on each body: of what acts beside gravity.", acting),
        _function(f"apply_forces({time})", "They act in the next step.", lines),
    ]
    return "\n\n".join(functions)


def _function(signature: str, about: str, lines: list[str]) -> str:
    return f'def {signature}:\n    """{about}"""\n{textwrap.indent(chr(10).join(lines), "    ")}\n'


def stored_source(scene: Scene) -> list[str]:
    """Statements that make `stored`, J at each step: what springs hold, less what steady couples have given.

    Raises ScriptError where thrusters do other work, which the poses do not tell.
    """
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    lines = ["stored = np.zeros(len(states))  # in springs"] if scene.springs else []
    for spring in scene.springs:
        ends = []
        for name, anchor in ((spring.a, spring.anchor_a), (spring.b, spring.anchor_b)):
            arm = f" + np.array([matrix(one) @ {numbers(anchor)} for one in turn[:, {index.get(name or '', 0)}]])"
            at = f"np.array({numbers(anchor)})" if name is None else f"position[:, {index[name]}]"
            ends.append(at if name is None or not any(anchor) else at + arm)
        lines.append(f"stretch = np.linalg.norm({ends[1]} - ({ends[0]}), axis=1) - {spring.rest_length!r}")
        lines += ["stretch = np.maximum(stretch, 0.0)  # it only pulls"] if spring.tension_only else []
        lines.append(f"stored += 0.5 * {spring.stiffness!r} * stretch**2")
    couples = _couples(scene)
    if couples.any():
        lines += ["stored = np.zeros(len(states))"] if not scene.springs else []
        lines.append(
            f"stored -= (turn - turn[0]) @ np.array({numbers(couples)})  # given by thrusters, a steady couple"
        )
    return lines


def _couples(scene: Scene) -> np.ndarray[Any, Any]:
    """(B,) N m of thrusters, where they push a body nowhere."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    force, size, couples = np.zeros((len(index), 2)), np.zeros(len(index)), np.zeros(len(index))
    for thruster in scene.thrusters:
        if is_timed(scene) or not isinstance(scene, PlanarScene):
            raise ScriptError("a script does not show an energy where thrusters do work that poses do not tell")
        i, push = index[thruster.body], thruster.profile[0][1] * np.array(thruster.force)
        force[i] += push
        size[i] += np.linalg.norm(push)
        couples[i] += thruster.anchor[0] * push[1] - thruster.anchor[1] * push[0]
    if (np.linalg.norm(force, axis=1) > 1e-12 * size)[free_bodies(scene)].any():
        raise ScriptError("a script does not show an energy where thrusters do work that poses do not tell")
    return couples


def lag_source(scene: Scene, lag: float) -> tuple[list[str], list[str]]:
    """Statements that take what has acted in the time `lag`, s, off `velocity`; and off `spin`, in a body's axes."""
    if not lag or not has_applied_forces(scene):
        return [], []
    inverse_mass, inverse_inertia = 1.0 / masses(scene), 1.0 / inertias(scene)
    before = [
        "# and what else acts has made meanwhile",
        "acted = [acting(*now) for now in zip(position, turn, velocity, spin)]",
        "force, torque = (np.array(part) for part in zip(*acted))",
        f"velocity[1:] -= {numbers(lag)} * force[1:] * np.array({numbers(inverse_mass)})[:, None]",
    ]
    inverse = numbers(inverse_inertia)
    if not isinstance(scene, PlanarScene):
        before.append("torque = np.array([[matrix(q).T @ t for q, t in zip(*now)] for now in zip(turn, torque)])")
        inverse = rows(inverse_inertia)
    return before, [f"spin[1:] -= {numbers(lag)} * torque[1:] * np.array({inverse})"]


def _damped(scene: Scene) -> list[str]:
    damping = scene.damping
    lines = ["force, torque = np.zeros_like(position), np.zeros_like(spin)"]
    if damping.quadratic:
        speed = "np.linalg.norm(velocity, axis=1, keepdims=True)"
        lines.append(f"force -= ({numbers(damping.linear)} + {numbers(damping.quadratic)} * {speed}) * velocity")
    elif damping.linear:
        lines.append(f"force -= {numbers(damping.linear)} * velocity")
    if damping.angular:
        lines.append(f"torque -= {numbers(damping.angular)} * spin")
    return lines


def _spring(scene: Scene, spring: Any) -> list[str]:
    planar = isinstance(scene, PlanarScene)
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    lines, points, rates, arms = [], [], [], {}
    for side, name, anchor in (("a", spring.a, spring.anchor_a), ("b", spring.b, spring.anchor_b)):
        if name is None:
            points.append(f"np.array({numbers(anchor)})")
            rates.append(f"np.zeros({len(anchor)})")
            continue
        i = index[name]
        if planar and not any(anchor):
            points.append(f"position[{i}]")
            rates.append(f"velocity[{i}]")
            continue
        arm = arms[name] = f"arm_{side}"
        swing = f"spin[{i}] * np.array([-{arm}[1], {arm}[0]])" if planar else f"np.cross(spin[{i}], {arm})"
        lines.append(f"{arm} = turned(turn[{i}], np.array({numbers(anchor)}))")
        points.append(f"(position[{i}] + {arm})")
        rates.append(f"(velocity[{i}] + {swing})")
    law = f"({spring.stiffness!r}, {spring.rest_length!r}, {spring.damping!r}, {spring.tension_only!r})"
    lines.append(f"pulled = pull({law}, {points[1]} - {points[0]}, {rates[1]} - {rates[0]})")
    for name, sign in ((spring.a, ""), (spring.b, "-")):
        if name is not None:
            lines += _applied(planar, index[name], arms.get(name, ""), f"{sign}pulled")
    return lines


def _thruster(scene: Scene, thruster: Any) -> list[str]:
    i = next(i for i, body in enumerate(scene.bodies) if body.name == thruster.body)
    times, factors = zip(*thruster.profile)
    factor = numbers(factors[0])
    if len(set(factors)) > 1:
        factor = f"np.interp(time, {numbers(times)}, {numbers(factors)})"
    return [
        f"arm = turned(turn[{i}], np.array({numbers(thruster.anchor)}))",
        f"thrust = {factor} * turned(turn[{i}], np.array({numbers(thruster.force)}))",
        *_applied(isinstance(scene, PlanarScene), i, "arm", "thrust"),
    ]


def _applied(planar: bool, i: int, arm: str, force: str) -> list[str]:
    """A force on body i; `arm`: a variable, or none for the centre."""
    lines = [f"force[{i}] += {force}"]
    if planar and arm:
        lines.append(f"torque[{i}] += {arm}[0] * ({force})[1] - {arm}[1] * ({force})[0]")
    elif arm:
        lines.append(f"torque[{i}] += np.cross({arm}, {force})")
    return lines
