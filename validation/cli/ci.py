"""upright ci"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import command_line, database_arguments, session_options, without_password

if TYPE_CHECKING:
    from validation.running.options import Options


@click.command()
@session_options
@click.option(
    "--base",
    default=None,
    metavar="BRANCH",
    help="The branch that this change is for; compared is with what was accepted at the merge base.  [default: what "
    "the CI server tells of a pull request, else none]",
)
@click.option(
    "--branch", default="", metavar="NAME", help="The branch of this run.  [default: the CI server's, else git's]"
)
@click.option(
    "--name",
    default="",
    help="Of this job: its comment is replaced by its own runs only.  [default: the CI server's job, and the words "
    "that say what is run]",
)
@click.option(
    "--reports",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("upright-reports"),
    show_default=True,
    help="Folder of what is written.",
)
def command(options: Options, strict: bool, base: str | None, branch: str, name: str, reports: Path) -> None:
    """What a CI job runs on each commit: check, against the baseline at the merge base, with reports as files.

    Written to --reports: summary.md (with pictures of the worst), comment.md (for one comment on the pull request),
    junit.xml, upright.jsonl, and the motion of the worst as pages. On GitHub the commit is annotated, and the summary
    becomes the job's. Exit status as of `upright check`: 0 nothing worse, 1 worse, 2 could not run.

    \b
    upright ci
    upright ci stack:n=10 dominoes --engine my_package.MyEngine --base main
    """
    from dataclasses import replace

    from validation.cli.views import accept_run, left_out_line, notify, resumable, show_session, show_verdicts
    from validation.judging.judge import exit_status
    from validation.report.annotations import commit_annotations
    from validation.report.job import write_reports
    from validation.review.lineage import lineage_of
    from validation.running.forge import forge_of
    from validation.running.session import run_session
    from validation.store import open_store

    forge = forge_of(os.environ)
    wanted = forge.base if base is None else base
    options = replace(
        options,
        branch=branch or forge.branch,
        default_branch=forge.default_branch,
        lineage=lineage_of(wanted) if wanted else None,
        labels=forge.labels,
    )
    try:
        reports.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--reports: {reports} cannot be made ({error.strerror})") from None
    silent = secrets.token_hex(8) if forge.annotations and not options.quiet else ""
    with open_store(options.database) as store, resumable(options.database):
        session = run_session(store, options, command_line())
        notes = write_reports(
            store,
            session,
            options,
            forge,
            reports,
            name=name,
            accept=accept_run(session, options, elsewhere=True),
            place=database_arguments(options.database, elsewhere=True),
            where=without_password(options.database),
            strict=strict,
        )
    if silent:  # no name of a scene annotates anything
        click.echo(f"::stop-commands::{silent}")
    show_session(session, options)
    if not options.quiet:
        show_verdicts(session, options)
        if session.left_out:
            click.echo(left_out_line(session.left_out))
    if silent:
        click.echo(f"::{silent}::")
        for line in commit_annotations(list(zip(session.results, session.verdicts)), strict=strict):
            click.echo(line)
    notify(f"Reports: {reports}/summary.md, comment.md, junit.xml, upright.jsonl")
    for words in notes:
        notify(words.replace("`", ""))
    raise SystemExit(exit_status(session.verdicts, strict=strict))
