"""Bodies in space that nothing touches, free or held by joints, for the reference engine: joints by accelerations."""

from collections.abc import Callable

import numpy as np

from reference_engine import Coupling, Link, Mechanism, MechanismError, simulate_mechanism
from reference_engine.array_types import Array
from scenarios.forces import has_applied_forces, spatial_wrenches
from scenarios.scene import Hinge, Slider, SpatialScene, colliding_pairs, inertias, spatial_start
from validation.engines.engine import Setting, Settings
from validation.engines.shared.recorder import one_call, regular_sample_times
from validation.records.trajectory import SpatialTrajectory

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
    index = {None: -1} | {body.name: i for i, body in enumerate(scene.bodies)}
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
    joints = tuple(
        Coupling(
            first=index[joint.a],
            second=index[joint.b],
            linear=int(isinstance(joint, Slider)),
            angular={"ball": 3, "hinge": 1, "slider": 0}[joint.kind],
            first_point=joint.anchor_a,
            second_point=joint.anchor_b,
            axis=joint.axis if isinstance(joint, (Hinge, Slider)) else None,
            name=joint.name,
        )
        for joint in scene.joints
        if any(i >= 0 and not scene.bodies[i].fixed for i in (index[joint.a], index[joint.b]))
    )
    return Mechanism(links=links, joints=joints, gravity=scene.gravity, load=load_of(scene))


def load_of(scene: SpatialScene) -> Callable[[float, Array, Array, Array], Array] | None:
    """Time, positions, orientations and twists (B, 6) to what springs, thrusters and damping make, (B, 6)."""

    def load(now: float, position: Array, orientation: Array, twist: Array) -> Array:
        return np.hstack(spatial_wrenches(scene, now, position, orientation, twist[:, :3], twist[:, 3:]))

    return load if has_applied_forces(scene) else None


def simulate(scene: SpatialScene, dt: float, settings: Settings) -> SpatialTrajectory:
    """Raises JointError, with the values, rather than go on wrongly."""
    with one_call(scene, dt):
        tolerance = float(settings["joint_tolerance"])
        motion = simulate_mechanism(mechanism_of(scene), regular_sample_times(scene, dt), tolerance=tolerance)
    parts = {name: getattr(motion, name) for name in ("time", *SpatialTrajectory.STATE)}
    return SpatialTrajectory(dt=dt, velocity_lag=0.0, **parts)
