"""A scene in MuJoCo's own API: the MJCF that our adapter builds, initial coordinates, and mj_step."""

from typing import Any
from xml.etree import ElementTree

from packaging.version import Version

from scenarios.scene import PlanarScene, Scene
from validation.engines.mujoco.mjcf import Release, write_model
from validation.engines.shared.embedding import rotation_matrix, start_in_space
from validation.tools.fuzzing.scripts.parts import EngineCode, Settings, numbers, one_line

LAG_IN_STEPS = {"rk4": 0.0}  # all others change the velocity first

PLANAR_STATE = """
q, v = data.qpos.reshape(-1, 3).copy(), data.qvel.reshape(-1, 3).copy()
return q[:, :2], q[:, 2], v[:, :2], v[:, 2]
"""
SPATIAL_STATE = """
q, v = data.qpos.reshape(-1, 7).copy(), data.qvel.reshape(-1, 6).copy()
return q[:, :3], q[:, 3:], v[:, :3], v[:, 3:]
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
    root = write_model(scene, dt, settings, release_of(version)).root
    _simplify(root, scene)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    return EngineCode(
        title="MuJoCo",
        imports=("import mujoco", "import numpy as np"),
        build=f'MODEL = """\n{text}\n"""\n\n'
        "model = mujoco.MjModel.from_xml_string(MODEL)\ndata = mujoco.MjData(model)\n\n" + _start(scene),
        step="mujoco.mj_step(model, data)",
        state=PLANAR_STATE if isinstance(scene, PlanarScene) else SPATIAL_STATE,
        lag=LAG_IN_STEPS.get(str(settings["integrator"]), -0.5) * dt,
        spin_of_body=True,
        warned=WARNED,
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


def _simplify(root: ElementTree.Element, scene: Scene) -> None:
    """Without what is empty or as it is out of the box, and with the scene's names."""
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
        return
    listed = {end for pair in root.iter("pair") for end in (pair.get("geom1"), pair.get("geom2"))}
    for element in root.iter():
        for name in ("body1", "body2", "name"):
            if element.tag in ("body", "exclude") and element.get(name) in names:
                element.set(name, names[element.attrib[name]])
        if element.tag == "geom" and element.get("name") not in listed:
            element.attrib.pop("name", None)


def _start(scene: Scene) -> str:
    position, orientation, velocity, spin = start_in_space(scene)
    planar = isinstance(scene, PlanarScene)
    lines = [
        "# Where each body starts: x, y and angle, and their rates"
        if planar
        else "# Where each body starts: position and quaternion; velocity, and spin in its own axes"
    ]
    bodies: tuple[Any, ...] = scene.bodies
    for i, body in enumerate(bodies):
        if planar:
            q, v = slice(3 * i, 3 * i + 3), slice(3 * i, 3 * i + 3)
            coordinates = (*body.position, body.angle)
            rates = (*body.velocity, body.spin)
        else:
            q, v = slice(7 * i, 7 * i + 7), slice(6 * i, 6 * i + 6)
            coordinates = (*position[i], *orientation[i])
            rates = (*velocity[i], *(rotation_matrix(orientation[i]).T @ spin[i]))
        lines.append(f"data.qpos[{q.start}:{q.stop}] = {numbers(coordinates)}  # {one_line(body.name)}")
        if any(rates):
            lines.append(f"data.qvel[{v.start}:{v.stop}] = {numbers(rates)}")
    return "\n".join(lines) + "\n"
