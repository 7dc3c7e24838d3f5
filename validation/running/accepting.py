"""What `upright accept` does: which cases of a run become baselines, and whether they take effect."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from validation.judging.verdict import Word
from validation.records.case import Case, Result
from validation.records.names import engine_token
from validation.records.simulation import BROKEN
from validation.running.options import RunError
from validation.running.selection import Selection
from validation.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    run: int
    cases: list[Case]
    left_out: int  # of those selected: with settings of their own beside one that is accepted
    without_effect: int  # a later commit's baseline stays in effect
    not_compared: int  # because Upright's own adapter failed
    broken: list[Result]  # left out: what is broken is accepted by itself only
    edited: bool  # the run is of no commit


def accept_selected(
    store: Store,
    run: int,
    selection: Selection,
    group: str,
    kinds: Collection[Word] = (),
    *,
    who: str,
    reason: str,
    until: datetime | None,
    broken: bool = False,
) -> Accepted:
    """Of a run what is selected, or the cases of a group, by the first digits of its key; of these only verdicts of
    some `kinds`, if any are named. What was not compared is left as it was. A broken case is left out, unless it is all
    that is selected, and `broken` says that it is meant.

    Raises RunError where something is named that the run does not have, or two that share a baseline; StoreError.
    """
    _require_all(selection, run, store.cases(run))
    chosen, scope = [result for result in store.results(run) if result.case in selection], str(selection)
    if group:
        found = store.group(run, group)
        members = {member.number for member in found.members}
        chosen = [result for result in chosen if result.number in members]
        scope = f"group {found.key}: {found.kind} on {found.engine} since {found.since}"
        if not chosen:
            raise RunError(f"--group: nothing of {found.key} is in run {run}; nothing was accepted")
    if kinds:
        of_kind = {verdict.case_key for verdict in store.verdicts(run) if verdict.word in kinds}
        chosen = [result for result in chosen if result.key in of_kind]
        scope = f"{scope}, {' or '.join(kinds)}"
        if not chosen:
            raise RunError(f"--kind: nothing in run {run} is {' or '.join(kinds)}; nothing was accepted")
    not_compared = [result for result in chosen if result.outcome == "adapter_failed"]
    chosen = [result for result in chosen if result.outcome != "adapter_failed"]
    if not chosen:
        raise RunError(f"run {run}: {not_compared[0].reason}; that is no result of the engine; nothing was accepted")
    if selection.engines or group:
        _require_one_each(chosen)
    left = [result for result in chosen if result.outcome in BROKEN]
    if len(chosen) > 1 and len(left) < len(chosen):
        chosen = [result for result in chosen if result.outcome not in BROKEN]
    else:
        left = []
    given = [result.number for result in chosen]
    numbers = set(store.accept(run, who=who, reason=reason, cases=given, scope=scope, until=until, broken=broken))
    in_effect = {baseline.result.number for baseline in store.baselines_of(run).values()}
    return Accepted(
        run=run,
        cases=[result.case for result in chosen if result.number in numbers],
        left_out=len(chosen) - len(numbers),
        without_effect=len(numbers - in_effect),
        not_compared=len(not_compared),
        broken=left,
        edited=store.run(run).info.dirty,
    )


def _require_all(selection: Selection, run: int, cases: Sequence[Case]) -> None:
    lacking = selection.lacking(cases)
    if lacking:
        asked = {scenario.name for scenario in selection.scenarios}
        near = [case for case in cases if case.identity.scenario in asked] or cases
        has = [f"{case.label} × {engine_token(case)}" for case in near]
        more = f" and {len(lacking) - 1} more of those named" if len(lacking) > 1 else ""
        raise RunError(
            f"run {run} has no {lacking[0]}{more} (it has: {', '.join(has[:3])}{', ...' if has[3:] else ''}); "
            "nothing was accepted"
        )


def _require_one_each(chosen: Sequence[Result]) -> None:
    first: dict[str, Case] = {}
    for result in chosen:
        other = first.setdefault(result.case.identity.key, result.case)
        if other is not result.case:
            raise RunError(
                f"{other.label}: {other.engine_label} and {result.case.engine_label} share one baseline; name one of "
                "them, or run them --as cases of their own; nothing was accepted"
            )
