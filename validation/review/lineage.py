"""Which commits an accepted result may come from: those that a change is built on.

A pull request is compared with what was accepted at its merge base, or at the nearest commit before it: neither with
its own earlier commits, which nobody has accepted, nor with what the main branch has become since.
"""

import json
import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

SHORT = 8  # digits of a commit that people read
SETTING = "UPRIGHT_DEFAULT_BRANCH"
MAIN = ("main", "master")  # one branch, which many a repository has renamed


class LineageError(RuntimeError):
    """The repository does not show where the change begins."""


class DefaultBranchError(LineageError):
    """It is not known which branch is the default one; `branch` may be it, "" outside a repository."""

    def __init__(self, words: str, branch: str) -> None:
        super().__init__(words)
        self.branch = branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    base: str  # the branch that the change is for, without its remote
    merge_base: str  # commit
    commits: frozenset[str]  # the merge base and all its ancestors


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is checked out, and every commit before it."""

    head: str
    parents: dict[str, tuple[str, ...]]  # of each of them; what comes after stands before

    def generations(self) -> dict[str, int]:
        """The longest way of each from a first commit: a commit has more than any before it, in whichever history."""
        found: dict[str, int] = {}
        for commit in reversed(self.parents):
            found[commit] = 1 + max((found.get(parent, 0) for parent in self.parents[commit]), default=0)
        return found

    def nearest(self, known: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Of the known ones in this history, each with the nearest known before it, in the order of its parents."""
        found: dict[str, tuple[str, ...]] = {}
        for commit in reversed(self.parents):
            found[commit] = tuple(
                dict.fromkeys(
                    near
                    for parent in self.parents[commit]
                    for near in ((parent,) if parent in known else found.get(parent, ()))
                )
            )
        return {commit: found[commit] for commit in known if commit in found}


class Commits:
    """Those that are kept: of runs and merge bases, each with the nearest before it."""

    def __init__(self, rows: Collection[Any]) -> None:
        """Of rows with hash, generation and parents (JSON)."""
        self.generations: dict[str, int] = {row.hash: row.generation for row in rows}
        self._parents: dict[str, Sequence[str]] = {row.hash: json.loads(row.parents) for row in rows}

    def up_to(self, commit: str) -> frozenset[str]:
        """The commit and those before it; none where nothing is known of it."""
        found: set[str] = set()
        waiting = [commit]
        while waiting:
            one = waiting.pop()
            if one in self._parents and one not in found:
                found.add(one)
                waiting += self._parents[one]
        return frozenset(found)

    def after(self, commit: str, deepest: int) -> set[str]:
        """Those that come after it, to a generation."""
        found: set[str] = set()
        waiting = [commit]
        while waiting:
            children = self._children.get(waiting.pop(), ())
            more = [child for child in children if child not in found and self.generations[child] <= deepest]
            found.update(more)
            waiting += more
        return found

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one, parents in self._parents.items():
            for parent in parents:
                found.setdefault(parent, []).append(one)
        return found

    def generation(self, commit: str, base: Collection[str]) -> frozenset[str] | None:
        """Those before it, and the merges that a CI server made of one of them with the base, to try it: no commit
        comes after these. None where nothing is known of it."""
        before = self.up_to(commit)
        merges = {
            one
            for one, parents in self._parents.items()
            if len(parents) > 1 and parents[-1] in before and parents[-1] not in base
        }
        return before | merges if before else None

    def in_order(self, runs: Sequence[Any]) -> list[Any]:
        """Rows of runs (commit, branch, base, default_branch) by their commits, given as they were made.

        One of a commit that comes before that of an earlier run, done again or ended late, stands before that run. On
        main and on what changes are made for, which have one life, the generation decides; where nothing is known of a
        commit, the order in which they were made.
        """
        bases = {run.base for run in runs if run.base}
        line: list[tuple[Any, int]] = []  # with the generations of their commits
        made: set[str] = set()  # commits that are in the line
        deepest: dict[str, int] = {}  # of each branch
        most = 0  # of all
        for run in runs:
            before = deepest.get(run.branch, 0)
            depth = self.generations.get(run.commit, before)
            later = self.after(run.commit, most) & made
            behind = depth < before and run.branch in {*bases, *main_branches(run.default_branch)}
            at = len(line)
            if later or behind:  # else nobody stands after it, and the line is not looked through
                at = next(
                    i
                    for i, (other, deep) in enumerate(line)
                    if other.commit in later or (behind and other.branch == run.branch and deep > depth)
                )
            line.insert(at, (run, depth))
            made.add(run.commit)
            deepest[run.branch] = max(before, depth)
            most = max(most, depth)
        return [run for run, _ in line]


def git(folder: Path | None, *words: str) -> str:
    """What git prints in `folder` (the current one); "" where it fails, or is not there."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def in_repository(folder: Path | None = None) -> bool:
    return bool(git(folder, "rev-parse", "--git-dir"))


def current_branch(folder: Path | None = None) -> str:
    """ "" outside a repository, HEAD for a bare commit."""
    return git(folder, "rev-parse", "--abbrev-ref", "HEAD")


def main_branches(default: str) -> tuple[str, ...]:
    """Those that count as the default branch, by its name; "": not known. "" among them is outside a repository."""
    return (*(MAIN if default in ("", *MAIN) else (default,)), "")


def default_branch(
    accepted: Collection[str],
    branch: str,
    *,
    base: str = "",
    of_server: str = "",
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> str:
    """The branch of the repository whose acceptances count where `branch` has none; "": not known, and not needed.

    By the setting, the CI server, origin/HEAD, the only branch, or main or master where something is accepted there.
    `accepted` are the branches on which anything is; `base` is the one that a change is for, which counts anyhow.
    Raises DefaultBranchError where it is not known and something is accepted on another branch: a check that compares
    with nothing would pass whatever got worse.
    """
    known = environment.get(SETTING) or of_server or git(folder, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if known:
        return known.removeprefix("origin/")
    references = git(folder, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes/origin").splitlines()
    names = {name.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/") for name in references}
    likely = [*names] if len(names) == 1 else [name for name in MAIN if name in (names or MAIN)]
    for name in likely:
        if name in accepted:
            return name
    elsewhere = sorted(set(accepted) - {branch, base, ""})
    if elsewhere and not base:
        there = [name for name in elsewhere if name in names]
        by_origin = "; or git remote set-head origin --auto" if git(folder, "remote", "get-url", "origin") else ""
        raise DefaultBranchError(
            f"the default branch of this repository is not known, and what is accepted is on {', '.join(elsewhere)}: "
            f"set it, {SETTING}={(there or elsewhere)[0]}{by_origin}",
            branch=next(iter([*there, *sorted(names - {branch})]), ""),
        )
    return likely[0] if len(likely) == 1 else ""


def history_of(folder: Path | None = None) -> History | None:
    """Of what is checked out in `folder` (the current one); None outside a repository, before its first commit, and
    where the clone lacks a part of the history."""
    if git(folder, "rev-parse", "--is-shallow-repository") != "false":
        return None
    lines = [line.split() for line in git(folder, "rev-list", "--topo-order", "--parents", "HEAD").splitlines()]
    return History(head=lines[0][0], parents={one: tuple(before) for one, *before in lines}) if lines else None


def lineage_of(base: str, folder: Path | None = None) -> Lineage:
    """Of what is checked out in `folder` (the current one), for the branch or commit `base`. Raises LineageError."""
    if base.startswith("-"):
        raise LineageError(f"--base: {base!r} is no branch; allowed: a branch or a commit, such as main")
    shallow = git(folder, "rev-parse", "--is-shallow-repository")
    if not shallow:
        raise LineageError(f"--base {base}: the current folder is in no git repository")
    if shallow == "true":
        raise LineageError(
            f"--base {base}: this clone lacks a part of the history; git fetch --unshallow (in actions/checkout "
            "fetch-depth: 0)"
        )
    # A CI server's own copy of a branch may be old; the remote's is what the change is for.
    names = (f"refs/remotes/origin/{base}", base)
    tips = (git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") for name in names)
    tip = next(filter(None, tips), None)
    if not tip:
        raise LineageError(f"--base: no branch or commit {base!r} here, nor on origin; git fetch origin {base}")
    merge_base = git(folder, "merge-base", "HEAD", tip)
    if not merge_base:
        raise LineageError(f"--base {base}: it has no commit in common with what is checked out")
    hashes = git(folder, "rev-list", merge_base)
    if not hashes:
        raise LineageError(f"--base {base}: git rev-list {merge_base} fails; the repository is damaged")
    return Lineage(base=base.removeprefix("origin/"), merge_base=merge_base, commits=frozenset(hashes.split()))
