"""Settings of a motion in space, and what comes out of it: data."""

from dataclasses import dataclass

from reference_engine.array_types import Array, Indices
from reference_engine.errors import SpatialWorldError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocatedSettings:
    """Raises SpatialWorldError for a value that is not allowed."""

    tolerance: float = 1e-13  # local error of a step, relative to 1 + |value|, m, m/s, rad/s
    impact_law: str = "newton"  # of `multiple_impact`
    order: str | None = "simultaneous"  # None: an impact at contacts that move one another is an error
    max_events: int = 10_000  # of one island
    at_impacts: bool = False  # samples before and after every impact besides

    def __post_init__(self) -> None:
        if not 1e-14 <= self.tolerance <= 1e-3:
            raise SpatialWorldError(f"tolerance: {self.tolerance!r}; 1e-14 to 1e-3")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialEvent:
    """impact: approach that an impulse ended; contact: without one that made bodies part again; stick: slip that
    stopped; slip: of what was at rest; release: a contact whose force went to 0."""

    time: float  # s
    kind: str
    first: int
    second: int  # body; the number of bodies is the world
    point: Array  # (3,) m
    normal: Array  # (3,), from the second to the first
    speed: float  # m/s, of an impact the rate of the gap before it
    impulse: Array  # (3,) N s, on the first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialContacts:
    """C rows: what presses at the samples. The normal points from the second to the first."""

    sample: Indices  # (C,)
    first: Indices  # (C,)
    second: Indices  # (C,)
    point: Array  # (C, 3) m
    normal: Array  # (C, 3)
    gap: Array  # (C,) m
    force: Array  # (C, 3) N, on the first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenForces:
    """Where the laws leave contact forces open and bodies move by them: two sets of forces that obey all laws. The
    motion goes on by forces between them, which do not depend on order, turning or mirroring; from here on it is one of
    many."""

    time: float  # s, at the end of a step or event
    first: Indices  # (C,) bodies in contact
    second: Indices  # (C,)
    force: Array  # (2, C, 3) N, on the first
    body: Indices  # (B,)
    acceleration: Array  # (2, B, 6) m/s^2 and rad/s^2, by each of both


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialMotion:
    """S samples of B bodies, SI, world axes; velocities are those behind an event at the same time."""

    time: Array  # (S,) s
    position: Array  # (S, B, 3) m
    orientation: Array  # (S, B, 4) unit quaternion w x y z, body to world
    velocity: Array  # (S, B, 3) m/s
    spin: Array  # (S, B, 3) rad/s
    contacts: SpatialContacts
    events: tuple[SpatialEvent, ...]
    steps: int
    left_open: tuple[OpenForces, ...] = ()  # by islands of bodies, each from when on
