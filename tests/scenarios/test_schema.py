"""The published JSON Schema accepts what the catalogue writes and refuses nothing that can be read."""

from __future__ import annotations

import json

import jsonschema
import pytest

from scenarios.catalogue import scenario_of
from scenarios.scene import SCENE, parse_scene, write_scene
from scenarios.scene_error import SceneError
from scenarios.schema import scene_schema
from tests.suite import SUITE

VALIDATOR = jsonschema.Draft202012Validator(scene_schema())


def test_it_is_a_schema_of_2020_12_with_an_identity_and_a_format():
    schema = scene_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "urn:upright:scene:2"
    assert [schema["$defs"][s]["properties"]["format"]["enum"] for s in ("PlanarScene", "SpatialScene")] == 2 * [[1, 2]]
    json.dumps(schema, allow_nan=False)


def test_every_scene_of_the_catalogue_satisfies_it():
    for scenario in [*SUITE, scenario_of("rolling-balls")]:
        VALIDATOR.validate(json.loads(write_scene(scenario.scene)))


REFUSED = {
    "no duration": lambda s: s.pop("duration"),
    "no dimension": lambda s: s.pop("dimension"),
    "no kind": lambda s: s["bodies"][0]["shape"].pop("kind"),
    "no kind of boundary": lambda s: s["boundaries"][0].pop("kind"),
    "unknown field": lambda s: s.update(colour="red"),
    "unknown shape": lambda s: s["bodies"][0].update(shape={"kind": "star"}),
    "negative mass": lambda s: s["bodies"][0].update(mass=-1.0),
    "mass as text": lambda s: s["bodies"][0].update(mass="1"),
    "restitution above 1": lambda s: s["bodies"][0].update(restitution=1.5),
    "three coordinates": lambda s: s["bodies"][0].update(position=[0, 0, 0]),
    "no bodies": lambda s: s.update(bodies=[]),
    "another format": lambda s: s.update(format=3),
    "two vertices": lambda s: s["bodies"][0]["shape"].update(vertices=[[0, 0], [1, 0]]),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_the_schema_refuses_cannot_be_read_either(fault):
    scene = json.loads(write_scene(SUITE[0].scene))
    REFUSED[fault](scene)
    assert not VALIDATOR.is_valid(scene)
    with pytest.raises(SceneError):
        parse_scene(scene)


def test_making_the_schema_leaves_the_model_alone():
    scene_schema()
    assert SCENE.json_schema() == SCENE.json_schema()
    assert parse_scene(json.loads(write_scene(SUITE[0].scene)))
