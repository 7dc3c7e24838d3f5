"""What is on the playground: a scenario, what was changed of it, what was done to it while it ran, and the engines.

A `Setup` is all of it, as data: from one a scene follows, so what was on the screen can be repeated to the last bit,
and a text short enough for an address. Inputs are recorded by steps, and become a spring or a thruster of the scene.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from scenarios.catalogue import FAMILIES, scenario_of
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.fields import Data, Friction, Length, Name, NonNegative, Number, Positive, Rate, Restitution
from scenarios.forces import Spring, Thruster
from scenarios.scenario import ParameterError, Scenario
from scenarios.scene import Scene, SceneError, parse_scene
from scenarios.scene_error import explain
from validation.tools.playground import ENGINES

STEP = 1.0 / 240.0  # s
FRAME_RATE = 60.0  # frames/s of what runs
MOST_TEXT = 4096  # characters of a setup in an address
MOST_BYTES = 4 * 2**20  # of a setup unpacked
MOST_BODIES = 300
LONGEST = 600.0  # s
MOST_STEPS = 1_000_000
MOST_ENGINES = 4

Step = Annotated[int, Field(strict=True, ge=0, le=MOST_STEPS)]
Point = Annotated[tuple[Length, ...], Field(min_length=2, max_length=3)]


class SetupError(ValueError):
    """A setup that is none, or what of it cannot be run; one line."""


def between(step: int, dt: float) -> float:
    """s: half a step later. Engines take the forces of a step at its start or at its end; so what is done before a step
    acts in no earlier one, whichever they do."""
    return (step + 0.5) * dt


class Pull(Data):
    """A rubber band from a point of a body to a point that moved, linearly from one point to the next."""

    body: Name
    anchor: Point
    """In the body frame, m."""
    stiffness: Positive
    damping: NonNegative = 0.0
    start: Step
    every: Annotated[int, Field(strict=True, ge=1, le=10_000)]
    """Steps from one point to the next."""
    points: Annotated[tuple[Point, ...], Field(min_length=2, max_length=100_000)]

    @property
    def end(self) -> int:
        """The step at which it lets go."""
        return self.start + self.every * (len(self.points) - 1)

    def spring(self, dt: float, last: int | None = None) -> Spring:
        """Which acts from the first to the last point; of its path only so many `last` points, if that is given."""
        first = 0 if last is None else max(0, len(self.points) - last)
        path = [(between(self.start + self.every * k, dt), self.points[k]) for k in range(first, len(self.points))]
        return Spring(
            a=self.body,
            anchor_a=self.anchor,
            anchor_b=path[0][1],
            anchor_path=tuple(path),
            stiffness=self.stiffness,
            damping=self.damping,
        )


class Thrust(Data):
    """A force fixed in body axes at the centre of mass, switched on and off by a key."""

    body: Name
    force: Annotated[tuple[Number, ...], Field(min_length=2, max_length=3)]
    """N"""
    switched: Annotated[tuple[Step, ...], Field(min_length=1, max_length=10_000)]
    """Steps at which it goes on, off, on ..."""

    @model_validator(mode="after")
    def _steps_ascend(self) -> Self:
        if any(b <= a for a, b in zip(self.switched, self.switched[1:])):
            raise ValueError(f"switched: {self.switched} does not ascend; each step comes after the one before")
        return self

    def thruster(self, dt: float) -> Thruster:
        profile: list[tuple[float, float]] = [(0.0, 0.0)]
        for k, step in enumerate(self.switched):
            profile += [(between(step, dt), float(k % 2)), (between(step, dt), float((k + 1) % 2))]
        still = (0.0,) * len(self.force)
        return Thruster(body=self.body, anchor=still, force=self.force, profile=tuple(profile))


class BodyChange(Data):
    """Of one body what is other than in the scenario."""

    position: Point | None = None
    angle: Number | None = None
    orientation: tuple[Number, Number, Number, Number] | None = None
    velocity: Annotated[tuple[Rate, ...], Field(min_length=2, max_length=3)] | None = None
    mass: Positive | None = None


class Setup(Data):
    """All of it. One of `scenario`, `scene` and `stored` names what it begins with."""

    format: Literal[1] = 1
    scenario: str = ""
    """As typed on the command line: stack:n=6; of the catalogue."""
    scene: dict[str, Any] | None = None
    """As in a scene file."""
    stored: str = ""
    """Content hash of a scene in the database."""
    gravity: Annotated[tuple[Rate, ...], Field(min_length=2, max_length=3)] | None = None
    friction: Friction | None = None
    restitution: Restitution | None = None
    damping: NonNegative | None = None
    """kg/s, linear, of every body"""
    duration: Annotated[float, Field(strict=True, gt=0, le=LONGEST, allow_inf_nan=False)] | None = None
    bodies: dict[Name, BodyChange] = Field(default_factory=dict)
    dt: Annotated[float, Field(strict=True, ge=1e-5, le=0.1, allow_inf_nan=False)] = STEP
    pulls: Annotated[tuple[Pull, ...], Field(max_length=1000)] = ()
    thrusts: Annotated[tuple[Thrust, ...], Field(max_length=1000)] = ()
    engines: Annotated[tuple[str, ...], Field(min_length=1, max_length=MOST_ENGINES)] = ENGINES

    @model_validator(mode="after")
    def _begins_with_one_thing(self) -> Self:
        if sum((bool(self.scenario), self.scene is not None, bool(self.stored))) != 1:
            raise ValueError("scenario: give one of scenario, scene and stored")
        return self

    @property
    def every(self) -> int:
        """Steps from one frame to the next."""
        return max(1, round(1.0 / (FRAME_RATE * self.dt)))


SETUP: TypeAdapter[Setup] = TypeAdapter(Setup)
Fetch = Callable[[str], Scene]
"""The stored scene of a content hash. Raises SetupError."""


def parse_setup(data: Any) -> Setup:
    """Raises SetupError: field, value, what is allowed."""
    try:
        return SETUP.validate_python(data)
    except ValidationError as error:
        raise SetupError(f"setup: {explain(error, SETUP)}") from None


def setup_of(scenario: str, engines: Sequence[str], dt: float | None) -> Setup:
    """Of a word of the command line, which may be a scene file. Raises ParameterError, SceneError, SetupError."""
    found = scenario_of(scenario)
    given: dict[str, Any] = {"scenario": found.label}
    if found.from_file:
        given = {"scene": found.scene.model_dump(mode="json")}
    if engines:
        given["engines"] = list(engines)
    return parse_setup(given | ({} if dt is None else {"dt": dt}))


def packed(setup: Setup) -> str:
    """A text of letters, digits, - and _ that `unpacked` reads; what is as by default is left out."""
    data = json.dumps(setup.model_dump(mode="json", exclude_defaults=True), separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(data.encode(), 9)).decode().rstrip("=")


def unpacked(text: str) -> Setup:
    """Raises SetupError for a text that `packed` has not made."""
    try:
        bytes_of = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        reader = zlib.decompressobj()
        data = reader.decompress(bytes_of, MOST_BYTES)
        if not reader.eof:
            raise SetupError(f"the address: cut short, or more than {MOST_BYTES >> 20} MB; open the whole link")
        return parse_setup(json.loads(data))
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        if isinstance(error, SetupError):
            raise
        raise SetupError(f"the address: not a setup of the playground ({error}); open the whole link") from None


def begun_with(setup: Setup, fetch: Fetch) -> Scenario:
    """What it begins with, unchanged. Raises SetupError."""
    try:
        if setup.stored:
            return scenario_from_scene("shared", fetch(setup.stored))
        if setup.scene is not None:
            return scenario_from_scene("scene", parse_scene(setup.scene))
        name = setup.scenario.partition(":")[0]
        if name not in FAMILIES:  # a path is none: whoever reaches the page would read files by it
            raise SetupError(f"scenario: {name!r:.200} is not in the catalogue; known: {', '.join(FAMILIES)}")
        return scenario_of(setup.scenario)
    except (ParameterError, SceneError) as error:
        raise SetupError(f"{error!s:.2000}") from None


def scenario_in(setup: Setup, fetch: Fetch) -> Scenario:
    """What it comes to; the scenario with its truth where nothing was changed. Raises SetupError."""
    scenario = begun_with(setup, fetch)
    data = scenario.scene.model_dump(mode="json")
    changed = json.dumps(data)
    _change(setup, data)
    if setup.pulls or setup.thrusts:
        data["springs"] += [pull.spring(setup.dt).model_dump(mode="json") for pull in setup.pulls]
        data["thrusters"] += [thrust.thruster(setup.dt).model_dump(mode="json") for thrust in setup.thrusts]
    if json.dumps(data) == changed:
        scene = scenario.scene
    else:
        try:
            scene = parse_scene(data)
        except SceneError as error:
            raise SetupError(str(error)) from None
        scenario = scenario_from_scene(scenario.label.partition(":content=")[0], scene)
    if len(scene.bodies) > MOST_BODIES:
        raise SetupError(f"{len(scene.bodies)} bodies are too many to play with; allowed: up to {MOST_BODIES}")
    if scene.duration > min(LONGEST, MOST_STEPS * setup.dt):
        longest = min(LONGEST, MOST_STEPS * setup.dt)
        raise SetupError(f"duration: {scene.duration:g} s is too long to play with; allowed: up to {longest:g} s")
    return scenario


def _change(setup: Setup, data: dict[str, Any]) -> None:
    """What was set by sliders and by dragging, in a scene as JSON data. Raises SetupError."""
    for name in ("gravity", "duration"):
        if getattr(setup, name) is not None:
            data[name] = getattr(setup, name)
    if setup.damping is not None:
        data["damping"]["linear"] = setup.damping
    for name in ("friction", "restitution"):
        value = getattr(setup, name)
        if value is None:
            continue
        if data["contact"].get("compliant"):
            raise SetupError(f"{name}: contact is compliant here, its law is of materials; leave it out")
        for member in (*data["bodies"], *data["boundaries"]):
            member[name] = value
        for pair in data["contact"]["pairs"]:
            if pair[name] is not None:
                pair[name] = value
    known = {body["name"]: body for body in data["bodies"]}
    for name, change in setup.bodies.items():
        if name not in known:
            raise SetupError(f"bodies: {name!r:.200} is no body of this scene; known: {', '.join(list(known)[:8])}")
        given = change.model_dump(mode="json", exclude_none=True)
        wrong = [field for field in given if field not in known[name]]
        if wrong:
            raise SetupError(f"bodies.{name}.{wrong[0]}: not in a scene of this dimension; leave it out")
        known[name] |= given
