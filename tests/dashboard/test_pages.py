"""The pages without a browser: what they say of an empty database, who may write, and what is drawn of a history."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compare_page import exported, judged
from dashboard.elements import age, breakable, spark, text
from scenarios.scene import content_hash
from tests.validation.store.made import case, falling, info, measurement, result, scene
from tests.validation.store.made import judged as verdict_on
from tests.validation.store.test_passports import examined
from validation.review.lineage import Lineage
from validation.store import Store, open_store

PAGES = ("inbox", "review", "case", "compare", "finds", "engines", "baselines", "runs")


def shown(page: str, **query: str) -> AppTest:
    app = AppTest.from_string(f"from dashboard import {page}_page\n{page}_page.show()", default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def words(app: AppTest) -> str:
    return "\n".join(str(element.proto.body) for element in app.get("html"))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("UPRIGHT_DB", str(tmp_path / "x.db"))
    monkeypatch.delenv("UPRIGHT_ACCEPT_AS", raising=False)
    return open_store(tmp_path / "x.db")


BALL = case("ball", parameters={}, scene_hash=content_hash(scene()))


def regressed(store: Store) -> int:
    """The run that is worse than the accepted one."""
    number = 0
    for value, samples in ((4e-4, 30), (3e-3, 40)):
        number = store.begin_run(info(), [BALL], [scene()])
        motion = falling(bodies=1, samples=samples)
        one = result(BALL, measurement(value=value, noise="tolerance"), trajectory=motion)
        store.save_results(number, [one])
        accepted = store.baselines("main").get(BALL.identity.key)
        store.save_verdicts(number, [verdict_on(accepted, one)])
        store.finish_run(number)
        if accepted is None:
            store.accept(number, who="R.", reason="first look")
    return number


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_an_empty_database_says_so(store: Store, page: str) -> None:
    described = words(shown(page))
    assert "othing" in described or "No run is stored" in described


def test_engines_have_what_their_bits_depend_on(store: Store) -> None:
    store.add_passport(examined(), command="upright passport toy", machine="bench")
    for described in (words(shown("engines")), (regressed(store), words(shown("engines")))[1]):
        assert "toy 1.0, fair" in described and "1 of 2" in described, "also before there is a run"
        assert "a model is not changed" in described and "other bits from 0.25 s on" in described


def test_a_session_that_was_started_without_a_name_cannot_write(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    regressed(store)
    reading = shown("review")
    assert "This session only reads" in words(reading)
    assert not reading.text_input and not reading.button
    assert any("upright accept" in code.value for code in reading.code), "the command that does the same"
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    assert [field.label for field in shown("review").text_input] == ["Reason"]


@pytest.mark.parametrize(
    ("act", "field", "value", "state"),
    [
        ("Reject", "", "", "rejected"),
        ("Known issue", "link", "#31", "known"),
        ("Quarantine", "owner", "R.", "quarantined"),
        ("Accept", "", "", "accepted"),
    ],
)
def test_what_is_said_on_the_review_page_is_in_the_ledger(
    store: Store, monkeypatch: pytest.MonkeyPatch, act: str, field: str, value: str, state: str
) -> None:
    run = regressed(store)
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    app = shown("review")
    app.get("button_group")[0].set_value(act).run()
    app.text_input(key="reason").set_value("on purpose")
    if field:
        app.text_input(key=field).set_value(value)
    app.button[0].click().run()
    assert not app.exception
    (group,) = store.groups(run, closed=True)
    assert (group.state, group.entry.who if group.entry else "") == (state, "R. Reviewer")


def test_without_a_reason_nothing_is_accepted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    regressed(store)
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    app = shown("review")
    app.button[0].click().run()
    assert "reason: none is given; say why" in words(app)
    assert len(store.entries()) == 1


def test_two_runs_are_compared_and_exported(store: Store) -> None:
    new = regressed(store)
    pairs, only_old, only_new = judged(store.run(1), store.run(new), with_settings=True)
    ((_, verdict, _),) = pairs
    assert (verdict.word, only_old, only_new) == ("regressed", [], [])
    assert "penetration_mean,regressed,0.0004,0.003,m" in exported(pairs)
    described = words(shown("compare", a="1", b=str(new)))
    assert "1 regression" in described and "0.4 mm</bdi> &rarr; <bdi>3 mm" in described


def test_what_upright_compare_found_is_shown_with_its_laws(store: Store) -> None:
    change = {"metric": "penetration_max", "unit": "m", "a": 1e-3, "b": None, "sign": "worse", "law": "no overlap"}
    line = {
        **{"scenario": "<b>stack", "parameters": {"n": 3}, "variant": "", "told": "breaks a law", "sign": "worse"},
        "changes": [change],
    }
    store.add_comparison(
        command="upright compare a b",
        machine="bench",
        names=("pymunk 6.11.1", "pymunk 7.3.1"),
        packages={},
        lines=[json.dumps(line), json.dumps(line | {"sign": "same", "changes": []})],
    )
    described = words(shown("compare", comparison="1"))
    assert "&lt;b&gt;stack" in described and "no overlap" in described and "1 worse" in described.replace("<bdi>", "")
    assert "1 mm</bdi> &rarr; <bdi>never" in described
    assert "penetration max" in described and "penetration_max" not in described
    assert described.count("breaks a law") == 1, "what is the same is not listed"


def test_a_cell_that_a_spreadsheet_would_compute_is_text() -> None:
    of = case("=HYPERLINK(1)", parameters={})
    new, was = (result(of, measurement(value=value), trajectory=None) for value in (3e-3, 4e-4))
    from tests.validation.report.made import baseline

    line = exported([(new, verdict_on(baseline(was), new), was)]).splitlines()[1]
    assert ",'=HYPERLINK(1)," in line


def test_a_history_is_thinned_by_the_database(store: Store) -> None:
    for k in range(5):
        run = store.begin_run(info(), [case()])
        store.save_results(run, [result(case(), measurement(value=float(k + 1)))])
        store.finish_run(run)
    assert [p.value for p in store.history(case().identity.key, "penetration_mean", 3)] == [3.0, 4.0, 5.0]
    counts = store.run_counts([1, 2])[2]
    assert counts.outcomes == {"completed": 1} and counts.wall_time == 0.25


def test_a_spark_has_its_last_value_and_what_is_allowed() -> None:
    import base64

    svg = base64.b64decode(spark([1.0, 2.0, math.nan, 4.0], (0.9, 1.1)).partition("base64,")[2].rstrip("'>")).decode()
    assert svg.count("<rect") == svg.count("<circle") == svg.count("<polyline") == 1
    assert len(svg.partition("points='")[2].partition("'")[0].split()) == 3, "what did not happen is no point"
    assert spark([math.nan]) == ""


def test_text_is_text() -> None:
    assert text("<b>&'\"") == "<bdi>&lt;b&gt;&amp;&#x27;&quot;</bdi>"
    long = text("x" * 1000, most=10)
    assert long.count("x") == 1010 and "xxxxxxxxxx&hellip;" in long, "all of it is in the title"
    assert breakable("a:b,c") == "<bdi>a:<wbr>b,<wbr>c</bdi>"


def test_ages_are_told_in_their_largest_unit() -> None:
    now = datetime(2026, 11, 3, tzinfo=UTC)
    spans = {timedelta(days=3, hours=5): "3 days", timedelta(hours=1): "1 hour", timedelta(seconds=5): "just now"}
    assert {age(now - span, now) for span in spans} == set(spans.values())


def test_baselines_of_a_lineage_are_those_of_its_commits(store: Store) -> None:
    regressed(store)
    known = Lineage(base="main", merge_base="4f2c1d", commits=frozenset(["4f2c1d"]))
    assert store.baselines("main", known) == store.baselines("main")
