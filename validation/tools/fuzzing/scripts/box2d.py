"""A scene in the API of pybox2d: the calls that our adapter makes for it, in the same order."""

import math
from typing import Any

from reference_engine.array_types import Array
from scenarios.pieces import planar_pieces
from scenarios.scene import Bowl, Disc, PlanarScene, Prismatic, Rod, Rope, inertias
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.planar_boundaries import inset
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
from validation.tools.fuzzing.scripts.pymunk import slabs
from validation.tools.fuzzing.scripts.walls import facets_source

SHORTEST_EDGE = 1.2 * 0.004999999888241291  # m, of a bowl: Box2D refuses edges as short as its slop
STATE = """
return (
    np.array([tuple(body.position) for body in bodies]),
    np.array([body.angle for body in bodies]),
    np.array([tuple(body.linearVelocity) for body in bodies]),
    np.array([body.angularVelocity for body in bodies]),
)
"""

WATCH = """
class Watch(b2ContactListener):
    \"\"\"What each contact was solved to: forces on the second body.\"\"\"

    def __init__(self):
        super().__init__()
        self.solved = []

    def PostSolve(self, contact, impulse):
        manifold = contact.worldManifold
        nx, ny = manifold.normal.x, manifold.normal.y
        solved = list(zip(impulse.normalImpulses, impulse.tangentImpulses))[:impulse.count]
        for along, across in solved:
            force = np.array([along * nx + across * ny, along * ny - across * nx]) / {dt}
            self.solved.append((contact.fixtureA.body, contact.fixtureB.body, force, np.array([nx, ny])))


watch = Watch()
world.contactListener = watch
"""


def engine_code(scene: PlanarScene, dt: float, settings: Settings, positions: Array | None) -> EngineCode:
    """`positions` (S, B, 2) m, of its motion: a half-plane is a slab, and as long as that needs."""
    sweeps = f"{int(settings['velocity_iterations'])}, {int(settings['position_iterations'])}"
    made = _engine(scene, settings), _bodies(scene, settings), _grounds(scene, settings, positions), _joints(scene)
    return EngineCode(
        title="Box2D (pybox2d)",
        imports=("import numpy as np", "from Box2D import b2ContactListener, b2MassData, b2World"),
        build="\n".join(line for part in made for line in part),
        step=f"world.Step({dt!r}, {sweeps})",
        state=STATE,
        lag=-dt / 2,
        forces="for body, (x, y), t in zip(bodies, force.tolist(), torque.tolist()):\n"
        "    body.ApplyForceToCenter((x, y), True)\n"
        "    body.ApplyTorque(t, True)",
        watch=WATCH.replace("{dt}", repr(dt)),
        contacts=_contacts(scene),
    )


def _engine(scene: PlanarScene, settings: Settings) -> list[str]:
    return [
        f"world = b2World(gravity={numbers(scene.gravity)})",
        f"world.SetAllowSleeping({bool(settings['allow_sleep'])})",
        f"world.warmStarting = {bool(settings['warm_starting'])}",
        f"world.continuousPhysics = {bool(settings['continuous'])}",
        "",
    ]


def _bodies(scene: PlanarScene, settings: Settings) -> list[str]:
    names, lines = variables(body.name for body in scene.bodies), []
    numbered = sorted({body.group for body in scene.bodies if body.group})
    for i, (body, moment) in enumerate(zip(scene.bodies, inertias(scene))):
        pose = f"position={numbers(body.position)}, angle={numbers(body.angle)}"
        lines.append(f"# {described(body)}")
        if body.fixed:
            lines.append(f"{names[i]} = world.CreateStaticBody({pose})")
        else:
            lines += [
                f"{names[i]} = world.CreateDynamicBody(",
                f"    {pose},",
                f"    linearVelocity={numbers(body.velocity)}, angularVelocity={numbers(body.spin)},",
                ")",
            ]
        law = _pair_law(scene, i)
        law += f", groupIndex={-1 - numbered.index(body.group)}" if body.group else ""
        for shape, center in planar_pieces(body.shape):
            if isinstance(shape, Disc):
                where = f"pos={numbers(center)}, " if any(center) else ""
                lines.append(f"{names[i]}.CreateCircleFixture(radius={shape.radius!r}, {where}{law})")
            else:
                vertices = _drawn(body.name, shape.vertices, settings)
                lines.append(f"{names[i]}.CreatePolygonFixture(vertices={rows(vertices)}, {law})")
        if not body.fixed:
            given = f"mass={body.mass!r}, center=(0.0, 0.0), I={numbers(moment)}"
            lines.append(f"{names[i]}.massData = b2MassData({given})")
        lines.append("")
    return [*lines, f"bodies = [{', '.join(names[i] for i in free_bodies(scene))}]", ""]


def _contacts(scene: PlanarScene) -> str:
    """By the body of each fixture: of two boundaries nobody can say which."""
    if len(scene.boundaries) > 1:
        return ""
    members = ", ".join(f"{name}: {i}" for i, name in enumerate(variables(body.name for body in scene.bodies)))
    other = len(scene.bodies)
    return f"""
members = {{{members}}}
found = [(members.get(a, {other}), members.get(b, {other}), force, normal) for a, b, force, normal in watch.solved]
watch.solved.clear()
return found
"""


def _pair_law(scene: PlanarScene, member: int) -> str:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "geometric-mean"), laws.shape_values("restitution", "max")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that Box2D's rules make of no two values")
    return f"density=1.0, friction={numbers(friction[member])}, restitution={numbers(restitution[member])}"


def _drawn(name: str, vertices: tuple[tuple[float, float], ...], settings: Settings) -> list[tuple[float, float]]:
    depth = float(settings["polygon_inset"])
    smaller = inset(vertices, depth) if depth else list(vertices)
    if smaller is None:
        raise ScriptError(f"polygon_inset {depth:g} m leaves nothing of {name!r}")
    return smaller


def _grounds(scene: PlanarScene, settings: Settings, positions: Array | None) -> list[str]:
    lines, made = [], iter(slabs(scene, positions))
    for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
        if isinstance(boundary, Bowl):
            count = min(int(settings["bowl_segments"]), int(2.0 * math.pi * boundary.radius / SHORTEST_EDGE))
            center = numbers(boundary.center)
            lines += [
                *facets_source(boundary, count),
                f"fixed = world.CreateStaticBody(position={center})",
                f"fixed.CreateLoopFixture(vertices=(corners - np.array({center})).tolist(), {_pair_law(scene, j)})",
                "",
            ]
            continue
        one = next(made)
        vertices = _drawn(boundary.name, one.vertices, settings)
        lines += [
            f"# {one_line(boundary.name)}: the upper face of a slab",
            f"fixed = world.CreateStaticBody(position={numbers(one.origin)}, angle={numbers(one.angle)})",
            f"fixed.CreatePolygonFixture(vertices={rows(vertices)}, {_pair_law(scene, j)})",
            "",
        ]
    return lines


def _joints(scene: PlanarScene) -> list[str]:
    names = variables(body.name for body in scene.bodies)
    of = {body.name: name for body, name in zip(scene.bodies, names)}
    lines = ["ground = world.CreateStaticBody()  # the world, for joints"] if scene.joints else []
    joints: tuple[Any, ...] = scene.joints
    for joint in joints:
        a, b = of[joint.a], "ground" if joint.b is None else of[joint.b]
        ends = (
            f"bodyA={a}, bodyB={b}, localAnchorA={numbers(joint.anchor_a)}, localAnchorB={numbers(joint.anchor_b)}, "
            f"collideConnected={joint.collide}"
        )
        lines.append(f"# {one_line(joint.name)}: a {joint.kind} joint")
        if isinstance(joint, Prismatic):
            length = math.hypot(*joint.axis)
            axis = numbers((joint.axis[0] / length, joint.axis[1] / length))
            lines.append(f"turned = {b}.angle - {a}.angle")
            lines.append(f"world.CreatePrismaticJoint({ends}, localAxisA={axis}, referenceAngle=turned)")
        elif isinstance(joint, Rod):
            lines.append(f"world.CreateDistanceJoint({ends}, length={joint.length!r})")
        elif isinstance(joint, Rope):
            lines.append(f"world.CreateRopeJoint({ends}, maxLength={joint.length!r})")
        else:
            lines.append(f"world.CreateRevoluteJoint({ends})")
    return [*lines, ""] if lines else []
