"""Where bodies may touch: listed pairs, bodies with containers; their gaps, and which of them a step looks at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference_engine.complementarity.cone_sweeps import speed_along
from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.ellipsoid_containers import half_space_gaps, hollow_sphere_gaps
from reference_engine.geometry.ellipsoid_depth import STACK
from reference_engine.geometry.ellipsoid_gap import ellipsoid_gaps
from reference_engine.geometry.ellipsoid_neighbours import has_left
from reference_engine.geometry.ellipsoid_support import COLUMNS, place_ellipsoids, tangents
from reference_engine.geometry.furthest import MOST_POINTS
from reference_engine.geometry.kernels import entry, kernel
from reference_engine.geometry.spatial_gap import FIELDS
from reference_engine.spatial.world import EllipsoidWorld, HalfSpace

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FLOOR = 0.4  # of the barrier: gaps below it are opened again
STEPS_AHEAD = 8  # that a list of pairs should last


@entry
def settle_rows(kind, table, found):
    """Of the rows of a hollow sphere, found (B, 4, 11), those that stand for no point are far away.

    Two are put in the order in which the body has them along its longest axis: so a row is one end from step to step.
    """
    for i in range(kind.shape[0]):
        rows = kind[i, 1]
        for k in range(rows, found.shape[1]):
            found[i, k, 0] = np.inf
        if rows == 2:
            best, along = 0.0, 0
            for k in range(3):
                size = table[i, 3 + k] ** 2 + table[i, 6 + k] ** 2 + table[i, 9 + k] ** 2
                if size > best:
                    best, along = size, k
            lead = 0.0
            for k in range(3):
                lead += table[i, 3 + 3 * k + along] * (found[i, 1, 4 + k] - found[i, 0, 4 + k])
            if lead > 0.0:
                for k in range(found.shape[2]):
                    found[i, 0, k], found[i, 1, k] = found[i, 1, k], found[i, 0, k]


@kernel
def put_frame(found, i, position, contacts, k):
    """Frame and arms of contact k, from place i; its impulse keeps its direction in the world."""
    frame, impulse, arm = contacts.frame, contacts.impulse, contacts.arm
    a, b = contacts.body[k, 0], contacts.body[k, 1]
    for j in range(3):
        arm[k, j] = found[i, 4 + j] - position[a, j] if a < position.shape[0] else 0.0
        arm[k, 3 + j] = found[i, 7 + j] - position[b, j] if b < position.shape[0] else 0.0
    x = frame[k, 0] * impulse[k, 0] + frame[k, 3] * impulse[k, 1] + frame[k, 6] * impulse[k, 2]
    y = frame[k, 1] * impulse[k, 0] + frame[k, 4] * impulse[k, 1] + frame[k, 7] * impulse[k, 2]
    z = frame[k, 2] * impulse[k, 0] + frame[k, 5] * impulse[k, 1] + frame[k, 8] * impulse[k, 2]
    frame[k, 0], frame[k, 1], frame[k, 2] = found[i, 1], found[i, 2], found[i, 3]
    t = tangents(found[i, 1], found[i, 2], found[i, 3])
    for j in range(6):
        frame[k, 3 + j] = t[j]
    for j in range(3):
        impulse[k, j] = frame[k, 3 * j] * x + frame[k, 3 * j + 1] * y + frame[k, 3 * j + 2] * z
    impulse[k, 0] = max(0.0, impulse[k, 0])


@kernel
def parting(found, i, a, b, position, twist):
    """Velocity of a place's point on b against its point on a."""
    u, v, w = 0.0, 0.0, 0.0
    for end in range(2):
        c, sign, at = (a, -1.0, 4) if end == 0 else (b, 1.0, 7)
        if c < position.shape[0]:
            x, y, z = (
                found[i, at] - position[c, 0],
                found[i, at + 1] - position[c, 1],
                found[i, at + 2] - position[c, 2],
            )
            u += sign * (twist[c, 0] + twist[c, 4] * z - twist[c, 5] * y)
            v += sign * (twist[c, 1] + twist[c, 5] * x - twist[c, 3] * z)
            w += sign * (twist[c, 2] + twist[c, 3] * y - twist[c, 4] * x)
    return u, v, w


@kernel
def approach(found, i, a, b, position, twist):
    """Normal speed of a place's two points, negative where they approach."""
    u, v, w = parting(found, i, a, b, position, twist)
    return found[i, 1] * u + found[i, 2] * v + found[i, 3] * w


@entry
def choose_contacts(
    found, body, law, chosen, twist, position, h, margin, cutoff, barrier, give, kept, contacts, place, aim
):
    """Fill `contacts` with the places that may touch within a step; returns how many there are, also beyond its room.

    A place counts if its gap is below the margin and what its approach covers in a step and a half, or if it has been
    chosen before. found (N, 11), body (N, 2), law (N, 2) friction and restitution, chosen (N,), kept (N, 3) impulses in
    world axes to start from. place, aim (C,): the place of each contact, and the gap that it is to keep: what it has,
    if that is between floor and barrier, so that to stand still is always allowed.
    """
    count, room = 0, place.shape[0]
    for i in range(found.shape[0]):
        gap = found[i, 0]
        if not gap <= cutoff:
            continue
        a, b = body[i, 0], body[i, 1]
        if chosen[i] == 0 and gap > margin and gap + 1.5 * h * approach(found, i, a, b, position, twist) > margin:
            continue
        chosen[i] = 1
        if count < room:
            k = count
            contacts.body[k, 0], contacts.body[k, 1] = a, b
            contacts.friction[k] = law[i, 0]
            contacts.slip[k] = 0.0
            for j in range(9):
                contacts.frame[k, j] = 1.0 if j % 4 == 0 else 0.0
            for j in range(3):
                contacts.impulse[k, j] = kept[i, j]
            put_frame(found, i, position, contacts, k)
            aim[k] = min(barrier, max(gap, FLOOR * barrier))
            contacts.bias[k, 0], contacts.bias[k, 1], contacts.bias[k, 2] = (gap - aim[k]) / h, 0.0, 0.0
            contacts.give[k] = give
            place[k] = i
        count += 1
    return count


@entry
def correct_biases(found, body, chosen, place, contacts, bodies, position, h, aim, cutoff, floor, fresh, middle, count):
    """What the step's gaps, `found`, ask of the next solve: bias + u_n is (gap - aim) / h there.

    fresh: frames and arms of these poses too. middle: slip is that of the points half-way, the mean of both ends' arms.
    Returns (the largest miss of 0 <= gap - aim perp p_n or of such a slip's way, m; how many places that were not
    looked at are below the floor; these are `chosen` now).
    """
    worst, missed, twist = 0.0, 0, bodies.twist
    bias, frame = contacts.bias, contacts.frame
    for k in range(count):
        i = place[k]
        gap, p_n = found[i, 0] - aim[k], contacts.impulse[k, 0]
        miss = abs(min(gap + h * contacts.give[k] * p_n, h * contacts.own[k, 0] * p_n))
        worst = max(worst, miss) if miss == miss else np.inf
        if found[i, 0] <= cutoff:
            if fresh:
                put_frame(found, i, position, contacts, k)
                bias[k, 1], bias[k, 2] = 0.0, 0.0
            u_n, u_1, u_2 = speed_along(contacts, k, twist)
            bias[k, 0] = gap / h - u_n
            if middle and not fresh and p_n > 0.0 and contacts.friction[k] > 0.0:
                u, v, w = parting(found, i, contacts.body[k, 0], contacts.body[k, 1], position, twist)
                for j in range(1, 3):
                    ahead = frame[k, 3 * j] * u + frame[k, 3 * j + 1] * v + frame[k, 3 * j + 2] * w
                    shift = 0.5 * (ahead - (u_1 if j == 1 else u_2))
                    worst = max(worst, h * abs(shift - bias[k, j]))
                    bias[k, j] = shift
    for i in range(found.shape[0]):
        if chosen[i] == 0 and found[i, 0] < floor:
            chosen[i] = 1
            missed += 1
    return worst, missed


@entry
def keep_impulses(contacts, place, count, kept):
    """(N, 3) impulses of all places, world axes."""
    frame, impulse = contacts.frame, contacts.impulse
    kept[:] = 0.0
    for k in range(count):
        for j in range(3):
            kept[place[k], j] = (
                frame[k, j] * impulse[k, 0] + frame[k, 3 + j] * impulse[k, 1] + frame[k, 6 + j] * impulse[k, 2]
            )


@entry
def bounces(found, body, law, kept, position, twist, least, bounce):
    """bounce (N,): the speed at which a place that presses is to part, restitution times its approach. Their count."""
    total = 0
    for i in range(found.shape[0]):
        bounce[i] = 0.0
        if law[i, 1] > 0.0 and (kept[i, 0] != 0.0 or kept[i, 1] != 0.0 or kept[i, 2] != 0.0):
            speed = approach(found, i, body[i, 0], body[i, 1], position, twist)
            if speed < -least:
                bounce[i] = -law[i, 1] * speed
                total += 1
    return total


@entry
def touching_contacts(found, body, law, reach, give, position, kept, bounce, bodies, contacts, place):
    """Contacts of the places with gaps of at most `reach`, where no speed is to be below their bounce; how many."""
    count, room = 0, place.shape[0]
    for i in range(found.shape[0]):
        if not found[i, 0] <= reach:
            continue
        if count < room:
            k = count
            contacts.body[k, 0], contacts.body[k, 1] = body[i, 0], body[i, 1]
            contacts.friction[k] = law[i, 0]
            contacts.slip[k] = 0.0
            for j in range(9):
                contacts.frame[k, j] = 1.0 if j % 4 == 0 else 0.0
            for j in range(3):
                contacts.impulse[k, j] = kept[i, j]
            put_frame(found, i, position, contacts, k)
            contacts.bias[k, 0], contacts.bias[k, 1], contacts.bias[k, 2] = -bounce[i], 0.0, 0.0
            contacts.give[k] = give
            place[k] = i
        count += 1
    return count


class Places:
    """N places: P listed pairs, B a plane, 4 B a hollow sphere. Pairs are listed anew when a body leaves its box."""

    def __init__(self, world: EllipsoidWorld, skin: float) -> None:
        self.world, self.skin, self.listings = world, skin, 0
        bodies = len(world.position)
        self._table, self._stack = np.empty((bodies, COLUMNS)), np.empty(STACK)
        self._scratch = np.empty((MOST_POINTS, 3))
        self._low, self._high, self._first_low, self._first_high = (np.zeros((bodies, 3)) for _ in range(4))
        self.cutoff = np.inf
        self._kind = [np.zeros((bodies, 2), np.int64) for _ in world.containers]
        self.pairs: Indices = np.zeros((0, 2), np.int64)
        self._normal = np.zeros((0, 3))
        per = [1 if isinstance(c, HalfSpace) else MOST_POINTS for c in world.containers]
        which = [np.repeat(np.arange(bodies), k) for k in per]
        self._of_containers = np.concatenate([np.zeros(0, np.int64), *which])
        law = [np.repeat(world.laws_with(i), k, axis=0) for i, k in enumerate(per)]
        self._laws_of_containers = np.concatenate([np.zeros((0, 2)), *law])
        self._sizes = [bodies * k for k in per]
        self._lay_out()

    def _lay_out(self) -> None:
        pairs, others = len(self.pairs), len(self._of_containers)
        self.found = np.full((pairs + others, FIELDS), np.inf)
        self.kept = np.zeros((2, pairs + others, 3))  # impulses of the two solves of a step, world axes
        self.chosen = np.zeros(pairs + others, np.int64)
        self.bounce = np.zeros(pairs + others)
        nothing = np.full(others, len(self.world.position))
        self.body = np.concatenate([self.pairs, np.stack([self._of_containers, nothing], axis=1)])
        self.law = np.concatenate([self.world.laws_of(self.pairs), self._laws_of_containers])

    def begin(self, position: Array, orientation: Array, cutoff: float, ahead: Array) -> None:
        """As `look`, at the poses from which a step starts; its list stays good for both. ahead (B, 3) m: a step."""
        self.cutoff = cutoff
        place_ellipsoids(self.world.semi_axes, position, orientation, self._table)
        self.stand(position, ahead)
        self.look(position, orientation)

    def stand(self, position: Array, ahead: Array) -> None:
        """A step starts where the last look was."""
        half = np.sqrt(self._table[:, 12:15])
        np.subtract(position, half, out=self._first_low)
        np.add(position, half, out=self._first_high)
        self._ahead = ahead

    def look(self, position: Array, orientation: Array) -> None:
        """Gaps, normals and points of all places at these poses: `found` (N, 11), see support.write.

        Of pairs above the cutoff the first column alone counts, and is a lower bound of the gap.
        """
        world, table = self.world, self._table
        place_ellipsoids(world.semi_axes, position, orientation, table)
        if self.listings == 0 or has_left(table, 0.0, self._low, self._high):
            self._list(position)
        at = len(self.pairs)
        ellipsoid_gaps(table, self.pairs, self.cutoff, self._normal, self._stack, self.found[:at])
        for container, kind, size in zip(world.containers, self._kind, self._sizes):
            rows = self.found[at : at + size]
            if isinstance(container, HalfSpace):
                half_space_gaps(table, container.point, container.normal, rows)
            else:
                rows = rows.reshape(-1, MOST_POINTS, FIELDS)
                middle, radius, tie = container.centre, container.radius, 1e-12 * container.radius
                hollow_sphere_gaps(world.semi_axes, table, middle, radius, tie, kind, self._scratch, rows)
                settle_rows(kind, table, rows)
            at += size

    def _list(self, position: Array) -> None:
        half = np.sqrt(self._table[:, 12:15])
        self._low = (
            np.minimum(self._first_low, position - half) + np.minimum(0.0, STEPS_AHEAD * self._ahead) - self.skin
        )
        self._high = (
            np.maximum(self._first_high, position + half) + np.maximum(0.0, STEPS_AHEAD * self._ahead) + self.skin
        )
        before, normal, kept, chosen = self.pairs, self._normal, self.kept, self.chosen
        pairs = overlapping_boxes(self._low, self._high)
        self.pairs = np.ascontiguousarray(pairs[~self.world.fixed[pairs].all(axis=1)])
        self._normal = np.zeros((len(self.pairs), 3))
        self._lay_out()
        self.kept[:, len(self.pairs) :] = kept[:, len(before) :]
        self.chosen[len(self.pairs) :] = chosen[len(before) :]
        if len(before):
            bodies = len(position)
            old, new = before @ (bodies, 1), self.pairs @ (bodies, 1)
            at = np.minimum(np.searchsorted(old, new), len(old) - 1)
            same = np.flatnonzero(old[at] == new)
            self._normal[same] = normal[at[same]]
            self.kept[:, same], self.chosen[same] = kept[:, at[same]], chosen[at[same]]
        self.listings += 1
