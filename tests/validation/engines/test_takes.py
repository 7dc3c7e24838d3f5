"""Allow-lists: an engine is given the features of scenes that it lists; any other is declined by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

import pytest

from scenarios.features import SILENT, leaves, model_fields, scene_features
from scenarios.fields import Data
from scenarios.joints import AnyJoint
from scenarios.scene import CombinationRule, ImpactLaw, ImpactOrder, PlanarScene, Scene, SpatialScene, parse_scene
from tests.validation.engines.planar_scenes import ball, box, ground, scene
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.takes import not_taken

ENGINES = [load_engine(engine_of(name)) for name in present_engines() if name in ("reference", "pymunk", "box2d")]
ENGINES += [load_engine(engine_of(name)) for name in present_engines() if name in ("pybullet", "mujoco")]
DISC, SPHERE = {"kind": "disc", "radius": 0.5}, {"kind": "sphere", "radius": 0.5}
L_SHAPE = [[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]]


def planar(body: dict[str, Any], **given: Any) -> Scene:
    one = {"name": "one", "shape": DISC, "mass": 1.0, **body}
    two = {"name": "two", "shape": DISC, "fixed": True, "position": [5, 5]}
    return parse_scene({"dimension": 2, "duration": 1.0, "bodies": [one, two], **given})


def spatial(body: dict[str, Any], **given: Any) -> Scene:
    one = {"name": "one", "shape": SPHERE, "mass": 1.0, **body}
    two = {"name": "two", "shape": SPHERE, "fixed": True, "position": [5, 5, 5]}
    return parse_scene({"dimension": 3, "duration": 1.0, "bodies": [one, two], **given})


def joint(kind: str, zero: list[int], **given: Any) -> dict[str, Any]:
    return {"kind": kind, "name": kind, "a": "one", "anchor_a": zero, "anchor_b": zero, **given}


def scenes() -> list[Scene]:
    """Between them every feature that a scene can have."""
    zero2, zero3 = [0, 0], [0, 0, 0]
    materials = [{"name": "steel", "young_modulus": 2e11, "poisson_ratio": 0.29}]
    law = {"a": "steel", "b": "steel", "restitution": 0.5, "sliding_friction": 0.3, "rolling_resistance": 0.01}
    found = [
        planar({"position": [1, 2], "velocity": [1, 0], "spin": 1.0, "angle": 0.1, "inertia": 0.2}, gravity=[0, -1]),
        planar({"shape": {"kind": "polygon", "vertices": L_SHAPE}, "inertia": 1.0, "group": 1}),
        planar({"shape": {"kind": "arc-polygon", "vertices": [[-1, 0], [1, 0]], "bulges": [1, 1]}}),
        planar({}, damping={"linear": 1.0, "angular": 1.0, "quadratic": 1.0}),
        planar({}, thrusters=[{"body": "one", "anchor": zero2, "force": [1, 0], "profile": [[0, 1], [1, 2]]}]),
        planar({}, springs=[{"a": "one", "b": "two", "anchor_a": zero2, "anchor_b": zero2, "stiffness": 1.0,
                             "rest_length": 1.0, "damping": 1.0, "tension_only": True}]),
        planar({}, springs=[{"a": "one", "anchor_a": zero2, "anchor_b": zero2, "stiffness": 1.0,
                             "anchor_path": [[0, zero2], [1, [1, 0]]]}]),
        planar({"friction": 0.5, "restitution": 0.5}, boundaries=[
            {"kind": "half-plane", "name": "ground", "point": [0, -9], "normal": [1, 0], "friction": 1.0,
             "restitution": 1.0}]),
        planar({}, boundaries=[{"kind": "bowl", "name": "bowl", "radius": 9.0, "center": [1, 1]}]),
        planar({}, contact={"pairs": [{"a": "one", "b": "two", "friction": 0.5, "restitution": 0.5}]}),
        *(planar({}, contact={f"{what}_rule": rule})
          for what in ("friction", "restitution") for rule in get_args(CombinationRule)),
        *(planar({}, contact={"impact_law": given}) for given in get_args(ImpactLaw)),
        *(planar({}, contact={"impact_order": given}) for given in get_args(ImpactOrder)),
        planar({}, joints=[joint("revolute", zero2, b="two", collide=True)]),
        planar({}, joints=[joint("prismatic", zero2, axis=[1, 0])]),
        *(planar({}, joints=[joint(kind, zero2, length=1.0)]) for kind in ("rod", "rope")),
        planar({}, joints=[{"kind": "track", "name": "track", "a": "one", "anchor_a": zero2,
                            "points": [[0, 0], [1, 0]], "bulges": [0]}]),
        spatial({"orientation": [0, 1, 0, 0]}),
        *(spatial({"shape": {"kind": kind, "radius": 1.0, "length": 1.0}}) for kind in ("capsule", "cylinder")),
        spatial({"shape": {"kind": "box", "size": [1, 1, 1]}}),
        spatial({"shape": {"kind": "ellipsoid", "semi_axes": [1, 1, 1]}}),
        spatial({"inertia": [1, 1, 1], "shape": {
            "kind": "convex-mesh", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}),
        planar({"shape": {"kind": "compound", "pieces": [
            {"shape": DISC}, {"shape": DISC, "position": [1, 0], "angle": 1.0}]}}),
        spatial({"shape": {"kind": "compound", "pieces": [
            {"shape": SPHERE}, {"shape": SPHERE, "position": [1, 0, 0], "orientation": [0, 1, 0, 0]}]}}),
        spatial({}, boundaries=[{"kind": "half-space", "name": "floor"},
                                {"kind": "hollow-sphere", "name": "ball", "radius": 99.0}]),
        spatial({}, joints=[joint("ball", zero3)]),
        *(spatial({}, joints=[joint(kind, zero3, axis=[1, 0, 0])]) for kind in ("hinge", "slider")),
        spatial({}, joints=[joint("fixed", zero3)]),
        spatial({}, joints=[joint("hinge", zero3, axis=[1, 0, 0], start=1.0, damping=1.0)]),
        spatial({}, joints=[joint("hinge", zero3, axis=[1, 0, 0], friction=1.0)]),
        spatial({}, joints=[joint("hinge", zero3, axis=[1, 0, 0], limits={"low": -1.0, "high": 1.0})]),
        spatial({}, joints=[joint("hinge", zero3, axis=[1, 0, 0], spring={"stiffness": 1.0, "rest": 1.0})]),
        *(spatial({}, joints=[joint("slider", zero3, axis=[1, 0, 0], motor={"target": [[0, 1]], "most": 1.0, **motor})])
          for motor in ({"kind": "position-motor", "stiffness": 1.0, "damping": 1.0}, {"kind": "force-motor"},
                        {"kind": "velocity-motor", "damping": 1.0})),
        planar({"margin": 0.1}, boundaries=[{"kind": "half-plane", "name": "ground", "margin": 0.1}]),
        *(parse_scene({
            "dimension": len(along), "duration": 1.0, "bodies": [
                {"name": "one", "shape": shape, "mass": 1.0},
                {"name": "two", "shape": shape, "fixed": True, "motion": {
                    "velocity": along, "acceleration": along, "amplitude": along, "frequency": 1.0, "phase": 1.0,
                    "spin": spin, "knots": [[0.5, *along]]}}],
        }) for along, shape, spin in (([1, 0], DISC, 1.0), ([1, 0, 0], SPHERE, [1, 0, 0]))),
        parse_scene({
            "dimension": 3, "duration": 1.0,
            "bodies": [{"name": "one", "shape": SPHERE, "mass": 1.0, "material": "steel", "contact_radius": 0.5}],
            "boundaries": [{"kind": "half-space", "name": "floor", "material": "steel"}],
            "contact": {"compliant": {"materials": materials, "most_damping": 9.0,
                                      "pairs": [law | {"v_small": 0.1, "w_small": 0.1}]}},
        }),
    ]  # fmt: skip
    return found


DERIVED = [
    *("planar", "spatial", "concave-polygon", "friction", "restitution", "damping", "springs", "thrusters", "groups"),
    *("compliant", "rolling-resistance"),
]


def all_features() -> frozenset[str]:
    """Every feature that a scene can have today."""
    found = set(DERIVED)
    for model in (PlanarScene, SpatialScene):
        found.update(_of_type(model, ""))
    return frozenset(found)


def _of_type(model: type[Data], path: str) -> Iterator[str]:
    for name, required, default, choices in model_fields(model):
        here = path + name
        if name == "kind":
            yield from choices
        elif here not in SILENT:
            if choices:
                yield from (f"{here}={value}" for value in choices if value != default)
            elif not required and not isinstance(default, Data):
                yield here
            for part in leaves(model.model_fields[name].annotation):
                if isinstance(part, type) and issubclass(part, Data):
                    yield from _of_type(part, f"{here}.")


SCENES = [(given, scene_features(given)) for given in scenes()]
by_name = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


@by_name
def test_a_scene_with_a_feature_is_taken_or_declined_by_the_feature_s_name_or_reason(engine: Any) -> None:
    for feature in sorted(all_features()):
        given, found = next((given, found) for given, found in SCENES if feature in found)
        reason = not_taken(engine, given)
        missing = found - engine.takes
        assert (reason is None) == (not missing), feature
        if feature not in engine.takes:
            named = engine.because.get(feature) if hasattr(engine, "because") else None
            other = [engine.because[name] for name in getattr(engine, "because", {}) if name in missing]
            assert reason is not None, feature
            assert (reason == other[0]) if other else feature in reason, feature
            assert named is None or other, feature
            assert engine.declines(given) == reason, feature


@by_name
def test_what_scenes_come_to_have_is_declined_by_name_until_an_engine_lists_it(engine: Any) -> None:
    class Weld(AnyJoint):
        kind: Literal["weld"] = "weld"

    class Windy(PlanarScene):
        wind: float = 0.0

    two = scene(ball(), box(position=(5.0, 0.0)), ground=ground(point=(0.0, -9.0)), duration=1.0)
    welded = two.model_copy(update={"joints": (Weld(name="weld", a="ball", b="box"),)})
    windy = Windy(bodies=two.bodies, duration=1.0, wind=3.0)
    assert engine.declines(windy.model_copy(update={"wind": 0.0})) is None
    assert engine.declines(welded) == f"{engine.name} does not take weld"
    assert engine.declines(windy) == f"{engine.name} does not take wind"


@by_name
def test_an_engine_with_one_law_of_impact_declines_a_scene_that_names_another(engine: Any) -> None:
    given = planar({}, contact={"impact_law": "stronge"})
    declined = engine.declines(given)
    wanted = None if engine.name == "reference" else f"{engine.name} does not take contact.impact_law=stronge"
    assert declined == wanted


def test_an_adapter_without_a_list_is_given_scenes_of_format_1_alone() -> None:
    class Old:
        name = "old"

    given = planar({}, contact={"impact_law": "stronge"})
    assert not_taken(Old(), given) is None
    later = given.model_copy(update={"format": 2})
    assert not_taken(Old(), later) == "old has no list of what it takes, and the scene is of format 2, not 1"


def test_what_adapters_of_others_import_is_where_it_was() -> None:
    from validation import trajectory
    from validation.engines.engine import Setting
    from validation.records.trajectory import PlanarTrajectory

    assert trajectory.PlanarTrajectory is PlanarTrajectory and Setting is not None
