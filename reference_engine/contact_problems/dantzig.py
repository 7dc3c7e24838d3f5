"""Contact forces by Baraff's method: 0 <= f  perp  a = A f + b >= 0, and a = 0, f free at joints.

Baraff 1994 (SIGGRAPH 94, "Fast contact force computation for nonpenetrating rigid bodies"), sec. 4, after
Dantzig: contacts are taken in one at a time. A contact is driven to a = 0 while the clamped ones, C, stay at
a = 0, and one whose force would turn negative is let go. Joints are clamped first, have forces of either sign and
never leave. One thing is not as in Baraff: contacts without a force may be violated meanwhile, and the worst one is
driven next. So walked, it is the dual method of Goldfarb & Idnani 1983 (Math. Programming 27) on Gauss's least
constraint: every contact driven home raises the same objective, hence it ends, redundant contacts or not.

Redundancy. The rows that are clamped are independent, always: so the factor is regular. Of a contact d,
`schur` = A_dd - A_dC A_CC^-1 A_Cd says what of its own it adds to C.
  above NEARLY_DEPENDENT   it is clamped
  below NOISE              nothing: no force at d changes a_d. It takes over from a clamped contact that blocks the
                           way; if nothing blocks, y = (-A_CC^-1 A_Cd, 1) >= 0 has A y = 0 and y . b = a_d < 0, and
                           no forces exist
  between                  it is deferred (SET_ASIDE, without force) if a_d is within the tolerance, else clamped;
                           it is looked at again as soon as a contact leaves C
The numbers are parts of A_dd + sum A_cc x_c^2, the size of what cancels, so that units and masses do not matter.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contact_problems.elimination import drop_row, factorise, substitute_back, substitute_forward

SOLVED, INFEASIBLE, NOT_CONVERGED, INDEFINITE = 0, 1, 2, 3
FREE, CLAMPED, SET_ASIDE, BILATERAL, LOOSE = 0, 1, 2, 3, 4  # a loose joint is not clamped, because others do its work

TOLERANCE = 1e-9  # times max(1, |b|), m/s^2: what a solution must reach
WITHIN = 0.25  # of the tolerance: a deferred contact may be violated by so much
VISIBLE = 1e-13  # times max(1, |b|): a lesser violation is round-off and drives nothing
NEARLY_DEPENDENT = 1e-11
NOISE = 3e-14
NEGLIGIBLE = 1e-20  # of the largest A_ii: what no force in the world moves
INDEFINITE_BELOW = 1e-9  # of the size: a stiffness as negative as that is no round-off
REFINED_ABOVE, DRIFT = 1e-15, 1e-12  # of the largest term of a: clamped accelerations further from 0 are refined
ATTEMPTS = 3
REBUILDS = 3  # and one for each four rows: from then on drift is left to the check at the end


@kernel
def drive_direction(A, clamped, count, d, negligible, factor, direction):
    """How the clamped forces answer a unit of f_d:  A_CC x = -A_Cd. Returns d a_d / d f_d and the size.

    Leaves in row `count` of the factor what that row becomes if d is clamped next, its diagonal apart.
    """
    for row in range(count):
        direction[row] = -A[d, clamped[row]]
    substitute_forward(factor, count, direction)
    schur = A[d, d]
    for row in range(count):
        factor[count, row] = -direction[row]
        schur -= direction[row] * direction[row]
    substitute_back(factor, count, direction)
    size = A[d, d]
    for row in range(count):
        size += A[clamped[row], clamped[row]] * direction[row] * direction[row]
    return (0.0 if A[d, d] <= negligible else schur), size


@kernel
def add_forces(clamped, count, step, direction, status, f):
    """f += step * direction on the clamped rows; contacts do not pull."""
    for k in range(count):
        c = clamped[k]
        f[c] += step * direction[k]
        if status[c] != BILATERAL:
            f[c] = max(0.0, f[c])


@kernel
def settle(A, b, n, clamped, count, drift, factor, direction, status, a, f):
    """a = A f + b; where the clamped rows have drifted from a = 0, forces are refined, twice at most.

    Returns whether they are there now. A is symmetric: its row j is the column of force j.
    """
    for refinements in range(3):
        largest = 1.0
        for i in range(n):
            a[i] = b[i]
            largest = max(largest, abs(b[i]), abs(A[i, i] * f[i]))
        for j in range(n):
            if f[j] != 0.0:
                for i in range(n):
                    a[i] += A[j, i] * f[j]
        worst = 0.0
        for k in range(count):
            direction[k] = -a[clamped[k]]
            worst = max(worst, abs(direction[k]))
        if worst <= drift * largest or refinements == 2:
            break
        substitute_forward(factor, count, direction)
        substitute_back(factor, count, direction)
        add_forces(clamped, count, 1.0, direction, status, f)
    return worst <= 10.0 * drift * largest


@kernel
def let_go(n, clamped, k, count, factor, status, f):
    """Clamped contact k leaves; contacts set aside because of what was clamped are looked at again."""
    f[clamped[k]] = 0.0
    status[clamped[k]] = FREE
    drop_row(factor, clamped, k, count)
    for i in range(n):
        if status[i] == SET_ASIDE:
            status[i] = FREE


@kernel
def rebuild(A, b, n, clamped, bilateral_count, count, threshold, negligible, factor, direction, status, f):
    """Factor and forces of the clamped rows anew; contacts that pull leave, and rows that depend on others.

    Rows before `bilateral_count` are joints and stay. Returns the count.
    """
    kept = factorise(A, clamped, bilateral_count, count, threshold, negligible, factor)
    for k in range(kept, count):
        f[clamped[k]] = 0.0
        status[clamped[k]] = LOOSE if status[clamped[k]] == BILATERAL else FREE
    count = kept
    while True:
        for k in range(count):
            f[clamped[k]] = 0.0
        for k in range(count):
            direction[k] = -b[clamped[k]]
            for i in range(n):
                direction[k] -= A[clamped[k], i] * f[i]
        substitute_forward(factor, count, direction)
        substitute_back(factor, count, direction)
        pulling, lowest = np.int64(-1), 0.0
        for k in range(count):
            f[clamped[k]] = direction[k]
            if status[clamped[k]] != BILATERAL and direction[k] < lowest:
                pulling, lowest = np.int64(k), direction[k]
        if pulling < 0:
            return count
        let_go(n, clamped, pulling, count, factor, status, f)
        count -= 1


@kernel
def violation(n, status, a, f):
    """The worst of -a_i, of |a_i| where there is a force, and of |a_i| at joints [m/s^2]."""
    worst = 0.0
    for i in range(n):
        worst = max(worst, -a[i])
        if status[i] >= BILATERAL or f[i] > 0.0:
            worst = max(worst, abs(a[i]))
    return worst


@kernel
def next_to_drive(n, visible, allowed, by_index, status, a):
    """The contact that is violated most (or the first one); if there is none, a loose joint; or -1."""
    driven, lowest = np.int64(-1), -visible
    for i in range(n):
        if status[i] == FREE and a[i] < lowest:
            driven, lowest = np.int64(i), a[i]
            if by_index:
                return driven
    if driven < 0:
        most = 0.5 * allowed
        for i in range(n):
            if status[i] == LOOSE and abs(a[i]) > most:
                driven, most = np.int64(i), abs(a[i])
    return driven


@kernel
def first_to_stop(clamped, count, sign, direction, status, f):
    """Along sign * direction: the clamped contact whose force is zero first, and after how far; -1 if none is."""
    steepest, longest, blocking = 0.0, np.inf, np.int64(-1)
    for k in range(count):
        if status[clamped[k]] != BILATERAL:
            steepest = max(steepest, -sign * direction[k])
    for k in range(count):
        fall = -sign * direction[k]
        if status[clamped[k]] != BILATERAL and fall > 1e-12 * steepest and f[clamped[k]] < longest * fall:
            longest, blocking = f[clamped[k]] / fall, np.int64(k)
    return blocking, longest


@kernel
def drive(A, n, d, nearly, allowed, negligible, clamped, count, limit, factor, direction, status, a, f):
    """Drive row d to a_d = 0 while the clamped rows stay there. Returns (outcome, count, pivots).

    NOT_CONVERGED is as it should be: d is clamped, or set aside, and the walk goes on.
    """
    pivots, idle = 0, np.int64(-1)
    sign = -1.0 if a[d] > 0.0 else 1.0  # only a joint is driven down
    while pivots < limit:
        pivots += 1
        schur, size = drive_direction(A, clamped, count, d, negligible, factor, direction)
        if schur < -INDEFINITE_BELOW * size:
            return INDEFINITE, count, pivots
        if idle >= 0:  # it made space for d, which is at rest already
            if schur <= NOISE * size:
                break
            status[idle] = SET_ASIDE
            blocking, longest, step = np.int64(-1), np.inf, 0.0
        else:
            blocking, longest = first_to_stop(clamped, count, sign, direction, status, f)
            step = np.inf if schur <= NOISE * size else abs(a[d]) / schur
        if step < longest or blocking < 0:
            if status[d] == FREE and idle < 0 and schur <= nearly * size:
                # d and C are one redundant set, one of which must do without force: what violates it then?
                ending, back = first_to_stop(clamped, count, -1.0, direction, status, f)
                if ending >= 0 and back < f[d] and -a[d] <= WITHIN * allowed * direction[ending]:
                    add_forces(clamped, count, -back, direction, status, f)
                    f[d] -= back
                    idle = clamped[ending]
                    let_go(n, clamped, ending, count, factor, status, f)
                    count -= 1
                    continue
                if (ending < 0 or back >= f[d]) and -a[d] <= WITHIN * allowed:
                    add_forces(clamped, count, -f[d], direction, status, f)
                    break
            if step == np.inf:
                return INFEASIBLE, count, pivots
            add_forces(clamped, count, sign * step, direction, status, f)
            f[d] += sign * step
            status[d] = BILATERAL if status[d] == LOOSE else CLAMPED
            clamped[count] = d
            factor[count, count] = np.sqrt(schur)
            return NOT_CONVERGED, count + 1, pivots
        add_forces(clamped, count, sign * longest, direction, status, f)
        f[d] += sign * longest
        a[d] += sign * longest * max(schur, 0.0)
        let_go(n, clamped, blocking, count, factor, status, f)
        count -= 1
    if status[d] == FREE:
        f[d] = 0.0
        status[d] = SET_ASIDE
    return NOT_CONVERGED, count, pivots


@entry
def solve_with_bilateral(A, b, n, tolerance, factor, direction, clamped, status, a, f):
    """The first n rows of A and b; `status` says BILATERAL where a = 0 is wanted. f and a come out, nothing is
    allocated.

    Solved is what violates nothing by more than tolerance max(1, |b|). Returns (outcome, violation [m/s^2], count of
    clamped rows, last driven, pivots). An INFEASIBLE outcome leaves its certificate y: `direction` over the clamped
    rows and 1 at the last driven, times -sign(a) of that one.

    The first attempt takes in whatever is above the noise. The second one defers what is nearly dependent, and sees to
    what is violated in earnest only; so does the third, which goes by the least index instead of the worst violation.
    """
    scale, negligible, pivots = 1.0, 0.0, 0
    for i in range(n):
        scale = max(scale, abs(b[i]))
        negligible = max(negligible, NEGLIGIBLE * A[i, i])
    allowed = tolerance * scale
    outcome, count, driven = NOT_CONVERGED, np.int64(0), np.int64(-1)
    for attempt in range(ATTEMPTS):
        outcome, count, driven = NOT_CONVERGED, np.int64(0), np.int64(-1)
        for i in range(n):
            f[i] = 0.0
            status[i] = BILATERAL if status[i] >= BILATERAL else FREE
            if status[i] == BILATERAL:
                clamped[count] = i
                count += 1
        nearly = NOISE if attempt == 0 else NEARLY_DEPENDENT
        visible = VISIBLE * scale if attempt == 0 else WITHIN * allowed
        bilateral_count, rebuilds, anew, drift = np.int64(-1), 0, True, DRIFT
        limit = pivots + 100 + 20 * n
        while pivots < limit:
            if anew:
                count = rebuild(
                    A, b, n, clamped, max(bilateral_count, 0), count, nearly, negligible, factor, direction, status, f
                )
                bilateral_count = count if bilateral_count < 0 else bilateral_count  # the joints, at first
                pivots += count
            anew = not settle(A, b, n, clamped, count, drift, factor, direction, status, a, f) and drift == DRIFT
            if anew and rebuilds < REBUILDS + n // 4:
                rebuilds += 1
                continue
            anew = False
            driven = next_to_drive(n, visible, allowed, attempt == 2, status, a)
            if driven >= 0:
                drift = DRIFT
                outcome, count, more = drive(
                    A, n, driven, nearly, allowed, negligible, clamped, count, limit, factor, direction, status, a, f
                )
                pivots += more
                if outcome != NOT_CONVERGED:
                    break
            elif drift == DRIFT:  # all done: once more, to round-off
                drift = REFINED_ABOVE
            elif violation(n, status, a, f) <= allowed:
                outcome = SOLVED
                break
            elif rebuilds < REBUILDS + n // 4:
                rebuilds += 1
                anew, drift = True, DRIFT
            else:
                break
        if outcome in (SOLVED, INDEFINITE) or (outcome == INFEASIBLE and attempt > 0):
            break
    return outcome, violation(n, status, a, f), count, driven, pivots
