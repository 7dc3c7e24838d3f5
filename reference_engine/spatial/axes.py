"""Worlds with rims in axes in which a plane is level.

Where a rim is all but flat on a plane, its lowest point is known to the round-off of its tilt over the tilt. In axes
one of which is the plane's normal, that tilt is two small numbers of the quaternion, whose round-off is as small.
"""

from dataclasses import replace

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.geometry.spatial_shapes import Cylinder, HalfSpace
from reference_engine.rotation import matrices, product
from reference_engine.spatial.motion import SpatialMotion
from reference_engine.spatial.world import Compound, SpatialBody, SpatialWorld


def levelled(world: SpatialWorld) -> tuple[SpatialWorld, Array] | None:
    """The world in axes in which its first plane is level, and the quaternion that turns it so; none where it has no
    rims or no planes, or the first one is along an axis."""
    planes = [i for i, body in enumerate(world.bodies) if isinstance(body.shape, HalfSpace)]
    if not planes or not any(_has_rim(body) for body in world.bodies):
        return None
    first = planes[0]
    normal = _plane_of(world.bodies[first])[1]
    if np.count_nonzero(normal) == 1:
        return None
    sign = 1.0 if normal[2] >= 0.0 else -1.0
    q = np.array([1.0 + abs(normal[2]), sign * normal[1], -sign * normal[0], 0.0])
    q /= norm(q)
    R = matrices(q)
    bodies = tuple(_turned(body, q, R) for body in world.bodies)
    level = HalfSpace(_plane_of(bodies[first])[0], (0.0, 0.0, sign))  # exactly
    bodies = (*bodies[:first], replace(bodies[first], shape=level), *bodies[first + 1 :])
    joints = tuple(
        replace(joint, other_anchor=mul(R, joint.other_anchor)) if joint.other is None else joint
        for joint in world.joints
    )
    return replace(world, bodies=bodies, joints=joints, gravity=mul(R, world.gravity)), q


def turned_back(motion: SpatialMotion, q: Array) -> SpatialMotion:
    """A motion of that world in the axes of the one before."""
    back = q * (1.0, -1.0, -1.0, -1.0)
    R = matrices(back)

    def turned(vectors: Array) -> Array:
        return np.asarray(np.einsum("ij,...j->...i", R, vectors))

    contacts = motion.contacts
    events = [
        replace(one, point=turned(one.point), normal=turned(one.normal), impulse=turned(one.impulse))
        for one in motion.events
    ]
    left_open = [
        replace(
            one, force=turned(one.force), acceleration=turned(one.acceleration.reshape(2, -1, 2, 3)).reshape(2, -1, 6)
        )
        for one in motion.left_open
    ]
    return replace(
        motion,
        position=turned(motion.position), orientation=product(back, motion.orientation),
        velocity=turned(motion.velocity), spin=turned(motion.spin), events=tuple(events), left_open=tuple(left_open),
        contacts=replace(
            contacts, point=turned(contacts.point), normal=turned(contacts.normal), force=turned(contacts.force)
        ),
    )  # fmt: skip


def _plane_of(body: SpatialBody) -> tuple[Array, Array]:
    """A point and the unit normal of a half-space, in world axes."""
    shape = body.shape
    assert isinstance(shape, HalfSpace)
    R, n = matrices(np.array(body.orientation, np.float64)), np.array(shape.normal, np.float64)
    return np.asarray(body.position + mul(R, np.array(shape.point, np.float64))), mul(R, n / norm(n))


def _turned(body: SpatialBody, q: Array, R: Array) -> SpatialBody:
    given = body.motion
    if isinstance(body.shape, HalfSpace):
        point, normal = _plane_of(body)
        still = HalfSpace(mul(R, point), mul(R, normal))
        return replace(body, shape=still, position=(0.0, 0.0, 0.0), orientation=(1.0, 0.0, 0.0, 0.0))
    if given is not None:
        knots = tuple((time, *mul(R, np.array(slope)).tolist()) for time, *slope in given.knots)
        given = replace(given, acceleration=mul(R, given.acceleration), amplitude=mul(R, given.amplitude), knots=knots)
    return replace(
        body, motion=given, position=mul(R, body.position), velocity=mul(R, body.velocity), spin=mul(R, body.spin),
        orientation=product(q, np.array(body.orientation, np.float64)),
    )  # fmt: skip


def _has_rim(body: SpatialBody) -> bool:
    pieces = [piece.shape for piece in body.shape.pieces] if isinstance(body.shape, Compound) else [body.shape]
    return any(isinstance(shape, Cylinder) for shape in pieces)
