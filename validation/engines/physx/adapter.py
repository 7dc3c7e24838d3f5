"""PhysX 5 by way of SAPIEN: projected Gauss-Seidel with small time steps (TGS), maximal coordinates, single precision.

What makes a comparison unfair, and what is done about it (PhysX 5.3 and SAPIEN documentation; measured with sapien
3.0.3, which has PhysX 5.3.1):
- Planar scenes are prisms 1 m deep that neither turn about x and y nor move along z; a planar hinge holds x and y
  alone.
- Friction and restitution of a pair are the mean of two materials' values: SAPIEN has no other rule. Where no values
  give every pair its own, the scene is declined.
- By default an impact below 2 m/s has no restitution (a cradle's last ball is 0.8 m/s off), spins are cut off at
  100 rad/s and fade by 5 % a second, and bodies sleep. Fair has none of these, and more sweeps.
- Bodies joined by a joint never collide: joints that let them are declined.
- A step first changes the velocity, then moves with it: in free flight the velocity is the true one dt/2 before.
- Contacts have their normal impulse and not that of friction: what may have friction is reported without one.
- An ellipsoid is the hull of points on it, of which PhysX keeps about 130; a bowl and a hollow sphere are meshes of
  triangles.
- SAPIEN warns on import that it found no Vulkan, with which it would draw.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Mapping
from typing import ClassVar

from scenarios.scene import Scene
from validation.engines.engine import Ability, Able, Setting, Settings, SteppingEngine, Value
from validation.engines.shared.pair_laws import PairLaws, no_values
from validation.engines.shared.solid_pieces import facet_settings
from validation.engines.takes import FORCES, FRICTION, GROUPS, HINGES, NEWTON, PLANAR, SOLIDS, SPATIAL, TIES, WALLS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from validation.engines.physx.world import PhysXWorld

MOST_CORNERS = 64  # of a hull: PhysX leaves some out of larger ones

TAKES = PLANAR | SPATIAL | FRICTION | NEWTON | FORCES | GROUPS | SOLIDS | WALLS | HINGES | TIES
TAKES |= {"restitution", "concave-polygon", "joints", "joints.b"}
BECAUSE = {
    "arc-polygon": "PhysX has no shape with arc edges; a polygon would be another scene",
    "compliant": "SAPIEN's materials have no stiffness",
    "joints.collide": "PhysX lets bodies joined by a joint pass through each other, and SAPIEN has no way to change it",
}

SETTINGS: Mapping[str, Setting] = {
    "solver_position_iterations": Setting(default=10, low=1, high=255, doc="sweeps for the positions"),
    "solver_velocity_iterations": Setting(default=1, low=0, high=255, doc="sweeps for the velocities after them"),
    "enable_tgs": Setting(default=True, doc="each sweep is a small time step; false: plain Gauss-Seidel"),
    "enable_pcm": Setting(default=True, doc="contacts are kept and completed; false: found anew by separating axes"),
    "enable_friction_every_iteration": Setting(default=True, doc="friction in every sweep, or in the last ones"),
    "enable_enhanced_determinism": Setting(default=False, doc="bodies far away do not change the order of contacts"),
    "bounce_threshold": Setting(default=2.0, low=1e-6, high=1e6, doc="slower impacts have no restitution, m/s"),
    "contact_offset": Setting(default=0.01, low=1e-6, high=10.0, doc="contacts are made up to this gap, m"),
    "sleep_threshold": Setting(default=0.005, low=0.0, high=1e6, doc="bodies with less energy a kg sleep, m^2/s^2"),
    "linear_damping": Setting(default=0.0, low=0.0, high=1e3, doc="share of the velocity that is lost, 1/s"),
    "angular_damping": Setting(default=0.05, low=0.0, high=1e3, doc="likewise of the spin, 1/s"),
    "max_angular_velocity": Setting(default=100.0, low=1e-3, high=1e12, doc="faster spin is cut off, rad/s"),
    **facet_settings(ellipsoid=2),
}
FAIR: Mapping[str, Value] = {
    "solver_position_iterations": 40,
    "bounce_threshold": 1e-4,
    "sleep_threshold": 0.0,
    "angular_damping": 0.0,
    "max_angular_velocity": 1e6,
    "enable_enhanced_determinism": True,
}


class PhysX(SteppingEngine):
    name = "physx"
    version = importlib.metadata.version("sapien")
    settings = SETTINGS
    fair = FAIR
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    abilities: ClassVar[Mapping[Ability, Able]] = {
        "set_state": Able(works=True, note="to single precision"),
        "apply_force": Able(works=True, note="constant over the step"),
        "options": Able(works=True, note="of its scene"),
    }

    def cannot(self, scene: Scene) -> str | None:
        if reason := no_values("PhysX", PairLaws(scene), friction="mean", restitution="mean"):
            return reason
        if any(len(getattr(body.shape, "points", ())) > MOST_CORNERS for body in scene.bodies):
            return f"PhysX leaves corners out of a hull of more than {MOST_CORNERS}"
        return None

    def build(self, scene: Scene, dt: float, settings: Settings) -> PhysXWorld:
        return PhysXWorld(scene, dt, settings)
