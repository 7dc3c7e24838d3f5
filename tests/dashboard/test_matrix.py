"""The matrix as a page gets it: the worst first, nothing left out, nothing missing that looks well."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import pytest

from dashboard.elements import COLOURS, MEANING_HERE, NOT_DONE, kind_html
from dashboard.engines_page import cell, costs_of, table
from tests.validation.report.made import HOSTILE, broken, every_kind, pair, stored
from tests.validation.store.made import case, measurement, result
from validation.judging.verdict import MEANING, Verdict, worst_first
from validation.records.case import Case, Result
from validation.report.sentences import reason_of

Pair = tuple[Result, Verdict]


def shown(pairs: Sequence[Pair], planned: Sequence[Case] = (), words: set[str] | None = None, text: str = "") -> str:
    verdicts = {result.key: verdict for result, verdict in pairs}
    cases = [*(result.case for result, _ in pairs), *planned]
    return table([result for result, _ in pairs], verdicts, cases, words=words or set(), contains=text)


def rows(html: str) -> Mapping[str, list[str]]:
    """Scenario -> the cells beside it, as text."""
    plain = [re.sub("<[^>]+>", "", cell) for cell in re.findall("<td.*?</td>", html)]
    width = len(re.findall("<th>", html))
    return {plain[i]: [text.strip() for text in plain[i + 1 : i + width]] for i in range(0, len(plain), width)}


def test_the_worst_scenario_stands_first_as_in_the_reports() -> None:
    pairs = every_kind()
    assert list(rows(shown(pairs))) == [result.case.label for result, _ in worst_first(pairs)]
    assert list(rows(shown(pairs)))[:3] == ["breaking", "defective", "regressing"]


def test_a_scenario_stands_where_its_worst_engine_puts_it() -> None:
    fine = [pair(stored(case(name, "box2d")), stored(case(name, "box2d"))) for name in ("a", "b", "c")]
    worse = pair(stored(case("c"), 3e-3), stored(case("c"), 4e-4))
    assert list(rows(shown([*fine, worse]))) == ["c:n=10", "a:n=10", "b:n=10"]


def test_a_cell_has_figure_word_and_what_moved() -> None:
    html = shown([pair(stored(value=3.2e-3), stored(value=0.4e-3))])
    assert rows(html) == {"stack:n=10": ["penetration mean", "3.2 mm regressed: penetration mean × 8"]}
    assert "<th><bdi>pymunk</bdi><small><bdi>7.3.1</bdi></small></th>" in html, "one profile is in no column"


def test_a_broken_law_shows_also_where_it_fails_nothing() -> None:
    laws = {"penetration_mean": 1e-3}
    fresh = pair(stored(case("a"), 5e-3), None, laws)
    standing = pair(stored(case("b"), 5e-3), stored(case("b"), 5e-3), laws)
    newly = pair(stored(case("c"), 1.05e-3), stored(case("c"), 0.9e-3), laws)
    described = {label: cells[1] for label, cells in rows(shown([fresh, standing, newly])).items()}
    assert described["a:n=10"] == "5 mm new breaks a law: penetration mean"
    assert described["b:n=10"] == "5 mm pass breaks a law: penetration mean"
    assert described["c:n=10"].startswith("1.05 mm defect: penetration mean")


def test_two_profiles_have_two_columns() -> None:
    pairs = [pair(stored(case(profile=profile))) for profile in ("default", "fair")]
    assert re.findall("<th><bdi>([^/]*)</bdi><small>", shown(pairs)) == ["pymunk@default", "pymunk@fair"]


def test_a_planned_case_without_a_result_is_told_in_amber() -> None:
    other = case("thrown-box", parameters={})
    html = shown([pair(stored())], [other, case(engine="box2d")])
    assert rows(html) == {
        "stack:n=10": ["penetration mean", "0.4 mm new", "not done"],
        "thrown-box": ["", "not done", ""],
    }
    assert list(rows(shown([pair(stored())], [other], words={NOT_DONE}))) == ["thrown-box"]
    assert html.count(kind_html(NOT_DONE)) == 2


@pytest.mark.parametrize("word", ["missing", NOT_DONE])
def test_what_is_missing_is_amber_and_nothing_green_is_bad(word: str) -> None:
    red, green, blue = (int(COLOURS[word][0][i : i + 2], 16) for i in (1, 3, 5))
    assert red > green > blue and green > 0x80, "amber: red, less green, no blue"
    for other, (background, _) in COLOURS.items():
        red, green, blue = (int(background[i : i + 2], 16) for i in (1, 3, 5))
        assert (green > max(red, blue)) == (other == "improved")


def test_every_word_stands_out_or_is_quiet_and_has_a_meaning() -> None:
    quiet = {word for word in MEANING if "quiet" in kind_html(word)}
    assert quiet == {"pass", "new", "declined"}
    assert set(MEANING_HERE) == {*MEANING, NOT_DONE} and set(COLOURS) == set(MEANING_HERE) - quiet


def test_a_declined_or_crashed_case_can_be_clicked_and_says_why() -> None:
    for given in (broken(outcome="declined", reason="no e"), broken()):
        verdict = pair(given)[1]
        html = cell(given.case, {given.key: given}, {given.case.key: verdict})
        assert f"title='{reason_of(verdict)}'" in html
        assert re.search("<a [^>]*>.*(declined|broken).*</a>", html)


def test_only_scenarios_asked_for_are_shown() -> None:
    pairs = every_kind()
    assert list(rows(shown(pairs, words={"regressed", "defect"}))) == ["defective", "regressing"]
    assert list(rows(shown(pairs, text="brea"))) == ["breaking"]
    assert shown(pairs, text="nothing of that name") == "<p>No scenario of this run is of that kind.</p>"


def test_what_a_database_holds_makes_no_markup() -> None:
    of = case(f"a{HOSTILE}", f"b{HOSTILE}", parameters={}, version=HOSTILE)
    html = shown([pair(broken(of, reason=HOSTILE))])
    assert "<b>" not in html and "&lt;b&gt;" in html
    assert set(re.findall("<(/?[a-z]+)", html)) <= {
        *("div", "/div", "table", "/table", "thead", "/thead", "tbody", "/tbody", "tr", "/tr", "th", "/th", "td"),
        *("/td", "small", "/small", "a", "/a", "span", "/span", "wbr", "bdi", "/bdi"),
    }


def test_an_error_against_its_cost_has_a_unit_and_stands_beside_errors_of_that_unit_alone() -> None:
    """A goal that is a length and one that is a time share no axis; 120 steps of 10 µs."""
    length, time, count = (
        dataclasses.replace(result(None, measurement(name, value, unit)), headline=name)
        for name, value, unit in (
            ("truth_error_goal", 0.0, "m"),
            ("truth_error_goal", 2.0, "s"),
            ("impact_count", 3.0, "1"),
        )
    )
    found = costs_of([length, time, count])
    assert found["of"].tolist() == ["truth error goal (m)", "truth error goal (s)", "impact count"]
    assert found["error"].tolist() == [1e-16, 2.0, 3.0] and found["value"].tolist() == ["0 m", "2 s", "3"]
    assert found["cost"].tolist() == pytest.approx([10.0] * 3)
