"""The slab that stands for a half-plane is long enough for every motion that energy allows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import scenario_of
from scenarios.scene import HalfPlane, PlanarScene, Spring, Thruster
from tests.validation.engines.planar_scenes import DT, G, ball, box, ground, scene, simulated
from validation.engines.box2d.adapter import Box2D
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.shared import planar_boundaries
from validation.engines.shared.planar_boundaries import OffTheSlabError, Slab, furthest_travel, slab
from validation.engines.shared.recorder import Recorder, collected_step_times

every_engine = pytest.mark.parametrize("engine", [Pymunk(), Box2D()], ids=lambda engine: engine.name)
SLOPE = ground(normal=(-math.sin(0.4), math.cos(0.4)))
ROCKET = Thruster(body="ball", anchor=(0.0, 0.0), force=(5000.0, 0.0))


def slab_of(given: PlanarScene, lengthening: float = 1.0) -> Slab:
    plane = given.boundaries[0]
    assert isinstance(plane, HalfPlane)
    return slab(given, plane, lengthening)


def rocket_on_the_ground() -> PlanarScene:
    return scene(ball(position=(0.0, 0.5)), ground=ground(), thrusters=(ROCKET,), duration=1.0)


# --- how far energy carries a body --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "travel"),
    [
        (
            scene(ball(position=(0.0, 0.5), velocity=(3.0, 0.0)), ground=ground(), duration=2.0),
            math.hypot(3.0, math.sqrt(G)) * 2,
        ),
        (scene(ball(position=(0.0, 7.0)), ground=ground(), duration=2.0), math.sqrt(14.0 * G) * 2),
        (scene(ball(), ground=SLOPE, duration=2.0), 0.5 * G * math.sin(0.4) * 2.0**2),
        (scene(ball(), ground=ground(normal=(0.0, -1.0)), duration=2.0), 0.5 * G * 2.0**2),
        (scene(ball(), ground=ground(), gravity=(0.0, 0.0), thrusters=(ROCKET,), duration=1.0), 0.5 * 5000.0),
    ],
    ids=["thrown", "fallen", "down a slope", "away from a ceiling", "pushed"],
)
def test_a_single_body_gets_as_far_as_its_own_equation_of_motion_has_it(given: PlanarScene, travel: float) -> None:
    assert furthest_travel(given) == approx(travel, rel=1e-12)


def test_a_light_body_may_get_all_the_energy_of_a_heavy_one() -> None:
    """1000 kg from 2 m, and 1 kg: sqrt(2 m g h / 1 kg)."""
    given = scene(
        ball("light", position=(0.0, 0.0)),
        ball("heavy", mass=1000.0, position=(0.0, 2.0)),
        ground=ground(),
        duration=3.0,
    )
    assert furthest_travel(given) == approx(math.sqrt(2.0 * 1000.0 * G * 2.0) * 3.0, rel=1e-12)


def test_of_several_half_planes_the_one_that_allows_least_counts() -> None:
    """What slides down a wall stops on the floor."""
    wall = ground("wall", point=(-1.0, 0.0), normal=(1.0, 0.0))
    falling = scene(ball(position=(0.0, 2.0)), boundaries=(wall, ground()), duration=20.0)
    assert furthest_travel(falling) == approx(math.sqrt(4.0 * G) * 20.0, rel=1e-12)


def test_what_springs_hold_and_what_turns_is_energy_too() -> None:
    spring = Spring(a="ball", anchor_a=(0.0, 0.0), anchor_b=(3.0, 0.0), stiffness=50.0, rest_length=1.0)
    given = scene(ball(spin=4.0), ground=ground(), springs=(spring,), duration=2.0)
    assert furthest_travel(given) == approx(math.sqrt(50.0 * 2.0**2 + 0.125 * 4.0**2) * 2.0, rel=1e-12)


def test_motor_and_slope_together_carry_no_body_beyond_the_bound() -> None:
    """Two bodies that slide down freely, of which one is pushed off its centre and turns."""
    rod = Thruster(body="rod", anchor=(0.0, 1.0), force=(3.0, 0.0), profile=((0.0, 1.0), (1.0, -0.5)))
    given = scene(
        box("rod", width=0.2, height=2.0, mass=2.0),
        ball(position=(5.0, 0.0), velocity=(1.0, 0.0)),
        ground=SLOPE,
        thrusters=(rod,),
        duration=1.0,
    )
    down = G * math.sin(0.4)  # what the slope leaves of gravity, along it
    along = (-down * math.cos(0.4), -down * math.sin(0.4))
    motion = simulated(Pymunk(), given.model_copy(update={"boundaries": (), "gravity": along}))
    furthest = float(np.hypot(*np.ptp(motion.position, axis=0).T).max())
    assert 0.2 * furthest_travel(given) < furthest <= furthest_travel(given)


# --- the slab -----------------------------------------------------------------------------------------------------


def test_a_slab_is_no_longer_than_is_likely_and_grows_at_most_to_what_energy_allows() -> None:
    given = scenario_of("stack:n=5,mass_ratio=1000,friction=0").scene
    assert isinstance(given, PlanarScene)
    lengths = [slab_of(given, 4.0**k) for k in range(6)]
    assert lengths[0].half_length < 200.0
    assert lengths[1].half_length == approx(4.0 * lengths[0].half_length)
    assert [one.longest for one in lengths] == sorted(one.longest for one in lengths)
    assert lengths[-1].longest and lengths[-1].half_length == approx(2.0 * furthest_travel(given), rel=0.02)


def test_what_shoots_out_from_under_a_heavy_stack_stays_on_the_ground() -> None:
    """A kilogram under 1.4 tonnes: with this seed it gets 134 m away, further than any of them could by itself."""
    given = scenario_of("stack:n=5,mass_ratio=1000,friction=0,seed=3").scene
    assert isinstance(given, PlanarScene)
    motion = simulated(Pymunk(), given)
    furthest = np.unravel_index(np.argmax(np.abs(motion.position[..., 0])), motion.position.shape[:2])
    assert np.abs(motion.position[..., 0]).max() > slab_of(given).half_length
    assert 0.4 < motion.position[furthest][1] < 5.0


@every_engine
def test_a_rocket_stays_on_the_ground_however_far_it_gets(engine: Any) -> None:
    """5000 m/s^2 for a second; Box2D lets nothing move by more than 2 m a step."""
    motion = simulated(engine, rocket_on_the_ground())
    assert motion.position[-1, 0, 0] > 400.0
    assert motion.position[-1, 0, 1] == approx(0.5, abs=0.02)


@every_engine
def test_a_body_that_gets_further_than_its_energy_could_carry_it_is_an_error_with_figures(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that lends it energy; here the bound is taken away instead."""
    monkeypatch.setattr(planar_boundaries, "furthest_travel", lambda scene: 0.0)
    with pytest.raises(
        OffTheSlabError, match=r"body 'ball' moved [\d.e+]+ m along half-plane 'ground'.*for [\d.]+ m: twice.*energy"
    ):
        simulated(engine, rocket_on_the_ground())


@pytest.mark.parametrize("place", [math.inf, -math.inf, math.nan])
def test_a_body_that_is_nowhere_is_not_said_to_have_moved_off_the_ground(place: float) -> None:
    given = rocket_on_the_ground()
    positions = np.array([[[0.0, 0.5]], [[place, 0.5]]])
    assert slab_of(given, math.inf).spans(given, positions)


def test_a_slab_that_is_long_enough_at_once_is_the_only_one() -> None:
    """So results do not depend on how long the longest would be."""
    given = rocket_on_the_ground()
    short, reached = slab_of(given), slab_of(given).half_length + 1.0
    there = np.array([[[reached, 0.5]]])
    assert not short.longest and not short.spans(given, there)
    assert slab_of(given, planar_boundaries.LONGER).spans(given, there)


@every_engine
def test_a_scene_run_again_on_longer_slabs_counts_the_steps_of_the_motion_that_it_gives(engine: Any) -> None:
    with collected_step_times() as times:
        motion = simulated(engine, rocket_on_the_ground())
    given = rocket_on_the_ground()
    assert not slab_of(given).spans(given, motion.position)  # it was run again
    watched = sum(1 for step in range(1, 241) if Recorder(given, DT, velocity_lag=0.0).wants_contacts(step))
    assert len(times) == 240 - (watched if engine.name == "box2d" else 0)
