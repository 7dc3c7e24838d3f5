"""What a frame of a motion shows: poses, and forces whose arrows have one sign for a pair."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from reference_engine.array_types import Array
from scenarios.catalogue import scenario_of
from scenarios.scene import HalfPlane, Scene, parse_scene
from tests.validation.store.made import falling, scene
from validation.engines.engine import resolve_settings
from validation.engines.reference.adapter import Reference
from validation.records.trajectory import PlanarTrajectory, Trajectory
from validation.report.motion import FLATTEST, Track, aspect, extent, forces_at, links, poses_at
from validation.report.pictures import DOT, motion_png

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


def test_joints_and_springs_are_links() -> None:
    tied = links(scenario_of("andrews").scene)
    assert [one.elastic for one in tied] == [False] * 10 + [True]
    assert {one.b is None for one in tied} == {True, False}, "some are fixed in the world"
    assert all(one.pull is None for one in tied)
    (towed,) = links(scenario_of("towed-body").scene)
    assert towed.elastic and towed.pull is not None, "its end in the world moves"


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


def test_a_pull_is_a_line_to_its_moving_end_while_it_acts_and_its_path_always(tmp_path: Path) -> None:
    """Its end goes from x = 0 to 1 m between 0.5 and 1.5 s, then up, and lets go at 2.25 s."""
    towed = scenario_of("towed-body").scene
    engine = Reference()
    motion = engine.simulate(towed, DT, resolve_settings(engine, "default", {}, towed, DT))
    track = Track(label="x", trajectory=motion)
    centre, half = extent(towed, [track])
    size = 400

    def pixels(at: float, colour: list[int]) -> Array:
        """(n, 2) m: which have this colour."""
        motion_png(towed, [track], tmp_path / "x.png", at=at, size=size)
        picture = np.asarray(Image.open(tmp_path / "x.png").convert("RGB")).astype(int)
        rows, columns = np.nonzero((picture == colour).all(axis=2))
        middle = (picture.shape[0] - 20) / 2 + 20
        return centre + 2 * half / size * np.column_stack([columns - size / 2, middle - rows])

    ink, faint = [180, 83, 9], [227, 196, 164]
    for before_or_after in (0.25, 3.0):
        assert len(pixels(before_or_after, ink)) == 0
        np.testing.assert_allclose(pixels(before_or_after, faint).max(axis=0), [1.0, 0.75], atol=0.02)
    line = pixels(1.25, ink)
    np.testing.assert_allclose(line[:, 0].max(), 0.75 + 2 * half / size * DOT, atol=0.02)
    body = poses_at(motion, np.array([1.25]))[0, 0, 0]
    np.testing.assert_allclose(line[:, 0].min(), body, atol=0.02)


def test_a_ball_on_a_track_is_seen_on_all_of_it() -> None:
    coaster = scenario_of("roller-coaster")
    time = np.linspace(0.0, coaster.scene.duration, 241)
    pose = coaster.truth.pose(time)
    motion = PlanarTrajectory(time=time, dt=DT, velocity_lag=0.0, pose=pose, twist=0.0 * pose)
    centre, half = extent(coaster.scene, [Track(label="x", trajectory=motion)])
    assert (np.abs(pose[:, 0, 0] - centre[0]) < half).all()
    assert links(coaster.scene) == []
