"""The cone of friction, on reported impulses that first have to explain the motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scenarios.scene import Revolute, Spring
from tests.validation.metrics.motions import (
    DT,
    FLOOR,
    GROUND,
    G,
    block,
    box,
    columns,
    planar,
    plane,
    space,
    spatial,
    times,
    values,
)
from validation.records.trajectory import Contacts

MU = 0.3
SCENE = plane(block(friction=MU, mass=2.0, height=0.5), boundaries=(GROUND.model_copy(update={"friction": MU}),))


def sliding(deceleration: float, *, normal: float = 2.0 * G, impulse: tuple[float, float] | None = None):
    """A block of 2 kg that slows down, with two contacts a sample whose impulses (N s, in sum) are as it says.

    By default those that the motion needs: `normal` upwards, 2 kg times `deceleration` along the ground.
    """
    t = times(0.5)
    S = len(t)
    lift = (normal / 2.0 - G) * t
    v = 5.0 - deceleration * t
    j = np.array(impulse if impulse else (-2.0 * deceleration * DT, normal * DT))
    # the friction's torque about the centre, 0.25 m up, shifts the pressure forward
    torque = j[0] * 0.25
    front = 0.5 + torque / -j[1] if j[1] else 0.5
    share = np.array([1.0 - front, front])
    rows = 2 * (S - 1)
    sample = np.repeat(np.arange(1, S), 2)
    x = 5.0 * t - 0.5 * deceleration * t**2
    point = columns(np.repeat(x[1:], 2) + np.tile([-0.5, 0.5], S - 1), 0.0)
    return planar(
        t,
        columns(x, 0.25, 0.0),
        columns(v, lift, 0.0),
        contacts=Contacts(
            sample=sample,
            a=np.ones(rows, np.int64),
            b=np.zeros(rows, np.int64),
            point=point,
            normal=np.tile([0.0, 1.0], (rows, 1)),
            gap=np.zeros(rows),
            impulse=np.tile(share, S - 1)[:, None] * j,
        ),
    )


def test_sliding_friction_of_mu_times_the_weight_lies_on_the_cone():
    assert values(SCENE, sliding(MU * G))["cone_violation"] == pytest.approx(0.0, abs=1e-12)


def test_friction_beyond_the_cone_violates_it_by_its_excess_over_the_impulse():
    found = values(SCENE, sliding(0.4 * G))["cone_violation"]
    assert found == pytest.approx((0.4 - MU) / math.hypot(1.0, 0.4), rel=1e-9)


def test_a_contact_that_pulls_violates_it():
    pulling = sliding(0.0, normal=-2.0 * G)
    assert values(SCENE, pulling)["cone_violation"] == pytest.approx(1.0)


def test_a_contact_that_carries_next_to_nothing_is_measured_against_the_weight():
    true = sliding(MU * G)
    contacts = true.contacts
    extra = {
        name: np.concatenate([getattr(contacts, name), getattr(contacts, name)[:1]]) for name in Contacts.__slots__
    }
    extra["impulse"][-1] = (1e-15, -1e-15)  # pulls, in the last digit
    found = values(SCENE, planar(true.time, true.pose, true.twist, contacts=Contacts(**extra)))["cone_violation"]
    assert 0.0 < found < 1e-11


def test_impulses_that_do_not_explain_the_motion_are_no_evidence():
    lying = sliding(0.4 * G, impulse=(-2.0 * 0.2 * G * DT, 2.0 * G * DT))
    assert math.isnan(values(SCENE, lying)["cone_violation"])


def test_neither_are_impulses_at_the_wrong_place():
    true = sliding(MU * G)
    contacts = true.contacts
    shifted = Contacts(
        **{name: getattr(contacts, name) for name in Contacts.__slots__ if name != "point"},
        point=contacts.point + np.array([0.3, 0.0]),
    )
    moved = planar(true.time, true.pose, true.twist, contacts=shifted)
    assert math.isnan(values(SCENE, moved)["cone_violation"])


def test_points_at_the_pose_before_the_step_are_as_good_as_those_at_the_pose_after_it():
    """At 50 m/s a step is 0.2 m of way: told from a wrong place by the balance alone."""
    t = times(0.5)
    fast = planar(t, columns(50.0 * t, 0.25, 0.0), columns(50.0 + 0.0 * t, 0.0, 0.0))
    rows = len(t) - 1
    found = []
    for shift in (0.0, -50.0 * DT, 50.0 * DT):
        contacts = Contacts(
            sample=np.arange(1, len(t)),
            a=np.ones(rows, np.int64),
            b=np.zeros(rows, np.int64),
            point=columns(50.0 * t[1:] + shift, 0.0),
            normal=np.tile([0.0, 1.0], (rows, 1)),
            gap=np.zeros(rows),
            impulse=np.tile([0.0, 2.0 * G * DT], (rows, 1)),
        )
        motion = planar(fast.time, fast.pose, fast.twist, contacts=contacts)
        found.append(values(SCENE, motion)["cone_violation"])
    assert found[:2] == [0.0, 0.0]
    assert math.isnan(found[2])


def test_where_nothing_is_reported_nothing_is_said():
    t = times(0.5)
    silent = planar(t, columns(0.0 * t, 0.25, 0.0), columns(0.0 * t, 0.0, 0.0))
    assert "cone_violation" not in values(SCENE, silent)
    unknown = sliding(MU * G, impulse=(math.nan, math.nan))
    assert "cone_violation" not in values(SCENE, unknown)


def test_the_torque_of_a_spring_is_part_of_the_balance():
    """It lifts the block's front with 7 N at 0.4 m, so the ground carries the rest behind the middle."""
    lift, arm = 7.0, 0.4
    spring = Spring(a="block", anchor_a=(arm, 0.25), anchor_b=(arm, 2.25), stiffness=lift / 1.75, rest_length=0.0)
    scene = SCENE.model_copy(update={"springs": (spring,)})
    t = times(0.5)
    rows, carried = len(t) - 1, 2.0 * G - lift
    found = []
    for behind in (lift * arm / carried, 0.0):
        contacts = Contacts(
            sample=np.arange(1, len(t)),
            a=np.ones(rows, np.int64),
            b=np.zeros(rows, np.int64),
            point=columns(np.full(rows, -behind), 0.0),
            normal=np.tile([0.0, 1.0], (rows, 1)),
            gap=np.zeros(rows),
            impulse=np.tile([0.0, carried * DT], (rows, 1)),
        )
        held = planar(t, columns(0.0 * t, 0.25, 0.0), columns(0.0 * t, 0.0, 0.0), contacts=contacts)
        found.append(values(scene, held)["cone_violation"])
    assert found[0] == 0.0
    assert math.isnan(found[1])  # in the middle it would not balance


def test_without_two_samples_one_step_apart_nothing_can_be_checked():
    true = sliding(MU * G)
    coarse = planar(true.time, true.pose, true.twist, contacts=true.contacts, dt=DT / 2.0)
    assert math.isnan(values(SCENE, coarse)["cone_violation"])


def test_contacts_at_samples_that_follow_a_longer_time_are_not_held_against_the_report():
    """Four of five samples left out: only the pairs one step apart show what one step's impulse did."""
    true = sliding(0.4 * G)
    contacts = true.contacts
    kept = np.flatnonzero(np.isin(np.arange(len(true.time)) % 10, (0, 5, 6)))
    here = np.isin(contacts.sample, kept)
    fewer = Contacts(
        **{name: getattr(contacts, name)[here] for name in Contacts.__slots__ if name != "sample"},
        sample=np.searchsorted(kept, contacts.sample[here]),
    )
    sparse = planar(true.time[kept], true.pose[kept], true.twist[kept], contacts=fewer)
    found = values(SCENE, sparse)["cone_violation"]
    assert found == pytest.approx((0.4 - MU) / math.hypot(1.0, 0.4), rel=1e-9)


def test_a_body_on_a_joint_cannot_be_checked():
    pinned = SCENE.model_copy(
        update={"joints": (Revolute(name="pin", a="block", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.25)),)}
    )
    assert math.isnan(values(pinned, sliding(MU * G))["cone_violation"])


def test_in_space_the_cone_is_round():
    """Friction mu along both axes at once is sqrt(2) mu: inside a pyramid, outside the cone."""
    t = times(0.5)
    S = len(t)
    a = np.array([MU * G, MU * G, 0.0])
    v = np.array([5.0, 5.0, 0.0]) - a * t[:, None]
    x = np.array([0.0, 0.0, 0.05]) + np.array([5.0, 5.0, 0.0]) * t[:, None] - 0.5 * a * t[:, None] ** 2
    # one resultant at the centre of pressure, 0.05 m below the centre and shifted along the motion
    point = x[1:] + np.array([0.05 * MU, 0.05 * MU, -0.05])
    contacts = Contacts(
        sample=np.arange(1, S),
        a=np.ones(S - 1, np.int64),
        b=np.zeros(S - 1, np.int64),
        point=point,
        normal=np.tile([0.0, 0.0, 1.0], (S - 1, 1)),
        gap=np.zeros(S - 1),
        impulse=np.tile(DT * np.array([-MU * G, -MU * G, G]), (S - 1, 1)),
    )
    scene = space(box(size=(1.0, 1.0, 0.1), friction=MU), boundaries=(FLOOR.model_copy(update={"friction": MU}),))
    found = values(scene, spatial(t, x, v, contacts=contacts))["cone_violation"]
    assert found == pytest.approx((math.sqrt(2.0) - 1.0) * MU / math.sqrt(1.0 + 2.0 * MU**2), rel=1e-9)
