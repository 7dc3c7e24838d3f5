"""Contact points between random bodies, and a independent oracle of what happens there."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from reference_engine import inverse_mass


def thousandths(low, high):
    return st.integers(round(1000 * low), round(1000 * high)).map(lambda k: k / 1000.0)


size, component, restitution, friction = (thousandths(*r) for r in ((0.1, 10.0), (-1.0, 1.0), (0.0, 1.0), (0.0, 2.0)))
sliding, approach = thousandths(-5.0, 5.0), thousandths(0.01, 5.0)


@st.composite
def planar_places(draw):
    """K and an approach, of two bodies (t, n)."""
    K = sum(inverse_mass(draw(size), draw(size) * 0.1, (draw(component), draw(component))) for _ in range(2))
    return K, np.array([draw(sliding), -draw(approach)])


@st.composite
def spatial_places(draw):
    """K and an approach (x, y, n)."""
    K = np.zeros((3, 3))
    for _ in range(2):
        frame = rotation(*(draw(component) for _ in range(3)))
        a, b = draw(size) * 0.1, draw(size) * 0.1
        inertia = frame @ np.diag([a, b, 0.9 * (a + b)]) @ frame.T  # about three axes, no two further than the third
        K += inverse_mass(draw(size), 0.5 * (inertia + inertia.T), [draw(component) for _ in range(3)])
    return K, np.array([draw(sliding), draw(sliding), -draw(approach)])


def rotation(x, y, z):
    """By the vector, radians."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle == 0.0:
        return np.eye(3)
    axis = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) / angle
    return np.eye(3) + math.sin(angle) * axis + (1.0 - math.cos(angle)) * axis @ axis


def planar_truth(K, u0, mu, e, law):
    """Impulse by the two velocities as functions of the normal impulse (Routh's diagram), ends found as roots.

    Sliding stops at p = |u_t| / (mu K_tt - s K_tn). Before it friction is at its cone's edge; after it the tangential
    impulse is what keeps the contact from sliding, or, where that is outside the cone, the cone's edge on the other
    side.
    """
    (tt, tn), nn = K[0], K[1, 1]
    s = math.copysign(1.0, u0[0]) if u0[0] != 0.0 else 0.0
    stop = 0.0 if s == 0.0 else math.inf
    if s * tn < mu * tt and s != 0.0:
        stop = abs(u0[0]) / (mu * tt - s * tn)
    later = -min(mu, max(-mu, tn / tt))

    def tangential(p):
        return -s * mu * p if p <= stop else -s * mu * stop + later * (p - stop)

    def normal_speed(p):
        return u0[1] + tn * tangential(p) + nn * p

    def work(p):
        first = min(p, stop)
        total = first * (u0[1] + normal_speed(first)) / 2.0
        return total + (p - first) * (normal_speed(first) + normal_speed(p)) / 2.0

    far = 1.0
    while normal_speed(far) <= -e * u0[1] + 1.0 or far < stop < math.inf:
        far *= 2.0
    turning = stop if stop < math.inf and normal_speed(stop) < 0.0 else 0.0
    compression = brentq(normal_speed, turning, far, xtol=1e-300, rtol=1e-15)
    if e < 1e-15:  # no root apart from the compression's
        end = compression
    elif law == "newton":
        end = brentq(lambda p: normal_speed(p) + e * u0[1], compression, far, xtol=1e-300, rtol=1e-15)
    elif law == "poisson":
        end = (1.0 + e) * compression
    else:
        while work(far) < 0.0:
            far *= 2.0
        target = (1.0 - e * e) * work(compression)
        end = brentq(lambda p: work(p) - target, compression, far, xtol=1e-300, rtol=1e-15)
    return np.array([tangential(end), end])


def spatial_truth(K, u0, mu, e, law, slow=1e-12):
    """Impulse, in Cartesian velocities over the normal impulse; below `slow` of the first speed sliding has stopped.

    Knows nothing of directions. None where it stops and does not stay.
    """
    stuck = -np.linalg.solve(K[:2, :2], K[:2, 2])
    scale = float(np.linalg.norm(u0))

    def rate(_, y):
        u = u0 + K @ y[:3]
        size = math.hypot(u[0], u[1])
        away = np.array([-mu * u[0] / size, -mu * u[1] / size, 1.0]) if not stops else np.array([*stuck, 1.0])
        return np.append(away, u[2])

    def stopped(_, y):
        u = u0 + K @ y[:3]
        return math.hypot(u[0], u[1]) - slow * scale

    stopped.terminal, stopped.direction = True, -1.0
    if not np.any(u0[:2]) and np.hypot(*stuck) > mu:
        return None
    y, stops, compression, target, what = np.zeros(4), math.hypot(u0[0], u0[1]) <= slow * scale, None, 0.0, "speed"
    for _ in range(4):

        def missing(_, y, what=what, target=target):
            return {"speed": float(u0[2] + K[2] @ y[:3]), "impulse": y[2], "work": y[3]}[what] - target

        missing.terminal, missing.direction = True, 1.0
        far = 100.0 * scale / float(np.linalg.eigvalsh(K)[0])
        events = (missing,) if stops else (missing, stopped)
        found = solve_ivp(rate, (0.0, far), y, "DOP853", events=events, rtol=2.3e-14, atol=1e-16 * scale)
        y = found.y[:, -1]
        if not stops and found.t_events[1].size:
            if np.hypot(*stuck) > mu:
                return None
            stops = True
        elif compression is None:
            compression = y.copy()
            what, target = {
                "newton": ("speed", -e * u0[2]),
                "poisson": ("impulse", (1.0 + e) * compression[2]),
                "stronge": ("work", (1.0 - e * e) * compression[3]),
            }[law]
            if e < 1e-15:
                return y[:3]
        else:
            return y[:3]
    return None
