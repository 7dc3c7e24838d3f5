"""What an engine of one's own gets wrong is said in words of the protocol: what was found, and what it should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scenarios.features import known_features
from scenarios.scene import parse_scene
from tests.validation.engines.test_takes import all_features
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.answers import AnswerError, abilities_of, declined, simulated
from validation.engines.engine import Able, SteppingEngine
from validation.engines.shared.recorder import World
from validation.engines.takes import PLANAR

DISC = {"kind": "disc", "radius": 0.5}
SCENE = parse_scene(
    {
        "dimension": 2,
        "duration": 0.1,
        "bodies": [{"name": name, "shape": DISC, "mass": 1.0, "position": [x, 0]} for name, x in (("a", 0), ("b", 2))],
    }
)


class Still(World):
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def step(self, *, watched: bool) -> None:
        pass

    def read(self) -> Any:
        return self.parts


class InBytes(Still):
    def read(self) -> bytes:
        return b"0"

    def decode(self, raw: bytes, steps: int) -> Any:
        return [np.zeros((steps, *part.shape)) for part in self.parts]


class Engine(SteppingEngine):
    name, version, takes = "mine", "1.0", PLANAR

    def __init__(self, world: Any = None) -> None:
        self.world = world

    def build(self, scene: Any, dt: float, settings: Any) -> Any:
        return self.world


FINE, NARROW, ONE = np.zeros((2, 3)), np.zeros((2, 2)), np.zeros((1, 3))


def test_an_engine_that_answers_as_it_should_is_recorded() -> None:
    for world in (Still(FINE, FINE), InBytes(FINE, FINE)):
        assert simulated(Engine(world), SCENE, 0.01, {}).velocity.shape[1:] == (2, 2)


@pytest.mark.parametrize(
    ("world", "described"),
    [
        (None, "build returned None (NoneType); it should be a World"),
        (Still(NARROW, FINE), r"read returned arrays of (2, 2), (2, 3); they should be pose (2, 3), twist (2, 3)"),
        (Still(FINE), "read returned arrays of (2, 3); they should be pose (2, 3), twist (2, 3)"),
        (Still(ONE, ONE), "read returned arrays of (1, 3), (1, 3); they should be"),
        (InBytes(NARROW, NARROW), "(11, 2, 2); they should be pose (11, 2, 3), twist (11, 2, 3)"),
    ],
)
def test_a_world_that_is_none_or_has_other_widths(world: Any, described: str) -> None:
    with pytest.raises(AnswerError) as raised:
        simulated(Engine(world), SCENE, 0.01, {})
    assert described in str(raised.value)


@pytest.mark.parametrize(
    ("takes", "described"),
    [
        ("planar disc", "takes is 'planar disc' (str); it should be a set of features of scenes"),
        (["planar"], "takes is ['planar'] (list); it should be a set"),
        (PLANAR | {"boundarys"}, "takes has 'boundarys', which is no feature of scenes; did you mean 'boundaries'?"),
        (PLANAR | {7}, "takes has 7, which is no feature of scenes"),
    ],
)
def test_a_list_of_what_it_takes_that_is_none(takes: Any, described: str) -> None:
    engine = Engine()
    engine.takes = takes  # type: ignore[misc]
    with pytest.raises(AnswerError) as raised:
        declined(engine, SCENE)
    assert str(raised.value).startswith(f"mine: {described}")


def test_all_features_of_scenes_and_of_the_engines_lists_are_known() -> None:
    assert all_features() <= known_features()
    for name in present_engines():
        assert getattr(load_engine(engine_of(name)), "takes", frozenset()) <= known_features()


@pytest.mark.parametrize(
    ("abilities", "described"),
    [
        ({"set_state": True}, "abilities['set_state'] is True (bool); it should be an Able(works=True, note="),
        (
            {"set_sate": Able(works=True, note="")},
            "abilities has 'set_sate'; it should be set_state, apply_force, options",
        ),
        (["options"], "abilities is ['options'] (list); it should be a dict of Able("),
    ],
)
def test_abilities_that_are_none(abilities: Any, described: str) -> None:
    engine = Engine()
    engine.abilities = abilities  # type: ignore[misc]
    with pytest.raises(AnswerError) as raised:
        abilities_of(engine)
    assert str(raised.value).startswith(f"mine: {described}")
