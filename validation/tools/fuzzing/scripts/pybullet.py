"""A scene in pybullet's own API: the calls that our adapter makes for it, in the same order."""

from typing import Any

from scenarios.scene import PlanarScene, Scene, masses
from validation.engines.shared.embedding import inertias_in_space, start_in_space, turned_about_z, vector_in_space
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.spatial_pieces import spatial_pieces, wall_of
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    described,
    numbers,
    one_line,
    variables,
    vertices_of,
)

PARAMETERS = (  # of the engine, pybullet's name and that of our setting
    ("numSolverIterations", "iterations"),
    ("solverResidualThreshold", "residual_threshold"),
    ("contactBreakingThreshold", "contact_breaking_threshold"),
    ("contactERP", "contact_erp"),
    ("contactSlop", "contact_slop"),
    ("restitutionVelocityThreshold", "restitution_velocity_threshold"),
    ("enableConeFriction", "cone_friction"),
    ("globalCFM", "global_cfm"),
    ("deterministicOverlappingPairs", "deterministic_overlapping_pairs"),
)
OUT_OF_PLANE = 1e6  # mass of the slide across the plane, in masses of what it carries

SPATIAL_STATE = """
poses = [pb.getBasePositionAndOrientation(body) for body in bodies]
twists = [pb.getBaseVelocity(body) for body in bodies]
position = np.array([p for p, _ in poses])
orientation = np.array([(w, x, y, z) for _, (x, y, z, w) in poses])
return position, orientation, np.array([v for v, _ in twists]), np.array([spin for _, spin in twists])
"""
PLANAR_STATE = """
rows = np.array([[joint[:2] for joint in pb.getJointStates(body, (1, 2, 3))] for body in bodies])
return rows[:, :2, 0], rows[:, 2, 0], rows[:, :2, 1], rows[:, 2, 1]
"""
PLANAR_HELPER = """
def body_in_plane(shape, mass, inertia, start, rates):
    \"\"\"On slides along z (too heavy to be moved), x and y without mass or shape, and a hinge about z.\"\"\"
    body = pb.createMultiBody(
        baseMass=0.0,
        linkMasses=[{heavy} * mass, 0.0, 0.0, mass],
        linkCollisionShapeIndices=[-1, -1, -1, shape],
        linkVisualShapeIndices=[-1] * 4,
        linkPositions=[(0, 0, 0)] * 4,
        linkOrientations=[(0, 0, 0, 1)] * 4,
        linkInertialFramePositions=[(0, 0, 0)] * 4,
        linkInertialFrameOrientations=[(0, 0, 0, 1)] * 4,
        linkParentIndices=[0, 1, 2, 3],
        linkJointTypes=[pb.JOINT_PRISMATIC, pb.JOINT_PRISMATIC, pb.JOINT_PRISMATIC, pb.JOINT_REVOLUTE],
        linkJointAxis=[(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
        flags=FLAGS,
    )
    pb.changeDynamics(body, 3, localInertiaDiagonal=inertia)
    for link in range(-1, 4):
        pb.changeDynamics(body, link, **damping)
    for link in range(4):  # pybullet gives every joint a brake of its own
        pb.setJointMotorControl2(body, link, pb.VELOCITY_CONTROL, force=0.0)
    for link in (1, 2, 3):
        pb.resetJointState(body, link, start[link - 1], rates[link - 1])
    return body
"""


def engine_code(scene: Scene, dt: float, settings: Settings, version: str) -> EngineCode:
    planar = isinstance(scene, PlanarScene)
    return EngineCode(
        title="Bullet (pybullet)",
        imports=("import numpy as np", "import pybullet as pb"),
        build="\n".join([*_engine(scene, dt, settings, planar), *_bodies(scene, settings, planar), *_grounds(scene)]),
        step="pb.stepSimulation()",
        state=PLANAR_STATE if planar else SPATIAL_STATE,
        lag=-dt / 2,
    )


def _engine(scene: Scene, dt: float, settings: Settings, planar: bool) -> list[str]:
    given = [f"    {name}={_value(settings[ours])}," for name, ours in PARAMETERS]
    damping = (
        f'damping = {{"linearDamping": {settings["linear_damping"]!r}, "angularDamping": '
        f'{settings["angular_damping"]!r}, "maxJointVelocity": {settings["max_speed"]!r}, "jointDamping": 0.0}}'
    )
    helper = PLANAR_HELPER.replace("{heavy}", numbers(OUT_OF_PLANE)) if planar else ""
    return [
        "pb.connect(pb.DIRECT)",
        f"pb.setTimeStep({dt!r})",
        f"pb.setGravity{numbers(vector_in_space(scene.gravity))}",
        "pb.setPhysicsEngineParameter(",
        *given,
        ")",
        damping,
        "FLAGS = pb.URDF_USE_SELF_COLLISION | pb.URDF_USE_SELF_COLLISION_INCLUDE_PARENT",
        *(["", helper] if planar else []),
        "",
    ]


def _value(value: Any) -> str:
    return repr(int(value) if isinstance(value, bool) else value)


def _bodies(scene: Scene, settings: Settings, planar: bool) -> list[str]:
    position, orientation, velocity, spin = start_in_space(scene)
    inertia, mass = inertias_in_space(scene, out_of_plane=1.0), masses(scene)
    names, lines = variables(body.name for body in scene.bodies), []
    bodies: tuple[Any, ...] = scene.bodies
    for i, body in enumerate(bodies):
        (piece,) = spatial_pieces(body.shape, int(settings["ellipsoid_subdivisions"]))
        w, x, y, z = orientation[i]
        lines += [f"# {described(body)}", f"shape = {_shape(body.shape, piece, settings)}"]
        if planar:
            start = numbers((*body.position, body.angle))
            rates, link = numbers((*body.velocity, body.spin)), 3
            own = f"{numbers(mass[i])}, {numbers(inertia[i])}"
            lines.append(f"{names[i]} = body_in_plane(shape, {own}, {start}, {rates})")
        else:
            pose, link = f"{numbers(position[i])}, {numbers((x, y, z, w))}", -1
            lines.append(f"{names[i]} = pb.createMultiBody({numbers(mass[i])}, shape, -1, {pose}, flags=FLAGS)")
            lines.append(
                f"pb.changeDynamics({names[i]}, -1, localInertiaDiagonal={numbers(inertia[i])}, **damping)",
            )
        if piece.kind == "hull":  # a mesh would be 1 mm larger all around
            lines.append(f"pb.changeDynamics({names[i]}, {link}, collisionMargin=0.0)")
        if not planar and (velocity[i].any() or spin[i].any()):
            lines.append(f"pb.resetBaseVelocity({names[i]}, {numbers(velocity[i])}, {numbers(spin[i])})")
        lines += [_pair_law(scene, i, names[i], link), ""]
    return [*lines, f"bodies = [{', '.join(names)}]", ""]


def _shape(shape: Any, piece: Any, settings: Settings) -> str:
    match piece.kind:
        case "sphere":
            return f"pb.createCollisionShape(pb.GEOM_SPHERE, radius={piece.size[0]!r})"
        case "box":
            frame = f"collisionFramePosition={numbers(piece.center)}, " if any(piece.center) else ""
            if piece.angle:
                w, x, y, z = turned_about_z(piece.angle)
                frame += f"collisionFrameOrientation={numbers((x, y, z, w))}, "
            return f"pb.createCollisionShape(pb.GEOM_BOX, {frame}halfExtents={numbers(piece.size)})"
        case "capsule" | "cylinder":
            kind = f"pb.GEOM_{piece.kind.upper()}"
            return f"pb.createCollisionShape({kind}, radius={piece.size[0]!r}, height={2.0 * piece.size[1]!r})"
        case "hull":
            points = vertices_of(shape, piece, settings)
            points = points if points[0] == "[" else f"({points}).tolist()"
            return f"pb.createCollisionShape(pb.GEOM_MESH, vertices={points})"
    raise ScriptError(f"a script cannot express the shape {piece.kind!r}")


def _grounds(scene: Scene) -> list[str]:
    lines = []
    names = variables([*(body.name for body in scene.bodies), *(one.name for one in scene.boundaries)])
    boundaries: tuple[Any, ...] = scene.boundaries
    for j, boundary in enumerate(boundaries, start=len(scene.bodies)):
        origin, normal = wall_of(boundary, {}).origin, vector_in_space(boundary.normal)
        plane = f"pb.createCollisionShape(pb.GEOM_PLANE, planeNormal={numbers(normal)})"
        lines += [
            f"# {one_line(boundary.name)}",
            f"{names[j]} = pb.createMultiBody(0.0, {plane}, -1, {numbers(origin)})",
            _pair_law(scene, j, names[j], -1),
            "",
        ]
    return lines


def _pair_law(scene: Scene, member: int, name: str, link: int) -> str:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that no product of two values gives")
    return (
        f"pb.changeDynamics({name}, {link}, lateralFriction={numbers(friction[member])}, "
        f"restitution={numbers(restitution[member])}, spinningFriction=0.0, rollingFriction=0.0)"
    )
