"""`import upright` in somebody's folder, whose own packages are called `validation` and `scenarios`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import upright
from tests.validation.command import kept_servers
from upright import asking, results
from upright.asking import UprightError
from validation.cli import serve
from validation.report.jsonl import finite

ROOT = Path(__file__).parents[2]
GRAVITY = 9.81


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("validation", "scenarios"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    return tmp_path


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the process of ours would answer, without its start and those of its servers."""

    def ask(request: Mapping[str, Any], *, folder: Path | None = None) -> dict[str, Any]:
        with contextlib.chdir(folder or Path.cwd()), kept_servers():
            try:
                return json.loads(json.dumps(finite(serve.answer(json.loads(json.dumps(request))))))
            except Exception as error:
                raise UprightError(serve.one_line(error)) from error

    for module in (upright, results):
        monkeypatch.setattr(module, "ask", ask)


@pytest.mark.usefixtures("in_this_process")
def test_a_run_is_a_table_and_its_motion_falls_as_free_fall_does(folder: Path) -> None:
    """The ball of radius 0.1 m is let go 1 m above the floor: by 0.2 s nothing but gravity has acted.

    pymunk's Euler step is off by at most g dt t / 2.
    """
    ran = upright.run("bouncing-ball", engines="pymunk")
    assert [(case.scenario, case.engine, case.outcome) for case in ran] == [("bouncing-ball", "pymunk", "completed")]
    assert "bouncing-ball" in str(ran) and "1 new" in str(ran) and "\x1b" not in str(ran)
    assert (folder / "upright.db").is_file()
    frame = ran.table()
    assert frame.loc[0, "truth_error_goal"] == ran[0].metrics["truth_error_goal"] > 0.0
    motion = ran[0].motion()
    falling = motion.time <= 0.2
    fallen = motion.position[0, 0, 1] - motion.position[falling, 0, 1]
    expected = 0.5 * GRAVITY * motion.time[falling] ** 2
    assert np.allclose(fallen, expected, atol=GRAVITY * motion.dt * 0.2)
    assert motion._repr_html_().startswith("<iframe srcdoc=") and len(motion.table()) == motion.time.size


def test_without_pandas_a_table_is_a_list_of_dicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert results.table([{"a": 1}]) == [{"a": 1}]


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
def test_check_fails_for_an_engine_that_got_worse_than_what_was_accepted(folder: Path) -> None:
    accepted = upright.check("stack:n=3,mass_ratio=100", engines=["pymunk"], accept="first look")
    assert accepted.failures == [] and accepted[0].accepted
    same = upright.check("stack:n=3,mass_ratio=100", engines=["pymunk"])
    assert (same[0].verdict, same[0].reason) == ("pass", "bit-identical")
    worse = upright.check("stack:n=3,mass_ratio=100", engines=["pymunk:iterations=2"])
    assert [case.verdict for case in worse.failures] == ["regressed"]


@pytest.mark.usefixtures("in_this_process")
def test_simulate_hands_out_arrays_and_keeps_nothing(folder: Path) -> None:
    hands_out_arrays_and_keeps_nothing(folder)


@pytest.mark.slow
def test_simulate_does_so_by_a_process_of_ours(folder: Path) -> None:
    hands_out_arrays_and_keeps_nothing(folder)


def test_the_process_that_is_asked_has_our_packages_and_not_the_users(folder: Path) -> None:
    with pytest.raises(UprightError, match=r"unknown scenario 'upright-blok'.*did you mean 'upright-block'"):
        upright.simulate("upright-blok", "pymunk")


def hands_out_arrays_and_keeps_nothing(folder: Path) -> None:
    motion = upright.simulate("upright-block", "pymunk")
    samples, bodies, axes = motion.position.shape
    assert (samples, bodies, axes) == (motion.time.size, len(motion.bodies), 2)
    assert motion.angle is not None and motion.orientation is None
    assert not (folder / "upright.db").exists()


@pytest.mark.usefixtures("in_this_process")
def test_errors_are_one_line_of_one_class(folder: Path) -> None:
    with pytest.raises(UprightError, match=r"unknown engine 'pymunkk'.*did you mean 'pymunk'") as caught:
        upright.run("bouncing-ball", engines=["pymunkk"])
    assert "\n" not in str(caught.value)
    with pytest.raises(UprightError, match="bouncing-ball"):
        upright.run("bouncing-bal", engines=["pymunk"])
    for wrong in (5, -1, 1001, 12.5):
        with pytest.raises(UprightError, match=rf"^ensemble: {wrong} .*; allowed: 0, or 10 to 1000$"):
            upright.run("bouncing-ball", engines=["pymunk"], ensemble=wrong)
        with pytest.raises(UprightError, match=rf"^ensemble: {wrong} "):
            upright.compare("pymunk", "pymunk:iterations=5", "bouncing-ball", ensemble=wrong)
    with pytest.raises(UprightError, match=r"heavy-top.* no motion, declined"):
        upright.simulate("heavy-top", "pymunk")


def test_a_server_that_dies_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SERVER", [sys.executable, "-c", "raise SystemExit(7)"])
    with pytest.raises(UprightError, match="ended with status 7"):
        upright.run("pile")


def test_importing_it_or_its_plugin_imports_nothing_that_takes_long() -> None:
    """Neither numba nor numpy, nor anything of ours."""
    told = "import sys; import upright.pytest_plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert (
        loaded & {"numba", "numpy", "pandas", "scipy", "click", "validation", "scenarios", "reference_engine"} == set()
    )


@pytest.mark.slow
def test_the_docs_examples_run(folder: Path) -> None:
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "regressed" in done.stdout and "['stack']" in done.stdout
