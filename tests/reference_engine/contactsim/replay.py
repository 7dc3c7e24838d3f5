"""Recorded runs of the original engine, once more: how near the end is, and whether that is a hit."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reference_engine.contactsim.engine import ContactSim, Totals
from reference_engine.contactsim.settings import FaithfulSettings
from reference_engine.errors import ContactForceError, UnresolvedContact
from tests.reference_engine.contactsim.recorded import NotRepresented, number, settings_of, world_of

Json = Mapping[str, Any]

FREE_TOLERANCE = 1e-6  # where the engine's own test states none
COLUMNS = ("x", "y", "angle", "vx", "vy", "omega")
FAILING_TESTS = (  # of the engine itself: they pass if it gives up
    "CircleStraightTest.ball_falls_on_floor_stuck",
    "DoNothingTest.do_nothing_error",
    "MiscellanyTest.curved_test_error",
)
FAILURE_NAMES = ("exception", "error", "failure", "stuck")
GRACE = 1.0  # s, after the last recorded state, for a failure that is to come


@dataclass(frozen=True, slots=True)
class Outcome:
    """A repeated run: the worst difference of a body's end state, totals, and whether it is a hit.

    A run that ended in an exception is a hit if ours ends in one of the same kind.
    """

    difference: float
    tolerance: float
    totals: Totals
    recorded_collisions: int | None
    worst: str  # body and column
    note: str = ""
    expected_failure: str = ""
    failure: ContactForceError | UnresolvedContact | None = None

    @property
    def hit(self) -> bool:
        if self.expected_failure:
            return self.failure is not None and same_kind(self.expected_failure, self.failure)
        return self.difference <= self.tolerance and self.totals.collisions == self.recorded_collisions


def repeat(run: Json) -> Outcome:
    """The run once more, from its setup to its end. Raises NotRepresented, or what the engine raises unexpectedly.

    A setup does not say by which of its two criteria an adaptive integrator cuts steps: then the nearer end counts.
    """
    try:
        settings = settings_of(run["setup"])
        outcome = repeat_with(run, settings)
        if settings.adaptive and not outcome.hit:
            other = repeat_with(run, replace(settings, adaptive_second_difference=False))
            if other.difference < outcome.difference:
                return replace(other, note=", by the energy itself")
        return outcome
    except KeyError as missing:
        raise NotRepresented(f"field or name {missing} is not there") from missing


def repeat_with(run: Json, settings: FaithfulSettings) -> Outcome:
    setup, meta = run["setup"], run.get("meta") or {}
    expected, test = meta.get("engine_expected") or {}, meta.get("engine_test", "")
    sim = ContactSim(world_of(setup, test), settings, start=setup["start_time"])
    expected_failure, failure = expected_failure_of(run, test), None
    final = run.get("final") or {}
    dt, end = setup["time_step"], final.get("t", expected.get("run_until"))
    if end is None:
        raise NotRepresented("neither final.t nor run_until says when the run ended")
    try:
        advance_to(sim, end, dt)
        difference, worst = worst_difference(sim, setup["bodies"], final.get("bodies") or {})
        if expected_failure:
            advance_to(sim, max(end + GRACE, expected.get("run_until") or 0.0), dt)
    except (ContactForceError, UnresolvedContact) as reason:
        if not expected_failure:
            raise
        difference, worst, failure = math.nan, "", reason
    tolerance = number(expected.get("tolerance"))
    return Outcome(
        difference=difference,
        tolerance=tolerance if math.isfinite(tolerance) and tolerance > 0.0 else FREE_TOLERANCE,
        totals=sim.totals,
        recorded_collisions=(run.get("totals") or {}).get("collisions"),
        worst=worst,
        note=f", gave up as it should: {failure}" if failure else (", did not give up" if expected_failure else ""),
        expected_failure=expected_failure,
        failure=failure,
    )


def advance_to(sim: ContactSim, end: float, dt: float) -> None:
    while sim.time < end - dt / 2.0:
        sim.advance(dt)


def worst_difference(sim: ContactSim, bodies: list[Json], final: Json) -> tuple[float, str]:
    """Of any recorded number, and which."""
    worst, where = 0.0, ""
    for i, body in enumerate(bodies):
        if body["name"] in final:
            for column, value, was in zip(COLUMNS, (*sim.pose[i], *sim.twist[i]), final[body["name"]]):
                if not abs(value - was) <= worst:
                    worst, where = abs(value - was), f"{body['name']} {column}"
    return worst, where


def expected_failure_of(run: Json, test: str) -> str:
    """What the run says of an exception that ended it or is to end it, in words; empty if it went to its end."""
    for what, value in messages_of(run):
        if any(name in what.lower() for name in FAILURE_NAMES) and (value is True or isinstance(value, str | Mapping)):
            return "an exception" if value is True else str(value)
    return "an exception" if test in FAILING_TESTS else ""


def messages_of(run: Json) -> Iterator[tuple[str, Any]]:
    meta = run.get("meta") or {}
    for source in (run, meta, meta.get("engine_expected") or {}, run.get("final") or {}):
        yield from ((key, value) for key, value in source.items() if value)


def same_kind(message: str, failure: Exception) -> bool:
    """The original's words for the two: "compute_forces failed ...", "collision was not resolved ..."."""
    forces = any(name in message for name in ("compute_", "ComputeForces"))
    stuck = any(name in message for name in ("resolved", "stuck", "advance"))
    return not (forces or stuck) or isinstance(failure, ContactForceError if forces else UnresolvedContact)
