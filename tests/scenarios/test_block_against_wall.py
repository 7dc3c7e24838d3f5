"""A block sliding down a wall: the ladder as its limit, the forces, the moment when it lets go."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import quad, solve_ivp

from scenarios.catalogue.block_against_wall import LENGTH, WIDTH, Fall, block_against_wall, steepest_slide

G = 9.81


def test_a_block_without_width_is_the_frictionless_ladder():
    """Leaves at cos = 2/3 cos(0.5), keeps sqrt(g L c) c / 3; L = 2."""
    ladder = Fall(0.5, 0.0, 0.0, width=0.0)
    theta, omega = ladder._on_wall.at(ladder.leaves)
    assert math.cos(theta) == approx(2.0 / 3.0 * math.cos(0.5), rel=1e-14)
    assert ladder.leaves == approx(0.4749873338931869, rel=1e-13)
    assert omega == approx(2.074739132053058, rel=1e-13)
    c = math.cos(0.5)
    assert ladder.final_speed == approx(math.sqrt(G * 2.0 * c) * c / 3.0, rel=1e-13)
    assert ladder.lands == approx(0.703667037949906, rel=1e-13)
    assert ladder._off_wall.at(ladder.lands)[1] == approx(3.436361149605363, rel=1e-13)


def test_the_ladder_with_friction_at_both_ends():
    ladder = Fall(0.8, 0.3, 0.2, width=0.0)
    start = np.array([[0.8], [0.0]])
    assert ladder._slide(start[0], start)[1, 0] == approx(2.1068060881279047, rel=1e-14)
    assert ladder.wall_force(start)[0] == approx(3.733421587729569, rel=1e-14)
    floor_force = ladder._centre_acceleration(start)[1] - 0.2 * ladder.wall_force(start)
    assert floor_force[0] == approx(7.551985502791338, rel=1e-14)
    assert ladder.leaves == approx(0.538795390477227, rel=1e-13)
    assert ladder._on_wall.at(ladder.leaves) == approx([1.19509704686483, 1.835897798442307], rel=1e-13)


def test_the_block_tends_to_the_ladder_as_its_width_does_to_nothing():
    ladder = Fall(0.5, 0.0, 0.0, width=0.0)
    errors = [abs(Fall(0.5, 0.0, 0.0, width=w).leaves - ladder.leaves) for w in (1e-2, 1e-3, 1e-4)]
    assert errors[0] / errors[1] == approx(10.0, rel=0.02)
    assert errors[1] / errors[2] == approx(10.0, rel=0.002)


def test_the_time_to_leave_the_wall_is_the_quadrature_of_the_energy():
    """theta'^2 = 2 g (V_0 - V) / (4/3 (a^2 + b^2) - 2 a b sin 2 theta),  V = a cos + b sin."""
    a, b, block = LENGTH / 2.0, WIDTH / 2.0, Fall(0.5, 0.0, 0.0)

    def V(theta):
        return a * math.cos(theta) + b * math.sin(theta)

    def slowness(s):
        theta = 0.5 + s * s
        mass = 4.0 / 3.0 * (a * a + b * b) - 2.0 * a * b * math.sin(2.0 * theta)
        return 2.0 * s * math.sqrt(mass / (2.0 * G * (V(0.5) - V(theta))))

    theta, omega = block._on_wall.at(block.leaves)
    time, _ = quad(slowness, 1e-9, math.sqrt(theta - 0.5), epsabs=1e-13, epsrel=1e-12)
    assert block.leaves == approx(time, abs=1e-8)  # the first 1e-9 of s are left out
    assert omega == approx(2.0 * (math.sqrt(theta - 0.5)) / slowness(math.sqrt(theta - 0.5)), rel=1e-12)


@pytest.mark.parametrize(("lean", "mu_f", "mu_w"), [(0.5, 0.0, 0.0), (0.8, 0.3, 0.2), (0.6, 0.15, 0.0)])
def test_newton_and_euler_hold_along_the_whole_fall(lean, mu_f, mu_w):
    """The exact poses differentiated, against forces at the two corners: on the cone, at the corners, never pulling."""
    block, h = Fall(lean, mu_f, mu_w), 1e-4
    for low, high, on_wall in ((0.01, block.leaves - 0.01, True), (block.leaves + 0.01, block.lands - 0.01, False)):
        time = np.linspace(low, high, 15)
        before, now, after = (block.pose(time + d)[:, 0] for d in (-h, 0.0, h))
        force = (before - 2.0 * now + after) / h**2
        force[:, :2] += np.array([0.0, G])
        c, s = np.cos(now[:, 2]), np.sin(now[:, 2])
        foot = np.stack([s * LENGTH / 2.0 - c * WIDTH / 2.0, -c * LENGTH / 2.0 - s * WIDTH / 2.0], axis=1)
        top = np.stack([-s * LENGTH / 2.0 - c * WIDTH / 2.0, c * LENGTH / 2.0 - s * WIDTH / 2.0], axis=1)
        N_w = (force[:, 0] + mu_f * force[:, 1]) / (1.0 + mu_f * mu_w) if on_wall else np.zeros(len(time))
        N_f = force[:, 1] - mu_w * N_w
        assert np.all(N_f > 0.0) and np.all(N_w > 0.0) == on_wall
        if not on_wall:
            assert force[:, 0] == approx(-mu_f * N_f, abs=1e-5)
        torque = top[:, 0] * mu_w * N_w - top[:, 1] * N_w + foot[:, 0] * N_f + foot[:, 1] * mu_f * N_f
        inertia = (LENGTH**2 + WIDTH**2) / 12.0
        assert force[:, 2] * inertia == approx(torque, abs=1e-5)
        assert (now[:, :2] + foot)[:, 1] == approx(0.0, abs=1e-13)  # on the floor
        gap = (now[:, :2] + top)[:, 0]
        assert gap == approx(0.0, abs=1e-13) if on_wall else np.all(gap > 0.0)
    assert block.slides_on


def test_pose_and_speed_do_not_jump_where_it_leaves_the_wall_and_its_speed_along_the_floor_stays():
    block = Fall(0.5, 0.0, 0.0)
    before, after = block.pose(block.leaves + np.array([-1e-7, 1e-7]))[:, 0]
    assert after == approx(before, abs=1e-6)
    x = block.pose(np.array([block.leaves, block.lands, block.lands + 0.2]))[:, 0, 0]
    assert (x[1] - x[0]) / (block.lands - block.leaves) == approx(block.final_speed, rel=1e-12)
    assert (x[2] - x[1]) / 0.2 == approx(block.final_speed, rel=1e-12)


def test_the_free_fall_off_the_wall_agrees_with_another_integrator():
    block = Fall(0.7, 0.1, 0.0)
    start = block._off_wall.at(block.leaves)
    end = solve_ivp(
        lambda t, y: block._free(t, y), (block.leaves, block.lands), start, method="DOP853", rtol=1e-13, atol=1e-14
    )
    assert end.y[:, -1] == approx(block._off_wall.at(block.lands), abs=1e-11)


def test_friction_holds_the_block_up_to_the_lean_at_which_both_corners_would_slide():
    assert steepest_slide(0.3, 0.2, width=0.0) == approx(0.5681047324744272, rel=1e-14)
    assert steepest_slide(0.3, 0.0, width=0.0) == approx(0.5404195002705842, rel=1e-14)
    assert steepest_slide(2.0, 0.5) == math.pi / 2.0
    limit = steepest_slide(0.3, 0.2)
    sliding = Fall(limit + 1e-6, 0.3, 0.2)
    start = np.array([[limit + 1e-6], [0.0]])
    assert 0.0 < sliding._slide(start[0], start)[1, 0] < 1e-4  # about to


def test_below_the_limit_the_scenario_rests_above_it_slides():
    limit = steepest_slide(0.3, 0.2)
    resting = block_against_wall(lean=limit - 0.01, floor_friction=0.3, wall_friction=0.2)
    assert "rest" in resting.truth.invariants and resting.regime == "rest"
    body = resting.scene.bodies[0]
    assert resting.truth.pose(np.array([0.0, 1.0]))[1, 0] == approx([*body.position, body.angle])
    sliding = block_against_wall(lean=limit + 0.01, floor_friction=0.3, wall_friction=0.2)
    assert "rest" not in sliding.truth.invariants


def test_the_goal_is_not_met_by_a_block_that_never_fell():
    goal = block_against_wall().truth.goal
    still = SimpleNamespace(angle=np.full((3, 1), 0.5), velocity=np.ones((3, 1, 2)))
    assert math.isnan(goal.measure(still))
    fallen = SimpleNamespace(angle=np.full((3, 1), 1.57), velocity=np.ones((3, 1, 2)))
    assert goal.measure(fallen) == 1.0


def test_the_pair_laws_give_each_corner_its_friction():
    scene = block_against_wall(floor_friction=0.5, wall_friction=0.1).scene
    block, (ground, wall) = scene.bodies[0], scene.boundaries
    assert scene.pair_law(block, ground) == (0.5, 0.0) and scene.pair_law(block, wall) == (0.1, 0.0)


def test_from_a_gap_only_the_speed_and_what_is_conserved_is_known():
    touching, off = block_against_wall(), block_against_wall(start="at-gap")
    moved = np.subtract(off.scene.bodies[0].position, touching.scene.bodies[0].position)
    assert moved == approx([0.005, 0.005])
    assert off.truth.pose is None and off.truth.error == 1e-3
    assert off.truth.goal.value == touching.truth.goal.value
    held = block_against_wall(start="at-gap", floor_friction=0.5)
    assert held.truth.invariants == {"energy-not-gained"} and held.truth.goal is None
