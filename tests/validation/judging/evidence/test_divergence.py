"""Two motions that are not the same bits first differ somewhere: a sample, a body, a coordinate, a contact."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.validation.store.made import falling, tumbling
from validation.judging.evidence.divergence import (
    Divergence,
    common_samples,
    divergence_from_json,
    divergence_to_json,
    first_divergence,
)
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory
from validation.report.sentences import describe_contact, describe_difference, describe_divergence

NAMES = ("ball", "box", "floor")


def changed(motion: PlanarTrajectory, field: str, *places: tuple[tuple[int, int, int], float]) -> PlanarTrajectory:
    """The same motion with numbers added at (sample, body, coordinate)."""
    array = getattr(motion, field).copy()
    for place, size in places:
        array[place] += size
    return replace(motion, **{field: array}, state_hash="")


def found(new: Any, accepted: Any = None) -> Divergence:
    return first_divergence(accepted or falling(), new, NAMES)


def test_the_first_difference_is_named_by_sample_body_and_coordinate() -> None:
    new = changed(falling(), "pose", ((12, 1, 2), 3e-12), ((20, 0, 1), 0.5), ((29, 0, 1), 1.4e-3))
    divergence = found(new)
    first = divergence.first
    assert first is not None and (first.sample, first.body, first.coordinate) == (12, "box", "angle")
    assert first.size == pytest.approx(3e-12, rel=1e-3)  # what is left of it beside an angle of 0.06 rad
    assert describe_divergence(divergence) == (
        "first differs at t = 0.2 s (sample 12): box, angle, by 3.0e-12 rad; at the end ball, y, by 1.4 mm"
    )


def test_of_several_bodies_at_one_sample_the_one_that_moved_most_is_named_and_the_others_are_counted() -> None:
    first = found(changed(falling(), "pose", ((5, 0, 0), 1e-9), ((5, 1, 1), -1e-6))).first
    assert first is not None and (first.body, first.coordinate, first.others) == ("box", "y", 1)
    assert describe_difference(first).endswith("and 1 other body")


def test_a_velocity_tells_where_the_poses_still_agree() -> None:
    """As in an engine that moves positions first."""
    first = found(changed(falling(), "twist", ((3, 1, 2), 0.25), ((3, 0, 0), 0.1))).first
    assert first is not None and (first.body, first.coordinate, first.unit) == ("box", "spin", "rad/s")
    assert (first.size, first.others) == (pytest.approx(0.25), 1)


def test_motions_are_compared_at_the_times_that_both_have() -> None:
    """Around an impact every step is kept: the two have other samples as soon as one of them meets something."""
    motion = falling()
    kept = np.delete(np.arange(30), [4, 5])
    fewer = replace(motion, time=motion.time[kept], pose=motion.pose[kept], twist=motion.twist[kept], state_hash="")
    first = found(changed(fewer, "pose", ((10, 0, 1), 1e-3))).first
    assert first is not None and (first.sample, first.time) == (10, motion.time[12])


def test_before_and_after_an_impact_are_two_samples_of_one_time() -> None:
    was, now = common_samples(np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.5, 1.0, 2.0]))
    assert (was.tolist(), now.tolist()) == ([0, 1, 3], [0, 2, 3])


def test_the_same_samples_under_another_hash_are_said_to_be_so() -> None:
    divergence = found(replace(falling(), state_hash="other"))
    assert divergence.first is None and divergence.last is None
    assert "the samples stored are the same in both" in describe_divergence(divergence)


def test_minus_zero_is_zero_and_what_is_no_number_in_both_agrees() -> None:
    odd = changed(falling(), "pose", ((3, 0, 0), math.nan))
    assert found(odd, changed(falling(), "pose", ((3, 0, 0), math.nan))).first is None
    first = found(odd).first
    assert first is not None and (first.sample, first.size) == (3, math.inf)
    zero = falling()
    assert found(replace(zero, pose=np.where(zero.pose == 0.0, -0.0, zero.pose))).first is None


def turned(motion: SpatialTrajectory, sample: int, angle: float) -> SpatialTrajectory:
    """Body 1 turned about the world's z axis from this sample on."""
    orientation = motion.orientation.copy()
    w, x, y, z = np.moveaxis(orientation[sample:, 1], -1, 0)
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    orientation[sample:, 1] = np.stack([c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w], axis=-1)
    return replace(motion, orientation=orientation, state_hash="")


@pytest.mark.parametrize("angle", [1e-9, 0.3, 3.0])
def test_a_rotation_differs_by_its_angle(angle: float) -> None:
    first = found(turned(tumbling(), 7, angle), tumbling()).first
    assert first is not None and (first.sample, first.body, first.coordinate) == (7, "box", "rotation")
    assert first.size == pytest.approx(angle, rel=1e-6)


def test_a_quaternion_and_its_negative_are_one_rotation() -> None:
    motion = tumbling()
    assert found(replace(motion, orientation=-motion.orientation, state_hash=""), motion).first is None


@pytest.mark.parametrize(
    ("before", "now", "described"),
    [
        (1.0, 1.5, "contact ball on floor, impulse, by 500 mN s at t = 0.05 s"),
        (None, 1.0, None),  # the engine did not report any then: nothing is said
    ],
)
def test_the_first_contact_that_differs_is_named(before: float | None, now: float, described: str | None) -> None:
    contact = found(falling(contact_impulse=now), falling(contact_impulse=before)).contact
    assert (contact and describe_contact(contact)) == described


def test_a_contact_that_only_one_motion_has_is_made_or_gone() -> None:
    touching = falling(contact_impulse=1.0)
    assert touching.contacts is not None
    none = {name: getattr(touching.contacts, name)[:0] for name in touching.contacts.__dataclass_fields__}
    apart = replace(touching, contacts=type(touching.contacts)(**none))
    made, gone = found(touching, apart).contact, found(apart, touching).contact
    assert made and gone and (made.what, gone.what) == ("made", "gone")
    assert describe_contact(made) == "contact ball on floor only now at t = 0.05 s"


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (falling(bodies=1), "new: 1 planar bodies, accepted: 2 planar bodies"),
        (tumbling(), "new: 2 spatial bodies, accepted: 2 planar bodies"),
        (replace(falling(), time=falling().time + 0.001), "no time in common"),
    ],
)
def test_motions_of_two_scenes_are_refused(other: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        found(other)


def test_a_divergence_survives_json() -> None:
    divergence = found(
        changed(falling(contact_impulse=1.0), "pose", ((12, 1, 2), math.nan)), falling(contact_impulse=2.0)
    )
    assert divergence.first is not None and divergence.contact is not None
    assert divergence_from_json(divergence_to_json(divergence)) == divergence
    assert divergence_from_json(divergence_to_json(None)) is None
