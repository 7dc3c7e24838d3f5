"""What the pages read, cached: a page that is looked at again asks the database only if a run was added."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from validation.case import Case
from validation.store import Store, StoredResult, StoredRun, open_store
from validation.store.errors import StoreError
from validation.verdict import Verdict


def database() -> str:
    return os.environ.get("UPRIGHT_DB", "upright.db")


@st.cache_resource
def _store(where: str) -> Store:
    return open_store(where)


def store() -> Store:
    return _store(database())


def runs() -> list[StoredRun]:
    """Newest first; those with at least one case done."""
    return [run for run in store().runs(limit=200) if run.done]


def run(number: int) -> StoredRun | None:
    """None where this database has no such run."""
    try:
        return store().run(number)
    except StoreError:
        return None


def results(run: StoredRun) -> list[StoredResult]:
    """Of a run; one that goes on is read again as it grows."""
    return _results(database(), run.number, run.done)


@st.cache_data(show_spinner=False, max_entries=20)
def _results(where: str, run: int, done: int) -> list[StoredResult]:
    return _store(where).results(run)


def planned(run: StoredRun) -> list[Case]:
    """The cases of a run, done or not."""
    return _planned(database(), run.number)


@st.cache_data(show_spinner=False, max_entries=20)
def _planned(where: str, run: int) -> list[Case]:
    return _store(where).cases(run)


def verdicts(run: StoredRun) -> dict[str, Verdict]:
    """By case key."""
    return {verdict.case_key: verdict for verdict in store().verdicts(run.number)}


def run_title(run: StoredRun) -> str:
    info = run.info
    commit = f", {info.commit[:8]}{' and local changes' if info.dirty else ''}" if info.commit else ""
    state = "" if run.finished else f", {run.done} of {run.planned} cases"
    return f"run {run.number}, {info.started:%Y-%m-%d %H:%M} UTC{commit}{state}"


def link(page: str, **parameters: Any) -> str:
    """The query of a deep link."""
    return "?" + urlencode({"page": page, **parameters})
