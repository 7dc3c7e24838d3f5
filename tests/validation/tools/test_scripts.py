"""A find's script in an engine's own API moves as our adapter's simulation does, and shows the fault by a value."""

from __future__ import annotations

import functools
import importlib
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import PlanarScene, Scene, parse_scene
from scenarios.strategies import planar_scenes, spatial_scenes
from scenarios.strategies.probes import allowed_by, arrangements, probes
from tests.effort import few, tries
from tests.validation.command import upright
from validation.engines import OURS, engine_of
from validation.engines.engine import NotFiniteError, resolve_settings
from validation.metrics.energy import energy
from validation.metrics.observation import Observation
from validation.records.trajectory import PlanarTrajectory
from validation.report.finds import EXPECTATIONS
from validation.store import open_store
from validation.tools.fuzzing.drawing import draw
from validation.tools.fuzzing.oracles import Violation, resolving
from validation.tools.fuzzing.scripts.closing import Find
from validation.tools.fuzzing.scripts.export import Exported
from validation.tools.fuzzing.scripts.faults import CLOSINGS
from validation.tools.fuzzing.scripts.issue import NAMES, issue_of
from validation.tools.fuzzing.scripts.mujoco import release_of
from validation.tools.fuzzing.scripts.parts import EngineCode, ScriptError, variables
from validation.tools.fuzzing.scripts.script import ENGINES, allowed_energy, script_of, written

CLASSES = {"mujoco": "MuJoCo", "pybullet": "PyBullet", "rapier": "Rapier", "pymunk": "Pymunk", "box2d": "Box2D"}
BROKEN = Violation(oracle="broken", message="asked to show its motion")
DRIVER = """
import json, sys
names = {"__name__": "__main__"}
try:
    exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), names)
except SystemExit:
    pass
ours = sorted({"validation", "scenarios", "reference_engine"} & sys.modules.keys())
print(json.dumps([ours, *(part.tolist() for part in names["states"][-1])]))
"""
READER = """
import json, sys
names = {"__name__": "__main__"}
try:
    exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), names)
except SystemExit:
    pass
print(json.dumps([[[a, b, force.tolist()] for a, b, force, normal in now] for now in names["reported"]]))
"""

TOTAL = READER.rpartition("print")[0] + 'print(json.dumps(names["total"].tolist()))'


@functools.cache
def drawn(dimension: int) -> list[tuple[Scene, float]]:
    """Scenes and time steps of one seed."""
    found: list[tuple[Scene, float]] = []
    scenes: Any = planar_scenes if dimension == 2 else spatial_scenes
    draw(scenes(), 3, lambda scene, dt: found.append((scene, resolving(scene, dt))))
    return found


def engine_named(name: str) -> Any:
    pytest.importorskip(OURS[name][0])
    return getattr(importlib.import_module(f"validation.engines.{name}.adapter"), CLASSES[name])()


def moves_alike(
    engine: Any, scene: Scene, dt: float, profile: str, folder: Path, violation: Violation = BROKEN, off: float = 0.0
) -> bool:
    """Whether there is a motion; if so, the script's is that of the adapter to the last bit, or this fails. `off`: m,
    rad, m/s, rad/s by which it may be another."""
    settings = resolve_settings(engine, profile, {}, scene, dt)
    try:
        motion = engine.simulate(scene, dt, settings)
    except NotFiniteError:  # MuJoCo's faults: no motion to compare
        return False
    script = script_of(engine.name, engine.version, scene, dt, dict(settings), violation, motion)
    (folder / "find.py").write_text(script)
    (folder / "driver.py").write_text(DRIVER)
    command = [sys.executable, "-I", "driver.py", "find.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    ours, *parts = json.loads(done.stdout.splitlines()[-1])
    assert ours == []
    free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
    position, turn, velocity, spin = (np.array(part)[free] for part in parts)
    alike = partial(np.testing.assert_allclose, rtol=0.0, atol=off)
    alike(position, motion.position[-1, free])
    alike(velocity, motion.velocity[-1, free])
    if isinstance(motion, PlanarTrajectory):
        alike(spin, motion.spin[-1, free])
        if engine.name != "rapier":  # of which the adapter counts full turns on
            alike(turn, motion.angle[-1, free])
    else:  # the adapter's quaternions go on with their sign
        sign = np.sign((turn * motion.orientation[-1, free]).sum(axis=1, keepdims=True))
        alike(sign * turn, motion.orientation[-1, free])
    return True


ENGINES_IN = [
    ("mujoco", 3), ("mujoco", 2), ("pybullet", 3), ("pybullet", 2), ("rapier", 3), ("rapier", 2), ("pymunk", 2),
    ("box2d", 2),
]  # fmt: skip


@pytest.mark.parametrize("profile", ["fair", pytest.param("default", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name, dimension", few(5, ENGINES_IN))
def test_a_script_moves_as_the_adapter_does_to_the_last_bit(
    name: str, dimension: int, profile: str, tmp_path: Path
) -> None:
    engine = engine_named(name)
    taken = [one for one in drawn(dimension) if not engine.declines(one[0])]
    taken = [one for one in taken if len(one[0].bodies) > 1 and one[0].boundaries]
    assert sum(moves_alike(engine, *one, profile, tmp_path) for one in taken[: tries(8, 1)])


def tied(name: str, dimension: int) -> list[Scene]:
    """Scenes with joints and walls, of every arrangement that the engine takes."""
    space: Any = "planar" if dimension == 2 else "spatial"
    allowed = allowed_by(list(probes()), space)
    found: list[Scene] = []
    for arrangement, scenes in arrangements(allowed).items():
        if arrangement in ("chain", "loop", "rope", "cart", "robot", "container"):
            draw(scenes, 5, lambda scene, dt: found.append(scene), tries(3, 1))
    return [scene.model_copy(update={"duration": min(scene.duration, 0.2)}) for scene in found]


DT = 1.0 / 240.0
BASE: dict[str, Any] = {"name": "base", "fixed": True, "mass": None}
HEAVY: dict[str, Any] = {"name": "heavy", "mass": 2.0}


@functools.cache
def made(dimension: int) -> list[Scene]:
    """A block that slides off a fixed one; two on springs, with damping; bodies of one group that pass through."""
    origin = [0.0] * (dimension - 1)
    shape = {"kind": "box", "size": [1.0] * 3} if dimension == 3 else {"kind": "polygon", "vertices": SQUARE}
    ground = {"kind": "half-space" if dimension == 3 else "half-plane", "name": "ground", "friction": 0.3}
    data = {"dimension": dimension, "duration": 0.5, "gravity": [*origin, -9.81], "boundaries": [ground]}
    base = {**BASE, "shape": shape, "position": [*origin, 0.5], "friction": 0.3}
    above = {**HEAVY, "shape": shape, "position": [0.6, *origin[1:], 1.5], "friction": 0.3}
    thrown = {
        **HEAVY,
        "name": "thrown",
        "shape": shape,
        "position": [3.0, *origin[1:], 3.0],
        "velocity": [1.0, *origin],
    }
    arm = [0.25, *origin] if dimension == 3 else [*origin, 0.0]
    ends = {"stiffness": 50.0, "rest_length": 1.0, "damping": 2.0}
    springs = [
        {"a": "thrown", "b": None, "anchor_a": arm, "anchor_b": [3.0, *origin[1:], 4.5], **ends},
        {"a": "heavy", "b": "thrown", "anchor_a": [*origin, 0.0], "anchor_b": arm, "tension_only": True, **ends},
    ]
    damping = {"linear": 0.5, "angular": 0.25, "quadratic": 0.125}
    group = [above | {"group": 1}, thrown | {"group": 1, "position": [1.0, *origin[1:], 1.75]}]
    scenes = [
        data | {"bodies": [base, above]},
        data | {"bodies": [base, above, thrown], "springs": springs, "damping": damping},
        data | {"bodies": [above, base, thrown], "damping": {"linear": 0.5, "angular": 0.25}},
        data | {"bodies": group},
    ]
    return [parse_scene(json.loads(json.dumps(scene))) for scene in scenes]


@pytest.mark.parametrize("name, dimension", ENGINES_IN)
@pytest.mark.slow
def test_a_script_moves_so_with_fixed_bodies_springs_damping_and_groups(
    name: str, dimension: int, tmp_path: Path
) -> None:
    engine = engine_named(name)
    assert [moves_alike(engine, scene, 1.0 / 240.0, "fair", tmp_path) for scene in made(dimension)] == [True] * 4


WITH_FORCES = sorted(ENGINES_IN, key=lambda one: one not in (("pymunk", 2), ("mujoco", 3)))
GAINED = Violation(oracle="energy gained", message="a test's")


def driven(dimension: int, *, energetic: bool) -> Scene:
    """A block on a spring off its centre, and one with thrusters: a couple, or what grows and fades off its centre."""
    origin = [0.0] * (dimension - 1)
    shape = {"kind": "box", "size": [1.0, 0.5, 1.5]} if dimension == 3 else {"kind": "polygon", "vertices": SQUARE}
    hung = {**HEAVY, "shape": shape, "position": [0.0, *origin[1:], 3.0], "velocity": [1.0, *origin]}
    away = {**HEAVY, "shape": shape, "name": "away", "position": [5.0, *origin[1:], 3.0]}
    corner, along = [0.5, *origin[1:], 0.25], {"stiffness": 50.0, "rest_length": 1.0}
    spring = {"a": "heavy", "b": None, "anchor_a": corner, "anchor_b": [0.0, *origin[1:], 5.0], **along}
    band = {"a": "heavy", "b": "away", "anchor_a": corner, "anchor_b": corner, "tension_only": True, **along}
    force = [3.0, *origin[1:], 1.0]
    thrusters = [{"body": "away", "anchor": corner, "force": force}]
    if energetic:
        thrusters += [{"body": "away", "anchor": [0.0] * dimension, "force": [-one for one in force]}]
    else:
        thrusters[0]["profile"] = [[0.05, 0.5], [0.1, 2.0], [0.15, -1.0]]
    data = {"dimension": dimension, "duration": 0.2, "gravity": [*origin, -9.81], "bodies": [hung, away]}
    more = {"thrusters": thrusters} if not energetic or dimension == 2 else {}
    return parse_scene(json.loads(json.dumps(data | {"springs": [spring, band]} | more)))


@pytest.mark.parametrize("name, dimension", few(2, WITH_FORCES))
def test_thrusters_and_springs_off_the_centre_are_those_of_the_adapter(
    name: str, dimension: int, tmp_path: Path
) -> None:
    """To the last bit in space; in the plane the sines and cosines of angles are numpy's."""
    engine, scene = engine_named(name), driven(dimension, energetic=False)
    assert moves_alike(engine, scene, DT, "fair", tmp_path, off=1e-6 if dimension == 2 else 0.0)


@pytest.mark.parametrize("name, dimension", few(2, WITH_FORCES))
def test_the_energy_in_springs_is_that_of_the_metric(name: str, dimension: int, tmp_path: Path) -> None:
    """And so is what a steady couple gives in the plane: but for where heights count from, and from the first step on,
    for a script takes the speeds of the start as they are given, and the metric as the engine has them."""
    engine, scene = engine_named(name), driven(dimension, energetic=True)
    motion = engine.simulate(scene, DT, resolve_settings(engine, "fair", {}, scene, DT))
    expected = energy(Observation(scenario=scenario_from_scene("driven", scene), trajectory=motion))
    assert moves_alike(engine, scene, DT, "fair", tmp_path, GAINED, off=1e-6)
    done = subprocess.run(
        [sys.executable, "-I", "-c", TOTAL, "find.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    total = np.array(json.loads(done.stdout.splitlines()[-1]))
    np.testing.assert_allclose((total - total[1])[1:], (expected - expected[1])[1:], rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("name, dimension", [one for one in ENGINES_IN if one != ("rapier", 3)])
def test_a_script_reads_the_contact_forces_that_the_adapter_reads(name: str, dimension: int, tmp_path: Path) -> None:
    """A block that slides on the ground, 2 kg: what the ground does to it in the last step of which the adapter reports
    contacts. (Rapier in space has one friction for several contacts, and reports none.)"""
    engine = engine_named(name)
    (scene,) = (one.model_copy(update={"bodies": one.bodies[2:]}) for one in made(dimension)[2:3])
    start = {"position": (*[0.0] * (dimension - 1), 0.4999), "velocity": (0.4, *[0.0] * (dimension - 1))}
    block = scene.bodies[0].model_copy(update=start | {"friction": 0.3})
    scene = scene.model_copy(update={"bodies": (block,), "duration": 0.1, "damping": type(scene.damping)()})
    dt = 1.0 / 240.0
    settings = resolve_settings(engine, "fair", {}, scene, dt)
    motion = engine.simulate(scene, dt, settings)
    violation = Violation(oracle="outside the friction cone", message="")
    script = script_of(name, engine.version, scene, dt, dict(settings), violation, motion)
    (tmp_path / "find.py").write_text(script)
    (tmp_path / "driver.py").write_text(READER)
    command = [sys.executable, "-I", "driver.py", "find.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = motion.contacts
    sample = int(found.sample.max())
    last = found.sample == sample
    rows = json.loads(done.stdout.splitlines()[-1])[round(motion.time[sample] / dt)]
    assert rows and {(a, b) for a, b, _ in rows} <= {(0, 1), (1, 0)}
    force = sum(np.array(force) * (1.0 if b == 0 else -1.0) for _, b, force in rows)
    sign = np.where(found.b[last] == 0, 1.0, -1.0)[:, None]
    tolerance = 1e-4 if name == "box2d" else 1e-9  # N s; Box2D hands out normals of after the step
    np.testing.assert_allclose(force * dt, (sign * found.impulse[last]).sum(axis=0), rtol=1e-6, atol=tolerance)
    assert force[-1] > 0.0 and force[0] < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["fair", "default"])
@pytest.mark.parametrize("name, dimension", ENGINES_IN)
def test_a_script_moves_so_with_joints_and_in_containers(
    name: str, dimension: int, profile: str, tmp_path: Path
) -> None:
    engine = engine_named(name)
    scenes = [scene for scene in tied(name, dimension) if not engine.declines(scene)]
    moved = {
        kind
        for scene in scenes
        if moves_alike(engine, scene, 1.0 / 240.0, profile, tmp_path)
        for kind in ("joints", "boundaries")
        if any(one.kind in KINDS for one in getattr(scene, kind))
    }
    assert moved == {"joints", "boundaries"}


KINDS = ("hinge", "ball", "slider", "revolute", "prismatic", "rod", "rope", "bowl", "hollow-sphere")


def test_what_a_release_of_mujoco_has_is_known_by_its_number() -> None:
    model = pytest.importorskip("validation.engines.mujoco.model")
    assert release_of(model.mujoco.__version__) == model.RELEASE


# --- what a script shows ---------------------------------------------------------------------------------------------

BALL = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.5}, "mass": 2.0, "position": (0.0, 0.0, 0.5)}
ROD = {"name": "rod", "shape": {"kind": "box", "size": (1.0, 0.2, 2.0)}, "mass": 1.0, "position": (0.0, 0.0, 1.0)}
LOG = {"name": "log", "shape": {"kind": "cylinder", "radius": 0.5, "length": 2.0}, "mass": 1.0, "position": (0, 0, 1.0)}
DISC = {"name": "disc", "shape": {"kind": "disc", "radius": 0.5}, "mass": 2.0, "position": (0.0, 0.5)}
GROUND = {"kind": "half-space", "name": "ground"}
SQUARE = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]


def spatial(*bodies: dict[str, Any], grounded: bool = True) -> Scene:
    data = {"dimension": 3, "duration": 1.0, "gravity": (0.0, 0.0, -9.81 if grounded else 0.0), "bodies": list(bodies)}
    return parse_scene(json.loads(json.dumps(data | ({"boundaries": [GROUND]} if grounded else {}))))


def planar(*bodies: dict[str, Any], **more: Any) -> Scene:
    data = {"dimension": 2, "duration": 1.0, "gravity": (0.0, -9.81), "bodies": list(bodies)}
    ground = [{"kind": "half-plane", "name": "ground"}]
    return parse_scene(json.loads(json.dumps(data | {"boundaries": ground} | more)))


def hung(**joint: Any) -> Scene:
    """The ball on a joint to the world, at its centre."""
    given = {"name": "joint", "a": "ball", "anchor_a": [0.0] * 3, "anchor_b": [0.0, 0.0, 0.5]} | joint
    return parse_scene(json.loads(spatial(BALL).model_dump_json()) | {"joints": [given]})


def held(**joint: Any) -> Scene:
    """The disc on a joint to a point of the world 2 m above its centre."""
    given = {"name": "joint", "a": "disc", "anchor_a": [0.0, 0.0], "anchor_b": [0.0, 2.5]} | joint
    return planar(DISC, joints=[given])


CUBE: dict[str, Any] = {"shape": {"kind": "box", "size": (1.0, 1.0, 1.0)}}
ON_BASE = spatial(
    CUBE | {"name": "base", "fixed": True, "mass": None, "position": (0.0, 0.0, 0.5)},
    CUBE | {"name": "top", "mass": 1.0, "position": (0.75, 0.0, 1.5)},
)
BOWL = planar(DISC, boundaries=[{"kind": "bowl", "name": "bowl", "radius": 3.0, "center": (0.0, 0.0)}])


def shown(
    scene: Scene,
    oracle: str,
    bodies: tuple[str, ...],
    capfd: pytest.CaptureFixture[str],
    *,
    position: str,
    turn: str = "",
    velocity: str = "",
    spin: str = "",
    lag: float = 0.0,
    contacts: str = "",
) -> tuple[int, str]:
    """Exit status and output of a script whose engine moves bodies by these expressions of the time t, s."""
    count, flat = sum(not body.fixed for body in scene.bodies), isinstance(scene, PlanarScene)
    rest = (
        turn or ("[0.0]" if flat else "[(1.0, 0.0, 0.0, 0.0)]") + f" * {count}",
        velocity or f"np.zeros(({count}, {2 if flat else 3}))",
        spin or (f"np.zeros({count})" if flat else f"np.zeros(({count}, 3))"),
    )
    part = EngineCode(
        title="Toy",
        imports=("import numpy as np",),
        build="clock = [0]",
        step="clock[0] += 1",
        state=f"t = clock[0] / 100\nreturn {', '.join(f'np.array({one}, float)' for one in (position, *rest))}",
        lag=lag,
        contacts=contacts,
    )
    violation = Violation(oracle=oracle, message="a toy's", bodies=bodies)
    script = written(Find(scene=scene, dt=0.01, violation=violation, engine=part, energy_allowed=0.5), "1.0")
    with pytest.raises(SystemExit) as left:
        exec(compile(script, "find.py", "exec"), {"__name__": "__main__"})
    assert isinstance(left.value.code, int)
    return left.value.code, capfd.readouterr().out


FALLS = "[(0.0, 0.0, 0.5 - 4.905 * t * t)]"
Motion = dict[str, str]
TURNED = "[(np.cos(t), np.sin(t), 0.0, 0.0)]"  # about x, by 2 rad at the end


@pytest.mark.parametrize(
    "oracle, scene, bodies, wrong, right, words",
    [
        ("went through", spatial(BALL), ("ball", "ground"), {"position": FALLS},
         {"position": "[(0.0, 0.0, 0.49)]"}, "ball: its lowest point is 4.905 m below ground after 1 s"),
        ("went through", planar(DISC), ("disc", "ground"), {"position": "[(0.0, 0.5 - t)]"},
         {"position": "[(t, 0.5)]"}, "disc: its lowest point is 1 m below ground after 1 s"),
        ("went through", spatial(BALL, ROD), ("ball", "rod"), {"position": "[(2.0 - 4.0 * t, 0.0, 0.5), (0, 0, 1)]"},
         {"position": "[(2.0 - t, 0.0, 0.5), (0, 0, 1)]"}, "ball and rod overlap by 0.6 m after"),
        ("left", BOWL, ("disc", "bowl"), {"position": "[(0.0, 0.5 - 6.0 * t)]"}, {"position": "[(2.0 * t, -1.5 * t)]"},
         "disc: its furthest point is 3 m outside the wall of bowl after 1 s"),
        ("came apart", hung(kind="ball"), ("ball",), {"position": "[(t, 0.0, 0.5)]"},
         {"position": "[(0.0, 0.0, 0.5)]", "turn": TURNED}, "be one point, and are apart by 1 m after 1 s, 0 m at"),
        ("came apart", hung(kind="slider", axis=[0.0, 0.0, 2.0]), ("ball",), {"position": "[(t, 0.0, 0.5)]"},
         {"position": "[(0.0, 0.0, 0.5 + t)]"}, "should stay on the line through its first, and is off that by 1 m"),
        ("came apart", held(kind="rod", length=2.0), ("disc",), {"position": "[(0.0, 0.5 + t)]"},
         {"position": "[(2 * np.sin(t), 2.5 - 2 * np.cos(t))]"}, "stay 2 m apart, and are off that by 1 m after 1 s"),
        ("came apart", held(kind="rope", length=2.0), ("disc",), {"position": "[(0.0, 0.5 - t)]"},
         {"position": "[(0.0, 0.5 + t)]"}, "stay within 2 m, and are beyond that by 1 m after 1 s"),
        ("energy gained", spatial(BALL), (), {"position": "[(t, 0.0, 0.5)]", "velocity": "[(1.0 + t, 0.0, 0.0)]"},
         {"position": FALLS, "velocity": "[(0.0, 0.0, -9.81 * t)]"},
         "it rises from 10.81 J at 0 s to 13.81 J at 1 s"),
        ("blew up", planar(DISC), (), {"position": "[(0.0, 0.5)]", "spin": "[20.0 * t]"},
         {"position": "[(0.0, 0.5 - 4.905 * t * t)]", "velocity": "[(0.0, -9.81 * t)]"}, "to 59.81 J at 1 s"),
        ("momentum not kept", spatial(BALL, grounded=False), (),
         {"position": "[(t, 0, 0)]", "velocity": "[(1.0 + t, 0, 0)]"},
         {"position": "[(t, 0, 0)]", "velocity": "[(1.0, 0, 0)]"}, "[4.0, 0.0, 0.0] kg m/s after 1 s"),
        ("hangs", spatial(BALL), ("ball",), {"position": "[(0.0, 0.0, 3.0)]"},
         {"position": "[(0.0, 0.0, 7.0 - 4.905 * t * t)]"}, "should fall by 4.905 m and misses that by 4.905 m"),
        ("hangs", spatial(BALL), ("ball",), {"position": "[(0.0, 0.0, 0.6)]"},
         {"position": "[(0.0, 0.0, 0.5)]"}, "up to 0.1 m away"),
        ("hangs", ON_BASE, ("top",), {"position": "[(0.75, 0.0, 1.5)]"},
         {"position": "[(0.25, 0.0, 1.5)]"}, "is to one side of its centre, at least 0.25 m beside"),
        ("hangs", planar(DISC | {"shape": {"kind": "polygon", "vertices": SQUARE}}), ("disc",),
         {"position": "[(0.0, 0.5 * (np.cos(0.3) + np.sin(0.3)))]", "turn": "[0.3]"},
         {"position": "[(0.0, 0.5)]"}, "at least 0.33 m beside it"),
        ("keeps moving", spatial(BALL), ("ball",), {"position": "[(t, 0.0, 0.5)]", "velocity": "[(1.0, 0, 0)]"},
         {"position": "[(0.0, 0.0, 0.5)]"}, "1 m/s in the last"),
        ("never rested", spatial(BALL), (), {"position": "[(0.0, 0.0, 0.5)]", "spin": "[(0.0, 4.0, 0.0)]"},
         {"position": "[(0.0, 0.0, 0.5)]", "velocity": "[(1.0 - t, 0.0, 0.0)] if t < 0.6 else [(0.0, 0.0, 0.0)]"},
         "the largest speed is 2 m/s"),
        ("moved", spatial(ROD), ("rod",), {"position": "[(0.0, 0.3 * t, 1.0)]"},
         {"position": "[(0.0, 0.01 * t, 1.0)]"}, "its centre moves by 0.3 m"),
        ("moved", spatial(ROD), ("rod",), {"position": "[(0.0, 0.0, 1.0)]", "turn": TURNED},
         {"position": "[(0.0, 0.0, 1.0)]", "turn": "[(-1.0, 0.0, 0.0, 0.0)]"}, "turns by 114.6 degrees"),
        ("fell over", spatial(ROD), ("rod",), {"position": "[(0.0, 0.0, 1.0)]", "turn": TURNED},
         {"position": "[(0.0, 0.0, 1.0)]", "turn": "[(np.cos(t), 0.0, 0.0, np.sin(t))]"}, "is 114.6 degrees aslant"),
        ("fell over", spatial(LOG), ("log",), {"position": "[(0.0, 0.0, 1.0)]", "turn": TURNED},
         {"position": "[(0.0, 0.0, 1.0)]"}, "is 65.41 degrees aslant"),
        ("broken", planar(DISC), (), {"position": "[(0.0, np.nan if t > 0.5 else 1.0)]"},
         {"position": "[(0.0, 1.0)]"}, "after 0.51 s the largest coordinate is inf m"),
    ],
)  # fmt: skip
def test_a_script_shows_its_fault_by_a_value_and_by_its_exit_status(
    oracle: str,
    scene: Scene,
    bodies: tuple[str, ...],
    wrong: Motion,
    right: Motion,
    words: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, printed = shown(scene, oracle, bodies, capfd, **wrong)
    assert status == 1 and words in printed, printed
    status, printed = shown(scene, oracle, bodies, capfd, **right)
    assert status == 0, printed


def test_a_force_outside_the_friction_cone_is_shown_by_what_the_engine_reports(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Friction 0.5, for 1 s: 2 N across 1 N is 0.67 of the force outside, and 0.4 N is inside."""
    surface = {"friction": 0.5}
    data = json.loads(spatial(BALL | surface).model_dump_json())
    data["boundaries"][0] |= surface
    for across, status in ((2.0, 1), (0.4, 0)):
        contacts = f"return [(0, 1, np.array([{across}, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))]"
        where = {"position": "[(0.0, 0.0, 0.5)]", "contacts": contacts}
        found, printed = shown(parse_scene(data), "outside the friction cone", ("ball", "ground"), capfd, **where)
        assert found == status
        assert (
            f"impulses of 1 N s along the normal and {across:g} N s across it; friction 0.5 allows 0.5 N s" in printed
        )


@pytest.mark.parametrize("lag", [-0.005, 0.005])
def test_velocities_beside_the_positions_make_no_energy(lag: float, capfd: pytest.CaptureFixture[str]) -> None:
    """Thrown up: with the velocities of half a step before or after, its energy is that of the start."""
    scene = spatial(BALL | {"velocity": (0.0, 0.0, 8.0)})
    motion = {
        "position": "[(0.0, 0.0, 0.5 + 8.0 * t - 4.905 * t * t)]",
        "velocity": f"[(0.0, 0.0, 8.0 - 9.81 * (t + {lag} * (t > 0)))]",
    }
    status, printed = shown(scene, "energy gained", (), capfd, lag=lag, **motion)
    assert status == 0 and "73.81 J at the start, 73.81 J at most" in printed


def test_every_fault_that_a_script_shows_has_its_law_and_every_engine_its_name() -> None:
    assert EXPECTATIONS.keys() == CLOSINGS.keys() and NAMES.keys() == set(ENGINES)


PATH = [[0.0, [0.0, 0.0, 0.0]], [1.0, [1.0, 0.0, 0.0]]]
PULLED = parse_scene(
    json.loads(spatial(BALL).model_dump_json())
    | {"springs": [{"a": "ball", "anchor_a": [0.0] * 3, "anchor_b": [0.0] * 3, "stiffness": 1.0, "anchor_path": PATH}]}
)

# --- what it refuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "engine, scene, oracle, message",
    [
        ("dart", spatial(BALL), "broken", "no scripts for dart; there are for mujoco, pybullet"),
        ("mujoco", spatial(BALL), "bounced", "does not show 'bounced'; what it shows: broken, "),
        (
            "pybullet",
            PULLED,
            "broken",
            "cannot express the spring at 'ball', which is pulled along a path; what it can: bodies, joints, ",
        ),
    ],
)
def test_what_a_script_cannot_express_or_show_is_refused_by_its_name(
    engine: str, scene: Scene, oracle: str, message: str
) -> None:
    settings: Any = {"integrator": "euler", "solver": "newton", "multiccd": True, "islands": True}
    settings |= {f"solimp_{name}": 0.9 for name in ("dmin", "dmax", "width")}
    settings |= {"solref_timeconst": 0.02, "solref_dampratio": 1.0}
    with pytest.raises(ScriptError, match=message):
        script_of(engine, "4.0.0", scene, 0.01, settings, Violation(oracle=oracle, message=""), None)


def test_names_of_bodies_become_variables() -> None:
    assert variables(["body 1", "body-1", "if", "1st", "é"]) == ["body_1", "body_1_", "if_", "body_1st", "body"]


# --- through the command ---------------------------------------------------------------------------------------------

SPINNING = planar(
    {"name": "body 1", "shape": {"kind": "disc", "radius": 1.078125}, "mass": 0.03, "position": (-0.11, 1.58),
     "friction": 1.0, "restitution": 0.9},
    {"name": "body 2", "mass": 2.0, "position": (0.5, 3.91), "spin": 5.0, "friction": 1.0, "restitution": 0.9,
     "shape": {"kind": "polygon", "vertices": [(-1.25, -1.25), (1.25, -1.25), (1.25, 1.25), (-1.25, 1.25)]}},
)  # fmt: skip


def test_a_find_is_printed_as_a_script_that_runs_alone_and_as_an_issue_with_what_it_prints(tmp_path: Path) -> None:
    pytest.importorskip("pybullet")
    scene = parse_scene(json.loads(SPINNING.model_dump_json()) | {"boundaries": [
        {"kind": "half-plane", "name": "ground", "friction": 1.0, "restitution": 0.9}
    ]})  # fmt: skip
    with open_store(str(tmp_path / "upright.db")) as store:
        number = store.add_find(
            engine="pybullet", engine_version="3.2.7", profile="fair", seed=1, dt=1.0 / 240.0, oracle="blew up",
            message="it blew up", scene=scene,
        )  # fmt: skip
    script = upright("finds", str(number), "--script", folder=tmp_path)
    assert script.returncode == 0, script.stderr
    (tmp_path / "find.py").write_text(script.stdout)
    alone = subprocess.run([sys.executable, "-I", "find.py"], cwd=tmp_path, capture_output=True, text=True)
    assert alone.returncode == 1 and "total energy: " in alone.stdout, alone.stderr
    issue = upright("finds", str(number), "--issue", folder=tmp_path)
    assert issue.returncode == 0, issue.stderr
    value = next(line for line in alone.stdout.splitlines() if line.startswith("total energy"))
    finer = "**With a finer step.** With 4 times as many steps, of 1/960 s, it "
    for part in (script.stdout.strip(), value, "pybullet 3.2.7", "**Expected.**", EXPECTATIONS["blew up"][0], finer):
        assert part in issue.stdout


def test_a_body_that_was_thrown_too_far_is_shown_by_the_energy_that_it_was_given(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Of which there is no motion: it may gain as much as lifting it by its size takes, 9.81 J; not 196 J."""
    scene, dt = planar(DISC), 0.01
    for speed, status in ((2.0, 0), (14.0, 1)):
        part = EngineCode(
            title="Toy",
            imports=("import numpy as np",),
            build="clock = [0]",
            step="clock[0] += 1",
            state=f"v = {speed} * (clock[0] > 50)\n"
            "return np.array([(0.0, 0.5)]), np.zeros(1), np.array([(v, 0.0)]), np.zeros(1)",
            lag=0.0,
        )
        violation = Violation(oracle="blew up", message="disc moved too far")
        allowed = allowed_energy(scene, None)
        script = written(Find(scene=scene, dt=dt, violation=violation, engine=part, energy_allowed=allowed), "1.0")
        with pytest.raises(SystemExit) as left:
            exec(compile(script, "find.py", "exec"), {"__name__": "__main__"})
        assert left.value.code == status
        assert "total energy: 9.81 J at the start, " in capfd.readouterr().out


def test_an_error_in_a_script_shows_no_fault_but_a_crash() -> None:
    """It ends with 1, too."""
    choice = engine_of("pymunk")
    for message, oracle, is_shown in (("crashed: ValueError: x", "broken", True), ("it blew up", "blew up", False)):
        violation = Violation(oracle=oracle, message=message)
        exported = Exported(script="raise ValueError('x')", choice=choice, version="7", violation=violation)
        if is_shown:
            assert "ValueError: x" in issue_of(exported)
        else:
            with pytest.raises(ScriptError, match="ends with an error in place of showing 'blew up': ValueError: x"):
                issue_of(exported)


def test_a_find_that_no_script_expresses_is_refused_by_one_line_with_its_number(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "upright.db")) as store:
        store.add_find(
            engine="mujoco", engine_version="4.0.0", profile="fair", seed=1, dt=0.01, oracle="moved",
            message="it moved", scene=PULLED,
        )  # fmt: skip
    refused = upright("finds", "1", "--script", folder=tmp_path)
    assert refused.returncode == 2 and refused.stdout == ""
    assert refused.stderr.startswith(
        "find 1: a script cannot express the spring at 'ball', which is pulled along a path; what it can: "
    )
