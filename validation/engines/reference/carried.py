"""Scenes whose only fixed body has a given motion. In axes that go with it the body is fixed.

There gravity is g - a, where the body has an acceleration a, and where it turns at W about its origin c(t), centrifugal
and Coriolis forces act as well (Landau & Lifshitz, Mechanics, section 39):

    r'' = R^T (g - a) + W^2 (r - c) - 2 W x r'

The motion in the axes of the world follows from what the axes have done. Where a is the same at all times it is part of
gravity. Else it is a force on each body that turns by a plan: gravity against the axes, a swing as two to either side,
knots as one that jumps.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.elementary import squared
from reference_engine.planar_model.forces import ForceFunction, Thruster
from scenarios.forces import has_applied_forces
from scenarios.given_motion import PlanarGivenMotion, given_bodies, motion_of
from scenarios.scene import Scene, parse_scene
from validation.records.trajectory import Trajectory

__all__ = ["fault", "forces_of", "is_steady", "seen_from_the_world", "with_its_body_fixed"]


def is_steady(scene: Scene) -> bool:
    """Whether gravity alone acts in its axes."""
    return motion_of(_given(scene)).is_steady


def _given(scene: Scene) -> Any:
    return scene.bodies[given_bodies(scene)[0]]


def fault(scene: Scene) -> str | None:
    """Why such a scene is none of these; None where it is."""
    if has_applied_forces(scene):
        return "the reference engine has given motion without springs, thrusters and damping"
    others = [body for body in scene.bodies if body.fixed]
    to_world = any(joint.b is None for joint in scene.joints)
    if len(others) > 1 or scene.boundaries or to_world:
        return "the reference engine has given motion where nothing else is fixed"
    return None


def with_its_body_fixed(scene: Scene) -> Scene:
    """In its axes, which are those of the world at the start."""
    body = _given(scene)
    motion, center = motion_of(body), np.array(body.position)
    turns = bool(np.any(motion.spin))
    data = scene.model_dump(mode="json")
    still = np.zeros(len(center)) if turns else np.array(scene.gravity) - np.array(motion.acceleration)
    data["gravity"] = still.tolist()
    start = motion.rate(0.0)
    for body in data["bodies"]:
        body.pop("motion", None)
        if not body["fixed"]:
            velocity = np.array(body["velocity"]) - start
            if turns:
                velocity = velocity - motion.spin * _quarter_turned(np.array(body["position"]) - center)
                body["spin"] -= motion.spin
            body["velocity"] = velocity.tolist()
    return parse_scene(data)


# --- forces in these axes -----------------------------------------------------------------------------------------


def forces_of(scene: Scene) -> list[Thruster | ForceFunction]:
    """Beside the gravity of `with_its_body_fixed`, on the free bodies; of a planar scene."""
    given = _given(scene)
    motion = motion_of(given)
    assert isinstance(motion, PlanarGivenMotion)
    free = [(i, float(body.mass or 0.0)) for i, body in enumerate(scene.bodies) if not body.fixed]
    own: list[Thruster | ForceFunction] = []
    for i, mass in free:
        own += [*_of_swing(motion, i, mass), *_of_knots(motion, i, mass)]
    if not motion.spin:
        return own
    steady = np.array(scene.gravity) - np.array(motion.acceleration)
    if steady.any():
        own += [_turning(i, mass * steady, -motion.spin) for i, mass in free]
    return [*own, _by_turning(scene, motion, np.array(given.position), free)]


def _turning(
    body: int, force: Array, rate: float, profile: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
) -> Thruster:
    """In the axes that the scene is simulated in; as stated at time 0."""
    along = (float(force[0]), float(force[1]))
    return Thruster(body=body, point=(0.0, 0.0), force=along, profile=profile, turn_rate=rate, turns=False)


def _of_swing(motion: PlanarGivenMotion, body: int, mass: float) -> Iterator[Thruster]:
    """m w^2 A sin(w t + phi): half of it turns ahead from A sin(phi) - A' cos(phi), half back from A sin(phi) + A'
    cos(phi), where A' is A turned by a quarter; both turn against the axes."""
    if motion.frequency == 0.0:
        return
    sine, cosine = (float(part) for part in elementary.sine_cosine(float(motion.phase)))
    half = 0.5 * mass * squared(motion.frequency) * np.array(motion.amplitude)
    across = _quarter_turned(half)
    for way, first in ((1.0, half * sine - across * cosine), (-1.0, half * sine + across * cosine)):
        yield _turning(body, first, way * motion.frequency - motion.spin)


def _of_knots(motion: PlanarGivenMotion, body: int, mass: float) -> Iterator[Thruster]:
    """-m times the slope between two knots, along x and along y; they turn against the axes."""
    if not motion.knots:
        return
    times = [knot[0] for knot in motion.knots]
    slopes = PlanarGivenMotion(knots=motion.knots).acceleration_at(np.array(times))
    for axis in range(2):
        profile, before = list[tuple[float, float]](), 0.0
        for time, slope in zip(times, slopes[:, axis].tolist()):
            profile += [(time, before), (time, slope)]
            before = slope
        if any(factor for _, factor in profile):
            yield _turning(body, -mass * np.eye(2)[axis], -motion.spin, tuple(profile))


def _by_turning(scene: Scene, motion: PlanarGivenMotion, center: Array, free: list[tuple[int, float]]) -> ForceFunction:
    """Centrifugal and Coriolis forces."""
    rate, count = motion.spin, len(scene.bodies)
    moving = [i for i, _ in free]
    mass = np.array([kilograms for _, kilograms in free])[:, None]

    def force(time: float, pose: Array, twist: Array) -> Array:
        found = np.zeros((count, 3))
        off, velocity = pose[moving, :2] - center, twist[moving, :2]
        found[moving, :2] = mass * (squared(rate) * off - 2.0 * rate * _quarter_turned(velocity))
        return found

    return force


def _quarter_turned(v: Array) -> Array:
    """(..., 2), counter-clockwise."""
    found: Array = np.stack([-v[..., 1], v[..., 0]], axis=-1)
    return found


def _turned(v: Array, angle: Any) -> Array:
    """(..., 2) by angles (...)."""
    sine, cosine = (np.asarray(part)[..., None] for part in elementary.sine_cosine(angle))
    found: Array = cosine * v + sine * _quarter_turned(v)
    return found


# --- back to the axes of the world --------------------------------------------------------------------------------


def seen_from_the_world(motion: Trajectory, scene: Scene) -> Trajectory:
    given = motion_of(_given(scene))
    if isinstance(given, PlanarGivenMotion) and given.spin:
        return _turned_back(motion, scene, given)
    moved, rate = given.travel(motion.time)[:, None], given.rate(motion.time)[:, None]
    width = len(scene.gravity)
    state: dict[str, Any] = {name: getattr(motion, name).copy() for name in motion.STATE}
    position, velocity = ("pose", "twist") if width == 2 else ("position", "velocity")
    state[position][..., :width] += moved
    state[velocity][..., :width] += rate
    contacts, impacts = motion.contacts, motion.impacts
    if contacts is not None:
        contacts = replace(contacts, point=contacts.point + given.travel(motion.time[contacts.sample]))
    if impacts is not None:
        impacts = replace(impacts, point=impacts.point + given.travel(impacts.time))
    return replace(motion, **state, contacts=contacts, impacts=impacts, state_hash="")


def _turned_back(motion: Any, scene: Scene, given: PlanarGivenMotion) -> Trajectory:
    """x = c(t) + R (r - c(0)), v = c' + R (r' + W x (r - c(0)))"""
    center = np.array(_given(scene).position)
    angle = given.spin * motion.time

    def point(of_axes: Array, time: Array) -> Array:
        return center + given.travel(time) + _turned(of_axes - center, given.spin * time)

    pose, twist = motion.pose.copy(), motion.twist.copy()
    off = motion.pose[..., :2] - center
    with_axes = motion.twist[..., :2] + given.spin * _quarter_turned(off)
    pose[..., :2] = center + given.travel(motion.time)[:, None] + _turned(off, angle[:, None])
    pose[..., 2] += angle[:, None]
    twist[..., :2] = given.rate(motion.time)[:, None] + _turned(with_axes, angle[:, None])
    twist[..., 2] += given.spin
    contacts, impacts = motion.contacts, motion.impacts
    if contacts is not None:
        time = motion.time[contacts.sample]
        normal, impulse = (_turned(part, given.spin * time) for part in (contacts.normal, contacts.impulse))
        contacts = replace(contacts, point=point(contacts.point, time), normal=normal, impulse=impulse)
    if impacts is not None:
        impulse = _turned(impacts.impulse, given.spin * impacts.time)
        impacts = replace(impacts, point=point(impacts.point, impacts.time), impulse=impulse)
    return replace(motion, pose=pose, twist=twist, contacts=contacts, impacts=impacts, state_hash="")
