"""Contact forces and impulses as an exact engine reports them, against the motion, the shapes and the laws of contact.

Between two samples, h apart, forces are integrated by the trapezoid rule. It is off by no more than half of what they
change by, times h, while they rise or fall; at an extreme by h^3 f''/12, where f'' is about (a/L + (v/L)^2) f of bodies
of size L that move at v and accelerate at a, of which three times as much is allowed; f is at least what the momentum
says, and a that of the lightest body, which may be a strut that turns under all others. The arm of a force, too,
changes at the speed of the body, and so may turn its torque round: that is h^3 f v / I / 12 of an angle. What slips or
meets for a moment between two samples is not seen at all: `UNSEEN`. Where a slip ends or begins between them forces may
have grown without limit up to that time, as where a wedge locks: there they are not compared. `SHARE` is that of
`exact`, of the size of what is compared.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from reference_engine.array_types import Array, Flags, Indices
from scenarios.scene import colliding_pairs
from validation.records.trajectory import Contacts, Impacts, PlanarTrajectory
from validation.tools.fuzzing.independent import gaps, shapes
from validation.tools.fuzzing.independent.exact import SHARE, Broken, Cluster, clusters, is_driven
from validation.tools.fuzzing.independent.motion import Motion, Z, in_space

UNSEEN = 0.01  # of the contact forces
FADING = 1e-4  # s of all weights and the largest force: impulses that stop the shortest bounces are not reported
STILL = 1e-9  # m/s, times 1 + the largest speed: a thousand times the planar engine's own round-off of a rate
MOST_TURN = 2.0  # rad between two samples: beyond, the shortest way may be another
CLOSED = 1e-8  # m, times 1 + the extent of the scene: a gap of what is in contact
SLIDES = 1e-5  # m/s, times 1 + the largest speed: a slip that is one
NO_FORCE = 1e-10  # m/s^2, of the heaviest body: ten times the acceleration that is none to the planar engine
CLOSING_TURN = 1e-11  # m, times 1 + the extent of the scene, by the size of a body: what closing gaps turns it by
MET = 1e-11  # m, times 1 + the extent of the scene: by no more do what meets overlap; a normal is off by its root
AT_ONCE = 4.0  # times its way in a step: a spring so short may turn by anything in it
ROUND, CORNERED = ("disc", "sphere", "ellipsoid"), ("polygon", "box", "convex-mesh")
ALIKE = 1e-6  # m, times the sizes: two directions along which bodies are as far apart are both normals


class Load(NamedTuple):
    """What contacts do to a cluster, K rows; torques about the origin."""

    force: Array  # (K, 3) N, or N s
    torque: Array  # (K, 3) N m, or N m s
    size: Array  # (K,) N, or N s: of all that acts


def _loads(motion: Motion, cluster: Cluster, rows: int, at: Indices, found: Contacts | Impacts, scale: float) -> Load:
    """Sums over the contacts of each row `at`, their impulses times `scale`."""
    force, torque, size = np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros(rows)
    inside = np.append(cluster.which, np.zeros(len(motion.scene.boundaries), bool))
    point, impulse = in_space(found.point), scale * in_space(found.impulse)
    for side, sign in ((found.a, -1.0), (found.b, 1.0)):
        own = inside[side]
        np.add.at(force, at[own], sign * impulse[own])
        np.add.at(torque, at[own], sign * np.cross(point[own], impulse[own]))
        np.add.at(size, at[own], np.linalg.norm(impulse[own], axis=1))
    return Load(force, torque, size)


class _Momenta(NamedTuple):
    """Of a cluster, at each sample."""

    linear: Array  # (S, 3)
    angular: Array  # (S, 3), about the origin
    size: Array  # (S,) kg m/s
    span: float  # m: arms about the origin


def _momenta(motion: Motion, cluster: Cluster) -> _Momenta:
    m = motion.mass * cluster.which
    orbital = np.einsum("b,sbi->si", m, np.cross(motion.x, motion.v))
    spins = (motion.spin_momentum * cluster.which[:, None]).sum(axis=1)
    size = (np.linalg.norm(motion.v, axis=2) + motion.radius * np.linalg.norm(motion.w, axis=2)) @ m
    return _Momenta(
        motion.momentum(cluster.which), orbital + spins, size, float(np.abs(motion.x).max() + motion.radius.max())
    )


def forces_balance(motion: Motion) -> Iterator[Broken]:
    """Between two samples momenta change as gravity and the contact forces say, and bodies get as far as the mean of
    their velocities says; where no force is reported, none acts."""
    contacts, S = motion.contacts, len(motion.time)
    never_meet = not any(True for _ in colliding_pairs(motion.scene))
    if is_driven(motion.scene) or (contacts is None and not never_meet and motion.trajectory.impacts is None):
        return
    every, (applied, _) = clusters(motion), motion.applied
    if contacts is None:
        loads = [Load(np.zeros((S, 3)), np.zeros((S, 3)), np.zeros(S)) for _ in every]
    else:
        scale = 1.0 / motion.trajectory.dt
        loads = [_loads(motion, cluster, S, contacts.sample, contacts, scale) for cluster in every]
    changed = sum((np.linalg.norm(np.diff(acts.force, axis=0), axis=1) for acts in loads), np.zeros(S - 1))
    if any(spring.tension_only for spring in motion.scene.springs):  # it goes slack between two samples
        changed = changed + np.linalg.norm(np.diff(applied, axis=0), axis=2).sum(axis=1)
    changed = changed + _turned_over(motion)
    changed[_slip_turns(motion) | _passes_on(motion)] = np.inf
    for cluster, acts in zip(every, loads):
        yield from _of_cluster(motion, cluster, acts, changed)


def _slip_turns(motion: Motion) -> Flags:
    """(S - 1,) whether between two samples, not those of an impact, a contact that slides sticks, parts, or the
    reverse, or the velocity of its slip changes by a quarter or more: what slips so may meanwhile all but jam."""
    found, S = motion.contacts, len(motion.time)
    changes = np.zeros(S - 1, bool)
    if found is None or not len(found.sample):
        return changes
    slip = _relative_velocity(motion, found)[1]
    slides = np.linalg.norm(slip, axis=1) > SLIDES * motion.fastest
    for _, _, rows in _of_pairs(motion, found):
        sliding = np.bincount(found.sample[rows & slides], minlength=S)
        way = np.stack([np.bincount(found.sample[rows], slip[rows, i], minlength=S) for i in range(3)], axis=1)
        fastest = np.linalg.norm(way, axis=1)
        turns = np.linalg.norm(np.diff(way, axis=0), axis=1) > 0.25 * np.maximum(fastest[1:], fastest[:-1])
        turns &= (sliding[1:] > 0) & (sliding[:-1] > 0)
        changes |= (np.diff(sliding) != 0) | turns
    return changes & (np.diff(motion.time) > 0.0)


def _passes_on(motion: Motion) -> Flags:
    """(S - 1,) whether a contact goes from an arc to the next between two samples, or off it: forces jump there. Or it
    goes round a body by a radian: the force on a disc that turns over from one side of its rim to the other, all but
    flat, is an impact to all who see it at the samples.

    Where one body is round and one has corners, or one has several arcs. It is seen by the pace of the contact along
    either body, which jumps too: it is half, or twice, what it is before or after.
    """
    found, S = motion.contacts, len(motion.time)
    passes = np.zeros(S - 1, bool)
    if found is None:
        return passes
    h, least = np.maximum(np.diff(motion.time), motion.trajectory.dt), SLIDES * motion.fastest
    kinds, point = [body.shape.kind for body in motion.scene.bodies], in_space(found.point)
    low, high = np.minimum(found.a, found.b), np.maximum(found.a, found.b)
    for a, b in sorted({*zip(low.tolist(), high.tolist())}):
        meet = [i for i in (a, b) if i < len(kinds)]
        if any(all(kinds[i] in alike for i in meet) for alike in (ROUND, CORNERED)):
            continue
        rows = np.flatnonzero((low == a) & (high == b))
        for i in meet:
            at, k = np.full((S, 3), np.nan), found.sample[rows]
            at[k] = np.einsum("kji,kj->ki", motion.R[k, i], point[rows] - motion.x[k, i])
            pace = np.linalg.norm(np.diff(at, axis=0), axis=1) / h
            arm = np.linalg.norm(at, axis=1)
            passes |= pace * h > np.minimum(arm[1:], arm[:-1])
            pace[np.diff(motion.time) == 0.0] = np.nan
            slower, faster = np.fmin(pace[1:], pace[:-1]), np.fmax(pace[1:], pace[:-1])
            jumps = (slower < 0.5 * faster) & (faster > least)
            passes[1:] |= jumps
            passes[:-1] |= jumps
    return passes


def _turned_over(motion: Motion) -> Array:
    """(S - 1,) N: what the forces of springs may change by whose ends pass one another, or begin together; of the
    others what their turning bends the force by: F (w h)^2 / 4, w h = way / length."""
    h = np.diff(motion.time)
    found = np.zeros(len(h))
    for spring in motion.scene.springs:
        apart = motion.point(spring.b, spring.anchor_b) - motion.point(spring.a, spring.anchor_a)
        length, way = np.linalg.norm(apart, axis=1), np.linalg.norm(np.diff(apart, axis=0), axis=1)
        least, most = np.minimum(length[1:], length[:-1]), np.maximum(length[1:], length[:-1])
        short = least <= AT_ONCE * way
        damping = spring.damping * way / np.where(h > 0.0, h, np.inf)
        force = spring.stiffness * np.maximum(most, spring.rest_length) + damping
        turned = 0.25 * (way / np.where(short, np.inf, least)) ** 2
        found += np.where(short, 2.0 * (spring.stiffness * (spring.rest_length + way) + damping), turned * force)
    return found


def _of_cluster(motion: Motion, cluster: Cluster, acts: Load, changed: Array) -> Iterator[Broken]:
    """changed: (S - 1,) N, by how much contact forces of the scene change between two samples."""
    h, m, own = np.diff(motion.time), motion.mass * cluster.which, _momenta(motion, cluster)
    weight, load = m.sum() * motion.gravity, np.maximum(acts.size[1:], acts.size[:-1])
    needed = np.diff(own.linear, axis=0) / np.maximum(h, motion.trajectory.dt)[:, None] - weight
    load = np.where(load > 0.0, np.maximum(load, np.linalg.norm(needed, axis=1)), 0.0)
    size, speed, light = _least_size(motion), own.size / m.sum(), float(motion.mass[motion.free].min())
    fastest = (np.linalg.norm(motion.v, axis=2) + motion.radius * np.linalg.norm(motion.w, axis=2)).max(axis=1)
    bends = 0.25 * h**2 * (load / (light * size) + np.maximum(fastest[1:], fastest[:-1]) ** 2 / size**2)
    settled = np.where(_after_impact(motion, cluster), float(np.linalg.norm(m.sum() * motion.gravity)), 0.0)
    doubt = np.where(load > 0.0, changed + (UNSEEN + bends) * load + h**2 * m.sum() * _planned(motion), settled)  # N
    applied, torques = (part * cluster.which[:, None] for part in motion.applied)
    pulled = np.linalg.norm(applied, axis=2).sum(axis=1) + np.linalg.norm(torques, axis=2).sum(axis=1) / size
    if pulled.any():
        pulled = pulled + m.sum() * float(np.linalg.norm(motion.gravity))  # what they come to carry
        doubt = doubt + changed + (bends + h**2 * _stiff(motion)) * np.maximum(pulled[1:], pulled[:-1])
    slope = changed + np.linalg.norm(np.diff(applied, axis=0), axis=2).sum(axis=1)
    outer = applied.sum(axis=1)
    turning = torques.sum(axis=1) + np.cross(motion.x, applied).sum(axis=1)
    rounding = SHARE * (np.maximum(own.size[1:], own.size[:-1]) + h * float(np.linalg.norm(m.sum() * motion.gravity)))
    rounding += STILL * m.sum() * (1.0 + float(speed.max()))
    if any(member.restitution for member in (*motion.scene.bodies, *motion.scene.boundaries)):
        rounding += FADING * (float(np.linalg.norm(m.sum() * motion.gravity)) + load)
    leaning = np.cross(np.einsum("b,sbi->si", m, motion.x), motion.gravity)
    centre = np.einsum("b,sbi->si", m, motion.x)
    for what, arm, value, acting, allowed in (
        ("momentum", 1.0, own.linear, acts.force + weight + outer, doubt * h + rounding),
        ("angular momentum", own.span, own.angular, acts.torque + leaning + turning, doubt * h + rounding),
        (
            "place",
            1.0,
            centre,
            own.linear,
            0.5 * h * (doubt * h + rounding) + SHARE * h * rounding + 1e-12 * own.span * m.sum(),
        ),
    ):
        off = np.linalg.norm(np.diff(value, axis=0) - 0.5 * (acting[1:] + acting[:-1]) * h[:, None], axis=1)
        if what == "place":
            off = np.maximum(0.0, off - h**2 * slope / 4.0)
        excess = np.where(h > 0.0, off - arm * allowed, -np.inf)
        k = int(np.argmax(excess))
        if excess[k] > 0.0:
            when = f"between {motion.time[k]:.6g} and {motion.time[k + 1]:.6g} s"
            cause = "their velocities" if what == "place" else "weight and reported contact forces"
            yield "forces off balance", _unexplained(cluster, what, off[k], when, cause), cluster.names
    if cluster.which.sum() == 1:
        i = int(np.flatnonzero(cluster.which)[0])
        slender = motion.inertia[i][motion.inertia[i] > 0.0].min()
        swept = 0.25 * h * load * np.maximum(fastest[1:], fastest[:-1]) / slender
        yield from _turning(motion, i, doubt / m.sum() / size + swept)


def _planned(motion: Motion) -> float:
    """m/s^4: a quarter of how the accelerations of bodies of given motion bend, by swings and turns."""
    total, g = 0.0, float(np.linalg.norm(motion.gravity))
    for body in motion.scene.bodies:
        given = body.motion
        if given is not None:
            swing, turns = (
                given.frequency**2 * float(np.linalg.norm(given.amplitude)),
                float(np.linalg.norm(given.spin)),
            )
            most = g + swing + float(np.linalg.norm(given.acceleration_at(motion.time), axis=-1).max())
            total += 0.25 * (given.frequency**2 * swing + turns**2 * most)
    return total


def _after_impact(motion: Motion, cluster: Cluster) -> Flags:
    """(S - 1,) whether a reported impact ends at the first of two samples: its bounces may end, and the contact carry
    and part again, before the next."""
    impacts = motion.trajectory.impacts
    if impacts is None or not len(impacts.time):
        return np.zeros(len(motion.time) - 1, bool)
    inside = np.append(cluster.which, np.zeros(len(motion.scene.boundaries), bool))
    return np.isin(motion.time[:-1], impacts.time[inside[impacts.a] | inside[impacts.b]])


def _stiff(motion: Motion) -> float:
    """1/s^2: squares of the frequencies of springs, thrusters and damping on the lightest body."""
    scene, free = motion.scene, motion.free
    light, slender = motion.mass[free].min(), motion.inertia[free].max(axis=1).min()
    inertia = motion.inertia[free]
    slender = min(slender, float(inertia[inertia > 0.0].min()))
    total = float(np.abs(motion.w).max()) ** 2
    for spring in scene.springs:
        arm = float(np.abs((*spring.anchor_a, *spring.anchor_b)).max())
        compliance = 1.0 / light + 3.0 * arm**2 / slender
        total += spring.stiffness * compliance + (spring.damping * compliance) ** 2
    fastest = float(np.abs(motion.v).max())
    drag = (scene.damping.linear + scene.damping.quadratic * fastest) / light + scene.damping.angular / slender
    return float(total + drag**2)


def _least_size(motion: Motion) -> float:
    """m: of a body, or of the way that one has round a container."""
    clear = [
        abs(boundary.radius - radius)
        for boundary in motion.scene.boundaries
        if hasattr(boundary, "radius")
        for radius in motion.radius.tolist()
    ]
    return max(1e-6, min([float(motion.radius.min()), *clear]))


def _turning(motion: Motion, i: int, doubt: Array) -> Iterator[Broken]:
    """Of a single body: by how much it turns between two samples. doubt: (S - 1,) rad/s^2.

    In space the order of small turns matters, too: to second order.
    """
    h, w = np.diff(motion.time), motion.w[:, i]
    change, fastest = np.linalg.norm(np.diff(w, axis=0), axis=1), np.linalg.norm(w, axis=1)
    fastest = np.maximum(fastest[1:], fastest[:-1])
    trajectory = motion.trajectory
    if isinstance(trajectory, PlanarTrajectory):
        gone, order = np.diff(trajectory.angle[:, i])[:, None] * Z, 0.0
    else:
        relative = motion.R[1:, i] @ np.swapaxes(motion.R[:-1, i], -1, -2)
        gone, order = Rotation.from_matrix(relative).as_rotvec(), 1.0
    off = np.linalg.norm(gone - 0.5 * h[:, None] * (w[1:] + w[:-1]), axis=1)
    allowed = 0.5 * h * change + order * h**2 * fastest * change + h**2 * doubt
    allowed += SHARE * h * (1.0 + fastest) + 1e-12 * (1.0 + np.abs(gone).max(initial=0.0))
    allowed += CLOSING_TURN * (1.0 + float(np.abs(motion.x).max())) / motion.radius[i]
    excess = np.where((h > 0.0) & (h * fastest < MOST_TURN), off - allowed, -np.inf)
    k = int(np.argmax(excess))
    if excess[k] > 0.0:
        name, times = motion.scene.bodies[i].name, f"{motion.time[k]:.6g} and {motion.time[k + 1]:.6g} s"
        message = f"{name!r} turns by {off[k]:.3g} rad other than its spin says between {times}"
        yield "motion off its velocity", message, (name,)


def jumps(motion: Motion) -> Indices:
    """(J,) samples before an impact, the next one being behind it; not a sample that was asked for at its time."""
    pairs = np.flatnonzero(np.diff(motion.time) == 0.0)
    change = (np.abs(np.diff(motion.v, axis=0)) + np.abs(np.diff(motion.w, axis=0))).sum(axis=(1, 2))[pairs]
    _, of_time, count = np.unique(motion.time[pairs], return_inverse=True, return_counts=True)
    return pairs[(change > 0.0) | (count[of_time] == 1)]


def impulses_balance(motion: Motion, impacts: Impacts) -> Iterator[Broken]:
    """Between two samples of one time momenta change as the reported impulses say."""
    pairs = jumps(motion)
    times = motion.time[pairs]
    if not len(pairs) or not np.isfinite(impacts.impulse).all() or (np.diff(times) == 0.0).any():
        return
    row = np.minimum(np.searchsorted(times, impacts.time), len(pairs) - 1)
    if (times[row] != impacts.time).any():
        return  # an engine that does not sample before and after each
    fastest = motion.fastest
    unseen = motion.mass.sum() * (FADING * float(np.linalg.norm(motion.gravity)) + STILL * fastest)
    if motion.contacts is not None and len(motion.contacts.impulse):
        heaviest = np.linalg.norm(motion.contacts.impulse, axis=1).max() / motion.trajectory.dt
        unseen += FADING * float(heaviest)
    for cluster in clusters(motion):
        acts, own = _loads(motion, cluster, len(pairs), row, impacts, 1.0), _momenta(motion, cluster)
        rounding = SHARE * (acts.size + own.size[pairs] + own.size[pairs + 1]) + unseen
        for what, arm, value, acting in (
            ("momentum", 1.0, own.linear, acts.force),
            ("angular momentum", own.span, own.angular, acts.torque),
        ):
            off = np.linalg.norm(value[pairs + 1] - value[pairs] - acting, axis=1)
            excess = off - arm * rounding
            k = int(np.argmax(excess))
            if excess[k] > 0.0:
                when = f"at {times[k]:.6g} s"
                yield (
                    "impulses off balance",
                    _unexplained(cluster, what, off[k], when, "reported impulses"),
                    cluster.names,
                )


def _unexplained(cluster: Cluster, what: str, off: float, when: str, cause: str) -> str:
    names = " and ".join(map(repr, cluster.names))
    return f"the {what} of {names} changes by {off:.3g} {when} beside what {cause} explain"


# --- contacts that hold ---------------------------------------------------------------------------------------------


def contacts_obey(motion: Motion) -> Iterator[Broken]:
    """A reported contact is at gap 0 with the normal that its shapes have, presses, and has Coulomb's friction."""
    found = motion.contacts
    if found is None or not len(found.sample):
        return
    n, j, p = in_space(found.normal), in_space(found.impulse), in_space(found.point)
    members = (*motion.scene.bodies, *motion.scene.boundaries)
    laws = {
        (a, b): motion.scene.pair_law(members[a], members[b])[0]
        for a, b in set(zip(found.a.tolist(), found.b.tolist()))
    }
    mu = np.array([laws[pair] for pair in zip(found.a.tolist(), found.b.tolist())])
    extent = 1.0 + float(np.abs(motion.x).max())
    fastest = motion.fastest
    u_n, slip = _relative_velocity(motion, found)
    j_n = np.einsum("ki,ki->k", j, n)
    friction = j - j_n[:, None] * n
    size, speed = np.linalg.norm(j, axis=1), np.linalg.norm(slip, axis=1)
    least = SHARE * float(np.linalg.norm(motion.gravity)) + NO_FORCE  # m/s^2
    weight = motion.trajectory.dt * least * motion.mass.max() + 1e3 * SHARE * size
    slides = (speed > SLIDES * fastest) & (mu > 0.0)
    wanted = np.where(slides[:, None], -(mu * j_n)[:, None] * slip / np.where(slides, speed, 1.0)[:, None], friction)
    for words, excess in (
        ("is at a gap of {:.3g} m", np.abs(found.gap) - CLOSED * extent),
        ("has a normal by which the bodies are {:.3g} m apart", _off_normal(motion, found, n) - CLOSED * extent),
        ("has a point {:.3g} m off the bodies", _off_point(motion, found, p) - CLOSED * extent),
        ("parts or closes at {:.3g} m/s", np.abs(u_n) - SLIDES * fastest),
        ("pulls by {:.3g} N s in a step", -j_n - weight),
        (
            "has a friction outside of its cone by {:.3g} N s in a step",
            np.linalg.norm(friction, axis=1) - mu * j_n - weight,
        ),
        ("has a friction that is {:.3g} N s off in a step", np.linalg.norm(friction - wanted, axis=1) - weight),
    ):
        k = int(np.argmax(excess))
        if excess[k] > 0.0:
            names = members[found.a[k]].name, members[found.b[k]].name
            time = motion.time[found.sample[k]]
            message = f"the contact of {names[0]!r} and {names[1]!r} {words.format(excess[k])} at {time:.6g} s"
            yield "against the contact law", message, names


def _relative_velocity(motion: Motion, found: Contacts) -> tuple[Array, Array]:
    """(C,) along the normal and (C, 3) across it, of b against a [m/s]."""
    n, p = in_space(found.normal), in_space(found.point)
    u = velocity_at(motion, found.sample, found.b, p) - velocity_at(motion, found.sample, found.a, p)
    u_n = np.einsum("ki,ki->k", u, n)
    return u_n, u - u_n[:, None] * n


def velocity_at(motion: Motion, sample: Indices, body: Indices, point: Array) -> Array:
    """(K, 3) m/s, of the material points there; 0 of boundaries."""
    moves = body < len(motion.scene.bodies)
    i = np.where(moves, body, 0)
    found = motion.v[sample, i] + np.cross(motion.w[sample, i], point - motion.x[sample, i])
    return np.asarray(np.where(moves[:, None], found, 0.0))


def _of_pairs(motion: Motion, found: Contacts) -> Iterator[tuple[int, int, Flags]]:
    code = found.a * 10**6 + found.b
    for pair in np.unique(code).tolist():
        yield *divmod(pair, 10**6), code == pair


def _off_normal(motion: Motion, found: Contacts, n: Array) -> Array:
    """(C,) m: by how much the shapes overlap along the reported normal, which at a contact they do not."""
    off = np.zeros(len(n))
    for a, b, rows in _of_pairs(motion, found):
        if a < b < len(motion.scene.bodies):
            if all(shapes.is_convex(motion.scene.bodies[i].shape) for i in (a, b)):
                off[rows] = np.abs(gaps.separation(motion, a, b, found.sample[rows], n[rows][:, None])[:, 0])
                for row in np.flatnonzero(rows)[off[rows] > CLOSED * (1.0 + float(np.abs(motion.x).max()))].tolist():
                    if _nearly_normal(motion, a, b, int(found.sample[row]), n[row]):
                        off[row] = 0.0
        elif a < len(motion.scene.bodies) <= b:
            boundary: Any = motion.scene.boundaries[b - len(motion.scene.bodies)]
            if boundary.kind in gaps.PLANES:
                off[rows] = np.linalg.norm(n[rows] + in_space(np.array(boundary.normal)), axis=1) * motion.radius[a]
    return off


def _nearly_normal(motion: Motion, a: int, b: int, k: int, n: Array) -> bool:
    """Whether a normal of the shapes is so near that both tell of gaps within round-off of one another: of faces that
    are parallel but for 1e-7 rad and meet at their ends, either has the corner of the other on it."""
    sample = np.array([k])
    every = gaps.directions(motion, a, b, sample)
    apart, most = gaps.separation(motion, a, b, sample, every)[0], MET * (1.0 + float(np.abs(motion.x[k]).max()))
    angle = np.linalg.norm(every[0] - n, axis=1)
    size = float(motion.radius[a] + motion.radius[b])
    return bool(((apart > -most) & (size * angle**2 < most)).any())


def _off_point(motion: Motion, found: Contacts, p: Array) -> Array:
    off = np.zeros(len(p))
    for a, b, rows in _of_pairs(motion, found):
        for i in (a, b):
            if i < len(motion.scene.bodies) and shapes.is_convex(motion.scene.bodies[i].shape):
                local = np.einsum(
                    "kji,kj->ki", motion.R[found.sample[rows], i], p[rows] - motion.x[found.sample[rows], i]
                )
                off[rows] = np.maximum(off[rows], shapes.outside(motion.scene.bodies[i].shape, local))
    return off


def normal_of(motion: Motion, a: int, b: int, k: int) -> Array | None:
    """(3,) from a to b, a < b, of two that are in contact at sample k; None where the shapes leave it open, or
    it is not found."""
    bodies = motion.scene.bodies
    if b >= len(bodies):
        boundary: Any = motion.scene.boundaries[b - len(bodies)]
        if boundary.kind in gaps.PLANES:
            return -in_space(np.array(boundary.normal))
        if bodies[a].shape.kind in ("disc", "sphere"):
            d = motion.x[k, a] - in_space(np.array(boundary.center))
            return np.asarray(d / np.linalg.norm(d)) if np.linalg.norm(d) > 0.0 else None
        return None
    if not all(shapes.is_convex(bodies[i].shape) for i in (a, b)):
        return None
    sample = np.array([k])
    n = gaps.directions(motion, a, b, sample)
    f = gaps.separation(motion, a, b, sample, n)[0]
    best = int(np.argmax(f))
    size = motion.radius[a] + motion.radius[b]
    if f[best] < -MET * (1.0 + float(np.abs(motion.x[k]).max())):  # none is the normal, as of capsules in space
        return None
    others = n[0][f > f[best] - ALIKE * size]
    if (np.linalg.norm(others - n[0, best], axis=1) > 1e-3).any():
        return None
    return np.asarray(n[0, best])


def is_central(motion: Motion, a: int, b: int, k: int, p: Array, n: Array) -> bool:
    for i in (a, b):
        if i < len(motion.scene.bodies) and motion.free[i]:
            arm = p - motion.x[k, i]
            if np.linalg.norm(np.cross(arm, n)) > SHARE * motion.radius[i]:
                return False
    return True
