"""When bodies collide: which approaches are impacts, and how far to go back for one.

The thresholds are the original's. A slow approach (|u| < velocity tolerance) at a gap inside the distance
tolerance is a contact: contact forces see to it, and it becomes an impact only when it penetrates after
all. A fast one is an impact when its gap is the target gap, give or take the window.
"""

import math

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar.layout import ROUND_OFF, Contacts, Law

Mask = NDArray[np.bool_]


def is_resting(contacts: Contacts, n: int, law: Law) -> Mask:
    gap, speed = contacts.gap[:n], contacts.speed[:n]
    return (gap >= -ROUND_OFF) & (gap < law.distance_tolerance) & (np.abs(speed) < law.velocity_tolerance)


def is_too_far(contacts: Contacts, n: int, law: Law) -> Mask:
    """Time has gone too far: bodies penetrate, or come together fast with less than the window's gap left."""
    gap, speed = contacts.gap[:n], contacts.speed[:n]
    return (gap < -ROUND_OFF) | ((speed < -law.velocity_tolerance) & (gap < law.target_gap - law.window))


def is_impact(contacts: Contacts, n: int, law: Law) -> Mask:
    """A fast approach, at the target gap give or take the window."""
    gap, speed = contacts.gap[:n], contacts.speed[:n]
    return (speed < -law.velocity_tolerance) & (np.abs(gap - law.target_gap) < law.window)


def is_impact_now(contacts: Contacts, n: int, law: Law) -> Mask:
    """Of approaches that are known to go too far, those that are near enough to be resolved where they are."""
    gap, speed = contacts.gap[:n], contacts.speed[:n]
    near = is_resting(contacts, n, law) | (gap < law.target_gap + law.window)
    return (speed < 0.0) & (gap >= -ROUND_OFF) & near


def time_to_gap(target: float, span: float, gap: float, speed: float, gap_later: float, speed_later: float) -> float:
    """First time in (0, span) at which the gap is the target; nan if none is foreseen.

    Constant acceleration, from gap and speed now and the speed at `span`; else a straight line back from
    the later gap.
    """
    a, b, c = (speed_later - speed) / (2.0 * span), speed, gap - target
    discriminant = b * b - 4.0 * a * c
    if discriminant >= 0.0:
        q = -0.5 * (b + math.copysign(math.sqrt(discriminant), b))
        roots = [r for r in (q / a if a else math.nan, c / q if q else math.nan) if 0.0 < r < span]
        if roots:
            return min(roots)
    if speed_later < -1e-3:
        back = span + (target - gap_later) / speed_later
        if 0.0 < back < span:
            return back
    return math.nan
