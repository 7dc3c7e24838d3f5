"""No gap ends a step below 0, by the geometry itself, and the report says how far off they are."""

import numpy as np
import pytest
from pytest import approx

from reference_engine import EllipsoidWorld, HalfSpace, SphereInterior, Stepper
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
