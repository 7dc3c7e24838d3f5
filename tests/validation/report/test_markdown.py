"""A summary for a pull request: what is excused is no regression, standing defects are told, text stays text."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from tests.validation.report.made import baseline, broken, every_kind, pair, stored
from tests.validation.store.made import case
from validation.judging.verdict import standing
from validation.report.markdown import code, escape, markdown_summary
from validation.report.sentences import summary
from validation.report.table import render_table, render_verdicts

LAWS = {"penetration_mean": 1e-3}
WORSE = pair(stored(value=3.2e-3), stored(value=0.4e-3))
KNOWN = (WORSE[0], replace(WORSE[1], worse=False, waiver="known", waived_by=("R.", "#31")))
ALWAYS = pair(stored(case("b"), 5e-3), stored(case("b"), 5e-3), LAWS)


def plain(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def test_what_is_excused_is_no_regression_in_any_report() -> None:
    pairs = [KNOWN, pair(stored(case("a")), stored(case("a")))]
    sentence = "0 new regressions, 1 known issue, 1 unchanged"
    assert summary(verdict for _, verdict in pairs) == sentence
    text = markdown_summary(pairs, run=7)
    assert text.startswith(f"**Upright: {sentence}**") and "| what |" not in text and "Next: fix it" not in text
    assert "- known: stack:n=10 on pymunk" in text, "folded, and not left out"
    table = plain(render_verdicts(pairs))
    assert table.endswith(f"Upright: {sentence}") and "regressed " not in table and "known" in table


def test_beside_a_new_regression_a_known_issue_is_counted_apart() -> None:
    other = pair(stored(case("a"), 3.2e-3), stored(case("a"), 0.4e-3))
    assert summary(verdict for _, verdict in (KNOWN, other)) == "1 regression, 1 known issue"


def test_a_standing_defect_is_told_in_summary_and_table_and_fails_nothing() -> None:
    text = markdown_summary([ALWAYS], [baseline(stored(case("b"), 5e-3))], run=7)
    assert text.startswith("**Upright: 1 unchanged; 1 standing defect**")
    assert "1 standing defect: wrong by what happens or by a law, as before; fails nothing</summary>" in text
    assert "5 mm &#40;physics allows 1 mm&#41;; accepted so by R. on 03 Nov 2026" in text
    assert "Next: fix it" not in text
    table = plain(render_table([ALWAYS[0]], [ALWAYS[1]]))
    assert "5 mm ※" in table and "※ wrong, as before" in table


def test_standing_defects_come_with_the_gravest_excess_first() -> None:
    worse = pair(stored(case("c"), 9e-3), None, LAWS)
    fresh = pair(stored(case("d"), 2e-3), stored(case("d"), 1e-4), LAWS)
    assert [v.case.label for v in standing(v for _, v in (ALWAYS, worse, fresh))] == ["c:n=10", "b:n=10"]


def test_nothing_that_was_told_before_is_lost() -> None:
    pairs = every_kind()
    assert summary(verdict for _, verdict in pairs) == (
        "2 broken, 1 defect, 1 regression, 1 missing, 1 different, 1 improvement, 1 new, 1 unchanged, 1 declined"
    )


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](https://e.example/x.png)",
        "a | b\n\n# heading\r\n- list",
        "@someone #12 :smile: www.e.example https://e.example $x^2$ `tick` **bold** ~~gone~~",
        "a&lt;b --> <!-- c",
        "\u202eturned round",
        "x" * 5000,
    ],
)
def test_what_a_database_holds_is_text_in_a_comment(hostile: str) -> None:
    of = case(hostile, parameters={})
    worse, before = stored(of, 3.2e-3), stored(of, 0.4e-3)
    accepted = replace(baseline(before), who=hostile, reason=hostile)
    failing = pair(broken(of, reason=hostile), before)
    text = markdown_summary([pair(worse, before), failing], [accepted], run=7, merge_base=hostile, name=hostile)
    outside = re.sub("(`+)(?!`).*?(?<!`)\\1(?!`)", "", text)  # a code span is text whatever it holds
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert rows and all(row.count("|") == 6 for row in rows)
    for tag in re.findall("<[^>]*>?", outside):
        assert tag in ("<br>", "<details>", "</details>", "<summary>", "</summary>")
    assert not re.search(r"\]\(|(?<!&)#|@|:\w+:|://|www\.|\$|~|\u202e", outside)
    assert max(map(len, rows)) < 6000
    assert len(text.splitlines()) <= 14


def test_an_escaped_text_reads_as_it_was_written() -> None:
    shown = html.unescape(escape("a_b <c> @d :e: [f](g)")).replace("\u200b", "")
    assert shown == "a_b <c> @d :e: [f](g)"
    assert html.unescape(escape("كومة")) == "\u2068كومة\u2069", "what runs right to left stays apart"
    assert "\u202e" not in code("\u202eturned")
