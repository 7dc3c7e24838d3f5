"""What happened: whether bodies went through one another, came apart, hang, moved, fell over, came to rest.

From the motion and the scene alone, by our own geometry, for any scene. The limits are those of a person who looks:

- went through: an overlap of half the width of the thinner of the two, or the centre of mass crosses the other between
  two samples (a fast body is in a thin one at no sample).
- came apart: a joint gapes by half the diameter of the smaller of the two that it joins.
- blew up: more energy comes from nowhere than the scene has (`energy_scale`).
- hangs: a body that touches nothing misses its free fall by half of it; or all bodies are at rest and no contact and
  joint forces balance the weights (statics), by a tenth of a weight at least.
- moved, never moved: some point gets further than a twentieth of the body's diameter, no point a hundredth.
- fell over, stood: at the end turned from upright by more than 45 degrees, by less than 15; of bodies that are not
  round and hang on no joint.
- came to rest, never rested: `rest_time`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.dense import norm
from reference_engine.elementary import squared
from scenarios import mass
from scenarios.catalogue.shared.laws import energy_scale
from scenarios.scene import Bowl, HollowSphere
from validation.metrics.axes import rotation_from, to_body_axes
from validation.metrics.energy import couples, energy, open_energy
from validation.metrics.flight import velocity_at_pose
from validation.metrics.joint_gap import gap_of
from validation.metrics.observation import Array, Flags, Observation, bounding_radius, free, length, shared
from validation.metrics.proximity import pairs, proximities
from validation.metrics.rest import can_rest, rest_start
from validation.metrics.statics import supporting, unbalanced, width
from validation.records.outcome import OPPOSITE, Fact, Outcome
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory

THROUGH = 0.5  # of the width of the thinner
APART = 0.5  # of the diameter of the smaller
MISSED = 0.5  # of the free fall
MOVED, STILL = 0.05, 0.01  # of the body's diameter
FALLEN, UPRIGHT = np.radians(45.0), np.radians(15.0)
ROUND = frozenset({"disc", "sphere"})
ALL = ""  # all of the scene, in place of a body
RATE = 48.0  # samples a second of an exact motion, as engines keep them
MOST_POINTS = 10_000  # on a way through a body
MOST_WAYS = 20_000  # of one body through another: in larger heaps nobody looks for a body between two samples


def outcomes_of(o: Observation) -> tuple[Outcome, ...]:
    """Faults first; then facts, each right or wrong as the scenario says."""
    expected: set[tuple[str, str]] = set(o.scenario.expected)
    expected |= {(fact.kind, name) for fact in exact_facts(o) for name in fact.bodies or (ALL,)}
    faults = (replace(fault, right=False) for fault in (*_through(o), *_apart(o), *_blown_up(o), *_hanging(o)))
    return (*faults, *(judged for fact in facts(o) for judged in _against(expected, fact)))


def _against(expected: set[tuple[str, str]], fact: Outcome) -> Iterator[Outcome]:
    """The fact, apart for the bodies of which it is right, wrong, and of which nothing is known."""
    verdicts: dict[bool | None, list[str]] = {}
    for name in fact.bodies or (ALL,):
        right = (fact.kind, name) in expected or None
        verdicts.setdefault(False if (OPPOSITE[fact.kind], name) in expected else right, []).append(name)
    for verdict, names in verdicts.items():
        yield replace(fact, right=verdict, bodies=() if names == [ALL] else tuple(names))


@shared
def exact_facts(o: Observation) -> tuple[Outcome, ...]:
    """What the scenario's exact motion does; () where it knows none to the end, or not all of its coordinates."""
    truth = o.truth
    if truth.pose is None or truth.span[0] > 0.0 or truth.span[1] < o.scene.duration * (1.0 - 1e-9):
        return ()
    time = np.linspace(0.0, o.scene.duration, 1 + int(RATE * o.scene.duration))
    pose = np.asarray(truth.pose(time), float)
    if pose.shape[:1] != time.shape or np.isnan(pose).any() or len(time) < 3:
        return ()
    D = len(o.gravity)
    rate = np.gradient(pose, time, axis=0)
    if D == 2:
        exact: Trajectory = PlanarTrajectory(time=time, dt=1.0 / RATE, velocity_lag=0.0, pose=pose, twist=rate)
    else:
        q, change = pose[..., 3:], rate[..., 3:]
        spin = 2.0 * rotation_from(q, change)[1]  # the vector of 2 q' q*
        exact = SpatialTrajectory(
            time=time, dt=1.0 / RATE, velocity_lag=0.0, position=pose[..., :3], orientation=q, velocity=rate[..., :3],
            spin=spin,
        )  # fmt: skip
    return tuple(facts(Observation(scenario=o.scenario, trajectory=exact)))


def facts(o: Observation) -> Iterator[Outcome]:
    """What is right or wrong only against what should happen."""
    names = [body.name for body in o.scene.bodies]
    far = displacement(o).max(axis=0) / (2.0 * bounding_radius(o))
    lean = tilt(o)
    found: list[tuple[Fact, Flags]] = [("moved", free(o) & (far > MOVED)), ("never moved", free(o) & (far < STILL))]
    if lean is not None:
        found += [("fell over", lean > FALLEN), ("stood", lean < UPRIGHT)]  # NaN is neither
    for kind, which in found:
        if which.any():
            yield Outcome(kind=kind, bodies=tuple(names[i] for i in np.flatnonzero(which)))
    if can_rest(o):
        since = rest_start(o)
        yield Outcome(kind="never rested") if np.isnan(since) else Outcome(kind="came to rest", time=since)


@shared
def displacement(o: Observation) -> Array:
    """(S, B) m: bound on how far any point of a body is from where it started."""
    moved = length(o.trajectory.position - o.trajectory.position[0])
    if isinstance(o.trajectory, PlanarTrajectory):
        turned = np.abs(o.trajectory.angle - o.trajectory.angle[0])
        return moved + bounding_radius(o) * np.minimum(2.0, turned)
    q = o.trajectory.orientation
    chord = np.minimum(length(q - q[0]), length(q + q[0]))  # 2 sin(turn / 4)
    return moved + bounding_radius(o) * np.minimum(2.0, 2.0 * chord)


@shared
def tilt(o: Observation) -> Array | None:
    """(B,) rad, at the end, of what pointed up at the start; NaN of what is round, fixed or jointed; None without
    gravity."""
    g = float(norm(o.gravity))
    if g == 0.0:
        return None
    jointed = {name for joint in o.scene.joints for name in (joint.a, joint.b)}
    asked = free(o) & [b.shape.kind not in ROUND and b.name not in jointed for b in o.scene.bodies]
    if isinstance(o.trajectory, PlanarTrajectory):
        turned = o.trajectory.angle[-1] - o.trajectory.angle[0]
        cosine = elementary.cos(turned)
    else:
        up = np.broadcast_to(-o.gravity / g, o.trajectory.position[:1].shape)
        first, last = (to_body_axes(o.trajectory.orientation[k : k + 1 or None][:1], up)[0] for k in (0, -1))
        cosine = (first * last).sum(axis=1)
    return np.where(asked, elementary.acos(np.clip(cosine, -1.0, 1.0)), np.nan)


# --- always wrong --------------------------------------------------------------------------------------------------


def _through(o: Observation) -> Iterator[Outcome]:
    near, members = proximities(o), [*o.scene.bodies, *o.scene.boundaries]
    deepest = o.scenario.laws.get("penetration_max", 0.0) if o.scene.contact.compliant else 0.0
    limit = np.maximum(THROUGH * np.minimum(width(o)[near.a], width(o)[near.b]), deepest)
    rows = np.flatnonzero(near.gap < -limit)
    first: dict[tuple[int, int], int] = {}
    for row in rows.tolist():
        first.setdefault((int(near.a[row]), int(near.b[row])), int(near.sample[row]))
    first |= {pair: sample for pair, sample in crossings(o).items() if sample < first.get(pair, len(o.time))}
    for (a, b), sample in sorted(first.items(), key=lambda one: one[1]):
        if sample == 0:
            continue  # the scene starts so
        body, other = (a, b) if free(o)[a] else (b, a)
        left = isinstance(members[other], (Bowl, HollowSphere))
        gone = float(length(o.trajectory.position[-1, body] - o.trajectory.position[sample, body]))
        yield Outcome(
            kind="left" if left else "went through",
            bodies=(members[body].name, members[other].name),
            time=float(o.time[sample]),
            value=gone,
            unit="m",
        )


def _apart(o: Observation) -> Iterator[Outcome]:
    across = {body.name: 2.0 * r for body, r in zip(o.scene.bodies, bounding_radius(o))}
    for joint in o.scene.joints:
        gap = gap_of(o, joint)
        limit = APART * min(across[name] for name in (joint.a, joint.b) if name is not None)
        if (gap > limit).any():
            ends = tuple(name for name in (joint.a, joint.b) if name is not None)
            time = float(o.time[int(np.argmax(gap > limit))])
            yield Outcome(kind="came apart", bodies=ends, time=time, value=float(gap[-1]), unit="m")


def _blown_up(o: Observation) -> Iterator[Outcome]:
    if "energy_gain" in o.scenario.meaningless or (o.scene.thrusters and couples(o) is None):
        return  # some laws of impact gain it; thrusters do
    E, doubt = energy(o), open_energy(o)
    gain = E - doubt - np.minimum.accumulate(E + doubt)
    beyond = gain > energy_scale(o.scene)
    if beyond.any():
        time = float(o.time[int(np.argmax(beyond))])
        yield Outcome(kind="blew up", time=time, value=float(gain.max()), unit="J")


def _hanging(o: Observation) -> Iterator[Outcome]:
    """The first time of each body: in a flight that is none, then at rest."""
    if not o.gravity.any():
        return
    names, found = [body.name for body in o.scene.bodies], set()
    for i in np.flatnonzero(in_contact_only(o)).tolist():
        for first, last in _runs(supported(o)[:, i] == 0):
            missed = missed_fall(o, i, first, last)
            if missed is not None and names[i] not in found:
                found.add(names[i])
                yield Outcome(kind="hangs", bodies=(names[i],), time=float(o.time[first]), value=missed, unit="m")
    if can_rest(o) and not np.isnan(rest_start(o)):
        for i in unbalanced(o):
            if names[i] not in found:
                yield Outcome(kind="hangs", bodies=(names[i],), time=rest_start(o))


def missed_fall(o: Observation, i: int, first: int, last: int) -> float | None:
    """m, by which body i misses its free fall between two samples; None where it falls as it should."""
    fallen = (o.time[first:last] - o.time[first])[:, None]
    flown = o.trajectory.position[first, i] + fallen * velocity_at_pose(o)[first, i]
    miss = length(o.trajectory.position[first:last, i] - flown - 0.5 * squared(fallen) * o.gravity)
    fall = 0.5 * float(norm(o.gravity)) * squared(fallen[:, 0])
    wrong = (miss > MISSED * fall) & (fall > MISSED * width(o)[i])
    return float(miss.max()) if wrong.any() else None


def in_contact_only(o: Observation) -> Flags:
    """(B,) free bodies on which nothing but gravity and contacts acts."""
    acted = {name for joint in o.scene.joints for name in (joint.a, joint.b)}
    acted |= {name for spring in o.scene.springs for name in (spring.a, spring.b)}
    acted |= {thruster.body for thruster in o.scene.thrusters}
    damped = o.scene.damping != type(o.scene.damping)()
    return free(o) & [body.name not in acted and not damped for body in o.scene.bodies]


@shared
def supported(o: Observation) -> Flags:
    """(S, B) whether something may hold the body."""
    near, near_enough = proximities(o), supporting(o)
    found = np.zeros(o.trajectory.velocity.shape[:2], bool)
    for side in (near.a, near.b):
        of_body = near_enough & (side < len(o.scene.bodies))
        found[near.sample[of_body], side[of_body]] = True
    return found


@shared
def crossings(o: Observation) -> dict[tuple[int, int], int]:
    """Pairs of bodies of which one centre of mass went through the other between two samples -> the sample after it.

    Asked of steps longer than half the width of what is crossed; shorter ones leave an overlap at some sample.
    """
    found: dict[tuple[int, int], int] = {}
    step = length(np.diff(o.trajectory.position, axis=0))  # (S - 1, B)
    longest = step.max(axis=0, initial=0.0)
    both = np.array(pairs(o), np.int64).reshape(-1, 2)
    both = both[both[:, 1] < len(longest)]  # whoever is behind a boundary stays in it
    ways = np.concatenate([both, both[:, ::-1]])
    ways = ways[longest[ways].sum(axis=1) > THROUGH * width(o)[ways[:, 1]]]
    for a, b in ways.tolist() if len(ways) <= MOST_WAYS else ():
        apart = length(o.trajectory.position[:, a] - o.trajectory.position[:, b])
        both_steps = step[:, a] + step[:, b]
        passed = np.minimum(apart[1:], apart[:-1]) < both_steps + bounding_radius(o)[b]
        for k in np.flatnonzero((both_steps > THROUGH * width(o)[b]) & passed).tolist():
            if went_into(o, a, b, k):
                pair = (min(a, b), max(a, b))
                found[pair] = min(found.get(pair, k + 1), k + 1)
                break
    return found


def went_into(o: Observation, a: int, b: int, k: int) -> bool:
    """Whether the straight way of a's centre from sample k to the next, seen from b, leads through b."""
    t = o.trajectory
    way = t.position[k : k + 2, a] - t.position[k : k + 2, b]
    if isinstance(t, PlanarTrajectory):
        c, s = elementary.cos(t.angle[k : k + 2, b]), elementary.sin(t.angle[k : k + 2, b])
        way = np.column_stack([c * way[:, 0] + s * way[:, 1], c * way[:, 1] - s * way[:, 0]])
    else:
        way = to_body_axes(t.orientation[k : k + 2, b], way)
    steps = int(min(MOST_POINTS, 1 + 4.0 * float(length(way[1] - way[0])) / width(o)[b]))
    points = way[0] + np.linspace(0.0, 1.0, steps + 1)[:, None] * (way[1] - way[0])
    return bool(inside(o.scene.bodies[b].shape, points).any())


def inside(shape: Any, points: Array) -> Flags:
    """(N,) of points (N, D) in the body's frame."""
    size = np.abs(points)
    match shape.kind:
        case "disc" | "sphere":
            return length(points) < shape.radius
        case "box":
            return np.asarray((size < 0.5 * np.array(shape.size)).all(axis=1))
        case "ellipsoid":
            return length(points / np.array(shape.semi_axes)) < 1.0
        case "cylinder":
            return (length(points[:, :2]) < shape.radius) & (size[:, 2] < 0.5 * shape.length)
        case "capsule":
            beyond = np.maximum(size[:, 2] - 0.5 * shape.length, 0.0)
            return elementary.hypot(length(points[:, :2]), beyond) < shape.radius
        case "convex-mesh":
            from scipy.spatial import ConvexHull  # takes long to import

            faces = ConvexHull(shape.points).equations
            return np.asarray((np.einsum("nd,fd->nf", points, faces[:, :3]) + faces[:, 3] < 0.0).all(axis=1))
    corners = (
        mass.arc_outline(shape.vertices, shape.bulges) if shape.kind == "arc-polygon" else np.array(shape.vertices)
    )
    following, x, y = np.roll(corners, -1, axis=0), points[:, :1], points[:, 1:]
    crosses = (corners[:, 1] > y) != (following[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (y - corners[:, 1]) / (following[:, 1] - corners[:, 1])
    times: Array = (crosses & (x < corners[:, 0] + share * (following[:, 0] - corners[:, 0]))).sum(axis=1)
    return np.asarray(times % 2 == 1)


def _runs(flags: Flags) -> Iterator[tuple[int, int]]:
    """First and beyond-the-last index of each run of True."""
    edges = np.flatnonzero(np.diff(flags.astype(int), prepend=0, append=0))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())
