"""The sign of a comparison: what happened first, then how grave; from the new side to the old the mirror image."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.catalogue import scenario_of
from tests.validation.judging.test_compare import side
from tests.validation.store.made import falling, measurement
from validation.engines import engine_of, present_engines
from validation.judging.comparison import compare
from validation.judging.ensembles import Ensemble, Series, settled
from validation.judging.ensembles import compare as compare_starts
from validation.judging.outcomes import counts_of
from validation.metrics import METRICS
from validation.records.case import Result
from validation.records.outcome import Outcome
from validation.running.options import Progress
from validation.running.planning import Request, plan_cases
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, results_of

STACK = scenario_of("stack:n=3")
MOTIONS = (
    "stack:n=3", "bouncing-ball", "thrown-box", "four-bar", "incline-slide", "newtons-cradle", "rocking-block",
    "overlapped-start", "free-tumble",
)  # fmt: skip
MIRROR = {"worse": "better", "better": "worse"}
LAWFUL = [metric for metric in METRICS.values() if metric.law]
VALUES = st.one_of(
    st.floats(1e-12, 1e3), st.sampled_from([0.0, -1e-3, 1e-3, 2e-3, math.inf, math.nan]), st.floats(allow_nan=True)
)
OUTCOMES = st.lists(
    st.sampled_from(
        [
            Outcome(kind="went through", bodies=("box 1", "ground"), right=False),
            Outcome(kind="hangs", bodies=("box 2",), right=False),
            Outcome(kind="stood", bodies=("box 3",), right=True),
            Outcome(kind="fell over", bodies=("box 3",), right=False),
            Outcome(kind="moved", bodies=("box 1",)),
            Outcome(kind="never moved", bodies=("box 1",)),
        ]
    ),
    max_size=3,
    unique=True,
)


@st.composite
def sides(draw: st.DrawFn) -> Result:
    asked = draw(st.lists(st.sampled_from(LAWFUL), max_size=5, unique_by=lambda metric: metric.name))
    noise = STACK.noise
    found = [
        measurement(m.name, draw(VALUES), m.unit, better=m.better, noise=noise.get(m.name, m.noise)) for m in asked
    ]
    made = side(measurement("impact_count", 1.0, "1", better="neither"), *found)
    return replace(made, outcomes=tuple(draw(OUTCOMES)))


@given(sides(), sides())
def test_from_the_new_side_to_the_old_the_sign_is_the_mirror_image(old, new):
    there, back = compare(STACK, old, new).sign, compare(STACK, new, old).sign
    assert back == MIRROR.get(there, there)


@pytest.mark.slow
def test_from_any_engine_to_any_other_the_sign_is_the_mirror_image_of_the_way_back():
    """Of what the engines that are here really do, in both profiles."""
    scenarios = [scenario_of(word) for word in MOTIONS]
    with Pool() as pool:
        requests = [
            Request(scenario=one, engine=engine_of(name), profile=profile)
            for one in scenarios
            for name in present_engines()
            for profile in ("fair", "default")
        ]
        plans = [plan for plan in plan_cases(pool, requests) if plan.declined is None]
        results = results_of(pool, plans, Limits(), Progress(), "engines")
    of_scenario = {one.label: [r for r in results if r.case.label == one.label] for one in scenarios}
    pairs = [(one, *both) for one in scenarios for both in itertools.combinations(of_scenario[one.label], 2)]
    signs = [(compare(one, a, b).sign, compare(one, b, a).sign) for one, a, b in pairs]
    assert all(back == MIRROR.get(there, there) for there, back in signs)
    assert {"worse", "better", "different"} <= {there for there, _ in signs}, "the motions do differ"


def told(old: Result, new: Result) -> str:
    return compare(STACK, old, new).sign


def of(*values: tuple[str, float], outcomes: tuple[Outcome, ...] = ()) -> Result:
    found = [
        measurement(name, value, METRICS[name].unit, better=METRICS[name].better, noise="tolerance")
        for name, value in values
    ]
    return replace(side(*found), outcomes=outcomes)


THROUGH = Outcome(kind="went through", bodies=("box 1", "ground"), right=False, time=0.3, value=96.0, unit="m")
HANGS = Outcome(kind="hangs", bodies=("box 3",), right=False)


def test_a_box_that_rests_with_some_overlap_is_better_than_one_that_fell_through():
    fell, rests = of(("penetration_final", 0.0), outcomes=(THROUGH,)), of(("penetration_final", 2e-4))
    assert told(fell, rests) == "better" and told(rests, fell) == "worse"


FLAT = ("penetration_final", 0.0)


def test_one_fault_gone_and_another_come_is_mixed():
    assert told(of(FLAT, outcomes=(THROUGH,)), of(FLAT, outcomes=(HANGS,))) == "mixed"


def test_what_nothing_calls_right_or_wrong_is_different():
    moved, still = (Outcome(kind=kind, bodies=("box 1",)) for kind in ("moved", "never moved"))
    assert told(of(FLAT, outcomes=(moved,)), of(FLAT, outcomes=(still,))) == "different"


def test_what_is_not_known_to_have_happened_decides_nothing():
    unknown = replace(of(FLAT), outcomes=None)
    assert told(unknown, of(FLAT, outcomes=(THROUGH,))) == told(of(FLAT, outcomes=(THROUGH,)), unknown) == "same"


# --- where perturbed initial states disagree -------------------------------------------------------------------------


FELL = Outcome(kind="fell over", bodies=("box 3",), right=False)
STOOD = Outcome(kind="stood", bodies=("box 3",), right=True)
MOVED, STILL = Outcome(kind="moved", bodies=("box 1",)), Outcome(kind="never moved", bodies=("box 1",))


def starts(**counts: int) -> Ensemble:
    """Of 20, so many with each of these; the rest without it, and what does not fall stands."""
    made = {"fell": FELL, "moved": MOVED, "still": STILL, "hangs": HANGS}
    each = [[made[word] for word, count in counts.items() if k < count] for k in range(20)]
    each = [happened if FELL in happened else [*happened, STOOD] for happened in each]
    return Ensemble(starts=20, seed=1, completed=20, horizon=0.0, series=(), happened=counts_of(each))


def by_starts(old: Result, new: Result, before: Ensemble, after: Ensemble) -> str:
    signs = []
    for sides, starts in (((old, new), (before, after)), ((new, old), (after, before))):
        signs.append(compare(STACK, *sides, settled({0: compare_starts(*starts)}).get(0)).sign)
    assert signs[1] == MIRROR.get(signs[0], signs[0])
    return signs[0]


@pytest.mark.parametrize(
    ("before", "after", "sign"),
    [(9, 11, "same"), (2, 18, "worse"), (18, 2, "better"), (20, 20, "worse"), (0, 0, "worse"), (0, 20, "worse")],
)
def test_where_the_starts_disagree_their_number_decides_and_not_the_one_run(before: int, after: int, sign: str):
    """The new side's single run falls. Where all starts of both sides do alike, it has the word."""
    single = of(FLAT, outcomes=(STOOD,)), of(FLAT, outcomes=(FELL,))
    assert by_starts(*single, starts(fell=before), starts(fell=after)) == sign


def test_each_kind_is_counted_by_itself():
    assert by_starts(of(FLAT), of(FLAT), starts(fell=18, hangs=1), starts(fell=1, hangs=19)) == "mixed"
    assert by_starts(of(FLAT), of(FLAT), starts(fell=18, hangs=9), starts(fell=1, hangs=11)) == "better"


def test_what_nothing_calls_right_or_wrong_is_different_where_most_starts_turn():
    assert by_starts(of(FLAT), of(FLAT), starts(moved=19), starts(moved=1, still=18)) == "different"
    assert (
        by_starts(of(FLAT, outcomes=(MOVED,)), of(FLAT, outcomes=(STILL,)), starts(moved=9), starts(still=11)) == "same"
    )


def test_an_ensemble_of_before_outcomes_leaves_the_word_to_the_single_runs():
    old = replace(starts(), happened=None)
    assert by_starts(of(FLAT, outcomes=(STOOD,)), of(FLAT, outcomes=(FELL,)), old, starts(fell=9)) == "worse"


def test_what_is_a_little_beyond_a_limit_that_it_was_a_little_below_has_no_sign():
    """A body that leans by 44 degrees has neither stood nor fallen over; by 46 it has fallen."""
    leans, fell = of(FLAT), of(FLAT, outcomes=(FELL,))
    assert told(leans, fell) == told(fell, leans) == "same"
    each = {FELL: [[FELL]] * 20, None: [[]] * 20}
    ensembles = [replace(starts(), happened=counts_of(each[kind])) for kind in (None, FELL)]
    assert by_starts(leans, fell, *ensembles) == "same"
    stood = of(FLAT, outcomes=(STOOD,))
    assert told(stood, fell) == "worse" and told(fell, stood) == "better"


@pytest.mark.parametrize(("far", "sign"), [(0.3, "same"), (2.0, "different")])
def test_a_body_that_ends_more_than_its_diameter_elsewhere_is_different(far: float, sign: str):
    motion = falling(bodies=3)
    pose = motion.pose.copy()
    pose[-1, 1, 0] += far
    here, there = (replace(of(FLAT), trajectory=t) for t in (motion, replace(motion, pose=pose, state_hash="")))
    assert told(here, there) == told(there, here) == sign


@pytest.mark.parametrize(("known", "sign"), [((1.0,), "different"), ((0.5,), "same"), ((), "same")])
def test_but_not_where_the_end_is_chance(known: tuple[float, ...], sign: str):
    """The starts of both sides agree to the end, for half of the motion, for too little to measure anything."""
    motion = falling(bodies=3)
    here, there = (
        replace(of(FLAT), trajectory=replace(motion, pose=motion.pose + shift, state_hash="")) for shift in (0.0, 2.0)
    )
    of_each = tuple(
        Series(until=until, metric="penetration_mean", unit="m", better="lower", noise="chaotic", floor=1e-6,
               values=(1e-3,) * 20)
        for until in known
    )  # fmt: skip
    both = Ensemble(starts=20, seed=1, completed=20, horizon=0.0, series=of_each, happened=())
    assert by_starts(here, there, both, both) == sign


@pytest.mark.parametrize(
    ("old", "new", "sign"),
    [
        # a gross gap that shrinks outweighs a visible gain of energy that grows
        ([("penetration_max", 0.3), ("energy_gain", 0.1)], [("penetration_max", 0.09), ("energy_gain", 0.3)], "better"),
        # two gross changes, one for the better and one for the worse
        ([("penetration_max", 0.5), ("energy_gain", 3.0)], [("penetration_max", 0.2), ("energy_gain", 9.0)], "mixed"),
        # as grave as one another and visible: the truth decides
        ([("truth_error_position", 1e-3), ("penetration_max", 4e-3)],
         [("truth_error_position", 3e-3), ("penetration_max", 1e-3)], "worse"),
        # twofold and more, but less than anybody sees: 0.005 mm to 0.02 mm of a box of 1 m
        ([("penetration_max", 5e-6)], [("penetration_max", 2e-5)], "same"),
        # visible, and not twofold
        ([("penetration_max", 8e-3)], [("penetration_max", 13e-3)], "same"),
        ([("penetration_max", 1e-3)], [("penetration_max", 2e-3)], "worse"),
        # an exact engine that no longer is
        ([("truth_error_position", 1e-13)], [("truth_error_position", 7e-5)], "worse"),
        ([("truth_error_position", 1e-3)], [("truth_error_position", math.nan)], "worse"),
    ],
)  # fmt: skip
def test_the_gravest_change_decides(old, new, sign):
    assert told(of(*old), of(*new)) == sign
    assert told(of(*new), of(*old)) == MIRROR.get(sign, sign)
