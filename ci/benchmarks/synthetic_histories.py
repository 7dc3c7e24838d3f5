"""What the judge finds in histories whose faults are known: 1,000 metrics over 2,000 runs.

    python -P ci/benchmarks/synthetic_histories.py

Noise is 3 %. At each of the faulty commits some metrics step by 5 % up or down; some drift by 10 % over 200 commits; 50
are quiet, a quarter of them each with normal noise, lognormal noise, Student's t with 3 degrees of freedom, and normal
noise with one value in a hundred doubled. All are looked at after every commit, as `check` does. A step counts as
detected when a step is seen that is placed within 15 commits of it; its position is that after 30 commits. False alarms
are counted on the quiet histories, and on the others before their first fault.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Array

from validation.judging.evidence.change_points import Floor, course, newest_step, split_evidence
from validation.judging.policy import EVIDENCE, WINDOW

RUNS, METRICS, QUIET, DRIFTING = 2000, 1000, 50, 50
NOISE, STEP, DRIFT, SLOWLY = 0.03, 0.05, 0.10, 200
FAULTS = 8  # commits that are at fault
SPARED = 0.8  # of the metrics, by each of them
DETECTED_WITHIN, PLACED_AFTER, PLACED_WITHIN = 15, 30, 3  # commits
TARGETS = {"detected": 0.90, "placed": 0.85, "drift": 0.90}
FLOOR = Floor(absolute=1e-9)
PROJECT = 100 * 2000  # values a year: a hundred noisy metrics at 2,000 commits


@dataclass
class History:
    values: Array  # (RUNS,)
    faults: list[int] = field(default_factory=list)
    drifts_from: int | None = None
    start: int = 0  # of the level, as seen so far
    alarms: list[tuple[int, int]] = field(default_factory=list)  # run at which, and where the step is

    @property
    def quiet_until(self) -> int:
        return min([*self.faults, RUNS if self.drifts_from is None else self.drifts_from])


def histories(random: np.random.Generator) -> list[History]:
    commits = np.sort(random.choice(np.arange(WINDOW, RUNS - 50, 150), FAULTS, replace=False)) + random.integers(60)
    made = []
    for i in range(METRICS):
        history = History(1.0 + NOISE * random.standard_normal(RUNS))
        if i < QUIET:
            history.values = quiet(random, i % 4)
        elif i < QUIET + DRIFTING:
            history.drifts_from = int(random.integers(WINDOW, RUNS - SLOWLY - 1))
            ramp = np.clip((np.arange(RUNS) - history.drifts_from) / SLOWLY, 0.0, 1.0)
            history.values *= 1.0 + DRIFT * ramp
        else:
            history.faults = [int(commit) for commit in commits if random.random() > SPARED]
            for commit in history.faults:
                history.values[commit:] *= 1.0 + STEP * random.choice((-1.0, 1.0))
        made.append(history)
    return made


def quiet(random: np.random.Generator, kind: int) -> Array:
    normal = random.standard_normal(RUNS)
    if kind == 1:
        return np.exp(NOISE * normal)
    if kind == 2:
        return 1.0 + NOISE * random.standard_t(3, RUNS)
    return (1.0 + NOISE * normal) * np.where((kind == 3) & (random.random(RUNS) < 0.01), 2.0, 1.0)


def judge_run(histories: list[History], run: int) -> None:
    """At all of them after this run; those with windows of one length at once, then one by one where it changed."""
    groups: dict[int, list[History]] = {}
    for history in histories:
        groups.setdefault(min(run + 1 - history.start, WINDOW), []).append(history)
    for length, group in groups.items():
        if length < 2:
            continue
        windows = np.stack([history.values[run + 1 - length : run + 1] for history in group])
        changed = np.abs(split_evidence(windows)).max(axis=1) > EVIDENCE
        for history in (h for h, is_new in zip(group, changed) if is_new):
            found = newest_step(history.values[: run + 1], FLOOR, history.start)
            if found is not None:
                history.alarms.append((run, found))
                history.start = found


def detected(history: History, fault: int) -> bool:
    seen = [run for run, found in history.alarms if abs(found - fault) <= DETECTED_WITHIN and run >= fault]
    return bool(seen) and seen[0] < fault + DETECTED_WITHIN


def off(history: History, fault: int) -> int:
    """Commits between the fault and the nearest step found when 30 have passed."""
    shifts = course(history.values[: fault + PLACED_AFTER], FLOOR).shifts
    return min((abs(shift.start - fault) for shift in shifts if not shift.slow), default=RUNS)


def likeliest(history: History, fault: int) -> int:
    """As far off is the step of greatest likelihood, for one who knows the noise and that there is one: the best."""
    window = history.values[fault - 100 : fault + PLACED_AFTER]
    sums = np.cumsum(window - window.mean())[:-1]
    k = np.arange(1, len(window))
    return abs(int(np.argmax(np.abs(sums) / np.sqrt(k * (len(window) - k)))) + 1 - 100)


def main() -> int:
    made = histories(np.random.default_rng(20261121))
    for run in range(RUNS):
        judge_run(made, run)
    faults = [(history, fault) for history in made for fault in history.faults]
    share = {
        "detected": float(np.mean([detected(*fault) for fault in faults])),
        "placed": float(np.mean([off(*fault) <= PLACED_WITHIN for fault in faults])),
    }
    best = float(np.mean([likeliest(*fault) <= PLACED_WITHIN for fault in faults]))
    drifting = [(h, h.drifts_from) for h in made if h.drifts_from is not None]
    share["drift"] = float(
        np.mean([any(begin <= run < begin + SLOWLY for run, _ in h.alarms) for h, begin in drifting])
    )
    described = np.mean(
        [any(s.slow for s in course(h.values[: begin + SLOWLY], FLOOR).shifts) for h, begin in drifting]
    )
    alarms = [sum(run < history.quiet_until for run, _ in history.alarms) for history in made]
    quiet_values = sum(history.quiet_until for history in made)
    in_quiet = sum(alarms[:QUIET])
    rate = sum(alarms) / quiet_values
    rows = (
        (f"step detected within {DETECTED_WITHIN} commits", f"{share['detected']:.1%}", "target 90 %"),
        (f"placed within {PLACED_WITHIN} commits, after {PLACED_AFTER}", f"{share['placed']:.1%}", "target 85 %"),
        ("  by greatest likelihood, noise known", f"{best:.1%}", "the best possible"),
        (f"drift seen before its {SLOWLY} commits end", f"{share['drift']:.1%}", "target 90 %"),
        ("  found to be a drift when they have", f"{described:.1%}", ""),
        (f"false alarms on {QUIET} quiet histories", f"{in_quiet}", f"of {QUIET * RUNS:,} values"),
        ("  on all that is quiet", f"{sum(alarms)}", f"of {quiet_values:,} values"),
    )
    print(f"{METRICS} metrics, {RUNS} runs: {len(faults)} steps of 5 % and {len(drifting)} drifts of 10 % on 3 % noise")
    for what, found, remark in rows:
        print(f"  {what:42} {found:>8}  {remark}")
    short = [name for name, target in TARGETS.items() if share[name] < target]
    figures = ", ".join(f"{name} {share[name]:.1%} (target {target:.0%})" for name, target in TARGETS.items())
    false = f"{rate * PROJECT:.1f} false alarms a year in a project of {PROJECT:,} values a year"
    print(f"{figures}; {false}{'; short: ' + ', '.join(short) if short else ''}")
    return int(bool(short))


if __name__ == "__main__":
    sys.exit(main())
