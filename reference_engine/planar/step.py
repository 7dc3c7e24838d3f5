"""One step of DOP853 with its dense output, of bodies whose contacts hold.

It ends where its error or a force asks for that: a slack rubber band gets taut, which a step might not see if it is for
a part of it only; a profile has a corner; the drag of air has a kink.
"""

import numpy as np

from reference_engine import dop853
from reference_engine.compiler.kernels import kernel
from reference_engine.planar import layout as col
from reference_engine.planar.layout import copy
from reference_engine.planar.rows import constrained_rate, divide_active, rate
from reference_engine.planar_model import external
from reference_engine.planar_model.external import first_turn, quickest_turn, stretch_of, weight_alone

SHORTEST = 1e-14  # s, a step
AT_LENGTH = 1e-10  # m, times 1 + the band's length: a band that is neither slack nor taut
REACHED = 1e-12  # likewise, where the search for the touch ends
MOST_ITERATIONS = 500
FEW = 0.1  # of a radian of the swing on a band
PLANNED_TURN = 1.0  # rad in a step, of a force: while what it acts on sticks, no error shows how quickly it changes


@kernel
def allowed(run, y, h, c):
    """Error of component c in a step of h seconds: m, m/s, rad, rad/s."""
    return run.rule.tolerance[0] * (1.0 + abs(y[c]))


attempt_with_contacts, complete_with_contacts = dop853.steps_of(rate, allowed)


@kernel
def attempt(run, h):
    """From loop.y to loop.end in one step of h seconds; returns the error in units of the tolerance.

    The rates are left in work.stages, for `complete`; the first of them must be there.
    """
    model, loop, work, time = run.model, run.loop, run.work, run.loop.now[col.TIME]
    error = 0.0
    if loop.counters[col.ACTIVE] == 0 and weight_alone(run.forces):
        fall(model, loop.y, h, work.stages, loop.end)
    else:
        divide_active(run)
        error = attempt_with_contacts(run, work, model.free, time, loop.y, h, loop.end)
    copy(loop.end, work.landing)
    return error


@kernel
def fall(model, y, h, K, y_out):
    """The same under constant accelerations, in closed form; of the rates the first and the one at the end."""
    half = y.shape[0] // 2
    copy(y, y_out)
    extrapolate(model, y_out, K[0], h)
    for q in range(model.free.shape[0] // 2):
        c = model.free[q]
        K[dop853.STAGES, c], K[dop853.STAGES, half + c] = y_out[half + c], K[0, half + c]


@kernel
def extrapolate(model, y, rate, time):
    """The state a little later, or sooner, by Taylor's series with the accelerations in `rate`."""
    half = y.shape[0] // 2
    for q in range(model.free.shape[0] // 2):
        c = model.free[q]
        y[c] += time * (y[half + c] + 0.5 * time * rate[half + c])
        y[half + c] += time * rate[half + c]


@kernel
def complete(run, h):
    """The dense output of the last attempt, in work.dense, wherever its end has been moved since."""
    model, loop, work, time = run.model, run.loop, run.work, run.loop.now[col.TIME]
    if loop.counters[col.ACTIVE] == 0 and weight_alone(run.forces):
        dop853.write_parabola(work.stages, loop.y, work.landing, h, model.free, work.dense)
    else:
        divide_active(run)
        complete_with_contacts(run, work, model.free, time, loop.y, h, work.landing)


@kernel
def defect(run, h, x):
    """By how much the dense output fails the equations of motion at the fraction x, over the step, in units of
    tolerance.

    Its own error is about as large, or less: what it fails by is the rate at which that grows. The state there is
    left in work.foreseen, its rate in the last stage.
    """
    model, work = run.model, run.work
    y, rates = run.loop.y, work.stages[dop853.STAGES]
    dop853.dense_state(y, work.dense, x, model.free, work.foreseen)
    constrained_rate(run, run.loop.now[col.TIME] + x * h, work.foreseen, rates)
    most = 0.0
    for q in range(model.free.shape[0]):
        c = model.free[q]
        most = max(most, abs(dop853.dense_slope(work.dense, x, c) - h * rates[c]) / (1.0 + abs(y[c])))
    return most / run.rule.tolerance[0]


@kernel
def integrate(run, longest):
    """A step whose error is within the tolerance; its length [s], or -1 if there is none. The end is in loop.end."""
    forces, loop, now = run.forces, run.loop, run.loop.now
    if forces.bands.shape[0] > 0:
        now[col.STEP] = min(now[col.STEP], first_step_on_bands(forces, now[col.TIME], loop.y))
    quickest = quickest_turn(forces)
    if quickest > 0.0:
        now[col.STEP] = min(now[col.STEP], PLANNED_TURN / quickest)
    if now[col.RETURN] > now[col.TIME]:  # a touch late in a step is found more exactly than one in its midst
        longest = min(longest, now[col.RETURN] - now[col.TIME])
    if forces.air[0] != 0.0:
        h = min(now[col.STEP], longest)
        longest = min(longest, first_turn(forces, loop.y, run.work.stages[0], h, run.rule.tolerance[0]))
    while True:
        h = min(now[col.STEP], longest)
        error = attempt(run, h)
        if error <= 1.0:
            now[col.STEP] = (
                max(now[col.STEP], h * dop853.next_factor(error))
                if h < now[col.STEP]
                else h * dop853.next_factor(error)
            )
            complete(run, h)
            fraction = 2.0
            if forces.bands.shape[0] > 0:
                fraction = first_taut(run, h)
            if fraction < 1.0:
                h *= fraction
                attempt(run, h)
                complete(run, h)
            return h
        now[col.STEP] = h * min(0.9, dop853.next_factor(error)) if np.isfinite(error) else 0.1 * h
        if now[col.STEP] < SHORTEST:
            return -1.0


@kernel
def first_step_on_bands(forces, time, y):
    """The longest step [s] of bands that are about to be taut: short against their swing; infinite without one."""
    shortest = np.inf
    for b in range(forces.bands.shape[0]):
        k = forces.bands[b]
        if abs(stretch_of(forces, k, time, y)) <= AT_LENGTH * (1.0 + forces.row[k, external.LENGTH]):
            softness = 0.0
            for side in (external.HEAD, external.TAIL):
                body = forces.ids[k, external.FIRST + side]
                if body >= 0:
                    arm = forces.row[k, external.P1X + 2 * side] ** 2 + forces.row[k, external.P1Y + 2 * side] ** 2
                    softness += 1.0 / forces.mass[body, 0] + arm / forces.mass[body, 2]
            if softness > 0.0 and forces.row[k, external.STIFFNESS] > 0.0:
                shortest = min(shortest, FEW / np.sqrt(forces.row[k, external.STIFFNESS] * softness))
    return shortest


@kernel
def first_taut(run, h):
    """The fraction of the step of h seconds just made after which a slack band is taut; 2 if none is.

    Conservative advancement on the dense output: slack / fastest is too soon, never too late.
    """
    forces, time, y, work = run.forces, run.loop.now[col.TIME], run.loop.y, run.work
    first, bodies, enclosed = 2.0, y.shape[0] // 6, False
    for b in range(forces.bands.shape[0]):
        k = forces.bands[b]
        slack = -stretch_of(forces, k, time, y)
        scale = 1.0 + forces.row[k, external.LENGTH]
        if slack <= AT_LENGTH * scale:
            continue
        if not enclosed:
            dop853.enclose(y, work.dense, run.model.free, work.bernstein)
            enclosed = True
        fastest = 0.0
        for side in (external.HEAD, external.TAIL):
            body = forces.ids[k, external.FIRST + side]
            if body >= 0:
                at = 3 * (bodies + body)
                arm = np.sqrt(forces.row[k, external.P1X + 2 * side] ** 2 + forces.row[k, external.P1Y + 2 * side] ** 2)
                vx, vy = largest(work.bernstein, at), largest(work.bernstein, at + 1)
                fastest += np.sqrt(vx * vx + vy * vy) + arm * largest(work.bernstein, at + 2)
            elif side == external.HEAD:
                fastest += np.sqrt(forces.row[k, external.UX] ** 2 + forces.row[k, external.UY] ** 2)
        fraction = 0.0
        for _ in range(MOST_ITERATIONS):
            fraction += slack / max(1e-300, fastest * h)
            if fraction >= min(1.0, first):
                break
            dop853.dense_state(y, work.dense, fraction, run.model.free, work.state)
            slack = -stretch_of(forces, k, time + fraction * h, work.state)
            if slack <= REACHED * scale:
                break
        if fraction < 1.0:
            first = min(first, fraction)
    return first


@kernel
def largest(bernstein, c):
    """Of the component's size over the step."""
    most = 0.0
    for j in range(8):
        most = max(most, abs(bernstein[j, c]))
    return most
