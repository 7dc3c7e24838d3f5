"""Finds of fuzzing in a job's reports: what is new fails, what is known is quiet, what is fixed is shown."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from scenarios.scene import Disc, PlanarBody, PlanarScene
from tests.validation.report.made import HOSTILE, every_kind, pair, stored
from validation.records.stored import StoredFind
from validation.report.finds import FindState, JobFind, JobFinds, job_lines
from validation.report.job import find_annotations
from validation.report.junit import junit_xml
from validation.report.markdown import markdown_summary

SCENE = PlanarScene(duration=0.5, bodies=(PlanarBody(name="ball", shape=Disc(radius=0.5), mass=1.0),))
PAIRS = [pair(stored(), stored())]


def found(
    number: int, state: FindState, line: str = "", *, law: str = "went through", now: str = "", engine: str = "pymunk"
) -> JobFind:
    known = {"known": "its margin", "link": "#31"} if state == "known" else {}
    find = StoredFind(
        number=number, when=datetime.now(UTC), engine=engine, engine_version="7", profile="fair", seed=1, dt=0.01,
        oracle=law, message="it went through", scene=SCENE, **known,
    )  # fmt: skip
    line = line or f"find {number}: {engine}: {state}"
    return JobFind(find=find, state=state, line=line, oracle=now, wall_time=0.25)


OF_EACH = JobFinds(
    finds=(found(1, "fails"), found(2, "known"), found(3, "fixed"), found(4, "passes"), found(5, "not simulated"))
)


def test_a_comment_names_what_fails_and_what_is_fixed_and_only_counts_what_is_known() -> None:
    lines = markdown_summary(PAIRS, run=7, finds=OF_EACH, options=" --db ci.db").splitlines()
    assert lines[0] == "**Upright: 1 unchanged; 1 find not known**"
    assert lines[2:] == [
        "**Finds of fuzzing:** 5 simulated again, 1 breaks its law and is not known, 1 known, 1 fixed",
        "",
        "- find 1: pymunk: fails",
        "- **fixed**: find 3: pymunk: fixed",
        "",
        "Reproduce: `upright finds 1 --replay --db ci.db`",
        "Next: fix it, or mark it as known: `upright finds 1 --known REASON --db ci.db`",
    ]


def test_what_is_known_or_passes_leaves_the_comment_one_line() -> None:
    quiet = JobFinds(finds=(found(2, "known"), found(4, "passes"), found(5, "not simulated")))
    assert markdown_summary(PAIRS, run=7, finds=quiet) == "**Upright: 1 unchanged**\n"


def test_five_finds_are_shown_and_the_rest_counted() -> None:
    many = JobFinds(finds=tuple(found(i, "fails", engine=f"e{i}") for i in range(1, 9)))
    text = markdown_summary(PAIRS, run=7, finds=many)
    assert text.count("- find ") == 5 and "- and 3 more: `upright finds`" in text
    assert text.startswith("**Upright: 1 unchanged; 8 finds not known**")


def test_finds_of_one_cause_are_one_line_of_each_report_but_junit_where_each_is_a_test() -> None:
    """Energy gained and blew up are one law. What breaks another law than its own by now is a cause of its own."""
    many = JobFinds(
        finds=(
            found(1, "fails", law="blew up"), found(2, "fails", law="energy gained"), found(3, "fails", law="blew up"),
            found(4, "fails", law="blew up", now="went through"), found(5, "fails", law="left"), found(6, "fixed"),
            found(7, "fixed"),
        )
    )  # fmt: skip
    lines = [
        "find 1: pymunk: fails; also seen: energy gained: disc (find 2); blew up: disc (find 3)",
        "find 4: pymunk: fails",
        "find 5: pymunk: fails",
        "find 6: pymunk: fixed; also seen: went through: disc (find 7)",
    ]
    comment = markdown_summary(PAIRS, run=7, finds=many).splitlines()
    escaped = [line.replace("(", "&#40;").replace(")", "&#41;") for line in lines]
    assert comment[0] == "**Upright: 1 unchanged; 5 finds of 3 causes not known**"
    assert comment[4:8] == [*(f"- {line}" for line in escaped[:3]), f"- **fixed**: {escaped[3]}"]
    assert job_lines(many, "")[:4] == lines
    assert [line.split("::")[-1] for line in find_annotations(many)] == lines
    assert len(ET.fromstring(junit_xml(PAIRS, finds=many))[-1].findall("testcase")) == 7


def test_junit_has_a_suite_of_finds_that_is_red_exactly_where_one_fails() -> None:
    root = ET.fromstring(junit_xml(every_kind(), finds=OF_EACH))
    suite = root[-1]
    kinds = [[child.tag for child in case if child.tag != "system-out"] for case in suite]
    assert suite.attrib["name"] == "upright.finds"
    assert kinds == [["failure"], ["skipped"], [], [], ["skipped"]]
    assert [suite.attrib[name] for name in ("tests", "failures", "skipped", "time")] == ["5", "1", "2", "1.250000"]
    (failure,), (known, _) = suite.iter("failure"), suite.iter("skipped")
    assert (failure.attrib["type"], failure.attrib["message"]) == ("went through", "find 1: pymunk: fails")
    assert known.attrib["message"] == "known (#31): its margin"
    assert suite[0].attrib["name"] == "find 1: went through: disc"
    assert int(root.attrib["tests"]) == len(list(root.iter("testcase")))


def test_the_terminal_and_the_annotations_have_what_fails_and_what_is_fixed() -> None:
    lines = job_lines(OF_EACH, " --db ci.db")
    assert lines[:2] == ["find 1: pymunk: fails", "find 3: pymunk: fixed"]
    assert lines[2].startswith("finds: 5 simulated again, ") and "upright finds 1 --known REASON --db ci.db" in lines[3]
    assert find_annotations(OF_EACH) == [
        "::error title=Upright%3A find 1::find 1: pymunk: fails",
        "::notice title=Upright%3A find 3::find 3: pymunk: fixed",
    ]
    assert job_lines(JobFinds(), "") == [] and job_lines(JobFinds(searched=True), "")[0].startswith("finds: 0 ")


def test_no_message_of_a_find_gets_out_of_its_line_or_document() -> None:
    hostile = JobFinds(finds=(found(1, "fails", f"{HOSTILE}\n::error::x</details>|"),))
    assert ET.fromstring(junit_xml(PAIRS, finds=hostile)).find(".//failure") is not None
    text = markdown_summary(PAIRS, run=7, finds=hostile)
    assert "</details>" not in text and "<b>" not in text
    (line,) = find_annotations(hostile)
    assert line.splitlines() == [line]
