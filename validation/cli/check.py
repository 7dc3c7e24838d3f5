"""upright check"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import OutputFile, command_line, database_arguments, session_options

if TYPE_CHECKING:
    from validation.running.options import Options


@click.command()
@session_options
@click.option("--junit", type=OutputFile(), help="Write the verdicts as JUnit XML too.")
@click.option("--markdown", type=OutputFile(), help="Write a summary as Markdown too.")
@click.option("--json-file", type=OutputFile(), help="Write the JSON lines to a file too.")
def command(options: Options, strict: bool, junit: Path | None, markdown: Path | None, json_file: Path | None) -> None:
    """Run, compare each case with what was accepted, and say what got worse.

    Exit status 0: nothing worse. 1: a case regressed, newly broke, or newly breaks a law. 2: could not run.
    What is known, quarantined or no fault (upright mark) fails nothing.
    What was accepted with an ensemble of perturbed starts is run from as many where its motion has changed.
    With overrides (pymunk:iterations=2) a case is judged against the baseline of the engine without them.

    \b
    upright check
    upright check stack:n=10 --engine pymunk:iterations=2 --markdown summary.md --junit results.xml
    """
    from validation.cli.views import accept_run, left_out_line, notify, resumable, show_session, show_verdicts
    from validation.judging.judge import exit_status
    from validation.report.jsonl import case_line
    from validation.report.junit import junit_xml
    from validation.report.markdown import markdown_summary
    from validation.report.standing import standing_lines
    from validation.running.session import run_session
    from validation.store import open_store

    with open_store(options.database) as store, resumable(options.database):
        session = run_session(store, options, command_line())
        groups = store.groups(session.run) if markdown else []
    pairs = list(zip(session.results, session.verdicts))
    if junit:
        junit.write_text(junit_xml(pairs, strict=strict), encoding="utf-8")
    if markdown:
        place = database_arguments(options.database)
        summary = markdown_summary(
            pairs, session.baselines, run=session.run, typed=session.typed, options=place, groups=groups
        )
        markdown.write_text(summary, encoding="utf-8")
    if json_file:
        json_file.write_text("".join(f"{case_line(session.run, *pair)}\n" for pair in pairs), encoding="utf-8")
    show_session(session, options)
    if not options.quiet:
        show_verdicts(session, options)
        more = f"upright regressions --all --run {session.run}{database_arguments(options.database)}"
        if session.left_out:
            click.echo(left_out_line(session.left_out))
        for line in standing_lines(session.verdicts, more=more):
            click.echo(line)
    if not session.baselines:
        notify(
            f"none of these cases is accepted yet, so none can be worse; accept them: {accept_run(session, options)}"
        )
    raise SystemExit(exit_status(session.verdicts, strict=strict))
