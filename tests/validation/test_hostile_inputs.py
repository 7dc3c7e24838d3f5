"""Malformed input of every kind ends in a clear error: no traceback, no hang, no change of what is stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.scene import Scene
from tests.validation.command import upright
from validation.tools.playground.setup import Setup, SetupError, scenario_in

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_hostile_inputs_of_every_kind_are_clear_errors() -> None:
    command = [sys.executable, "-P", "ci/benchmarks/hostile_inputs.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.parametrize(
    ("words", "described"),
    [
        (["run", "\x1b[2J", "-e", "pymunk"], "unknown scenario"),
        (["run", "bouncing-ball", "-e", "\x1b[2J"], "unknown engine"),
        (["run", "bouncing-ball", "--dt", "nan"], "--dt"),
        (["fuzz", "-e", "pymunk", "--minutes", "1_0"], "--minutes"),
        (["nonsense\x1b[2J"], "unknown command"),
        (["run", "x" * 5000, "-e", "pymunk"], "..."),
    ],
)
def test_what_is_typed_is_repeated_without_what_moves_the_cursor(
    words: list[str], described: str, tmp_path: Path
) -> None:
    done = upright(*words, folder=tmp_path)
    assert done.returncode == 2 and described in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines()) and len(done.stderr) < 3000


def test_a_link_of_the_playground_is_repeated_in_part_alone() -> None:
    for name in ("x" * 100_000, "stack:" + "x" * 100_000):
        with pytest.raises(SetupError) as error:
            scenario_in(Setup(scenario=name), no_stored_scene)
        assert len(str(error.value)) < 3000


def no_stored_scene(content: str) -> Scene:
    raise SetupError(content)


def test_a_scene_of_many_fields_is_read_at_once_and_names_are_printable(tmp_path: Path) -> None:
    fields = ", ".join(f'"k{i}": 1' for i in range(50_000))
    (tmp_path / "wide.json").write_text("{" + fields + "}")
    (tmp_path / "odd.json").write_text('{"dimension": 2, "duration": 1, "bodies": [], "a\\u001b": 1}')
    for name in ("wide.json", "odd.json"):
        done = upright("run", name, "-e", "pymunk", folder=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith(name)
        assert all(line.isprintable() for line in done.stderr.splitlines()) and len(done.stderr) < 3000
