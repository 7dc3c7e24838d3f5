"""Heaps of ellipsoids: three that fall beside one another, a lattice that falls onto a plane, a packing in a sphere.

Where they end is chaotic; friction and impacts take energy, and nothing overlaps. The scenes are those of Oltman & Hur
2017, sections 7.1 and 7.3, which give no sizes: those, and places, are ours.

Three: until the first of them lands all fall freely, so the times of the first impacts are exact: none meets another
before.
Lattice: turned at random, as a cube, or in four layers however many there are. With a speed each starts in a direction
of its own.
In a sphere: of random sizes, two that go round in it, or many. Without friction a hollow sphere pushes through its
centre, gravity is upright, and what they do to one another cancels: the moment of momentum about the upright axis keeps
its value, whatever else happens.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.dense import mul, norm
from reference_engine.elementary import power, squared
from scenarios.catalogue.shared.bodies import Array, G, lay_ground, scene_of
from scenarios.catalogue.shared.laws import OF_REST, make_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import Ellipsoid, HollowSphere, Scene, SpatialBody, inertias, masses
from scenarios.truth import Event, Goal, Motion

DENSITY = 100.0  # kg/m^3 of the box a b c
CHAOTIC = ("penetration_max", "penetration_mean", "penetration_final", "gap_final", "impact_count", "energy_gain")


def _heap(scene: Scene, probes: str, truth: Mapping[str, Any], *more_chaotic: str) -> Scenario:
    return make_scenario(
        scene,
        probes=probes,
        regime="many bodies",
        **{"kind": "invariants", "source": "friction and impacts without restitution take energy"} | dict(truth),
        invariants=frozenset({"energy-not-gained", "no-overlap"}),
        headline="truth_error_goal" if "goal" in truth else "penetration_mean",
        noise=dict.fromkeys((*CHAOTIC, *more_chaotic), "chaotic"),
        meaningless=OF_REST | {"energy_drift", "momentum_drift"},
    )


def _turned(random: np.random.Generator, n: int) -> Array:
    """(n, 4) orientations."""
    turned = random.normal(size=(n, 4))
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return turned


def _ellipsoid(number: int, axes: Any, friction: float, **start: Any) -> SpatialBody:
    """Of DENSITY; `start`: position, orientation, velocity."""
    shape, mass = Ellipsoid(semi_axes=axes), DENSITY * math.prod(axes)
    return SpatialBody(name=f"ellipsoid {number}", shape=shape, mass=mass, friction=friction, **start)


THREE_AXES = ((0.3, 0.2, 0.15), (0.2, 0.2, 0.1), (0.25, 0.15, 0.15))  # m
LEAN = (0.4, 0.9, 1.3)  # rad, about the line from the middle
FALL = (0.15, 0.25, 0.35)  # m, from the lowest point of each to the plane
AROUND = 0.5  # m, of the centres from the middle
INWARD = 0.5  # m/s


def three_ellipsoids(*, friction: Annotated[float, Within(0.0, 1.0)] = 0.4) -> Scenario:
    """Three ellipsoids: they fall side by side onto a plane and meet there; when each lands"""
    bodies, events = [], []
    for i, (axes, lean, fall) in enumerate(zip(THREE_AXES, LEAN, FALL)):
        angle = 2.0 * math.pi * i / 3.0
        x, y = elementary.cos(angle), elementary.sin(angle)
        # up, in the body's axes, where `lean` turns it about (x, y, 0)
        up = np.array([-y * elementary.sin(lean), x * elementary.sin(lean), elementary.cos(lean)])
        half_height = float(norm(np.array(axes) * up))
        c, s = elementary.cos(0.5 * lean), elementary.sin(0.5 * lean)
        bodies.append(
            _ellipsoid(
                i + 1, axes, friction, position=(AROUND * x, AROUND * y, half_height + fall),
                orientation=(c, s * x, s * y, 0.0), velocity=(-INWARD * x, -INWARD * y, 0.0),
            )
        )  # fmt: skip
        events.append(Event(a=f"ellipsoid {i + 1}", b="ground", number=1, time=math.sqrt(2.0 * fall / G)))
    ground = lay_ground("spatial", "plane", friction)
    scene = scene_of("spatial", tuple(bodies), ground, title="Three ellipsoids", duration=1.5)
    source = "free fall up to the first impact of each; friction and impacts without restitution take energy"
    probes = "impacts and contacts of ellipsoids, with a plane and among themselves"
    return _heap(scene, probes, {"source": source, "events": tuple(events[:1])})


SEMI_AXES = (0.2, 0.16, 0.12)  # m
PITCH = 0.44  # m, of the lattice: no two meet however they are turned
LAYERS = 4


def ellipsoid_lattice(
    *,
    n: Annotated[int, Within(1, 10_000)] = 27,
    heap: Literal["cube", "layers"] = "cube",
    speed: Annotated[float, Within(0.0, 5.0, "m/s")] = 0.0,
    friction: Annotated[float, Within(0.0, 1.0)] = 0.4,
    seed: Annotated[int, Within(0, 1_000_000)] = 1,
) -> Scenario:
    """Ellipsoid lattice: n ellipsoids, turned at random, fall onto a plane as a cube or in four layers"""
    side = math.ceil(round(power(n, 1.0 / 3.0), 9)) if heap == "cube" else math.ceil(math.sqrt(n / LAYERS))
    random = np.random.default_rng(seed)
    turned = _turned(random, n)
    thrown = random.normal(size=(n, 3))
    thrown *= speed / np.linalg.norm(thrown, axis=1, keepdims=True)
    bodies = []
    for i in range(n):
        level, rest = divmod(i, side * side)
        row, column = divmod(rest, side)
        x, y = ((k - 0.5 * (side - 1)) * PITCH for k in (column, row))
        bodies.append(
            _ellipsoid(
                i + 1, SEMI_AXES, friction, position=(x, y, (level + 0.5) * PITCH),
                orientation=tuple(turned[i].tolist()), velocity=tuple(thrown[i].tolist()),
            )
        )  # fmt: skip
    ground = lay_ground("spatial", "plane", friction)
    scene = scene_of("spatial", tuple(bodies), ground, title=f"Lattice of {n} ellipsoids", duration=1.0)
    probes = "many contacts of ellipsoids: sinking, energy from nothing, cost against number"
    return _heap(scene, probes, {}, "cone_violation")


SIZES = (0.08, 0.2)  # m, semi-axes
CELL = 0.42  # m, for one body: none meets another however they are turned
TURN = 1.0  # rad/s, about the upright axis


def cells(n: int) -> Array:
    """(n, 3) m: the middles of the n cells nearest to the origin, which is a corner of eight of them."""
    count = math.ceil(round(power(n, 1.0 / 3.0), 9)) + 1
    steps = [(k + 0.5) * CELL for k in range(-count, count)]
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
    turned = _turned(random, n)
    axes = random.uniform(*SIZES, (n, 3))
    bodies = tuple(
        _ellipsoid(
            i + 1, tuple(axes[i].tolist()), friction, position=tuple(middle[i].tolist()),
            orientation=tuple(turned[i].tolist()),
            velocity=(-TURN * float(middle[i, 1]), TURN * float(middle[i, 0]), 0.0),
        )
        for i in range(n)
    )  # fmt: skip
    radius = float(np.linalg.norm(middle, axis=1).max()) + SIZES[1]
    sphere = HollowSphere(name="sphere", radius=round(radius + 0.005, 2), friction=friction)
    scene = scene_of("spatial", bodies, walls=(sphere,), title=f"{n} ellipsoids in a sphere", duration=0.7)
    truth: dict[str, Any] = {}
    if friction == 0.0:
        source = "friction and impacts without restitution take energy; "
        truth = {
            "kind": "closed form",
            "source": source + "forces through the sphere's centre have no moment about it",
            "goal": Goal(
                name="moment of momentum about the upright axis",
                unit="kg m^2/s",
                exact=float(mul(masses(scene) * TURN, squared(middle[:, 0]) + squared(middle[:, 1]))),
                measure=lambda motion: upright_moment(scene, motion),
            ),
        }
    probes = "contact from inside a sphere, at one point or two; ellipsoids among themselves"
    return _heap(scene, probes, truth, "cone_violation")


def upright_moment(scene: Scene, motion: Motion) -> float:
    """kg m^2/s at the end: sum of m (x v_y - y v_x) and of what the spins have, R I R^T omega, along z."""
    from reference_engine.rotation import matrices  # numba's, which looking into the catalogue does without

    x, v, q, spin = motion.position[-1], motion.velocity[-1], motion.orientation[-1], motion.spin[-1]
    R = np.moveaxis(matrices(q), 0, -1).copy()  # (3, 3, B)
    own = np.einsum("kb,bk,ikb,bi->b", R[2], inertias(scene), R, spin)
    return float(np.sum(masses(scene) * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + own))


THREE = Family("three-ellipsoids", three_ellipsoids, subject="the group of three ellipsoids")
LATTICE = Family(
    "ellipsoid-lattice", ellipsoid_lattice, ({}, {"n": 6, "speed": 0.5}), subject="the lattice of {n} ellipsoids"
)
IN_SPHERE = Family(
    "ellipsoids-in-sphere", ellipsoids_in_sphere, ({}, {"friction": 0}), subject="the packing of {n} ellipsoids"
)
