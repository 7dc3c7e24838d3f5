"""An engine whose bodies are anywhere, to fuzz what we measure with: `upright fuzz --engine
validation.tools.fuzzing.scattered.Scattered`.

It takes every scene. Some motions have a few samples near the start, bodies apart and in one another, at any speed, and
a last step that reported contacts explain: every term of a metric has a value. Others are flights with velocities half
a step off the poses, or bodies that creep once they are slow, seen at uneven times. No law of motion is asked of it,
only that all is measured as it is worked out a second time.
"""

import hashlib
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from scenarios.forces import Damping
from scenarios.scene import PlanarScene, Scene, colliding_pairs, content_hash, planar_start, spatial_start
from validation.engines.engine import Settings
from validation.records.trajectory import Contacts, PlanarTrajectory, SpatialTrajectory, Trajectory
from validation.tools.fuzzing.independent.motion import Motion, hamilton, in_space
from validation.version import __version__

SAMPLES = 12
STIRRED = (0.0, 1e-6, 1e-3, 0.03, 0.3)  # m and rad, from the start
LAGS = (0.5, -0.5, 1.0)  # steps
CREEPING = 48  # samples
MOST_CONTACTS = 4


class Scattered:
    name = "scattered"
    version = __version__

    def declines(self, scene: Scene) -> str | None:
        return None

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """The same for the same scene: its hash is the seed."""
        seed = int(hashlib.sha256(content_hash(scene).encode()).hexdigest()[:12], 16)
        random = np.random.default_rng(seed)
        made = (flown, crept, scattered, scattered)[seed % 4]
        return made(scene, dt, random)


def start_of(scene: Scene, samples: int) -> list[Array]:
    """(S, B, w) parts of the state, as at the start."""
    start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
    return [np.repeat(part[None], samples, axis=0) for part in start]


def motion_of(scene: Scene, time: Array, dt: float, state: list[Array], **more: Any) -> Trajectory:
    common: dict[str, Any] = {"time": time, "dt": dt, "velocity_lag": 0.0, **more}
    if isinstance(scene, PlanarScene):
        return PlanarTrajectory(pose=state[0], twist=state[1], **common)
    state[1] /= np.linalg.norm(state[1], axis=2, keepdims=True)
    return SpatialTrajectory(**common, **dict[str, Any](zip(SpatialTrajectory.STATE, state)))


def scattered(scene: Scene, dt: float, random: np.random.Generator) -> Trajectory:
    time = np.append(np.linspace(0.0, scene.duration - dt, SAMPLES), scene.duration)
    time[SAMPLES // 2] = time[SAMPLES // 2 - 1]  # before and after an impact
    free = np.array([not body.fixed for body in scene.bodies])
    state = start_of(scene, SAMPLES + 1)
    for k in range(1, SAMPLES):
        stir = random.choice(STIRRED)
        for part in state:
            part[k, free] += stir * random.normal(size=part[k, free].shape)
    half = len(state) // 2
    for part in state[half:]:
        part[SAMPLES // 2 :, free] *= random.uniform(-1.0, 1.0)
    for part in state[:half]:
        part[SAMPLES // 2] = part[SAMPLES // 2 - 1]
    for part in state:
        part[-1] = part[-2]
    made = motion_of(scene, time, dt, state)
    pairs = list(colliding_pairs(scene))
    if not pairs or scene.joints or scene.springs or scene.thrusters or scene.damping != Damping():
        return made
    return with_contacts(Motion(scene, made), pairs, random)


def with_contacts(motion: Motion, pairs: list[tuple[str, str]], random: np.random.Generator) -> Trajectory:
    """Velocities at the last sample as contacts make them that are reported there."""
    scene, dt, width = motion.scene, motion.trajectory.dt, len(motion.scene.gravity)
    count = 1 + int(random.integers(MOST_CONTACTS))
    chosen = [tuple(motion.names[name] for name in pairs[int(random.integers(len(pairs)))]) for _ in range(count)]
    a, b = (np.array(column, np.int64) for column in zip(*chosen))
    normal = random.normal(size=(count, width))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    scale = 0.1 + float(motion.mass.sum()) * float(np.linalg.norm(motion.gravity)) * dt
    across = random.normal(size=(count, width)) * random.choice((0.1, 1.0))
    impulse = scale * (random.uniform(0.1, 1.0, (count, 1)) * normal + across)
    point = motion.x[-1, a, :width] + random.normal(size=(count, width))
    v, spin = motion.v[-2] + dt * motion.gravity * motion.free[:, None], np.array(motion.spin_momentum[-2])
    for i, sign in ((a, -1.0), (b, 1.0)):
        for k, body in enumerate(i.tolist()):
            if body < len(motion.mass) and motion.free[body]:
                j = sign * in_space(impulse[k])
                v[body] += j / motion.mass[body]
                spin[body] += np.cross(in_space(point[k]) - motion.x[-1, body], j)
    R, inertia = motion.R[-1], np.where(motion.inertia > 0.0, motion.inertia, np.inf)
    w = np.einsum("bij,bj->bi", R, np.einsum("bji,bj->bi", R, spin) / inertia)
    w[~motion.free] = 0.0
    state = [np.array(getattr(motion.trajectory, name)) for name in motion.trajectory.STATE]
    if width == 2:
        state[1][-1] = np.column_stack([v[:, :2], w[:, 2]])
    else:
        state[2][-1], state[3][-1] = v, w
    contacts = Contacts(
        sample=np.full(count, len(motion.time) - 1), a=a, b=b, point=point, normal=normal, gap=np.zeros(count),
        impulse=impulse,
    )  # fmt: skip
    return motion_of(scene, motion.time, dt, state, contacts=contacts)


def crept(scene: Scene, dt: float, random: np.random.Generator) -> Trajectory:
    """All are thrown about, and from a random time on creep, slower than what counts as rest, mostly one way."""
    time = np.sort(np.append(random.uniform(0.0, scene.duration, CREEPING - 2), (0.0, scene.duration)))
    state, free = start_of(scene, CREEPING), np.array([not body.fixed for body in scene.bodies])
    half, first = len(state) // 2, int(random.integers(1, CREEPING // 2))
    radius = Motion(scene, motion_of(scene, time, dt, list(state))).radius[free]
    creep = 1e-3 * np.sqrt(2.0 * radius.min(initial=1.0) * np.linalg.norm(scene.gravity))  # m/s: rest is ten times it
    gaps = np.diff(time, prepend=0.0)[:, None, None]
    for poses, rates in zip(state[:half], state[half:]):
        start, way = random.normal(size=(2, *poses[0].shape))
        slow = np.arange(CREEPING)[:, None, None] > first
        rates[:, free] = random.uniform(-1.0, 1.0, rates.shape)[:, free]
        rates[:, free] *= np.where(slow, 0.3 * creep / radius.max(initial=1.0), 1.0)
        noise = 0.2 * random.normal(size=poses.shape)
        walk = np.cumsum(creep * gaps * (way + noise) * slow, axis=0) + start * (np.arange(CREEPING) > 0)[:, None, None]
        poses[:, free] += walk[:, free]
    return motion_of(scene, time, dt, state)


def flown(scene: Scene, dt: float, random: np.random.Generator) -> Trajectory:
    """All fall freely, each spinning about a principal axis, through whatever is there."""
    time = np.linspace(0.0, scene.duration, SAMPLES)
    lag = float(random.choice(LAGS)) * dt
    state, t = start_of(scene, SAMPLES), time[:, None, None]
    free = np.array([not body.fixed for body in scene.bodies])[:, None]
    g = np.array(scene.gravity) * free
    if isinstance(scene, PlanarScene):
        g = np.concatenate([g, np.zeros((len(g), 1))], axis=1)
        twist = state[1][0]
        state[0] = state[0] + twist * t + 0.5 * g * t**2
        state[1] = twist + g * (t + lag)
    else:
        rate = random.normal(size=len(g)) * free[:, 0]
        axis = np.eye(3)[random.integers(3)]
        half = 0.5 * rate[None, :, None] * t
        turned = np.concatenate([np.cos(half), np.sin(half) * axis], axis=2)
        state[0] = state[0] + state[2] * t + 0.5 * g * t**2
        state[1] = hamilton(state[1], turned)
        state[2] = state[2] + g * (t + lag)
        state[3] = Motion(scene, motion_of(scene, time, dt, list(state))).R @ axis * rate[None, :, None]
    return motion_of(scene, time, dt, state, velocity_lag=lag)
