"""What an engine did: two frozen types, planar and spatial, with one protocol. All SI, world axes.

Format version 1, guarded by a golden file in the tests. `to_bytes` and `from_bytes` carry a trajectory over a pipe
or into the store.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from reference_engine.array_types import Array, Indices
from validation.records.text import one_line

FORMAT = 1
GONE = 1e9  # m, m/s, rad/s: what is beyond in a motion that broke shows nothing


class TrajectoryError(ValueError):
    """Arrays that are no trajectory: wrong shape, decreasing time, unknown format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contacts:
    """Contacts as the engine reports them, ragged: C rows, each of one sample. Evidence, not measurement.

    a and b index the scene's bodies, then its boundaries. The normal points from a to b; the impulse acts on b
    during the step that ends at the sample, and is NaN where the engine does not say.
    """

    sample: Indices  # (C,) index into time
    a: Indices  # (C,)
    b: Indices  # (C,)
    point: Array  # (C, 2 or 3) m
    normal: Array  # (C, 2 or 3)
    gap: Array  # (C,) m, negative in penetration
    impulse: Array  # (C, 2 or 3) N s


@dataclass(frozen=True, slots=True, kw_only=True)
class Impacts:
    """Impacts as the engine reports them: E rows, in order of time. Where contact lasts, its first touch and its end.

    The normal points from a to b. None: the engine does not say.
    """

    time: Array  # (E,) s
    a: Indices  # (E,)
    b: Indices  # (E,)
    point: Array  # (E, 2 or 3) m
    impulse: Array  # (E, 2 or 3) N s, on b; NaN where the engine does not say
    normal: Array | None = None  # (E, 2 or 3)
    gap: Array | None = None  # (E,) m
    approach: Array | None = None  # (E,) m/s, at which the two close
    restitution: Array | None = None  # (E,) the nominal coefficient that holds
    parting: Indices | None = None  # (E,) 1 where a contact that lasted ends; None: there is none such


@dataclass(frozen=True, slots=True, kw_only=True)
class Internals:
    """What an engine's process reads of a model beside the motion, of what no scene has; (S,) each, by sample. None:
    the model has no such thing.

    Works are summed over every step, and errors are the largest since the sample before, never those of samples alone.
    """

    stored: Array | None = None
    """J: in springs of joints and tendons and in rotors (armature); and what the velocity lag leaves out of the kinetic
    energy of the bodies, which is that of their recorded velocities."""
    actuators: Array | None = None  # J, work of actuators on the bodies since the start
    passive: Array | None = None  # J, of damping, friction and springs' dampers at joints and tendons, of the medium,
    # and of gravity compensation
    constraints: Array | None = None  # J, of limits and equalities
    given: Array | None = None  # J, of a given motion on the free bodies
    tracking_angle: Array | None = None  # rad, from control to position, of the position servo that is furthest off
    tracking_travel: Array | None = None  # m, likewise
    equality_angle: Array | None = None  # rad, by which an equality is open
    equality_gap: Array | None = None  # m, likewise
    limit_angle: Array | None = None  # rad, beyond limits, of hinges and balls whose angles poses do not give alone
    limit_travel: Array | None = None  # m, likewise of sliders
    tendon_excess: Array | None = None  # m, by which a tendon is shorter or longer than its limits
    in_contact: Array | None = None  # 1 where the two bodies of a sweep are, by the engine; else 0
    iterations: Array | None = None  # of the constraint solver
    residual: Array | None = None  # what it ended with: of the scaled gradient, or improvement


SUMMED = ("actuators", "passive", "constraints", "given")
"""Of `Internals`: given for each step, and summed."""
AS_THEY_ARE = ("stored", "tracking_angle", "tracking_travel", "in_contact")
"""Taken at the samples; the largest since the sample before of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trajectory:
    STATE: ClassVar[Mapping[str, int]]
    """What is sampled of each body, and how many numbers that is."""

    time: Array  # (S,) s, of the poses; not decreasing; a repeated time stands before and after an impact
    dt: float  # s, the engine's step
    velocity_lag: float  # s, time of the velocities minus time of the poses, as the integrator has it
    contact_tolerance: float = 0.0  # m, the largest gap at which the engine still holds bodies in contact at rest
    impact_time: float = 0.0  # s, for how long a bounce stays in contact by the engine's law; 0: a step at most
    left_open_from: float | None = None
    """s, from when on other contact forces obey all laws, too, and move the bodies otherwise: the motion is one of many
    from there. None: it is the only one, or the engine does not say."""
    state_hash: str = ""
    """SHA-256 over every step's raw state as the engine holds it; of time, pose and twist where it gives none."""
    contacts: Contacts | None = None
    impacts: Impacts | None = None
    internals: Internals | None = None

    def __post_init__(self) -> None:
        for name in self._shapes(0, 0):
            if type(getattr(self, name)) is not np.ndarray:  # a mask, or methods of its own, would hide numbers
                raise TrajectoryError(f"{name}: a {type(getattr(self, name)).__name__}; expected an array of float64")
        samples, bodies = self.time.size, self.velocity.shape[1] if self.velocity.ndim == 3 else -1
        for name, shape in self._shapes(samples, bodies).items():
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != shape:
                raise TrajectoryError(f"{name}: {array.dtype} {array.shape}, expected float64 {shape}")
        if samples == 0 or np.any(np.diff(self.time) < 0):
            raise TrajectoryError("time: empty or decreasing")
        for name, array in _given(self.internals).items():
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != (samples,):
                raise TrajectoryError(f"internals.{name}: expected an array of float64 {(samples,)}")
        if not self.state_hash:
            digest = hashlib.sha256()
            for name in self._shapes(samples, bodies):
                digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
            object.__setattr__(self, "state_hash", digest.hexdigest())

    @property
    def velocity(self) -> Array:
        raise NotImplementedError

    def _shapes(self, samples: int, bodies: int) -> dict[str, tuple[int, ...]]:
        return {"time": (samples,)} | {name: (samples, bodies, width) for name, width in self.STATE.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarTrajectory(_Trajectory):
    """S samples of B bodies, in the order of the scene's bodies."""

    STATE: ClassVar[Mapping[str, int]] = {"pose": 3, "twist": 3}

    pose: Array  # (S, B, 3) x, y of the centre of mass in m; angle in rad, unwrapped
    twist: Array  # (S, B, 3) vx, vy in m/s; spin in rad/s

    @property
    def position(self) -> Array:
        """(S, B, 2) m"""
        return self.pose[..., :2]

    @property
    def angle(self) -> Array:
        """(S, B) rad, unwrapped"""
        return self.pose[..., 2]

    @property
    def velocity(self) -> Array:
        """(S, B, 2) m/s"""
        return self.twist[..., :2]

    @property
    def spin(self) -> Array:
        """(S, B) rad/s"""
        return self.twist[..., 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialTrajectory(_Trajectory):
    """S samples of B bodies, in the order of the scene's bodies."""

    STATE: ClassVar[Mapping[str, int]] = {"position": 3, "orientation": 4, "velocity": 3, "spin": 3}

    position: Array  # (S, B, 3) m, centre of mass
    orientation: Array  # (S, B, 4) unit quaternion (w, x, y, z), body to world
    velocity: Array  # (S, B, 3) m/s, of the centre of mass
    spin: Array  # (S, B, 3) rad/s, world axes


Trajectory = PlanarTrajectory | SpatialTrajectory
T = TypeVar("T", Contacts, Impacts)


def _given(table: Any) -> dict[str, Array]:
    """The columns that there are."""
    if not isinstance(table, Internals | None):
        raise TrajectoryError(f"internals: {table!r:.60}; expected Internals, or None")
    found = {} if table is None else {f.name: getattr(table, f.name) for f in fields(table)}
    return {name: array for name, array in found.items() if array is not None}


def with_samples(motion: Trajectory, time: Array, state: Mapping[str, Any]) -> Trajectory:
    """Other samples, (S,) times and (S, B, w) parts of the state, by the same engine; no contacts."""
    return replace(motion, time=time, **state, state_hash="", contacts=None, impacts=None, internals=None)


def first_samples(motion: Trajectory, count: int) -> Trajectory:
    """So many from the start, with the contacts and impacts reported in them."""
    contacts, impacts, internals = motion.contacts, motion.impacts, motion.internals
    if contacts is not None:
        contacts = _rows(contacts, contacts.sample < count)
    if impacts is not None:
        impacts = _rows(impacts, impacts.time <= motion.time[count - 1])
    if internals is not None:
        internals = Internals(**{name: array[:count] for name, array in _given(internals).items()})
    state: dict[str, Any] = {name: getattr(motion, name)[:count] for name in ("time", *motion.STATE)}
    return replace(motion, **state, state_hash="", contacts=contacts, impacts=impacts, internals=internals)


def first_not_finite(trajectory: Trajectory) -> tuple[float, int] | None:
    """Time and body of the first sample that is NaN or infinite; None where all are finite."""
    samples, bodies = trajectory.velocity.shape[:2]
    bad = np.zeros((samples, bodies), bool)
    for name in trajectory.STATE:
        bad |= ~np.isfinite(getattr(trajectory, name)).all(axis=2)
    if not bad.any():
        return None
    sample, body = divmod(int(np.argmax(bad)), bodies)
    return float(trajectory.time[sample]), body


def finite_section(trajectory: Trajectory) -> Trajectory | None:
    """What is before the first sample with a number that is not finite or above GONE, m or m/s; None where that is
    less than two samples."""
    within = np.ones(trajectory.time.size, bool)
    for name in trajectory.STATE:
        within &= (np.abs(getattr(trajectory, name)) < GONE).all(axis=(1, 2))
    if within.all():
        return trajectory
    samples = int(np.argmin(within))
    if samples < 2:
        return None
    return first_samples(trajectory, samples)


def determined_section(trajectory: Trajectory) -> Trajectory | None:
    """What is before the time from when on the motion is one of many; None where that is less than two samples."""
    if trajectory.left_open_from is None:
        return trajectory
    samples = int(np.searchsorted(trajectory.time, trajectory.left_open_from, side="right"))
    return first_samples(trajectory, samples) if samples > 1 else None


def _rows(table: T, chosen: NDArray[np.bool_]) -> T:
    given = {f.name: getattr(table, f.name) for f in fields(table)}
    return replace(table, **{name: array[chosen] for name, array in given.items() if array is not None})


def time_not_covered(trajectory: Trajectory, duration: float) -> str | None:
    """Why it is no motion from 0 to `duration`, s, to within a step; None where it is one."""
    first, last = float(trajectory.time[0]), float(trajectory.time[-1])
    if max(abs(first), abs(last - duration)) <= 1.001 * trajectory.dt:
        return None
    return f"its motion goes from {first:.6g} to {last:.6g} s; that of the scene from 0 to {duration:g} s"


# --- as bytes: one JSON line that lists the arrays, then their bytes in that order, little-endian ---------------


def to_bytes(trajectory: Trajectory) -> bytes:
    arrays: dict[str, NDArray[Any]] = {}
    header: dict[str, Any] = {"format": FORMAT, "planar": isinstance(trajectory, PlanarTrajectory)}
    for item in fields(trajectory):
        value = getattr(trajectory, item.name)
        if isinstance(value, np.ndarray):
            arrays[item.name] = value
        elif isinstance(value, (Contacts, Impacts, Internals)):
            parts = {f"{item.name}.{f.name}": getattr(value, f.name) for f in fields(value)}
            arrays |= {name: array for name, array in parts.items() if array is not None}
        elif value != item.default:
            header[item.name] = value
    header["arrays"] = [
        [name, "i8" if array.dtype.kind == "i" else "f8", list(array.shape)] for name, array in arrays.items()
    ]
    body = b"".join(
        np.ascontiguousarray(array, "<i8" if array.dtype.kind == "i" else "<f8").tobytes() for array in arrays.values()
    )
    return json.dumps(header).encode() + b"\n" + body


def from_bytes(data: bytes) -> Trajectory:
    """Raises TrajectoryError where the bytes are of another format, cut short, or anything but a trajectory."""
    line, separator, body = data.partition(b"\n")
    try:
        header = json.loads(line)
        entries = header.pop("arrays")
        planar, version = header.pop("planar"), header.pop("format")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise TrajectoryError(f"no trajectory header ({one_line(str(error), 200)})") from None
    if version != FORMAT or not separator:
        raise TrajectoryError(f"format {version!r:.20}: this Upright reads {FORMAT}; upgrade Upright")
    parts = _arrays(entries, body)
    try:
        contacts = Contacts(**parts["contacts"]) if parts["contacts"] else None
        impacts = Impacts(**parts["impacts"]) if parts["impacts"] else None
        internals = Internals(**parts["internals"]) if parts["internals"] else None
        given: dict[str, Any] = {**header, **parts[""]}
        given |= {"contacts": contacts, "impacts": impacts, "internals": internals}
        motion = PlanarTrajectory(**given) if planar else SpatialTrajectory(**given)
    except TypeError as error:
        raise TrajectoryError(one_line(str(error), 200)) from None
    for name in ("dt", "velocity_lag", "contact_tolerance", "impact_time", "left_open_from"):
        value = getattr(motion, name)
        if name == "left_open_from" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise TrajectoryError(f"{name} is {value!r:.60}; it should be a finite number")
    if not isinstance(motion.state_hash, str):
        raise TrajectoryError(f"state_hash is {motion.state_hash!r:.60}; it should be text")
    return motion


def _arrays(entries: Any, body: bytes) -> dict[str, dict[str, NDArray[Any]]]:
    """By group ("" for the trajectory's own) and name. Raises TrajectoryError."""
    parts: dict[str, dict[str, NDArray[Any]]] = {"": {}, "contacts": {}, "impacts": {}, "internals": {}}
    offset = 0
    for entry in entries if isinstance(entries, list) else [entries]:
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str)):
            raise TrajectoryError(f"arrays has {entry!r:.60}; it should be a list of names, types and shapes")
        (group, _, field), (name, kind, shape) = entry[0].rpartition("."), entry
        if kind not in ("i8", "f8"):
            raise TrajectoryError(f"{name:.60}: {kind!r:.60} is unknown; a type is i8 or f8")
        if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
            raise TrajectoryError(f"{name:.60}: shape {shape!r:.60}; it should be a list of whole numbers")
        if group not in parts or field in parts[group]:
            wrong = "stands twice" if group in parts else "is unknown"
            raise TrajectoryError(f"{name:.60}: {wrong}; each array stands once")
        count = math.prod(shape)
        if offset + 8 * count > len(body):
            raise TrajectoryError(f"{name:.60}: shape {shape!r:.60}, but the bytes end early")
        parts[group][field] = np.frombuffer(body, f"<{kind}", count, offset).reshape(shape)
        offset += 8 * count
    if offset != len(body):
        raise TrajectoryError(f"{len(body) - offset} more bytes than its arrays have")
    return parts
