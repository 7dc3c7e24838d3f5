"""What contact points do, and the forces that follow from it by one elimination.

Contact k has the rows 2k (normal) and 2k + 1 (tangent) of A, b, f and a = A f + b. Its mode says which of them are
equations, and what the tangential force is:

  OPEN                   f = 0, a_n >= 0
  CLOSED                   a_n = 0, no friction (smooth contacts, joints)
  STICKS                 a_n = 0, a_t = 0,                    |f_t| <= mu_s (f_n + base)
  SLIPS_PLUS, _MINUS     a_n = 0, f_t = -s mu (f_n + base),   s a_t >= 0 (s = +1, -1; no matter where it slides)
  FULL_PLUS, _MINUS      a_n = 0, f_t = -s mu_s (f_n + base), a_t = 0: as SLIPS is at rest, on the way to a solution
  SEPARATING + one of these   f_n = 0, a_n >= 0, friction as said from the base alone

A wrong mode shows itself: a force that pulls, a body that sinks in, friction beyond the cone, slip against its
direction. `inspect` lists those with the mode that each asks for.
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import kernel
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.contact_problems.elimination import eliminate, substitute

BILATERAL, SMOOTH, STICKING, SLIDING_PLUS, SLIDING_MINUS = 0, 1, 2, 3, 4  # kinds
OPEN, CLOSED, STICKS, SLIPS_PLUS, SLIPS_MINUS, FULL_PLUS, FULL_MINUS, SEPARATING = 0, 1, 2, 3, 4, 5, 6, 8  # modes

GIVEN, NOTHING, BALANCED = 0, 1, 2  # what forces begin from
ALL, WORST, FIRST = 0, 1, 2  # which of the violated contacts change at once
REFINED_ABOVE = 1e-15  # of the largest term of a: what is left of equations beyond that is refined
CORRECTIONS = 3
SOFTNESS = 1e-8  # of a contact's own A_ii


def friction_sizes(contacts: int) -> dict[str, int]:
    """Of the arrays of a friction problem and of its solution, for up to so many contacts, as the fields name them."""
    R = contacts
    return {"R": R, "2 R": 2 * R, "4 R": 4 * R, "4 R + 1": 4 * R + 1, "4 R + 2": 4 * R + 2, "8 R + 1": 8 * R + 1}


class FrictionProblem(Structure):
    """Arrays for R contacts or more; only those in use are read. A force is in N and A in 1/kg, or impulses in N s."""

    A: Array = of_shape("2 R", "2 R")  # symmetric; tangents of smooth contacts and joints are not read
    b: Array = of_shape("2 R")  # without the forces at contacts
    kind: Indices = of_shape("R")
    friction: Array = of_shape("R")  # mu, of slip
    static_friction: Array = of_shape("R")  # mu_s >= mu, of sticking
    base: Array = of_shape("R")  # >= 0, a normal force that is there already and that friction counts too


class FrictionAnswer(Structure):
    mode: Indices = of_shape("R")  # a guess goes in
    f: Array = of_shape("2 R")  # those of the last solution go in, or 0: where redundant, they change least
    a: Array = of_shape("2 R")  # 0 at tangents of smooth contacts and joints
    p: Array = of_shape("R")  # a_n per f_n of the contact alone: A_nn - s mu A_nt where it slides
    doubt: Indices = of_shape("R")  # where it slides: STEADY, PAINLEVE (p <= 0), INDETERMINATE


class FrictionWork(Structure):
    """Scratch."""

    matrix: Array = of_shape("2 R", "2 R")
    size: Array = of_shape(2, "2 R")
    right: Array = of_shape("2 R")
    x: Array = of_shape("2 R")
    columns: Indices = of_shape("2 R")  # row of A that an unknown belongs to
    rows: Indices = of_shape("2 R")
    skipped: Indices = of_shape("2 R")
    slope: Array = of_shape("R")  # f_t = slope (f_n + base)
    excess: Array = of_shape("R")  # violation in units of a
    wanted: Indices = of_shape("R")  # mode that the violation asks for
    kinetic: Indices = of_shape("R")  # 1 where slip has begun in this solution: its friction is mu, not mu_s
    guess: Indices = of_shape("R")
    saved: Indices = of_shape("R")  # modes to come back to,
    saved_f: Array = of_shape("2 R")  # and what belongs to them
    saved_a: Array = of_shape("2 R")
    state: Indices = of_shape(4)  # how far the search has come


@kernel
def save(n, mode, f, a, saved, saved_f, saved_a):
    for k in range(n):
        saved[k] = mode[k]
    for i in range(2 * n):
        saved_f[i], saved_a[i] = f[i], a[i]


@kernel
def pressing(mode):
    return OPEN < mode < SEPARATING


@kernel
def edge(sign, statically):
    """Mode of a sticking contact whose friction is at the edge of its cone, against a motion along sign."""
    if statically:
        return FULL_PLUS if sign > 0.0 else FULL_MINUS
    return SLIPS_PLUS if sign > 0.0 else SLIPS_MINUS


@kernel
def fitting(kind, differ, based, mode):
    """A mode that a contact can have, near to the one guessed; differ: mu_s > mu; based: base > 0."""
    presses, tangent = pressing(mode), mode & 7
    if kind == BILATERAL:
        return CLOSED
    if kind == SMOOTH:
        return CLOSED if presses else OPEN
    if kind == SLIDING_PLUS:
        tangent = SLIPS_PLUS
    elif kind == SLIDING_MINUS:
        tangent = SLIPS_MINUS
    elif tangent <= CLOSED or tangent > FULL_MINUS:
        tangent = STICKS
    elif tangent >= FULL_PLUS and not differ:
        tangent -= FULL_PLUS - SLIPS_PLUS
    if presses:
        return tangent
    return SEPARATING + tangent if based else OPEN


@kernel
def unknowns(problem, n, answer, work):
    """The forces that the modes leave open: joints, then what is not 0 so far, then the rest. Returns their count."""
    for k in range(n):
        tangent, slope = answer.mode[k] & 7, 0.0
        if tangent >= SLIPS_PLUS:
            slope = problem.static_friction[k] if tangent >= FULL_PLUS else problem.friction[k]
            slope = -slope if tangent in (SLIPS_PLUS, FULL_PLUS) else slope
        work.slope[k] = slope
    count = 0
    for turn in range(3):
        for k in range(n):
            if pressing(answer.mode[k]):
                joint = problem.kind[k] == BILATERAL
                if turn == (0 if joint else 1 if answer.f[2 * k] != 0.0 else 2):
                    work.columns[count] = 2 * k
                    count += 1
        for k in range(n):
            if answer.mode[k] & 7 == STICKS and turn == (1 if answer.f[2 * k + 1] != 0.0 else 2):
                work.columns[count] = 2 * k + 1
                count += 1
    return count


@kernel
def begin(problem, n, given, answer, work):
    """Forces that fit the modes, to be corrected: those given where the modes leave them open, or 0."""
    for k in range(n):
        f_n, f_t, mode, slope = answer.f[2 * k], answer.f[2 * k + 1], answer.mode[k], work.slope[k]
        f_n = f_n if given and pressing(mode) and abs(f_n) < np.inf else 0.0
        f_t = f_t if given and mode & 7 == STICKS and abs(f_t) < np.inf else 0.0
        answer.f[2 * k], answer.f[2 * k + 1] = f_n, f_t if slope == 0.0 else slope * (f_n + problem.base[k])


@kernel
def factorise_system(A, count, softness, work):
    """Equations a = 0 for the unknowns, eliminated; with softness contacts give way. Returns how many are skipped."""
    for i in range(count):
        row = work.columns[i]
        for j in range(count):
            column = work.columns[j]
            slope = work.slope[column >> 1]
            entry = A[row, column]
            work.matrix[i, j] = entry if slope == 0.0 else entry + slope * A[row, column + 1]
        work.matrix[i, i] += softness * A[row, row]
    return eliminate(work.matrix, count, work.rows, work.skipped, work.size)


@kernel
def accelerations(problem, n, f, a):
    """a = A f + b. Returns the largest term, b_i or A_ii f_i. Row j of A is the column of force j."""
    largest = 0.0
    for i in range(2 * n):
        a[i] = problem.b[i]
    for j in range(2 * n):
        if f[j] != 0.0:
            largest = max(largest, abs(problem.A[j, j] * f[j]))
            for i in range(2 * n):
                a[i] += problem.A[j, i] * f[j]
    for k in range(n):
        largest = max(largest, abs(problem.b[2 * k]))
        if problem.kind[k] >= STICKING:
            largest = max(largest, abs(problem.b[2 * k + 1]))
        else:
            a[2 * k + 1] = 0.0
    return largest


@kernel
def forces_of_modes(problem, n, start, answer, work):
    """f with a = 0 where the modes say so, and a. Returns whether unknowns may be redundant.

    Redundant unknowns stay as they begin: start GIVEN from f as it is, so that a solution changes as little as it must;
    NOTHING from 0; BALANCED from the forces of contacts that give way a little, which share what they carry.
    """
    count = unknowns(problem, n, answer, work)
    begin(problem, n, start == GIVEN, answer, work)
    redundant, soft, corrections, worst = True, False, 0, np.inf
    if start != GIVEN:
        redundant = factorise_system(problem.A, count, 0.0, work) > 0
        soft = redundant and start == BALANCED
        if soft:
            factorise_system(problem.A, count, SOFTNESS, work)
    while True:
        largest, before = accelerations(problem, n, answer.f, answer.a), worst
        worst = 0.0
        for i in range(count):
            work.right[i] = -answer.a[work.columns[i]]
            worst = max(worst, abs(work.right[i]))
        if worst <= REFINED_ABOVE * largest or (worst >= 0.5 * before and not soft) or corrections == CORRECTIONS:
            return redundant
        if corrections == 0 and start == GIVEN:
            redundant = factorise_system(problem.A, count, 0.0, work) > 0
        substitute(work.matrix, count, work.rows, work.skipped, work.right, work.x)
        for j in range(count):
            k = work.columns[j] >> 1
            answer.f[work.columns[j]] += work.x[j]
            if work.slope[k] != 0.0:
                answer.f[2 * k + 1] = work.slope[k] * (answer.f[2 * k] + problem.base[k])
        corrections += 1
        if soft:
            soft, corrections = False, 0
            factorise_system(problem.A, count, 0.0, work)


@kernel
def inspect(problem, n, allowed, answer, work):
    """By how much conditions are broken at worst; at each contact `excess`, and `wanted`: what it then asks for."""
    worst = 0.0
    for k in range(n):
        mode, kind = answer.mode[k], problem.kind[k]
        tangent, A_nn = mode & 7, problem.A[2 * k, 2 * k]
        f_n, a_n, a_t = answer.f[2 * k], answer.a[2 * k], answer.a[2 * k + 1]
        wanted, excess = mode, -a_n
        if pressing(mode):
            excess = abs(a_n) if kind == BILATERAL else max(-f_n * A_nn, abs(a_n))
            if kind != BILATERAL and (-f_n * A_nn > allowed or a_n > allowed):
                wanted = SEPARATING + tangent if problem.base[k] > 0.0 and tangent >= STICKS else OPEN
        elif excess > allowed:
            wanted = tangent if mode > SEPARATING else CLOSED
        if excess <= allowed and kind == STICKING and tangent >= STICKS:
            separating = mode & SEPARATING
            if tangent == STICKS:
                cone = problem.static_friction[k] * (f_n + problem.base[k])
                over = (abs(answer.f[2 * k + 1]) - cone) * problem.A[2 * k + 1, 2 * k + 1]
                excess = max(over, abs(a_t))
                if excess > allowed:
                    sign = -answer.f[2 * k + 1] if over > allowed else a_t
                    statically = work.kinetic[k] == 0 and problem.static_friction[k] > problem.friction[k]
                    wanted = separating + edge(sign, statically)
            else:
                along = a_t if tangent in (SLIPS_PLUS, FULL_PLUS) else -a_t
                excess = -along
                if excess > allowed:
                    wanted = separating + STICKS
                elif tangent >= FULL_PLUS and along > allowed:
                    excess, wanted = along, mode - (FULL_PLUS - SLIPS_PLUS)
        work.excess[k], work.wanted[k] = excess, wanted
        worst = max(worst, excess) if excess == excess else np.inf
    return worst


@kernel
def begins_to_slip(mode, wanted):
    return mode & 7 >= FULL_PLUS and mode - wanted == FULL_PLUS - SLIPS_PLUS


@kernel
def change_modes(n, rule, answer, work):
    """Give violated contacts the mode that they ask for; sticking is given up only where nothing else is violated."""
    mode, wanted, chosen, changes, slips = answer.mode, work.wanted, -1, 0, 0
    for k in range(n):
        if wanted[k] != mode[k]:
            changes += 1
            slips += begins_to_slip(mode[k], wanted[k])
    for k in range(n):
        if wanted[k] == mode[k] or (slips < changes and begins_to_slip(mode[k], wanted[k])):
            continue
        if slips == changes:
            work.kinetic[k] = 1
        if rule == ALL or slips == changes:
            mode[k] = wanted[k]
        elif chosen < 0 or (rule == WORST and work.excess[k] > work.excess[chosen]):
            chosen = k
    if chosen >= 0:
        mode[chosen] = wanted[chosen]
    return changes > 0
