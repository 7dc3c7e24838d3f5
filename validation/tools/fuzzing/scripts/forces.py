"""Springs and damping of a scene as source: forces and torques at the state that a step starts from.

The operations are those of `scenarios.forces`, in the same order, so that they have the same bits.
"""

import textwrap
from typing import Any

from scenarios.scene import PlanarScene, Scene
from validation.tools.fuzzing.scripts.parts import EngineCode, free_bodies, numbers

SPRING = '''
def pull(spring, along, closing):
    """N, on the first end of a spring, towards the second."""
    stiffness, rest_length, damping, tension_only = spring
    length = math.sqrt(np.einsum("i,i->", along, along))
    if length == 0.0 or (tension_only and length < rest_length):
        return np.zeros_like(along)
    direction = along / length
    return (stiffness * (length - rest_length) + damping * np.einsum("i,i->", closing, direction)) * direction
'''
TURNED = '''
def turned(q, v):
    """A vector of a body's axes in those of the world."""
    return v + 2.0 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)
'''


def force_source(scene: Scene, engine: EngineCode) -> str:
    """Source of the function `apply_forces`, which is called before each step, and of those that it calls; "" where
    nothing but gravity acts."""
    damping = scene.damping
    if not scene.springs and not (damping.linear or damping.quadratic or damping.angular):
        return ""
    lines = ["position, turn, velocity, spin = (part.copy() for part in state())"]
    if engine.ahead:
        lines.append(f"position += {numbers(engine.ahead)} * velocity  # where they will be when the force acts")
    lines.append("force, torque = np.zeros_like(position), np.zeros_like(spin)")
    if damping.quadratic:
        speed = "np.linalg.norm(velocity, axis=1, keepdims=True)"
        lines.append(f"force -= ({numbers(damping.linear)} + {numbers(damping.quadratic)} * {speed}) * velocity")
    elif damping.linear:
        lines.append(f"force -= {numbers(damping.linear)} * velocity")
    if damping.angular:
        lines.append(f"torque -= {numbers(damping.angular)} * spin")
    for spring in scene.springs:
        lines += _spring(scene, spring)
    lines += [f"force, torque = force[{free_bodies(scene)}], torque[{free_bodies(scene)}]", engine.forces.strip("\n")]
    body = textwrap.indent("\n".join(lines), "    ")
    pulls = SPRING.lstrip("\n") + "\n\n" if scene.springs else ""
    turns = TURNED.lstrip("\n") + "\n\n" if scene.springs and not isinstance(scene, PlanarScene) else ""
    return f'{pulls}{turns}def apply_forces():\n    """Springs and damping, for the next step."""\n{body}\n'


def _spring(scene: Scene, spring: Any) -> list[str]:
    planar = isinstance(scene, PlanarScene)
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    lines, points, rates = [], [], []
    for side, name, anchor in (("a", spring.a, spring.anchor_a), ("b", spring.b, spring.anchor_b)):
        if name is None:
            points.append(f"np.array({numbers(anchor)})")
            rates.append(f"np.zeros({len(anchor)})")
        elif planar:  # at its centre
            points.append(f"position[{index[name]}]")
            rates.append(f"velocity[{index[name]}]")
        else:
            i = index[name]
            lines.append(f"arm_{side} = turned(turn[{i}], np.array({numbers(anchor)}))")
            points.append(f"(position[{i}] + arm_{side})")
            rates.append(f"(velocity[{i}] + np.cross(spin[{i}], arm_{side}))")
    law = f"({spring.stiffness!r}, {spring.rest_length!r}, {spring.damping!r}, {spring.tension_only!r})"
    lines.append(f"pulled = pull({law}, {points[1]} - {points[0]}, {rates[1]} - {rates[0]})")
    for side, name, sign in (("a", spring.a, ""), ("b", spring.b, "-")):
        if name is not None:
            i = index[name]
            lines.append(f"force[{i}] += {sign}pulled")
            if not planar:
                lines.append(f"torque[{i}] += np.cross(arm_{side}, {sign}pulled)")
    return lines
