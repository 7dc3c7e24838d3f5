"""The playground in a real browser: change a scene, pull at it, share it, and get the same bits again."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.browser import BROWSER, needs_browser
from tests.dashboard.test_dashboard import wait_for
from tests.validation.command import AS_COMMAND

pytestmark = [pytest.mark.slow, needs_browser]
ENGINES = ("reference", "pymunk")
SERVE = "validation.tools.playground.serve"
MEASURED = "state.scene && state.panels.length && state.panels.every(panel => panel.measured)"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of `upright play stack:n=3`, as it prints it."""
    words = [*AS_COMMAND, "play", "stack:n=3", "--no-browser", "--port", str(free_port())]
    words += [word for engine in ENGINES for word in ("--engine", engine)]
    folder = tmp_path_factory.mktemp("playground")
    server = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        printed = server.stderr.readline()
        url = next(word for word in printed.split() if word.startswith("http"))
        wait_for(url.partition("/playground")[0])
        yield url
        assert not (folder / "upright.db").exists(), "nothing is stored unless asked"
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    arguments = ["--disable-gpu", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=arguments)
        yield opened
        opened.close()


def opened(browser: Any, url: str) -> tuple[Any, Any]:
    """The page and the playground in it. Its policy forbids to evaluate text, which the tests do."""
    page = browser.new_page(viewport={"width": 1300, "height": 1000}, bypass_csp=True)
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    frame = page.wait_for_selector("iframe").content_frame()
    frame.wait_for_selector("#panels canvas")
    frame.wait_for_function("state.scene && available() >= 0")
    assert errors == []
    return page, frame


def move(frame: Any, name: str, position: int) -> None:
    """A slider, as a hand does: released once, and the scene that follows has come."""
    frame.evaluate(
        """([name, position]) => {
            first.at = 0;
            const slider = document.querySelector(`#sliders [data-name=${name}]`);
            slider.value = position; slider.oninput(); slider.onchange();
        }""",
        [name, position],
    )
    frame.wait_for_function("first.at > 0")


def test_change_pull_share_and_open_again(browser: Any, address: str) -> None:
    page, frame = opened(browser, address)
    move(frame, "gravity", 500)
    move(frame, "restitution", 300)
    assert frame.evaluate("state.scene.gravity[1]") == pytest.approx(-15.0)
    assert frame.evaluate("state.scene.setup.restitution") == pytest.approx(0.3)
    frame.click("#run")
    frame.wait_for_function("shownFrame() > 20 && state.panels.every(({frames}) => frames[20] && frames[20].forces[0])")
    canvas = frame.query_selector_all("#panels canvas")[1].bounding_box()
    x, y = frame.evaluate("views[1].drawing.toScreen([...views[1].poses.subarray(6, 8)])")  # the top box
    x, y = canvas["x"] + x, canvas["y"] + y
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(15):
        page.mouse.move(x + 4 * k, y - 2 * k)
        page.wait_for_timeout(40)
    page.mouse.up()
    frame.wait_for_function("state.record && state.record.pulls === 1")
    frame.evaluate("setRunning(false)")
    frame.wait_for_function(MEASURED)
    assert frame.evaluate("state.panels[1].measured.repeats") == 0.0, "what was seen is what is recorded"
    bits = frame.evaluate("state.panels.map(panel => panel.measured.bits)")
    scene = frame.evaluate("state.scene.setup")
    assert "came to rest" in frame.inner_text("#measured") or "moved" in frame.inner_text("#measured")
    link = page.url
    assert "play=" in link and len(link) < 4096
    page.close()

    page, frame = opened(browser, link)
    frame.wait_for_function(MEASURED)
    assert frame.evaluate("state.panels.map(panel => panel.measured.bits)") == bits
    again = frame.evaluate("state.scene.setup")
    assert len(again.pop("pulls")) == 1 and again == scene
    frame.click("#take")
    frame.wait_for_selector("dialog[open]")
    assert frame.input_value("#command") == "upright run playground.json --engine reference --engine pymunk"
    page.close()


def test_a_body_is_dragged_before_the_start_and_an_engine_set_while_it_runs(browser: Any, address: str) -> None:
    page, frame = opened(browser, address)
    canvas = frame.query_selector_all("#panels canvas")[0].bounding_box()
    x, y = frame.evaluate("views[0].drawing.toScreen([...views[0].poses.subarray(6, 8)])")
    page.mouse.move(canvas["x"] + x, canvas["y"] + y)
    page.mouse.down()
    page.mouse.move(canvas["x"] + x, canvas["y"] + y - 30)
    page.mouse.up()
    frame.wait_for_function("state.scene.setup.bodies && state.scene.start[2][1] > 2.6")
    frame.evaluate("setEngine(1, 'pymunk:iterations=1')")
    frame.wait_for_function("state.panels[1].label === 'pymunk:iterations=1' && state.panels[1].measured")
    assert frame.evaluate("state.panels[1].sliders.find(s => s.name === 'iterations').value") == "1"
    page.close()


def test_a_page_from_elsewhere_gets_no_connection(address: str) -> None:
    """Nor one whose name was made to mean this machine: it would run simulations for whoever wrote it."""
    client = pytest.importorskip("websockets.sync.client")
    port = int(address.partition("127.0.0.1:")[2].partition("/")[0])
    for host, origin in (
        ("127.0.0.1", "http://evil.example"),
        ("evil.example", f"http://evil.example:{port}"),
        ("127.0.0.1", None),
    ):
        url = f"ws://{host}:{port}/play/connection"
        with (
            socket.create_connection(("127.0.0.1", port)) as reached,
            pytest.raises(Exception, match="403"),
        ):
            client.connect(url, sock=reached, origin=origin, open_timeout=10)
    with client.connect(f"ws://127.0.0.1:{port}/play/connection", origin=f"http://127.0.0.1:{port}"):
        pass


def test_a_link_that_was_cut_says_so(browser: Any, address: str) -> None:
    page = browser.new_page(bypass_csp=True)
    page.goto(address[:-12])
    frame = page.wait_for_selector("iframe").content_frame()
    frame.wait_for_selector("#message.alarm")
    assert "open the whole link" in frame.inner_text("#message")
    page.close()


def test_the_second_visitor_gets_a_process_that_is_ready_and_none_outlives_the_server(tmp_path: Path) -> None:
    """The first one's starts when the page is opened; the next one 5 s later, with the engines that the first had."""
    client = pytest.importorskip("websockets.sync.client")
    port = free_port()
    words = [*AS_COMMAND, "play", "--no-browser", "--port", str(port)]
    server = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = psutil.Process(server.pid)
    address = f"127.0.0.1:{port}"

    def serving() -> dict[int, list[str]]:
        """Process -> the engines that it was started with."""
        found = {one.pid: one.cmdline() for one in started.children() if one.is_running()}
        return {pid: line[line.index(SERVE) + 3 :] for pid, line in found.items() if SERVE in line}

    @contextmanager
    def visitor() -> Iterator[None]:
        """Who begins with pymunk, and sees its scene."""
        with client.connect(f"ws://{address}/play/connection", origin=f"http://{address}") as found:
            found.send('{"do": "setup", "setup": {"scenario": "stack:n=2", "engines": ["pymunk"]}}')
            assert b'"scene"' in found.recv(timeout=60)
            yield

    try:
        wait_for(f"http://{address}")
        assert serving() == {}, "who does not play needs none"
        urllib.request.urlopen(f"http://{address}/play/page", timeout=10).read()
        (first,) = until(serving)
        with visitor():
            both = until(lambda: len(serving()) == 2 and serving())
            assert first in both and ["pymunk"] in both.values(), "none was started for this visitor"
            with visitor():
                assert set(both) <= set(serving())
        left = started.children(recursive=True)
        assert len(left) >= 3, "engines, and what measures"
    finally:
        server.terminate()
        server.wait(10)
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []


def until(found: Callable[[], Any]) -> Any:
    """What is found once there is something."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if now := found():
            return now
        time.sleep(0.1)
    raise TimeoutError


def test_nothing_runs_where_the_page_is_public(tmp_path: Path) -> None:
    port = free_port()
    words = [*AS_COMMAND, "dashboard", "--no-browser", "--port", str(port), "--address", "0.0.0.0"]
    server = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/play/page", timeout=10)
        assert refused.value.code == 403 and "--play" in refused.value.read().decode()
    finally:
        server.terminate()
        server.wait(10)
