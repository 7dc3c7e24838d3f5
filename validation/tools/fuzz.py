"""Searches random scenes for one in which an engine breaks a law that needs no reference, and shrinks it.

hypothesis draws and shrinks, `oracles` judges, and each scene is simulated in a process of its own: several at once
while nothing is found, one after the other while a find is shrunk.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import PlanarScene, content_hash
from scenarios.strategies import planar_scenes, time_steps
from validation.engines import EngineChoice, engine_of
from validation.records.simulation import Simulation
from validation.running import kernel_cache, runner
from validation.running.cluster.address import ExecutorError
from validation.running.executors import executor_at
from validation.running.options import LOCAL, RunError
from validation.running.planning import Request, hello_of, plan_cases
from validation.running.processes.executor import Executor
from validation.running.runner import Limits
from validation.store import Store, StoredFind
from validation.tools.oracles import ORACLES, judge_scene

BATCH = 100  # scenes between two looks at what was found
SCENE_LIMIT = 10.0  # s of wall-clock time for one scene: a few bodies for seconds; more is a hang

Key = tuple[str, float]  # content hash of a scene, time step
Verdicts = dict[str, str]  # message by oracle; empty: no law is broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A law that an engine broke in a scene."""

    oracle: str  # one of ORACLES
    message: str  # with values
    scene: PlanarScene
    dt: float
    seed: int  # of its batch


@dataclass(slots=True, kw_only=True)
class Search:
    """What a search did."""

    tried: int = 0  # scenes simulated
    declined: int = 0
    wall: float = 0.0
    stopped: bool = False  # by Ctrl-C
    faults: list[Fault] = field(default_factory=list)


@contextmanager
def ctrl_c_calls(note: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C in here; a second one is raised. Raised in one of hypothesis's callbacks, Python would print it
    and go on."""
    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or before is signal.SIG_IGN:  # no other one gets signals; and in the background Ctrl-C is not ours
        yield
        return

    def noted(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        note()

    signal.signal(signal.SIGINT, noted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _FoundError(AssertionError):
    """For hypothesis: this scene is what we look for."""


class Fuzzer:
    """Simulates and judges scenes on one engine, remembering each verdict, until the time is over.

    Raises SettingError for a profile or setting that the engine does not have.
    """

    def __init__(
        self,
        pool: Executor,
        engine: EngineChoice,
        profile: str | None,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pool, self.engine, self.clock = pool, engine, clock
        self.seconds, self.deadline = seconds, math.inf  # starting the engine is not searching
        self.search = Search()
        self.limits = Limits()
        self._verdicts: dict[Key, Verdicts] = {}
        self._known: set[str] = set()  # oracles whose fault is already found
        self._open: dict[int, tuple[Key, PlanarScene]] = {}  # by the id of the question
        self.profile = profile
        flags = [self._accepts(friction=0.5), self._accepts(restitution=0.5)]
        self.strategy = planar_scenes(friction=flags[0], restitution=flags[1])

    @property
    def is_over(self) -> bool:
        return self.clock() >= self.deadline

    @property
    def _has_news(self) -> bool:
        return any(found.keys() - self._known for found in self._verdicts.values())

    def run(
        self, seed: int, progress: Callable[[Search], None] = lambda search: None, enough: int = len(ORACLES)
    ) -> Search:
        """Batches of scenes from consecutive seeds; each oracle's first fault, shrunk while there is time.

        Ends with the time, with `enough` faults, or with Ctrl-C as soon as the scenes that are simulated are done; a
        second one ends it at once.
        """
        started = self.clock()
        self.deadline = started + self.seconds
        with ctrl_c_calls(self._stop):
            self._search(seed, progress, enough)
        self.search.wall = self.clock() - started
        return self.search

    def _stop(self) -> None:
        self.search.stopped, self.deadline = True, -math.inf

    def _search(self, seed: int, progress: Callable[[Search], None], enough: int) -> None:
        while not self.is_over and len(self._known) < enough:
            self._simulate_batch(seed)
            while len(self._known) < enough and (fault := self._first_fault(seed)) is not None:
                self.search.faults.append(self.with_fewest_bodies(fault))
                self._known.add(fault.oracle)
            self._verdicts.clear()
            seed += 1
            progress(self.search)

    def _simulate_batch(self, seed: int) -> None:
        """The scenes of this seed, as many at a time as there are cores, drawing while they run, until one is new."""

        def simulate(scene: PlanarScene, dt: float) -> None:
            if not self.is_over and not self._has_news:
                self._ask(scene, dt)
                while len(self._open) > self.pool.at_once(self.limits.workers):
                    self._hear()

        draw(self.strategy, seed, simulate, Phase.generate)
        while self._open:
            self._hear()

    def _first_fault(self, seed: int) -> Fault | None:
        """The first of this seed that is not known yet, shrunk; what the batch has simulated is not simulated again."""
        if not self._has_news:
            return None
        last: Fault | None = None

        def judge(scene: PlanarScene, dt: float) -> None:
            nonlocal last
            found = self._verdicts_on(scene, dt)
            new = [oracle for oracle in ORACLES if oracle in found and oracle not in self._known]
            if last is not None:  # shrinking keeps to the law that was broken first
                new = [oracle for oracle in new if oracle == last.oracle]
            if new:
                last = Fault(oracle=new[0], message=found[new[0]], scene=scene, dt=dt, seed=seed)
                raise _FoundError

        try:
            draw(self.strategy, seed, judge, Phase.generate, Phase.shrink)
        except _FoundError:
            pass
        except hypothesis.errors.HypothesisException:
            pass  # two verdicts on one scene, before and after the end of the time: the last fault is one all the same
        return last

    def with_fewest_bodies(self, fault: Fault) -> Fault:
        """Take out one body after the other while the law stays broken.

        hypothesis cannot do so alone: without a body those above it come down, which is another scene.
        """
        for body in fault.scene.bodies:
            rest = tuple(other for other in fault.scene.bodies if other.name != body.name)
            if rest and not self.is_over:
                scene = fault.scene.model_copy(update={"bodies": rest})
                found = self._verdicts_on(scene, fault.dt)
                if fault.oracle in found:
                    return self.with_fewest_bodies(replace(fault, scene=scene, message=found[fault.oracle]))
        return fault

    def _verdicts_on(self, scene: PlanarScene, dt: float) -> Verdicts:
        key = (content_hash(scene), dt)
        if key not in self._verdicts and not self.is_over:
            self._ask(scene, dt)
            while self._open:
                self._hear()
        return self._verdicts.get(key, {})

    def _ask(self, scene: PlanarScene, dt: float) -> None:
        key = (content_hash(scene), dt)
        if key in self._verdicts or any(key == asked for asked, _ in self._open.values()):
            return
        left = self.deadline - self.clock()
        limits = replace(self.limits, time_limit=min(SCENE_LIMIT, max(0.1, left)))
        number = runner.ask_unplanned(self.pool, self._request(scene, dt), self.profile or "", limits)
        self._open[number] = key, scene

    def _hear(self) -> None:
        for reply in self.pool.wait():
            key, scene = self._open.pop(reply.id)
            self._take(key, scene, runner.simulation_of(reply))

    def _take(self, key: Key, scene: PlanarScene, simulation: Simulation) -> None:
        if simulation.outcome == "timed_out" and self.is_over:
            return  # our time was over, not the scene's
        if simulation.outcome == "declined":
            self.search.declined += 1
        else:
            self.search.tried += 1
        self._verdicts[key] = judge_scene(scene, simulation)

    def _request(self, scene: PlanarScene, dt: float) -> Request:
        return Request(scenario=scenario_from_scene("fuzzed", scene), engine=self.engine, profile=self.profile, dt=dt)

    def _accepts(self, **law: float) -> bool:
        """Whether the engine takes a scene with this friction or restitution; resolves the profile's name."""
        ball = {"name": "ball", "shape": {"kind": "disc", "radius": 0.5}, "mass": 1.0, "position": (0.0, 1.0)}
        ground = {"kind": "half-plane", "name": "ground"}
        scene = PlanarScene.model_validate({"duration": 1.0, "bodies": [ball | law], "boundaries": [ground | law]})
        plan = plan_cases(self.pool, [self._request(scene, 1.0 / 240.0)])[0]
        self.profile = plan.case.identity.profile
        return plan.declined is None and plan.unavailable is None


def draw(scenes: Any, seed: int, visit: Callable[[PlanarScene, float], None], *phases: Phase) -> None:
    """Call `visit` with the scenes and time steps of this seed: the same ones in every process."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(scene=scenes, dt=time_steps())
    def visit_each(scene: PlanarScene, dt: float) -> None:
        visit(scene, dt)

    visit_each()


# --- one engine, from its start to what is stored -------------------------------------------------------------------


def fuzz_engine(
    store: Store,
    choice: EngineChoice,
    profile: str | None,
    seconds: float,
    seed: int,
    progress: Callable[[str], None],
    executor: str = LOCAL,
) -> tuple[Search, str, list[StoredFind]]:
    """What a search did, the profile that it ran with, and what it found, which is stored now.

    Raises RunError, and what `Fuzzer` does.
    """
    with executor_at(executor) as pool:
        version = _started(pool, choice)
        fuzzer = Fuzzer(pool, choice, profile, seconds)
        search, lost = fuzzer.search, None
        try:
            fuzzer.run(seed, lambda found: progress(f"{found.tried} scenes, {len(found.faults)} found"))
        except ExecutorError as error:  # what was found is stored
            lost = error
    used, finds = fuzzer.profile or "", []
    for fault in search.faults:
        found = {field.name: getattr(fault, field.name) for field in fields(fault)}
        number = store.add_find(engine=choice.label, engine_version=version, profile=used, **found)
        finds.append(store.find(number))
    if lost is not None:
        raise ExecutorError(f"{lost}; {len(finds)} found so far, and stored")
    return search, used, finds


def replay_find(find: StoredFind, executor: str = LOCAL) -> tuple[Simulation, Verdicts]:
    """Its scene simulated again, and the laws that are broken now."""
    assert isinstance(find.scene, PlanarScene)
    choice = engine_of(find.engine)
    kernel_cache.use_kernel_cache()
    with executor_at(executor) as pool:
        _started(pool, choice)
        scenario = scenario_from_scene("fuzzed", find.scene)
        request = Request(scenario=scenario, engine=choice, profile=find.profile, dt=find.dt)
        simulation = runner.simulate_unplanned(pool, request, find.profile, Limits(time_limit=SCENE_LIMIT))
    return simulation, judge_scene(find.scene, simulation)


def _started(pool: Executor, choice: EngineChoice) -> str:
    """The engine's version. Raises RunError where it cannot be used."""
    hello = hello_of(pool, choice)
    if "error" in hello:
        raise RunError(f"{choice.label}: {hello['error']}")
    return str(hello.get("version", "unknown"))
