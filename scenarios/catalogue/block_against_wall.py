"""A block leaning against a wall: it slides down and leaves the wall, or friction holds it.

A box L long and w wide touches the wall (x = 0) and the floor with the two corners of one long side, leaning by
theta from the vertical. With a = L/2, b = w/2 its centre is at
    X = a sin(theta) + b cos(theta),    Y = a cos(theta) + b sin(theta),
so that N_wall = m X'' + mu_f N_floor and N_floor = m (Y'' + g) - mu_w N_wall. When N_wall has fallen to 0 it leaves
the wall; a bilateral wall would go on pulling. For w -> 0 it is the ladder of the textbooks: frictionless it leaves
at cos(theta) = 2/3 cos(theta_0) with the horizontal speed sqrt(g L c) c / 3, c = cos(theta_0).
Source: Newton and Euler for the box; Coulomb friction at sliding corners; Kapranidis & Koo 2008 for the ladder
(The College Mathematics Journal 39).
"""

import dataclasses
import math
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, G, block, lay_ground, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import MOVING_SHARE, contact_laws
from scenarios.scenario import Family, Noise, Scenario, Within
from scenarios.scene import ContactLaw, HalfPlane, PairLaw
from scenarios.truth import Goal, Motion, Truth

LENGTH, WIDTH = 2.0, 0.1  # m
SLOWEST = 30.0  # s, within which a block that slides has landed
AFTER = 0.3  # s of sliding on after it lies flat
RESTS = 2.0  # s
GAP = 0.005  # m
GAP_ERROR = 1e-3  # of the speed: measured with pymunk and MuJoCo at a step of 0.5 ms, which close the gap: 8e-4
DEEPEST = 0.05  # m, half the block's width; its end comes down at 7 m/s, which is 0.03 m in a step of 1/240 s
MOVING = frozenset({"jitter_velocity", "jitter_position", "rest_drift", "rest_time", "energy_drift"})
"""Metrics that say nothing of a block that slides, and loses energy when it lands."""

NOISE_FALLING: dict[str, Noise] = {
    **dict.fromkeys(("truth_error_angle", "energy_gain"), "step"),
    **dict.fromkeys(("impact_count", "cone_violation"), "chaotic"),
}
NOISE_AT_REST: dict[str, Noise] = NOISE_FALLING | dict.fromkeys(
    ("truth_error_position", "energy_drift", "rest_drift", "jitter_position"), "step"
)
Start = Literal["touching", "at-gap"]


class Fall:
    """The box released from rest at `lean`, friction too small to hold it.

    It leaves the wall at `leaves` (s) and lies flat at `lands` (s); `slides_on` says whether its foot slid all the
    way, as the equations take for granted.
    """

    def __init__(
        self, lean: float, floor_friction: float, wall_friction: float, width: float = WIDTH, length: float = LENGTH
    ) -> None:
        self.a, self.b = length / 2.0, width / 2.0
        self.mu_f, self.mu_w = floor_friction, wall_friction
        self._on_wall = DenseSolution(
            self._slide, np.array([lean, 0.0]), 0.0, SLOWEST, stop=lambda t, y: self.wall_force(y)
        )
        self.leaves = self._on_wall.end
        theta, omega = self._on_wall.at(self.leaves)
        _, _, dX, _ = self._centre(theta)
        start = np.array([theta, omega, self._centre(theta)[0], dX * omega])
        self._off_wall = DenseSolution(
            self._free, start, self.leaves, SLOWEST, stop=lambda t, y: np.minimum(math.pi / 2.0 - y[0], self._slip(y))
        )
        self.lands = self._off_wall.end
        end = self._off_wall.at(self.lands)
        self.slides_on = bool(self._slip(end[:, None])[0] > 1e-9)
        self.landing_x, self.final_speed = float(end[2]), float(end[3])
        """m and m/s, horizontal, when it lands; without friction the speed stays."""

    def pose(self, time: Array) -> Array:
        """(S, 1, 3): x, y of the centre, angle (that of the lean); NaN after landing if the floor is rough."""
        on, off = self._on_wall(time), self._off_wall(time)
        early = time <= self.leaves
        theta = np.where(early, on[0], off[0])
        X, Y, _, _ = self._centre(theta)
        pose = np.stack([np.where(early, X, off[2]), Y, theta], axis=-1)
        flat = time > self.lands
        if self.mu_f == 0.0:
            pose[flat, 0] = self.landing_x + self.final_speed * (time[flat] - self.lands)
            pose[flat, 1], pose[flat, 2] = self.b, math.pi / 2.0
        return pose[:, None]

    def wall_force(self, state: Array) -> Array:
        """Normal force of the wall per mass, m/s^2, of states (2, N) in contact with it."""
        A, B = self._centre_acceleration(state)
        return (A + self.mu_f * B) / (1.0 + self.mu_w * self.mu_f)

    def _centre(self, theta: Array | float) -> tuple[Array, Array, Array, Array]:
        """X, Y and their derivatives by theta."""
        s, c = elementary.sine_cosine(theta)
        return self.a * s + self.b * c, self.a * c + self.b * s, self.a * c - self.b * s, self.b * c - self.a * s

    def _centre_acceleration(self, state: Array) -> tuple[Array, Array]:
        """X'' and Y'' + g."""
        theta, omega = state
        X, Y, dX, dY = self._centre(theta)
        alpha = self._slide(theta, state)[1]
        return dX * alpha - X * squared(omega), dY * alpha - Y * squared(omega) + G

    def _slide(self, time: Array, state: Array) -> Array:
        """Both corners slide. Torque about the centre: k^2 alpha = -(dX + mu_w X) N_w - (dY + mu_f Y) N_f, and
        (1 + mu_w mu_f) N_w = A + mu_f B, (1 + mu_w mu_f) N_f = B - mu_w A, with A = X'', B = Y'' + g."""
        theta, omega = state
        X, Y, dX, dY = self._centre(theta)
        mu_f, mu_w = self.mu_f, self.mu_w
        A0, B0 = -X * squared(omega), G - Y * squared(omega)
        P, Q = dX + mu_w * X, dY + mu_f * Y
        inertia = self._k2 * (1.0 + mu_w * mu_f) + P * (dX + mu_f * dY) + Q * (dY - mu_w * dX)
        return np.array([omega, -(P * (A0 + mu_f * B0) + Q * (B0 - mu_w * A0)) / inertia])

    def _free(self, time: Array, state: Array) -> Array:
        """Off the wall; the foot slides: k^2 alpha = -(dY + mu_f Y) N_f, N_f = Y'' + g, x'' = -mu_f N_f."""
        theta, omega, _, vx = state
        _, Y, _, dY = self._centre(theta)
        Q, B0 = dY + self.mu_f * Y, G - Y * squared(omega)
        alpha = -Q * B0 / (self._k2 + Q * dY)
        return np.array([omega, alpha, vx, -self.mu_f * (dY * alpha + B0)])

    def _slip(self, state: Array) -> Array:
        """Speed of the foot away from the wall."""
        theta, omega, _, vx = state
        return vx + omega * self._centre(theta)[1]

    @property
    def _k2(self) -> float:
        return (squared(self.a) + squared(self.b)) / 3.0


def steepest_slide(floor_friction: float, wall_friction: float, width: float = WIDTH, length: float = LENGTH) -> float:
    """rad, the lean beyond which friction cannot hold the block; both corners are then about to slide.

    Moments about the foot: tan = (2 mu_f + (w/L) (1 + mu_f mu_w)) / (1 - mu_f mu_w).
    """
    both = floor_friction * wall_friction
    if both >= 1.0:
        return math.pi / 2.0
    return elementary.atan((2.0 * floor_friction + width / length * (1.0 + both)) / (1.0 - both))


@lru_cache(maxsize=16)
def fall(
    lean: float, floor_friction: float, wall_friction: float, width: float = WIDTH, length: float = LENGTH
) -> Fall:
    return Fall(lean, floor_friction, wall_friction, width, length)


def block_against_wall(
    *,
    lean: Annotated[float, Within(0.2, 1.2, "rad")] = 0.5,
    floor_friction: Annotated[float, Within(0.0, 2.0)] = 0.0,
    wall_friction: Annotated[float, Within(0.0, 2.0)] = 0.0,
    start: Start = "touching",
) -> Scenario:
    """Block against a wall: leaning by `lean` rad it slides down and leaves the wall, or friction holds it

    `at-gap` starts it 5 mm from wall and floor, where ContactSim keeps its contacts: half of its tolerance of 0.01.
    """
    x, y = _centre_at(lean)
    gap = GAP if start == "at-gap" else 0.0
    body = block("planar", "block", size=(WIDTH, LENGTH), x=x + gap, y=y + gap, angle=lean)
    rests = lean <= steepest_slide(floor_friction, wall_friction)
    exact = None if rests else fall(lean, floor_friction, wall_friction)
    duration = RESTS if exact is None else round(exact.lands + AFTER, 2)
    scene = scene_of(
        "planar",
        (body,),
        lay_ground("planar"),
        walls=(HalfPlane(name="wall", normal=(1.0, 0.0)),),
        title="Block against a wall" + (", held by friction" if rests else ""),
        duration=duration,
        contact=ContactLaw(
            pairs=(
                PairLaw(a="block", b="ground", friction=floor_friction),
                PairLaw(a="block", b="wall", friction=wall_friction),
            )
        ),
    )
    truth = _at_rest(lean, duration) if exact is None else _sliding(exact, duration)
    if start == "at-gap":
        truth = _from_gap(truth)
    return Scenario(
        probes="two contacts that share one motion; letting go at the right moment" if exact else "static friction",
        regime="rest" if rests else "sliding",
        scene=scene,
        truth=truth,
        headline="truth_error_goal" if truth.goal else "truth_error_position" if truth.pose else "energy_gain",
        noise=NOISE_AT_REST if rests else NOISE_FALLING,
        meaningless=frozenset() if rests else MOVING,
        laws=contact_laws(scene, share=MOVING_SHARE) | {"penetration_max": DEEPEST},
    )


def _at_rest(lean: float, duration: float) -> Truth:
    start = np.array([[(*_centre_at(lean), lean)]])
    return Truth(
        kind="closed form",
        source="statics: moments about the foot; rests up to tan(lean) = (2 mu_f + (w/L)(1 + mu_f mu_w)) / "
        "(1 - mu_f mu_w); with friction at both ends the forces are not unique, the rest is",
        span=(0.0, duration),
        pose=lambda time: np.repeat(start, len(time), axis=0),
        invariants=frozenset({"rest", "energy"}),
    )


def _sliding(exact: Fall, duration: float) -> Truth:
    smooth = exact.mu_f == exact.mu_w == 0.0
    goal = Goal(name="speed away from the wall", unit="m/s", exact=exact.final_speed, measure=_speed_off_wall)
    return Truth(
        kind="exact ODE",
        source="Newton and Euler for a box on two sliding corners, the wall let go where its force is 0 "
        "(the ladder: Kapranidis & Koo 2008)",
        span=(0.0, duration if exact.mu_f == 0.0 else exact.lands),
        error=1e-12,
        pose=exact.pose,
        goal=goal if smooth else None,
        invariants=frozenset({"energy-not-gained"}),
    )


def _from_gap(truth: Truth) -> Truth:
    """What of it holds 5 mm off: it lands on wall and floor first, or stays that far off all the way."""
    return dataclasses.replace(
        truth,
        kind="exact ODE" if truth.goal else "invariants",
        source=f"{truth.source}; from a gap of 5 mm, which moves the speed by less than 0.1 %",
        error=GAP_ERROR if truth.goal else 0.0,
        pose=None,
        invariants=truth.invariants - {"energy", "rest"} | {"energy-not-gained"},
    )


def _centre_at(lean: float) -> tuple[float, float]:
    a, b = LENGTH / 2.0, WIDTH / 2.0
    return a * elementary.sin(lean) + b * elementary.cos(lean), a * elementary.cos(lean) + b * elementary.sin(lean)


def _speed_off_wall(motion: Motion) -> float:
    """At the end; NaN if it did not fall."""
    if motion.angle[-1, 0] < 1.4:
        return math.nan
    return float(motion.velocity[-1, 0, 0])


FAMILY = Family(
    "block-against-wall",
    block_against_wall,
    ({}, {"floor_friction": 0.5}, {"lean": 0.8, "floor_friction": 0.3, "wall_friction": 0.2}),
    subject="the block at the wall",
)
