"""Bodies in space that nothing touches, free or held by joints, for the reference engine: joints by accelerations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_engine import Coupling, Distance, Link, Mechanism, MechanismError, simulate_mechanism
from reference_engine.array_types import Array
from scenarios.forces import has_applied_forces, spatial_wrenches
from scenarios.joint_forces import JointWorks, JointWrenches, driven_joints
from scenarios.scene import (
    Hinge,
    Slider,
    SpatialRod,
    SpatialRope,
    SpatialScene,
    colliding_pairs,
    inertias,
    spatial_start,
)
from validation.engines.engine import Setting, Settings
from validation.engines.shared.recorder import one_call, regular_sample_times, step_count
from validation.records.trajectory import Internals, SpatialTrajectory

SETTINGS = {
    "joint_tolerance": Setting(
        default=1e-12,
        low=1e-14,
        high=1e-4,
        fuzzed="less",
        doc="in space: relative error of a step of bodies that joints hold",
    ),
}
MAY_COLLIDE = "the reference engine has joints in space where no bodies can touch; {!r} and {!r} can"


def declines(scene: SpatialScene) -> str | None:
    for a, b in colliding_pairs(scene):
        return MAY_COLLIDE.format(a, b)
    try:
        simulate_mechanism(mechanism_of(scene), [0.0])
    except MechanismError as error:
        return str(error)
    return None


def mechanism_of(scene: SpatialScene) -> Mechanism:
    """Links in the scene's order. Raises MechanismError for what cannot be simulated."""
    starts = [dict(zip(SpatialTrajectory.STATE, parts)) for parts in zip(*spatial_start(scene))]
    inertia = inertias(scene)
    links = tuple(
        Link(
            **starts[i],
            mass=1.0 if body.fixed else float(body.mass or np.nan),
            inertia=1.0 if body.fixed else inertia[i],
            fixed=body.fixed,
            name=body.name,
        )
        for i, body in enumerate(scene.bodies)
    )
    return Mechanism(links=links, joints=couplings_of(scene), gravity=scene.gravity, load=load_of(scene))


def couplings_of(scene: SpatialScene) -> tuple[Coupling | Distance, ...]:
    """Of joints that hold what can move; bodies by their numbers, -1 is the world."""
    index = {None: -1} | {body.name: i for i, body in enumerate(scene.bodies)}
    return tuple(
        _joint(joint, index[joint.a], index[joint.b])
        for joint in scene.joints
        if any(i >= 0 and not scene.bodies[i].fixed for i in (index[joint.a], index[joint.b]))
    )


def _joint(joint: Any, first: int, second: int) -> Coupling | Distance:
    ends: dict[str, Any] = {
        "first": first,
        "second": second,
        "first_point": joint.anchor_a,
        "second_point": joint.anchor_b,
        "name": joint.name,
    }
    if isinstance(joint, (SpatialRod, SpatialRope)):
        return Distance(**ends, length=joint.length, rope=isinstance(joint, SpatialRope))
    return Coupling(
        **ends,
        linear=int(isinstance(joint, Slider)),
        angular={"ball": 3, "hinge": 1, "slider": 0, "fixed": 0}[joint.kind],
        axis=joint.axis if isinstance(joint, (Hinge, Slider)) else None,
    )


def load_of(scene: SpatialScene) -> Callable[[float, Array, Array, Array], Array] | None:
    """Time, positions, orientations and twists (B, 6) to what springs, thrusters, damping and joints make, (B, 6).

    Angles of joints are counted on from call to call: steps turn none by half a turn.
    """

    of_joints = JointWrenches(scene)

    def load(now: float, position: Array, orientation: Array, twist: Array) -> Array:
        state = position, orientation, twist[:, :3], twist[:, 3:]
        wrenches = np.hstack(spatial_wrenches(scene, now, *state))
        return wrenches + np.hstack(of_joints(now, *state)) if of_joints.joints else wrenches

    return load if of_joints.joints or has_applied_forces(scene) else None


def simulate(scene: SpatialScene, dt: float, settings: Settings) -> SpatialTrajectory:
    """Raises JointError, with the values, rather than go on wrongly."""
    samples = regular_sample_times(scene, dt)
    times = np.arange(step_count(scene, dt) + 1) * dt if driven_joints(scene) else samples
    with one_call(scene, dt):
        tolerance = float(settings["joint_tolerance"])
        motion = simulate_mechanism(mechanism_of(scene), times, tolerance=tolerance)
    parts = {name: getattr(motion, name) for name in ("time", *SpatialTrajectory.STATE)}
    internals = None
    if driven_joints(scene):
        chosen = np.isin(times, samples)
        works = JointWorks(scene, 0.0)
        table = np.cumsum([works.until(*row) for row in zip(*parts.values())], axis=0)[chosen]
        internals = Internals(actuators=table[:, 0].copy(), passive=table[:, 1].copy())
        parts = {name: np.ascontiguousarray(part[chosen]) for name, part in parts.items()}
    return SpatialTrajectory(dt=dt, velocity_lag=0.0, internals=internals, **parts)
