"""What the command proposes works as it stands: a shell is given the very line."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from scenarios.catalogue import scenario_of
from scenarios.scene import write_scene
from tests.validation.command import AS_COMMAND, upright
from tests.validation.store.made import case
from validation.cli import COMMANDS
from validation.cli.arguments import database_arguments, without_password
from validation.report.hints import arguments_of_each, rerun_arguments, step_name

DATABASE = "my results.db"
HINT = re.compile(rf"\bupright (?:{'|'.join(COMMANDS)})\b.*?(?= · |   |`|$)", re.MULTILINE)
SHELL = f'upright() {{ {shlex.join(AS_COMMAND)} "$@"; }}\n'
"""`upright` in a shell is the command of this tree."""
WORDS = 'upright() { printf "%s\\0" "$@"; }\n'
"""`upright` in a shell prints the words that it is given."""


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is opened is opened by `true`."""
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    monkeypatch.setenv("BROWSER", "true")


def sh(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A shell reads the line, the command gets the words."""
    words = subprocess.run(["sh", "-c", WORDS + line], cwd=folder, check=True, capture_output=True, text=True).stdout
    return upright(*words.split("\0")[:-1], folder=folder)


def hints(text: str) -> dict[str, str]:
    """Command -> line, as proposed in `text`."""
    return {line.split()[1]: line for line in HINT.findall(text)}


def opens(hint: str, folder: Path) -> bool:
    """Whether this `upright dashboard ...` says that it serves the database."""
    line = f"{SHELL}{hint} --no-browser --port 8599"
    process = subprocess.Popen(
        ["sh", "-c", line], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, process_group=0
    )
    assert process.stderr is not None
    decisions = process.stderr.readline()
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate()
    return decisions.startswith("dashboard of")


def verdicts(line: str, folder: Path) -> dict[str, str]:
    done = sh(f"{line} --json", folder)
    return {row["case"]: row["verdict"] for row in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scene files of one name, in folders with blanks."""
    made = tmp_path_factory.mktemp("hints")
    for name, word in (("old ones", "bouncing-ball"), ("new ones", "stack:n=3")):
        (made / name).mkdir()
        (made / name / "my scene.json").write_text(write_scene(scenario_of(word).scene))
    return made


@pytest.mark.slow
def test_what_run_accept_and_check_propose_is_about_the_very_cases(folder: Path) -> None:
    words = "'old ones/my scene.json' 'new ones/my scene.json' stack:n=3 --engine pymunk@default --dt 1/120 --as mine"
    ran = sh(f"upright run {words} --db '{DATABASE}'", folder)
    proposed = hints(ran.stdout)
    assert set(proposed) == {"dashboard", "show", "accept"}, ran.stdout + ran.stderr
    assert sh(f"upright run bouncing-ball --engine pymunk --db '{DATABASE}'", folder).returncode == 0
    assert opens(proposed["dashboard"], folder)
    shown = sh(proposed["show"], folder)
    assert shown.returncode == 0, shown.stderr
    assert "my scene.json:content=" in shown.stdout and "(mine)" in shown.stdout
    accepted = sh(proposed["accept"], folder)
    assert "accepted 3 cases of run 1" in accepted.stdout, accepted.stderr
    check = hints(accepted.stdout)["check"]
    assert list(verdicts(check, folder).values()) == ["pass"] * 3


@pytest.mark.slow
def test_the_worst_of_a_check_is_shown_accepted_and_run_again_as_proposed(folder: Path) -> None:
    place = f"--db '{DATABASE}'"
    for line in (f"run bouncing-ball 'new ones/my scene.json' -e pymunk {place}", f"accept {place} --reason x"):
        assert sh(f"upright {line}", folder).returncode == 0
    checked = sh(f"upright check 'new ones/my scene.json' -e pymunk:iterations=2 {place} --markdown 's.md'", folder)
    assert checked.returncode == 1, checked.stdout + checked.stderr
    proposed = hints(checked.stdout[checked.stdout.index("Look at the worst") :])
    shown = sh(proposed["show"], folder)
    assert shown.returncode == 0 and "pymunk:" in shown.stdout, shown.stderr
    again = hints((folder / "s.md").read_text())
    run = sh(again["run"], folder)
    assert run.returncode == 0 and "my scene.json" in run.stdout, run.stderr
    for line in (proposed["accept"], again["accept"]):
        accepted = sh(line, folder)
        assert "accepted 1 case of run" in accepted.stdout, accepted.stderr
    assert list(verdicts(hints(accepted.stdout)["check"], folder).values()) == ["pass"]


@pytest.mark.slow
def test_what_broke_is_shown_without_a_motion(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = Path(__file__).parents[1] / "plugins"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(plugins), str(plugins.parents[1])]))
    for line in ("upright run stack:n=3 -e broken:fault=none", "upright accept --reason x"):
        done = sh(line, folder)
        assert done.returncode == 0, done.stderr
    checked = sh("upright check stack:n=3 -e broken:fault=raise", folder)
    proposed = hints(checked.stdout)
    shown = sh(proposed["show"], folder)
    assert shown.returncode == 0 and "nothing moves" in shown.stdout, checked.stdout + shown.stderr
    assert sh(proposed["show"] + " --png p.png", folder).returncode == 2


@pytest.mark.slow
def test_what_fuzzing_proposes_finds_the_fault_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = Path(__file__).parents[1] / "plugins"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(plugins), str(plugins.parents[1])]))
    place = "--db 'my finds.db'"
    nothing = sh(f"upright finds {place}", folder)
    assert hints(nothing.stdout)["fuzz"] == f"upright fuzz {place}"
    fuzzed = sh(f"upright fuzz -e broken:fault=raise --minutes 0.05 --seed 1 {place}", folder)
    replay, listed = HINT.findall(fuzzed.stdout)
    assert sh(replay, folder).returncode == 1, "the fault is still there"
    found = sh(listed, folder)
    assert found.returncode == 0 and hints(found.stdout)["finds"] == replay


def test_of_several_that_share_a_baseline_accept_is_proposed_for_the_first() -> None:
    plain, few, fewer = case(), case(overrides="iterations=3"), case(overrides="iterations=2")
    assert arguments_of_each([plain, few, fewer]) == "", "the plain one is meant"
    assert arguments_of_each([few, case(engine="box2d")]) == ""
    words = arguments_of_each([few, fewer, case(engine="box2d")])
    assert words == "--engine pymunk@fair:iterations=3 --engine box2d@fair"


def test_a_file_that_is_called_like_an_option_is_proposed_by_its_path() -> None:
    """It was typed after `--`."""
    found = case()
    assert rerun_arguments([found], {found.label: "-e.json"}) == "./-e.json --engine pymunk@fair"


@pytest.mark.parametrize("command", ["scenarios", "engines"])
def test_a_list_proposes_one_of_its_entries(command: str, tmp_path: Path) -> None:
    line = hints(sh(f"upright {command}", tmp_path).stdout)[command]
    assert sh(line, tmp_path).returncode == 0


def test_an_error_proposes_what_mends_it_in_the_same_database(tmp_path: Path) -> None:
    place = f"--db '{DATABASE}'"
    for line in (f"accept --reason x {place}", f"run --resume {place}"):
        assert hints(sh(f"upright {line}", tmp_path).stderr)["run"] == f"upright run {place}"


def test_a_database_is_named_unless_it_is_the_one_that_is_used_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    assert database_arguments("upright.db") == ""
    assert database_arguments("other.db") == " --db other.db"
    monkeypatch.setenv("UPRIGHT_DB", "other.db")
    assert database_arguments("other.db") == ""
    assert database_arguments("upright.db") == " --db upright.db"


def test_a_password_is_never_shown() -> None:
    for password in ("secret", "se:cr@t", "%40"):
        assert without_password(f"postgresql://me:{password}@host/name") == "postgresql://me:***@host/name"
    for plain in ("postgresql://me@host/name", "sqlite:///u.db", "my results.db"):
        assert without_password(plain) == plain


@pytest.mark.parametrize("dt", [1 / 240, 1 / 60, 1 / 49, 0.004, 1 / 3 - 1e-17, 1.0, 2.5e-6, 0.1 + 0.2])
def test_a_time_step_is_told_to_the_last_bit(dt: float) -> None:
    top, _, bottom = step_name(dt).partition("/")
    assert float(top) / float(bottom or 1) == dt
