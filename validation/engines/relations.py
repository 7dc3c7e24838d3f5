"""What an engine's documents promise of two ways to simulate one motion: data, which an adapter declares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from validation.records.case import Value

Agreement = Literal["bits", "round-off", "minimum", "first order"]
"""How exactly both ways agree. bits: to the last. round-off: the same sums in another order. minimum: of one function,
found by another search, which knows it no better than to the root of the round-off of its value. first order: as two
time steps of a method of first order do."""

Change = Literal[
    "run again",
    "run after another scene",
    "turned",
    "mirrored",
    "moved",
    "reordered",
    "scaled in length",
    "scaled in time",
    "scaled in mass",
    "boosted",
    "joined by a body far away",
    "split in two",
    "run at half the step",
]
"""How the scene of the other way is changed (`validation.tools.fuzzing.twins`)."""
NAMES: Mapping[Change, str] = {
    "run again": "the same scene again gives the same bits",
    "run after another scene": "what a process has simulated before changes no bit",
    "turned": "a turned scene moves alike",
    "mirrored": "a mirrored scene moves alike",
    "moved": "a scene elsewhere moves alike",
    "reordered": "the order of bodies changes nothing",
    "scaled in length": "a scene in another unit of length moves alike",
    "scaled in time": "a scene in another unit of time moves alike",
    "scaled in mass": "a scene in another unit of mass moves alike",
    "boosted": "a scene seen from a moving frame moves alike",
    "joined by a body far away": "a body far away changes nothing",
    "split in two": "a run goes on from its own state as it would have gone on",
    "run at half the step": "half the step moves alike",
}
"""As laws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One motion in two ways, both with the settings of the case but for these."""

    name: str
    """As a law: "dense and sparse Jacobian agree"."""
    one: Mapping[str, Value] = field(default_factory=dict)
    other: Mapping[str, Value] = field(default_factory=dict)
    agree: Agreement
    promise: str
    """What the documents say, in our words, and where."""
    cheap: bool = True
    """Whether it takes no longer than a few steps; others are tried where they are asked for."""
    change: Change | None = None
    """None: the scene is the same, and a step from one state is compared; else motions are, by fuzzing."""
    feature: str = ""
    """That a scene has to have (`scenarios.scene.features`), for it is promised of such scenes only; "": of all."""
    without: str = ""
    """A feature that a scene must not have."""


NONE: Mapping[str, Value] = {}


def unchanged_when(
    *changes: Change,
    agree: Agreement,
    promise: str,
    feature: str = "",
    without: str = "",
    settings: Mapping[str, Value] = NONE,
) -> tuple[Relation, ...]:
    """A relation for each change, with these settings both ways."""
    return tuple(
        Relation(
            name=NAMES[change],
            one=settings,
            other=settings,
            agree=agree,
            promise=promise,
            change=change,
            feature=feature,
            without=without,
        )
        for change in changes
    )


def repeats(promise: str, settings: Mapping[str, Value] = NONE) -> tuple[Relation, ...]:
    """The same scene gives the same bits, whatever its process has simulated before."""
    return unchanged_when("run again", "run after another scene", agree="bits", promise=promise, settings=settings)


SAME_AGAIN = Relation(
    name="the same step again gives the same bits",
    agree="bits",
    promise="all that we know of; Upright relies on it",
)
"""Of every engine whose state can be set."""
