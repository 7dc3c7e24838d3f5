"""Rapier: constraints by sub-steps of soft projected Gauss-Seidel, in maximal coordinates and single precision.

What makes a comparison unfair, and what is done about it (Rapier's documentation, "Integration parameters"; measured
with rapier3d 0.36.1):
- Planar scenes are prisms 1 m deep that cannot turn about x and y. They may move along z, or the friction of a contact
  in that direction is 0/0; whatever single precision makes of it is taken back after each step. A planar hinge holds
  x and y alone: of two bodies that cannot turn, the rows that keep its axis are 0/0, and energies of 1e14 J follow.
- The wheel has one pool of threads, which a process forked after a step does not have and waits for: one thread.
- A step is n sub-steps, each a change of the velocity and then of the pose: in free flight the velocity is the true
  one dt / (2 n) before.
- Contacts are damped springs: a stack of 10 sinks by 3.1 mm in its lowest contact at the default frequency of 30 and 60
  per second. Fair is a quarter of the rate of its sub-steps, of which it has 8: 12 um.
- By default one friction is solved for up to four contacts, and not reported: contacts that may have friction have no
  impulse. In the plane fair has Coulomb's at every contact, and knows them all. In space that holds a sliding slab by
  0.86 mu alone, since its corners pull against one another: fair has the default there.
- Contacts with a mesh are merged, and their impulses with them: they are reported without.
- Under springs and thrusters a swing grows: a force moves a body by half dt^2 in the step that it acts in.
- Friction and restitution of a pair are the product of two colliders' values; where no values give every pair its own
  they are set contact by contact.
- By default speeds are cut off at 400 m/s and rotation at about 188 rad/s (at 1/240 s); fair has neither. Bodies never
  sleep, as the scenes ask.
- A body whose state is not finite is put back and switched off; here that is NotFiniteError.
- An ellipsoid is the hull of points on it, a bowl and a hollow sphere are meshes of triangles.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import ClassVar

import numpy  # noqa: F401  rapier3d looks for it when it is first used, and ends the process where it cannot

from scenarios.scene import PlanarScene, Scene
from validation.engines.engine import Ability, Able, Setting, Settings, SteppingEngine, Value
from validation.engines.rapier.world import RapierWorld
from validation.engines.shared.solid_pieces import facet_settings
from validation.engines.takes import FORCES, FRICTION, GROUPS, HINGES, JOINTS, NEWTON, PLANAR, SOLIDS, SPATIAL, WALLS

TAKES = PLANAR | SPATIAL | FRICTION | NEWTON | FORCES | GROUPS | SOLIDS | WALLS | JOINTS | HINGES
TAKES |= {"restitution", "concave-polygon", "rope"}
BECAUSE = {
    "arc-polygon": "Rapier has no shape with arc edges; a polygon would be another scene",
    "rod": "Rapier has no joint that keeps a distance",
    "compliant": "Rapier's contacts have one softness for the whole world",
}

SETTINGS: Mapping[str, Setting] = {
    "num_solver_iterations": Setting(default=4, low=1, high=1000, doc="sub-steps of a step"),
    "num_internal_pgs_iterations": Setting(default=1, low=1, high=1000, doc="sweeps of the solver in a sub-step"),
    "num_internal_stabilization_iterations": Setting(
        default=1, low=0, high=1000, doc="sweeps without springs, at the end of a sub-step"
    ),
    "contact_natural_frequency": Setting(default=30.0, low=1e-3, high=1e9, doc="of contact springs, 1/s"),
    "static_contact_natural_frequency": Setting(
        default=60.0, low=1e-3, high=1e9, doc="of contacts with what cannot move, 1/s"
    ),
    "contact_damping_ratio": Setting(default=10.0, low=1e-3, high=1e6, doc="of contact springs"),
    "normalized_allowed_linear_error": Setting(
        default=0.005, low=0.0, high=1.0, doc="penetration that is left alone, m"
    ),
    "normalized_prediction_distance": Setting(default=0.02, low=1e-6, high=10.0, doc="contacts up to this gap, m"),
    "normalized_max_corrective_velocity": Setting(
        default=3.0, low=0.0, high=1e9, doc="bodies are pushed apart no faster, m/s"
    ),
    "normalized_max_linear_velocity": Setting(default=400.0, low=1e-3, high=1e12, doc="faster motion is cut off, m/s"),
    "allow_fast_rotation": Setting(default=False, doc="false: fast rotation is cut off"),
    "friction_model": Setting(
        default="simplified",
        choices=("simplified", "coulomb"),
        doc="one friction for up to four contacts, or each its own",
    ),
    "contact_recycling": Setting(default=True, doc="contacts are not looked for anew where bodies hardly moved"),
    **facet_settings(ellipsoid=3),
}
FAIR: Mapping[str, Value] = {
    "num_solver_iterations": 8,
    "num_internal_pgs_iterations": 4,
    "normalized_allowed_linear_error": 1e-4,
    "normalized_max_linear_velocity": 1e12,
    "allow_fast_rotation": True,
    "contact_recycling": False,
}


class Rapier(SteppingEngine):
    name = "rapier"
    version = importlib.metadata.version("rapier3d")
    settings = SETTINGS
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    abilities: ClassVar[Mapping[Ability, Able]] = {
        "set_state": Able(works=True, note="to single precision; contacts start anew"),
        "apply_force": Able(works=True, note="constant over the step"),
        "options": Able(works=True, note="its integration parameters"),
    }

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name != "fair":
            return {}
        stiff = 0.25 * int(FAIR["num_solver_iterations"]) / dt
        return {
            **FAIR,
            "contact_natural_frequency": stiff,
            "static_contact_natural_frequency": stiff,
            "friction_model": "coulomb" if isinstance(scene, PlanarScene) else "simplified",
        }

    def build(self, scene: Scene, dt: float, settings: Settings) -> RapierWorld:
        return RapierWorld(scene, dt, settings)
