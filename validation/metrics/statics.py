"""Whether contact and joint forces can hold bodies at rest as they lie at the end.

They can if some forces in the friction cones, and any forces of the joints, add up to nothing with the weights on every
body, and so do their moments: a problem of non-negative least squares over the edges of the cones (Lawson & Hanson
1974, ch. 23). In the plane the two edges are the cone; in space EDGES of them stand for it. A spatial pair shows one
point of what may be a face, so that a body in contact takes any moment there.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.dense import norm
from scenarios import mass
from validation.metrics.axes import moment
from validation.metrics.joint_gap import anchor
from validation.metrics.observation import Array, Flags, Observation, bounding_radius, free, free_mass, shared
from validation.metrics.proximity import proximities

BALANCED = 0.1  # of a body's weight: what is left over beyond it, nothing holds
MOST = 50  # bodies: the time grows with the cube
EDGES = 8
NEAR, SKIN = 0.03, 0.025
"""Of the least width, and m: engines that are made for metres hold bodies apart by a skin, Box2D by 2 cm."""


@shared
def width(o: Observation) -> Array:
    """(B + boundaries,) m: of the thinnest side of each body; boundaries have no end."""
    return np.array([*(mass.width(body.shape) for body in o.scene.bodies), *(np.inf for _ in o.scene.boundaries)])


@shared
def supporting(o: Observation) -> Flags:
    """(K,) rows of `proximities` that may hold a body: engines with a skin hold it at a gap."""
    bodies = width(o)[: len(o.scene.bodies)]
    return proximities(o).gap < max(SKIN, NEAR * float(bodies[free(o)].min()))


def unbalanced(o: Observation) -> list[int]:
    """Bodies whose weight nothing can hold at the last sample; [] where all may rest, where bodies are too many, and
    where the method does not settle.

    Asked of scenes whose only other forces are of contacts and joints.
    """
    bodies = np.flatnonzero(free(o))
    if len(bodies) > MOST or o.scene.springs or o.scene.thrusters:
        return []
    D = len(o.gravity)
    rows = D + (1 if D == 2 else 3)  # of a body: force, moment
    first_row = {int(body): k * rows for k, body in enumerate(bodies)}
    weight = free_mass(o)[bodies] * float(norm(o.gravity))
    columns = [*_contacts(o, first_row, rows), *_joints(o, first_row, rows)]
    scale = np.repeat(weight, rows)
    for k, body in enumerate(bodies):
        scale[k * rows + D : (k + 1) * rows] *= bounding_radius(o)[body]
    wanted = np.zeros(len(bodies) * rows)
    for k, body in enumerate(bodies):
        wanted[k * rows : k * rows + D] = -free_mass(o)[body] * o.gravity
    if not columns:
        return bodies.tolist()
    from scipy.optimize import nnls  # slow to import, and only wanted here

    system, wanted = np.column_stack(columns) / scale[:, None], wanted / scale
    try:
        force, _ = nnls(system, wanted)
    except RuntimeError:  # it found no end: nothing is known
        return []
    left = np.abs(wanted - (system * force).sum(axis=1)).reshape(len(bodies), rows).max(axis=1)
    return bodies[left > BALANCED].tolist()


def _contacts(o: Observation, first_row: dict[int, int], rows: int) -> Iterator[Array]:
    near, members, D = proximities(o), [*o.scene.bodies, *o.scene.boundaries], len(o.gravity)
    for row in np.flatnonzero(supporting(o) & (near.sample == len(o.time) - 1)).tolist():
        a, b = int(near.a[row]), int(near.b[row])
        mu, _ = o.scene.pair_law(members[a], members[b])
        for edge in _cone(near.normal[row], mu):
            column = np.zeros(len(first_row) * rows)
            for body, point, sign in ((a, near.point_a[row], -1.0), (b, near.point_b[row], 1.0)):
                if body in first_row:
                    column[first_row[body] : first_row[body] + rows] = _wrench(o, body, point, sign * edge)
            yield column
        if D == 3:
            for body in (a, b):
                yield from _any_moment(body, first_row, rows)


def _cone(normal: Array, mu: float) -> Iterator[Array]:
    """The edges of the friction cone about a normal."""
    if len(normal) == 2:
        across = np.array([-normal[1], normal[0]])
        yield from (normal + mu * across, normal - mu * across)
        return
    from reference_engine.rotation import tangents  # reports look up what metrics are, without kernels

    first, second = tangents(normal)
    for k in range(EDGES):
        turn = 2.0 * np.pi * k / EDGES
        yield normal + mu * (elementary.cos(turn) * first + elementary.sin(turn) * second)


def _joints(o: Observation, first_row: dict[int, int], rows: int) -> Iterator[Array]:
    """What a joint can pass on, in either sense: more than it can where it is a slider or a rod."""
    names = [body.name for body in o.scene.bodies]
    D = len(o.gravity)
    for joint in o.scene.joints:
        ends = [(name, point) for name, point in ((joint.a, joint.anchor_a), (joint.b, joint.anchor_b)) if name]
        for axis in (*np.eye(D), *-np.eye(D)):
            column = np.zeros(len(first_row) * rows)
            for (name, point), sign in zip(ends, (1.0, -1.0)):
                body = names.index(name)
                if body in first_row:
                    column[first_row[body] : first_row[body] + rows] = _wrench(
                        o, body, anchor(o, name, point)[-1], sign * axis
                    )
            yield column
        if _fixes_angle(joint):
            for name, _ in ends:
                yield from _any_moment(names.index(name), first_row, rows)


def _fixes_angle(joint: Any) -> bool:
    return joint.kind in ("prismatic", "slider", "hinge")


def _any_moment(body: int, first_row: dict[int, int], rows: int) -> Iterator[Array]:
    if body not in first_row:
        return
    force = {3: 2, 6: 3}[rows]
    for k in range(force, rows):
        for sign in (1.0, -1.0):
            column = np.zeros(len(first_row) * rows)
            column[first_row[body] + k] = sign
            yield column


def _wrench(o: Observation, body: int, point: Array, force: Array) -> Array:
    arm = point - o.trajectory.position[-1, body]
    return np.concatenate([force, moment(arm, force)])
