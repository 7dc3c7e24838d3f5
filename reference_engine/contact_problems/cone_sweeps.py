"""Gauss-Seidel over contacts: each in turn is given the impulse that solves Coulomb's law there, the others held.

Moreau 1999 (Comput. Methods Appl. Mech. Eng. 177) and Jean 1999 (the same): nonsmooth contact dynamics. Two forms: over
bodies, for rigid bodies, where no matrix is formed; and over the blocks of W = J M J^T, for any mobility M.
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.contact_problems.cone_law import in_polygon, off_law, solve_contact
from reference_engine.rotation import times
from reference_engine.vectors import cross, dot, opposite, three

QUIET = 2.0  # tolerances: what has moved by less is not looked at again, until all is quiet; then by a quarter of it
FINE = 0.02  # of the tolerance, to which a slipping contact is solved


class Bodies(Structure):
    """B bodies, and a last one that nothing moves."""

    twist: Array = of_shape("B + 1", 6)  # velocity of the centre of mass, spin; world axes
    inverse_mass: Array = of_shape("B + 1")
    inverse_inertia: Array = of_shape("B + 1", 6)  # world axes: xx, yy, zz, xy, xz, yz
    ease: Array = of_shape("B + 1")  # at most so much speed do points of the body get by a unit impulse [1/kg]
    moved: Array = of_shape("B + 1")  # bound on the way that their speeds have gone while impulses were sought [m/s]


# Columns of a contact's row: all that is read together lies together
FRAME = 0  # normal from a to b, two tangents
ARM = 9  # from the centre of a to its point, from that of b to its point [m]
NN, N1, N2, S11, S12, S22 = range(15, 21)  # of W at the contact, with the give; S: without the normal [1/kg]
K_NN, K_N1, K_N2, K_11, K_12, K_22 = range(21, 27)  # inverse of W at the contact, what sticks [kg]
BIAS = 27  # three, added to the speeds along the frame [m/s]
GIVE = 30  # normal speed that a normal impulse adds to the law, as a stiff spring does [1/kg]
FRICTION = 31
IMPULSE = 32  # three, on b, along the frame [N s]
SLIP = 35  # where the search for a slip starts [1/kg]
COLUMNS = 36


class Contacts(Structure):
    """Arrays for C contacts between bodies a and b."""

    body: Indices = of_shape("C", 2)  # a, b; B for what nothing moves
    row: Array = of_shape("C", COLUMNS)
    seen: Array = of_shape("C")  # `moved` of both bodies when the contact was last looked at; -inf: look again
    candidate: Indices = of_shape("C")  # for who makes the contacts: what each stands for
    aim: Array = of_shape("C")  # for the same: the gap that it is to keep [m]
    usual: Array = of_shape("C")  # for the same: the normal impulse under which it does not give way [N s]


@kernel
def along_frame(c, v):
    """A vector of world axes along the frame of a row."""
    return dot(three(c, FRAME), v), dot(three(c, FRAME + 3), v), dot(three(c, FRAME + 6), v)


@kernel
def in_world_axes(c, p):
    """A vector along the frame of a row."""
    n, s, t = p
    return (
        c[FRAME] * n + c[FRAME + 3] * s + c[FRAME + 6] * t,
        c[FRAME + 1] * n + c[FRAME + 4] * s + c[FRAME + 7] * t,
        c[FRAME + 2] * n + c[FRAME + 5] * s + c[FRAME + 8] * t,
    )


@kernel
def speed_along(contacts, k, twist):
    """(u_n, u_1, u_2) of b's point against a's, along the frame."""
    a, b, c = contacts.body[k, 0], contacts.body[k, 1], contacts.row[k]
    ax, ay, az, bx, by, bz = c[ARM], c[ARM + 1], c[ARM + 2], c[ARM + 3], c[ARM + 4], c[ARM + 5]
    x = twist[b, 0] + twist[b, 4] * bz - twist[b, 5] * by - twist[a, 0] - twist[a, 4] * az + twist[a, 5] * ay
    y = twist[b, 1] + twist[b, 5] * bx - twist[b, 3] * bz - twist[a, 1] - twist[a, 5] * ax + twist[a, 3] * az
    z = twist[b, 2] + twist[b, 3] * by - twist[b, 4] * bx - twist[a, 2] - twist[a, 3] * ay + twist[a, 4] * ax
    return along_frame(c, (x, y, z))


@kernel
def apply_impulse(bodies, i, arm, p):
    """An impulse p on body i at the arm."""
    m, twist, turn = bodies.inverse_mass[i], bodies.twist[i], cross(arm, p)
    spin = times(bodies.inverse_inertia[i], turn[0], turn[1], turn[2])
    for k in range(3):
        twist[k] += m * p[k]
        twist[3 + k] += spin[k]


@kernel
def apply_pair_impulse(contacts, k, bodies, along):
    """The impulse along the frame of a contact, on b, and its opposite on a."""
    c = contacts.row[k]
    p = in_world_axes(c, along)
    apply_impulse(bodies, contacts.body[k, 0], three(c, ARM), opposite(p))
    apply_impulse(bodies, contacts.body[k, 1], three(c, ARM + 3), p)


@kernel
def prepare_contact(contacts, k, bodies):
    """W at a contact, its tangential part with the normal one eliminated; and the inverse of W."""
    c = contacts.row[k]
    mass = bodies.inverse_mass[contacts.body[k, 0]] + bodies.inverse_mass[contacts.body[k, 1]]
    nn, n1, n2, t11, t12, t22 = mass + c[GIVE], 0.0, 0.0, mass, 0.0, mass
    for end in range(2):
        inertia, arm = bodies.inverse_inertia[contacts.body[k, end]], three(c, ARM + 3 * end)
        n, s, t = cross(arm, three(c, FRAME)), cross(arm, three(c, FRAME + 3)), cross(arm, three(c, FRAME + 6))
        spin = times(inertia, n[0], n[1], n[2])
        nn += dot(n, spin)
        n1 += dot(s, spin)
        n2 += dot(t, spin)
        spin = times(inertia, s[0], s[1], s[2])
        t11 += dot(s, spin)
        t12 += dot(t, spin)
        spin = times(inertia, t[0], t[1], t[2])
        t22 += dot(t, spin)
    over = 1.0 / nn
    s11, s12, s22 = t11 - n1 * n1 * over, t12 - n1 * n2 * over, t22 - n2 * n2 * over
    c[NN], c[N1], c[N2], c[S11], c[S12], c[S22] = nn, n1, n2, s11, s12, s22
    inner = 1.0 / (s11 * s22 - s12 * s12)
    i11, i12, i22 = s22 * inner, -s12 * inner, s11 * inner
    x, y = (i11 * n1 + i12 * n2) * over, (i12 * n1 + i22 * n2) * over
    c[K_NN] = over + (n1 * x + n2 * y) * over
    c[K_N1], c[K_N2], c[K_11], c[K_12], c[K_22] = -x, -y, i11, i12, i22


@kernel
def apply_impulses(contacts, bodies, free, count):
    """twist = free + M J^T p, anew."""
    twist = bodies.twist
    for i in range(twist.shape[0]):
        for j in range(6):
            twist[i, j] = free[i, j]
    for k in range(count):
        p_n, p_1, p_2 = contacts.row[k, IMPULSE], contacts.row[k, IMPULSE + 1], contacts.row[k, IMPULSE + 2]
        if p_n != 0.0 or p_1 != 0.0 or p_2 != 0.0:
            apply_pair_impulse(contacts, k, bodies, (p_n, p_1, p_2))


@kernel
def residual_of(contacts, bodies, count, edges):
    """The largest miss of the law, m/s."""
    worst = 0.0
    for k in range(count):
        c = contacts.row[k]
        u_n, u_1, u_2 = speed_along(contacts, k, bodies.twist)
        p_n, p_1, p_2 = c[IMPULSE], c[IMPULSE + 1], c[IMPULSE + 2]
        u_n, u_1, u_2 = u_n + c[BIAS] + c[GIVE] * p_n, u_1 + c[BIAS + 1], u_2 + c[BIAS + 2]
        missed = off_law(p_n, p_1, p_2, u_n, u_1, u_2, c[NN], c[FRICTION], edges)
        worst = max(worst, missed) if missed == missed else np.inf
    return worst


@kernel
def visit(contacts, k, bodies, edges, fine):
    """Give contact k the impulse that solves the law there, the others held; what slips to `fine`, m/s."""
    c = contacts.row[k]
    u_n, u_1, u_2 = speed_along(contacts, k, bodies.twist)
    p_n, p_1, p_2 = c[IMPULSE], c[IMPULSE + 1], c[IMPULSE + 2]
    u_n += c[BIAS] + c[GIVE] * p_n
    if p_n == 0.0 and u_n >= 0.0:
        return
    u_1, u_2 = u_1 + c[BIAS + 1], u_2 + c[BIAS + 2]
    nn, n1, n2, mu = c[NN], c[N1], c[N2], c[FRICTION]
    f_n = u_n - nn * p_n - n1 * p_1 - n2 * p_2  # without this contact's impulse
    if f_n >= 0.0:
        d_n, d_1, d_2 = -p_n, -p_1, -p_2
    else:
        d_n = -(c[K_NN] * u_n + c[K_N1] * u_1 + c[K_N2] * u_2)
        d_1 = -(c[K_N1] * u_n + c[K_11] * u_1 + c[K_12] * u_2)
        d_2 = -(c[K_N2] * u_n + c[K_12] * u_1 + c[K_22] * u_2)
        x_n, x_1, x_2 = p_n + d_n, p_1 + d_1, p_2 + d_2
        sticks = mu > 0.0 and x_n >= 0.0 and x_1 * x_1 + x_2 * x_2 <= (mu * x_n) ** 2
        if sticks and edges.shape[0] > 0:
            in_1, in_2 = in_polygon(x_1, x_2, mu * x_n, edges)
            sticks = in_1 == x_1 and in_2 == x_2
        if not sticks:
            over, s11, s12, s22 = 1.0 / nn, c[S11], c[S12], c[S22]
            f_1 = u_1 - n1 * p_n - (s11 + n1 * n1 * over) * p_1 - (s12 + n1 * n2 * over) * p_2
            f_2 = u_2 - n2 * p_n - (s12 + n1 * n2 * over) * p_1 - (s22 + n2 * n2 * over) * p_2
            x_n, x_1, x_2, c[SLIP] = solve_contact(nn, n1, n2, s11, s12, s22, f_n, f_1, f_2, mu, c[SLIP], edges, fine)
            d_n, d_1, d_2 = x_n - p_n, x_1 - p_1, x_2 - p_2
    size = np.sqrt(d_n * d_n + d_1 * d_1 + d_2 * d_2)
    if size > 0.0:
        c[IMPULSE], c[IMPULSE + 1], c[IMPULSE + 2] = p_n + d_n, p_1 + d_1, p_2 + d_2
        apply_pair_impulse(contacts, k, bodies, (d_n, d_1, d_2))
        a, b = contacts.body[k, 0], contacts.body[k, 1]
        bodies.moved[a] += bodies.ease[a] * size
        bodies.moved[b] += bodies.ease[b] * size


@kernel
def seek_impulses(contacts, bodies, count, edges, most_sweeps, tolerance):
    """Sweeps, there and back, until no speed misses the law by more than `tolerance`, m/s. (sweeps, residual, visits).

    bodies.twist is that of the impulses, before and after. A contact is looked at again only once the speeds of its two
    points may have changed by a part of the tolerance since it was looked at last: heaps settle here and there, not
    everywhere at once.
    """
    sweeps, visits, body, seen, moved = 0, 0, contacts.body, contacts.seen, bodies.moved
    quiet, fine, residual = QUIET * tolerance, FINE * tolerance, np.inf
    while sweeps < most_sweeps:
        visited = 0
        for i in range(count):
            k = i if sweeps % 2 == 0 else count - 1 - i
            a, b = body[k, 0], body[k, 1]
            if moved[a] + moved[b] - seen[k] > quiet:
                visit(contacts, k, bodies, edges, fine)
                seen[k] = moved[a] + moved[b]
                visited += 1
        sweeps += 1
        visits += visited
        if visited == 0:
            residual = residual_of(contacts, bodies, count, edges)
            if residual <= tolerance:
                return sweeps, residual, visits
            quiet, fine = 0.25 * quiet, 0.25 * fine
    return sweeps, residual_of(contacts, bodies, count, edges), visits


@entry
def sweep_contacts(contacts, bodies, free, count, edges, most_sweeps, tolerance):
    """`seek_impulses` from the impulses given and the twists `free` (B + 1, 6) of no impulses. (sweeps, residual)."""
    apply_impulses(contacts, bodies, free, count)
    for i in range(bodies.moved.shape[0]):
        bodies.moved[i] = 0.0
    for k in range(count):
        contacts.seen[k] = -np.inf
    sweeps, residual, visits = seek_impulses(contacts, bodies, count, edges, most_sweeps, tolerance)
    return sweeps, residual, visits


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
def sweep_blocks(first, column, block, b, own, friction, edges, impulse, slip, most_sweeps, tolerance, share):
    """As sweep_contacts, over W in rows of blocks: first (m + 1,), column, block (N, 3, 3). (sweeps, residual).

    share: of the way to its solution that an impulse goes; less than 1 ends most rounds in a circle.
    """
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
                x_n, x_1, x_2, slip[k] = solve_contact(
                    nn, n1, n2, s11, s12, s22, f_n, f_1, f_2, friction[k], slip[k], edges, 0.0
                )
                impulse[k, 0] = p_n + share * (x_n - p_n)
                impulse[k, 1] = p_1 + share * (x_1 - p_1)
                impulse[k, 2] = p_2 + share * (x_2 - p_2)
                change = max(abs(impulse[k, 0] - p_n), abs(impulse[k, 1] - p_1), abs(impulse[k, 2] - p_2))
                changed = max(changed, nn * change)
            sweeps += 1
    return sweeps, residual
