"""Which commit made a case worse: git halves the commits between a good and a bad one, each is built and run apart.

Every commit is checked out into a worktree of its own, so that nothing that one leaves behind reaches another. What
cannot be built, or runs to no result, is skipped, as git bisect does; git itself chooses what to look at next.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from scenarios.scenario import Scenario
from validation.judging.comparison import as_baseline
from validation.judging.judge import judge
from validation.judging.verdict import Verdict
from validation.records.case import Result
from validation.report.sentences import reason_of
from validation.running.options import LOCAL, RunError
from validation.store import Baseline, open_store

Answer = Literal["good", "bad", "skip"]
FIRST_BAD = " is the first bad commit"
Notify = Callable[[str], None]
OURS = [sys.executable, "-P", "-c", "from validation.cli import main; main()", "run"]
TIME_LIMIT = 3600.0  # s for one command at one commit


class BisectError(RunError):
    """No such commit, or two that nothing can be found between; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    first_bad: str | None  # None: those that could not be looked at leave several
    suspects: tuple[str, ...]  # the first bad one, or all that may be it


class Repository:
    """A git repository that is only read, but for worktrees that are taken away again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if self.ask("rev-parse", "--git-dir") is None:
            raise BisectError(f"--repo: {folder} is in no git repository")

    def git(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        command = ["git", *words]
        try:
            return subprocess.run(
                command,
                cwd=folder or self.folder,
                env=environment | {"LC_ALL": "C"},
                capture_output=True,
                text=True,
            )
        except OSError as error:
            raise BisectError(f"git cannot be run in {folder or self.folder} ({error.strerror})") from None

    def ask(self, *words: str) -> str | None:
        done = self.git(*words)
        return done.stdout.strip() if done.returncode == 0 else None

    def commit(self, word: str) -> str:
        """Of a branch, tag or commit, in full."""
        found = None if word.startswith("-") else self.ask("rev-parse", "--verify", "--quiet", f"{word}^{{commit}}")
        if not found:
            raise BisectError(f"{word!r} is neither a stored run nor a commit of {self.folder}")
        return found

    def describe(self, commit: str) -> str:
        """a1b2c3d4 The solver sweeps once (R., 2026-11-03)"""
        return self.ask("show", "-s", "--format=%h %s (%an, %as)", "--abbrev=8", commit) or commit

    @contextmanager
    def worktree(self, commit: str, folder: Path, *, empty: bool = False) -> Iterator[Path]:
        """The commit checked out in a folder; `empty`: without its files."""
        words = ["worktree", "add", "--detach", *(["--no-checkout"] if empty else []), str(folder), commit]
        done = self.git(*words)
        if done.returncode != 0:
            raise BisectError(f"{commit[:8]}: git worktree add fails ({_last(done.stderr)})")
        try:
            yield folder
        finally:
            self.git("worktree", "remove", "--force", str(folder))
            shutil.rmtree(folder, ignore_errors=True)
            self.git("worktree", "prune")


def first_bad(repository: Repository, good: str, bad: str, probe: Callable[[str], Answer]) -> Found:
    """The first commit that is bad, of those between. `probe` gets commits in full; `good` and `bad` are not asked.

    Raises BisectError where `good` is no ancestor of `bad`.
    """
    if good == bad or repository.git("merge-base", "--is-ancestor", good, bad).returncode != 0:
        raise BisectError(f"{good[:8]} is no ancestor of {bad[:8]}; give the good commit first")
    with (
        tempfile.TemporaryDirectory() as scratch,
        repository.worktree(bad, Path(scratch) / "state", empty=True) as state,
    ):

        def notify(*words: str) -> str:
            done = repository.git("bisect", *words, folder=state)
            if done.returncode not in (0, 2):  # 2: only skipped ones are left
                raise BisectError(f"git bisect {words[0]} fails ({_last(done.stderr or done.stdout)})")
            return done.stdout

        output = notify("start", "--no-checkout", bad, good)
        while True:
            if FIRST_BAD in output:
                line = next(line for line in output.splitlines() if FIRST_BAD in line)
                return Found(first_bad=line.split()[0], suspects=(line.split()[0],))
            if "only 'skip'ped commits left" in output:
                left = output.partition("first bad commit could be any of:\n")[2].splitlines()
                return Found(first_bad=None, suspects=tuple(filter(re.compile("[0-9a-f]{40,}").fullmatch, left)))
            candidate = repository.git("rev-parse", "BISECT_HEAD", folder=state).stdout.strip()
            output = notify(probe(candidate))


def run_command(command: str | Sequence[str], folder: Path) -> str | None:
    """A user's command (a text, by the shell) in a worktree, which is $UPRIGHT_TREE too; None where it succeeds, else
    why not, in one line."""
    try:
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=folder,
            env=os.environ | {"UPRIGHT_TREE": str(folder), "UPRIGHT_EXECUTOR": LOCAL},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT,
        )
    except OSError as error:
        return str(error.strerror)
    except subprocess.TimeoutExpired:
        return f"took more than {TIME_LIMIT:g} s"
    return None if done.returncode == 0 else f"exit status {done.returncode}: {_last(done.stderr or done.stdout)}"


def answer_of(verdict: Verdict, bad: Verdict) -> Answer:
    """Whether a commit has what the bad one has, both judged against the good one: the same that broke, or the metric
    that the bad one is worse by. A commit that broke otherwise says nothing."""
    if bad.word == "broken":
        return "bad" if verdict.word == "broken" else "good"
    if verdict.word in ("broken", "missing", "declined", "not compared"):
        return "skip"
    return "bad" if verdict.worse and worse_by(bad) & worse_by(verdict) else "good"


def worse_by(verdict: Verdict) -> set[str]:
    """Metrics that regressed, or break a law that they kept; and what happened that is wrong."""
    changes = {change.metric for change in verdict.changes if change.move == "regressed" and change.counts}
    changes |= {one.kind for one in verdict.grounds.now if one.right is False}
    return changes | {defect.metric for defect in verdict.defects if not defect.standing}


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return " ".join(lines[-1].split()) if lines else "it says nothing"


# --- at a commit: check it out, build it, run the case there, judge it against the good one --------------------------


@dataclass(slots=True, kw_only=True)
class Probe:
    """One case at any commit, judged against the good commit's result."""

    repository: Repository
    scenario: Scenario
    word: str  # the scenario's, as a run in a worktree takes it
    engine: str
    options: tuple[str, ...]  # of `upright run`
    build: str
    run: str  # "": this Upright
    scratch: Path
    notify: Notify
    bad: Verdict | None = None
    baseline: Baseline | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # by commit

    def result(self, commit: str) -> Result | str:
        """Of the case at a commit; or why there is none."""
        database = self.scratch / f"{commit}.db"
        with self.repository.worktree(commit, self.scratch / commit) as folder:
            if self.build and (why := run_command(self.build, folder)):
                return f"cannot be built ({why})"
            words = [self.word, "--engine", self.engine, *self.options, "--db", str(database)]
            command = f"{self.run} {shlex.join(words)}" if self.run else [*OURS, *words]
            if why := run_command(command, folder):
                return f"cannot be run ({why})"
        with open_store(database) as store:
            number = store.latest_run()
            found = store.results(number) if number else []
        if len(found) != 1:
            return f"{len(found)} results of {self.word} on {self.engine}; one is needed"
        return found[0]

    def judged(self, commit: str) -> Verdict | str:
        found = self.result(commit)
        if isinstance(found, str):
            return found
        self.verdicts[commit] = judge(self.baseline, found, self.scenario)
        return self.verdicts[commit]

    def __call__(self, commit: str) -> Answer:
        found = self.judged(commit)
        if isinstance(found, str):
            self.notify(f"skip  {self.repository.describe(commit)}: {found}")
            return "skip"
        assert self.bad is not None
        answer = answer_of(found, self.bad)
        self.notify(f"{answer:5} {self.repository.describe(commit)}: {found.word}, {reason_of(found)}")
        return answer


def search(probe: Probe, good: str, bad: str, metric: str = "") -> Found:
    """Both ends first: the bad one has to be worse than the good one, by `metric` where one is named.

    Raises BisectError.
    """
    found = probe.result(good)
    if isinstance(found, str):
        raise BisectError(f"the good commit {good[:8]}: {found}")
    probe.baseline = as_baseline(found)
    verdict = probe.judged(bad)
    if isinstance(verdict, str):
        raise BisectError(f"the bad commit {bad[:8]}: {verdict}")
    probe.notify(f"good  {probe.repository.describe(good)}")
    probe.notify(f"bad   {probe.repository.describe(bad)}: {verdict.word}, {reason_of(verdict)}")
    if not verdict.worse:
        same = reason_of(verdict) == "bit-identical"
        hint = "; is it the worktree's engine that ran, not an installed one? see --build and --run" if same else ""
        raise BisectError(f"{bad[:8]} is not worse than {good[:8]}: {verdict.word}, {reason_of(verdict)}{hint}")
    metric = metric.replace(" ", "_")
    if metric and metric not in worse_by(verdict):
        known = ", ".join(sorted(worse_by(verdict))) or "none, it broke"
        raise BisectError(f"--metric: {bad[:8]} is not worse by {metric!r} (it is by: {known})")
    probe.bad = verdict if not metric else _by(verdict, metric)
    return first_bad(probe.repository, good, bad, probe)


def _by(verdict: Verdict, metric: str) -> Verdict:
    return replace(
        verdict,
        changes=tuple(change for change in verdict.changes if change.metric == metric),
        defects=tuple(defect for defect in verdict.defects if defect.metric == metric),
    )
