"""A scene in the API of Rapier's Python package: the calls that our adapter makes for it, in the same order."""

from typing import Any

import numpy as np

from scenarios.forces import has_applied_forces
from scenarios.scene import PlanarScene, Scene, masses
from validation.engines.shared.embedding import inertias_in_space, start_in_space, vector_in_space
from validation.engines.shared.joint_tree import is_effective, non_colliding_pairs
from validation.engines.shared.maximal_coordinates import joint_frames
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.spatial_pieces import spatial_pieces, wall_of
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    described,
    free_bodies,
    numbers,
    one_line,
    variables,
    vertices_of,
)
from validation.tools.fuzzing.scripts.walls import ROUND, mesh_source

PARAMETERS = (
    "num_solver_iterations", "num_internal_pgs_iterations", "num_internal_stabilization_iterations",
    "normalized_allowed_linear_error", "normalized_prediction_distance", "normalized_max_corrective_velocity",
    "normalized_max_linear_velocity", "contact_recycling",
)  # fmt: skip
QUARTER_TURN = (1.5707963267948966, 0.0, 0.0)  # of its cylinder, which stands along y

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


# Axes that a joint locks; x is that of the joint.
LOCKED = {
    "revolute": "rapier.JointAxesMask.LIN_Y | rapier.JointAxesMask.LIN_Z",
    "prismatic": "rapier.JointAxesMask.LIN_Y | rapier.JointAxesMask.ANG_Z",
    "ball": "rapier.JointAxesMask.LIN_AXES",
    "hinge": "rapier.JointAxesMask.LOCKED_REVOLUTE_AXES",
    "slider": "rapier.JointAxesMask.LOCKED_PRISMATIC_AXES",
}
FORCES = """
for handle, f, t in zip(bodies, force.tolist(), torque.tolist()):
    world.rigid_bodies[handle].add_force({force})
    world.rigid_bodies[handle].add_torque({torque})
"""
APART = """
class PassThrough:
    \"\"\"Which bodies do not meet.\"\"\"

    def filter_contact_pair(self, context):
        pair = sorted(int(context.colliders[one].user_data) for one in (context.collider1, context.collider2))
        return None if pair in {pairs} else rapier.SolverFlags.COMPUTE_IMPULSES

    def filter_intersection_pair(self, context):
        return True

    def modify_solver_contacts(self, context):
        pass


world.physics_hooks = PassThrough()
"""


def engine_code(scene: Scene, dt: float, settings: Settings, version: str) -> EngineCode:
    planar = isinstance(scene, PlanarScene)
    pairs = [list(pair) for pair in non_colliding_pairs(scene)]
    apart = [APART.replace("{pairs}", repr(pairs))] if pairs else []
    made = [
        *_engine(scene, dt, settings),
        *apart,
        *_bodies(scene, settings, planar),
        *_grounds(scene, settings),
        *_joints(scene),
        *_step(scene, planar),
    ]
    push = {"force": "(*f, 0.0)", "torque": "(0.0, 0.0, t)"} if planar else {"force": "tuple(f)", "torque": "tuple(t)"}
    return EngineCode(
        title="Rapier (rapier3d)",
        imports=("import numpy as np", "import rapier3d as rapier"),
        build="\n".join(made),
        step="step()" if _step(scene, planar) else "world.step()",
        state=STATE + (IN_PLANE if planar else IN_SPACE),
        warned='"" if world.quarantine.is_empty() else "put a body out of the world: its state was not finite"',
        lag=-dt / (2 * int(settings["num_solver_iterations"])),
        forces=FORCES.format(**push),
        contacts=_contacts(scene, dt) if settings["friction_model"] == "coulomb" else "",
    )


def _step(scene: Scene, planar: bool) -> list[str]:
    """The function `step`, where a step is more than the engine's own."""
    lines = []
    if has_applied_forces(scene):
        lines += [
            "    for body in (world.rigid_bodies[handle] for handle in bodies):",
            "        body.reset_forces()",
            "        body.reset_torques()",
        ]
    if planar:  # bodies may move along z, by what single precision makes of it: that is taken back
        lines += [
            "    for body in (world.rigid_bodies[handle] for handle in bodies):",
            f"        if abs(body.translation.z) > {OUT_OF_PLANE}:  # what single precision makes of it",
            "            (x, y, _), (vx, vy, _) = body.translation, body.linvel",
            "            body.translation, body.linvel = (x, y, 0.0), (vx, vy, 0.0)",
        ]
    return ["", "def step():", "    world.step()", *lines] if lines else []


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
            f".position({_pose(position[i], orientation[i])})",
            ".can_sleep(False)",
        ]
        if not body.fixed:
            calls += [
                f".linvel({numbers(velocity[i])}).angvel({numbers(spin[i])})",
                f".additional_mass_properties(rapier.MassProperties((0.0, 0.0, 0.0), {numbers(mass[i])}, "
                f"{numbers(inertia[i])}))",
                f".allow_fast_rotation({bool(settings['allow_fast_rotation'])})"
                f".gyroscopic_forces({bool(np.ptp(inertia[i]) > 0.0)})",
            ]
        if planar and not body.fixed:
            calls.append(".locked_axes(rapier.LockedAxes.ROTATION_LOCKED_X | rapier.LockedAxes.ROTATION_LOCKED_Y)")
        pieces = spatial_pieces(body.shape, int(settings["ellipsoid_subdivisions"]))
        colliders = ", ".join(_collider(body.shape, piece, settings) + _pair_law(scene, i) for piece in pieces)
        lines += [
            f"# {described(body)}",
            f"{names[i]} = world.add_body(",
            f"    rapier.RigidBody.{'fixed' if body.fixed else 'dynamic'}()",
            *(f"    {call}" for call in calls[:-1]),
            f"    {calls[-1]},",
            f"    [{colliders}],",
            ")",
            "",
        ]
    lines += ["ground = world.add_body(rapier.RigidBody.fixed())  # the world, for joints"] if scene.joints else []
    return [*lines, f"bodies = [{', '.join(names[i] for i in free_bodies(scene))}]", ""]


def _pose(position: Any, orientation: Any) -> str:
    return f"rapier.Isometry3({numbers(position)}, rapier.Rotation3{numbers(orientation)})"


def _joints(scene: Scene) -> list[str]:
    names, lines = variables(body.name for body in scene.bodies), []
    joints: tuple[Any, ...] = scene.joints
    for joint in joints:
        if not is_effective(scene, joint):
            continue
        f = joint_frames(scene, joint)
        if joint.kind == "rope":
            made = f"rapier.RopeJoint.builder({joint.length!r})"
            ends = f".local_anchor1({numbers(f.anchor_a)}).local_anchor2({numbers(f.anchor_b)})"
        else:
            made = f"rapier.GenericJoint.builder({LOCKED[joint.kind]})"
            first, second = _pose(f.anchor_a, f.frame_a), _pose(f.anchor_b, f.frame_b)
            ends = f"\n    .local_frame1({first})\n    .local_frame2({second})\n    "
        other = "ground" if f.b is None else names[f.b]
        lines += [
            f"# {one_line(joint.name)}: a {joint.kind} joint",
            f"joint = ({made}{ends}.contacts_enabled(True).build())",
            f"world.impulse_joints.insert({names[f.a]}, {other}, joint)",
            "",
        ]
    return lines


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


def _contacts(scene: Scene, dt: float) -> str:
    """By the body of each collider: of two boundaries nobody can say which. Tangents as Rapier has them (Duff et al.
    2017, JCGT 6.1)."""
    if len(scene.boundaries) > 1:
        return ""
    names, other, width = variables(body.name for body in scene.bodies), len(scene.bodies), len(scene.gravity)
    return f"""
handles, found = [{", ".join(names)}], []
for pair in world.narrow_phase.contact_pairs():
    owners = [world.colliders[one].parent for one in (pair.collider1, pair.collider2)]
    a, b = (handles.index(one) if one in handles else {other} for one in owners)
    for manifold in pair.manifolds:
        x, y, z = normal = np.array(manifold.data.normal.to_tuple())
        solved = {{contact.contact_id for contact in manifold.data.solver_contacts}}
        sign = np.copysign(1.0, z)
        c = -1.0 / (sign + z)
        first = np.array([1.0 + sign * x * x * c, sign * x * y * c, -sign * x])
        second = np.array([x * y * c, sign + y * y * c, -y])
        for contact in manifold.points:
            if contact.contact_id in solved:
                t, u = contact.tangent_impulse
                impulse = contact.impulse * normal + u * first + t * second
                found.append((a, b, impulse[:{width}] / {dt!r}, normal[:{width}]))
return found
"""


def _pair_law(scene: Scene, member: int) -> str:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that no product of two values gives")
    product = "rapier.CoefficientCombineRule.MULTIPLY"
    hooked = "rapier.ActiveHooks.FILTER_CONTACT_PAIRS"
    hooks = f"\n        .user_data({member}).active_hooks({hooked})" if non_colliding_pairs(scene) else ""
    return (
        f".density(0.0){hooks}\n        .friction({numbers(friction[member])}).friction_combine_rule({product})"
        f"\n        .restitution({numbers(restitution[member])}).restitution_combine_rule({product})"
    )


def _grounds(scene: Scene, settings: Settings) -> list[str]:
    lines = []
    boundaries: tuple[Any, ...] = scene.boundaries
    for j, boundary in enumerate(boundaries, start=len(scene.bodies)):
        if boundary.kind in ROUND:
            origin = vector_in_space(boundary.center)
            lines += mesh_source(boundary, settings, inwards=True)
            shape = "trimesh(vertices.astype(np.float32), triangles.astype(np.uint32))"
        else:
            wall = wall_of(boundary, {})
            assert wall.normal is not None
            origin, shape = wall.origin, f"halfspace({numbers(wall.normal)})"
            lines.append(f"# {one_line(boundary.name)}")
        lines += [
            "world.add_collider(",
            f"    rapier.Collider.{shape}",
            f"        .translation({numbers(origin)}){_pair_law(scene, j)}",
            ")",
            "",
        ]
    return lines
