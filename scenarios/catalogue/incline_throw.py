"""A flat box thrown level across an incline: friction is against its velocity, which turns downhill.

With phi between velocity and line of fall, P = g sin b and kappa = mu / tan b,  v' = P (cos phi - kappa),
v phi' = -P sin phi. So v sin phi / tan^kappa(phi/2) is kept, and with w = tan(phi/2), 1 at the start,

    v = v0/2 (w^(kappa-1) + w^(kappa+1)),   dt = -v dw / (P w),   downhill and across: sums of powers of w.

It stops after kappa v0 / (P (kappa^2 - 1)) if kappa > 1, and goes on for ever if not. A box does not turn: the pressure
moves ahead along the velocity, so that the moment of friction about the normal stays 0. A pyramid in place of the cone,
along the axes of the plane, holds the box back by mu across however little it moves that way.
Source: Coulomb's law against a velocity that turns, integrated by its hodograph.
"""

import math
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, GroundKind, lay_ground, scene_of
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, start_pose
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Box, SpatialBody
from scenarios.truth import Goal, Motion

SIDE, HEIGHT = 0.4, 0.1  # m, of the box: with mu to 1.5 its pressure stays within its face
DURATION = 1.0  # s
HALVINGS = 80  # of an interval of LOWEST: to round-off
LOWEST = -700.0  # of ln w; exp of it is still a number


class Throw:
    """Where the box is, by s = ln w; way downhill and across from where it was thrown, m."""

    def __init__(self, slope: float, friction: float, speed: float) -> None:
        self.kappa, self.pull, self.speed = friction / elementary.tan(slope), G * elementary.sin(slope), speed

    def _power(self, n: float, s: Array) -> Array:
        """Of w^(n-1), the integral from w to 1: (1 - w^n) / n."""
        with np.errstate(over="ignore"):
            return -s if abs(n) < 1e-12 else -elementary.expm1(n * s) / n

    def time(self, s: Array) -> Array:
        k = self.kappa
        return 0.5 * self.speed / self.pull * (self._power(k - 1.0, s) + self._power(k + 1.0, s))

    def at(self, time: Array) -> Array:
        """s at times (S,), by halving: time falls as s grows. Where it has stopped -infinity."""
        low, high = np.full(time.shape, LOWEST), np.zeros(time.shape)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            later = self.time(middle) > time
            low, high = np.where(later, middle, low), np.where(later, high, middle)
        return np.where(time >= self.stop, -np.inf, 0.5 * (low + high))

    @property
    def stop(self) -> float:
        """s, or infinity."""
        k = self.kappa
        return k * self.speed / (self.pull * (k * k - 1.0)) if k > 1.0 else math.inf

    def ways(self, time: Array) -> Array:
        """(S, 2) downhill and across."""
        s, k = self.at(time), self.kappa
        down = 0.5 * (self._power(2.0 * k - 2.0, s) - self._power(2.0 * k + 2.0, s))
        across = self._power(2.0 * k - 1.0, s) + self._power(2.0 * k + 1.0, s)
        return 0.5 * squared(self.speed) / self.pull * np.stack([down, across], axis=1)


def incline_throw(
    *,
    slope: Annotated[float, Within(0.1, 1.2, "rad")] = 0.5,
    friction: Annotated[float, Within(0.05, 1.5)] = 0.4,
    speed: Annotated[float, Within(0.1, 10.0, "m/s")] = 3.0,
    ground: GroundKind = "plane",
) -> Scenario:
    """Incline throw: a flat box thrown level across an incline (rad); friction turns with its velocity"""
    throw = Throw(slope, friction, speed)
    down, normal = (
        np.array([elementary.cos(slope), 0.0, -elementary.sin(slope)]),
        np.array([elementary.sin(slope), 0.0, elementary.cos(slope)]),
    )
    start = 0.5 * HEIGHT * normal
    turned = (elementary.cos(0.5 * slope), 0.0, elementary.sin(0.5 * slope), 0.0)
    box = SpatialBody(
        name="box",
        shape=Box(size=(SIDE, SIDE, HEIGHT)),
        mass=1.0,
        position=(float(start[0]), 0.0, float(start[2])),
        orientation=turned,
        velocity=(0.0, speed, 0.0),
        friction=friction,
    )
    scene = scene_of(
        "spatial", (box,), lay_ground("spatial", ground, friction, tilt=0.0 - slope), title="Incline throw",
        duration=DURATION,
    )  # fmt: skip

    def pose(time: Array) -> Array:
        ways = throw.ways(time)
        found = np.tile(np.hstack(start_pose(scene)), (len(time), 1, 1))
        found[:, 0, :3] = start + ways[:, :1] * down + ways[:, 1:] * (0.0, 1.0, 0.0)
        return found

    def across(motion: Motion) -> float:
        return float(motion.position[-1, 0, 1] - motion.position[0, 0, 1])

    return make_scenario(
        scene,
        probes="friction along a path that bends: a cone and not a pyramid, and no turning of a box that only slides",
        regime="sliding",
        kind="closed form",
        source="Coulomb friction against a velocity that turns: v sin(phi) = v0 tan(phi/2)^(mu / tan b)",
        pose=pose,
        goal=Goal(
            name="way across in 1 s", unit="m", exact=float(throw.ways(np.array([DURATION]))[0, 1]), measure=across
        ),
        invariants=frozenset({"energy-not-gained"}),
        headline="truth_error_position",
        noise={"energy_gain": "step", "impact_count": "chaotic"},
        meaningless=OF_REST | {"energy_drift"},
    )


FAMILY = Family("incline-throw", incline_throw, (), subject="the thrown box")
