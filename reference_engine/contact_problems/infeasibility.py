"""Contact forces that do not exist: the proof, and how near one can come.

y with y >= 0 at contacts, of either sign at joints, bounds the violation t of any forces from below. From
a = A f + b, a >= -t, f >= -t (joints: |a| <= t) and |f| <= F follows

    y . b + F sum (A^T y)^+ + t sum (A^T y)^-  >=  y . a  >=  -t sum |y|     ((A^T y)^+ is |A^T y| at joints)

so t >= (-y . b - F sum (A^T y)^+) / (sum |y| + sum (A^T y)^-). With A^T y = 0 the limit F on the forces falls out: it
is Farkas's lemma. In double precision A^T y is 1e-16 rather than 0, and a limit is needed: `force_limit`.
"""

from collections.abc import Iterator

import numpy as np

from reference_engine.array_types import Array, Flags
from reference_engine.contact_problems.lemke import unit_rows
from reference_engine.dense import mul, svd

FORCE_UNITS = (1e3, 1.0, 1e-2)  # units of force over those that move a by one; the larger, the better is A^T y seen
SUPPORTS = (1e-9, 1e-6, 1e-3)  # of the largest y_i: what is smaller is left out of a certificate
NULLS = (1e-10, 1e-12, 1e-14, 3e-16)  # of the largest singular value: below it a combination of rows counts as none


def proven_violation(A: Array, b: Array, joint: Flags, y: Array, force_limit: float) -> float:
    """The violation [of a, m/s^2] that no forces below the limit can undercut; 0 if y proves nothing."""
    if not np.isfinite(y).all() or y[~joint].min(initial=0.0) < 0.0 or not y.any():
        return 0.0
    gain = mul(y, A)
    gained = np.where(joint, np.abs(gain), np.maximum(gain, 0.0)).sum()
    lost = np.where(joint, 0.0, np.maximum(-gain, 0.0)).sum()
    # y . b and each gain are sums with round-off of their own
    round_off = np.finfo(float).eps * (
        mul(np.abs(y), np.abs(b)) + force_limit * (mul(np.abs(y), np.abs(A))).max(initial=0.0)
    )
    return max(0.0, float((-(mul(y, b)) - force_limit * gained - round_off) / (np.abs(y).sum() + lost)))


def purified(A: Array, joint: Flags, y: Array) -> Iterator[Array]:
    """y with A^T y brought to round-off: projected on the combinations of its own rows that vanish.

    What is round-off in y, and which combinations do vanish, is not known beforehand where rows nearly repeat:
    several answers come out, and the caller sees what each of them proves.
    """
    size = unit_rows(A)
    tried = 0
    for least in SUPPORTS:
        support = np.flatnonzero(np.abs(y) > least * np.abs(y).max(initial=0.0))
        if len(support) == tried:
            continue
        tried = len(support)
        left, values, _ = svd(A[support] * size[support, None])
        values = np.append(values, np.zeros(len(support) - len(values)))
        for threshold in NULLS:
            null = left[:, values <= threshold * max(values[0], 1e-300)]
            clean = np.zeros_like(y)
            clean[support] = size[support] * (mul(null, mul(null.T, y[support] / size[support])))
            clean[~joint] = np.maximum(0.0, clean[~joint])
            yield clean


def shortfall(A: Array, b: Array, joint: Flags, f: Array) -> float:
    """The worst of -a, and of |a| at joints."""
    a = mul(A, f) + b
    return max(float(-a[~joint].min(initial=0.0)), float(np.abs(a[joint]).max(initial=0.0)))


def farkas(A: Array, b: Array, joint: Flags) -> Array:
    """y >= 0 (joints: any sign) with A^T y as near to 0, and y . b to -1, as least squares gets it; 0 if it cannot."""
    from scipy.optimize import nnls  # slow to import, and only wanted here

    rows = np.vstack([A.T / (float(np.abs(A).max()) or 1.0), b / max(1.0, float(np.abs(b).max()))])
    wanted = np.zeros(len(rows))
    wanted[-1] = -1.0
    try:
        y, _ = nnls(np.hstack([rows, -rows[:, joint]]), wanted)
    except RuntimeError:  # it went round in circles
        return np.zeros_like(b)
    y, back = y[: len(b)], y[len(b) :]
    y[joint] -= back
    return y


def least_violation(A: Array, b: Array, joint: Flags, force_limit: float) -> tuple[Array, float, Array]:
    """Forces (N,) within the limit with the least violation of a >= 0, f >= 0 (joints: a = 0), that violation, and y.

    A linear programme. Its solver stops at 1e-10 of its units, so it is asked again about the forces that it found,
    in units of what they violate. a f = 0 is not asked for: where a >= 0 and f >= 0 can be had, and A is positive
    semi-definite, it can be too.
    """
    f, y = np.zeros_like(b), np.zeros_like(b)
    unit = shortfall(A, b, joint, f)
    for _ in range(3):
        before = unit
        for force_unit in FORCE_UNITS:
            found = linear_programme(A, b, joint, force_limit, f, unit, force_unit) if unit > 0.0 else None
            if found is not None and (least := shortfall(A, b, joint, found[0])) <= unit:
                (f, y), unit = found, least
                break
        if unit > 0.1 * before:
            break
    return f, unit, y


def linear_programme(
    A: Array, b: Array, joint: Flags, force_limit: float, start: Array, unit: float, force_unit: float
) -> tuple[Array, Array] | None:
    """min t:  a >= -t (joints: |a| <= t),  0 <= f <= limit (joints: |f| <= limit).

    Its variables are (f - start) / reach and t / unit.
    """
    from scipy.optimize import linprog  # slow to import, and only wanted here

    a = mul(A, start) + b
    force_unit *= unit / (float(np.abs(A).max()) or 1.0)
    rows = np.vstack([-A, A[joint]]) * (force_unit / unit)
    rows = np.column_stack([rows, -np.ones(len(rows))])
    lowest = np.where(joint, -force_limit, 0.0)
    bounds = np.column_stack([(lowest - start) / force_unit, (force_limit - start) / force_unit])
    found = linprog(
        np.append(np.zeros(len(b)), 1.0), A_ub=rows, b_ub=np.concatenate([a, -a[joint]]) / unit,
        bounds=[*bounds, (0.0, None)], method="highs",
        options={
            "maxiter": 100 + 20 * len(b), "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10,
        },
    )  # fmt: skip
    if found.status != 0:
        return None
    f = np.clip(start + force_unit * found.x[:-1], lowest, force_limit)
    y = -found.ineqlin.marginals[: len(b)]
    y[joint] += found.ineqlin.marginals[len(b) :]
    y[~joint] = np.maximum(0.0, y[~joint])
    return f, y


def best_certificate(
    A: Array, b: Array, joint: Flags, candidates: list[Array], force_limit: float
) -> tuple[Array | None, float]:
    """Of the candidates, as they are and purified, the y (sum |y| = 1) that proves most, and what it proves.

    Of those that prove nearly as much the one whose A^T y is nearest to 0.
    """
    proofs = []
    for candidate in candidates:
        for y in (candidate, *purified(A, joint, candidate)):
            if (total := np.abs(y).sum()) > 0.0:
                proven = proven_violation(A, b, joint, y / total, force_limit)
                proofs.append((proven, float(np.abs(mul(y, A)).max()) / total, y / total))
    most = max((proven for proven, _, _ in proofs), default=0.0)
    if most == 0.0:
        return None, 0.0
    proven, _, y = min((proof for proof in proofs if proof[0] >= 0.99 * most), key=lambda proof: proof[1])
    return y, proven
