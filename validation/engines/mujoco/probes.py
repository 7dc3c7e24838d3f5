"""What is done to a model at its start to try it (`scenarios.native.Probe`)."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import norm
from scenarios.native import Probe
from validation.engines.engine import ModelError
from validation.engines.mujoco.internals import unit_of_servo

FIRST_AXIS = np.array((1.0, 0.0, 0.0))


def position_servos(model: Any) -> list[int]:
    return [k for k in range(model.nu) if unit_of_servo(model, k)]


def is_free(model: Any, body: int) -> bool:
    joints = model.jnt_type[int(model.body_jntadr[body]) :][: int(model.body_jntnum[body])]
    return len(joints) == 1 and int(joints[0]) == mujoco.mjtJoint.mjJNT_FREE


def set_up(model: Any, data: Any, probe: Probe, body_of: Mapping[str, int]) -> None:
    """`body_of`: of the scene's bodies, those of the model. Raises ModelError."""
    match probe.kind:
        case "hold":
            _fix_servos(model, data)
        case "drop":
            for body in range(1, model.nbody):
                if is_free(model, body):
                    data.qpos[coordinates_of(model, body)][:3] += probe.size * _up(model)
        case "push":
            body = _free_body(model, body_of, probe.body)
            speed = probe.size / float(model.body_subtreemass[body])
            data.qvel[int(model.body_dofadr[body]) :][:3] += speed * FIRST_AXIS
        case "tip":
            body = _free_body(model, body_of, probe.body)
            _tip(model, data, body, probe)
        case "separation":
            body = _free_body(model, body_of, probe.body)
            data.qpos[coordinates_of(model, body)][:3] += probe.first * np.array(probe.direction)


def _free_body(model: Any, body_of: Mapping[str, int], name: str) -> int:
    if name not in body_of or not is_free(model, body_of[name]):
        raise ModelError(f"probe: {name!r:.80} is no free body of the model")
    return body_of[name]


def coordinates_of(model: Any, body: int) -> slice:
    """Of the seven coordinates of a free body."""
    first = int(model.jnt_qposadr[model.body_jntadr[body]])
    return slice(first, first + 7)


def _up(model: Any) -> Array:
    g = model.opt.gravity
    size = float(norm(g))
    return -g / size if size > 0.0 else np.array((0.0, 0.0, 1.0))


def _fix_servos(model: Any, data: Any) -> None:
    second = _positioned(model, data)
    for k in position_servos(model):
        length = float(second.actuator_length[k])
        if model.actuator_ctrllimited[k]:
            length = float(np.clip(length, *model.actuator_ctrlrange[k]))
        data.ctrl[k] = length


def _positioned(model: Any, data: Any) -> Any:
    """Another mjData, with what depends on the coordinates."""
    second = mujoco.MjData(model)
    second.qpos[:] = data.qpos
    mujoco.mj_fwdPosition(model, second)
    return second


def _tip(model: Any, data: Any, body: int, probe: Probe) -> None:
    """About the centre of mass of all that hangs on the body."""
    second = _positioned(model, data)
    centre, pose = second.subtree_com[body].copy(), data.qpos[coordinates_of(model, body)]
    turn, turned, arm = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_axisAngle2Quat(turn, FIRST_AXIS, probe.size)
    mujoco.mju_mulQuat(turned, turn, pose[3:])
    mujoco.mju_rotVecQuat(arm, pose[:3] - centre, turn)
    pose[:3], pose[3:] = centre + arm + probe.lift * _up(model), turned
