"""Relations as oracles: a scene and its twin (`twins`) simulated by one engine, and whether both move alike.

What the engine's documents promise is an oracle, and a fault where it does not hold; all other relations are
properties, which are measured and are no fault. How far both may be apart is derived from the precision of the
engine's numbers (`validation.judging.relations.run_limits`); where that is not enough, from how far starts come apart
that differ by round-off.
"""

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.dense import norm
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, features
from scenarios.scene_error import SceneError
from validation.engines.engine import DOUBLE
from validation.engines.relations import NAMES, Agreement, Change, Relation, unchanged_when
from validation.judging.evidence.replay import chosen, distance, followed, taken
from validation.judging.relations import (
    Agreed,
    accuracy,
    agreed,
    first_order_limits,
    limits,
    perturbed,
    run_limits,
)
from validation.records.case import Value
from validation.records.quantities import counted, quantity, time_step
from validation.records.simulation import BROKEN, Simulation
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory, with_samples
from validation.tools.fuzzing.comparison import Asked, Compared, Comparison, oracle_of, violation_of
from validation.tools.fuzzing.exact_motion import EXACT_MOTION, compare_with_exact, has_one_motion
from validation.tools.fuzzing.independent.laws import is_own
from validation.tools.fuzzing.oracles import Violation
from validation.tools.fuzzing.twins import (
    Twin,
    changed_back,
    is_native,
    largest,
    nearby,
    nearby_model,
    sampled_steps,
    scene_from,
    twin_of,
)

PROMISED = 4  # times as often as what is not
MOST_STATES = 100  # of a motion, that a step is taken from
BEGUN = 0.25  # s, of the scene from such a state: long enough to be seen
FAR_BEYOND = 1000.0  # of what is allowed: further apart is not worse
FEW, MANY = 2, 8  # nearby starts: of a property, and before a promise is called broken
ENDS = BROKEN - {"timed_out"}
NOT_PROMISED = "nothing that we know of"
VELOCITIES: dict[type, tuple[str, ...]] = {PlanarTrajectory: ("twist",), SpatialTrajectory: ("velocity", "spin")}


AGREEMENTS: Mapping[Change, Agreement] = {
    "run again": "bits",
    "run after another scene": "bits",
    "run at half the step": "first order",
}
OF_MODELS: tuple[Change, ...] = ("run again", "run after another scene", "run at half the step", "split in two")
"""Of models of a user's own: their files stay as they are."""
PROPERTIES = tuple(
    relation
    for change in NAMES
    for relation in unchanged_when(change, agree=AGREEMENTS.get(change, "round-off"), promise=NOT_PROMISED)
)
"""Of every engine that does not promise them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Of an engine."""

    promised: tuple[Relation, ...]
    round_off: float = DOUBLE
    sets_state: bool = False  # whether a step can be taken from a state of the motion
    is_own: bool = False  # one of ours, of which more is asked elsewhere

    @classmethod
    def of(cls, hello: Mapping[str, Any], engine: str) -> "Relations":
        """Of the engine of this name, as its server declares them; those that take long are left out.

        Of settings that agree to round-off a minimum is asked: round-off decides where a solver stops, too, and of many
        scenes some are solved no better.
        """
        declared = [Relation(**given) for given in hello.get("relations", ())]
        promised = tuple(
            replace(one, agree="minimum") if one.change is None and one.agree == "round-off" else one
            for one in declared
            if one.cheap
        )
        sets_state = "set_state" in hello.get("abilities", ())
        round_off = float(hello.get("round_off", DOUBLE))
        return cls(promised=promised, round_off=round_off, sets_state=sets_state, is_own=is_own(engine))

    def promised_of(self, scene: Scene, settings: Collection[Any] = ()) -> tuple[Relation, ...]:
        """`settings`: those that are not as the profile has them; beside them it is not promised that others agree."""
        has = features(scene) | {""}
        laws = () if self.is_own or is_native(scene) or not has_one_motion(scene) else (EXACT_MOTION,)
        return tuple(
            one
            for one in (*self.promised, *laws)
            if one.feature in has
            and (not one.without or one.without not in has)
            and not (one.change is None and settings)
        )

    def settings_of(self, scene: Scene, settings: Collection[Any] = ()) -> tuple[Relation, ...]:
        """Of settings that have to agree, those that a step can be tried for."""
        promised = self.promised_of(scene, settings) if self.sets_state else ()
        return tuple(one for one in promised if one.change is None and one != EXACT_MOTION)

    def by_oracle(self, oracle: str, scene: Scene, settings: Collection[Any] = ()) -> Relation | None:
        """Of a fault; None where it is of one simulation, or the engine does not promise that of the scene."""
        return next((one for one in self.promised_of(scene, settings) if oracle_of(one) == oracle), None)

    def chosen(self, scene: Scene, number: int, settings: Collection[Any] = ()) -> Relation:
        """One of them by a random number; what is promised four times as often, as only that is a find."""
        promised = self.promised_of(scene, settings)
        known = {one.change for one in promised}
        properties = [one for one in PROPERTIES if one.change not in known]
        if is_native(scene):  # what else is changed of a scene would be another model
            promised = tuple(one for one in promised if one.change in (None, *OF_MODELS))
            properties = [one for one in properties if one.change in OF_MODELS]
            properties = [one for one in properties if self.sets_state or one.change != "split in two"]
        every = (*(PROMISED * promised), *properties)
        return every[number % len(every)]


def compare_with_twin(
    relation: Relation, scene: Scene, dt: float, simulation: Simulation, relations: Relations
) -> Comparison:
    """`simulation`: of the scene itself, with the settings that it was drawn with. Where the engine's state can be set,
    settings are compared in single steps first."""
    if relation == EXACT_MOTION:
        return (yield from compare_with_exact(relation, scene, dt, simulation))
    if relation.change == "split in two" and is_native(scene):
        return (yield from compare_with_its_own_steps(relation, scene, dt, simulation, relations))
    of_steps = yield from compare_by_steps(relation, scene, dt, simulation, relations)
    if of_steps is not None and (of_steps.violation is not None or is_native(scene)):
        return of_steps
    return (yield from _compare_runs(relation, scene, dt, simulation, relations, of_steps))


def _compare_runs(
    relation: Relation,
    scene: Scene,
    dt: float,
    simulation: Simulation,
    relations: Relations,
    of_steps: Compared | None,
) -> Comparison:
    """`of_steps`: what single steps have shown, in which nothing is broken."""
    if relation.one:
        (simulation,) = yield [Asked(scene=scene, dt=dt, settings=relation.one)]
    promised = relation in relations.promised_of(scene)
    motion = simulation.trajectory
    if motion is None:
        if relation.one and promised and simulation.outcome in ENDS:
            (other,) = yield [Asked(scene=scene, dt=dt, settings=relation.other)]
            return None if other.trajectory is None else _ends_otherwise(relation, simulation)
        return None
    twin = twin_of(relation.change, scene, dt, motion)
    if twin is None:
        return None
    (other,) = yield [Asked(scene=twin.scene, dt=twin.dt, settings=relation.other, before=twin.before)]
    if other.trajectory is None:
        is_same = relation.change is None or relation.agree == "bits"
        return _ends_otherwise(relation, other) if promised and is_same and other.outcome in ENDS else None
    pair = Pair.of(relation, scene, dt, motion, twin, other.trajectory, relations.round_off)
    if pair is None:
        return None
    spread = None
    for seeds in () if relation.agree == "bits" else (range(FEW), range(FEW, MANY)) if promised else (range(FEW),):
        if pair.agrees(spread).all():
            break
        found = yield from _spreads(pair, seeds)
        if found is None:
            return None
        spread = found if spread is None else np.maximum(found, spread)
    agrees = pair.agrees(spread)
    compared = Compared(
        relation=relation,
        in_a_step=bool(agrees[0]),
        in_the_run=bool(agrees.all()) and not pair.has_other_bits,
    )
    if of_steps is not None:
        compared = replace(compared, in_a_step=of_steps.in_a_step)
    if not promised or compared.in_the_run:
        return compared
    if agrees.all():
        return replace(compared, violation=violation_of(relation, "its state has other bits between samples"))
    k = int(agrees.argmin())
    allowed = float(pair.limits(spread)[k])
    return replace(compared, violation=pair.violation(k, allowed), after=int(pair.steps[k]), allowed=allowed)


def compare_by_steps(
    relation: Relation, scene: Scene, dt: float, simulation: Simulation, relations: Relations
) -> Comparison:
    """Of settings: a step both ways from the same states of the motion, which no chaos parts. None where the relation
    is of something else, or no step can be taken."""
    motion = simulation.trajectory
    if relation.change is not None or not relations.sets_state or motion is None:
        return None
    states, unit = chosen(motion, MOST_STATES), relations.round_off
    if not len(states.time):
        return None
    ways = [Asked(scene=scene, dt=dt, settings=given, states=states) for given in (relation.one, relation.other)]
    one, other = (reply.trajectory for reply in (yield ways))
    if one is None or other is None:
        return None
    apart = distance(one, other, scene).max(axis=1)
    if (apart <= limits(states, one, one, scene, relation.agree, unit)).all():
        return Compared(relation=relation, in_the_run=None)
    (moved,) = yield [Asked(scene=scene, dt=dt, settings=relation.one, states=perturbed(states, scene, unit))]
    if moved.trajectory is None:
        return None
    limit = limits(states, one, moved.trajectory, scene, relation.agree, unit)
    if apart[0] > limit[0] and states.time[0] == 0.0:  # seen best where it is seen at once
        first = np.arange(1)
        states, one, other, limit = taken(states, first), taken(one, first), taken(other, first), limit[:1]
    found = agreed(scenario_from_scene("fuzzed", scene), states, one, other, limit)
    if found.met or found.where is None:
        return Compared(relation=relation, in_the_run=None)
    return _of_a_step(relation, scene, motion, found)


def compare_with_its_own_steps(
    relation: Relation, scene: Scene, dt: float, simulation: Simulation, relations: Relations
) -> Comparison:
    """Of a model, whose files do not say where it is halfway: a step from states of the motion, and the step that the
    motion itself took from there. A solver that begins where it ended before may end elsewhere by the root of the
    round-off. None where no step can be taken."""
    motion = simulation.trajectory
    if not relations.sets_state or motion is None:
        return None
    states, unit = chosen(motion, MOST_STATES), relations.round_off
    if not len(states.time):
        return None
    ways = [Asked(scene=scene, dt=dt, settings={}, states=given) for given in (states, perturbed(states, scene, unit))]
    one, moved = (reply.trajectory for reply in (yield ways))
    if one is None or moved is None:
        return None
    rows, follows = followed(motion, states)
    if not len(rows):
        return None
    apart = distance(taken(one, rows), taken(motion, follows), scene).max(axis=1)
    agrees = apart <= limits(states, one, moved, scene, "minimum", unit)[rows]
    return Compared(relation=relation, in_a_step=bool(agrees[0]), in_the_run=bool(agrees.all()))


def _of_a_step(relation: Relation, scene: Scene, motion: Trajectory, found: Agreed) -> Compared:
    where = found.where
    assert where is not None
    by = f"by {quantity(found.size, 'm/s')}, {quantity(found.limit, 'm/s')} is allowed"
    at = f"from the state at {quantity(where.time, 's')} of its own motion" if where.time else "from its start"
    violation = violation_of(relation, f"{where.body} moves otherwise in one step {at}: {by}", where.body)
    size = min(found.size / found.limit, FAR_BEYOND) if found.limit else FAR_BEYOND
    return Compared(
        relation=relation,
        in_a_step=False,
        in_the_run=None,
        violation=replace(violation, size=size, begun=_begun(scene, motion, where.time)),
        after=None if where.time else 1,
        allowed=found.limit,
    )


def _begun(scene: Scene, motion: Trajectory, time: float) -> Scene:
    """From its state at this time, s; as it is where it begins then, or cannot begin so."""
    if not time or is_native(scene):
        return scene
    try:
        return scene_from(scene, motion, int(np.abs(motion.time - time).argmin()), BEGUN)
    except SceneError:
        return scene


def _ends_otherwise(relation: Relation, simulation: Simulation) -> Compared:
    broke = violation_of(relation, f"one simulation goes on to its end, and the other does not: {simulation.reason}")
    return Compared(relation=relation, in_a_step=False, in_the_run=False, violation=broke)


def _spreads(pair: "Pair", seeds: range) -> Generator[list[Asked], list[Simulation], Array | None]:
    """(S,) m/s: the furthest from nearby starts; of an engine that takes no overlap those of other velocities only.
    None where the engine does not simulate them to their end."""
    for displaced in (True, False):
        starts = [pair.nearby(seed, displaced=displaced) for seed in seeds]
        settings = pair.relation.one
        replies = yield [Asked(scene=start, dt=pair.dt, settings=settings) for start in starts if start is not None]
        found = [pair.apart(reply.trajectory) for reply in replies if reply.trajectory is not None]
        if len(found) == len(seeds):
            return np.asarray(np.max(found, axis=0))
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two motions at the steps that both have samples of, the start left out."""

    relation: Relation
    scene: Scene
    dt: float
    one: Trajectory
    other: Trajectory
    steps: Indices  # (S,)
    size: Array  # (S,) m, of both
    speed: Array  # (S,) m/s
    share: float  # to which one step's numbers are known
    has_other_bits: bool = False  # though they are to be the same, of one scene

    @classmethod
    def of(
        cls, relation: Relation, scene: Scene, dt: float, motion: Trajectory, twin: Twin, found: Trajectory, unit: float
    ) -> "Pair | None":
        """`found`: the twin's motion; `unit`: the round-off of the engine. None where they have no step in common."""
        numbers = sum(motion.STATE.values()) * len(scene.bodies)
        back = changed_back(twin, found)
        rows, steps = sampled_steps(motion, dt)
        others, steps_there = sampled_steps(back, dt)
        first = round(twin.start / dt)
        common, i, j = np.intersect1d(steps, steps_there, assume_unique=True, return_indices=True)
        i, j, common = i[common > first], j[common > first], common[common > first]
        if not len(common):
            return None
        size, speed = (part[rows[i]] for part in largest(motion, scene, np.arange(len(scene.bodies))))
        far, fast = (part[others[j]] for part in largest(found, twin.scene, twin.bodies))
        one, there = taken(motion, rows[i]), taken(back, others[j])
        if relation.agree == "first order":  # of positions: velocities jump where bodies meet a step later
            there = with_samples(there, there.time, {name: getattr(one, name) for name in VELOCITIES[type(one)]})
        is_same = relation.agree == "bits" and twin.scene == scene
        return cls(
            relation=relation,
            scene=scene,
            dt=dt,
            one=one,
            other=there,
            steps=common - first,
            size=np.maximum(size, far / twin.by.length),
            speed=np.maximum(speed, fast / twin.by.speed),
            share=numbers * accuracy(relation.agree, unit),
            has_other_bits=is_same and motion.state_hash != found.state_hash,
        )

    def apart(self, motion: Trajectory) -> Array:
        """(S,) m/s: how far one from a nearby start is; infinite where it has no sample of that step."""
        rows, steps = sampled_steps(motion, self.dt)
        if not len(steps):
            return np.full(len(self.steps), np.inf)
        first = round(self.one.time[0] / self.dt) - int(self.steps[0])
        at = np.minimum(np.searchsorted(steps, self.steps + first), len(steps) - 1)
        found = distance(self.one, taken(motion, rows[at]), self.scene).max(axis=1)
        return np.where(steps[at] == self.steps + first, found, np.inf)

    def nearby(self, seed: int, *, displaced: bool) -> Scene | None:
        size = float(self.size[-1]) if displaced else 0.0
        if is_native(self.scene):
            return nearby_model(self.scene, self.share * size, seed) if displaced else None
        return nearby(self.scene, self.share, size, float(self.speed[-1]), seed)

    def limits(self, spread: Array | None) -> Array:
        """(S,) m/s"""
        limits = run_limits(self.steps, self.size, self.speed, self.share, self.dt, spread)
        if self.relation.agree == "first order":
            limits += first_order_limits(self.steps, self.speed, float(norm(np.array(self.scene.gravity))), self.dt)
        return limits

    def agrees(self, spread: Array | None) -> Flags:
        """(S,)"""
        apart: Flags = distance(self.one, self.other, self.scene).max(axis=1) <= self.limits(spread)
        return apart

    def violation(self, k: int, limit: float) -> Violation:
        """In this sample."""
        apart = distance(self.one, self.other, self.scene)[k]
        worst = int(apart.argmax())
        name, size = self.scene.bodies[worst].name, float(apart[worst])
        after = f"{counted(int(self.steps[k]), 'step')} of {time_step(self.dt)}"
        allowed = f"{quantity(limit, 'm/s')} is allowed" if limit else "no bit may differ"
        by = f"by {quantity(size, 'm/s')}, {allowed}"
        return violation_of(self.relation, f"{name} moves otherwise after {after}: {by}", name)


def typed(settings: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """As they are typed."""
    return tuple(
        (name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in settings.items()
    )
