"""What acts on bodies besides contacts, and its energy."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar.errors import WorldError
from reference_engine.planar.faithful.arrays import LEAST_HEIGHT, Outlines
from reference_engine.planar.forces import Attraction, ConstantForce, Force, Spring, Thruster
from reference_engine.planar.world import World

Array = NDArray[np.float64]


class External:
    """Gravity, damping and the world's forces. Arrays are (B + 1, 3): the background comes last and stays."""

    def __init__(self, world: World, o: Outlines) -> None:
        self.world, self.count = world, len(world.bodies)
        self.mass = np.array([math.inf if body.fixed else body.mass for body in world.bodies])
        self.inertia = np.array([math.inf if body.fixed else float(body.inertia or 0.0) for body in world.bodies])
        self.free = [i for i, mass in enumerate(self.mass) if math.isfinite(mass)]
        self.least_height = o.body[:, LEAST_HEIGHT]
        self.weight = np.zeros((self.count + 1, 3))
        self.weight[self.free, :2] = world.gravity
        drag = np.zeros((self.count + 1, 3))
        drag[self.free, :2] = -world.damping / self.mass[self.free, None]
        drag[self.free, 2] = -world.rotational_damping / self.inertia[self.free]
        self.drag = drag

    def acceleration(self, time: float, pose: Array, twist: Array, out: Array) -> None:
        """out (B + 1, 3) = (force / m, torque / I)."""
        out[:] = self.weight
        out += self.drag * twist
        for force in self.world.forces:
            self.add(force, time, pose, twist, out)

    def add(self, force: Force, time: float, pose: Array, twist: Array, out: Array) -> None:
        if isinstance(force, Attraction):
            for i, j, away, r in self.pairs(pose):
                pull = force.strength * self.mass[i] * self.mass[j] / (r * r) * away
                out[i, :2] += -pull / self.mass[i]
                out[j, :2] += pull / self.mass[j]
        elif isinstance(force, ConstantForce):
            fx, fy = turn(pose[force.body, 2], force.force) if force.turns else force.force
            self.push(force.body, force.point, fx, fy, pose, out)
            if self.mass[force.body] < math.inf:
                out[force.body, 2] += force.torque / self.inertia[force.body]
        elif isinstance(force, Thruster):
            factor, (fx, fy) = force.factor(time), turn(pose[force.body, 2], force.force)
            self.push(force.body, force.point, factor * fx, factor * fy, pose, out)
        elif isinstance(force, Spring):
            self.stretch(force, time, pose, twist, out)
        else:
            pushes = np.asarray(force(time, pose[: self.count].copy(), twist[: self.count].copy()), np.float64)
            if pushes.shape != (self.count, 3) or not np.isfinite(pushes).all():
                raise WorldError(f"forces: {force!r} gave {pushes.shape}, not finite (B, 3) with B = {self.count}")
            out[self.free, :2] += pushes[self.free, :2] / self.mass[self.free, None]
            out[self.free, 2] += pushes[self.free, 2] / self.inertia[self.free]

    def pairs(self, pose: Array) -> Iterator[tuple[int, int, Array, float]]:
        """Free bodies i, j, the unit vector from j to i, and the distance."""
        for a, i in enumerate(self.free):
            for j in self.free[a + 1 :]:
                away = pose[i, :2] - pose[j, :2]
                r = math.sqrt(away[0] * away[0] + away[1] * away[1])
                yield i, j, away / r, r

    def push(self, body: int, point: tuple[float, float], fx: float, fy: float, pose: Array, out: Array) -> None:
        """Force (fx, fy) [N] at a point of the body's frame."""
        if body < 0 or self.mass[body] == math.inf:
            return
        rx, ry = turn(pose[body, 2], point)
        out[body, 0] += fx / self.mass[body]
        out[body, 1] += fy / self.mass[body]
        out[body, 2] += (rx * fy - ry * fx) / self.inertia[body]

    def stretch(self, spring: Spring, time: float, pose: Array, twist: Array, out: Array) -> None:
        first, second = spring_ends(spring, time, pose)
        rx, ry = turn(pose[spring.first, 2], spring.first_point) if spring.first >= 0 else (0.0, 0.0)
        u = spring.first_velocity if spring.first < 0 else twist[spring.first, :2]
        ux, uy = u[0] - twist[spring.first, 2] * ry, u[1] + twist[spring.first, 2] * rx
        rx, ry = turn(pose[spring.second, 2], spring.second_point)
        vx = twist[spring.second, 0] - twist[spring.second, 2] * ry
        vy = twist[spring.second, 1] + twist[spring.second, 2] * rx
        dx, dy = second[0] - first[0], second[1] - first[1]
        length = math.hypot(dx, dy)
        stretch = length - spring.length
        if length == 0.0 or (spring.pulls_only and stretch < 0.0):
            return
        dx, dy = dx / length, dy / length
        tension = spring.stiffness * stretch + spring.damping * ((vx - ux) * dx + (vy - uy) * dy)
        self.push(spring.first, spring.first_point, tension * dx, tension * dy, pose, out)
        self.push(spring.second, spring.second_point, -tension * dx, -tension * dy, pose, out)

    def energy(self, time: float, pose: Array, twist: Array) -> float:
        """Kinetic, and potential of gravity, attraction and springs [J]. Attraction: 0 where two bodies are nearest."""
        free = self.free
        total = 0.0
        for i in free:
            vx, vy, w = twist[i]
            total += 0.5 * self.mass[i] * (vx * vx + vy * vy) + 0.5 * self.inertia[i] * w * w
            total -= self.mass[i] * (self.world.gravity[0] * pose[i, 0] + self.world.gravity[1] * pose[i, 1])
        for force in self.world.forces:
            if isinstance(force, Attraction):
                for i, j, _, r in self.pairs(pose):
                    nearest = self.least_height[i] + self.least_height[j]
                    scale = force.strength * self.mass[i] * self.mass[j]
                    total += scale * ((1.0 / nearest if nearest > 0.0 else 0.0) - 1.0 / r)
            elif isinstance(force, Spring):
                stretch = math.dist(*spring_ends(force, time, pose)) - force.length
                if not (force.pulls_only and stretch < 0.0):
                    total += 0.5 * force.stiffness * stretch * stretch
        return total


def spring_ends(spring: Spring, time: float, pose: Array) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the ends of a spring are [m]. The last row of the pose is the background's, at rest at the origin."""
    rx, ry = turn(pose[spring.second, 2], spring.second_point)
    second = pose[spring.second, 0] + rx, pose[spring.second, 1] + ry
    if spring.first < 0:
        return spring.background_point(time), second
    rx, ry = turn(pose[spring.first, 2], spring.first_point)
    return (pose[spring.first, 0] + rx, pose[spring.first, 1] + ry), second


def turn(angle: float, vector: tuple[float, float]) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return vector[0] * c - vector[1] * s, vector[0] * s + vector[1] * c
