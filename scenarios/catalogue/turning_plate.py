"""A block on a plate that turns steadily, without gravity and friction: the plate sweeps it along, and it slides out.

In axes that turn with the plate the block's centre is at (x, h), and only the centrifugal force acts along the face:
x'' = w^2 x, x = x0 cosh(w t) + v0 / w sinh(w t). The plate presses it by m (2 w x' - w^2 h), which is positive from the
start on where v0 > w h / 2 (Landau & Lifshitz, Mechanics, section 39). It turns as the plate does.
"""

from typing import Annotated, Any

import numpy as np

from reference_engine import elementary
from scenarios.catalogue.shared.bodies import Space, block, scene_of
from scenarios.catalogue.shared.laws import MOVING_SHARE, OF_REST, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.given_motion import PlanarGivenMotion, SpatialGivenMotion
from scenarios.scenario import Canonical, Family, Scenario, Within
from scenarios.truth import Goal

DURATION = 1.0  # s
WIDTH, HEIGHT = 0.5, 0.2  # m, of the block
LENGTH, THICKNESS = 30.0, 0.5  # m, of the plate
START, OUTWARDS = 0.5, 1.5  # m and m/s: x0 and v0
UP = 0.5 * (THICKNESS + HEIGHT)  # m: h


def turning_plate(*, spin: Annotated[float, Within(0.5, 3.0)] = 2.0, space: Space = "planar") -> Scenario:
    """Turning plate: a block without friction is swept along and slides out, as cosh of the angle"""
    w = float(spin)
    motion: Any = PlanarGivenMotion(spin=w) if space == "planar" else SpatialGivenMotion(spin=(0.0, -w, 0.0))
    bodies = (
        block(
            space,
            "block",
            size=(WIDTH, HEIGHT),
            depth=WIDTH,
            x=START,
            y=UP,
            velocity=(OUTWARDS - w * UP, w * START),
            spin=w,
        ),
        block(space, "plate", size=(LENGTH, THICKNESS), depth=2.0, mass=None, fixed=True, motion=motion),
    )
    scene = scene_of(space, bodies, title="Turning plate", duration=DURATION, g=0.0)

    def both(time: Array) -> Array:
        rising = elementary.exp(w * time)
        out = START * 0.5 * (rising + 1.0 / rising) + OUTWARDS / w * 0.5 * (rising - 1.0 / rising)
        sine, cosine = elementary.sine_cosine(w * time)
        poses = np.zeros((len(time), 2, 3))
        poses[:, 0, 0], poses[:, 0, 1] = cosine * out - sine * UP, sine * out + cosine * UP
        poses[:, :, 2] = (w * time)[:, None]
        return poses

    end = float(both(np.array([DURATION]))[0, 0, 0])
    return make_scenario(
        scene,
        probes="contact with what turns by a plan: centrifugal and Coriolis forces",
        regime="sliding",
        kind="closed form",
        source="Landau & Lifshitz, Mechanics, section 39",
        pose=poses_in_plane(scene, both),
        goal=Goal(name=f"x of the block at {DURATION:g} s", unit="m", exact=end, measure=coordinate_at(DURATION, 0, 0)),
        invariants=frozenset({"energy-not-gained"}),
        meaningless=OF_REST | {"energy_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


CANONICAL: Canonical = ({}, {"space": "spatial"})
FAMILY = Family("turning-plate", turning_plate, CANONICAL, subject="the block on the plate")
