"""A scene in pybullet's own API: the calls that our adapter makes for it, in the same order."""

from typing import Any

import numpy as np

from scenarios.scene import PlanarScene, Scene, masses, planar_start
from validation.engines.pybullet.trees import BASE, OUT_OF_PLANE, X_Y_ANGLE, Tree, trees_of, xyzw
from validation.engines.shared.embedding import inertias_in_space, start_in_space, turned_about_z, vector_in_space
from validation.engines.shared.joint_tree import Link, joint_forest, link_state, non_colliding_pairs
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
UNLIMITED = 1e12  # N

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
SPATIAL_LINKS = """
rows = []
for tree, link in bodies:
    if link == -1:
        rows.append((*pb.getBasePositionAndOrientation(tree), *pb.getBaseVelocity(tree)))
    else:
        row = pb.getLinkState(tree, link, computeLinkVelocity=1, computeForwardKinematics=1)
        rows.append((row[0], row[1], row[6], row[7]))
position, orientation, velocity, spin = (np.array(part) for part in zip(*rows))
return position, orientation[:, [3, 0, 1, 2]], velocity, spin
"""
PLANAR_LINKS = """
rows = []
for (tree, link), hinges, turned in zip(bodies, HINGES, TURNED):
    if hinges is None:  # it hangs on nothing, and nothing on it
        (x, vx), (y, vy), (angle, spin) = (one[:2] for one in pb.getJointStates(tree, (1, 2, 3)))
    else:
        row = pb.getLinkState(tree, link, computeLinkVelocity=1, computeForwardKinematics=1)
        (x, y, _), (vx, vy, _), (_, _, spin) = row[0], row[6], row[7]
        angle = turned + sum(pb.getJointState(tree, hinge)[0] for hinge in hinges)
    rows.append(((x, y), angle, (vx, vy), spin))
return [np.array(part) for part in zip(*rows)]
"""
FORCES = """
for (tree, link), f, t in zip({bodies}, force, torque):
    if f.any() or t.any():
        at = (pb.getBasePositionAndOrientation(tree) if link == -1
              else pb.getLinkState(tree, link, computeForwardKinematics=1))[0]
        pb.applyExternalForce(tree, link, {force}, at, pb.WORLD_FRAME)
        pb.applyExternalTorque(tree, link, {torque}, pb.WORLD_FRAME)
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
    links, loops = joint_forest(scene)
    things = list(trees_of(scene, links))
    trees = [one for one in things if isinstance(one, Tree)]
    alone = all(tree.is_alone for tree in trees)
    names = _names(scene)
    build = [*_engine(scene, dt, settings, planar and any(tree.is_alone for tree in trees))]
    for one in things:
        if isinstance(one, Tree):
            make = _alone if one.is_alone else _tree
            build += make(scene, settings, one, names)
        else:
            build += _fixed(scene, settings, one, names)
    addresses = {body: _address(tree, body, names) for tree in trees for body in tree.segment_of}
    build += [_body_list(scene, trees, addresses, names, alone=alone), *_grounds(scene, settings, names)]
    build += _apart_and_closed(scene, loops, addresses, names)
    force, torque = ("(*f, 0.0)", "(0.0, 0.0, t)") if planar else ("f.tolist()", "t.tolist()")
    pairs = f"((body, {X_Y_ANGLE[-1] if planar else BASE}) for body in bodies)" if alone else "bodies"
    return EngineCode(
        title="Bullet (pybullet)",
        imports=("import numpy as np", "import pybullet as pb"),
        build="\n".join(build),
        step="pb.stepSimulation()",
        state=(PLANAR_STATE if planar else SPATIAL_STATE) if alone else PLANAR_LINKS if planar else SPATIAL_LINKS,
        lag=-dt / 2,
        forces=FORCES.format(bodies=pairs, force=force, torque=torque),
        contacts=_contacts(scene, addresses, names),
    )


Address = tuple[str, int]  # the variable of a multibody, and the link in it


def _apart_and_closed(scene: Scene, loops: Any, addresses: dict[int, Address], names: list[str]) -> list[str]:
    """Which bodies do not meet, and the constraints that close loops."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    at = {i: addresses.get(i, (names[i], BASE)) for i in index.values()}
    lines = []
    for i, j in non_colliding_pairs(scene):
        (a, link_a), (b, link_b) = at[i], at[j]
        lines.append(f"pb.setCollisionFilterPair({a}, {b}, {link_a}, {link_b}, 0)")
    for joint in loops:
        a, link_a = at[index[joint.a]]
        b, link_b = ("-1", BASE) if joint.b is None else at[index[joint.b]]
        first, second = (numbers(vector_in_space(anchor)) for anchor in (joint.anchor_a, joint.anchor_b))
        lines += [
            f"# {one_line(joint.name)} closes a loop",
            f"tie = pb.createConstraint({a}, {link_a}, {b}, {link_b}, pb.JOINT_POINT2POINT, (0.0, 0.0, 0.0),",
            f"                          {first}, {second})",
            f"pb.changeConstraint(tie, maxForce={UNLIMITED!r})",
        ]
    return lines


def _names(scene: Scene) -> list[str]:
    """Variables of bodies and boundaries."""
    return variables([*(body.name for body in scene.bodies), *(one.name for one in scene.boundaries)])


def _address(tree: Tree, body: int, names: list[str]) -> Address:
    return (names[tree.first] if tree.is_alone else f"tree_of_{names[tree.first]}"), tree.segment_of[body]


def _body_list(scene: Scene, trees: list[Tree], addresses: dict[int, Address], names: list[str], *, alone: bool) -> str:
    """The list of the bodies that move, in the scene's order, and of planar links what their angles are."""
    free = free_bodies(scene)
    if alone:
        return f"bodies = [{', '.join(names[i] for i in free)}]\n"
    lines = ["# Multibody and link of each body"]
    lines.append(f"bodies = [{', '.join(f'({addresses[i][0]}, {addresses[i][1]})' for i in free)}]")
    if isinstance(scene, PlanarScene):
        of = {body: tree for tree in trees for body in tree.segment_of}
        hinges = [None if of[i].is_alone else of[i].hinges[i] for i in free]
        lines += ["# Hinges whose angles sum to that of each body, and what it is turned beside", f"HINGES = {hinges}"]
        lines.append(f"TURNED = {[float(of[i].turn[i]) for i in free]}")
    return "\n".join([*lines, ""])


def _engine(scene: Scene, dt: float, settings: Settings, helped: bool) -> list[str]:
    """`helped`: whether a planar body stands alone."""
    given = [f"    {name}={_value(settings[ours])}," for name, ours in PARAMETERS]
    damping = (
        f'damping = {{"linearDamping": {settings["linear_damping"]!r}, "angularDamping": '
        f'{settings["angular_damping"]!r}, "maxJointVelocity": {settings["max_speed"]!r}, "jointDamping": 0.0}}'
    )
    helper = PLANAR_HELPER.replace("{heavy}", numbers(OUT_OF_PLANE)) if helped else ""
    return [
        "pb.connect(pb.DIRECT)",
        f"pb.setTimeStep({dt!r})",
        f"pb.setGravity{numbers(vector_in_space(scene.gravity))}",
        "pb.setPhysicsEngineParameter(",
        *given,
        ")",
        damping,
        "FLAGS = pb.URDF_USE_SELF_COLLISION | pb.URDF_USE_SELF_COLLISION_INCLUDE_PARENT",
        *(["", helper] if helped else []),
        "",
    ]


def _value(value: Any) -> str:
    return repr(int(value) if isinstance(value, bool) else value)


def _alone(scene: Scene, settings: Settings, tree: Tree, names: list[str]) -> list[str]:
    """A body that hangs on nothing, and on which nothing hangs."""
    planar, i = isinstance(scene, PlanarScene), tree.first
    position, orientation, velocity, spin = (part[i] for part in start_in_space(scene))
    inertia, mass = inertias_in_space(scene, out_of_plane=1.0)[i], masses(scene)[i]
    body: Any = scene.bodies[i]
    (piece,) = spatial_pieces(body.shape, int(settings["ellipsoid_subdivisions"]))
    name, link = names[i], tree.segment_of[i]
    lines = [f"# {described(body)}", f"shape = {_shape(body.shape, piece, settings)}"]
    if planar:
        start, rates = numbers((*body.position, body.angle)), numbers((*body.velocity, body.spin))
        lines.append(f"{name} = body_in_plane(shape, {numbers(mass)}, {numbers(inertia)}, {start}, {rates})")
    else:
        pose = f"{numbers(position)}, {numbers(xyzw(orientation))}"
        lines.append(f"{name} = pb.createMultiBody({numbers(mass)}, shape, -1, {pose}, flags=FLAGS)")
        lines.append(f"pb.changeDynamics({name}, -1, localInertiaDiagonal={numbers(inertia)}, **damping)")
    if piece.kind == "hull":  # a mesh would be 1 mm larger all around
        lines.append(f"pb.changeDynamics({name}, {link}, collisionMargin=0.0)")
    if not planar and (velocity.any() or spin.any()):
        lines.append(f"pb.resetBaseVelocity({name}, {numbers(velocity)}, {numbers(spin)})")
    return [*lines, _pair_law(scene, i, name, link), ""]


def _fixed(scene: Scene, settings: Settings, i: int, names: list[str]) -> list[str]:
    position, orientation, _, _ = (part[i] for part in start_in_space(scene))
    body: Any = scene.bodies[i]
    (piece,) = spatial_pieces(body.shape, int(settings["ellipsoid_subdivisions"]))
    pose = f"{numbers(position)}, {numbers(xyzw(orientation))}"
    return [
        f"# {described(body)}",
        f"shape = {_shape(body.shape, piece, settings)}",
        f"{names[i]} = pb.createMultiBody(0.0, shape, -1, {pose})",
        *([f"pb.changeDynamics({names[i]}, -1, collisionMargin=0.0)"] if piece.kind == "hull" else []),
        _pair_law(scene, i, names[i], BASE),
        "",
    ]


def _tree(scene: Scene, settings: Settings, tree: Tree, names: list[str]) -> list[str]:
    """Bodies that hang on one another, or on the world, by joints: links of one multibody."""
    inertia, mass = inertias_in_space(scene, out_of_plane=1.0), masses(scene)
    position, orientation, _, _ = start_in_space(scene)
    bodies: tuple[Any, ...] = scene.bodies
    made, meshes, lines = f"tree_of_{names[tree.first]}", set(), []

    def shape_of(i: int, center: Any) -> str:
        (piece,) = spatial_pieces(bodies[i].shape, int(settings["ellipsoid_subdivisions"]))
        meshes.update([i] if piece.kind == "hull" else [])
        lines.append(f"# {described(bodies[i])}")
        lines.append(f"shape_of_{names[i]} = {_shape(bodies[i].shape, piece, settings, center)}")
        return f"shape_of_{names[i]}"

    base = "    baseMass=0.0,\n"
    if tree.base is not None:
        i = tree.base
        base = (
            f"    baseMass={numbers(mass[i])}, baseCollisionShapeIndex={shape_of(i, np.zeros(3))},\n"
            f"    basePosition={numbers(position[i])}, baseOrientation={numbers(xyzw(orientation[i]))},\n"
        )
    segments = tree.segments
    shapes = ["-1" if s.body is None else shape_of(s.body, s.center) for s in segments]
    count = len(segments)
    fields = {
        "Masses": numbers([s.mass for s in segments]),
        "CollisionShapeIndices": f"[{', '.join(shapes)}]",
        "VisualShapeIndices": f"[-1] * {count}",
        "Positions": f"[{', '.join(numbers(s.position) for s in segments)}]",
        "Orientations": f"[{', '.join(numbers(xyzw(s.orientation)) for s in segments)}]",
        "InertialFramePositions": f"[{', '.join(numbers(s.center) for s in segments)}]",
        "InertialFrameOrientations": f"[(0.0, 0.0, 0.0, 1.0)] * {count}",
        "ParentIndices": f"{[s.parent + 1 for s in segments]}",
        "JointTypes": f"[{', '.join(f'pb.JOINT_{s.kind.upper()}' for s in segments)}]",
        "JointAxis": f"[{', '.join(numbers(s.axis) for s in segments)}]",
    }
    given = "".join(f"    link{name}={value},\n" for name, value in fields.items())
    lines.append(f"{made} = pb.createMultiBody(\n{base}{given}    flags=FLAGS,\n)")
    for link in tree.links:
        i, k = link.body, tree.segment_of[link.body]
        margin = ", collisionMargin=0.0" if i in meshes else ""
        lines.append(f"pb.changeDynamics({made}, {k}, localInertiaDiagonal={numbers(inertia[i])}{margin})")
    lines += [f"for link in range(-1, {count}):", f"    pb.changeDynamics({made}, link, **damping)"]
    for k, segment in enumerate(segments):  # pybullet gives every joint a brake of its own
        if segment.kind == "spherical":
            still = "targetPosition=(0.0, 0.0, 0.0, 1.0), positionGain=0.0, velocityGain=0.0, force=(0.0, 0.0, 0.0)"
            lines.append(f"pb.setJointMotorControlMultiDof({made}, {k}, pb.POSITION_CONTROL, {still})")
        else:
            lines.append(f"pb.setJointMotorControl2({made}, {k}, pb.VELOCITY_CONTROL, force=0.0)")
    lines += [one for link in tree.links for one in _link_start(scene, tree, link, made)]
    lines += [_pair_law(scene, link.body, made, tree.segment_of[link.body]) for link in tree.links]
    return [*lines, ""]


def _link_start(scene: Scene, tree: Tree, link: Link, made: str) -> list[str]:
    i, k = link.body, tree.segment_of[link.body]
    if link.joint is not None:
        start = planar_start(scene) if isinstance(scene, PlanarScene) else start_in_space(scene)
        coordinates, rate = link_state(scene, link, *start)
        if link.axis is None:
            return [f"pb.resetJointStateMultiDof({made}, {k}, {numbers(xyzw(coordinates))}, {numbers(rate)})"]
        return [f"pb.resetJointState({made}, {k}, {numbers(coordinates[0])}, {numbers(rate[0])})"]
    if isinstance(scene, PlanarScene):
        pose, twist = planar_start(scene)
        return [
            f"pb.resetJointState({made}, {joint}, {numbers(where)}, {numbers(rate)})"
            for joint, where, rate in zip(X_Y_ANGLE, pose[i], twist[i])
        ]
    _, _, velocity, spin = start_in_space(scene)
    return [f"pb.resetBaseVelocity({made}, {numbers(velocity[i])}, {numbers(spin[i])})"]


def _shape(shape: Any, piece: Any, settings: Settings, center: Any = (0.0, 0.0, 0.0)) -> str:
    """In a frame in which the body's own has its origin at `center`."""
    at = np.array(center) + np.array(piece.center)
    frame = f"collisionFramePosition={numbers(at)}, " if at.any() else ""
    match piece.kind:
        case "sphere":
            return f"pb.createCollisionShape(pb.GEOM_SPHERE, {frame}radius={piece.size[0]!r})"
        case "box":
            if piece.angle:
                frame += f"collisionFrameOrientation={numbers(xyzw(turned_about_z(piece.angle)))}, "
            return f"pb.createCollisionShape(pb.GEOM_BOX, {frame}halfExtents={numbers(piece.size)})"
        case "capsule" | "cylinder":
            kind = f"pb.GEOM_{piece.kind.upper()}"
            return f"pb.createCollisionShape({kind}, {frame}radius={piece.size[0]!r}, height={2.0 * piece.size[1]!r})"
        case "hull":
            points = vertices_of(shape, piece, settings)
            if np.any(center):
                points = f"(np.array({points}) + np.array({numbers(center)})).tolist()"
            elif points[0] != "[":
                points = f"({points}).tolist()"
            return f"pb.createCollisionShape(pb.GEOM_MESH, vertices={points})"
    raise ScriptError(f"a script cannot express the shape {piece.kind!r}")


def _grounds(scene: Scene, settings: Settings, names: list[str]) -> list[str]:
    lines = []
    boundaries: tuple[Any, ...] = scene.boundaries
    for j, boundary in enumerate(boundaries, start=len(scene.bodies)):
        if boundary.kind in ROUND:
            origin = vector_in_space(boundary.center)
            lines += mesh_source(boundary, settings, inwards=False)
            mesh = "vertices=vertices.tolist(), indices=triangles.ravel().tolist()"
            shape = f"pb.createCollisionShape(pb.GEOM_MESH, flags=pb.GEOM_FORCE_CONCAVE_TRIMESH, {mesh})"
        else:
            origin, normal = wall_of(boundary, {}).origin, vector_in_space(boundary.normal)
            lines.append(f"# {one_line(boundary.name)}")
            shape = f"pb.createCollisionShape(pb.GEOM_PLANE, planeNormal={numbers(normal)})"
        lines += [
            f"{names[j]} = pb.createMultiBody(0.0, {shape}, -1, {numbers(origin)})",
            _pair_law(scene, j, names[j], BASE),
            "",
        ]
    return lines


def _contacts(scene: Scene, addresses: dict[int, Address], names: list[str]) -> str:
    """pybullet gives the normal from b to a."""
    members = [addresses.get(i, (name, BASE)) for i, name in enumerate(names)]
    table = ", ".join(f"({tree}, {link}): {i}" for i, (tree, link) in enumerate(members))
    width = len(scene.gravity)
    return f"""
members, found = {{{table}}}, []
for row in pb.getContactPoints():
    normal, first, second = -np.array(row[7]), np.array(row[11]), np.array(row[13])
    force = row[9] * normal - row[10] * first - row[12] * second
    found.append((members[row[1], row[3]], members[row[2], row[4]], force[:{width}], normal[:{width}]))
return found
"""


def _pair_law(scene: Scene, member: int, name: str, link: int) -> str:
    laws = PairLaws(scene)
    friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
    if friction is None or restitution is None:
        raise ScriptError("a script cannot express friction or restitution that no product of two values gives")
    return (
        f"pb.changeDynamics({name}, {link}, lateralFriction={numbers(friction[member])}, "
        f"restitution={numbers(restitution[member])}, spinningFriction=0.0, rollingFriction=0.0)"
    )
