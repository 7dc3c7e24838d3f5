"""Signing in, without a browser: pages, presses and requests of those who may not, and what the command says."""

from __future__ import annotations

import json
import os
import time
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from dashboard import sign_in, writing
from tests.asgi import answered, opened
from tests.dashboard.test_pages import regressed, shown, store, words
from tests.validation.review.test_sign_in import AUTH, COOKIE, SECRET
from tests.validation.store.made import scene
from validation.cli import dashboard
from validation.review.ledger import LedgerError
from validation.store import Store

__all__ = ["store"]  # a fixture
REVIEWER, VISITOR = "r@example.org", "m@example.org"
NAME = f"R. Reviewer <{REVIEWER}>"


def claims(email: str, **given: Any) -> dict[str, Any]:
    known = {"is_logged_in": True, "aud": "upright", "sub": email, "iat": time.time(), "nonce": email}
    name = f"{email[0].upper()}. {'Reviewer' if email == REVIEWER else 'Visitor'}"
    return known | {"name": name, "email": email, "email_verified": True} | given


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a dashboard at which people sign in."""
    path = tmp_path / "sign-in.toml"
    name(path, REVIEWER)
    path.chmod(0o600)
    monkeypatch.setenv("UPRIGHT_SIGN_IN", str(path))
    monkeypatch.setattr(sign_in, "_ended", {})
    return path


def name(path: Path, *emails: str, public: bool = False) -> None:
    path.write_text(f"public = {str(public).lower()}\n{AUTH}\n[reviewers]\nemails = {json.dumps(emails)}\n")


def signed_in(monkeypatch: pytest.MonkeyPatch, who: dict[str, Any]) -> None:
    monkeypatch.setattr(sign_in, "claims", lambda: who)


def test_a_reviewer_decides_in_the_name_that_the_provider_vouches_for(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regressed(store)
    monkeypatch.setenv("UPRIGHT_ACCEPT_AS", "somebody else")
    signed_in(monkeypatch, claims(REVIEWER))
    app = shown("review")
    app.text_input(key="reason").set_value("on purpose")
    app.button[0].click().run()
    assert not app.exception and store.entries(1)[0].who == NAME
    app.button(key="undo").click().run()
    assert [(entry.act, entry.who) for entry in store.entries(2)] == [("undo", NAME), ("accept", NAME)]


@pytest.mark.parametrize("who", [claims(VISITOR), claims(REVIEWER, email_verified=False), claims(REVIEWER, iat=0), {}])
def test_who_may_not_decide_has_no_form_and_is_told_why(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch, who: dict[str, Any]
) -> None:
    regressed(store)
    signed_in(monkeypatch, who)
    app = shown("review")
    assert not app.text_input and not app.button and sign_in.visitor().refusal in unescape(words(app))
    assert "names its reviewers in the sign-in file" in words(app)
    assert not shown("inbox", tick="all").toggle


def test_whose_role_is_taken_away_between_page_and_press_writes_nothing(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regressed(store)
    signed_in(monkeypatch, claims(REVIEWER))
    app = shown("review")
    app.text_input(key="reason").set_value("on purpose")
    name(file, VISITOR)
    app.button[0].click().run()
    assert f"You are signed in as {NAME}, who may read but not decide." in unescape(words(app))
    assert len(store.entries()) == 1 and not app.exception


def test_every_write_asks_who_it_is_whatever_the_page_has_shown(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (group,) = store.groups(regressed(store))
    scope = writing.Scope(label="", words="x", members=group.members)
    about: dict[str, Any] = {"engine_version": "1", "profile": "fair", "seed": 1, "dt": 0.01, "message": "m"}
    find = store.find(store.add_find(engine="pymunk", oracle="left", scene=scene(), **about))
    for who in (claims(VISITOR), claims(REVIEWER, aud="another"), {}):
        signed_in(monkeypatch, who)
        writing.mark_find(find, known="x")
        assert not store.find(find.number).known
        for act in writing.ACTS.values():
            with pytest.raises(LedgerError, match="Nothing was written"):
                writing.say(act, scope, reason="x")
        assert "Nothing was written" in writing.take_back(1)
    monkeypatch.delenv("UPRIGHT_SIGN_IN")
    with pytest.raises(LedgerError, match=r"This session only reads\. Nothing was written\."):
        writing.say("accept", scope, reason="x")
    assert [(entry.number, entry.undone_by) for entry in store.entries()] == [(1, None)]


def test_a_reviewer_marks_a_find_in_the_name_that_the_provider_vouches_for(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about: dict[str, Any] = {"engine_version": "1", "profile": "fair", "seed": 1, "dt": 0.01, "message": "m"}
    number = store.add_find(engine="pymunk", oracle="left", scene=scene(), **about)
    signed_in(monkeypatch, claims(VISITOR))
    app = shown("finds", find=str(number))
    assert not app.text_input and not app.button and "names its reviewers in the sign-in file" in words(app)
    signed_in(monkeypatch, claims(REVIEWER))
    app = shown("finds", find=str(number))
    app.text_input(key="reason").set_value("its margin")
    app.button[0].click().run()
    assert not app.exception and store.find(number).known_by == NAME


def test_a_file_that_is_gone_or_broken_lets_nobody_decide_or_read(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(monkeypatch, claims(REVIEWER))
    assert sign_in.reviewer() == NAME and sign_in.may_read(sign_in.visitor())
    file.write_text("[auth")
    assert "cannot be used" in sign_in.visitor().refusal and not sign_in.may_read(sign_in.visitor())
    file.unlink()
    assert "cannot be used" in sign_in.visitor().refusal and not sign_in.may_read(sign_in.visitor())
    name(file, REVIEWER)
    assert sign_in.reviewer() == NAME


def test_who_signed_out_is_out_in_every_window(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signed_in(monkeypatch, claims(REVIEWER, iat=time.time() - 5.0))
    sign_in.end(sign_in.claims())
    assert sign_in.visitor().refusal == "You have signed out. Sign in again." and not sign_in.visitor().name
    signed_in(monkeypatch, claims(REVIEWER))
    assert sign_in.reviewer() == NAME, "another sign-in of the same person"


# --- requests -----------------------------------------------------------------------------------------------------

PATHS = ("/_stcore/health", "/_stcore/stream", "/static/x.js", "/runs", "/auth/login", "/oauth2callback")
CONTENTS = ("/media/1.csv", "/_stcore/upload_file/a/b", "/_stcore/metrics", "/_stcore/agent/interact", "/component/x")
PLAY = ("/play/page",)


def server() -> Starlette:
    async def answer(request: Any) -> PlainTextResponse:
        return PlainTextResponse("contents")

    async def connected(socket: Any) -> None:
        await socket.accept()
        await socket.close()

    routes = [WebSocketRoute("/play/connection", connected), Route("/{path:path}", answer, methods=["GET", "PUT"])]
    return Starlette(routes=routes, middleware=[Middleware(sign_in.Gate)])


def cookie(who: dict[str, Any], secret: str = COOKIE, origin: str = "https://upright.example.org") -> dict[str, str]:
    """As Streamlit makes it after a sign-in."""
    value = create_signed_value(secret, "_streamlit_user", json.dumps(who | {"origin": origin}))
    return {"cookie": f"_streamlit_user={value.decode()}"}


def test_requests_for_contents_need_a_sign_in(file: Path) -> None:
    asked, who = server(), cookie(claims(VISITOR))
    for path in (*PATHS, *CONTENTS, *PLAY):
        assert answered(asked, path, who) == 200
        assert answered(asked, path) == (200 if path in PATHS else 401), path
        assert answered(asked, path, {"cookie": "_streamlit_user=x"}) == (200 if path in PATHS else 401), path
    assert opened(asked, "/play/connection", who) and not opened(asked, "/play/connection")


def test_where_reading_is_public_only_the_playground_needs_a_sign_in(file: Path) -> None:
    name(file, REVIEWER, public=True)
    asked = server()
    assert [answered(asked, path) for path in (*PATHS, *CONTENTS, *PLAY)] == [200] * 11 + [401]
    assert not opened(asked, "/play/connection")


def test_a_cookie_that_is_forged_old_signed_out_or_of_another_dashboard_is_none(file: Path) -> None:
    asked, path = server(), CONTENTS[0]
    assert answered(asked, path, cookie(claims(VISITOR), secret="x" * 40)) == 401
    assert answered(asked, path, cookie(claims(VISITOR), origin="https://another.example")) == 401
    assert answered(asked, path, cookie(claims(VISITOR, iat=time.time() - 9 * 3600))) == 401
    assert answered(asked, path, cookie(claims(VISITOR, aud="another"))) == 401
    unsigned = json.dumps(claims(VISITOR)).encode().hex()
    assert answered(asked, path, {"cookie": f"_streamlit_user={unsigned}"}) == 401
    who = cookie(claims(VISITOR))
    assert answered(asked, path, who) == 200
    assert answered(asked, "/auth/logout", who) == 200 and answered(asked, path, who) == 401, "a copy of the cookie"


def test_without_a_sign_in_file_every_request_is_answered_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPRIGHT_SIGN_IN", raising=False)
    asked = server()
    assert {answered(asked, path) for path in (*PATHS, *CONTENTS, *PLAY)} == {200} and opened(asked, "/play/connection")


# --- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """What the command would become."""
    found: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda program, words, environment: found.append((words, environment)))
    monkeypatch.setattr("validation.running.session.warm_kernels", lambda progress: None)
    monkeypatch.delenv("UPRIGHT_SIGN_IN", raising=False)
    return found


def called(path: Path, *words: str) -> Result:
    return CliRunner().invoke(dashboard.command, ["--no-browser", "--db", str(path.parent / "x.db"), *words])


def test_the_command_hands_the_file_on_and_no_secret(
    file: Path, started: list[tuple[list[str], dict[str, str]]]
) -> None:
    done = called(file, "--sign-in", str(file), "--address", "0.0.0.0")
    assert done.exit_code == 0 and "on https://upright.example.org" in done.stderr and "Warning" not in done.stderr
    ((words, environment),) = started
    assert environment["UPRIGHT_SIGN_IN"] == str(file) and environment["UPRIGHT_PLAY"] == ""
    assert not any(
        secret in text for secret in (SECRET, COOKIE) for text in (*words, *environment.values(), done.output)
    )
    options = dict(zip(words[6::2], words[7::2]))
    assert options["--server.trustedUserHeaders"] == "{}" and options["--server.enableXsrfProtection"] == "true"


def test_the_command_warns_of_what_lets_in_more_than_it_seems(file: Path, started: list[Any]) -> None:
    open_to_all = called(file, "--address", "0.0.0.0", "--accept-as", "R.").stderr
    assert "Warning: whoever reaches 0.0.0.0:8501 may read all results, and accept in the name of R." in open_to_all
    assert "Warning" not in called(file).stderr and "Warning" not in called(file, "--accept-as", "R.").stderr
    file.chmod(0o644)
    file.write_text(AUTH.replace("https://upright", "http://upright"))
    warned = called(file, "--sign-in", str(file)).stderr
    assert f"run: chmod 600 {file}" in warned and "[reviewers] names nobody" in warned and "unencrypted" in warned


def test_what_cannot_be_used_ends_the_command_before_anything_starts(file: Path, started: list[Any]) -> None:
    both = called(file, "--sign-in", str(file), "--accept-as", "R.")
    assert both.exit_code == 2 and "give one; who signs in decides in their own name" in both.stderr
    assert called(file, "--sign-in", "absent.toml").exit_code == 2
    file.write_text(AUTH.replace(COOKIE, "short"))
    weak = called(file, "--sign-in", str(file))
    assert weak.exit_code == 1 and f"{file}: auth.cookie_secret: it is weak" in weak.stderr and not started
    file.write_bytes(b"\xff\xfe")
    assert "it is no text in UTF-8" in called(file, "--sign-in", str(file)).stderr and not started
