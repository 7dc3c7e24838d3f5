"""The joints' gaps, one row each, with their rates: g, J and gamma in g' = J twist, g'' = J twist' + gamma.

Three kinds of row cover all joints, with r the arms of the points from the centres of mass, d = p_B - p_A, n and u
fixed in A, w fixed in B, and rotations in world axes:

    point     g = n . d               g' = n . d' + (omega_A x n) . d
    angle     g = u . w - c           g' = (omega_B - omega_A) . (w x u)
    distance  g = |d| - L             g' = n . d',  n = d / |d|

Angles are counted in the mechanism's length, so that a gap is in metres throughout. Source: Haug 1989, "Computer Aided
Kinematics and Dynamics of Mechanical Systems", ch. 9 (dot products of body-fixed vectors).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from reference_engine.errors import MechanismError
from reference_engine.multibody.driven import Drive, DriveRow
from reference_engine.multibody.joints import PARALLEL, Coupling, Distance, Joint
from reference_engine.multibody.kinematics import cross
from reference_engine.multibody.rolling import Rolling, RollingRows
from reference_engine.multibody.winding import Winding, WindingRow
from reference_engine.rotation import tangents


def dot(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


@dataclass(frozen=True, slots=True)
class Placed:
    """The rows' vectors in world axes, at one pose. P point rows, D distances, Q angles, in this order."""

    gap: Array  # (N,) m
    n: Array  # (P + D, 3) unit directions
    d: Array  # (P + D, 3) m, from A's point to B's
    arm_a: Array  # (P + D, 3) m
    arm_b: Array  # (P + D, 3) m
    u: Array  # (Q, 3)
    w: Array  # (Q, 3)
    rolling: tuple[tuple[Array, Array, float], ...]  # rho, n, gap of each
    single: tuple[Any, ...]  # of each drive and winding, what its row says of the pose


@dataclass(frozen=True, slots=True)
class Row:
    """One scalar condition: which joint it is of, between which links, with what in the frames of both."""

    joint: int
    a: int
    b: int
    on_a: Array  # n of a point row, u of an angle
    point_a: Array  # m
    point_b: Array  # m; w of an angle
    value: float = 0.0  # m, the length; c of an angle
    sign: float = 1.0  # -1: of a rope, whose gap is the length left
    one_sided: bool = False


class Rows:
    """The rows of all joints. Links are numbered 0 ... F - 1 among those that move; F is the world, with all fixed."""

    def __init__(
        self, joints: tuple[Joint, ...], position: Array, rotation: Array, number: Indices, size: float, *, planar: bool
    ) -> None:
        """position (B + 1, 3), rotation (B + 1, 3, 3): of all links at the start, then of the world.
        number (B + 1,): of each among those that move, or F; size: m, what an angle of 1 rad counts for.
        """
        self.links, self.size = int(number[-1]), size
        points: list[Row] = []
        distances: list[Row] = []
        angles: list[Row] = []
        rolling: list[tuple[int, RollingRows]] = []
        single: list[tuple[int, DriveRow | WindingRow]] = []
        moves = number[:-1] < self.links  # the rows' own numbering at the start, the world last
        start = np.zeros((self.links + 1, 3)), np.tile(np.eye(3), (self.links + 1, 1, 1))
        start[0][:-1], start[1][:-1] = position[:-1][moves], rotation[:-1][moves]
        for k, joint in enumerate(joints):
            a, b = int(number[joint.first]), int(number[joint.second])
            if isinstance(joint, Rolling):
                rolling.append((k, RollingRows(joint, b)))
                continue

            def seen(link: int, local: Array, *, at: bool) -> Array:
                """In the frame of what the rows take the link for: its own, or the world's."""
                if number[link] < self.links:
                    return local
                return mul(rotation[link], local) + (position[link] if at else 0.0)

            point_a = seen(joint.first, lifted(joint.first_point), at=True)
            point_b = seen(joint.second, lifted(joint.second_point), at=True)
            if isinstance(joint, Drive):
                axis = seen(joint.first, lifted((0.0, 0.0, 1.0) if joint.axis is None else joint.axis), at=False)
                single.append((k, DriveRow(joint, a, b, axis, point_a, point_b, start[1], size)))
                continue
            if isinstance(joint, Winding):
                single.append((k, WindingRow(joint, a, b, point_a, point_b, *start)))
                continue
            if isinstance(joint, Distance):
                distances.append(Row(k, a, b, np.zeros(3), point_a, point_b, joint.length,
                                     -1.0 if joint.rope else 1.0, joint.rope))  # fmt: skip
                continue
            for n in fixed_directions(joint, planar=planar):
                on_a = seen(joint.first, n, at=False)
                points.append(Row(k, a, b, on_a, point_a, point_b, one_sided=joint.one_sided))
            relative = mul(rotation[joint.second].T, rotation[joint.first])
            for u, w in fixed_turns(joint, relative, planar=planar, path=f"joints[{k}]"):
                c = float(mul(mul(u, relative.T), w))
                angles.append(Row(k, a, b, seen(joint.first, u, at=False), np.zeros(3),
                                  seen(joint.second, w, at=False), c))  # fmt: skip
        rows = [*points, *distances, *angles]
        self.dots, self.pulls, self.spans = len(rows), len(points) + len(distances), len(distances)
        self.first_span, self.turns = len(points), len(angles)
        self.rolling = tuple(row for _, row in rolling)
        self.single = tuple(row for _, row in single)
        self.first_single = self.dots + 4 * len(rolling)
        self.by_time = any(isinstance(row, DriveRow) for row in self.single)
        owners = [row.joint for row in rows] + [k for k, _ in rolling for _ in range(4)] + [k for k, _ in single]
        self.joint = np.array(owners, np.int64)
        self.count = len(self.joint)
        self.one_sided = np.zeros(self.count, bool)
        self.one_sided[: self.dots] = [row.one_sided for row in rows]
        sticking = [row.friction is not None and k > 0 for row in self.rolling for k in range(4)]
        self.sticking = np.array(
            [False] * len(rows) + sticking + [False] * len(single), bool
        )  # held only while nothing slips there
        self.restitution = np.array([getattr(joints[k], "restitution", 0.0) for k in self.joint])
        self.a = np.array([row.a for row in rows], np.int64)
        self.b = np.array([row.b for row in rows], np.int64)
        self._value = np.array([row.value for row in distances])
        self._sign = np.array([row.sign for row in distances])
        self._cosine = np.array([row.value for row in angles])
        # All vectors that turn with a link, in one array: n | u, then arms of A, arms of B | w.
        vectors = [row.on_a for row in rows] + [row.point_a for row in rows[: self.pulls]] + [r.point_b for r in rows]
        self._local = np.array(vectors).reshape(-1, 3, 1)
        self._owner = np.concatenate([self.a, self.a[: self.pulls], self.b])
        self._of_row = np.arange(self.dots)
        p = slice(0, self.pulls)
        self._ends = np.concatenate([self.a[p], self.b[p]])

    def evaluate(self, position: Array, rotation: Array, time: float = 0.0) -> Placed:
        """position (F + 1, 3), rotation (F + 1, 3, 3), the world last; time s, for drives."""
        N, P, S = self.dots, self.pulls, self.first_span
        turned = (mul(rotation[self._owner], self._local))[:, :, 0]
        arm_a, arm_b = turned[N : N + P], turned[N + P : N + 2 * P]
        d = position[self.b[:P]] + arm_b - position[self.a[:P]] - arm_a
        n, u, w = turned[:P], turned[P:N], turned[N + 2 * P :]
        gap = np.zeros(self.count)
        if self.spans:
            length = np.sqrt(dot(d[S:], d[S:]))
            n[S:] = d[S:] * (self._sign / positive(length))[:, None]
            gap[S:P] = self._sign * (length - self._value)
        gap[:S] = dot(n[:S], d[:S])
        gap[P:N] = self.size * (dot(u, w) - self._cosine)
        rolling = tuple(row.evaluate(position, rotation) for row in self.rolling)
        for i, (_, _, off) in enumerate(rolling):
            gap[N + 4 * i] = off
        single = tuple(row.evaluate(position, rotation, time) for row in self.single)
        gap[self.first_single :] = [at.gap for at in single]
        return Placed(gap, n, d, arm_a, arm_b, u, w, rolling, single)

    def jacobian(self, placed: Placed) -> Array:
        """(F + 1, N, 6): by link, so that g' = sum over links of J[link] @ (velocity, spin)."""
        P, S = self.pulls, self.first_span
        J = np.zeros((self.links + 1, self.count, 6))
        if P:
            lever = placed.arm_a.copy()
            lever[:S] += placed.d[:S]  # the normal turns with A
            moments = cross(np.concatenate([lever, placed.arm_b]), np.concatenate([placed.n, placed.n]))
            k = self._of_row[:P]
            J[self.a[:P], k, :3], J[self.b[:P], k, :3] = -placed.n, placed.n
            J[self.a[:P], k, 3:], J[self.b[:P], k, 3:] = -moments[:P], moments[P:]
        if self.turns:
            k = self._of_row[P:]
            axis = self.size * cross(placed.w, placed.u)
            J[self.a[P:], k, 3:], J[self.b[P:], k, 3:] = -axis, axis
        for i, row in enumerate(self.rolling):
            first = self.dots + 4 * i
            J[row.link, first : first + 4] = row.jacobian(placed.rolling[i])
        for i, (one, at) in enumerate(zip(self.single, placed.single), self.first_single):
            J[one.a, i], J[one.b, i] = one.jacobian(at)
        return J

    def drift(self, placed: Placed, position: Array) -> Array:
        """What g' is at rest (N,): of planes that turn, and of drives."""
        moved = np.zeros(self.count)
        for i, row in enumerate(self.rolling):
            first = self.dots + 4 * i
            moved[first : first + 4] = row.drift(placed.rolling[i], position)
        moved[self.first_single :] = [one.drift(at) for one, at in zip(self.single, placed.single)]
        return moved

    def bias(self, placed: Placed, rotation: Array, velocity: Array, spin: Array) -> Array:
        """gamma (N,): what g'' is without acceleration. velocity, spin (F + 1, 3), of the world 0."""
        P, S = self.pulls, self.first_span
        gamma = np.zeros(self.count)
        if P:
            ends = spin[self._ends]
            arms = np.concatenate([placed.arm_a, placed.arm_b])
            whirl = cross(ends, arms)
            inward = cross(ends, whirl)
            inward_d = inward[P:] - inward[:P]
            rate_d = velocity[self.b[:P]] + whirl[P:] - velocity[self.a[:P]] - whirl[:P]
            gamma[:P] = dot(placed.n, inward_d)
            if S:
                of_a = ends[:S]
                n_rate = cross(of_a, placed.n[:S])
                gamma[:S] += 2.0 * dot(n_rate, rate_d[:S]) + dot(cross(of_a, n_rate), placed.d[:S])
            if self.spans:
                n, d_rate = placed.n[S:], rate_d[S:]
                aside = dot(d_rate, d_rate) - squared(dot(n, d_rate))
                gamma[S:P] += self._sign * aside / positive(np.sqrt(dot(placed.d[S:], placed.d[S:])))
        if self.turns:
            of_a, of_b = spin[self.a[P:]], spin[self.b[P:]]
            u_rate, w_rate = cross(of_a, placed.u), cross(of_b, placed.w)
            gamma[P : self.dots] = self.size * (
                dot(cross(of_a, u_rate), placed.w) + 2.0 * dot(u_rate, w_rate) + dot(placed.u, cross(of_b, w_rate))
            )
        for i, row in enumerate(self.rolling):
            first = self.dots + 4 * i
            gamma[first : first + 4] = row.bias(placed.rolling[i], rotation, velocity, spin)
        gamma[self.first_single :] = [one.bias(at, velocity, spin) for one, at in zip(self.single, placed.single)]
        return gamma


def positive(length: Array) -> Array:
    """Lengths to divide by: a rope may have its ends together, and then has no direction."""
    return np.where(length > 0.0, length, np.inf)


def fixed_directions(joint: Coupling, *, planar: bool) -> list[Array]:
    """Directions in A's frame along which the points stay together."""
    if joint.linear == 0:
        return list(np.eye(3)[: 2 if planar else 3])
    axis = lifted(joint.axis)
    if joint.linear == 1:
        return [np.array([-axis[1], axis[0], 0.0])] if planar else list(tangents(axis))
    return [axis] if joint.linear == 2 and not planar else []


def fixed_turns(joint: Coupling, relative: Array, *, planar: bool, path: str) -> list[tuple[Array, Array]]:
    """Pairs of u in A's frame and w in B's whose angle stays. relative (3, 3): A's axes in B's frame."""
    e = np.eye(3)
    if planar:
        return [(e[0], mul(relative, e[1]))] if joint.angular == 0 else []
    if joint.angular == 0:
        return [(e[0], mul(relative, e[1])), (e[1], mul(relative, e[2])), (e[2], mul(relative, e[0]))]
    if joint.angular == 3:
        return []
    axis = lifted(joint.turn_axis if joint.turn_axis is not None else joint.axis)
    if joint.angular == 1:
        return [(u, mul(relative, axis)) for u in tangents(axis)]
    second = lifted(joint.second_axis)
    if norm(np.cross(mul(relative, axis), second)) < PARALLEL:
        raise MechanismError(f"{path}.second_axis: parallel to turn_axis at the start; two axes that cross are needed")
    return [(axis, second)]


def lifted(point: object) -> Array:
    """A point or vector in space; one of the plane has z = 0, none is the origin."""
    p = np.zeros(3) if point is None else np.asarray(point, np.float64)
    return p if len(p) == 3 else np.array([p[0], p[1], 0.0])
