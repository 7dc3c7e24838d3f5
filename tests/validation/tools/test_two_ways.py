"""A find of two ways to simulate one scene as a script: it makes both, and its exit status says whether they differ."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.scene import Scene, parse_scene
from tests.effort import few
from validation.engines import OURS, engine_of, load_engine
from validation.engines.engine import resolve_settings
from validation.engines.relations import Change, Relation, unchanged_when
from validation.tools.fuzzing.comparison import Compared
from validation.tools.fuzzing.oracles import Violation
from validation.tools.fuzzing.scripts.issue import run_script
from validation.tools.fuzzing.scripts.parts import ScriptError
from validation.tools.fuzzing.scripts.two_ways import TwoWays, script_of_two
from validation.tools.fuzzing.twins import twin_of

DT = 1.0 / 240.0
FEWER: dict[str, dict[str, Any]] = {
    "pymunk": {"iterations": 1},
    "box2d": {"velocity_iterations": 1},
    "pybullet": {"iterations": 1},
    "mujoco": {"cone": "pyramidal"},
    "rapier": {"num_solver_iterations": 1},
}
"""Settings with which the engine does not move alike."""


def pile(dimension: int) -> Scene:
    """Two boxes and a third that slides over them."""
    shape: dict[str, Any] = {"kind": "box", "size": (1.0, 1.0, 1.0)}
    if dimension == 2:
        shape = {"kind": "polygon", "vertices": ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))}
    level = (0.0,) * (dimension - 1)
    boxes = [
        {"name": f"box {i}", "shape": shape, "mass": 1.0, "friction": 0.5, "position": (*level, 0.5 + 1.01 * i)}
        for i in range(3)
    ]
    boxes[2]["velocity"] = (2.0, *level)
    ground = {"kind": "half-plane" if dimension == 2 else "half-space", "name": "ground", "friction": 0.5}
    return parse_scene({"dimension": dimension, "duration": 0.25, "bodies": boxes, "boundaries": [ground]})


def script(name: str, other: dict[str, Any], change: Change | None, after: int | None, allowed: float) -> str:
    pytest.importorskip(OURS[name][0])
    engine = load_engine(engine_of(name))
    scene = pile(2 if name in ("pymunk", "box2d") else 3)
    one, second = (resolve_settings(engine, "fair", given, scene, DT) for given in ({}, other))
    motion = engine.simulate(scene, DT, one)
    law = Relation(name="both agree", one={}, other=other, agree="round-off", promise="a test", change=change)
    violation = Violation(oracle="a test", message="the two differ")
    found = Compared(relation=law, in_the_run=False, violation=violation, after=after, allowed=allowed)
    twin = twin_of(change, scene, DT, motion)
    ways = TwoWays(relation=law, compared=found, settings=(one, second), before=twin and twin.before)
    return script_of_two(name, str(engine.version), scene, DT, ways, motion)


@pytest.mark.parametrize(("name",), few(2, [(name,) for name in FEWER]))
def test_two_ways_that_differ_end_with_1_and_the_same_way_twice_with_0(name: str) -> None:
    status, printed = run_script(script(name, FEWER[name], None, 40, 1e-9), engine_of(name))
    assert status == 1 and "m/s apart; allowed: 1e-09 m/s" in printed, printed
    status, printed = run_script(script(name, {}, None, 40, 1e-9), engine_of(name))
    assert status == 0 and "move a point of a body 0 m/s apart" in printed, printed


@pytest.mark.parametrize(("name",), few(2, [(name,) for name in FEWER]))
def test_after_another_scene_in_the_same_process_the_bits_are_compared(name: str) -> None:
    status, printed = run_script(script(name, {}, "run after another scene", 1, 0.0), engine_of(name))
    assert (status, printed) == (0, "both give the same bits")
    status, printed = run_script(script(name, FEWER[name], "run again", 1, 0.0), engine_of(name))
    assert status == 1 and "the two differ from step " in printed, printed


def test_what_a_script_does_not_show_is_refused() -> None:
    (turned,) = unchanged_when("turned", agree="round-off", promise="a test")
    found = Compared(relation=turned, violation=Violation(oracle="a test", message="it differs"), after=3)
    ways = TwoWays(relation=turned, compared=found, settings=({}, {}))
    with pytest.raises(ScriptError, match="does not show 'differs when turned': it has one scene, as it is"):
        script_of_two("mujoco", "3.0", pile(3), DT, ways, None)
