"""Plans cases with their engines: settings resolved, declined ones known; nothing is simulated yet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.scenario import Scenario
from scenarios.scene import content_hash, write_scene
from validation.engines import EngineChoice, engine_of
from validation.engines.engine import SettingError
from validation.records.case import Case, Identity, platform_class
from validation.records.simulation import Status
from validation.running.processes.executor import Executor, Server

STEP = 1.0 / 240.0  # s, the canonical time step
MOST_STEPS = 1e9  # of a motion; an engine takes a minute for 1e8 of one ball
UNKNOWN = "unknown"  # version of an engine that could not be loaded
PLANNING_LIMIT = 60.0  # s for the settings of all cases of an engine, and which it declines
STARTING = 16  # engines at once: of a hundred, all would be late together


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One cell to fill: a scenario on an engine as chosen on the command line."""

    scenario: Scenario
    engine: EngineChoice
    profile: str | None = None  # None: fair where the engine has it, else its first
    dt: float = STEP
    alias: str = ""
    declined: str = ""  # why its engine does not load the model that the scenario is of

    @classmethod
    def again(cls, scenario: Scenario, case: Case) -> Request:
        """What a case of the scenario was planned by."""
        own = case.identity
        return cls(
            scenario=scenario, engine=engine_of(case.engine_label), profile=own.profile, dt=own.dt, alias=own.alias
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    case: Case
    scenario: Scenario
    scene_text: str  # its scene as JSON
    word: str  # which server simulates it
    declined: str | None = None
    unavailable: str | None = None
    unavailable_as: Status = "crashed"

    @property
    def cost(self) -> float:
        """A guess, for starting the long ones first."""
        scene = self.scenario.scene
        return scene.duration / self.case.identity.dt * len(scene.bodies)


def plan_cases(pool: Executor, requests: Sequence[Request]) -> list[Plan]:
    """Start the engines, resolve every case's settings, ask who declines. Raises SettingError, SceneError.

    An engine that cannot be loaded makes its cases `unavailable`, each with the reason.
    """
    remotes = engine_remotes(pool, {request.engine.word for request in requests})
    hellos = {word: remote.hello or {} for word, remote in remotes.items()}
    groups: dict[str, list[Request]] = {}
    for request in requests:
        groups.setdefault(request.engine.word, []).append(request)
    texts = {id(request.scenario): write_scene(request.scenario.scene, indent=None) for request in requests}
    hashes = {id(request.scenario): content_hash(request.scenario.scene) for request in requests}
    asked: dict[int, str] = {}
    answers: dict[str, list[dict[str, Any]]] = {}
    for word, group in groups.items():
        if "error" in hellos[word]:
            answers[word] = [{}] * len(group)
            continue
        items = [
            {
                "scene": texts[id(r.scenario)],
                "dt": r.dt,
                "profile": profile_of(r, hellos[word]),
                "overrides": dict(r.engine.overrides),
            }
            for r in group
        ]
        asked[
            pool.ask(remotes[word], {"plan": len(items), "time_limit": PLANNING_LIMIT}, json.dumps(items).encode())
        ] = word
    while asked:
        for reply in pool.wait():
            word = asked.pop(reply.id)
            reason, outcome = reply.header.get("reason", "no answer"), reply.header.get("outcome", "crashed")
            plans = reply.header.get("plans", ())
            if len(plans) != len(groups[word]):
                plans = [{"unavailable": f"{word}: {reason}", "outcome": outcome}] * len(groups[word])
            answers[word] = plans
    of = {id(request): answer for word in groups for request, answer in zip(groups[word], answers[word])}
    if wrong := next((answer["error"] for answer in of.values() if "error" in answer), None):
        raise SettingError(wrong)
    return [_plan(r, of[id(r)], hellos[r.engine.word], texts[id(r.scenario)], hashes[id(r.scenario)]) for r in requests]


def begin_engines(pool: Executor, words: set[str]) -> None:
    """Their servers import while the command goes on; nobody waits for them yet."""
    for word in sorted(words - {remote.what for remote in pool.remotes})[:STARTING]:
        pool.start_engine(word)


def engine_remotes(pool: Executor, words: set[str]) -> dict[str, Server]:
    """The server of each engine, running; `hello` says what it is or why it is not."""
    remotes = {remote.what: remote for remote in pool.remotes if remote.what in words}
    pool.greet(list(remotes.values()))
    absent = sorted(words - remotes.keys())
    for first in range(0, len(absent), STARTING):
        started = {word: pool.start_engine(word) for word in absent[first : first + STARTING]}
        pool.greet(list(started.values()))
        remotes |= started
    return remotes


def hello_of(pool: Executor, choice: EngineChoice) -> dict[str, Any]:
    """What an engine's server says of it; "error": why it cannot be used."""
    return engine_remotes(pool, {choice.word})[choice.word].hello or {}


def profile_of(request: Request, hello: dict[str, Any]) -> str:
    """The name of the profile that it is run with; `hello`: what the engine's server says of it."""
    if getattr(request.scenario.scene, "native", None) is not None:  # it has its own options, whatever is asked for
        return "default"
    known = hello.get("profiles", ["fair"])
    return request.profile or ("fair" if "fair" in known else known[0])


def too_many_steps(duration: float, dt: float) -> str:
    """Why a motion of so long, s, is not begun; "" where it is."""
    steps = duration / dt
    if steps <= MOST_STEPS:
        return ""
    return f"{duration:g} s are {steps:.1e} steps of {dt:g} s; allowed: {MOST_STEPS:.0e}; give --dt"


def _plan(request: Request, answer: dict[str, Any], hello: dict[str, Any], text: str, scene_hash: str) -> Plan:
    scenario = request.scenario
    case = Case(
        identity=Identity(
            scenario=scenario.name,
            given=json.dumps(scenario.given, sort_keys=True),
            engine=request.engine.name,
            profile=profile_of(request, hello),
            dt=request.dt,
            platform=platform_class(),
            alias=request.alias,
        ),
        label=scenario.label,
        engine_label=request.engine.label,
        scene_hash=scene_hash,
        engine_version=hello.get("version", UNKNOWN),
        settings=answer.get("settings", {}),
        parameters=scenario.parameters_json,
        processor=hello.get("processor", ""),
    )
    return Plan(
        case=case,
        scenario=scenario,
        scene_text=text,
        word=request.engine.word,
        declined=request.declined or too_many_steps(scenario.scene.duration, request.dt) or answer.get("declined"),
        unavailable=hello.get("error") or answer.get("unavailable"),
        unavailable_as=(hello | answer).get("outcome", "crashed"),
    )
