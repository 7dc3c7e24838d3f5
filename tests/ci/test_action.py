"""The steps of the GitHub action, as a runner runs them: what they call, and what they make of its exit status."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.effort import few
from validation.store import open_store

ROOT = Path(__file__).parents[2]
STEPS: list[dict[str, Any]] = yaml.safe_load((ROOT / "ci/action.yml").read_text())["runs"]["steps"]
JOB = next(step for step in STEPS if step.get("id") == "job")
FAKE_GH = """#!/bin/bash
echo "$*" >> "$CALLS"
case "$*" in *--paginate*) grep -q POST "$CALLS" && echo 77 || true;; *--method*) exit "${READ_ONLY:-0}";; esac
"""


def run(step: dict[str, Any], folder: Path, **given: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """As the runner: bash that ends at the first failure, and outputs from a file."""
    outputs = folder / "outputs"
    outputs.write_text("")
    known = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI"))}
    environment = known | {
        "GITHUB_ACTION_PATH": str(ROOT / "ci"),
        "GITHUB_OUTPUT": str(outputs),
        "UPRIGHT_DB": "upright.db",
        "UPRIGHT_USER": "R.",
        "UPRIGHT_HOME": str(folder),
        "ARGUMENTS": "",
        "INSTALL": "",
        "ACCEPT": "",
        "REPORTS": "reports of mine",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=environment | given,
        capture_output=True,
        text=True,
    )
    return done, dict(line.split("=", 1) for line in outputs.read_text().splitlines())


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """Its home has the environment that an earlier step would have made."""
    programs = tmp_path / "venv/bin"
    programs.mkdir(parents=True)
    here = f"export PYTHONPATH={shlex.quote(str(ROOT))}; exec {shlex.quote(sys.executable)}"
    for name, call in (("python", here), ("upright", f"{here} -P -c 'from validation.cli import main; main()'")):
        (programs / name).write_text(f'#!/bin/bash\n{call} "$@"\n')
        (programs / name).chmod(0o755)
    return tmp_path


def test_no_word_of_a_pull_request_gets_into_a_script() -> None:
    # "${{ ... }}" is put into a script as text, before bash reads it: a branch name could then be a command.
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []


@pytest.mark.slow
def test_arguments_are_read_as_a_shell_reads_them_and_the_reports_are_written(runner: Path) -> None:
    done, outputs = run(JOB, runner, ARGUMENTS="'bouncing-ball'  --engine pymunk", GITHUB_ACTIONS="true")
    assert outputs == {"status": "0"}, done.stderr
    assert (runner / "reports of mine/comment.md").exists()

    done, outputs = run(JOB, runner, ACCEPT='--run 1 --reason "first look; $(touch pwned)"')
    assert outputs == {"status": "0"}, done.stderr
    assert not (runner / "pwned").exists()
    with open_store(runner / "upright.db") as store:
        assert [(entry.who, entry.reason) for entry in store.entries(5)] == [("R.", "first look; $(touch pwned)")]


@pytest.mark.parametrize(("words",), few(1, [({"INSTALL": "./no-such-folder"},), ({"ARGUMENTS": "no-such-scenario"},)]))
def test_what_cannot_run_is_status_2_and_the_last_step_says_so(runner: Path, words: dict[str, str]) -> None:
    _, outputs = run(JOB, runner, **words)
    assert outputs == {"status": "2"}
    for status in ("0", "1", "2"):
        assert run(STEPS[-1], runner, STATUS=status)[0].returncode == int(status)
    assert run(STEPS[-1], runner, STATUS="")[0].returncode == 2  # the job never came to its end


def test_the_comment_is_written_once_and_replaced_from_then_on(runner: Path) -> None:
    (runner / "gh").write_text(FAKE_GH)
    (runner / "gh").chmod(0o755)
    body = runner / "comment.md"
    body.write_text("<!-- mark -->\n**Upright: all well**\n")
    step = next(step for step in STEPS if "comment.sh" in step.get("run", ""))
    given = {
        "PATH": f"{runner}:{os.environ['PATH']}",
        "CALLS": str(runner / "calls"),
        "GITHUB_REPOSITORY": "o/r",
        "PULL_REQUEST": "5",
        "REPORTS": str(runner),
    }
    for _ in range(2):
        assert run(step, runner, **given)[0].returncode == 0
    written = [call for call in (runner / "calls").read_text().splitlines() if "--method" in call]
    assert written == [
        f"api --method POST repos/o/r/issues/5/comments --field body=@{body}",
        f"api --method PATCH repos/o/r/issues/comments/77 --field body=@{body}",
    ]
    done, _ = run(step, runner, **given, READ_ONLY="1")
    assert done.returncode == 0  # from a fork the token may only read
    assert done.stdout.startswith("::notice::")


def test_the_key_of_the_cache_follows_our_sources(runner: Path) -> None:
    step = next(step for step in STEPS if step.get("id") == "key")
    _, outputs = run(step, runner, RUNNER_TEMP=str(runner))
    assert outputs["home"] == f"{runner}/upright"
    sources, machine = outputs["installed"].split("-")
    assert len(sources) == len(machine) == 16


def test_actions_of_others_are_named_by_a_digest_which_nobody_can_move() -> None:
    files = [ROOT / "ci" / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    lines = [line for file in files for line in file.read_text().splitlines() if "uses:" in line]
    others = [used for line in lines if not (used := line.split("uses:")[1].strip()).startswith("./")]
    assert len(others) > 10
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in others), others
