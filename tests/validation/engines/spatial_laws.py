"""What an engine in maximal coordinates or in single precision owes a scene: laws that Rapier, PhysX and DART all keep.

A subclass gives the engine and how exact it is; its tests are those of this class and its own.
"""

from __future__ import annotations

import math
import os
from typing import Any, ClassVar

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import (
    ArcPolygon,
    Box,
    Capsule,
    ContactLaw,
    Cylinder,
    HalfSpace,
    Hinge,
    PlanarBody,
    Prismatic,
    Revolute,
    Slider,
    Sphere,
    Spring,
)
from scenarios.scene import Ball as BallJoint
from tests.validation.engines.planar_scenes import Array, ball, box, ground, scene
from tests.validation.engines.spatial_scenes import (
    DT,
    G,
    angular_momentum,
    in_plane,
    in_space,
    momentum_imbalance,
    motion_of,
    solid,
    space,
)

PULL = 0.1  # m/s^2 beyond what friction holds


class SpatialLaws:
    engine: ClassVar[Any]
    lag: ClassVar[float] = -0.5  # of a step, with the fair profile
    round_off: ClassVar[float] = 1e-6  # relative, of a second's motion
    stack_depth: ClassVar[float]  # m, mean penetration of a stack of 10 at rest
    joint_gap: ClassVar[float] = 1e-4  # of the links' size
    reports_friction: ClassVar[bool] = True  # impulses, in the plane

    @pytest.mark.parametrize("planar", [True, False])
    def test_a_thrown_ball_keeps_its_energy_once_the_velocity_is_taken_at_the_time_of_the_pose(
        self, planar: bool
    ) -> None:
        """A ballistic flight; with a lag of the wrong sign it would lose at least 0.05 J."""
        given: Any = scene(ball(velocity=(3.0, 4.0), spin=2.0), duration=1.0)
        if not planar:
            given = space(solid(Sphere(radius=0.5), velocity=(3.0, 1.0, 4.0), spin=(1.0, 2.0, 3.0)), duration=1.0)
        motion = motion_of(self.engine, given)

        def energy(lag: float) -> Array:
            v = motion.velocity[:, 0] - np.array(given.gravity) * lag
            return 0.5 * (v**2).sum(axis=1) + G * motion.position[:, 0, -1]

        assert motion.velocity_lag == approx(self.lag * DT)
        assert np.ptp(energy(motion.velocity_lag)) < 200.0 * self.round_off
        assert np.ptp(energy(-motion.velocity_lag)) > 0.02

    def test_a_motion_starts_as_the_scene_says_and_fixed_bodies_stay(self) -> None:
        wall = PlanarBody(name="wall", shape=ball().shape, fixed=True, position=(9.0, 9.0), angle=7.0)
        given = scene(box(position=(1.0, 2.0), angle=10.0, velocity=(3.0, 4.0), spin=-5.0), wall, duration=0.1)
        motion = in_plane(self.engine, given)
        assert motion.pose[0, 0] == approx([1.0, 2.0, 10.0], rel=1e-6)
        assert motion.twist[0, 0] == approx([3.0, 4.0, -5.0], rel=1e-6)
        assert motion.pose[-1, 1].tolist() == [9.0, 9.0, 7.0] and not motion.twist[-1, 1].any()

    def test_a_body_that_turns_more_than_half_a_turn_in_a_step_keeps_its_count(self) -> None:
        """1000 rad/s are 4.2 rad a step; Rapier's own integration of so fast a turn is 2 % short."""
        motion = in_plane(self.engine, scene(ball(spin=1000.0), gravity=(0.0, 0.0), duration=1.0))
        assert motion.angle[-1, 0] == approx(1000.0, rel=0.03)

    def test_a_free_body_tumbles_by_euler_s_equations(self) -> None:
        """About the middle axis, over three turnovers: energy and angular momentum stay to 1 %."""
        given = space(
            solid(Box(size=(1.0, 1.0, 1.0)), inertia=(1.0, 2.0, 2.999), spin=(0.01, 1.0, 0.01)),
            gravity=(0.0, 0.0, 0.0),
            duration=25.0,
        )
        momentum, energy = angular_momentum(given, in_space(self.engine, given))
        assert np.abs(momentum - momentum[0]).max() < 0.01 * np.linalg.norm(momentum[0])
        assert np.abs(energy / energy[0] - 1.0).max() < 0.01

    def test_the_same_scene_twice_and_in_a_fork_is_the_same_motion_to_the_last_bit(self) -> None:
        bodies = [box(f"box {i}", position=(0.01 * i, 0.6 + 1.1 * i), friction=0.4) for i in range(3)]
        pile = scene(*bodies, duration=0.5, ground=ground(friction=0.4))
        first, second = in_plane(self.engine, pile), in_plane(self.engine, pile)
        assert first.state_hash == second.state_hash and np.array_equal(first.pose, second.pose)
        receive, send = os.pipe()
        if (child := os.fork()) == 0:
            os.write(send, in_plane(self.engine, pile).state_hash.encode())
            os._exit(0)
        os.close(send)
        with os.fdopen(receive) as answer:
            assert answer.read() == first.state_hash
        os.waitpid(child, 0)

    @pytest.mark.parametrize(
        "rule, mu", [("geometric-mean", 0.4), ("product", 0.16), ("mean", 0.5), ("min", 0.2), ("max", 0.8)]
    )
    def test_friction_takes_mu_g_from_the_pull_on_a_box_for_the_pair_s_mu_under_every_rule(
        self, rule: Any, mu: float
    ) -> None:
        law, pull = ContactLaw(friction_rule=rule), mu * G + PULL
        crate = box(width=2.0, position=(0.0, 0.5), friction=0.2)
        pulled = scene(crate, ground=ground(friction=0.8), contact=law, gravity=(pull, -G), duration=1.0)
        motion = in_plane(self.engine, pulled)
        assert pull - motion.velocity[-1, 0, 0] / motion.time[-1] == approx(mu * G, rel=0.01)
        slab = solid(Box(size=(2.0, 2.0, 0.2)), position=(0.0, 0.0, 0.1), friction=0.2)
        floor = HalfSpace(name="floor", friction=0.8)
        sliding = space(slab, floor=floor, contact=law, gravity=(0.0, pull, -G), duration=1.0)
        moving = in_space(self.engine, sliding)
        assert pull - moving.velocity[-1, 0, 1] / moving.time[-1] == approx(mu * G, rel=0.01)

    @pytest.mark.parametrize("restitution", [0.3, 0.8])
    def test_a_ball_rebounds_with_the_pair_s_share_of_its_speed(self, restitution: float) -> None:
        """From 2 m, at 6.3 m/s; the step of the impact is of first order in dt."""
        law = ContactLaw(restitution_rule="product")
        dropped = scene(
            ball(position=(0.0, 2.5), restitution=restitution / 0.9),
            ground=ground(restitution=0.9),
            contact=law,
            duration=0.75,
        )
        motion = in_plane(self.engine, dropped)
        assert motion.velocity[:, 0, 1].max() == approx(restitution * math.sqrt(2.0 * G * 2.0), rel=0.02)

    def test_without_friction_a_box_slides_on_for_ever(self) -> None:
        slide = scene(box(position=(0.0, 0.5), velocity=(8.0, 0.0)), ground=ground(friction=0.8), duration=1.0)
        assert in_plane(self.engine, slide).velocity[-1, 0, 0] == approx(8.0, rel=self.round_off)

    def test_a_stack_of_ten_stands_and_sinks_no_deeper_than_the_fair_profile_has_it(self) -> None:
        boxes = [box(f"box {i}", position=(0.0, 0.5 + i), friction=0.5) for i in range(10)]
        motion = in_plane(self.engine, scene(*boxes, ground=ground(friction=0.5), duration=2.0))
        gaps = np.diff(np.concatenate([[-0.5], motion.position[-1, :, 1]])) - 1.0
        assert -self.stack_depth < gaps.mean() < 1e-5
        assert np.abs(motion.position[-1, :, 0]).max() < 1e-3

    @pytest.mark.parametrize(
        "shape, height",
        [
            (Sphere(radius=0.3), 0.3),
            (Box(size=(1.0, 0.8, 0.6)), 0.3),
            (Capsule(radius=0.3, length=0.8), 0.7),
            (Cylinder(radius=0.3, length=0.8), 0.4),
        ],
        ids=["sphere", "box", "capsule", "cylinder"],
    )
    def test_every_shape_rests_at_its_own_height(self, shape: Any, height: float) -> None:
        """Capsules and cylinders stand along z; 0.2 s, in which none falls over."""
        resting = space(solid(shape, position=(0.0, 0.0, height)), floor=HalfSpace(name="floor"), duration=0.2)
        assert in_space(self.engine, resting).position[-1, 0] == approx([0.0, 0.0, height], abs=1e-3)

    def test_bodies_of_one_group_pass_through_one_another_and_others_do_not(self) -> None:
        def shot(*groups: int) -> Array:
            bodies = (
                ball("a", position=(-2.0, 0.0), velocity=(5.0, 0.0), group=groups[0]),
                ball("b", group=groups[1]),
                ball("c", position=(2.0, 5.0), group=groups[0]),
            )
            return in_plane(self.engine, scene(*bodies, gravity=(0.0, 0.0), duration=1.0)).velocity[-1, :2, 0]

        assert shot(70_000, 70_000) == approx([5.0, 0.0])
        for groups in ((0, 0), (1, 2)):
            after = shot(*groups)
            assert after.sum() == approx(5.0, rel=1e-6) and after[1] > 1.0

    def test_reported_impulses_carry_a_ball_s_weight_and_balance_its_momentum(self) -> None:
        resting = scene(ball(position=(0.0, 0.5), mass=2.0), ground=ground(), duration=1.0)
        motion = in_plane(self.engine, resting)
        assert momentum_imbalance(resting, motion) < 1e-5 * 2.0 * G * DT
        contacts = motion.contacts
        assert contacts is not None
        assert contacts.impulse[-1, 1] * (1.0 if contacts.b[-1] == 0 else -1.0) == approx(2.0 * G * DT, rel=1e-3)
        assert contacts.normal[-1, 1] == approx(1.0 if contacts.b[-1] == 0 else -1.0)
        assert contacts.point[-1] == approx([0.0, 0.0], abs=1e-3) and abs(contacts.gap[-1]) < 1e-3

    def test_impulses_with_friction_balance_a_sliding_box_or_are_not_said(self) -> None:
        sliding = scene(
            box(position=(0.0, 0.5), velocity=(5.0, 0.0), friction=0.3), ground=ground(friction=0.3), duration=1.0
        )
        motion = in_plane(self.engine, sliding)
        assert motion.contacts is not None
        if not self.reports_friction:
            assert np.isnan(motion.contacts.impulse).all()
            return
        assert momentum_imbalance(sliding, motion) < 1e-4 * G * DT  # single precision of 5 m/s

    def test_a_planar_hinge_a_slider_and_their_chain_keep_their_anchors(self) -> None:
        """Planar hinges of bodies that cannot turn out of the plane had 0/0 in their rows."""
        arm = box("arm", width=1.0, height=0.2, position=(0.5, 0.0))
        tip = box("tip", width=1.0, height=0.2, position=(1.5, 0.0))
        joints = (
            Revolute(name="shoulder", a="arm", anchor_a=(-0.5, 0.0), anchor_b=(0.0, 0.0)),
            Revolute(name="elbow", a="arm", b="tip", anchor_a=(0.5, 0.0), anchor_b=(-0.5, 0.0)),
        )
        pose = in_plane(self.engine, scene(arm, tip, joints=joints, duration=2.0)).pose
        along = [np.column_stack([np.cos(a), np.sin(a)]) for a in pose[:, :, 2].T]
        elbow = pose[:, 0, :2] + 0.5 * along[0] - pose[:, 1, :2] + 0.5 * along[1]
        assert np.abs(pose[:, 0, :2] - 0.5 * along[0]).max() < self.joint_gap
        assert np.abs(elbow).max() < self.joint_gap
        assert np.ptp(pose[:, 0, 1]) > 0.4  # it swings
        rail = Prismatic(name="rail", a="box", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), axis=(3.0, -4.0))
        slid = in_plane(self.engine, scene(box(angle=0.0), joints=(rail,), duration=1.0))
        assert slid.pose[-1, 0] == approx(0.5 * 0.8 * G * np.array([0.6, -0.8, 0.0]), rel=0.01, abs=1e-4)

    def test_a_hinge_a_ball_and_a_slider_in_space_keep_what_they_hold(self) -> None:
        at: Any = {"anchor_a": (0.0, 0.0, 1.0), "anchor_b": (0.0, 0.0, 0.0)}
        hung = solid(
            Box(size=(0.2, 0.2, 0.5)), position=(0.0, 0.0, -1.0), velocity=(0.0, 1.0, 0.0), spin=(1.0, 0.0, 0.0)
        )
        for joint in (
            Hinge(name="pin", a="solid", axis=(1.0, 0.0, 0.0), **at),
            BallJoint(name="ball", a="solid", **at),
        ):
            motion = in_space(self.engine, space(hung, joints=(joint,), duration=2.0))
            assert np.linalg.norm(motion.position[:, 0], axis=1) == approx(1.0, abs=self.joint_gap)
            assert np.abs(motion.position[:, 0, 0]).max() < self.joint_gap
            assert motion.position[:, 0, 1].max() == approx(0.3, abs=0.05)
        rail = Slider(name="rail", a="solid", anchor_a=(0.0,) * 3, anchor_b=(0.0,) * 3, axis=(0.0, 3.0, -4.0))
        slid = in_space(self.engine, space(solid(Box(size=(1.0, 1.0, 1.0))), joints=(rail,), duration=1.0))
        assert slid.position[-1, 0] == approx(0.5 * 0.8 * G * np.array([0.0, 0.6, -0.8]), rel=0.01, abs=1e-4)
        assert slid.orientation[-1, 0] == approx([1.0, 0.0, 0.0, 0.0], abs=1e-4)

    def test_a_spring_swings_at_sqrt_k_over_m(self) -> None:
        """k = 100 N/m, 1 kg: 10 rad/s, a tenth of a metre; after a whole swing it is back to a part of dt."""
        spring = Spring(a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=100.0)
        swing = scene(ball(position=(0.1, 0.0)), springs=(spring,), gravity=(0.0, 0.0), duration=2.0 * math.pi / 10.0)
        x = in_plane(self.engine, swing).position[:, 0, 0]
        assert x[-1] == approx(0.1, rel=0.15) and x.min() == approx(-0.1, rel=0.1)

    def test_what_it_cannot_represent_it_declines_in_words(self) -> None:
        lens = PlanarBody(
            name="lens", shape=ArcPolygon(vertices=((-1.0, 0.0), (1.0, 0.0)), bulges=(0.3, 0.3)), mass=1.0, inertia=1.0
        )
        assert "arc" in self.engine.declines(scene(lens, duration=1.0))

    def test_a_world_goes_on_from_the_state_that_it_is_given(self) -> None:
        """Steps of a free flight from a state in the middle of another's; a velocity forgotten would stop it."""
        given = space(solid(Box(size=(1.0, 1.0, 1.0)), velocity=(1.0, 2.0, 3.0), spin=(3.0, 2.0, 1.0)), duration=1.0)
        settings = self.engine.profile("fair", given, DT)
        settings = {name: settings.get(name, one.default) for name, one in self.engine.settings.items()}
        first, second = (self.engine.build(given, DT, settings) for _ in range(2))
        first.read()
        for _ in range(10):
            first.step(watched=False)
            middle = [part[0] for part in first.decode(first.read(), 1)]
        second.set_state(*middle, time=10 * DT)
        for world in (first, second):
            for _ in range(10):
                world.step(watched=False)
        ends = [world.decode(world.read(), 1) for world in (first, second)]
        for one, other in zip(*ends):
            assert one == approx(other, abs=20.0 * self.round_off)

    def test_a_force_acts_for_one_step_at_its_point(self) -> None:
        """1 N on 1 kg at an arm of 0.5 m: F dt, and a spin of r F dt / I."""
        given = scene(box(), gravity=(0.0, 0.0), duration=1.0)
        settings = {name: one.default for name, one in self.engine.settings.items()}
        settings |= self.engine.profile("fair", given, DT)
        world = self.engine.build(given, DT, settings)
        world.read()
        world.apply_force(0, (0.0, 1.0), point=(0.5, 0.0))
        for _ in range(3):
            world.step(watched=False)
        _, twist = world.decode(world.read(), 1)
        assert twist[0, 0] == approx([0.0, DT, 0.5 * DT * 6.0], rel=0.01, abs=1e-7)
