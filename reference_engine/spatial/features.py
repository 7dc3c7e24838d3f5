"""Gaps between features that move with their bodies: points of both cores, the normal, and the rates of all of them.

Each kind is a formula for two nearest points and the unit normal n from the second body to the first; the gap is
n . (p1 - p2) less both margins. Rates are exact derivatives of these by time: bodies' points have v + w x r, and a
nearest point moves on its body besides.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.rotation import matrix
from reference_engine.spatial import layout as col
from reference_engine.vectors import along, cross, dot, length, minus, over, plus, row, set_three, three, times

PARALLEL = 1e-9  # sine of the angle between edges below which none of their points is nearest
LEVEL = 1e-13  # of the angle between a disc and a face, below which none of the rim's points is the lowest one
TURNS = 1e-11  # rad/s, of such a disc: else the lowest one is that which turns down


@kernel
def rotate_bodies(y, rotation):
    """Matrices of the state's quaternions, of any length."""
    for i in range(rotation.shape[0]):
        rotate_body(y, i, rotation)


@kernel
def rotate_body(y, i, rotation):
    k = col.BODY * i + col.Q
    w, a, b, c = y[k], y[k + 1], y[k + 2], y[k + 3]
    rows = matrix(w, a, b, c, 2.0 / (w * w + a * a + b * b + c * c))
    for r in range(3):
        set_three(rotation[i], 3 * r, rows[r])


@kernel
def turn(rotation, i, a):
    R = rotation[i]
    return dot(three(R, 0), a), dot(three(R, 3), a), dot(three(R, 6), a)


@kernel
def position_of(y, i):
    return three(y, col.BODY * i)


@kernel
def velocity_at(y, i, p):
    """Of the point of body i that is at p."""
    k = col.BODY * i
    return plus(three(y, k + col.V), cross(three(y, k + col.W), minus(p, three(y, k))))


@kernel
def spin_of(y, i):
    return three(y, col.BODY * i + col.W)


@kernel
def vertex_at(model, y, rotation, i, k):
    return plus(position_of(y, i), turn(rotation, i, row(model.vertex, k)))


@kernel
def unit_rate(a, size, rate):
    """Of the unit vector along a vector, whose own rate and size are given."""
    return over(minus(rate, times(dot(a, rate), a)), size)


@kernel
def measure(model, y, rotation, k, out):
    """Candidate k at this state: the columns of `layout` from GAP to LOWEST."""
    kind, lowest = model.candidate[k, col.KIND], np.inf
    a, fa = model.candidate[k, col.FIRST], model.candidate[k, col.FIRST_FEATURE]
    b, fb = model.candidate[k, col.SECOND], model.candidate[k, col.SECOND_FEATURE]
    if kind == col.VERTEX_FACE:
        p = vertex_at(model, y, rotation, a, fa)
        over_face(model, y, rotation, b, fb, p, velocity_at(y, a, p), out)
        lowest = below_others(model, rotation, a, fa, three(out, col.N))
    elif kind == col.RIM_FACE:
        p, rate = lowest_of_rim(model, y, rotation, a, fa, b, fb)
        over_face(model, y, rotation, b, fb, p, rate, out)
    elif kind == col.EDGE_EDGE:
        between_edges(model, y, rotation, a, fa, b, fb, out)
    elif kind == col.VERTEX_EDGE:
        p = vertex_at(model, y, rotation, a, fa)
        beside_edge(model, y, rotation, b, fb, p, velocity_at(y, a, p), out)
        out[col.INSIDE] = min(out[col.INSIDE], beyond_vertex(model, rotation, a, fa, minus(three(out, col.P2), p)))
    else:
        p, q = vertex_at(model, y, rotation, a, fa), vertex_at(model, y, rotation, b, fb)
        ways = min(
            beyond_vertex(model, rotation, a, fa, minus(q, p)), beyond_vertex(model, rotation, b, fb, minus(p, q))
        )
        write_distance(p, q, velocity_at(y, a, p), velocity_at(y, b, q), ways, out)
    out[col.GAP] -= model.value[k, col.MARGIN_A] + model.value[k, col.MARGIN_B]
    out[col.LOWEST] = lowest


@kernel
def over_face(model, y, rotation, b, f, p, rate, out):
    """A point that moves at `rate` over face f of body b."""
    n = turn(rotation, b, three(model.face[f], 0))
    spin, x = spin_of(y, b), position_of(y, b)
    turns, arm = cross(spin, n), minus(p, x)
    gap = dot(n, arm) - model.face[f, 3]
    closing = dot(n, minus(rate, three(y, col.BODY * b + col.V))) + dot(turns, arm)
    q = along(p, -gap, n)
    inside, first, last = np.inf, model.loop_first[f], model.loop_first[f + 1]
    for j in range(first, last):
        start = vertex_at(model, y, rotation, b, model.loop[j])
        end = vertex_at(model, y, rotation, b, model.loop[j + 1 if j + 1 < last else first])
        edge = minus(end, start)
        inside = min(inside, dot(minus(q, start), cross(n, edge)) / length(edge))
    out[col.GAP], out[col.INSIDE] = gap, inside
    set_three(out, col.P1, p)
    set_three(out, col.P2, q)
    set_three(out, col.N, n)
    set_three(out, col.RATE_P1, rate)
    set_three(out, col.RATE_P2, minus(minus(rate, times(closing, n)), times(gap, turns)))
    set_three(out, col.RATE_N, turns)


@kernel
def down_of_rim(model, y, rotation, a, c, b, f):
    """The normal of face f of body b less what of it is along the axis of rim c of body a, and the rate of that; exact
    where that is all but all of it."""
    n, axis = turn(rotation, b, three(model.face[f], 0)), turn(rotation, a, three(model.rim[c], 3))
    n_rate, axis_rate = cross(spin_of(y, b), n), cross(spin_of(y, a), axis)
    tilt, tilt_rate = cross(n, axis), plus(cross(n_rate, axis), cross(n, axis_rate))
    return cross(axis, tilt), plus(cross(axis_rate, tilt), cross(axis, tilt_rate))


@kernel
def lowest_of_rim(model, y, rotation, a, c, b, f):
    """The point of rim c of body a that is deepest over face f of body b, and how it moves; of a rim that is level with
    the face its first support, where it is on that or does not turn, or else that which goes down first."""
    down, down_rate = down_of_rim(model, y, rotation, a, c, b, f)
    centre = plus(position_of(y, a), turn(rotation, a, three(model.rim[c], 0)))
    moves, radius, size = velocity_at(y, a, centre), model.rim[c, 6], length(down)
    if size < LEVEL:
        turns = length(down_rate)
        p = vertex_at(model, y, rotation, a, model.support[c])
        if turns >= TURNS and model.stands[c] == 0:
            p = along(centre, -radius / turns, down_rate)
        return p, velocity_at(y, a, p)
    down = over(down, size)
    return along(centre, -radius, down), along(moves, -radius, unit_rate(down, size, down_rate))


@kernel
def time_to_turn(model, y, rotation, k):
    """s, in which the lowest point of candidate k's rim goes once its radius round it, as things are: at a rim that
    comes to lie flat on the face, ever less; infinite where it lies so."""
    a, c = model.candidate[k, col.FIRST], model.candidate[k, col.FIRST_FEATURE]
    b, f = model.candidate[k, col.SECOND], model.candidate[k, col.SECOND_FEATURE]
    rotate_body(y, a, rotation)
    rotate_body(y, b, rotation)
    down, down_rate = down_of_rim(model, y, rotation, a, c, b, f)
    size, rate = length(down), length(down_rate)
    return size / rate if size >= LEVEL and rate > 0.0 else np.inf


@kernel
def edge_at(model, y, rotation, i, e):
    """Start, unit direction, length; rates of the first two."""
    start = vertex_at(model, y, rotation, i, model.edge[e, 0])
    way = minus(vertex_at(model, y, rotation, i, model.edge[e, 1]), start)
    size = length(way)
    way = over(way, size)
    return start, way, size, velocity_at(y, i, start), cross(spin_of(y, i), way)


@kernel
def across(model, rotation, i, e, k, n, size):
    """How far a normal into body i has turned from a face of edge e towards the other one, times a length; infinite
    where the edge has no faces."""
    way = three(model.inward[e], k)
    return size * dot(n, turn(rotation, i, way)) if dot(way, way) > 0.0 else np.inf


@kernel
def between_edges(model, y, rotation, a, ea, b, eb, out):
    """The nearest points of the lines of two edges; p1 - p2 = g n, so that both rates follow from two equations."""
    o1, e1, size1, o1_rate, e1_rate = edge_at(model, y, rotation, a, ea)
    o2, e2, size2, o2_rate, e2_rate = edge_at(model, y, rotation, b, eb)
    m = cross(e1, e2)
    sine, d = length(m), minus(o1, o2)
    if sine < PARALLEL:
        for k in range(col.MEASURED):
            out[k] = 0.0
        out[col.GAP], out[col.INSIDE] = np.inf, -np.inf
        return
    m_rate = plus(cross(e1_rate, e2), cross(e1, e2_rate))
    outward = turn(rotation, b, row(model.outward, eb))
    side = dot(m, outward)
    if side == 0.0:
        side = dot(m, d)
    sign = 1.0 if side >= 0.0 else -1.0
    n = times(sign / sine, m)
    n_rate = unit_rate(n, sine, times(sign, m_rate))
    # e1 - c e2 and c e1 - e2, over 1 - c^2, which would be round-off of edges nearly parallel
    w1, w2 = over(cross(e2, m), sine * sine), over(cross(e1, m), sine * sine)
    s1, s2 = -dot(d, w1), -dot(d, w2)
    p1, p2 = along(o1, s1, e1), along(o2, s2, e2)
    gap = dot(n, minus(p1, p2))  # of d it would be as inexact as n, times its length
    moved = minus(along(o1_rate, s1, e1_rate), along(o2_rate, s2, e2_rate))
    left = along(times(gap, n_rate), -1.0, moved)
    s1_rate, s2_rate = dot(left, w1), dot(left, w2)
    inside = min(min(s1, size1 - s1), min(s2, size2 - s2))
    for k in range(0, 6, 3):  # else a face is nearer
        inside = min(inside, across(model, rotation, a, ea, k, n, size1))
        inside = min(inside, across(model, rotation, b, eb, k, times(-1.0, n), size2))
    out[col.GAP], out[col.INSIDE] = gap, inside
    set_three(out, col.P1, p1)
    set_three(out, col.P2, p2)
    set_three(out, col.N, n)
    set_three(out, col.RATE_P1, along(along(o1_rate, s1, e1_rate), s1_rate, e1))
    set_three(out, col.RATE_P2, along(along(o2_rate, s2, e2_rate), s2_rate, e2))
    set_three(out, col.RATE_N, n_rate)


@kernel
def beside_edge(model, y, rotation, b, e, p, rate, out):
    """A point that moves at `rate` beside the line of edge e of body b."""
    o, way, size, o_rate, way_rate = edge_at(model, y, rotation, b, e)
    arm = minus(p, o)
    s = dot(arm, way)
    s_rate = dot(minus(rate, o_rate), way) + dot(arm, way_rate)
    q = along(o, s, way)
    inside = min(s, size - s)
    for k in range(0, 6, 3):  # else a face is nearer
        inside = min(inside, across(model, rotation, b, e, k, minus(q, p), 1.0))
    write_distance(p, q, rate, along(along(o_rate, s, way_rate), s_rate, way), inside, out)


@kernel
def beyond_vertex(model, rotation, i, v, a):
    """How far an arm from vertex v of body i lies on the vertex' side of every edge that leaves it, m; else an edge, or
    a face, is nearer."""
    least = np.inf
    for k in range(model.way_first[v], model.way_first[v + 1]):
        least = min(least, -dot(a, turn(rotation, i, row(model.way, k))))
    return least


@kernel
def below_others(model, rotation, i, v, n):
    """How far vertex v of body i is below the others that edges lead to, along n, m; else one of these is nearer."""
    least = np.inf
    for k in range(model.way_first[v], model.way_first[v + 1]):
        least = min(least, model.way[k, 3] * dot(n, turn(rotation, i, row(model.way, k))))
    return least


@kernel
def write_distance(p, q, p_rate, q_rate, inside, out):
    """Of two points."""
    d, d_rate = minus(p, q), minus(p_rate, q_rate)
    size = length(d)
    n = over(d, size) if size > 0.0 else (0.0, 0.0, 0.0)
    out[col.GAP], out[col.INSIDE] = size, inside
    set_three(out, col.P1, p)
    set_three(out, col.P2, q)
    set_three(out, col.N, n)
    set_three(out, col.RATE_P1, p_rate)
    set_three(out, col.RATE_P2, q_rate)
    set_three(out, col.RATE_N, unit_rate(n, size, d_rate) if size > 0.0 else (0.0, 0.0, 0.0))
