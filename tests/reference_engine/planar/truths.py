"""Exact motions of bodies with friction, joints and bowls: closed forms, and tight integration of reduced equations.

Nothing here shares a line with the engine: minimal coordinates, scipy's elliptic functions, quadrature and DOP853.
SI, m = 1 kg. `test_truths.py` checks each by a second way.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk, ellipkinc

Array = NDArray[np.float64]
Rate = Callable[[float, Array], Sequence[float]]
Watch = Callable[[float, Array], float]
GRAVITY = 9.81


def integrate(
    rate: Rate, start: Sequence[float], duration: float, at: Sequence[float] = (), until: Watch | None = None
) -> tuple[Array, float, Array]:
    """(states (S, n) at the times `at`, end, state at the end): the end is the duration, or the first fall of `until`

    through zero. Steps of at most a 200th, so that the dense output is as good as the steps.
    """
    watch = []
    if until is not None:

        def fall(t: float, y: Array) -> float:
            return until(t, y)

        fall.terminal, fall.direction = True, -1  # type: ignore[attr-defined]  # scipy reads them
        watch = [fall]
    solution = solve_ivp(
        rate, (0.0, duration), start, "DOP853", rtol=1e-13, atol=1e-15, max_step=duration / 200.0, events=watch,
        dense_output=True,
    )  # fmt: skip
    assert solution.success, solution.message
    assert (solution.status == 1) == (until is not None), "until never fell through zero"
    states = solution.sol(np.asarray(at)).T if len(at) else np.zeros((0, len(start)))
    return states, float(solution.t[-1]), solution.y[:, -1]


# --- pendulums: psi'' = -p^2 sin(psi), let go at rest at an amplitude -------------------------------------


def pendulum(time: Array, amplitude: float, p: float) -> Array:
    """Angle from the bottom: sin(psi/2) = k cd(p t | k^2), k = sin(amplitude/2)."""
    k = math.sin(amplitude / 2.0)
    _, cn, dn, _ = ellipj(p * np.asarray(time), k * k)
    return 2.0 * np.arcsin(k * cn / dn)


def pendulum_time(angle: float, amplitude: float, p: float) -> float:
    """From rest at the amplitude down to an angle of either side."""
    k = math.sin(amplitude / 2.0)
    return float((ellipk(k * k) - ellipkinc(math.asin(math.sin(angle / 2.0) / k), k * k)) / p)


def toppling(time: Array, tilt: float, p: float) -> Array:
    """Angle from the top of what is let go at rest at a tilt from it: phi'' = p^2 sin(phi)."""
    return math.pi - pendulum(time, math.pi - tilt, p)


def toppling_time(angle: float, tilt: float, p: float) -> float:
    return pendulum_time(math.pi - angle, math.pi - tilt, p)


def double_pendulum(angles: tuple[float, float], time: float) -> Array:
    """(th1, th2, w1, w2) from down of two uniform rods of 1 m, 1 kg in a row, let go at rest.

    Lagrange: 4/3 th1'' + 1/2 cos(th1 - th2) th2'' = -1/2 sin(th1 - th2) w2^2 - 3/2 g sin th1,
    1/2 cos(th1 - th2) th1'' + 1/3 th2'' = 1/2 sin(th1 - th2) w1^2 - 1/2 g sin th2.
    """

    def rate(t: float, y: Array) -> Sequence[float]:
        a, b, u, w = y
        c, s = 0.5 * math.cos(a - b), 0.5 * math.sin(a - b)
        f = -s * w * w - 1.5 * GRAVITY * math.sin(a)
        h = s * u * u - 0.5 * GRAVITY * math.sin(b)
        det = 4.0 / 9.0 - c * c
        return u, w, (f / 3.0 - c * h) / det, (4.0 / 3.0 * h - c * f) / det

    return integrate(rate, (*angles, 0.0, 0.0), time)[2]


# --- the rocking block (Housner 1963, not linearised) -----------------------------------------------------


@dataclass(frozen=True)
class Rocking:
    """A block let go at rest at a tilt, pivoting without slip; e = 0 at the other corner.

    phi = alpha - tilt between the vertical and the line from corner to centre, phi'' = p^2 sin(phi). The impact keeps
    the angular momentum about the corner that is struck: omega' = r omega.
    """

    tilt: float
    width: float = 1.0
    height: float = 3.0

    @property
    def alpha(self) -> float:
        return math.atan2(self.width, self.height)

    @property
    def p(self) -> float:
        return math.sqrt(1.5 * GRAVITY / math.hypot(self.width, self.height))

    @property
    def ratio(self) -> float:
        return 1.0 - 1.5 * math.sin(self.alpha) ** 2

    def amplitudes(self, count: int) -> list[float]:
        """Of the first swings: each impact leaves r^2 of R (cos phi - cos alpha)."""
        cosines = [math.cos(self.alpha - self.tilt)]
        for _ in range(count - 1):
            cosines.append(math.cos(self.alpha) + self.ratio**2 * (cosines[-1] - math.cos(self.alpha)))
        return [self.alpha - math.acos(c) for c in cosines]

    def quarters(self, count: int) -> list[float]:
        """From the highest point of each swing down to its impact."""
        return [toppling_time(self.alpha, self.alpha - tilt, self.p) for tilt in self.amplitudes(count)]

    def impacts(self, count: int) -> Array:
        """Times of the first impacts: a quarter, then two quarters of each following swing."""
        quarters = np.array(self.quarters(count))
        return quarters[0] + 2.0 * np.concatenate([[0.0], np.cumsum(quarters[1:])])

    def pose(self, time: Array, swings: int) -> Array:
        """(S, 3), the base's middle at the origin when it stands; tilt positive (on the left corner) at first."""
        tilts, quarters, ends = self.amplitudes(swings), self.quarters(swings), self.impacts(swings)
        angle = np.full(len(time), np.nan)
        for i in reversed(range(swings)):
            mine = time <= ends[i]
            since = np.abs(time[mine] - (ends[i] - quarters[i]))
            angle[mine] = (-1) ** i * (self.alpha - toppling(since, self.alpha - tilts[i], self.p))
        corner = np.where(angle >= 0.0, -0.5, 0.5) * self.width
        c, s = np.cos(angle), np.sin(angle)
        x = corner - corner * c - 0.5 * self.height * s
        return np.stack([x, -corner * s + 0.5 * self.height * c, angle], axis=-1)


# --- a rod of length L, theta from the vertical -----------------------------------------------------------


def ladder_rate(length: float, floor: float, wall: float) -> Rate:
    """theta of a ladder that slides at both ends; `floor`, `wall`: friction."""

    def rate(t: float, y: Array) -> Sequence[float]:
        return y[1], ladder_forces(y, length, floor, wall)[0]

    return rate


def ladder_forces(y: Array, length: float, floor: float, wall: float) -> Array:
    """(theta'', N_w, N_f): Newton for both components of the centre and the moment about it."""
    s, c, h = math.sin(y[0]), math.cos(y[0]), length / 2.0
    w2 = y[1] ** 2
    matrix = [
        [h * c, -1.0, floor],
        [-h * s, -wall, -1.0],
        [length**2 / 12.0, h * (c + wall * s), -h * (s - floor * c)],
    ]
    return np.linalg.solve(matrix, [h * s * w2, h * c * w2 - GRAVITY, 0.0])


def foot_rate(length: float, apply_forces: float) -> Rate:
    """(x, theta, x', theta') of a rod whose lower end slides on the floor; the upper end falls to the right.

    `apply_forces`: friction on the foot over its normal force, +mu while it slides to the left.
    """

    def rate(t: float, y: Array) -> Sequence[float]:
        _, th, u, w = y
        s, c, h = math.sin(th), math.cos(th), length / 2.0
        k = 12.0 * h * (s - apply_forces * c) / length**2  # theta'' = k N
        normal = (GRAVITY - h * c * w * w) / (1.0 + h * s * k)
        return u, w, apply_forces * normal, k * normal

    return rate


def pinned_rod_friction(theta: float, tilt: float) -> float:
    """Horizontal over vertical force at the foot of a rod that turns about it, let go at rest at a tilt.

    With u = cos(tilt) - cos(theta): theta'^2 = 3 (g/L) u, theta'' = 3/2 (g/L) sin(theta).
    """
    s, c = math.sin(theta), math.cos(theta)
    u = math.cos(tilt) - c
    return (0.75 * s * c - 1.5 * s * u) / (1.0 - 0.75 * s * s - 1.5 * c * u)


def slip_angle(mu: float, tilt: float) -> float:
    """Where the foot of that rod first needs more than mu: backwards (force to the right) or, later, forwards."""
    grid = np.linspace(tilt, 1.5, 3001)
    need = np.array([abs(pinned_rod_friction(th, tilt)) for th in grid]) - mu
    first = int(np.argmax(need > 0.0))
    return float(brentq(lambda th: abs(pinned_rod_friction(th, tilt)) - mu, grid[first - 1], grid[first], xtol=1e-15))


def frictionless_fall_time(theta: float, tilt: float, length: float = 1.0) -> float:
    """The centre falls straight down: theta'^2 = 12 (g/L) (cos tilt - cos theta)/(1 + 3 sin^2 theta).

    With theta = tilt + s^2 the integrand is smooth.
    """

    def integrand(s: float) -> float:
        th = tilt + s * s
        fallen = math.sin(tilt + s * s / 2.0) * (math.sin(s * s / 2.0) / (s * s) if s > 0.0 else 0.5)
        return 2.0 * math.sqrt((1.0 + 3.0 * math.sin(th) ** 2) * length / (24.0 * GRAVITY * fallen))

    return float(quad(integrand, 0.0, math.sqrt(theta - tilt), epsabs=0.0, epsrel=2e-14)[0])


# --- a block on an incline, x downhill --------------------------------------------------------------------


def tipping_and_slipping_rate(width: float, height: float, slope: float, mu: float) -> Rate:
    """(x, phi, x', phi') of a block that slides on its lower edge while it tips over it by phi."""
    inertia = (width**2 + height**2) / 12.0

    def rate(t: float, y: Array) -> Sequence[float]:
        c, s = math.cos(y[1]), math.sin(y[1])
        ahead, below = 0.5 * (c * width - s * height), 0.5 * (s * width + c * height)  # the edge from the centre
        lever, w2 = mu * below - ahead, y[3] ** 2
        turn = lever * (GRAVITY * math.cos(slope) - below * w2) / (inertia - lever * ahead)
        normal = ahead * turn - below * w2 + GRAVITY * math.cos(slope)
        return y[2], y[3], GRAVITY * math.sin(slope) - mu * normal, turn

    return rate


# --- a disc in a bowl, phi from the bottom ----------------------------------------------------------------


def sliding_in_bowl_rate(path: float, radius: float, k: float, apply_forces: float) -> Rate:
    """(phi, angle, phi', spin) of a disc of inertia k m r^2 that slides; `path`: radius of its centre's circle.

    `apply_forces`: friction along the direction of growing phi over the normal force N = g cos(phi) + path phi'^2.
    """

    def rate(t: float, y: Array) -> Sequence[float]:
        normal = GRAVITY * math.cos(y[0]) + path * y[2] ** 2
        return (
            y[2],
            y[3],
            (apply_forces * normal - GRAVITY * math.sin(y[0])) / path,
            apply_forces * normal / (k * radius),
        )

    return rate


# --- impact with friction at one contact --------------------------------------------------------------------


def routh_impact(K: Array, u: Array, mu: float, e: float, impact_law: str) -> Array:
    """Impulse (normal, tangential) at one contact by Darboux's and Keller's equations in the normal impulse.

    K: u_plus - u_minus = K j, rows and columns normal, tangential. Slip takes mu of the normal impulse; where it
    stops, it sticks if that takes no more than mu, else it goes back. `impact_law`: the impact ends where u_n = -e u_n0
    ("newton"), or at (1 + e) times the normal impulse of compression ("poisson").
    Source: Routh 1905, Dynamics of a System of Rigid Bodies, art. 187 ff.; Keller 1986, J. Appl. Mech. 53.
    """
    stick = -K[1, 0] / K[1, 1]
    slope = -math.copysign(mu, u[1]) if u[1] else float(np.clip(stick, -mu, mu))
    j, v, end, compressing = np.zeros(2), np.array(u, float), math.inf, True
    while True:
        gain = K @ [1.0, slope]
        stop = -v[1] / gain[1] if v[1] * gain[1] < 0.0 else math.inf
        if impact_law == "newton":
            left = (-e * u[0] - v[0]) / gain[0]
        else:
            left = -v[0] / gain[0] if compressing else end - j[0]
        step = min(stop, left)
        j += step * np.array([1.0, slope])
        v += step * gain
        if left <= stop:
            if impact_law == "newton" or not compressing:
                return j
            compressing, end = False, (1.0 + e) * j[0]
        else:
            v[1] = 0.0
            slope = float(np.clip(stick, -mu, mu))


def collision_matrix(lever: tuple[float, float], inertia: float) -> Array:
    """K of a free body of 1 kg struck at `lever` (tangential, normal) from its centre."""
    t, n = lever
    return np.array([[1.0 + t * t / inertia, -t * n / inertia], [-t * n / inertia, 1.0 + n * n / inertia]])
