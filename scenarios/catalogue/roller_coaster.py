"""A ball whose centre is held on a track: down a slope from rest, through a valley, over a hump or back, and away.

Nothing turns the ball. With the length s along the track, whose heading is h(s),

    s'' = -g sin h(s),   v^2 = 2 g (y_0 - y)

piece by piece: h is constant on a line and linear in s on an arc, where it is the pendulum's equation. Of the
original's scenes (myPhysicsLab, Roller Coaster with rigid bodies), on a track of lines and arcs.
"""

from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np

from reference_engine import elementary
from scenarios.catalogue.shared.bodies import G, ball, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.joints import Track
from scenarios.scenario import Family, Scenario, Within
from scenarios.track import Curve, Piece, Point
from scenarios.truth import Goal, Motion

RADIUS, MASS = 0.15, 1.0  # m, kg, of the ball
TOP = 3.0  # m, height of the start above the lowest point of the track
BEND = 1.0  # m, radius of every arc
STEEP = 0.25 * np.pi  # rad, of every slope
START = 0.5  # m along the track: it goes on ahead of the start, at the same slope
LEVEL = 4.0  # m, the straight at the end
DURATION = 4.0  # s
NEVER = 1e9  # m, for the length of what has no end


def track_of(hump: float) -> tuple[tuple[Point, ...], tuple[float, ...]]:
    """Points and bulges of a track whose hump is so high, m above its lowest point."""
    c, s = float(elementary.cos(STEEP)), float(elementary.sin(STEEP))
    across, rise = BEND * s, BEND * (1.0 - c)  # of half an arc
    down, up = (TOP - rise) * c / s, (hump - 2.0 * rise) * c / s  # horizontal, of the slopes
    quarter = float(elementary.tan(0.5 * STEEP))
    ahead = START * c
    x = np.cumsum([0.0, ahead + down, 2.0 * across, up, 2.0 * across, up, across, LEVEL]) - ahead
    y = (TOP + START * s, rise, rise, hump - rise, hump - rise, rise, 0.0, 0.0)
    eighth = float(elementary.tan(0.25 * STEEP))
    return tuple(zip(x.tolist(), y)), (0.0, quarter, 0.0, -quarter, 0.0, eighth, 0.0)


class Stretch(NamedTuple):
    """The motion on one piece, from one end of it, or from rest, to where it leaves it."""

    start: float  # s
    state: DenseSolution  # length along the piece, speed


@lru_cache(maxsize=4)
def stretches(hump: float) -> tuple[tuple[Stretch, Piece], ...]:
    curve = Curve.of(*track_of(hump))
    k, along, found = 1, np.array([START, 0.0]), []
    time = 0.0
    while time < DURATION:
        piece = curve.pieces[k]
        low, high = (0.0, min(piece.length, NEVER)) if k else (-NEVER, 0.0)

        def rate(_: Array, y: Array, piece: Piece = piece) -> Array:
            return np.array([y[1], -G * elementary.sin(piece.heading + piece.curvature * y[0])])

        def inside(_: Array, y: Array, low: float = low, high: float = high) -> Array:
            return np.asarray((y[0] - low) * (high - y[0]))

        motion = DenseSolution(rate, along, time, DURATION, window=0.1, stop=inside)
        found.append((Stretch(time, motion), piece))
        time = motion.end
        onwards = (speed := motion.at(time)[1]) > 0.0
        if time < DURATION:
            k += 1 if onwards else -1
            along = np.array([0.0 if onwards else curve.pieces[k].length if k else 0.0, speed])
    return tuple(found)


def positions(hump: float, time: Array) -> Array:
    """(S, 2) m."""
    found = np.full((len(time), 2), np.nan)
    every = stretches(hump)
    starts = [stretch.start for stretch, _ in every]
    which = np.searchsorted(starts, time, side="right") - 1
    for k, (stretch, piece) in enumerate(every):
        own = which == k
        found[own] = piece.at(stretch.state(time[own])[0])[0]
    return found


def roller_coaster(*, hump: Annotated[float, Within(0.25, 1.5)] = 0.8) -> Scenario:
    """Roller coaster: a ball on a track, from rest, towards a hump of `hump` times the height of its start"""
    height = hump * TOP
    points, bulges = track_of(height)
    joint = Track(name="track", a="ball", anchor_a=(0.0, 0.0), points=points, bulges=bulges)
    scene = scene_of(
        "planar", (ball("planar", "ball", radius=RADIUS, y=TOP, mass=MASS),), title="Roller coaster",
        duration=DURATION, joints=(joint,),
    )  # fmt: skip

    def final(motion: Motion) -> float:
        return float(motion.position[-1, 0, 0])

    def poses(time: Array) -> Array:
        x, y = positions(height, time).T
        return path(time, x=x, y=y)

    return joint_scenario(
        scene,
        arm=BEND,
        probes="a constraint that turns: energy, and how near to the track the ball stays",
        kind="exact ODE",
        source="the equation of motion along each line and arc of the track in Chebyshev series",
        error=1e-12,
        pose=poses_in_plane(scene, poses),
        goal=Goal(name="final x", unit="m", exact=float(positions(height, np.array([DURATION]))[0, 0]), measure=final),
        headline="truth_error_position",
    )


FAMILY = Family("roller-coaster", roller_coaster, (), subject="the roller coaster")
