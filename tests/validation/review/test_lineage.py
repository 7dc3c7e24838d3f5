"""Which accepted results a change is compared with, and what a CI server tells of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.validation.report.made import HOSTILE, broken, every_kind, pair, stored
from tests.validation.store.made import case, info, result
from validation.report.job import MOST_ANNOTATIONS, commit_annotations
from validation.review.lineage import DefaultBranchError, Lineage, LineageError, default_branch, history_of, lineage_of
from validation.running.forge import Forge, forge_of
from validation.store import Store, open_store

ROOT = Path(__file__).parents[3]


# --- the store ----------------------------------------------------------------------------------------------------


def accepted(store: Store, branch: str, commit: str) -> int:
    """The run that is accepted on this branch."""
    run = store.begin_run(info(branch, commit=commit), [case()])
    store.save_results(run, [result(case())])
    store.finish_run(run)
    store.accept(run, who="R.", reason="x")
    return run


def in_effect(store: Store, branch: str, lineage: Lineage | None) -> list[int]:
    return [baseline.run for baseline in store.baselines(branch, lineage).values()]


def lineage(*commits: str, base: str = "main") -> Lineage:
    return Lineage(base=base, merge_base=commits[-1], commits=frozenset(commits))


def test_of_the_base_only_what_was_accepted_at_the_merge_base_or_before_counts(tmp_path: Path) -> None:
    with open_store(tmp_path / "x.db") as store:
        first, second = accepted(store, "main", "a"), accepted(store, "main", "b")
        assert in_effect(store, "feature", lineage("a", "b")) == [second]
        assert in_effect(store, "feature", lineage("a")) == [first]
        assert in_effect(store, "feature", lineage("z")) == []
        assert in_effect(store, "feature", None) == [second]
        assert in_effect(store, "main", lineage("a")) == [first], "a fork's main is no licence"


def test_what_is_accepted_on_the_changes_own_branch_comes_first(tmp_path: Path) -> None:
    with open_store(tmp_path / "x.db") as store:
        accepted(store, "main", "a")
        own = accepted(store, "feature", "f1")
        accepted(store, "main", "b")
        assert in_effect(store, "feature", lineage("a", "b")) == [own]


def test_the_base_may_be_any_branch(tmp_path: Path) -> None:
    with open_store(tmp_path / "x.db") as store:
        develop = accepted(store, "develop", "a")
        assert in_effect(store, "feature", lineage("a", base="develop")) == [develop]
        assert in_effect(store, "feature", lineage("a")) == []


# --- the repository -----------------------------------------------------------------------------------------------


def test_the_remotes_branch_counts_before_a_copy_of_it(tmp_path: Path) -> None:
    """A CI server that keeps its folder has an old main in it."""
    who = {f"GIT_{who}_{what}": "r@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(folder: Path, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=folder, env=os.environ | who, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    git(there, "init", "-q", "-b", "main")
    git(there, "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path, "clone", "-q", str(there), str(here))
    git(there, "commit", "-q", "--allow-empty", "-m", "two")
    two = git(there, "rev-parse", "HEAD")
    git(here, "fetch", "-q")
    git(here, "checkout", "-q", "-b", "feature", "origin/main")
    git(here, "commit", "-q", "--allow-empty", "-m", "three")
    found = lineage_of("main", here)
    assert (found.base, found.merge_base, len(found.commits)) == ("main", two, 2)
    assert lineage_of("origin/main", here) == found


def test_a_history_tells_what_comes_before_what_and_a_part_of_one_tells_nothing(tmp_path: Path) -> None:
    who = {f"GIT_{who}_{what}": "r@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=tmp_path, env=os.environ | who, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(note: str) -> str:
        git("commit", "-q", "--allow-empty", "-m", note)
        return git("rev-parse", "HEAD")

    assert history_of(tmp_path) is None
    git("init", "-q", "-b", "main")
    assert history_of(tmp_path) is None
    a, b = commit("a"), commit("b")
    git("checkout", "-q", "-b", "side", a)
    side = commit("side")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-edit", "side")
    found = history_of(tmp_path)
    assert found is not None
    assert found.parents == {found.head: (b, side), b: (a,), side: (a,), a: ()}
    assert found.generations() == {a: 1, b: 2, side: 2, found.head: 3}
    assert found.nearest({found.head, a, "elsewhere"}) == {found.head: (a,), a: ()}
    git("clone", "-q", "--depth", "1", f"file://{tmp_path}", "shallow")
    assert history_of(tmp_path / "shallow") is None


def test_the_default_branch_is_what_is_set_or_known_and_never_guessed_past_an_acceptance(tmp_path: Path) -> None:
    who = {f"GIT_{who}_{what}": "r@example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, env=os.environ | who, check=True, capture_output=True)

    def found(accepted: set[str], branch: str, setting: str = "", **given: str) -> str:
        environment = {"UPRIGHT_DEFAULT_BRANCH": setting}
        return default_branch(accepted, branch, environment=environment, folder=tmp_path, **given)

    assert found(set(), "") == found({""}, "") == "", "outside a repository everything is of one branch"
    assert found({"main"}, "") == "main"
    with pytest.raises(LineageError, match="UPRIGHT_DEFAULT_BRANCH=trunk"):
        found({"trunk"}, "")
    git("init", "-q", "-b", "trunk")
    git("commit", "-q", "--allow-empty", "-m", "one")
    assert found({"trunk"}, "trunk") == found(set(), "trunk") == "trunk", "the only one"
    with pytest.raises(LineageError):  # a clone of one branch has an only branch too
        found({"other"}, "trunk")
    git("checkout", "-q", "-b", "lower")
    with pytest.raises(DefaultBranchError) as raised:
        found({"trunk"}, "lower")
    assert str(raised.value).endswith("UPRIGHT_DEFAULT_BRANCH=trunk"), "there is no origin, and `check` has no --base"
    assert raised.value.branch == "trunk", "which `ci` can name"
    git("remote", "add", "origin", "nowhere")
    with pytest.raises(DefaultBranchError, match=r"=next; or git remote set-head origin --auto$") as raised:
        found({"next"}, "lower")
    assert raised.value.branch == "trunk", "`next` is no branch here any more"
    assert found({"lower"}, "lower") == "", "nothing that it could be compared with is elsewhere"
    assert found({"trunk"}, "lower", base="trunk") == ""
    assert found({"trunk"}, "lower", of_server="trunk") == "trunk"
    assert found({"trunk"}, "lower", setting="next", of_server="trunk") == "next"
    git("update-ref", "refs/remotes/origin/trunk", "trunk")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert found({"lower"}, "lower") == "trunk"


# --- the CI server ------------------------------------------------------------------------------------------------


def test_a_fork_s_branch_is_never_taken_for_ours(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    sides = {
        "head": {"label": "eve:main", "repo": {"full_name": "eve/mine"}},
        "base": {"repo": {"full_name": "us/mine"}},
    }
    event.write_text(json.dumps({"pull_request": {"number": 7, **sides}}))
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_BASE_REF": "main",
        "GITHUB_HEAD_REF": "main",
        "GITHUB_EVENT_PATH": str(event),
    }
    forge = forge_of(github)
    assert (forge.branch, forge.base, forge.labels["change"]) == ("eve:main", "main", "7")
    gitlab = {
        "GITLAB_CI": "true",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "eve/mine",
        "CI_PROJECT_ID": "1",
    }
    assert (forge_of(gitlab).branch, forge_of(gitlab).base) == ("eve/mine:main", "main")


def test_a_push_has_a_branch_and_no_base() -> None:
    forge = forge_of({"GITHUB_ACTIONS": "true", "GITHUB_REF_NAME": "main"})
    assert (forge.branch, forge.base) == ("main", "")
    assert forge_of({"CI": "true"}) == Forge()


# --- annotations --------------------------------------------------------------------------------------------------


def test_what_fails_is_an_error_and_ten_lines_are_the_most() -> None:
    kinds = [line.split(" ")[0] for line in commit_annotations(every_kind())]
    assert kinds == ["::error"] * 3 + ["::warning"] * 2 + ["::notice"]
    many = [pair(broken(case(f"s{i}")), stored(case(f"s{i}"))) for i in range(14)]
    described = commit_annotations(many)
    assert (
        len(described) == MOST_ANNOTATIONS
        and described[-1] == "::notice title=Upright::5 more stand in the job's summary"
    )
    assert len(commit_annotations(many[:10])) == 10


def test_no_name_or_reason_ends_its_line_or_begins_a_command() -> None:
    hostile = f"{HOSTILE}\n::error::x\r::set-env name=a,b::%0A"
    of = case(f"s{hostile}", parameters={})
    (line,) = commit_annotations([pair(broken(of, reason=hostile), stored(of))])
    assert line.splitlines() == [line]
    title, _, message = line.removeprefix("::error title=").partition("::")
    assert ":" not in title and "," not in title and "%250A" in message


# --- the comment --------------------------------------------------------------------------------------------------

GH = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
  *--paginate*) {listing} ;;
  *) {writing} ;;
esac
"""


@pytest.mark.parametrize(
    ("listing", "writing", "described", "method"),
    [
        ("true", "true", "", "--method POST repos/us/mine/issues/7/comments"),
        ("echo 41; echo 42", "true", "", "--method PATCH repos/us/mine/issues/comments/41"),
        ("true", "exit 1", "::notice::Upright: no comment could be written", "--method POST"),
        ("exit 1", "true", "::notice::Upright: the comments of pull request 7 cannot be read", "--paginate"),
    ],
)
def test_one_comment_is_written_and_then_replaced(
    tmp_path: Path, listing: str, writing: str, described: str, method: str
) -> None:
    gh, calls, body = tmp_path / "gh", tmp_path / "calls", tmp_path / "comment.md"
    gh.write_text(GH.replace("{listing}", listing).replace("{writing}", writing))
    gh.chmod(0o755)
    body.write_text("<!-- mark -->\nall well\n")
    known = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(calls)}
    known |= {"GITHUB_REPOSITORY": "us/mine", "PULL_REQUEST": "7"}
    done = subprocess.run([ROOT / "ci/comment.sh", body], env=os.environ | known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(described) and method in calls.read_text().splitlines()[-1]
