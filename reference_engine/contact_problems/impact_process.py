"""The process of an impact with friction, in the normal impulse p (Routh 1905, Darboux 1880, Keller 1986).

The last component is the normal one. While the bodies slide in the direction s, dj/dp = (-mu s, 1); while they stick,
the tangential velocity stays zero; du/dp = K dj/dp. In the plane there are two directions, and all is piecewise linear.
In space the direction turns: with r the speed of sliding and theta its direction,

    dr/dp = s . h,    r dtheta/dp = s' . h,    h = K_tn - mu K_tt s,

which is singular where sliding stops. In tau, dp = r dtau, it is not: theta' = s' . h alone, (log r)' = s . h. After a
stop the bodies stick, or slide on in a direction in which h points, which does not turn any more.
"""

import math
from dataclasses import dataclass

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import mul, norm, pinv, roots, solve
from reference_engine.elementary import squared

STOPPED = 36.0  # sliding that is slower by e to this power has stopped: to the last digit of a double
TOLERANCE = 1e-13  # of the integration, relative
LONGEST = 1e9  # of tau, where r is 1 at first and K_nn is 1: no impact lasts so long
STRAIGHT = 1e-15  # sine between s and h, in units of K_nn: the direction does not turn
SETTLED = 1e-12  # rad, from a direction that holds sliding fast
FAST = 10.0  # times as fast as sliding slows down: how it holds it, so that steps are short and many are needed
SPEED_TOLERANCE = 1e-15  # of the first speed: an approach that is none
PHASES = 20  # far more than any impact was seen to have
FLAT = 1e-14  # of K_nn: what an impulse does to the normal velocity where it does nothing
IMMOVABLE = 1e-14  # of the other entries: tangential inverse mass that is none
EVALUATIONS = 50_000  # of the slope; an impact needs some hundreds


class ImpactError(RuntimeError):
    """An impact without an end; one line with its numbers."""


class WedgedImpactError(ImpactError):
    """Bodies wedge one another: contacts that give a little need ever larger impulses the less they give."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """From the first touch to the parting."""

    impulse: Array  # (D,) N s
    compression_impulse: float  # N s, the normal one up to the greatest compression
    compression_work: float  # J, of the normal impulse up to there: not positive
    normal_work: float  # J, to the end
    phases: tuple[tuple[str, str], ...]  # (slip or stick, what ends it: slip-stop, compression or end)


@dataclass
class State:
    """In units of the first speed and of K_nn."""

    u: Array  # (D,)
    j: Array  # (D,)
    slip: Array | None  # (D - 1,) unit, the way in which they slide; None where they stick
    work: float = 0.0  # of the normal impulse

    def quantity(self, what: str) -> float:
        return {"speed": float(self.u[-1]), "impulse": float(self.j[-1]), "work": self.work}[what]


def process(K: Array, u0: Array, mu: float, e: float, law: str) -> Process:
    """The impact from the relative velocity u0 (D,) [m/s], whose normal part u0[-1] is at most 0.

    law: newton, parting at -e times the approach; poisson, e times the impulse of compression in restitution, and where
    that ends with another approach, compression up to the end of that one; stronge, e^2 times its work (Stronge 1990).
    """
    speed, inverse = float(norm(u0)), float(K[-1, -1])
    phases: list[tuple[str, str]] = []
    compression = work = 0.0
    K, u = K / inverse, u0 / (speed or 1.0)
    sliding = float(norm(u[:-1]))
    state = State(u, np.zeros(len(u)), u[:-1] / sliding if sliding > 0.0 else slip_after_stop(K, mu))
    if state.u[-1] == 0.0 and mul(K[-1], impulse_rate(K, mu, state.slip)) > 0.0:
        return Process(impulse=state.j, compression_impulse=0.0, compression_work=0.0, normal_work=0.0, phases=())
    what, target, compressed = "speed", 0.0, False
    for _ in range(PHASES):
        slip = state.slip
        name = "stick" if slip is None else "slip" if len(u0) == 3 else f"slip{slip[0]:+.0f}"
        stopped = follow(K, mu, state, what, target)
        if stopped:
            phases.append((name, "slip-stop"))
            state.slip = slip_after_stop(K, mu)
        elif not compressed:
            phases.append((name, "compression"))
            compressed, compression, work = True, float(state.j[-1]), state.work
            what, target = {
                "newton": ("speed", -e * float(u0[-1]) / speed),
                "poisson": ("impulse", (1.0 + e) * compression),
                "stronge": ("work", (1.0 - e * e) * work),
            }[law]
        elif state.u[-1] < -SPEED_TOLERANCE:  # where sliding turned they were pressed again, which counts too
            what, target, compressed = "speed", 0.0, False
        else:
            phases.append((name, "end"))
            break
    else:
        raise ImpactError(f"the impact does not end: u = {state.u * speed} m/s after {phases}")
    unit, energy = speed / inverse, speed * speed / inverse
    return Process(
        impulse=state.j * unit, compression_impulse=compression * unit, compression_work=work * energy,
        normal_work=state.work * energy, phases=tuple(phases),
    )  # fmt: skip


def impulse_rate(K: Array, mu: float, slip: Array | None) -> Array:
    """(D,) dj/dp, sliding that way or sticking (None)."""
    return np.append(-sticking(K) if slip is None else -mu * slip, 1.0)


def sticking(K: Array) -> Array:
    """(D - 1,) K_tt^-1 K_tn; of contacts that cannot move some way the least."""
    K_tt, K_tn = K[:-1, :-1], K[:-1, -1]
    if len(K) == 2:
        return K_tn / K_tt[0] if K_tt[0, 0] > IMMOVABLE * K[1, 1] else np.zeros(1)
    (a, b), (_, c) = K_tt
    if a * c - b * b > IMMOVABLE * squared(a + c) and a + c > IMMOVABLE * K[2, 2]:
        return solve(K_tt, K_tn)
    inverse: Array = pinv(K_tt, rcond=math.sqrt(IMMOVABLE))
    return mul(inverse, K_tn)


def slip_after_stop(K: Array, mu: float) -> Array | None:
    """None where friction holds; else the direction in which they slide on: h points that way."""
    if norm(impulse_rate(K, mu, None)[:-1]) <= mu:
        return None
    if len(K) == 2:
        return np.array([math.copysign(1.0, K[0, 1])])
    best, most = np.zeros(2), -math.inf
    for theta in straight_directions(K[:2, 2], mu * K[:2, :2]):
        slip = np.array([elementary.cos(theta), elementary.sin(theta)])
        away = float(mul(slip, mul(K[:2], impulse_rate(K, mu, slip))))
        if away > most:
            best, most = slip, away
    if not most > 0.0:
        raise ImpactError(f"no direction of sliding after a stop: mu = {mu:g}, K / K_nn = {K.tolist()}")
    return best


def straight_directions(h: Array, N: Array) -> list[float]:
    """Angles of the directions s with s' . (h - N s) = 0: at most four, zeros of a polynomial in exp(i theta)."""
    x, y = h
    constant, even, odd = 0.5 * (N[1, 0] - N[0, 1]), 0.5 * (N[1, 0] + N[0, 1]), 0.5 * (N[1, 1] - N[0, 0])
    # s' . (h - N s) = y cos - x sin - constant - even cos 2 theta - odd sin 2 theta
    double, single = -0.5 * (even - 1j * odd), 0.5 * (y + 1j * x)
    guesses = [elementary.atan2(y, x), elementary.atan2(-y, -x)]  # the zeros where N is small
    if elementary.hypot(even, odd) > 1e-9 * elementary.hypot(x, y):
        found = roots([double, single, -constant, np.conj(single), np.conj(double)])
        guesses += [elementary.atan2(z.imag, z.real) for z in found]
    angles = []
    for theta in guesses:
        for _ in range(20):
            value = y * elementary.cos(theta) - x * elementary.sin(theta) - constant
            value -= even * elementary.cos(2.0 * theta) + odd * elementary.sin(2.0 * theta)
            slope = -y * elementary.sin(theta) - x * elementary.cos(theta)
            slope += 2.0 * (even * elementary.sin(2.0 * theta) - odd * elementary.cos(2.0 * theta))
            if slope == 0.0 or abs(value / slope) > 0.5:
                break
            theta -= value / slope
        if abs(value) <= 1e-12 * (abs(x) + abs(y) + float(np.abs(N).sum())):
            angles.append(theta)
    return angles


def follow(K: Array, mu: float, state: State, what: str, target: float) -> bool:
    """Moves the state on until the quantity reaches its target; or until sliding stops: True."""
    slip = state.slip
    missing = target - state.quantity(what)
    if missing <= 0.0 and (what != "speed" or mul(K[-1], impulse_rate(K, mu, slip)) >= 0.0):
        return False
    if slip is not None and len(slip) == 2 and np.any(state.u[:2]):
        aside, _, _ = turning(K, mu, slip)
        if abs(aside) > STRAIGHT and not is_settled(K, mu, slip):
            return follow_turning(K, mu, slip, state, what, target)
    return follow_straight(K, mu, state, what, target)


def turning(K: Array, mu: float, slip: Array) -> tuple[float, float, float]:
    """s' . h and s . h, and how fast s' . h falls as s turns on."""
    across = np.array([-slip[1], slip[0]])
    h = K[:2, 2] - mu * (mul(K[:2, :2], slip))
    aside, along = float(mul(across, h)), float(mul(slip, h))
    return aside, along, along + mu * float(mul(mul(across, K[:2, :2]), across))


def is_settled(K: Array, mu: float, slip: Array) -> bool:
    aside, along, back = turning(K, mu, slip)
    return back > FAST * abs(along) and abs(aside) <= SETTLED * back


def follow_straight(K: Array, mu: float, state: State, what: str, target: float) -> bool:
    """`follow` where the direction of sliding does not turn, or they stick."""
    slip = state.slip
    rate = impulse_rate(K, mu, slip)
    change = mul(K, rate)
    stop = math.inf
    if slip is not None and (away := float(mul(slip, change[:-1]))) < 0.0:
        stop = float(norm(state.u[:-1])) / -away
    further = to_target(float(state.u[-1]), float(change[-1]), target - state.quantity(what), what)
    stopped = stop <= further
    p = min(stop, further)
    if not math.isfinite(p):
        if what == "speed" and target - state.quantity(what) <= FLAT:  # stopped with the sliding
            return False
        raise ImpactError(f"the normal velocity does not rise: K / K_nn = {K.tolist()}, mu = {mu:g}")
    state.work += p * (float(state.u[-1]) + 0.5 * p * float(change[-1]))
    state.u = state.u + p * change
    state.j = state.j + p * rate
    if slip is None or stopped:
        state.u[:-1] = 0.0
    if not stopped and what == "speed":
        state.u[-1] = target
    return stopped


def to_target(u: float, slope: float, missing: float, what: str) -> float:
    """Normal impulse after which the quantity has grown by what is missing; infinite if it never does."""
    if what == "impulse":
        return missing
    if what == "speed":
        return missing / slope if slope > FLAT else math.inf
    if u <= FLAT and slope <= FLAT:
        return math.inf
    root = u * u + 2.0 * slope * missing  # u p + slope p^2 / 2 = missing
    return 2.0 * missing / (u + math.sqrt(root)) if root >= 0.0 else math.inf


def follow_turning(K: Array, mu: float, slip: Array, state: State, what: str, target: float) -> bool:
    """`follow` in space, where the direction of sliding turns: y = (theta, log r, p, j_x, j_y, work) over tau."""
    first = float(norm(state.u[:2]))
    start = np.array([elementary.atan2(slip[1], slip[0]), elementary.log(first), state.j[2], *state.j[:2], state.work])
    u0 = state.u - mul(K, state.j)
    evaluations = 0

    def slope(_: float, y: Array) -> Array:
        nonlocal evaluations
        evaluations += 1
        if evaluations > EVALUATIONS:
            raise ImpactError(f"sliding turns for {EVALUATIONS} evaluations: K / K_nn = {K.tolist()}, mu = {mu:g}")
        c, s, r = elementary.cos(y[0]), elementary.sin(y[0]), elementary.exp(y[1])
        hx = K[0, 2] - mu * (K[0, 0] * c + K[0, 1] * s)
        hy = K[1, 2] - mu * (K[1, 0] * c + K[1, 1] * s)
        return np.array([c * hy - s * hx, c * hx + s * hy, r, -mu * c * r, -mu * s * r, normal_speed(y) * r])

    def normal_speed(y: Array) -> float:
        return float(u0[2] + K[2, 0] * y[3] + K[2, 1] * y[4] + K[2, 2] * y[2])

    def missing(_: float, y: Array) -> float:
        return {"speed": normal_speed(y), "impulse": float(y[2]), "work": float(y[5])}[what] - target

    def stop(_: float, y: Array) -> float:
        return float(y[1] - elementary.log(first)) + STOPPED

    def settles(_: float, y: Array) -> float:
        aside, along, back = turning(K, mu, np.array([elementary.cos(y[0]), elementary.sin(y[0])]))
        return abs(aside) / back - SETTLED if back > FAST * abs(along) else 1.0

    if target > state.quantity(what) and missing(0.0, start) >= 0.0:  # within round-off of it
        return False
    for event, way in ((missing, 1.0), (stop, -1.0), (settles, -1.0)):
        event.terminal, event.direction = True, way  # type: ignore[attr-defined]  # as solve_ivp wants it
    from scipy.integrate import solve_ivp  # which an impact in the plane does without

    from reference_engine.ode import Dop853

    options = {"method": Dop853, "rtol": TOLERANCE, "atol": 1e-15}
    found = solve_ivp(slope, (0.0, LONGEST), start, events=(missing, stop, settles), **options)
    if found.status != 1:
        raise ImpactError(f"sliding neither stops nor ends: {found.message} K / K_nn = {K.tolist()}, mu = {mu:g}")
    stopped, settled = (bool(times.size) for times in found.t_events[1:])
    y = found.y[:, -1]
    if not stopped and not settled:
        # The dense output is of lower order than the steps: one more from the last of them, and Newton's method.
        before = found.y[:, -2]
        y = solve_ivp(slope, (found.t[-2], found.t[-1]), before, **options).y[:, -1]
        rate = slope(0.0, y)
        of = {"speed": float(mul(K[2, :2], rate[3:5]) + K[2, 2] * rate[2]), "impulse": rate[2], "work": rate[5]}[what]
        if of > 0.0:
            y = y - missing(0.0, y) / of * rate
    state.j = np.array([y[3], y[4], y[2]])
    state.u, state.work = u0 + mul(K, state.j), float(y[5])
    state.slip = np.array([elementary.cos(y[0]), elementary.sin(y[0])])
    if settled:
        aside, _, back = turning(K, mu, state.slip)
        state.slip = np.array([elementary.cos(y[0] + aside / back), elementary.sin(y[0] + aside / back)])
        return follow_straight(K, mu, state, what, target)
    if stopped:
        state.u[:2] = 0.0
    elif what == "speed":
        state.u[2] = target
    return stopped
