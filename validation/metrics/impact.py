"""Impacts, found in every engine's motion alike, from our own gaps and the velocities.

A pair jumps between two consecutive samples where the normal velocity at a near point rises from approach, faster than
1 mm/s, by more than smooth motion explains: by more than

    2 g dt + 1.5 |v_b - v_a| |turn of the normal| + 1.5 sum of (|a| + radius |alpha|) dt + 1 mm/s

with dt the time between the two samples, a the acceleration of each body by springs, thrusters and damping, alpha the
rate of its spin by these and by gyroscopic turning; both velocities are read at the same material points, along the
same normal. Consecutive jumps of one pair are one impact: a soft contact takes several steps to turn an approach
round. Of an engine that samples just before and after an impact, dt = 0, and nothing but the floor of 1 mm/s is
hidden.

Limits. An approach slower than 2 g dt (8 cm/s at 1/240 s) looks like a contact that takes up weight. Impacts of
one pair in adjoining intervals, as of two corners of a block that lands nearly flat, are one. In space a pair shows one
point at a time; a corner that swings down beside one at rest is found by the sample after it lands. What turns a body
round beside another without contact, a joint or a third body with more than 2 g, looks like an impact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.dense import cross, mul, norm, roots
from reference_engine.elementary import squared
from validation.metrics.axes import to_body_axes
from validation.metrics.flight import applied_wrenches, flight, outer_acceleration, outer_spin_rate
from validation.metrics.metric import Metric, Sentence
from validation.metrics.observation import Array, Observation, bounding_radius, free, free_inertia, length, shared
from validation.metrics.proximity import normal_moment, pairs, proximities, rates
from validation.records.trajectory import PlanarTrajectory

IMPACT_SPEED = 1e-3  # m/s: slower approaches are none
SMOOTH_WEIGHT = 2.0  # times g dt: a contact that takes up the weight changes v by g dt
SMOOTH_MOTION = 1.5  # times what rolling along a curve, applied forces and gyroscopic spin rates change to first order
NEW_FEATURE = 0.2  # a normal that turns by more (rad) has changed its feature


class Impacts(NamedTuple):
    """E impacts in order of time."""

    a: NDArray[np.int64]  # (E,) bodies, then boundaries; a < b
    b: NDArray[np.int64]  # (E,)
    interval: NDArray[np.int64]  # (E,) k: between samples k and k + 1, where it begins


@shared
def impacts(o: Observation) -> Impacts:
    """By the definition above."""
    near, rate = proximities(o), rates(o)
    members = len(o.scene.bodies) + len(o.scene.boundaries)
    pair = near.a * members + near.b
    samples = len(o.time)
    intervals = []
    # each interval is looked at with the points of the sample before it, and with those of the sample after it
    for side, (v_minus, v_plus) in enumerate(((rate.now, rate.after), (rate.before, rate.now))):
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero((v_minus < -IMPACT_SPEED) & (v_plus - v_minus > IMPACT_SPEED))
        interval = near.sample[rows] - side
        rise = v_plus[rows] - v_minus[rows]
        is_jump = rise > IMPACT_SPEED + smooth_rise(o, pair, rows, interval, near.sample[rows] + 1 - 2 * side)
        intervals.append(pair[rows[is_jump]] * samples + interval[is_jump])
    jumps = np.unique(np.concatenate(intervals))
    first = np.flatnonzero(np.diff(jumps, prepend=-2) > 1)  # a pair's last interval never adjoins the next pair's first
    pair, interval = np.divmod(jumps[first], samples)
    order = np.argsort(interval, kind="stable")
    a, b = np.divmod(pair[order], members)
    return Impacts(a, b, interval[order])


def smooth_rise(
    o: Observation,
    pair: NDArray[np.int64],
    rows: NDArray[np.int64],
    interval: NDArray[np.int64],
    other: NDArray[np.int64],
) -> Array:
    """(rows,) m/s: by how much the normal velocity may rise over the interval without an impact.

    `other`: the sample at the far end of the interval; a pair that is not near there shows no turn. Of several points
    of the pair there the one counts whose normal has turned least: others are other features.
    """
    near = proximities(o)
    members = len(o.scene.bodies) + len(o.scene.boundaries)
    keys = near.sample * squared(members) + pair
    wanted = other * squared(members) + pair[rows]
    turn = np.full(len(rows), np.inf)
    first, end = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    for k in range(int((end - first).max(initial=0))):
        there = np.minimum(first + k, np.maximum(end - 1, first)) % max(len(keys), 1)
        turned = length(near.normal[there] - near.normal[rows])
        turn = np.where((first + k < end) & (turned < turn), turned, turn)
    turn = np.where(turn < NEW_FEATURE, turn, 0.0)
    velocity = np.zeros((len(rows), near.normal.shape[1]))
    applied = np.zeros(len(rows))
    for sign, body in ((1.0, near.b[rows]), (-1.0, near.a[rows])):
        moves = body < len(o.scene.bodies)
        at = other[moves], body[moves]
        velocity[moves] += sign * o.trajectory.velocity[at]
        applied[moves] += applied_acceleration(o)[at]
    weight = SMOOTH_WEIGHT * float(norm(o.gravity))
    return (weight + SMOOTH_MOTION * applied) * o.interval[interval] + SMOOTH_MOTION * length(velocity) * turn


@shared
def applied_acceleration(o: Observation) -> Array:
    """(S, B) m/s^2: bound on that of any point of a body, by applied forces and gyroscopic turning."""
    accelerated = length(outer_acceleration(o) - np.where(free(o)[:, None], o.gravity, 0.0))
    return accelerated + bounding_radius(o) * (length(outer_spin_rate(o)) + gyroscopic_rate(o))


def gyroscopic_rate(o: Observation) -> Array:
    """(S, B) rad/s^2: |I^-1 (w x I w)|, by which a body that nothing touches changes its spin; 0 in the plane."""
    if isinstance(o.trajectory, PlanarTrajectory):
        return np.zeros(o.trajectory.velocity.shape[:2])
    inertia = free_inertia(o)
    spin = to_body_axes(o.trajectory.orientation, o.trajectory.spin)
    return length(cross(spin, inertia * spin) / np.where(inertia > 0.0, inertia, 1.0))


def impact_count(o: Observation) -> float | None:
    """How many impacts there are, of all pairs; a soft impact that takes several steps counts once."""
    return float(len(impacts(o).interval)) if pairs(o) else None


# --- when --------------------------------------------------------------------------------------------------------


class Moment(NamedTuple):
    time: float  # s
    resolution: float  # s, between the samples around it


def impact_time(o: Observation, a: int, b: int, interval: int) -> Moment:
    """When an impact of the pair happens that begins in this interval.

    The cubic through gap and gap rate at the two samples before it, followed to the end of the interval: its first
    root. An engine that turns the pair round at a positive gap has no root there; its time is that of the jump, in the
    middle of the interval as the velocities have it. Rates are those at the time of the poses, where the pair flies.
    """
    time = o.time
    resolution = float(time[interval + 1] - time[interval])
    k = interval
    while k > 0 and is_deep_in_approach(gap_and_rate(o, a, b, k)):  # a soft contact is noticed after it begins
        k -= 1
    first = k if k < interval else k - 1
    at_first, at_second = (gap_and_rate(o, a, b, s) if s >= 0 else None for s in (first, first + 1))
    if at_first is not None and at_second is not None and at_first[0] > 0.0 and time[first + 1] > time[first]:
        root = hermite_root(float(time[first]), float(time[first + 1]), at_first, at_second)
        if root is not None and root <= time[interval + 1]:
            return Moment(root, resolution)
    return Moment(0.5 * float(time[interval] + time[interval + 1]) + o.trajectory.velocity_lag, resolution)


def is_deep_in_approach(pair: tuple[float, float] | None) -> bool:
    return pair is not None and pair[0] <= 0.0 and pair[1] < 0.0


def gap_and_rate(o: Observation, a: int, b: int, k: int) -> tuple[float, float] | None:
    """(m, m/s) of the pair at sample k, before whatever happens to it there; None where it is not near."""
    near = proximities(o)
    low, high = np.searchsorted(near.sample, (k, k + 1))
    of_pair = low + np.flatnonzero((near.a[low:high] == a) & (near.b[low:high] == b))
    if not of_pair.size:
        return None
    row = of_pair[np.argmin(near.gap[of_pair])]
    rate = float(rates(o).now[row])
    lag, bodies = o.trajectory.velocity_lag, len(o.scene.bodies)
    for sign, body in ((1.0, b), (-1.0, a)):
        if lag and body < bodies and flight(o).before[k, body]:
            acceleration = np.broadcast_to(outer_acceleration(o), o.trajectory.velocity.shape)[k, body]
            rate -= sign * lag * float(mul(near.normal[row], acceleration))
            if applied_wrenches(o) is not None:
                indices, points = (near.b, near.point_b) if sign > 0.0 else (near.a, near.point_a)
                arm = normal_moment(o, indices, points)[row]
                rate -= sign * lag * float(mul(arm, outer_spin_rate(o)[k, body]))
    return float(near.gap[row]), rate


def hermite_root(t0: float, t1: float, first: tuple[float, float], second: tuple[float, float]) -> float | None:
    """First root after t0, also beyond t1, of the cubic with these values and slopes at t0 and t1."""
    h = t1 - t0
    (y0, m0), (y1, m1) = first, second
    m0, m1 = m0 * h, m1 * h
    found = roots([2.0 * (y0 - y1) + m0 + m1, 3.0 * (y1 - y0) - 2.0 * m0 - m1, m0, y0])
    real = [z.real for z in found if z.real > 0.0 and abs(z.imag) < 1e-9 * (1.0 + z.real)]
    return t0 + h * min(real) if real else None


def bounce_time(o: Observation) -> float | None:
    """For how long a bounce stays in contact by the engine's law, where it has no coefficient of restitution."""
    return o.trajectory.impact_time or None


METRICS = (
    Metric(impact_count, "1", "exact", better="neither", sentence=Sentence("{new} impacts happen")),
    Metric(
        bounce_time, "s", "exact", better="neither",
        sentence=Sentence("a bounce is a spring and a damper, in contact for {new}"),
    ),
)  # fmt: skip
