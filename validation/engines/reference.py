"""The reference engine: ContactSim, an event-driven engine for the plane that computes contact forces exactly.

What its user should know (`reference_engine`):
- Bodies meet and rest at a gap of half the distance tolerance, 5 mm, as the original's do: an impact is early by the
  time to fall that far (about 1 ms), and a body at rest hovers. The gap is shown, not hidden.
- It has no friction, no joints, no springs, no arcs but discs, no concave polygons: such scenes are declined, and so
  are bodies that overlap at the start, because nothing in it pushes bodies out of each other.
- "default" is the original with velocity extra acceleration. "fair" locates impacts to 1 % of the gap and lets bodies
  part at 0.05 m/s (contact forces otherwise do work on them). Where nothing is in touch at the start, impacts matter:
  then all places of an impact are resolved together, and approaches down to 0.1 m/s count as impacts. Where bodies rest
  on one another, the original's random order of impulses and its 0.5 m/s stay.
"""

from __future__ import annotations

import math
import time
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

import reference_engine as library
from reference_engine import Motion, WorldError
from reference_engine.planar.motion import Sample, collect
from reference_engine.planar.world import COLLISION_HANDLINGS, EXTRA_ACCELERATIONS
from scenarios.scene import Disc, HalfPlane, PlanarScene, Polygon, Scene, features, inertias
from validation.engines.engine import Setting, Settings, Value
from validation.engines.recorder import BASE_RATE, IMPACT_JUMP, PAIR_EVERY, QUIET_JUMP, report_step_times
from validation.trajectory import Contacts, Impacts, PlanarTrajectory
from validation.version import __version__

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

DECLINES = {
    "spatial": "the reference engine is planar",
    "friction": "the reference engine has no friction yet",
    "concave-polygon": "the reference engine has convex polygons only, yet",
    "arc-polygon": "the reference engine has no arcs but discs yet",
    "bowl": "the reference engine has no bowl yet: its arcs are discs",
    "revolute": "the reference engine has no joints yet",
    "rod": "the reference engine has no rods yet",
    "rope": "the reference engine has no ropes yet",
    "springs": "the reference engine has no springs yet",
    "thrusters": "the reference engine has no thrusters yet",
}
SETTINGS = {
    "distance_tolerance": Setting(default=0.01, low=1e-6, high=1.0, doc="m; bodies rest and meet at half of it"),
    "velocity_tolerance": Setting(default=0.5, low=1e-6, high=1e3, doc="m/s; slower approaches are contacts"),
    "separation_tolerance": Setting(
        default=0.5, low=1e-6, high=1e3, doc="m/s; faster, extra acceleration lets a contact part"
    ),
    "collision_accuracy": Setting(
        default=0.6, low=1e-6, high=0.999, doc="part of the gap to which impacts are located"
    ),
    "extra_acceleration": Setting(default="velocity", choices=EXTRA_ACCELERATIONS, doc="what takes contacts to rest"),
    "extra_acceleration_time_step": Setting(default=0.025, low=1e-4, high=10.0, doc="s, in which it does so"),
    "collision_handling": Setting(
        default="serial_grouped_lastpass", choices=COLLISION_HANDLINGS, doc="order of several impulses at once"
    ),
    "random_seed": Setting(default=0, low=0, high=2**32 - 1, doc="of the order in serial handling"),
}
FAIR: dict[str, Value] = {"collision_accuracy": 0.01, "separation_tolerance": 0.05}
FAIR_IN_FLIGHT: dict[str, Value] = {"collision_handling": "simultaneous", "velocity_tolerance": 0.1}
KEEP_AROUND = 2  # samples on either side of an impact


class Reference:
    name = "reference"
    version = __version__
    settings = SETTINGS
    profiles = ("default", "fair")

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name == "default" or self.declines(scene):
            return {}
        assert isinstance(scene, PlanarScene)
        return {**FAIR} if starts_in_touch(scene) else {**FAIR, **FAIR_IN_FLIGHT}

    def declines(self, scene: Scene) -> str | None:
        found = features(scene)
        for feature, reason in DECLINES.items():
            if feature in found:
                return reason
        assert isinstance(scene, PlanarScene)
        try:
            first_sample(scene)
        except WorldError as error:
            return str(error)
        return None

    def warm_up(self) -> None:
        """Compile or load every kernel: a box on a ground and a disc that falls on it."""
        for handling in ("serial_grouped_lastpass", "simultaneous"):
            library.simulate(
                library.World(
                    bodies=(
                        library.Body(shape=library.HalfPlane(), fixed=True),
                        library.Body(shape=library.box(1.0, 1.0), position=(0.0, 0.505)),
                        library.Body(shape=library.Disc(0.1), position=(0.0, 1.2)),
                    )
                ),
                0.5,
                1.0 / 60.0,
                library.Settings(collision_handling=handling),
            )

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> PlanarTrajectory:
        """Raises UnresolvedContact or ContactForceError, with the figures, rather than go on wrongly."""
        assert isinstance(scene, PlanarScene)
        given = {field.name: settings[field.name] for field in fields(library.Settings)}
        duration = max(1, round(scene.duration / dt)) * dt
        rows, clock = [], StepClock(dt)
        # The settings' values are checked against `SETTINGS`; mypy sees a union of their types.
        for sample in library.samples(world_of(scene), duration, dt, library.Settings(**given)):  # type: ignore[arg-type]
            clock.read(sample)
            rows.append(sample)
        report_step_times(clock.times)
        return trajectory_of(collect(rows), scene, dt)


class StepClock:
    """Wall time of each step, that of its impacts included."""

    def __init__(self, dt: float) -> None:
        self.dt, self.times, self.step = dt, [], 0  # type: float, list[float], int
        self.started = time.perf_counter()

    def read(self, sample: Sample) -> None:
        if sample.time >= (self.step + 1) * self.dt * (1.0 - 1e-12):
            now = time.perf_counter()
            self.times.append(now - self.started)
            self.step, self.started = self.step + 1, now


# --- scene to world -------------------------------------------------------------------------------


def world_of(scene: PlanarScene) -> library.World:
    """Bodies, then boundaries, in the scene's order."""
    inertia = inertias(scene)
    bodies = []
    for i, body in enumerate(scene.bodies):
        assert isinstance(body.shape, (Polygon, Disc))
        shape = (
            library.Disc(body.shape.radius) if isinstance(body.shape, Disc) else library.Polygon(body.shape.vertices)
        )
        own = {} if body.fixed else {"mass": float(body.mass or math.nan), "inertia": float(inertia[i])}
        bodies.append(
            library.Body(
                shape=shape,
                position=body.position,
                angle=body.angle,
                velocity=body.velocity,
                spin=body.spin,
                fixed=body.fixed,
                group=body.group,
                name=body.name,
                **own,
            )
        )
    for boundary in scene.boundaries:
        assert isinstance(boundary, HalfPlane)
        angle = math.atan2(-boundary.normal[0], boundary.normal[1])
        bodies.append(
            library.Body(
                shape=library.HalfPlane(), position=boundary.point, angle=angle, fixed=True, name=boundary.name
            )
        )
    members = (*scene.bodies, *scene.boundaries)
    return library.World(
        bodies=tuple(bodies),
        gravity=scene.gravity,
        damping=scene.damping.linear,
        rotational_damping=scene.damping.angular,
        restitution=[[scene.pair_law(a, b)[1] for b in members] for a in members],
    )


def first_sample(scene: PlanarScene) -> Sample:
    """The start, with its resting contacts. Raises WorldError where bodies overlap."""
    return next(iter(library.samples(world_of(scene), 1.0, 1e-3)))


def starts_in_touch(scene: PlanarScene) -> bool:
    return len(first_sample(scene).contacts.force) > 0


# --- motion to trajectory -------------------------------------------------------------------------


def trajectory_of(motion: Motion, scene: PlanarScene, dt: float) -> PlanarTrajectory:
    """Every sample around an impact, at most 60 a second elsewhere. The hash is over all of them."""
    count = len(scene.bodies)
    whole = PlanarTrajectory(
        time=motion.time,
        dt=dt,
        velocity_lag=0.0,
        pose=np.ascontiguousarray(motion.pose[:, :count]),
        twist=np.ascontiguousarray(motion.twist[:, :count]),
    )
    keep = worth_keeping(motion, scene, dt)
    rows = np.repeat(np.arange(len(motion.time)), np.diff(motion.first_contact))
    kept = np.flatnonzero(keep[rows])
    contacts, impacts = motion.contacts, motion.impacts
    impulse = contacts.force * dt
    return PlanarTrajectory(
        time=whole.time[keep],
        dt=dt,
        velocity_lag=0.0,
        pose=whole.pose[keep],
        twist=whole.twist[keep],
        state_hash=whole.state_hash,
        contacts=Contacts(
            sample=(np.cumsum(keep) - 1)[rows[kept]],
            a=contacts.pair[kept, 0],
            b=contacts.pair[kept, 1],
            point=contacts.point[kept],
            normal=contacts.normal[kept],
            gap=contacts.gap[kept],
            impulse=impulse[kept, None] * contacts.normal[kept],
        ),
        impacts=Impacts(
            time=impacts.time,
            a=impacts.pair[:, 0].copy(),
            b=impacts.pair[:, 1].copy(),
            point=impacts.point,
            impulse=impacts.impulse[:, None] * impacts.normal,
        ),
    )


def worth_keeping(motion: Motion, scene: PlanarScene, dt: float) -> Flags:
    """(S,) as the recorder chooses: the base rate, pairs of adjoining steps now and then, all around what happens."""
    step = np.rint(motion.time / dt).astype(np.int64)
    on_grid = np.abs(motion.time - step * dt) <= 1e-9 * dt
    stride = max(1, math.ceil(1.0 / (BASE_RATE * dt) - 1e-9))
    strides, beyond = np.divmod(step, stride)
    keep = on_grid & ((beyond == 0) | ((beyond == 1) & (strides % PAIR_EVERY == 0)))
    keep[-1] = True
    elapsed = np.diff(motion.time)
    jump = np.diff(motion.twist[:, :, :2], axis=0) - np.array(scene.gravity) * elapsed[:, None, None]
    met = (elapsed == 0.0) | (
        np.linalg.norm(jump, axis=2).max(axis=1) > IMPACT_JUMP * np.linalg.norm(scene.gravity) * dt + QUIET_JUMP
    )
    for row in np.flatnonzero(met):
        keep[max(0, row - KEEP_AROUND) : row + KEEP_AROUND + 2] = True
    return keep
