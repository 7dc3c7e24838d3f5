"""What `run` and `check` print when they are done."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import click

from validation.cli.arguments import database_arguments, without_password
from validation.judging.verdict import worst_first
from validation.records.case import Case
from validation.report.sentences import summary
from validation.running.options import Options, Stopped
from validation.running.session import Session

MOST_NAMES = 3


@contextmanager
def resumable(database: str) -> Iterator[None]:
    """Ctrl-C in here ends the command with 130, after saying what is stored and how to go on."""
    try:
        yield
    except Stopped as stopped:
        run = stopped.run
        words = f"stopped: {run.done} of {run.planned} cases are stored as run {run.number}."
        go_on = f"upright run --resume{database_arguments(database)}"
        click.echo(words if run.finished else f"{words}   Go on: {go_on}", err=True)
        sys.exit(130)


def show_session(session: Session, options: Options) -> None:
    """The table, what it cost, and what to do next; or one JSON object per case and nothing else."""
    if options.quiet:
        from validation.report.jsonl import case_line

        for result, verdict in zip(session.results, session.verdicts):
            click.echo(case_line(session.run, result, verdict))
        return
    from validation.report.table import render_table

    click.echo(render_table(session.results, session.verdicts))
    for name, reason in session.unavailable.items():
        click.echo(f"  {name} is not here: {reason}")
    click.echo(cost_line(session))
    for line in ensemble_lines(session):
        click.echo(line)
    click.echo(summary(session.verdicts))
    place = database_arguments(options.database)
    following = [f"upright dashboard{place}"]
    moves = next((r.case for r in session.results if r.outcome == "completed"), None)
    if moves:
        following.append(f"upright show {shlex.quote(moves.label)} --run {session.run}{place}")
    if not session.baselines:
        following.append(accept_run(session, options))
    where = without_password(options.database)
    click.echo(f"Stored as run {session.run} in {where}.   Next: {' · '.join(following)}")


def ensemble_lines(session: Session) -> list[str]:
    """How many cases were run from perturbed starts, and of which of them one cannot say all that one would like."""
    from validation.judging.policy import HORIZONS
    from validation.records.names import engine_name
    from validation.report.table import one_line

    cases = {verdict.case_key: verdict.case for verdict in session.verdicts}
    count = len(session.ensembles)
    lines = [f"perturbed starts: {count} case{'s' if count > 1 else ''}"] if count else []
    for key, ensemble in session.ensembles.items():
        described = []
        if ensemble.completed < ensemble.starts:
            described.append(f"{ensemble.completed} of {ensemble.starts} complete")
        if 0.0 < ensemble.horizon < 1.0:
            described.append(f"they agree for {100 * ensemble.horizon:.0f} % of the motion")
        if ensemble.horizon < min(HORIZONS):
            described.append("too little to judge by")
        if described:
            lines.append(
                f"  {one_line(cases[key].label)} × {one_line(engine_name(cases[key]))}: {', '.join(described)}"
            )
    return lines


def accept_run(session: Session, options: Options, *, elsewhere: bool = False) -> str:
    """All of it, or as much as `accept` can take at once."""
    from validation.report.hints import arguments_of_each

    engines = arguments_of_each(verdict.case for verdict in session.verdicts)
    words = f"{engines} --run {session.run}".strip()
    return f'upright accept {words}{database_arguments(options.database, elsewhere=elsewhere)} --reason "first look"'


def show_verdicts(session: Session, options: Options) -> None:
    """What is worth a line, and what to do about the worst."""
    from validation.records.names import engine_name
    from validation.records.quantities import quantity
    from validation.report.hints import stored_arguments
    from validation.report.sentences import describe_time, describe_turn
    from validation.report.table import one_line, render_verdicts

    pairs = list(zip(session.results, session.verdicts))
    click.echo(render_verdicts(pairs))
    for verdict, turn in session.times:
        what = f"{verdict.case.label} × {engine_name(verdict.case)}"
        click.echo(f"time of a step, {what}: {one_line(describe_time(turn, verdict))}")
    for verdict, turn, again in session.doubtful:
        what = f"{verdict.case.label} × {engine_name(verdict.case)}"
        has = "none was measured" if math.isnan(again) else f"it has {quantity(again, 's')}"
        described = f"{describe_turn(turn)}; not confirmed by a rerun ({has}), and so not called"
        click.echo(f"time of a step, {what}: {one_line(described)}")
    worst = next((verdict for _, verdict in worst_first(pairs)), None)
    if worst and worst.worse:
        words = stored_arguments(worst.case, session.run) + database_arguments(options.database)
        click.echo(f"Look at the worst:  upright show {words}")
        click.echo(f'Mend it, or say why it is right:  upright accept {words} --reason "..."')


def left_out_line(cases: Collection[Case]) -> str:
    """What nobody asked for."""
    several = len(cases) > 1
    names = list(dict.fromkeys(f"{case.label} × {case.engine_label}" for case in cases))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (
        f"not asked for, and so not judged: {len(cases)} accepted case{'s' if several else ''} "
        f"({', '.join(names[:MOST_NAMES])}{more})"
    )


def cost_line(session: Session) -> str:
    totals = session.totals
    name, seconds = totals.slowest
    slowest = f"; slowest: {name}, {seconds:.1f} s" if name else ""
    return (
        f"{totals.simulated} simulated in {totals.wall:.1f} s on {totals.workers} workers; engines' own stepping "
        f"{totals.stepping:.1f} s; overhead {1e3 * totals.overhead:.1f} ms a case{slowest}"
    )


def notify(text: str) -> None:
    """For people, beside machine-readable output."""
    click.echo(text, file=sys.stderr)
