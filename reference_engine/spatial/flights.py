"""Bodies that fly freely, and strike planes and one another by any impact law, at several contacts by any order.

Between impacts the centres move on parabolas and the bodies turn freely. No impact is missed: with a bound B on how
fast a gap's rate can fall, g(t) >= g + g' t - B t^2 / 2, and time goes on to the first zero of that, again and again;
where the gap goes to zero this converges as Newton's method does.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.contact_problems.impact_laws import LAWS
from reference_engine.contact_problems.multiple_impacts import AT_ONCE, ORDERS, multiple_impact
from reference_engine.dense import inverse, mul, norm, solve
from reference_engine.elementary import squared
from reference_engine.events import Segment, first_zero, follow
from reference_engine.ode import Dop853
from reference_engine.rotation import matrices, product, tangents

State = tuple[Array, list[Array], Array, list[Array]]
"""Positions (B, D), orientations, velocities (B, D), spins: the latter (), in the plane, or (3,)."""

CONTACT_GAP = 1e-14  # of the bodies' size: a gap that is none
TOGETHER = 1e-9  # of the size: contacts so near at the same time are struck together
SLOW = 1e-9  # of the approach: bodies that part no faster stay in contact
STILL = 1e-11  # of the bodies' speed: so slowly bodies in contact neither part nor approach
TOLERANCE = 1e-13  # relative, of a step of free turning
MOST_IMPACTS = 1000
FLIGHT_LAWS = (*LAWS, *AT_ONCE)


class FlightError(ArithmeticError):
    """A motion that does not consist of flights and impacts; the message says when and why."""


@dataclass(frozen=True, kw_only=True)
class Flyer:
    """A body; what touches is `points` of its frame, each with a ball of `radius` about it. Fixed: mass infinite."""

    points: ArrayLike  # (P, D) m
    radius: float  # m
    mass: float  # kg
    inertia: ArrayLike  # kg m^2: in the plane a number, in space (3,) about the body's axes
    position: ArrayLike  # (D,) m
    orientation: ArrayLike  # rad, or a unit quaternion (4,) w-x-y-z
    velocity: ArrayLike  # (D,) m/s
    spin: ArrayLike  # rad/s, or (3,) in world axes


@dataclass(frozen=True, kw_only=True)
class FlightImpact:
    """One impact: of a flyer on another one, or on the plane -1 - second."""

    time: float  # s
    first: int
    second: int
    point: Array  # (D,) m
    impulse: Array  # (D,) N s, on the first


@dataclass(frozen=True, kw_only=True)
class FlightMotion:
    """S samples of B flyers; the times asked for, and each impact twice, before and after."""

    time: Array  # (S,) s
    position: Array  # (S, B, D) m
    orientation: Array  # (S, B) rad or (S, B, 4)
    velocity: Array  # (S, B, D) m/s
    spin: Array  # (S, B) or (S, B, 3) rad/s
    impacts: tuple[FlightImpact, ...]


def simulate_flights(
    flyers: tuple[Flyer, ...],
    planes: tuple[tuple[ArrayLike, ArrayLike], ...],
    times: ArrayLike,
    *,
    gravity: ArrayLike,
    law: str,
    pair: Callable[[int, int], tuple[float, float] | None],
    order: str | None = None,
) -> FlightMotion:
    """States at `times` [s], ascending from 0.

    planes: (point, unit normal out of it). pair(i, j): friction and restitution of flyers i and j, or of flyer i
    and the plane -1 - j; None where they pass through one another. law: one of `impact`'s, or `at-once-newton` or
    `at-once-poisson`: those of `multiple_impact`, with Coulomb's law between the whole impulse and the slip
    afterwards. order: one of `multiple_impact`'s, for contacts that move one another and are struck at the same time;
    the simultaneous and grouped ones have the laws `at-once-...` alone. Two flyers strike one another as balls only.
    What touches and neither parts nor is pressed, as balls of a cradle, goes on so.

    Raises FlightError where contacts are struck at once and no order is given, or bodies stay in contact under forces;
    ImpactError where the law has no answer.
    """
    run = _Flights(flyers, planes, np.array(gravity, np.float64), law, pair, order)
    follow(run, np.asarray(times, np.float64))
    return run.motion()


class Contact(NamedTuple):
    gap: float  # m
    rate: float  # m/s
    falls: float  # m/s^2, no faster than which the rate does
    first: int
    second: int
    point: Array  # (D,) m, of the first
    normal: Array  # (D,), from the second to the first


class _Flights:
    def __init__(
        self,
        flyers: tuple[Flyer, ...],
        planes: tuple[tuple[ArrayLike, ArrayLike], ...],
        gravity: Array,
        law: str,
        pair: Callable[[int, int], tuple[float, float] | None],
        order: str | None,
    ) -> None:
        if law not in FLIGHT_LAWS:
            raise ValueError(f"law: {law!r} is not one of {', '.join(FLIGHT_LAWS)}")
        if order is not None and order not in ORDERS:
            raise ValueError(f"order: {order!r} is not one of {', '.join(ORDERS)}")
        if order not in (None, "sequential") and law not in AT_ONCE:
            raise ValueError(f"law: {law!r} is not one of {', '.join(AT_ONCE)}, those of {order} contacts")
        self.order = order
        self.law, self.pair, self.gravity, self.D = law, pair, gravity, len(gravity)
        self.planes = [(np.array(p, np.float64), np.array(n, np.float64)) for p, n in planes]
        self.free = [i for i, body in enumerate(flyers) if math.isfinite(body.mass)]
        self.mass = np.array([body.mass for body in flyers])
        self.inertia = [np.array(body.inertia, np.float64) for body in flyers]
        self.points = [np.array(body.points, np.float64) for body in flyers]
        self.radius = [body.radius for body in flyers]
        self.bounding_radius = [float(np.linalg.norm(p, axis=1).max()) for p in self.points]
        self.size = max(a + b for a, b in zip(self.bounding_radius, self.radius))
        self.x = np.array([body.position for body in flyers], np.float64)
        self.v = np.array([body.velocity for body in flyers], np.float64)
        self.turned = [np.array(body.orientation, np.float64) for body in flyers]
        self.w = [np.array(body.spin, np.float64) for body in flyers]
        self.now, self.t = 0.0, 0.0  # s, of the states above; since then, up to where no contact can be
        self.impacts: list[FlightImpact] = []
        self.samples: list[tuple[float, State]] = []
        self._start_turning()

    # --- flight --------------------------------------------------------------------------------------

    def _start_turning(self) -> None:
        self.turning = [self._turn(i) for i in range(len(self.mass))]
        self.bound = [self._bound(i) for i in range(len(self.mass))]
        swings = (
            float(norm(w)) * (bounding_radius + radius)
            for w, bounding_radius, radius in zip(self.w, self.bounding_radius, self.radius)
        )
        self.fast = max(float(norm(v)) + swing for v, swing in zip(self.v, swings))  # m/s, of no point more

    def _turn(self, i: int) -> Callable[[float], tuple[Array, Array]]:
        """Orientation and spin of body i, so long after `now`."""
        q, w, inertia = self.turned[i], self.w[i], self.inertia[i]
        if self.D == 2:
            return lambda t: (q + t * w, w)
        if i not in self.free or not w.any():
            return lambda t: (q, w)
        if np.ptp(inertia) <= 1e-12 * inertia.max():
            speed = float(norm(w))
            axis = w / speed

            def evenly(t: float) -> tuple[Array, Array]:
                half = 0.5 * speed * t
                return product(np.append(elementary.cos(half), elementary.sin(half) * axis), q), w

            return evenly
        solved: list[Any] = []

        def rate(t: float, y: Array) -> Array:
            q, own = y[:4], y[4:]
            return np.append(0.5 * product(q, np.append(0.0, own)), np.cross(inertia * own, own) / inertia)

        def freely(t: float) -> tuple[Array, Array]:
            if not solved or t > solved[-1].t_max:
                start, y = (solved[-1].t_max, solved[-1](solved[-1].t_max)) if solved else (
                    0.0, np.append(q, mul(matrices(q).T, w)))  # fmt: skip
                more = max(1.0, 1.5 * (t - start))
                solved.append(
                    solve_ivp(rate, (start, start + more), y, method=Dop853, rtol=TOLERANCE, atol=TOLERANCE,
                              dense_output=True).sol
                )  # fmt: skip
            segment = next(segment for segment in solved if t <= segment.t_max)
            y = segment(t)
            turned = y[:4] / norm(y[:4])
            return turned, mul(matrices(turned), y[4:])

        return freely

    def _bound(self, i: int) -> float:
        """m/s^2: no point of body i accelerates faster against its centre."""
        if i not in self.free:
            return 0.0
        if self.D == 2:
            return float(squared(self.w[i])) * self.bounding_radius[i]
        inertia = self.inertia[i]
        own = mul(matrices(self.turned[i]).T, self.w[i])
        square = float(mul(own, inertia * own)) / float(inertia.min())
        spread = max(abs(inertia[j] - inertia[k]) / inertia[m] for j, k, m in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
        return (1.0 + float(spread)) * square * self.bounding_radius[i]

    def _at(self, t: float) -> State:
        """Positions, orientations, velocities, spins, so long after `now`."""
        x, v = self.x.copy(), self.v.copy()
        x[self.free] += t * v[self.free] + 0.5 * t * t * self.gravity
        v[self.free] += t * self.gravity
        both = [turn(t) for turn in self.turning]
        return x, [q for q, _ in both], v, [w for _, w in both]

    def _contacts(self, t: float) -> list[Contact]:
        """Of each point with each plane, and of each pair of balls."""
        x, q, v, w = self._at(t)
        found: list[Contact] = []
        for i in self.free:
            R = matrices(q[i]) if self.D == 3 else flat(float(q[i]))
            arms = mul(self.points[i], R.T)
            for k, (origin, normal) in enumerate(self.planes):
                heights = mul(x[i] + arms - origin, normal) - self.radius[i]
                falls = max(0.0, -float(mul(self.gravity, normal))) + self.bound[i]
                for arm, height in zip(arms, heights):
                    rate = float(mul(v[i] + swept(w[i], arm), normal))
                    at = x[i] + arm - self.radius[i] * normal
                    found.append(Contact(float(height), rate, falls, i, -1 - k, at, normal))
            for j in range(len(self.mass)):
                if (j > i or j not in self.free) and i != j and self.pair(i, j) is not None:
                    apart = x[i] - x[j]
                    distance = float(norm(apart))
                    normal = apart / distance
                    falls = 0.0 if j in self.free else float(norm(self.gravity))
                    gap, rate = distance - self.radius[i] - self.radius[j], float(mul(v[i] - v[j], normal))
                    found.append(Contact(gap, rate, falls, i, j, x[i] - self.radius[i] * normal, normal))
        return found

    # --- time ----------------------------------------------------------------------------------------

    def begin(self) -> Segment:
        return Segment(0.0, self._state)

    def step(self, until: float) -> Segment:
        """On to where the first contact can be, whether that is before `until` or not: samples move no impact."""
        t = self.t
        contacts = [contact for contact in self._contacts(t) if not self._still(contact)]
        closing = [p for p in contacts if p.rate < 0.0]
        nearest = min(closing, key=lambda p: p.gap, default=None)
        step = min((first_zero(p.gap, p.rate, p.falls) for p in contacts), default=math.inf)
        stands = self.now + t + step == self.now + t  # as near as doubles come
        if nearest is not None and nearest.gap <= (TOGETHER if stands else CONTACT_GAP) * self.size:
            return Segment(self.now + t, lambda _: self._at(t), event=self.now + t)
        if stands:
            raise FlightError(f"t = {self.now + t:.9g} s: bodies that touch do not part; flights do")
        self.t = t + step
        return Segment(self.now + self.t, self._state)

    def _state(self, time: float) -> State:
        return self._at(time - self.now)

    def sample(self, time: float, state: State) -> None:
        self.samples.append((time, state))

    def _still(self, contact: Contact) -> bool:
        """Whether it touches, neither parts nor is struck, and nothing presses it."""
        in_contact = contact.gap <= TOGETHER * self.size
        return in_contact and contact.falls == 0.0 and abs(contact.rate) <= STILL * self.fast

    def resolve(self, time: float, state: State) -> Segment:
        """An impact; the states before and after it are samples."""
        t = self.t
        hit = [contact for contact in self._contacts(t) if contact.gap <= TOGETHER * self.size]
        if len(self.impacts) >= MOST_IMPACTS:
            raise FlightError(f"t = {self.now + t:.9g} s: more than {MOST_IMPACTS} impacts; it comes to rest")
        self.sample(time, state)
        self.x, self.turned, self.v, self.w = self._at(t)
        self.now, self.t = time, 0.0
        impulses = self._impulses(hit)
        for contact, impulse in zip(hit, impulses):
            if not impulse.any():
                continue
            for k, sign in ((contact.first, 1.0), (contact.second, -1.0)):
                if k in self.free:
                    arm, signed_impulse = contact.point - self.x[k], sign * impulse
                    self.v[k] += signed_impulse / self.mass[k]
                    if self.D == 2:
                        self.w[k] = (
                            self.w[k] + (arm[0] * signed_impulse[1] - arm[1] * signed_impulse[0]) / self.inertia[k]
                        )
                    else:
                        self.w[k] = self.w[k] + solve(self._inertia(k), np.cross(arm, signed_impulse))
            self.impacts.append(
                FlightImpact(
                    time=self.now, first=contact.first, second=contact.second, point=contact.point, impulse=impulse
                )
            )
        fastest = -min(contact.rate for contact in hit)
        self._start_turning()
        for contact in self._contacts(0.0):
            slow = contact.gap <= TOGETHER * self.size and contact.rate <= SLOW * fastest
            if slow and not (contact.falls == 0.0 and contact.rate >= -STILL * self.fast):
                raise FlightError(f"t = {self.now:.9g} s: the bodies stay in contact after the impact; flights part")
        self.sample(time, self._at(0.0))
        return Segment(time, self._state)

    def _impulses(self, contacts: list[Contact]) -> list[Array]:
        """(D,) each, on the first bodies."""
        D, turns = self.D, 1 if self.D == 2 else 3
        J = np.zeros((len(contacts), D, len(self.mass), D + turns))
        mobility = np.zeros((len(self.mass), D + turns, D + turns))
        frames, u, pairs = [], [], []
        for k in self.free:
            mobility[k, :D, :D] = np.eye(D) / self.mass[k]
            mobility[k, D:, D:] = inverse(np.atleast_2d(self._inertia(k)))
        for row, contact in zip(J, contacts):
            n, speed = contact.normal, np.zeros(D)
            Q = np.array([[n[1], -n[0]], n]) if D == 2 else across_and(n)
            for k, sign in ((contact.first, 1.0), (contact.second, -1.0)):
                if k in self.free:
                    arm = contact.point - self.x[k]
                    row[:, k, :D] = sign * Q
                    row[:, k, D:] = sign * (mul(Q, turned_by(arm)))
                    speed += sign * (self.v[k] + swept(self.w[k], arm))
            frames.append(Q)
            u.append(mul(Q, speed))
            law = self.pair(contact.first, contact.second)
            assert law is not None
            pairs.append(law)
        K = np.einsum("aikp,kpq,bjkq->aibj", J, mobility, J)
        if (order := self.order) is None:
            moved = np.abs(K).max(axis=(1, 3)) > 0.0
            if np.count_nonzero(moved) > len(contacts):
                raise FlightError(
                    f"t = {self.now:.9g} s: {len(contacts)} contacts are struck at once, and no order says in which way"
                )
            order = "sequential"
        friction, restitution = np.array(pairs).T
        found = multiple_impact(
            K.reshape(len(contacts) * D, -1), np.array(u), friction=friction, restitution=restitution,
            law=self.law if order == "sequential" else self.law.removeprefix("at-once-"), order=order,
        )  # fmt: skip
        return [mul(Q.T, impulse) for Q, impulse in zip(frames, found.impulse)]

    def _inertia(self, k: int) -> Array:
        if self.D == 2:
            return self.inertia[k]
        R = matrices(self.turned[k])
        return mul(R * self.inertia[k], R.T)

    def motion(self) -> FlightMotion:
        time, states = zip(*self.samples)
        x, q, v, w = zip(*states)
        return FlightMotion(
            time=np.array(time), position=np.array(x), orientation=np.array(q), velocity=np.array(v),
            spin=np.array(w), impacts=tuple(self.impacts),
        )  # fmt: skip


def swept(spin: Array, arm: Array) -> Array:
    """spin x arm."""
    return spin * np.array([-arm[1], arm[0]]) if len(arm) == 2 else np.cross(spin, arm)


def turned_by(arm: Array) -> Array:
    """(D, 1 or 3): of a spin, the velocity spin x arm."""
    if len(arm) == 2:
        return np.array([[-arm[1]], [arm[0]]])
    x, y, z = arm
    return np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])


def flat(angle: float) -> Array:
    c, s = elementary.cos(angle), elementary.sin(angle)
    return np.array([[c, -s], [s, c]])


def across_and(normal: Array) -> Array:
    """(3, 3): rows are two tangents and the normal."""
    first, second = tangents(normal)
    return np.stack([-first, -second, normal])
