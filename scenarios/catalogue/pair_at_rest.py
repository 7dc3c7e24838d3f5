"""One shape on another: every pair of primitives has collision code of its own, and faults of its own.

The upper body rests on the level top of the lower one, which is fixed; or falls onto it, tilted.
"""

import itertools
import math
from functools import cache
from typing import Literal, NamedTuple, get_args

from reference_engine import elementary
from scenarios import shapes
from scenarios.catalogue.shared.bodies import G
from scenarios.catalogue.shared.laws import MOVING_SHARE, RESTING_SHARE, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import at_rest
from scenarios.scenario import Canonical, Family, Noise, Scenario
from scenarios.scene import HalfSpace, SpatialBody, SpatialScene

Upper = Literal["sphere", "box", "capsule", "cylinder", "ellipsoid", "mesh"]
Lower = Literal["plane", "box", "cylinder", "mesh"]
Start = Literal["touching", "dropped"]

DURATION = 2.0  # s
FRICTION = 0.5
HEIGHT = 0.2  # m, by which the centre is higher than when it stands; the tilt lowers a corner of the cube by 0.13
TILT = 0.2  # rad, about an axis between x and y: no edge lands flat
HALF_THICKNESS = 1.0  # m, of what lies below; it is 4 m wide


def cube(half: float, up: float) -> shapes.ConvexMesh:
    return shapes.ConvexMesh(points=tuple(itertools.product((-half, half), (-half, half), (-up, up))))


class Stance(NamedTuple):
    shape: shapes.SpatialShape
    height: float  # m, of the centre when it stands
    lying: bool = False  # its axis is level


@cache
def uppers() -> dict[Upper, Stance]:
    """Made when asked for: a mesh takes compiled algebra, and every command looks into the catalogue."""
    return {
        "sphere": Stance(shapes.Sphere(radius=0.5), 0.5),
        "box": Stance(shapes.Box(size=(1.0, 1.0, 1.0)), 0.5),
        "capsule": Stance(shapes.Capsule(radius=0.3, length=1.0), 0.3, lying=True),
        "cylinder": Stance(shapes.Cylinder(radius=0.5, length=1.0), 0.5),
        "ellipsoid": Stance(shapes.Ellipsoid(semi_axes=(0.6, 0.5, 0.4)), 0.4),
        "mesh": Stance(cube(0.5, 0.5), 0.5),
    }


@cache
def lowers() -> dict[Lower, shapes.SpatialShape | None]:
    return {
        "plane": None,
        "box": shapes.Box(size=(4.0, 4.0, 2.0 * HALF_THICKNESS)),
        "cylinder": shapes.Cylinder(radius=2.0, length=2.0 * HALF_THICKNESS),
        "mesh": cube(2.0, HALF_THICKNESS),
    }


NOISE: dict[str, Noise] = {
    **dict.fromkeys(("truth_error_position", "truth_error_angle", "energy_drift", "energy_gain"), "step")
}


def pair_at_rest(*, upper: Upper = "box", lower: Lower = "box", start: Start = "touching") -> Scenario:
    """One shape on another: every pair of primitives, standing or dropped with a tilt"""
    stance, base = uppers()[upper], lowers()[lower]
    dropped = start == "dropped"
    body = SpatialBody(
        name="upper",
        shape=stance.shape,
        mass=1.0,
        position=(0.0, 0.0, stance.height + (HEIGHT if dropped else 0.0)),
        orientation=_orientation(lying=stance.lying, tilt=TILT if dropped else 0.0),
        friction=FRICTION,
    )
    below = (
        ()
        if base is None
        else (
            SpatialBody(name="lower", shape=base, fixed=True, position=(0.0, 0.0, -HALF_THICKNESS), friction=FRICTION),
        )
    )
    scene = SpatialScene(
        title=f"{upper.capitalize()} on {lower}, {start}",
        duration=DURATION,
        gravity=(0.0, 0.0, -G),
        bodies=(body, *below),
        boundaries=(HalfSpace(name="lower", friction=FRICTION),) if base is None else (),
    )
    return make_scenario(
        scene,
        probes="collision of each pair of shapes: depth, drift and energy from nothing where they touch",
        regime="impact" if dropped else "rest",
        kind="invariants" if dropped else "closed form",
        source="contact and friction do no positive work" if dropped else "statics: the weight acts above the contact",
        pose=None if dropped else at_rest(scene),
        invariants=frozenset({"energy-not-gained"} if dropped else {"rest", "energy"}),
        headline="penetration_max",
        noise=NOISE,
        laws=contact_laws(scene, share=MOVING_SHARE if dropped else RESTING_SHARE),
    )


def _orientation(*, lying: bool, tilt: float) -> tuple[float, float, float, float]:
    """A quarter turn about y where it lies, and then the tilt about (1, 1, 0)."""
    a, b = elementary.cos(tilt / 2.0), elementary.sin(tilt / 2.0) * math.sqrt(0.5)
    c, s = (math.sqrt(0.5), math.sqrt(0.5)) if lying else (1.0, 0.0)
    return (a * c - b * s, b * c, a * s + b * c, b * s)  # (a, b, b, 0) times (c, 0, s, 0)


EVERY_PAIR: Canonical = tuple(
    {"upper": upper, "lower": lower, "start": start}
    for upper in get_args(Upper)
    for lower in get_args(Lower)
    for start in get_args(Start)
)


FAMILY = Family("pair-at-rest", pair_at_rest, subject="the pair at rest")
