"""Comparisons with twins (`pairs`): of a stored find, and those that are under way in a search, asked for as processes
are free, and counted."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, content_hash
from validation.engines import EngineChoice, engine_of
from validation.records.case import Value
from validation.records.simulation import Simulation
from validation.records.stored import StoredFind
from validation.running.planning import Request, hello_of
from validation.running.processes.executor import Executor, Reply
from validation.running.runner import Limits, simulate_unplanned, simulation_of
from validation.tools.fuzzing.comparison import Asked, Compared, Comparison, driven
from validation.tools.fuzzing.oracles import GIVES_UP, Violation, judge_scene
from validation.tools.fuzzing.pairs import Relations, compare_with_twin, typed

EVERY = 8  # one scene in so many has a twin
EVERY_TIED = 2  # of those with joints, where solvers have most to do; settings are tried in steps of each of these
SCENE_LIMIT = 10.0  # s of wall-clock time for one scene: a few bodies for seconds; more is a hang

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A scene in which a law is broken, or was."""

    scene: Scene
    dt: float  # s
    engine: EngineChoice
    profile: str
    oracle: str

    @classmethod
    def of(cls, find: StoredFind) -> "Tried":
        engine = engine_of(find.engine)
        return cls(scene=find.scene, dt=find.dt, engine=engine, profile=find.profile, oracle=find.oracle)


@dataclass(slots=True)
class Counts:
    """Of a relation: in how many scenes it was tried, and holds."""

    scenes: int = 0
    in_a_step: int = 0
    runs: int = 0  # of these, so many were compared over the whole run
    in_the_run: int = 0

    def add(self, compared: Compared) -> None:
        self.scenes += 1
        self.in_a_step += compared.in_a_step
        self.runs += compared.in_the_run is not None
        self.in_the_run += compared.in_the_run is True


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    of: T
    comparison: Comparison
    found: list[Simulation | None] = field(default_factory=list)  # of what is asked for together


class Comparisons(Generic[T]):
    """`ask` sends one question and gives its number, `done` gets what a comparison has shown, if anything."""

    def __init__(self, ask: Callable[[T, Asked], int], done: Callable[[T, Compared], None]) -> None:
        self.ask, self.done = ask, done
        self.open: dict[int, tuple[_Job[T], int]] = {}
        self.waiting: deque[tuple[_Job[T], int, Asked]] = deque()

    def begin(self, of: T, comparison: Comparison) -> None:
        self._go_on(_Job(of, comparison), None)

    def ask_next(self, free: int) -> None:
        """As many as there are free processes."""
        while self.waiting and free > 0:
            job, i, asked = self.waiting.popleft()
            self.open[self.ask(job.of, asked)] = job, i
            free -= 1

    def take(self, reply: Reply) -> bool:
        """Whether the reply is of a comparison."""
        if reply.id not in self.open:
            return False
        job, i = self.open.pop(reply.id)
        job.found[i] = simulation_of(reply)
        found = [one for one in job.found if one is not None]
        if len(found) == len(job.found):
            self._go_on(job, found)
        return True

    def give_up(self) -> None:
        """What is not asked for yet: the time is over."""
        self.waiting.clear()

    def _go_on(self, job: _Job[T], found: list[Simulation] | None) -> None:
        try:
            asked = next(job.comparison) if found is None else job.comparison.send(found)
        except StopIteration as end:
            if end.value is not None:
                self.done(job.of, end.value)
            return
        job.found = [None] * len(asked)
        self.waiting.extend((job, i, one) for i, one in enumerate(asked))


def turn_of(scene: Scene) -> int | None:
    """Of the relations of a scene that has a twin, which one is tried; None where it has none: by what the scene is."""
    number, every = int(content_hash(scene)[:8], 16), EVERY_TIED if scene.joints else EVERY
    return None if number % every else number // every


def broken_by(pool: Executor, tried: Tried, simulation: Simulation) -> dict[str, Violation]:
    """By oracle, the laws that a simulation of a scene breaks, or, where it breaks none, the law's relation to a
    twin, which is simulated here."""
    broken = judge_scene(tried.scene, tried.dt, simulation, tried.engine.name)
    if tried.oracle == GIVES_UP and simulation.limit == "given up":
        return {GIVES_UP: Violation(oracle=GIVES_UP, message=simulation.reason)}
    compared = None if broken else compared_with_twin(pool, tried, simulation)
    if compared is None or compared.violation is None:
        return broken
    return {compared.violation.oracle: compared.violation}


def compared_with_twin(pool: Executor, tried: Tried, simulation: Simulation) -> Compared | None:
    """By the relation that the find is of; None where it is of none that the engine promises."""
    choice = tried.engine
    relations = Relations.of(hello_of(pool, choice), choice.name)
    relation = relations.by_oracle(tried.oracle, tried.scene, choice.overrides)
    if relation is None:
        return None

    def simulate(asked: Asked) -> Simulation:
        engine, profile = with_settings(choice, asked.settings), tried.profile
        if asked.engine:
            engine, profile = engine_of(asked.engine), "default"
        request = Request(
            scenario=scenario_from_scene("fuzzed", asked.scene), engine=engine, profile=profile, dt=asked.dt
        )
        limits = Limits(time_limit=SCENE_LIMIT)
        return simulate_unplanned(pool, request, profile, limits, before=asked.before, states=asked.states)

    comparison = compare_with_twin(relation, tried.scene, tried.dt, simulation, relations)
    return driven(comparison, lambda several: [simulate(one) for one in several])


def with_settings(choice: EngineChoice, settings: Mapping[str, Value]) -> EngineChoice:
    """Over its own."""
    return replace(choice, overrides={**choice.overrides, **dict(typed(settings))})
