"""People sign in at a provider, in a real browser: who may decide does, and who may not cannot, by page, by address or
by request."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.browser import needs_browser, opened_browser
from tests.dashboard.provider import CLIENT, FAULTS, SECRET, Provider, served_provider
from tests.dashboard.test_dashboard import free_port, settled, wait_for
from tests.dashboard.test_pages import regressed
from tests.validation.command import AS_COMMAND
from tests.validation.review.test_sign_in import COOKIE
from validation.store import Store, open_store

pytestmark = [pytest.mark.slow, needs_browser]
PEOPLE: dict[str, dict[str, Any]] = {
    "r": {"name": "R. Reviewer", "email": "r@example.org", "email_verified": True},
    "g": {"name": "G. Member", "groups": ["upright-reviewers"]},
    "m": {"name": "M. Visitor", "email": "m@example.org", "email_verified": True, "groups": ["staff"]},
    "n": {"name": "R. Reviewer", "email": "r@example.org", "email_verified": False},
}
NAME = "R. Reviewer <r@example.org>"
ONLY_READS = "who may read but not decide"
GATE = "text=Sign in to read this dashboard"


@dataclass
class Site:
    address: str
    folder: Path
    provider: Provider
    file: Path
    frames: list[bytes] = field(default_factory=list)  # that the browser of a reviewer sent

    def write(self, *emails: str, before: str = "", groups: tuple[str, ...] = ("upright-reviewers",)) -> None:
        self.file.write_text(
            f"""{before}
[auth]
redirect_uri = "{self.address}/oauth2callback"
client_id = "{CLIENT}"
server_metadata_url = "{self.provider.address}/.well-known/openid-configuration"
[reviewers]
emails = {json.dumps(emails)}
claims = {{ groups = {json.dumps(groups)} }}
"""
        )

    @property
    def store(self) -> Store:
        return open_store(self.folder / "upright.db")

    def entries(self) -> list[tuple[str, str]]:
        with self.store as opened:
            return [(entry.act, entry.who) for entry in opened.entries()]

    def log(self) -> str:
        return (self.folder / "log").read_text()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A dashboard on an accepted run and a worse one; secrets are in the environment."""
    with open_store(tmp_path / "upright.db") as store:
        regressed(store)
    port = free_port()
    with served_provider(**PEOPLE) as provider, (tmp_path / "log").open("w") as log:
        made = Site(f"http://localhost:{port}", tmp_path, provider, tmp_path / "sign-in.toml")
        made.write("r@example.org")
        server = subprocess.Popen(
            [*AS_COMMAND, "dashboard", "--no-browser", "--port", str(port), "--sign-in", "sign-in.toml"],
            cwd=tmp_path,
            env=os.environ | {"UPRIGHT_CLIENT_SECRET": SECRET, "UPRIGHT_COOKIE_SECRET": COOKIE},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for(made.address)
            yield made
        finally:
            server.terminate()
            server.wait(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as opened:
        yield opened


@contextmanager
def someone(browser: Any, site: Site, who: str = "", where: str = "/review?run=2") -> Iterator[Any]:
    """A page of a browser of its own, in which this person signs in."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.on("websocket", lambda socket: socket.on("framesent", lambda sent: recorded(site, sent)))
    page.goto(f"{site.address}{where}")
    if who:
        sign_in(page, who)
    yield page
    context.close()


def recorded(site: Site, sent: bytes | str) -> None:
    if isinstance(sent, bytes):  # the playground sends text
        site.frames.append(sent)


def sign_in(page: Any, who: str) -> None:
    page.click("button:has-text('Sign in')")
    page.click(f"a:text-is('{who}')")
    page.wait_for_selector("[data-testid=stApp]")


def decide(page: Any, act: str = "Reject") -> None:
    page.click(f"button:has-text('{act}') >> visible=true >> nth=0")
    page.wait_for_selector(f"button:has-text('{act} as R. Reviewer')")
    page.fill("input[aria-label=Reason]", "on purpose")
    page.press("input[aria-label=Reason]", "Tab")
    page.click(f"button:has-text('{act} as R. Reviewer')")


def header(page: Any) -> str:
    return "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())


def replayed(site: Site, frames: list[bytes], cookie: str) -> str:
    """What a server answers to these messages of a browser, as text; "closed" where it hangs up."""
    token = next((part.partition("=")[2] for part in cookie.split("; ") if part.startswith("_streamlit_xsrf=")), "none")
    address = site.address.replace("http", "ws") + "/_stcore/stream"
    headers, answers = {"Cookie": cookie}, b""
    with connect(
        address, origin=site.address, subprotocols=["streamlit", token], additional_headers=headers, max_size=None
    ) as socket:
        for frame in frames:
            socket.send(frame)
            try:
                while True:
                    message = socket.recv(timeout=15)
                    assert isinstance(message, bytes)
                    answers += message
                    if ForwardMsg.FromString(message).WhichOneof("type") == "script_finished":
                        break
            except ConnectionClosed:
                return "closed"
    return unescape(answers.decode("utf-8", errors="replace"))


def test_a_reviewer_signs_in_comes_back_to_the_page_and_decides_in_their_own_name(browser: Any, site: Site) -> None:
    with someone(browser, site) as page:
        page.wait_for_selector(GATE)
        assert "penetration" not in page.inner_text("body") and "stack" not in page.content(), "nothing is shown before"
        sign_in(page, "r")
        page.wait_for_selector(f"text=Signed in as {NAME}")
        assert "/review?run=2" in page.url, "the page that was asked for"
        decide(page, "Accept")
        page.wait_for_selector(f"text=accept: 1 case, by {NAME}: on purpose")
        page.click("button:has-text('Undo') >> visible=true")
        page.wait_for_selector("text=entry 2 is taken back, by entry 3")
    assert site.entries() == [("undo", NAME), ("accept", NAME), ("accept", "R.")]
    with someone(browser, site, "g") as page:
        page.wait_for_selector("button:has-text('as G. Member')")


@pytest.mark.parametrize("who", ["m", "n"])
def test_who_is_no_reviewer_cannot_decide_by_page_or_address(browser: Any, site: Site, who: str) -> None:
    with someone(browser, site, who) as page:
        page.wait_for_selector(f"text={ONLY_READS}")
        with site.store as store:
            (group,) = store.groups(2)
        addresses = (
            f"/review?run=2&group={group.key}&case={group.worst.number}",
            "/?run=2&tick=all&several=true&bulk-act=Accept&bulk-reason=x&bulk-send=true",
            "/review?run=2&act=Accept&reason=on+purpose&undo=true&take-back=true",
            "/baselines",
            "/case?case=2",
        )
        for where in addresses:
            page.goto(f"{site.address}{where}")
            page.wait_for_selector("text=Signed in as")
            settled(page)
            labels = page.locator("[data-testid=stMain] button >> visible=true").all_inner_texts()
            assert not [one for one in labels if "as R." in one or "Undo" in one or "Take" in one or "Accept" in one]
            assert page.locator("input[aria-label=Reason]").count() == 0
    assert len(site.entries()) == 1


def test_what_a_reviewers_browser_sent_writes_for_a_reviewer_only(browser: Any, site: Site) -> None:
    """Every message of the session in which a decision was made, sent again by others."""
    with someone(browser, site, "r") as page:
        page.wait_for_selector("button:has-text('as R. Reviewer')")
        site.frames.clear()
        page.reload()
        page.wait_for_selector("button:has-text('as R. Reviewer')")
        decide(page)
        page.wait_for_selector(f"text=reject: 1 case, by {NAME}")
        page.click("button:has-text('Undo') >> visible=true")
        page.wait_for_selector("text=entry 2 is taken back, by entry 3")
        mine, frames = header(page), list(site.frames)
        before = site.entries()
        answered = replayed(site, frames, mine)
        assert f"by {NAME}" in answered and len(site.entries()) > len(before), "the messages do decide"
        before = site.entries()
        with someone(browser, site, "m") as other:
            other.wait_for_selector(f"text={ONLY_READS}")
            answered = replayed(site, frames, header(other))
        assert ONLY_READS in answered and "M. Visitor" in answered and "on purpose" not in answered.split(ONLY_READS)[0]
        assert "Sign in to read this dashboard" in replayed(site, frames, "")
        forged = {"is_logged_in": True, "aud": CLIENT, "sub": "r", "iat": time.time(), "origin": site.address}
        for secret in ("", "another-secret-0123456789-abcdefghijklmn"):
            value = create_signed_value(secret, "_streamlit_user", json.dumps(forged | PEOPLE["r"])).decode()
            own = "; ".join(part for part in mine.split("; ") if "_streamlit_user" not in part)
            assert "Sign in to read" in replayed(site, frames, f"{own}; _streamlit_user={value}")
        site.write("somebody@example.org")
        assert ONLY_READS in replayed(site, frames, mine), "the same person, no reviewer any more"
        assert site.entries() == before


def test_whose_role_or_sign_in_ends_while_the_form_is_open_writes_nothing(browser: Any, site: Site) -> None:
    with someone(browser, site, "r") as page:
        page.wait_for_selector("button:has-text('as R. Reviewer')")
        site.write("somebody@example.org")
        page.fill("input[aria-label=Reason]", "on purpose")
        page.click("button:has-text('Accept as R. Reviewer')")
        page.wait_for_selector(f"text=You are signed in as {NAME}, {ONLY_READS}.")
        site.write("r@example.org")
        page.reload()
        page.wait_for_selector("button:has-text('as R. Reviewer')")
        site.write("r@example.org", before="hours = 1e-6")
        page.fill("input[aria-label=Reason]", "on purpose")
        page.click("button:has-text('Accept as R. Reviewer')")
        page.wait_for_selector("text=Your sign-in is older than 1e-06 hours. Sign in again.")
        site.write("r@example.org")
        page.reload()
        page.wait_for_selector("button:has-text('as R. Reviewer')")
        copied = header(page)
        other = page.context.new_page()
        other.goto(f"{site.address}/runs")
        other.click("button:has-text('Sign out')")
        other.wait_for_selector(GATE)
        page.fill("input[aria-label=Reason]", "on purpose")
        page.click("button:has-text('Accept as R. Reviewer')")
        page.wait_for_selector("text=You have signed out. Sign in again.")
        assert "have signed out" in replayed(site, [site.frames[0]], copied), "a copy of the cookie"
    assert len(site.entries()) == 1


def test_tokens_that_are_forged_or_of_another_time_or_client_sign_nobody_in(browser: Any, site: Site) -> None:
    described = {"azp": "made for another application", "old": "older than 8 hours"}
    for fault in FAULTS:
        site.provider.fault = fault
        with someone(browser, site, "r") as page:
            page.wait_for_selector(GATE)
            page.wait_for_selector(f"text={described.get(fault, 'what the provider sent was refused')}")
            assert "Signed in" not in page.inner_text("body"), fault
    site.provider.fault = ""
    with someone(browser, site) as page:
        page.goto(f"{site.address}/oauth2callback?code=stolen&state=guessed")
        page.wait_for_selector(GATE)
        sign_in(page, "r")
        page.wait_for_selector("text=Signed in as R. Reviewer")
        assert "refused" not in page.url
    secrets = [SECRET, COOKIE, *site.provider.issued]
    stored = (site.folder / "upright.db").read_bytes()
    assert not [one for one in secrets if one in site.log() or one.encode() in stored]
    assert len(site.provider.issued) == 2 * (len(FAULTS) + 1)


def test_requests_without_a_sign_in_get_nothing_and_the_playground_shares_for_reviewers_only(
    browser: Any, site: Site
) -> None:
    play = site.address.replace("http", "ws") + "/play/connection"
    with someone(browser, site, "m", "/compare?a=1&b=2") as page, site.store as store:
        page.wait_for_selector("text=Export as CSV")
        cookie = header(page)
        requests = page.context.request
        media = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
        assert requests.get(f"{site.address}/play/page").status == 200
        with browser.new_context() as anonymous:
            for path in ("/play/page", "/_stcore/metrics", "/_stcore/agent/openapi.json", "/media/x.csv"):
                assert anonymous.request.get(f"{site.address}{path}").status == 401, (path, media)
            assert anonymous.request.get(f"{site.address}/_stcore/health").status == 200
        with pytest.raises(InvalidStatus):
            connect(play, origin=site.address)
        scenes = store.size()
        with connect(play, origin=site.address, additional_headers={"Cookie": cookie}, max_size=None) as socket:
            socket.send(json.dumps({"do": "setup", "setup": {"scenario": "bouncing-ball", "engines": ["pymunk"]}}))
            socket.send(json.dumps({"do": "share", "refusal": ""}))
            answers = b""
            while b"may read but not decide. Nothing was stored" not in answers:
                answers += socket.recv(timeout=60)
            assert b'"stored"' not in answers
            requests.get(f"{site.address}/auth/logout")
            socket.send(json.dumps({"do": "take"}))
            with pytest.raises(ConnectionClosed):
                while True:
                    socket.recv(timeout=30)
        assert store.size() == scenes


def test_where_reading_is_public_nobody_has_to_sign_in_to_read_and_nobody_else_decides(
    browser: Any, site: Site
) -> None:
    site.write("r@example.org", before="public = true")
    with someone(browser, site) as page:
        page.wait_for_selector("[data-testid=evidence]")
        page.wait_for_selector("text=Nobody is signed in on this page.")
        assert page.locator("input[aria-label=Reason]").count() == 0
        page.goto(f"{site.address}/playground")
        page.wait_for_selector("text=Sign in to play")
        sign_in(page, "r")
        page.wait_for_selector("text=Signed in as R. Reviewer")
