"""upright mark"""

from datetime import UTC, datetime

import click

from validation.cli import arguments
from validation.review.ledger import MARKS

MARKS_TYPED = {mark.replace(" ", "-"): mark for mark in MARKS}


@click.command()
@click.argument("mark", type=click.Choice(list(MARKS_TYPED)))
@click.argument("group")
@arguments.reason_option
@arguments.who_option
@click.option("--link", default="", help="Address or number of the issue, of what is known.")
@click.option("--owner", default="", help="Who fixes it, of a quarantine.  [default: who decides]")
@arguments.until_option
@click.option(
    "--scenario", "scenarios", multiple=True, metavar="LABEL", help="Only these of the group.  [default: all]"
)
@arguments.run_option
@arguments.database_option
def command(
    mark: str,
    group: str,
    reason: str,
    who: str,
    link: str,
    owner: str,
    until: datetime | None,
    scenarios: tuple[str, ...],
    run: int | None,
    database: str,
) -> None:
    """Mark a GROUP that `upright regressions` lists, by the first digits of its key.

    \b
    acknowledge   seen, somebody looks into it; checks fail as before
    reject        wrong, has to be fixed; checks fail as before
    known         a known issue, with its --link; checks fail no longer
    quarantine    checks fail no longer until a day, --until
    not-a-fault   a false positive, as long as the motions stay the same; checks fail no longer

    What is right as it is, is accepted: upright accept. Entries stand in a ledger (upright ledger) and are taken
    back by later ones (upright undo).

    \b
    upright mark known 3f2a91 --link "#31" --reason "the new cache of the solver"
    upright mark quarantine 3f2a91 --until 2026-12-01 --owner R. --reason "waits for the next release"
    """
    from validation.records.quantities import counted
    from validation.store import open_store

    with open_store(database) as store:
        number = arguments.run_asked_for(store, run, database)
        found = store.group(number, group)
        labels = list(dict.fromkeys(member.verdict.case.label for member in found.members))
        other = next((label for label in scenarios if label not in labels), None)
        if other is not None:
            raise click.ClickException(
                f"--scenario: {other!r} is not in group {found.key}; allowed: {', '.join(labels)}"
            )
        chosen = [m for m in found.members if not scenarios or m.verdict.case.label in scenarios]
        entry = store.mark(
            MARKS_TYPED[mark],
            [member.number for member in chosen],
            who=who,
            reason=reason,
            scope=f"group {found.key}: {found.kind} on {found.engine} since {found.since}: "
            + (", ".join(scenarios) or "all of it"),
            until=until.replace(tzinfo=UTC) if until else None,
            owner=(owner or who) if mark == "quarantine" else owner,
            link=link,
        )
        state = store.group(number, found.key).state
    cases = counted(len(chosen), "case")
    undo = f'upright undo {entry} --reason "..."{arguments.database_arguments(database)}'
    click.echo(f"entry {entry}: {mark}, {cases} of group {found.key}, which is {state} now   ({who})   Undo: {undo}")
