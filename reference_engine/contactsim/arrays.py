"""How the kernels see a world: a few arrays, and the names of their columns (rows of `Work`)."""

from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import Structure


@dataclass(frozen=True, eq=False)
class Outlines(Structure):
    """B bodies and the fixed background last, E edges, V corners and points on arcs, K connectors, P pairs."""

    body: Array  # (B + 1, 12)
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

# body: 1/kg and 1/(kg m^2), 0 if fixed; m, how low the centre of mass can lie; a circle about the body; its box;
# kg and kg m^2, infinite if fixed
INV_MASS, INV_INERTIA, LEAST_HEIGHT, MIDDLE_X, MIDDLE_Y, BOUNDING_RADIUS, LEFT, BOTTOM, RIGHT, TOP, MASS, INERTIA = (
    range(12)
)
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


@dataclass(frozen=True, eq=False)
class Rules(Structure):
    """Tolerances and options, as scalars."""

    distance_tolerance: float
    velocity_tolerance: float
    accuracy: float  # m, half-width of the window about the target gap
    extra: int
    extra_step: float


@dataclass(frozen=True, eq=False)
class Work(Structure):
    """Arrays for up to N contacts; nothing in it outlives a call."""

    A: Array  # (N, N) of a subset
    A_all: Array  # (N, N) of an impact
    M: Array  # (N, N + 1) for elimination
    v: Array  # (12, N) rows W_B to W_J
    k: Indices  # (14, N) rows W_BILATERAL to W_FROM
    factor: Array  # (2, N, N) two factors of parts of A
    f_ids: Indices  # (2, 6, N + 1) rows F_CLAMPED to F_SIZE
    f_values: Array  # (2, 2, N) F_SCALE and F_BEST
    history: Indices  # (256, N + 1) states that have been
    moved: Indices  # (B + 1,) bodies of a subset


# v: right-hand side, forces, accelerations; of the elimination and its direction; speeds, restitution, impulses
W_B, W_F, W_A, W_SCALE, W_X, W_DF, W_DA, W_COLUMN, W_RIGHT, W_U, W_E, W_J = range(12)
# k: of the pivoting; rows of a subset, and which rows are in one; held contacts, and how many come up to each; where
# the rows of A begin and end; where columns come from
W_BILATERAL, W_ROWS, W_COLUMNS, W_STATUS, W_AGAIN, W_ORDER, W_STOOD, W_MEMBER, W_TAKEN = range(9)
W_CLAMPED, W_UP_TO, W_LOW, W_HIGH, W_FROM = range(9, 14)
# f_ids: contacts; the rows in the order of their steps, and the step of each; where rows begin and end; how many
# contacts, -1 for none, and 1 if there is a pivot for each
F_CLAMPED, F_ROWS, F_STEP, F_START, F_END, F_SIZE = range(6)
F_SCALE, F_BEST = range(2)  # f_values: the largest entry of each row of A; the pivot of a step over that


def new_work(n: int, bodies: int) -> Work:
    return Work(
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros((n, n + 1)),
        np.zeros((12, n)),
        np.zeros((14, n), np.int64),
        np.zeros((2, n, n)),
        np.zeros((2, 6, n + 1), np.int64),
        np.zeros((2, 2, n)),
        np.zeros((256, n + 1), np.int64),
        np.zeros(bodies + 1, np.int64),
    )
