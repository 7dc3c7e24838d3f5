"""What happened on two sides, and which sign that gives a change, before any number.

Where perturbed initial states disagree, one run decides nothing: the starts are counted in which it happened.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from scenarios import mass
from scenarios.scene import Scene
from validation.judging.policy import FALSE_DISCOVERIES
from validation.records.case import Result
from validation.records.outcome import OPPOSITE, Outcome


class What(NamedTuple):
    """Bodies of which something is wrong are counted together, and those of which it is right; what nothing calls right
    or wrong, body by body."""

    kind: str
    wrong: bool
    body: str = ""
    right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """In an ensemble: of how many bodies it is true in each start that completed."""

    what: What
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasted:
    """In two ensembles of which the starts do not all agree: in how many starts it happened."""

    what: What
    old: int
    new: int
    sizes: tuple[int, int]  # starts that completed
    p: float  # that ensembles of one behaviour differ so much
    more: bool  # often on the new side than on the old one

    @property
    def certain(self) -> bool:
        return self.p < FALSE_DISCOVERIES


def counted(outcomes: Iterable[Outcome]) -> Counter[What]:
    found = Counter[What]()
    for one in outcomes:
        for body in one.bodies or ("",):
            if one.right is False:
                found[What(one.kind, True)] += 1
            elif one.right is None:
                found[What(one.kind, False, body)] += 1
            else:
                found[What(one.kind, False, right=True)] += 1
    return found


def is_clear(what: What, gone: Container[What]) -> bool:
    """Whether it is no fact that is wrong, or what is right is `gone` for it: a body that is a little further than one
    that has *moved*, where it was a little less before, has not changed."""
    turned = What(OPPOSITE[what.kind], False, right=True) if what.kind in OPPOSITE else None
    return turned is None or not what.wrong or turned in gone


def decided(contrasted: Sequence[Contrasted]) -> tuple[Contrasted, ...]:
    """Of what is right and wrong in two ensembles what decides: what is not clear is left open."""
    gone = {more: {one.what for one in contrasted if one.certain and one.more is not more} for more in (True, False)}
    return tuple(
        one if is_clear(one.what, gone[one.more]) else replace(one, p=1.0) for one in contrasted if not one.what.right
    )


def counts_of(starts: Iterable[Iterable[Outcome]]) -> tuple[Counts, ...]:
    each = [counted(outcomes) for outcomes in starts]
    every = dict.fromkeys(what for one in each for what in one)
    return tuple(Counts(what=what, counts=tuple(one[what] for one in each)) for what in every)


def of_outcomes(
    old: Result, new: Result, ensembles: Sequence[Contrasted] = ()
) -> Literal["worse", "better", "mixed", "different"] | None:
    """By what went wrong, before any number: each kind counted; None where both sides have as much of each, or of one
    it is not known what happened.

    What `ensembles` name is decided by their starts, the rest by the single runs: there all starts agree.
    """
    if old.outcomes is None or new.outcomes is None:
        return None
    before, after = counted(old.outcomes), counted(new.outcomes)
    risen = {what for what in after if after[what] > before[what]}
    fallen = {what for what in before if before[what] > after[what]}
    more, fewer = ({w for w in side if is_clear(w, other)} for side, other in ((risen, fallen), (fallen, risen)))
    for one in ensembles:
        for found, it_is in ((more, one.more), (fewer, not one.more)):
            found.discard(one.what)
            if one.certain and it_is:
                found.add(one.what)
    worse, better = (any(what.wrong for what in found) for found in (more, fewer))
    if worse or better:
        return "mixed" if worse and better else "worse" if worse else "better"
    turned = {what._replace(kind=OPPOSITE[what.kind]) for what in fewer} & more
    return "different" if turned else None


def on_one_side(
    old: Result | None, new: Result, ensembles: Sequence[Contrasted] = ()
) -> tuple[tuple[Outcome, ...], tuple[Outcome, ...]]:
    """What happened in the new one only, and in the old one only, of what is wrong, or turned into its opposite where
    nothing says which is right; not what the starts of an ensemble leave open. Nothing where one is not known."""
    if old is None or old.outcomes is None or new.outcomes is None:
        return (), ()
    open_to_doubt = {one.what for one in ensembles if not one.certain}

    def only(here: Sequence[Outcome], there: Sequence[Outcome]) -> tuple[Outcome, ...]:
        known = {(one.kind, one.bodies) for one in there}
        facts = {(one.kind, body) for one in there for body in one.bodies or ("",)}
        found = []
        for one in here:
            if one.kind not in OPPOSITE:
                found += [one] if (one.kind, one.bodies) not in known else []
            elif one.right is not True:
                turned = [body for body in one.bodies or ("",) if (OPPOSITE[one.kind], body) in facts]
                found += [replace(one, bodies=tuple(turned) if one.bodies else ())] if turned else []
        return tuple(one for one in found if not open_to_doubt.intersection(counted([one])))

    return only(new.outcomes, old.outcomes), only(old.outcomes, new.outcomes)


def ends_elsewhere(scene: Scene, old: Result, new: Result) -> bool:
    """Whether a free body ends further from where it ended on the other side than its diameter: nobody overlooks that.
    False where a motion is not at hand."""
    if old.trajectory is None or new.trajectory is None:
        return False
    way = new.trajectory.position[-1] - old.trajectory.position[-1]
    apart = np.sqrt(np.einsum("bi,bi->b", way, way))
    size = np.array([2.0 * mass.bounding_radius(body.shape) for body in scene.bodies])
    return bool(((apart > size) & [not body.fixed for body in scene.bodies]).any())
