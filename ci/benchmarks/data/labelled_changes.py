"""Changes whose sign is known before any judge has looked at them: what is right to say of each, in physical terms.

Written from the motions, before the judge learnt of outcomes and of how grave a change is, and not edited since: a
judge is measured by these, so these are not fitted to a judge.

*worse*, *better*: the new side does more wrong, or less, than the old one in what a person would see or rely on.
*mixed*: one grave fault went and another came. *different*: another thing happens, and neither the scene nor physics
says which is right. *same*: what happens is the same, and no error is twice what it was, or all of it is too little to
matter (0.1 mm of a body of 1 m).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from seeded_changes import HEAVY, damped, everywhere, gravity, of_pair

from scenarios.catalogue.shared.bodies import ball
from scenarios.scene import HalfPlane, PlanarScene, Scene, Thruster

Sign = Literal["worse", "better", "mixed", "different", "same"]
Plant = Callable[[Scene], Scene]


@dataclass(frozen=True, slots=True)
class Label:
    sign: Sign
    because: str


SEEDED: dict[tuple[str, str, str], Label] = {
    # (engine, planted, case) of seeded_changes.PLANTED
    ("pymunk", "iterations 50 -> 25", HEAVY): Label(
        "worse",
        "under 100 kg on 1 kg the boxes sink 2.5 mm into one another, 1.2 mm before, and tremble at 3.7 mm/s, 1.2",
    ),
    ("pymunk", "slop x 2", "overlapped-start"): Label("worse", "the block rests 2 mm deep in the ground, 1 mm before"),
    ("pymunk", "iterations 50 -> 5", "dominoes"): Label(
        "same", "all twelve fall and lie where they lay; the deepest overlap is 13 mm, 8 before, of a thickness of 200"
    ),
    ("box2d", "velocity iterations 50 -> 10", HEAVY): Label(
        "worse", "the stack trembles at 1 mm/s, 0.05 before, and rests 0.3 s later, some starts never"
    ),
    ("mujoco", "solref x 2", "stack:n=3"): Label("same", "boxes of 1 m sink 0.02 mm, 0.005 before: neither is seen"),
    ("mujoco", "cone pyramidal", "thrown-box:space=spatial"): Label(
        "better", "on its way the box tips by 1.0 degrees, 2.0 before, and stops at the same point; it should not tip"
    ),
    ("mujoco", "integrator implicit", "free-tumble"): Label(
        "same", "after 10 s of tumbling the angle is off by 0.4 degrees, 0.25 before: not twice as much"
    ),
    ("pybullet", "ERP 0.08 -> 0.5", "overlapped-start"): Label(
        "worse", "the block is thrown up by 16 mm where it came up without; it gains 0.2 J that nothing gave it"
    ),
    ("pybullet", "damping 0.04 1/s", "free-tumble"): Label(
        "worse", "a free body loses a quarter of its momentum, and is 1.2 m behind after 5 m"
    ),
    ("reference", "tolerance 1e-13 -> 1e-4", "double-pendulum"): Label(
        "worse", "an engine that is exact to 2e-13 m is off by 0.07 mm, and drifts by 1 mJ instead of 2e-12 J"
    ),
    ("pymunk", "gravity + 2 %", "bouncing-ball"): Label(
        "worse", "in falling 1 m the ball gains 2.9 % of its energy from nothing, 0.03 % before"
    ),
    ("box2d", "friction - 20 %", "thrown-box"): Label("worse", "it stops after 3.18 m; 2.55 m is right and 2.54 m was"),
    ("pymunk", "restitution - 5 %", "bouncing-ball"): Label(
        "worse", "the first bounce is 8 cm too low, half a millimetre before; 27 bounces, 41 before"
    ),
    ("mujoco", "time step x 2", "rocking-block"): Label(
        "worse",
        "all errors against the exact motion are twice as large: 16 mm and 0.58 degrees, 7.6 mm and 0.28 before",
    ),
    ("pymunk", "bodies the other way round", HEAVY): Label(
        "same", "the stack stands; at 1.7 mm its top is as low as half of all starts have it in the usual order"
    ),
    ("pymunk", "0.2 N on domino 7 from 0.3 s", "dominoes"): Label(
        "worse", "pushed by what is not there, dominoes sink up to 23 mm into one another, 8 mm before, of 200"
    ),
    ("pymunk", "bias: overlaps stay", "overlapped-start"): Label(
        "worse", "the block stays 2 mm deep, 1 mm before, and creeps by 0.9 mm where it stood"
    ),
    ("pymunk", "friction - 50 %", "incline-slide:relation=below"): Label(
        "worse", "friction should hold the block; it slides 10 m down"
    ),
    ("pymunk", "damping 0.2 kg/s", "newtons-cradle"): Label(
        "worse", "the balls lose 6.8 % of their momentum in flight"
    ),
    ("box2d", "restitution 0.9 of balls 3, 4", "newtons-cradle:speed=5"): Label(
        "worse", "the last ball leaves with 4.75 m/s, 5 are right and were; ball 3 should rest and follows"
    ),
    ("pymunk", "time step x 2", "slide-to-roll"): Label(
        "worse", "the ball is 6.9 mm and 1.6 degrees off, exactly twice as far as before"
    ),
    ("box2d", "no warm starting", "stack:n=5,friction=0"): Label(
        "same", "the frictionless stack slides apart by 32 mm, 25 before; it stands in both"
    ),
    ("box2d", "position iterations -> 1", "pile"): Label(
        "worse", "bodies of the pile lie 1.4 mm in one another on average, 0.3 before"
    ),
    ("box2d", "gravity turned by 0.02 rad", "incline-slide"): Label(
        "worse", "at the friction angle the block should stay; it slides 1 m"
    ),
    ("box2d", "bodies the other way round", "dominoes"): Label("same", "all twelve fall and lie where they lay"),
    ("mujoco", "solver PGS, 5 iterations", HEAVY): Label("worse", "the stack should stand and stood; it collapses"),
    ("mujoco", "impedance 0.9 at most", "stack:n=3"): Label(
        "worse", "the top of the stack is 1 mm too low, 0.01 mm before"
    ),
    ("mujoco", "joints damped", "double-pendulum"): Label(
        "worse", "the pendulum loses 4.6 J to friction that it does not have, and is 0.66 m off, 0.05 before"
    ),
    ("mujoco", "impratio 1", "incline-slide"): Label(
        "worse", "friction just holds the block; all starts creep by 4 cm in 3 s, fewer than half did before"
    ),
    ("pybullet", "iterations 5", "stack:n=3"): Label(
        "worse", "the boxes sink 1 mm into one another, 0.01 before, and shift by 1 mm after they had come to rest"
    ),
    ("pybullet", "slop 1 mm", "overlapped-start"): Label("worse", "the block rests 1 mm deep, 0.01 before"),
    ("pybullet", "gravity - 1 %", "rocking-block"): Label(
        "same", "the engine's own errors hide it: a block of 3 m is 8.8 mm off its exact place, 6.9 before, and in time"
    ),
    ("reference", "friction - 10 %", "thrown-box"): Label("worse", "it stops after 2.83 m; 2.548 m is right and was"),
    ("reference", "restitution - 1 %", "bouncing-ball"): Label(
        "worse", "the first bounce is 16 mm too low; an exact engine was right to the last digit"
    ),
}
"""What is right to say of each planted change. Of those that grow some metric by 10 %, four are *same*: MuJoCo's
softer contact in a stack of three (0.005 to 0.02 mm), its implicit integrator (0.25 to 0.4 degrees), Box2D without warm
starting (25 to 32 mm), pybullet's gravity (6.9 to 8.8 mm)."""


# --- pairs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Given:
    """What an engine is asked to do; what it does is measured as the scene that was meant."""

    engine: str  # with settings, as one types it
    plant: Plant | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    name: str
    case: str
    old: Given
    new: Given
    sign: Sign  # from old to new; from new to old it is the mirror image
    because: str
    moves: bool = False  # falling, moving, bouncing or never resting is right here
    scene: Callable[[], Scene] | None = None  # of its own, in place of the catalogue's `case`


def of_body(name: str, **fields: object) -> Plant:
    """The body with other fields."""

    def plant(scene: Scene) -> Scene:
        bodies = tuple(b.model_copy(update=fields) if b.name == name else b for b in scene.bodies)
        return scene.model_copy(update={"bodies": bodies})

    return plant


def through(*names: str) -> Plant:
    """Bodies that do not feel one another's contact."""

    def plant(scene: Scene) -> Scene:
        bodies = tuple(b.model_copy(update={"group": 7}) if b.name in names else b for b in scene.bodies)
        return scene.model_copy(update={"bodies": bodies})

    return plant


def without(kind: str, name: str) -> Plant:
    """Without this joint or boundary."""

    def plant(scene: Scene) -> Scene:
        return scene.model_copy(update={kind: tuple(one for one in getattr(scene, kind) if one.name != name)})

    return plant


def together(*plants: Plant) -> Plant:
    def plant(scene: Scene) -> Scene:
        for one in plants:
            scene = one(scene)
        return scene

    return plant


def shaken(body: str, force: float, hertz: float) -> Plant:
    """A force (N) to and fro, upwards first."""

    def plant(scene: Scene) -> Scene:
        half = 0.5 / hertz
        profile = tuple((k * half, float((-1) ** k)) for k in range(int(scene.duration / half)))
        thruster = Thruster(body=body, anchor=(0.0, 0.0), force=(0.0, force), profile=profile)
        return scene.model_copy(update={"thrusters": (*scene.thrusters, thruster)})

    return plant


def two_balls() -> Scene:
    """One exactly on top of the other: an equilibrium that the least push ends, to either side."""
    lower = ball("planar", "lower", radius=0.5, y=0.5, friction=0.5, mass=100.0)
    upper = ball("planar", "upper", radius=0.5, y=1.5, friction=0.5)
    return PlanarScene(duration=4.0, bodies=(lower, upper), boundaries=(HalfPlane(name="ground", friction=0.5),))


# fmt: off
PAIRS = (
    # --- falling, moving, bouncing or never resting is right ---------------------------------------------------------
    Pair("the first domino is not thrown", "dominoes",
         Given("pymunk"), Given("pymunk", of_body("domino 1", velocity=(0.0, 0.0), spin=0.0)),
         "worse", "the first domino must fall and take all others along; none moves", moves=True),
    Pair("the last domino can fall again", "dominoes",
         Given("box2d", of_body("domino 12", inertia=1e6)), Given("box2d"),
         "better", "all twelve must fall; eleven did, all do", moves=True),
    Pair("friction twice as large on a steep incline", "incline-slide:relation=above",
         Given("pymunk"), Given("pymunk", everywhere("friction", 2.0)),
         "worse", "steeper than the friction angle the block must slide, 0.50 m in 3 s; it stays", moves=True),
    Pair("friction no longer twice as large on a steep incline", "incline-slide:relation=above",
         Given("box2d", everywhere("friction", 2.0)), Given("box2d"),
         "better", "the block stayed where it must slide; it slides 0.50 m, which is right", moves=True),
    Pair("pendulum damped", "pendulum",
         Given("mujoco"), Given("mujoco", damped(3.0, 3.0)),
         "worse", "a pendulum without friction swings for ever; it hangs at rest after 4 s", moves=True),
    Pair("pendulum no longer damped", "pendulum:space=spatial",
         Given("pybullet", damped(3.0, 3.0)), Given("pybullet"),
         "better", "a pendulum without friction swings for ever; it came to rest, it swings", moves=True),
    Pair("ball that does not bounce", "bouncing-ball",
         Given("pymunk"), Given("pymunk", everywhere("restitution", 0.0)),
         "worse", "it must bounce to 0.81 of its height, again and again; it stays on the ground at once", moves=True),
    Pair("ball that bounces again", "bouncing-ball",
         Given("box2d", everywhere("restitution", 0.0)), Given("box2d"),
         "better", "it stayed on the ground at once; it bounces 20 times, the first time to 1.5 cm of what is right",
         moves=True),
    Pair("ladder held by friction", "sliding-ladder",
         Given("pymunk"),
         Given("pymunk", together(of_pair("ladder", "floor", friction=1.0), of_pair("ladder", "wall", friction=1.0))),
         "worse", "without friction nothing holds a ladder; it leans for ever", moves=True),
    Pair("cradle whose balls stay together", "newtons-cradle",
         Given("pymunk"), Given("pymunk", everywhere("restitution", 0.0)),
         "worse", "the last ball must leave alone with 1 m/s; all five go on with 0.2", moves=True),
    Pair("block that topples", "rocking-block",
         Given("pybullet"), Given("pybullet", of_body("block", spin=3.0)),
         "worse", "let go at 0.1 rad it must rock on its corners; it falls on its side", moves=True),
    Pair("plate that stops turning", "free-tumble",
         Given("pybullet"), Given("pybullet:angular_damping=1"),
         "worse", "a body that nothing touches keeps its angular momentum; it loses all of it", moves=True),
    Pair("box that never stops", "thrown-box",
         Given("pymunk"), Given("pymunk", everywhere("friction", 0.0)),
         "worse", "friction must stop it after 2.55 m; it slides on at 5 m/s", moves=True),
    Pair("slider-crank that seizes", "slider-crank",
         Given("pymunk"), Given("pymunk", damped(20.0, 20.0)),
         "worse", "the crank must go round for ever; it stands still within 2 s", moves=True),
    Pair("cue ball through the rack", "break",
         Given("pymunk"), Given("pymunk", through("cue", *(f"ball {i}" for i in range(1, 16)))),
         "worse", "the rack must scatter; the cue ball goes through it and nothing moves", moves=True),
    Pair("disc that stops in its bowl", "sphere-in-sphere",
         Given("pymunk"), Given("pymunk", damped(3.0, 3.0)),
         "worse", "rolling to and fro takes no energy; the disc creeps to the bottom once", moves=True),
    Pair("chaos", "double-pendulum:start=level",
         Given("reference"), Given("reference:tolerance=1e-11"),
         "same", "it turns over as it should, and ends at the same place to a tenth of a millimetre", moves=True),
    # --- standing, resting, holding is right -------------------------------------------------------------------------
    Pair("block on a block that held nothing", "upright-block:ground=box",
         Given("pymunk", through("block", "ground")), Given("pymunk"),
         "better", "the block fell through the one below, for ever; it rests on it"),
    Pair("block through the block below", "upright-block:ground=box,space=spatial",
         Given("pybullet"), Given("pybullet", through("block", "ground")),
         "worse", "the block rested on the one below; it falls through it, for ever"),
    Pair("heavy tower", "stack:n=10,mass_ratio=100",
         Given("pymunk:iterations=3"), Given("pymunk:iterations=500"),
         "better", "the tower must stand; its boxes leant by 12 degrees, sank 27 mm and shifted by 1.9 m; it stands"),
    Pair("joints tighter, a little more energy", "four-bar",
         Given("pymunk:iterations=1,joint_bias=0.9"), Given("pymunk:iterations=1,joint_bias=0.01"),
         "better", "the links' joints gape by 14 mm, 31 before; the motion is as wrong, and gains 0.9 J, 0.6 before"),
    Pair("pendulum without its elbow", "double-pendulum",
         Given("mujoco"), Given("mujoco", without("joints", "elbow")),
         "worse", "the two rods must stay joined; the lower one falls away, 490 m in 10 s"),
    Pair("block that hangs in the air", "bouncing-block",
         Given("box2d"), Given("box2d", gravity(0.0)),
         "worse", "let go at 1 m it must fall; it hangs there"),
    Pair("disc out of its bowl", "sphere-in-sphere",
         Given("box2d"), Given("box2d", without("boundaries", "bowl")),
         "worse", "a closed bowl holds the disc; it falls out of it, 490 m in 10 s"),
    Pair("iterations 50 -> 40 where 10 are plenty", "stack:n=3",
         Given("pymunk"), Given("pymunk:iterations=40"),
         "same", "three boxes stand in both, 0.3 mm in one another"),
    Pair("overlaps of 5 mm stay", "overlapped-start:n=2",
         Given("pymunk"), Given("pymunk:collision_slop=0.05"),
         "worse", "blocks that start 5 mm deep stay 5 mm deep, 1 mm before; not correcting them costs no energy"),
    Pair("top box hops for ever", "stack:n=3",
         Given("pymunk"), Given("pymunk", shaken("box 3", 30.0, 4.0)),
         "worse", "nothing moves a stack at rest; its top box hops by 7 cm until the end"),
    Pair("fell through, hangs in the air", "upright-block:start=drop,ground=box",
         Given("pymunk", through("block", "ground")), Given("pymunk", gravity(0.0)),
         "mixed", "the block fell through the one below; now it does not fall at all, and hangs 1 mm above it"),
    Pair("came apart, hangs in the air", "double-pendulum",
         Given("pymunk", without("joints", "elbow")), Given("pymunk", gravity(0.0)),
         "mixed", "the rods came apart; now they hold together and hang aslant in the air, at rest"),
    Pair("ball on ball, to the other side", "",
         Given("box2d", of_body("upper", velocity=(1e-3, 0.0))),
         Given("box2d", of_body("upper", velocity=(-1e-3, 0.0))),
         "different", "balanced exactly, the ball may roll off to either side: to the right, now to the left",
         scene=two_balls),
    Pair("pile from a start 1e-6 m/s off", "pile",
         Given("rapier"), Given("rapier", of_body("body 1", velocity=(1e-6, 0.0))),
         "same", "bodies lie up to 4 cm elsewhere, as after any start; all lie within the walls"),
    Pair("overlap turned to speed", "overlapped-start:depth=0.05",
         Given("pybullet"), Given("pybullet:contact_erp=1"),
         "worse", "a block 5 cm deep must come to rest; it is shot up by 7 m with 69 J from nothing"),
    Pair("creep stopped", "incline-slide:relation=below",
         Given("mujoco:impratio=1,cone=pyramidal"), Given("mujoco"),
         "better", "friction holds the block; it crept 18 mm in 3 s, now 0.1 mm"),
    Pair("exact to exact", "upright-block:start=tilt",
         Given("reference"), Given("reference:tolerance=1e-12"),
         "same", "the block falls back on its base and stands, to the last digit the same"),
)
# fmt: on
