"""No gap ends a step below 0, by the geometry itself, and the report says how far off they are."""

import numpy as np
import pytest
from pytest import approx

from reference_engine import EllipsoidWorld, HalfSpace, SpatialSettings, SphereInterior, Stepper
from reference_engine.geometry.ellipsoid_proximity import sphere_interior_proximities

DT = 0.005


def test_a_column_that_strikes_the_ground_ends_above_it():
    """The lowest ball bears the momentum of 100: so much that it would give way by several tolerances."""
    count, r, tolerance = 100, 0.1, 1e-5
    place = np.zeros((count, 3))
    place[:, 2] = r + 0.02 + (2.0 * r + 2.0 * tolerance) * np.arange(count)
    world = EllipsoidWorld(
        np.full((count, 3), r), place, velocity=np.tile((0.0, 0.0, -20.0), (count, 1)), containers=(HalfSpace(),)
    )
    stepper = Stepper(world, DT)
    report = stepper.step()
    gaps = np.append(np.diff(stepper.position[:, 2]) - 2.0 * r, stepper.position[0, 2] - r)
    assert gaps.min() > 0.0
    assert report.gap_error == approx(np.abs(gaps - tolerance).max(), rel=1e-6)  # all began above, and press now


@pytest.mark.parametrize("start", [-0.5, 0.1])
def test_a_ball_jammed_too_low_between_two_planes_is_not_pressed_more_and_more(start):
    """With a friction of 10 no impulse lifts it out of a V: the planes press as in the first step, and it stays."""
    r, tolerance = 0.1, 1e-5
    sides = (HalfSpace(normal=(1.0, 0.0, 1.0)), HalfSpace(normal=(-1.0, 0.0, 1.0)))
    place = [[0.0, 0.0, (r + start * tolerance) * 2.0**0.5]]
    stepper = Stepper(EllipsoidWorld([[r] * 3], place, containers=sides, friction=10.0), DT)
    report = stepper.step()
    pressed = np.abs(stepper.broad_phase.warm_start[0]).max()
    for _ in range(50):
        report = stepper.step()
    assert np.abs(stepper.broad_phase.warm_start[0]).max() == approx(pressed, rel=1e-6)
    assert stepper.gaps().min() == approx(start * tolerance, rel=1e-3)
    assert report.gap_error == approx(0.4 * tolerance - stepper.gaps().min(), rel=1e-6)


def shaft(row, *, width=0.0, start=0.0, mass=1.0, **more):
    """A row of balls of 1 m between two walls and on the ground; wider than they are by `width` m."""
    place = [[start + 0.5 + i, 0.0, 0.5] for i in range(row)]
    walls = HalfSpace((start, 0.0, 0.0), (1.0, 0.0, 0.0)), HalfSpace((start + row + width, 0.0, 0.0), (-1.0, 0.0, 0.0))
    return EllipsoidWorld(np.full((row, 3), 0.5), place, mass=mass, containers=(*walls, HalfSpace()), **more)


@pytest.mark.parametrize("tilt", [0.0, 0.5])
@pytest.mark.parametrize(("row", "friction", "start"), [(1, 0.0, 0.0), (1, 0.5, 0.3), (2, 0.0, 0.0), (3, 0.2, 0.1)])
def test_balls_fill_a_shaft_exactly(row, friction, start, tilt):
    """Their gaps are 0 on both sides, so that none can open; weight that presses on one side opens none, either."""
    tolerance = 2.5e-8
    world = shaft(row, friction=friction, start=start, gravity=(9.81 * tilt, 0.0, -9.81))
    stepper = Stepper(world, 0.001, SpatialSettings(gap_tolerance=tolerance, located=True))
    for _ in range(60):
        stepper.step()
        x = np.sort(stepper.position[:, 0])
        gaps = np.concatenate([[x[0] - start - 0.5], np.diff(x) - 1.0, [start + row - 0.5 - x[-1]]])
        assert gaps.min() > -0.021 * tolerance
    assert stepper.position[:, 2] == approx(0.5, abs=tolerance)


def test_what_overlaps_both_walls_at_the_start_stays_as_it_is():
    tolerance = 1e-7
    stepper = Stepper(shaft(2, width=-0.3 * tolerance, friction=0.5), 0.01, SpatialSettings(gap_tolerance=tolerance))
    for _ in range(30):
        stepper.step()
    x = np.sort(stepper.position[:, 0])
    gaps = np.array([x[0] - 0.5, x[1] - x[0] - 1.0, 1.5 - 0.3 * tolerance - x[1]])
    assert gaps.sum() == approx(-0.3 * tolerance, rel=1e-6)
    assert gaps.min() > -0.33 * tolerance


def test_a_bounce_that_no_impulses_give_is_less_of_a_bounce():
    """With e = 1 its speed across the shaft is to be reversed; with a friction of 1 wall and ground jam it."""
    tolerance = 1e-7
    world = EllipsoidWorld(
        [[0.7] * 3], [[0.7, 0.0, 0.7]], velocity=[[-0.64, -1.09, -1.2]], friction=1.0, restitution=1.0,
        containers=(HalfSpace(normal=(1.0, 0.0, 0.0)), HalfSpace((1.4, 0.0, 0.0), (-1.0, 0.0, 0.0)), HalfSpace()),
    )  # fmt: skip
    stepper = Stepper(world, 1.0 / 60.0, SpatialSettings(gap_tolerance=tolerance, located=True))
    energy = 0.5 * (0.64**2 + 1.09**2 + 1.2**2)
    reduced = 0
    for _ in range(20):
        reduced += stepper.step().reduced_bounces
        lifted = 9.81 * (stepper.position[0, 2] - 0.7)
        assert 0.5 * (stepper.twist[0, :3] ** 2).sum() + lifted <= energy + 1e-6
        assert abs(stepper.position[0, 0] - 0.7) < 0.021 * tolerance
    assert reduced > 0


def test_an_end_that_comes_to_touch_a_hollow_sphere_within_a_step_is_held():
    """At its start the ellipsoid has one furthest point from the sphere's centre, at its end two."""
    axes, radius, place, turned = (0.05, 0.145, 0.06), 0.35, (-0.1, -0.0231, -0.2733), (-0.467, -0.249, -0.293, 0.796)
    before = sphere_interior_proximities([axes], [place], [turned], radius=radius).near.gap
    world = EllipsoidWorld(
        [axes], [place], orientation=[turned], velocity=[(0.611, -0.225, -1.721)], spin=[(3.34, 10.9, -0.4)],
        containers=(SphereInterior(radius),), friction=0.5,
    )  # fmt: skip
    stepper = Stepper(world, DT)
    stepper.step()
    after = sphere_interior_proximities([axes], stepper.position, stepper.orientation, radius=radius).near.gap
    assert (len(before), len(after)) == (1, 2)
    assert after.min() > 0.0


def test_what_is_fixed_may_stand_in_a_container_and_is_met_by_others():
    """A fixed ball half in the ground; another falls beside its top, slides off and lies on the ground."""
    place = [(0.0, 0.0, 0.1), (0.05, 0.0, 0.41)]
    world = EllipsoidWorld([[0.2] * 3, [0.1] * 3], place, fixed=[True, False], containers=(HalfSpace(),))
    stepper = Stepper(world, DT)
    nearest = np.inf
    for _ in range(200):
        stepper.step()
        nearest = min(nearest, float(np.linalg.norm(stepper.position[1] - stepper.position[0])) - 0.3)
    assert 0.0 < nearest < 1e-4
    assert 0.0 < stepper.position[1, 2] - 0.1 < 1e-4
    assert stepper.position[0] == approx(place[0], abs=0.0)
