"""What happened in a motion, in the words that a person would use first. Data; sentences are made in `report`."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Fault = Literal["went through", "left", "came apart", "blew up", "hangs", "stopped", "keeps moving", "bounced"]
"""Always wrong, whatever the scene. went through: a body, of a body or boundary that should have held it. left: of a
body, its closed container. came apart: of two bodies at a joint. blew up: more energy came from nowhere than the scene
has. hangs: held by nothing against gravity. stopped: should go on to the end by its exact
motion, and hardly moves. keeps moving: lies where friction must stop it, and does not slow down. bounced: another
number of times, `value`, than by its exact motion, `wanted`."""

Fact = Literal[
    "moved",
    "never moved",
    "fell over",
    "stood",
    "came to rest",
    "never rested",
    "left its support",
    "kept its support",
    "was dropped",
    "was held",
]
"""Right or wrong only against what should happen. All but rest name the bodies; what is between two words, a little
out of its place, a little aslant or almost at rest, has neither. The last four are of models of a user's own."""

OPPOSITE: dict[str, str] = {
    "moved": "never moved",
    "never moved": "moved",
    "fell over": "stood",
    "stood": "fell over",
    "came to rest": "never rested",
    "never rested": "came to rest",
    "left its support": "kept its support",
    "kept its support": "left its support",
    "was dropped": "was held",
    "was held": "was dropped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    kind: Fault | Fact
    bodies: tuple[str, ...] = ()  # and boundaries; of a joint the two that it joins; (): all of the scene
    right: bool | None = None  # against what should happen; None: nothing says
    time: float | None = None  # s, at which it began
    value: float | None = None  # how far, in `unit`
    unit: str = ""
    wanted: float | None = None  # likewise, of what should happen


FIELDS = tuple(field.name for field in fields(Outcome))


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """Of what JSON makes of one."""
    return Outcome(**{**row, "bodies": tuple(row["bodies"])})


def outcomes_to_json(outcomes: Iterable[Outcome]) -> str:
    return json.dumps([{name: getattr(one, name) for name in FIELDS} for one in outcomes])


def outcomes_from_json(text: str | None) -> tuple[Outcome, ...] | None:
    """None: not known. Raises ValueError where it is no list of outcomes."""
    if text is None:
        return None
    try:
        return tuple(map(outcome_of, json.loads(text)))
    except (TypeError, KeyError):
        raise ValueError(f"{text[:60]!r} is no list of outcomes") from None
