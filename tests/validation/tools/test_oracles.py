"""Laws without a reference hold also where numbers end."""

from __future__ import annotations

import numpy as np
import pytest

from tests.validation.metrics.motions import disc, planar, plane, times
from validation.records.simulation import Simulation
from validation.tools.fuzzing.oracles import judge_scene

APART = plane(disc("a"), disc("b", position=(5.0, 0.0)), gravity=(0.0, 0.0))


def judged(speed: float) -> dict[str, str]:
    """Two discs at rest, of which one has this speed (m/s) from the middle on."""
    t = times(0.1)
    pose = np.tile([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]], (len(t), 1, 1))
    twist = np.zeros_like(pose)
    twist[len(t) // 2 :, 0, 0] = speed
    return judge_scene(APART, 0.01, Simulation(outcome="completed", trajectory=planar(t, pose, twist)))


def test_what_rests_breaks_no_law():
    assert judged(0.0) == {}


@pytest.mark.parametrize("speed", [1.0, 1e160, 1e300, 1.7e308])
def test_a_speed_from_nowhere_breaks_both_laws_however_large_it_is(speed):
    assert {"energy gained", "momentum not kept"} <= judged(speed).keys()
