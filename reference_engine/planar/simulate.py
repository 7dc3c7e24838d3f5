"""The way in: the motion of a world, every event located."""

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_engine import elementary
from reference_engine.errors import UnresolvedContact, WorldError
from reference_engine.geometry import planar_shapes as measured
from reference_engine.geometry.outline_depth import Boundary, deepest
from reference_engine.geometry.planar_proximity import deepest_overlap
from reference_engine.planar.model import passing_pairs
from reference_engine.planar.motion import LocatedMotion
from reference_engine.planar.run import Run
from reference_engine.planar.settings import Settings
from reference_engine.planar_model.motion import ContactForces, Impacts, Motion
from reference_engine.planar_model.outline import Edge, Outline, polygon_outline
from reference_engine.planar_model.shape import Bowl, Disc, Polygon, bounding_radius
from reference_engine.planar_model.world import Body, World

Array = NDArray[np.float64]

PENETRATION_LIMIT = 1e-10  # m, times 1 + the extent of the scene: deeper is a touch that was missed


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
    forces exist (PainleveError where sliding friction is why), UnresolvedContact where time cannot go on or bodies
    overlap.
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
    run = run_of(world, settings, grid)
    motion, estimate = motion_of(run), None
    if estimate_error:
        coarse = run_of(world, dataclasses.replace(settings, tolerance=min(1e-2, 10.0 * settings.tolerance)), grid)
        estimate = difference(world, grid, motion, motion_of(coarse))
        coarse.give_back()
    poses, times = motion.pose, motion.time
    if len(run.event_times()):
        poses, times = np.concatenate([poses, run.event_poses()]), np.concatenate([times, run.event_times()])
    located = LocatedMotion(
        time=motion.time, pose=motion.pose, twist=motion.twist, contacts=motion.contacts,
        first_contact=motion.first_contact, impacts=motion.impacts,
        noted=run.events(),
        connector_force=run.log.pull[: len(motion.time)].reshape(len(motion.time), -1, 2).copy(),
        penetration=penetration(world, poses, times),
        error_estimate=estimate,
        residual=run.residual,
        steps=run.steps,
    )  # fmt: skip
    run.give_back()
    return located


def run_of(world: World, settings: Settings, grid: Array) -> Run:
    run = Run(world, settings, grid)
    run.go_on()
    return run


def motion_of(run: Run) -> Motion:
    """Copied out of the room of the run."""
    log, bodies = run.log, len(run.world.bodies)
    samples, contacts, impacts = run.counts()
    state = log.state[:samples].reshape(samples, 2, bodies + 1, 3)[:, :, :bodies]
    c, i = log.contact[:contacts].copy(), log.impact[:impacts].copy()
    return Motion(
        time=log.time[:samples].copy(),
        pose=state[:, 0].copy(),
        twist=state[:, 1].copy(),
        contacts=ContactForces(
            pair=run.bodies(log.contact_pair[:contacts]), point=c[:, 0:2], normal=c[:, 2:4], gap=c[:, 4], force=c[:, 5],
            friction=c[:, 6],
        ),
        first_contact=log.first[: samples + 1].copy(),
        impacts=Impacts(
            time=i[:, 0], pair=run.bodies(log.impact_pair[:impacts]), point=i[:, 1:3], normal=i[:, 3:5], gap=i[:, 5],
            speed=i[:, 6], impulse=i[:, 7], friction=i[:, 8],
        ),
    )  # fmt: skip


def difference(world: World, grid: Array, fine: Motion, coarse: Motion) -> float:
    """The greatest distance between the two positions of any point of any body, at the times of the grid [m]."""
    moving = [i for i, body in enumerate(world.bodies) if not body.fixed]
    bounding_radius = np.array([bounding_radius_of(world.bodies[i]) for i in moving])
    a, b = (m.pose[np.searchsorted(m.time, grid, side="right") - 1][:, moving] for m in (fine, coarse))
    apart = elementary.hypot(a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]) + bounding_radius * np.abs(
        a[..., 2] - b[..., 2]
    )
    return float(apart.max(initial=0.0))


def bounding_radius_of(body: Body) -> float:
    """The furthest point of a body from its centre of mass [m]."""
    shape = body.shape
    if isinstance(shape, Outline):
        return boundary_of(body).bounding_radius
    return shape.radius if isinstance(shape, Disc | Bowl) else bounding_radius(shape)


def penetration(world: World, poses: Array, times: Array | None = None) -> float:
    """The deepest overlap of any pair in any of the poses (S, B, 3) [m], by the geometry that measures all engines.

    At these times (S,) [s]; without them at 0.

    It has no arcs but discs and bowls: pairs with other arcs are measured by `geometry.outline_depth`.
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
