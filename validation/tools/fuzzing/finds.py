"""Finds: what a search stores, and what becomes of it: replayed, known, fixed."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, content_hash
from validation.engines import EngineChoice, engine_of
from validation.records.simulation import Simulation
from validation.report.finds import FindState
from validation.running import kernel_cache, runner
from validation.running.cluster.address import ExecutorError
from validation.running.environments import environment_of, is_here
from validation.running.executors import executor_at
from validation.running.models import GivenModel, Loading
from validation.running.options import LOCAL, RunError
from validation.running.package_index import BuildError
from validation.running.planning import Request, engine_remotes, hello_of
from validation.running.processes.executor import Executor
from validation.running.runner import Limits
from validation.store import Store, StoredFind
from validation.tools.fuzzing.comparing import Tried, broken_by, with_settings
from validation.tools.fuzzing.drawing import NONE_GIVEN, Given
from validation.tools.fuzzing.fault import Fault
from validation.tools.fuzzing.models import ModelSearch
from validation.tools.fuzzing.oracles import Violation
from validation.tools.fuzzing.scripts.export import shown_by
from validation.tools.fuzzing.scripts.issue import issue_of
from validation.tools.fuzzing.scripts.parts import ScriptError
from validation.tools.fuzzing.search import SCENE_LIMIT, Broken, Fuzzer, Search

STORED = [field.name for field in fields(Fault) if field.name not in ("options", "size", "begun")]
"""Of a fault; its options are in the name of the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A find, and what it does now."""

    find: StoredFind
    engine_version: str  # now
    simulation: Simulation | None  # None: the engine is not here
    broken: Broken

    @property
    def violation(self) -> Violation | None:
        """Its own law broken, or the first of any other; None where none is, or nothing was simulated."""
        return self.broken.get(self.find.oracle) or next(iter(self.broken.values()), None)

    @property
    def messages(self) -> dict[str, str]:
        """By law."""
        return {oracle: one.message for oracle, one in self.broken.items()}

    @property
    def fails(self) -> bool:
        """Whether somebody has to see to it: of what is known, only another law than its own."""
        return self.violation is not None and not (self.find.known and self.find.oracle in self.broken)

    @property
    def is_fixed(self) -> bool:
        """Whether its scene is simulated to its end and breaks no law, which is news."""
        ended = self.simulation is not None and self.simulation.outcome == "completed"
        return ended and not self.broken and not self.find.fixed_in

    @property
    def state(self) -> FindState:
        if self.fails:
            return "fails"
        if self.violation is not None:
            return "known"
        if self.simulation is None or self.simulation.outcome != "completed":
            return "not simulated"
        return "fixed" if self.is_fixed else "passes"


def fuzz_engine(
    store: Store,
    choice: EngineChoice,
    profile: str | None,
    seconds: float,
    seed: int,
    progress: Callable[[str], None],
    executor: str = LOCAL,
    given: Given = NONE_GIVEN,
    without: EngineChoice | None = None,
    model: GivenModel | None = None,
) -> tuple[Search, str, list[StoredFind]]:
    """What a search did, the profile that it ran with, and what it found, which is stored now; `without`: only what
    that other release has not; `model`: of which alone mutations are tried.

    Causes of which a find is stored, and not fixed, are not searched for. Raises RunError, and what `Fuzzer` does.
    """
    known = [fault_of(find, choice) for find in store.finds() if is_found_by(find, choice) and not find.fixed_in]
    others = [one for one in (choice, without) if one is not None and not is_here(one)]
    commands = {one.word: environment_of(one, progress).command for one in others}
    with executor_at(executor, commands) as pool:
        version = _started(pool, choice)
        if without is not None:
            _started(pool, without)
        fuzzer = Fuzzer(pool, choice, profile, seconds, known=known, given=given, without=without)
        search, lost = fuzzer.search, None
        try:
            _searched(fuzzer, choice, model, seed, progress)
        except ExecutorError as error:  # what was found is stored
            lost = error
        used, finds = fuzzer.profile or "", []
        for fault in search.faults:
            found = {name: getattr(fault, name) for name in STORED}
            label = with_settings(choice, dict(fault.options)).label
            number = store.add_find(engine=label, engine_version=version, profile=used, **found)
            finds.append(store.find(number))
        for find in finds if lost is None and not search.stopped else ():
            progress(f"find {find.number} is handed over")
            hand_over(store, pool, find)
    if lost is not None:
        raise ExecutorError(f"{lost}; {len(finds)} found so far, and stored")
    return search, used, finds


def _searched(
    fuzzer: Fuzzer, choice: EngineChoice, model: GivenModel | None, seed: int, progress: Callable[[str], None]
) -> None:
    def shown(found: Search) -> None:
        progress(f"{found.tried} scenes, {len(found.faults)} found")

    if model is None:
        fuzzer.run(seed, shown)
    else:
        loading = Loading(pool=fuzzer.pool, limits=fuzzer.limits)
        ModelSearch(fuzzer=fuzzer, loading=loading, choice=choice, given=model).run(seed, shown)


def release_beside(choices: Sequence[EngineChoice], word: str | None) -> EngineChoice | None:
    """The other release that a word names, of the only engine that is searched. Raises RunError."""
    if word is None:
        return None
    other = engine_of(word)
    if len(choices) != 1 or other.name != choices[0].name:
        names = ", ".join(choice.label for choice in choices)
        raise RunError(f"--not-in {word}: it takes another release of the one engine that is searched, not of {names}")
    return other


def corpus_of(store: Store, choice: EngineChoice) -> tuple[Scene, ...]:
    """Scenes of all that was found, by any engine; but of what this one is known to break still, which it finds again
    only where something else is broken."""
    finds = [find for find in store.finds() if find.fixed_in or not is_found_by(find, choice)]
    return tuple({content_hash(find.scene): find.scene for find in finds}.values())


def hand_over(store: Store, pool: Executor, find: StoredFind) -> StoredFind:
    """Simulated once more: its motion is stored with it, its script, and the issue with what the script prints in a
    fresh process; or why there is none. Raises RunError where the engine cannot be used."""
    shown, script, issue, lacks = None, "", "", ""
    try:
        shown = shown_by(pool, find)
        exported = shown.exported()
        script = exported.script
        issue = issue_of(exported)
    except ScriptError as error:
        lacks = str(error)
    encoded = shown.simulation.encoded if shown else b""
    store.hand_over(find.number, {"script": script, "issue": issue, "lacks": lacks}, encoded)
    return store.find(find.number)


def is_found_by(find: StoredFind, choice: EngineChoice) -> bool:
    """Whether a search of this engine, which draws options, too, may find it."""
    found = engine_of(find.engine)
    return found.word == choice.word and choice.overrides.items() <= found.overrides.items()


def fault_of(find: StoredFind, choice: EngineChoice) -> Fault:
    """As a search of this engine finds it."""
    own = {name: getattr(find, name) for name in STORED}
    options = engine_of(find.engine).overrides.items() - choice.overrides.items()
    return Fault(**own, options=tuple(sorted(options)))


def replay_finds(
    finds: Sequence[StoredFind], executor: str = LOCAL, progress: Callable[[str], None] | None = None
) -> list[Replayed]:
    """All of them simulated again, in their order."""
    kernel_cache.use_kernel_cache()
    commands = {}
    for choice in {choice.word: choice for find in finds if not is_here(choice := engine_of(find.engine))}.values():
        with suppress(BuildError):  # then it is an engine that is not here
            commands[choice.word] = environment_of(choice, progress or (lambda words: None)).command
    with executor_at(executor, commands) as pool:
        return _replayed(pool, finds, progress)


def settle(store: Store, replayed: Sequence[Replayed]) -> None:
    """The store knows which are fixed now, and which are no more."""
    store_motions(store, replayed)
    for one in replayed:
        if one.is_fixed:
            store.mark_fixed(one.find.number, one.engine_version)
        elif one.violation is not None and one.find.fixed_in:
            store.mark_fixed(one.find.number, "")


def store_motions(store: Store, replayed: Sequence[Replayed]) -> None:
    """Of those that break a law, and of which the store has no motion."""
    for one in replayed:
        if one.violation is not None and one.simulation is not None and not one.find.trajectory_key:
            store.hand_over(one.find.number, {}, one.simulation.encoded)


def _replayed(
    pool: Executor, finds: Sequence[StoredFind], progress: Callable[[str], None] | None = None
) -> list[Replayed]:
    """In their order, simulated several at once."""
    choices = {find.number: engine_of(find.engine) for find in finds}
    servers = engine_remotes(pool, {choice.word for choice in choices.values()})
    hellos = {word: server.hello or {} for word, server in servers.items()}
    waiting = [find for find in finds if "error" not in hellos[choices[find.number].word]]
    asked: dict[int, StoredFind] = {}
    simulated: dict[int, Simulation] = {}
    while waiting or asked:
        while waiting and len(asked) < pool.at_once(Limits().workers):
            find = waiting.pop(0)
            scenario = scenario_from_scene("fuzzed", find.scene)
            request = Request(scenario=scenario, engine=choices[find.number], profile=find.profile, dt=find.dt)
            limits = Limits(time_limit=SCENE_LIMIT)
            asked[runner.ask_unplanned(pool, request, find.profile, limits)] = find
        for reply in pool.wait():
            find = asked.pop(reply.id)
            simulated[find.number] = runner.simulation_of(reply)
            if progress is not None:
                progress(f"{len(simulated)} of {len(finds)}")
    return [
        Replayed(
            find=find,
            engine_version=str(hellos[choices[find.number].word].get("version", "unknown")),
            simulation=simulated.get(find.number),
            broken=broken_by(pool, Tried.of(find), simulated[find.number]) if find.number in simulated else {},
        )
        for find in finds
    ]


def _started(pool: Executor, choice: EngineChoice) -> str:
    """The engine's version. Raises RunError where it cannot be used."""
    hello = hello_of(pool, choice)
    if "error" in hello:
        raise RunError(f"{choice.label}: {hello['error']}")
    return str(hello.get("version", "unknown"))
