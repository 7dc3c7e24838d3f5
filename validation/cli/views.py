"""What `run` and `check` print when they are done."""

from __future__ import annotations

import sys

import click

from validation.cli.session import Session
from validation.verdict import summary


def show_session(session: Session, database: str, *, as_json: bool) -> None:
    """The table, what it cost, and what to do next; or one JSON object per case and nothing else."""
    if as_json:
        from validation.report.jsonl import case_line

        for result, verdict in zip(session.results, session.verdicts):
            click.echo(case_line(session.run, result, verdict))
        return
    from validation.report.table import render_table

    click.echo(render_table(session.results, session.verdicts))
    for name, reason in session.unavailable.items():
        click.echo(f"  {name} is not here: {reason}")
    click.echo(cost_line(session))
    click.echo(summary(session.verdicts))
    one = next((v.case.label for v in session.verdicts if v.word != "declined"), "stack")
    db = database_words(database)
    following = [f"upright dashboard{db}", f"upright show {one}{db}"]
    if not session.baselines:
        following.append(f'upright accept{db} --reason "first look"')
    click.echo(f"Stored as run {session.run} in {database}.   Next: {' · '.join(following)}")


def database_words(database: str) -> str:
    """What commands on this database need to be told."""
    return "" if database == "upright.db" else f" --db {database}"


def cost_line(session: Session) -> str:
    totals = session.totals
    name, seconds = totals.slowest
    slowest = f"; slowest: {name}, {seconds:.1f} s" if name else ""
    return (
        f"{totals.simulated} simulated in {totals.wall:.1f} s on {totals.workers} workers; engines' own stepping "
        f"{totals.stepping:.1f} s; overhead {1e3 * totals.overhead:.1f} ms a case{slowest}"
    )


def tell(text: str) -> None:
    """For people, beside machine-readable output."""
    click.echo(text, file=sys.stderr)
