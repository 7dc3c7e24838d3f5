"""One contact under several names, as corner against edge or edge against edge, and which of them is kept.

Of those that are alike the one seen last is kept, and of these the one with the least gap.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim import collision as row

SAME_TIME = 1e-14  # s
ALIKE = 0.9  # |n . n'| of two names for one contact


@kernel
def nearness(r1, r2, tolerance):
    """How far apart two names for one contact can lie: 2 r sqrt(2 tolerance / r), of the radius that counts. [m]"""
    if r1 == np.inf:
        r = r2 if r2 > 0.0 else r1
    elif r2 == np.inf:
        r = r1 if r1 > 0.0 else r2
    elif r1 > 0.0 and r2 > 0.0:
        r = min(r1, r2)
    elif r1 < 0.0:
        r = -r1
    else:
        r = -r2
    return tolerance if r == np.inf else 2.0 * r * np.sqrt(2.0 * tolerance / r)


@kernel
def has_edge(o, ids, k, e):
    """Does row k know edge e: as its own edge, or beside its corner?"""
    if e < 0:
        return False
    if ids[k, row.KIND] == row.EDGE_EDGE:
        return ids[k, row.FIRST] == e or ids[k, row.SECOND] == e
    if ids[k, row.KIND] == row.CORNER_EDGE:
        v = ids[k, row.FIRST]
        return ids[k, row.SECOND] == e or o.corner_ids[v, col.BEFORE] == e or o.corner_ids[v, col.AFTER] == e
    return False


@kernel
def has_corner(ids, k, v):
    if ids[k, row.KIND] == row.CORNER_EDGE:
        return ids[k, row.FIRST] == v
    return ids[k, row.KIND] == row.CORNER_CORNER and (ids[k, row.FIRST] == v or ids[k, row.SECOND] == v)


@kernel
def alike(o, rules, ids, values, new, old):
    """Could the new row be the old one under another name?"""
    i, j = ids[new, row.PRIMARY], ids[new, row.NORMAL]
    p, q = ids[old, row.PRIMARY], ids[old, row.NORMAL]
    if not ((p == i and q == j) or (p == j and q == i)):
        return False
    first, second = ids[new, row.FIRST], ids[new, row.SECOND]
    if ids[new, row.KIND] == row.CORNER_CORNER:
        return has_corner(ids, old, first) or has_corner(ids, old, second)
    if ids[new, row.KIND] == row.CORNER_EDGE:
        if has_corner(ids, old, first):
            return True
        beside = has_edge(o, ids, old, o.corner_ids[first, col.BEFORE]) or has_edge(
            o, ids, old, o.corner_ids[first, col.AFTER]
        )
        if not (beside and has_edge(o, ids, old, second)):
            return False
    elif not (has_edge(o, ids, old, first) and has_edge(o, ids, old, second)):
        return False
    dx, dy = values[new, row.AX] - values[old, row.AX], values[new, row.AY] - values[old, row.AY]
    near = nearness(values[new, row.R1], values[new, row.R2], rules.distance_tolerance)
    same_way = abs(values[new, row.NX] * values[old, row.NX] + values[new, row.NY] * values[old, row.NY])
    return dx * dx + dy * dy <= near * near and same_way >= ALIKE


@kernel
def keep_best(o, rules, ids, values, first, count):
    """Row `count` is new: take it in, or not, and out what it is better than. Returns how many there are then.

    Rows before `first` are of other pairs of bodies, so none of them is alike.
    """
    wanted, kept = True, first
    for k in range(first, count):
        drop = False
        if alike(o, rules, ids, values, count, k):
            if values[k, row.SEEN] > values[count, row.SEEN] + SAME_TIME:
                wanted = False
            elif (
                values[count, row.SEEN] > values[k, row.SEEN] + SAME_TIME or values[count, row.GAP] < values[k, row.GAP]
            ):
                drop = True
            else:
                wanted = False
        if not drop:
            if kept < k:
                row.copy_row(ids, values, k, kept)
            kept += 1
    if wanted:
        row.copy_row(ids, values, count, kept)
        kept += 1
    return kept
