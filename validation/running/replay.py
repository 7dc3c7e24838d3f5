"""One step from recorded states, on two sides of a comparison: what a change is, without the chaos that follows it.

    replays_of(pool, pairs, limits)        where the step of the new side differs from that of the old
    relations_of(pool, pairs, limits)      what an engine's documents promise, tried on both sides

A pair is a scenario's plan and result on the old side and on the new. Engines of other versions run in environments of
their own under this same adapter, so it works for older releases too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from validation.engines.relations import SAME_AGAIN, Relation
from validation.judging.evidence.replay import Replay, chosen, compare, own_distance
from validation.judging.relations import Agreed, Related, agreed, limits, perturbed
from validation.records.case import Result, Value
from validation.records.trajectory import Trajectory, TrajectoryError, from_bytes, to_bytes, with_samples
from validation.running.options import Progress
from validation.running.planning import Plan, engine_remotes
from validation.running.processes.executor import Executor, Reply
from validation.running.runner import Limits

MOST_STATES = 120  # of a scenario, that a step is taken from; spread over its time
MOST_RELATED = 60  # likewise, for relations: of both motions
Pair = tuple[tuple[Plan, Plan], tuple[Result, Result]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What to take steps with, and from which states."""

    plan: Plan
    settings: Mapping[str, Value]
    states: Trajectory


def take_steps(
    pool: Executor, wanted: Sequence[Steps], limit: Limits, progress: Progress | None = None, title: str = ""
) -> list[Trajectory | str]:
    """One step from every state; or why not, in a line."""
    found: dict[int, Trajectory | str] = {}
    left, asked = list(enumerate(wanted))[::-1], dict[int, int]()
    with (progress or Progress()).bar(title, len(wanted)) as bar:
        while left or asked:
            while left and len(asked) < max(1, pool.at_once(limit.workers)):
                i, steps = left.pop()
                asked[_ask(pool, steps, limit)] = i
            for reply in pool.wait(0.25):
                if reply.id in asked:
                    i = asked.pop(reply.id)
                    found[i] = _answer(reply)
                    bar.advance(wanted[i].plan.case.label)
    return [found[i] for i in range(len(wanted))]


def _ask(pool: Executor, steps: Steps, limit: Limits) -> int:
    scene = steps.plan.scene_text.encode()
    header: dict[str, Any] = {
        "dt": steps.plan.case.identity.dt,
        "replay": dict(steps.settings),
        "scene_bytes": len(scene),
        "time_limit": limit.time_limit,
        "memory_limit": limit.memory_limit,
    }
    remote = engine_remotes(pool, {steps.plan.word})[steps.plan.word]
    return pool.ask(remote, header, scene + to_bytes(steps.states))


def _answer(reply: Reply) -> Trajectory | str:
    if reply.header["outcome"] != "completed":
        return f"{reply.header['outcome'].replace('_', ' ')}: {reply.header['reason']}"
    try:
        return from_bytes(reply.body)
    except TrajectoryError as error:
        return f"gave no states: {error}"


# --- what has changed, and where -------------------------------------------------------------------------------------


def replays_of(
    pool: Executor, pairs: Sequence[Pair], limit: Limits, progress: Progress | None = None, most: int = MOST_STATES
) -> list[Replay]:
    """Of each pair, a step on both sides from the old side's states; with a reason where that cannot be done."""
    reasons = [_why_not(pool, pair) for pair in pairs]
    states = [None if why else chosen(_motion(pair[1][0]), most) for why, pair in zip(reasons, pairs)]
    wanted = [
        Steps(plan=plan, settings=plan.case.settings, states=from_states)
        for pair, from_states in zip(pairs, states)
        if from_states is not None
        for plan in pair[0]
    ]
    answers = iter(take_steps(pool, wanted, limit, progress, "one step from recorded states"))
    return [
        Replay(reason=why) if from_states is None else _replay(pair, from_states, next(answers), next(answers))
        for why, pair, from_states in zip(reasons, pairs, states)
    ]


def _replay(pair: Pair, states: Trajectory, one: Trajectory | str, other: Trajectory | str) -> Replay:
    for plan, answer in zip(pair[0], (one, other)):
        if isinstance(answer, str):
            return Replay(reason=f"{plan.case.engine_label}: {answer}")
    assert not isinstance(one, str) and not isinstance(other, str)
    scenario, motion = pair[0][0].scenario, _motion(pair[1][0])
    rows = np.searchsorted(motion.time, states.time).tolist()
    found = compare(scenario, states, one, other, rows)
    return replace(found, own=own_distance(motion, states, one, scenario.scene))


def _motion(result: Result) -> Trajectory:
    assert result.trajectory is not None
    return result.trajectory


def _why_not(pool: Executor, pair: Pair) -> str:
    """Why no step can be taken on both sides; "" where it can."""
    for plan, result in zip(*pair):
        if result.trajectory is None:
            return f"{plan.case.engine_label} has no motion here: {result.reason or result.outcome}"
        hello = engine_remotes(pool, {plan.word})[plan.word].hello or {}
        if "set_state" not in hello.get("abilities", ()):
            return f"the state of {plan.case.engine_label} cannot be set"
    return ""


# --- what an engine's documents promise -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """The relations of a scenario, tried on both sides."""

    related: tuple[Related, ...] = ()
    reason: str = ""  # why they were not tried


def relations_of(
    pool: Executor,
    pairs: Sequence[Pair],
    limit: Limits,
    progress: Progress | None = None,
    *,
    all_of_them: bool = False,
    most: int = MOST_RELATED,
) -> list[Promises]:
    """Of each pair, the relations that both sides have: the cheap ones, or `all_of_them`.

    Steps are taken from states of both motions, half of each, so it is the same the other way round.
    """
    asked = {i: _Asked.of(pool, pair, all_of_them, most) for i, pair in enumerate(pairs) if not _why_not(pool, pair)}
    wanted = [steps for one in asked.values() for steps in one.steps()]
    answers = iter(take_steps(pool, wanted, limit, progress, "what documents promise"))
    found = {i: one.promises([next(answers) for _ in one.steps()]) for i, one in asked.items()}
    return [found.get(i) or Promises(reason=_why_not(pool, pair)) for i, pair in enumerate(pairs)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The relations of one pair: what is simulated for them, and what that says."""

    plans: tuple[Plan, Plan]
    relations: tuple[Relation, ...]
    states: Trajectory
    round_off: tuple[float, float]

    @classmethod
    def of(cls, pool: Executor, pair: Pair, all_of_them: bool, most: int) -> "_Asked":
        """Those that both sides declare, by name, and that the step again is the same."""
        old, new = (engine_remotes(pool, {plan.word})[plan.word].hello or {} for plan in pair[0])
        shared = {given["name"] for given in new["relations"]}
        both = [Relation(**given) for given in old["relations"] if given["name"] in shared]
        found = [one for one in both if one.change is None]
        return cls(
            plans=pair[0],
            relations=(SAME_AGAIN, *(one for one in found if one.cheap or all_of_them)),
            states=_states_of_both(pair, most),
            round_off=(old["round_off"], new["round_off"]),
        )

    def steps(self) -> Iterator[Steps]:
        """Of each side: the settings of the case, the same from perturbed states, both ways of each relation."""
        for plan, round_off in zip(self.plans, self.round_off):
            given = plan.case.settings
            moved = perturbed(self.states, plan.scenario.scene, round_off)
            yield from (Steps(plan=plan, settings=given, states=states) for states in (self.states, moved))
            for way in (way for one in self.relations for way in (one.one, one.other)):
                yield Steps(plan=plan, settings={**given, **way}, states=self.states)

    def promises(self, answers: Sequence[Trajectory | str]) -> Promises:
        """Of what `steps` asks for, in its order."""
        after = [answer for answer in answers if not isinstance(answer, str)]
        if len(after) < len(answers):
            return Promises(reason=next(answer for answer in answers if isinstance(answer, str)))
        half = len(after) // 2
        both = zip(self._agreed(0, after[:half]), self._agreed(1, after[half:]))
        states = len(self.states.time)
        found = [Related(relation=of, states=states, sides=sides) for of, sides in zip(self.relations, both)]
        return Promises(related=tuple(found))

    def _agreed(self, side: int, after: Sequence[Trajectory]) -> Iterator[Agreed]:
        """Each relation on one side."""
        scenario, (own, moved, *ways) = self.plans[side].scenario, after
        for relation, one, other in zip(self.relations, ways[::2], ways[1::2]):
            limit = limits(self.states, own, moved, scenario.scene, relation.agree, self.round_off[side])
            yield agreed(scenario, self.states, one, other, limit)


def _states_of_both(pair: Pair, most: int) -> Trajectory:
    """In order of time; of motions that are one, of that."""
    old, new = pair[1]
    if old.trajectory_hash == new.trajectory_hash:
        return chosen(_motion(old), most)
    parts = [chosen(_motion(result), most // 2) for result in (old, new)]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in parts[0].STATE}
    time = np.concatenate([part.time for part in parts])
    order = np.argsort(time, kind="stable")
    return with_samples(parts[0], time[order], {name: array[order] for name, array in joined.items()})
