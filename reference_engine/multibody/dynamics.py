"""The equations of motion of a mechanism, with its joints as rows that a factor of S = J M^(-1/2) solves.

    M a = f + J^T lambda,   J a = -gamma

With W = M^(-1) and z = M^(1/2) (a - W f): S z = -(gamma + J W f), solved by the singular values of S, the smallest z
(Gauss 1829: the constrained accelerations are the nearest ones). Singular values below RANK of the largest count as
none: rows that repeat others change nothing, and lambda = (S^T)^+ z are the smallest multipliers that do the work.
The same factor projects velocities (z = -S^+ J v) and, repeatedly, positions.
"""

from dataclasses import dataclass, replace

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.dense import mul, norm, svd
from reference_engine.elementary import squared
from reference_engine.errors import JointError, MechanismError, SingularJointsError
from reference_engine.multibody.friction import sliding, with_friction
from reference_engine.multibody.kinematics import PlanarPoses, Poses, SpatialPoses, rotated, turned_freely
from reference_engine.multibody.links import GROUND, numbers
from reference_engine.multibody.mechanism import Mechanism, size_of
from reference_engine.multibody.rows import Placed, Rows, lifted

RANK = 1e-10  # of the largest singular value
CLOSED = 4e-16  # of the mechanism's size: gaps that projection aims at, more where round-off allows no less
ROUNDS = 12  # of a projection; it converges quadratically
OPEN = 1e-9  # of the size: gaps, and rates by the speed, that a start may have


@dataclass(frozen=True, slots=True)
class Constraints:
    """The active rows at one pose, factored: S = U diag(s) V^T without what is no more than round-off."""

    placed: Placed
    jacobian: Array  # (F + 1, N, 6) of all rows
    rotation: Array  # (F + 1, 3, 3)
    drift: Array | None  # (N,) m/s, g' at rest; None where it is 0
    active: Flags  # (N,)
    U: Array  # (A, R)
    s: Array  # (R,)
    Vt: Array  # (R, F * twist)

    def least(self, wanted: Array) -> Array:
        """z (F * twist,), the smallest with S z = wanted (A,) as nearly as can be."""
        z: Array = mul((mul(wanted, self.U)) / self.s, self.Vt)
        return z

    def multipliers(self, z: Array) -> Array:
        """lambda (A,), the smallest with S^T lambda = z."""
        least: Array = mul(self.U, (mul(self.Vt, z)) / self.s)
        return least


class System:
    """A mechanism ready to be evaluated. A state is y = (poses, twists) in one vector, of the F moving links."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        links = mechanism.links
        planar = mechanism.dimension == 2
        self.moving = np.array([i for i, link in enumerate(links) if not link.fixed], np.int64)
        self.links = len(self.moving)
        self.poses: Poses = PlanarPoses(self.links) if planar else SpatialPoses(self.links)
        number = np.full(len(links) + 1, self.links, np.int64)
        number[self.moving] = np.arange(self.links)
        self.number = number
        every: Poses = PlanarPoses(len(links)) if planar else SpatialPoses(len(links))
        start_q = np.array([np.concatenate([numbers(link.position), numbers(link.orientation)]) for link in links])
        start_v = np.array([np.concatenate([numbers(link.velocity), numbers(link.spin)]) for link in links])
        position, rotation = every.placed(start_q)
        self.start = np.concatenate([start_q[self.moving].ravel(), start_v[self.moving].ravel()])
        self._fixed, self.every = (position, rotation), start_q
        self.gravity = lifted(mechanism.gravity) if planar else np.asarray(mechanism.gravity)
        self.mass = np.array([links[i].mass for i in self.moving])
        inertia = np.array([numbers(links[i].inertia) for i in self.moving])  # (F, 1 or 3)
        self.inertia = inertia
        with np.errstate(divide="ignore"):
            self.inverse_inertia = np.where(inertia > 0.0, 1.0 / inertia, 0.0)
        self._root_mass = np.sqrt(1.0 / self.mass)
        self._root_inertia = np.sqrt(self.inverse_inertia)
        self.size, self._split = size_of(mechanism, position), self.links * self.poses.pose
        self.rows = Rows(mechanism.joints, position, rotation, number, self.size, planar=planar)
        _, v = self.split(self.start)
        own = float(np.sqrt(norm(self.gravity) * self.size))
        self.speed = max(greatest(self, v), own, 1e-300)  # m/s, of the start or of a fall by its size
        self._springs = [self._spring(k) for k in range(len(mechanism.springs))]
        self._torque = np.zeros((self.links, 6))
        for given in mechanism.torques:
            if number[given.link] < self.links:
                self._torque[number[given.link], 3:] += np.array([0.0, 0.0, 1.0]) * numbers(given.torque)
        self.depends_on_speed = mechanism.load is not None or any(spring.damping for spring in mechanism.springs)

    # --- states --------------------------------------------------------------------------------------

    def split(self, y: Array) -> tuple[Array, Array]:
        """Poses (F, 3 or 7) and twists (F, 3 or 6), views of y."""
        return y[: self._split].reshape(self.links, -1), y[self._split :].reshape(self.links, -1)

    def energy(self, y: Array) -> float:
        """J: kinetic, of gravity (0 at the origin), of springs."""
        q, v = self.split(y)
        position, rotation = self.poses.placed(q)
        velocity, spin = self.poses.moving(v)
        kinetic = 0.5 * float(mul(self.mass, np.einsum("ij,ij->i", velocity[:-1], velocity[:-1])))
        own = self._own(rotation, spin)
        kinetic += 0.5 * float((self.inertia * own * own).sum())
        stored = -float(mul(self.mass, mul(position[:-1], self.gravity)))
        for spring, ends in zip(self.mechanism.springs, self._springs):
            d = spring_points(ends, position, rotation)[0]
            stored += 0.5 * spring.stiffness * squared(float(norm(d)) - spring.length)
        return kinetic + stored

    def _own(self, rotation: Array, spin: Array) -> Array:
        """Spins in the links' own axes; in the plane the one number. (F, 1 or 3)"""
        if self.poses.twist == 3:
            return spin[:-1, 2:]
        return np.einsum("fij,fi->fj", rotation[:-1], spin[:-1])

    # --- forces --------------------------------------------------------------------------------------

    def forces(self, time: float, q: Array, rotation: Array, velocity: Array, spin: Array) -> Array:
        """(F, 6) N and N m in world axes, of what the mechanism states; not those of its joints."""
        position = np.zeros((self.links + 1, 3))
        linear = self.poses.linear
        position[:-1, :linear] = q[:, :linear]
        f = self._torque.copy()
        f[:, :3] += self.mass[:, None] * self.gravity
        for spring, (a, b, on_a, on_b) in zip(self.mechanism.springs, self._springs):
            d, arm_a, arm_b = spring_points((a, b, on_a, on_b), position, rotation)
            length = float(norm(d))
            if length == 0.0:
                if spring.length:
                    raise JointError(f"t = {time:.9g} s: a spring of length {spring.length:g} m has its ends together")
                continue
            pull = spring.stiffness * (length - spring.length)
            if spring.damping:
                rate = velocity[b] + np.cross(spin[b], arm_b) - velocity[a] - np.cross(spin[a], arm_a)
                pull += spring.damping * float(mul(rate, d)) / length
            force = pull / length * d
            for link, arm, towards in ((a, arm_a, force), (b, arm_b, -force)):
                if link < self.links:
                    f[link, :3] += towards
                    f[link, 3:] += np.cross(arm, towards)
        if self.mechanism.load is not None:
            f += self._loads(time, q, velocity, spin)
        return f

    def _loads(self, time: float, q: Array, velocity: Array, spin: Array) -> Array:
        """What the caller's function says of all links, of those that move."""
        assert self.mechanism.load is not None
        pose, twist, D = self.every.copy(), np.zeros((len(self.every), 6)), self.mechanism.dimension
        pose[self.moving] = q
        twist[self.moving] = np.concatenate([velocity[:-1], spin[:-1]], axis=1)
        turned = pose[:, 2] if D == 2 else pose[:, 3:]
        given = np.asarray(self.mechanism.load(time, pose[:, :D], turned, twist), np.float64)
        if given.shape != twist.shape or not np.isfinite(given).all():
            raise MechanismError(f"load: at t = {time:.9g} s it gave shape {given.shape}; ({len(pose)}, 6), all finite")
        return given[self.moving]

    def freely(self, f: Array, rotation: Array, spin: Array) -> Array:
        """Accelerations (F, 6) under forces (F, 6) without joints: M^(-1) f with the gyroscopic torque."""
        a = np.zeros((self.links, 6))
        a[:, :3] = f[:, :3] / self.mass[:, None]
        if self.poses.twist == 3:
            a[:, 5] = f[:, 5] * self.inverse_inertia[:, 0]
            return a
        R, own = rotation[:-1], self._own(rotation, spin)
        torque = np.einsum("fij,fi->fj", R, f[:, 3:])
        L = self.inertia * own
        torque -= np.stack(
            [own[:, 1] * L[:, 2] - own[:, 2] * L[:, 1], own[:, 2] * L[:, 0] - own[:, 0] * L[:, 2],
             own[:, 0] * L[:, 1] - own[:, 1] * L[:, 0]], axis=1)  # fmt: skip
        a[:, 3:] = np.einsum("fij,fj->fi", R, torque * self.inverse_inertia)
        return a

    def _spring(self, k: int) -> tuple[int, int, Array, Array]:
        spring = self.mechanism.springs[k]
        ends = []
        for link, point in ((spring.first, spring.first_point), (spring.second, spring.second_point)):
            local = lifted(point)
            if self.number[link] == self.links and link != GROUND:
                local = self._fixed[0][link] + mul(self._fixed[1][link], local)
            ends.append((int(self.number[link]), local))
        return ends[0][0], ends[1][0], ends[0][1], ends[1][1]

    def position_forces(self, time: float, q: Array, rotation: Array) -> Array:
        """Forces (F, 6) of links at rest: what does not hang on velocities."""
        rest = np.zeros((self.links + 1, 3))
        return self.forces(time, q, rotation, rest, rest)

    def accelerated(self, f: Array, rotation: Array) -> Array:
        """M^(-1) f as accelerations (F, twist), without the gyroscopic torque: what impulses do."""
        rest = np.zeros((self.links + 1, 3))
        return self.freely(f, rotation, rest)[:, self.poses.columns]

    def kicks(self, constraints: Constraints) -> Array:
        """M^(-1) J^T (F * twist, A): what a unit of impulse of each active row does to the twists."""
        S = mul(constraints.U * constraints.s, constraints.Vt)
        scaled = S.reshape(-1, self.links, self.poses.twist)
        scaled[:, :, : self.poses.linear] *= self._root_mass[:, None]
        if self.poses.twist == 3:
            scaled[:, :, 2:] *= self._root_inertia
        else:
            own = scaled[:, :, 3:] * self._root_inertia
            scaled[:, :, 3:] = np.einsum("fij,afj->afi", constraints.rotation[:-1], own)
        return scaled.reshape(len(scaled), -1).T

    def free_flight(self, q: Array, v: Array, rotation: Array, h: float) -> tuple[Array, Array]:
        """Poses and twists after h without forces: straight on, turning freely."""
        if self.poses.twist == 3:
            return q + h * v, v
        own = np.einsum("fij,fi->fj", rotation[:-1], v[:, 3:])
        turned, own = turned_freely(q[:, 3:], own, self.inertia, self.inverse_inertia, h)
        q1, v1 = np.empty_like(q), np.empty_like(v)
        q1[:, :3], q1[:, 3:] = q[:, :3] + h * v[:, :3], turned
        v1[:, :3], v1[:, 3:] = v[:, :3], rotated(turned, own)
        return q1, v1

    def scales(self, time: float, y: Array, active: Flags) -> Array:
        """Of each number of the state: below them errors count absolutely."""
        _, v = self.split(y)
        a, constraints, _ = self.accelerations(time, y, active)
        free = self._free(time, y, constraints)[0][:, self.poses.columns]  # the scale of what joints hold still
        linear, fastest = self.poses.linear, max(greatest(self, a), 0.01 * greatest(self, free))
        speed = max(greatest(self, v), float(np.sqrt(fastest * self.size))) or 1.0
        pose, twist = np.ones((self.links, self.poses.pose)), np.ones((self.links, self.poses.twist))
        pose[:, :linear] *= self.size
        twist[:, :linear] *= speed
        twist[:, linear:] *= speed / self.size
        return np.concatenate([pose.ravel(), twist.ravel()])

    # --- joints --------------------------------------------------------------------------------------

    def constraints_at(self, q: Array, active: Flags, time: float = 0.0, most: int | None = None) -> Constraints:
        """The active rows at poses q, factored; time s, for drives.

        `most`: how many count as independent, if not all: as many as did at closed poses nearby. Where joints are open
        by an error of integration, rows that repeat others (Bricard's linkage) do so no more.
        """
        position, rotation = self.poses.placed(q)
        placed = self.rows.evaluate(position, rotation, time)
        J = self.rows.jacobian(placed)
        drift = self.rows.drift(placed, position) if self.rows.rolling or self.rows.by_time else None
        none = np.zeros((0, 0))
        return self.factor(Constraints(placed, J, rotation, drift, active, none, np.zeros(0), none), active, most)

    def factor(self, constraints: Constraints, active: Flags, most: int | None = None) -> Constraints:
        """Other rows at the same poses, factored."""
        S = self.scaled(constraints.jacobian, constraints.rotation, active)
        if not len(S):
            none = np.zeros((0, 0))
            return replace(constraints, active=active, U=none, s=np.zeros(0), Vt=np.zeros((0, S.shape[1])))
        try:
            U, s, Vt = svd(S)
        except np.linalg.LinAlgError:
            raise JointError("the joints' rows are not finite: the mechanism has run away") from None
        rank = int(np.count_nonzero(s[:most] > RANK * s[0]))
        return replace(constraints, active=active, U=U[:, :rank], s=s[:rank], Vt=Vt[:rank])

    def scaled(self, J: Array, rotation: Array, active: Flags) -> Array:
        """S (A, F * twist)."""
        S = np.empty((self.links, self.rows.count, self.poses.twist))
        if self.poses.twist == 3:
            S[:, :, :2] = J[:-1, :, :2] * self._root_mass[:, None, None]
            S[:, :, 2:] = J[:-1, :, 5:] * self._root_inertia[:, None, :]
        else:
            S[:, :, :3] = J[:-1, :, :3] * self._root_mass[:, None, None]
            S[:, :, 3:] = (mul(J[:-1, :, 3:], rotation[:-1])) * self._root_inertia[:, None, :]
        return S[:, active].transpose(1, 0, 2).reshape(-1, self.links * self.poses.twist)

    def unscaled(self, z: Array, rotation: Array) -> Array:
        """M^(-1/2) z as twists (F, twist)."""
        z = z.reshape(self.links, -1)
        twist = np.empty_like(z)
        if self.poses.twist == 3:
            twist[:, :2], twist[:, 2:] = z[:, :2] * self._root_mass[:, None], z[:, 2:] * self._root_inertia
        else:
            twist[:, :3] = z[:, :3] * self._root_mass[:, None]
            twist[:, 3:] = np.einsum("fij,fj->fi", rotation[:-1], z[:, 3:] * self._root_inertia)
        return twist

    def rates(self, constraints: Constraints, v: Array) -> Array:
        """g' of all rows (N,)."""
        J = constraints.jacobian[:-1]
        if self.poses.twist == 3:
            J = J[:, :, [0, 1, 5]]
        g_rate: Array = np.einsum("fni,fi->n", J, v)
        return g_rate if constraints.drift is None else g_rate + constraints.drift

    def accelerations(
        self, time: float, y: Array, active: Flags, alpha: float = 0.0, most: int | None = None
    ) -> tuple[Array, Constraints, Array]:
        """Accelerations (F, twist), the factor, and z of its rows; alpha [1/s] > 0 adds Baumgarte's terms (1972)."""
        q, v = self.split(y)
        constraints = self.constraints_at(q, active, time, most)
        free, gamma = self._free(time, y, constraints)
        if alpha:
            gamma += 2.0 * alpha * self.rates(constraints, v) + squared(alpha) * constraints.placed.gap
        z = constraints.least(-gamma[active])
        total = z
        if self.rows.sticking.any() and len(rubs := sliding(self, constraints, v, gamma)):
            z, total = with_friction(constraints, rubs, z)
        return free[:, self.poses.columns] + self.unscaled(total, constraints.rotation), constraints, z

    def free_rates(self, time: float, y: Array, constraints: Constraints) -> Array:
        """g'' of all rows (N,) if no joint acted."""
        return self._free(time, y, constraints)[1]

    def _free(self, time: float, y: Array, constraints: Constraints) -> tuple[Array, Array]:
        """Accelerations (F, 6) and g'' (N,) without joints."""
        q, v = self.split(y)
        velocity, spin = self.poses.moving(v)
        R = constraints.rotation
        free = self.freely(self.forces(time, q, R, velocity, spin), R, spin)
        bias = self.rows.bias(constraints.placed, R, velocity, spin)
        return free, bias + np.einsum("fni,fi->n", constraints.jacobian[:-1], free)

    def moved_by(self, raw: Array, y: Array, active: Flags, time: float = 0.0) -> tuple[float, float]:
        """What a projection from `raw` to y closed [m], and by how much it changed the energy [J]."""
        gap = self.rows.evaluate(*self.poses.placed(self.split(raw)[0]), time).gap[active]
        return float(np.abs(gap).max(initial=0.0)), abs(self.energy(y) - self.energy(raw))

    def close(self, y: Array, active: Flags, time: float = 0.0, most: int | None = None) -> Array:
        """y with the active rows closed, position and rate: the least move that does it, by kinetic energy.

        time s, for drives; `most` as of `hold`.

        Raises JointError where it does not come to within round-off; SingularJointsError where no move would.
        """
        q, v = self.split(y)
        q, last = self.poses.tidy(q), np.inf
        constraints = self.constraints_at(q, active, time, most)
        aim = CLOSED * max(self.size, greatest(self, q))  # far off, poses are coarser
        for _ in range(ROUNDS):
            gap = constraints.placed.gap[active]
            worst = float(np.abs(gap).max(initial=0.0))
            if worst <= aim or (worst <= 100.0 * aim and worst > 0.25 * last):
                break
            last = worst
            q = self.poses.moved(q, self.unscaled(constraints.least(-gap), constraints.rotation))
            constraints = self.constraints_at(q, active, time, most)
        else:
            k = int(self.rows.joint[active][np.argmax(np.abs(gap))])
            if float(np.abs(gap - mul(constraints.U, mul(constraints.U.T, gap))).max()) > 0.5 * worst:
                raise SingularJointsError(time=time, joint=k, gap=worst)
            raise JointError(f"joints[{k}] cannot be closed: its gap stays at {worst:.3e} m")
        v = v + self.unscaled(constraints.least(-self.rates(constraints, v)[active]), constraints.rotation)
        return np.concatenate([q.ravel(), v.ravel()])

    def check_start(self, bilateral: Flags) -> None:
        """Raises MechanismError where a joint is open at the start, or its rate is not 0."""
        q, v = self.split(self.start)
        constraints = self.constraints_at(q, bilateral)
        speed = float(np.abs(v[:, : self.poses.twist // 2]).max(initial=0.0))
        speed = max(speed, self.size * float(np.abs(v).max(initial=0.0)))
        rate = np.abs(self.rates(constraints, v))
        for k in range(self.rows.count):
            joint, gap = int(self.rows.joint[k]), float(constraints.placed.gap[k])
            if (abs(gap) if bilateral[k] else -gap) > OPEN * self.size:
                raise MechanismError(
                    f"joints[{joint}]: open by {gap:.3e} m at the start; close it to {OPEN:g} of the size"
                )
            if bilateral[k] and rate[k] > OPEN * speed:
                raise MechanismError(
                    f"joints[{joint}]: opens with {rate[k]:.3e} m/s at the start; give twists that fit"
                )


def greatest(system: System, of: Array) -> float:
    """Of twists (F, twist) [m/s] or poses [m]; spins and angles by the system's size."""
    linear = system.poses.linear
    return max(float(np.abs(of[:, :linear]).max()), system.size * float(np.abs(of[:, linear:]).max()))


def spring_points(ends: tuple[int, int, Array, Array], position: Array, rotation: Array) -> tuple[Array, Array, Array]:
    """From the first point to the second, and the arms of both. [m]"""
    a, b, on_a, on_b = ends
    arm_a, arm_b = mul(rotation[a], on_a), mul(rotation[b], on_b)
    return position[b] + arm_b - position[a] - arm_a, arm_a, arm_b
