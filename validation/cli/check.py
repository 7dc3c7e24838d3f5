"""upright check"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from validation.cli.words import OutputFile, database_option, execution_options, selection_options, time_step


@click.command()
@selection_options
@execution_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object per case on standard output, nothing else.")
@click.option("--junit", type=OutputFile(), help="Write the verdicts as JUnit XML too.")
@click.option("--markdown", type=OutputFile(), help="Write a summary as Markdown too.")
@click.option("--json-file", type=OutputFile(), help="Write the JSON lines to a file too.")
@database_option
def command(
    scenarios: tuple[str, ...],
    engines: tuple[str, ...],
    profile: str | None,
    dt: str | None,
    timing: bool,
    alias: str,
    workers: int | None,
    time_limit: float,
    memory_limit: int,
    strict: bool,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
    json_file: Path | None,
    database: str,
) -> None:
    """Run, compare each case with what was accepted, and say what got worse.

    Exit status 0: nothing worse. 1: a case regressed, newly broke, or newly breaks a law. 2: could not run.
    With overrides (pymunk:iterations=2) a case is judged against the baseline of the engine without them.

    \b
    upright check
    upright check stack:n=10 --engine pymunk:iterations=2 --markdown summary.md --junit results.xml
    """
    from validation.cli.session import Options, make_limits, run_session
    from validation.cli.views import database_words, show_session, tell
    from validation.judge import exit_status
    from validation.report.jsonl import case_line
    from validation.report.junit import junit_xml
    from validation.report.markdown import markdown_summary
    from validation.report.table import render_verdicts
    from validation.store import open_store

    options = Options(
        scenarios=scenarios,
        engines=engines,
        profile=profile,
        dt=time_step(dt),
        alias=alias,
        limits=make_limits(workers, time_limit, memory_limit, timing=timing),
        quiet=as_json,
    )
    with open_store(database) as store:
        session = run_session(store, options, "upright " + " ".join(sys.argv[1:]))
    pairs = list(zip(session.results, session.verdicts))
    if junit:
        junit.write_text(junit_xml(pairs, strict=strict), encoding="utf-8")
    if markdown:
        markdown.write_text(markdown_summary(pairs, session.baselines), encoding="utf-8")
    if json_file:
        json_file.write_text("".join(f"{case_line(session.run, *pair)}\n" for pair in pairs), encoding="utf-8")
    show_session(session, database, as_json=as_json)
    if not as_json:
        click.echo(render_verdicts(pairs, options=database_words(database)))
    if not session.baselines:
        tell('nothing is accepted yet, so nothing can be worse; accept this run with: upright accept --reason "..."')
    raise SystemExit(exit_status(session.verdicts, strict=strict))
