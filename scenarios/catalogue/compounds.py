"""Bodies of several pieces, given in a frame that is not at their centre of mass: a hammer that swings and one that
flies, and a block with an overhang that stands or tips.

The hammer's frame is at the end of its handle, where it is pinned. About the pin, with d from it to the centre of mass,

    theta'' = -m g d / (I + m d^2) sin theta,   T = 4 K(sin^2(theta_0 / 2)) / p,   p^2 = m g d / (I + m d^2)

(Whittaker, Analytical Dynamics, ch. 4). In flight its centre goes on a parabola and it turns by Euler's equations. The
block stands as long as its centre of mass is above its foot, an arm shorter than 1 + sqrt(2) m; a longer one turns it
about the edge of the foot, theta'' = m g r / (I + m r^2) sin theta, theta from straight above the edge.
"""

import math
from typing import Annotated, Any

import numpy as np

from reference_engine import elementary
from reference_engine.dense import mul
from reference_engine.elementary import squared
from scenarios.catalogue.free_tumble import EULER, attitude
from scenarios.catalogue.shared.bodies import G, GroundKind, Space, in_plane, lay_ground, pin, rectangle, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import (
    AT_THE_END,
    OF_CONTACT,
    OF_REST,
    RESTING_SHARE,
    contact_laws,
    flight_laws,
    joint_scenario,
    make_scenario,
)
from scenarios.catalogue.shared.poses import Array, at_rest, poses_in_plane, start_pose
from scenarios.catalogue.shared.readings import period_of
from scenarios.mass import rotation_matrix
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import (
    Box,
    Cylinder,
    PlanarCompound,
    PlanarPiece,
    PlanarScene,
    Scene,
    SpatialBody,
    SpatialCompound,
    SpatialPiece,
    SpatialScene,
    Sphere,
    inertias,
)
from scenarios.truth import Goal, Invariant

WOOD, IRON = 0.7, 7.8  # relative densities
HANDLE, HEAD = (0.04, 0.6), (0.2, 0.1)  # m, width and height
HEAD_AT = (0.06, -0.65)  # m, from the end of the handle
DEPTH = 0.05  # m, in space, of the hammer
FOOT, ARM_HEIGHT = (1.0, 0.5), 0.5  # m
FOOT_DEPTH = 0.5  # m, in space
LONGEST_ARM = 1.0 + math.sqrt(2.0)  # m, with which the block stands
TIPPED = 0.2  # rad, to which the truth of a block that tips goes
FRICTION = 1.0
FLIGHT = 2.0  # s


def bars(space: Space, depth: float, *given: tuple[tuple[float, float], tuple[float, float], float]) -> Any:
    """A compound of rectangles or boxes: (width, height) m, (x, y) m of the centre, relative density."""
    if space == "planar":
        return PlanarCompound(
            pieces=tuple(PlanarPiece(shape=rectangle(*size), position=at, density=rho) for size, at, rho in given)
        )
    return SpatialCompound(
        pieces=tuple(
            SpatialPiece(shape=Box(size=(w, depth, h)), position=(x, 0.0, y), density=rho)
            for (w, h), (x, y), rho in given
        )
    )


def planar_pose(scene: Scene) -> tuple[float, float, float]:
    """(x, y, angle) in the plane of the first body at time 0, in its own frame."""
    if isinstance(scene, PlanarScene):
        (pose,) = start_pose(scene)
        x, y, angle = pose[0].tolist()
        return x, y, angle
    position, orientation = (part[0].tolist() for part in start_pose(scene))
    return position[0], position[2], -2.0 * elementary.atan2(orientation[2], orientation[0])


def unit_inertia(scene: Scene) -> float:
    """m^2: of the first body about the axis that leaves the plane, over its mass."""
    moment = inertias(scene)[0]
    return float(moment if isinstance(scene, PlanarScene) else moment[1]) / float(scene.bodies[0].mass or math.nan)


def turning_about(scene: Scene, point: tuple[float, float], solution: DenseSolution, start: float) -> Any:
    """A truth's `pose` of the first body, which turns about a point by solution - start, rad."""
    x, y, angle = planar_pose(scene)

    def motion(time: Array) -> Array:
        turn = solution(time)[0] - start
        s, c = elementary.sine_cosine(turn)
        dx, dy = x - point[0], y - point[1]
        return np.stack([point[0] + c * dx - s * dy, point[1] + s * dx + c * dy, angle + turn], axis=-1)[:, None]

    return poses_in_plane(scene, motion)


# --- the hammer that swings -------------------------------------------------------------------------------


def hammer_swing(*, amplitude: Annotated[float, Within(0.01, 2.5, "rad")] = 1.2, space: Space = "planar") -> Scenario:
    """Hammer swing: a hammer pinned at the end of its handle, let go at `amplitude` from straight down"""
    shape = bars(space, DEPTH, (HANDLE, (0.0, -0.5 * HANDLE[1]), WOOD), (HEAD, HEAD_AT, IRON))
    hammer = in_plane(space, "hammer", shape, angle=amplitude, mass=1.0)
    joint = pin(space, "pin" if space == "planar" else "hinge", "hammer", None, (0.0, 0.0), (0.0, 0.0))
    scene = scene_of(space, (hammer,), title=f"Hammer from {amplitude:g} rad", duration=4.0, joints=(joint,))
    x, y, _ = planar_pose(scene)
    arm, first = math.hypot(x, y), elementary.atan2(x, -y)  # from straight down
    rate = G * arm / (unit_inertia(scene) + squared(arm))
    exact = DenseSolution(
        lambda time, state: np.array([state[1], -rate * elementary.sin(state[0])]), np.array([first, 0.0]), 0.0,
        scene.duration, window=0.3,
    )  # fmt: skip
    return joint_scenario(
        scene,
        arm=arm,
        probes="a compound on a joint: its centre of mass and moment, from its pieces",
        kind="exact ODE",
        source="the physical pendulum's equation in Chebyshev series; its period by the complete elliptic integral",
        error=1e-13,
        pose=turning_about(scene, (0.0, 0.0), exact, first),
        goal=Goal(
            name="period", unit="s", exact=period(rate, first),
            measure=period_of(lambda seen: seen.position[:, 0, 0], rising=True),
        ),
    )  # fmt: skip


def period(rate: float, amplitude: float) -> float:
    """s. K(m) = pi / (2 agm(1, sqrt(1 - m)))."""
    a, b = 1.0, elementary.cos(0.5 * amplitude)
    for _ in range(8):  # it converges quadratically
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2.0 * math.pi / (math.sqrt(rate) * a)


# --- the hammer that flies --------------------------------------------------------------------------------


def hammer_flight(*, gravity: Annotated[float, Within(0.0, 100.0, "m/s^2")] = G) -> Scenario:
    """Hammer flight: thrown by the end of its handle, it turns about its centre of mass and touches nothing

    Its head lies across, and a weight sticks out at its side: no axis of its frame is a principal one.
    """
    across = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # a quarter turn about y
    shape = SpatialCompound(
        pieces=(
            SpatialPiece(shape=Box(size=(0.04, 0.03, 0.6)), position=(0.0, 0.0, -0.3), density=WOOD),
            SpatialPiece(
                shape=Cylinder(radius=0.05, length=0.2), position=(*HEAD_AT[:1], 0.0, HEAD_AT[1]), orientation=across,
                density=IRON,
            ),
            SpatialPiece(shape=Sphere(radius=0.04), position=(0.0, 0.08, -0.5), density=IRON),
        )
    )  # fmt: skip
    hammer = SpatialBody(
        name="hammer", shape=shape, mass=1.0, velocity=(1.0, 0.0, 0.5 * gravity * FLIGHT), spin=(0.5, 4.0, 1.0)
    )
    scene = SpatialScene(title="Hammer flight", gravity=(0.0, 0.0, 0.0 - gravity), duration=FLIGHT, bodies=(hammer,))
    (body,) = scene.bodies
    about = mul(np.array(body.spin), rotation_matrix(body.orientation)).tolist()  # in its own axes
    moments = inertias(scene)[0].tolist()

    def pose(time: Array) -> Array:
        from reference_engine.rotation import product  # who looks into the catalogue needs no compiler

        t = np.asarray(time, dtype=np.float64)[:, None]
        x = np.array(body.position) + np.array(body.velocity) * t + 0.5 * np.array(scene.gravity) * squared(t)
        turned, _ = attitude(tuple(moments), tuple(about), t[:, 0])
        q = product(np.broadcast_to(np.array(body.orientation), turned.shape), turned)
        return np.concatenate([x, q], axis=1)[:, None]

    return make_scenario(
        scene,
        probes="free motion of a compound: its centre of mass, principal axes and moments, from its pieces",
        regime="free motion",
        kind="exact ODE",
        source=EULER,
        error=1e-12,
        pose=pose,
        invariants=frozenset({"energy", "momentum", "angular-momentum"}),
        headline="truth_error_angle",
        meaningless=OF_REST | OF_CONTACT,
        laws=flight_laws(scene),
    )


# --- the block with an overhang ---------------------------------------------------------------------------


def overhang(
    *, arm: Annotated[float, Within(1.0, 4.0, "m")] = 2.0, space: Space = "planar", ground: GroundKind = "plane"
) -> Scenario:
    """Overhang: a foot with an arm on it that reaches out by `arm` less 1 m; it stands, or tips over the foot's edge"""
    width, height = FOOT
    at = (0.5 * (arm - width), height + 0.5 * ARM_HEIGHT)
    shape = bars(space, FOOT_DEPTH, (FOOT, (0.0, 0.5 * height), 1.0), ((arm, ARM_HEIGHT), at, 1.0))
    body = in_plane(space, "block", shape, mass=1.0, friction=FRICTION)
    stands = arm < LONGEST_ARM
    scene = scene_of(
        space, (body,), lay_ground(space, ground, FRICTION), title=f"Overhang, arm {arm:g} m",
        duration=5.0 if stands else 2.0,
    )  # fmt: skip
    common: dict[str, Any] = {
        "probes": "rest of a compound: on the piece below, with the centre of mass of all",
        "laws": contact_laws(scene, share=RESTING_SHARE),
    }
    if stands:
        steady: frozenset[Invariant] = frozenset({"rest", "energy"})
        return make_scenario(
            scene, regime="rest", kind="closed form", source="statics: the centre of mass is above the foot",
            pose=at_rest(scene), invariants=steady, headline="rest_drift",
            expected=(("came to rest", ""), ("stood", "block")), **common,
        )  # fmt: skip
    edge = (0.5 * width, 0.0)
    x, y, _ = planar_pose(scene)
    far, first = math.hypot(x - edge[0], y - edge[1]), elementary.atan2(edge[0] - x, y - edge[1])
    rate = G * far / (unit_inertia(scene) + squared(far))
    exact = DenseSolution(
        lambda time, state: np.array([state[1], rate * elementary.sin(state[0])]), np.array([first, 0.0]), 0.0,
        scene.duration, window=0.1, stop=lambda time, state: TIPPED + state[0] - first,
    )  # fmt: skip
    return make_scenario(
        scene, regime="impact", kind="exact ODE", source="the physical pendulum about the edge of the foot",
        error=1e-12, span=(0.0, float(exact.end)), pose=turning_about(scene, edge, exact, first),
        invariants=frozenset({"energy-not-gained"}), headline="truth_error_angle",
        meaningless=AT_THE_END | OF_REST, **common,
    )  # fmt: skip


SWING = Family("hammer-swing", hammer_swing, ({}, {"space": "spatial"}), subject="the hammer")
THROWN = Family("hammer-flight", hammer_flight, subject="the hammer")
OVERHANG = Family(
    "overhang",
    overhang,
    ({}, {"arm": 3.0}, {"space": "spatial"}, {"arm": 3.0, "space": "spatial", "ground": "box"}),
    subject="the block with an overhang",
)
