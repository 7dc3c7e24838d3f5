"""One step of DOP853 with its dense output, of bodies whose places hold."""

import numpy as np

from reference_engine.dop853 import STAGES, C, error_of, stage, write_dense
from reference_engine.geometry.kernels import kernel
from reference_engine.planar.located.rows import held_rate


@kernel
def attempt(solids, forces, time, places, n, work, y, h, tolerance, y_out):
    """y(h) from y(0) in one step with the first n places held; returns the error in units of the tolerance.

    Leaves the dense output in work.dense.
    """
    K = work.stages
    held_rate(solids, forces, time, y, places, n, work, K[0])
    for s in range(1, STAGES):
        stage(y, h, s, K, work.state)
        held_rate(solids, forces, time + C[s] * h, work.state, places, n, work, K[s])
    stage(y, h, STAGES, K, y_out)
    held_rate(solids, forces, time + h, y_out, places, n, work, K[STAGES])
    error = error_of(K, y, h, tolerance, 1.0)
    if error == np.inf:
        return error
    for s in range(STAGES + 1, 16):
        stage(y, h, s, K, work.state)
        held_rate(solids, forces, time + C[s] * h, work.state, places, n, work, K[s])
    write_dense(K, y, y_out, h, work.dense)
    return error
