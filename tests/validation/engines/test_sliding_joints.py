"""Prismatic joints and sliders, on every engine that has them, on exact motions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.scene import Box, PlanarScene, Prismatic, Scene, Slider, SpatialScene
from tests.validation.engines.planar_scenes import box, scene
from tests.validation.engines.spatial_scenes import ENGINES, motion_of, solid, space
from validation.engines.box2d.adapter import Box2D
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.reference.adapter import Reference
from validation.metrics.joint_gap import joint_gap
from validation.metrics.observation import Observation

PLANAR = [Reference(), Pymunk(), Box2D(), *ENGINES]
SPATIAL = [Reference(), *ENGINES]
FINE = 1.0 / 2000.0  # s; semi-implicit Euler is off by a thousandth of a metre there
RATE, SPIN, ANGLE, OFF = 0.4, 1.5, 0.6, 0.35  # m/s, rad/s, rad, m
BEAD = 0.5  # kg, on a rod of 2 kg


def on_the_way() -> dict[str, Any]:
    """A rod that turns, and a bead that slides along it and turns with it, askew; in the frame of both together."""
    along, across = np.array([math.cos(ANGLE), math.sin(ANGLE)]), np.array([-math.sin(ANGLE), math.cos(ANGLE)])
    share = BEAD / (2.0 + BEAD)
    pull = RATE * along + SPIN * OFF * across  # of the bead against the rod
    return {
        "rod": {"position": -share * OFF * along, "velocity": -share * pull, "angle": ANGLE},
        "bead": {"position": (1.0 - share) * OFF * along, "velocity": (1.0 - share) * pull, "angle": ANGLE + 0.4},
    }


def planar() -> PlanarScene:
    at = on_the_way()
    given = {
        k: {"position": tuple(v["position"].tolist()), "velocity": tuple(v["velocity"].tolist())} for k, v in at.items()
    }
    rod = box("rod", width=1.0, height=0.1, mass=2.0, angle=at["rod"]["angle"], spin=SPIN, **given["rod"])
    bead = box("bead", width=0.2, height=0.2, mass=BEAD, angle=at["bead"]["angle"], spin=SPIN, **given["bead"])
    joint = Prismatic(name="way", a="rod", b="bead", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), axis=(2.0, 0.0))
    return scene(rod, bead, joints=(joint,), gravity=(0.0, 0.0), duration=0.5)


def spatial() -> SpatialScene:
    bodies = []
    for (name, given), size in zip(on_the_way().items(), ((1.0, 0.1, 0.1), (0.2, 0.2, 0.1))):
        (x, y), (vx, vy), half = given["position"], given["velocity"], 0.5 * given["angle"]
        bodies.append(
            solid(Box(size=size), name, mass=2.0 if name == "rod" else BEAD, position=(float(x), float(y), 0.0),
                  velocity=(float(vx), float(vy), 0.0), spin=(0.0, 0.0, SPIN),
                  orientation=(math.cos(half), 0.0, 0.0, math.sin(half)))
        )  # fmt: skip
    joint = Slider(name="way", a="rod", b="bead", anchor_a=(0.0,) * 3, anchor_b=(0.0,) * 3, axis=(2.0, 0.0, 0.0))
    return space(*bodies, joints=(joint,), gravity=(0.0, 0.0, 0.0), duration=0.5)


def distance_at_the_end(inertia: float) -> float:
    """m, of bead and rod: r'' = r w^2 with (I + mu r^2) w kept; mu their reduced mass. By Runge and Kutta's method."""
    mu = 2.0 * BEAD / (2.0 + BEAD)
    L = (inertia + mu * OFF**2) * SPIN

    def rate(y: np.ndarray) -> np.ndarray:
        return np.array([y[1], y[0] * (L / (inertia + mu * y[0] ** 2)) ** 2])

    y, h = np.array([OFF, RATE]), 0.5 / 200
    for _ in range(200):
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(y + h * k3))
    return float(y[0])


@pytest.mark.parametrize(
    ("engine", "given"),
    [(engine, planar()) for engine in PLANAR] + [(engine, spatial()) for engine in SPATIAL],
    ids=lambda value: getattr(value, "name", "") or f"{value.dimension}D",
)
def test_a_bead_is_thrown_out_along_a_rod_that_turns(engine: Any, given: Scene) -> None:
    motion = motion_of(engine, given, dt=FINE)
    exact = engine.name == "reference"
    inertia = 2.0 * (1.0 + 0.01) / 12.0 + BEAD * 0.08 / 12.0
    apart = np.linalg.norm(motion.position[-1, 1] - motion.position[-1, 0])
    assert apart == approx(distance_at_the_end(inertia), abs=1e-9 if exact else 2e-3)
    if isinstance(given, PlanarScene):
        assert motion.angle[:, 1] - motion.angle[:, 0] == approx(np.full(len(motion.time), 0.4), abs=2e-5)
    else:
        assert motion.spin[-1, 1] == approx(motion.spin[-1, 0], abs=1e-6)


@pytest.mark.parametrize(
    ("engine", "space"),
    [(engine, "planar") for engine in PLANAR] + [(engine, "spatial") for engine in SPATIAL],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_slider_crank_keeps_together_and_follows_its_exact_motion(engine: Any, space: str) -> None:
    scenario = scenario_of(f"slider-crank:space={space}")
    short = scenario.scene.model_copy(update={"duration": 0.25})
    motion = motion_of(engine, short, dt=FINE)
    exact = scenario.truth.pose(motion.time)
    width = 2 if space == "planar" else 3
    off = np.abs(motion.position - exact[..., :width]).max()
    gap = joint_gap(Observation(scenario=scenario, trajectory=motion))
    most_off, most_gap = (1e-11, 1e-14) if engine.name == "reference" else (5e-3, 1e-3)
    assert gap is not None
    assert off < most_off and gap < most_gap


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_slider_that_starts_apart_or_turning_is_declined_with_figures(engine: Any) -> None:
    guide = Prismatic(name="guide", a="box", anchor_a=(0.0, 0.0), anchor_b=(3.0, 0.1), axis=(1.0, 0.0))
    assert "'guide' starts 0.1 m apart" in engine.declines(scene(box(), joints=(guide,), duration=1.0))
    level = guide.model_copy(update={"anchor_b": (3.0, 0.0)})
    assert engine.declines(scene(box(velocity=(2.0, 0.0)), joints=(level,), duration=1.0)) is None
    turning = scene(box(spin=2.0, velocity=(0.0, -6.0)), joints=(level,), duration=1.0)
    assert "turning at 2 rad/s against itself; a slider cannot" in engine.declines(turning)
    two = scene(
        box("left"), box("right", position=(2.0, 0.0)), duration=1.0,
        joints=(
            Prismatic(name="one", a="left", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), axis=(1.0, 0.0)),
            Prismatic(name="two", a="right", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), axis=(1.0, 0.0)),
            Prismatic(name="three", a="left", b="right", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), axis=(1.0, 0.0)),
        ),
    )  # fmt: skip
    assert "'three' closes a loop" in engine.declines(two)


@pytest.mark.skipif(len(ENGINES) < 2, reason="pybullet has no wheel for this Python")
def test_bullet_numbers_the_links_of_a_tree_with_branches_as_we_do() -> None:
    """Andrews' mechanism: K2 carries three bodies, two of which carry one more."""
    scenario = scenario_of("andrews")
    short = scenario.scene.model_copy(update={"duration": 0.3})
    motion = motion_of(ENGINES[0], short)
    assert np.abs(motion.position - scenario.truth.pose(motion.time)[..., :2]).max() < 2e-3
