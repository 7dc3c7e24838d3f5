"""An ellipsoid that rocks on a plane about one of its axes, rolling or without friction: an ellipse in the plane.

theta is the tilt, h(theta) = sqrt(a^2 sin^2 + c^2 cos^2) the height of the centre, which the point of touch leaves by
-h' along the plane. With I its moment, per unit of mass
    M = I + h'^2  sliding, straight up and down;   M = I + h'^2 + h^2  rolling,  x' = -h theta'
    M theta'' + M' theta'^2 / 2 + g h' = 0
so 1/2 M theta'^2 = g (h_0 - h) and the period is a quadrature. For small tilts, rho = a^2 / c the radius of curvature,
    omega^2 = g (rho - c) / (I + c^2)  rolling,  g (rho - c) / I  sliding.
Sources: Newton and Euler's laws with the no-slip condition; the support function of the ellipse.
"""

import math
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, in_plane, lay_ground, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.catalogue.shared.readings import period_of
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ellipsoid
from scenarios.truth import Goal

SEMI_AXES = {"long": (0.3, 0.2, 0.1), "middle": (0.2, 0.3, 0.1)}  # m; it rocks about the second
FRICTION = 1.0
"""Rolling with a tilt of 0.5 rad needs at most 0.6957 over the long axis, 0.4693 over the middle one."""
PERIODS = 3.2
NODES = 64

Contact = Literal["rolling", "sliding"]
Over = Literal["long", "middle"]


class Ellipse(NamedTuple):
    """Of semi-axes a along, c upright while level, m; per unit of mass."""

    a: float
    c: float
    rolling: bool = True

    @property
    def inertia(self) -> float:
        """m^2, of the uniform ellipsoid about its third axis."""
        return 0.2 * (squared(self.a) + squared(self.c))

    def height(self, tilt: Array) -> tuple[Array, Array, Array]:
        """h, h', h'' at tilts."""
        k = squared(self.a) - squared(self.c)
        s, c = elementary.sine_cosine(tilt)
        h = np.sqrt(squared(self.a) * squared(s) + squared(self.c) * squared(c))
        slope = k * s * c / h
        return h, slope, (k * (squared(c) - squared(s)) - squared(slope)) / h

    def turning(self, tilt: Array, rate: Array) -> Array:
        """theta'' while it touches."""
        h, slope, bend = self.height(tilt)
        mass = self.inertia + squared(slope) + (squared(h) if self.rolling else 0.0)
        growth = 2.0 * slope * (bend + (h if self.rolling else 0.0))
        return -(0.5 * growth * squared(rate) + G * slope) / mass

    def period(self, amplitude: float) -> float:
        """s. With theta = theta_0 sin(u) the integrand is smooth and periodic: equal steps are exact."""
        u = (np.arange(NODES) + 0.5) * 0.5 * math.pi / NODES
        tilt = amplitude * elementary.sin(u)
        short = (
            2.0 * amplitude * squared(elementary.sin(0.5 * (0.5 * math.pi - u)))
        )  # theta_0 - theta, with all its digits
        h, slope, _ = self.height(tilt)
        highest = float(self.height(np.array([amplitude]))[0][0])
        # h_0 - h = (h_0^2 - h^2) / (h_0 + h)
        fall = (
            (squared(self.a) - squared(self.c))
            * elementary.sin(short)
            * elementary.sin(amplitude + tilt)
            / (highest + h)
        )
        mass = self.inertia + squared(slope) + (squared(h) if self.rolling else 0.0)
        steps = amplitude * elementary.cos(u) * np.sqrt(mass / (2.0 * G * fall))
        return float(4.0 * 0.5 * math.pi / NODES * np.sum(steps))


@lru_cache(maxsize=8)
def rocking(ellipse: Ellipse, amplitude: float) -> DenseSolution:
    """(theta, theta', x) over one period from rest."""

    def rate(time: Array, state: Array) -> Array:
        tilt, turn, _ = state
        along = -ellipse.height(tilt)[0] * turn if ellipse.rolling else np.zeros_like(tilt)
        return np.array([turn, ellipse.turning(tilt, turn), along])

    return DenseSolution(rate, np.array([amplitude, 0.0, 0.0]), 0.0, ellipse.period(amplitude))


def rocking_ellipsoid(
    *, contact: Contact = "rolling", over: Over = "long", amplitude: Annotated[float, Within(0.01, 0.5, "rad")] = 0.5
) -> Scenario:
    """Rocking ellipsoid: let go tilted, it rocks on a plane, rolling or without friction; its period"""
    axes, friction = SEMI_AXES[over], FRICTION if contact == "rolling" else 0.0
    ellipse = Ellipse(axes[0], axes[2], contact == "rolling")
    T, height = ellipse.period(amplitude), float(ellipse.height(np.array([amplitude]))[0][0])
    shape = Ellipsoid(semi_axes=axes)
    body = in_plane("spatial", "ellipsoid", shape, y=height, angle=amplitude, mass=1.0, friction=friction)
    duration = PERIODS * T
    title = f"Rocking ellipsoid, {contact}"
    scene = scene_of("spatial", (body,), lay_ground("spatial", "plane", friction), title=title, duration=duration)

    def motion(time: Array) -> Array:
        tilt, _, x = rocking(ellipse, amplitude)(time % T)
        return np.stack([x, ellipse.height(tilt)[0], tilt], axis=-1)[:, None]

    measure = period_of(lambda seen: seen.spin[:, 0, 1], rising=False)
    return make_scenario(
        scene,
        probes="curved contact that moves over the body: period, energy, rolling without slip",
        regime=contact,
        kind="exact ODE",
        source="an ellipse on a line, Newton and Euler with the no-slip condition; the period by quadrature",
        error=1e-11,
        pose=poses_in_plane(scene, motion),
        goal=Goal(name="period", unit="s", exact=T, measure=measure),
        invariants=frozenset({"energy"}),
        noise={"truth_error_angle": "step", "impact_count": "chaotic"},
        meaningless=OF_REST,
    )


FAMILY = Family(
    "rocking-ellipsoid",
    rocking_ellipsoid,
    ({}, {"contact": "sliding"}, {"over": "middle"}),
    subject="the rocking ellipsoid",
)
