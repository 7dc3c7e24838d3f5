"""A model's files as MuJoCo loads them, untranslated, and the data that it starts from."""

import os
import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from scenarios.native import Model, Start
from validation.engines.engine import ModelError
from validation.engines.shared.description import written
from validation.engines.shared.lifeline import SERVER_FOLDER

MOST_GEOMS = 20_000
MOST_CHARACTERS = 600  # characters of MuJoCo's own words
VALUES = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")
"""Of a start, by their names in mjData."""


def load(model: Model) -> Any:
    """The mjModel of the files, written into a folder of their own. Raises ModelError with MuJoCo's own words."""
    mujoco.set_mju_user_warning(lambda text: None)
    stored = compiled(model)
    if stored is not None and stored.exists():
        return mujoco.MjModel.from_binary_path(str(stored))
    made = _compiled_anew(model)
    if stored is not None:
        fresh = stored.with_suffix(f".{os.getpid()}")
        mujoco.mj_saveModel(made, str(fresh), None)  # releases before 3.2 want all three
        fresh.replace(stored)  # whole or not at all
    return made


def compiled(model: Model) -> Path | None:
    """Where the server of this process has the model as MuJoCo has compiled it: hulls of large meshes take seconds."""
    folder = os.environ.get(SERVER_FOLDER)
    files = model.model_copy(update={"start": Start(), "others": ()}).digest(0.0)
    return Path(folder, f"{files}.mjb") if folder else None


def _compiled_anew(model: Model) -> Any:
    with written(model) as folder:
        try:
            made = mujoco.MjModel.from_xml_path(str(folder / model.file))
        except (ValueError, mujoco.FatalError) as error:
            text = " ".join(re.sub(rf"{re.escape(str(folder))}/?", "", str(error)).split())[:MOST_CHARACTERS]
            raise ModelError(f"MuJoCo {mujoco.__version__} does not load it: {text}") from None
    if made.ngeom > MOST_GEOMS:
        raise ModelError(f"it has {made.ngeom} geoms; allowed: {MOST_GEOMS}")
    return made


def started(model: Any, given: Model) -> Any:
    """mjData at the start of a model; controls as the keyframe has them, else 0. Raises ModelError."""
    data = mujoco.MjData(model)
    start = given.start
    if start.keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, _keyframe(model, start.keyframe))
    _set_values(data, start)
    if start.controls is not None and len(start.controls.rows[0]) != model.nu:
        count = len(start.controls.rows[0])
        raise ModelError(f"--from: controls has {count} numbers in a row; the model has {model.nu} actuators")
    if given.perturbation is not None:
        _perturb(model, data, given)
    return data


def _keyframe(model: Any, name: str) -> int:
    names = [model.key(k).name for k in range(model.nkey)]
    if name in names:
        return names.index(name)
    if name.isdecimal() and int(name) < model.nkey:
        return int(name)
    known = ", ".join(one or str(k) for k, one in enumerate(names[:12]))
    raise ModelError(
        f"--from: {name!r:.60} is no keyframe of the model; {f'it has {known}' if known else 'it has none'}"
    )


def _set_values(data: Any, start: Start) -> None:
    for name, values in start.values.items():
        if name not in VALUES:
            raise ModelError(f"--from: {name!r:.60} is no state of MuJoCo; allowed: {', '.join(VALUES)}")
        array = getattr(data, name)
        if array.size != len(values):
            raise ModelError(f"--from: {name} has {len(values)} numbers; the model has {array.size}")
        array[...] = np.reshape(values, array.shape)


def _perturb(model: Any, data: Any, given: Model) -> None:
    """Each coordinate by less than the size, of which that of a turn is in rad."""
    assert given.perturbation is not None
    random = np.random.default_rng([given.perturbation.seed, given.perturbation.number])
    mujoco.mj_integratePos(model, data.qpos, random.uniform(-1.0, 1.0, model.nv), given.perturbation.size)
