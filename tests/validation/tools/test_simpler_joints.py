"""A scene with joints is simplified as one: joints stay met, a chain gets shorter by a link."""

from random import Random

import hypothesis
import numpy as np
import pytest
from hypothesis import Phase, settings

from scenarios.joints import Rod
from scenarios.scene import Disc, PlanarBody, PlanarScene, Scene
from scenarios.strategies import mechanisms
from scenarios.strategies.allowed import Allowed
from validation.tools.fuzzing.simpler import SAME_GAP, SIMPLIFICATIONS, gap_at_start, simplified

PLANE = Allowed(space="planar", shapes=frozenset({"polygon"}), joints=frozenset({"revolute"}))
SPACE = Allowed(space="spatial", shapes=frozenset({"capsule"}), joints=frozenset({"hinge", "ball"}))
ONE = settings(max_examples=2000, deadline=None, phases=(Phase.generate,), database=None)
BOTH = pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])


def a_chain(allowed: Allowed, links: int, hung: int) -> Scene:
    """Bent, in motion if it hangs by one end."""

    def wanted(scene: Scene) -> bool:
        moves = hung == 2 or any(any(body.velocity) for body in scene.bodies)
        ties = sum(joint.b is None for joint in scene.joints)
        bent = len({str(getattr(body, "orientation", None) or body.angle) for body in scene.bodies}) > 1
        return len(scene.bodies) == links and ties == hung and bent and moves

    return hypothesis.find(mechanisms.arrangements(allowed)["chain"], wanted, settings=ONE, random=Random(1))


def all_simpler(scene: Scene, about: tuple[str, ...] = ()) -> list[Scene]:
    return [simpler for simplify in SIMPLIFICATIONS for simpler in simplified(scene, simplify, about)]


@BOTH
def test_every_simpler_scene_has_its_joints_met(allowed: Allowed) -> None:
    scene = a_chain(allowed, 4, hung=1)
    trials = all_simpler(scene)
    assert trials
    assert all(gap_at_start(simpler) <= SAME_GAP for simpler in trials)


@BOTH
def test_a_chain_gets_shorter_by_a_link_and_is_still_one(allowed: Allowed) -> None:
    """Down to one link that hangs from where the first one hung."""
    scene = a_chain(allowed, 5, hung=1)
    hook = next(joint for joint in scene.joints if joint.b is None).anchor_b
    while len(scene.bodies) > 1:
        scene = next(
            simpler
            for simpler in all_simpler(scene)
            if len(simpler.bodies) == len(simpler.joints) == len(scene.bodies) - 1
        )
        assert gap_at_start(scene) <= SAME_GAP
    (joint,) = scene.joints
    assert joint.b is None and joint.anchor_b == pytest.approx(hook)


@BOTH
def test_all_links_come_to_rest_at_once(allowed: Allowed) -> None:
    scene = a_chain(allowed, 3, hung=1)
    resting = [
        simpler
        for simpler in all_simpler(scene)
        if len(simpler.bodies) == 3 and not any(any(body.velocity) for body in simpler.bodies)
    ]
    assert resting and all(len(simpler.joints) == 3 for simpler in resting)


@BOTH
def test_a_chain_hung_by_both_ends_loses_no_link_between_them(allowed: Allowed) -> None:
    """Its two ends are where they are: only half of it can be taken out, or a joint."""
    scene = a_chain(allowed, 4, hung=2)
    for simpler in all_simpler(scene):
        whole = len(simpler.joints) - len(simpler.bodies)
        assert len(simpler.bodies) == 4 or whole < 1


def a_loop(count: int) -> PlanarScene:
    """Beads at the corners of a regular polygon, tied by rods."""
    angle = 2.0 * np.pi * np.arange(count) / count
    place = [(float(np.cos(a)), float(np.sin(a))) for a in angle]
    beads = tuple(
        PlanarBody(name=f"bead {i}", mass=1.0, shape=Disc(radius=0.1), position=p) for i, p in enumerate(place)
    )
    rods = tuple(
        Rod(
            name=f"rod {i}",
            a=f"bead {i}",
            b=f"bead {(i + 1) % count}",
            anchor_a=(0.0, 0.0),
            anchor_b=(0.0, 0.0),
            length=2.0 * float(np.sin(np.pi / count)),
        )
        for i in range(count)
    )
    return PlanarScene(bodies=beads, joints=rods, duration=1.0)


def test_a_loop_of_rods_gets_smaller_by_a_bead_and_stays_closed() -> None:
    smaller = [simpler for simpler in all_simpler(a_loop(5)) if len(simpler.joints) == 4]
    closed = [one for one in smaller if len(one.bodies) == 4 and one.duration == 1.0]
    assert len(closed) == 5
    assert all(gap_at_start(one) <= SAME_GAP for one in closed)
    lengths = sorted(joint.length for joint in closed[0].joints)
    assert lengths == pytest.approx([*3 * [2.0 * np.sin(np.pi / 5.0)], 2.0 * np.sin(2.0 * np.pi / 5.0)])


def test_first_only_what_the_law_is_broken_of_is_tried_then_what_ties_that_then_parts() -> None:
    """Of a chain of eight in which the second and the fourth body are at fault."""
    chain = PlanarScene(bodies=a_loop(8).bodies, joints=a_loop(8).joints[:-1], duration=1.0)
    names = [{body.name for body in simpler.bodies} for simpler in all_simpler(chain, ("bead 1", "bead 3"))]
    assert names[:2] == [{"bead 1", "bead 3"}, {"bead 1", "bead 2", "bead 3"}]
    assert {f"bead {i}" for i in range(4)} in names and {f"bead {i}" for i in range(4, 8)} in names
    pairs_left_out = [found for found in names if len(found) == 6]
    assert {f"bead {i}" for i in (0, 1, 2, 4, 6, 7)} in pairs_left_out, "two that are not beside one another"
