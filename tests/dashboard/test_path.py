"""From a red check to the cause and the decision, in a browser: how many clicks it takes a person."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import needs_browser, opened_browser
from tests.dashboard.test_dashboard import settled, wait_for
from tests.validation.command import AS_COMMAND, upright
from validation.store import open_store

pytestmark = [pytest.mark.slow, needs_browser]
MOST_CLICKS = 6
CASE = ("stack:n=3,mass_ratio=100", "--engine", "pymunk")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A check is red: fewer iterations let the stack sink."""
    assert upright("run", *CASE, folder=tmp_path).returncode == 0
    assert upright("accept", "--reason", "first look", folder=tmp_path).returncode == 0
    worse = upright("check", *CASE[:-1], "pymunk:iterations=2", folder=tmp_path)
    assert worse.returncode == 1 and "regressed" in worse.stdout
    return tmp_path


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*AS_COMMAND, "dashboard", "--no-browser", "--port", str(port), "--accept-as", "R."]
    server = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def test_from_a_red_check_to_the_cause_and_the_decision_in_six_clicks(address: str, folder: Path) -> None:
    with opened_browser() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        clicks = []

        def click(what: str) -> None:
            clicks.append(what)
            page.click(what)

        page.goto(address)
        settled(page)
        page.wait_for_selector("h1.page:has-text('1 regression')")
        assert "box 1" in page.inner_text("p.big"), "what it means for the bodies, before any click"
        click("a:has-text('Review: before and after')")
        page.wait_for_selector("[data-testid=evidence] >> text=first divergence")
        page.wait_for_selector("[data-testid=evidence] >> text=allowed")
        player = page.wait_for_selector("iframe").content_frame()
        player.wait_for_selector("canvas")  # both motions, playing
        click("button:has-text('Known issue')")
        page.wait_for_selector("input[aria-label=Issue]")
        page.keyboard.press("Tab")
        page.fill("input[aria-label=Reason]", "fewer iterations, to be mended")
        page.fill("input[aria-label=Issue]", "#31")
        page.press("input[aria-label=Issue]", "Tab")
        click("button:has-text('Known issue as R.')")
        page.wait_for_selector(".word.state:has-text('known')")
    assert len(clicks) <= MOST_CLICKS
    with open_store(folder / "upright.db") as store:
        entry = store.entries()[0]
    assert (entry.act, entry.who, entry.link) == ("known", "R.", "#31")
    again = upright("check", *CASE[:-1], "pymunk:iterations=2", folder=folder)
    assert again.returncode == 0, "the check is green again, and says by whose word"
    assert "known issue" in again.stdout
