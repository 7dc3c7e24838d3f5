"""What an engine answers of two shapes against certified bounds of the gap: which answers are wrong, by how much.

An answer is wrong only where it is outside the bounds by more than the engine's own precision, and documented where
what its documents allow covers it. Pure: arrays in, arrays out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.geometry.bounds import Bounds, Extents, gap_along, turns
from validation.engines.queries import CORNER, Query
from validation.judging.policy import SEVERITY
from validation.judging.verdict import Weight
from validation.records.queries import Answers, Poses

Wrong = Literal[
    "not finite", "overlap without contact", "contact without overlap", "normal on the wrong side", "depth too small",
    "depth too large", "distance too large", "distance too small", "not the shortest way out",
    "normal does not separate",
]  # fmt: skip
KINDS: tuple[Wrong, ...] = get_args(Wrong)
"""In order: of an answer that is wrong in several ways the first is counted."""
OF_NORMALS: tuple[Wrong, ...] = ("normal on the wrong side", "not the shortest way out", "normal does not separate")
OPERATIONS = 64.0
"""Roundings of an engine's arithmetic that may add up in a gap, each of the largest number in it: the product of two
rotations, a transformed support point, a difference of two positions, a projection, a handful of each."""
SHORTER = 1.1
"""A way out is not the shortest only from this factor on: of bodies deep in one another many ways are nearly so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Of N poses."""

    kind: Indices  # (N,) index into KINDS, or -1: nothing is wrong, or the engine does not say
    error: Array  # (N,) m, by how much the answer is outside the bounds; infinite where it is not finite, 0 where right
    weight: Indices  # (N,) Weight, of the error on the scale of the thinner body; NEGLIGIBLE is no find
    documented: Flags  # (N,) the engine's documents allow so much

    @property
    def is_find(self) -> Flags:
        """(N,) what a person would call wrong."""
        found: Flags = (self.kind >= 0) & ~self.documented & (self.weight > Weight.NEGLIGIBLE)
        return found


def judged(query: Query, round_off: float, shapes: Sequence[Any], kinds: Sequence[str], poses: Poses,
           answers: Answers, bounds: Bounds) -> Judged:  # fmt: skip
    """`round_off`: the engine's unit; shapes as `reference_engine` has them, and their kinds in scenes."""
    a, b = (Extents(shape) for shape in shapes)
    size, thin = a.outer + b.outer, 2.0 * min(a.inner, b.inner)
    largest = np.abs(poses.position).max(axis=(1, 2)) + size
    precision = OPERATIONS * round_off * largest + bounds.error
    allowed = precision + query.tolerance + query.relative * size
    allowed += sum(CORNER * query.rounding.get(kind, 0.0) for kind in kinds)
    error = _errors(query, poses, answers, bounds, (a, b), precision)
    kind = np.where((error > 0.0).any(axis=0), (error > 0.0).argmax(axis=0), -1)
    size_of = np.where(kind >= 0, error[kind, np.arange(len(kind))], 0.0)
    documented = (kind >= 0) & (size_of <= allowed - precision)
    smallest, largest_body = 2.0 * min(a.outer, b.outer), 2.0 * max(a.outer, b.outer)
    if smallest < query.sizes[0] or largest_body > query.sizes[1]:
        documented = kind >= 0
    # Within what gaps may be off by, nobody says which way the normal of two bodies in contact points.
    of_normals = np.isin(kind, [KINDS.index(name) for name in OF_NORMALS])
    documented |= of_normals & (np.minimum(np.abs(bounds.lower), np.abs(bounds.upper)) <= allowed)
    limits, share = SEVERITY["width"], size_of / thin
    weight = (share >= limits.visible).astype(np.int64) + (share >= limits.gross)
    return Judged(kind=kind, error=size_of, weight=weight, documented=documented)


def _errors(
    query: Query, poses: Poses, answers: Answers, bounds: Bounds, extents: tuple[Extents, Extents], slack: Array
) -> Array:
    """(K, N) m: by how much more than `slack` an answer is wrong in each of KINDS; 0: it is not."""
    contact, gap, lower, upper = answers.contact, answers.gap, bounds.lower, bounds.upper
    found: dict[str, Array] = {name: np.zeros(len(contact)) for name in KINDS}
    answers_gap, answers_depth = "gap" in query.answers, bool({"gap", "depth"} & query.answers)
    asked = np.ones_like(contact) if answers_gap else contact if answers_depth else np.zeros_like(contact)
    if "distance" in query.answers:
        asked = asked | ~contact
    apart = lower > 0.0
    measures = bool({"gap", "distance"} & query.answers)  # contacts of bodies apart need not be their nearest points

    broken = (asked & ~np.isfinite(gap)) | np.isinf(answers.normal).any(axis=1)
    found["not finite"] = np.where(broken, np.inf, 0.0)
    number = np.where(asked & ~broken, gap, np.nan)
    with np.errstate(invalid="ignore"):
        separate = np.where(asked, number > slack, ~contact)
        in_contact = np.where(asked, number <= 0.0, contact)
        found["overlap without contact"] = np.where(separate & bounds.overlaps, -upper - slack, 0.0)
        beyond = lower - slack - np.where(asked, 0.0, query.margin)
        found["contact without overlap"] = np.where(in_contact & apart, beyond, 0.0)
        deep = bounds.overlaps & in_contact
        found["depth too small"] = np.where(deep, number - upper - slack, 0.0)
        found["distance too large"] = np.where(apart & measures, number - upper - slack, 0.0)
        found["distance too small"] = np.where(apart & (number > 0.0), lower - number - slack, 0.0)
    if "normal" in query.answers:
        found |= _of_normals(poses, answers, bounds, extents, slack, number)
        if not measures:
            found["normal does not separate"][:] = 0.0
    else:
        with np.errstate(invalid="ignore"):
            found["depth too large"] = np.where(deep, lower - number - slack, 0.0)
    return np.nan_to_num(np.maximum(np.array([found[name] for name in KINDS]), 0.0), nan=0.0, posinf=np.inf)


def _of_normals(
    poses: Poses, answers: Answers, bounds: Bounds, extents: tuple[Extents, Extents], slack: Array, number: Array
) -> dict[str, Array]:
    """Along the engine's own normal n bodies are g(n) apart: so much and no less parts them, and -n is the other side.

    A depth larger than that along its own normal is wrong. One that is right, but longer than the shortest way out, is
    another kind: some engines document another normal.
    """
    length = np.sqrt((answers.normal**2).sum(axis=1))
    usable = np.isfinite(length) & (length > 0.5)
    n = np.where(usable[:, None], answers.normal / np.where(usable, length, 1.0)[:, None], bounds.normal)
    turn = turns(poses.orientation[:, 0]), turns(poses.orientation[:, 1])
    apart = poses.position[:, 1] - poses.position[:, 0]
    own, other = (gap_along(*extents, turn, apart, side * n) for side in (1.0, -1.0))
    # A normal of single precision is aslant by its round-off; so much of a lever arm is in `slack`.
    with np.errstate(invalid="ignore"):
        deep = bounds.overlaps & (answers.contact | (number < 0.0))
        given = usable & (answers.contact | np.isfinite(number))
        flipped = given & (other > own) & ((bounds.lower > 0.0) | (-other <= SHORTER * -bounds.lower))
        wrong_side = np.where(flipped, other - own - slack, 0.0)
        too_deep = np.where(deep, np.minimum(own, bounds.lower) - number - slack, 0.0)
        longer = np.where(deep & usable & (-own > SHORTER * -bounds.lower), bounds.lower - own - slack, 0.0)
        aslant = np.where(usable & (bounds.lower > slack) & (number > 0.0), bounds.lower - own - slack, 0.0)
    return {
        "normal on the wrong side": wrong_side,
        "depth too large": too_deep,
        "not the shortest way out": longer,
        "normal does not separate": aslant,
    }
