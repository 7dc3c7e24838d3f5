"""`upright queries`: a sweep finds what is planted in an engine, poses that end it too, and writes scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference_engine.geometry.bounds import pair_bounds
from tests.effort import few
from tests.validation.command import upright
from validation.judging.queries import KINDS
from validation.tools.queries.poses import CLASSES
from validation.tools.queries.shapes import PLANAR_KINDS, SIZES, SPATIAL_KINDS, sizes_of
from validation.tools.queries.sweep import questions_of

ENGINES = Path(__file__).parent / "query_engines.py"


def sweep(engine: str, folder: Path, *words: str, poses: int = 250) -> tuple[int, dict[str, Any]]:
    """Exit status, and the row of the first pair."""
    shutil.copy(ENGINES, folder)
    done = upright("queries", engine, "--poses", str(poses), "--json", *words, folder=folder)
    assert done.returncode in (0, 1), done.stderr
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return done.returncode, row


def test_an_engine_that_is_right_has_no_wrong_answers(tmp_path: Path) -> None:
    status, row = sweep("query_engines.Spheres", tmp_path)
    assert (status, row["asked"], row["answered"], row["found"]) == (0, 250, 250, {})


@pytest.mark.parametrize(("engine", "kind"), [("Flipped", "normal on the wrong side"), ("Shallow", "depth too small")])
def test_what_is_planted_is_found(tmp_path: Path, engine: str, kind: str) -> None:
    status, row = sweep(f"query_engines.{engine}", tmp_path)
    assert status == 1
    assert [*row["found"]] == [kind]
    assert row["found"][kind]["wrong"] > 25


@pytest.mark.parametrize(("engine", "kind"), few(1, [("Aborting", "crashed"), ("Hanging", "timed out")]))
def test_poses_that_end_the_process_are_found_and_the_others_answered(tmp_path: Path, engine: str, kind: str) -> None:
    limit = ("--time-limit", "0.5") if engine == "Hanging" else ()
    status, row = sweep(f"query_engines.{engine}", tmp_path, *limit, poses=60)
    assert status == 1
    assert [*row["found"]] == [kind]
    assert (row["asked"], row["answered"], row["found"][kind]["wrong"]) == (60, 59, 1)


def test_mujoco_is_asked_and_a_script_shows_its_wrong_depth_without_upright(tmp_path: Path) -> None:
    """Released MuJoCo takes too little for the depth of a capsule deep inside a box (4.0.0: by more than a tenth)."""
    pytest.importorskip("mujoco")
    words = ("--shapes", "box,capsule", "--query", "distance", "--scripts", str(tmp_path / "scripts"))
    status, row = sweep("mujoco", tmp_path, *words)
    assert (status, row["asked"], row["answered"]) == (1, 250, 250)
    [script] = (tmp_path / "scripts").iterdir()
    assert script.name == "mujoco-distance-box-capsule-depth-too-small.py"
    source = script.read_text()
    assert "upright" not in source.lower()
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert "this point is still in both" in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("query_engines.Silent",), "silent 1.0 answers no queries"),
        (("mujoco", "--query", "mass"), "query 'mass': mujoco has none of that name; it has: distance, contacts"),
        (("mujoco", "--shapes", "box,disc"), "shapes 'box,disc': not two that can be asked about"),
    ],
)
def test_what_cannot_be_asked_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    shutil.copy(ENGINES, tmp_path)
    done = upright("queries", *words, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


# --- what is drawn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [("box", "box"), ("cylinder", "ellipsoid"), ("polygon", "polygon")])
def test_a_seed_draws_the_same_poses_of_every_class(kinds: Any) -> None:
    first, again = (list(questions_of(kinds, 500, 3)) for _ in range(2))
    for one, other in zip(first, again):
        assert one.shapes == other.shapes
        assert np.array_equal(one.poses.position, other.poses.position)
    assert {name for one in first for name in one.classes} == set(CLASSES)


def test_poses_are_near_and_deep_and_far_and_in_contact() -> None:
    [question] = questions_of(("box", "cylinder"), 250, 1)
    bounds = pair_bounds(question.geometries, question.poses.position, question.poses.orientation)
    gap, thin = bounds.lower, question.thickness
    assert (gap > 2.0 * thin).sum() > 5
    assert ((gap > 0.0) & (gap < 0.1 * thin)).sum() > 25
    assert ((gap < 0.0) & (gap > -0.1 * thin)).sum() > 25
    assert (gap < -0.3 * thin).sum() > 10
    assert (np.abs(gap) <= 1e-12).sum() > 5


def test_every_class_of_sizes_has_its_share() -> None:
    found = sizes_of(40)
    assert len(found) == 40
    assert set(found) == set(SIZES)
    assert len(KINDS) == len(set(KINDS))
    assert not set(PLANAR_KINDS) & set(SPATIAL_KINDS)
