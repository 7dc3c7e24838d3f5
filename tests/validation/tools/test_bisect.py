"""The commit that made a case worse is found, past commits that cannot be built or run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.validation.command import call, upright
from tests.validation.store.made import case
from tests.validation.wheels import toy
from validation.judging.verdict import Change, Grounds, Verdict
from validation.judging.verdict import Word as VerdictWord
from validation.tools.bisect import Answer, BisectError, Repository, answer_of, first_bad

ENGINE = "from depth import DEPTH\n" + toy("DEPTH")


class Project:
    """A git repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=Rae", "-c", "user.email=r@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message: str, **files: str) -> str:
        for name, text in files.items():
            (self.folder / name.replace("_dot_", ".")).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def worktrees(self) -> int:
        return len(self.git("worktree", "list").splitlines())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "engine")


def test_the_first_bad_commit_of_many_is_found_in_few_looks(project: Project) -> None:
    commits = [project.commit(f"number {i}") for i in range(40)]
    asked: list[str] = []

    def probe(commit: str) -> Answer:
        asked.append(commit)
        return "bad" if commits.index(commit) >= 23 else "good"

    found = first_bad(Repository(project.folder), commits[0], commits[-1], probe)
    assert found.first_bad == commits[23] and found.suspects == (commits[23],)
    assert len(asked) == len(set(asked)) <= 6
    assert project.worktrees() == 1


def test_what_is_skipped_beside_the_first_bad_commit_leaves_several(project: Project) -> None:
    commits = [project.commit(f"number {i}") for i in range(6)]
    answers: dict[str, Answer] = dict(zip(commits, ("good", "good", "skip", "skip", "bad", "bad")))
    found = first_bad(Repository(project.folder), commits[0], commits[-1], answers.__getitem__)
    assert found.first_bad is None and set(found.suspects) == set(commits[2:5])


def test_a_merge_is_bad_through_the_branch_that_made_it_so(project: Project) -> None:
    start = project.commit("start", a="1")
    project.git("checkout", "-q", "-b", "feature")
    culprit = project.commit("feature: broke it", f="1")
    later = project.commit("feature: more", f="2")
    project.git("checkout", "-q", "main")
    project.commit("main: quiet", a="2")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
    head = project.git("rev-parse", "HEAD")
    bad = {culprit, later, head}
    found = first_bad(Repository(project.folder), start, head, lambda commit: "bad" if commit in bad else "good")
    assert found.first_bad == culprit


def test_commits_between_which_nothing_lies_are_refused(project: Project) -> None:
    first, second = (project.commit(f"number {i}") for i in range(2))
    repository = Repository(project.folder)
    for good, bad in ((second, first), (first, first)):
        with pytest.raises(BisectError, match="is no ancestor of"):
            first_bad(repository, good, bad, lambda commit: "good")
    with pytest.raises(BisectError, match="'nowhere' is neither a stored run nor a commit"):
        repository.commit("nowhere")
    assert project.worktrees() == 1


def verdict(word: VerdictWord, *metrics: str) -> Verdict:
    changes = tuple(
        Change(metric=metric, old=1.0, new=2.0, unit="m", move="regressed", allowed="10 %") for metric in metrics
    )
    return Verdict(
        case=case(),
        word=word,
        worse=bool(metrics) or word == "broken",
        grounds=Grounds(finding="changes"),
        changes=changes,
    )


def test_only_what_the_bad_commit_has_is_bad() -> None:
    bad = verdict("regressed", "drift", "depth")
    assert answer_of(verdict("regressed", "depth"), bad) == "bad"
    assert answer_of(verdict("regressed", "other"), bad) == "good"
    assert answer_of(verdict("pass"), bad) == "good"
    assert answer_of(verdict("broken"), bad) == "skip"
    assert answer_of(verdict("broken"), verdict("broken")) == "bad"
    assert answer_of(verdict("regressed", "depth"), verdict("broken")) == "good"


@pytest.mark.slow
def test_an_engine_that_sinks_since_a_commit_is_found_past_those_that_do_not_build(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    good = project.commit("start", engine_dot_py=ENGINE, depth_dot_txt="0.0")
    culprit = project.commit("sinks a little", depth_dot_txt="0.002")
    for word in ("one", "two", "three"):
        project.commit("does not build", depth_dot_txt=word)
    bad = project.commit("sinks more", depth_dot_txt="0.02")
    build = "python3 -c \"print('DEPTH =', float(open('depth.txt').read()))\" > depth.py"
    words = ("bisect", good[:10], bad[:10], "--case", "upright-block", "--engine", "engine.Toy", "--build", build)
    done = upright(*words, "--repo", str(project.folder), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"first bad commit: {culprit[:8]} sinks a little (Rae, ")
    assert "the upright block is up to" in done.stdout and "2 mm" in done.stdout
    described = " ".join(done.stderr.split())
    assert (
        "does not build (Rae, " in described and "cannot be built (exit status 1: ValueError: could not" in described
    ), described
    assert project.worktrees() == 1

    code, _, err = call(monkeypatch, capsys, "bisect", good, bad, *words[3:], "--repo", str(tmp_path))
    assert code == 2 and "is in no git repository" in err
    code, _, err = call(monkeypatch, capsys, "bisect", f"{bad}~2", bad, *words[3:], "--repo", str(project.folder))
    assert code == 2 and "the good commit" in err and "cannot be built" in err
