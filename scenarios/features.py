"""What a scene asks of an engine, as words that an engine's allow-list can have.

Those of `scenarios.scene.features`, among them every `kind`; and, by a walk over the model, the path of every optional
field that is not at its default, with its value where the field is a choice of words: `bodies.angle`,
`springs.tension_only`, `contact.impact_law=stronge`. A field that is new is a feature that no engine has listed yet.
"""

from collections.abc import Iterator
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from scenarios.fields import Data
from scenarios.scene import PlanarScene, Scene, SpatialScene, features

NOT_FIELDS = (
    *("planar", "spatial", "concave-polygon", "friction", "restitution", "damping", "springs", "thrusters", "groups"),
    *("compliant", "rolling-resistance"),
)
"""Those of `scenarios.scene.features` that are no kinds."""
SILENT = frozenset(
    {"format", "title", "dimension", "bodies.frame", "bodies.center_of_mass", "bodies.shape.pieces.density", "native"}
)
"""They say nothing of the motion that no other feature says: of a body that is moved mass and inertia are stated.
Who loads models declines one by its language."""


def scene_features(scene: Scene) -> frozenset[str]:
    found = set(features(scene))
    _walk(scene, "", found)
    return frozenset(found)


def _walk(data: Data, path: str, found: set[str]) -> None:
    for name, required, default, choices in model_fields(type(data)):
        value = getattr(data, name)
        if name == "kind":
            found.add(value)
            continue
        here = path + name
        if here in SILENT:
            continue
        if (required and choices) or not (required or isinstance(default, Data) or value == default):
            found.add(f"{here}={value}" if choices else here)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Data):
                _walk(part, f"{here}.", found)


@cache
def known_features() -> frozenset[str]:
    """Every feature that a scene can have, and the defaults of its choices: what an allow-list may name."""
    found = set(NOT_FIELDS)
    for model in (PlanarScene, SpatialScene):
        found.update(_of_model(model, ""))
    return frozenset(found)


def _of_model(model: type[Data], path: str) -> Iterator[str]:
    for name, _, _, choices in model_fields(model):
        here = path + name
        yield from choices if name == "kind" else (f"{here}={value}" for value in choices)
        yield here
        for part in leaves(model.model_fields[name].annotation):
            if isinstance(part, type) and issubclass(part, Data):
                yield from _of_model(part, f"{here}.")


@cache
def model_fields(model: type[Data]) -> tuple[tuple[str, bool, Any, tuple[str, ...]], ...]:
    """(name, whether required, default, choices) of each."""
    return tuple(
        (name, field.is_required(), field.default, tuple(x for x in leaves(field.annotation) if isinstance(x, str)))
        for name, field in model.model_fields.items()
    )


def leaves(annotation: Any) -> Iterator[Any]:
    """The types and the literal values of which an annotation is made."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif inner := get_args(annotation):
        for part in inner:
            yield from leaves(part)
    elif annotation is not NoneType:
        yield annotation
