"""How near the bodies and boundaries are, by our own geometry, and how fast near points approach.

Indices are those of the scene's bodies, then its boundaries. Planar pairs have up to two points, each with its gap, so
that a block on one corner shows its other corner too; spatial pairs have the nearest one. Of a compound each piece has
its own: the gap of two compounds is the least over pairs of pieces, and a pair of pieces whose bounding spheres are far
apart costs nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.pieces import Pieces
from scenarios.scene import colliding_pairs
from validation.metrics.axes import moment
from validation.metrics.observation import (
    NEAR,
    Array,
    Observation,
    bounding_radius,
    free,
    of_scenario,
    point_speed,
    shared,
    size,
)
from validation.records.trajectory import PlanarTrajectory

if TYPE_CHECKING:
    from reference_engine.geometry.proximities import Proximities

STEPS_AHEAD = 3  # an approaching pair is seen so many steps before it meets
FURTHEST = 10.0  # diameters of the largest body: further ahead nothing is looked for, however fast


@shared
def near_distance(o: Observation) -> float:
    """m: pairs with a smaller gap are near."""
    return NEAR * size(o) + o.trajectory.contact_tolerance


@of_scenario
def pairs(o: Observation) -> list[tuple[int, int]]:
    """Of bodies and boundaries that may touch, a < b."""
    index = {member.name: i for i, member in enumerate((*o.scene.bodies, *o.scene.boundaries))}
    return [(index[a], index[b]) for a, b in colliding_pairs(o.scene)]


@shared
def proximities(o: Observation) -> Proximities:
    """Every pair that may touch and is near, or nears so fast that it meets within three steps, at every sample."""
    fastest = np.sort(point_speed(o).max(axis=0))[-2:].sum()
    radii = bounding_radius(o)[free(o)]
    apart = o.interval[o.interval > 0.0].min(initial=np.inf)
    step = max(o.trajectory.dt, float(apart)) if np.isfinite(apart) else o.trajectory.dt
    lookahead = min(STEPS_AHEAD * step * float(fastest), FURTHEST * 2.0 * float(radii.max()))
    return proximities_within(o, max(near_distance(o), lookahead))


def proximities_within(o: Observation, cutoff: float) -> Proximities:
    """Of every pair that may touch and is nearer than this, m, at every sample."""
    # Reports look up what metrics are; only who measures needs kernels.
    from reference_engine.geometry.planar_proximity import planar_proximities
    from reference_engine.geometry.spatial_proximity import spatial_proximities

    pieces = pieces_of(o)
    if isinstance(o.trajectory, PlanarTrajectory):
        pose = pieces.planar_poses(_with_boundaries(o, o.trajectory.pose, (0.0,)))
        return pieces.as_members(planar_proximities(pieces.shapes, pose, cutoff, pieces.ignore))
    position = _with_boundaries(o, o.trajectory.position, ())
    orientation = np.empty((*position.shape[:2], 4))
    orientation[:, : len(o.scene.bodies)] = o.trajectory.orientation
    orientation[:, len(o.scene.bodies) :] = (1.0, 0.0, 0.0, 0.0)
    poses = pieces.spatial_poses(position, orientation)
    return pieces.as_members(spatial_proximities(pieces.shapes, *poses, cutoff, pieces.ignore))


@of_scenario
def pieces_of(o: Observation) -> Pieces:
    """Bodies and boundaries as the geometry has them, and which cannot touch."""
    members = (*o.scene.bodies, *o.scene.boundaries)
    static = [*(~free(o)).tolist(), *(True for _ in o.scene.boundaries)]
    native = getattr(o.scene, "native", None)
    meets = None if native is None else native.colliding(static)
    return Pieces.of(members, static, pairs(o), planar_ones=o.is_planar, meets=meets)


def _with_boundaries(o: Observation, pose: Array, rest: tuple[float, ...]) -> Array:
    """Poses of the boundaries after those of the bodies: their centre; half-planes hold their point themselves."""
    still = [(*getattr(b, "center", (0.0,) * len(o.scene.gravity)), *rest) for b in o.scene.boundaries]
    if not still:
        return pose
    everywhere = np.broadcast_to(np.array(still), (len(pose), len(still), pose.shape[2]))
    return np.concatenate([pose, everywhere], axis=1)


# --- how fast they approach ----------------------------------------------------------------------------------------


class Rates(NamedTuple):
    """(K,) m/s each, for the rows of `proximities`: normal velocity of b against a, negative in approach.

    All three at the same two material points, normal and lever arms, those of the row's sample: so in free flight they
    differ by gravity alone, and an impulse changes them as it changes the gap. NaN beyond the ends of the record.
    """

    before: Array  # with the velocities of the sample before
    now: Array
    after: Array  # with those of the sample after


@shared
def rates(o: Observation) -> Rates:
    """Of every row of `proximities`, with the velocities as recorded."""
    from validation.metrics.gap_rates import gap_rates

    near = proximities(o)
    rate = np.empty((len(near), 3))
    # Arrays that may not be written to, as of a stored motion, would be another signature, compiled anew.
    velocity = np.require(o.trajectory.velocity, requirements=["C", "W"])
    spin = np.require(o.trajectory.spin.reshape(*velocity.shape[:2], -1), requirements=["C", "W"])
    moments = (normal_moment(o, near.a, near.point_a), normal_moment(o, near.b, near.point_b))
    gap_rates(near.sample, near.a, near.b, near.normal, *moments, velocity, spin, rate)
    return Rates(rate[:, 0], rate[:, 1], rate[:, 2])


def normal_moment(o: Observation, body: NDArray[np.int64], point: Array) -> Array:
    """(K, 1 or 3) m: (point - centre of mass) x normal; of a boundary, which never turns, any."""
    near, bodies = proximities(o), len(o.scene.bodies)
    arm = point - o.trajectory.position[near.sample, np.minimum(body, bodies - 1)]
    return moment(arm, near.normal)
