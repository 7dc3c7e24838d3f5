"""What is pybullet's own: its defaults, its globals, its pair law, its speeds, its plane."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import (
    Box,
    ContactLaw,
    Ellipsoid,
    HalfSpace,
    PairLaw,
    PlanarScene,
    Rod,
    Rope,
    SpatialScene,
    Sphere,
    spatial_start,
)
from tests.effort import few
from tests.validation.engines.planar_scenes import ball, box, ground, scene
from tests.validation.engines.spatial_scenes import DT, G, in_plane, in_space, solid, space

pb = pytest.importorskip("pybullet", reason="no wheel for this Python")
from validation.engines.engine import resolve_settings  # noqa: E402
from validation.engines.pybullet.adapter import PyBullet  # noqa: E402
from validation.engines.pybullet.world import Built  # noqa: E402

OUT_OF_THE_BOX = {
    "iterations": "numSolverIterations",
    "residual_threshold": "solverResidualThreshold",
    "contact_breaking_threshold": "contactBreakingThreshold",
    "contact_erp": "contactERP",
    "contact_slop": "contactSlop",
    "restitution_velocity_threshold": "restitutionVelocityThreshold",
    "cone_friction": "enableConeFriction",
    "global_cfm": "globalCFM",
    "deterministic_overlapping_pairs": "deterministicOverlappingPairs",
}
OTHERWISE = {
    "iterations": 3,
    "residual_threshold": 0.0,
    "contact_breaking_threshold": 0.001,
    "contact_erp": 0.2,
    "contact_slop": 1e-3,
    "restitution_velocity_threshold": 0.0,
    "cone_friction": False,
    "global_cfm": 1e-3,
    "deterministic_overlapping_pairs": True,
}
SLOP_SPEED = 1.01e-5 / DT  # m/s: Bullet lets what is near sink by its slop within the step


def bounce(restitution: float, duration: float = 1.0) -> PlanarScene:
    """From 1 m: it lands at 0.45 s with 4.43 m/s."""
    drop = ball(radius=0.1, position=(0.0, 1.1), restitution=restitution)
    return scene(drop, ground=ground(restitution=restitution), duration=duration)


def first_apex(motion: Any) -> float:
    """m above the ground, after the first impact."""
    fallen = int(np.argmax(motion.time > 0.5))
    return float(motion.position[fallen:, 0, 1].max()) - 0.1


# --- defaults ------------------------------------------------------------------------------------------------


def tumbling_pile(**parameters: Any) -> list[tuple[float, ...]]:
    """Poses after 1 s in a client in which nothing but `parameters` is set."""
    client = pb.connect(pb.DIRECT)
    try:
        pb.setGravity(0.0, 0.0, -G, physicsClientId=client)
        if parameters:
            pb.setPhysicsEngineParameter(**parameters, physicsClientId=client)
        pb.createMultiBody(0.0, pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client), physicsClientId=client)
        cube = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=[0.5] * 3, physicsClientId=client)
        bodies = []
        for i in range(4):
            at = [0.03 * math.sin(3.0 * i), 0.02 * i, 0.6 + 1.05 * i]
            bodies.append(pb.createMultiBody(1.0, cube, basePosition=at, physicsClientId=client))
            pb.changeDynamics(bodies[-1], -1, lateralFriction=0.7, restitution=0.6, physicsClientId=client)
            pb.resetBaseVelocity(bodies[-1], [0.0, 0.0, -1.0], [0.5, 0.2, 0.3], physicsClientId=client)
        for _ in range(240):
            pb.stepSimulation(physicsClientId=client)
        poses = [pb.getBasePositionAndOrientation(body, physicsClientId=client) for body in bodies]
        return [(*position, *orientation) for position, orientation in poses]
    finally:
        pb.disconnect(physicsClientId=client)


@pytest.mark.parametrize(("name",), few(3, [(name,) for name in OUT_OF_THE_BOX]))
def test_a_default_is_what_pybullet_does_when_nothing_is_set(name: str) -> None:
    """pybullet cannot be asked for most of them. Set to its default the motion is the same to the last bit.

    That another value makes another motion shows that the setting arrives at all.
    """
    parameter, default = OUT_OF_THE_BOX[name], PyBullet.settings[name].default
    try:
        untouched = tumbling_pile()
        assert tumbling_pile(**{parameter: int(default) if isinstance(default, bool) else default}) == untouched
        assert tumbling_pile(**{parameter: OTHERWISE[name]}) != untouched
    finally:
        tumbling_pile(contactBreakingThreshold=PyBullet.settings["contact_breaking_threshold"].default)


def test_damping_and_the_limit_of_speed_are_those_of_a_body_that_pybullet_makes() -> None:
    client = pb.connect(pb.DIRECT)
    try:
        sphere = pb.createCollisionShape(pb.GEOM_SPHERE, radius=0.5, physicsClientId=client)
        body = pb.createMultiBody(1.0, sphere, physicsClientId=client)
        pb.resetBaseVelocity(body, [300.0, 0.0, 0.0], [0.0, 0.0, 2.0], physicsClientId=client)
        for _ in range(240):
            pb.stepSimulation(physicsClientId=client)
        (speed, _, _), (_, _, spin) = pb.getBaseVelocity(body, physicsClientId=client)
    finally:
        pb.disconnect(physicsClientId=client)
    given = space(
        solid(Sphere(radius=0.5), velocity=(300.0, 0.0, 0.0), spin=(0.0, 0.0, 2.0)), gravity=(0.0,) * 3, duration=1.0
    )
    motion = in_space(PyBullet(), given, "default")
    assert motion.velocity[-1, 0, 0] == approx(speed) and speed < 100.0
    assert motion.spin[-1, 0, 2] == approx(spin) and spin < 2.0


@pytest.mark.parametrize("planar", [True, False])
def test_the_default_damping_grows_with_the_speed(planar: bool) -> None:
    """v' = -d v (1 + v): v / (1 + v) falls by exp(-d t). The same in the plane and in space."""
    if planar:
        motion: Any = in_plane(
            PyBullet(), scene(ball(velocity=(3.0, 0.0), spin=4.0), gravity=(0.0, 0.0), duration=1.0), "default"
        )
        speed, spin = motion.velocity[-1, 0, 0], motion.spin[-1, 0]
    else:
        flying = solid(Sphere(radius=0.5), velocity=(3.0, 0.0, 0.0), spin=(0.0, 0.0, 4.0))
        motion = in_space(PyBullet(), space(flying, gravity=(0.0,) * 3, duration=1.0), "default")
        speed, spin = motion.velocity[-1, 0, 0], motion.spin[-1, 0, 2]
    assert speed / (1.0 + speed) == approx(3.0 / 4.0 * math.exp(-0.04), rel=1e-3)
    assert spin / (1.0 + spin) == approx(4.0 / 5.0 * math.exp(-0.04), rel=1e-3)


def test_fair_neither_damps_nor_cuts_off() -> None:
    """At 300 m/s and 1000 rad/s; Bullet's own limit is 100 of either."""
    fast = space(
        solid(Sphere(radius=0.5), velocity=(300.0, 0.0, 0.0), spin=(0.0, 0.0, 1000.0)), gravity=(0.0,) * 3, duration=1.0
    )
    motion = in_space(PyBullet(), fast)
    assert motion.position[-1, 0, 0] == approx(300.0, rel=1e-12)
    assert motion.spin[-1, 0, 2] == approx(1000.0, rel=1e-12)
    planar = in_plane(PyBullet(), scene(ball(velocity=(300.0, 0.0), spin=1000.0), gravity=(0.0, 0.0), duration=1.0))
    assert planar.pose[-1, 0] == approx([300.0, 0.0, 1000.0], rel=1e-12)


# --- process-global state ---------------------------------------------------------------------------------------


def test_what_one_simulation_sets_does_not_reach_the_next_in_the_same_process() -> None:
    """The breaking threshold is a variable of the library: it outlives its client."""
    engine, resting = PyBullet(), scene(box(position=(0.0, 0.51), angle=0.1), ground=ground(), duration=0.5)
    first = in_plane(engine, resting, "default").state_hash
    changed = in_plane(engine, resting, "default", contact_breaking_threshold=1e-4).state_hash
    assert changed != first
    assert in_plane(engine, resting, "default").state_hash == first


def test_a_client_made_before_is_used_once_and_changes_nothing() -> None:
    given = bounce(0.5)
    engine = PyBullet()
    cold = in_plane(engine, given).state_hash
    engine.warm_up()
    assert in_plane(engine, given).state_hash == cold
    assert in_plane(engine, given).state_hash == cold


# --- restitution --------------------------------------------------------------------------------------------------


def test_the_fair_profile_lets_a_ball_rebound_and_the_default_does_not() -> None:
    """e = 0.9: 0.81 m, and first order in dt more. By default no impact slower than 0.02 m a step has any."""
    for dt, error in ((1 / 240, 0.03), (1 / 1000, 0.01)):
        assert first_apex(in_plane(PyBullet(), bounce(0.9), dt=dt)) == approx(0.81, rel=error)
    assert first_apex(in_plane(PyBullet(), bounce(0.9), "default", dt=1 / 2000)) < 0.1


def test_contact_erp_adds_energy_to_a_rebound_so_that_fair_leaves_it_out_where_there_is_restitution() -> None:
    fair = first_apex(in_plane(PyBullet(), bounce(1.0, 1.5)))
    pushed = first_apex(in_plane(PyBullet(), bounce(1.0, 1.5), contact_erp=0.2))
    assert fair == approx(1.0, rel=0.03)
    assert pushed > fair + 0.03
    profile = PyBullet().profile
    assert profile("fair", bounce(0.9), DT)["contact_erp"] == 0.0
    assert "contact_erp" not in profile("fair", bounce(0.0), DT) and profile("default", bounce(0.9), DT) == {}


def test_slow_impacts_keep_their_restitution() -> None:
    """Below Bullet's threshold of 0.2 m/s."""
    slow = ball(velocity=(0.0, -0.1), position=(0.0, 0.52), restitution=0.5)
    shot = scene(slow, ground=ground(restitution=0.5), gravity=(0.0, 0.0), duration=0.5)
    assert in_plane(PyBullet(), shot).velocity[-1, 0, 1] == approx(0.05, abs=SLOP_SPEED)
    held = in_plane(PyBullet(), shot, restitution_velocity_threshold=0.2)
    assert held.velocity[-1, 0, 1] == approx(0.0, abs=SLOP_SPEED)


# --- the law of each pair -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule, e", [("geometric-mean", 0.4), ("product", 0.16), ("mean", 0.5), ("min", 0.2), ("max", 0.8)]
)
def test_a_ball_leaves_the_wall_with_e_of_its_approach_speed_under_every_rule(rule: Any, e: float) -> None:
    law = ContactLaw(restitution_rule=rule)
    shot = ball(position=(0.0, 2.0), velocity=(0.0, -10.0), restitution=0.2)
    planar = scene(shot, ground=ground(restitution=0.8), contact=law, gravity=(0.0, 0.0), duration=0.5)
    assert in_plane(PyBullet(), planar).velocity[-1, 0, 1] == approx(10.0 * e, abs=SLOP_SPEED)
    thrown = solid(Sphere(radius=0.5), position=(0.0, 0.0, 2.0), velocity=(0.0, 0.0, -10.0), restitution=0.2)
    floor = HalfSpace(name="floor", restitution=0.8)
    spatial = space(thrown, floor=floor, contact=law, gravity=(0.0,) * 3, duration=0.5)
    assert in_space(PyBullet(), spatial).velocity[-1, 0, 2] == approx(10.0 * e, abs=SLOP_SPEED)


def test_laws_that_no_product_makes_are_declined_with_the_reason() -> None:
    names = ("left", "right", "ground")
    pairs = (PairLaw(a="left", b="right", friction=0.9), PairLaw(a="left", b="ground", friction=0.2))
    bodies = (ball("left"), ball("right", position=(3.0, 0.0)))
    odd = scene(*bodies, ground=ground(friction=0.3), contact=ContactLaw(pairs=pairs), duration=0.1)
    assert names[2] == odd.boundaries[0].name
    assert "multiplies the friction" in str(PyBullet().declines(odd))
    rough = scene(ball(friction=12.0), ground=ground(friction=12.0), duration=0.1)
    assert "cuts the friction of a pair off at 10; this scene has 12" in str(PyBullet().declines(rough))


def test_bullet_cuts_friction_off_at_ten() -> None:
    """The reason for declining more: pulled with 11 g, a box of mu = 20 slides as one of mu = 10 would."""
    client = pb.connect(pb.DIRECT)
    try:
        pb.setGravity(11.0 * G, 0.0, -G, physicsClientId=client)
        flat = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=[5.0, 5.0, 0.01], physicsClientId=client)
        plane = pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client)
        bodies = [pb.createMultiBody(0.0, plane, physicsClientId=client)]
        bodies.append(pb.createMultiBody(1.0, flat, basePosition=[0.0, 0.0, 0.01], physicsClientId=client))
        for body in bodies:
            pb.changeDynamics(body, -1, lateralFriction=math.sqrt(20.0), linearDamping=0.0, physicsClientId=client)
        for _ in range(120):
            pb.stepSimulation(physicsClientId=client)
        (speed, _, _), _ = pb.getBaseVelocity(bodies[1], physicsClientId=client)
    finally:
        pb.disconnect(physicsClientId=client)
    assert speed == approx(0.5 * G, rel=0.15)  # of 20: 0


# --- the plane --------------------------------------------------------------------------------------------------------


def test_a_prism_cannot_leave_the_plane() -> None:
    """A stack that sways and slides: in space its bodies would have tipped out of the plane by now."""
    bodies = [box(f"{i}", position=(0.2 * i, 0.5 + i), friction=0.3, mass=10.0**i) for i in range(4)]
    given = scene(*bodies, ground=ground(friction=0.3), duration=1.0)
    engine, client = PyBullet(), pb.connect(pb.DIRECT)
    try:
        world = Built(client, given, DT, resolve_settings(engine, "fair", {}, given, DT))
        for _ in range(240):
            pb.stepSimulation(physicsClientId=client)
        for number, link in world.addresses:
            state = pb.getLinkState(number, link, 1, 1, physicsClientId=client)
            (_, _, z), (x, y, _, _), (_, _, vz), (wx, wy, _) = state[0], state[1], state[6], state[7]
            assert (z, x, y, vz, wx, wy) == (0.0,) * 6
    finally:
        pb.disconnect(physicsClientId=client)


def test_the_solver_s_early_exit_works_in_the_plane_as_in_space() -> None:
    """By default it gives up early and leaves a block rocking by microns a second; without it all is still.

    A contact's friction along z against a body that has no freedom there would make the residual 0/0, never small.
    """
    standing = scene(box(height=3.0, position=(0.0, 1.5), friction=0.5), ground=ground(friction=0.5), duration=2.0)
    early, late = (in_plane(PyBullet(), standing, residual_threshold=limit) for limit in (1e-7, 0.0))
    assert early.state_hash != late.state_hash
    assert 1.5 - early.position[-1, 0, 1] > 1.1e-5 > 1.5 - late.position[-1, 0, 1]


def test_in_space_a_stack_of_prisms_stands_as_it_does_in_the_plane() -> None:
    """Equal masses, started at rest: the plane takes nothing from the stack but its way out of it."""
    offsets = (0.001, -0.002, 0.0015)
    planar = scene(
        *(box(f"{i}", position=(x, 0.5 + i), friction=0.5) for i, x in enumerate(offsets)),
        ground=ground(friction=0.5),
        duration=1.0,
    )
    spatial: SpatialScene = space(
        *(
            solid(Box(size=(1.0, 1.0, 1.0)), f"{i}", position=(x, 0.0, 0.5 + i), friction=0.5)
            for i, x in enumerate(offsets)
        ),
        floor=HalfSpace(name="floor", friction=0.5),
        duration=1.0,
    )
    flat, solid_stack = in_plane(PyBullet(), planar), in_space(PyBullet(), spatial)
    assert flat.position[-1, :, 1] == approx(solid_stack.position[-1, :, 2], abs=1e-5)
    assert flat.position[-1, 2, 1] == approx(2.5 - 3e-5, abs=1e-5)  # 1e-5 m in each contact: Bullet's slop
    assert spatial_start(spatial)[0][:, 2] == approx([0.5, 1.5, 2.5])


# --- what it cannot be ----------------------------------------------------------------------------------------------


def test_what_bullet_cannot_represent_it_declines_in_words() -> None:
    ends: dict[str, Any] = {"a": "ball", "anchor_a": (0.0, 0.0), "anchor_b": (0.0, 0.0), "length": 1.0}
    for joint, word in (
        (Rod(name="rod", **ends), "keeps a distance"),
        (Rope(name="rope", **ends), "limits a distance"),
    ):
        assert word in str(PyBullet().declines(scene(ball(), joints=(joint,), duration=1.0)))


def test_an_ellipsoid_is_a_mesh_that_rests_on_its_shortest_axis() -> None:
    """At most as high as the ellipsoid would be, and lower by no more than a facet's sag."""
    egg = solid(Ellipsoid(semi_axes=(0.3, 0.2, 0.1)), position=(0.0, 0.0, 0.1), friction=0.5)
    motion = in_space(PyBullet(), space(egg, floor=HalfSpace(name="floor", friction=0.5), duration=1.0))
    assert -2e-3 < motion.position[-1, 0, 2] - 0.1 < 1e-6


def test_a_block_that_stands_sinks_by_the_slop_and_lies_still() -> None:
    """1 x 3 m, 4 s: measured by others: 1.0e-5 m."""
    standing = scene(box(height=3.0, position=(0.0, 1.5), friction=0.5), ground=ground(friction=0.5), duration=4.0)
    motion = in_plane(PyBullet(), standing)
    assert 1.5 - motion.position[-1, 0, 1] == approx(1e-5, rel=0.01)
    assert np.abs(motion.twist[-1]).max() < 1e-9
