"""Solids in space of materials, for the reference engine: elastic, damped contact, every touch located."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from reference_engine import (
    CompliantBody,
    CompliantError,
    CompliantMotion,
    CompliantSettings,
    CompliantWorld,
    Material,
    Materials,
    PairLaw,
    simulate_compliant,
)
from reference_engine.geometry import spatial_shapes as shapes
from scenarios.scene import SpatialScene, features, inertias, spatial_start
from validation.engines.engine import Setting, Settings
from validation.engines.recorder import Recorder, report_step_times
from validation.trajectory import Impacts, Trajectory

OWN = CompliantSettings()
SETTINGS = {
    "compliant_tolerance": Setting(
        default=OWN.tolerance, low=1e-15, high=1e-3, doc="of compliant contact: local error of a step, SI units"
    ),
}
KNOWS_NOT = {
    "hollow-sphere": "the reference engine has no compliant contact with the inside of a sphere",
    "damping": "the reference engine has compliant contact under gravity alone; this scene has damping",
    "springs": "the reference engine has compliant contact under gravity alone; this scene has springs",
    "thrusters": "the reference engine has compliant contact under gravity alone; this scene has thrusters",
    "groups": "the reference engine lets no bodies in space pass through one another, not even those of one group",
}
JOINED = "the reference engine has no compliant contact between bodies that joints hold; this scene has joint {!r}"


def declines(scene: SpatialScene) -> str | None:
    """A scene that it takes is set up and begun: that compiles the kernels, in a process without a time limit."""
    found = features(scene)
    if reason := next((why for feature, why in KNOWS_NOT.items() if feature in found), None):
        return reason
    if scene.joints:
        return JOINED.format(scene.joints[0].name)
    try:
        simulate_compliant(world_of(scene), [0.0])
    except CompliantError as error:
        return str(error)
    return None


def world_of(scene: SpatialScene) -> CompliantWorld:
    """Bodies and boundaries in the scene's order. Raises CompliantError."""
    given = scene.contact.compliant
    assert given is not None
    position, orientation, velocity, spin = spatial_start(scene)
    moments = inertias(scene)
    bodies = [
        CompliantBody(
            shape=solid(body.shape),
            material=str(body.material),
            position=tuple(position[i]),
            orientation=tuple(orientation[i]),
            velocity=tuple(velocity[i]),
            spin=tuple(spin[i]),
            mass=body.mass or 1.0,
            inertia=None if body.fixed else tuple(moments[i]),
            contact_radius=body.contact_radius,
            fixed=body.fixed,
            name=body.name,
        )
        for i, body in enumerate(scene.bodies)
    ]
    bodies += [
        CompliantBody(shape=solid(boundary), material=str(boundary.material), fixed=True, name=boundary.name)
        for boundary in scene.boundaries
    ]
    return CompliantWorld(
        bodies=tuple(bodies),
        materials=Materials(
            materials={
                m.name: Material(young_modulus=m.young_modulus, poisson_ratio=m.poisson_ratio) for m in given.materials
            },
            pairs={(pair.a, pair.b): PairLaw(**pair.model_dump(exclude={"a", "b"})) for pair in given.pairs},
        ),
        gravity=scene.gravity,
        most_damping=given.most_damping,
    )


def solid(shape: Any) -> Any:
    match shape.kind:
        case "sphere":
            return shapes.Sphere(shape.radius)
        case "capsule":
            return shapes.Capsule(shape.radius, shape.length / 2.0)
        case "cylinder":
            return shapes.Cylinder(shape.radius, shape.length / 2.0)
        case "box":
            return shapes.Box(np.array(shape.size) / 2.0)
        case "ellipsoid":
            return shapes.Ellipsoid(shape.semi_axes)
        case "convex-mesh":
            return shapes.ConvexMesh(shape.points)
        case "half-space":
            return shapes.HalfSpace(shape.point, shape.normal)
    raise TypeError(shape)


def simulate(scene: SpatialScene, dt: float, settings: Settings) -> Trajectory:
    """Kept as those of engines with steps are: every step around an impact. Raises CompliantError, with the figures."""
    recorder = Recorder(scene, dt, velocity_lag=0.0)
    times = np.arange(recorder.step_count + 1) * dt
    started = time.perf_counter()
    motion = simulate_compliant(
        world_of(scene), times, CompliantSettings(tolerance=float(settings["compliant_tolerance"]))
    )
    report_step_times([(time.perf_counter() - started) / recorder.step_count] * recorder.step_count)
    count = len(scene.bodies)
    for state in zip(motion.position, motion.orientation, motion.velocity, motion.spin):
        recorder.read(*(part[:count] for part in state))
    return replace(recorder.trajectory(), impacts=impacts_of(motion))


def impacts_of(motion: CompliantMotion) -> Impacts:
    """Every touch at its own time. What a contact gives until the two part is no impulse at an instant: NaN."""
    events = motion.events
    met = events.kind == "contact"
    return Impacts(
        time=events.time[met],
        a=events.pair[met, 0],
        b=events.pair[met, 1],
        point=events.point[met],
        impulse=np.full((int(met.sum()), 3), np.nan),
        normal=events.normal[met],
        gap=events.gap[met],
        approach=events.approach[met],
        restitution=events.restitution[met],
    )
