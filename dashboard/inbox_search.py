"""Search and order of all that the Inbox lists: groups, new cases, standing defects. Both are in the address."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from dashboard.elements import state_name
from validation.judging.verdict import Verdict
from validation.records.names import engine_token, metric_name, metric_name_in
from validation.review.groups import Group, RunRef
from validation.store.overview import NewCase

GRAVEST = "gravest"
ORDERS = (GRAVEST, "newest", "most cases", "scenario")
NEW, STANDING = "new", "standing defect"
T = TypeVar("T", Group, NewCase, Verdict)


@dataclass(frozen=True, slots=True)
class Search:
    words: tuple[str, ...]  # in lower case; all of them have to occur
    order: str  # of ORDERS

    def of(self, entries: Sequence[T], described: Callable[[T], str]) -> list[T]:
        """Those that are found, in order."""
        found = [one for one in entries if self._finds(described(one))]
        if self.order == "newest":
            return sorted(found, key=_age)
        if self.order == "most cases":
            return sorted(found, key=lambda one: -len(one.members) if isinstance(one, Group) else -1)
        return sorted(found, key=_label) if self.order == "scenario" else found

    def _finds(self, described: str) -> bool:
        lower = described.lower()
        return all(word in lower for word in self.words)


def asked() -> Search:
    """What the address or the reader asks for."""
    typed = st.text_input(
        "Find", st.query_params.get("find", ""), key="find", placeholder="scenario, engine, metric, commit"
    )
    remember("find", typed.strip())
    given = st.query_params.get("sort", GRAVEST)
    order = st.segmented_control("Sort", ORDERS, default=given if given in ORDERS else GRAVEST, key="sort") or GRAVEST
    remember("sort", order if order != GRAVEST else "")
    return Search(tuple(typed.lower().split()), order)


def remember(name: str, value: str) -> None:
    """In the address; not there where nothing is chosen."""
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


# --- by what it is found ------------------------------------------------------------------------------------------


def of_group(group: Group) -> str:
    """Kind, state, first commit; cases, engines and metrics of all members."""
    found_by = [group.kind, state_name(group.state), str(group.since)]
    for member in group.members:
        verdict = member.verdict
        found_by += [verdict.case.label, engine_token(verdict.case)]
        metrics = [change.metric for change in verdict.changes] + [defect.metric for defect in verdict.defects]
        found_by += [metric_name(metric, verdict.case) for metric in metrics]
    return " ".join(found_by)


def of_new(case: NewCase) -> str:
    """Case, engine, headline metric, commit."""
    where = RunRef(run=case.run, commit=case.commit, dirty=False, when=case.started)
    metric = metric_name_in(case.scenario, case.parameters, case.headline)
    return f"{NEW} {case.label} {case.engine} {metric} {where}"


def of_defect(verdict: Verdict) -> str:
    """Case, engine, metrics whose limits are broken, and what happened that is wrong."""
    metrics = [metric_name(defect.metric, verdict.case) for defect in verdict.standing]
    happened = [one.kind for one in verdict.grounds.wrong]
    return " ".join([STANDING, verdict.case.label, engine_token(verdict.case), *metrics, *happened])


def _age(one: Group | NewCase | Verdict) -> float:
    """What sorts the newest first. Standing defects are all of the run that is shown."""
    if isinstance(one, Group):
        return -one.since.when.timestamp()
    return -one.started.timestamp() if isinstance(one, NewCase) else 0.0


def _label(one: Group | NewCase | Verdict) -> str:
    if isinstance(one, Group):
        return one.worst.verdict.case.label
    return one.label if isinstance(one, NewCase) else one.case.label
