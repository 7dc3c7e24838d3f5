"""upright accept"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from validation.cli import arguments

if TYPE_CHECKING:
    from validation.judging.verdict import Word

KINDS: tuple["Word", ...] = ("broken", "defect", "regressed", "mixed", "missing", "different", "improved", "new")


@click.command()
@arguments.selection_options
@click.option("--reason", required=True, help="Why these measurements are right, for whoever asks later.")
@arguments.run_option
@arguments.who_option
@click.option("--group", default="", metavar="KEY", help="Only the cases of this group (upright regressions).")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only the cases with a verdict of this kind; as often as wanted.",
)
@click.option("--broken", is_flag=True, help="The one case that is selected is broken, and that is right.")
@arguments.until_option
@arguments.database_option
def command(
    scenarios: tuple[str, ...],
    engines: tuple[str, ...],
    reason: str,
    run: int | None,
    who: str,
    group: str,
    kinds: tuple["Word", ...],
    broken: bool,
    until: datetime | None,
    database: str,
) -> None:
    """Make a run's measurements the baseline that `check` compares with.

    All of the run, or only the SCENARIOs and engines named. The history of baselines is kept; a later accept
    replaces, never erases. What crashed, hung or blew up is left out: it is accepted by itself, with --broken.

    \b
    upright accept --reason "first look"
    upright accept stack:n=10 --engine pymunk --run 12 --reason "iterations lowered on purpose, see #31"
    upright accept --group 3f2a91 --reason "the new solver"
    upright accept --kind mixed --kind different --reason "the new solver"
    upright accept my_scene.json --engine mine --broken --reason "it cannot do this yet, see #32"
    """
    from validation.report.terminal import accepted_line
    from validation.running.accepting import accept_selected
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
        done = accept_selected(
            store, number, selection, group, kinds, who=who, reason=reason, until=expires, broken=broken
        )
    click.echo(accepted_line(done, who, reason, arguments.database_arguments(database)))
