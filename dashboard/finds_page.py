"""What fuzzing found: the list; and one find: what is wrong, its motion, how it is handed over, who knows of it."""

import shlex
from collections import Counter

import streamlit as st

from dashboard import reading, writing
from dashboard.elements import age, go, grid, heading, link_html, paragraph, section, tag_html, text
from scenarios.scene import write_scene
from validation.records.names import with_profile
from validation.records.quantities import counted, time_step
from validation.records.stored import StoredFind
from validation.report.finds import (
    EXPECTATIONS,
    also_line,
    also_name,
    grouped,
    run_command,
    since_of,
    standing_of,
    state_of,
)
from validation.store.errors import DamagedError, StoreError

MOST = 100  # finds in the list
STATES = {
    "new": "its law is broken, and nobody has marked it as known",
    "known": "somebody knows of it: it fails no check",
    "fixed": "its law is broken no more",
}


def show() -> None:
    number = reading.asked_number("find")
    if "find" not in st.query_params:
        overview()
        return
    try:
        find = reading.store().find(number or 0)
    except DamagedError:
        raise
    except StoreError as error:
        heading("No such find")
        paragraph(text(error), "alarm")
        paragraph(go("finds", "← all finds"))
        return
    writing.show_result()
    one(find)


# --- the list -----------------------------------------------------------------------------------------------------


def overview() -> None:
    """A row of each cause, the one with the newest find first; the choice of states is in the address."""
    finds = reading.store().finds()[::-1]
    if not finds:
        heading("Nothing is found yet")
        paragraph("Search with <code>upright fuzz</code>, then reload this page.", "lead")
        return
    counts = Counter(standing_of(find) for find in finds)
    states = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    heading(states, f"<small>finds of fuzzing, {counted(len(grouped(finds)), 'cause')}</small>")
    for line in reading.store().damaged_finds():
        paragraph(text(line, most=600), "alarm")
    causes = grouped(chosen(finds, counts))
    rows = [row(*cause) for cause in causes[:MOST]]
    grid(("find", "engine", "what is wrong", "state", "found", ""), rows, testid="finds")
    if len(causes) > MOST:
        paragraph(f"{len(causes) - MOST} more; <code>upright finds</code> lists them all.", "soft")


def chosen(finds: list[StoredFind], counts: Counter[str]) -> list[StoredFind]:
    offered = [state for state in STATES if counts[state]]
    given = [state for state in st.query_params.get("show", "").split(",") if state in offered]
    asked = st.pills(
        "Show only", offered, selection_mode="multi", default=given, key="states",
        format_func=lambda state: f"{state} {counts[state]}",
    )  # fmt: skip
    if asked:
        st.query_params["show"] = ",".join(state for state in offered if state in asked)
    elif "show" in st.query_params:
        del st.query_params["show"]
    return [find for find in finds if not asked or standing_of(find) in asked]


def row(find: StoredFind, others: list[StoredFind]) -> tuple[str, ...]:
    return (
        str(find.number),
        f"<span class='name'>{text(with_profile(find.engine, find.profile))}</span>"
        f"<small>version {text(find.engine_version)}</small>",
        f"{text(find.cause)}<small>{text(find.message)}</small><small>{also_line(others, linked)}</small>",
        state_cell(find),
        text(f"{age(find.when)} ago"),
        go(reading.link("finds", find=find.number), "Open"),
    )


def linked(find: StoredFind) -> str:
    return go(reading.link("finds", find=find.number), also_name(find))


def state_cell(find: StoredFind) -> str:
    """HTML: the state, and what is known of it."""
    state = standing_of(find)
    more = [text(find.known), link_html(find.link) if find.link else ""] if find.known else []
    more += [text(since_of(find))] if find.since else []
    tag = tag_html(state_of(find) if find.fixed_in else state, STATES[state])
    return tag + "".join(f"<small>{fact}</small>" for fact in more if fact)


# --- one find -----------------------------------------------------------------------------------------------------


def one(find: StoredFind) -> None:
    paragraph(go("finds", "← all finds"))
    heading(f"Find {find.number}: {text(find.oracle)} on {text(with_profile(find.engine, find.profile))}")
    count = len(find.scene.bodies)
    bodies = "1 body" if count == 1 else f"{count} bodies"
    facts = [f"version {find.engine_version}", f"time step {time_step(find.dt)}", bodies, f"seed {find.seed}"]
    facts += [f"found on {find.when:%-d %b %Y}", *([since_of(find)] if find.since else [])]
    paragraph(text(", ".join(facts)), "soft")
    paragraph(state_cell(find))
    paragraph(text(find.message, most=900), "big")
    if others := of_its_cause(find):
        paragraph(also_line(others, linked), "soft")
    if find.oracle in EXPECTATIONS:
        broken, expected = EXPECTATIONS[find.oracle]
        paragraph(f"<b>The law</b> {text(broken, most=600)}")
        paragraph(f"<b>Expected</b> {text(expected, most=600)}")
    motion(find)
    left, right = st.columns([3, 2])
    with left:
        handed_over(find)
    with right:
        decide(find)
        section("Reproduce")
        st.code(commands(find), language="shell", wrap_lines=True)


def of_its_cause(find: StoredFind) -> list[StoredFind]:
    """The other finds of its cause, that with the fewest bodies first."""
    causes = [(first, *others) for first, others in grouped(reading.store().finds())]
    return [one for cause in causes if find in cause for one in cause if one != find]


def motion(find: StoredFind) -> None:
    section("Motion")
    page = reading.player_of_find(find)
    if page:
        st.iframe(page, height="content", alt=f"the motion of find {find.number}")
        return
    why = "its engine handed none over" if find.script or find.lacks else "it was found before motions were stored"
    paragraph(
        f"There is no motion to play: {why}. <code>{text(f'upright finds {find.number} --replay')}</code>", "soft"
    )


def handed_over(find: StoredFind) -> None:
    """Issue, script and scene, to copy."""
    number = find.number
    section("Issue")
    if find.issue:
        st.code(find.issue, language="markdown", wrap_lines=True, height=320)
    else:
        lacking(find, f"upright finds {number} --issue")
    section("Script")
    if find.script:
        paragraph("It needs the engine's package and numpy alone; exit status 1 if the fault is there, else 0.", "soft")
        st.code(find.script, language="python", height=320)
    else:
        lacking(find, f"upright finds {number} --script")
    with st.expander("Scene"):
        st.code(write_scene(find.scene), language="json", height=320)


def lacking(find: StoredFind, command: str) -> None:
    why = f"There is none: {text(find.lacks, most=600)}" if find.lacks else "Nobody has asked for it yet."
    paragraph(f"{why} <code>{text(command)}</code> tries again.", "soft")


def commands(find: StoredFind) -> str:
    """For a shell."""
    number, db_option = find.number, writing.database_option()
    return (
        f"upright finds {number} --replay{db_option}\n"
        f"upright finds {number} --scene{db_option} > find{number}.json\n"
        f"{run_command(find)}\n"
        f"upright finds {number} --since{db_option}"
    )


def decide(find: StoredFind) -> None:
    """Known or not: a form, or the command that does the same."""
    section("Decide")
    if not writing.may_decide():
        writing.cannot()
        mark = "--not-known" if find.known else f"--known {shlex.quote('...')} --link {shlex.quote('#...')}"
        st.code(f"upright finds {find.number} {mark}{writing.database_option()}", language="shell", wrap_lines=True)
        return
    if find.known:
        by = f", by {text(find.known_by)}" if find.known_by else ""
        paragraph(f"It is known{by}: {text(find.known, most=600)}")
        if st.button("Not known", key="not-known"):
            writing.mark_find(find, known="")
        return
    with st.form(f"known-{find.number}", border=False):
        paragraph("What is known fails no check; that it is fixed is reported all the same.", "soft")
        reason = st.text_input("Reason", key="reason", placeholder="for whoever asks later")
        link = st.text_input("Issue", key="link", placeholder="#31, or its address")
        sent = st.form_submit_button("Known", type="primary")
    if sent:
        writing.mark_find(find, known=reason, link=link)
