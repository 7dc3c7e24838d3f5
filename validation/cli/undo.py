"""upright undo"""

from __future__ import annotations

import click

from validation.cli.arguments import database_option, user_name


@click.command()
@click.argument("entry", type=int)
@click.option("--reason", required=True, help="Why, for whoever asks later.")
@click.option("--who", default=user_name, help="Who says so.  [default: $UPRIGHT_USER, else your login]")
@database_option
def command(entry: int, reason: str, who: str, database: str) -> None:
    """Take back an ENTRY of the ledger, by its number.

    What was the baseline before an acceptance is it again; a group is in the state that it had before a mark. Nothing
    is erased: an undo is an entry too, and can be undone.

    \b
    upright ledger
    upright undo 4 --reason "it was another fault"
    """
    from validation.store import open_store

    with open_store(database) as store:
        number = store.undo(entry, who=who, reason=reason)
    click.echo(f"entry {number}: entry {entry} is taken back   ({who})")
