"""The elementary functions that kernels need, compiled from the very code that Python runs: the same bits."""

import numpy as np

from reference_engine import elementary
from reference_engine.compiler.kernels import entry, kernel

MANY_TURNS, TURN = elementary.MANY_TURNS, elementary.TURN
sine_cosine_of = kernel(elementary.sine_cosine_of)
angle_of = kernel(elementary.angle_of)


@kernel
def cosine_and_sine(x):
    if not abs(x) <= MANY_TURNS:
        x = np.fmod(x, TURN)
    s, c = sine_cosine_of(x)
    return c, s


@entry
def evaluate(x, y, out):
    """cos x, sin x and the angle of (x, y), into out (3, N): for tests."""
    for i in range(x.shape[0]):
        out[0, i], out[1, i] = cosine_and_sine(x[i])
        out[2, i] = angle_of(y[i], x[i])
