"""Accelerations of bodies whose contacts and joints stick or slide in known modes.

Of a contact with points c1, c2 and normal n, u = v_a(c1) - v_b(c2) is the relative velocity, n . u the gap's rate.
What sticks has u' = 0, what slides n . u' + n' . u = 0 and a force N (n - mu u / |u|) (Coulomb), joints u' = 0; with

    u' = dv/dt(c1) - dv/dt(c2),   dv/dt(c) = a + alpha x r + w x (c' - v),   r = c - x,

in which c' is how the contact point moves, not the body's point there. Of forces that these equations leave open (a
box on four corners) those are taken that change least, by squares, from those which solved the laws at the last event:
so none leaves its cone at once that need not. That is the same in all axes and orders of bodies; the accelerations are
unique wherever no contact slides and spins.
"""

import numpy as np

from reference_engine.compiler.kernels import entry, kernel
from reference_engine.contact_problems.least_squares import solve_least
from reference_engine.elementary_kernels import cosine_and_sine
from reference_engine.spatial import layout as col
from reference_engine.spatial.features import measure, position_of, rotate_bodies, spin_of, velocity_at
from reference_engine.vectors import along, cross, dot, length, minus, over, plus, set_three, three, times

NO_SLIP, ONSET = 0.1, 1e4  # times the speed that is none: slower slips have the direction that they are given
NEARLY = 1e3  # times the speed that is none: a slip that is at its end
MOST_OF, BRIEF = 0.99, 1e-7  # of the time to the end of a slip a step takes; s, over which its rate is a difference
ROUNDS, SETTLED = 20, 1e-7  # in which a direction is sought, and by what it turns last: the square is round-off
ACCELERATIONS, VELOCITIES, POSITIONS = (np.int64(k) for k in range(3))  # what a system of rows is of
AXES = np.eye(3)


@kernel
def by_inertia(R, moments, a):
    """R diag(moments) R^T a, with the matrix in nine numbers."""
    x = R[0] * a[0] + R[3] * a[1] + R[6] * a[2]
    y = R[1] * a[0] + R[4] * a[1] + R[7] * a[2]
    z = R[2] * a[0] + R[5] * a[1] + R[8] * a[2]
    x, y, z = moments[0] * x, moments[1] * y, moments[2] * z
    return R[0] * x + R[1] * y + R[2] * z, R[3] * x + R[4] * y + R[5] * z, R[6] * x + R[7] * y + R[8] * z


@kernel
def fall(run, y):
    """work.rotation, and work.free_rate: without contacts (Euler's equations)."""
    model, work = run.model, run.work
    rotate_bodies(y, work.rotation)
    for i in range(model.inverse_mass.shape[0]):
        if model.inverse_mass[i] > 0.0:
            w, R = spin_of(y, i), work.rotation[i]
            torque = cross(by_inertia(R, model.inertia[i], w), w)
            set_three(work.free_rate[i], 0, three(model.gravity, 0))
            set_three(work.free_rate[i], 3, by_inertia(R, model.inverse_inertia[i], torque))
        elif model.given[i, col.MOVES] > 0.0:
            set_three(work.free_rate[i], 0, given_acceleration(model, i, run.time[col.NOW]))


@kernel
def given_acceleration(model, i, time):
    """Of a body of given motion: a - w^2 A sin(w t + phi), and what its knots add."""
    row = model.given[i]
    _, sine = cosine_and_sine(row[col.RATE] * time + row[col.PHASE])
    found = along(three(row, col.STEADY), -sine, three(row, col.SWING))
    for k in range(model.knot.shape[0]):
        if model.knot[k, 1] == i and model.knot[k, 0] <= time:
            found = plus(found, three(model.knot[k], 2))
    return found


@kernel
def acceleration_at(run, y, i, c, c_rate):
    """Rate of the velocity of body i at a point that moves at c_rate, without contact forces."""
    free, k = run.work.free_rate[i], col.BODY * i
    r, v = minus(c, three(y, k)), three(y, k + col.V)
    return plus(plus(three(free, 0), cross(three(free, 3), r)), cross(three(y, k + col.W), minus(c_rate, v)))


@kernel
def survey(run, y, candidate, out):
    """A row as of work.row: the candidate, the points on both surfaces, their relative velocity, and its free rate."""
    model, work = run.model, run.work
    measure(model, y, work.rotation, candidate, out)
    a, b = model.candidate[candidate, col.FIRST], model.candidate[candidate, col.SECOND]
    ma, mb = model.value[candidate, col.MARGIN_A], model.value[candidate, col.MARGIN_B]
    n, n_rate = three(out, col.N), three(out, col.RATE_N)
    c1, c1_rate = along(three(out, col.P1), -ma, n), along(three(out, col.RATE_P1), -ma, n_rate)
    c2, c2_rate = along(three(out, col.P2), mb, n), along(three(out, col.RATE_P2), mb, n_rate)
    set_three(out, col.C1, c1)
    set_three(out, col.C2, c2)
    set_three(out, col.U, minus(velocity_at(y, a, c1), velocity_at(y, b, c2)))
    set_three(out, col.FREE, minus(acceleration_at(run, y, a, c1, c1_rate), acceleration_at(run, y, b, c2, c2_rate)))


@kernel
def survey_active(run, y):
    fall(run, y)
    for k in range(run.active.count[0]):
        survey(run, y, run.active.candidate[k], run.work.row[k])


@kernel
def slip_direction(run, k):
    """Unit; while there is no speed as it was given, in the plane of contact, which may turn. At the end of a slip,
    which is located on the step's solution, it goes on through 0 without turning round, so that the step is smooth
    beyond it."""
    out = run.work.row[k]
    u, n = three(out, col.U), three(out, col.N)
    across = along(u, -dot(u, n), n)
    speed = length(across)
    given = speed <= (ONSET if run.active.young[k] == 1 else NO_SLIP) * run.scale[1]
    before = three(run.work.slip[k], 0)
    if given:
        before = along(before, -dot(before, n), n)
        size = length(before)
        return over(before, size) if size > 0.0 else before
    return over(across, speed if dot(across, before) >= 0.0 else -speed)


@kernel
def direct_slips(run):
    """The directions of what slides at the start of a step, where `rate` has just been asked."""
    for k in range(run.active.count[0]):
        if run.active.mode[k] == col.SLIP:
            set_three(run.active.slip[k], 0, slip_direction(run, k))
            run.active.turning[k] = run.work.turning[k]


@kernel
def time_to_stops(run, y, rates):
    """s, to just before the first of those that slide stops, unless it all but has. `rate` has just been asked here.

    The direction of a slip turns the faster the slower it is: no stage of a step may come near its end from afar.
    """
    active, work = run.active, run.work
    for c in range(y.shape[0]):
        work.state[c] = y[c] + BRIEF * rates[c]
    rotate_bodies(work.state, work.rotation)
    first = np.inf
    for k in range(active.count[0]):
        if active.mode[k] != col.SLIP or active.young[k] == 1:
            continue
        candidate, way, before = active.candidate[k], three(active.slip[k], 0), three(work.row[k], col.U)
        speed = dot(before, way)
        if speed > NEARLY * run.scale[1]:
            survey(run, work.state, candidate, work.row[k])
            slows = dot(minus(before, three(work.row[k], col.U)), way) / BRIEF
            if slows > 0.0:
                first = min(first, MOST_OF * speed / slows)
    return first


@kernel
def write_row(run, y, m, k, e, f):
    """Row m: of contact k, along e; its force is along f."""
    model, work = run.model, run.work
    candidate = run.active.candidate[k]
    for end in range(2):
        i = model.candidate[candidate, col.FIRST if end == 0 else col.SECOND]
        sign, at = (1.0, three(work.row[k], col.C1)) if end == 0 else (-1.0, three(work.row[k], col.C2))
        r = minus(at, position_of(y, i))
        set_three(work.jacobian[m], 6 * end, times(sign, e))
        set_three(work.jacobian[m], 6 * end + 3, times(sign, cross(r, e)))
        torque = times(sign, cross(r, f))
        set_three(work.column[m], 6 * end, times(sign * model.inverse_mass[i], f))
        set_three(work.column[m], 6 * end + 3, by_inertia(work.rotation[i], model.inverse_inertia[i], torque))


@kernel
def follows_acceleration(run, k):
    """Whether contact k has just begun to slide, so slowly that its direction is that of its acceleration.

    A speed u turns there within u / (mu N / m), which no step could follow. What is left out, the turning of the
    direction itself, changes speeds by it times the way.
    """
    if run.active.young[k] == 0 or run.active.mode[k] != col.SLIP:
        return False
    u, n = three(run.work.row[k], col.U), three(run.work.row[k], col.N)
    return length(along(u, -dot(u, n), n)) <= ONSET * run.scale[1]


@kernel
def rows_of(run, k, what):
    """How many rows an active contact or joint has."""
    if run.model.candidate[run.active.candidate[k], col.KIND] == col.JOINT:
        return 3
    if what == ACCELERATIONS and follows_acceleration(run, k):
        return 2
    return 3 if run.active.mode[k] == col.STICK and what != POSITIONS else 1


@kernel
def direction_of_row(run, k, r, rows):
    """Unit: the normal, then of what begins to slide across its slip; or an axis."""
    if rows == 3:
        return AXES[r, 0], AXES[r, 1], AXES[r, 2]
    n = three(run.work.row[k], col.N)
    if r == 0:
        return n
    way = cross(n, three(run.work.slip[k], 0))
    return over(way, length(way))


@kernel
def write_rows(run, y, what, island):
    """All rows of an island's contacts and joints, and minus what they are to undo on the right; returns how many."""
    work, count = run.work, 0
    for k in range(run.active.first[island], run.active.first[island + 1]):
        out, candidate = work.row[k], run.active.candidate[k]
        n, rows = three(out, col.N), rows_of(run, k, what)
        for r in range(rows):
            e = direction_of_row(run, k, r, rows)
            f = e
            if what == ACCELERATIONS:
                wanted = dot(e, three(out, col.FREE))
                if rows < 3 and r == 0:
                    wanted += dot(three(out, col.RATE_N), three(out, col.U))
                    f = along(n, -run.model.value[candidate, col.FRICTION], slip_direction(run, k))
            elif what == VELOCITIES:
                wanted = dot(e, three(out, col.U))
            elif rows == 1:
                wanted = out[col.GAP]
            else:
                wanted = dot(e, minus(three(out, col.P1), three(out, col.P2)))
            write_row(run, y, count, k, e, f)
            work.weight[count] = run.active.weight[k] if rows == 3 and what == ACCELERATIONS else 1.0
            work.solution[count] = -wanted
            count += 1
    return count


@kernel
def couple(run, i, j, rows, columns, ki, kj):
    """Adds to work.M, from row i and column j on, how the rows of contact ki are accelerated by a unit of the force of
    each row of contact kj, through the moving bodies that both have."""
    model, work = run.model, run.work
    ci, cj = run.active.candidate[ki], run.active.candidate[kj]
    for p in range(2):
        body = model.candidate[ci, col.FIRST if p == 0 else col.SECOND]
        if model.inverse_mass[body] == 0.0:
            continue
        for q in range(2):
            if model.candidate[cj, col.FIRST if q == 0 else col.SECOND] != body:
                continue
            for r in range(i, i + rows):
                for s in range(j, j + columns):
                    total = 0.0
                    for c in range(6):
                        total += work.jacobian[r, 6 * p + c] * work.column[s, 6 * q + c]
                    work.M[r, s] += total


@kernel
def write_system(run, y, what, island):
    """work.M, its right side in its last column; returns the number of rows."""
    work, first, last = run.work, run.active.first[island], run.active.first[island + 1]
    rows = write_rows(run, y, what, island)
    i = 0
    for ki in range(first, last):
        own = rows_of(run, ki, what)
        for r in range(i, i + own):
            for j in range(rows):
                work.M[r, j] = 0.0
            work.M[r, rows] = work.solution[r]
        j = 0
        for kj in range(first, last):
            others = rows_of(run, kj, what)
            couple(run, i, j, own, others, ki, kj)
            j += others
        if own == 2:
            write_turn(run, i + 1, rows, work.turning[ki])
        i += own
    return rows


@kernel
def write_turn(run, i, rows, turning):
    """Row i of work.M, of the acceleration across a slip: what turns the slip turns what is across it, too."""
    M = run.work.M
    if turning < 0.0:
        for j in range(rows + 1):
            M[i, j] = 0.0
        M[i, i] = 1.0
    else:
        M[i, i] += turning


@kernel
def rate(run, time, y, out):
    """Of the state, with the forces of the active contacts, which are left in work.force."""
    run.time[col.NOW] = min(time, run.time[col.BEFORE_JUMP])
    survey_active(run, y)
    for k in range(run.active.count[0]):  # so that what comes out is that of this state alone
        set_three(run.work.slip[k], 0, three(run.active.slip[k], 0))
        run.work.turning[k] = run.active.turning[k]
    for i in range(run.model.inverse_mass.shape[0]):
        write_rates(run, y, i, out)
    for island in range(run.active.count[1]):
        for _ in range(ROUNDS):
            rows = write_system(run, y, ACCELERATIONS, island)
            from_sought(run, island, rows, -1.0)
            solve_least(run.work.M, run.work.solution, run.work.weight, run.work.order, rows)
            from_sought(run, island, rows, 1.0)
            for k in range(run.active.first[island], run.active.first[island + 1]):
                ids = run.model.candidate[run.active.candidate[k]]
                write_rates(run, y, ids[col.FIRST], out)
                write_rates(run, y, ids[col.SECOND], out)
            add_forces(run, island, out)
            if turn_slips(run, y, island, out) <= SETTLED:
                break


@kernel
def from_sought(run, island, rows, sign):
    """The forces that were sought at the last event, taken out of the system (-1) or added to its solution (1)."""
    work, j = run.work, 0
    for k in range(run.active.first[island], run.active.first[island + 1]):
        n, along_n, across = three(work.row[k], col.N), run.active.sought[k, 0], three(run.active.sought[k], 1)
        given = across
        if run.model.candidate[run.active.candidate[k], col.KIND] != col.JOINT:
            given = along(along(across, -dot(across, n), n), along_n, n)
        count = rows_of(run, k, ACCELERATIONS)
        for r in range(count):
            force = given[r] if count == 3 else along_n * (r == 0)  # none across a slip
            if sign > 0.0:
                work.solution[j] += force
            elif force != 0.0:
                for i in range(rows):
                    work.M[i, rows] -= force * work.M[i, j]
            j += 1


@kernel
def turn_slips(run, y, island, out):
    """Of what has just begun to slide, the direction turns to that of its acceleration; returns by how much.

    Newton's method: the system has the acceleration across the slip as none, with friction across it as an unknown,
    which turns the slip. Infinite in the first round, in which nothing turns.
    """
    work, active, most, m = run.work, run.active, 0.0, 0
    for k in range(active.first[island], active.first[island + 1]):
        rows = rows_of(run, k, ACCELERATIONS)
        friction = run.model.value[active.candidate[k], col.FRICTION] * work.solution[m]
        if rows == 2 and friction > 0.0:
            way, aside = slip_direction(run, k), work.solution[m + 1] / friction
            first = work.turning[k] < 0.0
            work.turning[k] = max(dot(way, acceleration_of(run, y, k, out)), 0.0) / friction
            way = along(way, -aside, direction_of_row(run, k, 1, rows))
            set_three(work.slip[k], 0, over(way, length(way)))
            most = max(most, np.inf if first else abs(aside))
        m += rows
    return most


@kernel
def acceleration_of(run, y, k, out):
    """u' of active contact k."""
    model, row = run.model, run.work.row[k]
    a = three(row, col.FREE)
    for end in range(2):
        i = model.candidate[run.active.candidate[k], col.FIRST if end == 0 else col.SECOND]
        sign, at = (1.0, three(row, col.C1)) if end == 0 else (-1.0, three(row, col.C2))
        c = col.BODY * i
        speeds = minus(three(out, c + col.V), three(run.work.free_rate[i], 0))
        spins = minus(three(out, c + col.W), three(run.work.free_rate[i], 3))
        a = along(a, sign, plus(speeds, cross(spins, minus(at, position_of(y, i)))))
    return a


@kernel
def write_rates(run, y, i, out):
    """Of body i, without contacts."""
    k = col.BODY * i
    for c in range(6):
        out[k + col.V + c] = run.work.free_rate[i, c]
    set_three(out, k, three(y, k + col.V))
    w, q = three(y, k + col.W), three(y, k + col.Q + 1)
    scalar = y[k + col.Q]
    out[k + col.Q] = -0.5 * dot(w, q)
    set_three(out, k + col.Q + 1, times(0.5, along(cross(w, q), scalar, w)))


@kernel
def add_forces(run, island, out):
    """To accelerations; and work.force."""
    model, work, active = run.model, run.work, run.active
    m = 0
    for k in range(active.first[island], active.first[island + 1]):
        candidate, total = active.candidate[k], (0.0, 0.0, 0.0)
        rows = rows_of(run, k, ACCELERATIONS)
        for r in range(rows):
            x = work.solution[m]
            if rows < 3 and r == 0:
                direction = slip_direction(run, k)
                n = three(work.row[k], col.N)
                total = along(total, x, along(n, -model.value[candidate, col.FRICTION], direction))
            else:
                total = along(total, x, direction_of_row(run, k, r, rows))
            add_column(run, m, candidate, x, col.V, out)
            m += 1
        set_three(work.force[k], 0, total)


@kernel
def add_column(run, m, candidate, x, first, out):
    """To six numbers of both bodies from column `first` on."""
    for end in range(2):
        i = run.model.candidate[candidate, col.FIRST if end == 0 else col.SECOND]
        for c in range(6):
            out[col.BODY * i + first + c] += x * run.work.column[m, 6 * end + c]


@kernel
def project(run, y):
    """Moves the state on to its constraints: gaps and joints, then velocities; unit quaternions."""
    model, work, active = run.model, run.work, run.active
    for body in range(model.inverse_mass.shape[0]):
        q = y[col.BODY * body + col.Q : col.BODY * body + col.V]
        size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        for c in range(4):
            q[c] /= size
    if active.count[0] == 0:
        return
    for what in (POSITIONS, VELOCITIES):
        survey_active(run, y)
        for island in range(active.count[1]):
            rows = write_system(run, y, what, island)
            solve_least(work.M, work.solution, work.weight, work.order, rows)
            m = 0
            for k in range(active.first[island], active.first[island + 1]):
                for _ in range(rows_of(run, k, what)):
                    if what == VELOCITIES:
                        add_column(run, m, active.candidate[k], work.solution[m], col.V, y)
                    else:
                        shift(run, m, active.candidate[k], work.solution[m], y)
                    m += 1


@kernel
def shift(run, m, candidate, x, y):
    """Both bodies by x times the row's column, a small motion."""
    for end in range(2):
        i = run.model.candidate[candidate, col.FIRST if end == 0 else col.SECOND]
        k, move = col.BODY * i, run.work.column[m]
        set_three(y, k, along(three(y, k), x, three(move, 6 * end)))
        o, q, scalar = times(0.5 * x, three(move, 6 * end + 3)), three(y, k + col.Q + 1), y[k + col.Q]
        y[k + col.Q] = scalar - dot(o, q)
        set_three(y, k + col.Q + 1, along(plus(q, cross(o, q)), scalar, o))


@entry
def rate_entry(run, y, out):
    """`rate` at a state that is not one of the work's."""
    rate(run, run.time[col.START], y, out)


@entry
def project_entry(run, y):
    project(run, y)


@entry
def survey_entry(run, y, candidates, rows):
    """rows (n, ROW) of these candidates (n,)."""
    fall(run, y)
    for k in range(candidates.shape[0]):
        survey(run, y, candidates[k], rows[k])
