"""What other programs read: each file is parsed as its reader would parse it."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.validation.report.made import HOSTILE, baseline, broken, every_kind, pair, stored
from tests.validation.store.made import case, failed, info, measurement, result
from validation.judging.judge import exit_status
from validation.records.case import Result
from validation.report.export import COLUMNS, export_results
from validation.report.jsonl import case_line
from validation.report.junit import junit_xml
from validation.report.markdown import code, markdown_summary
from validation.store import open_store

# --- JSON lines ---------------------------------------------------------------------------------------------------

KEYS = [
    *("format", "run", "case", "scenario", "parameters", "engine", "engine_version", "profile", "dt", "settings"),
    *("outcome", "reason", "happened", "metrics", "trajectory_hash", "taken_from"),
    *("verdict", "worse", "changes", "divergence"),
]


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def test_a_json_line_is_the_contract() -> None:
    of = case(parameters={"n": 3, "start": "drop"}, overrides="iterations=2", settings={"iterations": 2})
    result, verdict = pair(stored(of, 4e-4), stored(of, 4e-4))
    text = case_line(7, result, verdict)
    line = json.loads(text, parse_constant=no_constant)
    assert "\n" not in text and list(line) == KEYS
    assert line == {
        "format": 2,
        "run": 7,
        "case": result.key,
        "scenario": "stack",
        "parameters": {"n": 3, "start": "drop"},
        "engine": "pymunk",
        "engine_version": "7.3.1",
        "profile": "fair",
        "dt": 1 / 240,
        "settings": {"iterations": 2},
        "outcome": "completed",
        "reason": "bit-identical",
        "happened": None,
        "metrics": {"penetration_mean": {"value": 4e-4, "unit": "m"}},
        "trajectory_hash": "0.0004",
        "taken_from": None,
        "verdict": "pass",
        "worse": False,
        "changes": [],
        "divergence": None,
    }


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null(value: float) -> None:
    line = json.loads(case_line(1, stored(value=value)), parse_constant=no_constant)
    assert line["metrics"]["penetration_mean"] == {"value": None, "unit": "m"}
    assert line["verdict"] is None


def test_a_metric_has_its_resolution_where_there_is_one() -> None:
    result = stored(measurements=(measurement(), measurement("truth_error_event_time", 8e-4, "s", resolution=1 / 240)))
    metrics = json.loads(case_line(1, result))["metrics"]
    assert metrics["truth_error_event_time"] == {"value": 8e-4, "unit": "s", "resolution": 1 / 240}
    assert metrics["penetration_mean"] == {"value": 4e-4, "unit": "m"}


def test_a_crash_has_its_reason_and_no_motion() -> None:
    line = json.loads(case_line(1, *pair(broken(reason=HOSTILE))))
    assert (line["outcome"], line["reason"], line["trajectory_hash"]) == ("crashed", HOSTILE, None)
    assert line["metrics"] == {} and line["verdict"] == "broken"


def test_a_result_fresh_from_its_run_reads_like_the_stored_one() -> None:
    fresh = result(case(), measurement())
    line = json.loads(case_line(1, fresh))
    assert fresh.trajectory is not None
    assert line["trajectory_hash"] == fresh.trajectory_hash


# --- JUnit --------------------------------------------------------------------------------------------------------


def outcomes(root: ET.Element) -> dict[str, str]:
    """Test case -> what a CI server would call it."""
    found = {}
    for one in root.iter("testcase"):
        kinds = [child.tag for child in one if child.tag in ("failure", "error", "skipped")]
        assert len(kinds) <= 1
        found[one.attrib["name"]] = kinds[0] if kinds else "passed"
    return found


def test_each_verdict_has_its_place_in_junit() -> None:
    expected = {
        "passing": "passed",
        "improving": "passed",
        "differing": "passed",
        "regressing": "failure",
        "defective": "failure",
        "breaking": "error",
        "standing": "skipped",
        "missing": "skipped",
        "new": "passed",
        "declined": "skipped",
    }
    assert outcomes(ET.fromstring(junit_xml(every_kind()))) == expected
    strict = expected | {"standing": "error", "missing": "failure"}
    assert outcomes(ET.fromstring(junit_xml(every_kind(), strict=True))) == strict


def test_junit_is_red_exactly_when_the_check_fails() -> None:
    for one in every_kind():
        for strict in (False, True):
            red = {"failure", "error"} & set(outcomes(ET.fromstring(junit_xml([one], strict=strict))).values())
            assert bool(red) == bool(exit_status([one[1]], strict=strict))


def test_junit_counts_what_it_holds() -> None:
    pairs = [*every_kind(), pair(stored(case(engine="box2d")))]
    root = ET.fromstring(junit_xml(pairs))
    assert [suite.attrib["name"] for suite in root] == ["upright.pymunk@fair", "upright.box2d@fair"]
    counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for element in (root, *root):
        for name, tag in counted.items():
            assert int(element.attrib[name]) == len(list(element.iter(tag)))
    assert float(root.attrib["time"]) == pytest.approx(sum(r.wall_time for r, _ in pairs))


def test_a_failure_names_metric_old_new_and_ratio() -> None:
    root = ET.fromstring(junit_xml([pair(stored(value=3.2e-3), stored(value=0.4e-3))]))
    (failure,) = root.iter("failure")
    assert failure.attrib["type"] == "regressed"
    assert failure.attrib["message"] == "penetration mean 3.2 mm, was 0.4 mm (8 times, allowed 10 %)"
    assert failure.attrib["message"] in (failure.text or "")


def test_junit_survives_any_words(tmp_path: Path) -> None:
    of = case(f"stack{HOSTILE}", f"engine{HOSTILE}", parameters={})
    path = tmp_path / "junit.xml"
    path.write_text(junit_xml([pair(broken(of, reason=HOSTILE), stored(of))]), encoding="utf-8")
    (error,) = ET.parse(path).getroot().iter("error")
    assert "<b>&\"'|`@someone\N{REPLACEMENT CHARACTER}[31m" in error.attrib["message"]
    assert "球" in error.attrib["message"]


# --- Markdown -----------------------------------------------------------------------------------------------------


def test_a_clean_check_is_one_line() -> None:
    text = markdown_summary([pair(stored(), stored())], run=7)
    assert text == "**Upright: 1 unchanged**\n"


def test_the_sentence_stands_first_then_three_rows_then_the_rest_folded() -> None:
    pairs = every_kind() + [pair(stored(case("more"), 2e-3), stored(case("more"), 1e-3)) for _ in range(2)]
    lines = markdown_summary(pairs, run=7).splitlines()
    assert lines[0].startswith("**Upright: 2 broken, 1 defect, 3 regressions, ")
    rows = [line for line in lines if line.startswith("|")][2:]
    assert [row.split("|")[1].split(" on ")[0].strip() for row in rows] == ["breaking", "defective", "regressing"]
    assert all(line.count("|") == 6 for line in lines if line.startswith("|"))
    folded = lines[lines.index("<details><summary>6 more</summary>") : lines.index("</details>")]
    assert [line.split(":")[0] for line in folded if line.startswith("- ")] == [
        *("- regressed", "- regressed", "- broken", "- missing", "- different", "- improved")
    ]


def test_a_row_has_now_accepted_and_evidence() -> None:
    text = markdown_summary([pair(stored(value=3.2e-3), stored(value=0.4e-3))], [baseline(stored())], run=7)
    assert "(against the baseline accepted by R&#46; " not in text, "only what Markdown would misread is escaped"
    assert "(against the baseline accepted by R. on 03 Nov 2026, run 0)" in text
    means = "the stack of 10 sinks 3.2 mm on average, 0.4 mm before; allowed up to 0.44 mm"
    assert f"penetration mean<br>**{means}** | 3.2 mm | 0.4 mm | 8 times; allowed 10 % |" in text
    assert "`upright run stack:n=10 --engine pymunk@fair`" in text
    assert '`upright accept stack:n=10 --engine pymunk@fair --run 7 --reason "..."`' in text


def test_a_scene_file_is_run_again_by_its_path_and_accepted_by_its_label_where_it_is_stored() -> None:
    of = dataclasses.replace(case("s.json", parameters={}, alias="mine"), label="s.json:content=0a1b2c3d")
    pairs = [pair(stored(of, 3.2e-3), stored(value=0.4e-3))]
    text = markdown_summary(pairs, run=7, typed={of.label: "my scenes/s.json"}, options=" --db ci.db")
    assert "`upright run 'my scenes/s.json' --engine pymunk@fair --as mine`" in text
    assert '`upright accept s.json:content=0a1b2c3d --engine pymunk@fair --run 7 --db ci.db --reason "..."`' in text


def test_a_row_has_the_resolution_behind_each_value() -> None:
    def at(value: float, resolution: float) -> Result:
        timed = measurement("truth_error_event_time", value, "s", noise="tolerance", resolution=resolution)
        return stored(measurements=(timed,), headline="truth_error_event_time", trajectory_hash=f"{value}")

    now, before = at(32e-3, 1 / 240), at(4e-3, 1 / 480)
    text = markdown_summary([pair(now, before)], [baseline(before)], run=7)
    assert "| 32 ± 4.2 ms | 4 ± 2.1 ms | 8 times; allowed 10 % or by 4.2 ms |" in text
    broken_law = markdown_summary([pair(now, at(1e-3, 1 / 480), {"truth_error_event_time": 2e-3})], run=7)
    assert "| 32 ± 4.2 ms | kept the law: at most 2 ms |" in broken_law


def test_markdown_makes_nothing_of_an_engines_words() -> None:
    of = case(f"st{HOSTILE}", "p`y", parameters={})
    text = markdown_summary([pair(broken(of, reason=HOSTILE), stored(of))], run=7)
    (row,) = [line for line in text.splitlines() if line.startswith("| st")]
    assert row.count("|") == 6
    assert not re.search(r"[<>`@*]|(?<!&)#|\]\(", row)
    assert "\n#" not in text


@pytest.mark.parametrize("inner", ["upright run x", "a `b` c", "``", "`"])
def test_a_code_span_holds_any_backticks(inner: str) -> None:
    span = code(inner)
    fence = re.match("`+", span)
    assert fence and span.endswith(fence.group()) and f"{fence.group()}`" not in span
    assert fence.group() not in re.findall("`+", span)[1:-1]


# --- export -------------------------------------------------------------------------------------------------------


def filled(path: Path) -> None:
    with open_store(path) as store:
        for value in (1.0 / 3.0, math.nan):
            cases = [case(), case(engine="box2d")]
            run = store.begin_run(info(), cases)
            store.save_results(run, [result(cases[0], measurement(value=value), measurement("rest_time", 2.0, "s"))])
            store.save_results(run, [failed(cases[1], "crashed", HOSTILE)])
            store.finish_run(run)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_an_export_has_a_row_for_each_measurement(tmp_path: Path, ending: str) -> None:
    filled(tmp_path / "u.db")
    path = tmp_path / f"results{ending}"
    with open_store(tmp_path / "u.db") as store:
        assert export_results(store, path) == 4
        assert export_results(store, tmp_path / f"one{ending}", [2]) == 2
    if ending == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows: list[dict[str, Any]] = [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    else:
        rows = pq.read_table(path).to_pylist()
    assert list(rows[0]) == COLUMNS.names
    seen = [(int(r["run"]), r["engine"], r["metric"], r["value"] and float(r["value"])) for r in rows]
    assert seen == [
        (1, "pymunk", "penetration_mean", 1.0 / 3.0),
        (1, "pymunk", "rest_time", 2.0),
        (1, "box2d", None, None),
        (2, "pymunk", "penetration_mean", None),
        (2, "pymunk", "rest_time", 2.0),
        (2, "box2d", None, None),
    ]
    assert "球" in rows[2]["reason"] and json.loads(rows[0]["settings"]) == {"iterations": 50, "slop": 1e-3}
    assert sorted(p.suffix for p in tmp_path.glob("*.part")) == []


def test_an_export_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "u.db") as store, pytest.raises(ValueError, match=r"'r\.xls' ends in '\.xls'; allowed"):
        export_results(store, tmp_path / "r.xls")


def test_an_export_of_an_unknown_run_leaves_no_file(tmp_path: Path) -> None:
    with open_store(tmp_path / "u.db") as store, pytest.raises(RuntimeError, match="run 5: not in this database"):
        export_results(store, tmp_path / "r.csv", [5])
    assert not (tmp_path / "r.csv").exists()
