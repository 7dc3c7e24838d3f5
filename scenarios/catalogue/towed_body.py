"""A body towed by a spring whose free end is moved: along a path of straight stretches, each at its own speed.

Without gravity, from rest, the spring at its centre of mass and of length 0 at rest. While the end moves as
a(t) = a_0 + u (t - t_0), with w^2 = k / m and the body at x_0 with speed v_0 at t_0,

    x(t) = a(t) + (x_0 - a_0) cos w (t - t_0) + (v_0 - u) / w sin w (t - t_0)

in each coordinate. When the path ends the spring lets go, and the body flies on.
"""

from typing import Annotated

import numpy as np

from reference_engine import elementary
from scenarios.catalogue.shared.bodies import Space, ball, scene_of
from scenarios.catalogue.shared.laws import OF_CONTACT, OF_REST, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.forces import Spring
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Goal, Motion

RADIUS, MASS = 0.25, 2.0  # m, kg
TIMES = (0.5, 1.5, 2.25)  # s: the end goes off along x, then up, and lets go
DURATION = 4.0  # s


def towed(time: Array, stiffness: float, speed: float) -> tuple[Array, Array]:
    """(S,) m: x and height of the body."""
    rate = float(np.sqrt(stiffness / MASS))
    begin, turn, end = TIMES
    stretches = [(begin, turn, np.array([speed, 0.0])), (turn, end, np.array([0.0, speed]))]
    x, v, a = np.zeros(2), np.zeros(2), np.zeros(2)
    found = np.zeros((len(time), 2))
    for start, stop, u in stretches:
        during = (time >= start) & (time < stop)
        found[during] = _state(time[during] - start, rate, a, u, x, v)[0]
        (x,), (v,) = _state(np.array([stop - start]), rate, a, u, x, v)
        a = a + u * (stop - start)
    after = time >= end
    found[after] = x + np.multiply.outer(time[after] - end, v)
    return found[:, 0], found[:, 1]


def _state(since: Array, rate: float, a: Array, u: Array, x: Array, v: Array) -> tuple[Array, Array]:
    """(S, 2) each: positions and velocities so long after the beginning of a stretch."""
    c, s = elementary.cos(rate * since)[:, None], elementary.sin(rate * since)[:, None]
    position = a + u * since[:, None] + (x - a) * c + (v - u) / rate * s
    return position, u - (x - a) * rate * s + (v - u) * c


def towed_body(
    *,
    stiffness: Annotated[float, Within(1.0, 1000.0, "N/m")] = 20.0,
    speed: Annotated[float, Within(0.1, 10.0, "m/s")] = 1.0,
    space: Space = "planar",
) -> Scenario:
    """Towed body: a spring pulls it after a point that goes along x, then up, and lets go"""
    begin, turn, end = TIMES
    corner = speed * (turn - begin)
    points = ((0.0, 0.0), (corner, 0.0), (corner, speed * (end - turn)))
    across = () if space == "planar" else (0.0,)
    where = [(x, *across, y) for x, y in points]
    spring = Spring(
        a="body",
        anchor_a=(0.0, 0.0, *across),
        anchor_b=where[0],
        anchor_path=tuple(zip(TIMES, where)),
        stiffness=stiffness,
    )
    scene = scene_of(
        space, (ball(space, "body", radius=RADIUS, y=0.0, mass=MASS),), title="Towed body", duration=DURATION,
        g=0.0, springs=(spring,),
    )  # fmt: skip

    def height(motion: Motion) -> float:
        return float(motion.position[-1, 0, -1])

    def positions(time: Array) -> Array:
        x, y = towed(time, stiffness, speed)
        return path(time, x=x, y=y)

    last = float(towed(np.array([DURATION]), stiffness, speed)[1][0])
    return make_scenario(
        scene,
        probes="a force that depends on time and place, that begins, turns and ends between two steps",
        regime="free motion",
        kind="closed form",
        source="forced harmonic oscillator on each stretch of the path",
        pose=poses_in_plane(scene, positions),
        goal=Goal(name="final height", unit="m", exact=last, measure=height),
        invariants=frozenset(),
        headline="truth_error_position",
        meaningless=OF_REST | OF_CONTACT | {"momentum_drift", "angular_momentum_drift"},
        laws={},
    )


FAMILY = Family("towed-body", towed_body, ({}, {"space": "spatial"}), subject="the towed body")
