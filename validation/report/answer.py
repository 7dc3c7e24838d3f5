"""The answer of a comparison, in at most five lines that one can forward: whether to upgrade, and why, by cause.

mujoco==3.3.7 → mujoco==3.4.0: do not upgrade yet. Worse in 3 of 160 scenarios, better in 12, different in 20.
Worse: box went through block 2 at 0.31 s, 96 m from there at the end (a box and a box; stack:n=10 and 2 more)
Better: ...
What changed: contact of two boxes: 42 of 42 scenarios with it move otherwise, 0 of 118 without.
Speed: steps are 1.4 times slower (confirmed by a rerun of 4 cases).
"""

import shlex
from collections.abc import Sequence

from validation.judging.causes import Cause, Finding, causes_of, labels, shared_by
from validation.judging.comparison import Comparison, Sign, law_of
from validation.judging.relations import Agreed, Related
from validation.records.quantities import counted, quantity
from validation.report.sentences import describe_comparison, describe_difference, describe_happening, meaning, times
from validation.running.comparing import Compared

MOST_CAUSES = 3  # lines of the answer that name one
NAMED = 2  # scenarios of a cause
HEADINGS: dict[Sign, str] = {
    "not compared": "Not compared",
    "worse": "Worse",
    "mixed": "Mixed",
    "better": "Better",
    "different": "Different",
}


def answer(done: Compared, causes: Sequence[Cause] | None = None) -> list[str]:
    """At most five lines. `causes`: those of its comparisons, where they are known already."""
    causes = causes_of(done.comparisons) if causes is None else causes
    lines = [f"{done.names[0]} \N{RIGHTWARDS ARROW} {done.names[1]}: {_advice(done)}"]
    parted = _what_changed(done)
    speed = _speed(done)
    lines_left = 5 - len(lines) - len(parted) - len(speed)
    named = _chosen(causes, min(lines_left, MOST_CAUSES))
    return [*lines, *(cause_line(cause, done) for cause in named), *parted, *speed]


def _chosen(causes: Sequence[Cause], most: int) -> list[Cause]:
    """The gravest, but the first of each sign, then a broken promise, which is the reason of others, then the first of
    each kind, before a second one."""
    signs: dict[Sign, Cause] = {}
    kinds: dict[tuple[Sign, str], Cause] = {}
    for cause in causes:
        signs.setdefault(cause.worst.sign, cause)
        kinds.setdefault((cause.worst.sign, cause.worst.kind), cause)
    promises = [cause for cause in causes if cause.worst.related is not None]
    ranked = [*signs.values(), *promises[:1], *kinds.values(), *causes]
    chosen = list({id(cause): cause for cause in ranked}.values())[:most]
    return [cause for cause in causes if cause in chosen]


def _advice(done: Compared) -> str:
    """do not upgrade yet. Worse in 3 of 160 scenarios, better in 12."""
    by_sign = {sign: len(labels(c for c in done.comparisons if c.sign == sign)) for sign in HEADINGS}
    compared = [c for c in done.comparisons if c.sign != "declined"]
    total = counted(len(labels(compared)), "scenario")
    verb, doing = ("upgrade", "upgrading") if _is_upgrade(compared) else ("switch", "switching")
    counts = [f"{sign} in {number}" for sign, number in by_sign.items() if number]
    listed = f"{', '.join(counts)} of {total}.".capitalize() if counts else ""
    partial = done.compared < done.planned
    if not compared:
        found = "both sides decline every scenario, so nothing is compared."
    elif by_sign["worse"]:
        found = f"do not {verb} yet. {listed}"
    elif by_sign["mixed"]:
        found = f"mixed: weigh what is worse against what is better before you {verb}. {listed}"
    elif by_sign["not compared"]:
        found = f"not all could be compared, by a fault of ours. {listed}"
    elif partial:
        found = f"nothing is worse so far in {total}. {listed}"
    elif by_sign["better"]:
        found = f"nothing got worse: {verb}. {listed}"
    elif by_sign["different"]:
        found = f"nothing got worse or better, but see whether the differences matter to you. {listed}"
    elif all(one.identical for one in compared):
        found = f"the same bits in {total}: {doing} changes no motion."
    else:
        found = f"no difference that can be seen in {total}: you can {verb}."
    return f"after {done.compared} of {done.planned} cases, {found.strip()}" if partial else found


def _is_upgrade(compared: Sequence[Comparison]) -> bool:
    """Another version of one engine, rather than other settings or another engine."""
    cases = [(one.old.case, one.new.case) for one in compared]
    return any(a.identity.engine == b.identity.engine and a.engine_version != b.engine_version for a, b in cases)


def _what_changed(done: Compared) -> list[str]:
    """In what scenarios, and by how much in a step from the same state, before any chaos."""
    shared = shared_by(done.comparisons)[:1]
    words = [
        f"{one.what}: {one.moved} of {one.having} scenarios with it move otherwise, "
        f"{one.moved_beside} of {one.beside} without"
        for one in shared
    ]
    claimed = [(replay.greatest, label) for label, replay in done.replays if replay.greatest and replay.claimed]
    if claimed:
        greatest, label = max(claimed, key=lambda one: one[0].size)
        by = quantity(greatest.size, "m/s", digits=2)
        words.append(f"one step from the same state differs by up to {by} ({greatest.body} in {label})")
    return [f"What changed: {'; '.join(words)}"] if words else []


def _speed(done: Compared) -> list[str]:
    """Nothing where steps take as long as before."""
    if done.speed is None:
        return []
    ratio = done.speed.ratio
    how = f"{times(ratio)} slower" if ratio > 1.0 else f"{times(1.0 / ratio)} faster"
    return [f"Speed: steps are {how} (confirmed by a rerun of {counted(done.speed.cases, 'case')})"]


# --- causes ---------------------------------------------------------------------------------------------------------


def cause_line(cause: Cause, done: Compared) -> str:
    """Worse: box went through block 2 at 0.31 s (a box and a plane, 3 scenarios: stack:n=10, pile:n=12 and 1 more)"""
    names = cause.scenarios
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    law = law_of(cause.worst.change.metric) if cause.worst.change and cause.worst.sign != "different" else ""
    where = [law] if law else []
    where += [cause.worst.among] if cause.worst.among not in ("", cause.worst.comparison.scenario.name) else []
    where += [cause.worst.comparison.variant] if cause.worst.comparison.variant else []
    every = {c.new.case.identity.profile for c in done.comparisons}
    where += [f"profile {cause.profiles[0]}"] if len(every) > 1 and len(cause.profiles) == 1 else []
    where += [f"{counted(len(names), 'scenario')}: {', '.join(names[:NAMED])}{more}"]
    return f"{HEADINGS[cause.worst.sign]}: {describe_finding(cause.worst)} ({'; '.join(where)})"


def describe_finding(finding: Finding) -> str:
    """What it means for the bodies, with both values."""
    case = finding.comparison.new.case
    if finding.related is not None:
        return describe_promise(finding.related)
    if finding.starts is not None:
        one = finding.starts
        what = f"{one.what.body} {one.what.kind}".strip()
        return f"{what} in {one.new} of {one.sizes[1]} perturbed initial states, {one.old} of {one.sizes[0]} before"
    if finding.outcome is not None:
        gone = "no longer: " if finding.sign == "better" else ""
        return f"{gone}{describe_happening(finding.outcome)}"
    if finding.defect is not None:
        gone = "no longer breaks" if finding.sign == "better" else "breaks"
        return f"{meaning(finding.defect, case)}: {gone} the law"
    if finding.change is not None:
        return meaning(finding.change, case)
    if finding.kind == "ended":
        return describe_comparison(finding.comparison)
    parted = finding.comparison.divergence
    last = f"; at the end {describe_difference(parted.last)}" if parted and parted.last else ""
    return f"the motion is another one{last}"


def describe_promise(related: Related) -> str:
    """dense and sparse Jacobian agree: to 2.1e-14 m/s in A, 12 m/s apart in B at t = 0.3 s (leg 3 on leg 7, impact)"""
    return f"{related.relation.name}: {', '.join(_on_side(side, name) for side, name in zip(related.sides, 'AB'))}"


def _on_side(side: Agreed, name: str) -> str:
    size = quantity(side.size, "m/s", digits=2)
    if side.met or side.where is None:
        return f"to {size if side.size else 'the last bit'} in {name}"
    bodies = " on ".join(filter(None, (side.where.body, side.where.partner)))
    return f"{size} apart in {name} at t = {quantity(side.where.time, 's')} ({bodies}, {side.where.phase})"


def show_command(finding: Finding, number: int, database: str) -> str:
    """Plays both motions beside each other, of the comparison that is stored under this number."""
    return f"upright show {shlex.quote(finding.comparison.scenario.label)} --comparison {number}{database}"
