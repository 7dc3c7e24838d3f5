"""An ellipsoid let go tilted above a frictionless plane: free fall, one impact off its middle, and what follows.

In the plane: gap y - h(theta), with h of `rocking_ellipsoid`. The impact is an impulse p straight up at the point of
touch, h' aside of the centre, per unit of mass:  p = (1 + e) v / (1 + h'^2 / I),  y' = -v + p,  theta' = -h' p / I.
With restitution it flies until the second impact, and the truth ends there. Without it slides on, turning, for as
long as the plane presses:  (I + h'^2) theta'' + h' h'' theta'^2 + g h' = 0,  y = h.
Sources: Newton's law of restitution; Newton and Euler's laws.
"""

import math
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.rocking_ellipsoid import SEMI_AXES, Ellipse
from scenarios.catalogue.shared.bodies import G, lay_ground, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution, falling_root
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ellipsoid, SpatialBody
from scenarios.truth import Event

ELLIPSE = Ellipse(SEMI_AXES["long"][0], SEMI_AXES["long"][2], rolling=False)
DURATION = 1.0  # s
CHECKS = 1e-3  # s, between looks for the second impact


class Bounce(NamedTuple):
    """Just after the impact: when (s), height of the centre (m), its speed (m/s), tilt (rad) and rate (rad/s)."""

    time: float
    height: float
    speed: float
    tilt: float
    rate: float

    def gap(self, time: Array) -> Array:
        since = time - self.time
        height = self.height + self.speed * since - 0.5 * G * squared(since)
        return height - ELLIPSE.height(self.tilt + self.rate * since)[0]


def first_impact(height: float, tilt: float, restitution: float) -> Bounce:
    h, slope, _ = (float(part[0]) for part in ELLIPSE.height(np.array([tilt])))
    time = math.sqrt(2.0 * height / G)
    gained = (1.0 + restitution) * G * time / (1.0 + squared(slope) / ELLIPSE.inertia)
    return Bounce(time, h, gained - G * time, tilt, -slope * gained / ELLIPSE.inertia)


@lru_cache(maxsize=8)
def second_impact(bounce: Bounce) -> float:
    """s; infinite where it is later than the scene."""
    time = np.arange(bounce.time + CHECKS, DURATION + CHECKS, CHECKS)
    gap = bounce.gap(time)
    down = np.flatnonzero((gap[:-1] > 0.0) & (gap[1:] <= 0.0))
    if not down.size:
        return math.inf
    k = int(down[0])
    return float(falling_root(bounce.gap, time[k], time[k + 1], gap[k], gap[k + 1]))


@lru_cache(maxsize=8)
def sliding(bounce: Bounce) -> DenseSolution:
    """(theta, theta') after an impact without restitution, until the plane does not press any more."""

    def rate(time: Array, state: Array) -> Array:
        return np.array([state[1], ELLIPSE.turning(*state)])

    def presses(time: Array, state: Array) -> Array:
        _, slope, bend = ELLIPSE.height(state[0])
        return G + slope * ELLIPSE.turning(*state) + bend * squared(state[1])

    return DenseSolution(rate, np.array([bounce.tilt, bounce.rate]), bounce.time, DURATION, window=0.1, stop=presses)


def ellipsoid_drop(
    *,
    height: Annotated[float, Within(0.01, 2.0, "m")] = 0.3,
    tilt: Annotated[float, Within(-1.5, 1.5, "rad")] = 0.3,
    restitution: Annotated[float, Within(0.0, 1.0)] = 0.0,
) -> Scenario:
    """Ellipsoid drop: let go tilted, `height` m above a frictionless plane; it turns by the impact"""
    bounce = first_impact(height, tilt, restitution)
    body = SpatialBody(
        name="ellipsoid",
        shape=Ellipsoid(semi_axes=SEMI_AXES["long"]),
        mass=1.0,
        position=(0.0, 0.0, bounce.height + height),
        orientation=(elementary.cos(0.5 * tilt), 0.0, -elementary.sin(0.5 * tilt), 0.0),
        restitution=restitution,
    )
    scene = scene_of("spatial", (body,), lay_ground("spatial"), title="Ellipsoid drop", duration=DURATION)
    times = [bounce.time]
    if restitution > 0.0:
        again = second_impact(bounce)
        times += [again] if again <= DURATION else []
        end = min(again, DURATION)
    else:
        end = float(sliding(bounce).end)

    def motion(time: Array) -> Array:
        since = np.maximum(time - bounce.time, 0.0)
        falling = bounce.height + height - 0.5 * G * squared(np.minimum(time, bounce.time))
        if restitution > 0.0:
            up = falling + bounce.speed * since - 0.5 * G * squared(since)
            turned = tilt + bounce.rate * since
        else:
            turned = np.where(time <= bounce.time, tilt, sliding(bounce)(np.maximum(time, bounce.time))[0])
            up = np.where(time <= bounce.time, falling, ELLIPSE.height(turned)[0])
        return np.stack([np.zeros_like(up), up, turned], axis=-1)[:, None]

    return make_scenario(
        scene,
        probes="an impact off the middle of a curved body: what it turns, what it keeps",
        regime="impact",
        kind="closed form" if restitution > 0.0 else "exact ODE",
        source="free fall; an impulse along the normal, Newton's law of restitution; sliding without friction",
        span=(0.0, end),
        error=0.0 if restitution > 0.0 else 1e-11,
        pose=poses_in_plane(scene, motion),
        events=tuple(Event(a="ellipsoid", b="ground", number=k + 1, time=t) for k, t in enumerate(times)),
        invariants=frozenset({"energy-not-gained", "momentum-x"}),
        headline="truth_error_angle",
        noise={"truth_error_angle": "step", "truth_error_position": "step"},
        meaningless=OF_REST | {"energy_drift"},
    )


FAMILY = Family("ellipsoid-drop", ellipsoid_drop, ({}, {"restitution": 0.5, "tilt": 0.1}), subject="the ellipsoid")
