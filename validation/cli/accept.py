"""upright accept"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from validation.cli import arguments

if TYPE_CHECKING:
    from validation.records.case import Case, Result
    from validation.running.selection import Selection


@click.command()
@arguments.selection_options
@click.option("--reason", required=True, help="Why these measurements are right, for whoever asks later.")
@arguments.run_option
@arguments.who_option
@click.option("--group", default="", metavar="KEY", help="Only the cases of this group (upright regressions).")
@arguments.until_option
@arguments.database_option
def command(
    scenarios: tuple[str, ...],
    engines: tuple[str, ...],
    reason: str,
    run: int | None,
    who: str,
    group: str,
    until: datetime | None,
    database: str,
) -> None:
    """Make a run's measurements the baseline that `check` compares with.

    All of the run, or only the SCENARIOs and engines named. The history of baselines is kept; a later accept
    replaces, never erases.

    \b
    upright accept --reason "first look"
    upright accept stack:n=10 --engine pymunk --run 12 --reason "iterations lowered on purpose, see #31"
    upright accept --group 3f2a91 --reason "the new solver"
    """
    from validation.records.quantities import counted
    from validation.report.hints import rerun_arguments
    from validation.running.selection import selection_of
    from validation.store import open_store

    if not reason.strip():
        raise click.UsageError("--reason: '' is empty; say why these measurements are right")
    if group and (scenarios or engines):
        raise click.UsageError("--group: names its cases itself; leave SCENARIO and --engine out")
    expires = until.replace(tzinfo=UTC) if until else None
    if until and expires and expires <= datetime.now(UTC):
        raise click.UsageError(f"--until: {until:%Y-%m-%d} has begun; allowed: a later day")
    with open_store(database) as store:
        number = arguments.run_asked_for(store, run, database, first="upright run")
        selection = selection_of(store, scenarios, engines)
        require_all(selection, number, store.cases(number))
        chosen = [result for result in store.results(number) if result.case in selection]
        if group:
            found = store.group(number, group)
            members = {member.number for member in found.members}
            chosen = [result for result in chosen if result.number in members]
            if not chosen:
                raise click.ClickException(f"--group: nothing of {found.key} is in run {number}; nothing was accepted")
        if engines or group:
            require_one_each(chosen)
        numbers = store.accept(
            number,
            who=who,
            reason=reason,
            cases=[result.number for result in chosen],
            scope=f"group {found.key}: {found.kind} on {found.engine} since {found.since}" if group else str(selection),
            until=expires,
        )
        edited = store.run(number).info.dirty
        in_effect = {baseline.result.number for baseline in store.baselines_of(number).values()}
    accepted = [result.case for result in chosen if result.number in numbers]
    rest = len(chosen) - len(accepted)
    others = f"; {rest} with settings of their own left out, name one by --engine to accept it instead" if rest else ""
    if without_effect := len(set(numbers) - in_effect):
        others += f"; {without_effect} of them change nothing: a later commit's baseline stays in effect (upright undo)"
    if edited:
        others += "; it had uncommitted edits and stands for no commit, so no pull request is compared with it"
    check = " ".join(filter(None, ("upright check", rerun_arguments(accepted))))
    check += arguments.database_arguments(database)
    click.echo(f"accepted {counted(len(accepted), 'case')} of run {number}: {reason}   ({who}){others}   Next: {check}")


def require_all(selection: Selection, run: int, cases: Sequence[Case]) -> None:
    """Raises ClickException where something is named that the run does not have."""
    from validation.records.names import engine_token

    lacking = selection.lacking(cases)
    if lacking:
        asked = {scenario.name for scenario in selection.scenarios}
        near = [case for case in cases if case.identity.scenario in asked] or cases
        has = [f"{case.label} × {engine_token(case)}" for case in near]
        more = f" and {len(lacking) - 1} more of those named" if len(lacking) > 1 else ""
        raise click.ClickException(
            f"run {run} has no {lacking[0]}{more} (it has: {', '.join(has[:3])}{', ...' if has[3:] else ''}); "
            "nothing was accepted"
        )


def require_one_each(chosen: Sequence[Result]) -> None:
    """Raises ClickException where two engines that were named share a baseline."""
    first: dict[str, Case] = {}
    for result in chosen:
        other = first.setdefault(result.case.identity.key, result.case)
        if other is not result.case:
            raise click.ClickException(
                f"{other.label}: {other.engine_label} and {result.case.engine_label} share one baseline; name one of "
                "them, or run them --as cases of their own; nothing was accepted"
            )
