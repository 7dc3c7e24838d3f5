"""A plate that tumbles and touches nothing: energy, momentum and angular momentum keep their values.

It is 1.414 x 1 m of 12 kg, so thin that its moments are 1, 2 and 3 kg m^2. `flip` turns it almost about the axis of
the middle moment, which is unstable: it turns over every 19.55 s. `over` does so four times as fast, and turns over
twice. `even` turns it about all three alike.

Its truth: torque-free motion of a rigid body to round-off: Euler's equations and the quaternion's, by Taylor series.

Body axes are principal, p q r the angular velocity in them, (w, x, y, z) the attitude, body to world:
    I1 p' = (I2 - I3) q r      w' = -(x p + y q + z r) / 2      y' = (w q + z p - x r) / 2
    I2 q' = (I3 - I1) r p      x' =  (w p + y r - z q) / 2      z' = (w r + x q - y p) / 2
    I3 r' = (I1 - I2) p q
All terms are products of two unknowns, so their Taylor coefficients follow from one another by Cauchy products.
Sources: Euler's equations (Goldstein, Classical Mechanics, ch. 5); recurrences as in Moore 1966, Interval Analysis.
"""

import math
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np

from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Body, Space, block, scene_of
from scenarios.catalogue.shared.laws import OF_CONTACT, OF_REST, flight_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Box, SpatialBody

Start = Literal["flip", "even", "over"]

MASS = 12.0  # kg
INERTIA = (1.0, 2.0, 3.0)  # kg m^2
PLATE = (math.sqrt(2.0), 1.0)  # m
THICKNESS = 0.02  # m, for the eye alone: it meets nothing
SPIN: dict[Start, tuple[float, float, float]] = {
    "flip": (0.01, 1.0, 0.01),
    "even": (1.0, 1.0, 1.0),
    "over": (0.04, 4.0, 0.04),
}  # rad/s
EULER = "Euler's equations of the torque-free body, solved by Taylor series of order 20 (Goldstein, ch. 5)"
DRIFT = 0.5  # m/s, sideways
DURATION = 10.0  # s


def free_tumble(
    *, start: Start = "flip", gravity: Annotated[float, Within(0.0, 100.0, "m/s^2")] = 0.0, space: Space = "spatial"
) -> Scenario:
    """Free tumble: a plate turns in flight and touches nothing; in the plane it turns at the same rate

    With gravity it is thrown up so that it is back at its height when the time is over.
    """
    spin = SPIN[start]
    throw = (DRIFT, gravity * DURATION / 2.0)
    rate = math.hypot(*spin)
    body: Body
    if space == "planar":
        body = block(space, "plate", size=PLATE, y=0.0, velocity=throw, spin=rate, mass=MASS)
    else:
        body = SpatialBody(
            name="plate",
            shape=Box(size=(*PLATE, THICKNESS)),
            mass=MASS,
            inertia=INERTIA,
            velocity=(throw[0], 0.0, throw[1]),
            spin=spin,
        )
    title = f"Free tumble, {start}" + (" under gravity" if gravity else "")
    scene = scene_of(space, (body,), title=title, duration=DURATION, g=gravity)

    def path(time: Array) -> tuple[Array, Array]:
        return throw[0] * time, throw[1] * time - 0.5 * gravity * squared(time)

    def planar(time: Array) -> Array:
        return np.stack([*path(time), rate * time], axis=-1)[:, None, :]

    def spatial(time: Array) -> Array:
        x, z = path(np.asarray(time, dtype=np.float64))
        turned, _ = attitude(INERTIA, spin, time)
        return np.column_stack([x, np.zeros_like(x), z, turned])[:, None, :]

    return make_scenario(
        scene,
        probes="free motion: gyroscopic term, attitude, conservation, the integrator's order",
        regime="free motion",
        kind="closed form" if space == "planar" else "exact ODE",
        source="a parabola and uniform turning" if space == "planar" else EULER,
        error=0.0 if space == "planar" else 1e-13,
        pose=poses_in_plane(scene, planar) if space == "planar" else spatial,
        invariants=frozenset({"energy", "momentum", "angular-momentum"}),
        headline="energy_drift",
        meaningless=OF_REST | OF_CONTACT,
        laws=flight_laws(scene),
    )


# --- Euler's equations, to round-off ------------------------------------------------------------------------

ORDER = 20
TURN = 0.25
"""rad, of a step at the greatest angular velocity that the angular momentum allows: remainder far below round-off."""


def attitude(inertia: tuple[float, float, float], spin: tuple[float, float, float], time: Array) -> tuple[Array, Array]:
    """Attitude (S, 4), w-x-y-z, and angular velocity in body axes (S, 3) at `time` (S,) >= 0.

    Started at time 0 with the body axes along the world's and angular velocity `spin`. Rounding apart exact: 1e-13
    over some ten seconds at a few rad/s.
    """
    time = np.asarray(time, dtype=np.float64)
    if not np.any(spin):
        return np.tile((1.0, 0.0, 0.0, 0.0), (len(time), 1)), np.zeros((len(time), 3))
    step, series = _taylor(inertia, spin, float(np.max(time, initial=0.0)))
    i = np.clip((time // step).astype(int), 0, len(series) - 1)
    s = time - i * step
    state = np.zeros((len(time), 7))
    for k in range(ORDER, -1, -1):
        state = state * s[:, None] + series[i, :, k]
    return state[:, 3:], state[:, :3]


P, Q, R, W, X, Y, Z = range(7)
LEFT, RIGHT = map(list, zip(
    (Q, R), (R, P), (P, Q), (X, P), (Y, Q), (Z, R), (W, P), (Y, R), (Z, Q), (W, Q), (Z, P), (X, R), (W, R), (X, Q),
    (Y, P),
))  # fmt: skip
"""The products in the equations above, row by row."""


@lru_cache(maxsize=16)
def _taylor(inertia: tuple[float, float, float], spin: tuple[float, float, float], end: float) -> tuple[float, Array]:
    """Step (s) and coefficients (N, 7, ORDER + 1) of p q r w x y z about the beginning of each step."""
    greatest = float(norm(np.array(inertia) * np.array(spin))) / min(inertia)
    step = TURN / greatest
    I1, I2, I3 = inertia
    state = np.array([*spin, 1.0, 0.0, 0.0, 0.0])
    powers = np.cumprod(np.append(1.0, np.full(ORDER, step)))
    series = np.empty((math.floor(end / step) + 1, 7, ORDER + 1))
    for c in series:
        c[:, 0] = state
        for n in range(1, ORDER + 1):
            products = np.einsum("ik,ik->i", c[LEFT][:, :n], c[RIGHT][:, n - 1 :: -1]).tolist()
            qr, rp, pq, xp, yq, zr, wp, yr, zq, wq, zp, xr, wr, xq, yp = products
            half = 0.5 / n
            c[:, n] = (
                (I2 - I3) / I1 * qr / n,
                (I3 - I1) / I2 * rp / n,
                (I1 - I2) / I3 * pq / n,
                -half * (xp + yq + zr),
                half * (wp + yr - zq),
                half * (wq + zp - xr),
                half * (wr + xq - yp),
            )
        state = mul(c, powers)
    return step, series


FAMILY = Family(
    "free-tumble",
    free_tumble,
    (
        {"start": "even"},
        {"start": "flip"},
        {"start": "over"},
        {"start": "even", "gravity": 9.81},
        {"start": "even", "gravity": 9.81, "space": "planar"},
    ),
    subject="the tumbling body",
)
