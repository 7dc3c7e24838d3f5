"""The dashboard in a real browser, on the database that real runs made: from the inbox to a decision."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scenarios.scene import content_hash
from tests.browser import needs_browser, opened_browser
from tests.effort import few, tries
from tests.validation.command import AS_COMMAND, upright
from tests.validation.store.made import case, falling, info, judged, measurement, result, scene
from validation.records.trajectory import to_bytes
from validation.store import open_store

pytestmark = needs_browser

MARKUP = "<script>alert(1)</script>"
LONG = "n" + "o" * 150 + "t"
RIGHT_TO_LEFT = "كومة"
REASON = f"{MARKUP} {RIGHT_TO_LEFT} \u202eturned round"
WHO = f"{MARKUP} **R.** [x](javascript:alert(1))"
READER = "R. Reviewer :smile: $x^2$ <i>it</i> [x](javascript:alert(2))"
WORDS = f"{MARKUP} :smile: $x^2$ a|b **c** [x](javascript:alert(3)) <img"
EVERYTHING = f"{WORDS} src=x onerror=alert(4)> {RIGHT_TO_LEFT}\u202e"
NAMED = f"scene {EVERYTHING}\nnext"
PAGES = ("", "review", "case?case=1", "compare?a=1&b=2", "engines?run=1", "baselines", "runs", "finds", "finds?find=1")
OF_HOSTILE_RUN = ("?run={run}", "review?run={run}", "case?case={case}", "engines?run={run}", "compare?a={run}&b={old}")
OF_HOSTILE_RUN += ("runs", "baselines", "case?run={run}")


def hostile_runs(folder: Path) -> tuple[int, int, int]:
    """Numbers of an accepted run and of a worse one, and of a case of it, all of whose words are hostile."""
    of = case(NAMED, EVERYTHING, parameters={}, version=EVERYTHING, scene_hash=content_hash(scene()))
    described = info(f"branch {EVERYTHING} {LONG}", commit=EVERYTHING, machine=EVERYTHING, command=EVERYTHING)
    with open_store(folder / "upright.db") as store:
        numbers = []
        for value, samples in ((4e-4, 30), (3e-3, 40)):
            run = store.begin_run(described, [of], [scene()])
            moved = result(
                of, measurement(value=value, noise="tolerance"), trajectory=falling(bodies=1, samples=samples)
            )
            store.save_results(run, [moved])
            baseline = store.baselines(described.branch).get(of.identity.key)
            store.save_verdicts(run, [judged(baseline, moved, {"penetration_mean": 1e-4})])
            store.finish_run(run)
            if baseline is None:
                store.accept(run, who=EVERYTHING, reason=EVERYTHING, scope=EVERYTHING)
            numbers.append(run)
        cases = [store.results(numbers[1])[0].number]
        store.mark("known", cases, who=EVERYTHING, reason=EVERYTHING, scope=EVERYTHING, link="javascript:alert(5)")
        about = {"engine_version": "7", "profile": "fair", "seed": 1, "dt": 0.01, "message": EVERYTHING}
        find = store.add_find(engine="pymunk", oracle="went through", scene=scene(), **about)
        store.hand_over(find, {"script": EVERYTHING, "issue": EVERYTHING}, to_bytes(falling(bodies=1)))
    return numbers[0], numbers[1], cases[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, int]]]:
    """A dashboard on two runs, the first of them accepted; scenes, who and why have hostile names. Then numbers of two
    runs on another branch of which every word is hostile."""
    folder = tmp_path_factory.mktemp("dashboard")
    scene = upright("scenarios", "bouncing-ball", "--json", folder=folder).stdout
    hostile = [folder / f"{name}.json" for name in (MARKUP.replace("/", ""), LONG, RIGHT_TO_LEFT)]
    for path in hostile:
        path.write_text(scene)
    words = ["stack:n=3,mass_ratio=100", "bouncing-ball", "heavy-top", *map(str, hostile)]
    engines = ["--engine", "pymunk", "--engine", "mujoco"][: tries(4, 2)]  # only slow tests ask for the other one
    assert upright("run", *words, *engines, folder=folder).returncode == 0
    assert upright("accept", "--reason", REASON, "--who", WHO, folder=folder).returncode == 0
    assert (
        upright("check", "stack:n=3,mass_ratio=100", "--engine", "pymunk:iterations=2", folder=folder).returncode == 1
    )
    old, run, number = hostile_runs(folder)
    port = free_port()
    server = subprocess.Popen(
        [*AS_COMMAND, "dashboard", "--no-browser", "--port", str(port), "--accept-as", READER],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}", {"old": old, "run": run, "case": number}
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="module")
def address(served: tuple[str, dict[str, int]]) -> str:
    return served[0]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


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
def page(address: str) -> Iterator[Any]:
    with opened_browser() as browser:
        opened = browser.new_page(viewport={"width": 1300, "height": 1000})
        opened.set_default_timeout(60_000)
        yield opened


def settled(page: Any) -> None:
    """Streamlit has drawn the page."""
    page.wait_for_selector("h1.page")
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidgetRunningIcon]')")


@pytest.mark.slow
def test_the_inbox_says_what_got_worse_and_shows_it_moving(page: Any, address: str) -> None:
    page.goto(address)
    settled(page)
    page.wait_for_selector("[data-testid=inbox]")
    assert page.inner_text("h1.page").startswith("1 regression")
    assert WHO in page.inner_text("body"), "who accepted"
    row = page.inner_text("[data-testid=inbox] tbody tr >> nth=0")
    assert (
        "regressed" in row and "stack:n=3,mass_ratio=100 on pymunk@fair:iterations=2" in row and "moved (wrong)" in row
    )
    frame = page.wait_for_selector("iframe").content_frame()
    frame.wait_for_selector("canvas")
    assert frame.inner_text("figcaption").split() == ["now", "accepted"], "over each other"
    began = frame.inner_text("#time")
    frame.wait_for_function(f"document.getElementById('time').textContent !== {began!r}"), "it runs by itself"


def test_from_the_inbox_to_the_review_to_the_case_and_its_replay(page: Any, address: str) -> None:
    page.goto(address)
    page.click("[data-testid=inbox] a:has-text('Review')")
    settled(page)
    page.wait_for_selector("[data-testid=evidence] >> text=first divergence")
    assert "group=" in page.url and "run=2" in page.url, "a link to pass on"
    page.wait_for_selector("text=moved (wrong)")
    accept = page.wait_for_selector("button:has-text('Accept as R. Reviewer')")
    red, _, blue = accept.evaluate("button => getComputedStyle(button).backgroundColor.match(/\\d+/g).map(Number)")
    assert red < blue, "no alarm: what is red here has failed"
    page.click("a.go:has-text('Case') >> visible=true")
    page.wait_for_url("**/case?case=*")
    settled(page)
    frame = page.wait_for_selector("iframe").content_frame()
    frame.wait_for_selector("#slider")

    def seen(share: float) -> tuple[str, str, str]:
        """Time, bodies and curves with the slider there."""
        frame.evaluate(f"slider.value = {share} * slider.max; slider.oninput()")
        drawn = [frame.evaluate(f"document.querySelectorAll('canvas')[{i}].toDataURL()") for i in (0, 1)]
        return frame.inner_text("#time"), drawn[0], drawn[1]

    first, later, again = seen(0.0), seen(0.02), seen(0.0)
    assert first[0] != later[0] and first[1] != later[1] and first[2] != later[2], "slider, bodies, curves move"
    assert first == again
    box = page.query_selector("iframe").bounding_box()
    bar = frame.query_selector("#bar").bounding_box()
    assert bar["y"] + bar["height"] <= box["y"] + box["height"], "the slider is not cut off"
    page.wait_for_selector("text=Over runs")
    page.click("text=all scenarios and engines")
    page.wait_for_selector("[data-testid=matrix]")


@pytest.mark.slow
def test_the_engines_page_has_verdict_and_figure_of_every_case(page: Any, address: str) -> None:
    page.goto(f"{address}/engines?run=1")
    settled(page)
    text = page.wait_for_selector("[data-testid=matrix]").inner_text()
    assert (
        "stack:n=3,mass_ratio=100" in text
        and "truth error of first apex" in text
        and "declined" in text
        and "mm" in text
    )
    assert page.inner_text("body").count("profile fair; time step 1/240 s") == 1
    reasons = page.wait_for_selector("[data-testid=failures]").inner_text()
    assert "pymunk is planar" in reasons and "upright run heavy-top --engine pymunk@fair" in reasons
    page.goto(f"{address}/engines?run=2")
    page.wait_for_selector("[data-testid=matrix] >> text=regressed")
    assert "pymunk:iterations=2" in page.inner_text("[data-testid=matrix]")


@pytest.mark.parametrize(("where",), few(1, [(where,) for where in (*OF_HOSTILE_RUN, *PAGES)]))
def test_what_the_database_holds_is_text_on_every_page(
    page: Any, served: tuple[str, dict[str, int]], where: str
) -> None:
    address, numbers = served
    dialogs: list[str] = []
    page.once("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(f"{address}/{where.format(**numbers)}")
    settled(page)
    page.wait_for_selector("[data-testid=stHtml] >> nth=1")
    if where in OF_HOSTILE_RUN:
        described = WORDS.partition(":smile")[2]
        page.wait_for_function("words => document.body.innerText.includes(words)", arg=described)
    assert dialogs == []
    made = "script:not([src]), a[href^=javascript], img[src=x], main i, main em, main strong, .katex"
    made = ", ".join(f"[data-testid=stMainBlockContainer] {one}" for one in made.split(", "))
    assert page.evaluate(f"document.querySelectorAll({made!r}).length") == 0
    assert "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}" not in page.inner_text("body")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "a long name breaks no page"


@pytest.mark.slow
def test_hostile_names_are_read_as_they_are_written(page: Any, address: str) -> None:
    page.goto(f"{address}/engines?run=1")
    text = page.wait_for_selector("[data-testid=matrix]").inner_text()
    assert "<script>alert(1)<script>.json" in text and LONG in text and RIGHT_TO_LEFT in text
    page.goto(f"{address}/baselines")
    text = page.wait_for_selector("[data-testid=ledger]").inner_text()
    assert WHO in text and REASON in text


@pytest.mark.slow
def test_links_to_what_is_not_there_say_so(page: Any, address: str) -> None:
    page.goto(f"{address}/case?case=99999")
    page.wait_for_selector("text=not in this database")
    page.goto(f"{address}/review?group=abcdef&run=2")
    page.wait_for_selector("text=This link names no group of this run")


@pytest.mark.slow
def test_accepted_with_a_reason_the_inbox_turns(page: Any, address: str, tmp_path_factory: Any) -> None:
    page.goto(f"{address}/review?run=2")
    settled(page)
    button = page.wait_for_selector("button:has-text('Accept as R. Reviewer')")
    assert READER in button.inner_text()
    button.click()
    page.wait_for_selector("text=say why, for whoever asks later")
    page.fill("input[aria-label=Reason]", "fewer on purpose")
    page.press("input[aria-label=Reason]", "Tab")
    page.click("button:has-text('Accept as R. Reviewer')")
    page.wait_for_selector(".word.state:has-text('accepted')")
    page.goto(address)
    settled(page)
    row = page.wait_for_selector("[data-testid=inbox] tbody tr").inner_text()
    assert "accepted" in row
    assert page.inner_text("h1.page").startswith("0 new regressions, 1 accepted")
    page.goto(f"{address}/baselines")
    entry = page.wait_for_selector("[data-testid=ledger] tbody tr >> nth=0").inner_text()
    assert READER in entry and "fewer on purpose" in entry
    folder = next(Path(tmp_path_factory.getbasetemp()).glob("dashboard*"))
    with open_store(folder / "upright.db") as store:
        assert [entry.who for entry in store.entries()] == [READER, EVERYTHING, EVERYTHING, WHO]
