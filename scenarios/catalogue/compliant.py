"""Compliant balls: one that rebounds, one that sinks in, a row that a wave passes through, and two that roll.

Hertz's force with a damping that grows with it, c depth^1.5 (1 + d u), u the speed of approach.

Rebound without other forces: u du/(1 + d u) = -(c/m) depth^1.5 d(depth) gives, with x = d v and v the speed at which
they met,

    v_plus / v = (1 + W0(-(1 + x) exp(-(1 + x)))) / x,      2/5 (c/m) d^2 depth_max^2.5 = x - log(1 + x),

W0 Lambert's function: a ratio below the nominal e, whatever mass and stiffness.
Rest: c depth^1.5 = m g. A touch without approach has all the damping that the law allows, and the law of that scene
allows what is critical about the depth at rest, sqrt(6 / (g depth)), so that it settles as fast as it can.
Cradle: rigid mechanics gives no single answer for balls that touch; elastic balls have one: the impact is a wave, the
last ball leaves with a little less than all of it, and the others with a little each.
Rolling: friction turns and slows both balls, at the floor and between them; kinetic energy, that of weight, that in the
contacts and what they have taken out have a constant sum. No closed form is known.
Sources: Hertz 1882 (J. reine angew. Math. 92); Hunt & Crossley 1975 (J. Appl. Mech. 42); Flores & Lankarani 2016,
Contact Force Models, ch. 3; Nesterenko 1983 (J. Appl. Mech. Tech. Phys. 24).
"""

import math
from functools import cache
from typing import Annotated, Any, Literal

import numpy as np

from reference_engine.elementary import power, squared
from scenarios.catalogue.shared import laws
from scenarios.catalogue.shared.bodies import G
from scenarios.catalogue.shared.compliant_spheres import ERROR, CompliantSpheres, check_depth, rubber
from scenarios.catalogue.shared.poses import Array, start_pose
from scenarios.contact import CompliantContact, damping, rebound_ratio, stiffness
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import ContactLaw, HalfSpace, SpatialBody, SpatialScene, Sphere
from scenarios.truth import Event, Goal, Motion

RADIUS, MASS = 0.1, 1.0  # m, kg
BOUNCE_RUN_UP, BOUNCE_AFTER = 0.25, 0.25  # s, to the touch; from what the touch lasts at most
REST_SETTLED, REST_DURATION = 1.5, 3.0  # s
DURATION = 0.6  # s, of cradle and rolling: at 1 m/s the wave is through 5 balls of 1e5 Pa in half of it
ROLLING_RUN_UP = 0.1  # m, between the two
ROLLING_MOST_DAMPING = 10.0  # s/m: about what is critical for a ball on the floor

FLOOR = HalfSpace(name="floor", material="rubber")


def rubber_ball(name: str = "ball", **more: Any) -> SpatialBody:
    return SpatialBody(name=name, shape=Sphere(radius=RADIUS), mass=MASS, material="rubber", **more)


def soft_scene(title: str, duration: float, law: CompliantContact, *bodies: SpatialBody, **more: Any) -> SpatialScene:
    return SpatialScene(title=title, duration=duration, bodies=bodies, contact=ContactLaw(compliant=law), **more)


def exact_pose(scene: SpatialScene) -> Any:
    """A truth's `pose`, integrated once when it is first asked for."""
    motion = cache(lambda: CompliantSpheres(scene))
    return lambda time: motion().pose(time)


def compliant_bounce(
    *,
    restitution: Annotated[float, Within(0.1, 1.0)] = 0.7,
    speed: Annotated[float, Within(0.02, 10.0, "m/s")] = 0.5,
    young_modulus: Annotated[float, Within(1e4, 1e12, "Pa")] = 1e5,
) -> Scenario:
    """Compliant bounce: a ball without weight thrown at a soft floor; the ratio of the two speeds"""
    law = rubber(young_modulus, restitution)
    ball = rubber_ball(position=(0.0, 0.0, RADIUS + BOUNCE_RUN_UP * speed), velocity=(0.0, 0.0, -speed))
    # Undamped it lasts 2.94 depths over the speed (Johnson 1985, Contact Mechanics, 11.4); damping keeps it longer.
    lasts = 2.94 * power(1.25 * MASS * squared(speed) / stiffness(law, ball, FLOOR), 0.4) / speed
    duration = round(BOUNCE_RUN_UP + 3.0 * lasts + BOUNCE_AFTER, 3)
    scene = soft_scene("Compliant bounce", duration, law, ball, gravity=(0.0, 0.0, 0.0), boundaries=(FLOOR,))
    ratio = rebound_ratio(damping(law, law.pairs[0], speed) * speed)

    def final_ratio(found: Motion) -> float:
        up = float(found.velocity[-1, 0, 2])
        return up / speed if up > 0.0 else math.nan

    return laws.make_scenario(
        scene,
        probes="elastic contact with damping: the rebound, and the motion within",
        regime="impact",
        kind="exact ODE",
        source="Hertz's force, damping of Hunt & Crossley 1975: the ratio by Lambert's function, poses by DOP853",
        error=ERROR,
        pose=exact_pose(scene),
        events=(Event(a="ball", b="floor", number=1, time=BOUNCE_RUN_UP),),
        goal=Goal(name="rebound ratio", unit="1", exact=ratio, measure=final_ratio),
        invariants=frozenset({"energy-not-gained", "elastic-depth"}),
        meaningless=laws.not_of_impacts(restitution),
    )


def compliant_rest(*, young_modulus: Annotated[float, Within(1e4, 1e10, "Pa")] = 1e5) -> Scenario:
    """Compliant rest: a ball laid on a soft floor sinks in until that carries its weight; the depth"""
    law = rubber(young_modulus, 0.0)
    ball = rubber_ball(position=(0.0, 0.0, RADIUS))
    depth = power(MASS * G / stiffness(law, ball, FLOOR), 2.0 / 3.0)
    law = law.model_copy(update={"most_damping": math.sqrt(6.0 / (G * depth))})
    scene = soft_scene("Compliant rest", REST_DURATION, law, ball, boundaries=(FLOOR,))

    def pose(time: Array) -> Array:
        still = np.tile(np.hstack(start_pose(scene)), (len(time), 1, 1))
        still[:, 0, 2] = RADIUS - depth
        return still

    def final_depth(found: Motion) -> float:
        return float(RADIUS - found.position[-1, 0, 2])

    return laws.make_scenario(
        scene,
        probes="elastic contact at rest: the depth that carries the weight",
        regime="rest",
        kind="closed form",
        source="Hertz 1882: stiffness times the depth to the power of 3/2 is the weight",
        span=(REST_SETTLED, REST_DURATION),
        error=1e-9,
        pose=pose,
        goal=Goal(name="depth at rest", unit="m", exact=depth, measure=final_depth),
        invariants=frozenset({"energy-not-gained", "elastic-depth", "rest"}),
        meaningless=frozenset({"energy_drift"}),
        laws=laws.contact_laws(scene, share=laws.RESTING_SHARE),
    )


def compliant_cradle(
    *,
    n: Literal[2, 3, 4, 5] = 5,
    gap: Annotated[float, Within(1e-4, 0.1, "m")] = 1e-3,
    speed: Annotated[float, Within(0.1, 10.0, "m/s")] = 1.0,
    restitution: Annotated[float, Within(0.1, 1.0)] = 1.0,
    young_modulus: Annotated[float, Within(1e4, 1e10, "Pa")] = 1e5,
) -> Scenario:
    """Compliant cradle: n elastic balls in a row, `gap` m apart, the first thrown at the others"""
    pitch, law = 2.0 * RADIUS + gap, rubber(young_modulus, restitution)
    balls = [
        rubber_ball(f"ball {i + 1}", position=(pitch * i, 0.0, 0.0), velocity=(0.0 if i else speed, 0.0, 0.0))
        for i in range(n)
    ]
    scene = soft_scene("Compliant cradle", DURATION, law, *balls, gravity=(0.0, 0.0, 0.0))
    check_depth("compliant-cradle", scene, speed)

    return laws.make_scenario(
        scene,
        probes="a wave through elastic contacts, momentum and energy of a closed system",
        regime="impact",
        kind="converged",
        source="Hertz's force between balls, damping of Hunt & Crossley 1975; DOP853 at two tolerances",
        error=ERROR,
        pose=exact_pose(scene),
        invariants=laws.conserved_by_impacts(restitution) | {"elastic-depth"},
        headline="truth_error_position",
        laws=laws.contact_laws(scene, share=laws.MOVING_SHARE) | {"momentum_drift": laws.MOMENTUM_SHARE * MASS * speed},
        meaningless=laws.not_of_impacts(restitution),
    )


def rolling_balls(
    *,
    speed: Annotated[float, Within(0.1, 5.0, "m/s")] = 1.0,
    offset: Annotated[float, Within(0.0, 0.15, "m")] = 0.04,
    restitution: Annotated[float, Within(0.1, 1.0)] = 0.7,
    friction: Annotated[float, Within(0.0, 1.0)] = 0.2,
    rolling_resistance: Annotated[float, Within(0.0, 0.1)] = 0.0,
    young_modulus: Annotated[float, Within(1e4, 1e8, "Pa")] = 1e5,
) -> Scenario:
    """Rolling balls: one thrown along a soft floor at another, `offset` m off its middle; both roll on"""
    law = rubber(young_modulus, restitution, friction, rolling_resistance, v_small=0.05)
    law = law.model_copy(update={"most_damping": ROLLING_MOST_DAMPING})
    still = rubber_ball("struck")
    height = RADIUS - power(MASS * G / stiffness(law, still, FLOOR), 2.0 / 3.0)
    start = (-2.0 * RADIUS - ROLLING_RUN_UP, offset, height)
    thrown = rubber_ball("thrown", position=start, velocity=(speed, 0.0, 0.0))
    target = still.model_copy(update={"position": (0.0, 0.0, height)})
    scene = soft_scene("Rolling balls", DURATION, law, thrown, target, boundaries=(FLOOR,))
    check_depth("rolling-balls", scene, speed)

    return laws.make_scenario(
        scene,
        probes="friction and rolling of elastic bodies, at the floor and between them",
        regime="rolling",
        kind="converged",
        source="Hertz, Hunt & Crossley 1975, regularised friction; DOP853; its four energies add up",
        error=ERROR,
        pose=exact_pose(scene),
        invariants=frozenset({"energy-not-gained", "elastic-depth"}),
        headline="truth_error_position",
        meaningless=laws.OF_REST | {"energy_drift"},
    )


BOUNCE = Family("compliant-bounce", compliant_bounce, (), subject="the ball")
REST = Family("compliant-rest", compliant_rest, (), subject="the ball")
CRADLE = Family("compliant-cradle", compliant_cradle, (), subject="the row of {n} balls")
ROLLING = Family("rolling-balls", rolling_balls, (), subject="the pair of balls")
