"""The record loop: one for all engines that step. Which samples to store, the time of each step, the hash of the state.

An adapter's `build` makes a `World`; `record` steps it, reads it and asks for its contacts. An engine that moves in
bulk fills a `Recorder` itself, or makes its trajectory on its own.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reference_engine.array_types import Array, Flags, Indices
from scenarios import mass
from scenarios.contact import widest_margin
from scenarios.forces import has_applied_forces
from scenarios.given_motion import given_bodies
from scenarios.given_work import GivenWork, work_follows
from scenarios.joint_forces import ELEMENTS, Element, JointWorks, JointWrenches, driven_joints
from scenarios.joints import AxialJoint
from scenarios.scene import PlanarScene, Scene, SpatialScene, planar_start, spatial_start
from validation.engines.shared.embedding import wrenches_in_space
from validation.engines.shared.internals import Gathered
from validation.records.trajectory import Contacts, PlanarTrajectory, SpatialTrajectory, Trajectory

Decode = Callable[[bytes, int], Sequence[NDArray[Any]]]
"""Bytes of so many steps, one after the other, to (steps, B, w) parts as `Recorder.read` takes them."""

BASE_RATE = 50.0  # samples/s; with one adjoining pair in five the total stays at or below 60
PAIR_EVERY = 5
IMPACT_JUMP = 1.5  # in units of g dt: a step that changes a velocity by more has met something
QUIET_JUMP = 1e-4  # m/s; the floor of it, without gravity
BLOCK_BYTES = 16 * 2**20  # of steps held before the choice

State = bytes | Sequence[Any]
"""(pose, twist), each (B, 3), or (position, orientation, velocity, spin), of all bodies; or the engine's own bytes."""
Rows = Sequence[Any]
ROWS = ("a", "b", "points", "normals", "gaps", "impulses")
"""a, b, points, normals, gaps, impulses on b: the columns of `Contacts`, of one sample."""

T = TypeVar("T")
BeforeStep = Callable[["World", int], None]

_collectors: list[list[float]] = []
_collectors_of_broken: list[list[Trajectory]] = []


class AnswerError(TypeError):
    """An engine answered something other than the protocol has; one line: what, what was found, what it should be."""


def collected_step_times() -> AbstractContextManager[list[float]]:
    """Collects the wall time of each step (s) of whatever records inside; times are no part of a trajectory."""
    return _collected(_collectors)


def report_step_times(times: Sequence[float]) -> None:
    """For an engine that steps in bulk and has timed itself."""
    for collector in _collectors:
        collector.extend(times)


def collected_broken_motions() -> AbstractContextManager[list[Trajectory]]:
    """Collects what was recorded before an engine raised something."""
    return _collected(_collectors_of_broken)


@contextmanager
def _collected(collectors: list[list[T]]) -> Iterator[list[T]]:
    collected: list[T] = []
    collectors.append(collected)
    try:
        yield collected
    finally:
        collectors.remove(collected)


def step_count(scene: Scene, dt: float) -> int:
    return max(1, round(scene.duration / dt))


def stride_of(dt: float) -> int:
    """Steps from one sample to the next where nothing happens."""
    return max(1, math.ceil(1.0 / (BASE_RATE * dt) - 1e-9))


def regular_samples(step: Indices, dt: float) -> Flags:
    """Which steps are samples where nothing happens: those of the base rate, and now and then the one after."""
    strides, beyond = np.divmod(step, stride_of(dt))
    regular: Flags = (beyond == 0) | ((beyond == 1) & (strides % PAIR_EVERY == 0))
    return regular


def regular_sample_times(scene: Scene, dt: float) -> Array:
    """s: of the samples of a motion in which nothing happens."""
    step = np.arange(step_count(scene, dt) + 1)
    chosen = regular_samples(step, dt)
    chosen[-1] = True
    return np.asarray(step[chosen] * dt, np.float64)


@contextmanager
def one_call(scene: Scene, dt: float) -> Iterator[None]:
    """For an engine that makes the whole motion in here: the time of a step is the same share of it for each."""
    steps, started = step_count(scene, dt), time.perf_counter()
    yield
    report_step_times([(time.perf_counter() - started) / steps] * steps)


def filled(start: Sequence[NDArray[Any]], rows: NDArray[Any], bodies: Any) -> list[NDArray[Any]]:
    """(steps, B, w) parts: of these bodies the columns of `rows` (steps, b, sum of w), of all others the start's."""
    state, column = [np.repeat(part[None], len(rows), axis=0) for part in start], 0
    for part in state:
        width = part.shape[2]
        part[:, bodies] = rows[..., column : column + width]
        column += width
    return state


class World:
    """One scene in an engine, at one moment; the first five are what the record loop drives.

    A subclass says nothing of what it is not able to: the last three are abilities, which its engine lists.
    """

    velocity_lag = 0.0  # s, time of the velocities minus time of the poses
    contact_tolerance = 0.0  # m, the largest gap at which the engine still holds bodies in contact at rest
    impact_time = 0.0  # s, for how long a bounce stays in contact by the engine's law; 0: a step at most
    slowed_by_watching = False  # whether a watched step takes longer; such steps are not timed
    internal_columns: tuple[str, ...] = ()  # of `Internals`, which this world has
    forgets = False  # whether `set_state` leaves nothing of what was before, so that one world will do for many states

    def step(self, *, watched: bool) -> None:
        """One step, with the scene's springs, thrusters and damping; `contacts` is asked after it if it is watched."""
        raise NotImplementedError

    def read(self) -> State:
        """The state now. Bytes, where the engine's whole state is copied out cheaply, are decoded many at once."""
        raise NotImplementedError

    def decode(self, raw: bytes, steps: int) -> Sequence[NDArray[Any]]:
        """(steps, B, w) parts of so many `read`, one after the other, for a world whose `read` gives bytes."""
        raise NotImplementedError

    def raw(self) -> bytes | None:
        """The engine's own state, which the hash is then over; None: it is over what `read` gives."""
        return None

    def contacts(self) -> Rows | None:
        """The contacts of the step just made. An engine's arrays may be views: they are copied."""
        return None

    def internals(self) -> Sequence[float]:
        """A number for each of `internal_columns`, asked after each `read`; works are those of the step just made."""
        return ()

    def finish(self, motion: Trajectory) -> World | None:
        """Raises what spoils the whole motion; a world to record in place of this one, or None."""
        return None

    def set_state(self, *state: Any, time: float = 0.0) -> None:
        """Go on from here, s: parts as `read` has them, velocities with the engine's lag."""
        raise NotImplementedError

    def apply_force(self, body: int, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        """During the next step: N, at a point of the world, m, or at the centre of mass; all in world axes."""
        raise NotImplementedError

    def options(self) -> dict[str, Any]:
        """The engine's own options as it holds them now: numbers, words, truth values."""
        raise NotImplementedError


class SceneWorld(World):
    """What worlds of scenes keep beside the engine's own."""

    def __init__(self, scene: Scene, dt: float) -> None:
        self.scene, self.dt = scene, dt
        self.planar = isinstance(scene, PlanarScene)
        self.free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
        self.given = given_bodies(scene)
        self.moving = [*self.free, *self.given]  # of which a step changes the state
        self._given_work: GivenWork | None = None
        if (widest := widest_margin(scene)) > 0.0:
            self.contact_tolerance = widest
        self.start: Sequence[Array] = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
        self._of_joints: JointWrenches | None = None
        self._works: JointWorks | None = None
        if isinstance(scene, SpatialScene) and driven_joints(scene):
            self._of_joints = JointWrenches(scene, lambda joint: ELEMENTS.difference(self.own_elements(joint)))
            self.internal_columns = ("actuators", "passive")
        if work_follows(scene):
            self.internal_columns = (*self.internal_columns, "given")
        acted_on = self._of_joints is not None and bool(self._of_joints.joints)
        self.has_forces = acted_on or has_applied_forces(scene)
        self.steps = 0  # made so far

    def own_elements(self, joint: AxialJoint) -> Collection[Element]:
        """What of it the engine's own joints have; springs, damping and motors act as wrenches on the bodies else."""
        return ()

    def wrenches(self, time: float, *state: Array) -> tuple[Array, Array]:
        """Force and torque (B, 3) of what acts on the bodies and is not the engine's own, at a state of the scene."""
        force, torque = wrenches_in_space(self.scene, time, *state)
        if self._of_joints is not None and self._of_joints.joints:
            more, turn = self._of_joints(time, *state)
            return force + more, torque + turn
        return force, torque

    def internals(self) -> Sequence[float]:
        """Of motors of joints, and of their damping and friction, from the poses and by the scene's own laws; of a
        given motion, from what the free bodies gain."""
        now, state = self.steps * self.dt, state_of(self)
        found: list[float] = []
        if "actuators" in self.internal_columns:
            assert isinstance(self.scene, SpatialScene)
            if self._works is None:
                self._works = JointWorks(self.scene, self.velocity_lag)
            found += self._works.until(now, *state)
        if "given" in self.internal_columns:
            if self._given_work is None:
                self._given_work = GivenWork(self.scene, self.velocity_lag)
            found.append(self._given_work.until(now, *state))
        return found

    def restart_joints(self) -> None:
        """After a state was set: angles of joints are counted from the start again."""
        if self._of_joints is not None:
            self._of_joints.coordinates.restart()
        for works in (self._works, self._given_work):
            if works is not None:
                works.restart()

    def in_dimension(self, a: Any, b: Any, points: Array, normals: Array, gaps: Any, impulses: Array) -> Rows:
        """Contacts of vectors in space, (K, 3), as those of the scene."""
        width = len(self.scene.gravity)
        return a, b, points[:, :width], normals[:, :width], gaps, impulses[:, :width]


def state_of(world: World) -> list[Array]:
    """The parts of a world's state now, (B, w) each."""
    state = world.read()
    parts = [part[0] for part in world.decode(state, 1)] if isinstance(state, bytes) else state
    return [np.array(part, np.float64) for part in parts]


def record(world: World, scene: Scene, dt: float, *, before_step: BeforeStep | None = None) -> Trajectory:
    """The motion over the scene's duration. `before_step` may push the world; steps are counted from 1.

    The times of a world that another took the place of are not reported.
    """
    if not isinstance(world, World):
        raise AnswerError(f"build returned {world!r:.60} ({type(world).__name__}); it should be a World")
    while True:
        recorder = Recorder(
            scene,
            dt,
            velocity_lag=world.velocity_lag,
            contact_tolerance=world.contact_tolerance,
            impact_time=world.impact_time,
            decode=world.decode,
        )
        with _reported_if_broken(recorder):
            times = _recorded_steps(recorder, world, before_step)
            motion = recorder.trajectory()
            instead = world.finish(motion)
        if instead is None:
            report_step_times(times)
            return motion
        if not isinstance(instead, World):
            found = f"{instead!r:.60} ({type(instead).__name__})"
            raise AnswerError(f"finish returned {found}; it should be a World, or None")
        world = instead


def _recorded_steps(recorder: Recorder, world: World, before_step: Callable[[World, int], None] | None) -> list[float]:
    """Takes all steps; wall times of those that are timed, s."""
    times = []
    recorder.take(world)
    for step in range(1, recorder.step_count + 1):
        if before_step is not None:
            before_step(world, step)
        watched = recorder.wants_contacts(step)
        started = time.perf_counter()
        world.step(watched=watched)
        if not (watched and world.slowed_by_watching):
            times.append(time.perf_counter() - started)
        recorder.take(world)
        if watched and (rows := world.contacts()) is not None:
            if not isinstance(rows, (tuple, list)) or len(rows) != len(ROWS):
                found = f"{rows!r:.60} ({type(rows).__name__})"
                raise AnswerError(f"contacts returned {found}; it should be {', '.join(ROWS)}, or None")
            recorder.add_contacts(*rows)
    return times


@contextmanager
def _reported_if_broken(recorder: Recorder) -> Iterator[None]:
    try:
        yield
    except Exception:
        for collector in _collectors_of_broken:
            with suppress(Exception):  # what has no samples, or cannot be decoded, is no motion
                collector.append(recorder.trajectory())
        raise


class Recorder:
    """Keeps every step around an impact, and at most 60 samples a second elsewhere.

    Which samples to keep is decided for a block of steps at once.
    """

    def __init__(
        self,
        scene: Scene,
        dt: float,
        *,
        velocity_lag: float,
        contact_tolerance: float = 0.0,
        impact_time: float = 0.0,
        decode: Decode | None = None,
    ) -> None:
        self.dt, self.velocity_lag, self.contact_tolerance = dt, velocity_lag, contact_tolerance
        self._impact_time = impact_time
        self._decode = decode
        self.step_count = step_count(scene, dt)
        self._planar = isinstance(scene, PlanarScene)
        self._free = np.array([not body.fixed for body in scene.bodies])
        stride = stride_of(dt)
        self._watch_every, self._watch_at = PAIR_EVERY * stride, min(1, stride - 1)  # steps
        gravity = np.array(scene.gravity)
        self._fall = gravity * dt
        self._jump = IMPACT_JUMP * float(np.linalg.norm(gravity)) * dt + QUIET_JUMP
        self._radius = np.array([mass.bounding_radius(body.shape) for body in scene.bodies])
        self._kind = PlanarTrajectory if self._planar else SpatialTrajectory
        widths = self._kind.STATE.values()
        bodies = len(scene.bodies)
        self._block = max(8, min(self.step_count + 1, BLOCK_BYTES // (8 * bodies * sum(widths))))
        self._state = [np.zeros((self._block, bodies, width)) for width in widths]
        self._first = 0  # the step in row 0 of the block
        self._filled = 0  # rows of the block in use, those of `_raw_rows` included
        self._raw_rows: list[bytes] = []  # of the last rows, not yet decoded
        self._step = -1
        self._sampled_until = -1
        self._sampled_steps: list[Indices] = []
        self._sampled_state: list[list[Array]] = [[] for _ in widths]
        self._digest = hashlib.sha256()
        self._raw_given = self._decoded = False
        self._contacts: list[tuple[NDArray[Any], ...]] = []
        self._internals = Gathered()

    def take(self, world: World) -> None:
        """The state of a world after a step, or at the start."""
        raw = world.raw()
        state = world.read()
        if isinstance(state, bytes):
            self.read_raw(state, raw)
        elif not isinstance(state, (tuple, list, np.ndarray)):
            raise AnswerError(f"read returned {state!r:.60} ({type(state).__name__}); it should be a tuple of arrays")
        else:
            self.read(*state, raw=raw)
        if world.internal_columns:
            self._internals.add(world.internal_columns, world.internals())

    def read(self, *state: Any, raw: Array | bytes | None = None) -> None:
        """The state after a step: (pose, twist), each (B, 3), or (position, orientation, velocity, spin).

        Arrays or nested sequences; copied. `raw` is the engine's own state, which is what the hash is over; give it
        where `state` is derived (an angle from a matrix).
        """
        self._begin_sample()
        if self._step == 0:
            self._check_shapes(state, np.shape(self._state[0])[1:2])
        for array, part in zip(self._state, state):
            array[self._filled] = part
        self._filled += 1
        if raw is not None:
            self._raw_given = True
            self._digest.update(raw if isinstance(raw, bytes) else np.ascontiguousarray(raw).tobytes())

    def read_raw(self, row: bytes, raw: bytes | None = None) -> None:
        """The state after a step as the engine holds it, for `decode` to read later; the hash is over `raw`, or it."""
        self._begin_sample()
        self._raw_rows.append(row)
        self._filled += 1
        if raw is not None:
            self._raw_given = True
            self._digest.update(raw)

    def _begin_sample(self) -> None:
        self._step += 1
        if self._filled == self._block:
            self._flush(last=False)

    def wants_contacts(self, step: int) -> bool:
        """Whether the state after this step and the one before are both samples: the momentum balance needs both."""
        return step % self._watch_every == self._watch_at and step > 0

    def add_contacts(self, a: Any, b: Any, point: Any, normal: Any, gap: Any, impulse: Any) -> None:
        """The contacts that the engine reports for the state just read, a row each; conventions as in `Contacts`.

        Arrays or sequences of K rows; copied: an engine's arrays are often views of what its next step overwrites.
        """
        if len(a):
            self._contacts.append(
                (
                    np.full(len(a), self._step),
                    *(np.array(part, np.int64) for part in (a, b)),
                    *(np.array(part, np.float64) for part in (point, normal, gap, impulse)),
                )
            )

    def trajectory(self) -> Trajectory:
        self._flush(last=True)
        steps = np.concatenate(self._sampled_steps)
        parts: dict[str, Any] = dict(zip(self._kind.STATE, map(np.concatenate, self._sampled_state)))
        return self._kind(
            **parts,
            time=np.asarray(steps * self.dt, np.float64),
            dt=self.dt,
            velocity_lag=self.velocity_lag,
            contact_tolerance=self.contact_tolerance,
            impact_time=self._impact_time,
            state_hash=self._digest.hexdigest(),
            contacts=self._contact_arrays(steps),
            internals=self._internals.at(steps),
        )

    # --- inside ---

    def _check_shapes(self, parts: Sequence[Any], rows: tuple[int, ...]) -> None:
        shapes = {name: (*rows, width) for name, width in self._kind.STATE.items()}
        found = [np.shape(part) for part in parts]
        kinds = [np.asarray(part).dtype for part in parts]
        if any(kind.kind not in "fiu" for kind in kinds):
            raise AnswerError(f"read returned arrays of {', '.join(map(str, kinds))}; they should be of float64")
        if found != [*shapes.values()]:
            wanted = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise AnswerError(f"read returned arrays of {', '.join(map(str, found))}; they should be {wanted}")

    def _flush(self, *, last: bool) -> None:
        """Store the samples of the block; its last two rows stay, for an impact in the first new step."""
        filled = self._filled
        if self._raw_rows:
            assert self._decode is not None, "read_raw() needs a Recorder with decode"
            raw = b"".join(self._raw_rows)
            self._decoded = True
            if not self._raw_given:
                self._digest.update(raw)
            decoded = self._decode(raw, len(self._raw_rows))
            self._check_shapes(decoded, (len(self._raw_rows), self._state[0].shape[1]))
            for array, part in zip(self._state, decoded):
                array[filled - len(self._raw_rows) : filled] = part
            self._raw_rows.clear()
        new = [array[:filled] for array in self._state]
        fresh = slice(0 if self._first == 0 else 2, filled)
        if not self._raw_given and not self._decoded:
            for array in new:
                self._digest.update(array[fresh].tobytes())
        step = self._first + np.arange(filled)
        chosen = regular_samples(step, self.dt) | (step <= self._sampled_until)
        if last:
            chosen[-1] = True
        met = 1 + np.flatnonzero(self._meets(new))  # rows whose step met something
        for offset in (-2, -1, 0, 1, 2):
            row = met + offset
            chosen[row[(row >= 0) & (row < filled)]] = True
        if met.size:
            self._sampled_until = int(step[met[-1]]) + 2
        done = self._sampled_steps[-1][-1] if self._sampled_steps else -1
        chosen &= step > done
        end = filled if last else filled - 2
        rows = np.flatnonzero(chosen[:end])
        if rows.size:
            self._sampled_steps.append(step[rows])
            for samples, array in zip(self._sampled_state, new):
                samples.append(array[rows].copy())
        if not last:
            for array in self._state:
                array[:2] = array[filled - 2 : filled].copy()
            self._first, self._filled = self._first + filled - 2, 2

    def _meets(self, state: list[Array]) -> Flags:
        """(rows - 1,): whether some free body changed its velocity by more than gravity can from row i to i + 1."""
        velocity, spin = (state[1][..., :2], state[1][..., 2:]) if self._planar else (state[2], state[3])
        jump = np.linalg.norm(np.diff(velocity, axis=0) - self._fall, axis=2)
        jump += self._radius * np.linalg.norm(np.diff(spin, axis=0), axis=2)
        return (jump[:, self._free] > self._jump).any(axis=1)

    def _contact_arrays(self, steps: Indices) -> Contacts | None:
        if not self._contacts:
            return None
        step, a, b, point, normal, gap, impulse = (np.concatenate(parts) for parts in zip(*self._contacts))
        sample = np.searchsorted(steps, step).astype(np.int64)
        return Contacts(sample=sample, a=a, b=b, point=point, normal=normal, gap=gap, impulse=impulse)
