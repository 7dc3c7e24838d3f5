"""Searches random scenes for those in which an engine breaks a law that needs no reference, and shrinks them.

hypothesis draws, `oracles` judge, `simpler` shrinks. Each scene is simulated in a process of its own and measured in
another, several at once.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from hypothesis import strategies as st

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, content_hash
from validation.engines import EngineChoice, engine_of
from validation.engines.relations import Relation
from validation.records.outcome import outcome_of
from validation.records.simulation import Simulation
from validation.running import runner
from validation.running.planning import STEP, Request, hello_of, plan_cases
from validation.running.processes.executor import Executor, Reply
from validation.running.runner import Limits
from validation.tools.fuzzing.comparing import (
    SCENE_LIMIT,
    Comparisons,
    Counts,
    Tried,
    broken_by,
    turn_of,
    with_settings,
)
from validation.tools.fuzzing.comparison import Asked, Compared
from validation.tools.fuzzing.drawing import NONE_GIVEN, Given, Options, draw, options_of, scenes_for
from validation.tools.fuzzing.fault import SIMPLER, Fault, Trial, fault_in
from validation.tools.fuzzing.independent.laws import is_own
from validation.tools.fuzzing.interrupt import ctrl_c_calls
from validation.tools.fuzzing.oracles import (
    DOCUMENTED,
    FINER,
    GIVES_UP,
    Violation,
    is_of_the_step,
    is_resolved,
    judged,
    of_violations,
    resolving,
    unmeasured,
)
from validation.tools.fuzzing.pairs import Relations, compare_by_steps, compare_with_twin, typed

ASLEEP = 0.02  # of a core
AS_LARGE = 0.5  # of the size at first: what is shrunk is no fault that is only just one
MOST_TRIES = 400  # simpler scenes for one fault
SHRINKING = 0.25  # of the time, at its end: for what is found there is no other time
WHOLE = 1000  # faults: as many as there are
GIVEN_UP = 5, 0.01  # so many scenes, and this share, may end at a limit without a proof; 1 in 500 does (reference.md)

Key = tuple[str, float, Options]  # content hash of a scene
Broken = Mapping[str, Violation]  # by oracle; empty: no law is broken


@dataclass(slots=True, kw_only=True)
class Search:
    """What a search did."""

    tried: int = 0  # scenes simulated
    declined: int = 0
    given_up: int = 0  # of these: at a limit that our reference engine documents, without a proof
    failing: int = 0  # scenes in which a law was broken, before any was shrunk
    wall: float = 0.0
    stopped: bool = False  # by Ctrl-C
    next_seed: int = 0  # of the first batch that was not searched to its end
    faults: list[Fault] = field(default_factory=list)
    related: dict[tuple[str, bool], Counts] = field(default_factory=dict)
    """By relation, and whether it is promised: in how many scenes it was tried, and holds."""


class Fuzzer:
    """Simulates and judges scenes on one engine, until the time is over.

    Raises SettingError for a profile or setting that the engine does not have.
    """

    def __init__(
        self,
        pool: Executor,
        engine: EngineChoice,
        profile: str | None,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        known: Sequence[Fault] = (),
        given: Given = NONE_GIVEN,
        without: EngineChoice | None = None,
    ) -> None:
        """`known`: faults whose causes are not searched for again. `given`: scenes of which mutations are tried.
        `without`: another release, in which nothing is broken of what is searched for."""
        self.pool, self.engine, self.clock, self.without = pool, engine, clock, without
        self.seconds, self.deadline = seconds, math.inf  # starting the engine is not searching
        self.search, self.known = Search(), known
        self.limits = Limits()
        self._verdicts: dict[Key, Broken] = {}
        self._open: dict[int, tuple[Trial, Simulation | None]] = {}  # by the id of the question; measured: its motion
        self._tries = 0  # that are left for the fault at hand
        self._shrunk: Fault | None = None  # which that is
        self.comparisons = Comparisons[Trial](self._ask_twin, self._compared)
        self.profile = (profile or "default") if given.models else profile
        self._own: Mapping[str, Any] = {}  # settings of the profile, at STEP
        with ctrl_c_calls(self._stop):  # some scenes are drawn
            own = is_own(engine.name)  # drawing also resolves the profile's name
            self.strategy = st.nothing() if given.models else scenes_for(self._taken, given, own=own)
        hello = hello_of(pool, engine)
        self.relations, table = Relations.of(hello, engine.name), hello.get("table", {})
        self.options = options_of(table, self._own or {n: row["default"] for n, row in table.items()}, engine.overrides)

    @property
    def is_over(self) -> bool:
        return self.clock() >= self.deadline

    def run(self, seed: int, progress: Callable[[Search], None] = lambda search: None, enough: int = WHOLE) -> Search:
        """Batches of scenes from consecutive seeds; one fault of each cause, shrunk while there is time.

        Ends with the time, with `enough` faults, or with Ctrl-C as soon as the scenes that are simulated are done; a
        second one ends it at once.
        """
        with self.timed(seed):
            while not self.is_over and len(self.search.faults) < enough:
                for fault in self._faults_of(seed):
                    if len(self.search.faults) < enough and self.is_new(fault) and self._counts(fault):
                        shrunk = self.shrunk(fault)
                        if self.is_new(shrunk):
                            self.search.faults.append(shrunk)
                            progress(self.search)
                seed += 1
                if not self.is_over:
                    self.search.next_seed = seed
                progress(self.search)
        return self.search

    @contextmanager
    def timed(self, seed: int) -> Iterator[None]:
        """The time of a search that begins with this seed; Ctrl-C ends it."""
        started = self.clock()
        self.search.next_seed = seed
        self.deadline = -math.inf if self.search.stopped else started + self.seconds
        with ctrl_c_calls(self._stop):
            yield
        self.search.wall = self.clock() - started

    @contextmanager
    def shrinking(self, fault: Fault) -> Iterator[None]:
        """What is judged is compared by the relation that the fault is of, if it is of one."""
        before, self._shrunk = self._shrunk, fault
        yield
        self._shrunk = before

    def is_new(self, fault: Fault) -> bool:
        return not any(fault.is_of(one) for one in (*self.known, *self.search.faults))

    def _stop(self) -> None:
        self.search.stopped, self.deadline = True, -math.inf

    def _faults_of(self, seed: int) -> list[Fault]:
        """In the scenes of this seed, as they were drawn, those with the fewest bodies first; simulated while others
        are drawn. In the last part of the time the first fault ends the batch, so that it can be shrunk."""
        trials: list[Trial] = []

        def simulate(drawn: tuple[Scene, Options], dt: float) -> None:
            nears_end = self.clock() >= self.deadline - SHRINKING * self.seconds
            if not self.is_over and not (nears_end and any(self._verdicts.values())):
                scene, options = drawn
                trials.append((scene, resolving(scene, dt), options))
                self._ask(trials[-1])

        self._verdicts.clear()
        draw(st.tuples(self.strategy, self.options), seed, simulate)
        self._hear_all()
        found = [(trial, self._verdicts.get(_key(trial), {})) for trial in trials]
        self.search.failing += sum(bool(broken) for _, broken in found)
        faults = [fault_in(next(iter(broken.values())), trial, seed) for trial, broken in found if broken]
        return sorted(faults, key=lambda fault: (len(fault.scene.bodies), len(fault.scene.joints)))

    def shrunk(self, fault: Fault) -> Fault:
        """The simplest scene that breaks the same law, as far as the time and `MOST_TRIES` go: by one kind of
        simplification after another, each until it finds no more, until none does."""
        self._verdicts.clear()
        self._tries, self._shrunk = MOST_TRIES, fault
        least, before = AS_LARGE * fault.size, None
        while fault is not before:
            before = fault
            for trials_of in SIMPLER:
                while (simpler := self._simpler(trials_of(fault), fault, least)) is not None:
                    fault = simpler
        self._shrunk = None
        return fault

    def _simpler(self, trials: Iterator[Trial], fault: Fault, least: float) -> Fault | None:
        """The first of the simpler scenes that breaks the law by as much, too; None where none does, or the time is
        over."""
        while not self.is_over and self._tries > 0 and (some := list(islice(trials, self._at_once))):
            self._tries -= len(some)
            for trial, broken in zip(some, self.judge(some)):
                if fault.oracle in broken and broken[fault.oracle].size >= least:
                    simpler = fault_in(broken[fault.oracle], trial, fault.seed)
                    if self._counts(simpler):
                        return simpler
        return None

    def _counts(self, fault: Fault) -> bool:
        return self.stays(fault) and self.is_of_release(fault)

    def is_of_release(self, fault: Fault) -> bool:
        """Whether the other release, if one is given, simulates the scene to its end and does not break the law, or by
        less than half as much. What is shown by a setting that it has not does not count."""
        if self.without is None:
            return True
        here, scene, dt = with_settings(self.without, dict(fault.options)), fault.scene, fault.dt
        request = replace(self._request(scene, dt), engine=here)
        simulation = runner.simulate_unplanned(self.pool, request, self.profile or "", self._time_left)
        trial = Tried(scene=scene, dt=dt, engine=here, profile=self.profile or "", oracle=fault.oracle)
        return simulation.trajectory is not None and not is_broken(fault, broken_by(self.pool, trial, simulation))

    def stays(self, fault: Fault) -> bool:
        """Whether it is no matter of the step: with FINER as many, and what the engine's documents advise, the same law
        is broken, by half as much at least. An engine's authors would say to try just that."""
        violation = Violation(oracle=fault.oracle, message=fault.message)
        if is_own(self.engine.name) or not is_of_the_step(violation):
            return True
        given = {**DOCUMENTED.get(self.engine.name, {}), **self.engine.overrides, **dict(fault.options)}
        options = {name: value for name, value in given.items() if name not in self.engine.overrides}
        before, self._shrunk = self._shrunk, fault  # without twins of its own
        (broken,) = self.judge([(fault.scene, fault.dt / FINER, tuple(sorted(options.items())))])
        self._shrunk = before
        return is_broken(fault, broken)

    def judge(self, trials: Sequence[Trial]) -> list[Broken]:
        """Together; none is broken in what the time did not allow for."""
        for trial in trials:
            if not self.is_over:
                self._ask(trial)
        self._hear_all()
        return [self._verdicts.get(_key(trial), {}) for trial in trials]

    def _ask(self, trial: Trial) -> None:
        """Once there is a process for it."""
        key = _key(trial)
        if key in self._verdicts or any(key == _key(other) for other, _ in self._open.values()):
            return
        while self._free <= 0:
            self._hear()
        number = runner.ask_unplanned(
            self.pool, self._request(*trial), self.profile or "", self._time_left, measured=True
        )
        self._open[number] = trial, None

    @property
    def _at_once(self) -> int:
        return self.pool.at_once(self.limits.workers)

    @property
    def _free(self) -> int:
        """How many more simulations may run now."""
        running = len(self.comparisons.open) + sum(motion is None for _, motion in self._open.values())
        return self._at_once - running

    @property
    def _time_left(self) -> Limits:
        left = self.deadline - self.clock()
        return replace(self.limits, time_limit=min(SCENE_LIMIT, max(0.1, left)))

    def _hear_all(self) -> None:
        while self._open or self.comparisons.open:
            self._hear()

    def _hear(self) -> None:
        for reply in self.pool.wait():
            if self.comparisons.take(reply):
                continue
            trial, motion = self._open.pop(reply.id)
            if motion is not None:
                self._take(trial, motion, reply.header)
            else:
                self._simulated(trial, reply)
        if self.is_over:
            self.comparisons.give_up()
        self.comparisons.ask_next(self._free)

    def _simulated(self, trial: Trial, reply: Reply) -> None:
        simulation = runner.simulation_of(reply)
        if self.search.stopped and simulation.outcome == "crashed":
            return  # a signal to end is for the servers, too
        if simulation.outcome == "timed_out" and (simulation.wall_time < SCENE_LIMIT or was_starved(simulation)):
            return  # our time was over, or that of a busy machine, not the scene's
        if simulation.outcome == "declined" or simulation.limit:
            self.search.declined += 1
            self.search.given_up += simulation.limit == "given up" and self._shrunk is None
        else:
            self.search.tried += 1
        if simulation.trajectory is None or "measured" in reply.header:
            self._take(trial, simulation, reply.header.get("measured", {}))
        else:
            scenario = scenario_from_scene("fuzzed", trial[0])
            self._open[runner.ask_measuring(self.pool, 1, scenario, simulation.encoded)] = trial, simulation

    def _take(self, trial: Trial, simulation: Simulation, measured: Mapping[str, Any]) -> None:
        """`measured`: the header of the reply to measuring."""
        values = {row["metric"]: row["value"] for row in measured.get("measurements", ())}
        outcomes = [outcome_of(row) for row in measured.get("outcomes", ())]
        broken: Broken
        if simulation.trajectory is not None and "measurements" not in measured:
            if self.search.stopped:
                return  # a signal to end is for the servers, too
            reason = str(measured.get("error") or measured.get("reason") or "no answer")
            broken = of_violations([unmeasured(reason.strip().splitlines()[-1])])
        elif simulation.limit == "given up" and (often := self._gives_up_too_often()):
            broken = of_violations([Violation(oracle=GIVES_UP, message=f"{simulation.reason}; {often}")])
        else:
            broken = judged(*trial[:2], simulation, values, outcomes, self.engine.name)
        self._verdicts[_key(trial)] = broken
        if not broken and simulation.trajectory is not None:
            self._compare(trial, simulation)

    def _gives_up_too_often(self) -> str:
        """With the counts; "" where it does not. Rare scenes have more impacts than anybody waits for."""
        count, (few, share) = self.search.given_up, GIVEN_UP
        scenes = self.search.tried + count
        often = f"{count} of {scenes} scenes end so; {few} and {100.0 * share:g} % may"
        return often if count > few + share * scenes else ""

    def _compare(self, trial: Trial, simulation: Simulation) -> None:
        """Some scenes, by what they are, and settings in single steps of all with joints; of a fault that is shrunk
        each, by the fault's own relation, if it has one."""
        scene, fault = trial[0], self._shrunk
        settings = {**self.engine.overrides, **dict(trial[2])}
        relation = None
        by_steps: Sequence[Relation] = ()
        if fault is not None:
            relation = self.relations.by_oracle(fault.oracle, scene, settings)
            if fault.begun is not None:
                relation, by_steps = None, [relation] if relation else []
        else:
            if (turn := turn_of(scene)) is not None:
                relation = self.relations.chosen(scene, turn, settings)
            if scene.joints:  # no step is too long for that
                by_steps = [one for one in self.relations.settings_of(scene, settings) if one != relation]
        if relation is not None and is_resolved(*trial[:2]):
            self.comparisons.begin(trial, compare_with_twin(relation, *trial[:2], simulation, self.relations))
        for one in by_steps:
            self.comparisons.begin(trial, compare_by_steps(one, *trial[:2], simulation, self.relations))

    def _ask_twin(self, trial: Trial, asked: Asked) -> int:
        request, profile = self._request(asked.scene, asked.dt, (*trial[2], *typed(asked.settings))), self.profile or ""
        if asked.engine:
            profile = "default"
            request = replace(request, engine=engine_of(asked.engine), profile=profile)
        return runner.ask_unplanned(
            self.pool, request, profile, self._time_left, before=asked.before, states=asked.states
        )

    def _compared(self, trial: Trial, compared: Compared) -> None:
        if compared.violation is not None:
            self._verdicts[_key(trial)] = {compared.violation.oracle: compared.violation}
        if self._shrunk is None:
            relation = compared.relation
            about = relation.change or relation.name, relation in self.relations.promised_of(trial[0])
            self.search.related.setdefault(about, Counts()).add(compared)

    def _request(self, scene: Scene, dt: float, options: Options = ()) -> Request:
        scenario = scenario_from_scene("fuzzed", scene)
        return Request(scenario=scenario, engine=with_settings(self.engine, dict(options)), profile=self.profile, dt=dt)

    def _taken(self, scenes: Sequence[Scene]) -> list[bool]:
        plans = plan_cases(self.pool, [self._request(scene, STEP) for scene in scenes])
        self.profile = plans[0].case.identity.profile if plans else self.profile
        self._own = next((plan.case.settings for plan in plans if plan.case.settings), self._own)
        return [plan.declined is None and plan.unavailable is None for plan in plans]


def was_starved(simulation: Simulation) -> bool:
    """Whether others had the cores: it ran, for less than half of the time. What waits for nobody does not run."""
    return ASLEEP < simulation.cpu_share < 0.5


def is_broken(fault: Fault, broken: Broken) -> bool:
    """Whether its law is, by half as much at least."""
    return fault.oracle in broken and broken[fault.oracle].size >= AS_LARGE * fault.size


def _key(trial: Trial) -> Key:
    return content_hash(trial[0]), *trial[1:]
