"""A malformed scene file gives one line that names the field, the value and what is allowed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from scenarios.scene import parse_scene, read_scene
from scenarios.scene_error import SceneError

SQUARE = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]
PLANAR: dict[str, Any] = {
    "format": 1,
    "dimension": 2,
    "duration": 1.0,
    "bodies": [
        {"name": "crate", "shape": {"kind": "polygon", "vertices": SQUARE}, "mass": 1.0, "position": [0.0, 0.5]},
        {"name": "wheel", "shape": {"kind": "disc", "radius": 0.5}, "mass": 2.0, "position": [3.0, 0.5]},
    ],
    "boundaries": [{"kind": "half-plane", "name": "ground"}],
    "joints": [{"kind": "rod", "name": "rod", "a": "crate", "b": "wheel", **{"anchor_a": [0, 0], "anchor_b": [0, 0]},
                "length": 3.0}],
    "springs": [{"a": "crate", "anchor_a": [0, 0], "anchor_b": [0, 2], "stiffness": 10.0}],
    "thrusters": [{"body": "wheel", "anchor": [0, 0], "force": [1, 0], "profile": [[0, 0], [1, 1]]}],
    "contact": {"pairs": [{"a": "crate", "b": "ground", "friction": 0.3}]},
}  # fmt: skip
SPATIAL: dict[str, Any] = {
    "dimension": 3,
    "duration": 1.0,
    "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.5}, "mass": 1.0}],
}
BOW_TIE = [[-1, -1], [1, 1], [1, -1], [-1, 1]]
NEEDLE = [[0, 0], [1, 1], [2, 2]]

# Where in the scene (None: put the value in place of the whole scene), what is put there, and the words that the
# line has to hold: field, value, rule.
FAULTS: dict[str, tuple[dict[str, Any], tuple[str | int, ...], Any, tuple[str, ...]]] = {
    "NaN": (PLANAR, ("bodies", 0, "position", 0), float("nan"), ("bodies[0].position[0]", "nan", "finite")),
    "infinite": (PLANAR, ("duration",), float("inf"), ("duration", "inf", "finite")),
    "zero mass": (PLANAR, ("bodies", 1, "mass"), 0.0, ("bodies[1].mass", "0.0", "> 0")),
    "negative mass": (PLANAR, ("bodies", 0, "mass"), -1.0, ("bodies[0].mass", "-1.0", "> 0")),
    "no mass": (PLANAR, ("bodies", 0, "mass"), None, ("bodies[0].mass", "missing", "positive mass", "fixed=true")),
    "mass as text": (PLANAR, ("bodies", 0, "mass"), "1 kg", ("bodies[0].mass", "'1 kg'", "a finite number")),
    "impossible inertia": (SPATIAL, ("bodies", 0, "inertia"), [1.0, 1.0, 3.0],
                           ("bodies[0].inertia", "(1.0, 1.0, 3.0)", "sum of the other two")),
    "self-intersecting": (PLANAR, ("bodies", 0, "shape", "vertices"), BOW_TIE,
                          ("bodies[0].shape.vertices", "self-intersecting at vertex 2", "no edge meeting")),
    "degenerate": (PLANAR, ("bodies", 0, "shape", "vertices"), NEEDLE,
                   ("bodies[0].shape.vertices", "vertex 0", "allowed")),
    "clockwise": (PLANAR, ("bodies", 0, "shape", "vertices"), SQUARE[::-1],
                  ("bodies[0].shape.vertices", "clockwise", "counter-clockwise")),
    "two vertices": (PLANAR, ("bodies", 0, "shape", "vertices"), SQUARE[:2],
                     ("bodies[0].shape.vertices", "2 entries", "at least 3")),
    "unknown body": (PLANAR, ("joints", 0, "b"), "whel", ("joints[0].b", "'whel'", "known: crate, wheel")),
    "unknown partner": (PLANAR, ("contact", "pairs", 0, "b"), "floor", ("contact.pairs[0].b", "'floor'", "ground")),
    "no axis": (PLANAR, ("joints", 0), {"kind": "prismatic", "name": "rail", "a": "crate", "anchor_a": [0, 0],
                                        "anchor_b": [0, 0.5], "axis": [0, 0]},
                ("joints[0].axis: [0, 0]: no direction", "not zero")),
    "joined to itself": (PLANAR, ("joints", 0, "b"), "crate", ("joints[0].b", "'crate'", "two bodies")),
    "name taken": (PLANAR, ("bodies", 1, "name"), "crate", ("bodies[1].name", "'crate'", "a name of its own")),
    "unknown field": (PLANAR, ("bodies", 0, "veloctiy"), [1, 0],
                      ("bodies[0].veloctiy", "[1, 0]", "did you mean 'velocity'?")),
    "unknown shape": (PLANAR, ("bodies", 0, "shape"), {"kind": "star"}, ("bodies[0].shape.kind", "'star'", "polygon")),
    "spatial shape": (PLANAR, ("bodies", 0, "shape"), {"kind": "box", "size": [1, 1, 1]},
                      ("bodies[0].shape.kind", "'box'", "'polygon', 'disc'")),
    "negative friction": (PLANAR, ("bodies", 0, "friction"), -0.1, ("bodies[0].friction", "-0.1", ">= 0")),
    "restitution above 1": (PLANAR, ("boundaries", 0, "restitution"), 1.5,
                            ("boundaries[0].restitution", "1.5", "<= 1")),
    "empty": (PLANAR, ("bodies",), [], ("bodies", "0 entries", "at least 1")),
    "huge": (PLANAR, ("bodies",), PLANAR["bodies"][1:] * 20_001, ("bodies", "entries", "at most 20000")),
    "nothing moves": (SPATIAL, ("bodies",), [{"name": "rock", "shape": {"kind": "sphere", "radius": 1}, "fixed": True}],
                      ("bodies", "none of the 1 can move", "one free body")),
    "fixed with mass": (PLANAR, ("bodies", 0, "fixed"), True, ("bodies[0].mass", "1.0", "leave it out")),
    "far away": (PLANAR, ("bodies", 0, "position", 1), 1e7, ("bodies[0].position[1]", "10000000.0", "<= 1e+06")),
    "no duration": (PLANAR, ("duration",), "delete", ("duration", "missing", "required")),
    "negative duration": (PLANAR, ("duration",), -3, ("duration", "-3", "> 0")),
    "normal too long": (PLANAR, ("boundaries", 0, "normal"), [1, 1],
                        ("boundaries[0].normal: [1, 1]: length 1.41421356;", "unit vector")),
    "no unit quaternion": (SPATIAL, ("bodies", 0, "orientation"), [1, 1, 0, 0],
                           ("bodies[0].orientation", "1.41421356", "unit quaternion")),
    "three coordinates": (PLANAR, ("springs", 0, "anchor_a"), [0, 0, 0],
                          ("springs[0].anchor_a", "3 coordinates", "allowed: 2")),
    "time runs back": (PLANAR, ("thrusters", 0, "profile"), [[1, 0], [0, 1]],
                       ("thrusters[0].profile", "[1.0, 0.0]", "ascending")),
    "newer format": (PLANAR, ("format",), 3, ("format 3", "newer", "upgrade Upright")),
    "no dimension": (PLANAR, ("dimension",), "delete", ("dimension", "missing", "required")),
    "four dimensions": (PLANAR, ("dimension",), 4, ("dimension", "4", "2, 3")),
    "a list": (PLANAR, (), [1, 2, 3], ("list", "JSON object")),
    "a body that is a number": (PLANAR, ("bodies", 0), 7, ("bodies[0]", "7", "an object")),
    "flat mesh": (SPATIAL, ("bodies", 0, "shape"),
                  {"kind": "convex-mesh", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]},
                  ("bodies[0].shape.points", "plane", "span a body")),
    "name of odd signs": (PLANAR, ("bodies", 0, "name"), "a\nb", ("bodies[0].name", "'a\\nb'", "letters, digits")),
}  # fmt: skip


def altered(scene: dict[str, Any], path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    scene = copy.deepcopy(scene)
    place: Any = scene
    for part in path[:-1]:
        place = place[part]
    if value == "delete":
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return scene


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_file_gives_one_line_with_field_value_and_rule(fault, tmp_path):
    scene, path, value, words = FAULTS[fault]
    file = tmp_path / "my_scene.json"
    file.write_text(json.dumps(altered(scene, path, value)))
    with pytest.raises(SceneError) as caught:
        read_scene(file)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{file}: ")
    assert [word for word in words if word not in line] == [], line
    assert len(line) - len(str(file)) < 400, line


def test_the_scenes_that_are_altered_are_sound():
    for scene in (PLANAR, SPATIAL):
        parse_scene(scene)


TEXTS: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "no JSON": (b'{"format": 1,', ("line 1", "column", "not JSON")),
    "no text": (b'{"title": "\xff"}', ("byte 11", "not UTF-8")),
    "field twice": (b'{"dimension": 2, "dimension": 3}', ("'dimension'", "twice", "3", "once")),
    "nested without end": (b"[" * 200_000, ("nested too deeply",)),
    "empty file": (b"", ("line 1", "not JSON")),
}


@pytest.mark.parametrize("fault", TEXTS)
def test_a_file_that_is_no_json_object_says_where(fault, tmp_path):
    text, words = TEXTS[fault]
    file = tmp_path / "my_scene.json"
    file.write_bytes(text)
    with pytest.raises(SceneError) as caught:
        read_scene(file)
    line = str(caught.value)
    assert "\n" not in line and line.startswith(f"{file}: ")
    assert [word for word in words if word not in line] == [], line


def test_a_missing_file_and_a_folder_are_scene_errors(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(SceneError, match="cannot be read"):
            read_scene(path)


def test_a_second_fault_is_counted_at_the_end_of_the_line():
    scene = altered(altered(PLANAR, ("bodies", 0, "mass"), -1.0), ("duration",), 0.0)
    with pytest.raises(SceneError, match=r"\(and 1 more\)$"):
        parse_scene(scene)
