"""The tables fit a terminal, read as plain text, and leave nothing out."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from click import unstyle

from tests.validation.report.made import HOSTILE, broken, every_kind, pair, stored
from tests.validation.store.made import case, measurement, scene
from validation.records.case import Result
from validation.report.finds import also_line, grouped, render_finds
from validation.report.sentences import summary
from validation.report.table import render_case, render_table, render_verdicts
from validation.store import StoredFind

ENGINES = {"reference": "0.1.0", "pymunk": "7.3.1", "box2d": "2.3.10", "pybullet": "3.2.7", "mujoco": "4.0.0"}


def cells(text: str) -> list[list[str]]:
    return [re.split(r"\s{2,}", line.strip()) for line in unstyle(text).splitlines()]


def suite() -> list[Result]:
    results = []
    for scenario, parameters in (
        ("upright-block", {"start": "rock", "space": "spatial", "ground_kind": "box"}),
        ("stack", {"n": 20, "mass_ratio": 1000}),
        ("sphere-in-sphere", {}),
    ):
        for engine, version in ENGINES.items():
            results.append(stored(case(scenario, engine, parameters=parameters, version=version), 1.23e-5))
    return results


def test_five_engines_fit_a_hundred_columns_and_no_label_breaks() -> None:
    lines = unstyle(render_table(suite())).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum("start=rock space=spatial ground_kind=box" in line for line in lines) == 1
    assert len(lines) == 2 + 2 + 2 + 1 + 1, "headings, two families with a row each, one line, what it is about"


def test_a_family_is_named_once_with_the_metric_that_its_rows_share() -> None:
    results = [
        *(stored(case("stack", "box2d", parameters={"n": n}), 2.6e-5) for n in (3, 20)),
        stored(case("stack", "box2d", parameters={}), 0.039),
        stored(case("break", "box2d", parameters={}), 0.0),
        stored(case("break", "pymunk", parameters={}), 3e-13),
    ]
    rows = cells(render_table(results))
    assert rows[0] == ["box2d", "pymunk"]
    assert rows[2:8] == [
        ["stack", "penetration mean"],
        ["n=3", "26 µm"],
        ["n=20", "26 µm"],
        ["default", "39 mm"],
        ["break", "penetration mean", "0 m", "3e-13 m"],
        ["profile fair; time step 1/240 s"],
    ], "a case that was not run is left empty; of round-off one digit tells the size"


def test_a_metric_that_changes_within_a_family_is_named_where_it_changes() -> None:
    wall = [
        stored(
            case("wall", parameters={"lean": lean}), None, measurements=(measurement(name, 1.0, "m"),), headline=name
        )
        for lean, name in ((0.5, "truth_error_goal"), (0.8, "rest_drift"), (0.9, "rest_drift"))
    ]
    rows = cells(render_table(wall))
    assert [row[-1] for row in rows[2:-1]] == ["truth error goal", "1 m", "rest drift", "1 m", "1 m"]


def test_a_label_too_long_for_its_column_has_a_line_of_its_own() -> None:
    parameters = {"floor_friction": 0.123, "wall_friction": 0.456}
    lines = unstyle(render_table([stored(case("wall", parameters=parameters))], width=48)).splitlines()
    assert lines[3] == "  floor_friction=0.123 wall_friction=0.456"
    assert lines[4].strip() == "0.4 mm"


def test_a_long_engine_breaks_at_colons_and_commas_and_widens_nothing() -> None:
    lines = unstyle(render_table([stored(case("stack", overrides="iterations=2,collision_slop=0.001"))])).splitlines()
    headings = [line.strip() for line in lines[: lines.index("stack  penetration mean")]]
    assert headings == ["pymunk:", "iterations=", "2,", "collision_", "slop=0.001", "7.3.1"]


def test_engines_too_many_for_the_width_go_on_below() -> None:
    names = [f"engine{i}" for i in range(12)]
    lines = unstyle(render_table([stored(case("stack", name)) for name in names], width=60)).splitlines()
    assert max(map(len, lines)) <= 60 and sum(line.startswith("stack") for line in lines) > 1
    assert [word for line in lines for word in line.split() if word in names] == names


def test_reasons_are_footnotes_each_told_once() -> None:
    declined = [broken(case(name, "mujoco", parameters={}), "declined", "MuJoCo has no e") for name in ("a", "b")]
    other = broken(case("c", "box2d", parameters={}), "declined", "no joints")
    crashed = broken(case("c", "mujoco", parameters={}))
    text = unstyle(render_table([*declined, other, crashed]))
    assert text.count("–¹") == 2 and "crashed³" in text
    assert ["¹ MuJoCo has no e"] in cells(text), "a reason that names its engine is not told whose it is"
    assert ["² box2d: no joints"] in cells(text) and ["³ mujoco: SIGSEGV after 1.3 s"] in cells(text)
    assert cells(text)[-1] == ["– declined"]


def test_a_verdict_marks_its_cell_and_the_legend_explains_the_marks_in_use() -> None:
    pairs = [pair(stored(value=3e-3), stored(value=4e-4))]
    text = unstyle(render_table([r for r, _ in pairs], [v for _, v in pairs]))
    assert "3 mm ✗" in text and text.splitlines()[-1] == "✗ regressed"
    unmarked = [pair(stored(), stored())]
    assert "✗" not in render_table([r for r, _ in unmarked], [v for _, v in unmarked])


def test_what_never_happened_says_so() -> None:
    assert "never" in render_table([stored(value=float("nan"))])


def test_the_same_engine_in_two_profiles_has_two_columns() -> None:
    results = [stored(case(profile=profile, parameters={})) for profile in ("default", "fair")]
    assert cells(render_table(results))[:2] == [["pymunk", "pymunk"], ["@default", "@fair"]]


def test_colours_can_be_stripped_and_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    results, verdicts = zip(*every_kind())
    assert "\x1b[" in render_table(results, verdicts)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", render_table(results, verdicts))


def test_an_engines_words_do_not_move_the_cursor() -> None:
    result = broken(case("stack[red]", parameters={}), reason=HOSTILE)
    for text in (render_table([result]), render_verdicts([pair(result, stored())]), render_case([result])):
        assert not set("\x1b\x00") & set(unstyle(text)) and "stack[red]" in text
        unstyle(text).encode("utf-8")


def test_verdicts_are_listed_the_gravest_first_and_counted() -> None:
    lines = unstyle(render_verdicts(every_kind(), width=200)).splitlines()
    words = ["broken", "defect", "regressed", "broken", "missing", "different", "improved"]
    assert [line.split()[0] for line in lines[:-1]] == words, "what fails before what was broken when accepted"
    assert "regressing × pymunk: penetration mean 3.2 mm, was 0.4 mm (8 times, allowed 10 %)" in lines[2]
    assert lines[-1] == f"Upright: {summary(verdict for _, verdict in every_kind())}"


def test_of_regressions_the_headline_metric_that_grew_most_comes_first_and_long_lines_go_on_under_themselves() -> None:
    grown = {"a": 2.0, "b": 9.0, "c": 5.0}
    pairs = [pair(stored(case(name, parameters={}), 4e-4 * by), stored(value=4e-4)) for name, by in grown.items()]
    lines = unstyle(render_verdicts(pairs, width=60)).splitlines()
    assert [line[10] for line in lines if line.startswith("regressed")] == ["b", "c", "a"]
    assert all(line.startswith(("regressed", " " * 10)) for line in lines[: lines.index("Upright: 3 regressions")])


def test_without_a_change_the_count_is_all() -> None:
    same = stored()
    assert unstyle(render_verdicts([pair(same, same)])) == "Upright: 1 unchanged"


def test_a_case_is_shown_metric_by_metric() -> None:
    result = stored(measurements=(measurement(value=0.039), measurement("rest_time", 2.31, "s")))
    rows = cells(render_case([result, broken(case(engine="box2d"))]))
    assert ["penetration mean", "39 mm"] in rows and ["rest time", "2.31 s"] in rows
    assert ["outcome", "completed", "crashed"] in rows
    assert ["box2d: SIGSEGV after 1.3 s"] in rows


def test_a_case_shows_the_resolution_behind_the_value() -> None:
    result = stored(measurements=(measurement("truth_error_event_time", 8e-4, "s", resolution=1 / 240),))
    assert ["truth error event time", "0.8 ± 4.2 ms"] in cells(render_case([result]))


def test_the_engines_of_a_case_that_are_too_many_for_the_width_go_on_below() -> None:
    results = [stored(case(engine=f"engine{i}")) for i in range(12)]
    lines = unstyle(render_case(results, width=60)).splitlines()
    assert max(map(len, lines)) <= 60 and sum(line.startswith("penetration mean") for line in lines) > 1
    assert [word for line in lines for word in line.split() if word.startswith("engine")] == [
        f"engine{i}" for i in range(12)
    ]


def test_the_same_engine_twice_has_two_columns() -> None:
    rows = cells(render_case([stored(value=1e-3), stored(value=2e-3)]))
    assert ["penetration mean", "1 mm", "2 mm"] in rows


def test_the_headline_is_bold_and_its_figures_are_not() -> None:
    (line,) = [line for line in render_case([stored()]).splitlines() if "penetration mean" in line]
    label, _, figures = line.partition("\x1b[0m")
    assert label == "\x1b[1mpenetration mean" and "0.4 mm" in figures and "\x1b[1m" not in figures


def test_finds_are_listed_with_what_it_takes_to_see_them_again() -> None:
    find = StoredFind(
        number=3,
        when=datetime.now(UTC),
        engine="gaining",
        engine_version="1.0",
        profile="fair",
        seed=77,
        dt=1 / 60,
        oracle="energy gained",
        message="energy rose by 1.5 J",
        scene=scene(),
    )
    rows = cells(render_finds([find]))
    assert rows[1] == ["3", "gaining@fair", "new", "1", "77", "energy gained: disc: energy rose by 1.5 J (dt 1/60 s)"]


def test_finds_of_one_law_and_the_same_settings_are_one_line_of_the_one_with_fewest_bodies() -> None:
    def find(number: int, oracle: str, bodies: int, **more: Any) -> StoredFind:
        disc = scene().bodies[0]
        several = tuple(
            disc.model_copy(update={"name": f"disc {i}", "position": (9.0 * i, 5.0)}) for i in range(bodies)
        )
        given = {"engine": "gaining:sweeps=2", "number": number, "oracle": oracle, "message": f"{number}"} | more
        return StoredFind(
            when=datetime.now(UTC), engine_version="1.0", profile="fair", seed=7, dt=1 / 60,
            scene=scene().model_copy(update={"bodies": several}), **given,
        )  # fmt: skip

    finds = [
        find(1, "energy gained", 2),
        find(2, "blew up", 1, engine="gaining:sweeps=4"),
        find(3, "energy gained", 3),
        find(4, "energy gained", 1, known="a test"),
        find(5, "momentum not kept", 1),
        find(6, "energy gained", 1, engine="gaining"),
    ]
    numbers = [(first.number, [one.number for one in others]) for first, others in grouped(finds)]
    assert numbers == [(2, [1, 3]), (4, []), (5, []), (6, [])]
    listed = render_finds(finds)
    assert "also seen: energy gained: 2 disc (find 1); energy gained: 3 disc (find 3)" in " ".join(listed.split())
    assert also_line([]) == "" and also_line(9 * finds[:1]).endswith("and 3 more")


def test_the_name_of_an_engine_is_never_broken() -> None:
    assert "contactsim" in unstyle(render_table([stored(case("stack", "contactsim"))]))
