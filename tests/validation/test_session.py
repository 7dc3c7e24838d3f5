"""What one invocation does beyond its cases: what is missing is said, and a stopped run goes on as it was asked for."""

from __future__ import annotations

import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.validation.store.made import case, info, result
from validation.cli import serve
from validation.judging.judge import exit_status
from validation.records.case import Case, Identity, platform_class
from validation.report.sentences import reason_of, summary
from validation.report.terminal import left_out_line
from validation.review.lineage import Lineage
from validation.running import session as sessions
from validation.running.options import Options, Stopped
from validation.running.runner import Limits
from validation.running.selection import absent
from validation.running.session import resume_session, run_session
from validation.store import Store, open_store


def here(scenario: str, engine: str = "pymunk") -> Case:
    """Of this kind of machine."""
    found = case(scenario, engine)
    known = asdict(found.identity) | {"platform": platform_class()}
    return replace(found, identity=Identity(**known))


def ran(store: Store, *cases: Case, accepted: bool = False, **words: Any) -> int:
    run = store.begin_run(info(), cases, asked={"words": words})
    store.save_results(run, [result(one) for one in cases])
    store.finish_run(run)
    if accepted:
        store.accept(run, who="R.", reason="x")
    return run


def labels(cases: Any) -> list[str]:
    return [one.identity.scenario for one in cases]


def test_missing_is_what_a_run_by_the_same_words_has_had(tmp_path: Path) -> None:
    """The rest nobody asked for."""
    stack, pile, own = here("stack"), here("pile"), here("own", "mine.Engine")
    with open_store(tmp_path / "x.db") as store:
        ran(store, stack, pile, accepted=True)
        ran(store, own, accepted=True, engines=["mine.Engine"])
        everything = ran(store, stack)
        missing, left_out = absent(store, everything, store.baselines_of(everything), [stack])
        assert (labels(r.case for r in missing), labels(left_out)) == (["pile"], ["own"])
        some = ran(store, stack, scenarios=["stack"])
        missing, left_out = absent(store, some, store.baselines_of(some), [stack])
        assert (missing, labels(left_out)) == ([], ["pile", "own"])
        described = left_out_line(left_out)
        assert described.startswith("not asked for, and so not judged: 2 accepted cases (pile:n=10 × pymunk, own")


@pytest.mark.slow
def test_an_engine_that_is_gone_is_missing_until_that_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = Options(scenarios=("slide-to-roll",), limits=Limits(workers=1), quiet=True)
    with open_store("x.db") as store:
        monkeypatch.setattr(sessions, "default_engines", lambda: ["pymunk", "box2d"])
        store.accept(run_session(store, options, "x").run, who="R.", reason="x")
        monkeypatch.setattr(sessions, "default_engines", lambda: ["pymunk"])
        found = run_session(store, options, "x")
        assert summary(found.verdicts) == "1 missing, 1 unchanged"
        assert (exit_status(found.verdicts), exit_status(found.verdicts, strict=True)) == (0, 1)
        (group,) = store.groups(found.run)
        assert (group.kind, group.engine, group.light) == ("missing", "box2d", "amber")
        assert "not run: no longer in the plan" in reason_of(group.worst.verdict)
        store.accept(found.run, who="R.", reason="box2d is dropped")
        assert absent(store, found.run, store.baselines_of(found.run), [found.verdicts[0].case]) == ([], [])


@pytest.mark.slow
def test_a_resumed_run_is_measured_and_compared_as_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lineage = Lineage(base="main", merge_base="b", commits=frozenset("ab"))
    options = Options(
        scenarios=("incline-slide",),
        engines=("pymunk",),
        limits=Limits(workers=1),
        quiet=True,
        ensemble=10,
        order=True,
        branch="feature",
        lineage=lineage,
    )

    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    with open_store("x.db") as store:
        monkeypatch.setattr(sessions, "ensembles_of", stopped)
        with pytest.raises(Stopped):
            run_session(store, options, "x")
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        found = resume_session(store, Options(limits=Limits(workers=1), quiet=True))
        (one,) = store.results(found.run)
        assert store.run(found.run).finished and "convergence_order" in {m.metric for m in one.measurements}
        (ensemble,) = found.ensembles.values()
        kept = store.ensemble(one.number)
        assert ensemble.starts == 10 and kept and len(kept.series) == len(ensemble.series) > 0


def test_a_users_tests_are_judged_as_a_pull_request_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the ensembles that were accepted, and against the merge base that the server tells of."""
    who = {f"GIT_{who}_{what}": "r@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    asked: list[Options] = []

    def seen(store: Store, options: Options, command: str) -> None:
        asked.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(serve, "run_session", seen)
    for name in ("GITLAB_CI", "GITHUB_EVENT_PATH"):
        monkeypatch.delenv(name, raising=False)
    described = {"GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "main", "GITHUB_HEAD_REF": "lower"}
    for name, value in (who | described).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    request = {"do": "test", "scenarios": ["pile"], "engines": ["pymunk"], "profile": None, "database": "x.db"}
    with pytest.raises(KeyboardInterrupt):
        serve.answer(request)
    for words in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *words], check=True)
    with pytest.raises(KeyboardInterrupt):
        serve.answer(request)
    outside, inside = asked
    assert outside.lineage is None and outside.ensemble_as_accepted
    assert inside.lineage and inside.lineage.base == "main" and inside.branch == "lower"
