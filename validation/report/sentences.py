"""Verdicts and what they rest on in words: penetration_mean 3.1 mm, was 0.4 mm (7.8 times, allowed 2 times).

And what that means for the bodies, by the templates that the metrics carry: the stack of 10 sinks 3.1 mm on average,
0.4 mm before; allowed up to 0.44 mm.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from validation.judging.comparison import Comparison
from validation.judging.convergence import ORDER
from validation.judging.ensembles import COMPLETED
from validation.judging.evidence.change_points import Shift
from validation.judging.evidence.divergence import ContactDifference, Difference, Divergence
from validation.judging.relations import EXCESS
from validation.judging.trends import Turn
from validation.judging.verdict import FLOOR, MEANING, Allowed, Change, Defect, Move, Verdict, Word
from validation.metrics import METRICS
from validation.metrics.metric import Sentence
from validation.records.case import Case
from validation.records.names import goal_of, metric_name, subject_of
from validation.records.outcome import OPPOSITE, Outcome
from validation.records.quantities import contrast, quantity
from validation.records.simulation import BROKEN, Status
from validation.records.stored import Point
from validation.review.lineage import SHORT

SHOWN = 3  # changes of a verdict
NOT_MEASURED = "not measured"
OF_SHARE = {1.0: "", 0.5: " of the first half", 0.25: " of the first quarter", 0.125: " of the first eighth"}
BESIDE = {
    COMPLETED: Sentence("{new} of the perturbed initial states complete"),
    EXCESS: Sentence("ways of a step that its documents promise to agree differ by {new} times what is allowed"),
    ORDER: Sentence("errors shrink with the power {new} of the time step"),
    "step_time": Sentence("a step takes {new}"),
}
"""Of what is measured beside the metrics of a motion."""


# --- verdicts -----------------------------------------------------------------------------------------------------


def reason_of(verdict: Verdict) -> str:
    """One sentence, with values."""
    state = f" [{verdict.waiver}, by {verdict.waived_by[0]}: {verdict.waived_by[1]}]" if verdict.waiver else ""
    if verdict.text:
        return verdict.text + state
    found, words = verdict.grounds, _finding(verdict)
    if found.accepted is not None and verdict.word not in ("pass", "declined"):
        apart = "; ".join(f"{name} {now}, was {was}" for name, now, was in found.settings)
        words += f" [{apart}]" if apart else ""
    if any(found.processors):
        now, was = (one.split() for one in found.processors)
        fresh, gone = ([word for word in one if word not in other] for one, other in ((now, was), (was, now)))
        words += f"; bits are not compared: {' '.join(fresh) or 'less'}, was {' '.join(gone) or 'without'}"
    elif verdict.divergence is not None:
        words += f"; {describe_divergence(verdict.divergence)}"
    return words + state


def _finding(verdict: Verdict) -> str:
    found = verdict.grounds
    now = describe_outcome(found.outcome, found.why)
    was = describe_outcome(found.accepted, found.accepted_why) if found.accepted else ""
    limits = "; ".join(f"breaks a law: {describe_defect(defect, verdict.case)}" for defect in verdict.defects)
    broken = f"; {limits}" if limits else ""
    match found.finding:
        case "outcome" if verdict.word == "declined":
            return found.why
        case "outcome" if verdict.word == "not compared":
            return found.why
        case "outcome":
            if not was:
                return f"{now}; nothing accepted to compare with"
            both = found.outcome in BROKEN and found.accepted in BROKEN
            return f"{now}; accepted as {was}" if both else f"{now}; {was} when accepted"
        case "unmeasured":
            return f"nothing was measured ({found.why or 'no reason given'})"
        case "nothing accepted":
            return f"nothing accepted to compare with{broken}"
        case "completes":
            return f"completes now; {was} when accepted{broken}"
        case "scene changed":
            return f"the scene changed since it was accepted, accept it anew{broken}"
        case "scene unknown":
            return f"the motion differs, and its scene is gone, so nobody can say how gravely{broken}"
        case "same bits":
            return "bit-identical" + (f"; as accepted, {limits}" if limits else "")
        case "within":
            moved = "" if any(found.processors) else "the motion differs, "
            return f"{moved}no metric moved by more than is allowed{broken}"
    described = [*_happened(found.now, found.before)]
    described += [
        f"breaks a law that it kept: {describe_defect(defect, verdict.case)}"
        for defect in verdict.defects
        if not defect.standing
    ]
    shown = 1 if found.now or found.before else SHOWN  # what happened says more than what it is measured by
    described += [describe_change(change, verdict.case) for change in verdict.changes[:shown]]
    more = len(verdict.changes) - shown
    listed = "; ".join(described) + (f"; and {more} more" if more > 0 else "")
    return f"nothing that counts: {listed}" if verdict.word == "pass" else listed


def describe_outcome(outcome: Status, why: str) -> str:
    """crashed (SIGSEGV after 1.3 s)"""
    word = outcome.replace("_", " ")
    return f"{word} ({why})" if why else word


NOUNS: dict[Word, tuple[str, str]] = {
    "not compared": ("not compared", "not compared"),
    "broken": ("broken", "broken"),
    "defect": ("defect", "defects"),
    "regressed": ("regression", "regressions"),
    "mixed": ("mixed", "mixed"),
    "missing": ("missing", "missing"),
    "different": ("different", "different"),
    "improved": ("improvement", "improvements"),
    "new": ("new", "new"),
    "pass": ("unchanged", "unchanged"),
    "declined": ("declined", "declined"),
}
WAIVED_NOUNS: dict[str, tuple[str, str]] = {
    "known": ("known issue", "known issues"),
    "quarantined": ("quarantined", "quarantined"),
    "not a fault": ("false positive", "false positives"),
    "accepted": ("accepted", "accepted"),
}


def describe_counts(words: Mapping[str, int], waivers: Mapping[str, int], *, worse: bool, wrong: int) -> str:
    """2 regressions, 1 improvement, 211 unchanged; 3 standing defects

    What is waived counts as that alone: 0 new regressions, 1 known issue, 212 unchanged. `worse`: whether anything
    fails; `wrong`: how many standing defects there are.
    """
    counts = [(words.get(word, 0), *NOUNS[word]) for word in MEANING]
    at = list(MEANING).index("missing")  # behind what fails
    counts[at:at] = [(waivers.get(state, 0), *nouns) for state, nouns in WAIVED_NOUNS.items()]
    described = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    if any(waivers.values()) and not worse:
        described.insert(0, "0 new regressions")
    defects = f"; {wrong} standing defect{'' if wrong == 1 else 's'}" if wrong else ""
    return (", ".join(described) or "nothing was judged") + defects


def summary(verdicts: Iterable[Verdict]) -> str:
    """Of one run, as `describe_counts` has it."""
    known = list(verdicts)
    return describe_counts(
        Counter(verdict.word for verdict in known if not verdict.waiver),
        Counter(verdict.waiver for verdict in known if verdict.waiver),
        worse=any(verdict.worse for verdict in known),
        wrong=sum(verdict.stands_wrong for verdict in known),
    )


# --- what moved ----------------------------------------------------------------------------------------------------


def describe_change(change: Change, case: Case) -> str:
    """With its values; the metric by the name that it has in this case."""
    name = metric_name(change.metric, case)
    if change.allowed is None and math.isnan(change.old):
        return f"{name}: {quantity(change.new, change.unit)}, not measured before"
    if change.allowed is None:
        return f"{name}: no longer measured, was {quantity(change.old, change.unit)}"
    evidence = describe_evidence(change)
    sure = f" ({evidence})" if evidence else ""
    if math.isnan(change.new):
        return f"{name}: no longer happens, was {quantity(change.old, change.unit)}{sure}"
    if math.isnan(change.old):
        return f"{name}: {quantity(change.new, change.unit)}, did not happen before{sure}"
    new, old = contrast(change.new, change.old, change.unit)
    sure = f"{evidence}; " if evidence else ""
    return f"{name} {new}, was {old} ({_how_much(change)}{sure}allowed {describe_allowed(change)})"


def describe_allowed(change: Change) -> str:
    """10 %, 2 times or by 0.71 mm"""
    allowed = change.allowed
    if not isinstance(allowed, Allowed):
        return allowed or NOT_MEASURED
    much = f"{allowed.factor:g} times" if allowed.factor >= 2.0 else f"{100 * (allowed.factor - 1):.3g} %"
    floor = quantity(allowed.floor, change.unit, digits=2, beside=(change.new, change.old))
    return f"{much} or by {floor}" if allowed.floor > FLOOR else much


def describe_evidence(change: Change) -> str:
    """medians of 20 starts; p = 3e-10, effect 0.99"""
    starts = change.evidence
    if isinstance(starts, str):
        return starts
    sizes = f"{starts.new} and {starts.old}"
    if starts.effect is None:
        return f"of {sizes} starts; p = {starts.p:.1g}"
    sizes = f"{starts.new}" if starts.old == starts.new else sizes
    return f"medians{OF_SHARE[starts.until]} of {sizes} starts; p = {starts.p:.1g}, effect {starts.effect:.2f}"


def _how_much(change: Change) -> str:
    ratio = change.ratio
    if not ratio or change.new * change.old < 0.0:
        return ""
    if abs(ratio - 1.0) < 0.5:
        return f"{100 * (ratio - 1):+.2g} %, "
    return f"{times(ratio)}, " if ratio >= 1.0 else f"{times(1 / ratio)} less, "


def times(ratio: float) -> str:
    """1.7 times, 8 times, 340 times, 2.1e+06 times"""
    return f"{ratio:.0f} times" if 100.0 <= ratio < 1e5 else f"{ratio:.2g} times"


def describe_defect(defect: Defect, case: Case) -> str:
    """With its values; the metric by the name that it has in this case."""
    value, limit = contrast(defect.value, defect.limit, defect.unit)
    return f"{metric_name(defect.metric, case)} {value} (physics allows {limit})"


# --- where motions differ --------------------------------------------------------------------------------------------


def describe_difference(difference: Difference) -> str:
    """t = 0.2 s (sample 12): box 3, angle, by 3.0e-12 rad, and 2 other bodies"""
    more = {0: "", 1: ", and 1 other body"}.get(difference.others, f", and {difference.others} other bodies")
    by = quantity(difference.size, difference.unit, digits=2)
    where = f"{difference.body}, {difference.coordinate}"
    return f"t = {difference.time:.4g} s (sample {difference.sample}): {where}, by {by}{more}"


def describe_contact(contact: ContactDifference) -> str:
    if contact.what in ("made", "gone"):
        when = "only now" if contact.what == "made" else "no longer"
        return f"contact {contact.a} on {contact.b} {when} at t = {contact.time:.4g} s"
    by = quantity(contact.size, contact.unit, digits=2)
    return f"contact {contact.a} on {contact.b}, {contact.what}, by {by} at t = {contact.time:.4g} s"


def describe_divergence(divergence: Divergence) -> str:
    """first differs at t = 0.2 s (sample 12): box 3, angle, by 3.0e-12 rad; at the end box 9, y, by 1.4 mm"""
    if divergence.first is None:
        described = "the samples stored are the same in both, the engine's own state between them is not"
        return f"{described}; {describe_contact(divergence.contact)}" if divergence.contact else described
    described = f"first differs at {describe_difference(divergence.first)}"
    if divergence.contact:
        described += f"; {describe_contact(divergence.contact)}"
    if divergence.last and divergence.last.time > divergence.first.time:
        by = quantity(divergence.last.size, divergence.last.unit, digits=2)
        described += f"; at the end {divergence.last.body}, {divergence.last.coordinate}, by {by}"
    return described


# --- two sides ------------------------------------------------------------------------------------------------------


def describe_comparison(comparison: Comparison) -> str:
    """Of what happened, the outcomes and laws; "" where the changes are enough."""
    old, new = comparison.old, comparison.new
    if comparison.measured:
        found = (("breaks", comparison.broken), ("no longer breaks", comparison.mended))
        laws = (f"{what} a law: {describe_defect(one, new.case)}" for what, defects in found for one in defects)
        return "; ".join((*_happened(comparison.now, comparison.before), *laws))
    if old.outcome == new.outcome == "declined":
        return new.reason
    before, after = (describe_outcome(side.outcome, side.reason) for side in (old, new))
    return f"{before} \N{RIGHTWARDS ARROW} {after}"


def _happened(now: Sequence[Outcome], before: Sequence[Outcome]) -> Iterator[str]:
    """now: block went through ground at 0.33 s, 96 m further at the end; the first few of each side"""
    for word, side in (("now", now), ("before", before)):
        yield from (f"{word}: {describe_happening(one)}" for one in side[:SHOWN])
        if len(side) > SHOWN:
            yield f"{word}: {len(side) - SHOWN} more of what happens there alone"


def describe_happening(one: Outcome) -> str:
    """block went through ground at 0.333 s, 96 m from there at the end; nothing came to rest"""
    names = [*one.bodies[:SHOWN], *([f"{len(one.bodies) - SHOWN} more"] if len(one.bodies) > SHOWN else [])]
    listed = " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    far = quantity(one.value, one.unit) if one.value is not None else ""
    when = f" at {quantity(one.time, 's')}" if one.time else ""
    match one.kind:
        case "went through":
            words = f"{one.bodies[0]} went through {one.bodies[1]}{when}, {far} from there at the end"
        case "left":
            words = f"{one.bodies[0]} left {one.bodies[1]}{when}, {far} from there at the end"
        case "came apart" if len(one.bodies) > 1:
            words = f"{listed} came apart at their joint{when}, {far} at the end"
        case "came apart":
            words = f"{listed} came off its joint{when}, {far} at the end"
        case "blew up":
            words = f"it blew up{when}: {far} from nowhere"
        case "hangs":
            words = f"{listed} hangs in the air, {f'{far} from its free fall' if far else 'held by nothing'}"
        case "bounced":
            words = f"{listed} bounced {one.value:g} times, {one.wanted:g} by its exact motion"
        case "keeps moving":
            words = f"{listed} keeps moving, though friction should stop it"
        case "came to rest" | "never rested":
            words = f"it {one.kind}{when}"
        case _:
            words = f"{listed} {one.kind}{when}"
    return words + (" (wrong)" if one.right is False and one.kind in OPPOSITE else "")


# --- histories ------------------------------------------------------------------------------------------------------


def describe_turn(turn: Turn) -> str:
    """worse by 5.1 % (2.6 times what is allowed, 6.2 standard deviations) at a1b2c3d4 (run 212): 12.5 µs before, ..."""
    new, old = contrast(turn.shift.after, turn.shift.before, turn.unit)
    how, first = _how(turn.shift, turn.move), _commit(turn.first)
    if turn.kind == "accumulated":
        words = f"{how} little by little since {first}: {old} then, {new} now"
    elif turn.kind == "drift":
        words = f"{how} slowly from {first} to {_commit(turn.last)}: {old} before, {new} since"
    else:
        version, was = turn.first.engine_version, turn.before.engine_version
        changed = f", {version} after {was}" if version != was else ""
        words = f"{how} at {first}{changed}: {old} before, {new} since"
    return words if turn.again is None else f"{words}; a rerun has {quantity(turn.again, turn.unit)}"


def describe_time(turn: Turn, verdict: Verdict) -> str:
    """The turn of the time of a step, beside what became of the motion: speed may have been bought with accuracy."""
    if turn.move == "improved" and verdict.word in ("regressed", "defect", "mixed"):
        return f"{describe_turn(turn)}; bought with accuracy: {reason_of(verdict)}"
    return describe_turn(turn)


def _how(shift: Shift, move: Move) -> str:
    """worse by 5.1 % (2.5 times what is allowed, 6.2 standard deviations)"""
    word = {"regressed": "worse", "improved": "better", "different": "different"}[move]
    share = abs(shift.size / shift.before) if shift.before else math.inf
    by = f" by {100 * share:.2g} %" if share < 1.0 else ""
    sure = "constant before" if math.isinf(shift.evidence) else f"{shift.evidence:.2g} standard deviations"
    return f"{word}{by} ({shift.tolerances:.2g} times what is allowed, {sure})"


def _commit(point: Point) -> str:
    return f"{point.commit[:SHORT]} (run {point.run})" if point.commit else f"run {point.run}"


# --- what it means for the bodies ----------------------------------------------------------------------------------


def meaning(change: Change | Defect, case: Case, *, allowed: str = "") -> str:
    """One sentence without its stop; both values, with enough digits to distinguish them. `allowed` is the
    value that would have been, in words."""
    if isinstance(change, Defect):
        value, limit = contrast(change.value, change.limit, change.unit)
        return f"{_means(change.metric, change.value, value, case)}; physics allows {limit}"
    if change.allowed is None:
        gone = "can no longer" if math.isnan(change.new) else "could not before"
        return f"{metric_name(change.metric, case)} {gone} be measured"
    new, old = contrast(change.new, change.old, change.unit)
    if math.isnan(change.new):
        return f"{_sentence(change.metric).never or f'{metric_name(change.metric, case)} is no number'} any more"
    now = _means(change.metric, change.new, new, case)
    if math.isnan(change.old):
        return f"{now}; before, {_sentence(change.metric).never or 'it was no number'}"
    return f"{now}, {old} before" + (f"; allowed {allowed}" if allowed else "")


def worst_meaning(verdict: Verdict) -> str:
    """Of what happened, else of the law that is newly broken, else of the gravest change; "" where nothing moved."""
    if verdict.grounds.finding == "completes":
        return ""
    if verdict.grounds.now or verdict.grounds.before:
        return "; ".join(_happened(verdict.grounds.now, verdict.grounds.before))
    fresh = [defect for defect in verdict.defects if not defect.standing]
    described: tuple[Change | Defect, ...] = (*fresh, *verdict.changes)
    return meaning(described[0], verdict.case) if described else ""


def _means(metric: str, value: float, text: str, case: Case) -> str:
    sentence = _sentence(metric)
    if math.isnan(value):
        return sentence.never or f"{metric_name(metric, case)} is no number"
    name = goal_of(metric, case.identity.scenario, case.parameters) or metric_name(metric, case)
    subject = subject_of(case)
    template = (subject and sentence.of_subject) or sentence.of_bodies
    return template.format(name=name, new=text, subject=subject)


def _sentence(metric: str) -> Sentence:
    return METRICS[metric].sentence if metric in METRICS else BESIDE.get(metric, Sentence())
