"""For engines that hold a position and a quaternion of each body, or give them: their worlds, their record, the frames
of joints.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from reference_engine.array_types import Array
from scenarios.joints import AxialJoint
from scenarios.scene import Scene, masses
from validation.engines.shared import embedding
from validation.engines.shared.frame_motors import FrameMotor
from validation.engines.shared.joint_tree import is_effective
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.recorder import SceneWorld, filled

BodyState = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]
"""Position, quaternion w-x-y-z, velocity and spin, world axes."""


class MaximalWorld(SceneWorld):
    """A world that is read body by body, in double precision.

    Angles are counted on over full turns by the spin, quaternions keep their sign from step to step. An engine says
    how its bodies are read, placed, pushed and moved on.
    """

    def __init__(self, scene: Scene, dt: float) -> None:
        super().__init__(scene, dt)
        self.in_space = embedding.start_in_space(scene)  # position, orientation, velocity, spin
        self.mass, self.inertia = masses(scene), embedding.inertias_in_space(scene, out_of_plane=1.0)
        self.laws = PairLaws(scene)
        self._begin_turns(self.start)
        self._extra: dict[int, tuple[Array, Array]] = {}  # force and torque of `apply_force`

    def _begin_turns(self, state: Sequence[Array]) -> None:
        """Angles, or quaternions, of what moves, from which the next ones are counted on."""
        self._turned = state[0][self.moving, 2].tolist() if self.planar else state[1][self.moving].tolist()
        self._moved = False  # since `read`

    # --- what an engine says -------------------------------------------------------------------------------

    def body_states(self) -> Iterator[BodyState]:
        """Of the free bodies, in the scene's order; then of those whose motion is given."""
        raise NotImplementedError

    def advance(self) -> None:
        """One step."""
        raise NotImplementedError

    def apply_wrench(self, body: int, force: Array, torque: Array) -> None:
        """Force (3,) at the centre of mass and torque (3,) on a body of the scene, world axes, for the next step."""
        raise NotImplementedError

    def set_body_state(self, body: int, position: Array, orientation: Array, velocity: Array, spin: Array) -> None:
        """Sets the state of a body that moves."""
        raise NotImplementedError

    # --- the protocol --------------------------------------------------------------------------------------

    def step(self, *, watched: bool) -> None:
        if self._moved:  # a state that nobody read: turns are counted from step to step
            self.read()
        if self.has_forces:
            state = [part[0] for part in self.decode(self._last_read, 1)]
            force, torque = self.wrenches(self.steps * self.dt, *state)
            for i in self.free:
                more, turn = self._extra.get(i, (0.0, 0.0))
                self.apply_wrench(i, force[i] + more, torque[i] + turn)
        else:
            for i, (more, turn) in self._extra.items():
                self.apply_wrench(i, more, turn)
        self._extra.clear()
        self.advance()
        self.steps += 1
        self._moved = True

    def read(self) -> bytes:
        numbers = array("d")
        dt = self.dt if self._moved else 0.0
        self._moved = False
        for k, (position, (w, x, y, z), velocity, spin) in enumerate(self.body_states()):
            if self.planar:
                angle = 2.0 * math.atan2(z, w)
                angle += 2.0 * math.pi * round((self._turned[k] + spin[2] * dt - angle) / (2.0 * math.pi))
                self._turned[k] = angle
                numbers.extend((position[0], position[1], angle, velocity[0], velocity[1], spin[2]))
            else:
                last = self._turned[k]
                sign = -1.0 if w * last[0] + x * last[1] + y * last[2] + z * last[3] < 0.0 else 1.0
                self._turned[k] = q = (sign * w, sign * x, sign * y, sign * z)
                numbers.extend((*position, *q, *velocity, *spin))
        self._last_read = numbers.tobytes()
        return self._last_read

    def decode(self, raw: bytes, steps: int) -> list[Array]:
        return filled(self.start, np.frombuffer(raw, np.float64).reshape(steps, len(self.moving), -1), self.moving)

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        parts = [np.asarray(part, np.float64) for part in state]
        self._begin_turns(parts)
        self.restart_joints()
        self.steps = round(time / self.dt)
        for i in self.moving:
            self.set_body_state(i, *(part[i] for part in (embedding.state_in_space(*parts) if self.planar else parts)))
        self.read()

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        force_now, torque = self._extra.get(body, (np.zeros(3), np.zeros(3)))
        more = embedding.vector_in_space(force)
        if point is not None:
            center = self.decode(self._last_read, 1)[0][0, body, : 2 if self.planar else 3]
            arm = embedding.vector_in_space(point) - embedding.vector_in_space(center.tolist())
            torque = torque + np.cross(arm, more)
        self._extra[body] = (force_now + more, torque)

    def motor_of(self, joint: AxialJoint) -> FrameMotor | None:
        """What an engine's own motor of this joint is, if there is anything."""
        motor = FrameMotor(self.scene, joint) if getattr(joint, "is_driven", False) else None
        return motor if motor is not None and motor.elements else None

    # --- for engines ---------------------------------------------------------------------------------------

    def effective_joints(self) -> list[Any]:
        """The joints of the scene of which one end can move."""
        return [joint for joint in self.scene.joints if is_effective(self.scene, joint)]

    def contact_rows(self, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any] | None:
        """Rows of first and second member, point, normal, gap and impulse, all in space, as the record loop wants."""
        if not rows:
            return None
        return self.in_dimension(*(np.array(part, np.float64) for part in zip(*rows)))


class JointFrames(NamedTuple):
    """A joint as two frames, one fixed to each end, whose x axis is that of the joint; they agree in orientation at
    the start. A joint without an axis has frames parallel to the first body's.
    """

    a: int
    b: int | None  # None: the world
    anchor_a: Array  # (3,) m
    anchor_b: Array
    frame_a: Array  # (4,) unit quaternion w-x-y-z
    frame_b: Array


def joint_frames(scene: Scene, joint: Any) -> JointFrames:
    """A planar hinge has the z axis; a planar slider has z for the z axis of its frames."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    _, orientation, _, _ = embedding.start_in_space(scene)
    a, b = index[joint.a], None if joint.b is None else index[joint.b]
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    own = identity
    if joint.kind == "revolute":
        own = from_x_to(np.array([0.0, 0.0, 1.0]))
    elif joint.kind == "prismatic":
        own = np.array(embedding.turned_about_z(math.atan2(joint.axis[1], joint.axis[0])))
    elif hasattr(joint, "axis"):
        own = from_x_to(np.array(joint.axis) / np.linalg.norm(joint.axis))
    world = embedding.quaternion_product(orientation[a], own)
    other = identity if b is None else orientation[b]
    anchors = embedding.vector_in_space(joint.anchor_a), embedding.vector_in_space(joint.anchor_b)
    return JointFrames(a, b, *anchors, own, embedding.quaternion_product(embedding.conjugate(other), world))


def from_x_to(axis: Array) -> Array:
    """The unit quaternion of the shortest turn that carries x to a unit vector."""
    if axis[0] < -1.0 + 1e-12:
        return np.array([0.0, 0.0, 0.0, 1.0])
    q = np.array([1.0 + axis[0], 0.0, -axis[2], axis[1]])
    turned: Array = q / np.linalg.norm(q)
    return turned
