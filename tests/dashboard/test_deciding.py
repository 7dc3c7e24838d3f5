"""What the pages say of groups and defects, and what they write: of what was shown, all of it or nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dashboard import reading, writing
from dashboard.baselines_page import effect_of
from dashboard.compare_page import judged
from scenarios.catalogue import scenario_of
from tests.dashboard.test_pages import shown, words
from tests.validation.store.made import case, failed, falling, info, measurement, result, scene
from tests.validation.store.made import judged as verdict_on
from validation.review.ledger import Entry
from validation.store import Store, open_store
from validation.store.errors import StoreError

GOOD, BAD, WORSE = 4e-4, 3e-3, 9e-3
LAWS = {"penetration_mean": 0.1}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("UPRIGHT_DB", str(tmp_path / "x.db"))
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    return open_store(tmp_path / "x.db")


def checked(store: Store, values: dict[str, float], *, branch: str = "main", engine: str = "pymunk") -> int:
    """A run of scenarios with these values, judged; another value is another motion."""
    cases = {name: case(name, engine) for name in values}
    run = store.begin_run(info(branch, commit=f"c{values}"), list(cases.values()), [scene()])
    found = []
    for name, value in values.items():
        motion = falling(bodies=1)
        moved = replace(motion, pose=motion.pose + value, state_hash="")
        found.append(result(cases[name], measurement(value=value, noise="tolerance"), trajectory=moved))
    store.save_results(run, found)
    accepted = store.baselines(branch)
    store.save_verdicts(run, [verdict_on(accepted.get(one.case.identity.key), one, LAWS) for one in found])
    store.finish_run(run)
    return run


def accepted(store: Store, values: dict[str, float]) -> int:
    run = checked(store, values)
    store.accept(run, who="R.", reason="first look")
    return run


def by_scenario(store: Store) -> dict[str, float]:
    return {b.result.case.identity.scenario: b.result.measurements[0].value for b in store.baselines("main").values()}


def test_what_is_fixed_is_not_accepted_with_its_group(store: Store) -> None:
    accepted(store, {"stack": GOOD, "pile": GOOD})
    checked(store, {"stack": BAD, "pile": BAD})
    run = checked(store, {"stack": BAD, "pile": GOOD})
    (group,) = store.groups(run)
    (whole,) = [s for s in writing.scopes([group], group, group.worst, "accept") if s.members == group.open]
    writing.say("accept", whole, reason="on purpose")
    assert by_scenario(store) == {"stack": BAD, "pile": GOOD}


def test_a_group_is_accepted_as_a_whole_or_not_at_all(store: Store) -> None:
    accepted(store, {"stack": GOOD, "pile": GOOD})
    first = checked(store, {"stack": BAD, "pile": BAD})
    numbers = [r.number for r in store.results(first)]
    stopped = store.begin_run(info(), [case("stack"), case("pile")], [])
    store.save_results(stopped, [result(case("stack"), measurement(value=BAD))])
    other = store.results(stopped)[0].number
    with pytest.raises(StoreError, match="are not done"):
        store.accept_cases([*numbers, other], who="R.", reason="x", scope="x")
    assert by_scenario(store) == {"stack": GOOD, "pile": GOOD} and len(store.entries()) == 1
    with pytest.raises(StoreError, match="case 999: not in this database"):
        store.accept_cases([numbers[0], 999], who="R.", reason="x", scope="x")
    entry = store.accept_cases(numbers, who="R.", reason="x", scope="x")
    assert [(one.number, one.cases) for one in store.entries(1)] == [(entry, tuple(sorted(numbers)))]


def test_a_decision_is_of_the_scope_that_was_chosen_and_the_ledger_says_which(store: Store) -> None:
    both = {"stack": GOOD, "pile": GOOD}
    for engine in ("pymunk", "box2d"):
        store.accept(checked(store, both, engine=engine), who="R.", reason="x")
    cases = [case(name, engine) for engine in ("pymunk", "box2d") for name in both]
    run = store.begin_run(info(), cases, [scene()])
    found = [result(one, measurement(value=BAD, noise="tolerance"), trajectory=falling(bodies=1)) for one in cases]
    store.save_results(run, found)
    baselines = store.baselines("main")
    store.save_verdicts(run, [verdict_on(baselines[one.case.identity.key], one) for one in found])
    store.finish_run(run)
    groups = store.groups(run)
    group = next(g for g in groups if g.engine == "pymunk")
    offered = writing.scopes(groups, group, group.worst, "accept")
    label = group.worst.verdict.case.label
    assert [(s.label, len(s.members)) for s in offered] == [
        ("this case", 1),
        ("this group (2 cases)", 2),
        (f"{label}, whatever the engine (2 cases)", 2),
    ], "what is the same set of cases is offered once"
    assert offered[1].words == f"group {group.key}: {group.kind} on pymunk since {group.since}"
    writing.say("known", offered[2], reason="the solver", link="#31")
    assert store.entries(1)[0].scope == f"every open case of {label}: 2 cases"
    app = shown("review", run=str(run), group=group.key, case=str(group.worst.number))
    app.radio(key="scope-accept").set_value(0)
    app.text_input(key="reason").set_value("on purpose")
    app.button[0].click().run()
    assert store.entries(1)[0].scope == f"{label} on pymunk@fair" and len(store.entries(1)[0].cases) == 1


def test_the_form_acts_on_the_group_that_was_shown(store: Store) -> None:
    accepted(store, {"stack": GOOD, "pile": GOOD})
    run = checked(store, {"stack": BAD, "pile": GOOD})
    app = shown("review")
    assert "stack:n=10" in words(app)
    later = checked(store, {"stack": GOOD, "pile": WORSE})  # of another group, that comes first now
    app.text_input(key="reason").set_value("on purpose")
    app.button[0].click().run()
    assert not app.exception
    entry = store.entries(1)[0]
    assert (entry.reason, entry.cases) == ("on purpose", (store.results(run)[0].number,))
    assert store.groups(later)[0].state == "new"


def test_what_somebody_else_decided_meanwhile_is_not_decided_again(store: Store) -> None:
    accepted(store, {"stack": GOOD, "pile": GOOD})
    run = checked(store, {"stack": BAD, "pile": BAD})
    app = shown("review")
    store.accept(run, who="M.", reason="mine", cases=[store.results(run)[0].number])
    app.text_input(key="reason").set_value("on purpose")
    app.button[0].click().run()
    assert "was decided on meanwhile by M. (entry 2, accept: mine); nothing was written" in words(app)
    assert store.entries(1)[0].who == "M."
    with pytest.raises(StoreError, match="has changed since this page was shown; nothing was written"):
        writing.check_unchanged([999], 2, same=False)


def test_what_is_excused_is_no_regression_on_any_page(store: Store) -> None:
    accepted(store, {"stack": GOOD, "pile": GOOD})
    run = checked(store, {"stack": BAD, "pile": GOOD})
    (group,) = store.groups(run)
    store.mark("known", [m.number for m in group.members], who="R.", reason="x", scope="x", link="#31")
    for page in ("inbox", "engines"):
        assert "0 new regressions, 1 known issue, 1 unchanged" in words(shown(page)), page


def test_a_standing_defect_is_shown_with_who_accepted_it(store: Store) -> None:
    accepted(store, {"stack": 0.2, "pile": GOOD})
    run = checked(store, {"stack": 0.2, "pile": GOOD})
    inbox = shown("inbox")
    assert "2 unchanged; 1 standing defect" in words(inbox)
    assert "the stack of 10 sinks 200 mm on average; physics allows 100 mm" in words(inbox)
    assert "R.</bdi><small>" in words(inbox), "who accepted it"
    assert "standing defect 1" in [option.content for option in inbox.get("button_group")[0].proto.options]
    assert "physics allows 100 mm" in words(shown("engines"))
    number = next(r.number for r in store.results(run) if r.case.identity.scenario == "stack")
    assert "A standing defect" in words(shown("case", case=str(number)))
    assert "physics allows 100 mm" in words(shown("case", case=str(number)))


def test_the_inbox_is_of_the_main_branch_unless_another_is_asked_for(store: Store) -> None:
    main = accepted(store, {"stack": GOOD})
    change = checked(store, {"stack": BAD}, branch="a-change")
    assert "1 unchanged" in words(shown("inbox")) or "1 new" in words(shown("inbox"))
    inbox = shown("inbox")
    assert [box.label for box in inbox.selectbox] == ["Branch", "Run"]
    assert inbox.selectbox[0].value == "main" and inbox.selectbox[1].value == main
    inbox.selectbox[0].set_value("a-change").run()
    assert inbox.selectbox[1].value == change and "1 regression" in words(inbox)
    assert shown("inbox", branch="a-change").selectbox[1].value == change
    assert shown("inbox", run=str(change)).selectbox[0].value == "a-change", "a link to a run is to its branch"


def test_the_history_of_an_older_run_is_what_was_around_it(store: Store) -> None:
    for k in range(12):
        checked(store, {"stack": GOOD * (1.0 + 0.01 * k)})
        checked(store, {"stack": 1.0}, branch="a-change")
    one = store.run(5)
    points = reading.history(case("stack"), "penetration_mean", one, 2, later=3)
    assert [p.run for p in points] == [3, 5, 7, 9, 11], "of its branch, up to the run and behind it"
    assert [p.run for p in reading.history(case("stack"), "penetration_mean", one, 2)] == [3, 5]


def test_what_an_engine_refuses_is_fixed_only_where_that_is_accepted(store: Store) -> None:
    def run(*, refuses: bool) -> int:
        one = (
            failed(case(), "declined", "no such shape") if refuses else failed(case(), "crashed", "SIGSEGV after 1.3 s")
        )
        number = store.begin_run(info(), [case()], [])
        store.save_results(number, [one])
        store.save_verdicts(number, [verdict_on(store.baselines("main").get(case().identity.key), one)])
        store.finish_run(number)
        return number

    run(refuses=False)
    refused = run(refuses=True)
    assert [group.state for group in store.groups(refused)] == ["new"]
    store.accept(refused, who="R.", reason="it never could")
    later = run(refuses=True)
    assert store.groups(later) == [] and store.groups(later, closed=True)[0].state == "accepted"


def test_an_acceptance_that_has_run_out_is_told_to_have() -> None:
    now = datetime(2026, 11, 22, tzinfo=UTC)
    entry = Entry(number=1, act="known", when=now, who="R.", reason="x", scope="x", branch="main", link="#1")
    assert effect_of(replace(entry, until=now + timedelta(days=2)), now) == "until 24 Nov 2026"
    assert effect_of(replace(entry, until=now), now) == "expired on 22 Nov 2026"


def test_the_review_page_has_all_that_a_verdict_is_made_of(store: Store) -> None:
    accepted(store, {"stack": GOOD})
    checked(store, {"stack": BAD})
    described = words(shown("review"))
    for name in ("metric", "now", "accepted", "ratio", "allowed", "first bad commit", "last good commit"):
        assert f"<b>{name}</b>" in described, name
    assert (
        "7.5 times" in described
        and "the stack of 10 sinks 3 mm on average, 0.4 mm before; allowed up to 0.44 mm" in described
    )


def test_two_runs_are_compared_by_the_laws_of_their_scenarios(store: Store) -> None:
    laws = scenario_of("stack:n=10").laws
    metric, limit = next(iter(laws.items()))
    runs = []
    for value in (0.5 * limit, 2.0 * limit):
        motion = falling(bodies=1)
        moved = replace(motion, pose=motion.pose + value, state_hash="")
        one = result(case(), measurement(metric, value, "m", noise="tolerance"), trajectory=moved)
        run = store.begin_run(info(), [case()], [scene()])
        store.save_results(run, [one])
        store.finish_run(run)
        runs.append(run)
    pairs, _, _ = judged(store.run(runs[0]), store.run(runs[1]), with_settings=True)
    ((_, verdict, _),) = pairs
    assert verdict.word == "defect" and [defect.metric for defect in verdict.defects] == [metric]
    described = words(shown("compare", a=str(runs[0]), b=str(runs[1])))
    assert "1 defect" in described and "physics allows" in described


def test_no_file_is_read_because_a_database_names_it(store: Store, tmp_path: Path) -> None:
    of = case(f"{tmp_path}/scene.json", parameters={})
    runs = []
    for _ in range(2):
        runs.append(store.begin_run(info(), [of], [scene()]))
        store.save_results(runs[-1], [result(of)])
        store.finish_run(runs[-1])
    pairs, _, _ = judged(store.run(runs[0]), store.run(runs[1]), with_settings=True)
    assert [verdict.word for _, verdict, _ in pairs] == ["pass"]


def broken_and_regressed(store: Store) -> int:
    """A run in which two engines' cases crash and one regresses, all of them sound when accepted."""
    names = ("stack", "pile", "dominoes")
    accepted(store, dict.fromkeys(names, GOOD))
    cases = [case(name) for name in names]
    run = store.begin_run(info("main", commit="c9"), cases, [scene()])
    found = [failed(one, "crashed", "SIGSEGV after 1.3 s") for one in cases[:2]]
    found.append(result(cases[2], measurement(value=BAD, noise="tolerance"), trajectory=falling(bodies=1)))
    store.save_results(run, found)
    known = store.baselines("main")
    store.save_verdicts(run, [verdict_on(known.get(one.case.identity.key), one, LAWS) for one in found])
    store.finish_run(run)
    return run


def test_a_crash_is_never_offered_with_others_and_by_itself_with_a_warning_that_names_it(store: Store) -> None:
    """Fault 2: "On a regressed group the same scope offered three broken cases beside it"."""
    run = broken_and_regressed(store)
    groups = store.groups(run)
    broken = next(group for group in groups if group.kind == "broken")
    regressed = next(group for group in groups if group.kind == "regressed")
    for group in (broken, regressed):
        for scope in writing.scopes(groups, group, group.worst, "accept"):
            assert len(scope.members) == 1 or not any(map(writing.is_broken, scope.members))
    (alone,) = writing.scopes(groups, broken, broken.worst, "accept")
    assert alone.members == (broken.worst,)
    label = broken.worst.verdict.case.label
    assert label in writing.warning(broken.worst) and "crashed (SIGSEGV after 1.3 s)" in writing.warning(broken.worst)
    with pytest.raises(StoreError, match="by itself only"):
        writing.say("accept", alone, reason="x")
    writing.say("accept", alone, reason="it never could", broken=True)
    assert [b.result.outcome for b in store.baselines("main").values()].count("crashed") == 1
    assert len(writing.scopes(groups, broken, broken.worst, "known")) > 1, "a known issue may be of all that crash"


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("inbox", {"run": "9999"}),
        ("inbox", {"run": "-1"}),
        ("inbox", {"branch": "nope"}),
        ("review", {"run": "9999"}),
        ("review", {"group": "0123456789ab"}),
        ("review", {"case": "9999"}),
        ("engines", {"run": "9999"}),
        ("compare", {"a": "999", "b": "1"}),
    ],
)
def test_a_link_to_what_is_gone_says_so_and_shows_nothing_else(store: Store, page: str, link: dict[str, str]) -> None:
    """Fault 4: "Links that no longer exist become something else without a word"."""
    accepted(store, {"stack": GOOD})
    checked(store, {"stack": BAD})
    found = shown(page, **link)
    described = words(found)
    assert "This link" in described
    assert "stack" not in described and not found.button, "no other thing, and no form, in its place"


def test_a_partial_run_does_not_make_the_inbox_green(store: Store) -> None:
    """Faults 1 and 7: "Inbox is headed "1 unchanged" in its biggest type, directly above "broken 2, regressed 1""."""
    run = broken_and_regressed(store)
    accepted(store, {"rest": GOOD})
    checked(store, {"rest": GOOD})
    page = shown("inbox")
    headline = words(page).split("</h1>")[0]
    assert "2 broken, 1 regression" in headline and "1 unchanged" in headline
    assert "judged 1 case of 4. The other 3 stand as they were judged before: <bdi>2 broken, 1 regression" in words(
        page
    )
    tiles = page.get("button_group")[0]
    options = [option.content for option in tiles.proto.options]
    assert options[:2] == ["broken 2", "regressed 1"], "tiles count the same cases, in the same words"
    assert "unreviewed 3" in options, "new is what has nothing accepted to compare with, and that alone"
    assert run


def test_what_is_new_has_rows_and_the_choice_of_tiles_is_in_the_address(store: Store) -> None:
    """Faults 5 and 7: "Filter tiles are not in the address"; "new cases have no row"."""
    accepted(store, {"stack": GOOD})
    checked(store, {"stack": BAD, "pile": GOOD})
    assert "nothing is accepted to compare with" in words(shown("inbox")) and "pile" in words(shown("inbox"))
    only = words(shown("inbox", show="new"))
    assert "pile" in only and "stack" not in only.partition("</h1>")[2].partition("against the baseline")[2]
    assert "stack" in words(shown("inbox", show="regressed"))


def test_after_a_decision_the_next_group_is_shown_and_the_decision_can_be_taken_back(store: Store) -> None:
    """Fault 12: "Missing: ... undo in the browser; next group after a decision"."""
    broken_and_regressed(store)
    page = shown("review")
    assert "crashed" in words(page)
    page.get("button_group")[0].set_value("Known issue").run()
    page.text_input(key="reason").set_value("seen before")
    page.text_input(key="link").set_value("#31")
    page.button[0].click().run()
    assert not page.exception
    assert store.entries()[0].act == "known" and len(store.entries()[0].cases) == 2
    assert "dominoes" in words(page), "the regression is next"
    page.button(key="undo").click().run()
    assert [entry.act for entry in store.entries()[:2]] == ["undo", "known"]
    assert "is taken back" in words(page)


def test_a_broken_case_shows_where_it_broke(store: Store) -> None:
    """Fault 8: ""Sure, because" repeats the headline; no traceback"."""
    one = replace(failed(case(), "crashed", "ValueError: no"), trace="Traceback (most recent call last):\n  line 7")
    run = store.begin_run(info(), [case()], [scene()])
    store.save_results(run, [one])
    store.save_verdicts(run, [verdict_on(None, one)])
    store.finish_run(run)
    number = store.results(run)[0].number
    assert store.result(number).trace == one.trace
    page = shown("case", case=str(number))
    assert [block.value for block in page.code if "Traceback" in block.value] == [one.trace]
    assert words(shown("inbox")).count("ValueError") <= 2
