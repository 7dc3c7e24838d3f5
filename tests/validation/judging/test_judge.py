"""The judge is a table: what was accepted, what was measured, and the one word with its figures that follows."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from tests.validation.metrics.motions import DT, disc, euler, planar, plane, scenario
from tests.validation.store.made import case, judged, measurement
from validation.judging.judge import Verdict, exit_status
from validation.judging.relations import EXCESS
from validation.judging.verdict import (
    FLOOR,
    MEANING,
    Grounds,
    changes_from_json,
    defects_from_json,
    grounds_from_json,
    grounds_to_json,
    to_json,
)
from validation.metrics import measure
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.trajectory import PlanarTrajectory
from validation.report.sentences import NOUNS, reason_of, summary
from validation.store import Baseline

NAN = math.nan
MOVED = {"trajectory_hash": "after"}


def of(*measurements: Measurement, **given: Any) -> Result:
    known: dict[str, Any] = {"case": case(), "outcome": "completed", "trajectory_hash": "before"}
    return Result(measurements=measurements, headline="penetration_mean", **known | given)


def accepted(result: Result) -> Baseline:
    return Baseline(
        number=7, result=result, branch="main", who="R.", when=datetime(2026, 11, 3, tzinfo=UTC), reason="x", scope="x"
    )


def verdict_on(old: float, new: float, **given: Any) -> Verdict:
    """One metric that went from old to new, in a motion that is not the same bits."""
    return judged(accepted(of(measurement(value=old, **given))), of(measurement(value=new, **given), **MOVED))


def test_on_another_processor_bits_are_not_compared_and_all_else_is() -> None:
    """Those of our own engine are, for it computes with nothing that differs between processors."""

    def seen(engine: str, value: float, processor: str, bits: str) -> Result:
        on = replace(case(engine=engine), processor=processor)
        return of(measurement(value=value), case=on, trajectory_hash=bits)

    before = accepted(seen("pymunk", 4e-4, "x86_64 fma libm-1", "before"))
    assert reason_of(judged(before, seen("pymunk", 4e-4, "x86_64 libm-2", "after"))) == (
        "no metric moved by more than is allowed; bits are not compared: libm-2, was fma libm-1"
    )
    worse = judged(before, seen("pymunk", 3e-3, "x86_64 libm-2", "after"))
    assert worse.worse and reason_of(worse).endswith("; bits are not compared: libm-2, was fma libm-1")
    assert reason_of(judged(before, seen("pymunk", 4e-4, "x86_64 libm-2", "before"))) == "bit-identical"
    not_known = judged(before, seen("pymunk", 4e-4, "", "after"))
    ours = judged(accepted(seen("reference", 4e-4, "", "before")), seen("reference", 4e-4, "", "after"))
    assert reason_of(not_known) == reason_of(ours) == "the motion differs, no metric moved by more than is allowed"


def test_another_scene_of_the_same_name_is_not_compared_but_needs_an_acceptance() -> None:
    verdict = judged(accepted(of(measurement(value=4e-4))), of(measurement(value=3e-3), **MOVED), scene_changed=True)
    assert (verdict.word, verdict.worse, verdict.changes) == ("different", False, ())
    assert reason_of(verdict).startswith("the scene changed since it was accepted, accept it anew")
    crashed = judged(accepted(of(measurement())), of(outcome="crashed", reason="SIGSEGV"), scene_changed=True)
    assert crashed.worse, "a crash is wrong in any scene"


# --- the outcome --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "word", "worse"),
    [
        (None, "completed", "new", False),
        (None, "declined", "declined", False),
        (None, "crashed", "broken", False),
        ("completed", "crashed", "broken", True),
        ("completed", "timed_out", "broken", True),
        ("completed", "out_of_memory", "broken", True),
        ("completed", "not_finite", "broken", True),
        ("declined", "crashed", "broken", True),
        ("crashed", "crashed", "broken", False),
        ("crashed", "timed_out", "broken", False),
        ("crashed", "completed", "improved", False),
        ("completed", "declined", "missing", False),
        ("crashed", "declined", "missing", False),
        ("declined", "declined", "declined", False),
        ("declined", "completed", "new", False),
        ("completed", "completed", "pass", False),
    ],
)
def test_the_outcome_comes_first(before: Any, now: Any, word: str, worse: bool) -> None:
    def ended(outcome: Any, reason: str) -> Result:
        return of(measurement(), reason="") if outcome == "completed" else of(outcome=outcome, reason=reason)

    baseline = None if before is None else accepted(ended(before, "before"))
    verdict = judged(baseline, ended(now, "SIGSEGV after 1.3 s"))
    assert (verdict.word, verdict.worse) == (word, worse)
    assert verdict.baseline == (7 if before else None)


def test_a_new_crash_says_what_happened_and_what_did_before() -> None:
    verdict = judged(accepted(of()), of(outcome="crashed", reason="SIGSEGV after 1.3 s"))
    assert reason_of(verdict) == "crashed (SIGSEGV after 1.3 s); completed when accepted"


@pytest.mark.parametrize("before", [None, of(measurement()), of(outcome="crashed"), of(outcome="declined")])
def test_a_motion_that_could_not_be_measured_is_missing(before: Result | None) -> None:
    """Also where nothing is accepted yet, or something worse: a case without a figure is neither new nor improved."""
    baseline = None if before is None else accepted(before)
    verdict = judged(baseline, of(reason="could not be measured: no gap of a capsule"))
    assert verdict.word == "missing" and "no gap of a capsule" in reason_of(verdict)
    assert exit_status([verdict], strict=True) == 1


def test_a_motion_that_was_accepted_without_a_measurement_passes_as_it_was() -> None:
    unmeasured = of(reason="could not be measured: no gap of a capsule")
    assert judged(accepted(unmeasured), unmeasured).word == "pass"


# --- the motion ---------------------------------------------------------------------------------------------------


def test_the_same_bits_pass_whatever_the_clock_says() -> None:
    before = of(measurement(), measurement("step_time", 1e-5, "s", noise="timing"))
    now = of(measurement(), measurement("step_time", 9.0, "s", noise="timing"), wall_time=99.0)
    verdict = judged(accepted(before), now)
    assert (verdict.word, reason_of(verdict), verdict.worse) == ("pass", "bit-identical", False)


def test_another_motion_with_the_same_measurements_passes_and_says_so() -> None:
    verdict = verdict_on(4e-4, 4e-4)
    assert verdict.word == "pass" and reason_of(verdict).startswith("the motion differs")


def test_what_improves_is_an_improvement_though_what_has_no_worse_side_moved_too() -> None:
    def motion(penetration: float, gained: float, came_to_rest: float, **given: Any) -> Result:
        return of(
            measurement("penetration_mean", penetration, "m", noise="step"),
            measurement("energy_gain", gained, "J", noise="chaotic"),
            measurement("rest_time", came_to_rest, "s", noise="tolerance", better="neither"),
            **given,
        )

    before = accepted(motion(1e-2, 1.0, 0.5))
    verdict = judged(before, motion(1e-3, 0.01, 0.1, **MOVED))
    assert (verdict.word, verdict.metric) == ("improved", "penetration_mean")
    assert judged(before, motion(1e-3, 100.0, 0.1, **MOVED)).word == "improved"  # one run of a chaotic one says nothing
    assert judged(before, motion(1e-1, 0.01, 0.1, **MOVED)).word == "regressed"
    assert judged(before, motion(1e-2, 0.01, 0.1, **MOVED)).word == "different"


# --- metric by metric ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "metric", "old", "new", "word"),
    [
        # exact: nine digits, and nothing below a nanometre
        ("exact", "truth_error_goal", 1.0, 1.0 + 5e-10, "pass"),
        ("exact", "truth_error_goal", 1.0, 1.0 + 3e-9, "regressed"),
        ("exact", "truth_error_goal", 1.0, 1.0 - 3e-9, "improved"),
        ("exact", "truth_error_goal", 1e3, 1e3 + 5e-7, "pass"),
        ("exact", "truth_error_goal", 0.0, 0.9e-9, "pass"),
        ("exact", "truth_error_goal", 0.0, 1.1e-9, "regressed"),
        ("exact", "truth_error_goal", 1e-16, 1e-12, "pass"),
        ("exact", "penetration_mean", 1e-4, 1.001e-4, "regressed"),
        # tolerance: a tenth
        ("tolerance", "energy_drift", 1.0, 1.09, "pass"),
        ("tolerance", "energy_drift", 1.0, 1.11, "regressed"),
        ("tolerance", "energy_drift", 1.11, 1.0, "improved"),
        ("tolerance", "energy_drift", 1e-12, 1e-10, "pass"),
        # step: twice, where its resolution is coarse enough not to matter
        ("step", "penetration_mean", 1.0, 1.99, "pass"),
        ("step", "penetration_mean", 1.0, 2.01, "regressed"),
        ("step", "penetration_mean", 2.01, 1.0, "improved"),
        # round-off: an order of magnitude above the floor
        ("round-off", "jitter_velocity", 1e-17, 5e-9, "pass"),
        ("round-off", "jitter_velocity", 1e-17, 2e-8, "regressed"),
        ("round-off", "jitter_velocity", 1e-5, 9e-5, "pass"),
        ("round-off", "jitter_velocity", 1e-5, 2e-4, "regressed"),
        ("round-off", "jitter_velocity", 2e-4, 1e-16, "improved"),
        # chaotic: one run never tells worse from otherwise
        ("chaotic", "energy_gain", 1.0, 9.9, "pass"),
        ("chaotic", "energy_gain", 1.0, 50.0, "different"),
        ("chaotic", "energy_gain", 50.0, 1.0, "different"),
        ("chaotic", "rest_drift", 1.0, NAN, "different"),
        # timing: never
        ("timing", "step_time", 1e-6, 1.0, "pass"),
        ("timing", "step_time", 1.0, NAN, "pass"),
        # what no longer happens
        ("exact", "truth_error_goal", 0.1, NAN, "regressed"),
        ("round-off", "rest_drift", 0.1, NAN, "regressed"),
        ("exact", "truth_error_goal", NAN, 0.1, "improved"),
        ("exact", "truth_error_goal", NAN, NAN, "pass"),
        # without bounds
        ("exact", "truth_error_goal", 1.0, math.inf, "regressed"),
        ("tolerance", "truth_error_goal", math.inf, math.inf, "pass"),
        ("tolerance", "truth_error_goal", math.inf, 1.0, "improved"),
    ],
)
def test_a_metric_is_judged_by_how_it_repeats(noise: str, metric: str, old: float, new: float, word: str) -> None:
    """By how much a single run may differ; how grave what differs more is, says `test_signs`."""
    verdict = verdict_on(old, new, noise=noise, metric=metric)
    assert [change.move for change in verdict.changes] == [word] * (word != "pass"), reason_of(verdict)
    assert verdict.word in (word, "pass")


@pytest.mark.parametrize(
    ("better", "old", "new", "word"),
    [
        ("higher", 1.0, 2.0, "improved"),
        ("higher", 2.0, 1.0, "regressed"),
        ("neither", 1.0, 2.0, "different"),
        ("neither", 2.0, 1.0, "different"),
        ("neither", 1.0, NAN, "different"),
        ("neither", -0.015, 0.015, "different"),
        ("lower", -0.004, -0.002, "improved"),  # towards the truth, from whichever side
        ("lower", -0.002, -0.004, "regressed"),
        ("lower", 0.004, -0.002, "improved"),
        ("lower", 0.004, -0.004, "different"),  # as wrong as before, the other way
    ],
)
def test_worse_is_away_from_where_it_should_be(better: str, old: float, new: float, word: str) -> None:
    assert verdict_on(old, new, better=better).word == word


def test_a_change_below_the_resolution_is_none() -> None:
    """An impact between two samples is known to their distance only."""
    assert verdict_on(0.001, 0.003, metric="truth_error_event_time", unit="s", resolution=1 / 240).changes == ()
    assert verdict_on(0.1, 0.3, metric="truth_error_event_time", unit="s", resolution=1e-6).word == "regressed"


@pytest.mark.parametrize(("new", "word"), [(0.685e-3, "pass"), (0.932e-3, "regressed")])
def test_a_stack_is_worse_where_it_sinks_by_more_than_the_fall_of_a_step(new: float, word: str) -> None:
    """Ten boxes in Chipmunk at 1/240 s: five starts 1e-12 m apart gave 0.157 to 0.685 mm, two iterations 0.932 mm."""
    verdict = verdict_on(0.157e-3, new, noise="step", resolution=0.709e-3)
    assert verdict.word == word
    assert word == "pass" or "0.932 mm, was 0.157 mm (5.9 times, allowed 2 times or by 0.71 mm)" in reason_of(verdict)


@pytest.mark.parametrize("noise", ["exact", "tolerance", "round-off", "chaotic"])
def test_going_back_is_the_opposite_of_going(noise: str) -> None:
    opposite = {"regressed": "improved", "improved": "regressed", "different": "different", "pass": "pass"}
    values = [0.0, FLOOR, 1e-5, 1.05e-5, 4e-5, 1.0, -1.0, 30.0, NAN]
    for metric, old, new in itertools.product(("penetration_mean", "energy_drift"), values, values):
        there = verdict_on(old, new, noise=noise, metric=metric)
        back = verdict_on(new, old, noise=noise, metric=metric)
        assert back.word == opposite[there.word], (metric, old, new)


def test_a_metric_that_is_gone_or_new_is_no_regression() -> None:
    before, after = measurement("cone_violation", 0.1, "1"), measurement("joint_gap", 9.0, "m")
    verdict = judged(accepted(of(measurement(), before)), of(measurement(), after, **MOVED))
    assert verdict.word == "pass" and not verdict.worse
    assert reason_of(verdict) == "nothing that counts: cone violation: no longer measured, was 0.1"


# --- the sentence -------------------------------------------------------------------------------------------------


def test_the_sentence_names_metric_old_new_and_ratio() -> None:
    verdict = verdict_on(0.4e-3, 3.2e-3, noise="tolerance")
    assert reason_of(verdict) == "penetration mean 3.2 mm, was 0.4 mm (8 times, allowed 10 %)"
    assert (verdict.metric, verdict.old, verdict.new) == ("penetration_mean", 0.4e-3, 3.2e-3)
    assert verdict.ratio == pytest.approx(8.0, rel=1e-12)


def test_nothing_is_so_many_times_of_round_off() -> None:
    verdict = verdict_on(1.9e-36, 1.5, metric="energy_drift", unit="J")
    assert verdict.ratio is None and reason_of(verdict) == "energy drift 1.5 J, was 1.9e-36 J (allowed 1e-07 %)"


def test_figures_that_differ_read_differently() -> None:
    verdict = verdict_on(2.385493935821848, 2.385493945821848, unit="m")
    values = "penetration mean 2.38549395 m, was 2.38549394 m (+4.2e-07 %, allowed 1e-07 %)"
    assert reason_of(verdict) == f"nothing that counts: {values}" and verdict.word == "pass"


def test_what_no_longer_happens_is_said_in_those_words() -> None:
    assert reason_of(verdict_on(2.31, NAN, metric="rest_time", unit="s")) == "rest time: no longer happens, was 2.31 s"


def test_the_headline_stands_first_then_what_grew_most() -> None:
    names = ("jitter_velocity", "energy_gain", "penetration_mean", "energy_drift", "rest_drift")
    noise = {"jitter_velocity": "round-off", "rest_drift": "chaotic"}
    made = [[measurement(n, v, noise=noise.get(n, "tolerance")) for n in names] for v in (1e-4, 0.3)]
    made[1][3] = measurement("energy_drift", 3.0, noise="tolerance")
    verdict = judged(accepted(of(*made[0])), of(*made[1], **MOVED))
    order = ["penetration_mean", "energy_drift", "energy_gain", "jitter_velocity", "rest_drift"]
    assert [change.metric for change in verdict.changes] == order
    assert verdict.word == "regressed" and reason_of(verdict).endswith("; and 2 more")


@pytest.mark.parametrize(
    ("drift", "word", "metric"), [(90.0, "mixed", "energy_drift"), (1.5, "improved", "energy_gain")]
)
def test_what_the_kind_of_verdict_rests_on_stands_first(drift: float, word: str, metric: str) -> None:
    before = of(measurement("energy_gain", 100.0, "J"), measurement("energy_drift", 1.0, "J"))
    after = of(measurement("energy_gain", 0.1, "J"), measurement("energy_drift", drift, "J"), **MOVED)
    verdict = judged(accepted(before), after)
    assert (verdict.word, verdict.metric, verdict.worse) == (word, metric, word == "mixed")


def test_the_sentence_ends_with_what_was_run_otherwise() -> None:
    other = case(overrides="iterations=2", settings={"iterations": 2, "slop": 1e-3}, version="7.4.0")
    before, after = of(measurement(value=1e-4)), of(measurement(value=1e-2), case=other, **MOVED)
    reason = reason_of(judged(accepted(before), after))
    assert reason.endswith("[iterations 2, was 50; pymunk 7.4.0, was 7.3.1]")


# --- laws ---------------------------------------------------------------------------------------------------------

LAWS = {"energy_gain": 0.01}


def motion(shift: float, sample: int) -> PlanarTrajectory:
    """The three boxes of the stack at rest, the third turned by `shift` rad, or m aside, from this sample on."""
    pose = np.zeros((30, 3, 3))
    pose[:, :, 1] = 0.5 + np.arange(3)
    pose[sample:, 2, 2 if shift < 0.1 else 0] += shift
    return PlanarTrajectory(time=np.arange(30) / 60.0, pose=pose, twist=0.0 * pose, dt=DT, velocity_lag=0.0)


def test_the_sentence_ends_with_where_the_motion_first_differs() -> None:
    before, after = ({"trajectory": motion(size, 12)} for size in (0.0, 3e-12))
    regressed = judged(accepted(of(measurement(value=1e-3), **before)), of(measurement(value=2e-3), **MOVED, **after))
    kept = judged(accepted(of(measurement(), **before)), of(measurement(), **MOVED, **after))
    for verdict in (regressed, kept):
        sentence = reason_of(verdict)
        assert "; first differs at t = 0.2 s (sample 12): box 3, angle, by 3.0e-12 rad; at the end" in sentence
        assert verdict.divergence is not None and verdict.divergence.first is not None
        assert verdict.divergence.first.sample == 12


def test_a_body_that_ends_elsewhere_is_different_though_no_metric_moved_but_not_in_one_run_of_a_chaotic_scene() -> None:
    before, after = (motion(far, 20) for far in (0.0, 1.5))
    for noise, word in (("exact", "different"), ("chaotic", "pass")):
        sides = of(measurement(noise=noise), trajectory=before), of(measurement(noise=noise), trajectory=after, **MOVED)
        verdicts = [judged(accepted(one), other) for one, other in (sides, sides[::-1])]
        assert [verdict.word for verdict in verdicts] == [word, word]
        assert exit_status(verdicts) == 0


def test_a_promise_that_held_and_does_not_is_a_defect_and_one_of_which_nothing_was_known_is_listed() -> None:
    """Limit 1: two ways of a step are as far apart as they may be."""
    held, broken = (measurement(EXCESS, value, unit="1", noise="tolerance") for value in (0.5, 3.0))
    before = measurement()
    newly = judged(accepted(of(before, held)), of(before, broken, **MOVED))
    assert newly.word == "defect" and exit_status([newly]) == 1
    unknown = judged(accepted(of(before)), of(before, broken, **MOVED))
    assert unknown.word == "pass" and exit_status([unknown]) == 0
    assert [defect.standing for defect in unknown.defects] == [True]
    not_tried = judged(accepted(of(before, held)), of(before, **MOVED))
    assert not_tried.word == "pass" and not not_tried.changes


def gained(energy: float, **given: Any) -> Result:
    return of(measurement("energy_gain", energy, "J", noise="chaotic"), **given)


def test_a_law_that_is_newly_broken_is_a_defect_also_where_one_run_tells_nothing_else() -> None:
    verdict = judged(accepted(gained(0.0)), gained(0.5, **MOVED), LAWS)
    assert (verdict.word, verdict.worse) == ("defect", True)
    assert reason_of(verdict).startswith("breaks a law that it kept: energy gain 500 mJ (physics allows 10 mJ)")


@pytest.mark.parametrize(("noise", "word"), [("exact", "defect"), ("tolerance", "pass"), ("chaotic", "pass")])
def test_a_law_newly_broken_by_less_than_the_noise_is_told_and_fails_nothing(noise: Any, word: str) -> None:
    """Of a motion near its limit round-off decides on which side it ends."""
    before, now = (of(measurement("energy_gain", value, "J", noise=noise)) for value in (0.0099, 0.0101))
    verdict = judged(accepted(before), replace(now, trajectory_hash="after"), LAWS)
    assert verdict.word == word and "energy gain 10.1 mJ (physics allows 10 mJ)" in reason_of(verdict)


def test_a_chaotic_metric_far_beyond_the_law_that_it_kept_is_a_defect() -> None:
    before, now = (of(measurement("energy_gain", value, "J", noise="chaotic")) for value in (0.009, 0.2))
    assert judged(accepted(before), replace(now, trajectory_hash="after"), LAWS).word == "defect"


def test_a_defect_that_was_accepted_stands_and_passes() -> None:
    verdict = judged(accepted(gained(0.5)), gained(0.5), LAWS)
    assert (verdict.word, verdict.worse) == ("pass", False)
    assert [d.standing for d in verdict.defects] == [True] and "as accepted, breaks a law" in reason_of(verdict)


def test_a_new_case_tells_its_defects_and_fails_nothing() -> None:
    verdict = judged(None, gained(0.5), LAWS)
    assert (verdict.word, verdict.worse) == ("new", False)
    assert [d.standing for d in verdict.defects] == [False] and "energy gain 500 mJ" in reason_of(verdict)


def test_what_did_not_happen_breaks_no_law() -> None:
    assert judged(None, gained(NAN), LAWS).defects == ()


@pytest.mark.parametrize("resolution", [None, math.inf, NAN])
def test_an_energy_beyond_the_largest_double_is_a_defect_whatever_its_resolution_is_said_to_be(
    resolution: float | None,
) -> None:
    before, overflowed = of(measurement("energy_gain", 1e-3, "J", noise="tolerance")), gained(math.inf)
    now = of(*(replace(m, resolution=resolution) for m in overflowed.measurements), **MOVED)
    verdict = judged(accepted(before), now, LAWS)
    assert (verdict.word, verdict.worse) == ("defect", True)
    assert "energy gain infinite J (physics allows 10 mJ)" in reason_of(verdict)
    assert judged(accepted(overflowed), now, LAWS).defects[0].standing


@pytest.mark.parametrize("lag", [0.0, DT / 2.0, -DT / 2.0])
@pytest.mark.parametrize("speed", [1e160, -1e200, 1e300])
def test_a_motion_whose_speeds_are_numbers_and_whose_energy_is_none_breaks_the_law_of_energy(
    speed: float, lag: float
) -> None:
    falling = euler((0.0, 5.0), (0.0, 0.0), 20, poses_first=True)
    before, after = falling.twist.copy(), falling.twist.copy()
    after[10:, 0, 1] = speed
    lawful, thrown = (
        of(*measure(scenario(plane(disc())), planar(falling.time, falling.pose, twist, lag=lag)), trajectory_hash=name)
        for twist, name in ((before, "before"), (after, "after"))
    )
    verdict = judged(accepted(lawful), thrown, {"energy_gain": 10.0})
    assert (verdict.word, verdict.worse) == ("defect", True)
    assert reason_of(verdict).startswith("breaks a law that it kept: energy gain infinite J (physics allows 10 J)")


# --- all together -------------------------------------------------------------------------------------------------


def test_judging_is_a_function_of_its_arguments() -> None:
    arguments = (accepted(gained(0.0)), gained(0.5, **MOVED), LAWS)
    assert judged(*arguments) == judged(*arguments)


def verdict_of(word: Any, **given: Any) -> Verdict:
    return Verdict(case=case(), word=word, grounds=Grounds(finding="changes"), **{"worse": False} | given)


@pytest.mark.parametrize(
    ("verdicts", "status", "strict"),
    [
        ([], 0, 0),
        ([verdict_of(word) for word in ("pass", "improved", "different", "new", "declined")], 0, 0),
        ([verdict_of("pass"), verdict_of("regressed", worse=True)], 1, 1),
        ([verdict_of("defect", worse=True)], 1, 1),
        ([verdict_of("broken", worse=True)], 1, 1),
        ([verdict_of("broken")], 0, 1),
        ([verdict_of("missing")], 0, 1),
        ([verdict_of("mixed", worse=True)], 1, 1),
        ([verdict_of("not compared")], 0, 0),  # nor was it before
        ([verdict_of("not compared", baseline=7), verdict_of("improved")], 2, 2),
        ([verdict_of("not compared", baseline=7), verdict_of("regressed", worse=True)], 1, 1),
    ],
)
def test_the_exit_status_follows_the_worst(verdicts: list[Verdict], status: int, strict: int) -> None:
    assert (exit_status(verdicts), exit_status(verdicts, strict=True)) == (status, strict)


def test_the_summary_counts_the_gravest_first() -> None:
    words = ["pass", "pass", "regressed", "improved", "regressed", "new"]
    assert summary(map(verdict_of, words)) == "2 regressions, 1 improvement, 1 new, 2 unchanged"
    assert summary([]) == "nothing was judged"


def test_every_word_has_its_meaning_and_its_noun() -> None:
    assert MEANING.keys() == NOUNS.keys()


def test_changes_and_defects_survive_json() -> None:
    verdict = judged(accepted(gained(0.0)), gained(math.inf, **MOVED), LAWS)
    assert changes_from_json(to_json(verdict.changes)) == verdict.changes != ()
    assert grounds_from_json(grounds_to_json(verdict.grounds)) == verdict.grounds
    assert defects_from_json(to_json(verdict.defects)) == verdict.defects != ()
