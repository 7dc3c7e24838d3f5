"""What one step of an engine gets wrong, by phase of motion: the errors that a motion adds up.

    python -P ci/benchmarks/local_errors.py [--engines WORD ...] [--scenes WORD ...] [--most N]

From states of the exact engine each other engine takes one step of 1/240 s, with its fair settings, and is held
against the exact state a step later. Velocities are set and read at the engine's own time, its velocity lag off the
poses, where the exact motion is smooth there; near an impact by gravity alone, of what flies. Box2D's polygons are
drawn smaller by what it declares as their skin. The last lines name the engines whose state cannot be set.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, options

from reference_engine.array_types import Flags, Indices
from reference_engine.errors import UnresolvedContact
from scenarios.catalogue import scenario_of
from scenarios.scenario import Scenario
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.answers import abilities_of, declined
from validation.engines.engine import resolve_settings
from validation.engines.shared import recorder
from validation.engines.shared.replay import one_step
from validation.judging.evidence.replay import PHASES, distance, locate, taken
from validation.metrics.flight import outer_acceleration
from validation.metrics.observation import Observation
from validation.records.trajectory import PlanarTrajectory, Trajectory, with_samples
from validation.running.planning import STEP

SCENES = (
    "bouncing-ball", "bouncing-block:restitution=0.5", "upright-block:start=drop", "stack:n=3", "incline-slide",
    "thrown-box", "slide-to-roll", "newtons-cradle", "rocking-block", "tumbling-block", "pendulum", "double-pendulum",
    "free-tumble:space=spatial", "heavy-top", "single-impact:space=spatial",
)  # fmt: skip
SKIN = {"box2d": {"polygon_inset": 0.0075}}
"""Settings by which an engine's bodies keep the distances of the scene."""
SAME_TIME = 1e-9  # s
WORST = 0.99  # of the steps are no worse than what stands beside the median


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """States at one end of the steps, half a step before and after it, and what that half step is like."""

    at: Trajectory
    near: tuple[Trajectory, Trajectory]
    smooth: Flags  # (S, B) no impact in the steps on either side
    flies: Flags  # (S, B) in the step that this one joins on to

    def lagged(self, scenario: Scenario, lag: float) -> Trajectory:
        """Velocities at the engine's time."""
        other = self.near[int(lag > 0.0)]
        part = abs(lag) / (0.5 * STEP)
        o = Observation(scenario=scenario, trajectory=self.at)
        fall = np.broadcast_to(outer_acceleration(o), self.at.velocity.shape) * lag * self.flies[..., None]
        moved = {}
        for name in ("twist",) if isinstance(self.at, PlanarTrajectory) else ("velocity", "spin"):
            now = getattr(self.at, name)
            shift = np.zeros_like(now)
            if name != "spin":
                shift[..., : fall.shape[2]] = fall
            moved[name] = now + np.where(self.smooth[..., None], part * (getattr(other, name) - now), shift)
        return with_samples(self.at, self.at.time, {n: getattr(self.at, n) for n in self.at.STATE} | moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """S steps of B bodies, by the exact engine."""

    scenario: Scenario
    phase: Indices  # (S, B) into PHASES
    sides: tuple[Moment, Moment]  # the states, and what they are a step later


def exact_steps(word: str, most: int) -> Exact | str:
    """Of a scenario: steps spread over its time, and those with impacts; or why there are none."""
    scenario, engine = scenario_of(word), load_engine(engine_of("reference"))
    if (reason := declined(engine, scenario.scene)) is not None:
        return reason
    settings = resolve_settings(engine, "fair", {}, scenario.scene, 0.5 * STEP)
    try:
        motion = engine.simulate(scenario.scene, 0.5 * STEP, settings)
    except UnresolvedContact as error:
        return str(error)
    half = np.arange(2 * round(float(motion.time[-1]) / STEP) + 1)
    rows = (
        np.searchsorted(motion.time, half * 0.5 * STEP + SAME_TIME) - 1
    )  # of two at one time the one after the impact
    if (np.abs(motion.time[rows] - half * 0.5 * STEP) > SAME_TIME).any():
        return "the exact motion is not sampled at every half step"
    whole = replace(taken(motion, rows), dt=STEP)
    steps = len(half) // 2
    number = np.arange(steps)
    phase = locate(scenario, taken(whole, 2 * number), taken(whole, 2 * number + 2)).phase
    impact, flies = phase == PHASES.index("impact"), phase == PHASES.index("flight")
    spread = np.linspace(1, steps - 2, min(most, steps - 2)).round().astype(np.int64)
    colliding = np.flatnonzero(impact[1:-1].any(axis=1)) + 1
    k = np.unique([*spread.tolist(), *colliding[:most].tolist()])

    def moment(i: Indices, joins: Indices) -> Moment:
        near = taken(whole, 2 * i - 1), taken(whole, 2 * i + 1)
        return Moment(at=taken(whole, 2 * i), near=near, smooth=~(impact[i - 1] | impact[i]), flies=flies[joins])

    return Exact(scenario=scenario, phase=phase[k], sides=(moment(k, k - 1), moment(k + 1, k + 1)))


def errors(word: str, exact: Exact) -> Iterator[tuple[str, float]] | None:
    """Phase and error, m/s, of each step of each free body; None where the engine declines the scene."""
    scenario, engine = exact.scenario, load_engine(engine_of(word))
    scene = scenario.scene
    if declined(engine, scene) is not None:
        return None
    settings = resolve_settings(engine, "fair", SKIN.get(engine.name, {}), scene, STEP)
    lag = engine.build(scene, STEP, settings).velocity_lag
    before, after = (side.lagged(scenario, lag) for side in exact.sides)
    size = distance(one_step(engine, scene, STEP, settings, before), after, scene)
    free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
    return ((PHASES[exact.phase[k, i]], float(size[k, i])) for k in range(len(size)) for i in free)


def main() -> None:
    given = options(engines=[""], scenes=[""], most=100)
    words = [word for word in (given.engines if given.engines != [""] else present_engines()) if word != "reference"]
    recorder.BASE_RATE = 2.0 / STEP  # the exact engine samples every half step
    able = {word: abilities_of(load_engine(engine_of(word))).get("set_state") for word in words}
    settable = [word for word in words if (ability := able[word]) is not None and ability.works]
    of: dict[tuple[str, str], list[float]] = {}
    taken_by: dict[str, int] = dict.fromkeys(words, 0)
    for scene in given.scenes if given.scenes != [""] else SCENES:
        exact = exact_steps(scene, given.most)
        if isinstance(exact, str):
            print(f"{scene}: {exact}")
            continue
        for word in settable:
            if (rows := errors(word, exact)) is not None:
                taken_by[word] += 1
                for phase, size in rows:
                    of.setdefault((word, phase), []).append(size)
    worst = f"{WORST:.0%}"
    table = Table("engine:8", "scenes:6", "phase:9", "steps:6", "median:9.1e", f"{worst}:9.1e", "most:9.1e")
    for word in words:
        for phase in PHASES:
            if sizes := of.get((word, phase)):
                values = (float(np.median(sizes)), float(np.quantile(sizes, WORST)), max(sizes))
                table.row(word, str(taken_by[word]), phase, str(len(sizes)), *values)
    for word in words:
        ability = able[word]
        if ability is None or not ability.works:
            print(f"{word}: its state cannot be set{f': {ability.note}' if ability else ''}")


if __name__ == "__main__":
    main()
