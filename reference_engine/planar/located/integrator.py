"""One step of DOP853 with its dense output, of bodies whose places hold."""

from reference_engine.dop853 import STAGES, C, error_of, stage, write_dense
from reference_engine.geometry.kernels import kernel
from reference_engine.planar.located.islands import divide
from reference_engine.planar.located.layout import copy
from reference_engine.planar.located.rows import held_rate, rate_with


@kernel
def attempt(solids, forces, time, places, n, work, y, h, tolerance, y_out):
    """y(h) from y(0) in one step with the first n places held; returns the error in units of the tolerance.

    The rates are left in work.stages, for `complete`; the first of them, work.stages[0], is there from `start`.
    """
    K, islands = work.stages, divide(solids, places, n, work) if n > 0 else 0
    for s in range(1, STAGES):
        stage(y, h, s, K, solids.free, work.state)
        rate_with(solids, forces, time + C[s] * h, work.state, places, n, islands, work, K[s])
    stage(y, h, STAGES, K, solids.free, y_out)
    rate_with(solids, forces, time + h, y_out, places, n, islands, work, K[STAGES])
    copy(y_out, work.landing)
    return error_of(K, y, h, solids.free, tolerance, 1.0)


@kernel
def start(solids, forces, time, places, n, work, y):
    """Once before all attempts from the same state."""
    held_rate(solids, forces, time, y, places, n, work, work.stages[0])


@kernel
def complete(solids, forces, time, places, n, work, y, h):
    """The dense output of the last attempt, in work.dense, wherever its end has been moved since."""
    K, islands = work.stages, divide(solids, places, n, work) if n > 0 else 0
    for s in range(STAGES + 1, 16):
        stage(y, h, s, K, solids.free, work.state)
        rate_with(solids, forces, time + C[s] * h, work.state, places, n, islands, work, K[s])
    write_dense(K, y, work.landing, h, solids.free, work.dense)
