"""Gauss-Seidel over contacts: each in turn is given the impulse that solves Coulomb's law there, the others held.

Moreau 1999 (Comput. Methods Appl. Mech. Eng. 177) and Jean 1999 (the same): nonsmooth contact dynamics. Two forms: over
bodies, for rigid bodies, where no matrix is formed; and over the blocks of W = J M J^T, for any mobility M.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_engine.complementarity.cone_law import off_law, solve_contact
from reference_engine.geometry.kernels import entry, kernel
from reference_engine.geometry.structure import Structure


@dataclass(frozen=True, eq=False)
class Bodies(Structure):
    """B bodies, and a last one that nothing moves."""

    twist: NDArray[np.float64]  # (B + 1, 6) velocity of the centre of mass, spin; world axes
    inverse_mass: NDArray[np.float64]  # (B + 1,)
    inverse_inertia: NDArray[np.float64]  # (B + 1, 6) world axes: xx, yy, zz, xy, xz, yz


@dataclass(frozen=True, eq=False)
class Contacts(Structure):
    """Room for C contacts between bodies a and b."""

    body: NDArray[np.int64]  # (C, 2) a, b; B for what nothing moves
    frame: NDArray[np.float64]  # (C, 9) normal from a to b, two tangents
    arm: NDArray[np.float64]  # (C, 6) from the centre of a to its point, from that of b to its point [m]
    own: NDArray[np.float64]  # (C, 6) of W at the contact: nn with the give, n1, n2, and S = 11, 12, 22 [1/kg]
    bias: NDArray[np.float64]  # (C, 3) added to the speeds along the frame [m/s]
    give: NDArray[np.float64]  # (C,) normal speed that a normal impulse adds to the law, as a stiff spring does [1/kg]
    friction: NDArray[np.float64]  # (C,)
    impulse: NDArray[np.float64]  # (C, 3) on b, along the frame [N s]
    slip: NDArray[np.float64]  # (C,) where the search for a slip starts [1/kg]


def room_for_contacts(count: int) -> Contacts:
    return Contacts(
        body=np.zeros((count, 2), np.int64), frame=np.zeros((count, 9)), arm=np.zeros((count, 6)),
        own=np.zeros((count, 6)), bias=np.zeros((count, 3)), give=np.zeros(count), friction=np.zeros(count),
        impulse=np.zeros((count, 3)), slip=np.zeros(count),
    )  # fmt: skip


@kernel
def speed_along(contacts, k, twist):
    """(u_n, u_1, u_2) of b's point against a's, along the frame."""
    a, b = contacts.body[k, 0], contacts.body[k, 1]
    arm, frame = contacts.arm, contacts.frame
    ax, ay, az, bx, by, bz = arm[k, 0], arm[k, 1], arm[k, 2], arm[k, 3], arm[k, 4], arm[k, 5]
    x = twist[b, 0] + twist[b, 4] * bz - twist[b, 5] * by - twist[a, 0] - twist[a, 4] * az + twist[a, 5] * ay
    y = twist[b, 1] + twist[b, 5] * bx - twist[b, 3] * bz - twist[a, 1] - twist[a, 5] * ax + twist[a, 3] * az
    z = twist[b, 2] + twist[b, 3] * by - twist[b, 4] * bx - twist[a, 2] - twist[a, 3] * ay + twist[a, 4] * ax
    return (
        frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z,
        frame[k, 3] * x + frame[k, 4] * y + frame[k, 5] * z,
        frame[k, 6] * x + frame[k, 7] * y + frame[k, 8] * z,
    )


@kernel
def strike(inverse_mass, inverse_inertia, i, rx, ry, rz, x, y, z, twist):
    """An impulse (x, y, z) on body i at the arm r."""
    m, inertia = inverse_mass[i], inverse_inertia
    tx, ty, tz = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
    twist[i, 0] += m * x
    twist[i, 1] += m * y
    twist[i, 2] += m * z
    twist[i, 3] += inertia[i, 0] * tx + inertia[i, 3] * ty + inertia[i, 4] * tz
    twist[i, 4] += inertia[i, 3] * tx + inertia[i, 1] * ty + inertia[i, 5] * tz
    twist[i, 5] += inertia[i, 4] * tx + inertia[i, 5] * ty + inertia[i, 2] * tz


@kernel
def push(contacts, k, bodies, n, s, t):
    """The impulse n, s, t along the frame of a contact, on b, and its opposite on a."""
    frame, arm = contacts.frame, contacts.arm
    x = frame[k, 0] * n + frame[k, 3] * s + frame[k, 6] * t
    y = frame[k, 1] * n + frame[k, 4] * s + frame[k, 7] * t
    z = frame[k, 2] * n + frame[k, 5] * s + frame[k, 8] * t
    m, inertia, twist = bodies.inverse_mass, bodies.inverse_inertia, bodies.twist
    strike(m, inertia, contacts.body[k, 0], arm[k, 0], arm[k, 1], arm[k, 2], -x, -y, -z, twist)
    strike(m, inertia, contacts.body[k, 1], arm[k, 3], arm[k, 4], arm[k, 5], x, y, z, twist)


@kernel
def angular_share(inertia, i, rx, ry, rz, frame, k, p, q):
    """(r x e_p) . I^-1 (r x e_q), e the rows of the frame."""
    x, y, z = frame[k, 3 * p], frame[k, 3 * p + 1], frame[k, 3 * p + 2]
    ax, ay, az = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
    x, y, z = frame[k, 3 * q], frame[k, 3 * q + 1], frame[k, 3 * q + 2]
    bx, by, bz = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
    return (
        ax * (inertia[i, 0] * bx + inertia[i, 3] * by + inertia[i, 4] * bz)
        + ay * (inertia[i, 3] * bx + inertia[i, 1] * by + inertia[i, 5] * bz)
        + az * (inertia[i, 4] * bx + inertia[i, 5] * by + inertia[i, 2] * bz)
    )


@kernel
def own_entry(contacts, k, bodies, p, q):
    """Entry p, q of W at one contact."""
    a, b = contacts.body[k, 0], contacts.body[k, 1]
    arm, inertia = contacts.arm, bodies.inverse_inertia
    total = angular_share(inertia, a, arm[k, 0], arm[k, 1], arm[k, 2], contacts.frame, k, p, q)
    total += angular_share(inertia, b, arm[k, 3], arm[k, 4], arm[k, 5], contacts.frame, k, p, q)
    return total + bodies.inverse_mass[a] + bodies.inverse_mass[b] if p == q else total


@entry
def prepare_contacts(contacts, bodies, count):
    """`own` of the contacts: W at each, its tangential part with the normal one eliminated."""
    own = contacts.own
    for k in range(count):
        nn, n1 = own_entry(contacts, k, bodies, 0, 0) + contacts.give[k], own_entry(contacts, k, bodies, 0, 1)
        n2 = own_entry(contacts, k, bodies, 0, 2)
        own[k, 0], own[k, 1], own[k, 2] = nn, n1, n2
        own[k, 3] = own_entry(contacts, k, bodies, 1, 1) - n1 * n1 / nn
        own[k, 4] = own_entry(contacts, k, bodies, 1, 2) - n1 * n2 / nn
        own[k, 5] = own_entry(contacts, k, bodies, 2, 2) - n2 * n2 / nn


@kernel
def apply_impulses(contacts, bodies, free, count):
    """twist = free + M J^T p, anew."""
    twist = bodies.twist
    for i in range(twist.shape[0]):
        for j in range(6):
            twist[i, j] = free[i, j]
    for k in range(count):
        p_n, p_1, p_2 = contacts.impulse[k, 0], contacts.impulse[k, 1], contacts.impulse[k, 2]
        if p_n != 0.0 or p_1 != 0.0 or p_2 != 0.0:
            push(contacts, k, bodies, p_n, p_1, p_2)


@kernel
def residual_of(contacts, bodies, count, edges):
    """The largest miss of the law, m/s."""
    worst = 0.0
    for k in range(count):
        u_n, u_1, u_2 = speed_along(contacts, k, bodies.twist)
        p_n, p_1, p_2 = contacts.impulse[k, 0], contacts.impulse[k, 1], contacts.impulse[k, 2]
        u_n += contacts.bias[k, 0] + contacts.give[k] * p_n
        u_1, u_2 = u_1 + contacts.bias[k, 1], u_2 + contacts.bias[k, 2]
        missed = off_law(p_n, p_1, p_2, u_n, u_1, u_2, contacts.own[k, 0], contacts.friction[k], edges)
        worst = max(worst, missed) if missed == missed else np.inf
    return worst


@entry
def sweep_contacts(contacts, bodies, free, count, edges, most_sweeps, tolerance):
    """Sweeps, there and back, from the impulses given until no speed misses the law by more than `tolerance`, m/s.

    bodies.twist is that of the impulses on return. Returns (sweeps, residual).
    """
    apply_impulses(contacts, bodies, free, count)
    residual, sweeps = residual_of(contacts, bodies, count, edges), 0
    own, impulse, friction, slip = contacts.own, contacts.impulse, contacts.friction, contacts.slip
    while residual > tolerance and sweeps < most_sweeps:
        changed = np.inf
        while changed > tolerance and sweeps < most_sweeps:
            changed = 0.0
            for i in range(count):
                k = i if sweeps % 2 == 0 else count - 1 - i
                u_n, u_1, u_2 = speed_along(contacts, k, bodies.twist)
                p_n, p_1, p_2 = impulse[k, 0], impulse[k, 1], impulse[k, 2]
                u_n += contacts.bias[k, 0] + contacts.give[k] * p_n
                u_1, u_2 = u_1 + contacts.bias[k, 1], u_2 + contacts.bias[k, 2]
                if p_n == 0.0 and u_n >= 0.0:
                    continue
                nn, n1, n2, s11, s12, s22 = own[k, 0], own[k, 1], own[k, 2], own[k, 3], own[k, 4], own[k, 5]
                # speeds without this contact's impulse
                f_n = u_n - nn * p_n - n1 * p_1 - n2 * p_2
                f_1 = u_1 - n1 * p_n - (s11 + n1 * n1 / nn) * p_1 - (s12 + n1 * n2 / nn) * p_2
                f_2 = u_2 - n2 * p_n - (s12 + n1 * n2 / nn) * p_1 - (s22 + n2 * n2 / nn) * p_2
                x_n, x_1, x_2, slip[k] = solve_contact(
                    nn, n1, n2, s11, s12, s22, f_n, f_1, f_2, friction[k], slip[k], edges
                )
                d_n, d_1, d_2 = x_n - p_n, x_1 - p_1, x_2 - p_2
                change = nn * max(abs(d_n), abs(d_1), abs(d_2))
                if change > 0.0:
                    changed = max(changed, change)
                    impulse[k, 0], impulse[k, 1], impulse[k, 2] = x_n, x_1, x_2
                    push(contacts, k, bodies, d_n, d_1, d_2)
            sweeps += 1
        apply_impulses(contacts, bodies, free, count)
        residual = residual_of(contacts, bodies, count, edges)
    return sweeps, residual


@kernel
def speed_of_row(first, column, block, b, impulse, k):
    """(u_n, u_1, u_2) = b_k + sum of W_kj p_j."""
    u_n, u_1, u_2 = b[k, 0], b[k, 1], b[k, 2]
    for at in range(first[k], first[k + 1]):
        j = column[at]
        p_n, p_1, p_2 = impulse[j, 0], impulse[j, 1], impulse[j, 2]
        u_n += block[at, 0, 0] * p_n + block[at, 0, 1] * p_1 + block[at, 0, 2] * p_2
        u_1 += block[at, 1, 0] * p_n + block[at, 1, 1] * p_1 + block[at, 1, 2] * p_2
        u_2 += block[at, 2, 0] * p_n + block[at, 2, 1] * p_1 + block[at, 2, 2] * p_2
    return u_n, u_1, u_2


@entry
def sweep_blocks(first, column, block, b, own, friction, edges, impulse, slip, most_sweeps, tolerance):
    """As sweep_contacts, over W in rows of blocks: first (m + 1,), column, block (N, 3, 3). (sweeps, residual)."""
    residual, sweeps = np.inf, 0
    while residual > tolerance:
        residual = 0.0
        for k in range(friction.shape[0]):
            u_n, u_1, u_2 = speed_of_row(first, column, block, b, impulse, k)
            missed = off_law(impulse[k, 0], impulse[k, 1], impulse[k, 2], u_n, u_1, u_2, own[k, 0], friction[k], edges)
            residual = max(residual, missed) if missed == missed else np.inf
        changed = np.inf
        if residual <= tolerance or sweeps >= most_sweeps:
            break
        while changed > tolerance and sweeps < most_sweeps:
            changed = 0.0
            for i in range(friction.shape[0]):
                k = i if sweeps % 2 == 0 else friction.shape[0] - 1 - i
                u_n, u_1, u_2 = speed_of_row(first, column, block, b, impulse, k)
                p_n, p_1, p_2 = impulse[k, 0], impulse[k, 1], impulse[k, 2]
                nn, n1, n2, s11, s12, s22 = own[k, 0], own[k, 1], own[k, 2], own[k, 3], own[k, 4], own[k, 5]
                f_n = u_n - nn * p_n - n1 * p_1 - n2 * p_2
                f_1 = u_1 - n1 * p_n - (s11 + n1 * n1 / nn) * p_1 - (s12 + n1 * n2 / nn) * p_2
                f_2 = u_2 - n2 * p_n - (s12 + n1 * n2 / nn) * p_1 - (s22 + n2 * n2 / nn) * p_2
                impulse[k, 0], impulse[k, 1], impulse[k, 2], slip[k] = solve_contact(
                    nn, n1, n2, s11, s12, s22, f_n, f_1, f_2, friction[k], slip[k], edges
                )
                change = max(abs(impulse[k, 0] - p_n), abs(impulse[k, 1] - p_1), abs(impulse[k, 2] - p_2))
                changed = max(changed, nn * change)
            sweeps += 1
    return sweeps, residual
