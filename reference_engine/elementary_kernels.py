"""Elementary functions and the loops of `dense`, compiled from the very code that Python runs: the same bits."""

import numpy as np

from reference_engine import dense, elementary
from reference_engine.array_types import Array
from reference_engine.compiler.kernels import entry, kernel

MANY_TURNS = elementary.MANY_TURNS
sine_cosine_of = kernel(elementary.sine_cosine_of)
whole_turns_off = kernel(elementary.whole_turns_off)
angle_of = entry(elementary.angle_of)
dense.COMPILED |= {loop: entry(loop) for loop in (dense.eliminate, dense.diagonalise, dense.orthogonalise)}


@entry
def cosine_and_sine(x):
    if abs(x) <= MANY_TURNS:
        s, c = sine_cosine_of(x)
        return c, s
    head, rest = whole_turns_off(x)
    s, c = sine_cosine_of(head)
    return c - rest * s, s + rest * c


@entry
def evaluate(out):
    for i in range(out.shape[1]):
        out[0, i], out[1, i] = cosine_and_sine(out[0, i])


elementary.COMPILED[elementary.sine_cosine_of] = evaluate


def cosines_and_sines(angle: Array) -> Array:
    """(2, N) of angles (N,), ten times as fast as `elementary` for a few."""
    out = np.empty((2, len(angle)))
    out[0] = angle
    evaluate(out)
    return out
