"""A scene in pymunk's own API: the calls that our adapter makes for it, in the same order."""

import math
from typing import Any

from reference_engine.array_types import Array
from scenarios.pieces import planar_pieces
from scenarios.scene import Bowl, Disc, HalfPlane, PlanarScene, Prismatic, Rod, Rope, inertias
from validation.engines.shared.joint_tree import is_effective
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.planar_boundaries import LONGER, Slab, slab
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    described,
    free_bodies,
    numbers,
    one_line,
    rows,
    variables,
)
from validation.tools.fuzzing.scripts.walls import facets_source

GROOVE = 1e5  # m either way, as the adapter has it

STATE = """
return (
    np.array([body.position for body in bodies]),
    np.array([body.angle for body in bodies]),
    np.array([body.velocity for body in bodies]),
    np.array([body.angular_velocity for body in bodies]),
)
"""

WATCH = """
solved = []


def note(arbiter, space, data):
    first, second = (shape.body for shape in arbiter.shapes)
    solved.append((first, second, -arbiter.total_impulse / {dt}, arbiter.contact_point_set.normal))


space.on_collision(post_solve=note)
"""


def engine_code(scene: PlanarScene, dt: float, settings: Settings, positions: Array | None) -> EngineCode:
    """`positions` (S, B, 2) m, of its motion: a half-plane is a slab, and as long as that needs."""
    made = _engine(scene, settings), _bodies(scene), _grounds(scene, settings, positions), _joints(scene, settings)
    return EngineCode(
        title="Chipmunk (pymunk)",
        imports=("import numpy as np", "import pymunk"),
        build="\n".join(line for part in made for line in part),
        step=f"space.step({dt!r})",
        state=STATE,
        lag=dt / 2,
        forces="for body, (x, y), t in zip(bodies, force.tolist(), torque.tolist()):\n"
        "    body.force, body.torque = (x, y), t",
        time="(k + 1) * {dt}",
        ahead=dt,
        watch=WATCH.replace("{dt}", repr(dt)),
        contacts=_contacts(scene),
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
            f"{name} = pymunk.Body(body_type=pymunk.Body.STATIC)"
            if body.fixed
            else f"{name} = pymunk.Body(mass={numbers(body.mass or math.nan)}, moment={numbers(moment)})",
            f"{name}.position, {name}.angle = {numbers(body.position)}, {numbers(body.angle)}",
        ]
        if not body.fixed and (any(body.velocity) or body.spin):
            lines.append(f"{name}.velocity, {name}.angular_velocity = {numbers(body.velocity)}, {numbers(body.spin)}")
        lines.append(f"space.add({name})")
        for shape, center in planar_pieces(body.shape):
            if isinstance(shape, Disc):
                offset = f", {numbers(center)}" if any(center) else ""
                lines.append(f"shape = pymunk.Circle({name}, {shape.radius!r}{offset})")
            else:
                lines.append(f"shape = pymunk.Poly({name}, {rows(shape.vertices)})")
            lines += [f"shape.filter = pymunk.ShapeFilter(group={body.group})"] if body.group else []
            lines += [*_pair_law(scene, i), "space.add(shape)"]
        lines.append("")
    return [*lines, f"bodies = [{', '.join(names[i] for i in free_bodies(scene))}]", ""]


def _contacts(scene: PlanarScene) -> str:
    """By the body of each shape: of two boundaries nobody can say which."""
    if len(scene.boundaries) > 1:
        return ""
    members = ", ".join(f"{name}: {i}" for i, name in enumerate(variables(body.name for body in scene.bodies)))
    other = len(scene.bodies)
    return f"""
members = {{{members}}}
found = [
    (members.get(a, {other}), members.get(b, {other}), np.array(force), np.array(normal))
    for a, b, force, normal in solved
]
solved.clear()
return found
"""


def _pair_law(scene: PlanarScene, member: int) -> list[str]:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that no product of two values gives")
    return [f"shape.friction, shape.elasticity = {numbers(friction[member])}, {numbers(restitution[member])}"]


def _grounds(scene: PlanarScene, settings: Settings, positions: Array | None) -> list[str]:
    lines, made = [], iter(slabs(scene, positions))
    for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
        if isinstance(boundary, Bowl):
            count = int(settings["bowl_segments"])
            law = [f"    {line.replace('shape.', 'facet.')}" for line in _pair_law(scene, j)]
            lines += [
                *facets_source(boundary, count),
                "corners = [(float(x), float(y)) for x, y in corners]",
                "fixed = pymunk.Body(body_type=pymunk.Body.STATIC)",
                "facets = []",
                f"for i in range({count}):",
                f"    facet = pymunk.Segment(fixed, corners[i], corners[(i + 1) % {count}], 0.0)",
                f"    facet.set_neighbors(corners[i - 1], corners[(i + 2) % {count}])",
                *law,
                "    facets.append(facet)",
                "space.add(fixed, *facets)",
                "",
            ]
            continue
        one = next(made)
        lines += [
            f"# {one_line(boundary.name)}: the upper face of a slab",
            "fixed = pymunk.Body(body_type=pymunk.Body.STATIC)",
            f"fixed.position, fixed.angle = {numbers(one.origin)}, {numbers(one.angle)}",
            f"shape = pymunk.Poly(fixed, {rows(one.vertices)})",
            *_pair_law(scene, j),
            "space.add(fixed, shape)",
            "",
        ]
    return lines


def _joints(scene: PlanarScene, settings: Settings) -> list[str]:
    names = variables(body.name for body in scene.bodies)
    of, lines = {body.name: name for body, name in zip(scene.bodies, names)}, []
    joints: tuple[Any, ...] = scene.joints
    for joint in joints:
        if not is_effective(scene, joint):
            continue
        a, b = of[joint.a], "space.static_body" if joint.b is None else of[joint.b]
        ends, anchors = f"{a}, {b}", f"{numbers(joint.anchor_a)}, {numbers(joint.anchor_b)}"
        lines.append(f"# {one_line(joint.name)}: a {joint.kind} joint")
        if isinstance(joint, Prismatic):
            (x, y), length = joint.anchor_a, math.hypot(*joint.axis)
            ux, uy = (GROOVE * part / length for part in joint.axis)
            groove = f"{numbers((x - ux, y - uy))}, {numbers((x + ux, y + uy))}, {numbers(joint.anchor_b)}"
            lines.append(f"ties = [pymunk.GrooveJoint({ends}, {groove}),")
            lines.append(f"        pymunk.GearJoint({ends}, {b}.angle - {a}.angle, 1.0)]")
        elif isinstance(joint, Rod):
            lines.append(f"ties = [pymunk.PinJoint({ends}, {anchors})]")
            lines.append(f"ties[0].distance = {joint.length!r}")
        elif isinstance(joint, Rope):
            lines.append(f"ties = [pymunk.SlideJoint({ends}, {anchors}, 0.0, {joint.length!r})]")
        else:
            lines.append(f"ties = [pymunk.PivotJoint({ends}, {anchors})]")
        lines += [
            "for tie in ties:",
            f"    tie.collide_bodies, tie.error_bias = {joint.collide}, {numbers(float(settings['joint_bias']))}",
            "    space.add(tie)",
            "",
        ]
    return lines


def slabs(scene: PlanarScene, positions: Array | None) -> list[Slab]:
    """The half-planes as an adapter has them after so many attempts as this motion needs (S, B, 2)."""
    lengthening = 1.0
    while True:
        made = [slab(scene, plane, lengthening) for plane in scene.boundaries if isinstance(plane, HalfPlane)]
        if positions is None or all(one.spans(scene, positions) for one in made):
            return made
        lengthening *= LONGER
