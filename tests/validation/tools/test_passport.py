"""`upright passport`: what an engine's bits depend on is found, and nothing else; also on another machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.effort import few
from tests.validation.command import upright
from validation.records.passport import Passport
from validation.tools.passport import WAYS

ENGINES = Path(__file__).parent / "passport_engines.py"
SCENE = "slide-to-roll"
HALFWAY = "from its own state halfway"  # Pymunk has more in its state than a scene has: other bits


def ways(engine: str, folder: Path, *words: str) -> dict[str, dict[str, object]]:
    shutil.copy(ENGINES, folder)
    done = upright("passport", engine, *(words or (SCENE,)), "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["way"]: row for row in rows}


@pytest.mark.parametrize(
    ("engine", "way"),
    few(
        1,
        [
            ("Threaded", "with four threads"),
            ("Remembers", "after another scene"),
            ("Hashed", "in another process"),
        ],
    ),
)
def test_what_an_engine_depends_on_is_found(tmp_path: Path, engine: str, way: str) -> None:
    found = ways(f"passport_engines.{engine}", tmp_path)
    assert [*found] == [one.name for one in WAYS]
    assert {name for name, row in found.items() if row["same"] is False} == {way, HALFWAY}
    assert found[way]["first"] < 0.02 and 0.0 < found[way]["apart"] < 1e-4


@pytest.mark.slow
def test_an_engine_that_draws_lots_differs_from_itself(tmp_path: Path) -> None:
    shutil.copy(ENGINES, tmp_path)
    words = (f"incline-slide:relation={relation}" for relation in ("at", "below", "above"))
    scenes = (*words, SCENE, "break", "stack", "stack:n=5", "stack:n=3", "bouncing-ball")
    done = upright("passport", "passport_engines.Random", *scenes, "--json", folder=tmp_path)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(row["way"] == "the same again" and not row["same"] for row in rows), "of 9 scenes: 1 in 512 is silent"


@pytest.mark.slow
def test_another_machine_is_compared_by_a_file(tmp_path: Path) -> None:
    here = upright("passport", "pymunk", SCENE, "--write", "here.json", folder=tmp_path)
    assert here.returncode == 0 and f"upright passport pymunk {SCENE} --against here.json" in here.stdout
    data = json.loads((tmp_path / "here.json").read_text())
    data["motions"][SCENE]["motion"] = "0" * 16
    (tmp_path / "there.json").write_text(json.dumps(data))
    (tmp_path / "older.json").write_text(json.dumps(data | {"version": "6.0.0"}))
    words = [word for name in ("here", "older", "there") for word in ("--against", f"{name}.json")]
    done = upright("passport", "pymunk", SCENE, "bouncing-ball", *words, "--json", folder=tmp_path)
    assert done.returncode == 1, "other bits there"
    rows = [json.loads(line) for line in done.stdout.splitlines()][2 * len(WAYS) :]
    assert [(row["way"], row["scene"], row["same"]) for row in rows if row["scene"] == SCENE] == [
        ("as in here.json", SCENE, True),
        ("as in older.json", SCENE, None),
        ("as in there.json", SCENE, False),
    ]
    assert {row["reason"] for row in rows if row["scene"] != SCENE} == {
        "it has no such scene",
        "it is of pymunk 6.0.0, profile fair",
    }


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("pymunk", "--against", "x.json"), "x.json: motions.stack.dt: Input should be greater than 0"),
        (("pymunk", "--against", "none.json"), "none.json: cannot be read (No such file or directory)"),
        (("pymunk", "--against", "/dev/zero"), "/dev/zero: not a file; give a file that --write has written"),
        (("pymunk", "--write", "no/x.json"), "there is no folder"),
        (("pymunk", "stack:space=spatial"), "pymunk: no scene was completed: pymunk is planar"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    motion = {"scene": "a", "dt": 0.0, "motion": "b"}
    made = Passport.model_construct(
        format=1, upright="0", engine="pymunk", version="7", profile="fair", platform="", processor="", motions={}
    ).model_dump() | {"motions": {"stack": motion}}
    (tmp_path / "x.json").write_text(json.dumps(made))
    done = upright("passport", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (error,) = done.stderr.strip().splitlines()
    assert line in error
