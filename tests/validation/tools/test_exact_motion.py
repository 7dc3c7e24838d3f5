"""Where mechanics leaves one motion, an engine that has another one is found, and a method of first order is not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scenarios.scene import (
    Box,
    Disc,
    HalfPlane,
    HalfSpace,
    PlanarBody,
    PlanarScene,
    Polygon,
    Revolute,
    Scene,
    SpatialBody,
    SpatialScene,
)  # fmt: skip
from validation.engines.engine import resolve_settings
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.reference.adapter import Reference
from validation.records.simulation import Simulation
from validation.tools.fuzzing.comparison import Asked, Compared, driven, oracle_of
from validation.tools.fuzzing.exact_motion import EXACT, EXACT_MOTION, compare_with_exact, has_one_motion
from validation.tools.fuzzing.independent.laws import SCATTERED
from validation.tools.fuzzing.pairs import Relations
from validation.tools.fuzzing.scripts.script import script_of
from validation.tools.fuzzing.search import Fuzzer, Search

DT = 1.0 / 240.0
SQUARE = Polygon(vertices=((-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25)))
ROUGH = {"friction": 0.5}
BLOCK = PlanarBody(name="block", shape=SQUARE, mass=1.0, position=(0.0, 0.25), velocity=(3.0, 0.0), **ROUGH)
GROUND = HalfPlane(name="ground", friction=0.5)
SLIDES = PlanarScene(duration=1.0, bodies=(BLOCK,), boundaries=(GROUND,))
Changed = Callable[[Scene], Scene]


def smoother(scene: Scene) -> Scene:
    """Two thirds of the friction."""
    other = scene.boundaries[0].model_copy(update={"friction": scene.boundaries[0].friction * (2.0 / 3.0) ** 2})
    return scene.model_copy(update={"boundaries": (other,)})


def compared(scene: Scene, engine: Any, changed: Changed = lambda scene: scene) -> Compared | None:
    """`engine`, which simulates the scene changed by something that it gets wrong."""

    def one(asked: Asked) -> Simulation:
        with_it, given = (Reference(), asked.scene) if asked.engine == EXACT else (engine, changed(asked.scene))
        settings = resolve_settings(with_it, "default", {}, given, asked.dt)
        return Simulation(outcome="completed", trajectory=with_it.simulate(given, asked.dt, settings))

    simulation = one(Asked(scene=scene, dt=DT, settings={}))
    return driven(compare_with_exact(EXACT_MOTION, scene, DT, simulation), lambda asked: [one(each) for each in asked])


def test_a_block_that_slides_on_too_little_friction_is_elsewhere_than_it_must_be() -> None:
    """From 3 m/s mu g = 4.905 m/s^2 stop it after 0.917 m; two thirds of that after 1.376 m."""
    found = compared(SLIDES, Reference(), smoother)
    assert found is not None and found.violation is not None and found.must is not None
    assert found.violation.oracle == oracle_of(EXACT_MOTION) and found.violation.bodies == ("block",)
    assert "block is elsewhere than it must be" in found.violation.message
    time = found.must.step * DT
    assert found.must.pose == pytest.approx((3.0 * time - 0.5 * 4.905 * time**2, 0.25, 0.0), abs=1e-9)


def test_a_method_of_first_order_is_where_it_must_be() -> None:
    found = compared(SLIDES, Pymunk())
    assert found is not None and found.violation is None


@pytest.mark.parametrize(("spin", "claimed"), [(0.0, True), (3.0, False)])
def test_nothing_is_claimed_of_a_box_that_slides_and_spins_as_its_corners_share_the_load_in_many_ways(
    spin: float, claimed: bool
) -> None:
    block = SpatialBody(
        name="block", shape=Box(size=(0.2, 0.4, 0.1)), mass=1.0, position=(0.0, 0.0, 0.05), velocity=(3.0, 0.0, 0.0),
        spin=(0.0, 0.0, spin), **ROUGH,
    )  # fmt: skip
    scene = SpatialScene(duration=0.5, bodies=(block,), boundaries=(HalfSpace(name="ground", friction=0.5),))
    found = compared(scene, Reference(), smoother)
    assert (found is not None and found.violation is not None) == claimed


def test_nothing_is_claimed_of_what_round_off_decides() -> None:
    """A double pendulum on end, and one that is a thousandth of a radian off."""
    links = tuple(
        PlanarBody(name=f"link {i}", shape=Disc(radius=0.1), mass=1.0, position=(0.0, 1.0 + i), group=1) for i in (0, 1)
    )
    pins = (
        Revolute(name="hook", a="link 0", b=None, anchor_a=(0.0, -1.0), anchor_b=(0.0, 0.0)),
        Revolute(name="pin", a="link 1", b="link 0", anchor_a=(0.0, -1.0), anchor_b=(0.0, 0.0)),
    )
    scene = PlanarScene(duration=3.0, bodies=links, joints=pins)

    def pushed(scene: Scene) -> Scene:
        first, second = scene.bodies
        moved = (
            first.model_copy(update={"velocity": (-1e-3, 0.0), "spin": 1e-3}),
            second.model_copy(update={"velocity": (-2e-3, 0.0), "spin": 1e-3}),
        )
        return scene.model_copy(update={"bodies": moved})

    found = compared(scene, Reference(), pushed)
    assert found is None or found.violation is None


@pytest.mark.parametrize(
    ("scene", "one"),
    [
        (SLIDES, True),
        (SLIDES.model_copy(update={"boundaries": (GROUND.model_copy(update={"restitution": 0.5}),)}), False),
        (SLIDES.model_copy(update={"bodies": (BLOCK.model_copy(update={"restitution": 0.5}),)}), False),
        (SLIDES.model_copy(update={"bodies": (BLOCK, BLOCK.model_copy(update={"name": "other"}))}), False),
        (SLIDES.model_copy(update={"boundaries": (GROUND, GROUND.model_copy(update={"name": "wall"}))}), False),
    ],
)
def test_a_motion_is_one_where_one_body_meets_one_other_and_nothing_bounces(scene: Scene, one: bool) -> None:
    assert has_one_motion(scene) is one


def test_it_is_a_law_for_every_engine_but_ours_and_only_with_the_settings_of_its_profile() -> None:
    """Of ours more is asked elsewhere, and scattered bodies have no motion of their own."""
    peer, own, made_up = (Relations.of({}, name) for name in ("pymunk", "reference", SCATTERED))
    assert peer.by_oracle(oracle_of(EXACT_MOTION), SLIDES) == EXACT_MOTION
    assert peer.by_oracle(oracle_of(EXACT_MOTION), SLIDES, {"iterations": 1}) is None
    assert own.by_oracle(oracle_of(EXACT_MOTION), SLIDES) is None
    assert made_up.by_oracle(oracle_of(EXACT_MOTION), SLIDES) is None


def test_the_table_of_relations_has_it_as_promised() -> None:
    """It is an oracle, and not a property that is only measured."""
    search: Any = SimpleNamespace(relations=Relations.of({}, "pymunk"), search=Search(), _shrunk=None)
    Fuzzer._compared(search, (SLIDES, DT, ()), Compared(relation=EXACT_MOTION))
    assert search.search.related.keys() == {(EXACT_MOTION.name, True)}


def test_a_script_prints_where_the_body_is_and_where_it_must_be(tmp_path: Path) -> None:
    """pymunk's own friction is right: its script ends with 0 where the block must be, and with 1 elsewhere."""
    found = compared(SLIDES, Reference(), smoother)
    assert found is not None and found.violation is not None and found.must is not None
    settings = resolve_settings(Pymunk(), "default", {}, SLIDES, DT)
    for scene, status in ((SLIDES, 0), (smoother(SLIDES), 1)):
        motion = Pymunk().simulate(scene, DT, settings)
        text = script_of("pymunk", "7", scene, DT, dict(settings), found.violation, motion, found.must)
        (script := tmp_path / "find.py").write_text(text)
        done = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, "it must be at [" in done.stdout) == (status, True), done.stdout + done.stderr
