"""A stored find as a script, and as an issue: simulated again, so that both show what its engine does now."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from validation.engines import EngineChoice, engine_of
from validation.engines.engine import Value
from validation.records.quantities import time_step
from validation.records.simulation import Simulation
from validation.running import kernel_cache, runner
from validation.running.environments import environment_of, is_here
from validation.running.executors import executor_at
from validation.running.options import LOCAL, RunError
from validation.running.planning import Request, hello_of, plan_cases
from validation.running.processes.executor import Executor
from validation.running.runner import Limits
from validation.store import StoredFind
from validation.tools.fuzzing.comparing import Tried, compared_with_twin, with_settings
from validation.tools.fuzzing.comparison import is_of_a_pair
from validation.tools.fuzzing.oracles import DOCUMENTED, FINER, Violation, is_of_the_step, judge_scene
from validation.tools.fuzzing.scripts.parts import ScriptError
from validation.tools.fuzzing.scripts.script import refuse, script_of
from validation.tools.fuzzing.scripts.two_ways import TwoWays, script_of_two
from validation.tools.fuzzing.search import SCENE_LIMIT
from validation.tools.fuzzing.twins import twin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A find as a script."""

    script: str
    choice: EngineChoice
    version: str  # of the engine
    violation: Violation  # as it is here and now
    promise: str = ""  # by the engine's documents, that it breaks; "": a law
    finer: str = ""  # what more steps change, a sentence; "": nobody would say to take more


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A find, simulated here and now."""

    find: StoredFind
    version: str  # of the engine
    settings: Mapping[str, Value]  # as resolved
    simulation: Simulation
    two_ways: TwoWays | None = None  # of a find that is of two simulations
    finer: Simulation | None = None  # as `finer_of` has it; None: nobody would say to take more steps

    def exported(self) -> Exported:
        """Raises ScriptError where it breaks no law here any more, and for what a script cannot express or show."""
        find, choice = self.find, engine_of(self.find.engine)
        refuse(choice.name, find.scene)
        motion, label = self.simulation.trajectory, choice.label
        if (ways := self.two_ways) is not None and ways.compared.must is not None:
            violation = ways.compared.violation
            assert violation is not None
            settings, must = dict(self.settings), ways.compared.must
            script = script_of(choice.name, self.version, find.scene, find.dt, settings, violation, motion, must)
            return Exported(script=script, choice=choice, version=self.version, violation=violation)
        if ways is not None:
            script = script_of_two(choice.name, self.version, find.scene, find.dt, ways, motion)
            assert ways.compared.violation is not None
            return Exported(
                script=script,
                choice=choice,
                version=self.version,
                violation=ways.compared.violation,
                promise=ways.relation.promise,
            )
        broken = {} if is_of_a_pair(find.oracle) else judge_scene(find.scene, find.dt, self.simulation)
        if not broken:
            raise ScriptError(f"{label} breaks no law here any more (it did: {find.message})")
        violation = broken.get(find.oracle) or next(iter(broken.values()))
        settings = dict(self.settings)
        script = script_of(choice.name, self.version, find.scene, find.dt, settings, violation, motion)
        finer = self._finer_line(violation)
        return Exported(script=script, choice=choice, version=self.version, violation=violation, finer=finer)

    def _finer_line(self, violation: Violation) -> str:
        if self.finer is None:
            return ""
        choice, dt, advised = finer_of(self.find)
        how = ", ".join([f"{FINER} times as many steps", f"of {time_step(dt)}", *advised])
        broken = judge_scene(self.find.scene, dt, self.finer, choice.name).get(violation.oracle)
        if broken is None:
            return f"With {how}, it does not happen."
        return f"With {how}, it happens, too: {broken.message}."


def finer_of(find: StoredFind) -> tuple[EngineChoice, float, list[str]]:
    """What the engine's authors would say to try: finer steps, s, and what their documents advise beside them, as
    settings that are typed."""
    choice = engine_of(find.engine)
    advised = {name: value for name, value in DOCUMENTED.get(choice.name, {}).items() if name not in choice.overrides}
    finer = replace(choice, overrides={**choice.overrides, **advised})
    return finer, find.dt / FINER, [f"{name}={value}" for name, value in advised.items()]


def shown_by(pool: Executor, find: StoredFind) -> Shown:
    """Raises RunError where the engine cannot be used, SettingError where it has not the settings of the find, and
    ScriptError where it declines the scene now."""
    choice = engine_of(find.engine)
    scenario = scenario_from_scene("fuzzed", find.scene)
    request = Request(scenario=scenario, engine=choice, profile=find.profile, dt=find.dt)
    hello = hello_of(pool, choice)
    if "error" in hello:
        raise RunError(f"{choice.label}: {hello['error']}")
    (plan,) = plan_cases(pool, [request])
    if plan.declined is not None:
        raise ScriptError(f"{choice.label} does not run it any more: {plan.declined}")
    simulation = runner.simulate_unplanned(pool, request, find.profile, Limits(time_limit=SCENE_LIMIT))
    finer = None
    if is_of_the_step(Violation(oracle=find.oracle, message=find.message)):
        engine, dt, _ = finer_of(find)
        request = replace(request, engine=engine, dt=dt)
        finer = runner.simulate_unplanned(pool, request, find.profile, Limits(time_limit=SCENE_LIMIT))
    version = str(hello.get("version", find.engine_version))
    ways = two_ways_of(pool, find, simulation) if is_of_a_pair(find.oracle) else None
    settings = plan.case.settings
    return Shown(find=find, version=version, settings=settings, simulation=simulation, two_ways=ways, finer=finer)


def two_ways_of(pool: Executor, find: StoredFind, simulation: Simulation) -> TwoWays | None:
    """None where they do not differ here any more."""
    choice = engine_of(find.engine)
    compared = compared_with_twin(pool, Tried.of(find), simulation)
    if compared is None or compared.violation is None:
        return None
    relation, scenario = compared.relation, scenario_from_scene("fuzzed", find.scene)
    requests = [
        Request(scenario=scenario, engine=with_settings(choice, settings), profile=find.profile, dt=find.dt)
        for settings in (relation.one, relation.other)
    ]
    one, other = (dict(plan.case.settings) for plan in plan_cases(pool, requests))
    motion = simulation.trajectory
    twin = None if motion is None else twin_of(relation.change, find.scene, find.dt, motion)
    before = None if twin is None else twin.before
    return TwoWays(relation=relation, compared=compared, settings=(one, other), before=before)


def export_find(find: StoredFind, executor: str = LOCAL) -> Exported:
    """Raises what `shown_by` and `Shown.exported` do, with the number of the find."""
    try:
        refuse(engine_of(find.engine).name, find.scene)  # before anything is started
        kernel_cache.use_kernel_cache()
        choice = engine_of(find.engine)
        commands = {} if is_here(choice) else {choice.word: environment_of(choice).command}
        with executor_at(executor, commands) as pool:
            return shown_by(pool, find).exported()
    except ScriptError as error:
        raise ScriptError(f"find {find.number}: {error}") from None
