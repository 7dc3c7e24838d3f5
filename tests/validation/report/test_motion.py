"""What a frame of a motion shows: poses, and forces whose arrows have one sign for a pair."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from scenarios.catalogue import scenario_of
from scenarios.scene import HalfPlane, Scene, parse_scene
from tests.validation.store.made import falling, scene
from validation.engines.engine import resolve_settings
from validation.engines.reference.adapter import Reference
from validation.records.trajectory import Trajectory
from validation.report.motion import FLATTEST, Track, aspect, forces_at, links, motion_png

DT = 1.0 / 240.0


def stack_of_reference() -> tuple[Scene, Trajectory]:
    stack = scenario_of("stack:n=3").scene.model_copy(update={"duration": 0.1})
    engine = Reference()
    return stack, engine.simulate(stack, DT, resolve_settings(engine, "default", {}, stack, DT))


def test_both_corners_of_a_pair_push_the_upper_block_up() -> None:
    """The fault: "Contact forces of the reference are drawn up at one corner of a pair and down at the other (rows name
    a pair both ways; the player draws 'the force on b' per row)"."""
    stack, motion = stack_of_reference()
    assert motion.contacts is not None
    pairs = set(zip(motion.contacts.a.tolist(), motion.contacts.b.tolist()))
    assert {(0, 1), (1, 0)} <= pairs, "the engine names a pair both ways, or this tests nothing"
    (rows,) = forces_at(stack, motion, np.array([0.1]))
    body, up = np.array(rows)[:, 0].astype(int), np.array(rows)[:, 4]
    assert (up > 0.0).all()
    assert sorted(body) == [0, 0, 1, 1, 2, 2], "two corners of each: below it, on it"
    weights = [b.mass * 9.81 for b in stack.bodies]
    for i in range(3):
        np.testing.assert_allclose(up[body == i].sum(), sum(weights[i:]), rtol=1e-9)


def test_a_force_on_a_fixed_body_is_drawn_on_the_one_that_moves() -> None:
    """Rows have the impulse on b; here b is the boundary, and the body is pressed up by it."""
    motion = falling(bodies=1)
    known = falling(bodies=1, contact_impulse=-0.5).contacts
    assert known is not None
    contacts = dataclasses.replace(known, a=np.array([0]), b=np.array([1]))
    on_ground = scene().model_copy(update={"boundaries": (HalfPlane(name="ground"),)})
    (rows,) = forces_at(on_ground, dataclasses.replace(motion, contacts=contacts), np.array([3 / 60]))
    np.testing.assert_allclose(rows, [[0, 0, 0, 0, 0.5 / motion.dt]])


def test_a_picture_has_arrows_with_heads_and_their_scale(tmp_path: Path) -> None:
    """The heaviest body's weight is a tenth of the picture; the arrow's head is wider than its shaft."""
    motion = falling(bodies=1, contact_impulse=-9.81 * DT)
    known = motion.contacts
    assert known is not None
    contacts = dataclasses.replace(known, a=np.array([0]), b=np.array([1]), point=np.array([[0.0, 9.0]]))
    on_ground = scene().model_copy(update={"boundaries": (HalfPlane(name="ground"),)})
    track = Track(label="x", trajectory=dataclasses.replace(motion, contacts=contacts))
    motion_png(on_ground, [track], tmp_path / "x.png", at=0.05, size=400)
    pixels = np.asarray(Image.open(tmp_path / "x.png").convert("RGB")).astype(int)
    red = (np.abs(pixels - [214, 39, 40]) < 3).all(axis=2)
    above, below = red[:370], red[390:]
    assert above.any(axis=1).sum() == pytest.approx(40, abs=2)
    widths = above.sum(axis=1)
    assert widths.max() >= 6 and 2 <= widths[widths > 0][-5] <= 3
    assert below.any(), "the scale"


def test_joints_and_springs_are_links_and_a_spring_whose_end_moves_is_none() -> None:
    tied = links(scenario_of("andrews").scene)
    assert [one.elastic for one in tied] == [False] * 10 + [True]
    assert {one.b is None for one in tied} == {True, False}, "some are fixed in the world"
    towed = scenario_of("towed-body").scene
    assert len(towed.springs) == 1 and links(towed) == []


def test_a_scene_that_is_wider_than_high_has_a_flat_picture() -> None:
    """A row of 8 m of balls of 1 m that do not move, and one ball that falls."""
    row = [
        {"name": f"{k}", "shape": {"kind": "disc", "radius": 0.5}, "mass": 1.0, "position": [1.0 * k, 0.0]}
        for k in range(8)
    ]
    flat = parse_scene({"dimension": 2, "duration": 0.5, "bodies": row})
    still = falling(bodies=8)
    still.pose[..., 0], still.pose[..., 1] = np.arange(8), 0.0
    assert aspect(flat, [Track(label="x", trajectory=still)]) == FLATTEST
    assert aspect(scene(), [Track(label="x", trajectory=falling(bodies=1))]) == 1.0
