"""Our folder names are plain words; a user's own folders of the same names must not get in our way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DECOYS = ("reference_engine", "scenarios", "validation", "dashboard", "tests", "ci")
COMMAND = Path(sys.executable).parent / "upright"


@pytest.fixture
def decoy_folder(tmp_path: Path) -> Path:
    """A folder with modules of our names that fail when they are imported, and an engine of the user's."""
    for name in DECOYS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise RuntimeError('the decoy {name} was imported')\n")
    (tmp_path / "my_engine.py").write_text(
        "from validation.engines.pymunk.adapter import Pymunk\n\n\nclass Mine(Pymunk):\n    name = 'mine'\n"
    )
    return tmp_path


def upright(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), *words], cwd=folder, capture_output=True, text=True, env=os.environ | {"UPRIGHT_DB": "d.db"}
    )


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not installed beside this Python")
@pytest.mark.slow
def test_everything_runs_in_a_folder_of_decoys(decoy_folder: Path) -> None:
    done = upright(
        decoy_folder, "run", "bouncing-ball", "--engine", "reference", "--engine", "my_engine.Mine", "--json"
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["engine"]: line["outcome"] for line in lines} == {
        "reference": "completed",
        "my_engine.Mine": "completed",
    }
    for words in (["accept", "--reason", "decoys"], ["check", "bouncing-ball", "--engine", "reference"], ["scenarios"]):
        done = upright(decoy_folder, *words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
