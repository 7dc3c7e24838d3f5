"""What the Inbox shows of broken cases, of standing defects and of the commit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from scenarios.scene import content_hash
from tests.dashboard.test_deciding import store
from tests.dashboard.test_pages import shown, words
from tests.validation.store.made import case, failed, falling, info, measurement, result, scene
from tests.validation.store.made import judged as verdict_on
from validation.records.case import Result
from validation.records.outcome import Outcome
from validation.records.simulation import Simulation
from validation.records.trajectory import finite_section, to_bytes
from validation.store import Store

__all__ = ["store"]  # the fixture
BALL = case("ball", parameters={}, scene_hash=content_hash(scene()))


def run_of(store: Store, one: Result) -> int:
    """A run of one case, with nothing accepted."""
    run = store.begin_run(info(), [one.case], [scene()])
    store.save_results(run, [one])
    store.save_verdicts(run, [verdict_on(None, one)])
    store.finish_run(run)
    return run


@pytest.mark.parametrize("page", ["inbox", "review"])
def test_a_broken_case_plays_its_part_of_a_motion_with_nothing_accepted(store: Store, page: str) -> None:
    motion = falling(bodies=1)
    motion.pose[12:, 0, 1] = np.nan
    part = finite_section(motion)
    assert part is not None
    simulation = Simulation(outcome="not_finite", reason="position of ball", encoded=to_bytes(part))
    run_of(store, Result.of(case=BALL, simulation=simulation, headline="penetration_mean"))
    found = shown(page)
    (player,) = found.get("iframe")
    assert "not finite (position of ball); shown up to its last finite sample" in player.proto.srcdoc
    assert "no motion" not in words(found)


@pytest.mark.parametrize("page", ["inbox", "review"])
def test_a_broken_case_without_a_motion_gives_the_reason(store: Store, page: str) -> None:
    run_of(store, failed(BALL, "crashed", "SIGSEGV after 1.3 s"))
    found = shown(page)
    assert not found.get("iframe")
    assert "no motion to play (now: crashed, so its engine handed no motion over)" in words(found)


def test_a_standing_defect_of_what_happened_without_a_limit_has_a_row(store: Store) -> None:
    one = result(BALL, measurement(), trajectory=falling(bodies=1))
    run = store.begin_run(info(), [BALL], [scene()])
    store.save_results(run, [one])
    verdict = verdict_on(None, one)
    fell = Outcome(kind="went through", bodies=("ball", "ground"), right=False, time=0.3, value=96.0, unit="m")
    store.save_verdicts(run, [replace(verdict, grounds=replace(verdict.grounds, wrong=(fell,)))])
    store.finish_run(run)
    found = words(shown("inbox"))
    assert "1 standing defect" in found
    assert "ball went through ground at 300 ms, 96 m from there at the end" in found


def test_the_heading_has_the_message_and_the_author_of_the_commit(store: Store) -> None:
    known = {"message": "Four iterations are enough\n\nMeasured.", "author": "R. Engineer"}
    authored = datetime(2026, 11, 3, tzinfo=UTC)
    run = store.begin_run(info(**known, authored=authored), [BALL], [scene()])
    one = result(BALL, measurement(), trajectory=falling(bodies=1))
    store.save_results(run, [one])
    store.save_verdicts(run, [verdict_on(None, one)])
    store.finish_run(run)
    title = words(shown("inbox")).partition("</h1>")[0]
    assert "4f2c1d" in title and "Four iterations are enough" in title and "R. Engineer</bdi>, 3 Nov 2026" in title


def test_a_saved_motion_is_named_by_what_it_is(store: Store) -> None:
    run_of(store, replace(result(BALL, measurement(), trajectory=falling(bodies=1)), outcome="not_finite"))
    (player,) = shown("review").get("iframe")
    assert "<title>Motion now: ball on pymunk@fair</title>" in player.proto.srcdoc
