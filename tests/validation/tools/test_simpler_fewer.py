"""With fewer bodies a scene gets more time, comes down onto what is below, or is changed at random."""

import json

import pytest

from scenarios.scene import Scene, parse_scene, write_scene
from validation.tools.fuzzing.fewer import (
    FEW,
    LONGEST,
    VARIED,
    varied,
    without_one_but_longer,
    without_one_but_settled,
)
from validation.tools.fuzzing.simpler import SIMPLIFICATIONS, simplified


def data_of(scene: Scene) -> dict[str, object]:
    data: dict[str, object] = json.loads(write_scene(scene, indent=None))
    return data


def a_tower(count: int, duration: float = 0.5) -> Scene:
    """Of cubes of 1 m, each on the one below."""
    cube = {"kind": "box", "size": [1.0, 1.0, 1.0]}
    bodies = [{"name": f"box {i}", "shape": cube, "mass": 1.0, "position": [0.0, 0.0, i + 0.5]} for i in range(count)]
    ground = {"kind": "half-space", "name": "ground"}
    data = {"dimension": 3, "duration": duration, "gravity": [0.0, 0.0, -9.81], "bodies": bodies}
    return parse_scene(data | {"boundaries": [ground]})


def test_what_a_body_bore_comes_down_onto_what_is_below() -> None:
    """Without the middle one of three the upper one is where that was; without the upper one nothing moves."""
    settled = [parse_scene(data) for data in without_one_but_settled(data_of(a_tower(3)))]
    heights = [[body.position[2] for body in scene.bodies] for scene in settled]
    assert heights == [pytest.approx([0.5, 1.5], abs=1e-6)] * 2
    assert [[body.name for body in scene.bodies] for scene in settled] == [["box 1", "box 2"], ["box 0", "box 2"]]


def test_what_is_tied_to_the_world_stays_where_it_is() -> None:
    data = data_of(a_tower(2))
    pin = {"name": "pin", "kind": "ball", "a": "box 1", "anchor_a": [0.0, 0.0, 0.5], "anchor_b": [0.0, 0.0, 2.0]}
    assert list(without_one_but_settled(data | {"joints": [pin]})) == []


def test_a_scene_without_a_body_has_more_time_but_not_for_ever() -> None:
    longer = list(without_one_but_longer(data_of(a_tower(3))))
    assert [(len(one["bodies"]), one["duration"]) for one in longer] == [(2, 2.0)] * 3
    assert list(without_one_but_longer(data_of(a_tower(3, duration=LONGEST)))) == []


def test_chance_is_asked_only_of_many_bodies_and_gives_fewer_the_same_ones_every_time() -> None:
    assert list(varied(data_of(a_tower(FEW)))) == []
    found = list(varied(data_of(a_tower(FEW + 2))))
    assert len(found) == VARIED and found == list(varied(data_of(a_tower(FEW + 2))))
    assert all(2 <= len(one["bodies"]) < FEW + 2 for one in found)
    assert len({json.dumps(one) for one in found}) > VARIED / 2


def test_a_body_is_fixed_in_place_of_moving_and_then_nothing_else_about_it_is_simplified_for_ever() -> None:
    """Shrinking ends: no simplification gives a scene more bodies, or makes a fixed one move."""
    scene = a_tower(2)
    simpler = [one for simplify in SIMPLIFICATIONS for one in simplified(scene, simplify)]
    assert {tuple(body.fixed for body in one.bodies) for one in simpler if len(one.bodies) == 2} >= {
        (True, False),
        (False, True),
    }
    assert all(len(one.bodies) <= 2 for one in simpler)
