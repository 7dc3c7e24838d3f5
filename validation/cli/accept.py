"""upright accept"""

from __future__ import annotations

from datetime import UTC, datetime

import click

from validation.cli.words import database_option, selection_options, user_name


@click.command()
@selection_options
@click.option("--reason", required=True, help="Why these measurements are right, for whoever asks later.")
@click.option("--run", "run", type=int, default=None, help="Which run.  [default: the latest finished one]")
@click.option("--who", default=user_name, help="Who accepts.  [default: $UPRIGHT_USER, else your login]")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), default=None, help="Accept until that day only.")
@database_option
def command(
    scenarios: tuple[str, ...],
    engines: tuple[str, ...],
    reason: str,
    run: int | None,
    who: str,
    until: datetime | None,
    database: str,
) -> None:
    """Make a run's measurements the baseline that `check` compares with.

    All of the run, or only the SCENARIOs and engines named. The history of baselines is kept; a later accept
    replaces, never erases.

    \b
    upright accept --reason "first look"
    upright accept stack:n=10 --engine pymunk --run 12 --reason "iterations lowered on purpose, see #31"
    """
    from scenarios.catalogue import scenario_of
    from validation.engines import engine_of
    from validation.store import open_store

    if not reason.strip():
        raise click.UsageError("--reason: '' is empty; say why these measurements are right")
    labels = {scenario_of(word).label for word in scenarios}
    chosen = {engine_of(word).label for word in engines}
    with open_store(database) as store:
        number = run if run is not None else store.latest_run()
        if number is None:
            raise click.ClickException(f"no run is stored in {database}; run something first: upright run")
        day = until.replace(tzinfo=UTC) if until else None
        count = store.accept(number, who=who, reason=reason, scenarios=labels, engines=chosen, until=day)
    if not count:
        raise click.ClickException(f"run {number} has no case of these; nothing was accepted")
    cases = "1 case" if count == 1 else f"{count} cases"
    click.echo(f"accepted {cases} of run {number}: {reason}   ({who})   Next: upright check")
