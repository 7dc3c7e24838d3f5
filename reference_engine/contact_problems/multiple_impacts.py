"""Impacts at several contacts at once. Which impulses follow is a law of its own: all at once, or one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from reference_engine.array_types import Array, Indices
from reference_engine.contact_problems.cone_problem import ConeProblem
from reference_engine.contact_problems.cone_solve import solve_cones
from reference_engine.contact_problems.contact_forces import one_per_contact
from reference_engine.contact_problems.friction import friction_forces
from reference_engine.contact_problems.friction_continuation import impartial_forces
from reference_engine.contact_problems.impact_laws import LAWS, checked_inverse_mass, impulse_of
from reference_engine.contact_problems.impact_process import ImpactError, WedgedImpactError
from reference_engine.dense import lstsq, mul
from reference_engine.errors import ContactForceError

ORDERS = ("simultaneous", "sequential", "grouped")
TOGETHER = ("newton", "poisson")  # the laws that a complementarity problem can say
AT_ONCE = tuple(f"at-once-{law}" for law in TOGETHER)  # such a problem of one contact alone
MOST_IMPACTS = {2: 4000, 3: 200}  # for each contact, in the plane, where each takes 0.2 ms, and in space, some ms
PATIENCE, ROUGHLY = 15, 1e-10  # for each contact: after so many, what is left of a sequence without end is cut to that
ACCURACY = 1e-12  # of complementarity problems, of the greatest speed
STOPPED = 4.0 * ACCURACY  # of the greatest speed: a slower approach is what such a problem leaves
IMPARTIAL = 100  # contacts in space, up to which friction is followed from none, by full matrices
GIVES = 1e-1, 1e-2, 1e-3, 1e-4  # shares of a contact's own inverse mass, added to tell whether contacts wedge
WEDGED = 0.5  # of the inverse ratio of such shares: impulses that grow by so much with it grow without bound
TIE = 1e-12  # approaches that differ by less are equal, and the first is struck first


@dataclass(frozen=True, kw_only=True)
class MultipleImpact:
    """What the impacts did, at n contacts; components as those that were given."""

    impulse: Array  # (n, D) N s
    velocity: Array  # (n, D) m/s, relative, after
    energy_change: float  # J
    impacts: tuple[tuple[int, ...], ...]  # the contacts that were struck together, impact by impact
    uncertainty: float  # m/s, of the velocities: how well the limits of endless sequences are known


def multiple_impact(
    inverse_mass: ArrayLike,
    velocity: ArrayLike,
    *,
    friction: ArrayLike,
    restitution: ArrayLike,
    law: str = "newton",
    order: str = "simultaneous",
    pace: float = 0.0,
) -> MultipleImpact:
    """Impacts at n contacts, from their relative velocities (n, D) [m/s]; the last component is the normal one.

    inverse_mass: K (n D, n D) [1/kg] = J M^-1 J^T, contacts one after the other: u after = u before + K j; of bodies
    and mechanisms `inverse_mass_through_joints` has it. An approach has a negative normal velocity. friction,
    restitution: numbers or (n,). pace: m/s, of the bodies; the speeds are exact to 1e-12 of it, or of their own.

    simultaneous  one complementarity problem: 0 <= j_n  perp  u_n+ + e u_n >= 0, and Coulomb's law between j_t and the
                  slip afterwards (`newton`; Moreau 1988); or compression and then restitution by e times its impulse,
                  each with that law (`poisson`; Glocker & Pfeiffer 1995). Moreau's law may send what parted into an
                  approach; another impact follows then. It has no answer where contacts wedge one another: then there
                  is no motion with the speeds that it wants. Poisson's always has one (Anitescu & Potra 1997)
    sequential    one contact after the other, the fastest approach first, until none approaches; any law of `impact`,
                  or at each the problem of the simultaneous order (`at-once-newton`, `at-once-poisson`)
    grouped       the fastest with those approaching contacts that it moves, directly or by others, simultaneously;
                  then the next, until none approaches

    Without friction none makes energy, for equal e; Newton's law keeps it at e = 1. They differ where an impulse goes
    on through a body at rest: of a cradle's balls in contact the last one leaves by the sequential and grouped orders,
    all move on by the simultaneous.

    Impacts without end that become weaker are summed up (`uncertainty`). Raises ValueError naming the argument that is
    not what it must be, ImpactError where there is no answer, or impacts come again as strong as before, or too many.
    """
    u = np.array(velocity, np.float64)
    if u.ndim != 2 or u.shape[1] not in (2, 3) or not len(u) or not np.isfinite(u).all():
        raise ValueError(f"velocity: shape {u.shape}, or not finite; it is (n, 2) or (n, 3)")
    n, D = u.shape
    K = checked_inverse_mass(inverse_mass, n * D, 1e-9)
    mu, e = one_per_contact("friction", friction, n), one_per_contact("restitution", restitution, n, most=1.0)
    if order not in ORDERS:
        raise ValueError(f"order: {order!r} is not one of {', '.join(ORDERS)}")
    allowed = (*LAWS, *AT_ONCE) if order == "sequential" else TOGETHER
    if law not in allowed:
        raise ValueError(f"law: {law!r} is not one of {', '.join(allowed)}, those of {order} contacts")
    after, impulse = u.copy(), np.zeros((n, D))
    impacts: list[tuple[int, ...]] = []
    speed, uncertainty = max(float(np.abs(u).max()), pace), 0.0
    slow = STOPPED * speed

    def next_impact(velocity: Array) -> tuple[tuple[int, ...], Array] | None:
        if (fastest := fastest_approach(velocity[:, -1], slow)) is None:
            return None
        contacts = together(order, K, velocity[:, -1], slow, fastest)
        rows = (contacts[:, None] * D + np.arange(D)).ravel()
        given = np.zeros((n, D))
        if order == "sequential" and law in LAWS:
            given[contacts] = impulse_of(law, K[np.ix_(rows, rows)], velocity[fastest], mu[fastest], e[fastest])
        else:
            given[contacts] = simultaneous_impulses(
                law.removeprefix("at-once-"), K[np.ix_(rows, rows)], velocity[contacts], mu[contacts], e[contacts],
                slow=slow, pace=pace,
            )  # fmt: skip
        return tuple(int(k) for k in contacts), given

    again = Repetition(K, n, next_impact)
    while (found := next_impact(after)) is not None:
        if len(impacts) == MOST_IMPACTS[D] * n:
            raise ImpactError(f"{len(impacts)} impacts at {n} contacts, and {-after[:, -1].min():g} m/s still approach")
        contacts, given = found
        impulse += given
        after += (mul(K, given.ravel())).reshape(n, D)
        impacts.append(contacts)
        again.add(contacts, given)
        if period := again.period():
            enough = speed * (ACCURACY if len(impacts) <= PATIENCE * n else ROUGHLY)
            if rest := again.rest(period, after, enough):
                impulse += rest.impulse
                after += (mul(K, rest.impulse.ravel())).reshape(n, D)
                uncertainty += rest.off
                again.restart()
            elif again.lasts(period):
                raise ImpactError(
                    f"the impacts at the contacts {impacts[-period:]} come again without end, never weaker"
                )
    energy = 0.5 * float(np.sum(impulse * (u + after)))
    return MultipleImpact(
        impulse=impulse, velocity=after, energy_change=energy, impacts=tuple(impacts), uncertainty=uncertainty
    )


def fastest_approach(normal: Array, slow: float) -> int | None:
    approach = -normal
    most = float(approach.max())
    return int(np.argmax(approach >= most * (1.0 - TIE))) if most > slow else None


def together(order: str, K: Array, normal: Array, slow: float, fastest: int) -> Indices:
    """The contacts of one impact."""
    n = len(normal)
    if order == "simultaneous":
        return np.arange(n)
    if order == "sequential":
        return np.array([fastest])
    approaching = np.flatnonzero(normal < -slow)
    D = len(K) // n
    moved = np.abs(K.reshape(n, D, n, D)).max(axis=(1, 3)) > 0.0
    _, group = sparse.csgraph.connected_components(moved[np.ix_(approaching, approaching)])
    return approaching[group == group[np.flatnonzero(approaching == fastest)[0]]]


def simultaneous_impulses(law: str, K: Array, u: Array, mu: Array, e: Array, *, slow: float, pace: float) -> Array:
    """(n, D) the impulses of one complementarity problem, or of two."""
    solve = planar if u.shape[1] == 2 else spatial
    scale = max(float(np.abs(u).max()), pace)
    none = np.zeros(len(u))
    if law == "newton":
        bounced = u.copy()
        bounced[:, -1] += np.where(np.abs(u[:, -1]) > slow, e, 0.0) * u[:, -1]  # those that part too, else energy grows
        return solve(K, bounced, mu, none, scale).reshape(u.shape)
    compression = solve(K, u, mu, none, scale)
    given_back = np.zeros_like(u)
    given_back[:, -1] = e * np.maximum(0.0, compression.reshape(u.shape)[:, -1])
    known = compression + given_back.ravel()
    further = solve(K, u + (mul(K, known)).reshape(u.shape), mu, given_back[:, -1], scale)
    return (known + further).reshape(u.shape)


def planar(K: Array, u: Array, mu: Array, base: Array, scale: float) -> Array:
    normal_first = np.arange(len(K)).reshape(-1, 2)[:, ::-1].ravel()
    kind = np.where(mu > 0.0, "sticking", "smooth")
    found = friction_forces(
        K[np.ix_(normal_first, normal_first)], u.ravel()[normal_first], kind, mu, base=base,
        tolerance=ACCURACY, scale=scale,
    )  # fmt: skip
    if found.outcome == "none":
        raise WedgedImpactError(
            f"{len(u)} contacts wedge one another: no impulses obey Coulomb's law there, friction {mu.tolist()}"
        )
    return found.force[:, ::-1].ravel()


def spatial(K: Array, u: Array, mu: Array, base: Array, scale: float) -> Array:
    """base (n,) N s: normal impulses that are there already, which friction counts too.

    For the solver these are contacts of their own with the same tangents, pressed by exactly that: their normal
    direction moves nothing but itself, and b = -K_nn base there.
    """
    n, based = len(u), np.flatnonzero((base > 0.0) & (mu > 0.0))
    normal_first = np.roll(np.arange(len(K)).reshape(-1, 3), 1, axis=1)
    rows = np.concatenate([normal_first, normal_first[based]]).ravel()
    W, b = K[np.ix_(rows, rows)], np.roll(u, 1, axis=1)[np.append(np.arange(n), based)]
    alone = 3 * (n + np.arange(len(based)))
    W[alone, :], W[:, alone], b[n:, 0] = 0.0, 0.0, -K[rows[alone], rows[alone]] * base[based]
    W[alone, alone] = K[rows[alone], rows[alone]]
    mu = np.append(mu, mu[based])
    if 1 < len(mu) <= IMPARTIAL:
        impulse, missed, _ = impartial_forces(W, b, mu, np.zeros((len(mu), 2)), ACCURACY * scale)
        if missed <= ACCURACY * scale:
            return in_rows(impulse, based, n)
    problem = ConeProblem(sparse.csr_array(W), b, mu)
    try:
        unit = scale / problem.scale
        found = solve_cones(problem, tolerance=ACCURACY * unit, enough=ROUGHLY * unit)
    except ContactForceError as error:
        if why := wedged(W, problem):
            raise WedgedImpactError(why) from error
        raise ImpactError(str(error)) from error
    return in_rows(found.impulse, based, n)


def in_rows(found: Array, based: Indices, n: int) -> Array:
    """(3 n,) the normal last, of impulses that have it first and end with those of `based`."""
    impulse = np.roll(found, -1, axis=1)
    impulse[based, :2] += impulse[n:, :2]
    return impulse[:n].ravel()


def wedged(W: Array, problem: ConeProblem) -> str:
    """Why rigid contacts have no impulses: those that give a little need the more the less they give; "" if not so."""
    needed = []
    for give in GIVES:
        softer = ConeProblem(sparse.csr_array(W + give * np.diag(W.diagonal())), problem.b, problem.friction)
        try:
            needed.append(give * float(np.abs(solve_cones(softer, tolerance=1e-8).impulse).max()))
        except ContactForceError:
            break
    if len(needed) < 2 or needed[-1] < WEDGED * needed[-2]:
        return ""
    return f"{len(problem.b)} contacts wedge one another: no impulses give the speeds that the law wants there"


TIMES = 3  # that a pattern of impacts must have come before it is believed
LONGEST = 12  # impacts of a pattern, for each contact
MODES = 5  # shares of a pattern that are distinguished
SAFETY = 4.0
LASTING, ALIKE = 16, 1e-9  # times that a pattern must have come, and how much alike, to have no end
LEAST_DOUBLED, MOST_DOUBLED = 2, 30  # fewer patterns are waited for


NextImpact = Callable[[Array], tuple[tuple[int, ...], Array] | None]
"""Velocities (n, D) -> the contacts that are struck and their impulses (n, D); None where none approaches."""


@dataclass(frozen=True)
class Rest:
    """Of all impacts that follow, or of those until they become others."""

    impulse: Array  # (n, D) N s
    off: float  # m/s, how far off the velocities may be that they lead to


class Repetition:
    """The impacts so far at n contacts: which were struck, and by what impulses.

    They may come again in the same order, weaker each time, without end: what all that follow give.
    """

    def __init__(self, K: Array, contacts: int, next_impact: NextImpact) -> None:
        """K (n D, n D)."""
        self.K, self.next_impact = K, next_impact
        self.weight = K.diagonal()[len(K) // contacts - 1 :: len(K) // contacts]  # 1/kg, of each contact
        self.hit: list[tuple[int, ...]] = []
        self.impulse: list[Array] = []  # (n, D) of each impact

    def add(self, contacts: tuple[int, ...], impulse: Array) -> None:
        self.hit.append(contacts)
        self.impulse.append(impulse)

    def restart(self) -> None:
        self.hit.clear()
        self.impulse.clear()

    def period(self) -> int:
        """Impacts after which the last ones have come again, TIMES times; 0 if none have."""
        hit, count = self.hit, len(self.hit)
        for period in range(1, min(LONGEST * len(self.weight), count // TIMES) + 1):
            if hit[-1 - period] == hit[-1]:
                since = (TIMES - 1) * period
                if hit[-since:] == hit[-since - period : -period]:
                    return period
        return 0

    def times(self, period: int, enough: int) -> int:
        """How often a pattern has come in a row; `enough` if more often."""
        hit = self.hit
        most = min(len(hit), enough * period)
        same = next((k for k in range(period, most) if hit[-1 - k] != hit[-1 - k + period]), most)
        return same // period

    def sums(self, period: int, times: int) -> list[Array]:
        """(n, D) of the last patterns, the newest first."""
        count = len(self.impulse)
        ends = (count - k * period for k in range(times))
        return [np.sum(self.impulse[end - period : end], axis=0) for end in ends]

    def rest(self, period: int, velocity: Array, allowed: float) -> Rest | None:
        """What follows, if that can be predicted to `allowed` m/s. velocity (n, D): now.

        The impulses d of a pattern become a linear map of those before, d_k = A d_k-1, of which a few eigenvalues are
        not small: d_k+1 = -(c_1 d_k + c_2 d_k-1 + ...), with the c of the least misses so far (as in minimal polynomial
        extrapolation; Cabay & Jackson 1976). That holds until contacts come to slide the other way, or others to be
        struck. So the impacts are tried at the velocities foretold after 1, 2, 4, ... patterns, and where they are
        other ones the rest ends before.
        """
        have = self.times(period, MODES + 2)
        d = self.sums(period, have)
        if not d[1].any() or not (size := self.size(d[0])) < (before := self.size(d[1])):
            return None
        left = SAFETY / (1.0 - size / before)
        known = np.stack([(one * self.weight[:, None]).ravel() for one in d], axis=1)
        for modes in range(1, have - 1):
            two = np.concatenate([known[:, : modes + 1], known[:, 1 : modes + 2]])  # what both of the last two agree in
            c = np.append(1.0, lstsq(two[:, 1:], -two[:, 0], rcond=1e-12))
            if abs(total := float(c.sum())) < 1e-12 * float(np.abs(c).sum()):
                continue
            off = left * float(np.abs(mul(two, c)).max()) / abs(total)
            if (
                off <= allowed
                and (rest := self.foretold(period, velocity, d[:modes], c[1:], allowed / left)) is not None
            ):
                return Rest(rest, off + allowed)
        return None

    def foretold(self, period: int, velocity: Array, d: list[Array], c: Array, allowed: float) -> Array | None:
        """(n, D) the sum of what follows d by its recurrence, as far as impacts tried there agree to `allowed` m/s."""
        modes, last = len(c), np.stack([one.ravel() for one in d])
        step = np.eye(modes, k=-1)
        step[0] = -c
        power, summed = step, step  # step^N, and the sum of those up to it
        good, size = None, self.size(d[0])
        for doubled in range(MOST_DOUBLED):
            ahead, total = ((mul(matrix[0], last)).reshape(velocity.shape) for matrix in (power, summed))
            next_one = (mul((mul(step, power))[0], last)).reshape(velocity.shape)
            if not self.size(ahead) <= size:
                return good
            tried = self.tried(period, velocity + (mul(self.K, total.ravel())).reshape(velocity.shape))
            if not self.size(tried - next_one) <= allowed:
                return good
            if doubled >= LEAST_DOUBLED:
                good = total
            if self.size(ahead) <= allowed:
                break
            power, summed = mul(power, power), summed + mul(power, summed)
        return good

    def tried(self, period: int, velocity: Array) -> Array:
        """(n, D) what the impacts of one pattern really give."""
        given = np.zeros_like(velocity)
        for _ in range(period):
            if (found := self.next_impact(velocity + (mul(self.K, given.ravel())).reshape(velocity.shape))) is None:
                break
            given += found[1]
        return given

    def lasts(self, period: int) -> bool:
        """Whether a pattern has come LASTING times, each the same as the one before or that times a number above 1."""
        if self.times(period, LASTING) < LASTING:
            return False
        d = self.sums(period, LASTING)
        shares = [float(np.sum(newer * older)) / float(np.sum(older * older)) for newer, older in pairwise(d)]
        return min(shares) >= 1.0 - ALIKE and all(
            self.size(newer - share * older) <= ALIKE * self.size(newer)
            for share, (newer, older) in zip(shares, pairwise(d))
        )

    def size(self, impulse: Array) -> float:
        return float((self.weight * np.linalg.norm(impulse, axis=1)).max())
