"""A scene in the API of Rapier's Python package: the calls that our adapter makes for it, in the same order."""

from typing import Any

import numpy as np

from scenarios.scene import PlanarScene, Scene, masses
from validation.engines.shared.embedding import inertias_in_space, start_in_space, vector_in_space
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

PARAMETERS = (
    "num_solver_iterations", "num_internal_pgs_iterations", "num_internal_stabilization_iterations",
    "normalized_allowed_linear_error", "normalized_prediction_distance", "normalized_max_corrective_velocity",
    "normalized_max_linear_velocity", "contact_recycling",
)  # fmt: skip
QUARTER_TURN = (1.5707963267948966, 0.0, 0.0)  # of its cylinder, which stands along y

BACK_INTO_THE_PLANE = """
def step():
    \"\"\"Bodies may move along z, by what single precision makes of it: that is taken back.\"\"\"
    world.step()
    for body in (world.rigid_bodies[handle] for handle in bodies):
        if abs(body.translation.z) > {limit}:
            (x, y, _), (vx, vy, _) = body.translation, body.linvel
            body.translation, body.linvel = (x, y, 0.0), (vx, vy, 0.0)
"""
OUT_OF_PLANE = 1e-9  # m, that a planar body may be before it is put back
STATE = """
handles = [world.rigid_bodies[body] for body in bodies]
position = np.array([body.translation.to_tuple() for body in handles])
orientation = np.array([body.rotation.to_tuple() for body in handles])[:, [3, 0, 1, 2]]
velocity = np.array([body.linvel.to_tuple() for body in handles])
spin = np.array([body.angvel.to_tuple() for body in handles])
"""
IN_SPACE = "return position, orientation, velocity, spin\n"
IN_PLANE = """angle = 2.0 * np.arctan2(orientation[:, 3], orientation[:, 0])
return position[:, :2], angle, velocity[:, :2], spin[:, 2]
"""


def engine_code(scene: Scene, dt: float, settings: Settings, version: str) -> EngineCode:
    planar = isinstance(scene, PlanarScene)
    back = ["", BACK_INTO_THE_PLANE.format(limit=OUT_OF_PLANE).rstrip()] if planar else []
    return EngineCode(
        title="Rapier (rapier3d)",
        imports=("import numpy as np", "import rapier3d as rapier"),
        build="\n".join([*_engine(scene, dt, settings), *_bodies(scene, settings, planar), *_grounds(scene), *back]),
        step="step()" if planar else "world.step()",
        state=STATE + (IN_PLANE if planar else IN_SPACE),
        warned='"" if world.quarantine.is_empty() else "put a body out of the world: its state was not finite"',
        lag=-dt / (2 * int(settings["num_solver_iterations"])),
    )


def _engine(scene: Scene, dt: float, settings: Settings) -> list[str]:
    damping = float(settings["contact_damping_ratio"])
    soft, still = (float(settings[f"{name}contact_natural_frequency"]) for name in ("", "static_"))
    return [
        f"world = rapier.PhysicsWorld(gravity={numbers(vector_in_space(scene.gravity))})",
        "world.set_num_threads(1)",
        "parameters = world.integration_parameters",
        f"parameters.dt = {dt!r}",
        *(f"parameters.{name} = {settings[name]!r}" for name in PARAMETERS),
        f"parameters.friction_model = rapier.FrictionModel.{str(settings['friction_model']).upper()}",
        f"parameters.contact_softness = rapier.SpringCoefficients({soft!r}, {damping!r})",
        f"parameters.static_contact_softness = rapier.SpringCoefficients({still!r}, {damping!r})",
        "",
    ]


def _bodies(scene: Scene, settings: Settings, planar: bool) -> list[str]:
    position, orientation, velocity, spin = start_in_space(scene)
    inertia, mass = inertias_in_space(scene, out_of_plane=1.0), masses(scene)
    names, lines = variables(body.name for body in scene.bodies), []
    bodies: tuple[Any, ...] = scene.bodies
    for i, body in enumerate(bodies):
        calls = [
            f".position(rapier.Isometry3({numbers(position[i])}, rapier.Rotation3{numbers(orientation[i])}))",
            ".can_sleep(False)",
            f".linvel({numbers(velocity[i])}).angvel({numbers(spin[i])})",
            f".additional_mass_properties(rapier.MassProperties((0.0, 0.0, 0.0), {numbers(mass[i])}, "
            f"{numbers(inertia[i])}))",
            f".allow_fast_rotation({bool(settings['allow_fast_rotation'])})"
            f".gyroscopic_forces({bool(np.ptp(inertia[i]) > 0.0)})",
        ]
        if planar:
            calls.append(".locked_axes(rapier.LockedAxes.ROTATION_LOCKED_X | rapier.LockedAxes.ROTATION_LOCKED_Y)")
        pieces = spatial_pieces(body.shape, int(settings["ellipsoid_subdivisions"]))
        colliders = ", ".join(_collider(body.shape, piece, settings) + _pair_law(scene, i) for piece in pieces)
        lines += [
            f"# {described(body)}",
            f"{names[i]} = world.add_body(",
            "    rapier.RigidBody.dynamic()",
            *(f"    {call}" for call in calls[:-1]),
            f"    {calls[-1]},",
            f"    [{colliders}],",
            ")",
            "",
        ]
    return [*lines, f"bodies = [{', '.join(names)}]", ""]


def _collider(shape: Any, piece: Any, settings: Settings) -> str:
    match piece.kind:
        case "sphere":
            return f"rapier.Collider.ball({piece.size[0]!r})"
        case "box":
            where = f".translation({numbers(piece.center)})" if any(piece.center) else ""
            where += f".rotation({numbers((0.0, 0.0, piece.angle))})" if piece.angle else ""
            return f"rapier.Collider.cuboid{numbers(piece.size)}{where}"
        case "capsule":
            return f"rapier.Collider.capsule_z({piece.size[1]!r}, {piece.size[0]!r})"
        case "cylinder":
            return f"rapier.Collider.cylinder({piece.size[1]!r}, {piece.size[0]!r}).rotation({numbers(QUARTER_TURN)})"
        case "hull":
            return f"rapier.Collider.convex_hull(np.array({vertices_of(shape, piece, settings)}, np.float32))"
    raise ScriptError(f"a script cannot express the shape {piece.kind!r}")


def _pair_law(scene: Scene, member: int) -> str:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that no product of two values gives")
    product = "rapier.CoefficientCombineRule.MULTIPLY"
    return (
        f".density(0.0)\n        .friction({numbers(friction[member])}).friction_combine_rule({product})"
        f"\n        .restitution({numbers(restitution[member])}).restitution_combine_rule({product})"
    )


def _grounds(scene: Scene) -> list[str]:
    lines = []
    for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
        wall = wall_of(boundary, {})
        assert wall.normal is not None
        lines += [
            f"# {one_line(boundary.name)}",
            "world.add_collider(",
            f"    rapier.Collider.halfspace({numbers(wall.normal)})",
            f"        .translation({numbers(wall.origin)}){_pair_law(scene, j)}",
            ")",
            "",
        ]
    return lines
