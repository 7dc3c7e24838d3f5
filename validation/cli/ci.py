"""upright ci"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import command_line, database_arguments, session_options, without_password

if TYPE_CHECKING:
    from validation.running.forge import Forge
    from validation.running.options import Options
    from validation.running.session import Session
    from validation.store import Store

MOST_PICTURES = 3
MOTION = "motion"  # folder in that of the reports


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

    from validation.cli.views import left_out_line, notify, resumable, show_session, show_verdicts
    from validation.judging.judge import exit_status
    from validation.report.annotations import commit_annotations
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
        advice = "" if session.baselines else what_to_do(store, session, options)
        note = roughly_judged(session)
        write_reports(store, session, options, forge, reports, advice, note, name, strict=strict)
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
    for words in filter(None, (advice, note)):
        notify(words.replace("`", ""))
    raise SystemExit(exit_status(session.verdicts, strict=strict))


def what_to_do(store: Store, session: Session, options: Options) -> str:
    """Where nothing is accepted to compare with: why, and the next step. Markdown."""
    from validation.cli.views import accept_run
    from validation.report.markdown import code, escape
    from validation.review.lineage import SHORT

    lineage = options.lineage
    accept = code(accept_run(session, options, elsewhere=True))
    if lineage is None:
        return f"Nothing is accepted yet, so nothing can be worse. Next: {accept}"
    at = f"the merge base {lineage.merge_base[:SHORT]} or before it"
    base, branch = escape(lineage.base), escape(store.run(session.run).branch)
    keys = {verdict.case.identity.key for verdict in session.verdicts}
    elsewhere = [baseline for key, baseline in store.baselines(lineage.base).items() if key in keys]
    if elsewhere and all(store.run(baseline.run).info.dirty for baseline in elsewhere):
        return (
            f"Of these cases nothing is accepted at {at}: run {elsewhere[0].run}, accepted on {base}, had edits that "
            "were not committed, and stands for no commit. So nothing can be worse. Next: run `upright ci` on a clean "
            f"checkout of {base}, and accept that run"
        )
    if elsewhere:
        return (
            f"Of these cases nothing is accepted at {at}, only of later commits of {base}, so nothing can be worse. "
            f"Next: rebase, or merge {base}"
        )
    return (
        f"Nothing is accepted at {at}, so nothing can be worse. Next: run `upright ci` on {base} and accept that run; "
        f"or accept this one for {branch} alone: {accept}"
    )


def roughly_judged(session: Session) -> str:
    """Where motions with chaotic metrics have changed, and no perturbed starts were run."""
    from validation.judging.policy import ENSEMBLE_JUDGES, MEDIANS, STARTS
    from validation.judging.verdict import FLOOR

    accepted = {baseline.number: baseline.result for baseline in session.baselines}
    rough = 0
    for result, verdict in zip(session.results, session.verdicts):
        before = accepted.get(verdict.baseline or 0)
        if before is None or verdict.worse or verdict.case_key in session.ensembles:
            continue
        was = {m.metric: m.value for m in before.measurements if m.noise in ENSEMBLE_JUDGES}
        described = {change.metric for change in verdict.changes}
        rough += any(
            m.metric in was
            and m.metric not in described
            and abs(m.value - was[m.metric]) > max(FLOOR, (MEDIANS - 1.0) * abs(was[m.metric]))
            for m in result.measurements
        )
    if not rough:
        return ""
    cases = "1 case moves" if rough == 1 else f"{rough} cases move"
    return (
        f"{cases} otherwise than accepted in chaotic metrics; for a verdict on these, "
        f"accept and run with perturbed starts: `--ensemble {STARTS}`"
    )


def write_reports(
    store: Store,
    session: Session,
    options: Options,
    forge: Forge,
    reports: Path,
    advice: str,
    note: str,
    name: str,
    *,
    strict: bool,
) -> None:
    from validation.report.jsonl import case_line
    from validation.report.junit import junit_xml
    from validation.report.markdown import markdown_summary

    pairs = list(zip(session.results, session.verdicts))
    pictures = write_motions(store, session, reports)
    merge_base = options.lineage.merge_base if options.lineage else ""
    groups = store.groups(session.run)
    place = database_arguments(options.database, elsewhere=True)

    def markdown(pictures: dict[str, str]) -> str:
        return markdown_summary(
            pairs,
            session.baselines,
            run=session.run,
            typed=session.typed,
            options=place,
            merge_base=merge_base,
            advice=advice,
            note=note,
            pictures=pictures,
            groups=groups,
            name=name,
        )

    stored = f"Run {session.run} in {without_password(options.database)}."
    summary = f"{markdown(pictures)}\n{stored}\n"
    (reports / "summary.md").write_text(summary, encoding="utf-8")
    (reports / "comment.md").write_text(f"{marker(name, forge, options)}\n{markdown({})}", encoding="utf-8")
    (reports / "junit.xml").write_text(junit_xml(pairs, strict=strict), encoding="utf-8")
    lines = "".join(f"{case_line(session.run, *pair)}\n" for pair in pairs)
    (reports / "upright.jsonl").write_text(lines, encoding="utf-8")
    if forge.summary:
        # A page of the forge's has no files beside it: pictures are in what the job keeps.
        kept = f"\nMotion of the worst: {', '.join(sorted(pictures.values()))} in the reports.\n" if pictures else ""
        with forge.summary.open("a", encoding="utf-8") as file:
            file.write(f"{markdown({})}{kept}\n{stored}\n")


def marker(name: str, forge: Forge, options: Options) -> str:
    """The line by which the comment is found again: another one for each job, the same for each push.

    A matrix runs one job with several words: so they count too.
    """
    words = [name] if name else [forge.job, *options.scenarios, *options.engines, options.profile or "", options.alias]
    digest = hashlib.sha256(json.dumps(words).encode()).hexdigest()[:12]
    return f"<!-- upright {digest}: one comment, replaced by each run -->"


def write_motions(store: Store, session: Session, reports: Path) -> dict[str, str]:
    """By case key, the picture's address within the folder; of the worst that moved."""
    from urllib.parse import quote

    from validation.judging.verdict import worst_first
    from validation.report.motion_files import motion_files

    results = {result.key: result for result in store.results(session.run)}
    baselines = {baseline.number: baseline for baseline in session.baselines}
    pairs = [(results[verdict.case_key], verdict) for verdict in session.verdicts if verdict.case_key in results]
    for before in (*(reports / MOTION).glob("*.html"), *(reports / MOTION).glob("*.gif")):
        before.unlink()
    worst = [(r, v) for r, v in worst_first(pairs) if v.worse and r.trajectory_key]
    pictures = {}
    for result, verdict in worst[:MOST_PICTURES]:
        accepted = baselines.get(verdict.baseline or 0)
        _, picture = motion_files(store, result, accepted, reports / MOTION, moving=True)
        pictures[verdict.case_key] = "/".join((MOTION, quote(picture.name, safe="=")))
    return pictures
