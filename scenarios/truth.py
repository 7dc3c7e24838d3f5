"""What is known about a scene without simulating it: closed form, exact ODE, converged reference, or invariants.

A truth of the *continuous* problem. Where it holds (the span), how exactly it is known itself (its own
error, not an engine's), and where it comes from stand with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from reference_engine.array_types import Array

TruthKind = Literal["closed form", "exact ODE", "converged", "invariants"]

Invariant = Literal[
    "energy",  # kinetic + potential energy keeps its value
    "energy-not-gained",  # ... never exceeds an earlier value: contact and friction take, they do not give
    "momentum",  # linear momentum, less the impulse of gravity, in every direction
    "momentum-x",  # ... along x alone: the ground is level and frictionless
    "angular-momentum",  # about the centre of mass of all free bodies
    "no-overlap",  # bodies overlap by no more than a tenth of the smallest's width: the law on penetration_max
    "elastic-depth",  # compliant bodies sink in no deeper than the scene's energy can press them, and that tenth
    "rest",  # it comes to rest, or stays at rest, and does not creep
]


class Motion(Protocol):
    """As much of a trajectory as a goal may look at. S samples, B bodies; SI; world axes."""

    @property
    def time(self) -> Array: ...  # (S,) s
    @property
    def position(self) -> Array: ...  # (S, B, 2 or 3) m, centre of mass
    @property
    def velocity(self) -> Array: ...  # (S, B, 2 or 3) m/s
    @property
    def angle(self) -> Array: ...  # (S, B) rad, unwrapped; planar only
    @property
    def orientation(self) -> Array: ...  # (S, B, 4) w-x-y-z, body to world; spatial only
    @property
    def spin(self) -> Array: ...  # (S, B) or (S, B, 3) rad/s


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An impact with an exact time. In an engine's motion it is looked for with our own gap of the pair."""

    a: str
    b: str
    number: int  # the number-th impact of this pair, from 1
    time: float  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The one quantity that a scenario is about, as a number: stop distance, first apex, creep."""

    name: str
    unit: str
    exact: float | Callable[[], float]
    """A function where it takes an integration, which only who asks for the value pays for."""
    measure: Callable[[Motion], float]
    """From a motion; NaN where what it is about has not happened (the box never moved, no second impact)."""

    @property
    def value(self) -> float:
        """What is exact."""
        return self.exact() if callable(self.exact) else self.exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    kind: TruthKind
    source: str
    span: tuple[float, float]  # s, where it holds
    error: float = 0.0  # of the truth itself, relative; 0: exact to round-off
    pose: Callable[[Array], Array] | None = None
    """Exact poses at times (S,): planar (S, B, 3) as (x, y, angle), spatial (S, B, 7) as (position, w, x, y, z).
    NaN where a component is not known, for instance the angle of a ball."""
    events: tuple[Event, ...] = ()
    goal: Goal | None = None
    invariants: frozenset[Invariant] = frozenset()

    def __post_init__(self) -> None:
        if not (self.pose or self.events or self.goal or self.invariants):
            raise ValueError("a truth must say something: give pose, events, goal or invariants")
