"""Points of bodies that are held on curves: beads with known motions, and the original's own two tests."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, FaithfulSettings, World, WorldError, box, faithful_simulate, simulate
from reference_engine.planar_model.connectors import Path, PathEnd, PathJoint, curve
from tests.reference_engine.contactsim.recorded import PATHS, NotRepresented, connector_of

G = 9.81
BILATERAL = FaithfulSettings(extra_acceleration="velocity_joints")


def bead(path, row, *others, speed=0.0, restitution=0.5):
    """A disc of 2 kg whose centre is held on the path, at a row of its table, with a speed along it."""
    _, x, y, dx, dy, _, _ = path.table[row]
    body = Body(shape=Disc(0.01), position=(x, y), velocity=(speed * dx, speed * dy), mass=2.0)
    joint = PathJoint(body=0, point=(0.0, 0.0), path=path)
    return World(bodies=(body,), connectors=(joint, *others), gravity=(0.0, -G), restitution=restitution)


def cycloid(a=0.5):
    """x = a (t + sin t), y = -a (1 + cos t): lowest at t = 0."""
    return curve(lambda t: (a * (t + math.sin(t)), -a * (1.0 + math.cos(t))), -3.0, 3.0)


@pytest.mark.parametrize("start", [500, 2000, 4000])
def test_on_a_cycloid_a_bead_is_at_the_bottom_in_the_same_time_from_everywhere(start):
    """Huygens: half a swing takes pi sqrt(4 a / g) / 2, whatever its width."""
    quarter = math.pi * math.sqrt(0.5 / G)
    motion = faithful_simulate(bead(cycloid(), start), quarter, quarter / 100.0, BILATERAL)
    assert abs(motion.pose[-1, 0, 0]) < 1e-4  # of up to 1.5 m: the nearest point is found to 1e-6 m


def test_a_bead_on_a_circle_is_pressed_by_its_weight_and_by_what_turns_it():
    """At the bottom: m (g + v^2 / r), at the side: m v^2 / r; at the side gravity slows it by g."""
    circle = curve(lambda t: (1.5 * math.cos(t), 1.5 * math.sin(t)), -math.pi, math.pi, closed=True)
    for angle, weight in ((-math.pi / 2.0, G), (0.0, 0.0)):
        row = circle.nearest((1.5 * math.cos(angle), 1.5 * math.sin(angle)))
        motion = faithful_simulate(bead(circle, row, speed=3.0), 1e-3, 1e-3, BILATERAL)
        assert motion.contacts_at(0).force[0] == pytest.approx(2.0 * (weight + 9.0 / 1.5), rel=1e-3)


def test_a_bead_goes_round_a_loop_again_and_again_and_keeps_its_energy():
    """v = 9 m/s at the bottom of a circle of 1 m: 5.7 rounds in 5 s; 1/2 v^2 + g y stays."""
    circle = curve(lambda t: (math.cos(t), math.sin(t)), -math.pi / 2.0, 3.0 * math.pi / 2.0, closed=True)
    motion = faithful_simulate(bead(circle, 0, speed=9.0), 5.0, 0.005, BILATERAL)
    (x, y), (u, v) = motion.pose[:, 0, :2].T, motion.twist[:, 0, :2].T
    turned = np.unwrap(np.arctan2(y, x))
    assert turned[-1] - turned[0] > 5.0 * 2.0 * math.pi
    assert np.hypot(x, y) == pytest.approx(1.0, abs=1e-4)
    assert 0.5 * (u**2 + v**2) + G * y == pytest.approx(0.5 * 81.0 - G, rel=1e-4)


@pytest.mark.parametrize("lower", [False, True])
def test_an_end_of_a_path_throws_a_bead_back(lower):
    """Down a slide of 45 degrees, 2 m from rest, along the path or against it; it comes back to e^2 of the way."""
    slide = curve(lambda t: (4.0 - t, t - 4.0) if lower else (t, -t), 0.0, 4.0)
    limit = slide.length - 2.0 if lower else 2.0
    end = PathEnd(body=0, point=(0.0, 0.0), path=slide, limit=limit, lower=lower)
    fall = math.sqrt(2.0 * 2.0 / (G * math.sin(math.pi / 4.0)))
    motion = faithful_simulate(bead(slide, -1 if lower else 0, end), 1.5 * fall, 1.5 * fall / 300.0, BILATERAL)
    along = math.sqrt(2.0) * motion.pose[:, 0, 0]
    assert len(motion.impacts.time) == 1 and motion.impacts.time[0] == pytest.approx(fall, rel=3e-3)
    assert along.max() < 2.0 and along[-1] == pytest.approx(2.0 * (1.0 - 0.25), abs=0.01)


def test_behind_its_end_a_path_goes_on_straight():
    """A bead that leaves a level path at 1 m/s goes on level."""
    level = curve(lambda t: (t, 0.0), 0.0, 1.0)
    motion = faithful_simulate(bead(level, 8000, speed=1.0), 1.0, 0.01, BILATERAL)
    assert motion.pose[-1, 0, :2] == pytest.approx([level.table[8000, 1] + 1.0, 0.0], abs=1e-6)


def roller(path, connectors, restitution, duration):
    """A block of 1 m by 3 m at 45 degrees, held 0.9 m below its centre, at the row nearest to where that point was."""
    c = math.cos(math.pi / 4.0)
    row = path.nearest((-4.0 + 0.9 * c, 4.0 - 0.9 * c))
    x, y = path.table[row, 1:3]
    block = Body(shape=box(1.0, 3.0), position=(x - 0.9 * c, y + 0.9 * c), angle=math.pi / 4.0)
    world = World(bodies=(block,), connectors=connectors, gravity=(0.0, -3.0), restitution=restitution)
    motion = faithful_simulate(world, duration, 0.025, BILATERAL)
    return [*motion.pose[-1, 0], *motion.twist[-1, 0]]


def test_the_originals_block_on_a_hump_ends_where_it_says():
    """Seven digits stated by the engine's own test, MiscellanyTest.roller_hump_test."""
    path = PATHS["MiscellanyTest.roller_hump"]()
    end = roller(path, (PathJoint(body=0, point=(0.0, -0.9), path=path),), 0.8, 4.0)
    assert end == pytest.approx([0.9930475, 3.1804777, 6.084699, 0.7033436, -2.0938717, 0.8542802], abs=1e-7)


def test_the_originals_block_on_a_circle_with_a_stop_ends_where_it_says():
    """The same of MiscellanyTest.roller_end_point_test: seven impacts at the stop."""
    path = PATHS["MiscellanyTest.roller_end_point"]()
    limit = float(path.table[path.nearest((-2.0, -2.0)), 0])
    held = {"body": 0, "point": (0.0, -0.9), "path": path}
    end = roller(path, (PathJoint(**held), PathEnd(**held, limit=limit)), 0.5, 10.0)
    assert end == pytest.approx([-1.7363317, -2.9337104, 9.8677229, 0.5083806, 0.2411583, 0.6252024], abs=1e-7)


def test_a_recorded_path_is_that_of_its_test_or_refused():
    row = {"type": "PathEndPoint", "str": 'PathEndPoint{body_:=Polygon{"BLOCK"}}'}
    end = connector_of(row, {"WALL": 0, "BLOCK": 1}, "MiscellanyTest.roller_end_point_test")
    assert end.body == 1 and end.limit == pytest.approx(0.375 * 6.0 * math.pi, abs=3e-3)
    with pytest.raises(NotRepresented, match="PathJoint: the path of some other run is not known"):
        connector_of({"type": "PathJoint"}, {}, "some other run")


def test_points_that_make_no_path_are_refused():
    with pytest.raises(WorldError, match=r"shape \(3, 2\) are not finite"):
        Path([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])
    with pytest.raises(WorldError, match="points 4 and the next are the same"):
        Path([(min(k, 4) if k < 6 else k, 0.0) for k in range(200)])
    with pytest.raises(WorldError, match="a closed path must end where it starts"):
        Path([(k, 0.0) for k in range(200)], closed=True)


def test_the_located_mode_refuses_paths():
    with pytest.raises(WorldError, match="the located mode has no paths"):
        simulate(bead(cycloid(), 500), 1.0, 0.1)
