"""What no engine may exceed, whatever its step: bounds generous for a discretised engine, and far from physics.

And metrics that say nothing of a scene, by what does not happen in it.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reference_engine.dense import mul, norm
from reference_engine.elementary import squared
from scenarios import mass
from scenarios.catalogue.shared.poses import start_pose
from scenarios.contact import curvature, deepest, may_gain_energy, stiffness
from scenarios.forces import is_driven, spring_energy
from scenarios.joint_forces import driven_joints, joint_energy
from scenarios.scenario import Noise, Scenario
from scenarios.scene import HalfSpace, Scene, SpatialScene, Sphere, inertias, masses
from scenarios.truth import Invariant, Truth

RESTING_SHARE = 0.02
"""of the energy scale: some engines keep a skin and push bodies that touch apart by a hundredth of their size."""
MOVING_SHARE = 0.05
"""of the energy scale: one step of 1/240 s at the speed of a fall from one metre is 2 % of that fall."""
SWING_SHARE = 0.2
"""of the energy scale: the semi-implicit Euler method lends 10 % of it to a swing and takes it back."""
PENETRATION_SHARE = 0.1  # of the smallest free body's size
MOMENTUM_SHARE = 1e-3  # of the momentum scale: single precision, thousands of steps

OF_REST = frozenset({"jitter_velocity", "jitter_position", "rest_drift", "rest_time"})
"""Nothing comes to rest."""
OF_CONTACT = frozenset(
    {"penetration_max", "penetration_mean", "penetration_final", "gap_final", "cone_violation", "impact_count"}
)
"""Nothing touches anything."""
AT_THE_END = frozenset({"gap_final", "penetration_final"})
"""Nothing touches at the end."""


def conserved_by_impacts(restitution: float) -> frozenset[Invariant]:
    """Of a closed system."""
    return frozenset({"momentum", "angular-momentum", "energy" if restitution == 1.0 else "energy-not-gained"})


def not_of_impacts(restitution: float) -> frozenset[str]:
    """Where nothing comes to rest or touches at the end."""
    return OF_REST | AT_THE_END | (frozenset() if restitution == 1.0 else {"energy_drift"})


def make_scenario(
    scene: Scene,
    *,
    probes: str,
    regime: str,
    headline: str = "truth_error_goal",
    noise: Mapping[str, Noise] | None = None,
    meaningless: frozenset[str] = frozenset(),
    laws: Mapping[str, float] | None = None,
    expected: tuple[tuple[str, str], ...] = (),
    **known: Any,
) -> Scenario:
    """A family's scenario. `known`: fields of its truth, whose span is all of the scene's duration if none is given.

    `laws` are those of moving bodies in contact where none are given.
    """
    return Scenario(
        probes=probes,
        regime=regime,
        scene=scene,
        truth=Truth(**{"span": (0.0, scene.duration)} | known),
        headline=headline,
        noise=noise or {},
        meaningless=meaningless,
        laws=contact_laws(scene, share=MOVING_SHARE) if laws is None else laws,
        expected=expected,
    )


def joint_scenario(scene: Scene, *, arm: float, **known: Any) -> Scenario:
    """`make_scenario` of bodies that joints hold to the world, `arm` (m) the shortest: a twentieth of it is no gap."""
    of_joints: dict[str, Any] = {
        "regime": "joints",
        "invariants": frozenset({"energy"}),
        "meaningless": OF_REST | OF_CONTACT | {"momentum_drift", "angular_momentum_drift"},
        "laws": gain_law(scene, SWING_SHARE) | {"joint_gap": 0.05 * arm},
    }
    return make_scenario(scene, **of_joints | known)


def energy_scale(scene: Scene) -> float:
    """J: sum of m g L over the free bodies, L the height that they span, plus kinetic and elastic energy at time 0."""
    gravity = np.array(scene.gravity)
    g = float(norm(gravity))
    free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
    m, inertia = masses(scene)[free], inertias(scene)[free]
    bodies = [scene.bodies[i] for i in free]
    stored = spring_energy(scene, 0.0, *start_pose(scene)) + pressed_energy(scene)
    driven = driven_joints(scene)
    stored += float(joint_energy(driven, np.array([joint.start for joint in driven])))
    for body, m_i, I_i in zip(bodies, m, inertia):
        # The largest moment bounds the spin's energy, whatever the orientation.
        stored += 0.5 * float(m_i) * float(np.sum(np.square(body.velocity)))
        stored += 0.5 * float(np.max(I_i)) * float(np.sum(np.square(body.spin)))
    if g == 0.0:
        return stored
    radius = np.array([mass.bounding_radius(body.shape) for body in bodies])
    altitude = mul(-np.array([body.position for body in bodies]), gravity) / g
    span = float(np.max(altitude + radius) - np.min(altitude - radius))
    return float(np.sum(m) * g * span + stored)


def smallest_size(scene: Scene) -> float:
    """m: the least width of a free body."""
    return min(mass.width(body.shape) for body in scene.bodies if not body.fixed)


def contact_laws(scene: Scene, *, share: float) -> dict[str, float]:
    """Bounds on energy gained, `share` of the energy scale, and on penetration, for any scene with contacts.

    Compliant bodies sink in by what presses them: as deep as all the energy of the scene could press one pair comes on
    top of the share that a discretised engine is allowed. What a model has in one another at the start may stay so.
    """
    native = getattr(scene, "native", None)
    overlap = 0.0 if native is None else native.overlap
    most = PENETRATION_SHARE * smallest_size(scene) + deepest_press(scene) + overlap
    return gain_law(scene, share) | {"penetration_max": most}


def deepest_press(scene: Scene) -> float:
    """m, to which the scene's energy could press two of its bodies; 0 where contact is rigid."""
    given = scene.contact.compliant
    if given is None:
        return 0.0
    energy = energy_scale(scene)
    kinds = {(m.material, curvature(m)): m for m in (*scene.bodies, *scene.boundaries)}.values()
    met = [(a, b) for a in kinds for b in kinds if frozenset((a.material, b.material)) in given.laws]
    return max((deepest(given, a, b, energy) for a, b in met if curvature(a) + curvature(b) > 0.0), default=0.0)


def pressed_energy(scene: Scene) -> float:
    """J, elastic, of spheres that begin in one another or in a half-space; other shapes are taken to begin apart."""
    given, energy = scene.contact.compliant, 0.0
    if given is None or not isinstance(scene, SpatialScene):
        return energy
    spheres = [(body, body.shape.radius) for body in scene.bodies if isinstance(body.shape, Sphere)]
    planes = [plane for plane in scene.boundaries if isinstance(plane, HalfSpace)]
    gaps: list[tuple[Any, Any, float]] = []
    for i, (a, radius) in enumerate(spheres):
        for b, other in spheres[i + 1 :]:
            if not (a.fixed and b.fixed):
                gaps.append((a, b, float(norm(np.subtract(a.position, b.position))) - radius - other))
        if not a.fixed:
            gaps += [(a, p, float(mul(np.subtract(a.position, p.point), np.array(p.normal))) - radius) for p in planes]
    return sum(0.4 * stiffness(given, a, b) * squared(gap) * math.sqrt(-gap) for a, b, gap in gaps if gap < 0.0)


def flight_laws(scene: Scene) -> dict[str, float]:
    """Bounds for bodies that touch nothing: energy, and the momentum that gravity does not explain (kg m/s)."""
    speed = max(float(norm(body.velocity)) for body in scene.bodies)
    fall = float(norm(scene.gravity)) * scene.duration
    total = float(sum(body.mass or 0.0 for body in scene.bodies if not body.fixed))
    laws = gain_law(scene, MOVING_SHARE)
    if speed + fall > 0.0:
        laws["momentum_drift"] = MOMENTUM_SHARE * total * (speed + fall)
    return laws


def gain_law(scene: Scene, share: float) -> dict[str, float]:
    """None where thrusters, pulls or the law of impact do work, or where there is no energy to take a share of."""
    scale = energy_scale(scene)
    works = scene.thrusters or is_driven(scene) or may_gain_energy(scene)
    return {"energy_gain": share * scale} if scale > 0.0 and not works else {}
