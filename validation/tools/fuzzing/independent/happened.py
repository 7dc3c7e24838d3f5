"""Facts of a motion, friction of reported contacts, velocities that lag and errors against a truth: a second time."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from reference_engine.array_types import Array
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.forces import Damping
from scenarios.scene import Scene
from scenarios.truth import Truth
from validation.metrics import facts as measured_facts
from validation.metrics import truth_error
from validation.metrics.observation import Observation
from validation.records.trajectory import PlanarTrajectory, Trajectory, with_samples
from validation.tools.fuzzing.independent.motion import Motion, hamilton, in_space

MOVED, STILL, FALLEN, UPRIGHT = 0.05, 0.01, np.pi / 4.0, np.pi / 12.0  # as docs/judging.md has them
ON_LIMIT = 1e-6  # of a limit: so near round-off decides
LEAST_LOAD, MOMENTUM = 0.01, 1e-6  # of the weight, and of the largest momentum, as docs/metrics.md has them
SHIFT, TURN = np.array((3e-3, -4e-3, 12e-3)), 0.1  # m and rad, of a truth that is this far off
EXACT = 1e-9  # m and rad


def wrong_facts(motion: Motion, o: Observation) -> str | None:
    """Who moved, never moved, fell over and stood; not asked of who is on the limit, nor of what is round."""
    found = {(one.kind, name) for one in measured_facts.facts(o) for name in one.bodies}
    for i, body in enumerate(motion.scene.bodies):
        if body.fixed:
            continue
        far = float(_displacement(motion, i).max()) / (2.0 * motion.radius[i])
        wanted = [("moved", far, MOVED, far > MOVED), ("never moved", far, STILL, far < STILL)]
        lean = _lean(motion, i)
        if lean is not None:
            wanted += [("fell over", lean, FALLEN, lean > FALLEN), ("stood", lean, UPRIGHT, lean < UPRIGHT)]
        for kind, value, limit, happened in wanted:
            if abs(value - limit) > ON_LIMIT * limit and ((kind, body.name) in found) != happened:
                words = ("not seen", "so") if happened else ("seen", "not so")
                return f"that {body.name!r} {kind} is {words[0]}; worked out a second time it is {words[1]}"
    return None


def _displacement(motion: Motion, i: int) -> Array:
    """(S,) m: a bound on how far any point of the body is from where it was at the start."""
    gone = np.linalg.norm(motion.x[:, i] - motion.x[0, i], axis=1)
    if isinstance(motion.trajectory, PlanarTrajectory):
        turn = np.abs(motion.trajectory.angle[:, i] - motion.trajectory.angle[0, i])
    else:
        turn = 4.0 * np.sin(_angle(motion.R[0, i].T @ motion.R[:, i]) / 4.0)
    return np.asarray(gone + motion.radius[i] * np.minimum(2.0, turn))


def _angle(R: Array) -> Array:
    """(...,) rad, of rotations; from sine and cosine, so that it is accurate at both ends."""
    axis = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    return np.arctan2(np.linalg.norm(axis, axis=-1), np.trace(R, axis1=-2, axis2=-1) - 1.0)


def _lean(motion: Motion, i: int) -> float | None:
    """rad, at the end, of what pointed up at the start; None where nobody asks."""
    body, g = motion.scene.bodies[i], float(np.linalg.norm(motion.gravity))
    jointed = any(body.name in (joint.a, joint.b) for joint in motion.scene.joints)
    if g == 0.0 or jointed or body.shape.kind in ("disc", "sphere", "capsule", "cylinder", "ellipsoid"):
        return None
    if isinstance(motion.trajectory, PlanarTrajectory):
        turn = motion.trajectory.angle[-1, i] - motion.trajectory.angle[0, i]
        return float(np.abs(np.angle(np.exp(1j * turn))))
    up = -motion.gravity / g
    first, last = motion.R[0, i].T @ up, motion.R[-1, i].T @ up
    return float(np.arctan2(np.linalg.norm(np.cross(first, last)), first @ last))


def cone_violation(motion: Motion) -> float | None:
    """Of contacts that explain how the momenta change at the one sample that has any; None where there are none."""
    contacts, scene = motion.contacts, motion.scene
    if contacts is None or not len(contacts.sample):
        return None
    members, g = (*scene.bodies, *scene.boundaries), float(np.linalg.norm(motion.gravity))
    largest = MOMENTUM * float((np.linalg.norm(motion.v, axis=2) * motion.mass).max())
    worst = 0.0
    for a, b, n, j in zip(
        contacts.a.tolist(), contacts.b.tolist(), in_space(contacts.normal), in_space(contacts.impulse)
    ):
        mu = scene.pair_law(members[a], members[b])[0]
        along = float(j @ n)
        across = float(np.linalg.norm(j - along * n))
        masses = [motion.mass[i] for i in (a, b) if i < len(scene.bodies) and motion.free[i]]
        weight = min(masses, default=np.inf) * g * motion.trajectory.dt
        scale = max(float(np.linalg.norm(j)), LEAST_LOAD * weight, largest)
        worst = max(worst, max(across - mu * max(along, 0.0), -along) / scale)
    return worst


def at_poses(motion: Motion) -> Motion | None:
    """The motion of bodies that fly all the time, with velocities at the time of the poses; None where not all do."""
    trajectory, scene = motion.trajectory, motion.scene
    if scene.joints or scene.springs or scene.thrusters or not motion.free.all() or scene.damping != Damping():
        return None
    fallen = (motion.time + trajectory.velocity_lag)[:, None, None] * motion.gravity
    still = np.abs(motion.v - fallen - (motion.v - fallen)[0]).max()
    if still > EXACT * (1.0 + np.abs(motion.v).max()):
        return None
    shift = trajectory.velocity_lag * np.array(scene.gravity)
    state = {name: getattr(trajectory, name) for name in trajectory.STATE}
    if isinstance(trajectory, PlanarTrajectory):
        state["twist"] = trajectory.twist - np.append(shift, 0.0)
    else:
        state["velocity"] = trajectory.velocity - shift
    return Motion(scene, replace(with_samples(trajectory, motion.time, state), velocity_lag=0.0))


def wrong_truths(scene: Scene, trajectory: Trajectory) -> Iterator[str]:
    """Against a truth that is the motion itself, its first body moved and turned by a little."""
    motion = Motion(scene, trajectory)
    width = len(scene.gravity)
    if isinstance(trajectory, PlanarTrajectory):
        exact = np.array(trajectory.pose)
        exact[:, 0, 2] += TURN
    else:
        exact = np.concatenate([trajectory.position, trajectory.orientation], axis=2)
        turn = np.array((np.cos(TURN / 2.0), 0.6 * np.sin(TURN / 2.0), 0.0, 0.8 * np.sin(TURN / 2.0)))
        exact[:, 0, 3:] = -hamilton(turn, exact[:, 0, 3:])
    exact[:, 0, :width] += SHIFT[:width]
    truth = Truth(kind="closed form", source="the motion", span=(0.0, np.inf), pose=lambda time: exact)
    o = Observation(scenario=replace(scenario_from_scene("fuzzed", scene), truth=truth), trajectory=trajectory)
    size = 1.0 + float(np.abs(motion.x).max())
    for measure, wanted in (
        (truth_error.truth_error_position, float(np.linalg.norm(SHIFT[:width]))),
        (truth_error.truth_error_angle, TURN),
    ):
        value = measure(o)
        if value is None or not abs(value - wanted) <= EXACT * size:
            yield f"{measure.__name__} is {value} of a truth that is {wanted:.6g} off"
