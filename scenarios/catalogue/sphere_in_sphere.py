"""A ball in a round bowl: a disc in a circular one, a ball inside a hollow sphere; sliding or rolling.

The centre stays L = R - r from the bowl's; k = I / (m r^2) if it rolls, 0 if it slides without friction.
Planar: a pendulum,  (1 + k) L phi'' = -g sin(phi),  with period 4 sqrt((1 + k) L / g) K(sin^2(phi_0 / 2)).
Spatial, e the unit vector from the bowl's centre to the ball's, s = omega . e its spin, which stays constant:
    (1 + k) L e x e'' = e x g + k r s e'
Sources: the no-slip condition v + omega x (r e) = 0 and Newton and Euler's laws (Routh, Advanced Rigid Dynamics,
art. 224 on); K by the arithmetic-geometric mean.
"""

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.dense import mul
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, G, Space
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.catalogue.shared.readings import period_of
from scenarios.scenario import Canonical, Family, Scenario
from scenarios.scene import Bowl, Disc, HollowSphere, PlanarBody, PlanarScene, Scene, SpatialBody, SpatialScene, Sphere
from scenarios.truth import Goal

BOWL, RADIUS = 2.0, 0.25  # m
L = BOWL - RADIUS
START = 1.0  # rad from the bottom
DURATION = 10.0  # s
FRICTION = 1.0
"""Rolling needs at most 0.5191 (disc), 0.4450 (ball in a plane), 0.3345 (ball on the spatial start without spin)."""
K_DISC, K_BALL = 0.5, 0.4
OUTWARD = np.array([elementary.sin(START), 0.0, -elementary.cos(START)])  # e at the start in space
ACROSS = np.array([0.0, 1.0, 0.0])  # e' at the start, 1/s: level, so it circles

Contact = Literal["sliding", "rolling"]


def period(k: float, amplitude: float = START) -> float:
    """s, of the pendulum. K(m) = pi / (2 agm(1, sqrt(1 - m))), m = sin^2(amplitude / 2)."""
    a, b = 1.0, elementary.cos(amplitude / 2.0)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    return 4.0 * math.sqrt((1.0 + k) * L / G) * math.pi / (a + b)


@lru_cache(maxsize=4)
def swing(k: float) -> DenseSolution:
    """(phi, phi') over one period from rest at START."""

    def rate(time: Array, state: Array) -> Array:
        return np.array([state[1], -G / ((1.0 + k) * L) * elementary.sin(state[0])])

    return DenseSolution(rate, np.array([START, 0.0]), 0.0, period(k))


@lru_cache(maxsize=4)
def circling(k: float, s: float) -> DenseSolution:
    """(e, e') over the whole time; e x (e x e'') = -e'' - |e'|^2 e, since e . e'' = -|e'|^2."""

    def rate(time: Array, state: Array) -> Array:
        x, y, z, u, v, w = state
        # (e x g) + k r s e', g = (0, 0, -G)
        turn = k * RADIUS * s
        a, b, c = -G * y + turn * u, G * x + turn * v, turn * w
        pull, scale = u * u + v * v + w * w, 1.0 / ((1.0 + k) * L)
        ax = -pull * x - scale * (y * c - z * b)
        ay = -pull * y - scale * (z * a - x * c)
        az = -pull * z - scale * (x * b - y * a)
        return np.array([u, v, w, ax, ay, az])

    return DenseSolution(rate, np.concatenate([OUTWARD, ACROSS]), 0.0, DURATION)


def height_period(k: float, s: float) -> float:
    """s, of the height z: twice the time from the start, a turning point, to the next.

    With energy and moment of momentum kept  z'^2 = f(z) = c (z - low)(high - z)(third - z),  third >= 1. With
    z = (low + high)/2 - (high - low)/2 cos(u) the integrand is smooth and periodic: equal steps are exact.
    """
    z_0, q = -elementary.cos(START), 1.0 / ((1.0 + k) * L)
    # kept: |e'|^2 + 2 q G z = E,   (e x e')_z - q k r s z = M
    E = float(mul(ACROSS, ACROSS)) + 2.0 * q * G * z_0
    turn = q * k * RADIUS * s
    M = float(np.cross(OUTWARD, ACROSS)[2]) - turn * z_0
    f = np.polynomial.Polynomial([E, -2.0 * q * G]) * np.polynomial.Polynomial([1.0, 0.0, -1.0])
    f = f - squared(np.polynomial.Polynomial([M, turn]))
    others = f // np.polynomial.Polynomial([-z_0, 1.0])  # the start is a root of f
    other, third = (float(root) for root in np.sort(others.roots().real))
    low, high = min(z_0, other), max(z_0, other)
    u = (np.arange(64) + 0.5) * math.pi / 64.0
    z = 0.5 * (low + high) - 0.5 * (high - low) * elementary.cos(u)
    return float(2.0 * math.pi / 64.0 * np.sum(1.0 / np.sqrt(2.0 * q * G * (third - z))))


def sphere_in_sphere(*, contact: Contact = "rolling", space: Space = "planar", spin: Literal[0, 20] = 0) -> Scenario:
    """Sphere in a sphere: a ball in a hollow one (in the plane a disc in a bowl), sliding or rolling

    `spin` (rad/s) about the line of centres, in space only: though it does no work it tilts the path of a rolling ball.
    """
    friction = FRICTION if contact == "rolling" else 0.0
    scene, truth = _planar(friction) if space == "planar" else _spatial(friction, float(spin))
    return make_scenario(
        scene,
        probes="concave round contact: period, energy, rolling without slip",
        regime=contact,
        **truth,
        kind="exact ODE",
        error=1e-11,
        invariants=frozenset({"energy"}),
        noise={"truth_error_angle": "step"},
        meaningless=OF_REST,
    )


def _planar(friction: float) -> tuple[Scene, dict[str, Any]]:
    k = K_DISC if friction else 0.0
    disc = PlanarBody(
        name="disc", shape=Disc(radius=RADIUS), mass=1.0, position=(L * OUTWARD[0], L * OUTWARD[2]), friction=friction
    )
    scene = PlanarScene(
        title="Disc in a bowl, " + ("rolling" if friction else "sliding"),
        duration=DURATION,
        bodies=(disc,),
        boundaries=(Bowl(name="bowl", radius=BOWL, friction=friction),),
    )
    T = period(k)

    def pose(time: Array) -> Array:
        phi = swing(k)(time % T)[0]
        turn = -L / RADIUS * (phi - START) if friction else np.zeros(len(time))
        return np.stack([L * elementary.sin(phi), -L * elementary.cos(phi), turn], axis=-1)[:, None]

    return scene, {
        "source": "pendulum of length (1 + k)(R - r): elliptic integral and functions",
        "pose": pose,
        "goal": Goal(
            name="period", unit="s", exact=T, measure=period_of(lambda seen: seen.position[:, 0, 0], rising=False)
        ),
    }


def _spatial(friction: float, spin: float) -> tuple[Scene, dict[str, Any]]:
    k = K_BALL if friction else 0.0
    # No slip: L e' + omega x (r e) = 0 with omega . e = s.
    omega = spin * OUTWARD - (L / RADIUS * np.cross(OUTWARD, ACROSS) if friction else 0.0)
    ball = SpatialBody(
        name="ball",
        shape=Sphere(radius=RADIUS),
        mass=1.0,
        position=tuple((L * OUTWARD).tolist()),
        velocity=tuple((L * ACROSS).tolist()),
        spin=tuple(omega.tolist()),
        friction=friction,
    )
    scene = SpatialScene(
        title="Ball in a hollow sphere, " + ("rolling" if friction else "sliding"),
        duration=DURATION,
        bodies=(ball,),
        boundaries=(HollowSphere(name="bowl", radius=BOWL, friction=friction),),
    )
    exact = circling(k, spin)

    def pose(time: Array) -> Array:
        found = np.full((len(time), 1, 7), np.nan)  # how the ball has turned is not worked out
        found[:, 0, :3] = L * exact(time)[:3].T
        return found

    T = height_period(k, spin)
    middle = 0.5 * L * (-elementary.cos(START) + float(exact.at(T / 2.0)[2]))

    measure = period_of(lambda seen: seen.position[:, 0, 2], middle, rising=True)
    return scene, {
        "source": "Newton and Euler with the no-slip condition (Routh, Advanced Rigid Dynamics); "
        "the period of the height by quadrature",
        "pose": pose,
        "goal": Goal(name="period of the height", unit="s", exact=T, measure=measure),
    }


CANONICAL: Canonical = (
    {}, {"contact": "sliding"},
    {"space": "spatial"}, {"space": "spatial", "contact": "sliding"}, {"space": "spatial", "spin": 20},
)  # fmt: skip
FAMILY = Family("sphere-in-sphere", sphere_in_sphere, CANONICAL, subject="the rolling ball")
