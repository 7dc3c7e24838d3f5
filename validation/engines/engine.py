"""The interface: an engine turns a scene into a trajectory. It knows no metric, no store, no scenario.

Twenty lines make one (docs/adapters.md). Asked of it are `name`, `version`, `declines(scene)` and
`simulate(scene, dt, settings)`, which `SteppingEngine` has for engines that build a world and step it.
`settings` (what can be set, with types and ranges) and `profiles` (named choices of them) are optional.
"""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from scenarios.native import Model
from scenarios.scene import Scene
from validation.engines.queries import Query, contacts_of_step
from validation.engines.relations import Relation
from validation.engines.shared.importing import Beside, Imported, stands_alone
from validation.engines.shared.recorder import World, record
from validation.engines.takes import not_taken
from validation.records.case import Value as Value
from validation.records.queries import Answers, Poses
from validation.records.trajectory import Trajectory

Settings = Mapping[str, Value]
QUERY_STEP = 1e-3  # s, of a world that is built to be asked
DOUBLE, SINGLE = 2.0**-53, 2.0**-24
"""Unit round-off, relative, of an engine's numbers."""


class SettingError(ValueError):
    """A setting or profile that the engine does not have, or a value out of range; one line."""


class DeclinedError(RuntimeError):
    """Raised by `simulate` of an engine that only then knows that it cannot represent the scene; the reason."""


class NotFiniteError(ArithmeticError):
    """Raised by an adapter whose engine noticed NaN or infinity itself (MuJoCo resets silently)."""


class ModelError(ValueError):
    """A model that the engine does not load, or a start that it does not have; one line."""


Fuzzed = Literal["both", "more", "less", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing that can be set: its engine's own default, what it does, what is allowed."""

    default: Value
    doc: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    fuzzed: Fuzzed = "both"
    """Which other values fuzzing may draw and not leave what the engine's documents stand for: both; only more (sweeps
    of a solver) or only less (a tolerance), for the other side is documented to be worse; none, as of what stands in
    for a shape that the engine does not have."""
    at_most: str = ""
    """The setting that this one does not exceed, by the engine's documents."""

    @property
    def allowed(self) -> str:
        if self.choices:
            return " | ".join(self.choices)
        if isinstance(self.default, bool):
            return "true | false"
        kind = "integer" if isinstance(self.default, int) else "number" if isinstance(self.default, float) else "text"
        if self.low == -math.inf and self.high == math.inf:
            return kind
        return f"{kind} {self.low:g} to {self.high:g}"


Ability = Literal["set_state", "apply_force", "options"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Able:
    """Whether an engine has an ability of `validation.engines.shared.recorder.World`; how well, or why not."""

    works: bool
    note: str


def able(*, set_state: str, apply_force: str, options: str) -> Mapping[Ability, Able]:
    """For an engine that has them all: how well."""
    notes: dict[Ability, str] = {"set_state": set_state, "apply_force": apply_force, "options": options}
    return {ability: Able(works=True, note=note) for ability, note in notes.items()}


class Engine(Protocol):
    name: str
    version: str
    settings: Mapping[str, Setting]
    profiles: tuple[str, ...]
    """"default": out of the box; "fair": its best documented settings for such a scene."""

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        """The settings in which the profile differs from the defaults, for this scene and step."""
        ...

    def declines(self, scene: Scene) -> str | None:
        """Why this engine cannot represent the scene, as it stands in the report; None where it can."""
        ...

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """The motion over scene.duration. `settings` is complete. Runs in a process of its own: may crash in peace."""
        ...


class SteppingEngine:
    """What an engine has that steps a world: the record loop, and what it declines by its lists.

    A subclass has name, version and settings as `Engine` does, the lists below, and `build`.
    """

    profiles: tuple[str, ...] = ("default",)
    fair: ClassVar[Mapping[str, Value]] = {}
    """Settings of the profile "fair"; where they depend on the scene or the step, `profile` says."""

    takes: ClassVar[frozenset[str]] = frozenset()
    """Features of scenes (`scenarios.features`); one with any other is declined."""
    because: ClassVar[Mapping[str, str]] = {}
    """Of a feature that is not taken, the reason in the engine's own terms; else it is named."""
    abilities: ClassVar[Mapping[Ability, Able]] = {}
    own_step: ClassVar[bool] = False
    """Whether it has a time step of its own, as a setting, whatever the run's is."""
    relations: ClassVar[tuple[Relation, ...]] = ()
    """What the engine's documents promise of one step taken in two ways; with settings that this version has."""
    round_off: ClassVar[float] = DOUBLE
    queries: ClassVar[Mapping[str, Query]] = {}
    """What it can be asked of two shapes without a motion, by name; the first is the one that tells most."""
    loads: ClassVar[frozenset[str]] = frozenset()
    """Languages of models (`scenarios.native.Language`) that it loads as they are."""
    settings_of_models: ClassVar[Mapping[str, Setting]] = {}
    """What may be set of such a model, some of it of models alone; all else is the model's own affair."""
    same_bits_everywhere: ClassVar[bool] = False
    """Whether it uses neither the C library's functions nor instructions that not every processor has."""

    def build(self, scene: Scene, dt: float, settings: Settings) -> World:
        """The scene at time 0; it is one that the engine does not decline, and `settings` is complete."""
        raise NotImplementedError

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> Scene:
        """The scene of what it has loaded, of one of the languages that it `loads`. `settings`: those of
        `settings_of_models` that are given. Raises ModelError, SceneError."""
        raise NotImplementedError

    def stand_alone(self, model: Model, duration: float, title: str, settings: Settings) -> Imported:
        """Likewise a scene that stands alone, for any engine, and what of the model it does not have; here what its
        description does not measure."""
        scene = self.describe(model, duration, title, settings)
        return stands_alone(scene, Beside(), scene.native.unmeasured if scene.native is not None else ())

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        """Of each pose of the scene's two bodies by itself; one of `queries`. Here: the contacts of a step."""
        return contacts_of_step(lambda: self.build(scene, QUERY_STEP, settings), scene, poses)

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        return dict(self.fair) if name == "fair" else {}

    def cannot(self, scene: Scene) -> str | None:
        """Why not, of a scene of which every feature is taken: what no list of features can say."""
        return None

    def declines(self, scene: Scene) -> str | None:
        native = getattr(scene, "native", None)
        return not_taken(self, scene) or (self.cannot(scene) if native is None else None)

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        return record(self.build(scene, dt, settings), scene, dt)


def resolve_settings(
    engine: Any, profile: str, overrides: Mapping[str, Value], scene: Scene, dt: float
) -> dict[str, Value]:
    """Complete settings: defaults, then the profile's, then the overrides. Raises SettingError."""
    if getattr(scene, "native", None) is not None:  # it has its own, and is run as it is
        return settings_of_model(engine, overrides)
    table: Mapping[str, Setting] = getattr(engine, "settings", {})
    profiles = getattr(engine, "profiles", ("default",))
    # "fair" is what a run asks of every engine; one without it runs as it is out of the box.
    if profile not in (*profiles, "default", "fair"):
        near = difflib.get_close_matches(profile, profiles, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise SettingError(f"{engine.name}: unknown profile {profile!r}{hint} (it has: {', '.join(profiles)})")
    settings = {name: setting.default for name, setting in table.items()}
    if hasattr(engine, "profile") and profile in engine.profiles:
        own = engine.profile(profile, scene, dt)
        if not isinstance(own, Mapping):
            found = f"{own!r:.60} ({type(own).__name__})"
            raise TypeError(f"{engine.name}: profile returned {found}; it should be a dict of settings and values")
        settings |= own
    return settings | check_overrides(engine, overrides)


def settings_of_model(engine: Any, overrides: Mapping[str, Value]) -> dict[str, Value]:
    """Those that are given for a model in the engine's own language. Raises SettingError, one line."""
    table: Mapping[str, Setting] = getattr(engine, "settings_of_models", {})
    for name in overrides:
        if name in getattr(engine, "settings", {}) and name not in table:
            raise SettingError(f"{engine.name}:{name}: a model has its own; allowed: {', '.join(sorted(table))}")
    return check_overrides(engine, overrides, table)


def check_overrides(
    engine: Any, overrides: Mapping[str, Value], table: Mapping[str, Setting] | None = None
) -> dict[str, Value]:
    """Overrides (text from the command line, or values) with their types; `table`: what there is to set. Raises
    SettingError, one line."""
    table = getattr(engine, "settings", {}) if table is None else table
    checked: dict[str, Value] = {}
    for name, value in overrides.items():
        if name not in table:
            near = difflib.get_close_matches(name, table, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingError(
                f"{engine.name}: unknown setting {name!r}{hint} (it takes: {', '.join(table) or 'none'})"
            )
        checked[name] = _convert(f"{engine.name}:{name}", value, table[name])
    return checked


def _convert(path: str, value: Value, setting: Setting) -> Value:
    wrong = SettingError(f"{path}: {value!r} is not allowed; allowed: {setting.allowed}")
    if setting.choices:
        if value not in setting.choices:
            raise wrong
        return value
    if isinstance(setting.default, bool):
        flag = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower())
        if flag is None:
            raise wrong
        return flag
    if isinstance(setting.default, str):
        return str(value)
    try:
        number = float(value)
    except ValueError:
        raise wrong from None
    if not math.isfinite(number) or not setting.low <= number <= setting.high:
        raise wrong
    if isinstance(setting.default, int):
        if number != int(number):
            raise wrong
        return int(number)
    return number
