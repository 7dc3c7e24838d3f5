"""Where on its path a point is: the search that the original does, from where it was found last.

Interpolation is by the cubic through four rows of the table; the search halves its step down to a millionth of a
metre, so that is how near the nearest point is found.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contactsim import arrays as col
from reference_engine.planar_model.connectors import DNX, DNY, DX, DY, P, X, Y

FIRST_STRIDE = 20  # the search starts with steps of one part in so many
FINEST = 1e-6  # m
OFF_THE_END = 1e-4  # m from the normal through the nearest point: the path goes on straight there


@kernel
def interpolated(path, first, rows, column, p, k):
    """The cubic through rows k - 1 to k + 2 (Newton's form)."""
    i = first + min(max(k - 1, 0), rows - 4)
    x0, x1, x2, x3 = path[i, P], path[i + 1, P], path[i + 2, P], path[i + 3, P]
    c1 = path[i, column]
    c2 = (path[i + 1, column] - c1) / (x1 - x0)
    c3 = (path[i + 2, column] - (c1 + c2 * (x2 - x0))) / ((x2 - x0) * (x2 - x1))
    c4 = path[i + 3, column] - (c1 + c2 * (x3 - x0) + c3 * (x3 - x0) * (x3 - x1))
    c4 = c4 / ((x3 - x0) * (x3 - x1) * (x3 - x2))
    return ((c4 * (p - x2) + c3) * (p - x1) + c2) * (p - x0) + c1


@kernel
def row_at(path, first, rows, p):
    """The last row whose length is at most p, but not the very last one; 0 before the first."""
    low, high = 0, rows - 1
    while high - low > 1:
        middle = (low + high) // 2
        if path[first + middle, P] <= p:
            low = middle
        else:
            high = middle
    return low


@kernel
def wrapped_row(k, rows, closed):
    return k % rows if closed == 1 else min(max(k, 0), rows - 1)


@kernel
def wrapped(p, length, closed):
    return p - length * np.floor(p / length) if closed == 1 and (p < 0.0 or p > length) else p


@kernel
def find_on_path(o, c, at, along, x, y):
    """Notes in columns `at` and `along` of connector c where on its path (x, y) is; a closed path counts its rounds."""
    path, first, rows = o.path, o.connector_ids[c, col.TABLE], o.connector_ids[c, col.ROWS]
    closed, length = o.connector_ids[c, col.CLOSED], path[first + rows - 1, P]
    k = wrapped_row(int(o.connector[c, at]), rows, closed)
    stride, step, p = rows // FIRST_STRIDE, length / FIRST_STRIDE, path[first + k, P]
    while stride > 1 or step > FINEST:
        before = after = k
        p_before, p_after, left, here, right = p, p, 0.0, 0.0, 0.0
        for side in range(-1, 2):  # from row to row, then between them
            row, q = wrapped_row(k + side * stride, rows, closed), wrapped(p + side * step, length, closed)
            if stride > 1:
                q = path[first + row, P]
                dx, dy = x - path[first + row, X], y - path[first + row, Y]
            else:
                row = row_at(path, first, rows, q)
                dx = x - interpolated(path, first, rows, X, q, row)
                dy = y - interpolated(path, first, rows, Y, q, row)
            away = dx * dx + dy * dy
            if side < 0:
                before, p_before, left = row, q, away
            elif side == 0:
                here = away
            else:
                after, p_after, right = row, q, away
        if left < here and left < right:
            k, p = before, p_before
        elif right < here:
            k, p = after, p_after
        elif stride > 1:
            stride //= 2
            if stride == 1:
                near = min(max(k - 1, 0), rows - 3)
                step = path[first + near + 2, P] - path[first + near, P]
        else:
            step /= 2.0
    if closed == 1:
        was = wrapped(o.connector[c, along], length, closed)
        change = p - was
        if was < length / 6.0 and p > 5.0 * length / 6.0:
            change -= length
        elif p < length / 6.0 and was > 5.0 * length / 6.0:
            change += length
        o.connector[c, along] += change
    else:
        o.connector[c, along] = p
    o.connector[c, at] = k


@kernel
def on_path(o, c, x, y):
    """What belongs to where (x, y) was found last: (point, normal, derivative of the normal by the length)."""
    path, first, rows = o.path, o.connector_ids[c, col.TABLE], o.connector_ids[c, col.ROWS]
    closed, length = o.connector_ids[c, col.CLOSED], path[first + rows - 1, P]
    p = wrapped(o.connector[c, col.ALONG], length, closed)
    q = min(max(p, 0.0), length)
    k = row_at(path, first, rows, q)
    px, py = interpolated(path, first, rows, X, q, k), interpolated(path, first, rows, Y, q, k)
    tx, ty = interpolated(path, first, rows, DX, q, k), interpolated(path, first, rows, DY, q, k)
    size = np.sqrt(tx * tx + ty * ty)
    tx, ty = tx / size, ty / size
    dnx, dny = interpolated(path, first, rows, DNX, q, k), interpolated(path, first, rows, DNY, q, k)
    if p != q:  # before the start or behind the end: straight on
        px, py, dnx, dny = px + (p - q) * tx, py + (p - q) * ty, 0.0, 0.0
    if closed == 0 and abs((x - px) * tx + (y - py) * ty) > OFF_THE_END:
        dnx, dny = 0.0, 0.0
    return px, py, -ty, tx, dnx, dny
