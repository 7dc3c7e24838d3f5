"""How the kernels see a world: a few arrays, and the names of their columns (rows of `Work`)."""

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import Structure, of_shape, zeros


class Outlines(Structure):
    """B bodies and the fixed background last, E edges, V corners and points on arcs, K connectors, P pairs."""

    body: Array  # (B + 1, 11)
    owns: Indices  # (B + 2, 3)
    restitution: Array  # (B + 1, B + 1)
    pairs: Indices  # (P, 2) that may meet
    ignores: Indices  # (B + 1, E) 1 where a body passes through an edge
    edge: Array  # (E, 16)
    edge_ids: Indices  # (E, 3)
    corner: Array  # (V, 3)
    corner_ids: Indices  # (V, 3)
    connector: Array  # (K, 11)
    connector_ids: Indices  # (K, 6)
    path: Array  # (T, 7) tables of `Path`, one after the other


NONE = -1  # no contact, no body

# body: 1/kg, 0 if fixed; m, how low the centre of mass can lie; a circle about the body; its box;
# kg and kg m^2, infinite if fixed
INV_MASS, LEAST_HEIGHT, MIDDLE_X, MIDDLE_Y, BOUNDING_RADIUS, LEFT, BOTTOM, RIGHT, TOP, MASS, INERTIA = range(11)
# owns: the live edge of a wall, else -1; body i has edges FIRST_EDGE of i up to that of i + 1, and so its corners
LIVE_EDGE, FIRST_EDGE, FIRST_CORNER = range(3)
# edge: its ends; outward normal if straight; of an arc centre, radius, +1 convex or -1 concave, directions from the
# centre, depth from the chord; a circle about the edge
X1, Y1, X2, Y2, OUT_X, OUT_Y, CENTRE_X, CENTRE_Y, RADIUS, SIGN, LOW, HIGH, DEPTH, MID_X, MID_Y, EDGE_RADIUS = range(16)
OWNER, SHAPE, WHOLE = range(3)  # edge_ids: body, kind of edge, 1 for a whole circle
SLANTED, VERTICAL, HORIZONTAL, ARC = range(4)  # SHAPE
PX, PY, CURVATURE = range(3)  # corner: point; radius, the smaller of its edges', infinite between straight ones
CORNER_OWNER, BEFORE, AFTER = range(3)  # corner_ids: body, edges; AFTER is -1 for a point on an arc
# connector: points on both bodies; normal of a joint; length of a rope, or limit along a path; where on its path the
# point was found last, as row of the table and as length, now and before the step
P1X, P1Y, P2X, P2Y, JX, JY, LENGTH, AT, ALONG, OLD_AT, OLD_ALONG = range(11)
END_1, END_2, CONNECTOR, TABLE, ROWS, CLOSED = range(6)  # connector_ids: bodies, kind; where in `path` its table is
JOINT_TURNING, JOINT_STILL, ROPE, ROD, ON_PATH, UPPER_END, LOWER_END = range(7)  # CONNECTOR


class Bodies(Structure):
    """Where the B bodies and the background are, and how they move; and where they were before the step."""

    frame: Array = of_shape("B + 1", 7)
    old_frame: Array = of_shape("B + 1", 7)
    has_old: Indices = of_shape(1)  # 1: they are known
    twist: Array = of_shape("B + 1", 3)  # m/s, m/s, rad/s
    now: Array = of_shape(2)
    crossing: Array = of_shape(2, 2)  # m, where a path crosses an edge


X, Y, ANGLE, COSINE, SINE, CX, CY = range(7)  # frame: pose; of its angle; centre of mass in the frame of the body
TIME, STEP = range(2)  # now: s; s, how far the bodies have gone


class Rules(Structure):
    """Tolerances and options, as scalars."""

    distance_tolerance: float
    velocity_tolerance: float
    accuracy: float  # m, half-width of the window about the target gap
    extra: int
    extra_step: float


class Work(Structure):
    """Arrays for up to N contacts; nothing in it outlives a call."""

    A_all: Array = of_shape("N", "N")  # of an impact
    u: Array = of_shape("N")  # m/s, speeds of an impact; restitution; N s
    e: Array = of_shape("N")
    impulse: Array = of_shape("N")
    taken: Indices = of_shape("N")  # 1 for rows that are in a subset
    moved: Indices = of_shape("B + 1")  # 1 for the bodies of a subset
    member: Indices = of_shape("N")  # rows of a subset; what is asked of its forces: A, b, and which are joints
    A: Array = of_shape("N", "N")
    b: Array = of_shape("N")
    bilateral: Indices = of_shape("N")
    f: Array = of_shape("N")  # forces and accelerations, and what they change by for a unit of the driven force
    a: Array = of_shape("N")
    df: Array = of_shape("N")
    da: Array = of_shape("N")
    status: Indices = of_shape("N")  # of each contact; was it taken up again; did it stop a step of no length
    again: Indices = of_shape("N")
    stood: Indices = of_shape("N")
    order: Indices = of_shape("N")  # a permutation
    history: Indices = of_shape(256, "N + 1")  # states that have been, and which contact was next
    clamped: Indices = of_shape("N")  # contacts of M, [A b] of those that are held; b of all
    M: Array = of_shape("N", "N + 1")
    right: Array = of_shape("N")
    x: Array = of_shape("N")
    rows: Indices = of_shape("N")  # of M, in the order of their pivots; columns; the largest entry of each row
    columns: Indices = of_shape("N")
    scale: Array = of_shape("N")


def new_work(n: int, bodies: int) -> Work:
    return zeros(Work, {"N": n, "N + 1": n + 1, "B + 1": bodies + 1})
