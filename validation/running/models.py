"""Models of a user's own among the scenarios of a command: read once, described by each engine that runs them.

An engine, and each release of it, describes the model as it has loaded it; so each is measured by its own masses and
shapes. What is compared over releases is known by the model's files and start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.scene_file import file_name, scenario_from_scene
from scenarios.native import Model, ProbeKind
from scenarios.scenario import Scenario
from scenarios.scene import parse_scene
from scenarios.scene_error import SceneError
from validation.engines import LOADS, EngineChoice, default_engines, engine_of
from validation.engines.takes import loads_none
from validation.judging.policy import LEAST_STARTS
from validation.running.function_files import function_model, is_function
from validation.running.model_files import is_model, read_model, starts_in
from validation.running.options import AS_IT_IS, ModelOptions, RunError
from validation.running.planning import STEP, engine_remotes
from validation.running.probes import SWEEP_STEP, probed, probes_of
from validation.running.processes.executor import Executor
from validation.running.runner import Limits

DURATION = 2.0  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenModel:
    """A model that no engine has loaded yet."""

    name: str  # of its file, and where there are several of its start or of what is done to it
    model: Model
    duration: float
    probes: tuple[ProbeKind, ...] = ()  # run in place of it
    label: str = field(init=False)
    given: dict[str, Any] = field(init=False)  # what it is known by, as `Scenario.given`

    def __post_init__(self) -> None:
        content = self.model.digest(self.duration)
        object.__setattr__(self, "label", f"{self.name}:content={content[:8]}")
        object.__setattr__(self, "given", {"content": content})

    def described(self, text: str) -> Scenario:
        """The scenario of a description, with the model's files. Raises SceneError."""
        scene = parse_scene(json.loads(text), where=self.name)
        assert scene.native is not None
        native = scene.native.model_copy(update={"model": self.model})
        return scenario_from_scene(self.name, scene.model_copy(update={"native": native}))


def given_of(words: Iterable[str], asked: ModelOptions = AS_IT_IS) -> list[Scenario | GivenModel]:
    """What words name: scenarios, or the paths of models, each from all starts that are asked for. Raises
    ParameterError, SceneError; RunError where options are of models and there is none."""
    found: list[Scenario | GivenModel] = []
    for word in words:
        found += models_of(word, asked) if is_model(word) or is_function(word) else [scenario_of(word)]
    check_options(found, asked)
    return found


def check_options(given: Iterable[Scenario | GivenModel], asked: ModelOptions) -> None:
    """Raises RunError where options are of models and there is none."""
    if asked.given and not any(isinstance(one, GivenModel) for one in given):
        raise RunError(f"{asked.given[0]}: is of models, and none is given; name a .xml or .urdf file")


def models_of(word: str, asked: ModelOptions) -> list[GivenModel]:
    """One of each start. Raises SceneError, RunError."""
    if is_function(word):
        return [_function(word, asked)]
    together = [text for text in asked.starts if _is_ensemble(text, asked)]
    if together:
        rest = replace(asked, starts=tuple(text for text in asked.starts if text not in together))
        made = [_ensemble(word, text, asked) for text in together]
        return [*made, *(models_of(word, rest) if rest.starts else ())]
    starts = [one for text in asked.starts for one in starts_in(text)] or [""]
    several = len(starts) > 1
    return [
        GivenModel(
            name="+".join([file_name(Path(word)), *([_plain(Path(start).stem)] if several else [])]),
            model=read_model(word, root=asked.root, start=start),
            duration=asked.duration or DURATION,
            probes=asked.probes,
        )
        for start in starts
    ]


def _is_ensemble(text: str, asked: ModelOptions) -> bool:
    """Whether these starts are one: a folder with as many as it takes."""
    return asked.together and not asked.probes and Path(text).is_dir() and len(starts_in(text)) >= LEAST_STARTS


def _ensemble(word: str, text: str, asked: ModelOptions) -> GivenModel:
    first, *others = (read_model(word, root=asked.root, start=start) for start in starts_in(text))
    return GivenModel(
        name="+".join([file_name(Path(word)), _plain(Path(text).name)]),
        model=first.model_copy(update={"others": tuple(one.start for one in others)}),
        duration=asked.duration or DURATION,
    )


def _function(word: str, asked: ModelOptions) -> GivenModel:
    if asked.root or asked.starts:
        raise RunError(f"{word}: --root and --from are of model files; the function says where bodies start")
    return GivenModel(
        name=word.replace(":", "."),
        model=function_model(word),
        duration=asked.duration or DURATION,
        probes=asked.probes,
    )


def _plain(text: str) -> str:
    """As a label may have it."""
    return re.sub(r"[^\w.#-]", "_", text)[:60]


def as_given(scenario: Scenario) -> Scenario | GivenModel:
    """A described model is described anew by whichever engine runs it."""
    native = getattr(scenario.scene, "native", None)
    if native is None:
        return scenario
    return GivenModel(name=scenario.name, model=native.model, duration=scenario.scene.duration)


def engines_for(given: Sequence[Scenario | GivenModel]) -> list[EngineChoice]:
    """Those that are run where none is named: of models alone, those that load them."""
    languages = {one.model.language for one in given if isinstance(one, GivenModel)}
    only_models = bool(given) and all(isinstance(one, GivenModel) for one in given)
    names = [name for name in default_engines() if not only_models or languages & LOADS.get(name, frozenset())]
    if not names:
        able = [name for name, loaded in LOADS.items() if languages & loaded]
        wanted = ", ".join(sorted(languages)).upper()
        raise RunError(f"no engine that is here loads {wanted}; it takes {' or '.join(able)}")
    return [engine_of(name) for name in names]


@dataclass(slots=True)
class Loading:
    """What each engine makes of the models, asked once."""

    pool: Executor
    limits: Limits
    _found: dict[tuple[str, str], Scenario | str] = field(default_factory=dict)  # by label of engine and of model

    def load(
        self, given: Iterable[Scenario | GivenModel], choices: Sequence[EngineChoice]
    ) -> list[Scenario | GivenModel]:
        """Ask each engine to describe each model; what is run: a model's probes, where they are asked for, in place of
        it. Raises RunError where no engine loads one of them."""
        given = list(given)
        models, engines = [one for one in given if isinstance(one, GivenModel)], {one.label: one for one in choices}
        self._ask({(label, one.label): (choice, one) for one in models for label, choice in engines.items()})
        for one in models:
            if self._any(one) is None:
                raise RunError(f"{one.name}: {self._found[next(iter(engines)), one.label]}")
        if not any(one.probes for one in models):
            return given
        return self.load([made for one in given for made in self._probed(one)], choices)

    def _probed(self, given: Scenario | GivenModel) -> list[Scenario | GivenModel]:
        if isinstance(given, Scenario) or not given.probes:
            return [given]
        described = self._any(given)
        assert described is not None
        probes = probes_of(described.scene, given.probes)
        if not probes:
            named = ", ".join(given.probes)
            raise RunError(f"{given.name}: nothing to probe by {named}; it has no free body and no position servo")
        return [
            replace(
                given,
                name="+".join([given.name, _plain(probe.title.replace(" ", "-"))]),
                model=probed(given.model, probe),
                probes=(),
            )
            for probe in probes
        ]

    def on(self, given: Scenario | GivenModel, choice: EngineChoice) -> tuple[Scenario, str]:
        """What the engine runs, which has loaded it; or another's description, and why it does not load the model."""
        if isinstance(given, Scenario):
            return given, ""
        found, other = self._found[choice.label, given.label], self._any(given)
        assert other is not None
        return (other, found) if isinstance(found, str) else (found, "")

    def ask(self, given: Iterable[GivenModel], choice: EngineChoice) -> None:
        """Have the engine describe each, whether it can or not."""
        self._ask({(choice.label, one.label): (choice, one) for one in given})

    def on_or_why(self, given: GivenModel, choice: EngineChoice) -> tuple[Scenario | None, str]:
        """What the engine runs, or why it does not load the model so; it was asked before."""
        found = self._found[choice.label, given.label]
        return (None, found) if isinstance(found, str) else (found, "")

    def _any(self, given: GivenModel) -> Scenario | None:
        found = (one for (_, label), one in self._found.items() if label == given.label)
        return next((one for one in found if isinstance(one, Scenario)), None)

    def _ask(self, wanted: dict[tuple[str, str], tuple[EngineChoice, GivenModel]]) -> None:
        """By label of engine and of model: what settings an engine has may be part of how it loads a model."""
        owed = {key: one for key, one in wanted.items() if key not in self._found}
        remotes = engine_remotes(self.pool, {choice.word for choice, _ in owed.values()})
        asked: dict[int, tuple[str, str]] = {}
        for key, (choice, given) in owed.items():
            remote = remotes[choice.word]
            hello = remote.hello or {}
            if given.model.language not in hello.get("loads", ()):
                self._found[key] = hello.get("error") or loads_none(choice.word, given.model.language)
                continue
            header = {
                "describe": {"duration": given.duration, "title": "", "overrides": dict(choice.overrides)},
                "time_limit": self.limits.time_limit,
                "memory_limit": self.limits.memory_limit,
            }
            asked[self.pool.ask(remote, header, given.model.model_dump_json().encode())] = key
        while asked:
            for reply in self.pool.wait(0.25):
                if reply.id in asked:
                    key = asked.pop(reply.id)
                    self._found[key] = _answer(owed[key][1], reply.header, reply.body)


def _answer(given: GivenModel, header: dict[str, Any], body: bytes) -> Scenario | str:
    if header.get("outcome") != "completed":
        return str(header.get("reason") or "no answer")
    try:
        return given.described(body.decode())
    except SceneError as error:
        return str(error)


def step_of(scenario: Scenario) -> float:
    """s, that is taken where none is asked for."""
    native = getattr(scenario.scene, "native", None)
    if native is None:
        return STEP
    probe = native.model.probe
    return SWEEP_STEP if probe is not None and probe.kind == "separation" else float(native.step)
