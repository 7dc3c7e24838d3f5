"""A scene in the API of pybox2d: the calls that our adapter makes for it, in the same order."""

from reference_engine.array_types import Array
from scenarios.scene import Disc, PlanarScene, inertias
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.planar_boundaries import inset
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
from validation.tools.fuzzing.scripts.pymunk import slabs

STATE = """
return (
    np.array([tuple(body.position) for body in bodies]),
    np.array([body.angle for body in bodies]),
    np.array([tuple(body.linearVelocity) for body in bodies]),
    np.array([body.angularVelocity for body in bodies]),
)
"""


def engine_code(scene: PlanarScene, dt: float, settings: Settings, positions: Array | None) -> EngineCode:
    """`positions` (S, B, 2) m, of its motion: a half-plane is a slab, and as long as that needs."""
    sweeps = f"{int(settings['velocity_iterations'])}, {int(settings['position_iterations'])}"
    build = [*_engine(scene, settings), *_bodies(scene, settings), *_grounds(scene, settings, positions)]
    return EngineCode(
        title="Box2D (pybox2d)",
        imports=("import numpy as np", "from Box2D import b2MassData, b2World"),
        build="\n".join(build),
        step=f"world.Step({dt!r}, {sweeps})",
        state=STATE,
        lag=-dt / 2,
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
    for i, (body, moment) in enumerate(zip(scene.bodies, inertias(scene))):
        lines += [
            f"# {described(body)}",
            f"{names[i]} = world.CreateDynamicBody(",
            f"    position={numbers(body.position)}, angle={numbers(body.angle)},",
            f"    linearVelocity={numbers(body.velocity)}, angularVelocity={numbers(body.spin)},",
            ")",
        ]
        if isinstance(body.shape, Disc):
            lines.append(f"{names[i]}.CreateCircleFixture(radius={body.shape.radius!r}, {_pair_law(scene, i)})")
        else:
            vertices = _drawn(body.name, body.shape.vertices, settings)
            lines.append(f"{names[i]}.CreatePolygonFixture(vertices={rows(vertices)}, {_pair_law(scene, i)})")
        lines += [
            f"{names[i]}.massData = b2MassData(mass={body.mass!r}, center=(0.0, 0.0), I={numbers(moment)})",
            "",
        ]
    return [*lines, f"bodies = [{', '.join(names)}]", ""]


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
    lines = []
    for j, (boundary, made) in enumerate(zip(scene.boundaries, slabs(scene, positions)), start=len(scene.bodies)):
        vertices = _drawn(boundary.name, made.vertices, settings)
        lines += [
            f"# {one_line(boundary.name)}: the upper face of a slab",
            f"fixed = world.CreateStaticBody(position={numbers(made.origin)}, angle={numbers(made.angle)})",
            f"fixed.CreatePolygonFixture(vertices={rows(vertices)}, {_pair_law(scene, j)})",
            "",
        ]
    return lines
