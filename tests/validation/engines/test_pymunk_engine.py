"""What is peculiar to pymunk: pixels, products, swallowed exceptions, sleepers, facets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import Bowl, ContactLaw, PairLaw, PlanarScene
from tests.validation.engines.planar_scenes import DT, G, ball, box, ground, scene, simulated
from validation.engines.engine import resolve_settings
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.pymunk.world import World
from validation.engines.shared.pair_laws import PairLaws

ENGINE = Pymunk()


def overlapped(depth: float) -> PlanarScene:
    """A light body's width decides the slop: 0.5 m here."""
    return scene(box(width=0.5, position=(0.0, 0.5 - depth), friction=0.5), ground=ground(friction=0.5), duration=3.0)


def test_the_default_slop_is_for_pixels_and_leaves_a_body_five_centimetres_deep() -> None:
    settled = simulated(ENGINE, overlapped(0.05), profile="default").pose[-1, 0, 1]
    assert 0.5 - settled == approx(0.05, abs=1e-3)


def test_the_fair_slop_is_a_thousandth_of_the_narrowest_width_and_a_body_rises_to_it() -> None:
    settings = resolve_settings(ENGINE, "fair", {}, overlapped(0.05), DT)
    assert (settings["collision_slop"], settings["iterations"]) == (approx(0.5e-3), 50)
    settled = simulated(ENGINE, overlapped(0.05)).pose[-1, 0, 1]
    assert 0.5 - settled == approx(0.5e-3, abs=0.1e-3)


def test_an_override_reaches_chipmunk() -> None:
    settled = simulated(ENGINE, overlapped(0.05), collision_slop="0.02").pose[-1, 0, 1]
    assert 0.5 - settled == approx(0.02, abs=1e-3)


def test_an_exception_inside_a_callback_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """pymunk prints it and goes on with the wrong law."""
    pairs = (PairLaw(a="a", b="ground", friction=0.1), PairLaw(a="b", b="ground", friction=0.2))
    laws = ContactLaw(pairs=(*pairs, PairLaw(a="a", b="b", friction=0.9)))
    bodies = (box("a", position=(0.0, 0.499)), box("b", position=(5.0, 0.499)))

    def lost(*members: int) -> Any:
        raise LookupError("no such pair")

    monkeypatch.setattr(PairLaws, "of", lost)
    with pytest.raises(LookupError, match="no such pair"):
        simulated(ENGINE, scene(*bodies, ground=ground(), contact=laws, duration=0.1))


def test_a_body_that_falls_asleep_does_not_change_places_with_one_that_moves() -> None:
    """Chipmunk lists sleeping bodies elsewhere."""
    given = scene(
        box("sleeper", position=(0.0, 0.5), friction=0.5),
        ball("roller", position=(3.0, 0.5), velocity=(1.0, 0.0), spin=-2.0),
        ground=ground(friction=0.5),
        duration=3.0,
    )
    motion = simulated(ENGINE, given, sleep_time_threshold=0.5)
    asleep = motion.time > 1.5
    assert np.ptp(motion.twist[asleep, 0], axis=0) == approx(0.0, abs=0.0)  # to the last bit: not simulated any more
    assert motion.velocity[-1, 1, 0] == approx(1.0, rel=1e-6)
    assert np.all(np.diff(motion.position[:, 1, 0]) > 0.0)


def test_a_start_a_hair_deep_rests_where_it_is_and_one_in_exact_touch_falls_for_a_step() -> None:
    def settled(depth: float) -> float:
        rest = scene(box(position=(0.0, 0.5 - depth), friction=0.5), ground=ground(friction=0.5), duration=2.0)
        return 0.5 - float(simulated(ENGINE, rest).pose[-1, 0, 1])

    assert settled(1e-9) == approx(1e-9, rel=1e-6)
    assert 0.2 * G * DT**2 < settled(0.0) <= G * DT**2


def test_facets_of_a_bowl_know_their_neighbours_and_more_of_them_cost_less_energy() -> None:
    """Without neighbours a disc trips over the corners: more facets would cost it more."""
    start = (0.8 * math.sin(0.3), -0.8 * math.cos(0.3))
    bowl = Bowl(name="bowl", radius=1.0, friction=0.5)
    rolling = scene(ball(radius=0.2, position=start, friction=0.5), boundaries=(bowl,), duration=3.0)

    def kept(segments: int) -> float:
        motion = simulated(ENGINE, rolling, bowl_segments=segments)
        v = motion.velocity[:, 0] - np.array([0.0, -G]) * motion.velocity_lag
        spin = 0.5 * 0.5 * 0.2**2 * motion.spin[:, 0] ** 2
        energy = 0.5 * (v**2).sum(axis=1) + spin + G * (motion.position[:, 0, 1] + 0.8)
        return float(energy[-1] / energy[0])

    few, some, many = kept(64), kept(1024), kept(4096)
    assert few < some < many
    assert many > 0.97


def test_static_bodies_and_the_world_stay_out_of_the_state() -> None:
    given = scene(ball("a", position=(0.0, 5.0)), ball("b", position=(3.0, 1.0)), ground=ground(), duration=1.0)
    world = World(given, DT, resolve_settings(ENGINE, "fair", {}, given, DT))
    assert world.state() == approx(np.array([[0.0, 5.0, 0.0, 0.0, 0.0, 0.0], [3.0, 1.0, 0.0, 0.0, 0.0, 0.0]]))
