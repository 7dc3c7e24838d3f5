"""What acts along hinges and sliders in space: springs, dampers, motors, stops and dry friction, each in closed form.

An arm turns about a vertical hinge at its end, or a block slides along a level line, so that gravity loads the joint
and does no work. With M the moment about the hinge or the mass,

    M q'' = K (rest - q) - C q' + motor(t),   M q'' = F up to a stop at t = sqrt(2 M q / F),   v(t) = v - (F + f) t / M

Piece by piece of a motor's target, which is linear in time, the first is solved by exponentials (Thomson, Theory of
Vibration, ch. 2 and 4).
"""

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import cubed, squared
from scenarios.catalogue.shared.laws import OF_CONTACT, OF_REST, SWING_SHARE, gain_law, joint_scenario, make_scenario
from scenarios.catalogue.shared.poses import Array
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import (
    Box,
    ForceMotor,
    Hinge,
    JointLimits,
    JointSpring,
    PositionMotor,
    Slider,
    SpatialBody,
    SpatialScene,
    VelocityMotor,
)
from scenarios.truth import Goal

Axial = Literal["hinge", "slider"]
MASS, LENGTH, WIDTH = 1.0, 1.0, 0.1  # kg, m
DURATION = 2.0  # s
NATURAL, RATIO, REST = 4.0, 0.1, 0.5  # rad/s, of critical damping, rad or m: of the spring
SERVO, SERVO_RATIO = 6.0, 0.5  # rad/s, of critical damping: of the position motor
POSITION = ((0.0, 0.0), (0.5, 0.8))  # s, rad or m
VELOCITY, GAIN = ((0.0, 0.0), (0.5, 2.0)), 5.0  # s, rad/s or m/s; 1/s
FORCE = ((0.0, 0.0), (1.0, 1.0), (2.0, -1.0))  # s, rad/s^2 or m/s^2
STOP, STEADY = 0.5, 1.0  # rad or m; rad/s^2 or m/s^2
SPEED, BRAKE = 2.0, 2.0  # rad/s or m/s; rad/s^2 or m/s^2


def moment(joint: Axial) -> float:
    """kg m^2 about the hinge, or kg."""
    if joint == "slider":
        return MASS
    return MASS * ((squared(LENGTH) + squared(WIDTH)) / 12.0 + 0.25 * squared(LENGTH))


def scene_of(joint: Axial, title: str, rate: float = 0.0, **along: Any) -> SpatialScene:
    """The arm or the block at coordinate 0; `along`: what acts along its joint."""
    box, arm = Box(size=(LENGTH, WIDTH, WIDTH)), 0.5 * LENGTH
    if joint == "hinge":
        body = SpatialBody(
            name="arm", shape=box, mass=MASS, position=(arm, 0.0, 0.0), velocity=(0.0, arm * rate, 0.0),
            spin=(0.0, 0.0, rate),
        )  # fmt: skip
        made: Any = Hinge(
            name="hinge", a="arm", anchor_a=(-arm, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), **along
        )
    else:
        body = SpatialBody(name="block", shape=box, mass=MASS, velocity=(rate, 0.0, 0.0))
        made = Slider(
            name="slider", a="block", anchor_a=(0.0, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), **along
        )
    return SpatialScene(title=title, duration=DURATION, bodies=(body,), joints=(made,))


def poses(joint: Axial, q: Array) -> Array:
    """(S, 1, 7) of coordinates (S,)."""
    zero = np.zeros_like(q)
    if joint == "slider":
        return np.stack([q, zero, zero, zero + 1.0, zero, zero, zero], axis=-1)[:, None]
    (s, c), (half_s, half_c) = elementary.sine_cosine(q), elementary.sine_cosine(0.5 * q)
    arm = 0.5 * LENGTH
    return np.stack([arm * c, arm * s, zero, half_c, zero, zero, half_s], axis=-1)[:, None]


def exact(joint: Axial, known: Any, **more: Any) -> dict[str, Any]:
    """Of a truth: poses and the goal, for coordinates `known` (S,) of times (S,)."""
    axis = 1 if joint == "hinge" else 0

    def goal() -> float:
        return float(poses(joint, known(np.array([DURATION])))[0, 0, axis])

    name = f"{'y' if joint == 'hinge' else 'x'} of the centre at {DURATION:g} s"
    return {
        "kind": "closed form",
        "pose": lambda time: poses(joint, known(np.asarray(time, np.float64))),
        "goal": Goal(name=name, unit="m", exact=goal, measure=coordinate_at(DURATION, 0, axis)),
        **more,
    }


# --- a linear joint -------------------------------------------------------------------------------------


def linear_motion(
    M: float, C: float, K: float, pieces: Sequence[tuple[float, float, float]], start: tuple[float, float]
) -> Any:
    """q (S,) at times (S,), of M q'' + C q' + K q = f + g (t - t_i) from t_i on, pieces (t_i, f, g) in order of time.

    K = 0, or damped less than critically. `start`: q and q' at the first t_i."""
    begins = [piece[0] for piece in pieces]
    states = [start]
    for (since, f, g), until in zip(pieces, begins[1:]):
        after = np.array([until - since])
        q, v = _piece(M, C, K, f, g, states[-1], after)
        states.append((float(q[0]), float(v[0])))

    def motion(time: Array) -> Array:
        which = np.maximum(np.searchsorted(begins, time, side="right") - 1, 0)
        found = np.zeros_like(time)
        for k, (since, f, g) in enumerate(pieces):
            rows = which == k
            found[rows] = _piece(M, C, K, f, g, states[k], time[rows] - since)[0]
        return found

    return motion


def _piece(
    M: float, C: float, K: float, f: float, g: float, start: tuple[float, float], t: Array
) -> tuple[Array, Array]:
    """q and q' after t (S,), s."""
    q, v = start
    if K > 0.0:
        slope = g / K
        level, decay = (f - C * slope) / K, 0.5 * C / M
        fast = math.sqrt(K / M - squared(decay))
        A = q - level
        B = (v - slope + decay * A) / fast
        (s, c), fade = elementary.sine_cosine(fast * t), np.asarray(elementary.exp(-decay * t))
        swing = fade * (A * c + B * s)
        return level + slope * t + swing, slope - decay * swing + fast * fade * (B * c - A * s)
    if C > 0.0:
        slope, decay = g / C, C / M
        level = (f - M * slope) / C
        fade = np.asarray(elementary.exp(-decay * t))
        speed = level + slope * t + (v - level) * fade
        return q + level * t + 0.5 * slope * squared(t) + (v - level) * (1.0 - fade) / decay, speed
    a, b = f / M, g / M
    return q + v * t + 0.5 * a * squared(t) + b * cubed(t) / 6.0, v + a * t + 0.5 * b * squared(t)


def _pieces(profile: Sequence[tuple[float, float]], scale: float) -> list[tuple[float, float, float]]:
    """Of a target, with which it pushes by `scale` times itself."""
    found = [
        (t, scale * value, scale * (after - value) / (until - t))
        for (t, value), (until, after) in itertools.pairwise(profile)
    ]
    last, value = profile[-1]
    return [*found, (last, scale * value, 0.0)]


def driven_joint(
    *, motor: Literal["none", "position", "velocity", "force"] = "none", joint: Axial = "hinge"
) -> Scenario:
    """Driven joint: an arm on a hinge, or a block on a slider, with a spring and damper, or moved by a motor"""
    M = moment(joint)
    along: dict[str, Any]
    if motor == "none":
        K, C = M * squared(NATURAL), 2.0 * RATIO * NATURAL * M
        along = {"spring": JointSpring(stiffness=K, rest=REST), "damping": C}
        known = linear_motion(M, C, K, [(0.0, K * REST, 0.0)], (0.0, 0.0))
    elif motor == "position":
        K, C = M * squared(SERVO), 2.0 * SERVO_RATIO * SERVO * M
        along = {"motor": PositionMotor(stiffness=K, damping=C, target=POSITION)}
        known = linear_motion(M, C, K, _pieces(POSITION, K), (0.0, 0.0))
    elif motor == "velocity":
        C = GAIN * M
        along = {"motor": VelocityMotor(damping=C, target=VELOCITY)}
        known = linear_motion(M, C, 0.0, _pieces(VELOCITY, C), (0.0, 0.0))
    else:
        along = {"motor": ForceMotor(target=tuple((t, M * a) for t, a in FORCE))}
        known = linear_motion(M, 0.0, 0.0, _pieces(FORCE, M), (0.0, 0.0))
    what = "with a spring and a damper" if motor == "none" else f"moved by its {motor} motor"
    scene = scene_of(joint, f"{joint.capitalize()} {what}", **along)
    return joint_scenario(
        scene,
        arm=0.5 * LENGTH,
        probes="joints in space: springs, dampers and motors along them, and their work",
        **exact(joint, known, source="a linear oscillator under a force that is linear in time, piece by piece"),
    )


# --- what stops a joint -----------------------------------------------------------------------------------


def joint_stop(*, joint: Axial = "hinge") -> Scenario:
    """Joint stop: a steady motor moves an arm or a block against the limit of its joint, where it stays"""
    M = moment(joint)
    met = math.sqrt(2.0 * STOP / STEADY)
    scene = scene_of(
        joint, f"{joint.capitalize()} against its stop", limits=JointLimits(low=-STOP, high=STOP),
        motor=ForceMotor(target=((0.0, M * STEADY),)),
    )  # fmt: skip

    def known(time: Array) -> Array:
        return np.where(time < met, 0.5 * STEADY * squared(time), STOP)

    return _stopped(scene, joint, known, "the limit of a joint: met without restitution, and kept")


def joint_brake(*, joint: Axial = "hinge", load: Annotated[float, Within(0.0, 0.9, "")] = 0.5) -> Scenario:
    """Joint brake: dry friction stops an arm or a block, and keeps it against a motor of `load` times its own force"""
    M = moment(joint)
    slows = BRAKE * (1.0 + load)
    ends = SPEED / slows
    scene = scene_of(
        joint, f"{joint.capitalize()} with dry friction", SPEED, friction=M * BRAKE,
        motor=ForceMotor(target=((0.0, -load * M * BRAKE),)),
    )  # fmt: skip

    def known(time: Array) -> Array:
        t = np.minimum(time, ends)
        return SPEED * t - 0.5 * slows * squared(t)

    return _stopped(scene, joint, known, "dry friction of a joint: slip, and rest below its bound")


def _stopped(scene: SpatialScene, joint: Axial, known: Any, probes: str) -> Scenario:
    return make_scenario(
        scene,
        probes=f"joints in space: {probes}",
        regime="joints",
        invariants=frozenset({"energy-not-gained"}),
        meaningless=OF_CONTACT | {"energy_drift", "momentum_drift", "angular_momentum_drift"} | OF_REST,
        laws=gain_law(scene, SWING_SHARE) | {"joint_gap": 0.025 * LENGTH},
        **exact(joint, known, source="constant acceleration up to the stop"),
    )


DRIVEN = Family(
    "driven-joint",
    driven_joint,
    ({}, *({"motor": motor} for motor in ("position", "velocity", "force")), {"joint": "slider"}),
    subject="the arm",
)
STOPPED = Family("joint-stop", joint_stop, ({}, {"joint": "slider"}), subject="the arm")
BRAKED = Family("joint-brake", joint_brake, ({}, {"joint": "slider"}), subject="the arm")
