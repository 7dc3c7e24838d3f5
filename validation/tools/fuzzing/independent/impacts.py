"""The laws of impact: of two that meet alone, and of several contacts at once in the plane.

Of several every motion that the laws allow is worked out, and compared.
Newton's law and Poisson's, with Coulomb's between the tangential impulse and the slip after each phase, all contacts at
once or the fastest first. For each contact a mode is tried, all of them together with all of the others': sticking or
sliding either way, pressing or not; a linear problem each. What agrees with its mode is a motion that the law allows.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from reference_engine.array_types import Array, Indices
from validation.records.trajectory import Impacts
from validation.tools.fuzzing.independent.contacts import SLIDES, is_central, jumps, normal_of, velocity_at
from validation.tools.fuzzing.independent.exact import SHARE, Broken
from validation.tools.fuzzing.independent.motion import Motion, in_space

MOST = 3  # contacts with friction; a hundred motions
MOST_SMOOTH = 6
MOST_EVENTS = 40  # of a motion that are looked through
MOST_ROUNDS = 100  # of impacts one after another
HALVINGS = 30
AGREES = 1e-5  # m/s, times 1 + the largest speed
ENDLESS = 0.05  # m/s: bounces so slow may be summed up to their limit, and then end at once
ALIKE = 1e-6  # of a speed: of two so alike either may be the fastest
WORK = 1e3 * SHARE  # of the work of the impulses, and of their size
WORK_ERROR = 1e-10  # of that work


def impacts_obey(motion: Motion, impacts: Impacts) -> Iterator[Broken]:
    """Two that meet alone part with e times their approach: where friction has no part in it, by every law.

    Without friction, or where the normal goes through both centres of mass and no joint ties friction to what they do
    along it; of bodies that nothing else strikes then.
    """
    tied = {motion.names[end] for joint in motion.scene.joints for end in (joint.a, joint.b) if end}
    members, jumped = (*motion.scene.bodies, *motion.scene.boundaries), jumps(motion)
    times, count = np.unique(impacts.time, return_counts=True)
    alone = set(times[count == 1].tolist())
    for row, time in enumerate(impacts.time.tolist()):
        at = jumped[motion.time[jumped] == time]
        if time not in alone or len(at) != 1:
            continue
        a, b = int(impacts.a[row]), int(impacts.b[row])
        (a, b), k = sorted((a, b)), int(at[0])
        n = normal_of(motion, a, b, k)
        if n is None:
            continue
        p, pair = in_space(impacts.point[row : row + 1]), (np.array([a]), np.array([b]))
        before, after = (
            velocity_at(motion, np.array([sample]), pair[1], p) - velocity_at(motion, np.array([sample]), pair[0], p)
            for sample in (k, k + 1)
        )
        friction, e = motion.scene.pair_law(members[a], members[b])
        if friction and (tied & {a, b} or not is_central(motion, a, b, k, p[0], n)):
            continue
        u_minus, u_plus = float(before[0] @ n), float(after[0] @ n)
        fastest = 1.0 + float(np.abs(motion.v[k]).max() + (motion.radius * np.abs(motion.w[k]).max(axis=1)).max())
        if u_minus > SLIDES * fastest or (abs(u_plus + e * u_minus) > SLIDES * fastest and -e * u_minus > ENDLESS):
            names = members[a].name, members[b].name
            message = (
                f"{names[0]!r} and {names[1]!r} meet at {u_minus:.6g} m/s and part at {u_plus:.6g} m/s, "
                f"at {time:.6g} s; restitution is {e:.6g}"
            )
            yield "against the impact law", message, names


class Event(NamedTuple):
    """The n contacts of one time, rates and slips in turn: rows 2 k and 2 k + 1."""

    A: Array  # (2 n, 2 n) 1/kg
    before: Array  # (2 n,) m/s
    after: Array  # (2 n,) m/s
    impulse: Array  # (2 n,) N s
    e: Array  # (n,)
    mu: Array  # (n,)


ImpactLaw = Callable[[Event, Indices, Array], list[Array]]


def impacts_allowed(motion: Motion, impacts: Impacts) -> Iterator[Broken]:
    """Of bodies without joints, where the shapes leave no normal open."""
    if motion.scene.joints:
        return
    members, jumped = (*motion.scene.bodies, *motion.scene.boundaries), jumps(motion)
    fastest = motion.fastest
    still = AGREES * fastest
    for time in np.unique(impacts.time)[:MOST_EVENTS].tolist():
        rows, at = np.flatnonzero(impacts.time == time), jumped[motion.time[jumped] == time]
        event = _event_at(motion, impacts, rows, int(at[0])) if len(at) == 1 else None
        if event is None:
            continue
        names = tuple(dict.fromkeys(members[i].name for k in rows.tolist() for i in (impacts.a[k], impacts.b[k])))
        who = f"{' and '.join(map(repr, names))} at {time:.6g} s"
        cone = np.abs(event.impulse[1::2]) - event.mu * event.impulse[::2]
        if max(cone.max(), -event.impulse[::2].min()) > WORK * np.abs(event.impulse).sum():
            yield "against the impact law", f"an impulse is outside its cone: {who}", names
        work = float(event.impulse @ (event.before + event.after)) / 2.0
        if not event.mu.any() and work > WORK * float(np.abs(event.impulse * event.before).sum()):
            yield "energy gained", f"{work:.3g} J come from an impact without friction: {who}", names
        allowed = [(one, 10.0 * still + 5.0 * _left_out(one, still)) for one in _motions(event, still)]
        off = [float(np.abs(one - event.after).max()) - most for one, most in allowed]
        if off and min(off) > 0.0 and not _is_by_newton(event, 10.0 * still):
            message = f"they part by {min(off):.3g} m/s otherwise than by any law of impact: {who}"
            yield "against the impact law", message, names


def _is_by_newton(event: Event, still: float) -> bool:
    """Whether the impulses are as Newton's law and Coulomb's say. Where rows depend on one another there may be motions
    without end that they allow, of which `_motions` knows one of each mode."""
    wanted = np.maximum(0.0, -event.e * event.before[::2])
    normal, friction, slip = event.impulse[::2], event.impulse[1::2], event.after[1::2]
    presses = normal > WORK * np.abs(event.impulse).sum()
    over = event.after[::2] - wanted
    along = np.where(np.abs(slip) > still, np.abs(friction + event.mu * normal * np.sign(slip)), 0.0)
    return bool(
        (over > -still).all()
        and (np.abs(over)[presses] < still).all()
        and (along <= WORK * np.abs(event.impulse).sum()).all()
    )


def _left_out(after: Array, still: float) -> float:
    """m/s: bounces that may be summed up to their limit."""
    rates = after[::2]
    return ENDLESS if ((rates > still) & (rates < ENDLESS)).any() else 0.0


def _event_at(motion: Motion, impacts: Impacts, rows: Indices, at: int) -> Event | None:
    """Contacts that are hit more than once count once, with the sum of their impulses."""
    bodies, members = len(motion.scene.bodies), (*motion.scene.bodies, *motion.scene.boundaries)
    contacts = dict[tuple[float, ...], int]()
    J, laws, impulse = list[Array](), list[tuple[float, float]](), list[Array]()
    for k in rows.tolist():
        sign = 1.0 if impacts.a[k] < impacts.b[k] else -1.0
        a, b = sorted((int(impacts.a[k]), int(impacts.b[k])))
        n = normal_of(motion, a, b, at)
        if n is None:
            return None
        p, j = in_space(impacts.point[k]), sign * in_space(impacts.impulse[k])
        t = np.array((n[1], -n[0], 0.0))
        key = (a, b, *np.round(p, 9).tolist())
        if key in contacts:
            impulse[contacts[key]] += (j @ n, j @ t)
            continue
        contacts[key] = len(contacts)
        pair = np.zeros((2, 3 * bodies))
        for i, side in ((a, -1.0), (b, 1.0)):
            if i < bodies:
                arm = p - motion.x[at, i]
                for row, axis in enumerate((n, t)):
                    pair[row, 3 * i : 3 * i + 3] = side * np.array((axis[0], axis[1], np.cross(arm, axis)[2]))
        J.append(pair)
        laws.append(motion.scene.pair_law(members[a], members[b]))
        impulse.append(np.array((j @ n, j @ t)))
    rows_of_all = np.concatenate(J)
    mass = np.column_stack([motion.mass, motion.mass, motion.inertia[:, 2]]).ravel()
    inverse = np.where(mass > 0.0, 1.0 / np.where(mass > 0.0, mass, 1.0), 0.0)
    twists = [np.column_stack([motion.v[k, :, :2], motion.w[k, :, 2]]).ravel() for k in (at, at + 1)]
    before, after = (rows_of_all @ twist for twist in twists)
    mu, e = np.array(laws).T
    return Event((rows_of_all * inverse) @ rows_of_all.T, before, after, np.concatenate(impulse), e, mu)


def _motions(event: Event, still: float) -> list[Array]:
    """Rates and slips (2 n,) after the impact, by every law; none where one of them does not say."""
    n = len(event.e)
    if n > (MOST if event.mu.any() else MOST_SMOOTH) or event.before[::2].min() > -still:
        return []
    every, found = np.arange(n), list[Array]()
    laws: tuple[ImpactLaw, ...] = (_newton, _poisson)
    for law in laws:
        ways = [law(event, every, event.before), _in_turn(event, law, event.before, still) if n > 1 else None]
        if not all(ways[: 2 if n > 1 else 1]):
            return []
        found += [one for way in ways if way for one in way]
    return found


def _newton(event: Event, of: Indices, u: Array) -> list[Array]:
    """Of the contacts `of` alone, from rates and slips u of all; of several with e lowered until no energy is made."""
    found = _by_newton(event, of, u, 1.0)
    if len(of) == 1 or not any(gains for _, gains in found):
        return [after for after, _ in found]
    low, high, lowered = 0.0, 1.0, list[tuple[Array, bool]]()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        some = _by_newton(event, of, u, middle)
        if len(some) != 1:
            return []
        if some[0][1]:
            high = middle
        else:
            low, lowered = middle, some
    return [after for after, gains in (*lowered, *found) if not gains]


def _by_newton(event: Event, of: Indices, u: Array, factor: float) -> list[tuple[Array, bool]]:
    """Rates and slips after, and whether energy grows."""
    rows = _rows(of)
    moved = u[rows].copy()
    moved[::2] += factor * event.e[of] * np.minimum(0.0, u[::2][of])
    found = []
    for j in _solutions(event.A[np.ix_(rows, rows)], moved, event.mu[of], np.zeros(len(of))):
        after = u + event.A[:, rows] @ j
        found.append((after, bool(j @ (u + after)[rows] > WORK_ERROR * np.abs(j * u[rows]).sum())))
    return found


def _poisson(event: Event, of: Indices, u: Array) -> list[Array]:
    rows, found = _rows(of), list[Array]()
    A, mu = event.A[np.ix_(rows, rows)], event.mu[of]
    for compression in _solutions(A, u[rows], mu, np.zeros(len(of))):
        base = event.e[of] * np.maximum(0.0, compression[::2])
        for restitution in _solutions(A, u[rows] + A @ compression, mu, base):
            found.append(u + event.A[:, rows] @ (compression + restitution))
    return found


def _in_turn(event: Event, law: ImpactLaw, u: Array, still: float, rounds: int = MOST_ROUNDS) -> list[Array]:
    """The fastest contact first, alone, until none approaches; of two that are as fast either. [] where too many."""
    rates = u[::2]
    if rates.min() >= -still:
        return [u]
    first = np.flatnonzero(rates <= (1.0 - ALIKE) * rates.min())
    found = list[Array]()
    for k in first.tolist():
        after = law(event, np.array([k]), u)
        if len(after) != 1 or rounds < len(first):
            return []
        some = _in_turn(event, law, after[0], still, rounds // len(first) - 1)
        if not some:
            return []
        found += some
    return found


def _rows(of: Indices) -> Indices:
    return np.asarray(np.column_stack([2 * of, 2 * of + 1]).ravel())


def _solutions(A: Array, u: Array, mu: Array, base: Array) -> Iterator[Array]:
    """Impulses j (2 n,): j_n >= base, u_n + A j >= 0, one with equality; and Coulomb's law. Each motion once."""
    n, seen = len(mu), list[Array]()
    tolerance = 1e-9 * (float(np.abs(u).max()) + float(np.abs(A).max()) * float(base.max(initial=0.0))) + 1e-14
    modes = [list(product((False, True), (0, 1, -1) if mu[k] else (2,))) for k in range(n)]
    for chosen in product(*modes):
        j = _of_modes(A, u, mu, base, chosen, tolerance)
        if j is not None and not any(np.abs(A @ (j - other)).max() <= 10.0 * tolerance for other in seen):
            seen.append(j)
            yield j


def _of_modes(
    A: Array, u: Array, mu: Array, base: Array, chosen: Sequence[tuple[bool, int]], tolerance: float
) -> Array | None:
    """A mode: does it press more than its base, and 0: sticks, 1 and -1: slides so, 2: has no friction."""
    n = len(mu)
    L, right = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
    for k, (presses, slides) in enumerate(chosen):
        if presses:
            L[2 * k], right[2 * k] = A[2 * k], -u[2 * k]
        else:
            L[2 * k, 2 * k], right[2 * k] = 1.0, base[k]
        if slides == 0:
            L[2 * k + 1], right[2 * k + 1] = A[2 * k + 1], -u[2 * k + 1]
        else:
            L[2 * k + 1, 2 * k + 1], L[2 * k + 1, 2 * k] = 1.0, mu[k] * (slides if slides != 2 else 0.0)
    j = np.linalg.lstsq(L, right, rcond=1e-12)[0]
    if np.abs(L @ j - right).max() > tolerance:
        return None
    after, slack = u + A @ j, tolerance / float(np.diag(A).max())
    for k, (_, slides) in enumerate(chosen):
        bad = after[2 * k] < -tolerance or j[2 * k] < base[k] - slack
        bad = bad or (slides == 0 and abs(j[2 * k + 1]) > mu[k] * j[2 * k] + slack)
        if bad or (slides in (1, -1) and slides * after[2 * k + 1] < -tolerance):
            return None
    return np.asarray(j)
