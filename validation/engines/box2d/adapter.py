"""Box2D 2.3: an impulse solver for the plane with warm starting and continuous collision, in single precision.

What its user should know (manual at box2d.org, source at github.com/pybox2d/pybox2d):
- A step changes the velocities first and then moves the bodies: a velocity is half a step behind its pose.
- Polygons and edges carry a skin of 1 cm, and 5 mm of overlap are left alone: boxes come to rest 15 to 20 mm apart, a
  disc 5 to 10 mm from a box, and what starts in touch is pushed apart to the lower end. `polygon_inset` draws polygons
  smaller; 0.0075 m makes up for it.
- Sleep is on out of the box, and a body slower than 10 mm/s then stops for good after half a second.
- Below an approach speed of 1 m/s there is no restitution; the threshold is compiled in, and setting it from Python
  does nothing. So are the greatest displacement, 2 m, and the greatest turn, a quarter, of a step.
- Friction of a pair is the geometric mean, restitution the larger; where no shape values give the scene's law it is
  set when a contact begins, and stays as long as it lasts.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from Box2D import __version__, b2_maxPolygonVertices, b2PolygonShape

from scenarios.native import Model
from scenarios.pieces import planar_pieces
from scenarios.scene import Bowl, PlanarScene, Polygon, Scene
from validation.engines import LOADS
from validation.engines.box2d.native import ITERATIONS, Described, NativeWorld
from validation.engines.box2d.queries import QUERIES, distances
from validation.engines.box2d.world import SKIN, World, most_facets, record_is_known
from validation.engines.engine import QUERY_STEP, SINGLE, Setting, Settings, SteppingEngine, Value, able
from validation.engines.relations import repeats
from validation.engines.shared import recorder
from validation.engines.shared.separation import SweptFunction, is_sweep
from validation.engines.takes import COMPOUND, GIVEN_MOTION, JOINTS, PLANAR, SOLVER, TIES
from validation.records.queries import Answers, Poses

TAKES = PLANAR | SOLVER | COMPOUND | JOINTS | TIES | GIVEN_MOTION | {"restitution", "bowl", "revolute", "prismatic"}
BECAUSE = {
    "bodies.margin": "Box2D's skins are compiled in",
    "boundaries.margin": "Box2D's skins are compiled in",
    "spatial": "Box2D is planar",
    "concave-polygon": "Box2D has no concave polygons; several convex ones on a body would be another scene",
    "arc-polygon": "Box2D has no arcs but discs; a polygon would be another scene",
}
FEWEST_FACETS = 16
SETTINGS = {
    "velocity_iterations": Setting(
        default=8, low=1, high=100_000, fuzzed="more", doc="iterations for velocities, of a step"
    ),
    "position_iterations": Setting(
        default=3, low=1, high=100_000, fuzzed="more", doc="iterations for overlaps, of a step"
    ),
    "allow_sleep": Setting(default=True, doc="bodies at rest for half a second stop being simulated"),
    "warm_starting": Setting(default=True, doc="a step starts from the impulses of the one before"),
    "continuous": Setting(
        default=True, fuzzed="none", doc="bodies are stopped at what is fixed before they pass through it"
    ),
    "polygon_inset": Setting(
        default=0.0, low=0.0, high=SKIN, fuzzed="none", doc="m by which polygons are drawn smaller, for their skin"
    ),
    "bowl_segments": Setting(
        default=1024,
        low=FEWEST_FACETS,
        high=65_536,
        fuzzed="none",
        doc="edges for a bowl, at most; none shorter than 6 mm",
    ),
}
FAIR: dict[str, Value] = {"velocity_iterations": 50, "position_iterations": 20, "allow_sleep": False}
SHAPE_ERROR = 1e-6  # of the shape's size: single precision


class Box2D(SteppingEngine):
    name = "box2d"
    version = __version__
    round_off = SINGLE
    relations = repeats("it reproduces any simulation, for the same input and binary; FAQ, Is Box2D deterministic?")
    settings, fair = SETTINGS, FAIR
    profiles = ("default", "fair")
    takes, because = TAKES, BECAUSE
    abilities = able(
        set_state="bit for bit in flight; impulses of contacts and joints start from zero",
        apply_force="in single precision",
        options="those of the world and of its step",
    )
    queries = QUERIES
    loads = LOADS["box2d"]
    settings_of_models: ClassVar[Mapping[str, Setting]] = {name: SETTINGS[name] for name in ITERATIONS}

    def cannot(self, scene: Scene) -> str | None:
        assert isinstance(scene, PlanarScene)
        seen: set[tuple[tuple[float, float], ...]] = set()
        for name, shape in ((body.name, one) for body in scene.bodies for one, _ in planar_pieces(body.shape)):
            if isinstance(shape, Polygon) and shape.vertices not in seen:
                seen.add(shape.vertices)
                if fault := polygon_fault(shape.vertices):
                    return f"body {name!r}: {fault}"
        for boundary in scene.boundaries:
            if isinstance(boundary, Bowl) and most_facets(boundary) < FEWEST_FACETS:
                return f"bowl {boundary.name!r}: Box2D has no edges as short as {FEWEST_FACETS} of its would be"
        return None

    def warm_up(self) -> None:
        """Find out once, not in every process that is forked."""
        record_is_known()

    def build(self, scene: Scene, dt: float, settings: Settings) -> recorder.World:
        """Raises DeclinedError where an inset leaves nothing of a polygon; what a NativeWorld raises."""
        assert isinstance(scene, PlanarScene)
        if scene.native is not None:
            world = NativeWorld(scene, dt, {**{name: SETTINGS[name].default for name in ITERATIONS}, **settings})
            return SweptFunction(world, scene, dt) if is_sweep(scene) else world
        return World(scene, dt, settings)

    def describe(self, model: Model, duration: float, title: str, settings: Settings) -> Scene:
        return Described(model, duration, title).scene

    def answer(self, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
        world = self.build(scene, QUERY_STEP, settings)
        assert isinstance(world, World)  # as long as it is there, so are its shapes
        return distances(world.bodies, poses)


def polygon_fault(vertices: tuple[tuple[float, float], ...]) -> str | None:
    """Why Box2D does not hold this convex polygon as it is, in words; None where it does."""
    most = b2_maxPolygonVertices
    if len(vertices) > most:
        return f"Box2D holds polygons of at most {most} vertices, this one has {len(vertices)}"
    try:
        shape = b2PolygonShape(vertices=vertices)
    except (AssertionError, ValueError) as error:
        return f"Box2D refuses the polygon: {error}"
    # It merges vertices that are near each other: what it made must still reach to all of ours.
    v = np.array(vertices)
    beyond = (v[:, None, :] - np.array(shape.vertices)) * np.array(shape.normals)
    furthest = float(beyond.sum(axis=2).max())
    if furthest > SHAPE_ERROR * float(np.hypot(*v.T).max()):
        return f"Box2D merges vertices that are close, and would change the polygon by {furthest:.2g} m"
    return None
