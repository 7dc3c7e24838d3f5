"""The rocking block: tilted onto one corner and let go, it rocks from corner to corner (Housner 1963).

phi is the angle between the vertical and the line from the pivot corner to the centre, alpha its value when the
block stands, R the length of that line; theta = alpha - phi is the tilt. About a corner that neither slides nor
lifts  phi'' = p^2 sin(phi),  p^2 = m g R / I_corner = 3 g / (4 R).  An impact without restitution at the other
corner keeps the angular momentum about it:  omega' = r omega,  r = 1 - (3/2) sin^2(alpha),  so a fraction r^2 of
the energy.
Source: G. W. Housner 1963, Bulletin of the Seismological Society of America 53; here without his linearisation,
which is 0.5 % off at a tilt of 0.1 rad.
"""

import math
from functools import cached_property
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.dense import gauss_legendre, mul
from reference_engine.elementary import power, squared
from scenarios.catalogue.shared.bodies import G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import OF_REST, RESTING_SHARE, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.catalogue.shared.readings import BEFORE, crossings
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Goal, Motion

WIDTH, HEIGHT = 1.0, 3.0  # m
FRICTION = 0.8
"""The swing needs at most 0.2432 (the corner about to strike after the smallest tilt), the impact as much."""
DURATION = 2.0  # s: three impacts
NODES = 40


class Rocking:
    """The motion of a w x h block let go at rest at tilt theta_0; a swing runs from its highest point to the impact."""

    def __init__(self, tilt: float, width: float = WIDTH, height: float = HEIGHT, g: float = G) -> None:
        self.width, self.height = width, height
        self.alpha = elementary.atan2(width, height)
        self.R = 0.5 * math.hypot(width, height)
        self.p = math.sqrt(0.75 * g / self.R)
        self.r = 1.0 - 1.5 * squared(elementary.sin(self.alpha))
        self.tilt = tilt

    def amplitude(self, impacts: int) -> float:
        """rad, the greatest tilt after so many impacts: r^2 of the height above standing is left by each.

        cos(alpha - theta) - cos(alpha) = 2 sin(alpha - theta/2) sin(theta/2) keeps the digits of a small tilt; it is
        concave, so Newton's iteration from below rises to the solution.
        """
        height = self._lift(self.tilt) * power(self.r, 2 * impacts)
        theta = height / elementary.sin(self.alpha)
        while (better := theta + (height - self._lift(theta)) / elementary.sin(self.alpha - theta)) > theta * (
            1.0 + 1e-15
        ):
            theta = better
        return theta

    def _lift(self, theta: float) -> float:
        """Height of the centre above that of the standing block, in units of R."""
        return 2.0 * elementary.sin(self.alpha - theta / 2.0) * elementary.sin(theta / 2.0)

    def quarter(self, impacts: int) -> float:
        """s, from the highest point after so many impacts down to the next impact.

        phi' = p sqrt(2 (cos phi_0 - cos phi)); with phi = phi_0 + s^2 the integrand is smooth (Gauss-Legendre).
        """
        theta = self.amplitude(impacts)
        phi_0, end = self.alpha - theta, math.sqrt(theta)
        node, weight = gauss_legendre(NODES)
        s = 0.5 * end * (node + 1.0)
        speed = self.p * np.sqrt(4.0 * elementary.sin(phi_0 + squared(s) / 2.0) * elementary.sin(squared(s) / 2.0))
        return float(mul(0.5 * end * weight, 2.0 * s / speed))

    @cached_property
    def _swings(self) -> list[DenseSolution]:
        return []

    def tilt_at(self, time: Array) -> Array:
        """(S,) rad, positive while it stands on the left corner, then alternating."""
        tilt = np.full(len(time), np.nan)
        impacts, low, apex = 0, 0.0, 0.0
        while low <= np.max(time):
            quarter = self.quarter(impacts)
            if impacts == len(self._swings):
                phi = np.array([self.alpha - self.amplitude(impacts), 0.0])
                self._swings.append(DenseSolution(self._rate, phi, 0.0, quarter))
            high = apex + quarter
            mine = (time >= low) & (time <= high)
            since = np.minimum(np.abs(time[mine] - apex), quarter)
            tilt[mine] = (-1) ** impacts * (self.alpha - self._swings[impacts](since)[0])
            impacts += 1
            low, apex = high, high + self.quarter(impacts)
        return tilt

    def _rate(self, time: Array, state: Array) -> Array:
        return np.array([state[1], squared(self.p) * elementary.sin(state[0])])

    def pose(self, time: Array) -> Array:
        """(S, 1, 3): x, y of the centre, angle; the base's middle at the origin when it stands."""
        theta = self.tilt_at(time)
        corner = np.where(theta >= 0.0, -0.5, 0.5) * self.width
        c, s = elementary.cos(theta), elementary.sin(theta)
        x = corner - corner * c - 0.5 * self.height * s
        y = -corner * s + 0.5 * self.height * c
        return np.stack([x, y, theta], axis=-1)[:, None]


def rocking_block(
    *, tilt: Annotated[float, Within(0.02, 0.3, "rad")] = 0.1, space: Space = "planar", ground: GroundKind = "plane"
) -> Scenario:
    """Rocking block: a 1 x 3 block let go on one corner; when it first strikes the ground with the other"""
    rocking = Rocking(tilt)
    x, y, angle = (float(c) for c in rocking.pose(np.zeros(1))[0, 0])
    body = block(space, "block", size=(WIDTH, HEIGHT), x=x, y=y, angle=angle, friction=FRICTION)
    scene = scene_of(space, (body,), lay_ground(space, ground, FRICTION), title="Rocking block", duration=DURATION)
    return make_scenario(
        scene,
        probes="rotation about a corner that sticks, loss at an impact without restitution",
        regime="impact",
        kind="exact ODE",
        source="Housner 1963, the inverted pendulum about a corner, not linearised; impact without restitution "
        "or sliding: angular momentum about the corner struck",
        error=1e-12,
        pose=poses_in_plane(scene, rocking.pose),
        goal=Goal(name="first quarter period", unit="s", exact=rocking.quarter(0), measure=_first_impact),
        invariants=frozenset({"energy-not-gained"}),
        meaningless=OF_REST | {"energy_drift"},
        laws=contact_laws(scene, share=RESTING_SHARE),
    )


def _first_impact(motion: Motion) -> float:
    """When the tilt first passes 0 (in space: when the centre is over the middle of the base); NaN if it never does."""
    if motion.position.shape[-1] == 2:
        found = crossings(motion.time, motion.angle[:, 0], 0.0, rising=False, nodes=BEFORE)
    else:
        found = crossings(motion.time, motion.position[:, 0, 0], 0.0, rising=True, nodes=BEFORE)
    return found[0] if found else math.nan


FAMILY = Family(
    "rocking-block",
    rocking_block,
    ({}, {"space": "spatial"}, {"space": "spatial", "ground": "box"}),
    subject="the rocking block",
)
