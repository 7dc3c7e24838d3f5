"""Facts about the free bodies of a model: whether they stay on what they stood on, and in what held them.

Of the start: a member supports a body that is in contact with it and lies over it, by the normal. What nothing
supports is held where it is in contact with two others from opposite sides: fingers, jaws, a clamp. Of the end: how far
it is from them. Gaps are our own, and limits those of `facts`: who is a hundredth of a diameter away is there, who is a
twentieth away is not.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from reference_engine.dense import mul, norm
from scenarios.native import Native
from validation.metrics.internals import is_swept
from validation.metrics.observation import Array, Observation, bounding_radius
from validation.metrics.proximity import proximities_within
from validation.records.outcome import Fact, Outcome
from validation.records.trajectory import with_samples

AWAY, THERE = 0.05, 0.01  # of the body's diameter
OVER = 0.5  # cosine from upright: a steeper normal is no support
OPPOSED = -0.5  # cosine between the normals of two that hold


class Near(NamedTuple):
    """What is near a body in a sample."""

    member: int
    gap: float  # m
    normal: Array  # from it to the body


def support_facts(o: Observation) -> Iterator[Outcome]:
    """Of models alone: of scenes of ours, truths and statics say what should happen."""
    native: Native | None = getattr(o.scene, "native", None)
    if native is None or not native.free or is_swept(o) or len(o.time) < 2:
        return
    found: dict[Fact, list[str]] = {}
    ends = _at_ends(o)
    for i, body in enumerate(o.scene.bodies):
        if body.name in native.free and (kind := _became(o, ends, i)) is not None:
            found.setdefault(kind, []).append(body.name)
    for kind, names in found.items():
        yield Outcome(kind=kind, bodies=tuple(names))


def _became(o: Observation, ends: tuple[dict[int, list[Near]], ...], i: int) -> Fact | None:
    """None of what neither stands nor is held at the start, and of what is between two words at the end."""
    across = 2.0 * float(bounding_radius(o)[i])
    first, last = ([one for one in end.get(i, ()) if one.gap <= AWAY * across] for end in ends)
    begun = [one for one in first if one.gap <= THERE * across]
    g = float(norm(o.gravity))
    below = {one.member for one in begun if g > 0.0 and float(mul(one.normal, -o.gravity)) > OVER * g}
    around = set() if below else _clamping(begun)
    if not below and not around:
        return None
    gaps = sorted(min((n.gap for n in last if n.member == k), default=np.inf) for k in below or around)
    gap = gaps[0] if below else gaps[1]  # it takes two to hold
    if gap > AWAY * across:
        return "left its support" if below else "was dropped"
    if gap <= THERE * across:
        return "kept its support" if below else "was held"
    return None


def _clamping(begun: list[Near]) -> set[int]:
    """Two or more members, each with another on the opposite side."""
    return {
        one.member
        for one in begun
        if any(one.member != other.member and float(mul(one.normal, other.normal)) < OPPOSED for other in begun)
    }


def _at_ends(o: Observation) -> tuple[dict[int, list[Near]], ...]:
    """Of the first sample and of the last, by body."""
    rows = np.array([0, len(o.time) - 1])
    state = {name: getattr(o.trajectory, name)[rows] for name in o.trajectory.STATE}
    both = Observation(scenario=o.scenario, trajectory=with_samples(o.trajectory, o.time[rows], state))
    near = proximities_within(both, AWAY * 2.0 * float(bounding_radius(o).max()))
    found: tuple[dict[int, list[Near]], ...] = ({}, {})
    columns = (near.sample.tolist(), near.a.tolist(), near.b.tolist(), near.gap.tolist(), near.normal)
    for sample, a, b, gap, normal in zip(*columns):
        found[sample].setdefault(b, []).append(Near(a, gap, normal))
        found[sample].setdefault(a, []).append(Near(b, gap, -normal))
    return found
