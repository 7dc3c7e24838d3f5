"""A model's files as pybullet loads them, untranslated, and where it starts from."""

import ctypes
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios import frames
from scenarios.native import Model, Start
from validation.engines.engine import ModelError, Setting, Settings, Value
from validation.engines.pybullet.trees import BASE, xyzw
from validation.engines.shared.description import written

STEP = 1.0 / 240.0  # s, pybullet's own
MOST_LINKS = 5000
MOST_MESHES = 512  # convex, of one file
MOST_CHARACTERS = 600  # of pybullet's own words
MARK = re.compile(r"b3(Error|Warning|Printf)\[[^\]]*\]:\s*")
MOVABLE = (pb.JOINT_REVOLUTE, pb.JOINT_PRISMATIC)
SELF_COLLISION = {
    "none": 0,
    "no-parents": pb.URDF_USE_SELF_COLLISION,
    "no-ancestors": pb.URDF_USE_SELF_COLLISION | pb.URDF_USE_SELF_COLLISION_EXCLUDE_ALL_PARENTS,
    "all": pb.URDF_USE_SELF_COLLISION | pb.URDF_USE_SELF_COLLISION_INCLUDE_PARENT,
}
LOADING: Mapping[str, Setting] = {
    "fixed_base": Setting(default=False, doc="a URDF robot's base is fixed (useFixedBase)"),
    "self_collision": Setting(
        default="none", choices=tuple(SELF_COLLISION), doc="which links of a URDF robot collide with one another"
    ),
    "inertia_from_file": Setting(default=False, doc="a URDF file's inertia, else that of the collision shapes"),
    "implicit_cylinder": Setting(default=False, doc="round cylinders, else hulls of 64 corners"),
    "base_height": Setting(default=0.0, low=-1e4, high=1e4, doc="of a URDF robot's base frame at the start, m"),
    "ground": Setting(default=False, doc="a plane at z = 0 with friction 1, as in plane.urdf"),
    "gravity": Setting(
        default=-9.81, low=-1e3, high=1e3, doc="along z, m/s^2; pybullet itself has none until a program sets it"
    ),
    "motors": Setting(
        default=True, doc="the motors that hold joints still until a program turns them off, as pybullet loads them"
    ),
    "control": Setting(
        default="position", choices=("position", "velocity", "torque"), doc="what recorded controls are of each joint"
    ),
    "control_force": Setting(
        default=100_000.0,
        low=0.0,
        high=1e12,
        doc="most force of a control, N or N m, as pybullet has it where none is given",
    ),
}
"""How a program loads a model: what a file does not say. Defaults are pybullet's own, but for gravity."""
OF_URDF = ("fixed_base", "self_collision", "inertia_from_file", "implicit_cylinder", "base_height")
VALUES = ("base_position", "base_orientation", "base_velocity", "base_spin", "joint_positions", "joint_velocities")
"""Of a start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """In a client that nothing else has used."""

    client: int
    bodies: tuple[int, ...]  # pybullet's multibodies
    ground: int | None
    settings: Settings  # complete
    corners: dict[tuple[str, tuple[float, ...]], list[int]] = field(default_factory=dict)
    """Of a mesh at a scale: corners of each of its convex hulls."""

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, physicsClientId=self.client)

    def links(self, body: int) -> range:
        """The base and what hangs on it."""
        return range(BASE, self.call(pb.getNumJoints, body))

    def joint(self, body: int, link: int) -> Any:
        return self.call(pb.getJointInfo, body, link)


def complete(settings: Settings) -> dict[str, Value]:
    return {name: setting.default for name, setting in LOADING.items()} | dict(settings)


def load(client: int, model: Model, settings: Settings) -> Loaded:
    """The model at its start. Raises ModelError with pybullet's own words."""
    given = complete(settings)
    if model.language == "sdf" and (set_here := [name for name in OF_URDF if given[name] != LOADING[name].default]):
        raise ModelError(f"{', '.join(set_here)}: of URDF alone; pybullet loads SDF as the file has it")
    with written(model) as folder:
        bodies = _bodies(client, folder, model, given)
        loaded = Loaded(client=client, bodies=bodies, ground=None, settings=given)
        if sum(len(loaded.links(body)) for body in bodies) > MOST_LINKS:
            raise ModelError(f"it has more than {MOST_LINKS} links; allowed: {MOST_LINKS}")
        _refuse_untold(loaded)
        _count_corners(loaded, folder)
    loaded.call(pb.setGravity, 0.0, 0.0, given["gravity"])
    ground = None
    if given["ground"]:
        plane = loaded.call(pb.createCollisionShape, pb.GEOM_PLANE)
        small = loaded.call(pb.createVisualShape, pb.GEOM_BOX, halfExtents=[0.1, 0.1, 0.1])
        ground = int(loaded.call(pb.createMultiBody, 0.0, plane, small))
        loaded.call(pb.changeDynamics, ground, BASE, lateralFriction=1.0)
    whole = Loaded(client=client, bodies=bodies, ground=ground, settings=given, corners=loaded.corners)
    if not given["motors"]:
        _turn_motors_off(whole)
    _start(whole, model)
    return whole


def _bodies(client: int, folder: Path, model: Model, given: Settings) -> tuple[int, ...]:
    path, words = str(folder / model.file), [""]
    try:
        with _captured(words):
            if model.language == "sdf":
                return tuple(pb.loadSDF(path, physicsClientId=client))
            flags = pb.URDF_IGNORE_VISUAL_SHAPES | SELF_COLLISION[str(given["self_collision"])]
            flags |= pb.URDF_USE_INERTIA_FROM_FILE if given["inertia_from_file"] else 0
            flags |= pb.URDF_USE_IMPLICIT_CYLINDER if given["implicit_cylinder"] else 0
            at, fixed = [0.0, 0.0, given["base_height"]], int(bool(given["fixed_base"]))
            return (pb.loadURDF(path, at, useFixedBase=fixed, flags=flags, physicsClientId=client),)
    except pb.error as error:
        text = re.sub(rf"{re.escape(str(folder))}/?", "", words[0])
        found = " ".join(f"{error} {_complaints(text)}".split())[:MOST_CHARACTERS]
        raise ModelError(f"pybullet does not load it: {found}") from None


def _refuse_untold(loaded: Loaded) -> None:
    """pybullet loads bodies of more coordinates than it hands out, and says then that it failed."""
    for body in loaded.bodies:
        try:
            loaded.call(pb.getBasePositionAndOrientation, body)
        except pb.error:
            count = len(loaded.links(body)) - 1
            reason = f"pybullet loads it, but does not say where it is: it has {count} joints"
            raise ModelError(f"{reason}; pybullet hands out at most 128 coordinates of a body") from None


def _complaints(text: str) -> str:
    """What pybullet prints of errors, and of files that it does not find; its other warnings are many."""
    parts = MARK.split(text)  # what stands before the first mark, then kinds and texts by turns
    found = [(kind, " ".join(words.split())) for kind, words in zip(parts[1::2], parts[2::2])]
    return "; ".join(dict.fromkeys(words for kind, words in found if kind == "Error" or "cannot find" in words))


@contextmanager
def _captured(words: list[str]) -> Iterator[None]:
    """Into `words`, what is printed by C; in the end, whatever is raised."""
    libc = ctypes.CDLL(None)
    with tempfile.TemporaryFile() as file:
        libc.fflush(None)
        own = [os.dup(number) for number in (1, 2)]
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            yield
        finally:
            libc.fflush(None)
            for number, descriptor in zip((1, 2), own):
                os.dup2(descriptor, number)
                os.close(descriptor)
            file.seek(0)
            words[0] = file.read(2**20).decode("utf-8", "replace")


def _count_corners(loaded: Loaded, folder: Path) -> None:
    """Of a file of several meshes pybullet makes as many hulls, and gives the corners of all in one list. A body that
    has the file n times over gives those of the hull k where its shape k is asked for."""
    for body in loaded.bodies:
        for link in loaded.links(body):
            shapes = loaded.call(pb.getCollisionShapeData, body, link)
            meshes = any(shape[2] == pb.GEOM_MESH for shape in shapes)
            if not meshes or loaded.call(pb.getMeshData, body, link, -1)[0] == 0:  # none, or of triangles
                continue
            for shape in shapes:
                name, scale = shape[4].decode("utf-8", "replace"), tuple(shape[3])
                if Path(name).suffix.lower() == ".stl" or (name, scale) in loaded.corners:
                    continue  # one mesh
                if shape[2] == pb.GEOM_MESH and Path(name).is_file():
                    loaded.corners[name, scale] = _corners_of_meshes(name, scale, folder)


def _corners_of_meshes(name: str, scale: tuple[float, ...], folder: Path) -> list[int]:
    client = pb.connect(pb.DIRECT)
    size = " ".join(map(repr, scale))
    # A line of its own: pybullet breaks lines of more than 1,023 characters, wherever that is.
    shape = f'\n<collision><geometry><mesh filename="{name}" scale="{size}"/></geometry></collision>'
    inertia = '<mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    try:
        for times in (1, 8, 64, MOST_MESHES):
            text = f'<robot name="r"><link name="l"><inertial>{inertia}</inertial>{shape * times}</link></robot>'
            file = folder / f"{len([*folder.iterdir()])}-{times}.urdf"  # pybullet remembers files by name
            file.write_text(text, encoding="utf-8")
            with _captured([""]):
                body = pb.loadURDF(str(file), flags=pb.URDF_IGNORE_VISUAL_SHAPES, physicsClientId=client)
                every = pb.getMeshData(body, BASE, -1, physicsClientId=client)[0]
                counts = [pb.getMeshData(body, BASE, k, physicsClientId=client)[0] for k in range(times)]
            if times == 1 and every == counts[0]:
                return counts
            if every == times * sum(counts):
                return counts[: counts.index(0)] if 0 in counts else counts
        return []
    except pb.error:
        return []
    finally:
        pb.disconnect(client)


def _turn_motors_off(loaded: Loaded) -> None:
    for body in loaded.bodies:
        for link in loaded.links(body)[1:]:
            kind = loaded.joint(body, link)[2]
            if kind in MOVABLE:
                loaded.call(pb.setJointMotorControl2, body, link, pb.VELOCITY_CONTROL, force=0.0)
            elif kind == pb.JOINT_SPHERICAL:
                still = {"targetPosition": [0.0, 0.0, 0.0, 1.0], "positionGain": 0.0, "velocityGain": 0.0}
                force = [0.0, 0.0, 0.0]
                loaded.call(pb.setJointMotorControlMultiDof, body, link, pb.POSITION_CONTROL, force=force, **still)


# --- the start --------------------------------------------------------------------------------------------------------


def movable(loaded: Loaded) -> list[tuple[int, int]]:
    """(body, joint) of every hinge and slider, in pybullet's order."""
    every = ((body, link) for body in loaded.bodies for link in loaded.links(body)[1:])
    return [one for one in every if loaded.joint(*one)[2] in MOVABLE]


def _start(loaded: Loaded, model: Model) -> None:
    if model.start.keyframe is not None:
        raise ModelError(f"--from: {model.start.keyframe!r:.60} is no start; URDF and SDF have no keyframes, give .npz")
    values = _values(loaded, model.start)
    position, orientation = values["base_position"].reshape(-1, 3), values["base_orientation"].reshape(-1, 4)
    norms = np.linalg.norm(orientation, axis=1)
    if not (np.abs(norms - 1.0) < 1e-6).all():
        raise ModelError("--from: base_orientation is no unit quaternion (x, y, z, w); allowed: norm 1")
    joints, coordinates = movable(loaded), values["joint_positions"]
    if model.perturbation is not None:
        random = np.random.default_rng([model.perturbation.seed, model.perturbation.number])
        size = model.perturbation.size
        position = position + size * random.uniform(-1.0, 1.0, position.shape)
        turned = [_turned(q, size * random.uniform(-1.0, 1.0, 3)) for q in orientation]
        orientation = np.array(turned).reshape(-1, 4)
        coordinates = coordinates + size * random.uniform(-1.0, 1.0, coordinates.shape)
    if model.start.values or model.perturbation is not None:
        for k, body in enumerate(loaded.bodies):
            at = position[k].tolist(), orientation[k].tolist()
            if model.start.values or not is_fixed(loaded, body):
                loaded.call(pb.resetBasePositionAndOrientation, body, *at)
            velocity = values["base_velocity"].reshape(-1, 3)[k].tolist()
            loaded.call(pb.resetBaseVelocity, body, velocity, values["base_spin"].reshape(-1, 3)[k].tolist())
        for (body, joint), at_start, rate in zip(joints, coordinates.tolist(), values["joint_velocities"].tolist()):
            loaded.call(pb.resetJointState, body, joint, at_start, rate)


def _values(loaded: Loaded, start: Start) -> dict[str, Array]:
    """Of every name, as the model is loaded where the start does not say. Raises ModelError."""
    rows = [loaded.call(pb.getBasePositionAndOrientation, body) for body in loaded.bodies]
    joints = [loaded.call(pb.getJointState, *one) for one in movable(loaded)]
    found: dict[str, Array] = {
        "base_position": np.array([row[0] for row in rows], np.float64).ravel(),
        "base_orientation": np.array([row[1] for row in rows], np.float64).ravel(),
        "base_velocity": np.zeros(3 * len(rows)),
        "base_spin": np.zeros(3 * len(rows)),
        "joint_positions": np.array([row[0] for row in joints], np.float64),
        "joint_velocities": np.array([row[1] for row in joints], np.float64),
    }
    for name, values in start.values.items():
        if name not in VALUES:
            raise ModelError(f"--from: {name!r:.60} is no state of pybullet; allowed: {', '.join(VALUES)}")
        if found[name].size != len(values):
            raise ModelError(f"--from: {name} has {len(values)} numbers; the model has {found[name].size}")
        found[name] = np.array(values, np.float64)
    return found


def _turned(orientation: Array, by: Array) -> list[float]:
    """x, y, z, w; the turn is small, rad."""
    q = frames.quaternion_product((1.0, *(0.5 * by).tolist()), [float(orientation[k]) for k in (3, 0, 1, 2)])
    return xyzw(np.array(q) / np.linalg.norm(q))


def is_fixed(loaded: Loaded, body: int) -> bool:
    """Whether its base is: by the program, or by the file, which gives it no mass."""
    mass = loaded.call(pb.getDynamicsInfo, body, BASE)[0]
    return bool(loaded.settings["fixed_base"]) or mass == 0.0
