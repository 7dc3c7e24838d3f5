"""Runs planned cases: simulates on all cores, measures, hands each result over as it comes.

with Pool() as pool:
    plans = plan_cases(pool, requests)          # of `planning`
    totals = execute(pool, plans, limits, on_result)
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scenarios.native import lean
from scenarios.scenario import Scenario
from scenarios.scene import Scene, write_scene
from validation.engines.answers import spoiled
from validation.records.case import Case, Result
from validation.records.measurement import Measurement
from validation.records.outcome import outcome_of
from validation.records.simulation import Simulation, Status
from validation.records.trajectory import Trajectory, from_bytes, to_bytes
from validation.running.options import Progress
from validation.running.planning import Plan, Request, engine_remotes
from validation.running.processes.executor import MEASURING, Executor, Reply, Server
from validation.running.processes.processor import available_cores, left_alone

SENT_AHEAD = 2  # requests for each worker elsewhere: the next one waits there, not here
SIMULATIONS_PER_MEASURER = 4  # at once; measuring takes a tenth of what simulating does
MEASURING_LIMIT = 120.0  # s without an answer, after which what measures is killed
TIMING_REPEATS = 5  # the least of five: noise only ever adds time


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    workers: int = field(default_factory=available_cores)
    time_limit: float = 60.0  # s of wall-clock time for one simulation
    memory_limit: int = 2 * 2**30  # bytes resident
    timing: bool = False


@dataclass(slots=True, kw_only=True)
class Totals:
    """What an execution cost."""

    workers: int
    wall: float = 0.0  # s
    stepping: float = 0.0  # s inside the engines' steps
    simulated: int = 0
    slowest: tuple[str, float] = ("", 0.0)

    @property
    def overhead(self) -> float:
        """s per simulated case: what of the workers' time was not an engine's stepping."""
        return (self.wall * self.workers - self.stepping) / self.simulated if self.simulated else 0.0


@dataclass(slots=True)
class _Job:
    plan: Plan
    simulations: list[Simulation] = field(default_factory=list)


def name_of(case: Case) -> str:
    return f"{case.label} × {case.engine_label}"


def results_of(
    pool: Executor, plans: Sequence[Plan], limits: Limits, progress: Progress | None = None, title: str = ""
) -> list[Result]:
    """Every plan simulated and measured, in the order of the plans, with a bar of this title."""
    results: dict[int, Result] = {}
    with (progress or Progress()).bar(title, len(plans)) as bar:

        def on_result(result: Result) -> None:
            results[id(result.case)] = result
            bar.advance(name_of(result.case))

        execute(pool, plans, limits, on_result)
    return [results[id(plan.case)] for plan in plans]


def execute(pool: Executor, plans: Sequence[Plan], limits: Limits, on_result: Callable[[Result], None]) -> Totals:
    """Simulate and measure every plan; `on_result` gets each as it is done, declined ones first.

    With `limits.timing` one simulation runs at a time, on a core of its own, and nothing is measured meanwhile.
    """
    started = time.perf_counter()
    workers = 1 if limits.timing else max(1, pool.at_once(limits.workers))
    totals = Totals(workers=workers)
    waiting: deque[_Job] = deque()
    for plan in plans:
        if reason := plan.declined or plan.unavailable:
            outcome: Status = "declined" if plan.declined else plan.unavailable_as
            on_result(_result(plan, Simulation(outcome=outcome, reason=reason)))
        else:
            waiting.append(_Job(plan))
    waiting = deque(sorted(waiting, key=lambda job: -job.plan.cost))
    measurers = -(-workers // SIMULATIONS_PER_MEASURER)
    measuring_remotes(pool, measurers)
    remotes = engine_remotes(pool, {job.plan.word for job in waiting})
    simulating: dict[int, _Job] = {}
    measured: dict[int, _Job] = {}
    heard = started  # of measuring: the last answer, or the question after which one is due
    with left_alone(wanted=limits.timing) as core:
        while waiting or simulating or measured:
            while waiting and len(simulating) < _most_open(pool, limits) and not (limits.timing and measured):
                job = waiting.popleft()
                simulating[_ask_simulation(pool, remotes, job.plan, limits, core)] = job
            for reply in pool.wait(0.25):
                if reply.id in simulating:
                    job = simulating.pop(reply.id)
                    job.simulations.append(_checked(simulation_of(reply), job.plan))
                    if job.simulations[-1].trajectory is None:
                        on_result(_result(job.plan, job.simulations[-1]))
                    elif pool.elsewhere:
                        on_result(_measured_result(job, reply.header["measured"], timing=False))
                    elif limits.timing and len(job.simulations) < TIMING_REPEATS:
                        simulating[_ask_simulation(pool, remotes, job.plan, limits, core)] = job
                    else:
                        heard = heard if measured else time.perf_counter()
                        motion = job.simulations[-1].encoded
                        measured[ask_measuring(pool, measurers, job.plan.scenario, motion)] = job
                    _count(totals, job.plan, job.simulations[-1])
                else:
                    job, heard = measured.pop(reply.id), time.perf_counter()
                    on_result(_measured_result(job, reply.header, timing=limits.timing))
            heard = _patient(pool, heard) if measured else heard
    totals.wall = time.perf_counter() - started
    return totals


def _most_open(pool: Executor, limits: Limits) -> int:
    """Simulations at a time. Elsewhere there may be more workers now than before."""
    workers = 1 if limits.timing else max(1, pool.at_once(limits.workers))
    return workers * SENT_AHEAD if pool.elsewhere else workers


def simulate_unplanned(
    pool: Executor,
    request: Request,
    profile: str,
    limits: Limits,
    exercise: dict[str, Any] | None = None,
    *,
    before: Scene | None = None,
    states: Trajectory | None = None,
) -> Simulation:
    """As `ask_unplanned`, and waited for."""
    number = ask_unplanned(pool, request, profile, limits, exercise, before=before, states=states)
    while True:
        for reply in pool.wait():
            if reply.id == number:
                return simulation_of(reply)


def ask_unplanned(
    pool: Executor,
    request: Request,
    profile: str,
    limits: Limits,
    exercise: dict[str, Any] | None = None,
    *,
    measured: bool = False,
    before: Scene | None = None,
    states: Trajectory | None = None,
) -> int:
    """Ask for one simulation without a plan: its process resolves the settings and may decline. The reply's id.

    `exercise`: of an ability of the engine (`validation.engines.answers`), in place of the plain motion. `measured`: on
    other machines it is measured there; here the motion has to be given to `ask_measuring`. `before`: a scene that the
    process simulates first, with the same settings. `states`: from each of which one step is taken, in place of the
    motion; the answer has what they have become.
    """
    remote = engine_remotes(pool, {request.engine.word})[request.engine.word]
    header = {
        "dt": request.dt,
        "profile": profile,
        "overrides": dict(request.engine.overrides),
        "time_limit": limits.time_limit,
        "memory_limit": limits.memory_limit,
        "exercise": exercise,
    }
    if measured and pool.elsewhere:
        header["measure"] = _measuring(request.scenario)
    if before is not None:
        header["before"] = write_scene(before, indent=None)
    scene = write_scene(request.scenario.scene, indent=None).encode()
    if states is None:
        return pool.ask(remote, header, scene)
    return pool.ask(remote, header | {"replay": None, "scene_bytes": len(scene)}, scene + to_bytes(states))


def _ask_simulation(pool: Executor, remotes: dict[str, Server], plan: Plan, limits: Limits, core: int | None) -> int:
    remote = remotes[plan.word]
    if remote not in pool.remotes:  # its server died with an earlier case; this one gets a new server
        remotes[plan.word] = remote = engine_remotes(pool, {plan.word})[plan.word]
    header = {
        "dt": plan.case.identity.dt,
        "settings": dict(plan.case.settings),
        "time_limit": limits.time_limit,
        "memory_limit": limits.memory_limit,
        "core": core,
    }
    if pool.elsewhere:
        header["measure"] = _measuring(plan.scenario)
    return pool.ask(remote, header, plan.scene_text.encode())


def measuring_remotes(pool: Executor, count: int = 1) -> list[Server]:
    """As many servers as are wanted; those that run already are of them, and one that died is replaced."""
    running = [remote for remote in pool.remotes if remote.what == MEASURING]
    return running + [pool.start_measuring() for _ in range(count - len(running))]


def ask_measuring(pool: Executor, count: int, scenario: Scenario, trajectory: bytes) -> int:
    """Ask one of so many servers to measure a motion of the scenario (`measure_server`). The reply's id."""
    remote = min(measuring_remotes(pool, count), key=lambda remote: len(remote.open_requests))
    return pool.ask(remote, _measuring(scenario), trajectory)


def _measuring(scenario: Scenario) -> dict[str, Any]:
    header: dict[str, Any] = {"name": scenario.name, "parameters": dict(scenario.parameters), "scene": None}
    if scenario.from_file:
        header["scene"] = lean(scenario.scene).model_dump(mode="json")
    return header


def measure_motions(
    pool: Executor, motions: Sequence[tuple[Plan, Trajectory]], limits: Limits
) -> list[tuple[Measurement, ...]]:
    """Each motion measured as one of its plan's scenario; () where that fails."""
    measurers = -(-limits.workers // SIMULATIONS_PER_MEASURER)
    measuring_remotes(pool, measurers)
    most = _most_open(pool, limits) if pool.elsewhere else len(motions)  # motions are megabytes
    waiting, asked = deque(enumerate(motions)), dict[int, int]()
    found: list[tuple[Measurement, ...]] = [() for _ in motions]
    heard = time.perf_counter()
    while waiting or asked:
        while waiting and len(asked) < most:
            i, (plan, motion) = waiting.popleft()
            asked[ask_measuring(pool, measurers, plan.scenario, to_bytes(motion))] = i
        for reply in pool.wait(0.25):
            found[asked.pop(reply.id)] = _measurements(reply.header)
            heard = time.perf_counter()
        heard = _patient(pool, heard)
    return found


def _patient(pool: Executor, heard: float) -> float:
    """When measuring was last heard of; after MEASURING_LIMIT it is ended, which counts as an answer."""
    if time.perf_counter() - heard <= MEASURING_LIMIT:
        return heard
    for remote in measuring_remotes(pool, 0):  # each answers for what it owes when it is gone
        pool.kill(remote)
    return time.perf_counter()


def _measurements(header: dict[str, Any]) -> tuple[Measurement, ...]:
    return tuple(Measurement(**row) for row in header.get("measurements", ()))


def simulation_of(reply: Reply) -> Simulation:
    """What the reply to a simulation says, its trajectory decoded."""
    header = reply.header
    simulation = Simulation(
        outcome=header.get("outcome", "crashed"),
        reason=header.get("reason", "no answer"),
        trace=header.get("trace", ""),
        limit=header.get("limit", ""),
        wall_time=header.get("wall_time", 0.0),
        peak_memory=header.get("peak_memory", 0),
        cpu_share=header.get("cpu_share", 1.0),
    )
    size = header.get("trajectory_bytes", 0)
    if simulation.outcome != "completed":
        return replace(simulation, encoded=reply.body[:size])
    try:
        encoded, times = reply.body[:size], np.frombuffer(reply.body[size:], "<f8")
        trajectory = from_bytes(encoded)
    except ValueError as error:  # TrajectoryError, or bytes that are no times
        return replace(simulation, outcome="crashed", reason=f"gave no trajectory: {error}")
    return replace(simulation, trajectory=trajectory, encoded=encoded, step_times=times)


def _checked(simulation: Simulation, plan: Plan) -> Simulation:
    """Once more than in the simulation's process, where an engine may have changed what checks it."""
    fault = spoiled(simulation.trajectory, plan.scenario.scene) if simulation.trajectory is not None else None
    if fault is None:
        return simulation
    return replace(simulation, trajectory=None, encoded=b"", step_times=None, outcome=fault[0], reason=fault[1])


def _result(plan: Plan, simulation: Simulation, **measured: Any) -> Result:
    return Result.of(case=plan.case, simulation=simulation, headline=plan.scenario.headline, **measured)


def _measured_result(job: _Job, header: dict[str, Any], *, timing: bool) -> Result:
    """`header`: of the reply to measuring."""
    simulation = job.simulations[0]
    if "measurements" not in header:
        words = (header.get("error") or header.get("reason", "")).strip() or "no answer"
        return _result(job.plan, replace(simulation, reason=f"could not be measured: {words.splitlines()[-1]}"))
    measurements = list(_measurements(header))
    if timing:
        from validation.metrics import step_time

        least = min(step_time(one.step_times) for one in job.simulations if one.step_times is not None)
        measurements.append(Measurement(metric="step_time", value=least, unit="s", better="lower", noise="timing"))
        hashes = {one.trajectory.state_hash for one in job.simulations if one.trajectory is not None}
        if len(hashes) > 1:
            simulation = replace(
                simulation, reason=f"not deterministic: {len(hashes)} motions in {len(job.simulations)} repeats"
            )
    outcomes = tuple(map(outcome_of, header["outcomes"]))
    return _result(job.plan, simulation, measurements=tuple(measurements), outcomes=outcomes)


def _count(totals: Totals, plan: Plan, simulation: Simulation) -> None:
    totals.simulated += 1
    if simulation.step_times is not None:
        # While its process waits for a core nobody steps: a busy machine must not make the overhead look small.
        totals.stepping += float(simulation.step_times.sum()) * simulation.cpu_share
    totals.slowest = max(totals.slowest, (name_of(plan.case), simulation.wall_time), key=lambda one: one[1])
