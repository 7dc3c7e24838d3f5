"""The way in: the motion of a world of compliant bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine.compliant.clock import Clock, advance
from reference_engine.compliant.errors import CompliantError
from reference_engine.compliant.layout import (
    CRAWLS,
    DONE,
    EVENTS,
    FIGURES,
    FULL,
    KINDS,
    ONE_CENTRE,
    PLACES,
    REFUSED,
    SPIN,
    STEP,
    STEPS,
    TIME,
    TOO_MANY,
    Log,
    Q,
    Solids,
    Touching,
    V,
    new_work,
    pack,
    rotation,
    start_state,
)
from reference_engine.compliant.world import CompliantWorld

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

FINEST_TOLERANCE = 1e-15


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
            if not low <= value <= high:
                raise CompliantError(f"{name}: {value!r}; {low:g} to {high:g}")
        for name in ("max_events", "max_steps"):
            if getattr(self, name) < 1:
                raise CompliantError(f"{name}: {getattr(self, name)!r}; at least 1")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContactEvents:
    """E changes of the contact set, in order of time; a pair in contact at the start has its event at time 0.

    contact     gap <= 0, or not above the hysteresis
    separation  gap > 0
    """

    time: Array  # (E,) s
    kind: NDArray[np.str_]  # (E,) contact, separation
    pair: Ids  # (E, 2) bodies; a half-space is the second
    point: Array  # (E, 3) m, between the two surfaces
    normal: Array  # (E, 3) unit, from the first body to the second
    gap: Array  # (E,) m
    approach: Array  # (E,) m/s, at which the two close; below 0 when they part
    restitution: Array  # (E,) nominal coefficient that holds; 0 for a slow approach
    damping: Array  # (E,) s/m, that belongs to it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompliantMotion:
    """S samples of B bodies, SI, world axes. The four energies of a motion have a constant sum."""

    time: Array  # (S,) s
    position: Array  # (S, B, 3) m
    orientation: Array  # (S, B, 4) unit quaternion w x y z, body to world
    velocity: Array  # (S, B, 3) m/s
    spin: Array  # (S, B, 3) rad/s
    kinetic: Array  # (S,) J
    potential: Array  # (S,) J, of gravity; 0 at the origin
    elastic: Array  # (S,) J, in the contacts
    dissipated: Array  # (S,) J, that contacts have taken out since the start
    events: ContactEvents
    steps: int  # accepted by the integrator


def simulate_compliant(
    world: CompliantWorld, times: ArrayLike, settings: CompliantSettings | None = None
) -> CompliantMotion:
    """The motion, sampled at given times [s], ascending from 0; exact to the tolerance, whatever the samples are.

    Steps are those of DOP853, as long as the tolerance allows; every change of the contact set ends one. See
    response.py for the law of contact, clock.py for how events are found.

    Raises CompliantError for a world that cannot be simulated (a pair of materials without a law, two flat bodies
    without a radius of contact) or a motion that cannot go on (two bodies get one centre; too many events or steps,
    as where a body lies flat on a flat one: this law has one point of contact a pair).
    """
    settings, grid = settings or CompliantSettings(), np.array(times, np.float64)
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or grid[0] != 0.0 or (np.diff(grid) <= 0.0).any():
        raise CompliantError("times: finite and ascending from 0")
    solids = pack(world, settings.hysteresis)
    y, pairs = start_state(world, solids), len(solids.pair)
    touching = Touching(member=np.zeros(pairs, np.int64), touch=np.zeros((pairs, 3)))
    work, bracket = new_work(len(world.bodies), pairs), np.zeros(2)
    clock = Clock(y=y, now=np.array([0.0, grid[-1] or 1.0]), tally=np.zeros(6, np.int64))
    state, elastic = np.empty((len(grid), len(y))), np.empty(len(grid))
    room = 64 + 2 * pairs
    ids, figures = np.empty((room, 2), np.int64), np.empty((room, FIGURES))
    limits = settings.max_steps, settings.tolerance, settings.floor
    while True:
        log = Log(time=grid, state=state, elastic=elastic, event_ids=ids, event=figures)
        end = advance(solids, touching, work, log, clock, bracket, *limits)
        if end != FULL:
            break
        if clock.tally[EVENTS] >= settings.max_events:
            raise CompliantError(f"max_events: more than {settings.max_events} by {clock.now[TIME]:g} s")
        ids, figures = np.concatenate([ids, np.empty_like(ids)]), np.concatenate([figures, np.empty_like(figures)])
    if end == ONE_CENTRE:
        raise CompliantError(f"two bodies have one centre at {clock.now[TIME]:g} s; no direction parts them")
    if end in (TOO_MANY, CRAWLS):
        held = [tuple(world.body_name(i) for i in solids.pair[k]) for k in np.flatnonzero(touching.member)]
        tried, refused = clock.tally[STEPS] + clock.tally[REFUSED], clock.tally[REFUSED]
        raise CompliantError(
            f"max_steps: more than {settings.max_steps} by {clock.now[TIME]:g} s, with contacts {held}"
            if end == TOO_MANY
            else f"no end in sight at {clock.now[TIME]:g} s: {refused} of {tried} steps refused, with contacts {held}; "
            "where flat sides or edges meet, the one point of contact jumps from corner to corner"
        )
    if end != DONE:
        raise CompliantError(f"time stands still at {clock.now[TIME]:.17g} s with steps of {clock.now[STEP]:g} s")
    found = int(clock.tally[EVENTS])
    return motion_of(world, solids, grid, state, elastic, ids[:found], figures[:found], int(clock.tally[STEPS]))


def motion_of(
    world: CompliantWorld, solids: Solids, time: Array, state: Array, elastic: Array, ids: Ids, f: Array, steps: int
) -> CompliantMotion:
    bodies = len(world.bodies)
    each = state[:, :-1].reshape(len(time), bodies, PLACES)
    position, velocity, orientation = each[..., :3].copy(), each[..., V:SPIN].copy(), each[..., Q:V].copy()
    R = rotation(orientation)
    momentum = np.einsum("sbji,sbj->sbi", R, each[..., SPIN:])  # in the body's axes, over the greatest moment
    own = momentum / solids.inertia
    moving = np.array([not body.fixed for body in world.bodies])
    mass, greatest = solids.mass[moving], solids.greatest[moving]
    kinetic = 0.5 * ((velocity[:, moving] ** 2).sum(axis=2) @ mass)
    kinetic += 0.5 * ((momentum * own).sum(axis=2)[:, moving] @ greatest)
    return CompliantMotion(
        time=time, position=position, orientation=orientation, velocity=velocity,
        spin=np.einsum("sbij,sbj->sbi", R, own),
        kinetic=kinetic,
        potential=-(position[:, moving] @ solids.gravity) @ mass,
        elastic=elastic,
        dissipated=state[:, -1].copy(),
        events=ContactEvents(
            time=f[:, 0].copy(), kind=np.array(KINDS, np.str_)[ids[:, 0]], pair=solids.pair[ids[:, 1]],
            point=f[:, 1:4].copy(), normal=f[:, 4:7].copy(), gap=f[:, 7].copy(), approach=f[:, 8].copy(),
            restitution=f[:, 9].copy(), damping=f[:, 10].copy(),
        ),
        steps=steps,
    )  # fmt: skip
