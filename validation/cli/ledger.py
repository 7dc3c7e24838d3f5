"""upright ledger"""

from __future__ import annotations

import click

from validation.cli.arguments import database_option


@click.command()
@click.option("--last", type=click.IntRange(1), default=20, show_default=True, help="How many entries.")
@database_option
def command(last: int, database: str) -> None:
    """List who accepted or said what, of what, when, why, and until when; the latest last.

    \b
    upright ledger
    upright ledger --last 100
    """
    from validation.report.groups import describe_entry
    from validation.report.table import one_line
    from validation.store import open_store

    with open_store(database) as store:
        entries = store.entries(limit=last)
    for entry in reversed(entries):
        cases = "1 case" if len(entry.cases) == 1 else f"{len(entry.cases)} cases"
        branch = f", branch {entry.branch}" if entry.branch else ""
        undone = f"   (undone by entry {entry.undone_by})" if entry.undone_by else ""
        click.echo(one_line(describe_entry(entry)) + undone)
        click.echo(f"    {one_line(f'{entry.scope}; {cases}{branch}')}")
    if not entries:
        click.echo("the ledger is empty; accept something first: upright accept --help")
