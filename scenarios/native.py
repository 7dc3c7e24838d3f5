"""A model in an engine's own language (MJCF, URDF) beside the scene that describes it.

The engine loads the model's files as they are. What it has loaded is described as a scene in space: bodies with their
shapes, masses and joints, read through the engine's own functions. That scene is for measuring alone; `Native` says
which model it is of, which pieces may collide, and what of the model the scene does not have.
"""

import base64
import binascii
import hashlib
import itertools
import json
import zlib
from bisect import bisect_right
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from reference_engine.array_types import Flags
from scenarios.fields import Data, NonNegative, Number, Positive, not_stated

Language = Literal["mjcf", "urdf", "sdf", "python"]
"""Of a function that builds an engine's own world: python, which a user names and no file calls for."""
ENDINGS = (".xml", ".mjcf", ".urdf", ".sdf")
"""Of files that are models."""
MOST_FILES = 5000
SAME_STEP = 1e-6  # of the model's step: a control whose time is as much later is of this step
MOST_TEXT = 500  # characters of a path, or of what is not measured
FUNCTION = r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*$"
Path = Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]


def _is_empty(value: object) -> bool:
    return not value


class ModelFile(Data):
    """One file of a model, by its path below the model's root."""

    path: Path
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(strict=True, ge=0)]
    data: Annotated[str, Field(exclude_if=_is_empty)] = ""
    """Its bytes, packed by zlib, in base64; left out where only the description is wanted."""

    @model_validator(mode="after")
    def _is_below_the_root(self) -> Self:
        steps = self.path.split("/")
        if self.path.startswith("/") or "\\" in self.path or "\0" in self.path or {"", ".", ".."} & set(steps):
            raise ValueError(f"path: {self.path!r:.80} is not a path below the model's root; allowed: such as a/b.xml")
        return self

    @classmethod
    def of(cls, path: str, content: bytes) -> "ModelFile":
        data = base64.b64encode(zlib.compress(content, 6)).decode()
        return cls(path=path, sha256=hashlib.sha256(content).hexdigest(), size=len(content), data=data)

    def content(self) -> bytes:
        """Raises ValueError where the data is not what the digest is of."""
        unpacker = zlib.decompressobj()
        try:
            found = unpacker.decompress(base64.b64decode(self.data, validate=True), self.size + 1)
        except (binascii.Error, zlib.error):
            found = b""
        if hashlib.sha256(found).hexdigest() != self.sha256:
            raise ValueError(f"{self.path}: the stored file is damaged or left out")
        return found


class Controls(Data):
    """Of actuators, over time: each row holds from its time until the next one's."""

    times: tuple[Number, ...] = ()  # s, ascending; (): a row for each time step that the model asks for
    rows: tuple[tuple[Number, ...], ...]  # of each time, one for each actuator

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.times) not in (0, len(self.rows)) or not self.rows:
            raise ValueError(f"controls: {len(self.rows)} rows at {len(self.times)} times; allowed: one at each")
        if list(self.times) != sorted(self.times):
            raise ValueError("controls: their times decrease; list them in ascending order")
        if len({len(row) for row in self.rows}) > 1:
            raise ValueError("controls: rows of several lengths; allowed: one number for each actuator")
        return self

    def row_at(self, time: float, own_step: float) -> tuple[float, ...] | None:
        """The row that holds over the step that begins at this time, s; None before the first. `own_step`: s, of the
        model. A row that is later by less than SAME_STEP of it is of this step."""
        now = time + SAME_STEP * own_step
        at = bisect_right(self.times, now) - 1 if self.times else min(int(now / own_step), len(self.rows) - 1)
        return self.rows[at] if at >= 0 else None


class Start(Data):
    """Where a model starts: as it is, or at a keyframe, or at given values of the engine's own state; and the controls
    that it is moved by."""

    keyframe: Annotated[str | None, Field(max_length=MOST_TEXT, exclude_if=not_stated)] = None
    values: Annotated[dict[str, tuple[Number, ...]], Field(exclude_if=_is_empty)] = Field(default_factory=dict)
    """By the engine's names of them: qpos, qvel, act, ctrl, mocap_pos, mocap_quat."""
    controls: Annotated[Controls | None, Field(exclude_if=not_stated)] = None


ProbeKind = Literal["settle", "hold", "drop", "push", "tip", "separation"]


class Probe(Data):
    """What is done to a model at its start, before it is let go.

    settle: nothing. hold: position servos are given the positions that they have. drop: every free body is raised by
    `size`, m. push: the free body has an impulse of `size`, N s, along the world's first axis, at its centre of mass.
    tip: the free body is turned by `size`, rad, about that axis, and raised by `lift`, m.
    separation: the free body is moved by `first`, m, along `direction`, then away from `other` by `size`, m, in each
    step; nothing else moves.
    """

    kind: ProbeKind
    body: str = ""  # of the scene that describes the model
    other: Annotated[str, Field(exclude_if=_is_empty)] = ""  # likewise, or a boundary
    size: NonNegative = 0.0
    lift: NonNegative = 0.0
    first: Annotated[Number, Field(exclude_if=_is_empty)] = 0.0
    direction: Annotated[tuple[Number, Number, Number] | None, Field(exclude_if=not_stated)] = None

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.kind, self.body, self.other and f"from {self.other}")))


class Perturbation(Data):
    """Of the start: each coordinate moved by less than `size`, drawn anew for each number."""

    seed: int
    number: int
    size: Positive


class Model(Data):
    """The files of a model and its start."""

    language: Language
    file: Path  # the one that is loaded; the others are those that it includes
    files: Annotated[tuple[ModelFile, ...], Field(min_length=1, max_length=MOST_FILES)]
    start: Start = Start()
    others: Annotated[tuple[Start, ...], Field(exclude_if=_is_empty)] = ()
    """More starts: with the first they are one ensemble."""
    probe: Annotated[Probe | None, Field(exclude_if=not_stated)] = None
    perturbation: Annotated[Perturbation | None, Field(exclude_if=not_stated)] = None
    function: Annotated[str | None, Field(exclude_if=not_stated, pattern=FUNCTION)] = None
    """Of python: module:name. It is imported from where it is; its files are known by their digests, and never run out
    of a store."""

    def digest(self, duration: float) -> str:
        """SHA-256 of files and start: the identity of what is run, whatever an engine makes of it."""
        files = [(one.path, one.sha256) for one in self.files]
        given: list[Any] = [self.language, self.file, files, self.start.model_dump(mode="json"), duration]
        if self.others:
            given.append([one.model_dump(mode="json") for one in self.others])
        if self.probe is not None:
            given.append(self.probe.model_dump(mode="json"))
        if self.function is not None:
            given.append(self.function)
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()

    def without_data(self) -> "Model":
        return self.model_copy(update={"files": tuple(one.model_copy(update={"data": ""}) for one in self.files)})


Filter = tuple[int, int, int]
"""Of a piece: the bits of its kind, the bits of the kinds that it collides with, and the body that it is of in the
model."""


class JointLimit(Data):
    """Of a hinge, rad, or a slider, m: from `low` to `high`, and where it is at the start."""

    joint: str
    low: Number
    high: Number
    start: Number


class Native(Data):
    """Which model a scene describes, and what the scene itself cannot say of it."""

    model: Model
    step: Positive
    """s, the time step that the model asks for."""
    filters: tuple[tuple[Filter, ...], ...]
    """Of each body, then each boundary, one for each of its pieces. Two pieces collide where the bits of one's kind and
    those that the other collides with have one in common."""
    both: Annotated[bool, Field(exclude_if=_is_empty)] = False
    """Whether those of each have to be among what the other collides with."""
    apart: tuple[tuple[int, int], ...] = ()
    """Pairs of bodies of the model that pass through one another."""
    paired: tuple[tuple[int, int], ...] = ()
    """Pairs of pieces, counted through `filters`, that collide whatever the bits say."""
    acted_on: tuple[str, ...] = ()
    """Bodies on which forces act that the scene does not have: actuators, tendons, springs at joints."""
    limits: tuple[JointLimit, ...] = ()
    lines: Annotated[tuple[str, ...], Field(exclude_if=_is_empty)] = ()
    """Fixed bodies that are lines, however thick: what is deeper in one than half its width has not passed it."""
    conserves: bool
    """Whether no such force can add energy to the bodies, or store it, that is not summed beside the motion."""
    sums: Annotated[bool, Field(exclude_if=_is_empty)] = False
    """Whether what they add and store is summed (`validation.records.trajectory.Internals`)."""
    free: Annotated[tuple[str, ...], Field(exclude_if=_is_empty)] = ()
    """Bodies that no joint ties."""
    sweeps: Annotated[bool, Field(exclude_if=bool)] = True
    """Whether its engine sweeps a body away from another (the probe "separation")."""
    servos: Annotated[tuple[str, ...], Field(exclude_if=_is_empty)] = ()
    """Position servos of the model."""
    controls: Annotated[tuple[tuple[Number, Number], ...], Field(exclude_if=_is_empty)] = ()
    """Of each actuator the range of its control; what has none from -1 to 1."""
    rates: Annotated[int, Field(exclude_if=_is_empty, ge=0)] = 0
    """Degrees of freedom whose rates a start may state, as `qvel`."""
    overlap: NonNegative = 0.0
    """m, the deepest at the start, by the engine: the model has it so."""
    unmeasured: tuple[Annotated[str, Field(max_length=MOST_TEXT)], ...] = ()
    """What of the model is not measured, each by name."""

    def colliding(self, fixed: list[bool]) -> Flags:
        """(P, P), symmetric: which pieces may collide; `fixed`: which members do not move."""
        flat = np.array(list(itertools.chain.from_iterable(self.filters)), np.int64).reshape(-1, 3)
        owner = np.repeat(np.arange(len(self.filters)), [len(one) for one in self.filters])
        kind, meets, body = flat.T
        found: Flags = (kind[:, None] & meets) != 0
        found = found & found.T if self.both else found | found.T
        for a, b in self.apart:
            at_a, at_b = body == a, body == b
            found[np.ix_(at_a, at_b)] = False
            found[np.ix_(at_b, at_a)] = False
        for a, b in self.paired:
            found[a, b] = found[b, a] = True
        still = np.array(fixed)[owner]
        found[still[:, None] & still] = False
        found[owner[:, None] == owner] = False
        return found

    def pairs(self, fixed: list[bool]) -> list[tuple[int, int]]:
        """Of members, a < b, of which some pieces may collide."""
        pieces = self.colliding(fixed)
        counts = [len(one) for one in self.filters]
        first = np.cumsum([0, *counts[:-1]])
        members = np.logical_or.reduceat(np.logical_or.reduceat(pieces, first, axis=0), first, axis=1)
        return [(int(a), int(b)) for a, b in np.argwhere(np.triu(members, 1))]


def lean(scene: Any) -> Any:
    """The scene without the data of its model's files: all that measuring needs."""
    if getattr(scene, "native", None) is None:
        return scene
    native = scene.native.model_copy(update={"model": scene.native.model.without_data()})
    return scene.model_copy(update={"native": native})
