"""What an engine of one's own gets wrong is said in words of the protocol: what was found, and what it should be."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scenarios.features import known_features
from scenarios.scene import parse_scene
from tests.validation.engines.test_takes import all_features
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.answers import AnswerError, abilities_of, check_declared, declined, simulated
from validation.engines.engine import Able, SteppingEngine, resolve_settings
from validation.engines.shared.recorder import World
from validation.engines.takes import PLANAR
from validation.records.trajectory import from_bytes, time_not_covered, to_bytes

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


@pytest.mark.parametrize(
    ("declared", "described"),
    [
        ({"name": None}, "name is None (NoneType); it should be text"),
        ({"version": ["1"]}, "version is ['1'] (list); it should be text"),
        ({"profiles": 5}, "profiles is 5 (int); it should be a tuple of names, one at least"),
        ({"profiles": ()}, "profiles is () (tuple); it should be a tuple of names, one at least"),
        ({"profiles": (1, 2)}, "profiles is (1, 2) (tuple); it should be a tuple of names"),
        ({"profiles": "fair"}, "profiles is 'fair' (str); it should be a tuple of names"),
        ({"settings": [1]}, "settings is [1] (list); it should be a dict of names and Settings"),
        ({"settings": {"a": 5}}, "settings['a'] is 5 (int); it should be Setting(default=1.0"),
        ({"relations": 5}, "relations is 5 (int); it should be a tuple of Relations"),
        ({"round_off": "x"}, "round_off is 'x' (str); it should be a number above 0"),
        ({"warm_up": 5}, "warm_up is 5 (int); it should be a method"),
    ],
)
def test_what_an_engine_has_beside_its_methods_is_of_its_type(declared: dict[str, Any], described: str) -> None:
    engine = Engine()
    check_declared(engine)
    for name, value in declared.items():
        setattr(engine, name, value)
    with pytest.raises(AnswerError) as raised:
        check_declared(engine)
    assert str(raised.value).removeprefix("mine: ").startswith(described)


def test_a_profile_that_is_no_table_of_settings() -> None:
    engine = Engine()
    engine.profiles, engine.profile = ("fair",), lambda *_: 5  # type: ignore[misc, method-assign]
    with pytest.raises(TypeError, match=r"mine: profile returned 5 \(int\); it should be a dict of settings"):
        resolve_settings(engine, "fair", {}, SCENE, 0.01)


def test_an_engine_that_changes_its_scene_is_held_to_the_scene_that_it_was_given() -> None:
    class Shortening(Engine):
        def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
            object.__setattr__(scene, "duration", 0.02)
            return super().simulate(scene, dt, settings)

    motion = simulated(Shortening(Still(FINE, FINE)), SCENE, 0.01, {})
    assert (
        time_not_covered(motion, SCENE.duration)
        == "its motion goes from 0 to 0.02 s; that of the scene from 0 to 0.1 s"
    )


class NoWords:
    def __repr__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("answer", "described"), [(5, "5 (int)"), (True, "True (bool)"), (" ", "' ' (str)"), (NoWords(), "a NoWords")]
)
def test_a_reason_to_decline_that_is_none(answer: Any, described: str) -> None:
    class Declining(Engine):
        def declines(self, scene: Any) -> Any:
            return answer

    with pytest.raises(AnswerError) as raised:
        declined(Declining(), SCENE)
    assert str(raised.value) == f"mine: declines returned {described}; it should be the reason as text, or None"


@pytest.mark.parametrize(
    ("changed", "described"),
    [
        ({"state_hash": 5}, "state_hash is 5 (int); it should be text, or left out"),
        ({"dt": "x"}, "dt is 'x' (str); it should be a finite number of seconds above 0"),
        ({"velocity_lag": math.nan}, "velocity_lag is nan (float); it should be a finite number of seconds"),
        ({"contacts": 5}, "contacts is 5 (int); it should be Contacts, or None"),
    ],
)
def test_a_motion_with_a_value_of_another_type(changed: dict[str, Any], described: str) -> None:
    class Other(Engine):
        def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
            return replace(super().simulate(scene, dt, settings), **changed)

    with pytest.raises(AnswerError) as raised:
        simulated(Other(Still(FINE, FINE)), SCENE, 0.01, {})
    assert str(raised.value) == f"mine: {described}"


def test_arrays_in_another_order_in_memory_are_the_same_motion() -> None:
    class Columns(Engine):
        def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
            motion = super().simulate(scene, dt, settings)
            twist = np.repeat(motion.twist, 2, axis=0)[::2]  # every second row of a larger array
            return replace(motion, pose=np.asfortranarray(motion.pose), twist=twist)

    plain, columns = (simulated(kind(Still(FINE, FINE)), SCENE, 0.01, {}) for kind in (Engine, Columns))
    assert to_bytes(plain) == to_bytes(columns)
    assert np.array_equal(from_bytes(to_bytes(columns)).pose, plain.pose)
