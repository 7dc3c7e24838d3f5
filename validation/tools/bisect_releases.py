"""Which release of an engine changed a scenario: the releases between two are halved.

Each runs in an environment of its own and is compared with the older end. What counts is what the newer end shows
against it: worse, better, merely different, or only other bits. What cannot be installed, run or compared is left out
and named.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from validation.engines import EngineChoice, distribution_of, engine_of
from validation.judging.comparison import Comparison, Sign
from validation.report.comparison import ORDER
from validation.report.versions import what_changed
from validation.running.options import RunError
from validation.running.package_index import must_have
from validation.running.versions import LackingError, Releases, releases_of, version_of
from validation.tools.bisect import Notify

RANGE = re.compile(r"(?P<name>[^=@:]+)==(?P<good>[^=@:]+?)\.\.(?P<bad>[^=@:]+)(?P<tail>[@:].*)?")
LIKE: dict[Sign, tuple[Sign, ...]] = {
    "worse": ("worse", "mixed"),
    "mixed": ("worse", "mixed"),
    "better": ("better", "mixed"),
    "different": ("worse", "mixed", "better", "different"),
}
"""What a release has to be, against the older end, to have what the newer end has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    old: EngineChoice  # the newest release that is as the older end
    new: EngineChoice  # the oldest that is as the newer end
    left_out: Sequence[str]  # releases between them that could not be run
    comparisons: Sequence[Comparison]  # of these two


def is_range(word: str) -> bool:
    """ENGINE==GOOD..BAD, and not a commit."""
    return RANGE.fullmatch(word) is not None


def releases_between(word: str) -> list[EngineChoice]:
    """From GOOD to BAD of ENGINE==GOOD..BAD, the oldest first; profile and settings may follow.

    Raises EngineNameError, RunError, BuildError.
    """
    found = RANGE.fullmatch(word)
    assert found is not None
    choice = engine_of(f"{found['name']}=={found['good']}{found['tail'] or ''}")
    if (name := distribution_of(choice)) is None:
        raise RunError(f"engine {choice.name!r}: no distribution has it, so there are no releases of it")
    good, bad = version_of(found["good"]), version_of(found["bad"])
    for wanted in (good, bad):
        must_have(name, str(wanted))
    if not good < bad:
        raise RunError(f"{word}: {good} is not older than {bad}; give the older release first")
    return releases_of(replace(choice, version=None), good, bad)


def search(
    opened: Releases, choices: Sequence[EngineChoice], metric: str, notify: Notify, *, bits: bool = False
) -> Found:
    """Raises RunError where an end cannot be run, or both are alike."""
    good, bad = choices[0], choices[-1]
    for end in (good, bad):
        opened.cells(end)
    opened.prepare([choices[(len(choices) - 1) // 2]])
    is_changed = _question(opened.compared(good, bad), metric.replace(" ", "_"), bits=bits)
    low, high, left_out = 0, len(choices) - 1, dict[int, str]()
    while untried := [i for i in range(low + 1, high) if i not in left_out]:
        middle = untried[(len(untried) - 1) // 2]
        choice = choices[middle]
        try:
            found = opened.compared(good, choice)
            if all(one.sign in ("not compared", "declined") for one in found):
                raise LackingError(f"{found[0].sign}: {found[0].new.reason}")
        except LackingError as error:
            left_out[middle] = choice.version or ""
            notify(f"{choice.version}: left out, {error}")
            continue
        changed = is_changed(found)
        low, high = (low, middle) if changed else (middle, high)
        moved = "changed" if changed else "unchanged"
        notify(f"{choice.version}: {moved} against {good.version}, {_described(found)}")
        opened.let_go(choice)
    between = [version for i, version in sorted(left_out.items()) if low < i < high]
    old, new = choices[low], choices[high]
    return Found(old=old, new=new, left_out=between, comparisons=opened.compared(old, new))


def _question(ends: Sequence[Comparison], metric: str, *, bits: bool) -> Callable[[Sequence[Comparison]], bool]:
    """Whether a release has what the newer end has against the older one."""
    if metric:
        moves = {s.change.metric: s.change.move for one in ends for s in one.changes}
        if metric not in moves:
            known = ", ".join(sorted(moves)) or "none"
            raise RunError(f"--metric: {metric!r} does not move between the two releases (moved: {known})")
        wanted = metric, moves[metric]
        return lambda found: any(wanted == (s.change.metric, s.change.move) for one in found for s in one.changes)
    sign = min((one.sign for one in ends), key=ORDER.index)
    if bits or sign == "same":
        if all(one.identical for one in ends):
            raise RunError("both releases move with the same bits: there is nothing to find")
        return lambda found: not all(one.identical for one in found)
    if sign not in LIKE:
        raise RunError(f"the two releases are {sign}: {ends[0].new.reason or ends[0].old.reason}")
    return lambda found: any(one.sign in LIKE[sign] for one in found)


def _described(found: Sequence[Comparison]) -> str:
    one = min(found, key=lambda one: ORDER.index(one.sign))
    identical = " to the last bit" if all(one.identical for one in found) else ""
    what = what_changed(one)
    return f"{one.sign}{identical}" + (f": {what}" if what else "")
