"""Rubber bands that are slack: a step might not see that one is taut for a part of it, so it ends where that begins."""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.dop853 import dense_state, enclose
from reference_engine.planar_model import external
from reference_engine.planar_model.external import stretch_of

AT_LENGTH = 1e-10  # m, times 1 + the band's length: a band that is neither slack nor taut
REACHED = 1e-12  # likewise, where the search for the place ends
MOST_ITERATIONS = 500
FEW = 0.1  # of a radian of the swing on a band


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
def first_taut(forces, time, h, y, free, work):
    """The fraction of the step just made after which a slack band is taut; 2 if none is.

    Conservative advancement on the dense output: slack / fastest is too soon, never too late.
    """
    first, bodies, enclosed = 2.0, y.shape[0] // 6, False
    for b in range(forces.bands.shape[0]):
        k = forces.bands[b]
        slack = -stretch_of(forces, k, time, y)
        scale = 1.0 + forces.row[k, external.LENGTH]
        if slack <= AT_LENGTH * scale:
            continue
        if not enclosed:
            enclose(y, work.dense, free, work.bernstein)
            enclosed = True
        fastest = 0.0
        for side in (external.HEAD, external.TAIL):
            body = forces.ids[k, external.FIRST + side]
            if body >= 0:
                at = 3 * (bodies + body)
                arm = np.sqrt(forces.row[k, external.P1X + 2 * side] ** 2 + forces.row[k, external.P1Y + 2 * side] ** 2)
                vx, vy, spin = (
                    largest(work.bernstein, at),
                    largest(work.bernstein, at + 1),
                    largest(work.bernstein, at + 2),
                )
                fastest += np.sqrt(vx * vx + vy * vy) + arm * spin
            elif side == external.HEAD:
                fastest += np.sqrt(forces.row[k, external.UX] ** 2 + forces.row[k, external.UY] ** 2)
        fraction = 0.0
        for _ in range(MOST_ITERATIONS):
            fraction += slack / max(1e-300, fastest * h)
            if fraction >= min(1.0, first):
                break
            dense_state(y, work.dense, fraction, free, work.state)
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
