"""A scenario: a scene, what it probes, and its truth. Families make them from named, checked parameters."""

import difflib
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

from scenarios.scene import Scene
from scenarios.truth import Truth

Value = str | int | float | bool
Canonical = tuple[Mapping[str, Value], ...]  # parameters that the canonical suite runs

Noise = Literal["exact", "tolerance", "step", "round-off", "chaotic", "timing"]
"""How a metric repeats when round-off differs. exact: to the last digits, and a change is a change. tolerance: to a
few per cent. step: to what free fall does within a time step, for on which side of contact a body starts decides
whether it falls through the first one. round-off: it is round-off, judged above an absolute floor only. chaotic: only
an ensemble can judge it. timing: reported, never judged with physics."""


class ParameterError(ValueError):
    """A scenario name or parameter that does not exist or is out of range; the message is one line."""


def token_of(value: Value) -> str:
    """A parameter's value as one types it: 100 for 100.0, true for True; it converts back to an equal value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class Within:
    """Range of a numeric parameter, ends included, and its unit: `height: Annotated[float, Within(0.1, 20.0, "m")]`."""

    low: float
    high: float
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    name: str = ""  # the family's
    title: str = ""  # of a family that gives none, the scene's
    probes: str
    regime: str  # "rest", "impact", "sliding", "rolling", "free motion", "joints", "many bodies"
    scene: Scene
    truth: Truth
    headline: str
    """The metric that the report shows for this scenario in a single cell."""
    noise: Mapping[str, Noise] = field(default_factory=dict)
    """Noise class of metrics where it differs from the metric's own default."""
    meaningless: frozenset[str] = frozenset()
    """Metrics that say nothing here, and are left out (jitter at rest of a thing that never rests)."""
    laws: Mapping[str, float] = field(default_factory=dict)
    """Metric -> the most that physics allows plus a generous tolerance for a discretised engine; more is a defect."""
    expected: tuple[tuple[str, str], ...] = ()
    """(what, body): what has to happen where the truth knows no poses: ("fell over", "domino 12"); "" for all of the
    scene: ("came to rest", "")."""
    parameters: Mapping[str, Value] = field(default_factory=dict)  # complete; set by the family
    defaults: Mapping[str, Value] = field(default_factory=dict)
    from_file: bool = False
    """Not of the catalogue: its scene travels with it."""

    @property
    def label(self) -> str:
        """As typed on the command line: the name and the parameters that differ from their defaults.

        Of a scene file the first digits of its content: files of one name, and one file before and after an edit, are
        distinguished.
        """
        if self.from_file:
            return f"{self.name}:content={str(self.parameters['content'])[:8]}"
        given = [f"{name}={token_of(value)}" for name, value in self.given.items()]
        return self.name + (":" + ",".join(given) if given else "")

    @property
    def given(self) -> dict[str, Value]:
        """The parameters that differ from their defaults."""
        return {name: value for name, value in self.parameters.items() if self.defaults.get(name) != value}

    @property
    def parameters_json(self) -> str:
        return json.dumps(dict(self.parameters), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Family:
    """A function from parameters to a scenario, and the parameter sets of it that the canonical suite runs.

    Parameters are the function's own, keyword-only with defaults; their type is the annotation: `Literal[...]` for
    choices, `Annotated[float, Within(low, high)]` for ranges. Its docstring's first line is the family's title.
    """

    name: str
    build: Callable[..., Scenario]
    canonical: Canonical = ({},)
    subject: str = ""
    """What its scenes are of, in the singular, as sentences have it: the stack of {n}. Parameters take their places."""

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.build) or "").split("\n", 1)[0]

    @property
    def defaults(self) -> dict[str, Value]:
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}

    @property
    def allowed(self) -> dict[str, str]:
        """Parameter -> what may be given for it, in words."""
        return {name: _allowed(hint) for name, hint in self.hints().items()}

    def hints(self) -> dict[str, Any]:
        """Parameter -> its annotation."""
        return _hints_of(self.build)

    def scenario(self, given: Mapping[str, Value] | None = None) -> Scenario:
        """The scenario of these parameters, the rest at their defaults. Raises ParameterError."""
        hints, values = self.hints(), self.defaults
        for name, value in (given or {}).items():
            if name not in values:
                near = difflib.get_close_matches(name, values, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ParameterError(
                    f"{self.name}: unknown parameter {name!r}{hint} (it takes: {', '.join(values) or 'none'})"
                )
            values[name] = _convert(f"{self.name}:{name}", value, hints[name])
        made = _made(self.build, tuple(values.items()), repr(values))
        title = made.title or made.scene.title
        return replace(made, name=self.name, title=title, parameters=values, defaults=self.defaults)


@lru_cache(maxsize=256)
def _made(build: Callable[..., Scenario], values: tuple[tuple[str, Value], ...], exactly: str) -> Scenario:
    """What reports ask for again. `exactly` tells 1 from 1.0 and from True, which are equal."""
    return build(**dict(values))


@cache
def _hints_of(build: Callable[..., Scenario]) -> dict[str, Any]:
    hints = typing.get_type_hints(build, include_extras=True)
    hints.pop("return", None)
    return hints


def _allowed(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return " | ".join(str(v) for v in typing.get_args(hint))
    if typing.get_origin(hint) is Annotated:
        kind, *rules = typing.get_args(hint)
        ranges = [f"{r.low:g} to {r.high:g} {r.unit}".strip() for r in rules if isinstance(r, Within)]
        return " ".join([{"int": "integer", "float": "number"}.get(kind.__name__, kind.__name__), *ranges])
    return {"int": "integer", "float": "number", "bool": "true | false"}.get(hint.__name__, "text")


def _convert(path: str, value: Value, hint: Any) -> Value:
    """Text from the command line, or a value, as the parameter's type; ParameterError says what is allowed."""
    wrong = ParameterError(f"{path}: {value!r} is not allowed; allowed: {_allowed(hint)}")
    if typing.get_origin(hint) is Literal:
        for choice in typing.get_args(hint):
            if value == choice or (isinstance(value, str) and value == str(choice)):
                return choice
            if isinstance(choice, (int, float)) and _number(value) == choice:
                return choice
        raise wrong
    rules = typing.get_args(hint)[1:] if typing.get_origin(hint) is Annotated else ()
    kind = typing.get_args(hint)[0] if rules else hint
    if kind is bool:
        truth = {"true": True, "false": False, "1": True, "0": False}.get(str(value).lower())
        if truth is None:
            raise wrong
        return truth
    if kind in (int, float):
        number = _number(value)
        if number is None or (kind is int and number != int(number)):
            raise wrong
        if any(isinstance(r, Within) and not r.low <= number <= r.high for r in rules):
            raise wrong
        return kind(number)
    return str(value)


def _number(value: Value) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < float("inf") else None
