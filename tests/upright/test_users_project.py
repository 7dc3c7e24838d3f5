"""The pytest plugin in somebody's project, whose own folders are called `validation` and `scenarios`."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.validation.wheels import toy

ROOT = Path(__file__).parents[2]

NO_JOINTS = 'return "the toy knows no joints" if scene.joints else None'
TESTS = """
import scenarios
import validation

import pytest


@pytest.mark.upright("upright-block", "stack:n=3", "double-pendulum")
def test_physics(upright_case):
    upright_case.check()


def test_the_projects_own_folders_are_its_own():
    assert validation.__file__.startswith(FOLDER) and scenarios.__file__.startswith(FOLDER)
"""


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("validation", "scenarios"):
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text("")
        (folder / "tests").mkdir()
        (folder / "tests" / "test_engine.py").write_text(f"FOLDER = {str(folder)!r}\n{TESTS}")
        (folder / "pytest.ini").write_text("[pytest]\nupright_engine = toy_engine.Toy\n")
        self.sinks(0.0)

    def sinks(self, speed: float) -> None:
        (self.folder / "toy_engine.py").write_text(toy(f"{speed} * time").replace("return None", NO_JOINTS))

    def pytest(self, *words: str) -> tuple[int, str]:
        """Exit status and output, with the project's folder in front of ours on the path."""
        plugins = ["-p", "upright.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-rs"]
        paths = os.pathsep.join([str(self.folder), str(ROOT)])
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, *words],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": paths, "UPRIGHT_DB": "", "COLUMNS": "200"},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.slow
def test_a_toy_engine_that_sinks_fails_with_our_words_and_the_mended_one_passes(project: Project) -> None:
    """0.1 m/s is 2 m in the 20 s of the scene; physics, and a generous tolerance, allow 0.1 m."""
    project.sinks(0.1)
    status, out = project.pytest()
    assert status == 1 and "2 failed, 1 passed, 1 skipped" in out, out
    assert "upright-block × toy_engine.Toy@default: new: nothing accepted" in out
    assert "breaks a law: penetration max 2 m (physics allows 0.1 m)" in out
    assert "double-pendulum × toy_engine.Toy@default: declined: the toy knows no joints" in out
    pictures = {file.suffix for file in (project.folder / "upright-reports").glob("upright-block-*")}
    assert pictures == {".html", ".png"}

    project.sinks(0.0)
    status, out = project.pytest("--upright-accept", "it rests now")
    assert status == 0 and "2 passed" not in out and "3 passed, 1 skipped" in out, out
    assert "accepted: it rests now" in out

    project.sinks(0.001)  # 20 mm break no law, but are worse than what is accepted
    status, out = project.pytest("-n", "2", "--junitxml", "report/junit.xml")
    assert status == 1 and "2 failed, 1 passed, 1 skipped" in out, out
    assert "regressed: truth error position 20 mm, was 0 m" in out
    assert out.count("Upright: 2 regressions, 1 declined (run 3 in upright.db)") == 1
    cases = ElementTree.parse(project.folder / "report" / "junit.xml").iter("testcase")
    told = {case.get("name"): [p.get("value", "") for p in case.iter("property")] for case in cases}
    verdict, page, picture = told["test_physics[upright-block]"]
    assert verdict == "regressed"
    assert all(Path(file).is_file() and Path(file).parent.name == "report" for file in (page, picture))


@pytest.mark.slow
def test_a_word_that_names_no_engine_is_told_in_a_line(project: Project) -> None:
    status, out = project.pytest("--upright-engine", "toy_engine.Tow", "-k", "upright-block")
    assert status == 1
    assert "unknown engine 'toy_engine.Tow': 'toy_engine' has no 'Tow'; did you mean 'Toy'?" in out
    assert "Traceback" not in out


def test_without_an_engine_nothing_is_green(project: Project) -> None:
    (project.folder / "pytest.ini").write_text("[pytest]\n")
    status, out = project.pytest()
    assert status == 0 and "1 passed, 1 skipped" in out
    assert "no engine to test: give --upright-engine NAME" in out


@pytest.mark.slow
def test_scenarios_come_from_the_marker_the_command_line_the_ini_file_or_the_suite(project: Project) -> None:
    tests = project.folder / "tests" / "test_engine.py"
    marked = tests.read_text()

    def collected(*words: str) -> list[str]:
        status, out = project.pytest("--collect-only", "-q", *words)
        assert status == 0, out
        return [line.partition("[")[2].rstrip("]") for line in out.splitlines() if "test_physics[" in line]

    assert collected("--upright-scenario", "pile") == ["upright-block", "stack:n=3", "double-pendulum"]
    tests.write_text(marked.replace("@pytest.mark.upright", "# "))
    assert collected("--upright-scenario", "pile") == ["pile"]
    suite = collected()
    assert "upright-block" in suite and len(suite) > 20
    with (project.folder / "pytest.ini").open("a") as ini:
        ini.write("upright_scenarios =\n    dominoes\n    my_scene.json\n")
    assert collected() == ["dominoes", "my_scene.json"]
    assert collected("--upright-engine", "a.B", "--upright-engine", "c.D")[:2] == ["dominoes-a.B", "dominoes-c.D"]


def test_the_distribution_announces_the_plugin() -> None:
    """Under the module's own name, so that `-p upright.pytest_plugin` does not load it twice."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"upright.pytest_plugin": "upright.pytest_plugin"}
    assert "upright" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
