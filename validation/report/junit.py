"""JUnit XML, which every CI server shows: a suite per engine, a test case per scenario; a suite for finds of fuzzing.

What makes the check fail is a failure (an error where the simulation broke), what the engine declines is skipped, and
the full verdict stands in the case's output. So the file is red exactly when `upright check` exits with 1.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from validation.judging.verdict import Verdict, fails
from validation.records.case import Result
from validation.records.names import engine_name
from validation.records.simulation import BROKEN
from validation.records.text import one_line
from validation.report.finds import NO_FINDS, JobFind, JobFinds, state_of
from validation.report.sentences import describe_change, describe_defect, reason_of

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) does not allow in a document, escaped or not."""

Pair = tuple[Result, Verdict]


def junit_xml(pairs: Sequence[Pair], *, strict: bool = False, finds: JobFinds = NO_FINDS) -> str:
    """`strict` as for `validation.judging.verdict.exit_status`."""
    suites: dict[str, list[tuple[Result, Verdict]]] = {}
    for result, verdict in pairs:
        suites.setdefault(engine_name(verdict.case), []).append((result, verdict))
    root = ET.Element("testsuites", name="upright")
    for name, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", name=_clean(f"upright.{name}"))
        for result, verdict in cases:
            _case(suite, name, result, verdict, strict=strict)
        _count(suite, sum(result.wall_time for result, _ in cases))
    if finds.finds:
        suite = ET.SubElement(root, "testsuite", name="upright.finds")
        for one in finds.finds:
            _find(suite, one)
        _count(suite, sum(one.wall_time for one in finds.finds))
    _count(root, sum(result.wall_time for result, _ in pairs) + sum(one.wall_time for one in finds.finds))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="utf-8"?>\n', "\n")
    )


def _case(suite: ET.Element, engine: str, result: Result, verdict: Verdict, *, strict: bool) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(f"upright.{engine}"),
        name=_clean(verdict.case.label),
        time=f"{result.wall_time:.6f}",
    )
    described = [describe_change(change, verdict.case) for change in verdict.changes]
    described += [describe_defect(defect, verdict.case) for defect in verdict.defects]
    text = "\n".join([f"{verdict.word}: {reason_of(verdict)}", *described])
    if fails(verdict, strict=strict):
        kind = "error" if result.outcome in BROKEN else "failure"
        element = ET.SubElement(case, kind, message=_clean(reason_of(verdict)), type=verdict.word)
        element.text = _clean(text)
    elif verdict.word in ("declined", "missing", "broken", "not compared"):
        ET.SubElement(case, "skipped", message=_clean(f"{verdict.word}: {reason_of(verdict)}"))
    ET.SubElement(case, "system-out").text = _clean(text)


def _find(suite: ET.Element, one: JobFind) -> None:
    """A failure where it fails the job; skipped where it is known, or could not be simulated."""
    find = one.find
    name = _clean(f"find {find.number}: {find.cause}")
    case = ET.SubElement(
        suite, "testcase", classname=_clean(f"upright.finds.{find.engine}"), name=name, time=f"{one.wall_time:.6f}"
    )
    if one.state == "fails":
        ET.SubElement(case, "failure", message=_clean(one.line), type=find.oracle).text = _clean(one.line)
    elif one.state == "known":
        ET.SubElement(case, "skipped", message=_clean(f"{state_of(find)}: {one_line(find.known)}"))
    elif one.state == "not simulated":
        ET.SubElement(case, "skipped", message=_clean(one.line))
    ET.SubElement(case, "system-out").text = _clean(one.line)


def _count(element: ET.Element, seconds: float) -> None:
    for name, path in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(len(list(element.iter(path)))))
    element.set("time", f"{seconds:.6f}")


def _clean(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
