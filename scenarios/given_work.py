"""The work that a body of given motion does on the free ones, from what they gain."""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import cross, mul
from scenarios.forces import has_applied_forces
from scenarios.given_motion import given_bodies, motion_of
from scenarios.scene import Scene, colliding_pairs, inertias, masses


def work_follows(scene: Scene) -> bool:
    """Whether the work of the given motion follows from what the free bodies gain: one body has it, and nothing else
    from outside acts on them but gravity."""
    given = given_bodies(scene)
    if len(given) != 1 or has_applied_forces(scene):
        return False
    name = scene.bodies[given[0]].name
    still = {body.name for body in scene.bodies if body.fixed} - {name}
    tied = [end for joint in scene.joints for end in (joint.a, joint.b)]
    if any(end is None or end in still for end in tied):
        return False
    still |= {boundary.name for boundary in scene.boundaries}
    return not any(still & set(pair) for pair in colliding_pairs(scene))


class GivenWork:
    """The work of the one body with given motion on all free ones, from one state to the next.

    Force and torque on them are what changes their momentum beside gravity, so W = V . (P' - P - M g h) + W of the
    turn, V and spin in the middle of the step: it holds whatever the engine's contacts are, and impacts too.
    """

    def __init__(self, scene: Scene, lag: float) -> None:
        self._scene, self._lag = scene, lag
        body = scene.bodies[given_bodies(scene)[0]]
        self._center, self._motion = np.array(body.position), motion_of(body)
        self._free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
        self._mass, self._inertia = masses(scene)[self._free], inertias(scene)[self._free]
        self._gravity = np.array(scene.gravity)
        self._turns = bool(np.any(self._motion.spin))
        self.restart()

    def restart(self) -> None:
        self._last: tuple[float, Array, Array, Array] | None = None

    def until(self, time: float, *state: Array) -> float:
        """J since the state before; 0 of the first."""
        position, momentum, turning = self._momenta(*state)
        last, self._last = self._last, (time, position, momentum, turning)
        if last is None or time <= last[0]:
            return 0.0
        h, middle = time - last[0], 0.5 * (time + last[0])
        weight = mul(self._mass[:, None].T, np.broadcast_to(self._gravity, position.shape))[0]
        found = float(mul(self._motion.rate(middle + self._lag), momentum - last[2] - h * weight))
        if not self._turns:
            return found
        center = self._center + self._motion.travel(middle)
        arms = 0.5 * (position + last[1]) - center
        pulls = self._mass[:, None] * self._gravity
        if len(self._gravity) == 2:
            drop = float((arms[:, 0] * pulls[:, 1] - arms[:, 1] * pulls[:, 0]).sum())
            about = float((turning - last[3]).sum()) - _cross2(center, momentum - last[2])
            return found + float(self._motion.spin) * (about - h * drop)
        about = (turning - last[3]).sum(axis=0) - cross(center, momentum - last[2])
        return found + float(mul(np.array(self._motion.spin), about - h * cross(arms, pulls).sum(axis=0)))

    def _momenta(self, *state: Array) -> tuple[Array, Array, Array]:
        """Positions (F, D), momentum (D,) and angular momentum about the origin, of each body."""
        free = self._free
        if len(state) == 2:
            position, velocity, spin = state[0][free, :2], state[1][free, :2], state[1][free, 2]
            each = self._mass * (position[:, 0] * velocity[:, 1] - position[:, 1] * velocity[:, 0])
            return position, mul(self._mass, velocity), each + self._inertia * spin
        position, orientation, velocity, spin = (part[free] for part in state)
        own = np.zeros_like(spin)
        if self._turns:
            from reference_engine.rotation import matrices  # who reads scenes needs no compiler

            for k, (axes, w) in enumerate(zip(matrices(orientation), spin)):
                own[k] = mul(axes, self._inertia[k] * mul(axes.T, w))
        return position, mul(self._mass, velocity), cross(position, self._mass[:, None] * velocity) + own


def _cross2(u: Array, v: Array) -> float:
    return float(u[0] * v[1] - u[1] * v[0])
