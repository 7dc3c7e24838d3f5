"""Walkers: clear of one another at the start, every hinge closed, the same for the same seed."""

import numpy as np
import pytest

from scenarios.catalogue import FAMILIES, canonical_suite, comparison_suite
from scenarios.catalogue.walkers import walkers
from scenarios.scene import content_hash
from tests.scenarios.start_gaps import start_gaps
from validation.engines.shared.joint_tree import joint_forest, start_fault


@pytest.mark.parametrize("seed", [1, 2])
def test_at_the_start_all_are_clear_of_each_other_and_of_the_ground(seed):
    assert start_gaps(walkers(seed=seed).scene) == {}


def test_a_walker_is_a_free_base_with_sixteen_hinges_on_it():
    """22 degrees of freedom each; a thigh hangs on the torso, a shin on its thigh, and nothing closes a loop."""
    scene = walkers(n=3).scene
    links, loops = joint_forest(scene)
    assert (len(links), loops) == (3 * 17, ())
    assert sum(6 if link.joint is None else 1 for link in links) == 3 * 22
    assert start_fault(scene) is None
    chains = [link.parent for link in links if link.joint is not None and links[link.parent].joint is not None]
    assert len(chains) == 3 * 8


def test_limbs_have_their_joints_at_both_ends_and_unit_orientations():
    bodies = {body.name: body for body in walkers(n=1).scene.bodies}
    thigh, shin = bodies["thigh 1.1"], bodies["shin 1.1"]
    assert np.linalg.norm(np.subtract(thigh.position, bodies["walker 1"].position)) == pytest.approx(0.1, abs=1e-12)
    assert np.linalg.norm(thigh.orientation) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(np.subtract(shin.position, thigh.position)) < 0.2 + 1e-12


def test_the_same_seed_gives_the_same_walkers_and_more_of_them_stand_above():
    assert content_hash(walkers(seed=7).scene) == content_hash(walkers(seed=7).scene)
    assert content_hash(walkers(seed=7).scene) != content_hash(walkers(seed=8).scene)
    assert walkers(n=4).scene.bodies[:17] == walkers(n=1).scene.bodies


def test_versions_are_compared_by_them_and_a_run_goes_without():
    assert not FAMILIES["walkers"].canonical
    assert "walkers" not in {scenario.name for scenario in canonical_suite()}
    assert [scenario.label for scenario in comparison_suite()].count("walkers") == 1
