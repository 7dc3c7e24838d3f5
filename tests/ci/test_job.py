"""The CI script in a scratch repository: a pull request is compared with what was accepted at its merge base."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import pytest

from scenarios.scene import Disc, PlanarBody, PlanarScene
from tests.validation.command import upright
from tests.validation.store.made import case, info, result
from validation.report.job import marker
from validation.report.sentences import reason_of
from validation.running.forge import Forge
from validation.running.options import Options
from validation.running.processes.processor import processor
from validation.running.runner import Limits
from validation.store import open_store

ROOT = Path(__file__).parents[2]
ENGINE = """
from validation.engines.pymunk.adapter import Pymunk


class Solver(Pymunk):
    name, version = "solver", "1.0"

    def profile(self, name, scene, dt):
        return super().profile(name, scene, dt) | {"iterations": ITERATIONS}
"""
COMMITTER = {f"GIT_{who}_{what}": "r@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Project:
    """A repository with an engine of its own; only the distribution is installed beside it."""

    def __init__(self, folder: Path, branch: str = "main") -> None:
        self.folder = folder
        self.reports = folder / "upright-reports"
        self.git("init", "-q", "-b", branch)
        (folder / ".gitignore").write_text("upright*\n__pycache__\nsummary.md\n")
        self.commit(7)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=os.environ | COMMITTER, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, iterations: int, note: str = "") -> str:
        (self.folder / "solver.py").write_text(f"# {note}\nITERATIONS = {iterations}\n{ENGINE}")
        self.git("add", ".")
        self.git("commit", "-q", "-m", f"{iterations} iterations {note}")
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, at: str) -> None:
        self.git("checkout", "-q", "-b", name, at)

    def upright(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        with mock.patch.dict(os.environ, {"UPRIGHT_DB": "upright.db", "UPRIGHT_USER": "R."}):
            for name in [name for name in os.environ if name.startswith(("GITHUB_", "GITLAB_", "CI_"))]:
                del os.environ[name]
            return upright(*words, folder=self.folder, **environment)

    def check(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.upright("check", "stack:n=5", "-e", "solver.Solver", **environment)

    def job(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.upright("ci", "stack:n=5", "-e", "solver.Solver", *words, **environment)

    def script(self, *words: str) -> subprocess.CompletedProcess[str]:
        """ci/job.py as a process; a plain word that the user's own modules may have must not win over ours."""
        command = [sys.executable, "-P", str(ROOT / "ci/job.py"), "stack:n=5", "-e", "solver.Solver", *words]
        environment = os.environ | {"UPRIGHT_DB": "upright.db", "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def accept(self, run: int, reason: str) -> None:
        with open_store(self.folder / "upright.db") as store:
            store.accept(run, who="R.", reason=reason)

    @property
    def comment(self) -> list[str]:
        """Without the line by which it is found again."""
        return (self.reports / "comment.md").read_text().splitlines()[1:]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.slow
def test_where_the_default_branch_is_called_trunk_a_worsened_engine_fails_its_check(tmp_path: Path) -> None:
    """On trunk, on a branch of it, and never by comparing with nothing where the default branch is not known."""
    project = Project(tmp_path, "trunk")
    project.check()
    project.accept(1, "first look")
    project.commit(2)
    assert project.check().returncode == 1
    project.git("checkout", "-q", "-b", "lower")
    unknown = project.check()
    assert unknown.returncode == 2 and "UPRIGHT_DEFAULT_BRANCH=trunk" in unknown.stderr
    assert "--base" not in unknown.stderr, "which `check` has not"
    unknown = project.job()
    assert unknown.returncode == 2 and unknown.stderr.endswith("; or upright ci --base trunk\n")
    with open_store(project.folder / "upright.db") as store:
        assert len(store.runs()) == 2, "it ends before anything is run"
    assert project.check(UPRIGHT_DEFAULT_BRANCH="trunk").returncode == 1
    project.git("update-ref", "refs/remotes/origin/trunk", "trunk")
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert project.check().returncode == 1


def test_where_the_default_branch_is_not_known_nothing_is_run_and_both_commands_say_how_to_name_it(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path, "trunk")
    with open_store(tmp_path / "upright.db") as store:
        run = store.begin_run(info("trunk"), [case()])
        store.save_results(run, [result(case())])
        store.finish_run(run)
        store.accept(run, who="R.", reason="first look")
    project.git("checkout", "-q", "-b", "lower")
    check, job = project.check(), project.job()
    assert check.returncode == job.returncode == 2
    assert "UPRIGHT_DEFAULT_BRANCH=trunk" in check.stderr and "--base" not in check.stderr, "which `check` has not"
    assert job.stderr.endswith("; or upright ci --base trunk\n")
    with open_store(tmp_path / "upright.db") as store:
        assert len(store.runs()) == 1


@pytest.mark.slow
@pytest.mark.skipif("fma" not in processor().split(), reason="a processor without has nothing to leave out")
def test_a_baseline_made_with_fma_holds_where_there_is_none(project: Project) -> None:
    """Bits are not compared there, and what is worse is worse."""
    project.check(GLIBC_TUNABLES="")
    project.accept(1, "first look")
    project.commit(2)
    assert project.check(GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F").returncode == 1
    with open_store(project.folder / "upright.db") as store:
        (verdict,) = store.verdicts(2)
    assert verdict.word == "regressed" and "; bits are not compared: libm-" in reason_of(verdict)


@pytest.mark.slow
def test_a_pull_request_is_compared_with_what_was_accepted_at_its_merge_base(project: Project) -> None:
    begin = project.git("rev-parse", "HEAD")

    # The first run has nothing to compare with, and says what to do.
    done = project.job()
    assert done.returncode == 0, done.stderr
    assert "Nothing is accepted yet, so nothing can be worse. Next: upright accept --run 1" in done.stderr
    assert project.comment[0] == "**Upright: 1 new**" and "upright accept --run 1" in project.comment[2]
    project.accept(1, "first look")

    # A commit that lowers the iterations is worse than that.
    project.branch("lower", begin)
    project.commit(2)
    done = project.job("--base", "main")
    assert done.returncode == 1, done.stderr
    assert project.comment[0] == (
        f"**Upright: 1 regression** (against the baseline at the merge base {begin[:8]} accepted by R. on "
        f"{project.comment[0].partition(' on ')[2]}"
    )
    assert project.comment[4].startswith(
        "| stack:n=5 on solver.Solver: jitter velocity<br>**the stack of 5 trembles at "
    )
    assert " | 0.521" in project.comment[4], project.comment[4].split(" | ")
    assert "first differs at t = " in project.comment[4]
    assert project.comment[4].endswith(
        f" | {project.git('rev-parse', 'HEAD')[:8]} &#40;run 2&#41;, not in {begin[:8]} &#40;run 1&#41; |"
    )
    assert "upright run stack:n=5 --engine solver.Solver@fair" in project.comment[6]
    assert 'upright accept stack:n=5 --engine solver.Solver@fair --run 2 --reason "..."' in project.comment[7]
    summary = (project.reports / "summary.md").read_text()
    picture = summary.partition("](")[2].partition(")")[0]
    assert (project.reports / picture).read_bytes().startswith(b"GIF8")
    (case,) = ElementTree.parse(project.reports / "junit.xml").iter("testcase")
    assert [child.tag for child in case] == ["failure", "system-out"]

    # What main has accepted since the fork does not excuse it: that is another motion.
    project.git("checkout", "-q", "main")
    project.commit(1, "on purpose")
    assert project.job().returncode == 1
    project.accept(3, "on purpose")

    # A second push on top is as bad. GitHub tells of the pull request, annotates it and shows the summary.
    project.git("checkout", "-q", "lower")
    project.commit(2, "second push")
    project.git("checkout", "-q", "--detach")
    done = project.job(
        GITHUB_ACTIONS="true", GITHUB_BASE_REF="main", GITHUB_HEAD_REF="lower", GITHUB_STEP_SUMMARY="summary.md"
    )
    assert done.returncode == 1 and "1 regression" in project.comment[0], done.stderr
    lines = done.stdout.splitlines()
    (annotation,) = [line for line in lines if line.startswith("::error")]
    assert annotation.startswith(
        "::error title=Upright%3A stack%3An=5 on solver.Solver@fair::regressed: jitter velocity"
    )
    assert lines[0].startswith("::stop-commands::") and f"::{lines[0].rpartition(':')[2]}::" in lines
    assert "1 regression" in (project.folder / "summary.md").read_text()
    with open_store(project.folder / "upright.db") as store:
        assert store.runs()[0].branch == "lower", "though git knows no branch here"

    # What moves by too little to count passes.
    project.branch("higher", begin)
    project.commit(20)
    done = project.job("--base", "main")
    assert done.returncode == 0, done.stderr
    assert project.comment[0].startswith(
        f"**Upright: 1 unchanged** (against the baseline at the merge base {begin[:8]}"
    )
    assert not list((project.reports / "motion").iterdir()), "pictures of an earlier run are gone"

    # Accepted on its branch, the worse one holds there.
    project.git("checkout", "-q", "lower")
    project.accept(4, "it is worth it")
    done = project.job("--base", "main")
    assert done.returncode == 0 and project.comment == [project.comment[0]], done.stderr
    assert project.comment[0].startswith("**Upright: 1 unchanged**")


@pytest.mark.slow
def test_what_is_accepted_later_only_is_no_baseline_and_the_job_says_so(project: Project) -> None:
    begin = project.git("rev-parse", "HEAD")
    project.commit(20)
    assert project.job().returncode == 0
    project.accept(1, "later")
    project.branch("early", begin)
    project.commit(7, "early")
    done = project.job("--base", "main")
    assert done.returncode == 0
    assert (
        f"nothing is accepted at the merge base {begin[:8]} or before it, only of later commits of main" in done.stderr
    )
    assert "Next: rebase, or merge main" in project.comment[2]


@pytest.mark.slow
def test_what_was_accepted_with_edits_that_are_not_committed_is_no_baseline_and_both_say_so(project: Project) -> None:
    solver = project.folder / "solver.py"
    solver.write_text(solver.read_text() + "# an edit\n")
    assert project.job().returncode == 0
    done = project.upright("accept", "--reason", "in a hurry")
    assert done.returncode == 0 and "no pull request is compared with it" in done.stdout, done.stderr
    project.git("checkout", "-q", "solver.py")
    project.branch("lower", "main")
    project.commit(2)
    assert project.job("--base", "main").returncode == 0
    assert "accepted on main, had edits that were not committed" in project.comment[2]


def test_two_jobs_have_two_comments_and_each_push_replaces_its_own() -> None:
    def mark(*, name: str = "", job: str = "", run: str = "1", **given: Any) -> str:
        labels = {"job": f"https://forge.example/actions/runs/{run}"}
        return marker(name, Forge(job=job, branch=run, labels=labels), Options(limits=Limits(), **given))

    assert mark(job="physics") == mark(job="physics", run="2"), "the next push replaces it"
    jobs = [
        mark(job="physics"),
        mark(job="nightly"),
        mark(job="physics", engines=("pymunk",)),
        mark(job="physics", engines=("mujoco",)),
        mark(job="physics", scenarios=("stack",)),
        mark(name="mine", job="physics"),
    ]
    assert len(set(jobs)) == len(jobs)
    assert mark(name="mine", engines=("a",)) == mark(name="mine", engines=("b",)), "a name says which it is"
    hostile = mark(name="--> <script>alert(1)</script>\n")
    assert hostile.count("-->") == 1 and "script" not in hostile and "\n" not in hostile


@pytest.mark.slow
def test_what_git_does_not_tell_is_one_line_and_status_2(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for word, described in (
        ("nowhere", "no branch or commit 'nowhere' here, nor on origin"),
        ("--all", "is no branch"),
    ):
        done = project.script(f"--base={word}")
        assert done.returncode == 2 and described in done.stderr and done.stderr.count("\n") == 1
    project.commit(7, "again")
    shallow = tmp_path_factory.mktemp("shallow")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{project.folder}", shallow], check=True)
    project.folder = shallow
    done = project.script("--base", "main")
    assert done.returncode == 2 and "fetch-depth: 0" in done.stderr
    assert not (shallow / "upright.db").exists(), "nothing was run"


@pytest.mark.slow
def test_a_find_fails_the_job_until_it_is_known_and_is_reported_once_when_it_is_fixed(project: Project) -> None:
    """The engine raises in every scene of a single disc."""
    broken = (
        ENGINE
        + """
    def simulate(self, scene, dt, settings):
        if [body.shape.kind for body in scene.bodies] == ["disc"]:
            raise ValueError("the contact graph has a cycle")
        return super().simulate(scene, dt, settings)
"""
    )
    (project.folder / "solver.py").write_text(f"ITERATIONS = 7\n{broken}")
    with open_store(project.folder / "upright.db") as store:
        scene = PlanarScene(duration=0.5, bodies=(PlanarBody(name="ball", shape=Disc(radius=0.5), mass=1.0),))
        about: dict[str, Any] = {"engine_version": "1.0", "profile": "fair", "seed": 1, "dt": 1.0 / 240.0}
        store.add_find(engine="solver.Solver", oracle="broken", message="crashed", scene=scene, **about)
    new = project.job()
    assert new.returncode == 1 and "find 1: solver.Solver: broken: crashed: ValueError" in new.stdout
    assert "1 breaks its law and is not known" in new.stdout and "upright finds 1 --known REASON" in new.stdout
    summary = (project.reports / "summary.md").read_text()
    for text in ("\n".join(project.comment), summary):
        assert "1 find not known" in text.splitlines()[0] and "- find 1: solver.Solver: broken: crashed" in text
    assert _find_case(project).find("failure") is not None
    marked = project.upright("finds", "1", "--known", "cycles are not handled", "--link", "#31")
    assert marked.returncode == 0 and marked.stdout.startswith("find 1 [known (#31)]: solver.Solver")
    quiet = project.job()
    assert quiet.returncode == 0 and "find 1" not in quiet.stdout and ", 1 known, 0 fixed" in quiet.stdout
    assert "find" not in "\n".join(project.comment)
    known = _find_case(project).find("skipped")
    assert known is not None and known.attrib["message"] == "known (#31): cycles are not handled"
    (project.folder / "solver.py").write_text(f"ITERATIONS = 7\n{ENGINE}")
    fixed = project.job()
    assert fixed.returncode == 0 and "find 1: solver.Solver breaks no law here any more" in fixed.stdout
    assert any(line.startswith("- **fixed**: find 1: solver.Solver breaks no law") for line in project.comment)
    assert [child.tag for child in _find_case(project)] == ["system-out"]
    again = project.job()
    assert "breaks no law" not in again.stdout and ", 0 known, 0 fixed" in again.stdout
    (project.folder / "solver.py").write_text(f"ITERATIONS = 7\n{broken}")
    project.upright("finds", "1", "--not-known")
    back = project.job()
    assert back.returncode == 1
    assert "find 1: solver.Solver [again, after it was fixed in 1.0]: broken" in back.stdout


def _find_case(project: Project) -> ElementTree.Element:
    """The one find's in junit.xml."""
    (case,) = ElementTree.parse(project.reports / "junit.xml").iterfind("testsuite[@name='upright.finds']/testcase")
    return case
