"""pymunk: Chipmunk (its fork Munk2D), an impulse solver for the plane with warm starting, in double precision.

What its user should know (docs at pymunk.org):
- A step moves the bodies first and then changes their velocities, so a velocity is half a step ahead of its pose.
- Friction and restitution of a pair are the product of the shapes' values; `validation.engines.shared.pair_laws` finds
  values for which that is the scene's law, or a callback sets it contact by contact.
- Its defaults are for pixels: `collision_slop`, the overlap it leaves alone, is 0.1. "fair" takes a thousandth of the
  narrowest body and 50 iterations.
- All shapes are convex. A bowl is made of segments, and a disc that rolls in it loses a little at each corner.
- What starts in exact touch is not in contact in the first step: it falls for one step and stays that much too deep,
  where a start 1e-9 m deep never moves.
- A contact that comes back within `collision_persistence` steps reports the impulse of before on top of its own.
- Numbers that abort the process (iterations below 1, NaN) are refused by the settings' ranges and by the scene.
"""

import importlib.metadata

import numpy as np

from scenarios.native import Model
from scenarios.pieces import planar_pieces
from scenarios.scene import Disc, PlanarScene, Scene
from validation.engines import LOADS
from validation.engines.engine import QUERY_STEP, Setting, Settings, SteppingEngine, Value, able
from validation.engines.pymunk.importing import imported
from validation.engines.pymunk.native import Described, NativeWorld
from validation.engines.pymunk.queries import QUERIES, collisions
from validation.engines.pymunk.world import World
from validation.engines.relations import repeats
from validation.engines.shared import recorder
from validation.engines.shared.importing import Imported
from validation.engines.shared.separation import SweptFunction, is_sweep
from validation.engines.takes import COMPOUND, GIVEN_MOTION, JOINTS, MARGIN, PLANAR, SOLVER, TIES
from validation.records.queries import Answers, Poses

TAKES = PLANAR | SOLVER | COMPOUND | JOINTS | TIES | GIVEN_MOTION | MARGIN
TAKES |= {"restitution", "bowl", "revolute", "prismatic"}
BECAUSE = {
    "spatial": "pymunk is planar",
    "concave-polygon": "Chipmunk has no concave shapes; several convex ones on a body would be another scene",
    "arc-polygon": "Chipmunk has no arcs but discs; a polygon would be another scene",
}
CORRECTION = (1.0 - 0.1) ** 60  # of an overlap or joint error, what is left after a second; Chipmunk's default
SETTINGS = {
    "iterations": Setting(default=10, low=1, high=100_000, fuzzed="more", doc="solver iterations of a step"),
    "collision_slop": Setting(default=0.1, low=0.0, high=1e3, fuzzed="less", doc="m, overlap that is not corrected"),
    "collision_bias": Setting(default=CORRECTION, low=0.0, high=1.0, doc="share of an overlap left after 1 s"),
    # With 0 Chipmunk forgets the contacts that it is about to solve.
    "collision_persistence": Setting(
        default=3, low=1, high=10_000, fuzzed="more", doc="steps for which a contact is remembered"
    ),
    "joint_bias": Setting(default=CORRECTION, low=0.0, high=1.0, doc="share of a joint's error left after 1 s"),
    "sleep_time_threshold": Setting(
        default=0.0, low=0.0, high=1e6, doc="s at rest before bodies sleep; 0 for never, as it is out of the box"
    ),
    "bowl_segments": Setting(default=1024, low=16, high=65_536, fuzzed="none", doc="segments that stand for a bowl"),
}
FAIR_ITERATIONS = 50
FAIR_SLOP = 1e-3  # of the narrowest body's width
FAIR_SEGMENTS = 4096  # a disc in the bowl then loses 4 % of its energy in 10 s where 1024 cost it 11 %


class Pymunk(SteppingEngine):
    name = "pymunk"
    version = importlib.metadata.version("pymunk")  # pymunk 7.0.0 says of itself that it is 2.0.0
    settings = SETTINGS
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    relations = repeats("one thread is the default, to keep simulations deterministic; API reference, Space.threads")
    abilities = able(
        set_state="bit for bit in flight; impulses of contacts and joints start from zero",
        apply_force="at the position that the step starts from",
        options="those of the space",
    )
    queries = QUERIES
    loads = LOADS["pymunk"]

    def profile(self, name: str, scene: Scene, dt: float) -> dict[str, Value]:
        if name == "default" or not isinstance(scene, PlanarScene):
            return {}
        return {
            "iterations": FAIR_ITERATIONS,
            "collision_slop": FAIR_SLOP * narrowest_width(scene),
            "bowl_segments": FAIR_SEGMENTS,
        }

    def build(self, scene: Scene, dt: float, settings: Settings) -> recorder.World:
        assert isinstance(scene, PlanarScene)
        if scene.native is not None:
            world = NativeWorld(scene, dt)
            return SweptFunction(world, scene, dt) if is_sweep(scene) else world
        return World(scene, dt, settings)

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> Scene:
        return Described(model, duration, title).scene

    def stand_alone(self, model: Model, duration: float, title: str, settings: Settings) -> Imported:
        return imported(model, duration, title)

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        world = self.build(scene, QUERY_STEP, settings)
        assert isinstance(world, World)  # as long as it is there, so are its shapes
        return collisions(world.space, world.bodies, poses)


def narrowest_width(scene: PlanarScene) -> float:
    """m: the smaller side of the smallest piece of a free body, along its body axes."""
    widths = []
    for body in scene.bodies:
        if not body.fixed:
            for shape, _ in planar_pieces(body.shape):
                if isinstance(shape, Disc):
                    widths.append(2.0 * shape.radius)
                else:
                    widths.append(float(np.ptp(np.array(shape.vertices), axis=0).min()))
    return min(widths)
