"""upright ci"""

import os
import secrets
import shlex
from pathlib import Path

import click

from validation.cli.arguments import (
    Within,
    command_line,
    database_arguments,
    session_options,
    without_password,
    written,
)
from validation.running.options import Options


@click.command()
@session_options
@click.option(
    "--base",
    default=None,
    metavar="BRANCH",
    help="The branch that this change is for: the baseline is what was accepted at the merge base.  [default: that of "
    "the CI server's pull request, else none]",
)
@click.option(
    "--branch", default="", metavar="NAME", help="The branch of this run.  [default: the CI server's, else git's]"
)
@click.option(
    "--name",
    default="",
    help="Of this job: its comment is replaced by its own runs only.  [default: the CI server's job, and the words "
    "of the command line]",
)
@click.option(
    "--reports",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("upright-reports"),
    show_default=True,
    help="Folder of what is written.",
)
@click.option(
    "--fuzz",
    "minutes",
    type=Within(0.0, 1440),
    default=0.0,
    show_default=True,
    metavar="MINUTES",
    help="For each engine: search random scenes for new finds.",
)
def command(options: Options, strict: bool, base: str | None, name: str, reports: Path, minutes: float) -> None:
    """What a CI job runs on each commit: check, against the baseline at the merge base, with reports as files.

    What fuzzing has found of these engines is simulated again: a find that breaks its law and is not marked as known
    (`upright finds 3 --known REASON`) counts as worse, one that is fixed is reported. --fuzz searches for new ones.
    All of that is in the reports, too.

    Written to --reports: summary.md (with pictures of the worst), comment.md (for one comment on the pull request),
    junit.xml, upright.jsonl, and the motion of the worst as pages. On GitHub the commit is annotated, and the summary
    becomes the job's. Exit status as of `upright check`: 0 nothing worse, 1 worse, 2 could not run.

    \b
    upright ci
    upright ci stack:n=10 dominoes --engine my_package.MyEngine --base main
    """
    from dataclasses import replace

    from validation.cli.fuzz import finds_of_job
    from validation.cli.stopping import stopped_status
    from validation.cli.views import must_have_run, resumable, show_session
    from validation.judging.judge import exit_status
    from validation.report.finds import NO_FINDS, job_lines
    from validation.report.job import commit_annotations, find_annotations, write_reports
    from validation.report.terminal import accept_run
    from validation.review.lineage import DefaultBranchError, LineageError, lineage_of
    from validation.running.forge import forge_of
    from validation.running.session import run_session
    from validation.store import open_store

    forge = forge_of(os.environ)
    wanted = forge.base if base is None else base
    options = replace(
        options,
        branch=options.branch or forge.branch,
        default_branch=forge.default_branch,
        lineage=lineage_of(wanted) if wanted else None,
        labels=forge.labels,
    )
    try:
        reports.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--reports: {reports} cannot be made ({error.strerror})") from None
    silent = secrets.token_hex(8) if forge.annotations and not options.quiet else ""
    db_option = database_arguments(options.database, elsewhere=True)
    with open_store(options.database) as store, resumable(options.database):
        store.must_be_writable()
        try:
            session = run_session(store, options, command_line())
        except DefaultBranchError as error:
            by_base = f"; or upright ci --base {shlex.quote(error.branch)}" if error.branch else ""
            raise LineageError(f"{error}{by_base}") from None
    if silent:  # no name of a scene annotates anything
        click.echo(f"::stop-commands::{silent}")
    show_session(session, options, judged=True)
    if silent:
        click.echo(f"::{silent}::")
        for line in commit_annotations(list(zip(session.results, session.verdicts)), strict=strict):
            click.echo(line)
    finds = NO_FINDS
    with open_store(options.database) as store:
        try:
            finds = finds_of_job(store, options, minutes)
        finally:  # the reports are there whatever ends the finds
            with written(reports, session.run):
                notes = write_reports(
                    store,
                    session,
                    options,
                    forge,
                    reports,
                    name=name,
                    accept=accept_run(session, db_option),
                    db_option=db_option,
                    where=without_password(options.database),
                    strict=strict,
                    finds=finds,
                )
            for line in (f"Reports: {reports}/summary.md, comment.md, junit.xml, upright.jsonl", *notes):
                click.echo(line.replace("`", ""), err=True)
    for line in (*job_lines(finds, db_option), *(find_annotations(finds) if silent else ())):
        click.echo(line, err=options.quiet)
    if finds.stopped:
        click.echo("stopped: the search for finds; what it found is stored", err=True)
        raise SystemExit(stopped_status())
    if status := exit_status(session.verdicts, strict=strict) or int(bool(finds.of("fails"))):
        raise SystemExit(status)
    must_have_run(session)
