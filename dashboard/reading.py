"""What the pages read, cached: a page that is looked at again asks the database only if something was added."""

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dashboard.elements import go, heading, option, paragraph, text
from validation.judging.verdict import Verdict
from validation.metrics.observation import MismatchError
from validation.records.case import Case, Result
from validation.records.stored import Point, StoredFind
from validation.report import effect
from validation.report.effect import Effect
from validation.report.motion_files import absent_motions, track_of, tracks_of
from validation.report.player import Theme, motion_html
from validation.report.sentences import worst_meaning
from validation.review.groups import NOTABLE, Group, Member, waived
from validation.review.lineage import main_branches
from validation.store import Baseline, Store, StoredRun, open_store
from validation.store.errors import DamagedError, StoreError
from validation.store.overview import BranchState, RunCounts

RECENT = 100  # runs to choose from
FRESH = 60  # s for which what depends on the clock is kept


def database() -> str:
    return os.environ.get("UPRIGHT_DB", "upright.db")


@st.cache_resource
def _store(where: str) -> Store:
    return open_store(where)


def store() -> Store:
    return _store(database())


# --- runs ---------------------------------------------------------------------------------------------------------


def runs(branch: str | None = None) -> list[StoredRun]:
    """Newest first, of a branch or of all; those with at least one case done."""
    return [run for run in store().runs(limit=RECENT, branch=branch) if run.done]


def run(number: int) -> StoredRun | None:
    """None where this database has no such run."""
    try:
        return store().run(number)
    except DamagedError:
        raise
    except StoreError:
        return None


def asked_number(name: str) -> int | None:
    """A number of the link."""
    given = st.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 16 else None


def gone(*names: str) -> str:
    """What the link asks for and this database does not have, in words; "" where it has it all. `names` are of runs."""
    for name in names:
        given = st.query_params.get(name)
        if given is not None:
            number = asked_number(name)
            if number is None or run(number) is None:
                return f"run {given}"
    branch = st.query_params.get("branch")
    if branch is not None and branch not in store().branches():
        return f"branch {branch}"
    return ""


def chosen_run() -> StoredRun | None:
    """Of the link's run or branch, or else of the main branch the latest finished one. Ends the page with a word where
    the link's is gone: no other takes its place."""
    stop_if_gone("run")
    asked = asked_number("run")
    of_link = run(asked) if asked is not None else None
    known = store().branches()
    if len(known) < 2:
        return run_of(None, label="Run", key="run")
    left, right = st.columns([1, 2])
    with left:
        branch = chosen_branch(known, of_link.branch if of_link else st.query_params.get("branch"))
    with right:
        return run_of(branch, label="Run", key="run")


def stop_if_gone(*names: str) -> None:
    if missing := gone(*names):
        heading("This link leads to nothing here")
        paragraph(f"{text(store().name)} has no {text(missing)}: it was deleted, or the link is of another database.")
        paragraph(go("./", "To the inbox"))
        st.stop()


def chosen_branch(known: list[str], asked: str | None) -> str:
    """The one asked for, or else the main one, or the one with the newest run."""
    default = store().runs(limit=1)[0].info.default_branch
    main = next((branch for branch in main_branches(default) if branch in known), known[0])
    start = known.index(asked if asked in known else main)
    branch: str = st.selectbox("Branch", known, index=start, format_func=branch_title, key="choose-branch")
    if branch != main or "branch" in st.query_params:
        st.query_params["branch"] = branch
    return branch


def run_of(branch: str | None, *, label: str, key: str, latest: int = 0) -> StoredRun | None:
    """That of the link, or else the latest finished one (or the nth before it); the link follows the choice, so that
    it can be passed on."""
    known = {run.number: run for run in runs(branch)}
    asked = asked_number(key)
    older = run(asked) if asked is not None and asked not in known else None
    if older and branch in (None, older.branch):
        known[older.number] = older
    if not known:
        return None
    finished = [number for number, run in known.items() if run.finished] or list(known)
    usual = finished[min(latest, len(finished) - 1)]
    start = list(known).index(asked if asked in known else usual)
    # Numbers, not runs: a run that grows stays the one that was chosen.
    chosen: int = st.selectbox(
        label, list(known), index=start, format_func=lambda n: run_title(known[n]), key=f"choose-{key}-{branch}"
    )
    if asked is not None or chosen != usual:
        st.query_params[key] = str(chosen)
    return known[chosen]


def branch_title(branch: str) -> str:
    return option(branch) or "outside a repository"


def run_title(run: StoredRun) -> str:
    info = run.info
    commit = f", {info.commit[:8]}{' and local changes' if info.dirty else ''}" if info.commit else ""
    branch = f" on {info.branch[:40]}" if info.branch else ""
    state = "" if run.finished else f", {run.done} of {run.planned} cases"
    return option(f"run {run.number}, {info.started:%Y-%m-%d %H:%M} UTC{commit}{branch}{state}")


def results(run: StoredRun) -> list[Result]:
    """Of a run; one that goes on is read again as it grows."""
    return _results(database(), run.number, run.done)


@st.cache_data(show_spinner=False, max_entries=20)
def _results(where: str, run: int, done: int) -> list[Result]:
    return _store(where).results(run)


def planned(run: StoredRun) -> list[Case]:
    """The cases of a run, done or not."""
    return _planned(database(), run.number)


@st.cache_data(show_spinner=False, max_entries=20)
def _planned(where: str, run: int) -> list[Case]:
    return _store(where).cases(run)


def verdicts(run: StoredRun) -> dict[str, Verdict]:
    """By case key; with their marks, as a check has them."""
    described = store().verdicts(run.number)
    quiet = not any(verdict.word in NOTABLE for verdict in described)
    return {
        verdict.case_key: verdict for verdict in (described if quiet else waived(described, groups(run), run.number))
    }


@st.cache_data(show_spinner=False, max_entries=20, ttl=FRESH)
def _run_counts(where: str, numbers: tuple[int, ...], done: int) -> dict[int, RunCounts]:
    return _store(where).run_counts(numbers)


def run_counts(known: Sequence[StoredRun]) -> dict[int, RunCounts]:
    return _run_counts(database(), tuple(run.number for run in known), sum(run.done for run in known))


def result(number: int) -> Result:
    """Of a case that is done; what is done stays as it is. Raises StoreError."""
    return _result(database(), number)


@st.cache_data(show_spinner=False, max_entries=500)
def _result(where: str, number: int) -> Result:
    return _store(where).result(number)


def state(run: StoredRun) -> BranchState:
    """Of its branch, as it stands at the run."""
    return _state(database(), run.number, run.done)


@st.cache_data(show_spinner=False, max_entries=20)
def _state(where: str, run: int, done: int) -> BranchState:
    return _store(where).state(run)


# --- groups -------------------------------------------------------------------------------------------------------


def groups(run: StoredRun) -> list[Group]:
    """As seen from a run; read again when the ledger or the run grows, and once a minute, for quarantines end."""
    return _groups(database(), run.number, run.done, last_entry())


@st.cache_data(show_spinner=False, max_entries=20, ttl=FRESH)
def _groups(where: str, run: int, done: int, entry: int) -> list[Group]:
    return _store(where).groups(run)


def last_entry() -> int:
    newest = store().entries(limit=1)
    return newest[0].number if newest else 0


@st.cache_data(show_spinner=False, max_entries=500)
def _baseline(where: str, number: int) -> Baseline | None:
    return _store(where).baselines_numbered([number]).get(number)


def baseline(number: int | None) -> Baseline | None:
    """What a verdict was compared with."""
    return None if number is None else _baseline(database(), number)


def branches_of(run: StoredRun) -> tuple[str, ...]:
    """Of which the history of a case in this run is: its own and the default one."""
    return tuple(dict.fromkeys((run.branch, *main_branches(run.info.default_branch))))


def history(case: Case, metric: str, run: StoredRun, limit: int, *, later: int = 0) -> list[Point]:
    """Of the case with its overrides, on the run's branch and the main ones, oldest first: at most so many up to the
    run, and so many behind it."""
    branches = branches_of(run)
    # What is behind a run grows as long as runs come.
    grown = last_run() if later else run.done
    return _history(database(), case.identity.key, metric, limit, case.engine_label, branches, run.number, later, grown)


@st.cache_data(show_spinner=False, max_entries=500)
def _history(
    where: str,
    identity: str,
    metric: str,
    limit: int,
    engine: str,
    branches: tuple[str, ...],
    up_to: int,
    later: int,
    grown: tuple[int, int] | int,
) -> list[Point]:
    return _store(where).history(
        identity, metric, limit, engine_label=engine, branches=branches, up_to=up_to, later=later
    )


def last_run() -> tuple[int, int]:
    """Number and cases done of the newest run."""
    newest = store().runs(limit=1)
    return (newest[0].number, newest[0].done) if newest else (0, 0)


def effect_of(member: Member) -> Effect | None:
    """What the judge found of a case of a group; None where no metric moved, and no law is broken."""
    return effect.effect_of(member.verdict, result(member.number), baseline(member.verdict.baseline))


def meaning_of(member: Member) -> str:
    """What it means for the bodies; "" where nothing moved."""
    found = effect_of(member)
    return found.means if found else worst_meaning(member.verdict)


# --- motion -------------------------------------------------------------------------------------------------------


def player(tracks: Sequence[tuple[str, Result]], title: str, *, ghost: bool = False, bare: bool = False) -> str:
    """A page that plays the motions of these results, under these names, and says of which there is none; "" where none
    of them is stored."""
    keys = tuple((label, result.number) for label, result in tracks)
    kind = getattr(st.context.theme, "type", None)
    theme: Theme = kind if kind in ("light", "dark") else ""
    return (
        _player(database(), keys, title, ghost, bare, theme)
        if any(result.trajectory_key for _, result in tracks)
        else ""
    )


@st.cache_data(show_spinner="measuring the motion", max_entries=30)
def _player(where: str, tracks: tuple[tuple[str, int], ...], title: str, ghost: bool, bare: bool, theme: Theme) -> str:
    store = _store(where)
    try:
        named = [(label, store.result(number)) for label, number in tracks]
        scene, found = tracks_of(store, named, notes=False)
    except DamagedError:
        raise
    except StoreError:  # of a database that was made by hand
        return ""
    absent = absent_motions(named)
    return motion_html(scene, found, title, ghost=ghost, bare=bare, theme=theme, absent=absent) if found else ""


def player_of_find(find: StoredFind) -> str:
    """A page that plays what a find did; "" where no motion of it is stored."""
    kind = getattr(st.context.theme, "type", None)
    theme: Theme = kind if kind in ("light", "dark") else ""
    return _player_of_find(database(), find.number, find.trajectory_key, theme) if find.trajectory_key else ""


@st.cache_data(show_spinner="measuring the motion", max_entries=30)
def _player_of_find(where: str, number: int, key: str, theme: Theme) -> str:
    store = _store(where)
    find = store.find(number)
    try:
        motion = store.trajectory(key)
        if motion is None:
            return ""
        track = track_of(find.scene, motion, find.engine, find.profile)
    except DamagedError:
        raise
    except (StoreError, MismatchError):  # of a database that was made by hand
        return ""
    return motion_html(find.scene, [track], f"Find {number}: {find.oracle}", theme=theme)


def absence(tracks: Sequence[tuple[str, Result]]) -> str:
    """Why `player` has nothing to play of these results, in words."""

    def why(result: Result) -> str:
        if result.trajectory_key:
            return "the scene of its motion is not stored"
        if result.outcome == "completed":
            return "completed; its motion was removed since, as those of old runs are, and its numbers stay"
        return f"{result.outcome.replace('_', ' ')}, so its engine handed no motion over"

    return f"There is no motion to play ({'; '.join(f'{label}: {why(result)}' for label, result in tracks)})."


# --- links --------------------------------------------------------------------------------------------------------


def link(page: str, **parameters: Any) -> str:
    """A deep link; what is None is left out."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{page}?{urlencode(given)}" if given else page
