"""upright check"""

from pathlib import Path

import click

from validation.cli.arguments import OutputFile, command_line, database_arguments, session_options, written
from validation.running.options import Options


@click.command()
@session_options
@click.option("--junit", type=OutputFile(), help="Write the verdicts as JUnit XML too.")
@click.option("--markdown", type=OutputFile(), help="Write a summary as Markdown too.")
@click.option("--json-file", type=OutputFile(), help="Write the JSON lines to a file too.")
def command(options: Options, strict: bool, junit: Path | None, markdown: Path | None, json_file: Path | None) -> None:
    """Run, compare each case with what was accepted, and report what got worse.

    Exit status 0: nothing worse. 1: a case is worse or mixed, newly broke, or newly breaks a law. 2: could not run, or
    nothing is worse and a case that was compared before is not now, because Upright's own adapter failed.
    What is marked as known, quarantined or not a fault (upright mark) fails nothing.
    What was accepted with an ensemble of perturbed initial states is run from as many where its motion has changed.
    With overrides (pymunk:iterations=2) a case is judged against the baseline of the engine without them.

    \b
    upright check
    upright check stack:n=10 --engine pymunk:iterations=2 --markdown summary.md --junit results.xml
    """
    from validation.cli.views import must_have_run, resumable, show_session
    from validation.judging.judge import exit_status
    from validation.report.jsonl import case_line
    from validation.report.junit import junit_xml
    from validation.report.markdown import markdown_summary
    from validation.report.terminal import accept_run, standing_lines
    from validation.running.session import run_session
    from validation.store import open_store

    with open_store(options.database) as store, resumable(options.database):
        store.must_be_writable()
        session = run_session(store, options, command_line())
        groups = store.groups(session.run) if markdown else []
    pairs = list(zip(session.results, session.verdicts))
    db_option = database_arguments(options.database)
    if junit:
        with written(junit, session.run):
            junit.write_text(junit_xml(pairs, strict=strict), encoding="utf-8")
    if markdown:
        summary = markdown_summary(
            pairs, session.baselines, run=session.run, typed=session.typed, options=db_option, groups=groups
        )
        with written(markdown, session.run):
            markdown.write_text(summary, encoding="utf-8")
    if json_file:
        with written(json_file, session.run):
            json_file.write_text("".join(f"{case_line(session.run, *pair)}\n" for pair in pairs), encoding="utf-8")
    show_session(session, options, judged=True)
    more = f"upright regressions --all --run {session.run}{db_option}"
    for line in [] if options.quiet else standing_lines(session.verdicts, more=more):
        click.echo(line)
    if not session.baselines and not session.all_declined:
        accept = accept_run(session, db_option)
        click.echo(f"none of these cases is accepted yet, so none can be worse; accept them: {accept}", err=True)
    if status := exit_status(session.verdicts, strict=strict):
        raise SystemExit(status)
    must_have_run(session)
