"""What can be changed on the playground, each with its range and unit: of the scenario, of the scene, of an engine."""

import math
import typing
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from scenarios.catalogue import FAMILIES
from scenarios.scenario import Scenario, Value, Within, token_of
from scenarios.scene import Scene
from validation.engines.engine import Setting
from validation.records.names import without_underscores
from validation.tools.playground.setup import LONGEST, Setup

DECADES = 1e3  # a range from above 0 over more than this factor moves in powers of ten
STRONGEST_GRAVITY = 30.0  # m/s^2
WIDE = 1e3  # of a setting without a limit: so many times its default, either way


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider:
    """A range, a choice of words, or yes or no."""

    group: str  # "scenario", "scene", "bodies", or the engine's label
    name: str
    title: str
    value: Value
    default: Value
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    whole: bool = False
    powers: bool = False
    """Moves in powers of ten."""
    choices: tuple[str, ...] = ()
    help: str = ""


def sliders_of(setup: Setup, scenario: Scenario) -> list[dict[str, Any]]:
    """As JSON data: the scenario's parameters and the scene's quantities, with their values now."""
    own = list(_of_scenario(setup, scenario))
    named = {slider.name for slider in own}  # a scenario's own friction is the scene's
    return [asdict(slider) for slider in (*own, *(s for s in _of_scene(setup, scenario.scene) if s.name not in named))]


def sliders_of_engine(
    label: str, table: Mapping[str, Setting], values: Mapping[str, Value], given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Likewise of an engine: its settings with their defaults, and the values of `given` where there are."""
    found = []
    for name, setting in table.items():
        slider = _slider_of(label, name, setting, values.get(name, setting.default))
        found.append(asdict(replace(slider, value=given.get(name, slider.value))))
    return found


def _of_scenario(setup: Setup, scenario: Scenario) -> Iterator[Slider]:
    name = setup.scenario.partition(":")[0]
    if name not in FAMILIES:
        return
    family = FAMILIES[name]
    # What was changed further has another scenario, without the family's parameters.
    values = scenario.parameters if scenario.name == name and not scenario.from_file else _typed(setup.scenario)
    for parameter, hint in family.hints().items():
        default = family.defaults[parameter]
        value = values.get(parameter, default)
        common: dict[str, Any] = {"group": "scenario", "name": parameter, "title": without_underscores(parameter)}
        common |= {"value": value, "default": default}
        if typing.get_origin(hint) is Literal:
            choices = tuple(token_of(choice) for choice in typing.get_args(hint))
            yield Slider(**(common | {"value": token_of(value), "default": token_of(default)}), choices=choices)
        elif typing.get_origin(hint) is Annotated:
            kind, *rules = typing.get_args(hint)
            for rule in rules:
                if isinstance(rule, Within):
                    yield _ranged(**common, low=rule.low, high=rule.high, unit=rule.unit, whole=kind is int)
        elif hint is bool:
            yield Slider(**common)


def _typed(word: str) -> dict[str, Any]:
    """The parameters of a word of the catalogue, with their types."""
    from scenarios.catalogue import scenario_of

    return dict(scenario_of(word).parameters)


def _of_scene(setup: Setup, scene: Scene) -> Iterator[Slider]:
    g = math.hypot(*scene.gravity)
    yield _ranged(
        group="scene", name="gravity", title="gravity", value=g, default=9.81, low=0.0, high=STRONGEST_GRAVITY,
        unit="m/s^2", help="its direction stays",
    )  # fmt: skip
    members = (*scene.bodies, *scene.boundaries)
    if scene.contact.compliant is None:
        for name, high in (("friction", 1.5), ("restitution", 1.0)):
            largest = max(getattr(member, name) for member in members)
            yield _ranged(
                group="scene",
                name=name,
                title=name,
                value=largest,
                default=largest,
                low=0.0,
                high=high,
                help="of all bodies",
            )
    heaviest = max(body.mass or 0.0 for body in scene.bodies)
    yield _ranged(
        group="scene", name="damping", title="drag", value=scene.damping.linear, default=0.0, low=0.0,
        high=10.0 * heaviest, unit="kg/s", help="a force against the velocity of every body",
    )  # fmt: skip
    yield _ranged(
        group="scene", name="duration", title="duration", value=scene.duration, default=scene.duration, low=0.5,
        high=min(LONGEST, max(60.0, scene.duration)), unit="s",
    )  # fmt: skip
    yield _ranged(
        group="scene", name="dt", title="time step", value=setup.dt, default=setup.dt, low=1e-4, high=0.05, unit="s",
        help="of the engines that step",
    )  # fmt: skip


def _ranged(**given: Any) -> Slider:
    low, high = given["low"], given["high"]
    return Slider(**given, powers=low > 0.0 and high / low >= DECADES and not given.get("whole"))


def _slider_of(label: str, name: str, setting: Setting, value: Value) -> Slider:
    default = setting.default
    common: dict[str, Any] = {"group": label, "name": name, "title": without_underscores(name), "help": setting.doc}
    if setting.choices:
        return Slider(**common, value=str(value), default=str(default), choices=setting.choices)
    if isinstance(default, bool):
        return Slider(**common, value=bool(value), default=default)
    if isinstance(default, str):
        return Slider(**common, value=str(value), default=default)
    size = abs(float(default)) or 1.0
    low = setting.low if math.isfinite(setting.low) else -WIDE * size
    high = setting.high if math.isfinite(setting.high) else WIDE * size
    return _ranged(**common, value=value, default=default, low=low, high=high, whole=isinstance(default, int))
