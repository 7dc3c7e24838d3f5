"""Joints that a model is moved by: recorded controls, played open loop, and the probe that holds it where it starts.

A control is what a program gives to `setJointMotorControlArray`, one for each hinge and slider in pybullet's order.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios.native import Model
from validation.engines.engine import ModelError, Settings
from validation.engines.pybullet.loading import STEP, Loaded, movable

MODES: Mapping[str, tuple[int, str]] = {
    "position": (pb.POSITION_CONTROL, "targetPositions"),
    "velocity": (pb.VELOCITY_CONTROL, "targetVelocities"),
    "torque": (pb.TORQUE_CONTROL, "forces"),
}
"""By the setting `control`: pybullet's mode, and by which name it takes the numbers."""


def moves_joints(model: Model) -> bool:
    """Whether anything gives joints controls."""
    return model.start.controls is not None or (model.probe is not None and model.probe.kind == "hold")


class Played:
    """What drives the joints of a model from step to step. Raises ModelError for controls that do not fit it."""

    def __init__(self, loaded: Loaded, model: Model, settings: Settings) -> None:
        self._loaded, self._controls = loaded, model.start.controls
        self._joints = movable(loaded)
        self._mode = str(settings["control"]) if self._controls is not None else "position"
        self._most = float(settings["control_force"])
        self._row: Sequence[float] | None = None
        if self._controls is not None and len(self._controls.rows[0]) != len(self._joints):
            count = len(self._controls.rows[0])
            raise ModelError(
                f"--from: controls has {count} numbers in a row; the model has {len(self._joints)} hinges and sliders"
            )
        if self._controls is None:
            self._give([float(loaded.call(pb.getJointState, *one)[0]) for one in self._joints])
        elif self._mode == "torque":
            for one in self._joints:  # a torque is added to what the motor does that pybullet gives every joint
                loaded.call(pb.setJointMotorControl2, *one, pb.VELOCITY_CONTROL, force=0.0)
        kinds = [loaded.joint(*one)[2] for one in self._joints]
        of = {"tracking_angle": pb.JOINT_REVOLUTE, "tracking_travel": pb.JOINT_PRISMATIC}
        self._rows = {name: [k for k, kind in enumerate(kinds) if kind == wanted] for name, wanted in of.items()}
        self.columns = tuple(name for name, rows in self._rows.items() if rows and self._mode == "position")

    def give(self, time: float) -> None:
        """The controls of the step that begins at this time, s."""
        row = None if self._controls is None else self._controls.row_at(time, STEP)
        if row is not None and (row is not self._row or self._mode == "torque"):  # pybullet forgets a torque
            self._give(row)

    def _give(self, row: Sequence[float]) -> None:
        self._row = row
        mode, name = MODES[self._mode]
        for body in self._loaded.bodies:
            at = [k for k, one in enumerate(self._joints) if one[0] == body]
            if at:
                most = {} if name == "forces" else {"forces": [self._most] * len(at)}
                joints, given = [self._joints[k][1] for k in at], [float(row[k]) for k in at]
                self._loaded.call(pb.setJointMotorControlArray, body, joints, mode, **{name: given}, **most)

    def tracking(self) -> list[float]:
        """rad and m, of `columns`: how far the joint is from its target that is furthest off."""
        if self._row is None:  # no control yet
            return [0.0] * len(self.columns)
        now: Array = np.array([self._loaded.call(pb.getJointState, *one)[0] for one in self._joints])
        off = np.abs(now - np.array(self._row))
        return [float(off[self._rows[name]].max()) for name in self.columns]


def ranges(loaded: Loaded, settings: Settings) -> list[tuple[float, float]]:
    """Of each control: the joint's limits where it is a position and the joint has some; else from -1 to 1."""
    found = []
    for one in movable(loaded):
        low, high = (float(end) for end in loaded.joint(*one)[8:10])
        limited = settings["control"] == "position" and low < high
        found.append((low, high) if limited else (-1.0, 1.0))
    return found
