"""A block that falls on a corner, without friction, and comes to rest through two accumulations of impacts.

It strikes with one corner, turns, strikes with the other, and so on, in ever shorter flights, until infinitely many of
them end at one corner, at 0.965717186 s. On that it slides and swings until impacts of the other corner accumulate too,
and it lies flat. Newton's law; a corner that rests takes the impulse that it needs to stay, if it needs one. There is
no closed form: the time is that of a program of its own, by scipy's event location, with bounces below 1e-7 s summed up
(tests/reference_engine/planar/tumbling_oracle.py). Its runs at 1e-10 to 1e-13 agree to 1e-10 s.
"""

import math

import numpy as np

from reference_engine import elementary
from scenarios.catalogue.shared.bodies import G, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import make_scenario
from scenarios.catalogue.shared.poses import path, poses_in_plane
from scenarios.scenario import Family, Scenario
from scenarios.truth import Goal, Motion

WIDTH, HEIGHT, TILT, FALL, RESTITUTION = 1.0, 0.5, 0.3, 1.0, 0.5  # m, m, rad, m above the ground of the centre
REST = 1.0160211588  # s
ERROR = 1e-9
SETTLED, DURATION = 1.5, 3.0  # s; engines with steps are late
SLOW = 0.01  # of sqrt(g HEIGHT): slower it counts as at rest


def tumbling_block() -> Scenario:
    """Tumbling block: dropped on a corner without friction, it is at rest after infinitely many impacts, twice"""
    body = block("planar", "block", size=(WIDTH, HEIGHT), y=FALL, angle=TILT, restitution=RESTITUTION)
    scene = scene_of(
        "planar", (body,), lay_ground("planar", restitution=RESTITUTION), title="Tumbling block",
        duration=DURATION,
    )  # fmt: skip

    return make_scenario(
        scene,
        probes="impacts at corners, two accumulations of impacts, the time of rest",
        regime="impact",
        kind="converged",
        source="Newton's law of impact from flight to flight, by scipy's event location at four tolerances",
        span=(SETTLED, DURATION),
        error=ERROR,
        pose=poses_in_plane(scene, lambda time: path(time, y=HEIGHT / 2.0)),
        goal=Goal(name="time of rest", unit="s", exact=REST, measure=rest_time),
        invariants=frozenset({"momentum-x", "energy-not-gained", "rest"}),
        noise={"impact_count": "chaotic"},
        meaningless=frozenset({"energy_drift"}),
    )


def rest_time(motion: Motion) -> float:
    """s; NaN where it never rests.

    Of a motion with samples before and after its impacts it is their limit: the last and what a geometric series of the
    bounces leaves. Of others it is the first sample from which no point of the block is faster than SLOW.
    """
    fast = elementary.hypot(*motion.velocity[:, 0].T) + 0.5 * math.hypot(WIDTH, HEIGHT) * np.abs(motion.spin[:, 0])
    moving = np.flatnonzero(fast > SLOW * math.sqrt(G * HEIGHT))
    if not moving.size or moving[-1] == len(fast) - 1:
        return math.nan
    impact_times = np.unique(motion.time[1:][np.diff(motion.time) == 0.0])
    if len(impact_times) < 2:
        return float(motion.time[moving[-1] + 1])
    return float(impact_times[-1] + (impact_times[-1] - impact_times[-2]) * RESTITUTION / (1.0 - RESTITUTION))


FAMILY = Family("tumbling-block", tumbling_block, subject="the tumbling block")
