"""Materials of a scene: JSON both ways, what is refused and in which words, and the law's own figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pytest
from scipy.special import lambertw

from scenarios.catalogue import scenario_of
from scenarios.contact import rebound_ratio, stiffness
from scenarios.scene import (
    Box,
    CompliantContact,
    ContactLaw,
    Ellipsoid,
    HalfSpace,
    Material,
    MaterialPair,
    SpatialBody,
    SpatialScene,
    Sphere,
    content_hash,
    features,
    parse_scene,
    write_scene,
)
from scenarios.scene_error import SceneError
from scenarios.schema import scene_schema

STEEL = Material(name="steel", young_modulus=2e11)
ICE = Material(name="ice", young_modulus=1e9, poisson_ratio=0.33)
LAW = CompliantContact(
    materials=(STEEL, ICE),
    pairs=(
        MaterialPair(a="steel", b="ice", restitution=0.5, sliding_friction=0.1),
        MaterialPair(a="ice", b="ice", restitution=0.0, rolling_resistance=0.01, v_small=0.1),
    ),
)
BALL = SpatialBody(name="ball", shape=Sphere(radius=0.1), mass=1.0, material="steel")
LAKE = HalfSpace(name="lake", material="ice")
SCENE = SpatialScene(duration=1.0, bodies=(BALL,), boundaries=(LAKE,), contact=ContactLaw(compliant=LAW))


def test_materials_survive_json_and_the_schema_knows_them():
    data = json.loads(write_scene(SCENE))
    assert parse_scene(data) == SCENE
    jsonschema.Draft202012Validator(scene_schema()).validate(data)
    assert data["bodies"][0]["material"] == "steel" and "contact_radius" not in data["bodies"][0]
    assert features(SCENE) == {"spatial", "sphere", "half-space", "compliant", "friction", "rolling-resistance"}
    assert SCENE.pair_law(BALL, LAKE) == (0.1, 0.5)


def test_the_example_of_the_page_is_a_scene():
    page = (Path(__file__).parents[2] / "docs" / "compliant.md").read_text(encoding="utf-8")
    example = parse_scene(json.loads(page.split("```json\n")[1].split("```")[0]))
    assert example.contact.compliant and example.pair_law(example.bodies[0], example.boundaries[0]) == (0.4, 0.7)


def test_a_scene_that_is_rigid_says_nothing_of_materials():
    data = scenario_of("stack").scene.model_dump(mode="json")
    assert "compliant" not in data["contact"]
    assert not {"material", "contact_radius"} & {field for body in data["bodies"] for field in body}
    assert content_hash(scenario_of("stack").scene).startswith("5127e2d427f12ee8")  # as before there were materials


def pair(a: str, b: str) -> dict[str, object]:
    return {"a": a, "b": b, "restitution": 0.5}


REFUSED = {
    "no material": (lambda s: s["bodies"][0].pop("material"), r"bodies\[0\]\.material: missing; allowed: steel, ice"),
    "unknown material": (
        lambda s: s["boundaries"][0].update(material="snow"),
        r"boundaries\[0\]\.material: 'snow' is no material; allowed: steel, ice",
    ),
    "no law": (
        lambda s: s["boundaries"][0].update(material="steel"),
        "no law for 'steel' with 'steel' .'ball' and 'lake' may meet.; there are: 'steel' with 'ice', 'ice' with 'ice'",
    ),
    "two laws": (
        lambda s: s["contact"]["compliant"]["pairs"].append(pair("ice", "steel")),
        r"contact\.compliant\.pairs\[2\]: 'ice' and 'steel' stand in pairs\[0\] already",
    ),
    "law of nothing": (
        lambda s: s["contact"]["compliant"]["pairs"].append(pair("ice", "oil")),
        r"contact\.compliant\.pairs\[2\]\.b: 'oil' is no material; known: steel, ice",
    ),
    "two of one name": (
        lambda s: s["contact"]["compliant"]["materials"].append({"name": "ice", "young_modulus": 1.0}),
        r"materials\[2\]\.name: 'ice' is taken by materials\[1\]",
    ),
    "friction twice": (
        lambda s: s["bodies"][0].update(friction=0.3),
        r"bodies\[0\]\.friction: 0\.3 given, and its material has it; leave it out",
    ),
    "two flat ones": (
        lambda s: s["bodies"][0].update(shape={"kind": "box", "size": [1.0, 1.0, 1.0]}),
        r"bodies\[0\]\.contact_radius: missing; 'ball' and 'lake' are both flat",
    ),
    "law of impact": (lambda s: s["contact"].update(impact_law="newton"), r"contact\.impact_law: given beside contact"),
    "no such ratio": (
        lambda s: s["contact"]["compliant"]["materials"][0].update(poisson_ratio=0.5),
        r"materials\[0\]\.poisson_ratio: 0\.5 is out of range; allowed: < 0\.5",
    ),
    "unknown field": (
        lambda s: s["contact"]["compliant"].update(damping=3.0),
        r"contact\.compliant\.damping: unknown field.*most_damping",
    ),
    "no law at all": (
        lambda s: s["contact"].pop("compliant"),
        r"bodies\[0\]\.material: 'steel' given, and the scene has no contact\.compliant",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_what_leaves_the_law_open_is_refused_by_field_value_and_what_is_allowed(fault):
    spoil, words = REFUSED[fault]
    data = json.loads(write_scene(SCENE))
    spoil(data)
    with pytest.raises(SceneError, match=words):
        parse_scene(data)


def test_the_plane_has_no_solids():
    data = {**json.loads(write_scene(scenario_of("bouncing-ball").scene)), "contact": {"compliant": LAW.model_dump()}}
    with pytest.raises(SceneError, match=r"contact\.compliant: given for a planar scene"):
        parse_scene(json.loads(json.dumps(data)))


def test_a_flat_body_has_the_stiffness_of_the_radius_that_it_is_given():
    block = SpatialBody(name="block", shape=Box(size=(1.0, 1.0, 1.0)), mass=1.0, material="steel", contact_radius=0.1)
    assert stiffness(LAW, block, LAKE) == stiffness(LAW, BALL, LAKE)
    egg = SpatialBody(name="egg", shape=Ellipsoid(semi_axes=(0.4, 0.2, 0.1)), mass=1.0, material="steel")
    assert stiffness(LAW, egg, LAKE) == pytest.approx(math.sqrt(2.0) * stiffness(LAW, BALL, LAKE), rel=1e-15)


@pytest.mark.parametrize("x", [1e-5, 9e-4, 2e-3, 0.05, 0.7, 3.0, 20.0, 2000.0])
def test_the_rebound_is_that_of_lamberts_function(x):
    """x loses its digits in the argument of W, near its branch point, as the root of round-off over x."""
    expected = (1.0 + lambertw(-(1.0 + x) * math.exp(-(1.0 + x))).real) / x
    assert rebound_ratio(x) == pytest.approx(expected, abs=1e-15 / x**2 + 1e-15)


def test_no_damping_loses_nothing_and_much_of_it_all_but_a_creep():
    assert rebound_ratio(0.0) == 1.0 and rebound_ratio(1e6) == pytest.approx(1e-6, rel=1e-12)
    assert rebound_ratio(0.999e-3) == pytest.approx(rebound_ratio(1.001e-3) + 2e-6 * 2.0 / 3.0, abs=2e-9)  # the seam
