"""upright ledger, upright undo"""

import click

from validation.cli.arguments import NUMBER, database_option, reason_option, who_option


@click.command()
@click.option("--last", type=click.IntRange(1), default=20, show_default=True, help="How many entries.")
@database_option
def command(last: int, database: str) -> None:
    """List who accepted or marked what, of which cases, when, why, and until when; the latest last.

    \b
    upright ledger
    upright ledger --last 100
    """
    from validation.records.quantities import counted
    from validation.records.text import one_line
    from validation.report.groups import describe_entry
    from validation.store import open_store

    with open_store(database) as store:
        entries = store.entries(limit=last)
    for entry in reversed(entries):
        branch = f", branch {entry.branch}" if entry.branch else ""
        about = f"{entry.scope}; {counted(len(entry.cases), 'case')}{branch}"
        undone = f"   (undone by entry {entry.undone_by})" if entry.undone_by else ""
        click.echo(one_line(describe_entry(entry)) + undone)
        click.echo(f"    {one_line(about)}")
    if not entries:
        click.echo("the ledger is empty; accept something first: upright accept --help")


@click.command()
@click.argument("entry", type=NUMBER)
@reason_option
@who_option
@database_option
def undo(entry: int, reason: str, who: str, database: str) -> None:
    """Take back an ENTRY of the ledger, by its number.

    What was the baseline before an acceptance is it again; a group is in the state that it had before a mark. Nothing
    is erased: an undo is an entry too, and can be undone.

    \b
    upright ledger
    upright undo 4 --reason "it was another fault"
    """
    from validation.records.text import one_line
    from validation.store import open_store

    with open_store(database) as store:
        number = store.undo(entry, who=who, reason=reason)
    click.echo(f"entry {number}: entry {entry} is taken back   ({one_line(who)})")
