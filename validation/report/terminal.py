"""What commands print beside tables: the end of a run, standing defects, the history of a case.

`db_option` names the database in a proposed command: ` --db other.db`, or nothing.
"""

import math
import shlex
from collections.abc import Collection, Iterable, Sequence

from validation.judging.policy import HORIZONS
from validation.judging.verdict import Verdict, standing, worst_first
from validation.records.case import Case, Result
from validation.records.names import engine_name, engine_token, metric_name
from validation.records.quantities import counted, quantity
from validation.records.text import one_line
from validation.report.hints import arguments_of_each, rerun_arguments, stored_arguments
from validation.report.models import unmeasured_lines
from validation.report.sentences import (
    describe_change,
    describe_defect,
    describe_happening,
    describe_time,
    describe_turn,
    summary,
)
from validation.report.table import render_table, render_verdicts
from validation.running.accepting import Accepted
from validation.running.session import Session
from validation.store import Store

MOST_NAMES = 3
MOST_STANDING = 3
MOST_NEGLIGIBLE = 3


def session_lines(session: Session, db_option: str, where: str) -> list[str]:
    """The table, what it cost, and what to do next; `where` is the database."""
    moves = next((r.case for r in session.results if r.outcome == "completed"), None)
    following = [f"upright dashboard{db_option}"]
    following += [f"upright show {shlex.quote(moves.label)} --run {session.run}{db_option}"] if moves else []
    following += [] if session.baselines or session.all_declined else [accept_run(session, db_option)]
    return [
        render_table(session.results, session.verdicts),
        *(f"  {name} is not here: {reason}" for name, reason in session.unavailable.items()),
        cost_line(session),
        *moved_lines(session),
        *bounce_lines(session.results),
        *unmeasured_lines(session.models),
        *differing_lines(session),
        *ensemble_lines(session),
        summary(session.verdicts),
        f"Stored as run {session.run} in {where}.   Next: {' · '.join(following)}",
    ]


def moved_lines(session: Session) -> list[str]:
    """One line at most: where a user looks for poses of the frame that a body was given in."""
    if not session.moved:
        return []
    more = f" and {len(session.moved) - MOST_NAMES} more" if len(session.moved) > MOST_NAMES else ""
    names = ", ".join(session.moved[:MOST_NAMES]) + more
    return [f"{names}: bodies were given in other frames; poses are of centres of mass, in principal axes"]


def bounce_lines(results: Sequence[Result]) -> list[str]:
    """Of each engine that has no coefficient of restitution, and took scenes with one all the same."""
    found: dict[str, set[str]] = {}
    for result in results:
        for m in result.measurements:
            if m.metric == "bounce_time":
                found.setdefault(result.case.engine_label, set()).add(quantity(m.value, m.unit, digits=2))
    what = "has no coefficient of restitution: a bounce is a spring and a damper, in contact for"
    return [f"{name} {what} {' or '.join(sorted(times))}" for name, times in found.items()]


def cost_line(session: Session) -> str:
    totals = session.totals
    name, seconds = totals.slowest
    slowest = f"; slowest: {name}, {seconds:.1f} s" if name else ""
    workers = counted(totals.workers, "worker")
    taken = sum(1 for result in session.results if result.taken_from)
    known = f"{counted(taken, 'case')} taken from earlier runs, unchanged (--fresh simulates all); " if taken else ""
    return f"{known}{counted(totals.simulated, 'case')} simulated in {totals.wall:.1f} s on {workers}{slowest}"


def differing_lines(session: Session) -> list[str]:
    """Of what was simulated though the store had it: an engine that gave something else."""
    return [
        f"{_name(now.case)} gave another result than in run {before.run}, though nothing that decides it has changed: "
        f"it is not deterministic. No result of {now.case.identity.engine} that is stored so far is taken any more."
        for now, before in session.differing
    ]


def ensemble_lines(session: Session) -> list[str]:
    """How many cases were run from perturbed initial states, and which of them leave something open."""
    cases = {verdict.case_key: verdict.case for verdict in session.verdicts}
    lines = [f"perturbed initial states: {counted(len(session.ensembles), 'case')}"] if session.ensembles else []
    for key, ensemble in session.ensembles.items():
        described = []
        if ensemble.completed < ensemble.starts:
            described.append(f"{ensemble.completed} of {ensemble.starts} complete")
        if 0.0 < ensemble.horizon < 1.0:
            described.append(f"they agree for {100 * ensemble.horizon:.0f} % of the motion")
        if ensemble.horizon < min(HORIZONS):
            described.append("too little to judge by")
        if described:
            lines.append(f"  {_name(cases[key])}: {', '.join(described)}")
    return lines


def accept_run(session: Session, db_option: str) -> str:
    """All of it, or as much as `accept` can take at once."""
    engines = arguments_of_each(verdict.case for verdict in session.verdicts)
    return f'upright accept {f"{engines} --run {session.run}".strip()}{db_option} --reason "first look"'


def accepted_line(done: Accepted, who: str, reason: str, db_option: str) -> str:
    """What was accepted and what not, and the check that compares with it."""
    others = ""
    if done.left_out:
        others += f"; {done.left_out} with settings of their own left out, name one by --engine to accept it instead"
    if done.without_effect:
        others += (
            f"; {done.without_effect} of them change nothing: a later commit's baseline stays in effect (upright undo)"
        )
    if done.not_compared:
        others += f"; {done.not_compared} left as they were, because Upright's own adapter failed there"
    if done.broken:
        first = done.broken[0]
        others += (
            f"; {counted(len(done.broken), 'broken case')} left out, first {first.case.label} on "
            f"{engine_token(first.case)} ({first.outcome.replace('_', ' ')}): accept it by itself, with --broken"
        )
    if done.edited:
        others += "; it had uncommitted edits and stands for no commit, so no pull request is compared with it"
    check = " ".join(filter(None, ("upright check", rerun_arguments(done.cases)))) + db_option
    cases = counted(len(done.cases), "case")
    return f"accepted {cases} of run {done.run}: {one_line(reason)}   ({one_line(who)}){others}   Next: {check}"


def verdict_lines(session: Session, db_option: str) -> list[str]:
    """What is worth a line, what to do about the worst, and what was not asked for."""
    pairs = list(zip(session.results, session.verdicts))
    lines = [render_verdicts(pairs)]
    for verdict, turn in session.times:
        lines.append(f"time of a step, {_name(verdict.case)}: {one_line(describe_time(turn, verdict))}")
    for verdict, turn, again in session.doubtful:
        has = "none was measured" if math.isnan(again) else f"it has {quantity(again, 's')}"
        described = f"{describe_turn(turn)}; not confirmed by a rerun ({has}), so it does not count"
        lines.append(f"time of a step, {_name(verdict.case)}: {one_line(described)}")
    worst = next((verdict for _, verdict in worst_first(pairs)), None)
    if worst and worst.worse:
        words = stored_arguments(worst.case, session.run) + db_option
        lines.append(f"Look at the worst:  upright show {words}")
        lines.append(f'Fix it, or say why it is right:  upright accept {words} --reason "..."')
    open_kinds = [kind for kind in ("mixed", "different") if any(v.word == kind for v in session.verdicts)]
    if open_kinds:
        kinds = " ".join(f"--kind {kind}" for kind in open_kinds)
        accept = f'upright accept {kinds} --run {session.run}{db_option} --reason "..."'
        lines.append(f"If what is {' or '.join(open_kinds)} is right:  {accept}")
    lines += negligible_lines(session.verdicts)
    return [*lines, left_out_line(session.left_out)] if session.left_out else lines


def negligible_lines(verdicts: Iterable[Verdict]) -> list[str]:
    """Cases that moved by more than their noise and by less than anybody sees: they pass, and are listed."""
    moved = [verdict for verdict in verdicts if verdict.word == "pass" and verdict.changes]
    lines = [f"  {_name(v.case)}: {one_line(describe_change(v.changes[0], v.case))}" for v in moved[:MOST_NEGLIGIBLE]]
    if len(moved) > MOST_NEGLIGIBLE:
        lines.append(f"  and {len(moved) - MOST_NEGLIGIBLE} more (--json has them all)")
    return [f"{counted(len(moved), 'case')} moved by too little to count", *lines] if moved else []


def left_out_line(cases: Collection[Case]) -> str:
    """What nobody asked for."""
    names = list(dict.fromkeys(f"{case.label} × {case.engine_label}" for case in cases))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (
        f"not asked for, and so not judged: {counted(len(cases), 'accepted case')} "
        f"({', '.join(names[:MOST_NAMES])}{more})"
    )


def standing_lines(verdicts: Iterable[Verdict], *, most: int = MOST_STANDING, more: str = "") -> list[str]:
    """What an engine does wrong and has always done, for which no check fails; none where there are none.

    `more` is the command that lists the others.
    """
    found = standing(verdicts)
    if not found:
        return []
    these = (
        "these are wrong by what happens or by a law" if len(found) > 1 else "this is wrong by what happens or by a law"
    )
    fails = "fail" if len(found) > 1 else "fails"
    lines = [
        f"{counted(len(found), 'standing defect')}: {these}, as accepted or before anything is, and {fails} no check"
    ]
    for verdict in found[:most]:
        happened = map(describe_happening, verdict.grounds.wrong)
        broken = (describe_defect(defect, verdict.case) for defect in verdict.standing)
        lines.append(f"  {_name(verdict.case)}: {one_line('; '.join((*happened, *broken)))}")
    if len(found) > most:
        lines.append(f"  and {len(found) - most} more" + (f": {more}" if more else ""))
    return lines


def history_lines(store: Store, result: Result, metrics: Collection[str]) -> list[str]:
    """A heading for the case, below it a line for each of these metrics, and below that one for each of its turns. One
    line for all of which a single run is stored: they have no history yet."""
    run = store.run(result.run)
    baseline = store.baselines(run.branch).get(result.case.identity.key)
    lines = [_name(result.case)]
    single = []
    for measured in result.measurements:
        if measured.metric not in metrics:
            continue
        found = store.trend(run, result.case, measured, baseline)
        if found.course is None:
            continue
        if len(found.points) == 1:
            single.append(metric_name(measured.metric, result.case))
            continue
        level = quantity(found.course.level, found.unit)
        steady = "" if found.turns else ", no change"
        over = counted(len(found.points), "run")
        lines.append("  " + one_line(f"{metric_name(measured.metric, result.case)}: {level} over {over}{steady}"))
        lines += [f"    {one_line(describe_turn(turn))}" for turn in found.turns]
    if single:
        what = single[0] if len(single) == 1 else counted(len(single), "metric")
        lines.append(
            "  " + one_line(f"{what}: one run has it, so there is no history yet; values: {show_command(result)}")
        )
    return lines


def show_command(result: Result) -> str:
    """The command that shows a case."""
    engine = shlex.quote(engine_token(result.case))
    return f"upright show {shlex.quote(result.case.label)} --engine {engine}"


def _name(case: Case) -> str:
    return one_line(f"{case.label} × {engine_name(case)}")
