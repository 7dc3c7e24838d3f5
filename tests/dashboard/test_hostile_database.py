"""Contents of the database are text on every page, whatever they are: no markup, no link, no request, no script."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.elements import plain, text
from tests.browser import needs_browser, opened_browser
from tests.dashboard.hostile import STRINGS, literal, made, marked, normal
from tests.dashboard.test_dashboard import free_port, settled, wait_for
from tests.dashboard.test_pages import regressed
from tests.effort import few
from tests.validation.command import AS_COMMAND
from tests.validation.store.made import scene
from tests.validation.store.test_damage import damaged, filled
from tests.validation.store.test_passports import examined
from validation.store import open_store
from validation.store.models import Base

MADE_BY_MARKUP = (
    "script:not([src]), a[href^='javascript:'], img[src=x], svg[onload], iframe[src^=http], form[action], math, em, "
    "strong, del, .katex, [onmouseover], [onfocus], base, meta[http-equiv=refresh], bdi *:not(wbr)"
)


def test_a_text_has_no_control_characters_and_no_markup() -> None:
    for i in range(len(STRINGS)):
        shown = text(marked(i))
        assert not [c for c in shown if ord(c) < 32 or 127 <= ord(c) < 160], i
        assert shown.count("<") == 2 and len(shown) < 20_000, "the bdi of ours"
        label = plain(marked(i))
        assert len(label) <= 600 and "\n" not in label and not [c for c in label if ord(c) < 32 or 127 <= ord(c) < 160]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, list[Any]], Path]]:
    folder = tmp_path_factory.mktemp("hostile")
    numbers = made(folder)
    port = free_port()
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*AS_COMMAND, "dashboard", "--no-browser", "--port", str(port), "--accept-as", "R."],
            cwd=folder,
            env=os.environ | {"UPRIGHT_DB": str(folder / "upright.db")},
            stdout=log,
            stderr=log,
        )
        try:
            wait_for(f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}", numbers, folder
        finally:
            server.terminate()
            server.wait(10)


class Watched:
    """A page whose requests to elsewhere are stopped and counted, and whose dialogs are too."""

    def __init__(self, browser: Any, address: str) -> None:
        self.address = address
        self.found: list[str] = []
        context = browser.new_context(viewport={"width": 1300, "height": 1000})
        context.route("**/*", self.request)
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("dialog", lambda dialog: (self.found.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.found.append(f"script {error}"))
        context.on("page", lambda _: self.found.append("another window"))

    def request(self, route: Any) -> None:
        own = route.request.url.startswith((self.address, "data:", "blob:", "about:"))
        if not own:
            self.found.append(f"request {route.request.url}")
        route.continue_() if own else route.abort()

    def open(self, where: str, *expected: int) -> None:
        """Each of these strings is there as it is written, and nothing that it would have made."""
        self.page.goto(f"{self.address}/{where}")
        self.page.wait_for_selector("h1.page", state="attached")
        self.shows(where, *expected)

    def shows(self, where: str, *expected: int) -> None:
        missing, deadline = list(expected), time.monotonic() + 60.0
        while missing and time.monotonic() < deadline:
            settled(self.page)
            seen = self.text()
            missing = [i for i in expected if literal(i) not in seen]
        assert not missing, (where, [literal(i) for i in missing], self.text()[:3000])
        settled(self.page)
        assert "cannot be shown" not in self.text(), (where, self.text()[:2000])
        assert self.page.locator("[data-testid=stException]").count() == 0, where
        self.clean(where)

    def text(self) -> str:
        """Of the page and the frames in it, as a reader sees it."""
        return normal("\n".join(frame.evaluate("document.body?.innerText ?? ''") for frame in self.page.frames))

    def clean(self, where: str) -> None:
        main = "[data-testid=stMain]"
        selectors = ", ".join(f"{main} {one.strip()}" for one in MADE_BY_MARKUP.split(","))
        outer = "all => all.map(one => one.outerHTML.slice(0, 300))"
        made_of = self.page.eval_on_selector_all(selectors, outer)
        assert not made_of, (where, made_of)
        links = self.page.eval_on_selector_all(f"{main} a", "all => all.map(one => one.href)")
        foreign = [one for one in links if not one.startswith(self.address)]
        assert not foreign and not self.found, (where, foreign, self.found)
        assert self.page.title().endswith("Upright") or "Inbox" in self.page.title(), (where, self.page.title())


@pytest.mark.slow
@needs_browser
def test_every_text_of_the_database_is_read_as_it_is_written(served: tuple[str, dict[str, list[Any]], Path]) -> None:
    address, numbers, folder = served
    old, last = numbers["runs"][:2]
    every = range(len(STRINGS))
    with opened_browser() as browser:
        watched = Watched(browser, address)
        watched.open(f"engines?run={last}", *every)
        watched.open(f"compare?a={old}&b={last}&comparison=7", 6)
        watched.page.click("label:has-text('All, also what is the same')")
        watched.shows("compare", *every)
        watched.open("baselines", *every)
        watched.open("finds", *every)
        for i in (0, 8, 20, 28, 30, 34, 38):
            watched.open(f"finds?find={numbers['finds'][i]}", i)
        watched.open("runs", *every)
        watched.open(f"?run={last}")
        for i in (1, 2, 3, 4):
            watched.open(f"?run={last}&find=h{i}", i)
        watched.open(f"?run={last}&tick=none&find=h2", 20, 23, 24, 28, 29)  # labels are Markdown
        watched.open(f"?run={last}&tick=none&find=h3", 30, 31)
        watched.page.click("[data-testid=stSelectbox] >> nth=0")
        watched.clean("the list of runs")
        for i in every:
            watched.open(f"case?case={numbers['cases'][i]}", i)
            watched.open(f"review?run={last}&group={numbers['groups'][i]}", i)
        for i in (0, 8, 20, 28, 30, 34, 38):  # a branch, a commit and a machine of that name; an engine that broke
            run = numbers["runs"][2 + i]
            watched.open(f"?run={run}", i)
            watched.open(f"engines?run={run}", i)
            watched.open(f"compare?a={run}&b={last}&comparison={i + 1}", i)
    assert "Traceback" not in (folder / "log").read_text()


STRUCTURE = (
    ("verdicts", "word"),
    ("verdicts", "changes"),
    ("verdicts", "defects"),
    ("verdicts", "grounds"),
    ("verdicts", "divergence"),
    ("cases", "outcome"),
    ("cases", "settings"),
    ("cases", "parameters"),
    ("cases", "given"),
    ("cases", "happened"),
    ("measurements", "better"),
    ("measurements", "noise"),
    ("measurements", "value"),
    ("ledger", "act"),
    ("ledger", "made"),
    ("runs", "started"),
    ("runs", "packages"),
    ("scenes", "json"),
    ("trajectories", "data"),
    ("comparisons", "counts"),
    ("comparisons", "lines"),
    ("passports", "ways"),
    ("passports", "declined"),
    ("verdict_groups", "word"),
    ("finds", "bodies"),
    ("finds", "seed"),
)
"""Columns whose values are of a few known words, numbers, times or JSON."""
OTHER = ("<script>alert(1)</script>", '{"a": [', "[1, null]", "1e999")
PAGES = ("inbox", "review", "case", "compare", "finds", "engines", "baselines", "runs")


@pytest.mark.parametrize(("table", "column"), few(3, STRUCTURE))
def test_a_value_that_no_command_writes_is_a_sentence_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, column: str
) -> None:
    """On every page, of every such column: shown as text, or a sentence in place of the page."""
    with open_store(tmp_path / "good.db") as store:
        run = regressed(store)
        about: dict[str, Any] = {"engine_version": "1", "profile": "fair", "seed": 1, "dt": 0.01, "message": "m"}
        store.add_find(engine="pymunk", oracle="left", scene=scene(), **about)
    line = {"sign": "worse", "scenario": "s", "parameters": {}, "told": "", "variant": "", "changes": []}
    values = ("2026-11-03 12:00:00.000000", "c", "m", "a", "b", "{}", '{"worse": 1}', json.dumps(line))
    columns = 'made, command, machine, "old", "new", packages, counts, "lines"'
    changed(tmp_path / "good.db", f"INSERT INTO comparisons ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
    with open_store(tmp_path / "good.db") as store:
        store.add_passport(examined(), command="c", machine="m")
    for i, other in enumerate(OTHER):
        path = tmp_path / f"{i}.db"
        shutil.copy(tmp_path / "good.db", path)
        before = changed(path, f'UPDATE {table} SET "{column}" = ?', other)
        monkeypatch.setenv("UPRIGHT_DB", str(path))
        for page in PAGES:
            described = page_of_second_run(page)
            assert "<script" not in described and "Traceback" not in described
        assert changed(path, "SELECT 1") == before, "reading writes nothing"
    assert run == 2


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "upright.db"
    filled(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("table", list(Base.metadata.tables))
def test_every_column_may_have_anything_and_each_page_shows_it_or_names_it(
    table: str, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = 0
    for column in Base.metadata.tables[table].columns:
        for i, value in enumerate((b"\x00\xff", 5, "text")):
            (folder := tmp_path / f"{column.name}{i}").mkdir()
            if before := damaged(good, folder, table, column.name, value):
                monkeypatch.setenv("UPRIGHT_DB", str(folder / "upright.db"))
                for page in PAGES:
                    described = page_of_second_run(page)
                    named += f"damaged: table {table}, row " in described
                    assert "or Upright, is wrong here" not in described, (column.name, value, page, described[-900:])
                assert (folder / "upright.db").read_bytes() == before, "reading writes nothing"
    assert named or table in NOT_ON_PAGES


NOT_ON_PAGES = ("scenes", "trajectories", "commits", "ensembles", "ensemble_series", "group_members")
"""Of which no page that is opened here needs a value; of the last a row with another number is of no group."""


def page_of_second_run(page: str) -> str:
    script = f"from dashboard import {page}_page, app\napp.guarded({page}_page.show)"
    app = AppTest.from_string(script, default_timeout=60)
    app.query_params["case" if page == "case" else "run"] = "2"
    app.run()
    described = "\n".join(str(element.proto.body) for element in app.get("html"))
    assert not app.exception and "<h1 class='page'>" in described, (page, app.exception)
    return described


def changed(path: Path, statement: str, *values: str) -> list[str]:
    """All that the database has then."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute(statement, values).rowcount != 0
        database.commit()
        return list(database.iterdump())
