"""`upright import`: the scene as a file or on standard output, what is lost beside it; what is no model in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.scene import read_scene
from tests.validation.command import upright

ARM = """<mujoco><worldbody><body name='bar'><joint name='pivot' axis='0 1 0' damping='0.1' armature='0.01'/>
<geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.05'/></body></worldbody></mujoco>"""


@pytest.mark.slow
def test_a_model_becomes_a_scene_file_that_other_engines_run(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    found = upright("import", "arm.xml", "--output", "arm.json", "--duration", "0.5", folder=tmp_path)
    assert found.returncode == 0
    assert "inertia of rotors (armature): pivot 0.01" in found.stderr and not found.stdout
    scene = read_scene(tmp_path / "arm.json")
    assert scene.joints[0].damping == 0.1 and scene.duration == 0.5
    shown = upright("import", "arm.xml", "--duration", "0.5", folder=tmp_path)
    assert json.loads(shown.stdout) == json.loads((tmp_path / "arm.json").read_text())
    ran = upright("run", "arm.json", "--engine", "mujoco", "--engine", "rapier", "--json", folder=tmp_path)
    assert [json.loads(line)["outcome"] for line in ran.stdout.splitlines()] == ["completed", "completed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("arm.xml", "<mujoco><worldbody/></mujoco>", "arm.xml: no body of it can move; a model needs a joint"),
        ("arm.xml", "<mujoco><worldbody><body></mujoco>", "arm.xml:"),
        ("arm.txt", "", "'arm.txt' is no model"),
    ],
)
def test_what_makes_no_scene_is_one_line(tmp_path: Path, name: str, text: str, line: str) -> None:
    (tmp_path / name).write_text(text)
    found = upright("import", name, folder=tmp_path)
    assert found.returncode == 2
    assert line in found.stderr and len(found.stderr.strip().splitlines()) == 1
