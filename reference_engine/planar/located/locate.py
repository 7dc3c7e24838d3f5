"""The way in: the motion of a world, every event located."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from reference_engine.geometry import planar_shapes as measured
from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.planar.errors import UnresolvedContact, WorldError
from reference_engine.planar.located.clock import Clock
from reference_engine.planar.located.motion import Events, LocatedMotion
from reference_engine.planar.located.settings import LocatedSettings
from reference_engine.planar.motion import Motion, collect
from reference_engine.planar.shape import Disc, Polygon
from reference_engine.planar.world import World

Array = NDArray[np.float64]

PENETRATION_LIMIT = 1e-10  # m, times 1 + the extent of the scene: deeper is a touch that was missed


def locate(
    world: World,
    duration: float,
    sample_step: float,
    settings: LocatedSettings | None = None,
    *,
    estimate_error: bool = False,
) -> LocatedMotion:
    """The motion from 0 to `duration` [s]: a sample every `sample_step` [s] and just before and after every impact.

    Between events the contacts that hold are fixed and the motion is smooth: DOP853 with dense output (Hairer,
    Norsett & Wanner 1993), steps as long as the tolerance allows, samples from the dense output. The first touch
    of a step is found by conservative advancement (Mirtich 1996), which cannot pass it, forces of touching places by
    complementarity (Baraff 1994). Bodies in contact are at gap 0. It is a function of its own, not a setting of
    `simulate`: it has no time step, and none of ContactSim's tolerances.

    `estimate_error`: run once more at ten times the tolerance; the greatest difference between the two of any
    point of any body at any sample of the grid [m] bounds the error of the coarser run, and so of this one.

    Raises WorldError for a world or argument that this mode cannot simulate, ContactForceError where no contact
    forces exist, UnresolvedContact where time cannot go on or bodies overlap.
    """
    settings = settings or LocatedSettings()
    for name, value in (("duration", duration), ("sample_step", sample_step)):
        if not (math.isfinite(value) and value > 0.0):
            raise WorldError(f"{name}: {value!r} s is not a positive finite time")
    count = math.ceil(duration / sample_step - 1e-9)
    grid = np.minimum(np.arange(count + 1) * sample_step, duration)
    clock = Clock(world, settings)
    motion = collect(clock.run(grid))
    estimate = None
    if estimate_error:
        coarse = dataclasses.replace(settings, tolerance=min(1e-2, 10.0 * settings.tolerance))
        estimate = difference(world, grid, motion, collect(Clock(world, coarse).run(grid)))
    poses = np.concatenate([motion.pose, np.reshape(clock.event_poses, (-1, *motion.pose.shape[1:]))])
    return LocatedMotion(
        **{field.name: getattr(motion, field.name) for field in dataclasses.fields(Motion)},
        events=event_log(clock),
        penetration=penetration(world, poses),
        error_estimate=estimate,
        steps=clock.steps,
    )


def event_log(clock: Clock) -> Events:
    rows = sorted(clock.log, key=lambda row: row[0])
    return Events(
        time=np.array([row[0] for row in rows], np.float64),
        kind=np.array([row[1] for row in rows], np.str_),
        pair=np.array([row[2:4] for row in rows], np.int64).reshape(-1, 2),
        point=np.array([row[4:6] for row in rows], np.float64).reshape(-1, 2),
    )


def difference(world: World, grid: Array, fine: Motion, coarse: Motion) -> float:
    """The greatest distance between the two positions of any point of any body, at the times of the grid [m]."""
    moving = [i for i, body in enumerate(world.bodies) if not body.fixed]
    reach = np.array([radius_of(world.bodies[i].shape) for i in moving])
    a, b = (m.pose[np.searchsorted(m.time, grid, side="right") - 1][:, moving] for m in (fine, coarse))
    apart = np.hypot(a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]) + reach * np.abs(a[..., 2] - b[..., 2])
    return float(apart.max(initial=0.0))


def radius_of(shape: object) -> float:
    if isinstance(shape, Disc):
        return shape.radius
    return float(np.hypot(*shape.vertices.T).max()) if isinstance(shape, Polygon) else 0.0


def penetration(world: World, poses: Array) -> float:
    """The deepest overlap of any pair in any of the poses (S, B, 3) [m], by the geometry that measures all engines."""
    shapes: list[measured.PlanarShape] = []
    for body in world.bodies:
        if isinstance(body.shape, Polygon):
            shapes.append(measured.Polygon(body.shape.vertices))
        elif isinstance(body.shape, Disc):
            shapes.append(measured.Disc(body.shape.radius))
        else:
            shapes.append(measured.HalfPlane((0.0, 0.0), (0.0, 1.0)))
    fixed = [body.fixed for body in world.bodies]
    groups = [body.group for body in world.bodies]
    ignore = [(i, j) for i in range(len(groups)) for j in range(i) if groups[i] and groups[i] == groups[j]]
    near = planar_proximities(measured.planar_shapes(shapes, fixed), poses, 0.0, ignore or None)
    deepest = float(max(0.0, -near.gap.min(initial=0.0)))
    moving = [i for i, body in enumerate(world.bodies) if not body.fixed]
    if deepest > PENETRATION_LIMIT * (1.0 + float(np.abs(poses[:, moving, :2]).max(initial=0.0))):
        k = int(near.gap.argmin())
        names = world.body_name(int(near.a[k])), world.body_name(int(near.b[k]))
        raise UnresolvedContact("bodies overlap: a touch was missed", time=math.nan, bodies=names, gap=-deepest)
    return deepest
