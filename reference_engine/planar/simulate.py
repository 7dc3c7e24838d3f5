"""The way in: the motion of a world, every event located."""

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from reference_engine.errors import UnresolvedContact, WorldError
from reference_engine.geometry import planar_shapes as measured
from reference_engine.geometry.outline_gap import Boundary, deepest
from reference_engine.geometry.planar_proximity import deepest_overlap
from reference_engine.planar import layout as col
from reference_engine.planar.run import Run, Settings
from reference_engine.planar_model.motion import ContactForces, Impacts, Motion
from reference_engine.planar_model.shape import Edge, Outline, Polygon, polygon_outline
from reference_engine.planar_model.world import Body, World, passing_pairs

PENETRATION_LIMIT = 1e-10  # m, times 1 + the extent of the scene: deeper is a touch that was missed
EVENTS = ("impact", "accumulation", "made", "broken", "stick", "slip", "indeterminate", "jam", "inexact")
KINDS = np.array(EVENTS, np.str_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Events:
    """One row for each contact at which something happened, in order of time.

    impact          an impulse; its numbers are in Motion.impacts
    accumulation    infinitely many impacts end here, and the contact rests: the limit of their times
    made, broken    the contact began to hold bodies together by a force, or ceased to; a rope became taut or slack
    stick, slip     a contact that slid sticks; one that stuck begins to slide, or one that slid slides the other way
    indeterminate   Painleve 1895: contact forces and parting both obey all laws at a sliding contact; it parts
    jam             an impulse where nothing approaches, because no finite forces obey Coulomb's law at several contacts
                    that slide (Genot & Brogliato 1999); its numbers too are in Motion.impacts
    inexact         forces or impulses were found that obey the laws to 100 times round-off only; the worst contact
    """

    time: Array  # (E,) s
    kind: NDArray[np.str_]  # (E,) of EVENTS
    pair: Indices  # (E, 2) bodies a, b; -1 is the background
    point: Array  # (E, 2) m

    def times(self, kind: str) -> Array:
        """Times of one kind, each once [s]."""
        return np.unique(self.time[self.kind == kind])


@dataclass(frozen=True, kw_only=True, eq=False)
class LocatedMotion(Motion):
    """A Motion whose samples are on the caller's grid and just before and after every impact."""

    noted: tuple[Indices, Array]  # rows of Log.event_ids and of Log.event, as found
    connector_force: Array  # (S, C, 2) N, of each joint, rope and rod on its first body, in axes of the world
    penetration: float  # m, the deepest that any two bodies overlap at any event or sample, by separate geometry
    error_estimate: float | None  # m, see `simulate`; None where it was not asked for
    residual: float  # by how many times round-off forces and impulses break the laws at worst; above 1: see "inexact"
    steps: int  # accepted by the integrator

    @cached_property
    def events(self) -> Events:
        ids, rows = self.noted
        order = np.argsort(rows[:, col.EVENT_TIME], kind="stable")
        ids, rows = ids[order], rows[order]
        kind, pair = KINDS[ids[:, col.KIND_OF_EVENT]], ids[:, col.FIRST_BODY :]
        return Events(time=rows[:, col.EVENT_TIME], kind=kind, pair=pair, point=rows[:, : col.POINT_Y + 1])


def simulate(
    world: World,
    duration: float,
    sample_step: float,
    settings: Settings | None = None,
    *,
    estimate_error: bool = False,
) -> LocatedMotion:
    """The motion from 0 to `duration` [s]: a sample every `sample_step` [s] and just before and after every impact.

    Between events the contacts that hold are fixed, each pressing, sticking or sliding one way, and the motion is
    smooth: DOP853 with dense output (Hairer, Norsett & Wanner 1993), steps as long as the tolerance allows, samples
    from the dense output; parabolas where nothing but gravity acts. The first touch of a step is found by conservative
    advancement (Mirtich 1996), which cannot pass it; forces of contacts by complementarity (Baraff 1994; with
    Coulomb friction Pfeiffer & Glocker 1996).
    Bodies in contact are at gap 0. It has no time step, and none of ContactSim's tolerances.

    `estimate_error`: run once more at ten times the tolerance; the greatest difference between the two of any
    point of any body at any sample of the grid [m] estimates the error of the coarser run, and so bounds that of this
    one where both found the same events.

    Raises WorldError for a world or argument that this mode cannot simulate, ContactForceError where no contact
    forces are found (proven to be none: PainleveError where sliding friction is why, SingularPositionError where
    contacts and joints contradict one another), EndlessEventsError where time cannot go on,
    UnresolvedContact where bodies overlap. What is a DocumentedLimit, too, is no fault of the engine.
    """
    for name, value in (("duration", duration), ("sample_step", sample_step)):
        if not (math.isfinite(value) and value > 0.0):
            raise WorldError(f"{name}: {value!r} s is not a positive finite time")
    count = math.ceil(duration / sample_step - 1e-9)
    grid = np.minimum(np.arange(count + 1) * sample_step, duration)
    return simulate_at(world, grid, settings, estimate_error=estimate_error)


def simulate_at(
    world: World, times: ArrayLike, settings: Settings | None = None, *, estimate_error: bool = False
) -> LocatedMotion:
    """`simulate`, with samples at given times [s], ascending from 0, and just before and after every impact."""
    grid, settings = np.array(times, np.float64), settings or Settings()
    ascends = grid.ndim == 1 and grid.size > 0 and grid[0] == 0.0 and bool((grid[1:] > grid[:-1]).all())
    if not ascends or not math.isfinite(grid[-1]):
        raise WorldError("times: they must be finite and ascend from 0")
    run = Run(world, settings, grid)
    run.go_on()
    log, loop = run.arrays.log, run.arrays.loop
    motion, estimate, events, poses = motion_of(run), None, loop.counters[col.EVENTS], loop.counters[col.EVENT_TIMES]
    if estimate_error:
        coarse = Run(world, dataclasses.replace(settings, tolerance=min(1e-2, 10.0 * settings.tolerance)), grid)
        coarse.go_on()
        estimate = difference(world, grid, motion, motion_of(coarse))
        coarse.give_back()
    ids, between = log.event_ids[:events].copy(), log.pose[:poses].reshape(poses, len(world.bodies) + 1, 3)[:, :-1]
    ids[:, col.FIRST_BODY :] = bodies_of(world, ids[:, col.FIRST_BODY :])
    located = LocatedMotion(
        **{field.name: getattr(motion, field.name) for field in dataclasses.fields(Motion)},
        noted=(ids, log.event[:events].copy()),
        connector_force=log.pull[: len(motion.time)].reshape(len(motion.time), -1, 2).copy(),
        penetration=penetration(
            world, np.concatenate([motion.pose, between]), np.concatenate([motion.time, log.event_time[:poses]])
        ),
        error_estimate=estimate,
        residual=float(loop.now[col.RESIDUAL]),
        steps=int(loop.counters[col.STEPS]),
    )
    run.give_back()
    return located


def motion_of(run: Run) -> Motion:
    """Copied out of the workspace of the run."""
    log, count, bodies = run.arrays.log, run.arrays.loop.counters, len(run.world.bodies)
    samples, contacts, impacts = (int(count[rows]) for rows in (col.SAMPLES, col.CONTACTS, col.IMPACTS))
    state = log.state[:samples].reshape(samples, 2, bodies + 1, 3)[:, :, :bodies]
    c, i = log.contact[:contacts].copy(), log.impact[:impacts].copy()
    point, normal = slice(col.POINT_X, col.POINT_Y + 1), slice(col.NORMAL_X, col.NORMAL_Y + 1)
    return Motion(
        time=log.time[:samples].copy(),
        pose=state[:, 0].copy(),
        twist=state[:, 1].copy(),
        contacts=ContactForces(
            pair=bodies_of(run.world, log.contact_pair[:contacts]), point=c[:, point], normal=c[:, normal],
            gap=c[:, col.AT_GAP], force=c[:, col.NORMAL_FORCE], friction=c[:, col.FRICTION_FORCE],
        ),
        first_contact=log.first[: samples + 1].copy(),
        impacts=Impacts(
            time=i[:, col.IMPACT_TIME], pair=bodies_of(run.world, log.impact_pair[:impacts]), point=i[:, point],
            normal=i[:, normal], gap=i[:, col.AT_GAP], speed=i[:, col.APPROACH], impulse=i[:, col.NORMAL_IMPULSE],
            friction=i[:, col.FRICTION_IMPULSE],
        ),
    )  # fmt: skip


def bodies_of(world: World, rows: Indices) -> Indices:
    """Rows of the state as bodies of the world, copied: the background, to which connectors lead, is -1."""
    return np.where(rows == len(world.bodies), -1, rows)


def difference(world: World, grid: Array, fine: Motion, coarse: Motion) -> float:
    """The greatest distance between the two positions of any point of any body, at the times of the grid [m]."""
    moving = [i for i, body in enumerate(world.bodies) if not body.fixed]
    bounding_radius = np.array([boundary_of(world.bodies[i]).bounding_radius for i in moving])
    a, b = (m.pose[np.searchsorted(m.time, grid, side="right") - 1][:, moving] for m in (fine, coarse))
    apart = elementary.hypot(a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]) + bounding_radius * np.abs(
        a[..., 2] - b[..., 2]
    )
    return float(apart.max(initial=0.0))


def penetration(world: World, poses: Array, times: Array | None = None) -> float:
    """The deepest overlap of any pair in any of the poses (S, B, 3) [m], by the geometry that measures all engines.

    At these times (S,) [s]; without them at 0.

    It has no arcs but discs and bowls: pairs with other arcs are measured by `geometry.outline_gap`.
    """
    count, passing = len(world.bodies), passing_pairs(world)
    times = np.zeros(len(poses)) if times is None else times
    rounded = [isinstance(b.shape, Outline) and any(edge.centre for edge in b.shape.edges) for b in world.bodies]
    fixed = [body.fixed for body in world.bodies]
    plain = [i for i in range(count) if not rounded[i]]
    pairs, overlaps = [], []  # both plain; depth, time, bodies
    for j in range(count):
        for i in range(j):
            if (fixed[i] and fixed[j]) or (i, j) in passing:
                continue
            if not (rounded[i] or rounded[j]):
                pairs.append((i, j))
                continue
            depth = deepest(boundary_of(world.bodies[i]), boundary_of(world.bodies[j]), poses[:, i], poses[:, j])
            overlaps.append((float(depth.max(initial=0.0)), float(times[depth.argmax()]), i, j))
    if pairs:
        shapes = measured.planar_shapes([measured_shape(world.bodies[i]) for i in plain], [fixed[i] for i in plain])
        if len(plain) == count:
            near = deepest_overlap(shapes, poses, pairs)
        else:
            near = deepest_overlap(shapes, poses[:, plain], [(plain.index(i), plain.index(j)) for i, j in pairs])
        if near:
            gap, sample, a, b = near
            overlaps.append((-gap, float(times[sample]), plain[a], plain[b]))
    worst, time, i, j = max(overlaps, default=(0.0, 0.0, 0, 0))
    moving = [k for k, body in enumerate(world.bodies) if not body.fixed]
    extent = float(np.abs(poses[:, moving, :2]).max(initial=0.0)) if worst > PENETRATION_LIMIT else 0.0
    if worst > PENETRATION_LIMIT * (1.0 + extent):
        names = world.body_name(i), world.body_name(j)
        raise UnresolvedContact("bodies overlap: a touch was missed", time=time, bodies=names, gap=-worst)
    return max(0.0, worst)


def measured_shape(body: Body) -> measured.PlanarShape:
    """Of a body without arcs but discs and bowls, about its centre of mass."""
    if isinstance(body.shape, Outline):
        x, y = body.shape.centre_of_mass
        return measured.Polygon([(edge.start[0] - x, edge.start[1] - y) for edge in body.shape.edges])
    return body.shape


def boundary_of(body: Body) -> Boundary:
    """Its edges as they are given, about its centre of mass."""
    outline = polygon_outline(body.shape.vertices) if isinstance(body.shape, Polygon) else body.shape
    if not isinstance(outline, Outline):
        return measured.boundary_of(outline)
    middle, unknown = np.array(outline.centre_of_mass), (math.nan, math.nan)
    return Boundary(
        start=np.array([edge.start for edge in outline.edges]) - middle,
        end=np.array([edge.end for edge in outline.edges]) - middle,
        centre=np.array([edge.centre or unknown for edge in outline.edges]) - middle,
        sweep=np.array([sweep_of(edge) for edge in outline.edges]),
    )


def sweep_of(edge: Edge) -> float:
    """Of an arc, counter-clockwise [rad]; 0 if straight."""
    if edge.centre is None:
        return 0.0
    low, high = edge.angles()
    return low - high if edge.clockwise else high - low
