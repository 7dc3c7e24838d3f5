"""Ellipsoids of random sizes, turned at random, fall inside a hollow sphere: two that go round in it, or a packing.

Without friction a hollow sphere pushes through its centre, gravity is upright, and what they do to one another cancels:
the moment of momentum about the upright axis keeps its value, whatever else happens. With friction energy is taken,
and nothing overlaps. The scene of Oltman & Hur 2017, section 7.1, with their friction 0.4; sizes and places are ours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np

from reference_engine.dense import mul
from reference_engine.elementary import power, squared
from scenarios.catalogue.bodies import Array, scene_of
from scenarios.catalogue.ground import Ground
from scenarios.catalogue.laws import MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import OF_REST
from scenarios.catalogue.three_ellipsoids import CHAOTIC
from scenarios.scenario import Family, Scenario, Value, Within
from scenarios.scene import Ellipsoid, HollowSphere, Scene, SpatialBody, inertias, masses
from scenarios.truth import Goal, Motion, Truth

SIZES = (0.08, 0.2)  # m, semi-axes
CELL = 0.42  # m, for one body: none meets another however they are turned
DENSITY = 100.0  # kg/m^3 of the box a b c
TURN = 1.0  # rad/s, about the upright axis
DURATION = 0.7  # s


def cells(n: int) -> Array:
    """(n, 3) m: the middles of the n cells nearest to the origin, which is a corner of eight of them."""
    reach = math.ceil(round(power(n, 1.0 / 3.0), 9)) + 1
    steps = [(k + 0.5) * CELL for k in range(-reach, reach)]
    middle = np.array(list(itertools.product(steps, repeat=3)))
    far = np.round(np.linalg.norm(middle, axis=1), 9)  # equal ones in the order of the product
    return middle[np.argsort(far, kind="stable")[:n]]


def ellipsoids_in_sphere(
    *,
    n: Annotated[int, Within(1, 1000)] = 2,
    friction: Annotated[float, Within(0.0, 1.0)] = 0.4,
    seed: Annotated[int, Within(0, 1_000_000)] = 1,
) -> Scenario:
    """Ellipsoids in a sphere: two that go round in a hollow sphere, or a packing of many; the same for a seed"""
    random = np.random.default_rng(seed)
    middle = cells(n)
    turned = random.normal(size=(n, 4))
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    axes = random.uniform(*SIZES, (n, 3))
    bodies = tuple(
        SpatialBody(
            name=f"ellipsoid {i + 1}",
            shape=Ellipsoid(semi_axes=tuple(axes[i].tolist())),
            mass=DENSITY * float(axes[i].prod()),
            position=tuple(middle[i].tolist()),
            orientation=tuple(turned[i].tolist()),
            velocity=(-TURN * float(middle[i, 1]), TURN * float(middle[i, 0]), 0.0),
            friction=friction,
        )
        for i in range(n)
    )
    radius = float(np.linalg.norm(middle, axis=1).max()) + SIZES[1]
    walls = Ground((), (HollowSphere(name="sphere", radius=round(radius + 0.005, 2), friction=friction),))
    title = f"{n} ellipsoids in a sphere"
    scene = scene_of("spatial", bodies, walls, title=title, duration=DURATION)
    goal = None
    if friction == 0.0:
        exact = float(mul(masses(scene) * TURN, squared(middle[:, 0]) + squared(middle[:, 1])))
        goal = Goal(
            name="moment of momentum about the upright axis",
            unit="kg m^2/s",
            exact=exact,
            measure=lambda motion: upright_moment(scene, motion),
        )
    return Scenario(
        name="ellipsoids-in-sphere",
        title=title,
        probes="contact from inside a sphere, at one point or two; ellipsoids among themselves",
        regime="many bodies",
        scene=scene,
        truth=Truth(
            kind="closed form" if goal else "invariants",
            source="friction and impacts without restitution take energy"
            + ("; forces through the sphere's centre have no moment about it" if goal else ""),
            span=(0.0, DURATION),
            goal=goal,
            invariants=frozenset({"energy-not-gained", "no-overlap"}),
        ),
        headline="truth_error_goal" if goal else "penetration_mean",
        noise=dict.fromkeys((*CHAOTIC, "cone_violation"), "chaotic"),
        meaningless=OF_REST | {"energy_drift", "momentum_drift"},
        laws=contact_laws(scene, share=MOVING_SHARE),
    )


def upright_moment(scene: Scene, motion: Motion) -> float:
    """kg m^2/s at the end: sum of m (x v_y - y v_x) and of what the spins have, R I R^T omega, along z."""
    x, v, q, spin = motion.position[-1], motion.velocity[-1], motion.orientation[-1], motion.spin[-1]
    w, a, b, c = q.T
    R = np.array(
        [
            [1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b - w * c), 2.0 * (a * c + w * b)],
            [2.0 * (a * b + w * c), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c - w * a)],
            [2.0 * (a * c - w * b), 2.0 * (b * c + w * a), 1.0 - 2.0 * (a * a + b * b)],
        ]
    )  # (3, 3, B)
    own = np.einsum("kb,bk,ikb,bi->b", R[2], inertias(scene), R, spin)
    return float(np.sum(masses(scene) * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + own))


CANONICAL: tuple[Mapping[str, Value], ...] = ({}, {"friction": 0})
FAMILY = Family("ellipsoids-in-sphere", ellipsoids_in_sphere, CANONICAL, subject="the packing of {n} ellipsoids")
