# ruff: noqa: F401  names for others
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

`simulate_spatial` is for boxes, hulls, balls, capsules and discs in space, with every event located.

`simulate_mechanism` is for bodies held by joints, in the plane and in space, to 1e-10 and better.
`simulate_compliant` is for solids in space that touch by elastic, damped contact (Hertz), events located.

`faithful_simulate` is ContactSim, the algorithm of the myPhysicsLab pages, run for run, with outlines of straight edges
and arcs; there bodies hover at 5 mm.
"""

import ast
import pathlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

# In the order in which one would teach them. A name is loaded when it is first asked for, from where these lines say:
# `reference_engine.geometry` alone does not need the kernels.
# isort: off
if TYPE_CHECKING:
    from reference_engine.planar_model.world import Body, World
    from reference_engine.planar_model.shape import box, Disc, Polygon, HalfPlane, Bowl
    from reference_engine.planar.simulate import simulate, simulate_at, LocatedMotion
    from reference_engine.planar_model.motion import Motion, energy
    from reference_engine.planar.run import Settings
    from reference_engine.contactsim.simulate import faithful_simulate, faithful_samples
    from reference_engine.contactsim.settings import FaithfulSettings
    from reference_engine.planar_model.shape import Outline, Edge, polygon_outline, wall
    from reference_engine.planar_model.connectors import Joint, Rope, PathJoint, PathEnd, Path, curve
    from reference_engine.planar_model.forces import Spring, Thruster, ConstantForce, Attraction
    from reference_engine.contact_problems.contact_forces import contact_forces, Solution
    from reference_engine.contact_problems.friction import friction_forces, FrictionSolution
    from reference_engine.contact_problems.impact_laws import impact, Impact, inverse_mass, inverse_mass_through_joints
    from reference_engine.contact_problems.multiple_impacts import multiple_impact, MultipleImpact
    from reference_engine.contact_problems.impact_process import ImpactError, WedgedImpactError
    from reference_engine.spatial.flights import simulate_flights, Flyer, FlightMotion, FlightError
    from reference_engine.spatial.simulate import simulate_spatial
    from reference_engine.spatial.world import SpatialWorld, SpatialBody, GivenMotion, BallJoint, Points
    from reference_engine.spatial.motion import OpenForces, SpatialMotion, SpatialEvent, LocatedSettings
    from reference_engine.errors import (
        WorldError,
        DocumentedLimit,
        UnresolvedContact,
        EndlessEventsError,
        WedgedError,
        IllDeterminedError,
        OrderOfImpactsError,
        PainleveError,
        SingularPositionError,
        ContactForceError,
        SpatialWorldError,
    )
    from reference_engine.errors import (
        UnresolvedStepError,
        MechanismError,
        JointError,
        SingularJointsError,
        CompliantError,
    )
    from reference_engine.heaps.world import EllipsoidWorld, HalfSpace, SphereInterior, SpatialSettings
    from reference_engine.heaps.simulate import simulate_ellipsoids, EllipsoidMotion, ellipsoid_energy
    from reference_engine.heaps.stepper import Stepper
    from reference_engine.heaps.mobility import MobilityStepper
    from reference_engine.multibody.links import Link
    from reference_engine.multibody.mechanism import Mechanism, LinkSpring, LinkTorque, MechanismMotion, JointEvent
    from reference_engine.multibody.joints import Coupling, Distance
    from reference_engine.multibody.simulate import simulate_mechanism
    from reference_engine.multibody.rolling import Rolling
    from reference_engine.multibody.driven import Drive
    from reference_engine.multibody.winding import Winding
    from reference_engine.compliant.world import CompliantWorld, CompliantBody, Material, PairLaw, Materials
    from reference_engine.compliant.simulate import simulate_compliant, CompliantMotion
    from reference_engine.compliant.simulate import ContactEvents, CompliantSettings
    from reference_engine.contact_problems.cone_problem import ConeProblem
    from reference_engine.contact_problems.cone_solve import solve_cones, ConeSolution
# isort: on


def _homes() -> dict[str, str]:
    """Each name above and its module."""
    source = ast.parse(pathlib.Path(__file__).read_text(encoding="utf-8"))
    block = next(node for node in source.body if isinstance(node, ast.If))
    lines = (node for node in block.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(line.module) for line in lines for alias in line.names}


_HOME = _homes()
__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
