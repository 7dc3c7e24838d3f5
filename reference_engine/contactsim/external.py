"""What acts on bodies besides contacts, and its energy, by the kernels of `planar.external`."""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.planar_model.external import accelerate, pack_forces, potential_energy
from reference_engine.planar_model.world import World


class External:
    """Gravity, damping and the world's forces. Arrays are (B + 1, 3): the background comes last and stays."""

    def __init__(self, world: World) -> None:
        self.forces, self.functions = pack_forces(world, background=True)
        self.rows = len(self.forces.mass)
        self.state, self.rate = np.zeros(6 * self.rows), np.zeros(6 * self.rows)

    def acceleration(self, time: float, pose: Array, twist: Array, out: Array) -> None:
        """out (B + 1, 3) = (force / m, torque / I)."""
        self.put(pose, twist)
        accelerate(self.forces, time, self.state, self.rows, self.rate)
        out[:] = self.rate[3 * self.rows :].reshape(-1, 3)
        self.functions.check()

    def energy(self, time: float, pose: Array, twist: Array) -> float:
        """Kinetic, and potential of gravity, attraction and springs [J]."""
        self.put(pose, twist)
        free = np.isfinite(self.forces.mass[:, 0])
        kinetic = 0.5 * (self.forces.mass[free] * twist[free] ** 2).sum()
        return float(kinetic + potential_energy(self.forces, time, self.state, self.rows))

    def put(self, pose: Array, twist: Array) -> None:
        self.state[: 3 * self.rows], self.state[3 * self.rows :] = pose.ravel(), twist.ravel()
