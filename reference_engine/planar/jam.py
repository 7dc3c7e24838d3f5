"""Impulses without an approach: where several places slide and jam, and no finite forces obey Coulomb's law.

A wheel driven into a wedge by its own friction is stopped at once: "impact without collision" (Baraff 1991, SIGGRAPH
'91, sec. 8; Genot & Brogliato 1999, Eur. J. Mech. A 18). The impulse is what the forces of ever shorter times tend to:

    A p + u + d b,  d -> 0,   obeys the laws of impact with e = 0

which has a solution for every d > 0 (Anitescu & Potra 1997). Were p to vanish with d, p / d would be forces. p takes
energy: where a place slides on, against its slip, and where slip stops, as a plastic impact does.

A motion may come to such a place while forces still exist: they grow without limit, and the integrator's steps vanish.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction import SOLVED, solve_friction
from reference_engine.contact_problems.friction_modes import HELD as PRESSES_ONLY
from reference_engine.planar.impact import kind_at_impact
from reference_engine.planar.layout import NO_FORCES, SLIP, STRIKES

DIVERGES = np.int64(4)  # a condition beside those of `release`: forces grow without limit
PUSHED = 1e5  # times the round-off of a rate: the greatest of d b, at first
TRIES = 5  # each with a tenth of the d before, until its modes are those of the limit


@kernel
def jam(found, n, m, instant, work, still, diverges):
    """instant.impulse (2 n,) of the m places instant.of that have no forces; STRIKES, or NO_FORCES without one."""
    problem, impulse, f = instant.problem, instant.impulse, instant.answer.f
    most = 0.0
    for r in range(2 * m):
        most = max(most, abs(problem.b[r]))
    for k in range(2 * n):
        impulse[k] = 0.0
    d = PUSHED * still / most
    for _ in range(TRIES):
        for r in range(m):
            instant.answer.mode[r], f[2 * r], f[2 * r + 1] = PRESSES_ONLY, 0.0, 0.0
        allowed = 0.5 * still
        solved = impulses_after(found, m, instant, work, allowed, d)
        if diverges:  # forces exist yet, and would stop the slip in the time d
            allowed = d * most
        if solved and impulses_after(found, m, instant, work, allowed, 0.0):
            hardest = 0.0
            for r in range(m):
                k = instant.of[r]
                impulse[2 * k], impulse[2 * k + 1] = f[2 * r], f[2 * r + 1]
                hardest = max(hardest, f[2 * r] * problem.A[2 * r, 2 * r])
            if hardest > still:
                return STRIKES
        d *= 0.1
    return NO_FORCES


@kernel
def impulses_after(found, m, instant, work, allowed, d):
    """Is there a p for this d? It is in the answer; the modes that are there are the guess."""
    problem = instant.problem
    for r in range(m):
        k = instant.of[r]
        problem.kind[r], problem.static_friction[r] = kind_at_impact(found, k), problem.friction[r]
        problem.b[2 * r] = d * work.b[2 * k]
        problem.b[2 * r + 1] = work.geometry[k, SLIP] + d * work.b[2 * k + 1]
    outcome, _, _ = solve_friction(problem, m, allowed, instant.answer, instant.room, instant.lemke_room)
    return outcome == SOLVED
