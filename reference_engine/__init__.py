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

if TYPE_CHECKING:
    from reference_engine.compliant.errors import CompliantError as CompliantError
    from reference_engine.compliant.materials import Material as Material
    from reference_engine.compliant.materials import Materials as Materials
    from reference_engine.compliant.materials import PairLaw as PairLaw
    from reference_engine.compliant.simulate import CompliantMotion as CompliantMotion
    from reference_engine.compliant.simulate import CompliantSettings as CompliantSettings
    from reference_engine.compliant.simulate import ContactEvents as ContactEvents
    from reference_engine.compliant.simulate import simulate_compliant as simulate_compliant
    from reference_engine.compliant.world import CompliantBody as CompliantBody
    from reference_engine.compliant.world import CompliantWorld as CompliantWorld
    from reference_engine.contact_problems.cone_problem import ConeProblem as ConeProblem
    from reference_engine.contact_problems.cone_solve import ConeSolution as ConeSolution
    from reference_engine.contact_problems.cone_solve import solve_cones as solve_cones
    from reference_engine.contact_problems.contact_forces import Solution as Solution
    from reference_engine.contact_problems.contact_forces import contact_forces as contact_forces
    from reference_engine.contact_problems.effective_mass import inverse_mass as inverse_mass
    from reference_engine.contact_problems.effective_mass import (
        inverse_mass_through_joints as inverse_mass_through_joints,
    )
    from reference_engine.contact_problems.errors import ContactForceError as ContactForceError
    from reference_engine.contact_problems.friction_forces import FrictionSolution as FrictionSolution
    from reference_engine.contact_problems.friction_forces import friction_forces as friction_forces
    from reference_engine.contact_problems.impact_laws import Impact as Impact
    from reference_engine.contact_problems.impact_laws import impact as impact
    from reference_engine.contact_problems.impact_process import ImpactError as ImpactError
    from reference_engine.contact_problems.multiple_impacts import MultipleImpact as MultipleImpact
    from reference_engine.contact_problems.multiple_impacts import multiple_impact as multiple_impact
    from reference_engine.contactsim.engine import faithful_samples as faithful_samples
    from reference_engine.contactsim.engine import faithful_simulate as faithful_simulate
    from reference_engine.contactsim.settings import FaithfulSettings as FaithfulSettings
    from reference_engine.heaps.errors import SpatialWorldError as SpatialWorldError
    from reference_engine.heaps.errors import UnresolvedStepError as UnresolvedStepError
    from reference_engine.heaps.mobility import MobilityStepper as MobilityStepper
    from reference_engine.heaps.settings import SpatialSettings as SpatialSettings
    from reference_engine.heaps.simulate import EllipsoidMotion as EllipsoidMotion
    from reference_engine.heaps.simulate import ellipsoid_energy as ellipsoid_energy
    from reference_engine.heaps.simulate import simulate_ellipsoids as simulate_ellipsoids
    from reference_engine.heaps.stepper import Stepper as Stepper
    from reference_engine.heaps.world import EllipsoidWorld as EllipsoidWorld
    from reference_engine.heaps.world import HalfSpace as HalfSpace
    from reference_engine.heaps.world import SphereInterior as SphereInterior
    from reference_engine.multibody.driven import Drive as Drive
    from reference_engine.multibody.errors import JointError as JointError
    from reference_engine.multibody.errors import MechanismError as MechanismError
    from reference_engine.multibody.joints import Coupling as Coupling
    from reference_engine.multibody.joints import Distance as Distance
    from reference_engine.multibody.link_impact import LinkImpact as LinkImpact
    from reference_engine.multibody.link_impact import link_impact as link_impact
    from reference_engine.multibody.links import Link as Link
    from reference_engine.multibody.mechanism import LinkSpring as LinkSpring
    from reference_engine.multibody.mechanism import LinkTorque as LinkTorque
    from reference_engine.multibody.mechanism import Mechanism as Mechanism
    from reference_engine.multibody.motion import JointEvent as JointEvent
    from reference_engine.multibody.motion import MechanismMotion as MechanismMotion
    from reference_engine.multibody.motion import mechanism_at as mechanism_at
    from reference_engine.multibody.rolling import Rolling as Rolling
    from reference_engine.multibody.simulate import simulate_mechanism as simulate_mechanism
    from reference_engine.multibody.winding import Winding as Winding
    from reference_engine.planar.motion import LocatedMotion as LocatedMotion
    from reference_engine.planar.settings import Settings as Settings
    from reference_engine.planar.simulate import simulate as simulate
    from reference_engine.planar.simulate import simulate_at as simulate_at
    from reference_engine.planar_model.connectors import Joint as Joint
    from reference_engine.planar_model.connectors import PathEnd as PathEnd
    from reference_engine.planar_model.connectors import PathJoint as PathJoint
    from reference_engine.planar_model.connectors import Rope as Rope
    from reference_engine.planar_model.errors import PainleveError as PainleveError
    from reference_engine.planar_model.errors import UnresolvedContact as UnresolvedContact
    from reference_engine.planar_model.errors import WorldError as WorldError
    from reference_engine.planar_model.forces import Attraction as Attraction
    from reference_engine.planar_model.forces import ConstantForce as ConstantForce
    from reference_engine.planar_model.forces import Spring as Spring
    from reference_engine.planar_model.forces import Thruster as Thruster
    from reference_engine.planar_model.motion import Motion as Motion
    from reference_engine.planar_model.motion import energy as energy
    from reference_engine.planar_model.outline import Edge as Edge
    from reference_engine.planar_model.outline import Outline as Outline
    from reference_engine.planar_model.outline import polygon_outline as polygon_outline
    from reference_engine.planar_model.outline import wall as wall
    from reference_engine.planar_model.path import Path as Path
    from reference_engine.planar_model.path import curve as curve
    from reference_engine.planar_model.shape import Bowl as Bowl
    from reference_engine.planar_model.shape import Disc as Disc
    from reference_engine.planar_model.shape import HalfPlane as HalfPlane
    from reference_engine.planar_model.shape import Polygon as Polygon
    from reference_engine.planar_model.shape import box as box
    from reference_engine.planar_model.world import Body as Body
    from reference_engine.planar_model.world import World as World
    from reference_engine.spatial.flights import FlightError as FlightError
    from reference_engine.spatial.flights import FlightMotion as FlightMotion
    from reference_engine.spatial.flights import Flyer as Flyer
    from reference_engine.spatial.flights import simulate_flights as simulate_flights

# In the order in which one would teach them. Loaded when first asked for: `reference_engine.geometry` alone
# does not need the kernels.
_HOME = {
    "Body": "planar_model.world",
    "box": "planar_model.shape",
    "Disc": "planar_model.shape",
    "Polygon": "planar_model.shape",
    "HalfPlane": "planar_model.shape",
    "Bowl": "planar_model.shape",
    "World": "planar_model.world",
    "simulate": "planar.simulate",
    "Motion": "planar_model.motion",
    "LocatedMotion": "planar.motion",
    "energy": "planar_model.motion",
    "Settings": "planar.settings",
    "simulate_at": "planar.simulate",
    "faithful_simulate": "contactsim.engine",
    "faithful_samples": "contactsim.engine",
    "FaithfulSettings": "contactsim.settings",
    "Outline": "planar_model.outline",
    "Edge": "planar_model.outline",
    "polygon_outline": "planar_model.outline",
    "wall": "planar_model.outline",
    "Joint": "planar_model.connectors",
    "Rope": "planar_model.connectors",
    "Path": "planar_model.path",
    "curve": "planar_model.path",
    "PathJoint": "planar_model.connectors",
    "PathEnd": "planar_model.connectors",
    "Spring": "planar_model.forces",
    "Thruster": "planar_model.forces",
    "ConstantForce": "planar_model.forces",
    "Attraction": "planar_model.forces",
    "contact_forces": "contact_problems.contact_forces",
    "friction_forces": "contact_problems.friction_forces",
    "FrictionSolution": "contact_problems.friction_forces",
    "Solution": "contact_problems.contact_forces",
    "impact": "contact_problems.impact_laws",
    "Impact": "contact_problems.impact_laws",
    "multiple_impact": "contact_problems.multiple_impacts",
    "MultipleImpact": "contact_problems.multiple_impacts",
    "inverse_mass": "contact_problems.effective_mass",
    "inverse_mass_through_joints": "contact_problems.effective_mass",
    "ImpactError": "contact_problems.impact_process",
    "simulate_flights": "spatial.flights",
    "Flyer": "spatial.flights",
    "FlightMotion": "spatial.flights",
    "FlightError": "spatial.flights",
    "WorldError": "planar_model.errors",
    "UnresolvedContact": "planar_model.errors",
    "PainleveError": "planar_model.errors",
    "ContactForceError": "contact_problems.errors",
    "EllipsoidWorld": "heaps.world",
    "HalfSpace": "heaps.world",
    "SphereInterior": "heaps.world",
    "simulate_ellipsoids": "heaps.simulate",
    "EllipsoidMotion": "heaps.simulate",
    "ellipsoid_energy": "heaps.simulate",
    "SpatialSettings": "heaps.settings",
    "Stepper": "heaps.stepper",
    "MobilityStepper": "heaps.mobility",
    "SpatialWorldError": "heaps.errors",
    "UnresolvedStepError": "heaps.errors",
    "Link": "multibody.links",
    "Mechanism": "multibody.mechanism",
    "Coupling": "multibody.joints",
    "Distance": "multibody.joints",
    "LinkSpring": "multibody.mechanism",
    "LinkTorque": "multibody.mechanism",
    "simulate_mechanism": "multibody.simulate",
    "MechanismMotion": "multibody.motion",
    "JointEvent": "multibody.motion",
    "mechanism_at": "multibody.motion",
    "Rolling": "multibody.rolling",
    "Drive": "multibody.driven",
    "Winding": "multibody.winding",
    "link_impact": "multibody.link_impact",
    "LinkImpact": "multibody.link_impact",
    "MechanismError": "multibody.errors",
    "JointError": "multibody.errors",
    "CompliantWorld": "compliant.world",
    "CompliantBody": "compliant.world",
    "Material": "compliant.materials",
    "PairLaw": "compliant.materials",
    "Materials": "compliant.materials",
    "simulate_compliant": "compliant.simulate",
    "CompliantMotion": "compliant.simulate",
    "ContactEvents": "compliant.simulate",
    "CompliantSettings": "compliant.simulate",
    "CompliantError": "compliant.errors",
    "ConeProblem": "contact_problems.cone_problem",
    "solve_cones": "contact_problems.cone_solve",
    "ConeSolution": "contact_problems.cone_solve",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"reference_engine.{_HOME[name]}"), name)
    globals()[name] = value
    return value
