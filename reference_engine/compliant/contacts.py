"""Gaps of places of contact in a state, and which of them are in contact.

Members of the contact set are frozen between events. Two functions tell that it changes, both below 0 within a step:

    leaving   of members:  gap - 2 h        entering   of others:  h - gap

h, the hysteresis, is what gaps are known to: a place enters at gap <= h and leaves at gap > 2 h, so that right after an
event neither function is at 0. The speed of approach at which it entered stays with it as long as it is a member.
"""

from __future__ import annotations

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.compliant.layout import (
    APPROACH,
    COEFFICIENT,
    DAMPING,
    DONE,
    EVENTS,
    JUMP,
    JUMPED,
    MOST_DAMPING,
    ONE_CENTRE,
    PART,
    PLACES,
    RESTITUTION,
    SPIN,
    STANDS,
    STIFFNESS,
    TIME,
    TOUCH,
    V_SMALL,
    WHOLE,
    Q,
    V,
)
from reference_engine.compliant.response import damping_of, elastic_energy
from reference_engine.geometry.boundary_gap import half_space
from reference_engine.geometry.portal import portal_pair
from reference_engine.geometry.spatial_shapes import HALF_SPACE
from reference_engine.geometry.support import place, support, to_body, to_world, write

JUMPS = 1e-6  # of a normal: by more than this, and than motion explains, it has not turned
SMOOTH = 1e-2  # of the reach: no rounding is sharper, so a normal turns no faster than over one such


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
def corner_gap(solids, work, k):
    """work.found of place k, a corner or rim of its first body over its second, a half-space."""
    p, q, row = solids.pair[k, 0], solids.pair[k, 1], solids.corner[k]
    body, corners = work.portal.body, solids.corners
    nx, ny, nz = body[q, 20], body[q, 21], body[q, 22]
    x, y, z, radius = corners[row, 0], corners[row, 1], corners[row, 2], corners[row, 3]
    if radius > 0.0:  # the lowest point of a rim
        u, v, _ = to_body(body, p, nx, ny, nz)
        scale = -radius / np.sqrt(u * u + v * v)
        x, y = (x + scale * u, y + scale * v) if scale > -np.inf else (radius, 0.0)
    x, y, z = to_world(body, p, x, y, z)
    gap = nx * (body[p, 0] + x - body[q, 0] - body[q, 17])
    gap += ny * (body[p, 1] + y - body[q, 1] - body[q, 18]) + nz * (body[p, 2] + z - body[q, 2] - body[q, 19])
    margin = solids.margin[p]
    x, y, z, gap = x - margin * nx, y - margin * ny, z - margin * nz, gap - margin
    write(work.found, gap, -nx, -ny, -nz, x, y, z, x - gap * nx, y - gap * ny, z - gap * nz, 0.0)


@kernel
def pair_gap(solids, work, k):
    """work.found of place k, its points from the centre of the first body. False: the two have one centre."""
    p, q = solids.pair[k, 0], solids.pair[k, 1]
    body, found, scratch = work.portal.body, work.found, work.portal
    if solids.corner[k] != WHOLE:
        corner_gap(solids, work, k)
        return True
    if solids.kind[q] == HALF_SPACE:
        dx, dy, dz = body[q, 0] - body[p, 0], body[q, 1] - body[p, 1], body[q, 2] - body[p, 2]
        half_space(solids.kind, solids.vertex_start, solids.vertex, body, p, q, dx, dy, dz, found)
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
    """work.gap of all places: where boxes are apart, and the place is no member, the distance of the boxes.

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
            for c in range(3):
                work.normal[k, c] = work.found[1 + c]
        h = solids.hysteresis
        worst = max(worst, work.gap[k] - 2.0 * h if member else h - work.gap[k])
    return worst


@kernel
def note_event(solids, touching, work, log, clock, k, kind, closing, energy):
    """A row of the log, of place k, whose gap is in work.found."""
    row = clock.tally[EVENTS]
    px, py, pz, _, _, _ = contact_arms(work, solids.pair[k, 0], solids.pair[k, 1])
    body, event, p = work.portal.body, log.event, solids.pair[k, 0]
    log.event_ids[row, 0], log.event_ids[row, 1] = kind, k
    event[row, 0] = clock.now[TIME]
    event[row, 1], event[row, 2], event[row, 3] = px + body[p, 0], py + body[p, 1], pz + body[p, 2]
    for c in range(3):
        event[row, 4 + c] = work.found[1 + c]
    event[row, 7], event[row, 8] = work.found[0], closing
    event[row, 9], event[row, 10] = touching.touch[k, COEFFICIENT], touching.touch[k, DAMPING]
    event[row, 11] = energy
    clock.tally[EVENTS] = row + 1


@kernel
def closing_speed(solids, work, y, k):
    """m/s, of place k, whose gap is in work.found."""
    p, q = solids.pair[k, 0], solids.pair[k, 1]
    u, v, w = relative_velocity(work, y, p, q, contact_arms(work, p, q))
    return -(u * work.found[1] + v * work.found[2] + w * work.found[3])


@kernel
def is_level(solids, work, k):
    """Whether place k is a rim with all of its points in touch at once."""
    radius = solids.corners[solids.corner[k], 3] if solids.corner[k] != WHOLE else 0.0
    if radius == 0.0:
        return False
    u, v, _ = to_body(work.portal.body, solids.pair[k, 0], work.found[1], work.found[2], work.found[3])
    return 2.0 * radius * np.sqrt(u * u + v * v) <= solids.hysteresis


@kernel
def rebuild(solids, touching, work, log, clock, y):
    """The contact set of this state; what has changed is logged. ONE_CENTRE, STANDS on a rim, or DONE."""
    if np.isnan(measure(solids, touching, work, y)):
        return ONE_CENTRE
    h = solids.hysteresis
    for k in range(solids.pair.shape[0]):
        was = touching.member[k] == 1
        now = work.gap[k] <= (2.0 * h if was else h)
        if now == was:
            continue
        pair_gap(solids, work, k)
        closing = closing_speed(solids, work, y, k)
        touching.member[k] = 1 if now else 0
        if now:
            law = solids.law
            approach = max(0.0, closing)
            touching.touch[k, APPROACH] = approach
            touching.touch[k, DAMPING] = damping_of(
                approach, law[k, RESTITUTION], law[k, V_SMALL], law[k, MOST_DAMPING]
            )
            touching.touch[k, COEFFICIENT] = law[k, RESTITUTION] if approach > law[k, V_SMALL] else 0.0
            for c in range(4):
                touching.seen[k, c] = work.found[c]
        note_event(solids, touching, work, log, clock, k, TOUCH if now else PART, closing, 0.0)
        if now and is_level(solids, work, k):
            return STANDS
    return DONE


@kernel
def note_jumps(solids, touching, work, log, clock, y, h):
    """After a step of h seconds, whose end is in work.gap and work.normal: places whose normal jumped are logged.

    So it is where another side or edge becomes the nearest way out. What the elastic energy changes by there nobody has
    done: it is counted by itself.
    """
    for k in range(solids.pair.shape[0]):
        if touching.member[k] == 0:
            continue
        p, q, turned = solids.pair[k, 0], solids.pair[k, 1], 0.0
        for c in range(3):
            turned += (work.normal[k, c] - touching.seen[k, 1 + c]) ** 2
        least = SMOOTH * min(solids.reach[p], solids.reach[q])
        if turned > (JUMPS + 4.0 * h * (work.speed[p] + work.speed[q]) / least) ** 2:
            pair_gap(solids, work, k)
            closing = closing_speed(solids, work, y, k)
            before = -(touching.seen[k, 0] - closing * h)
            gained = elastic_energy(-work.gap[k], solids.law[k, STIFFNESS])
            gained -= elastic_energy(before, solids.law[k, STIFFNESS])
            clock.now[JUMPED] += gained
            note_event(solids, touching, work, log, clock, k, JUMP, closing, gained)
        touching.seen[k, 0] = work.gap[k]
        for c in range(3):
            touching.seen[k, 1 + c] = work.normal[k, c]
