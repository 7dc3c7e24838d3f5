"""Comparisons with twins (`pairs`) that are under way in a search: asked for as processes are free, and counted."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from validation.records.simulation import Simulation
from validation.running.processes.executor import Reply
from validation.running.runner import simulation_of
from validation.tools.fuzzing.pairs import Asked, Compared, Comparison

EVERY = 8  # one scene in so many has a twin

T = TypeVar("T")


@dataclass(slots=True)
class Counts:
    """Of a relation: in how many scenes it was tried, and holds."""

    scenes: int = 0
    in_a_step: int = 0
    in_the_run: int = 0


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
