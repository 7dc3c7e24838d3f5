"""The coordinates of a model's joints at given poses of the bodies that a scene has of it."""

from typing import Any

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios import frames, mass
from validation.engines.engine import DeclinedError
from validation.engines.pybullet.description import Described
from validation.engines.pybullet.links import Link, w_first
from validation.engines.pybullet.loading import MOVABLE, Loaded, is_fixed
from validation.engines.pybullet.trees import BASE, xyzw

Frame = tuple[Array, Array]  # m, and axes in columns, in the world


def set_coordinates(loaded: Loaded, found: Described, state: tuple[Array, ...]) -> None:
    """`state`: position, orientation, velocity and spin of the scene's bodies. Raises DeclinedError for joints whose
    coordinates do not follow from them."""
    of = {link.address: _at(link, found, state) for link in found.links}
    for link in found.links:
        body, number = link.address
        at, R, velocity, spin = of[link.address]
        if number == BASE:
            if not is_fixed(loaded, body):
                turn = xyzw(np.array(frames.quaternion_of(R)))
                loaded.call(pb.resetBasePositionAndOrientation, body, at.tolist(), turn)
                loaded.call(pb.resetBaseVelocity, body, velocity.tolist(), spin.tolist())
        elif link.joint[2] in MOVABLE:
            value, rate = _coordinate(link, of[body, link.joint[16]], of[link.address])
            loaded.call(pb.resetJointState, body, number, value, rate)
        elif link.joint[2] != pb.JOINT_FIXED:
            raise DeclinedError(f"joint {link.title}: its coordinates are not worked out of poses")


def _at(link: Link, found: Described, state: tuple[Array, ...]) -> tuple[Array, Array, Array, Array]:
    """Centre of mass, axes, velocity and spin of a link, which moves as the body of the scene does that it is of."""
    k = found.body_of.get(link.address)
    R = mass.rotation_matrix(link.turn)
    if k is None:
        if found.still[link.address]:
            return link.at, R, np.zeros(3), np.zeros(3)
        raise DeclinedError(f"link {link.name} has no mass, and where it is does not follow from the poses of others")
    body = found.scene.bodies[k]
    first, now = mass.rotation_matrix(body.orientation), mass.rotation_matrix(state[1][k])
    arm = now @ (first.T @ (link.at - np.array(body.position)))
    return state[0][k] + arm, now @ first.T @ R, state[2][k] + np.cross(state[3][k], arm), state[3][k]


def _coordinate(link: Link, parent: Any, child: Any) -> tuple[float, float]:
    """rad or m, and its rate; an angle within half a turn of 0."""
    joint, dynamics = link.joint, link.dynamics
    zero = parent[0] + parent[1] @ np.array(joint[14]), parent[1] @ mass.rotation_matrix(w_first(joint[15]))
    local = child[1] @ mass.rotation_matrix(w_first(dynamics[4])).T
    origin = child[0] - local @ np.array(dynamics[3])
    axis = local @ np.array(joint[13])
    if joint[2] == pb.JOINT_PRISMATIC:
        at_joint = child[2] + np.cross(child[3], origin - child[0])
        below = parent[2] + np.cross(parent[3], origin - parent[0])
        return float(axis @ (origin - zero[0])), float(axis @ (at_joint - below))
    q = np.array(frames.quaternion_of(zero[1].T @ local))
    return float(2.0 * np.arctan2(q[1:] @ np.array(joint[13]), q[0])), float(axis @ (child[3] - parent[3]))
