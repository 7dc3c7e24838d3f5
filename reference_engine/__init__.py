"""Upright's own physics engine: planar rigid bodies that collide, rest on one another, slide, stick, roll and lean.

A block dropped on the ground, in five lines:

    from reference_engine import Body, HalfPlane, World, box, simulate

    ground = Body(shape=HalfPlane(), fixed=True)
    block = Body(shape=box(1.0, 3.0), position=(0.0, 2.0), spin=0.3)
    motion = simulate(World(bodies=(ground, block), restitution=0.5), duration=5.0, sample_step=1 / 60)
    print(motion.pose[-1, 1], motion.impacts.time, motion.contacts_at(-1).force)

All SI. Poses are (x, y, angle), twists (vx, vy, spin), arrays over (samples, bodies, 3). It has no time step: every
event is found on the solution itself, exact to a stated bound, with Coulomb friction, joints, ropes and more forces.
Bodies in touch are at gap 0.

`simulate_ellipsoids` is for ellipsoids in space, on planes and in hollow spheres, by time steps.

`simulate_mechanism` is for bodies held by joints, in the plane and in space, to 1e-10 and better.
`simulate_compliant` is for solids in space that touch by elastic, damped contact (Hertz), events located.

`faithful_simulate` is ContactSim, the algorithm of the myPhysicsLab pages, run for run, with outlines of straight edges
and arcs; there bodies hover at 5 mm.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference_engine.complementarity.cone_problem import ConeProblem as ConeProblem
    from reference_engine.complementarity.cone_solve import ConeSolution as ConeSolution
    from reference_engine.complementarity.cone_solve import solve_cones as solve_cones
    from reference_engine.complementarity.contact_forces import Solution as Solution
    from reference_engine.complementarity.contact_forces import contact_forces as contact_forces
    from reference_engine.complementarity.errors import ContactForceError as ContactForceError
    from reference_engine.complementarity.friction_forces import FrictionSolution as FrictionSolution
    from reference_engine.complementarity.friction_forces import friction_forces as friction_forces
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
    from reference_engine.impacts.effective_mass import inverse_mass as inverse_mass
    from reference_engine.impacts.effective_mass import inverse_mass_through_joints as inverse_mass_through_joints
    from reference_engine.impacts.flights import FlightError as FlightError
    from reference_engine.impacts.flights import FlightMotion as FlightMotion
    from reference_engine.impacts.flights import Flyer as Flyer
    from reference_engine.impacts.flights import simulate_flights as simulate_flights
    from reference_engine.impacts.incremental import ImpactError as ImpactError
    from reference_engine.impacts.laws import Impact as Impact
    from reference_engine.impacts.laws import impact as impact
    from reference_engine.impacts.multiple import MultipleImpact as MultipleImpact
    from reference_engine.impacts.multiple import multiple_impact as multiple_impact
    from reference_engine.multibody.driven import Drive as Drive
    from reference_engine.multibody.errors import JointError as JointError
    from reference_engine.multibody.errors import MechanismError as MechanismError
    from reference_engine.multibody.joints import Coupling as Coupling
    from reference_engine.multibody.joints import Distance as Distance
    from reference_engine.multibody.links import Link as Link
    from reference_engine.multibody.mechanism import LinkSpring as LinkSpring
    from reference_engine.multibody.mechanism import LinkTorque as LinkTorque
    from reference_engine.multibody.mechanism import Mechanism as Mechanism
    from reference_engine.multibody.motion import JointEvent as JointEvent
    from reference_engine.multibody.motion import MechanismMotion as MechanismMotion
    from reference_engine.multibody.motion import mechanism_at as mechanism_at
    from reference_engine.multibody.rolling import Rolling as Rolling
    from reference_engine.multibody.simulate import simulate_mechanism as simulate_mechanism
    from reference_engine.multibody.striking import Struck as Struck
    from reference_engine.multibody.striking import strike as strike
    from reference_engine.multibody.winding import Winding as Winding
    from reference_engine.planar.connectors import Joint as Joint
    from reference_engine.planar.connectors import PathEnd as PathEnd
    from reference_engine.planar.connectors import PathJoint as PathJoint
    from reference_engine.planar.connectors import Rope as Rope
    from reference_engine.planar.errors import PainleveError as PainleveError
    from reference_engine.planar.errors import UnresolvedContact as UnresolvedContact
    from reference_engine.planar.errors import WorldError as WorldError
    from reference_engine.planar.faithful.engine import faithful_samples as faithful_samples
    from reference_engine.planar.faithful.engine import faithful_simulate as faithful_simulate
    from reference_engine.planar.faithful.settings import FaithfulSettings as FaithfulSettings
    from reference_engine.planar.forces import Attraction as Attraction
    from reference_engine.planar.forces import ConstantForce as ConstantForce
    from reference_engine.planar.forces import Spring as Spring
    from reference_engine.planar.forces import Thruster as Thruster
    from reference_engine.planar.located.motion import LocatedMotion as LocatedMotion
    from reference_engine.planar.located.settings import Settings as Settings
    from reference_engine.planar.located.simulate import simulate as simulate
    from reference_engine.planar.located.simulate import simulate_at as simulate_at
    from reference_engine.planar.motion import Motion as Motion
    from reference_engine.planar.motion import energy as energy
    from reference_engine.planar.outline import Edge as Edge
    from reference_engine.planar.outline import Outline as Outline
    from reference_engine.planar.outline import polygon_outline as polygon_outline
    from reference_engine.planar.outline import wall as wall
    from reference_engine.planar.path import Path as Path
    from reference_engine.planar.path import curve as curve
    from reference_engine.planar.shape import Bowl as Bowl
    from reference_engine.planar.shape import Disc as Disc
    from reference_engine.planar.shape import HalfPlane as HalfPlane
    from reference_engine.planar.shape import Polygon as Polygon
    from reference_engine.planar.shape import box as box
    from reference_engine.planar.world import Body as Body
    from reference_engine.planar.world import World as World
    from reference_engine.spatial.errors import SpatialWorldError as SpatialWorldError
    from reference_engine.spatial.errors import UnresolvedStepError as UnresolvedStepError
    from reference_engine.spatial.mobility import MobilityStepper as MobilityStepper
    from reference_engine.spatial.settings import SpatialSettings as SpatialSettings
    from reference_engine.spatial.simulate import EllipsoidMotion as EllipsoidMotion
    from reference_engine.spatial.simulate import ellipsoid_energy as ellipsoid_energy
    from reference_engine.spatial.simulate import simulate_ellipsoids as simulate_ellipsoids
    from reference_engine.spatial.stepper import Stepper as Stepper
    from reference_engine.spatial.world import EllipsoidWorld as EllipsoidWorld
    from reference_engine.spatial.world import HalfSpace as HalfSpace
    from reference_engine.spatial.world import HollowSphere as HollowSphere

# In the order in which one would teach them. Loaded when first asked for: `reference_engine.geometry` alone
# does not need the kernels.
_HOME = {
    "Body": "planar.world",
    "box": "planar.shape",
    "Disc": "planar.shape",
    "Polygon": "planar.shape",
    "HalfPlane": "planar.shape",
    "Bowl": "planar.shape",
    "World": "planar.world",
    "simulate": "planar.located.simulate",
    "Motion": "planar.motion",
    "LocatedMotion": "planar.located.motion",
    "energy": "planar.motion",
    "Settings": "planar.located.settings",
    "simulate_at": "planar.located.simulate",
    "faithful_simulate": "planar.faithful.engine",
    "faithful_samples": "planar.faithful.engine",
    "FaithfulSettings": "planar.faithful.settings",
    "Outline": "planar.outline",
    "Edge": "planar.outline",
    "polygon_outline": "planar.outline",
    "wall": "planar.outline",
    "Joint": "planar.connectors",
    "Rope": "planar.connectors",
    "Path": "planar.path",
    "curve": "planar.path",
    "PathJoint": "planar.connectors",
    "PathEnd": "planar.connectors",
    "Spring": "planar.forces",
    "Thruster": "planar.forces",
    "ConstantForce": "planar.forces",
    "Attraction": "planar.forces",
    "contact_forces": "complementarity.contact_forces",
    "friction_forces": "complementarity.friction_forces",
    "FrictionSolution": "complementarity.friction_forces",
    "Solution": "complementarity.contact_forces",
    "impact": "impacts.laws",
    "Impact": "impacts.laws",
    "multiple_impact": "impacts.multiple",
    "MultipleImpact": "impacts.multiple",
    "inverse_mass": "impacts.effective_mass",
    "inverse_mass_through_joints": "impacts.effective_mass",
    "ImpactError": "impacts.incremental",
    "simulate_flights": "impacts.flights",
    "Flyer": "impacts.flights",
    "FlightMotion": "impacts.flights",
    "FlightError": "impacts.flights",
    "WorldError": "planar.errors",
    "UnresolvedContact": "planar.errors",
    "PainleveError": "planar.errors",
    "ContactForceError": "complementarity.errors",
    "EllipsoidWorld": "spatial.world",
    "HalfSpace": "spatial.world",
    "HollowSphere": "spatial.world",
    "simulate_ellipsoids": "spatial.simulate",
    "EllipsoidMotion": "spatial.simulate",
    "ellipsoid_energy": "spatial.simulate",
    "SpatialSettings": "spatial.settings",
    "Stepper": "spatial.stepper",
    "MobilityStepper": "spatial.mobility",
    "SpatialWorldError": "spatial.errors",
    "UnresolvedStepError": "spatial.errors",
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
    "strike": "multibody.striking",
    "Struck": "multibody.striking",
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
    "ConeProblem": "complementarity.cone_problem",
    "solve_cones": "complementarity.cone_solve",
    "ConeSolution": "complementarity.cone_solve",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"reference_engine.{_HOME[name]}"), name)
    globals()[name] = value
    return value
