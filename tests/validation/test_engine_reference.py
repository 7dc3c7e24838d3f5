"""The reference engine behind the seam."""

import math

import numpy as np
import pytest

from scenarios.scene import Bowl, ContactLaw, Damping, HalfPlane, PairLaw, PlanarBody, Polygon, Revolute, Spring
from tests.validation.engines.planar_scenes import DT, G, ball, box, ground, scene, simulated
from validation.engines.engine import SettingError, resolve_settings
from validation.engines.reference import Reference, starts_in_touch

CONCAVE = Polygon(vertices=((0, 0), (2, 0), (1, 0.5), (1, 2)))


def resting(**given):
    return scene(box(position=(0.0, 0.505)), ground=ground(), duration=1.0, **given)


def falling(restitution: float, make=ball):
    return scene(make(position=(0.0, 1.5), restitution=restitution), ground=ground(), duration=3.0)


@pytest.mark.parametrize(
    "what, word",
    [
        (scene(box(friction=0.3), ground=ground(friction=0.3, point=(0, -9)), duration=1.0), "friction"),
        (scene(PlanarBody(name="c", shape=CONCAVE, mass=1.0, inertia=1.0), duration=1.0), "convex"),
        (scene(ball(), boundaries=(Bowl(name="bowl", radius=3.0),), duration=1.0), "bowl"),
        (
            scene(
                ball("p"),
                ball("q", position=(2, 0)),
                joints=(Revolute(name="j", a="p", b="q", anchor_a=(1, 0), anchor_b=(-1, 0)),),
                duration=1.0,
            ),
            "joints",
        ),
        (
            scene(ball(), springs=(Spring(a="ball", anchor_a=(0, 0), anchor_b=(0, 1), stiffness=1.0),), duration=1.0),
            "springs",
        ),
        (scene(box(position=(0.0, 0.49)), ground=ground(), duration=1.0), "overlap at the start: gap -0.01 m"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_it_cannot_represent_it_declines_with_the_reason(what, word):
    assert word in (Reference().declines(what) or "")


def test_a_block_at_the_target_gap_stays_and_reports_forces_that_carry_its_weight():
    """Two corners, m g / 2 each; the impulse of a step is force times step, on the block, which is body b."""
    trajectory = simulated(Reference(), resting())
    assert np.abs(trajectory.pose - trajectory.pose[0]).max() <= 1e-13
    contacts = trajectory.contacts
    upward = np.where(contacts.b == 0, 1.0, -1.0) * contacts.impulse[:, 1]
    assert upward == pytest.approx(np.full(len(upward), G * DT / 2.0), rel=1e-9)
    assert contacts.gap == pytest.approx(np.full(len(upward), 0.005), abs=1e-12)


@pytest.mark.parametrize("make", [ball, box])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9, 1.0])
def test_an_impact_is_early_by_the_last_5_mm_of_the_fall(make, e):
    """sqrt(2 h / g) - sqrt(2 (h - 5 mm) / g) = 1.13 ms from 1 m. Samples just before and after have its time."""
    trajectory = simulated(Reference(), falling(e, make))
    first = trajectory.impacts.time[0]
    assert math.sqrt(2.0 / G) - first == pytest.approx(1.13e-3, abs=2e-5)
    before, after = np.flatnonzero(trajectory.time == first)[[0, -1]]
    assert after == before + 1
    assert trajectory.twist[after, 0, 1] == pytest.approx(-e * trajectory.twist[before, 0, 1], rel=1e-12, abs=1e-12)
    now = trajectory.impacts.time == first
    jump = trajectory.twist[after, 0, 1] - trajectory.twist[before, 0, 1]
    upward = np.where(trajectory.impacts.b[now] == 0, 1.0, -1.0) * trajectory.impacts.impulse[now, 1]
    assert upward.sum() == pytest.approx(jump, rel=1e-12)


def test_restitution_reaches_the_engine_pair_by_pair():
    law = ContactLaw(pairs=(PairLaw(a="ball", b="ground", restitution=0.3),))
    what = scene(ball(position=(0.0, 1.5), restitution=1.0), ground=ground(), duration=1.0, contact=law)
    trajectory = simulated(Reference(), what)
    before, after = np.flatnonzero(trajectory.time == trajectory.impacts.time[0])[[0, -1]]
    assert trajectory.twist[after, 0, 1] == pytest.approx(-0.3 * trajectory.twist[before, 0, 1], rel=1e-12)


def test_damping_and_tilted_ground_arrive():
    """A frictionless slide down 30 degrees: a = g sin 30; with damping k: v = (m g sin / k) (1 - e^{-k t / m})."""
    normal = (-0.5, math.sqrt(3.0) / 2.0)
    slope = HalfPlane(name="slope", normal=normal)
    start = (normal[0] * 0.505, normal[1] * 0.505)
    for k in (0.0, 2.0):
        what = scene(
            box(position=start, angle=math.pi / 6), boundaries=(slope,), duration=1.0, damping=Damping(linear=k)
        )
        v = np.linalg.norm(simulated(Reference(), what).velocity[-1, 0])
        exact = G / 2.0 if k == 0.0 else G / 2.0 / k * (1.0 - math.exp(-k))
        assert v == pytest.approx(exact, rel=1e-9)


def test_bodies_of_one_group_pass_through_each_other():
    pair = [ball("p", group=1, velocity=(1.0, 0.0)), ball("q", group=1, position=(1.5, 0.0))]
    trajectory = simulated(Reference(), scene(*pair, duration=2.0, gravity=(0.0, 0.0)))
    assert trajectory.pose[-1, 0, 0] == pytest.approx(2.0, abs=1e-12)


def test_at_most_60_samples_a_second_where_nothing_happens():
    trajectory = simulated(Reference(), scene(ball(), duration=5.0))
    assert len(trajectory.time) <= 5.0 * 60.0 + 1.0
    assert trajectory.time[-1] == 5.0


def test_the_same_scene_gives_the_same_hash_and_another_step_another():
    one, two = (simulated(Reference(), falling(0.5)) for _ in range(2))
    assert one.state_hash == two.state_hash
    assert one.state_hash != simulated(Reference(), falling(0.5), dt=1.0 / 120.0).state_hash


def test_fair_goes_by_what_is_in_touch_at_the_start():
    engine = Reference()
    assert starts_in_touch(resting()) and not starts_in_touch(falling(0.5))
    assert "collision_handling" not in engine.profile("fair", resting(), DT)
    assert engine.profile("fair", falling(0.5), DT)["collision_handling"] == "simultaneous"
    assert engine.profile("default", falling(0.5), DT) == {}


def test_settings_are_checked_by_name_range_and_choice():
    engine = Reference()
    with pytest.raises(SettingError, match="extra_acceleration"):
        resolve_settings(engine, "fair", {"extra_accelaration": "none"}, resting(), DT)
    with pytest.raises(SettingError, match=r"allowed: none \| velocity"):
        resolve_settings(engine, "fair", {"extra_acceleration": "velocity_joints"}, resting(), DT)
    assert resolve_settings(engine, "fair", {"random_seed": "7"}, resting(), DT)["random_seed"] == 7


def test_the_rocking_block_as_the_command_line_runs_it():
    """With extra acceleration no impact; without, more than 50: the measuring must be able to fail."""
    block = PlanarBody(
        name="block",
        shape=Polygon(vertices=((-0.5, -1.5), (0.5, -1.5), (0.5, 1.5), (-0.5, 1.5))),
        mass=1.0,
        position=(0.0, 1.507),
        spin=0.05,
        restitution=0.8,
    )
    rock = scene(block, ground=ground(restitution=0.8), duration=20.0, gravity=(0.0, -5.0))
    assert len(simulated(Reference(), rock).impacts.time) == 0
    without = simulated(Reference(), rock, extra_acceleration="none")
    assert len(np.unique(without.impacts.time)) > 50
