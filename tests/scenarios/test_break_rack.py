"""The break: how the rack stands, and the one impact whose time is known."""

import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue.break_rack import RADIUS, RUN_UP, break_rack
from tests.scenarios.start_gaps import start_gaps


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_thirty_pairs_of_the_rack_are_a_gap_apart_and_none_is_closer(space):
    gaps = start_gaps(break_rack(space=space).scene)
    assert len(gaps) == 30
    assert list(gaps.values()) == approx([1e-3] * 30, rel=1e-9)


def test_the_cue_ball_strikes_the_first_of_the_rack_head_on():
    scenario = break_rack(speed=8.0)
    cue, first = scenario.scene.bodies[:2]
    (event,) = scenario.truth.events
    assert {event.a, event.b} == {cue.name, first.name}
    reached = np.array(cue.position) + event.time * np.array(cue.velocity)
    assert np.linalg.norm(reached - first.position) == approx(2.0 * RADIUS, rel=1e-15)
    assert event.time == approx(RUN_UP / 8.0)


def test_a_slower_break_is_given_longer():
    assert break_rack(speed=5.0).scene.duration == break_rack(speed=20.0).scene.duration == 1.0
    assert break_rack(speed=1.0).scene.duration == 5.0


def test_energy_is_a_law_only_without_loss():
    assert "energy" in break_rack().truth.invariants
    lossy = break_rack(restitution=0.9)
    assert "energy" not in lossy.truth.invariants and lossy.headline not in lossy.meaningless
