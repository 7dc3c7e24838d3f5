"""One step of DOP853 with its dense output, of bodies whose contacts hold."""

from reference_engine.compiler.kernels import kernel
from reference_engine.dop853 import (
    STAGES,
    C,
    dense_slope,
    dense_state,
    error_of,
    stage,
    write_dense,
    write_parabola,
)
from reference_engine.planar.islands import divide
from reference_engine.planar.layout import copy
from reference_engine.planar.rows import constrained_rate, rate_with
from reference_engine.planar_model.external import weight_alone


@kernel
def attempt(model, forces, time, contacts, n, work, y, h, tolerance, y_out):
    """y(h) from y(0) in one step with the first n contacts held; returns the error in units of the tolerance.

    The rates are left in work.stages, for `complete`; the first of them, work.stages[0], is there from `start`.
    """
    if n == 0 and weight_alone(forces):
        fall(model, y, h, work.stages, y_out)
        copy(y_out, work.landing)
        return 0.0
    K, islands = work.stages, divide(model, contacts, n, work) if n > 0 else 0
    for s in range(1, STAGES):
        stage(y, h, s, K, model.free, work.state)
        rate_with(model, forces, time + C[s] * h, work.state, contacts, n, islands, work, K[s])
    stage(y, h, STAGES, K, model.free, y_out)
    rate_with(model, forces, time + h, y_out, contacts, n, islands, work, K[STAGES])
    copy(y_out, work.landing)
    return error_of(K, y, h, model.free, tolerance, 1.0)


@kernel
def fall(model, y, h, K, y_out):
    """The same under constant accelerations, in closed form; of the rates the first and the one at the end."""
    half = y.shape[0] // 2
    for q in range(model.free.shape[0] // 2):
        c = model.free[q]
        y_out[c] = y[c] + h * (y[half + c] + 0.5 * h * K[0, half + c])
        y_out[half + c] = K[STAGES, c] = y[half + c] + h * K[0, half + c]
        K[STAGES, half + c] = K[0, half + c]


@kernel
def start(model, forces, time, contacts, n, work, y):
    """Once before all attempts from the same state."""
    constrained_rate(model, forces, time, y, contacts, n, work, work.stages[0])


@kernel
def complete(model, forces, time, contacts, n, work, y, h):
    """The dense output of the last attempt, in work.dense, wherever its end has been moved since."""
    if n == 0 and weight_alone(forces):
        write_parabola(work.stages, y, work.landing, h, model.free, work.dense)
        return
    K, islands = work.stages, divide(model, contacts, n, work) if n > 0 else 0
    for s in range(STAGES + 1, 16):
        stage(y, h, s, K, model.free, work.state)
        rate_with(model, forces, time + C[s] * h, work.state, contacts, n, islands, work, K[s])
    write_dense(K, y, work.landing, h, model.free, work.dense)


@kernel
def defect(model, forces, time, contacts, n, work, y, h, x, tolerance, rate_out):
    """By how much the dense output fails the equations of motion at the fraction x, over the step, in units of
    tolerance.

    Its own error is about as large, or less: what it fails by is the rate at which that grows. The state there is
    left in work.foreseen.
    """
    dense_state(y, work.dense, x, model.free, work.foreseen)
    constrained_rate(model, forces, time + x * h, work.foreseen, contacts, n, work, rate_out)
    most = 0.0
    for q in range(model.free.shape[0]):
        c = model.free[q]
        most = max(most, abs(dense_slope(work.dense, x, c) - h * rate_out[c]) / (1.0 + abs(y[c])))
    return most / tolerance
