"""The page of finds: what fuzzing found, one find with its motion and how it is handed over, and who knows of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import writing
from scenarios.scene import Disc, HalfPlane, PlanarBody, PlanarScene
from tests.dashboard.hostile import STRINGS, literal, marked, normal
from tests.dashboard.test_pages import shown, words
from tests.validation.store.made import falling
from validation.records.trajectory import to_bytes
from validation.report.finds import EXPECTATIONS
from validation.store import Store, open_store

BALL = PlanarBody(name="ball", shape=Disc(radius=0.5), mass=1.0, position=(0.0, 0.5))
SCENE = PlanarScene(duration=0.5, bodies=(BALL,), boundaries=(HalfPlane(name="ground"),))
MESSAGE = "ball went through ground by 2 m"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("UPRIGHT_DB", str(tmp_path / "x.db"))
    monkeypatch.delenv("UPRIGHT_ACCEPT_AS", raising=False)
    return open_store(tmp_path / "x.db")


def found(store: Store, engine: str = "pymunk:iterations=5", oracle: str = "went through", **more: Any) -> int:
    about: dict[str, Any] = {"engine_version": "7.3.1", "profile": "fair", "seed": 3, "dt": 1.0 / 60.0}
    about |= {"message": MESSAGE, "scene": SCENE, "bodies": ("ball", "ground")}
    return store.add_find(engine=engine, oracle=oracle, **about | more)


def page_text(app: AppTest) -> str:
    return unescape(words(app))


def codes(app: AppTest) -> str:
    return "\n".join(code.value for code in app.code)


def test_the_list_has_every_find_with_its_engine_law_message_and_state(store: Store) -> None:
    found(store)
    known, fixed = found(store, "box2d"), found(store, "mujoco")
    store.mark_find(known, known="its margin", known_by="R.", link="#31")
    store.mark_fixed(fixed, "4.1")
    app = shown("finds")
    described = page_text(app)
    for part in (
        "1 new, 1 known, 1 fixed",
        "pymunk@fair:iterations=5",
        "7.3.1",
        "went through: disc, half-plane",
        MESSAGE,
    ):
        assert part in described
    assert "its margin" in described and "#31" in described and "fixed in 4.1" in described
    only = page_text(shown("finds", show="known"))
    assert "box2d@fair" in only and "pymunk" not in only and "mujoco" not in only


def test_finds_of_one_cause_are_one_row_that_links_to_the_others_and_so_does_each_of_them(store: Store) -> None:
    """pymunk:iterations=5 and =9 are other values of one setting, and two bodies more than one."""
    two = SCENE.model_copy(update={"bodies": (BALL, BALL.model_copy(update={"name": "two", "position": (9.0, 0.5)}))})
    more, fewest = found(store, "pymunk:iterations=9", scene=two, bodies=()), found(store)
    other, known = found(store, "box2d"), found(store, "pymunk:iterations=7")
    store.mark_find(known, known="its margin")
    described = page_text(shown("finds"))
    table = described[described.index("<tbody>") : described.index("</tbody>")]
    assert table.count("<tr>") == 3 and "3 new, 1 known" in described and "finds of fuzzing, 3 causes" in described
    row = next(row for row in table.split("<tr>") if "also seen" in row)
    assert f"<a class='go' href='finds?find={more}' target='_self'>" in row and f"(find {more})" in row
    assert f"<td data-head='find'>{fewest}</td>" in row and table.count("also seen") == 1
    for number, others in ((fewest, [more]), (more, [fewest]), (other, []), (known, [])):
        page = page_text(shown("finds", find=str(number)))
        assert [one for one in (more, fewest, other, known) if f"(find {one})" in page] == others
    new, quiet = (page_text(shown("finds", show=state)) for state in ("new", "known"))
    assert "also seen" in new and "also seen" not in quiet


def test_one_find_plays_and_has_its_law_script_issue_scene_and_the_command_that_runs_it(store: Store) -> None:
    number = found(store)
    store.hand_over(number, {"script": "print('it falls')", "issue": "# it falls"}, to_bytes(falling(bodies=1)))
    store.mark_since(number, "6.2.0", "6.1.1")
    app = shown("finds", find=str(number))
    described = page_text(app)
    for part in (*EXPECTATIONS["went through"], MESSAGE, "since 6.2.0, not in 6.1.1", "time step 1/60 s"):
        assert part in described, part
    (frame,) = app.get("iframe")
    assert "motion of find" in str(frame.proto) and "ball" in str(frame.proto)
    copied = codes(app)
    assert "print('it falls')" in copied and "# it falls" in copied and '"half-plane"' in copied
    assert f"upright run find{number}.json --engine pymunk@fair:iterations=5 --dt 1/60" in copied


def test_what_there_is_none_of_is_said_with_the_command_that_makes_it(store: Store) -> None:
    number = found(store)
    described = page_text(shown("finds", find=str(number)))
    assert "There is no motion to play" in described and f"upright finds {number} --replay" in described
    assert "Nobody has asked for it yet." in described and f"upright finds {number} --issue" in described
    store.hand_over(number, {"lacks": "a script cannot express thrusters"})
    described = page_text(shown("finds", find=str(number)))
    assert "There is none: <bdi>a script cannot express thrusters</bdi>" in described
    assert "find 99: not in this database" in page_text(shown("finds", find="99"))
    assert "No such find" in page_text(shown("finds", find="x"))


def test_who_may_accept_marks_a_find_as_known_with_a_reason_and_takes_it_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = found(store)
    reading = shown("finds", find=str(number))
    assert not reading.text_input and not reading.button and "This session only reads" in words(reading)
    assert f"upright finds {number} --known" in codes(reading), "the command that does the same"
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    app = shown("finds", find=str(number))
    app.button[0].click().run()
    assert "reason: none is given" in words(app) and store.find(number).known == ""
    app.text_input(key="reason").set_value("its margin")
    app.text_input(key="link").set_value("#31")
    app.button[0].click().run()
    assert not app.exception
    now = store.find(number)
    assert (now.known, now.known_by, now.link) == ("its margin", "R. Reviewer", "#31")
    assert "It is known, by" in words(app)
    app.button(key="not-known").click().run()
    assert (store.find(number).known, store.find(number).known_by) == ("", "")


def test_an_issue_on_the_web_is_a_link_and_nothing_else_is(store: Store) -> None:
    number = found(store)
    for link, target in (
        ("https://example.org/31?a=b", "https://example.org/31?a=b"),
        ("#31", ""),
        ("javascript:x", ""),
    ):
        store.mark_find(number, known="its margin", link=link)
        described = page_text(shown("finds", find=str(number)))
        assert link in described and ("target='_blank'" in described) == bool(target)
        assert not target or f"href='{target}'" in described


def test_what_somebody_else_marked_meanwhile_is_not_written_over(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "R. Reviewer")
    number = found(store)
    before = store.find(number)
    store.mark_find(number, known="theirs", known_by="T.")
    answers: list[str] = []
    monkeypatch.setattr(writing, "paragraph", lambda markup, kind="said": answers.append(markup))
    writing.mark_find(before, known="mine")
    assert "It has changed since this page was shown" in answers[0] and store.find(number).known == "theirs"


def test_every_text_of_a_find_is_shown_as_it_is_written(store: Store) -> None:
    """HTML, Markdown and control characters in all texts: none of it is markup."""
    for i in range(0, len(STRINGS), 5):
        text = marked(i)
        number = found(store, engine=f"e{i}{text}", oracle=text, message=text, engine_version=text, profile=text)
        store.hand_over(number, {"script": text, "issue": text, "lacks": text})
        store.mark_find(number, known=text, known_by=text, link=text)
        described = words(shown("finds", find=str(number)))
        assert "<script>" not in described and "<img" not in described and "<iframe" not in described
        assert literal(i, 30) in normal(unescape(described))
    assert "<script>" not in words(shown("finds"))


def test_a_damaged_find_is_named_in_a_line_above_the_others(store: Store, tmp_path: Path) -> None:
    found(store)
    damaged = found(store, "box2d")
    with closing(sqlite3.connect(tmp_path / "x.db")) as database, database:
        database.execute("UPDATE finds SET bodies = '[1' WHERE id = ?", [damaged])
    described = page_text(shown("finds"))
    assert f"damaged: table finds, row id {damaged}, column bodies" in described and "is left out" in described
    assert "1 new" in described and MESSAGE in described
