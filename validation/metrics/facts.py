"""Facts about a motion that are right or wrong only against what should happen, and what the exact motion does."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from reference_engine.dense import norm
from scenarios.forces import jointed
from scenarios.scene import Capsule, Cylinder, Ellipsoid, PlanarScene, SpatialScene
from validation.metrics.axes import rotation_from, to_body_axes
from validation.metrics.observation import Array, Flags, Observation, bounding_radius, free, length, of_scenario, shared
from validation.metrics.rest import can_rest, rest_start, start_of_rest
from validation.metrics.statics import in_contact_only, supported
from validation.records.outcome import Fact, Outcome
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory

MOVED, STILL = 0.05, 0.01  # of the body's diameter
BOUNCE = 0.05  # of the body's diameter, that it rises; between four times and a quarter of that all counts are right
BOUNCES = 8  # one more or less of so many is the same
STOPPED = 0.05  # of how far it should get in the second half of the motion
NEARLY = 2.0  # as fast as what rests, for half as long: that neither came to rest nor never did
FALLEN, UPRIGHT = np.radians(45.0), np.radians(15.0)
ROUND = frozenset({"disc", "sphere"})
RATE = 48.0  # samples a second of an exact motion, as engines keep them


def facts(o: Observation) -> Iterator[Outcome]:
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
        if not np.isnan(since := rest_start(o)):
            yield Outcome(kind="came to rest", time=since)
        elif np.isnan(start_of_rest(o, NEARLY)):
            yield Outcome(kind="never rested")


@of_scenario
def exact_motion(o: Observation) -> Observation | None:
    """What the scenario's truth does, to the end; None where it knows none, or not all of its coordinates."""
    truth = o.truth
    if truth.pose is None or truth.span[0] > 0.0 or truth.span[1] < o.scene.duration * (1.0 - 1e-9):
        return None
    time = np.linspace(0.0, o.scene.duration, 1 + int(RATE * o.scene.duration))
    pose = np.asarray(truth.pose(time), float)
    if pose.shape[:1] != time.shape or np.isnan(pose).any() or len(time) < 3:
        return None
    rate = np.gradient(pose, time, axis=0)
    if isinstance(o.scene, PlanarScene):
        exact: Trajectory = PlanarTrajectory(time=time, dt=1.0 / RATE, velocity_lag=0.0, pose=pose, twist=rate)
    else:
        q, change = pose[..., 3:], rate[..., 3:]
        spin = 2.0 * rotation_from(q, change)[1]  # the vector of 2 q' q*
        exact = SpatialTrajectory(
            time=time, dt=1.0 / RATE, velocity_lag=0.0, position=pose[..., :3], orientation=q, velocity=rate[..., :3],
            spin=spin,
        )  # fmt: skip
    return Observation(scenario=o.scenario, trajectory=exact)


def stopped(o: Observation) -> Iterator[Outcome]:
    """Bodies that should go on moving to the end and hardly do; they may creep, and so never come to rest."""
    exact = exact_motion(o)
    if exact is None:
        return
    wanted, found = (displacement(of, 0.5).max(axis=0) for of in (exact, o))
    which = free(o) & (wanted > MOVED * 2.0 * bounding_radius(o)) & (found < STOPPED * wanted)
    if which.any():
        names = tuple(o.scene.bodies[i].name for i in np.flatnonzero(which))
        yield Outcome(kind="stopped", bodies=names, time=0.5 * o.scene.duration)


def bounced(o: Observation) -> Iterator[Outcome]:
    """Bodies that bounce another number of times than by their exact motion."""
    exact = exact_motion(o)
    if exact is None or not o.gravity.any():
        return
    counts = bounces(o, BOUNCE)
    least, most = bounces_wanted(exact)
    for i in np.flatnonzero((counts < least - least // BOUNCES) | (counts > most + most // BOUNCES)).tolist():
        wanted = least[i] if counts[i] < least[i] else most[i]
        yield Outcome(
            kind="bounced", bodies=(o.scene.bodies[i].name,), value=float(counts[i]), unit="1", wanted=float(wanted)
        )


@shared
def bounces_wanted(exact: Observation) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(B,) each, by the exact motion: so often at least, and at most."""
    return bounces(exact, 4.0 * BOUNCE), bounces(exact, 0.25 * BOUNCE, in_the_air=False)


def bounces(o: Observation, rise: float, *, in_the_air: bool = True) -> NDArray[np.int64]:
    """(B,) how often the centre of mass falls and rises again, each by `rise` diameters at least, and is in the air
    then; 0 of what is fixed, and of what joints, springs or thrusters act on."""
    count = np.zeros(len(o.scene.bodies), np.int64)
    height = -(o.trajectory.position * o.gravity).sum(axis=2) / float(norm(o.gravity))
    rises = np.ptp(height, axis=0) > rise * 2.0 * bounding_radius(o)
    for i in np.flatnonzero(in_contact_only(o) & rises).tolist():
        in_air = supported(o)[:, i] == 0 if in_the_air else np.ones(len(height), bool)
        count[i] = _troughs(height[:, i].tolist(), in_air.tolist(), rise * 2.0 * float(bounding_radius(o)[i]))
    return count


def _troughs(height: Sequence[float], in_air: Sequence[bool], rise: float) -> int:
    count, falls, turn = 0, False, height[0]
    for now, flies in zip(height, in_air):
        if falls and now > turn + rise:
            count, falls, turn = count + flies, False, now
        elif not falls and now < turn - rise:
            falls, turn = True, now
        turn = min(turn, now) if falls else max(turn, now)
    return count


def displacement(o: Observation, since: float = 0.0) -> Array:
    """(S, B) m: bound on how far any point of a body is from where it was at this share of the duration, since then."""
    first = int(np.searchsorted(o.time, since * o.time[-1]))
    position = o.trajectory.position[first:]
    moved = length(position - position[0])
    if isinstance(o.trajectory, PlanarTrajectory):
        angle = o.trajectory.angle[first:]
        return moved + bounding_radius(o) * np.minimum(2.0, np.abs(angle - angle[0]))
    q = o.trajectory.orientation[first:]
    chord = np.minimum(length(q - q[0]), length(q + q[0]))  # 2 sin(turn / 4)
    return moved + bounding_radius(o) * np.minimum(2.0, 2.0 * chord)


@shared
def tilt(o: Observation) -> Array | None:
    """(B,) rad, at the end, of what pointed up at the start; NaN of what is round, fixed or jointed; None without
    gravity. Of a body of revolution it is its axis that tilts: about it a cylinder on its side may roll."""
    g = float(norm(o.gravity))
    if g == 0.0:
        return None
    tied = jointed(o.scene)
    asked = free(o) & [b.shape.kind not in ROUND and b.name not in tied for b in o.scene.bodies]
    if isinstance(o.trajectory, PlanarTrajectory):
        cosine = elementary.cos(o.trajectory.angle[-1] - o.trajectory.angle[0])
    else:
        assert isinstance(o.scene, SpatialScene)  # an Observation has checked it
        up = np.broadcast_to(-o.gravity / g, o.trajectory.position[:1].shape)
        first, last = (to_body_axes(o.trajectory.orientation[k : k + 1 or None][:1], up)[0] for k in (0, -1))
        cosine = (first * last).sum(axis=1)
        for i, axis in axes_of_revolution(o.scene).items():
            rises = [float(elementary.acos(min(1.0, abs(float(side[i, axis]))))) for side in (first, last)]
            cosine[i] = elementary.cos(rises[1] - rises[0])
    return np.where(asked, elementary.acos(np.clip(cosine, -1.0, 1.0)), np.nan)


def axes_of_revolution(scene: SpatialScene) -> dict[int, int]:
    """Body -> which of its axes it may turn about without looking otherwise."""
    found = {}
    for i, body in enumerate(scene.bodies):
        if isinstance(body.shape, Cylinder | Capsule):
            found[i] = 2
        elif isinstance(body.shape, Ellipsoid):
            x, y, z = body.shape.semi_axes
            alike = [axis for axis, same in enumerate((y == z, x == z, x == y)) if same]
            if alike:
                found[i] = alike[-1]
    return found
