"""Compounds on every engine that takes them: the truths of the hammers and of the overhang, and who declines what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from scenarios.scene import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    SpatialBody,
    SpatialCompound,
    SpatialPiece,
    SpatialScene,
    Sphere,
)
from tests.validation.engines.spatial_scenes import motion_of
from validation.engines import engine_of, load_engine, present_engines
from validation.metrics import measure

PRESENT = [load_engine(engine_of(name)) for name in present_engines()]
by_engine = pytest.mark.parametrize("engine", PRESENT, ids=lambda engine: engine.name)
# Name of the scenario, and how far an engine may be from its truth at 1/240 s, m and rad.
LIMITS = {
    "hammer-swing": (0.12, 0.2),
    "hammer-swing:space=spatial": (0.12, 0.2),
    "hammer-flight": (0.05, 0.05),
    "overhang": (0.03, 0.02),
    "overhang:space=spatial": (0.03, 0.02),
    "overhang:arm=3": (0.05, 0.05),
    "overhang:arm=3,space=spatial,ground=box": (0.05, 0.05),
}
TAKEN = {"planar": {"pymunk", "box2d", "mujoco", "pybullet", "rapier", "physx", "dart"},
         "spatial": {"mujoco", "pybullet", "rapier", "physx", "dart"}}  # fmt: skip
BY_REFERENCE = {name for name in LIMITS if "spatial" in name or name == "hammer-flight"}


@by_engine
@pytest.mark.parametrize("word", LIMITS)
def test_an_engine_that_takes_a_compound_moves_it_as_its_pieces_do(engine: Any, word: str) -> None:
    scenario = scenario_of(word)
    space = "planar" if scenario.scene.dimension == 2 else "spatial"
    takes = engine.name in TAKEN[space] or (engine.name == "reference" and word in BY_REFERENCE)
    reason = engine.declines(scenario.scene)
    assert (reason is None) == takes, reason
    if not takes:
        assert "compound" in reason or "shape" in reason or "planar" in reason
        return
    found = {m.metric: m.value for m in measure(scenario, motion_of(engine, scenario.scene))}
    position, angle = LIMITS[word]
    assert found["truth_error_position"] < position
    assert found["truth_error_angle"] < angle


def heap() -> SpatialScene:
    """Every kind of piece, turned, each alone below: the body lies on whichever the engine puts where it belongs."""
    turn = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    wedge = ConvexMesh(points=((0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.4, 0.0), (0.0, 0.0, 0.4)))
    pieces = (
        SpatialPiece(shape=Box(size=(2.0, 2.0, 0.1))),
        SpatialPiece(shape=Sphere(radius=0.2), position=(0.8, 0.8, -0.5)),
        SpatialPiece(shape=Capsule(radius=0.1, length=0.6), position=(-0.8, 0.8, -0.6), orientation=turn),
        SpatialPiece(shape=Cylinder(radius=0.3, length=0.2), position=(0.8, -0.8, -0.4), orientation=turn),
        SpatialPiece(shape=Ellipsoid(semi_axes=(0.1, 0.2, 0.3)), position=(-0.8, -0.8, -0.5), orientation=turn),
        SpatialPiece(shape=wedge, position=(-0.2, -0.2, -0.7)),
    )
    body = SpatialBody(name="table", shape=SpatialCompound(pieces=pieces), mass=1.0, position=(0.0, 0.0, 0.7))
    return SpatialScene(duration=0.5, bodies=(body,), boundaries=(HalfSpace(name="ground", friction=1.0),))


@by_engine
def test_a_table_on_pieces_of_every_kind_stands_on_all_its_feet(engine: Any) -> None:
    """All feet, 0.7 m below the top, are on the ground at once: the table stays level as long as each is there."""
    scene = heap()
    reason = engine.declines(scene)
    if reason is not None:
        assert engine.name not in ("mujoco", "rapier", "physx"), reason
        assert any(word in reason for word in ("hull", "meshes", "ellipsoid", "planar", "compound")), reason
        return
    motion = motion_of(engine, scene)
    assert abs(motion.position[-1, 0, 2] - scene.bodies[0].position[2]) < 0.02
    turned = motion.orientation[-1, 0] * scene.bodies[0].orientation
    assert abs(turned.sum()) > np.cos(0.5 * 0.03)
