"""The way in: the motion of a world of compliant bodies."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import zeros
from reference_engine.compliant import layout as col
from reference_engine.compliant.event_loop import advance
from reference_engine.compliant.joint_rows import JointWork
from reference_engine.compliant.joints import CLOSED
from reference_engine.compliant.layout import Arrays, ContactSet, Log, LoopState, Rule, Work, pack, start_state
from reference_engine.compliant.world import CompliantWorld, is_number
from reference_engine.dense import mul
from reference_engine.elementary import squared
from reference_engine.errors import CompliantError
from reference_engine.events import doubled
from reference_engine.geometry.mpr import mpr_work
from reference_engine.geometry.spatial_shapes import corners_and_rims, spatial_shapes
from reference_engine.geometry.support import posed_shapes
from reference_engine.rotation import matrices

FINEST_TOLERANCE = 1e-15
SAFETY = 0.5  # of the accuracy asked for: what an estimate may be


@dataclass(frozen=True, slots=True, kw_only=True)
class CompliantSettings:
    """Settings of `simulate_compliant`; raises CompliantError for a value that is not allowed."""

    tolerance: float = 1e-13  # local error of a step, relative to floor + |value| in m, m/s, rad/s, J
    floor: float = 1e-2
    hysteresis: float = 1e-13  # m: a pair enters the contact set at this gap and leaves it at twice that
    max_events: int = 1_000_000
    max_steps: int = 500_000  # tried

    def __post_init__(self) -> None:
        for name, low, high in (
            ("tolerance", FINEST_TOLERANCE, 1e-3), ("floor", 1e-9, 1e3), ("hysteresis", 1e-16, 1e-6),
        ):  # fmt: skip
            value = getattr(self, name)
            if not (is_number(value) and low <= value <= high):
                raise CompliantError(f"{name}: {value!r}; {low:g} to {high:g}")
        for name in ("max_events", "max_steps"):
            count = getattr(self, name)
            if not isinstance(count, int | np.integer) or count < 1:
                raise CompliantError(f"{name}: {count!r}; a whole number, at least 1")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContactEvents:
    """E changes of the contact set, in order of time; a pair in contact at the start has its event at time 0.

    contact     gap <= 0, or not above the hysteresis
    separation  gap > 0
    jump        another side or edge became the nearest way out, so that normal and gap are others now

    A pair has one contact; over a half-space one for each corner and rim that touches.
    """

    time: Array  # (E,) s
    kind: NDArray[np.str_]  # (E,) contact, separation, jump
    pair: Indices  # (E, 2) bodies; a half-space is the second
    point: Array  # (E, 3) m, between the two surfaces
    normal: Array  # (E, 3) unit, from the first body to the second
    gap: Array  # (E,) m
    approach: Array  # (E,) m/s, at which the two close; below 0 when they part
    restitution: Array  # (E,) nominal coefficient that holds; 0 for a slow approach
    damping: Array  # (E,) s/m, that belongs to it
    jumped: Array  # (E,) J, by which the elastic energy is another; 0 but for a jump


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompliantContacts:
    """What touches in the samples, N rows in order of these. Force and torque act on the second body, as their
    opposites do on the first."""

    pair: Indices  # (N, 2) bodies; a half-space is the second
    candidate: Indices  # (N,) one number for one corner or pair of bodies all along
    point: Array  # (N, 3) m, between the two surfaces
    normal: Array  # (N, 3) unit, from the first body to the second
    gap: Array  # (N,) m
    force: Array  # (N, 3) N, at the point, friction included
    torque: Array  # (N, 3) N m, of rolling resistance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompliantMotion:
    """S samples of B bodies, SI, world axes.

    kinetic + potential + elastic + dissipated - jumped is constant, to what the tolerance leaves. Contact k belongs to
    sample i if first_contact[i] <= k < first_contact[i + 1].
    """

    time: Array  # (S,) s
    position: Array  # (S, B, 3) m
    orientation: Array  # (S, B, 4) unit quaternion w x y z, body to world
    velocity: Array  # (S, B, 3) m/s
    spin: Array  # (S, B, 3) rad/s
    kinetic: Array  # (S,) J
    potential: Array  # (S,) J, of gravity; 0 at the origin
    elastic: Array  # (S,) J, in the contacts
    dissipated: Array  # (S,) J, that contacts have taken out since the start
    jumped: Array  # (S,) J, by which jumps of a normal have changed the elastic energy since the start
    contacts: CompliantContacts
    first_contact: Indices  # (S + 1,)
    events: ContactEvents
    reaction: Array  # (S, R) N, N m: of the rows of joints; of a Coupling those of its points first, then of its turns
    row_joint: Indices  # (R,) which joint a row is of
    steps: int  # accepted by the integrator
    error_estimate: float | None = None  # m, of any point of any body in any sample; None where it was not asked for

    @property
    def imbalance(self) -> Array:
        """(S,) J: the sum of the energies, less what jumps have brought, and less what it was at the start."""
        total = self.kinetic + self.potential + self.elastic + self.dissipated - self.jumped
        return total - total[0]


def simulate_compliant(
    world: CompliantWorld,
    times: ArrayLike,
    settings: CompliantSettings | None = None,
    *,
    estimate_error: bool = False,
    accuracy: float | None = None,
) -> CompliantMotion:
    """The motion, sampled at given times [s], ascending from 0; exact to the tolerance, whatever the samples are.

    `estimate_error`: run once more, at a tenth of the tolerance; the greatest difference between the two of any point
    of any body estimates the error of this run. `accuracy` [m]: runs at tolerances of this and a tenth, a hundredth
    ... of it, until so estimated the error is at most that; `settings.tolerance` is not used.

    Steps are those of DOP853, as long as the tolerance allows; every change of the contact set ends one. See
    contacts.py for the contact law, event_loop.py for how events are found.

    Raises CompliantError for an accuracy that round-off hides, a world that cannot be simulated (a pair of materials
    without a law, two flat bodies without a radius of contact) or a motion that cannot go on (two bodies get one
    centre; too many events or steps, as where a body lies flat on a flat one: but for half-spaces this law has one
    point of contact a pair).
    """
    settings, grid = settings or CompliantSettings(), np.array(times, np.float64)
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or grid[0] != 0.0 or (np.diff(grid) <= 0.0).any():
        raise CompliantError("times: finite and ascending from 0")
    if accuracy is not None:
        if not (is_number(accuracy) and 0.0 < accuracy < math.inf):
            raise CompliantError(f"accuracy: {accuracy!r} m; above 0 and finite")
        settings = replace(settings, tolerance=min(1e-3, max(10.0 * FINEST_TOLERANCE, float(accuracy))))
    elif not estimate_error:
        return run_of(world, grid, settings)
    aim = math.inf if accuracy is None else SAFETY * accuracy
    coarse, motion, estimate = None, run_of(world, grid, settings), math.nan
    while coarse is None or estimate > aim:
        finer = settings.tolerance / 10.0
        if finer < FINEST_TOLERANCE:
            least = f"{10.0 * FINEST_TOLERANCE:g}"
            if accuracy is None:
                raise CompliantError(f"tolerance: {settings.tolerance!r}; at least {least} with estimate_error")
            raise CompliantError(f"accuracy: {accuracy!r} m; at the tolerance {least} it is still {estimate:.1e} m")
        settings = replace(settings, tolerance=finer)
        coarse, motion = motion, run_of(world, grid, settings)
        estimate = difference(world, coarse, motion)
    return replace(coarse, error_estimate=estimate)


def difference(world: CompliantWorld, one: CompliantMotion, other: CompliantMotion) -> float:
    """m: the greatest distance that any point of a body has in one motion from where it is in the other."""
    moving = [i for i, body in enumerate(world.bodies) if not body.fixed]
    shapes = spatial_shapes([world.bodies[i].shape for i in moving], [False] * len(moving))
    radius = posed_shapes(shapes).bounding_radius
    apart = one.position[:, moving] - other.position[:, moving]
    p, q = one.orientation[:, moving], other.orientation[:, moving]
    turned = 2.0 * np.minimum(np.sqrt(squared(p - q).sum(axis=2)), np.sqrt(squared(p + q).sum(axis=2)))
    return float((np.sqrt(squared(apart).sum(axis=2)) + radius * turned).max(initial=0.0))


def run_of(world: CompliantWorld, grid: Array, settings: CompliantSettings) -> CompliantMotion:
    model = pack(world, settings.hysteresis)
    y, candidates = start_state(world, model), len(model.pair)
    sizes = {"B": len(world.bodies), "P": candidates, "n": len(y), "S": len(grid), "R": len(model.joints.kind)}
    rows = {"E": 64 + 4 * candidates, "N": 64 + 4 * candidates}
    run = Arrays(
        model=model,
        rule=Rule(tolerance=settings.tolerance, floor=settings.floor, most_steps=settings.max_steps),
        contact_set=zeros(ContactSet, sizes),
        work=zeros(Work, sizes, mpr=mpr_work(), joints=zeros(JointWork, sizes), components=np.arange(len(y))),
        loop=zeros(LoopState, sizes, y=y),
        log=zeros(Log, sizes | rows, grid=grid),
    )
    run.loop.now[col.STEP], run.loop.counters[col.ASKED] = grid[-1] or 1.0, len(grid)
    while (end := advance(run)) == col.FULL:
        if run.loop.counters[col.EVENTS] >= settings.max_events:
            raise CompliantError(f"max_events: more than {settings.max_events} by {run.loop.now[col.TIME]:g} s")
        run = replace(run, log=doubled(run.log, "grid", "state", "energies", "reaction"))
    if end != col.DONE:
        raise CompliantError(why_not(end, world, settings, run))
    return motion_of(world, run)


def why_not(end: int, world: CompliantWorld, settings: CompliantSettings, run: Arrays) -> str:
    """Why the motion cannot go on."""
    loop, time, in_contact = run.loop, run.loop.now[col.TIME], np.flatnonzero(run.contact_set.member)
    pairs = list(dict.fromkeys(tuple(int(i) for i in run.model.pair[k]) for k in in_contact))
    named = [tuple(map(world.body_name, pair)) for pair in pairs]
    tried, refused = loop.counters[col.STEPS] + loop.counters[col.REFUSED], loop.counters[col.REFUSED]
    match end:
        case col.ONE_CENTRE:
            return f"two bodies have one centre at {time:g} s; no direction parts them"
        case col.STANDS:
            level = " and ".join(named[-1])
            return f"{level}: flat on a rim at {time:g} s; this law has one point of contact a rim, and here is none"
        case col.OPEN:
            gap, rate = np.abs(run.work.joints.gap), np.abs(run.work.joints.unknown)
            row = int(np.argmax(np.maximum(gap, rate)))
            return (
                f"joints[{run.model.joints.joint[row]}]: open at the start by {gap[row]:.3g} m, or of unit vectors, "
                f"at {rate[row]:.3g} a second; at most {CLOSED:g} of each"
            )
        case col.TOO_MANY:
            return f"max_steps: more than {settings.max_steps} by {time:g} s, with contacts {named}"
        case col.CRAWLS:
            straight = [len(corners_and_rims(body.shape)) > 1 for body in world.bodies]
            lines = [names for names, (p, q) in zip(named, pairs) if straight[p] and straight[q]]
            cause = (
                f"flat sides or edges of {lines} may meet, whose one point jumps from corner to corner"
                if lines
                else f"tolerance {settings.tolerance:g}, the error asked of a step, is too small; ask for a larger one"
            )
            return f"no end in sight at {time:g} s: {refused} of {tried} steps refused, with contacts {named}; {cause}"
    return f"time stands still at {time:.17g} s with steps of {loop.now[col.STEP]:g} s"


def motion_of(world: CompliantWorld, run: Arrays) -> CompliantMotion:
    model, log, loop = run.model, run.log, run.loop
    bodies, time, state = len(world.bodies), log.grid, log.state
    e, c = (slice(loop.counters[rows]) for rows in (col.EVENTS, col.CONTACTS))
    ids, f, contact_rows, g = log.event_ids[e], log.event[e], log.contact_ids[c], log.contact[c]
    each = state[:, :-1].reshape(len(time), bodies, col.STATE_SIZE)
    columns = slice(0, 3), slice(col.V, col.SPIN), slice(col.Q, col.V)
    position, velocity, orientation = (each[..., some].copy() for some in columns)
    R = matrices(orientation)
    momentum = np.einsum("sbji,sbj->sbi", R, each[..., col.SPIN :])  # in the body's axes, over the greatest moment
    own = momentum / model.inertia
    moving = np.array([not body.fixed for body in world.bodies])
    mass, greatest = model.mass[moving], model.greatest[moving]
    kinetic = 0.5 * (mul((squared(velocity[:, moving])).sum(axis=2), mass))
    kinetic += 0.5 * (mul((momentum * own).sum(axis=2)[:, moving], greatest))
    return CompliantMotion(
        time=time, position=position, orientation=orientation, velocity=velocity,
        spin=np.einsum("sbij,sbj->sbi", R, own),
        kinetic=kinetic,
        potential=mul(-(mul(position[:, moving], model.gravity)), mass),
        elastic=log.energies[:, 0].copy(),
        dissipated=state[:, -1].copy(),
        jumped=log.energies[:, 1].copy(),
        contacts=CompliantContacts(
            pair=model.pair[contact_rows[:, 1]], candidate=contact_rows[:, 1].copy(), point=three(g, col.POINT),
            normal=three(g, col.NORMAL), gap=g[:, col.GAP].copy(), force=three(g, col.FORCE),
            torque=three(g, col.TORQUE),
        ),
        first_contact=np.searchsorted(contact_rows[:, 0], np.arange(len(time) + 1)),
        events=ContactEvents(
            time=f[:, col.AT].copy(), kind=np.array(col.KINDS, np.str_)[ids[:, 0]], pair=model.pair[ids[:, 1]],
            point=three(f, col.POINT), normal=three(f, col.NORMAL), gap=f[:, col.GAP].copy(),
            approach=f[:, col.CLOSING].copy(), restitution=f[:, col.NOMINAL].copy(),
            damping=f[:, col.DAMPED].copy(), jumped=f[:, col.ENERGY].copy(),
        ),
        reaction=log.reaction.copy(), row_joint=model.joints.joint.copy(),
        steps=int(loop.counters[col.STEPS]),
    )  # fmt: skip


def three(rows: Array, column: int) -> Array:
    """(N, 3) from a column on, copied."""
    return rows[:, column : column + 3].copy()
