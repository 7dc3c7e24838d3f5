"""A block on a plate whose motion is given: a belt, a plate that sets off, one that is shaken, a cart that stops.

Friction gives the block mu g at most. While it slips that is its acceleration, towards the plate's velocity V(t); once
it has that it goes along as long as |V'(t)| <= mu g (Den Hartog 1931, Trans. ASME 53). On the belt at u that is at
t = u / (mu g); on the shaken plate slip ends and begins where A w cos(w t) and a straight line cross, found to
round-off.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from scenarios.catalogue.shared.bodies import G, Space, block, scene_of
from scenarios.catalogue.shared.laws import MOVING_SHARE, OF_REST, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.given_motion import PlanarGivenMotion, SpatialGivenMotion
from scenarios.scenario import Canonical, Family, Scenario, Within
from scenarios.truth import Goal

Moved = Literal["belt", "set-off", "shaken", "cart"]
DURATION = 2.0  # s
WIDTH, HEIGHT = 0.5, 0.2  # m, of the block
LENGTH, THICKNESS = 30.0, 0.5  # m, of the plate
SPEED, SET_OFF = 1.5, 5.0  # m/s, m/s^2
AMPLITUDE, FREQUENCY, PHASE = 0.2, 5.0, 0.5 * np.pi  # m, rad/s, rad: A w^2 = 5 m/s^2
GIVEN: dict[Moved, dict[str, Any]] = {
    "belt": {"velocity": (SPEED, 0.0)},
    "set-off": {"acceleration": (SET_OFF, 0.0)},
    "cart": {"knots": ((0.1, 0.0, 0.0), (0.4, 1.5, 0.0), (1.2, 1.5, 0.0), (1.35, 0.0, 0.0))},
    "shaken": {"amplitude": (AMPLITUDE, 0.0), "frequency": FREQUENCY, "phase": PHASE},
}
VECTORS = ("velocity", "acceleration", "amplitude")
SEARCHED = 4000  # stretches of the duration in which slip begins or ends once at most


class Piece(NamedTuple):
    """From this time on: x + v (t - since) + a (t - since)^2 / 2, or along with the plate."""

    since: float
    x: float
    v: float
    a: float
    sticks: bool


def stick_slip(motion: Any, most: float, duration: float) -> list[Piece]:
    """Of what starts at rest at 0 and is pulled along by no more than `most`, m/s^2."""

    def rate(time: float) -> float:
        return float(motion.rate(time)[0])

    def change(time: float) -> float:
        """The plate's acceleration."""
        return float(motion.acceleration_at(time)[0])

    time, x, v, found = 0.0, 0.0, 0.0, list[Piece]()
    while time < duration:
        ahead = rate(time) - v
        if abs(ahead) <= 1e-12 * max(1.0, abs(v)) and abs(change(time)) <= most:
            found.append(Piece(time, x, v, 0.0, True))
            until = first_root(lambda t: abs(change(t)) - most, time, duration)
            x += float(motion.travel(until)[0] - motion.travel(time)[0])
            time, v = until, rate(until)
            if until < duration:
                found.append(Piece(time, x, v, np.copysign(most, change(time + 1e-9)), False))
        else:
            way = change(time) if abs(ahead) <= 1e-12 * max(1.0, abs(v)) else ahead
            found.append(Piece(time, x, v, float(np.copysign(most, way)), False))
        last = found[-1]
        if not last.sticks:
            until = first_root(partial(_ahead, last, rate), time, duration)
            h = until - last.since
            time, x, v = until, last.x + last.v * h + 0.5 * last.a * h * h, last.v + last.a * h
    return found


def _ahead(piece: Piece, rate: Callable[[float], float], time: float) -> float:
    """Of the plate against the block, while that slips; its sign at first is that of the acceleration."""
    return piece.a * (rate(time) - piece.v - piece.a * (time - piece.since))


def first_root(value: Callable[[float], float], since: float, until: float) -> float:
    """Where it changes its sign first, a little after `since`; `until` where it does not."""
    times = np.linspace(since, until, SEARCHED)[1:].tolist()
    sign = value(times[0]) > 0.0
    for low, high in itertools.pairwise(times):
        if (value(high) > 0.0) != sign:
            while low < (middle := 0.5 * (low + high)) < high:
                low, high = (middle, high) if (value(middle) > 0.0) == sign else (low, middle)
            return high
    return until


def travelled(motion: Any, pieces: list[Piece], time: Array) -> Array:
    """(S,) m, of the block at times (S,)."""
    which = np.maximum(np.searchsorted([piece.since for piece in pieces], time, side="right") - 1, 0)
    found = np.zeros_like(time)
    for k, piece in enumerate(pieces):
        rows = which == k
        h = time[rows] - piece.since
        if piece.sticks:
            along = motion.travel(time[rows])[..., 0] - motion.travel(piece.since)[0]
        else:
            along = piece.v * h + 0.5 * piece.a * h * h
        found[rows] = piece.x + along
    return found


def moving_plate(
    *,
    moved: Moved = "belt",
    friction: Annotated[float, Within(0.05, 0.45)] = 0.3,
    space: Space = "planar",
) -> Scenario:
    """Moving plate: friction takes a block along on a belt, a plate that sets off at 5 m/s^2, a shaken one, a cart"""
    given = GIVEN[moved]
    motion: Any = PlanarGivenMotion(**given)
    if space == "spatial":
        vectors = {name: (value[0], 0.0, 0.0) for name, value in given.items() if name in VECTORS}
        knots = tuple((*knot, 0.0) for knot in given.get("knots", ()))
        motion = SpatialGivenMotion(**given | vectors | {"knots": knots})
    bodies = (
        block(space, "block", size=(WIDTH, HEIGHT), depth=WIDTH, y=0.5 * HEIGHT, friction=friction),
        block(
            space, "plate", size=(LENGTH, THICKNESS), depth=2.0, y=-0.5 * THICKNESS, friction=friction, mass=None,
            fixed=True, motion=motion,
        ),
    )  # fmt: skip
    scene = scene_of(space, bodies, title=f"Moving plate: {moved}", duration=DURATION)
    pieces = stick_slip(motion, friction * G, DURATION)

    def both(time: Array) -> Array:
        poses = np.zeros((len(time), 2, 3))
        poses[:, 0, 0], poses[:, 0, 1] = travelled(motion, pieces, time), 0.5 * HEIGHT
        poses[:, 1, 0], poses[:, 1, 1] = motion.travel(time)[:, 0], -0.5 * THICKNESS
        return poses

    end = float(travelled(motion, pieces, np.array([DURATION]))[0])
    return make_scenario(
        scene,
        probes="friction of what moves by a plan: slip, its end, and going along",
        regime="sliding",
        kind="closed form",
        source="Coulomb friction; slip with a harmonic motion: Den Hartog 1931, Trans. ASME 53",
        pose=poses_in_plane(scene, both),
        goal=Goal(
            name=f"way of the block in {DURATION:g} s", unit="m", exact=end, measure=coordinate_at(DURATION, 0, 0)
        ),
        invariants=frozenset({"energy-not-gained"}),
        meaningless=OF_REST | {"energy_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


CANONICAL: Canonical = (
    {},
    {"moved": "set-off"},
    {"moved": "shaken"},
    {"moved": "shaken", "space": "spatial"},
    {"moved": "cart", "space": "spatial"},
)
FAMILY = Family("moving-plate", moving_plate, CANONICAL, subject="the block on the plate")
