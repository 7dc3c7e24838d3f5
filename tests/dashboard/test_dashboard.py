"""The dashboard in a real browser, on the database that a run made: the matrix, and a case with its motion."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.validation.command import AS_COMMAND, upright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser found; looked for {', '.join(BROWSERS)}")


@pytest.fixture(scope="module")
def page_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard on two runs, the first of them accepted; one scene has a hostile name."""
    folder = tmp_path_factory.mktemp("dashboard")
    scene = upright("scenarios", "bouncing-ball", "--json", folder=folder).stdout
    hostile = folder / "<b onclick=alert(1)>x.json"
    hostile.write_text(scene)
    words = ["stack:n=3", "bouncing-ball", str(hostile)]
    engines = ["--engine", "pymunk", "--engine", "box2d", "--engine", "mujoco"]
    assert upright("run", *words, *engines, folder=folder).returncode == 0
    assert upright("accept", "--reason", "first", folder=folder).returncode == 0
    assert upright("check", "stack:n=3", "--engine", "pymunk:iterations=1", folder=folder).returncode == 1
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [*AS_COMMAND, "dashboard", "--no-browser", "--port", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address)
        yield address
    finally:
        server.terminate()
        server.wait(10)


def wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(address)


@pytest.fixture(scope="module")
def page(page_address: str) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    arguments = ["--disable-gpu", "--disable-background-networking", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=arguments)
        opened = browser.new_page(viewport={"width": 1300, "height": 1000})
        opened.set_default_timeout(60_000)
        yield opened
        browser.close()


def test_the_matrix_shows_verdict_and_figure_of_every_case(page: Any, page_address: str) -> None:
    page.goto(f"{page_address}/?run=1")
    page.wait_for_selector("[data-testid=matrix]")
    text = page.inner_text("[data-testid=matrix]")
    assert "stack:n=3" in text and "bouncing-ball" in text
    assert "pymunk" in text and "mujoco" in text and "truth error of first apex" in text
    assert "declined" in text and "mm" in text
    assert page.inner_text("body").count("profile fair; time step 1/240 s") == 1
    page.goto(page_address)
    page.wait_for_selector("[data-testid=matrix]")
    latest = page.inner_text("[data-testid=matrix]")
    assert "regressed: " in latest and "pymunk:iterations=1" in latest


def test_a_hostile_name_is_shown_as_text(page: Any, page_address: str) -> None:
    page.goto(f"{page_address}/?run=1")
    page.wait_for_selector("[data-testid=matrix]")
    assert "<b onclick=alert(1)>x" in page.inner_text("[data-testid=matrix]")
    assert page.query_selector("[data-testid=matrix] b") is None


def test_a_case_shows_its_figures_and_moves(page: Any, page_address: str) -> None:
    page.goto(f"{page_address}/?run=1")
    page.click("[data-testid=matrix] tr:has-text('bouncing-ball') td a >> nth=0")
    page.wait_for_selector("text=Figures")
    assert "page=case" in page.url
    page.wait_for_selector("text=truth error of first apex")
    page.wait_for_selector("text=/^[0-9.]+ ± 4.2 ms$/")
    frame = page.wait_for_selector("iframe").content_frame()
    frame.wait_for_selector("#slider")
    frame.wait_for_selector("figure >> nth=1")
    first = frame.evaluate("document.querySelector('canvas').toDataURL()")
    frame.evaluate("slider.value = Math.round(slider.max / 20); slider.oninput()")
    second = frame.evaluate("document.querySelector('canvas').toDataURL()")
    frame.evaluate("slider.value = slider.max; slider.oninput()")
    third = frame.evaluate("document.querySelector('canvas').toDataURL()")
    assert len({first, second, third}) >= 2, "the slider moves the ball"
    assert "10.000" in frame.inner_text("#time")
    box = page.query_selector("iframe").bounding_box()
    bar = frame.query_selector("#bar").bounding_box()
    assert bar["y"] + bar["height"] <= box["y"] + box["height"], "the slider is not cut off"
    page.click("text=all scenarios and engines")
    page.wait_for_selector("[data-testid=matrix]")
    assert "run=1" in page.url, "back to the run that the case is of"


def test_a_link_to_a_case_that_is_not_there_says_so(page: Any, page_address: str) -> None:
    page.goto(f"{page_address}/?page=case&case=99999")
    page.wait_for_selector("text=not in this database")
