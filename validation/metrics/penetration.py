"""Penetration and gap of all pairs that may touch, whatever the engine reported.

Where contact is compliant bodies sink in by what presses them: deeper is not worse and shallower not better, the truth
says how deep is right, and a law how deep is too deep.
"""

import math

import numpy as np

from validation.metrics.metric import Metric, Reading, Sentence
from validation.metrics.observation import Array, Observation, shared
from validation.metrics.proximity import near_distance, pairs, proximities


@shared
def deepest(o: Observation) -> Array:
    """(S,) m: penetration = max(0, -gap) of the deepest pair at each sample."""
    near = proximities(o)
    depth = np.zeros(len(o.time))
    np.maximum.at(depth, near.sample, -near.gap)
    return depth + 0.0  # no negative zero


def penetration_max(o: Observation) -> Reading | None:
    """Deepest penetration of any pair at any sample."""
    return reading_of(o, float(deepest(o).max())) if pairs(o) else None


def penetration_mean(o: Observation) -> Reading | None:
    """Mean over time of the deepest penetration of any pair, samples weighted by the time between them."""
    if not pairs(o):
        return None
    depth, span = deepest(o), float(o.time[-1] - o.time[0])
    return reading_of(o, float(np.trapezoid(depth, o.time)) / span if span > 0.0 else float(depth[0]))


def penetration_final(o: Observation) -> Reading | None:
    """Penetration of the deepest pair at the end."""
    return reading_of(o, float(deepest(o)[-1])) if pairs(o) else None


def reading_of(o: Observation, depth: float) -> Reading:
    return Reading(value=depth, better="neither" if o.scene.contact.compliant else None)


def gap_final(o: Observation) -> float | None:
    """Smallest signed gap at the end among the pairs that are near: gap below 0.05 of the smallest body's diameter.

    NaN where no pair is near.
    """
    if not pairs(o):
        return None
    near = proximities(o)
    gap = float(near.gap[near.sample == len(o.time) - 1].min(initial=math.inf))
    return gap if gap < near_distance(o) else math.nan


METRICS = (
    Metric(
        penetration_mean,
        "m",
        "step",
        law="no overlap",
        sentence=Sentence(
            "bodies sink {new} into one another on average", of_subject="{subject} sinks {new} on average"
        ),
    ),
    Metric(
        penetration_max,
        "m",
        "step",
        law="no overlap",
        sentence=Sentence("bodies sink up to {new} into one another", of_subject="{subject} sinks by up to {new}"),
    ),
    Metric(
        penetration_final,
        "m",
        "step",
        law="no overlap",
        sentence=Sentence(
            "at the end bodies are {new} deep in one another", of_subject="at the end {subject} has sunk by {new}"
        ),
    ),
    Metric(
        gap_final,
        "m",
        "step",
        better="neither",
        happens="perhaps",
        sentence=Sentence(
            "at the end the smallest gap is {new}", never="at the end no two bodies are near one another"
        ),
    ),
)
