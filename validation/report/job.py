"""What a CI job leaves: summary, comment, JUnit, JSON lines, motions of the worst, annotations of the commit."""

import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from validation.judging.policy import ENSEMBLE_JUDGES, MEDIANS, STARTS
from validation.judging.verdict import FLOOR, Verdict, fails, worst_first
from validation.records.case import Result
from validation.records.names import engine_name
from validation.records.quantities import counted
from validation.report.finds import NO_FINDS, JobFinds, news_lines
from validation.report.jsonl import case_line
from validation.report.junit import junit_xml
from validation.report.markdown import code, escape, markdown_summary
from validation.report.motion_files import motion_files
from validation.report.sentences import reason_of
from validation.review.lineage import SHORT
from validation.running.forge import Forge
from validation.running.options import Options
from validation.running.session import Session
from validation.store import Store

MOST_PICTURES = 3
MOTION = "motion"  # folder in that of the reports
MOST_ANNOTATIONS = 10  # of a kind and step, on a page of GitHub's
LONGEST = 400  # characters of a reason
KINDS = {"not compared": "warning", "missing": "warning", "broken": "warning", "improved": "notice"}
"""Annotations of verdicts that fail nothing and are worth one."""


def what_to_do(store: Store, session: Session, options: Options, accept: str) -> str:
    """Where nothing is accepted to compare with: why, and the next step. Markdown."""
    lineage = options.lineage
    accept = code(accept)
    if session.all_declined:
        return "Every case was declined, so nothing could be run"
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
    """Where motions with chaotic metrics have changed, and no perturbed initial states were run."""
    accepted = {baseline.number: baseline.result for baseline in session.baselines}
    rough = 0
    for result, verdict in zip(session.results, session.verdicts):
        before = accepted.get(verdict.baseline or 0)
        if before is None or verdict.worse or verdict.case_key in session.ensembles:
            continue
        was = {m.metric: m.value for m in before.measurements if m.noise in ENSEMBLE_JUDGES}
        described = {change.metric for change in verdict.changes if change.counts}
        rough += any(
            m.metric in was
            and m.metric not in described
            and abs(m.value - was[m.metric]) > max(FLOOR, (MEDIANS - 1.0) * abs(was[m.metric]))
            for m in result.measurements
        )
    if not rough:
        return ""
    cases = f"{counted(rough, 'case')} {'moves' if rough == 1 else 'move'}"
    return (
        f"{cases} otherwise than accepted in chaotic metrics; for a verdict on these, "
        f"accept and run with perturbed initial states: `--ensemble {STARTS}`"
    )


def write_reports(
    store: Store,
    session: Session,
    options: Options,
    forge: Forge,
    reports: Path,
    *,
    name: str,
    accept: str,
    db_option: str,
    where: str,
    strict: bool,
    finds: JobFinds = NO_FINDS,
) -> list[str]:
    """Writes the files; what to print beside them, in Markdown: why nothing is judged, or only roughly.

    `accept` is the command that accepts the run, `db_option` the option that names the database, `where` the database.
    """
    advice = "" if session.baselines else what_to_do(store, session, options, accept)
    note = roughly_judged(session)
    pairs = list(zip(session.results, session.verdicts))
    pictures = write_motions(store, session, reports)
    markdown = partial(
        markdown_summary,
        pairs,
        session.baselines,
        run=session.run,
        typed=session.typed,
        options=db_option,
        merge_base=options.lineage.merge_base if options.lineage else "",
        advice=advice,
        note=note,
        groups=store.groups(session.run),
        name=name,
        finds=finds,
    )
    stored = f"Run {session.run} in {where}."
    summary = f"{markdown(pictures=pictures)}\n{stored}\n"
    (reports / "summary.md").write_text(summary, encoding="utf-8")
    (reports / "comment.md").write_text(f"{marker(name, forge, options)}\n{markdown()}", encoding="utf-8")
    (reports / "junit.xml").write_text(junit_xml(pairs, strict=strict, finds=finds), encoding="utf-8")
    lines = "".join(f"{case_line(session.run, *pair)}\n" for pair in pairs)
    (reports / "upright.jsonl").write_text(lines, encoding="utf-8")
    if forge.summary:
        # A page of the forge's has no files beside it: pictures are in what the job keeps.
        pictured = (
            f"\nMotion of the worst: {', '.join(sorted(pictures.values()))} in the reports.\n" if pictures else ""
        )
        with forge.summary.open("a", encoding="utf-8") as file:
            file.write(f"{markdown()}{pictured}\n{stored}\n")
    return [text for text in (advice, note) if text]


def marker(name: str, forge: Forge, options: Options) -> str:
    """The line by which the comment is found again: another one for each job, the same for each push.

    A matrix runs one job with several words: so they count too.
    """
    words = [name] if name else [forge.job, *options.scenarios, *options.engines, options.profile or "", options.alias]
    digest = hashlib.sha256(json.dumps(words).encode()).hexdigest()[:12]
    return f"<!-- upright {digest}: one comment, replaced by each run -->"


def write_motions(store: Store, session: Session, reports: Path) -> dict[str, str]:
    """By case key, the picture's address within the folder; of the worst that moved."""
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


def commit_annotations(pairs: Sequence[tuple[Result, Verdict]], *, strict: bool = False) -> list[str]:
    """As GitHub's runners read them from standard output (docs.github.com, "Workflow commands for GitHub Actions"): a
    line each, the worst first; where there are more than ten the tenth says how many."""
    described = []
    for _, verdict in worst_first(pairs):
        kind = "error" if fails(verdict, strict=strict) else KINDS.get(verdict.word)
        if kind is not None:
            what = f"{verdict.case.label} on {engine_name(verdict.case)}"
            described.append(_line(kind, f"Upright: {what}", f"{verdict.word}: {reason_of(verdict)}"))
    if len(described) <= MOST_ANNOTATIONS:
        return described
    rest = len(described) - MOST_ANNOTATIONS + 1
    return [*described[: MOST_ANNOTATIONS - 1], _line("notice", "Upright", f"{rest} more stand in the job's summary")]


def find_annotations(finds: JobFinds) -> list[str]:
    """Likewise: an error for each cause that fails the job, a notice for each that is fixed."""
    kinds = {"fails": "error", "fixed": "notice"}
    shown = news_lines(finds)[:MOST_ANNOTATIONS]
    return [_line(kinds[one.state], f"Upright: find {one.find.number}", line) for one, line in shown]


def _line(kind: str, title: str, text: str) -> str:
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return f"::{kind} title={_escaped(title, ':,')}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """Nothing in it ends the line or the property."""
    text = "".join(character if character.isprintable() else " " for character in text)
    for character in f"%{more}":  # % first
        text = text.replace(character, f"%{ord(character):02X}")
    return text
