"""Signs that are never wrong: floating point where it is certain, rationals where it is not."""

from collections.abc import Sequence
from fractions import Fraction

Point = Sequence[float]

# Shewchuk 1997 (Discrete Comput. Geom. 18), sec. 4.1, error bound A of the planar orientation test.
ORIENTATION_ERROR = (3.0 + 16.0 * 2.0**-53) * 2.0**-53


def orientation(a: Point, b: Point, c: Point) -> int:
    """+1 if a, b, c turn left, -1 if they turn right, 0 if they lie on one line; exact."""
    left = (a[0] - c[0]) * (b[1] - c[1])
    right = (a[1] - c[1]) * (b[0] - c[0])
    determinant, bound = left - right, ORIENTATION_ERROR * (abs(left) + abs(right))
    if abs(determinant) > bound:
        return 1 if determinant > 0.0 else -1
    (ax, ay), (bx, by), (cx, cy) = (tuple(map(Fraction, map(float, p))) for p in (a, b, c))
    exact = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)
    return (exact > 0) - (exact < 0)


def within_box(p: Point, a: Point, b: Point) -> bool:
    """For p on the line through a and b: is it on the closed segment?"""
    return min(a[0], b[0]) <= p[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= p[1] <= max(a[1], b[1])


def segments_meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Do the closed segments ab and cd share a point?  Exact, collinear overlap included."""
    turn_c, turn_d = orientation(a, b, c), orientation(a, b, d)
    turn_a, turn_b = orientation(c, d, a), orientation(c, d, b)
    if turn_c * turn_d < 0 and turn_a * turn_b < 0:
        return True
    return (
        (turn_c == 0 and within_box(c, a, b))
        or (turn_d == 0 and within_box(d, a, b))
        or (turn_a == 0 and within_box(a, c, d))
        or (turn_b == 0 and within_box(b, c, d))
    )
