"""Mechanisms that are drawn: joints met to round-off, velocities that no joint has to correct, simple once shrunk."""

import functools
import json
from random import Random

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reference_engine.rotation import matrices
from scenarios.scene import PlanarScene, Scene, content_hash, parse_scene, write_scene
from scenarios.strategies import branched, mechanisms
from scenarios.strategies.allowed import Allowed
from tests.effort import tries
from tests.scenarios.start_gaps import start_gaps

PLANE = Allowed(
    space="planar",
    shapes=frozenset({"polygon", "disc"}),
    boundaries=frozenset({"half-plane"}),
    joints=frozenset({"revolute", "prismatic", "rod", "rope"}),
)
SPACE = Allowed(
    space="spatial",
    shapes=frozenset({"box", "sphere", "capsule"}),
    boundaries=frozenset({"half-space"}),
    joints=frozenset({"ball", "hinge", "slider", "rod", "rope", "fixed"}),
    along=frozenset({"spring", "damping", "friction", "limits", "motor"}),
)
NAMES = {
    "planar": ("chain", "loop", "robot", "rope", "cart", "robots"),
    "spatial": ("chain", "loop", "robot", "rope", "cart", "robots", "arm"),
}
EACH = [pytest.param(one, name, id=f"{one.space} {name}") for one in (PLANE, SPACE) for name in NAMES[one.space]]
SMALL = settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEARCH = settings(max_examples=1000, deadline=None, phases=(Phase.generate, Phase.shrink), database=None)


@functools.cache
def drawn(allowed: Allowed, name: str) -> st.SearchStrategy[Scene]:
    return (mechanisms.arrangements(allowed) | branched.arrangements(allowed))[name]


def anchor(scene: Scene, name: str | None, point: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where a body's point, given in its frame, is, and how fast; of the world where there is no name."""
    local = np.array(point)
    if name is None:
        return local, np.zeros(len(local))
    (body,) = [body for body in scene.bodies if body.name == name]
    if isinstance(scene, PlanarScene):
        c, s = np.cos(body.angle), np.sin(body.angle)
        arm = np.array([[c, -s], [s, c]]) @ local
        turning = body.spin * np.array([-arm[1], arm[0]])
    else:
        arm = matrices(np.array(body.orientation)) @ local
        turning = np.cross(body.spin, arm)
    return np.array(body.position) + arm, np.array(body.velocity) + turning


@pytest.mark.parametrize(("allowed", "name"), EACH)
@SMALL
@given(data=st.data())
def test_joints_are_met_and_nothing_pulls_them_apart_or_overlaps(allowed, name, data):
    scene = data.draw(drawn(allowed, name))
    assert scene.joints
    for joint in scene.joints:
        (p, v), (q, w) = anchor(scene, joint.a, joint.anchor_a), anchor(scene, joint.b, joint.anchor_b)
        if joint.kind in ("rod", "rope"):
            distance = float(np.linalg.norm(p - q))
            assert distance <= joint.length + 1e-12 and (joint.kind == "rope" or distance >= joint.length - 1e-12)
            assert not v.any() and not w.any()
        else:
            assert np.abs(p - q).max() < 1e-12
            assert np.abs(v - w).max() < 1e-10
    assert min(start_gaps(scene).values(), default=0.0) >= -1e-9
    assert content_hash(parse_scene(json.loads(write_scene(scene)))) == content_hash(scene)


@pytest.mark.parametrize(("allowed", "name"), EACH)
def test_shrinks_to_few_bodies_of_1_kg_at_rest(allowed, name):
    scene = hypothesis.find(drawn(allowed, name), lambda scene: True, settings=SEARCH, random=Random(1))
    most = {"chain": 2, "loop": 5, "robot": 5, "rope": 1, "cart": 1, "robots": 3, "arm": 1}[name]
    assert len(scene.bodies) <= most
    assert {body.mass for body in scene.bodies} == {1.0}
    assert not any(np.any(body.velocity) or np.any(body.spin) for body in scene.bodies)


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
def test_an_engine_without_some_joints_gets_none_of_them(allowed):
    for kind in sorted(allowed.joints):
        only = Allowed(
            space=allowed.space, shapes=allowed.shapes, boundaries=allowed.boundaries, joints=frozenset({kind})
        )
        for strategy in mechanisms.arrangements(only).values():
            scene = hypothesis.find(strategy, lambda scene: True, settings=SEARCH, random=Random(1))
            assert {joint.kind for joint in scene.joints} == {kind}
    assert mechanisms.arrangements(Allowed(space=allowed.space, shapes=allowed.shapes)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
def test_limbs_of_robots_lie_side_by_side_in_another_order_than_they_are_listed_in(allowed):
    """The second touches the first, and neither the third, which touches the first."""

    def tangled(scene: Scene) -> bool:
        first, second, third = (f"limb {k}.1 of robot 1" for k in (1, 2, 3))
        gaps = start_gaps(scene)
        near = [abs(gaps.get(pair, 1.0)) < 1e-9 for pair in ((first, second), (first, third), (second, third))]
        return near == [True, True, False]

    assert hypothesis.find(drawn(allowed, "robots"), tangled, settings=SEARCH, random=Random(1))


@pytest.mark.parametrize("allowed", [PLANE, SPACE], ids=["planar", "spatial"])
def test_a_robot_stands_on_its_feet_or_a_little_above_the_ground(allowed):
    def stands(scene: Scene) -> bool:
        gaps = [gap for pair, gap in start_gaps(scene).items() if "ground" in pair]
        return sum(abs(gap) < 1e-9 for gap in gaps) == (2 if allowed.space == "planar" else 4)

    assert hypothesis.find(drawn(allowed, "robot"), stands, settings=SEARCH, random=Random(1))
