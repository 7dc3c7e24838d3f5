"""What the kernels of bodies in space work on.

The state y is flat, 13 numbers a body: position, unit quaternion w x y z, velocity, spin, all in world axes. Row B is
the world, which nothing moves. A body touches by features of its core, all in body axes: vertices, edges, faces, rims
of discs; a margin about them makes spheres and capsules.
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import Structure, of_shape

Q, V, W, BODY = (np.int64(k) for k in (3, 7, 10, 13))  # columns of a body in the state, and how many there are

# Kinds of candidates: what of the first body meets what of the second
VERTEX_FACE, RIM_FACE, EDGE_EDGE, VERTEX_EDGE, VERTEX_VERTEX, JOINT = (np.int64(k) for k in range(6))
KIND, FIRST, FIRST_FEATURE, SECOND, SECOND_FEATURE, REMOTE, PIECES, IDS = range(8)  # columns of Model.candidate
"""REMOTE: 1 for what bounds a distance alone, and never meets first: two corners without a margin; 2 for the three
supports of a rim, which stand for its disc where it lies flat (`caps`), and come behind the rim's own candidate.
PIECES: the same number for all candidates of the same two pieces."""
FRICTION, RESTITUTION, MARGIN_A, MARGIN_B, VALUES = range(5)  # columns of Model.value: 1, 1, m, m

# Columns of Model.pair, of two pieces; two bodies; numbers of its candidates, and of the vertices of both pieces
FROM, TO, VERTICES_A, END_A, VERTICES_B, END_B, PAIR = range(2, 9)

# Columns of a measured candidate: m; points of both cores and the unit normal from the second to the first, m and 1,
# with their rates, m/s and 1/s; how far inside the edges of its features it is, m; of a vertex over a face, how far it
# is below its neighbours, m
GAP, P1, P2, N, RATE_P1, RATE_P2, RATE_N, INSIDE, LOWEST = (np.int64(k) for k in (0, 1, 4, 7, 10, 13, 16, 19, 20))
MEASURED = np.int64(21)
# More columns of a row of Work.row: points on both surfaces, their relative velocity, its rate without contact forces
C1, C2, U, FREE, ROW = (np.int64(k) for k in (21, 24, 27, 30, 33))

OPEN, STICK, SLIP = (np.int64(k) for k in range(3))  # modes of a contact: without force, without slip, sliding
SPEED, SPIN, ACCELERATION, SPIN_RATE, BOUNDS = range(5)  # columns of Work.bound
START, NOW, BEFORE_JUMP, TIMES = range(4)  # columns of Run.time
MOVES, SWING, RATE, PHASE, STEADY, GIVEN = (np.int64(k) for k in (0, 1, 4, 5, 6, 9))  # columns of Model.given
"""1 where the motion of a body is given; w^2 A, m/s^2; w, rad/s; phi, rad; the steady part of its acceleration."""


class Model(Structure):
    """B bodies and the world, V vertices, E edges, F faces, C rims, N candidates, P pairs of pieces, K joints.

    The last K candidates are joints, whose features are vertices.
    """

    inverse_mass: Array = of_shape("B + 1")  # 1/kg; 0 of what is fixed
    inertia: Array = of_shape("B + 1", 3)  # kg m^2, principal
    inverse_inertia: Array = of_shape("B + 1", 3)  # 0 of what is fixed
    radius: Array = of_shape("B + 1")  # m, of the furthest point from the centre of mass; infinite of half-spaces
    gravity: Array = of_shape(3)  # m/s^2
    given: Array = of_shape("B + 1", int(GIVEN))
    knot: Array = of_shape("T", 5)  # time, s; body; acceleration that is added from then on, m/s^2; ascending
    free: Indices = of_shape("free")  # components of the state that change
    vertex: Array = of_shape("V", 3)  # m
    edge: Indices = of_shape("E", 2)  # its vertices
    outward: Array = of_shape("E", 3)  # unit, between the normals of an edge's faces; 0 where there are none
    inward: Array = of_shape("E", 6)  # unit, across an edge into both of its faces; 0 where there are none
    way_first: Indices = of_shape("V + 1")  # edges leave vertex v along way[way_first[v] : way_first[v + 1]]
    way: Array = of_shape("2 E", 4)  # unit, and its length m
    face: Array = of_shape("F", 4)  # outward unit normal; m, its plane along it
    loop_first: Indices = of_shape("F + 1")  # face f has the corners loop[loop_first[f] :
    # loop_first[f + 1]]; a plane has none
    loop: Indices = of_shape("L")  # vertices, counterclockwise from outside
    rim: Array = of_shape("C", 7)  # centre m, unit axis, radius m
    support: Indices = of_shape("C")  # the first of three vertices on a rim, which turn round it at events
    stands: Indices = of_shape("C")  # 1: it is on the first of these, and level with the face or next to it
    candidate: Indices = of_shape("N", IDS)
    value: Array = of_shape("N", VALUES)
    pair: Indices = of_shape("P", PAIR)


class Work(Structure):
    """Arrays for the kernels; A contacts and joints that are active, of M rows at most."""

    stages: Array = of_shape(16, "n")
    dense: Array = of_shape(7, "n")
    state: Array = of_shape("n")
    end: Array = of_shape("n")
    bernstein: Array = of_shape(8, "n")
    bound: Array = of_shape("B + 1", BOUNDS)  # over a step: m/s, rad/s, m/s^2, rad/s^2
    rotation: Array = of_shape("B + 1", 9)
    free_rate: Array = of_shape("B + 1", 6)  # accelerations without contacts
    row: Array = of_shape("A", int(ROW))
    slip: Array = of_shape("A", 3)  # as of Active, at the state that is asked about
    turning: Array = of_shape("A")
    force: Array = of_shape("A", 3)  # N, on the first body, world axes
    jacobian: Array = of_shape("M", 12)  # of a row: on velocity and spin of the first body, and of the second
    column: Array = of_shape("M", 12)  # accelerations that a unit of the row's force gives to both
    M: Array = of_shape("M", "M + 1")  # the system with its right side
    solution: Array = of_shape("M")
    weight: Array = of_shape("M")  # of each unknown, where the equations leave some open
    order: Indices = of_shape("M")  # of the unknowns
    measured: Array = of_shape(int(MEASURED))


class Active(Structure):
    """Contacts and joints that carry forces, island by island: those that moving bodies link."""

    candidate: Indices = of_shape("A")
    mode: Indices = of_shape("A")
    slip: Array = of_shape("A", 3)  # unit, in which direction it slides or begins to, at the start of a step
    young: Indices = of_shape("A")  # 1: it has begun to slide, and is slow yet
    sought: Array = of_shape("A", 4)  # N: along the normal, and across it in world axes: what forces were at the event
    weight: Array = of_shape("A")  # of changes of these of what sticks, where the equations leave some open
    turning: Array = of_shape("A")  # 1/kg, of a young slip: its acceleration over its friction; -1: not known
    count: Indices = of_shape(2)  # of all, and of islands
    first: Indices = of_shape("A + 1")  # of an island; behind the last one, `count`


class Run(Structure):
    """All of it: one argument."""

    model: Model
    active: Active
    work: Work
    y: Array = of_shape("n")
    tolerance: Array = of_shape(1)
    scale: Array = of_shape(2)  # m, the size of the bodies; m/s, a slip that is none
    time: Array = of_shape(TIMES)  # s: of y; of the state that is looked at; the last before given motions jump
