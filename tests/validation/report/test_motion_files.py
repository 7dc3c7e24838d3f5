"""The motions of stored results side by side: of what broke its finite part, and why the rest is missing."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from scenarios.scene import content_hash
from tests.validation.store.made import case, failed, falling, info, result, scene
from validation.records.case import Result
from validation.records.simulation import Simulation
from validation.records.trajectory import finite_section, to_bytes
from validation.report.motion_files import absent_motions, tracks_of
from validation.store import open_store

OF = {"parameters": {}, "scene_hash": content_hash(scene())}
REASON = "body 'ball' is not finite from t = 0.2 s"


def broken() -> Result:
    """Not finite from sample 12 on, as it comes from an engine's process: with its finite part."""
    motion = falling(bodies=1)
    motion.pose[12:, 0, 1] = np.nan
    part = finite_section(motion)
    assert part is not None
    simulation = Simulation(outcome="not_finite", reason=REASON, encoded=to_bytes(part))
    return Result.of(case=case("ball", "broken", **OF), simulation=simulation)


def test_a_case_that_broke_plays_up_to_its_last_finite_sample_and_says_so(tmp_path: Path) -> None:
    """The fault: "A failed case shows the accepted motion only, without saying that its own is missing, and not its
    finite part"."""
    accepted = result(case("ball", **OF), trajectory=falling(bodies=1))
    crashed = failed(case("ball", "gone", **OF), "crashed", "SIGSEGV after 1.3 s")
    with open_store(tmp_path / "x.db") as store:
        run = store.begin_run(info(), [one.case for one in (broken(), accepted, crashed)], [scene()])
        store.save_results(run, [broken(), accepted, crashed])
        stored = store.results(run)
        assert [bool(one.trajectory_hash) for one in stored] == [False, True, False], "nothing is compared by it"
        named = list(zip(("now", "accepted", "gone"), stored))
        _, (now, was) = tracks_of(store, named)
    assert now.ended == f"not finite ({REASON}); shown up to its last finite sample"
    assert now.trajectory.time[-1] == falling(bodies=1).time[11] and was.ended == ""
    assert absent_motions(named) == ["gone: crashed (SIGSEGV after 1.3 s); no motion of it is stored"]


def test_what_flew_beyond_all_measure_is_cut_off_like_what_is_not_finite() -> None:
    motion = falling(bodies=2, contact_impulse=1.0)
    motion.twist[20:, 1, 0] = 1e12
    part = finite_section(motion)
    assert part is not None and len(part.time) == 20
    assert part.contacts is not None and part.contacts.sample.tolist() == [3]
    whole = falling()
    assert finite_section(whole) is whole
    at_once = dataclasses.replace(whole, pose=np.full_like(whole.pose, np.nan))
    assert finite_section(at_once) is None
