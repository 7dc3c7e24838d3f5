"""What the pytest plugin asks of us, in a process of our own: a JSON object in, one out.

    python -P -m validation.cli.pytest_session < request > answer

    {"list": true}                                                     ->  {"scenarios": [label, ...]}
    {"scenarios", "engines", "profile", "database", "reports", "accept"}  ->  {"run", "summary", "cases": [...]}
    anything that a user can mend                                      ->  {"error": "one line"}

A case has "scenario" and "engine" as they were asked for, "outcome", "verdict", "told" (the sentence), "fails",
"accepted", "metrics", "files" (the motion of one that fails) and "again", the command that repeats it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from validation.cli import one_line
from validation.cli.forge import forge_of
from validation.cli.motion_files import motion_files
from validation.cli.options import Options
from validation.cli.selection import selection_of
from validation.cli.session import Session, run_session
from validation.cli.words import database_words, user_name
from validation.judging.judge import Verdict
from validation.judging.verdict import summary
from validation.report.hints import again_words
from validation.report.jsonl import finite
from validation.report.names import engine_word
from validation.review.lineage import in_repository, lineage_of
from validation.running.runner import Limits
from validation.store import Store, StoredResult, open_store


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Raises what the commands raise for words that are none."""
    if request.get("list"):
        from scenarios.catalogue import canonical_suite

        return {"scenarios": [scenario.label for scenario in canonical_suite()]}
    forge = forge_of(os.environ)
    options = Options(
        scenarios=tuple(request["scenarios"]),
        engines=tuple(request["engines"]),
        profile=request["profile"],
        limits=Limits(),
        ensemble_as_accepted=True,
        database=request["database"],
        branch=forge.branch,
        default_branch=forge.default_branch,
        lineage=lineage_of(forge.base) if forge.base and in_repository() else None,
        labels=forge.labels,
    )
    with open_store(options.database) as store:
        session = run_session(store, options, "pytest")
        accepted = _accept(store, session, request["accept"])
        results = store.results(session.run)
        cases = []
        for word in options.scenarios:
            for engine in options.engines:
                selection = selection_of(store, [word], [engine])
                i = next(i for i, result in enumerate(results) if result.case in selection)
                cases.append(
                    {"scenario": word, "engine": engine}
                    | _case(store, session, i, results[i], accepted, Path(request["reports"]))
                    | {
                        "again": f"upright check {again_words([results[i].case], {results[i].case.label: word})}"
                        + database_words(options.database)
                    }
                )
    return {"run": session.run, "summary": summary(session.verdicts), "cases": cases}


def _accept(store: Store, session: Session, reason: str | None) -> set[int]:
    """Numbers of the cases that are accepted now."""
    if reason is None:
        return set()
    return set(store.accept(session.run, who=user_name(), reason=reason, scope="pytest --upright-accept"))


def _case(
    store: Store, session: Session, i: int, result: StoredResult, accepted: set[int], reports: Path
) -> dict[str, Any]:
    verdict = session.verdicts[i]
    failing = fails(verdict) and result.number not in accepted
    baseline = next((one for one in session.baselines if one.number == verdict.baseline), None)
    files = motion_files(store, result, baseline, reports) if failing and result.trajectory_key else ()
    return {
        "outcome": result.outcome,
        "verdict": verdict.word,
        "told": f"{result.case.label} × {engine_word(result.case)}: {verdict.word}: {verdict.reason}",
        "reason": verdict.reason,
        "fails": failing,
        "accepted": result.number in accepted,
        "metrics": {m.metric: m.value for m in result.measurements},
        "files": [str(file) for file in files],
    }


def fails(verdict: Verdict) -> bool:
    """In a test there is no amber: what breaks, or breaks a law, fails until somebody accepts it."""
    known = verdict.baseline is not None
    return (
        verdict.worse
        or verdict.word == "missing"
        or (not known and (verdict.word == "broken" or bool(verdict.defects)))
    )


def main() -> None:
    from validation.running.kernel_cache import use_kernel_cache

    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints, the answer stands alone
    use_kernel_cache()
    try:
        given = answer(json.loads(sys.stdin.read()))
    except Exception as error:
        if os.environ.get("UPRIGHT_DEBUG"):
            raise
        given = {"error": one_line(error)}
    json.dump(finite(given), out, allow_nan=False)
    out.close()


if __name__ == "__main__":
    main()
