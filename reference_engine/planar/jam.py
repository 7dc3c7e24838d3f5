"""Impulses without an approach: where several contacts slide and jam, and no finite forces obey Coulomb's law.

A wheel driven into a wedge by its own friction is stopped at once: "impact without collision" (Baraff 1991, SIGGRAPH
'91, sec. 8; Genot & Brogliato 1999, Eur. J. Mech. A 18). The impulse is what the forces of ever shorter times tend to:

    A p + u + d b,  d -> 0,   obeys the impact laws with e = 0

which has a solution for every d > 0 (Anitescu & Potra 1997). Were p to vanish with d, p / d would be forces. p takes
energy: where a contact slides on, against its slip, and where slip stops, as a plastic impact does.

A motion may come to such a contact while forces still exist: they grow without limit, and the integrator's steps
vanish.
"""

import numpy as np

from reference_engine.compiler.kernels import kernel
from reference_engine.contact_problems.friction import SOLVED, solve_friction
from reference_engine.contact_problems.friction_modes import CLOSED as PRESSES_ONLY
from reference_engine.planar import layout as col
from reference_engine.planar.impact import kind_at_impact

DIVERGES = np.int64(4)  # a condition beside those of `release`: forces grow without limit
PUSHED = 1e5  # times the round-off of a rate: the greatest of d b, at first
TRIES = 5  # each with a tenth of the d before, until its modes are those of the limit


@kernel
def jam(found, n, m, event, work, still, diverges):
    """event.impulse (2 n,) of the m contacts event.of that have no forces; NEEDS_IMPULSES, or NO_FORCES without one."""
    problem, impulse, f = event.problem, event.impulse, event.answer.f
    most = 0.0
    for r in range(2 * m):
        most = max(most, abs(problem.b[r]))
    for k in range(2 * n):
        impulse[k] = 0.0
    d = PUSHED * still / most
    for _ in range(TRIES):
        for r in range(m):
            event.answer.mode[r], f[2 * r], f[2 * r + 1] = PRESSES_ONLY, 0.0, 0.0
        allowed = 0.5 * still
        solved = impulses_after(found, m, event, work, allowed, d)
        if diverges:  # forces exist yet, and would stop the slip in the time d
            allowed = d * most
        if solved and impulses_after(found, m, event, work, allowed, 0.0):
            hardest = 0.0
            for r in range(m):
                k = event.of[r]
                impulse[2 * k], impulse[2 * k + 1] = f[2 * r], f[2 * r + 1]
                hardest = max(hardest, f[2 * r] * problem.A[2 * r, 2 * r])
            if hardest > still:
                return col.NEEDS_IMPULSES
        d *= 0.1
    return col.NO_FORCES


@kernel
def impulses_after(found, m, event, work, allowed, d):
    """Is there a p for this d? It is in the answer; the modes that are there are the guess."""
    problem = event.problem
    for r in range(m):
        k = event.of[r]
        problem.kind[r], problem.static_friction[r] = kind_at_impact(found, k), problem.friction[r]
        problem.b[2 * r] = d * work.b[2 * k]
        problem.b[2 * r + 1] = work.geometry[k, col.SLIP] + d * work.b[2 * k + 1]
    outcome, _, _ = solve_friction(problem, m, allowed, event.answer, event.workspace, event.lemke_work)
    return outcome == SOLVED
