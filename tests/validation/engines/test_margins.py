"""Contact margins: what rests stands off by the sum of both, in every engine that has them; the others decline."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.scene import HalfPlane, PlanarScene, parse_scene, write_scene
from scenarios.similarity import similar, similarity
from tests.validation.engines.planar_scenes import DT, G, ball, box, simulated
from validation.engines import OURS
from validation.engines.engine import resolve_settings
from validation.metrics import measure_with_outcomes


def engine_of(name: str) -> Any:
    pytest.importorskip(OURS[name][0])
    module = importlib.import_module(f"validation.engines.{name}.adapter")
    return next(one for one in vars(module).values() if getattr(one, "name", None) == name)()


TAKE = ["mujoco", "rapier", "physx", "pymunk"]


@pytest.mark.parametrize("name", TAKE)
@pytest.mark.parametrize("word", ["stand-off", "stand-off:margin=0.1,drop=0.2", "stand-off:space=spatial,ground=box"])
def test_a_block_rests_its_margin_above_its_ground_and_does_not_hang(name: str, word: str) -> None:
    engine, scenario = engine_of(name), scenario_of(word)
    if name == "pymunk" and "spatial" in word:
        assert "planar" in str(engine.declines(scenario.scene))
        return
    assert engine.declines(scenario.scene) is None
    settings = resolve_settings(engine, "fair", {}, scenario.scene, DT)
    motion = engine.simulate(scenario.scene, DT, settings)
    found, outcomes = measure_with_outcomes(scenario, motion)
    values = {one.metric: one.value for one in found}
    assert motion.contact_tolerance == approx(scenario.parameters["margin"])
    assert values["truth_error_position"] < 1.1 * G * DT * max(DT, 0.2 if "drop" in word else 0.0) * 10**0.5
    assert values["gap_final"] == approx(scenario.parameters["margin"], abs=5e-4)
    assert [one.kind for one in outcomes if one.right is False] == []


@pytest.mark.parametrize("name", TAKE)
def test_two_balls_rest_apart_by_what_both_have_and_one_without_by_the_others(name: str) -> None:
    low = ball("low", radius=0.2, position=(0.0, 0.23), margin=0.02)
    high = ball("high", radius=0.2, position=(0.0, 0.70), margin=0.05)
    plain = box("plain", position=(3.0, 0.51))
    ground = HalfPlane(name="ground", margin=0.01)
    motion = simulated(engine_of(name), PlanarScene(bodies=(low, high, plain), boundaries=(ground,), duration=0.5))
    assert motion.position[-1, :, 1] == approx([0.23, 0.70, 0.51], abs=2e-3)


@pytest.mark.parametrize("name", ["box2d", "pybullet", "dart", "reference"])
def test_others_decline_them_in_words(name: str) -> None:
    reason = str(engine_of(name).declines(scenario_of("stand-off").scene)) if name != "reference" else _reference()
    assert "margin" in reason or "skin" in reason


def _reference() -> str:
    from validation.engines.reference.adapter import Reference

    return str(Reference().declines(scenario_of("stand-off").scene))


def test_a_margin_is_of_format_2_comes_back_from_json_and_grows_with_lengths() -> None:
    scene = scenario_of("stand-off").scene
    assert scene.format == 2 and parse_scene(scene.model_dump(mode="json")) == scene
    assert "margin" not in write_scene(scenario_of("upright-block").scene)
    larger = similar(scene, similarity(2, length=2.0))
    assert [one.margin for one in (*larger.bodies, *larger.boundaries)] == [0.02, 0.02]
