"""The page that plays motions: it stands alone, holds what is to be seen, and takes any words for words."""

from __future__ import annotations

import base64
import dataclasses
import json
import re

import numpy as np
import pytest

from reference_engine.geometry.proximities import Proximities
from tests.validation.report.made import HOSTILE
from tests.validation.store.made import falling, scene
from validation.records.trajectory import PlanarTrajectory
from validation.report import player
from validation.report.motion import Track
from validation.report.player import contacts_at, impact_times, motion_html


def near(sample: list[int], gap: list[float]) -> Proximities:
    count = len(gap)
    points = np.column_stack([np.arange(count), np.zeros(count)]).astype(float)
    return Proximities(
        sample=np.array(sample, np.int64),
        a=np.zeros(count, np.int64),
        b=np.ones(count, np.int64),
        gap=np.array(gap),
        normal=np.tile([0.0, 1.0], (count, 1)),
        point_a=points,
        point_b=points,
        uncertainty=np.zeros(count),
    )


def motion() -> PlanarTrajectory:
    """A sample every 1/60 s."""
    return falling(bodies=1)


def data_of(page: str) -> dict[str, object]:
    (text,) = re.findall('<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(text))


def test_each_sample_has_its_contacts() -> None:
    """Touching at sample 2, deep at 3, apart at 4: the gap that is larger than a touch is no contact."""
    track = Track(label="x", trajectory=motion(), near=near([2, 3, 4], [1e-5, -0.1, 0.2]))
    found = [rows.tolist() for rows in contacts_at(track, np.arange(1, 5), largest=1e-4)]
    assert found == [[], [[0, 1, 1e-5, 0.0, 0.0]], [[0, 1, -0.1, 1.0, 0.0]], []]


def test_a_track_without_proximities_has_no_contacts() -> None:
    found = contacts_at(Track(label="x", trajectory=motion()), np.arange(3), largest=1.0)
    assert [len(rows) for rows in found] == [0, 0, 0]


def test_no_label_ends_the_script_or_makes_markup() -> None:
    words = f"</script><script>alert(1)</script><!--<script>{HOSTILE}"
    page = motion_html(scene(), [Track(label=words, note=words, trajectory=motion())], words)
    assert page.lower().count("<script") == 2 and page.count("</script>") == 2 and "<!--" not in page
    (track,) = data_of(page)["tracks"]  # type: ignore[misc]
    assert track["label"].encode("utf-8", "replace") == words.encode("utf-8", "replace")


def test_the_page_asks_nobody_for_anything() -> None:
    page = motion_html(scene(), [Track(label="x", trajectory=motion())], "x")
    assert not re.search(r"https?:|src=|@import|fetch\(|XMLHttpRequest|<link", page)


def test_curves_are_thinned_and_every_sample_is_sent() -> None:
    t = np.linspace(0.0, 29 / 60, 100_000)
    data = data_of(motion_html(scene(), [Track(label="x", trajectory=motion(), series={"E": (t, t)})], "x"))
    (track,) = data["tracks"]  # type: ignore[misc]
    assert len(track["series"]["E"]["t"]) * 3 / 4 / 4 <= 1501
    assert track["time"] == motion().time.tolist() and track["sample"] == [*range(30)]


@pytest.mark.parametrize(
    ("budget", "value"), [("POSE_BYTES", 4 * 3 * 10), ("MOST_CONTACTS", 10)], ids=["poses", "contacts"]
)
def test_a_long_motion_is_thinned_to_the_budget_and_has_its_last_sample(
    monkeypatch: pytest.MonkeyPatch, budget: str, value: int
) -> None:
    monkeypatch.setattr(player, budget, value)
    track = Track(label="x", trajectory=motion(), near=near([*range(30)], [0.0] * 30))
    poses = np.zeros((30, 1, 3))
    assert player.samples_sent(track, poses, 1e-4).tolist() == [*range(0, 29, 3), 29]


def test_displacements_are_sent_so_that_a_micrometre_is_there_far_from_the_origin() -> None:
    """In four bytes a place 1 km away has steps of 60 micrometres; what is sent is how far it is from the start."""
    still = falling(bodies=1, samples=2)
    pose = np.array([[[1000.0, 1.0, 0.0]], [[1000.000001, 1.0, 0.0]]])
    data = data_of(motion_html(scene(), [Track(label="x", trajectory=dataclasses.replace(still, pose=pose))], "x"))
    (track,) = data["tracks"]  # type: ignore[misc]
    moved = np.frombuffer(base64.b64decode(track["moved"]), "<f4").reshape(2, 3)
    assert track["start"] == [1000.0, 1.0, 0.0]
    np.testing.assert_allclose(moved[1], [1e-6, 0.0, 0.0], rtol=1e-4)


def test_a_sample_that_stands_twice_is_an_impact() -> None:
    """One before and one after it, at the same time; what the engine reports itself comes first."""
    plain = motion()
    time = np.array(plain.time)
    time[10] = time[9]
    track = Track(label="x", trajectory=dataclasses.replace(plain, time=time))
    assert impact_times(track).tolist() == [time[9]]
    assert impact_times(Track(label="x", trajectory=plain)).tolist() == []
