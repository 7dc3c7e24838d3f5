"""Solids in space of materials, for the reference engine: elastic, damped contact, every touch located."""

from dataclasses import replace
from typing import Any

import numpy as np

import reference_engine as library
from reference_engine.compliant.world import Shape
from scenarios.geometry import solid
from scenarios.scene import SpatialRope, SpatialScene, features, inertias, spatial_start
from validation.engines.engine import Setting, Settings
from validation.engines.reference.mechanisms import couplings_of
from validation.engines.shared.recorder import Recorder, one_call
from validation.records.trajectory import Impacts, SpatialTrajectory, Trajectory

PARTS = 4  # of a step, over which forces are summed up
BOOLE, SIMPSON = np.array([7, 32, 12, 32, 7]) / 90.0, np.array([1, 0, 4, 0, 1]) / 6.0
STEADY = 1e-3  # of an impulse: by how much the sum over half as many parts may be another

OWN = library.CompliantSettings()
SETTINGS = {
    "compliant_tolerance": Setting(
        default=OWN.tolerance,
        low=1e-15,
        high=1e-3,
        fuzzed="less",
        doc="of compliant contact: local error of a step, SI units",
    ),
}
KNOWS_NOT = {
    "hollow-sphere": "the reference engine has no compliant contact with the inside of a sphere",
    "damping": "the reference engine has compliant contact under gravity alone; this scene has damping",
    "springs": "the reference engine has compliant contact under gravity alone; this scene has springs",
    "thrusters": "the reference engine has compliant contact under gravity alone; this scene has thrusters",
    "groups": "the reference engine lets no bodies in space pass through one another, not even those of one group",
}
KNOWS_NO_JOINT = (
    "the reference engine has compliant contact beside joints that hold from both sides, passively; not so {!r}"
)
BOUND_PAIR = "the reference engine lets bodies that a joint couples pass through one another; not so joint {!r}"


def declines(scene: SpatialScene) -> str | None:
    """A scene that it takes is set up and begun: that compiles the kernels, in a process without a time limit."""
    found = features(scene)
    if reason := next((why for feature, why in KNOWS_NOT.items() if feature in found), None):
        return reason
    for joint in scene.joints:
        if isinstance(joint, SpatialRope) or getattr(joint, "is_driven", False):
            return KNOWS_NO_JOINT.format(joint.name)
        if joint.collide and joint.b is not None:
            return BOUND_PAIR.format(joint.name)
    try:
        library.simulate_compliant(world_of(scene), [0.0])
    except library.CompliantError as error:
        return str(error)
    return None


def world_of(scene: SpatialScene) -> library.CompliantWorld:
    """Bodies and boundaries in the scene's order. Raises CompliantError."""
    given = scene.contact.compliant
    assert given is not None
    starts = [dict(zip(SpatialTrajectory.STATE, map(tuple, parts))) for parts in zip(*spatial_start(scene))]
    moments = inertias(scene)
    bodies = [
        library.CompliantBody(
            shape=solid_of(body),
            material=str(body.material),
            **starts[i],
            mass=body.mass or 1.0,
            inertia=None if body.fixed else tuple(moments[i]),
            contact_radius=body.contact_radius,
            fixed=body.fixed,
            name=body.name,
        )
        for i, body in enumerate(scene.bodies)
    ]
    bodies += [
        library.CompliantBody(shape=solid_of(boundary), material=str(boundary.material), fixed=True, name=boundary.name)
        for boundary in scene.boundaries
    ]
    return library.CompliantWorld(
        bodies=tuple(bodies),
        materials=library.Materials(
            materials={
                m.name: library.Material(young_modulus=m.young_modulus, poisson_ratio=m.poisson_ratio)
                for m in given.materials
            },
            pairs={(pair.a, pair.b): library.PairLaw(**pair.model_dump(exclude={"a", "b"})) for pair in given.pairs},
        ),
        joints=couplings_of(scene),
        gravity=scene.gravity,
        most_damping=given.most_damping,
    )


def solid_of(member: Any) -> Shape:
    """Raises CompliantError for what is no solid in space; `declines` says so before."""
    shape = solid(member)
    if not isinstance(shape, Shape):
        raise library.CompliantError(KNOWS_NOT["hollow-sphere"])
    return shape


def simulate(scene: SpatialScene, dt: float, settings: Settings) -> Trajectory:
    """Kept as those of engines with steps are: every step around an impact. Raises CompliantError, with the figures."""
    recorder = Recorder(scene, dt, velocity_lag=0.0)
    times = np.arange(PARTS * recorder.step_count + 1) * (dt / PARTS)
    own = library.CompliantSettings(tolerance=float(settings["compliant_tolerance"]))
    with one_call(scene, dt):
        motion = library.simulate_compliant(world_of(scene), times, own)
    count = len(scene.bodies)
    for k in range(0, len(times), PARTS):
        states = (motion.position, motion.orientation, motion.velocity, motion.spin)
        recorder.read(*(part[k, :count] for part in states))
        if recorder.wants_contacts(k // PARTS):
            report_contacts(recorder, motion, k, dt)
    return replace(recorder.trajectory(), impacts=impacts_of(motion))


def report_contacts(recorder: Recorder, motion: library.CompliantMotion, sample: int, dt: float) -> None:
    """What the contacts gave in the step that ends at the sample, by Boole's rule; nothing if Simpson's has another.

    So it is where a contact begins or ends within the step, or lasts for less.
    """
    rows = [slice(*motion.first_contact[k : k + 2]) for k in range(sample - PARTS, sample + 1)]
    contacts = motion.contacts
    candidate = [contacts.candidate[row] for row in rows]
    if not len(candidate[-1]) or not all(np.array_equal(candidate[-1], other) for other in candidate[:-1]):
        return
    force = np.array([contacts.force[row] for row in rows])
    impulse, coarse = (dt * np.einsum("k,kci->ci", w, force) for w in (BOOLE, SIMPSON))
    if (np.linalg.norm(impulse - coarse, axis=1) > STEADY * np.linalg.norm(impulse, axis=1)).any():
        return
    at = rows[-1]
    a, b = contacts.pair[at].T
    recorder.add_contacts(a, b, contacts.point[at], contacts.normal[at], contacts.gap[at], impulse)


def impacts_of(motion: library.CompliantMotion) -> Impacts:
    """Every touch and parting at its own time. A contact gives no impulse at an instant: NaN."""
    events = motion.events
    seen = events.kind != "jump"
    return Impacts(
        time=events.time[seen],
        a=events.pair[seen, 0],
        b=events.pair[seen, 1],
        point=events.point[seen],
        impulse=np.full((int(seen.sum()), 3), np.nan),
        normal=events.normal[seen],
        gap=events.gap[seen],
        approach=events.approach[seen],
        restitution=events.restitution[seen],
        parting=(events.kind[seen] == "separation").astype(np.int64),
    )
