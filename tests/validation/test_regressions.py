"""Regressions are listed as text, and what is said of them decides whether a check fails."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from scenarios.catalogue import FAMILIES
from tests.validation.command import call
from tests.validation.store.made import case, info, judged
from tests.validation.store.test_branches import checked as on
from tests.validation.store.test_branches import history
from tests.validation.store.test_groups import bad, checked, good, moved
from validation.judging.judge import exit_status
from validation.judging.verdict import Change, Defect
from validation.metrics import METRICS
from validation.metrics.metric import Sentence
from validation.records.names import subject_of
from validation.report.sentences import meaning, reason_of
from validation.review.groups import waived
from validation.store import Store, open_store

STACK, PILE = case("stack"), case("pile")


class Command:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.given = monkeypatch, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        return call(*self.given, *words)


@pytest.fixture
def upright(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """In a folder of its own, by R."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    monkeypatch.setenv("UPRIGHT_USER", "R.")
    return Command(monkeypatch, capsys)


def regressed(store: Store) -> int:
    good(store, STACK, PILE)
    return checked(store, "bbbb", *bad(STACK, PILE))


def test_a_group_is_told_with_figures_commits_and_what_it_means(upright: Command) -> None:
    with open_store("upright.db") as store:
        regressed(store)
    code, out, _ = upright("regressions")
    described = " ".join(out.split())
    assert code == 1
    assert "since bbbb (run 2), not in aaaa (run 1): new" in described
    assert "stack:n=10 × pymunk@fair: penetration mean 3 mm, was 0.4 mm (7.5 times" in described
    assert "the stack of 10 sinks 3 mm on average, 0.4 mm before" in described
    assert "1 new, as seen from run 2 at bbbb" in described


def test_as_json_a_group_is_a_line(upright: Command) -> None:
    with open_store("upright.db") as store:
        regressed(store)
    code, out, _ = upright("regressions", "--json")
    line = json.loads(out)
    assert code == 1 and line["state"] == "new" and line["first_bad"] == {"run": 2, "commit": "bbbb", "dirty": False}
    assert {(one["scenario"], one["metric"], one["old"], one["new"]) for one in line["cases"]} == {
        ("stack:n=10", "penetration_mean", 4e-4, 3e-3),
        ("pile:n=10", "penetration_mean", 4e-4, 3e-3),
    }


def test_what_is_known_fails_nothing_until_that_is_taken_back(upright: Command) -> None:
    with open_store("upright.db") as store:
        run = regressed(store)
        key = store.groups(run)[0].key
    code, out, _ = upright("mark", "known", key[:6], "--link", "#31", "--reason", "the cache")
    assert code == 0 and "2 cases" in out and "which is known now   (R.)" in out
    with open_store("upright.db") as store:
        verdicts = waived(store.verdicts(run), store.groups(run), run)
    assert exit_status(verdicts) == 0 and all("[known, by R.: the cache]" in reason_of(verdict) for verdict in verdicts)
    code, out, _ = upright("regressions")
    assert code == 0 and "entry 2: known by R." in out and "#31: the cache" in out
    assert upright("undo", "2", "--reason", "another fault")[0] == 0
    assert upright("regressions")[0] == 1
    code, out, _ = upright("ledger")
    assert code == 0 and "entry 2: known" in out and "(undone by entry 3)" in out


def test_a_part_of_a_group_can_be_marked(upright: Command) -> None:
    with open_store("upright.db") as store:
        run = regressed(store)
        key = store.groups(run)[0].key
    words = ("mark", "quarantine", key, "--until", "2099-01-01", "--reason", "x", "--scenario")
    assert upright(*words, "stack:n=10")[0] == 0
    with open_store("upright.db") as store:
        (group,) = store.groups(run)
        assert {m.verdict.case.label: m.state for m in group.members} == {
            "stack:n=10": "quarantined",
            "pile:n=10": "new",
        }
        assert exit_status(waived(store.verdicts(run), [group], run)) == 1
    code, _, err = upright(*words, "dominoes")
    assert code == 2 and "'dominoes' is not in group" in err and err.count("\n") == 1


def test_a_group_can_be_accepted_as_a_whole_and_nothing_else_with_it(upright: Command) -> None:
    box = case("stack", "box2d")
    with open_store("upright.db") as store:
        good(store, STACK, PILE, box)
        run = checked(store, "bbbb", *bad(STACK, PILE, box))
        key = next(group.key for group in store.groups(run) if group.engine == "pymunk")
    code, out, _ = upright("accept", "--group", key[:6], "--reason", "the new solver")
    assert code == 0 and "accepted 2 cases of run 2: the new solver" in out
    with open_store("upright.db") as store:
        assert {group.engine: group.state for group in store.groups(run)} == {"pymunk": "accepted", "box2d": "new"}
        assert store.entries(limit=1)[0].scope == f"group {key}: regressed on pymunk since bbbb (run 2)"
    code, _, err = upright("accept", "stack", "--group", key, "--reason", "x")
    assert code == 2 and "--group: names its cases itself" in err


def test_who_accepts_an_older_commit_late_is_told_that_it_changes_nothing(upright: Command) -> None:
    with open_store("upright.db") as store:
        first, _ = on(store, "main", "a", *bad(STACK), known=history("a"))
        second, _ = on(store, "main", "b", *bad(STACK), known=history("b"))
    assert "change nothing" not in upright("accept", "--run", str(second), "--reason", "x")[1]
    code, out, _ = upright("accept", "--run", str(first), "--reason", "late")
    assert code == 0 and "1 of them change nothing: a later commit's baseline stays in effect" in out


def test_what_breaks_a_law_as_it_always_did_is_listed_and_fails_nothing(upright: Command) -> None:
    """Also a wrong result that was accepted."""
    cases = [case(f"s{i}") for i in range(5)]
    with open_store("upright.db") as store:
        for commit in ("aaaa", "bbbb"):
            results = [moved(one, 1e-3 * (i + 1), 0.0) for i, one in enumerate(cases)]
            run = store.begin_run(info(commit=commit), cases)
            store.save_results(run, results)
            baselines = store.baselines_of(run)
            law = {"penetration_mean": 1.5e-3}
            store.save_verdicts(run, [judged(baselines.get(r.case.identity.key), r, law) for r in results])
            store.finish_run(run)
            assert [v.case.identity.scenario for v in store.standing(run)] == ["s4", "s3", "s2", "s1"]
            store.accept(run, who="R.", reason="first look")
    code, out, _ = upright("regressions")
    assert code == 0 and "nothing is worse" in out
    described = out.splitlines()[1:]
    assert described[0].startswith("4 standing defects: these are wrong by what happens or by a law")
    assert described[1] == "  s4:n=10 × pymunk@fair: penetration mean 5 mm (physics allows 1.5 mm)"
    assert described[-1] == "  and 1 more: upright regressions --all --run 2" and len(described) == 5
    assert "s1:n=10" in upright("regressions", "--all")[1]


@pytest.mark.parametrize(
    ("words", "lacking"),
    [
        (["mark", "known", "{key}", "--reason", "x"], "link: none is given"),
        (["mark", "quarantine", "{key}", "--reason", "x"], "until: a quarantine needs a day"),
        (["mark", "reject", "{key}", "--reason", " "], "reason: none is given"),
        (["mark", "reject", "0000", "--reason", "x"], "group 0000: names none of run 2"),
        (["undo", "7", "--reason", "x"], "entry 7: not in the ledger; it has: 1"),
        (["regressions", "--run", "9"], "run 9: not in this database"),
    ],
)
def test_what_cannot_be_said_is_one_line(words: list[str], lacking: str, upright: Command) -> None:
    with open_store("upright.db") as store:
        key = store.groups(regressed(store))[0].key
    code, out, err = upright(*(word.replace("{key}", key) for word in words))
    assert (code, out) == (2, "") and lacking in err and err.count("\n") == 1, err


def test_without_a_run_it_says_what_to_do(upright: Command) -> None:
    code, _, err = upright("regressions")
    assert code == 2 and "no run is stored in upright.db; run something first: upright check" in err
    assert "the ledger is empty" in upright("ledger")[1]


def changed(metric: str, old: float, new: float, unit: str = "m", allowed: str | None = "10 %") -> Change:
    return Change(metric=metric, old=old, new=new, unit=unit, move="regressed", allowed=allowed)


@pytest.mark.parametrize(
    ("change", "described"),
    [
        (changed("penetration_mean", 5e-4, 2.1e-3), "the stack of 10 sinks 2.1 mm on average, 0.5 mm before"),
        (changed("rest_time", 1.5, math.nan, "s"), "bodies do not come to rest any more"),
        (
            changed("rest_time", math.nan, 1.5, "s"),
            "the stack of 10 comes to rest after 1.5 s; before, bodies do not come to rest",
        ),
        (changed("energy_drift", 1.0, math.nan, "J", None), "energy drift can no longer be measured"),
        (changed("wobble", 1.0, 2.0), "wobble is 2 m, 1 m before"),
        (
            Defect(metric="energy_gain", value=2.0, limit=0.1, unit="J", standing=False),
            "the stack of 10 gains 2 J of energy from nowhere; physics allows 0.1 J",
        ),
    ],
)
def test_what_a_change_means_is_said_in_words(change: Change | Defect, described: str) -> None:
    assert meaning(change, STACK) == described


def test_of_a_users_own_scene_bodies_are_told() -> None:
    own = case("my_scene.json", parameters={})
    described = meaning(changed("penetration_mean", 5e-4, 2.1e-3), own, allowed="up to 0.55 mm")
    assert described == "bodies sink 2.1 mm into one another on average, 0.5 mm before; allowed up to 0.55 mm"


def test_every_metric_and_every_family_has_words() -> None:
    assert all(metric.sentence != Sentence() for metric in METRICS.values())
    every = [subject_of(case(label, parameters=family.defaults)) for label, family in FAMILIES.items()]
    assert all(subject.startswith("the ") for subject in every)
