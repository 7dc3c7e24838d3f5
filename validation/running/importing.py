"""A model of a user's own made a scene of ours, by the engine that loads it (`upright import`)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from scenarios.scene import Scene, parse_scene
from scenarios.scene_error import SceneError
from validation.engines import EngineChoice
from validation.engines.takes import loads_none
from validation.running.models import GivenModel
from validation.running.options import RunError
from validation.running.planning import engine_remotes
from validation.running.processes.executor import Executor
from validation.running.runner import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedScene:
    scene: Scene
    lost: tuple[str, ...]  # what of the model it does not have, each by name


def import_model(pool: Executor, given: GivenModel, choice: EngineChoice, limits: Limits) -> ImportedScene:
    """Raises RunError where the engine does not load the model, or what it has is no scene."""
    remote = engine_remotes(pool, {choice.word})[choice.word]
    hello = remote.hello or {}
    if given.model.language not in hello.get("loads", ()):
        raise RunError(f"{given.name}: {hello.get('error') or loads_none(choice.word, given.model.language)}")
    asked = {"duration": given.duration, "title": given.name, "overrides": dict(choice.overrides), "alone": True}
    header = {"describe": asked, "time_limit": limits.time_limit, "memory_limit": limits.memory_limit}
    number = pool.ask(remote, header, given.model.model_dump_json().encode())
    while True:
        for reply in pool.wait(0.25):
            if reply.id != number:
                continue
            if reply.header.get("outcome") != "completed":
                raise RunError(f"{given.name}: {reply.header.get('reason') or 'no answer'}")
            try:
                scene = parse_scene(json.loads(reply.body.decode()), where=given.name)
            except SceneError as error:
                raise RunError(str(error)) from None
            return ImportedScene(scene=scene, lost=tuple(map(str, reply.header.get("lost", ()))))
