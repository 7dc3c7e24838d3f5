"""What was measured of a motion, against the same worked out here.

Tolerances: 2^-52 times `OPERATIONS` times the size of what is summed up.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from reference_engine.array_types import Array, Flags
from reference_engine.geometry.proximities import Proximities
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.forces import Damping
from scenarios.joint_forces import driven_joints
from scenarios.scene import Scene, colliding_pairs
from validation.metrics import impact, proximity
from validation.metrics.observation import Observation
from validation.records.trajectory import Trajectory
from validation.tools.fuzzing.independent import happened
from validation.tools.fuzzing.independent.gaps import EPSILON, OPERATIONS, wrong_gap
from validation.tools.fuzzing.independent.motion import Motion, in_space

RELATIVE = OPERATIONS * EPSILON
LARGEST = 1e6  # m, m/s, rad/s: what is beyond has no digits left for a comparison
REST_SPEED = 0.01  # of sqrt(g L), as docs/metrics.md has it
NEAR = 0.05  # of the smallest diameter, likewise
IMPACT_SPEED = 1e-3  # m/s, likewise
CLEAR = 10.0  # times what smooth motion explains: what no definition calls smooth

Values = Mapping[str, float]
Check = tuple[str, float, float]  # metric, value worked out here, tolerance


def wrong_measurement(scene: Scene, trajectory: Trajectory, measured: Values, *, made_up: bool = False) -> str | None:
    """The first gap, rate or metric that is wrong; None where all are right, or speeds are beyond all bounds.

    made_up: its contacts explain it, and it is far from all equilibria, as `scattered` makes motions.

    Of motions with a lag between poses and velocities only flights: what else they leave in doubt is a definition.
    """
    motion = Motion(scene, trajectory)
    if not is_bounded(motion):
        return None
    if trajectory.velocity_lag:
        flown = happened.at_poses(motion)
        return None if flown is None else _wrong_value([*_energies(flown), *_momenta(motion)], measured)
    o = Observation(scenario=scenario_from_scene("fuzzed", scene), trajectory=trajectory)
    near, rates = proximity.proximities(o), proximity.rates(o)
    cutoff = proximity.near_distance(o)
    if wrong := wrong_gap(motion, near, cutoff) or _wrong_rates(motion, near, rates) or _wrong_impacts(motion, o):
        return wrong
    cone = happened.cone_violation(motion) if made_up else None
    checks = [*_metrics(motion, near, cutoff), *([("cone_violation", cone, 1e-9)] if cone is not None else [])]
    if made_up and (wrong := next(happened.wrong_truths(scene, trajectory), None)):
        return wrong
    return happened.wrong_facts(motion, o) or _wrong_value(checks, measured)


def _wrong_value(checks: Sequence[Check], measured: Values) -> str | None:
    for name, own, tolerance in checks:
        value = measured.get(name)
        if value is None:
            continue
        differ = math.isnan(own) != math.isnan(value) or abs(own - value) > tolerance
        if differ:
            return f"{name} is {value:.17g}, worked out a second time {own:.17g}; tolerated: {tolerance:.3g}"
    return None


def is_bounded(motion: Motion) -> bool:
    return all(bool((np.abs(part) < LARGEST).all()) for part in (motion.x, motion.v, motion.w))


# --- rates of gaps, impacts -----------------------------------------------------------------------------------------


def _wrong_rates(motion: Motion, near: Proximities, rates: proximity.Rates) -> str | None:
    """n . (velocity of b's point - velocity of a's), of three samples' velocities at the points of one."""
    bodies, samples = len(motion.scene.bodies), len(motion.time)
    for shift, found in ((-1, rates.before), (0, rates.now), (1, rates.after)):
        at = near.sample + shift
        inside = (at >= 0) & (at < samples)
        own, size = np.zeros(len(near)), np.zeros(len(near))
        for index, points, sign in ((near.a, near.point_a, -1.0), (near.b, near.point_b, 1.0)):
            moves = inside & (index < bodies)
            i, k = index[moves], at[moves]
            arm = in_space(points)[moves] - motion.x[near.sample[moves], i]
            velocity = motion.v[k, i] + np.cross(motion.w[k, i], arm)
            own[moves] += sign * np.einsum("ki,ki->k", in_space(near.normal)[moves], velocity)
            size[moves] += np.abs(motion.v[k, i]).sum(axis=1)  # squares of slow ones would be 0
            span = motion.radius[i] + np.linalg.norm(motion.x[near.sample[moves], i], axis=1)
            size[moves] += np.abs(motion.w[k, i]).sum(axis=1) * (span + np.linalg.norm(arm, axis=1))
        if (np.isnan(found) == inside).any():
            return "a rate of a gap is missing"
        off = np.where(inside, np.abs(own - np.where(inside, found, 0.0)) - RELATIVE * size, 0.0)
        if (off > 0.0).any():
            row = int(np.argmax(off))
            when, other = motion.time[near.sample[row]], f"worked out a second time {own[row]:.17g}"
            return f"the rate of a gap at {when:.6g} s is {found[row]:.17g} m/s, {other}"
    return None


def _wrong_impacts(motion: Motion, o: Observation) -> str | None:
    """They are in order; between two samples of one time, where nothing is smooth, each approach that ends is one."""
    found, near, rates = impact.impacts(o), proximity.proximities(o), proximity.rates(o)
    if (np.diff(found.interval) < 0).any():
        return "impacts are not in order of time"
    listed = {(k, a, b) for k, a, b in zip(*map(np.ndarray.tolist, (found.interval, found.a, found.b)))}
    at_once = np.flatnonzero(np.diff(motion.time) == 0.0)
    with np.errstate(invalid="ignore"):
        turned = (rates.now < -CLEAR * IMPACT_SPEED) & (rates.after - rates.now > CLEAR * IMPACT_SPEED)
    rows = np.flatnonzero(turned & np.isin(near.sample, at_once))
    for row in rows.tolist():
        k, a, b = int(near.sample[row]), int(near.a[row]), int(near.b[row])
        if not any((at, a, b) in listed for at in range(k + 1)):  # it may have begun before: a jump beside a jump
            return f"an impact at {motion.time[k]:.6g} s is not counted"
    return None


# --- metrics --------------------------------------------------------------------------------------------------------


def _metrics(motion: Motion, near: Proximities, cutoff: float) -> Iterator[Check]:
    yield from _energies(motion)
    yield from _momenta(motion)
    yield from _overlaps(motion, near, cutoff)
    joints = [joint for joint in motion.scene.joints if joint.kind != "track"]
    if joints and len(joints) == len(motion.scene.joints):
        size = float(np.abs(motion.x).max() + motion.radius.max() + max(_arm(joint) for joint in joints))
        yield "joint_gap", max(float(motion.joint_gap(joint).max()) for joint in joints), RELATIVE * size
    yield from _rest(motion)


def _arm(joint: object) -> float:
    """m, of its anchors."""
    return float(np.abs([getattr(joint, "anchor_a", 0.0), getattr(joint, "anchor_b", 0.0)]).max())


def _energies(motion: Motion) -> Iterator[Check]:
    scene = motion.scene
    elastic = elastic_contact(motion)
    paths = any(spring.anchor_path for spring in scene.springs)
    if elastic is None or scene.thrusters or paths or driven_joints(scene):
        return
    held, force = elastic  # an engine may have another law: what contacts hold is in doubt
    E, g = motion.energy + held, float(np.linalg.norm(motion.gravity))
    size = motion.kinetic.max(axis=0).sum() + (motion.mass * g * np.abs(motion.x).max(axis=(0, 2))).sum()
    spins, momenta = (np.linalg.norm(part, axis=2) for part in (motion.w, motion.spin_momentum))
    size += (spins * momenta).max(axis=0).sum()  # of a rod that spins about its axis: turned off it by round-off
    size += sum(spring.stiffness * (np.abs(motion.x).max() + spring.rest_length) ** 2 for spring in scene.springs)
    size += force.max() * (np.abs(motion.x).max() + motion.radius.max())
    tolerance = 4.0 * RELATIVE * float(size)
    yield "energy_drift", float(np.maximum(0.0, np.abs(E - E[0]) - held - held[0]).max()), tolerance
    yield "energy_gain", float(np.maximum(0.0, (E - held - np.minimum.accumulate(E + held)).max())), tolerance


def elastic_contact(motion: Motion) -> tuple[Array, Array] | None:
    """(S,) J and (S,) N, of all compliant contacts of spheres: 2/5 c depth^2.5 and c depth^1.5 (Hertz 1882).

    c = 4/3 sqrt(r) / (1/c_a + 1/c_b), c_i = E_i / (1 - nu_i^2), 1/r the sum of both curvatures. None of other shapes.
    """
    scene, total, force = motion.scene, np.zeros(len(motion.time)), np.zeros(len(motion.time))
    given = scene.contact.compliant
    if given is None:
        return total, force
    round_ones = all(body.shape.kind == "sphere" for body in scene.bodies)
    if not round_ones or any(one.kind == "hollow-sphere" for one in scene.boundaries):
        return None
    members = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    for a, b in colliding_pairs(scene):
        first, second = members[a], members[b]
        radius = float(first.shape.radius)
        x = motion.x[:, motion.names[a]]
        if b in {body.name for body in scene.bodies}:
            other = float(second.shape.radius)
            depth = radius + other - np.linalg.norm(motion.x[:, motion.names[b]] - x, axis=1)
            radius = 1.0 / (1.0 / radius + 1.0 / other)
        else:
            depth = radius - (x - np.array(second.point)) @ np.array(second.normal)
        kinds = [given.material[str(member.material)] for member in (first, second)]
        soft = sum((1.0 - kind.poisson_ratio**2) / kind.young_modulus for kind in kinds)
        c, depth = 4.0 / 3.0 * np.sqrt(radius) / soft, np.maximum(0.0, depth)
        total += 0.4 * c * depth**2.5
        force += c * depth**1.5
    return total, force


def is_isolated(scene: Scene) -> bool:
    """Whether nothing but gravity acts on it from outside."""
    outside = scene.boundaries or scene.thrusters or any(body.fixed for body in scene.bodies)
    tied = any(tie.b is None for tie in (*scene.joints, *scene.springs))
    return not outside and not tied and scene.damping == Damping()


def _momenta(motion: Motion) -> Iterator[Check]:
    if not is_isolated(motion.scene):
        return
    every = np.ones(len(motion.mass), bool)
    fallen = motion.mass.sum() * motion.gravity * (motion.time - motion.time[0])[:, None]
    P, L = motion.momentum(every), motion.moment_of_momentum(every)
    speed = np.linalg.norm(motion.v, axis=2).max(axis=0)
    size = float((motion.mass * speed).sum() + np.linalg.norm(fallen, axis=1).max())
    yield "momentum_drift", float(np.linalg.norm(P - P[0] - fallen, axis=1).max()), RELATIVE * size
    around = float(np.abs(motion.x).max()) * size
    around += float((motion.inertia.max(axis=1) * np.linalg.norm(motion.w, axis=2)).max(axis=0).sum())
    yield "angular_momentum_drift", float(np.linalg.norm(L - L[0], axis=1).max()), 4.0 * RELATIVE * around


def _overlaps(motion: Motion, near: Proximities, cutoff: float) -> Iterator[Check]:
    """From the rows that have been checked."""
    if not any(True for _ in colliding_pairs(motion.scene)):
        return
    lowest, time = np.full(len(motion.time), np.inf), motion.time
    for sample, gap in zip(near.sample.tolist(), near.gap.tolist()):
        lowest[sample] = min(lowest[sample], gap)
    depth = np.maximum(0.0, -lowest)
    tolerance = RELATIVE * float(depth.max())
    yield "penetration_max", float(depth.max()), tolerance
    yield "penetration_final", float(depth[-1]), tolerance
    if time[-1] > time[0]:
        mean = float((0.5 * (depth[1:] + depth[:-1]) * np.diff(time)).sum() / (time[-1] - time[0]))
        yield "penetration_mean", mean, tolerance
    yield "gap_final", float(lowest[-1]) if lowest[-1] < cutoff else math.nan, RELATIVE * cutoff


def _rest(motion: Motion) -> Iterator[Check]:
    g, scene = float(np.linalg.norm(motion.gravity)), motion.scene
    if g == 0.0 or not (scene.joints or any(True for _ in colliding_pairs(scene))):
        return
    L, free = 2.0 * float(motion.radius[motion.free].min()), motion.free
    fastest = np.linalg.norm(motion.v, axis=2) + motion.radius * np.linalg.norm(motion.w, axis=2)
    limit, shortest = REST_SPEED * math.sqrt(g * L), math.sqrt(L / g)
    speed = fastest[:, free].max(axis=1)
    if (np.abs(speed - limit) <= 1e-9 * limit).any():
        return  # on the limit: round-off decides
    first = len(speed)
    while first > 0 and speed[first - 1] <= limit:
        first -= 1
    rests = first < len(speed) and motion.time[-1] - motion.time[first] >= shortest
    start = float(motion.time[first]) if rests else math.nan
    yield "rest_time", start, 0.0
    window = motion.time >= 0.5 * (start + motion.time[-1]) if rests else np.zeros(len(speed), bool)
    for name, value, size in _stillness(motion, window):
        yield name, value if rests else math.nan, 1e-7 * size  # 1e-8: a small turn from a matrix or a quaternion


def _stillness(motion: Motion, window: Flags) -> Iterator[tuple[str, float, float]]:
    """Metric, value, and the size that its round-off goes with."""
    names = ("rest_drift", "jitter_velocity", "jitter_position")
    if not window.any():
        yield from ((name, math.nan, 0.0) for name in names)
        return
    time, free = motion.time[window], motion.free
    gaps = np.diff(time)
    weight = 0.5 * (np.append(0.0, gaps) + np.append(gaps, 0.0))
    weight /= weight.sum()
    radius = motion.radius[free]
    moved, R = motion.x[window][:, free], motion.R[window][:, free]
    relative = R @ np.swapaxes(R[0], -1, -2)
    turns = Rotation.from_matrix(relative.reshape(-1, 3, 3)).as_rotvec().reshape(*moved.shape)
    moved = np.concatenate([moved - moved[0], radius[:, None] * turns], axis=2)
    speed = (motion.v[window][:, free] ** 2).sum(axis=2) + (
        radius * np.linalg.norm(motion.w[window][:, free], axis=2)
    ) ** 2
    yield "jitter_velocity", math.sqrt(float((weight @ speed).mean())), math.sqrt(float(speed.max()))
    mean = np.einsum("w,wfi->fi", weight, moved)
    spread = ((moved - mean) ** 2).sum(axis=2)
    size = float(radius.max() + np.abs(motion.x).max())
    yield "jitter_position", math.sqrt(float((weight @ spread).mean())), size
    yield "rest_drift", _drift(weight, moved), size


def _drift(weight: Array, moved: Array) -> float:
    passed = np.cumsum(weight)
    first, last = moved[passed <= max(0.1, passed[0])], moved[passed >= 1.0 - 0.1]
    if not len(last):  # the last sample alone has more than a tenth of the weight
        return math.nan
    return float(np.linalg.norm(last.mean(axis=0) - first.mean(axis=0), axis=1).max())
