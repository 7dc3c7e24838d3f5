"""A scene in pymunk's own API: the calls that our adapter makes for it, in the same order."""

import math

from reference_engine.array_types import Array
from scenarios.scene import Disc, PlanarScene, inertias
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.planar_boundaries import LONGER, Slab, slab
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    described,
    numbers,
    one_line,
    rows,
    variables,
)

STATE = """
return (
    np.array([body.position for body in bodies]),
    np.array([body.angle for body in bodies]),
    np.array([body.velocity for body in bodies]),
    np.array([body.angular_velocity for body in bodies]),
)
"""


def engine_code(scene: PlanarScene, dt: float, settings: Settings, positions: Array | None) -> EngineCode:
    """`positions` (S, B, 2) m, of its motion: a half-plane is a slab, and as long as that needs."""
    return EngineCode(
        title="Chipmunk (pymunk)",
        imports=("import numpy as np", "import pymunk"),
        build="\n".join([*_engine(scene, settings), *_bodies(scene), *_grounds(scene, positions)]),
        step=f"space.step({dt!r})",
        state=STATE,
        lag=dt / 2,
    )


def _engine(scene: PlanarScene, settings: Settings) -> list[str]:
    sleeps = float(settings["sleep_time_threshold"])
    return [
        "space = pymunk.Space()",
        f"space.gravity = {numbers(scene.gravity)}",
        f"space.iterations = {int(settings['iterations'])}",
        f"space.collision_slop = {numbers(float(settings['collision_slop']))}",
        f"space.collision_bias = {numbers(float(settings['collision_bias']))}",
        f"space.collision_persistence = {int(settings['collision_persistence'])}",
        *([f"space.sleep_time_threshold = {sleeps!r}"] if sleeps else []),
        "",
    ]


def _bodies(scene: PlanarScene) -> list[str]:
    names, lines = variables(body.name for body in scene.bodies), []
    for i, (body, moment) in enumerate(zip(scene.bodies, inertias(scene))):
        name = names[i]
        lines += [
            f"# {described(body)}",
            f"{name} = pymunk.Body(mass={numbers(body.mass or math.nan)}, moment={numbers(moment)})",
            f"{name}.position, {name}.angle = {numbers(body.position)}, {numbers(body.angle)}",
        ]
        if any(body.velocity) or body.spin:
            lines.append(f"{name}.velocity, {name}.angular_velocity = {numbers(body.velocity)}, {numbers(body.spin)}")
        if isinstance(body.shape, Disc):
            lines.append(f"shape = pymunk.Circle({name}, {body.shape.radius!r})")
        else:
            lines.append(f"shape = pymunk.Poly({name}, {rows(body.shape.vertices)})")
        lines += [*_pair_law(scene, i), f"space.add({name}, shape)", ""]
    return [*lines, f"bodies = [{', '.join(names)}]", ""]


def _pair_law(scene: PlanarScene, member: int) -> list[str]:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that no product of two values gives")
    return [f"shape.friction, shape.elasticity = {numbers(friction[member])}, {numbers(restitution[member])}"]


def _grounds(scene: PlanarScene, positions: Array | None) -> list[str]:
    lines = []
    for j, (boundary, made) in enumerate(zip(scene.boundaries, slabs(scene, positions)), start=len(scene.bodies)):
        lines += [
            f"# {one_line(boundary.name)}: the upper face of a slab",
            "fixed = pymunk.Body(body_type=pymunk.Body.STATIC)",
            f"fixed.position, fixed.angle = {numbers(made.origin)}, {numbers(made.angle)}",
            f"shape = pymunk.Poly(fixed, {rows(made.vertices)})",
            *_pair_law(scene, j),
            "space.add(fixed, shape)",
            "",
        ]
    return lines


def slabs(scene: PlanarScene, positions: Array | None) -> list[Slab]:
    """The half-planes as an adapter has them after so many attempts as this motion needs (S, B, 2)."""
    lengthening = 1.0
    while True:
        made = [slab(scene, plane, lengthening) for plane in scene.boundaries]  # type: ignore[arg-type]
        if positions is None or all(one.spans(scene, positions) for one in made):
            return made
        lengthening *= LONGER
