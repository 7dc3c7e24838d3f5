"""Comparisons of several simulations of a scene: what each asks for, and what it shows."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from scenarios.scene import Scene
from validation.engines.relations import Relation
from validation.records.case import Value
from validation.records.simulation import Simulation
from validation.records.trajectory import Trajectory
from validation.tools.fuzzing.oracles import Violation

DIFFERS, NOT_SO = "differs when ", "does not hold: "


def oracle_of(relation: Relation) -> str:
    """differs when turned; does not hold: dense and sparse Jacobian agree"""
    return f"{DIFFERS}{relation.change}" if relation.change else f"{NOT_SO}{relation.name}"


def is_of_a_pair(oracle: str) -> bool:
    return oracle.startswith((DIFFERS, NOT_SO))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A simulation of a comparison."""

    scene: Scene
    dt: float
    settings: Mapping[str, Value]
    before: Scene | None = None  # simulated first, in the same process
    states: Trajectory | None = None  # from each of which one step is taken, in place of the motion
    engine: str = ""  # another one, with its defaults, in place of that of the comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Must:
    """Where mechanics has a body."""

    body: str
    step: int  # at the end of which
    pose: tuple[float, ...]  # m, and the angle, rad, or the quaternion w-x-y-z
    allowed: float  # m, that its furthest point may be off


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A scene and its twin."""

    relation: Relation
    in_a_step: bool = True  # whether they move alike until the first sample
    in_the_run: bool | None = True  # None: no whole motions are compared
    violation: Violation | None = None  # of what is promised
    after: int | None = None  # steps, where it is first broken; None: nowhere in a sample
    allowed: float = 0.0  # m/s, there
    must: Must | None = None  # where it is that a body is elsewhere than it must be


Comparison = Generator[list[Asked], list[Simulation], Compared | None]
"""Asks for simulations, gets them together, and ends with what they show; None: nothing, for the scene has no such
twin, or the engine does not simulate it to its end."""


def violation_of(relation: Relation, what: str, *bodies: str) -> Violation:
    """when turned, box moves otherwise ...; with jacobian=dense and with jacobian=sparse, ..."""
    if relation.change:
        where = f"when {relation.change}"
    else:
        differ = [name for name in relation.one if relation.one[name] != relation.other.get(name)]
        ways = [", ".join(f"{name}={way.get(name)}" for name in differ) for way in (relation.one, relation.other)]
        where = f"with {ways[0]} and with {ways[1]}"
    return Violation(oracle=oracle_of(relation), message=f"{where}, {what}", bodies=bodies)


def driven(comparison: Comparison, simulate: Callable[[list[Asked]], list[Simulation]]) -> Compared | None:
    """To its end."""
    try:
        asked = next(comparison)
        while True:
            asked = comparison.send(simulate(asked))
    except StopIteration as end:
        found: Compared | None = end.value
        return found
