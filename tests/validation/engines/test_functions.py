"""Functions of a user's own that build a pymunk.Space or a b2World: measured as they are, by what the world has."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from scenarios.native import Perturbation, Probe
from scenarios.scene import PlanarScene
from scenarios.scene_error import SceneError
from tests.validation.engines.mujoco_models import measured, unmeasured, wrong
from validation.engines.box2d.adapter import Box2D
from validation.engines.engine import ModelError, SteppingEngine
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.shared.recorder import state_of
from validation.records.trajectory import PlanarTrajectory
from validation.running.function_files import function_model, is_function
from validation.running.probes import KINDS, probes_of

PYMUNK, BOX2D = Pymunk(), Box2D()
G = 10.0
NUMBERS = itertools.count()
BALL = (
    "body = pymunk.Body(2, pymunk.moment_for_circle(2, 0, 0.5)); "
    "body.position = (0, {y}); shape = pymunk.Circle(body, 0.5)"
)
FLOOR = "floor = pymunk.Segment(space.static_body, (-5, 0), (5, 0), {radius}); floor.friction = 0.5; space.add(floor)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current one, whose modules are forgotten in the end."""
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if tmp_path in Path(getattr(module, "__file__", None) or "/").parents:
            del sys.modules[name]


def space(folder: Path, *lines: str, dt: float | None = None) -> str:
    """The word of a function that builds a space by these lines; each of a module of its own."""
    name = f"level_{next(NUMBERS)}"
    body = ["space = pymunk.Space()", f"space.gravity = (0, -{G})", *lines, "return space"]
    text = "import pymunk\n\ndef build():\n" + "".join(f"    {line}\n" for line in body)
    (folder / f"{name}.py").write_text(text + (f"build.dt = {dt}\n" if dt else ""), encoding="utf-8")
    return f"{name}:build"


def scene_of(word: str, duration: float = 1.0, engine: SteppingEngine = PYMUNK) -> PlanarScene:
    scene = engine.describe(function_model(word), duration, "", {})
    assert isinstance(scene, PlanarScene)
    return scene


def motion_of(scene: PlanarScene, engine: SteppingEngine = PYMUNK, dt: float | None = None) -> PlanarTrajectory:
    assert scene.native is not None
    motion = engine.simulate(scene, dt or scene.native.step, {})
    assert isinstance(motion, PlanarTrajectory)
    return motion


def test_a_word_is_a_function_where_it_is_no_scenario_with_parameters() -> None:
    assert is_function("my_level:build") and is_function("games.levels.first:build_space")
    assert not any(map(is_function, ("stack:n=5", "stack:n", "a/b:c", "upright-block", "my_level:")))


def test_a_motion_has_the_bits_that_pymunk_gives_without_us(folder: Path) -> None:
    word = space(folder, BALL.format(y=3.0), "shape.elasticity = 0.5; space.add(body, shape)",
                 FLOOR.format(radius=0.1), dt=1 / 120)  # fmt: skip
    scene = scene_of(word, 2.0)
    assert scene.native is not None and scene.native.step == 1 / 120
    motion = motion_of(scene)
    alone = sys.modules[word.partition(":")[0]].build()
    for _ in range(240):
        alone.step(1 / 120)
    (body,) = alone.bodies
    assert motion.position[-1, 0].tolist() == list(body.position) and body.position.y < 1.0
    values, outcomes = measured(scene, motion)
    assert not wrong(outcomes) and values["penetration_max"] > 0.01  # its slop is 0.1


def test_a_pendulum_on_a_pivot_has_its_period(folder: Path) -> None:
    """2 pi sqrt((I + m d^2) / (m g d)), 1 + a^2 / 16 for amplitude a: a disc of radius 0.5 at d = 2 from the pivot."""
    a, d = 0.05, 2.0
    at = f"body.position = ({d * math.sin(a)!r}, {-d * math.cos(a)!r})"
    word = space(folder, BALL.format(y=0.0), at, f"body.angle = {a}",
                 "space.add(body, shape, pymunk.PivotJoint(body, space.static_body, (0, 0)))", dt=1e-3)  # fmt: skip
    scene = scene_of(word, 8.0)
    (joint,) = scene.joints
    assert (joint.kind, joint.b, joint.anchor_b) == ("revolute", None, (0.0, 0.0))
    values, outcomes = measured(scene, motion := motion_of(scene))
    assert values["joint_gap"] < 1e-4 and values["energy_gain"] < 0.01 * 2.0 * G * d * a * a and not wrong(outcomes)
    x = motion.position[:, 0, 0]
    crossings = np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))
    at_zero = motion.time[crossings] - x[crossings] * np.diff(motion.time)[crossings] / np.diff(x)[crossings]
    period = 2.0 * math.pi * math.sqrt((0.125 + d * d) / (G * d)) * (1.0 + a * a / 16.0)
    assert float(np.diff(at_zero).mean()) == pytest.approx(period, rel=1e-3)


def probed(word: str, probe: Probe, engine: SteppingEngine) -> tuple[PlanarScene, PlanarTrajectory]:
    scene = engine.describe(function_model(word).model_copy(update={"probe": probe}), 0.2, "", {})
    assert isinstance(scene, PlanarScene)
    return scene, motion_of(scene, engine)


BALL_OF_BOX2D = (
    "import Box2D\n\ndef build():\n    w = Box2D.b2World(gravity=(0, -10))\n"
    "    w.CreateDynamicBody(position=(0, 3), userData='ball').CreateCircleFixture(radius=0.5, density=2.0)\n"
    "    b = w.CreateDynamicBody(position=(5, 3))\n    b.CreateCircleFixture(radius=0.5, density=2.0)\n"
    "    w.CreateRevoluteJoint(bodyA=b, bodyB=w.CreateStaticBody(), anchor=(5, 4))\n    return w\n"
)


@pytest.mark.parametrize("engine", [PYMUNK, BOX2D])
def test_probes_of_a_function_do_what_they_say_to_what_nothing_ties(folder: Path, engine: SteppingEngine) -> None:
    """Up is against gravity: raised by 0.3 m, p / m along x, turned by 0.2 rad and lifted by 0.1 m."""
    if engine is PYMUNK:
        hung = BALL.format(y=3.0).replace("body", "other").replace("shape", "round").replace("(0, ", "(5, ")
        word = space(folder, BALL.format(y=3.0), "body.name = 'ball'; space.add(body, shape)",
                     hung.replace("(other, 0.5)", "(other, 0.5); space.add(other, round)"),
                     "space.add(pymunk.PivotJoint(other, space.static_body, (5, 4)))")  # fmt: skip
    else:
        name = f"level_{next(NUMBERS)}"
        (folder / f"{name}.py").write_text(BALL_OF_BOX2D, encoding="utf-8")
        word = f"{name}:build"
    plain = scene_of(word, 0.2, engine)
    assert plain.native is not None and plain.native.free == ("ball",) and len(plain.bodies) > 1
    found = {probe.title: probe for probe in probes_of(plain, KINDS)}
    assert list(found) == ["settle", "drop", "push ball", "tip ball"] and found["drop"].size == 0.09
    before = motion_of(plain, engine)
    assert probed(word, found["settle"], engine)[1].state_hash == before.state_hash
    k = [body.name for body in plain.bodies].index("ball")
    scene, motion = probed(word, Probe(kind="drop", size=0.3), engine)
    assert motion.position[0, k] == pytest.approx((0.0, 3.3)) and scene.bodies[k].position == (0.0, 3.3)
    _, motion = probed(word, Probe(kind="push", body="ball", size=3.0), engine)
    speed = 3.0 / (plain.bodies[k].mass or 0.0)
    assert np.abs(motion.velocity[:, k] - before.velocity[:, k] - np.array([speed, 0.0])).max() < 1e-6
    _, motion = probed(word, Probe(kind="tip", body="ball", size=0.2, lift=0.1), engine)
    assert (*motion.position[0, k], motion.angle[0, k]) == pytest.approx((0.0, 3.1, 0.2))


@pytest.mark.parametrize("engine, skin", [(PYMUNK, 0.0), (BOX2D, 0.01)])
def test_a_ball_is_swept_away_from_the_ground(folder: Path, engine: SteppingEngine, skin: float) -> None:
    """pymunk lists contacts from contact on, Box2D from the skin of the edge on, 1 cm."""
    if engine is PYMUNK:
        word = space(folder, BALL.format(y=0.6), "body.name = 'ball'; space.add(body, shape)",
                     "ground = pymunk.Segment(space.static_body, (-5, 0), (5, 0), 0.1); space.add(ground)")  # fmt: skip
    else:
        name = f"level_{next(NUMBERS)}"
        lines = BALL_OF_BOX2D.splitlines()
        box = "    w.CreateStaticBody(position=(0, -0.4), userData='ground').CreatePolygonFixture(box=(5, 0.5))"
        text = "\n".join([*lines[:4], lines[4].replace("(0, 3)", "(0, 0.6)"), box, lines[-1]])
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        word = f"{name}:build"
    plain = scene_of(word, 0.2, engine)
    (sweep,) = (probe for probe in probes_of(plain, KINDS) if probe.kind == "separation")
    assert sweep.body == "ball" and sweep.direction == pytest.approx((0.0, 1.0, 0.0))
    scene = engine.describe(function_model(word).model_copy(update={"probe": sweep}), 2.0, "", {})
    motion = motion_of(scene, engine, 0.02)
    values, _ = measured(scene, motion)
    assert values == {"contact_range": pytest.approx(skin, abs=2e-5)}


def test_shapes_are_those_that_the_space_has(folder: Path) -> None:
    """A centre of mass off the body's origin, a rounded box, a stadium, a sensor: areas by the formulas."""
    word = space(
        folder,
        "body = pymunk.Body(3, 7); body.position = (1, 2); body.angle = 0.5; body.center_of_gravity = (0.2, 0.1)",
        "body.name = 'crate'",
        "box = pymunk.Poly(body, [(-1, -1), (1, -1), (1, 1), (-1, 1)], radius=0.25)",
        "bar = pymunk.Segment(body, (3, 0), (5, 0), 0.5)",
        "seen = pymunk.Circle(body, 9); seen.sensor = True",
        "space.add(body, box, bar, seen)",
    )
    (body,) = scene_of(word).bodies
    assert (body.name, body.mass, body.inertia) == ("crate", 3.0, 7.0)
    c, s = math.cos(0.5), math.sin(0.5)
    assert body.position == pytest.approx((1 + 0.2 * c - 0.1 * s, 2 + 0.2 * s + 0.1 * c), abs=1e-14)
    kinds = [piece.shape.kind for piece in body.shape.pieces]
    assert kinds == ["polygon", *["polygon", "disc"] * 4, "polygon", "disc", "disc"]
    square, edge, corner, bar = (body.shape.pieces[k].shape for k in (0, 1, 2, 9))
    assert np.array(square.vertices) == pytest.approx(np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) - (0.2, 0.1))
    assert corner.radius == 0.25 and np.ptp(edge.vertices, axis=0) == pytest.approx((2.0, 0.5))
    assert np.ptp(bar.vertices, axis=0) == pytest.approx((2.0, 1.0))


def test_a_line_without_thickness_carries_what_stands_on_it(folder: Path) -> None:
    slop = "space.collision_slop = 0.001"
    word = space(folder, slop, BALL.format(y=0.5), "space.add(body, shape)", FLOOR.format(radius=0))
    values, outcomes = measured(scene := scene_of(word, 3.0), motion_of(scene))
    assert values["penetration_final"] < 0.01 and not wrong(outcomes)


@pytest.mark.parametrize(("height", "gone"), [(2.0, False), (30.0, True)])
def test_a_ball_that_a_line_stops_deep_has_not_gone_through_and_one_that_it_does_not_has(
    folder: Path, height: float, gone: bool
) -> None:
    """With a slop of 0.1 it rests that deep. At 24 m/s it moves by 0.8 m a step, and is beyond the line in one."""
    word = space(folder, BALL.format(y=height), "space.add(body, shape)", FLOOR.format(radius=0), dt=1 / 30)
    _, outcomes = measured(scene := scene_of(word, 3.0), motion := motion_of(scene))
    assert ("went through" in wrong(outcomes)) == gone == (motion.position[-1, 0, 1] < 0.0)


@pytest.mark.parametrize(
    ("filters", "meets"),
    [
        (("", ""), True),
        (("group=3", "group=3"), False),
        (("group=3", "group=4"), True),
        (("categories=1, mask=2", "categories=2, mask=1"), True),
        (("categories=1, mask=2", "categories=2, mask=2"), False),
    ],
)
def test_which_shapes_collide_is_the_space_s_affair(folder: Path, filters: tuple[str, str], meets: bool) -> None:
    """Both have to want it. Two balls in one another part, or do not."""
    lines = ["space.gravity = (0, 0)"]
    for k, one in enumerate(filters):
        lines += [BALL.format(y=0.5 * k), f"shape.filter = pymunk.ShapeFilter({one}); space.add(body, shape)"]
    values, _ = measured(scene := scene_of(space(folder, *lines), 1.0), motion := motion_of(scene))
    apart = np.ptp(motion.position[-1, :, 1])
    assert (apart > 0.6) == meets and ("penetration_max" in values) == meets


NAMED = {
    "spring": ("space.add(pymunk.DampedSpring(body, space.static_body, (0, 0), (0, 5), 1, 9, 1))", "DampedSpring 0"),
    "motor": ("space.add(pymunk.SimpleMotor(body, space.static_body, 3))", "SimpleMotor 0"),
    "slide": ("space.add(pymunk.SlideJoint(body, space.static_body, (0, 0), (0, 5), 0, 9))", "SlideJoint 0"),
    "damping": ("space.damping = 0.5", "damping of motion: of a velocity 0.5 is left after 1 s"),
    "function": ("body.velocity_func = lambda body, gravity, damping, dt: None", "by functions of bodies: body 0"),
    "force": ("body.apply_force_at_local_point((5, 0))", "forces of the first step on bodies: body 0"),
    "collision": ("space.on_collision(begin=lambda *given: None)", "functions do that are called at collisions"),
    "surface": ("shape.surface_velocity = (1, 0)", "moving surfaces of shapes: 0"),
    "kinematic": ("k = pymunk.Body(1, 1, 1); k.velocity = (1, 0); space.add(k, pymunk.Circle(k, 1, (9, 0)))",
                  "a body that is moved from outside"),
    "no turn": ("body.moment = float('inf')", "spin of bodies whose moment is infinite: body 0"),
}  # fmt: skip


@pytest.mark.parametrize("feature", NAMED)
def test_what_is_not_measured_is_named_and_nothing_that_it_does_is_wrong(folder: Path, feature: str) -> None:
    line, named = NAMED[feature]
    word = space(folder, BALL.format(y=3.0), "space.add(body, shape)", line, FLOOR.format(radius=0.1))
    scene = scene_of(word, 1.0)
    assert named in unmeasured(scene)
    _, outcomes = measured(scene, motion_of(scene))
    assert not wrong(outcomes)


def test_starts_of_an_ensemble_and_one_step_from_recorded_states(folder: Path) -> None:
    word = space(folder, BALL.format(y=3.0), "body.angular_velocity = 2; body.center_of_gravity = (0.1, 0.2)",
                 "space.add(body, shape)")  # fmt: skip
    plain = scene_of(word)
    assert plain.native is not None
    of = plain.native.model.model_copy(update={"perturbation": Perturbation(seed=1, number=2, size=1e-3)})
    moved = PYMUNK.describe(of, 1.0, "", {})
    shift = np.subtract(moved.bodies[0].position, plain.bodies[0].position)
    assert 0.0 < np.abs(shift).max() <= 1e-3
    one, other = PYMUNK.build(plain, 0.01, {}), PYMUNK.build(plain, 0.01, {})
    one.step(watched=False)
    before = state_of(one)
    one.step(watched=False)
    other.set_state(*before)
    other.step(watched=False)
    for part, again in zip(state_of(one), state_of(other)):
        assert again == pytest.approx(part, abs=1e-12)


def test_a_contact_is_reported_where_it_is_with_the_impulse_that_carries_the_ball(folder: Path) -> None:
    word = space(folder, "space.collision_slop = 0.001", BALL.format(y=0.6), "space.add(body, shape)",
                 FLOOR.format(radius=0.1), dt=0.01)  # fmt: skip
    motion = motion_of(scene_of(word, 2.0))
    contacts = motion.contacts
    assert contacts is not None
    assert contacts.point[-1] == pytest.approx((0.0, 0.1), abs=0.01) and contacts.gap[-1] == pytest.approx(
        0.0, abs=0.01
    )
    down = contacts.impulse[-1] if contacts.a[-1] == 0 else -contacts.impulse[-1]
    assert down == pytest.approx((0.0, -2.0 * G * 0.01), rel=0.02, abs=1e-9)


HOSTILE = {
    "raises": ("    raise ValueError('no level')\n", "raised ValueError: no level"),
    "leaves": ("    raise SystemExit(3)\n", "raised SystemExit: 3"),
    "other": ("    return 5\n", "returned 5 (int); it should be a pymunk.Space"),
    "empty": ("    return pymunk.Space()\n", "no body of it can move"),
    "massless": (
        "    s = pymunk.Space(); b = pymunk.Body(); s.add(b, pymunk.Circle(b, 1)); return s\n",
        "no mass or moment",
    ),
    "step": ("    return pymunk.Space()\nbuild.dt = -1\n", "build.dt: -1; allowed: a number above 0"),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_function_that_is_wrong_is_one_line(folder: Path, fault: str) -> None:
    text, said = HOSTILE[fault]
    (folder / f"wrong_{fault}.py").write_text(f"import pymunk\ndef build():\n{text}", encoding="utf-8")
    with pytest.raises(ModelError) as error:
        scene_of(f"wrong_{fault}:build")
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_module_that_is_wrong_is_one_line(folder: Path) -> None:
    (folder / "broken_level.py").write_text("def build(:\n", encoding="utf-8")
    (folder / "bare_level.py").write_text("", encoding="utf-8")
    for word, said in (
        ("nothing_here:build", "no file of a module"),
        ("broken_level:build", "is no Python"),
        ("math:sin", "no file"),
    ):
        with pytest.raises(SceneError, match=said):
            function_model(word)
    with pytest.raises(ModelError, match="'bare_level' has no 'build'"):
        scene_of("bare_level:build")


def test_a_function_that_draws_anew_is_refused(folder: Path) -> None:
    word = space(folder, "import random", BALL.format(y="random.random()"), "space.add(body, shape)")
    with pytest.raises(ModelError, match=r"another world for pymunk each time: where 'body 0' starts; seed its random"):
        motion_of(scene_of(word))


def test_the_identity_is_that_of_the_module_and_of_what_it_imports_of_its_own_folder(folder: Path) -> None:
    word = space(folder, "import levels, numpy, parts.walls", BALL.format(y="levels.Y"), "space.add(body, shape)")
    (folder / "levels.py").write_text("from parts import walls\nY = 2.0\n", encoding="utf-8")
    (folder / "parts").mkdir()
    (folder / "parts/__init__.py").write_text("from . import deep\n", encoding="utf-8")
    for name in ("walls", "deep", "unused"):
        (folder / f"parts/{name}.py").write_text("", encoding="utf-8")
    model = function_model(word)
    module = f"{word.partition(':')[0]}.py"
    assert sorted(one.path for one in model.files) == sorted(
        [module, "levels.py", "parts/__init__.py", "parts/walls.py", "parts/deep.py"]
    )
    assert model.file == module and "numpy" not in str(model.files[0].path)
    scene = scene_of(word)
    assert scene.bodies[0].position == (0.0, 2.0)
    (folder / "levels.py").write_text("Y = 3.0\n", encoding="utf-8")
    assert function_model(word).digest(1.0) != model.digest(1.0)
    with pytest.raises(ModelError, match=r"levels\.py is not here, or not as it was"):
        motion_of(scene)


# --- Box2D ------------------------------------------------------------------------------------------------------------


def world(folder: Path, *lines: str, dt: float = 1 / 60) -> str:
    name = f"level_{next(NUMBERS)}"
    body = [f"world = b2World(gravity=(0, -{G}))", *lines, "return world"]
    text = "from Box2D import *\n\ndef build():\n" + "".join(f"    {line}\n" for line in body)
    (folder / f"{name}.py").write_text(f"{text}build.dt = {dt}\n", encoding="utf-8")
    return f"{name}:build"


CRATE = (
    "crate = world.CreateDynamicBody(position=(0, {y}), fixtures=b2FixtureDef("
    "shape=b2PolygonShape(box=(0.5, 0.25, (0.1, 0.2), 0.0)), density=2, friction=0.3{more}))"
)
EDGE = "land = world.CreateStaticBody(shapes=b2ChainShape(vertices_chain=[(-9, 1), (-5, 0), (5, 0), (9, 1)]))"


def test_a_box2d_world_has_the_bits_that_it_has_without_us_and_rests_on_its_chain(folder: Path) -> None:
    """A box whose mass is off its origin; Box2D's numbers are in single precision."""
    word = world(folder, CRATE.format(y=2.0, more=""), "crate.userData = 'crate'", EDGE)
    scene = scene_of(word, 2.0, BOX2D)
    crate, land = scene.bodies
    assert (crate.name, land.fixed, len(land.shape.pieces)) == ("crate", True, 3)
    assert crate.mass == pytest.approx(1.0, rel=1e-6) and crate.inertia == pytest.approx((1 + 0.25) / 12, rel=1e-5)
    assert crate.position == pytest.approx((0.1, 2.2), abs=1e-6)
    motion = motion_of(scene, BOX2D)
    alone = sys.modules[word.partition(":")[0]].build()
    for _ in range(120):
        alone.Step(1 / 60, 8, 3)
    (body,) = [one for one in alone.bodies if one.type == 2]
    assert motion.position[-1, 0].tolist() == list(body.worldCenter)
    values, outcomes = measured(scene, motion)
    assert values["penetration_final"] < 0.01 and values["gap_final"] < 0.02 and not wrong(outcomes)


@pytest.mark.parametrize(
    ("filters", "meets"),
    [
        (("", ""), True),
        ((", groupIndex=-1", ", groupIndex=-1"), False),
        ((", categoryBits=1, maskBits=2", ", categoryBits=2, maskBits=2"), False),
        ((", categoryBits=1, maskBits=2, groupIndex=5", ", categoryBits=2, maskBits=2, groupIndex=5"), True),
    ],
)
def test_which_fixtures_collide_is_the_world_s_affair(folder: Path, filters: tuple[str, str], meets: bool) -> None:
    lines = ["world.gravity = (0, 0)", *(CRATE.format(y=0.3 * k, more=one) for k, one in enumerate(filters))]
    scene = scene_of(world(folder, *lines), 1.0, BOX2D)
    values, _ = measured(scene, motion := motion_of(scene, BOX2D))
    assert (np.ptp(motion.position[-1, :, 1]) > 0.4) == meets and ("penetration_max" in values) == meets


def test_box2d_joints_are_measured_or_named(folder: Path) -> None:
    word = world(
        folder, CRATE.format(y=2.0, more=""), EDGE,
        "world.CreateRevoluteJoint(bodyA=land, bodyB=crate, anchor=(1, 3), enableMotor=True, maxMotorTorque=1)",
        "disc = b2FixtureDef(shape=b2CircleShape(radius=1), density=1)",
        "far = world.CreateDynamicBody(position=(0, 9), fixtures=disc)",
        "world.CreateDistanceJoint(bodyA=far, bodyB=crate, anchorA=(0, 9), anchorB=(0, 3))",
        "world.CreateWeldJoint(bodyA=far, bodyB=land, anchor=(0, 5)); far.linearDamping = 1; far.gravityScale = 0.5",
    )  # fmt: skip
    scene = scene_of(word, 0.5, BOX2D)
    assert [(one.kind, one.a, one.b) for one in scene.joints] == [
        ("revolute", "body 0", None),
        ("rod", "body 1", "body 0"),
    ]
    for named in ("b2RevoluteJoint 0: its forces", "b2WeldJoint 2: how far", "damping of motion of bodies: body 1",
                  "(gravityScale) of bodies: body 1", "energy: some"):  # fmt: skip
        assert named in unmeasured(scene), named
    values, outcomes = measured(scene, motion_of(scene, BOX2D))
    assert values["joint_gap"] < 0.01 and not wrong(outcomes)


def test_an_engine_refuses_the_world_of_another(folder: Path) -> None:
    word = space(folder, BALL.format(y=3.0), "space.add(body, shape)")
    with pytest.raises(ModelError, match=r"\(Space\); it should be a Box2D\.b2World"):
        scene_of(word, 1.0, BOX2D)


@pytest.mark.parametrize("engine", [PYMUNK, BOX2D])
def test_contacts_are_those_of_a_box_that_rests_on_a_floor(folder: Path, engine: SteppingEngine) -> None:
    """Two corners, normals along y, impulses that bear m g; 2 kg on a floor whose top is at 0.1."""
    if engine is PYMUNK:
        word = space(folder, "body = pymunk.Body(2, 0.5); body.center_of_gravity = (0.1, 0); body.position = (0, 0.7)",
                     "box = pymunk.Poly.create_box(body, (1, 1)); box.friction = 0.5; space.add(body, box)",
                     FLOOR.format(radius=0.1))  # fmt: skip
    else:
        name = f"level_{next(NUMBERS)}"
        text = (
            "import Box2D\n\ndef build():\n    w = Box2D.b2World(gravity=(0, -10))\n"
            "    b = w.CreateDynamicBody(position=(0, 0.7))\n    b.CreatePolygonFixture(box=(0.5, 0.5), density=2.0)\n"
            "    w.CreateStaticBody(position=(3, 0)).CreatePolygonFixture(box=(5, 0.1))\n    return w\n"
        )
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        word = f"{name}:build"
    scene = scene_of(word, 2.0, engine)
    motion = motion_of(scene, engine)
    rows = motion.contacts
    assert rows is not None
    last = rows.sample == rows.sample.max()
    assert motion.time[rows.sample.max()] > 0.3, "Box2D's body sleeps from 0.5 s on"
    assert {*rows.a[last].tolist(), *rows.b[last].tolist()} == {0, 1}
    assert sorted(rows.point[last, 0]) == pytest.approx([-0.5, 0.5], abs=0.025)  # a skin of 1 cm each
    assert rows.point[last, 1] == pytest.approx([0.1, 0.1], abs=0.02)
    upwards = np.where(rows.a[last] == 0, -1.0, 1.0)
    assert rows.normal[last, 1] * upwards == pytest.approx([1.0, 1.0], abs=1e-3)
    weight = float((rows.impulse[last, 1] * upwards).sum()) / motion.dt
    assert weight == pytest.approx((scene.bodies[0].mass or 0.0) * G, rel=0.02)
    values, outcomes = measured(scene, motion)
    assert values["cone_violation"] < 1e-3 and not wrong(outcomes)


def test_a_world_with_a_listener_of_its_own_reports_to_that(folder: Path) -> None:
    name = f"level_{next(NUMBERS)}"
    text = (
        "import Box2D\n\nclass Ears(Box2D.b2ContactListener):\n    heard = 0\n"
        "    def BeginContact(self, contact):\n        Ears.heard += 1\n\n\ndef build():\n"
        "    w = Box2D.b2World(gravity=(0, -10), contactListener=Ears())\n"
        "    w.CreateDynamicBody(position=(0, 0.7)).CreateCircleFixture(radius=0.5, density=2.0)\n"
        "    w.CreateStaticBody().CreatePolygonFixture(box=(5, 0.1))\n    return w\n"
    )
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    scene = scene_of(f"{name}:build", 1.0, BOX2D)
    assert motion_of(scene, BOX2D).contacts is None and sys.modules[name].Ears.heard >= 1
