"""MuJoCo before 3.2.5 gets the model as MJCF: the same as through MjSpec, in motion and to the last bit."""

from __future__ import annotations

import mujoco
import pytest

from scenarios.scene import ContactLaw, PairLaw, Rod, Rope, Scene
from tests.suite import SUITE
from tests.validation.engines.planar_scenes import ball, ground, scene
from validation.engines.engine import resolve_settings
from validation.engines.mujoco import model as mujoco_model
from validation.engines.mujoco import shapes as mujoco_shapes
from validation.engines.mujoco.adapter import MuJoCo
from validation.engines.mujoco.mjcf import HAS_SPEC

DT = 1.0 / 240.0


def short(given: Scene, duration: float = 0.1) -> Scene:
    return given.model_copy(update={"duration": duration})


SCENES = {s.label: short(s.scene) for s in {s.name: s for s in SUITE if MuJoCo().declines(s.scene) is None}.values()}
SCENES["a rod, a rope and pair laws"] = scene(
    ball(position=(0.0, 0.5), name="a", friction=0.3),
    ball(position=(2.0, 0.5), name="b", friction=0.3),
    ball(position=(4.0, 0.5), name="c", friction=0.9),
    ground=ground(friction=0.3),
    joints=(
        Rod(name="rod", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=2.0),
        Rope(name="rope", a="b", b="c", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=2.0),
    ),
    contact=ContactLaw(pairs=(PairLaw(a="a", b="ground", friction=0.7), PairLaw(a="b", b="c", friction=0.0))),
    duration=0.1,
)


@pytest.mark.skipif(not HAS_SPEC, reason=f"MuJoCo {mujoco.__version__} has no MjSpec to compare with")
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("profile", ["fair", "default"])
def test_a_scene_moves_alike_through_mjcf_and_through_mjspec(
    name: str, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, given = MuJoCo(), SCENES[name]
    settings = resolve_settings(engine, profile, {}, given, DT)
    through_spec = engine.simulate(given, DT, settings)
    monkeypatch.setattr(mujoco_model, "HAS_SPEC", False)
    monkeypatch.setattr(mujoco_shapes, "HAS_SPEC", False)
    assert engine.simulate(given, DT, settings).state_hash == through_spec.state_hash
