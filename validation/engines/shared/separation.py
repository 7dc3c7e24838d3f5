"""Where a sweep of separations (`scenarios.native.Probe`) begins, of contacts that reach further than one sweep."""

from collections.abc import Callable

FURTHEST = 0.1  # m, that a sweep may begin beyond where the probe says


def beginning(meets: Callable[[float], bool], length: float) -> float:
    """m, from where the probe says: the first whole number of sweeps of this length, m, at whose end the two are not in
    contact; FURTHEST where they always are. `meets`: whether they are, so far apart, m."""
    begun = 0.0
    while begun + length <= FURTHEST and meets(begun + length):
        begun += length
    return begun
