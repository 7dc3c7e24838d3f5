"""A row of dominoes, the first one pushed: contacts that come, slide and stay.

The speed of the wave has only approximate laws. Exact is the fall of the first domino, about its lower edge without
slip, until its upper edge meets the next one's face: sin(theta) = gap / height, with
    (h^2 + d^2)/3 (omega^2 - omega_0^2) = g (h (1 - cos theta) - d sin theta).
Source: energy of a rotation about a fixed edge.
"""

from typing import Annotated, NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.dense import gauss_legendre
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import make_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Event

COUNT = 12
HEIGHT, THICKNESS, DEPTH = 1.0, 0.2, 0.5  # m
FRICTION = 0.6
DURATION = 4.5  # s; they lie after about three and a half
NODES = 40
CHAOTIC = (
    *("penetration_max", "penetration_mean", "penetration_final", "gap_final", "impact_count"),
    *("jitter_velocity", "jitter_position", "rest_drift", "rest_time", "energy_gain", "cone_violation"),
)


class Contact(NamedTuple):
    """The first domino meets the second: tilt (rad), time (s), angular speed just before (rad/s)."""

    tilt: float
    time: float
    spin: float


def first_contact(height: float, thickness: float, gap: float, spin: float, g: float = G) -> Contact:
    """By quadrature of the energy; `spin` must carry it over the edge."""
    tilt = elementary.asin(gap / height)
    node, weight = gauss_legendre(NODES)
    theta = 0.5 * tilt * (node + 1.0)

    def speed(theta: np.ndarray) -> np.ndarray:
        gained = g * (height * (1.0 - elementary.cos(theta)) - thickness * elementary.sin(theta))
        return np.sqrt(squared(spin) + 3.0 * gained / (squared(height) + squared(thickness)))

    return Contact(tilt, float(0.5 * tilt * np.sum(weight / speed(theta))), float(speed(np.array(tilt))))


def dominoes(
    *,
    gap: Annotated[float, Within(0.1, 0.8, "m")] = 0.3,
    spin: Annotated[float, Within(0.8, 2.5, "rad/s")] = 1.4,
    space: Space = "planar",
    ground: GroundKind = "plane",
) -> Scenario:
    """Dominoes: twelve in a row, the first thrown over with `spin` rad/s; `gap` is that between their faces"""
    lower_edge = (THICKNESS / 2.0, -HEIGHT / 2.0)  # from the centre
    bodies = tuple(
        block(
            space,
            f"domino {i + 1}",
            size=(THICKNESS, HEIGHT),
            x=i * (THICKNESS + gap),
            y=HEIGHT / 2.0,
            # About the lower edge on the far side, clockwise: v = omega x (centre - edge).
            velocity=(-spin * lower_edge[1], spin * lower_edge[0]) if i == 0 else (0.0, 0.0),
            spin=-spin if i == 0 else 0.0,
            mass=THICKNESS * HEIGHT,
            depth=DEPTH,
            friction=FRICTION,
        )
        for i in range(COUNT)
    )
    scene = scene_of(space, bodies, lay_ground(space, ground, FRICTION), title="Dominoes", duration=DURATION)
    met = first_contact(HEIGHT, THICKNESS, gap, spin)
    return make_scenario(
        scene,
        probes="contacts that come, slide and stay; a heap at rest in the end",
        regime="many bodies",
        kind="invariants",
        source="energy of a rotation about a fixed edge, for the first contact; friction and impacts take energy",
        events=(Event(a="domino 1", b="domino 2", number=1, time=met.time),),
        invariants=frozenset({"energy-not-gained"}),
        headline="penetration_max",
        noise={**dict.fromkeys(CHAOTIC, "chaotic"), "truth_error_event_time": "step"},
        meaningless=frozenset({"energy_drift", "momentum_drift"}),
        expected=tuple(("fell over", body.name) for body in bodies),
    )


FAMILY = Family("dominoes", dominoes, ({}, {"space": "spatial", "ground": "box"}), subject="the row of dominoes")
