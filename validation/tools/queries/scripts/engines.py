"""What of a script is the engine's own: its imports, and the statements that set `contact`, `gap` and `normal`.

They may use `position` and `turn`. A gap is negative in penetration, the normal points from a to b; NaN and None where
the engine does not say.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from scenarios import mass
from validation.judging.sweeps import Find
from validation.tools.fuzzing.scripts.parts import ScriptError, numbers, rows

Code = tuple[Sequence[str], str]
DEEPEST = """contact = len(found) > 0
gap, normal = min(found, key=lambda one: one[0]) if contact else (float("nan"), None)
"""


def _mujoco(find: Find) -> Code:
    assets: list[str] = []
    geoms = []
    for name, shape in zip("ab", find.question.shapes):
        given = _mujoco_geom(shape, name, assets)
        geoms.append(f'    <body name="{name}"><freejoint/><geom name="{name}" {given} mass="1"/></body>')
    lines = [
        'model = mujoco.MjModel.from_xml_string("""',
        "<mujoco>",
        *(f"  <asset>{asset}</asset>" for asset in assets),
        "  <worldbody>",
        *geoms,
        "  </worldbody>",
        "</mujoco>",
        '""")',
        "data = mujoco.MjData(model)",
        "for k in (0, 1):",
        "    data.qpos[7 * k: 7 * k + 3], data.qpos[7 * k + 3: 7 * k + 7] = position[k], turn[k]",
    ]
    if find.query == "distance":
        limit = 1e4 * sum(mass.bounding_radius(shape) for shape in find.question.shapes)
        lines += [
            "mujoco.mj_kinematics(model, data)",
            "segment = np.zeros(6)",
            f'gap = mujoco.mj_geomDistance(model, data, model.geom("a").id, model.geom("b").id, {limit!r}, segment)',
            "contact, normal = gap <= 0.0, (segment[3:] - segment[:3]) / gap if gap else None",
        ]
    else:
        lines += [
            "mujoco.mj_fwdPosition(model, data)",
            'side = {model.geom("a").id: 1.0, model.geom("b").id: -1.0}',
            "found = [(c.dist, side[c.geom1] * c.frame[:3]) for c in data.contact[:data.ncon]]",
            DEEPEST,
        ]
    return ["import mujoco"], "\n".join(lines)


def _mujoco_geom(shape: Any, name: str, assets: list[str]) -> str:
    def text(values: Any) -> str:
        return " ".join(repr(float(value)) for value in np.ravel(values))

    match shape.kind:
        case "sphere":
            return f'type="sphere" size="{shape.radius!r}"'
        case "box":
            return f'type="box" size="{text(np.array(shape.size) / 2.0)}"'
        case "capsule" | "cylinder":
            return f'type="{shape.kind}" size="{shape.radius!r} {shape.length / 2.0!r}"'
        case "ellipsoid":
            return f'type="ellipsoid" size="{text(shape.semi_axes)}"'
        case "convex-mesh":
            assets.append(f'<mesh name="{name}" inertia="convex" vertex="{text(shape.points)}"/>')
            return f'type="mesh" mesh="{name}"'
    raise ScriptError(f"a script for MuJoCo has no shape {shape.kind!r}")


def _pybullet(find: Find) -> Code:
    limit = 1e4 * sum(mass.bounding_radius(shape) for shape in find.question.shapes)
    lines = ["client = pb.connect(pb.DIRECT)", "bodies = []"]
    for k, shape in enumerate(find.question.shapes):
        made = {
            "sphere": lambda s: f"pb.GEOM_SPHERE, radius={s.radius!r}",
            "box": lambda s: f"pb.GEOM_BOX, halfExtents={numbers(np.array(s.size) / 2.0)}",
            "capsule": lambda s: f"pb.GEOM_CAPSULE, radius={s.radius!r}, height={s.length!r}",
            "cylinder": lambda s: f"pb.GEOM_CYLINDER, radius={s.radius!r}, height={s.length!r}",
            "convex-mesh": lambda s: f"pb.GEOM_MESH, vertices={rows(s.points)}",
        }[shape.kind](shape)
        lines += [
            f"shape = pb.createCollisionShape({made})",
            f"bodies.append(pb.createMultiBody(1.0, shape, -1, position[{k}].tolist(), "
            f"np.roll(turn[{k}], -1).tolist()))",
        ]
        if shape.kind == "convex-mesh":
            lines.append("pb.changeDynamics(bodies[-1], -1, collisionMargin=0.0)")
    lines += [
        "# pybullet's normal points from b to a",
        f"found = [(row[8], -np.array(row[7])) for row in pb.getClosestPoints(*bodies, {limit!r})]",
        DEEPEST + "contact = contact and gap <= 0.0",
    ]
    return ["import pybullet as pb"], "\n".join(lines)


def _rapier(find: Find) -> Code:
    lines = ["shapes = ["]
    for shape in find.question.shapes:
        made = {
            "sphere": lambda s: f"ball({s.radius!r})",
            "box": lambda s: f"cuboid{numbers(np.array(s.size) / 2.0)}",
            "capsule": lambda s: f"capsule_z({s.length / 2.0!r}, {s.radius!r})",
            "cylinder": lambda s: f"cylinder({s.length / 2.0!r}, {s.radius!r})",
            "convex-mesh": lambda s: f"convex_hull(np.array({rows(s.points)}, np.float32))",
        }[shape.kind](shape)
        lines.append(f"    rapier.SharedShape.{made},")
    along_y = [shape.kind == "cylinder" for shape in find.question.shapes]
    lines += [
        "]",
        "# Rapier's cylinders stand along y",
        f"along_y = {along_y}",
        "",
        "",
        "def pose(k, laid):",
        '    """`laid`: with the quarter turn that lays y along z."""',
        "    w, x, y, z = turn[k] / np.linalg.norm(turn[k])",
        "    c = s = 0.5**0.5",
        "    if laid:",
        "        w, x, y, z = w * c - x * s, w * s + x * c, y * c + z * s, z * c - y * s",
        "    turned = rapier.Rotation3(float(w), float(x), float(y), float(z))",
        "    return rapier.Isometry3(tuple(position[k].tolist()), turned)",
        "",
        "",
        "world = rapier.PhysicsWorld(gravity=(0.0, 0.0, 0.0))",
        "world.set_num_threads(1)",
    ]
    if find.query == "overlap":
        lines += [
            "world.add_collider(rapier.Collider.new(shapes[0]).position(pose(0, along_y[0])))",
            "world.update_query_pipeline()",
            "hits = []",
            "world.query_pipeline.intersect_shape(pose(1, along_y[1]), shapes[1], hits.append, rapier.QueryFilter())",
            'contact, gap, normal = bool(hits), float("nan"), None',
        ]
    else:
        lines += [
            "for k in (0, 1):",
            "    body = rapier.RigidBody.dynamic().can_sleep(False)",
            "    own = rapier.MassProperties((0.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))",
            "    collider = rapier.Collider.new(shapes[k]).density(0.0).user_data(k).friction(0.0)",
            "    collider = collider.rotation((np.pi / 2, 0.0, 0.0)) if along_y[k] else collider",
            "    handle = world.add_body(body.additional_mass_properties(own), [collider])",
            "    world.rigid_bodies[handle].position = pose(k, False)",
            "world.step()",
            "found = []",
            "for pair in world.narrow_phase.contact_pairs():",
            "    side = 1.0 if world.colliders[pair.collider1].user_data == 0 else -1.0",
            "    for manifold in pair.manifolds if pair.has_any_active_contact else []:",
            "        normal = side * np.array(manifold.data.normal.to_tuple())",
            "        found += [(point.dist, normal) for point in manifold.points]",
            DEEPEST,
        ]
    return ["import rapier3d as rapier"], "\n".join(lines)


def _physx(find: Find) -> Code:
    lines = [
        "config = physx.PhysxSceneConfig()",
        "config.gravity = np.zeros(3)",
        "physx.set_scene_config(config)",
        "system = physx.PhysxCpuSystem()",
        "system.timestep = 1e-3",
        "scene = sapien.Scene([system])",
        "material = physx.PhysxMaterial(0.0, 0.0, 0.0)",
        "x_to_z = (0.5**0.5, 0.0, -(0.5**0.5), 0.0)  # PhysX's capsules and cylinders lie along x",
        "bodies = []",
    ]
    for k, shape in enumerate(find.question.shapes):
        made = {
            "sphere": lambda s: f"Sphere({s.radius!r}, material)",
            "box": lambda s: f"Box({numbers(np.array(s.size) / 2.0)}, material)",
            "capsule": lambda s: f"Capsule({s.radius!r}, {s.length / 2.0!r}, material)",
            "cylinder": lambda s: f"Cylinder({s.radius!r}, {s.length / 2.0!r}, material)",
            "convex-mesh": lambda s: f"ConvexMesh(np.array({rows(s.points)}, np.float32), np.ones(3), material)",
        }[shape.kind](shape)
        lines.append(f"shape = physx.PhysxCollisionShape{made}")
        if shape.kind in ("capsule", "cylinder"):
            lines.append("shape.local_pose = sapien.Pose(q=x_to_z)")
        lines += [
            "body, entity = physx.PhysxRigidDynamicComponent(), sapien.Entity()",
            "body.attach(shape)",
            "body.mass, body.inertia, body.cmass_local_pose = 1.0, np.ones(3), sapien.Pose()",
            "entity.add_component(body)",
            f"entity.pose = sapien.Pose(position[{k}], turn[{k}] / np.linalg.norm(turn[{k}]))",
            "scene.add_entity(entity)",
            "bodies.append(body)",
        ]
    lines += [
        "system.step()",
        "found = []",
        "for pair in system.get_contacts():  # the normal points to the first of its bodies",
        "    side = 1.0 if pair.bodies[1] == bodies[0] else -1.0",
        "    found += [(point.separation, side * np.array(point.normal)) for point in pair.points]",
        DEEPEST,
    ]
    return ["import sapien", "from sapien import physx"], "\n".join(lines)


def _dart(find: Find, first: int = 0) -> Code:
    """`first`: which of the two is added first; what FCL says of distances depends on it."""
    lines = [
        "detector = dartpy.collision.FCLCollisionDetector()",
        *(["detector.setPrimitiveShapeType(dartpy.collision.FCLCollisionDetector.PRIMITIVE)"]
          if find.query == "distance" else []),
        "group, frames = detector.createCollisionGroup(), []",
    ]  # fmt: skip
    for k, shape in enumerate(find.question.shapes):
        made = {
            "sphere": lambda s: f"SphereShape({s.radius!r})",
            "box": lambda s: f"BoxShape({list(s.size)!r})",
            "cylinder": lambda s: f"CylinderShape({s.radius!r}, {s.length!r})",
        }[shape.kind](shape)
        lines += [
            "frame, pose = dartpy.dynamics.SimpleFrame(), dartpy.math.Isometry3()",
            f'frame.setName("{"ab"[k]}")',
            f"frame.setShape(dartpy.dynamics.{made})",
            f"pose.set_translation(position[{k}])",
            f"pose.set_quaternion(dartpy.math.Quaternion(*(turn[{k}] / np.linalg.norm(turn[{k}]))))",
            "frame.setRelativeTransform(pose)",
            "frames.append(frame)",
        ]
    lines += [f"group.addShapeFrame(frames[{k}])" for k in (first, 1 - first)]
    if find.query == "distance":
        lines += [
            "result, normal = dartpy.collision.DistanceResult(), None",
            "gap = group.distance(dartpy.collision.DistanceOption(True), result)",
            "contact = gap <= 0.0",
            "if not contact:",
            '    side = -1.0 if result.shapeFrame1.getName() == "b" else 1.0',
            "    normal = side * (np.array(result.nearestPoint2) - np.array(result.nearestPoint1)) / gap",
        ]
    else:
        lines += [
            "result = dartpy.collision.CollisionResult()",
            "group.collide(dartpy.collision.CollisionOption(True, 1000), result)",
            "found = []",
            "for c in result.getContacts():  # the normal points from the second to the first",
            '    side = 1.0 if c.collisionObject2.getShapeFrame().getName() == "a" else -1.0',
            "    found.append((-c.penetrationDepth, side * np.array(c.normal)))",
            DEEPEST,
        ]
    return ["import dartpy"], "\n".join(lines)


def _pymunk(find: Find) -> Code:
    lines = ["space, bodies, shapes = pymunk.Space(), [], []"]
    for k, shape in enumerate(find.question.shapes):
        made = f"Circle(body, {shape.radius!r})" if shape.kind == "disc" else f"Poly(body, {rows(shape.vertices)})"
        lines += [
            "body = pymunk.Body(1.0, 1.0)",
            f"body.position, body.angle = tuple(position[{k}].tolist()), float(turn[{k}])",
            f"shapes.append(pymunk.{made})",
            "space.add(body, shapes[-1])",
        ]
    lines += [
        "found = [(point.distance, np.array(hit.contact_point_set.normal)) for hit in space.shape_query(shapes[0])",
        "         if hit.shape is shapes[1] for point in hit.contact_point_set.points]",
        DEEPEST,
    ]
    return ["import pymunk"], "\n".join(lines)


def _box2d(find: Find) -> Code:
    shapes = find.question.shapes
    radii = sum(shape.radius for shape in shapes if shape.kind == "disc")
    lines = ["shapes, transforms = [], []"]
    for k, shape in enumerate(shapes):
        made = (
            f"b2CircleShape(radius={shape.radius!r})"
            if shape.kind == "disc"
            else f"b2PolygonShape(vertices={rows(shape.vertices)})"
        )
        lines += [
            f"shapes.append({made})",
            "transforms.append(b2Transform())",
            f"transforms[-1].Set(tuple(position[{k}].tolist()), float(turn[{k}]))",
        ]
    lines += [
        "found = b2Distance(shapeA=shapes[0], shapeB=shapes[1], transformA=transforms[0], transformB=transforms[1],",
        "                   useRadii=False)",
        f"gap = found.distance - {radii!r}  # a disc is a point to it",
        "contact, normal = gap <= 0.0, np.array(found.pointB) - np.array(found.pointA)",
    ]
    return ["from Box2D import b2CircleShape, b2Distance, b2PolygonShape, b2Transform"], "\n".join(lines)


ENGINES: dict[str, tuple[Callable[[Find], Code], ...]] = {
    "mujoco": (_mujoco,), "pybullet": (_pybullet,), "rapier": (_rapier,), "physx": (_physx,),
    "dart": (_dart, partial(_dart, first=1)), "pymunk": (_pymunk,), "box2d": (_box2d,),
}  # fmt: skip
"""Ways to ask each; the next is tried where a find does not show by the one before."""
