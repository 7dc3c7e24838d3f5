"""One step from a given state is a function of that state alone, on every engine whose state can be set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scenarios.scene import PlanarScene, Revolute
from tests.validation.engines.planar_scenes import DT, ball, box, ground, scene
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.answers import abilities_of
from validation.engines.engine import resolve_settings
from validation.engines.shared.replay import one_step
from validation.judging.evidence.replay import chosen, distance, own_distance, taken
from validation.records.trajectory import Trajectory

SETTABLE = [
    word
    for word in present_engines()
    if (able := abilities_of(load_engine(engine_of(word))).get("set_state")) is not None and able.works
]

HEAP: PlanarScene = scene(
    box("lower", position=(0.0, 0.5)),
    box("upper", position=(0.1, 1.52), angle=0.05, velocity=(0.5, -1.0)),
    ball("free", position=(3.0, 4.0), velocity=(1.0, 0.0), spin=2.0),
    duration=0.5,
    ground=ground(friction=0.5),
)
"""Impact, contact and flight at once."""
HUNG: PlanarScene = scene(
    box("rod", width=0.1, position=(0.0, -0.5), spin=3.0),
    duration=0.5,
    joints=(Revolute(name="hinge", a="rod", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0)),),
)


def steps(word: str, scene: PlanarScene, states: Trajectory | None = None) -> tuple[Trajectory, Trajectory, Trajectory]:
    """The engine's motion, states of it, and a step from each of them."""
    engine: Any = load_engine(engine_of(word))
    settings = resolve_settings(engine, "fair", {}, scene, DT)
    motion = engine.simulate(scene, DT, settings)
    states = chosen(motion, 20) if states is None else states
    return motion, states, one_step(engine, scene, DT, settings, states)


def bits(motion: Trajectory) -> list[bytes]:
    return [getattr(motion, name).tobytes() for name in motion.STATE]


@pytest.mark.parametrize("word", SETTABLE)
@pytest.mark.parametrize("scene", [HEAP, HUNG], ids=["heap", "hung"])
def test_two_replays_agree_to_the_last_bit_whatever_was_stepped_before(word: str, scene: PlanarScene) -> None:
    """Also where only every third state is given: no impulse, contact or warning is carried from one to the next."""
    _, states, first = steps(word, scene)
    some = np.arange(0, len(states.time), 3)
    assert bits(steps(word, scene, states)[2]) == bits(first)
    assert bits(steps(word, scene, taken(states, some))[2]) == bits(taken(first, some))


@pytest.mark.parametrize("word", SETTABLE)
def test_a_step_of_a_flight_is_the_one_that_was_recorded(word: str) -> None:
    """Nothing but the state counts there; where bodies touch, the impulses of the step before are not in it."""
    engine: Any = load_engine(engine_of(word))
    motion, states, after = steps(word, HEAP)
    recorded = np.searchsorted(motion.time, states.time + 0.5 * DT)
    follows = np.flatnonzero(np.abs(motion.time[recorded] - states.time - DT) < 1e-9)
    assert follows.size
    apart = distance(taken(after, follows), taken(motion, recorded[follows]), HEAP)
    assert apart[:, 2].max() <= 1e3 * engine.round_off * 10.0  # m/s and m of a second's flight
    assert apart.max() == own_distance(motion, states, after, HEAP)
