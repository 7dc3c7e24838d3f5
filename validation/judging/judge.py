"""The judge: what was accepted and what was found in, a verdict with its grounds out.

Pure. First what became of the case, then the motion (the same bits: nothing has changed), then the one comparison that
all share (`comparison.compare`): its sign is the kind of the verdict.
"""

from dataclasses import replace

from scenarios.scenario import Scenario
from validation.judging.changes import defects_of
from validation.judging.comparison import Comparison, Sign, compare
from validation.judging.ensembles import EnsembleEvidence
from validation.judging.verdict import Finding, Grounds, Verdict, Word
from validation.judging.verdict import exit_status as exit_status
from validation.records.case import Case, Result
from validation.records.simulation import BROKEN, Status
from validation.records.stored import Baseline

VERDICT_OF: dict[Sign, Word] = {
    "worse": "regressed",
    "mixed": "mixed",
    "better": "improved",
    "different": "different",
    "same": "pass",
}


def judge(
    baseline: Baseline | None,
    found: Result,
    scenario: Scenario | None,
    ensemble: EnsembleEvidence | None = None,
    *,
    scene_changed: bool = False,
) -> Verdict:
    """One case against what was accepted for its identity. `scenario` is None where there is none any more: how grave a
    change is cannot be said then.

    With both motions the verdict has where they first part. `ensemble` is what the perturbed initial states of both
    say, of a whole check settled together. `scene_changed`: a default of the scenario is another one than when it was
    accepted, so that this is another scene, of which nothing is accepted yet.
    """
    before = None if baseline is None else baseline.result
    accepted: Status | None = None if before is None else before.outcome
    defects = defects_of(before, found, scenario.laws) if scenario else ()
    moved = before is not None and "" != found.trajectory_hash != before.trajectory_hash != ""
    unequal = before is not None and moved and not bits_are_compared(before.case, found.case)

    def conclude(word: Word, finding: Finding, *, worse: bool = False, of: Comparison | None = None) -> Verdict:
        return Verdict(
            case=found.case,
            word=word,
            worse=worse,
            grounds=Grounds(
                finding=finding,
                outcome=found.outcome,
                why=found.reason,
                accepted=accepted,
                accepted_why=before.reason if before else "",
                settings=_settings_apart(before.case, found.case) if before else (),
                processors=(found.case.processor, before.case.processor) if before and unequal else ("", ""),
                now=of.now if of else (),
                before=of.before if of else (),
                wrong=tuple(one for one in found.outcomes or () if one.right is False and not (of and one in of.now)),
            ),
            changes=tuple(signed.change for signed in of.changes) if of else (),
            defects=defects,
            baseline=None if baseline is None else baseline.number,
            divergence=of.divergence if of and not unequal else None,
        )

    if found.outcome == "adapter_failed":
        return conclude("not compared", "outcome")
    if found.outcome in BROKEN:
        return conclude("broken", "outcome", worse=accepted is not None and accepted not in BROKEN)
    if found.outcome == "declined":
        return conclude("declined" if accepted in (None, "declined", "adapter_failed") else "missing", "outcome")
    known_unmeasured = before is not None and accepted == "completed" and not before.measurements
    if not found.measurements and not known_unmeasured:
        return conclude("missing", "unmeasured")
    if before is None:
        return conclude("new", "nothing accepted")
    if accepted != "completed":
        return conclude("improved" if accepted in BROKEN else "new", "completes")
    if scene_changed:
        return conclude("different", "scene changed")
    if found.trajectory_hash and found.trajectory_hash == before.trajectory_hash:
        return conclude("pass", "same bits")
    if scenario is None:
        return conclude("different", "scene unknown")
    known = {m.metric for m in before.measurements}  # what a later Upright measures besides is no change of the engine
    seen = replace(found, measurements=tuple(m for m in found.measurements if m.metric in known))
    comparison = compare(scenario, before, seen, ensemble)
    word, worse = VERDICT_OF[comparison.sign], comparison.sign in ("worse", "mixed")
    if worse and comparison.broken:
        word = "defect"
    unmoved = not (comparison.changes or comparison.now or comparison.before)
    return conclude(word, "within" if unmoved else "changes", worse=worse, of=comparison)


# --- what was run otherwise ---------------------------------------------------------------------------------------


def _settings_apart(old: Case, new: Case) -> tuple[tuple[str, str, str], ...]:
    """(name, now, when accepted) of the settings that differ, and of the engine's version."""
    names = dict.fromkeys((*new.settings, *old.settings))
    apart = [(name, str(new.settings.get(name, "not set")), str(old.settings.get(name, "not set"))) for name in names]
    apart.append((new.identity.engine, new.engine_version, old.engine_version))
    return tuple((name, now, was) for name, now, was in apart if now != was)


def bits_are_compared(old: Case, new: Case) -> bool:
    """Not where the processor or the C library is another one, if the engine's bits depend on it."""
    return not (old.processor and new.processor) or old.processor == new.processor
