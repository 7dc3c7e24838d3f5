"""Joints as engines in maximal coordinates have them: two frames whose x axes agree, with limits and one motor."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from scenarios.joint_forces import Element, target_of
from scenarios.scene import Scene
from validation.engines.shared import embedding

NARROW = 3.0  # rad, to either side of the start


def ends_of_travel(scene: Scene, joint: Any) -> tuple[float, float]:
    """Limits of a hinge or slider, rad or m, of b's frame against a's, along their x."""
    first, start = _first(scene, joint), joint.start
    return first + start - joint.limits.high, first + start - joint.limits.low


def limit_fault(engine: str, scene: Scene) -> str | None:
    """Which hinge may turn by more than half a turn from its start before its limit, where the engine's angle begins
    again and the limit is passed unseen; or None."""
    for joint in scene.joints:
        limits = getattr(joint, "limits", None)
        if limits is None or joint.kind != "hinge":
            continue
        if max(abs(end - joint.start) for end in (limits.low, limits.high)) > math.pi:
            ways = f"{limits.low - joint.start:.3g} to {limits.high - joint.start:.3g} rad from its start"
            return f"hinge {joint.name!r} has limits at {ways}; {engine} knows angles within half a turn alone"
    return None


def _first(scene: Scene, joint: Any) -> float:
    """rad or m, of b's frame against a's along their x at the start: of a slider how far its anchors are apart."""
    if joint.kind == "hinge":
        return 0.0
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    position, orientation, _, _ = embedding.start_in_space(scene)

    def anchor(name: str | None, point: Sequence[float]) -> Array:
        if name is None:
            return np.array(point)
        return position[index[name]] + embedding.rotation_matrix(orientation[index[name]]) @ np.array(point)

    axis = embedding.rotation_matrix(orientation[index[joint.a]]) @ np.array(joint.axis)
    return float((anchor(joint.b, joint.anchor_b) - anchor(joint.a, joint.anchor_a)) @ axis / np.linalg.norm(axis))


class FrameMotor:
    """What acts along a hinge or slider, as a spring and damper between its frames with a target, of which an engine
    has one a joint.

    An engine's angle is that within half a turn, so a spring of a hinge is its own only within limits as narrow. With
    a force that is clamped the motor alone is. Forces that are given are none of it.
    """

    def __init__(self, scene: Scene, joint: Any) -> None:
        self.joint, self._first = joint, _first(scene, joint)
        limits, motor = joint.limits, joint.motor
        self.most = math.inf if motor is None or motor.most is None else float(motor.most)
        found: set[Element] = {"spring", "damping"} if self.most == math.inf or motor.kind == "force-motor" else set()
        if motor is not None and motor.kind != "force-motor":
            found.add("motor")
        ways = [] if limits is None else [abs(end - joint.start) for end in (limits.low, limits.high)]
        if joint.kind == "hinge" and max(ways, default=math.inf) > NARROW:
            found -= {"spring"} if motor is None or motor.kind != "position-motor" else {"spring", "motor"}
        if "motor" not in found:
            self.most = math.inf
        self.elements = frozenset(element for element in found if getattr(joint, element))

    def at(self, time: float) -> tuple[float, float, float, float]:
        """Target of b's frame against a's along their x, rad or m, its rate, stiffness and damping."""
        joint, motor = self.joint, self.joint.motor if "motor" in self.elements else None
        target = 0.0 if motor is None else target_of(motor, time)
        stiffness = damping = pull = drag = 0.0
        if "spring" in self.elements:
            stiffness, pull = joint.spring.stiffness, joint.spring.stiffness * joint.spring.rest
        if "damping" in self.elements:
            damping = joint.damping
        if motor is not None:
            damping += motor.damping
            if motor.kind == "position-motor":
                stiffness, pull = stiffness + motor.stiffness, pull + motor.stiffness * target
            else:
                drag = motor.damping * target
        rest = pull / stiffness if stiffness else joint.start
        return self._first + joint.start - rest, -drag / damping if damping else 0.0, stiffness, damping

    @property
    def moves(self) -> bool:
        """Whether its target is another one later."""
        return "motor" in self.elements and len(self.joint.motor.target) > 1
