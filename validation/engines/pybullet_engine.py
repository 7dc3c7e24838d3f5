"""pybullet: Bullet's multibodies, contacts by projected Gauss-Seidel on impulses."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pybullet as pb
from numpy.typing import NDArray

from scenarios.forces import has_applied_forces, planar_wrenches, spatial_wrenches
from scenarios.scene import Hinge, PlanarScene, Scene, features
from validation.engines.embedding import start_in_space
from validation.engines.engine import Setting, Settings, Value
from validation.engines.joint_tree import joint_forest, start_fault
from validation.engines.pair_laws import PairLaws
from validation.engines.pybullet_world import BASE, World
from validation.engines.recorder import Recorder
from validation.trajectory import Trajectory

Array = NDArray[np.float64]

DECLINES = {
    "ellipsoid": "Bullet has no ellipsoid; a mesh would be another scene",
    "arc-polygon": "Bullet has no shape with arc edges; a polygon would be another scene",
    "concave-polygon": "a moving Bullet mesh is its convex hull",
    "rod": "Bullet has no joint that keeps a distance",
    "rope": "Bullet has no joint that limits a distance",
}
MOST_FRICTION = 10.0  # of a pair: Bullet cuts off there

SETTINGS: Mapping[str, Setting] = {
    "iterations": Setting(default=50, low=1, high=10_000, doc="sweeps of the solver"),
    "residual_threshold": Setting(default=1e-7, low=0.0, high=1.0, doc="the sweeps end at this squared residual"),
    "contact_breaking_threshold": Setting(
        default=0.02, low=1e-9, high=1.0, doc="contacts are made and kept up to this gap, m"
    ),
    "contact_erp": Setting(default=0.08, low=0.0, high=1.0, doc="share of a penetration that a step takes back"),
    "contact_slop": Setting(default=1e-5, low=0.0, high=1.0, doc="penetration that is left alone, m"),
    "restitution_velocity_threshold": Setting(
        default=0.2, low=0.0, high=1e3, doc="slower impacts have no restitution, m/s"
    ),
    "cone_friction": Setting(default=True, doc="friction cone; false: a pyramid"),
    "global_cfm": Setting(default=0.0, low=0.0, high=1.0, doc="softness of all constraints"),
    "linear_damping": Setting(default=0.04, low=0.0, high=1.0, doc="share of the velocity lost in a second"),
    "angular_damping": Setting(default=0.04, low=0.0, high=1.0, doc="share of the spin lost in a second"),
    "max_speed": Setting(default=100.0, low=1e-3, high=1e12, doc="faster motion is cut off, m/s and rad/s"),
    "deterministic_overlapping_pairs": Setting(default=False, doc="sort the pairs of the broad phase"),
}
FAIR: Mapping[str, Value] = {
    "iterations": 200,
    "residual_threshold": 0.0,
    "restitution_velocity_threshold": 0.0,
    "linear_damping": 0.0,
    "angular_damping": 0.0,
    "max_speed": 1e12,
}
FAIR_IMPACT: Mapping[str, Value] = {"contact_breaking_threshold": 1e-4, "contact_erp": 0.0}


class PyBullet:
    name = "pybullet"
    version = importlib.metadata.version("pybullet")
    settings = SETTINGS
    profiles = ("default", "fair")

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name != "fair":
            return {}
        return {**FAIR, **(FAIR_IMPACT if "restitution" in features(scene) else {})}

    def declines(self, scene: Scene) -> str | None:
        found = features(scene)
        if reason := next((why for feature, why in DECLINES.items() if feature in found), None):
            return reason
        laws = PairLaws(scene)
        friction, restitution = laws.shape_values("friction", "product"), laws.shape_values("restitution", "product")
        for quantity, values in (("friction", friction), ("restitution", restitution)):
            if values is None:
                return f"Bullet multiplies the {quantity} of two bodies; no values give every pair of this scene its own"
        if (most := math.prod(sorted(friction or [])[-2:])) > MOST_FRICTION:
            return f"Bullet cuts the friction of a pair off at {MOST_FRICTION:g}; this scene has {most:g}"
        if reason := start_fault(scene):
            return reason
        _, loops = joint_forest(scene)
        if hinge := next((joint for joint in loops if isinstance(joint, Hinge)), None):
            return f"joint {hinge.name!r} closes a loop, and Bullet has no hinge that does between multibodies"
        return None

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        world = World(scene, dt, settings)
        try:
            return _record(world, scene, dt)
        finally:
            world.close()


def _record(world: World, scene: Scene, dt: float) -> Trajectory:
    client, planar = world.client, isinstance(scene, PlanarScene)
    recorder = Recorder(scene, dt, velocity_lag=-dt / 2)
    read = _reader(world, scene)
    pushed = has_applied_forces(scene)
    state, raw = read()
    recorder.read(*state, raw=raw)
    for step in recorder.steps():
        if pushed:
            _push(world, scene, (step - 1) * dt, state)
        pb.stepSimulation(physicsClientId=client)
        state, raw = read()
        recorder.read(*state, raw=raw)
        if recorder.wants_contacts:
            for contact in _contacts(world, dt, planar=planar):
                recorder.add_contact(*contact)
    return recorder.trajectory()


def _push(world: World, scene: Scene, time: float, state: tuple[Array, ...]) -> None:
    """Springs, thrusters and damping of the scene, for the next step; pybullet forgets them after it."""
    if isinstance(scene, PlanarScene):
        wrench = planar_wrenches(scene, time, *state)
        across = np.zeros((len(wrench), 2))
        force, torque = np.column_stack([wrench[:, :2], across[:, :1]]), np.column_stack([across, wrench[:, 2]])
        position = np.column_stack([state[0][:, :2], across[:, :1]])
    else:
        force, torque = spatial_wrenches(scene, time, *state)
        position = state[0]
    for i, (number, link) in enumerate(world.addresses):
        if force[i].any():
            pb.applyExternalForce(
                number,
                link,
                force[i].tolist(),
                position[i].tolist(),
                pb.WORLD_FRAME,
                physicsClientId=world.client,
            )
        if torque[i].any():
            pb.applyExternalTorque(number, link, torque[i].tolist(), pb.WORLD_FRAME, physicsClientId=world.client)


def _contacts(world: World, dt: float, *, planar: bool) -> Iterator[tuple[int, int, Array, Array, float, Array]]:
    """(a, b, point, normal, gap, impulse on b) of the contacts of the last step, at the poses it started from.

    pybullet gives the normal from b to a, and forces on a.
    """
    width = 2 if planar else 3
    for row in pb.getContactPoints(physicsClientId=world.client):
        _, a, b, link_a, link_b, on_a, on_b, normal, gap, pressing, rubbing, along, rubbing_2, along_2 = row
        force = pressing * np.array(normal) + rubbing * np.array(along) + rubbing_2 * np.array(along_2)
        point = (np.array(on_a) + np.array(on_b)) / 2
        yield (
            world.member[a, link_a],
            world.member[b, link_b],
            point[:width],
            -np.array(normal)[:width],
            gap,
            -force[:width] * dt,
        )


def _reader(world: World, scene: Scene) -> Any:
    """A function that returns the state, in arrays it writes anew, and the raw numbers that pybullet gave."""
    client = world.client
    position, orientation, velocity, spin = start_in_space(scene)
    free = [(i, *address) for i, address in enumerate(world.addresses) if not scene.bodies[i].fixed]
    trees: dict[int, list[tuple[int, int]]] = {}  # multibody -> (body, link), of those that are links
    for i, number, k in free:
        if k != BASE:
            trees.setdefault(number, []).append((i, k))

    def read_links(number: int, links: list[tuple[int, int]]) -> Iterator[tuple[int, Any]]:
        states = pb.getLinkStates(number, [k for _, k in links], 1, 1, physicsClientId=client)
        return zip((i for i, _ in links), states)

    if isinstance(scene, PlanarScene):
        pose = np.array([(*body.position, body.angle) for body in scene.bodies])
        twist = np.zeros_like(pose)
        alone = [(i, number) for i, number, k in free if len(trees[number]) == 1 and k == 2]
        hung = {number: links for number, links in trees.items() if len(links) > 1 or links[0][1] != 2}
        joints = {number: range(pb.getNumJoints(number, physicsClientId=client)) for number in hung}

        def read_planar() -> tuple[tuple[Array, ...], bytes]:
            raw = []
            for i, number in alone:
                x, y, angle = pb.getJointStates(number, (0, 1, 2), physicsClientId=client)
                pose[i], twist[i] = (x[0], y[0], angle[0]), (x[1], y[1], angle[1])
            for number, links in hung.items():
                coordinates = [row[:2] for row in pb.getJointStates(number, joints[number], physicsClientId=client)]
                raw.append(coordinates)
                for i, state in read_links(number, links):
                    angle = sum(coordinates[k][0] for k in world.hinges[i])
                    pose[i], twist[i] = (*state[0][:2], angle), (*state[6][:2], state[7][2])
            return (pose, twist), b"".join(np.array(part).tobytes() for part in (pose, twist, *raw))

        return read_planar

    bases = [(i, number) for i, number, k in free if k == BASE]

    def read_spatial() -> tuple[tuple[Array, ...], bytes]:
        for i, number in bases:
            place, (x, y, z, w) = pb.getBasePositionAndOrientation(number, physicsClientId=client)
            velocity[i], spin[i] = pb.getBaseVelocity(number, physicsClientId=client)
            position[i], orientation[i] = place, (w, x, y, z)
        for number, links in trees.items():
            for i, state in read_links(number, links):
                x, y, z, w = state[1]
                position[i], orientation[i], velocity[i], spin[i] = state[0], (w, x, y, z), state[6], state[7]
        state = (position, orientation, velocity, spin)
        return state, b"".join(part.tobytes() for part in state)

    return read_spatial
