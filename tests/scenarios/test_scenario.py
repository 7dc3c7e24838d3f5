"""Families turn named, checked parameters into scenarios; a wrong one is a sentence that says what is allowed."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest

from scenarios.catalogue.shared.bodies import ball, scene_of
from scenarios.scenario import Family, ParameterError, Scenario, Within, token_of
from scenarios.truth import Truth


def falling_ball(
    *,
    shape: Literal["small", "large"] = "small",
    n: Literal[1, 2, 3] = 1,
    count: Annotated[int, Within(1, 9)] = 2,
    height: Annotated[float, Within(0.0, 10.0)] = 1.0,
    rough: bool = False,
    note: str = "",
) -> Scenario:
    """Falling ball: nothing below it

    A second paragraph is for those who want to know.
    """
    body = ball("planar", "ball", radius=0.5 if shape == "large" else 0.1, y=height)
    scene = scene_of("planar", (body,), title="Falling ball", duration=1.0)
    truth = Truth(kind="invariants", source="Galilei", span=(0.0, 1.0), invariants=frozenset({"energy"}))
    return Scenario(
        name="", title="Falling ball", probes="", regime="free motion", scene=scene, truth=truth, headline=""
    )


FAMILY = Family("falling-ball", falling_ball, ({}, {"height": 2.0}))


def test_a_family_says_what_it_takes():
    assert FAMILY.summary == "Falling ball: nothing below it"
    assert FAMILY.defaults == {"shape": "small", "n": 1, "count": 2, "height": 1.0, "rough": False, "note": ""}
    assert FAMILY.allowed == {
        "shape": "small | large",
        "n": "1 | 2 | 3",
        "count": "integer 1 to 9",
        "height": "number 0 to 10",
        "rough": "true | false",
        "note": "text",
    }


def test_text_from_the_command_line_becomes_the_parameters_type():
    scenario = FAMILY.scenario(
        {"shape": "large", "n": "3", "count": "4", "height": "2.50", "rough": "true", "note": "x"}
    )
    assert scenario.parameters == {
        "shape": "large", "n": 3, "count": 4, "height": 2.5, "rough": True, "note": "x"
    }  # fmt: skip
    assert [type(v) for v in scenario.parameters.values()] == [str, int, int, float, bool, str]
    assert scenario.scene.bodies[0].position == (0.0, 2.5)


def test_the_label_is_the_name_and_what_differs_from_the_defaults():
    assert FAMILY.scenario().label == "falling-ball"
    assert FAMILY.scenario({"height": 1}).label == "falling-ball"
    assert FAMILY.scenario({"height": 2, "rough": True}).label == "falling-ball:height=2,rough=true"
    assert FAMILY.scenario({"height": 0.1}).parameters_json == (
        '{"count": 2, "height": 0.1, "n": 1, "note": "", "rough": false, "shape": "small"}'
    )


@pytest.mark.parametrize("value", [True, False, 3, 0.1, 100.0, 1e300, -2.5, 1 / 3, "touching"])
def test_a_value_typed_as_its_word_is_the_value_again(value):
    family = Family("f", {str: text, bool: flag, int: whole, float: number}[type(value)])
    assert family.scenario({"v": token_of(value)}).parameters["v"] == value


def text(*, v: str = "") -> Scenario:
    return falling_ball()


def flag(*, v: bool = False) -> Scenario:
    return falling_ball()


def whole(*, v: int = 0) -> Scenario:
    return falling_ball()


def number(*, v: float = 0.0) -> Scenario:
    return falling_ball()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"heigth": 1}, ("falling-ball", "'heigth'", "did you mean 'height'?", "shape, n, count")),
        ({"colour": 1}, ("'colour'", "it takes: shape")),
        ({"height": 11}, ("falling-ball:height", "11", "number 0 to 10")),
        ({"height": "nan"}, ("falling-ball:height", "'nan'", "number 0 to 10")),
        ({"height": "inf"}, ("'inf'", "number 0 to 10")),
        ({"height": "tall"}, ("'tall'", "number 0 to 10")),
        ({"count": "2.5"}, ("falling-ball:count", "'2.5'", "integer 1 to 9")),
        ({"count": 0}, ("0", "integer 1 to 9")),
        ({"n": 4}, ("falling-ball:n", "4", "1 | 2 | 3")),
        ({"shape": "smal"}, ("'smal'", "small | large")),
        ({"rough": "maybe"}, ("'maybe'", "true | false")),
    ],
)
def test_a_wrong_parameter_is_named_with_its_value_and_what_is_allowed(given, words):
    with pytest.raises(ParameterError) as caught:
        FAMILY.scenario(given)
    line = str(caught.value)
    assert "\n" not in line
    assert [word for word in words if word not in line] == [], line


def test_a_truth_that_says_nothing_is_refused():
    with pytest.raises(ValueError, match="must say something"):
        Truth(kind="invariants", source="", span=(0.0, 1.0))
