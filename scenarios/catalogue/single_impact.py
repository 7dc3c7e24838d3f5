"""One impact at one contact: whose law is it?

A body flies without gravity, hits the floor at IMPACT_TIME with one point, and flies on. With K the inverse effective
mass there and u its velocity, the impulse is that of the law which the scene names (`reference_engine.impact`), and an
engine with one law of its own shows by its motion which one that is. The cases are those of Routh's diagram (1905): a
ball that slides through or sticks; a rod that comes to stick, slides through, slides and turns back, or is pressed into
the floor by its own friction; the corner of a box, in space with a slip whose direction turns; and the tip of a double
pendulum (Kane & Levinson 1985), whose energy Newton's law raises.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Literal

import numpy as np

import reference_engine as library
from reference_engine import elementary
from reference_engine.dense import mul, norm, solve
from reference_engine.elementary import squared
from scenarios.catalogue import double_pendulum
from scenarios.catalogue.shared.bodies import Body, Space, ball, block, lay_ground, scene_of
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import AT_THE_END, OF_REST, PENETRATION_SHARE, make_scenario, smallest_size
from scenarios.catalogue.shared.poses import Array, poses_in_plane
from scenarios.scenario import Family, ParameterError, Scenario
from scenarios.scene import ContactLaw, HalfPlane, ImpactLaw, PlanarBody, PlanarScene, Revolute, SpatialBody, inertias
from scenarios.shapes import Box, ConvexMesh, Polygon
from scenarios.truth import Event, Goal, Motion

IMPACT_TIME = 0.1013  # s; at no sample, where a velocity would be two
DURATION = 0.25  # s
RADIUS, LENGTH, THICKNESS = 0.1, 1.0, 0.04  # m, of ball and rod
AROUND = 1e-3  # kg m^2, of a rod about its own axis
BOX = (0.6, 0.4, 0.8)  # m
TURNED = (0.8, 0.4, -0.2, 0.4)  # w-x-y-z, of the box at the impact
BOX_VELOCITY = (1.5, 0.8, -2.0)  # m/s
TILTS = (math.radians(20.0), math.radians(30.0))  # of the pendulum's rods at the start, from straight down
SPINS = (-2.0, -4.0)  # rad/s
SOON = 8.0 / 60.0  # s, end of the pendulum's scene: its tip would come down again

CONSERVED_BY_FEW = frozenset({"energy_drift", "energy_gain", "momentum_drift", "angular_momentum_drift"})

Case = Literal[
    "ball-slides",
    "ball-grips",
    "rod-sticks",
    "rod-slides",
    "rod-turns-back",
    "rod-jams",
    "rod-grazes",
    "corner",
    "pendulum",
]


@dataclass(frozen=True, slots=True)
class Collision:
    """What is given of a case. Speeds of approach are above 1 m/s, below which Box2D has no restitution."""

    angle: float  # rad
    velocity: tuple[float, float]  # m/s
    spin: float  # rad/s
    friction: float
    restitution: float = 0.5


CASES: dict[str, Collision] = {
    "ball-slides": Collision(0.0, (3.0, -2.0), 0.0, 0.1),
    "ball-grips": Collision(0.0, (1.0, -2.0), -15.0, 0.5),
    "rod-sticks": Collision(0.25 * math.pi, (-0.6, -2.0), 0.0, 0.8),
    "rod-slides": Collision(0.25 * math.pi, (-8.0, -2.0), 0.0, 0.3),
    "rod-turns-back": Collision(0.25 * math.pi, (0.6, -2.0), 0.0, 0.3),
    "rod-jams": Collision(math.pi / 3.0, (-0.6, -2.0), 0.0, 1.6),
    "rod-grazes": Collision(math.pi / 3.0, (-3.0, -0.05), 0.0, 1.6),
    "corner": Collision(0.4, (1.0, -2.0), 0.3, 0.3),
    "pendulum": Collision(0.0, (0.0, 0.0), 0.0, 0.7, 1.0),
}


def impulse(K: Array, u: Array, friction: float, restitution: float, law: ImpactLaw) -> Array:
    """(D,) N s on the body, the floor's normal last."""
    if law == "newton":
        return at_once(K, u, friction, restitution)
    if law == "poisson" and len(u) == 3:
        found = library.multiple_impact(K, u[None], friction=friction, restitution=restitution, law=law)
        return found.impulse[0]
    if law == "poisson":
        compression = at_once(K, u, friction, 0.0)
        return compression + given_back(K, u + mul(K, compression), friction, restitution * compression[-1])
    name = law.removeprefix("incremental-")
    return library.impact(K, u, friction=friction, restitution=restitution, law=name).impulse


def at_once(K: Array, u: Array, friction: float, restitution: float) -> Array:
    """u_n leaves with -e of its approach; Coulomb's law for the whole impulse and the slip afterwards (Moreau 1988)."""
    wanted = np.append(np.zeros(len(u) - 1), -restitution * u[-1])
    sticking: Array = solve(K, wanted - u)
    if norm(sticking[:-1]) <= friction * sticking[-1]:
        return sticking
    if len(u) == 3:  # in a direction that has to be found
        return library.multiple_impact(K, u[None], friction=friction, restitution=restitution).impulse[0]
    for side in (1.0, -1.0):
        along = np.array([-friction * side, 1.0])
        rate = float(mul(K[1], along))
        if rate > 0.0 and (j := (wanted[1] - u[1]) / rate) > 0.0 and side * float(u[0] + mul(j * K[0], along)) >= 0.0:
            sliding: Array = j * along
            return sliding
    raise ArithmeticError(f"no impulse at mu = {friction:g}, K = {K.tolist()}, u = {u.tolist()}")


def given_back(K: Array, u: Array, friction: float, normal: float) -> Array:
    """This normal impulse at a contact that has stopped approaching, or as much as keeps it so, with Coulomb's law."""
    tangential = float(np.clip(-(u[0] + K[0, 1] * normal) / K[0, 0], -friction * normal, friction * normal))
    impulse = np.array([tangential, normal])
    return impulse if float(u[1] + mul(K[1], impulse)) >= 0.0 else at_once(K, u, friction, 0.0)


# --- bodies ---------------------------------------------------------------------------------------------


def body_at_impact(case: Case, space: Space) -> tuple[Body, Array]:
    """The body at the instant of the impact with its centre at height 0, and its lowest point there; without law."""
    given = CASES[case]
    if case.startswith("ball"):
        return ball(space, "body", radius=RADIUS, y=0.0, velocity=given.velocity, spin=given.spin), np.array(
            [0.0, -RADIUS]
        )
    c, s = elementary.cos(given.angle), elementary.sin(given.angle)
    if case == "corner":
        body = block(space, "body", size=(1.0, 3.0), y=0.0, angle=given.angle, velocity=given.velocity, spin=given.spin)
        corners = mul(np.array([(x, y) for x in (-0.5, 0.5) for y in (-1.5, 1.5)]), np.array([[c, s], [-s, c]]))
        return body, corners[np.argmin(corners[:, 1])]
    a, b = 0.5 * LENGTH, 0.5 * THICKNESS
    needle = block(space, "body", y=0.0, angle=given.angle, velocity=given.velocity, spin=given.spin)
    if space == "planar":
        shape: Polygon | ConvexMesh = Polygon(vertices=((-a, 0.0), (0.0, -b), (a, 0.0), (0.0, b)))
        inertia: float | tuple[float, ...] = squared(LENGTH) / 12.0
    else:
        shape = ConvexMesh(
            points=((-a, 0.0, 0.0), (a, 0.0, 0.0), (0.0, -b, 0.0), (0.0, b, 0.0), (0.0, 0.0, -b), (0.0, 0.0, b))
        )
        inertia = (AROUND, squared(LENGTH) / 12.0, squared(LENGTH) / 12.0)
    return needle.model_copy(update={"shape": shape, "inertia": inertia}), -a * np.array([c, s])


def rotation() -> Array:
    """(3, 3) of the box at the impact."""
    from reference_engine.rotation import matrices  # numba's, which looking into the catalogue does without

    return matrices(np.array(TURNED))


def box_in_space() -> tuple[SpatialBody, Array]:
    """As `body_at_impact`, a box that no plane is the same for on both sides."""
    body = SpatialBody(name="body", shape=Box(size=BOX), mass=1.0, orientation=TURNED, velocity=BOX_VELOCITY)
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * BOX
    arms = mul(corners, rotation().T)
    return body, arms[np.argmin(arms[:, 2])]


def single_impact(*, case: Case = "rod-turns-back", law: ImpactLaw = "newton", space: Space = "planar") -> Scenario:
    """Single impact: ball, rod, corner or a double pendulum's tip strikes the floor once; the scene says by which law

    A point that slides, sticks, turns back or jams under pressure distinguishes the laws of impact; in `rod-grazes`
    friction drives the tip into the floor, from hardly any approach (Painleve). An engine that has one law of its own
    shows by the goal which one it is: docs/impacts.md has the table.
    """
    if space == "spatial" and case == "pendulum":
        raise ParameterError("single-impact: case 'pendulum' is the plane's; allowed: space=planar")
    if case == "pendulum":
        return of_pendulum(law)
    in_space = case == "corner" and space == "spatial"
    body, arm = box_in_space() if in_space else body_at_impact(case, space)
    given = CASES[case]
    velocity = np.array(BOX_VELOCITY if in_space else given.velocity)
    spin = np.zeros(3) if in_space else np.array(given.spin)
    height = -float(arm[-1])
    at_impact = np.append(np.zeros(len(arm) - 1), height)
    start = at_impact - IMPACT_TIME * velocity
    position = (float(start[0]), float(start[-1])) if not in_space else tuple(start.tolist())
    update: dict[str, object] = {"friction": given.friction, "restitution": given.restitution}
    if in_space:
        update["position"] = position
    else:
        turned = block(space, "turned", y=0.0, angle=given.angle - IMPACT_TIME * given.spin)
        update["position"] = position if space == "planar" else (position[0], 0.0, position[1])
        field = "angle" if space == "planar" else "orientation"
        update[field] = getattr(turned, field)
    floor = lay_ground(space, friction=given.friction, restitution=given.restitution)
    scene = scene_of(
        space, (body.model_copy(update=update),), floor, title=f"Single impact, {case}", duration=DURATION, g=0.0,
        contact=ContactLaw(impact_law=law),
    )  # fmt: skip
    moments = inertias(scene)[0]
    if in_space:
        R = rotation()
        about: Array = mul(R * moments, R.T)
    else:
        about = np.array(moments if space == "planar" else moments[1])
    turning: Array = np.cross(spin, arm) if in_space else spin * np.array([-arm[1], arm[0]])

    @cache
    def after() -> tuple[Array, float]:
        """Velocity and, in the plane, spin."""
        K = library.inverse_mass(1.0, about, arm)
        j = impulse(K, velocity + turning, given.friction, given.restitution, law)
        spun = float(spin + (arm[0] * j[1] - arm[1] * j[0]) / about) if not in_space else math.nan
        return velocity + j, spun

    def planar(time: Array) -> Array:
        since = np.maximum(0.0, time - IMPACT_TIME)[:, None]
        until = np.minimum(0.0, time - IMPACT_TIME)[:, None]
        velocity_after, spin_after = after()
        at = at_impact + until * velocity + since * velocity_after
        turned = given.angle + until * given.spin + since * spin_after
        return np.concatenate([at, turned], axis=1)[:, None]

    def spatial(time: Array) -> Array:
        pose = np.full((len(time), 1, 7), np.nan)
        pose[:, 0, :3] = at_impact + np.minimum(0.0, time - IMPACT_TIME)[:, None] * velocity
        pose[:, 0, :3] += np.maximum(0.0, time - IMPACT_TIME)[:, None] * after()[0]
        pose[time <= IMPACT_TIME, 0, 3:] = TURNED
        return pose

    return make_scenario(
        scene,
        probes="the law of impact with friction: what sliding does while the bodies are pressed together",
        regime="impact",
        kind="closed form" if not in_space else "exact ODE",
        source=SOURCES[law],
        error=0.0 if not in_space else 1e-12,
        pose=spatial if in_space else poses_in_plane(scene, planar),
        events=(Event(a="body", b="ground", number=1, time=IMPACT_TIME),),
        goal=Goal(name="speed along the floor, after", unit="m/s", exact=lambda: float(after()[0][0]), measure=_along),
        laws={"penetration_max": 2.0 * PENETRATION_SHARE * smallest_size(scene)},
        meaningless=OF_REST | AT_THE_END | CONSERVED_BY_FEW,
    )


SOURCES: dict[ImpactLaw, str] = {
    "newton": "Newton's restitution, Coulomb's law for impulse and slip afterwards (Moreau 1988)",
    "poisson": "Poisson's restitution, Coulomb's law for impulse and slip afterwards (Glocker & Pfeiffer 1995)",
    "incremental-newton": "Routh's method (1905), ended by the speed of approach times e",
    "incremental-poisson": "Routh's method (1905), ended by the impulse of compression times e",
    "stronge": "Routh's method (1905), ended by the work of compression times e^2 (Stronge 1990)",
    "chatterjee-ruina": "Chatterjee & Ruina 1998",
    "stick-or-slip": "Kane & Levinson 1985",
}


def _along(seen: Motion) -> float:
    """NaN where it has not hit the floor."""
    if not len(seen.time):
        return math.nan
    before, after = seen.velocity[0, 0], seen.velocity[-1, 0]
    has_hit = norm(after - before) > 0.1 * norm(before)
    return float(after[0]) if has_hit else math.nan


# --- the double pendulum ----------------------------------------------------------------------------------


freely = partial(double_pendulum.rate, g=0.0)


@lru_cache(maxsize=1)
def before() -> DenseSolution:
    return DenseSolution(freely, np.array([*TILTS, *SPINS]), 0.0, IMPACT_TIME, window=0.1)


def after_impact(law: ImpactLaw) -> tuple[Array, float]:
    """State after the impact, and the kinetic energy in that before."""
    y = before().at(IMPACT_TIME)
    (a, b), spins, given = y[:2], y[2:], CASES["pendulum"]
    M = np.array([[4.0 / 3.0, 0.5 * elementary.cos(a - b)], [0.5 * elementary.cos(a - b), 1.0 / 3.0]])
    J = np.array([[elementary.cos(a), elementary.cos(b)], [elementary.sin(a), elementary.sin(b)]])
    K = library.inverse_mass_through_joints(M, J)
    j = impulse(K, mul(J, spins), given.friction, given.restitution, law)
    after = spins + solve(M, mul(J.T, j))
    return np.array([a, b, *after]), float((mul(mul(after, M), after)) / (mul(mul(spins, M), spins)))


@lru_cache(maxsize=len(SOURCES))
def second_motion(law: ImpactLaw) -> tuple[DenseSolution, float]:
    """The motion after the impact, and the kinetic energy in that before."""
    start, ratio = after_impact(law)
    return DenseSolution(freely, start, IMPACT_TIME, SOON, window=0.05), ratio


def of_pendulum(law: ImpactLaw) -> Scenario:
    given = CASES["pendulum"]
    first = before()

    def pose(time: Array) -> Array:
        states = np.where(
            time <= IMPACT_TIME,
            first(np.minimum(time, IMPACT_TIME)),
            second_motion(law)[0](np.clip(time, IMPACT_TIME, SOON)),
        )
        return double_pendulum.poses(states[:2])

    a, b = 0.5 * THICKNESS, 0.5 * LENGTH
    at, later = (double_pendulum.poses(first.at(t)[:2, None])[0] for t in (0.0, IMPACT_TIME))
    tip = float(later[1, 1] - 0.5 * LENGTH * elementary.cos(later[1, 2]))
    aside = [0.5 * np.array([elementary.cos(t), elementary.sin(t)]) * w for t, w in zip(TILTS, SPINS)]
    speeds = (aside[0], 2.0 * aside[0] + aside[1])
    bodies = tuple(
        PlanarBody(
            name=name, shape=Polygon(vertices=((0.0, -b), (a, 0.0), (0.0, b), (-a, 0.0))), mass=1.0,
            inertia=squared(LENGTH) / 12.0, position=(float(x), float(y)), angle=float(angle), spin=w, group=1,
            velocity=(float(v[0]), float(v[1])), friction=given.friction, restitution=given.restitution,
        )
        for name, (x, y, angle), v, w in zip(("upper", "body"), at, speeds, SPINS)
    )  # fmt: skip
    scene = PlanarScene(
        title="Single impact, pendulum",
        gravity=(0.0, 0.0),
        duration=SOON,
        bodies=bodies,
        boundaries=(
            HalfPlane(
                name="ground", normal=(0.0, 1.0), point=(0.0, tip), friction=given.friction,
                restitution=given.restitution,
            ),
        ),
        joints=(
            Revolute(name="hinge", a="upper", anchor_a=(0.0, b), anchor_b=(0.0, 0.0)),
            Revolute(name="elbow", a="upper", b="body", anchor_a=(0.0, -b), anchor_b=(0.0, b)),
        ),
        contact=ContactLaw(impact_law=law),
    )  # fmt: skip

    def kinetic(seen: Motion, k: int) -> float:
        v, w = seen.velocity[k], seen.spin[k]
        return float(0.5 * np.sum(squared(v)) + 0.5 * squared(LENGTH) / 12.0 * np.sum(squared(w)))

    def gained(seen: Motion) -> float:
        return kinetic(seen, -1) / kinetic(seen, 0) if len(seen.time) and seen.time[-1] > IMPACT_TIME else math.nan

    return make_scenario(
        scene,
        probes="an impact through joints, by which Newton's law makes energy",
        regime="impact",
        kind="exact ODE",
        source=f"Lagrange's equations, in Chebyshev series; {SOURCES[law]}, through the joints",
        error=1e-12,
        pose=pose,
        goal=Goal(name="energy after, of that before", unit="1", exact=lambda: second_motion(law)[1], measure=gained),
        laws={"joint_gap": 0.05 * LENGTH},
        meaningless=OF_REST | AT_THE_END | CONSERVED_BY_FEW | {"impact_count"},
    )


FAMILY = Family("single-impact", single_impact, ({}, {"case": "pendulum"}), subject="the body that strikes")
