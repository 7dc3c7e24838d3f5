"""Vectors of three numbers in kernels: tuples (x, y, z), which compiled code keeps in registers.

Products and sums are taken from the left: what is computed has the bits of the same formula written out.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def length(a):
    return np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def opposite(a):
    return -a[0], -a[1], -a[2]


@kernel
def times(s, a):
    return s * a[0], s * a[1], s * a[2]


@kernel
def over(a, s):
    return a[0] / s, a[1] / s, a[2] / s


@kernel
def along(a, s, b):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def row(array, i):
    return array[i, 0], array[i, 1], array[i, 2]


@kernel
def set_row(array, i, a):
    array[i, 0], array[i, 1], array[i, 2] = a


@kernel
def three(array, k):
    """The three numbers from column k on."""
    return array[k], array[k + 1], array[k + 2]


@kernel
def set_three(array, k, a):
    array[k], array[k + 1], array[k + 2] = a
