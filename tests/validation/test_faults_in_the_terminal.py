"""Fault 13 of a review of the pages and commands by a new reader: what the terminal showed that helps nobody."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from scenarios.scene import content_hash
from tests.validation.command import call, upright
from tests.validation.store.made import case, falling, info, measurement, result
from validation.report.listing import quiet_imports
from validation.report.terminal import cost_line
from validation.running.runner import Totals
from validation.store import open_store

METRICS = ("penetration_mean", "energy_drift", "truth_error_position")


@pytest.fixture
def one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database with one run of one case."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    with open_store("upright.db") as store:
        of = scenario_of("upright-block").scene
        block = case("upright-block", parameters={}, scene_hash=content_hash(of))
        run = store.begin_run(info(), [block], [of])
        values = [measurement(name) for name in METRICS]
        store.save_results(run, [result(block, *values, trajectory=falling(bodies=1))])
        store.finish_run(run)


@pytest.mark.usefixtures("one_run")
def test_the_history_of_a_single_run_is_one_line(monkeypatch: Any, capsys: Any) -> None:
    """`upright history` with one run prints fourteen lines "over 1 run, as ever"."""
    status, out, error = call(monkeypatch, capsys, "history", "upright-block")
    assert status == 0, error
    heading, *lines = out.splitlines()
    assert "upright-block" in heading and len(lines) == 1
    assert lines[0].startswith(f"  {len(METRICS)} metrics: one run has it") and "upright show upright-block" in lines[0]


@pytest.mark.usefixtures("one_run")
def test_show_has_every_metric_in_words(monkeypatch: Any, capsys: Any) -> None:
    """`upright show` mixes "truth error of height" and "truth_error_position"."""
    status, out, error = call(monkeypatch, capsys, "show", "upright-block", "--no-open", "--html", "ball.html")
    assert status == 0, error
    assert "truth error position" in out and "penetration mean" in out
    assert not re.search(r"[a-z]_[a-z]", out)


def test_what_a_library_prints_while_it_is_loaded_is_not_shown(capfd: Any) -> None:
    """`upright engines` begins with pybullet's "build time"; where loading fails, what was printed is shown."""
    with quiet_imports():
        os.write(1, b"build time: today\n")
        os.write(2, b"build time: today\n")
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ImportError), quiet_imports():
        os.write(2, b"libGL is not here\n")
        raise ImportError
    assert capfd.readouterr().err == "libGL is not here\n"


@pytest.mark.slow
def test_upright_engines_prints_its_list_only(tmp_path: Path) -> None:
    """`upright engines` begins with pybullet's "build time"."""
    done = upright("engines", folder=tmp_path)
    assert done.stdout.startswith("reference") and "build time" not in done.stdout + done.stderr


def test_a_run_ends_without_developer_figures() -> None:
    """every run ends with developer figures ("overhead 3073.5 ms a case")"""

    class Done:
        totals, results = Totals(workers=1), ()

    Done.totals.simulated, Done.totals.wall, Done.totals.stepping = 2, 3.0, 0.1
    Done.totals.slowest = ("pile × reference", 1.5)
    line: str = cost_line(Done)  # type: ignore[arg-type]
    assert line == "2 cases simulated in 3.0 s on 1 worker; slowest: pile × reference, 1.5 s"
