"""What `upright bisect` does at a commit: check it out, build it, run the case there, judge it against the good one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from scenarios.scenario import Scenario
from validation.judging.judge import judge
from validation.judging.verdict import Verdict
from validation.store import Baseline, StoredResult, open_store
from validation.tools.bisect import Answer, BisectError, Found, Repository, answer_of, first_bad, run_command, worse_by

Tell = Callable[[str], None]
OURS = [sys.executable, "-P", "-c", "from validation.cli import main; main()", "run"]


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
    tell: Tell
    bad: Verdict | None = None
    baseline: Baseline | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # by commit

    def result(self, commit: str) -> StoredResult | str:
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
        self.verdicts[commit] = judge(self.baseline, found, self.scenario.laws)
        return self.verdicts[commit]

    def __call__(self, commit: str) -> Answer:
        found = self.judged(commit)
        if isinstance(found, str):
            self.tell(f"skip  {self.repository.told(commit)}: {found}")
            return "skip"
        assert self.bad is not None
        answer = answer_of(found, self.bad)
        self.tell(f"{answer:5} {self.repository.told(commit)}: {found.word}, {found.reason}")
        return answer


def search(probe: Probe, good: str, bad: str, metric: str = "") -> Found:
    """Both ends first: the bad one has to be worse than the good one, by `metric` where one is named.

    Raises BisectError.
    """
    found = probe.result(good)
    if isinstance(found, str):
        raise BisectError(f"the good commit {good[:8]}: {found}")
    probe.baseline = Baseline(
        number=0, result=found, branch="", who="", when=datetime.now(UTC), reason="bisect", scope="bisect"
    )
    verdict = probe.judged(bad)
    if isinstance(verdict, str):
        raise BisectError(f"the bad commit {bad[:8]}: {verdict}")
    probe.tell(f"good  {probe.repository.told(good)}")
    probe.tell(f"bad   {probe.repository.told(bad)}: {verdict.word}, {verdict.reason}")
    if not verdict.worse:
        same = verdict.reason == "bit-identical"
        hint = "; is it the worktree's engine that ran, not an installed one? see --build and --run" if same else ""
        raise BisectError(f"{bad[:8]} is not worse than {good[:8]}: {verdict.word}, {verdict.reason}{hint}")
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
