"""Faults 9 to 12 of a review of the pages by a new reader, as far as they are of what is shown and how: words, units,
dates, commits. What takes a browser is in test_accessible.py."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.elements import commit_html, spark
from dashboard.series import chart
from tests.dashboard.test_pages import regressed, shown, store, words
from tests.validation.store.made import info
from validation.records.case import RunInfo
from validation.records.stored import Point
from validation.review.lineage import git
from validation.running.provenance import describe_run, web_address
from validation.store import Store, open_store

__all__ = ["store"]  # a fixture
MARKUP = "<script>alert(1)</script>"
HASH = "4f2c1d" + "0" * 34
NO_BANDS = pd.DataFrame([], columns=["begin", "end", "low", "high", "accepted", "who", "why"])


def described(**given: Any) -> RunInfo:
    """A run of a commit with message, author, date and remote."""
    known = {"commit": HASH, "message": "Four iterations are enough\n\nMeasured on a stack.", "author": "R. Engineer"}
    known |= {"authored": datetime(2026, 11, 3, tzinfo=UTC), "remote": "https://git.example/a/b"}
    return info(**known | given)


def points(*values: float, unit: str = "m") -> list[Point]:
    return [
        Point(
            run=run,
            case=run,
            started=datetime(2026, 11, run, 12, tzinfo=UTC),
            commit=f"{run:08x}ff",
            message=f"Change {run}\nbecause",
            author="R. Engineer",
            branch="main",
            machine="m",
            engine_label="pymunk",
            engine_version="7",
            outcome="completed",
            value=value,
            unit=unit,
            trajectory_hash="",
        )
        for run, value in enumerate(values, 1)
    ]


def drawn(*values: float) -> dict[str, Any]:
    found: dict[str, Any] = chart(points(*values), NO_BANDS, [], "penetration mean").to_dict()
    return found


def test_each_sparkline_has_its_own_alternative_text() -> None:
    """Fault 10: "all sparklines have one alternative text"."""
    assert "alt='penetration mean over 3 runs: 0.3 mm first, 1.2 mm last, higher'" in spark(
        [3e-4, math.nan, 4e-4, 1.2e-3], name="penetration mean", unit="m"
    )
    assert "alt='energy drift over 2 runs: 2 J first, 1 J last, lower'" in spark(
        [2.0, 1.0], name="energy drift", unit="J"
    )
    assert "unchanged" in spark([1.0, 1.0], name="impact count")
    assert MARKUP not in spark([1.0], name=MARKUP)


def test_a_decision_expires_on_a_day_and_a_missing_reason_is_asked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 11: "Until that day begins" for "Expires on"; "reason: '' is empty"."""
    regressed(store)
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    app = shown("review")
    assert [field.label for field in app.date_input] == ["Expires on"]
    app.button[0].click().run()
    assert "reason: none is given; say why, for whoever asks later" in words(app)


def test_the_axis_of_a_series_has_dates_and_commits() -> None:
    """Fault 11: "the series' axis is the run number without date or commit"."""
    axis = drawn(1e-3, 2e-3, 3e-3)["layer"][0]["encoding"]["x"]["axis"]
    labels = json.loads(axis["labelExpr"].partition("[toString")[0])
    assert axis["values"] == [1, 2, 3] and axis["title"] == "run, date and commit"
    assert labels["2"] == ["2", "2 Nov 2026", "00000002"]
    many = drawn(*[1e-3] * 28)["layer"][0]["encoding"]["x"]["axis"]
    assert len(many["values"]) <= 6 and {1, 28} <= set(many["values"]), "first and last among a few"


def test_the_axis_of_a_series_has_the_unit_of_its_values() -> None:
    """Fault 11: "units jump from mm to 1e-6 m"."""
    found = drawn(3e-6, 4e-4)
    assert found["layer"][0]["encoding"]["y"]["title"] == "mm" and found["title"]["text"] == "penetration mean"
    (values,) = found["datasets"].values()
    assert [row["value"] for row in values] == pytest.approx([3e-3, 0.4])
    assert [row["shown"] for row in values] == ["0.003 mm", "0.4 mm"]


def test_a_series_shows_message_author_and_date_of_a_commit() -> None:
    """Fault 12: "missing: commit messages, authors and links"."""
    found = drawn(1.0, 2.0)
    tooltip = found["layer"][1]["encoding"]["tooltip"]
    assert {"date", "commit", "message", "author"} <= {field["field"] for field in tooltip}
    (values,) = found["datasets"].values()
    assert values[0]["message"] == "Change 1" and values[0]["author"] == "R. Engineer"


def test_a_commit_is_shown_with_message_author_date_and_link() -> None:
    """Fault 12: "missing: commit messages, authors and links"; strings are text, links only http(s)."""
    html = commit_html(described())
    assert f"href='https://git.example/a/b/commit/{HASH}'" in html
    assert "Four iterations are enough" in html and "R. Engineer" in html and "3 Nov 2026" in html
    assert f"href='https://gitlab.example/a/b/-/commit/{HASH}'" in commit_html(
        described(remote="https://gitlab.example/a/b")
    )
    for remote in ("javascript:alert(1)//x", "data:text/html,x", "/srv/git", "file:///etc", "", "https:"):
        assert "href" not in commit_html(described(remote=remote)), remote
    hostile = commit_html(
        described(message=MARKUP, author=MARKUP, commit=f"4f2c{MARKUP}", remote="https://a'onclick='x")
    )
    assert "<script" not in hostile and "href" not in hostile
    assert "'onclick='" not in commit_html(described(remote="https://a.example/'onclick='x"))
    assert "4f2c1d" in commit_html(info()) and commit_html(info(commit="")) == "", "of an old run, and without a commit"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@git.example:a/b.git", "https://git.example/a/b"),
        ("ssh://git@git.example:22/a/b.git", "https://git.example/a/b"),
        ("https://user:secret@git.example:8443/a/b.git", "https://git.example:8443/a/b"),
        ("http://git.example/a/b/", "http://git.example/a/b"),
        ("/srv/git/b.git", ""),
        ("file:///srv/b.git", ""),
        ("", ""),
    ],
)
def test_where_a_remote_is_on_the_web(remote: str, address: str) -> None:
    assert web_address(remote) == address


def test_a_run_stores_what_is_known_of_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "R. Engineer")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "r@example")
    git(None, "init", "-q", "-b", "main")
    git(None, "remote", "add", "origin", "git@git.example:a/b.git")
    git(None, "commit", "-q", "--allow-empty", "-m", "Title\n\nbody")
    with open_store(tmp_path / "x.db") as opened:
        found = opened.run(opened.begin_run(describe_run("upright run"), [])).info
    assert (found.message, found.author, found.remote) == ("Title\n\nbody", "R. Engineer", "https://git.example/a/b")
    assert found.authored is not None and abs((found.started - found.authored).total_seconds()) < 3600.0


def test_the_pages_show_the_commit(store: Store) -> None:
    """Fault 12: "missing: commit messages, authors and links", on the pages."""
    number = regressed(store)
    known = store.run(number).info
    store.begin_run(
        replace(known, **{name: getattr(described(), name) for name in ("message", "author", "commit")}), []
    )
    assert re.search("Four iterations are enough.*R. Engineer", words(shown("runs")))
    assert "4f2c1d" in words(shown("inbox")) and "4f2c1d" in words(shown("review"))
