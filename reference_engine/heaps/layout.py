"""What the compiled step works on.

B bodies and, as number B, what nothing moves. N candidates where bodies may touch: P candidate pairs, then for each
container the bodies in turn, one candidate a body with a half-space, four with a hollow sphere.
"""

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.contact_problems.cone_sweeps import Bodies, Contacts

HALF_SPACE, SPHERE_INTERIOR = range(2)
COUNT, REPEATS, CHORD, SWEEPS, VISITS, BOUNCING, COUNTS = range(7)  # Progress.count
SOFT, WORST, OFF, BEFORE, RESIDUAL, MEASURES = range(6)  # Progress.measure


class Scene(Structure):
    """What stays as it is; and a workspace."""

    semi_axes: Array  # (B, 3) m
    longest: Array  # (B,) m
    inertia: Array  # (B, 3) kg m^2, principal; 0 for what does not move
    inverse_inertia: Array  # (B, 3)
    container: Indices  # (K,) HALF_SPACE or SPHERE_INTERIOR
    point: Array  # (K, 3) m, of a plane, or a sphere's centre
    normal: Array  # (K, 3)
    radius: Array  # (K,) m
    stack: Array  # of the search for the shortest way out
    scratch: Array  # (4, 3)


class Rules(Structure):
    """Of all steps of one length."""

    h: float  # s
    kick: float  # s, the time whose forces act before the poses are sought
    middle: int  # whether friction acts on the slip half-way
    barrier: float  # m, the gap that is aimed at
    floor: float  # m, gaps below are opened again
    miss: float  # m, by which a gap may end off its aim
    slack: float  # m, by which a gap that began at 0 may end below it, where bodies are jammed
    margin: float  # m, what is nearer counts as a contact
    skin: float  # m, by which gaps are looked at that are not asked for yet
    pace: float  # m/s, of speeds that gravity gives
    heaviest: float  # kg
    tolerance: float  # m/s by which the law may be missed while poses are sought
    last_tolerance: float  # m/s, the same of the speeds at the end
    bounce_speed: float  # m/s
    most_sweeps: int
    most_repeats: int


class Poses(Structure):
    """Of one moment."""

    position: Array  # (B, 3) m
    orientation: Array  # (B, 4) unit
    table: Array  # (B, 19), see geometry.layout
    found: Array  # (N, 11) see geometry.layout; of what is not sharp a lower bound of the gap alone
    sharp: Indices  # (N,) 1 where `found` is all there


class Flow(Structure):
    """Speeds and the like within a step."""

    start: Array = of_shape("B + 1", 6)  # twists at its start
    before: Array = of_shape("B + 1", 6)  # those before its impacts, with the spins that they would be at its end
    free: Array = of_shape("B + 1", 6)  # twists without impulses
    momentum: Array = of_shape("B", 3)  # angular, world axes
    middle: Array = of_shape("B", 4)  # orientation half-way
    point_speed: Array = of_shape("B + 1")  # m/s, the largest speed of a body's points
    travel: Array = of_shape("B + 1")  # m, the furthest that a point of a body has got in this step
    linear: Array = of_shape("B", 3)  # m/s^2
    torque: Array = of_shape("B", 3)  # N m
    island: Indices = of_shape("B + 1")  # the least number of the bodies that contacts link with this one
    bounce: Array = of_shape("B + 1")  # of an island, 0 to 1: the share of its restitution that gains no energy
    gain: Array = of_shape("B + 1", 2)  # of an island: J, the work of impacts; N s, the sum of their impulses


class Candidates(Structure):
    """The candidates of one listing."""

    body: Indices  # (N, 2)
    coefficients: Array  # (N, 2) friction, restitution
    low: Array  # (B, 3) m, corners of the box in which the list is good for a body
    high: Array  # (B, 3) m
    normal: Array  # (P, 3) where the search for a gap starts
    chosen: Indices  # (N,) 0; 1: a contact of this step; 2: to be one
    warm_start: Array  # (2, N, 3) N s, impulses of the two solves of the last step, world axes


class Progress(Structure):
    """Of a step, where it stands; read and written by its parts."""

    count: Indices = of_shape(COUNTS)
    measure: Array = of_shape(MEASURES)


class Step(Structure):
    """All of it: one argument, because numba asks for the type of each at every call."""

    scene: Scene
    rules: Rules
    candidates: Candidates
    now: Poses
    ahead: Poses
    flow: Flow
    contacts: Contacts
    bodies: Bodies
    edges: Array  # (2 l, 2) corners of the friction polygon, or none
    progress: Progress


# What a part of the step was to do next, or how it ended
QUERY, BEGIN, AGAIN, SOLVED, REDUCED = range(5)
DONE, LIST, FULL, UNSOLVED, UNRESOLVED = range(5)
