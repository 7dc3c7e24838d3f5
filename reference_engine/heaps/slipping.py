"""Friction against the slip of the middle of a step in both of its lines, also where the slip turns.

The first line of a step takes the slip half-way. If the second took that of the end, friction would act along the slip
at 3/4 of the step on the mean, and a slip that turns at a rate w would be h w / 4 off: order 1. So the second line is
told how much the slip has turned since the middle, as a bias of its slip.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.cone_sweeps import BIAS, FRAME, FRICTION
from reference_engine.heaps.contacts import parting

TURNS = 0.25  # rad in half a step: a slip that turns more is about to stop, and the second line finds where it goes


@kernel
def undo_turn(count, start, now, flow, contacts, bodies):
    """Sets the slip biases of the second line: less the turn of the slip in half a step, taken from the first half.

    start, now: the poses where the step began, and where it led; bodies.twist is still that of the middle. The change
    along the slip is left: it does not turn friction.
    """
    for k in range(count):
        c, i = contacts.row[k], contacts.candidate[k]
        if c[FRICTION] == 0.0 or start.sharp[i] == 0 or start.found[i, 0] == np.inf:
            continue
        a, b = contacts.body[k, 0], contacts.body[k, 1]
        u, v, w = parting(start.found, i, a, b, start.position, bodies.twist)
        x, y, z = parting(now.found, i, a, b, now.position, bodies.twist)
        u, v, w = 0.5 * (u + x), 0.5 * (v + y), 0.5 * (w + z)
        x, y, z = parting(start.found, i, a, b, start.position, flow.start)
        s = c[FRAME + 3] * u + c[FRAME + 4] * v + c[FRAME + 5] * w
        t = c[FRAME + 6] * u + c[FRAME + 7] * v + c[FRAME + 8] * w
        p = s - c[FRAME + 3] * x - c[FRAME + 4] * y - c[FRAME + 5] * z
        q = t - c[FRAME + 6] * x - c[FRAME + 7] * y - c[FRAME + 8] * z
        square = s * s + t * t
        if square > 0.0:
            turn = (s * q - t * p) / square
            if abs(turn) < TURNS:
                c[BIAS + 1], c[BIAS + 2] = turn * t, -turn * s
