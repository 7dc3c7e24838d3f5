"""Gaps of pairs in a state, and which pairs are in contact.

Members of the contact set are frozen between events. Two functions tell that it changes, both below 0 within a step:

    leaving   of members:  gap - 2 h        entering   of others:  h - gap

h, the hysteresis, is what gaps are known to: a pair enters at gap <= h and leaves at gap > 2 h, so that right after an
event neither function is at 0. The speed of approach at which a pair entered stays with it as long as it is a member.
"""

from __future__ import annotations

import numpy as np

from reference_engine.compliant.layout import (
    APPROACH,
    COEFFICIENT,
    DAMPING,
    EVENTS,
    MOST_DAMPING,
    PLACES,
    RESTITUTION,
    SPIN,
    TIME,
    V_SMALL,
    Q,
    V,
)
from reference_engine.compliant.response import damping_of
from reference_engine.geometry.boundary_gap import half_space
from reference_engine.geometry.kernels import kernel
from reference_engine.geometry.portal import portal_pair
from reference_engine.geometry.spatial_shapes import HALF_SPACE
from reference_engine.geometry.support import place, support, to_body, to_world


@kernel
def place_bodies(solids, work, y):
    """The body table of geometry.support, and the spins."""
    body = work.portal.body
    for i in range(solids.kind.shape[0]):
        at = PLACES * i
        for c in range(3):
            work.position[i, c] = y[at + c]
        for c in range(4):
            work.orientation[i, c] = y[at + Q + c]
    place(
        work.position, work.orientation, solids.size, solids.margin, solids.reach, solids.point, solids.axis, body
    )  # fmt: skip
    for i in range(solids.kind.shape[0]):
        at = PLACES * i + SPIN
        a, b, c = to_body(body, i, y[at], y[at + 1], y[at + 2])
        a, b, c = a / solids.inertia[i, 0], b / solids.inertia[i, 1], c / solids.inertia[i, 2]
        work.spin[i, 0], work.spin[i, 1], work.spin[i, 2] = to_world(body, i, a, b, c)


@kernel
def pair_gap(solids, work, k):
    """work.found of pair k, its points from the centre of the first body. False: the two have one centre."""
    p, q = solids.pair[k, 0], solids.pair[k, 1]
    body, found, scratch = work.portal.body, work.found, work.portal
    if solids.kind[q] == HALF_SPACE:
        dx, dy, dz = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[q, 2] - body[p, 2]
        half_space(solids.kind, solids.vertex_start, solids.vertex, body, p, q, dx, dy, dz, found)
        found[0] -= solids.margin[p]
        for c in range(3):
            found[4 + c] += solids.margin[p] * found[1 + c]
        return True
    return (
        portal_pair(
            solids.kind, solids.vertex_start, solids.vertex, body, p, q,
            scratch.portal, scratch.points, scratch.weight, scratch.pair, found,
        )
        == 0
    )  # fmt: skip


@kernel
def contact_arms(work, p, q):
    """The contact point, between the two surfaces: from the centre of p and from that of q."""
    body, found = work.portal.body, work.found
    x = 0.5 * found[0]
    px, py, pz = found[4] + x * found[1], found[5] + x * found[2], found[6] + x * found[3]
    return px, py, pz, px + body[p, 0] - body[q, 0], py + body[p, 1] - body[q, 1], pz + body[p, 2] - body[q, 2]


@kernel
def relative_velocity(work, y, p, q, arms):
    """Of q's point at the contact less that of p. [m/s]"""
    px, py, pz, qx, qy, qz = arms
    i, j = PLACES * p + V, PLACES * q + V
    ax, ay, az = work.spin[p, 0], work.spin[p, 1], work.spin[p, 2]
    bx, by, bz = work.spin[q, 0], work.spin[q, 1], work.spin[q, 2]
    return (
        y[j] - y[i] + by * qz - bz * qy - ay * pz + az * py,
        y[j + 1] - y[i + 1] + bz * qx - bx * qz - az * px + ax * pz,
        y[j + 2] - y[i + 2] + bx * qy - by * qx - ax * py + ay * px,
    )


@kernel
def boxes(solids, work):
    """Around every bounded body, in world axes."""
    body = work.portal.body
    for i in range(solids.kind.shape[0]):
        if solids.kind[i] == HALF_SPACE:
            continue
        for c in range(3):
            x, y, z = 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0
            most = support(solids.kind, solids.vertex_start, solids.vertex, body, i, x, y, z)
            least = support(solids.kind, solids.vertex_start, solids.vertex, body, i, -x, -y, -z)
            centre, margin = body[i, c], solids.margin[i]
            work.box[i, c] = centre + x * least[0] + y * least[1] + z * least[2] - margin
            work.box[i, 3 + c] = centre + x * most[0] + y * most[1] + z * most[2] + margin


@kernel
def measure(solids, touching, work, y):
    """work.gap of all pairs: where boxes are apart, and the pair is no member, the distance of the boxes.

    Returns the greatest of the two functions above. NaN: a pair has one centre.
    """
    place_bodies(solids, work, y)
    boxes(solids, work)
    worst = -np.inf
    for k in range(solids.pair.shape[0]):
        p, q, square = solids.pair[k, 0], solids.pair[k, 1], 0.0
        member = touching.member[k] == 1
        if not member and solids.kind[q] != HALF_SPACE:
            for c in range(3):
                apart = max(work.box[p, c] - work.box[q, 3 + c], work.box[q, c] - work.box[p, 3 + c])
                square += max(0.0, apart) ** 2
        if square > 0.0:
            work.gap[k] = np.sqrt(square)
        else:
            if not pair_gap(solids, work, k):
                return np.nan
            work.gap[k] = work.found[0]
        h = solids.hysteresis
        worst = max(worst, work.gap[k] - 2.0 * h if member else h - work.gap[k])
    return worst


@kernel
def rebuild(solids, touching, work, log, clock, y):
    """The contact set of this state; what has changed is logged. False: a pair has one centre."""
    if np.isnan(measure(solids, touching, work, y)):
        return False
    h = solids.hysteresis
    for k in range(solids.pair.shape[0]):
        was = touching.member[k] == 1
        now = work.gap[k] <= (2.0 * h if was else h)
        if now == was:
            continue
        p, q = solids.pair[k, 0], solids.pair[k, 1]
        pair_gap(solids, work, k)
        arms = contact_arms(work, p, q)
        u, v, w = relative_velocity(work, y, p, q, arms)
        closing = -(u * work.found[1] + v * work.found[2] + w * work.found[3])
        if now:
            law = solids.law
            approach = max(0.0, closing)
            touching.touch[k, APPROACH] = approach
            touching.touch[k, DAMPING] = damping_of(
                approach, law[k, RESTITUTION], law[k, V_SMALL], law[k, MOST_DAMPING]
            )
            touching.touch[k, COEFFICIENT] = law[k, RESTITUTION] if approach > law[k, V_SMALL] else 0.0
        touching.member[k] = 1 if now else 0
        row = clock.tally[EVENTS]
        log.event_ids[row, 0], log.event_ids[row, 1] = 0 if now else 1, k
        log.event[row, 0] = clock.now[TIME]
        for c in range(3):
            log.event[row, 1 + c] = arms[c] + work.portal.body[p, c]
            log.event[row, 4 + c] = work.found[1 + c]
        log.event[row, 7], log.event[row, 8] = work.found[0], closing
        log.event[row, 9], log.event[row, 10] = touching.touch[k, COEFFICIENT], touching.touch[k, DAMPING]
        clock.tally[EVENTS] = row + 1
    return True
