"""What commands that run something print and store when they are done, or stopped."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from validation.cli.arguments import database_arguments, named
from validation.cli.stopping import stopped_status
from validation.running.comparing import Compared
from validation.running.options import Options, Stopped, UnstoredError
from validation.running.session import Session
from validation.store import Store


@contextmanager
def resumable(database: str) -> Iterator[None]:
    """What is stored and how to go on, in a line: Ctrl-C in here ends the command with 130, a signal to
    end with 143, a database that fails
    ends it with 2."""
    try:
        yield
    except Stopped as stopped:
        run = stopped.run
        stored = f"stopped: {run.done} of {run.planned} cases are stored as run {run.number}."
        go_on = f"upright run --resume{database_arguments(database)}"
        click.echo(stored if run.finished else f"{stored}   Go on: {go_on}", err=True)
        sys.exit(stopped_status())
    except UnstoredError as failed:
        where = database if failed.saved is None else failed.saved
        go_on = f"   Go on: upright run --resume{database_arguments(where)}" if where else ""
        raise click.ClickException(f"{failed}.{go_on}") from None


def store_comparison(store: Store, done: Compared, command: str) -> tuple[int, list[str]]:
    """Its number, and the lines that are stored; with the motions of the worst scenario of each cause."""
    from validation.judging.causes import causes_of
    from validation.report.comparison import comparison_line
    from validation.running.provenance import machine

    worst = [cause.worst.comparison for cause in causes_of(done.comparisons)]
    sides = [side for comparison in worst for side in (comparison.old, comparison.new)]
    keys = store.save_motions((comparison.scenario.scene for comparison in worst), sides)
    motions = {id(comparison.old.case): pair for comparison, pair in zip(worst, zip(keys[::2], keys[1::2]))}
    lines = [comparison_line(one, motions.get(id(one.old.case), (None, None))) for one in done.comparisons]
    number = store.add_comparison(
        command=command,
        machine=machine(),
        names=done.names,
        packages=done.packages,
        lines=lines,
        left=done.planned - done.compared,
    )
    return number, lines


def must_have_run(session: Session) -> None:
    """Raises ClickException, so that the command ends with 2, where every case was declined."""
    if session.all_declined:
        raise click.ClickException(f"nothing could be run, every case was declined: {session.results[0].reason}")


def show_session(session: Session, options: Options, *, judged: bool = False) -> None:
    """The table, what it cost, and what to do next; or one JSON object per case and nothing else."""
    from validation.report.jsonl import case_line
    from validation.report.terminal import session_lines, verdict_lines

    db_option = database_arguments(options.database)
    if options.quiet:
        lines = [case_line(session.run, *pair) for pair in zip(session.results, session.verdicts)]
    else:
        lines = session_lines(session, db_option, named(options.database))
        lines += verdict_lines(session, db_option) if judged else []
    for line in lines:
        click.echo(line)
