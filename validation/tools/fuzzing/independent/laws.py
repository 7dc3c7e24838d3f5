"""What is asked of which engine of ours, and the one call that asks it.

Another engine is asked none of this: contacts that are soft, or solved to a few per cent, are documented.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import PlanarScene, Scene, colliding_pairs
from validation.metrics.observation import Observation
from validation.metrics.proximity import proximities
from validation.records.trajectory import Trajectory
from validation.tools.fuzzing.independent import contacts, exact, impacts, steps
from validation.tools.fuzzing.independent.exact import Broken
from validation.tools.fuzzing.independent.measured import is_bounded, wrong_measurement
from validation.tools.fuzzing.independent.motion import Motion

Module = Literal["plane", "space", "flights", "mechanisms", "heaps", "compliant", "contactsim"]
"""Of our engines: what simulates the scene."""
OWN = ("reference", "contactsim")
SCATTERED = "validation.tools.fuzzing.scattered.Scattered"
LOCATED_IMPACT_LAWS, LOCATED_ORDERS = (None, "newton", "poisson"), (None, "simultaneous", "sequential")
OVERLAP = 1e-9  # m, times 1 + the extent of the scene: ten times the overlap that the planar engine refuses itself
ORACLES = (
    "measured wrong",
    "joint not met",
    "overlaps",
    "angular momentum not kept",
    "energy lost",
    "motion off its velocity",
    "impulses off balance",
    "against the impact law",
    "forces off balance",
    "against the contact law",
)


def is_own(engine: str) -> bool:
    return engine in (*OWN, SCATTERED)


def is_made_up(engine: str) -> bool:
    """Whether its motions are none, and only how they are measured is asked."""
    return engine == SCATTERED


def module_of(scene: Scene, engine: str, *, located: bool) -> Module | None:
    """None of an engine that is not ours, or has no motion of its own. located: whether impacts have their times."""
    if engine == "contactsim":
        return "contactsim"
    if engine != "reference":
        return None
    stated = scene.contact
    if isinstance(scene, PlanarScene):
        located = stated.impact_law in LOCATED_IMPACT_LAWS and stated.impact_order in LOCATED_ORDERS
        return "plane" if located else "flights"
    if stated.compliant:
        return "compliant"
    if stated.impact_law or stated.impact_order:
        return "flights"
    meets = any(True for _ in colliding_pairs(scene))
    if meets and located:
        return "space"
    return "heaps" if meets and not scene.joints else "mechanisms"


def own_faults(scene: Scene, trajectory: Trajectory, engine: str, measured: Mapping[str, float]) -> Iterator[Broken]:
    """(oracle, message, bodies) of what is wrong with one of our engines, or with how its motion was measured."""
    if not is_own(engine):
        return
    motion = Motion(scene, trajectory)
    if not is_bounded(motion):
        return
    with np.errstate(all="ignore"):
        if (wrong := wrong_measurement(scene, trajectory, measured, made_up=is_made_up(engine))) is not None:
            yield "measured wrong", wrong, ()
        if trajectory.velocity_lag:
            return
        module = module_of(scene, engine, located=trajectory.impacts is not None)
        for check in CHECKS.get(module, ()) if module else ():
            yield from check(motion)


def _overlaps(motion: Motion) -> Iterator[Broken]:
    near = proximities(Observation(scenario=scenario_from_scene("fuzzed", motion.scene), trajectory=motion.trajectory))
    if not len(near):
        return
    started = max(0.0, -float(near.gap[near.sample == 0].min(initial=0.0)))
    deepest, extent = int(np.argmin(near.gap)), 1.0 + float(np.abs(motion.x).max())
    if near.gap[deepest] < -OVERLAP * extent - started:
        members = (*motion.scene.bodies, *motion.scene.boundaries)
        names = members[near.a[deepest]].name, members[near.b[deepest]].name
        time = motion.time[near.sample[deepest]]
        yield "overlaps", f"{names[0]!r} and {names[1]!r} overlap by {-near.gap[deepest]:.3g} m at {time:.6g} s", names


def _impulses(motion: Motion) -> Iterator[Broken]:
    found = motion.trajectory.impacts
    if found is not None:
        yield from contacts.impulses_balance(motion, found)
        yield from impacts.impacts_obey(motion, found)


def _impacts_at_once(motion: Motion) -> Iterator[Broken]:
    if motion.trajectory.impacts is not None:
        yield from impacts.impacts_allowed(motion, motion.trajectory.impacts)


def _jumps(motion: Motion) -> Iterator[Broken]:
    """ContactSim's impacts of bodies without joints: those of joints are in no report."""
    if motion.trajectory.impacts is not None and not motion.scene.joints:
        yield from contacts.impulses_balance(motion, motion.trajectory.impacts)


def _flown(motion: Motion) -> Iterator[Broken]:
    """Of ContactSim, one of whose integrators is Euler's."""
    yield from steps.flights(motion, first_order=True)


def _stepped(motion: Motion) -> Iterator[Broken]:
    yield from exact.isolated(motion, motion.trajectory.dt)


def _energy(motion: Motion) -> Iterator[Broken]:
    yield from exact.energy_conserved(motion, elastic=False)


Check = Callable[[Motion], Iterator[Broken]]
EXACT: tuple[Check, ...] = (exact.joints_met, exact.isolated, _energy)
CHECKS: Mapping[Module, tuple[Check, ...]] = {
    "plane": (*EXACT, _overlaps, _impulses, _impacts_at_once, contacts.forces_balance, contacts.contacts_obey),
    "space": (*EXACT, _overlaps, _impulses, contacts.forces_balance, contacts.contacts_obey),
    "flights": (*EXACT, _overlaps, _impulses, contacts.forces_balance),
    "mechanisms": (*EXACT, contacts.forces_balance),
    "heaps": (_stepped, _overlaps, steps.flights, steps.spheres),
    "compliant": (exact.isolated, exact.compliant_energy),
    "contactsim": (_jumps, _flown),
}
