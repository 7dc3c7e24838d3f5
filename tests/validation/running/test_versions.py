"""Scenarios on the releases of an engine: each compared with the one before, and nothing run twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.validation import wheels
from tests.validation.command import upright
from validation.running.kernel_cache import cache_root

FAILS = "raise RuntimeError('this release cannot be imported')\n"


@pytest.fixture
def shelf(tmp_path: Path) -> dict[str, str]:
    """Releases of the toy as wheels, of which 1.3 cannot be imported and the last sinks no more; 1.0 is installed."""
    (tmp_path / "shelf").mkdir()
    for version, speed, head in (("1.2", 0.05, ""), ("1.3", 0.05, FAILS), ("1.10", 0.0, "")):
        wheels.wheel(tmp_path / "shelf", version, speed, head)
    site = wheels.installed(tmp_path / "site", "1.0", 0.05)
    paths = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    cache = tmp_path / "cache"  # with the kernels that there are, and no environment
    cache.mkdir()
    (cache / "kernels").symlink_to(cache_root() / "kernels")
    return {**wheels.from_wheels(tmp_path / "shelf"), "PYTHONPATH": paths, "UPRIGHT_CACHE": str(cache)}


@pytest.mark.slow
def test_releases_are_compared_with_those_before_and_what_was_run_is_known(
    tmp_path: Path, shelf: dict[str, str]
) -> None:
    """5 cm/s is 1 m in the 20 s of the scene."""
    done = upright("versions", "toy", "upright-block", "--json", folder=tmp_path, **shelf)
    assert done.returncode == 0, done.stderr
    first, broken, last = (json.loads(line) for line in done.stdout.splitlines())
    assert [one["release"] for one in (first, broken, last)] == ["1.2", "1.3", "1.10"]
    assert (first["before"], first["lacks"], last["before"]) == ("", "", "1.2")
    assert "this release cannot be imported" in broken["lacks"]
    assert last["cases"] == {"better": 1} and "no longer breaks a law: " in last["changed"][0]["told"]
    assert "toy==1.2: 1/1" in done.stderr

    again = upright("versions", "toy", "upright-block", folder=tmp_path, **shelf)
    assert again.returncode == 0 and "1/1" not in again.stderr and "environment of toy==1.10" not in again.stderr
    assert "1.3   not run: " in again.stdout and "1.10  0 worse, 1 better, 0 different, 0 same" in again.stdout
    assert "something changed in 1.10" in again.stdout.splitlines()[-1]

    found = upright("bisect", "toy==1.2..1.10", "upright-block", folder=tmp_path, **shelf)
    assert found.returncode == 1, "1.3 may have it as well"
    assert "left out between them: 1.3; the change is in one of these or in toy==1.10" in found.stdout
    assert "to see it: upright compare toy==1.2 toy==1.10 upright-block" in found.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("versions", "pymunk==7.3.1"), "names one version; give the engine alone, and --from or --to"),
        (("versions", "reference"), "no distribution has 'reference', so there are no releases of it"),
        (("versions", "pymunk", "stak"), "unknown scenario 'stak'; did you mean 'stack'?"),
        (("versions", "pymunk", "--from", "new"), "'new' is not a version; allowed: such as 6.11.1"),
        (("bisect", "pymunk==7.3.1..7.0.0", "stack"), "7.3.1 is not older than 7.0.0; give the older release first"),
        (("bisect", "pymunk==7.0.0..7.3.1", "stack", "--engine", "pymunk"), "--engine is of commits"),
        (
            ("bisect", "v1.2", "v1.3"),
            "commits need --case SCENARIO and --engine ENGINE; releases are ENGINE==GOOD..BAD",
        ),
    ],
)
def test_a_wrong_word_is_one_line_that_helps(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    shelf: dict[str, Any] = wheels.from_wheels(tmp_path)
    for version in ("7.0.0", "7.3.1"):
        wheels.empty_wheel(tmp_path, "pymunk", version)
    done = upright(*words, folder=tmp_path, **shelf)
    assert done.returncode == 2 and message in " ".join(done.stderr.split())
    assert not done.stdout
