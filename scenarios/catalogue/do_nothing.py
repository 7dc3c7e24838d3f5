"""The do-nothing machine (trammel of Archimedes): two blocks in crossed grooves, and a rod pinned to both.

The blocks are at (L cos t, 0) and (0, L sin t), the rod's middle at half of both, its angle -t. Without gravity the
kinetic energy is (m L^2 + M L^2 / 4 + M L^2 / 12) t'^2 / 2, the same at every t: so t' stays as it is, and all goes
round for ever. Of the original's scenes (myPhysicsLab, Do Nothing Grinder).
"""

from typing import Annotated

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array, rectangle
from scenarios.catalogue.shared.laws import OF_CONTACT, OF_REST, joint_scenario
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import PlanarBody, PlanarScene, Prismatic, Revolute
from scenarios.truth import Goal

LENGTH, ROD_MASS, BLOCK_MASS = 2.0, 1.0, 1.0  # m, kg, kg
DURATION = 10.0  # s
START = 0.3  # rad


def poses(angle: Array) -> Array:
    """(S, 3, 3) of the block that goes across, of the one that goes up, of the rod; angles (S,)."""
    c, s = elementary.cos(angle), elementary.sin(angle)
    still = np.zeros_like(angle)
    across = np.stack([LENGTH * c, still, still], axis=-1)
    up = np.stack([still, LENGTH * s, still], axis=-1)
    rod = np.stack([0.5 * LENGTH * c, 0.5 * LENGTH * s, -angle], axis=-1)
    return np.stack([across, up, rod], axis=1)


def do_nothing(*, spin: Annotated[float, Within(-20.0, 20.0, "rad/s")] = 2.0) -> Scenario:
    """Do-nothing machine: a rod on two blocks in crossed grooves goes round at the same rate for ever"""
    start = poses(np.array([START]))[0].tolist()
    c, s = float(elementary.cos(START)), float(elementary.sin(START))
    velocities = (
        (0.0 - LENGTH * s * spin, 0.0),
        (0.0, LENGTH * c * spin),
        (0.0 - 0.5 * LENGTH * s * spin, 0.5 * LENGTH * c * spin),
    )
    shapes = (rectangle(0.3, 0.2), rectangle(0.2, 0.3), rectangle(LENGTH, 0.05))
    bodies = tuple(
        PlanarBody(
            name=name,
            shape=shape,
            mass=mass,
            inertia=ROD_MASS * squared(LENGTH) / 12.0 if name == "rod" else None,
            position=(x, y),
            angle=angle,
            velocity=velocity,
            spin=0.0 - spin if name == "rod" else 0.0,
            group=1,
        )
        for name, shape, mass, (x, y, angle), velocity in zip(
            ("across", "up", "rod"), shapes, (BLOCK_MASS, BLOCK_MASS, ROD_MASS), start, velocities
        )
    )
    middle, half = (0.0, 0.0), 0.5 * LENGTH
    scene = PlanarScene(
        title="Do-nothing machine",
        duration=DURATION,
        gravity=(0.0, 0.0),
        bodies=bodies,
        joints=(
            Prismatic(name="groove across", a="across", anchor_a=middle, anchor_b=middle, axis=(1.0, 0.0)),
            Prismatic(name="groove up", a="up", anchor_a=middle, anchor_b=middle, axis=(0.0, 1.0)),
            Revolute(name="pin across", a="across", b="rod", anchor_a=middle, anchor_b=(half, 0.0)),
            Revolute(name="pin up", a="up", b="rod", anchor_a=middle, anchor_b=(-half, 0.0)),
        ),
    )

    def angle(time: Array) -> Array:
        return START + spin * time

    last = float(poses(angle(np.array([DURATION])))[0, 2, 0])
    return joint_scenario(
        scene,
        arm=LENGTH,
        probes="joints in grooves: a loop of them with one way to move, energy of the integrator",
        kind="closed form",
        source="the kinetic energy does not depend on the angle, so its rate stays",
        pose=lambda time: poses(angle(np.asarray(time, np.float64))),
        goal=Goal(name="x of the rod's middle at the end", unit="m", exact=last, measure=coordinate_at(DURATION, 2, 0)),
        headline="truth_error_position",
        meaningless=OF_REST | OF_CONTACT | {"momentum_drift", "angular_momentum_drift"},
    )


FAMILY = Family("do-nothing", do_nothing, subject="the do-nothing machine")
