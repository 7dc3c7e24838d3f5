"""DART: reduced coordinates, contacts as one linear complementarity problem a step, double precision.

What makes a comparison unfair, and what is done about it (DART documentation; measured with dartpy 6.20.0):
- Planar scenes are prisms 1 m deep, free in space, and put back into the plane after each step. With DART's own planar
  joint friction out of the plane is 0/0: a stack of 10 sank by 2.9 mm on average and crept 17 cm in 6 s; so it sinks by
  1.7 um and creeps 12 um.
- Joints are exact: a body hangs on another by its coordinate; only a pin or ball that closes a loop is a constraint of
  each step.
- Which detector finds the contacts decides what stands: FCL, the default, finds one contact of a box on a plane. Fair
  is ODE's, which finds four.
- Friction is a pyramid along the world's axes; of a pair it is the smaller of two values. Restitution is their product.
  Where no values give every pair its own, the scene is declined.
- An impact below 0.1 m/s has no restitution, and a penetration goes back slowly: dartpy has no setting for either.
- By default bodies are deactivated where they hardly move; fair does not.
- dartpy makes meshes from files alone: hulls, bowls and hollow spheres are declined. So are ellipsoids, which ODE's
  detector does not have.
- A step first changes the velocity, then moves with it: in free flight the velocity is the true one dt/2 before.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import ClassVar

from scenarios.scene import Scene
from validation.engines.dart.world import DartWorld
from validation.engines.engine import Ability, Able, Setting, Settings, SteppingEngine, Value
from validation.engines.shared.joint_tree import loop_fault, start_fault
from validation.engines.shared.pair_laws import PairLaws, no_values
from validation.engines.shared.solid_pieces import solid_pieces
from validation.engines.takes import FORCES, FRICTION, GROUPS, HINGES, JOINTS, NEWTON, PLANAR, SPATIAL

MESH = "dartpy makes meshes from files alone"
TAKES = PLANAR | SPATIAL | FRICTION | NEWTON | FORCES | GROUPS | JOINTS | HINGES
TAKES |= {"restitution", "concave-polygon", "capsule", "cylinder"}
BECAUSE = {
    "arc-polygon": "DART has no shape with arc edges; a polygon would be another scene",
    "bowl": f"{MESH}, and has no concave shape",
    "hollow-sphere": f"{MESH}, and has no concave shape",
    "convex-mesh": MESH,
    "ellipsoid": "the collision detector of ODE, which DART needs for boxes, has no ellipsoid",
    "rod": "DART has no joint that keeps a distance",
    "rope": "DART has no joint that limits a distance",
    "compliant": "DART's contacts have no stiffness",
}

SETTINGS: Mapping[str, Setting] = {
    "collision_detector": Setting(default="fcl", choices=("fcl", "ode", "bullet", "dart"), doc="what finds contacts"),
    "split_impulse": Setting(default=False, doc="penetrations are taken back by a velocity that does not stay"),
    "deactivation": Setting(default=True, doc="bodies that hardly move are left alone"),
    "max_contacts": Setting(default=1000, low=1, high=1_000_000, doc="contacts of a step; others are dropped"),
}
FAIR: Mapping[str, Value] = {"collision_detector": "ode", "deactivation": False, "max_contacts": 100_000}


class Dart(SteppingEngine):
    name = "dart"
    version = importlib.metadata.version("dartpy")
    settings = SETTINGS
    fair = FAIR
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    abilities: ClassVar[Mapping[Ability, Able]] = {
        "set_state": Able(works=True, note="to round-off; of what hangs on joints as far as these let it"),
        "apply_force": Able(works=True, note="constant over the step"),
        "options": Able(works=True, note="of its world and solver"),
    }

    def cannot(self, scene: Scene) -> str | None:
        if any(piece.kind == "hull" for body in scene.bodies for piece in solid_pieces(body.shape, 0)):
            return f"{MESH}: a polygon has to be of rectangles"
        laws = no_values("DART", PairLaws(scene), friction="min", restitution="product")
        return laws or start_fault(scene) or loop_fault("DART", scene)

    def build(self, scene: Scene, dt: float, settings: Settings) -> DartWorld:
        return DartWorld(scene, dt, settings)
