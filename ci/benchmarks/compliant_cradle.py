"""Newton's cradles of balls on hinges in elastic contact: the error by tolerance, and against what is estimated.

    python ci/benchmarks/compliant_cradle.py [--seconds 1.0]

The engine is given balls and hinges. The same in the angles of the pendulums, by scipy's DOP853 and its events, shares
no line with it. `estimate` is the engine's own, `true` the greatest distance of any point of a ball from where that
integration has it. With `accuracy` the engine lowers its tolerance until its estimate is at most that. Exit 1 where an
estimate is more than 10 times off, or a run by accuracy is further off than it.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.integrate import solve_ivp

from reference_engine import (
    CompliantBody,
    CompliantSettings,
    CompliantWorld,
    Coupling,
    Material,
    Materials,
    PairLaw,
    simulate_compliant,
)
from reference_engine.geometry.spatial_shapes import Sphere

GRAVITY, DENSITY, POISSON = 9.81, 7850.0, 0.3
TOLERANCES = (1e-8, 1e-9, 1e-10)
HYSTERESIS = 1e-15  # m; the speed of approach there decides the damping: 1e-13 moves balls by 6e-11


@dataclass(frozen=True, kw_only=True)
class Cradle:
    """Balls that hang side by side from hinges; the first is let go from the side."""

    name: str
    modulus: float  # Pa
    restitution: float
    friction: float = 0.2
    count: int = 5
    radius: float = 0.02  # m
    arm: float = 0.3  # m, from the hinge to the centre
    gap: float = 1e-5  # m, between balls that hang
    swing: float = 0.3  # rad, of the first
    v_small: float = 0.01  # m/s

    @property
    def mass(self) -> float:
        return DENSITY * 4.0 / 3.0 * np.pi * self.radius**3

    @property
    def hinges(self) -> np.ndarray:
        """(N,) m, along x."""
        return np.arange(self.count) * (2.0 * self.radius + self.gap)

    def start(self) -> np.ndarray:
        """(N,) rad."""
        return np.where(np.arange(self.count) == 0, -self.swing, 0.0)


CRADLES = (
    Cradle(name="steel, e = 0.95", modulus=2e11, restitution=0.95, gap=1e-4),
    Cradle(name="stone, e = 0.8", modulus=1e10, restitution=0.8, friction=0.5),
    Cradle(name="plastic, elastic", modulus=1e9, restitution=1.0, friction=0.0, v_small=1e-6),
    Cradle(name="rubber, e = 0.7", modulus=1e7, restitution=0.7, count=3, swing=0.5),
)


def world_of(cradle: Cradle) -> CompliantWorld:
    law = PairLaw(restitution=cradle.restitution, sliding_friction=cradle.friction, v_small=cradle.v_small)
    table = Materials(
        materials={"matter": Material(young_modulus=cradle.modulus, poisson_ratio=POISSON)},
        pairs={("matter", "matter"): law},
    )
    bodies, joints = [], []
    for i, (x, angle) in enumerate(zip(cradle.hinges, cradle.start())):
        bodies.append(
            CompliantBody(
                shape=Sphere(cradle.radius), material="matter", mass=cradle.mass, name=f"ball {i}",
                position=(x + cradle.arm * np.sin(angle), 0.0, -cradle.arm * np.cos(angle)),
                orientation=(np.cos(angle / 2.0), 0.0, -np.sin(angle / 2.0), 0.0),
            )
        )  # fmt: skip
        joints.append(
            Coupling(
                first=-1, second=i, linear=0, angular=1, axis=(0.0, 1.0, 0.0),
                first_point=(x, 0.0, 0.0), second_point=(0.0, 0.0, cradle.arm),
            )
        )  # fmt: skip
    return CompliantWorld(
        bodies=tuple(bodies), materials=table, joints=tuple(joints), gravity=(0.0, 0.0, -GRAVITY)
    )  # fmt: skip


class Pendulums:
    """The same in the angles alone, in the plane of the swing: y is (angles, rates)."""

    def __init__(self, cradle: Cradle) -> None:
        self.cradle, n = cradle, cradle.count
        plane_modulus = cradle.modulus / (1.0 - POISSON**2)
        self.hertz = 4.0 / 3.0 * np.sqrt(cradle.radius / 2.0) * plane_modulus / 2.0
        self.inertia = cradle.mass * (cradle.arm**2 + 0.4 * cradle.radius**2)
        self.touching, self.damping = np.zeros(n - 1, bool), np.zeros(n - 1)

    def seen(self, k: int, y: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, float, np.ndarray]:
        """Of balls k and k + 1: gap, normal, both lever vectors by the angles, speed of parting, slip."""
        c, n = self.cradle, self.cradle.count
        angle, rate = y[k : k + 2], y[n + k : n + k + 2]
        hinge = np.stack([c.hinges[k : k + 2], np.zeros(2)], axis=1)
        centre = hinge + c.arm * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
        between = centre[1] - centre[0]
        distance = float(np.hypot(*between))
        normal = between / distance
        arm = 0.5 * (centre[0] + centre[1]) - hinge
        lever = np.stack([-arm[:, 1], arm[:, 0]], axis=1)  # of the contact point, by each angle
        u = lever[1] * rate[1] - lever[0] * rate[0]
        parting = float(u @ normal)
        return distance - 2.0 * c.radius, normal, lever[0], lever[1], parting, u - parting * normal

    def rate(self, _: float, y: np.ndarray) -> np.ndarray:
        c, n = self.cradle, self.cradle.count
        torque = -c.mass * GRAVITY * c.arm * np.sin(y[:n])
        for k in np.flatnonzero(self.touching):
            gap, normal, first, second, parting, aside = self.seen(k, y)
            if gap >= 0.0:
                continue
            f = max(0.0, self.hertz * (-gap) ** 1.5 * (1.0 - self.damping[k] * parting))
            slip = float(np.hypot(*aside))
            share = slip / c.v_small
            faded = slip if share >= 1.0 else c.v_small * (share**2 * (1.0 - share / 3.0) + 1.0 / 3.0)
            force = f * (normal - c.friction * aside / faded)
            torque[k] -= force @ first
            torque[k + 1] += force @ second
        return np.concatenate([y[n:], torque / self.inertia])

    def change_of(self, k: int):
        def gap(_: float, y: np.ndarray) -> float:
            return self.seen(k, y)[0]

        gap.terminal, gap.direction = True, 1.0 if self.touching[k] else -1.0
        return gap

    def run(self, times: np.ndarray) -> np.ndarray:
        """(S, N) angles."""
        c, n = self.cradle, self.cradle.count
        now, y, angles = 0.0, np.concatenate([c.start(), np.zeros(n)]), np.zeros((len(times), n))
        while now < times[-1]:
            part = solve_ivp(
                self.rate, (now, times[-1]), y, method="DOP853", rtol=1e-13, atol=1e-16, dense_output=True,
                events=[self.change_of(k) for k in range(n - 1)], max_step=0.005,
            )  # fmt: skip
            within = (times >= now) & (times <= part.t[-1])
            if within.any():
                angles[within] = part.sol(times[within]).T[:, :n]
            now, y = part.t[-1], part.y[:, -1]
            for k in range(n - 1):
                if len(part.t_events[k]):
                    self.touching[k] = not self.touching[k]
                    if self.touching[k]:
                        self.damping[k] = self.damping_of(-self.seen(k, y)[4])
        return angles

    def damping_of(self, approach: float) -> float:
        e = self.cradle.restitution if approach > self.cradle.v_small else 0.0
        return min(2000.0, 8.0 * (1.0 - e) / (5.0 * e * approach)) if e else 2000.0


def distance(cradle: Cradle, position: np.ndarray, angles: np.ndarray) -> float:
    """m, the greatest of any point of a ball from where the angles have it."""
    found = np.arctan2(position[:, :, 0] - cradle.hinges, -position[:, :, 2])
    return float(np.abs(found - angles).max()) * (cradle.arm + cradle.radius)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=1.0)
    given = arguments.parse_args()
    times = np.linspace(0.0, given.seconds, 101)
    table = Table("cradle", "run by", "contacts", "steps", "estimate (m)", "true (m)", "s")
    missed = 0
    for cradle in track(CRADLES, description="cradles"):
        world, truth = world_of(cradle), Pendulums(cradle).run(times)
        for value in TOLERANCES:
            for name in ("tolerance", "accuracy"):
                began = time.perf_counter()
                if name == "tolerance":
                    settings = CompliantSettings(tolerance=value, hysteresis=HYSTERESIS)
                    motion = simulate_compliant(world, times, settings, estimate_error=True)
                else:
                    settings = CompliantSettings(hysteresis=HYSTERESIS)
                    motion = simulate_compliant(world, times, settings, accuracy=value)
                took = time.perf_counter() - began
                true, estimate = distance(cradle, motion.position, truth), float(motion.error_estimate or 0.0)
                wrong = not estimate / 10.0 <= true <= 10.0 * estimate or (name == "accuracy" and true > value)
                missed += wrong
                contacts = str(int((motion.events.kind == "contact").sum()))
                figures = f"{estimate:.1e}", f"{true:.1e}{' MISS' if wrong else ''}", f"{took:.2f}"
                table.add_row(cradle.name, f"{name} {value:g}", contacts, str(motion.steps), *figures)
    Console(width=120).print(table)
    print(f"{missed} of {2 * len(CRADLES) * len(TOLERANCES)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
