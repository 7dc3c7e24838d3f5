"""Fuzzing a model: what is mutated is how it is run, never what it is; what breaks is found, with little mutated."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.validation.command import upright
from tests.validation.engines.mujoco_models import ENGINE, model_of
from validation.engines.mujoco.adapter import MuJoCo
from validation.engines.relations import repeats
from validation.running.models import GivenModel
from validation.tools.fuzzing.models import Mutation, drawn
from validation.tools.fuzzing.pairs import OF_MODELS, Relations
from validation.tools.fuzzing.twins import nearby_model

SERVO = "<actuator><position joint='pivot' kp='5' ctrllimited='true' ctrlrange='-0.3 0.6'/></actuator>"
GEOM = "<geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.05'/>"
BAR = f"<body name='bar'><joint name='pivot' axis='0 1 0'/>{GEOM}</body>"
OPTIONS = {"cone": ["elliptic"], "iterations": ["200"]}


def mutations(count: int = 200) -> list[Mutation]:
    native = ENGINE.describe(model_of(BAR, more=SERVO), 1.0, "", {}).native
    assert native is not None
    return [drawn(random.Random(k), native, 1.0, (), OPTIONS) for k in range(count)]


def test_files_stay_as_they_are_and_controls_within_their_ranges():
    given = GivenModel(name="bar.xml", model=model_of(BAR, more=SERVO), duration=1.0)
    for mutation in mutations():
        made = mutation.applied(given)
        assert made.model.files == given.model.files and made.duration == given.duration
        assert mutation.share <= 1.0  # no step is longer than the model's
        if mutation.controls is not None:
            rows = np.array(mutation.controls.rows)
            assert rows.min() >= -0.3 and rows.max() <= 0.6
            assert list(mutation.controls.times) == sorted(mutation.controls.times)
        if mutation.rates:
            assert len(mutation.rates) == 1


def test_every_thing_is_mutated_by_itself_and_with_others_and_the_same_number_draws_the_same():
    found = mutations()
    assert found == mutations()
    for name in ("perturbation", "rates", "controls", "options"):
        given = [bool(getattr(one, name)) for one in found]
        assert 20 < sum(given) < 180
    assert {one.share for one in found} == {1.0, 0.5, 0.25}


def test_a_simpler_one_has_one_thing_less():
    for mutation in mutations(50):
        things = len([1 for one in (mutation.perturbation, mutation.rates, mutation.controls) if one])
        for simpler in mutation.simpler():
            left = len([1 for one in (simpler.perturbation, simpler.rates, simpler.controls) if one])
            assert simpler != mutation
            assert left in (things, things - 1)
    assert list(Mutation().simpler()) == []


@pytest.mark.slow
def test_what_diverges_is_found_with_nothing_mutated_that_need_not_be(tmp_path: Path) -> None:
    """A bar whose actuator pushes the way that it goes: its rate grows without end, at any step."""
    more = (
        "<actuator><general joint='pivot' gainprm='1' biastype='affine' biasprm='0 0 40'/></actuator>"
        "<option gravity='0 0 -9.81'/>"
    )
    (tmp_path / "bar.xml").write_text(f"<mujoco><worldbody>{BAR}</worldbody>{more}</mujoco>")
    words = ("--engine", "mujoco", "--model", "bar.xml", "--minutes", "0.3", "--seed", "1")
    found = upright("fuzz", *words, folder=tmp_path)
    assert found.returncode == 1 and "not_finite" in found.stdout
    scene, _ = json.JSONDecoder().raw_decode(upright("finds", "1", "--scene", folder=tmp_path).stdout)
    model = scene["native"]["model"]
    again = upright("finds", "1", "--replay", folder=tmp_path)
    assert again.returncode == 1 and "not_finite" in again.stdout
    assert "perturbation" not in model and "controls" not in model["start"] and not model["start"].get("values")


def test_a_model_has_no_twin_that_is_another_model():
    scene = ENGINE.describe(model_of(BAR, more=SERVO), 1.0, "", {})
    relations = Relations(promised=(*MuJoCo.relations, *repeats("documents")), sets_state=True)
    found = {relations.chosen(scene, number).change for number in range(200)}
    assert found == {None, *OF_MODELS}


def test_a_model_starts_nearby_in_its_own_coordinates_and_the_start_that_it_has_stays():
    scene = ENGINE.describe(model_of(BAR, more=SERVO), 1.0, "", {})
    (fresh, other) = (nearby_model(scene, 1e-12, seed).native.model.perturbation for seed in (1, 2))
    assert fresh.size == other.size == 1e-12 and fresh.seed != other.seed
    moved = nearby_model(scene, 1e-3, 7)
    for seed in range(4):
        again = nearby_model(moved, 1e-12, seed).native.model.perturbation
        assert again.seed == 7 and 0.0 < abs(again.size - 1e-3) < 1.1e-12


@pytest.mark.slow
def test_a_world_that_remembers_is_found_by_its_twin(tmp_path: Path) -> None:
    """Of a function whose module counts the steps of all worlds of its process."""
    (tmp_path / "level.py").write_text(
        "import pymunk\n\nsteps = 0\n\n\n"
        "def gust(body, gravity, damping, dt):\n"
        "    global steps\n"
        "    steps += 1\n"
        "    pymunk.Body.update_velocity(body, (0.01 * steps, -10), damping, dt)\n\n\n"
        "def build():\n"
        "    space = pymunk.Space()\n"
        "    ball = pymunk.Body(1, 1)\n"
        "    ball.position, ball.velocity_func = (0, 3), gust\n"
        "    space.add(ball, pymunk.Circle(ball, 0.5))\n"
        "    return space\n"
    )
    words = ("--engine", "pymunk", "--model", "level:build", "--minutes", "0.5", "--seed", "1")
    found = upright("fuzz", *words, folder=tmp_path)
    assert found.returncode == 1 and "differs when run after another scene" in found.stdout
    again = upright("finds", "1", "--replay", folder=tmp_path)
    assert again.returncode == 1


@pytest.mark.slow
def test_what_is_no_model_is_one_line(tmp_path: Path) -> None:
    for words, line in ((("--model", "bar.txt"), "--model"), (("--model", "bar.xml", "--from", "stack"), "give one")):
        found = upright("fuzz", *words, folder=tmp_path)
        assert found.returncode == 2 and line in found.stderr
