"""Draws the pictures of docs/dashboard.md: a small project with a fault, and every page of its dashboard.

    python -P ci/screenshots.py [FOLDER]        FOLDER of a project made before is used as it is
    python -P ci/screenshots.py FOLDER OUT      every page at 1400 and 390 px, light and dark, into OUT instead

Needs a Chromium and Playwright (pip install 'upright[test]').
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "dashboard"
UPRIGHT = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]
ENGINE = """from validation.engines.pymunk.adapter import Pymunk

ITERATIONS = {iterations}


class Solver(Pymunk):
    name, version = "solver", "1.0"

    def profile(self, name, scene, dt):
        return super().profile(name, scene, dt) | {{"iterations": ITERATIONS}}
"""
SPACE = "sphere-in-sphere:space=spatial"
CASES = ("stack:n=10", "dominoes", "incline-slide", "bouncing-ball:restitution=1", SPACE)
ENGINES = ("-e", "solver.Solver", "-e", "reference", "-e", "box2d", "-e", "mujoco")
QUIET = 6  # commits before the fault
CHANGE = "a-change"  # a branch that somebody works on
WIDTH, WIDE, NARROW, COLOURS = 1280, 1400, 390, 255
MOST, WHOLE = 2200, 12_000  # pixels: how high a picture gets


def make(folder: Path) -> None:
    """A repository whose engine has fewer iterations since its last commit but one; one fault of it is known."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://git.example/solver.git")
    (folder / ".gitignore").write_text("upright*\n__pycache__\n")
    for k in range(QUIET + 2):
        (folder / "solver.py").write_text(ENGINE.format(iterations=50 if k < QUIET else 4))
        (folder / "notes.txt").write_text(f"commit {k}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "Four iterations are enough" if k == QUIET else f"Notes, part {k + 1}")
        upright(folder, "check", *CASES, *ENGINES)
        if k == 0:
            upright(folder, "accept", "--reason", "first look", "--who", "R.")
    with_key = upright(folder, "regressions", "--json")
    known = [json.loads(line) for line in with_key.splitlines()]
    mild = next(group["group"] for group in known if group["kind"] == "different")
    words = ("--link", "#31", "--reason", "rests a sample earlier", "--who", "R.")
    upright(folder, "mark", "known", mild, *words)
    git(folder, "checkout", "-q", "-b", CHANGE)
    (folder / "solver.py").write_text(ENGINE.format(iterations=2))
    git(folder, "commit", "-q", "-am", "fewer still")
    upright(folder, "check", *CASES, *ENGINES)
    upright(folder, "compare", "pymunk:iterations=50", "pymunk:iterations=5", "stack:n=10", "dominoes", "upright-block")


def git(folder: Path, *words: str) -> None:
    who = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "R."), ("EMAIL", "r@example"))
    }
    subprocess.run(["git", *words], cwd=folder, env=os.environ | who, check=True)


def upright(folder: Path, *words: str) -> str:
    done = subprocess.run([*UPRIGHT, *words], cwd=folder, env=environment(), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.stdout


def environment() -> dict[str, str]:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": paths, "UPRIGHT_DB": "upright.db"}


def shoot(folder: Path, out: Path | None = None) -> None:
    """The pictures of the docs, or every page in every width and scheme into `out`."""
    from playwright.sync_api import sync_playwright

    from validation.store import open_store

    with open_store(folder / "upright.db") as store:
        last = store.runs(branch="main")[0].number
        results = store.results(last)
        plane, space = (
            next(r.number for r in results if r.case.label == label and r.outcome == "completed")
            for label in ("dominoes", SPACE)
        )
    pages = {
        "inbox": "",
        "review": f"review?run={last}",
        "case": f"case?case={plane}",
        "case-in-space": f"case?case={space}",
        "compare": f"compare?a=1&b={last}",
        "engines": f"engines?run={last}",
        "baselines": "baselines",
        "runs": "runs",
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["dashboard", "--no-browser", "--port", str(port), "--accept-as", "R."]
    server = subprocess.Popen([*UPRIGHT, *words], cwd=folder, env=environment(), stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address)
        with sync_playwright() as driver:
            found = shutil.which("chromium") or shutil.which("google-chrome")
            browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.getuid() == 0 else [])
            wanted = [("light", WIDTH, "", list(pages)), ("dark", WIDTH, "-dark", ["inbox", "review"])]
            wanted += [("light", NARROW, "-narrow", ["inbox"])]
            if out:
                every = [*pages, "playground"]
                wanted = [(s, w, f"-{s}-{w}", every) for s in ("light", "dark") for w in (WIDE, NARROW)]
            for scheme, width, suffix, names in wanted:
                size = {"width": width, "height": 900}
                page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
                for name in names:
                    page.goto(f"{address}/{pages.get(name, name)}")
                    picture(page, (out or PICTURES) / f"{name}{suffix}.png", WHOLE if out else MOST)
            browser.close()
    finally:
        server.terminate()
        server.wait(10)


def picture(page: Any, path: Path, most: int) -> None:
    """The page, `most` pixels of it, its replay at rest after a third of the time; the docs' in few colours."""
    from PIL import Image

    page.wait_for_selector("h1.page")
    page.wait_for_selector("[data-test-script-state=notRunning]", timeout=60_000)
    page.wait_for_timeout(4000)
    width = page.viewport_size["width"]
    for frame in page.frames[1:]:
        while "/play/" in frame.url and not is_measured(frame):
            page.wait_for_timeout(500)
    players = [frame for frame in page.frames[1:] if frame.query_selector("#slider")]
    for frame in players:
        frame.evaluate("setRunning(false); slider.value = slider.max / 3; slider.oninput()")
    height = page.evaluate("document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(500, min(most, height + 20))})
    page.wait_for_timeout(700)
    for frame in players:
        frame.evaluate("slider.oninput()")
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(path))
    page.set_viewport_size({"width": width, "height": 900})
    if most == MOST:
        whole = Image.open(path).convert("RGB")
        few = whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # none is far off
        few.save(path, optimize=True)


def is_measured(playground: Any) -> bool:
    """Each engine's motion: the last row has its bits."""
    cells = playground.query_selector_all("#measured tr:last-child td")
    return bool(cells) and all(cell.inner_text() for cell in cells)


def wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(address)


if __name__ == "__main__":
    sys.path.append(str(ROOT))
    if len(sys.argv) > 1 and (Path(sys.argv[1]) / "upright.db").exists():
        shoot(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    else:
        with tempfile.TemporaryDirectory() as made:
            project = Path(sys.argv[1] if len(sys.argv) > 1 else made)
            project.mkdir(exist_ok=True)
            make(project)
            shoot(project)
