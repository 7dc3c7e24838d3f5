"""What an ability of an engine is tried by: motions that a plain simulation does not give.

{"ability": "set_state", "step": k}     the motion from the state that the engine itself had after k steps, put
                                        into a world built anew; its time 0 is that of step k
{"ability": "apply_force", "body": i, "force": [...], "point": [...] | null, "steps": n}
                                        the scene's motion, pushed in each of the first n steps
{"ability": "options"}                  the motion as it is, after the engine's options were found to be data
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenarios.scene import Scene
from validation.engines.answers import AnswerError
from validation.engines.engine import Settings
from validation.engines.shared.recorder import World, record
from validation.records.trajectory import Trajectory


def exercised(engine: Any, scene: Scene, dt: float, settings: Settings, exercise: Mapping[str, Any]) -> Trajectory:
    """The motion of an exercise. Raises AnswerError where the engine's options are none."""
    world: World = engine.build(scene, dt, settings)
    match exercise["ability"]:
        case "set_state":
            for _ in range(exercise["step"]):
                world.step(watched=False)
            state = state_of(world)
            other = engine.build(scene, dt, settings)
            other.set_state(*state, time=exercise["step"] * dt)
            return record(other, scene, dt)
        case "apply_force":
            return record(world, scene, dt, before_step=lambda world, step: _push(world, step, exercise))
        case "options":
            _check_options(engine, world, settings)
            return record(world, scene, dt)
    raise ValueError(f"no exercise of {exercise['ability']!r}")


def state_of(world: World) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """The parts of a world's state now, (B, w) each."""
    state = world.read()
    parts = [part[0] for part in world.decode(state, 1)] if isinstance(state, bytes) else state
    return [np.array(part, np.float64) for part in parts]


def _push(world: World, step: int, exercise: Mapping[str, Any]) -> None:
    if step <= exercise["steps"]:
        world.apply_force(exercise["body"], exercise["force"], exercise["point"])


def _check_options(engine: Any, world: World, settings: Settings) -> None:
    """Numbers, words and truth values; one that has a setting's name has its value."""
    found = world.options()
    if not isinstance(found, dict) or not found:
        raise AnswerError(f"{engine.name}: options returned {found!r:.60}; it should be a dict of names and values")
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
            raise AnswerError(f"{engine.name}: option {name!r} is {value!r:.60}; it should be a number or text")
        given = settings.get(name, value)
        same = value == given if isinstance(given, str) else np.isclose(float(value), float(given), rtol=1e-6)
        if not same and not (isinstance(given, str) and not isinstance(value, str)):
            raise AnswerError(f"{engine.name}: option {name!r} is {value!r}, and the setting {name!r} was {given!r}")
