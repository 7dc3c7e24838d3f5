"""One decision on several groups of the Inbox: of what was ticked and shown, without what is broken; one entry, which
an undo takes back as a whole; nothing where somebody else was faster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser import needs_browser, opened_browser
from tests.dashboard.test_dashboard import settled
from tests.dashboard.test_deciding import BAD, GOOD, LAWS, accepted, by_scenario, store
from tests.dashboard.test_pages import shown, words
from tests.dashboard.test_path import address
from tests.validation.store.made import case, failed, falling, info, measurement, result, scene
from tests.validation.store.made import judged as verdict_on
from validation.records.case import Case
from validation.review.bulk import bulk
from validation.store import Store, open_store

__all__ = ["address", "store"]  # fixtures
SOUND = {"dominoes": GOOD, "chain": GOOD, "stack": GOOD}


def run_of(store: Store, cases: list[Case], *, bad: bool, broken: tuple[str, ...] = ()) -> int:
    """A run of these cases, judged, in which some scenarios crash."""
    run = store.begin_run(info(commit="0bad1" if bad else "900d1"), cases, [scene()])
    value = BAD if bad else GOOD
    found = [
        failed(one, "crashed", "SIGSEGV after 1.3 s")
        if one.identity.scenario in broken
        else result(one, measurement(value=value, noise="tolerance"), trajectory=falling(samples=40 if bad else 30))
        for one in cases
    ]
    store.save_results(run, found)
    known = store.baselines("main")
    store.save_verdicts(run, [verdict_on(known.get(one.case.identity.key), one, LAWS) for one in found])
    store.finish_run(run)
    return run


def three_groups(store: Store) -> int:
    """What is accepted is sound; then pymunk gets three scenarios worse and box2d two, and a fourth crashes on both."""
    cases = [case(name) for name in (*SOUND, "pile")]
    cases += [case(name, "box2d") for name in ("dominoes", "chain", "pile")]
    store.accept(run_of(store, cases, bad=False), who="R.", reason="first look")
    return run_of(store, cases, bad=True, broken=("pile",))


def ticking(**query: str) -> Any:
    app = shown("inbox", **query)
    return app if query.get("tick") else app.toggle(key="several").set_value(True).run()


def button(app: Any) -> Any:
    return app.button(key="bulk-send")


def test_several_groups_are_decided_at_once_without_what_is_broken_and_taken_back_at_once(store: Store) -> None:
    run = three_groups(store)
    app = ticking()
    assert "Tick the groups" in words(app)
    app.checkbox(key="tick-all-0").set_value(True).run()
    described = words(app)
    assert "2 broken cases are left out. Each is decided alone" in described
    assert "pile:n=10 on pymunk@fair" in described and "pile:n=10 on box2d@fair" in described
    assert "5 cases will be the baseline from now on: on 2 engines, of 3 scenarios" in described
    changes = described.partition("data-testid='changes'")[2].partition("</table>")[0]
    rows = [row.partition("</tr>")[0] for row in changes.split("<tr>")[2:]]
    assert ["box2d" in row and ">2<" in row and "stack" not in row for row in rows] == [True, False]
    assert "pymunk" in rows[1] and ">3<" in rows[1] and all(name in rows[1] for name in SOUND)
    assert not any("pile" in row for row in rows)
    app.text_input(key="bulk-reason").set_value("the new solver")
    button(app).click().run()
    assert not app.exception
    entry = store.entries(1)[0]
    assert (entry.act, entry.who, entry.reason, len(entry.cases)) == ("accept", "R. Reviewer", "the new solver", 5)
    assert len(store.entries()) == 2, "one entry"
    assert "without 2 broken" in entry.scope
    assert {group.state for group in store.groups(run)} == {"accepted", "new"}
    assert "accept: 5 cases, by R. Reviewer: the new solver" in words(app)
    app.button(key="undo").click().run()
    assert [one.act for one in store.entries(2)] == ["undo", "accept"]
    assert set(by_scenario(store).values()) == {GOOD} and {group.state for group in store.groups(run)} == {"new"}


def test_only_what_is_ticked_is_decided_and_ticks_are_in_the_address(store: Store) -> None:
    run = three_groups(store)
    groups = [group for group in store.groups(run) if group.kind == "regressed"]
    chosen = next(group for group in groups if group.engine == "box2d")
    app = ticking()
    app.checkbox(key=f"tick-{chosen.key}-0").set_value(True).run()
    assert app.query_params["tick"] in (chosen.key, [chosen.key])
    linked = shown("inbox", tick=chosen.key)
    assert "2 cases will be the baseline" in words(linked), "the link has the same ticks"
    assert "1 group of this link" in words(shown("inbox", tick="0123456789ab"))
    linked.get("button_group")[-1].set_value("Known issue").run()
    linked.text_input(key="bulk-reason").set_value("slop")
    linked.text_input(key="link").set_value("#31")
    button(linked).click().run()
    entry = store.entries(1)[0]
    assert (entry.act, entry.link, set(entry.cases)) == ("known", "#31", {m.number for m in chosen.members})
    assert "known" not in {group.state for group in store.groups(run) if group.key != chosen.key}


def test_all_that_is_found_is_what_the_search_finds(store: Store) -> None:
    three_groups(store)
    assert "2 cases will be the baseline" in words(shown("inbox", tick="all", find="regressed box2d"))


@pytest.mark.parametrize("same", [True, False], ids=["the same case", "another result of it"])
def test_what_a_second_tab_decided_meanwhile_is_refused(store: Store, same: bool) -> None:
    run = three_groups(store)
    app = ticking(tick="all")
    app.text_input(key="bulk-reason").set_value("the new solver")
    number = next(r.number for r in store.results(run if same else 1) if r.case.identity.scenario == "stack")
    store.accept(run if same else 1, who="M.", reason="mine", cases=[number])
    button(app).click().run()
    assert "stack:n=10 on pymunk was decided on meanwhile by M. (entry 2, accept: mine); nothing was written" in words(
        app
    )
    assert len(store.entries()) == 2
    button(app).click().run()
    assert "reason: none" not in words(app) and len(store.entries()) == 3, "what is shown now may be decided"


def test_without_a_reason_or_a_name_nothing_is_decided(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    three_groups(store)
    app = ticking(tick="all")
    button(app).click().run()
    assert "reason: none is given" in words(app) and len(store.entries()) == 1
    monkeypatch.delenv("UPRIGHT_ACCEPT_AS")
    assert not shown("inbox", tick="all").toggle


def test_of_what_shares_a_baseline_only_the_one_without_settings_of_its_own_is_accepted(store: Store) -> None:
    accepted(store, {"stack": GOOD})
    other = case(overrides="iterations=2", settings={"iterations": 2})
    run = run_of(store, [case(), other], bad=True)
    groups = store.groups(run)
    assert [len(bulk(groups, act).members) for act in ("accept", "reject")] == [1, 2]
    (left,) = bulk(groups, "accept").sharing
    assert left.verdict.case.engine_label == "pymunk:iterations=2"
    assert "1 case left out, which share" in words(shown("inbox", tick="all"))


def test_a_decision_is_on_all_runs_or_none(store: Store) -> None:
    """Groups may have cases that the latest run has not judged: one entry accepts those too."""
    cases = [case(name) for name in SOUND]
    store.accept(run_of(store, cases, bad=False), who="R.", reason="first look")
    run_of(store, cases[:2], bad=True)
    run = run_of(store, cases[2:], bad=True)
    members = bulk(store.groups(run), "accept").members
    assert len({m.occurrence.reported_by.run for m in members}) == 2
    app = ticking(tick="all")
    app.text_input(key="bulk-reason").set_value("the new solver")
    button(app).click().run()
    assert [len(entry.cases) for entry in store.entries()] == [3, 3]
    store.undo(store.entries(1)[0].number, who="R.", reason="no")
    assert set(by_scenario(store).values()) == {GOOD}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the dashboard that `address` serves."""
    with open_store(tmp_path / "upright.db") as made:
        three_groups(made)
    return tmp_path


@pytest.mark.slow
@needs_browser
def test_in_a_browser_what_a_second_tab_decided_is_refused_and_the_rest_decided_and_undone(
    address: str, folder: Path
) -> None:
    with opened_browser() as browser, open_store(folder / "upright.db") as written:
        page = browser.new_page(viewport={"width": 390, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(address)
        settled(page)
        page.click("label:has-text('Decide several groups at once')")
        page.click("label:has-text('regressed: dominoes:n=10 on pymunk')")
        page.wait_for_selector("text=3 cases will be the baseline from now on")
        page.click("label:has-text('broken: pile:n=10 on box2d')")
        page.wait_for_selector("text=1 broken case is left out. It is decided alone")
        numbers = [one.number for one in written.results(2) if one.case.identity.scenario == "stack"]
        written.accept(2, who="M.", reason="mine", cases=numbers)
        page.fill("input[aria-label=Reason]", "the new solver")
        page.click("button:has-text('Accept 3 cases as R.')")
        page.wait_for_selector("text=stack:n=10 on pymunk was decided on meanwhile by M.")
        assert page.input_value("input[aria-label=Reason]") == "the new solver"
        page.click("button:has-text('Accept 2 cases as R.')")
        page.click("button:has-text('Undo') >> visible=true")  # Streamlit has another one for wide screens
        page.wait_for_selector("text=entry 3 is taken back, by entry 4")
        assert [(entry.act, len(entry.cases)) for entry in written.entries(2)] == [("undo", 2), ("accept", 2)]
