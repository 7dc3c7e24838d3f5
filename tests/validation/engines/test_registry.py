"""Engine words: what they mean, what is said about those that mean nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx

from tests.validation.engines.planar_scenes import DT, G, ball, scene
from validation import engines
from validation.engines import (
    EngineNameError,
    engine_of,
    executable,
    load_engine,
    present_engines,
    unavailable_engines,
)
from validation.engines.engine import DeclinedError, SettingError, check_overrides, resolve_settings
from validation.engines.executable import ExecutableError

# A user's engine, as short as it gets: no settings, no profiles.
FALLING = """
import numpy as np
from validation.records.trajectory import PlanarTrajectory

class Falling:
    name, version = "falling", "0.3"

    def declines(self, scene):
        return None

    def simulate(self, scene, dt, settings):
        pose = np.zeros((1, len(scene.bodies), 3))
        return PlanarTrajectory(time=np.zeros(1), pose=pose, twist=pose, dt=dt, velocity_lag=0.0)

class Unfinished:
    name, version = "unfinished", "0"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; nothing that is imported from it stays."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


# --- reading a word ---------------------------------------------------------------------------------------------


def test_a_word_is_name_version_profile_and_settings_in_that_order() -> None:
    choice = engine_of("pymunk==7.3.1@default:iterations=5,collision_slop=1e-3")
    assert (choice.name, choice.version, choice.profile) == ("pymunk", "7.3.1", "default")
    assert choice.overrides == {"iterations": "5", "collision_slop": "1e-3"}
    assert choice.word == "pymunk==7.3.1"
    assert choice.label == "pymunk==7.3.1:iterations=5,collision_slop=1e-3"  # as typed, without the profile


@pytest.mark.parametrize("word", ["box2d", "box2d@fair", "box2d:allow_sleep=true", "box2d@fair:polygon_inset=0.01"])
def test_what_is_left_out_is_left_open(word: str) -> None:
    choice = engine_of(word)
    assert choice.name == choice.word == "box2d" and choice.version is None
    assert choice.profile == ("fair" if "@" in word else None)
    assert engine_of(choice.label) == engine_of(word.replace("@fair", ""))


@pytest.mark.parametrize(
    "word, decisions",
    [
        ("", "cannot be read"),
        ("pymunk==", "something is missing"),
        ("pymunk@", "something is missing"),
        ("pymunk:", "something is missing"),
        ("pymunk:iterations", "'iterations' is not a setting k=v"),
        ("pymunk:iterations=", "'iterations=' is not a setting k=v"),
        ("pymunk:=5", "'=5' is not a setting k=v"),
        ("pymunk:iterations=5,", "'' is not a setting k=v"),
        ("pymunk:iterations=5@fair", "'iterations=5@fair' is not a setting k=v"),
        ("pymunk:iterations==5", "'iterations==5' is not a setting k=v"),
        ("pymunk@fair==7.3.1", "cannot be read"),
        ("pymunk:iterations=5,iterations=6", "'iterations' is set twice"),
    ],
)
def test_a_word_that_cannot_be_read_says_in_a_line_how_one_is_written(word: str, decisions: str) -> None:
    with pytest.raises(EngineNameError) as error:
        engine_of(word)
    assert decisions in str(error.value) and "\n" not in str(error.value)
    assert repr(word) in str(error.value)


def test_an_unknown_name_is_answered_with_the_nearest_and_all_that_are_present() -> None:
    with pytest.raises(
        EngineNameError, match=r"^unknown engine 'pymonk'; did you mean 'pymunk'\? Present: reference, "
    ):
        engine_of("pymonk")
    with pytest.raises(EngineNameError, match=r"^unknown engine 'havok'\. Present: reference, "):
        engine_of("havok")


# --- presence and loading ---------------------------------------------------------------------------------------


def test_engines_that_come_with_it_stand_in_the_order_of_the_tables() -> None:
    ours = [name for name in (*present_engines(), *unavailable_engines()) if name in engines.OURS]
    assert set(ours) == set(engines.OURS)
    present = [name for name in present_engines() if name in engines.OURS]
    assert present == [name for name in engines.OURS if name in present]


def test_reading_words_and_asking_who_is_present_imports_no_engine() -> None:
    code = """
        import sys
        from validation.engines import engine_of, present_engines, unavailable_engines
        engine_of("pymunk@fair:iterations=5"), present_engines(), unavailable_engines()
        heavy = {"pymunk", "Box2D", "pybullet", "mujoco", "numba", "scipy", "pydantic"} & set(sys.modules)
        print(sorted(heavy))
    """
    done = subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def absent(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    find = engines.importlib.util.find_spec
    monkeypatch.setattr(
        engines.importlib.util, "find_spec", lambda name, *more: None if name in modules else find(name, *more)
    )


def test_an_engine_whose_library_is_not_installed_is_unavailable_with_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent(monkeypatch, "pymunk")
    assert unavailable_engines()["pymunk"] == "not installed; run: pip install 'upright[pymunk]'"
    assert "pymunk" not in present_engines()
    with pytest.raises(EngineNameError, match=r"^engine 'pymunk' is unavailable: not installed; run: pip install"):
        engine_of("pymunk")


def test_an_engine_without_a_wheel_for_this_python_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "pybullet")
    monkeypatch.setattr(engines.sys, "version_info", (3, 12, 1, "final", 0))
    assert unavailable_engines()["pybullet"] == "no wheel for this Python (3.12); it has them below 3.12"


def test_a_version_that_is_not_the_installed_one_is_refused_with_the_one_that_is() -> None:
    import pymunk

    assert load_engine(engine_of(f"pymunk=={pymunk.version}")).version == pymunk.version
    with pytest.raises(EngineNameError, match=rf"^engine 'pymunk==1\.0': version {pymunk.version} of pymunk is inst"):
        load_engine(engine_of("pymunk==1.0"))


def test_others_register_engines_of_their_own_and_cannot_take_ours_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "their_engine.py").write_text(FALLING)
    monkeypatch.syspath_prepend(str(folder))
    group = engines.ENTRY_POINT_GROUP
    points = [EntryPoint(name, "their_engine:Falling", group) for name in ("falling", "pymunk")]
    points += [EntryPoint("pymunk", "validation.engines.pymunk.adapter:Pymunk", group)]
    points += [EntryPoint("gone", "no_such_module:Engine", group), EntryPoint("broken", "their_engine:Absent", group)]
    monkeypatch.setattr(engines, "entry_points", lambda group: points)
    engines._registered.cache_clear()
    try:
        assert present_engines() == ("pymunk", "broken", "falling")
        assert unavailable_engines() == {"gone": "its module 'no_such_module' is not installed"}
        assert load_engine(engine_of("falling")).version == "0.3"
        assert load_engine(engine_of("pymunk")).name == "pymunk"
        with pytest.raises(EngineNameError, match=r"^engine 'broken' cannot be loaded: AttributeError: .*'Absent'"):
            load_engine(engine_of("broken"))
    finally:
        engines._registered.cache_clear()


# --- a class by its path ----------------------------------------------------------------------------------------


def test_a_class_in_the_current_folder_is_an_engine_with_the_default_profile_alone(folder: Path) -> None:
    (folder / "mine.py").write_text(FALLING)
    choice = engine_of("mine.Falling==0.3@default")
    engine = load_engine(choice)
    assert (choice.name, choice.label, engine.version) == ("mine.Falling", "mine.Falling==0.3", "0.3")
    given = scene(ball(), duration=1.0)
    assert resolve_settings(engine, "default", {}, given, DT) == resolve_settings(engine, "fair", {}, given, DT) == {}
    with pytest.raises(SettingError, match=r"^falling: unknown profile 'fiar' \(it has: default\)$"):
        resolve_settings(engine, "fiar", {}, given, DT)
    with pytest.raises(SettingError, match=r"^falling: unknown setting 'iterations' \(it takes: none\)$"):
        check_overrides(engine, {"iterations": "5"})


def test_the_current_folder_never_hides_what_is_installed(folder: Path) -> None:
    (folder / "mine.py").write_text(FALLING)
    (folder / "scenarios.py").write_text("raise RuntimeError('a decoy')")
    (folder / "numpy.py").write_text("raise RuntimeError('a decoy')")
    assert load_engine(engine_of("mine.Falling")).name == "falling"
    assert sys.path[-1] == str(folder) and str(folder) not in sys.path[:-1]


@pytest.mark.parametrize(
    "word, decisions",
    [
        ("absent.Engine", "unknown engine 'absent.Engine': no module 'absent' is installed or in the current folder"),
        ("mine.Faling", "unknown engine 'mine.Faling': 'mine' has no 'Faling'; did you mean 'Falling'?"),
        ("mine.Unfinished", "engine 'mine.Unfinished' has no declines, simulate; an engine has name, version, "),
        ("faulty.Engine", "engine 'faulty.Engine': 'faulty' cannot be imported: ZeroDivisionError: division by zero"),
        ("mine.2fast", "engine 'mine.2fast' is not a dotted path to a class"),
        ("mine.Falling==1", "engine 'mine.Falling==1': version 0.3 of mine.Falling is installed"),
    ],
)
def test_a_path_that_leads_to_no_engine_says_where_it_ends(folder: Path, word: str, decisions: str) -> None:
    (folder / "mine.py").write_text(FALLING)
    (folder / "faulty.py").write_text("1 / 0")
    with pytest.raises(EngineNameError) as error:
        load_engine(engine_of(word))
    assert str(error.value).startswith(decisions) and "\n" not in str(error.value)


# --- an executable ----------------------------------------------------------------------------------------------

PROGRAM = """#!{python}
# Falls as a projectile falls; declines the duration 7, dies of the duration 8, babbles at 9.
import json, os, signal, struct, sys

if "--version" in sys.argv:
    print("2.5-beta")
    sys.exit()
if "--settings" in sys.argv:
    print(json.dumps({{"settings": {{"samples": {{"default": 3, "low": 2, "high": 100, "doc": "of the motion"}}}}}}))
    sys.exit()
asked = json.loads(sys.stdin.readline())
assert asked["format"] == 1
scene, count = asked["scene"], asked["settings"]["samples"]
if scene["duration"] == 7:
    print(json.dumps({{"declined": "seven is not for me"}}))
    sys.exit()
if scene["duration"] == 8:
    os.kill(os.getpid(), signal.SIGSEGV)
if scene["duration"] == 9:
    print("hello")
    sys.exit()
if scene["duration"] == 10:
    sys.exit("out of ideas")
times = [scene["duration"] * i / (count - 1) for i in range(count)]
g = scene["gravity"][1]
x, y = scene["bodies"][0]["position"]
arrays = {{
    "time": ([count], times),
    "pose": ([count, 1, 3], [v for t in times for v in (x, y + 0.5 * g * t * t, 0.0)]),
    "twist": ([count, 1, 3], [v for t in times for v in (0.0, g * t, 0.0)]),
}}
header = {{
    "format": 1, "planar": True, "dt": asked["dt"], "velocity_lag": 0.0,
    "arrays": [[name, "f8", shape] for name, (shape, _) in arrays.items()],
}}
sys.stdout.buffer.write(json.dumps(header).encode() + b"\\n")
for _, values in arrays.values():
    sys.stdout.buffer.write(struct.pack(f"<{{len(values)}}d", *values))
"""


@pytest.fixture
def program(folder: Path) -> Path:
    path = folder / "my_engine"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    return path


def simulate(engine: Any, duration: float, **overrides: str) -> Any:
    given = scene(ball(position=(1.0, 2.0)), duration=duration)
    return engine.simulate(given, DT, resolve_settings(engine, "default", overrides, given, DT))


def test_an_executable_reads_a_scene_and_writes_a_trajectory(program: Path) -> None:
    choice = engine_of("./my_engine==2.5-beta:samples=5")
    engine = load_engine(choice)
    assert (choice.name, engine.name, engine.version) == ("./my_engine", "./my_engine", "2.5-beta")
    motion = simulate(engine, 2.0, **choice.overrides)
    assert motion.time == approx(np.linspace(0.0, 2.0, 5))
    assert motion.position[-1, 0] == approx([1.0, 2.0 - 0.5 * G * 4.0])
    assert motion.dt == DT
    with pytest.raises(SettingError, match=r"samples: '1' is not allowed; allowed: integer 2 to 100$"):
        simulate(engine, 2.0, samples="1")


def test_an_executable_declines_in_its_own_words_and_its_faults_are_told_in_a_line(program: Path) -> None:
    engine = load_engine(engine_of("./my_engine"))
    with pytest.raises(DeclinedError, match=r"^seven is not for me$"):
        simulate(engine, 7.0)
    with pytest.raises(ExecutableError, match=r"^\./my_engine ended by SIGSEGV$"):
        simulate(engine, 8.0)
    with pytest.raises(ExecutableError, match=r"^\./my_engine wrote no trajectory: "):
        simulate(engine, 9.0)
    with pytest.raises(ExecutableError, match=r"^\./my_engine ended by exit status 1: out of ideas$"):
        simulate(engine, 10.0)


def test_a_program_that_knows_no_options_is_of_unknown_version_and_has_no_settings(folder: Path) -> None:
    (folder / "silent").write_text("#!/bin/sh\nexit 1\n")
    (folder / "silent").chmod(0o755)
    engine = load_engine(engine_of("./silent"))
    assert engine.version == "unknown" and engine.settings == {}


def test_a_program_dies_with_the_process_that_asked_it(folder: Path) -> None:
    """kill -9 of a simulation leaves nothing behind, where the system can see to it."""
    if sys.platform != "linux":
        pytest.skip("only Linux has a parent-death signal")
    (folder / "slow").write_text(
        f"#!{sys.executable}\nimport os, pathlib, sys, time\n"
        "if len(sys.argv) == 1:\n    pathlib.Path('pid').write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    (folder / "slow").chmod(0o755)
    code = """
        from tests.validation.engines.planar_scenes import DT, ball, scene
        from validation.engines import engine_of, load_engine
        load_engine(engine_of("./slow")).simulate(scene(ball(), duration=1.0), DT, {})
    """
    root = str(Path(__file__).parents[3])
    asking = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], env=os.environ | {"PYTHONPATH": root}, start_new_session=True
    )
    try:
        pid = int(wait_for(lambda: (folder / "pid").read_text()))
    finally:
        asking.send_signal(signal.SIGKILL)
        asking.wait()
    assert wait_for(lambda: "gone" if is_gone(pid) else "") == "gone"


def wait_for(look: Any, seconds: float = 20.0) -> str:
    import time

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if found := look():
                return str(found)
        except OSError:
            pass
        time.sleep(0.02)
    raise AssertionError(f"nothing within {seconds} s")


def is_gone(pid: int) -> bool:
    import psutil

    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_path_that_is_no_executable_says_what_to_do(folder: Path) -> None:
    (folder / "notes").write_text("not a program")
    with pytest.raises(EngineNameError, match=r"^engine './absent': no such file; give the path of an executable"):
        engine_of("./absent")
    with pytest.raises(EngineNameError, match=r"^engine './notes' is not executable; run: chmod \+x \./notes$"):
        engine_of("./notes")
    (folder / "notes").chmod(0o755)
    with pytest.raises(EngineNameError, match=r"^engine './notes' .*cannot be started"):
        load_engine(engine_of("./notes"))


def test_the_question_is_one_line_of_json(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    run = executable._run

    def spy(command: list[str], question: bytes, *limits: float) -> Any:
        asked.append(question)
        return run(command, question, *limits)

    engine = load_engine(engine_of("./my_engine"))
    monkeypatch.setattr(executable, "_run", spy)
    simulate(engine, 1.0)
    assert asked[-1].count(b"\n") == 1 and asked[-1].endswith(b"\n")
    assert set(json.loads(asked[-1])) == {"format", "scene", "dt", "settings"}
