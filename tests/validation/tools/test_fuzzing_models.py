"""Fuzzing a model: what is mutated is how it is run, never what it is; what breaks is found, with little mutated."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.validation.command import upright
from tests.validation.engines.mujoco_models import ENGINE, model_of
from validation.running.models import GivenModel
from validation.tools.fuzzing.models import Mutation, drawn

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


@pytest.mark.slow
def test_what_is_no_model_is_one_line(tmp_path: Path) -> None:
    for words, line in ((("--model", "bar.txt"), "--model"), (("--model", "bar.xml", "--from", "stack"), "give one")):
        found = upright("fuzz", *words, folder=tmp_path)
        assert found.returncode == 2 and line in found.stderr
