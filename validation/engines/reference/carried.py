"""Scenes whose only fixed body has a steady given motion: V t + a t^2 / 2, without turning.

In axes that go with it the body is fixed and gravity is g - a (Landau & Lifshitz, Mechanics, section 39); the motion in
the axes of the world follows by adding what the axes have done.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from scenarios.forces import has_applied_forces
from scenarios.given_motion import given_bodies, motion_of
from scenarios.scene import Scene, parse_scene
from validation.records.trajectory import Trajectory

__all__ = ["fault", "seen_from_the_world", "with_its_body_fixed"]


def fault(scene: Scene) -> str | None:
    """Why such a scene is none of these; None where it is."""
    if has_applied_forces(scene):
        return "the reference engine has given motion without springs, thrusters and damping"
    steady = all(motion_of(scene.bodies[i]).is_steady for i in given_bodies(scene))
    others = [body for body in scene.bodies if body.fixed]
    to_world = any(joint.b is None for joint in scene.joints)
    if not steady or len(others) > 1 or scene.boundaries or to_world:
        return "the reference engine has given motion where it is steady, does not turn, and nothing else is fixed"
    return None


def with_its_body_fixed(scene: Scene) -> Scene:
    """In its axes."""
    motion = motion_of(scene.bodies[given_bodies(scene)[0]])
    data = scene.model_dump(mode="json")
    data["gravity"] = (np.array(scene.gravity) - np.array(motion.acceleration)).tolist()
    for body in data["bodies"]:
        body.pop("motion", None)
        if not body["fixed"]:
            body["velocity"] = (np.array(body["velocity"]) - np.array(motion.velocity)).tolist()
    return parse_scene(data)


def seen_from_the_world(motion: Trajectory, scene: Scene) -> Trajectory:
    given = motion_of(scene.bodies[given_bodies(scene)[0]])
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
