"""Small models, one a feature, as MJCF: what MuJoCo loads, describes and moves."""

from __future__ import annotations

import numpy as np

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.native import Model, ModelFile, Start
from scenarios.scene import SpatialScene
from validation.engines.mujoco.adapter import MuJoCo
from validation.metrics import measure_with_outcomes
from validation.records.measurement import Measurement
from validation.records.outcome import Outcome
from validation.records.trajectory import SpatialTrajectory

ENGINE = MuJoCo()
PLANE = "<geom name='ground' type='plane' size='1 1 1'/>"
BALL = "<body name='ball' pos='0 0 {z}'><freejoint/><geom type='sphere' size='0.1' mass='1'/>{more}</body>"


def model_of(body: str, *, more: str = "", option: str = "", start: Start | None = None, **files: str) -> Model:
    """`body`: of the world; `more`: beside it; `option`: attributes of the options; `files`: by name, without .xml."""
    text = f"<mujoco><option {option}/><worldbody>{body}</worldbody>{more}</mujoco>"
    given = {"model.xml": text} | {f"{name}.xml": content for name, content in files.items()}
    return Model(
        language="mjcf",
        file="model.xml",
        files=tuple(ModelFile.of(name, content.encode()) for name, content in given.items()),
        start=start or Start(),
    )


def scene_of(model: Model, duration: float = 1.0) -> SpatialScene:
    """As a command has it: described, with the model's files."""
    scene = ENGINE.describe(model, duration, "", {})
    assert scene.native is not None
    return scene.model_copy(update={"native": scene.native.model_copy(update={"model": model})})


def motion_of(scene: SpatialScene, **settings: str | float | bool) -> SpatialTrajectory:
    assert scene.native is not None
    motion = ENGINE.simulate(scene, scene.native.step, settings)
    assert isinstance(motion, SpatialTrajectory)
    return motion


def measured(scene: SpatialScene, motion: SpatialTrajectory) -> tuple[dict[str, float], tuple[Outcome, ...]]:
    found, outcomes = measure_with_outcomes(scenario_from_scene("model.xml", scene), motion)
    return {one.metric: one.value for one in found if isinstance(one, Measurement)}, outcomes


def wrong(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [one.kind for one in outcomes if one.right is False]


def unmeasured(scene: SpatialScene) -> str:
    assert scene.native is not None
    return "\n".join(scene.native.unmeasured)


def heights(motion: SpatialTrajectory, body: int = 0) -> np.ndarray:
    return motion.position[:, body, 2]
