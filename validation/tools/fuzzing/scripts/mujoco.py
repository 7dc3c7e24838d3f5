"""A scene in MuJoCo's own API: the MJCF that our adapter builds, initial coordinates, and mj_step."""

import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
from packaging.version import Version

from scenarios.forces import has_applied_forces
from scenarios.scene import PlanarScene, Rod, Rope, Scene, planar_start, spatial_start
from validation.engines.mujoco.mjcf import Release, write_model
from validation.engines.shared.embedding import icosphere, rotation_matrix, vector_in_space
from validation.engines.shared.joint_tree import Link, link_state, start_turn
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    free_bodies,
    numbers,
    one_line,
)
from validation.tools.fuzzing.scripts.walls import ROUND

LAG_IN_STEPS = {"rk4": 0.0}  # all others change the velocity first

PLANAR_STATE = """
q, v = data.qpos.reshape(-1, 3).copy(), data.qvel.reshape(-1, 3).copy()
return q[:, :2], q[:, 2], v[:, :2], v[:, 2]
"""
SPATIAL_STATE = """
q, v = data.qpos.reshape(-1, 7).copy(), data.qvel.reshape(-1, 6).copy()
return q[:, :3], q[:, 3:], v[:, :3], v[:, 3:]
"""
LINK = '''
def of_link(body):
    """Position, quaternion, velocity and spin of a body that hangs on another, or on the world, by a joint."""
    six = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, six, 0)
    return data.xpos[body].copy(), data.xquat[body].copy(), six[3:], six[:3]
'''
TURNED = '''
def rotated(q, v):
    """A vector of a body's axes in those of the world."""
    twice = 2.0 * np.cross(q[1:], v)
    return v + q[0] * twice + np.cross(q[1:], twice)
'''
DERIVED = """mujoco.mj_kinematics(model, data)
mujoco.mj_comPos(model, data)
mujoco.mj_comVel(model, data)
"""

WARNED = """\", \".join(
    f"warned {name}" for name in ("BADQPOS", "BADQVEL", "BADQACC", "CONTACTFULL", "CNSTRFULL")
    if data.warning.number[getattr(mujoco.mjtWarning, f"mjWARN_{name}")]
)"""

USUAL_OF_GEOMS = {"pos": "0.0 0.0 0.0", "quat": "1.0 0.0 0.0 0.0"}
USUAL_OPTIONS = {
    "integrator": "Euler",
    "solver": "Newton",
    "cone": "pyramidal",
    "jacobian": "auto",
    "impratio": "1.0",
    "iterations": "100",
    "tolerance": "1e-08",
    "noslip_iterations": "0",
    "ls_iterations": "50",
    "ccd_tolerance": "1e-06",
}
"""As they are out of the box."""


def engine_code(scene: Scene, dt: float, settings: Settings, version: str) -> EngineCode:
    written = write_model(scene, dt, settings, release_of(version))
    root = written.root
    at = _addresses(root)
    alone = not scene.joints and not any(body.fixed for body in scene.bodies)
    world_axes = not alone or bool(has_applied_forces(scene))
    walls = _take_walls_out(root, scene, written.geoms, settings)
    names = _simplify(root, scene)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    planes = "".join(f'.replace("<!--{k}-->", wall_{k})' for k in range(len(walls)))
    helpers = (LINK if any(link.joint for link in written.links) else "") + (TURNED if world_axes else "")
    state = _state(scene, written.links, at) if world_axes else PLANAR_STATE if _planar(scene) else SPATIAL_STATE
    return EngineCode(
        title="MuJoCo",
        imports=("import mujoco", "import numpy as np"),
        build="".join(walls)
        + f'MODEL = """\n{text}\n"""\n\n'
        + f"model = mujoco.MjModel.from_xml_string(MODEL{planes})\n"
        + _rods(written.ties)
        + "data = mujoco.MjData(model)\n\n"
        + _start(scene, written.links, at)
        + (f"\n{helpers}" if helpers else ""),
        step="mujoco.mj_step(model, data)",
        state=state,
        lag=LAG_IN_STEPS.get(str(settings["integrator"]), -0.5) * dt,
        spin_of_body=not world_axes,
        warned=WARNED,
        forces=_forces(scene, at),
        time="data.time",
        contacts="" if settings["integrator"] == "rk4" else _contacts(scene, written.geoms, names),
    )


def _planar(scene: Scene) -> bool:
    return isinstance(scene, PlanarScene)


Addresses = dict[str, tuple[int, int, int]]
"""By the name of a body in the model: its number there, its first coordinate and its first rate."""


def _addresses(root: ElementTree.Element) -> Addresses:
    """As MuJoCo numbers them: a body before what hangs on it, each in its order in the model."""
    found: Addresses = {}
    q = v = 0
    for number, body in enumerate(root.iter("body"), start=1):
        found[body.attrib["name"]] = number, q, v
        for joint in body.findall("joint"):
            more_q, more_v = SIZES.get(joint.get("type", "hinge"), (1, 1))
            q, v = q + more_q, v + more_v
    return found


SIZES = {"free": (7, 6), "ball": (4, 3)}  # coordinates and rates of a joint


def _take_walls_out(root: ElementTree.Element, scene: Scene, geoms: list[int], settings: Settings) -> list[str]:
    """Bowls and hollow spheres are hundreds of planes: a comment stands for those of each in the model, and a few lines
    of source, which are returned, write them."""
    world = root.find("worldbody")
    assert world is not None
    named = {one.get("name"): one for one in world.findall("geom")}
    found: list[str] = []
    for j, boundary in enumerate(scene.boundaries, start=len(scene.bodies)):
        if boundary.kind not in ROUND:
            continue
        planes = [named[f"g{k}"] for k, member in enumerate(geoms) if member == j]
        if root.find("contact") is not None and len(root.find("contact") or ()) and any(root.iter("pair")):
            raise ScriptError("a script cannot list the pairs of a bowl's planes, one by one, that this friction needs")
        world.insert(list(world).index(planes[0]), ElementTree.Comment(str(len(found))))
        for plane in planes:
            world.remove(plane)
        given = "".join(f' {name}="{planes[0].attrib[name]}"' for name in ("condim", "friction"))
        found.append(_planes(boundary, len(found), given, settings))
    return found


def _planes(boundary: Any, number: int, given: str, settings: Settings) -> str:
    name, center = one_line(boundary.name), numbers(vector_in_space(boundary.center))
    if boundary.kind == "bowl":
        count = int(settings["bowl_segments"])
        near = boundary.radius * math.cos(math.pi / count)
        lines = [
            f"# {name}: a bowl of {count} planes",
            f"around = 2 * np.pi * np.arange({count}) / {count}",
            "outward = [np.array([math.cos(angle), math.sin(angle), 0.0]) for angle in around]",
        ]
    else:
        directions, triangles = icosphere(int(settings["sphere_subdivisions"]))
        a, b, c = (directions[triangles[:, k]] for k in range(3))
        middle = np.cross(b - a, c - a)  # as the adapter has it
        near = boundary.radius * (np.abs((middle * a).sum(axis=1)) / np.linalg.norm(middle, axis=1)).min()
        lines = [
            f"# {name}: a hollow sphere of planes",
            f"outward, _ = icosphere({int(settings['sphere_subdivisions'])})",
        ]
    lines += [
        f'wall_{number} = ""',
        "for out in outward:",
        "    x, y, z = -out",
        "    q = np.array([0.0, 1.0, 0.0, 0.0])",
        "    if z >= -1.0 + 1e-12:",
        "        q = np.array([1.0 + z, -y, x, 0.0])",
        "        q /= np.linalg.norm(q)",
        f"    point = np.array({center}) + {float(near)!r} * out",
        '    where = [" ".join(map(repr, part.tolist())) for part in (point, q)]',
        f'    wall_{number} += f\'<geom type="plane" size="0 0 1" pos="{{where[0]}}" quat="{{where[1]}}"{given}/>\'',
    ]
    return "\n".join(lines) + "\n\n"


def _rods(ties: list[Any]) -> str:
    """The length that a rod keeps, against that of the model where all coordinates are 0."""
    tied = [tie for tie in ties if isinstance(tie, (Rod, Rope))]
    return "".join(
        f'model.eq_data[model.equality("rod{k}").id, 0] = {tie.length!r} - model.tendon_length0[{k}]\n'
        for k, tie in enumerate(tied)
        if isinstance(tie, Rod)
    )


def release_of(version: str) -> Release:
    """By its number, where MuJoCo itself cannot be asked."""
    number = Version(version)
    return Release(
        connects_sites=number >= Version("3.2.5"),
        has_autoreset=number >= Version("3.2"),
        has_islands=number >= Version("3.0"),
        islands_by_default=number >= Version("3.3.6"),
        multiccd_by_default=number >= Version("4.0.dev0"),
    )


def _simplify(root: ElementTree.Element, scene: Scene) -> dict[str, str]:
    """Without what is empty or as it is out of the box, and with the scene's names: those of the bodies, by ours."""
    for section in list(root):
        if not len(section) and not section.attrib:
            root.remove(section)
    if (compiler := root.find("compiler")) is not None:
        compiler.attrib.pop("usethread", None)
    for geom in root.iter("geom"):
        for name, usual in USUAL_OF_GEOMS.items():
            if geom.get(name) == usual:
                del geom.attrib[name]
    if (option := root.find("option")) is not None:
        for name, usual in USUAL_OPTIONS.items():
            if option.get(name) == usual:
                del option.attrib[name]
    names = {f"b{i}": one_line(body.name) for i, body in enumerate(scene.bodies)}
    if len(set(names.values())) < len(names):
        return {}
    listed = {end for pair in root.iter("pair") for end in (pair.get("geom1"), pair.get("geom2"))}
    for element in root.iter():
        for name in ("body1", "body2", "name"):
            if element.tag in ("body", "exclude") and element.get(name) in names:
                element.set(name, names[element.attrib[name]])
        if element.tag == "geom" and element.get("name") not in listed:
            element.attrib.pop("name", None)
    return names


def _start(scene: Scene, links: tuple[Link, ...], at: Addresses) -> str:
    start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
    lines = [
        "# Where each body starts: x, y and angle, and their rates"
        if _planar(scene)
        else "# Where each body starts: position and quaternion; velocity, and spin in its own axes"
    ]
    lines += ["# What hangs on a joint: its angle, way or quaternion, and its rate"] if scene.joints else []
    for link in sorted(links, key=lambda link: link.body):
        _, q, v = at[f"b{link.body}"]
        if link.joint is not None:
            coordinates, rates = (list(part) for part in link_state(scene, link, *start))
        else:
            coordinates, rates = _root_start(scene, link.body, *start)
        name = one_line(scene.bodies[link.body].name)
        lines.append(f"data.qpos[{q}:{q + len(coordinates)}] = {numbers(coordinates)}  # {name}")
        if any(rates):
            lines.append(f"data.qvel[{v}:{v + len(rates)}] = {numbers(rates)}")
    return "\n".join(lines) + "\n"


def _root_start(scene: Scene, body: int, *start: Any) -> tuple[list[float], list[float]]:
    if isinstance(scene, PlanarScene):
        pose, twist = start
        return list(pose[body]), list(twist[body])
    position, orientation, velocity, spin = (part[body] for part in start)
    return [*position, *orientation], [*velocity, *(rotation_matrix(orientation).T @ spin)]


def _state(scene: Scene, links: tuple[Link, ...], at: Addresses) -> str:
    """Body by body; what hangs on a joint is read where MuJoCo derives it from the coordinates."""
    lines = [DERIVED.rstrip()] if any(link.joint for link in links) else []
    lines.append("found = {}")
    for link in links:  # parents first
        i = link.body
        number, q, v = at[f"b{i}"]
        if link.joint is None and _planar(scene):
            lines.append(
                f"found[{i}] = (data.qpos[{q}:{q + 2}].copy(), data.qpos[{q + 2}], "
                f"data.qvel[{v}:{v + 2}].copy(), data.qvel[{v + 2}])"
            )
        elif link.joint is None:
            lines += [
                f"q, v = data.qpos[{q}:{q + 7}].copy(), data.qvel[{v}:{v + 6}].copy()",
                f"found[{i}] = q[:3], q[3:], v[:3], rotated(q[3:], v[3:])",
            ]
        elif _planar(scene):
            above = "" if link.parent is None else f" + found[{link.parent}][1]"
            turned = numbers(start_turn(scene, link)) if link.slides else f"data.qpos[{q}]"
            lines += [
                f"position, _, velocity, spin = of_link({number})",
                f"found[{i}] = position[:2], {turned}{above}, velocity[:2], spin[2]",
            ]
        else:
            lines.append(f"found[{i}] = of_link({number})")
    lines.append("return [np.array(part) for part in zip(*(found[i] for i in sorted(found)))]")
    return "\n".join(lines) + "\n"


def _forces(scene: Scene, at: Addresses) -> str:
    ids = [at[f"b{i}"][0] for i in free_bodies(scene)]
    if _planar(scene):
        return f"data.xfrc_applied[{ids}, :2], data.xfrc_applied[{ids}, 5] = force, torque"
    return f"data.xfrc_applied[{ids}, :3], data.xfrc_applied[{ids}, 3:] = force, torque"


def _contacts(scene: Scene, geoms: list[int], names: dict[str, str]) -> str:
    """By the body of each geom; a geom of the world is the scene's only boundary, or not to be told from others."""
    if len(scene.boundaries) > 1 or not names:
        return ""
    members = {name: int(ours[1:]) for ours, name in names.items()}
    width = len(scene.gravity)
    return f"""
members, found = {members}, []
for k in range(data.ncon):
    contact, wrench = data.contact[k], np.zeros(6)
    if contact.exclude == 0:
        mujoco.mj_contactForce(model, data, k, wrench)
        frame = contact.frame.reshape(3, 3)
        a, b = (members.get(model.body(model.geom_bodyid[geom]).name, {len(scene.bodies)}) for geom in contact.geom)
        found.append((a, b, (wrench[:3] @ frame)[:{width}], frame[0, :{width}]))
return found
"""
