"""A prolate spheroid spun on a table rises onto its tip, by sliding friction (Moffatt & Shimomura 2002, Nature 416).

Axis k, semi-axes b, b, c with c along k; z up. It touches where its support is lowest, at p from its centre:
    h = sqrt(b^2 + (c^2 - b^2) k_z^2),   p = -(b^2 z + (c^2 - b^2) k_z k) / h
slipping with u = v + omega x p. Coulomb's force F = N (z - mu u / |u|) and, L being the moment of momentum,
    m v' = F - m g z,   L' = p x F,   omega = L / I_1 + (1 / I_3 - 1 / I_1) (k . L) k,   k' = omega x k
N keeps the height at h(k_z): both sides of  h'' = N / m - g  are linear in N. Smooth for as long as it slips; solved to
round-off, and without any of Moffatt and Shimomura's approximations.
Sources: Newton and Euler's laws, Coulomb's law.
"""

from functools import lru_cache, partial
from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, G, lay_ground, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ellipsoid, SpatialBody

ACROSS, ALONG = 0.6, 1.0  # m, semi-axes
LEAN = 1.2  # rad, of its axis off the vertical at the start
TURN = 19.0  # rad/s about the vertical
DURATION = 3.0  # s
SPAN = 2.6
"""s, for which it slips with any friction that is allowed; with 0.2 it is close to upright then, and comes to roll."""
LEAST = 1e-2  # m/s of slip, N/kg of pressing: no truth below
INERTIA = (
    0.2 * (squared(ACROSS) + squared(ALONG)),
    0.4 * squared(ACROSS),
)  # m^2, across the axis and along it; the mass is 1


cross = partial(np.cross, axis=0)  # of vectors (3, N)


def axis_of(q: Array) -> Array:
    """(3, N): the body's z axis in the world, of quaternions (4, N) of any length."""
    w, x, y, z = q
    axis = np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z])
    return axis / (w * w + x * x + y * y + z * z)


def spin_of(k: Array, L: Array) -> Array:
    return L / INERTIA[0] + (1.0 / INERTIA[1] - 1.0 / INERTIA[0]) * (k * L).sum(axis=0) * k


def support(k: Array) -> tuple[Array, Array, Array, Array]:
    """h and its derivatives by k_z, and p (3, N)."""
    e = squared(ALONG) - squared(ACROSS)
    h = np.sqrt(squared(ACROSS) + e * squared(k[2]))
    slope = e * k[2] / h
    p = -slope * k
    p[2] -= squared(ACROSS) / h
    return h, slope, (e - squared(slope)) / h, p


def forces(state: Array, friction: float) -> tuple[Array, Array, Array, Array, Array]:
    """Of states (11, N), x y, vx vy, L, q: F and p (3, N), spin, slip's size (N,), N (N,)."""
    velocity, L, q = state[2:4], state[4:7], state[7:11]
    k = axis_of(q)
    spin = spin_of(k, L)
    _, slope, bend, p = support(k)
    moved = cross(spin, k)
    slip = np.stack([velocity[0], velocity[1], slope * moved[2]]) + cross(spin, p)
    slip[2] = 0.0
    fast = np.sqrt((squared(slip)).sum(axis=0))
    per = -friction * slip / fast  # of F per N
    per[2] = 1.0

    def turning(torque: Array) -> Array:
        """The torque's share of k_z''."""
        ratio = 1.0 / INERTIA[1] - 1.0 / INERTIA[0]
        change = torque / INERTIA[0] + ratio * (k * torque).sum(axis=0) * k
        return cross(change, k)[2]

    along = (1.0 / INERTIA[1] - 1.0 / INERTIA[0]) * ((moved * L).sum(axis=0) * k + (k * L).sum(axis=0) * moved)
    free = (cross(along, k) + cross(spin, moved))[2]
    lifted = slope * free + bend * squared(moved[2])  # h'' without the plane
    N = (G + lifted) / (1.0 - slope * turning(cross(p, per)))
    return N * per, p, spin, fast, N


@lru_cache(maxsize=4)
def rising(turn: float, friction: float) -> DenseSolution:
    """(x, y, vx, vy, L, q), until it slips no more or leaves the plane."""

    def rate(time: Array, state: Array) -> Array:
        F, p, omega, _, _ = forces(state, friction)
        w, x, y, z = state[7:11]
        a, b, c = 0.5 * omega
        turned = np.stack([-a * x - b * y - c * z, a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x])
        return np.concatenate([state[2:4], F[:2], cross(p, F), turned])

    def slips(time: Array, state: Array) -> Array:
        _, _, _, fast, N = forces(state, friction)
        return np.minimum(fast, N) - LEAST

    return DenseSolution(rate, start(turn)[0], 0.0, DURATION, window=0.1, stop=slips)


def start(turn: float) -> tuple[Array, Array]:
    """The state, and the spin (3,) in it. The spin's part along the axis is I_1 / I_3 times that of the turn about z:
    so it circles without nodding (gyroscopic balance, Moffatt & Shimomura 2002)."""
    q = np.array([elementary.cos(0.5 * LEAN), 0.0, elementary.sin(0.5 * LEAN), 0.0])
    k = axis_of(q[:, None])[:, 0]
    L = INERTIA[0] * np.array([0.0, 0.0, turn])
    return np.concatenate([np.zeros(4), L, q]), spin_of(k[:, None], L[:, None])[:, 0]


def rising_egg(*, friction: Annotated[float, Within(0.02, 0.2)] = 0.2) -> Scenario:
    """Rising egg: a prolate spheroid that is spun on a rough plane turns up onto its tip"""
    state, spin = start(TURN)
    body = SpatialBody(
        name="egg",
        shape=Ellipsoid(semi_axes=(ACROSS, ACROSS, ALONG)),
        mass=1.0,
        position=(0.0, 0.0, float(support(axis_of(state[7:11, None]))[0][0])),
        orientation=tuple(state[7:11].tolist()),
        spin=tuple(spin.tolist()),
        friction=friction,
    )
    scene = scene_of(
        "spatial", (body,), lay_ground("spatial", "plane", friction), title="Rising egg", duration=DURATION
    )

    def pose(time: Array) -> Array:
        found = rising(TURN, friction)(time)
        q = found[7:11]
        height = support(axis_of(q))[0]
        return np.stack([found[0], found[1], height, *(q / np.sqrt((squared(q)).sum(axis=0)))], axis=-1)[:, None]

    return make_scenario(
        scene,
        probes="sliding friction in space with gyroscopic torque, contact that moves over a curved body",
        regime="sliding",
        kind="exact ODE",
        source="Newton and Euler with Coulomb friction on a spheroid that slips; the start is Moffatt & Shimomura "
        "2002's gyroscopic balance",
        span=(0.0, SPAN),
        error=1e-10,
        pose=pose,
        invariants=frozenset({"energy-not-gained"}),
        headline="truth_error_angle",
        noise={"impact_count": "chaotic"},
        meaningless=OF_REST | {"energy_drift"},
    )


FAMILY = Family("rising-egg", rising_egg, subject="the egg")
