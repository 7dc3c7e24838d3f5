"""What an engine's documents promise of one step taken in two ways: data, which an adapter declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from validation.records.case import Value

Agreement = Literal["bits", "round-off", "minimum"]
"""How exactly both ways agree. bits: to the last. round-off: the same sums in another order. minimum: of one function,
found by another search, which knows it no better than to the root of the round-off of its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One step in two ways, both with the settings of the case but for these."""

    name: str
    """As a law: "dense and sparse Jacobian agree"."""
    one: Mapping[str, Value]
    other: Mapping[str, Value]
    agree: Agreement
    promise: str
    """What the documents say, in our words, and where."""
    cheap: bool = True
    """Whether it takes no longer than a few steps; others are tried where they are asked for."""


SAME_AGAIN = Relation(
    name="the same step again gives the same bits",
    one={},
    other={},
    agree="bits",
    promise="all that we know of; Upright relies on it",
)
"""Of every engine whose state can be set."""
