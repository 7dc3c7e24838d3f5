"""Whether contact and joint forces can hold bodies at rest as they lie at the end.

They can if some forces in the friction cones, and any forces of the joints, add up to nothing with the weights on every
body, and so do their moments: a problem of non-negative least squares over the edges of the cones (Lawson & Hanson
1974, ch. 23). In the plane the two edges are the cone; in space EDGES of them stand for it. A spatial pair shows one
point of what may be a face, so that a body in contact takes any moment there.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.dense import norm
from reference_engine.elementary import squared
from scenarios import mass
from scenarios.forces import acted_on
from validation.metrics.axes import moment
from validation.metrics.joint_gap import anchor
from validation.metrics.observation import (
    Array,
    Flags,
    Observation,
    bounding_radius,
    free,
    free_mass,
    of_scenario,
    shared,
)
from validation.metrics.proximity import proximities, rates

MOST = 50  # bodies: the time grows with the cube
EDGES = 8
FIXES_ANGLE = frozenset({"prismatic", "slider", "hinge", "fixed"})
NEAR = 0.03  # of the least width: solvers leave bodies that rest apart by less, beside what the engine declares


@of_scenario
def width(o: Observation) -> Array:
    """(B + boundaries,) m: of the thinnest side of each body; boundaries have no end."""
    return np.array([*(mass.width(body.shape) for body in o.scene.bodies), *(np.inf for _ in o.scene.boundaries)])


@shared
def supporting(o: Observation) -> Flags:
    """(K,) rows of `proximities` that may hold a body: some engines hold it at a gap, and declare which."""
    bodies = width(o)[: len(o.scene.bodies)]
    return proximities(o).gap < o.trajectory.contact_tolerance + NEAR * float(bodies[free(o)].min())


@shared
def supported(o: Observation) -> Flags:
    """(S, B) whether something may hold the body."""
    near, near_enough = proximities(o), supporting(o)
    found = np.zeros(o.trajectory.velocity.shape[:2], bool)
    for side in (near.a, near.b):
        of_body = near_enough & (side < len(o.scene.bodies))
        found[near.sample[of_body], side[of_body]] = True
    return found


def meets_next(o: Observation) -> Flags:
    """(S, B) whether the body may meet something before the next sample, at the speed at which they approach."""
    near, until = proximities(o), np.append(o.interval, 0.0)
    found = np.zeros(o.trajectory.velocity.shape[:2], bool)
    meets = near.gap + rates(o).now * until[near.sample] < o.trajectory.contact_tolerance
    for side in (near.a, near.b):
        of_body = meets & (side < len(o.scene.bodies))
        found[near.sample[of_body], side[of_body]] = True
    return found


@of_scenario
def in_contact_only(o: Observation) -> Flags:
    """(B,) free bodies on which nothing but gravity and contacts acts."""
    acted = acted_on(o.scene)
    damped = o.scene.damping != type(o.scene.damping)()
    return free(o) & [body.name not in acted and not damped for body in o.scene.bodies]


class Contact(NamedTuple):
    """A point at which b may be pushed along the normal, and a the other way."""

    a: int
    b: int
    point_a: Array
    point_b: Array
    normal: Array  # from a to b
    friction: float


def contacts_of(o: Observation, rows: Any) -> list[Contact]:
    """Contacts at these rows of `proximities`."""
    near, members = proximities(o), [*o.scene.bodies, *o.scene.boundaries]
    found = []
    for row in rows.tolist():
        a, b = int(near.a[row]), int(near.b[row])
        mu, _ = o.scene.pair_law(members[a], members[b])
        found.append(Contact(a, b, near.point_a[row], near.point_b[row], near.normal[row], mu))
    return found


class Balance:
    """What contacts and joints can do to the free bodies at one sample: a column for each edge of a cone and each
    direction of a joint's force, a row for each part of a body's force and moment, in weights and weights times radius.
    """

    def __init__(self, o: Observation, sample: int, contacts: Iterable[Contact], *, any_moment: bool) -> None:
        """`any_moment`: a contact may be a face of which one point is known, and pass on whatever moment."""
        self.bodies = np.flatnonzero(free(o))
        D = len(o.gravity)
        self.dimension = D
        self.rows = D + (1 if D == 2 else 3)  # of a body: force, moment
        self.o, self.sample = o, sample
        self.first_row = {int(body): k * self.rows for k, body in enumerate(self.bodies)}
        self.columns = [*self._contacts(contacts, any_moment and D == 3), *self._joints()]
        weight = free_mass(o)[self.bodies] * (float(norm(o.gravity)) or 1.0)
        self.scale: Array = np.repeat(weight, self.rows).reshape(-1, self.rows)
        self.scale[:, D:] *= bounding_radius(o)[self.bodies, None]

    def left(self, wanted: Array) -> Array | None:
        """(F,) in weights, what no such forces hold of the forces `wanted` (B, D) N on the free bodies; None where that
        is not found."""
        if not self.columns:
            return np.sqrt(squared(wanted[self.bodies] / self.scale[:, :1]).sum(axis=1))
        from scipy.optimize import nnls  # slow to import, and only wanted here

        aim = np.zeros_like(self.scale)
        aim[:, : self.dimension] = wanted[self.bodies]
        aim = (aim / self.scale).ravel()
        system = np.column_stack(self.columns) / self.scale.reshape(-1, 1)
        try:
            force, _ = nnls(system, aim)
        except RuntimeError:  # it found no end: nothing is known
            return None
        off: Array = np.abs(aim - (system * force).sum(axis=1)).reshape(self.scale.shape).max(axis=1)
        return off

    def _contacts(self, contacts: Iterable[Contact], any_moment: bool) -> Iterator[Array]:
        for c in contacts:
            for edge in _cone(c.normal, c.friction):
                column = self._nothing()
                for body, point, sign in ((c.a, c.point_a, -1.0), (c.b, c.point_b, 1.0)):
                    self._add(column, body, point, sign * edge)
                yield column
            if any_moment:
                yield from self._any_moment(c.a)
                yield from self._any_moment(c.b)

    def _joints(self) -> Iterator[Array]:
        """What a joint can pass on, in either sense: more than it can where it is a slider or a rod."""
        o, names = self.o, [body.name for body in self.o.scene.bodies]
        for joint in o.scene.joints:
            ends = [(joint.a, joint.anchor_a)] + ([(joint.b, joint.anchor_b)] if joint.b else [])
            for axis in (*np.eye(self.dimension), *-np.eye(self.dimension)):
                column = self._nothing()
                for (name, point), sign in zip(ends, (1.0, -1.0)):
                    self._add(column, names.index(name), anchor(o, name, point)[self.sample], sign * axis)
                yield column
            if joint.kind in FIXES_ANGLE:
                for name, _ in ends:
                    yield from self._any_moment(names.index(name))

    def _any_moment(self, body: int) -> Iterator[Array]:
        for k in range(self.dimension, self.rows) if body in self.first_row else ():
            for sign in (1.0, -1.0):
                column = self._nothing()
                column[self.first_row[body] + k] = sign
                yield column

    def _nothing(self) -> Array:
        return np.zeros(len(self.bodies) * self.rows)

    def _add(self, column: Array, body: int, point: Array, force: Array) -> None:
        if body in self.first_row:
            first = self.first_row[body]
            arm = point - self.o.trajectory.position[self.sample, body]
            column[first : first + self.rows] = np.concatenate([force, moment(arm, force)])


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
