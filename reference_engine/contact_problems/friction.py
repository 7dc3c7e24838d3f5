"""Contact forces with Coulomb friction in the plane: a problem in, forces out, or why there are none; and its kernel.

First the forces that follow from the modes guessed (`friction_modes`), which is one elimination and nearly always the
answer where the guess is that of the last event. Else a walk from mode to mode; else Lemke's method; and of a few
contacts, where that ends without an answer too, all modes in turn, so that "none" is proven for those. Whatever is
accepted meets every condition to the tolerance.

Sticking and slip may both solve a problem where mu_s > mu: then it sticks. So mu takes the place of mu_s only where
slip begins though all contacts had mu_s.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.compiler.structure import zeros
from reference_engine.contact_problems import friction_modes as modes
from reference_engine.contact_problems.contact_forces import checked_system, one_per_contact
from reference_engine.contact_problems.friction_lemke import LemkeWork, modes_by_lemke
from reference_engine.contact_problems.friction_modes import FrictionAnswer, FrictionProblem, FrictionWork
from reference_engine.contact_problems.lemke import SOLVED as MODES_FOUND

SOLVED, NONE = 0, 1
STEADY, PAINLEVE, INDETERMINATE = 0, 1, 2

GUESS, WALK, SETTLE, SETTLED, IN_TURN, DOUBT = 0, 1, 2, 3, 4, 5  # stages of the search
STAGE, TURN, ATTEMPT, CONTACT = 0, 1, 2, 3  # its state
TRY, ASK_LEMKE, ACCEPT, GIVE_UP = 0, 1, 2, 3  # what to do next
TURNS_OF_ALL = 6  # of the walk: all violated contacts change their modes,
TURNS_OF_WORST = 4, 40  # then the worst only, for as many turns more as there are contacts, but not above
TURNS_OF_FIRST = 4  # then the first only
ATTEMPTS = 8  # of Lemke's method: with mu_s, with mu, with certain slips, then by other paths,
NUDGED = 6  # from here on with b_n raised
NUDGE = 0.25  # of what is allowed, each time
ALL_MODES = 5000  # so many are tried in turn: all those of six sticking contacts


def new_friction_work(contacts: int) -> tuple[FrictionAnswer, FrictionWork, LemkeWork]:
    """Arrays for up to so many contacts: the answer (all OPEN, no forces) and scratch."""
    sizes = modes.friction_sizes(contacts)
    return zeros(FrictionAnswer, sizes), zeros(FrictionWork, sizes), zeros(LemkeWork, sizes)


@kernel
def unslipped(problem, n, mode):
    """Of the modes, none has begun to slip where mu_s > mu: that is decided anew. Returns whether one had."""
    changed = False
    for k in range(n):
        slips = mode[k] & 7 == modes.SLIPS_PLUS or mode[k] & 7 == modes.SLIPS_MINUS
        if slips and problem.kind[k] == modes.STICKING and problem.static_friction[k] > problem.friction[k]:
            mode[k] += modes.FULL_PLUS - modes.SLIPS_PLUS
            changed = True
    return changed


@kernel
def next_attempt(problem, n, work):
    """How to ask Lemke: with mu_s, then with mu, then by other paths, then off the edge between solvable and not."""
    work.state[ATTEMPT] += 1
    differs = False
    for k in range(n):
        differs = differs or (problem.kind[k] == modes.STICKING and problem.static_friction[k] > problem.friction[k])
    if work.state[ATTEMPT] == 2 and not differs:
        work.state[ATTEMPT] = 3
    for k in range(n):
        work.kinetic[k] = 0 if work.state[ATTEMPT] == 1 else 1
    return work.state[ATTEMPT] <= ATTEMPTS


@kernel
def settle(problem, n, allowed, answer, work):
    """What touches without a force is held, and what has slip's friction but rests sticks, unless so guessed.

    So redundant contacts are not taken for open ones, and slip is slip.
    """
    changed = False
    for k in range(n):
        mode, a_t = answer.mode[k], answer.a[2 * k + 1]
        may_stick = problem.kind[k] == modes.STICKING
        if mode == work.guess[k]:
            continue
        if not modes.pressing(mode) and answer.a[2 * k] <= allowed:
            mode = modes.CLOSED if mode == modes.OPEN else mode - modes.SEPARATING
            if may_stick and mode <= modes.STICKS and abs(a_t) > allowed:
                mode = modes.SLIPS_PLUS if a_t > 0.0 else modes.SLIPS_MINUS
        if may_stick and mode & 7 >= modes.SLIPS_PLUS and abs(a_t) <= allowed:
            mode = modes.STICKS + (mode & modes.SEPARATING)
        changed = changed or mode != answer.mode[k]
        answer.mode[k] = mode
    return changed


@kernel
def next_choice(kind, differ, based, mode):
    """Of the modes that a contact can have, the next one after this; -1 if there is none."""
    for following in range(mode + 1, modes.SEPARATING + modes.FULL_MINUS + 1):
        if modes.fitting(kind, differ, based, following) == following:
            return following
    return -1


@kernel
def next_in_turn(problem, n, answer, work):
    """The modes of all contacts, counted through like the digits of a number, if they are few. Returns whether any."""
    first, carries, total = work.state[CONTACT] < 0, True, 1.0
    work.state[CONTACT] = 0
    for k in range(n):
        kind, based = problem.kind[k], problem.base[k] > 0.0
        differ = problem.static_friction[k] > problem.friction[k]
        mode = work.saved[k]
        if carries:
            mode = np.int64(-1) if first else next_choice(kind, differ, based, mode)
            carries = not mode >= 0
            work.saved[k] = next_choice(kind, differ, based, mode) if carries else mode
        if first:
            mode, choices = work.saved[k], 0
            while mode >= 0:
                choices += 1
                mode = next_choice(kind, differ, based, mode)
            total *= choices
        answer.mode[k], answer.f[2 * k], answer.f[2 * k + 1] = work.saved[k], 0.0, 0.0
    return n > 0 and total <= ALL_MODES and (first or not carries)


@kernel
def find_painleve(problem, n, answer):
    """p and doubt of the contacts. Returns the sliding one with the least p / A_nn (or -1), and whether any p <= 0."""
    least, contact = np.inf, -1
    for k in range(n):
        A_nn = problem.A[2 * k, 2 * k]
        answer.p[k], answer.doubt[k] = A_nn, STEADY
        if problem.kind[k] >= modes.SLIDING_PLUS:
            along = problem.friction[k] * problem.A[2 * k, 2 * k + 1]
            answer.p[k] += -along if problem.kind[k] == modes.SLIDING_PLUS else along
            if A_nn > 0.0 and answer.p[k] / A_nn < least:
                least, contact = answer.p[k] / A_nn, k
            if answer.p[k] <= 0.0 < A_nn:
                answer.doubt[k] = PAINLEVE
    return contact, least <= 0.0


@kernel
def next_doubt(n, answer, work):
    """A contact with p <= 0 the other way round, open or pressing."""
    for k in range(work.state[CONTACT] + 1, n):
        if answer.doubt[k] == PAINLEVE:
            answer.mode[k] = modes.OPEN if modes.pressing(answer.mode[k]) else modes.CLOSED
            work.state[CONTACT] = k
            return True
    return False


@kernel
def proceed(problem, n, allowed, solves, redundant, doubtful, answer, work):
    """What to do after modes that do, or do not, solve the problem; new modes are set in `answer`."""
    state = work.state
    if not solves and state[STAGE] <= WALK:
        turn = state[TURN]
        state[TURN] += 1
        if state[STAGE] == GUESS:
            state[STAGE] = WALK
            if unslipped(problem, n, answer.mode) or redundant:
                return TRY
        until = TURNS_OF_ALL + min(TURNS_OF_WORST[0] + n, TURNS_OF_WORST[1])
        rule = modes.ALL if turn < TURNS_OF_ALL else modes.WORST if turn < until else modes.FIRST
        if turn < until + TURNS_OF_FIRST and modes.change_modes(n, rule, answer, work):
            return TRY
        if next_attempt(problem, n, work):
            return ASK_LEMKE
        state[STAGE] = IN_TURN
    if not solves and state[STAGE] == IN_TURN:
        return TRY if next_in_turn(problem, n, answer, work) else GIVE_UP
    if state[STAGE] == DOUBT and solves:
        answer.doubt[state[CONTACT]] = INDETERMINATE
    if state[STAGE] == DOUBT or not solves:
        modes.save(n, work.saved, work.saved_f, work.saved_a, answer.mode, answer.f, answer.a)
    else:
        modes.save(n, answer.mode, answer.f, answer.a, work.saved, work.saved_f, work.saved_a)
    arrived, anew = state[STAGE] == WALK or state[STAGE] == IN_TURN, state[STAGE] == SETTLE and not solves
    if (arrived or anew) and settle(problem, n, allowed, answer, work):
        state[STAGE] = SETTLE if arrived else SETTLED
        return TRY
    if doubtful:
        if state[STAGE] != DOUBT:
            state[STAGE], state[CONTACT] = DOUBT, -1
        if next_doubt(n, answer, work):
            return TRY
    return ACCEPT


@entry
def solve_friction(problem, n, allowed, answer, work, lemke_work):
    """Forces at the first n contacts, from the guess in `answer`. Returns (outcome, violation, contact).

    The guess is the modes and forces of the last solution, where there was one; else CLOSED and 0. A mode that does not
    fit the kind of its contact is taken for the nearest that does. Forces of redundant contacts change no more than
    they must while the guess of the modes is right.
    allowed [m/s^2, or m/s]: by how much a condition may be broken; f_n >= 0 by allowed / A_nn, the friction cone by
    allowed / A_tt. violation: by how much one is. outcome SOLVED, or NONE with the sliding contact that is nearest to
    Painleve's case or past it (-1 if none slides); then mode, f and a mean nothing. Nothing is allocated.
    """
    contact, doubtful = find_painleve(problem, n, answer)
    for k in range(n):
        work.kinetic[k] = 0
    state = work.state
    state[STAGE], state[TURN], state[ATTEMPT], state[CONTACT] = GUESS, 0, 0, -1
    action, violation, redundant = TRY, 0.0, False
    while action <= ASK_LEMKE:
        worst = np.inf
        if action == ASK_LEMKE:
            nudge, uneven = max(0, state[ATTEMPT] + 1 - NUDGED) * NUDGE * allowed, max(0, state[ATTEMPT] - 2)
            state[TURN] = TURNS_OF_ALL + TURNS_OF_WORST[1] + TURNS_OF_FIRST
            if modes_by_lemke(problem, n, nudge, uneven, uneven == 1, answer, work, lemke_work) == MODES_FOUND:
                state[TURN], action = 0, TRY
        if action == TRY:
            for k in range(n):
                differ = problem.static_friction[k] > problem.friction[k]
                answer.mode[k] = modes.fitting(problem.kind[k], differ, problem.base[k] > 0.0, answer.mode[k])
                if state[STAGE] == GUESS:
                    work.guess[k] = answer.mode[k]
            start = modes.GIVEN if state[STAGE] == GUESS or state[STAGE] == SETTLED else modes.NOTHING
            if state[STAGE] == SETTLE or (state[STAGE] == WALK and state[ATTEMPT] == 0):
                start = modes.BALANCED
            redundant = modes.forces_of_modes(problem, n, start, answer, work)
            worst = modes.inspect(problem, n, allowed, answer, work)
            if worst <= allowed and state[STAGE] != DOUBT:
                violation = worst
        action = proceed(problem, n, allowed, worst <= allowed, redundant, doubtful, answer, work)
    return (SOLVED if action == ACCEPT else NONE), violation, contact


KINDS = {
    "joint": modes.BILATERAL, "smooth": modes.SMOOTH, "sticking": modes.STICKING,
    "sliding+": modes.SLIDING_PLUS, "sliding-": modes.SLIDING_MINUS,
}  # fmt: skip
MODES = {
    modes.OPEN: "open", modes.CLOSED: "held", modes.STICKS: "sticks", modes.SLIPS_PLUS: "slips+",
    modes.SLIPS_MINUS: "slips-",
    modes.FULL_PLUS: "full+", modes.FULL_MINUS: "full-",
}  # fmt: skip
MODES |= {modes.SEPARATING + mode: f"parts, {MODES[mode]}" for mode in range(modes.STICKS, modes.FULL_MINUS + 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionSolution:
    """Forces at N contact points, or that there are none."""

    force: Array  # (N, 2) N: along the normal, along the tangent; nan where there are none
    acceleration: Array  # (N, 2) m/s^2; 0 along tangents of smooth contacts and joints
    mode: tuple[str, ...]  # of `MODES`; empty where there are none
    outcome: Literal["solved", "none"]
    violation: float  # m/s^2, the worst breach of a condition; of f_n times A_nn, of the friction cone times A_tt
    p: Array  # (N,) 1/kg, a_n per f_n of the contact alone: A_nn - s mu A_nt where it slides
    painleve: tuple[int, ...]  # sliding contacts with p <= 0
    indeterminate: tuple[int, ...]  # of those: the contact open and the contact pressing both solve the problem
    contact: int | None  # where there are none: the sliding contact with the least p / A_nn


def checked_matrix(A: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    if np.ndim(b) != 1 or np.size(b) % 2:
        raise ValueError(f"b: shape {np.shape(b)} is not (2 N,), a normal and a tangent for each contact")
    A, b = checked_system(A, b, symmetric=True)
    if (A.diagonal() < 0.0).any():
        raise ValueError(f"A: {A.diagonal().min():g} on the diagonal is negative; J M^-1 J^T has none")
    return A, b


def codes(name: str, labels: ArrayLike, table: dict[str, int], n: int) -> Indices:
    given = [str(label) for label in np.atleast_1d(np.asarray(labels))]
    given = given * n if np.ndim(labels) == 0 else given
    if len(given) != n:
        raise ValueError(f"{name}: {len(given)} of them do not fit {n} contacts")
    if unknown := [label for label in given if label not in table]:
        raise ValueError(f"{name}: {unknown[0]!r} is not one of {', '.join(table)}")
    return np.array([table[label] for label in given], np.int64)


def friction_forces(
    A: ArrayLike,
    b: ArrayLike,
    kind: ArrayLike,
    friction: ArrayLike,
    static_friction: ArrayLike | None = None,
    base: ArrayLike = 0.0,
    *,
    guess: ArrayLike | None = None,
    tolerance: float = 1e-9,
    scale: float | None = None,
) -> FrictionSolution:
    """Forces at N contact points at one time, with Coulomb friction; or impulses, with speeds for accelerations.

    A (2 N, 2 N) [1/kg] = J M^-1 J^T and b (2 N,) [m/s^2], without these forces: rows 2 k along the normal of contact k,
    2 k + 1 along its tangent. kind (N,), or one for all:
      "joint"                  a_n = 0, f_n of either sign, no friction
      "smooth"                 0 <= f_n  perp  a_n >= 0, no friction
      "sticking"               does not slide now: a_t = 0 with |f_t| <= mu_s (f_n + base), or begins to slip
      "sliding+", "sliding-"   slides along or against the tangent, s = 1, -1: f_t = -s mu (f_n + base)
    friction mu and static_friction mu_s >= mu (mu if left out): numbers or (N,). base (N,) [N] >= 0: normal force that
    is there already, which friction counts too. guess (N,): modes to begin with, as `FrictionSolution.mode` has them.

    Every condition is met to tolerance * scale [m/s^2], which is max |b| if left out; f_n >= 0 and the cone as far as
    such a force matters at its own contact, f_n A_nn. Where several solutions exist (redundant contacts, mu_s > mu) one
    is given, and what may stick does so in preference. Sliding contacts with p <= 0 (Painleve) are named. outcome
    "none": no modes were found that meet the conditions; for up to six sticking contacts all were tried.

    Raises ValueError for arrays that do not fit or are not finite, and for unknown words.
    Stewart & Trinkle 1996 (Int. J. Num. Meth. Eng. 39); Anitescu & Potra 1997 (Nonlinear Dynamics 14); for p, Genot &
    Brogliato 1999 (Eur. J. Mech. A 18).
    """
    A, b = checked_matrix(A, b)
    n = len(b) // 2
    kinds = codes("kind", kind, KINDS, n)
    mu = one_per_contact("friction", friction, n)
    mu_s = mu if static_friction is None else one_per_contact("static_friction", static_friction, n, least=mu)
    problem = FrictionProblem(A, b, kinds, mu, mu_s, one_per_contact("base", base, n))
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance: {tolerance:g} is not between 0 and 1")
    if scale is not None and not 0.0 < scale < np.inf:
        raise ValueError(f"scale: {scale:g} is not a positive finite number of m/s^2")
    allowed = float(tolerance) * float(scale if scale is not None else np.abs(b).max(initial=0.0) or 1.0)
    answer, work, lemke_work = new_friction_work(n)
    if guess is None:
        slope = mu * ((kinds == modes.SLIDING_MINUS).astype(float) - (kinds == modes.SLIDING_PLUS))
        p = A.diagonal()[::2] + slope * A.diagonal(1)[::2]
        answer.mode[:] = np.where((p > 0.0) | (slope == 0.0), modes.CLOSED, modes.OPEN)
    else:
        answer.mode[:] = codes("guess", guess, {label: mode for mode, label in MODES.items()}, n)
    outcome, violation, contact = solve_friction(problem, n, allowed, answer, work, lemke_work)
    solved = outcome == SOLVED
    return FrictionSolution(
        force=answer.f.reshape(n, 2) if solved else np.full((n, 2), np.nan),
        acceleration=answer.a.reshape(n, 2) if solved else np.full((n, 2), np.nan),
        mode=tuple(MODES[mode] for mode in answer.mode) if solved else (),
        outcome="solved" if solved else "none",
        violation=violation if solved else np.inf,
        p=answer.p,
        painleve=tuple(int(k) for k in np.flatnonzero(answer.doubt >= PAINLEVE)),
        indeterminate=tuple(int(k) for k in np.flatnonzero(answer.doubt == INDETERMINATE)),
        contact=None if solved or contact < 0 else int(contact),
    )
