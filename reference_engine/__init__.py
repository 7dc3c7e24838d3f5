# ruff: noqa: F401  the names of the table, for type checkers
"""Upright's own physics engine: planar rigid bodies that collide, rest on one another, slide, stick, roll and lean.

A block dropped on the ground, in five lines:

    from reference_engine import Body, HalfPlane, World, box, simulate

    ground = Body(shape=HalfPlane(), fixed=True)
    block = Body(shape=box(1.0, 3.0), position=(0.0, 2.0), spin=0.3)
    motion = simulate(World(bodies=(ground, block), restitution=0.5), duration=5.0, sample_step=1 / 60)
    print(motion.pose[-1, 1], motion.impacts.time, motion.contacts_at(-1).force)

All SI. Poses are (x, y, angle), twists (vx, vy, spin), arrays over (samples, bodies, 3). It has no time step: every
event is found on the solution itself, exact to a stated bound, with Coulomb friction, joints, ropes and more forces.
Bodies in contact are at gap 0.

`simulate_ellipsoids` is for ellipsoids in space, on planes and in hollow spheres, by time steps.

`simulate_mechanism` is for bodies held by joints, in the plane and in space, to 1e-10 and better.
`simulate_compliant` is for solids in space that touch by elastic, damped contact (Hertz), events located.

`faithful_simulate` is ContactSim, the algorithm of the myPhysicsLab pages, run for run, with outlines of straight edges
and arcs; there bodies hover at 5 mm.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker sees of the table below
    from reference_engine.compliant.simulate import (
        CompliantMotion,
        CompliantSettings,
        ContactEvents,
        simulate_compliant,
    )
    from reference_engine.compliant.world import CompliantBody, CompliantWorld, Material, Materials, PairLaw
    from reference_engine.contact_problems.cone_problem import ConeProblem
    from reference_engine.contact_problems.cone_solve import ConeSolution, solve_cones
    from reference_engine.contact_problems.contact_forces import Solution, contact_forces
    from reference_engine.contact_problems.friction import FrictionSolution, friction_forces
    from reference_engine.contact_problems.impact_laws import Impact, impact, inverse_mass, inverse_mass_through_joints
    from reference_engine.contact_problems.impact_process import ImpactError
    from reference_engine.contact_problems.multiple_impacts import MultipleImpact, multiple_impact
    from reference_engine.contactsim.settings import FaithfulSettings
    from reference_engine.contactsim.simulate import faithful_samples, faithful_simulate
    from reference_engine.errors import (
        CompliantError,
        ContactForceError,
        JointError,
        MechanismError,
        PainleveError,
        SpatialWorldError,
        UnresolvedContact,
        UnresolvedStepError,
        WorldError,
    )
    from reference_engine.heaps.mobility import MobilityStepper
    from reference_engine.heaps.simulate import EllipsoidMotion, ellipsoid_energy, simulate_ellipsoids
    from reference_engine.heaps.stepper import Stepper
    from reference_engine.heaps.world import EllipsoidWorld, HalfSpace, SpatialSettings, SphereInterior
    from reference_engine.multibody.driven import Drive
    from reference_engine.multibody.joints import Coupling, Distance
    from reference_engine.multibody.links import Link
    from reference_engine.multibody.mechanism import JointEvent, LinkSpring, LinkTorque, Mechanism, MechanismMotion
    from reference_engine.multibody.rolling import Rolling
    from reference_engine.multibody.simulate import simulate_mechanism
    from reference_engine.multibody.winding import Winding
    from reference_engine.planar.run import Settings
    from reference_engine.planar.simulate import LocatedMotion, simulate, simulate_at
    from reference_engine.planar_model.connectors import Joint, Path, PathEnd, PathJoint, Rope, curve
    from reference_engine.planar_model.forces import Attraction, ConstantForce, Spring, Thruster
    from reference_engine.planar_model.motion import Motion, energy
    from reference_engine.planar_model.shape import (
        Bowl,
        Disc,
        Edge,
        HalfPlane,
        Outline,
        Polygon,
        box,
        polygon_outline,
        wall,
    )
    from reference_engine.planar_model.world import Body, World
    from reference_engine.spatial.flights import FlightError, FlightMotion, Flyer, simulate_flights

# In the order in which one would teach them. Loaded when first asked for: `reference_engine.geometry` alone
# does not need the kernels.
_HOME = {
    name: module
    for module, names in (
        ("planar_model.world", "Body World"),
        ("planar_model.shape", "box Disc Polygon HalfPlane Bowl"),
        ("planar.simulate", "simulate simulate_at LocatedMotion"),
        ("planar_model.motion", "Motion energy"),
        ("planar.run", "Settings"),
        ("contactsim.simulate", "faithful_simulate faithful_samples"),
        ("contactsim.settings", "FaithfulSettings"),
        ("planar_model.shape", "Outline Edge polygon_outline wall"),
        ("planar_model.connectors", "Joint Rope PathJoint PathEnd Path curve"),
        ("planar_model.forces", "Spring Thruster ConstantForce Attraction"),
        ("contact_problems.contact_forces", "contact_forces Solution"),
        ("contact_problems.friction", "friction_forces FrictionSolution"),
        ("contact_problems.impact_laws", "impact Impact inverse_mass inverse_mass_through_joints"),
        ("contact_problems.multiple_impacts", "multiple_impact MultipleImpact"),
        ("contact_problems.impact_process", "ImpactError"),
        ("spatial.flights", "simulate_flights Flyer FlightMotion FlightError"),
        ("errors", "WorldError UnresolvedContact PainleveError ContactForceError SpatialWorldError"),
        ("errors", "UnresolvedStepError MechanismError JointError CompliantError"),
        ("heaps.world", "EllipsoidWorld HalfSpace SphereInterior SpatialSettings"),
        ("heaps.simulate", "simulate_ellipsoids EllipsoidMotion ellipsoid_energy"),
        ("heaps.stepper", "Stepper"),
        ("heaps.mobility", "MobilityStepper"),
        ("multibody.links", "Link"),
        ("multibody.mechanism", "Mechanism LinkSpring LinkTorque MechanismMotion JointEvent"),
        ("multibody.joints", "Coupling Distance"),
        ("multibody.simulate", "simulate_mechanism"),
        ("multibody.rolling", "Rolling"),
        ("multibody.driven", "Drive"),
        ("multibody.winding", "Winding"),
        ("compliant.world", "CompliantWorld CompliantBody Material PairLaw Materials"),
        ("compliant.simulate", "simulate_compliant CompliantMotion ContactEvents CompliantSettings"),
        ("contact_problems.cone_problem", "ConeProblem"),
        ("contact_problems.cone_solve", "solve_cones ConeSolution"),
    )
    for name in names.split()
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"reference_engine.{_HOME[name]}"), name)
    globals()[name] = value
    return value
