"""Laws that every engine owes every passive scene, whatever its contacts do: judged without a reference.

Energy is not gained; an isolated system keeps its momentum; a simulation ends, in time and with finite numbers.
"""

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios import mass
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import HalfPlane, PlanarScene, colliding_pairs, masses
from validation.metrics import METRICS
from validation.metrics.observation import MismatchError, Observation
from validation.records.simulation import BROKEN, Simulation

ORACLES = ("energy gained", "momentum not kept", "broken")
ENERGY_SHARE = 0.05  # of the energy scale: discretised engines gain a little by pushing overlaps apart
SLOW = 0.1  # m/s: it is no fault to push what touched at the start apart as slowly as this
MOMENTUM_SHARE = 1e-3  # of the momentum scale
SPEED_TOLERANCE = 1e-6  # m/s of the whole: where nothing moved, single precision


def judge_scene(scene: PlanarScene, simulation: Simulation) -> dict[str, str]:
    """The laws that this motion breaks, each with a message that has the values."""
    if simulation.outcome in (*BROKEN, "adapter_failed"):
        return {"broken": f"{simulation.outcome}: {simulation.reason}"}
    if simulation.trajectory is None:  # declined
        return {}
    try:
        observation = Observation(scenario=scenario_from_scene("fuzzed", scene), trajectory=simulation.trajectory)
    except MismatchError as error:
        return {"broken": str(error)}
    broken = {}
    gained = METRICS["energy_gain"].of(observation)
    allowed = energy_allowed(scene, simulation.trajectory.contact_tolerance)
    if gained is not None and gained.value > allowed:
        broken["energy gained"] = f"energy rose by {gained.value:.3g} J without a source; tolerated: {allowed:.3g} J"
    axes = conserved_axes(scene)
    if axes:
        m = np.where(np.isinf(masses(scene)), 0.0, masses(scene))
        momentum = np.einsum("b,sbi->si", m, simulation.trajectory.velocity)
        elapsed = simulation.trajectory.time[:, None]
        drift = np.abs(momentum - momentum[0] - m.sum() * np.array(scene.gravity) * elapsed)[:, axes].max()
        allowed = MOMENTUM_SHARE * momentum_scale(scene) + SPEED_TOLERANCE * m.sum()
        if not drift <= allowed:  # also where it overflows and is no number
            broken["momentum not kept"] = (
                f"momentum changed by {drift:.3g} kg m/s without an outer force; tolerated: {allowed:.3g} kg m/s"
            )
    return broken


def energy_allowed(scene: PlanarScene, contact_tolerance: float) -> float:
    """J that an engine may gain: a share of the scale, all bodies lifted by the gap, m, at which it holds what is in
    contact, and pushed apart slowly."""
    weight = float(elementary.hypot(*scene.gravity))
    free = sum(body.mass for body in scene.bodies if body.mass is not None)
    return ENERGY_SHARE * energy_scale(scene) + free * (weight * contact_tolerance + 0.5 * squared(SLOW))


def energy_scale(scene: PlanarScene) -> float:
    """J: what the bodies have at the start, and what lifting each by its own size would take."""
    g = float(elementary.hypot(*scene.gravity))
    total = 0.0
    for body in scene.bodies:
        if body.mass is not None:
            size = mass.bounding_radius(body.shape)
            square = squared(body.velocity[0]) + squared(body.velocity[1]) + squared(size * body.spin)
            total += 0.5 * body.mass * square
            total += body.mass * g * size
    return total


def momentum_scale(scene: PlanarScene) -> float:
    """kg m/s: of the speeds at the start and of a fall through each body's size."""
    g = float(elementary.hypot(*scene.gravity))
    total = 0.0
    for body in scene.bodies:
        if body.mass is not None:
            fall = (2.0 * g * mass.bounding_radius(body.shape)) ** 0.5
            total += body.mass * (float(elementary.hypot(*body.velocity)) + fall)
    return total


def conserved_axes(scene: PlanarScene) -> list[int]:
    """Axes along which nothing outside pushes: all of a scene of free bodies, x over level frictionless ground."""
    if scene.damping.linear or scene.springs or scene.thrusters or scene.joints:
        return []
    if any(body.fixed for body in scene.bodies):
        return []
    if not scene.boundaries:
        return [0, 1]
    level = all(isinstance(b, HalfPlane) and abs(b.normal[0]) < 1e-12 for b in scene.boundaries)
    by_name = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    ground = {boundary.name for boundary in scene.boundaries}
    smooth = all(scene.pair_law(by_name[a], by_name[b])[0] == 0.0 for a, b in colliding_pairs(scene) if b in ground)
    return [0] if level and smooth and scene.gravity[0] == 0.0 else []
