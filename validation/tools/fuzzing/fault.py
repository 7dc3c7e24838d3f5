"""A law that an engine broke in a scene, and the simpler simulations in which it may break it as well."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

from scenarios.scene import Scene, content_hash
from validation.records.stored import involved
from validation.running.planning import STEP
from validation.tools.fuzzing.comparison import is_of_a_pair
from validation.tools.fuzzing.drawing import Options
from validation.tools.fuzzing.oracles import Violation
from validation.tools.fuzzing.simpler import SIMPLIFICATIONS, Simplification, simplified

Trial = tuple[Scene, float, Options]  # time step, s, and settings beside those of the search


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A law that an engine broke in a scene."""

    oracle: str  # one of ORACLES, or of a relation (`comparison.oracle_of`)
    message: str  # with values
    scene: Scene
    dt: float
    seed: int  # of its batch
    bodies: tuple[str, ...] = ()  # and boundaries, of which it is broken; (): of the scene as a whole
    options: Options = ()  # settings of the engine beside those of the search
    size: float = 1.0  # of what is tolerated
    begun: Scene | None = None  # of a single step that is wrong: the scene from the state that it is taken from

    @property
    def kinds(self) -> Counter[str]:
        """Of what it is broken by: with the oracle they name the cause; of two ways that differ the oracle alone."""
        return Counter() if is_of_a_pair(self.oracle) else involved(self.scene, self.bodies)

    def is_of(self, known: "Fault") -> bool:
        """Whether the cause may be that of a shrunk one: it breaks the same law with what that needs."""
        needed, given = ({name for name, _ in one.options} for one in (known, self))
        return self.oracle == known.oracle and known.kinds <= self.kinds and needed <= given


def fault_in(violation: Violation, trial: Trial, seed: int) -> Fault:
    """`seed`: of its batch."""
    found = {one.name: getattr(violation, one.name) for one in fields(violation)}
    return Fault(scene=trial[0], dt=trial[1], options=trial[2], seed=seed, **found)


def _from_the_state(fault: Fault) -> Iterator[Trial]:
    """From which it is seen at once."""
    if fault.begun is not None and content_hash(fault.begun) != content_hash(fault.scene):
        yield fault.begun, fault.dt, fault.options


def _without_an_option(fault: Fault) -> Iterator[Trial]:
    for i in range(len(fault.options)):
        yield fault.scene, fault.dt, fault.options[:i] + fault.options[i + 1 :]


def _simplified(simplify: Simplification) -> Callable[[Fault], Iterator[Trial]]:
    def trials_of(fault: Fault) -> Iterator[Trial]:
        for scene in simplified(fault.scene, simplify, fault.bodies):
            yield scene, fault.dt, fault.options

    return trials_of


def _by_the_simplest_step(fault: Fault) -> Iterator[Trial]:
    if fault.dt != STEP:
        yield fault.scene, STEP, fault.options


SIMPLER = (_from_the_state, _without_an_option, *map(_simplified, SIMPLIFICATIONS), _by_the_simplest_step)
"""By what a fault is made simpler, the largest simplifications first."""
