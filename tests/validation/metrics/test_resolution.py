"""What a measurement cannot resolve: single precision, and the free fall through a time step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.validation.metrics.motions import DT, GROUND, G, block, measured, planar, plane, scenario, still, times
from validation.metrics.metric import round_off, step_fall
from validation.metrics.observation import Observation

FALL = G * DT**2  # m, of a body that semi-implicit Euler lets fall through one step
ON_GROUND = plane(block(), boundaries=(GROUND,))
RESTING = still((0.0, 0.5, 0.0))


def observed(scene=ON_GROUND, motion=RESTING):
    return Observation(scenario=scenario(scene), trajectory=motion)


def test_a_block_that_touches_is_resolved_to_two_falls_of_a_step_and_to_what_follows_from_them():
    """A unit block of 1 kg: its corners are sqrt(1/2) from the centre."""
    o = observed()
    assert step_fall(o, "m") == pytest.approx(2.0 * FALL, rel=1e-12)
    assert step_fall(o, "rad") == pytest.approx(2.0 * FALL / math.sqrt(0.5), rel=1e-12)
    assert step_fall(o, "m/s") == pytest.approx(2.0 * G * DT, rel=1e-12)
    assert step_fall(o, "J") == pytest.approx(2.0 * G * FALL, rel=1e-12)
    assert step_fall(o, "s") == pytest.approx(2.0 * DT, rel=1e-12)


def test_falls_of_several_bodies_add_like_a_random_walk():
    nine = plane(*(block(f"block {i}") for i in range(9)), boundaries=(GROUND,))
    t, B = times(1.0), 9
    o = observed(nine, planar(t, np.zeros((len(t), B, 3)), np.zeros((len(t), B, 3))))
    assert step_fall(o, "m") == pytest.approx(4.0 * FALL, rel=1e-12)


def test_without_gravity_nothing_falls_and_at_rest_single_precision_knows_lengths_alone():
    weightless = ON_GROUND.model_copy(update={"gravity": (0.0, 0.0)})
    o = observed(weightless)
    assert step_fall(o, "m") == step_fall(o, "J") == 0.0
    assert round_off(o, "m") == pytest.approx(1e-6 * math.sqrt(2.0), rel=1e-12)
    assert round_off(o, "J") == round_off(o, "kg m/s") == round_off(o, "no such unit") == 0.0


@pytest.mark.parametrize(
    ("noise", "least"),
    [("exact", None), ("tolerance", 1e-6 * math.sqrt(2.0)), ("step", 2.0 * FALL), ("chaotic", 2.0 * FALL)],
)
def test_the_noise_class_decides_what_a_length_is_resolved_to(noise, least):
    found = measured(ON_GROUND, RESTING, noise={"penetration_mean": noise})["penetration_mean"]
    assert found.resolution == (None if least is None else pytest.approx(least, rel=1e-12))
