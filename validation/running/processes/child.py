"""What a forked child of an engine's server answers: a plan, a simulation, a replay, a query,
or one that runs on request."""

import json
import os
import time
import traceback
from contextlib import suppress
from typing import Any

import numpy as np

from scenarios.native import Model
from scenarios.scene import Scene, parse_scene, write_scene
from scenarios.scene_error import SceneError
from validation.engines import in_a_line, message_of
from validation.engines.answers import declined, exercised, plain, queried, simulated, spoiled
from validation.engines.engine import (
    DeclinedError,
    ModelError,
    NotFiniteError,
    SettingError,
    resolve_settings,
    settings_of_model,
)
from validation.engines.faults import adapted, failure
from validation.engines.shared.recorder import collected_broken_motions, collected_step_times
from validation.engines.shared.replay import one_step
from validation.records.queries import Poses
from validation.records.trajectory import (
    Trajectory,
    finite_section,
    from_bytes,
    to_bytes,
)
from validation.running.processes.frames import pack
from validation.running.processes.live import run_live

LONGEST_TRACE = 8000  # characters of a traceback: its end says where


def answer(engine: Any, request: dict[str, Any], scene: Scene) -> bytes:
    """The framed reply to a simulation asked for; engine errors are outcomes."""
    found = request if "settings" in request else plan(engine, request, scene)
    if reason := found.get("error") or found.get("unavailable"):
        return pack({"outcome": found.get("outcome", "crashed"), "reason": reason})
    if reason := found.get("declined"):
        return pack({"outcome": "declined", "reason": reason})
    if before := request.get("before"):
        with suppress(Exception):  # whatever becomes of it
            engine.simulate(parse_scene(json.loads(before)), request["dt"], found["settings"])
    return simulate(engine, scene, request["dt"], found["settings"], request.get("exercise"))


def describe(engine: Any, asked: dict[str, Any], body: bytes) -> bytes:
    """The scene of a model that the engine has loaded, as JSON; or why it does not load it. `alone`: one that stands
    alone, and what it has not of the model."""
    try:
        settings = settings_of_model(engine, asked["overrides"])
        given = Model.model_validate_json(body), asked["duration"], asked["title"], settings
        if not asked.get("alone"):
            scene = engine.describe(*given)
            return pack({"outcome": "completed", "reason": ""}, write_scene(scene, indent=None).encode())
        found = engine.stand_alone(*given)
        header = {"outcome": "completed", "reason": "", "lost": list(found.lost)}
        return pack(header, write_scene(found.scene, indent=None).encode())
    except (ModelError, SceneError, SettingError) as error:
        return pack({"outcome": "declined", "reason": message_of(error)})
    except BaseException as error:
        return failed(engine, error)


def plan(engine: Any, item: dict[str, Any], scene: Scene) -> dict[str, Any]:
    """Settings as resolved, or why the engine declines, or what is wrong with the settings given or the engine."""
    try:
        settings = plain(engine, resolve_settings(engine, item["profile"], item["overrides"], scene, item["dt"]))
        return {"settings": settings, "declined": declined(engine, scene)}
    except SettingError as error:
        return {"error": str(error)}
    except BaseException as error:  # of one scene; the engine's other cases are planned all the same
        failed = failure(error, adapted(engine))
        return {"unavailable": failed["reason"], "outcome": failed["outcome"]}


def simulate(
    engine: Any, scene: Any, dt: float, settings: dict[str, Any], exercise: dict[str, Any] | None = None
) -> bytes:
    """`exercise`: of an ability, as `validation.engines.answers` has them, in place of the plain motion."""
    started, started_cpu = time.perf_counter(), time.process_time()
    try:
        with collected_step_times() as step_times, collected_broken_motions() as recorded:
            if exercise is None:
                trajectory = simulated(engine, scene, dt, settings)
            else:
                trajectory = exercised(engine, scene, dt, settings, exercise)
        wall, cpu = time.perf_counter() - started, time.process_time() - started_cpu
    except BaseException as error:  # also SystemExit, and whatever else an engine may raise
        return failed(engine, error, *recorded)
    if fault := spoiled(trajectory, scene):
        return broken({"outcome": fault[0], "reason": fault[1]}, trajectory)
    # An engine that does not record step by step has its whole simulation counted as stepping.
    times = np.array(step_times or [wall])
    encoded = to_bytes(trajectory)
    return pack(
        {"outcome": "completed", "reason": "", "trajectory_bytes": len(encoded), "cpu_share": min(1.0, cpu / wall)},
        encoded + times.astype("<f8").tobytes(),
    )


def replay(engine: Any, scene: Scene, request: dict[str, Any], states: bytes) -> bytes:
    """One step from each state. Without settings, as `answer` has them."""
    found = {"settings": request["replay"]} if request["replay"] is not None else plan(engine, request, scene)
    if "settings" not in found or found.get("declined"):
        reason = found.get("declined") or found.get("error") or found.get("unavailable")
        return pack({"outcome": "declined", "reason": str(reason)})
    try:
        encoded = to_bytes(one_step(engine, scene, request["dt"], found["settings"], from_bytes(states)))
    except BaseException as error:
        return failed(engine, error)
    return pack({"outcome": "completed", "reason": "", "trajectory_bytes": len(encoded)}, encoded)


def query_reply(engine: Any, scene: Scene, request: dict[str, Any], poses: bytes) -> bytes:
    """What the engine answers of each pose; declined is an outcome."""
    found = plan(engine, request, scene)
    if reason := found.get("declined"):
        return pack({"outcome": "declined", "reason": reason})
    if reason := found.get("error") or found.get("unavailable"):
        return pack({"outcome": found.get("outcome", "crashed"), "reason": reason})
    try:
        encoded = queried(engine, request["query"], scene, found["settings"], Poses.from_bytes(poses)).to_bytes()
    except BaseException as error:
        return failed(engine, error)
    return pack({"outcome": "completed", "reason": ""}, encoded)


def live_reply(engine: Any, scene: Scene, request: dict[str, Any], writable: int) -> bytes:
    """Frames go out as they come; the reply is why there are no more."""

    def write(header: dict[str, Any], body: bytes) -> None:
        view = memoryview(pack(header | {"more": True}, body))
        while view:
            view = view[os.write(writable, view) :]

    try:
        run_live(engine, scene, request, request["settings"], write)
    except BaseException as error:
        return failed(engine, error)
    return pack({"outcome": "completed", "reason": ""})


def failed(engine: Any, error: BaseException, *recorded: Trajectory) -> bytes:
    """Whatever an engine raises is its outcome, with its words; `recorded` is its motion so far."""
    match error:
        case DeclinedError() | ModelError():
            return pack({"outcome": "declined", "reason": message_of(error)})
        case NotFiniteError():
            return broken({"outcome": "not_finite", "reason": message_of(error)}, *recorded)
        case MemoryError():
            return pack({"outcome": "out_of_memory", "reason": in_a_line(error)})
    trace = "".join(traceback.format_exception(error))[-LONGEST_TRACE:]
    return broken(failure(error, adapted(engine)) | {"trace": trace}, *recorded)


def broken(header: dict[str, Any], *recorded: Trajectory) -> bytes:
    """With the finite section of the motion, to be shown: it is measured and judged by nobody."""
    shown = finite_section(recorded[-1]) if recorded else None
    if shown is None:
        return pack(header)
    encoded = to_bytes(shown)
    return pack(header | {"trajectory_bytes": len(encoded)}, encoded)
